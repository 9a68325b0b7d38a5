//! What a world is asked, and what it answers.

use arrayvec::ArrayVec;
use golem::time::{Span, Time};
use golem::world as core;
use golem::{Usdc, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Said first, to every program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// What is wanted: `world`, `orders` or `mind`.
    pub bardo: String,
    /// The newest version that is spoken.
    pub version: u32,
    /// Whom it is for.
    pub golem: String,
    /// The same for good: no other golem has it, whatever it is called and wherever it is run. Not there before a birth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A folder of its own, where it may keep what it has to remember.
    pub folder: String,
    /// Chance that is the same whenever this golem's life is repeated.
    pub seed: u64,
    /// What the golem was born into, for a mind and for whoever carries out its orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Manifest>,
}

/// A program's answer to that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// What it is: `world`, `orders` or `mind`.
    pub bardo: String,
    /// The version it speaks, at most the one it was told.
    pub version: u32,
    /// What it can beyond the first version, by name.
    #[serde(default)]
    pub can: Vec<String>,
    /// What a world declares of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Manifest>,
    /// When a golem born into it now begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// After when nothing more will ever be seen; nothing, if it goes on for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// What a mind is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a world declares of itself. It must be the same each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// What it is called.
    pub world: String,
    /// How long a bar lasts.
    pub bar_ms: u64,
    /// What claims are made about: up to eight.
    pub domains: Vec<Domain>,
    /// What conditions can be about, by name: up to 24, in lower case, with digits and underscores.
    #[serde(default)]
    pub features: Vec<String>,
    /// Heuristics a golem is born with, one a line of the language of rules.
    #[serde(default)]
    pub instincts: Vec<String>,
    /// What can be done: up to eight.
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
    /// What a unit of holding is called.
    #[serde(default = "unit")]
    pub unit: String,
    /// What watching it costs a day.
    #[serde(default)]
    pub data_per_day: i64,
    /// `told` if it has its own time, `wall` if it goes by everybody's clocks.
    #[serde(default)]
    pub timing: Timing,
    /// Whether nothing that happens in it is real.
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
    /// How much being right here weighs.
    pub weight: f64,
    #[serde(default)]
    pub kind: DomainKind,
    /// How many bars ahead a claim looks; 0 is one look of the golem.
    #[serde(default)]
    pub horizon: u32,
    /// For a range: the number of the feature that gives the half-width of the naive band, as a share of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u8>,
    /// For a direction: what it is held against, where that is not the last value.
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
    /// It takes up exposure, and is paid for.
    Adds,
    /// It gives exposure up, and is paid.
    Reduces,
}

/// One closed interval of a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bar {
    /// When it closed.
    pub closed: u64,
    /// One number for each domain, in their order.
    pub values: Vec<f64>,
    /// One number for each feature, in their order.
    #[serde(default)]
    pub features: Vec<f64>,
    /// What a unit of holding is worth.
    pub unit: i64,
}

/// An action with everything that bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// The number of the action in the manifest.
    pub action: u8,
    /// Millionths of a unit, above 0.
    pub units: i64,
    /// The most that may be paid, fee included, where the action adds.
    pub most: i64,
    /// The least that must come in, fee deducted, where it reduces; a part of it must bring that part.
    pub least: i64,
    /// The most that sending it may cost.
    pub gas: i64,
    /// After this it must not be done any more.
    pub until: u64,
}

/// What an order would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quote {
    /// What would come in; below 0, what would go out. The fee is not in it.
    pub cash: i64,
    #[serde(default)]
    pub fee: i64,
    /// What sending it would cost, beside the rest.
    #[serde(default)]
    pub gas: i64,
}

/// What an order did.
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

/// What became of an order: `"never"`, `"pending"`, or `{"done": …}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Done(Outcome),
    /// It was not done, and never will be.
    Never,
    /// It is on its way; it is asked about again.
    Pending,
}

/// What is said to a world after the first words. Each has a number, which the answer repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub id: u64,
    #[serde(flatten)]
    pub ask: Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Ask {
    /// Stand where a returning golem last looked, so that orders meet the bar it knows. It knows of no key above `key`, and
    /// holds `held`: on paper, whatever was done under later keys is to be forgotten. Answered with the number alone.
    Seek {
        until: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<i64>,
    },
    /// Every bar that closed after `since` and not after `now`, oldest first, at most `most`; the rest is asked for next.
    /// Answered with `bars`, and `end` if there is one.
    Observe { since: u64, now: u64, most: usize },
    /// What an order would do now; nothing changes by it. Answered with `quote`, null if the world would not have it.
    Preview { order: Order },
    /// Do it, once and within its bounds. The same key gives its own fate again, whatever is ordered under it. Answered with
    /// `fate`.
    Commit { key: u64, order: Order },
    /// What became of a key. One that was never sent is ruled out from then on. Answered with `fate`.
    Reconcile { key: u64 },
    /// The golem is dead and owes nothing any more: whatever is left of it goes home. Answered with the number alone when that
    /// is done, with `away` until then. Asked of `orders` only.
    Close,
    /// The end: finish, and exit. Not answered.
    Bye,
}

/// A world's answer: the number of the question, and what was asked for. Or `away`, if what the world stands for cannot be
/// reached now; or `error`, if something is wrong with it.
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
    /// Why the world would not have it, with a `quote` of null; the golem's owner is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fate: Option<Fate>,
    /// Why what the world stands for cannot be reached now; nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
    /// When it may be asked again, with `away`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<u64>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Null is an answer, and nothing is none.
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
    /// The same as the core has it; an error says what it can never be.
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

    /// What the core has, as it is said.
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
    /// The same as the core has it; an error says why it cannot be told.
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
