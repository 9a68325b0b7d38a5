//! The words of the house. Every message that a person could see stands in `messages.txt`, so that a change of one is read before
//! it is kept; `BARDO_WRITE_DOCS=1` writes the file. And habits of speech that are being given up are counted: each has a number
//! here, which only falls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::source::{bare, with_strings, without_tests};
use super::{files, root};

const ACCEPTED: &str = "crates/bardo/tests/cli/tidy/messages.txt";

/// Attributes whose texts are for people: those of errors and of the command line.
const SPEAKING: [&str; 6] = ["error", "arg", "command", "group", "value", "clap"];

/// Words that stand for a thing that has a name, or that a native speaker would not use.
const WORDS: [&str; 8] = ["whoever", "nobody", "anybody", "goes by", "is none", "as ever", "telephone", "anew"];
const MOST_WORDS: usize = 93;

/// First words of a comment that needs the one before it to be understood.
const OPENINGS: [&str; 13] = [
    "What",
    "Who",
    "Whoever",
    "Whose",
    "Those",
    "These",
    "They",
    "It",
    "Its",
    "Nobody",
    "Everybody",
    "Anybody",
    "Such",
];
const MOST_OPENINGS: usize = 37;

/// A name of a type stands in so many places at most, but for these.
const PLACES: usize = 3;
const EVERYWHERE: [&str; 2] = ["Error", "Event"];
const MOST_COMMON_NAMES: usize = 1;

/// Names of functions that say that something was done, and not what to which thing.
const PARTICIPLES: [&str; 32] = [
    "called",
    "spoken",
    "gone",
    "lost",
    "bound",
    "passed_on",
    "known_by",
    "told",
    "said",
    "heard",
    "seen",
    "kept",
    "asked",
    "shown",
    "sent",
    "taken",
    "left",
    "given",
    "made",
    "read_by",
    "found",
    "held",
    "met",
    "done",
    "known",
    "drawn",
    "chosen",
    "tried",
    "wanted",
    "owed",
    "ended",
    "written",
];
const MOST_PARTICIPLES: usize = 148;

/// A count may lie so far below its number before the number must follow.
const SLACK: usize = 10;

/// Counts by the place or the name they belong to.
type Counts = BTreeMap<String, usize>;

#[test]
fn every_message_was_read_before_it_was_kept() {
    let mut all = String::new();
    for (file, source) in without_test_files(sources()) {
        let messages = messages(&source);
        if !messages.is_empty() {
            writeln!(all, "## {file}\n{}\n", messages.join("\n")).unwrap();
        }
    }
    let path = root().join(ACCEPTED);
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        fs::write(&path, &all).unwrap();
        return;
    }
    let accepted = fs::read_to_string(&path).unwrap_or_default();
    if accepted != all {
        let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (accepted.lines().collect(), all.lines().collect());
        let gone = accepted.lines().filter(|line| !new.contains(line)).map(|line| format!("\n- {line}"));
        let come = all.lines().filter(|line| !old.contains(line)).map(|line| format!("\n+ {line}"));
        let changed: String = gone.chain(come).collect();
        panic!("{ACCEPTED} has other messages; read these, and if they are right, BARDO_WRITE_DOCS=1{changed}");
    }
}

#[test]
fn words_that_hide_a_thing_only_become_fewer() {
    let mut counts = Counts::new();
    let texts = [".rs", ".md", ".js", ".html", ".css", ".toml", ".txt", ".proto"];
    let folders = source_folders().into_iter().chain([root().join("docs")]);
    let written = folders.flat_map(|folder| files(&folder, "")).chain([root().join("README.md")]);
    for path in written.filter(|path| texts.iter().any(|ending| path.to_string_lossy().ends_with(ending))) {
        let text = fs::read_to_string(&path).unwrap();
        note(&mut counts, &place(&path), listed_words(&text));
    }
    check_ratchet("words that stand for a thing with a name", &counts, MOST_WORDS);
}

#[test]
fn comments_that_need_the_one_before_them_only_become_fewer() {
    let mut counts = Counts::new();
    for (file, source) in sources() {
        note(&mut counts, &file, opens_with_a_pronoun(&source));
    }
    check_ratchet("doc comments that open with a pronoun", &counts, MOST_OPENINGS);
}

#[test]
fn names_of_types_that_stand_everywhere_only_become_fewer() {
    let mut counts = Counts::new();
    for name in sources().values().flat_map(|source| type_names(source)) {
        note(&mut counts, &name, 1);
    }
    counts.retain(|name, places| *places > PLACES && !EVERYWHERE.contains(&name.as_str()));
    // Names are counted here, not their places.
    check_count("names of types in more than three places", counts.len(), &counts, MOST_COMMON_NAMES);
}

#[test]
fn functions_named_by_a_participle_only_become_fewer() {
    let mut counts = Counts::new();
    for (file, source) in without_test_files(sources()) {
        note(&mut counts, &file, participles(&source));
    }
    check_ratchet("functions named by a participle without its object", &counts, MOST_PARTICIPLES);
}

fn check_ratchet(what: &str, counts: &Counts, number: usize) {
    check_count(what, counts.values().sum(), counts, number);
}

fn check_count(what: &str, count: usize, counts: &Counts, number: usize) {
    let places: String = counts.iter().map(|(place, count)| format!("\n{count:4} {place}")).collect();
    assert!(count <= number, "{what}: {count}, where at most {number} may stand:{places}");
    assert!(count + SLACK >= number, "{what}: only {count} are left; lower the number to {count}");
}

fn note(counts: &mut Counts, place: &str, more: usize) {
    if more > 0 {
        *counts.entry(place.to_owned()).or_default() += more;
    }
}

fn place(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

fn source_folders() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    crates.map(|entry| entry.unwrap().path().join("src")).filter(|src| src.is_dir()).collect()
}

/// All sources by their path from the root.
fn sources() -> BTreeMap<String, String> {
    let paths = source_folders().into_iter().flat_map(|src| files(&src, ".rs"));
    paths.map(|path| (place(&path), fs::read_to_string(&path).unwrap())).collect()
}

fn without_test_files(mut sources: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut for_tests = Vec::new();
    for (file, source) in &sources {
        let folder = match file.rsplit_once('/') {
            Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
            _ => file.trim_end_matches(".rs"),
        };
        let (_, modules) = without_tests(&bare(source));
        for_tests.extend(modules.into_iter().map(|module| format!("{folder}/{module}")));
    }
    sources.retain(|file, _| {
        let mut behind = for_tests.iter().filter_map(|test| file.strip_prefix(test.as_str()));
        !behind.any(|rest| rest == ".rs" || rest.starts_with('/'))
    });
    sources
}

/// The messages of a source, in its order: strings of three words or more, outside tests and attributes for programs.
fn messages(source: &str) -> Vec<String> {
    let (marked, strings) = with_strings(source);
    let (marked, _) = without_tests(&marked);
    let marked: Vec<char> = marked.chars().collect();
    let silent = silent_attributes(&marked);
    let is_spoken = |at: usize| marked[at] == '"' && !silent.iter().any(|range| range.contains(&at));
    let spoken = strings.into_iter().filter(|(at, text)| is_spoken(*at) && is_message(text));
    spoken.map(|(_, text)| text).collect()
}

/// Whether a text has three words, two of which begin with a letter.
fn is_message(text: &str) -> bool {
    let text = text.replace("\\n", " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word =
        |word: &&&str| word.trim_start_matches(['`', '\'', '"', '(', '“', '„']).starts_with(char::is_alphabetic);
    words.len() >= 3 && words.iter().filter(is_word).count() >= 2
}

/// Where attributes stand whose texts are for programs, in letters.
fn silent_attributes(marked: &[char]) -> Vec<Range<usize>> {
    let attribute = |at: usize| {
        let open = match &marked[at..] {
            ['#', '[', ..] => at + 1,
            ['#', '!', '[', ..] => at + 2,
            _ => return None,
        };
        let rest = &marked[open + 1..];
        let name: String = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
        (!SPEAKING.contains(&name.as_str())).then(|| at..open + bracketed(&marked[open..]))
    };
    (0..marked.len()).filter_map(attribute).collect()
}

/// Letters up to the bracket that closes the one this text begins with.
fn bracketed(text: &[char]) -> usize {
    let mut depth = 0;
    let closes = |c: &char| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        depth == 0
    };
    text.iter().position(closes).unwrap_or(text.len())
}

fn listed_words(text: &str) -> usize {
    let text = text.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |word: &str| {
        let stands = |at: usize| {
            let (before, after) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        };
        text.match_indices(word).filter(|(at, _)| stands(*at)).count()
    };
    WORDS.iter().map(|word| whole(word)).sum()
}

fn opens_with_a_pronoun(source: &str) -> usize {
    let (mut count, mut inside) = (0, false);
    for line in source.lines() {
        let comment = line.trim_start().strip_prefix("///");
        if let Some(text) = comment.filter(|_| !inside).and_then(|text| text.strip_prefix(' ')) {
            let first = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            let points_back = ["The one", "The same"].iter().any(|opening| {
                let rest = text.strip_prefix(opening);
                rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            });
            count += usize::from(points_back || OPENINGS.contains(&first));
        }
        inside = comment.is_some();
    }
    count
}

/// The types a source defines, associated ones left out.
fn type_names(source: &str) -> Vec<String> {
    let name = |line: &str| {
        let item = line.trim_start();
        let narrow = item.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map(|(_, rest)| rest);
        let public = item.strip_prefix("pub ").or(narrow);
        let (kind, rest) = public.unwrap_or(item).split_once(' ')?;
        let is_type = match kind {
            "struct" | "enum" | "trait" => true,
            "type" => !line.starts_with("    "),
            _ => false,
        };
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        Some(name).filter(|name| is_type && name.starts_with(char::is_uppercase))
    };
    source.lines().filter_map(name).collect()
}

fn participles(source: &str) -> usize {
    let (source, _) = without_tests(&bare(source));
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let names = source.split("fn ").skip(1).filter_map(|rest| rest.split(|c: char| !is_name(c)).next());
    names.filter(|name| PARTICIPLES.contains(name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_joined_over_its_lines_and_texts_for_programs_are_left_out() {
        let source = r##"
            /// A comment of "three quoted words".
            #[error("{0} cannot be read; name another")]
            struct Bad;
            #[schema(description = "not for people to see")]
            #[arg(long, help = "one for them to read")]
            struct Args;
            fn say() {
                line("it went on \
                      over two lines");
                line("two words");
                line(r#"a "raw" text with
                    two lines"#);
                line("a \"quoted\" word in it", '"', "so \\ and so");
            }
            #[cfg(test)]
            mod tests { fn say() { line("nothing that anyone sees"); } }
        "##;
        let expected = [
            "{0} cannot be read; name another",
            "one for them to read",
            "it went on over two lines",
            "a \"raw\" text with\\n                    two lines",
            "a \"quoted\" word in it",
            "so \\\\ and so",
        ];
        assert_eq!(messages(source), expected);
    }

    #[test]
    fn only_whole_words_count() {
        assert_eq!(listed_words("Nobody goes by it, and there is none; nobodys_own renewal canew, ANEW."), 4);
    }

    #[test]
    fn a_comment_counts_by_its_first_words() {
        let source = "/// What it is.\n/// Who it was.\nfn a();\n/// Whatever.\nfn b();\n    /// The same.\n    fn c();\n/// The ones\n";
        assert_eq!(opens_with_a_pronoun(source), 2);
    }

    #[test]
    fn types_are_found_wherever_they_are_defined() {
        let source =
            "pub struct A;\n    pub(crate) enum B {}\npub trait C {\n    type Item;\n}\ntype D = u8;\n// struct E\n";
        assert_eq!(type_names(source), ["A", "B", "C", "D"]);
    }

    #[test]
    fn participles_are_names_of_functions() {
        assert_eq!(
            participles("fn told() {}\nfn told_all() {}\nasync fn lost<T>() {}\nlet told = 1; // fn gone()\n"),
            2
        );
    }
}
