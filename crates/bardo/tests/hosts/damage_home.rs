//! Ten thousand disasters over every file of a home, after a clean end and after SIGKILL, with and without a host. A bit
//! flips, a file ends too soon, is gone, or is put back as it was a while before. Each does no harm, or the next command
//! or `bardo doctor` says so; nothing panics; and whatever is done next, going on as if nothing had happened or
//! `bardo recover`, no money is made and the home comes up again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Dice, Tent, files, full};
use golem::{GolemId, Usdc};
use shell::care::doctor;
use shell::care::recover;
use shell::life::{Living, Pace, Run, Silent};
use shell::{GolemHome, Home, Runtime};
use testing::wait::until;
use vault::{Head, Log, Reader, codec};

type Files = BTreeMap<PathBuf, Vec<u8>>;
/// How often something was done to a kind of file, and with which verdict.
type Tally = BTreeMap<(String, &'static str, Verdict), u64>;

/// A home on disk, as it was a while before, and the truth about it.
struct Specimen {
    name: &'static str,
    now: Files,
    before: Files,
    facts: Facts,
    /// What it comes to if everybody lives on for a bit.
    lived: Facts,
    money: Usdc,
}

/// What an owner can see: every life, to the byte, and the treasury.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    lives: BTreeMap<String, (u64, Vec<u8>)>,
    free: Usdc,
}

/// Everything but what SQLite makes again by itself and what is only ever on its way.
fn collect(root: &Path) -> Files {
    let passing = |path: &Path| {
        let text = path.to_string_lossy();
        text.ends_with("-shm") || text.contains("/inbox/") || text.contains("/bells/")
    };
    let all = files(root).into_iter().filter(|path| !passing(path));
    all.map(|path| (path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

fn put(files: &Files, root: &Path) {
    for (name, bytes) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
    }
}

/// What the next commands show, or why one of them complains.
fn look(home: &Home) -> Result<Facts, String> {
    let mut lives = BTreeMap::new();
    for (place, seen) in home.glances().map_err(|e| e.to_string())? {
        seen.map_err(|e| e.to_string())?;
        let (golem, notices) = place.wake().map_err(|e| e.to_string())?;
        if let Some(notice) = notices.first() {
            return Err(notice.clone());
        }
        lives.insert(place.name.to_string(), (golem.seq(), codec::encode_life(golem.life())));
    }
    let free = home.treasury().and_then(|treasury| Ok(treasury.balance()?)).map_err(|e| e.to_string())?;
    Ok(Facts { lives, free })
}

fn examine(home: &Home) -> Result<(), String> {
    let mut wrong = None;
    let examined = doctor::examine(home, |finding| {
        // Files that this process has written are as open as it makes them.
        if !finding.fine && finding.what != "privacy" && wrong.is_none() {
            wrong = Some(format!("{}: {}", finding.what, finding.detail));
        }
    });
    examined.map_err(|e| e.to_string())?;
    wrong.map_or(Ok(()), Err)
}

/// Everybody lives on for a bit who is let.
fn live_on(home: &Home) -> Result<(), String> {
    let (runtime, mut refused) = (Runtime::of(home), Ok(()));
    for place in home.list().map_err(|e| e.to_string())? {
        let run = Run { pace: Pace::Max, ticks: Some(2), batch: 1 };
        let lived = Living::open(&runtime, place, 1_000).and_then(|(mut living, _)| living.run(run, &mut Silent));
        refused = refused.and(lived.map(|_| ()).map_err(|e| e.to_string()));
    }
    refused
}

/// All the money that anybody could move, and what it became.
fn money(home: &Home) -> Usdc {
    let (runtime, treasury) = (Runtime::of(home), home.treasury());
    let mut sum = treasury.as_ref().map_or(Usdc::ZERO, |treasury| treasury.balance().unwrap_or(Usdc::ZERO));
    for place in home.list().unwrap_or_default() {
        let Ok((living, _)) = Living::open(&runtime, place, 1_000) else { continue };
        let life = living.life();
        let (purse, capital) = (&life.purse(), &life.capital());
        sum += purse.credit + purse.spent + purse.gas;
        sum += capital.cash + capital.reserved + capital.cost + capital.fees - capital.realised;
        let Ok(treasury) = &treasury else { continue };
        let sent = treasury.undelivered(life.id(), life.transfers_taken()).unwrap_or_default();
        sum += sent.iter().map(|transfer| transfer.credit + transfer.capital).sum();
        let received = treasury.received(life.id()).unwrap_or(u64::MAX);
        sum += life.deposits().iter().filter(|deposit| deposit.number > received).map(|deposit| deposit.amount).sum();
    }
    sum
}

/// Nothing in it is newer than what its heads know, so that whatever is missing was acknowledged. Nor has a world done
/// anything that its golem was not told of yet: such a thing can be lost, and then it never was.
fn is_acknowledged(home: &Home) -> bool {
    let known = |id: GolemId| Head::peek(&home.heads(), id).map(|anchor| anchor.seq);
    let log = Log::reader(home.root(), &home.heads()).unwrap();
    let host = log.is_none_or(|log| known(GolemId(*b"bardo's host log")) == Some(log.tip().number));
    let own = |reader: Reader| known(reader.id().unwrap()) == Some(reader.tip().unwrap().seq);
    let treasury = home.treasury().unwrap().audit().unwrap();
    let treasury = known(GolemId(*b"bardo's treasury")) == Some(treasury);
    let told = |place: &GolemHome| place.wake().unwrap().0.life().flights().iter().all(|flight| flight.is_unsent());
    let lives = home.list().unwrap();
    host && treasury && lives.iter().all(|place| own(Reader::open(&place.database()).unwrap()) && told(place))
}

impl Specimen {
    fn new(name: &'static str, tent: &Tent, before: Files) -> Specimen {
        let now = collect(&tent.root());
        let copy = |work: &dyn Fn(&Home) -> Facts| {
            let scratch = tempfile::tempdir().unwrap();
            put(&now, scratch.path());
            work(&Home::at(scratch.path().to_owned()))
        };
        let facts = copy(&|home| {
            let facts = look(home).unwrap();
            examine(home).unwrap();
            facts
        });
        let lived = copy(&|home| {
            live_on(home).unwrap();
            look(home).unwrap()
        });
        let scratch = tempfile::tempdir().unwrap();
        put(&now, scratch.path());
        let money = money(&Home::at(scratch.path().to_owned()));
        assert_eq!(money, Usdc::dollars(1_000), "{name}: all there ever was");
        Specimen { name, now, before, facts, lived, money }
    }
}

/// A golem that trades, one that only lives and one that is dead; money in both directions, a shelf and a key.
fn inhabited() -> Tent {
    let tent = Tent::new();
    let reflex = ["--set", "mind.kind=reflex", "--set", "reflex.act_every=40"];
    tent.command(["golem", "new", "ada", "--seed", "3"]).args(reflex).output().unwrap();
    tent.ok(["golem", "new", "bob", "--seed", "4"]);
    tent.ok(["golem", "new", "cleo", "--seed", "5"]);
    for name in ["ada", "bob", "cleo"] {
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "150"]);
    }
    tent.ok(["golem", "withdraw", "ada", "1"]);
    tent.ok(["golem", "retire", "cleo", "--confirm", "cleo"]);
    tent
}

/// Closed cleanly, with nothing left to carry over.
fn closed() -> Specimen {
    let tent = inhabited();
    let before = collect(&tent.root());
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "90"]);
    tent.ok(["golem", "fund", "bob", "3"]);
    tent.ok(["golem", "withdraw", "ada", "2"]);
    Specimen::new("closed", &tent, before)
}

/// One golem killed in the middle of life: the newest of it only in write-ahead logs.
fn killed() -> Specimen {
    for _ in 0..20 {
        let tent = inhabited();
        let before = collect(&tent.root());
        let mut child = tent
            .command(["--json", "golem", "run", "ada", "--speed", "1000000x"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.by_ref().take(150).filter(Result::is_ok).count(), 150);
        tent.ok(["golem", "withdraw", "ada", "2"]);
        tent.ok(["golem", "fund", "ada", "3"]);
        assert_eq!(lines.by_ref().take(50).filter(Result::is_ok).count(), 50);
        child.kill().unwrap();
        child.wait().unwrap();
        if is_acknowledged(&tent.home()) {
            return Specimen::new("killed", &tent, before);
        }
    }
    panic!("never killed between two records");
}

/// A host killed with records of everybody in its log, and money in both directions since.
fn hosted() -> Specimen {
    for _ in 0..20 {
        let tent = inhabited();
        let mut command = tent.command(["up", "--listen", "127.0.0.1:0", "--speed", "20000"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let waits = |reached: &dyn Fn() -> bool| {
            until("the host does not come up", reached);
        };
        let lines = |name: &str| -> usize {
            let id = Reader::open(&tent.golem(name).database()).unwrap().id().unwrap();
            let log = Log::reader(&tent.root(), &tent.home().heads()).ok().flatten();
            log.map_or(0, |log| log.lines(id).unwrap().len())
        };
        waits(&|| lines("ada") > 3 && lines("bob") > 3);
        let before = collect(&tent.root());
        tent.ok(["golem", "withdraw", "ada", "2"]);
        tent.ok(["golem", "withdraw", "ada", "10", "--capital"]);
        tent.ok(["golem", "fund", "bob", "3"]);
        let then = lines("bob");
        waits(&|| lines("bob") > then + 3 || lines("bob") < then);
        child.kill().unwrap();
        child.wait().unwrap();
        if is_acknowledged(&tent.home()) && lines("ada") > 0 {
            return Specimen::new("hosted", &tent, before);
        }
    }
    panic!("never killed between two groups");
}

/// A life so long that stretches of its journal have left its file.
fn archived() -> Specimen {
    let tent = Tent::new();
    fs::write(tent.root().join("bardo.toml"), "[journal]\nretention = \"archived\"\n").unwrap();
    tent.ok(["golem", "new", "ada", "--seed", "7"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "22000"]);
    let before = collect(&tent.root());
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "500"]);
    assert!(vault::archive::files(&tent.golem("ada").archive(), u64::MAX).len() > 1);
    Specimen::new("archived", &tent, before)
}

/// Does something to one file, and says what.
fn damage(specimen: &Specimen, root: &Path, dice: &mut Dice) -> (String, &'static str, String) {
    let long = specimen.name == "archived";
    let victims: Vec<&PathBuf> =
        specimen.now.keys().filter(|path| !long || path.to_string_lossy().contains("archive/")).collect();
    let victim = victims[dice.roll(victims.len() as u64) as usize];
    let (path, bytes) = (root.join(victim), &specimen.now[victim]);
    let place = dice.roll(bytes.len().max(1) as u64) as usize;
    let old = specimen.before.get(victim).filter(|old| *old != bytes);
    let (kind, what) = match (dice.roll(20), old) {
        (0..=2, _) => {
            fs::write(&path, &bytes[..place.min(bytes.len())]).unwrap();
            ("cut", format!("cut at byte {place}"))
        }
        (3..=5, _) => {
            fs::remove_file(&path).unwrap();
            ("gone", "removed".to_owned())
        }
        (6..=9, Some(old)) => {
            fs::write(&path, old).unwrap();
            let mut log = path.clone().into_os_string();
            log.push("-wal");
            let alone = dice.roll(2) == 0;
            if alone {
                let _ = fs::remove_file(log);
            }
            ("old", format!("put back as it was{}", if alone { ", without its log" } else { "" }))
        }
        _ if bytes.is_empty() => ("none", "left alone".to_owned()),
        _ => {
            let mut bytes = bytes.clone();
            bytes[place] ^= 1 << dice.roll(8);
            fs::write(&path, bytes).unwrap();
            ("flip", format!("flipped at byte {place}"))
        }
    };
    // Names differ from home to home; what they are is told by their last part, or by the folder they are in.
    let name = victim.file_name().unwrap().to_string_lossy().into_owned();
    let folder = victim.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let class = match folder.as_deref() {
        Some(folder @ ("heads" | "archive")) => format!("{folder}/*"),
        _ => name,
    };
    (class, kind, format!("{} {what}", victim.display()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Harmless,
    Reported,
}

/// Looks at a damaged home as its owner would, in one order or the other; panics on anything silent.
fn judge(specimen: &Specimen, home: &Home, goes_on_first: bool, what: &str) -> Verdict {
    let mut reported = Ok(());
    if goes_on_first {
        reported = live_on(home);
    }
    let seen = look(home);
    reported = reported.and(examine(home)).and(seen.as_ref().map(|_| ()).map_err(Clone::clone));
    let truth = if goes_on_first { &specimen.lived } else { &specimen.facts };
    let verdict = match (&reported, &seen) {
        (Err(why), _) => {
            assert!(why.len() > 20, "{what}: in plain words, please: {why}");
            Verdict::Reported
        }
        (Ok(()), Ok(seen)) => {
            let differ = seen.lives.iter().find(|(name, life)| truth.lives.get(*name) != Some(life));
            let differ = differ.map(|(name, life)| (name, life.0, truth.lives.get(name).map(|life| life.0)));
            assert!(seen == truth, "{what}: silent; {} free, not {}; {differ:?}", seen.free, truth.free);
            Verdict::Harmless
        }
        (Ok(()), Err(_)) => unreachable!("an error was reported"),
    };
    assert!(money(home) <= specimen.money, "{what}: {} where there were {}", money(home), specimen.money);
    verdict
}

/// The owner's way out leads out, and nothing is made on the way.
fn recovers(specimen: &Specimen, home: &Home, what: &str) {
    let mut told = Vec::new();
    let done = recover::recover(&Runtime::of(home), false, |step| told.push(step)).and_then(|()| {
        told.clear();
        recover::recover(&Runtime::of(home), true, |step| told.push(step))
    });
    // Somebody's secret, or the home itself: what a backup is for.
    if let Err(why) = done {
        panic!("{what}: cannot be recovered: {why}");
    }
    assert!(money(home) <= specimen.money, "{what}: recovered to {}; {told:?}", money(home));
    let log = Log::open(home.root(), &home.heads(), Vec::new()).and_then(|log| log.verify());
    assert!(log.is_ok(), "{what}: no host comes up: {log:?}; {told:?}");
    let treasury = home.treasury().and_then(|treasury| Ok(treasury.audit()?));
    assert!(treasury.is_ok(), "{what}: {treasury:?}; {told:?}");
    let again = std::cell::Cell::new(0);
    recover::recover(&Runtime::of(home), false, |step| again.set(again.get() + u32::from(step.done.is_some())))
        .unwrap();
    let waits = told.iter().any(|step| step.lost.contains("was sent to it"));
    assert!(again.get() == 0 || waits, "{what}: there is still something to be done; {told:?}");
}

/// One disaster, by its number alone: what was done to which kind of file, and the verdict or what went wrong.
fn disaster(specimen: &Specimen, trial: u64, scratch: &Path) -> ((String, &'static str), Result<Verdict, String>) {
    let mut dice = Dice(17 + trial * 1_000_003);
    let root = scratch.join(trial.to_string());
    put(&specimen.now, &root);
    let (class, kind, what) = damage(specimen, &root, &mut dice);
    let what = format!("trial {trial}: {}, {what}", specimen.name);
    let (home, first) = (Home::at(root.clone()), dice.roll(2) == 0);
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let verdict = judge(specimen, &home, first, &what);
        recovers(specimen, &home, &what);
        verdict
    }));
    fs::remove_dir_all(&root).unwrap();
    let judged = judged.map_err(|panic| {
        let told = panic.downcast_ref::<String>().cloned();
        let told = told.or_else(|| panic.downcast_ref::<&str>().map(|told| (*told).to_owned())).unwrap_or_default();
        if told.contains("trial ") { told } else { format!("{what}: panicked: {told}") }
    });
    ((class, kind), judged)
}

#[test]
fn whatever_happens_to_a_file_of_a_home_is_harmless_or_told_and_makes_no_money() {
    let trials = full(10_000, 160);
    let specimens = [closed(), killed(), hosted(), archived()];
    let scratch = tempfile::tempdir().unwrap();
    // Panics inside are caught and judged; only the verdict on a trial is told.
    std::panic::set_hook(Box::new(|panic| {
        let told = panic.to_string();
        if told.contains("trial ") {
            eprintln!("{told}");
        }
    }));
    // A disaster mostly waits for the disk, so several happen at a time.
    let (next, outcome) = (AtomicU64::new(0), Mutex::new((BTreeMap::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let trial = next.fetch_add(1, Ordering::Relaxed);
                    if trial >= trials {
                        return;
                    }
                    if trial > 0 && trial % 1_000 == 0 {
                        eprintln!("{trial} of {trials}");
                    }
                    // Long lives take long to look at.
                    let specimen = if trial % 40 == 39 { &specimens[3] } else { &specimens[(trial % 3) as usize] };
                    let (kind, judged) = disaster(specimen, trial, scratch.path());
                    let (tally, failed) = &mut *outcome.lock().unwrap();
                    match judged {
                        Ok(verdict) => *tally.entry((kind.0, kind.1, verdict)).or_default() += 1,
                        Err(told) => failed.push(told),
                    }
                }
            });
        }
    });
    let (tally, failed): (Tally, Vec<String>) = outcome.into_inner().unwrap();
    let _ = std::panic::take_hook();
    for ((class, kind, verdict), count) in &tally {
        println!("counted: {class:<24} {kind:<5} {verdict:?} {count}");
    }
    println!("counted: {trials} disasters over every file of a home, {} of them silent", failed.len());
    assert!(failed.is_empty(), "{} of {trials}:\n{}", failed.len(), failed.join("\n"));
    let of = |class: &str| tally.iter().filter(|((c, _, v), _)| c == class && *v == Verdict::Reported).count();
    assert!(of("treasury.db") > 0 && of("life.db") > 0, "something was found at all");
}
