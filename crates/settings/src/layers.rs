//! Settings: every available key of one file with its value and where that came from. Defaults lie at the
//! bottom, then the file, then the environment, then flags.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

use golem::{Span, Time, Usdc};

use super::keys::{Form, SettingKey, available};
use super::kind::{SettingKind, Value};
use super::problem::{ConfigError, File, Problem, quoted};
use super::reader::{self, LARGEST};
use super::spelling::{self, Meant};

const PREFIX: &str = "BARDO__";

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    file: File,
    entries: Vec<LayerEntry>,
    /// Values of the documents in its file that mean something else here.
    remarks: Vec<Problem>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LayerEntry {
    pub(super) key: &'static SettingKey,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// Not set, so it follows another key.
    Follows(&'static str),
    File {
        name: String,
        line: usize,
    },
    /// The variable.
    Environment(String),
    /// The flag as it was given.
    Flag(String),
}

/// Checks a whole file as `config check` does: every line of it, then what the lines make together.
pub fn check_text(file: File, name: &str, text: &str) -> Result<Settings, ConfigError> {
    let settings = Settings::read(file, Some((name, text)), [], &[])?;
    if file == File::Golem {
        settings.constitution()?;
    }
    Ok(settings)
}

impl Settings {
    /// Reads the settings. Without a path there is no file, which is fine; a path that cannot be read is an error.
    /// Variables of the other file are left to it.
    pub fn load(
        file: File,
        path: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: &[String],
    ) -> Result<Settings, ConfigError> {
        let Some(path) = path else {
            return Settings::read(file, None, environment, flags);
        };
        let name = path.display().to_string();
        let text = read_text(path, &name)?;
        Settings::read(file, Some((&name, &text)), environment, flags)
    }

    /// Reads settings from a text at hand; `name` is what messages call it.
    pub fn read(
        file: File,
        text: Option<(&str, &str)>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: &[String],
    ) -> Result<Settings, ConfigError> {
        let mut settings = Settings::defaults(file);
        let mut problems = Vec::new();
        if let Some((name, text)) = text {
            match reader::read(file, name, text) {
                Ok((found, remarks)) => {
                    settings.remarks = remarks;
                    for (path, (value, line)) in found {
                        settings.set(path, value, Origin::File { name: name.to_owned(), line });
                    }
                }
                Err(wrong) => problems.extend(wrong),
            }
        }
        problems.extend(settings.take_environment(environment));
        problems.extend(settings.take_flags(flags));
        ConfigError::unless_empty(problems)?;
        settings.follow();
        Ok(settings)
    }

    pub fn defaults(file: File) -> Settings {
        let entry = |key: &'static SettingKey| LayerEntry { key, value: key.default_value(), origin: Origin::Default };
        Settings { file, entries: available(file).map(entry).collect(), remarks: Vec::new() }
    }

    fn take_environment(&mut self, environment: impl IntoIterator<Item = (String, String)>) -> Vec<Problem> {
        // Sorted, because the order of an environment means nothing and that of messages should not vary.
        let variables: BTreeMap<String, String> = environment.into_iter().collect();
        let mut problems = Vec::new();
        for (variable, text) in variables {
            let Some(path) = path_of(&variable) else {
                continue;
            };
            let place = || format!("environment variable {}", quoted(&variable));
            match self.read_word(&path, &text) {
                Ok((key, value)) => match self.origin(key.path) {
                    Origin::Environment(before) => {
                        let message = format!("sets '{}' as {before} does; unset one of the two", key.path);
                        problems.push(Problem::new(place(), message));
                    }
                    _ => self.set(key.path, value, Origin::Environment(variable.clone())),
                },
                Err(Refused::OtherFile(_) | Refused::Stands) => {}
                Err(Refused::Wrong(message)) => problems.push(Problem::new(place(), message)),
            }
        }
        problems
    }

    fn take_flags(&mut self, flags: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for flag in flags {
            let place = format!("flag {}", quoted(flag));
            let Some((path, text)) = flag.split_once('=') else {
                problems.push(Problem::new(place, "expected key=value, such as world.seed=7"));
                continue;
            };
            let words: Vec<String> = path.trim().split('.').map(spelling::snake).collect();
            match self.read_word(&words.join("."), text) {
                Ok((key, value)) => self.set(key.path, value, Origin::Flag(flag.clone())),
                Err(Refused::Stands) => {}
                Err(Refused::OtherFile(other)) => {
                    problems.push(Problem::new(place, format!("'{}' belongs in {other}", quoted(path))));
                }
                Err(Refused::Wrong(message)) => problems.push(Problem::new(place, message)),
            }
        }
        problems
    }

    /// Reads the text of a variable or a flag by the kind of its key.
    fn read_word(&self, path: &str, text: &str) -> Result<(&'static SettingKey, Value), Refused> {
        match spelling::meant(path) {
            Meant::Key { key, .. } if key.file != self.file => Err(Refused::OtherFile(key.file)),
            Meant::Key { key, .. } if key.kind == SettingKind::NotYet => Err(Refused::Wrong(reader::not_yet(path))),
            Meant::Key { key, form } => {
                let bare = text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
                let value = match form {
                    Form::Unit(unit) if bare => format!("{text}{unit}"),
                    _ => text.to_owned(),
                };
                match (key.kind, key.kind.read(&value)) {
                    (SettingKind::Fixed(_), Some(_)) => Err(Refused::Stands),
                    (SettingKind::Fixed(only), None) => Err(Refused::Wrong(reader::fixed(path, only))),
                    (_, Some(value)) => Ok((key, value)),
                    (_, None) => {
                        let found = format!("\"{}\"", quoted(text));
                        Err(Refused::Wrong(reader::wrong(key, &found, key.default_value().plain())))
                    }
                }
            }
            Meant::Section if spelling::is_not_yet(path) => Err(Refused::Wrong(reader::not_yet(path))),
            Meant::Section => Err(Refused::Wrong(format!("'{path}' is a section{}", spelling::hint(path, self.file)))),
            Meant::Nothing => {
                Err(Refused::Wrong(format!("unknown key '{}'{}", quoted(path), spelling::hint(path, self.file))))
            }
        }
    }

    /// Has a golem look once a bar, unless told otherwise.
    fn follow(&mut self) {
        if self.file == File::Golem && *self.origin("heartbeat.interval") == Origin::Default {
            let bar = self.span("world.bar");
            if bar != self.span("heartbeat.interval") {
                self.set("heartbeat.interval", Value::Span(bar), Origin::Follows("world.bar"));
            }
        }
    }

    fn set(&mut self, path: &'static str, value: Value, origin: Origin) {
        let entry = self.entries.iter_mut().find(|entry| entry.key.path == path);
        let entry = entry.unwrap_or_else(|| panic!("'{path}' is not a key of {}", self.file));
        (entry.value, entry.origin) = (value, origin);
    }

    /// Remarks on values of the documents in its file that mean something else here, each with its line.
    pub fn remarks(&self) -> &[Problem] {
        &self.remarks
    }

    pub(super) fn entries(&self) -> &[LayerEntry] {
        &self.entries
    }

    fn entry(&self, path: &str) -> &LayerEntry {
        let entry = self.entries.iter().find(|entry| entry.key.path == path);
        entry.unwrap_or_else(|| panic!("'{path}' is not an available key of {}", self.file))
    }
}

/// Values by type. Asking for a key that does not exist, or for a type it does not hold, is a bug and panics.
impl Settings {
    pub fn file(&self) -> File {
        self.file
    }

    pub fn value(&self, path: &str) -> &Value {
        &self.entry(path).value
    }

    pub fn origin(&self, path: &str) -> &Origin {
        &self.entry(path).origin
    }

    pub fn flag(&self, path: &str) -> bool {
        match self.value(path) {
            Value::Bool(yes) => *yes,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn integer(&self, path: &str) -> i64 {
        match self.value(path) {
            Value::Integer(n) => *n,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn number(&self, path: &str) -> f64 {
        match self.value(path) {
            Value::Number(n) => *n,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    /// In basis points.
    pub fn share(&self, path: &str) -> u32 {
        match self.value(path) {
            Value::Share(points) => *points,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn money(&self, path: &str) -> Usdc {
        match self.value(path) {
            Value::Money(amount) => *amount,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn span(&self, path: &str) -> Span {
        match self.value(path) {
            Value::Span(span) => *span,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    /// A choice or a name; nothing where the name is empty.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.value(path) {
            Value::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    /// The seed; none if it is to be drawn.
    pub fn seed(&self, path: &str) -> Option<u64> {
        match self.value(path) {
            Value::Seed(seed) => *seed,
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    /// A count; none if it is not set.
    pub fn perhaps_count(&self, path: &str) -> Option<u32> {
        self.perhaps_integer(path).map(|n| u32::try_from(n).expect("the table keeps counts small"))
    }

    pub fn perhaps_integer(&self, path: &str) -> Option<i64> {
        match self.value(path) {
            Value::Nothing => None,
            Value::Integer(n) => Some(*n),
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn perhaps_flag(&self, path: &str) -> Option<bool> {
        match self.value(path) {
            Value::Nothing => None,
            Value::Bool(yes) => Some(*yes),
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn perhaps_number(&self, path: &str) -> Option<f64> {
        match self.value(path) {
            Value::Nothing => None,
            Value::Number(n) => Some(*n),
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn perhaps_money(&self, path: &str) -> Option<Usdc> {
        match self.value(path) {
            Value::Nothing => None,
            Value::Money(amount) => Some(*amount),
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn perhaps_span(&self, path: &str) -> Option<Span> {
        match self.value(path) {
            Value::Nothing => None,
            Value::Span(span) => Some(*span),
            other => panic!("'{path}' holds {other:?}"),
        }
    }

    pub fn moment(&self, path: &str) -> Option<Time> {
        match self.value(path) {
            Value::Moment(at) => *at,
            other => panic!("'{path}' holds {other:?}"),
        }
    }
}

enum Refused {
    OtherFile(File),
    /// A value that stands so whether it is set or not.
    Stands,
    Wrong(String),
}

/// `BARDO__WORLD__SEED` is `world.seed`; other variables are none of our business.
fn path_of(variable: &str) -> Option<String> {
    let prefix = variable.get(..PREFIX.len())?;
    if !prefix.eq_ignore_ascii_case(PREFIX) {
        return None;
    }
    let words: Vec<String> = variable[PREFIX.len()..].split("__").map(spelling::snake).collect();
    Some(words.join("."))
}

fn read_text(path: &Path, name: &str) -> Result<String, ConfigError> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| ConfigError::one(name, format!("cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
        ConfigError::one(format!("{name}:{line}"), "is not UTF-8 text; save the file as UTF-8")
    })
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.pad("default"),
            Origin::Follows(path) => write!(f, "follows {path}"),
            Origin::File { name, line } => write!(f, "{name}:{line}"),
            Origin::Environment(variable) => write!(f, "environment {variable}"),
            Origin::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}
