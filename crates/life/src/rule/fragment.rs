//! Fragments: entry, exit and size as one thing. The condition of a heuristic is the way in; here are the way out and how
//! much goes in.

use serde::{Deserialize, Serialize};

use super::Comparison;
use crate::limits;
use crate::money::Usdc;
use crate::time::Time;
use crate::world::Features;

/// The whole of the allowed size, in thousandths.
pub const WHOLE: u16 = 1_000;
/// The largest gain or loss that a way out can be about, in basis points.
const FURTHEST_BPS: u32 = 100_000;

/// The way out of exposure that a heuristic takes up, and how much of it. Whatever comes first ends it; the time that
/// exposure is usually held ends it anyway.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fragment {
    /// Thousandths of what the cage allows.
    pub share: u16,
    /// Left once this holds.
    pub until: Option<Comparison>,
    /// Left at a gain of so many basis points.
    pub up: Option<u32>,
    /// Left at a loss of so many basis points.
    pub down: Option<u32>,
    /// Left after so many bars.
    pub bars: Option<u32>,
}

/// A sample that has begun: the look at which the condition of a fragment held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSample {
    pub slot: u8,
    pub made: Time,
    pub unit: Usdc,
}

/// The way out of exposure that was taken up by a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WayOut {
    pub fragment: Fragment,
    /// The worth of a unit when it was taken up.
    pub unit: Usdc,
    /// True once it is time to leave.
    pub due: bool,
}

impl Fragment {
    /// Refuses a fragment that no golem could hold, or that says no more than adding alone does.
    pub(crate) fn check(&self, features: usize) -> Result<(), String> {
        let Fragment { share, until, up, down, bars } = *self;
        if !(1..=WHOLE).contains(&share) {
            return Err(format!("found {share} thousandths, expected 1 to {WHOLE}"));
        }
        if let Some(Comparison { feature, than, .. }) = until {
            if usize::from(feature) >= features {
                return Err(format!("no feature {feature}"));
            }
            if !than.is_finite() {
                return Err(format!("found {than}, expected a finite number"));
            }
        }
        if let Some(wrong) = [up, down].into_iter().flatten().find(|bps| !(1..=FURTHEST_BPS).contains(bps)) {
            return Err(format!("found {wrong} basis points, expected 1 to {FURTHEST_BPS}"));
        }
        if let Some(wrong) = bars.filter(|bars| !(1..=limits::HORIZON).contains(bars)) {
            return Err(format!("found {wrong} bars, expected 1 to {}", limits::HORIZON));
        }
        if share == WHOLE && until.is_none() && up.or(down).or(bars).is_none() {
            return Err("found neither a share nor a way out, which is what adding alone says".to_owned());
        }
        Ok(())
    }

    /// Whether it is time to leave what was taken up at this worth of a unit.
    pub(super) fn leaves(&self, features: &Features, from: Usdc, unit: Usdc) -> bool {
        let change = unit.change_from(from) * 10_000.0;
        self.until.is_some_and(|until| until.holds(features))
            || self.up.is_some_and(|up| change >= f64::from(up))
            || self.down.is_some_and(|down| change <= -f64::from(down))
    }
}
