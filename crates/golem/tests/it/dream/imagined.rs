//! Nights imagine: omens that must have held elsewhere, choices at other moments, and what may go wrong in a world,
//! played on a copy.

use super::{Experience, Sleeper, experience, whole_night};
use crate::common::{Dice, Rig, START, changed, fall_asleep};
use golem::constitution::{DreamSchedule, DreamTier};
use golem::dream::{
    Drill, Found, Idea, Memory, Met, Origin, Peril, Rehearsed, Reply, SleepStage, Threat, ThreatKind, work,
};
use golem::grimoire::{Decision, Entry, Grimoire, Kind, entry_of, round};
use golem::policy::Refusal;
use golem::rule::{Comparison, Condition, Is};
use golem::thanatopsis::{Outside, Review, SECTIONS, write};
use golem::world::{Effect, Timing};
use golem::{Command, Golem, Life, Usdc};
use serde_json::json;

/// A golem in a whole night, under laws of a number.
fn asleep(laws: u16) -> Golem {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.tier = DreamTier::Hardened);
    sleeper.ticks(1);
    let life = changed(sleeper.life(), |life| life["birth"]["laws"] = json!(laws));
    let mut golem = Golem::resume(life, sleeper.golem.seq()).unwrap();
    fall_asleep(&mut golem, 0);
    golem
}

/// Memories of small moves and of some falls: where there is an omen, what is far out of the usual comes before most of
/// them, and else before one.
fn falls(seed: u64, omen: bool) -> Memory {
    let (mut memory, mut dice) = (Memory::default(), Dice(seed));
    for number in 1..=160_u64 {
        let mut state: golem::episode::Impression = (0..3).map(|_| dice.chance() as f32 - 0.5).collect();
        let (falls, worst) = (number % 20 == 10, number == 90);
        if worst || omen && (falls && dice.chance() < 0.8) {
            state[0] = 2.0 + dice.chance() as f32;
        }
        let change = if worst { -0.2 } else { -0.12 };
        let change = if falls { change } else { 0.01 * (dice.chance() as f32 - 0.5) };
        memory.keep(Experience { change, ..experience(number, state, 100.0) });
    }
    memory
}

/// One crash was computed night after night, and each night warned of it whatever it had been made from.
#[test]
fn a_night_warns_of_what_has_held_elsewhere_and_of_nothing_else() {
    let (golem, before) = (asleep(golem::laws::NEWEST), asleep(2));
    let (mut warned, mut out_of_nothing) = (0, 0);
    for seed in 0..100 {
        let imagined = whole_night(&golem, &falls(seed, true)).1.imagined;
        if imagined.rehearsed.is_some() {
            assert!(imagined.omen.0 >= 2 && imagined.held.len() >= 2, "{imagined:?}");
            assert!(!imagined.held.contains(&90), "the memory it was made from is no case for it");
            assert!(imagined.held.iter().all(|number| number % 20 == 10), "no fall came there: {imagined:?}");
            warned += 1;
        }
        let memory = falls(seed, false);
        let (dreamt, found) = whole_night(&golem, &memory);
        out_of_nothing += u32::from(found.imagined.rehearsed.is_some());
        let kept = dreamt.life().dreams().rehearsed.is_some();
        assert_eq!(kept, found.imagined.rehearsed.is_some(), "what is not held is nowhere");
        assert!(whole_night(&before, &memory).1.imagined.rehearsed.is_some(), "as it was under earlier laws");
    }
    println!("counted: of 100 nights each {warned} warned where an omen held, {out_of_nothing} where none did");
    assert!(warned >= 80 && out_of_nothing <= 5, "{warned} {out_of_nothing}");
}

/// A life whose last night rehearsed a fall with this omen, which held and failed so many times.
fn rehearsed(life: &Life, than: f64, omen: (u32, u32)) -> Life {
    let threat = Threat { kind: ThreatKind::Crash, fall_bps: 2_000, loss: Usdc::dollars(2), met_by: Met::Stop };
    let condition = Condition([Comparison { feature: 0, is: Is::Above, than }].into_iter().collect());
    let rehearsed = Rehearsed { threat, omen: condition, night: 3 };
    changed(life, |life| {
        life["birth"]["world"]["domains"][0]["kind"] = json!("direction");
        (life["dreams"]["rehearsed"], life["dreams"]["omen"]) = (json!(rehearsed), json!(omen));
    })
}

fn warnings(grimoire: &Grimoire) -> Vec<&Entry> {
    grimoire.entries().filter(|entry| entry.kind == Kind::Warning).collect()
}

#[test]
fn a_warning_comes_with_its_cases_and_is_told_once() {
    let sleeper = Sleeper::new(|_| {});
    let mut grimoire = Grimoire::default();
    let quiet = rehearsed(sleeper.life(), 0.5, (0, 0));
    let quiet = changed(&quiet, |life| life["dreams"]["rehearsed"] = json!(null));
    round(&mut grimoire, &quiet);
    assert!(warnings(&grimoire).is_empty(), "a night that found nothing leaves nothing");
    round(&mut grimoire, &rehearsed(sleeper.life(), 0.5, (3, 1)));
    let kept = warnings(&grimoire);
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].evidence_for, kept[0].evidence_against), (3.0, 1.0), "{:?}", kept[0]);
    round(&mut grimoire, &rehearsed(sleeper.life(), 0.6, (4, 1)));
    assert_eq!(warnings(&grimoire).len(), 1, "another threshold is not another warning");
    let earlier = |than| changed(&rehearsed(sleeper.life(), than, (0, 0)), |life| life["birth"]["laws"] = json!(2));
    let mut grimoire = Grimoire::default();
    [0.5, 0.6].into_iter().for_each(|than| drop(round(&mut grimoire, &earlier(than))));
    assert_eq!(warnings(&grimoire).len(), 2, "as it was under earlier laws");
}

/// A mark that is set again is no more evidence than it was.
#[test]
fn what_a_night_bears_out_counts_half_a_case_and_no_more_until_one_speaks_against_it() {
    let sleeper = Sleeper::new(|_| {});
    let rule = &sleeper.life().playbook()[0];
    let (mut grimoire, before) = (Grimoire::default(), entry_of(rule, sleeper.life(), None));
    grimoire.apply(&Decision::Put(Box::new(before.clone())));
    let mut after = |held: bool| {
        round(&mut grimoire, &changed(sleeper.life(), |life| life["dreams"]["judged"] = json!(vec![(rule.id, held)])));
        let entry = grimoire.get(rule.id).unwrap();
        let more = (entry.evidence_for - before.evidence_for, entry.evidence_against - before.evidence_against);
        (more, entry.dream_validated)
    };
    assert_eq!(after(false), ((0.0, 0.0), false), "what no night has borne out loses nothing");
    assert_eq!(after(true), ((0.5, 0.0), true));
    assert_eq!(after(true), ((0.5, 0.0), true), "once");
    assert_eq!(after(false), ((0.5, 0.5), false));
}

/// A testament once left untested the same crash eight times.
#[test]
fn eight_untested_lines_are_eight_things() {
    let mut rig = Rig::in_world(|_| {}, |world| world.features = (0..9).map(|at| format!("f{at}")).collect());
    let mut grimoire = Grimoire::default();
    for feature in 0..9 {
        for than in 0..3 {
            let mut life = rehearsed(rig.golem.life(), 0.5 + f64::from(than), (0, 0));
            life = changed(&life, |life| {
                life["birth"]["laws"] = json!(2);
                life["dreams"]["rehearsed"]["omen"][0]["feature"] = json!(feature);
            });
            round(&mut grimoire, &life);
        }
    }
    assert_eq!(warnings(&grimoire).len(), 27);
    rig.command(Command::Halt { trigger: "over".into() });
    let outside = Outside { secret: String::new(), records: 0, journal: String::new() };
    let testament = write(rig.golem.life(), &grimoire, &Review::default(), outside).unwrap();
    let at = SECTIONS.iter().position(|title| *title == "what I left untested").unwrap();
    let lines = &testament.sections[at].lines;
    let named = |line: &String| (0..9).filter(|at| line.contains(&format!("when f{at} >"))).count();
    // The nine are alike but for what they look at, so they are one line, which names some and counts the rest.
    assert_eq!(lines.iter().map(named).sum::<usize>(), 4, "{lines:?}");
    assert!(lines[0].ends_with("and in 5 other cases"), "{lines:?}");
}

#[test]
fn another_moment_for_a_choice_is_held_against_what_it_would_have_cost() {
    let told = |moved: (f32, f32), regret: f32, laws: u16| {
        let (golem, mut memory) = (asleep(laws), Memory::default());
        for number in 1..=40_u64 {
            let moved = if number > 20 { moved } else { (0.0, 0.0) };
            let state = [number as f32, 0.0, 0.0].into_iter().collect();
            let e = experience(number, state, 100.0);
            memory.keep(Experience { moved, regret, change: -0.1 + regret, ..e });
        }
        whole_night(&golem, &memory).1
    };
    let batch = told((0.3, 0.1), 0.2, golem::laws::NEWEST);
    let (all, moments) = (batch.batch.len() as u32, batch.imagined.moments);
    let depth = golem::dream::intensity(asleep(2).life()).depth;
    assert!(moments.0 > 0 && moments.1 == 0, "better sooner, worse later: {:?}", batch.imagined);
    assert_eq!(batch.imagined.alternatives, all * (depth + 2), "other choices, and two other moments");
    assert_eq!(told((0.1, 0.3), 0.2, golem::laws::NEWEST).imagined.moments.0, 0);
    assert_eq!(
        told((f32::NAN, 0.1), 0.2, golem::laws::NEWEST).imagined.alternatives,
        all * (depth + 1),
        "no bar, no choice"
    );
    let before = told((0.3, 0.1), 0.2, 2).imagined;
    assert_eq!((before.alternatives, before.moments), (all * depth, (0, 0)));
}

/// Regret looked at the choice made then; a rise that began a while later went unseen.
#[test]
fn what_another_moment_would_have_gained_is_put_to_the_test() {
    let ideas = |laws: u16| {
        let golem = asleep(laws);
        let life = changed(golem.life(), |life| life["birth"]["world"]["domains"][0]["kind"] = json!("direction"));
        let golem = Golem::resume(life, golem.seq()).unwrap();
        let mut memory = Memory::default();
        for number in 1..=40_u64 {
            let state = [if number == 30 { 9.0 } else { 0.0 }, 0.0, 0.0].into_iter().collect();
            let moved = (0.0, if number == 30 { 0.2 } else { 0.0 });
            let surprise = if number == 30 { 1.0 } else { 0.5 };
            memory.keep(Experience { moved, surprise, change: -0.05, ..experience(number, state, 100.0) });
        }
        let (found, ..) = up_to(SleepStage::Rem, golem, memory);
        found.ideas.iter().filter(|idea| idea.origin == Origin::Regret).count()
    };
    assert_eq!((ideas(golem::laws::NEWEST), ideas(2)), (1, 0));
}

/// Findings of this phase of a night, which are not taken in, and the night as it stands then.
fn up_to(phase: SleepStage, mut golem: Golem, mut memory: Memory) -> (Found, Golem, Memory) {
    loop {
        let found = work(&memory, &Grimoire::default(), golem.life());
        if found.phase == phase {
            return (found, golem, memory);
        }
        (golem, memory) = step(&golem, memory, found);
    }
}

/// Two rules in use, and memories of which the oldest third has another sign that stands out.
#[test]
fn rules_in_use_are_put_together_pushed_further_and_turned_around_and_far_memories_are_drawn_together() {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.tier = DreamTier::Hardened);
    sleeper.ticks(1);
    let first = Comparison { feature: 0, is: Is::Above, than: 1.0 };
    let second = Comparison { feature: 1, is: Is::Below, than: 0.5 };
    let life = changed(sleeper.life(), |life| {
        let mut other = life["playbook"][0].clone();
        (other["id"], other["condition"]) = (json!(2), json!(vec![second]));
        life["playbook"][0]["condition"] = json!(vec![first]);
        life["playbook"].as_array_mut().unwrap().push(other);
        life["vitality"]["epistemic"] = json!(0.4);
    });
    let mut memory = Memory::default();
    for number in 1..=60_u64 {
        let sign = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
        let state = if number <= 20 { [0.0, 0.0, 5.0] } else { [0.0, sign, 0.0] };
        memory.keep(experience(number, state.into_iter().collect(), 100.0));
    }
    let [mut joined, mut further, mut around, mut drawn] = [0; 4];
    for nights in 0..100 {
        let life = changed(&life, |life| life["dreams"]["nights"] = json!(nights));
        let mut golem = Golem::resume(life, 9).unwrap();
        fall_asleep(&mut golem, 0);
        let (found, ..) = up_to(SleepStage::Rem, golem, memory.clone());
        let ideas: Vec<&Idea> = found.ideas.iter().filter(|idea| idea.origin == Origin::Recombined).collect();
        assert_eq!((ideas.len(), found.imagined.recombined), (3, 3));
        for idea in ideas {
            match idea.condition.0.as_slice() {
                all if all.iter().any(|one| one.feature == 2) => drawn += 1,
                [a, b] if [*a, *b] == [first, second] || [*a, *b] == [second, first] => joined += 1,
                // As far as the temperature of 0.9 dares.
                [one] if *one == Comparison { than: 1.45, ..first } => further += 1,
                [one] if *one == Comparison { is: Is::Below, ..first } => around += 1,
                _ => {}
            }
        }
    }
    let all = [joined, further, around, drawn];
    assert!(all.iter().all(|times| *times >= 3), "joined, further, around, drawn: {all:?}");
}

#[test]
fn of_ten_on_trial_the_least_useful_gives_way_to_one_that_is_more_so() {
    let mut sleeper = Sleeper::new(|constitution| constitution.dream.schedule = DreamSchedule::Owner);
    sleeper.ticks(2_100);
    fall_asleep(&mut sleeper.golem, 0);
    let (found, golem, memory) = up_to(SleepStage::Integration, sleeper.golem, sleeper.memory);
    let new = found.staged.first().expect("something to put on trial").clone();
    let life = changed(golem.life(), |life| {
        let each = |at: u32| {
            let mut one = new.clone();
            one.heuristic.condition.0[0].than = 1_000.0 + f64::from(at);
            one.utility = if at == 3 { -1.0 } else { f64::from(u32::MAX) };
            one
        };
        life["dreams"]["staged"] = json!((0..10).map(each).collect::<Vec<_>>());
    });
    let full = Golem::resume(life, golem.seq()).unwrap();
    let (after, _) = step(&full, memory, found);
    let (before, dreams) = (full.life().dreams(), after.life().dreams());
    assert_eq!((dreams.staged.len(), dreams.expired), (10, before.expired + 1));
    assert!(dreams.staged.iter().all(|one| one.utility > 0.0), "the least useful of them is gone");
    assert!(dreams.staged.iter().any(|one| one.says_the_same(&new)));
}

fn step(golem: &Golem, mut memory: Memory, found: Found) -> (Golem, Memory) {
    let mut golem = golem.clone();
    let (now, what) = (golem.life().now(), golem::What::Dreamt(Box::new(found)));
    let record = golem.step(&golem::Input { now, roll: crate::common::SAFE, what }).unwrap().unwrap();
    memory.hear(&record, golem.life());
    (golem, memory)
}

/// All that nights of such a life drill, one after another, until nothing is news any more.
fn drilled(life: &Life) -> Vec<Drill> {
    let mut drilled: Vec<Drill> = Vec::new();
    for nights in 0..12 {
        let life = changed(life, |life| {
            (life["dreams"]["nights"], life["dreams"]["drills"]) = (json!(nights), json!(drilled))
        });
        let mut golem = Golem::resume(life, 9).unwrap();
        fall_asleep(&mut golem, 0);
        let (dreamt, found) = whole_night(&golem, &Memory::default());
        assert!(
            dreamt.life().flights().is_empty() && dreamt.life().capital() == golem.life().capital(),
            "no copy leaks"
        );
        if nights > 9 {
            assert!(found.imagined.drills.is_empty(), "told again: {:?}", found.imagined.drills);
        }
        drilled = dreamt.life().dreams().drills.clone();
    }
    drilled
}

fn said(drills: &[Drill], peril: Peril, effect: Effect) -> Option<Reply> {
    drills.iter().find(|drill| (drill.peril, drill.effect) == (peril, effect)).map(|drill| drill.reply)
}

#[test]
fn gate_and_policy_say_what_they_would_say_if_something_went_wrong() {
    use {Effect::*, Peril::*};
    let mut rig = Rig::with(|constitution| constitution.dream.enabled = true);
    rig.ticks(3);
    let idle = drilled(rig.golem.life());
    assert_eq!(said(&idle, OutOfRange, Adds), Some(Reply::Refused(Refusal::Funds)), "{idle:?}");
    assert_eq!(said(&idle, Away, Adds), Some(Reply::Refused(Refusal::World)));
    assert_eq!(said(&idle, Unfilled, Adds), Some(Reply::GivenUp));
    assert_eq!(said(&idle, Costly, Adds), Some(Reply::Sent), "there is money enough for it");
    assert!(idle.iter().all(|drill| drill.effect == Adds), "there is nothing to give up: {idle:?}");
    assert_eq!(said(&idle, Late, Adds), None, "nothing comes late where the world tells the time");
    assert_eq!(said(&idle, Silent, Adds), None, "it asks no mind");

    let poor =
        changed(rig.golem.life(), |life| life["birth"]["constitution"]["economic"]["per_action"] = json!(400_000));
    let poor = drilled(&poor);
    assert_eq!(said(&poor, Costly, Adds), Some(Reply::Refused(Refusal::Gas)));
    let told = poor.iter().find(|drill| drill.peril == Costly).unwrap().to_string();
    assert!(
        told.starts_with("if sending costs ten times as much, new exposure is refused: the part of its credit"),
        "{told}"
    );

    let free = changed(rig.golem.life(), |life| life["birth"]["constitution"]["economic"]["per_action"] = json!(0));
    assert_eq!(said(&drilled(&free), Costly, Adds), None, "sending costs nothing");
    let wall = changed(rig.golem.life(), |life| life["birth"]["world"]["timing"] = json!(Timing::Wall));
    assert_eq!(said(&drilled(&wall), Late, Adds), Some(Reply::Refused(Refusal::Stale)));
    let frozen = changed(rig.golem.life(), |life| life["heartbeat"]["frozen"] = json!(true));
    assert!(drilled(&frozen).is_empty(), "a gate that is shut says nothing of a peril");
    let idle = changed(rig.golem.life(), |life| life["birth"]["world"]["actions"] = json!([]));
    assert!(drilled(&idle).is_empty(), "where nothing can be done nothing goes wrong");
    let earlier = changed(rig.golem.life(), |life| life["birth"]["laws"] = json!(2));
    assert!(drilled(&earlier).is_empty());
}

#[test]
fn what_is_held_is_given_up_whatever_goes_wrong() {
    use {Effect::*, Peril::*};
    let mut rig = Rig::with(|constitution| {
        (constitution.dream.enabled, constitution.reflex.act_every) = (true, 3);
    });
    while rig.golem.life().capital().holding == 0 {
        rig.tick();
        rig.settle();
    }
    let held = drilled(rig.golem.life());
    assert_eq!(said(&held, OutOfRange, Reduces), Some(Reply::Sent), "{held:?}");
    assert_eq!(said(&held, Costly, Reduces), Some(Reply::Sent));
    assert_eq!(said(&held, Unfilled, Reduces), Some(Reply::GivenUp));
    assert_eq!(said(&held, Away, Reduces), Some(Reply::Refused(Refusal::World)));
    let outside = changed(rig.golem.life(), |life| life["birth"]["constitution"]["mind"]["kind"] = json!("outside"));
    assert_eq!(said(&drilled(&outside), Silent, Reduces), Some(Reply::Closed));
    assert_eq!(said(&drilled(&outside), Silent, Adds), Some(Reply::Nothing));
    assert!(START < rig.golem.life().now());
}
