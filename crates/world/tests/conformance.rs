//! Every world this crate ships keeps every promise a world makes; and the suite that says so notices
//! when one is broken.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use golem::time::{Span, Time};
use golem::world::{Manifest, Observation, Outcome, Quote};
use world::{Candles, Error, Ledger, Order, Queue, QueueConfig, Replay, ReplayConfig, Sim, SimConfig, Spec, World};

/// Opens the world of this description on one durable record, again and again.
fn check(spec: &Spec) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    world::conformance::check(|| spec.open(Ledger::file(&path).unwrap()).unwrap());
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
fn the_job_queue_conforms() {
    for (seed, bar_ms) in [(1, 40_000), (2, 300_000)] {
        check(&Spec::Queue { seed, bar_ms });
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
            world::conformance::check(|| {
                Box::new(Replay::new(candles.clone(), config.clone(), Ledger::file(&path).unwrap()).unwrap())
            });
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

/// A simulated market that breaks one promise.
struct Liar {
    sim: Sim,
    lie: Lie,
    asked: u64,
}

#[derive(Clone, Copy, Debug)]
enum Lie {
    None,
    TellsEarly,
    SkipsABar,
    ForgetsWhatItSaidBefore,
    NamesAFeatureTwice,
    HidesAFeature,
    ShowsNoNumber,
    FillsTooWell,
    IgnoresTheLimit,
    ActsTwice,
    ForgetsItsFates,
    DoesWhatWasRuledOut,
}

impl World for Liar {
    fn manifest(&self) -> Manifest {
        let mut manifest = self.sim.manifest();
        if matches!(self.lie, Lie::NamesAFeatureTwice) {
            manifest.features[5] = manifest.features[4].clone();
        }
        manifest
    }

    fn start(&self) -> Time {
        self.sim.start()
    }

    fn end(&self) -> Option<Time> {
        None
    }

    fn seek(&mut self, until: Time) -> Result<(), Error> {
        self.sim.seek(until)
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error> {
        self.asked += 1;
        let bar = self.sim.manifest().bar;
        let late = if matches!(self.lie, Lie::TellsEarly) { Span::millis(1) } else { Span::ZERO };
        self.sim.observe(since, now + late, into)?;
        match self.lie {
            Lie::SkipsABar => into.bars.retain(|b| b.closed != self.sim.start() + bar.times(77) || self.asked < 3),
            Lie::ForgetsWhatItSaidBefore => into.bars.iter_mut().for_each(|b| b.values[0] += (self.asked / 10) as f64),
            Lie::HidesAFeature => into.bars.iter_mut().skip(9).for_each(|b| b.features.truncate(3)),
            Lie::ShowsNoNumber => into.bars.iter_mut().skip(9).for_each(|b| b.features[3] = f64::NAN),
            _ => {}
        }
        Ok(())
    }

    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error> {
        self.sim.preview(order)
    }

    fn commit(&mut self, key: u64, order: &Order) -> Result<Option<Outcome>, Error> {
        let key = match self.lie {
            Lie::DoesWhatWasRuledOut if key == 50 => 51,
            _ => key,
        };
        let order = match self.lie {
            Lie::IgnoresTheLimit => Order { limit: golem::Usdc::MOST, ..*order },
            Lie::ActsTwice if key == 1 => {
                self.sim.commit(1_001, order)?;
                *order
            }
            _ => *order,
        };
        let mut outcome = self.sim.commit(key, &order)?;
        if let (Lie::FillsTooWell, Some(outcome)) = (self.lie, &mut outcome) {
            outcome.cash = if outcome.units > 0 { outcome.cash.share(99, 100) } else { outcome.cash };
        }
        Ok(outcome)
    }

    fn reconcile(&mut self, key: u64) -> Result<Option<Outcome>, Error> {
        self.sim.reconcile(key)
    }
}

#[test]
fn the_suite_notices_every_broken_promise() {
    let broken = |lie: Lie| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let check = || {
            world::conformance::check(|| {
                let forgets = matches!(lie, Lie::ForgetsItsFates);
                let ledger = if forgets { Ledger::memory() } else { Ledger::file(&path).unwrap() };
                Box::new(Liar { sim: Sim::new(SimConfig::default(), ledger).unwrap(), lie, asked: 0 })
            });
        };
        let panic = catch_unwind(AssertUnwindSafe(check)).err()?;
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        said.or_else(|| panic.downcast_ref::<String>().cloned())
    };
    assert_eq!(broken(Lie::None), None);
    for (lie, sentence) in [
        (Lie::TellsEarly, "is told earlier"),
        (Lie::SkipsABar, "asked in chunks it tells other bars"),
        (Lie::ForgetsWhatItSaidBefore, "asked in chunks it tells other bars"),
        (Lie::NamesAFeatureTwice, "two features are named vol_24"),
        (Lie::HidesAFeature, "has not one value for every feature"),
        (Lie::ShowsNoNumber, "NaN"),
        (Lie::FillsTooWell, "must not pay"),
        (Lie::IgnoresTheLimit, "was the limit"),
        (Lie::ActsTwice, "something was done twice"),
        (Lie::ForgetsItsFates, "it has forgotten what became of key 1"),
        (Lie::DoesWhatWasRuledOut, "a key that was ruled out must never be done"),
    ] {
        let said = broken(lie).unwrap_or_else(|| panic!("{lie:?} went unnoticed"));
        assert!(said.contains(sentence), "{lie:?}: {said}");
    }
}

/// `when FEATURE > NUMBER [and FEATURE < NUMBER …] expect DOMAIN over BARS [then STANCE]`, of what is declared.
fn check_instinct(text: &str, manifest: &Manifest) {
    let (condition, rest) = text.split_once(" expect ").unwrap();
    let (rest, stance) = rest.split_once(" then ").unwrap_or((rest, "add"));
    assert!(stance == "add" || stance == "reduce", "{text}");
    let (domain, bars) = rest.split_once(" over ").unwrap();
    let domain = manifest.domains.iter().find(|spec| spec.name == domain).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(bars.parse(), Ok(domain.horizon), "{text}");
    let comparisons: Vec<&str> = condition.strip_prefix("when ").unwrap().split(" and ").collect();
    assert!(comparisons.len() <= golem::limits::COMPARISONS);
    for comparison in comparisons {
        let [feature, is, than] = comparison.split(' ').collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert!(manifest.features.iter().any(|name| name == feature), "{text}");
        assert!(is == ">" || is == "<", "{text}");
        assert!(than.trim_end_matches('%').parse::<f64>().is_ok(), "{text}");
    }
}

#[test]
fn instincts_speak_of_declared_features_and_domains_and_leave_room_to_explore() {
    let worlds = [
        Spec::Sim { seed: 1, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None },
        Spec::Sim { seed: 1, bar_ms: 3_600_000, relations_change_days: 0.0, edge_bps: None, flip_days: None },
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
