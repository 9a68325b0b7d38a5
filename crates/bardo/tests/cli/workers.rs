//! One experiment and many processes, over a real work queue: the same bytes however many there are, whoever of them is killed
//! and whenever the queue's server is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Tent, full, text};
use async_nats::{ConnectOptions, jetstream};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use testing::cluster::{Cluster, Dice};

/// The experiment of the book, made small by editing it as anybody would.
fn small(folder: &Path, paths: u64) -> String {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/mortality.toml");
    let mut text = std::fs::read_to_string(book).unwrap();
    for (from, to) in [
        ("ticks = 20000\nfrom = 4000\nnote_every = 1000", "ticks = 800\nfrom = 200\nnote_every = 100".to_owned()),
        ("paths = 240\ndial_paths = 24", format!("paths = {paths}")),
        ("seed = 71\npaths = 8", "seed = 71\npaths = 1".to_owned()),
        ("\n[again]\nseed = 9320\npaths = 240\n", String::new()),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, &to, 1);
    }
    let file = folder.join("small.toml");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// What an experiment leaves, apart from how long it took, in which order, and the program.
fn left(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    let not_kept = ["done.jsonl", "cost.json", "bardo", "sample.seed"];
    let kept = named.filter(|(name, _)| !not_kept.contains(&name.as_str()));
    kept.map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

/// The key of a run, known before it begins.
fn key_in(folder: &Path) -> String {
    let file = folder.join("run.key");
    std::fs::write(&file, format!("{}\n", "c0ffee00".repeat(8))).unwrap();
    file.to_str().unwrap().to_owned()
}

struct Workers<'a> {
    tent: &'a Tent,
    url: String,
    key: String,
    all: Vec<Child>,
}

impl Workers<'_> {
    fn hire(&mut self, number: usize) {
        for _ in 0..number {
            let mut command = self.tent.command(["lab", "work", &self.url, "--key", &self.key, "--threads", "1"]);
            self.all.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        }
    }

    fn kill(&mut self, at: usize) {
        let mut worker = self.all.swap_remove(at);
        worker.kill().unwrap();
        worker.wait().unwrap();
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        while !self.all.is_empty() {
            self.kill(0);
        }
    }
}

#[test]
fn the_same_bytes_from_one_two_and_eight_workers_whoever_is_killed() {
    let Some(mut cluster) = Cluster::up(1) else { return };
    let tent = Tent::bare();
    let folder = tent.folder.path().to_owned();
    let (file, key) = (small(&folder, full(24, 2)), key_in(&folder));
    let out = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    tent.ok(["lab", "run", &file, "--threads", "2", "--out", &out("threads")]);
    let first = left(Path::new(&out("threads")));
    assert!(first.len() >= 14, "{:?}", first.keys());

    let url = cluster.servers.clone();
    let kills = full(100, 6);
    let mut dice = Dice(5);
    for number in [1, 2, 8] {
        // A server of its own each time: what is known of the experiment would be told again otherwise.
        cluster.kill(0);
        let _ = std::fs::remove_dir_all(&cluster.nodes[0].store);
        cluster.start(0);
        let mut workers = Workers { tent: &tent, url: url.clone(), key: key.clone(), all: Vec::new() };
        workers.hire(number);
        let place = out(&format!("workers-{number}"));
        let mut run = tent.command(["lab", "run", &file, "--workers", &url, "--key", &key, "--out", &place]);
        let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (began, mut killed, mut restarted) = (Instant::now(), 0, false);
        while run.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(full(3_600, 300)), "it never ends");
            std::thread::sleep(Duration::from_millis(100 + dice.below(400)));
            if killed < kills && number > 1 {
                let at = dice.below(workers.all.len() as u64) as usize;
                workers.kill(at);
                workers.hire(1);
                killed += 1;
            }
            if number == 8 && !restarted && killed >= kills / 2 {
                cluster.kill(0);
                std::thread::sleep(Duration::from_secs(1));
                cluster.start(0);
                restarted = true;
            }
        }
        let told = run.wait_with_output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        assert!(first == left(Path::new(&place)), "{number} workers");
        println!("counted: {number} workers, {killed} kills, server restarted {restarted}: the same bytes");
    }
}

/// Whoever comes back to an experiment is told what was found out meanwhile, and Ctrl-C keeps what is done.
#[test]
fn what_is_interrupted_goes_on_where_it_was() {
    let tent = Tent::bare();
    let folder = tent.folder.path().to_owned();
    let file = small(&folder, 2);
    let out = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    tent.ok(["lab", "run", &file, "--threads", "2", "--out", &out("whole")]);
    let mut run = tent.command(["lab", "run", &file, "--threads", "1", "--out", &out("often")]);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let log = folder.join("often/done.jsonl");
    let lines = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    while lines() < 3 {
        assert!(run.try_wait().unwrap().is_none(), "it was too fast");
        std::thread::sleep(Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    let told = run.wait_with_output().unwrap();
    assert_eq!(told.status.code(), Some(130));
    assert!(text(&told.stdout).starts_with("stopped; what is done is kept"), "{}", text(&told.stdout));
    assert!(lines() >= 3);
    tent.ok(["lab", "run", &file, "--threads", "2", "--out", &out("often")]);
    assert!(left(Path::new(&out("whole"))) == left(Path::new(&out("often"))));
}

/// What anybody can send who reaches the server: an answer to each task, in the shape of a result, with invented figures. `seal`
/// makes a message of the words; `sent` counts them.
async fn answer_as(cluster: &Cluster, seal: impl Fn(&str, &str) -> Vec<u8>, sent: &AtomicUsize, stop: &AtomicBool) {
    let client = ConnectOptions::new().retry_on_initial_connect().connect(&*cluster.servers).await.unwrap();
    let streams = jetstream::new(client);
    let mut seen = BTreeSet::new();
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let Ok(work) = streams.get_stream("bardo-lab-work").await else { continue };
        let Ok(info) = work.get_info().await else { continue };
        let there = info.state.first_sequence..=info.state.last_sequence;
        for sequence in there.filter(|sequence| !seen.contains(sequence)).collect::<Vec<_>>() {
            let Ok(message) = work.get_raw_message(sequence).await else { continue };
            seen.insert(sequence);
            let task: Value = serde_json::from_slice(&message.payload).unwrap();
            let task: Value = serde_json::from_str(task["words"].as_str().unwrap()).unwrap();
            let subject = format!("bardo.lab.done.{}", task["run"].as_str().unwrap());
            let words = json!({ "unit": task["unit"], "fared": invented(), "seconds": 0.1 }).to_string();
            let payload = seal(&subject, &words);
            streams.publish(subject, payload.into()).await.unwrap().await.unwrap();
            sent.fetch_add(1, Ordering::Relaxed);
        }
    }
}

const ARMS: [&str; 12] = [
    "mortal",
    "unproven",
    "twin",
    "fresh",
    "copy",
    "immortal",
    "forgetting",
    "resetting",
    "compressing",
    "yoked",
    "fittest",
    "anyone",
];

/// Figures by which one arm does better than every other, of a unit of any phase.
fn invented() -> Value {
    let mut all = serde_json::Map::new();
    for arm in ARMS {
        let skill = if arm == "mortal" { 0.9 } else { 0.1 };
        let notes = [skill; 6];
        let fared =
            json!({ "skill": skill, "early": skill, "after": skill, "notes": notes, "lives": [], "ticks": 800 });
        let tuned = (0..31).map(|number| format!("{arm}|{number}"));
        all.extend(tuned.chain([arm.to_owned()]).map(|name| (name, fared.clone())));
    }
    Value::Object(all)
}

/// As a worker that has the key of the run seals what it says.
fn sealed(key: &str, by: &str, subject: &str, words: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    for part in [subject, by, words] {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part.as_bytes());
    }
    let seal = mac.finalize().into_bytes().to_vec();
    serde_json::to_vec(&json!({ "by": by, "words": words, "seal": seal })).unwrap()
}

/// A stranger on the NATS server decided an experiment: it answered each task with figures of its own, no worker ran, and two
/// seconds later the report said that dying did better than every control. With the key of the run and figures of its own a
/// worker could do the same.
#[test]
fn neither_a_stranger_nor_a_worker_that_lies_decides_an_experiment() {
    let Some(cluster) = Cluster::up(1) else { return };
    let tent = Tent::bare();
    let folder = tent.folder.path().to_owned();
    let (file, key) = (small(&folder, 2), key_in(&folder));
    let known = std::fs::read_to_string(&key).unwrap().trim().to_owned();
    let out = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let begin = |name: &str| {
        let mut run =
            tent.command(["lab", "run", &file, "--workers", &cluster.servers, "--key", &key, "--out", &out(name)]);
        run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };

    // A stranger: unsealed, in the shape of old; sealed by a key of its own; and with the seal of another message.
    let run = begin("stranger");
    let (sent, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            runtime.block_on(async {
                let plain = |_: &str, words: &str| words.as_bytes().to_vec();
                let own = |subject: &str, words: &str| sealed("a key of its own", "atlas/1", subject, words);
                let moved = |_: &str, words: &str| sealed(&known, "atlas/1", "bardo.lab.work.0", words);
                tokio::join!(
                    answer_as(&cluster, plain, &sent, &stop),
                    answer_as(&cluster, own, &sent, &stop),
                    answer_as(&cluster, moved, &sent, &stop)
                )
            })
        });
        let began = Instant::now();
        // Twelve paths to tune on, and three who answer for each.
        while sent.load(Ordering::Relaxed) < 36 && began.elapsed() < Duration::from_secs(120) {
            std::thread::sleep(Duration::from_millis(100));
        }
        std::thread::sleep(Duration::from_secs(3));
        Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
        let told = run.wait_with_output().unwrap();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(told.status.code(), Some(130), "{}{}", text(&told.stdout), text(&told.stderr));
        assert!(text(&told.stderr).contains("not sealed with this run's key"), "{}", text(&told.stderr));
    });
    assert!(sent.into_inner() >= 36);
    let accepted = std::fs::read_to_string(folder.join("stranger/done.jsonl")).unwrap();
    assert_eq!(accepted, "", "nothing that it sent is in the experiment");

    // A worker that has the key: what is drawn is lived again, and its name is said.
    let run = begin("liar");
    let (sent, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let lie = |subject: &str, words: &str| sealed(&known, "atlas/13", subject, words);
    let told = std::thread::scope(|scope| {
        scope.spawn(|| runtime.block_on(answer_as(&cluster, lie, &sent, &stop)));
        let told = run.wait_with_output().unwrap();
        stop.store(true, Ordering::Relaxed);
        told
    });
    let why = text(&told.stderr);
    assert_eq!(told.status.code(), Some(1), "{}{why}", text(&told.stdout));
    assert!(why.contains("than worker atlas/13 says") && why.contains(" mind, tuning"), "{why}");
    assert!(!folder.join("liar/report.md").exists());
    // What else it sent may be in that folder: it is not gone on with, by whoever.
    for how in [vec!["--threads", "1"], vec!["--workers", &cluster.servers, "--key", &key]] {
        let again = tent.fails(1, [&["lab", "run", &file, "--out", &out("liar")][..], &how].concat());
        assert!(again.contains("atlas/13") && again.contains("another --out"), "{again}");
    }
}
