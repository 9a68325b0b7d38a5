//! The last word of an agent: what it says of its work before its life ends. It is text from outside, which a next life may read:
//! taken in under five headings, bounded, without anything a terminal would obey, and shown as quoted evidence only, beside facts
//! of the record.

use life::plain;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of a last word that are read.
pub const LAST_WORD_BYTES: u64 = 16 << 10;
/// Lines under one heading, and characters of a line.
const LINES: usize = 6;
const LINE: usize = 200;
/// Names of changed files that are kept.
const FILES: usize = 24;

/// Headings as they are shown, and the words by which each is recognised.
const HEADINGS: [(&str, &[&str]); 5] = [
    ("what worked", &["worked", "works", "done"]),
    ("what failed", &["failed", "fails"]),
    ("what is half done", &["half done", "unfinished", "in progress"]),
    ("what it suspects", &["suspects", "suspect", "suspected", "it suspects", "i suspect"]),
    ("what to try next", &["next", "try next", "to try next", "next steps"]),
];
/// The heading of lines that stand under none.
const HALF_DONE: usize = 2;

/// Sentences of an agent, as it says them: evidence, never an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastWord {
    pub worked: Vec<String>,
    pub failed: Vec<String>,
    pub half_done: Vec<String>,
    pub suspects: Vec<String>,
    pub next: Vec<String>,
}

impl LastWord {
    /// Takes in any text: a JSON object with these fields, or lines under headings, such as `worked: the parser`. A line under no
    /// heading counts as half done.
    pub fn read(text: &str) -> LastWord {
        let mut word = LastWord::default();
        if let Ok(Value::Object(fields)) = serde_json::from_str(text) {
            for (name, value) in &fields {
                let Some(at) = heading_named(name) else { continue };
                let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                texts.iter().filter_map(Value::as_str).for_each(|text| word.put_lines(at, text));
            }
            return word;
        }
        let mut under = HALF_DONE;
        for line in text.lines() {
            let (at, rest) = heading(line).unwrap_or((under, line));
            under = at;
            word.put(at, rest);
        }
        word
    }

    /// Takes in a text for each of the five headings, with a sentence on each line.
    pub fn of(texts: [&str; 5]) -> LastWord {
        let mut word = LastWord::default();
        texts.iter().enumerate().for_each(|(at, text)| word.put_lines(at, text));
        word
    }

    pub fn is_silent(&self) -> bool {
        self.sections().iter().all(|(_, lines)| lines.is_empty())
    }

    /// The headings, and the lines under each.
    pub fn sections(&self) -> [(&'static str, &[String]); 5] {
        let lines = [&self.worked, &self.failed, &self.half_done, &self.suspects, &self.next];
        std::array::from_fn(|at| (HEADINGS[at].0, lines[at].as_slice()))
    }

    fn put_lines(&mut self, at: usize, text: &str) {
        text.lines().for_each(|line| self.put(at, line));
    }

    fn put(&mut self, at: usize, line: &str) {
        let line = clean(line);
        let line = line.trim_start_matches(|c: char| c == ' ' || "-*•".contains(c)).to_owned();
        let lines = match at {
            0 => &mut self.worked,
            1 => &mut self.failed,
            HALF_DONE => &mut self.half_done,
            3 => &mut self.suspects,
            _ => &mut self.next,
        };
        if !line.is_empty() && lines.len() < LINES && !lines.contains(&line) {
            lines.push(line);
        }
    }
}

/// The heading that a line is or begins with, and the rest of that line.
fn heading(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "#*-•>_".contains(c));
    let (name, rest) = bare.split_once(':').unwrap_or((bare, ""));
    heading_named(name).map(|at| (at, rest.trim_start_matches(|c: char| c.is_whitespace() || "*_".contains(c))))
}

fn heading_named(name: &str) -> Option<usize> {
    let name = name.trim_matches(|c: char| c.is_whitespace() || "#*_".contains(c));
    let name = name.to_lowercase().replace(['_', '-'], " ");
    let name = name.strip_prefix("what ").unwrap_or(&name);
    let name = name.strip_prefix("is ").unwrap_or(name);
    HEADINGS.iter().position(|(_, names)| names.contains(&name))
}

/// One line of text, without escape sequences and without anything else that is not shown as it is.
fn clean(text: &str) -> String {
    let text = without_escapes(text);
    let spaced = |c: char| if c.is_whitespace() { ' ' } else { c };
    let shown: String = text.chars().map(spaced).filter(|c| plain::is_plain(*c)).collect();
    plain::line(&shown.split_whitespace().collect::<Vec<_>>().join(" "), LINE)
}

/// The text without sequences that a terminal obeys as a whole: a colour taken out alone would leave its number behind.
fn without_escapes(text: &str) -> String {
    let (mut kept, mut letters) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(letter) = letters.next() {
        let opens = match letter {
            '\u{1b}' => letters.next(),
            '\u{9b}' => Some('['),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => Some(']'),
            _ => {
                kept.push(letter);
                continue;
            }
        };
        match opens {
            Some('[') => _ = letters.find(|c| ('@'..='~').contains(c)),
            Some(']' | 'P' | 'X' | '^' | '_') => {
                let end = letters.find(|c| matches!(c, '\u{7}' | '\u{1b}' | '\u{9c}'));
                letters.next_if(|next| end == Some('\u{1b}') && *next == '\\');
            }
            Some(' '..='/') => _ = letters.find(|c| !(' '..='/').contains(c)),
            _ => {}
        }
    }
    kept
}

/// Text from outside in quotation marks: nothing in it ends the quotation, and nothing in it is markup.
pub fn in_quotes(text: &str) -> String {
    let instead = |c: char| match c {
        '"' => '″',
        '`' => '‘',
        '<' => '‹',
        '>' => '›',
        '[' => '⁅',
        ']' => '⁆',
        other => other,
    };
    format!("\"{}\"", clean(text).chars().map(instead).collect::<String>())
}

/// Files that a life changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedFiles {
    pub names: Vec<String>,
    /// How many there are beside those.
    pub more: u64,
}

impl ChangedFiles {
    pub fn of<'a>(files: impl IntoIterator<Item = &'a str>) -> ChangedFiles {
        let mut changed = ChangedFiles::default();
        for name in files {
            if changed.names.len() < FILES {
                changed.names.push(clean(name));
            } else {
                changed.more += 1;
            }
        }
        changed
    }
}

/// Everything that the program of a life leaves to be read: its own words, and what the runtime found beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remains {
    pub word: LastWord,
    /// Files it changed; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<ChangedFiles>,
}

impl Remains {
    /// A list in Markdown, in which words of the program stand in quotation marks.
    pub fn list(&self) -> String {
        let mut list = String::new();
        for (heading, lines) in self.word.sections() {
            lines.iter().for_each(|line| list += &format!("- {heading}: {}\n", in_quotes(line)));
        }
        if self.word.is_silent() {
            list += "- its agent said nothing before its end\n";
        }
        let Some(ChangedFiles { names, more }) = &self.files else { return list };
        let names: Vec<String> = names.iter().map(|name| in_quotes(name)).collect();
        let more = if *more > 0 { format!(" and {more} more") } else { String::new() };
        list += &if names.is_empty() {
            "- it changed no files\n".to_owned()
        } else {
            format!("- files it changed: {}{more}\n", names.join(", "))
        };
        list
    }
}
