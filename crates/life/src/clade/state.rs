//! The state of a clade: what a golem has told its siblings and heard of them.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::id::GolemId;
use crate::limits;
use crate::regime::Regime;
use crate::stress::Kind;
use crate::time::{Span, Time};
use crate::world::Manifest;

/// News that golems of one owner tell each other. The host keeps what goes with it: entries, and where a golem died.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// The sender is in a crisis, with this load and the stressors that press it most.
    Crisis { load: f64, pressed_by: [Option<Kind>; 3] },
    /// The sender has died.
    Death,
    /// The sender's world has turned to this regime.
    Regime { to: Regime },
    /// The sender has found out so many entries that others may want to try.
    Knowledge { entries: u32 },
}

/// The place of a sibling's death, as the golem that heard of it sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stain {
    pub from: GolemId,
    pub regime: Regime,
    /// Features that the sibling saw last; nothing where this world has no such feature.
    pub features: ArrayVec<Option<f32>, { limits::FEATURES }>,
    pub heard: Time,
}

/// The place of a death as it is passed on, with features by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Died {
    pub regime: Regime,
    pub features: Vec<(String, f32)>,
}

impl Died {
    /// Translates the place for another world, as far as that has features of the same names.
    pub fn seen_by(&self, world: &Manifest) -> Stain {
        let value = |name: &String| {
            let known = self.features.iter().find(|(known, _)| known == name);
            known.map(|(_, value)| *value).filter(|value| value.is_finite())
        };
        let features = world.features.iter().take(limits::FEATURES).map(value).collect();
        Stain { from: GolemId([0; 16]), regime: self.regime, features, heard: Time::default() }
    }
}

/// How far a peer was heard. What it has found out waits for a round while its other words are heard at once, so the two
/// are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    pub id: GolemId,
    /// The number of the newest word in which it taught something.
    pub taught: u64,
    /// The number of the newest of its other words.
    pub said: u64,
}

/// Between a golem and its siblings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clade {
    /// How often it has called out.
    pub told: u64,
    /// News that is still to be passed on, with its number, oldest first.
    pub untold: ArrayVec<(u64, News), { limits::UNTOLD }>,
    /// The age at which it last called out in a crisis.
    pub called_out: Option<Span>,
    /// How far each peer was heard, newest last.
    pub heard: ArrayVec<Peer, { limits::PEERS }>,
    /// Entries it has shared with its siblings, in all and in the present hour of its world.
    pub shared: u64,
    /// The number of the newest word that shared entries.
    pub taught: u64,
    pub hour: (u64, u32),
    /// Where siblings died, newest last.
    pub stains: ArrayVec<Stain, { limits::STAINS }>,
    /// The sibling that died where it stands now.
    pub near: Option<GolemId>,
    /// A regime other than its own that it has heard of, and in which tick.
    pub turned: Option<(Regime, u64)>,
}

impl Clade {
    /// How far this peer was heard.
    pub fn heard_of(&self, from: GolemId) -> Peer {
        let known = self.heard.iter().find(|peer| peer.id == from);
        known.copied().unwrap_or(Peer { id: from, taught: 0, said: 0 })
    }

    /// Whether a word of this number, or a later one of the same sort, was heard from a peer.
    pub fn has_heard(&self, from: GolemId, number: u64, news: &News) -> bool {
        self.heard_of(from).has_heard(number, news)
    }

    /// True once it has died and its siblings are still to hear of it.
    pub(crate) fn mourns(&self) -> bool {
        self.untold.iter().any(|(_, news)| *news == News::Death)
    }

    /// Entries it has shared with its siblings in the hour of this moment.
    pub fn shared_at(&self, now: Time) -> u32 {
        if self.hour.0 == hour(now) { self.hour.1 } else { 0 }
    }
}

impl Peer {
    /// Whether a word of this number, or a later one of the same sort, was heard from this peer.
    pub fn has_heard(&self, number: u64, news: &News) -> bool {
        number <= if matches!(news, News::Knowledge { .. }) { self.taught } else { self.said }
    }

    pub(super) fn hear(self, number: u64, news: &News) -> Peer {
        match news {
            News::Knowledge { .. } => Peer { taught: number, ..self },
            News::Crisis { .. } | News::Death | News::Regime { .. } => Peer { said: number, ..self },
        }
    }
}

pub(super) fn hour(now: Time) -> u64 {
    now.as_millis() / Span::seconds(3_600).as_millis()
}
