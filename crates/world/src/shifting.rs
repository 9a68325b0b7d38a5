//! Worlds for one question: what happens to a golem's knowledge when it stops being true? A plant with six gauges and
//! two outputs. An output follows from some of the gauges, and these relations change: the rate is a dial from never to
//! faster than a golem can learn, and there are four ways to change. The laboratory can list the changes; nothing shown
//! to a golem tells.

use golem::Usdc;
use golem::time::{Span, Time};
use golem::world::{Bar, DomainKind, DomainSpec, Effect, Features, Manifest, Outcome, Quote, Timing, Values};
use serde::{Deserialize, Serialize};

use crate::chance::{Chance, Odds};
use crate::paper::{self, Model, Paper};
use crate::running::Slow;
use crate::walk::Walk;
use crate::{Error, Ledger, Order};

/// 2024-01-01T00:00:00Z.
const START: Time = Time::seconds(1_704_067_200);

pub(crate) const DAY_MS: f64 = 86_400_000.0;
const GAUGES: usize = 6;
const OUTPUTS: usize = 2;
/// Gauges that an output follows.
const TIES: usize = 2;
/// Sets of relations that come again.
const SETS: usize = 3;
const NAMES: [&str; GAUGES + OUTPUTS] =
    ["gauge_a", "gauge_b", "gauge_c", "gauge_d", "gauge_e", "gauge_f", "heat_ratio", "flow_ratio"];

/// How many bars ahead claims look.
const HORIZON: u32 = 8;
/// The share of a gauge's deviation left a bar later: half of it after about a dozen bars.
const GAUGE_KEEP: f64 = 0.945;
/// The share of an output's deviation left a bar later; this return is the one relation that never changes.
const OUTPUT_KEEP: f64 = 0.985;
/// The pull of a gauge one deviation from zero on an output in a bar, as a logarithm.
const PULL: f64 = 0.012;
/// The noise of an output in a bar, as a logarithm.
const NOISE: f64 = 0.025;
/// Bars over which the usual level of an output is measured.
const USUAL_BARS: f64 = 100.0;

/// The users of a relation when it comes up, as a share of all that could use it.
const FIRST_USERS: f64 = 0.02;
/// The share of users at which a relation is worth nothing any more, and another comes up elsewhere.
const CROWDED: f64 = 0.9;

/// The way in which relations change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Relations are replaced by new ones.
    New,
    /// Relations alternate between three sets that come again and again.
    Recurring,
    /// Each relation wears off as a crowd finds it, and another comes up: what is used is used up.
    Crowd,
    /// Relations stay, but gauges are exchanged, turned around or read in other units.
    Meaning,
    /// Not the plant but the job queue, whose busy hours drift through the day and jump now and then.
    Queue,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftingConfig {
    pub seed: u64,
    pub bar: Span,
    pub how: How,
    /// Days from one change to the next, on average; 0 is never. Of a crowd: days until half of it have found a
    /// relation.
    pub change_days: f64,
}

/// A plant to live in.
pub type Shifting = Paper<Plant>;

#[derive(Debug)]
pub struct Plant {
    config: ShiftingConfig,
    state: ShiftState,
}

impl Shifting {
    pub fn new(config: ShiftingConfig, ledger: Ledger) -> Result<Shifting, Error> {
        if config.bar == Span::ZERO || config.bar > Span::DAY {
            return Err(Error::Config { what: "the bar", why: "must last at least a millisecond and at most a day" });
        }
        if !(config.change_days >= 0.0 && config.change_days.is_finite()) {
            return Err(Error::Config { what: "change_days", why: "must be a number of days, 0 for never" });
        }
        Ok(paper::open(Plant { config, state: ShiftState::new(&config) }, ledger))
    }
}

/// The times at which relations changed, within the first so many bars; no golem is told.
pub fn changes(config: &ShiftingConfig, bars: u64) -> Vec<Time> {
    let mut state = ShiftState::new(config);
    (0..bars).filter_map(|_| state.advance(config).then_some(state.closed)).collect()
}

/// A gauge that an output follows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tie {
    gauge: usize,
    /// How much and which way.
    pull: f64,
    /// The share of possible users that use it.
    users: f64,
    /// How fast it is found, as a multiple of the usual.
    found: f64,
}

type Relations = [[Tie; TIES]; OUTPUTS];

/// The reading of one gauge: the quantity it shows, and its unit.
#[derive(Clone, Copy, Debug)]
struct Reading {
    of: usize,
    times: f64,
}

#[derive(Clone, Debug)]
struct ShiftState {
    closed: Time,
    gauges: [f64; GAUGES],
    /// As logarithms.
    outputs: [f64; OUTPUTS],
    usual: [Slow; OUTPUTS],
    ties: Relations,
    /// The sets that come again; the first is the one at the beginning.
    sets: [Relations; SETS],
    set: usize,
    readings: [Reading; GAUGES],
    change: Odds,
    /// The growth of a small crowd in a bar.
    growth: f64,
    noise: Chance,
    /// The chance of changes, apart from the noise, so that the gauges take the same course at any rate of change.
    turns: Chance,
}

impl ShiftState {
    fn new(config: &ShiftingConfig) -> ShiftState {
        let mut turns = Chance::new(config.seed, 6);
        let mut sets: [Relations; SETS] = std::array::from_fn(|_| draw(&mut turns));
        if config.how == How::Crowd {
            // Some relations have been known for a while.
            sets[0].iter_mut().flatten().for_each(|tie| tie.users = turns.between(FIRST_USERS, CROWDED));
        }
        let bars = config.change_days * DAY_MS / config.bar.as_millis() as f64;
        let crowd = config.how == How::Crowd;
        let half_found = libm::log((1.0 - FIRST_USERS) / FIRST_USERS);
        let mut usual = Slow::new(USUAL_BARS);
        usual.push(1.0);
        ShiftState {
            closed: START,
            gauges: [0.0; GAUGES],
            outputs: [0.0; OUTPUTS],
            usual: [usual.clone(), usual],
            ties: sets[0],
            sets,
            set: 0,
            readings: std::array::from_fn(|of| Reading { of, times: 1.0 }),
            change: Odds::new(if bars > 0.0 && !crowd { 1.0 / bars } else { 0.0 }),
            growth: if bars > 0.0 && crowd { half_found / bars } else { 0.0 },
            noise: Chance::new(config.seed, 5),
            turns,
        }
    }

    /// Goes on to the next bar; returns whether relations changed with it.
    fn advance(&mut self, config: &ShiftingConfig) -> bool {
        self.closed = self.closed + config.bar;
        for (output, ties) in self.outputs.iter_mut().zip(&self.ties) {
            let pulled: f64 = ties.iter().map(|tie| tie.pull * (1.0 - tie.users) * self.gauges[tie.gauge]).sum();
            let [own] = self.noise.normals();
            *output = *output * OUTPUT_KEEP + PULL * pulled + NOISE * own;
        }
        let fresh = libm::sqrt(1.0 - GAUGE_KEEP * GAUGE_KEEP);
        let (some, others): ([f64; 3], [f64; 3]) = (self.noise.normals(), self.noise.normals());
        for (gauge, new) in self.gauges.iter_mut().zip(some.into_iter().chain(others)) {
            *gauge = *gauge * GAUGE_KEEP + fresh * new;
        }
        for (usual, output) in self.usual.iter_mut().zip(self.outputs) {
            usual.push(libm::exp(output));
        }
        self.turn(config.how)
    }

    fn turn(&mut self, how: How) -> bool {
        if how == How::Crowd {
            return self.crowd_in();
        }
        if !self.turns.happens(self.change) {
            return false;
        }
        match how {
            How::Recurring => {
                let other = if self.turns.uniform() < 0.5 { 1 } else { 2 };
                self.set = (self.set + other) % SETS;
                self.ties = self.sets[self.set];
            }
            How::Meaning => self.misread(),
            _ => self.ties = draw(&mut self.turns),
        }
        true
    }

    /// Grows the crowd of each relation for as long as it pays, and replaces crowded ones.
    fn crowd_in(&mut self) -> bool {
        let mut changed = false;
        for tie in self.ties.iter_mut().flatten() {
            tie.users += self.growth * tie.found * tie.users * (1.0 - tie.users);
            if tie.users > CROWDED {
                *tie = tied(&mut self.turns);
                changed = true;
            }
        }
        changed
    }

    /// Exchanges two gauges, and turns one of them around or reads it in another unit.
    fn misread(&mut self) {
        let mut below = |n: usize| ((self.turns.uniform() * n as f64) as usize).min(n - 1);
        let one = below(GAUGES);
        let other = (one + 1 + below(GAUGES - 1)) % GAUGES;
        self.readings.swap(one, other);
        let reading = &mut self.readings[one];
        reading.times =
            if below(2) == 0 { -reading.times } else { -reading.times.signum() * (0.5 + below(4) as f64 / 2.0) };
    }

    fn ratio(&self, output: usize) -> f64 {
        self.usual[output].ratio(libm::exp(self.outputs[output]))
    }
}

fn tied(chance: &mut Chance) -> Tie {
    let gauge = ((chance.uniform() * GAUGES as f64) as usize).min(GAUGES - 1);
    Tie { gauge, pull: chance.either_way(0.7, 1.3), users: FIRST_USERS, found: chance.between(0.6, 1.6) }
}

/// Draws a set of relations.
fn draw(chance: &mut Chance) -> Relations {
    std::array::from_fn(|_| std::array::from_fn(|_| tied(chance)))
}

impl Model for Plant {
    const ACTIONS: &'static [(&'static str, Effect)] = &[];

    fn manifest(&self) -> Manifest {
        let domain = |name: &str| DomainSpec {
            name: name.to_owned(),
            weight: 0.5,
            kind: DomainKind::Value,
            horizon: HORIZON,
            scale: None,
            level: None,
        };
        Manifest {
            world: "plant".to_owned(),
            // The caller that opened this world fills it in.
            spec: String::new(),
            bar: self.config.bar,
            domains: [domain("heat"), domain("flow")].into_iter().collect(),
            features: NAMES.map(str::to_owned).to_vec(),
            instincts: instincts(),
            actions: [].into_iter().collect(),
            regime: None,
            holding: HORIZON,
            lot: 1,
            unit: "unit".to_owned(),
            data_per_day: Usdc::ZERO,
            timing: Timing::Told,
            paper: true,
        }
    }

    fn start(&self) -> Time {
        START
    }

    fn end(&self) -> Option<Time> {
        None
    }

    fn quote(&self, _: &Order, _: i64) -> Option<Quote> {
        None
    }

    fn fill(&self, _: u64, _: &Order, _: i64) -> Option<Outcome> {
        None
    }
}

/// A rule for each end of each gauge, for each output; what they expect is learned.
fn instincts() -> Vec<String> {
    let ends = |name: &str, low: f64, high: f64| [format!("{name} < {low}"), format!("{name} > {high}")];
    let gauges = NAMES[..GAUGES].iter().flat_map(|name| ends(name, -0.6, 0.6));
    let rules = |when: String| ["heat", "flow"].map(|output| format!("when {when} expect {output} over {HORIZON}"));
    let own = ["heat", "flow"].into_iter().flat_map(|output| {
        ends(&format!("{output}_ratio"), 0.9, 1.1).map(|when| format!("when {when} expect {output} over {HORIZON}"))
    });
    gauges.flat_map(rules).chain(own).collect()
}

impl Walk for Plant {
    fn closed(&self) -> Time {
        self.state.closed
    }

    fn next(&self) -> Option<Time> {
        Some(self.state.closed + self.config.bar)
    }

    fn advance(&mut self) {
        self.state.advance(&self.config);
    }

    fn rewind(&mut self) {
        self.state = ShiftState::new(&self.config);
    }

    fn bar(&self) -> Bar {
        let state = &self.state;
        let shown = state.readings.iter().map(|reading| reading.times * state.gauges[reading.of]);
        let ratios = (0..OUTPUTS).map(|output| state.ratio(output));
        Bar {
            closed: state.closed,
            values: Values::from_iter(state.outputs.iter().map(|output| 100.0 * libm::exp(*output))),
            features: Features::from_iter(shown.chain(ratios)),
            unit: Usdc::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;
