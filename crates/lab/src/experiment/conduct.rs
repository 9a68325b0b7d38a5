//! An experiment from its file to its report, in a folder that can be left at any time and come back to.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::json;

use super::fault::io;
use super::report::{self, Findings};
use super::seal::{Power, Seal};
use super::work::{self, Bench, Done, Log, Tuned, Unit};
use super::{Error, Phase};

/// The workers of an experiment.
pub trait Workers {
    /// Does all of these, and hands over each when it is done, in whichever order; or stops when told to.
    fn work(
        &mut self,
        bench: &Bench,
        units: &[Unit],
        tuned: &Tuned,
        stop: &AtomicBool,
        each: &mut dyn FnMut(Done) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// Threads of this process.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

impl Workers for Threads {
    fn work(
        &mut self,
        bench: &Bench,
        units: &[Unit],
        tuned: &Tuned,
        stop: &AtomicBool,
        each: &mut dyn FnMut(Done) -> Result<(), Error>,
    ) -> Result<(), Error> {
        work::by_threads(bench, units, tuned, self.0, stop, each)
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub tuning: bool,
    /// Paths that are done, of how many.
    pub done: usize,
    pub all: usize,
    /// Until this phase is over, at the pace so far.
    pub left: Option<Duration>,
}

/// Runs what has not been run yet, and writes what came of it all. None where it was told to stop before that.
pub fn conduct(
    bench: &Bench,
    folder: &Path,
    workers: &mut dyn Workers,
    stop: &AtomicBool,
    told: &mut dyn FnMut(Progress),
) -> Result<Option<Findings>, Error> {
    std::fs::create_dir_all(folder).map_err(io("cannot make", folder))?;
    let digest = bench.experiment.digest()?;
    same(folder, "experiment.json", &json!({ "sha256": digest, "experiment": bench.experiment.anywhere() }))?;
    let (mut log, mut done) = Log::open(&folder.join("done.jsonl"))?;
    let tuning = bench.units(Phase::Tuning)?;
    // Results in the log may be those the tuning was read from: their order does not depend on which worker was first.
    if !phase(bench, &tuning, &Tuned::new(), (&mut log, &mut done), workers, stop, &mut |p| {
        told(Progress { tuning: true, ..p })
    })? {
        return Ok(None);
    }
    done.sort_by(|a, b| a.unit.cmp(&b.unit));
    let tuned = bench.tuned(&of(&done, Phase::Tuning))?;
    let power = power(bench, &bench.units(Phase::Reporting)?, &done, &tuned);
    let seal = Seal { experiment: digest, program: bench.program.clone(), power, tuned: tuned.clone() };
    same(folder, "seal.json", &serde_json::to_value(&seal).expect("plain data"))?;
    let units = [bench.units(Phase::Reporting)?, bench.units(Phase::Again)?].concat();
    if !phase(bench, &units, &tuned, (&mut log, &mut done), workers, stop, told)? {
        return Ok(None);
    }
    done.sort_by(|a, b| a.unit.cmp(&b.unit));
    let wanted: BTreeSet<&Unit> = tuning.iter().chain(&units).collect();
    done.retain(|one| wanted.contains(&one.unit));
    write(bench, folder, &done, &seal).map(Some)
}

fn of(done: &[Done], phase: Phase) -> Vec<Done> {
    done.iter().filter(|one| one.unit.phase == phase).cloned().collect()
}

/// Checks that a file written by an earlier run equals what would be written now.
fn same(folder: &Path, name: &str, value: &serde_json::Value) -> Result<(), Error> {
    let path = folder.join(name);
    let text = serde_json::to_string_pretty(value).expect("plain data") + "\n";
    match std::fs::read_to_string(&path) {
        Ok(before) if before == text => Ok(()),
        Ok(_) => Err(Error::File(format!("{} belongs to another experiment; name another folder", path.display()))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            // Whole or not at all.
            let beside = folder.join(format!("{name}.new"));
            std::fs::write(&beside, text)
                .and_then(|()| std::fs::rename(&beside, &path))
                .map_err(io("cannot write", &path))
        }
        Err(e) => Err(io("cannot read", &path)(e)),
    }
}

/// Everything of these that is not done yet; whether it came to its end.
fn phase(
    bench: &Bench,
    units: &[Unit],
    tuned: &Tuned,
    (log, done): (&mut Log, &mut Vec<Done>),
    workers: &mut dyn Workers,
    stop: &AtomicBool,
    told: &mut dyn FnMut(Progress),
) -> Result<bool, Error> {
    let mut there: BTreeSet<Unit> = done.iter().map(|one| one.unit.clone()).collect();
    let todo: Vec<Unit> = units.iter().filter(|unit| !there.contains(unit)).cloned().collect();
    let (began, all, before) = (Instant::now(), units.len(), units.len() - todo.len());
    let mut over = 0;
    told(Progress { tuning: false, done: before, all, left: None });
    let mut each = |one: Done| {
        // A result that is handed over twice counts once.
        if there.insert(one.unit.clone()) {
            log.add(&one)?;
            done.push(one);
            over += 1;
            let left = began.elapsed().mul_f64((todo.len() - over) as f64 / over as f64);
            told(Progress { tuning: false, done: before + over, all, left: Some(left) });
        }
        Ok(())
    };
    if !todo.is_empty() {
        workers.work(bench, &todo, tuned, stop, &mut each)?;
    }
    Ok(over == todo.len())
}

/// The power of so many paths, estimated from the tuning paths alone.
fn power(bench: &Bench, units: &[Unit], done: &[Done], tuned: &Tuned) -> Vec<Power> {
    let (experiment, analysis) = (&bench.experiment, &bench.experiment.analysis);
    let mut all = Vec::new();
    for (world, place) in experiment.worlds.iter().enumerate() {
        for (mind, setting) in experiment.minds.iter().enumerate() {
            let here = |d: &&Done| (d.unit.phase, d.unit.world, d.unit.mind) == (Phase::Tuning, world, mind);
            let skill = |d: &Done, arm: &str| {
                let chosen = tuned.get(&work::place_of(&place.name, &setting.name, arm));
                let choices = experiment.arm(arm)?.choices();
                let number = chosen.and_then(|keys| choices.iter().position(|choice| choice == keys)).unwrap_or(0);
                d.fared.get(&format!("{arm}|{number}"))?.skill
            };
            let deviation = |control: &String| {
                let apart: Vec<f64> = done
                    .iter()
                    .filter(here)
                    .filter_map(|d| Some(skill(d, &analysis.thesis)? - skill(d, control)?))
                    .collect();
                Some(super::stats::difference(&apart, 100)?.deviation)
            };
            let widest = analysis.against.iter().filter_map(deviation).fold(0.0, f64::max);
            let here = |unit: &&Unit| (unit.world, unit.mind, unit.dial) == (world, mind, 0);
            let paths = units.iter().filter(here).count() as u64;
            // The strictest of Holm's steps, against the widest of the controls.
            let alpha = analysis.alpha / experiment.worlds.len() as f64;
            let power = super::stats::power(analysis.smallest, widest, paths, alpha);
            all.push(Power { world: place.name.clone(), mind: setting.name.clone(), paths, deviation: widest, power });
        }
    }
    all
}

fn write(bench: &Bench, folder: &Path, done: &[Done], seal: &Seal) -> Result<Findings, Error> {
    let experiment = &bench.experiment;
    for (name, table) in report::tables(experiment, done) {
        table.write(folder, name).map_err(io("cannot write", folder))?;
    }
    let findings = report::findings(experiment, done, &seal.tuned, &seal.digest());
    let save = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(io("cannot write", &path))
    };
    save("findings.json", serde_json::to_string_pretty(&findings).expect("plain data") + "\n")?;
    save("report.md", report::markdown(experiment, &findings, seal))?;
    let seconds: f64 = done.iter().map(|one| one.seconds).sum();
    let cost = json!({
        "ticks": findings.ticks,
        "worker_seconds": seconds,
        "worker_seconds_a_million_ticks": seconds / (findings.ticks as f64 / 1e6).max(1e-9),
    });
    save("cost.json", serde_json::to_string_pretty(&cost).expect("plain data") + "\n")?;
    Ok(findings)
}
