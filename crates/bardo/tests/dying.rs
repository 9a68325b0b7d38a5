//! Death always completes: ended by every cause, killed at random on the way and begun again, and with something
//! in the way of its testament; each leaves one valid testament, one bundle and every micro-USDC where it belongs.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use common::{Dice, Tent, full};
use golem::Usdc;
use vault::Reader;

/// Everything there should be of a life that has ended, and nothing twice.
fn check_ended(tent: &Tent, name: &str) {
    let place = tent.golem(name);
    let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
    let life = golem.life();
    assert!(golem.owes_nothing() && life.is_dead(), "{name} has not ended");
    assert_eq!(life.unaccounted(), Usdc::ZERO);
    assert_eq!((life.purse.credit, life.capital.cash), (Usdc::ZERO, Usdc::ZERO), "everything went home");
    let (mut reflected, mut bequeathed, mut ended) = (0, 0, 0);
    Reader::open(&place.database())
        .unwrap()
        .replay(|record| {
            for event in &record.events {
                match event {
                    golem::Event::Reflected { .. } => reflected += 1,
                    golem::Event::Bequeathed { .. } => bequeathed += 1,
                    golem::Event::Turned(golem::heartbeat::State::Dead) => ended += 1,
                    _ => {}
                }
            }
            Ok(())
        })
        .unwrap();
    assert_eq!((reflected, bequeathed, ended), (1, 1, 1), "{name}: each once");
    let told = tent.ok(["testament", name, "--verify"]);
    assert!(told.contains("the testament is the one that was written"), "{told}");
}

#[test]
fn a_death_killed_anywhere_completes_once() {
    let tent = Tent::new();
    let lives = full(250, 8);
    let (mut dice, mut causes) = (Dice(9), std::collections::BTreeMap::new());
    let mut kills = 0;
    tent.ok(["treasury", "add", "100000"]);
    for n in 0..lives {
        let name = format!("g{n}");
        let seed = (n + 1).to_string();
        let mut new = vec!["golem", "new", &name, "--seed", &seed, "--credit", "1"];
        match n % 4 {
            // For want of money, by chance, out of touch, and by its owner.
            0 => new.extend(["--set", "mortality.economic.machine_per_day=400"]),
            1 => new.extend([
                "--set",
                "mortality.stochastic.base_hazard_rate=0.02",
                "--set",
                "mortality.stochastic.max_hazard_rate=0.02",
            ]),
            2 => new.extend([
                "--set",
                "mind.kind=reflex",
                "--set",
                "mortality.epistemic.senescence_threshold=0.49",
                "--set",
                "mortality.epistemic.recovery_threshold=0.495",
            ]),
            _ => {}
        }
        tent.ok(&new);
        let before = tent.all_money();
        let mut run = |args: &[&str]| {
            let mut child = tent.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(500 + dice.roll(60_000)));
            let _ = child.kill();
            kills += u64::from(child.wait().unwrap().code().is_none());
        };
        for _ in 0..3 {
            run(&["golem", "run", &name, "--speed", "max", "--ticks", "900"]);
        }
        // It is ended by its owner at the latest, and killed on the way, again and again.
        for _ in 0..3 {
            run(&["golem", "retire", &name, "--confirm", &name]);
        }
        tent.run(["golem", "retire", &name, "--confirm", &name]);
        tent.run(["golem", "run", &name, "--speed", "max"]);
        check_ended(&tent, &name);
        assert_eq!(tent.all_money(), before, "{name}: to the micro-USDC");
        let (golem, _) = Reader::open(&tent.golem(&name).database()).unwrap().wake().unwrap();
        *causes.entry(golem.life().death.as_ref().unwrap().cause.name()).or_insert(0) += 1;
    }
    println!("{lives} deaths, {kills} kills on the way: {causes:?}");
    assert!(kills > 0 && causes.len() > 1);
}

#[test]
fn something_in_the_way_of_its_testament_only_makes_death_wait() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    // The testament cannot be written: something is in its way.
    let in_the_way = tent.golem("ada").folder.join("testament.new");
    fs::create_dir(&in_the_way).unwrap();
    let refused = tent.run(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("testament"), "{told}");
    let (golem, _) = Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap();
    assert!(golem.life().is_dead() && !golem.owes_nothing(), "it waits");
    let waits = tent.fails(6, ["golem", "successor", "ada"]);
    assert!(waits.contains("has not finished dying"), "{waits}");
    fs::remove_dir(&in_the_way).unwrap();
    tent.run(["golem", "run", "ada", "--speed", "max"]);
    check_ended(&tent, "ada");
    let mode = fs::metadata(tent.root().join("owner.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "the owner's key is the owner's");
}

#[test]
fn heirs_are_made_from_what_was_left_and_copies_are_not() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let alive = tent.fails(6, ["golem", "successor", "ada"]);
    assert!(alive.contains("only the dead have heirs"), "{alive}");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2000"]);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let preview = tent.ok(["golem", "successor", "ada"]);
    assert!(preview.contains("generation 1") && preview.contains("confidence"), "{preview}");
    assert!(preview.contains("say --yes"), "nothing is made without asking: {preview}");
    let copy = tent.fails(6, ["golem", "successor", "ada", "--yes", "--set", "succession.min_divergence=1"]);
    assert!(copy.contains("--force-similarity"), "{copy}");
    tent.ok(["golem", "successor", "ada", "--yes", "--force-similarity", "--seed", "2", "--budget", "7"]);
    let (heir, _) = Reader::open(&tent.golem("ada-2").database()).unwrap().wake().unwrap();
    let (dead, _) = Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap();
    let line = heir.life().birth.lineage.clone().unwrap();
    assert_eq!((line.first, line.parent), (dead.life().id(), dead.life().id()));
    assert!(heir.life().born >= dead.life().now, "nothing is lived twice");
    assert_eq!(heir.life().purse.credit, Usdc::dollars(7));
    let expects = |h: &golem::rule::Heuristic| (h.effect - 1.0).abs() > 0.01 && (h.effect - 0.5).abs() > 0.01;
    assert!(heir.life().playbook.iter().any(|h| h.weight == 0.0 && expects(h)), "it begins where its line left off");
    tent.ok(["golem", "run", "ada-2", "--speed", "max", "--ticks", "500"]);
    tent.ok(["golem", "retire", "ada-2", "--confirm", "ada-2"]);
    tent.ok(["golem", "successor", "ada-2", "--yes", "--no-inherit", "--name", "eve"]);
    let family = tent.ok(["lineage", "eve"]);
    assert!(family.contains("† ada ") && family.contains("† ada-2") && family.contains("• eve"), "{family}");
    let graves = tent.ok(["graveyard"]);
    assert_eq!(graves.matches('†').count(), 2, "{graves}");
}

#[test]
fn a_line_goes_on_by_itself_where_its_owner_wants_it() {
    let tent = Tent::new();
    tent.ok([
        "golem",
        "new",
        "ada",
        "--seed",
        "5",
        "--credit",
        "0.5",
        "--set",
        "succession.auto=true",
        "--set",
        "succession.min_divergence=0",
        "--set",
        "mortality.lifespan=2d",
    ]);
    let told = tent.run(["golem", "run", "ada", "--speed", "max", "--ticks", "8000"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("ada-2 is born and lives on"), "{told}");
    let family = tent.ok(["lineage", "ada"]);
    assert!(family.contains("ada-2"), "{family}");
}

#[test]
fn a_tampered_testament_or_journal_does_not_verify() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    let none = tent.fails(6, ["testament", "ada"]);
    assert!(none.contains("is alive"), "{none}");
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    tent.ok(["testament", "ada", "--verify"]);
    let path = tent.golem("ada").folder.join("testament.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"ticks\": 300", "\"ticks\": 900")).unwrap();
    let refused = tent.fails(6, ["testament", "ada", "--verify"]);
    assert!(refused.contains("not the testament that was written"), "{refused}");
    fs::write(&path, text).unwrap();
    let database = rusqlite::Connection::open(tent.golem("ada").database()).unwrap();
    database.execute("UPDATE journal SET body = zeroblob(length(body)) WHERE seq = 50", []).unwrap();
    drop(database);
    let damaged = tent.run(["testament", "ada", "--verify"]);
    assert!(!damaged.status.success());
}

/// Ten thousand bundles that are not what they say, and the one that is.
#[test]
fn bundles_are_what_they_say_or_refused_with_a_reason() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2000"]);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let home = tent.home();
    let good = fs::read_to_string(tent.golem("ada").legacy()).unwrap();
    let own = host::bundle::Key::of(&home).unwrap();
    let bundle = host::bundle::unpack(&good, &own.public()).unwrap();
    assert!(!bundle.stranger && !bundle.lines.is_empty());
    let (golem, _) = Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap();
    let again = host::bundle::pack(&own, "ada", Some(golem.life()), &bundle.lines);
    assert_eq!(again, good, "it round-trips bit for bit");
    let mut dice = Dice(77);
    let mut random = |below: usize| dice.roll(below.max(1) as u64) as usize;
    for n in 0..full(10_000, 1_000) {
        let mut bytes = good.clone().into_bytes();
        match n % 5 {
            0 => bytes.truncate(random(bytes.len())),
            1 => {
                let at = random(bytes.len());
                bytes[at] = bytes[at].wrapping_add(1 + random(200) as u8);
            }
            2 => bytes.extend_from_slice(b"{\"bundle\":1}\n"),
            3 => {
                let text = String::from_utf8(bytes).unwrap();
                bytes = text.replacen("\"bardo_bundle\":1", &format!("\"bardo_bundle\":{}", 2 + random(90)), 1).into();
            }
            _ => {
                let at = random(bytes.len());
                bytes.splice(at..at, (0..random(50)).map(|n| n as u8 * 5));
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if text == good {
            continue;
        }
        let why = host::bundle::unpack(&text, &own.public()).expect_err("it was changed");
        assert!(!why.is_empty());
    }
    let other = Tent::new();
    let stranger = host::bundle::Key::of(&other.home()).unwrap();
    let theirs = host::bundle::pack(&stranger, "x", None, &bundle.lines);
    assert!(host::bundle::unpack(&theirs, &own.public()).unwrap().stranger, "it is marked so");
    let file = tent.root().join("theirs.bundle");
    fs::write(&file, theirs).unwrap();
    let told = tent.ok(["library", "import", file.to_str().unwrap()]);
    assert!(told.contains("a stranger's"), "{told}");
    let shelf = tent.ok(["library", "list"]);
    assert!(shelf.contains("from ada"), "{shelf}");
    let out = tent.root().join("mine.bundle");
    tent.ok(["library", "export", out.to_str().unwrap()]);
    tent.ok(["golem", "new", "eve", "--seed", "3", "--from", out.to_str().unwrap()]);
}
