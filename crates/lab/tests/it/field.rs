//! Volatility on real hours since 2024, against the field: what a forecaster of its trade would do with the same hours.
//! All make the same claims, the volatility of the next 24 hours, and are held to the same error against the last value.
//! `just result field` runs all four coins.

use std::path::Path;

use golem::Usdc;
use golem::constitution::{Clocks, Constitution};
use golem::time::{Span, Time};
use lab::lineages::{self, Way};
use lab::lives::PLAN;
use lab::{Errors, Plan, lives};
use world::{Candles, Spec};

/// Nothing that was chosen was chosen by looking at what comes after.
const HELD_OUT: u64 = 1_704_067_200; // 2024-01-01
const HOUR: Span = Span::seconds(3_600);
/// Ticks between two notes.
const NOTE: u64 = 200;
/// Where volatility stands among the domains of a market.
const VOLATILITY: usize = 1;

fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

fn coins() -> &'static [&'static str] {
    if full() { &["eth", "btc", "link", "aave"] } else { &["eth"] }
}

fn plan(path: &Path, start: Option<u64>, lives: u64, most_ticks: u64) -> Plan {
    // Nobody dies of what is to be measured.
    let clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    let mut constitution = Constitution { clocks, interval: HOUR, ..Constitution::bare() };
    constitution.dream.enabled = false;
    Plan {
        version: PLAN,
        lives,
        seed: 1,
        world: Spec::Replay { path: path.to_owned(), start, sha256: None },
        constitution,
        credit: Usdc::dollars(10),
        capital: Usdc::dollars(100),
        most_ticks,
        note_every: NOTE,
        disjoint: true,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    }
}

fn skill(errors: &Errors) -> f64 {
    let (error, naive) = errors.of(VOLATILITY);
    1.0 - error / naive
}

fn pooled<'a>(errors: impl IntoIterator<Item = &'a Errors>) -> Errors {
    errors.into_iter().fold(Errors::default(), |sum, more| sum.and(more))
}

/// The volatility of the last so many hours, at every hour there is.
fn volatility(closes: &[f64], hours: usize) -> Vec<f64> {
    let square = |at: usize| if at == 0 { 0.0 } else { (closes[at] / closes[at - 1] - 1.0).powi(2) };
    let mut sum = 0.0;
    (0..closes.len())
        .map(|at| {
            sum += square(at) - if at >= hours { square(at - hours) } else { 0.0 };
            (sum.max(1e-18) / at.clamp(1, hours) as f64).sqrt()
        })
        .collect()
}

/// Least squares of five unknowns, by elimination.
fn solve(mut a: [[f64; 6]; 5]) -> [f64; 5] {
    for at in 0..5 {
        let pivot = (at..5).max_by(|x, y| a[*x][at].abs().total_cmp(&a[*y][at].abs())).unwrap_or(at);
        a.swap(at, pivot);
        for row in (0..5).filter(|row| *row != at) {
            let times = a[row][at] / a[at][at];
            (at..6).for_each(|column| a[row][column] -= times * a[at][column]);
        }
    }
    std::array::from_fn(|at| a[at][5] / a[at][at])
}

/// What the trade would have had since 2024: a regression on the last 6, 24, 168 and 720 hours fitted anew every day on
/// what had been answered by then, and a mean of squares with a half-life of 36 hours, scaled by what it was off by.
fn field(path: &Path) -> (f64, f64) {
    let (candles, _) = Candles::read(path).unwrap();
    let bars = candles.bars();
    let closes: Vec<f64> = bars.iter().map(|bar| bar.close).collect();
    let of: Vec<Vec<f64>> = [6, 24, 168, 720].iter().map(|hours| volatility(&closes, *hours)).collect();
    let inputs = |at: usize| [1.0, of[0][at].ln(), of[1][at].ln(), of[2][at].ln(), of[3][at].ln()];
    let (mut normal, mut shares) = ([[0.0; 6]; 5], [0.0; 5]);
    let (mut mean, mut means, mut scale) = (0.0_f64, Vec::<f64>::new(), 1.0_f64);
    let since = Time::millis(HELD_OUT * 1_000);
    let (mut naive, mut regressed, mut smoothed) = (0.0, 0.0, 0.0);
    let (mut scales, mut all_shares) = (Vec::<f64>::new(), Vec::new());
    for at in 0..closes.len() {
        let square = if at == 0 { 0.0 } else { (closes[at] / closes[at - 1] - 1.0).powi(2) };
        mean += (square - mean) * (1.0 - 0.5_f64.powf(1.0 / 36.0)).max(1.0 / (at + 1) as f64);
        if let Some(made) = at.checked_sub(24).filter(|made| *made >= 720) {
            let actual = of[1][at];
            let said = |shares: &[f64; 5]| inputs(made).iter().zip(shares).map(|(x, b)| x * b).sum::<f64>().exp();
            if bars[made].opened >= since {
                naive += (of[1][made] - actual).abs();
                regressed += (said(&all_shares[made]) - actual).abs();
                smoothed += (means[made] * scales[made] - actual).abs();
            }
            for (row, x) in inputs(made).iter().enumerate() {
                inputs(made).iter().enumerate().for_each(|(column, y)| normal[row][column] += x * y);
                normal[row][5] += x * actual.ln();
            }
            scale += 0.002 * (actual / means[made] - scale).signum();
            if at % 24 == 0 && at > 1_000 {
                shares = solve(normal);
            }
        }
        means.push(mean.max(1e-18).sqrt());
        scales.push(scale);
        all_shares.push(shares);
    }
    (1.0 - regressed / naive, 1.0 - smoothed / naive)
}

#[test]
fn volatility_on_real_hours_against_the_field() {
    let Some(paths) = crate::common::hours_of(coins()) else { return };
    let (mut newborns, mut heirs) = (Vec::new(), Vec::new());
    for (coin, path) in coins().iter().zip(&paths) {
        let (regression, smoothing) = field(path);
        let (candles, _) = Candles::read(path).unwrap();
        let hour = |at: usize| candles.bars()[at].opened.as_millis() / 3_600_000;
        let (first, last) = (hour(0), hour(candles.bars().len() - 1));
        let whole = lives::run(&plan(path, None, 1, last - first - 2), 1, |_| {}).unwrap().1;
        let then = ((HELD_OUT / 3_600 - first) / NOTE) as usize + 1;
        let mature = skill(&pooled(&whole[0].errors[then..]));
        println!(
            "counted: field {coin}, volatility since 2024: a golem of the whole file {mature:+.4}, a regression fitted daily {regression:+.4}, a smoothed mean {smoothing:+.4}"
        );
        assert!(mature > 0.12, "{mature}");
        let (count, lines) = if full() { (19, 3) } else { (4, 1) };
        let young = lives::run(&plan(path, Some(HELD_OUT), count, 960), 2, |_| {}).unwrap().1;
        newborns.extend(young.iter().map(|life| pooled(&life.errors)));
        let line = Plan { generations: Some(5), ..plan(path, Some(HELD_OUT), lines, 4_800) };
        for way in [Way::Fresh, Way::Bottleneck, Way::Immortal] {
            let kin = lineages::run(&line, way, 2, || {}).unwrap();
            heirs.extend(kin.iter().map(|kin| (way, kin.heirs)));
        }
        let until = HELD_OUT / 3_600 - first;
        let line = Plan { generations: Some(16), founder: Some(until), ..plan(path, None, 1, until + 15 * 960) };
        let grown = [Way::Fresh, Way::Bottleneck, Way::Copy, Way::Immortal].map(|way| {
            let kin = lineages::run(&line, way, 1, || {}).unwrap();
            skill(&kin[0].heirs)
        });
        let [nothing, heirs, copies, undying] = grown;
        println!(
            "counted: field {coin}, fifteen lives of 960 hours one after the other, the first the heir of all hours before 2024: {heirs:+.4}; left nothing {nothing:+.4}, copies {copies:+.4}, one who never ends {undying:+.4}"
        );
        assert!(heirs > nothing, "{heirs} {nothing}");
    }
    let of = |way: Way| skill(&pooled(heirs.iter().filter(|(of, _)| *of == way).map(|(_, errors)| errors)));
    let (newborn, heir) = (skill(&pooled(&newborns)), of(Way::Bottleneck));
    let (fresh, undying) = (of(Way::Fresh), of(Way::Immortal));
    println!(
        "counted: field, lives of 960 hours since 2024: newborns {newborn:+.4}; in lines of five, heirs {heir:+.4}, beside them those who are left nothing {fresh:+.4} and one who never ends {undying:+.4}"
    );
    assert!(newborn > if full() { 0.12 } else { 0.05 } && heir > fresh, "{newborn} {heir} {fresh}");
}
