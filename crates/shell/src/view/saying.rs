//! Events in words: the one place where an event becomes a sentence. The command line, the screens, the page, notes and
//! the API repeat it.

use golem::Usdc;
use golem::clade::News;
use golem::goal::{Ended, Goal};
use golem::mortality::Clock;
use golem::mortality::death::Cause;
use golem::mortality::phase::Phase;
use golem::owner::Account;
use golem::wire::Message;
use serde::{Deserialize, Serialize};

use super::figures::{count, date, units};

/// The topic of a message, by which a listener leaves the others out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    #[default]
    Everything,
    Mortality,
    Pressure,
    Dreams,
    Acting,
    Owner,
}

impl Topic {
    pub const ALL: [Topic; 6] =
        [Topic::Everything, Topic::Mortality, Topic::Pressure, Topic::Dreams, Topic::Acting, Topic::Owner];

    pub fn name(self) -> &'static str {
        match self {
            Topic::Everything => "everything",
            Topic::Mortality => "mortality",
            Topic::Pressure => "pressure",
            Topic::Dreams => "dreams",
            Topic::Acting => "acting",
            Topic::Owner => "owner",
        }
    }

    /// The one topic a message belongs to.
    pub fn of(message: &Message<'_>) -> Topic {
        use Message::*;
        match message {
            Born { .. }
            | Reflected { .. }
            | Bequeathed { .. }
            | Ended { .. }
            | VitalityUpdated { .. }
            | PhaseChanged { .. }
            | EconomicCritical { .. }
            | EpistemicWarned { .. }
            | Senescence { .. }
            | Rolled { .. }
            | Died { .. } => Topic::Mortality,
            Funded { .. }
            | Withdrew { .. }
            | Froze { .. }
            | Thawed
            | Amended { .. }
            | Steered { .. }
            | ApprovalSought { .. }
            | Approved { .. }
            | CallsHeld { .. }
            | CallsReleased { .. }
            | Said { .. }
            | ModeChanged { .. } => Topic::Owner,
            Raised { .. }
            | Cleared { .. }
            | Suspended
            | CalledOut { .. }
            | Assessed { .. }
            | Heard { .. }
            | Shared { .. }
            | Near { .. } => Topic::Pressure,
            DreamBegan { .. }
            | DreamPhase { .. }
            | DreamHypothesis { .. }
            | DreamCounterfactual { .. }
            | DreamLeft { .. }
            | Dreamt { .. }
            | DreamProgress { .. }
            | DreamDone { .. }
            | DreamsSwitched { .. }
            | Unstaged { .. }
            | Revised { .. }
            | RolledBack { .. } => Topic::Dreams,
            Refused { .. }
            | Settled { .. }
            | Granted { .. }
            | Verified { .. }
            | Stopped { .. }
            | Harvested { .. }
            | Noted { .. }
            | Claimed { .. }
            | Met { .. }
            | Finished { .. }
            | RegimeChanged { .. }
            | Asked { .. }
            | Answered { .. }
            | Silent { .. }
            | CallSettled { .. }
            | CallRefused { .. } => Topic::Acting,
        }
    }

    pub fn has(self, other: Topic) -> bool {
        self == Topic::Everything || self == other
    }
}

/// `ada is stable`, but `ada is in conservation`.
pub fn phase(phase: Phase) -> String {
    if phase == Phase::Conservation { format!("in {phase}") } else { phase.to_string() }
}

/// An action in words: what was taken up or given up, for how much, and the fee.
pub fn acted(filled: i64, cash: Usdc, fee: Usdc) -> String {
    match filled {
        0 => format!("tried to act and got nothing; fee {fee}"),
        1.. => format!("took up {} units for {}, fee {fee}", units(filled), -cash),
        _ => format!("gave up {} units for {cash}, fee {fee}", units(-filled)),
    }
}

/// A message in words.
pub fn sentence(message: &Message<'_>) -> String {
    match message {
        Message::Born { world, .. } => format!("was born (world: {world})"),
        Message::Funded { credit, capital } => format!("was given {credit} to live on and {capital} to act with"),
        Message::Withdrew { from, amount, .. } => {
            format!(
                "returned {amount} of its {} to the treasury",
                if *from == Account::Credit { "credit" } else { "capital" }
            )
        }
        Message::Refused { why, .. } => format!("was refused: {why}"),
        Message::Froze { reason: "" } => "was frozen: no new exposure".to_owned(),
        Message::Froze { reason } => format!("was frozen: no new exposure ({reason})"),
        Message::Thawed => "may take new exposure again".to_owned(),
        Message::Settled { units: filled, cash, fee, .. } => acted(*filled, *cash, *fee),
        Message::Granted { key, cash, fee, .. } => {
            format!("was approved to act (permit {key}): quote {cash}, fee {fee}")
        }
        Message::ApprovalSought { ask } => {
            let ask = ask.as_ref().map(|ask| format!("{ask} (ask {})", ask.key));
            format!("asks its owner: {}", ask.unwrap_or_default())
        }
        Message::Approved { key } => format!("was approved by its owner (ask {key})"),
        Message::Verified { quoted, actual, .. } => format!("previewed {quoted}, came to {actual}"),
        Message::Stopped { holding, .. } => format!("hit its stop: gives up {} units", units(*holding)),
        Message::Harvested { amount, .. } => format!("turned {amount} of profit into credit"),
        Message::Amended { .. } => "lives under a new policy".to_owned(),
        Message::Steered { strategy: "" } => "owner's guidance cleared".to_owned(),
        Message::Steered { strategy } => format!("new guidance from its owner: {strategy}"),
        Message::Claimed { domain, value, naive, due, .. } => {
            format!("predicted {domain} = {value} for {} (baseline {naive:.2})", date(*due))
        }
        Message::Met { domain, actual, fitness: None } => format!("{domain} came out at {actual}"),
        Message::Met { domain, actual, fitness: Some(fitness) } => {
            format!("{domain} came out at {actual}; its skill there is {fitness:.2}")
        }
        Message::CallSettled { model, cost, over, .. } if over.is_positive() => {
            format!("was billed {over} more by {model} than it had: it paid {cost}, and the rest is unpaid")
        }
        Message::CallSettled { model: "", cost, .. } => format!("lost a call, which counts as {cost}"),
        Message::CallSettled { model, input, output, cost, .. } => {
            format!("called {model}: {} tokens in, {} out, {cost}", count((*input).into()), count((*output).into()))
        }
        Message::CallRefused { why, times: 1, .. } => format!("was refused a call: {why}"),
        Message::CallRefused { why, times, .. } => format!("was refused {} calls: {why}", count((*times).into())),
        Message::CallsHeld { key, why, .. } => format!("asks its owner: may it go on calling after {why} (ask {key})"),
        Message::CallsReleased { .. } => "may call again".to_owned(),
        Message::Said { text, done: true } => format!("is done, its agent says: {text}"),
        Message::Noted { text } => format!("has a note from its mind: {text}"),
        Message::Said { text, done: false } => format!("has a question for you from its agent: {text}"),
        Message::Finished { goal, domain, ended, .. } => {
            let goal = match goal {
                Goal::Act => "action",
                Goal::Explore => "idea",
                Goal::Learn => "learning",
                Goal::Maintain => "giving up exposure",
                Goal::SelfExamine => "self-examination",
                Goal::Contact => "contact",
            };
            let ended = match ended {
                Ended::Failed => "failed",
                Ended::Done => "done",
                Ended::Effective => "worked",
            };
            format!("{goal} {ended} ({domain})")
        }
        Message::Raised { stressor, severity, load, band } => {
            format!("{stressor} presses ({severity:.2}); load {load:.2}, {band}")
        }
        Message::Cleared { stressor, severity, load, band } => {
            format!("{stressor} cleared (was {severity:.2}); load {load:.2}, {band}")
        }
        Message::Suspended => "was in crisis for three cycles: its stressors are set aside for a day".to_owned(),
        Message::CalledOut { load } => format!("is in crisis (load {load:.2}) and tells its peers"),
        Message::Heard { from, news: News::Crisis { load, pressed_by } } => {
            let kinds: Vec<&str> = pressed_by.iter().flatten().map(|kind| kind.name()).collect();
            format!("heard that {} is in crisis (load {load:.2}: {})", short(from), kinds.join(", "))
        }
        Message::Heard { from, news: News::Death } => format!("heard that {} has died", short(from)),
        Message::Heard { from, news: News::Regime { to } } => {
            format!("heard from {} that the world is {to}", short(from))
        }
        Message::Heard { from, news: News::Knowledge { entries } } => {
            format!("was told by {} what it has found out ({entries})", short(from))
        }
        Message::Shared { entries } => format!("tells its siblings what it has found out ({entries})"),
        Message::Near { died: Some(died) } => format!("stands where {} died, and risks half as much", short(died)),
        Message::Near { died: None } => "has left the place where a sibling died".to_owned(),
        Message::Assessed { assessed } => {
            format!("assessed its state: {} stressors named, {} claims", assessed.named.len(), assessed.claims.len())
        }
        Message::RegimeChanged { from, to } => format!("the world went from {from} to {to}"),
        Message::ModeChanged { mode } => format!("is {mode}"),
        Message::DreamBegan { cycle_id, ticks, .. } => format!("falls asleep for night {cycle_id}, {ticks} ticks"),
        Message::DreamPhase { phase, .. } => format!("dream phase: {phase}"),
        Message::DreamProgress { phase, budget_spent, .. } => format!("night enters {phase}, {budget_spent} spent"),
        Message::Dreamt { found } => {
            format!(
                "dreamt ({}): {} ideas, {} tested, {} staged",
                found.phase,
                found.looked_at,
                found.proposed,
                found.staged.len()
            )
        }
        Message::DreamHypothesis { hypothesis, .. } => format!("dreamt, and tries: {hypothesis}"),
        Message::DreamCounterfactual { hypothesis, outcome, .. } => format!("imagined {hypothesis}: {outcome}"),
        Message::Asked { purpose, tier, most, .. } => {
            format!("asks a {tier:?} model to {purpose}, for {most} at most").to_lowercase()
        }
        Message::Answered { cost, over, fresh, answer, .. } => {
            let late = if *fresh { "" } else { ", too late to matter" };
            let note = if answer.note.is_empty() { String::new() } else { format!(": {}", answer.note) };
            format!("gets an answer for {cost}{}{late}{note}", beyond(*over))
        }
        Message::Silent { cost, over, why, .. } => {
            format!("gets no answer ({}), which costs {cost}{}", why.name(), beyond(*over))
        }
        Message::DreamsSwitched { on: true } => "dreams from now on".to_owned(),
        Message::DreamsSwitched { on: false } => "no longer dreams".to_owned(),
        Message::DreamLeft { cycle_id, woken: None, .. } => format!("woke up from night {cycle_id}"),
        Message::DreamLeft { cycle_id, woken: Some(by), .. } => {
            format!("was woken from night {cycle_id} ({by:?})").to_lowercase()
        }
        Message::DreamDone { cycle_number, hypotheses_generated, insights_found, cost_usdc } => format!(
            "night {cycle_number} ended with {insights_found} insights and {hypotheses_generated} hypotheses for {cost_usdc}"
        ),
        Message::Unstaged { fate, .. } => format!("a hypothesis is {fate:?}").to_lowercase(),
        Message::Revised { domain, .. } => format!("relearned {domain}"),
        Message::RolledBack { .. } => "rolled back what a dream had brought".to_owned(),
        Message::VitalityUpdated { economic, epistemic, composite, phase, .. } => {
            format!("vitality {composite:.3} ({phase}): money {economic:.3}, skill {epistemic:.3}")
        }
        Message::PhaseChanged { from_phase, to_phase, composite, trigger_clock } => {
            let clock = match trigger_clock {
                Clock::Economic => "money",
                Clock::Epistemic => "skill",
                Clock::Stochastic => "age",
            };
            format!("{from_phase} → {to_phase} at vitality {composite:.2} (weakest: {clock})")
        }
        Message::EconomicCritical { remaining, .. } => format!("is short of money: {remaining} left"),
        Message::EpistemicWarned { fitness, .. } => format!("skill fell below the baseline ({fitness:.4})"),
        Message::Senescence { state, fitness } => match *state {
            "grace" => format!("is losing touch: skill {fitness:.3}; time to recover"),
            "senescent" => format!("has lost touch: skill {fitness:.3}"),
            _ => format!("recovered: skill {fitness:.3}"),
        },
        Message::Rolled { hazard_rate, roll, survived } => {
            format!("rolled {roll:.6} against {hazard_rate:.3e}: {}", if *survived { "lives" } else { "dies" })
        }
        // A stochastic cause says itself how long the golem had been lucky.
        Message::Died { cause, .. } if matches!(cause, Cause::Stochastic { .. }) => format!("died {cause}"),
        Message::Died { cause, ticks_alive, .. } => format!("died after {} ticks: {cause}", count(*ticks_alive)),
        Message::Reflected { .. } => "its testament is written".to_owned(),
        Message::Bequeathed { entries, .. } => format!("left {} entries to an heir", count(u64::from(*entries))),
        Message::Ended { yours: None, .. } => "its affairs are settled".to_owned(),
        Message::Ended { yours: Some(left), .. } => format!("its affairs are settled; {left}"),
    }
}

/// The part of a model's price that its provider wants beyond what was set aside, as a remark.
fn beyond(over: Usdc) -> String {
    if over.is_positive() {
        format!(" (the provider wants {over} over the cap, which is not counted and may be billed)")
    } else {
        String::new()
    }
}

/// The first eight characters of an id, which tell one golem from another.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
