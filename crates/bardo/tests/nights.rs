//! One seed, one life: to the byte the same in one run, in pieces, killed at any instant, under a host and in the lab,
//! with its dreams.

mod common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Dice, Tent, full, text};
use golem::{Event, Golem, What};
use host::chance::Secret;
use host::rehearsal::Rehearsal;
use vault::codec::Hash;
use vault::{Line, Reader};
use world::Ledger;

const TICKS: u64 = 12_000;

fn born(seed: u64, more: &[&str]) -> Tent {
    let tent = Tent::new();
    let seed = seed.to_string();
    let mut args = vec!["golem", "new", "ada", "--seed", &seed, "--set", "dream.enabled=true"];
    more.iter().for_each(|set| args.extend(["--set", set]));
    tent.ok(args);
    tent
}

fn run(tent: &Tent, ticks: u64) {
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &ticks.to_string()]);
}

/// The hash of every record, and the ticks they tell of.
fn records(tent: &Tent) -> (Vec<Hash>, u64) {
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    let (mut last, mut ticks) = (0, 0);
    reader
        .replay(|record| {
            last = record.seq;
            ticks += record.events.iter().filter(|event| matches!(event, Event::Aged { .. })).count() as u64;
            Ok(())
        })
        .unwrap();
    ((1..=last).map(|seq| reader.hash_at(seq).unwrap().unwrap()).collect(), ticks)
}

fn must_be_the_same(whole: &[Hash], other: &[Hash], how: &str) {
    let both = whole.len().min(other.len());
    let differs = (0..both).find(|at| whole[*at] != other[*at]);
    assert_eq!(differs.map(|at| at + 1), None, "{how}: the first record that differs");
}

/// Lived by SIGKILL and starting again.
fn killed(seed: u64, more: &[&str]) -> Vec<Hash> {
    let (tent, mut dice) = (born(seed, more), Dice(seed));
    let mut ticks = 0;
    while ticks < TICKS {
        let left = (TICKS - ticks).to_string();
        let mut command = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", &left]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(200 + dice.roll(1_500));
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
        ticks = records(&tent).1;
    }
    records(&tent).0
}

/// Lived by a host, from so many ticks on.
fn hosted(seed: u64, more: &[&str], from: u64, ticks: u64) -> Vec<Hash> {
    let tent = born(seed, more);
    if from > 0 {
        run(&tent, from);
    }
    let mut command = tent.command(["--json", "up", "--listen", "", "--speed", "1000000"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(600);
    let goal = from + ticks;
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let shown: serde_json::Value = serde_json::from_str(&tent.ok(["--json", "golem", "show", "ada"])).unwrap();
        let tick = shown["tick"].as_u64().unwrap_or_else(|| panic!("{shown}"));
        if tick >= goal {
            break;
        }
        assert!(Instant::now() < deadline, "only {tick} of {goal} ticks");
    }
    assert!(std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    records(&tent).0
}

/// Lived in memory, from its birth record and its secret.
fn rehearsed(tent: &Tent) -> Vec<Hash> {
    let place = tent.golem("ada");
    let reader = Reader::open(&place.database()).unwrap();
    let (mut birth, mut funds) = (None, None);
    reader
        .replay(|record| {
            for event in &record.events {
                match event {
                    Event::Born(born) => birth = Some(((**born).clone(), record.at)),
                    Event::Funded { transfer, credit, capital } => {
                        funds.get_or_insert(What::Funded { transfer: *transfer, credit: *credit, capital: *capital });
                    }
                    _ => {}
                }
            }
            Ok(())
        })
        .unwrap();
    let (birth, at) = birth.unwrap();
    let world = tent.home().open_world(&birth.world.spec, Ledger::memory()).unwrap();
    let (id, mut hashes) = (birth.id, vec![reader.hash_at(1).unwrap().unwrap()]);
    let (golem, _) = Golem::born(birth, at);
    let mut life = Rehearsal::new(golem, world, Secret::load(&place.secret()).unwrap());
    let mut hear = |record: &golem::Record, life: &golem::Life| {
        let tip = *hashes.last().unwrap();
        hashes.push(Line::of(id, &tip, record, life).hash);
    };
    life.feed(funds.unwrap(), &mut hear).unwrap();
    while !life.is_over() && life.life().tick < TICKS {
        life.tick(&mut hear).unwrap();
    }
    hashes
}

/// A night saw what its golem knew only where that happened to lie in memory: in the middle of a run, never after a start,
/// and never at a host. So a life that was interrupted, or lived at a host, dreamt less than its twin that was not.
#[test]
fn one_seed_is_one_life_however_it_is_lived() {
    let seeds = [11, 21, 22, 5, 1_234, 77, 8, 99];
    for (at, seed) in seeds.into_iter().take(full(8, 3) as usize).enumerate() {
        // Every other one dreams long and whole nights.
        let more: &[&str] = if at % 2 == 1 { &["dream.tier=hardened"] } else { &[] };
        let tent = born(seed, more);
        run(&tent, TICKS);
        let (whole, ticks) = records(&tent);
        let nights = tent.verified("ada").life().dreams.nights;
        assert!(ticks == TICKS && nights >= 2, "seed {seed}: {nights} nights in {ticks} ticks");
        must_be_the_same(&whole, &rehearsed(&tent), &format!("seed {seed}, in memory"));

        let pieces = born(seed, more);
        (0..9).for_each(|_| run(&pieces, TICKS / 9));
        run(&pieces, TICKS % 9);
        assert_eq!(records(&pieces), (whole.clone(), TICKS), "seed {seed}, interrupted nine times");

        let killed = killed(seed, more);
        assert_eq!(killed.len(), whole.len(), "seed {seed}, killed");
        must_be_the_same(&whole, &killed, &format!("seed {seed}, killed"));

        // A host takes its time: fifty syncs a second at most.
        let ticks = full(4_000, 200);
        let hosted = hosted(seed, more, TICKS - 300 - ticks, ticks);
        must_be_the_same(&whole, &hosted, &format!("seed {seed}, at a host"));
    }
}
