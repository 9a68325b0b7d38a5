//! The running half of a home: what one process keeps in memory for the golems it runs there. Data that was read, worlds
//! and models that are asked without waiting, counters of agents, signals, the believed time.
//!
//! A process has one runtime for a home and hands it down to every life it opens. Code that only reads or writes files of
//! a home is given the [`Home`], and cannot come to any of this.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use golem::Golem;
use golem::time::Span;
use vault::Vault;
use vault::archive::Retention;
use world::Candles;
use world::series::Series;

use crate::Error;
use crate::clock::Clock;
use crate::errands::{AsyncWorlds, Counters, Minds};
use crate::home::log::KnownTip;
use crate::home::signals::Signals;
use crate::home::{GolemHome, Home};
use crate::locks::lock;
use crate::wall::Wall;

#[derive(Debug)]
pub struct Runtime {
    home: Home,
    /// Candles that were read, by their hash: many golems may live in the same data.
    candles: Mutex<BTreeMap<String, Candles>>,
    /// Series that still grow, by their file; one of each serves all golems that watch it.
    series: Mutex<BTreeMap<PathBuf, Arc<Series>>>,
    /// Retention of journals, read once: a host keeps the value it started with until it is restarted.
    retention: OnceLock<Retention>,
    /// How far the host log was verified, so that this is done once.
    known_tip: Mutex<KnownTip>,
    async_worlds: AsyncWorlds,
    minds: Arc<Minds>,
    counters: Counters,
    signals: Arc<Signals>,
    clock: Clock,
}

impl Runtime {
    /// A runtime over a home; nothing is read or started yet. In a simulation errands wait until it has them run.
    pub fn of(home: &Home) -> Arc<Runtime> {
        let wall = home.wall();
        let async_worlds = if wall.is_standing() { AsyncWorlds::waiting(wall) } else { AsyncWorlds::default() };
        Arc::new(Runtime {
            home: home.clone(),
            candles: Mutex::default(),
            series: Mutex::default(),
            retention: OnceLock::new(),
            known_tip: Mutex::default(),
            minds: Arc::new(Minds::new(Arc::clone(async_worlds.errands()))),
            async_worlds,
            counters: Counters::default(),
            signals: Arc::default(),
            clock: Clock::default(),
        })
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn wall(&self) -> &Wall {
        self.home.wall()
    }

    /// Retention: how much of a journal a life keeps in its file here.
    pub(crate) fn retention(&self) -> Retention {
        if let Some(known) = self.retention.get() {
            return *known;
        }
        match self.home.retention() {
            Some(retention) => *self.retention.get_or_init(|| retention),
            // An order is not refused for a slip in the settings, and what is kept too long can go later.
            None => Retention::Whole,
        }
    }

    /// Carries records of this life, left in the log by a host that went down in haste, over into its own file.
    pub(crate) fn reclaim(&self, vault: &mut Vault, golem: &mut Golem) -> Result<(), Error> {
        self.knowing_tip(|known| self.home.reclaim(known, vault, golem))
    }

    /// Has a reader go on from where the host log was verified before. Others do not wait for it.
    fn knowing_tip<T>(&self, read: impl FnOnce(&mut KnownTip) -> T) -> T {
        let mut known = *lock(&self.known_tip);
        let done = read(&mut known);
        *lock(&self.known_tip) = known;
        done
    }

    /// Candles that have been read already: many golems live in one file.
    pub(crate) fn candles(&self, hash: &String) -> Option<Candles> {
        lock(&self.candles).get(hash).cloned()
    }

    pub(crate) fn keep_candles(&self, hash: &str, candles: &Candles) {
        lock(&self.candles).insert(hash.to_owned(), candles.clone());
    }

    /// A series that still grows, the same for every golem that watches it.
    pub(crate) fn series(&self, path: &Path, bar: Span) -> Result<Arc<Series>, Error> {
        let mut known = lock(&self.series);
        if let Some(series) = known.get(path) {
            return Ok(Arc::clone(series));
        }
        let series = Arc::new(Series::open(path, bar)?);
        known.insert(path.to_owned(), Arc::clone(&series));
        Ok(series)
    }

    /// The worlds outside, which are asked without waiting.
    pub fn async_worlds(&self) -> &AsyncWorlds {
        &self.async_worlds
    }

    /// The models that golems ask.
    pub fn minds(&self) -> &Arc<Minds> {
        &self.minds
    }

    /// The counters at which calls of agents are let through.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The signals between the threads of this process.
    pub fn signals(&self) -> &Arc<Signals> {
        &self.signals
    }

    /// Milliseconds since 1970, as far as the machine's clock is believed.
    pub fn time_ms(&self) -> i64 {
        self.home.time_by(&self.clock)
    }

    /// News of the clock: why it is not believed, when that begins, and a word when it is over.
    pub fn clock_news(&self) -> Option<String> {
        self.clock.news(self.home.clock_trouble_by(&self.clock))
    }

    /// A golem that exists, with everything that was acknowledged of it in its own file. A host in this process hears of
    /// the request at once.
    pub fn read_golem(&self, name: &str) -> Result<GolemHome, Error> {
        let place = self.home.golem(name)?;
        self.catch_up(&place)?;
        Ok(place)
    }

    /// Has everything that was acknowledged carried into a golem's own file, for a reader of that file.
    pub fn catch_up(&self, place: &GolemHome) -> Result<(), Error> {
        self.knowing_tip(|known| place.catch_up_by(&self.signals, known))
    }
}
