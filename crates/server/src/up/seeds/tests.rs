//! A hundred and twenty seeds, or as many as there is time for.

use std::collections::BTreeMap;
use std::env;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use shell::locks::lock;

use super::disk::{STEPS, WrittenPart};
use super::run::{Report, run};
use super::town::Towns;

/// The seeds to run: all of them in a full run, a share of them otherwise, or the one to repeat.
fn seeds() -> RangeInclusive<u64> {
    let one = env::var("BARDO_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    one.map_or(1..=if env::var_os("BARDO_FULL").is_some() { 20_000 } else { 120 }, |seed| seed..=seed)
}

fn teller() -> fn(&str) {
    if env::var_os("BARDO_SEED_TELL").is_some() { |what| println!("{what}") } else { |_| {} }
}

#[test]
fn a_host_cut_off_at_any_step_to_the_disk_keeps_every_law() {
    let (towns, seeds) = (Towns::build(), seeds());
    let (next, reports, broken) = (AtomicU64::new(*seeds.start()), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > *seeds.end() || broken.lock().is_ok_and(|broken| !broken.is_empty()) {
                        return;
                    }
                    match catch_unwind(AssertUnwindSafe(|| run(seed, &towns, teller()))) {
                        Ok(report) => lock(&reports).push(report),
                        Err(_) => lock(&broken).push(seed),
                    }
                }
            });
        }
    });
    if let Some(seed) = broken.into_inner().unwrap().first() {
        panic!(
            "seed {seed} breaks a law; BARDO_SEED={seed} cargo nextest run -p bardo-server keeps_every_law repeats it"
        );
    }
    let reports = reports.into_inner().unwrap();
    let mut cuts = BTreeMap::<(&str, WrittenPart), u64>::new();
    reports.iter().flat_map(|report| &report.cuts).for_each(|cut| *cuts.entry((cut.what, cut.how)).or_default() += 1);
    let sum = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>();
    println!(
        "counted: {} seeds, {} hosts cut off, {} steps refused; {} messages told, {} orders, {} actions, {} nights, {} deaths",
        reports.len(),
        sum(|report| report.cuts.len() as u64),
        sum(|report| report.refused),
        sum(|report| report.told),
        sum(|report| report.orders),
        sum(|report| report.actions),
        sum(|report| report.nights),
        sum(|report| report.deaths),
    );
    println!("counted: cut at {cuts:?}");
    if seeds.count() > 1 {
        for what in STEPS {
            for how in [WrittenPart::Lost, WrittenPart::Torn, WrittenPart::Kept] {
                assert!(cuts.contains_key(&(what, how)), "never cut: {what}, {how:?}");
            }
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let (towns, same) = (Towns::build(), Towns::build());
    for seed in 1..=6 {
        assert_eq!(run(seed, &towns, |_| {}).trace, run(seed, &same, |_| {}).trace, "seed {seed}");
    }
}
