//! Being told: each note reaches a real receiver, in order and once, however often the host is killed on the way; a
//! receiver that was down gets everything afterwards; and a host that is gone falls silent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Dice, Disk, Tent, full};
use golem::event::Event;
use golem::mortality;
use golem::owner;
use golem::policy;
use golem::stress;
use serde_json::Value;
use testing::wait::{until, within};
use vault::{Log, Reader};

/// Everything an owner can be told of by way of the log. A disk that is full is told without it, further down.
const KINDS: [&str; 12] =
    ["approval", "backup", "breaker", "cap", "crash", "daily", "death", "feed", "freeze", "heir", "money", "stop"];

/// How long a note may take to arrive.
const PATIENCE: Duration = Duration::from_secs(90);

/// A note as somebody took it.
#[derive(Clone, Debug)]
struct Taken {
    target: &'static str,
    key: String,
    kind: String,
    delivery: usize,
}

/// A receiver as simple as can be: it takes what is posted, or hangs up or says that it is unwell while it is down.
struct Receiver {
    address: String,
    taken: Arc<Mutex<Vec<Taken>>>,
    beats: Arc<Mutex<Vec<Instant>>>,
    /// Only its webhook; its topic listens on.
    down: Arc<AtomicBool>,
}

impl Receiver {
    fn new() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let receiver = Receiver { address, taken: Arc::default(), beats: Arc::default(), down: Arc::default() };
        let (taken, beats, down) =
            (Arc::clone(&receiver.taken), Arc::clone(&receiver.beats), Arc::clone(&receiver.down));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (taken, beats, down) = (Arc::clone(&taken), Arc::clone(&beats), Arc::clone(&down));
                std::thread::spawn(move || answer(BufReader::new(socket), &taken, &beats, &down));
            }
        });
        receiver
    }

    /// What a target has taken, each key where it was first taken, as those do it who look at the key.
    fn firsts(&self, target: &str) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let all = self.taken.lock().unwrap();
        let of_target = all.iter().filter(|taken| taken.target == target);
        of_target.filter(|taken| seen.insert(&taken.key)).map(|taken| taken.key.clone()).collect()
    }

    /// Deliveries with something in them that had come before.
    fn repeated(&self, target: &str) -> usize {
        let all = self.taken.lock().unwrap();
        let (mut seen, mut again) = (BTreeSet::new(), BTreeSet::new());
        for taken in all.iter().filter(|taken| taken.target == target) {
            if !seen.insert(&taken.key) {
                again.insert(taken.delivery);
            }
        }
        again.len()
    }

    /// How many different notes of each kind its webhook has taken.
    fn kinds(&self) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::<String, BTreeSet<String>>::new();
        for taken in self.taken.lock().unwrap().iter().filter(|taken| taken.target == "webhook") {
            kinds.entry(taken.kind.clone()).or_default().insert(taken.key.clone());
        }
        kinds.into_iter().map(|(kind, keys)| (kind, keys.len())).collect()
    }
}

/// Answers whatever comes through one connection.
fn answer(mut socket: BufReader<TcpStream>, taken: &Mutex<Vec<Taken>>, beats: &Mutex<Vec<Instant>>, down: &AtomicBool) {
    let mut unwell = 0;
    loop {
        let (mut first, mut headers) = (String::new(), BTreeMap::new());
        if socket.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            if socket.read_line(&mut line).unwrap_or(0) <= 2 {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        if socket.read_exact(&mut body).is_err() {
            return;
        }
        let mut status = "200 OK";
        if first.contains("/beat") {
            beats.lock().unwrap().push(Instant::now());
        } else if first.contains("/topic") {
            let kind = headers["tags"].clone();
            take(taken, "ntfy", headers["idempotency-key"].split(',').map(|key| (key.to_owned(), kind.clone())));
        } else if down.load(Ordering::SeqCst) {
            unwell += 1;
            if unwell % 2 == 1 {
                return;
            }
            status = "503 Service Unavailable";
        } else {
            let note: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(note["key"], headers["idempotency-key"].as_str());
            // Many that came together are one note with all of them in it.
            let all = note["notes"].as_array().cloned().unwrap_or_else(|| vec![note.clone()]);
            let text = |note: &Value, key: &str| note[key].as_str().unwrap().to_owned();
            take(taken, "webhook", all.iter().map(|note| (text(note, "key"), text(note, "kind"))));
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        if socket.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// One delivery, of one note or of many.
fn take(taken: &Mutex<Vec<Taken>>, target: &'static str, notes: impl Iterator<Item = (String, String)>) {
    let mut taken = taken.lock().unwrap();
    let delivery = taken.last().map_or(0, |last| last.delivery + 1);
    taken.extend(notes.map(|(key, kind)| Taken { target, key, kind, delivery }));
}

fn configure(tent: &Tent, receiver: &Receiver, more: &str) {
    // The hour it is now: the daily line is due.
    let hour = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 3_600 % 24;
    let text = format!(
        "[notify]\nwebhook = \"http://{0}/notes\"\nheartbeat = \"http://{0}/beat\"\nheartbeat_every = \"1s\"\ndaily_hour = {hour}\n{more}",
        receiver.address
    );
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
}

fn up(tent: &Tent, speed: &str) -> Child {
    let mut command = tent.command(["up", "--listen", "", "--speed", speed]);
    let said = fs::File::create(tent.folder.path().join("said")).unwrap();
    command.stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap()
}

/// Every note there ever was, in the order in which they were written down.
fn written(tent: &Tent) -> Vec<String> {
    let log = rusqlite::Connection::open(Log::path(&tent.root())).unwrap();
    let mut query = log.prepare("SELECT key FROM note ORDER BY number").unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Golems to which all of it happens, and some that their owner will order about.
fn populate(tent: &Tent) -> u64 {
    const ORDERED: u64 = 8;
    let new = |name: &str, more: &[&str], sets: &[&str]| {
        let mut new = vec!["golem", "new", name, "--seed", "5"];
        new.extend(more);
        sets.iter().for_each(|set| new.extend(["--set", set]));
        tent.ok(new);
    };
    for n in 0..ORDERED {
        new(&format!("g{n}"), &["--world", "queue"], &[]);
    }
    for n in 0..4 {
        let rent = ["mortality.mode=hosted", "mortality.economic.machine_per_day=40"];
        new(&format!("poor-{n}"), &["--world", "queue", "--credit", "1"], &rent);
    }
    let line = ["succession.auto=true", "succession.min_divergence=0", "succession.budget_usdc=20"];
    new(
        "line",
        &["--credit", "0.6"],
        &[&line[..], &["mortality.mode=hosted", "mortality.economic.machine_per_day=8"]].concat(),
    );
    // They act by the calendar, and have all the time in the world.
    let acts = [
        "mind.kind=reflex",
        "reflex.act_every=2",
        "policy.max_drawdown=0",
        "mortality.epistemic.enabled=false",
        "mortality.mode=hosted",
        "mortality.economic.machine_per_day=0.001",
    ];
    let acting = |name: &str, sets: &[&str]| new(name, &[], &[&acts[..], sets].concat());
    acting("often", &["policy.rebalances_per_day=3", "world.bar=1h", "heartbeat.interval=1h"]);
    acting("much", &["policy.per_day=50", "world.bar=1h", "heartbeat.interval=1h"]);
    acting("asks", &["policy.approve_above=0", "policy.approve_within=2d", "world.bar=1h", "heartbeat.interval=1h"]);
    acting("gas", &["mortality.economic.per_action=1.8"]);
    acting("stop", &["reflex.act_every=10", "policy.stop=0.0005"]);
    // Stubbornly wrong, and every stressor weighs in full after a day.
    let kinds =
        ["repeated_failure", "futility", "invisibility", "identity_violation", "existential_threat", "purposelessness"];
    let rates = kinds.map(|kind| format!("stress.escalation_rates.{kind}=1"));
    let wrong = ["reflex.act_every=0", "reflex.pull=-1", "world.bar=1h", "heartbeat.interval=1h"];
    // The one whose owner's order surely reaches a host, however slow the machine is.
    acting("held", &["mortality.stochastic.enabled=false"]);
    acting("wrong", &rates.iter().map(String::as_str).chain(wrong).collect::<Vec<_>>());
    tent.ok(["golem", "run", "wrong", "--speed", "max", "--ticks", "180"]);
    // Two whose world is a file: it ends, or is not what it was.
    for (name, volume) in [("ends", 10), ("breaks", 11)] {
        let row = |n: u64| format!("{},1,2,1,1.5,{volume}\n", 1_600_000_000_000 + n * 3_600_000);
        let rows: String = (0..300).map(row).collect();
        let file = tent.folder.path().join(format!("{name}.csv"));
        fs::write(&file, format!("timestamp,open,high,low,close,volume\n{rows}")).unwrap();
        tent.ok(["data", "import", file.to_str().unwrap(), "--name", name]);
        // Neither may die before it comes to that.
        new(name, &["--data", name], &["mortality.stochastic.enabled=false", "mortality.epistemic.enabled=false"]);
    }
    fs::write(tent.root().join("data/breaks.csv"), "something else").unwrap();
    ORDERED
}

/// What should have been told of lives, by their journals.
fn lived(tent: &Tent) -> BTreeMap<String, String> {
    let mut expected = BTreeMap::new();
    for place in tent.home().list().unwrap() {
        place.catch_up().unwrap();
        let reader = Reader::open(&place.database()).unwrap();
        let id = reader.id().unwrap();
        let mut expect = |key: String| expected.insert(key, place.name.to_string());
        reader
            .replay(|record| {
                for event in &record.events {
                    match event {
                        Event::Mortality(mortality::Event::Died(_)) => expect(format!("{id}:{}:death", record.seq)),
                        Event::Owner(owner::Event::Froze { .. }) => expect(format!("{id}:{}:freeze", record.seq)),
                        Event::Mortality(mortality::Event::EconomicCritical) => {
                            expect(format!("{id}:{}:money", record.seq))
                        }
                        Event::Policy(policy::Event::Stopped) => expect(format!("{id}:{}:stop", record.seq)),
                        Event::Policy(policy::Event::ApprovalSought { .. }) => {
                            expect(format!("{id}:{}:approval", record.seq))
                        }
                        Event::Stress(stress::Event::Suspended) => expect(format!("{id}:{}:breaker", record.seq)),
                        Event::Born(birth) => {
                            birth.lineage.as_ref().and_then(|line| expect(format!("{}:heir", line.parent)))
                        }
                        _ => None,
                    };
                }
                Ok::<_, vault::Error>(ControlFlow::Continue(()))
            })
            .unwrap();
    }
    expected
}

#[test]
fn each_kind_of_note_arrives_once_and_in_order_however_often_the_host_is_killed() {
    let tent = Tent::new();
    let receiver = Receiver::new();
    let run = tent.folder.path().join("run");
    // Copies are to go where none can.
    let more = format!(
        "ntfy = \"http://{}/topic\"\ncommand = 'echo \"$BARDO_NOTE_KEY\" >> {}'\n[backup]\nfolder = \"{}/under\"\n",
        receiver.address,
        run.display(),
        tent.root().join("bardo.toml").display()
    );
    configure(&tent, &receiver, &more);
    tent.ok(["treasury", "add", "100000"]);
    let (ordered, kills) = (populate(&tent), full(200, 24));
    let mut dice = Dice(3);
    for n in 0..kills {
        // For a while nobody listens at the webhook.
        receiver.down.store((kills / 4..kills / 2).contains(&n), Ordering::SeqCst);
        let mut host = up(&tent, "200000");
        std::thread::sleep(Duration::from_millis(100 + dice.roll(300)));
        let name = format!("g{}", dice.roll(ordered));
        let order = match dice.roll(kills) {
            0..5 => vec!["golem", "retire", &name, "--confirm", &name],
            even if even % 2 == 0 => vec!["golem", "freeze", &name, "--reason", "to be sure"],
            _ => vec!["golem", "resume", &name],
        };
        let mut owner = tent.command(order).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(dice.roll(150)));
        let _ = host.kill();
        let _ = host.wait();
        let _ = owner.kill();
        let _ = owner.wait();
    }
    let amid = receiver.kinds();
    // And once more for a while, with a host that stays up. One keeps falling over, and takes its time.
    receiver.down.store(true, Ordering::SeqCst);
    let mut host = up(&tent, "200000");
    std::thread::sleep(Duration::from_secs(4));
    receiver.down.store(false, Ordering::SeqCst);
    tent.ok(["golem", "freeze", "held", "--reason", "to be sure"]);
    let said = || fs::read_to_string(tent.folder.path().join("said")).unwrap_or_default();
    for kind in KINDS {
        let what = || format!("{kind} is told: {:?} {}", receiver.kinds(), said());
        within(PATIENCE, what, || receiver.kinds().contains_key(kind));
    }
    assert!(!receiver.beats.lock().unwrap().is_empty());
    let _ = host.kill();
    let _ = host.wait();
    let silent = Instant::now() + Duration::from_millis(300);
    // What the last kill left to be told is told by a host in which nothing more happens.
    let beats = receiver.beats.lock().unwrap().len();
    std::thread::sleep(Duration::from_secs(2));
    assert!(receiver.beats.lock().unwrap().iter().all(|beat| *beat < silent), "the dead have no heartbeat");
    let waiting =
        |target| Log::reader(&tent.root(), &tent.home().heads()).unwrap().unwrap().waiting(target, 1).unwrap().len();
    let mut host = up(&tent, "0.001");
    let all_told = || ["webhook", "ntfy", "command"].into_iter().all(|target| waiting(target) == 0);
    // An heir that is still to be born is found within two seconds.
    within(PATIENCE, said, || receiver.beats.lock().unwrap().len() > beats + 2);
    within(PATIENCE, said, all_told);
    let _ = host.kill();
    let _ = host.wait();

    let (written, expected) = (written(&tent), lived(&tent));
    let program = fs::read_to_string(run).unwrap();
    let mut seen = BTreeSet::new();
    let told: Vec<&str> = program.lines().flat_map(|keys| keys.split(',')).filter(|key| seen.insert(*key)).collect();
    let mut before = BTreeSet::new();
    let again = |keys: &&str| keys.split(',').filter(|key| !before.insert(String::from(*key))).count() > 0;
    let repeated = [receiver.repeated("webhook"), receiver.repeated("ntfy"), program.lines().filter(again).count()];
    println!(
        "counted: {kills} kills, {} notes: {:?}, of which before the last host {amid:?}; sent again to webhook, topic and program: {repeated:?}",
        written.len(),
        receiver.kinds()
    );
    assert_eq!(receiver.firsts("webhook"), written, "each once, in order");
    assert_eq!(receiver.firsts("ntfy"), written, "each once, in order");
    assert_eq!(told, written, "each once, in order");
    // A note goes out twice only if a kill came before it was crossed out.
    assert!(repeated.iter().all(|count| *count as u64 <= kills + 2), "{repeated:?}");
    assert_eq!(receiver.kinds()["daily"], 1);
    assert_eq!(receiver.kinds()["crash"], 1);

    let of_lives = |key: &&String| {
        ["approval", "death", "freeze", "money", "stop", "breaker", "heir"].iter().any(|k| key.ends_with(k))
    };
    let invented: Vec<_> = written.iter().filter(of_lives).filter(|key| !expected.contains_key(*key)).collect();
    assert!(invented.is_empty(), "{invented:?}");
    // What the owner did by hand between two hosts is nobody's to tell: they know.
    let told: BTreeSet<&String> = written.iter().collect();
    let untold: Vec<_> = expected.iter().filter(|(key, _)| !told.contains(key)).collect();
    println!("{} of {} done by hand", untold.len(), expected.len());
    assert!(untold.iter().all(|(_, name)| name.starts_with('g') && *name != "gas"), "{untold:?}");
    assert!(untold.len() as u64 <= kills / 2, "{untold:?}");
}

#[test]
fn a_full_disk_stops_acknowledgements_is_told_and_heals_without_loss() {
    let tent = Tent::bare();
    fs::create_dir_all(tent.root()).unwrap();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    let receiver = Receiver::new();
    configure(&tent, &receiver, "");
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
    until("it lives", || count() > 200);
    // Once only one call was made, and if nobody heard it that was that.
    receiver.down.store(true, Ordering::SeqCst);
    disk.fill(0);
    std::thread::sleep(Duration::from_secs(2));
    receiver.down.store(false, Ordering::SeqCst);
    until("the owner is told", || receiver.kinds().contains_key("disk"));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(receiver.taken.lock().unwrap().iter().filter(|taken| taken.kind == "disk").count(), 1, "once");
    let stalled = count();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(count(), stalled, "nothing is acknowledged that is not written down");
    disk.free();
    until("it goes on by itself", || count() > stalled + 200);
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

/// A host whose disk took nothing could once be stopped only by force: those who waited for the disk were waited for.
#[test]
fn a_host_can_be_stopped_while_the_disk_is_full() {
    let tent = Tent::bare();
    fs::create_dir_all(tent.root()).unwrap();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    let receiver = Receiver::new();
    configure(&tent, &receiver, "");
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let mut host = up(&tent, "2000");
    until("it lives", || tent.golem("ada").lodges().unwrap());
    disk.fill(0);
    until("the owner is told", || receiver.kinds().contains_key("disk"));
    assert!(std::process::Command::new("kill").args(["-TERM", &host.id().to_string()]).status().unwrap().success());
    let mut ended = None;
    until("it goes down", || {
        ended = host.try_wait().unwrap();
        ended.is_some()
    });
    let said = fs::read_to_string(tent.folder.path().join("said")).unwrap();
    assert!(!ended.unwrap().success() && said.contains("nothing acknowledged is lost"), "{said}");
    disk.free();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    tent.verified("ada");
}
