//! One experiment and many processes, over a real work queue: the same bytes however many there are, whoever of them is killed
//! and whenever the queue's server is.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Tent, full, text};
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
    let kept = named.filter(|(name, _)| !["done.jsonl", "cost.json", "bardo"].contains(&name.as_str()));
    kept.map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

struct Workers<'a> {
    tent: &'a Tent,
    url: String,
    all: Vec<Child>,
}

impl Workers<'_> {
    fn hire(&mut self, number: usize) {
        for _ in 0..number {
            let mut command = self.tent.command(["lab", "work", &self.url, "--threads", "1"]);
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
    let file = small(&folder, full(24, 2));
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
        let mut workers = Workers { tent: &tent, url: url.clone(), all: Vec::new() };
        workers.hire(number);
        let place = out(&format!("workers-{number}"));
        let mut run = tent.command(["lab", "run", &file, "--workers", &url, "--out", &place]);
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
