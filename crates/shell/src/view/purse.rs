//! The money that an agent's calls are paid from. It is worked out here for everything that shows it.

use std::fmt;

use golem::mortality::economic;
use golem::{Life, Usdc};
use serde::Serialize;
use utoipa::ToSchema;

use super::figures::several;

/// Money given and where it went, all in micro-USDC. Given is spent, returned and left; what is left is set aside, kept
/// for dying or free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Purse {
    /// Credit from the owner, and earnings of its own.
    #[schema(value_type = i64)]
    pub given: Usdc,
    /// All that its life has cost.
    #[schema(value_type = i64)]
    pub spent: Usdc,
    /// The part that calls have cost.
    #[schema(value_type = i64)]
    pub calls: Usdc,
    /// Set aside for so much that is under way.
    #[schema(value_type = i64)]
    pub aside: Usdc,
    pub under_way: u64,
    #[schema(value_type = i64)]
    pub kept: Usdc,
    #[schema(value_type = i64)]
    pub free: Usdc,
    #[schema(value_type = i64)]
    pub returned: Usdc,
    /// Billed beyond all that it had, and not paid.
    #[schema(value_type = i64)]
    pub unpaid: Usdc,
}

impl Purse {
    pub fn of(life: &Life) -> Purse {
        let (purse, calls) = (&life.purse(), &life.calls());
        let free = economic::free(life).min(purse.credit);
        Purse {
            given: purse.given + life.capital().harvested,
            spent: purse.spent + purse.gas,
            calls: calls.spent,
            aside: purse.promised,
            under_way: calls.open.len() as u64,
            kept: purse.credit - purse.promised - free,
            free,
            returned: purse.withdrawn,
            unpaid: calls.unpaid,
        }
    }
}

impl fmt::Display for Purse {
    /// `$0.68 of $2.00; $0.02 set aside for 1 call under way, $1.29 free, $0.01 kept for dying`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.spent, self.given)?;
        let under_way = match self.under_way {
            0 => "set aside".to_owned(),
            some => format!("set aside for {} under way", several(some, "call")),
        };
        let parts = [
            (self.aside, under_way.as_str()),
            (self.free, "free"),
            (self.kept, "kept for dying"),
            (self.returned, "returned"),
        ];
        let parts = parts.into_iter().filter(|(sum, _)| *sum != Usdc::ZERO);
        let parts: Vec<String> = parts.map(|(sum, what)| format!("{sum} {what}")).collect();
        if !parts.is_empty() {
            write!(f, "; {}", parts.join(", "))?;
        }
        if self.unpaid.is_positive() {
            write!(f, "; billed {} beyond what it had", self.unpaid)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purse_says_each_part_that_there_is() {
        let cents = Usdc::cents;
        let fresh = Purse { given: cents(200), free: cents(196), kept: cents(4), ..Purse::default() };
        assert_eq!(fresh.to_string(), "$0.00 of $2.00; $1.96 free, $0.04 kept for dying");
        let busy = Purse { spent: cents(68), aside: cents(2), under_way: 1, free: cents(126), ..fresh };
        assert_eq!(
            busy.to_string(),
            "$0.68 of $2.00; $0.02 set aside for 1 call under way, $1.26 free, $0.04 kept for dying"
        );
        let over = Purse { given: cents(200), spent: cents(200), unpaid: cents(7), ..Purse::default() };
        assert_eq!(over.to_string(), "$2.00 of $2.00; billed $0.07 beyond what it had");
    }
}
