//! How sure a difference is. The unit is a path: arms are held against each other on the same ones, and how sure the mean
//! difference is comes from drawing paths again with replacement. Nothing is assumed of how they are spread.

use serde::Serialize;

/// From so many paths on, drawing them again tells how sure a mean is; for fewer it is too sure of itself.
const MANY: usize = 30;
/// How many standard errors hold 95 in 100, by paths less one: Student's.
const STUDENT: [f64; MANY - 2] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
];

/// One arm beside another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub paths: usize,
    /// Of the mean differences, path by path.
    pub mean: f64,
    /// From here to there in 95 of 100 draws.
    pub low: f64,
    pub high: f64,
    /// How often as much would come of chance that turns each difference the one way or the other: small where the first is
    /// better.
    pub better: f64,
    /// How often chance would do as much against it: small where the first is worse.
    pub worse: f64,
    /// Of single differences.
    pub deviation: f64,
}

/// Splitmix: the same draws on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Draws(pub u64);

impl Draws {
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.draw()) * n as u128) >> 64) as usize
    }
}

/// The mean of differences and how sure it is; none where there are none.
pub fn difference(differences: &[f64], draws: usize) -> Option<Difference> {
    let paths = differences.len();
    if paths == 0 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / paths as f64;
    let mut chance = Draws(0x5eed);
    let mut once = || (0..paths).map(|_| differences[chance.below(paths)]).sum::<f64>() / paths as f64;
    let mut means: Vec<f64> = (0..draws).map(|_| once()).collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((share * draws as f64) as usize).min(draws - 1)];
    let square = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>();
    let deviation = if paths > 1 { (square / (paths - 1) as f64).sqrt() } else { 0.0 };
    let half = STUDENT.get(paths.wrapping_sub(2)).map(|errors| errors * deviation / (paths as f64).sqrt());
    let (low, high) = match half {
        Some(half) => (mean - half, mean + half),
        None if paths < MANY => (f64::MIN, f64::MAX),
        None => (at(0.025), at(0.975)),
    };
    let (better, worse) = luck(differences, mean, draws);
    Some(Difference { paths, mean, low, high, better, worse, deviation })
}

/// How often a mean as high, or as low, comes of turning each difference around or not by a coin.
fn luck(differences: &[f64], mean: f64, draws: usize) -> (f64, f64) {
    let mut chance = Draws(0xc01);
    let (mut high, mut low) = (0, 0);
    for _ in 0..draws {
        let (mut sum, mut coins) = (0.0, 0);
        for (n, d) in differences.iter().enumerate() {
            if n % 64 == 0 {
                coins = chance.draw();
            }
            sum += if coins & 1 == 0 { *d } else { -d };
            coins >>= 1;
        }
        let turned = sum / differences.len() as f64;
        high += usize::from(turned >= mean);
        low += usize::from(turned <= mean);
    }
    // One more than were seen: nothing is impossible that was not seen in so many draws.
    let share = |count: usize| (count + 1) as f64 / (draws + 1) as f64;
    (share(high), share(low))
}

/// Of several claims each with its own chance of being luck: what is left of them when all were tried. Holm's.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut highest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        highest = highest.max(p[at] * (p.len() - rank) as f64).min(1.0);
        adjusted[at] = highest;
    }
    adjusted
}

/// The share of experiments of so many paths in which a true difference is found against one control, at this alpha, one-sided;
/// none where it is unknown how far single paths lie apart.
pub fn power(true_difference: f64, deviation: f64, paths: u64, alpha: f64) -> Option<f64> {
    (deviation > 0.0).then(|| normal(true_difference * (paths as f64).sqrt() / deviation - quantile(1.0 - alpha)))
}

/// The chance that a bell curve is below this.
fn normal(z: f64) -> f64 {
    // Abramowitz and Stegun 7.1.26, good to seven places.
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let poly =
        t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let erf = 1.0 - poly * libm::exp(-x * x);
    if z >= 0.0 { 0.5 + 0.5 * erf } else { 0.5 - 0.5 * erf }
}

/// Where a bell curve has this much below.
fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if normal(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Results of a rehearsal: how often nothing was taken for something, and how often something was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rehearsed {
    pub repetitions: usize,
    /// Shares of all repetitions.
    pub false_alarms: f64,
    pub found: f64,
    /// The expected share of the latter.
    pub power: Option<f64>,
}

/// The analysis tried out on twins: whose differences are by chance the one way or the other, so that turning any of them
/// around is as good an experiment. Then the same with an effect planted.
pub fn rehearse(twins: &[f64], planted: f64, alpha: f64, repetitions: usize, draws: usize) -> Option<Rehearsed> {
    let all = difference(twins, draws)?;
    let mut chance = Draws(0xa11a);
    let (mut false_alarms, mut found) = (0, 0);
    for _ in 0..repetitions {
        let turned: Vec<f64> =
            twins.iter().map(|d| (d - all.mean) * if chance.draw() >> 63 == 0 { 1.0 } else { -1.0 }).collect();
        let nothing = difference(&turned, draws)?;
        // By the rule of the verdict.
        false_alarms += usize::from(nothing.better <= alpha);
        let something: Vec<f64> = turned.iter().map(|d| d + planted).collect();
        found += usize::from(difference(&something, draws)?.better <= alpha);
    }
    let share = |count: usize| count as f64 / repetitions.max(1) as f64;
    let power = power(planted, all.deviation, twins.len() as u64, alpha);
    Some(Rehearsed { repetitions, false_alarms: share(false_alarms), found: share(found), power })
}
