//! Being told: each note reaches a real receiver, in order and once, however often the host is killed on the way; a
//! receiver that was down gets everything afterwards; and a host that is gone falls silent.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Dice, Disk, Tent, full};
use golem::event::Event;
use serde_json::Value;
use vault::{Log, Reader};

/// A receiver as simple as can be: it takes what is posted, or hangs up while it is down.
struct Receiver {
    address: String,
    notes: Arc<Mutex<Vec<Value>>>,
    beats: Arc<Mutex<Vec<Instant>>>,
    down: Arc<AtomicBool>,
}

impl Receiver {
    fn new() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (notes, beats, down) = (
            Arc::<Mutex<Vec<Value>>>::default(),
            Arc::<Mutex<Vec<Instant>>>::default(),
            Arc::new(AtomicBool::new(false)),
        );
        let (theirs, their_beats, is_down) = (Arc::clone(&notes), Arc::clone(&beats), Arc::clone(&down));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                if is_down.load(Ordering::SeqCst) {
                    continue;
                }
                let (theirs, their_beats) = (Arc::clone(&theirs), Arc::clone(&their_beats));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(socket);
                    loop {
                        let (mut first, mut length) = (String::new(), 0);
                        if reader.read_line(&mut first).unwrap_or(0) == 0 {
                            return;
                        }
                        loop {
                            let mut line = String::new();
                            if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                                break;
                            }
                            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                                length = value.trim().parse().unwrap();
                            }
                        }
                        let mut body = vec![0; length];
                        if reader.read_exact(&mut body).is_err() {
                            return;
                        }
                        if first.contains("/beat") {
                            their_beats.lock().unwrap().push(Instant::now());
                        } else if let Ok(note) = serde_json::from_slice(&body) {
                            theirs.lock().unwrap().push(note);
                        }
                        if reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Receiver { address, notes, beats, down }
    }

    fn keys(&self) -> Vec<String> {
        self.notes.lock().unwrap().iter().map(|note| note["key"].as_str().unwrap().to_owned()).collect()
    }

    fn kinds(&self) -> BTreeMap<String, u32> {
        let mut kinds = BTreeMap::new();
        for note in self.notes.lock().unwrap().iter() {
            *kinds.entry(note["kind"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        kinds
    }
}

fn configure(tent: &Tent, receiver: &Receiver) {
    // The hour it is now: the daily line is due.
    let hour = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 3_600 % 24;
    let text = format!(
        "[notify]\nwebhook = \"http://{0}/notes\"\nheartbeat = \"http://{0}/beat\"\nheartbeat_every = \"1s\"\ndaily_hour = {hour}\n",
        receiver.address
    );
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
}

fn up(tent: &Tent, speed: &str) -> Child {
    let mut command = tent.command(["up", "--listen", "", "--speed", speed]);
    let said = fs::File::create(tent.folder.path().join("said")).unwrap();
    command.stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap()
}

fn outbox_is_empty(tent: &Tent) -> bool {
    Log::reader(&tent.root()).unwrap().unwrap().waiting("webhook", 1).unwrap().is_empty()
}

fn wait_for(what: impl Fn() -> String, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !done() {
        assert!(Instant::now() < deadline, "{}", what());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn each_note_arrives_once_however_often_the_host_is_killed() {
    let tent = Tent::new();
    let receiver = Receiver::new();
    configure(&tent, &receiver);
    tent.ok(["treasury", "add", "100000"]);
    let (golems, kills) = (30, full(200, 40));
    for n in 0..golems {
        let (name, seed) = (format!("g{n}"), (n + 1).to_string());
        let mut new = vec!["golem", "new", &name, "--world", "queue", "--seed", &seed, "--credit", "1"];
        let sets: &[&str] = match n % 3 {
            // Poor, so that it worries and starves; and others like any other.
            0 => &["mortality.economic.machine_per_day=40"],
            _ => &[],
        };
        sets.iter().for_each(|set| new.extend(["--set", set]));
        tent.ok(new);
    }
    // Two whose world is a file: it ends, or is not what it was.
    for (name, volume) in [("ends", 10), ("breaks", 11)] {
        let row = |n: u64| format!("{},1,2,1,1.5,{volume}\n", 1_600_000_000_000 + n * 3_600_000);
        let rows: String = (0..300).map(row).collect();
        let file = tent.folder.path().join(format!("{name}.csv"));
        fs::write(&file, format!("timestamp,open,high,low,close,volume\n{rows}")).unwrap();
        tent.ok(["data", "import", file.to_str().unwrap(), "--name", name]);
        tent.ok(["golem", "new", name, "--data", name]);
    }
    fs::write(tent.root().join("data/breaks.csv"), "something else").unwrap();
    let mut dice = Dice(3);
    for n in 0..kills {
        // For a while nobody listens.
        receiver.down.store((kills / 4..kills / 2).contains(&n), Ordering::SeqCst);
        let mut host = up(&tent, "20000");
        std::thread::sleep(Duration::from_millis(200 + dice.roll(900)));
        let name = format!("g{}", dice.roll(golems));
        let order = match dice.roll(3) {
            0 => vec!["golem", "retire", &name, "--confirm", &name],
            1 => vec!["golem", "freeze", &name, "--reason", "to be sure"],
            _ => vec!["golem", "resume", &name],
        };
        let mut owner = tent.command(order).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(dice.roll(200)));
        let _ = host.kill();
        let _ = host.wait();
        let _ = owner.kill();
        let _ = owner.wait();
    }
    let mut host = up(&tent, "20000");
    for kind in ["crash", "feed"] {
        let said = || fs::read_to_string(tent.folder.path().join("said")).unwrap_or_default();
        wait_for(
            || format!("{kind} is told: {:?} {}", receiver.kinds(), said()),
            || receiver.kinds().contains_key(kind),
        );
    }
    wait_for(|| "everything is told".into(), || outbox_is_empty(&tent));
    assert!(!receiver.beats.lock().unwrap().is_empty());
    let _ = host.kill();
    let _ = host.wait();
    let silent = Instant::now() + Duration::from_millis(300);
    std::thread::sleep(Duration::from_secs(3));
    assert!(receiver.beats.lock().unwrap().iter().all(|beat| *beat < silent), "the dead have no heartbeat");

    // What should have been told, by the journals.
    let mut expected = BTreeSet::new();
    for place in tent.home().list().unwrap() {
        place.catch_up().unwrap();
        let reader = Reader::open(&place.database()).unwrap();
        let id = reader.id().unwrap();
        reader
            .replay(|record| {
                for event in &record.events {
                    match event {
                        Event::Died(_) => expected.insert(format!("{id}:{}:death", record.seq)),
                        Event::Froze { .. } => expected.insert(format!("{id}:{}:freeze", record.seq)),
                        Event::EconomicCritical => expected.insert(format!("{id}:{}:money", record.seq)),
                        _ => false,
                    };
                }
                Ok(())
            })
            .unwrap();
    }
    let keys = receiver.keys();
    let distinct: BTreeSet<String> = keys.iter().cloned().collect();
    let of_lives: BTreeSet<String> = distinct
        .iter()
        .filter(|key| ["death", "freeze", "money"].iter().any(|kind| key.ends_with(kind)))
        .cloned()
        .collect();
    // What the owner did by hand between two hosts is nobody's to tell: they know.
    let untold: Vec<_> = expected.difference(&of_lives).collect();
    let invented: Vec<_> = of_lives.difference(&expected).collect();
    assert!(invented.is_empty(), "{invented:?}");
    let by_hand = untold.iter().filter(|key| !key.ends_with("money")).count();
    let repeated = keys.len() - distinct.len();
    println!(
        "{kills} kills, {} notes: {:?}; {repeated} sent again, {} done by hand",
        distinct.len(),
        receiver.kinds(),
        untold.len()
    );
    assert!(by_hand as u64 <= kills / 2, "{untold:?}");
    assert!(repeated as u64 <= kills / 10 + 1, "a note goes out twice only if the kill came before it was crossed out");
    for kind in ["death", "freeze", "money", "feed", "crash", "daily"] {
        assert!(receiver.kinds().contains_key(kind), "{kind}: {:?}", receiver.kinds());
    }
    assert_eq!(receiver.kinds()["daily"], 1);
    // In order, apart from those sent again.
    let mut seen = BTreeSet::new();
    let times: Vec<i64> = receiver
        .notes
        .lock()
        .unwrap()
        .iter()
        .filter(|note| seen.insert(note["key"].to_string()))
        .map(|note| note["at"].as_i64().unwrap())
        .collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1] + 100), "in order");
}

#[test]
fn a_full_disk_stops_acknowledgements_is_told_and_heals_without_loss() {
    let tent = Tent::bare();
    fs::create_dir_all(tent.root()).unwrap();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    let receiver = Receiver::new();
    configure(&tent, &receiver);
    for n in 0..5 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let mut host = tent
        .command(["--json", "up", "--listen", "", "--speed", "2000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let heard: Arc<Mutex<Vec<(String, u64)>>> = Arc::default();
    let (theirs, out) = (Arc::clone(&heard), host.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let Ok(value) = serde_json::from_str::<Value>(&line) else { continue };
            if let (Some(name), Some(seq)) = (value["golem"].as_str(), value["seq"].as_u64()) {
                theirs.lock().unwrap().push((name.to_owned(), seq));
            }
        }
    });
    let count = || heard.lock().unwrap().len();
    wait_for(|| "it lives".into(), || count() > 200);
    disk.fill(0);
    wait_for(|| "the owner is told".into(), || receiver.kinds().contains_key("disk"));
    std::thread::sleep(Duration::from_secs(1));
    let stalled = count();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(count(), stalled, "nothing is acknowledged that is not written down");
    disk.free();
    wait_for(|| "it goes on by itself".into(), || count() > stalled + 200);
    assert!(std::process::Command::new("kill").args(["-TERM", &host.id().to_string()]).status().unwrap().success());
    assert!(host.wait().unwrap().success());
    let heard = heard.lock().unwrap();
    for n in 0..5 {
        let name = format!("g{n}");
        let newest = heard.iter().filter(|(golem, _)| *golem == name).map(|(_, seq)| *seq).max().unwrap();
        assert!(tent.verified(&name).seq() >= newest, "{name}");
    }
    println!("{stalled} messages before the disk was full, {} after", heard.len() - stalled);
}
