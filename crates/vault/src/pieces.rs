//! A journal read in pieces, for a client that takes it more slowly than it could be read: only a bookmark is held in
//! between, so a life of any length costs no more than a page of it.

use std::ops::ControlFlow;

use golem::{Golem, Record};

use crate::codec::Hash;
use crate::error::Error;
use crate::reader::{Reader, begin, rows};
use crate::snapshot;

/// A place in a journal that is read in pieces: the last record that was read, and its hash.
#[derive(Clone, Copy, Debug)]
pub struct Bookmark {
    seq: u64,
    tip: Hash,
}

impl Reader {
    /// Where a client that has heard everything up to this record begins: the life at the nearest snapshot before it,
    /// or none where that is the birth, and the place to read on from.
    pub fn before(&self, known: u64) -> Result<(Option<Golem>, Bookmark), Error> {
        let _view = self.view()?;
        let (golem, tip) = begin(&self.db)?;
        let kept = snapshot::all(&self.db)?.into_iter().filter(|row| row.seq <= known);
        let nearest = kept.filter_map(|row| snapshot::wake(&self.db, &row).ok().flatten()).next();
        let (golem, tip) = nearest.map_or((golem, tip), |(golem, tip)| (Some(golem), tip));
        let seq = golem.as_ref().map_or(0, Golem::seq);
        Ok((golem, Bookmark { seq, tip }))
    }

    /// Reads on, `most` records at most, each with its chain verified; true if that was the end.
    pub fn read_on<E: From<Error>>(
        &self,
        from: &mut Bookmark,
        most: u64,
        mut each: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<bool, E> {
        let _view = self.view()?;
        let until = from.seq.saturating_add(most);
        let read =
            rows(&self.db, (from.seq, until), &mut from.tip, |record, _, _| each(record).map(ControlFlow::Continue))?;
        let ended = read < until;
        from.seq = read;
        Ok(ended)
    }
}
