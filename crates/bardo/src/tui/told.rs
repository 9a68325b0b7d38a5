//! What a host tells, as it comes over the wire, and what it can be asked. The types are the host's own, so what it
//! sends is what is read.

use golem::thanatopsis::Testament;
use golem::wire::Gravity;
use serde::Deserialize;
use serde_json::{Value, json};
use shell::life::heirs::Offer;
use shell::life::heirs::Relative;
use shell::river::Report;
use shell::view::known::Hit;
use shell::view::nights::Nights;
use shell::view::saying::Topic;
use shell::view::seen::Seen;
use shell::view::status::Status;

/// News from the host, or from the attempt to reach it.
#[derive(Debug)]
pub(crate) enum HostNews {
    /// The host cannot be reached, and why.
    Away(String),
    Golems(Vec<Status>),
    One(String, Box<Seen>),
    Memory(String, Vec<Hit>),
    Nights(String, Nights),
    Testament(String, Option<Box<Testament>>),
    Family(String, Vec<Relative>),
    /// How it stands with golems elsewhere, if this home is of a clade.
    Clade(Option<Box<Report>>),
    Estate(String, Result<Box<Offer>, String>),
    /// An event of one golem.
    Heard(StreamMessage),
    /// Something happened to the one that is followed, routine included.
    Followed(StreamMessage),
    /// The result of an order, or why it failed.
    Answered(String),
    Born(String),
}

/// Requests to the host. Reading is repeated; an order is given once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HostRequest {
    Golems,
    One(String),
    Memory {
        name: String,
        query: String,
    },
    Nights(String),
    Testament(String),
    Family(String),
    Clade,
    Estate(String),
    /// All that happens to this one, from this record on.
    Follow {
        name: String,
        after: u64,
    },
    Order(String, OwnerOrder),
    /// An order to every golem at once.
    OrderAll(OwnerOrder),
    /// A question from the owner to a golem.
    Question {
        name: String,
        text: String,
    },
    Succeed {
        dead: String,
        wish: Value,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerOrder {
    Freeze,
    Pause,
    Resume,
    /// Yes or no to what it asks under this key.
    Answer {
        key: u64,
        yes: bool,
    },
}

impl OwnerOrder {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            OwnerOrder::Freeze => "freeze",
            OwnerOrder::Pause => "pause",
            OwnerOrder::Resume => "resume",
            OwnerOrder::Answer { .. } => "approve",
        }
    }

    /// Enter for an answer, y for the rest.
    pub(crate) fn is_confirmed_by(self, enter: bool, yes: bool) -> bool {
        if matches!(self, OwnerOrder::Answer { .. }) { enter } else { yes }
    }

    /// The body of the request to the host.
    pub(crate) fn body(self) -> Value {
        match self {
            OwnerOrder::Answer { key, yes } => json!({ "key": key, "yes": yes }),
            _ => json!({}),
        }
    }

    /// The meaning of an order, shown before it is confirmed.
    pub(crate) fn means(self) -> &'static str {
        match self {
            OwnerOrder::Freeze => "It may take up no new exposure until it is resumed.",
            OwnerOrder::Pause => "World time and its clocks stop until it is resumed.",
            OwnerOrder::Resume => "It goes on: neither paused nor frozen.",
            OwnerOrder::Answer { yes: true, .. } => "It acts if its policy still allows it by then.",
            OwnerOrder::Answer { yes: false, .. } => "It leaves it, and does not ask again at once.",
        }
    }

    pub(crate) fn means_for_all(self) -> &'static str {
        match self {
            OwnerOrder::Freeze => "None of them may take up new exposure until resumed.",
            OwnerOrder::Pause => "World time and clocks of all of them stop until resumed.",
            _ => "All of them go on: neither paused nor frozen.",
        }
    }

    pub(crate) fn done(self) -> &'static str {
        match self {
            OwnerOrder::Freeze => "is frozen: no new exposure",
            OwnerOrder::Pause => "is paused; its clocks stand still",
            OwnerOrder::Resume => "goes on: neither paused nor frozen",
            OwnerOrder::Answer { yes: true, .. } => "has your yes; it acts if its policy still allows it",
            OwnerOrder::Answer { yes: false, .. } => "has your no",
        }
    }
}

/// One message of a stream.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StreamMessage {
    /// Absent from the stream of one golem.
    #[serde(default)]
    pub(crate) golem: String,
    pub(crate) tick: u64,
    pub(crate) at: u64,
    /// The host's words for it.
    pub(crate) says: String,
    pub(crate) topic: Topic,
    /// Whether the event would crowd out what the golem did: it comes every tick, leads up to an action, or says how it feels.
    pub(crate) routine: bool,
    pub(crate) gravity: Gravity,
    pub(crate) event: String,
    #[serde(flatten)]
    pub(crate) rest: Value,
}

impl StreamMessage {
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.rest[key].as_f64().unwrap_or_default()
    }
}
