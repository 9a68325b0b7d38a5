//! The course of a life, kept beside its journal: a second look lives through what is new, and not through all of it.
//! It saves time and nothing else: if it cannot be read, or is of another life or program, the journal is read from its
//! beginning.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use golem::{Golem, GolemId, Life};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use vault::Reader;

use super::history::{Course, History};
use super::narrator::Narrator;
use super::pictures::Pictures;
use crate::{Error, GolemHome};

const NAME: &str = "pictures";
/// Layout of the file; another program may see more in a life, or less.
const LAYOUT: &str = concat!("1 of bardo ", env!("CARGO_PKG_VERSION"));
/// Records that are lived through again rather than written down at every look.
const OFTEN: u64 = 500;

/// A course, and the life at its end.
#[derive(Serialize, Deserialize)]
struct KeptCourse {
    layout: String,
    id: GolemId,
    /// The record it was read up to.
    seq: u64,
    hash: [u8; 32],
    course: Course,
    life: Box<RawValue>,
}

/// A life in pictures.
pub fn pictures(place: &GolemHome) -> Result<Pictures, Error> {
    Ok(Pictures::of(&history(place)?))
}

/// The history of the life up to now, without the worth of its claims.
fn history(place: &GolemHome) -> Result<History, Error> {
    let (path, reader) = (place.folder.join(NAME), Reader::open(&place.database())?);
    let known = read(&path, &reader);
    let before = known.as_ref().map(|(_, golem)| golem.seq());
    // A state that the journal does not continue from is not of this life, whatever it says.
    let gone_on = known.and_then(|(course, golem)| {
        let seq = golem.seq();
        live_on(&reader, History::of(course), Narrator::after(golem), seq).ok()
    });
    let before = before.filter(|_| gone_on.is_some());
    let (history, seq) = match gone_on {
        Some(there) => there,
        None => {
            let narrator = Narrator::before(&reader)?;
            live_on(&reader, History::before(narrator.life()), narrator, 0)?
        }
    };
    if before.is_none_or(|before| seq >= before + OFTEN) {
        // Without it the next look takes longer, and nothing else.
        let _ = keep(&path, &reader, &history, seq);
    }
    Ok(history)
}

/// Lives through every record after this one; the last of them.
fn live_on(reader: &Reader, mut history: History, mut narrator: Narrator, after: u64) -> Result<(History, u64), Error> {
    let mut seq = after;
    let mut each = |record: golem::Record| {
        seq = record.seq;
        history.take_in(&record, &mut narrator).map(|()| ControlFlow::Continue(()))
    };
    match after {
        0 => reader.replay(&mut each).map(|_| ())?,
        _ => reader.replay_from(after + 1, &mut each)?,
    }
    history.life = narrator.life().cloned();
    Ok((history, seq))
}

/// The state kept of this very life, and the life as it was then.
fn read(path: &Path, reader: &Reader) -> Option<(Course, Golem)> {
    let text = fs::read(path).ok()?;
    let (check, body) = text.split_first_chunk::<32>()?;
    let kept: KeptCourse = (blake3::hash(body) == *check).then(|| serde_json::from_slice(body).ok())??;
    let same = kept.layout == LAYOUT && reader.id().ok()? == kept.id && reader.hash_at(kept.seq).ok()?? == kept.hash;
    let life = Life::by_name(kept.life.get().as_bytes()).ok().filter(|_| same)?;
    Some((kept.course, Golem::resume(life, kept.seq).ok()?))
}

fn keep(path: &Path, reader: &Reader, history: &History, seq: u64) -> io::Result<()> {
    let hash = reader.hash_at(seq).ok().flatten();
    let (Some(life), Some(hash)) = (&history.life, hash) else { return Ok(()) };
    let life_in_words = serde_json::value::to_raw_value(life)?;
    let kept = KeptCourse {
        layout: LAYOUT.to_owned(),
        id: life.id(),
        seq,
        hash,
        course: history.course(),
        life: life_in_words,
    };
    let body = serde_json::to_vec(&kept)?;
    let draft = path.with_file_name(".pictures");
    fs::write(&draft, [blake3::hash(&body).as_bytes(), &body[..]].concat())?;
    fs::rename(draft, path)
}
