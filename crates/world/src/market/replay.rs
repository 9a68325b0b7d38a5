//! A market that has already happened. Bars are told when they have closed and not before, and gaps are
//! passed over. An order is quoted at the last close and filled at the open right after it, which was not
//! known when the order was decided; never at the high or low of a bar, and not across a gap.
//!
//! The present is such a market too: a file that still grows. There an order waits for the bar that gives its price,
//! and it waits whether that bar is there already or not, so that a life is the same as it happens and long after.

use std::sync::Arc;

use golem::Usdc;
use golem::time::{Span, Time};
use golem::world::{Bar, Effect, Manifest, Outcome, Quote};

use super::candles::{Candle, Candles};
use super::features::{SeenBar, Tape};
use super::fill::{self, Venue};
use super::manifest;
use super::series::Series;
use crate::paper::{self, Model, Paper};
use crate::walk::Walk;
use crate::{Error, Ledger, Order};

/// The part of a day's turnover that moves a market by one per cent.
const DEPTH_OF_TURNOVER: f64 = 0.003;
/// The least depth of a market, however quiet, in dollars.
const LEAST_DEPTH: f64 = 10_000.0;
/// The depth of a market whose volume is not known, in dollars.
const USUAL_DEPTH: f64 = 1_000_000.0;
/// The share of smoothed turnover kept from one bar to the next.
const KEEP: f64 = 0.97;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayConfig {
    /// The market begins with the first bar that opens then or later; without it, with the first of all.
    pub start: Option<Time>,
    /// The name of this market, for screens.
    pub name: String,
}

/// A market that has already happened, to live in.
pub type Replay = Paper<Recording>;

/// The recorded market itself, without the golem's record.
#[derive(Debug)]
pub struct Recording {
    candles: Candles,
    /// The series that more candles come from.
    series: Option<Arc<Series>>,
    name: String,
    first: usize,
    at: usize,
    /// Dollars a day, smoothed.
    turnover: f64,
    tape: Tape,
}

impl Replay {
    pub fn new(candles: Candles, config: ReplayConfig, ledger: Ledger) -> Result<Replay, Error> {
        Ok(paper::open(Recording::new(candles, None, config)?, ledger))
    }

    /// Opens a market that goes on as long as the series grows.
    pub fn following(series: Arc<Series>, config: ReplayConfig, ledger: Ledger) -> Result<Replay, Error> {
        Ok(paper::open(Recording::new(series.latest()?, Some(series), config)?, ledger))
    }
}

impl Recording {
    fn new(candles: Candles, series: Option<Arc<Series>>, config: ReplayConfig) -> Result<Recording, Error> {
        let begins = config.start.unwrap_or_default();
        let first = candles.bars().partition_point(|candle| candle.opened < begins);
        if first == candles.bars().len() {
            return Err(Error::Config { what: "start", why: "is after the last bar" });
        }
        let opening = candles.bars()[0];
        let turnover = turnover(&candles, &opening);
        let tape = Tape::new(candles.interval(), seen(&candles, &opening, turnover));
        let mut recording = Recording { candles, series, name: config.name, first, at: 0, turnover, tape };
        recording.rewind();
        Ok(recording)
    }

    fn candle(&self) -> &Candle {
        &self.candles.bars()[self.at]
    }

    fn known_until(&self) -> Option<Time> {
        self.candles.bars().last().map(|candle| candle.opened + self.candles.interval())
    }

    /// The open of the next bar, if it opens as this one closes.
    fn next_open(&self) -> Option<f64> {
        let next = self.candles.bars().get(self.at + 1)?;
        (next.opened == self.closed()).then_some(next.open)
    }

    fn venue(&self, price: f64, held: i64) -> Venue {
        let depth = depth(&self.candles, self.turnover).unwrap_or(USUAL_DEPTH);
        // Any number will do that is the same each time this file is opened.
        let salt = self.candles.bars()[0].opened.as_millis();
        Venue { unit: unit(price), depth, held, salt }
    }
}

fn unit(price: f64) -> Usdc {
    Usdc::micros((price * 1e6) as i64)
}

/// Dollars a day, if every bar were like this one.
fn turnover(candles: &Candles, candle: &Candle) -> f64 {
    let bars_a_day = Span::DAY.as_millis() as f64 / candles.interval().as_millis() as f64;
    candle.volume * candle.close * bars_a_day
}

/// Dollars that move the market by one per cent, as far as the file can tell.
fn depth(candles: &Candles, turnover: f64) -> Option<f64> {
    candles.volume_known().then(|| (turnover * DEPTH_OF_TURNOVER).max(LEAST_DEPTH))
}

fn seen(candles: &Candles, candle: &Candle, turnover: f64) -> SeenBar {
    SeenBar {
        closed: candle.opened + candles.interval(),
        close: candle.close,
        high: candle.high,
        low: candle.low,
        volume: candles.volume_known().then_some(candle.volume),
        gas: candles.gas_known().then_some(candle.gas),
        depth: depth(candles, turnover),
    }
}

impl Model for Recording {
    const ACTIONS: &'static [(&'static str, Effect)] = &fill::ACTIONS;

    fn manifest(&self) -> Manifest {
        manifest(&self.name, self.candles.interval(), "unit", self.candles.gas_known())
    }

    fn start(&self) -> Time {
        self.candles.bars()[self.first].opened + self.candles.interval()
    }

    fn end(&self) -> Option<Time> {
        if self.series.is_some() { None } else { self.known_until() }
    }

    fn quote(&self, order: &Order, held: i64) -> Option<Quote> {
        self.venue(self.candle().close, held).quote(order)
    }

    fn fill(&self, key: u64, order: &Order, held: i64) -> Option<Outcome> {
        self.venue(self.next_open()?, held).fill(key, order)
    }

    fn defers(&self) -> bool {
        self.series.is_some()
    }

    fn has_next(&self) -> bool {
        self.at + 1 < self.candles.bars().len()
    }

    fn catch_up(&mut self) -> Result<Option<Time>, Error> {
        let Some(series) = &self.series else { return Ok(None) };
        self.candles = series.latest()?;
        Ok(self.known_until())
    }
}

impl Walk for Recording {
    fn closed(&self) -> Time {
        self.candle().opened + self.candles.interval()
    }

    fn next(&self) -> Option<Time> {
        self.candles.bars().get(self.at + 1).map(|candle| candle.opened + self.candles.interval())
    }

    fn advance(&mut self) {
        self.at += 1;
        let candle = *self.candle();
        self.turnover = KEEP * self.turnover + (1.0 - KEEP) * turnover(&self.candles, &candle);
        self.tape.push(seen(&self.candles, &candle, self.turnover));
    }

    /// Goes back to the first bar shown. Bars before the start are not told, but the features of the first one come
    /// from them.
    fn rewind(&mut self) {
        self.at = 0;
        let opening = *self.candle();
        self.turnover = turnover(&self.candles, &opening);
        self.tape = Tape::new(self.candles.interval(), seen(&self.candles, &opening, self.turnover));
        while self.at < self.first {
            self.advance();
        }
    }

    fn bar(&self) -> Bar {
        self.tape.bar(unit(self.candle().close))
    }
}

#[cfg(test)]
mod tests {
    use golem::world::{Fate, Observation};

    use super::*;
    use crate::World;
    use crate::chance::Chance;

    const HOUR: Span = Span::seconds(3_600);

    /// Closes at 10, 11, 12 … dollars, opens half a dollar above; the hours 3 and 4 are missing.
    fn replay(start: Option<Time>) -> Replay {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("candles.csv");
        let row = |hour: u64| format!("{},{c}.5,900,1,{c},1000\n", hour * 3_600, c = 10 + hour);
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
        assert_eq!(early.model.bar(), late.model.bar());
        assert_eq!(replay(Some(hour(4))).start(), hour(6));
        let beyond = ReplayConfig { start: Some(hour(8)), name: String::new() };
        assert!(Replay::new(early.model.candles, beyond, Ledger::memory()).is_err());
    }

    #[test]
    fn an_order_is_quoted_at_the_last_close_and_filled_at_the_next_open_and_never_at_a_wick() {
        let mut replay = replay(None);
        replay.seek(hour(2)).unwrap();
        let buy = Order { most: Usdc::dollars(20), ..Order::open(0, 1_000_000) };
        let sell = Order { action: 1, ..buy };
        let quoted = -replay.preview(&buy).unwrap().unwrap().cash;
        assert!(quoted > Usdc::dollars(11) && quoted < Usdc::cents(1_103), "{quoted}");
        let paid = -replay.commit(1, &buy).unwrap().outcome().unwrap().cash;
        assert!(paid > Usdc::cents(1_250) && paid < Usdc::cents(1_253), "{paid}");
        let got = replay.commit(2, &sell).unwrap().outcome().unwrap().cash;
        assert!(got < Usdc::cents(1_250) && got > Usdc::cents(1_247), "{got}");
        let dear = Order { most: quoted + Usdc::cents(10), ..buy };
        assert_eq!(replay.commit(3, &dear).unwrap(), Fate::Never);
    }

    #[test]
    fn nothing_is_filled_across_a_gap_or_after_the_last_bar() {
        let mut replay = replay(None);
        let buy = Order { most: Usdc::dollars(20), ..Order::open(0, 1_000_000) };
        for (key, at) in [(1, hour(3)), (2, hour(5)), (3, hour(8)), (4, hour(900))] {
            replay.seek(at).unwrap();
            assert!(replay.preview(&buy).unwrap().is_some());
            assert_eq!(replay.commit(key, &buy).unwrap(), Fate::Never, "at {at:?}");
        }
        replay.seek(hour(6)).unwrap();
        assert!(replay.commit(5, &buy).unwrap().outcome().is_some());
        assert_eq!(replay.commit(1, &buy).unwrap(), Fate::Never);
    }

    #[test]
    fn what_comes_later_is_not_to_be_seen_before() {
        let folder = tempfile::tempdir().unwrap();
        let told = |name: &str, garbage: Option<u64>| {
            let mut chance = Chance::new(5, 0);
            let mut rows = String::from("ts,open,high,low,close,volume\n");
            for hour in 0..600_u64 {
                let (close, volume) = (chance.between(50.0, 60.0), chance.between(0.0, 9.0));
                let (close, volume) =
                    if garbage.is_some_and(|from| hour >= from) { (7e8, 1e15) } else { (close, volume) };
                rows += &format!("{},{close},{},{close},{close},{volume}\n", hour * 3_600, close * 1.01);
            }
            let path = folder.path().join(name);
            std::fs::write(&path, rows).unwrap();
            let (candles, _) = Candles::read(&path).unwrap();
            let mut replay = Replay::new(candles, ReplayConfig::default(), Ledger::memory()).unwrap();
            let mut told = Observation::default();
            replay.observe(Time::default(), hour(600), &mut told).unwrap();
            told.bars
        };
        let as_it_was = told("plain", None);
        for from in [1, 24, 300, 599] {
            let other = told("garbage", Some(from));
            let from = from as usize;
            assert!(other[..from] == as_it_was[..from]);
            assert!(other[from].features != as_it_was[from].features);
            assert!(other.iter().flat_map(|bar| &bar.features).all(|feature| feature.is_finite()));
        }
    }

    fn bar(hour: u64) -> Candle {
        let close = 10.0 + hour as f64;
        Candle {
            opened: Time::seconds(hour * 3_600),
            open: close + 0.5,
            high: 900.0,
            low: 1.0,
            close,
            volume: 1e3,
            gas: 0.0,
        }
    }

    fn live(path: &std::path::Path, ledger: Ledger) -> Replay {
        let series = Arc::new(Series::open(path, HOUR).unwrap());
        Replay::following(series, ReplayConfig::default(), ledger).unwrap()
    }

    #[test]
    fn in_a_series_that_grows_a_look_waits_for_its_bar_and_an_order_for_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let (path, ledger) = (folder.path().join("eth.csv"), folder.path().join("ledger"));
        let mut writer = crate::series::Writer::open(&path, HOUR).unwrap();
        writer.add(&[bar(0), bar(1)], "a").unwrap();
        let mut world = live(&path, Ledger::file(&ledger).unwrap());
        assert_eq!((world.start(), world.end()), (hour(1), None));
        assert_eq!(closes(&mut world, hour(0), hour(2)), [10.0, 11.0]);
        let early = |world: &mut Replay, at| world.observe(hour(2), at, &mut Observation::default()).unwrap_err();
        assert!(matches!(early(&mut world, hour(3)), Error::Away { .. }));
        let buy = Order { most: Usdc::dollars(20), ..Order::open(0, 1_000_000) };
        assert_eq!(world.commit(1, &buy).unwrap(), Fate::Pending);
        assert_eq!(world.reconcile(1).unwrap(), Fate::Pending);
        assert_eq!(world.commit(1, &buy).unwrap(), Fate::Pending);
        drop(world);
        // Reopened, the order is found taken; and a key that was never taken is ruled out at once.
        let mut world = live(&path, Ledger::file(&ledger).unwrap());
        world.seek(hour(2)).unwrap();
        assert_eq!((world.reconcile(1).unwrap(), world.reconcile(9).unwrap()), (Fate::Pending, Fate::Never));
        writer.add(&[bar(2)], "a").unwrap();
        assert_eq!(world.reconcile(1).unwrap(), Fate::Pending, "it is there, but has not been seen");
        assert_eq!(closes(&mut world, hour(2), hour(3)), [12.0]);
        let paid = -world.reconcile(1).unwrap().outcome().unwrap().cash;
        assert!(paid > Usdc::cents(1_250) && paid < Usdc::cents(1_253), "{paid}");
        // What the next bar does not follow is not filled.
        assert_eq!(world.commit(2, &buy).unwrap(), Fate::Pending);
        writer.add(&[bar(5)], "b").unwrap();
        assert_eq!(closes(&mut world, hour(3), hour(5)), [0.0; 0]);
        assert_eq!(world.reconcile(2).unwrap(), Fate::Pending);
        assert_eq!(closes(&mut world, hour(5), hour(6)), [15.0]);
        assert_eq!(world.reconcile(2).unwrap(), Fate::Never);
    }

    #[test]
    fn what_comes_of_an_order_is_the_same_as_it_happens_and_long_after() {
        let folder = tempfile::tempdir().unwrap();
        let buy =
            |hour: u64| Order { most: Usdc::dollars(20 + hour as i64), ..Order::open((hour % 3 / 2) as u8, 1_000_000) };
        let fates = |name: &str, whole: bool| {
            let (path, ledger) = (folder.path().join(name), folder.path().join(format!("{name}.ledger")));
            let mut writer = crate::series::Writer::open(&path, HOUR).unwrap();
            let hours: Vec<u64> = (0..40).filter(|hour| hour % 7 != 3).collect();
            let known = if whole { hours.len() } else { 1 };
            writer.add(&hours[..known].iter().map(|hour| bar(*hour)).collect::<Vec<_>>(), "a").unwrap();
            let mut world = live(&path, Ledger::file(&ledger).unwrap());
            let mut fates = Vec::new();
            for (at, of) in hours.iter().enumerate() {
                if at >= known {
                    writer.add(&[bar(*of)], "a").unwrap();
                }
                closes(&mut world, hour(*of), hour(of + 1));
                fates.push((0..*of).map(|key| world.reconcile(key).unwrap()).collect::<Vec<_>>());
                fates.push(vec![world.commit(*of, &buy(*of)).unwrap()]);
                if of % 5 == 0 {
                    drop(world);
                    world = live(&path, Ledger::file(&ledger).unwrap());
                    world.seek(hour(of + 1)).unwrap();
                }
            }
            (fates, std::fs::read(ledger).unwrap())
        };
        let (then, now) = (fates("finished", true), fates("growing", false));
        assert_eq!(then.0, now.0);
        assert!(then.0.iter().flatten().filter(|fate| fate.outcome().is_some()).count() > 100);
    }

    #[test]
    fn the_volatility_of_the_bar_on_which_a_claim_comes_due_is_that_of_the_bars_since_it_was_made() {
        let mut replay = replay(None);
        replay.seek(hour(8)).unwrap();
        // Two bars, a gap of two, three bars more: seven returns, of which three make up the one over the gap.
        let over_gap = 15.0 / 12.0 - 1.0;
        let returns: [f64; 4] = [11.0 / 10.0 - 1.0, 12.0 / 11.0 - 1.0, 16.0 / 15.0 - 1.0, 17.0 / 16.0 - 1.0];
        let squares = returns.iter().map(|r| r * r).sum::<f64>() + over_gap * over_gap;
        let bar = replay.model.bar();
        assert_eq!((bar.values[0], bar.values[2]), (17.0, 17.0));
        assert!((bar.values[1] - libm::sqrt(squares / 7.0)).abs() < 1e-12);
    }
}
