//! A world that is not a market: a service with a queue of jobs and servers that work them off. Jobs come with the hour
//! of the day and in bursts; a golem may rent servers and hand them back, and from the next bar on the queue is shorter
//! or longer accordingly.
//!
//! The worth of a server rises with demand, so foresight pays here too.

use golem::time::{REFERENCE_TICK, Span, Time};
use golem::world::{
    ActionSpec, Bar, DomainKind, DomainSpec, Effect, Features, Manifest, Outcome, Quote, Timing, Values,
};
use golem::{Usdc, limits};

use crate::chance::{Chance, Odds};
use crate::paper::{self, Model, Paper};
use crate::running::Slow;
use crate::shifting::DAY_MS;
use crate::walk::{self, Walk};
use crate::{Error, Ledger, Order};

const ADD: u8 = 0;
const REMOVE: u8 = 1;
/// Actions, in the order of the numbers above.
const ACTIONS: [(&str, Effect); 2] = [("add_server", Effect::Adds), ("remove_server", Effect::Reduces)];
/// Millionths that make one server.
const SERVER: i64 = 1_000_000;

/// 2024-01-01T00:00:00Z.
const START: Time = Time::seconds(1_704_067_200);
const HOUR_MS: u64 = 3_600_000;
const MINUTE_MS: f64 = 60_000.0;

/// Servers the service has of its own; the golem's come on top.
const OWN_SERVERS: i64 = 11;
/// The most servers there can be, the service's own included.
const MOST_SERVERS: i64 = 1_000;
const JOBS_A_MINUTE_A_SERVER: f64 = 12.0;
/// Jobs a minute at each full hour of the day.
const DEMAND: [f64; 24] = [
    48.0, 42.0, 38.0, 36.0, 36.0, 40.0, 52.0, 70.0, 88.0, 100.0, 106.0, 108.0, 104.0, 106.0, 110.0, 112.0, 108.0,
    100.0, 94.0, 92.0, 90.0, 82.0, 70.0, 58.0,
];
const BURSTS_A_DAY: f64 = 3.0;
const BURST_HALF_LIFE_HOURS: f64 = 0.5;
/// How far demand strays from its daily course, as a fraction.
const STRAY: f64 = 0.10;
/// How long demand strays: half of a deviation is gone after this.
const STRAY_HALF_LIFE_HOURS: f64 = 3.0;
/// Hours that the day's course jumps by, either way.
const JUMPS: (f64, f64) = (3.0, 9.0);
/// How long a job waits before it gives up.
const PATIENCE_MINUTES: f64 = 30.0;

/// The worth of a server without demand, in dollars.
const WORTH: f64 = 1.60;
/// The worth added by each job a minute of demand, in dollars.
const WORTH_A_JOB: f64 = 0.005;
const FEE_PER_CENT: i64 = 1;

/// Where arrivals stand among the domains: they tell a busy stretch from a slack one.
const ARRIVALS: u8 = 0;
/// How long a server is usually kept: long enough for the day's course to matter more than a burst.
const HOLDING_HOURS: u64 = 3;

/// How many bars ahead claims look.
const HORIZON: u32 = 15;
const FEATURES: [&str; 7] = ["arrivals", "arrivals_ratio", "wait", "queue", "busy", "servers", "hour"];
/// The time over which usual arrivals are measured.
const USUAL_HOURS: f64 = 1.0;

/// Heuristics to begin with; what they expect is learned. Servers gain worth in the morning, most for those who
/// come before the ramp, and lose it in the evening.
const INSTINCTS: &str = "\
when arrivals_ratio < 0.8 expect arrivals over 15
when arrivals_ratio > 0.8 and arrivals_ratio < 1.0 expect arrivals over 15
when arrivals_ratio > 1.0 and arrivals_ratio < 1.25 expect arrivals over 15
when arrivals_ratio > 1.25 expect arrivals over 15
when hour < 4.5 expect arrivals over 15
when hour > 4.5 and hour < 9.5 expect arrivals over 15 then add
when hour > 3.5 and hour < 7.5 expect arrivals over 15 then add
when hour > 9.5 and hour < 19.5 expect arrivals over 15
when hour > 19.5 expect arrivals over 15 then reduce
when arrivals_ratio < 0.8 expect wait over 15
when arrivals_ratio > 1.25 expect wait over 15
when busy > 0.95 expect wait over 15
when queue > 50 expect wait over 15
when hour > 4.5 and hour < 9.5 expect wait over 15
when hour > 19.5 expect wait over 15
";

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    pub seed: u64,
    pub bar: Span,
    /// Days in which the busy hours jump once, on average, and stray as far by drifting; 0 is never.
    pub drift_days: f64,
}

impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig { seed: 1, bar: REFERENCE_TICK, drift_days: 0.0 }
    }
}

/// A job queue to live in.
pub type Queue = Paper<Service>;

/// The service itself, without the golem's record.
#[derive(Debug)]
pub struct Service {
    config: QueueConfig,
    /// Servers gained or given up and when, in order of time.
    changes: Vec<(Time, i64)>,
    pace: QueuePace,
    state: QueueState,
}

#[derive(Clone, Copy, Debug)]
struct QueuePace {
    minutes: f64,
    burst: Odds,
    burst_keep: f64,
    stray_keep: f64,
    stray_noise: f64,
    /// The odds that the busy hours jump in a bar.
    jump: Odds,
    /// Hours that they drift in a bar.
    drift: f64,
}

#[derive(Clone, Debug)]
struct QueueState {
    closed: Time,
    servers: i64,
    /// How many of the changes are in force.
    changed: usize,
    stray: f64,
    burst: f64,
    /// Jobs a minute in the last bar.
    arrivals: f64,
    /// Jobs a minute that were to be expected.
    demand: f64,
    usual: Slow,
    waiting: f64,
    /// The part of the servers' capacity that was used.
    busy: f64,
    /// Hours by which the day's course has moved.
    shift: f64,
    chance: Chance,
    /// Apart from the rest, so that a queue that drifts has the bursts of one that does not.
    drifts: Chance,
}

impl Queue {
    pub fn new(config: QueueConfig, ledger: Ledger) -> Result<Queue, Error> {
        if config.bar == Span::ZERO || config.bar > Span::DAY {
            return Err(Error::Config { what: "the bar", why: "must last at least a millisecond and at most a day" });
        }
        if !(config.drift_days >= 0.0 && config.drift_days.is_finite()) {
            return Err(Error::Config { what: "change_days", why: "must be a number of days, 0 for never" });
        }
        let (changes, pace, state) = (Vec::new(), QueuePace::new(&config), QueueState::new(&config));
        Ok(paper::open(Service { config, changes, pace, state }, ledger))
    }

    /// Servers at work in the newest bar, the service's own included.
    pub fn servers(&self) -> u32 {
        u32::try_from(self.model.state.servers).expect("between its own and the most there are")
    }
}

impl Service {
    /// The outcome of an order: whole servers only, and only the golem's own can be handed back.
    fn outcome(&self, order: &Order, held: i64) -> Option<Outcome> {
        let (servers, held) = (order.units / SERVER, held / SERVER);
        let (room, sign) = match order.action {
            ADD => (MOST_SERVERS - OWN_SERVERS - held, 1),
            REMOVE => (held, -1),
            _ => return None,
        };
        if servers < 1 || servers > room {
            return None;
        }
        let worth = self.worth().as_micros() * servers;
        let fee = (worth * FEE_PER_CENT + 99) / 100;
        let (units, cash) = (sign * servers * SERVER, Usdc::micros(-sign * worth));
        Some(Outcome { units, cash, fee: Usdc::micros(fee), gas: Usdc::ZERO })
    }

    fn worth(&self) -> Usdc {
        Usdc::micros(((WORTH + WORTH_A_JOB * self.state.demand) * 1e6) as i64)
    }

    /// Seconds until a job that comes now is started: the queue before it, and the usual crowding.
    fn wait(&self) -> f64 {
        let capacity = self.state.servers as f64 * JOBS_A_MINUTE_A_SERVER;
        let load = (self.state.arrivals / capacity).min(0.95);
        let crowding = load / (1.0 - load) / JOBS_A_MINUTE_A_SERVER;
        (self.state.waiting / capacity + crowding) * 60.0
    }
}

impl Model for Service {
    const ACTIONS: &'static [(&'static str, Effect)] = &ACTIONS;

    fn manifest(&self) -> Manifest {
        let domain = |name: &str| DomainSpec {
            name: name.to_owned(),
            weight: 0.5,
            kind: DomainKind::Value,
            horizon: HORIZON,
            scale: None,
            level: None,
        };
        let action = |(name, effect): (&str, _)| ActionSpec { name: name.to_owned(), effect };
        Manifest {
            world: "job queue".to_owned(),
            // The caller that opened this world fills it in.
            spec: String::new(),
            bar: self.config.bar,
            domains: [domain("arrivals"), domain("wait")].into_iter().collect(),
            features: FEATURES.map(str::to_owned).to_vec(),
            instincts: INSTINCTS.lines().map(str::to_owned).collect(),
            actions: ACTIONS.into_iter().map(action).collect(),
            regime: Some(ARRIVALS),
            holding: holding(self.config.bar),
            lot: SERVER,
            unit: "server".to_owned(),
            data_per_day: Usdc::cents(2),
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

    fn quote(&self, order: &Order, held: i64) -> Option<Quote> {
        self.outcome(order, held).map(|Outcome { cash, fee, gas, .. }| Quote { cash, fee, gas })
    }

    fn fill(&self, _key: u64, order: &Order, held: i64) -> Option<Outcome> {
        self.outcome(order, held)
    }

    fn changed(&mut self, at: Time, done: &Outcome) {
        let place = self.changes.partition_point(|(earlier, _)| *earlier <= at);
        self.changes.insert(place, (at, done.units / SERVER));
    }
}

impl Walk for Service {
    fn closed(&self) -> Time {
        self.state.closed
    }

    fn next(&self) -> Option<Time> {
        Some(self.state.closed + self.config.bar)
    }

    fn advance(&mut self) {
        let state = &mut self.state;
        while let Some((at, change)) = self.changes.get(state.changed)
            && *at <= state.closed
        {
            state.servers += change;
            state.changed += 1;
        }
        let _jumped = state.advance(&self.pace, self.config.bar);
    }

    fn rewind(&mut self) {
        self.state = QueueState::new(&self.config);
    }

    fn bar(&self) -> Bar {
        let QueueState { closed, arrivals, waiting, busy, .. } = self.state;
        let wait = self.wait();
        let features: [f64; FEATURES.len()] = [
            arrivals,
            self.state.usual.ratio(arrivals),
            wait,
            waiting,
            busy,
            self.state.servers as f64,
            walk::hour(closed),
        ];
        Bar {
            closed,
            values: Values::from_iter([arrivals, wait]),
            features: Features::from_iter(features),
            unit: self.worth(),
        }
    }
}

impl QueueState {
    fn new(config: &QueueConfig) -> QueueState {
        let mut usual = Slow::new((USUAL_HOURS * HOUR_MS as f64 / config.bar.as_millis() as f64).max(2.0));
        usual.push(DEMAND[0]);
        QueueState {
            closed: START,
            servers: OWN_SERVERS,
            changed: 0,
            stray: 0.0,
            burst: 0.0,
            arrivals: DEMAND[0],
            demand: DEMAND[0],
            usual,
            waiting: 0.0,
            busy: DEMAND[0] / (OWN_SERVERS as f64 * JOBS_A_MINUTE_A_SERVER),
            shift: 0.0,
            chance: Chance::new(config.seed, 3),
            drifts: Chance::new(config.seed, 7),
        }
    }

    /// Goes on to the next bar; returns whether the busy hours jumped with it.
    fn advance(&mut self, pace: &QueuePace, bar: Span) -> bool {
        let [stray, own] = self.chance.normals();
        self.closed = self.closed + bar;
        let jumped = pace.drift > 0.0 && self.drift(pace);
        self.stray = self.stray * pace.stray_keep + pace.stray_noise * stray;
        self.burst *= pace.burst_keep;
        if self.chance.happens(pace.burst) {
            self.burst += self.chance.between(0.3, 1.5);
        }
        self.demand = daily(self.closed, self.shift) * (1.0 + self.stray + self.burst).max(0.1);
        let expected = self.demand * pace.minutes;
        let jobs = (expected + libm::sqrt(expected) * own).max(0.0);
        self.arrivals = jobs / pace.minutes;
        self.usual.push(self.arrivals);
        let capacity = self.servers as f64 * JOBS_A_MINUTE_A_SERVER;
        self.busy = ((self.waiting + jobs) / (capacity * pace.minutes)).min(1.0);
        self.waiting = (self.waiting + jobs - capacity * pace.minutes).clamp(0.0, capacity * PATIENCE_MINUTES);
        jumped
    }

    fn drift(&mut self, pace: &QueuePace) -> bool {
        let [strays] = self.drifts.normals();
        self.shift += pace.drift * strays;
        let jumps = self.drifts.happens(pace.jump);
        if jumps {
            self.shift += self.drifts.either_way(JUMPS.0, JUMPS.1);
        }
        jumps
    }
}

/// The times at which the busy hours jumped, within the first so many bars; no golem is told.
pub(crate) fn jumps(config: &QueueConfig, bars: u64) -> Vec<Time> {
    let (pace, mut state) = (QueuePace::new(config), QueueState::new(config));
    (0..bars).filter_map(|_| state.advance(&pace, config.bar).then_some(state.closed)).collect()
}

impl QueuePace {
    fn new(config: &QueueConfig) -> QueuePace {
        let millis = config.bar.as_millis() as f64;
        let drifts = if config.drift_days > 0.0 { millis / DAY_MS / config.drift_days } else { 0.0 };
        let keep = |hours: f64| libm::exp(-std::f64::consts::LN_2 * millis / (hours * HOUR_MS as f64));
        let stray_keep = keep(STRAY_HALF_LIFE_HOURS);
        QueuePace {
            minutes: millis / MINUTE_MS,
            burst: Odds::new(BURSTS_A_DAY * millis / (24 * HOUR_MS) as f64),
            burst_keep: keep(BURST_HALF_LIFE_HOURS),
            stray_keep,
            stray_noise: STRAY * libm::sqrt(1.0 - stray_keep * stray_keep),
            jump: Odds::new(drifts),
            drift: JUMPS.0 * libm::sqrt(drifts),
        }
    }
}

fn holding(bar: Span) -> u32 {
    let bars = HOLDING_HOURS * HOUR_MS / bar.as_millis();
    u32::try_from(bars.max(1)).map_or(limits::HORIZON, |bars| bars.min(limits::HORIZON))
}

/// Jobs a minute at this time of day, between the full hours in a straight line; with a day whose course has moved.
fn daily(time: Time, shift: f64) -> f64 {
    let moved = (shift * HOUR_MS as f64) as i64;
    let millis = (time.as_millis() as i64 + moved).rem_euclid(24 * HOUR_MS as i64) as u64;
    let hours = millis / HOUR_MS;
    let past = (millis % HOUR_MS) as f64 / HOUR_MS as f64;
    let (from, to) = (DEMAND[(hours % 24) as usize], DEMAND[((hours + 1) % 24) as usize]);
    from + (to - from) * past
}

#[cfg(test)]
mod tests;
