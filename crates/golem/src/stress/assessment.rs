//! What a golem may say of its own state: name what presses on it, and claim that something has passed.
//!
//! A claim is answered by looking again, and by nothing else; everything is looked at after every input anyway, so a
//! claim cannot even hasten it. What is named weighs in what the golem is shown only if it comes with a condition
//! that can be evaluated, and only once a look at the world has found it to hold; otherwise it is a note. Neither
//! opens a gate nor closes one.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Kind, ONSET, RELAPSE, Stress, find, grown};
use crate::draft::Draft;
use crate::event::Event;
use crate::life::Life;
use crate::limits;
use crate::plain::is_plain;
use crate::rule::Condition;
use crate::rule::text::parse_condition;
use crate::time::Span;
use crate::world::{Features, Manifest};

/// New ones in one answer, and claims that are looked at.
pub const NEW: usize = 2;
const CLAIMS: usize = 32;

/// A golem's word, as a model may give it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    #[serde(default)]
    pub new: Vec<New>,
    #[serde(default)]
    pub claims: Vec<Plea>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct New {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// As in heuristics: `hour < 6 and ret_24 < -2%`.
    #[serde(default)]
    pub condition: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plea {
    pub name: String,
    #[serde(default)]
    pub reason: String,
}

/// One that the golem has named itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    pub description: String,
    pub condition: Condition,
    pub onset: f64,
    pub since: Span,
    pub held: Span,
}

impl Named {
    pub fn severity(&self, rate: f64) -> f64 {
        grown(self.onset, rate, self.held)
    }
}

/// What is left of one that the golem had named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gone {
    pub name: String,
    pub condition: Condition,
    pub severity: f64,
    pub ended: Span,
}

/// What was made of an assessment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assessed {
    /// To be held against the next look at the world.
    pub named: Vec<Named>,
    /// Heard, without weight; and why.
    pub notes: Vec<(String, String)>,
    pub claims: Vec<Answer>,
}

/// What a claim found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub name: String,
    pub reason: String,
    pub found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Its condition still holds.
    Holds,
    /// It has eased and not cleared.
    Eased,
    /// Nothing of that name is active.
    NotActive,
}

/// One spelling for `Tool-Failures`, `tool_failure` and `TOOL FAILURE`.
pub fn normal(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.map(str::to_lowercase).collect::<Vec<_>>().join("_");
    let single = match joined.strip_suffix("ies") {
        Some(stem) if !stem.is_empty() => format!("{stem}y"),
        _ => joined.strip_suffix('s').filter(|stem| !stem.ends_with('s') && !stem.is_empty()).unwrap_or(&joined).into(),
    };
    clip(&single, limits::NAME)
}

fn clip(text: &str, most: usize) -> String {
    text.chars().filter(|c| is_plain(*c)).take(most).collect()
}

/// The shape an answer must have, for models that can be held to one.
pub fn schema(world: &Manifest) -> Value {
    let text = |most: usize| json!({ "type": "string", "maxLength": most });
    let features = world.features.join(", ");
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["new", "claims"],
        "properties": {
            "new": {
                "type": "array",
                "maxItems": NEW,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["name", "description", "condition"],
                    "properties": {
                        "name": text(limits::NAME),
                        "description": text(limits::REASON),
                        "condition": {
                            "type": "string",
                            "maxLength": limits::REASON,
                            "description": format!("comparisons joined by 'and', over: {features}"),
                        },
                    },
                },
            },
            "claims": {
                "type": "array",
                "maxItems": CLAIMS,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["name", "reason"],
                    "properties": { "name": text(limits::NAME), "reason": text(limits::REASON) },
                },
            },
        },
    })
}

/// Hears an assessment. It is given a life to read, and what it returns is a note of what was said.
pub(crate) fn hear(life: &Life, said: &Assessment) -> Assessed {
    let mut heard = Assessed::default();
    for (at, new) in said.new.iter().take(CLAIMS).enumerate() {
        let name = normal(&new.name);
        match weigh(life, &heard.named, at, &name, new) {
            Ok(named) => heard.named.push(named),
            Err(why) => heard.notes.push((name, why)),
        }
    }
    for plea in said.claims.iter().take(CLAIMS) {
        let (name, reason) = (normal(&plea.name), clip(&plea.reason, limits::REASON));
        let found = look_again(life, &name);
        heard.claims.push(Answer { name, reason, found });
    }
    heard.notes.truncate(CLAIMS);
    heard
}

fn weigh(life: &Life, beside: &[Named], at: usize, name: &str, new: &New) -> Result<Named, String> {
    let note = |why: &str| Err(why.to_owned());
    let (stress, figures) = (&life.stress, &life.constitution().stress);
    if name.is_empty() {
        return note("it has no name");
    }
    if at >= NEW {
        return note("more than two in one answer");
    }
    if Kind::ALL.iter().any(|kind| normal(kind.name()) == name) {
        return note("the runtime itself looks for that one");
    }
    let condition = match parse_condition(&new.condition, &life.birth.world) {
        Ok(condition) if !condition.0.is_empty() => condition,
        Ok(_) => return note("without a condition nobody can tell when it has passed"),
        Err(e) => return Err(format!("its condition cannot be evaluated: {e}")),
    };
    let mut all = stress.named.iter().chain(&stress.asked).chain(beside);
    if all.any(|named| named.name == name || named.condition.same(&condition)) {
        return note("it is active already");
    }
    let here = stress.active.len() + stress.named.len() + stress.asked.len() + beside.len();
    if here >= figures.most as usize {
        return note("as many as there may be are active already");
    }
    let same = |gone: &Gone| gone.name == name || gone.condition.same(&condition);
    let recent = |gone: &&Gone| same(gone) && life.age <= gone.ended + RELAPSE;
    let onset = stress.named_past.iter().rev().find(recent).map_or(ONSET, |gone| gone.severity.max(ONSET));
    let description = clip(&new.description, limits::REASON);
    Ok(Named { name: name.to_owned(), description, condition, onset, since: life.age, held: Span::ZERO })
}

/// What the record says of one by this name, whoever asks.
fn look_again(life: &Life, name: &str) -> Found {
    let of_kind = life.stress.active.iter().filter(|stressor| normal(stressor.kind.name()) == name);
    let mut presses: Vec<bool> = of_kind.map(|s| find(life, s.kind, s.domain, s.served).presses).collect();
    presses.extend(life.stress.named.iter().filter(|named| named.name == name).map(|_| true));
    match presses.as_slice() {
        [] => Found::NotActive,
        some if some.iter().any(|presses| *presses) => Found::Holds,
        _ => Found::Eased,
    }
}

/// Holds what the golem has named against a look at the world.
pub(crate) fn look(draft: &mut Draft<'_>, features: &Features) {
    for at in (0..draft.stress.named.len()).rev() {
        if !draft.stress.named[at].condition.holds(features) {
            draft.emit(Event::Eased { at: at as u8 });
        }
    }
    while let Some(asked) = draft.stress.asked.first() {
        draft.emit(Event::Named { holds: asked.condition.holds(features) });
    }
}

impl Stress {
    /// What was named first is settled: it weighs from now on, or it is let go.
    pub(crate) fn name(&mut self, holds: bool, age: Span) {
        let named = self.asked.remove(0);
        if holds {
            self.named.push(Named { since: age, ..named });
        }
    }

    /// The condition of one that was named no longer holds.
    pub(crate) fn ease(&mut self, at: usize, rate: f64, age: Span, kept: usize) {
        let named = self.named.remove(at);
        let severity = named.severity(rate);
        self.named_past.push_back(Gone { name: named.name, condition: named.condition, severity, ended: age });
        while self.named_past.len() > kept {
            self.named_past.pop_front();
        }
    }
}
