//! Two homes talk through everything that can happen to what is between them: nodes of the cluster are killed, one comes back
//! with a damaged store, streams are emptied and deleted, the gateway is killed, the line is cut, and the homes themselves are cut
//! off between any two steps. Each hears every word of the other once and in order; what the relay has lost the chain finds, and
//! the outbox fills in.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use golem::GolemId;
use styx::client::{Ear, Error, Mouth, connect};
use styx::mailbox::{Came, Mailbox, RowChange};
use styx::wire::{Down, Put, Up};
use styx::{Clade, Class, Gateway, Guests, River, Shape};
use testing::cluster::{Cluster, Dice, clade, full, plenty};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

const PARTITIONS: u16 = 2;
/// A home's time runs so much faster than ours: what it does after half a minute it does after one and a half seconds.
const FASTER: u64 = 20;
/// Words that no sibling has confirmed; a golem says no more until they are fewer.
const WINDOW: usize = 1_000;
/// What is said around each blow is said in so many parts.
const PARTS: u64 = 10;
/// Words that are said in one go.
const AT_ONCE: usize = 200;

/// A line that can be cut, to a gateway that can be another one.
struct Line {
    url: String,
    to: watch::Sender<Option<SocketAddr>>,
}

impl Line {
    async fn new() -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/v1", listener.local_addr().unwrap());
        let (to, mut leads) = watch::channel(None);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let Some(address) = *leads.borrow_and_update() else { continue };
                let mut leads = leads.clone();
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(address).await else { return };
                    let passing = tokio::io::copy_bidirectional(&mut near, &mut far);
                    // Whatever is on the way when it is cut is lost.
                    tokio::select! { _ = passing => {}, _ = leads.changed() => {} }
                });
            }
        });
        Line { url, to }
    }
}

/// A gateway with everything it does, which can be ended from one moment to the next.
struct Relay {
    runtime: Option<tokio::runtime::Runtime>,
    address: SocketAddr,
}

impl Relay {
    fn start(servers: String) -> Relay {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            let river = open(&servers).await;
            Gateway::new(river, plenty(), Guests::Anyone).serve(listener).await
        });
        Relay { runtime: Some(runtime), address }
    }

    fn kill(&mut self) {
        self.runtime.take().into_iter().for_each(tokio::runtime::Runtime::shutdown_background);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn open(servers: &str) -> River {
    let shape = Shape { partitions: PARTITIONS, replicas: 3, each: 10_000_000, ..Shape::default() };
    loop {
        if let Ok(river) = River::open(servers, shape).await {
            return river;
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// What everybody may look at.
#[derive(Default)]
struct Counts {
    said: AtomicU64,
    heard: AtomicU64,
    acknowledged: AtomicU64,
    again: AtomicU64,
    gaps: AtomicU64,
    rereads: AtomicU64,
    kills: AtomicU64,
    kill: AtomicBool,
}

struct Home {
    mailbox: Mailbox,
    /// What survives it.
    disk: BTreeMap<Vec<u8>, Vec<u8>>,
    clade: Arc<Clade>,
    name: [u8; 16],
    began: Instant,
    /// What the relay says that it keeps.
    taken: HashSet<u64>,
    counts: Arc<Counts>,
}

/// It was cut off, or its line was.
enum End {
    Killed,
    Gone,
}

impl From<Error> for End {
    fn from(_: Error) -> End {
        End::Gone
    }
}

impl Home {
    fn new(clade: &Arc<Clade>, n: u8) -> Home {
        let (name, counts) = ([n; 16], Arc::default());
        let mailbox = Mailbox::new(Arc::clone(clade), name);
        let (disk, taken) = (BTreeMap::new(), HashSet::new());
        Home { mailbox, disk, clade: Arc::clone(clade), name, began: Instant::now(), taken, counts }
    }

    fn now_ms(&self) -> u64 {
        1 + self.began.elapsed().as_millis() as u64 * FASTER
    }

    /// What is not durable when it is killed never was.
    fn write(&mut self, rows: Vec<RowChange>) -> Result<(), End> {
        if self.counts.kill.swap(false, Ordering::Relaxed) {
            return Err(End::Killed);
        }
        for (key, value) in rows {
            match value {
                Some(value) => drop(self.disk.insert(key, value)),
                None => drop(self.disk.remove(&key)),
            }
        }
        Ok(())
    }

    async fn live(mut self, url: String, may_say: Arc<AtomicU64>) {
        loop {
            let connected = timeout(Duration::from_secs(5), connect(&url, &self.clade, self.name)).await;
            let end = match connected {
                Ok(Ok((mouth, ear))) => self.talk(mouth, ear, &may_say).await.err().unwrap_or(End::Gone),
                _ => End::Gone,
            };
            if matches!(end, End::Killed) {
                self.counts.kills.fetch_add(1, Ordering::Relaxed);
                self.mailbox = Mailbox::of(Arc::clone(&self.clade), self.name, self.disk.clone());
                self.taken.clear();
            }
            self.mailbox.unsent();
            sleep(Duration::from_millis(50)).await;
        }
    }

    async fn talk(&mut self, mut mouth: Mouth, mut ear: Ear, may_say: &AtomicU64) -> Result<(), End> {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        let (mut id, mut open) = (0, HashMap::new());
        mouth.say(&Up::After { sequence: self.mailbox.place }).await?;
        loop {
            tokio::select! {
                said = ear.hear() => match said? {
                    Down::Words { words } => {
                        for kept in words {
                            self.hear(kept.sequence, &kept.envelope)?;
                        }
                    }
                    Down::Taken { places } => {
                        self.counts.acknowledged.fetch_add(places.len() as u64, Ordering::Relaxed);
                        self.taken.extend(places.iter().filter_map(|(id, _)| open.remove(id)));
                    }
                    Down::Here { sequence } if sequence < self.mailbox.place => {
                        self.counts.rereads.fetch_add(1, Ordering::Relaxed);
                        self.mailbox.place = 0;
                        mouth.say(&Up::After { sequence: 0 }).await?;
                    }
                    // What it does not keep is to be said again, on a new line.
                    Down::Refused { .. } | Down::Bye { .. } => return Err(End::Gone),
                    _ => {}
                },
                _ = tick.tick() => {
                    let puts = self.say(may_say, id, &mut open)?;
                    if !puts.is_empty() {
                        id = timeout(Duration::from_secs(5), mouth.put(id, puts)).await.map_err(|_| End::Gone)??;
                    }
                }
            }
        }
    }

    fn hear(&mut self, place: u64, envelope: &[u8]) -> Result<(), End> {
        let (came, rows) = self.mailbox.take(place, envelope, self.now_ms());
        self.write(rows)?;
        match came {
            Came::Words(words) => {
                for word in words {
                    let next = self.counts.heard.load(Ordering::Relaxed) + 1;
                    assert_eq!(word.text, next.to_le_bytes(), "once and in order, at {:?}", self.name[0]);
                    self.counts.heard.store(next, Ordering::Relaxed);
                }
            }
            Came::Early => drop(self.counts.gaps.fetch_add(1, Ordering::Relaxed)),
            Came::Known => {}
            Came::Flawed(_) | Came::Forked(_) => panic!("nobody lies here: {came:?}"),
        }
        Ok(())
    }

    /// What there is to be said now: new words, old ones that somebody has missed, and how far it has heard.
    fn say(&mut self, may_say: &AtomicU64, first: u64, open: &mut HashMap<u64, u64>) -> Result<Vec<Put>, End> {
        let (golem, now) = (GolemId(self.name), self.now_ms());
        for _ in 0..AT_ONCE {
            let own = self.counts.said.load(Ordering::Relaxed) + 1;
            if own > may_say.load(Ordering::Relaxed) || self.mailbox.waiting() >= WINDOW {
                break;
            }
            let rows = self.mailbox.say(golem, Class::Delta, own, &own.to_le_bytes(), now);
            self.write(rows)?;
            self.counts.said.store(own, Ordering::Relaxed);
        }
        let mut puts = Vec::new();
        for (word, _) in self.mailbox.due(now, AT_ONCE) {
            let again = self.taken.contains(&word.header.number);
            self.counts.again.fetch_add(u64::from(again), Ordering::Relaxed);
            open.insert(first + puts.len() as u64, word.header.number);
            puts.push(Put::new(&word, again));
        }
        puts.extend(self.mailbox.receipt(now).map(|receipt| Put::new(&receipt, false)));
        let (words, rows) = self.mailbox.settle(now);
        assert!(words.is_empty(), "nothing is given up here");
        self.write(rows)?;
        Ok(puts)
    }
}

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Node(usize),
    /// A node comes back with a store that was cut short, or with other bytes in it.
    Damaged(usize, bool),
    Gateway,
    Home(usize),
    Cut,
    /// The relay has lost everything it kept.
    Emptied(usize),
    /// And does not even remember that there was anything.
    Deleted,
}

const BLOWS: [Blow; 16] = [
    Blow::Node(0),
    Blow::Home(0),
    Blow::Emptied(1),
    Blow::Cut,
    Blow::Damaged(1, true),
    Blow::Gateway,
    Blow::Home(1),
    Blow::Deleted,
    // CI's share is what is above.
    Blow::Node(1),
    Blow::Damaged(2, false),
    Blow::Emptied(0),
    Blow::Node(2),
    Blow::Damaged(0, true),
    Blow::Cut,
    Blow::Damaged(1, false),
    Blow::Gateway,
];

struct World {
    cluster: Cluster,
    relay: Relay,
    lines: [Line; 2],
    dice: Dice,
}

impl World {
    /// Both lines lead to the gateway; one that does already is left alone.
    fn join(&self) {
        let here = Some(self.relay.address);
        for line in &self.lines {
            line.to.send_if_modified(|to| std::mem::replace(to, here) != here);
        }
    }

    async fn suffer(&mut self, blow: Blow, homes: &[Arc<Counts>]) {
        let pause = Duration::from_millis(200 + self.dice.below(800));
        match blow {
            Blow::Node(at) => {
                self.cluster.kill(at);
                sleep(pause).await;
                self.cluster.start(at);
            }
            Blow::Damaged(at, short) => {
                self.cluster.kill(at);
                sleep(pause).await;
                damage(&self.cluster.nodes[at].store, short, &mut self.dice);
                self.cluster.start(at);
            }
            Blow::Gateway => {
                self.relay.kill();
                sleep(pause).await;
                self.relay = Relay::start(self.cluster.servers.clone());
                self.join();
            }
            Blow::Home(at) => homes[at].kill.store(true, Ordering::Relaxed),
            Blow::Cut => {
                for line in &self.lines {
                    line.to.send_replace(None);
                }
                sleep(pause).await;
                self.join();
            }
            // While one home is away, so that it misses what the other has said.
            Blow::Emptied(at) => {
                self.lines[at].to.send_replace(None);
                sleep(Duration::from_secs(1)).await;
                let streams = self.cluster.streams().await;
                for partition in 0..PARTITIONS {
                    while !empty(&streams, &format!("STYX_P{partition:02}")).await {}
                }
                self.join();
            }
            Blow::Deleted => {
                let streams = self.cluster.streams().await;
                for partition in 0..PARTITIONS {
                    let _ = streams.delete_stream(format!("STYX_P{partition:02}")).await;
                }
                drop(open(&self.cluster.servers).await);
            }
        }
        sleep(pause).await;
        if matches!(blow, Blow::Node(_) | Blow::Damaged(..)) {
            self.whole().await;
        }
    }

    /// Waits until every node has everything: of three, never two are away at once.
    async fn whole(&self) {
        let streams = self.cluster.streams().await;
        let began = Instant::now();
        let mut partition = 0;
        while partition < PARTITIONS {
            assert!(began.elapsed() < Duration::from_secs(120), "the cluster does not come together again");
            sleep(Duration::from_millis(100)).await;
            let Ok(stream) = streams.get_stream_no_info(format!("STYX_P{partition:02}")).await else { continue };
            let Ok(Ok(info)) = timeout(Duration::from_secs(2), stream.get_info()).await else { continue };
            let whole = info.cluster.is_some_and(|cluster| {
                let current = cluster.replicas.iter().filter(|peer| peer.current && !peer.offline).count();
                cluster.leader.is_some() && current == 2
            });
            partition += u16::from(whole);
        }
    }
}

/// Takes everything out of a stream, if somebody leads it now.
async fn empty(streams: &async_nats::jetstream::Context, name: &str) -> bool {
    match timeout(Duration::from_secs(2), streams.get_stream_no_info(name)).await {
        Ok(Ok(stream)) => matches!(timeout(Duration::from_secs(2), stream.purge()).await, Ok(Ok(_))),
        _ => false,
    }
}

/// Does harm to what a node keeps messages in.
fn damage(store: &Path, short: bool, dice: &mut Dice) {
    for path in blocks(store) {
        let mut bytes = std::fs::read(&path).unwrap();
        let length = bytes.len() as u64;
        if length == 0 {
            continue;
        }
        if short {
            bytes.truncate(dice.below(length) as usize);
        } else {
            for _ in 0..16 {
                bytes[dice.below(length) as usize] ^= 1 << dice.below(8);
            }
        }
        std::fs::write(&path, bytes).unwrap();
    }
}

/// The files of this relay's streams.
fn blocks(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let inside = |path: PathBuf| if path.is_dir() { blocks(&path) } else { vec![path] };
    let ours = |path: &PathBuf| {
        path.to_string_lossy().contains("/streams/STYX_") && path.extension().is_some_and(|e| e == "blk")
    };
    paths.flat_map(inside).filter(ours).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_in_between_every_word_is_heard_once_and_in_order() {
    let Some(cluster) = Cluster::up(3) else { return };
    drop(cluster.river(PARTITIONS).await);
    let (relay, lines) = (Relay::start(cluster.servers.clone()), [Line::new().await, Line::new().await]);
    let urls = lines.each_ref().map(|line| line.url.clone());
    let (ours, may_say) = (clade(), Arc::new(AtomicU64::new(0)));
    let homes = [Home::new(&ours, 1), Home::new(&ours, 2)];
    let counts = homes.each_ref().map(|home| Arc::clone(&home.counts));
    let living = homes.into_iter().zip(urls).map(|(home, url)| tokio::spawn(home.live(url, Arc::clone(&may_say))));
    let living: Vec<_> = living.collect();
    let mut world = World { cluster, relay, lines, dice: Dice(7) };
    world.join();
    while counts.iter().any(|counts| counts.acknowledged.load(Ordering::Relaxed) == 0) {
        sleep(Duration::from_millis(20)).await;
    }
    let (number, began) = (full(240, 8), Instant::now());
    let each = full(1_000_000, 5_000).div_ceil(2 * PARTS * number);
    for blow in BLOWS.into_iter().cycle().take(number as usize) {
        // Some is said before it, and some while it lasts.
        let saying = async {
            for _ in 0..PARTS {
                may_say.fetch_add(each, Ordering::Relaxed);
                sleep(Duration::from_millis(150)).await;
            }
        };
        tokio::join!(world.suffer(blow, &counts), saying);
        let said = |counts: &Arc<Counts>| counts.said.load(Ordering::Relaxed) >= may_say.load(Ordering::Relaxed);
        let all = timeout(Duration::from_secs(60), async {
            while !counts.iter().all(said) || living.iter().any(tokio::task::JoinHandle::is_finished) {
                sleep(Duration::from_millis(20)).await;
            }
        });
        assert!(all.await.is_ok(), "{blow:?}: {}", report(&counts));
    }
    let words = may_say.load(Ordering::Relaxed);
    let heard = timeout(Duration::from_secs(120), async {
        while counts.iter().any(|counts| counts.heard.load(Ordering::Relaxed) < words) {
            sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(heard.await.is_ok(), "{words} each: {}", report(&counts));
    println!(
        "counted: {} words of two homes through {number} blows in {:.0} s, each heard once and in order: {}",
        2 * words,
        began.elapsed().as_secs_f64(),
        report(&counts)
    );
    assert!(counts.iter().any(|counts| counts.gaps.load(Ordering::Relaxed) > 0), "nothing was ever lost");
    living.iter().for_each(tokio::task::JoinHandle::abort);
}

fn report(counts: &[Arc<Counts>]) -> String {
    let all = |of: fn(&Counts) -> &AtomicU64| counts.iter().map(|c| of(c).load(Ordering::Relaxed)).sum::<u64>();
    format!(
        "{} said, {} heard, {} acknowledged, {} found missing or early, {} said again, {} read anew, {} kills of homes",
        all(|c| &c.said),
        all(|c| &c.heard),
        all(|c| &c.acknowledged),
        all(|c| &c.gaps),
        all(|c| &c.again),
        all(|c| &c.rereads),
        all(|c| &c.kills),
    )
}
