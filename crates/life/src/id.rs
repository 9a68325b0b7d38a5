//! Identities. Drawn by the host; the core only carries and compares them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::hex;

/// The identity of a golem, for ever and everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GolemId(pub [u8; 16]);

/// Marks one command of the owner, so that delivering it twice obeys it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub [u8; 8]);

impl fmt::Display for GolemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for GolemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a golem id (32 hexadecimal digits)")]
pub struct IdError(String);

impl FromStr for GolemId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<GolemId, IdError> {
        let id = hex::decode(text).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
        id.map(GolemId).ok_or_else(|| IdError(text.to_owned()))
    }
}

/// Why a name was refused; names become folders, so they are kept plain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' cannot be a golem's name; use 1 to {max} of a-z, 0-9 and '-', beginning with a letter", max = crate::limits::NAME)]
pub struct NameError(String);

/// A golem's name, given by its owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Name(String);

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Name, NameError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.len() > crate::limits::NAME
            || !text.starts_with(|c: char| c.is_ascii_lowercase())
            || !text.chars().all(plain)
        {
            return Err(NameError(text.to_owned()));
        }
        Ok(Name(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Name")]
        struct Unchecked(String);
        let Unchecked(text) = Unchecked::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// An identity as text, where people and other programs read it.
pub(crate) mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::GolemId;

    pub(crate) fn serialize<S: Serializer>(id: &GolemId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GolemId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// An identity as text where there may be none.
pub(crate) mod as_text_if_any {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::GolemId;

    pub(crate) fn serialize<S: Serializer>(id: &Option<GolemId>, serializer: S) -> Result<S::Ok, S::Error> {
        match id {
            Some(id) => serializer.collect_str(id),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GolemId>, D::Error> {
        Option::<String>::deserialize(deserializer)?.map(|id| id.parse().map_err(D::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_being_printed() {
        let id = GolemId([7; 16]);
        assert_eq!(id.to_string().parse::<GolemId>().unwrap(), id);
        assert!("xyz".parse::<GolemId>().is_err());
    }

    #[test]
    fn names_that_could_leave_their_folder_are_refused() {
        for bad in ["", "..", "a/b", "Ada", "-ada", "a b", "ä", &"a".repeat(41)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
        assert!("ada-2".parse::<Name>().is_ok());
    }
}
