//! Prose: records that are rare in a life (births, deaths, heuristics, policies and knowledge) are written with names,
//! as JSON inside the compact record. Names cost little there, and let records gain fields for as long as lives are
//! kept. Records of every tick have no names and are frozen.
//!
//! For `#[serde(with = "crate::prose")]`: plain data for people, JSON text under one name for journals.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A record written with names, and the name of its text in the layout of a journal.
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
