//! The head of a store of truth: the newest record acknowledged there, kept outside its database, and a lock.
//!
//! A hash chain cannot see that its own tail is missing, and SQLite silently drops damaged frames of its
//! write-ahead log. So after every commit the number and hash of the newest record are written here. Two
//! slots take turns: if one is damaged, the other still holds a lower bound. The file is written
//! after the commit is durable and is itself not synced: being behind is harmless, being ahead impossible.
//!
//! Every life has a head, and so have the host log and the treasury. The lock of a life and of the host log is held for
//! as long as a process runs them; the treasury has many writers, and each holds the lock for one transaction.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use golem::GolemId;

use crate::codec::Hash;
use crate::disk;
use crate::error::Error;

const SLOT: usize = 64;
const MAGIC: &[u8; 4] = b"BHD1";
/// How long to wait for a lock: another process may hold it for a moment, only to see whether it is taken.
const BLINK: Duration = Duration::from_millis(100);

/// The newest record known to have been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub seq: u64,
    pub hash: Hash,
    pub seal: Seal,
}

/// Whether a life may still run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seal {
    Open,
    /// A move has begun: the move may be completed, nothing else.
    Leaving,
    /// The archive is complete: this life goes on elsewhere.
    Gone,
}

/// A locked head. Its holder is the only process running this life in this home.
#[derive(Debug)]
pub struct Head {
    file: File,
    path: PathBuf,
    turn: usize,
    anchor: Anchor,
}

impl Anchor {
    fn to_slot(self) -> [u8; SLOT] {
        let mut slot = [0; SLOT];
        slot[..4].copy_from_slice(MAGIC);
        slot[4] = self.seal as u8;
        slot[8..16].copy_from_slice(&self.seq.to_le_bytes());
        slot[16..48].copy_from_slice(&self.hash);
        let check = blake3::hash(&slot[..48]);
        slot[48..].copy_from_slice(&check.as_bytes()[..16]);
        slot
    }

    fn from_slot(slot: &[u8]) -> Option<Anchor> {
        let check = blake3::hash(slot.get(..48)?);
        let good = slot.len() == SLOT && slot[..4] == *MAGIC && slot[48..] == check.as_bytes()[..16];
        let seal = [Seal::Open, Seal::Leaving, Seal::Gone].into_iter().find(|seal| *seal as u8 == slot[4])?;
        good.then(|| Anchor {
            seq: u64::from_le_bytes(slot[8..16].try_into().expect("eight bytes")),
            hash: slot[16..48].try_into().expect("thirty-two bytes"),
            seal,
        })
    }
}

impl Head {
    pub fn path(heads: &Path, id: GolemId) -> PathBuf {
        heads.join(id.to_string())
    }

    /// Takes the lock, then reads the anchor.
    pub fn open(heads: &Path, id: GolemId) -> Result<Head, Error> {
        Head::wait_for(heads, id, BLINK)
    }

    /// Takes the lock as [`Head::open`] does, waiting so long for another process to release it.
    pub(crate) fn wait_for(heads: &Path, id: GolemId, patience: Duration) -> Result<Head, Error> {
        let path = Head::path(heads, id);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(Error::NoHead(id)),
            Err(e) => return Err(Error::io("cannot open", &path)(e)),
        };
        lock(&file, &path, patience)?;
        // Created, and interrupted before anything was written: counts as missing.
        if file.metadata().is_ok_and(|file| file.len() == 0) {
            return Err(Error::NoHead(id));
        }
        let (anchor, turn) = newest(&fs::read(&path).map_err(Error::io("cannot read", &path))?)
            .ok_or_else(|| Error::damaged(format!("the head of this life ({}) is damaged", path.display())))?;
        Ok(Head { file, path, turn, anchor })
    }

    /// Creates the head of a life that has none here yet, or replaces it where its owner has chosen so.
    pub fn create(heads: &Path, id: GolemId, anchor: Anchor) -> Result<Head, Error> {
        fs::create_dir_all(heads).map_err(Error::io("cannot create", heads))?;
        let path = Head::path(heads, id);
        if !path.exists() {
            make(&path, anchor).map_err(Error::io("cannot create", &path))?;
        }
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io("cannot open", &path))?;
        lock(&file, &path, BLINK)?;
        let mut head = Head { file, path, turn: 0, anchor };
        head.set(anchor)?;
        Ok(head)
    }

    /// Makes another record the newest one acknowledged, durably: the owner has chosen this copy.
    pub fn set(&mut self, anchor: Anchor) -> Result<(), Error> {
        self.advance(anchor)?;
        self.advance(anchor)?;
        self.file.sync_all().map_err(Error::io("cannot sync", &self.path))
    }

    /// Reads the anchor without taking the lock; `None` if there is none or it cannot be trusted.
    pub fn peek(heads: &Path, id: GolemId) -> Option<Anchor> {
        newest(&fs::read(Head::path(heads, id)).ok()?).map(|(anchor, _)| anchor)
    }

    /// Whether a process is running this life right now.
    pub fn is_taken(heads: &Path, id: GolemId) -> bool {
        let Ok(file) = File::open(Head::path(heads, id)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Writes a newer anchor. Refuses once the file has been removed: the next process would see neither this anchor
    /// nor the lock.
    pub fn advance(&mut self, anchor: Anchor) -> Result<(), Error> {
        let there = self.file.metadata().map_err(Error::io("cannot read", &self.path))?;
        if there.nlink() == 0 {
            return Err(Error::unanchored(format!("{} was removed while it was in use", self.path.display())));
        }
        let turn = 1 - self.turn;
        disk::before("a head")
            .and_then(|()| self.file.write_all_at(&anchor.to_slot(), (turn * SLOT) as u64))
            .map_err(Error::io("cannot write", &self.path))?;
        disk::after("a head");
        (self.turn, self.anchor) = (turn, anchor);
        Ok(())
    }

    /// Seals the head, synced, because losing a seal would make two lives of one.
    pub fn seal(&mut self, seal: Seal) -> Result<(), Error> {
        self.set(Anchor { seal, ..self.anchor })
    }
}

/// Creates the file whole or not at all: half a head could not tell whether anything was ever acknowledged.
fn make(path: &Path, anchor: Anchor) -> io::Result<()> {
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = File::create(&aside)?;
    file.write_all(&[anchor.to_slot(), anchor.to_slot()].concat())?;
    file.sync_all()?;
    disk::before("a head")?;
    // If another process was first, its head counts.
    let made = fs::hard_link(&aside, path).or_else(|e| if path.exists() { Ok(()) } else { Err(e) });
    let _ = fs::remove_file(&aside);
    made?;
    disk::after("a head");
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

fn lock(file: &File, path: &Path, patience: Duration) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => return Err(Error::Locked(path.to_owned())),
            Err(TryLockError::Error(e)) => return Err(Error::io("cannot lock", path)(e)),
        }
    }
}

/// The newer of the two good slots, and its index. A seal on either counts.
fn newest(bytes: &[u8]) -> Option<(Anchor, usize)> {
    let slots = bytes.chunks(SLOT).take(2).map(Anchor::from_slot).enumerate();
    let good: Vec<(Anchor, usize)> = slots.filter_map(|(at, slot)| slot.map(|anchor| (anchor, at))).collect();
    let seal = good.iter().map(|(anchor, _)| anchor.seal).max()?;
    let best = good.into_iter().max_by_key(|(anchor, _)| anchor.seq)?;
    Some((Anchor { seal, ..best.0 }, best.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_to_one_slot_the_other_still_bounds_the_life() {
        let dir = tempfile::tempdir().unwrap();
        let id = GolemId([1; 16]);
        let anchor = |seq| Anchor { seq, hash: [seq as u8; 32], seal: Seal::Open };
        let mut head = Head::create(dir.path(), id, anchor(1)).unwrap();
        for seq in 2..10 {
            head.advance(anchor(seq)).unwrap();
        }
        drop(head);
        let path = Head::path(dir.path(), id);
        let whole = fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let seq = newest(&bytes).expect("one slot is left").0.seq;
            assert!((8..=9).contains(&seq), "bit {bit}: {seq}");
        }
    }

    #[test]
    fn only_one_may_hold_a_head() {
        let dir = tempfile::tempdir().unwrap();
        let id = GolemId([2; 16]);
        let anchor = Anchor { seq: 1, hash: [0; 32], seal: Seal::Open };
        assert!(matches!(Head::open(dir.path(), id), Err(Error::NoHead(_))));
        let head = Head::create(dir.path(), id, anchor).unwrap();
        assert!(Head::is_taken(dir.path(), id));
        assert!(matches!(Head::open(dir.path(), id), Err(Error::Locked(_))));
        drop(head);
        assert!(!Head::is_taken(dir.path(), id));
        assert_eq!(Head::open(dir.path(), id).unwrap().anchor(), anchor);
    }

    /// A head was made empty and then written. A power cut between the two, or in the middle of the second, left half
    /// of one, and a host that had never acknowledged anything did not come up any more.
    #[test]
    fn a_head_is_there_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let (heads, id) = (dir.path().to_owned(), GolemId([4; 16]));
        let anchor = Anchor { seq: 7, hash: [7; 32], seal: Seal::Open };
        let steps = std::rc::Rc::new(std::cell::Cell::new(0));
        let seen = std::rc::Rc::clone(&steps);
        let watch = disk::watch(move |_| {
            seen.set(seen.get() + 1);
            let path = Head::path(&heads, id);
            assert!(!path.exists() || newest(&fs::read(&path).unwrap()) == Some((anchor, 1)));
            Ok(())
        });
        drop(Head::create(dir.path(), id, anchor).unwrap());
        drop(watch);
        assert!(steps.get() >= 6, "it is made, and then each slot is written");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    /// A head that was removed under a host let a second one start beside it, and what the first acknowledged after
    /// that was lost.
    #[test]
    fn whoever_lost_its_head_acknowledges_nothing_more() {
        let dir = tempfile::tempdir().unwrap();
        let id = GolemId([3; 16]);
        let anchor = |seq| Anchor { seq, hash: [0; 32], seal: Seal::Open };
        let mut head = Head::create(dir.path(), id, anchor(1)).unwrap();
        fs::remove_file(Head::path(dir.path(), id)).unwrap();
        assert!(head.advance(anchor(2)).unwrap_err().to_string().contains("removed while it was in use"));
        drop(Head::create(dir.path(), id, anchor(1)).unwrap());
        assert!(head.advance(anchor(2)).is_err(), "the new one is not ours");
    }
}
