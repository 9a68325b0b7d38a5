//! The memory that a golem dreams of, as its journal has it.

use std::ops::ControlFlow;

use golem::Life;
use golem::dream::{Memory, Moment};
use vault::{Episode, Reader};

use crate::Error;
use crate::home::GolemHome;

/// The episodes that the nights of a life look back on, from its rows and the records they point to.
pub(crate) fn remembered(place: &GolemHome, life: &Life) -> Result<Memory, Error> {
    let reader = Reader::open(&place.database())?;
    let rows = reader.episodes((Memory::room(life) + life.episodes().pending.len()) as u64)?;
    let first = rows.first().map_or(1, |first| first.seq);
    // Where its archive is elsewhere, what it can look back on begins with its file.
    let from = if reader.beginning()?.is_some() { first.max(reader.begins_at()? + 1) } else { first };
    let (mut memory, mut rows) = (Memory::partial(life), rows.into_iter().peekable());
    reader.replay_from(from, |record| {
        while rows.next_if(|row| row.seq < record.seq).is_some() {}
        let row = rows.next_if(|row| row.seq == record.seq);
        memory.read(&record, life, || {
            let Episode { number, tick, regime, surprise, arousal, exposed, .. } = row?;
            Some(Moment { number, tick, regime, surprise, arousal, exposed })
        });
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(memory)
}
