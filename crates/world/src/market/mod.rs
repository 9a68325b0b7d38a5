//! Markets, where the words of trading live. A simulated and a replayed market share their features, their actions and
//! the way an order is filled, so that a golem cannot tell which it is in.

pub mod candles;
mod features;
mod fill;
mod pace;
pub mod regime;
pub mod replay;
mod report;
pub mod series;
pub mod signs;
pub mod sim;
mod staged;

use golem::time::{Span, Time};
use golem::world::{ActionSpec, DomainKind, DomainSpec, Manifest, Timing};

/// The time at which a simulated market begins.
const START: Time = Time::seconds(1_704_067_200);

pub(crate) const DAY_MS: f64 = 86_400_000.0;
pub(crate) const YEAR_MS: f64 = 365.25 * DAY_MS;

/// How many bars ahead claims about a market look; its volatility is measured over as many, so that the value when a
/// claim comes due is exactly that of the time after it was made.
const HORIZON: u32 = 24;

/// Where volatility stands among the domains: it tells a calm market from a crisis before anything else does.
const VOLATILITY: u8 = 1;

/// The manifest of a market; the values of a bar stand in the order of its domains.
fn manifest(world: &str, bar: Span, unit: &str, gas: bool) -> Manifest {
    let domain = |name: &str, weight, kind, horizon| {
        let scale = (kind == DomainKind::Range).then_some(features::BAND);
        DomainSpec { name: name.to_owned(), weight, kind, horizon, scale, level: None }
    };
    let action = |(name, effect): (&str, _)| ActionSpec { name: name.to_owned(), effect };
    let market = [
        domain("direction", 0.35, DomainKind::Direction, HORIZON),
        domain("volatility", 0.25, DomainKind::Value, HORIZON),
        domain("range", 0.20, DomainKind::Range, HORIZON),
    ];
    let instincts = [features::INSTINCTS, if gas { features::GAS_INSTINCTS } else { "" }];
    let instincts = instincts.into_iter().flat_map(|text| features::instincts(text, bar)).collect();
    Manifest {
        world: world.to_owned(),
        // The caller that opened this world fills it in.
        spec: String::new(),
        bar,
        domains: market.into_iter().chain(gas.then(|| domain("gas", 0.10, DomainKind::Value, 1))).collect(),
        features: features::NAMES.map(str::to_owned).to_vec(),
        instincts,
        actions: fill::ACTIONS.into_iter().map(action).collect(),
        regime: Some(VOLATILITY),
        holding: HORIZON,
        lot: 1,
        unit: unit.to_owned(),
        data_per_day: golem::Usdc::ZERO,
        timing: Timing::Told,
        paper: true,
    }
}
