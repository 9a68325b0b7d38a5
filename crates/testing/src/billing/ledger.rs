//! The ledger, which is the judge: every request, whose it was, what it used and what that costs, whatever was said of it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::price::{Extras, Price, Used, bill};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    UnderWay,
    Whole,
    /// The client hung up in the middle.
    HungUp,
    /// The provider cut the line.
    Cut,
    /// Refused, or its work was lost.
    Failed,
}

#[derive(Clone, Debug)]
pub struct BilledEntry {
    pub number: u64,
    /// The key it came with.
    pub key: String,
    pub path: String,
    pub model: String,
    /// The client's word about itself: `user`, or `metadata.user_id`.
    pub user: String,
    pub betas: String,
    pub status: u16,
    pub used: Used,
    pub extras: Extras,
    /// Micro-dollars.
    pub bill: u64,
    /// The usage that was reported.
    pub said: Value,
    /// How the provider behaved, or why it refused.
    pub why: String,
    pub ended: RequestEnd,
}

impl BilledEntry {
    pub fn json(&self) -> Value {
        json!({ "number": self.number, "key": self.key, "path": self.path, "model": self.model, "user": self.user,
            "betas": self.betas, "status": self.status, "tokens": self.used.json(), "permille": self.extras.permille,
            "fees": self.extras.fees, "bill_micros": self.bill, "said": self.said, "why": self.why,
            "ended": format!("{:?}", self.ended) })
    }
}

#[derive(Default)]
struct BillBook {
    entries: Vec<BilledEntry>,
    file: Option<File>,
    written: BTreeSet<u64>,
}

#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<BillBook>>);

impl Ledger {
    pub(crate) fn to(file: Option<File>) -> Ledger {
        Ledger(Arc::new(Mutex::new(BillBook { file, ..BillBook::default() })))
    }

    /// Micro-dollars billed to this key.
    pub fn billed(&self, key: &str) -> u64 {
        self.0.lock().unwrap().entries.iter().filter(|entry| entry.key == key).map(|entry| entry.bill).sum()
    }

    /// Micro-dollars billed to all.
    pub fn billed_in_all(&self) -> u64 {
        self.0.lock().unwrap().entries.iter().map(|entry| entry.bill).sum()
    }

    /// Requests that asked a model, refused ones included.
    pub fn calls(&self) -> u64 {
        self.0.lock().unwrap().entries.len() as u64
    }

    pub fn entries(&self) -> Vec<BilledEntry> {
        self.0.lock().unwrap().entries.clone()
    }

    pub fn last(&self) -> Option<BilledEntry> {
        self.0.lock().unwrap().entries.last().cloned()
    }

    /// One JSON object a line.
    pub fn lines(&self) -> String {
        self.entries().iter().map(|entry| format!("{}\n", entry.json())).collect()
    }

    /// Waits until nothing is under way; false if that takes longer.
    pub fn quiet(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        while self.0.lock().unwrap().entries.iter().any(|entry| entry.ended == RequestEnd::UnderWay) {
            if Instant::now() > until {
                return false;
            }
            thread::sleep(Duration::from_millis(5));
        }
        true
    }

    pub(crate) fn begin(&self, mut entry: BilledEntry) -> u64 {
        let mut book = self.0.lock().unwrap();
        entry.number = book.entries.len() as u64;
        let (number, ended) = (entry.number, entry.ended);
        book.entries.push(entry);
        if ended != RequestEnd::UnderWay {
            book.write(number);
        }
        number
    }

    /// Notes the usage of a call up to now.
    pub(crate) fn charge(&self, number: u64, price: Price, used: Used) {
        let entry = &mut self.0.lock().unwrap().entries[number as usize];
        (entry.used, entry.bill) = (used, bill(price, used, entry.extras));
    }

    pub(crate) fn end(&self, number: u64, status: u16, ended: RequestEnd) {
        let mut book = self.0.lock().unwrap();
        let entry = &mut book.entries[number as usize];
        (entry.status, entry.ended) = (status, ended);
        book.write(number);
    }
}

impl BillBook {
    /// Appends a line; a ledger that cannot be written is of no use.
    fn write(&mut self, number: u64) {
        let line = format!("{}\n", self.entries[number as usize].json());
        if let (Some(file), true) = (self.file.as_mut(), self.written.insert(number)) {
            file.write_all(line.as_bytes()).expect("the ledger can be written");
        }
    }
}
