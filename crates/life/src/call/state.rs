//! Calls under way, and what all of them have cost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Alike, Denied, Habits, Hold, Kinds, UnitCounts, Used};
use crate::limits;
use crate::money::Usdc;
use crate::spell::Spell;
use crate::time::Time;

/// One call under way, and what was set aside for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub key: u64,
    pub most: Usdc,
    pub asked: Time,
    /// The thirty days of age it was made in.
    pub month: u64,
    /// A mark that calls asking the same have in common.
    pub alike: u64,
    /// A mark by which a retry of this call is recognised.
    pub again: Option<u64>,
    /// Tokens that go in and may come out, at most; zero where no record says.
    pub tokens: u64,
    /// Kinds of its tokens, as far as they are known before it is settled.
    pub kinds: Kinds,
}

/// Totals of the calls to one model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByModel {
    pub model: String,
    pub calls: u64,
    pub input: u64,
    pub output: u64,
    pub cost: Usdc,
    /// Input tokens read from a cache and written to one, and output tokens of thinking.
    #[serde(default)]
    pub cached: u64,
    #[serde(default)]
    pub written: u64,
    #[serde(default)]
    pub thought: u64,
}

/// A stop of calls that is over, since the owner said yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    pub hold: Hold,
    pub until: Time,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Calls made so far.
    pub made: u64,
    pub open: Vec<Open>,
    pub hour: Spell,
    pub day: Spell,
    /// Thirty days of age.
    pub month: Spell,
    pub spent: Usdc,
    /// Calls of unknown cost, which count as the most they could have cost.
    pub cut: u64,
    /// Calls that were refused, as far as that is on record.
    pub denied: u64,
    /// The reason of the last refusal on record, and when it was recorded.
    pub refused: Option<(Denied, Time)>,
    /// Marks by which retries of the newest calls are recognised, oldest first.
    pub known: VecDeque<u64>,
    /// The stop in force, until the owner says yes.
    pub hold: Option<Hold>,
    pub habits: Habits,
    /// The newest calls that were made once or more often, oldest first.
    pub alike: VecDeque<Alike>,
    /// The mark of the call that was made again and again, if calls were stopped for one.
    pub looped: Option<u64>,
    /// Marks of calls that the owner has said yes to, however often they are made; oldest first.
    pub usual: VecDeque<u64>,
    /// Tokens, calls and hours taken so far.
    pub units: UnitCounts,
    /// By model, in the order of their first calls; those beyond the last share its place.
    pub models: Vec<ByModel>,
    /// Money billed beyond all that could be paid.
    pub unpaid: Usdc,
    /// How often calls were stopped until its owner said yes, and the newest of those that are over, oldest first.
    pub stopped: u64,
    pub past: VecDeque<Past>,
}

impl Calls {
    pub fn find(&self, key: u64) -> Option<&Open> {
        self.open.iter().find(|open| open.key == key)
    }

    /// Whether a call with this mark was made lately, and paid for.
    pub fn has_made(&self, again: Option<u64>) -> bool {
        again.is_some_and(|again| self.known.contains(&again))
    }

    /// Money set aside for calls under way.
    pub fn promised(&self) -> Usdc {
        self.open.iter().fold(Usdc::ZERO, |sum, open| sum + open.most)
    }

    /// Tokens set aside for calls under way.
    pub fn tokens_promised(&self) -> u64 {
        self.open.iter().fold(0, |sum, open| sum.saturating_add(open.tokens))
    }

    pub(super) fn count(&mut self, used: &Used, kinds: Kinds, cost: Usdc) {
        let known = self.models.iter().position(|by| by.model == used.model);
        let at = known.unwrap_or_else(|| {
            if self.models.len() < limits::CALLED {
                self.models.push(ByModel { model: used.model.clone(), ..ByModel::default() });
            }
            self.models.len() - 1
        });
        let by = &mut self.models[at];
        if known.is_none() && by.model != used.model {
            by.model = "others".to_owned();
        }
        by.calls += 1;
        by.input += u64::from(used.input);
        by.output += u64::from(used.output);
        by.cost += cost;
        by.cached += u64::from(kinds.cached);
        by.written += u64::from(kinds.written);
        by.thought += u64::from(kinds.thought);
    }
}
