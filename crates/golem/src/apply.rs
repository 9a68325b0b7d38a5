//! Applying a fact to a life. It calculates and never decides; of arithmetic only + − × ÷ and the square
//! root, which every machine computes alike; and every constant comes from the birth record or the laws.

use crate::constitution::Measure;
use crate::daimon::{self, Felt};
use crate::dream::{Change, Fate, Trigger, revision, schedule, staging};
use crate::episode::{self, Pending};
use crate::event::{Account, Event};
use crate::goal::Goal;
use crate::grimoire::{Decision, Fiber, Whole};
use crate::heartbeat::State;
use crate::id::{CommandId, GolemId};
use crate::life::{Deposit, Life};
use crate::money::Usdc;
use crate::mortality::economic::Purse;
use crate::mortality::epistemic::{self, Senescence};
use crate::mortality::vitality;
use crate::policy::{Day, Held, Intent, Permit, Refusal, Stage};
use crate::prediction::Prediction;
use crate::rule::{Heuristic, learning, vote};
use crate::stress::{self, Ledger, Word};
use crate::time::{Span, Time};
use crate::world::{Effect, Quote};

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    life.now = at;
    match event {
        Event::Born(_) => unreachable!("a life begins with its birth and has no other"),

        Event::Funded { transfer, credit, capital } => {
            life.transfers_taken = *transfer;
            life.purse.credit += *credit;
            life.purse.given += *credit;
            life.purse.funding = life.purse.funding.max(life.purse.credit);
            life.capital.rescale_peak(*capital, life.seen.unit);
            life.capital.cash += *capital;
            life.capital.given += *capital;
            life.stress.ledger.acknowledge(life.age);
        }
        Event::Withdrew { deposit, from, amount } => {
            life.deposits_made = *deposit;
            life.deposits.push(Deposit { number: *deposit, amount: *amount });
            match from {
                Account::Credit => {
                    life.purse.credit -= *amount;
                    life.purse.withdrawn += *amount;
                }
                Account::Capital => {
                    life.capital.rescale_peak(-*amount, life.seen.unit);
                    life.capital.cash -= *amount;
                    life.capital.withdrawn += *amount;
                }
            }
        }
        Event::Deposited { deposit } => life.deposits.retain(|d| d.number != *deposit),

        Event::Obeyed { command } => {
            life.stress.ledger.acknowledge(life.age);
            remember(life, *command, None);
        }
        Event::Declined { command, rule } => {
            life.stress.ledger.acknowledge(life.age);
            remember(life, *command, Some(*rule));
        }
        Event::Refused { rule } => {
            life.refused = Some((*rule, life.tick));
            life.stress.ledger.refuse(*rule);
        }
        Event::Paused => {
            life.heartbeat.paused = true;
            life.heartbeat.epoch += 1;
        }
        Event::Resumed => {
            life.heartbeat.paused = false;
            life.heartbeat.epoch += 1;
            life.lived_until = at;
        }
        Event::Froze { .. } => {
            life.heartbeat.frozen = true;
            life.heartbeat.epoch += 1;
        }
        Event::Thawed => {
            life.heartbeat.frozen = false;
            life.heartbeat.epoch += 1;
        }

        Event::Turned(state) => {
            life.heartbeat.epoch += u32::from(*state == State::Dying);
            life.heartbeat.state = *state;
            if *state == State::Acting && !life.heartbeat.frozen {
                life.stress.ledger.decide();
            }
        }
        Event::Sensed { until, bars, values, unit } => {
            let mean_keep = life.laws().mean_keep;
            life.seen.sense(*until, *bars, values, *unit, mean_keep);
            let level = life.birth.world.regime.and_then(|domain| life.seen.values.get(usize::from(domain)).copied());
            if let Some(level) = level {
                let laws = life.laws();
                life.regimes.observe(level, laws);
            }
            vote::settle(life, *until, *unit);
            let worth = life.capital.worth(*unit);
            life.capital.peak = life.capital.peak.max(worth);
        }

        Event::Claimed(claim) => {
            life.claims_made = claim.id;
            life.claims.push(*claim);
        }
        Event::Resolved { claim, actual } => {
            if let Some(at) = life.claims.iter().position(|c| c.id == *claim) {
                let claim = life.claims.remove(at);
                let (measure, pairs_kept) = (life.birth.constitution.epistemic.measure, life.laws().pairs_kept);
                life.epistemic.resolve(&claim, *actual, life.tick, measure, pairs_kept);
                let (error, naive) = ((claim.value - actual).abs(), (claim.naive - actual).abs());
                life.stress.ledger.score(usize::from(claim.domain), error, naive);
            }
        }
        Event::Lapsed { claim } => life.claims.retain(|c| c.id != *claim),

        Event::Intended(flight) => {
            life.flights_made = flight.key;
            life.capital.cash -= flight.reserved;
            life.capital.reserved += flight.reserved;
            if let (true, Some(death)) = (flight.closing, &mut life.death) {
                death.closing_attempts += 1;
            }
            life.flights.push((**flight).clone());
            life.stress.ledger.ask();
        }
        Event::ApprovalSought { key, quote, until } => {
            if let Some(flight) = life.flights.iter_mut().find(|f| f.key == *key) {
                (flight.stage, flight.quote, flight.deadline) = (Stage::Waiting, Some(*quote), *until);
            }
        }
        Event::Approved { key, deadline } => {
            if let Some(flight) = life.flights.iter_mut().find(|f| f.key == *key) {
                (flight.stage, flight.deadline) = (Stage::Approved, *deadline);
            }
        }
        Event::Sent { key } => {
            if let Some(flight) = life.flights.iter_mut().find(|f| f.key == *key) {
                flight.stage = Stage::Sent;
            }
        }
        Event::Settled { key, outcome } => {
            let (was, result) = (life.capital.holding, life.capital.result());
            land(life, *key);
            life.capital.settle(outcome);
            let moved = life.seen.unit.as_f64() * outcome.units as f64 / 1e6;
            life.execution.slipped -= moved + outcome.cash.as_f64();
            if outcome.units != 0 {
                life.stress.ledger.acknowledge(life.age);
            }
            if life.capital.holding == 0 {
                if let Some(held) = life.held {
                    appraise(life, held.result);
                }
                (life.held, life.stopped) = (None, false);
            } else if was == 0 {
                let domain = life.intent.filter(|intent| intent.key == *key).map_or(0, |intent| intent.domain);
                life.held = Some(Held { until: at + vote::holding(life), domain, result });
            }
        }
        Event::Abandoned { key } => {
            land(life, *key);
            life.stress.heeding = life.stress.heeding.filter(|_| life.capital.holding > 0);
        }

        Event::Aged { lived, cost } => {
            let (burn, keep) = (cost.as_f64(), life.laws().burn_keep);
            life.purse.dust = Purse::dust_after(life, *lived);
            let laws = life.laws();
            life.purse.spend(*cost, life.age, laws);
            life.purse.burn_rate =
                if life.tick == 0 { burn } else { life.purse.burn_rate * keep + burn * (1.0 - keep) };
            if *lived > Span::ZERO {
                let a_day = burn * Span::DAY.as_millis() as f64 / lived.as_millis() as f64;
                let old = life.purse.burn_a_day;
                life.purse.burn_a_day = if old == 0.0 { a_day } else { old * keep + a_day * (1.0 - keep) };
            }
            life.tick += 1;
            life.age = life.age + *lived;
            life.lived_until = at;
            let window = life.birth.constitution.fitness_window(laws);
            life.epistemic.fade(window);
            life.execution.domain.fade(window);
            life.execution.fade(laws);
            life.regimes.met[life.regimes.now as usize] += 1;
            life.episodes.surprise.close(laws.surprise_memory);
            life.stress.live(*lived);
            Ledger::mark(life, laws);
        }
        Event::EconomicCritical => life.purse.critical = true,
        Event::EconomicRelieved => life.purse.critical = false,
        Event::Echoed => life.epistemic.echoed += 1,
        Event::EchoBroken => life.epistemic.echoed = 0,
        Event::EpistemicWarned => life.epistemic.declining_since = Some(life.tick),
        Event::EpistemicRelieved => life.epistemic.declining_since = None,
        Event::GraceOpened => life.epistemic.senescence = Senescence::Grace { since: life.tick },
        Event::Senesced => life.epistemic.senescence = Senescence::Senescent { since: life.tick },
        Event::Recovered => life.epistemic.senescence = Senescence::Sound,
        Event::VitalityUpdated { composite } => {
            let fitness = epistemic::fitness(life);
            life.epistemic.peak = life.epistemic.peak.max(fitness);
            life.vitality.economic = life.purse.score(life);
            life.vitality.epistemic = fitness;
            life.vitality.age_factor = vitality::age_factor(life);
            life.vitality.composite = *composite;
            life.vitality.ticks_in_phase += 1;
            life.vitality.last_computed = at;
            daimon::settle(life);
            if life.heartbeat.state != State::Dreaming {
                let laws = life.laws();
                life.knowing.fiber.pass(life.tick, laws);
            }
        }
        Event::PhaseChanged { from, to, .. } => {
            life.vitality.previous_phase = Some(*from);
            life.vitality.phase = *to;
            life.vitality.ticks_in_phase = 0;
            life.heartbeat.epoch += 1;
        }
        Event::Rolled { .. } => {}
        Event::Died(death) => life.death = Some(death.clone()),

        Event::Adopted { slot, heuristic } => adopt(life, usize::from(*slot), heuristic),
        Event::Predicted { domain, value, naive, fired } => {
            if life.awake_at != life.seen.until {
                (life.awake, life.awake_at) = (0, life.seen.until);
                vote::stake(life);
            }
            life.awake |= *fired;
            if let Some(stake) = life.stakes.back_mut().filter(|stake| stake.made == life.seen.until) {
                stake.awake |= *fired;
            }
            let at = usize::from(*domain);
            let due = life.seen.until + life.horizon(at);
            let base = life.seen.values[at];
            let (holds, then) = life.dreams.holds;
            let staged = if then == life.seen.until { holds & staging::about(life, *domain) } else { 0 };
            life.open[at].push_back(Prediction { due, base, value: *value, naive: *naive, fired: *fired, staged });
        }
        Event::Scored { domain, actual } => score(life, usize::from(*domain), *actual),
        Event::Voided { domain } => {
            life.open[usize::from(*domain)].pop_front();
        }

        Event::Voted { key, domain, gain, lower, .. } => {
            life.intent = Some(Intent { key: *key, domain: *domain, gain: *gain, lower: *lower });
        }
        Event::Granted { permit, quote, cost } => grant(life, at, permit, quote, *cost),
        Event::Denied { key, rule, cost } => {
            land(life, *key);
            life.stress.heeding = life.stress.heeding.filter(|_| life.capital.holding > 0);
            life.refused = Some((*rule, life.tick));
            let laws = life.laws();
            cost.iter().for_each(|cost| life.execution.learn_cost(*cost, laws));
        }
        Event::Verified { quoted, actual, gas, .. } => {
            if *quoted != Usdc::ZERO {
                let shortfall = (*quoted - *actual).as_f64() / quoted.as_f64().abs();
                let memory = life.laws().execution_memory;
                life.execution.learn(shortfall, memory);
            }
            let (age, laws) = (life.age, life.laws());
            life.purse.burn_gas(*gas, age, laws);
        }
        Event::Renewed { until } => {
            if let Some(held) = &mut life.held {
                held.until = *until;
            }
        }
        Event::Stopped => {
            life.stopped = true;
            let room = life.laws().scars_kept;
            life.knowing.scar(room);
        }
        Event::Topped { worth } => life.capital.peak = life.capital.peak.max(*worth),
        Event::Harvested { amount } => {
            life.capital.rescale_peak(-*amount, life.seen.unit);
            life.capital.shared_up_to = life.capital.result();
            life.capital.cash -= *amount;
            life.capital.harvested += *amount;
            life.purse.credit += *amount;
        }
        Event::Amended(policy) => {
            life.policy = policy.clone();
            life.heartbeat.epoch += 1;
        }
        Event::Finished { goal, domain, ended } => {
            let kept = life.laws().goals_kept;
            if let Some(tally) = life.goals.get_mut(usize::from(*domain)) {
                tally.count(*goal, *ended, kept);
            }
            let serves = stress::serves(life, *domain);
            life.stress.ledger.finish(*goal, *domain, *ended, serves, kept);
            if *goal == Goal::SelfExamine {
                life.stress.ledger.examined(*domain);
            }
        }
        Event::Judged { slot } => life.playbook[usize::from(*slot)].judged = true,

        Event::RegimeChanged { to, .. } => {
            life.regimes.change(*to, at);
            daimon::feel(life, Felt::RegimeShift);
        }
        Event::Weighed { at, unit } => vote::settle(life, *at, *unit),
        Event::Remembered { state, .. } => {
            let laws = life.laws();
            life.knowing.moves.see(state, life.tick, laws.moves_apart, laws.moves_memory);
            life.episodes.made += 1;
            life.episodes.last_tick = life.tick;
            let due = life.seen.until + episode::horizon(life);
            let exposed = life.capital.holding > 0;
            let (unit, values) = (life.seen.unit, life.seen.values.clone());
            life.episodes.pending.push_back(Pending { due, unit, exposed, state: (**state).clone(), values });
        }
        Event::LookedBack { regret, .. } => {
            life.episodes.pending.pop_front();
            if *regret > life.laws().missed {
                daimon::feel(life, Felt::Missed);
            }
        }
        Event::Checked { actual } => {
            let laws = life.laws();
            let number = life.episodes.made + 1 - life.episodes.pending.len() as u64;
            if let Some(pending) = life.episodes.pending.front() {
                let episode = Whole { number, state: &pending.state, base: &pending.values, actual };
                let marked = life.knowing.fiber.scan(&mut life.knowing.watched, &life.birth.world, &episode, laws);
                if marked {
                    daimon::feel(life, Felt::Contradicted);
                }
            }
        }

        Event::Kept(decision) => {
            if let Decision::Put(entry) = &**decision {
                life.heuristics_made = life.heuristics_made.max(entry.id);
            }
        }
        Event::Curated { alive, archived } => {
            let kept = life.laws().rounds_kept;
            life.knowing.curated(life.tick, *alive, *archived, kept);
            (life.dreams.rehearsed, life.dreams.judged) = (None, Vec::new());
        }
        Event::Watching(watched) => life.knowing.watched.clone_from(watched),
        Event::Promoted { slot } => {
            life.playbook[usize::from(*slot)].voice = true;
            daimon::feel(life, Felt::Validated);
        }

        Event::DreamsSwitched { on } => life.dreams.switched = Some(*on),
        Event::DreamBegan { trigger, ticks, budget } => {
            if let Some(hours) = schedule::bedtime(life).filter(|_| *trigger == Trigger::Window) {
                let (known, begun) = life.dreams.window;
                life.dreams.window = (hours, if known == hours { begun + 1 } else { 1 });
                life.dreams.session = if known == hours { life.dreams.session } else { Usdc::ZERO };
            }
            life.dreams.begin(*trigger, *ticks, *budget, life.seen.unit);
            life.heartbeat.state = State::Dreaming;
            life.heartbeat.epoch += 1;
            life.stress.dream_wanted = false;
        }
        Event::DreamPassed { phase, cost } => {
            let (age, laws) = (life.age, life.laws());
            life.dreams.pass(*phase, *cost, Purse::month_at(age, laws));
            life.purse.spend(*cost, age, laws);
        }
        Event::Slept => {
            if let Some(night) = &mut life.dreams.night {
                night.slept += 1;
            }
        }
        Event::DreamLeft { woken } => {
            life.dreams.leave(*woken, life.tick, life.episodes.made, life.capital.result());
            if life.heartbeat.state == State::Dreaming {
                life.heartbeat.state = State::Sleeping;
            }
            life.heartbeat.epoch += 1;
            life.knowing.fiber = Fiber::default();
        }
        // What could not be dreamt about yet is not as urgent a tick later.
        Event::DreamBlocked { .. } => {
            let eased = life.laws().dream_blocked;
            life.knowing.fiber.urgency = (life.knowing.fiber.urgency - eased).max(0.0);
        }
        Event::Conceived { ideas } => {
            if let Some(night) = &mut life.dreams.night {
                night.ideas.extend(ideas.iter().cloned());
            }
        }
        Event::Dreamt(found) => life.dreams.work(found),
        Event::Unstaged { at, fate } => {
            let left = &life.dreams.staged[usize::from(*at)];
            life.dreams.admitted = (*fate == Fate::Promoted).then_some(left.night);
            staging::leave(life, usize::from(*at));
            life.dreams.count(*fate);
        }

        Event::Raised { kind, domain, severity } => life.stress.raise(*kind, *domain, *severity, life.age),
        Event::Pressed { kind, domain, presses } => life.stress.press(*kind, *domain, *presses),
        Event::Cleared(evidence) => {
            life.stress.end(evidence.kind(), evidence.domain(), evidence.severity(), life.age, false);
        }
        Event::Cycled { crises } => life.stress.crises = *crises,
        Event::Suspended => {
            for stressor in life.stress.active.clone() {
                let severity = stressor.severity(&life.birth.constitution.stress);
                life.stress.end(stressor.kind, stressor.domain, severity, life.age, true);
            }
            life.stress.crises = 0;
            life.stress.broken = Some(life.age);
            life.stress.dream_wanted = true;
        }
        Event::Wondered { holds } => life.dreams.holds = (*holds, life.seen.until),
        Event::RolledBack { at } => {
            let change = life.dreams.changes.remove(usize::from(*at));
            life.dreams.rolled_back += 1;
            life.playbook[usize::from(change.slot)].voice = false;
        }
        Event::Revised { at } => {
            revision::change_places(life, usize::from(*at));
            revision::settled(life, usize::from(*at));
            life.dreams.revised += 1;
        }
        Event::Reverted { at } => {
            revision::change_places(life, usize::from(*at));
            revision::settled(life, usize::from(*at));
            life.dreams.revisions.remove(usize::from(*at));
            life.dreams.rolled_back += 1;
        }
        Event::RevisionLeft { at, fate } => {
            if *fate != Fate::Promoted {
                revision::settled(life, usize::from(*at));
            }
            life.dreams.revisions.remove(usize::from(*at));
            life.dreams.count(*fate);
        }
        Event::Proven { at } => {
            life.dreams.changes.remove(usize::from(*at));
        }
        Event::Reflected { hash } => {
            if let Some(death) = &mut life.death {
                death.progress.testament = Some(*hash);
            }
        }
        Event::Bequeathed { hash, entries } => {
            if let Some(death) = &mut life.death {
                death.progress.legacy = Some((*hash, *entries));
            }
        }
        Event::Cautioned { key, percent } => life.stress.cautioned = Some((*key, *percent)),
        Event::Warned { domain, .. } => life.stress.heeding = Some(*domain),
        Event::Heeded { domain, helped } => {
            let laws = life.laws();
            life.stress.learned(*domain, *helped, laws);
        }
        Event::CalledOut { number, word } => {
            life.stress.words = *number;
            life.stress.word = Some((*number, *word));
            if matches!(word, Word::Crisis { .. }) {
                life.stress.called_out = Some(life.age);
            }
            life.stress.ledger.ask();
        }
        Event::Told { .. } => life.stress.word = None,
        Event::TookIn { from, entries } => life.knowing.intake.count(*from, *entries, at),
        Event::Heard { from, number, word } => {
            hear(life, *from, *number);
            if *word == Word::Death {
                daimon::feel(life, Felt::SiblingDeath);
            }
        }
        Event::Assessed(assessed) => life.stress.asked.extend(assessed.named.iter().cloned()),
        Event::Named { holds } => life.stress.name(*holds, life.age),
        Event::Eased { at } => {
            let (rate, kept) = (life.birth.constitution.stress.named_rate, life.laws().named_kept);
            life.stress.ease(usize::from(*at), rate, life.age, kept);
        }
    }
}

/// Exposure is over: what it came to, beside where it started from.
fn appraise(life: &mut Life, started: Usdc) {
    let gained = (life.capital.result() - started).as_f64();
    let lost = -gained / life.capital.worth(life.seen.unit).as_f64().max(1.0);
    let felt = match lost {
        great if great > life.laws().great_loss => Felt::GreatLoss,
        loss if loss > 0.0 => Felt::Loss,
        _ => Felt::Profit,
    };
    daimon::feel(life, felt);
}

/// A preview passed: the flight may be sent, once, and counts for the day.
fn grant(life: &mut Life, at: Time, permit: &Permit, quote: &Quote, cost: f64) {
    let mut day = Day::of(life, at);
    let laws = life.laws();
    life.execution.learn_cost(cost, laws);
    if let Some(flight) = life.flights.iter_mut().find(|f| f.key == permit.key) {
        flight.stage = Stage::Permitted;
        flight.quote = Some(*quote);
        flight.deadline = permit.expires;
        (flight.gas, flight.least) = (permit.gas, permit.least);
        life.purse.promised += permit.gas;
        if life.birth.world.actions[usize::from(flight.action)].effect == Effect::Adds {
            day.actions += 1;
            day.value += flight.reserved;
        }
        life.permits.push(*permit);
    }
    life.day = day;
}

/// A heuristic takes a slot. Whoever had it before leaves no debts: what was claimed with its say teaches
/// the newcomer nothing.
fn adopt(life: &mut Life, slot: usize, heuristic: &Heuristic) {
    life.heuristics_made = life.heuristics_made.max(heuristic.id);
    if let Some(night) = life.dreams.admitted.take() {
        life.dreams.changes.push(Change::new(slot as u8, heuristic, night));
    }
    if slot == life.playbook.len() {
        life.playbook.push(heuristic.clone());
        return;
    }
    for claim in life.open.iter_mut().flatten() {
        claim.fired &= !(1 << slot);
    }
    for stake in &mut life.stakes {
        stake.awake &= !(1 << slot);
    }
    life.awake &= !(1 << slot);
    let room = life.laws().shelf_kept;
    // The very same with another expectation has not gone anywhere.
    if life.playbook[slot].id != heuristic.id {
        life.knowing.shelve(&life.playbook[slot], room);
    }
    life.playbook[slot] = heuristic.clone();
}

/// The oldest claim of a domain met its bar: fitness feels it, and whoever had a say learns.
fn score(life: &mut Life, domain: usize, actual: f64) {
    let Some(claim) = life.open[domain].pop_front() else { return };
    let (laws, kind) = (life.laws(), life.birth.world.domains[domain].kind);
    let error = learning::error(kind, claim.base, claim.value, actual, laws);
    let naive_error = learning::error(kind, claim.base, claim.naive, actual, laws);
    let departure = learning::departure(kind, claim.value, claim.naive);
    let usual = &life.epistemic.domains[domain];
    if usual.weight >= laws.domain_minimum {
        life.episodes.surprise.add(error, usual.error / usual.weight, laws.surprise_most);
    }
    life.epistemic.score(domain, error, naive_error, departure, life.tick);
    life.stress.ledger.score(domain, error, naive_error);
    if life.birth.constitution.epistemic.measure == Measure::R2 {
        life.epistemic.pair(domain, claim.value, learning::met(kind, claim.base, actual), laws.pairs_kept);
    }
    life.seen.count_rise(domain, learning::rise(claim.base, actual), laws);
    if life.learns() {
        let mut fired = claim.fired;
        while fired != 0 {
            let slot = fired.trailing_zeros() as usize;
            life.playbook[slot].learn(kind, &claim, actual, life.regimes.now, laws);
            fired &= fired - 1;
        }
        if claim.staged != 0 {
            staging::tried(life, domain, &claim, actual);
        }
        if !life.dreams.revisions.is_empty() {
            revision::tried(life, domain, &claim, actual);
        }
    }
}

/// The newest commands, so that one delivered twice is obeyed once.
fn remember(life: &mut Life, command: CommandId, declined: Option<Refusal>) {
    if life.commands.len() >= life.laws().commands_kept {
        life.commands.remove(0);
    }
    life.commands.push((command, declined));
}

/// The newest letter of a peer. Whoever has been silent longest makes room.
fn hear(life: &mut Life, from: GolemId, number: u64) {
    life.heard.retain(|(peer, _)| *peer != from);
    if life.heard.len() >= life.laws().peers_kept {
        life.heard.remove(0);
    }
    life.heard.push((from, number));
}

/// A flight is over: what was set aside for it is free again.
fn land(life: &mut Life, key: u64) {
    if let Some(at) = life.flights.iter().position(|f| f.key == key) {
        let flight = life.flights.remove(at);
        life.permits.retain(|permit| permit.key != key);
        life.capital.reserved -= flight.reserved;
        life.capital.cash += flight.reserved;
        life.purse.promised -= flight.gas;
    }
}
