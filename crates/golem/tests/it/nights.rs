//! Nights, figure by figure: what sets their length, their price and how soon they come, what replay goes into first,
//! and what an heir dreams of before anything else.

use crate::common::{changed, fall_asleep, keep_in};
use crate::dream::{Sleeper, experience, whole_night};
use golem::constitution::{Constitution, DreamSchedule, DreamTier, Mode};
use golem::dream::{self, Blocked, Experience, Memory, Origin, Trigger, schedule};
use golem::event::Event;
use golem::mortality::{self, phase::Phase};
use golem::{Command, Golem, Life, Usdc};
use serde_json::{Value, json};

/// Whole nights, and none of them by itself.
fn whole(constitution: &mut Constitution) {
    (constitution.dream.tier, constitution.dream.schedule) = (DreamTier::Hardened, DreamSchedule::Owner);
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
fn what_the_fiber_marked_is_gone_through_before_what_is_as_good() {
    let life = Sleeper::new(whole).life().clone();
    let mut memory = Memory::default();
    (1..=10).for_each(|number| memory.keep(experience(number, [0.0, 0.0, 0.0].into_iter().collect(), 1.0)));
    let first = |life: &Life| memory.select(life, 1)[0].number;
    assert_eq!(first(&life), 10, "the newest of equals");
    assert_eq!(first(&changed(&life, |life| life["knowing"]["fiber"]["strange"] = json!([1]))), 1);
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
