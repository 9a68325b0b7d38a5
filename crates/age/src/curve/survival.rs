//! When lives end, by calls: how many are still there (Kaplan and Meier), and how many have ended of each cause (Aalen and
//! Johansen), which do not add up to more than all because no life ends twice.

use serde::Serialize;

use super::quantile::normal;
use crate::record::{End, Life};

/// Of what a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Finished,
    Interrupted,
    Failed,
    Cut,
}

impl Cause {
    pub const ALL: [Cause; 4] = [Cause::Finished, Cause::Interrupted, Cause::Failed, Cause::Cut];

    fn of(end: End) -> Option<Cause> {
        match end {
            End::Finished => Some(Cause::Finished),
            End::Interrupted => Some(Cause::Interrupted),
            End::Failed => Some(Cause::Failed),
            End::Cut => Some(Cause::Cut),
            End::Open => None,
        }
    }
}

/// How things stand after so many calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    pub calls: usize,
    /// Lives that had as many.
    pub at_risk: usize,
    /// The part of all that goes on, with its interval.
    pub alive: f64,
    pub low: f64,
    pub high: f64,
    /// The part that has ended so far, by cause, in the order of [`Cause::ALL`].
    pub ended: [f64; 4],
    /// Ends for each hundred calls since the step before, by cause.
    pub hazard: [f64; 4],
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Survival {
    pub lives: usize,
    /// After how many calls half of them have ended.
    pub median: Option<usize>,
    pub steps: Vec<Step>,
}

/// Where it is told how things stand.
const TOLD: [usize; 10] = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560];

impl Survival {
    pub(crate) fn of(lives: &[&Life]) -> Survival {
        let mut ends: Vec<(usize, Option<Cause>)> =
            lives.iter().map(|life| (life.calls.len(), Cause::of(life.end))).collect();
        ends.sort_unstable();
        let most = ends.last().map_or(0, |(calls, _)| *calls);
        let mut state = Shares::default();
        let (mut steps, mut at, mut median) = (Vec::new(), 0, None);
        for told in TOLD.into_iter().filter(|told| *told <= most) {
            let (mut exposed, mut times, mut since) =
                (0_usize, [0_usize; 4], steps.last().map_or(0, |step: &Step| step.calls));
            while at < ends.len() && ends[at].0 <= told {
                let calls = ends[at].0;
                let at_risk = ends.len() - at;
                let here = ends[at..].iter().take_while(|(other, _)| *other == calls).count();
                let causes =
                    Cause::ALL.map(|cause| ends[at..at + here].iter().filter(|(_, of)| *of == Some(cause)).count());
                state.step(at_risk, causes);
                exposed += at_risk * (calls - since);
                since = calls;
                for (sum, more) in times.iter_mut().zip(causes) {
                    *sum += more;
                }
                at += here;
                if median.is_none() && state.alive <= 0.5 {
                    median = Some(calls);
                }
            }
            exposed += (ends.len() - at) * (told - since);
            let hazard = times.map(|times| if exposed > 0 { 100.0 * times as f64 / exposed as f64 } else { 0.0 });
            let (low, high) = state.interval();
            steps.push(Step {
                calls: told,
                at_risk: ends.len() - at,
                alive: state.alive,
                low,
                high,
                ended: state.ended,
                hazard,
            });
        }
        Survival { lives: lives.len(), median, steps }
    }
}

/// Shares of lives that are still there or have ended, so far.
#[derive(Debug)]
struct Shares {
    alive: f64,
    ended: [f64; 4],
    /// Greenwood's sum.
    spread: f64,
}

impl Default for Shares {
    fn default() -> Shares {
        Shares { alive: 1.0, ended: [0.0; 4], spread: 0.0 }
    }
}

impl Shares {
    /// So many had come as far, and so many of them ended here, by cause.
    fn step(&mut self, at_risk: usize, causes: [usize; 4]) {
        let (risk, gone) = (at_risk as f64, causes.iter().sum::<usize>() as f64);
        for (sum, times) in self.ended.iter_mut().zip(causes) {
            *sum += self.alive * times as f64 / risk;
        }
        self.alive *= 1.0 - gone / risk;
        if gone < risk {
            self.spread += gone / (risk * (risk - gone));
        }
    }

    /// On the scale on which it stays between nothing and all.
    fn interval(&self) -> (f64, f64) {
        if self.alive <= 0.0 || self.alive >= 1.0 {
            return (self.alive, self.alive);
        }
        let log = self.alive.ln();
        let wide = normal(0.975) * self.spread.sqrt() / log.abs();
        (self.alive.powf(wide.exp()), self.alive.powf((-wide).exp()))
    }
}
