//! Orders under a key. A client that orders over a wire cannot know what became of an order whose answer got lost; so
//! each has a key, and the same key again is the same order: it is carried out once and gets the same answer, also from
//! the next host. An order is in the book before anything is done for it, its letter has an id made of the key, and its
//! reply stays in the inbox until the book has it. A kill anywhere in between leaves enough to go on from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use golem::{CommandId, GolemId, Name, hex};
use serde::{Deserialize, Serialize};
use vault::Reader;

use super::order::{self, OrderState};
use crate::durable::sync_folder;
use crate::home::inbox::{self, Body, Reply};
use crate::home::{GolemHome, Home};
use crate::locks::lock;
use crate::{Error, Runtime};

/// How many orders of each golem are remembered at least.
pub const REMEMBERED: usize = 1_000;
/// The longest key.
const LONGEST: usize = 64;

/// The key of an order: up to 64 printable characters of ASCII.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderKey(String);

/// The deed that an order asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Letter(Body),
    /// An heir by this name, which must still be free.
    Heir(Name),
}

/// The result of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderResult {
    Done,
    Refused(String),
    /// The golem is dead, of this.
    Dead(String),
    Born(Name),
}

/// One order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderEntry {
    pub key: OrderKey,
    /// The name of the order, such as `fund`.
    pub order: String,
    id: CommandId,
    /// A hash of the whole request, so that a key is used for one.
    asked: String,
    deed: Deed,
    /// The result; none while the order waits.
    pub answer: Option<OrderResult>,
}

/// A request for something to be done.
#[derive(Clone, Debug)]
pub struct Request {
    pub key: OrderKey,
    pub order: &'static str,
    asked: String,
}

/// The orders of one home.
#[derive(Clone, Debug)]
pub struct OrderBook {
    runtime: Arc<Runtime>,
    folder: PathBuf,
    /// Locks under which one thread at a time acts for an order; two orders that share a lock merely wait for each
    /// other.
    alone: Arc<[Mutex<()>; 16]>,
}

impl OrderKey {
    pub fn draw() -> OrderKey {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        OrderKey(hex::encode(&bytes))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of its letter: the same for the same golem, whenever and however often it is asked.
    fn id(&self, golem: GolemId) -> CommandId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"bardo order").update(&golem.0).update(self.0.as_bytes());
        CommandId(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"))
    }
}

impl std::str::FromStr for OrderKey {
    type Err = String;

    fn from_str(text: &str) -> Result<OrderKey, String> {
        let printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if text.is_empty() || text.len() > LONGEST || !printable {
            return Err(format!("a key has 1 to {LONGEST} printable characters of ASCII"));
        }
        Ok(OrderKey(text.to_owned()))
    }
}

impl Request {
    /// A request; `wanted` is everything that was said besides.
    pub fn new(key: OrderKey, order: &'static str, wanted: &impl Serialize) -> Request {
        let wanted = serde_json::to_vec(&(order, wanted)).expect("a request is plain data");
        Request { key, order, asked: hex::encode(&blake3::hash(&wanted).as_bytes()[..16]) }
    }
}

impl OrderEntry {
    /// The id of its letter.
    pub fn id(&self) -> CommandId {
        self.id
    }

    /// Whether there is a reply that the book does not have yet.
    pub fn is_answered(&self, place: &GolemHome) -> bool {
        inbox::has_replied(place, self.id)
    }
}

impl OrderBook {
    pub fn of(runtime: &Arc<Runtime>) -> OrderBook {
        let (runtime, folder) = (Arc::clone(runtime), runtime.home().root().join("orders"));
        OrderBook { runtime, folder, alone: Arc::default() }
    }

    /// Carries out an order, unless that was done before. `deed` makes it, and may refuse: then nothing has
    /// begun and nothing is remembered. `bear` makes the heir of a deed that is one.
    pub fn begin(
        &self,
        place: &GolemHome,
        request: &Request,
        deed: impl FnOnce(&GolemHome) -> Result<Deed, Error>,
        bear: impl FnOnce(&Name) -> Result<(), Error>,
    ) -> Result<OrderEntry, Error> {
        let (golem, id) = id_of(place, &request.key)?;
        let path = self.path(golem, id);
        let _alone = self.alone(id);
        if let Some(known) = read(&path)? {
            if known.asked != request.asked {
                return Err(Error::KeyTaken(known.order));
            }
            return self.pursue(place, known, false, bear);
        }
        let entry = OrderEntry {
            key: request.key.clone(),
            id,
            order: request.order.to_owned(),
            asked: request.asked.clone(),
            deed: deed(place)?,
            answer: None,
        };
        write(&path, &entry)?;
        // One in so many tidies up, which is often enough.
        if id.0[1] < 8 {
            prune(path.parent().expect("it is in a folder"));
        }
        self.pursue(place, entry, true, bear)
    }

    /// The state of an order; none if the key is unknown.
    pub fn look(&self, place: &GolemHome, key: &OrderKey) -> Result<Option<OrderEntry>, Error> {
        let (golem, id) = id_of(place, key)?;
        let _alone = self.alone(id);
        let path = self.path(golem, id);
        let Some(mut entry) = read(&path)? else { return Ok(None) };
        take_reply(place, id, &path, &mut entry)?;
        Ok(Some(entry))
    }

    fn alone(&self, id: CommandId) -> MutexGuard<'_, ()> {
        lock(&self.alone[usize::from(id.0[0] % 16)])
    }

    /// Goes on with an order from wherever it has got to.
    fn pursue(
        &self,
        place: &GolemHome,
        mut entry: OrderEntry,
        fresh: bool,
        bear: impl FnOnce(&Name) -> Result<(), Error>,
    ) -> Result<OrderEntry, Error> {
        if entry.answer.is_some() {
            return Ok(entry);
        }
        let (golem, id) = id_of(place, &entry.key)?;
        let path = self.path(golem, id);
        if !fresh && (take_reply(place, id, &path, &mut entry)? || inbox::holds(place, id)) {
            return Ok(entry);
        }
        let passed = match &entry.deed {
            Deed::Letter(body) => {
                order::pass_on_as(&self.runtime, place, id, body.clone(), 1).map(|order| match order {
                    OrderState::Answered(reply) => Some(OrderResult::from(reply)),
                    OrderState::Sent(_) | OrderState::Unsure(_) => None,
                })
            }
            Deed::Heir(name) if is_child(place.home(), name, golem) => match fresh {
                // A golem of this name was here before.
                true => Err(Error::NameTaken(name.clone())),
                false => Ok(Some(OrderResult::Born(name.clone()))),
            },
            Deed::Heir(name) => match bear(name) {
                // An heir that was born is born, whatever went wrong afterwards.
                Err(why) if !is_child(place.home(), name, golem) => Err(why),
                _ => Ok(Some(OrderResult::Born(name.clone()))),
            },
        };
        match passed {
            Ok(Some(answer)) => conclude(&path, &mut entry, answer)?,
            Ok(None) => {}
            Err(Error::Dead(_, cause)) => conclude(&path, &mut entry, OrderResult::Dead(cause))?,
            Err(why) => {
                // Nothing has begun, so there is nothing to remember.
                let _ = fs::remove_file(&path);
                return Err(why);
            }
        }
        Ok(entry)
    }

    fn path(&self, golem: GolemId, id: CommandId) -> PathBuf {
        self.folder.join(golem.to_string()).join(format!("{}.json", hex::encode(&id.0)))
    }
}

impl From<Reply> for OrderResult {
    fn from(reply: Reply) -> OrderResult {
        match reply {
            Reply::Done => OrderResult::Done,
            Reply::Refused(why) => OrderResult::Refused(why),
            Reply::Dead(cause) => OrderResult::Dead(cause),
        }
    }
}

/// Enters the reply, if there is one; only then is its file removed.
fn take_reply(place: &GolemHome, id: CommandId, path: &Path, entry: &mut OrderEntry) -> Result<bool, Error> {
    if entry.answer.is_some() {
        return Ok(true);
    }
    let Some((reply, said)) = inbox::reply_to(place, id)? else { return Ok(false) };
    conclude(path, entry, said.into())?;
    let _ = fs::remove_file(reply);
    Ok(true)
}

fn conclude(path: &Path, entry: &mut OrderEntry, answer: OrderResult) -> Result<(), Error> {
    entry.answer = Some(answer);
    write(path, entry)
}

fn id_of(place: &GolemHome, key: &OrderKey) -> Result<(GolemId, CommandId), Error> {
    let golem = Reader::open(&place.database())?.id()?;
    Ok((golem, key.id(golem)))
}

fn is_child(home: &Home, name: &Name, of: GolemId) -> bool {
    let woken = home.golem(name.as_str()).and_then(|place| place.wake());
    woken.is_ok_and(|(golem, _)| golem.life().birth().lineage.as_ref().is_some_and(|line| line.parent == of))
}

fn read(path: &Path) -> Result<Option<OrderEntry>, Error> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|_| {
            Error::Damaged(format!("{} cannot be read; remove it to order under another key", path.display()))
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("cannot read", path)(e)),
    }
}

/// Writes an order whole, or not at all.
fn write(path: &Path, entry: &OrderEntry) -> Result<(), Error> {
    let folder = path.parent().expect("it is in a folder");
    fs::create_dir_all(folder).map_err(Error::io("cannot create", folder))?;
    let draft = path.with_extension("draft");
    let bytes = serde_json::to_vec(entry).expect("an order is plain data");
    fs::write(&draft, bytes)
        .and_then(|()| fs::File::open(&draft)?.sync_all())
        .and_then(|()| fs::rename(&draft, path))
        .map_err(Error::io("cannot write", path))?;
    sync_folder(folder)
}

/// Removes the oldest orders that have been answered; one that waits stays until it has been.
fn prune(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    all.sort();
    for (_, path) in &all[..all.len().saturating_sub(REMEMBERED)] {
        if read(path).is_ok_and(|entry| entry.is_some_and(|entry| entry.answer.is_some())) {
            let _ = fs::remove_file(path);
        }
    }
}
