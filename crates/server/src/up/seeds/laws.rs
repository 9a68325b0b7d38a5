//! The laws of a home, whatever its host died of: every micro-USDC is there, nothing that was told is lost, each
//! action was done once or never, every reader of a journal arrives at the same life, an order counts once and an end
//! is an end.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use golem::{Command, Golem, Life, Record, Usdc, hex};
use shell::care::doctor;
use shell::home::books::{self, Account, Own};
use shell::home::inbox::{Body, Reply};
use shell::view::narrator::Narrator;
use shell::{Error, GolemHome, Home, private};
use vault::codec::{decode, encode_life};
use vault::{Head, Reader, Treasury};
use world::Ledger;

use super::owner::{Given, Owner};

/// Every message that was told, by golem, record and place in it.
#[derive(Debug, Default)]
pub(super) struct ToldLog(BTreeMap<String, BTreeMap<(u64, u32), Arc<str>>>);

impl ToldLog {
    /// Hears a message, which each host tells once.
    pub(super) fn hear(&mut self, golem: &str, at: (u64, u32), text: Arc<str>) {
        let known = self.0.entry(golem.to_owned()).or_default().insert(at, Arc::clone(&text));
        assert!(known.is_none(), "{golem}: told twice: {text}");
    }

    pub(super) fn count(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }
}

/// Holds all laws against a home in which no host is up; returns how its golems stand, for the trace.
pub(super) fn check(home: &Home, money: Usdc, heard: &ToldLog, owner: &Owner) -> String {
    let treasury = home.treasury().unwrap();
    treasury.audit().unwrap();
    let (mut sum, mut stand) = (treasury.balance().unwrap(), String::new());
    for place in home.list().unwrap() {
        let name = place.name.as_str();
        let life = check_journal(&place, heard);
        assert_eq!(life.unaccounted(), Usdc::ZERO, "{name}");
        sum += all_of(&life, &treasury);
        let lines = home.lines(life.id()).unwrap();
        check_books(&place, &life, &Own::read(&place.database(), &lines).unwrap(), &treasury);
        for given in owner.orders.iter().filter(|given| given.golem == name) {
            check_order(given, &life, &treasury);
        }
        stand += &format!("{name} {}; ", hex::encode(blake3::hash(&encode_life(&life)).as_bytes()));
    }
    assert_eq!(sum, money, "to the micro-USDC");
    stand
}

/// Checks a home at rest: nothing waits any more, every file is whole, and a full examination finds nothing.
pub(super) fn check_at_rest(home: &Home, owner: &Owner) {
    let log = home.log().unwrap().expect("a host was up");
    assert_eq!(log.golems().unwrap(), [], "everything was carried over");
    assert_eq!(log.lodgers().unwrap(), [], "no golem is lodged here any more");
    // Images are readable by all users, which is no fault of any host.
    private::close(home.root()).unwrap();
    let mut wrong = Vec::new();
    doctor::examine(home, |finding| wrong.extend(Some(finding).filter(|finding| !finding.fine))).unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for given in owner.orders.iter().filter(|given| given.sent) {
        assert!(given.reply.is_some(), "{}: never answered: {:?}", given.golem, given.body);
    }
}

/// Checks that the owner was told of each death that was heard while a host was up, or will be.
pub(super) fn check_notes(home: &Home, heard: &ToldLog, told: &BTreeSet<String>, target: &str) {
    let waiting = home.log().unwrap().expect("a host was up").waiting(target, usize::MAX).unwrap();
    let known: BTreeSet<&str> =
        waiting.iter().map(|one| one.note.key.as_str()).chain(told.iter().map(String::as_str)).collect();
    for (name, messages) in &heard.0 {
        let id = Reader::open(&home.golem(name).unwrap().database()).unwrap().id().unwrap();
        for ((seq, _), _) in messages.iter().filter(|(_, text)| text.contains("\"event\":\"mortality.dead\"")) {
            assert!(known.contains(format!("{id}:{seq}:death").as_str()), "no note tells that {name} died");
        }
    }
}

/// All money of a life, wherever it is, and whatever it became.
fn all_of(life: &Life, treasury: &Treasury) -> Usdc {
    let (purse, capital) = (&life.purse(), &life.capital());
    let own = purse.credit + purse.spent + purse.gas;
    let act = capital.cash + capital.reserved + capital.cost + capital.fees - capital.realised;
    let sent = treasury.undelivered(life.id(), life.transfers_taken()).unwrap();
    let received = treasury.received(life.id()).unwrap();
    let coming: Usdc = sent.iter().map(|sent| sent.credit + sent.capital).sum();
    let going: Usdc = life.deposits().iter().filter(|d| d.number > received).map(|d| d.amount).sum();
    own + act + coming + going
}

pub(super) fn all_money(home: &Home) -> Usdc {
    let treasury = home.treasury().unwrap();
    let lives = home.list().unwrap().into_iter().map(|place| all_of(place.wake().unwrap().0.life(), &treasury));
    treasury.balance().unwrap() + lives.sum()
}

/// Checks a journal: told from its first record on, through its file and the lines in the log, a life says everything
/// that was heard of it, and comes to what it is when it is woken.
fn check_journal(place: &GolemHome, heard: &ToldLog) -> Life {
    let reader = Reader::open(&place.database()).unwrap();
    let (golem, _) = place.wake().unwrap();
    check_head(place, &reader, &golem);
    let (mut narrator, mut told) = (Narrator::new(), BTreeMap::new());
    let mut tell = |record: &Record| -> Result<(), Error> {
        let mut index = 0;
        narrator.tell(record, |one| {
            told.insert((one.seq, index), serde_json::to_string(&one).unwrap());
            index += 1;
        })
    };
    let read = reader.replay(|record| tell(&record).map(ControlFlow::Continue)).unwrap();
    for line in place.home().lines(golem.life().id()).unwrap().iter().filter(|line| line.seq > read.records) {
        tell(&decode(line.seq, &line.body).unwrap().0).unwrap();
    }
    let name = place.name.as_str();
    let again = narrator.life().unwrap();
    assert!(encode_life(again) == encode_life(golem.life()), "{name}: a reader arrives at another life");
    for (at, text) in heard.0.get(name).into_iter().flatten() {
        assert_eq!(told.get(at).map(String::as_str), Some(&**text), "{name}: told, then lost or changed");
    }
    golem.life().clone()
}

/// Checks that the record a head names is in the file, whatever comes after it.
fn check_head(place: &GolemHome, reader: &Reader, golem: &Golem) {
    let head = Head::peek(&place.home().heads(), golem.life().id()).expect("a head");
    let there = reader.hash_at(head.seq).unwrap();
    assert_eq!(there, Some(head.hash), "{}: record {} is not the one acknowledged", place.name, head.seq);
}

/// Checks that the golem's own book, the treasury's and the world's say the same, line by line.
fn check_books(place: &GolemHome, life: &Life, own: &Own, treasury: &Treasury) {
    let account = Account::of(treasury, life).unwrap();
    let ledger = Ledger::look(place.ledger()).unwrap();
    let agreed = account
        .agrees(life)
        .and_then(|()| account.agrees_line_by_line(own, life))
        .and_then(|()| books::world_agrees(&ledger, life))
        .and_then(|()| books::world_agrees_line_by_line(&ledger, own));
    assert_eq!(agreed, Ok(()), "{}", place.name);
}

/// Checks that what an owner was told of an order is true.
fn check_order(given: &Given, life: &Life, treasury: &Treasury) {
    let (name, body) = (&given.golem, &given.body);
    let ends = matches!(body, Body::Command(Command::Retire { .. } | Command::Halt { .. }));
    if ends && given.passed_on {
        assert!(treasury.end_of(life.id()).unwrap().is_some(), "{name}: an end that was forgotten");
    }
    let Some(reply) = &given.reply else { return };
    if let Body::Fund { .. } = body {
        let lines = treasury.rows("sent", life.id(), 0).unwrap();
        let letters = lines.iter().filter(|line| line.letter.as_deref() == Some(&hex::encode(&given.id.0))).count();
        assert_eq!(letters, usize::from(*reply == Reply::Done), "{name}: {body:?} was answered {reply:?}");
        return;
    }
    assert!(!(ends && *reply == Reply::Done) || life.is_dead(), "{name} lives though it was ended");
    // The dead are asked nothing; the living remember their newest orders.
    let verdict =
        life.commands().iter().find(|(id, _)| *id == given.id).map(|(_, refusal)| refusal.map(|why| why.to_string()));
    match reply {
        Reply::Done => assert_eq!(verdict, Some(None), "{name}: {body:?}"),
        Reply::Refused(why) => assert_eq!(verdict, Some(Some(why.clone())), "{name}: {body:?}"),
        Reply::Dead(_) => assert!(life.is_dead(), "{name} was said to be dead"),
    }
}
