//! The narrator tells the outside what has been acknowledged, under the documents' names.
//!
//! It lives the acknowledged records again on a copy of its own, so what it says of each event is true of
//! that very moment, live or years later from the journal.

use golem::wire::{Gravity, Message, besides, message};
use golem::{Event, Golem, Life, Record};
use serde::{Serialize, Serializer};
use vault::Reader;

use super::saying::{Topic, sentence};
use crate::Error;

#[derive(Debug)]
pub struct Narrator {
    golem: Option<Golem>,
}

/// A message with its place in the life.
#[derive(Debug)]
pub struct Told<'a> {
    pub seq: u64,
    pub at: golem::Time,
    pub tick: u64,
    pub message: Message<'a>,
}

/// The message as it goes out, with its sentence, so that no client has to find one. The sentence is made only when it
/// is written.
impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            seq: u64,
            at: golem::Time,
            tick: u64,
            says: String,
            topic: Topic,
            /// True of a message that comes every tick, leads up to an action, or says how the golem feels.
            routine: bool,
            gravity: Gravity,
            #[serde(flatten)]
            message: &'a Message<'a>,
        }
        let Told { seq, at, tick, message } = self;
        let (says, topic, gravity) = (sentence(message), Topic::of(message), message.gravity());
        let routine = message.is_routine();
        Written { seq: *seq, at: *at, tick: *tick, says, topic, routine, gravity, message }.serialize(serializer)
    }
}

impl Narrator {
    /// Begins before the birth.
    pub fn new() -> Narrator {
        Narrator { golem: None }
    }

    /// Begins where a reader does: before the birth, or after what has been archived and is not here.
    pub fn before(reader: &Reader) -> Result<Narrator, Error> {
        Ok(Narrator { golem: reader.beginning()? })
    }

    /// Begins after the newest record of a life that is awake.
    pub fn following(golem: &Golem) -> Narrator {
        Narrator { golem: Some(golem.clone()) }
    }

    /// Begins after the newest record of this golem, which is given away for it.
    pub fn after(golem: Golem) -> Narrator {
        Narrator { golem: Some(golem) }
    }

    pub fn life(&self) -> Option<&Life> {
        self.golem.as_ref().map(Golem::life)
    }

    pub fn tell(&mut self, record: &Record, mut each: impl FnMut(Told<'_>)) -> Result<(), Error> {
        let mut say = |event: &Event, life: &Life| self::each(event, life, record.seq, &mut each);
        let folded = match &mut self.golem {
            Some(golem) => golem.fold_with(record, say),
            None => Golem::reborn(record).map(|golem| {
                for event in &record.events {
                    say(event, golem.life());
                }
                self.golem = Some(golem);
            }),
        };
        folded.map_err(|e| Error::Damaged(format!("record {} cannot be read: {e}; see `bardo doctor`", record.seq)))
    }
}

/// Everything to be told of an event that has just left this life behind.
pub(crate) fn each(event: &Event, life: &Life, seq: u64, mut tell: impl FnMut(Told<'_>)) {
    for message in message(event, life).into_iter().chain(besides(event, life)) {
        tell(Told { seq, at: life.now(), tick: life.tick(), message });
    }
}

impl Default for Narrator {
    fn default() -> Self {
        Narrator::new()
    }
}
