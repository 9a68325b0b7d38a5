//! A list is made from glances, and must never say anything but what the journals say: whoever is run, killed, ended,
//! moved, restored or meddled with in between.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Dice, Tent};
use serde_json::{Value, json};
use vault::{Glance, Reader};

/// What the list says of everyone, and how many of them it said by a glance.
fn check_list(tent: &Tent) -> usize {
    let places = tent.home().list().unwrap();
    let glanced = places.iter().filter(|place| Glance::read(&place.vault()).is_some()).count();
    let listed = tent.ok(["--json", "golem", "list"]);
    assert_eq!(listed.lines().count(), places.len());
    for (line, place) in listed.lines().zip(places) {
        let said: Value = serde_json::from_str(line).unwrap();
        let (golem, _) = place.wake().unwrap();
        let life = golem.life();
        let books = golem::books::Books::of(life);
        let usd = |sum: golem::Usdc| sum.as_micros() as f64 / 1e6;
        let known = json!({
            "money_unit": "millionths of a dollar", "credit_usd": usd(life.purse().credit), "net_usd": usd(books.net),
            "spent_usd": usd(books.spent + books.gas), "given_usd": usd(books.given.credit + books.harvested),
            "name": place.name, "id": life.id().to_string(), "vitality": life.vitality().composite, "age_ms": life.age(),
            "ticks": life.tick(), "phase": life.phase(), "buried": false, "why": Value::Null, "credit": life.purse().credit, "books": books, "calls": life.calls().made, "running": false, "state": said["state"],
        });
        assert_eq!(said, known, "{}", place.name);
        assert_eq!(said["state"] == "dead", life.is_dead() && said["state"] != "moved");
    }
    glanced
}

#[test]
fn a_list_says_what_the_journals_say() {
    let tent = Tent::new();
    for (name, seed) in [("ada", "1"), ("bea", "2"), ("cleo", "3")] {
        tent.ok(["golem", "new", name, "--seed", seed]);
        check_list(&tent);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "700"]);
    }
    assert_eq!(check_list(&tent), 3, "whoever was run and has come to rest needs no waking");
    tent.ok(["golem", "fund", "ada", "1"]);
    tent.ok(["golem", "pause", "bea"]);
    tent.ok(["golem", "retire", "cleo", "--confirm", "cleo"]);
    assert_eq!(check_list(&tent), 3);

    let kept = tent.folder.path().join("kept");
    tent.ok(["golem", "backup", "ada", kept.to_str().unwrap()]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
    check_list(&tent);
    tent.ok(["golem", "restore", kept.to_str().unwrap(), "--rewind"]);
    check_list(&tent);
    tent.ok(["golem", "resume", "bea"]);
    let away = tent.folder.path().join("away");
    tent.ok(["golem", "move", "bea", away.to_str().unwrap(), "--to", crate::common::ELSEWHERE]);
    check_list(&tent);
    assert!(tent.ok(["golem", "list"]).contains("moved"));
}

#[test]
fn a_life_that_is_killed_leaves_no_glance_of_an_earlier_moment() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let mut dice = Dice(5);
    for _ in 0..20 {
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
        assert_eq!(check_list(&tent), 1);
        let mut run = tent.command(["golem", "run", "ada", "--speed", "20000x"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(30 + dice.roll(60)));
        run.kill().unwrap();
        run.wait().unwrap();
        check_list(&tent);
    }
}

/// Old files brought back by hand, a glance from elsewhere, a damaged one: none is believed.
#[test]
fn a_glance_that_does_not_belong_to_its_file_is_not_believed() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
    let place = tent.golem("ada");
    let glance = place.folder.join("glance");
    let early = fs::read(&glance).unwrap();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
    let late = fs::read(&glance).unwrap();
    assert_ne!(early, late);
    fs::write(&glance, &early).unwrap();
    assert_eq!(check_list(&tent), 0);
    for bit in (0..late.len() * 8).step_by(7) {
        let mut bytes = late.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&glance, bytes).unwrap();
        assert_eq!(Glance::read(&place.vault()), None, "bit {bit}");
    }
    fs::write(&glance, &late).unwrap();
    assert_eq!(check_list(&tent), 1);
    // Another file of the same life in its place.
    let bytes = fs::read(place.database()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    fs::write(place.database(), bytes).unwrap();
    assert_eq!(check_list(&tent), 0);
    assert_eq!(Reader::open(&place.database()).unwrap().tip().unwrap().seq, place.wake().unwrap().0.seq());
}

#[test]
fn many_golems_are_listed_without_being_woken() {
    let tent = Tent::new();
    tent.ok(["treasury", "add", "100000"]);
    let golems = 60;
    for n in 0..golems {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
        tent.ok(["golem", "pause", &format!("g{n}")]);
    }
    assert_eq!(check_list(&tent), golems);
    let began = Instant::now();
    let all = tent.home().glances().unwrap();
    let took = began.elapsed();
    assert!(all.iter().all(|(_, seen)| seen.is_ok()));
    println!("{golems} at a glance in {took:?}");
    assert!(took < Duration::from_millis(200), "{took:?}");
}
