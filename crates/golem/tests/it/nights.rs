//! Nights, figure by figure: what sets their length, their price and how soon they come, what replay goes into first,
//! what keeps one from beginning, what is left of one by a death, and what an heir dreams of before anything else.

use crate::common::{Rig, changed, fall_asleep, keep_in};
use crate::dream::{Sleeper, experience, whole_night};
use golem::constitution::{Constitution, DreamFigures, DreamSchedule, DreamTier, Mode, Window};
use golem::dream::{self, Blocked, CALMED, Experience, Memory, Origin, SleepStage, Trigger, schedule};
use golem::event::Event;
use golem::grimoire::Grimoire;
use golem::mortality::{self, economic, phase::Phase};
use golem::stress::{Kind, Stressor};
use golem::thanatopsis::{Outside, Review, SECTIONS, write};
use golem::{Command, Golem, Life, Record, Span, Time, Usdc};
use serde_json::{Value, json};

/// Whole nights, and none of them by itself.
fn whole(constitution: &mut Constitution) {
    (constitution.dream.tier, constitution.dream.schedule) = (DreamTier::Hardened, DreamSchedule::Owner);
}

/// Hours of sleep all day long but for a minute.
fn hours() -> Vec<Window> {
    vec![Window { start: 0, end: 1_439, zone: "UTC".into(), ahead: vec![(Time::default(), 0)] }]
}

fn in_phase(life: &Life, phase: Phase, change: impl FnOnce(&mut Value)) -> Life {
    changed(life, |life| {
        // Not at the tick at which it came there: entering the last phase calls for a night of its own.
        (life["vitality"]["phase"], life["vitality"]["ticks_in_phase"]) = (json!(phase), json!(1));
        change(life);
    })
}

#[test]
fn the_better_it_is_the_longer_and_dearer_its_nights_may_be() {
    let life = Sleeper::new(|constitution| {
        whole(constitution);
        constitution.dream.per_cycle_most = Usdc::dollars(5);
    });
    let given = Phase::ALL.map(|phase| dream::length(&in_phase(life.life(), phase, |_| {})));
    let expected = [(0, 0), (10, 10), (20, 20), (40, 50), (60, 100)].map(|(ticks, cents)| (ticks, Usdc::cents(cents)));
    assert_eq!(given, expected);
}

#[test]
fn light_nights_come_more_rarely_in_worse_phases_and_not_at_all_in_the_last() {
    let sleeper = Sleeper::new(|constitution| {
        (constitution.dream.tier, constitution.dream.schedule) = (DreamTier::Core, DreamSchedule::Autonomous);
    });
    let after = |phase: Phase, ticks: u64| {
        schedule::trigger(&in_phase(sleeper.life(), phase, |life| {
            (life["tick"], life["dreams"]["last"]) = (json!(10_000), json!(10_000 - ticks));
        }))
    };
    for (phase, every) in
        [(Phase::Thriving, 50), (Phase::Stable, 50), (Phase::Conservation, 66), (Phase::Declining, 100)]
    {
        assert_eq!(after(phase, every), Some(Trigger::Interval), "{phase}");
        assert_eq!(after(phase, every - 1), None, "{phase}");
    }
    assert_eq!(after(Phase::Terminal, 10_000), None);
}

/// A scheduler that is asked now and then would let one begin late.
#[test]
fn a_light_night_begins_at_the_very_tick_it_is_due() {
    let mut sleeper = Sleeper::new(|constitution| {
        (constitution.dream.tier, constitution.dream.schedule) = (DreamTier::Core, DreamSchedule::Autonomous);
    });
    sleeper.ticks(2_100);
    let mut begun = 0;
    for _ in 0..400 {
        let before = sleeper.life().dreams().clone();
        sleeper.ticks(1);
        if sleeper.life().dreams().nights > before.nights {
            assert!(sleeper.life().phase() >= Phase::Stable, "{}", sleeper.life().phase());
            assert_eq!(sleeper.life().tick() - before.last, 50);
            begun += 1;
        }
    }
    assert!(begun >= 7, "{begun}");
}

#[test]
fn hours_urgency_or_both_send_it_to_sleep_by_the_mode_of_its_schedule() {
    let sleeper = Sleeper::new(|constitution| {
        whole(constitution);
        constitution.dream.windows = hours();
    });
    let trigger = |schedule: DreamSchedule, in_hours: bool, urgent: bool| {
        schedule::trigger(&changed(sleeper.life(), |life| {
            life["birth"]["constitution"]["dream"]["schedule"] = json!(schedule);
            if !in_hours {
                life["birth"]["constitution"]["dream"]["windows"] = json!([]);
            }
            if urgent {
                (life["tick"], life["episodes"]["made"]) = (json!(100_000), json!(10_000));
            }
        }))
    };
    use DreamSchedule::*;
    for (schedule, in_hours, urgent, expected) in [
        (Owner, true, false, Some(Trigger::Window)),
        (Owner, false, true, None),
        (Autonomous, true, false, None),
        (Autonomous, true, true, Some(Trigger::Urgency)),
        (Hybrid, true, false, Some(Trigger::Window)),
        (Hybrid, false, true, Some(Trigger::Urgency)),
        (Hybrid, false, false, None),
    ] {
        assert_eq!(trigger(schedule, in_hours, urgent), expected, "{schedule:?}, {in_hours}, {urgent}");
    }
}

#[test]
fn surprise_and_load_are_parts_of_urgency_and_want_of_money_makes_it_half_as_much_again() {
    let life = changed(Sleeper::new(|_| {}).life(), |life| life["vitality"]["epistemic"] = json!(0.5));
    let surprised = changed(&life, |life| life["episodes"]["surprise"]["mean"] = json!(1.5));
    assert_eq!(schedule::parts(&surprised)[0], 0.5, "half as much again as usual");
    let (kind, since, held) = (Kind::Futility, Span::ZERO, Span::ZERO);
    let active = vec![Stressor { kind, domain: None, onset: 0.4, since, held, presses: true, served: 0 }];
    let pressed = changed(&life, |life| life["stress"]["active"] = json!(active));
    assert_eq!(schedule::parts(&pressed)[6], 0.4);
    let burning = |burn: f64| changed(&life, |life| life["purse"]["burn_a_day"] = json!(burn));
    let hour = Span::seconds(3_600).as_millis() as f64;
    let left = economic::projected_life(&burning(24.0)).unwrap().as_millis() as f64 / hour;
    for (hours, more) in [(72.0, 0.0), (36.0, 0.25), (7.2, 0.45)] {
        let short = burning(24.0 * left / hours);
        assert!((schedule::intensity(&short) - 1.0 - more).abs() < 1e-6, "{hours} hours left");
        assert!((dream::urgency(&short) / dream::urgency(&burning(0.0)) - 1.0 - more).abs() < 1e-6);
    }
}

#[test]
fn nights_of_one_stretch_of_hours_cost_no_more_together_than_their_session() {
    let most = Usdc::micros(5_000);
    let mut sleeper = Sleeper::new(|constitution| {
        whole(constitution);
        (constitution.dream.windows, constitution.dream.per_session_most) = (hours(), most);
    });
    let mut dearest = Usdc::ZERO;
    for _ in 0..2 * 2_160 {
        sleeper.ticks(1);
        dearest = dearest.max(sleeper.life().dreams().session);
    }
    assert_eq!(dearest, most, "two nights and half of a third");
}

#[test]
fn each_phase_of_a_night_has_its_share_of_the_time_and_of_the_price() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(2_100);
    sleeper.events.clear();
    sleeper.command(1, Command::Dream);
    let night = sleeper.life().dreams().night.clone().unwrap();
    assert_eq!((sleeper.life().phase(), night.ticks), (Phase::Thriving, 60));
    sleeper.ticks(60);
    let (mut slept, mut passed) = (0_u64, Vec::new());
    for event in &sleeper.events {
        match event {
            Event::Dream(dream::Event::Slept) => slept += 1,
            Event::Dream(dream::Event::Passed { phase, cost }) => passed.push((*phase, slept, cost.as_micros())),
            _ => {}
        }
    }
    // A tenth, 34, 30, 21 and five hundredths of sixty ticks, and of the price of the rules.
    let ends: [(u64, i64); 5] = [(6, 200), (27, 680), (45, 600), (57, 420), (60, 100)];
    let expected: Vec<_> = SleepStage::ALL.into_iter().zip(ends).map(|(phase, (at, cost))| (phase, at, cost)).collect();
    assert_eq!(passed, expected);
}

/// Ticks from one night to the next of a life that stays in this phase, over so many looks.
fn ticks_apart(phase: Phase, looks: u64) -> Vec<u64> {
    let mut sleeper = Sleeper::new(|constitution| {
        keep_in(constitution, phase);
        (constitution.dream.tier, constitution.dream.schedule) = (DreamTier::Core, DreamSchedule::Autonomous);
    });
    sleeper.ticks(looks);
    assert_eq!(sleeper.life().phase(), phase);
    let (mut tick, mut begun) = (0, Vec::new());
    for event in &sleeper.events {
        match event {
            Event::Mortality(mortality::Event::Aged { .. }) => tick += 1,
            Event::Dream(dream::Event::Began { .. }) => begun.push(tick),
            _ => {}
        }
    }
    begun.windows(2).map(|two| two[1] - two[0]).collect()
}

#[test]
fn a_life_sleeps_as_often_as_its_phase_lets_it() {
    // From the end of one night to the beginning of the next it is fifty ticks, and a night lasts one at most.
    let usual = ticks_apart(Phase::Thriving, 1_400);
    let every = usual[0];
    assert!((50..=52).contains(&every) && usual.iter().all(|ticks| *ticks == every), "{usual:?}");
    // The first comes once there are episodes enough, of which there is one every twenty ticks; in conservation every
    // second look is a tick.
    for (phase, looks, longer) in
        [(Phase::Stable, 2_400, 0), (Phase::Conservation, 6_800, 16), (Phase::Declining, 4_500, 50)]
    {
        let apart = ticks_apart(phase, looks);
        assert!(apart.len() > 1 && apart.iter().all(|ticks| *ticks == every + longer), "{phase}: {apart:?}");
    }
    assert!(ticks_apart(Phase::Terminal, 1_400).is_empty(), "one night at most");
}

#[test]
fn dreams_that_proved_right_bring_the_next_one_forward_by_a_fifth_and_wrong_ones_put_it_off() {
    let sleeper = Sleeper::new(|_| {});
    let urgency = |promoted: u64, refuted: u64| {
        dream::urgency(&changed(sleeper.life(), |life| {
            (life["dreams"]["promoted"], life["dreams"]["refuted"]) = (json!(promoted), json!(refuted));
        }))
    };
    let usual = urgency(0, 0);
    for (promoted, refuted, times) in [(1_000_000, 0, 1.2), (0, 1_000_000, 0.8), (500, 500, 1.0)] {
        assert!((urgency(promoted, refuted) / usual - times).abs() < 1e-3, "{promoted} right, {refuted} wrong");
    }
}

#[test]
fn no_night_begins_with_less_than_fifteen_hundredths_left_to_think_with() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(2_100);
    let allowed = |share: i64| {
        let free = golem::mortality::economic::free(sleeper.life());
        let life = changed(sleeper.life(), |life| {
            life["birth"]["constitution"]["mode"] = json!(Mode::SelfHosted);
            life["birth"]["constitution"]["economic"]["monthly_allowance"] = json!(free.share(share, 100));
            life["purse"]["spent_this_month"] = json!(Usdc::ZERO);
        });
        dream::blocked(&life)
    };
    assert_eq!((allowed(14), allowed(16)), (Some(Blocked::Budget), None));
}

#[test]
fn no_night_begins_while_an_order_is_on_its_way() {
    let mut rig = Rig::with(|constitution| (constitution.dream.enabled, constitution.reflex.act_every) = (true, 3));
    for _ in 0..1_000 {
        rig.settle();
        rig.tick();
        if !rig.golem.life().flights().is_empty() {
            break;
        }
    }
    let lived = |life: &Life| changed(life, |life| life["episodes"]["made"] = json!(1_000));
    assert_eq!(dream::blocked(&lived(rig.golem.life())), Some(Blocked::Busy));
    rig.settle();
    assert_eq!(dream::blocked(&lived(rig.golem.life())), None);
}

#[test]
fn what_the_fiber_marked_is_gone_through_before_what_is_as_good() {
    let life = Sleeper::new(whole).life().clone();
    let mut memory = Memory::default();
    (1..=10).for_each(|number| memory.keep(experience(number, [0.0, 0.0, 0.0].into_iter().collect(), 1.0)));
    let first = |life: &Life| memory.select(life, 1)[0].number;
    assert_eq!(first(&life), 10, "the newest of equals");
    assert_eq!(first(&changed(&life, |life| life["knowing"]["fiber"]["strange"] = json!([1]))), 1);
}

/// Likeness and recency are one here, so need is the regime's alone.
#[test]
fn only_what_is_worth_a_tenth_is_gone_through_closely_and_what_was_marked_is_worth_twice_as_much() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(20);
    let life = changed(sleeper.life(), |life| {
        (life["vitality"]["epistemic"], life["knowing"]["moves"]["last"]) = (json!(0.6), json!([0.0, 0.0, 0.0]));
        life["knowing"]["fiber"]["strange"] = json!([9, 10]);
    });
    let (here, elsewhere) = (life.regimes().now as u8, (life.regimes().now as u8 + 1) % 3);
    let mut memory = Memory::default();
    for (number, (surprise, change, regret, regime, replays)) in (1..).zip([
        (0.26, 0.0, 0.0, here, 0),
        (0.24, 0.0, 0.0, here, 0),
        (0.0, 0.018, 0.0, here, 0),
        (0.0, 0.016, 0.0, here, 0),
        (0.0, 0.0, 0.018, here, 0),
        (0.0, 0.0, 0.016, here, 0),
        (0.26, 0.0, 0.0, elsewhere, 0),
        (0.33, 0.0, 0.0, elsewhere, 0),
        (0.13, 0.0, 0.0, here, 0),
        (0.12, 0.0, 0.0, here, 0),
        (0.30, 0.0, 0.0, here, 1),
        (0.30, 0.0, 0.0, here, 2),
    ]) {
        let e = experience(number, [0.0, 0.0, 0.0].into_iter().collect(), 1.0);
        memory.keep(Experience { tick: life.tick(), surprise, change, regret, regime, replays, ..e });
    }
    let mut golem = Golem::resume(life, sleeper.golem.seq()).unwrap();
    fall_asleep(&mut golem, 0);
    let (_, found) = whole_night(&golem, &memory);
    let closely: std::collections::BTreeSet<u64> = found.batch.into_iter().collect();
    assert_eq!(closely.into_iter().collect::<Vec<_>>(), [1, 3, 5, 8, 9, 11]);
}

#[test]
fn what_was_gone_through_four_times_and_is_worth_little_is_let_go_and_chosen_no_more() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(20);
    // It understands little, so surprise alone decides what is gone through.
    let life = changed(sleeper.life(), |life| {
        (life["vitality"]["epistemic"], life["knowing"]["moves"]["last"]) = (json!(0.4), json!([0.0, 0.0, 0.0]));
    });
    let mut memory = Memory::default();
    for (number, (surprise, replays)) in (1..).zip([(0.2, 3), (0.2, 2), (0.9, 3)]) {
        let e = experience(number, [0.0, 0.0, 0.0].into_iter().collect(), 1.0);
        memory.keep(Experience { tick: life.tick(), surprise, replays, ..e });
    }
    let mut golem = Golem::resume(life, sleeper.golem.seq()).unwrap();
    fall_asleep(&mut golem, 0);
    let (_, found) = whole_night(&golem, &memory);
    assert_eq!((found.replay.forgotten, found.replay.preserved, found.replay.abstracted), (vec![1], 2, 0));
    let mut after = Memory::default();
    for e in memory.whole() {
        after.keep(Experience { forgotten: e.number == 1, ..e.clone() });
    }
    assert_eq!(after.select(golem.life(), 10).iter().map(|e| e.number).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn the_five_most_stirring_memories_are_calmed_in_a_night() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(20);
    let mut memory = Memory::default();
    for number in 1..=10 {
        let e = experience(number, [0.0, 0.0, 0.0].into_iter().collect(), 1.0);
        memory.keep(Experience { arousal: 0.1 * number as f32, ..e });
    }
    fall_asleep(&mut sleeper.golem, 0);
    assert_eq!(whole_night(&sleeper.golem, &memory).1.imagined.calmed, [10, 9, 8, 7, 6]);
}

/// Nights enough to bring a memory to nothing were put on record by hand; none is chosen once it stirs no more.
#[test]
fn a_night_makes_stirring_memories_less_so() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(20);
    fall_asleep(&mut sleeper.golem, 0);
    for (arousal, nights) in [(1.0_f32, 2), (0.81, 2), (0.5, 1), (0.49, 0)] {
        let mut memory = Memory::default();
        memory.keep(Experience { arousal, ..experience(1, [0.0, 0.0, 0.0].into_iter().collect(), 1.0) });
        let mut needed = 0_u8;
        loop {
            let (_, found) = whole_night(&sleeper.golem, &memory);
            if found.imagined.calmed.is_empty() {
                break;
            }
            let events = vec![Event::Dream(dream::Event::Dreamt(Box::new(found)))];
            memory.hear(&Record { seq: 1, at: sleeper.life().now(), events }, sleeper.life());
            needed += 1;
        }
        let left = memory.whole().next().unwrap();
        assert_eq!((needed, left.actual[0]), (nights, 1.0), "{arousal}");
        assert!((arousal - left.arousal - CALMED * f32::from(nights)).abs() < 1e-6, "{arousal}: {}", left.arousal);
    }
    assert_eq!(CALMED, 0.3);
}

#[test]
fn a_trial_gains_a_tenth_for_each_case_loses_half_of_that_and_is_lost_at_a_tenth() {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.schedule = DreamSchedule::Owner);
    sleeper.ticks(2_100);
    sleeper.command(1, Command::Dream);
    sleeper.ticks(1);
    assert!(!sleeper.life().dreams().staged.is_empty());
    let begun = sleeper.golem.clone();
    let again = |field: &str, value: f64| {
        let life =
            changed(begun.life(), |life| *life["dreams"]["staged"][0].pointer_mut(field).unwrap() = json!(value));
        Golem::resume(life, begun.seq()).unwrap()
    };
    for (confidence, refuted) in [(0.1, 1), (0.16, 0)] {
        // No claim was made since it fell asleep, so nothing can speak for it or against it yet.
        sleeper.golem = again("/confidence", confidence);
        sleeper.ticks(1);
        assert_eq!(sleeper.life().dreams().refuted, refuted, "{confidence}");
    }
    sleeper.golem = again("/heuristic/effect", 0.05);
    let (mut confirmed, mut contradicted) = (0, 0);
    for tick in 0..60 {
        // For a while it is kept from learning better.
        if tick < 30 && !sleeper.life().dreams().staged.is_empty() {
            let wrong =
                changed(sleeper.life(), |life| life["dreams"]["staged"][0]["heuristic"]["effect"] = json!(0.05));
            sleeper.golem = Golem::resume(wrong, sleeper.golem.seq()).unwrap();
        }
        sleeper.ticks(1);
        // Beyond that many it may be as sure as can be.
        for one in sleeper.life().dreams().staged.iter().filter(|one| one.confirmed <= 7) {
            let begins = one.origin.confidence(&DreamFigures::default());
            let by_now = begins + 0.1 * f64::from(one.confirmed) - 0.05 * f64::from(one.contradicted);
            assert!((one.confidence - by_now).abs() < 1e-9, "{one:?}");
            (confirmed, contradicted) = (one.confirmed.max(confirmed), one.contradicted.max(contradicted));
        }
    }
    assert!(confirmed > 0 && contradicted > 0, "{confirmed} for and {contradicted} against");
}

#[test]
fn a_death_in_a_night_leaves_what_was_done_on_record() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(2_100);
    sleeper.command(1, Command::Dream);
    while sleeper.life().dreams().night.as_ref().unwrap().phase < SleepStage::Rem {
        sleeper.ticks(1);
    }
    sleeper.command(2, Command::Retire { reason: String::new() });
    assert!(sleeper.life().is_dead() && sleeper.life().dreams().night.is_none());
    let done = sleeper.events.iter().filter_map(|event| match event {
        Event::Dream(dream::Event::Dreamt(found)) => Some((found.phase, found.batch.is_empty())),
        _ => None,
    });
    let expected = [(SleepStage::Onset, true), (SleepStage::Nrem, false), (SleepStage::Rem, true)];
    assert_eq!(done.collect::<Vec<_>>(), expected, "and what replay went through");
    assert!(sleeper.life().dreams().staged.is_empty(), "nothing was put to the test");
}

/// A life that comes to its last phase with so much above what is kept for dying.
fn ends_with(left: Usdc) -> Sleeper {
    let mut sleeper = Sleeper::new(|constitution| {
        constitution.dream.schedule = DreamSchedule::Owner;
        constitution.economic.machine_per_day = Usdc::cents(50);
    });
    sleeper.ticks(2_100);
    let credit = economic::reserve(sleeper.life()) + left;
    let purse = sleeper.life().purse().clone();
    let poor = changed(sleeper.life(), |life| {
        life["purse"]["credit"] = json!(credit);
        life["purse"]["spent"] = json!(purse.spent + (purse.credit - credit));
    });
    sleeper.golem = Golem::resume(poor, sleeper.golem.seq()).unwrap();
    sleeper.events.clear();
    sleeper.ticks(2);
    assert_eq!(sleeper.life().phase(), Phase::Terminal);
    sleeper
}

#[test]
fn what_the_last_night_puts_on_trial_stands_in_the_testament_and_legacy_is_all_it_may_cost() {
    let mut sleeper = ends_with(Usdc::cents(70));
    let staged = sleeper.life().dreams().staged.clone();
    assert!(!staged.is_empty(), "{:?}", sleeper.life().dreams());
    sleeper.command(9, Command::Halt { trigger: "over".into() });
    let outside = Outside { secret: String::new(), records: 0, journal: String::new() };
    let testament = write(sleeper.life(), &Grimoire::default(), &Review::default(), outside).unwrap();
    assert_eq!(testament.unfinished_dreams, staged);
    let at = SECTIONS.iter().position(|title| *title == "what I suspect but cannot prove").unwrap();
    assert!(!testament.sections[at].lines.is_empty());
    // A tick of its machine costs 231 micro-USDC, and half of the rest is for the heirs.
    let sleeper = ends_with(Usdc::micros(3_000));
    let began = sleeper.events.iter().find_map(|event| match event {
        Event::Dream(dream::Event::Began { trigger: Trigger::Emergency, budget, .. }) => Some(budget.as_micros()),
        _ => None,
    });
    assert!(began.is_some_and(|budget| (1_300..1_450).contains(&budget)), "{began:?}");
    assert!(sleeper.life().dreams().staged.is_empty(), "with so little left it only looks at what it knows");
}

#[test]
fn what_came_is_traced_back_to_what_stood_out_before_it() {
    let mut sleeper = Sleeper::new(whole);
    sleeper.ticks(20);
    let mut memory = Memory::default();
    for number in 1..=60 {
        // The first sign moves with what comes; the others say nothing.
        let sign = if number % 3 == 0 { 1.0 } else { -0.5 };
        let state = [sign, 0.0, 0.0].into_iter().collect();
        memory.keep(Experience { change: 0.1 * sign, ..experience(number, state, 1.0) });
    }
    fall_asleep(&mut sleeper.golem, 0);
    let (_, found) = whole_night(&sleeper.golem, &memory);
    assert_eq!(found.replay.precursors, [0], "{:?}", found.replay);
}

#[test]
fn rules_in_use_are_put_together_into_others() {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.schedule = DreamSchedule::Owner);
    sleeper.ticks(2_100);
    sleeper.command(1, Command::Dream);
    sleeper.ticks(1 + 1_500);
    assert!(sleeper.life().playbook().iter().any(|rule| !rule.condition.0.is_empty()), "there is one to begin with");
    fall_asleep(&mut sleeper.golem, 0);
    let (_, found) = whole_night(&sleeper.golem, &sleeper.memory);
    assert!(found.imagined.recombined > 0, "{:?}", found.imagined);
}

/// Ideas that its predecessor did not live to see tested stand in its birth record.
#[test]
fn an_heir_tries_what_its_predecessor_left_unfinished() {
    let mut sleeper = Sleeper::new(whole);
    let left = ["when omen < -0.239 expect level over 1"];
    let heir = changed(sleeper.life(), |life| life["birth"]["unfinished"] = json!(left));
    sleeper.golem = Golem::resume(heir, sleeper.golem.seq()).unwrap();
    sleeper.ticks(2_100);
    fall_asleep(&mut sleeper.golem, 0);
    let (golem, _) = whole_night(&sleeper.golem, &sleeper.memory);
    let staged = &golem.life().dreams().staged;
    assert!(staged.iter().any(|one| one.origin == Origin::Inherited && one.confidence == 0.15), "{staged:?}");
}
