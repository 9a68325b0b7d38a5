//! Ten thousand small disasters. A bit flips, or a file ends too soon, in the database, its write-ahead
//! log, its snapshots or the head outside. Each one is detected in plain words or does no harm; none ever
//! panics, and none leaves a life silently wrong or shorter.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::Stdio;

use crate::common::{Dice, Tent, full};
use golem::GolemId;
use vault::{Head, Place, Reader, Vault, codec};

/// A life on disk, as files, and the truth about it.
struct Specimen {
    files: Vec<(&'static str, Vec<u8>)>,
    id: GolemId,
    /// The life after each record from the newest acknowledged one on. A kill may leave one more that nobody has
    /// heard of, and losing that one loses nothing.
    lives: BTreeMap<u64, Vec<u8>>,
}

fn collect(tent: &Tent, name: &str) -> Specimen {
    let place = tent.golem(name);
    let id = Reader::open(&place.database()).unwrap().id().unwrap();
    let read = |path: &Path| fs::read(path).unwrap_or_default();
    let files = vec![
        ("life.db", read(&place.database())),
        ("life.db-wal", read(&place.folder.join("life.db-wal"))),
        ("head", read(&Head::path(&tent.home().heads(), id))),
    ];
    let acknowledged = Head::peek(&tent.home().heads(), id).unwrap().seq;
    let (mut golem, mut lives) = (None::<golem::Golem>, BTreeMap::new());
    let keep = |record: golem::Record| {
        match &mut golem {
            Some(golem) => golem.fold(&record).unwrap(),
            None => golem = Some(golem::Golem::reborn(&record).unwrap()),
        }
        if record.seq >= acknowledged {
            lives.insert(record.seq, codec::encode_life(golem.as_ref().unwrap().life()));
        }
        Ok::<_, vault::Error>(ControlFlow::Continue(()))
    };
    Reader::open(&place.database()).unwrap().replay(keep).unwrap();
    assert!((1..=2).contains(&lives.len()), "{} records since the newest acknowledged one", lives.len());
    Specimen { files, id, lives }
}

/// Closed cleanly: everything in the database, with snapshots.
fn closed() -> Specimen {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "3", "--set", "mind.kind=reflex", "--set", "reflex.act_every=40"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "900"]);
    collect(&tent, "ada")
}

/// Killed in the middle of life: the newest records only in the write-ahead log.
fn killed() -> Specimen {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "4", "--set", "mind.kind=reflex", "--set", "reflex.act_every=40"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "200"]);
    let run = ["--json", "golem", "run", "ada", "--speed", "1000000x"];
    let mut child = tent.command(run).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.take(500).filter(Result::is_ok).count(), 500);
    child.kill().unwrap();
    child.wait().unwrap();
    let specimen = collect(&tent, "ada");
    assert!(specimen.files[1].1.len() > 50_000, "the log holds the newest records");
    specimen
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Detected,
    Harmless,
}

/// Opens the damaged life both ways and says how it went; panics on a silent change.
fn judge(specimen: &Specimen, folder: &Path, what: &str) -> Verdict {
    let place = Place { folder: folder.to_owned(), heads: folder.join("heads") };
    let same = |golem: &golem::Golem| specimen.lives.get(&golem.seq()) == Some(&codec::encode_life(golem.life()));
    let looked = catch_unwind(|| Reader::open(&place.database()).and_then(|r| r.verify(&place.heads)))
        .unwrap_or_else(|_| panic!("{what}: looking at it panicked"));
    if let Ok((golem, _)) = &looked {
        assert!(same(golem), "{what}: looked whole, but is another life");
    }
    let opened = catch_unwind(|| Vault::open(&place, 1_000)).unwrap_or_else(|_| panic!("{what}: opening panicked"));
    match opened {
        Ok((_, golem, notices)) => {
            assert!(same(&golem), "{what}: opened silently at record {}", golem.seq());
            if notices.is_empty() && looked.is_ok() { Verdict::Harmless } else { Verdict::Detected }
        }
        Err(error) => {
            assert!(error.to_string().len() > 20, "{what}: in plain words, please: {error}");
            Verdict::Detected
        }
    }
}

#[test]
fn damage_is_detected_or_harmless_and_never_silent() {
    let trials = full(10_000, 4_000);
    let specimens = [closed(), killed()];
    let mut dice = Dice(7);
    let mut tally = BTreeMap::<(&str, &str, Verdict), u64>::new();
    let scratch = tempfile::tempdir().unwrap();
    // Panics inside are caught and judged; only the verdict on a trial is told.
    std::panic::set_hook(Box::new(|panic| {
        let told = panic.to_string();
        if told.contains("trial ") {
            eprintln!("{told}");
        }
    }));
    for trial in 0..trials {
        let specimen = &specimens[(trial % 2) as usize];
        let folder = scratch.path().join(trial.to_string());
        fs::create_dir_all(folder.join("heads")).unwrap();
        let present: Vec<usize> = (0..specimen.files.len()).filter(|&at| !specimen.files[at].1.is_empty()).collect();
        let victim = present[dice.roll(present.len() as u64) as usize];
        let cut = dice.roll(5) == 0;
        let mut what = String::new();
        for (at, (name, bytes)) in specimen.files.iter().enumerate() {
            let mut bytes = bytes.clone();
            if at == victim {
                let place = dice.roll(bytes.len() as u64) as usize;
                what = format!("trial {trial}: {name} {} at byte {place}", if cut { "cut" } else { "flipped" });
                if cut {
                    bytes.truncate(place);
                } else {
                    bytes[place] ^= 1 << dice.roll(8);
                }
            } else if bytes.is_empty() {
                continue;
            }
            let path = if *name == "head" { Head::path(&folder.join("heads"), specimen.id) } else { folder.join(name) };
            fs::write(path, bytes).unwrap();
        }
        let verdict = judge(specimen, &folder, &what);
        let (name, kind) = (specimen.files[victim].0, if cut { "cut" } else { "flip" });
        *tally.entry((name, kind, verdict)).or_default() += 1;
        fs::remove_dir_all(&folder).unwrap();
    }
    let _ = std::panic::take_hook();
    for ((name, kind, verdict), count) in &tally {
        println!("counted: {name:<12} {kind:<5} {verdict:?} {count}");
    }
    let of = |name: &str, kind: &str| tally.get(&(name, kind, Verdict::Detected)).copied().unwrap_or(0);
    assert!(of("life.db", "flip") > 0 && of("life.db-wal", "flip") > 0 && of("life.db", "cut") > 0);
}

#[test]
fn a_copy_without_its_log_and_an_old_copy_are_recognised() {
    let specimen = killed();
    let scratch = tempfile::tempdir().unwrap();
    fs::create_dir_all(scratch.path().join("heads")).unwrap();
    fs::write(scratch.path().join("life.db"), &specimen.files[0].1).unwrap();
    fs::write(Head::path(&scratch.path().join("heads"), specimen.id), &specimen.files[2].1).unwrap();
    let place = Place { folder: scratch.path().to_owned(), heads: scratch.path().join("heads") };
    let error = Vault::open(&place, 1_000).unwrap_err().to_string();
    assert!(error.contains("-wal") && error.contains("acknowledged"), "{error}");
}
