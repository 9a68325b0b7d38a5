//! A world by description: what stands in a configuration file or a birth record, and how it is opened.

use std::path::PathBuf;

use golem::time::{Span, Time};
use serde::{Deserialize, Serialize};

use crate::{Candles, Error, Ledger, Queue, QueueConfig, Replay, ReplayConfig, Sim, SimConfig, World};

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
        /// Makes it fair, with a drift of this much after each burst of volume; 0 is no bursts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edge_bps: Option<u32>,
        /// The day on which volatility and gas begin to go on instead of turning back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flip_days: Option<f64>,
    },
    /// Candles from a file.
    Replay {
        path: PathBuf,
        /// Seconds since the epoch.
        #[serde(default)]
        start: Option<u64>,
        /// SHA-256 of the file, where whoever opens it wants to be sure it is the same.
        #[serde(default)]
        sha256: Option<String>,
    },
    /// A job queue and its servers.
    Queue {
        seed: u64,
        #[serde(default = "forty_seconds")]
        bar_ms: u64,
    },
}

impl Spec {
    /// The same kind of world with other chance in it; candles have none.
    pub fn with_seed(mut self, new: u64) -> Spec {
        match &mut self {
            Spec::Sim { seed, .. } | Spec::Queue { seed, .. } => *seed = new,
            Spec::Replay { .. } => {}
        }
        self
    }

    pub fn open(&self, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
        Ok(match self {
            Spec::Sim { seed, bar_ms, relations_change_days, edge_bps, flip_days } => {
                let config = SimConfig {
                    seed: *seed,
                    bar: Span::millis(*bar_ms),
                    relations_change_days: *relations_change_days,
                    edge_bps: *edge_bps,
                    flip_days: *flip_days,
                };
                Box::new(Sim::new(config, ledger)?)
            }
            Spec::Replay { path, .. } => {
                let (candles, _) = Candles::read(path)?;
                return self.open_on(candles, ledger);
            }
            Spec::Queue { seed, bar_ms } => {
                let config = QueueConfig { seed: *seed, bar: Span::millis(*bar_ms) };
                Box::new(Queue::new(config, ledger)?)
            }
        })
    }
}

impl Spec {
    /// The same where the candles of a replay have been read already: many golems may live in one file.
    pub fn open_on(&self, candles: Candles, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
        let Spec::Replay { path, start, .. } = self else { return self.open(ledger) };
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let stem = file.split('.').next().unwrap_or(&file);
        let config = ReplayConfig { start: start.map(Time::seconds), name: stem.to_owned() };
        Ok(Box::new(Replay::new(candles, config, ledger)?))
    }
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
