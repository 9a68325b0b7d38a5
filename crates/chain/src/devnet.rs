//! A devnet: a chain on this machine on which only the code is real: a node, the venue's own contracts, two tokens, a
//! pool with liquidity, and a purse. Its parts are not ours and are not shipped: they come from a folder of npm
//! packages.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use alloy_primitives::aliases::{I24, U24, U160};
use alloy_primitives::{Address, B256, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall, SolValue};
use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::Error;
use crate::contracts::{Factory, Positions, Purse, Router, Token};
use crate::rpc::client;
use crate::venue::{Range, VenuePlace};

/// The npm packages a devnet is made of.
pub const PACKAGES: [&str; 4] =
    ["@foundry-rs/anvil@1.7.1", "@uniswap/v3-core@1.0.1", "@uniswap/v3-periphery@1.4.4", "canonical-weth@1.4.0"];

/// The fee of the pool, in millionths.
const FEE: u32 = 3_000;
const CHAIN: u64 = 31_337;

/// The accounts of a devnet; the node has their keys.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    /// The account that made everything, and gave the pool its liquidity.
    pub maker: Address,
    /// The owner of the purse.
    pub owner: Address,
    /// The account of the traders.
    pub trader: Address,
}

#[derive(Debug)]
pub struct Devnet {
    node: Child,
    pub url: String,
    pub who: Who,
    pub router: Address,
    pub positions: Address,
    pub place: VenuePlace,
    wire: Wire,
}

/// A connection to a node of one's own, for requests that only such a node grants.
#[derive(Clone, Debug)]
pub struct Wire {
    url: String,
    client: Client,
    /// Whether blocks are mined on request, so that none is waited for.
    mines: bool,
}

impl Wire {
    /// A connection to a node that mines in its own time.
    pub fn to(url: &str) -> Result<Wire, Error> {
        let client = client().no_proxy().tls_certs_only([]).build();
        let client = client.map_err(|why| Error::Wrong(why.to_string()))?;
        Ok(Wire { url: url.to_owned(), client, mines: false })
    }

    /// Gives the purse to this key, with `money` in it, `a_day` of each token to spend, and gas.
    pub fn give(
        &self,
        place: &VenuePlace,
        owner: Address,
        key: Address,
        money: u64,
        a_day: (u64, U256),
    ) -> Result<(), Error> {
        let head = self.ask("eth_getBlockByNumber", json!(["latest", false]))?;
        let now = head["timestamp"].as_str().and_then(|text| u64::from_str_radix(&text[2..], 16).ok()).unwrap_or(0);
        let told = |call: Vec<u8>| self.send(owner, Some(place.purse), U256::ZERO, call).map(drop);
        told(Purse::setAllowanceCall { token: place.money, aDay: U256::from(a_day.0) }.abi_encode())?;
        told(Purse::setAllowanceCall { token: place.thing, aDay: a_day.1 }.abi_encode())?;
        let mint = Token::mintCall { to: place.purse, value: U256::from(money) }.abi_encode();
        self.send(owner, Some(place.money), U256::ZERO, mint)?;
        // A transfer, since a balance that is only set is gone after a reorganisation.
        self.send(owner, Some(key), U256::from(10_u64).pow(U256::from(19)), Vec::new())?;
        // Last of all: a key that is set has everything else.
        told(Purse::setKeyCall { key, until: now + 400 * 86_400 }.abi_encode())
    }

    pub fn ask(&self, method: &str, params: Value) -> Result<Value, Error> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let away = |why: reqwest::Error| Error::Away(format!("the node: {why}"));
        let told: Value = self.client.post(&self.url).json(&body).send().and_then(|r| r.json()).map_err(away)?;
        match told.get("error") {
            Some(why) => Err(Error::Said(why["message"].as_str().unwrap_or_default().to_owned())),
            None => Ok(told["result"].clone()),
        }
    }

    /// Sends a transaction from one of the node's own accounts, waits until it is mined, and returns the receipt.
    pub fn send(&self, from: Address, to: Option<Address>, value: U256, input: Vec<u8>) -> Result<Value, Error> {
        // Half a block: a transaction that asks for a whole one waits while the block has any other.
        let mut tx = json!({ "from": from, "value": value, "input": Bytes::from(input), "gas": "0xe4e1c0" });
        if let Some(to) = to {
            tx["to"] = json!(to);
        }
        let hash = self.ask("eth_sendTransaction", json!([tx]))?;
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let receipt = self.ask("eth_getTransactionReceipt", json!([hash]))?;
            if !receipt.is_null() {
                return if receipt["status"] == "0x1" {
                    Ok(receipt)
                } else {
                    Err(Error::Said(format!("{hash} was reverted")))
                };
            }
            if self.mines {
                self.ask("evm_mine", json!([]))?;
            } else {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Err(Error::Away(format!("{hash} is not mined")))
    }

    fn make(&self, from: Address, code: Vec<u8>) -> Result<(Address, u64), Error> {
        let receipt = self.send(from, None, U256::ZERO, code)?;
        let wrong = || Error::Wrong("the receipt of a new contract has no address".to_owned());
        let address = receipt["contractAddress"].as_str().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
        let block = receipt["blockNumber"].as_str().and_then(|text| u64::from_str_radix(&text[2..], 16).ok());
        Ok((address, block.ok_or_else(wrong)?))
    }
}

/// The compiled code of one of our contracts: a test compiles it again and compares.
pub fn ours(name: &str) -> Vec<u8> {
    let all = include_str!("../contracts/compiled.txt");
    let code = all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).expect("it is there");
    hex::decode(code).expect("a test compares it")
}

fn theirs(parts: &Path, file: &str) -> Result<Vec<u8>, Error> {
    let path = parts.join("node_modules").join(file);
    let text = std::fs::read_to_string(&path).map_err(|source| Error::Io {
        what: "cannot read",
        path: path.clone(),
        source,
    })?;
    let told: Value = serde_json::from_str(&text).unwrap_or_default();
    let code = told["bytecode"].as_str().and_then(|code| hex::decode(code).ok());
    code.ok_or_else(|| Error::Wrong(format!("{} has no code in it", path.display())))
}

impl Devnet {
    /// Starts a node and makes everything on it. `parts` is a folder in which the packages are installed.
    pub fn start(parts: &Path, told: &[&str]) -> Result<Devnet, Error> {
        let plainly = |command: &[String]| {
            Command::new(&command[0]).args(&command[1..]).stdin(Stdio::null()).stdout(Stdio::null()).spawn()
        };
        Devnet::start_by(parts, told, plainly)
    }

    /// Starts a devnet whose node is spawned under a keeper, which ends the node when its standard input closes.
    pub fn start_by(
        parts: &Path,
        told: &[&str],
        spawn: impl FnOnce(&[String]) -> std::io::Result<Child>,
    ) -> Result<Devnet, Error> {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_or(8_545, |at| at.port());
        let (program, at) = (anvil(parts), port.to_string());
        let mut command = vec![program.display().to_string()];
        let usual = ["--host", "127.0.0.1", "--port", &at, "--silent", "--code-size-limit", "100000"];
        // Otherwise it writes every state it ever had, and fills a disk within a day.
        let kept = ["--prune-history", "128"];
        command.extend(usual.iter().chain(&kept).chain(told).map(|word| (*word).to_owned()));
        let node = spawn(&command).map_err(|source| Error::Io { what: "cannot run", path: program, source })?;
        let url = format!("http://127.0.0.1:{port}");
        let wire = Wire { mines: true, ..Wire::to(&url)? };
        // If anything fails from here on, the node is not left behind.
        let mut begun = Begun(Some(node));
        let until = Instant::now() + Duration::from_secs(30);
        while wire.ask("eth_chainId", json!([])).is_err() {
            let gone = begun.0.as_mut().and_then(|node| node.try_wait().ok().flatten());
            if let Some(status) = gone {
                return Err(Error::Wrong(format!("the node has ended: {status}")));
            }
            if Instant::now() > until {
                return Err(Error::Away("the node does not come up".to_owned()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let accounts: Vec<Address> = serde_json::from_value(wire.ask("eth_accounts", json!([]))?).unwrap_or_default();
        let [maker, owner, trader, ..] = accounts[..] else {
            return Err(Error::Wrong("the node has no accounts".to_owned()));
        };
        let who = Who { maker, owner, trader };
        let (place, router, positions) = furnish(&wire, parts, &who)?;
        Ok(Devnet { node: begun.0.take().expect("it runs"), url, who, router, positions, place, wire })
    }

    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Gives the purse to this key, with `money` in it, `a_day` of each token to spend, and gas.
    pub fn give(&self, key: Address, money: u64, a_day: (u64, U256)) -> Result<(), Error> {
        self.wire.give(&self.place, self.who.owner, key, money, a_day)?;
        // Some blocks on top, so that it counts as deep enough.
        self.wire.ask("anvil_mine", json!(["0x10", "0xc"])).map(drop)
    }

    /// Makes the purse give liquidity instead of exchanging: a fifth of the price to either side of 2,000, in shares
    /// that are worth a hundred dollars there.
    pub fn share(&mut self) -> Result<(), Error> {
        let (down, up) = if self.place.thing < self.place.money { (1_600.0, 2_400.0) } else { (2_400.0, 1_600.0) };
        let [lower, upper] = [down, up].map(|price: f64| tick(price, &self.place));
        let mut range = Range { lower, upper, each: 1_000_000 };
        range.each = (range.each as f64 * 100.0 / range.worth(2_000.0, &self.place)) as u64;
        let call = Purse::setRangeCall {
            lower: I24::try_from(lower).expect("a tick"),
            upper: I24::try_from(upper).expect("a tick"),
        };
        self.wire.send(self.who.owner, Some(self.place.purse), U256::ZERO, call.abi_encode())?;
        self.place.range = Some(range);
        Ok(())
    }

    /// Sends a trade that buys the thing with so much money, or sells so much of it, without waiting for it to be
    /// mined.
    pub fn trade_soon(&self, buys: bool, amount: U256) -> Result<(), Error> {
        let call = Bytes::from(self.traded(buys, amount));
        let tx = json!({ "from": self.who.trader, "to": self.router, "input": call, "gas": "0x7a120" });
        self.wire.ask("eth_sendTransaction", json!([tx])).map(drop)
    }

    /// Buys the thing with so much money, or sells so much of it, which moves the price.
    pub fn trade(&self, buys: bool, amount: U256) -> Result<(), Error> {
        let call = self.traded(buys, amount);
        self.wire.send(self.who.trader, Some(self.router), U256::ZERO, call).map(drop)
    }

    fn traded(&self, buys: bool, amount: U256) -> Vec<u8> {
        let VenuePlace { money, thing, .. } = self.place;
        let (token_in, token_out) = if buys { (money, thing) } else { (thing, money) };
        let params = Router::ExactInputSingleParams {
            tokenIn: token_in,
            tokenOut: token_out,
            fee: U24::from(FEE),
            recipient: self.who.trader,
            deadline: U256::MAX,
            amountIn: amount,
            amountOutMinimum: U256::ZERO,
            sqrtPriceLimitX96: U160::ZERO,
        };
        Router::exactInputSingleCall { params }.abi_encode()
    }
}

impl Drop for Devnet {
    fn drop(&mut self) {
        end(&mut self.node);
    }
}

/// Ends the node: a keeper ends it when its standard input closes; without a keeper it is killed.
fn end(node: &mut Child) {
    if node.stdin.take().is_none() {
        let _ = node.kill();
    }
    let _ = node.wait();
}

struct Begun(Option<Child>);

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(mut node) = self.0.take() {
            end(&mut node);
        }
    }
}

/// Whether all parts of a devnet are in this folder.
pub fn is_complete(parts: &Path) -> bool {
    let there = |file: &str| parts.join("node_modules").join(file).exists();
    anvil(parts).exists()
        && there("@uniswap/v3-core/artifacts")
        && there("@uniswap/v3-periphery/artifacts")
        && there("canonical-weth/build")
}

/// The node's program, inside the package for this machine.
fn anvil(parts: &Path) -> PathBuf {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    parts.join(format!("node_modules/@foundry-rs/anvil-linux-{arch}/bin/anvil"))
}

/// Makes the contracts, tokens for the maker and the trader, a pool, and an empty purse.
fn furnish(wire: &Wire, parts: &Path, who: &Who) -> Result<(VenuePlace, Address, Address), Error> {
    let with = |code: Vec<u8>, told: Vec<u8>| [code, told].concat();
    let make = |code: Vec<u8>| wire.make(who.maker, code).map(|(address, _)| address);
    let weth = make(theirs(parts, "canonical-weth/build/contracts/WETH9.json")?)?;
    let dollar =
        make(with(ours("Dollar"), ("Dollar".to_owned(), "USD".to_owned(), U256::from(6)).abi_encode_params()))?;
    let core = "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json";
    let factory = make(theirs(parts, core)?)?;
    let periphery = |name: &str, folder: &str| {
        theirs(parts, &format!("@uniswap/v3-periphery/artifacts/contracts/{folder}{name}.sol/{name}.json"))
    };
    let both = (factory, weth).abi_encode_params();
    let router = make(with(periphery("SwapRouter", "")?, both.clone()))?;
    let quoter = make(with(periphery("QuoterV2", "lens/")?, both))?;
    let positions = (factory, weth, Address::ZERO).abi_encode_params();
    let positions = make(with(periphery("NonfungiblePositionManager", "")?, positions))?;

    // Wrapped ether and dollars for the maker of the pool and for the trader.
    let ether = |n: u64| U256::from(n) * U256::from(10_u64).pow(U256::from(18));
    for (account, wrapped) in [(who.maker, 5_000_u64), (who.trader, 4_000)] {
        wire.ask("anvil_setBalance", json!([account, ether(1_000_000)]))?;
        wire.send(account, Some(weth), ether(wrapped), Token::depositCall {}.abi_encode())?;
        let mint = Token::mintCall { to: account, value: U256::from(100_000_000_000_000_u64) }.abi_encode();
        wire.send(account, Some(dollar), U256::ZERO, mint)?;
        for (token, spender) in [(weth, positions), (dollar, positions), (weth, router), (dollar, router)] {
            let approve = Token::approveCall { spender, value: U256::MAX }.abi_encode();
            wire.send(account, Some(token), U256::ZERO, approve)?;
        }
    }
    make_pool(wire, who, positions, (weth, dollar))?;
    let find = Factory::getPoolCall { a: weth, b: dollar, fee: U24::from(FEE) }.abi_encode();
    let pool = wire.ask("eth_call", json!([{ "to": factory, "input": Bytes::from(find) }, "latest"]))?;
    let pool: B256 = serde_json::from_value(pool).map_err(|why| Error::Wrong(why.to_string()))?;
    let pool = Address::from_word(pool);
    let told = (who.owner, dollar, weth, U256::from(FEE), router, pool).abi_encode_params();
    let (purse, since) = wire.make(who.maker, with(ours("Purse"), told))?;
    let place = VenuePlace {
        chain: CHAIN,
        purse,
        pool,
        quoter,
        money: dollar,
        money_decimals: 6,
        thing: weth,
        thing_decimals: 18,
        fee: FEE,
        depth: 2,
        since,
        range: None,
    };
    Ok((place, router, positions))
}

/// Makes a pool of wrapped ether and dollars at 2,000, with liquidity at every price.
fn make_pool(wire: &Wire, who: &Who, positions: Address, (weth, dollar): (Address, Address)) -> Result<(), Error> {
    let thing_first = weth < dollar;
    let (token0, token1) = if thing_first { (weth, dollar) } else { (dollar, weth) };
    // The root of the price of the first token in the second, in their smallest parts.
    let ratio = if thing_first { 2_000e6 / 1e18 } else { 1e18 / 2_000e6 };
    let root = U160::from((f64::sqrt(ratio) * 2_f64.powi(48)) as u128) << 48;
    let create =
        Positions::createAndInitializePoolIfNecessaryCall { token0, token1, fee: U24::from(FEE), sqrtPriceX96: root };
    wire.send(who.maker, Some(positions), U256::ZERO, create.abi_encode())?;
    let (amount0, amount1) = {
        let (thing, money) =
            (U256::from(1_000) * U256::from(10_u64).pow(U256::from(18)), U256::from(2_000_000_000_000_u64));
        if thing_first { (thing, money) } else { (money, thing) }
    };
    let mint = Positions::MintParams {
        token0,
        token1,
        fee: U24::from(FEE),
        tickLower: I24::try_from(-887_220).expect("a tick"),
        tickUpper: I24::try_from(887_220).expect("a tick"),
        amount0Desired: amount0,
        amount1Desired: amount1,
        amount0Min: U256::ZERO,
        amount1Min: U256::ZERO,
        recipient: who.maker,
        deadline: U256::MAX,
    };
    wire.send(who.maker, Some(positions), U256::ZERO, Positions::mintCall { params: mint }.abi_encode()).map(drop)
}

/// The tick of this price of the thing, rounded to one at which liquidity may begin.
fn tick(price: f64, place: &VenuePlace) -> i32 {
    let parts = 10_f64.powi(i32::from(place.money_decimals) - i32::from(place.thing_decimals));
    let ratio = if place.thing < place.money { price * parts } else { 1.0 / (price * parts) };
    let step = 60.0;
    ((ratio.ln() / 1.0001_f64.ln() / step).round() * step) as i32
}

/// A key from a seed, for a chain on which nothing is real.
pub fn key_of(seed: &str) -> B256 {
    keccak256(seed.as_bytes())
}
