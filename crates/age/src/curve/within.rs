//! Each life against itself. Tasks differ in length, and who works longer is on harder ones; so a rate that rises over all
//! lives together says little. Here a call is compared with other calls of its own life only, and how sure that is, is told by
//! how lives differ in it, because the calls of one life are not independent of each other.

use serde::Serialize;

use super::quantile::student;

/// One call: its chances for the event, and how often the event came (or the cost).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// How old its life was, on the scale that is asked about.
    pub x: f64,
    pub chances: f64,
    pub times: f64,
}

/// A difference or a slope, with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Rise of a rate while the scale goes up by one, within lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Trend {
    pub slope: f64,
    pub error: f64,
    /// Lives that say something about it.
    pub lives: usize,
    /// How many lives of the same length would say as much: a few long ones say most.
    pub effective: f64,
    pub chances: f64,
    pub times: f64,
}

impl Trend {
    /// With so much left out at each side.
    pub fn interval(&self, out: f64) -> Estimate {
        let wide = student(1.0 - out, self.effective - 1.0) * self.error;
        Estimate { value: self.slope, low: self.slope - wide, high: self.slope + wide }
    }
}

/// The slope within lives, and its error by lives.
pub fn trend(lives: &[Vec<Point>]) -> Option<Trend> {
    let parts: Vec<[f64; 4]> = lives.iter().filter_map(|life| spread(life)).collect();
    let all: f64 = parts.iter().map(|[spread, ..]| spread).sum();
    if parts.len() < 3 || all <= 0.0 {
        return None;
    }
    let slope = parts.iter().map(|[_, with, ..]| with).sum::<f64>() / all;
    // A life that says most of it pulls the slope to itself; its own error is taken for larger.
    let part = |[spread, with, ..]: &[f64; 4]| (with - slope * spread).powi(2) / (1.0 - spread / all).max(1e-9);
    let error = parts.iter().map(part).sum::<f64>().sqrt() / all;
    let effective = all * all / parts.iter().map(|[spread, ..]| spread * spread).sum::<f64>();
    let sum = |at: usize| parts.iter().map(|part| part[at]).sum();
    Some(Trend { slope, error, lives: parts.len(), effective, chances: sum(2), times: sum(3) })
}

/// How far its calls are spread, how what happened goes with that, how many chances there were, and how often it happened.
pub(crate) fn spread(life: &[Point]) -> Option<[f64; 4]> {
    let chances: f64 = life.iter().map(|point| point.chances).sum();
    if chances <= 0.0 {
        return None;
    }
    let times: f64 = life.iter().map(|point| point.times).sum();
    let (x, y) = (life.iter().map(|point| point.chances * point.x).sum::<f64>() / chances, times / chances);
    let spread: f64 = life.iter().map(|point| point.chances * (point.x - x).powi(2)).sum();
    let with: f64 = life.iter().map(|point| (point.x - x) * (point.times - y * point.chances)).sum();
    (spread > 0.0).then_some([spread, with, chances, times])
}

/// The slope with all lives in one heap, as if their calls had nothing to do with each other, in standard errors from zero. A
/// wrong method, here to be shown wrong.
pub fn naive(lives: &[Vec<Point>]) -> f64 {
    let all: Vec<Point> = lives.iter().flatten().copied().collect();
    let Some([spread, with, chances, times]) = spread(&all) else { return 0.0 };
    let rate = times / chances;
    let error = (rate * (1.0 - rate) / spread).sqrt();
    if error > 0.0 { with / spread / error } else { 0.0 }
}

/// How a rate in one part of life differs from that in the first part, in lives that have both: the mean of their differences,
/// weighted by what each can say.
pub(crate) fn difference(
    lives: &[Vec<Point>],
    first: impl Fn(f64) -> bool,
    other: impl Fn(f64) -> bool,
) -> Option<Estimate> {
    let rate = |life: &[Point], within: &dyn Fn(f64) -> bool| {
        let (mut chances, mut times) = (0.0, 0.0);
        for point in life.iter().filter(|point| within(point.x)) {
            chances += point.chances;
            times += point.times;
        }
        (chances, times)
    };
    let pairs: Vec<(f64, f64)> = lives
        .iter()
        .filter_map(|life| {
            let ((before, had), (after, has)) = (rate(life, &first), rate(life, &other));
            let weight = before * after / (before + after);
            (before > 0.0 && after > 0.0).then(|| (weight, has / after - had / before))
        })
        .collect();
    mean(&pairs)
}

/// The weighted mean of what lives say, with its interval.
pub(crate) fn mean(pairs: &[(f64, f64)]) -> Option<Estimate> {
    let all: f64 = pairs.iter().map(|(weight, _)| weight).sum();
    if pairs.len() < 3 || all <= 0.0 {
        return None;
    }
    let value = pairs.iter().map(|(weight, one)| weight * one).sum::<f64>() / all;
    let squares: f64 = pairs.iter().map(|(weight, _)| weight * weight).sum();
    let effective = all * all / squares;
    let part = |(weight, one): &(f64, f64)| (weight * (one - value)).powi(2) / (1.0 - weight / all).max(1e-9);
    let error = pairs.iter().map(part).sum::<f64>().sqrt() / all;
    let wide = student(0.975, effective - 1.0) * error;
    Some(Estimate { value, low: value - wide, high: value + wide })
}
