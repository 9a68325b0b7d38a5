//! Names that stand twice in one object, however deep: servers differ in which of the two values they use.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A value that has been looked through, and in which no name stands twice.
pub(super) struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Once, D::Error> {
        deserializer.deserialize_any(PreviousLook)
    }
}

struct PreviousLook;

impl<'de> Visitor<'de> for PreviousLook {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    /// Refuses a number too large to be read as an integer, which may stand there in hundreds of digits.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Once, E> {
        if number.abs() >= 1.8e19 {
            return Err(E::custom("a number is too large"));
        }
        Ok(Once)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_unit<E: Error>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Once, A::Error> {
        while all.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if names.contains(&name) {
                map.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom(format!("{name:?} stands there twice")));
            }
            names.insert(name);
            map.next_value::<Once>()?;
        }
        Ok(Once)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_stands_twice_is_found_however_deep() {
        let look = |text: &str| serde_json::from_str::<Once>(text).map(|_| ()).map_err(|why| why.to_string());
        assert_eq!(look(r#"{"a":[{"b":1,"c":null},{"b":-2.5}],"b":"x","c":true}"#), Ok(()));
        for text in [r#"{"a":1,"a":2}"#, r#"[{"x":{"type":"text","typ\u0065":"image"}}]"#] {
            assert!(look(text).unwrap_err().contains("twice"), "{text}");
        }
        assert!(look(&format!("[1{}]", "0".repeat(300))).unwrap_err().contains("too large"));
    }
}
