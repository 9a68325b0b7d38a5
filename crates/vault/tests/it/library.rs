//! The shelf's own figures: who counts as knowing, what five of them add, what an hour holds, what a week proposes.

use golem::grimoire::bundle::BundleLine;
use golem::grimoire::{Class, Kind, Provenance};
use golem::{GolemId, Time};
use vault::Library;
use vault::library::{BATTLE_TESTED, By, PROPOSES, Shelved};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn shelf() -> (tempfile::TempDir, Library) {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::open(&folder.path().join("library.db")).unwrap();
    (folder, library)
}

fn line(kind: Kind, text: &str, confidence: f64) -> BundleLine {
    let then = Time::seconds(1_700_000_000);
    BundleLine {
        bundle: 1,
        kind,
        text: text.to_owned(),
        rule: None,
        link: None,
        shown: None,
        regime: None,
        class: Class::Structural,
        confidence,
        evidence_for: 3.0,
        evidence_against: 0.0,
        born: then,
        validated_at: then,
        bloodstain: false,
        provenance: Provenance { sources: Vec::new(), crossings: 0, hops: 0, brought: None },
    }
}

fn by(golem: u8) -> By<'static> {
    By { golem: GolemId([golem; 16]), name: "ada", tried: true, stranger: false, limited: false }
}

#[test]
fn what_five_have_tried_is_battle_tested_and_a_tenth_surer() {
    assert_eq!(BATTLE_TESTED, 5);
    for (knowers, confidence, tested, told) in [
        (4, 0.6, false, 0.6),
        (5, 0.6, true, 0.66),
        (9, 0.6, true, 0.66),
        (5, 0.86, true, 0.946),
        (5, 0.9, true, 0.95),
        (5, 0.99, true, 0.95),
        (4, 0.99, false, 0.99),
    ] {
        let (_folder, mut shelf) = shelf();
        for golem in 0..knowers {
            shelf.shelve(&line(Kind::Insight, "tides turn", confidence), by(golem), 0).unwrap();
        }
        let book = &shelf.search(&[]).unwrap()[0];
        assert_eq!((book.known_by.len(), book.battle_tested), (usize::from(knowers), tested));
        assert!((book.line.confidence - told).abs() < 1e-9, "{knowers} at {confidence}: {}", book.line.confidence);
    }
}

/// A line of heirs, each handing down what none had tried, used to make anything battle-tested.
#[test]
fn handing_it_down_five_times_proves_nothing() {
    let (_folder, mut shelf) = shelf();
    let told = line(Kind::Insight, "tides turn", 0.7);
    for golem in 0..7 {
        let tried = golem == 6;
        let shelved = shelf.shelve(&told, By { tried, ..by(golem) }, 0).unwrap();
        let expected = if golem == 0 { Shelved::New } else { [Shelved::Again, Shelved::Known][usize::from(tried)] };
        assert_eq!(shelved, expected, "{golem}");
    }
    let books = shelf.search(&[]).unwrap();
    assert_eq!((books[0].known_by.len(), books[0].battle_tested), (2, false));
}

#[test]
fn the_living_leave_a_hundred_an_hour_and_warnings_as_many_as_there_are() {
    let (_folder, mut shelf) = shelf();
    let mut leave = |golem, kind, n: i64, limited, now| {
        shelf.shelve(&line(kind, &format!("{kind:?} {n}"), 0.7), By { limited, ..by(golem) }, now).unwrap()
    };
    // Warnings neither wait nor take the place of anything.
    for n in 0..150 {
        assert_eq!(leave(1, Kind::Warning, n, true, 0), Shelved::New);
    }
    for n in 0..100 {
        assert_eq!(leave(1, Kind::Insight, n, true, 0), Shelved::New, "{n}");
    }
    for (golem, kind, n, limited, now, expected) in [
        (1, Kind::Insight, 100, true, 0, Shelved::TooMany),
        (1, Kind::Insight, 100, true, HOUR - 1, Shelved::TooMany),
        (1, Kind::Warning, 150, true, 0, Shelved::New),
        (1, Kind::Insight, 101, false, 0, Shelved::New),
        (2, Kind::Insight, 100, true, 0, Shelved::New),
        (1, Kind::Insight, 102, true, HOUR, Shelved::New),
    ] {
        assert_eq!(leave(golem, kind, n, limited, now), expected, "{kind:?} {n} by {golem} at {now}");
    }
}

#[test]
fn what_three_came_to_within_a_week_is_worth_a_bundle() {
    assert_eq!(PROPOSES, 3);
    let check = |at: &[i64], worth: bool| {
        let (_folder, mut shelf) = shelf();
        for (golem, now) in at.iter().enumerate() {
            shelf.shelve(&line(Kind::Insight, "tides turn", 0.7), by(golem as u8), *now).unwrap();
        }
        assert_eq!(shelf.proposals().unwrap().len(), usize::from(worth), "{at:?}");
    };
    check(&[0, DAY], false);
    check(&[0, DAY, 7 * DAY], true);
    check(&[0, DAY, 7 * DAY + 1], false);
    check(&[0, 6 * DAY, 12 * DAY, 18 * DAY], false);
    check(&[0, 20 * DAY, 21 * DAY, 27 * DAY], true);
}
