//! Findings of a night: typed data and nothing else. There is nothing here that could say "do".

use serde::{Deserialize, Serialize};

use super::{Drill, Origin, Revision, SleepStage, Staged};
use crate::constitution::PolicyFigures;
use crate::money::Usdc;
use crate::prose::Prose;
use crate::regime::Regime;
use crate::rule::Condition;

/// Findings of one phase of a night; together, of the whole night.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    pub night: u64,
    pub phase: SleepStage,
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed: u32,
    /// Conditions looked at, and put to the test.
    #[serde(skip_serializing_if = "is_zero")]
    pub looked_at: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub proposed: u32,
    /// Ideas for integration to test; they have an event of their own.
    #[serde(skip)]
    pub ideas: Vec<Idea>,
    /// Hypotheses borne out by the cases that were held back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub staged: Vec<Staged>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<Revision>,
    /// Heuristics in use that the night bore out, and that it spoke against, by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<u64>,
    /// The feature the night turned around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<u8>,
    /// Fragments caught while falling asleep, and those that said something new.
    #[serde(skip_serializing_if = "is_none")]
    pub fragments: (u8, u8),
    /// Episodes gone through closely.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batch: Vec<u64>,
    #[serde(skip_serializing_if = "Replay::is_empty")]
    pub replay: Replay,
    #[serde(skip_serializing_if = "Imagined::is_empty")]
    pub imagined: Imagined,
}

fn is_none<N: Default + PartialEq>(counts: &(N, N)) -> bool {
    *counts == <(N, N)>::default()
}

pub(super) fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Found {
    /// Adds the next phase of the same night.
    pub fn join(&mut self, next: Found) {
        let earlier = std::mem::replace(self, next);
        self.replayed = self.replayed.max(earlier.replayed);
        self.looked_at += earlier.looked_at;
        self.proposed += earlier.proposed;
        self.keyword = self.keyword.or(earlier.keyword);
        self.fragments.0 += earlier.fragments.0;
        self.fragments.1 += earlier.fragments.1;
        self.batch.splice(0..0, earlier.batch);
        self.staged.splice(0..0, earlier.staged);
        self.revisions.splice(0..0, earlier.revisions);
        self.confirmed.splice(0..0, earlier.confirmed);
        self.contradicted.splice(0..0, earlier.contradicted);
        self.replay.join(earlier.replay);
        self.imagined.join(earlier.imagined);
    }
}

/// An idea before it is fitted; one without a domain is tried in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Idea {
    pub domain: Option<u8>,
    pub origin: Origin,
    pub condition: Condition,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Imagined {
    /// Other choices whose outcome was computed.
    pub alternatives: u32,
    /// Choices that would have been better.
    pub better: u32,
    /// By how much those would have been better, on average.
    pub regret: f32,
    /// How often another choice would have been better sooner than it was made, and how often later.
    #[serde(skip_serializing_if = "is_none")]
    pub moments: (u32, u32),
    pub recombined: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threats: Vec<Threat>,
    /// The worst of them, to be warned of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rehearsed: Option<Rehearsed>,
    /// In how many episodes its omen held, beside the one it was made from, and in how many it did not.
    #[serde(skip_serializing_if = "is_none")]
    pub omen: (u32, u32),
    /// Some of those in which it held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u64>,
    /// Answers of gate and policy to what may go wrong in its world, as far as they were not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drills: Vec<Drill>,
    /// Episodes made less stirring.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calmed: Vec<u64>,
}

/// A fall, what it would cost the largest position there may be, and what would meet it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threat {
    pub kind: ThreatKind,
    pub fall_bps: u32,
    pub loss: Usdc,
    pub met_by: Met,
}

/// A threat to be warned of: what the world looked like before the worst that was remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rehearsed {
    pub threat: Threat,
    pub omen: Condition,
    pub night: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreatKind {
    /// The worst the golem remembers, once more.
    Again,
    Crash,
    /// The worst there may be ahead.
    Ahead,
    /// The worst, twice over.
    Twice,
    /// The worst between two looks, with nothing to be done in time.
    Gap,
    /// A fall that a model would have it be ready for.
    Feared,
}

/// The defence that would meet a fall first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Met {
    /// None: the fall is too small for anything to be done.
    Nothing,
    Stop,
    /// The stop, but with no time for it.
    TooLate,
}

impl Rehearsed {
    /// Says in words what would happen, and what would meet it.
    pub fn words(&self, policy: &PolicyFigures) -> String {
        let percent = |bps: u32| f64::from(bps) / 100.0;
        let Threat { fall_bps, loss, met_by, .. } = self.threat;
        let answer = match met_by {
            Met::Stop => format!("the stop at {:.1} % gives it up there", percent(policy.stop_bps)),
            Met::TooLate => format!(
                "too sudden for the stop at {:.1} %; only holding less helps, and {:.0} % of capital is the most",
                percent(policy.stop_bps),
                percent(policy.per_action_bps)
            ),
            Met::Nothing => {
                format!(
                    "there is no stop; what would meet it is the breaker at {:.0} %",
                    percent(policy.max_drawdown_bps)
                )
            }
        };
        format!("a fall of {:.1} % would cost {loss}; rehearsed in night {}: {answer}", percent(fall_bps), self.night)
    }
}

impl Imagined {
    pub(super) fn is_empty(&self) -> bool {
        *self == Imagined::default()
    }

    /// Adds what an earlier phase of the same night imagined.
    pub(super) fn join(&mut self, earlier: Imagined) {
        if self.is_empty() {
            *self = earlier;
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replay {
    /// Features that stood out before large outcomes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub precursors: Vec<u8>,
    /// Heuristics by number, and what the outcomes that followed them came to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<(u64, f32)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<Trajectory>,
    /// Episodes kept as they are, and episodes turned into a rule.
    #[serde(skip_serializing_if = "is_zero")]
    pub preserved: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub abstracted: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<u64>,
}

/// Where things may be going.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    pub if_: Ahead,
    /// Change of a unit's worth in cases like it, on average.
    pub change: f32,
    /// Change of a unit's worth in cases like it, at worst.
    pub worst: f32,
    pub confidence: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ahead {
    /// Everything goes on as it is.
    Continues,
    /// Another regime begins.
    Switches(Regime),
    /// A link between features fires that has not lately, and what follows from it.
    Fires { through: Vec<u8>, same_way: bool },
}

impl Replay {
    pub(super) fn is_empty(&self) -> bool {
        *self == Replay::default()
    }

    /// Adds what an earlier phase of the same night replayed.
    pub(super) fn join(&mut self, earlier: Replay) {
        self.precursors.splice(0..0, earlier.precursors);
        self.credits.splice(0..0, earlier.credits);
        self.ahead.splice(0..0, earlier.ahead);
        self.forgotten.splice(0..0, earlier.forgotten);
        self.preserved += earlier.preserved;
        self.abstracted += earlier.abstracted;
    }
}

impl Prose for Box<Found> {
    const NAME: &'static str = "FoundJson";
}
