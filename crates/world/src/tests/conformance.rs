//! Every world this crate ships keeps every promise a world makes; and the suite that says so notices
//! when one is broken.

use std::fmt::{Debug, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::tests::liars::{Liar, Lie, Slow, SlowLie};
use crate::{Candles, Ledger, Queue, QueueConfig, Replay, ReplayConfig, Sim, SimConfig, Spec};
use golem::time::{Span, Time};
use golem::world::Manifest;

const NOTHING: [&str; 0] = [];

/// Opens the world of this description on one durable record, again and again.
fn check(spec: &Spec) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let found = crate::conformance::check(|| spec.open(Ledger::file(&path).unwrap()).unwrap());
    assert_eq!(found, NOTHING, "{spec:?}");
}

#[test]
fn the_simulated_market_conforms() {
    for (seed, bar_ms) in [(1, 40_000), (2, 60_000), (3, 3_600_000), (4, 1_000)] {
        check(&Spec::Sim { seed, bar_ms, relations_change_days: 2.0, edge_bps: None, flip_days: None });
    }
}

#[test]
fn the_staged_markets_conform() {
    // A flip at once, one amid what the suite looks at, and both at a time.
    for (edge_bps, flip_days) in
        [(Some(0), None), (Some(45), None), (None, Some(0.0)), (None, Some(1.0)), (Some(45), Some(1.0))]
    {
        check(&Spec::Sim { seed: 5, bar_ms: 40_000, relations_change_days: 0.0, edge_bps, flip_days });
    }
}

#[test]
fn markets_with_an_edge_that_moves_conform() {
    for (seed, edge_bps, move_days) in [(1, 45, 0.0), (2, 45, 0.1), (3, 0, 30.0), (4, 1_000, 30.0)] {
        check(&Spec::Edge { seed, bar_ms: 40_000, edge_bps, move_days });
    }
}

#[test]
fn the_job_queue_conforms() {
    for (seed, bar_ms) in [(1, 40_000), (2, 300_000)] {
        check(&Spec::Queue { seed, bar_ms });
    }
}

#[test]
fn worlds_that_say_later_what_became_of_an_order_conform() {
    let sim = Spec::Sim { seed: 1, bar_ms: 40_000, relations_change_days: 2.0, edge_bps: None, flip_days: None };
    for (world, settle_bars) in [(sim.clone(), 1), (sim, 30), (Spec::Queue { seed: 1, bar_ms: 40_000 }, 5)] {
        check(&Spec::Slow { world: Box::new(world), latency_ms: 0, settle_bars });
    }
}

#[test]
fn replayed_candles_with_gaps_and_bad_rows_conform() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("candles.csv");
    let mut text = String::from("ts,open,high,low,close,volume\n");
    for minute in 0..6_000_u64 {
        let close = 100 + minute * 7 % 13;
        match minute {
            700..750 | 4_100 | 5_990..5_995 => continue,
            1_000 => writeln!(text, "{},what,{close},1,1,1", minute * 60).unwrap(),
            _ => writeln!(text, "{},{close},{close},{close},{close},{}", minute * 60, minute % 50).unwrap(),
        }
    }
    std::fs::write(&path, text).unwrap();
    let (_, report) = Candles::read(&path).unwrap();
    assert_eq!((report.problems.len(), report.gaps.len()), (1, 4));
    for start in [None, Some(60_000), Some(342_000)] {
        check(&Spec::Replay { path: path.clone(), start, sha256: None });
    }
}

#[test]
fn a_series_that_still_grows_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let bar = |minute: u64| {
        let close = (100 + minute * 7 % 13) as f64;
        let (volume, gas) = ((minute % 50) as f64, (1 + minute % 17) as f64);
        crate::Candle { opened: Time::seconds(minute * 60), open: close, high: close, low: close, close, volume, gas }
    };
    let there = |minute: &u64| !matches!(minute, 700..750 | 4_100 | 5_990..5_995);
    for gas in [false, true] {
        let path = folder.path().join(format!("candles-{gas}.csv"));
        let open = if gas { crate::series::Writer::with_gas } else { crate::series::Writer::open };
        let mut writer = open(path.clone(), Span::seconds(60)).unwrap();
        writer.add(&(0..12_000).filter(there).map(bar).collect::<Vec<_>>(), "a venue").unwrap();
        for start in [0, 60_000, 342_000] {
            check(&Spec::Live { path: path.clone(), bar_ms: 60_000, start, before: None });
        }
    }
}

#[test]
fn real_candles_conform() {
    for (file, gaps, missing) in [("hourly/eth_usdt_1h.csv.gz", 0, 0), ("hourly/sol_usdt_1h.csv.gz", 3, 439)] {
        let Some(path) = shared(file) else { continue };
        let (candles, report) = Candles::read(&path).unwrap();
        println!("{file}: {report}");
        assert_eq!(candles.interval(), Span::seconds(3_600));
        assert_eq!((report.problems.len(), report.gaps.len()), (0, gaps));
        assert_eq!(report.gaps.iter().map(|gap| gap.missing).sum::<u64>(), missing);
        let reopen = |start: Option<Time>| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger");
            let config = ReplayConfig { start, name: file.to_owned() };
            let found = crate::conformance::check(|| {
                Box::new(Replay::new(candles.clone(), config.clone(), Ledger::file(&path).unwrap()).unwrap())
            });
            assert_eq!(found, NOTHING, "{file} from {start:?}");
        };
        reopen(None);
        reopen(report.gaps.first().map(|gap| gap.from - Span::DAY.times(20)));
    }
}

#[test]
fn every_real_file_is_read_without_a_complaint() {
    for (file, bars, interval) in [
        ("five_minute/eth_usdt_5m_2024.csv.gz", 71_768, "5m"),
        ("daily/btc_usdt_1d.csv", 3_112, "1d"),
        ("daily/usdc_usdt_30m_2022.csv", 2_881, "30m"),
    ] {
        let Some(path) = shared(file) else { continue };
        let (candles, report) = Candles::read(&path).unwrap();
        println!("{file}: {report}");
        assert_eq!((candles.bars().len(), report.problems.len()), (bars, 0));
        assert_eq!(candles.interval().to_string(), interval);
    }
}

fn shared(file: &str) -> Option<PathBuf> {
    let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../shared/data").join(file);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("BARDO_REALDATA").is_none(), "{} is absent", path.display());
    eprintln!("skipped: {} is absent", path.display());
    None
}

/// What the suite finds in a market with these lies.
fn findings(lies: &[Lie]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let forgets = lies.contains(&Lie::ForgetsItsFates);
    crate::conformance::check(|| {
        let ledger = if forgets { Ledger::memory() } else { Ledger::file(&path).unwrap() };
        Box::new(Liar::new(lies, ledger))
    })
}

/// The same where everything takes its time.
fn slow_findings(lie: Option<SlowLie>) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (path, post) = (folder.path().join("ledger"), Rc::default());
    crate::conformance::check(|| Box::new(Slow::new(lie, Ledger::file(&path).unwrap(), Rc::clone(&post))))
}

fn check_found(lie: impl Debug, found: &[String], sentence: &str) {
    assert!(found.iter().any(|finding| finding.contains(sentence)), "{lie:?}: {found:#?}");
}

#[test]
fn nothing_is_found_where_nobody_lies() {
    assert_eq!(findings(&[]), NOTHING);
}

#[test]
fn a_slow_world_conforms_if_it_does_everything_once_in_the_end() {
    assert_eq!(slow_findings(None), NOTHING);
}

#[test]
fn every_lie_is_found_and_named() {
    for (lie, sentence) in [
        (Lie::NamesAFeatureTwice, "two features are named vol_24"),
        (Lie::HasAnInstinctNobodyCanRead, "the instinct 'when the moon is full expect gas' cannot be read"),
        (Lie::EndsBeforeItStarts, "a world must not end before it starts"),
        (Lie::IsAway, "a world must be able to tell its bars: nobody answers; it will be tried again"),
        (Lie::TellsEarly, "is told earlier"),
        (Lie::SkipsABar, "asked in chunks it tells other bars"),
        (Lie::ForgetsWhatItSaidBefore, "asked for the past again, it tells another"),
        (Lie::HidesAFeature, "does not have one value for every feature"),
        (Lie::ShowsNoNumber, "NaN"),
        (Lie::FailsAtNonsense, "nonsense is refused, not an error"),
        (Lie::QuotesAnotherPriceEachTime, "the same preview at the same bar gives another quote"),
        (Lie::ActsWhenAskedForAPreview, "it takes back units that were only previewed"),
        (Lie::FillsTooWell, "must not pay"),
        (Lie::IgnoresTheLimit, "was the limit"),
        (Lie::TakesTooMuchGas, "$0.01 of gas was taken where $0.00 was allowed"),
        (Lie::SellsBelowTheFloor, "was the least"),
        (Lie::AddsMoreThanWasOrdered, "2000000 units were to be added, and what was held changed by 2000001"),
        (Lie::SplitsLots, "not whole lots of 10"),
        (Lie::ActsTwice, "something was done twice"),
        (Lie::DoesAKeyAnew, "the same key gave another outcome"),
        (Lie::ForgetsItsFates, "it has forgotten what became of key 1"),
        (Lie::KnowsWhatNobodySent, "it knows of a key that was never sent"),
        (Lie::DoesWhatWasRuledOut, "a key that was ruled out must never be done"),
        (Lie::IsNotSureAfterwards, "asked again about key 1, it gives another fate"),
    ] {
        check_found(lie, &findings(&[lie]), sentence);
    }
}

#[test]
fn every_lie_that_takes_its_time_is_found_and_named() {
    for (lie, sentence) in [
        (SlowLie::DoesItLate, "order 35 was carried out after its end"),
        (SlowLie::DoesTwiceWhatIsSentTwice, "something was done twice"),
        (SlowLie::DoesItAgainWhenReopened, "something was done twice"),
        (SlowLie::MixesUpItsKeys, "asked about key 20, it gives the fate of key 21"),
        (SlowLie::NeverAnswers, "key 1 is still pending after 100 bars"),
        (SlowLie::ChangesItsMind, "key 1 was done and then it was never to be done"),
    ] {
        check_found(lie, &slow_findings(Some(lie)), sentence);
    }
}

/// A builder was told what was broken and not what to do about it, after twenty seconds without a word.
#[test]
fn every_finding_comes_with_a_change_and_what_is_looked_at_is_said_before() {
    let folder = tempfile::tempdir().unwrap();
    for (at, (lie, change)) in [
        (Lie::EndsBeforeItStarts, "`end` lies after `start`"),
        (Lie::TellsEarly, "while `closed` is later than `now`"),
        (Lie::SkipsABar, "never of how often"),
        (Lie::HidesAFeature, "one for every feature"),
        (Lie::FailsAtNonsense, "that is no `error`"),
        (Lie::QuotesAnotherPriceEachTime, "change nothing"),
        (Lie::IgnoresTheLimit, "at most `most`"),
        (Lie::TakesTooMuchGas, "`gas` is at most"),
        (Lie::SellsBelowTheFloor, "at least `least`"),
        (Lie::AddsMoreThanWasOrdered, "by at most `units`"),
        (Lie::SplitsLots, "whole lots only"),
        (Lie::FillsTooWell, "between going in and going out"),
        (Lie::DoesAKeyAnew, "write the fate of a key down"),
    ]
    .into_iter()
    .enumerate()
    {
        let (path, mut looked) = (folder.path().join(at.to_string()), Vec::new());
        let open = || Box::new(Liar::new(&[lie], Ledger::file(&path).unwrap()));
        let found = crate::conformance::examine(open, |what| looked.push(what));
        assert!(found.iter().any(|broken| broken.change.contains(change)), "{lie:?}: {found:#?}");
        assert!(found.iter().all(|broken| !broken.change.is_empty() && !broken.sentence.is_empty()), "{found:#?}");
        assert!(looked.len() > 1 && looked[0] == "what it declares", "{looked:?}");
    }
}

#[test]
fn one_finding_does_not_hide_the_next() {
    let found = findings(&[Lie::NamesAFeatureTwice, Lie::ShowsNoNumber, Lie::IgnoresTheLimit, Lie::ActsTwice]);
    for sentence in ["two features are named", "NaN", "was the limit", "something was done twice"] {
        check_found("four lies", &found, sentence);
    }
}

/// `when FEATURE > NUMBER [and FEATURE < NUMBER …] expect DOMAIN [like a blend of FEATURE, …] over BARS [then STANCE]`, of
/// what is declared.
fn check_instinct(text: &str, manifest: &Manifest) {
    let (condition, rest) = text.split_once(" expect ").unwrap();
    let (rest, stance) = rest.split_once(" then ").unwrap_or((rest, "add"));
    assert!(stance == "add" || stance == "reduce", "{text}");
    let (domain, bars) = rest.split_once(" over ").unwrap();
    let (domain, blended) = domain.split_once(" like a blend of ").map_or((domain, None), |(of, by)| (of, Some(by)));
    let declared = |name: &str| manifest.features.iter().any(|known| known == name);
    assert!(blended.is_none_or(|blended| blended.split(", ").all(declared)), "{text}");
    let domain = manifest.domains.iter().find(|spec| spec.name == domain).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(bars.parse(), Ok(domain.horizon), "{text}");
    let condition = if condition == "always" { None } else { condition.strip_prefix("when ") };
    assert!(condition.is_some() || blended.is_some(), "{text}");
    let comparisons: Vec<&str> = condition.iter().flat_map(|condition| condition.split(" and ")).collect();
    assert!(comparisons.len() <= golem::limits::COMPARISONS);
    for comparison in comparisons {
        let [feature, is, than] = comparison.split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(declared(feature), "{text}");
        assert!(is == ">" || is == "<", "{text}");
        assert!(than.trim_end_matches('%').parse::<f64>().is_ok(), "{text}");
    }
}

#[test]
fn instincts_speak_of_declared_features_and_domains_and_leave_room_to_explore() {
    let worlds = [
        Spec::Sim { seed: 1, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None },
        Spec::Sim { seed: 1, bar_ms: 3_600_000, relations_change_days: 0.0, edge_bps: None, flip_days: None },
        Spec::Edge { seed: 1, bar_ms: 40_000, edge_bps: 45, move_days: 30.0 },
        Spec::Queue { seed: 1, bar_ms: 40_000 },
    ];
    for spec in worlds {
        let manifest = spec.open(Ledger::memory()).unwrap().manifest();
        assert!(manifest.instincts.len() <= golem::limits::HEURISTICS * 2 / 3);
        for text in &manifest.instincts {
            check_instinct(text, &manifest);
            assert_eq!(manifest.instincts.iter().filter(|other| *other == text).count(), 1, "{text}");
        }
        for domain in &manifest.domains {
            assert!(manifest.instincts.iter().any(|text| text.contains(&format!("expect {} ", domain.name))));
        }
    }
}

#[test]
fn worlds_can_be_sent_to_another_thread() {
    fn sendable<T: Send>() {}
    sendable::<Sim>();
    sendable::<Replay>();
    sendable::<Queue>();
    assert_eq!(QueueConfig::default().bar, SimConfig::default().bar);
}
