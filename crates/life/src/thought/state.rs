//! Questions under way, what they have cost, and what they have been worth.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::answer::{FACTORS, Silence};
use super::kind::{Held, Purpose};
use crate::constitution::ThoughtFigures;
use crate::id::CommandId;
use crate::limits;
use crate::money::Usdc;
use crate::mortality::phase::Tier;
use crate::prediction::Standing;
use crate::rule::neutral;
use crate::spell::Spell;
use crate::time::Time;
use crate::world::{DomainKind, Values};

/// A question under way. Whoever keeps the golem knows which model is meant by a tier, and how far a sum goes there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub key: u64,
    pub purpose: Purpose,
    pub tier: Tier,
    /// Set aside for it. It costs no more, whatever anybody says afterwards.
    pub most: Usdc,
    pub asked: Time,
    /// An answer after that is none.
    pub deadline: Time,
    /// Of another epoch than the answer's, only its money is settled.
    pub epoch: u32,
    /// The thirty days of age it was asked in.
    pub month: u64,
    /// Why now, one bit for each reason that a probe knows.
    pub why: u8,
    /// What the world showed.
    pub seen: ArrayVec<f32, { limits::FEATURES }>,
    /// Where its domains stood: what is expected is expected from there.
    pub values: Values,
    /// The night it belongs to; none by day.
    pub night: u64,
    /// Which of its owner's orders this is, and the words of it.
    pub owner: Option<(CommandId, String)>,
}

/// What came of a question of its owner's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub command: CommandId,
    /// In words; none if nobody answered.
    pub text: Option<String>,
    /// The records it goes by.
    pub cites: Vec<u64>,
    pub silence: Option<Silence>,
    pub cost: Usdc,
}

/// The share of its ticks in which a newborn asks.
const FIRST: f32 = 0.02;

/// The share in which it asks at least, so that a model that has become better is found out.
pub const FLOOR: f32 = 0.001;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thoughts {
    /// Questions there have been.
    pub made: u64,
    pub open: ArrayVec<Question, { limits::THOUGHTS }>,
    pub day: Spell,
    /// Thirty days of age.
    pub month: Spell,
    pub spent: Usdc,
    pub answered: u64,
    /// Answers that said nothing, by whatever silence.
    pub silent: u64,
    /// Ticks that were looked at, and how unusual one must be to ask.
    pub looked: u64,
    pub threshold: f32,
    /// Of its ticks so many should ask; by what asking has been worth.
    pub share: f32,
    /// What last kept it from asking, and at which tick.
    pub kept: Option<(Held, u64)>,
    /// Answers in a row that did not come; nobody is asked again before then.
    pub failed: u32,
    pub rests_until: Time,
    /// What its owner has asked in its sleep.
    pub waiting: Option<(CommandId, String)>,
    /// What its owner has asked and been told, newest last.
    pub told: Vec<Told>,
    /// What is thought of each domain, and what that has come to, from the first answer on.
    pub opinions: ArrayVec<Option<Thought>, { limits::DOMAINS }>,
    pub standing: ArrayVec<Standing, { limits::DOMAINS }>,
}

/// What is thought of a domain, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    pub effect: f64,
    /// Where the domain stood when that was asked.
    pub base: f64,
    pub asked: Time,
    pub until: Time,
}

impl Thought {
    /// What is thought of it now, beside this naive forecast. A value was expected to come to so much, and may have gone a
    /// part of the way since; and whatever was thought is of an earlier moment, and fades until the time that it speaks of.
    pub(super) fn effect(&self, kind: DomainKind, now: Time, naive: f64) -> Option<f64> {
        let Thought { effect, base, asked, until } = *self;
        if now >= until {
            return None;
        }
        let effect = match kind {
            DomainKind::Value if base > 0.0 && naive > 0.0 => (effect * base / naive).clamp(FACTORS.0, FACTORS.1),
            DomainKind::Value | DomainKind::Direction | DomainKind::Range => effect,
        };
        let left = until.since(now).as_millis() as f64 / until.since(asked).as_millis().max(1) as f64;
        Some(neutral(kind) + (effect - neutral(kind)) * left.min(1.0))
    }
}

impl Thoughts {
    /// Those of a newborn that may ask.
    pub(crate) fn new(figures: &ThoughtFigures) -> Thoughts {
        if !figures.any() {
            return Thoughts::default();
        }
        Thoughts { share: FIRST.min(figures.most_asking as f32), threshold: 1.0, ..Thoughts::default() }
    }

    pub fn find(&self, key: u64) -> Option<&Question> {
        self.open.iter().find(|question| question.key == key)
    }

    /// A question of this purpose is under way.
    pub fn asks(&self, purpose: Purpose) -> bool {
        self.open.iter().any(|question| question.purpose == purpose)
    }

    /// Somebody is being asked for this night.
    pub fn asks_for(&self, night: u64) -> bool {
        self.open.iter().any(|question| question.night == night)
    }

    /// What is set aside for questions under way.
    pub fn promised(&self) -> Usdc {
        self.open.iter().fold(Usdc::ZERO, |sum, question| sum + question.most)
    }
}
