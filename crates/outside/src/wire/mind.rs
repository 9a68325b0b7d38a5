//! The messages to a mind before each tick of its golem, and its answers.

use std::collections::BTreeMap;

use golem::Life;
use golem::mortality::economic;
use golem::outside as core;
use golem::policy::Proposal;
use golem::stress::{self, assessment};
use golem::world::{Manifest, Observation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::world::Bar;

/// A message to a mind, after the first ones. Each has a number, which the answer repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    pub id: u64,
    #[serde(flatten)]
    pub ask: ShownAsk,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum ShownAsk {
    /// The view its golem is about to get. Answered with a word, in which every part may be left out.
    Look(Box<Look>),
    /// The end: finish, and exit. Not answered.
    Bye,
}

/// The view a golem is about to get, and its state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    pub now: u64,
    /// Every bar that closed since the last look, oldest first.
    pub bars: Vec<Bar>,
    /// Claims of its golem's that these bars answer.
    pub resolved: Vec<Resolved>,
    /// The state of the golem before it sees these bars.
    pub golem: Stands,
    /// The golem's memories that fit the moment, surest first; left out while they have not changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<Vec<String>>,
}

/// A claim that met its bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resolved {
    pub domain: String,
    /// The value the golem claimed, all voices together.
    pub said: f64,
    /// The baseline: the forecast from nothing but the last value and what is usual.
    pub naive: f64,
    /// The value that came; for a direction and for a range, the value that decides the claim.
    pub actual: f64,
}

/// The state of a golem.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stands {
    pub tick: u64,
    pub age_ms: u64,
    /// `thriving`, `stable`, `conservation`, `declining` or `terminal`.
    pub phase: String,
    /// From 0 to 1, and how much of it is touch with the world.
    pub vitality: f64,
    pub epistemic: f64,
    /// Credit, the money it lives on.
    pub credit: i64,
    /// How long the credit lasts; left out where nothing runs down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ms: Option<u64>,
    /// Capital in cash, the money it acts with; `worth` includes the holding.
    pub cash: i64,
    pub worth: i64,
    /// The holding, in millionths of a unit.
    pub held: i64,
    /// No exposure may be added while it is frozen.
    pub frozen: bool,
    /// The load of stress from 0 to 1; `pressed_by` lists its sources, heaviest first.
    pub pressure: f64,
    pub pressed_by: Vec<Pressure>,
    /// Why the golem's last proposal was refused, and in which tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// The record of this mind's claims, by domain, from the first on.
    pub record: Vec<Standing>,
    /// The owner's guidance.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub strategy: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    pub name: String,
    pub severity: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    pub tick: u64,
    pub why: String,
}

/// The record of a mind's claims about a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    pub domain: String,
    /// Claims of the mind that were resolved.
    pub claims: u64,
    /// The share of the baseline's error that following this mind alone would have saved.
    pub skill: f64,
    /// The weight of this mind among all voices when the newest claim was made.
    pub say: f64,
}

/// A mind's answer: for the tick it was asked before or, if it takes longer, for the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    pub id: u64,
    /// Forecasts by name of domain, for its horizon: the value itself, the chance of a rise from 0 to 1, or half the
    /// width of the band around the last value.
    #[serde(default)]
    pub claims: BTreeMap<String, f64>,
    /// Up to three heuristics, in the language of rules; each is tried in the shadow first.
    #[serde(default)]
    pub rules: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
    /// A note to the golem's owner, sent once, of up to 280 letters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The fault of the mind, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An action a mind proposes to its golem. It must pass the owner's policy like any other proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    /// The name of the action.
    pub action: String,
    /// Above 0 and up to 1: a share of the golem's worth where the action adds, of its holding where it reduces.
    pub size: f64,
}

/// A mind's assessment of its golem's own state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Up to two stressors that are not listed.
    #[serde(default)]
    pub new: Vec<Named>,
    /// Listed stressors that have passed; the golem checks them again.
    #[serde(default)]
    pub passed: Vec<Passed>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// The condition under which the stressor weighs, as in rules: `hour < 6 and ret_24 < -2%`. Without one that holds
    /// it has no weight.
    #[serde(default)]
    pub condition: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passed {
    pub name: String,
    #[serde(default)]
    pub reason: String,
}

impl Look {
    /// The view this golem is about to get, after bars that the mind was not told of before.
    pub fn of(life: &Life, untold: &[golem::world::Bar], seen: &Observation, recalled: Option<Vec<String>>) -> Look {
        Look {
            now: seen.bars.last().map_or(life.now(), |bar| bar.closed).as_millis(),
            bars: untold.iter().chain(&seen.bars).map(Bar::of).collect(),
            resolved: Resolved::by(life, seen),
            golem: Stands::of(life),
            recalled,
        }
    }
}

impl Resolved {
    fn by(life: &Life, seen: &Observation) -> Vec<Resolved> {
        let mut resolved = Vec::new();
        for (at, (open, domain)) in life.open().iter().zip(&life.birth().world.domains).enumerate() {
            let mut claims = open.iter().peekable();
            for bar in &seen.bars {
                while let Some(claim) = claims.next_if(|claim| claim.due <= bar.closed) {
                    if claim.due == bar.closed {
                        let (said, naive, actual) = (claim.value, claim.naive, bar.values[at]);
                        resolved.push(Resolved { domain: domain.name.clone(), said, naive, actual });
                    }
                }
            }
        }
        resolved
    }
}

impl Stands {
    fn of(life: &Life) -> Stands {
        let figures = &life.constitution().stress;
        let name = |stressor: &stress::Stressor| stress::words::title(life, stressor.kind, stressor.domain);
        let mut pressed_by: Vec<Pressure> = life
            .stress()
            .active
            .iter()
            .map(|stressor| Pressure { name: name(stressor), severity: stressor.severity(figures) })
            .collect();
        pressed_by.sort_by(|a, b| b.severity.total_cmp(&a.severity));
        let voice = golem::prediction::Voice::Outside;
        let record = life.outside().standing.iter().zip(&life.birth().world.domains).enumerate();
        let record =
            record.filter(|(_, (standing, _))| standing.resolved > 0).map(|(at, (standing, domain))| Standing {
                domain: domain.name.clone(),
                claims: standing.resolved,
                skill: standing.skill(),
                say: life.say(at, voice),
            });
        Stands {
            tick: life.tick(),
            age_ms: life.age().as_millis(),
            phase: format!("{:?}", life.phase()).to_lowercase(),
            vitality: life.vitality().composite,
            epistemic: life.vitality().epistemic,
            credit: life.purse().credit.as_micros(),
            lasts_ms: economic::projected_life(life).map(|left| left.as_millis()),
            cash: life.capital().cash.as_micros(),
            worth: life.capital().worth(life.seen().unit).as_micros(),
            held: life.capital().holding,
            frozen: life.heartbeat().frozen,
            pressure: stress::load(life),
            pressed_by,
            refused: life.refused().map(|(rule, tick)| Refused { tick, why: rule.to_string() }),
            record: record.collect(),
            strategy: life.strategy().to_owned(),
        }
    }
}

impl Word {
    /// The word in the core's types; an error says why it cannot be accepted.
    pub fn read(self, world: &Manifest) -> Result<core::Word, String> {
        let domain = |name: &String| {
            let at = world.domains.iter().position(|domain| domain.name == *name);
            at.ok_or_else(|| format!("there is no domain '{}'", golem::plain::line(name, 40)))
        };
        let claim = |(name, value): (&String, &f64)| Ok(core::Expected { domain: domain(name)? as u8, value: *value });
        let proposal = |proposed: &Proposed| {
            let at = world.actions.iter().position(|action| action.name == proposed.action);
            let none = || format!("there is no action '{}'", golem::plain::line(&proposed.action, 40));
            Ok::<_, String>(Proposal { action: at.ok_or_else(none)? as u8, size: proposed.size })
        };
        let plain = |text: &String, most: usize| golem::plain::line(text, most);
        let word = core::Word {
            claims: self.claims.iter().map(claim).collect::<Result<_, String>>()?,
            rules: self.rules,
            proposal: self.proposal.as_ref().map(proposal).transpose()?,
            assessment: self.assessment.map(|said| {
                let named = |new: Named| assessment::New {
                    name: new.name,
                    description: new.description,
                    condition: new.condition,
                };
                let passed = |one: Passed| assessment::Plea { name: one.name, reason: one.reason };
                let new = said.new.into_iter().map(named).collect();
                Box::new(stress::Assessment { new, claims: said.passed.into_iter().map(passed).collect() })
            }),
            note: plain(&self.note, golem::thought::NOTE),
        };
        word.check(world)?;
        Ok(word)
    }
}
