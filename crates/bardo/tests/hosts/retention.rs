//! How much of a journal is kept: what leaves a life's file is in its archive, whole and in order, however often the
//! process is killed on the way; with its archive a life reads as it always did, and without it lives on.

use std::fs;
use std::ops::ControlFlow;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Dice, Tent, full};
use serde_json::Value;
use testing::wait::until;
use vault::Reader;

fn keeping(retention: &str) -> Tent {
    let tent = Tent::new();
    fs::write(tent.root().join("bardo.toml"), format!("[journal]\n{retention}\n")).unwrap();
    tent.ok(["golem", "new", "ada", "--seed", "7", "--set", "dream.enabled=true"]);
    tent
}

fn live(tent: &Tent, ticks: &str) {
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", ticks]);
}

fn stretches(tent: &Tent) -> usize {
    vault::archive::files(&tent.golem("ada").archive(), u64::MAX).len()
}

/// The first record that is there to be read, less one.
fn begins_after(tent: &Tent) -> u64 {
    let (_, check) = Reader::open(&tent.golem("ada").database()).unwrap().verify(&tent.home().heads()).unwrap();
    check.after
}

#[test]
fn with_its_archive_a_life_reads_as_it_always_did_and_without_it_lives_on() {
    let (whole, cut) = (keeping("retention = \"whole\""), keeping("retention = \"archived\""));
    for tent in [&whole, &cut] {
        live(tent, "45000");
    }
    assert_eq!((stretches(&whole), stretches(&cut) >= 3), (0, true), "{}", stretches(&cut));
    assert_eq!(whole.verified("ada"), cut.verified("ada"), "the same life");
    assert_eq!(begins_after(&cut), 0, "verified from birth, through the archive");
    for args in [["--json", "golem", "events", "ada"], ["--json", "dream", "list", "ada"]] {
        assert_eq!(whole.ok(args), cut.ok(args));
    }
    // Whoever has enough in the middle of the archive has not found it short.
    let enough = Reader::open(&cut.golem("ada").database()).unwrap().replay(|record| {
        Ok::<_, vault::Error>(if record.seq == 12_345 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    assert_eq!(enough.unwrap().records, 12_345);
    let size = |tent: &Tent| fs::metadata(tent.golem("ada").database()).unwrap().len();
    assert!(2 * size(&cut) < size(&whole), "{} and {} bytes", size(&cut), size(&whole));

    // A copy takes the archive with it, and a drill folds all of it.
    let copy = cut.folder.path().join("copy");
    cut.ok(["golem", "backup", "ada", copy.to_str().unwrap()]);
    let drilled = cut.ok(["golem", "drill", copy.to_str().unwrap()]);
    assert!(drilled.contains("ada"), "{drilled}");
    let elsewhere = Tent::new();
    elsewhere.ok(["golem", "restore", copy.to_str().unwrap(), "--take-over"]);
    assert_eq!((begins_after(&elsewhere), stretches(&elsewhere)), (0, stretches(&cut)));

    // Its owner throws the archive away.
    fs::remove_dir_all(cut.golem("ada").archive()).unwrap();
    let base = begins_after(&cut);
    assert!(base >= 30_000, "{base}");
    assert!(cut.ok(["doctor"]).contains("archived, and not here"));
    let told = cut.run(["golem", "events", "ada"]);
    assert!(
        told.status.success() && crate::common::text(&told.stderr).contains("is archived"),
        "it says what is missing"
    );
    for tent in [&whole, &cut] {
        // It may remember less at night, so what it does by day may differ; how it is kept may not.
        live(tent, "3000");
    }
    cut.ok(["golem", "show", "ada", "--plot"]);
    cut.ok(["golem", "report", "ada", "--out", copy.with_extension("html").to_str().unwrap()]);
    cut.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(cut.ok(["testament", "ada", "--verify"]).contains("what came before is archived"));
    assert_eq!(cut.all_money(), whole.all_money());
}

#[test]
fn a_span_of_the_worlds_time_stays_in_the_file() {
    let tent = keeping("retention = \"span\"\nspan = \"8d\"");
    live(&tent, "45000");
    assert!(stretches(&tent) > 0);
    assert_eq!(begins_after(&tent), 0);
    fs::remove_dir_all(tent.golem("ada").archive()).unwrap();
    let golem = tent.verified("ada");
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    let kept = golem.life().now().since(reader.beginning().unwrap().unwrap().life().now());
    let days = kept.as_millis() as f64 / 86_400_000.0;
    assert!((8.0..14.0).contains(&days), "{days} days of 8 and a stretch");
}

/// A new version knows Life by another shape, and once could not open a life whose archive was thrown away: there was no
/// birth to fold from. What it was cut at is written by name, so that fields may come, go and change places.
#[test]
fn a_life_without_its_archive_opens_in_a_version_that_knows_life_by_another_shape() {
    let tent = keeping("retention = \"archived\"");
    live(&tent, "15000");
    let lived = tent.verified("ada");
    let db = rusqlite::Connection::open(tent.golem("ada").database()).unwrap();
    db.execute("UPDATE snapshot SET layout = 1", []).unwrap();
    let (here, aside) = (tent.golem("ada").archive(), tent.folder.path().join("aside"));
    fs::rename(&here, &aside).unwrap();
    assert_eq!(tent.verified("ada"), lived, "read by name it is the same life");

    // As an earlier version would have written it: without a field of today's, with one that is gone, in another order.
    let select = "SELECT named.seq, named.body, journal.hash FROM named JOIN journal USING(seq)";
    let (seq, body, tip): (i64, Vec<u8>, Vec<u8>) =
        db.query_row(select, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rewrite = |change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)| {
        let mut life: serde_json::Map<_, _> = serde_json::from_slice(&body).unwrap();
        change(&mut life);
        let text = serde_json::to_vec(&life.into_iter().rev().collect::<serde_json::Map<_, _>>()).unwrap();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(seq as u64).to_le_bytes()).update(&tip).update(&text);
        let hash = hasher.finalize().as_bytes().to_vec();
        db.execute("UPDATE named SET body = ?1, hash = ?2", rusqlite::params![text, hash]).unwrap();
    };
    rewrite(&|life| {
        life.insert("humour".into(), "dry".into());
        life.remove("outside").unwrap();
        life.get_mut("purse").unwrap().as_object_mut().unwrap().remove("promised").unwrap();
        life.get_mut("heartbeat").unwrap().as_object_mut().unwrap().insert("dream_until".into(), 7.into());
    });
    assert_eq!(tent.verified("ada"), lived, "what has come since is as in a newborn");
    live(&tent, "100");
    rewrite(&|life| drop(life.remove("tick").unwrap()));
    // Somebody has changed it by hand: it is not what was written.
    db.execute("UPDATE snapshot SET layout = 1", []).unwrap();
    db.execute("UPDATE named SET body = ?1", [&body[1..]]).unwrap();
    let why = tent.fails(1, ["golem", "run", "ada", "--ticks", "1", "--speed", "max"]);
    assert!(why.contains("is not what was written"), "{why}");
    // Without it, only its archive helps, and it is said so.
    db.execute("DELETE FROM named", []).unwrap();
    let why = tent.fails(1, ["golem", "run", "ada", "--ticks", "1", "--speed", "max"]);
    assert!(why.contains("were archived and are needed now") && why.contains(here.to_str().unwrap()), "{why}");
    drop(db);
    fs::rename(&aside, &here).unwrap();
    tent.verified("ada");
    live(&tent, "100");
}

/// A head is not synced with every record. One that was left behind by a power cut once pointed at a record that had
/// been archived since, and the life could not be opened.
#[test]
fn a_head_that_was_left_behind_does_no_harm() {
    let tent = keeping("retention = \"archived\"");
    live(&tent, "500");
    let head = vault::Head::path(&tent.home().heads(), tent.verified("ada").life().id());
    let behind = fs::read(&head).unwrap();
    live(&tent, "14500");
    assert!(stretches(&tent) > 0);
    fs::write(&head, &behind).unwrap();
    live(&tent, "10");
    fs::write(&head, &behind).unwrap();
    fs::remove_dir_all(tent.golem("ada").archive()).unwrap();
    live(&tent, "10");
    assert!(begins_after(&tent) > 0);
}

/// The snapshot it was cut at may be one that a newer version cannot read. Whoever has read it once through its archive
/// has a newer one, and needs no archive any more.
#[test]
fn a_later_snapshot_does_as_well_to_begin_with() {
    let tent = keeping("retention = \"archived\"");
    live(&tent, "15000");
    let db = rusqlite::Connection::open(tent.golem("ada").database()).unwrap();
    db.execute("UPDATE snapshot SET layout = 1", []).unwrap();
    drop(db);
    live(&tent, "2000");
    fs::remove_dir_all(tent.golem("ada").archive()).unwrap();
    assert!(begins_after(&tent) > 14_000);
    tent.ok(["golem", "events", "ada"]);
    live(&tent, "10");
}

/// A copy that shares its archive with later ones was once restored with what had not happened to it yet.
#[test]
fn a_life_that_was_taken_back_has_nothing_of_its_future_in_its_archive() {
    let tent = keeping("retention = \"archived\"");
    live(&tent, "15000");
    let copy = tent.folder.path().join("copy");
    tent.ok(["golem", "backup", "ada", copy.to_str().unwrap()]);
    let then = stretches(&tent);
    live(&tent, "25000");
    for file in vault::archive::files(&tent.golem("ada").archive(), u64::MAX) {
        fs::copy(&file, copy.join("archive").join(file.file_name().unwrap())).unwrap();
    }
    assert!(stretches(&tent) > then);
    tent.ok(["golem", "restore", copy.to_str().unwrap(), "--rewind"]);
    assert_eq!(stretches(&tent), then);
    // It goes another way from here.
    tent.ok(["golem", "policy", "ada", "--set", "policy.per_action=0.1"]);
    live(&tent, "25000");
    assert_eq!(begins_after(&tent), 0);
    tent.verified("ada");
}

#[test]
fn killed_while_it_archives_a_life_is_whole_every_time() {
    let tent = keeping("retention = \"archived\"");
    // Time enough to be killed often.
    let sets = ["mortality.mode=self_hosted", "mortality.immortal=true", "policy.max_drawdown=0"];
    tent.ok(["golem", "new", "eve", "--seed", "1"].into_iter().chain(sets.into_iter().flat_map(|set| ["--set", set])));
    let (mut dice, mut begun) = (Dice(3), 0);
    let kills = full(75, 25);
    for _ in 0..kills {
        let mut run = tent.command(["golem", "run", "eve", "--speed", "max"]);
        let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 + dice.roll(500)));
        child.kill().unwrap();
        child.wait().unwrap();
        let place = tent.golem("eve");
        begun += u64::from(place.archive().join("draft").exists());
        let (golem, check) = Reader::open(&place.database()).unwrap().verify(&tent.home().heads()).unwrap();
        assert_eq!(check.after, 0, "nothing of {} records is missing", golem.seq());
        assert!(!golem.life().is_dead());
    }
    let made = vault::archive::files(&tent.golem("eve").archive(), u64::MAX).len();
    println!("counted: {kills} kills while archiving, {made} stretches, {begun} times one was half written");
    assert!(made > 0);
}

#[test]
fn copies_on_a_schedule_share_what_never_changes() {
    let tent = keeping("retention = \"archived\"");
    live(&tent, "15000");
    let folder = tent.folder.path().join("copies");
    let config =
        format!("[journal]\nretention = \"archived\"\n[backup]\nfolder = {folder:?}\nevery = \"1s\"\nkeep = 3\n");
    fs::write(tent.root().join("bardo.toml"), config).unwrap();
    let (copies, rounds) = (folder.join("golems/ada"), folder.join("rounds"));
    // A host makes one when it comes up; three comings make three.
    for n in 1..=3 {
        let mut child =
            tent.command(["up", "--listen", ""]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Under its name a copy is whole; what is being made has none yet.
        let whole = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with("Z.json");
        let there = || fs::read_dir(&rounds).map_or(0, |all| all.flatten().filter(|f| whole(&f.file_name())).count());
        until("no copy was made", || there() >= n);
        child.kill().unwrap();
        child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(1_100));
    }
    assert_eq!(vault::archive::files(&copies.join("archive"), u64::MAX).len(), 1);
    let drilled = tent.ok(["--json", "golem", "drill", folder.to_str().unwrap()]);
    let drilled: Value = serde_json::from_str(drilled.lines().next().unwrap()).unwrap();
    assert!(drilled["records"].as_u64().unwrap() > 15_000, "{drilled}");
}
