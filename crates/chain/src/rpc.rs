//! Endpoints of a chain. No endpoint is trusted alone: an answer counts if more than half of all endpoints give it. One
//! that answers otherwise, or lags far behind, is set aside for a while, and named.
//!
//! Two endpoints that tell the same lie cannot be told from two that tell the truth; name endpoints that are
//! independent of each other.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use reqwest::blocking::{Client, ClientBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Error;

const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(15);
/// How long an endpoint that was set aside is not asked.
const ASIDE: Duration = Duration::from_secs(600);
/// The number of blocks behind the others from which an endpoint counts as lagging.
const LAGS: u64 = 8;

/// Blocks whose logs are asked for at a time, by default: many endpoints refuse more.
pub const SPAN: u64 = 400;

/// One chain through several endpoints.
#[derive(Debug)]
pub struct Endpoints {
    urls: Vec<String>,
    client: Client,
    aside: Mutex<BTreeMap<usize, (Instant, String)>>,
    asked: AtomicU64,
    span: u64,
}

/// A block that most agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    pub hash: B256,
    /// Seconds since the epoch.
    pub time: u64,
    /// The least price of a unit of gas in this block, in wei.
    pub base_fee: u128,
}

/// An event that a contract logged, in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Log {
    pub block: u64,
    pub index: u64,
    pub transaction: B256,
    pub topics: Vec<B256>,
    pub data: Bytes,
}

/// The receipt of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub block: u64,
    pub block_hash: B256,
    pub fine: bool,
    pub gas: u64,
    /// The price of each unit of gas, in wei.
    pub price: u128,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Complaint>,
}

#[derive(Deserialize)]
struct Complaint {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl Complaint {
    /// Whether the contract refused, so that asking again gives the same; any other error is the endpoint's own
    /// trouble.
    fn is_of_the_contract(&self) -> bool {
        matches!(self.code, 3 | -32_015) || self.message.to_lowercase().contains("revert")
    }
}

/// The answer of one endpoint.
enum Came<T> {
    Answer(T),
    /// The contract refuses.
    Complaint(String),
    Nothing(String),
}

/// A client of HTTP, for which the TLS of the process must be chosen; one that was chosen before stays.
pub(crate) fn client() -> ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

impl Endpoints {
    pub fn new(urls: Vec<String>) -> Result<Endpoints, Error> {
        if urls.is_empty() {
            return Err(Error::Wrong("no endpoint of the chain is named".to_owned()));
        }
        let mut client = client()
            .user_agent(concat!("bardo/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .timeout(ANSWER);
        if urls.iter().all(|url| url.starts_with("http://")) {
            // A machine without certificates can still talk to itself.
            client = client.tls_certs_only([]).no_proxy();
        }
        let client =
            client.build().map_err(|why| Error::Wrong(format!("no connection can be made from here: {why}")))?;
        Ok(Endpoints { urls, client, aside: Mutex::default(), asked: AtomicU64::new(0), span: SPAN })
    }

    /// These endpoints, asked for the logs of so many blocks at a time.
    #[must_use]
    pub fn spanning(self, span: u64) -> Endpoints {
        Endpoints { span: span.max(1), ..self }
    }

    /// Blocks whose logs may be asked for at a time.
    pub(crate) fn span(&self) -> u64 {
        self.span
    }

    /// Requests that were made so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The endpoints that are not asked at present, and why.
    pub fn set_aside(&self) -> Vec<(String, String)> {
        let mut aside = self.aside.lock().expect("no holder panics");
        aside.retain(|_, (since, _)| since.elapsed() < ASIDE);
        aside.iter().map(|(at, (_, why))| (self.name(*at), why.clone())).collect()
    }

    /// The name of an endpoint, its address up to the host: keys are often part of the rest.
    fn name(&self, at: usize) -> String {
        let url = &self.urls[at];
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        format!("{scheme}://{}", host.rsplit('@').next().unwrap_or_default())
    }

    fn put_aside(&self, at: usize, why: String) {
        self.aside.lock().expect("no holder panics").insert(at, (Instant::now(), why));
    }

    /// The number that is more than half of all endpoints.
    fn most(&self) -> usize {
        self.urls.len() / 2 + 1
    }

    fn one<T>(&self, at: usize, body: &Value, read: &(impl Fn(Value) -> Result<T, String> + Sync)) -> Came<T> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let nothing = |why: reqwest::Error| {
            Came::Nothing(if why.is_timeout() { "no answer in time" } else { "no connection" }.to_owned())
        };
        let answer = match self.client.post(&self.urls[at]).json(body).send() {
            Ok(answer) => answer,
            Err(why) => return nothing(why),
        };
        let status = answer.status();
        match answer.json::<Told>() {
            Ok(Told { error: Some(why), .. }) if why.is_of_the_contract() => Came::Complaint(why.message),
            Ok(Told { error: Some(why), .. }) => Came::Nothing(why.message),
            Ok(Told { result, .. }) => read(result.unwrap_or(Value::Null)).map_or_else(Came::Nothing, Came::Answer),
            Err(_) => Came::Nothing(format!("an answer that cannot be read ({status})")),
        }
    }

    /// Asks all endpoints that are not set aside.
    fn all<T: Send>(
        &self,
        method: &str,
        params: Value,
        read: impl Fn(Value) -> Result<T, String> + Sync,
    ) -> Vec<(usize, Came<T>)> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let aside: Vec<usize> = {
            let mut aside = self.aside.lock().expect("no holder panics");
            aside.retain(|_, (since, _)| since.elapsed() < ASIDE);
            aside.keys().copied().collect()
        };
        let asked: Vec<usize> = (0..self.urls.len()).filter(|at| !aside.contains(at)).collect();
        if let [only] = asked[..] {
            return vec![(only, self.one(only, &body, &read))];
        }
        std::thread::scope(|scope| {
            let (body, read) = (&body, &read);
            let each: Vec<_> = asked.iter().map(|at| (*at, scope.spawn(move || self.one(*at, body, read)))).collect();
            each.into_iter().map(|(at, thread)| (at, thread.join().expect("it does not panic"))).collect()
        })
    }

    /// The answer that more than half give. Everything is read at a block that is settled or named, so that honest
    /// endpoints give the same answer.
    pub fn agreed<T: Eq + Send + std::fmt::Debug>(
        &self,
        method: &str,
        params: Value,
        read: impl Fn(Value) -> Result<T, String> + Sync,
    ) -> Result<T, Error> {
        let mut said: Vec<(T, Vec<usize>)> = Vec::new();
        let (mut complaints, mut nothing) = (Vec::new(), Vec::new());
        for (at, came) in self.all(method, params, read) {
            match came {
                Came::Answer(answer) => match said.iter_mut().find(|(other, _)| *other == answer) {
                    Some((_, who)) => who.push(at),
                    None => said.push((answer, vec![at])),
                },
                Came::Complaint(why) => complaints.push((at, why)),
                Came::Nothing(why) => nothing.push((at, why)),
            }
        }
        said.sort_by_key(|(_, who)| std::cmp::Reverse(who.len()));
        if said.first().is_some_and(|(_, who)| who.len() >= self.most()) {
            let (answer, _) = said.remove(0);
            let others = said.iter().flat_map(|(_, who)| who).chain(complaints.iter().map(|(at, _)| at));
            others.for_each(|at| self.put_aside(*at, format!("it answered {method} otherwise than the others")));
            // The others are enough, and the next question need not wait for it.
            nothing.into_iter().for_each(|(at, why)| self.put_aside(at, why));
            return Ok(answer);
        }
        if complaints.len() >= self.most() {
            return Err(Error::Said(complaints.swap_remove(0).1));
        }
        let answers = said.iter().map(|(_, who)| who.len()).sum::<usize>() + complaints.len();
        if answers >= self.most() {
            let names = |who: &[usize]| who.iter().map(|at| self.name(*at)).collect::<Vec<_>>().join(" and ");
            let groups: Vec<String> = said.iter().map(|(_, who)| names(who)).collect();
            let refusing: Vec<String> =
                complaints.iter().map(|(at, why)| format!("{} ({why})", self.name(*at))).collect();
            return Err(Error::Split(format!(
                "to {method} there are {} answers, by {}",
                said.len() + complaints.len(),
                [groups, refusing].concat().join(", by ")
            )));
        }
        let aside = self.set_aside().into_iter().map(|(who, why)| format!("{who}: set aside because {why}"));
        let nothing = nothing.into_iter().map(|(at, why)| format!("{}: {why}", self.name(at)));
        Err(Error::Away(nothing.chain(aside).collect::<Vec<_>>().join("; ")))
    }

    fn plain<T: DeserializeOwned>(value: Value) -> Result<T, String> {
        serde_json::from_value(value).map_err(|why| format!("an answer that cannot be read: {why}"))
    }

    /// The number of the chain.
    pub fn chain(&self) -> Result<u64, Error> {
        self.agreed("eth_chainId", json!([]), Self::plain::<U64>).map(|id| id.to())
    }

    /// The newest block that more than half have seen.
    pub fn head(&self) -> Result<Block, Error> {
        let mut numbers = Vec::new();
        let mut nothing = Vec::new();
        for (at, came) in self.all("eth_blockNumber", json!([]), Self::plain::<U64>) {
            match came {
                Came::Answer(number) => numbers.push((number.to::<u64>(), at)),
                Came::Complaint(why) | Came::Nothing(why) => nothing.push(format!("{}: {why}", self.name(at))),
            }
        }
        numbers.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        let Some((head, _)) = numbers.get(self.most() - 1).copied() else {
            return Err(Error::Away(nothing.join("; ")));
        };
        for (number, at) in &numbers {
            if number + LAGS < head {
                self.put_aside(*at, format!("it lags {} blocks behind", head - number));
            }
        }
        self.block(head)
    }

    /// A block by its number.
    pub fn block(&self, number: u64) -> Result<Block, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Header {
            number: U64,
            hash: B256,
            timestamp: U64,
            #[serde(default)]
            base_fee_per_gas: U256,
        }
        self.agreed("eth_getBlockByNumber", json!([U64::from(number), false]), |value| {
            let header: Header = Self::plain(value)?;
            Ok(Block {
                number: header.number.to(),
                hash: header.hash,
                time: header.timestamp.to(),
                base_fee: u128::try_from(header.base_fee_per_gas)
                    .map_err(|_| "a price of gas beyond reason".to_owned())?,
            })
        })
    }

    /// A contract's answer as of this block.
    pub fn call(&self, to: Address, input: &[u8], at: &Block) -> Result<Bytes, Error> {
        let call = json!({ "to": to, "input": Bytes::copy_from_slice(input) });
        self.agreed("eth_call", json!([call, { "blockHash": at.hash }]), Self::plain)
    }

    /// The result that a call from this account would have, with so much gas.
    pub fn tried(&self, from: Address, to: Address, input: &[u8], gas: u64, at: &Block) -> Result<Bytes, Error> {
        let call = json!({ "from": from, "to": to, "input": Bytes::copy_from_slice(input), "gas": U64::from(gas) });
        self.agreed("eth_call", json!([call, { "blockHash": at.hash }]), Self::plain)
    }

    /// Transactions an account has sent as of this block.
    pub fn sent_by(&self, account: Address, at: &Block) -> Result<u64, Error> {
        let count =
            self.agreed("eth_getTransactionCount", json!([account, { "blockHash": at.hash }]), Self::plain::<U64>)?;
        Ok(count.to())
    }

    /// The ether of an account as of this block, in wei.
    pub fn ether_of(&self, account: Address, at: &Block) -> Result<U256, Error> {
        self.agreed("eth_getBalance", json!([account, { "blockHash": at.hash }]), Self::plain)
    }

    /// Events that a contract logged in these blocks, under these topics.
    pub fn logs(&self, of: Address, topics: Value, from: u64, to: u64) -> Result<Vec<Log>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct RpcReply {
            block_number: U64,
            log_index: U64,
            transaction_hash: B256,
            topics: Vec<B256>,
            data: Bytes,
        }
        let filter = json!({ "address": of, "topics": topics, "fromBlock": U64::from(from), "toBlock": U64::from(to) });
        self.agreed("eth_getLogs", json!([filter]), |value| {
            let said: Vec<RpcReply> = Self::plain(value)?;
            let log = |said: RpcReply| Log {
                block: said.block_number.to(),
                index: said.log_index.to(),
                transaction: said.transaction_hash,
                topics: said.topics,
                data: said.data,
            };
            let mut all: Vec<Log> = said.into_iter().map(log).collect();
            all.sort();
            Ok(all)
        })
    }

    /// The receipt of a transaction, if it is in a block.
    pub fn receipt(&self, hash: B256) -> Result<Option<Receipt>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Said {
            block_number: U64,
            block_hash: B256,
            status: U64,
            gas_used: U64,
            effective_gas_price: U256,
        }
        self.agreed("eth_getTransactionReceipt", json!([hash]), |value| {
            let said: Option<Said> = Self::plain(value)?;
            Ok(said.map(|said| Receipt {
                block: said.block_number.to(),
                block_hash: said.block_hash,
                fine: said.status == U64::from(1),
                gas: said.gas_used.to(),
                price: u128::try_from(said.effective_gas_price).unwrap_or(u128::MAX),
            }))
        })
    }

    /// Sends a transaction to all endpoints. It is enough that one takes it; whether it lands is another question.
    pub fn send(&self, raw: &[u8]) -> Result<(), Error> {
        let mut why = Vec::new();
        for (at, came) in self.all("eth_sendRawTransaction", json!([Bytes::copy_from_slice(raw)]), Ok) {
            match came {
                Came::Answer(_) => return Ok(()),
                Came::Complaint(said) | Came::Nothing(said) => why.push(format!("{}: {said}", self.name(at))),
            }
        }
        Err(Error::Away(why.join("; ")))
    }
}
