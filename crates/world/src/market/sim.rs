//! A market made from a seed: regimes that come and go, volatility that clusters, jumps, spiky gas, depth
//! that dries up in a crisis, and relations between all these that may change under a golem's feet. The
//! same seed gives the same bars on every machine, so a life in it can be lived again.

use golem::Usdc;
use golem::time::{REFERENCE_TICK, Span, Time};
use golem::world::{Bar, Manifest, Observation, Outcome, Quote};

use super::features::{Seen, Tape};
use super::fill::Venue;
use super::regime::{Regime, Relations};
use super::{YEAR_MS, manifest};
use crate::chance::{Chance, Odds};
use crate::walk::{self, Walk};
use crate::{Error, Ledger, Order, World};

/// 2024-01-01T00:00:00Z.
const START: Time = Time::seconds(1_704_067_200);
const DAY_MS: f64 = 86_400_000.0;
const HOUR_MS: f64 = 3_600_000.0;

/// Where prices come from and, over years, tend back to: without it a long life ends at zero or infinity.
const HOME: f64 = 2_300.0;
const HOMING_A_YEAR: f64 = 1.5;
const PRICES: (f64, f64) = (0.01, 1e8);
/// No bar moves further than this.
const LARGEST_RETURN: f64 = 0.5;
/// A jump, in deviations of an hour.
const JUMP: f64 = 1.5;
/// A jump echoes no louder than a return of so many deviations.
const LARGEST_ECHO: f64 = 4.0;

/// How far the logarithms stray from their regime's level.
const VOLATILITY_SPREAD: f64 = 0.35;
const GAS_SPREAD: f64 = 0.35;
const DEPTH_SPREAD: f64 = 0.30;
const DEPTH_HALF_LIFE_HOURS: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimConfig {
    pub seed: u64,
    pub bar: Span,
    /// Days between changes in how things relate, on average; 0 is never.
    pub relations_change_days: f64,
}

impl Default for SimConfig {
    fn default() -> SimConfig {
        SimConfig { seed: 1, bar: REFERENCE_TICK, relations_change_days: 0.0 }
    }
}

#[derive(Debug)]
pub struct Sim {
    config: SimConfig,
    ledger: Ledger,
    state: State,
}

/// What no golem is told: how the next bar will be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    pub regime: Regime,
    pub relations: Relations,
    pub expected_return: f64,
    /// Deviation of the next return, jumps aside.
    pub deviation: f64,
    /// Dollars that move the market by one per cent.
    pub depth: f64,
}

impl Sim {
    pub fn new(config: SimConfig, ledger: Ledger) -> Result<Sim, Error> {
        if config.bar == Span::ZERO || config.bar > Span::DAY {
            return Err(Error::Config { what: "the bar", why: "must last at least a millisecond and at most a day" });
        }
        if !(config.relations_change_days >= 0.0 && config.relations_change_days.is_finite()) {
            return Err(Error::Config { what: "relations_change_days", why: "must be a number of days, 0 for never" });
        }
        Ok(Sim { config, ledger, state: State::new(&config) })
    }

    pub fn truth(&self) -> Truth {
        Truth {
            regime: self.state.regime,
            relations: self.state.relations,
            expected_return: self.state.expected(),
            deviation: self.state.deviation,
            depth: self.state.depth(),
        }
    }

    fn venue(&self) -> Venue {
        Venue { unit: self.state.unit(), depth: self.state.depth(), held: self.ledger.held(), salt: self.config.seed }
    }
}

impl World for Sim {
    fn manifest(&self) -> Manifest {
        manifest("simulated market", self.config.bar, "ETH", true)
    }

    fn start(&self) -> Time {
        START
    }

    fn end(&self) -> Option<Time> {
        None
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
        let venue = self.venue();
        self.ledger.once(key, self.state.closed, || venue.fill(key, order))
    }

    fn reconcile(&mut self, key: u64) -> Result<Option<Outcome>, Error> {
        self.ledger.reconcile(key, self.state.closed)
    }
}

impl Walk for Sim {
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
        self.state = State::new(&self.config);
    }

    fn bar(&self) -> Bar {
        self.state.tape.bar(self.state.unit())
    }
}

/// Everything that moves.
#[derive(Clone, Debug)]
struct State {
    closed: Time,
    price: f64,
    /// The last return and the surprises beside it: what the next return follows from.
    echo: f64,
    volume_surprise: f64,
    gas_surprise: f64,
    /// Logarithm of volatility as a fraction a year.
    log_volatility: f64,
    deviation: f64,
    log_gas: f64,
    log_depth: f64,
    tape: Tape,
    regime: Regime,
    regime_until: Time,
    relations: Relations,
    relations_until: Option<Time>,
    pace: Pace,
    noise: Chance,
    weather: Chance,
    /// Apart from the weather, so that changing relations leaves the regimes as they were.
    ties: Chance,
}

/// What regime and relations come to for one bar.
#[derive(Clone, Copy, Debug)]
struct Pace {
    root_bar: f64,
    drift: f64,
    homing: f64,
    momentum: f64,
    jump: Odds,
    jump_size: f64,
    spike: Odds,
    leverage: (f64, f64),
    volatility: Pull,
    gas: Pull,
    depth: Pull,
}

/// A logarithm on its way back to its level.
#[derive(Clone, Copy, Debug)]
struct Pull {
    level: f64,
    keep: f64,
    noise: f64,
}

impl State {
    fn new(config: &SimConfig) -> State {
        let mut weather = Chance::new(config.seed, 1);
        let mut ties = Chance::new(config.seed, 2);
        let regime = Regime::first(&mut weather);
        let relations = Relations::draw(&mut ties);
        let pace = Pace::new(config.bar, regime, &relations);
        State {
            closed: START,
            price: HOME,
            echo: 0.0,
            volume_surprise: 0.0,
            gas_surprise: 0.0,
            log_volatility: pace.volatility.level,
            deviation: libm::exp(pace.volatility.level) * pace.root_bar,
            log_gas: pace.gas.level,
            log_depth: pace.depth.level,
            tape: Tape::new(config.bar, seen(START, HOME, 0.0, pace.gas.level, pace.depth.level)),
            regime,
            regime_until: later(START, regime.levels().days, &mut weather),
            relations,
            relations_until: change(START, config, &mut ties),
            pace,
            noise: Chance::new(config.seed, 0),
            weather,
            ties,
        }
    }

    fn expected(&self) -> f64 {
        let home = (HOME - self.price) / (HOME + self.price);
        // The echo is a return, not a number of deviations: these may have grown with it, and momentum
        // times leverage would add up to a drift nobody declared.
        let surprises = self.relations.volume_lead * self.volume_surprise + self.relations.gas_lead * self.gas_surprise;
        self.pace.drift + self.pace.homing * home + self.pace.momentum * self.echo + self.deviation * surprises
    }

    fn advance(&mut self, config: &SimConfig) {
        let [own, volatile, busy, gas] = self.noise.normals();

        let mut change = self.expected() + self.deviation * own;
        if self.noise.happens(self.pace.jump) {
            let [size] = self.noise.normals();
            change += self.deviation * self.pace.jump_size * size;
        }
        let change = change.clamp(-LARGEST_RETURN, LARGEST_RETURN);
        self.price = (self.price * (1.0 + change)).clamp(PRICES.0, PRICES.1);

        let loudest = LARGEST_ECHO * self.deviation;
        self.echo = change.clamp(-loudest, loudest);
        self.volume_surprise = busy;
        self.gas_surprise = gas;
        let (with, apart) = self.pace.leverage;
        let volatile = with * own + apart * volatile;
        self.log_volatility = self.pace.volatility.next(self.log_volatility, volatile);
        self.deviation = libm::exp(self.log_volatility) * self.pace.root_bar;
        self.log_gas = self.pace.gas.next(self.log_gas, gas);
        if self.noise.happens(self.pace.spike) {
            self.log_gas += self.noise.between(0.5, 1.5);
        }
        // Whoever offers depth steps back when volatility surprises.
        self.log_depth = self.pace.depth.next(self.log_depth, -volatile);
        self.closed = self.closed + config.bar;
        self.tape.push(seen(self.closed, self.price, self.volume_surprise, self.log_gas, self.log_depth));
        self.turn(config);
    }

    /// Regime and relations change between bars, never within one.
    fn turn(&mut self, config: &SimConfig) {
        let regime = self.closed >= self.regime_until;
        let relations = self.relations_until.is_some_and(|until| self.closed >= until);
        if regime {
            self.regime = self.regime.next(&mut self.weather);
            self.regime_until = later(self.closed, self.regime.levels().days, &mut self.weather);
        }
        if relations {
            self.relations = Relations::draw(&mut self.ties);
            self.relations_until = change(self.closed, config, &mut self.ties);
        }
        if regime || relations {
            self.pace = Pace::new(config.bar, self.regime, &self.relations);
        }
    }

    fn unit(&self) -> Usdc {
        Usdc::micros((self.price * 1e6) as i64)
    }

    fn depth(&self) -> f64 {
        libm::exp(self.log_depth)
    }
}

impl Pace {
    fn new(bar: Span, regime: Regime, relations: &Relations) -> Pace {
        let levels = regime.levels();
        let millis = bar.as_millis() as f64;
        let days = millis / DAY_MS;
        let log = |level| libm::log(level);
        // The mean of a squared log-normal lies above its middle by twice the squared spread.
        let volatility = log(levels.volatility) - VOLATILITY_SPREAD * VOLATILITY_SPREAD;
        Pace {
            root_bar: libm::sqrt(millis / YEAR_MS),
            drift: levels.drift * days,
            homing: HOMING_A_YEAR * millis / YEAR_MS,
            momentum: relations.momentum + levels.momentum,
            jump: Odds::new(levels.jumps_a_day * days),
            jump_size: JUMP * libm::sqrt(HOUR_MS / millis),
            spike: Odds::new(levels.gas_spikes_a_day * days),
            leverage: (relations.leverage, libm::sqrt(1.0 - relations.leverage * relations.leverage)),
            volatility: Pull::new(volatility, relations.volatility_half_life, VOLATILITY_SPREAD, millis),
            gas: Pull::new(log(levels.gas_gwei), relations.gas_half_life, GAS_SPREAD, millis),
            depth: Pull::new(log(levels.depth), DEPTH_HALF_LIFE_HOURS, DEPTH_SPREAD, millis),
        }
    }
}

impl Pull {
    fn new(level: f64, half_life_hours: f64, spread: f64, bar_ms: f64) -> Pull {
        let keep = libm::exp(-std::f64::consts::LN_2 * bar_ms / (half_life_hours * HOUR_MS));
        Pull { level, keep, noise: spread * libm::sqrt(1.0 - keep * keep) }
    }

    fn next(&self, value: f64, surprise: f64) -> f64 {
        self.level + (value - self.level) * self.keep + self.noise * surprise
    }
}

/// What a bar looks like from outside.
fn seen(closed: Time, price: f64, volume_surprise: f64, log_gas: f64, log_depth: f64) -> Seen {
    let half = 0.5 * volume_surprise;
    Seen {
        closed,
        close: price,
        high: price,
        low: price,
        // Above zero, one without a surprise, and nearly a logarithm's way up and down.
        volume: Some(half + libm::sqrt(1.0 + half * half)),
        gas: Some(libm::exp(log_gas)),
        depth: Some(libm::exp(log_depth)),
    }
}

fn later(from: Time, mean_days: f64, chance: &mut Chance) -> Time {
    from + Span::millis((chance.wait() * mean_days * DAY_MS) as u64)
}

fn change(from: Time, config: &SimConfig, ties: &mut Chance) -> Option<Time> {
    (config.relations_change_days > 0.0).then(|| later(from, config.relations_change_days, ties))
}

#[cfg(test)]
mod tests;
