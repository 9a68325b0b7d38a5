//! Claims that are open, and what has been seen of the world as far as forecasts need it.

use serde::{Deserialize, Serialize};

use super::Departures;
use crate::laws::Laws;
use crate::money::Usdc;
use crate::time::Time;
use crate::world::{DomainSpec, Values};

/// A forecast with a date, beside what a naive forecaster would have said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub id: u64,
    pub domain: u8,
    pub due: Time,
    pub value: f64,
    pub naive: f64,
}

/// A claim with a date of its own, made by the golem's agent. The first bar at that date or after it answers it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dated {
    pub number: u64,
    pub domain: u8,
    pub made: Time,
    pub due: Time,
    /// The level, or the value when it was made, that a direction or a range is measured from.
    pub base: f64,
    pub value: f64,
    pub naive: f64,
}

/// How a domain goes on that is either above its level or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// How often it was above after it had not been.
    pub after_below: Share,
    /// How often it was above after it had been.
    pub after_above: Share,
}

/// A share, and of how many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub share: f64,
    pub of: f64,
}

impl Default for Share {
    fn default() -> Share {
        Share { share: 0.5, of: 0.0 }
    }
}

impl Share {
    fn count(&mut self, yes: bool, laws: &Laws) {
        self.of = (self.of + 1.0).min(laws.chain_kept);
        self.share += (f64::from(u8::from(yes)) - self.share) / (self.of + laws.chain_even);
    }
}

impl Chain {
    fn go_on(&mut self, above: bool, then: bool, laws: &Laws) {
        if above { self.after_above.count(then, laws) } else { self.after_below.count(then, laws) }
    }

    /// The chance that it is above so many steps from now, if it goes on as it usually does.
    pub fn chance(&self, above: bool, steps: u64) -> f64 {
        let (stays, comes) = (self.after_above.share, self.after_below.share);
        let (next, kept) = (if above { stays } else { comes }, stays - comes);
        // The long-run share, however it began.
        let usual = if kept < 1.0 { comes / (1.0 - kept) } else { next };
        let faded = libm::pow(kept, steps.saturating_sub(1) as f64);
        (usual + (next - usual) * faded).clamp(0.0, 1.0)
    }
}

/// A claim of the rule mind. Claims of one domain come due in the order they were made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub due: Time,
    /// The tick it was made in.
    pub made: u64,
    /// The value when it was made.
    pub base: f64,
    pub value: f64,
    pub naive: f64,
    /// Which slots of the playbook had a say, one bit each.
    pub fired: u64,
    /// Which hypotheses on trial would have had a say, one bit each.
    pub staged: u16,
    /// Looks there are from a claim to its answer: as many share time with it.
    pub ahead: u32,
    /// How far from naive each voice would have gone.
    pub said: Departures,
    /// How far the voices would have gone together.
    pub mixed: f32,
}

impl Prediction {
    /// An empty prediction, for a heuristic to learn from where no claim was made.
    pub fn of_nothing() -> Prediction {
        Prediction {
            due: Time::default(),
            made: 0,
            base: 0.0,
            value: 0.0,
            naive: 0.0,
            fired: 0,
            staged: 0,
            ahead: 1,
            said: Departures::default(),
            mixed: 0.0,
        }
    }
}

/// Observations of the world so far, as far as forecasts need them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub until: Time,
    pub bars: u64,
    pub values: Values,
    pub means: Values,
    /// The usual size of a change.
    pub changes: Values,
    pub unit: Usdc,
    /// The usual share of rises in each domain.
    pub rises: Values,
    /// Answers that share was taken from.
    pub rises_seen: Values,
    /// How each domain goes on, in a world where any has a level.
    pub chains: Vec<Chain>,
}

impl Seen {
    /// Counts one more answer to "did it rise?", the old ones fading.
    pub(crate) fn count_rise(&mut self, domain: usize, rise: f64, laws: &Laws) {
        self.rises_seen[domain] += 1.0;
        let n = self.rises_seen[domain].min(laws.rises_kept) + laws.rises_even;
        self.rises[domain] += (rise - self.rises[domain]) / n;
    }

    /// Counts one more look at the domains that have a level.
    pub(crate) fn go_on(&mut self, domains: &[DomainSpec], values: &Values, laws: &Laws) {
        if self.bars == 0 || domains.iter().all(|domain| domain.level.is_none()) {
            return;
        }
        self.chains.resize(domains.len(), Chain::default());
        for (at, domain) in domains.iter().enumerate() {
            if let Some(level) = domain.level {
                self.chains[at].go_on(self.values[at] > level, values[at] > level, laws);
            }
        }
    }

    /// The chance that this domain is above its level so many bars from now, if it goes on as it usually does.
    pub fn chance(&self, domain: usize, level: f64, steps: u64) -> f64 {
        let chain = self.chains.get(domain).copied().unwrap_or_default();
        chain.chance(self.values[domain] > level, steps)
    }

    pub(crate) fn sense(&mut self, until: Time, bars: u32, values: &Values, unit: Usdc, keep: f64) {
        if self.bars == 0 {
            self.means = values.clone();
            self.changes = values.iter().map(|_| 0.0).collect();
            self.rises = values.iter().map(|_| 0.5).collect();
            self.rises_seen = values.iter().map(|_| 0.0).collect();
        } else {
            for at in 0..values.len() {
                self.means[at] = keep * self.means[at] + (1.0 - keep) * values[at];
                self.changes[at] = keep * self.changes[at] + (1.0 - keep) * (values[at] - self.values[at]).abs();
            }
        }
        self.until = until;
        self.bars += u64::from(bars);
        self.values = values.clone();
        self.unit = unit;
    }
}
