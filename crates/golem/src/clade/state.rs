//! What a golem has told its siblings and heard of them.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::id::GolemId;
use crate::limits;
use crate::regime::Regime;
use crate::stress::Kind;
use crate::time::{Span, Time};
use crate::world::Manifest;

/// What golems of one owner tell each other. What goes with it, what is known and where somebody died, is with whoever
/// keeps the golem.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum News {
    /// It is in a crisis, with this load, and what presses it most.
    Crisis { load: f64, pressed_by: [Option<Kind>; 3] },
    /// It has died.
    Death,
    /// Its world has turned to this.
    Regime { to: Regime },
    /// It has found out so much that others may want to try.
    Knowledge { entries: u32 },
}

/// Where a sibling died, in the eyes of whoever heard of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stain {
    pub from: GolemId,
    pub regime: Regime,
    /// What the world showed it last, by feature; nothing where this world has no such feature.
    pub features: ArrayVec<Option<f32>, { limits::FEATURES }>,
    pub heard: Time,
}

/// The same as it is passed on, in the words of its world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Died {
    pub regime: Regime,
    pub features: Vec<(String, f32)>,
}

impl Died {
    /// As far as a world has the same words.
    pub fn seen_by(&self, world: &Manifest) -> Stain {
        let value = |name: &String| {
            let known = self.features.iter().find(|(known, _)| known == name);
            known.map(|(_, value)| *value).filter(|value| value.is_finite())
        };
        let features = world.features.iter().take(limits::FEATURES).map(value).collect();
        Stain { from: GolemId([0; 16]), regime: self.regime, features, heard: Time::default() }
    }
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
    /// The number of the newest letter of each peer, newest last.
    pub heard: ArrayVec<(GolemId, u64), { limits::PEERS }>,
    /// What it has let its siblings know, in all and in the present hour of its world.
    pub shared: u64,
    /// The number of the newest word that did.
    pub taught: u64,
    pub hour: (u64, u32),
    /// Where siblings died, newest last.
    pub stains: ArrayVec<Stain, { limits::STAINS }>,
    /// It stands where this one died.
    pub near: Option<GolemId>,
    /// Another regime than its own that it has heard of, and in which tick.
    pub turned: Option<(Regime, u64)>,
}

impl Clade {
    /// The newest word that was heard of this peer; 0 if none was.
    pub fn newest_of(&self, from: GolemId) -> u64 {
        self.heard.iter().find(|(peer, _)| *peer == from).map_or(0, |(_, newest)| *newest)
    }

    /// It has died, and its siblings are still to hear of it.
    pub(crate) fn mourns(&self) -> bool {
        self.untold.iter().any(|(_, news)| *news == News::Death)
    }

    /// What it has let its siblings know in the hour of this moment.
    pub(crate) fn shared_at(&self, now: Time) -> u32 {
        if self.hour.0 == hour(now) { self.hour.1 } else { 0 }
    }
}

pub(super) fn hour(now: Time) -> u64 {
    now.as_millis() / Span::seconds(3_600).as_millis()
}
