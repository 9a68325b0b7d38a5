//! The mailbox, a home's state of the river: messages of its golems that other homes have not confirmed yet, and how far
//! it has heard every other speaker. It stores nothing itself: all changes are returned as rows, to be made durable
//! before anything is sent or believed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use golem::GolemId;
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, ChainPlace};
use crate::envelope::{Class, Envelope, Flaw, Hash, Header, Speaker};
use crate::key::{Clade, Owner};
use crate::keys::RowKind;

/// How long a word is of use.
const EXPIRES_MS: u64 = 7 * 86_400_000;
/// How long until a word that was not confirmed is sent again.
const AGAIN_MS: u64 = 30_000;
/// The longest pause between two attempts; each pause is twice the one before.
const HOURLY_MS: u64 = 3_600_000;
/// The least time between two receipts.
const RECEIPT_MS: u64 = 5_000;
/// The most words of one speaker that can wait for earlier ones.
const HELD: usize = 1_024;
/// How long a silent home is waited for.
const GONE_MS: u64 = EXPIRES_MS;
/// How long the first words of a new speaker are waited for.
const GRACE_MS: u64 = 600_000;
/// The speaker for the home itself, which sends the receipts.
const HOME: GolemId = GolemId([0; 16]);

/// A row to be written, or removed if it has no value.
pub type RowChange = (Vec<u8>, Option<Vec<u8>>);

#[derive(Debug)]
pub struct Mailbox {
    clade: Arc<Clade>,
    home: [u8; 16],
    /// For each speaker of this home: its newest word, that word's hash, and which of the golem's own words it was.
    heads: BTreeMap<GolemId, (u64, Hash, u64)>,
    outbox: BTreeMap<(GolemId, u64), Waiting>,
    heard: BTreeMap<Speaker, Chain>,
    /// Words that came before their turn, and since when there are any.
    early: BTreeMap<Speaker, (BTreeMap<u64, Envelope>, u64)>,
    /// The oldest word that a speaker can still send again, where earlier ones were not heard.
    floors: BTreeMap<Speaker, u64>,
    /// For each other home: how far it has heard the speakers of this one.
    confirmed: BTreeMap<[u8; 16], Confirmed>,
    /// How far the relay has been read.
    pub place: u64,
    /// Whether something was heard that has not been confirmed.
    owes_receipt: bool,
    receipt_ms: u64,
}

/// The newest receipt of another home.
#[derive(Debug)]
struct Confirmed {
    heard: BTreeMap<GolemId, u64>,
    /// The receipt's number: each receipt has the whole state, so only the newest counts, and none is waited for.
    number: u64,
    at_ms: u64,
}

#[derive(Debug)]
struct Waiting {
    envelope: Envelope,
    /// When the word was last sent; `tries` says how often.
    sent_ms: u64,
    tries: u32,
    /// A relay has confirmed that it stored the word.
    taken: bool,
}

impl Waiting {
    fn new(envelope: Envelope) -> Waiting {
        Waiting { envelope, sent_ms: 0, tries: 0, taken: false }
    }

    fn is_due(&self, now_ms: u64) -> bool {
        let waits = if self.tries == 0 { 0 } else { (AGAIN_MS << (self.tries - 1).min(7)).min(HOURLY_MS) };
        now_ms >= self.sent_ms + waits
    }
}

/// The outcome of an envelope that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Words that can be heard now, in order.
    Words(Vec<Word>),
    /// The word waits for earlier ones.
    Early,
    /// The word was heard before, or is this home's own.
    Known,
    /// The envelope is another clade's, or was changed.
    Flawed(Flaw),
    /// The speaker has said two words of one number.
    Forked(Speaker),
}

/// A word of a speaker in another home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub speaker: Speaker,
    pub class: Class,
    pub number: u64,
    pub text: Vec<u8>,
    /// The word is too old to be of use.
    pub stale: bool,
    /// Earlier words of this speaker were never heard here.
    pub late: bool,
}

/// The state of a home, as it tells the others.
#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    /// How far the home has heard others: home, golem, number.
    heard: Vec<([u8; 16], [u8; 16], u64)>,
    /// The oldest word of each of its own golems that it can still send again.
    floors: Vec<([u8; 16], u64)>,
}

impl Mailbox {
    pub fn new(clade: Arc<Clade>, home: [u8; 16]) -> Mailbox {
        Mailbox {
            clade,
            home,
            heads: BTreeMap::new(),
            outbox: BTreeMap::new(),
            heard: BTreeMap::new(),
            early: BTreeMap::new(),
            floors: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            place: 0,
            // Others wait for the homes they know of, so a new one announces itself.
            owes_receipt: true,
            receipt_ms: 0,
        }
    }

    /// Restores a mailbox from its rows. Rows that cannot be read are left out; their content will be heard again.
    pub fn of(clade: Arc<Clade>, home: [u8; 16], rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Mailbox {
        let mut mailbox = Mailbox::new(clade, home);
        for (key, value) in rows {
            mailbox.read(&key, &value);
        }
        mailbox
    }

    fn read(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        match (RowKind::of(key)?, value) {
            ((RowKind::Head, golem), value) => {
                let (number, hash, own) = postcard::from_bytes(value).ok()?;
                self.heads.insert(GolemId(golem.try_into().ok()?), (number, hash, own));
            }
            ((RowKind::Outbox, _), value) => {
                let envelope = Envelope::read(value).ok()?;
                let Header { speaker, number, .. } = envelope.header;
                self.outbox.insert((speaker.golem, number), Waiting::new(envelope));
            }
            ((RowKind::Heard, speaker), value) => {
                let (number, hash) = postcard::from_bytes(value).ok()?;
                self.heard.insert(read_speaker(speaker)?, Chain::at(number, hash));
            }
            // The home will say again how far it has heard; that it exists must not be forgotten.
            ((RowKind::Known, home), value) => {
                let at_ms = u64::from_le_bytes(value.try_into().ok()?);
                let known = Confirmed { heard: BTreeMap::new(), number: 0, at_ms };
                self.confirmed.insert(home.try_into().ok()?, known);
            }
            ((RowKind::Floor, speaker), value) => {
                let floor = u64::from_le_bytes(value.try_into().ok()?);
                self.floors.insert(read_speaker(speaker)?, floor);
            }
            ((RowKind::Place, _), value) => self.place = u64::from_le_bytes(value.try_into().ok()?),
            // Rows of the home itself.
            ((RowKind::Home | RowKind::Inward | RowKind::Name | RowKind::Death | RowKind::State, _), _) => return None,
        }
        Some(())
    }

    /// Queues a golem's own word, once: the same word again changes nothing. It may be sent when the rows are durable.
    pub fn say(&mut self, golem: GolemId, class: Class, own: u64, text: &[u8], now_ms: u64) -> Vec<RowChange> {
        let (number, before, last) = self.heads.get(&golem).copied().unwrap_or_default();
        if own <= last {
            return Vec::new();
        }
        let speaker = Speaker { home: self.home, golem };
        let (number, expires) = (number + 1, now_ms + EXPIRES_MS);
        let header = Header { class, owner: Owner([0; 32]), speaker, number, before, made: now_ms, expires };
        let envelope = Envelope::seal(&self.clade, header, text);
        let head = (number, envelope.hash(), own);
        let kept = postcard::to_stdvec(&head).expect("a head is plain data");
        let rows = vec![(head_key(golem), Some(kept)), (out_key(golem, number), Some(envelope.bytes().to_vec()))];
        self.heads.insert(golem, head);
        self.outbox.insert((golem, number), Waiting::new(envelope));
        rows
    }

    /// Words to be sent now, at most so many: new ones, and those that are overdue for confirmation; each with whether
    /// a relay has stored it before.
    pub fn due(&mut self, now_ms: u64, most: usize) -> Vec<(Envelope, bool)> {
        let mut due: Vec<&mut Waiting> = self.outbox.values_mut().filter(|waiting| waiting.is_due(now_ms)).collect();
        // New words go first, and each speaker's words in their order.
        due.sort_by_key(|waiting| waiting.tries);
        let send = |one: &mut Waiting| {
            (one.sent_ms, one.tries) = (now_ms, one.tries + 1);
            (one.envelope.clone(), one.taken)
        };
        due.into_iter().take(most).map(send).collect()
    }

    /// Notes that a relay has stored this word.
    pub fn taken(&mut self, golem: GolemId, number: u64) {
        if let Some(waiting) = self.outbox.get_mut(&(golem, number)) {
            waiting.taken = true;
        }
    }

    /// After a lost connection: words that the relay has not stored are to be sent again.
    pub fn unsent(&mut self) {
        self.outbox.values_mut().filter(|waiting| !waiting.taken).for_each(|waiting| waiting.tries = 0);
    }

    pub fn waiting(&self) -> usize {
        self.outbox.len()
    }

    /// Takes in an envelope from this place of the relay. Its words may be believed when the rows are durable.
    pub fn take(&mut self, place: u64, bytes: &[u8], now_ms: u64) -> (Came, Vec<RowChange>) {
        let mut rows = Vec::new();
        if place > self.place {
            self.place = place;
            rows.push((RowKind::Place.key(&[]), Some(place.to_le_bytes().to_vec())));
        }
        let came = match Envelope::read(bytes).and_then(|word| word.open(&self.clade).map(|_| word)) {
            Ok(word) if word.header.speaker.home == self.home => Came::Known,
            Ok(word) => self.hear(word, now_ms, &mut rows),
            Err(flaw) => Came::Flawed(flaw),
        };
        (came, rows)
    }

    fn hear(&mut self, word: Envelope, now_ms: u64, rows: &mut Vec<RowChange>) -> Came {
        let speaker = word.header.speaker;
        if word.header.class == Class::Receipt {
            let words = self.confirm(&word, now_ms, rows);
            return if words.is_empty() { Came::Known } else { Came::Words(words) };
        }
        let chain = self.heard.entry(speaker).or_default();
        match chain.place(&word) {
            ChainPlace::Repeat | ChainPlace::Old => {
                // A speaker that repeats a word has not had the receipt for it.
                self.owes_receipt = true;
                return Came::Known;
            }
            ChainPlace::Fork => {
                chain.hear(&word);
                return Came::Forked(speaker);
            }
            // The first word that comes of a new speaker need not be the first that was said.
            ChainPlace::Gap { .. } | ChainPlace::Late => {
                let (early, _) = self.early.entry(speaker).or_insert_with(|| (BTreeMap::new(), now_ms));
                if early.len() < HELD {
                    early.insert(word.header.number, word);
                }
                // The speaker must learn how far it was heard.
                self.owes_receipt = true;
                let words = self.pass_over(speaker, now_ms, rows);
                return if words.is_empty() { Came::Early } else { Came::Words(words) };
            }
            ChainPlace::Next => {}
        }
        Came::Words(self.hear_on(word, now_ms, rows))
    }

    /// Hears on after words of a speaker that it cannot send again any more.
    fn pass_over(&mut self, speaker: Speaker, now_ms: u64, rows: &mut Vec<RowChange>) -> Vec<Word> {
        let Some(floor) = self.floors.get(&speaker).copied() else { return Vec::new() };
        let heard = self.heard.get(&speaker).map_or(0, |chain| chain.number);
        if heard + 1 >= floor {
            self.floors.remove(&speaker);
            rows.push((floor_key(speaker), None));
            return Vec::new();
        }
        let Some((early, _)) = self.early.get_mut(&speaker) else { return Vec::new() };
        match early.first_key_value() {
            // Words between the floor and this one are still to come.
            Some((first, _)) if *first <= floor => {
                let (_, first) = early.pop_first().expect("it has just been looked at");
                self.hear_on(first, now_ms, rows)
            }
            _ => Vec::new(),
        }
    }

    /// Drops words that are too old to be sent again. Also gives up on the earlier words of a new speaker whose home
    /// stays silent: it is heard from the first word that came.
    pub fn settle(&mut self, now_ms: u64) -> (Vec<Word>, Vec<RowChange>) {
        let old = |waiting: &Waiting| waiting.envelope.header.expires < now_ms;
        let old: Vec<_> = self.outbox.iter().filter(|(_, waiting)| old(waiting)).map(|(key, _)| *key).collect();
        let (mut words, mut rows) = (Vec::new(), Vec::new());
        self.let_go(old, &mut rows);
        let unheard = |speaker: &Speaker| self.heard.get(speaker).is_none_or(|chain| chain.number == 0);
        let waited = |since: u64| now_ms >= since + GRACE_MS;
        let late = self.early.iter().filter(|(speaker, (_, since))| unheard(speaker) && waited(*since));
        let late: Vec<Speaker> = late.map(|(speaker, _)| *speaker).collect();
        for speaker in late {
            if let Some((_, first)) = self.early.get_mut(&speaker).and_then(|(early, _)| early.pop_first()) {
                words.extend(self.hear_on(first, now_ms, &mut rows));
            }
        }
        (words, rows)
    }

    /// Hears a word, and the ones that have waited for it.
    fn hear_on(&mut self, word: Envelope, now_ms: u64, rows: &mut Vec<RowChange>) -> Vec<Word> {
        let speaker = word.header.speaker;
        let (mut words, mut next) = (Vec::new(), Some(word));
        while let Some(word) = next {
            let chain = self.heard.entry(speaker).or_default();
            let late = match chain.hear(&word) {
                ChainPlace::Next => false,
                ChainPlace::Late => true,
                // Only the first word can come after a gap, which the caller has checked.
                ChainPlace::Gap { .. } => {
                    chain.pass_over_to(&word);
                    true
                }
                _ => break,
            };
            let (number, hash) = (chain.number, chain.hash);
            let Ok(text) = word.open(&self.clade) else { break };
            let kept = postcard::to_stdvec(&(number, hash)).expect("a head is plain data");
            rows.push((heard_key(speaker), Some(kept)));
            self.owes_receipt = true;
            let (class, stale) = (word.header.class, word.header.expires < now_ms);
            words.push(Word { speaker, class, number, text, stale, late });
            next = self.early.get_mut(&speaker).and_then(|(early, _)| early.remove(&(number + 1)));
        }
        words
    }

    /// The receipt that says how far each speaker has been heard, if one is due. It has the whole state, so it is sent
    /// once: the next one says all of it again.
    pub fn receipt(&mut self, now_ms: u64) -> Option<Envelope> {
        if !self.owes_receipt || now_ms < self.receipt_ms + RECEIPT_MS {
            return None;
        }
        (self.owes_receipt, self.receipt_ms) = (false, now_ms);
        let heard = self.heard.iter().map(|(speaker, chain)| (speaker.home, speaker.golem.0, chain.number));
        let floor = |(golem, head): (&GolemId, &(u64, Hash, u64))| {
            let oldest = self.outbox.range((*golem, 0)..=(*golem, u64::MAX)).next();
            (golem.0, oldest.map_or(head.0 + 1, |((_, number), _)| *number))
        };
        let receipt = Receipt { heard: heard.collect(), floors: self.heads.iter().map(floor).collect() };
        let text = postcard::to_stdvec(&receipt).expect("a receipt is plain data");
        let speaker = Speaker { home: self.home, golem: HOME };
        let (number, expires, before) = (now_ms, now_ms + EXPIRES_MS, Hash::default());
        let (class, owner) = (Class::Receipt, Owner([0; 32]));
        let header = Header { class, owner, speaker, number, before, made: now_ms, expires };
        Some(Envelope::seal(&self.clade, header, &text))
    }

    /// Takes in another home's receipt. Words that every known home has heard are dropped; words that this home should
    /// have heard and has not are sent again. Words that it cannot send again are not waited for any longer.
    fn confirm(&mut self, receipt: &Envelope, now_ms: u64, rows: &mut Vec<RowChange>) -> Vec<Word> {
        let (home, number) = (receipt.header.speaker.home, receipt.header.number);
        let text = receipt.open(&self.clade).unwrap_or_default();
        let Ok(Receipt { heard, floors }) = postcard::from_bytes(&text) else { return Vec::new() };
        match self.confirmed.get(&home) {
            Some(known) if known.number >= number => return Vec::new(),
            Some(_) => {}
            // A new home must learn the state of this one.
            None => self.owes_receipt = true,
        }
        let own = heard.into_iter().filter(|(of, ..)| *of == self.home);
        let own: BTreeMap<GolemId, u64> = own.map(|(_, golem, number)| (GolemId(golem), number)).collect();
        // Words it should have heard by now and has not are sent again at once.
        for ((golem, number), waiting) in &mut self.outbox {
            let missed = own.get(golem).is_none_or(|heard| heard < number);
            if missed && waiting.tries > 0 && now_ms >= waiting.sent_ms + AGAIN_MS {
                waiting.tries = 0;
            }
        }
        self.confirmed.insert(home, Confirmed { heard: own, number, at_ms: now_ms });
        rows.push((known_key(home), Some(now_ms.to_le_bytes().to_vec())));
        let gone = self.confirmed.extract_if(.., |_, known| now_ms >= known.at_ms + GONE_MS);
        rows.extend(gone.map(|(home, _)| (known_key(home), None)));
        let by_all = |golem: GolemId| {
            let heard = self.confirmed.values().map(|known| known.heard.get(&golem).copied().unwrap_or(0));
            heard.min().unwrap_or(0)
        };
        let speakers: BTreeSet<GolemId> = self.outbox.keys().map(|(golem, _)| *golem).collect();
        for golem in speakers {
            let heard = by_all(golem);
            let done: Vec<_> = self.outbox.range((golem, 0)..=(golem, heard)).map(|(key, _)| *key).collect();
            for key in done {
                self.outbox.remove(&key);
                rows.push((out_key(key.0, key.1), None));
            }
        }
        self.hear_from(home, floors, now_ms, rows)
    }

    /// Takes in the oldest words that a home can still send again.
    fn hear_from(
        &mut self,
        home: [u8; 16],
        floors: Vec<([u8; 16], u64)>,
        now_ms: u64,
        rows: &mut Vec<RowChange>,
    ) -> Vec<Word> {
        let mut words = Vec::new();
        for (golem, floor) in floors {
            let speaker = Speaker { home, golem: GolemId(golem) };
            let heard = self.heard.get(&speaker).map_or(0, |chain| chain.number);
            if home != self.home && heard + 1 < floor && self.floors.get(&speaker).is_none_or(|known| *known < floor) {
                self.floors.insert(speaker, floor);
                rows.push((floor_key(speaker), Some(floor.to_le_bytes().to_vec())));
                words.extend(self.pass_over(speaker, now_ms, rows));
            }
        }
        words
    }

    /// Notes that everything a golem has said is in the archive. If there is no other home to confirm it, that will do.
    pub fn archived(&mut self, golem: GolemId) -> Vec<RowChange> {
        let mut rows = Vec::new();
        if self.confirmed.is_empty() {
            let done = self.outbox.range((golem, 0)..=(golem, u64::MAX)).map(|(key, _)| *key);
            let done: Vec<_> = done.collect();
            self.let_go(done, &mut rows);
        }
        rows
    }

    /// Drops words that not all homes have confirmed. The homes that wait for them must learn of it.
    fn let_go(&mut self, done: Vec<(GolemId, u64)>, rows: &mut Vec<RowChange>) {
        for key in done {
            self.outbox.remove(&key);
            rows.push((out_key(key.0, key.1), None));
            self.owes_receipt = true;
        }
    }

    /// How many homes have confirmed all words of this golem.
    pub fn confirmed_by(&self, golem: GolemId) -> usize {
        let Some((newest, ..)) = self.heads.get(&golem) else { return 0 };
        self.confirmed.values().filter(|home| home.heard.get(&golem).is_some_and(|heard| heard >= newest)).count()
    }

    /// The number of the golem's own word that was last said on the river.
    pub fn said(&self, golem: GolemId) -> u64 {
        self.heads.get(&golem).map_or(0, |(_, _, own)| *own)
    }

    /// Other homes, and when each was last heard of.
    pub fn homes(&self) -> impl Iterator<Item = ([u8; 16], u64)> + '_ {
        self.confirmed.iter().map(|(home, known)| (*home, known.at_ms))
    }

    /// How many words wait for earlier ones.
    pub fn held(&self) -> usize {
        self.early.values().map(|(early, _)| early.len()).sum()
    }

    /// How far each speaker of other homes has been heard.
    pub fn heads(&self) -> impl Iterator<Item = (Speaker, u64, Option<u64>)> + '_ {
        self.heard.iter().map(|(speaker, chain)| (*speaker, chain.number, chain.forked))
    }
}

fn head_key(golem: GolemId) -> Vec<u8> {
    RowKind::Head.key(&[&golem.0])
}

fn out_key(golem: GolemId, number: u64) -> Vec<u8> {
    RowKind::Outbox.key(&[&golem.0, &number.to_be_bytes()])
}

fn known_key(home: [u8; 16]) -> Vec<u8> {
    RowKind::Known.key(&[&home])
}

fn floor_key(speaker: Speaker) -> Vec<u8> {
    RowKind::Floor.key(&[&speaker.home, &speaker.golem.0])
}

fn read_speaker(bytes: &[u8]) -> Option<Speaker> {
    let (home, golem) = bytes.split_at_checked(16)?;
    Some(Speaker { home: home.try_into().ok()?, golem: GolemId(golem.try_into().ok()?) })
}

fn heard_key(speaker: Speaker) -> Vec<u8> {
    RowKind::Heard.key(&[&speaker.home, &speaker.golem.0])
}
