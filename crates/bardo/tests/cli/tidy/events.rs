//! An event stands in few places, and the compiler asks for each of them: no table of events or messages has an arm for
//! the rest. Its gravity is its own, so a front end knows no names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{bare, without_tests};
use super::{files, root};

/// Names that a front end reads, and what for: the figures of a curve.
const DRAWN: [(&str, &str); 1] = [("bardo/src/tui/app.rs", "mortality.vitality_update")];

fn crates() -> PathBuf {
    root().join("crates")
}

fn place(path: &Path) -> String {
    path.strip_prefix(crates()).unwrap().to_string_lossy().into_owned()
}

/// The one source of this name.
fn only(name: &str) -> PathBuf {
    let mut found = files(&crates(), name);
    assert_eq!(found.len(), 1, "{name} is in one place: {found:?}");
    found.remove(0)
}

/// The names that messages have on the wire.
fn names() -> Vec<String> {
    let source = fs::read_to_string(crates().join("golem/src/wire/message.rs")).unwrap();
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix("#[serde(rename = \"")?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    source.lines().filter_map(name).collect()
}

/// Scripts of the page, and sources of the screens without their tests.
fn front_ends() -> Vec<PathBuf> {
    let pages = fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path().join("page"));
    let scripts =
        pages.filter(|page| page.is_dir()).flat_map(|page| [files(&page, ".js"), files(&page, ".css")].concat());
    let screens = crates().join("bardo/src/tui");
    let tests = screens.join("tests");
    let own =
        files(&screens, ".rs").into_iter().filter(|path| !path.starts_with(&tests) && !path.ends_with("tests.rs"));
    scripts.filter(|path| !path.to_string_lossy().contains("uPlot")).chain(own).collect()
}

#[test]
fn front_ends_set_an_event_apart_by_its_gravity_and_not_by_its_name() {
    let (names, front_ends) = (names(), front_ends());
    assert!(names.len() > 50 && names.iter().any(|name| name == "mortality.dead"), "{names:?}");
    assert!(front_ends.iter().any(|path| path.ends_with("told.js")), "{front_ends:?}");
    let mut known = Vec::new();
    for path in &front_ends {
        let source = fs::read_to_string(path).unwrap();
        let is_quoted =
            |name: &&String| ['"', '\'', '`'].iter().any(|quote| source.contains(&format!("{quote}{name}{quote}")));
        known.extend(names.iter().filter(is_quoted).map(|name| (place(path), name.clone())));
    }
    let drawn = DRAWN.map(|(file, name)| (file.to_owned(), name.to_owned()));
    assert_eq!(known, drawn, "colour and weight come with the event, as its gravity");
    for (ending, word) in [("told.js", "gravity"), ("look.rs", "Gravity::Grave"), ("style.css", ".events .grave ")] {
        let path = front_ends.iter().find(|path| path.ends_with(ending)).unwrap();
        assert!(fs::read_to_string(path).unwrap().contains(word), "{ending} has no {word}");
    }
}

/// A function without its comments and strings, from its name to the brace that closes it.
fn body(source: &str, function: &str) -> String {
    let source = bare(source);
    let at = source.find(&format!("fn {function}")).unwrap_or_else(|| panic!("no function {function}"));
    let line = source[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = source[line..at].chars().take_while(|c| *c == ' ').collect();
    let end = source[at..].find(&format!("\n{indent}}}\n")).unwrap_or_else(|| panic!("{function} has no end"));
    source[at..at + end].to_owned()
}

/// Whether a function's first match has an arm for the rest; its inner ones may.
fn has_catch_all(body: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(opens) = body.lines().find(|line| line.contains("match ")) else { return false };
    body.lines().any(|line| indent(line) == indent(opens) + 4 && line.trim_start().starts_with('_'))
}

#[test]
fn no_table_of_events_or_messages_has_an_arm_for_the_rest() {
    let chapters = files(&crates().join("life/src"), "event.rs").into_iter().filter_map(|path| {
        let apply = path.with_file_name("apply.rs");
        (!path.ends_with("src/event.rs")).then_some((apply, "apply("))
    });
    let tables = [
        (crates().join("life/src/apply.rs"), "apply("),
        (crates().join("golem/src/wire/message.rs"), "gravity("),
        (only("saying.rs"), "of(message"),
        (only("saying.rs"), "sentence("),
    ];
    let all: Vec<(PathBuf, &str)> = chapters.chain(tables).collect();
    assert!(all.len() > 20, "{all:?}");
    for (path, function) in all {
        let source = fs::read_to_string(&path).unwrap();
        assert!(
            !has_catch_all(&body(&source, function)),
            "{}: {function}…) passes over what it does not name",
            place(&path)
        );
    }
    let tell = bare(&fs::read_to_string(crates().join("golem/src/wire/tell.rs")).unwrap());
    assert!(!tell.contains("_ =>"), "an event without a message is named as well");
    let forgotten = "fn of(it: It) {\n    match it {\n        It::This => match 1 {\n            _ => {}\n        },\n";
    assert!(!has_catch_all(forgotten) && has_catch_all(&format!("{forgotten}        _ => {{}}\n    }}\n")));
}

/// The cost of another event: it happens, is applied, is told, has a name and a gravity, and has a topic and a sentence, in
/// five files, and the compiler asks for each; a sixth decides it, which is what it is added for.
#[test]
fn an_event_stands_in_five_files_and_in_the_decision_that_emits_it() {
    for (event, chapter, decision) in
        [("Harvested", "policy", "golem/src/policy/sending.rs"), ("Steered", "owner", "golem/src/owner/decide.rs")]
    {
        let names = |path: &PathBuf| {
            let source = fs::read_to_string(path).unwrap();
            if !source.contains(event) {
                return false;
            }
            let (source, _) = without_tests(&bare(&source));
            source.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == event)
        };
        let sources = fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path().join("src"));
        let sources = sources.filter(|src| src.is_dir()).flat_map(|src| files(&src, ".rs"));
        let found: BTreeSet<String> = sources.filter(names).map(|path| place(&path)).collect();
        let expected = [
            format!("life/src/{chapter}/event.rs"),
            format!("life/src/{chapter}/apply.rs"),
            "golem/src/wire/message.rs".to_owned(),
            "golem/src/wire/tell.rs".to_owned(),
            place(&only("saying.rs")),
            decision.to_owned(),
        ];
        assert_eq!(found, BTreeSet::from(expected), "{event}");
    }
}
