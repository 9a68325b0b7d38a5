//! Arms: the same paths and the same dice, lived several ways, and what the difference is worth.
//!
//! A path is lived once in every arm, so arms are compared path by path. How sure the difference is comes from drawing
//! the paths again and again with replacement; nothing is assumed of how they are spread.

use serde::Serialize;

use crate::lives::{Error, LifeOutcome, Plan, run};

/// Times the paths are drawn again.
const DRAWS: usize = 4_000;

/// A figure of one life, by name; none where there was nothing to measure.
pub type Measure = (&'static str, fn(&LifeOutcome) -> Option<f64>);

/// Measures that arms are compared in.
pub const MEASURES: [Measure; 9] = [
    ("lifetime, ticks", |o| Some(o.ticks as f64)),
    ("alive at the end", |o| Some(f64::from(u8::from(o.ending == "alive")))),
    ("fitness at the end", |o| Some(o.fitness)),
    ("skill, whole life", |o| o.skill),
    ("return", |o| o.returned),
    ("deepest fall", |o| Some(o.drawdown)),
    ("failures in a row", |o| Some(o.failures as f64)),
    ("load, on average", |o| Some(o.load)),
    ("ticks constrained", |o| Some(o.constrained)),
];

/// One measure of one arm, beside the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Paths on which both were measured.
    pub paths: usize,
    pub mean: f64,
    /// The mean difference to the first arm on the same path.
    pub difference: f64,
    /// In 95 of 100 draws it is not below this.
    pub low: f64,
    /// In 95 of 100 draws it is not above this.
    pub high: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arms {
    pub paths: usize,
    pub names: Vec<String>,
    /// By measure, then by arm; no cell where there was nothing to measure.
    pub rows: Vec<(String, Vec<Option<Cell>>)>,
}

/// Lives every arm; `each` hears of every life.
pub fn live(
    plans: &[(String, Plan)],
    threads: usize,
    each: impl Fn(&LifeOutcome) + Sync,
) -> Result<Vec<(String, Vec<LifeOutcome>)>, Error> {
    plans.iter().map(|(name, plan)| Ok((name.clone(), run(plan, threads, &each)?.1))).collect()
}

/// Holds arms against the first of them. All must have lived the same paths.
pub fn compare(arms: &[(String, Vec<LifeOutcome>)]) -> Arms {
    let paths = arms.first().map_or(0, |(_, outcomes)| outcomes.len());
    assert!(arms.iter().all(|(_, outcomes)| outcomes.len() == paths), "every arm lives every path");
    let row = |(name, measure): &Measure| {
        let values: Vec<Vec<_>> = arms.iter().map(|(_, outcomes)| outcomes.iter().map(measure).collect()).collect();
        ((*name).to_owned(), beside_the_first(&values))
    };
    Arms { paths, names: arms.iter().map(|(name, _)| name.clone()).collect(), rows: MEASURES.iter().map(row).collect() }
}

/// Each arm beside the first, on the paths on which both were measured.
pub fn beside_the_first(arms: &[Vec<Option<f64>>]) -> Vec<Option<Cell>> {
    let cell = |arm: &Vec<Option<f64>>| {
        let both = arm.iter().zip(&arms[0]).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
        let (arm, first): (Vec<f64>, Vec<f64>) = both.unzip();
        (!arm.is_empty()).then(|| Cell::of(&arm, &first))
    };
    arms.iter().map(cell).collect()
}

/// Paths below which a difference is not called one.
pub const ENOUGH: usize = 10;

impl Cell {
    /// An arm beside the first, path by path.
    pub fn of(arm: &[f64], first: &[f64]) -> Cell {
        let differences: Vec<f64> = arm.iter().zip(first).map(|(a, b)| a - b).collect();
        let mut means = draws(&differences);
        means.sort_by(f64::total_cmp);
        let at = |share: f64| means.get((share * means.len() as f64) as usize).copied().unwrap_or(0.0);
        Cell { paths: arm.len(), mean: mean(arm), difference: mean(&differences), low: at(0.025), high: at(0.975) }
    }

    /// Whether it may be called a difference: there are paths enough, and nothing at all does not lie within the interval.
    pub fn is_one(&self) -> bool {
        self.paths >= ENOUGH && !self.could_be_nothing()
    }

    /// Whether nothing at all lies within what was drawn.
    pub fn could_be_nothing(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The mean of as many values, drawn with replacement, many times over; the same every time.
fn draws(values: &[f64]) -> Vec<f64> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut state = 0x5eed_u64;
    let mut below = |n: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    };
    let mut once = || (0..values.len()).map(|_| values[below(values.len())]).sum::<f64>() / values.len() as f64;
    (0..DRAWS).map(|_| once()).collect()
}
