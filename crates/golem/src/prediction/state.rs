//! Claims that are open, and what has been seen of the world as far as forecasts need it.

use serde::{Deserialize, Serialize};

use super::Departures;
use crate::laws::Laws;
use crate::money::Usdc;
use crate::time::Time;
use crate::world::Values;

/// A forecast with a date, beside what a naive forecaster would have said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub id: u64,
    pub domain: u8,
    pub due: Time,
    pub value: f64,
    pub naive: f64,
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
    /// Which hypotheses on trial would have had one.
    pub staged: u16,
    /// Looks there are from a claim to its answer: as many share time with it.
    pub ahead: u32,
    /// How far from naive each voice would have gone.
    pub said: Departures,
    /// How far they would have gone together.
    pub mixed: f32,
}

impl Prediction {
    /// One that nobody made.
    pub(crate) fn of_nothing() -> Prediction {
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

/// What has been seen of the world so far, as far as forecasts need it.
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
    /// How many it was taken from.
    pub rises_seen: Values,
}

impl Seen {
    /// One more answer to "did it rise?", the old ones fading.
    pub(crate) fn count_rise(&mut self, domain: usize, rise: f64, laws: &Laws) {
        self.rises_seen[domain] += 1.0;
        let n = self.rises_seen[domain].min(laws.rises_kept) + laws.rises_even;
        self.rises[domain] += (rise - self.rises[domain]) / n;
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
