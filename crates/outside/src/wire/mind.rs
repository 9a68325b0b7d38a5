//! What a mind is told before each tick of its golem, and what it may say.

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

/// What is said to a mind after the first words. Each has a number, which the answer repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    pub id: u64,
    #[serde(flatten)]
    pub ask: ShownAsk,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum ShownAsk {
    /// What its golem is about to see. Answered with a word, in which every part may be left out.
    Look(Box<Look>),
    /// The end: finish, and exit. Not answered.
    Bye,
}

/// What a golem is about to see, and how it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    pub now: u64,
    /// Every bar that closed since the last look, oldest first.
    pub bars: Vec<Bar>,
    /// Claims of its golem's that these bars answer.
    pub resolved: Vec<Resolved>,
    /// Its golem, as it stands before it sees them.
    pub golem: Stands,
    /// What it remembers that fits the moment, surest first; left out while it has not changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<Vec<String>>,
}

/// A claim that met its bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resolved {
    pub domain: String,
    /// What its golem said, with everyone who had a say in it.
    pub said: f64,
    /// What someone would have said who knows nothing but the last value and what is usual.
    pub naive: f64,
    /// What came: for a direction, and for a range, the value that decides it.
    pub actual: f64,
}

/// How a golem stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stands {
    pub tick: u64,
    pub age_ms: u64,
    /// `thriving`, `stable`, `conservation`, `declining` or `terminal`.
    pub phase: String,
    /// From 0 to 1, and how much of it is touch with the world.
    pub vitality: f64,
    pub epistemic: f64,
    /// What it has to live on.
    pub credit: i64,
    /// How long that lasts; left out where nothing runs down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ms: Option<u64>,
    /// What it has to act with, and what all of it is worth.
    pub cash: i64,
    pub worth: i64,
    /// Millionths of a unit that it holds.
    pub held: i64,
    /// No exposure may be added while it is frozen.
    pub frozen: bool,
    /// From 0 to 1, and what it comes from, heaviest first.
    pub pressure: f64,
    pub pressed_by: Vec<Pressure>,
    /// Why its last idea was refused, and in which tick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
    /// What this mind's claims have come to, by domain, from the first on.
    pub record: Vec<Standing>,
    /// What its owner would have it keep in mind.
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

/// What a mind's claims about a domain have come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    pub domain: String,
    /// Claims it was held to.
    pub claims: u64,
    /// The share of a naive forecaster's error that going by it alone would have saved.
    pub skill: f64,
    /// The part it had of what was said together when the newest claim was made.
    pub say: f64,
}

/// What a mind says: for the tick it was asked before or, if it takes longer, for the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    pub id: u64,
    /// By name of domain, what it will be at its horizon: the value itself, the chance of a rise from 0 to 1, or half the width
    /// of the band around the last value.
    #[serde(default)]
    pub claims: BTreeMap<String, f64>,
    /// Up to three heuristics, in the language of rules; each is tried in the shadow first.
    #[serde(default)]
    pub rules: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
    /// What its golem's owner is told, once, in up to 280 letters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a mind would have its golem do. It passes its owner's policy like any other idea.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    /// The name of the action.
    pub action: String,
    /// Above 0 and up to 1: of what it is worth where the action adds, of what it holds where it reduces.
    pub size: f64,
}

/// What a mind says of its golem's own state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// Up to two things that press on it and are not listed.
    #[serde(default)]
    pub new: Vec<Named>,
    /// Of what is listed, what has passed; it is looked at again.
    #[serde(default)]
    pub passed: Vec<Passed>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// When it presses, as in rules: `hour < 6 and ret_24 < -2%`. Without one that holds it has no weight.
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
    /// What this golem is about to see, with bars that it was not told of before.
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
    /// The same as the core has it; an error says why it cannot be taken.
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
