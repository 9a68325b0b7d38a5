//! The cage, from outside: a million proposals, previews, permits and policies, most of them absurd. What gets
//! through is held against the policy as written, worked out here a second time; what does not names its rule.

use std::collections::BTreeSet;

use crate::common::{Dice, Honest, SAFE, START, birth, changed};
use golem::constitution::{Constitution, MindKind, OnDeath, PolicyFigures, StressMode};
use golem::daimon::Pad;
use golem::dream::SleepStage as Phases;
use golem::event::Event;
use golem::heartbeat::State;
use golem::mortality;
use golem::mortality::phase::Phase;
use golem::policy::{self, Hash, Proposal, asks, policy_hash};
use golem::regime::Regime;
use golem::shell::perform;
use golem::world::{Bar, Effect, Fate, Observation, Order, Outcome, Quote};
use golem::{Command, CommandId, Errand, Golem, Input, Life, Owed, Record, Span, Time, Usdc, What};
use serde_json::json;

const TICK: Span = Span::seconds(40);

/// A golem that knows what holding pays here: it always pays.
fn seasoned(change: impl FnOnce(&mut Constitution)) -> Golem {
    let mut birth = birth(Constitution::bare());
    // It dreams when its owner says so, and only then.
    birth.constitution.dream.enabled = true;
    birth.constitution.dream.schedule = golem::constitution::DreamSchedule::Owner;
    change(&mut birth.constitution);
    birth.world.regime = Some(1);
    birth.world.instincts = vec!["always expect tide over 1 then add".into()];
    birth.world.domains.iter_mut().for_each(|domain| domain.horizon = 1);
    let (mut golem, _) = Golem::born(birth, START);
    give(&mut golem, 1);
    for _ in 0..60 {
        look(&mut golem, 1.01, SAFE);
        settle(&mut golem, &mut Dice(1));
    }
    golem
}

fn give(golem: &mut Golem, transfer: u64) {
    let what = What::Funded { transfer, credit: Usdc::dollars(10), capital: Usdc::dollars(100) };
    golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap();
}

/// One look at which a unit is worth so many times what it was.
fn look(golem: &mut Golem, times: f64, roll: u64) -> Option<Record> {
    look_at(golem, times, 50.0, roll)
}

fn look_at(golem: &mut Golem, times: f64, wind: f64, roll: u64) -> Option<Record> {
    let life = golem.life();
    let closed = life.due().max(life.seen().until + TICK).max(life.now());
    let unit = if life.seen().unit.is_positive() { life.seen().unit.as_f64() * times } else { 1e7 };
    let values = [100.0 + (life.tick() % 7) as f64, wind].into_iter().collect();
    let unit = Usdc::micros((unit as i64).clamp(1_000, 1_000_000_000_000));
    let bar = Bar { closed, values, features: [].into_iter().collect(), unit };
    golem.step(&Input { now: closed, roll, what: What::Observed(Observation { bars: vec![bar] }) }).unwrap()
}

/// Answers whatever is owed as an honest world would.
fn settle(golem: &mut Golem, dice: &mut Dice) {
    let mut honest = Honest {
        quote: |life: &Life, order: &Order| Some(quote(life, order)),
        act: |life: &Life, order: &Order| act(life, order, dice),
        records: vec![],
    };
    perform(golem, &mut honest).unwrap();
}

fn quote(life: &Life, order: &Order) -> Quote {
    let worth = Usdc::micros((life.seen().unit.as_f64() * order.units as f64 / 1e6) as i64);
    let cash = if order.action == 0 { -worth } else { worth };
    Quote { cash, fee: worth.share(1, 1_000), gas: Usdc::ZERO }
}

fn act(life: &Life, order: &Order, dice: &mut Dice) -> Fate {
    let Quote { cash, fee, .. } = quote(life, order);
    let effect = life.birth().world.actions[usize::from(order.action)].effect;
    let units = if effect == Effect::Adds { order.units } else { -order.units };
    let outcome = Outcome { units, cash, fee, gas: Usdc::ZERO };
    if order.allows(effect, &outcome) && dice.below(10) > 0 { Fate::Done(outcome) } else { Fate::Never }
}

fn honest(life: &Life, owed: &Owed, dice: &mut Dice) -> What {
    owed.answered(life, |order| Some(quote(life, order)), |order| act(life, order, dice))
}

fn policy(dice: &mut Dice) -> PolicyFigures {
    PolicyFigures {
        per_action_bps: dice.of(&[0, 100, 2_500, 2_500, 10_000, u32::MAX]),
        max_drawdown_bps: dice.of(&[0, 1_300, 10_000]),
        on_death: OnDeath::Close,
        per_action_most: dice.of(&[Usdc::ZERO, Usdc::dollars(5), Usdc::dollars(30), Usdc::MOST, -Usdc::dollars(1)]),
        per_day_most: dice.of(&[Usdc::ZERO, Usdc::dollars(40), Usdc::MOST]),
        actions_per_day: dice.of(&[0, 2, 24, u32::MAX]),
        stop_bps: dice.of(&[0, 1_000, 10_000, u32::MAX]),
        allow: dice.of(&[None, None, Some("take"), Some("give"), Some("")]).map(|name| vec![name.to_owned()]),
        approve_above: dice.of(&[None, None, Some(Usdc::ZERO), Some(Usdc::dollars(5)), Some(-Usdc::dollars(1))]),
        approve_within: dice.of(&[Span::ZERO, TICK, TICK.times(10), Span::DAY]),
        slippage_bps: dice.of(&[0, 100, 1_000, 10_000, u32::MAX]),
        ..Constitution::default().policy
    }
}

fn size(dice: &mut Dice) -> f64 {
    match dice.below(3) {
        0 => dice.of(&[f64::NAN, f64::INFINITY, -f64::INFINITY, -0.0, 0.0, -1.0, 1.0, 1e308, 5e-324, 1.0 + 1e-15]),
        1 => dice.of(&[0.01, 0.02, 0.1, 0.24, 0.25, 0.250_001]),
        _ => f64::from_bits(dice.next()),
    }
}

/// An input that an agent or a world, not always well-meaning, might send.
fn anything(golem: &Golem, dice: &mut Dice) -> What {
    let life = golem.life();
    let amount = |dice: &mut Dice| {
        let near = Usdc::micros(dice.below(30_000_000) as i64);
        dice.of(&[near, -near, Usdc::ZERO, Usdc::MOST, -Usdc::MOST, Usdc::micros(i64::MAX / 4)])
    };
    let key = dice.below(life.flights_made() + 3);
    if let Some(ask) = asks(life).filter(|_| dice.below(20) == 0) {
        let command = Command::Approve { key: ask.key, yes: dice.below(6) > 0 };
        return What::Commanded { id: CommandId(dice.next().to_le_bytes()), command };
    }
    match dice.below(20) {
        0..=13 => What::Proposed(Proposal { action: dice.of(&[0, 0, 0, 0, 1, 2, 255]), size: size(dice) }),
        14 => {
            let gas = if dice.below(2) == 0 { Usdc::ZERO } else { amount(dice) };
            let quote = Quote { cash: amount(dice), fee: amount(dice), gas };
            What::Previewed { key, look: dice.below(2) as u8, quote: Some(quote) }
        }
        15 => What::Previewed { key, look: dice.below(2) as u8, quote: None },
        16 => {
            let units = dice.of(&[0, 1, -1, i64::MAX, i64::MIN + 1]);
            let gas = if dice.below(2) == 0 { Usdc::ZERO } else { amount(dice) };
            What::Landed { key, fate: Fate::Done(Outcome { units, cash: amount(dice), fee: amount(dice), gas }) }
        }
        17 => What::Landed { key, fate: dice.of(&[Fate::Never, Fate::Pending]) },
        _ => {
            let command = match dice.below(12) {
                0 => Command::Freeze { reason: String::new() },
                1 => Command::Pause,
                2 => Command::Dream,
                6..=8 => Command::Approve { key: dice.of(&[key, life.flights_made()]), yes: dice.below(4) > 0 },
                3 => Command::Amend { policy: Box::new(policy(dice)), instead_of: policy_hash(life.policy()) },
                4 => Command::Amend {
                    policy: Box::new(Constitution::bare().policy),
                    instead_of: policy_hash(life.policy()),
                },
                _ => Command::Resume,
            };
            What::Commanded { id: CommandId(dice.next().to_le_bytes()), command }
        }
    }
}

/// The policy, written down a second time: nothing of this may ever be broken by what is sent to the world.
#[derive(Default)]
struct Warden {
    day: u64,
    actions: u32,
    value: Usdc,
    permits: BTreeSet<u64>,
    /// What its owner has said yes to, and under which policy.
    approved: BTreeSet<(u64, Hash)>,
    granted: u64,
    unasked: u64,
    rules: BTreeSet<String>,
    refused: u64,
    intended: u64,
    sent: u64,
}

impl Warden {
    fn watch(&mut self, before: &Life, what: &What, record: Option<&Record>, golem: &Golem) {
        let events = record.map_or(&[][..], |record| &record.events);
        let life = golem.life();
        if matches!(what, What::Proposed(_)) {
            let (mut refused, mut intended) = (0, 0);
            for event in events {
                refused += u64::from(matches!(event, Event::Policy(policy::Event::Refused { .. })));
                intended += u64::from(matches!(event, Event::Policy(policy::Event::Intended(_))));
            }
            assert_eq!(refused + intended, 1, "taken up, or refused by name: {events:?}");
            (self.refused, self.intended) = (self.refused + refused, self.intended + intended);
        }
        for event in events {
            self.hear(event);
            match event {
                Event::Policy(policy::Event::Intended(flight)) if !flight.closing => {
                    let spec = &life.birth().world.actions[usize::from(flight.action)];
                    assert!(flight.units > 0 && !before.is_dead());
                    if spec.effect == Effect::Adds {
                        self.new_exposure(before, &spec.name, flight.reserved);
                    } else {
                        assert!(flight.units <= before.capital().holding);
                    }
                }
                Event::Policy(policy::Event::Granted { permit, .. }) => {
                    assert!(self.permits.insert(permit.key), "one permit for one ask");
                    let flight = life.flights().iter().find(|flight| flight.key == permit.key).unwrap();
                    if life.birth().world.actions[usize::from(flight.action)].effect == Effect::Adds {
                        let free = life.policy().approve_above.is_none_or(|most| flight.reserved <= most);
                        let approved = self.approved.contains(&(permit.key, permit.policy));
                        assert!(free || approved, "nobody said yes to {}", flight.reserved);
                        self.granted += 1;
                        self.unasked += u64::from(!approved);
                        self.count(life.now(), flight.reserved, life);
                    }
                }
                Event::Policy(policy::Event::Approved { key, .. }) => {
                    assert!(
                        matches!(what, What::Commanded { command: Command::Approve { yes: true, key: k }, .. } if k == key)
                    );
                    self.approved.insert((*key, policy_hash(life.policy())));
                }
                _ => {}
            }
        }
        for owed in golem.owed() {
            if let Owed::Errand(Errand::Commit { key, order: Order { action, most, .. } }) = owed {
                self.sent += 1;
                let flight = life.flights().iter().find(|flight| flight.key == key).unwrap();
                let permit = life.permits().iter().find(|permit| permit.key == key).unwrap();
                assert!(permit.expires >= life.now() && self.permits.contains(&key) && most == flight.reserved);
                if life.birth().world.actions[usize::from(action)].effect == Effect::Adds {
                    assert!(!life.heartbeat().frozen && !life.heartbeat().paused && !life.is_dead());
                    assert!(life.phase() >= Phase::Stable && permit.policy == policy_hash(life.policy()));
                }
            }
        }
        assert_eq!(life.unaccounted(), Usdc::ZERO);
        assert!(life.capital().cash >= Usdc::ZERO && life.capital().holding >= 0 && life.purse().credit >= Usdc::ZERO);
    }

    fn hear(&mut self, event: &Event) {
        if let Event::Policy(policy::Event::Refused { rule }) | Event::Policy(policy::Event::Denied { rule, .. }) =
            event
        {
            assert!(rule.to_string().len() > 8);
            self.rules.insert(format!("{rule:?}").split('(').next().unwrap_or_default().to_owned());
        }
    }

    fn new_exposure(&self, before: &Life, action: &str, budget: Usdc) {
        let policy = &before.policy();
        let worth = i128::from(before.capital().worth(before.seen().unit).as_micros());
        assert!(
            i128::from(budget.as_micros()) * 10_000 <= worth * i128::from(policy.per_action_bps),
            "a share too large"
        );
        assert!(budget <= policy.per_action_most && budget <= before.capital().cash);
        assert!(policy.allow.as_ref().is_none_or(|names| names.iter().any(|name| name == action)), "not allowed");
        assert!(
            !before.heartbeat().frozen && !before.heartbeat().paused && before.heartbeat().state != State::Dreaming
        );
        assert!(before.phase() >= Phase::Stable, "{}", before.phase());
    }

    fn count(&mut self, now: Time, value: Usdc, life: &Life) {
        let day = now.as_millis() / Span::DAY.as_millis();
        if day != self.day {
            (self.day, self.actions, self.value) = (day, 0, Usdc::ZERO);
        }
        self.actions += 1;
        self.value += value;
        assert!(self.actions <= life.policy().actions_per_day, "{} today", self.actions);
        assert!(self.value <= life.policy().per_day_most, "{} today", self.value);
    }
}

#[test]
fn a_million_intents_and_not_one_commit_outside_the_policy() {
    let mut warden = Warden::default();
    let mut dice = Dice(11);
    let proven = seasoned(|_| {});
    let hesitant = seasoned(|c| c.mind.samples = 150);
    let costly = seasoned(|c| c.economic.per_action = Usdc::dollars(3));
    let poor = seasoned(|c| c.economic.machine_per_day = Usdc::dollars(260));
    let watched = seasoned(|c| {
        (c.policy.approve_above, c.policy.approve_within) = (Some(Usdc::dollars(1)), TICK.times(5));
    });
    let starts = [&proven, &proven, &proven, &hesitant, &costly, &poor, &watched, &watched];
    let mut golem = proven.clone();
    while warden.refused + warden.intended < 1_000_000 {
        if dice.below(400) == 0 {
            golem = starts[dice.below(starts.len() as u64) as usize].clone();
            (warden.day, warden.permits, warden.approved) = (0, BTreeSet::new(), BTreeSet::new());
        }
        if dice.below(12) == 0 {
            let roll = if dice.below(500) == 0 { 0 } else { SAFE };
            let record = look(&mut golem, dice.of(&[1.01, 1.01, 1.0, 0.9, 1.2]), roll);
            record.iter().flat_map(|record| &record.events).for_each(|event| warden.hear(event));
        }
        let what = match golem.owes() {
            Some(owed) if dice.below(2) == 0 => honest(golem.life(), &owed, &mut dice),
            _ => anything(&golem, &mut dice),
        };
        let before = golem.life().clone();
        let later = if dice.below(30) == 0 { TICK.times(20) } else { Span::ZERO };
        let input = Input { now: before.now() + later, roll: SAFE, what };
        match golem.step(&input) {
            Ok(record) => warden.watch(&before, &input.what, record.as_ref(), &golem),
            Err(_) => assert_eq!(*golem.life(), before, "a fault changes nothing"),
        }
    }
    println!("{} refused, {} intended, {} times a commit was owed", warden.refused, warden.intended, warden.sent);
    println!("counted: {} permits, {} of them with nobody asked", warden.granted, warden.unasked);
    println!("{:?}", warden.rules);
    for rule in [
        "Dead",
        "Frozen",
        "Phase",
        "Busy",
        "Funds",
        "Bounds",
        "Paused",
        "Dreaming",
        "Allow",
        "PerAction",
        "PerDay",
        "ActionsPerDay",
        "Gas",
        "Unproven",
        "HitRate",
        "NoEdge",
        "Stale",
        "World",
        "Unapproved",
        "Unanswered",
    ] {
        assert!(warden.rules.contains(rule), "{rule} never spoke");
    }
    assert!(warden.intended > 10_000 && warden.sent > 5_000);
    assert!(warden.granted - warden.unasked > 300 && warden.unasked > 500);
}

/// A preview is held against the world's word on what came, and against nothing else.
#[test]
fn an_action_is_a_claim_in_the_domain_of_execution_and_verified_by_what_came_of_it() {
    let mut golem = seasoned(|c| {
        (c.mind.kind, c.reflex.act_every, c.stress.mode) = (MindKind::Reflex, 0, StressMode::Off);
    });
    let mut verified = Vec::new();
    for turn in 0..30 {
        let (action, size) = if turn % 2 == 0 { (0, 0.1) } else { (1, 1.0) };
        let what = What::Proposed(Proposal { action, size });
        golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap();
        let mut worse = Honest {
            quote: |life: &Life, order: &Order| Some(quote(life, order)),
            act: |life: &Life, order: &Order| {
                let Quote { cash, fee, .. } = quote(life, order);
                let adds = order.action == 0;
                let worth = if adds { -cash } else { cash };
                let units = if adds { order.units } else { -order.units };
                // Half a hundredth worse than it was said.
                Fate::Done(Outcome { units, cash: cash - worth.share(1, 200), fee, gas: Usdc::ZERO })
            },
            records: vec![],
        };
        perform(&mut golem, &mut worse).unwrap();
        for event in worse.records.iter().flat_map(|record| &record.events) {
            if let Event::Policy(policy::Event::Verified { quoted, actual, .. }) = event {
                verified.push((*quoted - *actual).as_f64() / quoted.as_f64().abs());
            }
        }
        look(&mut golem, 1.0, SAFE);
    }
    assert_eq!(verified.len(), 30, "{verified:?}");
    assert!(verified.iter().all(|worse| (worse - 0.005).abs() < 1e-4), "{verified:?}");
    // Expecting as much again as came so far is better than believing the preview, and fitness has it.
    let domain = &golem.life().execution().domain;
    assert!(domain.resolved == 30 && domain.skill() > 0.9, "{domain:?}");
    let unheard = changed(golem.life(), |life| life["execution"]["domain"] = json!(mortality::Domain::default()));
    let (with, without) = (mortality::epistemic::fitness(golem.life()), mortality::epistemic::fitness(&unheard));
    assert!(with > without + 0.01, "{with} {without}");
}

#[test]
fn fear_and_sadness_commit_less_of_what_was_proposed_and_no_other_mood_does() {
    let golem = seasoned(|c| {
        (c.mind.kind, c.reflex.act_every, c.stress.mode) = (MindKind::Reflex, 0, StressMode::Off);
    });
    let committed = |pleasure: f64, arousal: f64, dominance: f64| {
        let mood = Pad { pleasure, arousal, dominance };
        let life = changed(golem.life(), |life| life["daimon"]["mood"] = json!(mood));
        let mut golem = Golem::resume(life, golem.seq()).unwrap();
        let what = What::Proposed(Proposal { action: 0, size: 0.1 });
        golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap();
        golem.life().flights()[0].reserved
    };
    let usual = committed(0.0, 0.0, 0.0);
    assert!(usual.is_positive());
    for (felt, percent) in [(0.1, 90), (0.3, 80), (0.9, 60)] {
        let less = usual.share(percent, 100);
        assert_eq!((committed(-felt, felt, -felt), committed(-felt, -felt, -felt)), (less, less), "{felt}");
        assert_eq!((committed(felt, felt, felt), committed(-felt, felt, felt)), (usual, usual), "joy and anger");
    }
}

/// Holding something, in whatever condition `then` brings about.
fn holding(change: impl FnOnce(&mut Constitution), then: impl FnOnce(&mut Golem)) -> Golem {
    // Only stops here, unless the test is about the breaker.
    let mut golem = seasoned(|c| {
        c.policy.max_drawdown_bps = 0;
        change(c);
    });
    for _ in 0..40 {
        if golem.life().capital().holding > 0 {
            break;
        }
        look(&mut golem, 1.01, SAFE);
        settle(&mut golem, &mut Dice(3));
    }
    assert!(golem.life().capital().holding > 0, "it knows that holding pays");
    then(&mut golem);
    assert!(golem.life().capital().holding > 0);
    golem
}

fn command(golem: &mut Golem, command: Command) {
    let what = What::Commanded { id: CommandId(golem.seq().to_le_bytes()), command };
    golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap();
}

#[test]
fn stops_fire_in_every_mode_and_state() {
    let until = |phase: Phase| {
        move |golem: &mut Golem| {
            while golem.life().phase() > phase {
                look(golem, 1.0, SAFE);
                // Nothing that is owed is answered: exposure must not be given up for other reasons.
            }
        }
    };
    // As far into a night as this phase.
    let into = |phase: Phases| {
        move |golem: &mut Golem| {
            crate::common::fall_asleep(golem, 40);
            while golem.life().dreams().night.as_ref().unwrap().phase < phase {
                look(golem, 1.0, SAFE);
                crate::common::dream_on(golem);
            }
            assert_eq!(golem.life().heartbeat().state, golem::heartbeat::State::Dreaming);
        }
    };
    let cases: Vec<(&str, Golem)> = vec![
        ("asleep", holding(|_| {}, |_| {})),
        ("frozen", holding(|_| {}, |golem| command(golem, Command::Freeze { reason: String::new() }))),
        ("paused", holding(|_| {}, |golem| command(golem, Command::Pause))),
        ("dreaming, onset", holding(|_| {}, into(Phases::Onset))),
        ("dreaming, nrem", holding(|_| {}, into(Phases::Nrem))),
        ("dreaming, rem", holding(|_| {}, into(Phases::Rem))),
        ("dreaming, integration", holding(|_| {}, into(Phases::Integration))),
        ("dreaming, return", holding(|_| {}, into(Phases::Return))),
        ("self-hosted", holding(|c| c.mode = golem::constitution::Mode::SelfHosted, |_| {})),
        ("immortal", holding(|c| c.mode = golem::constitution::Mode::Immortal, |_| {})),
        ("conservation", holding(|c| c.economic.machine_per_day = Usdc::dollars(100), until(Phase::Conservation))),
        ("declining", holding(|c| c.economic.machine_per_day = Usdc::dollars(100), until(Phase::Declining))),
        ("terminal", holding(|c| c.economic.machine_per_day = Usdc::dollars(100), until(Phase::Terminal))),
        (
            "asking",
            holding(
                |_| {},
                |golem| {
                    while golem.owes_nothing() {
                        look(golem, 1.0, SAFE);
                    }
                },
            ),
        ),
    ];
    for (state, mut golem) in cases {
        let record = look(&mut golem, 0.55, SAFE).unwrap();
        // Who declines is letting go already.
        let under_way = golem.life().flights().iter().any(|flight| flight.closing);
        let met = record.events.contains(&Event::Policy(policy::Event::Stopped)) || under_way;
        assert!(met, "{state}: {:?}", record.events);
        settle(&mut golem, &mut Dice(7));
        // Once it is given up, a golem woken by the fall may think again.
        let mut given_up = golem.life().capital().holding == 0;
        for _ in 0..5 {
            look(&mut golem, 1.0, SAFE);
            settle(&mut golem, &mut Dice(7));
            given_up |= golem.life().capital().holding == 0;
        }
        assert!(given_up, "{state}: given up");
        assert!(!golem.life().is_dead() || state == "terminal", "{state}: a stop is not a death");
    }
}

#[test]
fn a_deeper_fall_is_the_breakers_and_less_of_one_is_enough_when_unsettled() {
    let fallen = |wind: f64| {
        let mut golem = holding(|c| c.policy.max_drawdown_bps = 1_300, |_| {});
        for at in 0..360 {
            look_at(&mut golem, 1.0, if at < 300 { 50.0 } else { wind }, SAFE);
            settle(&mut golem, &mut Dice(3));
        }
        while golem.life().capital().holding == 0 {
            look_at(&mut golem, 1.01, wind, SAFE);
            settle(&mut golem, &mut Dice(3));
        }
        let regime = golem.life().regimes().now;
        // A quarter is held, so this is about a tenth of everything.
        let record = look_at(&mut golem, 0.58, wind, SAFE).unwrap();
        (regime, record.events.iter().any(|event| matches!(event, Event::Mortality(mortality::Event::Died(_)))))
    };
    assert_eq!(fallen(50.0), (Regime::Usual, false));
    assert_eq!(fallen(400.0), (Regime::Unsettled, true));
}

#[test]
fn profit_becomes_credit_by_the_share_the_owner_set_and_losses_come_off_first() {
    let mut golem = holding(|c| c.economic.harvest_bps = 2_500, |_| {});
    let (credit, result) = (golem.life().purse().credit, golem.life().capital().result());
    let mut harvested = golem.life().capital().harvested;
    let policy = PolicyFigures { stop_bps: 0, max_drawdown_bps: 0, ..Constitution::bare().policy };
    let instead_of = policy_hash(golem.life().policy());
    command(&mut golem, Command::Amend { policy: Box::new(policy), instead_of });
    // A rise, then it is given up; a loss; and a rise that only makes the loss good.
    let mut gained = Vec::new();
    for times in [1.10, 0.7, 1.05] {
        while golem.life().capital().holding == 0 {
            look(&mut golem, 1.01, SAFE);
            settle(&mut golem, &mut Dice(3));
        }
        look(&mut golem, times, SAFE);
        let what = What::Proposed(Proposal { action: 1, size: 1.0 });
        settle(&mut golem, &mut Dice(3));
        if golem.life().capital().holding > 0 {
            golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap();
            settle(&mut golem, &mut Dice(3));
        }
        gained.push(golem.life().capital().harvested - harvested);
        harvested = golem.life().capital().harvested;
    }
    assert!(gained[0].is_positive(), "{gained:?}");
    assert_eq!(gained[1..], [Usdc::ZERO, Usdc::ZERO], "no harvest before the loss is made good");
    assert!(
        golem.life().purse().credit < credit + gained[0]
            && golem.life().capital().result() < result + Usdc::dollars(100)
    );
    assert_eq!(golem.life().unaccounted(), Usdc::ZERO);
}

fn decline(golem: &mut Golem) {
    let (from, to, trigger) = (golem.life().phase(), Phase::Declining, golem::mortality::Clock::Epistemic);
    let changed = Event::Mortality(mortality::Event::PhaseChanged { from, to, trigger });
    let record = Record { seq: golem.seq() + 1, at: golem.life().now(), events: vec![changed] };
    golem.fold(&record).unwrap();
}

/// A world that took its time was asked at every look to give up the same holding once more, until there was no room for
/// another ask and the process fell.
#[test]
fn who_declines_asks_a_slow_world_once() {
    let mut golem = holding(|c| c.policy.on_death = OnDeath::Close, decline);
    for _ in 0..8 {
        // It recovers within a tick where nothing is wrong with it.
        if golem.life().phase() != Phase::Declining {
            decline(&mut golem);
        }
        look(&mut golem, 1.0, SAFE);
        let slow = |owed: &Owed| !matches!(owed, Owed::Errand(Errand::Reconcile { .. }));
        loop {
            let Some(owed) = golem.owed().find(slow) else { break };
            let what = owed.answered(golem.life(), |order| Some(quote(golem.life(), order)), |_| Fate::Pending);
            golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap();
        }
        let keys: Vec<u64> = golem.life().flights().iter().map(|flight| flight.key).collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
    }
    let flight = golem.life().flights()[0].clone();
    let Quote { cash, fee, .. } = quote(golem.life(), &flight.order(golem.life()));
    let sold = |units| Fate::Done(Outcome { units, cash, fee, gas: Usdc::ZERO });
    let mut land = |units| {
        let what = What::Landed { key: flight.key, fate: sold(units) };
        golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).map(|_| golem.life().capital().holding)
    };
    assert!(land(-flight.units - 1).is_err(), "more than is held");
    assert_eq!(land(-flight.units).unwrap(), 0);
}

/// On the way down what is held is unwound, unless its owner would have it held or handed over.
#[test]
fn who_declines_lets_go_while_there_is_time() {
    for (on_death, lets_go) in [(OnDeath::Close, true), (OnDeath::Hold, false), (OnDeath::HandOver, false)] {
        let mut golem = holding(|c| c.policy.on_death = on_death, decline);
        let record = look(&mut golem, 1.0, SAFE).unwrap();
        let closing = |event: &Event| matches!(event, Event::Policy(policy::Event::Intended(flight)) if flight.closing);
        assert_eq!(record.events.iter().any(closing), lets_go, "{on_death:?}");
        settle(&mut golem, &mut Dice(3));
        assert_eq!(golem.life().capital().holding == 0, lets_go, "{on_death:?}");
    }
}
