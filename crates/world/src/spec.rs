//! The description of a world, as in a configuration file or a birth record, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use golem::time::{Span, Time};
use golem::{limits, plain};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::market::signs::{self, EdgeConfig};
use crate::paper::settling;
use crate::queue;
use crate::series::Series;
use crate::shifting::{self, How, Shifting, ShiftingConfig};
use crate::{Candles, Check, Checks, Error, Ledger, Queue, QueueConfig, Replay, ReplayConfig, Sim, SimConfig, World};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Spec {
    /// A simulated market.
    Sim {
        seed: u64,
        #[serde(default = "forty_seconds")]
        bar_ms: u64,
        /// Days between changes in how things relate, on average; 0 is never.
        #[serde(default)]
        relations_change_days: f64,
        /// Makes the market fair, with a drift of this much after each burst of volume; 0 is no bursts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge_bps: Option<u32>,
        /// The day on which volatility and gas begin to go on instead of turning back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flip_days: Option<f64>,
    },
    /// A simulated market that is fair but for signs. After one kind of them the price drifts, and which kind that is
    /// changes.
    Edge {
        seed: u64,
        #[serde(default = "forty_seconds")]
        bar_ms: u64,
        /// The drift after a sign that leads somewhere, in basis points; 0 for a fair market, in which there is no such drift.
        edge_bps: u32,
        /// Days until the edge moves on to another sign; 0 is never.
        #[serde(default)]
        move_days: f64,
    },
    /// Candles from a file.
    Replay {
        path: PathBuf,
        /// Seconds since the epoch.
        #[serde(default)]
        start: Option<u64>,
        /// SHA-256 of the file, to be checked by the caller that opens the world.
        #[serde(default)]
        sha256: Option<String>,
    },
    /// A recorded series of something that is not a market, in the same kind of file.
    Gauge {
        path: PathBuf,
        /// Seconds since the epoch.
        #[serde(default)]
        start: Option<u64>,
        #[serde(default)]
        sha256: Option<String>,
    },
    /// Candles of a series that still grows: the present, and whatever came before it.
    Live {
        path: PathBuf,
        bar_ms: u64,
        /// Seconds since the epoch: the first bar that opens then or later is the first one shown.
        start: u64,
        /// The bytes that the file had at the birth, and their SHA-256.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<(u64, String)>,
    },
    /// Another world that takes its time, to rehearse one that is slow.
    Slow {
        world: Box<Spec>,
        /// How long an answer takes; the caller that opens the world adds the delay.
        #[serde(default)]
        latency_ms: u64,
        /// Bars until the world tells the fate of an order.
        #[serde(default)]
        settle_bars: u32,
    },
    /// Another world whose orders a program of the owner's carries out. The description does not say which program.
    Ordered { world: Box<Spec> },
    /// Checks of the owner's. The commands are not in the description: its owner sets on each machine what runs there.
    Checks { checks: Vec<Check>, bar_ms: u64 },
    /// A program of the owner's. The description does not say which program, as with checks.
    Outside { seed: u64 },
    /// A world of the laboratory, whose relations change in one of several ways.
    Shifting {
        seed: u64,
        #[serde(default = "forty_seconds")]
        bar_ms: u64,
        how: How,
        /// Days from one change to the next, on average; 0 is never.
        change_days: f64,
    },
    /// A job queue and its servers.
    Queue {
        seed: u64,
        #[serde(default = "forty_seconds")]
        bar_ms: u64,
    },
}

impl Spec {
    /// This world with another seed; candles have none.
    pub fn with_seed(mut self, new: u64) -> Spec {
        match &mut self {
            Spec::Sim { seed, .. }
            | Spec::Edge { seed, .. }
            | Spec::Queue { seed, .. }
            | Spec::Shifting { seed, .. }
            | Spec::Outside { seed } => *seed = new,
            Spec::Slow { world, latency_ms, settle_bars } => {
                let world = Box::new(world.as_ref().clone().with_seed(new));
                return Spec::Slow { world, latency_ms: *latency_ms, settle_bars: *settle_bars };
            }
            Spec::Ordered { world } => return Spec::Ordered { world: Box::new(world.as_ref().clone().with_seed(new)) },
            Spec::Replay { .. } | Spec::Gauge { .. } | Spec::Live { .. } | Spec::Checks { .. } => {}
        }
        self
    }

    /// How long an answer takes; none where the world answers at once.
    pub fn latency(&self) -> Option<Duration> {
        match self {
            Spec::Slow { latency_ms, .. } if *latency_ms > 0 => Some(Duration::from_millis(*latency_ms)),
            _ => None,
        }
    }

    /// The times at which the world's relations changed within its first so many bars, which no golem is told. None
    /// where that is not known.
    pub fn changes(&self, bars: u64) -> Option<Vec<Time>> {
        if let Spec::Edge { seed: _, bar_ms, edge_bps, move_days } = self {
            return Some(signs::moves(EdgeConfig { bps: *edge_bps, move_days: *move_days }, *bar_ms, bars));
        }
        let Spec::Shifting { seed, bar_ms, how, change_days } = self else { return None };
        let (seed, bar, change_days) = (*seed, Span::millis(*bar_ms), *change_days);
        Some(match how {
            How::Queue => queue::jumps(&QueueConfig { seed, bar, drift_days: change_days }, bars),
            how => shifting::changes(&ShiftingConfig { seed, bar, how: *how, change_days }, bars),
        })
    }

    /// The world itself, without its delays and without the program that carries out its orders.
    pub fn plain(&self) -> &Spec {
        if let Spec::Slow { world, .. } | Spec::Ordered { world } = self { world.plain() } else { self }
    }

    /// Whether a program of the owner's carries out its orders, so that what is done cannot be undone.
    pub fn is_ordered(&self) -> bool {
        matches!(self, Spec::Ordered { .. })
    }

    /// The candles this world needs: their file, and its hash where that is to be checked.
    pub fn candles(&mut self) -> Option<(&mut PathBuf, &Option<String>)> {
        match self {
            Spec::Slow { world, .. } | Spec::Ordered { world } => world.candles(),
            Spec::Replay { path, sha256, .. } | Spec::Gauge { path, sha256, .. } => Some((path, sha256)),
            _ => None,
        }
    }

    /// Opens the world on a growing series that other golems watch too.
    pub fn open_following(&self, series: Arc<Series>, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
        self.build(From::Series(series), ledger, 0)
    }

    pub fn open(&self, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
        self.build(From::File, ledger, 0)
    }

    /// Opens the world on candles that have been read already: many golems may live in one file.
    pub fn open_on(&self, candles: Candles, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
        self.build(From::Candles(candles), ledger, 0)
    }

    fn build(&self, from: From, ledger: Ledger, settle_bars: u32) -> Result<Box<dyn World + Send>, Error> {
        Ok(match self {
            Spec::Sim { seed, bar_ms, relations_change_days, edge_bps, flip_days } => {
                let config = SimConfig {
                    seed: *seed,
                    bar: Span::millis(*bar_ms),
                    relations_change_days: *relations_change_days,
                    edge_bps: *edge_bps,
                    flip_days: *flip_days,
                    edge: None,
                };
                Box::new(settling(Sim::new(config, ledger)?, settle_bars))
            }
            Spec::Edge { seed, bar_ms, edge_bps, move_days } => {
                let edge = Some(EdgeConfig { bps: *edge_bps, move_days: *move_days });
                let config = SimConfig { seed: *seed, bar: Span::millis(*bar_ms), edge, ..SimConfig::default() };
                Box::new(settling(Sim::new(config, ledger)?, settle_bars))
            }
            Spec::Replay { path, start, .. } => {
                let candles = if let From::Candles(candles) = from { candles } else { Candles::read(path)?.0 };
                let config = ReplayConfig { start: start.map(Time::seconds), name: called(path) };
                Box::new(settling(Replay::new(candles, config, ledger)?, settle_bars))
            }
            Spec::Gauge { path, start, .. } => {
                let candles = if let From::Candles(candles) = from { candles } else { Candles::read(path)?.0 };
                Box::new(Gauge::new(candles, start.map(Time::seconds), ledger)?)
            }
            Spec::Live { path, bar_ms, start, .. } => {
                let opened = || Series::open(path, Span::millis(*bar_ms)).map(Arc::new);
                let series = if let From::Series(series) = from { series } else { opened()? };
                let config = ReplayConfig { start: Some(Time::seconds(*start)), name: called(path) };
                Box::new(settling(Replay::following(series, config, ledger)?, settle_bars))
            }
            Spec::Slow { world, settle_bars: bars, .. } => {
                return world.build(from, ledger, settle_bars.saturating_add(*bars));
            }
            // Only what the world shows; its orders are carried out where the program runs.
            Spec::Ordered { world } => return world.build(from, ledger, settle_bars),
            Spec::Outside { .. } => return Err(Error::Outside("a program cannot be run here".to_owned())),
            // No check is run here; the world can only be looked at.
            Spec::Checks { checks, bar_ms } => {
                Box::new(Checks::new(checks.clone(), Span::millis(*bar_ms), Time::default(), None, None)?)
            }
            Spec::Queue { seed, bar_ms } => {
                let config = QueueConfig { seed: *seed, bar: Span::millis(*bar_ms), drift_days: 0.0 };
                Box::new(settling(Queue::new(config, ledger)?, settle_bars))
            }
            Spec::Shifting { seed, bar_ms, how: How::Queue, change_days } => {
                let config = QueueConfig { seed: *seed, bar: Span::millis(*bar_ms), drift_days: *change_days };
                Box::new(settling(Queue::new(config, ledger)?, settle_bars))
            }
            Spec::Shifting { seed, bar_ms, how, change_days } => {
                let config =
                    ShiftingConfig { seed: *seed, bar: Span::millis(*bar_ms), how: *how, change_days: *change_days };
                Box::new(settling(Shifting::new(config, ledger)?, settle_bars))
            }
        })
    }
}

/// The source of candles: their file, candles already read, or a series that grows.
enum From {
    File,
    Candles(Candles),
    Series(Arc<Series>),
}

/// A name for the world from its file's name, cut to what may stand in a birth record.
fn called(path: &Path) -> String {
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let stem = file.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&file);
    plain::line(stem, limits::LABEL - 1)
}

fn forty_seconds() -> u64 {
    golem::time::REFERENCE_TICK.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_described_in_a_line_and_opened_from_it() {
        let spec: Spec = serde_json::from_str(r#"{"kind":"sim","seed":7}"#).unwrap();
        assert_eq!(
            spec,
            Spec::Sim { seed: 7, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None }
        );
        assert_eq!(spec.open(Ledger::memory()).unwrap().manifest().bar, Span::seconds(40));
        // As it was written before a market could be staged.
        let text = r#"{"kind":"sim","seed":7,"bar_ms":40000,"relations_change_days":0.0}"#;
        assert_eq!(serde_json::to_string(&spec).unwrap(), text);
        let staged = r#"{"kind":"sim","seed":7,"bar_ms":40000,"relations_change_days":0.0,"edge_bps":45}"#;
        let spec: Spec = serde_json::from_str(staged).unwrap();
        assert_eq!(serde_json::to_string(&spec.clone().with_seed(7)).unwrap(), staged);
        assert_ne!(spec.clone().with_seed(8), spec);
        let text = r#"{"kind":"edge","seed":7,"bar_ms":40000,"edge_bps":45,"move_days":30.0}"#;
        let spec: Spec = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&spec).unwrap(), text);
        assert_eq!(spec.changes(2_160 * 61).unwrap().len(), 2);
        assert_ne!(spec.clone().with_seed(8), spec);
        let named = |spec: Spec| spec.open(Ledger::memory()).unwrap().manifest().world;
        assert_eq!(named(spec), "market with an edge");
        assert_eq!(named(Spec::Edge { seed: 7, bar_ms: 40_000, edge_bps: 0, move_days: 0.0 }), "fair market");
        let spec: Spec = serde_json::from_str(r#"{"kind":"queue","seed":7,"bar_ms":60000}"#).unwrap();
        assert_eq!(spec.open(Ledger::memory()).unwrap().manifest().bar, Span::seconds(60));
        assert_eq!(serde_json::to_string(&spec).unwrap(), r#"{"kind":"queue","seed":7,"bar_ms":60000}"#);
    }

    #[test]
    fn nonsense_in_a_description_is_refused_with_a_reason() {
        let opened = |spec: Spec| spec.open(Ledger::memory()).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            opened(Spec::Queue { seed: 1, bar_ms: 0 }),
            "the bar must last at least a millisecond and at most a day"
        );
        let spec = Spec::Sim { seed: 1, bar_ms: 1, relations_change_days: f64::NAN, edge_bps: None, flip_days: None };
        assert_eq!(opened(spec), "relations_change_days must be a number of days, 0 for never");
        assert!(
            opened(Spec::Replay { path: "no/such.csv".into(), start: None, sha256: None })
                .starts_with("cannot open no/such.csv")
        );
        assert!(serde_json::from_str::<Spec>(r#"{"kind":"sim","seed":7,"sede":8}"#).is_err());
    }
}
