//! A golem: one Life, and the two ways it may change. `step` lives forward, `fold` lives again.

use crate::apply::apply;
use crate::books::Books;
use crate::constitution::MindKind;
use crate::dream;
use crate::event::{Event, Record};
use crate::heartbeat::State;
use crate::laws::laws;
use crate::life::{Birth, Life};
use crate::owed::{Owed, curation_due, owed};
use crate::policy::Stage;
use crate::rule::mind;
use crate::step::{Fault, Input, step};
use crate::time::Time;

#[derive(Clone, Debug, PartialEq)]
pub struct Golem {
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
}

impl Golem {
    /// A birth, and its record. Panics if the birth names laws this version does not know.
    pub fn born(birth: Birth, at: Time) -> (Golem, Record) {
        assert!(laws(birth.laws).is_some(), "born under unknown laws");
        let mut events = vec![Event::Born(Box::new(birth.clone()))];
        let mut life = Life::new(birth, at);
        if life.constitution().mind.kind == MindKind::Rules {
            for instinct in mind::instincts(&life.birth) {
                apply(&mut life, at, &instinct);
                events.push(instinct);
            }
        }
        (Golem { life, seq: 1 }, Record { seq: 1, at, events })
    }

    /// Continues from a snapshot.
    pub fn resume(life: Life, seq: u64) -> Result<Golem, FoldError> {
        laws(life.birth.laws).ok_or(FoldError::UnknownLaws(life.birth.laws))?;
        Ok(Golem { life, seq })
    }

    /// Begins again from the first record.
    pub fn reborn(first: &Record) -> Result<Golem, FoldError> {
        let Some(Event::Born(birth)) = first.events.first() else { return Err(FoldError::NoBirth) };
        if first.seq != 1 {
            return Err(FoldError::Gap { expected: 1, got: first.seq });
        }
        laws(birth.laws).ok_or(FoldError::UnknownLaws(birth.laws))?;
        let mut golem = Golem { life: Life::new((**birth).clone(), first.at), seq: 1 };
        for event in &first.events[1..] {
            apply(&mut golem.life, first.at, event);
        }
        Ok(golem)
    }

    /// Lives one record again.
    pub fn fold(&mut self, record: &Record) -> Result<(), FoldError> {
        self.fold_with(record, |_, _| {})
    }

    /// Lives one record again, showing each event beside the life it left behind.
    pub fn fold_with(&mut self, record: &Record, mut show: impl FnMut(&Event, &Life)) -> Result<(), FoldError> {
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

    /// Lives one input. An input that comes to nothing leaves no record.
    pub fn step(&mut self, input: &Input) -> Result<Option<Record>, Fault> {
        let mut events = Vec::with_capacity(24);
        step(&mut self.life, input, &mut events)?;
        assert!(Books::of(&self.life).adds_up(), "money was made or lost: {:?}", Books::of(&self.life));
        if events.is_empty() {
            return Ok(None);
        }
        self.seq += 1;
        Ok(Some(Record { seq: self.seq, at: input.now, events }))
    }

    pub fn life(&self) -> &Life {
        &self.life
    }

    /// The number of the newest record.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    pub fn owed(&self) -> Vec<Owed> {
        owed(&self.life)
    }

    /// Nothing is owed; cheaper than asking what.
    pub fn owes_nothing(&self) -> bool {
        let life = &self.life;
        life.flights.iter().all(|flight| flight.stage == Stage::Waiting)
            && life.deposits.is_empty()
            && life.stress.word.is_none()
            && !curation_due(life)
            && dream::owes(life).is_none()
            && (!life.is_dead() || life.heartbeat.state == State::Dead)
    }
}
