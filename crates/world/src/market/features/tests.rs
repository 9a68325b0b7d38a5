//! Every feature against a slow recomputation that reads like its definition, on made and on real bars.

use std::path::Path;

use super::*;
use crate::Candles;
use crate::chance::Chance;

const HOUR: Span = Span::seconds(3_600);

/// Close and squared return of every bar there would have been without gaps.
fn filled(bars: &[SeenBar], bar: Span) -> (Vec<f64>, Vec<f64>) {
    let (mut closes, mut squares) = (vec![bars[0].close], Vec::new());
    for pair in bars.windows(2) {
        let passed = (pair[1].closed.since(pair[0].closed).as_millis() / bar.as_millis()).max(1);
        let change = pair[1].close / pair[0].close - 1.0;
        for n in 1..=passed {
            closes.push(if n == passed { pair[1].close } else { pair[0].close });
            squares.push(change * change / passed as f64);
        }
    }
    (closes, squares)
}

fn last<T>(of: &[T], most: usize) -> &[T] {
    &of[of.len().saturating_sub(most)..]
}

fn mean(of: &[f64]) -> f64 {
    if of.is_empty() { 0.0 } else { of.iter().sum::<f64>() / of.len() as f64 }
}

/// The share of the last one in what the past, slowly forgotten, makes usual.
fn over_usual(past: &[f64]) -> f64 {
    let mut usual = 0.0;
    for (n, number) in past.iter().enumerate() {
        let new = 1.0 / (n + 1).min(168) as f64;
        usual = (1.0 - new) * usual + new * number;
    }
    past.last().map_or(1.0, |newest| if usual > 0.0 { newest / usual } else { 1.0 })
}

fn naive(name: &str, bars: &[SeenBar], closes: &[f64], squares: &[f64]) -> f64 {
    let newest = bars.last().unwrap();
    let close = newest.close;
    let known = |of: fn(&SeenBar) -> Option<f64>| bars.iter().filter_map(of).collect::<Vec<f64>>();
    let back = |n: usize| closes.len().checked_sub(n + 1).map_or(0.0, |then| close / closes[then] - 1.0);
    let vol = |n| libm::sqrt(mean(last(squares, n)));
    let ratio = |a: f64, b: f64| if b == 0.0 { 1.0 } else { a / b };
    match name {
        "ret_1" => back(1),
        "ret_6" => back(6),
        "ret_24" => back(24),
        "ret_168" => back(168),
        "vol_24" => vol(24),
        "vol_168" => vol(168),
        "vol_ratio" => ratio(vol(24), vol(168)),
        "vol_6_ratio" => ratio(vol(6), vol(24)),
        "drawdown" => close / last(closes, 168).iter().copied().fold(0.0, f64::max) - 1.0,
        "dist_mean" => close / mean(last(closes, 168)) - 1.0,
        "volume_ratio" => newest.volume.map_or(1.0, |volume| ratio(volume, mean(last(&known(|b| b.volume), 168)))),
        "gas" => newest.gas.unwrap_or(0.0),
        "gas_ratio" => over_usual(&known(|b| b.gas)),
        "liquidity" => over_usual(&known(|b| b.depth)),
        "hour" => newest.closed.as_seconds() as f64 / 3_600.0 % 24.0,
        "range_24" => {
            let from = bars.len().saturating_sub(24);
            let range = |at: usize| {
                let bar = bars[at];
                if bar.high > bar.low {
                    (bar.high - bar.low) / bar.close
                } else if at == 0 {
                    0.0
                } else {
                    libm::sqrt(*filled(&bars[at - 1..=at], HOUR).1.last().unwrap())
                }
            };
            mean(&(from..bars.len()).map(range).collect::<Vec<_>>())
        }
        "band_24" => vol(24) * libm::sqrt(24.0) * 1.2816,
        "vol_6" => vol(6),
        _ => panic!("{name} is not known here"),
    }
}

/// Holds every feature against the slow one, at the first bars and then every so often.
fn check(bars: &[SeenBar], often: usize) {
    let mut tape = Tape::new(HOUR, bars[0]);
    let mut usual = (0.0, 0.0);
    for at in 0..bars.len() {
        if at > 0 {
            tape.push(bars[at]);
            // Nothing of it is ever quite forgotten.
            for square in filled(&bars[at - 1..=at], HOUR).1 {
                let n = f64::min(usual.0 + 1.0, 720.0);
                usual = (n, usual.1 + (square - usual.1) / n);
            }
        }
        if at > 400 && at % often != 0 {
            continue;
        }
        // Far longer than anything that is looked at, but for what is slowly forgotten.
        let recent = if at > 5_000 { &bars[at - 5_000..=at] } else { &bars[..=at] };
        let (closes, squares) = filled(recent, HOUR);
        let features = tape.features();
        assert_eq!(features.len(), NAMES.len());
        for (name, fast) in NAMES.into_iter().zip(features) {
            let slow = if name == "vol_usual" { libm::sqrt(usual.1) } else { naive(name, recent, &closes, &squares) };
            assert!((fast - slow).abs() <= 1e-9 * slow.abs().max(1.0), "{name} of bar {at}: {fast} for {slow}");
            let volatile = name.starts_with("vol_") || name.ends_with("_24");
            assert!(!volatile || (fast - slow).abs() <= 1e-9 * slow.abs().max(1e-9), "{name} of bar {at}");
        }
    }
}

/// A market of leaps and stillness, with gaps of a bar and of a month.
fn made(seed: u64, bars: usize) -> Vec<SeenBar> {
    let mut chance = Chance::new(seed, 9);
    let (mut closed, mut close, mut still) = (Time::seconds(1_700_000_000), 100.0, 0_u32);
    let mut made = Vec::new();
    for _ in 0..bars {
        let luck = chance.uniform();
        let [z] = chance.normals();
        still = if luck < 0.005 { 250 } else { still.saturating_sub(1) };
        let change = if luck > 0.995 { chance.between(-0.8, 3.0) } else { 0.004 * z };
        let missing = match chance.uniform() {
            u if u < 0.002 => chance.between(1.0, 700.0) as u64,
            u if u < 0.01 => 1,
            _ => 0,
        };
        closed = closed + HOUR.times(1 + missing);
        if still == 0 {
            close = (close * (1.0 + change)).clamp(1e-3, 1e6);
        }
        let wick = if chance.uniform() < 0.3 { 0.0 } else { 0.01 * chance.uniform() };
        made.push(SeenBar {
            closed,
            close,
            high: close * (1.0 + wick),
            low: close * (1.0 - wick),
            volume: seed.is_multiple_of(2).then(|| if chance.uniform() < 0.5 { 0.0 } else { 1e4 * chance.uniform() }),
            gas: seed.is_multiple_of(3).then(|| 10.0 + 100.0 * chance.uniform()),
            depth: seed.is_multiple_of(2).then(|| 1e6 * chance.uniform()),
        });
    }
    made
}

#[test]
fn features_of_made_bars_are_what_their_names_say() {
    for seed in 0..6 {
        check(&made(seed, 6_000), 7);
    }
}

#[test]
fn features_of_real_bars_are_what_their_names_say() {
    for file in ["hourly/eth_usdt_1h.csv.gz", "hourly/sol_usdt_1h.csv.gz"] {
        let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../shared/data").join(file);
        if !path.exists() {
            assert!(std::env::var_os("BARDO_REALDATA").is_none(), "{} is absent", path.display());
            eprintln!("skipped: {} is absent", path.display());
            continue;
        }
        let (candles, _) = Candles::read(&path).unwrap();
        let seen = |candle: &crate::Candle| SeenBar {
            closed: candle.opened + HOUR,
            close: candle.close,
            high: candle.high,
            low: candle.low,
            volume: Some(candle.volume),
            gas: None,
            depth: Some(candle.volume * candle.close),
        };
        check(&candles.bars().iter().map(seen).collect::<Vec<_>>(), 53);
    }
}

#[test]
fn before_there_is_history_everything_is_neutral() {
    let first = made(0, 1)[0];
    let flat = SeenBar { high: first.close, low: first.close, gas: None, ..first };
    let mut tape = Tape::new(HOUR, flat);
    let hour = walk::hour(flat.closed);
    let neutral = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, hour, 0.0, 0.0, 0.0, 0.0];
    let without_volume = SeenBar { volume: None, depth: None, ..flat };
    assert_eq!(Tape::new(HOUR, without_volume).features()[..], neutral);
    for n in 1..500 {
        tape.push(SeenBar { closed: flat.closed + HOUR.times(n), ..flat });
        let features = tape.features();
        let still = features.iter().enumerate().filter(|(at, _)| NAMES[*at] != "hour" && NAMES[*at] != "volume_ratio");
        still.for_each(|(at, feature)| assert!((feature - neutral[at]).abs() < 1e-12, "{} is {feature}", NAMES[at]));
    }
}

#[test]
fn the_wildest_prices_a_file_may_hold_leave_every_feature_a_number() {
    let mut chance = Chance::new(4, 0);
    let extremes = [5e-324, 1e-300, 1e-9, 1.0, 1e9];
    let amounts = [0.0, 5e-324, 1.0, f64::MAX];
    let pick = |of: &[f64], chance: &mut Chance| of[(chance.uniform() * of.len() as f64) as usize];
    let mut closed = Time::default();
    let mut seen = || {
        closed = closed + HOUR.times(1 + (chance.uniform() * 1.1) as u64);
        let (a, b) = (pick(&extremes, &mut chance), pick(&extremes, &mut chance));
        let mut amount = || Some(pick(&amounts, &mut chance));
        SeenBar { closed, close: a, high: a.max(b), low: a.min(b), volume: amount(), gas: amount(), depth: amount() }
    };
    let mut tape = Tape::new(HOUR, seen());
    for _ in 0..20_000 {
        tape.push(seen());
        let features = tape.features();
        assert!(features.iter().all(|feature| feature.is_finite()), "{features:?}");
        assert!(features[8] <= 0.0, "a drawdown of {}", features[8]);
    }
}

#[test]
fn the_band_has_its_place_and_the_volatility_too() {
    assert_eq!(NAMES[usize::from(BAND)], "band_24");
    assert_eq!(NAMES[VOL_24], "vol_24");
}

#[test]
fn moves_in_instincts_are_as_large_as_bars_of_that_length_make_them() {
    let said = |bar| instincts("when ret_1 < -1% and vol_ratio > 2 expect direction", bar).next().unwrap();
    assert_eq!(said(HOUR), "when ret_1 < -1.00% and vol_ratio > 2 expect direction");
    assert_eq!(said(Span::seconds(40)), "when ret_1 < -0.11% and vol_ratio > 2 expect direction");
    assert_eq!(said(Span::DAY), "when ret_1 < -4.90% and vol_ratio > 2 expect direction");
}
