//! The books of a life: everything its owner gave, what became of it, and what that came to. Every screen that speaks
//! of money reads it from here, so that the figures always add up.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::life::Life;
use crate::money::Usdc;

/// A life lives on its credit and acts with its capital; only what is harvested goes from one to the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    pub given: Both,
    /// Gains less losses of what it bought and sold, before fees.
    pub earned: Usdc,
    pub fees: Usdc,
    /// On living and dreaming.
    pub spent: Usdc,
    /// For sending actions.
    pub gas: Usdc,
    /// Profit that went from capital to credit.
    pub harvested: Usdc,
    pub returned: Both,
    /// Still there; what is held counts as what it was acquired for.
    pub left: Both,
    /// Gain, or loss, of what is held at present over what was paid for it.
    pub unrealised: Usdc,
    /// Money that the owner got back or could get back, less what was given.
    pub net: Usdc,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Both {
    pub credit: Usdc,
    pub capital: Usdc,
}

impl Both {
    pub fn sum(&self) -> Usdc {
        self.credit + self.capital
    }
}

impl Books {
    pub fn of(life: &Life) -> Books {
        let (purse, capital) = (&life.purse, &life.capital);
        let given = Both { credit: purse.given, capital: capital.given };
        let returned = Both { credit: purse.withdrawn, capital: capital.withdrawn };
        let left = Both { credit: purse.credit, capital: capital.cash + capital.reserved + capital.cost };
        let unrealised = capital.worth(life.seen.unit) - left.capital;
        Books {
            given,
            earned: capital.realised,
            fees: capital.fees,
            spent: purse.spent,
            gas: purse.gas,
            harvested: capital.harvested,
            returned,
            left,
            unrealised,
            net: returned.sum() + left.sum() + unrealised - given.sum(),
        }
    }

    /// To the micro-USDC, for each of the two and so for both together.
    pub fn adds_up(&self) -> bool {
        let credit = self.given.credit + self.harvested - self.spent - self.gas;
        let capital = self.given.capital + self.earned - self.fees - self.harvested;
        credit == self.returned.credit + self.left.credit && capital == self.returned.capital + self.left.capital
    }

    /// `$5.00 given + $0.25 harvested - $4.42 spent = $0.83 returned`, and so for what it acts with.
    pub fn credit(&self) -> String {
        let plus = [(self.given.credit, "given"), (self.harvested, "harvested")];
        let minus = [(self.spent, "spent"), (self.gas, "gas")];
        equation(&plus, &minus, self.returned.credit, self.left.credit)
    }

    pub fn capital(&self) -> String {
        let lost = self.earned < Usdc::ZERO;
        let earned = if lost { (-self.earned, "lost") } else { (self.earned, "earned") };
        let (mut plus, mut minus) = (vec![(self.given.capital, "given")], Vec::new());
        if lost {
            minus.push(earned)
        } else {
            plus.push(earned)
        }
        minus.extend([(self.fees, "fees"), (self.harvested, "harvested")]);
        equation(&plus, &minus, self.returned.capital, self.left.capital)
    }

    /// Says in one line what was given, returned and left, which an owner wants to know first.
    pub fn net(&self) -> String {
        let mut text = format!("{}: {} given, {} returned", gain(self.net), self.given.sum(), self.returned.sum());
        let left = self.left.sum() + self.unrealised;
        if left != Usdc::ZERO {
            let _ = write!(text, ", {left} left");
        }
        text
    }
}

/// Writes an amount with its sign, plus included.
fn gain(amount: Usdc) -> String {
    if amount.is_positive() { format!("+{amount}") } else { amount.to_string() }
}

fn equation(plus: &[(Usdc, &str)], minus: &[(Usdc, &str)], returned: Usdc, left: Usdc) -> String {
    let mut text = format!("{} {}", plus[0].0, plus[0].1);
    let rest = plus[1..].iter().map(|term| ('+', term)).chain(minus.iter().map(|term| ('-', term)));
    for (sign, (amount, name)) in rest.filter(|(_, (amount, _))| *amount != Usdc::ZERO) {
        let _ = write!(text, " {sign} {amount} {name}");
    }
    let _ = match (returned, left) {
        (Usdc::ZERO, left) => write!(text, " = {left} left"),
        (returned, Usdc::ZERO) => write!(text, " = {returned} returned"),
        (returned, left) => write!(text, " = {returned} returned + {left} left"),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equations_say_what_the_figures_say() {
        let books = Books {
            given: Both { credit: Usdc::dollars(5), capital: Usdc::dollars(100) },
            earned: Usdc::micros(1_000_003),
            fees: Usdc::cents(58),
            spent: Usdc::micros(4_417_066),
            gas: Usdc::ZERO,
            harvested: Usdc::micros(105_000),
            returned: Both { credit: Usdc::micros(687_934), capital: Usdc::micros(100_315_003) },
            left: Both::default(),
            unrealised: Usdc::ZERO,
            net: Usdc::micros(-3_997_063),
        };
        assert!(books.adds_up());
        assert_eq!(books.credit(), "$5.00 given + $0.105000 harvested - $4.417066 spent = $0.687934 returned");
        assert_eq!(
            books.capital(),
            "$100.00 given + $1.000003 earned - $0.58 fees - $0.105000 harvested = $100.315003 returned"
        );
        assert_eq!(books.net(), "-$3.997063: $105.00 given, $101.002937 returned");
        let lost = Books { earned: Usdc::dollars(-2), ..Books::default() };
        assert!(!lost.adds_up() && lost.capital().starts_with("$0.00 given - $2.00 lost"), "{}", lost.capital());
    }
}
