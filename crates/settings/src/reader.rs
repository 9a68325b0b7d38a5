//! Reads one file: every line of it becomes a known key with a good value, or a problem with its line.

use std::collections::BTreeMap;

use toml_edit::{Document, Item, Key as TomlKey, TableLike, Value as Toml};

use super::keys::SettingKey;
use super::kind::Value;
use super::problem::{File, Problem, quoted};
use super::spelling::{self, Meant};

/// The values a file sets: for each path its value and the line it stands on.
pub(super) type FoundValues = BTreeMap<&'static str, (Value, usize)>;

/// Far more than any configuration needs; a journal given by mistake is not read to its end.
pub(super) const LARGEST: u64 = 1 << 20;

/// Reads a file's text; `name` is what messages call the file.
pub(super) fn read(file: File, name: &str, text: &str) -> Result<FoundValues, Vec<Problem>> {
    if text.len() as u64 > LARGEST {
        return Err(vec![Problem::new(name, "is larger than a megabyte, which no configuration is")]);
    }
    let lines = Lines::of(text);
    let document = Document::parse(text).map_err(|error| {
        let (line, column) = lines.at(error.span().map_or(text.len(), |span| span.start));
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        let message = twice(text, line).filter(|_| message == "duplicate key").unwrap_or(message);
        vec![Problem::new(format!("{name}:{line}:{column}"), message)]
    })?;
    let mut reader = Reader { file, name, lines, found: FoundValues::new(), problems: Vec::new() };
    reader.walk("", document.as_table(), 1);
    reader.finish()
}

/// Advice for a section or a key that is already there, if it is clear where.
fn twice(text: &str, line: usize) -> Option<String> {
    let bare = |written: &str| {
        written.split('.').map(|word| word.trim().trim_matches(['"', '\''])).collect::<Vec<_>>().join(".")
    };
    let mut section = String::new();
    let mut places = Vec::new();
    for (at, written) in text.lines().enumerate().take(line) {
        let written = written.trim();
        if let Some(head) = written.strip_prefix('[') {
            section = bare(head.split(']').next().unwrap_or_default());
            places.push((at + 1, section.clone(), true));
        } else if let Some((key, _)) = written.split_once('=').filter(|_| !written.starts_with('#')) {
            places.push((at + 1, join(&section, &bare(key)), false));
        }
    }
    let (at, path, is_head) = places.pop().filter(|(at, ..)| *at == line)?;
    let within = format!("{path}.");
    let (first, ..) = places.into_iter().find(|(_, other, _)| *other == path || other.starts_with(&within))?;
    Some(match is_head {
        true => {
            format!("[{path}] is in line {first} already; put the keys below line {at} there, and take this line out")
        }
        false => format!("'{path}' is set in line {first} already; keep one of the two"),
    })
}

struct Reader<'a> {
    file: File,
    name: &'a str,
    lines: Lines,
    found: FoundValues,
    problems: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn walk(&mut self, section: &str, table: &dyn TableLike, above: usize) {
        for (word, item) in table.iter() {
            let line = self.line_of(table.get_key_value(word).map(|(key, _)| key), above);
            let written = join(section, word);
            let path = join(section, &spelling::snake(word));
            match spelling::meant(&path) {
                Meant::Key { key, unit } => self.key(key, unit, &written, item, line),
                Meant::Section => self.section(&path, item, line),
                Meant::Nothing => {
                    let (what, hint) = match item.as_table_like() {
                        Some(_) => ("section", spelling::section_hint(&path)),
                        None => ("key", spelling::hint(&path, self.file)),
                    };
                    self.problem(line, format!("unknown {what} '{}'{hint}", quoted(&written)));
                }
            }
        }
    }

    fn section(&mut self, path: &str, item: &Item, line: usize) {
        match item.as_table_like() {
            Some(table) => self.walk(path, table, line),
            None if spelling::is_not_yet(path) => self.problem(line, not_yet(path)),
            None => {
                let found = describe(item);
                let message = format!("'{path}' is a section, not {found}; write [{path}] and its keys below");
                self.problem(line, message);
            }
        }
    }

    fn key(&mut self, key: &'static SettingKey, unit: &str, written: &str, item: &Item, line: usize) {
        let written = quoted(written);
        if key.file != self.file {
            let later = if key.is_available() { "" } else { ", and is not available yet in this version" };
            self.problem(line, format!("'{written}' belongs in {}{later}", key.file));
        } else if !key.is_available() {
            self.problem(line, not_yet(&written));
        } else if let Some((_, before)) = self.found.get(key.path) {
            let message = format!("'{}' is already set in line {before}; keep one of the two", key.path);
            self.problem(line, message);
        } else {
            match read_value(key, unit, item) {
                Some(value) => {
                    self.found.insert(key.path, (value, line));
                }
                None => {
                    let message = wrong(key, &describe(item), key.default_value().to_toml());
                    self.problem(line, message);
                }
            }
        }
    }

    fn line_of(&self, key: Option<&TomlKey>, above: usize) -> usize {
        let span = key.and_then(TomlKey::span);
        span.map_or(above, |span| self.lines.at(span.start).0)
    }

    fn problem(&mut self, line: usize, message: String) {
        self.problems.push((line, message));
    }

    fn finish(mut self) -> Result<FoundValues, Vec<Problem>> {
        if self.problems.is_empty() {
            return Ok(self.found);
        }
        self.problems.sort_by_key(|(line, _)| *line);
        let name = self.name;
        Err(self.problems.into_iter().map(|(line, message)| Problem::new(format!("{name}:{line}"), message)).collect())
    }
}

fn read_value(key: &SettingKey, unit: &str, item: &Item) -> Option<Value> {
    match item.as_value()? {
        Toml::Integer(n) if !unit.is_empty() => key.kind.read(&format!("{}{unit}", n.value())),
        value => key.kind.read_toml(value),
    }
}

pub(super) fn not_yet(path: &str) -> String {
    format!("'{path}' is not available yet in this version")
}

/// A message with the value found, the expected form, and an example.
pub(super) fn wrong(key: &SettingKey, found: &str, example: String) -> String {
    let example = if example == "\"\"" || example.is_empty() { String::new() } else { format!(", such as {example}") };
    format!("'{}' is {found}; expected {}{example}", key.path, key.kind.expected())
}

fn describe(item: &Item) -> String {
    match item {
        Item::Value(Toml::Array(_)) => "a list".to_owned(),
        Item::Value(Toml::InlineTable(_)) | Item::Table(_) => "a table".to_owned(),
        Item::ArrayOfTables(_) => "a list of tables".to_owned(),
        Item::Value(Toml::String(text)) => format!("\"{}\"", quoted(text.value())),
        Item::Value(value) => quoted(value.to_string().trim()),
        Item::None => "nothing".to_owned(),
    }
}

fn join(section: &str, word: &str) -> String {
    if section.is_empty() { word.to_owned() } else { format!("{section}.{word}") }
}

/// Where each line begins.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines(std::iter::once(0).chain(breaks).collect())
    }

    /// Line and column, both counted from one.
    fn at(&self, offset: usize) -> (usize, usize) {
        let line = self.0.partition_point(|start| *start <= offset);
        (line, offset - self.0[line - 1] + 1)
    }
}
