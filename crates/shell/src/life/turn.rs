//! The turn of one of many golems: letters, what it owes, one look at the world, and all of it durable.

use std::time::Duration;

use golem::heartbeat::State;

use super::listener::{Listener, Silent};
use super::living::Living;
use crate::Error;

/// How long a life that is left waits for its world to finish the call it is at.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The result of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Lived,
    Paused,
    /// The world has not yet shown what there is to see.
    Waits,
    WorldOver,
    Dead,
}

impl Living {
    /// Takes one turn of one of many golems: letters, what it owes, one look at the world, and all of it durable.
    pub fn turn(&mut self, listener: &mut impl Listener) -> Result<Turn, Error> {
        self.look_into_inbox(listener)?;
        self.serve_calls(listener)?;
        self.perform(listener)?;
        let mut waits = false;
        if !self.life().is_dead() && !self.life().heartbeat().paused {
            if self.body.ground.end().is_some_and(|end| self.life().due() > end) {
                self.flush(listener)?;
                return Ok(Turn::WorldOver);
            }
            waits = !self.tick(listener)?;
            self.flush(listener)?;
            self.perform(listener)?;
        }
        self.flush(listener)?;
        if self.body.rewritten {
            self.show_playbook();
        }
        if self.life().is_dead() {
            self.body.counter.cut();
        }
        if self.life().heartbeat().state == State::Dead {
            self.take_money(listener)?;
            self.body.writing.carry_over(&self.body.place)?;
            return Ok(if self.goes_home()? { Turn::Dead } else { Turn::Waits });
        }
        let paused = self.life().heartbeat().paused;
        Ok(if paused {
            Turn::Paused
        } else if waits {
            Turn::Waits
        } else {
            Turn::Lived
        })
    }

    /// Reads its letters, and does nothing else.
    pub fn hear(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.look_into_inbox(listener)?;
        self.serve_calls(listener)?;
        self.perform(listener)?;
        self.flush(listener)
    }

    /// Leaves the life, with everything in its own file. A world that is at work for it must be done first: the next
    /// process to open it must not ask about what is still being done.
    pub fn leave(&mut self) -> Result<(), Error> {
        self.settle_thoughts(PATIENCE, &mut Silent)?;
        self.settle_calls(&mut Silent)?;
        self.flush(&mut Silent)?;
        self.show_playbook();
        self.body.writing.carry_over(&self.body.place)?;
        if self.body.ground.rest(PATIENCE) {
            Ok(())
        } else {
            Err(Error::Busy(format!(
                "the world of {} has not answered yet; try again in a moment",
                self.body.place.name
            )))
        }
    }
}
