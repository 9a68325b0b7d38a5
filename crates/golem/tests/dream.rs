//! Nights, from outside: when they begin, what they may cost, what ends them, and that nothing dreamt is believed
//! before it has held on what was not dreamt of.

mod common;

use common::{Dice, SAFE, START, birth, fall_asleep};
use golem::constitution::{Constitution, DreamSchedule, DreamTier};
use golem::dream::{self, Blocked, Experience, Found, Memory, Phase, Waker, schedule, staging, work};
use golem::event::Event;
use golem::heartbeat::State;
use golem::mortality::phase;
use golem::policy::Rule;
use golem::stress::Word;
use golem::world::{Bar, DomainKind, DomainSpec, Observation};
use golem::{Command, CommandId, Golem, GolemId, Input, Life, Owed, Span, Usdc, What};

const TICK: Span = Span::seconds(40);

/// In a world of one level and three signs, of which the first says whether the level will double or halve.
struct Sleeper {
    golem: Golem,
    memory: Memory,
    dice: Dice,
    truth: f64,
    sign: [f64; 3],
    events: Vec<Event>,
    unit: i64,
}

impl Sleeper {
    fn new(change: impl FnOnce(&mut Constitution)) -> Sleeper {
        let mut birth = birth(Constitution::default());
        let constitution = &mut birth.constitution;
        constitution.clocks.stochastic = false;
        constitution.clocks.epistemic = false;
        constitution.mind.explore_every = 0;
        constitution.dream.enabled = true;
        change(constitution);
        let level = DomainSpec { name: "level".into(), weight: 1.0, kind: DomainKind::Value, horizon: 1, scale: None };
        birth.world.domains = [level].into_iter().collect();
        birth.world.features = vec!["omen".into(), "noise".into(), "static".into()];
        birth.world.instincts = vec!["always expect level over 1".into()];
        let (golem, _) = Golem::born(birth, START);
        let (memory, dice) = (Memory::default(), Dice(7));
        let mut sleeper = Sleeper { golem, memory, dice, truth: 1.5, sign: [0.0; 3], events: vec![], unit: 10_000_000 };
        sleeper.feed(What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(100) });
        sleeper
    }

    fn life(&self) -> &Life {
        self.golem.life()
    }

    fn feed(&mut self, what: What) {
        self.feed_at(self.life().now, what);
    }

    fn feed_at(&mut self, now: golem::Time, what: What) {
        if let Some(record) = self.golem.step(&Input { now, roll: SAFE, what }).unwrap() {
            self.memory.hear(&record, self.golem.life());
            self.events.extend(record.events);
        }
    }

    fn look(&mut self) {
        let now = self.life().now + TICK;
        // What the omen said last time comes true now; the rest says nothing.
        let up = self.sign[0] > 0.0;
        let level = 100.0 * if up { self.truth } else { 1.0 / self.truth } * (1.0 + 0.1 * self.dice.chance());
        let base = self.life().seen.values.first().copied().unwrap_or(100.0);
        let level = base * level / 100.0;
        self.sign = [self.dice.chance() - 0.5, self.dice.chance(), self.dice.chance()];
        let level = level.clamp(1.0, 1e6);
        let bar = Bar {
            closed: now,
            values: [level].into_iter().collect(),
            features: self.sign.into_iter().collect(),
            unit: Usdc::micros(self.unit),
        };
        self.feed_at(now, What::Observed(Observation { bars: vec![bar] }));
    }

    fn settle(&mut self) {
        while let Some(owed) = self.golem.owed().first().cloned() {
            let what = match owed {
                Owed::Dream => What::Dreamt(Box::new(work(&self.memory, self.golem.life()))),
                Owed::Tell { number, .. } => What::Told { number, peers: 0 },
                Owed::Deposit { deposit, .. } => What::Deposited { deposit },
                Owed::Curate => {
                    let round = self.life().knowing.rounds + 1;
                    What::Curated(Box::new(golem::grimoire::Answer { round, ..Default::default() }))
                }
                other => panic!("a dream asks nothing of the world: {other:?}"),
            };
            self.feed(what);
        }
    }

    fn ticks(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.look();
            self.settle();
        }
    }

    fn command(&mut self, n: u8, command: Command) -> Option<Rule> {
        self.feed(What::Commanded { id: CommandId([n; 8]), command });
        self.life().commands.last().and_then(|(_, declined)| *declined)
    }
}

#[test]
fn shares_of_a_night_are_the_documents_and_add_up() {
    use phase::Phase::*;
    for (of, shares) in [
        (Thriving, [100, 340, 300, 210, 50]),
        (Stable, [100, 300, 300, 250, 50]),
        (Conservation, [100, 250, 200, 400, 50]),
        (Declining, [100, 200, 160, 490, 50]),
        (Terminal, [100, 160, 120, 570, 50]),
    ] {
        assert_eq!(Phase::shares(of), shares);
        assert_eq!(shares.iter().sum::<u64>(), 1_000);
        let weights = schedule::weights(of).each;
        let sum: f64 = weights.iter().sum();
        assert!(of == Terminal || (sum - 1.0).abs() < 1e-12, "{of}: {sum}");
    }
    assert_eq!([Thriving, Stable, Conservation, Declining].map(schedule::first_night), [50, 100, 150, 200]);
    let (dying, well) = (schedule::weights(Declining).each, schedule::weights(Stable).each);
    assert!(
        dying[5] > well[5] && dying[0] / dying[1] > well[0] / well[1],
        "time weighs more, novelty more than tidying"
    );
}

#[test]
fn urgency_has_its_terms_and_its_clocks() {
    let fresh = Sleeper::new(|_| {}).life().clone();
    let with = |change: &dyn Fn(&mut Life)| {
        let mut life = fresh.clone();
        change(&mut life);
        life
    };
    let parts = |life: &Life| schedule::parts(life);
    assert_eq!(parts(&with(&|l| l.episodes.made = 100))[1], 0.5);
    assert_eq!(parts(&with(&|l| l.episodes.made = 10_000))[1], 1.0);
    assert_eq!(parts(&with(&|l| l.daimon.mood.arousal = 0.4))[2], 0.4);
    let lost = with(&|l| (l.capital.fees, l.capital.given) = (Usdc::dollars(5), Usdc::dollars(100)));
    assert!(parts(&lost)[3] > 0.9, "{:?}", parts(&lost));
    assert!((parts(&with(&|l| l.vitality.epistemic = 0.3))[4] - 0.7).abs() < 1e-12);
    let rested = parts(&with(&|l| (l.tick, l.dreams.last) = (50, 50)))[5];
    let tired = parts(&with(&|l| l.tick = 5_000))[5];
    assert!(rested < 0.05 && tired > 0.95, "{rested} {tired}");
    assert_eq!(schedule::intensity(&with(&|l| l.vitality.epistemic = 0.5)), 1.0);
    assert!((schedule::intensity(&with(&|l| l.vitality.epistemic = 0.25)) - 1.15).abs() < 1e-12);
    let old = with(&|l| (l.vitality.epistemic, l.vitality.age_factor) = (0.5, 1.0));
    assert!((schedule::intensity(&old) - 1.2).abs() < 1e-12);
    let marked = with(&|l| l.knowing.fiber.urgency = 0.3);
    assert!(dream::urgency(&marked) > dream::urgency(&fresh) + 0.19);
    let threshold = |of, regime, schedule| {
        schedule::threshold(&with(&|l| {
            (l.vitality.phase, l.regimes.now) = (of, regime);
            l.birth.constitution.dream.schedule = schedule;
        }))
    };
    use golem::regime::Regime::{Unsettled, Usual};
    assert_eq!(threshold(phase::Phase::Thriving, Usual, DreamSchedule::Autonomous), 0.8);
    assert_eq!(threshold(phase::Phase::Stable, Usual, DreamSchedule::Autonomous), 0.6);
    assert_eq!(threshold(phase::Phase::Stable, Unsettled, DreamSchedule::Autonomous), 0.7);
    assert_eq!(threshold(phase::Phase::Stable, Usual, DreamSchedule::Hybrid), 0.8);
}

#[test]
fn four_things_must_hold_before_a_night() {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.schedule = DreamSchedule::Owner);
    assert_eq!(dream::blocked(sleeper.life()), Some(Blocked::Episodes));
    assert_eq!(sleeper.command(1, Command::Dream), Some(Rule::Dream(Blocked::Episodes)));
    sleeper.ticks(2_100);
    assert!(sleeper.life().episodes.made >= 100);
    assert_eq!(dream::blocked(sleeper.life()), None);
    let with = |change: &dyn Fn(&mut Life)| {
        let mut life = sleeper.life().clone();
        change(&mut life);
        dream::blocked(&life)
    };
    assert_eq!(with(&|l| l.vitality.phase = phase::Phase::Terminal), Some(Blocked::Phase));
    assert_eq!(with(&|l| l.birth.constitution.dream.monthly_most = Usdc::ZERO), Some(Blocked::Budget));
    assert_eq!(with(&|l| l.purse.burn_a_day = 1e9), Some(Blocked::Phase), "under six hours of life");
    assert_eq!(sleeper.command(2, Command::Dream), None);
    assert_eq!(sleeper.life().heartbeat.state, State::Dreaming);
    assert_eq!(sleeper.command(3, Command::Dream), Some(Rule::Busy), "one night at a time");
    assert_eq!(sleeper.command(4, Command::Wake), None);
    assert_eq!(sleeper.life().heartbeat.state, State::Sleeping);
}

#[test]
fn a_night_goes_through_its_phases_in_time_and_within_its_budget() {
    for (tier, most) in [(DreamTier::Core, 1), (DreamTier::Hardened, 60)] {
        let mut sleeper = Sleeper::new(|constitution| {
            (constitution.dream.tier, constitution.dream.schedule) = (tier, DreamSchedule::Owner);
        });
        sleeper.ticks(2_100);
        let (before, spent) = (sleeper.life().purse.credit, sleeper.life().dreams.spent);
        sleeper.events.clear();
        sleeper.command(1, Command::Dream);
        sleeper.settle();
        let night = sleeper.life().dreams.night.clone().unwrap();
        assert!(night.worked && night.ticks <= most, "{night:?}");
        for _ in 0..night.ticks {
            assert_eq!(sleeper.life().heartbeat.state, State::Dreaming);
            let claims = sleeper.life().open[0].len();
            sleeper.ticks(1);
            assert!(sleeper.life().open[0].len() <= claims, "no new claims");
        }
        assert_eq!(sleeper.life().heartbeat.state, State::Sleeping);
        let passed: Vec<Phase> = sleeper
            .events
            .iter()
            .filter_map(|e| if let Event::DreamPassed { phase, .. } = e { Some(*phase) } else { None })
            .collect();
        assert_eq!(passed, Phase::ALL, "each once, in order");
        let cost = sleeper.life().dreams.spent - spent;
        assert!(cost.is_positive() && cost <= night.budget, "{cost} of {}", night.budget);
        assert!(sleeper.life().purse.credit < before);
        assert_eq!((sleeper.life().unaccounted(), sleeper.life().dreams.whole), (Usdc::ZERO, 1));
    }
}

/// Ten thousand nights of both kinds, some of them broken off: none lasts or costs more than it was given.
#[test]
fn no_night_lasts_or_costs_more_than_it_was_given() {
    let (mut nights, mut broken_off) = (0, 0);
    for seed in 0..36_u64 {
        let mut dice = Dice(seed);
        let mut sleeper = Sleeper::new(|constitution| {
            constitution.dream.tier = if seed < 33 { DreamTier::Core } else { DreamTier::Hardened };
            constitution.dream.schedule = DreamSchedule::Autonomous;
            constitution.clocks.economic = dice.below(2) == 0;
            constitution.economic.machine_per_day = Usdc::cents(dice.below(20) as i64);
            constitution.dream.per_cycle_most = Usdc::micros(dice.of(&[0, 1, 500, 500_000]));
            constitution.dream.monthly_most = Usdc::micros(dice.of(&[100_000, 15_000_000]));
        });
        for _ in 0..27_000 {
            let broke = sleeper.life().is_dead();
            if broke {
                break;
            }
            sleeper.ticks(1);
            if dice.below(50) == 0 {
                sleeper.feed(What::Commanded { id: CommandId(dice.next().to_le_bytes()), command: Command::Wake });
            }
        }
        let (mut given, mut slept, mut cost) = ((0, Usdc::ZERO), 0, Usdc::ZERO);
        for event in &sleeper.events {
            match event {
                Event::DreamBegan { ticks, budget, .. } => (given, slept, cost) = ((*ticks, *budget), 0, Usdc::ZERO),
                Event::Slept => slept += 1,
                Event::DreamPassed { cost: more, .. } => cost += *more,
                Event::DreamLeft { woken } => {
                    nights += 1;
                    broken_off += u32::from(woken.is_some());
                    assert!(slept <= given.0 && cost <= given.1, "{slept} and {cost} of {given:?}");
                }
                _ => {}
            }
        }
        assert_eq!(sleeper.life().unaccounted(), Usdc::ZERO);
    }
    println!("{nights} nights, {broken_off} broken off");
    assert!(nights >= 10_000 && broken_off > 50, "{nights} {broken_off}");
}

#[test]
fn owners_peers_a_moving_world_and_death_end_a_night_and_it_counts_as_wasted() {
    let asleep = || {
        let mut sleeper = Sleeper::new(|constitution| constitution.dream.tier = DreamTier::Hardened);
        sleeper.ticks(20);
        fall_asleep(&mut sleeper.golem, 60);
        sleeper.settle();
        sleeper.ticks(7);
        assert_eq!(sleeper.life().heartbeat.state, State::Dreaming);
        sleeper.events.clear();
        sleeper
    };
    let woken = |sleeper: &Sleeper| {
        let left = |event: &Event| if let Event::DreamLeft { woken } = event { *woken } else { None };
        assert!(sleeper.life().dreams.night.is_none() && sleeper.life().dreams.whole == 0);
        assert!(sleeper.life().dreams.wasted.is_positive());
        sleeper.events.iter().find_map(left)
    };
    let mut sleeper = asleep();
    sleeper.command(1, Command::Wake);
    assert_eq!(woken(&sleeper), Some(Waker::Owner));
    let mut sleeper = asleep();
    let word = Word::Crisis { load: 0.95 };
    sleeper.feed(What::Heard { letter: CommandId([3; 8]), from: GolemId([2; 16]), word });
    assert_eq!(woken(&sleeper), Some(Waker::Clade));
    let mut sleeper = asleep();
    sleeper.unit = 10_990_000;
    sleeper.ticks(1);
    assert_eq!(sleeper.life().heartbeat.state, State::Dreaming, "not quite ten per cent");
    sleeper.unit = 11_000_000;
    sleeper.ticks(1);
    assert_eq!(woken(&sleeper), Some(Waker::World));
    let mut sleeper = asleep();
    sleeper.command(1, Command::Retire { reason: String::new() });
    assert_eq!(woken(&sleeper), Some(Waker::Death));
    assert!(sleeper.life().is_dead());
}

/// A true pattern and none at all, a hundred times each.
#[test]
fn what_is_staged_is_mostly_true_and_what_is_not_true_is_mostly_not_staged() {
    let mut dice = Dice(99);
    let life = {
        let mut sleeper = Sleeper::new(|constitution| constitution.dream.tier = DreamTier::Hardened);
        // It has learned nothing yet, so there is nothing of its own to put right.
        sleeper.ticks(1);
        fall_asleep(&mut sleeper.golem, 60);
        sleeper.golem.life().clone()
    };
    let (mut proposed, mut spurious, mut found, nights) = (0, 0, 0, 200);
    for night in 0..nights {
        let planted = night % 2 == 0;
        let mut memory = Memory::default();
        for number in 1..=160 {
            let state: golem::episode::State = (0..3).map(|_| dice.chance() as f32 - 0.5).collect();
            let way = if planted && state[0] > 0.0 { 1.3 } else { 1.0 };
            let actual = 100.0 * way * (0.6 + 0.8 * dice.chance());
            memory.keep(Experience {
                number,
                tick: number * 10,
                regime: 1,
                surprise: 1.0,
                arousal: 0.0,
                state,
                base: [100.0].into_iter().collect(),
                actual: [actual].into_iter().collect(),
                change: 0.0,
                regret: 0.0,
            });
        }
        let told = work(&memory, &life);
        if planted {
            found += u32::from(told.staged.iter().any(|s| s.heuristic.condition.0[0].feature == 0));
        } else {
            proposed += told.proposed;
            spurious += told.staged.len() as u32;
        }
    }
    println!(
        "planted patterns found in {found} of {} nights; {spurious} of {proposed} spurious proposals staged",
        nights / 2
    );
    assert!(found * 2 >= nights / 2, "{found}");
    assert!(f64::from(spurious) <= 0.05 * f64::from(proposed), "{spurious} of {proposed}");
}

#[test]
fn a_hypothesis_is_promoted_by_what_happens_awake_refuted_or_forgotten() {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.schedule = DreamSchedule::Owner);
    sleeper.ticks(2_100);
    sleeper.command(1, Command::Dream);
    sleeper.settle();
    let staged = sleeper.life().dreams.staged.clone();
    assert!(staged.iter().any(|s| s.heuristic.condition.0[0].feature == 0), "the omen is seen: {staged:?}");
    assert!(staged.len() <= staging::STAGED && staged.iter().all(|s| s.confidence == staging::HYPOTHESIS));
    assert!(staged.iter().all(|s| !s.episodes.is_empty() && s.night == 1), "traceable");
    sleeper.ticks(1_500);
    let dreams = &sleeper.life().dreams;
    assert!(dreams.promoted >= 1, "{dreams:?}");
    let adopted: Vec<_> =
        sleeper.life().playbook.iter().filter(|h| h.provenance == golem::rule::Provenance::Dreamt).collect();
    assert_eq!(adopted.len() as u64, dreams.promoted);
    assert!(adopted.iter().all(|h| h.voice && h.condition.0[0].feature == 0), "{adopted:?}");
}

#[test]
fn an_answer_to_another_night_is_nobodys() {
    let mut sleeper = Sleeper::new(|_| {});
    sleeper.ticks(20);
    fall_asleep(&mut sleeper.golem, 5);
    let wrong = Found { night: 7, ..Found::default() };
    let before = sleeper.life().clone();
    sleeper.feed(What::Dreamt(Box::new(wrong)));
    assert_eq!(*sleeper.life(), before);
    assert_eq!(sleeper.golem.owed(), [Owed::Dream]);
    sleeper.settle();
    assert!(sleeper.golem.owes_nothing());
    let again = Found::nothing(sleeper.life());
    sleeper.feed(What::Dreamt(Box::new(again)));
    assert!(sleeper.life().dreams.night.as_ref().unwrap().worked);
}

#[test]
fn replay_has_room_for_what_would_never_be_chosen() {
    let life = Sleeper::new(|_| {}).life().clone();
    let mut memory = Memory::default();
    for number in 1..=1_000_u64 {
        memory.keep(Experience {
            number,
            tick: number,
            regime: if number == 5 { 2 } else { 1 },
            surprise: if number > 500 { 1.0 } else { 0.0 },
            arousal: if number == 7 { 0.9 } else { 0.0 },
            state: [0.0, 0.0, 0.0].into_iter().collect(),
            base: [1.0].into_iter().collect(),
            actual: [1.0].into_iter().collect(),
            change: 0.0,
            regret: 0.0,
        });
    }
    let chosen: Vec<u64> = memory.select(&life, 50, usize::MAX).iter().map(|e| e.number).collect();
    assert_eq!(chosen.len(), 50);
    assert!(chosen.contains(&5) && chosen.contains(&7), "another regime, and what stirred it most: {chosen:?}");
    assert!(chosen.iter().filter(|n| **n > 500).count() >= 40);
    assert_eq!(chosen.iter().collect::<std::collections::BTreeSet<_>>().len(), 50, "each once");
}
