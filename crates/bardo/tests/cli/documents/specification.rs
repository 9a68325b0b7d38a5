//! The table of the specification: `docs/specification.toml` says of each mechanism of the four documents what became of it, and
//! `docs/specification.md` is made of it. Each row is held to its form here, its decisions and its witnesses to being there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use clap::{Command, CommandFactory};
use serde::Deserialize;

use super::{args, check_written, page};

const CHAPTERS: [&str; 5] = ["Mortality", "Agent", "Dreams", "Suffering", "Inheritance"];
const STATUSES: [Status; 4] = [Status::Whole, Status::Partly, Status::Otherwise, Status::Absent];

/// Rows are not lost unseen. One that is added or split raises this.
const ROWS: usize = 260;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    row: Vec<Row>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    number: usize,
    chapter: String,
    text: String,
    mechanism: String,
    status: Status,
    #[serde(default)]
    here: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    decisions: Vec<u32>,
    #[serde(default)]
    shown_by: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Whole,
    Partly,
    Otherwise,
    Absent,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::Whole => "whole",
            Status::Partly => "partly",
            Status::Otherwise => "otherwise",
            Status::Absent => "absent",
        }
    }
}

/// Names that a row may use: those of tests, of decisions by number, and of commands.
struct Known {
    tests: BTreeSet<String>,
    decisions: BTreeMap<u32, String>,
    program: Command,
}

impl Known {
    fn read() -> Known {
        Known { tests: tests(), decisions: decisions(), program: args::Args::command() }
    }

    fn has(&self, witness: &str) -> bool {
        match witness.strip_prefix("bardo ") {
            Some(words) => is_command(&self.program, words),
            None => self.tests.contains(witness),
        }
    }
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(page("docs/specification.toml")).unwrap();
    toml_edit::de::from_str::<Table>(&text).unwrap_or_else(|why| panic!("docs/specification.toml: {why}")).row
}

/// The names of all tests of all crates.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let sources = crate::common::files(&page("crates")).into_iter();
    for path in sources.filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let source = fs::read_to_string(&path).unwrap();
        let mut marked = false;
        for line in source.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                marked = true;
            } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| marked) {
                found.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
                marked = false;
            }
        }
    }
    found
}

/// The files of all decisions by their number.
fn decisions() -> BTreeMap<u32, String> {
    let names = fs::read_dir(page("docs/decisions")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter_map(|name| Some((name.split_once('-')?.0.parse().ok()?, name))).collect()
}

/// Whether these words behind `bardo` name a command, with flags that it has.
fn is_command(program: &Command, words: &str) -> bool {
    let (mut at, mut depth) = (program, 0);
    for word in words.split(' ') {
        if let Some(flag) = word.strip_prefix("--") {
            if !at.get_arguments().any(|arg| arg.get_long() == Some(flag)) {
                return false;
            }
        } else if let Some(inner) = at.find_subcommand(word) {
            (at, depth) = (inner, depth + 1);
        } else {
            return false;
        }
    }
    depth > 0
}

/// Reasons why a row cannot stand, in words.
fn faults(row: &Row, known: &Known) -> Vec<String> {
    let mut faults = Vec::new();
    let mut must = |holds: bool, why: &str| {
        if !holds {
            faults.push(why.to_owned());
        }
    };
    must(CHAPTERS.contains(&row.chapter.as_str()), "its chapter is not of the page");
    must(!row.text.is_empty() && !row.mechanism.is_empty(), "it has no place in the text, or no mechanism");
    must(row.here.is_empty() == (row.status == Status::Absent), "`here` is for all but what is absent");
    let reasons = matches!(row.status, Status::Partly | Status::Absent);
    must(row.why.is_empty() != reasons, "`why` is for what is partly there or absent");
    must(row.status != Status::Whole || !row.shown_by.is_empty(), "nothing shows that it is whole");
    must(row.status != Status::Absent || row.shown_by.is_empty(), "nothing can show what is absent");
    must(row.status != Status::Otherwise || !row.decisions.is_empty(), "no decision says why it is otherwise");
    for sentence in [&row.here, &row.why] {
        must(sentence.is_empty() || sentence.ends_with('.'), "a sentence has no end");
    }
    for decision in &row.decisions {
        must(known.decisions.contains_key(decision), &format!("there is no decision {decision}"));
    }
    for witness in &row.shown_by {
        must(known.has(witness), &format!("nothing is called {witness}"));
    }
    faults
}

fn counts(rows: &[Row]) -> String {
    let mut table = String::from(
        "| chapter | mechanisms | whole | partly | otherwise | absent |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut line = |name: &str, rows: &[&Row]| {
        let of = |status: Status| rows.iter().filter(|row| row.status == status).count().to_string();
        let _ = writeln!(table, "| {name} | {} | {} |", rows.len(), STATUSES.map(of).join(" | "));
    };
    for chapter in CHAPTERS {
        line(chapter, &rows.iter().filter(|row| row.chapter == chapter).collect::<Vec<_>>());
    }
    line("**all**", &rows.iter().collect::<Vec<_>>());
    table
}

fn table(rows: &[Row], known: &Known) -> String {
    let mut page = String::new();
    for chapter in CHAPTERS {
        let _ = write!(
            page,
            "\n### {chapter}\n\n| | mechanism | in the text | | here |\n| --- | --- | --- | --- | --- |\n"
        );
        for row in rows.iter().filter(|row| row.chapter == chapter) {
            let link = |number: &u32| {
                let file = known.decisions.get(number).unwrap_or_else(|| panic!("there is no decision {number}"));
                format!("[{number}](decisions/{file})")
            };
            let links: Vec<String> = row.decisions.iter().map(link).collect();
            let because = if links.is_empty() { String::new() } else { format!(" ({})", links.join(", ")) };
            let _ = writeln!(
                page,
                "| {} | {} | {} | {}{because} | {} |",
                row.number,
                cell(&row.mechanism),
                cell(&row.text),
                row.status.name(),
                cell(&said(row))
            );
        }
    }
    page
}

fn said(row: &Row) -> String {
    let why = match row.status {
        Status::Partly => format!("Missing: {}", row.why),
        _ => row.why.clone(),
    };
    let witnesses: Vec<String> = row.shown_by.iter().map(|witness| format!("`{witness}`")).collect();
    let shown = if witnesses.is_empty() { String::new() } else { format!("Shown by {}.", witnesses.join(", ")) };
    let parts = [row.here.clone(), why, shown];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_of_the_specification_is_what_its_file_says() {
    let (rows, known) = (rows(), Known::read());
    check_written("docs/specification.md", "counts of the specification", &counts(&rows));
    check_written("docs/specification.md", "table of the specification", &table(&rows, &known));
}

#[test]
fn every_mechanism_has_a_row_and_what_shows_it_is_there() {
    let (rows, known) = (rows(), Known::read());
    assert_eq!(rows.len(), ROWS, "rows of the specification");
    let mut mechanisms = BTreeSet::new();
    let mut wrong = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row.number, at + 1, "numbers of rows count on");
        assert!(mechanisms.insert(&row.mechanism), "{} stands twice", row.mechanism);
        wrong.extend(faults(row, &known).into_iter().map(|fault| format!("row {}: {fault}", row.number)));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let of = |status: Status| rows.iter().filter(|row| row.status == status).count();
    assert_eq!(STATUSES.map(of).iter().sum::<usize>(), ROWS, "each row has one status");
    let written = fs::read_to_string(page("docs/specification.md")).unwrap();
    let numbered = written.lines().filter(|line| {
        line.strip_prefix("| ").is_some_and(|rest| rest.split(' ').next().is_some_and(|n| n.parse::<usize>().is_ok()))
    });
    assert_eq!(numbered.count(), ROWS, "rows of the page");
    println!("counted: {} mechanisms, {:?} whole, partly, otherwise, absent", ROWS, STATUSES.map(of));
}

#[test]
fn a_row_that_claims_too_much_is_found() {
    let known = Known::read();
    let whole = rows().into_iter().find(|row| row.status == Status::Whole).unwrap();
    assert_eq!(faults(&whole, &known), Vec::<String>::new());
    let check = |change: &dyn Fn(&mut Row), expected: &str| {
        let mut row = whole.clone();
        change(&mut row);
        let found = faults(&row, &known);
        assert!(found.iter().any(|fault| fault.contains(expected)), "{expected}: {found:?}");
    };
    check(&|row| row.shown_by.clear(), "nothing shows that it is whole");
    check(&|row| row.shown_by = vec!["a_test_that_was_never_written".to_owned()], "nothing is called");
    check(&|row| row.shown_by = vec!["bardo golem imagine".to_owned()], "nothing is called");
    check(&|row| row.shown_by = vec!["bardo golem show --imagined".to_owned()], "nothing is called");
    check(&|row| row.shown_by = vec!["bardo".to_owned()], "nothing is called");
    check(&|row| row.decisions = vec![9_999], "there is no decision 9999");
    check(&|row| (row.status, row.decisions) = (Status::Otherwise, Vec::new()), "no decision says why");
    check(&|row| row.status = Status::Partly, "`why`");
    check(&|row| row.status = Status::Absent, "`here`");
    check(&|row| row.status = Status::Absent, "nothing can show what is absent");
    check(&|row| row.chapter = "Botany".to_owned(), "chapter");
    check(&|row| row.here = "It is done".to_owned(), "has no end");
}
