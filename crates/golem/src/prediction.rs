//! Claims about the world, made before and resolved after, each at exactly its own bar.
//!
//! Two minds make them. The rules are in [`crate::rule`]. The reflex is here: it expects the next value to
//! be the last, pulled towards the mean, and adds a little noise; a yardstick for the other.

use serde::{Deserialize, Serialize};

use crate::constitution::MindKind;
use crate::draft::Draft;
use crate::episode;
use crate::event::Event;
use crate::laws::Laws;
use crate::life::Life;
use crate::money::Usdc;
use crate::regime;
use crate::rule::mind;
use crate::time::Time;
use crate::world::{Bar, Observation, Values};

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
    /// The value when it was made.
    pub base: f64,
    pub value: f64,
    pub naive: f64,
    /// Which slots of the playbook had a say, one bit each.
    pub fired: u64,
    /// Which hypotheses on trial would have had one.
    pub staged: u16,
}

impl Prediction {
    /// One that nobody made.
    pub(crate) fn of_nothing() -> Prediction {
        Prediction { due: Time::default(), base: 0.0, value: 0.0, naive: 0.0, fired: 0, staged: 0 }
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
    /// The usual share of rises in each domain, and how many it was taken from.
    pub rises: Values,
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

/// Resolves every claim at its own bar, then remembers the newest.
pub(crate) fn sense(draft: &mut Draft<'_>, observation: &Observation) {
    for (at, bar) in observation.bars.iter().enumerate() {
        resolve(draft, bar);
        episode::look_back(draft, bar);
        let last = at + 1 == observation.bars.len();
        if !last && draft.stakes.front().is_some_and(|stake| stake.due <= bar.closed) {
            draft.emit(Event::Weighed { at: bar.closed, unit: bar.unit });
        }
    }
    if let Some(last) = observation.bars.last() {
        draft.emit(Event::Sensed {
            until: last.closed,
            bars: observation.bars.len() as u32,
            values: last.values.clone(),
            unit: last.unit,
        });
        regime::watch(draft);
    }
}

fn resolve(draft: &mut Draft<'_>, bar: &Bar) {
    for domain in 0..draft.open.len() {
        while let Some(claim) = draft.open[domain].front().filter(|claim| claim.due <= bar.closed) {
            let met = claim.due == bar.closed;
            let domain = domain as u8;
            draft.emit(if met {
                Event::Scored { domain, actual: bar.values[usize::from(domain)] }
            } else {
                Event::Voided { domain }
            });
        }
    }
    while let Some(claim) = draft.claims.iter().find(|c| c.due <= bar.closed).copied() {
        let actual = bar.values[usize::from(claim.domain)];
        draft.emit(if claim.due == bar.closed {
            Event::Resolved { claim: claim.id, actual }
        } else {
            // The world has a hole where the answer should be: nobody is right or wrong.
            Event::Lapsed { claim: claim.id }
        });
    }
}

/// Makes the claims of this look, in every domain.
pub(crate) fn forecast(draft: &mut Draft<'_>, observation: &Observation) {
    let Some(bar) = observation.bars.last().filter(|_| draft.seen.bars >= 2) else { return };
    match draft.constitution().mind.kind {
        MindKind::Rules => mind::think(draft, bar),
        MindKind::Reflex => expect_more_of_the_same(draft),
    }
}

fn expect_more_of_the_same(draft: &mut Draft<'_>) {
    let reflex = draft.constitution().reflex.clone();
    let due = draft.seen.until + draft.constitution().interval;
    for domain in 0..draft.seen.values.len() {
        if draft.claims.is_full() {
            return;
        }
        let (last, mean, change) = (draft.seen.values[domain], draft.seen.means[domain], draft.seen.changes[domain]);
        let value = last + reflex.pull * (mean - last) + reflex.noise * change * noise(draft, domain);
        let claim = Claim { id: draft.claims_made + 1, domain: domain as u8, due, value, naive: last };
        draft.emit(Event::Claimed(claim));
    }
}

/// Uniform with variance one, a pure function of who, when and what: nothing secret hangs on it.
fn noise(life: &Life, domain: usize) -> f64 {
    let id = u64::from_le_bytes(life.birth.id.0[..8].try_into().expect("eight of sixteen bytes"));
    let mut z =
        id ^ life.tick.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (domain as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let unit = (z >> 11) as f64 / (1_u64 << 53) as f64;
    (unit * 2.0 - 1.0) * 3.0_f64.sqrt()
}
