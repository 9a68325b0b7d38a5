//! The cage: what an owner lets a golem and its agent do.

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::money::Usdc;
use crate::time::Span;
use crate::world::Manifest;

/// The cage. The owner may change it during a life; everyone else only ever reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFigures {
    /// The most one action may commit, in basis points of capital.
    pub per_action_bps: u32,
    /// The fall from the highest worth that ends the golem, in basis points; zero switches it off.
    pub max_drawdown_bps: u32,
    pub on_death: OnDeath,
    /// The most one action may commit, in money.
    #[serde(default = "unlimited")]
    pub per_action_most: Usdc,
    /// The most all actions of a day may commit together.
    #[serde(default = "unlimited")]
    pub per_day_most: Usdc,
    /// Actions that take up exposure, a day.
    #[serde(default = "unbounded")]
    pub actions_per_day: u32,
    /// The fall below its cost at which what is held is given up, in basis points; zero never does.
    #[serde(default)]
    pub stop_bps: u32,
    /// Names of actions that may be taken; none at all means whatever the world declares.
    #[serde(default)]
    pub allow: Option<Vec<String>>,
    /// Actions that may cost more than this wait for the owner's word; without a sum none does.
    #[serde(default)]
    pub approve_above: Option<Usdc>,
    /// How long an owner has to answer before silence is a no.
    #[serde(default = "an_hour")]
    pub approve_within: Span,
    /// How much less than its preview said giving something up may bring, in basis points.
    #[serde(default = "a_tenth")]
    pub slippage_bps: u32,
    /// The most one call of an agent's to a model may cost; no cap where there is no sum, here and below.
    #[serde(default)]
    pub call_most: Option<Usdc>,
    /// The most that calls of one hour may cost together, of one day, and of thirty days of age.
    #[serde(default)]
    pub calls_hour: Option<Usdc>,
    #[serde(default)]
    pub calls_day: Option<Usdc>,
    #[serde(default)]
    pub calls_month: Option<Usdc>,
    /// Calls under way at once.
    #[serde(default = "some_calls")]
    pub calls_at_once: u32,
    /// The owner is asked before the same call is made more often than this within two minutes; zero never asks, here and
    /// below.
    #[serde(default = "a_few")]
    pub calls_alike: u32,
    /// The owner is asked before more than this many calls are under way at once.
    #[serde(default = "many")]
    pub calls_fan: u32,
    /// Caps on tokens, calls and hours.
    #[serde(default)]
    pub caps: Caps,
    /// Calls are not billed in dollars: a seat or a subscription pays, and a sum is what the same calls would have
    /// cost.
    #[serde(default)]
    pub imputed: bool,
    /// The owner is asked before a minute costs, or calls at once come to, more than so many times what they ever did.
    #[serde(default = "a_leap")]
    pub calls_leap: u32,
}

/// Caps in tokens, in calls and in time with calls, each in all and for a day in UTC; none where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Caps {
    pub tokens: Option<u64>,
    pub tokens_day: Option<u64>,
    pub calls: Option<u64>,
    pub calls_day: Option<u64>,
    pub time: Option<Span>,
    pub time_day: Option<Span>,
}

impl PolicyFigures {
    /// Allows only what the world has, in a list of bounded length and sums that are sums of money.
    pub fn fits(&self, world: &Manifest) -> bool {
        let declared = |name: &String| world.actions.iter().any(|action| action.name == *name);
        let calls = [self.call_most, self.calls_hour, self.calls_day, self.calls_month];
        let sums = [Some(self.per_action_most), Some(self.per_day_most), self.approve_above].into_iter().chain(calls);
        let sane = sums.flatten().all(|sum| sum >= Usdc::ZERO && sum <= Usdc::MOST);
        let Caps { tokens, tokens_day, calls, calls_day, .. } = self.caps;
        let counts = [tokens, tokens_day, calls, calls_day].into_iter().flatten();
        let sane = sane && counts.max().is_none_or(|most| most <= limits::CAP);
        sane && self.allow.as_ref().is_none_or(|names| names.len() <= limits::ACTIONS && names.iter().all(declared))
    }
}

impl Default for PolicyFigures {
    fn default() -> PolicyFigures {
        PolicyFigures {
            per_action_bps: 2_500,
            max_drawdown_bps: 1_300,
            on_death: OnDeath::Close,
            per_action_most: Usdc::dollars(1_000),
            per_day_most: Usdc::dollars(10_000),
            actions_per_day: 24,
            stop_bps: 1_000,
            allow: None,
            approve_above: None,
            approve_within: an_hour(),
            slippage_bps: a_tenth(),
            call_most: None,
            calls_hour: None,
            calls_day: None,
            calls_month: None,
            calls_at_once: some_calls(),
            calls_alike: a_few(),
            calls_fan: A_BURST,
            calls_leap: a_leap(),
            caps: Caps::default(),
            imputed: false,
        }
    }
}

/// Calls at once that a newborn may make unasked: forty pages read side by side are nothing unusual.
const A_BURST: u32 = 48;

fn unlimited() -> Usdc {
    Usdc::MOST
}

fn an_hour() -> Span {
    Span::seconds(3_600)
}

fn unbounded() -> u32 {
    u32::MAX
}

fn some_calls() -> u32 {
    64
}

fn a_few() -> u32 {
    8
}

fn many() -> u32 {
    32
}

fn a_leap() -> u32 {
    3
}

fn a_tenth() -> u32 {
    1_000
}

/// The fate of holdings when the golem dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDeath {
    Close,
    Hold,
    HandOver,
}
