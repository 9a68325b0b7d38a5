//! Letters from the owner to a golem that another process runs, in a folder, each written whole and
//! answered in writing. No lock is shared with the golem, so a wedged one can still be written to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::clade::Parcel;
use golem::{Command, CommandId, Usdc};
use serde::{Deserialize, Serialize};
use vault::disk;

use super::place::GolemHome;
use super::signals::Signals;
use crate::{Error, durable};

/// How often the file of a reply is looked for that another process will write.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of the longest letter; a longer file is not a letter.
const LONGEST: u64 = 512 << 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Letter {
    pub id: CommandId,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    Command(Command),
    /// Money for it. The process that holds the golem's lock takes it out of the treasury.
    Fund {
        credit: Usdc,
        capital: Usdc,
    },
    /// A text that its agent wants it to remember.
    Remember {
        text: String,
    },
    /// A request to carry all its records into its own file, for a reader.
    CatchUp,
    /// A message from another golem of the same owner. No reply is expected.
    News(Parcel),
}

/// The result of a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Done,
    Refused(String),
    /// The golem is dead, of this.
    Dead(String),
}

impl Letter {
    /// The one check of letters: amounts and words that no owner and no golem can mean are refused here, before
    /// anything is done about them. Whatever depends on its money and its policy, the golem judges.
    pub fn check(&self) -> Result<(), String> {
        let sane = |amount: Usdc| amount >= Usdc::ZERO && amount <= Usdc::MOST;
        match &self.body {
            Body::Fund { credit, capital } if !sane(*credit) || !sane(*capital) => {
                Err(format!("an amount must be more than nothing and at most {}", Usdc::MOST))
            }
            Body::Fund { credit, capital } if !(*credit + *capital).is_positive() => {
                Err("an amount must be more than nothing".to_owned())
            }
            Body::News(parcel) if !parcel.is_sound() => Err("a load lies between 0 and 1".to_owned()),
            _ => Ok(()),
        }
    }
}

pub fn new_id() -> CommandId {
    let mut id = [0; 8];
    getrandom::fill(&mut id).expect("the operating system gives random bytes");
    CommandId(id)
}

/// Puts a letter in; returns where its reply will be.
pub fn send(to: &GolemHome, body: Body) -> Result<PathBuf, Error> {
    send_as(to, new_id(), body)
}

/// Puts a letter in that counts once however often it is sent.
pub fn send_as(to: &GolemHome, id: CommandId, body: Body) -> Result<PathBuf, Error> {
    send_by(&Signals::default(), to, id, body)
}

/// Puts a letter in; a host in this process hears of it at once.
pub(crate) fn send_by(signals: &Signals, to: &GolemHome, id: CommandId, body: Body) -> Result<PathBuf, Error> {
    let inbox = &to.inbox();
    // Only the inbox: a golem that was renamed meanwhile must not get a second folder.
    durable::folder_within(inbox).map_err(Error::io("cannot create", inbox))?;
    let letter = Letter { id, body };
    letter.check().map_err(Error::Refused)?;
    // Letters are read in the order of their names, and no clock has a say in it: this one comes after all that
    // wait. Two that are written in the same instant may share a number; neither was first.
    let last = named(inbox)?.last().map_or(0, |path| number(path));
    let stem = format!("{:022}-{}", last + 1, u64::from_le_bytes(letter.id.0));
    disk::before("a letter").map_err(Error::io("cannot write", inbox))?;
    let draft = inbox.join(format!("{stem}.draft"));
    let bytes = serde_json::to_vec(&letter).expect("a letter is plain data");
    fs::write(&draft, bytes).map_err(Error::io("cannot write", &draft))?;
    let path = inbox.join(format!("{stem}.letter"));
    fs::rename(&draft, &path).map_err(Error::io("cannot write", &path))?;
    disk::after("a letter");
    to.ring_by(signals);
    Ok(inbox.join(format!("{stem}.reply")))
}

/// Whether a letter with this id waits to be read.
pub fn holds(to: &GolemHome, id: CommandId) -> bool {
    find(to, id, "letter").is_some()
}

pub fn has_replied(to: &GolemHome, id: CommandId) -> bool {
    find(to, id, "reply").is_some()
}

/// The reply to the letter with this id, and where it is, so that it can be removed once it is safe elsewhere.
pub fn reply_to(to: &GolemHome, id: CommandId) -> Result<Option<(PathBuf, Reply)>, Error> {
    let Some(path) = find(to, id, "reply") else { return Ok(None) };
    let bytes = fs::read(&path).map_err(Error::io("cannot read", &path))?;
    Ok(serde_json::from_slice(&bytes).ok().map(|said| (path, said)))
}

fn find(to: &GolemHome, id: CommandId, kind: &str) -> Option<PathBuf> {
    let end = format!("-{}.{kind}", u64::from_le_bytes(id.0));
    let entries = fs::read_dir(to.inbox()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find(|path| path.to_str().is_some_and(|path| path.ends_with(&end)))
}

/// The id of the letter that this file is, or replies to: its name ends in it.
fn id_of(file: &Path) -> CommandId {
    let id = file.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.rsplit('-').next());
    CommandId(id.and_then(|id| id.parse().ok()).map_or([0; 8], u64::to_le_bytes))
}

/// Waits for the reply of another process; none if it did not come in time.
pub fn await_reply(to: &GolemHome, reply: &Path, patience: Duration) -> Result<Option<Reply>, Error> {
    await_reply_by(&Arc::default(), to, reply, patience)
}

/// Waits for the reply; none if it did not come in time. A host in this process announces it; what another process replies is
/// looked for.
pub(crate) fn await_reply_by(
    signals: &Arc<Signals>,
    to: &GolemHome,
    reply: &Path,
    patience: Duration,
) -> Result<Option<Reply>, Error> {
    let awaited = signals.await_reply(id_of(reply));
    let (deadline, mut announced) = (Instant::now() + patience, None);
    loop {
        match fs::read(reply) {
            Ok(bytes) => {
                if let Ok(said) = serde_json::from_slice(&bytes) {
                    let _ = fs::remove_file(reply);
                    return Ok(Some(said));
                }
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io("cannot read", reply)(e)),
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        // Found out only for a golem that does not answer at once: an order to all of them asks each.
        let announced = *announced.get_or_insert_with(|| to.is_hosted_by(signals));
        awaited.wait(if announced { left } else { left.min(LOOK) });
    }
}

/// A question whose answer a process waits for: a marker in the inbox, which the process that runs the golem removes once the
/// answer is in the record. It goes as well when this is dropped.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    marker: PathBuf,
}

impl OpenQuestion {
    /// Puts the marker in. An answer from before leaves it there: look into the record after this.
    pub(crate) fn mark(to: &GolemHome, id: CommandId) -> Result<OpenQuestion, Error> {
        let (inbox, marker) = (to.inbox(), question_marker(to, id));
        durable::folder_within(&inbox).map_err(Error::io("cannot create", &inbox))?;
        fs::write(&marker, "").map_err(Error::io("cannot write", &marker))?;
        Ok(OpenQuestion { marker })
    }

    pub(crate) fn is_there(&self) -> bool {
        self.marker.exists()
    }

    /// Waits until the answer is in the record, no longer than until then.
    pub(crate) fn wait(&self, until: Instant) {
        while self.marker.exists() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.marker);
    }
}

/// Removes the marker of a question, if a process waits for its answer. Called only once the answer is durable.
pub(crate) fn close_question(to: &GolemHome, id: CommandId) {
    let _ = fs::remove_file(question_marker(to, id));
}

fn question_marker(to: &GolemHome, id: CommandId) -> PathBuf {
    to.inbox().join(format!("{}.asked", u64::from_le_bytes(id.0)))
}

/// Whether a letter waits for a golem.
pub fn has_letters(to: &GolemHome) -> bool {
    named(&to.inbox()).is_ok_and(|letters| !letters.is_empty())
}

/// The letters waiting that pass the filter, oldest first. One that cannot be read is set aside, not obeyed.
pub fn waiting(inbox: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<(PathBuf, Letter)>, Error> {
    let mut letters = Vec::new();
    for path in named(inbox)?.into_iter().filter(|path| wanted(path)) {
        match read(&path) {
            Some(letter) => letters.push((path, letter)),
            None => {
                fs::rename(&path, path.with_extension("unreadable")).map_err(Error::io("cannot set aside", &path))?
            }
        }
    }
    Ok(letters)
}

/// The names of the letters waiting, in order.
fn named(inbox: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(inbox) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("cannot read", inbox)(e)),
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|kind| kind == "letter"))
        .collect();
    paths.sort();
    Ok(paths)
}

fn number(path: &Path) -> u128 {
    let digits = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.split('-').next());
    // A file with a name from elsewhere has no number; no clock has ever counted more than this.
    digits.and_then(|digits| digits.parse().ok()).filter(|number| *number < 10_u128.pow(21)).unwrap_or(0)
}

/// A plain file of a letter's length; a pipe or a link to one would have its reader wait for ever.
fn read(path: &Path) -> Option<Letter> {
    let plain = fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LONGEST);
    plain.then(|| fs::read(path).ok()).flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

/// Leaves the rest of a letter for later. Called only once its effects so far are durable.
pub fn leave_rest(path: &Path, letter: &Letter) -> Result<(), Error> {
    let draft = path.with_extension("draft");
    let bytes = serde_json::to_vec(letter).expect("a letter is plain data");
    fs::write(&draft, bytes).map_err(Error::io("cannot write", &draft))?;
    fs::rename(&draft, path).map_err(Error::io("cannot write", path))
}

/// Takes a letter out that needs no answer. Called only once its effects are durable.
pub fn discard(letter: &Path) -> Result<(), Error> {
    fs::remove_file(letter).map_err(Error::io("cannot remove", letter))
}

/// Answers a letter and takes it out of the inbox. Called only once its effects are durable.
pub(crate) fn answer(signals: &Signals, letter: &Path, reply: &Reply) -> Result<(), Error> {
    disk::before("a reply").map_err(Error::io("cannot write", letter))?;
    let draft = letter.with_extension("reply-draft");
    let bytes = serde_json::to_vec(reply).expect("a reply is plain data");
    fs::write(&draft, bytes).map_err(Error::io("cannot write", &draft))?;
    let path = letter.with_extension("reply");
    fs::rename(&draft, &path).map_err(Error::io("cannot write", &path))?;
    disk::after("a reply");
    signals.announce_reply(id_of(letter));
    fs::remove_file(letter).map_err(Error::io("cannot remove", letter))
}
