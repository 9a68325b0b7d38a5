//! Very many homes at one gateway, and among them some that mean it harm: those that never finish what they begin, those that
//! talk nonsense, and those that say more than anybody may and read nothing. The gateway is a process of its own, so that what it
//! needs can be read.

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt, stream};
use styx::client::{Mouth, connect};
use styx::wire::{Down, Put, Up};
use styx::{Clade, Class, Gateway, Guests, Limits, River, Shape};
use testing::cluster::{Cluster, Teller, clade, full, plenty};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

/// Homes of one owner.
const HOMES: usize = 10;
/// What a socket may cost.
const MOST_KIB: u64 = 64;

/// The other process: it serves until nobody holds its end.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it is run by the other test"]
async fn a_gateway_of_its_own() {
    let Ok(servers) = std::env::var("STYX_SERVERS") else { return };
    let shape = Shape { partitions: 4, replicas: 1, ..Shape::default() };
    let river = River::open(&servers, shape).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("at ws://{}/v1", listener.local_addr().unwrap());
    let limits = Limits { address: plenty().address, ..Limits::default() };
    let serving = tokio::spawn(Gateway::new(river, limits, Guests::Anyone).serve(listener));
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await.unwrap().unwrap();
    serving.abort();
}

struct Served {
    child: Child,
    url: String,
    /// Who cannot say anything any more ends.
    _said: Lines<BufReader<ChildStdout>>,
}

impl Served {
    /// With as many open files as the machine allows.
    fn start(servers: &str) -> Served {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "ulimit -n $(ulimit -Hn); exec \"$0\" --exact --ignored --nocapture sockets::a_gateway_of_its_own",
        ]);
        command.arg(std::env::current_exe().unwrap()).env("STYX_SERVERS", servers);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = said.find_map(|line| line.unwrap().split_once("at ws://").map(|(_, rest)| format!("ws://{rest}")));
        Served { child, url: url.expect("it says where it is"), _said: said }
    }

    fn kib(&self, what: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How many files this process may open.
fn files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap_or(usize::MAX)
}

/// What honest homes have heard, all together.
#[derive(Default)]
struct Heard {
    words: AtomicU64,
    here: AtomicU64,
    lost: AtomicU64,
}

async fn home(url: &str, clade: &Clade, n: u8, heard: Arc<Heard>) -> Mouth {
    let (mut mouth, mut ear) = connect(url, clade, [n; 16]).await.unwrap();
    mouth.say(&Up::After { sequence: 0 }).await.unwrap();
    tokio::spawn(async move {
        loop {
            match ear.hear().await {
                Ok(Down::Words { words }) => heard.words.fetch_add(words.len() as u64, Ordering::Relaxed),
                Ok(Down::Here { .. }) => heard.here.fetch_add(1, Ordering::Relaxed),
                Ok(_) => 0,
                Err(_) => break heard.lost.fetch_add(1, Ordering::Relaxed),
            };
        }
    });
    mouth
}

/// Means harm, for ever; comes back whenever it is thrown out.
async fn hostile(url: String, n: usize, tried: Arc<AtomicU64>) {
    let (address, ours) = (url[5..url.len() - 3].to_owned(), clade());
    let flood: Vec<Put> = {
        let mut teller = Teller::new(&ours, n as u8);
        (0..200).map(|_| Put::new(&teller.says(Class::Delta, &[7; 3_000]), false)).collect()
    };
    loop {
        tried.fetch_add(1, Ordering::Relaxed);
        let _ = match n % 4 {
            0 => slow(&address).await,
            1 => garbage(&address).await,
            2 => nonsense(&url).await,
            _ => {
                async {
                    // Says more than it may and reads nothing.
                    let (mut mouth, _ear) = connect(&url, &ours, [9; 16]).await.ok()?;
                    while timeout(Duration::from_secs(5), mouth.put(0, flood.clone())).await.ok()?.is_ok() {}
                    Some(())
                }
                .await
            }
        };
        // No address may come back sooner, for long.
        sleep(Duration::from_secs(1)).await;
    }
}

/// Begins to ask, and never ends.
async fn slow(address: &str) -> Option<()> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    for byte in b"GET /v1 HTTP/1.1\r\nHost: styx\r\nX-Wait: ".iter().chain(std::iter::repeat(&b'x')) {
        stream.write_all(&[*byte]).await.ok()?;
        sleep(Duration::from_millis(500)).await;
    }
    Some(())
}

async fn garbage(address: &str) -> Option<()> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    let noise: Vec<u8> = (0..65_536_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    loop {
        stream.write_all(&noise).await.ok()?;
    }
}

/// A WebSocket on which nothing that is said makes sense.
async fn nonsense(url: &str) -> Option<()> {
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.ok()?;
    loop {
        socket.send(Message::Binary(vec![0xff; 600_000].into())).await.ok()?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_with_very_many_sockets_stays_small() {
    let Some(cluster) = Cluster::up(1) else { return };
    drop(cluster.river(4).await);
    let number = (full(15_000, 500) as usize).min(files().saturating_sub(500));
    let served = Served::start(&cluster.servers);
    let (bad, before) = (number / 100, served.kib("VmRSS:"));
    let (heard, tried) = (Arc::new(Heard::default()), Arc::new(AtomicU64::new(0)));
    let harm: Vec<_> =
        (0..bad.max(4)).map(|n| tokio::spawn(hostile(served.url.clone(), n, Arc::clone(&tried)))).collect();
    let clades: Vec<Arc<Clade>> = (0..number.div_ceil(HOMES)).map(|_| clade()).collect();
    let homes = (0..number - bad).map(|n| home(&served.url, &clades[n / HOMES], (n % HOMES) as u8, Arc::clone(&heard)));
    let mut mouths: Vec<Mouth> = stream::iter(homes).buffered(64).collect().await;
    let owners = mouths.len() / HOMES;
    // Some time for whoever floods, and each owner's first home says something that all of its homes hear.
    sleep(Duration::from_secs(full(30, 12))).await;
    for (owner, mouths) in mouths.chunks_mut(HOMES).take(owners).enumerate() {
        let word = Teller::new(&clades[owner], 1).says(Class::Delta, b"still here");
        mouths[0].put(0, vec![Put::new(&word, false)]).await.unwrap();
    }
    let all = (owners * HOMES) as u64;
    let told = timeout(Duration::from_secs(120), async {
        while heard.words.load(Ordering::Relaxed) < all {
            sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(told.await.is_ok(), "{} of {all} were told", heard.words.load(Ordering::Relaxed));
    let (now, most) = (served.kib("VmRSS:"), served.kib("VmHWM:"));
    let each = (most - before) / mouths.len() as u64;
    println!(
        "counted: {} homes and {} hostile ({} connections of theirs) at one gateway: {} MiB resident, {} at most, {each} KiB a \
         socket; all were told what their siblings said",
        mouths.len(),
        harm.len(),
        tried.load(Ordering::Relaxed),
        now >> 10,
        most >> 10
    );
    assert_eq!(heard.lost.load(Ordering::Relaxed), 0, "no honest home was thrown out");
    harm.iter().for_each(tokio::task::JoinHandle::abort);
    // The process itself, and what the hostile ones hold, counts for little beside many.
    assert!(each < MOST_KIB + (64 << 10) / mouths.len() as u64, "{each} KiB a socket");
}
