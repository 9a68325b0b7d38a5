//! Heuristics as a model is asked for them: a JSON Schema (draft 2020-12) in the words of a world, and the
//! answer read as strictly as the text is.

use serde_json::{Map, Value, json};

use super::text::{Parsed, RuleError, domains, features, field, find, quoted};
use super::{Comparison, Condition, Fragment, Is, Mix, Stance, Term, WHOLE, neutral};
use crate::limits;
use crate::world::{DomainKind, Manifest};

const STANCES: [(&str, Stance); 3] = [("watch", Stance::Watch), ("add", Stance::Add), ("reduce", Stance::Reduce)];
const SIDES: [(&str, Is); 2] = [("above", Is::Above), ("below", Is::Below)];

/// One heuristic of this world, as it is demanded.
pub fn schema(manifest: &Manifest) -> Value {
    let features = features(manifest);
    // Where there is nothing to compare, an empty choice would be no schema.
    let when = if features.is_empty() {
        json!({ "type": "array", "maxItems": 0 })
    } else {
        let comparison = object(json!({
            "feature": { "type": "string", "enum": features },
            "is": { "type": "string", "enum": SIDES.map(|(name, _)| name) },
            "than": { "type": "number" },
        }));
        json!({ "type": "array", "maxItems": limits::COMPARISONS, "items": comparison })
    };
    let term = object(json!({ "feature": { "type": "string", "enum": features }, "share": { "type": "number" } }));
    let blend = if features.is_empty() {
        json!({ "type": "array", "maxItems": 0 })
    } else {
        json!({ "type": "array", "maxItems": limits::TERMS, "items": term })
    };
    let mut schema = object(json!({
        "when": described(when, "All of these hold; none at all means always."),
        "expect": object(json!({ "domain": { "type": "string", "enum": domains(manifest) } })),
        "effect": described(json!({ "type": "number" }), &meaning(manifest)),
        "blend": described(blend, "Expect a value like these features together, in these shares; what is not shared out is the last value's."),
        "then": described(json!({ "type": "string", "enum": STANCES.map(|(name, _)| name) }), "What to do about it."),
    }));
    schema["properties"]["exit"] = exit(&features);
    schema["required"] = json!(["when", "expect", "then"]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    described(schema, "When the conditions hold, expect something of a domain.")
}

/// Reads what the schema demands, and nothing else.
pub fn from_json(value: &Value, manifest: &Manifest) -> Result<Parsed, RuleError> {
    let fields = fields(value, "", &["when", "expect", "then"], &["effect", "blend", "exit"])?;
    let condition = conditions(&fields["when"], manifest)?;
    let expect = self::fields(&fields["expect"], "expect", &["domain"], &[])?;
    let domain = named(&expect["domain"], "expect.domain", "domain", &domains(manifest))?;
    let effect = match fields.get("effect") {
        Some(effect) => number(effect, "effect")?,
        None => neutral(manifest.domains[usize::from(domain)].kind),
    };
    let blend = fields.get("blend").map(|blend| self::blend(blend, manifest)).transpose()?.flatten();
    let stance = match (choice(&fields["then"], "then", &STANCES)?, fields.get("exit")) {
        (stance, None) => stance,
        (Stance::Add, Some(exit)) => Stance::Fragment(fragment(exit, manifest)?),
        (..) => return Err(field("exit", "only what is added is left again; 'then' must be 'add'")),
    };
    let parsed = Parsed { condition, domain, effect, blend, stance };
    parsed.check(manifest)?;
    Ok(parsed)
}

/// Reads what stands under `when`.
pub fn conditions(value: &Value, manifest: &Manifest) -> Result<Condition, RuleError> {
    let mut condition = Condition::default();
    let comparisons = value.as_array().ok_or_else(|| unexpected("when", value, "an array"))?;
    for (at, value) in comparisons.iter().enumerate() {
        let comparison = comparison(value, &format!("when[{at}]"), manifest)?;
        if condition.0.try_push(comparison).is_err() {
            let problem = format!("found {} comparisons, expected at most {at}", comparisons.len());
            return Err(field("when", problem));
        }
    }
    Ok(condition)
}

/// The heuristic as the schema demands it; an expectation that says nothing is left out.
pub fn to_json(parsed: &Parsed, manifest: &Manifest) -> Result<Value, RuleError> {
    parsed.check(manifest)?;
    let (features, domain) = (features(manifest), &manifest.domains[usize::from(parsed.domain)]);
    let comparisons = parsed.condition.0.iter().map(|Comparison { feature, is, than }| {
        json!({ "feature": features[usize::from(*feature)], "is": said(&SIDES, *is), "than": than })
    });
    let mut value = json!({
        "when": comparisons.collect::<Vec<_>>(),
        "expect": { "domain": domain.name },
        "then": if parsed.stance.adds() { "add" } else { said(&STANCES, parsed.stance) },
    });
    if let Stance::Fragment(fragment) = &parsed.stance {
        value["exit"] = exit_json(fragment, &features);
    }
    if parsed.effect != neutral(domain.kind) {
        value["effect"] = json!(parsed.effect);
    }
    if let Some(mix) = &parsed.blend {
        let term = |term: &Term| json!({ "feature": features[usize::from(term.feature)], "share": term.share });
        value["blend"] = mix.terms.iter().map(term).collect();
    }
    Ok(value)
}

/// The way out of what is added, as it is demanded.
fn exit(features: &[&str]) -> Value {
    let comparison = object(json!({
        "feature": { "type": "string", "enum": features },
        "is": { "type": "string", "enum": SIDES.map(|(name, _)| name) },
        "than": { "type": "number" },
    }));
    let count = |least: u32| json!({ "type": "integer", "minimum": least });
    let mut exit = object(json!({
        "share": described(json!({ "type": "integer", "minimum": 1, "maximum": WHOLE }), "Thousandths of the allowed size."),
        "up": described(count(1), "Leave at a gain of so many basis points."),
        "down": described(count(1), "Leave at a loss of so many basis points."),
        "bars": described(count(1), "Leave after so many bars."),
    }));
    // Where there is nothing to compare, an empty choice would be no schema.
    if !features.is_empty() {
        exit["properties"]["until"] = described(comparison, "Leave once this holds.");
    }
    exit["required"] = json!([]);
    described(exit, "With 'add': how much, and when to leave; whatever comes first.")
}

/// Reads how much is added and when it is left.
fn fragment(value: &Value, manifest: &Manifest) -> Result<Fragment, RuleError> {
    let fields = fields(value, "exit", &[], &["share", "until", "up", "down", "bars"])?;
    let count = |name: &str| {
        let count = |value: &Value| value.as_u64().and_then(|count| u32::try_from(count).ok());
        let wrong = |value: &Value| unexpected(&format!("exit.{name}"), value, "a whole number above 0");
        fields.get(name).map(|value| count(value).ok_or_else(|| wrong(value))).transpose()
    };
    let until = fields.get("until").map(|value| comparison(value, "exit.until", manifest)).transpose()?;
    let share = count("share")?.map_or(WHOLE, |share| u16::try_from(share).unwrap_or(u16::MAX));
    Ok(Fragment { share, until, up: count("up")?, down: count("down")?, bars: count("bars")? })
}

fn exit_json(fragment: &Fragment, features: &[&str]) -> Value {
    let Fragment { share, until, up, down, bars } = *fragment;
    let mut exit = json!({ "share": share });
    if let Some(Comparison { feature, is, than }) = until {
        exit["until"] = json!({ "feature": features[usize::from(feature)], "is": said(&SIDES, is), "than": than });
    }
    for (name, count) in [("up", up), ("down", down), ("bars", bars)] {
        if let Some(count) = count {
            exit[name] = json!(count);
        }
    }
    exit
}

/// Reads a blend. A model does not say how sure it is; that is for claims to show.
fn blend(value: &Value, manifest: &Manifest) -> Result<Option<Mix>, RuleError> {
    let terms = value.as_array().ok_or_else(|| unexpected("blend", value, "an array"))?;
    let mut mix = Mix::even([]);
    for (at, value) in terms.iter().enumerate() {
        let place = format!("blend[{at}]");
        let fields = fields(value, &place, &["feature", "share"], &[])?;
        let feature = named(&fields["feature"], &format!("{place}.feature"), "feature", &features(manifest))?;
        let share = number(&fields["share"], &format!("{place}.share"))?;
        if mix.terms.try_push(Term { feature, share }).is_err() {
            return Err(field("blend", format!("found {} features, expected at most {at}", terms.len())));
        }
    }
    Ok((!mix.terms.is_empty()).then_some(mix))
}

fn comparison(value: &Value, place: &str, manifest: &Manifest) -> Result<Comparison, RuleError> {
    let fields = fields(value, place, &["feature", "is", "than"], &[])?;
    Ok(Comparison {
        feature: named(&fields["feature"], &format!("{place}.feature"), "feature", &features(manifest))?,
        is: choice(&fields["is"], &format!("{place}.is"), &SIDES)?,
        than: number(&fields["than"], &format!("{place}.than"))?,
    })
}

/// The fields of an object that has all it needs and nothing it must not have.
fn fields<'a>(
    value: &'a Value,
    place: &str,
    needed: &[&str],
    allowed: &[&str],
) -> Result<&'a Map<String, Value>, RuleError> {
    let here = if place.is_empty() { "heuristic" } else { place };
    let fields = value.as_object().ok_or_else(|| unexpected(here, value, "an object"))?;
    let known = [needed, allowed].concat();
    for name in fields.keys() {
        find(name, "field", &known).map_err(|problem| field(here, problem))?;
    }
    match needed.iter().find(|name| !fields.contains_key(**name)) {
        Some(missing) => Err(field(here, format!("'{missing}' is missing"))),
        None => Ok(fields),
    }
}

fn named(value: &Value, place: &str, what: &str, names: &[&str]) -> Result<u8, RuleError> {
    let name = value.as_str().ok_or_else(|| unexpected(place, value, &format!("the name of a {what}")))?;
    find(name, what, names).map_err(|problem| field(place, problem))
}

fn choice<T: Copy>(value: &Value, place: &str, choices: &[(&str, T)]) -> Result<T, RuleError> {
    let chosen = choices.iter().find(|(name, _)| value.as_str() == Some(name));
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    chosen.map(|(_, choice)| *choice).ok_or_else(|| unexpected(place, value, &format!("'{}'", names.join("' or '"))))
}

fn said<T: PartialEq>(choices: &[(&'static str, T)], choice: T) -> &'static str {
    choices.iter().find(|(_, known)| *known == choice).map(|(name, _)| *name).expect("every choice has a name")
}

fn number(value: &Value, place: &str) -> Result<f64, RuleError> {
    value.as_f64().ok_or_else(|| unexpected(place, value, "a number"))
}

fn unexpected(place: &str, found: &Value, expected: &str) -> RuleError {
    let found = match found {
        Value::String(text) => quoted(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => found.to_string(),
    };
    field(place, format!("found {found}, expected {expected}"))
}

/// All properties are required and no other is allowed.
fn object(properties: Value) -> Value {
    let names: Vec<String> = properties.as_object().into_iter().flat_map(|object| object.keys().cloned()).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// Says what the effect is a number of, in each domain.
fn meaning(manifest: &Manifest) -> String {
    let meanings = manifest.domains.iter().map(|domain| {
        let meaning = match domain.kind {
            DomainKind::Value => "a factor above 0 on the last value",
            DomainKind::Direction => "the probability of a rise, from 0 to 1",
            DomainKind::Range => "a factor above 0 on the usual width of the band",
        };
        format!("for '{}' {meaning}", domain.name)
    });
    format!("What is expected, if known: {}.", meanings.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::text::parse;
    use super::super::text::tests::{any_parsed, manifest};
    use super::*;

    fn example() -> Value {
        json!({
            "when": [
                { "feature": "tide", "is": "above", "than": 5 },
                { "feature": "wind", "is": "below", "than": 0.015 },
            ],
            "expect": { "domain": "surge" },
            "effect": 1.3,
            "then": "add",
        })
    }

    #[test]
    fn a_way_out_is_said_with_what_is_added_and_with_nothing_else() {
        let mut value = example();
        value["exit"] = json!({ "share": 500, "until": { "feature": "wind", "is": "below", "than": 0 }, "bars": 12 });
        let text = "when tide > 5 and wind < 1.5% expect surge x1.3 then add half until wind < 0 or 12 bars";
        assert_eq!(from_json(&value, &manifest()).unwrap(), parse(text, &manifest()).unwrap());
        let refused = |value: &Value| from_json(value, &manifest()).unwrap_err().to_string();
        value["then"] = json!("reduce");
        assert_eq!(refused(&value), "exit: only what is added is left again; 'then' must be 'add'");
        (value["then"], value["exit"]) = (json!("add"), json!({ "bars": -1 }));
        assert_eq!(refused(&value), "exit.bars: found -1, expected a whole number above 0");
        value["exit"] = json!({ "share": 70_000 });
        assert_eq!(refused(&value), "then: found 65535 thousandths, expected 1 to 1000");
        value["exit"] = json!({});
        assert!(refused(&value).starts_with("then: found neither a share nor a way out"));
    }

    /// The example with one place changed.
    fn check_refused(pointer: &str, to: Value, sentence: &str) {
        let mut value = example();
        *value.pointer_mut(pointer).unwrap() = to;
        assert_eq!(from_json(&value, &manifest()).unwrap_err().to_string(), sentence);
    }

    #[test]
    fn an_answer_says_the_same_as_the_text() {
        let text = parse("when tide > 5 and wind < 1.5% expect surge x1.3 then add", &manifest()).unwrap();
        assert_eq!(from_json(&example(), &manifest()).unwrap(), text);
        let least = json!({ "when": [], "expect": { "domain": "rising" }, "then": "watch" });
        assert_eq!(from_json(&least, &manifest()), parse("always expect rising", &manifest()));
    }

    #[test]
    fn the_schema_names_what_this_world_knows() {
        let schema = schema(&manifest());
        let comparison = &schema["properties"]["when"]["items"];
        assert_eq!(comparison["properties"]["feature"]["enum"], json!(["tide", "wind", "moon_age", "expect"]));
        assert_eq!(comparison["properties"]["is"]["enum"], json!(["above", "below"]));
        assert_eq!(schema["properties"]["when"]["maxItems"], json!(4));
        let domain = &schema["properties"]["expect"]["properties"]["domain"];
        assert_eq!(domain["enum"], json!(["surge", "rising", "swell"]));
        assert_eq!(schema["properties"]["then"]["enum"], json!(["watch", "add", "reduce"]));
        assert_eq!(schema["required"], json!(["when", "expect", "then"]));
        for closed in [&schema, comparison, &schema["properties"]["expect"]] {
            assert_eq!(closed["additionalProperties"], json!(false));
        }
        let blind = Manifest { features: vec![], ..manifest() };
        assert_eq!(super::schema(&blind)["properties"]["when"]["maxItems"], json!(0));
    }

    #[test]
    fn an_answer_that_is_not_what_was_asked_for_is_refused_by_field() {
        let tied = "when[0].feature: found 'tied', expected a feature; did you mean 'tide'?";
        check_refused("/when/0/feature", json!("tied"), tied);
        check_refused("/when/1/is", json!(">"), "when[1].is: found '>', expected 'above' or 'below'");
        check_refused("/when/1/than", json!("5"), "when[1].than: found '5', expected a number");
        check_refused("/when/1/than", json!(f64::NAN), "when[1].than: found null, expected a number");
        check_refused("/when", json!({}), "when: found an object, expected an array");
        check_refused("/when", json!([{}]), "when[0]: 'feature' is missing");
        check_refused("/when/0", json!(["tide", "above", 5]), "when[0]: found an array, expected an object");
        check_refused("/expect/domain", json!(0), "expect.domain: found 0, expected the name of a domain");
        check_refused("/effect", Value::Null, "effect: found null, expected a number");
        check_refused("/effect", json!(-1), "effect: found -1, expected a finite factor above 0 for 'surge'");
        check_refused("/then", json!("jump"), "then: found 'jump', expected 'watch' or 'add' or 'reduce'");
        let why = "heuristic: found 'whence', expected a field; did you mean 'when'?";
        check_refused("", json!({ "whence": [] }), why);
        check_refused("", json!([]), "heuristic: found an array, expected an object");
        let over = "expect: found 'horizon', expected a field: domain";
        check_refused("/expect", json!({ "domain": "surge", "horizon": 12 }), over);
    }

    #[test]
    fn an_answer_is_held_to_what_holds_for_text() {
        let compared = |feature: &str, is: &str, than: f64| json!({ "feature": feature, "is": is, "than": than });
        let never = json!([compared("tide", "above", 5.0), compared("tide", "below", 3.0)]);
        check_refused("/when", never, "when[1]: no number is both > 5 and < 3, so it would never hold");
        let twice = json!([compared("tide", "above", 5.0), compared("tide", "above", 3.0)]);
        check_refused("/when", twice, "when[1]: this feature has a '>' already; keep one, such as '> 5'");
        let five = json!(vec![compared("tide", "above", 5.0); 5]);
        check_refused("/when", five, "when: found 5 comparisons, expected at most 4");
    }

    proptest! {
        #[test]
        fn what_is_asked_for_in_writing_reads_back_as_the_same(parsed in any_parsed()) {
            // How sure it is cannot be said here.
            let blend = parsed.blend.clone().map(|mix| Mix { sure: Mix::even([]).sure, ..mix });
            let parsed = Parsed { blend, ..parsed };
            let value = to_json(&parsed, &manifest()).unwrap();
            prop_assert_eq!(from_json(&value, &manifest()), Ok(parsed.clone()));
            let written: Value = serde_json::from_str(&value.to_string()).unwrap();
            let read = from_json(&written, &manifest()).unwrap();
            prop_assert_eq!(&read, &parsed);
            prop_assert_eq!(to_json(&read, &manifest()).unwrap(), value);
        }
    }
}
