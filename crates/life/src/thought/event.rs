//! Events of questions to models.

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
    /// The golem would have asked, and was kept from it.
    Kept {
        by: Held,
    },
    Answered {
        key: u64,
        purpose: Purpose,
        cost: Usdc,
        /// Money that the provider billed beyond what was set aside. It is not paid.
        over: Usdc,
        /// True if nothing has changed since that would make the answer out of place.
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
    /// The owner asked while the golem was asleep; the question is put in the morning.
    Deferred {
        command: CommandId,
        text: String,
    },
}

impl Prose for Box<Question> {
    const NAME: &'static str = "QuestionJson";
}
