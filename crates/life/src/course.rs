//! A life's course: one Life, how far it is recorded, and the two ways it may change. A draft lives it forward; `fold`
//! lives a record again.

use crate::apply::apply;
use crate::draft::Draft;
use crate::event::{Event, Record};
use crate::invariants::Before;
use crate::laws::laws;
use crate::life::{Birth, Life};
use crate::time::Time;

/// One Life and the number of its newest record.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    life: Life,
    seq: u64,
}

/// A record that cannot follow what came before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    #[error("a life must begin with a birth")]
    NoBirth,
    #[error("record {0} is a second birth")]
    SecondBirth(u64),
    #[error("record {got} stands where record {expected} belongs")]
    Gap { expected: u64, got: u64 },
    #[error("this life runs under laws {0}, which this version of bardo does not know; upgrade bardo to open it")]
    UnknownLaws(u16),
    #[error(
        "this life is pressed by the stressor `{0}`, which this version of bardo does not know; upgrade bardo to open it"
    )]
    UnknownStressor(String),
}

/// Refuses a birth from a later version, which would be lived otherwise here.
fn known(birth: &Birth) -> Result<(), FoldError> {
    laws(birth.laws).ok_or(FoldError::UnknownLaws(birth.laws))?;
    let newer = birth.constitution.stress.rates.newer();
    newer.map_or(Ok(()), |name| Err(FoldError::UnknownStressor(name.to_owned())))
}

impl Course {
    /// A birth, with what the newborn is given in the same record. Panics at one that [`Birth::check`] would refuse.
    pub fn born(birth: Birth, at: Time, gifts: impl IntoIterator<Item = Event>) -> (Course, Record) {
        birth.check().expect("a birth is checked before");
        let mut life = Life::new(birth.clone(), at);
        let mut events = vec![Event::Born(Box::new(birth))];
        for gift in gifts {
            apply(&mut life, at, &gift);
            events.push(gift);
        }
        (Course { life, seq: 1 }, Record { seq: 1, at, events })
    }

    /// Continues from a snapshot.
    pub fn resume(life: Life, seq: u64) -> Result<Course, FoldError> {
        known(&life.birth)?;
        Ok(Course { life, seq })
    }

    /// Begins again from the first record.
    pub fn reborn(first: &Record) -> Result<Course, FoldError> {
        let Some(Event::Born(birth)) = first.events.first() else { return Err(FoldError::NoBirth) };
        if first.seq != 1 {
            return Err(FoldError::Gap { expected: 1, got: first.seq });
        }
        known(birth)?;
        let mut life = Life::new((**birth).clone(), first.at);
        for event in &first.events[1..] {
            apply(&mut life, first.at, event);
        }
        Ok(Course { life, seq: 1 })
    }

    /// Lives one record again, showing each event beside the life it left behind.
    pub fn fold(&mut self, record: &Record, mut show: impl FnMut(&Event, &Life)) -> Result<(), FoldError> {
        if record.seq != self.seq + 1 {
            return Err(FoldError::Gap { expected: self.seq + 1, got: record.seq });
        }
        if record.events.iter().any(|e| matches!(e, Event::Born(_))) {
            return Err(FoldError::SecondBirth(record.seq));
        }
        for event in &record.events {
            apply(&mut self.life, record.at, event);
            show(event, &self.life);
        }
        self.seq = record.seq;
        Ok(())
    }

    /// Lives on: what is emitted to the draft is the next record. A draft to which nothing was emitted leaves none.
    /// Panics if the step broke an invariant of life.
    pub fn live(
        &mut self,
        at: Time,
        show: &mut dyn FnMut(&Event, &Life),
        decide: impl FnOnce(&mut Draft<'_>),
    ) -> Option<Record> {
        let before = Before::of(&self.life);
        let mut events = Vec::with_capacity(24);
        decide(&mut Draft::new(&mut self.life, at, &mut events, show));
        if events.is_empty() {
            return None;
        }
        before.check(&self.life);
        self.seq += 1;
        Some(Record { seq: self.seq, at, events })
    }

    pub fn life(&self) -> &Life {
        &self.life
    }

    /// The number of the newest record.
    pub fn seq(&self) -> u64 {
        self.seq
    }
}
