//! What crosses a death, by number: the bottleneck, the barrier, the mandate, and what may leave at all.

use crate::common::{Dice, Rig, START, changed};
use golem::constitution::MandateFigures;
use golem::grimoire::{
    Class, Entry, Grimoire, How, Kind, Provenance, Source, Status, draft, inherited, round, take_in,
};
use golem::inheritance::{
    BALDWIN, BUDGET, Mandate, Way, compress, divergence, estate, has_tried, is_innate, may_leave,
};
use golem::mortality::phase::Phase;
use golem::rule::text::Parsed;
use golem::{GolemId, Life, What};
use serde_json::json;

fn source(generation: u32, how: How) -> Source {
    Source { golem: GolemId([3; 16]), generation, how }
}

fn entry(id: u64, kind: Kind, text: &str) -> Entry {
    let mut entry = draft(kind, text, source(0, How::Observed), START);
    (entry.id, entry.status, entry.initial) = (id, Status::Active, 0.7);
    entry
}

/// Any entry, with odd values among its figures.
fn any(id: u64, dice: &mut Dice) -> Entry {
    let kind = dice.of(&Kind::ALL);
    let mut entry = entry(id, kind, &format!("entry {id}"));
    entry.status = dice.of(&[Status::Candidate, Status::Active, Status::Dormant, Status::Archived]);
    entry.domain = dice.of(&[None, Some(0), Some(1), Some(7)]);
    entry.bloodstain = dice.below(8) == 0;
    entry.quality = dice.of(&[0.0, 0.3, 0.9, 1.0, f64::NAN, -1.0, f64::INFINITY]);
    entry.initial = dice.of(&[0.0, 0.2, 0.7, 0.95]);
    entry.born = START + golem::Span::seconds(dice.below(1_000));
    entry.provenance =
        Provenance { sources: vec![source(dice.below(6) as u32, How::Observed)], crossings: 0, hops: 0, brought: None };
    entry
}

#[test]
fn the_bottleneck_repeats_nothing_leaves_no_place_empty_and_does_not_care_for_order() {
    let grimoires = if std::env::var_os("BARDO_FULL").is_some() { 100_000 } else { 3_000 };
    let mut dice = Dice(11);
    for round in 0..grimoires {
        let entries: Vec<Entry> = (1..=dice.below(40)).map(|id| any(id, &mut dice)).collect();
        let budget = dice.of(&[0, 1, 3, 4, 10, 16, 30, 100]);
        let chosen: Vec<u64> = compress(entries.iter(), START, budget).iter().map(|e| e.id).collect();
        let available = entries.iter().filter(|e| e.status != Status::Archived).count();
        assert_eq!(chosen.len(), budget.min(available), "round {round}");
        let once: std::collections::BTreeSet<u64> = chosen.iter().copied().collect();
        assert_eq!(once.len(), chosen.len(), "round {round}: nothing twice");
        let backwards: Vec<u64> = compress(entries.iter().rev(), START, budget).iter().map(|e| e.id).collect();
        assert_eq!(chosen, backwards, "round {round}");
    }
}

#[test]
fn a_quarter_is_for_what_was_paid_for_with_a_life_newest_first_and_half_is_shared_by_domain() {
    let mut entries: Vec<Entry> = (1..=100).map(|id| entry(id, Kind::Insight, &format!("{id}"))).collect();
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.quality = 1.0 - at as f64 / 1_000.0;
        entry.domain = Some(if at < 90 { 0 } else { 1 });
        entry.bloodstain = (40..60).contains(&at);
        entry.born = START + golem::Span::seconds(at as u64);
    }
    let chosen: Vec<u64> = compress(entries.iter(), START, 40).iter().map(|e| e.id).collect();
    assert_eq!(chosen[..10], [60, 59, 58, 57, 56, 55, 54, 53, 52, 51], "the newest ten of twenty");
    assert_eq!(chosen[10..30].iter().filter(|id| **id > 90).count(), 10, "the small domain has its half");
    assert_eq!(chosen.len(), 40);
    assert_eq!((BUDGET, BALDWIN), (2_048, (3, 0.7)));
}

#[test]
#[allow(clippy::disallowed_methods, reason = "it is the clock on the wall that is asked")]
fn twenty_thousand_entries_pass_quickly() {
    let mut dice = Dice(5);
    let entries: Vec<Entry> = (1..=20_000).map(|id| any(id, &mut dice)).collect();
    let began = std::time::Instant::now();
    assert_eq!(compress(entries.iter(), START, BUDGET).len(), BUDGET);
    let took = began.elapsed();
    println!("20,000 entries in {took:?}");
    assert!(cfg!(debug_assertions) || took.as_millis() <= 50, "{took:?}");
}

#[test]
fn no_confidence_rises_by_crossing_a_death() {
    for (how, sender, left) in [
        (How::Inherited, 1.0, 0.85),
        (How::Inherited, 0.4, 0.34),
        (How::Clade, 1.0, 0.4),
        (How::Clade, 0.4, 0.32),
        (How::Replicant, 0.9, 0.3),
        (How::Purchased, 0.9, 0.3),
    ] {
        assert!((inherited(how, sender, 1, false) - left).abs() < 1e-12, "{how:?} {sender}");
    }
    assert_eq!(inherited(How::Inherited, 0.95, 1, true), 0.4, "born of a single episode");
    // Never looked at again, everything fades; looked at in every life, it stays.
    let mut unseen = 1.0;
    for _ in 0..8 {
        unseen = inherited(How::Inherited, unseen, 1, false);
    }
    assert!(unseen < 0.3, "{unseen}");
    let mut kept = entry(1, Kind::Heuristic, "kept");
    kept.initial = 0.9;
    let value = kept.by_evidence();
    for _ in 0..30 {
        kept.initial = inherited(How::Inherited, kept.by_evidence(), 1, false);
        (kept.evidence_for, kept.evidence_against) = (0.0, 0.0);
        let entering = kept.by_evidence();
        assert!(entering >= 0.8 * value, "{entering} of {value}");
        kept = kept.checked(true, 20.0, START);
    }
}

#[test]
fn what_generations_kept_becomes_innate() {
    let mut old = entry(1, Kind::Heuristic, "old");
    old.initial = 0.9;
    assert!(is_innate(&old, 3, START) && !is_innate(&old, 2, START));
    old.initial = 0.6;
    assert!(!is_innate(&old, 3, START), "not believed enough");
}

fn life() -> Life {
    Rig::with(|_| {}).golem.life().clone()
}

/// Push criteria, live export and deposit, by kind: each figure just reached and just missed.
#[test]
fn everything_that_goes_out_passes_one_gate() {
    use Kind::*;
    use Status::{Active, Candidate};
    let in_phase = |life: &Life, phase: Phase| changed(life, |life| life["vitality"]["phase"] = json!(phase));
    let life = in_phase(&life(), Phase::Thriving);
    let check = |kind, confidence: f64, evidence: f64, status, ways: [bool; 3]| {
        let mut e = entry(1, kind, "x");
        (e.initial, e.evidence_for, e.status, e.validated_at, e.class) =
            (confidence, evidence, status, life.now(), Class::Structural);
        let gate = [Way::Clade, Way::Shelf, Way::Deposit].map(|way| may_leave(&e, &life, way));
        assert_eq!(gate, ways, "{kind:?} believed {confidence}, {evidence} for it, {status:?}");
        assert!(!may_leave(&e, &life, Way::Picked), "the living are not picked from");
        assert_eq!(may_leave(&e, &life, Way::Copied), status == Active, "an owner may copy what is in use");
    };
    //                         believed  seen  status       clade  shelf  deposit
    check(Insight, /*       */ 0.60, 0.0, Active, /*   */ [true, true, true]);
    check(Insight, /*       */ 0.59, 0.0, Active, /*   */ [false, false, false]);
    check(Insight, /*       */ 0.90, 0.0, Candidate, /**/ [false, false, true]);
    check(Heuristic, /*     */ 0.70, 10.0, Active, /*  */ [true, true, true]);
    check(Heuristic, /*     */ 0.90, 9.0, Active, /*   */ [false, false, true]);
    check(Heuristic, /*     */ 0.60, 0.0, Active, /*   */ [false, false, true]);
    check(Heuristic, /*     */ 0.59, 0.0, Active, /*   */ [false, false, false]);
    check(Warning, /*       */ 0.01, 0.0, Candidate, /**/ [true, false, true]);
    check(Warning, /*       */ 0.50, 0.0, Candidate, /**/ [true, true, true]);
    check(CausalLink, /*    */ 0.51, 0.0, Active, /*   */ [false, false, false]);
    check(CausalLink, /*    */ 0.51, 2.0, Active, /*   */ [true, true, false]);
    check(CausalLink, /*    */ 0.51, 3.0, Active, /*   */ [true, true, true]);
    check(CausalLink, /*    */ 0.30, 0.1, Active, /*   */ [false, false, false]);
    check(StrategyFragment, /**/ 0.60, 0.0, Active, /* */ [true, true, false]);
    check(StrategyFragment, /**/ 0.59, 0.0, Active, /* */ [false, false, false]);
    check(Question, /*      */ 0.90, 0.0, Active, /*   */ [false, false, false]);
    // The nearer the end, the more is given away, and the Curator's round gives it.
    let known = |confidence: f64| {
        let mut sure = entry(1, Insight, "x");
        (sure.initial, sure.status, sure.validated_at, sure.class) =
            (confidence, Active, life.now(), Class::Structural);
        sure.provenance.sources[0].golem = life.id();
        sure
    };
    for (phase, figure) in Phase::ALL.into_iter().zip([0.10, 0.25, 0.40, 0.50, 0.60]) {
        let dying = in_phase(&life, phase);
        for (confidence, given) in [(figure, true), (figure - 0.01, false)] {
            let sure = known(confidence);
            assert_eq!(may_leave(&sure, &dying, Way::Clade), given, "{phase} at {confidence}");
            assert_eq!(may_leave(&sure, &dying, Way::Shelf), given && confidence >= 0.5, "{phase} at {confidence}");
            // Below a tenth the Curator archives it before anything is told.
            let told = round(&mut Grimoire::new([sure]), &dying).shares;
            assert_eq!(told, u32::from(given), "{phase} at {confidence}");
        }
    }
    assert_eq!(Way::ALL.map(Way::is_limited), [true, true, false, false, false], "the dead are in no hurry");
}

#[test]
fn handing_down_what_one_was_told_makes_nobody_surer() {
    let life = life();
    for (golem, how, evidence, tried) in [
        (life.id(), How::Observed, 0.0, true),
        (life.id(), How::Dreamt, 0.0, true),
        (life.id(), How::Instinct, 0.0, false),
        (life.id(), How::Instinct, 1.0, true),
        (GolemId([3; 16]), How::Inherited, 0.0, false),
        (GolemId([3; 16]), How::Inherited, 1.0, true),
        (GolemId([3; 16]), How::Purchased, 0.0, false),
    ] {
        let mut e = entry(1, Kind::Insight, "x");
        e.provenance.sources = vec![Source { golem, generation: 0, how }];
        e.evidence_for = evidence;
        assert_eq!(has_tried(&e, &life), tried, "{how:?} with {evidence}");
    }
}

/// A quarter, a half, a quarter, of the whole and of small budgets.
#[test]
fn the_places_of_the_bottleneck_are_shared_out_by_number() {
    for (budget, paid, domains, rest) in [(2_048, 512, 1_024, 512), (100, 25, 50, 25), (7, 1, 3, 3), (1, 0, 0, 1)] {
        // More than enough of everything: the paid for are the worst, one domain is better than the others.
        let entries: Vec<Entry> = (0..9_000_u64)
            .map(|id| {
                let mut e = entry(id, Kind::Insight, "x");
                (e.bloodstain, e.domain) = (id < 3_000, Some(if id < 6_000 { 0 } else { 1 }));
                e.quality = if id < 3_000 { 0.1 } else { 1.0 - id as f64 / 100_000.0 };
                e
            })
            .collect();
        let chosen = compress(entries.iter(), START, budget);
        assert_eq!(chosen.len(), budget);
        assert_eq!(chosen.iter().filter(|e| e.bloodstain).count(), paid, "of {budget}");
        let second = chosen.iter().filter(|e| e.domain == Some(1)).count();
        assert_eq!(second, domains / 2, "the lesser domain has its half of the {domains} of {budget}");
        assert_eq!(chosen.len() - paid - domains, rest);
    }
}

#[test]
fn what_generations_kept_has_its_place_before_the_best() {
    // In the line since, believed, at its death the fourth of its line: innate or not.
    for (since, believed, innate) in [(0, 0.7, true), (0, 0.69, false), (1, 0.9, false), (3, 0.9, false)] {
        let mut old = entry(1, Kind::Heuristic, "old");
        (old.initial, old.class, old.quality) = (believed, Class::Structural, 0.0);
        old.provenance.sources = vec![source(since, How::Inherited)];
        assert_eq!(is_innate(&old, 3, START), innate, "since {since} at {believed}");
        let better = (2..40).map(|id| {
            let mut e = entry(id, Kind::Heuristic, "new");
            e.provenance.sources = vec![source(3, How::Observed)];
            e.quality = 1.0;
            e
        });
        let all: Vec<Entry> = std::iter::once(old).chain(better).collect();
        assert_eq!(compress(all.iter(), START, 8).iter().any(|e| e.id == 1), innate, "since {since} at {believed}");
    }
}

/// What a life should leave: each figure just reached and just missed, for an heir and for the first of a line.
#[test]
fn a_life_should_leave_more_than_it_was_left() {
    let check = |(own, gave_up, questions, others): (u64, u64, u64, u64), generation, asked: &MandateFigures, low| {
        let mut ids = 1..;
        let mut make = |count: u64, kind, how, status| -> Vec<Entry> {
            let ids = ids.by_ref().take(count as usize);
            ids.map(|id| {
                let mut e = entry(id, kind, "x");
                (e.provenance.sources, e.status) = (vec![source(0, how)], status);
                e
            })
            .collect()
        };
        let mut all = make(own, Kind::Insight, How::Observed, Status::Active);
        all.extend(make(gave_up, Kind::Insight, How::Inherited, Status::Archived));
        all.extend(make(questions, Kind::Question, How::Instinct, Status::Active));
        all.extend(make(others, Kind::Insight, How::Inherited, Status::Active));
        let mandate = Mandate::of(all.iter(), 0, generation, asked);
        assert_eq!((u64::from(mandate.novel), u64::from(mandate.invalidated)), (own, gave_up));
        assert_eq!(mandate.low_divergence, low, "{own} {gave_up} {questions} {others}: {mandate:?}");
    };
    let usual = MandateFigures::default();
    assert_eq!((usual.novel, usual.invalidated, usual.questions), (5, 3, 0.10));
    //    own, given up, questions, others
    check((5, 3, 1, 1), 1, &usual, false);
    check((4, 3, 1, 2), 1, &usual, true);
    check((5, 2, 1, 2), 1, &usual, true);
    check((5, 3, 1, 2), 1, &usual, true);
    check((5, 0, 1, 4), 0, &usual, false);
    check((5, 0, 1, 4), 1, &usual, true);
    let none = MandateFigures { novel: 0, invalidated: 0, questions: 0.0 };
    check((0, 0, 0, 1), 1, &none, false);
}

#[test]
fn an_heir_that_would_say_only_what_was_said_is_a_copy() {
    let life = {
        let mut birth = crate::common::birth(golem::constitution::Constitution::bare());
        birth.world.features = vec!["omen".into()];
        birth.world.instincts =
            vec!["when omen > 1 expect tide over 0".into(), "when omen < 1 expect wind over 0".into()];
        golem::Golem::born(birth, START).0.life().clone()
    };
    let same: Vec<Parsed> = life.playbook().iter().map(Parsed::from).collect();
    assert_eq!(divergence(same.iter(), &same), 0.0);
    let mut changed = same.clone();
    changed[0].effect += 0.5;
    assert_eq!(divergence(changed.iter(), &same), 0.5);
    assert_eq!(divergence([].iter(), &same), 1.0);
}

/// An estate goes through the door like everything else: tried before it is believed, and surest surprises first.
#[test]
fn an_estate_is_taken_in_discounted_and_without_a_say() {
    let mut birth = crate::common::birth(golem::constitution::Constitution::bare());
    birth.world.features = vec!["omen".into()];
    birth.world.instincts = vec!["when omen > 1 expect tide over 0".into()];
    let (dead, _) = golem::Golem::born(birth.clone(), START);
    let mut known = Vec::new();
    for (id, omen, effect, initial) in [(10, 2, 1.1, 0.9), (11, 1, 2.0, 0.9), (12, 3, 1.5, 0.2)] {
        let rule = golem::rule::text::parse(&format!("when omen > {omen} expect tide x{effect} over 0"), &birth.world)
            .unwrap();
        let mut e = entry(id, Kind::Heuristic, &format!("rule {id}"));
        e.claim = Some(golem::grimoire::Expectation { domain: rule.domain, effect: rule.effect, stance: rule.stance });
        (e.condition, e.domain, e.initial, e.class) = (Some(rule.condition), Some(0), initial, Class::Structural);
        known.push(e);
    }
    let lines = estate(&Grimoire::new(known), dead.life(), BUDGET);
    assert!(lines[0].rule.as_ref().unwrap().contains("x2"), "the most surprising first: {:?}", lines[0].rule);
    birth.generation = 1;
    let (mut heir, _) = golem::Golem::born(birth, START);
    let mut grimoire = Grimoire::new([]);
    let texts: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (answer, told) = take_in(&mut grimoire, heir.life(), &texts, How::Inherited);
    assert!(told.iter().all(Result::is_ok), "{told:?}");
    for line in lines.iter().filter(|line| line.text != "rule 11") {
        let there = grimoire.entries().find(|e| e.text == line.text);
        let there = there.unwrap_or_else(|| {
            panic!("{} is not among {:?}", line.text, grimoire.entries().map(|e| &e.text).collect::<Vec<_>>())
        });
        assert!((there.confidence(START) - 0.85 * line.confidence).abs() < 1e-9, "it falls by crossing");
        assert_eq!(there.status, Status::Candidate);
    }
    let input = golem::Input { now: START, roll: u64::MAX, what: What::Curated(Box::new(answer)) };
    heir.step(&input).unwrap();
    let first = &heir.life().playbook()[0];
    assert!(first.effect > 1.0 && first.effect < 2.0, "begins where its line left off, as far as that is trusted");
    assert_eq!((first.weight, first.evidence_for), (0.0, 0), "and has everything still to show");
    assert!(heir.life().playbook()[1..].iter().all(|h| !h.voice), "what else it was left is tried without a say");
}
