//! Typed preferences of an owner: what a golem would rather do. Each narrows what the policy allows, and none widens it.

use serde::{Deserialize, Serialize};

use crate::time::Span;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StrategyFigures {
    /// Domains by whose evidence exposure may be taken up, and that ideas are about; none at all means all.
    pub domains: Vec<String>,
    /// The longest that exposure is held; it is then given up, however well it stands.
    pub hold: Option<Span>,
    /// Basis points of the size that would be allowed otherwise.
    pub size_bps: Option<u32>,
    /// A condition in the words of the world; while it holds no exposure is taken up.
    pub avoid: Option<String>,
}

impl StrategyFigures {
    /// Whether nothing is preferred. Births from before there were preferences are written as they were.
    pub fn is_silent(&self) -> bool {
        *self == StrategyFigures::default()
    }

    /// Whether exposure may be taken up by evidence of a domain.
    pub fn prefers(&self, domain: &str) -> bool {
        self.domains.is_empty() || self.domains.iter().any(|name| name == domain)
    }

    /// The part that is left of a size in basis points.
    pub fn narrowed(&self, bps: u32) -> u32 {
        self.size_bps.map_or(bps, |size| (u64::from(bps) * u64::from(size.min(10_000)) / 10_000) as u32)
    }
}
