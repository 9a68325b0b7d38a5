//! The ground of a golem: a world that answers at once, in this thread, or one that answers later, from another.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::world::Observation;
use golem::{Time, What, Which};
use world::World;

use crate::Error;
use crate::errands::{AWAY, Act, AsyncWorld, LookState, Waker, act};
use crate::wall::Wall;

pub(crate) enum Ground {
    Sync {
        world: Box<dyn World + Send>,
        /// Until when it is left alone, because it could not be reached.
        away: Option<Instant>,
        wall: Wall,
        /// The series it watches grow, if it does.
        series: Option<PathBuf>,
        /// The program that carries out its orders, if the world itself only shows.
        orders: Option<Arc<AsyncWorld>>,
    },
    Async(Arc<AsyncWorld>),
}

impl Ground {
    /// World time after which nothing more will ever be seen.
    pub(crate) fn end(&self) -> Option<Time> {
        match self {
            Ground::Sync { world, .. } => world.end(),
            Ground::Async(later) => later.end(),
        }
    }

    /// The bars since then, in an observation whose memory is used again; none while they are coming.
    pub(crate) fn look(
        &mut self,
        since: Time,
        now: Time,
        mut seen: Observation,
    ) -> Result<Option<(Time, Observation)>, Error> {
        if let Ground::Sync { orders: Some(later), .. } = self {
            later.check()?;
        }
        match self {
            Ground::Sync { away: Some(until), wall, .. } if *until > wall.now() => Ok(None),
            Ground::Sync { world, away, wall, .. } => {
                seen.bars.clear();
                let looked = world.observe(since, now, &mut seen);
                Ok(patient(looked, away, wall)?.map(|()| (now, seen)))
            }
            Ground::Async(later) => match later.look(since, now)? {
                LookState::Seen(now, seen) => Ok(Some((now, seen))),
                LookState::Coming => Ok(None),
            },
        }
    }

    /// The answer to an errand; none while it is coming.
    pub(crate) fn errand(&mut self, errand: Act, frozen: &Path) -> Result<Option<What>, Error> {
        match self {
            Ground::Sync { orders: Some(later), .. } => later.errand(errand),
            Ground::Sync { away: Some(until), wall, .. } if *until > wall.now() => Ok(None),
            Ground::Sync { world, away, wall, .. } => patient(act(world.as_mut(), &errand, frozen), away, wall),
            Ground::Async(later) => later.errand(errand),
        }
    }

    /// The world or program that answers later, if there is one.
    fn later(&self) -> Option<&Arc<AsyncWorld>> {
        match self {
            Ground::Sync { orders, .. } => orders.as_ref(),
            Ground::Async(later) => Some(later),
        }
    }

    /// Whether everything a dead golem had left here has gone home; false while that is under way.
    pub(crate) fn close(&self) -> Result<bool, Error> {
        if let Ground::Sync { orders: Some(later), .. } = self { later.close() } else { Ok(true) }
    }

    /// Drops errands that wait and are not owed any more; returns an answer that came to one of them all the same.
    pub(crate) fn keep_only(&self, owed: &[Which]) -> Option<What> {
        let later = self.later()?;
        later.keep_only(owed);
        later.unasked(owed)
    }

    /// Whether an errand is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.later().is_some_and(|later| later.is_busy())
    }

    pub(crate) fn is_async(&self) -> bool {
        self.later().is_some()
    }

    /// The series it watches grow: its time goes as fast as that is there, and not faster.
    pub(crate) fn watches(&self) -> Option<&Path> {
        if let Ground::Sync { series, .. } = self { series.as_deref() } else { None }
    }

    pub(crate) fn has_news(&self) -> bool {
        self.later().is_some_and(|later| later.has_news())
    }

    /// Whether the answer to an errand is there.
    pub(crate) fn has_answers(&self) -> bool {
        self.later().is_some_and(|later| later.has_answers())
    }

    /// Why the world could not be reached when it was last asked; a bar that has not come yet is no reason.
    pub(crate) fn why_away(&self) -> Option<String> {
        self.later().and_then(|later| later.why_away())
    }

    /// Why an order was refused, told once.
    pub(crate) fn says(&self) -> Option<String> {
        self.later().and_then(|later| later.says())
    }

    pub(crate) fn silent_for(&self) -> Option<Duration> {
        self.later().and_then(|later| later.silent_for())
    }

    pub(crate) fn wait(&self, most: Duration) {
        match self.later() {
            Some(later) => later.wait(most),
            None => std::thread::sleep(most),
        }
    }

    /// Waits until nothing is under way; false if that took too long.
    pub(crate) fn rest(&self, most: Duration) -> bool {
        self.later().is_none_or(|later| later.rest(most))
    }

    pub(crate) fn wakes(&self, waker: Waker) {
        if let Some(later) = self.later() {
            later.wakes(waker);
        }
    }
}

/// Takes a world that is away for no fault: it is asked again later.
fn patient<T>(asked: Result<T, world::Error>, away: &mut Option<Instant>, wall: &Wall) -> Result<Option<T>, Error> {
    match asked {
        Ok(answer) => {
            *away = None;
            Ok(Some(answer))
        }
        Err(world::Error::Away { again, .. }) => {
            *away = Some(wall.now() + again.unwrap_or(AWAY));
            Ok(None)
        }
        Err(other) => Err(other.into()),
    }
}
