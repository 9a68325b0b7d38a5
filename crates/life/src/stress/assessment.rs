//! Assessments, in which a golem may name what presses on it, and claim that something has passed.
//!
//! A claim is answered by looking again, and by nothing else; everything is looked at after every input anyway, so a
//! claim cannot even hasten it. What is named weighs in what the golem is shown only if it comes with a condition
//! that can be evaluated, and only once a look at the world has found it to hold; otherwise it is a note. Neither
//! opens a gate nor closes one.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kind::grown;
use crate::limits;
use crate::plain::is_plain;
use crate::prose::Prose;
use crate::rule::Condition;
use crate::time::Span;
use crate::world::Manifest;

/// New stressors that one answer may name.
pub const NEW: usize = 2;

/// Claims of one answer that are looked at.
pub const CLAIMS: usize = 32;

/// A golem's word about its state, as a model may give it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    #[serde(default)]
    pub new: Vec<New>,
    #[serde(default)]
    pub claims: Vec<Plea>,
}

impl Assessment {
    /// Whether it is no longer than its schema allows.
    pub fn is_bounded(&self) -> bool {
        let short = |text: &String, most: usize| text.chars().count() <= most;
        let named = |new: &New| {
            short(&new.name, limits::NAME)
                && short(&new.description, limits::REASON)
                && short(&new.condition, limits::REASON)
        };
        let pleaded = |plea: &Plea| short(&plea.name, limits::NAME) && short(&plea.reason, limits::REASON);
        self.new.len() <= NEW
            && self.claims.len() <= CLAIMS
            && self.new.iter().all(named)
            && self.claims.iter().all(pleaded)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct New {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// A condition as in heuristics: `hour < 6 and ret_24 < -2%`.
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

/// A stressor that the golem has named itself.
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

/// The remains of a stressor that the golem had named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gone {
    pub name: String,
    pub condition: Condition,
    pub severity: f64,
    pub ended: Span,
}

/// The outcome of an assessment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assessed {
    /// Stressors to check at the next look at the world.
    pub named: Vec<Named>,
    /// Names that were heard without giving them weight, and why.
    pub notes: Vec<(String, String)>,
    pub claims: Vec<Answer>,
}

/// The answer to a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub name: String,
    pub reason: String,
    pub found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// The stressor's condition still holds.
    Holds,
    /// The stressor has eased and not cleared.
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

pub fn clip(text: &str, most: usize) -> String {
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

impl Prose for Box<Assessed> {
    const NAME: &'static str = "AssessedJson";
}
