//! Reading an answer as it comes into what an answer may hold, or saying why it cannot be used. A part that does not
//! fit is left out, and not bent until it does; an answer of which nothing is left is unusable.

use life::plain::is_plain;
use life::policy::Proposal;
use life::rule::{self, neutral};
use life::stress::Assessment;
use life::thought::{Answer, CITED, FRAGMENTS, Fear, NOTE, Opinion, PROSE, Purpose, QUESTIONS, RULES, within};
use life::world::{DomainKind, Manifest};
use serde_json::{Map, Value};

/// The longest answer that is read, in bytes.
pub const ANSWER: usize = 32 << 10;

/// The novelty that a fragment needs to be kept, from 0 to 1.
const NOVEL: f64 = 0.5;

/// Why an answer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("it is longer than {ANSWER} bytes")]
    Long,
    #[error("it holds no JSON object")]
    NoObject,
    #[error("nothing in it fits this world")]
    Empty,
    #[error("{place} {why}")]
    Wrong { place: &'static str, why: String },
}

/// Reads an answer to a question of this purpose. Some servers cannot be held to a shape, and put words or a fence around
/// what was asked for: what stands from the first brace to the last counts.
pub fn read(text: &str, purpose: Purpose, world: &Manifest) -> Result<Answer, Unusable> {
    if text.len() > ANSWER {
        return Err(Unusable::Long);
    }
    if purpose == Purpose::Fragment {
        return whole(Answer { note: clean(text), ..Answer::default() });
    }
    let (Some(from), Some(to)) = (text.find('{'), text.rfind('}')) else { return Err(Unusable::NoObject) };
    let inner = text.get(from..=to).ok_or(Unusable::NoObject)?;
    let Ok(Value::Object(fields)) = serde_json::from_str(inner) else { return Err(Unusable::NoObject) };
    match purpose {
        Purpose::Orient => orientation(&fields, world),
        Purpose::Assess => {
            let assessment: Assessment = serde_json::from_value(Value::Object(fields))
                .map_err(|why| wrong("the assessment", clean(&why.to_string())))?;
            if !assessment.is_bounded() {
                return Err(wrong("the assessment", "is longer than was asked for".to_owned()));
            }
            Ok(Answer { assessment: Some(assessment), ..Answer::default() })
        }
        Purpose::Observe => {
            only(&fields, &["fragments"])?;
            whole(Answer { rules: kept(list(&fields, "fragments")?, world), ..Answer::default() })
        }
        Purpose::Replay | Purpose::Integrate => {
            only(&fields, &["rules", "note"])?;
            whole(Answer { rules: rules(&fields, world)?, note: note(&fields, "note", NOTE), ..Answer::default() })
        }
        Purpose::Imagine => {
            only(&fields, &["rules", "threat", "note"])?;
            let fear = fields.get("threat").and_then(|value| fear(value, world));
            let (rules, note) = (rules(&fields, world)?, note(&fields, "note", NOTE));
            whole(Answer { rules, fear, note, ..Answer::default() })
        }
        Purpose::Reflect | Purpose::Answer => {
            only(&fields, &["text", "records"])?;
            let mut cites: Vec<u64> = list(&fields, "records")?.iter().filter_map(Value::as_u64).collect();
            cites.sort_unstable();
            cites.dedup();
            cites.truncate(CITED);
            let note = note(&fields, "text", PROSE);
            // Records cited without a word about them say nothing.
            if note.is_empty() {
                return Err(Unusable::Empty);
            }
            Ok(Answer { note, cites, ..Answer::default() })
        }
        Purpose::Fragment => unreachable!("read before"),
    }
}

/// Refuses an answer that says nothing.
fn whole(answer: Answer) -> Result<Answer, Unusable> {
    if answer == Answer::default() { Err(Unusable::Empty) } else { Ok(answer) }
}

fn only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), Unusable> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(other) => Err(wrong("the answer", format!("has an unexpected field: {}", clean(other)))),
        None => Ok(()),
    }
}

fn note(fields: &Map<String, Value>, name: &str, most: usize) -> String {
    fields.get(name).and_then(Value::as_str).map(|text| clip(text, most)).unwrap_or_default()
}

fn rules(fields: &Map<String, Value>, world: &Manifest) -> Result<Vec<String>, Unusable> {
    Ok(list(fields, "rules")?.iter().take(RULES).filter_map(|value| rule(value, world)).collect())
}

/// A rule that fits this world, in words.
fn rule(value: &Value, world: &Manifest) -> Option<String> {
    let parsed = rule::schema::from_json(value, world).ok()?;
    let kind = world.domains[usize::from(parsed.domain)].kind;
    let says = parsed.effect == neutral(kind) || within(kind, parsed.effect);
    parsed.print(world).ok().filter(|_| says)
}

/// The rules in those fragments that are new enough.
fn kept(fragments: &[Value], world: &Manifest) -> Vec<String> {
    let novel = |value: &&Value| value.get("novelty").and_then(Value::as_f64).is_some_and(|novelty| novelty >= NOVEL);
    let new = fragments.iter().take(FRAGMENTS).filter(novel);
    new.filter_map(|value| rule(value.get("rule")?, world)).take(RULES).collect()
}

/// A threat: the world before it, by features of this world, and a share from 0 to 1.
fn fear(value: &Value, world: &Manifest) -> Option<Fear> {
    let fields = value.as_object().filter(|fields| fields.len() <= 2)?;
    let omen = rule::schema::conditions(fields.get("when")?, world).ok().filter(|omen| !omen.0.is_empty())?;
    let fall = fields.get("fall").and_then(Value::as_f64).filter(|fall| (0.0..=1.0).contains(fall))?;
    let fall_bps = (fall * 10_000.0) as u32;
    (fall_bps > 0).then_some(Fear { omen, fall_bps })
}

fn orientation(fields: &Map<String, Value>, world: &Manifest) -> Result<Answer, Unusable> {
    only(fields, &["claims", "rules", "proposal", "questions", "note", "deeper"])?;
    let mut answer = Answer { rules: rules(fields, world)?, ..Answer::default() };
    match fields.get("claims") {
        None | Some(Value::Null) => {}
        Some(Value::Object(claims)) => {
            let said = world.domains.iter().enumerate().filter_map(|(at, domain)| {
                let effect = claim(claims.get(&domain.name)?, domain.kind)?;
                (effect != neutral(domain.kind)).then_some(Opinion { domain: at as u8, effect })
            });
            answer.claims = said.collect();
        }
        Some(_) => return Err(wrong("claims", "are not an object with a field for each domain".to_owned())),
    }
    answer.proposal = fields.get("proposal").and_then(|value| proposal(value, world));
    for value in list(fields, "questions")?.iter().take(QUESTIONS) {
        answer.questions.extend(value.as_str().map(clean).filter(|text| !text.is_empty()));
    }
    answer.note = note(fields, "note", NOTE);
    answer.deeper = fields.get("deeper").and_then(Value::as_bool).unwrap_or(false);
    whole(answer)
}

/// The expectation, drawn towards the neutral one by how unsure it is.
fn claim(value: &Value, kind: DomainKind) -> Option<f64> {
    let number = |field: &str| value.get(field).and_then(Value::as_f64).filter(|number| number.is_finite());
    let expect = number("expect").filter(|expect| within(kind, *expect))?;
    let sure = number("sure").filter(|sure| (0.0..=1.0).contains(sure))?;
    let nothing = neutral(kind);
    Some(nothing + (expect - nothing) * sure)
}

/// The name of an action and a share from 0 to 1: there is no field for anything else, and nowhere an address could stand.
fn proposal(value: &Value, world: &Manifest) -> Option<Proposal> {
    let fields = value.as_object().filter(|fields| fields.len() <= 2)?;
    let name = fields.get("action").and_then(Value::as_str)?;
    let action = world.actions.iter().position(|action| action.name == name)?;
    let size = fields.get("size").and_then(Value::as_f64).filter(|size| *size > 0.0 && *size <= 1.0)?;
    Some(Proposal { action: action as u8, size })
}

fn list<'a>(fields: &'a Map<String, Value>, name: &'static str) -> Result<&'a [Value], Unusable> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(values)) => Ok(values),
        Some(_) => Err(wrong(name, "are not a list".to_owned())),
    }
}

fn clean(text: &str) -> String {
    clip(text, NOTE)
}

fn clip(text: &str, most: usize) -> String {
    text.chars().filter(|c| is_plain(*c)).take(most).collect()
}

fn wrong(place: &'static str, why: String) -> Unusable {
    Unusable::Wrong { place, why }
}
