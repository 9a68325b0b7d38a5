//! Rates at which stressors grow, by name. A birth has one for each kind that was looked for when it was written, and a
//! kind without one is not looked for in that life: a life is pressed by nothing that came after it.
//!
//! The first version wrote a list, in the order of the kinds there were; it is read for ever, and written no more. A rate
//! of a kind that this version does not know is kept as it was written, and such a life is refused by name: it would be
//! another life without that kind, and its records may hold what cannot be read here.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Kind;

/// The kinds of the first version, in the order of its list.
const FIRST: [Kind; 6] = [
    Kind::RepeatedFailure,
    Kind::Futility,
    Kind::Invisibility,
    Kind::IdentityViolation,
    Kind::ExistentialThreat,
    Kind::Purposelessness,
];

/// Growth a day, by kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    known: [Option<f64>; Kind::ALL.len()],
    /// Rates of kinds that came after this version, by their names.
    newer: Vec<(String, f64)>,
}

impl Rates {
    const NONE: Rates = Rates { known: [None; Kind::ALL.len()], newer: Vec::new() };

    /// A rate for every kind.
    pub fn each(rate: impl Fn(Kind) -> f64) -> Rates {
        Rates { known: Kind::ALL.map(|kind| Some(rate(kind))), newer: Vec::new() }
    }

    /// The rate of a kind; none if it is not looked for.
    pub fn of(&self, kind: Kind) -> Option<f64> {
        self.known[kind as usize]
    }

    /// The name of a kind that came after this version.
    pub fn newer(&self) -> Option<&str> {
        self.newer.first().map(|(name, _)| name.as_str())
    }
}

impl Default for Rates {
    /// The usual rates, for every kind.
    fn default() -> Rates {
        Rates::each(Kind::usual_rate)
    }
}

impl Serialize for Rates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = Kind::ALL.into_iter().filter_map(|kind| Some((kind.name(), self.of(kind)?)));
        let newer = self.newer.iter().map(|(name, rate)| (name.as_str(), *rate));
        serializer.collect_map(known.chain(newer))
    }
}

impl<'de> Deserialize<'de> for Rates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rates, D::Error> {
        deserializer.deserialize_any(ByName)
    }
}

struct ByName;

impl<'de> Visitor<'de> for ByName {
    type Value = Rates;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rates by the names of stressors, or {} in a list", FIRST.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rates, A::Error> {
        let mut rates = Rates::NONE;
        for (at, kind) in FIRST.into_iter().enumerate() {
            rates.known[kind as usize] = Some(list.next_element()?.ok_or_else(|| A::Error::invalid_length(at, &self))?);
        }
        match list.next_element::<f64>()? {
            None => Ok(rates),
            Some(_) => Err(A::Error::invalid_length(FIRST.len() + 1, &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rates, A::Error> {
        let mut rates = Rates::NONE;
        while let Some((name, rate)) = map.next_entry::<String, f64>()? {
            match Kind::named(&name) {
                Some(kind) => rates.known[kind as usize] = Some(rate),
                None => rates.newer.push((name, rate)),
            }
        }
        Ok(rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Rates {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_the_first_version_listed_is_read_by_its_order_and_written_by_name() {
        let rates = read("[0.04,0.025,0.03,0.06,0.07,0.035]");
        assert_eq!(FIRST.map(|kind| rates.of(kind).unwrap()), [0.04, 0.025, 0.03, 0.06, 0.07, 0.035]);
        assert!(Kind::ALL.into_iter().all(|kind| FIRST.contains(&kind) == rates.of(kind).is_some()));
        let written = serde_json::to_string(&rates).unwrap();
        assert_eq!(
            written,
            "{\"repeated_failure\":0.04,\"futility\":0.025,\"invisibility\":0.03,\"identity_violation\":0.06,\
             \"existential_threat\":0.07,\"purposelessness\":0.035}"
        );
        assert_eq!(read(&written), rates);
        for wrong in ["[0.04]", "[1,1,1,1,1,1,1]", "{\"futility\":null}", "0.04"] {
            assert!(serde_json::from_str::<Rates>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rate_that_is_missing_stays_so_and_one_of_a_newer_kind_is_kept() {
        let fewer = read("{\"futility\":0.5}");
        assert_eq!((fewer.of(Kind::Futility), fewer.of(Kind::Invisibility), fewer.newer()), (Some(0.5), None, None));
        assert_eq!(serde_json::to_string(&fewer).unwrap(), "{\"futility\":0.5}");
        let more = read("{\"futility\":0.5,\"grief\":0.1}");
        assert_eq!((more.of(Kind::Futility), more.newer()), (Some(0.5), Some("grief")));
        assert_eq!(serde_json::to_string(&more).unwrap(), "{\"futility\":0.5,\"grief\":0.1}");
    }
}
