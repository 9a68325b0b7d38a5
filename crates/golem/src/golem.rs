//! A golem: one Life, and the two ways it may change. `step` lives forward, `fold` lives again.

use arrayvec::ArrayVec;

use crate::apply::apply;
use crate::books::Books;
use crate::constitution::MindKind;
use crate::event::{Event, Record};
use crate::input::{Fault, Input};
use crate::laws::laws;
use crate::life::{Birth, Life};
use crate::limits;
use crate::owed::{Again, Errand, Owed, owed};
use crate::policy::Stage;
use crate::rule::instincts;
use crate::step::step;
use crate::time::Time;

#[derive(Clone, Debug)]
pub struct Golem {
    life: Life,
    seq: u64,
    doubt: Doubt,
}

/// Errands that an earlier process may have sent. They are a matter of the process that runs the life, not of the life.
#[derive(Clone, Debug)]
enum Doubt {
    /// The life was read from records: any errand that was open then may have been sent.
    All,
    /// The life has been lived on since: only these may have been sent.
    Only { flights: ArrayVec<u64, { limits::FLIGHTS }>, thoughts: ArrayVec<u64, { limits::THOUGHTS }> },
}

impl Doubt {
    /// No earlier process has sent anything.
    const NONE: Doubt = Doubt::Only { flights: ArrayVec::new_const(), thoughts: ArrayVec::new_const() };
}

/// Golems are equal if they have lived the same.
impl PartialEq for Golem {
    fn eq(&self, other: &Golem) -> bool {
        self.seq == other.seq && self.life == other.life
    }
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
    /// A birth, and its record. Panics at one that [`Birth::check`] would refuse.
    pub fn born(birth: Birth, at: Time) -> (Golem, Record) {
        birth.check().expect("a birth is checked before");
        let mut events = vec![Event::Born(Box::new(birth.clone()))];
        let mut life = Life::new(birth, at);
        if life.constitution().mind.kind == MindKind::Rules {
            for instinct in instincts(&life.birth).into_iter().map(Event::from) {
                apply(&mut life, at, &instinct);
                events.push(instinct);
            }
        }
        (Golem { life, seq: 1, doubt: Doubt::NONE }, Record { seq: 1, at, events })
    }

    /// Continues from a snapshot.
    pub fn resume(life: Life, seq: u64) -> Result<Golem, FoldError> {
        laws(life.birth.laws).ok_or(FoldError::UnknownLaws(life.birth.laws))?;
        Ok(Golem { life, seq, doubt: Doubt::All })
    }

    /// Begins again from the first record.
    pub fn reborn(first: &Record) -> Result<Golem, FoldError> {
        let Some(Event::Born(birth)) = first.events.first() else { return Err(FoldError::NoBirth) };
        if first.seq != 1 {
            return Err(FoldError::Gap { expected: 1, got: first.seq });
        }
        laws(birth.laws).ok_or(FoldError::UnknownLaws(birth.laws))?;
        let mut golem = Golem { life: Life::new((**birth).clone(), first.at), seq: 1, doubt: Doubt::All };
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
        self.doubt = Doubt::All;
        Ok(())
    }

    /// Lives one input. An input that comes to nothing leaves no record.
    pub fn step(&mut self, input: &Input) -> Result<Option<Record>, Fault> {
        self.step_with(input, |_, _| {})
    }

    /// Lives one input, showing each event beside the life it left behind.
    pub fn step_with(&mut self, input: &Input, mut show: impl FnMut(&Event, &Life)) -> Result<Option<Record>, Fault> {
        if matches!(self.doubt, Doubt::All) {
            let sent = self.life.flights.iter().filter(|flight| flight.stage == Stage::Permitted);
            self.doubt = Doubt::Only {
                flights: sent.map(|flight| flight.key).collect(),
                thoughts: self.life.thoughts.open.iter().map(|question| question.key).collect(),
            };
        }
        let mut events = Vec::with_capacity(24);
        step(&mut self.life, input, &mut events, &mut show)?;
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

    /// Duties and errands that are owed, in the order in which to see to them.
    pub fn owed(&self) -> impl Iterator<Item = Owed> + '_ {
        owed(&self.life).map(|owed| self.ask_first(owed))
    }

    /// Turns an errand that an earlier process may have sent into a question about it, or gives it up, as its kind
    /// demands after a crash.
    fn ask_first(&self, owed: Owed) -> Owed {
        let Owed::Errand(errand) = owed else { return owed };
        let (flights, thoughts) = match &self.doubt {
            Doubt::All => (None, None),
            Doubt::Only { flights, thoughts } => (Some(flights), Some(thoughts)),
        };
        Owed::Errand(match (errand, errand.after_a_crash()) {
            (Errand::Commit { key, .. }, Again::AskFirst) if flights.is_none_or(|keys| keys.contains(&key)) => {
                Errand::Reconcile { key }
            }
            (Errand::Ask { key }, Again::Forfeit) if thoughts.is_none_or(|keys| keys.contains(&key)) => {
                Errand::Forfeit { key }
            }
            _ => errand,
        })
    }

    /// The first duty or errand that is owed.
    pub fn owes(&self) -> Option<Owed> {
        self.owed().next()
    }

    /// True if nothing is owed.
    pub fn owes_nothing(&self) -> bool {
        self.owes().is_none()
    }
}
