//! The bytes of a record and of a snapshot.
//!
//! A record is postcard behind a version byte: fields by position, no names, about a quarter of what
//! named fields would take. So that a file still describes itself, each one carries the layout of its
//! records (names and types of every field, by [`layout`]), from which a stranger can read it.

use golem::dream;
use golem::grimoire;
use golem::mortality;
use golem::owner;
use golem::stress;
use golem::{Event, Golem, Life, Record, Time};
use serde::{Deserialize, Serialize};

/// Version of the record encoding. Old versions stay readable for ever.
pub const RECORD: u8 = 1;
/// Version of Life's own layout, which snapshots and state hashes depend on. Changing Life raises it;
/// older snapshots are then passed over and the life is folded again.
pub const LIFE: u16 = 30;

pub(crate) const STATE_EVERY: u64 = 500;

pub type Hash = [u8; 32];

/// The body of a row of the journal; its number stands in a column of its own.
#[derive(Serialize, Deserialize)]
struct Body {
    version: u8,
    at: Time,
    events: Vec<Event>,
    state: Option<StateMark>,
}

/// The hash of the whole Life after a record, every so often, so that a wrong fold is found where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateMark {
    pub layout: u16,
    pub hash: Hash,
}

pub fn encode(record: &Record, state: Option<StateMark>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Borrowed<'a> {
        version: u8,
        at: Time,
        events: &'a [Event],
        state: Option<StateMark>,
    }
    let body = Borrowed { version: RECORD, at: record.at, events: &record.events, state };
    postcard::to_stdvec(&body).expect("a record is always encodable")
}

pub fn decode(seq: u64, bytes: &[u8]) -> Result<(Record, Option<StateMark>), String> {
    match bytes.first() {
        Some(&RECORD) => {
            let (body, left) = postcard::take_from_bytes::<Body>(bytes).map_err(|e| e.to_string())?;
            if !left.is_empty() {
                return Err(format!("{} bytes too many", left.len()));
            }
            Ok((Record { seq, at: body.at, events: body.events }, body.state))
        }
        Some(version) => Err(format!("unknown record version {version}")),
        None => Err("empty".to_owned()),
    }
}

pub fn encode_life(life: &Life) -> Vec<u8> {
    postcard::to_stdvec(life).expect("a life is always encodable")
}

pub fn decode_life(bytes: &[u8], seq: u64) -> Result<Golem, String> {
    let life: Life = postcard::from_bytes(bytes).map_err(|e| e.to_string())?;
    Golem::resume(life, seq).map_err(|e| e.to_string())
}

pub(crate) fn state_mark(seq: u64, life: &Life) -> Option<StateMark> {
    seq.is_multiple_of(STATE_EVERY)
        .then(|| StateMark { layout: LIFE, hash: *blake3::hash(&encode_life(life)).as_bytes() })
}

/// Each record's hash covers its number, its bytes and the hash before it.
pub(crate) fn chain(previous: &Hash, seq: u64, body: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(previous).update(&seq.to_le_bytes()).update(body);
    *hasher.finalize().as_bytes()
}

/// The layout this program writes; worked out once.
pub(crate) fn layout_now() -> &'static str {
    static LAYOUT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    LAYOUT.get_or_init(layout)
}

/// The layout of every type in a record, as JSON: enough to decode a journal without this program.
pub fn layout() -> String {
    use serde_reflection::{Samples, Tracer, TracerConfig};
    let mut tracer = Tracer::new(TracerConfig::default());
    let mut samples = Samples::new();
    // Births and deaths are text with a form of its own; an example of each shows the tracer what it looks like.
    for example in examples() {
        tracer.trace_value(&mut samples, &example).expect("an example has a layout");
    }
    // An enum inside another is traced once per visit; each is named here so that none stays half known.
    macro_rules! whole {
        ($($kind:ty),*) => { $(tracer.trace_type::<$kind>(&samples).expect("every kind has a layout");)* };
    }
    whole!(
        golem::owner::Account,
        golem::mortality::Clock,
        golem::mortality::phase::Phase,
        golem::policy::Refusal,
        golem::policy::Stage,
        golem::heartbeat::State,
        golem::goal::Goal,
        golem::goal::Ended,
        golem::regime::Regime,
        golem::stress::Kind,
        golem::stress::Band,
        golem::clade::News,
        golem::dream::Trigger,
        golem::dream::SleepStage,
        golem::dream::Waker,
        golem::dream::Blocked,
        golem::dream::Fate,
        golem::dream::Origin,
        golem::rule::Is,
        golem::prediction::Voice,
        golem::phage::Fate,
        golem::phage::Venture,
        golem::thought::Held,
        golem::thought::Purpose,
        golem::thought::Silence,
        golem::mortality::phase::Tier,
        golem::call::Unit,
        golem::call::Denied,
        golem::call::How,
        golem::call::Runaway,
        golem::outside::Event,
        golem::owner::Event,
        golem::heartbeat::Event,
        golem::prediction::Event,
        golem::rule::Event,
        golem::policy::Event,
        golem::goal::Event,
        golem::mortality::Event,
        golem::regime::Event,
        golem::episode::Event,
        golem::grimoire::Event,
        golem::stress::Event,
        golem::clade::Event,
        golem::dream::Event,
        golem::thanatopsis::Event,
        golem::phage::Event,
        golem::thought::Event,
        golem::call::Event,
        Event
    );
    tracer.trace_type::<Body>(&samples).expect("records have a layout");
    let registry = tracer.registry().expect("every enum was traced whole");
    serde_json::to_string(&registry).expect("a registry is plain data")
}

/// Examples for the tracer: a birth, a heuristic, a policy, a decision, something to watch, a word about itself, a
/// dream, a question, its answer and a death, of a golem that never lived.
fn examples() -> [Event; 10] {
    let birth = golem::Birth {
        id: golem::GolemId([0; 16]),
        name: "a".parse().expect("a plain name"),
        generation: 0,
        laws: golem::laws::NEWEST,
        secret_hash: [0; 32],
        seeded: true,
        constitution: golem::constitution::Constitution::bare(),
        world: golem::world::Manifest {
            world: "a world".into(),
            unit: "unit".into(),
            bar: golem::Span::seconds(1),
            lot: 1,
            domains: [golem::world::DomainSpec { name: "a".into(), weight: 1.0, ..Default::default() }]
                .into_iter()
                .collect(),
            instincts: vec!["always expect a".into()],
            ..golem::world::Manifest::default()
        },
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let (mut golem, born) = Golem::born(birth, Time::default());
    let id = golem::CommandId([0; 8]);
    let what = golem::What::Commanded { id, command: golem::Command::Retire { reason: String::new() } };
    let died = golem.step(&golem::Input { now: Time::default(), roll: 0, what });
    let died = died.ok().flatten().and_then(|record| {
        record.events.into_iter().find(|e| matches!(e, Event::Mortality(mortality::Event::Died(_))))
    });
    let amended = Event::Owner(owner::Event::Amended(Box::new(golem.life().policy().clone())));
    let kept = Event::Grimoire(grimoire::Event::Kept(Box::new(golem::grimoire::Decision::Forget(0))));
    let watching = Event::Grimoire(grimoire::Event::Watching(Box::default()));
    let (assessed, dreamt) =
        (Event::Stress(stress::Event::Assessed(Box::default())), Event::Dream(dream::Event::Dreamt(Box::default())));
    let asked = golem::thought::Question {
        key: 0,
        purpose: golem::thought::Purpose::Orient,
        tier: golem::mortality::phase::Tier::Cheap,
        most: golem::Usdc::ZERO,
        asked: Time::default(),
        deadline: Time::default(),
        epoch: 0,
        month: 0,
        why: 0,
        seen: Default::default(),
        values: Default::default(),
        night: 0,
        owner: None,
    };
    let (cost, over) = (golem::Usdc::ZERO, golem::Usdc::ZERO);
    let answer = Box::default();
    let purpose = golem::thought::Purpose::Orient;
    let answered = golem::thought::Event::Answered { key: 0, purpose, cost, over, fresh: true, answer };
    [
        born.events[0].clone(),
        born.events[1].clone(),
        amended,
        kept,
        watching,
        assessed,
        dreamt,
        golem::thought::Event::Asked(Box::new(asked)).into(),
        answered.into(),
        died.expect("retiring ends a life"),
    ]
}
