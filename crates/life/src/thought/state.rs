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
use crate::time::{Span, Time};
use crate::world::{DomainKind, Values};

/// A question under way. The host knows which model is meant by a tier, and how far a sum goes there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub key: u64,
    pub purpose: Purpose,
    pub tier: Tier,
    /// The sum set aside. The question costs no more, whatever the provider bills afterwards.
    pub most: Usdc,
    pub asked: Time,
    /// The time after which an answer is too late.
    pub deadline: Time,
    /// The epoch it was asked in: in a later one only its money is settled.
    pub epoch: u32,
    /// The thirty days of age it was asked in.
    pub month: u64,
    /// Why now, one bit for each reason that a probe knows.
    pub why: u8,
    /// Features that the world showed.
    pub seen: ArrayVec<f32, { limits::FEATURES }>,
    /// Values of the domains, from which the answer expects.
    pub values: Values,
    /// The night it belongs to; none by day.
    pub night: u64,
    /// Which of its owner's orders this is, and the words of it.
    pub owner: Option<(CommandId, String)>,
}

/// The answer to a question of the owner's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub command: CommandId,
    /// The answer in words; none if there was silence.
    pub text: Option<String>,
    /// Records that the answer cites.
    pub cites: Vec<u64>,
    pub silence: Option<Silence>,
    pub cost: Usdc,
}

/// The share of its ticks in which a newborn asks.
const FIRST: f32 = 0.02;

/// The least share of ticks in which it asks, so that a model that has become better is found out.
pub const FLOOR: f32 = 0.001;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thoughts {
    /// Questions asked so far.
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
    /// The share of its ticks that should ask, by what asking has been worth.
    pub share: f32,
    /// The last reason that kept it from asking, and at which tick.
    pub kept: Option<(Held, u64)>,
    /// The age at which a model was last asked what presses.
    pub assessed: Option<Span>,
    /// Questions that models have raised, until a round of the Grimoire takes them in.
    pub questions: ArrayVec<String, { limits::QUESTIONS }>,
    /// Failures in a row, and the time before which no model is asked again.
    pub failed: u32,
    pub rests_until: Time,
    /// A question of the owner's that waits for the morning.
    pub waiting: Option<(CommandId, String)>,
    /// Answers to the owner's questions, newest last.
    pub told: Vec<Told>,
    /// The model's opinion of each domain, and its record, from the first answer on.
    pub opinions: ArrayVec<Option<Thought>, { limits::DOMAINS }>,
    pub standing: ArrayVec<Standing, { limits::DOMAINS }>,
}

/// A model's opinion of a domain, and until when it holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    pub effect: f64,
    /// The value of the domain when the question was asked.
    pub base: f64,
    pub asked: Time,
    pub until: Time,
}

impl Thought {
    /// The opinion as an effect on the naive forecast of now. A value may have gone a part of the way since; and an
    /// opinion is of an earlier moment, so it fades until the time that it speaks of.
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
    /// The thoughts of a newborn, by whether it may ask.
    pub(crate) fn new(figures: &ThoughtFigures) -> Thoughts {
        if !figures.any() {
            return Thoughts::default();
        }
        Thoughts { share: FIRST.min(figures.most_asking as f32), threshold: 1.0, ..Thoughts::default() }
    }

    pub fn find(&self, key: u64) -> Option<&Question> {
        self.open.iter().find(|question| question.key == key)
    }

    /// Whether a question of this purpose is under way.
    pub fn asks(&self, purpose: Purpose) -> bool {
        self.open.iter().any(|question| question.purpose == purpose)
    }

    /// Whether a question for this night is under way.
    pub fn asks_for(&self, night: u64) -> bool {
        self.open.iter().any(|question| question.night == night)
    }

    /// Money set aside for questions under way.
    pub fn promised(&self) -> Usdc {
        self.open.iter().fold(Usdc::ZERO, |sum, question| sum + question.most)
    }
}
