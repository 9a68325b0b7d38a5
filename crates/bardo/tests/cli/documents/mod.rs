//! What the documentation shows is what happens: what is typed on a page is run (`pages`), and what stands between two marks on a
//! page is written by the program. `BARDO_WRITE_DOCS=1` writes all of it anew instead.

mod blocks;
mod pages;
mod reference;
mod specification;

// The parser belongs to a program, which tests cannot link to.
#[allow(dead_code)]
#[path = "../../../src/args/mod.rs"]
mod args;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use settings::File;

use crate::common::text;

fn page(name: &str) -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..").join(name)
}

/// Puts what the program says between the marks of this part of a page.
fn check_written(name: &str, part: &str, written: &str) {
    let document = fs::read_to_string(page(name)).unwrap();
    let (from, to) = (format!("<!-- written by the program: {part} -->\n"), format!("<!-- end of {part} -->"));
    let (before, rest) = document.split_once(&from).unwrap_or_else(|| panic!("{name} has no {from}"));
    let (_, after) = rest.split_once(&to).unwrap_or_else(|| panic!("{name} has no {to}"));
    compare(name, &document, &format!("{before}{from}\n{}\n\n{to}{after}", written.trim()));
}

fn compare(name: &str, document: &str, shown: &str) {
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        fs::write(page(name), shown).unwrap();
    } else if shown != document {
        let (expected, actual): (Vec<_>, Vec<_>) = (document.lines().collect(), shown.lines().collect());
        let first = expected.iter().zip(&actual).position(|(a, b)| a != b).unwrap_or(expected.len().min(actual.len()));
        let at = |lines: &[&str]| lines.get(first).map_or("(the end)".to_owned(), |line| (*line).to_owned());
        panic!(
            "{name}:{}\n  shows  {}\n  prints {}\nBARDO_WRITE_DOCS=1 writes it anew",
            first + 1,
            at(&expected),
            at(&actual)
        );
    }
}

/// A command line in a home of its own, with this program before all others and without keys or addresses of whom it is run by.
fn in_home(command: &str, home: &Path) -> Command {
    let mut path = vec![PathBuf::from(env!("CARGO_BIN_EXE_bardo")).parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(home).env("PATH", std::env::join_paths(path).unwrap()).env("HOME", home);
    shell.env("REPOSITORY", page("")).env_remove("BARDO_HOME").env_remove("XDG_DATA_HOME");
    let is_own = |name: &str| ["_API_KEY", "_AUTH_TOKEN", "_BASE_URL"].iter().any(|ending| name.ends_with(ending));
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_own(&name.to_string_lossy())) {
        shell.env_remove(name);
    }
    shell
}

fn run(command: &str, home: &Path) -> String {
    let output = in_home(command, home).output().unwrap();
    let printed = text(&output.stdout) + &text(&output.stderr);
    // What `doctor` says of the price book changes with the calendar, and no page does.
    let lasts = |line: &&str| line.split_whitespace().nth(1) != Some("prices");
    let printed: String = printed.split_inclusive('\n').filter(lasts).collect();
    printed.replace(home.to_str().unwrap(), "~")
}

#[test]
fn the_reference_of_commands_is_what_can_be_typed() {
    check_written("docs/cli.md", "commands", &reference::commands(args::Args::command()));
}

#[test]
fn the_reference_of_keys_is_what_can_be_set() {
    check_written("docs/configuration.md", "keys of bardo.toml", &reference::keys(File::Bardo));
    check_written("docs/configuration.md", "keys of golem.toml", &reference::keys(File::Golem));
    check_written("docs/configuration.md", "keys to come", &reference::keys_to_come());
    check_written("docs/configuration.md", "keys that stand fixed", &reference::keys_fixed());
}

/// A first page is read at one sitting: an agent stopped at its cap before any prose, and the rest is in the book.
#[test]
fn the_first_page_shows_a_cap_first_and_stays_short() {
    let readme = fs::read_to_string(page("README.md")).unwrap();
    let words = readme.split_whitespace().count();
    assert!(words <= 900, "README.md has grown to {words} words; the book has room");
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(['#', '<']);
    assert_eq!(readme.lines().find(is_prose), Some("```console"), "words stand before what is shown");
    let shown = readme.split("```").nth(1).unwrap();
    assert!(shown.contains("$ bardo wrap --credit") && shown.contains("is ended"), "{shown}");
}

#[test]
fn the_readme_of_the_core_shows_a_small_life() {
    // That it runs is a doc test of the core.
    let readme = fs::read_to_string(page("crates/golem/README.md")).unwrap();
    let program = readme.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```\n")).unwrap().0;
    assert!(program.lines().count() <= 60, "a small life has grown to {} lines", program.lines().count());
}

/// Every line of the results has a figure by its name, and every figure its seeds in the very code that makes it.
#[test]
fn every_figure_can_be_made_again() {
    let told = run("bardo --json lab reproduce", tempfile::tempdir().unwrap().path());
    let figures: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut table =
        String::from("| figure | made by | seeds | data beside the repository |\n| --- | --- | --- | --- |\n");
    for figure in &figures {
        let of = |key: &str| figure[key].as_str().unwrap_or_default().to_owned();
        let words: Vec<String> = of("command").split_whitespace().map(str::to_owned).collect();
        let after = |word: &str| words.iter().position(|other| other == word).map(|at| words[at + 1].clone());
        let folder = |package: String| page("crates").join(package.strip_prefix("bardo-").unwrap_or("bardo"));
        let sources: Vec<PathBuf> = match (after("--test"), after("-p"), after("--example")) {
            (Some(program), Some(package), _) => {
                let tests = folder(package).join("tests").join(program);
                let only = after("--").unwrap().replace("::", "");
                vec![tests.join(format!("{only}.rs")), tests.join(only).join("mod.rs")]
            }
            (_, Some(package), Some(example)) => {
                let examples = folder(package).join("examples");
                vec![examples.join(format!("{example}.rs")), examples.join(&example).join("main.rs")]
            }
            (_, Some(package), _) => vec![folder(package).join("src/lib.rs")],
            _ => vec![page(&words[3])],
        };
        let source = sources.iter().find_map(|file| fs::read_to_string(file).ok());
        let source = source.unwrap_or_else(|| panic!("nothing makes {}: {sources:?}", of("name")));
        let seeds: Vec<&str> = figure["seeds"].as_array().unwrap().iter().map(|seed| seed.as_str().unwrap()).collect();
        seeds.iter().for_each(|seed| assert!(source.contains(seed), "{} has no seed {seed}", of("name")));
        let seeds: Vec<String> = seeds.iter().map(|seed| seed.replace('_', "").replace("seed: ", "")).collect();
        let _ = writeln!(table, "| `{}` | `{}` | {} | {} |", of("name"), of("command"), seeds.join(", "), of("data"));
    }
    check_written("docs/lab.md", "figures", &table);
    let results = fs::read_to_string(page("docs/results.md")).unwrap();
    let known = |name: &str| figures.iter().any(|figure| figure["name"] == name);
    let rows = results.lines().filter(|line| line.starts_with("| ") && line.ends_with('|')).skip(2);
    for row in rows {
        let (_, name) =
            row.split_once("`bardo lab reproduce ").unwrap_or_else(|| panic!("nothing makes this again: {row}"));
        assert!(known(name.split('`').next().unwrap()), "{row}");
    }
}

#[test]
fn the_reference_of_messages_is_what_is_said() {
    check_written("docs/outside.md", "messages", &outside::page());
}

#[test]
fn the_reference_of_the_api_is_what_can_be_asked() {
    let description = fs::read_to_string(page("docs/openapi.json")).unwrap();
    check_written("docs/api.md", "endpoints", &reference::endpoints(&description));
}

#[test]
fn every_decision_can_be_found() {
    let folder = page("docs/decisions");
    let index = reference::decisions(&folder);
    check_written("docs/decisions/README.md", "decisions", &index);
    let summary = fs::read_to_string(page("docs/SUMMARY.md")).unwrap();
    for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()) {
        let file = file.to_string_lossy().into_owned();
        assert!(summary.contains(&format!("(decisions/{file})")), "docs/SUMMARY.md lacks decisions/{file}");
    }
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let pages = crate::common::files(&page("docs"))
        .into_iter()
        .chain(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(page));
    for from in pages.filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        if from.components().any(|part| part.as_os_str() == "book") {
            continue;
        }
        let text = fs::read_to_string(&from).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") || file.contains([' ', '\n']) {
                continue;
            }
            let to = if file.is_empty() { from.clone() } else { from.parent().unwrap().join(file) };
            let found = if to.is_dir() {
                String::new()
            } else {
                // A picture has no headings; it is enough that it is there.
                let bytes = fs::read(&to).unwrap_or_else(|e| panic!("{}: {target}: {e}", from.display()));
                String::from_utf8(bytes).unwrap_or_default()
            };
            let leads =
                heading.is_empty() || found.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            assert!(leads, "{}: nothing is called {target}", from.display());
        }
    }
}

/// What a heading is called in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    let kept = kept.filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn the_world_that_is_walked_through_is_the_one_that_ships() {
    let source = |file: &str| fs::read_to_string(page("crates/world/src").join(file)).unwrap();
    let (trait_, queue, paper) = (source("world.rs"), source("queue.rs"), source("paper.rs"));
    let state = queue.split_once("impl QueueState {").unwrap().1;
    for (part, source, opens) in [
        ("trait World", trait_.as_str(), "pub trait World"),
        ("Queue::manifest", &queue, "fn manifest"),
        ("QueueState::advance", state, "fn advance"),
        ("Queue::bar", &queue, "fn bar"),
        ("Queue::outcome", &queue, "fn outcome"),
        ("Paper::commit", &paper, "fn commit"),
    ] {
        check_written("docs/own-world.md", part, &reference::code(source, opens));
    }
}
