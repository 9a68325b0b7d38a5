//! Worlds as the core knows them: features to see, claims to make about them, actions to propose, and what they cost.
//! No word of any particular world stands here.

use std::fmt;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::limits;
use crate::money::Usdc;
use crate::plain::is_plain;
use crate::time::{Span, Time};

/// One number per declared domain.
pub type Values = ArrayVec<f64, { limits::DOMAINS }>;

/// One number per declared feature.
pub type Features = ArrayVec<f64, { limits::FEATURES }>;

/// The manifest of a world, recorded at birth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub world: String,
    /// How to open this world again; the core only carries it.
    pub spec: String,
    /// How long one bar of observation lasts.
    pub bar: Span,
    pub domains: ArrayVec<DomainSpec, { limits::DOMAINS }>,
    /// Features that conditions can be about, by name.
    #[serde(default)]
    pub features: Vec<String>,
    /// Heuristics a golem in this world is born with, as text.
    #[serde(default)]
    pub instincts: Vec<String>,
    pub actions: ArrayVec<ActionSpec, { limits::ACTIONS }>,
    /// The domain whose level tells one regime from another, if any does.
    #[serde(default)]
    pub regime: Option<u8>,
    /// How many bars exposure is usually held; 0 is as long as the furthest claim looks.
    #[serde(default)]
    pub holding: u32,
    /// Millionths of a unit that can only be had or given up together.
    #[serde(default = "one")]
    pub lot: i64,
    /// The name of a unit of holding, for screens.
    pub unit: String,
    /// The cost of watching this world, per day.
    pub data_per_day: Usdc,
    /// How time passes in this world.
    #[serde(default)]
    pub timing: Timing,
    /// True where nothing that happens is real, so that it may be rewound. Elsewhere the world alone knows what was
    /// done.
    #[serde(default = "yes")]
    pub paper: bool,
}

/// How time passes in a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// The world's own time: the next look is when it is due, however late it is here.
    #[default]
    Told,
    /// Real time: a look shows the present, and a tick comes whether the world has answered or not.
    Wall,
}

/// Why a world cannot be lived in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsound(String);

impl Unsound {
    pub(crate) fn new(why: String) -> Unsound {
        Unsound(why)
    }
}

fn one() -> i64 {
    1
}

fn yes() -> bool {
    true
}

/// Something claims can be made about, and how much being right there weighs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DomainSpec {
    pub name: String,
    pub weight: f64,
    #[serde(default)]
    pub kind: DomainKind,
    /// How many bars ahead a claim here looks; 0 is one look of the golem.
    #[serde(default)]
    pub horizon: u32,
    /// The number of the feature that the naive forecast takes for the half-width of a range, as a share of the value.
    /// Only ranges need one.
    #[serde(default)]
    pub scale: Option<u8>,
    /// The level that a direction is compared with, where that is not the last value: to rise is to be above it,
    /// whatever the value was before. A fact that either holds or does not is a direction with a level between its two
    /// values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
}

/// The kind of claims in a domain, and so how being wrong is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainKind {
    /// A value; absolute error against the last value.
    #[default]
    Value,
    /// The probability of a rise; Brier score against the usual share of rises, or where there is a level, against how it
    /// usually goes on from where it is.
    Direction,
    /// A band around the last value; interval score against the band of the usual size.
    Range,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActionSpec {
    pub name: String,
    pub effect: Effect,
}

/// The effect of an action on exposure, which alone decides when a golem may still take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Adds,
    Reduces,
}

/// One closed interval of the world: knowable at `closed`, not before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub closed: Time,
    /// The value of each declared domain, in the manifest's order.
    pub values: Values,
    /// The value of each declared feature, in the manifest's order.
    pub features: Features,
    /// The worth of one unit of holding.
    pub unit: Usdc,
}

/// Every bar closed since the last observation, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    pub bars: Vec<Bar>,
}

/// An action on its way to the world, with everything that bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Index into the manifest's actions.
    pub action: u8,
    /// Millionths of a unit, positive.
    pub units: i64,
    /// The most that may be paid, fee included, where the action pays.
    pub most: Usdc,
    /// The least that must come in, fee deducted, where it is paid.
    pub least: Usdc,
    /// The most that sending it may cost.
    pub gas: Usdc,
    /// After this it must not be done any more.
    pub until: Time,
}

impl Order {
    /// An order without bounds, to ask what it would do.
    pub fn open(action: u8, units: i64) -> Order {
        Order { action, units, most: Usdc::MOST, least: Usdc::ZERO, gas: Usdc::MOST, until: Time::millis(u64::MAX) }
    }

    /// Whether an outcome is within what was ordered.
    pub fn allows(&self, effect: Effect, outcome: &Outcome) -> bool {
        let bounded = |amount: Usdc| amount <= Usdc::MOST && amount >= -Usdc::MOST;
        let Outcome { units, cash, fee, gas } = *outcome;
        if !(bounded(cash) && bounded(fee) && fee >= Usdc::ZERO && gas >= Usdc::ZERO && gas <= self.gas) {
            return false;
        }
        match effect {
            Effect::Adds => (0..=self.units).contains(&units) && cash <= Usdc::ZERO && fee - cash <= self.most,
            // A part of it must bring that part of the least; nothing done brings nothing.
            Effect::Reduces => {
                (-self.units..=0).contains(&units)
                    && cash >= Usdc::ZERO
                    && (units == 0 || cash - fee >= self.least.share(-units, self.units))
            }
        }
    }
}

/// A preview of an action, as far as the world can tell beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// Cash that would come in (negative: go out), fee not included.
    pub cash: Usdc,
    pub fee: Usdc,
    /// The cost of sending it, beside the rest; it is paid from credit.
    pub gas: Usdc,
}

/// The outcome of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Units gained (negative: given up); none where it was sent in vain.
    pub units: i64,
    pub cash: Usdc,
    pub fee: Usdc,
    pub gas: Usdc,
}

/// The fate of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Done(Outcome),
    /// Not done, and never will be.
    Never,
    /// On its way, with its outcome not known yet.
    Pending,
}

impl Fate {
    pub fn outcome(self) -> Option<Outcome> {
        if let Fate::Done(outcome) = self { Some(outcome) } else { None }
    }
}

impl DomainSpec {
    /// The value that a claim made now is measured from.
    pub fn base(&self, value: f64) -> f64 {
        self.level.unwrap_or(value)
    }
}

impl Manifest {
    /// The first declared action with this effect.
    pub fn action(&self, effect: Effect) -> Option<u8> {
        self.actions.iter().position(|a| a.effect == effect).map(|at| at as u8)
    }

    /// Whether a life can be lived in it: everything it says is within its bounds, by name and by number.
    pub fn check(&self) -> Result<(), Unsound> {
        self.check_names()?;
        let unsound = |what: String| Err(Unsound(what));
        if self.bar == Span::ZERO || self.bar > Span::DAY {
            return unsound("a bar lasts a millisecond at least and a day at most".into());
        }
        // Where nothing is claimed, nothing can be shown that would be worth acting on.
        if self.domains.is_empty() && !(self.actions.is_empty() && self.instincts.is_empty()) {
            return unsound("a world to act in needs at least one domain to make claims in".into());
        }
        for DomainSpec { name, weight, kind, horizon, scale, level } in &self.domains {
            if level.is_some_and(|level| !level.is_finite() || *kind != DomainKind::Direction) {
                return unsound(format!("only directions have a level, and it must be a number ({name})"));
            }
            if !(weight.is_finite() && *weight > 0.0 && *weight <= limits::WEIGHT) {
                return unsound(format!("the weight of {name} must be above 0 and at most {}", limits::WEIGHT));
            }
            if *horizon > limits::HORIZON {
                return unsound(format!("a claim about {name} looks {} bars ahead at most", limits::HORIZON));
            }
            let shown = |feature: &u8| usize::from(*feature) < self.features.len();
            if scale.as_ref().is_some_and(|feature| !shown(feature)) || (*kind == DomainKind::Range && scale.is_none())
            {
                return unsound(format!("the range {name} needs a feature that says how wide it is"));
            }
        }
        if self.regime.is_some_and(|domain| usize::from(domain) >= self.domains.len()) {
            return unsound("regime must be the number of a declared domain".into());
        }
        if self.holding > limits::HORIZON || self.lot < 1 || self.lot > limits::LOT {
            let (horizon, lot) = (limits::HORIZON, limits::LOT);
            return unsound(format!("exposure is held {horizon} bars at most, and a lot is 1 to {lot} millionths"));
        }
        if self.data_per_day < Usdc::ZERO || self.data_per_day > Usdc::MOST {
            return unsound(format!("data_per_day cannot be {} a day", self.data_per_day));
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), Unsound> {
        let text = |what: &str, text: &str, most: usize| {
            let sound = text.chars().count() <= most && text.chars().all(is_plain);
            if sound { Ok(()) } else { Err(Unsound(format!("{what} has {most} plain characters at most"))) }
        };
        let once = |what: &str, names: &[&str]| {
            for (at, name) in names.iter().enumerate() {
                text(&format!("the name of a {what}"), name, limits::LABEL)?;
                if name.is_empty() {
                    return Err(Unsound(format!("a {what} needs a name")));
                }
                if names[..at].contains(name) {
                    return Err(Unsound(format!("two {what}s are named {name}")));
                }
            }
            Ok(())
        };
        text("the description of a world", &self.spec, limits::SPEC)?;
        once("world", &[&self.world])?;
        once("unit of holding", &[&self.unit])?;
        once("domain", &self.domains.iter().map(|domain| domain.name.as_str()).collect::<Vec<_>>())?;
        once("action", &self.actions.iter().map(|action| action.name.as_str()).collect::<Vec<_>>())?;
        if self.features.len() > limits::FEATURES {
            return Err(Unsound(format!("{} features are more than a bar can carry", self.features.len())));
        }
        once("feature", &self.features.iter().map(String::as_str).collect::<Vec<_>>())?;
        for name in &self.features {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !(name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain)) {
                return Err(Unsound(format!("a feature is named in lower case with underscores, not '{name}'")));
            }
        }
        if self.instincts.len() > limits::HEURISTICS {
            return Err(Unsound("there are more instincts than a golem can hold".into()));
        }
        self.instincts.iter().try_for_each(|instinct| text("an instinct", instinct, limits::INSTINCT))
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Adds => "adds exposure",
            Effect::Reduces => "reduces exposure",
        })
    }
}
