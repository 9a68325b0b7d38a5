//! What a golem stands on: a world that answers at once, here, or one that takes its time, elsewhere.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::world::Observation;
use golem::{Time, What, Which};
use world::World;

use crate::Error;
use crate::errands::{AWAY, Act, Far, Look, Waker, act};
use crate::wall::Wall;

pub(crate) enum Ground {
    Near {
        world: Box<dyn World + Send>,
        /// It could not be reached, and is left alone until then.
        away: Option<Instant>,
        wall: Wall,
        /// What it watches grow, if it does.
        series: Option<PathBuf>,
        /// Who carries out its orders elsewhere, where it only shows.
        orders: Option<Arc<Far>>,
    },
    Far(Arc<Far>),
}

impl Ground {
    /// World time after which nothing more will ever be seen.
    pub(crate) fn end(&self) -> Option<Time> {
        match self {
            Ground::Near { world, .. } => world.end(),
            Ground::Far(far) => far.end(),
        }
    }

    /// What the world shows since then, in an observation whose memory is used again; none while it is coming.
    pub(crate) fn look(
        &mut self,
        since: Time,
        now: Time,
        mut seen: Observation,
    ) -> Result<Option<(Time, Observation)>, Error> {
        if let Ground::Near { orders: Some(far), .. } = self {
            far.check()?;
        }
        match self {
            Ground::Near { away: Some(until), wall, .. } if *until > wall.now() => Ok(None),
            Ground::Near { world, away, wall, .. } => {
                seen.bars.clear();
                let looked = world.observe(since, now, &mut seen);
                Ok(patient(looked, away, wall)?.map(|()| (now, seen)))
            }
            Ground::Far(far) => match far.look(since, now)? {
                Look::Seen(now, seen) => Ok(Some((now, seen))),
                Look::Coming => Ok(None),
            },
        }
    }

    /// The answer to an errand; none while it is coming.
    pub(crate) fn errand(&mut self, errand: Act, frozen: &Path) -> Result<Option<What>, Error> {
        match self {
            Ground::Near { orders: Some(far), .. } => far.errand(errand),
            Ground::Near { away: Some(until), wall, .. } if *until > wall.now() => Ok(None),
            Ground::Near { world, away, wall, .. } => patient(act(world.as_mut(), &errand, frozen), away, wall),
            Ground::Far(far) => far.errand(errand),
        }
    }

    /// Who is asked elsewhere, if anybody is.
    fn far(&self) -> Option<&Arc<Far>> {
        match self {
            Ground::Near { orders, .. } => orders.as_ref(),
            Ground::Far(far) => Some(far),
        }
    }

    /// Whatever is left here of a golem that is dead has gone home; false while that is under way.
    pub(crate) fn close(&self) -> Result<bool, Error> {
        if let Ground::Near { orders: Some(far), .. } = self { far.close() } else { Ok(true) }
    }

    /// Forgets what was to be asked and is not owed any more; gives what came back all the same.
    pub(crate) fn keep_only(&self, owed: &[Which]) -> Option<What> {
        let far = self.far()?;
        far.keep_only(owed);
        far.unasked(owed)
    }

    /// Something is on its way.
    pub(crate) fn is_busy(&self) -> bool {
        self.far().is_some_and(|far| far.is_busy())
    }

    pub(crate) fn is_far(&self) -> bool {
        self.far().is_some()
    }

    /// The series it watches grow: its time goes as fast as that is there, and not faster.
    pub(crate) fn watches(&self) -> Option<&Path> {
        if let Ground::Near { series, .. } = self { series.as_deref() } else { None }
    }

    pub(crate) fn has_news(&self) -> bool {
        self.far().is_some_and(|far| far.has_news())
    }

    /// What came of an errand is there.
    pub(crate) fn has_answers(&self) -> bool {
        self.far().is_some_and(|far| far.has_answers())
    }

    /// Why it could not be reached when it was last asked; a bar that has not come yet is no reason.
    pub(crate) fn why_away(&self) -> Option<String> {
        self.far().and_then(|far| far.why_away())
    }

    /// Why an order would not be had, told once.
    pub(crate) fn says(&self) -> Option<String> {
        self.far().and_then(|far| far.says())
    }

    pub(crate) fn silent_for(&self) -> Option<Duration> {
        self.far().and_then(|far| far.silent_for())
    }

    pub(crate) fn wait(&self, most: Duration) {
        match self.far() {
            Some(far) => far.wait(most),
            None => std::thread::sleep(most),
        }
    }

    /// Nothing is under way any more; false if that took too long.
    pub(crate) fn rest(&self, most: Duration) -> bool {
        self.far().is_none_or(|far| far.rest(most))
    }

    pub(crate) fn wakes(&self, waker: Waker) {
        if let Some(far) = self.far() {
            far.wakes(waker);
        }
    }
}

/// A world that is away is no fault of anybody's: it is asked again later.
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
