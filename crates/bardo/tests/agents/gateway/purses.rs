//! Many purses beside each other, each at a provider of its own kind that is asked whatever can be asked, with the host killed
//! meanwhile: none is billed more than was given.

use std::fmt::Write;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use testing::billing::{
    Counted, Double, Fault, Habit, HangUp, Part, Price, Prices, Rate, Says, Setting, Shown, Tokeniser, Turn,
};
use testing::wait::within;

use super::bills::hangs_up;
use super::requests::request;
use super::{Agency, UNWATCHED, post};
use crate::common::{Dice, full};

/// Purses that one host has at a time.
const STREET: u64 = 50;
/// Requests of each.
const REQUESTS: u64 = 100;
/// Plain; with all kinds; dearer when it is long; and with a cache that bills what is written to it by itself.
const PRICES: [&str; 4] = ["1/5", "3/15/0.3/3.75/6", "1/5/0.1/1.25/2@300:2/10/0.2/2.5/4", "2/8/0.5/2.5/4+writes"];

struct Purse {
    seed: u64,
    name: String,
    token: String,
    given: &'static str,
    price: Price,
    double: Double,
}

impl Purse {
    fn new(seed: u64) -> Purse {
        let mut dice = Dice(7_100 + seed);
        let given = ["0.02", "0.05", "0.3", "2"][dice.roll(4) as usize];
        let prices = Prices::parse(&format!("m={}", PRICES[dice.roll(4) as usize])).unwrap();
        let price = prices.find("m").unwrap();
        let plays = move |number: u64, _: &testing::billing::BilledRequest| {
            let mut dice = Dice(seed * 1_000 + number);
            let turn = match dice.roll(3) {
                0 => Turn::words(dice.roll(300) + 1),
                1 => Turn::thinks(dice.roll(500), Shown::Not).then(Part::Words(dice.roll(40) + 1)),
                _ => Turn::text("Done."),
            };
            (turn, habit(&mut dice))
        };
        let mut setting = Setting::new(prices, Box::new(plays));
        setting.tokeniser = [Tokeniser::O200k, Tokeniser::Quarter, Tokeniser::EachByte][dice.roll(3) as usize];
        let double = Double::start(setting).unwrap();
        Purse { seed, name: format!("g{seed}"), token: String::new(), given, price, double }
    }

    fn given(&self) -> u64 {
        (self.given.parse::<f64>().unwrap() * 1e6).round() as u64
    }

    /// The model as a home knows it.
    fn model(&self) -> String {
        format!("{}/v1/m", self.double.url)
    }

    /// Its line in a price book.
    fn row(&self) -> String {
        let cells = |rate: Rate| {
            let Rate { input, output, read, write_5m, write_1h } = rate;
            format!("{input},{output},{read},{write_5m},{write_1h}")
        };
        let above = self.price.above.map_or(",,,,,".to_owned(), |(tokens, rate)| format!("{tokens},{}", cells(rate)));
        format!("{},{},{above},,,text,,,double\n", self.model(), cells(self.price.rate))
    }

    /// Makes all its requests, wherever the host is by then; how many were refused for money.
    fn spend(&self, address: &Mutex<String>, asked: &AtomicU64) -> u64 {
        let (mut dice, mut refused) = (Dice(90_000 + self.seed), 0);
        for _ in 0..REQUESTS {
            let request = request(&mut dice, &self.name, &self.name, !self.price.counts_writes);
            let address = address.lock().unwrap().clone();
            if request.streams && dice.roll(8) == 0 {
                hangs_up(&address, &request.path, &self.token, &request.body);
            } else {
                let version = "anthropic-version: 2023-06-01\r\n";
                let status = post(&address, &request.path, &self.token, version, &request.body).status;
                refused += u64::from(matches!(status, 402 | 429));
            }
            asked.fetch_add(1, Ordering::SeqCst);
        }
        refused
    }

    fn is_within(&self, agency: &Agency) {
        let ledger = &self.double.ledger;
        assert!(ledger.quiet(Duration::from_secs(60)), "{}: something is still being billed", self.name);
        let (life, billed) = (agency.settled_of(&self.name), ledger.billed_in_all());
        let why = || format!("{}, billed {billed} of {}, booked {}", self.name, self.given, life.calls().spent);
        assert!(billed <= self.given(), "{}: {}", why(), ledger.lines());
        assert!(billed <= life.calls().spent.as_micros() as u64, "{}: {}", why(), ledger.lines());
        // Nobody was billed above a bound: then calls are stopped.
        assert!(life.calls().hold.is_none(), "{}: {:?} {}", why(), life.calls().hold, ledger.lines());
    }
}

/// Whatever providers are known to do and bill; those that say less than they bill are another matter.
fn habit(dice: &mut Dice) -> Habit {
    let fault = match dice.roll(12) {
        0 => Some(Fault::CutAt(dice.roll(20))),
        1 => Some(Fault::ErrorAt(dice.roll(20))),
        2 => Some(Fault::Status([429, 500][dice.roll(2) as usize])),
        _ => None,
    };
    let says =
        [Says::Honest, Says::Honest, Says::Nothing, Says::OnlyAtEnd, Says::Running, Says::Zero][dice.roll(6) as usize];
    let counted = [Counted::Inside, Counted::Beside, Counted::OnlyInTotal][dice.roll(3) as usize];
    let hang_up = if dice.roll(2) == 0 { HangUp::Stops } else { HangUp::GoesOn };
    Habit { says, counted, hang_up, fault, ..Habit::HONEST }
}

/// A home with a price book that says what these providers bill, and a golem for each purse.
fn home(purses: &mut [Purse]) -> Agency {
    let mut models = String::new();
    let mut book = "# looked up 2099-12-31\n".to_owned();
    let built_in = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../tariff/src/prices.csv")).unwrap();
    writeln!(book, "{}", built_in.lines().find(|line| !line.starts_with('#')).unwrap()).unwrap();
    for purse in &*purses {
        let comma = if models.is_empty() { "" } else { ", " };
        write!(models, "{comma}{}={}", purse.name, purse.model()).unwrap();
        book += &purse.row();
    }
    let agency = Agency::of(&format!("[gateway]\nmodels = \"{models}\"\n"));
    fs::write(agency.tent.root().join("prices.csv"), book).unwrap();
    for purse in purses {
        purse.token = agency.born(&purse.name, purse.given, &UNWATCHED);
    }
    agency
}

/// As many purses as one host has, all spent at once; how many requests were refused for money, and what was billed.
fn street(first: u64, many: u64) -> (u64, u64) {
    let mut purses: Vec<Purse> = (first..first + many).map(Purse::new).collect();
    let agency = home(&mut purses);
    let up = agency.up();
    let (place, count) = (Mutex::new(up.address.clone()), AtomicU64::new(0));
    let (address, asked) = (&place, &count);
    let kill_at = many * REQUESTS / 2;
    let (up, refused) = thread::scope(|scope| {
        let begin = |purse| scope.spawn(move || Purse::spend(purse, address, asked));
        let spenders: Vec<_> = purses.iter().map(begin).collect();
        let so_far = || asked.load(Ordering::SeqCst);
        within(Duration::from_secs(1_200), || format!("{} requests", so_far()), || so_far() >= kill_at);
        // Whoever has no call under way waits here until somebody is up again.
        let mut place = address.lock().unwrap();
        up.kill();
        let up = agency.up();
        place.clone_from(&up.address);
        drop(place);
        let refused: u64 = spenders.into_iter().map(|spender| spender.join().unwrap()).sum();
        (up, refused)
    });
    purses.iter().for_each(|purse| purse.is_within(&agency));
    up.stop();
    purses.iter().for_each(|purse| drop(agency.tent.verified(&purse.name)));
    let log = fs::read_to_string(agency.tent.folder.path().join("log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
    (refused, purses.iter().map(|purse| purse.double.ledger.billed_in_all()).sum())
}

/// Whatever is asked of whichever provider, with the host killed meanwhile: what was billed is never more than what was given.
#[test]
fn no_bill_passes_what_was_given_whatever_is_asked_and_of_whom() {
    let purses = full(10_000, STREET);
    let (mut billed, mut refused) = (0, 0);
    for first in (0..purses).step_by(STREET as usize) {
        let (lacked, bill) = street(first, STREET.min(purses - first));
        (refused, billed) = (refused + lacked, billed + bill);
    }
    println!(
        "counted: {} requests over {purses} purses, {refused} refused for money; billed {billed} micro-dollars in all, never more \
         than was given",
        purses * REQUESTS
    );
}
