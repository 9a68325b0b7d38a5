//! A recorded series of something that is not a market: the load of a grid, a temperature, a count of visitors. A golem
//! predicts its value some hours ahead, and cannot influence it.

use golem::Usdc;
use golem::time::{Span, Time};
use golem::world::{Bar, DomainKind, DomainSpec, Effect, Features, Manifest, Outcome, Quote, Timing, Values};

use crate::market::candles::Candles;
use crate::paper::{self, Model, Paper};
use crate::running::Slow;
use crate::walk::{self, Walk};
use crate::{Error, Ledger, Order};

/// How many bars ahead claims look.
const HORIZON: usize = 6;
const DAY: usize = 24;
const WEEK: usize = 168;
const NAMES: [&str; 7] = ["hour", "weekday", "day_ratio", "change_1", "change_3", "yesterday", "last_week"];
/// The first of January 1970 was a Thursday.
const THURSDAY: u64 = 3;

/// A series to watch.
pub type Gauge = Paper<Recorded>;

#[derive(Debug)]
pub struct Recorded {
    candles: Candles,
    first: usize,
    at: usize,
    usual: Slow,
}

impl Gauge {
    /// Opens the series of closes, from the first bar that opens at `start` or later.
    pub fn new(candles: Candles, start: Option<Time>, ledger: Ledger) -> Result<Gauge, Error> {
        let begins = start.unwrap_or_default();
        let first = candles.bars().partition_point(|candle| candle.opened < begins);
        if first == candles.bars().len() {
            return Err(Error::Config { what: "start", why: "is after the last bar" });
        }
        let mut recorded = Recorded { candles, first, at: 0, usual: Slow::new(DAY as f64) };
        recorded.rewind();
        Ok(paper::open(recorded, ledger))
    }
}

impl Recorded {
    /// The value so many bars ago, or the oldest there is.
    fn ago(&self, bars: usize) -> f64 {
        self.candles.bars()[self.at.saturating_sub(bars)].close
    }

    fn change(&self, from: usize, to: usize) -> f64 {
        let (from, to) = (self.ago(from), self.ago(to));
        if from > 0.0 { to / from } else { 1.0 }
    }
}

impl Walk for Recorded {
    fn closed(&self) -> Time {
        self.candles.bars()[self.at].opened + self.candles.interval()
    }

    fn next(&self) -> Option<Time> {
        self.candles.bars().get(self.at + 1).map(|bar| bar.opened + self.candles.interval())
    }

    fn advance(&mut self) {
        self.at += 1;
        self.usual.push(self.ago(0));
    }

    fn rewind(&mut self) {
        // Warmed up with the bars before it: a day of them, where there is one.
        let from = self.first.saturating_sub(DAY);
        (self.at, self.usual) = (from, Slow::new(DAY as f64));
        self.usual.push(self.ago(0));
        while self.at < self.first {
            self.advance();
        }
    }

    fn bar(&self) -> Bar {
        let closed = self.closed();
        let weekday = (closed.as_millis() / Span::DAY.as_millis() + THURSDAY) % 7;
        let features: [f64; NAMES.len()] = [
            walk::hour(closed),
            weekday as f64,
            self.usual.ratio(self.ago(0)),
            self.change(1, 0),
            self.change(3, 0),
            // The change over these hours the day before, and the week before.
            self.change(DAY, DAY - HORIZON),
            self.change(WEEK, WEEK - HORIZON),
        ];
        Bar {
            closed,
            values: Values::from_iter([self.ago(0)]),
            features: Features::from_iter(features),
            unit: Usdc::ZERO,
        }
    }
}

impl Model for Recorded {
    const ACTIONS: &'static [(&'static str, Effect)] = &[];

    fn manifest(&self) -> Manifest {
        let domain = DomainSpec {
            name: "level".to_owned(),
            weight: 1.0,
            kind: DomainKind::Value,
            horizon: HORIZON as u32,
            scale: None,
            level: None,
        };
        Manifest {
            world: "recorded series".to_owned(),
            // The caller that opened this world fills it in.
            spec: String::new(),
            bar: self.candles.interval(),
            domains: [domain].into_iter().collect(),
            features: NAMES.map(str::to_owned).to_vec(),
            instincts: instincts(),
            actions: [].into_iter().collect(),
            regime: None,
            holding: HORIZON as u32,
            lot: 1,
            unit: "unit".to_owned(),
            data_per_day: Usdc::ZERO,
            timing: Timing::Told,
            paper: true,
        }
    }

    fn start(&self) -> Time {
        self.candles.bars()[self.first].opened + self.candles.interval()
    }

    fn end(&self) -> Option<Time> {
        self.candles.bars().last().map(|bar| bar.opened + self.candles.interval())
    }

    fn quote(&self, _: &Order, _: i64) -> Option<Quote> {
        None
    }

    fn fill(&self, _: u64, _: &Order, _: i64) -> Option<Outcome> {
        None
    }
}

/// Heuristics over the hours of the day, the change a day and a week before, and the present level.
fn instincts() -> Vec<String> {
    let between = |name: &str, edges: &[f64]| -> Vec<String> {
        let last = edges.len() - 1;
        let inner = edges.windows(2).map(|pair| format!("{name} > {} and {name} < {}", pair[0], pair[1]));
        let outer = [format!("{name} < {}", edges[0]), format!("{name} > {}", edges[last])];
        inner.chain(outer).collect()
    };
    let all = [
        between("hour", &[3.5, 7.5, 11.5, 15.5, 19.5]),
        between("yesterday", &[0.85, 0.95, 1.05, 1.2]),
        between("last_week", &[0.85, 0.95, 1.05, 1.2]),
        between("day_ratio", &[0.85, 1.0, 1.15]),
        vec!["weekday > 4.5".to_owned(), "weekday < 4.5".to_owned()],
    ];
    all.concat().into_iter().map(|when| format!("when {when} expect level over {HORIZON}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Candle, World};

    /// A level that goes with the hour, on a slow rise.
    fn candles(bars: usize) -> Candles {
        let candle = |n: usize| {
            let level = 100.0 + n as f64 * 0.01 + 20.0 * libm::sin(n as f64 * std::f64::consts::TAU / 24.0);
            let opened = Time::seconds(1_704_067_200 + 3_600 * n as u64);
            Candle { opened, open: level, high: level, low: level, close: level, volume: 0.0, gas: 0.0 }
        };
        Candles::of((0..bars).map(candle).collect(), Span::seconds(3_600), false)
    }

    #[test]
    fn nothing_is_shown_before_it_has_closed_and_the_same_wherever_it_was_begun() {
        let start = Time::seconds(1_704_067_200 + 3_600 * 500);
        let mut late = Gauge::new(candles(900), Some(start), Ledger::memory()).unwrap();
        let mut whole = Gauge::new(candles(900), None, Ledger::memory()).unwrap();
        let until = start + Span::seconds(3_600 * 300);
        late.seek(until).unwrap();
        whole.seek(until).unwrap();
        let (a, b) = (late.model.bar(), whole.model.bar());
        assert_eq!((a.closed, a.values[0]), (b.closed, b.values[0]));
        assert!(a.closed <= until && (a.features[5] - b.features[5]).abs() < 1e-12);
        // Of a level that goes with the hour, what it did yesterday is what it will do.
        let (now, told) = (a.values[0], a.features[5]);
        late.seek(until + Span::seconds(3_600 * 6)).unwrap();
        assert!((now * told / late.model.bar().values[0] - 1.0).abs() < 0.01);
    }
}
