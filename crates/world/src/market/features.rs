//! Features: a golem's view of a market, bar by bar, from nothing but bars that have closed. Simulated and
//! replayed markets have the same ones.
//!
//! "The last 24 bars" is always a stretch of time, because claims come due by time. Across a gap the last
//! close stands still, and the return over it counts in equal shares for each bar it took; volumes and
//! ranges that were not recorded are not made up: theirs are the last bars there were. Before there is enough
//! history, returns are zero and everything else is measured on what there is.

use golem::time::{Span, Time};
use golem::world::{Bar, Features, Values};
use golem::{Usdc, limits};

use crate::running::{Peak, Slow, Total, Window};
use crate::walk;

pub(super) const NAMES: [&str; 19] = [
    "ret_1",
    "ret_6",
    "ret_24",
    "ret_168",
    "vol_24",
    "vol_168",
    "vol_ratio",
    "vol_6_ratio",
    "drawdown",
    "dist_mean",
    "volume_ratio",
    "gas",
    "gas_ratio",
    "liquidity",
    "hour",
    "range_24",
    "band_24",
    "vol_6",
    "vol_usual",
];
/// Where `vol_24` stands among them.
const VOL_24: usize = 4;
/// Where `band_24` stands among them.
pub(super) const BAND: u8 = 16;

const _: () = assert!(NAMES.len() <= limits::FEATURES);

/// Heuristics to begin with. What they expect is learned; the per cents are moves as one-hour bars make them.
pub(super) const INSTINCTS: &str = "\
when vol_ratio < 0.6 expect volatility over 24
when vol_ratio > 0.6 and vol_ratio < 0.8 expect volatility over 24
when vol_ratio > 0.8 and vol_ratio < 1.0 expect volatility over 24
when vol_ratio > 1.0 and vol_ratio < 1.25 expect volatility over 24
when vol_ratio > 1.25 and vol_ratio < 1.6 expect volatility over 24
when vol_ratio > 1.6 expect volatility over 24
when vol_6_ratio < 0.6 expect volatility over 24
when vol_6_ratio > 1.4 expect volatility over 24
when drawdown < -5% expect volatility over 24
when hour < 5.5 expect volatility over 24
when hour > 5.5 and hour < 11.5 expect volatility over 24
when hour > 11.5 and hour < 17.5 expect volatility over 24
when hour > 17.5 expect volatility over 24
when vol_ratio < 0.6 expect range over 24
when vol_ratio > 0.6 and vol_ratio < 0.8 expect range over 24
when vol_ratio > 0.8 and vol_ratio < 1.0 expect range over 24
when vol_ratio > 1.0 and vol_ratio < 1.25 expect range over 24
when vol_ratio > 1.25 and vol_ratio < 1.6 expect range over 24
when vol_ratio > 1.6 expect range over 24
when vol_6_ratio < 0.6 expect range over 24
when vol_6_ratio > 1.4 expect range over 24
when drawdown < -5% expect range over 24
when ret_1 < -1% expect direction over 24
when ret_1 > 1% expect direction over 24
when ret_24 < -4% expect direction over 24
when ret_24 > 4% expect direction over 24
when ret_168 < -10% expect direction over 24
when ret_168 > 10% expect direction over 24
when dist_mean < -5% expect direction over 24
when dist_mean > 5% expect direction over 24
when volume_ratio > 2 and ret_1 < 0 expect direction over 24
when volume_ratio > 2 and ret_1 > 0 expect direction over 24
when volume_ratio < 0.5 expect direction over 24
when volume_ratio > 4 and ret_1 < 0 expect direction over 24
when volume_ratio > 4 and ret_1 > 0 expect direction over 24
always expect volatility like a blend of vol_6, vol_168, vol_usual over 24
";

/// Heuristics about gas, for markets that have it.
pub(super) const GAS_INSTINCTS: &str = "\
when gas_ratio < 0.7 expect gas over 1
when gas_ratio > 0.7 and gas_ratio < 1.0 expect gas over 1
when gas_ratio > 1.0 and gas_ratio < 1.4 expect gas over 1
when gas_ratio > 1.4 expect gas over 1
";

/// About a week of hours, the memory of slow features.
const WEEK: usize = 168;
/// About a month of hours.
const MONTH: f64 = 720.0;
/// About a day of hours.
const DAY: usize = 24;
/// An 80 per cent band of the close a day of bars ahead, if returns were normal: √24 × 1.2816.
const BAND_OF_VOLATILITY: f64 = 4.898_979_485_566_356 * 1.2816;
/// No return or range is taken for more than this, so that nothing ends in infinity.
const LARGEST_SHARE: f64 = 1e6;
/// No amount is taken for more than this, for the same reason.
const LARGEST_AMOUNT: f64 = 1e18;

/// One bar, as far as it could be seen at the time. A market without highs and lows repeats the close.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenBar {
    pub(super) closed: Time,
    pub(super) close: f64,
    pub(super) high: f64,
    pub(super) low: f64,
    pub(super) volume: Option<f64>,
    pub(super) gas: Option<f64>,
    /// Dollars that move the market by one per cent.
    pub(super) depth: Option<f64>,
}

/// The market up to its newest bar, as much of it as features are made of.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    bar: Span,
    newest: SeenBar,
    /// Bars that were recorded.
    told: u64,
    /// Bars there would have been without gaps.
    passed: u64,
    /// Closes by the number of the bar; a power of two above a week.
    closes: [f64; 256],
    peak: Window<Peak, WEEK>,
    level: Window<Total, WEEK>,
    squares_6: Window<Total, 6>,
    squares_24: Window<Total, DAY>,
    squares_168: Window<Total, WEEK>,
    ranges: Window<Total, DAY>,
    volumes: Window<Total, WEEK>,
    usual_square: Slow,
    usual_gas: Slow,
    usual_depth: Slow,
}

impl Tape {
    pub(super) fn new(bar: Span, first: SeenBar) -> Tape {
        let mut tape = Tape {
            bar,
            newest: first,
            told: 0,
            passed: 0,
            closes: [0.0; 256],
            peak: Window::new(),
            level: Window::new(),
            squares_6: Window::new(),
            squares_24: Window::new(),
            squares_168: Window::new(),
            ranges: Window::new(),
            volumes: Window::new(),
            usual_square: Slow::new(MONTH),
            usual_gas: Slow::new(WEEK as f64),
            usual_depth: Slow::new(WEEK as f64),
        };
        tape.stand(first.close);
        tape.measure(first, 0.0);
        tape
    }

    pub(super) fn push(&mut self, seen: SeenBar) {
        let change = share(seen.close / self.newest.close - 1.0);
        let since = seen.closed.since(self.newest.closed);
        if since == self.bar {
            self.turn(change * change);
            self.measure(seen, change.abs());
        } else {
            let bars = (since.as_millis() / self.bar.as_millis()).max(1);
            let square = change * change / bars as f64;
            // Anything older has left every window, and slow features have forgotten it.
            let within = bars.min(5 * MONTH as u64);
            for _ in 1..within {
                self.turn(square);
                self.stand(self.newest.close);
            }
            self.turn(square);
            self.measure(seen, libm::sqrt(square));
        }
        self.stand(seen.close);
    }

    fn turn(&mut self, square: f64) {
        self.squares_6.push(square);
        self.squares_24.push(square);
        self.squares_168.push(square);
        self.usual_square.push(square);
    }

    fn stand(&mut self, close: f64) {
        self.closes[(self.passed % 256) as usize] = close;
        self.passed += 1;
        self.peak.push(close);
        self.level.push(close);
    }

    fn measure(&mut self, seen: SeenBar, change: f64) {
        let amount = |amount: f64| amount.min(LARGEST_AMOUNT);
        self.newest = SeenBar {
            volume: seen.volume.map(amount),
            gas: seen.gas.map(amount),
            depth: seen.depth.map(amount),
            ..seen
        };
        self.told += 1;
        self.ranges.push(if seen.high > seen.low { share((seen.high - seen.low) / seen.close) } else { change });
        if let Some(volume) = self.newest.volume {
            self.volumes.push(volume);
        }
        if let Some(gas) = self.newest.gas {
            self.usual_gas.push(gas);
        }
        if let Some(depth) = self.newest.depth {
            self.usual_depth.push(depth);
        }
    }

    /// All features, in the order of [`NAMES`].
    pub(super) fn features(&self) -> Features {
        let SeenBar { closed, close, volume, gas, depth, .. } = self.newest;
        let vol_6 = self.volatility(&self.squares_6);
        let vol_24 = self.volatility(&self.squares_24);
        let vol_168 = self.volatility(&self.squares_168);
        let level = self.level.joined() / of(self.passed, WEEK);
        let usual_volume = self.volumes.joined() / of(self.told, WEEK);
        let features: [f64; NAMES.len()] = [
            self.change(1),
            self.change(6),
            self.change(24),
            self.change(168),
            vol_24,
            vol_168,
            ratio(vol_24, vol_168),
            ratio(vol_6, vol_24),
            close / self.peak.joined() - 1.0,
            close / level - 1.0,
            volume.map_or(1.0, |volume| ratio(volume, usual_volume)),
            gas.unwrap_or(0.0),
            gas.map_or(1.0, |gas| self.usual_gas.ratio(gas)),
            depth.map_or(1.0, |depth| self.usual_depth.ratio(depth)),
            walk::hour(closed),
            self.ranges.joined() / of(self.told, DAY),
            vol_24 * BAND_OF_VOLATILITY,
            vol_6,
            libm::sqrt(self.usual_square.mean()),
        ];
        Features::try_from(&features[..]).expect("fewer than the limit")
    }

    /// The newest bar, with a value for each of the market's domains.
    pub(super) fn bar(&self, unit: Usdc) -> Bar {
        let (features, close) = (self.features(), self.newest.close);
        let mut values = Values::new();
        values.extend([close, features[VOL_24], close]);
        values.extend(self.newest.gas);
        Bar { closed: self.newest.closed, values, features, unit }
    }

    /// Return over this many bars; 0 while there are fewer.
    fn change(&self, bars: u64) -> f64 {
        if self.passed <= bars {
            return 0.0;
        }
        let before = self.closes[((self.passed - 1 - bars) % 256) as usize];
        share(self.newest.close / before - 1.0)
    }

    /// Root of the mean squared return.
    fn volatility<const N: usize>(&self, squares: &Window<Total, N>) -> f64 {
        libm::sqrt(squares.joined() / of(self.passed - 1, N))
    }
}

/// One heuristic a line, its per cents made as large as bars of this length make moves.
pub(super) fn instincts(text: &str, bar: Span) -> impl Iterator<Item = String> {
    // Moves grow with the root of time.
    let size = libm::sqrt(bar.as_millis() as f64 / 3_600_000.0);
    let word = move |word: &str| match word.strip_suffix('%').and_then(|number| number.parse::<f64>().ok()) {
        Some(percent) => format!("{:.2}%", percent * size),
        None => word.to_owned(),
    };
    text.lines().map(move |line| line.split(' ').map(word).collect::<Vec<_>>().join(" "))
}

/// The size of a window that may not be full yet; at least 1, to divide by.
fn of(count: u64, most: usize) -> f64 {
    count.clamp(1, most as u64) as f64
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 1.0 }
}

fn share(number: f64) -> f64 {
    number.min(LARGEST_SHARE)
}

#[cfg(test)]
mod tests;
