//! A glance: the figures a list shows of a life, so that a thousand lives need not be woken to be listed.
//!
//! The glance is removed when a life is opened to be run and put back when it is closed, so a glance that is there is
//! of the newest record. It is still trusted only if the file and the head are those it was made from. It only saves
//! time: without a trustworthy glance the life is woken.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use golem::books::Books;
use golem::mortality::phase::Phase;
use golem::{GolemId, Life, Span, Usdc};
use serde::{Deserialize, Serialize};

use crate::codec::Hash;
use crate::file::Place;
use crate::head::Head;

const NAME: &str = "glance";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Glance {
    pub id: GolemId,
    pub seq: u64,
    pub dead: bool,
    pub paused: bool,
    pub frozen: bool,
    pub asleep: bool,
    /// Something the golem would do waits for its owner's approval.
    pub asks: bool,
    pub phase: Phase,
    pub vitality: f64,
    pub age: Span,
    pub tick: u64,
    pub credit: Usdc,
    pub books: Books,
    /// Calls its agent has made.
    pub calls: u64,
}

/// A glance as stored: with the hash of its record, and the size and age of the file that held it.
#[derive(Serialize, Deserialize)]
struct StoredGlance {
    glance: Glance,
    hash: Hash,
    file: (u64, u128),
}

/// The glance to put back when a life is closed; none while it is not known what is on disk.
#[derive(Debug)]
pub(crate) struct Parting {
    place: PathBuf,
    latest: Option<(Glance, Hash)>,
}

impl Glance {
    pub fn of(life: &Life, seq: u64) -> Glance {
        Glance {
            id: life.id(),
            seq,
            dead: life.is_dead(),
            paused: life.heartbeat().paused,
            frozen: life.heartbeat().frozen,
            asleep: life.dreams().night.is_some(),
            asks: golem::policy::asks(life).is_some() || life.calls().hold.is_some(),
            phase: life.phase(),
            vitality: life.vitality().composite,
            age: life.age(),
            tick: life.tick(),
            credit: life.purse().credit,
            books: Books::of(life),
            calls: life.calls().made,
        }
    }

    /// The glance of the life stored here, if it can be trusted.
    pub fn read(place: &Place) -> Option<Glance> {
        let text = fs::read(place.folder.join(NAME)).ok()?;
        let (check, body) = text.split_first_chunk::<32>()?;
        let kept: StoredGlance = (blake3::hash(body) == *check).then(|| serde_json::from_slice(body).ok())??;
        let anchor = Head::peek(&place.heads, kept.glance.id)?;
        let same =
            (anchor.seq, anchor.hash) == (kept.glance.seq, kept.hash) && at_rest(&place.folder) == Some(kept.file);
        same.then_some(kept.glance)
    }
}

impl Parting {
    /// Removes the glance of a life that is about to run.
    pub(crate) fn begin(folder: &Path) -> Parting {
        let _ = fs::remove_file(folder.join(NAME));
        Parting { place: folder.to_owned(), latest: None }
    }

    pub(crate) fn forget(&mut self) {
        self.latest = None;
    }

    pub(crate) fn note(&mut self, life: &Life, seq: u64, hash: Hash) {
        self.latest = Some((Glance::of(life, seq), hash));
    }

    fn leave(&self) -> io::Result<()> {
        let Some((glance, hash)) = self.latest.clone() else { return Ok(()) };
        // A reader still holds the write-ahead log, and the newest records are not in the file yet.
        let Some(file) = at_rest(&self.place) else { return Ok(()) };
        let body = serde_json::to_vec(&StoredGlance { glance, hash, file })?;
        let draft = self.place.join(".glance");
        fs::write(&draft, [blake3::hash(&body).as_bytes(), &body[..]].concat())?;
        fs::rename(draft, self.place.join(NAME))
    }
}

impl Drop for Parting {
    fn drop(&mut self) {
        // Without a glance a list only takes longer.
        let _ = self.leave();
    }
}

/// Size and age of a life's file, if all of the life is in it.
fn at_rest(folder: &Path) -> Option<(u64, u128)> {
    let log = fs::metadata(folder.join("life.db-wal")).map_or(0, |log| log.len());
    let file = fs::metadata(folder.join("life.db")).ok().filter(|_| log == 0)?;
    Some((file.len(), file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos()))
}
