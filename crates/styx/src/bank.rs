//! What a home remembers of the river: what its golems have said and nobody has confirmed yet, and how far it has heard
//! everybody else. It decides and keeps nothing itself: whatever changes is given back as rows, to be made durable before
//! anything is sent or believed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use golem::GolemId;
use serde::{Deserialize, Serialize};

use crate::chain::{Chain, Place};
use crate::envelope::{Class, Envelope, Flaw, Hash, Header, Speaker};
use crate::key::{Clade, Owner};

/// What a word is good for.
const EXPIRES_MS: u64 = 7 * 86_400_000;
/// Whoever has not confirmed a word after so long is told it again.
const AGAIN_MS: u64 = 30_000;
/// After twice as long it is told once more, and so on up to once in so long.
const HOURLY_MS: u64 = 3_600_000;
/// Two receipts are so far apart.
const RECEIPT_MS: u64 = 5_000;
/// Words of one speaker that wait for those before them.
const HELD: usize = 1_024;
/// A home of which nothing was heard for so long is not waited for.
const GONE_MS: u64 = EXPIRES_MS;
/// What somebody new said first is waited for so long.
const GRACE_MS: u64 = 600_000;
/// The one who speaks for a home itself.
const HOME: GolemId = GolemId([0; 16]);

/// A row to be written, or to be taken out.
pub type Row = (Vec<u8>, Option<Vec<u8>>);

#[derive(Debug)]
pub struct Bank {
    clade: Arc<Clade>,
    home: [u8; 16],
    /// Of each that speaks here: its newest word, that word's hash, and which of its own words that was.
    heads: BTreeMap<GolemId, (u64, Hash, u64)>,
    outbox: BTreeMap<(GolemId, u64), Waiting>,
    heard: BTreeMap<Speaker, Chain>,
    /// Words that have come before their time, and since when there are any.
    early: BTreeMap<Speaker, (BTreeMap<u64, Envelope>, u64)>,
    /// The oldest word that a speaker can still say again, where some before it were not heard.
    floors: BTreeMap<Speaker, u64>,
    /// Of each home elsewhere: how far it has heard whom here.
    confirmed: BTreeMap<[u8; 16], Confirmed>,
    /// How far the relay has been read.
    pub place: u64,
    /// Something was heard that has not been confirmed.
    owes_receipt: bool,
    receipt_ms: u64,
}

/// What a home elsewhere has said that it has heard.
#[derive(Debug)]
struct Confirmed {
    heard: BTreeMap<GolemId, u64>,
    /// Receipts say how things stand, so only the newest counts, and none is waited for.
    number: u64,
    at_ms: u64,
}

#[derive(Debug)]
struct Waiting {
    envelope: Envelope,
    /// When it was sent last, and how often.
    sent_ms: u64,
    tries: u32,
    /// A relay has said that it keeps it.
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

/// What became of something that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Words that are heard now, in order.
    Words(Vec<Word>),
    /// It waits for others that come before it.
    Early,
    /// It was heard before, or is one's own.
    Known,
    /// It is not one of ours, or not what was written.
    Flawed(Flaw),
    /// There are two words of one number.
    Forked(Speaker),
}

/// What somebody elsewhere said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub speaker: Speaker,
    pub class: Class,
    pub number: u64,
    pub text: Vec<u8>,
    /// It is too old to be of use.
    pub stale: bool,
    /// What it said before was never heard here.
    pub late: bool,
}

/// How things stand at a home.
#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    /// How far it has heard others: home, golem, number.
    heard: Vec<([u8; 16], [u8; 16], u64)>,
    /// From which number on it can say again what its own golems said.
    floors: Vec<([u8; 16], u64)>,
}

impl Bank {
    pub fn new(clade: Arc<Clade>, home: [u8; 16]) -> Bank {
        Bank {
            clade,
            home,
            heads: BTreeMap::new(),
            outbox: BTreeMap::new(),
            heard: BTreeMap::new(),
            early: BTreeMap::new(),
            floors: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            place: 0,
            // Others wait for those they know of, so it says that it is there.
            owes_receipt: true,
            receipt_ms: 0,
        }
    }

    /// As its rows have it. Rows that cannot be read are left out; what they said will be heard again.
    pub fn of(clade: Arc<Clade>, home: [u8; 16], rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Bank {
        let mut bank = Bank::new(clade, home);
        for (key, value) in rows {
            bank.read(&key, &value);
        }
        bank
    }

    fn read(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        match (key.split_first()?, value) {
            ((b'h', golem), value) => {
                let (number, hash, own) = postcard::from_bytes(value).ok()?;
                self.heads.insert(GolemId(golem.try_into().ok()?), (number, hash, own));
            }
            ((b'o', _), value) => {
                let envelope = Envelope::read(value).ok()?;
                let Header { speaker, number, .. } = envelope.header;
                self.outbox.insert((speaker.golem, number), Waiting::new(envelope));
            }
            ((b'c', speaker), value) => {
                let (number, hash) = postcard::from_bytes(value).ok()?;
                self.heard.insert(read_speaker(speaker)?, Chain::at(number, hash));
            }
            // How far it had heard it says again; that it is there must not be forgotten.
            ((b'k', home), value) => {
                let at_ms = u64::from_le_bytes(value.try_into().ok()?);
                let known = Confirmed { heard: BTreeMap::new(), number: 0, at_ms };
                self.confirmed.insert(home.try_into().ok()?, known);
            }
            ((b'f', speaker), value) => {
                let floor = u64::from_le_bytes(value.try_into().ok()?);
                self.floors.insert(read_speaker(speaker)?, floor);
            }
            ((b'p', _), value) => self.place = u64::from_le_bytes(value.try_into().ok()?),
            _ => return None,
        }
        Some(())
    }

    /// A golem's own word, once: the same again is nothing new. It may be sent when the rows are durable.
    pub fn say(&mut self, golem: GolemId, class: Class, own: u64, text: &[u8], now_ms: u64) -> Vec<Row> {
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

    /// What is to be sent now: what never was, and what somebody should have confirmed by now; at most so much. Whether it was
    /// taken by a relay before stands beside it.
    pub fn due(&mut self, now_ms: u64, most: usize) -> Vec<(Envelope, bool)> {
        let mut due: Vec<&mut Waiting> = self.outbox.values_mut().filter(|waiting| waiting.is_due(now_ms)).collect();
        // What was never sent goes first, and each speaker's words in their order.
        due.sort_by_key(|waiting| waiting.tries);
        let send = |one: &mut Waiting| {
            (one.sent_ms, one.tries) = (now_ms, one.tries + 1);
            (one.envelope.clone(), one.taken)
        };
        due.into_iter().take(most).map(send).collect()
    }

    /// A relay keeps this one.
    pub fn taken(&mut self, golem: GolemId, number: u64) {
        if let Some(waiting) = self.outbox.get_mut(&(golem, number)) {
            waiting.taken = true;
        }
    }

    /// The relay hung up: whatever it has not taken is to be sent again.
    pub fn unsent(&mut self) {
        self.outbox.values_mut().filter(|waiting| !waiting.taken).for_each(|waiting| waiting.tries = 0);
    }

    pub fn waiting(&self) -> usize {
        self.outbox.len()
    }

    /// Something has come, from this place of the relay's. What is heard may be believed when the rows are durable.
    pub fn take(&mut self, place: u64, bytes: &[u8], now_ms: u64) -> (Came, Vec<Row>) {
        let mut rows = Vec::new();
        if place > self.place {
            self.place = place;
            rows.push((vec![b'p'], Some(place.to_le_bytes().to_vec())));
        }
        let came = match Envelope::read(bytes).and_then(|word| word.open(&self.clade).map(|_| word)) {
            Ok(word) if word.header.speaker.home == self.home => Came::Known,
            Ok(word) => self.hear(word, now_ms, &mut rows),
            Err(flaw) => Came::Flawed(flaw),
        };
        (came, rows)
    }

    fn hear(&mut self, word: Envelope, now_ms: u64, rows: &mut Vec<Row>) -> Came {
        let speaker = word.header.speaker;
        if word.header.class == Class::Receipt {
            let words = self.confirm(&word, now_ms, rows);
            return if words.is_empty() { Came::Known } else { Came::Words(words) };
        }
        let chain = self.heard.entry(speaker).or_default();
        match chain.place(&word) {
            Place::Repeat | Place::Old => {
                // Whoever says it again has not heard that it was heard.
                self.owes_receipt = true;
                return Came::Known;
            }
            Place::Fork => {
                chain.hear(&word);
                return Came::Forked(speaker);
            }
            // Of somebody new the first that comes need not be the first that was said.
            Place::Gap { .. } | Place::Late => {
                let (early, _) = self.early.entry(speaker).or_insert_with(|| (BTreeMap::new(), now_ms));
                if early.len() < HELD {
                    early.insert(word.header.number, word);
                }
                // Whoever says this must hear how far it was understood.
                self.owes_receipt = true;
                let words = self.pass_over(speaker, now_ms, rows);
                return if words.is_empty() { Came::Early } else { Came::Words(words) };
            }
            Place::Next => {}
        }
        Came::Words(self.hear_on(word, now_ms, rows))
    }

    /// Hears on behind what a speaker said that it can say again no more.
    fn pass_over(&mut self, speaker: Speaker, now_ms: u64, rows: &mut Vec<Row>) -> Vec<Word> {
        let Some(floor) = self.floors.get(&speaker).copied() else { return Vec::new() };
        let heard = self.heard.get(&speaker).map_or(0, |chain| chain.number);
        if heard + 1 >= floor {
            self.floors.remove(&speaker);
            rows.push((floor_key(speaker), None));
            return Vec::new();
        }
        let Some((early, _)) = self.early.get_mut(&speaker) else { return Vec::new() };
        match early.first_key_value() {
            // What lies between the floor and this one is still to come.
            Some((first, _)) if *first <= floor => {
                let (_, first) = early.pop_first().expect("it has just been looked at");
                self.hear_on(first, now_ms, rows)
            }
            _ => Vec::new(),
        }
    }

    /// What is too old to be said again is let go of. And what somebody new said before its first word that came is not coming
    /// any more if its home is silent: it is heard from there.
    pub fn settle(&mut self, now_ms: u64) -> (Vec<Word>, Vec<Row>) {
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

    /// Hears a word, and those that have waited for it.
    fn hear_on(&mut self, word: Envelope, now_ms: u64, rows: &mut Vec<Row>) -> Vec<Word> {
        let speaker = word.header.speaker;
        let (mut words, mut next) = (Vec::new(), Some(word));
        while let Some(word) = next {
            let chain = self.heard.entry(speaker).or_default();
            let late = match chain.hear(&word) {
                Place::Next => false,
                Place::Late => true,
                // Only the first of them can be behind a gap, which somebody has looked at.
                Place::Gap { .. } => {
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

    /// How far everybody has been heard, if anybody is to be told. It says how things stand, so it is sent once: the next one
    /// says all of it again.
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

    /// A home elsewhere has heard so far. What every home that is there has heard is let go of; what one should have heard and
    /// has not is told again. What it can say no more is not waited for any longer.
    fn confirm(&mut self, receipt: &Envelope, now_ms: u64, rows: &mut Vec<Row>) -> Vec<Word> {
        let (home, number) = (receipt.header.speaker.home, receipt.header.number);
        let text = receipt.open(&self.clade).unwrap_or_default();
        let Ok(Receipt { heard, floors }) = postcard::from_bytes(&text) else { return Vec::new() };
        match self.confirmed.get(&home) {
            Some(known) if known.number >= number => return Vec::new(),
            Some(_) => {}
            // Somebody new must hear how things stand here.
            None => self.owes_receipt = true,
        }
        let own = heard.into_iter().filter(|(of, ..)| *of == self.home);
        let own: BTreeMap<GolemId, u64> = own.map(|(_, golem, number)| (GolemId(golem), number)).collect();
        // What it should have heard by now and has not is told again at once.
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

    /// A home has said from where on it can say its golems' words again.
    fn hear_from(
        &mut self,
        home: [u8; 16],
        floors: Vec<([u8; 16], u64)>,
        now_ms: u64,
        rows: &mut Vec<Row>,
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

    /// What a golem has said is in the archive, up to now. If there is no other home to confirm it, that will do.
    pub fn archived(&mut self, golem: GolemId) -> Vec<Row> {
        let mut rows = Vec::new();
        if self.confirmed.is_empty() {
            let done = self.outbox.range((golem, 0)..=(golem, u64::MAX)).map(|(key, _)| *key);
            let done: Vec<_> = done.collect();
            self.let_go(done, &mut rows);
        }
        rows
    }

    /// Some that not everybody has confirmed are not said again. Whoever waits for them must hear of it.
    fn let_go(&mut self, done: Vec<(GolemId, u64)>, rows: &mut Vec<Row>) {
        for key in done {
            self.outbox.remove(&key);
            rows.push((out_key(key.0, key.1), None));
            self.owes_receipt = true;
        }
    }

    /// How many homes have confirmed everything that this golem has said.
    pub fn confirmed_by(&self, golem: GolemId) -> usize {
        let Some((newest, ..)) = self.heads.get(&golem) else { return 0 };
        self.confirmed.values().filter(|home| home.heard.get(&golem).is_some_and(|heard| heard >= newest)).count()
    }

    /// Which of its own words a golem has said last on the river.
    pub fn said(&self, golem: GolemId) -> u64 {
        self.heads.get(&golem).map_or(0, |(_, _, own)| *own)
    }

    /// Homes elsewhere, and when each was last heard of.
    pub fn homes(&self) -> impl Iterator<Item = ([u8; 16], u64)> + '_ {
        self.confirmed.iter().map(|(home, known)| (*home, known.at_ms))
    }

    /// Words that wait for others before them.
    pub fn held(&self) -> usize {
        self.early.values().map(|(early, _)| early.len()).sum()
    }

    /// How far each elsewhere has been heard.
    pub fn heads(&self) -> impl Iterator<Item = (Speaker, u64, Option<u64>)> + '_ {
        self.heard.iter().map(|(speaker, chain)| (*speaker, chain.number, chain.forked))
    }
}

fn head_key(golem: GolemId) -> Vec<u8> {
    [b"h".as_slice(), &golem.0].concat()
}

fn out_key(golem: GolemId, number: u64) -> Vec<u8> {
    [b"o".as_slice(), &golem.0, &number.to_be_bytes()].concat()
}

fn known_key(home: [u8; 16]) -> Vec<u8> {
    [b"k".as_slice(), &home].concat()
}

fn floor_key(speaker: Speaker) -> Vec<u8> {
    [b"f".as_slice(), &speaker.home, &speaker.golem.0].concat()
}

fn read_speaker(bytes: &[u8]) -> Option<Speaker> {
    let (home, golem) = bytes.split_at_checked(16)?;
    Some(Speaker { home: home.try_into().ok()?, golem: GolemId(golem.try_into().ok()?) })
}

fn heard_key(speaker: Speaker) -> Vec<u8> {
    [b"c".as_slice(), &speaker.home, &speaker.golem.0].concat()
}
