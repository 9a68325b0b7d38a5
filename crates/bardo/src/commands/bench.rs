//! `bench`: how many golems this machine carries, found out by running some as fast as they go.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use server::up::notify::Telling;
use server::up::{ChoreSettings, Plan, Up};
use settings::{File, Settings};
use shell::life::birth::{Wish, birth};
use shell::life::newborn;
use shell::view::board::Board;
use shell::view::figures::count;
use shell::{Error, Home, Runtime};

use super::run::catch_interrupts;
use crate::args::BenchArgs;
use crate::exit;
use crate::output::{self, line};

/// Far more than any machine keeps up with, so that what is measured is the machine.
const FAST: f64 = 1e6;
/// Time for a host to settle: its first moments are not like the rest of its day.
const WARM: Duration = Duration::from_secs(2);
/// How often it is looked whether its owner has seen enough.
const LOOK: Duration = Duration::from_millis(50);
/// Nights, requests and bad moments need room too.
const SHARE: f64 = 0.5;
/// How often a golem looks at its world unless its owner says otherwise.
const INTERVAL: f64 = 40.0;

/// The measurement, and the figures that follow from it.
#[derive(Debug, Serialize)]
struct Carried {
    golems: usize,
    seconds: f64,
    ticks_per_second: f64,
    /// Each golem waits for its tick to be on disk, so few of them leave most of the machine idle: this is what counts.
    cpu_seconds_a_tick: f64,
    syncs_per_second: f64,
    bytes_of_memory_each: f64,
    bytes_of_disk_a_tick: f64,
    /// With a tick every 40 s and half of the machine left free; none where the system does not say what a process takes.
    by_speed: Option<u64>,
    /// None where the system does not say how much memory there is.
    by_memory: Option<u64>,
}

pub(crate) fn bench(home: &Home, args: &BenchArgs, json: bool) -> Result<ExitCode, Error> {
    let interrupted = catch_interrupts()?;
    // On the disk that golems would be written to, but outside the home.
    let beside = home.root().parent().filter(|folder| folder.is_dir());
    let mut named = tempfile::Builder::new();
    let named = named.prefix("bardo-bench-");
    let folder = beside.map_or_else(|| named.tempdir(), |beside| named.tempdir_in(beside));
    let folder = folder.map_err(|why| Error::Host(format!("cannot make a folder to try it in: {why}")))?;
    let tried = Home::at(folder.path().join("home"));
    if !json {
        line(format!("making {} golems in {}", args.golems, folder.path().display()));
    }
    populate(&tried, args.golems, &interrupted)?;
    if !json {
        line(format!("running them as fast as they go, for {} s", args.seconds));
    }
    let nobody = Home::at(folder.path().join("nobody"));
    populate(&nobody, 0, &interrupted)?;
    match measure(&tried, &nobody, args, &interrupted)? {
        None => return Ok(ExitCode::from(exit::INTERRUPTED)),
        Some(carried) if json => output::json(&carried),
        Some(carried) => tell(&carried),
    }
    Ok(ExitCode::SUCCESS)
}

fn populate(home: &Home, golems: usize, interrupted: &AtomicU32) -> Result<(), Error> {
    let opening = format!("treasury.opening={}", 200 * golems);
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[opening])?)?;
    let runtime = Runtime::of(home);
    for number in (0..golems).take_while(|_| interrupted.load(Ordering::SeqCst) == 0) {
        let settings = newborn::settings(home, None, Vec::new())?;
        let seed = Some(number as u64);
        let spec = newborn::spec(home, &settings, seed)?;
        let name = format!("g{number}").parse().expect("a plain name");
        birth(&runtime, Wish::of(name, spec, seed, settings))?;
    }
    Ok(())
}

/// Work a process has done and resources it has used so far.
struct Taken {
    ticks: u64,
    syncs: u64,
    cpu: Option<f64>,
    memory: Option<u64>,
    bytes: u64,
}

impl Taken {
    fn by(board: &Board, root: &Path) -> Taken {
        let (ticks, syncs) = (board.ticks.load(Ordering::Relaxed), board.syncs.load(Ordering::Relaxed));
        Taken { ticks, syncs, cpu: cpu_seconds(), memory: resident(), bytes: size(root) }
    }
}

/// None if it was interrupted.
fn measure(
    home: &Home,
    nobody: &Home,
    args: &BenchArgs,
    interrupted: &Arc<AtomicU32>,
) -> Result<Option<Carried>, Error> {
    // The resources of an empty host belong to no golem.
    let (empty, _) = watched(nobody, Duration::ZERO, interrupted)?;
    let (first, last) = watched(home, Duration::from_secs(args.seconds), interrupted)?;
    if interrupted.load(Ordering::SeqCst) > 0 {
        return Ok(None);
    }
    let (seconds, ticks) = (args.seconds as f64, (last.ticks - first.ticks).max(1) as f64);
    let cpu = last.cpu.zip(first.cpu).map(|(last, first)| (last - first).max(0.01) / ticks);
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let grown = last.memory.zip(empty.memory).map(|(last, empty)| last.saturating_sub(empty).max(1));
    let each = grown.map(|grown| grown as f64 / args.golems as f64);
    Ok(Some(Carried {
        golems: args.golems,
        seconds,
        ticks_per_second: ticks / seconds,
        cpu_seconds_a_tick: cpu.unwrap_or_default(),
        syncs_per_second: (last.syncs - first.syncs) as f64 / seconds,
        bytes_of_memory_each: each.unwrap_or_default(),
        bytes_of_disk_a_tick: last.bytes.saturating_sub(first.bytes) as f64 / ticks,
        by_speed: cpu.map(|cpu| (cores / cpu * INTERVAL * SHARE) as u64),
        by_memory: free_memory().zip(each).map(|(free, each)| (free as f64 * SHARE / each) as u64),
    }))
}

/// A host with all golems of this home, measured before and after this span.
fn watched(home: &Home, length: Duration, interrupted: &Arc<AtomicU32>) -> Result<(Taken, Taken), Error> {
    let telling = Telling::of(&Settings::load(File::Bardo, None, std::iter::empty(), &[])?)?;
    let chores = ChoreSettings { telling, backups: None, archive: None };
    let up = Up::come(home, Plan { speed: FAST, chores, api: None, gateway: None, relay: None }, |_| {})?;
    let (board, asker, root, interrupted) = (up.board(), up.asker(), home.root().to_owned(), Arc::clone(interrupted));
    let wait = move |length: Duration| {
        let end = Instant::now() + length;
        while Instant::now() < end && interrupted.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
    };
    let watching = std::thread::spawn(move || {
        wait(WARM);
        let first = Taken::by(&board, &root);
        wait(length);
        let last = Taken::by(&board, &root);
        asker.stop();
        (first, last)
    });
    up.run(|_| {})?;
    Ok(watching.join().expect("it only counts"))
}

fn tell(carried: &Carried) {
    line(format!(
        "{} ticks a second with {:.2} ms of a processor each, {} syncs a second, at most {} kB of memory for each golem, {} bytes of disk \
         for each tick",
        count(carried.ticks_per_second as u64),
        carried.cpu_seconds_a_tick * 1_000.0,
        count(carried.syncs_per_second as u64),
        count((carried.bytes_of_memory_each / 1e3) as u64),
        count(carried.bytes_of_disk_a_tick as u64),
    ));
    let limits = [("processors go", carried.by_speed), ("memory goes, at the least", carried.by_memory)];
    let Some(many) = limits.iter().filter_map(|(_, most)| *most).min() else {
        return line("how many it carries is unknown: this system does not report what a process uses");
    };
    line(format!(
        "with a tick every {INTERVAL} s and half of the machine left free: about {} golems",
        count(round(many))
    ));
    for (what, most) in limits {
        line(format!("  as far as {what:<25} {:>10}", most.map_or("unknown".to_owned(), |most| count(round(most)))));
    }
    let day = many as f64 * 86_400.0 / INTERVAL * carried.bytes_of_disk_a_tick / 1e9;
    line(format!("they would write {day:.1} GB a day; journal.retention in bardo.toml says how much of it stays"));
}

/// Two figures are all that such a measurement gives.
fn round(number: u64) -> u64 {
    let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(1));
    number / unit * unit
}

/// Seconds of a processor this process has taken, where the system says.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let after = stat.rsplit(')').next()?;
    let ticks: Vec<f64> = after.split_whitespace().skip(11).take(2).filter_map(|word| word.parse().ok()).collect();
    (ticks.len() == 2).then(|| (ticks[0] + ticks[1]) / 100.0)
}

/// Bytes of memory this process holds, where the system says.
fn resident() -> Option<u64> {
    kilobytes("/proc/self/status", "VmRSS:")
}

fn free_memory() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1_024)
}

/// Bytes of everything below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => size(&entry.path()),
            _ => entry.metadata().map_or(0, |file| file.len()),
        })
        .sum()
}
