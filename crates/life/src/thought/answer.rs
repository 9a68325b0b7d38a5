//! Answers of a model: each part typed, bounded, and checked again where it comes in.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::kind::{FRAGMENTS, Purpose};
use crate::limits;
use crate::policy::Proposal;
use crate::prose::Prose;
use crate::rule::{self, Comparison, Condition};
use crate::stress::assessment::{self, Assessment};
use crate::world::{DomainKind, Manifest};

/// Rules in one answer.
pub const RULES: usize = 3;
/// Questions in one answer.
pub const QUESTIONS: usize = 2;
/// Characters in a note, and in a question.
pub const NOTE: usize = 280;
/// Characters of what is said to an owner, and of last words.
pub const PROSE: usize = 1_200;
/// Records that an answer may cite.
pub const CITED: usize = 8;
/// Characters in the reference to the words of an answer.
const HEARD: usize = 64;
/// Bounds of the factors that an answer may expect, and of chances.
pub(super) const FACTORS: (f64, f64) = (0.2, 5.0);
pub(super) const CHANCES: (f64, f64) = (0.05, 0.95);

/// A model's expectation for a domain at its horizon: a factor on the naive forecast, or the chance of a rise, drawn
/// towards the neutral one by how unsure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    pub domain: u8,
    pub effect: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    #[serde(default, skip_serializing_if = "ArrayVec::is_empty")]
    pub claims: ArrayVec<Opinion, { limits::DOMAINS }>,
    /// Rules as text, which is parsed before they are taken up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// True if the model would rather have a stronger one look at this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deeper: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<Assessment>,
    /// A threat that a night should be ready for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fear: Option<Fear>,
    /// Records that the answer cites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cites: Vec<u64>,
    /// A reference to the words it was read from, where they are kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heard: String,
    /// Tokens in and out, as its server counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<(u64, u64)>,
}

/// A threat: the world as it would look before, and how far a unit's worth would fall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fear {
    pub omen: Condition,
    pub fall_bps: u32,
}

impl Prose for Box<Answer> {
    const NAME: &'static str = "AnswerJson";
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// The process ended, or its time ran out, before an answer was back. It may have been paid for.
    Lost,
    /// The provider could not be reached.
    Down,
    /// The provider was too busy.
    Busy,
    /// The provider did not answer in time.
    Slow,
    /// The provider failed.
    Failed,
    /// The provider refused the request: a key, a model or the request is wrong.
    Refused,
    /// The sum set aside is too small for this provider.
    TooDear,
    /// No model is known under the name it was given.
    Unknown,
    /// An answer came that cannot be used.
    Unusable,
}

impl Silence {
    pub fn name(self) -> &'static str {
        match self {
            Silence::Lost => "lost",
            Silence::Down => "down",
            Silence::Busy => "busy",
            Silence::Slow => "slow",
            Silence::Failed => "failed",
            Silence::Refused => "refused",
            Silence::TooDear => "too_dear",
            Silence::Unknown => "unknown",
            Silence::Unusable => "unusable",
        }
    }

    /// Whether the silence may have nothing to do with the question, so that asking again soon is of no use.
    pub(super) fn is_absence(self) -> bool {
        !matches!(self, Silence::Unusable | Silence::Lost)
    }
}

impl Answer {
    /// Whether the answer is within its bounds and of this world.
    pub fn is_sound(&self, world: &Manifest) -> bool {
        let claimed = |claim: &Opinion| {
            let kind = world.domains.get(usize::from(claim.domain)).map(|domain| domain.kind);
            kind.is_some_and(|kind| within(kind, claim.effect))
        };
        let once = |at: usize| self.claims[..at].iter().all(|other| other.domain != self.claims[at].domain);
        let short = |text: &String| text.chars().count() <= NOTE;
        let proposal = |proposal: &Proposal| {
            usize::from(proposal.action) < world.actions.len() && proposal.size > 0.0 && proposal.size <= 1.0
        };
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        let fear = |fear: &Fear| (1..=10_000).contains(&fear.fall_bps) && fear.omen.0.iter().all(known);
        self.claims.iter().all(claimed)
            && (0..self.claims.len()).all(once)
            && self.rules.len() <= RULES
            && self.rules.iter().all(|rule| rule::text::parse(rule, world).is_ok())
            && self.proposal.as_ref().is_none_or(proposal)
            && self.questions.len() <= QUESTIONS
            && self.questions.iter().all(short)
            && self.note.chars().count() <= PROSE
            && self.fear.as_ref().is_none_or(fear)
            && self.cites.len() <= CITED
            && self.heard.len() <= HEARD
            && self.assessment.as_ref().is_none_or(Assessment::is_bounded)
    }
}

/// Whether an effect is within the bounds for a domain of this kind.
pub fn within(kind: DomainKind, effect: f64) -> bool {
    let (least, most) = if kind == DomainKind::Direction { CHANCES } else { FACTORS };
    (least..=most).contains(&effect)
}

/// The shape an answer must have, for models that can be held to one.
pub fn schema(purpose: Purpose, world: &Manifest) -> Value {
    let text = |most: usize| json!({ "type": "string", "maxLength": most });
    let rule = || bare(rule::schema::schema(world));
    let rules = || json!({ "type": "array", "maxItems": RULES, "items": rule() });
    match purpose {
        Purpose::Assess => assessment::schema(world),
        // Half a thought has no shape.
        Purpose::Fragment => Value::Null,
        Purpose::Observe => {
            let rated = object(json!({
                "novelty": { "type": "number", "minimum": 0, "maximum": 1 },
                "rule": rule(),
            }));
            object(json!({ "fragments": { "type": "array", "maxItems": FRAGMENTS, "items": rated } }))
        }
        Purpose::Replay | Purpose::Integrate => object(json!({ "rules": rules(), "note": text(NOTE) })),
        Purpose::Imagine => {
            let threat = object(json!({
                "when": rule()["properties"]["when"],
                "fall": { "type": "number", "minimum": 0, "maximum": 1 },
            }));
            object(json!({ "rules": rules(), "threat": threat, "note": text(NOTE) }))
        }
        Purpose::Reflect => object(json!({ "text": text(PROSE) })),
        Purpose::Answer => {
            let records = json!({ "type": "array", "maxItems": CITED, "items": { "type": "integer", "minimum": 1 } });
            object(json!({ "text": text(PROSE), "records": records }))
        }
        Purpose::Orient => {
            let actions: Vec<&str> = world.actions.iter().map(|action| action.name.as_str()).chain(["none"]).collect();
            // One field for each domain, so that none can be spoken of twice.
            let claims: Map<String, Value> =
                world.domains.iter().map(|domain| (domain.name.clone(), claim(domain.kind))).collect();
            let proposal = object(json!({
                "action": { "type": "string", "enum": actions },
                "size": { "type": "number", "minimum": 0, "maximum": 1 },
            }));
            object(json!({
                "claims": object(Value::Object(claims)),
                "rules": rules(),
                "proposal": proposal,
                "questions": { "type": "array", "maxItems": QUESTIONS, "items": text(NOTE) },
                "note": text(NOTE),
                "deeper": { "type": "boolean" },
            }))
        }
    }
}

fn claim(kind: DomainKind) -> Value {
    let (least, most) = if kind == DomainKind::Direction { CHANCES } else { FACTORS };
    object(json!({
        "expect": { "type": "number", "minimum": least, "maximum": most },
        "sure": { "type": "number", "minimum": 0, "maximum": 1 },
    }))
}

/// A schema inside another names no dialect of its own.
fn bare(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
    }
    schema
}

/// All properties are required and no other is allowed.
fn object(properties: Value) -> Value {
    let names: Vec<String> = properties.as_object().into_iter().flat_map(|object| object.keys().cloned()).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}
