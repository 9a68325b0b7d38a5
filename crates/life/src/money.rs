//! Money is a whole number of micro-USDC. A ledger holds no floats.
//!
//! Amounts that come from outside are checked against [`Usdc::MOST`] at the door, so that sums inside
//! cannot overflow; if one does all the same, that is a bug and it panics rather than wrapping.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An amount of money in micro-USDC; negative only where it is a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usdc(i64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    #[error("'{0}' is not an amount; write dollars such as 10, 0.25 or $3.50, with at most six decimals")]
    NotAnAmount(String),
    #[error("{0} is more than one account may hold ({most})", most = Usdc::MOST)]
    TooMuch(Usdc),
}

impl Usdc {
    pub const ZERO: Usdc = Usdc(0);
    /// A billion dollars: the most any one account or command may carry.
    pub const MOST: Usdc = Usdc(1_000_000_000_000_000);

    pub const fn micros(micros: i64) -> Usdc {
        Usdc(micros)
    }

    pub const fn cents(cents: i64) -> Usdc {
        Usdc(cents * 10_000)
    }

    pub const fn dollars(dollars: i64) -> Usdc {
        Usdc(dollars * 1_000_000)
    }

    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The change since an earlier amount, as a share; zero where that was nothing.
    pub fn change_from(self, then: Usdc) -> f64 {
        if then.is_positive() { self.as_f64() / then.as_f64() - 1.0 } else { 0.0 }
    }

    /// The amount as a float, for scores and screens and never for a ledger.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    pub fn checked_add(self, other: Usdc) -> Option<Usdc> {
        self.0.checked_add(other.0).map(Usdc)
    }

    pub fn checked_sub(self, other: Usdc) -> Option<Usdc> {
        self.0.checked_sub(other.0).map(Usdc)
    }

    /// This amount times `numerator` / `denominator`, rounded towards zero.
    pub fn share(self, numerator: i64, denominator: i64) -> Usdc {
        let wide = i128::from(self.0) * i128::from(numerator) / i128::from(denominator);
        Usdc(i64::try_from(wide).expect("micro-USDC overflow"))
    }

    pub fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Refuses an amount larger than any command or account may carry.
    pub fn within_bounds(self) -> Result<Usdc, MoneyError> {
        if self > Usdc::MOST { Err(MoneyError::TooMuch(self)) } else { Ok(self) }
    }
}

impl Add for Usdc {
    type Output = Usdc;
    fn add(self, other: Usdc) -> Usdc {
        self.checked_add(other).expect("micro-USDC overflow")
    }
}

impl Sub for Usdc {
    type Output = Usdc;
    fn sub(self, other: Usdc) -> Usdc {
        self.checked_sub(other).expect("micro-USDC overflow")
    }
}

impl AddAssign for Usdc {
    fn add_assign(&mut self, other: Usdc) {
        *self = *self + other;
    }
}

impl SubAssign for Usdc {
    fn sub_assign(&mut self, other: Usdc) {
        *self = *self - other;
    }
}

impl Neg for Usdc {
    type Output = Usdc;
    fn neg(self) -> Usdc {
        Usdc::ZERO - self
    }
}

impl Sum for Usdc {
    fn sum<I: Iterator<Item = Usdc>>(amounts: I) -> Usdc {
        amounts.fold(Usdc::ZERO, Add::add)
    }
}

impl fmt::Display for Usdc {
    /// `$1.50`, `-$0.000078`: two decimals at least, all six where they matter.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, part) = (self.0.unsigned_abs() / 1_000_000, self.0.unsigned_abs() % 1_000_000);
        let text = if part % 10_000 == 0 {
            format!("{sign}${whole}.{:02}", part / 10_000)
        } else {
            format!("{sign}${whole}.{part:06}")
        };
        f.pad(&text)
    }
}

impl FromStr for Usdc {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Usdc, MoneyError> {
        let wrong = || MoneyError::NotAnAmount(text.to_owned());
        let bare = text.trim().trim_start_matches('$').replace('_', "");
        let (whole, part) = bare.split_once('.').unwrap_or((&bare, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
            return Err(wrong());
        }
        let micros: i64 = format!("{whole}{part:0<6}").parse().map_err(|_| wrong())?;
        Usdc(micros).within_bounds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_dollars_and_printed_the_same() {
        for (text, micros, shown) in [
            ("10", 10_000_000, "$10.00"),
            ("$3.5", 3_500_000, "$3.50"),
            ("0.000078", 78, "$0.000078"),
            ("1_000", 1_000_000_000, "$1000.00"),
        ] {
            let amount: Usdc = text.parse().unwrap();
            assert_eq!(amount, Usdc::micros(micros));
            assert_eq!(amount.to_string(), shown);
        }
        assert_eq!(Usdc::micros(-78).to_string(), "-$0.000078");
    }

    #[test]
    fn nonsense_and_absurd_amounts_are_refused() {
        for text in ["", "-1", "1e9", "0.0000001", "1.2.3", "ten", "NaN", "99999999999999999999"] {
            assert!(text.parse::<Usdc>().is_err(), "{text}");
        }
        assert_eq!("1000000001".parse::<Usdc>(), Err(MoneyError::TooMuch(Usdc::dollars(1_000_000_001))));
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn a_sum_that_overflows_is_a_bug_not_a_fortune() {
        let _ = Usdc::micros(i64::MAX) + Usdc::micros(1);
    }
}
