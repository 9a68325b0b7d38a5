//! A golem: one Life, and the two ways it may change. `step` lives forward, `fold` lives again.

use arrayvec::ArrayVec;
use life::books::Books;
use life::constitution::MindKind;
use life::event::{Event, Record};
use life::policy::Stage;
use life::time::Time;
use life::{Birth, Course, FoldError, Life, limits};

use crate::call::CallVerdict;
use crate::check::check;
use crate::input::{Fault, Input};
use crate::owed::{Again, Errand, Owed, owed};
use crate::rule::instincts;
use crate::step::step;

#[derive(Clone, Debug)]
pub struct Golem {
    course: Course,
    doubt: Doubt,
}

/// The outcome of one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Consequence {
    /// An input that comes to nothing leaves no record.
    pub record: Option<Record>,
    /// The verdict on a call, with the reason of a refusal; nothing for any other input.
    pub verdict: Option<CallVerdict>,
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
        self.course == other.course
    }
}

impl Golem {
    /// A birth, and its record. Panics at one that [`Birth::check`] would refuse.
    pub fn born(birth: Birth, at: Time) -> (Golem, Record) {
        let rules = birth.constitution.mind.kind == MindKind::Rules;
        let gifts = if rules { instincts(&birth) } else { Vec::new() };
        let (course, record) = Course::born(birth, at, gifts.into_iter().map(Event::from));
        (Golem { course, doubt: Doubt::NONE }, record)
    }

    /// Continues from a snapshot.
    pub fn resume(life: Life, seq: u64) -> Result<Golem, FoldError> {
        Ok(Golem { course: Course::resume(life, seq)?, doubt: Doubt::All })
    }

    /// Begins again from the first record.
    pub fn reborn(first: &Record) -> Result<Golem, FoldError> {
        Ok(Golem { course: Course::reborn(first)?, doubt: Doubt::All })
    }

    /// Lives one record again.
    pub fn fold(&mut self, record: &Record) -> Result<(), FoldError> {
        self.fold_with(record, |_, _| {})
    }

    /// Lives one record again, showing each event beside the life it left behind.
    pub fn fold_with(&mut self, record: &Record, show: impl FnMut(&Event, &Life)) -> Result<(), FoldError> {
        self.course.fold(record, show)?;
        self.doubt = Doubt::All;
        Ok(())
    }

    /// Lives one input and returns its record. An input that comes to nothing leaves none.
    pub fn step(&mut self, input: &Input) -> Result<Option<Record>, Fault> {
        Ok(self.step_with(input, |_, _| {})?.record)
    }

    /// Lives one input, showing each event beside the life it left behind.
    pub fn step_with(&mut self, input: &Input, mut show: impl FnMut(&Event, &Life)) -> Result<Consequence, Fault> {
        if matches!(self.doubt, Doubt::All) {
            let sent = self.life().flights().iter().filter(|flight| flight.stage == Stage::Permitted);
            self.doubt = Doubt::Only {
                flights: sent.map(|flight| flight.key).collect(),
                thoughts: self.life().thoughts().open.iter().map(|question| question.key).collect(),
            };
        }
        check(self.life(), input)?;
        let mut verdict = None;
        let record = self.course.live(input.now, &mut show, |draft| verdict = step(draft, input));
        assert!(record.is_none() || self.life().now() == input.now, "a step is at another time than its input");
        assert!(Books::of(self.life()).adds_up(), "money was made or lost: {:?}", Books::of(self.life()));
        Ok(Consequence { record, verdict })
    }

    pub fn life(&self) -> &Life {
        self.course.life()
    }

    /// The number of the newest record.
    pub fn seq(&self) -> u64 {
        self.course.seq()
    }

    /// Duties and errands that are owed, in the order in which to see to them.
    pub fn owed(&self) -> impl Iterator<Item = Owed> + '_ {
        owed(self.life()).map(|owed| self.ask_first(owed))
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
