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
use serde::{Deserialize, Serialize};

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

/// How far a message is out of the ordinary: what lists leave out, and what front ends set apart by a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// What comes every tick, what leads up to an action, and how the golem is.
    Routine,
    /// What the golem did, and what became of it.
    Notable,
    /// The golem is in danger, or waits for its owner.
    Serious,
    /// The golem has died.
    Grave,
}

impl Gravity {
    fn routine_if(routine: bool) -> Gravity {
        if routine { Gravity::Routine } else { Gravity::Notable }
    }
}

impl Message<'_> {
    /// Whether lists leave the message out unless asked.
    pub fn is_routine(&self) -> bool {
        self.gravity() == Gravity::Routine
    }

    /// The gravity of a message. Each is named: one that is forgotten does not compile.
    pub fn gravity(&self) -> Gravity {
        use Message::*;
        match self {
            Died { .. } => Gravity::Grave,
            EconomicCritical { .. } | CalledOut { .. } | Froze { .. } | ApprovalSought { .. } | CallsHeld { .. } => {
                Gravity::Serious
            }
            Senescence { state: "sound", .. } => Gravity::Notable,
            Senescence { .. } => Gravity::Serious,
            PhaseChanged { from_phase, to_phase, .. } => of_phases(*from_phase, *to_phase),
            ModeChanged { mode } => Gravity::routine_if(matches!(*mode, "dreaming" | "waking")),
            Finished { goal, .. } => Gravity::routine_if(*goal != Goal::Act),
            // An answer that the owner waits for is not routine.
            Answered { purpose, over, .. } | Silent { purpose, over, .. } => {
                Gravity::routine_if(*purpose != Purpose::Answer && !over.is_positive())
            }
            CallSettled { over, .. } => Gravity::routine_if(!over.is_positive()),
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
            | RegimeChanged { .. } => Gravity::Routine,
            DreamBegan { .. }
            | DreamPhase { .. }
            | DreamHypothesis { .. }
            | DreamCounterfactual { .. }
            | DreamProgress { .. }
            | DreamDone { .. }
            | Dreamt { .. }
            | DreamLeft { .. }
            | Unstaged { .. }
            | Revised { .. }
            | RolledBack { .. } => Gravity::Routine,
            Born { .. } | Funded { .. } | Withdrew { .. } | Thawed | Amended { .. } | Steered { .. } => {
                Gravity::Notable
            }
            Approved { .. } | Settled { .. } | Stopped { .. } | Harvested { .. } => Gravity::Notable,
            Said { .. } | Noted { .. } | Claimed { .. } | Met { .. } => Gravity::Notable,
            DreamsSwitched { .. } | Suspended | CallRefused { .. } | CallsReleased { .. } => Gravity::Notable,
            Reflected { .. } | Bequeathed { .. } | Ended { .. } => Gravity::Notable,
        }
    }
}

/// Serious on the way down to where a golem is near its end; routine among the phases above.
fn of_phases(from: Phase, to: Phase) -> Gravity {
    if from > Phase::Declining && to > Phase::Declining {
        return Gravity::Routine;
    }
    if to < from { Gravity::Serious } else { Gravity::Notable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lists_leave_out_is_routine_and_danger_and_questions_to_the_owner_are_serious() {
        let settled = |over| Message::CallSettled {
            key: 1,
            model: "m",
            input: 1,
            output: 1,
            cost: Usdc::ZERO,
            over,
            how: How::Told,
            took_ms: 1,
        };
        for (message, gravity) in [
            (Message::ModeChanged { mode: "waking" }, Gravity::Routine),
            (Message::ModeChanged { mode: "paused" }, Gravity::Notable),
            (Message::Thawed, Gravity::Notable),
            (Message::Froze { reason: "" }, Gravity::Serious),
            (Message::ApprovalSought { ask: None }, Gravity::Serious),
            (Message::Senescence { state: "grace", fitness: 0.3 }, Gravity::Serious),
            (Message::Senescence { state: "sound", fitness: 0.5 }, Gravity::Notable),
            (settled(Usdc::ZERO), Gravity::Routine),
            (settled(Usdc::cents(1)), Gravity::Notable),
        ] {
            assert_eq!(message.gravity(), gravity, "{message:?}");
            assert_eq!(message.is_routine(), gravity == Gravity::Routine);
        }
        assert!(Gravity::Routine < Gravity::Notable && Gravity::Notable < Gravity::Serious);
        assert!(Gravity::Serious < Gravity::Grave);
    }

    #[test]
    fn a_change_of_phase_is_serious_on_the_way_down_to_its_end() {
        use Phase::*;
        for (from_phase, to_phase, gravity) in [
            (Thriving, Conservation, Gravity::Routine),
            (Conservation, Stable, Gravity::Routine),
            (Conservation, Declining, Gravity::Serious),
            (Declining, Terminal, Gravity::Serious),
            (Declining, Stable, Gravity::Notable),
        ] {
            let (composite, trigger_clock) = (0.3, Clock::Economic);
            let message = Message::PhaseChanged { from_phase, to_phase, composite, trigger_clock };
            assert_eq!(message.gravity(), gravity, "{message:?}");
        }
    }
}
