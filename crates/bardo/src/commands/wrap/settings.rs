//! Settings that an agent reads from a file before all others, where no variable says what it must be told.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A file of settings that a variable names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) variable: &'static str,
    /// Default place of that file.
    pub(super) usual: &'static str,
    /// Name of the file we write instead.
    pub(super) name: &'static str,
    /// Settings it must have.
    pub(super) text: &'static str,
}

impl Settings {
    /// A file that says what its owner's says, and ours before it: in their own cache, because agents distrust a folder that
    /// others can write to.
    pub(super) fn written(&self, own: impl Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
        let theirs = own(self.variable).unwrap_or_else(|| self.usual.to_owned());
        let said = Path::new(&theirs).exists().then(|| std::fs::read_to_string(&theirs)).transpose();
        let said = said.map_err(|why| format!("cannot read {theirs}: {why}"))?;
        let all = self.over(said.as_deref()).map_err(|why| format!("cannot read {theirs}: {why}"))?;
        cache_path(own, self.name, &all)
    }

    fn over(&self, own: Option<&str>) -> Result<String, serde_json::Error> {
        let mut all = own.map_or(Ok(json!({})), serde_json::from_str)?;
        merge(&mut all, &serde_json::from_str(self.text).expect("ours is JSON"));
        Ok(all.to_string())
    }
}

/// The folder of ours in a user's own cache.
pub(super) fn cache(own: impl Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
    let set = |name: &str| own(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|user| user.join(".cache")));
    Ok(cache.ok_or("there is no HOME")?.join("bardo"))
}

/// A file of that name in a user's own cache, with this in it.
pub(super) fn cache_path(own: impl Fn(&str) -> Option<String>, name: &str, text: &str) -> Result<PathBuf, String> {
    let folder = cache(own)?;
    let write = || {
        std::fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(folder.join(name))?;
        Ok(folder.join(name))
    };
    write().map_err(|why: std::io::Error| format!("cannot write to {}: {why}", folder.display()))
}

/// Merges `from` into `into`, field by field; `from` wins.
pub(super) fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => into.clone_from(from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_company_s_settings_stay_but_for_what_must_be_said() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let settings =
            Settings { variable: "OWN", usual: "/nowhere", name: "ours.json", text: r#"{"auth":{"by":"key"}}"# };
        let own = |theirs: Option<String>| {
            settings.written(|name| match name {
                "OWN" => theirs.clone(),
                "HOME" => Some(at("")),
                _ => None,
            })
        };
        let read = |path: PathBuf| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
        assert_eq!(read(own(None).unwrap()), json!({ "auth": { "by": "key" } }));
        std::fs::write(at("theirs"), r#"{"auth":{"by":"login","must":1},"a":2}"#).unwrap();
        let over = read(own(Some(at("theirs"))).unwrap());
        assert_eq!(over, json!({ "auth": { "by": "key", "must": 1 }, "a": 2 }));
        std::fs::write(at("theirs"), "// words").unwrap();
        assert!(own(Some(at("theirs"))).unwrap_err().contains("cannot read"));
    }
}
