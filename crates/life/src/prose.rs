//! What is written once in a life or now and then, births, deaths, heuristics, policies and knowledge, is written with
//! names, as JSON inside the compact record: it costs nothing there, and it can gain fields for as long as lives are kept.
//! What is written every tick has no names and is frozen.
//!
//! For `#[serde(with = "crate::prose")]`: plain data for people, JSON text under one name for journals.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Something written with names, and what its text is called in the layout of a journal.
pub(crate) trait Prose: Serialize + DeserializeOwned {
    const NAME: &'static str;
}

pub(crate) fn serialize<T: Prose, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return value.serialize(serializer);
    }
    let text = serde_json::to_string(value).map_err(S::Error::custom)?;
    serializer.serialize_newtype_struct(T::NAME, &text)
}

pub(crate) fn deserialize<'de, T: Prose, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    if deserializer.is_human_readable() {
        return T::deserialize(deserializer);
    }
    deserializer.deserialize_newtype_struct(T::NAME, Text(PhantomData))
}

struct Text<T>(PhantomData<T>);

impl<'de, T: Prose> Visitor<'de> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", T::NAME)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
