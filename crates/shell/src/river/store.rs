//! A home's books of the river, and the words that came from elsewhere. Every change is handed as rows to the desk,
//! which makes them durable, in the order in which they came about; nothing is sent or put into the mail before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use golem::clade::{Clade as Known, News, Parcel, Peer};
use golem::grimoire::Kind;
use golem::{GolemId, hex};
use serde::{Deserialize, Serialize};
use styx::keys::RowKind;
use styx::mailbox::{Came, Mailbox, RowChange, Word};
use styx::{Clade, Class};
use tokio::sync::Notify;
use utoipa::ToSchema;
use vault::RiverPair;

use super::key;
use crate::Error;
use crate::home::Home;
use crate::locks::lock;

/// Words of one sibling that are kept for golems that have not heard them, or are yet to be born.
const EACH: usize = 64;
/// The longest word, in bytes; if one is longer, its least sure lines are left out.
const LONGEST: usize = 512 * 1024;
/// The longest name, in characters.
const NAME: usize = 64;
/// How long a word is of use.
const GOOD_MS: u64 = 7 * 86_400_000;
/// How long a death may take to be confirmed.
pub(crate) const DEADLINE_MS: u64 = 10 * 60_000;
/// Receipts after which a death counts as known.
pub(crate) const RECEIPTS: usize = 2;

/// A word as it travels: with the name its golem has at home.
#[derive(Serialize, Deserialize)]
struct SentWord {
    name: String,
    parcel: Parcel,
}

/// A word from elsewhere, as it is kept.
#[derive(Serialize, Deserialize)]
struct Inward {
    at_ms: u64,
    parcel: Arc<Parcel>,
}

/// The state of the river for this home, for its owner to see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
// The name that programs which read the description of the API know it by.
#[schema(as = Stand)]
pub struct RiverState {
    /// When the connection was made, in milliseconds since 1970, while there is one.
    pub since_ms: Option<u64>,
    /// The last error, while there is no connection.
    pub trouble: Option<String>,
    pub sent: u64,
    pub heard: u64,
    /// Words that came and were not taken, counted by reason.
    pub refused: BTreeMap<String, u64>,
    /// When the archive was last written, and what was wrong last.
    pub archived_ms: Option<u64>,
    pub archive_trouble: Option<String>,
}

/// A death as it was announced, and how far it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedDeath {
    pub name: String,
    pub at_ms: u64,
    /// Whether its knowledge is in the archive.
    pub archived: bool,
    /// The most homes that have confirmed it.
    pub homes: usize,
    /// Whether the owner was told how that went.
    pub told: bool,
}

/// The outcome of words that came, for other parts of the host to act on.
#[derive(Debug, Default)]
pub struct Arrived {
    /// Words to put into the mail.
    pub parcels: Vec<Arc<Parcel>>,
    /// News for the owner.
    pub news: Vec<(String, String)>,
}

pub struct RiverStore {
    books: Mutex<Books>,
    /// Rung when there is something to send.
    pub due: Notify,
    pub clade: Arc<Clade>,
    pub home: [u8; 16],
}

#[derive(Debug)]
pub struct Books {
    pub mailbox: Mailbox,
    /// Words from elsewhere and when they came, by golem and number.
    inward: BTreeMap<(GolemId, u64), (Arc<Parcel>, u64)>,
    names: BTreeMap<GolemId, String>,
    pub(crate) ended: BTreeMap<GolemId, AnnouncedDeath>,
    pub state: RiverState,
    /// The state as it was last written down.
    written: RiverState,
}

impl RiverStore {
    /// Reads the books of a home that belongs to a clade; with rows that are to be written first. A home that has
    /// changed its clade begins again.
    pub(crate) fn of(home: &Home, rows: Vec<RiverPair>) -> Result<(Option<RiverStore>, Vec<RowChange>), Error> {
        let Some(clade) = key::read(home)?.map(Arc::new) else { return Ok((None, Vec::new())) };
        let me = rows
            .iter()
            .find(|(key, _)| *key == RowKind::Home.key(&[]))
            .and_then(|(_, value)| value.split_at_checked(16));
        let known: Option<[u8; 16]> =
            me.filter(|(_, owner)| *owner == clade.owner().0).and_then(|(home, _)| home.try_into().ok());
        let (mut anew, mut rows) = (Vec::new(), rows);
        let name = match known {
            Some(name) => name,
            None => {
                anew.extend(std::mem::take(&mut rows).into_iter().map(|(key, _)| (key, None)));
                let mut name = [0; 16];
                getrandom::fill(&mut name).map_err(|why| Error::Host(format!("cannot draw a random name: {why}")))?;
                anew.push((RowKind::Home.key(&[]), Some([name.as_slice(), &clade.owner().0].concat())));
                name
            }
        };
        let books = Books::of(&clade, name, rows);
        Ok((Some(RiverStore { books: Mutex::new(books), due: Notify::new(), clade, home: name }), anew))
    }

    pub fn books(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }

    /// Takes a golem's word, to be sent once its rows are durable; `None` if it was said before. The rows are handed
    /// over while the books are locked.
    pub(crate) fn say<T>(
        &self,
        name: &str,
        parcel: &Parcel,
        now_ms: u64,
        bring: impl FnOnce(Vec<RowChange>) -> T,
    ) -> Option<T> {
        let mut books = self.books();
        let (class, text) = put_down(name, parcel);
        let mut rows = books.mailbox.say(parcel.from, class, parcel.number, &text, now_ms);
        if rows.is_empty() {
            return None;
        }
        if parcel.news == News::Death {
            let name = name.to_owned();
            let ended = AnnouncedDeath { name, at_ms: now_ms, archived: false, homes: 0, told: false };
            rows.push((ended_key(parcel.from), Some(json(&ended))));
            books.ended.insert(parcel.from, ended);
        }
        let brought = bring(rows);
        drop(books);
        self.due.notify_one();
        Some(brought)
    }

    /// The number of the word that a golem has said last on the river.
    pub(crate) fn said(&self, golem: GolemId) -> u64 {
        self.books().mailbox.said(golem)
    }

    /// The words from elsewhere that a golem has not heard yet, in their order.
    pub(crate) fn unheard_by(&self, golem: GolemId, known: &Known) -> Vec<Arc<Parcel>> {
        let (books, mut peer) = (self.books(), None);
        let mut unheard = Vec::new();
        for ((from, number), (word, _)) in books.inward.iter().filter(|((from, _), _)| *from != golem) {
            // Words of one golem stand together, so each golem is looked up once.
            let heard = match peer {
                Some(known @ Peer { id, .. }) if id == *from => known,
                _ => *peer.insert(known.heard_of(*from)),
            };
            if !heard.has_heard(*number, &word.news) {
                unheard.push(Arc::clone(word));
            }
        }
        unheard
    }

    /// Takes words that have come, each from its place at the relay.
    pub fn take<T>(&self, came: &[(u64, &[u8])], now_ms: u64, bring: impl FnOnce(Vec<RowChange>) -> T) -> (Arrived, T) {
        let (mut books, mut rows, mut arrived) = (self.books(), Vec::new(), Arrived::default());
        for (place, envelope) in came {
            let (came, mut changed) = books.mailbox.take(*place, envelope, now_ms);
            rows.append(&mut changed);
            books.heed(came, now_ms, &mut rows, &mut arrived);
        }
        books.count_receipts(&mut rows);
        (arrived, bring(rows))
    }

    /// Notes that a golem's knowledge is in the archive as of now, and for good if it has died.
    pub fn archived<T>(
        &self,
        golem: GolemId,
        dead: bool,
        now_ms: u64,
        bring: impl FnOnce(Vec<RowChange>) -> T,
    ) -> Option<T> {
        let mut books = self.books();
        let rows = books.archived(golem, dead, now_ms);
        (!rows.is_empty()).then(|| bring(rows))
    }

    /// Notes that the archive could not be written; returns whether that is news.
    pub fn archive_failed(&self, why: &str) -> bool {
        let mut books = self.books();
        books.state.archive_trouble.replace(why.to_owned()).as_deref() != Some(why)
    }

    /// Notes that there is a connection from now on, or why there is not.
    pub fn connected(&self, now_ms: u64, trouble: Option<String>) {
        let mut books = self.books();
        books.state.since_ms = trouble.is_none().then_some(now_ms);
        books.state.trouble = trouble;
    }

    /// Settles what is overdue.
    pub fn settle<T>(&self, now_ms: u64, bring: impl FnOnce(Vec<RowChange>) -> T) -> (Arrived, T) {
        let (mut books, mut arrived) = (self.books(), Arrived::default());
        let (words, mut rows) = books.mailbox.settle(now_ms);
        books.heed(Came::Words(words), now_ms, &mut rows, &mut arrived);
        books.call_time(now_ms, &mut rows, &mut arrived);
        let old = books.inward.extract_if(.., |_, (_, at_ms)| now_ms >= *at_ms + GOOD_MS);
        rows.extend(old.map(|((from, number), _)| (inward_key(from, number), None)));
        if books.state != books.written {
            books.written = books.state.clone();
            rows.push((RowKind::State.key(&[]), Some(json(&books.state))));
        }
        (arrived, bring(rows))
    }
}

impl Books {
    pub(crate) fn of(clade: &Arc<Clade>, home: [u8; 16], rows: Vec<RiverPair>) -> Books {
        let (mut inward, mut names, mut ended, mut state) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), RiverState::default());
        for (key, value) in &rows {
            match RowKind::of(key) {
                Some((RowKind::Inward, _)) => {
                    if let Ok(Inward { at_ms, parcel }) = serde_json::from_slice(value) {
                        inward.insert((parcel.from, parcel.number), (parcel, at_ms));
                    }
                }
                Some((RowKind::Name, golem)) => {
                    if let (Ok(golem), Ok(name)) = (golem.try_into(), std::str::from_utf8(value)) {
                        names.insert(GolemId(golem), name.to_owned());
                    }
                }
                Some((RowKind::Death, golem)) => {
                    if let (Ok(golem), Ok(said)) = (golem.try_into(), serde_json::from_slice(value)) {
                        ended.insert(GolemId(golem), said);
                    }
                }
                Some((RowKind::State, _)) => state = serde_json::from_slice(value).unwrap_or_default(),
                Some((RowKind::Home, _)) | None => {}
                // Rows of the mailbox.
                Some((RowKind::Head | RowKind::Outbox | RowKind::Heard, _)) => {}
                Some((RowKind::Known | RowKind::Floor | RowKind::Place, _)) => {}
            }
        }
        let state = RiverState { since_ms: None, ..state };
        let written = state.clone();
        Books { mailbox: Mailbox::of(Arc::clone(clade), home, rows), inward, names, ended, state, written }
    }

    pub(crate) fn name(&self, golem: GolemId) -> Option<&str> {
        self.names.get(&golem).map(String::as_str)
    }

    fn heed(&mut self, came: Came, now_ms: u64, rows: &mut Vec<RowChange>, arrived: &mut Arrived) {
        match came {
            Came::Words(words) => {
                for word in words {
                    self.hear(word, now_ms, rows, arrived);
                }
            }
            Came::Flawed(flaw) => self.refuse(&flaw.to_string()),
            Came::Forked(speaker) => {
                self.refuse("two words of one number");
                let day = now_ms / 86_400_000;
                let who = self.name(speaker.golem).map_or_else(|| speaker.golem.to_string(), str::to_owned);
                let text = format!(
                    "{who} has said two different things under one number, as a copied home does: nothing more is taken from it \
                     from home {} until this host is started again",
                    &hex::encode(&speaker.home)[..8]
                );
                arrived.news.push((format!("clade:fork:{}:{day}", hex::encode(&speaker.golem.0)), text));
            }
            Came::Early | Came::Known => {}
        }
    }

    /// Hears a sibling's word, which goes into the mail if it is what it says.
    fn hear(&mut self, word: Word, now_ms: u64, rows: &mut Vec<RowChange>, arrived: &mut Arrived) {
        self.state.heard += 1;
        if word.stale {
            return self.refuse("too old");
        }
        let Ok(SentWord { name, parcel }) = serde_json::from_slice::<SentWord>(&word.text) else {
            return self.refuse("not a word of a golem's");
        };
        if parcel.from != word.speaker.golem || class(&parcel) != word.class || !parcel.is_sound() {
            return self.refuse("not what its envelope says");
        }
        let name = golem::plain::line(&name, NAME);
        if self.names.get(&parcel.from) != Some(&name) {
            rows.push((RowKind::Name.key(&[&parcel.from.0]), Some(name.clone().into_bytes())));
            self.names.insert(parcel.from, name);
        }
        let (from, number) = (parcel.from, parcel.number);
        let kept = Inward { at_ms: now_ms, parcel: Arc::new(parcel) };
        rows.push((inward_key(from, number), Some(json(&kept))));
        arrived.parcels.push(Arc::clone(&kept.parcel));
        self.inward.insert((from, number), (kept.parcel, now_ms));
        // The oldest word makes room.
        let of_it = |from| (from, 0)..=(from, u64::MAX);
        if self.inward.range(of_it(from)).count() > EACH {
            let oldest = self.inward.range(of_it(from)).next().map(|(key, _)| *key).expect("there are some");
            self.inward.remove(&oldest);
            rows.push((inward_key(oldest.0, oldest.1), None));
        }
    }

    pub fn refuse(&mut self, why: &str) {
        *self.state.refused.entry(why.to_owned()).or_default() += 1;
    }

    /// Notes how many homes have confirmed each death.
    fn count_receipts(&mut self, rows: &mut Vec<RowChange>) {
        for (golem, ended) in self.ended.iter_mut().filter(|(_, ended)| !ended.told) {
            let homes = self.mailbox.confirmed_by(*golem);
            if homes > ended.homes {
                ended.homes = homes;
                rows.push((ended_key(*golem), Some(json(ended))));
            }
        }
    }

    /// Tells the owner of each death where it is known, once that is in two places or its time is up.
    fn call_time(&mut self, now_ms: u64, rows: &mut Vec<RowChange>, arrived: &mut Arrived) {
        for (golem, ended) in self.ended.iter_mut().filter(|(_, ended)| !ended.told) {
            let (receipts, late) = (ended.receipts(), now_ms >= ended.at_ms + DEADLINE_MS);
            if receipts < RECEIPTS && !late {
                continue;
            }
            ended.told = true;
            rows.push((ended_key(*golem), Some(json(ended))));
            let text = match receipts {
                0 => format!(
                    "{}'s death has reached no other place within ten minutes; it is still being sent",
                    ended.name
                ),
                1 => format!(
                    "{}'s death has reached one other place within ten minutes, not two; it is still being sent",
                    ended.name
                ),
                n => format!("{}'s death and what it knew are in {n} other places", ended.name),
            };
            arrived.news.push((format!("clade:death:{}", hex::encode(&golem.0)), text));
        }
    }

    fn archived(&mut self, golem: GolemId, dead: bool, now_ms: u64) -> Vec<RowChange> {
        let mut rows = self.mailbox.archived(golem);
        (self.state.archived_ms, self.state.archive_trouble) = (Some(now_ms), None);
        if let Some(ended) = self.ended.get_mut(&golem).filter(|ended| dead && !ended.archived) {
            ended.archived = true;
            rows.push((ended_key(golem), Some(json(ended))));
        }
        rows
    }
}

impl AnnouncedDeath {
    /// The number of other places in which the death is known.
    pub(crate) fn receipts(&self) -> usize {
        self.homes + usize::from(self.archived)
    }
}

fn class(parcel: &Parcel) -> Class {
    match parcel.news {
        News::Crisis { .. } => Class::Crisis,
        News::Death => Class::Death,
        News::Regime { .. } => Class::Regime,
        News::Knowledge { .. } => {
            let warns = |line: &String| {
                serde_json::from_str(line)
                    .is_ok_and(|line: golem::grimoire::bundle::BundleLine| line.kind == Kind::Warning)
            };
            if parcel.lines.iter().any(warns) { Class::Alert } else { Class::Delta }
        }
    }
}

/// Writes a word as it travels, without the lines that make it too long.
fn put_down(name: &str, parcel: &Parcel) -> (Class, Vec<u8>) {
    let mut said = SentWord { name: name.to_owned(), parcel: parcel.clone() };
    loop {
        let text = json(&said);
        if text.len() <= LONGEST || said.parcel.lines.pop().is_none() {
            return (class(&said.parcel), text);
        }
    }
}

fn json<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("it is plain data")
}

fn inward_key(from: GolemId, number: u64) -> Vec<u8> {
    RowKind::Inward.key(&[&from.0, &number.to_be_bytes()])
}

fn ended_key(golem: GolemId) -> Vec<u8> {
    RowKind::Death.key(&[&golem.0])
}

impl std::fmt::Debug for RiverStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RiverStore").field("home", &hex::encode(&self.home)).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golem::regime::Regime;
    use styx::Speaker;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        home.init(&home.settings().unwrap()).unwrap();
        (dir, home)
    }

    fn word(number: u64, news: News, lines: &[&str]) -> Parcel {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Parcel { from: GolemId([7; 16]), number, news, lines, died: None }
    }

    fn write(disk: &mut BTreeMap<Vec<u8>, Vec<u8>>, rows: Vec<RowChange>) {
        for (key, value) in rows {
            match value {
                Some(value) => drop(disk.insert(key, value)),
                None => drop(disk.remove(&key)),
            }
        }
    }

    /// The envelopes of one home, as another takes them.
    fn sent(from: &RiverStore, number: usize) -> Vec<Vec<u8>> {
        from.books().mailbox.due(1, number).iter().map(|(envelope, _)| envelope.bytes().to_vec()).collect()
    }

    #[test]
    fn what_is_heard_is_offered_until_it_was_heard_and_is_there_after_a_kill() {
        let ((_a, here), (_b, there)) = (home(), home());
        key::make(&here).unwrap();
        let invitation = here.root().join("invitation");
        key::invite(&here, &invitation).unwrap();
        key::accept(&there, &invitation).unwrap();
        let (teller, _) = RiverStore::of(&here, Vec::new()).unwrap();
        let (teller, mut disk) = (teller.unwrap(), BTreeMap::new());
        let (hearer, first) = RiverStore::of(&there, Vec::new()).unwrap();
        let hearer = hearer.unwrap();
        write(&mut disk, first);
        for number in 1..=3 {
            let news = if number == 2 { News::Regime { to: Regime::Calm } } else { News::Knowledge { entries: 1 } };
            assert!(teller.say("ada", &word(number, news, &[]), 1, drop).is_some());
            assert!(teller.say("ada", &word(number, news, &[]), 1, drop).is_none(), "each once");
        }
        for (place, envelope) in (1..).zip(sent(&teller, 9)) {
            let (arrived, rows) = hearer.take(&[(place, &envelope)], 2, |rows| rows);
            assert_eq!((arrived.parcels.len(), arrived.news.len()), (1, 0));
            write(&mut disk, rows);
        }
        // After a kill, and for a golem that has heard the second by then.
        let (again, _) = RiverStore::of(&there, disk.into_iter().collect()).unwrap();
        let again = again.unwrap();
        assert_eq!(again.home, hearer.home);
        let mut known = Known::default();
        known.heard.push(Peer { id: GolemId([7; 16]), taught: 1, said: 2 });
        let unheard: Vec<u64> = again.unheard_by(GolemId([9; 16]), &known).iter().map(|word| word.number).collect();
        assert_eq!(unheard, [3]);
        assert!(again.unheard_by(GolemId([7; 16]), &Known::default()).is_empty(), "nothing of its own");
        assert_eq!(again.books().name(GolemId([7; 16])), Some("ada"));
        let (_, rows) = again.settle(2 + GOOD_MS, |rows| rows);
        let inward = |key: &[u8]| RowKind::of(key).is_some_and(|(kind, _)| kind == RowKind::Inward);
        assert!(rows.iter().filter(|(key, value)| inward(key) && value.is_none()).count() == 3, "it is old");
    }

    #[test]
    fn what_is_not_what_its_envelope_says_is_refused() {
        let (_dir, here) = home();
        key::make(&here).unwrap();
        let (Some(store), _) = RiverStore::of(&here, Vec::new()).unwrap() else { panic!("it is of a clade") };
        let mut elsewhere = Mailbox::new(Arc::clone(&store.clade), [2; 16]);
        let (other, right) = (GolemId([8; 16]), GolemId([7; 16]));
        let said = |parcel: Parcel| json(&SentWord { name: "eve\u{1b}[2J".into(), parcel });
        let texts = [
            (other, Class::Delta, said(word(1, News::Knowledge { entries: 0 }, &[]))),
            (right, Class::Death, said(word(1, News::Knowledge { entries: 0 }, &[]))),
            (right, Class::Crisis, said(word(2, News::Crisis { load: 7.0, pressed_by: [None; 3] }, &[]))),
            (right, Class::Delta, b"{}".to_vec()),
            (right, Class::Regime, said(word(4, News::Regime { to: Regime::Calm }, &[]))),
        ];
        for (own, (golem, class, text)) in (1..).zip(&texts) {
            elsewhere.say(*golem, *class, own, text, 1);
        }
        let words = elsewhere.due(1, 9);
        let came: Vec<(u64, &[u8])> = (1..).zip(words.iter().map(|(word, _)| word.bytes())).collect();
        let (arrived, _) = store.take(&came, 2, drop);
        assert_eq!(arrived.parcels.len(), 1, "only the last is what it says");
        let books = store.books();
        assert_eq!(books.state.refused.values().sum::<u64>(), 4);
        assert!(!books.name(right).unwrap().contains('\u{1b}'));
        let heads: Vec<(Speaker, u64, _)> = books.mailbox.heads().collect();
        assert_eq!(heads.len(), 2, "what is refused was heard all the same, and is not asked for again");
    }

    #[test]
    fn a_home_that_joins_another_clade_begins_anew() {
        let (_dir, here) = home();
        key::make(&here).unwrap();
        let (first, rows) = RiverStore::of(&here, Vec::new()).unwrap();
        let kept: Vec<RiverPair> = rows.into_iter().map(|(key, value)| (key, value.unwrap())).collect();
        let (same, rows) = RiverStore::of(&here, kept.clone()).unwrap();
        assert_eq!((same.unwrap().home, rows.len()), (first.as_ref().unwrap().home, 0));
        std::fs::remove_file(here.root().join("clade.key")).unwrap();
        assert!(RiverStore::of(&here, kept.clone()).unwrap().0.is_none());
        key::make(&here).unwrap();
        let (other, rows) = RiverStore::of(&here, kept).unwrap();
        assert_ne!(other.unwrap().home, first.unwrap().home);
        assert!(
            rows.iter().any(|(key, value)| *key == RowKind::Home.key(&[]) && value.is_none()),
            "what was there goes first"
        );
    }

    #[test]
    fn a_death_is_transmitted_when_two_others_have_it_and_its_owner_hears_if_not() {
        let (_dir, here) = home();
        key::make(&here).unwrap();
        let (Some(store), _) = RiverStore::of(&here, Vec::new()).unwrap() else { panic!("it is of a clade") };
        store.say("ada", &word(1, News::Death, &[]), 1, drop);
        assert!(store.settle(DEADLINE_MS, drop).0.news.is_empty(), "there is time");
        store.archived(GolemId([7; 16]), true, 2, drop);
        let (late, _) = store.settle(DEADLINE_MS + 1, drop);
        assert!(late.news[0].1.contains("one other place within ten minutes"), "{:?}", late.news);
        assert!(store.settle(DEADLINE_MS + 2, drop).0.news.is_empty(), "it is said once");
        store.say("bob", &Parcel { from: GolemId([8; 16]), ..word(1, News::Death, &[]) }, 5, drop);
        let mut other = Mailbox::new(Arc::clone(&store.clade), [2; 16]);
        for (place, envelope) in (1..).zip(sent(&store, 9)) {
            other.take(place, &envelope, 10_000);
        }
        let receipt = other.receipt(10_000).unwrap();
        store.take(&[(1, receipt.bytes())], 10_001, drop);
        store.archived(GolemId([8; 16]), true, 10_002, drop);
        let (told, _) = store.settle(10_003, drop);
        assert!(told.news[0].1.contains("bob's death and what it knew are in 2 other places"), "{:?}", told.news);
    }
}
