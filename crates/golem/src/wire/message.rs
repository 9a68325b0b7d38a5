//! One message, under the name the documents give it.

use life::call::{How, Runaway};
use life::clade::News;
use life::constitution::PolicyFigures;
use life::dream;
use life::goal::{Ended, Goal};
use life::money::Usdc;
use life::mortality::death::Cause;
use life::mortality::phase::{Phase, Tier};
use life::mortality::{Clock, Vitality};
use life::owner::Account;
use life::policy::Refusal;
use life::regime::Regime;
use life::stress::{Assessed, Band};
use life::thanatopsis::Left;
use life::thought::{Answer, Purpose, Silence};
use life::time::Time;
use serde::Serialize;

use crate::policy::Ask;

/// One message. Money is in micro-USDC, times in milliseconds of world time; the tick stands in the envelope.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event")]
pub enum Message<'a> {
    #[serde(rename = "golem.born")]
    Born { name: &'a str, id: String, world: &'a str, laws: u16, seeded: bool },
    #[serde(rename = "golem.funded")]
    Funded { credit: Usdc, capital: Usdc },
    #[serde(rename = "golem.withdrew")]
    Withdrew { deposit: u64, from: Account, amount: Usdc },
    #[serde(rename = "golem.refused")]
    Refused { rule: Refusal, why: String },
    #[serde(rename = "golem.frozen")]
    Froze { reason: &'a str },
    #[serde(rename = "golem.thawed")]
    Thawed,
    #[serde(rename = "golem.action")]
    Settled { key: u64, units: i64, cash: Usdc, fee: Usdc, holding: i64 },
    #[serde(rename = "mode_change")]
    ModeChanged { mode: &'static str },
    /// A night began, with its trigger in the documents' three words and in this golem's own.
    #[serde(rename = "DreamStart")]
    DreamBegan { cycle_id: u64, trigger: &'static str, why: dream::Trigger, ticks: u32, budget: Usdc },
    /// A phase begins, with the most tokens its answers may have: none where it is rules that do its work.
    #[serde(rename = "DreamPhase")]
    DreamPhase { cycle_id: u64, phase: &'static str, budget_tokens: u64, budget: Usdc },
    #[serde(rename = "DreamHypothesis")]
    DreamHypothesis { cycle_id: u64, hypothesis: String, seed_episode_tick: u64, confidence: f64 },
    #[serde(rename = "DreamCounterfactual")]
    DreamCounterfactual { cycle_id: u64, hypothesis: String, outcome: String, lesson: String, confidence: f64 },
    #[serde(rename = "DreamComplete")]
    DreamLeft {
        cycle_id: u64,
        episodes_replayed: u32,
        counterfactuals_generated: u32,
        insights_crystallized: u32,
        heuristics_proposed: u32,
        episodes_depotentiated: u32,
        playbook_edits: u32,
        /// Tokens of the answers it had from models.
        tokens: u64,
        woken: Option<dream::Waker>,
    },
    /// All that a phase of a night came to.
    #[serde(rename = "dream.worked")]
    Dreamt { found: &'a dream::Found },
    #[serde(rename = "dream_progress", rename_all = "camelCase")]
    DreamProgress { phase: dream::SleepStage, cycle_number: u64, budget_spent: Usdc },
    #[serde(rename = "dream_complete", rename_all = "camelCase")]
    DreamDone { cycle_number: u64, hypotheses_generated: u32, insights_found: u32, cost_usdc: Usdc },
    #[serde(rename = "dream.switched")]
    DreamsSwitched { on: bool },
    #[serde(rename = "dream.unstaged")]
    Unstaged { number: u64, fate: dream::Fate },
    #[serde(rename = "dream.revised")]
    Revised { domain: &'a str, number: u64 },
    #[serde(rename = "dream.rolled_back")]
    RolledBack { number: u64 },
    #[serde(rename = "mortality.vitality_update")]
    VitalityUpdated { economic: f64, epistemic: f64, stochastic: f64, composite: f64, phase: Phase },
    #[serde(rename = "mortality.phase_transition")]
    PhaseChanged { from_phase: Phase, to_phase: Phase, composite: f64, trigger_clock: Clock },
    #[serde(rename = "mortality.economic_critical")]
    EconomicCritical { remaining: Usdc, burn_rate: f64, projected_ticks: Option<u64> },
    #[serde(rename = "mortality.epistemic_warning")]
    EpistemicWarned { fitness: f64, senescence_threshold: f64, ticks_in_decline: u64 },
    #[serde(rename = "mortality.senescence")]
    Senescence { state: &'static str, fitness: f64 },
    #[serde(rename = "mortality.stochastic_roll")]
    Rolled { hazard_rate: f64, roll: f64, survived: bool },
    #[serde(rename = "mortality.dead")]
    Died { cause: &'a Cause, final_vitality: &'a Vitality, ticks_alive: u64 },
    #[serde(rename = "golem.granted")]
    Granted { key: u64, cash: Usdc, fee: Usdc, expires: Time },
    #[serde(rename = "golem.approval_needed")]
    ApprovalSought {
        #[serde(flatten)]
        ask: Option<Ask>,
    },
    #[serde(rename = "golem.approved")]
    Approved { key: u64 },
    #[serde(rename = "golem.verified")]
    Verified { key: u64, quoted: Usdc, actual: Usdc, gas: Usdc },
    #[serde(rename = "golem.stopped")]
    Stopped { holding: i64, unit: Usdc },
    #[serde(rename = "golem.harvested")]
    Harvested { amount: Usdc, credit: Usdc },
    #[serde(rename = "golem.steered")]
    Steered { strategy: &'a str },
    /// A word of its agent to its owner.
    #[serde(rename = "agent.said")]
    Said { text: &'a str, done: bool },
    /// A word of its mind outside to its owner.
    #[serde(rename = "mind.noted")]
    Noted { text: &'a str },
    /// A dated claim of its agent; `naive` is the naive forecast.
    #[serde(rename = "claim.made")]
    Claimed { number: u64, domain: &'a str, value: f64, naive: f64, due: Time },
    /// The dated claims of a domain that were due have met their answer.
    #[serde(rename = "claim.met")]
    Met { domain: &'a str, actual: f64, fitness: Option<f64> },
    #[serde(rename = "golem.amended")]
    Amended { policy: &'a PolicyFigures },
    #[serde(rename = "golem.goal")]
    Finished { goal: Goal, domain: &'a str, number: u64, ended: Ended },
    #[serde(rename = "regime.changed")]
    RegimeChanged { from: Regime, to: Regime },
    #[serde(rename = "stress.raised")]
    Raised { stressor: String, severity: f64, load: f64, band: Band },
    #[serde(rename = "stress.cleared")]
    Cleared { stressor: String, severity: f64, load: f64, band: Band },
    #[serde(rename = "stress.suspended")]
    Suspended,
    #[serde(rename = "stress.crisis")]
    CalledOut { load: f64 },
    /// Entries it has found out go to its siblings.
    #[serde(rename = "clade.shared")]
    Shared { entries: u32 },
    /// The golem stands where a sibling died, or does not any more.
    #[serde(rename = "clade.near")]
    Near { died: Option<String> },
    #[serde(rename = "clade.heard")]
    Heard { from: String, news: News },
    #[serde(rename = "stress.assessed")]
    Assessed { assessed: &'a Assessed },
    #[serde(rename = "thought.asked")]
    Asked { key: u64, purpose: Purpose, tier: Tier, most: Usdc },
    /// The outcome of a call of its agent's.
    #[serde(rename = "call.settled")]
    CallSettled { key: u64, model: &'a str, input: u32, output: u32, cost: Usdc, over: Usdc, how: How, took_ms: u32 },
    #[serde(rename = "call.refused")]
    CallRefused { code: &'static str, why: String, times: u32 },
    /// Calls are stopped until its owner says yes to this key.
    #[serde(rename = "call.held")]
    CallsHeld { key: u64, by: Runaway, times: u32, most: Usdc, why: String },
    #[serde(rename = "call.released")]
    CallsReleased { key: u64 },
    /// The answer to a question; `over` is what the provider bills beyond what was set aside: it is not counted.
    #[serde(rename = "thought.answered")]
    Answered { key: u64, purpose: Purpose, cost: Usdc, over: Usdc, fresh: bool, answer: &'a Answer },
    #[serde(rename = "thought.silent")]
    Silent { key: u64, purpose: Purpose, cost: Usdc, over: Usdc, why: Silence },
    #[serde(rename = "golem.reflected")]
    Reflected { testament: String },
    #[serde(rename = "golem.bequeathed")]
    Bequeathed { entries: u32, bundle: String },
    #[serde(rename = "golem.ended")]
    Ended {
        swept: u64,
        left: i64,
        unit: &'a str,
        /// Holdings left to the owner, with what there is to know about them.
        #[serde(skip_serializing_if = "Option::is_none")]
        yours: Option<Left>,
    },
}

impl Message<'_> {
    /// Whether a message is routine: what comes every tick, what leads up to an action, and moods. The rest is what the
    /// golem did and what became of it.
    pub fn is_routine(&self) -> bool {
        use Message::*;
        let well = |phase: &Phase| *phase > Phase::Declining;
        match self {
            PhaseChanged { from_phase, to_phase, .. } => return well(from_phase) && well(to_phase),
            Finished { goal, .. } => return *goal != Goal::Act,
            // An answer that the owner waits for is not routine.
            Answered { purpose: Purpose::Answer, .. } | Silent { purpose: Purpose::Answer, .. } => return false,
            Answered { over, .. } | Silent { over, .. } | CallSettled { over, .. } => return !over.is_positive(),
            _ => {}
        }
        matches!(
            self,
            VitalityUpdated { .. }
                | Rolled { .. }
                | Refused { .. }
                | Granted { .. }
                | Verified { .. }
                | Assessed { .. }
                | Raised { .. }
                | Cleared { .. }
                | Heard { .. }
                | Shared { .. }
                | Near { .. }
                | Asked { .. }
                | EpistemicWarned { .. }
                | ModeChanged { mode: "dreaming" | "waking" }
                | DreamBegan { .. }
                | DreamPhase { .. }
                | DreamHypothesis { .. }
                | DreamCounterfactual { .. }
                | DreamProgress { .. }
                | DreamDone { .. }
                | Dreamt { .. }
                | DreamLeft { .. }
                | Unstaged { .. }
                | Revised { .. }
                | RolledBack { .. }
                | RegimeChanged { .. }
        )
    }
}
