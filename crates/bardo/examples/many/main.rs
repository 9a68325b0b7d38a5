//! How many golems one process carries, and what each more costs: lives them for real under `bardo up`.
//!
//! `just many` prints the table. `--golems 100,1000,10000` says how many, `--seconds` how long each is watched,
//! `--home DIR` where the golems are kept (made once; ten thousand take ten minutes and 20 GB).

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use golem::Birth;
use golem::constitution::{Clocks, Constitution};
use golem::grimoire::How;
use golem::grimoire::bundle::export;
use golem::{Golem, Record, Usdc, What, laws};
use lab::rehearsal::Rehearsal;
use settings::chance::{Secret, identity};
use settings::{File, Settings};
use shell::Home;
use vault::{Treasury, Vault};
use world::{Ledger, Spec};

const TICKS: u64 = 5_000;
const ENTRIES: usize = 300;

fn main() {
    let flag = |name: &str| std::env::args().skip_while(|arg| arg != name).nth(1);
    let golems = flag("--golems").unwrap_or_else(|| "100,1000".into());
    let seconds: u64 = flag("--seconds").and_then(|n| n.parse().ok()).unwrap_or(60);
    let delay: u64 = flag("--delay-us").and_then(|n| n.parse().ok()).unwrap_or(0);
    let listeners: usize = flag("--listeners").and_then(|n| n.parse().ok()).unwrap_or(100);
    let base = flag("--home").map_or_else(std::env::temp_dir, PathBuf::from);
    let binary =
        std::env::current_exe().expect("this is a program").ancestors().nth(2).expect("in examples/").join("bardo");
    assert!(binary.exists(), "build it first: cargo build --release -p bardo");
    let shim = shim(&base);
    if delay > 0 {
        println!("every sync takes {} ms longer", delay as f64 / 1_000.0);
    }
    println!(
        "{:>7} {:>7} {:>9} {:>8} {:>7} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "GOLEMS",
        "BOOT s",
        "MB",
        "kB EACH",
        "CPU",
        "TICKS/s",
        "SYNCS/s",
        "LATE p50",
        "LATE p99",
        "ACK p99",
        "LISTENERS"
    );
    for count in golems.split(',').map(|n| n.parse::<u64>().expect("a number")) {
        let home = prepare(&base.join(format!("bardo-many-{count}")), count);
        watch(&binary, &home, &shim, count, seconds, delay, listeners);
    }
}

/// A library that counts syncs, compiled from the source beside this file.
fn shim(base: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/many/sync.c");
    let library = base.join("bardo-sync.so");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&library).arg(source).status();
    assert!(status.is_ok_and(|status| status.success()), "cc makes a library");
    library
}

/// A home with so many golems, each of which has lived five thousand ticks.
fn prepare(root: &Path, count: u64) -> Home {
    let home = Home::at(root.to_owned());
    let settings = Settings::load(File::Bardo, None, std::iter::empty(), &[]).expect("defaults");
    home.init(&settings).expect("a home");
    let have = home.list().expect("a home").len() as u64;
    if have >= count {
        return home;
    }
    let began = Instant::now();
    // What they will say they were given must have been sent, or no host lives them.
    let mut treasury = Treasury::open(home.root(), &home.heads()).expect("a treasury");
    treasury.add(Usdc::dollars(200 * (count - have) as i64)).expect("it is written");
    for n in have..count {
        let id = identity(Some(n), &format!("g{n}"));
        treasury.send(id, 0, Usdc::dollars(100), Usdc::dollars(100)).expect("it is written");
    }
    drop(treasury);
    let gift = Arc::new(gift());
    let next = AtomicU64::new(have);
    let (heuristics, entries, alive) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    let (heuristics_here, entries_here, lives) = make(&home, n, &gift);
                    heuristics.fetch_add(heuristics_here, Ordering::Relaxed);
                    entries.fetch_add(entries_here, Ordering::Relaxed);
                    alive.fetch_add(u64::from(lives), Ordering::Relaxed);
                }
            });
        }
    });
    let made = (count - have).max(1);
    eprintln!(
        "made {made} golems in {:.0} s: {} heuristics and {} entries each on average, {} alive",
        began.elapsed().as_secs_f64(),
        heuristics.into_inner() / made,
        entries.into_inner() / made,
        alive.into_inner()
    );
    home
}

fn newborn(n: u64) -> (Golem, Record, Rehearsal, Secret) {
    let spec = Spec::Sim { seed: n + 1, bar_ms: 40_000, relations_change_days: 20.0, edge_bps: None, flip_days: None };
    let world = spec.open(Ledger::memory()).expect("the sim opens");
    let name = format!("g{n}");
    let secret = Secret::from_seed(n, &name);
    // They are to be there until the end, so none may die meanwhile.
    let mut constitution =
        Constitution { clocks: Clocks { economic: false, epistemic: false, stochastic: true }, ..Constitution::bare() };
    (constitution.stochastic.base_hazard, constitution.stochastic.aging_hazard) = (1e-15, 1e-18);
    constitution.policy.max_drawdown_bps = 0;
    constitution.mind.explore_every = 20;
    constitution.dream.enabled = true;
    let mut manifest = world.manifest();
    manifest.spec = serde_json::to_string(&spec).expect("plain data");
    let birth = Birth {
        id: identity(Some(n), &name),
        name: name.parse().expect("a plain name"),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: secret.hash(),
        seeded: true,
        constitution,
        world: manifest,
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let (golem, record) = Golem::born(birth, world.start());
    let life = Rehearsal::new(golem.clone(), world, secret.clone());
    (golem, record, life, secret)
}

fn funded() -> What {
    What::Funded { transfer: 1, credit: Usdc::dollars(100), capital: Usdc::dollars(100) }
}

/// What others know, to fill memories with.
fn gift() -> Vec<String> {
    let mut lines = Vec::new();
    for n in 1_000_000..1_000_012 {
        let (_, _, mut life, _) = newborn(n);
        life.feed(funded(), &mut |_, _| {}).expect("money is taken");
        for _ in 0..TICKS {
            life.tick(&mut |_, _| {}).expect("the sim goes on");
        }
        lines.extend(
            life.grimoire()
                .in_use()
                .map(|entry| serde_json::to_string(&export(entry, life.life())).expect("plain data")),
        );
    }
    lines
}

/// One golem: lived in memory, written down whole.
fn make(home: &Home, n: u64, gift: &[String]) -> (u64, u64, bool) {
    let (golem, first, mut life, secret) = newborn(n);
    let place = home.place(&golem.life().birth().name);
    fs::create_dir_all(&place.folder).expect("a folder");
    secret.save(&place.secret()).expect("a secret");
    fs::write(place.config(), "").expect("a file");
    let mut vault = Vault::create(&place.vault(), &first, golem.life(), TICKS).expect("a vault");
    let mut keep = |record: &Record, life: &golem::Life| vault.stage(record, life);
    life.feed(funded(), &mut keep).expect("money is taken");
    for tick in 0..TICKS {
        life.tick(&mut keep).expect("the sim goes on");
        if tick % 500 == 499 && life.grimoire().in_use().count() < ENTRIES {
            let from = (n as usize * 37 + tick as usize) % gift.len();
            let some: Vec<&str> = gift.iter().cycle().skip(from).take(60).map(String::as_str).collect();
            life.take_in(&some, How::Inherited, &mut keep).expect("it takes what it is given");
        }
    }
    let known = life.grimoire().in_use().count() as u64;
    let (heuristics, alive) = (life.life().playbook().len() as u64, !life.life().is_dead());
    vault.commit(life.life()).expect("it is written");
    (heuristics, known, alive)
}

struct Host {
    child: Child,
    address: String,
    token: String,
    boot: f64,
}

impl Host {
    fn figures(&self) -> Figures {
        let mut socket = TcpStream::connect(&self.address).expect("it listens");
        let (address, token) = (&self.address, &self.token);
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        socket.write_all(request.as_bytes()).expect("it listens");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("it answers");
        Figures(text)
    }
}

struct Figures(String);

impl Figures {
    fn value(&self, name: &str) -> f64 {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).unwrap_or(0.0)
    }

    fn buckets(&self, name: &str) -> Vec<(f64, f64)> {
        let begin = format!("{name}_bucket{{le=\"");
        let lines = self.0.lines().filter_map(|line| line.strip_prefix(&begin)?.split_once("\"} "));
        lines.map(|(le, count)| (le.parse().unwrap_or(f64::INFINITY), count.parse().unwrap_or(0.0))).collect()
    }
}

/// The mark that so much of what came between two readings stayed below, in milliseconds.
fn quantile(before: &Figures, after: &Figures, name: &str, share: f64) -> f64 {
    let (old, new) = (before.buckets(name), after.buckets(name));
    let total = new.last().map_or(0.0, |last| last.1) - old.last().map_or(0.0, |last| last.1);
    let below = old.iter().zip(&new).find(|(old, new)| new.1 - old.1 >= total * share);
    below.map_or(f64::NAN, |(_, new)| new.0 * 1_000.0)
}

fn up(binary: &Path, home: &Home, shim: &Path, delay: u64) -> Host {
    let began = Instant::now();
    let count = home.root().with_extension("syncs");
    let mut child = Command::new(binary)
        .args(["up", "--listen", "127.0.0.1:0"])
        .env("BARDO_HOME", home.root())
        .env("LD_PRELOAD", shim)
        .env("SYNC_COUNT", count)
        .env("SYNC_DELAY_US", delay.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let address = loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).expect("it speaks") > 0, "it does not come up");
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split(';').next().expect("an address").to_owned();
        }
    };
    let boot = began.elapsed().as_secs_f64();
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let token = fs::read_to_string(home.token()).expect("a token");
    Host { child, address, token, boot }
}

fn syncs(home: &Home) -> u64 {
    let bytes = fs::read(home.root().with_extension("syncs")).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

fn of_process(pid: u32, file: &str) -> String {
    fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default()
}

fn cpu_seconds(pid: u32) -> f64 {
    let stat = of_process(pid, "stat");
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = after.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // The state is no number, so user and system time are the eleventh and twelfth of those that are.
    ticks.get(10).zip(ticks.get(11)).map_or(0.0, |(user, system)| (user + system) / 100.0)
}

fn resident_mb(pid: u32) -> f64 {
    let status = of_process(pid, "status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1_024.0
}

fn watch(binary: &Path, home: &Home, shim: &Path, count: u64, seconds: u64, delay: u64, listeners: usize) {
    let mut host = up(binary, home, shim, delay);
    let pid = host.child.id();
    let stop = Arc::new(AtomicBool::new(false));
    for audience in [0, listeners] {
        let heard = listen(&host, audience, &stop);
        let (before, syncs_before, cpu, began) = (host.figures(), syncs(home), cpu_seconds(pid), Instant::now());
        std::thread::sleep(Duration::from_secs(seconds));
        let (after, took) = (host.figures(), began.elapsed().as_secs_f64());
        let late = "bardo_tick_lateness_seconds";
        let ticks = after.value("bardo_ticks_total") - before.value("bardo_ticks_total");
        assert!(ticks > 0.0, "the host lives nobody; `bardo --home {} doctor` may say why", home.root().display());
        println!(
            "{count:>7} {:>7.1} {:>9.0} {:>8.1} {:>6.1}% {:>8.1} {:>8.1} {:>6} ms {:>6} ms {:>6} ms {audience:>9}",
            host.boot,
            resident_mb(pid),
            resident_mb(pid) * 1_024.0 / count as f64,
            (cpu_seconds(pid) - cpu) / took * 100.0,
            ticks / took,
            (syncs(home) - syncs_before) as f64 / took,
            quantile(&before, &after, late, 0.5),
            quantile(&before, &after, late, 0.99),
            quantile(&before, &after, "bardo_acknowledgement_seconds", 0.99),
        );
        if audience > 0 {
            eprintln!("{audience} listeners heard {} MB", heard.load(Ordering::Relaxed) >> 20);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let began = Instant::now();
    let _ = Command::new("kill").args(["-TERM", &pid.to_string()]).status();
    let _ = host.child.wait();
    eprintln!("down after {:.1} s", began.elapsed().as_secs_f64());
}

fn listen(host: &Host, many: usize, stop: &Arc<AtomicBool>) -> Arc<AtomicU64> {
    let heard = Arc::new(AtomicU64::new(0));
    for _ in 0..many {
        let (heard, stop) = (Arc::clone(&heard), Arc::clone(stop));
        let (address, token) = (host.address.clone(), host.token.clone());
        std::thread::spawn(move || {
            let mut socket = TcpStream::connect(&address).expect("it listens");
            let request =
                format!("GET /v1/events?all=true HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n");
            socket.write_all(request.as_bytes()).expect("it listens");
            let mut buffer = vec![0; 64 << 10];
            while !stop.load(Ordering::Relaxed) {
                match socket.read(&mut buffer) {
                    Ok(0) | Err(_) => return,
                    Ok(bytes) => heard.fetch_add(bytes as u64, Ordering::Relaxed),
                };
            }
        });
    }
    heard
}
