//! Questions to a world, and its answers.

use arrayvec::ArrayVec;
use golem::time::{Span, Time};
use golem::world as core;
use golem::{Usdc, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first message, to every program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The kind of program that is expected: `world`, `orders` or `mind`.
    pub bardo: String,
    /// The newest version of the protocol that Bardo speaks.
    pub version: u32,
    /// The name of the golem the program is for.
    pub golem: String,
    /// The golem's identity, which never changes: no other golem has it, under any name and on any machine. Absent
    /// before a birth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A folder of the program's own, for anything it has to remember.
    pub folder: String,
    /// A seed that is the same each time this golem's life is repeated.
    pub seed: u64,
    /// The world the golem was born into, for a mind and for a program that carries out its orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Manifest>,
}

/// A program's answer to `Hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// The kind of program: `world`, `orders` or `mind`.
    pub bardo: String,
    /// The version the program speaks, at most the one it was told.
    pub version: u32,
    /// Abilities beyond the first version, by name.
    #[serde(default)]
    pub can: Vec<String>,
    /// A world's declaration of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Manifest>,
    /// When a golem born now begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// The time after which nothing more will ever be seen; absent if the world goes on for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// The name of a mind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A world's declaration of itself. It must be the same each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// The name of the world.
    pub world: String,
    /// How long a bar lasts.
    pub bar_ms: u64,
    /// Things claims are made about: up to eight.
    pub domains: Vec<Domain>,
    /// Names of the figures that conditions can use: up to 24, in lower case, with digits and underscores.
    #[serde(default)]
    pub features: Vec<String>,
    /// Heuristics a golem is born with, one a line of the language of rules.
    #[serde(default)]
    pub instincts: Vec<String>,
    /// Actions of the world: up to eight.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// The number of the domain whose level tells calm times from unsettled ones.
    #[serde(default)]
    pub regime: Option<u8>,
    /// For how many bars exposure is usually held; 0 is as long as the furthest claim looks.
    #[serde(default)]
    pub holding: u32,
    /// Millionths of a unit that can only be had or given up together.
    #[serde(default = "one")]
    pub lot: i64,
    /// The name of a unit of holding.
    #[serde(default = "unit")]
    pub unit: String,
    /// The price of watching the world for a day.
    #[serde(default)]
    pub data_per_day: i64,
    /// `told` if the world has its own time, `wall` if it follows the clocks of this machine.
    #[serde(default)]
    pub timing: Timing,
    /// Whether the world is paper: nothing in it is real.
    #[serde(default = "yes")]
    pub paper: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    #[default]
    Told,
    Wall,
}

/// Something claims can be made about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Domain {
    pub name: String,
    /// The weight of being right here.
    pub weight: f64,
    #[serde(default)]
    pub kind: DomainKind,
    /// How many bars ahead a claim looks; 0 is one look of the golem.
    #[serde(default)]
    pub horizon: u32,
    /// For a range: the number of the feature that gives the half-width of the naive band, as a share of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u8>,
    /// For a direction: the level it is compared with, where that is not the last value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DomainKind {
    /// The value itself.
    #[default]
    Value,
    /// The chance that it rises.
    Direction,
    /// A band around the last value.
    Range,
}

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    pub name: String,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Takes up exposure, which costs money.
    Adds,
    /// Gives up exposure, which brings money.
    Reduces,
}

/// One closed interval of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bar {
    /// When the bar closed.
    pub closed: u64,
    /// One number for each domain, in their order.
    pub values: Vec<f64>,
    /// One number for each feature, in their order.
    #[serde(default)]
    pub features: Vec<f64>,
    /// The worth of a unit of holding.
    pub unit: i64,
}

/// An action with all its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// The number of the action in the manifest.
    pub action: u8,
    /// Millionths of a unit, above 0.
    pub units: i64,
    /// The most that may be paid, fee included, where the action adds.
    pub most: i64,
    /// The least that must come in, fee deducted, where the action reduces; a part of the units must bring that part.
    pub least: i64,
    /// The most that sending the order may cost.
    pub gas: i64,
    /// The time after which the order must not be carried out.
    pub until: u64,
}

/// The expected result of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// Money that would come in; below 0, that would go out. The fee is not in it.
    pub cash: i64,
    #[serde(default)]
    pub fee: i64,
    /// The extra cost of sending the order.
    #[serde(default)]
    pub gas: i64,
}

/// The result of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Units gained; below 0, given up.
    pub units: i64,
    pub cash: i64,
    #[serde(default)]
    pub fee: i64,
    #[serde(default)]
    pub gas: i64,
}

/// The fate of an order: `"never"`, `"pending"`, or `{"done": …}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Done(Outcome),
    /// The order was not done, and never will be.
    Never,
    /// The order is on its way; it will be asked about again.
    Pending,
}

/// A question to a world, after the first messages. Each has a number, which the answer repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub id: u64,
    #[serde(flatten)]
    pub ask: Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Ask {
    /// Go to where a returning golem last looked, so that orders meet the bar it knows. The golem knows of no key above
    /// `key`, and holds `held`: on paper, orders under later keys are to be forgotten. Answered with the number alone.
    Seek {
        until: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<i64>,
    },
    /// Every bar that closed after `since` and not after `now`, oldest first, at most `most`; the rest is asked for
    /// next. Answered with `bars`, and `end` if there is one.
    Observe { since: u64, now: u64, most: usize },
    /// Quote an order now, without changing anything. Answered with `quote`, null if the world would refuse the order.
    Preview { order: Order },
    /// Carry out an order, once and within its bounds. The same key gives its own fate again, whatever is ordered under
    /// it. Answered with `fate`.
    Commit { key: u64, order: Order },
    /// Tell the fate of a key. A key that was never sent is ruled out from then on. Answered with `fate`.
    Reconcile { key: u64 },
    /// The golem is dead and owes nothing any more: everything it has left goes home. Answered with the number alone
    /// when that is done, with `away` until then. Asked of `orders` only.
    Close,
    /// The end: finish, and exit. Not answered.
    Bye,
}

/// A world's answer: the number of the question, and the data asked for. Or `away`, if the thing the world stands for
/// cannot be reached now; or `error`, if the world has a fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    pub id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bars: Option<Vec<Bar>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    #[serde(default, deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Quote>")]
    pub quote: Option<Option<Quote>>,
    /// Why the world would refuse the order, with a `quote` of null; the golem's owner is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<Fate>,
    /// Why the thing the world stands for cannot be reached now; nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// How long to wait before asking again, with `away`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<u64>,
    /// The fault of the world, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Tells a null, which is an answer, from an absent field, which is not.
fn said<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

fn one() -> i64 {
    1
}

fn unit() -> String {
    "unit".to_owned()
}

fn yes() -> bool {
    true
}

impl Manifest {
    /// The manifest in the core's types; an error says which part is impossible.
    pub fn read(&self) -> Result<core::Manifest, String> {
        let domain = |domain: &Domain| core::DomainSpec {
            name: domain.name.clone(),
            weight: domain.weight,
            kind: match domain.kind {
                DomainKind::Value => core::DomainKind::Value,
                DomainKind::Direction => core::DomainKind::Direction,
                DomainKind::Range => core::DomainKind::Range,
            },
            horizon: domain.horizon,
            scale: domain.scale,
            level: domain.level,
        };
        let action = |action: &Action| core::ActionSpec {
            name: action.name.clone(),
            effect: match action.effect {
                Effect::Adds => core::Effect::Adds,
                Effect::Reduces => core::Effect::Reduces,
            },
        };
        if self.domains.len() > limits::DOMAINS || self.actions.len() > limits::ACTIONS {
            return Err(format!("{} domains and {} actions at most", limits::DOMAINS, limits::ACTIONS));
        }
        let manifest = core::Manifest {
            world: self.world.clone(),
            spec: String::new(),
            bar: Span::millis(self.bar_ms),
            domains: self.domains.iter().map(domain).collect(),
            features: self.features.clone(),
            instincts: self.instincts.clone(),
            actions: self.actions.iter().map(action).collect(),
            regime: self.regime,
            holding: self.holding,
            lot: self.lot,
            unit: self.unit.clone(),
            data_per_day: Usdc::micros(self.data_per_day),
            timing: if self.timing == Timing::Wall { core::Timing::Wall } else { core::Timing::Told },
            paper: self.paper,
        };
        manifest.check().map_err(|why| why.to_string())?;
        Ok(manifest)
    }

    /// The core's manifest as a message.
    pub fn of(manifest: &core::Manifest) -> Manifest {
        let domain = |domain: &core::DomainSpec| Domain {
            name: domain.name.clone(),
            weight: domain.weight,
            kind: match domain.kind {
                core::DomainKind::Value => DomainKind::Value,
                core::DomainKind::Direction => DomainKind::Direction,
                core::DomainKind::Range => DomainKind::Range,
            },
            horizon: domain.horizon,
            scale: domain.scale,
            level: domain.level,
        };
        let action = |action: &core::ActionSpec| Action {
            name: action.name.clone(),
            effect: match action.effect {
                core::Effect::Adds => Effect::Adds,
                core::Effect::Reduces => Effect::Reduces,
            },
        };
        Manifest {
            world: manifest.world.clone(),
            bar_ms: manifest.bar.as_millis(),
            domains: manifest.domains.iter().map(domain).collect(),
            features: manifest.features.clone(),
            instincts: manifest.instincts.clone(),
            actions: manifest.actions.iter().map(action).collect(),
            regime: manifest.regime,
            holding: manifest.holding,
            lot: manifest.lot,
            unit: manifest.unit.clone(),
            data_per_day: manifest.data_per_day.as_micros(),
            timing: if manifest.timing == core::Timing::Wall { Timing::Wall } else { Timing::Told },
            paper: manifest.paper,
        }
    }
}

impl Bar {
    /// The bar in the core's types; an error says why it does not fit the manifest.
    pub fn read(&self, manifest: &core::Manifest) -> Result<core::Bar, String> {
        let (domains, features) = (manifest.domains.len(), manifest.features.len());
        if self.values.len() != domains || self.features.len() != features {
            let (values, shown) = (self.values.len(), self.features.len());
            return Err(format!(
                "a bar has {values} values for {domains} domains and {shown} features of {features} that were declared"
            ));
        }
        if !self.values.iter().chain(&self.features).all(|number| number.is_finite()) {
            return Err("a number is not finite".to_owned());
        }
        if !(0..=Usdc::MOST.as_micros()).contains(&self.unit) {
            return Err(format!("a unit cannot be worth {} micro-dollars", self.unit));
        }
        Ok(core::Bar {
            closed: Time::millis(self.closed),
            values: ArrayVec::from_iter(self.values.iter().copied()),
            features: ArrayVec::from_iter(self.features.iter().copied()),
            unit: Usdc::micros(self.unit),
        })
    }

    pub fn of(bar: &core::Bar) -> Bar {
        Bar {
            closed: bar.closed.as_millis(),
            values: bar.values.to_vec(),
            features: bar.features.to_vec(),
            unit: bar.unit.as_micros(),
        }
    }
}

impl Order {
    pub fn of(order: &core::Order) -> Order {
        Order {
            action: order.action,
            units: order.units,
            most: order.most.as_micros(),
            least: order.least.as_micros(),
            gas: order.gas.as_micros(),
            until: order.until.as_millis(),
        }
    }

    pub fn read(&self) -> core::Order {
        core::Order {
            action: self.action,
            units: self.units,
            most: Usdc::micros(self.most),
            least: Usdc::micros(self.least),
            gas: Usdc::micros(self.gas),
            until: Time::millis(self.until),
        }
    }
}

impl Quote {
    pub fn read(&self) -> core::Quote {
        core::Quote { cash: Usdc::micros(self.cash), fee: Usdc::micros(self.fee), gas: Usdc::micros(self.gas) }
    }

    pub fn of(quote: &core::Quote) -> Quote {
        Quote { cash: quote.cash.as_micros(), fee: quote.fee.as_micros(), gas: quote.gas.as_micros() }
    }
}

impl Fate {
    pub fn read(&self) -> core::Fate {
        match self {
            Fate::Never => core::Fate::Never,
            Fate::Pending => core::Fate::Pending,
            Fate::Done(Outcome { units, cash, fee, gas }) => {
                let [cash, fee, gas] = [cash, fee, gas].map(|sum| Usdc::micros(*sum));
                core::Fate::Done(core::Outcome { units: *units, cash, fee, gas })
            }
        }
    }

    pub fn of(fate: &core::Fate) -> Fate {
        match fate {
            core::Fate::Never => Fate::Never,
            core::Fate::Pending => Fate::Pending,
            core::Fate::Done(core::Outcome { units, cash, fee, gas }) => {
                let [cash, fee, gas] = [cash, fee, gas].map(|sum| sum.as_micros());
                Fate::Done(Outcome { units: *units, cash, fee, gas })
            }
        }
    }
}
