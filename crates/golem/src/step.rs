//! One step: an input meets a life. A page of branches; the leaves are elsewhere.

use serde::{Deserialize, Serialize};

use crate::constitution::{PolicyFigures, StressMode};
use crate::draft::Draft;
use crate::dream::staging::PROMOTED;
use crate::dream::{self, Found, Idea, Night, Origin, Revision, Staged, Waker};
use crate::episode;
use crate::event::{Account, Event};
use crate::goal;
use crate::grimoire::{self, Answer, Decision};
use crate::heartbeat;
use crate::id::{CommandId, GolemId};
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::mortality;
use crate::mortality::death::{self, Cause};
use crate::plain::is_plain;
use crate::policy::{self, Proposal, Refusal};
use crate::rule::{Comparison, Condition, Heuristic};
use crate::stress::{self, Assessment, Word, assessment};
use crate::thanatopsis;
use crate::time::Time;
use crate::world::{Effect, Fate, Observation, Quote};

/// Everything that reaches a golem: when, with which chance, and what.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub now: Time,
    /// Chance for the present tick, drawn outside.
    pub roll: u64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Every bar closed since the last observation.
    Observed(Observation),
    /// The treasury has sent money; transfers are numbered per golem from 1.
    Funded { transfer: u64, credit: Usdc, capital: Usdc },
    /// The treasury has received a deposit.
    Deposited { deposit: u64 },
    /// What the world says a flight would do; none if it would not have it.
    Previewed { key: u64, look: u8, quote: Option<Quote> },
    /// What became of a commit.
    Landed { key: u64, fate: Fate },
    /// Somebody other than its own rules would have it act.
    Proposed(Proposal),
    /// What a round of the Curator came to.
    Curated(Box<Answer>),
    /// What the work of one phase of a night has found.
    Dreamt(Box<Found>),
    /// Its testament is written and safe.
    Reflected { hash: [u8; 32] },
    /// What it knew has gone where it is to go.
    Bequeathed { hash: [u8; 32], entries: u32 },
    /// The golem's own word about its state; it speaks of now.
    Assessed(Box<Assessment>),
    /// A word of a peer's. A peer numbers its letters, and each counts once.
    Heard { from: GolemId, number: u64, word: Word },
    /// A word to its peers was passed on to so many of them.
    Told { number: u64, peers: u32 },
    /// The owner's word.
    Commanded { id: CommandId, command: Command },
}

/// What an owner may tell a golem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub enum Command {
    Pause,
    Resume,
    Freeze {
        reason: String,
    },
    Withdraw {
        from: Account,
        amount: Usdc,
    },
    /// Dream now.
    Dream,
    /// Dream from now on, or no more.
    Dreams {
        on: bool,
    },
    Wake,
    Retire {
        reason: String,
    },
    Halt {
        trigger: String,
    },
    /// Yes or no to what waits under this key.
    Approve {
        key: u64,
        yes: bool,
    },
    /// Another cage, from now on, instead of the one with this hash.
    Amend {
        policy: Box<PolicyFigures>,
        instead_of: policy::Hash,
    },
}

/// An input that breaks its own contract. It changes nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error("time ran backwards: {now:?} comes after {last:?}")]
    Backwards { now: Time, last: Time },
    #[error("the world broke its word at bar {bar}: {why}")]
    World { bar: usize, why: &'static str },
    #[error("transfer {got} arrived when {expected} was next")]
    Transfer { expected: u64, got: u64 },
    #[error("an amount is out of bounds")]
    Amount,
    #[error("a golem speaks of the moment it is in")]
    Untimely,
    #[error("an answer from memory is out of bounds")]
    Knowledge,
    #[error("what a night brought is out of bounds")]
    Dream,
    #[error("the world says action {key} came to something that was never asked for")]
    Outcome { key: u64 },
}

pub(crate) fn step(
    life: &mut Life,
    input: &Input,
    events: &mut Vec<Event>,
    show: &mut dyn FnMut(&Event, &Life),
) -> Result<(), Fault> {
    check(life, input)?;
    let tick = life.tick;
    let draft = &mut Draft::new(life, input.now, events, show);
    match &input.what {
        What::Observed(observation) => observed(draft, observation, input.roll),
        What::Funded { transfer, .. } if *transfer <= draft.transfers_taken => {}
        What::Funded { transfer, credit, capital } => {
            draft.emit(Event::Funded { transfer: *transfer, credit: *credit, capital: *capital });
        }
        What::Deposited { deposit } => {
            if draft.deposits.iter().any(|d| d.number == *deposit) {
                draft.emit(Event::Deposited { deposit: *deposit });
            }
        }
        What::Previewed { key, look, quote } => policy::previewed(draft, *key, *look, *quote),
        What::Landed { key, fate } => policy::landed(draft, *key, *fate),
        What::Proposed(proposal) => {
            if let Err(rule) = policy::propose(draft, proposal) {
                draft.emit(Event::Refused { rule });
            }
        }
        What::Curated(answer) => curated(draft, answer),
        What::Reflected { hash } => thanatopsis::reflected(draft, *hash),
        What::Bequeathed { hash, entries } => thanatopsis::bequeathed(draft, *hash, *entries),
        What::Dreamt(found) => {
            let asked = |night: &Night| night.number == found.night && night.phase == found.phase && !night.worked;
            if draft.dreams.night.as_ref().is_some_and(asked) {
                dream::staging::stage(draft, found);
                dream::proceed(draft);
            }
        }
        What::Assessed(said) => {
            if !draft.is_dead() && draft.constitution().stress.mode != StressMode::Off {
                draft.emit(Event::Assessed(Box::new(assessment::hear(draft, said))));
            }
            // Nothing is looked at again that was not looked at anyway.
            return Ok(());
        }
        What::Heard { from, number, word } => {
            let newest = draft.heard.iter().find(|(peer, _)| peer == from).map_or(0, |(_, newest)| *newest);
            if !draft.is_dead() && *number > newest {
                draft.emit(Event::Heard { from: *from, number: *number, word: *word });
                dream::heard(draft, *word);
            }
        }
        What::Told { number, peers } => {
            if draft.stress.word.is_some_and(|(waiting, _)| waiting == *number) {
                draft.emit(Event::Told { number: *number, peers: *peers });
            }
        }
        What::Commanded { id, command } => {
            if !draft.commands.iter().any(|(known, _)| known == id) {
                let done = obey(draft, command);
                draft.emit(match done {
                    Ok(()) => Event::Obeyed { command: *id },
                    Err(rule) => Event::Declined { command: *id, rule },
                });
            }
        }
    }
    if draft.is_dead() {
        thanatopsis::proceed(draft);
    }
    let ticked = draft.tick > tick;
    stress::observe(draft, ticked);
    Ok(())
}

/// A look at the world; and if a tick has passed, mortality, whatever else is going on.
fn observed(draft: &mut Draft<'_>, observation: &Observation, roll: u64) {
    let alarm = policy::listen(draft, observation);
    dream::stirs(draft, observation);
    policy::lapse(draft);
    let ticks = draft.at() >= draft.due() && !draft.heartbeat.paused && !draft.is_dead();
    if ticks {
        heartbeat::beat(draft, observation);
        mortality::run(draft, draft.at(), roll);
        goal::review(draft);
        policy::answer(draft, alarm);
        if let Some(bar) = observation.bars.last() {
            episode::remember(draft, bar);
            assessment::look(draft, &bar.features);
        }
        dream::staging::settle(draft);
        dream::consider(draft);
    } else {
        crate::prediction::sense(draft, observation);
        policy::answer(draft, alarm);
    }
}

/// Takes in what a round came to; an answer to another round is nobody's any more.
fn curated(draft: &mut Draft<'_>, answer: &Answer) {
    if answer.round != draft.knowing.rounds + 1 || draft.is_dead() {
        return;
    }
    for decision in &answer.decisions {
        draft.emit(Event::Kept(Box::new(decision.clone())));
    }
    let explores = stress::allowed(draft).explore;
    for (slot, heuristic) in answer.adopt.iter().filter(|_| explores) {
        // Only where there is room, or in the place of the very same before it was ever tried: what has a say now is not
        // pushed out by a memory.
        let at = usize::from(*slot);
        let untried = |h: &Heuristic| {
            draft.tick == 0 && h.weight == 0.0 && h.domain == heuristic.domain && h.condition.same(&heuristic.condition)
        };
        let room = at == draft.playbook.len() && draft.playbook.len() < limits::HEURISTICS;
        if room || draft.playbook.get(at).is_some_and(untried) {
            draft.emit(Event::Adopted { slot: *slot, heuristic: Box::new(heuristic.clone()) });
        }
    }
    for (from, entries) in &answer.taken {
        draft.emit(Event::TookIn { from: *from, entries: *entries });
    }
    draft.emit(Event::Curated { alive: answer.alive, archived: answer.archived });
    if answer.watch != draft.knowing.watched {
        draft.emit(Event::Watching(Box::new(answer.watch.clone())));
    }
}

fn obey(draft: &mut Draft<'_>, command: &Command) -> Result<(), Refusal> {
    if draft.is_dead() {
        return Err(Refusal::Dead);
    }
    match command {
        Command::Pause if draft.heartbeat.paused => {}
        Command::Pause => draft.emit(Event::Paused),
        Command::Resume => {
            if draft.heartbeat.paused {
                draft.emit(Event::Resumed);
            }
            if draft.heartbeat.frozen {
                draft.emit(Event::Thawed);
            }
        }
        Command::Freeze { .. } if draft.heartbeat.frozen => {}
        Command::Freeze { reason } => draft.emit(Event::Froze { reason: clip(reason) }),
        Command::Withdraw { from, amount } => {
            withdrawable(draft, *from, *amount)?;
            draft.emit(Event::Withdrew { deposit: draft.deposits_made + 1, from: *from, amount: *amount });
        }
        Command::Approve { key, yes } => policy::approve(draft, *key, *yes)?,
        Command::Dream => dream::ordered(draft)?,
        Command::Dreams { on } => dream::switched(draft, *on),
        Command::Wake => dream::wake(draft, Waker::Owner),
        Command::Retire { reason } => death::die(draft, Cause::OwnerKill { reason: clip(reason) }),
        Command::Amend { instead_of, .. } if *instead_of != policy::policy_hash(&draft.policy) => {
            return Err(Refusal::Stale);
        }
        Command::Amend { policy, .. } if !policy.fits(&draft.birth.world) => return Err(Refusal::Unknown),
        Command::Amend { policy, .. } => draft.emit(Event::Amended(policy.clone())),
        Command::Halt { trigger } => death::die(draft, Cause::KillSwitch { trigger: clip(trigger) }),
    }
    Ok(())
}

fn withdrawable(life: &Life, from: Account, amount: Usdc) -> Result<(), Refusal> {
    if !amount.is_positive() || amount > Usdc::MOST {
        return Err(Refusal::Bounds);
    }
    if life.deposits.len() + 2 > limits::DEPOSITS {
        return Err(Refusal::Busy);
    }
    match from {
        Account::Credit if amount > life.purse.credit => Err(Refusal::Short),
        Account::Credit if amount > life.purse.free(life) => Err(Refusal::Reserve),
        Account::Capital if amount > life.capital.cash => Err(Refusal::Short),
        _ => Ok(()),
    }
}

fn clip(text: &str) -> String {
    text.chars().filter(|c| is_plain(*c)).take(limits::REASON).collect()
}

/// No world has anything larger to show, and nothing computed from this ends in infinity.
const LARGEST: f64 = 1e30;

/// Refuses an input that contradicts what is already known, before anything is emitted.
fn check(life: &Life, input: &Input) -> Result<(), Fault> {
    if input.now < life.now {
        return Err(Fault::Backwards { now: input.now, last: life.now });
    }
    match &input.what {
        What::Observed(observation) => check_observation(life, input.now, observation),
        What::Funded { transfer, credit, capital } => {
            let bounded = |amount: Usdc| amount >= Usdc::ZERO && amount <= Usdc::MOST;
            let sum = |given: Usdc, more: Usdc| given.checked_add(more).is_some_and(bounded);
            let sums = sum(life.purse.given, *credit) && sum(life.capital.given, *capital);
            if *transfer > life.transfers_taken + 1 {
                Err(Fault::Transfer { expected: life.transfers_taken + 1, got: *transfer })
            } else if bounded(*credit) && bounded(*capital) && sums {
                Ok(())
            } else {
                Err(Fault::Amount)
            }
        }
        What::Previewed { quote: Some(quote), .. } => {
            let sound = sane(quote.cash) && sane(quote.fee) && sane(quote.gas);
            if sound && quote.fee.min(quote.gas) >= Usdc::ZERO { Ok(()) } else { Err(Fault::Amount) }
        }
        What::Landed { key, fate } => check_fate(life, *key, fate),
        What::Curated(answer) => check_answer(life, answer),
        What::Dreamt(found) => check_found(life, found),
        // Of another moment it could move what runs out by time.
        What::Assessed(_) if input.now != life.now => Err(Fault::Untimely),
        _ => Ok(()),
    }
}

/// Nothing unbounded gets into a record, and nothing into the playbook that no rule of this world could be.
fn check_answer(life: &Life, answer: &Answer) -> Result<(), Fault> {
    let world = &life.birth.world;
    let fits = |condition: &Condition, domain: u8| {
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        usize::from(domain) < world.domains.len() && condition.0.iter().all(known)
    };
    let kept = answer.decisions.iter().all(|decision| match decision {
        Decision::Put(entry) => entry.text.chars().count() <= grimoire::TEXT && entry.confidence(life.now).is_finite(),
        Decision::Forget(_) => true,
    });
    let adopted = answer.adopt.iter().all(|(_, h)| fits(&h.condition, h.domain) && h.effect.is_finite());
    let watched = answer.watch.iter().all(|w| fits(&w.condition, w.claim.domain) && w.claim.effect.is_finite());
    let bounded = answer.decisions.len() <= grimoire::DECISIONS
        && answer.adopt.len() <= limits::HEURISTICS
        && answer.taken.len() <= limits::SOURCES
        && answer.watch.len() <= grimoire::WATCHED;
    if kept && adopted && watched && bounded { Ok(()) } else { Err(Fault::Knowledge) }
}

/// Whoever did the night's work, what it brings is of this world and no more than was asked for.
fn check_found(life: &Life, found: &Found) -> Result<(), Fault> {
    let world = &life.birth.world;
    let fits = |h: &Heuristic| {
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        usize::from(h.domain) < world.domains.len() && h.condition.0.iter().all(known) && h.effect.is_finite()
    };
    let figures = &life.constitution().dream;
    let fresh =
        |s: &Staged| fits(&s.heuristic) && s.utility.is_finite() && s.confidence <= s.origin.confidence(figures);
    let sane = |i: &Idea| {
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        i.condition.0.iter().all(known) && i.domain.is_none_or(|domain| usize::from(domain) < world.domains.len())
    };
    // Nothing is staged before integration, and nothing lies around that no list has room for.
    let early = found.phase != dream::Phase::Integration;
    let bounded = found.ideas.len() <= limits::IDEAS
        && found.batch.len() <= limits::IDEAS
        && found.replay.credits.len() <= limits::IDEAS
        && found.confirmed.len().max(found.contradicted.len()) <= limits::HEURISTICS
        && !(early && !(found.staged.is_empty() && found.revisions.is_empty()));
    let omen = found.imagined.rehearsed.as_ref().map(|r| Idea {
        domain: None,
        origin: Origin::Fragment,
        condition: r.omen.clone(),
    });
    if !bounded || !found.ideas.iter().chain(&omen).all(sane) {
        return Err(Fault::Dream);
    }
    let in_place = |r: &Revision, (slot, h): &(u8, Heuristic)| {
        fits(h) && h.domain == r.domain && life.playbook.get(usize::from(*slot)).is_some_and(|now| now.id == h.id)
    };
    let again = |r: &Revision| {
        !r.adopted && r.utility.is_finite() && r.confidence <= PROMOTED && r.heuristics.iter().all(|h| in_place(r, h))
    };
    if found.staged.iter().all(fresh) && found.revisions.iter().all(again) { Ok(()) } else { Err(Fault::Dream) }
}

fn sane(amount: Usdc) -> bool {
    amount <= Usdc::MOST && amount >= -Usdc::MOST
}

/// A world may do less than it was asked to, never more, and never outside the bounds it was given.
fn check_fate(life: &Life, key: u64, fate: &Fate) -> Result<(), Fault> {
    let Some(flight) = life.flights.iter().find(|flight| flight.key == key) else { return Ok(()) };
    let sound = match fate {
        Fate::Never => true,
        // What was never permitted was never sent, so nothing can come of it.
        Fate::Pending => !flight.is_unsent(),
        Fate::Done(outcome) => {
            let left = life.capital.cash + outcome.cash.max(-Usdc::MOST) - outcome.fee.min(Usdc::MOST);
            let effect = flight.effect(life);
            let afforded = effect == Effect::Adds || left >= Usdc::ZERO;
            !flight.is_unsent() && flight.order(life).allows(effect, outcome) && afforded
        }
    };
    if sound { Ok(()) } else { Err(Fault::Outcome { key }) }
}

fn check_observation(life: &Life, now: Time, observation: &Observation) -> Result<(), Fault> {
    let mut last = life.seen.until;
    let domains = life.birth.world.domains.len();
    if observation.bars.len() > limits::BARS {
        return Err(Fault::World { bar: limits::BARS, why: "too many bars in one observation" });
    }
    for (bar, seen) in observation.bars.iter().enumerate() {
        let fault = |why| Err(Fault::World { bar, why });
        if seen.closed <= last {
            return fault("a bar is told twice or out of order");
        }
        if seen.closed > now {
            return fault("a bar is told before it has closed");
        }
        if seen.values.len() != domains {
            return fault("not one value for every domain");
        }
        if seen.features.len() != life.birth.world.features.len() {
            return fault("not one value for every feature");
        }
        if seen.values.iter().chain(&seen.features).any(|v| !v.is_finite()) {
            return fault("a value is not a number");
        }
        if seen.values.iter().chain(&seen.features).any(|v| v.abs() > LARGEST) {
            return fault("a value is out of bounds");
        }
        if seen.unit < Usdc::ZERO || seen.unit > Usdc::MOST {
            return fault("the worth of a unit is out of bounds");
        }
        last = seen.closed;
    }
    Ok(())
}
