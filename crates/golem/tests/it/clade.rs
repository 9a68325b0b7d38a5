//! Siblings: what one tells the others goes through one gate out and one door in. Nothing is believed on a sibling's
//! word, none is heard more often than an hour allows, and nothing is handed on without end.

use crate::common::{Rig, SAFE, changed};
use golem::clade::{self, Died, News, Parcel, Stain};
use golem::constitution::{MindKind, Mode};
use golem::event::Event;
use golem::grimoire::bundle::{BundleLine, VERSION};
use golem::grimoire::{
    AN_HOUR, AN_HOUR_EACH, Class, Decision, Entry, Grimoire, How, Kind, PASSED_ON, Provenance, Source, Status, digest,
    draft,
};
use golem::policy;
use golem::regime::Regime;
use golem::world::Observation;
use golem::{Duty, Golem, GolemId, Input, Owed, Span, What};
use serde_json::json;

fn rig() -> Rig {
    let mut rig = Rig::in_world(
        |own| own.mind.kind = MindKind::Rules,
        |world| world.features = vec!["level".into(), "wind".into()],
    );
    rig.ticks(200);
    rig
}

fn sibling(n: u8) -> GolemId {
    GolemId([n; 16])
}

fn line(kind: Kind, than: f64, origin: GolemId, hops: u32) -> String {
    let rule = format!("when level > {than} expect tide x1.2");
    let line = BundleLine {
        bundle: VERSION,
        kind,
        text: rule.clone(),
        rule: Some(rule),
        link: None,
        shown: None,
        regime: None,
        class: Class::Tactical,
        confidence: 1.0,
        evidence_for: 1_000.0,
        evidence_against: 0.0,
        born: crate::common::START,
        validated_at: crate::common::START,
        bloodstain: true,
        provenance: Provenance {
            sources: vec![Source { golem: origin, generation: 0, how: How::Observed }],
            crossings: 0,
            hops,
            brought: None,
        },
    };
    serde_json::to_string(&line).unwrap()
}

fn parcel(from: GolemId, number: u64, lines: Vec<String>) -> Parcel {
    Parcel { from, number, news: News::Knowledge { entries: lines.len() as u32 }, lines, died: None }
}

/// Takes a round with these, and says what of each is left.
fn round(rig: &mut Rig, grimoire: &mut Grimoire, parcels: &[&Parcel]) -> Vec<Vec<String>> {
    let (answer, rest) = digest(grimoire, rig.golem.life(), parcels);
    rig.feed(What::Curated(Box::new(answer))).unwrap();
    rest
}

fn from(grimoire: &Grimoire, origin: GolemId) -> Vec<&Entry> {
    grimoire.entries().filter(|entry| entry.provenance.sources.iter().any(|source| source.golem == origin)).collect()
}

#[test]
fn what_a_sibling_says_is_tried_and_not_believed() {
    let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
    let told = parcel(sibling(7), 1, vec![line(Kind::Heuristic, 0.25, sibling(7), 0)]);
    assert!(round(&mut rig, &mut grimoire, &[&told])[0].is_empty());
    let entries = from(&grimoire, sibling(7));
    assert_eq!(entries.len(), 1);
    assert!(entries[0].status == Status::Candidate && entries[0].initial == 0.4, "{:?}", entries[0]);
    assert!(!entries[0].bloodstain && entries[0].evidence_for == 0.0 && entries[0].provenance.hops == 1);
    assert_eq!(entries[0].provenance.sources[0].how, How::Clade);
    // The same line of the same origin is one entry and no surer, whichever sibling brings it.
    for bringer in [7, 8, 9] {
        let again = parcel(sibling(bringer), 2, vec![line(Kind::Heuristic, 0.25, sibling(7), 1)]);
        round(&mut rig, &mut grimoire, &[&again]);
    }
    let entries = from(&grimoire, sibling(7));
    assert!(entries.len() == 1 && entries[0].provenance.sources.len() == 1 && entries[0].initial <= 0.4);
    // Of what a sibling doubts itself, four fifths of its confidence are left.
    let doubted = line(Kind::Heuristic, 0.75, sibling(6), 0).replace("\"confidence\":1.0", "\"confidence\":0.3");
    round(&mut rig, &mut grimoire, &[&parcel(sibling(6), 1, vec![doubted])]);
    let doubted = from(&grimoire, sibling(6));
    assert!(doubted.len() == 1 && (doubted[0].initial - 0.24).abs() < 1e-12, "{doubted:?}");
}

/// An entry that says the opposite of something known scores too little to be kept, however well either is believed.
#[test]
fn what_contradicts_something_in_use_is_not_taken_in() {
    for kind in [Kind::Insight, Kind::Warning] {
        for believed in [0.9, 0.3] {
            let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
            round(&mut rig, &mut grimoire, &[&parcel(sibling(7), 1, vec![line(kind, 0.25, sibling(7), 0)])]);
            let known = Entry { initial: believed, ..from(&grimoire, sibling(7))[0].clone() };
            grimoire.apply(&Decision::Put(Box::new(known)));
            let opposite = line(kind, 0.25, sibling(8), 0).replace("x1.2", "x0.8");
            let beside = line(kind, 0.35, sibling(9), 0).replace("x1.2", "x0.8");
            let told = [parcel(sibling(8), 1, vec![opposite]), parcel(sibling(9), 1, vec![beside])];
            assert!(round(&mut rig, &mut grimoire, &told.iter().collect::<Vec<_>>()).iter().all(Vec::is_empty));
            let taken = [8, 9].map(|of| from(&grimoire, sibling(of)).len());
            assert_eq!(taken, [0, 1], "{kind:?} beside one believed {believed}");
        }
    }
}

#[test]
fn who_has_seen_nothing_yet_lets_it_wait() {
    let mut rig = Rig::in_world(
        |own| own.mind.kind = MindKind::Rules,
        |world| world.features = vec!["level".into(), "wind".into()],
    );
    let (mut grimoire, told) =
        (Grimoire::new([]), parcel(sibling(7), 1, vec![line(Kind::Heuristic, 0.25, sibling(7), 0)]));
    rig.ticks(199);
    assert_eq!(round(&mut rig, &mut grimoire, &[&told])[0], told.lines);
    rig.ticks(1);
    assert!(round(&mut rig, &mut grimoire, &[&told])[0].is_empty() && from(&grimoire, sibling(7)).len() == 1);
}

#[test]
fn nobody_is_heard_more_often_than_an_hour_allows_and_the_rest_waits() {
    let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
    let lines = |of: u8| -> Vec<String> {
        (0..150).map(|n| line(Kind::Heuristic, f64::from(n % 40) / 1_000.0 + f64::from(of), sibling(of), 0)).collect()
    };
    let parcels: Vec<Parcel> = (1..=4).map(|of| parcel(sibling(of), 1, lines(of))).collect();
    let mut waiting: Vec<Parcel> = parcels.clone();
    let (mut hours, mut taken) = (0, 0);
    assert_eq!((AN_HOUR, AN_HOUR_EACH), (200, 100));
    while waiting.iter().any(|parcel| !parcel.lines.is_empty()) {
        let before: usize = waiting.iter().map(|parcel| parcel.lines.len()).sum();
        let rest = round(&mut rig, &mut grimoire, &waiting.iter().collect::<Vec<_>>());
        if hours == 0 {
            assert_eq!(rest.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50, 150, 150], "a hundred of the first two");
        }
        for (parcel, rest) in waiting.iter_mut().zip(rest) {
            assert!(parcel.lines.len() - rest.len() <= AN_HOUR_EACH as usize, "one source");
            assert!(parcel.lines.ends_with(&rest), "in its order");
            parcel.lines = rest;
        }
        let after: usize = waiting.iter().map(|parcel| parcel.lines.len()).sum();
        assert!(before - after <= AN_HOUR as usize, "all sources");
        taken += before - after;
        // The same hour lets nothing more in.
        let again = round(&mut rig, &mut grimoire, &waiting.iter().collect::<Vec<_>>());
        assert_eq!(again.iter().map(Vec::len).sum::<usize>(), after);
        rig.ticks(91);
        hours += 1;
        assert!(hours < 10, "{after} wait for ever");
    }
    assert!(taken == 600 && hours >= 3, "{taken} in {hours} hours");
}

#[test]
fn who_brings_what_comes_to_nothing_fills_no_memory_with_it() {
    let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
    let mut told = 0;
    for hour in 0..20 {
        // Each under another name.
        let lines: Vec<String> = (0..100)
            .map(|n| line(Kind::Heuristic, f64::from(hour * 100 + n) / 2_000.0, sibling(100 + n as u8), 0))
            .collect();
        told += lines.len();
        round(&mut rig, &mut grimoire, &[&parcel(sibling(9), 1 + hour as u64, lines)]);
        rig.ticks(91);
    }
    let waiting = grimoire.in_use().filter(|entry| entry.provenance.brought == Some(sibling(9))).count();
    assert!(told == 2_000 && waiting <= 50 && waiting > 0, "{waiting}");
}

#[test]
fn a_warning_is_not_kept_waiting() {
    // Either fifty of one sibling wait for their trial, or a hundred of its lines were read within the hour.
    for (different, left) in [(120, 70), (40, 20)] {
        let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
        let mut lines: Vec<String> =
            (0..120).map(|n| line(Kind::Heuristic, f64::from(n % different) / 1_000.0, sibling(3), 0)).collect();
        lines.push(line(Kind::Warning, 0.5, sibling(3), 0));
        let rest = round(&mut rig, &mut grimoire, &[&parcel(sibling(3), 1, lines)]);
        assert_eq!(rest[0].len(), left, "of {different} different lines");
        assert!(!rest[0].iter().any(|line| line.contains("warning")));
        assert!(from(&grimoire, sibling(3)).iter().any(|entry| entry.kind == Kind::Warning));
    }
}

/// Entries that go out are counted by the hour of its world, however many rounds there are in one.
#[test]
fn a_hundred_entries_go_out_in_an_hour_and_warnings_beside_them() {
    let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
    let me = Source { golem: rig.golem.life().id(), generation: 0, how: How::Observed };
    let know = |grimoire: &mut Grimoire, rig: &Rig, kind: Kind, n: u64| {
        let mut entry = draft(kind, &format!("{} {n}", kind.name()), me, rig.golem.life().now());
        (entry.id, entry.initial) = (10_000 + n, 0.9);
        grimoire.apply(&Decision::Put(Box::new(entry)));
    };
    let tell = |grimoire: &mut Grimoire, rig: &mut Rig| {
        let (answer, _) = digest(grimoire, rig.golem.life(), &[]);
        let shares = answer.shares;
        rig.feed(What::Curated(Box::new(answer))).unwrap();
        shares
    };
    (0..250).for_each(|n| know(&mut grimoire, &rig, Kind::Insight, n));
    let told: Vec<u32> = (0..4).map(|_| tell(&mut grimoire, &mut rig)).collect();
    assert_eq!(told, [40, 40, 20, 0], "forty in a word at most");
    (1_000..1_003).for_each(|n| know(&mut grimoire, &rig, Kind::Warning, n));
    assert_eq!(tell(&mut grimoire, &mut rig), 3, "warnings are not counted");
    rig.ticks(91);
    let told: Vec<u32> = (0..4).map(|_| tell(&mut grimoire, &mut rig)).collect();
    assert_eq!(told, [40, 40, 20, 0], "what was too much goes out in the next hour");
}

#[test]
fn a_round_is_due_fifty_ticks_after_the_last() {
    let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
    let is_due = |rig: &Rig| rig.golem.owed().any(|owed| owed == Owed::Duty(Duty::Curate));
    for _ in 0..2 {
        assert!(is_due(&rig));
        round(&mut rig, &mut grimoire, &[]);
        rig.ticks(49);
        assert!(!is_due(&rig));
        rig.ticks(1);
    }
}

/// The word goes into the record that notices the turn, and says which regime it is.
#[test]
fn a_turn_of_the_world_is_told_when_it_is_noticed() {
    for share in [true, false] {
        let mut rig = Rig::in_world(|own| own.clade.share = share, |world| world.regime = Some(0));
        rig.ticks(300);
        let turned = (0..400).find_map(|_| {
            let due = rig.golem.life().due().max(rig.golem.life().seen().until + Span::seconds(40));
            let mut bar = rig.bar(due);
            bar.values[0] = 300.0;
            let events = rig.feed_at(due, SAFE, What::Observed(Observation { bars: vec![bar] })).unwrap();
            events.iter().any(|event| matches!(event, Event::Regime(_))).then_some(events)
        });
        let events = turned.expect("a level three times as high is another regime");
        let told = events.iter().filter_map(|event| match event {
            Event::Clade(clade::Event::CalledOut { news, .. }) => Some(*news),
            _ => None,
        });
        let expected = share.then_some(News::Regime { to: Regime::Unsettled });
        assert_eq!(told.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
    }
}

/// In another regime, after a week, and where the world looks otherwise, nothing is held back.
#[test]
fn where_a_sibling_died_half_is_risked_for_a_week() {
    let mut rig = Rig::in_world(
        |own| (own.mind.kind, own.mode) = (MindKind::Rules, Mode::Immortal),
        |world| world.features = vec!["level".into(), "wind".into()],
    );
    rig.ticks(200);
    let due = rig.golem.life().due().max(rig.golem.life().seen().until + Span::seconds(40));
    let mut bar = rig.bar(due);
    bar.features = [0.5, 0.5].into_iter().collect();
    let (week, moment) = (Span::DAY.times(7), Span::millis(1));
    let heard = due - week + moment;
    for (heard, regime, level, near) in [
        (heard, Regime::Usual, 0.5, true),
        (heard - moment, Regime::Usual, 0.5, false),
        (heard, Regime::Calm, 0.5, false),
        (heard, Regime::Usual, -5.0, false),
    ] {
        let features = [Some(level), Some(0.5)].into_iter().collect();
        let stain = Stain { from: sibling(2), regime, features, heard };
        let life = changed(rig.golem.life(), |life| life["clade"]["stains"] = json!([stain]));
        let mut golem = Golem::resume(life, rig.golem.seq()).unwrap();
        let what = What::Observed(Observation { bars: vec![bar.clone()] });
        golem.step(&Input { now: due, roll: SAFE, what }).unwrap();
        assert_eq!(golem.life().clade().near, near.then_some(sibling(2)), "{stain:?}");
        assert_eq!(policy::caution(golem.life(), None), if near { 50 } else { 100 });
    }
}

#[test]
fn nothing_is_handed_on_without_end_and_nothing_of_ones_own_comes_back() {
    let (mut rig, mut grimoire) = (rig(), Grimoire::new([]));
    let me = rig.golem.life().id();
    let far = parcel(sibling(5), 1, vec![line(Kind::Heuristic, 0.3, sibling(4), PASSED_ON)]);
    let own = parcel(sibling(5), 2, vec![line(Kind::Heuristic, 0.4, me, 1)]);
    let near = parcel(sibling(5), 3, vec![line(Kind::Heuristic, 0.5, sibling(4), PASSED_ON - 1)]);
    assert!(round(&mut rig, &mut grimoire, &[&far, &own, &near]).iter().all(Vec::is_empty));
    let heard: Vec<&Entry> = grimoire
        .entries()
        .filter(|entry| entry.provenance.sources.iter().any(|source| source.how == How::Clade))
        .collect();
    assert!(heard.len() == 1 && heard[0].provenance.hops == PASSED_ON, "{heard:?}");
    // However well it does here, it stays here.
    let tried = Entry { status: Status::Active, evidence_for: 50.0, initial: 0.9, ..heard[0].clone() };
    let id = tried.id;
    grimoire.apply(&Decision::Put(Box::new(tried)));
    round(&mut rig, &mut grimoire, &[]);
    assert_eq!(grimoire.get(id).unwrap().shared, None);
}

#[test]
fn what_was_missed_is_read_again_and_no_more_than_that() {
    let (rig, mut grimoire) = (rig(), Grimoire::new([]));
    let life = rig.golem.life();
    for n in 0..300_u64 {
        let mut entry = draft(
            Kind::Insight,
            &format!("thing {n}"),
            Source { golem: life.id(), generation: 0, how: How::Observed },
            life.now(),
        );
        (entry.id, entry.shared, entry.initial) = (n + 1, (n < 250).then_some(n / 10 + 1), 0.5 + n as f64 / 1_000.0);
        grimoire.apply(&Decision::Put(Box::new(entry)));
    }
    let all = Parcel::since(life, grimoire.entries(), 0).unwrap();
    assert_eq!(all.lines.len(), 200);
    assert!(all.lines[0].contains("thing 249") && !all.lines.iter().any(|line| line.contains("thing 251")));
    assert_eq!(Parcel::since(life, grimoire.entries(), 24).unwrap().lines.len(), 10);
    assert_eq!(Parcel::since(life, grimoire.entries(), 25), None);
}

#[test]
fn a_word_counts_once_in_whatever_order_it_comes() {
    let mut rig = rig();
    let to = [Regime::Calm, Regime::Unsettled].into_iter().find(|to| *to != rig.golem.life().regimes().now).unwrap();
    let word = |number, news| What::Heard { from: sibling(2), number, news, stain: None };
    assert!(!rig.feed(word(2, News::Regime { to })).unwrap().is_empty());
    for number in [1, 2] {
        assert!(rig.feed(word(number, News::Death)).unwrap().is_empty(), "{number} is old");
    }
    // What it taught before that has waited for a round, and is not passed over for it.
    let taught = word(1, News::Knowledge { entries: 3 });
    assert!(!rig.feed(taught.clone()).unwrap().is_empty() && rig.feed(taught).unwrap().is_empty());
    let heard = rig.golem.life().clade().heard_of(sibling(2));
    assert_eq!((heard.taught, heard.said), (1, 2));
    let features = vec![("level".to_owned(), 0.5), ("nowhere".to_owned(), 2.0), ("wind".to_owned(), f32::NAN)];
    let died = Parcel { died: Some(Died { regime: to, features }), ..parcel(sibling(2), 3, Vec::new()) };
    let death = Parcel { news: News::Death, ..died };
    rig.feed(death.heard_in(&rig.golem.life().birth().world.clone())).unwrap();
    let stain = &rig.golem.life().clade().stains[0];
    assert_eq!(stain.features.as_slice(), [Some(0.5), None], "as far as this world has the words");
}
