//! What was asked, and what came of it.

use serde::{Deserialize, Serialize};

use super::{Answer, Held, Purpose, Question, Silence};
use crate::id::CommandId;
use crate::money::Usdc;
use crate::prose::Prose;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "ThoughtEvent")]
pub enum Event {
    /// A tick was looked at: how unusual it was, and the share of ticks that there is money and reason to ask in.
    Probed {
        score: f32,
        share: f32,
    },
    /// The sum is set aside from here on.
    Asked(#[serde(with = "crate::prose")] Box<Question>),
    /// It would have asked, and what kept it.
    Kept {
        by: Held,
    },
    Answered {
        key: u64,
        purpose: Purpose,
        cost: Usdc,
        /// What somebody said it cost beyond what was set aside. It is not paid.
        over: Usdc,
        /// Nothing has changed since that would make it out of place.
        fresh: bool,
        #[serde(with = "crate::prose")]
        answer: Box<Answer>,
    },
    Silent {
        key: u64,
        purpose: Purpose,
        cost: Usdc,
        over: Usdc,
        why: Silence,
    },
    /// Its owner asked while it was asleep; it is seen to in the morning.
    Deferred {
        command: CommandId,
        text: String,
    },
}

impl Prose for Box<Question> {
    const NAME: &'static str = "QuestionJson";
}
