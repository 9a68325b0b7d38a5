//! Death always completes: ended by every cause, killed at random on the way and begun again, and with something
//! in the way of its testament; each leaves one valid testament, one bundle and every micro-USDC where it belongs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Dice, Disk, Tent, full, text};
use golem::grimoire::bundle::BundleLine;
use golem::heartbeat;
use golem::thanatopsis::{self, Rite};
use golem::{Life, Usdc};
use shell::legacy::bundle::Bundle;
use shell::life::questionnaire::Choices;
use vault::Reader;

/// Everything there should be of a life that has ended, and nothing twice.
fn check_ended(tent: &Tent, name: &str) {
    let place = tent.golem(name);
    let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
    let life = golem.life();
    assert!(golem.owes_nothing() && life.is_dead(), "{name} has not ended");
    assert_eq!(life.unaccounted(), Usdc::ZERO);
    assert_eq!((life.purse().credit, life.capital().cash), (Usdc::ZERO, Usdc::ZERO), "everything went home");
    let (mut reflected, mut bequeathed, mut ended) = (0, 0, 0);
    Reader::open(&place.database())
        .unwrap()
        .replay(|record| {
            for event in &record.events {
                match event {
                    golem::Event::Thanatopsis(thanatopsis::Event::Reflected { .. }) => reflected += 1,
                    golem::Event::Thanatopsis(thanatopsis::Event::Bequeathed { .. }) => bequeathed += 1,
                    golem::Event::Heartbeat(heartbeat::Event::Turned(golem::heartbeat::State::Dead)) => ended += 1,
                    _ => {}
                }
            }
            Ok::<_, vault::Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    assert_eq!((reflected, bequeathed, ended), (1, 1, 1), "{name}: each once");
    let told = tent.ok(["testament", name, "--verify"]);
    assert!(told.contains("the testament is the one that was written"), "{told}");
}

fn life(tent: &Tent, name: &str) -> Life {
    Reader::open(&tent.golem(name).database()).unwrap().wake().unwrap().0.life().clone()
}

/// What makes it die soon of each cause; of its owner's word it dies without.
fn doomed(cause: &str) -> &'static [&'static str] {
    match cause {
        "economic" => &["mortality.mode=hosted", "mortality.economic.machine_per_day=400"],
        "stochastic" => &["mortality.stochastic.base_hazard_rate=0.02", "mortality.stochastic.max_hazard_rate=0.02"],
        // It says anything at all, and is not given long.
        "epistemic_senescence" => &[
            "mind.kind=reflex",
            "reflex.noise=100",
            "mortality.epistemic.fitness_window=200",
            "mortality.epistemic.recovery_grace_period=50",
            "mortality.stochastic.enabled=false",
        ],
        _ => &[],
    }
}

fn bear(tent: &Tent, name: &str, seed: u64, cause: &str, more: &[&str]) {
    let seed = seed.to_string();
    let mut new = vec!["golem", "new", name, "--seed", &seed, "--credit", "1"];
    new.extend(doomed(cause).iter().chain(more).flat_map(|set| ["--set", *set]));
    tent.ok(new);
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
        let cause = ["economic", "stochastic", "epistemic_senescence", "owner_kill"][n as usize % 4];
        bear(&tent, &name, n + 1, cause, &[]);
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
        *causes.entry(golem.life().death().unwrap().cause.name()).or_insert(0) += 1;
    }
    println!("counted: {lives} deaths, {kills} kills on the way: {causes:?}");
    assert!(kills > 0 && causes.len() > 1);
}

/// Waits for a line with this in it and kills whoever says it, a moment later.
fn kill_at(tent: &Tent, name: &str, cause: &str, aim: &str, later: Duration) -> bool {
    let speed = if cause == "owner_kill" { "400x" } else { "max" };
    let mut run = tent.command(["--json", "golem", "run", name, "--speed", speed]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut owner = (cause == "owner_kill").then(|| {
        let said = lines.next();
        assert!(said.is_some(), "it lives");
        let mut retire = tent.command(["golem", "retire", name, "--confirm", name]);
        retire.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    });
    let found = lines.any(|line| line.contains(aim));
    std::thread::sleep(later);
    let _ = child.kill();
    let killed = child.wait().unwrap().code().is_none();
    if let Some(owner) = &mut owner {
        let _ = owner.kill();
        let _ = owner.wait();
    }
    found && killed
}

/// Four causes, five moments: what was said last before the kill names where on its way a death was met.
#[test]
fn a_death_killed_in_each_phase_completes_once() {
    let (mut dice, mut met) = (Dice(4), BTreeMap::<&str, BTreeMap<Option<Rite>, u32>>::new());
    let mut causes = BTreeMap::new();
    let aims = ["mortality.dead", "golem.withdrew", "golem.withdrew", "golem.reflected", "golem.bequeathed"];
    for round in 0..full(25, 1) {
        for (c, cause) in ["economic", "stochastic", "epistemic_senescence", "owner_kill"].iter().enumerate() {
            // Few neighbours: telling them is a part of dying, and would take most of it.
            let tent = Tent::new();
            for (a, aim) in aims.iter().enumerate() {
                let (name, seed) = (format!("g{round}-{c}-{a}"), round * 100 + (c * 10 + a) as u64);
                bear(&tent, &name, seed, cause, &[]);
                let before = tent.all_money();
                // At once, or a little later: the steps in between say nothing.
                let later = Duration::from_micros(if a == 2 { dice.roll(12_000) } else { dice.roll(2) * 500 });
                if kill_at(&tent, &name, cause, aim, later) {
                    *met.entry(aim).or_default().entry(thanatopsis::phase(&life(&tent, &name))).or_default() += 1;
                }
                tent.run(["golem", "run", &name, "--speed", "max"]);
                check_ended(&tent, &name);
                assert_eq!(tent.all_money(), before, "{name}: to the micro-USDC");
                assert_eq!(life(&tent, &name).death().unwrap().cause.name(), *cause);
                *causes.entry(*cause).or_insert(0) += 1;
            }
        }
    }
    println!("counted: deaths met by SIGKILL {causes:?}, by what was said last: {met:?}");
    let phases: BTreeSet<Option<Rite>> = met.values().flat_map(|phases| phases.keys().copied()).collect();
    assert!(phases.len() as u64 >= full(5, 3) && causes.len() == 4, "{met:?}");
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
    tent.ok(["golem", "successor", "ada", "--yes", "--seed", "2", "--budget", "7"]);
    let (heir, _) = Reader::open(&tent.golem("ada-2").database()).unwrap().wake().unwrap();
    let (dead, _) = Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap();
    let line = heir.life().birth().lineage.clone().unwrap();
    assert_eq!((line.first, line.parent), (dead.life().id(), dead.life().id()));
    assert!(heir.life().born() >= dead.life().now(), "nothing is lived twice");
    assert_eq!(heir.life().purse().credit, Usdc::dollars(7));
    let expects = |h: &golem::rule::Heuristic| (h.effect - 1.0).abs() > 0.01 && (h.effect - 0.5).abs() > 0.01;
    // It begins where its line left off, with a fifth of what that had shown and nothing of its own.
    for h in heir.life().playbook().iter().filter(|h| h.provenance == golem::rule::Provenance::Instinct) {
        let before = dead.life().playbook().iter().find(|before| before.id == h.id).unwrap();
        assert!((h.weight - 0.2 * before.weight).abs() < 1e-6 && h.evidence_for + h.evidence_against == 0, "{h:?}");
    }
    assert!(heir.life().playbook().iter().any(|h| h.weight > 0.0 && expects(h)));
    assert!(heir.life().trust().iter().any(|trust| trust.seen > 0.0), "and with some of its trust");
    tent.ok(["golem", "run", "ada-2", "--speed", "max", "--ticks", "500"]);
    tent.ok(["golem", "retire", "ada-2", "--confirm", "ada-2"]);
    tent.ok(["golem", "successor", "ada-2", "--yes", "--no-inherit", "--name", "eve"]);
    let eve = life(&tent, "eve");
    assert!(
        eve.trust().iter().all(|trust| *trust == golem::trust::Trust::default()),
        "left nothing, it trusts nobody more"
    );
    let family = tent.ok(["lineage", "eve"]);
    assert!(family.contains("† ada ") && family.contains("† ada-2") && family.contains("• eve"), "{family}");
    let graves = tent.ok(["graveyard"]);
    assert_eq!(graves.matches('†').count(), 2, "{graves}");
}

/// Held against the rules their predecessors died with, first heirs of short lives were refused as copies, every one of
/// them, and the first thing a new owner met was how to get round that.
#[test]
fn a_life_adds_to_what_it_was_born_with() {
    for ticks in ["1000", "4000", "20000"] {
        let seeds = full(5, 1);
        let share = |seed: u64| {
            let tent = Tent::new();
            // Long enough, whatever chance and its world have to say.
            let clocks = ["mortality.stochastic.enabled=false", "mortality.epistemic.enabled=false"];
            tent.ok(["golem", "new", "ada", "--seed", &seed.to_string(), "--set", clocks[0], "--set", clocks[1]]);
            tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", ticks]);
            tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
            let preview = tent.ok(["--json", "golem", "successor", "ada"]);
            let share = serde_json::from_str::<serde_json::Value>(&preview).unwrap()["divergence"].as_f64().unwrap();
            assert!(share >= 0.3, "{share} after {ticks} ticks of seed {seed}");
            if seed == 1 {
                tent.ok(["golem", "successor", "ada", "--yes"]);
                // An heir that has done nothing yet adds nothing to what it was left.
                tent.ok(["golem", "retire", "ada-2", "--confirm", "ada-2"]);
                assert!(tent.ok(["testament", "ada-2"]).contains("low_divergence"), "and that is said of it");
                let copy = tent.fails(6, ["golem", "successor", "ada-2", "--yes"]);
                assert!(copy.contains("--force-similarity"), "{copy}");
                check_forced(&tent);
            }
            share
        };
        let mean = (1..=seeds).map(share).sum::<f64>() / seeds as f64;
        println!("after {ticks} ticks {mean:.2} of what an heir is left is not what its predecessor was born with");
    }
}

/// Asked for by name, a copy is made, and is left what its predecessor knew even where the settings say otherwise.
fn check_forced(tent: &Tent) {
    let set = ["--set", "succession.inherit_grimoire=false"];
    tent.ok(["golem", "successor", "ada-2", "--yes", "--force-similarity", "--inherit-grimoire", set[0], set[1]]);
    assert!(left_to(tent, "ada-3").is_some());
}

/// The bundle that a newborn was left, by the name it has.
fn left_to(tent: &Tent, name: &str) -> Option<String> {
    let place = tent.golem(name);
    let file = [place.inheritance(), place.inherited()].into_iter().find(|file| file.exists())?;
    Some(opened(tent, &file).header.name)
}

fn opened(tent: &Tent, file: &Path) -> Bundle {
    let own = shell::home::key::OwnerKey::of(&tent.home()).unwrap();
    shell::legacy::bundle::unpack(&fs::read_to_string(file).unwrap(), &own.public()).unwrap()
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
        "mortality.lifespan=2d",
        "--set",
        "mortality.mode=hosted",
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
    let own = shell::home::key::OwnerKey::of(&home).unwrap();
    let bundle = shell::legacy::bundle::unpack(&good, &own.public()).unwrap();
    assert!(!bundle.stranger && !bundle.lines.is_empty());
    let (golem, _) = Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap();
    let again = shell::legacy::bundle::pack(&own, "ada", Some(golem.life()), &bundle.lines);
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
        let why = shell::legacy::bundle::unpack(&text, &own.public()).expect_err("it was changed");
        assert!(!why.is_empty());
    }
    let other = Tent::new();
    let stranger = shell::home::key::OwnerKey::of(&other.home()).unwrap();
    let theirs = shell::legacy::bundle::pack(&stranger, "x", None, &bundle.lines);
    assert!(shell::legacy::bundle::unpack(&theirs, &own.public()).unwrap().stranger, "it is marked so");
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

/// An estate comes onto the shelf by itself. It is offered to the next golem whole, and what of the shelf has the
/// owner's words goes into a bundle under a name, which a newborn is given as a file.
#[test]
fn what_the_dead_left_is_offered_whole_and_bundled_by_words_under_a_name() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2000"]);
    assert!(Choices::of(&tent.home()).unwrap().left.is_empty(), "the living are not offered");
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(tent.ok(["library", "list"]).contains("from ada"));
    let Choices { mut form, left, .. } = Choices::of(&tent.home()).unwrap();
    assert_eq!(left.iter().map(|choice| choice.value.as_str()).collect::<Vec<_>>(), ["ada"]);
    (form.name, form.from) = ("bob".to_owned(), "ada".to_owned());
    drop(form.bear(&shell::Runtime::of(&tent.home())).unwrap());
    assert_eq!(left_to(&tent, "bob").as_deref(), Some("ada"));

    let (shelf, kit) = (tent.root().join("shelf.bundle"), tent.root().join("kit.bundle"));
    tent.ok(["library", "export", shelf.to_str().unwrap()]);
    let all = opened(&tent, &shelf).lines;
    let having = |lines: &[BundleLine], word: &str| {
        lines.iter().filter(|line| serde_json::to_string(line).unwrap().to_lowercase().contains(word)).count()
    };
    let some = |word: &&str| (1..all.len()).contains(&having(&all, word));
    let word = ["volatility", "range", "direction", "gas"].into_iter().find(some).expect("it is about several domains");
    tent.ok(["library", "bundle", "starter", word, "--to", kit.to_str().unwrap()]);
    let made = opened(&tent, &kit);
    assert_eq!((made.header.name.as_str(), made.stranger), ("starter", false));
    assert_eq!((made.lines.len(), having(&made.lines, word)), (having(&all, word), made.lines.len()));
    tent.ok(["golem", "new", "eve", "--seed", "3", "--from", kit.to_str().unwrap()]);
    assert_eq!(left_to(&tent, "eve").as_deref(), Some("starter"));
}

fn check_waits(tent: &Tent, args: &[&str], why: &[&str]) -> Option<String> {
    let output = tent.run(args);
    if output.status.success() {
        return None;
    }
    let told = text(&output.stderr);
    assert!(why.iter().any(|why| told.to_lowercase().contains(why)), "{} {told}", output.status);
    assert!(!told.contains("panicked") && !told.contains("damaged"), "{told}");
    Some(told)
}

/// Wherever the room runs out on its way, a death says so and waits; with room again it completes.
#[test]
fn a_full_disk_only_makes_death_wait() {
    let tent = Tent::bare();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    let mut waited = BTreeMap::<String, u32>::new();
    for (n, room) in (0..full(300, 30)).map(|n| (n, n % 30 * 4_096)) {
        let name = format!("g{n}");
        bear(&tent, &name, n + 1, "owner_kill", &["policy.on_death=hand_over"]);
        tent.ok(["golem", "run", &name, "--speed", "max", "--ticks", "120"]);
        let (said, before) = (tent.ok(["--json", "golem", "events", &name]), tent.all_money());
        disk.fill(room);
        let retire = ["golem", "retire", &name, "--confirm", &name];
        if let Some(told) = check_waits(&tent, &retire, &["full", "no space"]) {
            // Asked again it says the same and loses nothing, unless what the first attempt gave back is room enough.
            let again = ["golem", "run", &name, "--speed", "max", "--ticks", "1"];
            check_waits(&tent, &again, &["full", "no space", "is dead"]);
            let what = told.split(':').nth(1).and_then(|what| what.rsplit('/').next()).unwrap_or_default();
            *waited.entry(what.trim().to_owned()).or_default() += 1;
        }
        disk.free();
        assert!(
            tent.ok(["--json", "golem", "events", &name]).starts_with(&said),
            "{name}: what was acknowledged is there"
        );
        tent.run(retire);
        tent.run(["golem", "run", &name, "--speed", "max"]);
        check_ended(&tent, &name);
        assert_eq!(tent.all_money(), before, "{name}: to the micro-USDC");
        // Room for the next.
        fs::remove_dir_all(tent.golem(&name).folder).unwrap();
    }
    println!("counted: deaths on a full disk, by what they waited for: {waited:?}");
    assert!(waited.contains_key("testament.new") && waited.len() > 2, "where the room ran out: {waited:?}");
}

#[test]
fn a_read_only_disk_only_makes_death_wait() {
    let tent = Tent::bare();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    bear(&tent, "ada", 1, "owner_kill", &[]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "120"]);
    let (said, before) = (tent.ok(["--json", "golem", "events", "ada"]), tent.all_money());
    let readonly = ["read-only", "readonly"];
    // Before it has begun, and in the middle.
    disk.remount("ro");
    let told = check_waits(&tent, &["golem", "retire", "ada", "--confirm", "ada"], &readonly);
    println!("{}", told.expect("nothing can be written"));
    disk.remount("rw");
    assert_eq!(tent.ok(["--json", "golem", "events", "ada"]), said, "nothing has happened");
    let in_the_way = tent.golem("ada").folder.join("testament.new");
    fs::create_dir(&in_the_way).unwrap();
    assert!(!tent.run(["golem", "retire", "ada", "--confirm", "ada"]).status.success());
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(thanatopsis::phase(&life(&tent, "ada")), Some(Rite::Reflection));
    disk.remount("ro");
    let told = check_waits(&tent, &["golem", "run", "ada", "--speed", "max"], &readonly);
    println!("{}", told.expect("nothing can be written"));
    disk.remount("rw");
    tent.run(["golem", "run", "ada", "--speed", "max"]);
    check_ended(&tent, "ada");
    assert_eq!(tent.all_money(), before, "to the micro-USDC");
}
