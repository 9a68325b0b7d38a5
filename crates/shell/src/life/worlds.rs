//! The one place where worlds are built, from the description in a birth record.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use golem::time::{Span, Time};
use golem::world::{Fate, Manifest, Observation, Quote};
use golem::{GolemId, Life};
use world::{Candles, Checks, Ledger, Order, Spec, World};

use super::checks;
use super::ground::Ground;
use super::outside::Outside;
use crate::home::{GolemHome, data};
use crate::wall::Wall;
use crate::{Error, Runtime};

/// A description as a birth record has it.
pub fn read(spec: &str) -> Result<Spec, Error> {
    serde_json::from_str(spec)
        .map_err(|e| Error::Damaged(format!("the world this golem was born into cannot be opened: {e}")))
}

/// Opens the world of a description. Data is named relative to the home, so that a life can move to another one that
/// has the same data.
pub fn open(runtime: &Runtime, spec: &Spec, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
    let (home, mut spec) = (runtime.home(), spec.clone());
    if let Spec::Checks { checks, bar_ms } = &spec {
        let now = Time::millis(runtime.time_ms().unsigned_abs());
        return Ok(Box::new(Checks::new(checks.clone(), Span::millis(*bar_ms), now, None, None)?));
    }
    if let Spec::Live { path, bar_ms, before, .. } = spec.plain() {
        let path = home.root().join(path);
        if let Some((length, hash)) = before
            && data::digest_of(&path, *length)? != *hash
        {
            let path = path.display();
            return Err(Error::Damaged(format!("{path} is not the series this golem was born into; bring it back")));
        }
        return Ok(spec.open_following(runtime.series(&path, Span::millis(*bar_ms))?, ledger)?);
    }
    let Some((path, sha256)) = spec.candles() else { return Ok(spec.open(ledger)?) };
    *path = home.root().join(&*path);
    if let Some(candles) = sha256.as_ref().and_then(|hash| runtime.candles(hash)) {
        return Ok(spec.open_on(candles, ledger)?);
    }
    if sha256.is_some() && *sha256 != Some(data::digest(path)?) {
        let path = path.display();
        return Err(Error::Damaged(format!(
            "{path} is not the data this golem was born into; bring the old file back"
        )));
    }
    let (candles, _) = Candles::read(path)?;
    if let Some(hash) = sha256 {
        runtime.keep_candles(hash, &candles);
    }
    Ok(spec.open_on(candles, ledger)?)
}

/// The ground that a life stands on from now on, brought to where it last saw it. `lodged` is one of very many, whose
/// files are open only while something is written, and which no other process may run.
pub(crate) fn ground(runtime: &Runtime, place: &GolemHome, life: &Life, lodged: bool) -> Result<Ground, Error> {
    let (home, id) = (runtime.home(), life.id());
    let spec = read(&life.birth().world.spec)?;
    let busy = runtime.async_worlds().busy(id);
    busy.iter().for_each(|world| world.seek(life.seen().until));
    if let Some(world) = busy.as_ref().filter(|_| !spec.is_ordered()) {
        return Ok(Ground::Async(Arc::clone(world)));
    }
    let ledger = || if lodged { Ledger::resting(place.ledger()) } else { Ledger::file(place.ledger()) };
    let hurry = Arc::new(AtomicBool::new(false));
    let away = |world, hurry| {
        let world = runtime.async_worlds().open(id, world, &provider(&spec, id), place.frozen_marker(), hurry);
        world.seek(life.seen().until);
        world
    };
    let later = |world, hurry| Ok(Ground::Async(away(world, hurry)));
    if let Spec::Checks { checks, bar_ms } = &spec {
        let run = checks::runner(place, Arc::clone(&hurry));
        let (bar, file) = (Span::millis(*bar_ms), place.check_results());
        return later(Box::new(Checks::new(checks.clone(), bar, life.born(), Some(file), Some(run))?), hurry);
    }
    if let Spec::Outside { seed } = spec {
        return later(Box::new(Outside::of(place, life, seed, ledger()?)?), hurry);
    }
    // The series shows on this thread; orders are carried out by the program, and only those are on record.
    let (shown, orders) = match busy {
        _ if !spec.is_ordered() => (ledger()?, None),
        Some(program) => (Ledger::memory(), Some(program)),
        None => {
            let orders = Box::new(Outside::orders(place, life, ledger()?)?);
            (Ledger::memory(), Some(away(orders, Arc::clone(&hurry))))
        }
    };
    let world = open(runtime, &spec, shown)?;
    let world = super::curse::over(place, world);
    match spec.latency() {
        None => {
            let mut world = world;
            world.seek(life.seen().until)?;
            let series = if let Spec::Live { path, .. } = spec.plain() { Some(home.root().join(path)) } else { None };
            Ok(Ground::Sync { world, away: None, wall: runtime.wall().clone(), series, orders })
        }
        Some(latency) => {
            let slow = Box::new(Slow { world, latency, wall: runtime.wall().clone() });
            later(slow, hurry)
        }
    }
}

/// The provider whose slots its calls take: a program that hangs takes its own.
fn provider(spec: &Spec, id: GolemId) -> String {
    if spec.is_ordered() {
        return format!("world:orders:{id}");
    }
    let shared = match spec.plain() {
        Spec::Outside { .. } => return format!("world:outside:{id}"),
        Spec::Sim { .. } | Spec::Edge { .. } | Spec::Slow { .. } | Spec::Ordered { .. } => "world:sim",
        Spec::Replay { .. } | Spec::Gauge { .. } => "world:replay",
        Spec::Live { .. } => "world:live",
        Spec::Queue { .. } | Spec::Shifting { .. } => "world:queue",
        Spec::Checks { .. } => "world:checks",
    };
    shared.to_owned()
}

/// A paper world that answers late, as its owner wanted: to rehearse one that is slow.
struct Slow {
    world: Box<dyn World + Send>,
    latency: Duration,
    wall: Wall,
}

impl Slow {
    fn later(&mut self) -> &mut (dyn World + Send) {
        self.wall.sleep(self.latency);
        self.world.as_mut()
    }
}

impl World for Slow {
    fn manifest(&self) -> Manifest {
        self.world.manifest()
    }
    fn start(&self) -> Time {
        self.world.start()
    }
    fn end(&self) -> Option<Time> {
        self.world.end()
    }
    fn seek(&mut self, until: Time) -> Result<(), world::Error> {
        self.later().seek(until)
    }
    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), world::Error> {
        self.later().observe(since, now, into)
    }
    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, world::Error> {
        self.later().preview(order)
    }
    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, world::Error> {
        self.later().commit(key, order)
    }
    fn reconcile(&mut self, key: u64) -> Result<Fate, world::Error> {
        self.later().reconcile(key)
    }
}
