//! `bench`: how many golems this machine carries, found out by running some as fast as they go.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use host::config::{File, Settings};
use host::life::birth::{Wish, birth};
use host::life::newborn;
use host::up::notify::Telling;
use host::up::{Chores, Plan, Up};
use host::view::board::Board;
use host::view::figures::count;
use host::{Error, Home};
use serde::Serialize;

use crate::args::BenchArgs;
use crate::output::{self, line};

/// Far more than any machine keeps up with, so that what is measured is the machine.
const FAST: f64 = 1e6;
/// What a host does in the first moments is not what it does all day.
const WARM: Duration = Duration::from_secs(2);
/// Nights, requests and bad moments need room too.
const SHARE: f64 = 0.5;
/// How often a golem looks at its world unless its owner says otherwise.
const INTERVAL: f64 = 40.0;

/// What was measured, and what follows from it.
#[derive(Debug, Serialize)]
struct Carried {
    golems: usize,
    seconds: f64,
    ticks_per_second: f64,
    syncs_per_second: f64,
    bytes_of_memory_each: f64,
    bytes_of_disk_a_tick: f64,
    /// With a tick every 40 s and half of the machine left free.
    by_speed: u64,
    /// None where the system does not say how much memory there is.
    by_memory: Option<u64>,
}

pub(crate) fn bench(home: &Home, args: &BenchArgs, json: bool) -> Result<ExitCode, Error> {
    // On the disk that golems would be written to, and in nobody's way.
    let beside = home.root().parent().filter(|folder| folder.is_dir());
    let folder = beside.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
    let folder = folder.map_err(|why| Error::Host(format!("cannot make a folder to try it in: {why}")))?;
    let tried = Home::at(folder.path().join("home"));
    if !json {
        line(format!("making {} golems in {}", args.golems, folder.path().display()));
    }
    populate(&tried, args.golems)?;
    if !json {
        line(format!("running them as fast as they go, for {} s", args.seconds));
    }
    let carried = measure(&tried, args)?;
    if json {
        output::json(&carried);
    } else {
        tell(&carried);
    }
    Ok(ExitCode::SUCCESS)
}

fn populate(home: &Home, golems: usize) -> Result<(), Error> {
    let opening = format!("treasury.opening={}", 200 * golems);
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[opening])?)?;
    for number in 0..golems {
        let settings = newborn::settings(home, None, Vec::new())?;
        let seed = Some(number as u64);
        let spec = newborn::spec(home, &settings, seed)?;
        let name = format!("g{number}").parse().expect("a plain name");
        birth(home, Wish::of(name, spec, seed, settings))?;
    }
    Ok(())
}

fn measure(home: &Home, args: &BenchArgs) -> Result<Carried, Error> {
    let telling = Telling { here: None, ..Telling::of(&Settings::load(File::Bardo, None, std::iter::empty(), &[])?)? };
    let before = resident();
    let chores = Chores { telling, backups: None, archive: None };
    let plan = Plan { speed: FAST, chores, api: None, gateway: None, relay: None };
    let up = Up::come(home, plan, |_| {})?;
    let (board, asker, root) = (up.board(), up.asker(), home.root().to_owned());
    let length = Duration::from_secs(args.seconds);
    let measured = std::thread::spawn(move || {
        std::thread::sleep(WARM);
        let (first, bytes, began) = (counts(&board), size(&root), Instant::now());
        std::thread::sleep(length);
        let (last, took, grown) = (counts(&board), began.elapsed().as_secs_f64(), size(&root).saturating_sub(bytes));
        let memory = resident();
        asker.stop();
        ((last.0 - first.0) as f64, (last.1 - first.1) as f64, took, grown as f64, memory)
    });
    up.run(|_| {})?;
    let (ticks, syncs, seconds, grown, after) = measured.join().expect("it only counts");
    let each =
        after.zip(before).map_or(0.0, |(after, before)| after.saturating_sub(before) as f64) / args.golems as f64;
    let by_memory = free_memory().filter(|_| each > 0.0).map(|free| (free as f64 * SHARE / each) as u64);
    Ok(Carried {
        golems: args.golems,
        seconds,
        ticks_per_second: ticks / seconds,
        syncs_per_second: syncs / seconds,
        bytes_of_memory_each: each,
        bytes_of_disk_a_tick: grown / ticks.max(1.0),
        by_speed: (ticks / seconds * INTERVAL * SHARE) as u64,
        by_memory,
    })
}

fn counts(board: &Board) -> (u64, u64) {
    (board.ticks.load(Ordering::Relaxed), board.syncs.load(Ordering::Relaxed))
}

fn tell(carried: &Carried) {
    let many = carried.by_memory.unwrap_or(u64::MAX).min(carried.by_speed);
    line(format!(
        "{} ticks a second, {} syncs a second, {:.1} MB of memory for each golem, {} bytes of disk for each tick",
        count(carried.ticks_per_second as u64),
        count(carried.syncs_per_second as u64),
        carried.bytes_of_memory_each / 1e6,
        count(carried.bytes_of_disk_a_tick as u64),
    ));
    line(format!(
        "with a tick every {INTERVAL} s and half of the machine left free: about {} golems",
        count(round(many))
    ));
    line(format!("  as far as speed goes   {:>10}", count(round(carried.by_speed))));
    if let Some(by_memory) = carried.by_memory {
        line(format!("  as far as memory goes  {:>10}", count(round(by_memory))));
    }
    let day = many as f64 * 86_400.0 / INTERVAL * carried.bytes_of_disk_a_tick / 1e9;
    line(format!("they would write {day:.1} GB a day; journal.retention in bardo.toml says how much of it stays"));
}

/// Two figures are all that such a measurement gives.
fn round(number: u64) -> u64 {
    let unit = 10u64.pow(number.max(1).ilog10().saturating_sub(1));
    number / unit * unit
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
