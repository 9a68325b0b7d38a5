//! Events under the names the documents give them, with their payloads: what leaves the process.
//!
//! Inside, events are past-tense and terse; a message adds from the life what a listener needs to read
//! it alone.

use serde::Serialize;

use crate::constitution::PolicyFigures;
use crate::dream;
use crate::event::{Account, Event};
use crate::goal::{Ended, Goal};
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::death::Cause;
use crate::mortality::phase::Phase;
use crate::mortality::vitality::Vitality;
use crate::mortality::{Clock, stochastic};
use crate::policy::{self, Ask, Refusal};
use crate::regime::Regime;
use crate::rule::text;
use crate::stress::{self, Assessed, Band, Word};
use crate::thanatopsis::{self, Left};
use crate::time::Time;

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
    /// Its trigger in the documents' three words, and in this golem's own.
    #[serde(rename = "DreamStart")]
    DreamBegan { cycle_id: u64, trigger: &'static str, why: dream::Trigger, ticks: u32, budget: Usdc },
    /// A phase begins. No tokens are spent on what rules do; what it may cost is a sum.
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
        woken: Option<dream::Waker>,
    },
    /// All that a phase of a night came to.
    #[serde(rename = "dream.worked")]
    Dreamt { found: &'a dream::Found },
    #[serde(rename = "dream_progress", rename_all = "camelCase")]
    DreamProgress { phase: dream::Phase, cycle_number: u64, budget_spent: Usdc },
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
    #[serde(rename = "clade.heard")]
    Heard { from: String, word: Word },
    #[serde(rename = "stress.assessed")]
    Assessed { assessed: &'a Assessed },
    #[serde(rename = "golem.reflected")]
    Reflected { testament: String },
    #[serde(rename = "golem.bequeathed")]
    Bequeathed { entries: u32, bundle: String },
    #[serde(rename = "golem.ended")]
    Ended {
        swept: u64,
        left: i64,
        unit: &'a str,
        /// The same for its owner, with what there is to know about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        yours: Option<Left>,
    },
}

impl Message<'_> {
    /// What comes every tick, what led up to an action, and how it feels; the rest is what it did and what became of it.
    pub fn is_routine(&self) -> bool {
        use Message::*;
        let well = |phase: &Phase| *phase > Phase::Declining;
        match self {
            PhaseChanged { from_phase, to_phase, .. } => return well(from_phase) && well(to_phase),
            Finished { goal, .. } => return *goal != Goal::Act,
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

/// The message an event makes, given the life it left behind; none if it is nobody else's business.
pub fn message<'a>(event: &'a Event, life: &'a Life) -> Option<Message<'a>> {
    let fitness = crate::mortality::epistemic::fitness;
    let senescence = |state| Message::Senescence { state, fitness: fitness(life) };
    Some(match event {
        Event::Born(birth) => Message::Born {
            name: birth.name.as_str(),
            id: birth.id.to_string(),
            world: &birth.world.world,
            laws: birth.laws,
            seeded: birth.seeded,
        },
        Event::Funded { credit, capital, .. } => Message::Funded { credit: *credit, capital: *capital },
        Event::Withdrew { deposit, from, amount } => {
            Message::Withdrew { deposit: *deposit, from: *from, amount: *amount }
        }
        Event::Refused { rule } | Event::Declined { rule, .. } | Event::Denied { rule, .. } => {
            Message::Refused { rule: *rule, why: rule.to_string() }
        }
        Event::Paused => Message::ModeChanged { mode: "paused" },
        Event::Resumed => Message::ModeChanged { mode: "running" },
        Event::Froze { reason } => Message::Froze { reason },
        Event::Thawed => Message::Thawed,
        Event::Settled { key, outcome } => Message::Settled {
            key: *key,
            units: outcome.units,
            cash: outcome.cash,
            fee: outcome.fee,
            holding: life.capital.holding,
        },
        Event::Granted { permit, quote, .. } => {
            Message::Granted { key: permit.key, cash: quote.cash, fee: quote.fee, expires: permit.expires }
        }
        Event::ApprovalSought { .. } => Message::ApprovalSought { ask: policy::asks(life) },
        Event::Approved { key, .. } => Message::Approved { key: *key },
        Event::Verified { key, quoted, actual, gas } => {
            Message::Verified { key: *key, quoted: *quoted, actual: *actual, gas: *gas }
        }
        Event::Stopped => Message::Stopped { holding: life.capital.holding, unit: life.seen.unit },
        Event::Harvested { amount } => Message::Harvested { amount: *amount, credit: life.purse.credit },
        Event::Amended(policy) => Message::Amended { policy },
        Event::Finished { goal, domain, ended } => {
            let number = life.goals.get(usize::from(*domain)).map_or(0, |tally| tally.finished);
            let domain = life.birth.world.domains.get(usize::from(*domain)).map_or("", |spec| &spec.name);
            Message::Finished { goal: *goal, domain, number, ended: *ended }
        }
        Event::Raised { kind, domain, severity } => Message::Raised {
            stressor: stress::words::title(life, *kind, *domain),
            severity: *severity,
            load: stress::load(life),
            band: stress::band(life),
        },
        Event::Cleared(evidence) => Message::Cleared {
            stressor: stress::words::title(life, evidence.kind(), evidence.domain()),
            severity: evidence.severity(),
            load: stress::load(life),
            band: stress::band(life),
        },
        Event::Suspended => Message::Suspended,
        Event::CalledOut { word: Word::Crisis { load }, .. } => Message::CalledOut { load: *load },
        Event::Heard { from, word, .. } => Message::Heard { from: from.to_string(), word: *word },
        Event::Assessed(assessed) => Message::Assessed { assessed },
        Event::RegimeChanged { from, to } => Message::RegimeChanged { from: *from, to: *to },
        Event::DreamBegan { trigger, ticks, budget } => Message::DreamBegan {
            cycle_id: life.dreams.nights,
            trigger: trigger.word(life),
            why: *trigger,
            ticks: *ticks,
            budget: *budget,
        },
        Event::Dreamt(found) => Message::Dreamt { found },
        Event::DreamLeft { woken } => {
            let (cycle_id, tally) = (life.dreams.nights, life.dreams.tally);
            Message::DreamLeft {
                cycle_id,
                episodes_replayed: tally.replayed,
                counterfactuals_generated: tally.alternatives,
                insights_crystallized: tally.insights,
                heuristics_proposed: tally.hypotheses,
                episodes_depotentiated: tally.calmed,
                playbook_edits: tally.revisions,
                woken: *woken,
            }
        }
        Event::DreamsSwitched { on } => Message::DreamsSwitched { on: *on },
        Event::Unstaged { fate, .. } => {
            let dreams = &life.dreams;
            Message::Unstaged { number: dreams.promoted + dreams.refuted + dreams.expired, fate: *fate }
        }
        Event::Revised { at } => {
            let domain = usize::from(life.dreams.revisions.get(usize::from(*at))?.domain);
            Message::Revised { domain: &life.birth.world.domains[domain].name, number: life.dreams.revised }
        }
        Event::RolledBack { .. } | Event::Reverted { .. } => Message::RolledBack { number: life.dreams.rolled_back },
        Event::VitalityUpdated { composite } => Message::VitalityUpdated {
            economic: life.vitality.economic,
            epistemic: life.vitality.epistemic,
            stochastic: survival(life),
            composite: *composite,
            phase: life.phase(),
        },
        Event::PhaseChanged { from, to, trigger } => Message::PhaseChanged {
            from_phase: *from,
            to_phase: *to,
            composite: life.vitality.composite,
            trigger_clock: *trigger,
        },
        Event::EconomicCritical => Message::EconomicCritical {
            remaining: life.purse.credit,
            burn_rate: life.purse.burn_rate,
            projected_ticks: life.purse.projected_ticks(life),
        },
        Event::EpistemicWarned => Message::EpistemicWarned {
            fitness: fitness(life),
            senescence_threshold: life.constitution().epistemic.senescence,
            ticks_in_decline: life.epistemic.declining_since.map_or(0, |since| life.tick - since),
        },
        Event::GraceOpened => senescence("grace"),
        Event::Senesced => senescence("senescent"),
        Event::Recovered => senescence("sound"),
        Event::Rolled { hazard, roll } => Message::Rolled {
            hazard_rate: *hazard,
            roll: stochastic::fraction(*roll),
            survived: !stochastic::dies(*hazard, *roll),
        },
        Event::Died(death) => {
            Message::Died { cause: &death.cause, final_vitality: &death.vitality, ticks_alive: death.tick }
        }
        Event::Reflected { hash } => Message::Reflected { testament: hex(hash) },
        Event::Bequeathed { hash, entries } => Message::Bequeathed { entries: *entries, bundle: hex(hash) },
        Event::Turned(State::Dead) => {
            let (swept, left, unit) = (life.deposits_made, life.capital.holding, &life.birth.world.unit);
            Message::Ended { swept, left, unit, yours: thanatopsis::left(life) }
        }
        _ => return None,
    })
}

/// What some events come to besides: the documents have several names for what happens in a night.
pub fn besides(event: &Event, life: &Life) -> Vec<Message<'static>> {
    match event {
        Event::DreamBegan { .. } => vec![Message::ModeChanged { mode: "dreaming" }, progress(life)],
        Event::DreamPassed { phase, .. } => began(*phase, life),
        Event::Dreamt(found) => {
            let hypothesis = |staged: &dream::Staged| Message::DreamHypothesis {
                cycle_id: found.night,
                hypothesis: text::Parsed::from(&staged.heuristic).print(&life.birth.world).unwrap_or_default(),
                seed_episode_tick: staged.seed,
                confidence: staged.confidence,
            };
            found.staged.iter().map(hypothesis).chain(counterfactual(found, life)).collect()
        }
        Event::DreamLeft { .. } => {
            let dreams = &life.dreams;
            let done = Message::DreamDone {
                cycle_number: dreams.nights,
                hypotheses_generated: dreams.tally.hypotheses,
                insights_found: dreams.tally.insights,
                cost_usdc: dreams.cost,
            };
            vec![done, Message::ModeChanged { mode: "waking" }]
        }
        _ => Vec::new(),
    }
}

fn progress(life: &Life) -> Message<'static> {
    let night = life.dreams.night.as_ref();
    Message::DreamProgress {
        phase: night.map_or(dream::Phase::Return, |night| night.phase),
        cycle_number: life.dreams.nights,
        budget_spent: night.map_or(Usdc::ZERO, |night| night.spent),
    }
}

/// The phase that begins when this one is over.
fn began(over: dream::Phase, life: &Life) -> Vec<Message<'static>> {
    let name = match over {
        dream::Phase::Onset => Some("NREM"),
        dream::Phase::Nrem => Some("REM"),
        dream::Phase::Rem => Some("Integration"),
        dream::Phase::Integration => None,
        dream::Phase::Return => return Vec::new(),
    };
    let budget = life.dreams.night.as_ref().map_or(Usdc::ZERO, |night| night.budget - night.spent);
    let cycle_id = life.dreams.nights;
    let phase = name.map(|phase| Message::DreamPhase { cycle_id, phase, budget_tokens: 0, budget });
    phase.into_iter().chain([progress(life)]).collect()
}

/// What other choices would have come to, if any were worked out.
fn counterfactual(found: &dream::Found, life: &Life) -> Option<Message<'static>> {
    let imagined = &found.imagined;
    let idea = life.dreams.night.as_ref()?.ideas.iter().find(|idea| idea.origin == dream::Origin::Regret);
    let lesson = match idea {
        Some(_) => "what stood out where it would have paid is put to the test",
        None => "nothing to change",
    };
    (imagined.alternatives > 0).then(|| Message::DreamCounterfactual {
        cycle_id: found.night,
        hypothesis: format!(
            "the other choice in {} decisions",
            life.dreams.night.as_ref().map_or(0, |n| n.batch.len())
        ),
        outcome: format!(
            "better in {} of {} ways, by {:.2} % on average",
            imagined.better,
            imagined.alternatives,
            imagined.regret * 100.0
        ),
        lesson: lesson.to_owned(),
        confidence: dream::Origin::Regret.confidence(&life.constitution().dream),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The chance of outliving a tick at this age; one where the stochastic clock is off.
fn survival(life: &Life) -> f64 {
    if !life.constitution().clocks().stochastic {
        return 1.0;
    }
    1.0 - stochastic::rate(&life.constitution().stochastic, life.age, stochastic::robustness(life))
}
