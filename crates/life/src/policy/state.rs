//! The state of acting: proposals, what was learned of how the world carries actions out, and what was done today.

use serde::{Deserialize, Serialize};

use crate::laws::Laws;
use crate::money::Usdc;
use crate::mortality::Domain;

/// A proposal: an action the world declares, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub action: u8,
    /// A share of capital to commit, or of what is held to give up.
    pub size: f64,
}

/// Experience with how the world carries actions out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Claims of what an action will come to, against taking its preview at its word.
    pub domain: Domain,
    /// How much worse than previewed it came out, as a share, on average.
    pub shortfall: f64,
    /// The cost of one way by the newest preview, as a share.
    pub cost: f64,
    /// Everything lost on the way beyond fees so far, in micro-USDC: spread and falling short.
    pub slipped: f64,
}

impl Execution {
    /// The cost of going in and out again, as a share; zero before anything is known of it.
    pub fn round_trip(&self) -> f64 {
        2.0 * self.one_way()
    }

    pub fn one_way(&self) -> f64 {
        self.cost + self.shortfall.max(0.0)
    }

    /// Learns the cost of one way from a preview. A preview that asks for a fortune says nothing about usual costs.
    pub(crate) fn learn_cost(&mut self, cost: f64, laws: &Laws) {
        if cost <= laws.cost_most {
            let first = self.cost == 0.0;
            self.cost = if first { cost } else { self.cost + (cost - self.cost) * laws.cost_share };
        }
    }

    /// Fades known costs, since old ones are no reason not to ask again.
    pub(crate) fn fade(&mut self, laws: &Laws) {
        self.cost *= laws.cost_keep;
        self.shortfall *= laws.cost_keep;
    }

    /// Learns by how much an action came out worse than its preview.
    pub(crate) fn learn(&mut self, shortfall: f64, memory: f64) {
        self.domain.score((self.shortfall - shortfall).abs(), shortfall.abs(), self.shortfall.abs());
        self.shortfall += (shortfall - self.shortfall) / (self.domain.resolved as f64).min(memory);
    }
}

/// Actions on the present day of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Day {
    pub number: u64,
    pub actions: u32,
    pub value: Usdc,
}
