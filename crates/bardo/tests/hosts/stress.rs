//! Pressure as its owner meets it: on the command line, between golems of one home, and in files that somebody has
//! been at.

use crate::common::Tent;
use rusqlite::{Connection, params};
use serde_json::Value;
use vault::{Reader, codec};

/// Stubbornly wrong from the start, and looked at hourly: something soon presses.
fn pressed(tent: &Tent, name: &str, mode: &str) {
    let mode = ["--set", &format!("stress.mode={mode}")];
    let wrong = ["--set", "mind.kind=reflex", "--set", "reflex.pull=-1", "--set", "mortality.epistemic.enabled=false"];
    let hourly = ["--set", "world.bar=1h", "--interval", "1h", "--seed", "5"];
    tent.ok(["golem", "new", name].iter().chain(&wrong).chain(&hourly).chain(&mode));
    tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "700"]);
}

#[test]
fn an_owner_sees_what_presses_why_and_what_would_clear_it() {
    let tent = Tent::new();
    pressed(&tent, "ada", "enforced");
    let shown = tent.ok(["golem", "stress", "ada"]);
    assert!(shown.contains("repeated_failure (") && shown.contains("goals here failed"), "{shown}");
    assert!(shown.contains("clears when fewer than 30 %") && shown.contains("closed now:"), "{shown}");
    assert!(shown.contains("still open: giving up exposure"), "{shown}");
    let value: Value = serde_json::from_str(&tent.ok(["--json", "golem", "stress", "ada"])).unwrap();
    assert_eq!(value["mode"], "enforced");
    let active = value["active"].as_array().unwrap();
    assert!(!active.is_empty() && active.iter().all(|s| s["severity"].as_f64().unwrap() >= 0.2), "{value}");
    assert!(value["load"].as_f64().unwrap() > 0.5, "{value}");
    let portrait = tent.ok(["golem", "show", "ada"]);
    assert!(portrait.contains("\n  load       ") && portrait.contains("\n  mood       "), "{portrait}");
}

#[test]
fn pressure_can_be_only_shown_or_switched_off() {
    let tent = Tent::new();
    pressed(&tent, "seen", "visible");
    pressed(&tent, "off", "off");
    let seen = tent.ok(["golem", "stress", "seen"]);
    assert!(seen.contains("repeated_failure") && !seen.contains("closed now"), "{seen}");
    assert_eq!(tent.ok(["golem", "stress", "off"]).trim(), "off  load not observed");
    let unknown = tent.fails(1, ["golem", "new", "x", "--set", "stress.objectives=moonlight"]);
    assert!(unknown.contains("moonlight") && unknown.contains("volatility"), "{unknown}");
}

#[test]
fn golems_of_one_home_hear_of_a_death_once() {
    let tent = Tent::new();
    for name in ["ada", "bea", "cid"] {
        tent.ok(["golem", "new", name, "--seed", "1"]);
    }
    tent.ok(["golem", "retire", "cid", "--confirm", "cid"]);
    let id = tent.verified("cid").life().id().to_string();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "50"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "50"]);
    let heard = tent.ok(["golem", "events", "ada", "--all"]);
    assert_eq!(heard.matches(&format!("heard that {} has died", &id[..8])).count(), 1, "{heard}");
    tent.ok(["golem", "retire", "bea", "--confirm", "bea"]);
    let dead = tent.ok(["golem", "events", "cid"]);
    assert!(!dead.contains("heard that"), "the dead hear nothing: {dead}");
}

/// A neighbour whose inbox is no folder once kept a golem from closing what it held.
#[test]
fn a_neighbour_that_cannot_be_written_to_holds_nobody_up() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "new", "bea", "--seed", "2"]);
    std::fs::write(tent.golem("bea").inbox(), "in the way").unwrap();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "20"]);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let ada = tent.verified("ada");
    assert!(ada.life().is_dead() && ada.owes_nothing());
}

#[test]
fn a_life_edited_in_its_file_is_found_out() {
    let tent = Tent::new();
    pressed(&tent, "ada", "enforced");
    let place = tent.golem("ada");
    let truth = Reader::open(&place.database()).unwrap().wake().unwrap().0.life().clone();
    assert!(!truth.stress().active.is_empty());
    let db = Connection::open(place.database()).unwrap();
    let newest = "SELECT seq, body FROM snapshot ORDER BY seq DESC LIMIT 1";
    let (seq, body): (i64, Vec<u8>) = db.query_row(newest, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let kept = codec::decode_life(&body, seq as u64).unwrap();
    assert!(!kept.life().stress().active.is_empty());
    let mut told = serde_json::to_value(kept.life()).unwrap();
    told["stress"]["active"] = serde_json::json!([]);
    let forged = codec::encode_life(&serde_json::from_value(told).unwrap());

    // Edited without more ado, it is passed over: the life is as it was lived.
    db.execute("UPDATE snapshot SET body = ?2 WHERE seq = ?1", params![seq, forged]).unwrap();
    let (golem, notices) = Reader::open(&place.database()).unwrap().wake().unwrap();
    assert_eq!(golem.life().stress(), truth.stress());
    assert!(notices.iter().any(|notice| notice.contains("damaged")), "{notices:?}");

    // With a hash made for it as well, whoever checks the file finds that nobody lived it.
    let tip: Vec<u8> = db.query_row("SELECT hash FROM journal WHERE seq = ?1", [seq], |row| row.get(0)).unwrap();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(seq as u64).to_le_bytes()).update(&tip).update(&forged);
    let hash = hasher.finalize();
    db.execute("UPDATE snapshot SET hash = ?2 WHERE seq = ?1", params![seq, hash.as_bytes()]).unwrap();
    let found = Reader::open(&place.database()).unwrap().verify(&tent.home().heads()).unwrap_err().to_string();
    assert!(found.contains("is not the life lived until then"), "{found}");
}
