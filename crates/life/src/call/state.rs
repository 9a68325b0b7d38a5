//! Calls under way, and what all of them have cost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Alike, Denied, Habits, Hold, Kinds, UnitCounts, Used};
use crate::limits;
use crate::money::Usdc;
use crate::spell::Spell;
use crate::time::Time;

/// One call under way. It costs no more than was set aside for it, whatever anybody says afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub key: u64,
    pub most: Usdc,
    pub asked: Time,
    /// The thirty days of age it was made in.
    pub month: u64,
    /// By what it is known among those like it.
    pub alike: u64,
    /// By what it would be known if it were made again.
    pub again: Option<u64>,
    /// What goes in and may come out, at most; nothing, where no record says.
    pub tokens: u64,
    /// What its tokens are, as far as that is known before it is settled.
    pub kinds: Kinds,
}

/// What calls to one model have come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByModel {
    pub model: String,
    pub calls: u64,
    pub input: u64,
    pub output: u64,
    pub cost: Usdc,
    /// Of what went in, read from a cache and written to one; of what came out, thought and not said.
    #[serde(default)]
    pub cached: u64,
    #[serde(default)]
    pub written: u64,
    #[serde(default)]
    pub thought: u64,
}

/// Calls were stopped, and its owner said yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    pub hold: Hold,
    pub until: Time,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Calls there have been.
    pub made: u64,
    pub open: Vec<Open>,
    pub hour: Spell,
    pub day: Spell,
    /// Thirty days of age.
    pub month: Spell,
    pub spent: Usdc,
    /// Calls whose cost nobody could say, and that count as what they could have cost.
    pub cut: u64,
    /// Calls that were refused, as far as that is on record.
    pub denied: u64,
    /// Why one was last refused, and when that was told.
    pub refused: Option<(Denied, Time)>,
    /// By what the newest calls would be known if they were made again, oldest first.
    pub known: VecDeque<u64>,
    /// Calls are stopped until its owner says yes.
    pub hold: Option<Hold>,
    pub habits: Habits,
    /// The newest calls that were made once or more often, oldest first.
    pub alike: VecDeque<Alike>,
    /// The call they were stopped for, if one was made again and again; by what it is known among those like it.
    pub looped: Option<u64>,
    /// What its owner has said yes to, however often it is made; oldest first.
    pub usual: VecDeque<u64>,
    /// What they took beside money.
    pub units: UnitCounts,
    /// By model, in the order of their first calls; those beyond the last share its place.
    pub models: Vec<ByModel>,
    /// What was billed beyond all that could be paid.
    pub unpaid: Usdc,
    /// How often calls were stopped until its owner said yes, and the newest of those that are over, oldest first.
    pub stopped: u64,
    pub past: VecDeque<Past>,
}

impl Calls {
    pub fn find(&self, key: u64) -> Option<&Open> {
        self.open.iter().find(|open| open.key == key)
    }

    /// What is set aside for calls under way.
    pub fn promised(&self) -> Usdc {
        self.open.iter().fold(Usdc::ZERO, |sum, open| sum + open.most)
    }

    /// Tokens that are set aside for them.
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
