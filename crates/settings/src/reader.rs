//! Reads one file: every line of it becomes a known key with a good value, or a problem with its line.

use std::collections::BTreeMap;

use toml_edit::{Array, Document, Item, Key as TomlKey, TableLike, Value as Toml};

use super::keys::{Form, SettingKey};
use super::kind::{SettingKind, Value};
use super::problem::{File, Problem, quoted};
use super::spelling::{self, Meant};

/// The values a file sets: for each path its value and the line it stands on.
pub(super) type FoundValues = BTreeMap<&'static str, (Value, usize)>;

/// Far more than any configuration needs; a journal given by mistake is not read to its end.
pub(super) const LARGEST: u64 = 1 << 20;

/// Reads a file's text, with remarks on values of the documents that mean something else here; `name` is what messages
/// call the file.
pub(super) fn read(file: File, name: &str, text: &str) -> Result<(FoundValues, Vec<Problem>), Vec<Problem>> {
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
    let mut reader = Reader { file, name, lines, found: FoundValues::new(), remarks: Vec::new(), problems: Vec::new() };
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
    remarks: Vec<(usize, String)>,
    problems: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn walk(&mut self, section: &str, table: &dyn TableLike, above: usize) {
        for (word, item) in table.iter() {
            let line = self.line_of(table.get_key_value(word).map(|(key, _)| key), above);
            let written = join(section, word);
            let path = join(section, &spelling::snake(word));
            match spelling::meant(&path) {
                // The documents have a key where we have a section.
                Meant::Key { .. } if item.is_table_like() && spelling::is_section(&path) => {
                    self.section(&path, item, line);
                }
                Meant::Key { key, form } => self.key(key, form, &written, item, line),
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

    fn key(&mut self, key: &'static SettingKey, form: Form, written: &str, item: &Item, line: usize) {
        let written = quoted(written);
        if key.file != self.file {
            let later = if key.kind == SettingKind::NotYet { ", and is not available yet in this version" } else { "" };
            self.problem(line, format!("'{written}' belongs in {}{later}", key.file));
        } else if key.kind == SettingKind::NotYet {
            self.problem(line, not_yet(&written));
        } else if let SettingKind::Fixed(only) = key.kind {
            if item.as_value().and_then(|value| key.kind.read_toml(value)).is_none() {
                self.problem(line, fixed(&written, only));
            }
        } else if let Some((_, before)) = self.found.get(key.path) {
            let message = format!("'{}' is already set in line {before}; keep one of the two", key.path);
            self.problem(line, message);
        } else {
            match read_value(key, form, item) {
                Some((value, remark)) => {
                    self.found.insert(key.path, (value, line));
                    self.remarks.extend(remark.map(|remark| (line, format!("'{written}': {remark}"))));
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

    fn finish(mut self) -> Result<(FoundValues, Vec<Problem>), Vec<Problem>> {
        let name = self.name;
        let placed = |told: Vec<(usize, String)>| {
            let place = |(line, message): (usize, String)| Problem::new(format!("{name}:{line}"), message);
            told.into_iter().map(place).collect::<Vec<Problem>>()
        };
        if self.problems.is_empty() {
            return Ok((self.found, placed(self.remarks)));
        }
        self.problems.sort_by_key(|(line, _)| *line);
        Err(placed(self.problems))
    }
}

/// The value that an item means, and what to say if it means something else than the documents have it mean.
fn read_value(key: &SettingKey, form: Form, item: &Item) -> Option<(Value, Option<String>)> {
    let value = match (form, item.as_value()?) {
        (Form::Unit(unit), Toml::Integer(n)) => key.kind.read(&format!("{}{unit}", n.value())),
        (Form::Moves, Toml::Array(moves)) => return read_moves(key, moves),
        (_, value) => match value.as_str().and_then(|text| spelling::other_value(key, text)) {
            Some(other) => return Some((key.kind.read(other.means)?, Some(other.remark.to_owned()))),
            None => key.kind.read_toml(value),
        },
    };
    value.map(|value| (value, None))
}

/// The smallest of the documents' moves, each `{ asset, changePercent, window }`; an empty list is no move at all.
fn read_moves(key: &SettingKey, moves: &Array) -> Option<(Value, Option<String>)> {
    let mut least: Option<f64> = None;
    for one in moves.iter() {
        let mut percent = None;
        for (word, value) in one.as_inline_table()?.iter() {
            match spelling::snake(word).as_str() {
                "asset" | "window" => {}
                "change_percent" => percent = value.as_float().or(value.as_integer().map(|n| n as f64)),
                _ => return None,
            }
        }
        let percent = percent.filter(|percent| *percent > 0.0)?;
        least = Some(least.map_or(percent, |least| least.min(percent)));
    }
    let value = key.kind.read(&(least.unwrap_or(0.0) / 100.0).to_string())?;
    let remark = |percent: f64| {
        format!(
            "asset and window are not read; a night ends once a unit of its world is worth {percent} % more or less \
             than when it fell asleep ({})",
            key.path
        )
    };
    Some((value, least.map(remark)))
}

pub(super) fn not_yet(path: &str) -> String {
    format!("'{path}' is not available yet in this version")
}

pub(super) fn fixed(path: &str, only: &str) -> String {
    format!("'{path}' is {only} in this version and cannot be set otherwise; leave it out")
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
