//! What is written once in a life or now and then, births, deaths, heuristics, policies and
//! knowledge, is written with names, as
//! JSON inside the compact record: it costs nothing there, and it can gain fields for as long as lives are kept.
//! What is written every tick has no names and is frozen.

/// A module for `#[serde(with = "…")]`: plain data for people, JSON text under one name for journals.
macro_rules! as_json {
    ($module:ident, $kind:ty, $name:literal) => {
        pub(crate) mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(crate) fn serialize<S: Serializer>(value: &$kind, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    return value.serialize(serializer);
                }
                let text = serde_json::to_string(value).map_err(serde::ser::Error::custom)?;
                serializer.serialize_newtype_struct($name, &text)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$kind, D::Error> {
                #[derive(Deserialize)]
                #[serde(rename = $name)]
                struct Text(String);
                if deserializer.is_human_readable() {
                    return <$kind>::deserialize(deserializer);
                }
                let Text(text) = Text::deserialize(deserializer)?;
                serde_json::from_str(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

as_json!(birth, Box<crate::life::Birth>, "BirthJson");
as_json!(heuristic, Box<crate::rule::Heuristic>, "HeuristicJson");
as_json!(decision, Box<crate::grimoire::Decision>, "DecisionJson");
as_json!(watched, Box<Vec<crate::grimoire::Watched>>, "WatchedJson");
as_json!(assessed, Box<crate::stress::Assessed>, "AssessedJson");
as_json!(found, Box<crate::dream::Found>, "FoundJson");
as_json!(policy, Box<crate::constitution::PolicyFigures>, "PolicyJson");
as_json!(death, Box<crate::mortality::death::Death>, "DeathJson");
