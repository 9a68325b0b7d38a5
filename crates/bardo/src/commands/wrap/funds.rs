//! Money that a program is given to live on: all at once by one golem, or by a line of them in shares.

use golem::Usdc;

use super::rations;
use crate::args::WrapArgs;

/// Default money for a new golem, or a new line, to live on; and the number of days it should last, where a cap for a day is given.
const CREDIT: Usdc = Usdc::dollars(1);
const DAYS: i64 = 30;
/// Money of a golem whose calls are capped in tokens or by their number: so much that those caps end it, and no one is billed.
const IMPUTED: Usdc = Usdc::dollars(1_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Funds {
    pub(super) all: Usdc,
    /// Made up, because something else is capped.
    pub(super) imputed: bool,
    /// Lives that share it.
    pub(super) lives: u32,
    /// The most for one of them.
    share: Option<Usdc>,
}

impl Funds {
    pub(super) fn of(args: &WrapArgs) -> Funds {
        let money = args.credit.or(args.per_day.map(|most| most.share(DAYS, 1)));
        let imputed = money.is_none() && rations::stand_for_money(args);
        let all = money.unwrap_or(if imputed { IMPUTED } else { CREDIT });
        Funds { all, imputed, lives: args.lives.unwrap_or(1), share: args.share }
    }

    /// The share of the next life, after so many lives, of what they left.
    pub(super) fn share(&self, lived: u32, left: Usdc) -> Usdc {
        let to_come = self.lives.saturating_sub(lived).max(1);
        let even = left.share(1, i64::from(to_come));
        self.share.map_or(even, |most| most.min(left)).max(Usdc::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_to_all_of_it_and_never_to_more() {
        for share in [None, Some(Usdc::cents(3)), Some(Usdc::dollars(9))] {
            for spends in [0, 1, 7, 1_000_000] {
                let funds = Funds { all: Usdc::micros(2_000_003), imputed: false, lives: 7, share };
                let (mut left, mut spent) = (funds.all, Usdc::ZERO);
                for lived in 0..funds.lives {
                    let share = funds.share(lived, left);
                    assert!(share <= left && share >= Usdc::ZERO, "{share} of {left}");
                    let used = share.min(Usdc::micros(spends));
                    (left, spent) = (left - used, spent + used);
                }
                assert!(spent <= funds.all && left + spent == funds.all, "{spent} of {}", funds.all);
            }
        }
        let funds = Funds { all: Usdc::dollars(20), imputed: false, lives: 8, share: None };
        assert_eq!(funds.share(0, funds.all), Usdc::micros(2_500_000));
        assert_eq!(funds.share(7, Usdc::micros(5)), Usdc::micros(5), "the last has all that is left");
        assert_eq!(Funds { lives: 1, ..funds }.share(0, funds.all), funds.all, "one golem has all at once");
    }
}
