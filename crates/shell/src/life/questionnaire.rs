//! The questionnaire of a birth, as a person fills it in: six questions, each with an answer that will do. Behind it are
//! the same keys as in golem.toml, so what is made here could have been made by hand, and the form says how.

use std::sync::Arc;

use golem::{Name, Usdc};
use serde::{Deserialize, Serialize};
use settings::{File, Settings};
use utoipa::ToSchema;

use super::birth::{Wish, birth};
use super::living::Living;
use super::newborn;
use super::programs::Programs;
use crate::feeds::is_followed;
use crate::home::data;
use crate::legacy::bundle;
use crate::view::figures::{cents, plain};
use crate::{Error, Home, Runtime};

const DAY_MS: f64 = 86_400_000.0;

/// The answers of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Form {
    pub name: String,
    /// sim, edge, fair, queue, or the name of data that was imported or is followed.
    #[serde(default = "sim")]
    pub world: String,
    /// A model it may ask, such as ollama/qwen3; empty for none.
    #[serde(default)]
    pub model: String,
    /// Credit to live on, in micro-USDC.
    #[serde(default = "credit")]
    #[schema(value_type = i64, minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub credit: Usdc,
    /// Capital to act with, in micro-USDC.
    #[serde(default = "capital")]
    #[schema(value_type = i64, minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub capital: Usdc,
    /// Whether it pays for its machine out of its credit, and so ends when that is gone.
    #[serde(default)]
    pub pays: bool,
    #[serde(default)]
    pub care: Care,
    /// A dead golem whose knowledge it is left; empty for none.
    #[serde(default)]
    pub from: String,
}

/// How careful it is with its capital.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Care {
    /// Asks before each action, commits little, stops early.
    Careful,
    #[default]
    Usual,
    /// Commits more at once, and may fall further.
    Bold,
}

fn sim() -> String {
    "sim".to_owned()
}

fn credit() -> Usdc {
    Settings::defaults(File::Golem).money("funds.credit")
}

fn capital() -> Usdc {
    Settings::defaults(File::Golem).money("funds.capital")
}

/// One possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Choice {
    pub value: String,
    pub says: String,
}

/// The form with every field filled in, and the other possible answers.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Choices {
    pub form: Form,
    pub worlds: Vec<Choice>,
    pub care: Vec<Choice>,
    /// The dead who have left something.
    pub left: Vec<Choice>,
    /// Money in the treasury, in micro-USDC.
    #[schema(value_type = i64)]
    pub treasury: Usdc,
}

/// The cost of a golem like this, and how long its money lasts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Quote {
    /// Cost of a day if it only looks, in micro-USDC.
    #[schema(value_type = i64)]
    pub per_day: Usdc,
    /// The most a day may cost, in micro-USDC; actions are paid one by one.
    #[schema(value_type = i64)]
    pub at_most: Usdc,
    /// Days that its money lasts if it only looks; none where looking costs nothing.
    pub days: Option<f64>,
    /// The quote in words.
    pub says: Vec<String>,
    /// The command that makes the same golem.
    pub command: String,
}

impl Care {
    pub const ALL: [Care; 3] = [Care::Careful, Care::Usual, Care::Bold];

    pub fn name(self) -> &'static str {
        match self {
            Care::Careful => "careful",
            Care::Usual => "usual",
            Care::Bold => "bold",
        }
    }

    fn says(self) -> &'static str {
        match self {
            Care::Careful => "asks you before each action, commits at most 10 % at once, ends after a fall of 5 %",
            Care::Usual => "commits at most 25 % at once, ends after a fall of 13 %",
            Care::Bold => "commits at most 50 % at once, ends after a fall of 30 %",
        }
    }

    fn keys(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Care::Careful => &[
                ("policy.per_action", "0.1"),
                ("policy.max_drawdown", "0.05"),
                ("policy.stop", "0.05"),
                ("policy.approve_above", "0"),
            ],
            Care::Usual => &[],
            Care::Bold => &[("policy.per_action", "0.5"), ("policy.max_drawdown", "0.3"), ("policy.stop", "0.2")],
        }
    }
}

impl Choices {
    pub fn of(home: &Home) -> Result<Choices, Error> {
        let name = free_name(home);
        let form = Form {
            name,
            world: sim(),
            model: String::new(),
            credit: credit(),
            capital: capital(),
            pays: false,
            care: Care::Usual,
            from: String::new(),
        };
        let choice = |value: &str, says: String| Choice { value: value.to_owned(), says };
        let mut worlds = vec![
            choice("sim", "a simulated market, where a life can be over in seconds".to_owned()),
            choice("edge", "a market made so that knowing pays, about something else each month".to_owned()),
            choice("fair", "the same market with nothing to know in it".to_owned()),
            choice("queue", "a queue of work, with no market at all".to_owned()),
        ];
        for name in data::list(home)? {
            let says = if is_followed(home, &name) { "the market as it comes in" } else { "your candles, replayed" };
            worlds.push(choice(&name, says.to_owned()));
        }
        let care = Care::ALL.map(|care| choice(care.name(), care.says().to_owned())).to_vec();
        let dead = home.list()?.into_iter().filter(|place| place.legacy().exists());
        let left = dead.map(|place| choice(place.name.as_str(), format!("what {} left", place.name))).collect();
        Ok(Choices { form, worlds, care, left, treasury: home.treasury()?.balance()? })
    }
}

/// A name that is not taken.
fn free_name(home: &Home) -> String {
    const NAMES: [&str; 12] =
        ["ada", "ben", "cleo", "dora", "emil", "frida", "gus", "hedda", "ines", "jonas", "kim", "lou"];
    // Where names cannot be looked up, the birth says why.
    let free = |name: &String| name.parse::<Name>().is_ok_and(|name| home.is_free(&name).unwrap_or(true));
    let numbered = (2..).flat_map(|nth| NAMES.map(|name| format!("{name}{nth}")));
    NAMES.map(str::to_owned).into_iter().chain(numbered).find(free).unwrap_or_default()
}

impl Form {
    pub fn name(&self) -> Result<Name, Error> {
        self.name.parse().map_err(|why| Error::Usage(format!("{:?} is not a name: {why}", self.name)))
    }

    /// The keys that differ from the defaults.
    fn keys(&self, home: &Home) -> Result<Vec<(String, String)>, Error> {
        let mut keys: Vec<(&str, String)> = Vec::new();
        match self.world.as_str() {
            "sim" => {}
            kind @ ("edge" | "fair" | "queue") => keys.push(("world.kind", kind.to_owned())),
            name if data::list(home)?.iter().any(|one| one == name) => {
                keys.push(("world.kind", if is_followed(home, name) { "live" } else { "replay" }.to_owned()));
                keys.push(("world.data", name.to_owned()));
            }
            other => {
                let why = format!(
                    "there is no world {other:?}; there are sim, edge, fair, queue and what `bardo data list` names"
                );
                return Err(Error::Usage(why));
            }
        }
        if !self.model.is_empty() {
            keys.push(("mind.cheap", self.model.clone()));
        }
        if self.credit != credit() {
            keys.push(("funds.credit", plain(self.credit)));
        }
        if self.capital != capital() {
            keys.push(("funds.capital", plain(self.capital)));
        }
        if self.pays {
            keys.push(("mortality.mode", "hosted".to_owned()));
        }
        keys.extend(self.care.keys().iter().map(|(key, value)| (*key, (*value).to_owned())));
        Ok(keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    fn settings(&self, home: &Home) -> Result<Settings, Error> {
        let flags = self.keys(home)?.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        newborn::settings(home, None, flags)
    }

    /// The command that makes the same golem.
    fn command(&self, home: &Home) -> Result<String, Error> {
        let mut command = format!("bardo golem new {}", self.name()?);
        for (key, value) in self.keys(home)? {
            let flag = match key.as_str() {
                "world.kind" if matches!(value.as_str(), "edge" | "fair" | "queue") => "--world",
                // Follows from the data.
                "world.kind" => continue,
                "world.data" => "--data",
                "mind.cheap" => "--mind",
                "funds.credit" => "--credit",
                "funds.capital" => "--capital",
                _ => {
                    command += &format!(" --set {}", quoted(&format!("{key}={value}")));
                    continue;
                }
            };
            command += &format!(" {flag} {}", quoted(&value));
        }
        if let Some(file) = self.left(home)? {
            command += &format!(" --from {}", quoted(&file.display().to_string()));
        }
        Ok(command)
    }

    /// The file of the bundle it is left.
    fn left(&self, home: &Home) -> Result<Option<std::path::PathBuf>, Error> {
        if self.from.is_empty() {
            return Ok(None);
        }
        let file = home.read_golem(&self.from)?.legacy();
        if file.exists() {
            Ok(Some(file))
        } else {
            Err(Error::Usage(format!("{} has left nothing, or not yet", self.from)))
        }
    }

    /// The quote: cost, how long the money lasts, and the command that makes the same golem.
    pub fn quote(&self, home: &Home) -> Result<Quote, Error> {
        let settings = self.settings(home)?;
        let constitution = settings.constitution()?;
        let machine = if self.pays { settings.money("mortality.economic.machine_per_day") } else { Usdc::ZERO };
        let thinking = if self.model.is_empty() { Usdc::ZERO } else { settings.money("thought.daily_max") };
        let reserve = settings.money("mortality.economic.death_reserve_floor_usdc");
        let left = (self.credit - reserve).max(Usdc::ZERO);
        let lasts = |a_day: Usdc| a_day.is_positive().then(|| left.as_f64() / a_day.as_f64());
        let days = lasts(machine);
        let mut says = vec![match days {
            Some(days) => {
                format!("its machine costs it {} a day, so its money lasts about {days:.0} days", cents(machine))
            }
            None => "it runs on your machine, so looking costs it nothing".to_owned(),
        }];
        if let Some(days) = lasts(machine + thinking).filter(|_| thinking.is_positive()) {
            says.push(format!(
                "thinking costs at most {} a day more; if it always did, its money would last {days:.0} days",
                cents(thinking)
            ));
        }
        let action = settings.money("mortality.economic.per_action");
        says.push(format!("each action costs it {action}"));
        let lifespan = constitution.vitality.lifespan.as_millis() as f64 / DAY_MS;
        says.push(format!("even with money it may lose touch with its world or die by chance; the risk grows with age: about {lifespan:.0} days is old"));
        Ok(Quote { per_day: machine, at_most: machine + thinking, days, says, command: self.command(home)? })
    }

    /// Makes the golem.
    pub fn bear(&self, runtime: &Arc<Runtime>) -> Result<Living, Error> {
        let home = runtime.home();
        let settings = self.settings(home)?;
        let bundle = match self.left(home)? {
            Some(file) => {
                bundle::open(home, &file)?;
                Some(std::fs::read_to_string(&file).map_err(Error::io("cannot read", &file))?)
            }
            None => None,
        };
        let spec = newborn::spec(home, &settings, None)?;
        let (descent, checks, programs) = (None, None, Programs::default());
        birth(runtime, Wish { name: self.name()?, spec, seed: None, settings, descent, bundle, checks, programs })
    }
}

/// Text quoted for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
