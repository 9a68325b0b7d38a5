//! What every test of the chain needs: a real node, a golem's key, and somebody in between who can be told to behave badly.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use alloy_sol_types::SolCall;
use chain::contracts::Router;
use chain::devnet::{Devnet, key_of};
use chain::rpc::Endpoints;
use chain::signer::{Key, List, Signer};
use chain::venue::Venue;
use chain::{Address, Bytes, U256};
use golem::world::Order;
use golem::{Time, Usdc};
use serde_json::{Value, json};

pub(crate) const ETHER: u64 = 1_000_000_000_000_000_000;

pub(crate) fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

/// Where the node and the venue's contracts are, if they are; where they must be, their absence is a failure.
pub(crate) fn parts() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let parts = cache.join("bardo/chain");
    let there = parts.join("node_modules/@uniswap/v3-periphery").is_dir();
    assert!(there || std::env::var_os("BARDO_REALPARTS").is_none(), "no chain in {}: run .ci/setup", parts.display());
    there.then_some(parts)
}

/// A chain, and somebody who may spend on it: 10,000 dollars in the purse, 4,000 or four ether a day.
pub(crate) struct Ground {
    pub(crate) net: Devnet,
    pub(crate) folder: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Option<Ground> {
        let net = Devnet::start(&parts()?, &[]).unwrap();
        net.give(key(&net).address(), 10_000_000_000, (4_000_000_000, U256::from(4) * U256::from(ETHER))).unwrap();
        Some(Ground { net, folder: tempfile::tempdir().unwrap() })
    }

    pub(crate) fn venue(&self) -> Venue {
        self.venue_through(vec![self.net.url.clone()])
    }

    pub(crate) fn venue_through(&self, urls: Vec<String>) -> Venue {
        let outbox = self.folder.path().join("outbox");
        let chain = Endpoints::new(urls).unwrap();
        Venue::open(self.net.place.clone(), chain, Box::new(key(&self.net)), "ada", &outbox).unwrap()
    }

    pub(crate) fn mine(&self, blocks: u64) {
        self.net.wire().ask("anvil_mine", json!([format!("{blocks:#x}"), "0xc"])).unwrap();
    }

    pub(crate) fn now(&self) -> u64 {
        Endpoints::new(vec![self.net.url.clone()]).unwrap().head().unwrap().time
    }

    pub(crate) fn until(&self, seconds: u64) -> Time {
        Time::seconds(self.now() + seconds)
    }
}

/// The golem's.
pub(crate) fn key(net: &Devnet) -> Key {
    let list = List { chain: 31_337, purse: net.place.purse, owner: net.who.owner, gas: U256::from(ETHER) };
    Key::new(key_of("golem").as_slice(), list).unwrap()
}

pub(crate) fn bounded(units: i64, most: i64, least: i64, until: Time) -> Order {
    Order {
        most: Usdc::dollars(most),
        least: Usdc::dollars(least),
        gas: Usdc::dollars(50),
        until,
        ..Order::open(0, units)
    }
}

/// What is sent to the router to buy for so many micro-dollars, whatever it gives.
pub(crate) fn buys_for(net: &Devnet, micros: u64) -> Bytes {
    let params = Router::ExactInputSingleParams {
        tokenIn: net.place.money,
        tokenOut: net.place.thing,
        fee: net.place.fee.try_into().unwrap(),
        recipient: net.who.trader,
        deadline: U256::MAX,
        amountIn: U256::from(micros),
        amountOutMinimum: U256::ZERO,
        sqrtPriceLimitX96: Default::default(),
    };
    Router::exactInputSingleCall { params }.abi_encode().into()
}

pub(crate) fn owned_by_nobody(seed: &str) -> Address {
    let list = List { chain: 1, purse: Address::ZERO, owner: Address::ZERO, gas: U256::ZERO };
    Key::new(key_of(seed).as_slice(), list).unwrap().address()
}

/// What somebody between a golem and its node does with a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Way {
    Through,
    /// It never arrives.
    Lost,
    /// It arrives, and nobody hears what came of it.
    Unheard,
    /// It arrives twice.
    Twice,
    Late(Duration),
}

pub(crate) type Meddles = Box<dyn Fn(&Value) -> Way + Send + Sync>;
pub(crate) type Rewrites = Box<dyn Fn(&Value, Value) -> Value + Send + Sync>;

/// Somebody between a golem and a real node.
pub(crate) struct Between {
    pub(crate) url: String,
    pub(crate) meddles: Arc<Mutex<Meddles>>,
    pub(crate) rewrites: Arc<Mutex<Rewrites>>,
}

impl Between {
    pub(crate) fn new(node: &str) -> Between {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let meddles: Arc<Mutex<Meddles>> = Arc::new(Mutex::new(Box::new(|_| Way::Through)));
        let rewrites: Arc<Mutex<Rewrites>> = Arc::new(Mutex::new(Box::new(|_, answer| answer)));
        let (node, both) = (node.to_owned(), (Arc::clone(&meddles), Arc::clone(&rewrites)));
        std::thread::spawn(move || {
            let client = reqwest::blocking::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
            for stream in listener.incoming().flatten() {
                let (client, node, both) = (client.clone(), node.clone(), both.clone());
                std::thread::spawn(move || while pass(&stream, &client, &node, &both).is_some() {});
            }
        });
        Between { url, meddles, rewrites }
    }

    pub(crate) fn rewrite(&self, with: impl Fn(&Value, Value) -> Value + Send + Sync + 'static) {
        *self.rewrites.lock().unwrap() = Box::new(with);
    }

    pub(crate) fn meddle(&self, with: impl Fn(&Value) -> Way + Send + Sync + 'static) {
        *self.meddles.lock().unwrap() = Box::new(with);
    }
}

type Both = (Arc<Mutex<Meddles>>, Arc<Mutex<Rewrites>>);

/// One request; none once nothing more comes.
fn pass(stream: &TcpStream, client: &reqwest::blocking::Client, node: &str, (meddles, rewrites): &Both) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(told) = line.to_lowercase().strip_prefix("content-length:") {
            length = told.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).ok()?;
    let way = meddles.lock().unwrap()(&asked);
    let forward = || client.post(node).json(&asked).send().ok()?.json::<Value>().ok();
    if let Way::Late(by) = way {
        std::thread::sleep(by);
    }
    if way == Way::Twice {
        forward();
    }
    let answer = if way == Way::Lost { None } else { forward() };
    if matches!(way, Way::Lost | Way::Unheard) {
        return None;
    }
    let answer = rewrites.lock().unwrap()(&asked, answer?);
    let text = answer.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", text.len());
    // In one piece: in two, the second waits until the first is acknowledged.
    let mut writer = stream;
    writer.write_all((head + &text).as_bytes()).ok()
}

/// Splitmix.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.roll() % n
    }
}
