//! A life with a mind outside: when the mind is shown what its golem is about to see, how long a tick waits for its
//! answer, and what becomes of a word that comes late.

use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::What;
use golem::heartbeat::State;
use golem::time::Time;
use golem::world::Observation;
use outside::wire::Look;

use super::listener::Listener;
use super::living::Living;
use super::mind::{LookAnswer, Mind};
use super::programs::Programs;
use crate::Error;

/// How long a tick waits for a mind on the spot; most are quicker.
const MOMENT: Duration = Duration::from_millis(2);

impl Living {
    /// Whether the mind outside has answered to what its golem is about to see, or is not waited for; false while it
    /// is. The observation is returned then.
    pub(super) fn is_spoken_for(
        &mut self,
        now: Time,
        seen: Observation,
        listener: &mut impl Listener,
    ) -> Result<Option<Observation>, Error> {
        self.read_mind()?;
        if self.consulting.mind().is_none() {
            return Ok(Some(seen));
        }
        let awake = self.life().heartbeat().state == State::Sleeping && now >= self.life().due();
        let Some(of) = seen.bars.last().map(|bar| bar.closed).filter(|_| awake) else {
            self.consulting.keep_untold(&seen.bars);
            return Ok(Some(seen));
        };
        let word = loop {
            let Some(mind) = self.consulting.mind() else { return Ok(Some(seen)) };
            let (heard, late) = mind.hear(of);
            if late.is_some() {
                self.consulting.late = late;
            }
            match heard {
                LookAnswer::Free => self.show_mind(of, &seen)?,
                LookAnswer::Coming if self.is_patient() => {
                    self.consulting.shown = Some((now, seen));
                    return Ok(None);
                }
                LookAnswer::Said(Some(word)) => break Some(word),
                LookAnswer::Behind | LookAnswer::Rests => {
                    self.consulting.keep_untold(&seen.bars);
                    break self.consulting.late.take();
                }
                LookAnswer::Coming | LookAnswer::Said(None) => break self.consulting.late.take(),
            }
        };
        self.consulting.since = None;
        if let Some(word) = word {
            self.consulting.late = None;
            self.feed(self.life().now(), What::Spoken(Box::new(word)), listener)?;
        }
        Ok(Some(seen))
    }

    /// Whether there is time: a world with its own time can wait, one on the wall clock goes on.
    fn is_patient(&self) -> bool {
        let hurried = self.is_wall() || self.watches().is_some();
        !hurried || self.consulting.since.is_some_and(|since| since.elapsed() < self.interval_at(1.0) / 2)
    }

    fn show_mind(&mut self, of: Time, seen: &Observation) -> Result<(), Error> {
        let rounds = self.life().knowing().rounds;
        let recalled = match self.consulting.recalled == Some(rounds) {
            true => None,
            false => Some(self.body.recalled(self.golem.life())?),
        };
        self.consulting.recalled = Some(rounds);
        let look = Look::of(self.golem.life(), &self.consulting.untold, seen, recalled);
        self.consulting.untold.clear();
        self.consulting.since = Some(Instant::now());
        if let Some(mind) = self.consulting.mind() {
            // A life at a host must not keep other golems waiting for long.
            let patience = if self.body.writing.is_lodged() { MOMENT / 10 } else { MOMENT };
            mind.show(of, look, patience);
        }
        Ok(())
    }

    fn read_mind(&mut self) -> Result<(), Error> {
        if self.consulting.mind.is_none() {
            let run = Programs::read(&self.body.place)?.mind;
            let mind = run.map(|run| Mind::of(&self.body.place, self.golem.life(), &run)).transpose()?;
            if let (Some(mind), Some(waker)) = (&mind, &self.body.waker) {
                mind.wakes(Arc::clone(waker));
            }
            self.consulting.mind = Some(mind);
        }
        Ok(())
    }

    /// Whether it waits for its mind.
    pub(super) fn is_consulting(&self) -> bool {
        self.consulting.shown.is_some()
    }

    pub(super) fn wait_for_mind(&self, most: Duration) {
        if let Some(mind) = self.consulting.mind() {
            mind.wait(most);
        }
    }

    /// The trouble with its mind outside, when it begins.
    pub fn mind_fell(&mut self) -> Option<String> {
        let why = self.consulting.mind()?.why();
        let new = why != self.consulting.told;
        self.consulting.told.clone_from(&why);
        why.filter(|_| new)
    }
}
