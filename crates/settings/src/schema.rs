//! The JSON Schema of a file, for editors: it accepts what checking accepts, key by key. Keys that are
//! not available yet are left out, and the documents' spellings are in it as deprecated.

use serde_json::{Map, Value as Json, json};

use super::keys::{Form, KEYS, SPELLINGS, SettingKey, available};
use super::kind::SettingKind;
use super::problem::File;
use super::spelling::camel;

const SPAN: &str = r"^\s*([0-9]+\s*(ms|s|m|min|h|d)|[0-9_]+\s*ticks)\s*$";
const MONEY: &str = r"^\s*\$?[0-9_]+(\.[0-9_]{0,6})?\s*$";

/// JSON Schema, draft 2020-12.
pub fn schema(file: File) -> Json {
    let mut root = object();
    for key in available(file) {
        insert(&mut root, key.path, describe(key));
    }
    for spelling in SPELLINGS {
        if let Some(key) = available(file).find(|key| key.path == spelling.path) {
            let old = match spelling.form {
                Form::Plain => shape(key.kind),
                Form::Unit(_) => json!({ "type": ["integer", "string"], "minimum": 0, "pattern": SPAN }),
                Form::Moves => json!({ "type": "array" }),
            };
            insert(&mut root, spelling.spelled, deprecated(old, key.path));
        }
    }
    for key in KEYS.iter().filter(|key| key.file == file) {
        if let SettingKind::Fixed(only) = key.kind {
            let only: Json = serde_json::from_str(only).expect("what stands fixed is a number or a truth");
            insert(&mut root, key.path, json!({ "const": only, "description": key.about }));
        }
    }
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = file.name().into();
    root
}

fn describe(key: &SettingKey) -> Json {
    let mut shape = shape(key.kind);
    shape["default"] = key.default_value().to_json();
    shape["description"] = format!("{} ({})", key.about, key.kind.expected()).into();
    shape
}

fn shape(kind: SettingKind) -> Json {
    match kind {
        SettingKind::Bool => json!({ "type": "boolean" }),
        SettingKind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        SettingKind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        SettingKind::Share { max } => json!({ "type": "number", "minimum": 0, "maximum": max }),
        SettingKind::Money => {
            json!({ "type": ["string", "number"], "pattern": MONEY, "minimum": 0, "maximum": 1_000_000_000 })
        }
        SettingKind::Span { .. } => json!({ "type": "string", "pattern": SPAN }),
        SettingKind::Choice(words) => {
            let joined = words.iter().filter(|word| word.contains('_')).map(|word| word.replace('_', "-"));
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(joined).collect();
            json!({ "type": "string", "enum": words })
        }
        SettingKind::Name => {
            json!({ "type": "string", "pattern": "^([A-Za-z0-9_][A-Za-z0-9._-]{0,63})?$" })
        }
        SettingKind::Text => json!({ "type": "string", "maxLength": 500 }),
        SettingKind::Names => {
            json!({ "type": "string", "pattern": "^([A-Za-z0-9_][A-Za-z0-9._-]{0,63}(, *[A-Za-z0-9_][A-Za-z0-9._-]{0,63})*)?$" })
        }
        SettingKind::Seed => {
            json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^(random|[0-9]+)$" })
        }
        SettingKind::Windows => json!({ "type": ["string", "array"] }),
        SettingKind::Levels => json!({ "type": "string", "maxLength": 500 }),
        SettingKind::Moment => json!({ "type": "string" }),
        SettingKind::Maybe(kind) => json!({ "anyOf": [shape(*kind), { "const": "" }] }),
        SettingKind::Fixed(_) | SettingKind::NotYet => unreachable!("only available keys are described"),
    }
}

fn deprecated(mut shape: Json, instead: &str) -> Json {
    shape["deprecated"] = true.into();
    shape["description"] = format!("write {instead}").into();
    shape
}

fn object() -> Json {
    json!({ "type": "object", "additionalProperties": false, "properties": Map::new() })
}

/// Puts a shape where its path says, and the camelCase of its last word beside it.
fn insert(root: &mut Json, path: &str, shape: Json) {
    // One of the documents' spellings stands in no section.
    let (sections, word) = path.rsplit_once('.').unwrap_or(("", path));
    let mut at = root;
    for section in sections.split('.').filter(|section| !section.is_empty()) {
        let properties = at["properties"].as_object_mut().expect("an object has properties");
        at = properties.entry(section).or_insert_with(object);
    }
    let properties = at["properties"].as_object_mut().expect("an object has properties");
    let other = camel(word);
    if other != word {
        properties.insert(other, deprecated(shape.clone(), path));
    }
    // The documents have a key where we have a section.
    let shape = match properties.remove(word) {
        Some(section) => json!({ "anyOf": [section, shape] }),
        None => shape,
    };
    properties.insert(word.to_owned(), shape);
}

#[cfg(test)]
mod tests {
    use super::super::template;
    use super::super::tests::{another, uncommented};
    use super::*;

    #[test]
    fn the_schema_accepts_the_template_and_nothing_the_check_refuses() {
        for file in [File::Bardo, File::Golem] {
            let schema = schema(file);
            assert_eq!(accepts(&schema, &uncommented(&template(file))), Ok(()));
            for key in available(file) {
                let (section, word) = key.split();
                let say = |word: &str, value: &str| format!("[{section}]\n{word} = {value}");
                assert_eq!(accepts(&schema, &say(word, &another(key).to_toml())), Ok(()), "{}", key.path);
                assert_eq!(accepts(&schema, &say(&camel(word), &another(key).to_toml())), Ok(()));
                assert!(accepts(&schema, &say(word, "[1]")).is_err(), "{}", key.path);
                assert!(accepts(&schema, &say(&format!("{word}_"), "1")).is_err(), "{}", key.path);
            }
        }
        let golem = schema(File::Golem);
        for refused in
            ["[clade]\nsharing_threshold = 0.5", "world.seed = -1", "policy.on_death = \"sell\"", "reflex.pull = 2"]
        {
            assert!(accepts(&golem, refused).is_err(), "{refused}");
        }
        for spelled in [
            "mortality.vitality.reference_lifespan = 1000",
            "succession.strategy_drift_allowed = 0.15",
            "mortality.affect.appraisalModel = \"rule-based\"",
            "dream.schedule = \"owner\"",
            "dream.schedule.mode = \"owner\"",
        ] {
            assert_eq!(accepts(&golem, spelled), Ok(()), "{spelled}");
        }
    }

    /// As much of JSON Schema as ours uses, patterns left out.
    fn accepts(schema: &serde_json::Value, text: &str) -> Result<(), String> {
        let document: toml_edit::DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
        accepts_table(schema, document.as_table())
    }

    fn accepts_table(schema: &serde_json::Value, table: &dyn toml_edit::TableLike) -> Result<(), String> {
        let schema = schema["anyOf"].get(0).unwrap_or(schema);
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&"object".into(), &false.into()));
        for (word, item) in table.iter() {
            let shape = schema["properties"].get(word).ok_or_else(|| format!("{word} is not in it"))?;
            match item.as_table_like() {
                Some(table) => accepts_table(shape, table)?,
                None => accepts_value(shape, item.as_value().unwrap()).map_err(|error| format!("{word}: {error}"))?,
            }
        }
        Ok(())
    }

    fn accepts_value(shape: &serde_json::Value, value: &toml_edit::Value) -> Result<(), String> {
        if let Some(either) = shape["anyOf"].as_array() {
            let fits = either.iter().any(|shape| accepts_value(shape, value).is_ok());
            return if fits { Ok(()) } else { Err("none of what it may be".to_owned()) };
        }
        if let Some(only) = shape["const"].as_str() {
            return if value.as_str() == Some(only) { Ok(()) } else { Err(format!("not {only:?}")) };
        }
        let number = value.as_float().or(value.as_integer().map(|n| n as f64));
        let is = |name: &serde_json::Value| match name.as_str().unwrap() {
            "string" => value.is_str(),
            "boolean" => value.is_bool(),
            "integer" => value.is_integer(),
            "number" => number.is_some(),
            _ => false,
        };
        let typed = shape["type"].as_array().map_or_else(|| is(&shape["type"]), |names| names.iter().any(is));
        let listed =
            shape["enum"].as_array().is_none_or(|words| words.iter().any(|word| word.as_str() == value.as_str()));
        let above = number.is_none_or(|n| shape["minimum"].as_f64().is_none_or(|min| n >= min));
        let below = number.is_none_or(|n| shape["maximum"].as_f64().is_none_or(|max| n <= max));
        if typed && listed && above && below { Ok(()) } else { Err(format!("{value} is not {shape}")) }
    }
}
