//! The outbox: orders and their transactions, on disk before they leave, one line each, and synced. The chain has the
//! outcomes; the outbox says which bytes might still land there.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use alloy_primitives::{Address, B256, Bytes};
use golem::world::{Fate, Order};
use serde::{Deserialize, Serialize};

use crate::Error;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutboxLine {
    /// The key and the purse of this outbox, the number of transactions the key had sent when it was begun (one more if
    /// another key had the purse), and the time of the chain.
    Begun {
        address: Address,
        purse: Address,
        sent: u64,
        time: u64,
    },
    Meant {
        key: u64,
        order: Order,
    },
    Sent {
        key: u64,
        attempt: Attempt,
    },
    Over {
        key: u64,
        fate: Fate,
    },
    /// The result of the search for orders that the golem does not know of.
    Looked {
        astray: Option<String>,
    },
}

/// One signed transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    pub nonce: u64,
    pub hash: B256,
    pub raw: Bytes,
    /// The newest block when it was signed.
    pub block: u64,
    /// The most a unit of its gas may cost, in wei.
    pub most: u128,
    /// Micro-dollars an ether was worth then, by which its gas is priced.
    pub ether: i64,
    /// Whether the transaction only takes the place of one that is too late.
    pub cancels: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flight {
    /// The order; none for a key that was asked about and never sent.
    pub order: Option<Order>,
    pub attempts: Vec<Attempt>,
    pub fate: Option<Fate>,
}

#[derive(Debug)]
pub struct Outbox {
    path: PathBuf,
    file: File,
    flights: BTreeMap<u64, Flight>,
    /// How many transactions the key had sent when this was begun, and when.
    pub begun: Option<(u64, u64)>,
    /// Why nothing may be begun any more, if anything is; none before that has been looked for.
    pub astray: Option<Option<String>>,
    broken: bool,
}

impl Outbox {
    /// Opens the outbox of this key and this purse; a line that a crash cut off was never acted on.
    pub fn open(path: &Path, address: Address, purse: Address) -> Result<Outbox, Error> {
        let failed = |what| move |source| Error::Io { what, path: path.to_owned(), source };
        let file = OpenOptions::new().create(true).append(true).read(true).open(path).map_err(failed("cannot open"))?;
        let mut outbox =
            Outbox { path: path.to_owned(), file, flights: BTreeMap::new(), begun: None, astray: None, broken: false };
        let mut reader = BufReader::new(File::open(path).map_err(failed("cannot read"))?);
        let (mut line, mut whole, mut number) = (Vec::new(), 0, 0);
        while reader.read_until(b'\n', &mut line).map_err(failed("cannot read"))? > 0 && line.ends_with(b"\n") {
            number += 1;
            let told: OutboxLine = serde_json::from_slice(&line)
                .map_err(|why| Error::Wrong(format!("line {number} of {} is damaged: {why}", path.display())))?;
            if let OutboxLine::Begun { address: whose, purse: of, .. } = &told
                && (*whose, *of) != (address, purse)
            {
                return Err(Error::Wrong(format!("{} belongs to another key or purse", path.display())));
            }
            outbox.take(told);
            whole += line.len() as u64;
            line.clear();
        }
        outbox.file.set_len(whole).map_err(failed("cannot write"))?;
        Ok(outbox)
    }

    fn take(&mut self, line: OutboxLine) {
        match line {
            OutboxLine::Begun { sent, time, .. } => self.begun = Some((sent, time)),
            OutboxLine::Meant { key, order } => self.flights.entry(key).or_default().order = Some(order),
            OutboxLine::Sent { key, attempt } => self.flights.entry(key).or_default().attempts.push(attempt),
            OutboxLine::Looked { astray } => self.astray = Some(astray),
            OutboxLine::Over { key, fate } => self.flights.entry(key).or_default().fate = Some(fate),
        }
    }

    fn add(&mut self, line: OutboxLine) -> Result<(), Error> {
        if self.broken {
            return Err(Error::Wrong(format!("an earlier write to {} failed; open it again", self.path.display())));
        }
        let mut text = serde_json::to_vec(&line).expect("plain data");
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        self.broken = written.is_err();
        written.map_err(|source| Error::Io { what: "cannot write", path: self.path.clone(), source })?;
        self.take(line);
        Ok(())
    }

    pub fn begin(&mut self, address: Address, purse: Address, sent: u64, time: u64) -> Result<(), Error> {
        self.add(OutboxLine::Begun { address, purse, sent, time })
    }

    pub fn meant(&mut self, key: u64, order: Order) -> Result<(), Error> {
        self.add(OutboxLine::Meant { key, order })
    }

    pub fn sent(&mut self, key: u64, attempt: Attempt) -> Result<(), Error> {
        self.add(OutboxLine::Sent { key, attempt })
    }

    pub fn over(&mut self, key: u64, fate: Fate) -> Result<Fate, Error> {
        self.add(OutboxLine::Over { key, fate })?;
        Ok(fate)
    }

    pub fn looked(&mut self, astray: Option<String>) -> Result<(), Error> {
        self.add(OutboxLine::Looked { astray })
    }

    pub fn get(&self, key: u64) -> Option<&Flight> {
        self.flights.get(&key)
    }

    /// The last order that was carried out.
    pub fn last_done(&self) -> Option<u64> {
        let moved = |fate: Fate| fate.outcome().is_some_and(|outcome| outcome.units != 0);
        self.flights.iter().rev().find(|(_, flight)| flight.fate.is_some_and(moved)).map(|(key, _)| *key)
    }

    /// Whether no order was ever sent from here; transactions of the end have the highest number, and are not orders.
    pub fn has_sent_nothing(&self) -> bool {
        self.flights.range(..u64::MAX).all(|(_, flight)| flight.attempts.is_empty())
    }

    /// The attempt that offers most for gas, of all that were sent with this nonce.
    pub fn dearest_at(&self, nonce: u64) -> Option<&Attempt> {
        let sent = self.flights.values().flat_map(|flight| &flight.attempts);
        sent.filter(|attempt| attempt.nonce == nonce).max_by_key(|attempt| attempt.most)
    }

    /// How many attempts were sent with this nonce.
    pub fn attempts_at(&self, nonce: u64) -> usize {
        self.flights.values().flat_map(|flight| &flight.attempts).filter(|attempt| attempt.nonce == nonce).count()
    }

    /// The keys that have transactions out which may still land.
    pub fn under_way(&self) -> impl Iterator<Item = u64> + '_ {
        let open = |flight: &&Flight| flight.fate.is_none() && !flight.attempts.is_empty();
        self.flights.iter().filter(move |(_, flight)| open(flight)).map(|(key, _)| *key)
    }
}
