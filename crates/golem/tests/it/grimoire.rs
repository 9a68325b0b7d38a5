//! The Grimoire stays small and true without anyone tidying it.

use crate::common::{Dice, Rig, START, changed, keep_in, manifest};
use golem::constitution::{Constitution, MindKind};
use golem::event::Event;
use golem::grimoire::{
    Candidate, Class, Decision, Entry, Expectation, Grimoire, How, Kind, Link, Provenance, Source, Status, draft, round,
};
use golem::mortality::{epistemic, phase::Phase};
use golem::regime::Regime;
use golem::rule::{self, Comparison, Condition, Is, Stance};
use golem::world::{DomainKind, Manifest};
use golem::{Duty, GolemId, Owed, Span, Time, What};
use proptest::prelude::*;
use serde_json::json;

const NOW: Time = Time::seconds(1_700_000_000);
const ME: Source = Source { golem: GolemId([1; 16]), generation: 0, how: How::Observed };

/// Condition, domain, and what is expected.
type Fact = ([(u8, bool, f64); 2], u8, f64);

fn world() -> Manifest {
    let mut manifest = manifest();
    manifest.domains[0].kind = DomainKind::Direction;
    manifest.features = (0..10).map(|at| format!("f{at}")).collect();
    manifest
}

fn condition(comparisons: &[(u8, bool, f64)]) -> Condition {
    let comparison = |&(feature, above, than): &(u8, bool, f64)| Comparison {
        feature,
        is: if above { Is::Above } else { Is::Below },
        than,
    };
    Condition(comparisons.iter().map(comparison).collect())
}

fn insight(text: &str, when: &[(u8, bool, f64)], domain: u8, effect: f64, born: Time) -> Entry {
    let mut entry = draft(Kind::Insight, text, ME, born);
    entry.condition = Some(condition(when));
    entry.claim = Some(Expectation { domain, effect, stance: Stance::Watch });
    entry.domain = Some(domain);
    entry
}

fn seen(entry: Entry, seen_for: f64, seen_against: f64) -> Candidate {
    Candidate { entry, seen_for, seen_against, single: false }
}

/// Admits and keeps.
fn learn(grimoire: &mut Grimoire, candidate: Candidate, now: Time) -> usize {
    let decisions = grimoire.admit(candidate, &world(), now);
    decisions.iter().for_each(|decision| grimoire.apply(decision));
    decisions.len()
}

/// One to eight cases, so many of which held and failed.
fn cases(dice: &mut Dice, holds: f64) -> (f64, f64) {
    let all = 1 + dice.below(8);
    let held = (0..all).filter(|_| dice.chance() < holds).count() as u64;
    (held as f64, (all - held) as f64)
}

proptest! {
    #[test]
    fn decay_is_the_closed_form_whoever_reads_when(
        initial in 0.0..1.0_f64, held in 0.0..30.0_f64, failed in 0.0..30.0_f64,
        class in 0..4_usize, dreamt: bool, stained: bool, reads in proptest::collection::vec(0..5_000_000_u64, 1..20),
    ) {
        let class = [Class::Structural, Class::RegimeConditional, Class::Tactical, Class::Ephemeral][class];
        let mut entry = insight("x", &[], 0, 0.6, NOW);
        (entry.class, entry.initial, entry.dream_validated, entry.bloodstain) = (class, initial, dreamt, stained);
        entry = entry.checked(true, held.min(9.0), NOW).checked(false, failed.min(9.0), NOW);
        let (f, a) = (held.min(9.0), failed.min(9.0));
        let evidence = (4.0 * initial + f) / (4.0 + f + a);
        let days: f64 = match class {
            Class::Structural => f64::INFINITY,
            Class::RegimeConditional => 14.0,
            Class::Tactical => 7.0,
            Class::Ephemeral => 1.0,
        };
        let speed = if dreamt { 0.5 } else { 1.0 } * if stained { 1.0 / 3.0 } else { 1.0 };
        for after in reads {
            let expected = evidence * libm::pow(0.5, after as f64 / 86_400.0 * speed / days);
            prop_assert!((entry.confidence(NOW + Span::seconds(after)) - expected).abs() < 1e-9);
        }
        // Not even before it was validated is it worth more than the evidence.
        prop_assert!(entry.confidence(Time::seconds(0)) <= evidence + 1e-12);
    }
}

#[test]
fn ten_thousand_observations_leave_what_is_true_and_little_else() {
    let mut dice = Dice(5);
    // What is true: so many facts, each with a condition of its own and a claim that deserves support.
    let truth: Vec<Fact> = (0..400)
        .map(|at| {
            let when = [
                (dice.below(5) as u8, at % 2 == 0, (dice.below(90) as f64) / 10.0),
                (5 + dice.below(5) as u8, at % 3 == 0, f64::from(at)),
            ];
            (when, 1, if at % 2 == 0 { 1.3 } else { 0.7 })
        })
        .collect();
    let mut grimoire = Grimoire::new([]);
    for n in 0..10_000_u64 {
        let now = NOW + Span::seconds(40 * n);
        let (when, domain, effect) = truth[dice.below(400) as usize];
        match dice.below(10) {
            // A fact, in a few cases of which nine in ten hold.
            0..=5 => {
                let (held, failed) = cases(&mut dice, 0.9);
                learn(&mut grimoire, seen(insight("a fact", &when, domain, effect, now), held, failed), now);
            }
            // A pattern in what was chance: each case could as well have gone the other way.
            6 | 7 => {
                let when = [(dice.below(10) as u8, true, dice.chance() * 100.0)];
                let entry = insight("noise", &when, 1, 1.0 + (dice.chance() - 0.5) * 0.8, now);
                let (held, failed) = cases(&mut dice, 0.5);
                learn(&mut grimoire, seen(entry, held, failed), now);
            }
            // Words without a claim.
            8 => {
                let entry = draft(Kind::Insight, &format!("things feel different today ({n})"), ME, now);
                learn(&mut grimoire, seen(entry, 0.0, 0.0), now);
            }
            // The opposite of a fact.
            _ => {
                let (held, failed) = cases(&mut dice, 0.1);
                learn(&mut grimoire, seen(insight("a mistake", &when, domain, 2.0 - effect, now), held, failed), now);
            }
        }
        if n % 50 == 49 {
            let round = grimoire.curate(&world(), Regime::Usual, ME, now, |_| false);
            round.decisions.iter().for_each(|decision| grimoire.apply(decision));
        }
    }
    let now = NOW + Span::seconds(400_000);
    let claims = grimoire.in_use().filter(|entry| entry.claim.is_some());
    let kept: Vec<&Entry> = claims.collect();
    let right = |entry: &&&Entry| {
        truth.iter().any(|(when, _, effect)| {
            entry.condition == Some(condition(when)) && entry.claim.is_some_and(|claim| claim.effect == *effect)
        })
    };
    let true_ones = kept.iter().filter(right).count();
    println!("{} kept of 400 true, {true_ones} of them true; {} entries in all", kept.len(), grimoire.len());
    assert!((360..=440).contains(&kept.len()), "{}", kept.len());
    assert!(true_ones * 100 >= kept.len() * 95 && true_ones >= 360);
    for entry in grimoire.in_use().filter(|entry| entry.status == Status::Active && entry.confidence(now) > 0.6) {
        for other in entry.contradicts.iter().filter_map(|id| grimoire.get(*id)) {
            let both = other.status == Status::Active && other.confidence(now) > 0.6;
            assert!(!both, "both stand: {entry:?} {other:?}");
        }
    }
}

#[test]
fn what_differs_by_a_negation_or_a_number_is_never_merged() {
    let mut dice = Dice(9);
    for trial in 0..500_u64 {
        let mut grimoire = Grimoire::new([]);
        let (feature, than) = (dice.below(10) as u8, (dice.below(1_000) as f64) / 10.0);
        let one = insight("gas drops below 10 gwei", &[(feature, false, than)], 1, 1.3, NOW);
        let mut other = one.clone();
        match trial % 5 {
            0 => other.condition = Some(condition(&[(feature, true, than)])),
            1 => other.condition = Some(condition(&[(feature, false, than + 0.1)])),
            2 => other.claim = one.claim.map(|claim| Expectation { effect: 0.7, ..claim }),
            3 => other.claim = one.claim.map(|claim| Expectation { effect: 1.31, ..claim }),
            _ => {
                (one.clone().claim, other.condition) =
                    (one.claim, Some(condition(&[(feature, false, than), (3, true, 1.0)])))
            }
        }
        learn(&mut grimoire, seen(one, 8.0, 0.0), NOW);
        learn(&mut grimoire, seen(other, 8.0, 0.0), NOW);
        assert_eq!(grimoire.len(), 2, "trial {trial}: {:?}", grimoire.entries().collect::<Vec<_>>());
    }
}

#[test]
fn the_same_again_is_one_entry_with_both_provenances() {
    let mut grimoire = Grimoire::new([]);
    let when = [(1, true, 2.0), (0, false, 1.0)];
    learn(&mut grimoire, seen(insight("one", &when, 1, 1.3, NOW), 8.0, 0.0), NOW);
    // In another order, with a comparison the other implies, and in other words.
    let mut again = insight("quite another wording", &[(0, false, 1.0), (1, true, 2.0), (1, true, 1.5)], 1, 1.3, NOW);
    let sibling = Source { golem: GolemId([2; 16]), generation: 1, how: How::Clade };
    again.provenance = Provenance { sources: vec![sibling], crossings: 0, hops: 0, brought: None };
    let before = grimoire.get(1).unwrap().clone();
    learn(&mut grimoire, seen(again, 0.0, 0.0), NOW + Span::DAY);
    let after = grimoire.get(1).unwrap();
    assert_eq!((grimoire.len(), &after.provenance.sources[..]), (1, &[ME, sibling][..]));
    // Being told the same is no evidence.
    assert_eq!((after.by_evidence(), after.validated_at), (before.by_evidence(), before.validated_at));
}

#[test]
fn evidence_settles_a_contradiction_and_until_then_it_is_a_question() {
    let mut grimoire = Grimoire::new([]);
    learn(&mut grimoire, seen(insight("up", &[(0, true, 1.0)], 1, 1.3, NOW), 6.0, 0.0), NOW);
    learn(&mut grimoire, seen(insight("down", &[(0, true, 1.0)], 1, 0.7, NOW), 6.0, 0.0), NOW);
    assert_eq!(grimoire.get(1).unwrap().contradicts, [2]);
    assert_eq!(grimoire.get(2).unwrap().contradicts, [1]);
    let curate = |grimoire: &mut Grimoire, now| {
        let round = grimoire.curate(&world(), Regime::Usual, ME, now, |_| false);
        round.decisions.iter().for_each(|decision| grimoire.apply(decision));
    };
    curate(&mut grimoire, NOW);
    assert!(grimoire.entries().any(|entry| entry.kind == Kind::Question), "undecided: it asks");
    for _ in 0..10 {
        let up = grimoire.get(1).unwrap().checked(false, 1.0, NOW);
        let down = grimoire.get(2).unwrap().checked(true, 1.0, NOW);
        [up, down].into_iter().for_each(|entry| grimoire.apply(&Decision::Put(Box::new(entry))));
    }
    curate(&mut grimoire, NOW);
    assert_eq!((grimoire.get(1).unwrap().status, grimoire.get(2).unwrap().status), (Status::Archived, Status::Active));
}

#[test]
fn links_contradict_by_direction_and_sleepers_wake_with_their_regime() {
    let mut grimoire = Grimoire::new([]);
    let link = |same_way| {
        let mut entry = draft(Kind::CausalLink, "gas pushes volume", ME, NOW);
        entry.link = Some(Link { cause: 0, effect: 1, same_way });
        entry.regime = Some(Regime::Unsettled);
        entry
    };
    learn(&mut grimoire, seen(link(true), 8.0, 0.0), NOW);
    learn(&mut grimoire, seen(link(false), 8.0, 0.0), NOW);
    assert_eq!(grimoire.get(2).unwrap().contradicts, [1]);
    for (regime, status) in [(Regime::Calm, Status::Dormant), (Regime::Unsettled, Status::Active)] {
        let round = grimoire.curate(&world(), regime, ME, NOW, |_| false);
        round.decisions.iter().for_each(|decision| grimoire.apply(decision));
        assert!(
            grimoire.entries().filter(|e| e.kind == Kind::CausalLink).all(|entry| entry.status == status),
            "{regime}"
        );
    }
}

#[test]
fn what_has_faded_is_archived_and_pruning_is_counted() {
    let mut grimoire = Grimoire::new([]);
    for n in 0..10 {
        learn(&mut grimoire, seen(insight("x", &[(0, true, f64::from(n))], 1, 1.3, NOW), 8.0, 0.0), NOW);
    }
    let later = NOW + Span::DAY.times(60);
    assert!(grimoire.entries().all(|entry| entry.confidence(later) < 0.1));
    let round = grimoire.curate(&world(), Regime::Usual, ME, later, |_| false);
    assert_eq!((round.alive, round.archived), (10, 10));
}

/// A golem with a mind of rules and nothing to begin with.
fn thinker(change: impl FnOnce(&mut Constitution)) -> Rig {
    let begin = |own: &mut Constitution| {
        (own.mind.kind, own.mind.explore_every) = (MindKind::Rules, 0);
        change(own);
    };
    Rig::in_world(begin, |world| world.features = vec!["level".into(), "wind".into()])
}

/// An entry that has been believed by so much since its golem was born.
fn insight_of(id: u64, confidence: f64, class: Class) -> Entry {
    let mut entry = draft(Kind::Insight, &format!("the {id}th"), ME, START);
    (entry.id, entry.initial, entry.class, entry.status) = (id, confidence, class, Status::Active);
    entry
}

#[test]
fn every_fifty_ticks_what_is_believed_by_less_than_a_tenth_is_archived_and_it_is_felt_for_five_hundred() {
    // An hour a look: what halves in a day is below a tenth at the second round.
    let mut rig = thinker(|own| own.interval = Span::seconds(3_600));
    let mut known = Grimoire::new([
        insight_of(1_001, 0.09, Class::Structural),
        insight_of(1_002, 0.11, Class::Structural),
        insight_of(1_003, 0.7, Class::Structural),
        insight_of(1_004, 0.7, Class::Ephemeral),
    ]);
    let archived = |known: &Grimoire| -> Vec<u64> {
        let gone = |id: &u64| known.get(*id).is_some_and(|entry| entry.status == Status::Archived);
        (1_001..=1_004).filter(gone).collect()
    };
    let (mut rounds, mut felt) = (Vec::new(), Vec::new());
    for tick in 1..=650_u64 {
        rig.tick();
        if !rig.golem.owed().any(|owed| matches!(owed, Owed::Duty(Duty::Curate))) {
            continue;
        }
        rounds.push(tick);
        let answer = round(&mut known, rig.golem.life());
        rig.feed(What::Curated(Box::new(answer))).unwrap();
        let life = rig.golem.life();
        felt.push(life.knowing().pruned() > 0.2);
        if rounds.len() == 1 {
            let unscathed = changed(life, |life| life["knowing"]["archived"] = json!([]));
            assert!((epistemic::fitness(life) - 0.95 * epistemic::fitness(&unscathed)).abs() < 1e-12);
        }
        let expected: &[u64] = if rounds.len() == 1 { &[1_001] } else { &[1_001, 1_004] };
        assert_eq!(archived(&known), expected, "round {}", rounds.len());
    }
    assert_eq!(rounds, (1..=13).map(|round| round * 50).collect::<Vec<u64>>());
    // The second round was the last to archive any, and ten of them are counted.
    assert_eq!(felt, (1..=13).map(|round| round <= 11).collect::<Vec<bool>>());
}

#[test]
fn a_better_phase_has_more_ideas_says_less_in_general_and_tries_what_it_remembers() {
    let ideas = Phase::ALL.map(|phase| {
        let mut rig = thinker(|own| {
            keep_in(own, phase);
            own.mind.explore_every = 10;
        });
        rig.ticks(200);
        let is_idea = |event: &&Event| matches!(event, Event::Rule(rule::Event::Adopted { .. }));
        rig.records.iter().flat_map(|record| &record.events).filter(is_idea).count()
    });
    assert_eq!(ideas, [0, 0, 0, 10, 20], "ideas in two hundred ticks");
    // Something that can be said in general, at any round: the world has just turned, and nothing is known of it.
    let mut rig = thinker(|_| {});
    rig.ticks(1);
    let at = |phase: Phase, rounds: u64| {
        changed(rig.golem.life(), |life| {
            life["vitality"]["phase"] = json!(phase);
            life["knowing"]["rounds"] = json!(rounds);
            (life["regimes"]["now"], life["regimes"]["met"]) = (json!(Regime::Unsettled), json!([0, 0, 5]));
        })
    };
    let asks = |phase: Phase| {
        let asked = |rounds: u64| {
            let mut known = Grimoire::new([]);
            round(&mut known, &at(phase, rounds));
            known.in_use().any(|entry| entry.kind == Kind::Question)
        };
        (0..9).filter(|rounds| asked(*rounds)).count()
    };
    assert_eq!(Phase::ALL.map(asks), [9, 9, 9, 3, 3], "of nine rounds");
    let tries = |phase: Phase| {
        let mut waiting = insight_of(1_001, 0.5, Class::Structural);
        (waiting.kind, waiting.status) = (Kind::Heuristic, Status::Candidate);
        waiting.condition = Some(condition(&[(0, true, 0.5)]));
        waiting.claim = Some(Expectation { domain: 0, effect: 1.1, stance: Stance::Watch });
        round(&mut Grimoire::new([waiting]), &at(phase, 1)).adopt.len()
    };
    assert_eq!(Phase::ALL.map(tries), [0, 0, 1, 1, 1]);
}

#[test]
fn links_lead_on_by_the_surest_way_and_no_further_than_five_steps() {
    let mut grimoire = Grimoire::new([]);
    let mut link = |cause: u8, effect: u8, same_way: bool, held: f64| {
        let mut entry = draft(Kind::CausalLink, "one pushes another", ME, NOW);
        entry.link = Some(Link { cause, effect, same_way });
        learn(&mut grimoire, seen(entry, held, 0.0), NOW);
    };
    (0..7).for_each(|at| link(at, at + 1, at != 1, 12.0));
    link(0, 3, true, 5.0);
    let paths = grimoire.walk(0, 9, NOW);
    let to = |feature: u8| paths.iter().find(|path| path.through.last() == Some(&feature));
    assert_eq!(to(2).unwrap().through, [0, 1, 2]);
    assert!(to(1).unwrap().same_way && !to(2).unwrap().same_way, "a fall on the way turns it round");
    assert_eq!(to(3).unwrap().through, [0, 3], "one doubtful step is surer than three sure ones here");
    assert!(to(7).is_some() && paths.iter().all(|path| path.through.len() <= 6), "{paths:?}");
    assert!(paths.windows(2).all(|pair| pair[0].confidence >= pair[1].confidence));
    assert!(grimoire.walk(0, 1, NOW).iter().all(|path| path.through.len() == 2));
}
