//! The Page–Hinkley test against river's, on streams with and without changes. Both do the same arithmetic
//! in the same order, so not only every detection but every sum must agree, to the bit.
//! The fixtures are written by `fixtures/page_hinkley.py`.

use std::collections::BTreeMap;

use golem::regime::{Mode, PageHinkley, Settings, Sums};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixtures {
    streams: BTreeMap<String, Vec<f64>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    stream: String,
    settings: Settings,
    changes: Vec<usize>,
    end: Sums,
}

fn fixtures() -> Fixtures {
    serde_json::from_str(include_str!("../fixtures/page_hinkley.json")).unwrap()
}

#[test]
fn every_change_is_found_where_river_finds_it_and_every_sum_ends_the_same() {
    let Fixtures { streams, cases } = fixtures();
    for Case { stream, settings, changes, end } in cases {
        let mut test = PageHinkley::new(settings);
        let values = streams[&stream].iter().enumerate();
        let found: Vec<usize> = values.filter(|(_, x)| test.update(**x)).map(|(at, _)| at).collect();
        assert_eq!(found, changes, "{stream} with {settings:?}");
        assert_eq!(*test.sums(), end, "{stream} with {settings:?}");
    }
}

#[test]
fn observing_and_deciding_apart_comes_to_the_same_as_both_at_once() {
    let Fixtures { streams, cases } = fixtures();
    for Case { stream, settings, .. } in cases {
        let (mut whole, mut split) = (PageHinkley::new(settings), PageHinkley::new(settings));
        let mut changed = false;
        for x in &streams[&stream] {
            if changed {
                split.reset();
            }
            split.observe(*x);
            changed = split.changed();
            assert_eq!(whole.update(*x), changed, "{stream} with {settings:?}");
        }
        assert_eq!(whole, split);
    }
}

#[test]
fn the_fixtures_cover_every_mode_the_defaults_and_streams_that_change_or_do_not() {
    let Fixtures { streams, cases } = fixtures();
    assert_eq!((streams.len(), cases.len()), (9, 90));
    let defaults = || cases.iter().filter(|case| case.settings == Settings::default());
    assert_eq!(defaults().count(), streams.len());
    let changes = |name: &str| defaults().find(|case| case.stream == name).unwrap().changes.clone();
    assert!(changes("constant").is_empty());
    assert!(changes("alternating").is_empty());
    assert_eq!(changes("step up"), [213]);
    assert_eq!(changes("step down"), [167]);
    for mode in [Mode::Both, Mode::Up, Mode::Down] {
        assert!(cases.iter().any(|case| case.settings.mode == mode && !case.changes.is_empty()));
    }
}
