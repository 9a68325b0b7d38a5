//! A market made from a seed: regimes that come and go, volatility that clusters, jumps, spiky gas, depth
//! that dries up in a crisis, and relations between all these that may change under a golem's feet. The
//! same seed gives the same bars on every machine, so a life in it can be lived again.

use golem::Usdc;
use golem::time::{REFERENCE_TICK, Span, Time};
use golem::world::{Bar, Effect, Manifest, Outcome, Quote};

use super::features::{SeenBar, Tape};
use super::fill::{self, Venue};
use super::pace::Pace;
use super::regime::{Regime, Relations};
use super::signs::{BarSigns, EdgeConfig, SIGN_RETURN, Sign, Signs, signed_manifest};
use super::staged::{BURST_RETURN, BURST_VOLUME, Bursts, Swing, Tide};
use super::{DAY_MS, START, manifest};
use crate::chance::Chance;
use crate::paper::{self, Model, Paper};
use crate::walk::Walk;
use crate::{Error, Ledger, Order};

/// The price at the beginning, to which prices tend back over years: without it a long life ends at zero or infinity.
const HOME: f64 = 2_300.0;
/// The lowest and the highest price.
const PRICES: (f64, f64) = (0.01, 1e8);
/// The largest move of a bar.
const LARGEST_RETURN: f64 = 0.5;
/// The largest return that momentum follows, in deviations: a jump counts as no more.
const LARGEST_ECHO: f64 = 4.0;

/// The largest edge in basis points: beyond a tenth it is not an edge but another market.
const LARGEST_EDGE: u32 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimConfig {
    pub seed: u64,
    pub bar: Span,
    /// Days between changes in how things relate, on average; 0 is never.
    pub relations_change_days: f64,
    /// Makes the market fair: nothing predicts the next return, except bursts of volume that are followed by a drift of
    /// this much; 0 is no bursts.
    pub edge_bps: Option<u32>,
    /// Gives volatility and gas a tide that turns back until this day and goes further from then on, in a market that
    /// is calm for ever otherwise.
    pub flip_days: Option<f64>,
    /// Makes the market fair, but for signs, one of which leads somewhere.
    pub edge: Option<EdgeConfig>,
}

impl Default for SimConfig {
    fn default() -> SimConfig {
        SimConfig {
            seed: 1,
            bar: REFERENCE_TICK,
            relations_change_days: 0.0,
            edge_bps: None,
            flip_days: None,
            edge: None,
        }
    }
}

/// A simulated market to live in.
pub type Sim = Paper<Simulation>;

/// The market itself, without the golem's record.
#[derive(Debug)]
pub struct Simulation {
    config: SimConfig,
    state: MarketState,
}

/// How the next bar will be made, which no golem is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    pub regime: Regime,
    pub relations: Relations,
    pub expected_return: f64,
    /// Deviation of the next return, jumps aside.
    pub deviation: f64,
    /// Dollars that move the market by one per cent.
    pub depth: f64,
    /// The sign that leads somewhere, where there are signs.
    pub leads: Option<Sign>,
}

impl Sim {
    pub fn new(config: SimConfig, ledger: Ledger) -> Result<Sim, Error> {
        Ok(paper::open(Simulation::new(config)?, ledger))
    }

    pub fn truth(&self) -> Truth {
        self.model.truth()
    }
}

impl Simulation {
    pub(super) fn new(config: SimConfig) -> Result<Simulation, Error> {
        if config.bar == Span::ZERO || config.bar > Span::DAY {
            return Err(Error::Config { what: "the bar", why: "must last at least a millisecond and at most a day" });
        }
        if !(config.relations_change_days >= 0.0 && config.relations_change_days.is_finite()) {
            return Err(Error::Config { what: "relations_change_days", why: "must be a number of days, 0 for never" });
        }
        if config.flip_days.is_some_and(|days| !(days >= 0.0 && days.is_finite())) {
            return Err(Error::Config { what: "flip_days", why: "must be a number of days" });
        }
        if config.flip_days.is_some() && config.relations_change_days > 0.0 {
            return Err(Error::Config { what: "relations_change_days", why: "must be 0 where flip_days is set" });
        }
        let edge = config.edge_bps.or(config.edge.map(|edge| edge.bps));
        if edge.is_some_and(|edge| edge > LARGEST_EDGE) {
            return Err(Error::Config { what: "edge_bps", why: "must be at most 1000" });
        }
        if config.edge.is_some_and(|edge| !(edge.move_days >= 0.0 && edge.move_days.is_finite())) {
            return Err(Error::Config { what: "move_days", why: "must be a number of days, 0 for never" });
        }
        Ok(Simulation { config, state: MarketState::new(&config) })
    }

    pub(super) fn truth(&self) -> Truth {
        Truth {
            regime: self.state.regime,
            relations: self.state.relations,
            expected_return: self.state.expected(),
            deviation: self.state.deviation,
            depth: self.state.depth(),
            leads: self.state.signs.as_ref().map(Signs::leads),
        }
    }

    fn venue(&self, held: i64) -> Venue {
        Venue { unit: self.state.unit(), depth: self.state.depth(), held, salt: self.config.seed }
    }
}

impl Model for Simulation {
    const ACTIONS: &'static [(&'static str, Effect)] = &fill::ACTIONS;

    fn manifest(&self) -> Manifest {
        match self.config.edge {
            Some(edge) => signed_manifest(edge, self.config.bar),
            None => manifest("simulated market", self.config.bar, "ETH", true),
        }
    }

    fn start(&self) -> Time {
        START
    }

    fn end(&self) -> Option<Time> {
        None
    }

    fn quote(&self, order: &Order, held: i64) -> Option<Quote> {
        self.venue(held).quote(order)
    }

    fn fill(&self, key: u64, order: &Order, held: i64) -> Option<Outcome> {
        self.venue(held).fill(key, order)
    }
}

impl Walk for Simulation {
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
        self.state = MarketState::new(&self.config);
    }

    fn bar(&self) -> Bar {
        self.state.tape.bar(self.state.unit())
    }
}

/// The state of the market: everything that moves.
#[derive(Clone, Debug)]
struct MarketState {
    closed: Time,
    price: f64,
    /// The last return, from which the next follows.
    echo: f64,
    /// How far volume was from the expected; the next return follows from that too.
    volume_surprise: f64,
    /// How far gas was from the expected.
    gas_surprise: f64,
    /// Logarithm of volatility as a fraction a year.
    log_volatility: f64,
    deviation: f64,
    log_gas: f64,
    log_depth: f64,
    tape: Tape,
    regime: Regime,
    regime_until: Option<Time>,
    relations: Relations,
    relations_until: Option<Time>,
    pace: Pace,
    bursts: Option<Bursts>,
    tide: Option<Tide>,
    signs: Option<Signs>,
    noise: Chance,
    weather: Chance,
    /// Apart from the weather, so that changing relations leaves the regimes as they were.
    ties: Chance,
}

impl MarketState {
    fn new(config: &SimConfig) -> MarketState {
        let mut weather = Chance::new(config.seed, 1);
        let mut ties = Chance::new(config.seed, 2);
        let regime = if config.flip_days.is_some() { Regime::Calm } else { Regime::first(&mut weather) };
        let relations = draw(config, &mut ties);
        let pace = Pace::new(config.bar, is_fair(config), regime, &relations);
        let tide = config.flip_days.map(|days| Tide::new(days * DAY_MS / config.bar.as_millis() as f64));
        let swing = tide.map_or(Swing::default(), |tide| tide.at(0.0));
        MarketState {
            closed: START,
            price: HOME,
            echo: 0.0,
            volume_surprise: 0.0,
            gas_surprise: 0.0,
            log_volatility: pace.volatility.level,
            deviation: libm::exp(pace.volatility.level + swing.volatility) * pace.root_bar,
            log_gas: pace.gas.level,
            log_depth: pace.depth.level,
            tape: Tape::new(config.bar, seen(START, HOME, 0.0, pace.gas.level + swing.gas, pace.depth.level)),
            regime,
            regime_until: turns(START, config, regime, &mut weather),
            relations,
            relations_until: change(START, config, &mut ties),
            pace,
            bursts: config.edge_bps.and_then(|edge| Bursts::new(config.seed, edge)),
            tide,
            signs: config.edge.map(|edge| Signs::new(config.seed, edge, config.bar.as_millis() as f64)),
            noise: Chance::new(config.seed, 0),
            weather,
            ties,
        }
    }

    fn expected(&self) -> f64 {
        let home = (HOME - self.price) / (HOME + self.price);
        // The echo is a return, not a number of deviations: these may have grown with it, and momentum
        // times leverage would add up to a drift that was not declared.
        let surprises = self.relations.volume_lead * self.volume_surprise + self.relations.gas_lead * self.gas_surprise;
        let planted = self.bursts.as_ref().map_or(0.0, Bursts::expected);
        let signed = self.signs.as_ref().map_or(0.0, Signs::expected);
        self.pace.drift
            + self.pace.homing * home
            + self.pace.momentum * self.echo
            + self.deviation * surprises
            + planted
            + signed
    }

    fn advance(&mut self, config: &SimConfig) {
        let [own, volatile, busy, gas] = self.noise.normals();

        let mut change = self.expected() + self.deviation * own;
        if self.noise.happens(self.pace.jump) {
            let [size] = self.noise.normals();
            change += self.deviation * self.pace.jump_size * size;
        }
        let burst = self.bursts.as_mut().and_then(Bursts::next);
        change += burst.map_or(0.0, |way| way * BURST_RETURN * self.deviation);
        let shown = self.signs.as_mut().map_or(BarSigns::default(), Signs::next);
        change += shown.way * SIGN_RETURN * self.deviation;
        let change = change.clamp(-LARGEST_RETURN, LARGEST_RETURN);
        self.price = (self.price * (1.0 + change)).clamp(PRICES.0, PRICES.1);

        let loudest = LARGEST_ECHO * self.deviation;
        self.echo = change.clamp(-loudest, loudest);
        self.volume_surprise = if burst.is_some() { BURST_VOLUME } else { shown.volume.unwrap_or(busy) };
        self.gas_surprise = gas;
        let (with, apart) = self.pace.leverage;
        let volatile = with * own + apart * volatile;
        self.log_volatility = self.pace.volatility.next(self.log_volatility, volatile);
        self.closed = self.closed + config.bar;
        let swing = self.swing(config.bar);
        self.deviation = libm::exp(self.log_volatility + swing.volatility) * self.pace.root_bar;
        self.log_gas = self.pace.gas.next(self.log_gas, gas);
        if self.noise.happens(self.pace.spike) {
            self.log_gas += self.noise.between(0.5, 1.5);
        }
        // Market makers step back when volatility surprises.
        self.log_depth = self.pace.depth.next(self.log_depth, -volatile);
        // Of gas and depth a sign is no more than what this bar shows: neither goes on from it.
        let (gas, depth) = (self.log_gas + swing.gas + shown.gas, self.log_depth + shown.depth);
        self.tape.push(seen(self.closed, self.price, self.volume_surprise, gas, depth));
        self.turn(config);
    }

    fn swing(&self, bar: Span) -> Swing {
        let bars = || self.closed.since(START).as_millis() / bar.as_millis();
        self.tide.map_or(Swing::default(), |tide| tide.at(bars() as f64))
    }

    /// Changes regime and relations where they are due: between bars, never within one.
    fn turn(&mut self, config: &SimConfig) {
        let over = |until: Option<Time>| until.is_some_and(|until| self.closed >= until);
        let (regime, relations) = (over(self.regime_until), over(self.relations_until));
        if regime {
            self.regime = self.regime.next(&mut self.weather);
            self.regime_until = turns(self.closed, config, self.regime, &mut self.weather);
        }
        if relations {
            self.relations = draw(config, &mut self.ties);
            self.relations_until = change(self.closed, config, &mut self.ties);
        }
        if regime || relations {
            self.pace = Pace::new(config.bar, is_fair(config), self.regime, &self.relations);
        }
    }

    fn unit(&self) -> Usdc {
        Usdc::micros((self.price * 1e6) as i64)
    }

    fn depth(&self) -> f64 {
        libm::exp(self.log_depth)
    }
}

/// A bar as it can be seen.
fn seen(closed: Time, price: f64, volume_surprise: f64, log_gas: f64, log_depth: f64) -> SeenBar {
    let half = 0.5 * volume_surprise;
    SeenBar {
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

/// Whether nothing leads to the next return but what was planted.
fn is_fair(config: &SimConfig) -> bool {
    config.edge_bps.is_some() || config.edge.is_some()
}

/// Draws relations. In a fair market nothing leads to the next return; volatility and gas fade as elsewhere.
fn draw(config: &SimConfig, ties: &mut Chance) -> Relations {
    let drawn = Relations::draw(ties);
    if is_fair(config) { Relations { momentum: 0.0, volume_lead: 0.0, gas_lead: 0.0, ..drawn } } else { drawn }
}

fn later(from: Time, mean_days: f64, chance: &mut Chance) -> Time {
    from + Span::millis((chance.wait() * mean_days * DAY_MS) as u64)
}

/// When the regime will change; with a tide never, so that only the flip changes anything.
fn turns(from: Time, config: &SimConfig, regime: Regime, weather: &mut Chance) -> Option<Time> {
    config.flip_days.is_none().then(|| later(from, regime.levels().days, weather))
}

fn change(from: Time, config: &SimConfig, ties: &mut Chance) -> Option<Time> {
    (config.relations_change_days > 0.0).then(|| later(from, config.relations_change_days, ties))
}

#[cfg(test)]
mod tests;
