//! Conversion between amounts of tokens and a golem's own amounts: money in micro-dollars, things in millionths of one.

use alloy_primitives::U256;
use alloy_primitives::aliases::U512;
use golem::Usdc;

use crate::Error;

/// How many of a token's smallest parts a millionth is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(u64);

impl Scale {
    pub fn of(decimals: u8) -> Result<Scale, Error> {
        let more = decimals.checked_sub(6).filter(|more| *more <= 18);
        let more = more.ok_or_else(|| Error::Wrong(format!("tokens with {decimals} decimals are not supported")))?;
        Ok(Scale(10_u64.pow(u32::from(more))))
    }

    /// A scale on which a millionth is so many parts.
    pub fn each(parts: u64) -> Result<Scale, Error> {
        if parts == 0 { Err(Error::Wrong("a share of liquidity must not be 0".to_owned())) } else { Ok(Scale(parts)) }
    }

    pub fn parts(self, millionths: i64) -> U256 {
        U256::from(millionths.max(0)) * U256::from(self.0)
    }

    /// Millionths, rounded down.
    pub fn down(self, parts: U256) -> i64 {
        i64::try_from(parts / U256::from(self.0)).unwrap_or(i64::MAX)
    }

    pub fn up(self, parts: U256) -> i64 {
        let (whole, rest) = parts.div_rem(U256::from(self.0));
        i64::try_from(whole).unwrap_or(i64::MAX).saturating_add(i64::from(!rest.is_zero()))
    }
}

/// The worth of an amount of one token in the other, at the price of a pool.
pub fn worth(amount: U256, sqrt_price: U256, amount_is_first: bool) -> U256 {
    let (amount, root) = (U512::from(amount), U512::from(sqrt_price));
    if root.is_zero() {
        return U256::ZERO;
    }
    let worth: U512 = if amount_is_first { (amount * root * root) >> 192 } else { (amount << 192) / (root * root) };
    if worth >= (U512::from(1) << 256) { U256::MAX } else { U256::from_limbs_slice(&worth.as_limbs()[..4]) }
}

/// The cost of gas, rounded up, where an ether is worth so many micro-dollars.
pub fn gas(units: u64, price: u128, ether: i64) -> Usdc {
    let wei = U512::from(units) * U512::from(price);
    let micros =
        (wei * U512::from(ether.max(0)) + U512::from(999_999_999_999_999_999_u64)) / U512::from(10_u64.pow(18));
    Usdc::micros(i64::try_from(micros).unwrap_or(i64::MAX).min(Usdc::MOST.as_micros()))
}
