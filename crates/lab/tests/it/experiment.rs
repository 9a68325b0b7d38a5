//! Experiments that are files: that they come to the same however they are run, that arms are what they are called, and that
//! nothing can be changed once it is sealed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lab::experiment::conduct::{Threads, conduct};
use lab::experiment::report::Findings;
use lab::experiment::work::{Bench, Done, Log, Tuned, Unit};
use lab::experiment::{Experiment, Phase};

/// The experiment of the book, small: two worlds, all arms.
fn small(folder: &Path, change: impl Fn(&str) -> String) -> Experiment {
    let file = folder.join("experiment.toml");
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/mortality.toml");
    let text = std::fs::read_to_string(book).unwrap();
    std::fs::write(&file, change(&text)).unwrap();
    let mut experiment = Experiment::read(&file).unwrap();
    experiment.budget.ticks = 1_600;
    experiment.budget.from = 400;
    experiment.budget.note_every = 200;
    experiment.worlds.retain(|place| ["flips", "queue"].contains(&place.name.as_str()));
    (experiment.reporting.paths, experiment.reporting.dial_paths, experiment.tuning.paths) = (4, 2, 1);
    experiment.again = None;
    experiment.worlds.iter_mut().for_each(|place| place.at.truncate(1));
    for arm in experiment.arms.iter_mut().filter(|arm| !arm.tune.is_empty()) {
        // Two settings of one key.
        arm.tune = arm.tune.iter().take(1).map(|(key, values)| (key.clone(), values[..2].to_vec())).collect();
    }
    for place in &mut experiment.worlds {
        // Lives that are over before so short a path is.
        place.set.insert("mortality.economic.machine_per_day".to_owned(), "2".into());
    }
    experiment
}

fn run(experiment: &Experiment, folder: &Path, threads: usize) -> Findings {
    let bench = Bench::new(experiment.clone()).unwrap();
    let (stop, mut told) = (AtomicBool::new(false), |_| {});
    conduct(&bench, folder, &mut Threads(threads), &stop, &mut told).unwrap().expect("nobody stopped it")
}

/// Everything an experiment leaves, apart from how long it took and in which order it was done.
fn left(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let name = |file: &std::fs::DirEntry| file.file_name().into_string().unwrap();
    let kept = files.filter(|file| !["done.jsonl", "cost.json"].contains(&name(file).as_str()));
    kept.map(|file| (name(&file), std::fs::read(file.path()).unwrap())).collect()
}

#[test]
fn the_same_bytes_however_many_threads_and_however_often_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = small(folder.path(), str::to_owned);
    let place = |name: &str| folder.path().join(name);
    run(&experiment, &place("one"), 1);
    run(&experiment, &place("two"), 2);
    run(&experiment, &place("eight"), 8);
    let first = left(&place("one"));
    assert!(first.len() >= 13, "{:?}", first.keys());
    assert!(first == left(&place("two")) && first == left(&place("eight")));

    // Stopped after every few paths, and once killed in the middle of a line.
    let bench = Bench::new(experiment.clone()).unwrap();
    let mut stops = 0;
    loop {
        let (stop, mut heard) = (AtomicBool::new(false), 0);
        let mut told = |_| {
            heard += 1;
            stop.store(heard > 4, Ordering::Relaxed);
        };
        let done = conduct(&bench, &place("often"), &mut Threads(2), &stop, &mut told).unwrap();
        if done.is_some() {
            break;
        }
        stops += 1;
        if stops == 2 {
            let log = place("often").join("done.jsonl");
            let bytes = std::fs::read(&log).unwrap();
            std::fs::write(&log, &bytes[..bytes.len() - 100]).unwrap();
        }
        assert!(stops < 40, "it never ends");
    }
    assert!(stops > 3, "{stops}");
    assert!(first == left(&place("often")));
}

#[test]
fn what_is_sealed_cannot_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = small(folder.path(), str::to_owned);
    run(&experiment, &folder.path().join("run"), 2);
    let mut other = experiment.clone();
    other.analysis.smallest = 0.003;
    let bench = Bench::new(other).unwrap();
    let told = conduct(&bench, &folder.path().join("run"), &mut Threads(1), &AtomicBool::new(false), &mut |_| {});
    assert!(told.unwrap_err().to_string().ends_with("belongs to another experiment; name another folder"));
    // Nor what was tuned, once paths are open that are reported on: without one tuning path it would come out otherwise.
    let log = folder.path().join("run/done.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let changed: Vec<String> = text
        .lines()
        .map(|line| {
            let mut done: Done = serde_json::from_str(line).unwrap();
            if done.unit.phase == Phase::Tuning {
                let last = done.fared.iter_mut().filter(|(name, _)| name.ends_with("|1"));
                last.for_each(|(_, fared)| fared.skill = Some(0.9));
            }
            serde_json::to_string(&done).unwrap()
        })
        .collect();
    std::fs::write(&log, changed.join("\n") + "\n").unwrap();
    let bench = Bench::new(experiment).unwrap();
    let told = conduct(&bench, &folder.path().join("run"), &mut Threads(1), &AtomicBool::new(false), &mut |_| {});
    assert!(told.unwrap_err().to_string().contains("seal.json belongs to another experiment"));
}

#[test]
fn arms_are_what_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = small(folder.path(), str::to_owned);
    run(&experiment, &folder.path().join("run"), 2);
    let (_, done) = Log::open(&folder.path().join("run/done.jsonl")).unwrap();
    let (mut died, mut noticed) = (0, 0);
    for one in done.iter().filter(|one| one.unit.phase == Phase::Reporting) {
        let arm = |name: &str| &one.fared[name];
        let born = |name: &str| arm(name).lives.iter().map(|lived| lived.born).collect::<Vec<_>>();
        // Whoever has no clock lives once, and nobody dies of anything.
        for name in ["immortal", "forgetting"] {
            assert_eq!(arm(name).lives.len(), 1, "{name}");
            assert_eq!(arm(name).lives[0].ending, "ended", "{name}");
        }
        // Whoever dies when mortal did is born when its heirs were.
        for name in ["fresh", "copy", "compressing"] {
            assert_eq!(born(name), born("mortal"), "{name}");
            assert!(arm(name).lives.iter().all(|lived| lived.ending == "ended"), "{name}");
        }
        died += arm("mortal").lives.iter().filter(|lived| lived.ending != "ended").count();
        noticed += arm("resetting").lives.iter().filter(|lived| lived.ending == "noticed").count();
        // Only what is left is left.
        let left = |name: &str| arm(name).lives.iter().skip(1).map(|lived| lived.left).sum::<u64>();
        assert_eq!((left("fresh"), left("copy"), left("resetting")), (0, 0, 0));
        assert!(born("mortal").len() < 2 || (left("mortal") > 0 && left("compressing") > 0));
        // Four at once, on a quarter of the path, for the same ticks.
        let siblings = &arm("fittest").lives;
        assert_eq!(siblings.iter().map(|lived| lived.sibling).max(), Some(3));
        let all: u64 = siblings.iter().map(|lived| lived.ticks).sum();
        assert!((1_500..=1_600).contains(&all), "{all}");
        // Nobody looks at more of the world than is there.
        assert!(one.fared.values().all(|fared| fared.ticks <= 1_600), "{:?}", one.unit);
    }
    assert!(died > 0 && noticed > 0, "{died} died, {noticed} noticed");
    // Yoked to the neighbour, and it to them.
    let of = |path: u64| {
        let unit = Unit { phase: Phase::Reporting, world: 0, dial: 0, mind: 0, path };
        &done.iter().find(|one| one.unit == unit).unwrap().fared
    };
    let born = |path: u64, name: &str| of(path)[name].lives.iter().map(|lived| lived.born).collect::<Vec<_>>();
    assert_eq!(born(0, "yoked"), born(1, "mortal"));
    assert_eq!(born(1, "yoked"), born(0, "mortal"));
}

/// The best of an arm's settings on the tuning paths is what is reported on.
#[test]
fn an_arm_is_tuned_to_what_did_best() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = small(folder.path(), str::to_owned);
    run(&experiment, &folder.path().join("run"), 2);
    let (_, done) = Log::open(&folder.path().join("run/done.jsonl")).unwrap();
    let seal = std::fs::read_to_string(folder.path().join("run/seal.json")).unwrap();
    let seal: serde_json::Value = serde_json::from_str(&seal).unwrap();
    let mut second = 0;
    for one in done.iter().filter(|one| one.unit.phase == Phase::Tuning) {
        let skill = |name: &str| one.fared[name].skill.unwrap_or_else(|| panic!("{name} was not measured"));
        let place = (&experiment.worlds[one.unit.world].name, &experiment.minds[one.unit.mind].name);
        for arm in experiment.arms.iter().filter(|arm| !arm.tune.is_empty()) {
            let best = usize::from(skill(&format!("{}|1", arm.name)) > skill(&format!("{}|0", arm.name)));
            second += best;
            let tuned = &seal["tuned"][format!("{}|{}|{}", place.0, place.1, arm.name)];
            assert_eq!(tuned, &serde_json::to_value(&arm.choices()[best]).unwrap(), "{} in {place:?}", arm.name);
        }
        assert!(skill("immortal|0").is_finite());
    }
    assert!(second > 0, "nobody was tuned to anything but what came first");
}

/// Twins differ by chance and by nothing else; what nobody planted is not found.
#[test]
fn twins_have_other_dice_on_the_same_paths() {
    let folder = tempfile::tempdir().unwrap();
    let findings = run(&small(folder.path(), str::to_owned), &folder.path().join("run"), 2);
    let twins: Vec<_> = findings.places.iter().map(|found| found.twin.expect("there is one")).collect();
    assert!(twins.iter().all(|twin| twin.mean.abs() < 0.05), "{twins:?}");
    // In lives as short as these, dice do not always come to anything.
    assert!(twins.iter().any(|twin| twin.deviation > 0.0), "{twins:?}");
    let report = std::fs::read_to_string(folder.path().join("run/report.md")).unwrap();
    for answer in findings.answers.iter().map(|(_, answer)| answer).chain(&findings.verdict) {
        assert!(report.contains(answer), "{answer}");
    }
}

#[test]
fn a_file_that_makes_no_sense_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let told = |from: &str, to: &str| {
        let file = folder.path().join("experiment.toml");
        let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/mortality.toml");
        let text = std::fs::read_to_string(book).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        Experiment::read(&file).unwrap_err().to_string()
    };
    assert_eq!(told("thesis = \"mortal\"", "thesis = \"moral\""), "there is no arm named 'moral'");
    assert!(told("seed = 9310", "seed = 71").contains("must not be the same"));
    assert!(told("settings = 30", "settings = 29").contains("29 at most for every arm"));
    assert!(told("[arms.tune]\n\"funds.credit\"", "[arms.tune]\n\"fund.credit\"").contains("fund.credit"));
    assert!(told("name = \"flips\"", "name = \"market\"").contains("a name of its own"));
    assert!(told("\"forget.memory\" = [0.25", "\"forget.memory\" = [0.3").contains("it can be one of"));
}

/// What an experiment costs beside the bare step, per worker and in the same run: the same worlds and the same golems, whom
/// nobody listens to.
#[test]
fn an_experiment_is_as_fast_as_the_bare_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut experiment = small(folder.path(), str::to_owned);
    experiment.arms.retain(|arm| ["mortal", "twin", "immortal"].contains(&arm.name.as_str()));
    experiment.budget.ticks = if crate::common::full() { 20_000 } else { 4_000 };
    // Nobody dies, so that all of them are one life.
    for place in &mut experiment.worlds {
        place.set.insert("mortality.economic.machine_per_day".to_owned(), "0".into());
        place.set.insert("mortality.epistemic.senescence_threshold".to_owned(), 0.0.into());
        place.set.insert("mortality.stochastic.enabled".to_owned(), false.into());
    }
    let bench = Bench::new(experiment.clone()).unwrap();
    let unit = Unit { phase: Phase::Reporting, world: 0, dial: 0, mind: 0, path: 0 };
    let once = |path: u64| {
        let began = Instant::now();
        let done = bench.run(&Unit { path, ..unit.clone() }, &Tuned::new()).unwrap();
        let ran = began.elapsed();
        let (place, seed) = (&experiment.worlds[0], experiment.reporting.seed * 1_000_003 + path);
        let began = Instant::now();
        for arm in &experiment.arms {
            let settled = experiment.settled(place, &experiment.minds[0], arm, &Default::default()).unwrap();
            let world = place.spec.clone().with_seed(seed).open(world::Ledger::memory()).unwrap();
            let mut life = crate::common::rehearsal("bare", seed, world, settled.constitution, settled.credit);
            while life.life().tick() < done.fared[&arm.name].ticks {
                life.tick(&mut |_, _| {}).unwrap();
            }
        }
        (began.elapsed().as_secs_f64(), ran.as_secs_f64())
    };
    // Whatever else this machine does makes either slower and never faster.
    let all: Vec<(f64, f64)> = (0..9).map(|_| once(0)).collect();
    let least = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MAX, f64::min);
    let ratio = least(|(bare, _)| *bare) / least(|(_, ran)| *ran);
    println!("counted: an experiment runs at {ratio:.2} of the bare step");
    assert!(ratio >= if crate::common::full() { 0.9 } else { 0.7 }, "{ratio}: {all:?}");
}
