//! The chapter on mortality, as sentences: how a golem ages, weakens, recovers and dies.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Rig, SAFE, START, changed};
use golem::constitution::{Clocks, Constitution, Measure, Mode};
use golem::event::Event;
use golem::grimoire::Grimoire;
use golem::heartbeat::State;
use golem::mortality::Senescence;
use golem::mortality::death::Cause;
use golem::mortality::phase::Phase;
use golem::mortality::vitality::Parts;
use golem::mortality::{self, Clock};
use golem::owner;
use golem::thanatopsis::{Outside, Review, write};
use golem::world::Observation;
use golem::{Command, Golem, Life, Span, Usdc, What};
use serde_json::json;

fn cause(rig: &Rig) -> &Cause {
    &rig.golem.life().death().expect("it should be dead").cause
}

const ONLY_MONEY: Clocks = Clocks { economic: true, epistemic: false, stochastic: false };
const ONLY_SKILL: Clocks = Clocks { economic: false, epistemic: true, stochastic: false };
const ONLY_CHANCE: Clocks = Clocks { economic: false, epistemic: false, stochastic: true };
const NO_CLOCK: Clocks = Clocks { economic: false, epistemic: false, stochastic: false };

#[test]
fn a_golem_without_funds_dies_of_hunger_and_never_touches_its_reserve() {
    // Thirty cents are kept for dying, or two hundredths of what it was given, if that is more.
    for (more, kept) in [(Usdc::ZERO, Usdc::cents(30)), (Usdc::dollars(90), Usdc::dollars(2))] {
        let mut rig = Rig::with(|c| {
            c.clocks = ONLY_MONEY;
            c.economic.machine_per_day = Usdc::dollars(100);
        });
        if more.is_positive() {
            rig.feed(What::Funded { transfer: 2, credit: more, capital: Usdc::ZERO }).unwrap();
        }
        rig.ticks(100_000);
        let Cause::Economic { balance, ticks_alive, .. } = cause(&rig) else { panic!("{:?}", cause(&rig)) };
        assert_eq!(*balance, kept, "exactly the reserve is left");
        assert_eq!(*ticks_alive, rig.golem.life().tick());
        rig.settle();
        let life = rig.golem.life();
        assert_eq!(life.heartbeat().state, State::Dead);
        assert_eq!((life.purse().credit, life.capital().cash), (Usdc::ZERO, Usdc::ZERO), "everything was returned");
        assert_eq!(life.purse().withdrawn + life.capital().withdrawn, kept + Usdc::dollars(100));
    }
}

#[test]
fn the_way_down_passes_through_every_phase_and_says_so() {
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_MONEY;
        c.economic.machine_per_day = Usdc::dollars(20);
    });
    rig.ticks(100_000);
    let changes: Vec<(Phase, Phase, Clock)> = rig
        .records
        .iter()
        .flat_map(|r| &r.events)
        .filter_map(|e| match e {
            Event::Mortality(mortality::Event::PhaseChanged { from, to, trigger }) => Some((*from, *to, *trigger)),
            _ => None,
        })
        .collect();
    let down = [Phase::Stable, Phase::Thriving, Phase::Stable, Phase::Conservation, Phase::Declining, Phase::Terminal];
    assert_eq!(changes.iter().map(|c| c.1).collect::<Vec<_>>(), down[1..], "{changes:?}");
    assert!(changes[2..].iter().all(|c| c.2 == Clock::Economic));
    let critical = rig
        .records
        .iter()
        .flat_map(|r| &r.events)
        .filter(|e| **e == Event::Mortality(mortality::Event::EconomicCritical))
        .count();
    assert_eq!(critical, 1, "told once");
}

/// Vitality at which each phase begins, as the document has it.
const MARKS: [f64; 5] = [0.0, 0.1, 0.3, 0.5, 0.7];

/// A tick, after which the phase must be one that this vitality allows. Returns the phase if it is a new one.
fn tick_by_the_marks(rig: &mut Rig) -> Option<Phase> {
    let before = rig.golem.life().phase();
    rig.tick();
    let (phase, vitality) = (rig.golem.life().phase(), rig.golem.life().vitality().composite);
    let begins = MARKS[phase as usize] + if phase > before { 0.05 } else { 0.0 };
    assert!(vitality >= begins - 1e-9, "{phase} at {vitality} after {before}");
    let next = MARKS.get(phase as usize + 1).map_or(f64::MAX, |next| next + 0.05);
    assert!(vitality < next, "still {phase} at {vitality}");
    (phase != before).then_some(phase)
}

#[test]
fn a_life_falls_at_each_mark_and_rises_five_hundredths_above_it() {
    use Phase::*;
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_MONEY;
        c.economic.machine_per_day = Usdc::dollars(20);
    });
    let mut passed = Vec::new();
    while rig.golem.life().phase() != Terminal {
        passed.extend(tick_by_the_marks(&mut rig));
    }
    // Then money comes, a little at a time.
    for transfer in 2..400 {
        rig.feed(What::Funded { transfer, credit: Usdc::cents(5), capital: Usdc::ZERO }).unwrap();
        passed.extend(tick_by_the_marks(&mut rig));
    }
    let expected = [Thriving, Stable, Conservation, Declining, Terminal, Declining, Conservation, Stable, Thriving];
    assert_eq!(passed, expected);
}

#[test]
fn vitality_is_two_sigmoids_and_a_drag_at_every_tick() {
    let mut rig = Rig::with(|c| c.economic.machine_per_day = Usdc::dollars(40));
    let lifespan = Span::seconds(40).times(200_000).as_millis() as f64;
    for _ in 0..400 {
        rig.tick();
        let (age, vitality) = (rig.golem.life().age().as_millis() as f64, rig.golem.life().vitality());
        assert!((vitality.age_factor - age / lifespan).abs() < 1e-12, "{}", vitality.age_factor);
        let money = mortality::sigmoid(vitality.economic, 0.3, 10.0);
        let skill = mortality::sigmoid(vitality.epistemic, 0.4, 8.0);
        let product = money * skill * (1.0 - 0.3 * vitality.age_factor);
        assert!((vitality.composite - product).abs() < 1e-9, "{vitality:?}");
    }
    assert!(rig.golem.life().vitality().economic < 0.7, "it had something to lose");
}

#[test]
fn living_costs_the_same_however_time_is_cut() {
    let spent = |interval| {
        let mut rig = Rig::with(|c| {
            c.clocks = NO_CLOCK;
            c.interval = interval;
        });
        while rig.golem.life().age() < Span::DAY.times(7) {
            rig.tick();
        }
        rig.golem.life().purse().spent
    };
    let expected = Usdc::micros(168_000 * 7);
    for seconds in [40, 280, 3_600] {
        assert_eq!(spent(Span::seconds(seconds)), expected, "{seconds} s");
    }
}

#[test]
fn conservation_looks_half_as_often() {
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_MONEY;
        c.economic.machine_per_day = Usdc::dollars(20);
    });
    while rig.golem.life().phase() != Phase::Conservation {
        rig.tick();
    }
    assert_eq!(rig.golem.life().interval(), Span::seconds(80));
    // Bars resolve claims, looks make them: what falls due between two looks resolves all the same.
    for _ in 0..20 {
        let (resolved, made) = (rig.golem.life().epistemic().domains[0].resolved, rig.golem.life().claims_made());
        let due = rig.golem.life().due();
        let bars = vec![rig.bar(due - Span::seconds(40)), rig.bar(due)];
        rig.feed_at(due, crate::common::SAFE, golem::What::Observed(golem::world::Observation { bars })).unwrap();
        assert_eq!(rig.golem.life().epistemic().domains[0].resolved, resolved + 1);
        assert_eq!(rig.golem.life().claims_made(), made + 2, "one in each domain");
    }
}

#[test]
fn staying_confidently_wrong_leads_through_grace_into_senescence_and_death() {
    let mut rig = Rig::with(|c| {
        c.clocks = Clocks { stochastic: false, ..c.clocks };
        c.reflex.pull = -3.0;
        // Being wrong alone does not bring this one below a tenth; being poor as well does.
        c.vitality.epistemic_center = 0.25;
        c.economic.machine_per_day = Usdc::dollars(12);
    });
    rig.ticks(50_000);
    let Cause::EpistemicSenescence { final_fitness, ticks_in_senescence, failing_domains, .. } = cause(&rig) else {
        panic!("{:?}", cause(&rig))
    };
    assert!(*final_fitness < 0.1, "{final_fitness}");
    assert_eq!(failing_domains, &["tide", "wind"]);
    assert!(*ticks_in_senescence > 0);
    assert!(
        first(&rig, &Event::Mortality(mortality::Event::Senesced))
            >= first(&rig, &Event::Mortality(mortality::Event::GraceOpened)) + 500
    );
    assert!(rig.golem.life().purse().withdrawn > Usdc::cents(30), "it had money left");
}

/// A look at a world whose numbers are so much higher than usual.
fn look_at(rig: &mut Rig, level: f64) -> Vec<Event> {
    let due = rig.golem.life().due();
    let mut bar = rig.bar(due);
    bar.values.iter_mut().for_each(|value| *value += level);
    rig.feed_at(due, SAFE, What::Observed(Observation { bars: vec![bar] })).unwrap()
}

#[test]
fn skill_is_warned_of_at_one_half_and_senescent_five_hundred_ticks_after_035() {
    // It expects things to return to their mean, and for a while they do.
    let mut usual = 0.0;
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_SKILL;
        usual = c.reflex.noise;
        (c.reflex.pull, c.reflex.noise) = (0.9, 0.01);
    });
    rig.ticks(1_500);
    let mut fitness = rig.golem.life().vitality().epistemic;
    assert!(fitness > 0.5, "{fitness}");
    let (mut warned, mut grace) = (None, None);
    // From here on it is sure of the opposite.
    let wrong = changed(rig.golem.life(), |life| {
        let reflex = &mut life["birth"]["constitution"]["reflex"];
        (reflex["pull"], reflex["noise"]) = (json!(-3.0), json!(usual));
    });
    rig.golem = Golem::resume(wrong, rig.golem.seq()).unwrap();
    let senescent = loop {
        let events = look_at(&mut rig, 0.0);
        let (before, tick) = (fitness, rig.golem.life().tick());
        fitness = rig.golem.life().vitality().epistemic;
        let place = |wanted: mortality::Event| {
            let wanted = Event::Mortality(wanted);
            events.iter().position(|event| *event == wanted)
        };
        if place(mortality::Event::EpistemicWarned).is_some() {
            assert!(before >= 0.5 && fitness < 0.5, "warned from {before} to {fitness}");
            warned = Some(tick);
        }
        if let Some(at) = place(mortality::Event::GraceOpened) {
            assert!(before >= 0.35 && fitness < 0.35, "grace from {before} to {fitness}");
            let weighed = |event: &Event| matches!(event, Event::Mortality(mortality::Event::VitalityUpdated { .. }));
            let paid = |event: &Event| matches!(event, Event::Mortality(mortality::Event::Aged { .. }));
            assert!(events[..at].iter().any(paid) && events[at..].iter().any(weighed), "after money, before vitality");
            grace = Some(tick);
        }
        if place(mortality::Event::Senesced).is_some() {
            break tick;
        }
        assert!(tick < 60_000, "it never lost touch: {fitness}");
    };
    assert!(warned.is_some() && warned < grace, "{warned:?} {grace:?}");
    assert_eq!(Some(senescent), grace.map(|since| since + 500));
}

/// Fifty ticks in Terminal once killed: nearly every death for want of money came that way, with an eighth of what was free
/// still there, and a golem with money that had lost touch never died of it.
#[test]
fn terminal_prepares_and_does_not_kill() {
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_SKILL;
        c.reflex.pull = -3.0;
        c.epistemic.grace = 1_000_000;
    });
    rig.ticks(20_000);
    assert_eq!(rig.golem.life().phase(), Phase::Terminal);
    assert!(rig.golem.life().vitality().ticks_in_phase > 10_000 && !rig.golem.life().is_dead());
}

#[test]
fn who_is_senescent_for_as_long_as_the_grace_dies_of_it_with_money_and_in_any_phase() {
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_SKILL;
        c.reflex.pull = -3.0;
        c.vitality.epistemic_center = 0.0;
    });
    rig.ticks(20_000);
    let Cause::EpistemicSenescence { ticks_in_senescence, .. } = cause(&rig) else { panic!("{:?}", cause(&rig)) };
    assert_eq!(*ticks_in_senescence, rig.golem.life().constitution().grace());
    assert!(rig.golem.life().death().unwrap().vitality.phase > Phase::Terminal);
}

#[test]
fn want_of_money_kills_at_the_reserve_and_leaves_nothing_above_it() {
    let mut rig = Rig::with(|c| {
        c.clocks = Clocks { stochastic: false, epistemic: false, ..c.clocks };
        c.economic.machine_per_day = Usdc::dollars(20);
    });
    rig.ticks(100_000);
    let Cause::Economic { balance, .. } = cause(&rig) else { panic!("{:?}", cause(&rig)) };
    assert!(*balance <= golem::mortality::economic::reserve(rig.golem.life()), "{balance}");
}

#[test]
fn recovery_from_senescence_takes_more_than_it_took_to_fall() {
    // It expects things to return to their mean.
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_SKILL;
        // There is time to watch.
        c.epistemic.senescent = 1_000_000;
        c.vitality.epistemic_center = 0.0;
        c.reflex.pull = 0.9;
        c.epistemic.window = 200;
        c.epistemic.grace = 50;
    });
    let look = |rig: &mut Rig, level: f64| {
        let due = rig.golem.life().due();
        let mut bar = rig.bar(due);
        bar.values.iter_mut().for_each(|value| *value += level);
        rig.feed_at(due, crate::common::SAFE, golem::What::Observed(golem::world::Observation { bars: vec![bar] }))
            .unwrap();
        rig.golem.life().vitality().epistemic
    };
    // They do not: they drift away for good.
    for tick in 0..600 {
        look(&mut rig, f64::from(tick) * 2.0);
    }
    assert!(rig.golem.life().vitality().epistemic < 0.35);
    assert!(matches!(rig.golem.life().epistemic().senescence, Senescence::Senescent { .. }));
    assert!(
        first(&rig, &Event::Mortality(mortality::Event::Senesced))
            >= first(&rig, &Event::Mortality(mortality::Event::GraceOpened)) + 50,
        "not before the grace is over"
    );

    // Then they settle, and what it expects is right again; but between 0.35 and 0.45 nothing is recovered yet.
    let (mut between, mut fitness) = (0, 0.0);
    for _ in 0..20_000 {
        if rig.golem.life().epistemic().senescence == Senescence::Sound {
            break;
        }
        assert!(fitness <= 0.45, "recovered at {fitness} without being told");
        between += u32::from(fitness > 0.35);
        fitness = look(&mut rig, 1_200.0);
    }
    assert!(between > 3, "it stayed senescent for a while although it got better ({between})");
    assert!(fitness > 0.45 && rig.golem.life().epistemic().senescence == Senescence::Sound, "{fitness}");
}

fn first(rig: &Rig, event: &Event) -> u64 {
    let mut tick = 0;
    for event_seen in rig.records.iter().flat_map(|r| &r.events) {
        tick += u64::from(matches!(event_seen, Event::Mortality(mortality::Event::Aged { .. })));
        if event_seen == event {
            return tick;
        }
    }
    panic!("{event:?} never happened")
}

#[test]
fn echoing_the_naive_forecast_everywhere_is_not_knowing() {
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_SKILL;
        c.reflex.noise = 0.0;
        c.reflex.pull = 0.0;
        c.epistemic.window = 300;
    });
    rig.ticks(300);
    assert_eq!(rig.golem.life().vitality().epistemic, 0.5, "a window of patience");
    rig.ticks(400);
    assert!((rig.golem.life().vitality().epistemic - 0.40).abs() < 1e-9, "{}", rig.golem.life().vitality().epistemic);
}

#[test]
fn knowing_something_shows() {
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_SKILL;
        c.reflex.pull = 0.9;
        c.reflex.noise = 0.01;
    });
    rig.ticks(500);
    assert!(rig.golem.life().vitality().epistemic > 0.65, "{}", rig.golem.life().vitality().epistemic);
    assert_eq!(rig.golem.life().phase(), Phase::Thriving);
}

#[test]
fn r_squared_can_be_chosen_instead() {
    let fitness = |measure| {
        let mut rig = Rig::with(|c| {
            c.clocks = NO_CLOCK;
            c.epistemic.measure = measure;
            c.reflex.pull = 0.9;
        });
        rig.ticks(200);
        assert!(rig.golem.life().epistemic().domains[0].pairs.len() <= 100);
        rig.golem.life().vitality().epistemic
    };
    let (skill, r2) = (fitness(Measure::Skill), fitness(Measure::R2));
    assert!(skill > 0.6 && r2 < 0.1, "good against naive ({skill}), yet explains almost no variance ({r2})");
}

#[test]
fn a_fatal_roll_kills_the_healthiest() {
    let mut rig = Rig::with(|c| c.clocks = ONLY_CHANCE);
    rig.ticks(10);
    rig.tick_rolling(0);
    let Cause::Stochastic { hazard_rate, death_roll, tick_at_death, .. } = cause(&rig) else { panic!() };
    assert!(*hazard_rate > 0.0 && *death_roll == 0.0 && *tick_at_death == 11);
}

#[test]
fn a_clock_that_is_switched_off_never_kills() {
    for roll in [0, u64::MAX] {
        let mut rig = Rig::with(|c| {
            c.clocks = NO_CLOCK;
            c.economic.machine_per_day = Usdc::dollars(1_000);
            c.reflex.pull = -3.0;
            c.vitality.lifespan = Span::seconds(4_000);
        });
        for _ in 0..3_000 {
            rig.tick_rolling(roll);
        }
        assert!(!rig.golem.life().is_dead());
    }
    // Ancient, terminal by age alone, and rolling: chance may kill it, the two clocks that are off may not.
    let mut rig = Rig::with(|c| {
        c.clocks = ONLY_CHANCE;
        c.vitality.lifespan = Span::seconds(4_000);
    });
    rig.ticks(3_000);
    assert_eq!(rig.golem.life().phase(), Phase::Terminal);
    assert!(!rig.golem.life().is_dead());
}

#[test]
fn an_immortal_shows_its_decline_but_neither_weakens_nor_dies() {
    let mut rig = Rig::with(|c| {
        c.mode = Mode::Immortal;
        c.reflex.pull = -3.0;
        c.vitality.lifespan = Span::seconds(40_000);
    });
    for _ in 0..4_000 {
        rig.tick_rolling(0);
    }
    let life = rig.golem.life();
    assert!(life.vitality().composite < 0.1, "displayed: {}", life.vitality().composite);
    assert!(life.phase() >= Phase::Stable && !life.is_dead());
    // Its owner can still end it, and its testament says what it was.
    rig.command(Command::Retire { reason: "enough".into() });
    let outside = Outside { secret: String::new(), records: 0, journal: String::new() };
    let left = write(rig.golem.life(), &Grimoire::default(), &Review::default(), outside).unwrap();
    let off = ["mode immortal", "economic clock off", "epistemic clock off", "stochastic clock off"];
    assert_eq!(left.switches[..4], off);
}

#[test]
fn the_self_hosted_live_on_an_allowance_that_holds() {
    let mut rig = Rig::in_world(
        |c| {
            c.mode = Mode::SelfHosted;
            c.interval = Span::seconds(3_600);
            c.economic.monthly_allowance = Usdc::cents(50);
        },
        |world| world.data_per_day = Usdc::cents(10),
    );
    rig.ticks(24 * 4);
    assert_eq!(rig.golem.life().purse().spent, Usdc::cents(40), "data costs, the machine is paid for elsewhere");
    rig.ticks(24 * 20);
    assert_eq!(rig.golem.life().purse().spent, Usdc::cents(50), "the allowance holds");
    rig.ticks(24 * 30);
    assert_eq!(rig.golem.life().purse().spent, Usdc::cents(100), "and is renewed after thirty days");
    assert_eq!(rig.golem.life().vitality().economic, 1.0);
}

#[test]
fn paused_time_is_not_lived() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(10);
    let (age, now) = (rig.golem.life().age(), rig.golem.life().now());
    rig.command(Command::Pause);
    let later = now + Span::DAY.times(30);
    let bar = rig.bar(later);
    rig.feed_at(later, 0, golem::What::Observed(golem::world::Observation { bars: vec![bar] })).unwrap();
    rig.command(Command::Resume);
    assert_eq!((rig.golem.life().age(), rig.golem.life().tick()), (age, 10));
    assert!(!rig.golem.life().is_dead(), "not even a fatal roll counts");
    rig.tick();
    assert_eq!(rig.golem.life().age(), age + Span::seconds(40));
}

#[test]
fn a_host_that_was_away_does_not_age_its_golem_by_the_whole_absence() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(10);
    let age = rig.golem.life().age();
    let later = rig.golem.life().now() + Span::DAY.times(30);
    let bar = rig.bar(later);
    rig.feed_at(later, crate::common::SAFE, golem::What::Observed(golem::world::Observation { bars: vec![bar] }))
        .unwrap();
    assert_eq!(rig.golem.life().age(), age + Span::seconds(40).times(golem::mortality::LONGEST_STEP));
}

#[test]
fn sleep_is_not_immortality() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(10);
    crate::common::fall_asleep(&mut rig.golem, 10);
    assert_eq!(rig.golem.life().heartbeat().state, State::Dreaming);
    let (spent, claims) = (rig.golem.life().purse().spent, rig.golem.life().claims_made());
    rig.ticks(5);
    assert_eq!(rig.golem.life().tick(), 15);
    assert!(rig.golem.life().purse().spent > spent, "costs run");
    assert_eq!(rig.golem.life().claims_made(), claims, "no new claims");
    assert!(rig.golem.life().claims().is_empty(), "but old ones still resolve");
    rig.ticks(6);
    crate::common::dream_on(&mut rig.golem);
    assert_eq!(rig.golem.life().heartbeat().state, State::Sleeping, "and it wakes");
    crate::common::fall_asleep(&mut rig.golem, 10);
    rig.tick_rolling(0);
    assert!(matches!(cause(&rig), Cause::Stochastic { .. }), "one can die in a dream");
}

#[test]
fn owners_and_switches_kill_with_their_reasons() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(3);
    rig.command(Command::Retire { reason: "enough".into() });
    assert_eq!(cause(&rig), &Cause::OwnerKill { reason: "enough".into() });
    let again = rig.command(Command::Halt { trigger: "twice".into() });
    assert!(again.iter().any(|e| matches!(e, Event::Owner(owner::Event::Declined { .. }))), "one dies once");

    let mut rig = Rig::with(|_| {});
    rig.command(Command::Halt { trigger: "bardo halt".into() });
    assert_eq!(cause(&rig), &Cause::KillSwitch { trigger: "bardo halt".into() });
}

#[test]
fn a_deep_fall_trips_the_breaker() {
    let mut rig = Rig::with(|c| {
        c.reflex.act_every = 1;
        c.policy.per_action_bps = 10_000;
    });
    rig.ticks(2);
    rig.settle();
    assert!(rig.golem.life().capital().holding > 0);
    let due = rig.golem.life().due();
    let mut bar = rig.bar(due);
    bar.unit = Usdc::dollars(8);
    rig.feed_at(due, crate::common::SAFE, golem::What::Observed(golem::world::Observation { bars: vec![bar] }))
        .unwrap();
    let Cause::KillSwitch { trigger } = cause(&rig) else { panic!("{:?}", cause(&rig)) };
    assert!(trigger.starts_with("drawdown breaker: 18."), "{trigger}");
}

/// The peak was lifted by the newest bar before the older ones of the same observation were held against it.
#[test]
fn a_rise_does_not_trip_the_breaker() {
    let mut rig = Rig::with(|c| {
        c.reflex.act_every = 1;
        c.policy.per_action_bps = 10_000;
    });
    rig.ticks(2);
    rig.settle();
    let due = rig.golem.life().due();
    let bars: Vec<_> = (1..=4)
        .map(|n| {
            let mut bar = rig.bar(due + Span::seconds(40 * n));
            bar.unit = Usdc::dollars(10 + 3 * n as i64);
            bar
        })
        .collect();
    let now = bars[3].closed;
    rig.feed_at(now, crate::common::SAFE, golem::What::Observed(golem::world::Observation { bars })).unwrap();
    assert!(!rig.golem.life().is_dead());
}

#[test]
fn a_life_begins_at_its_start_and_everything_is_on_record() {
    let mut rig = Rig::with(|c| c.reflex.act_every = 7);
    for _ in 0..500 {
        rig.tick();
        rig.settle();
    }
    assert_eq!(rig.golem.life().born(), START);
    assert_eq!(rig.folded(), rig.golem);
    assert!(rig.golem.life().capital().fees > Usdc::ZERO, "it acted");
}

#[test]
fn age_takes_three_tenths_of_vitality_in_a_lifespan_and_six_in_two() {
    let rig = Rig::with(|c| c.clocks = ONLY_CHANCE);
    let figures = &rig.golem.life().constitution().vitality;
    let usual = (figures.economic_center, figures.economic_steepness, figures.epistemic_center);
    assert_eq!((usual, figures.epistemic_steepness, figures.age_drag), ((0.3, 10.0, 0.4), 8.0, 0.3));
    assert_eq!(figures.lifespan, Span::seconds(40).times(200_000));
    for (lifespans, left) in [(0, 1.0), (1, 0.7), (2, 0.4), (4, 0.0)] {
        let old = changed(rig.golem.life(), |life| life["age"] = json!(figures.lifespan.times(lifespans)));
        let age = Parts::of(&old, 1.0).age;
        assert!((age - left).abs() < 1e-9, "{age} is left after {lifespans} lifespans");
    }
}

#[test]
fn a_tick_pays_is_weighed_and_rolls_before_it_kills() {
    let mut rig = Rig::with(|c| c.clocks = ONLY_CHANCE);
    rig.ticks(20);
    rig.tick_rolling(0);
    let step = |event: &Event| match event {
        Event::Mortality(mortality::Event::Aged { .. }) => Some("paid"),
        Event::Mortality(mortality::Event::VitalityUpdated { .. }) => Some("weighed"),
        Event::Mortality(mortality::Event::PhaseChanged { .. }) => Some("moved"),
        Event::Mortality(mortality::Event::Rolled { .. }) => Some("rolled"),
        Event::Mortality(mortality::Event::Died(_)) => Some("died"),
        _ => None,
    };
    let steps = |record: &golem::Record| record.events.iter().filter_map(step).collect::<Vec<_>>();
    let ticks: Vec<Vec<&str>> = rig.records.iter().map(steps).filter(|steps| !steps.is_empty()).collect();
    // With nothing but age against it, it thrives from its first tick on.
    assert_eq!(ticks[0], ["paid", "weighed", "moved", "rolled"]);
    let (last, others) = ticks[1..].split_last().unwrap();
    assert_eq!(*last, ["paid", "weighed", "rolled", "died"]);
    assert!(others.len() == 19 && others.iter().all(|steps| *steps == last[..3]), "{others:?}");
}

#[test]
fn what_would_kill_in_three_ways_kills_by_chance_then_by_hunger_then_by_lost_touch() {
    let mut lived = Rig::with(|_| {});
    lived.ticks(600);
    assert!(!lived.golem.life().is_dead());
    for (roll, dear, expected) in
        [(0, true, "stochastic"), (SAFE, true, "economic"), (SAFE, false, "epistemic_senescence")]
    {
        let doomed = changed(lived.golem.life(), |life| {
            life["epistemic"]["senescence"] = json!(Senescence::Senescent { since: 1 });
            let figures = &mut life["birth"]["constitution"];
            // Nothing is a recovery.
            figures["epistemic"]["recovery"] = json!(2.0);
            if dear {
                figures["economic"]["machine_per_day"] = json!(Usdc::dollars(1_000_000));
            }
        });
        let mut rig = Rig::with(|_| {});
        rig.golem = Golem::resume(doomed, lived.golem.seq()).unwrap();
        rig.tick_rolling(roll);
        assert_eq!(cause(&rig).name(), expected);
    }
}

#[test]
fn each_cause_has_the_documents_fields_of_evidence() {
    let dead = |change: &dyn Fn(&mut Constitution), end: &dyn Fn(&mut Rig)| {
        let mut rig = Rig::with(change);
        end(&mut rig);
        let told = serde_json::to_value(cause(&rig)).unwrap();
        let (name, fields) = told.as_object().unwrap().iter().next().unwrap();
        (name.clone(), fields.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>())
    };
    let check = |(name, fields): (String, BTreeSet<String>), expected: &[&str]| {
        let expected: BTreeSet<String> = expected.iter().map(|field| (*field).to_owned()).collect();
        assert_eq!(fields, expected, "{name}");
    };
    let hungry = |c: &mut Constitution| {
        (c.clocks, c.economic.machine_per_day) = (ONLY_MONEY, Usdc::dollars(1_000));
    };
    let wrong = |c: &mut Constitution| (c.clocks, c.reflex.pull) = (ONLY_SKILL, -3.0);
    let live = |rig: &mut Rig| rig.ticks(20_000);
    check(dead(&hungry, &live), &["balance", "burn_rate", "ticks_alive"]);
    let touch =
        ["final_fitness", "fitness_at_peak", "ticks_in_senescence", "failing_domains", "last_successful_prediction"];
    check(dead(&wrong, &live), &touch);
    let chance =
        ["hazard_rate", "death_roll", "tick_at_death", "epistemic_fitness", "credit_balance", "was_in_senescence"];
    check(dead(&|_| {}, &|rig| drop(rig.tick_rolling(0))), &chance);
    let retire = |rig: &mut Rig| drop(rig.command(Command::Retire { reason: "enough".into() }));
    check(dead(&|_| {}, &retire), &["reason"]);
    check(dead(&|_| {}, &|rig| drop(rig.command(Command::Halt { trigger: "x".into() }))), &["trigger"]);
}

/// Programs written against the document find its messages with its fields; the tick stands in the envelope.
#[test]
fn the_six_messages_of_mortality_have_the_documents_fields() {
    let mut rig = Rig::with(|c| {
        c.reflex.pull = -3.0;
        c.economic.machine_per_day = Usdc::dollars(30);
    });
    rig.ticks(20_000);
    let mut told = BTreeMap::<String, BTreeSet<String>>::new();
    let mut again = Golem::reborn(&rig.records[0]).unwrap();
    let mut tell = |event: &Event, life: &Life| {
        if let Some(message) = golem::wire::message(event, life) {
            let said = serde_json::to_value(message).unwrap();
            let fields = said.as_object().unwrap().keys().cloned();
            told.insert(said["event"].as_str().unwrap().to_owned(), fields.collect());
        }
    };
    for record in &rig.records[1..] {
        again.fold_with(record, &mut tell).unwrap();
    }
    for (name, fields) in [
        ("vitality_update", &["economic", "epistemic", "stochastic", "composite", "phase"][..]),
        ("phase_transition", &["from_phase", "to_phase", "composite", "trigger_clock"]),
        ("economic_critical", &["remaining", "burn_rate", "projected_ticks"]),
        ("epistemic_warning", &["fitness", "senescence_threshold", "ticks_in_decline"]),
        ("stochastic_roll", &["hazard_rate", "roll", "survived"]),
        ("dead", &["cause", "final_vitality", "ticks_alive"]),
    ] {
        let fields: BTreeSet<String> = fields.iter().chain(&["event"]).map(|field| (*field).to_owned()).collect();
        assert_eq!(told.get(&format!("mortality.{name}")), Some(&fields), "{name}");
    }
}

#[test]
fn losing_much_of_what_was_known_is_felt_in_fitness() {
    let rig = Rig::with(|_| {});
    let fitness = |archived: u32, alive: u32| {
        mortality::epistemic::fitness(&changed(rig.golem.life(), |life| {
            (life["knowing"]["archived"], life["knowing"]["alive"]) = (json!([archived]), json!(alive));
        }))
    };
    let usual = fitness(0, 10);
    assert_eq!(fitness(2, 8), usual, "a fifth is not yet much");
    assert!((fitness(3, 7) - 0.95 * usual).abs() < 1e-12);
}
