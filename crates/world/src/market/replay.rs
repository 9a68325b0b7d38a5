//! A market that has already happened. Bars are told when they have closed and not before, gaps are
//! passed over, and an order meets the last close, never a wick somebody might have dreamt.

use golem::Usdc;
use golem::time::{Span, Time};
use golem::world::{Bar, Manifest, Observation, Outcome, Quote, Values};

use super::candles::{Candle, Candles};
use super::fill::Venue;
use super::{Realised, manifest};
use crate::walk::{self, Walk};
use crate::{Error, Ledger, Order, World};

/// What part of a day's turnover moves a market by one per cent.
const DEPTH_OF_TURNOVER: f64 = 0.003;
/// However quiet it gets, somebody is there for this many dollars; and where no volume is known, this.
const LEAST_DEPTH: f64 = 10_000.0;
const USUAL_DEPTH: f64 = 1_000_000.0;
/// What is remembered of turnover from one bar to the next.
const KEEP: f64 = 0.97;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayConfig {
    /// Begin with the first bar that opens then or later; without it, with the first of all.
    pub start: Option<Time>,
    /// What this market is called, for screens.
    pub name: String,
}

#[derive(Debug)]
pub struct Replay {
    candles: Candles,
    name: String,
    ledger: Ledger,
    first: usize,
    at: usize,
    realised: Realised,
    /// Dollars a day, smoothed.
    turnover: f64,
}

impl Replay {
    pub fn new(candles: Candles, config: ReplayConfig, ledger: Ledger) -> Result<Replay, Error> {
        let begins = config.start.unwrap_or_default();
        let first = candles.bars().partition_point(|candle| candle.opened < begins);
        if first == candles.bars().len() {
            return Err(Error::Config { what: "start", why: "is after the last bar" });
        }
        let realised = Realised::new(candles.interval());
        let mut replay = Replay { candles, name: config.name, ledger, first, at: 0, realised, turnover: 0.0 };
        replay.rewind();
        Ok(replay)
    }

    fn candle(&self) -> &Candle {
        &self.candles.bars()[self.at]
    }

    /// Dollars a day, if every bar were like this one.
    fn turnover_of(&self, candle: &Candle) -> f64 {
        let bars_a_day = Span::DAY.as_millis() as f64 / self.candles.interval().as_millis() as f64;
        candle.volume * candle.close * bars_a_day
    }

    fn unit(&self) -> Usdc {
        Usdc::micros((self.candle().close * 1e6) as i64)
    }

    fn venue(&self) -> Venue {
        let depth = if self.candles.volume_known() {
            (self.turnover * DEPTH_OF_TURNOVER).max(LEAST_DEPTH)
        } else {
            USUAL_DEPTH
        };
        // Any number will do that is the same whenever this file is opened.
        let salt = self.candles.bars()[0].opened.as_millis();
        Venue { unit: self.unit(), depth, held: self.ledger.held(), salt }
    }
}

impl World for Replay {
    fn manifest(&self) -> Manifest {
        manifest(&self.name, self.candles.interval(), "unit", &[("range", 0.4), ("volatility", 0.35)])
    }

    fn start(&self) -> Time {
        self.candles.bars()[self.first].opened + self.candles.interval()
    }

    fn end(&self) -> Option<Time> {
        self.candles.bars().last().map(|candle| candle.opened + self.candles.interval())
    }

    fn seek(&mut self, until: Time) -> Result<(), Error> {
        walk::seek(self, until);
        Ok(())
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error> {
        walk::observe(self, since, now, into);
        Ok(())
    }

    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error> {
        Ok(self.venue().quote(order))
    }

    fn commit(&mut self, key: u64, order: &Order) -> Result<Option<Outcome>, Error> {
        let (venue, at) = (self.venue(), self.closed());
        self.ledger.once(key, at, || venue.fill(key, order))
    }

    fn reconcile(&mut self, key: u64) -> Result<Option<Outcome>, Error> {
        let at = self.closed();
        self.ledger.reconcile(key, at)
    }
}

impl Walk for Replay {
    fn closed(&self) -> Time {
        self.candle().opened + self.candles.interval()
    }

    fn next(&self) -> Option<Time> {
        self.candles.bars().get(self.at + 1).map(|candle| candle.opened + self.candles.interval())
    }

    fn advance(&mut self) {
        let before = *self.candle();
        self.at += 1;
        let after = *self.candle();
        let passed = after.opened.since(before.opened).as_millis() as f64;
        let bars = passed / self.candles.interval().as_millis() as f64;
        self.realised.add_over(after.close / before.close - 1.0, bars);
        self.turnover = KEEP * self.turnover + (1.0 - KEEP) * self.turnover_of(&after);
    }

    /// Bars before the start are not told, but what they did to volatility and turnover is known.
    fn rewind(&mut self) {
        self.at = 0;
        self.realised = Realised::new(self.candles.interval());
        self.turnover = self.turnover_of(self.candle());
        while self.at < self.first {
            self.advance();
        }
    }

    fn bar(&self) -> Bar {
        let values = [self.candle().close, self.realised.yearly()];
        Bar { closed: self.closed(), values: Values::from_iter(values), unit: self.unit() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Span = Span::seconds(3_600);

    /// Closes at 10, 11, 12 … dollars; the hours 3 and 4 are missing.
    fn replay(start: Option<Time>) -> Replay {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("candles.csv");
        let row = |hour: u64| format!("{},{c},900,1,{c},1000\n", hour * 3_600, c = 10 + hour);
        let rows: String = [0, 1, 2, 5, 6, 7].into_iter().map(row).collect();
        std::fs::write(&path, format!("ts,open,high,low,close,volume\n{rows}")).unwrap();
        let (candles, report) = Candles::read(&path).unwrap();
        assert_eq!(report.gaps[0].missing, 2);
        Replay::new(candles, ReplayConfig { start, name: "test".to_owned() }, Ledger::memory()).unwrap()
    }

    fn closes(replay: &mut Replay, since: Time, now: Time) -> Vec<f64> {
        let mut told = Observation::default();
        replay.observe(since, now, &mut told).unwrap();
        told.bars.iter().map(|bar| bar.values[0]).collect()
    }

    fn hour(n: u64) -> Time {
        Time::default() + HOUR.times(n)
    }

    #[test]
    fn a_bar_is_known_when_it_has_closed_and_a_gap_stays_empty() {
        let mut replay = replay(None);
        assert_eq!((replay.start(), replay.end()), (hour(1), Some(hour(8))));
        let nearly = Time::millis(hour(2).as_millis() - 1);
        assert_eq!(closes(&mut replay, hour(0), nearly), [10.0]);
        assert_eq!(closes(&mut replay, hour(1), hour(2)), [11.0]);
        assert_eq!(closes(&mut replay, hour(2), hour(5)), [12.0]);
        assert_eq!(closes(&mut replay, hour(3), hour(5)), [0.0; 0]);
        assert_eq!(closes(&mut replay, hour(5), hour(6)), [15.0]);
        assert_eq!(closes(&mut replay, hour(6), hour(900)), [16.0, 17.0]);
    }

    #[test]
    fn a_later_start_hides_earlier_bars_but_not_what_they_taught() {
        let mut late = replay(Some(hour(5)));
        let mut early = replay(None);
        assert_eq!(late.start(), hour(6));
        assert_eq!(closes(&mut late, Time::default(), hour(9)), [15.0, 16.0, 17.0]);
        early.seek(hour(6)).unwrap();
        late.seek(hour(6)).unwrap();
        assert_eq!(early.bar(), late.bar());
        assert_eq!(replay(Some(hour(4))).start(), hour(6));
        let beyond = ReplayConfig { start: Some(hour(8)), name: String::new() };
        assert!(Replay::new(early.candles, beyond, Ledger::memory()).is_err());
    }

    #[test]
    fn orders_meet_the_last_close_and_never_a_wick() {
        let mut replay = replay(None);
        replay.seek(hour(4)).unwrap();
        let order = Order { action: 0, units: 1_000_000, limit: Usdc::dollars(13) };
        let paid = -replay.commit(1, &order).unwrap().unwrap().cash;
        assert!(paid >= Usdc::dollars(12) && paid < Usdc::cents(1_203), "{paid}");
        let order = Order { action: 1, ..order };
        let got = replay.commit(2, &order).unwrap().unwrap().cash;
        assert!(got <= Usdc::dollars(12) && got > Usdc::cents(1_197), "{got}");
    }
}
