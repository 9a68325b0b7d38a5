//! A life that runs by itself, at the pace of its world or as fast as it goes, until something ends it.

use std::time::{Duration, Instant};

use golem::heartbeat::State;
use golem::time::Span;

use super::doorbell::{Doorbell, INBOX_EVERY};
use super::listener::Listener;
use super::living::Living;
use super::turn::PATIENCE;
use crate::Error;

/// How long the answer of a world is waited for on the spot.
const SOON: Duration = Duration::from_millis(2);

/// Milliseconds that the follower of a market may at least be late.
const LATE: u64 = 60_000;

/// How fast world time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// World seconds per second of the owner's.
    Times(f64),
    Max,
}

#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub pace: Pace,
    /// Stop after so many ticks.
    pub ticks: Option<u64>,
    /// Ticks in one transaction at most.
    pub batch: u64,
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Dead,
    Ticks,
    Stopped,
    /// The world has nothing more to show.
    WorldOver,
}

impl Living {
    /// Runs the life until something ends it.
    pub fn run(&mut self, run: Run, listener: &mut impl Listener) -> Result<Ending, Error> {
        let ending = self.run_on(run, listener)?;
        // The next process to run it must not ask about what is still being done, nor pay for an answer that was not
        // waited for.
        self.settle_thoughts(PATIENCE, listener)?;
        self.settle_calls(listener)?;
        self.body.ground.rest(PATIENCE);
        self.write_playbook()?;
        Ok(ending)
    }

    fn run_on(&mut self, run: Run, listener: &mut impl Listener) -> Result<Ending, Error> {
        let last_tick = run.ticks.map(|ticks| self.life().tick().saturating_add(ticks));
        let mut bell = Doorbell::of(self.body.place.inbox());
        self.wakes(bell.waker());
        let (mut pending, mut alarm) = (0, None);
        self.look_into_inbox(listener)?;
        loop {
            self.attend(listener)?;
            let dead = self.life().heartbeat().state == State::Dead;
            if dead && self.has_ended(listener)? {
                return Ok(Ending::Dead);
            }
            let stops = listener.stop();
            if stops || !dead && last_tick.is_some_and(|last| self.life().tick() >= last) {
                self.flush(listener)?;
                return Ok(if stops { Ending::Stopped } else { Ending::Ticks });
            }
            if dead {
                self.wait_for_world(listener)?;
                continue;
            }
            // Words that came out of a round are said at once.
            if bell.is_due() || !self.body.digested.is_empty() {
                bell.looks();
                self.look_into_inbox(listener)?;
                self.say_clock_news(listener);
                continue;
            }
            if self.life().heartbeat().paused || self.life().is_dead() {
                self.stand_still(&mut bell, listener)?;
                continue;
            }
            if self.body.ground.end().is_some_and(|end| self.life().due() > end) {
                self.flush(listener)?;
                return Ok(Ending::WorldOver);
            }
            match run.pace {
                // At full speed it is as fast as the world answers.
                _ if self.watches().is_some() => {}
                Pace::Max if !self.is_wall() => {
                    if !self.is_answered(listener)? {
                        continue;
                    }
                }
                pace => {
                    self.flush(listener)?;
                    pending = 0;
                    let speed = if let Pace::Times(speed) = pace { speed } else { 1.0 };
                    // A letter does not put off the next look.
                    let until = *alarm.get_or_insert_with(|| Instant::now() + self.next_look_in(speed));
                    if !self.wait(until, &mut bell, listener) {
                        continue;
                    }
                }
            }
            if !self.tick(listener)? {
                self.wait_for_world(listener)?;
                continue;
            }
            if let Some(why) = self.mind_fell() {
                listener.lacks(&why);
            }
            alarm = None;
            pending += 1;
            if pending >= run.batch {
                self.flush(listener)?;
                pending = 0;
            }
        }
    }

    /// Stands still for a moment: it is paused, or on its way to its end.
    fn stand_still(&mut self, bell: &mut Doorbell, listener: &mut impl Listener) -> Result<(), Error> {
        self.flush(listener)?;
        self.say_waits(listener);
        // Whatever a dying golem still owes may be tried again.
        bell.wait(if self.life().is_dead() { INBOX_EVERY } else { Duration::MAX });
        Ok(())
    }

    /// Tells news of the clock, if its life follows the wall clock.
    fn say_clock_news(&self, listener: &mut impl Listener) {
        if self.is_wall()
            && let Some(news) = self.body.runtime.clock_news()
        {
            listener.waits(&news);
        }
    }

    /// Whether nothing of it is left anywhere; money the owner sent while it was dying goes back with the rest.
    fn has_ended(&mut self, listener: &mut impl Listener) -> Result<bool, Error> {
        self.flush(listener)?;
        self.take_money(listener)?;
        self.goes_home()
    }

    /// Whether its questions are answered before the next look, as if everything were answered at once.
    fn is_answered(&mut self, listener: &mut impl Listener) -> Result<bool, Error> {
        let busy = self.body.is_busy();
        if busy {
            self.flush(listener)?;
            self.say_waits(listener);
            self.body.wait(INBOX_EVERY);
        }
        Ok(!busy && !self.body.ground.has_answers())
    }

    /// Waits for a look that has not come yet.
    fn wait_for_world(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        if self.is_consulting() {
            self.flush(listener)?;
            self.wait_for_mind(INBOX_EVERY);
            return Ok(());
        }
        // A world that answers soon is not worth a write of its own.
        if self.body.ground.is_async() {
            self.body.ground.wait(SOON);
        }
        if self.body.ground.has_news() {
            return Ok(());
        }
        self.flush(listener)?;
        if let Some(why) = self.refused().or_else(|| self.body.ground.why_away()) {
            listener.waits(&why);
        } else if self.is_left_alone() {
            listener.waits("nothing new has come for a while; the program that follows its series may have stopped");
        }
        self.body.ground.wait(INBOX_EVERY);
        Ok(())
    }

    /// Whether the series it watches should have shown something by now.
    fn is_left_alone(&self) -> bool {
        let late = Span::millis((self.life().interval().as_millis() * 5).max(LATE));
        !self.life().is_dead()
            && self.watches().is_some()
            && self.wall_time() > self.life().seen().until.max(self.life().born()) + late
    }

    /// Serves its agent's calls and performs what it owes; its death ends the calls under way.
    fn attend(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.serve_calls(listener)?;
        self.perform(listener)?;
        if self.life().is_dead() {
            self.body.counter.cut();
        }
        Ok(())
    }

    /// The interval from one look to the next; the wall clock cannot be hurried.
    pub fn interval_at(&self, speed: f64) -> Duration {
        let speed = if self.is_wall() { 1.0 } else { speed };
        Duration::from_secs_f64(self.life().interval().as_millis() as f64 / 1_000.0 / speed)
    }

    /// The time until the next look.
    fn next_look_in(&self, speed: f64) -> Duration {
        if self.is_wall() {
            Duration::from_millis(self.life().due().since(self.wall_time()).as_millis())
        } else {
            self.interval_at(speed)
        }
    }

    /// Sleeps until the alarm; false if something wants attention first.
    fn wait(&self, until: Instant, bell: &mut Doorbell, listener: &mut impl Listener) -> bool {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            bell.wait(left);
            if listener.stop() || self.body.has_news() || bell.is_due() {
                return false;
            }
        }
    }
}
