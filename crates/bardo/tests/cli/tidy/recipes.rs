//! The recipes of CONTRIBUTING.md, the tour of ARCHITECTURE.md, and the files that pages name. A recipe names an example that
//! is in the sources and lists the files that it took; the files in which the example stands are looked up, and must be those. So
//! a recipe cannot forget a place, and no place comes to it unseen.

use std::collections::BTreeSet;
use std::fs;

use super::{files, root};

struct Recipe {
    heading: &'static str,
    /// Places that it may have at most.
    most: usize,
    /// Files that have the example for another reason than the recipe's.
    besides: &'static [&'static str],
}

const RECIPES: [Recipe; 4] = [
    Recipe { heading: "### A provider", most: 2, besides: &[] },
    // The decision that emits an event is the reason for it.
    Recipe { heading: "### An event", most: 5, besides: &["golem/owner/decide.rs"] },
    Recipe { heading: "### An owner's order", most: 8, besides: &[] },
    // The list of the kinds that the first version knew, to which none is added.
    Recipe { heading: "### A stressor kind", most: 6, besides: &["life/stress/rates.rs"] },
];

/// Lines that a recipe may have, without empty ones.
const LINES: usize = 10;

/// Words that two pages hold.
const WORDS: usize = 1_500;

/// Files that the tour leads through, whatever else is in it.
const TOUR: [&str; 4] = ["life/draft", "golem/step", "golem/mortality/decide", "gateway/relay"];

#[test]
fn a_recipe_lists_the_places_that_its_example_has() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let sources = sources();
    for recipe in &RECIPES {
        let lines = section(&page, recipe.heading);
        let (places, examples) = (places(&lines), examples(&lines));
        assert!(!places.is_empty() && !examples.is_empty(), "{} has no places or no example", recipe.heading);
        let written = lines.iter().filter(|line| !line.is_empty()).count();
        assert!(written <= LINES, "{} has {written} lines, {LINES} are enough", recipe.heading);
        assert!(places.len() <= recipe.most, "{} has {} places, {} may", recipe.heading, places.len(), recipe.most);
        let having = sources.iter().filter(|(_, text)| examples.iter().any(|word| has_word(text, word)));
        let found: BTreeSet<&str> = having.map(|(file, _)| file.as_str()).collect();
        let wrong = differences(&places, &found, recipe.besides);
        assert!(wrong.is_empty(), "{}, by its example {}:{}", recipe.heading, examples.join(", "), wrong.concat());
    }
}

#[test]
fn the_architecture_fits_on_two_pages_and_its_tour_leads_through_files_that_are_there() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let words = page.split_whitespace().count();
    assert!(words <= WORDS, "ARCHITECTURE.md has {words} words, two pages hold {WORDS}");
    let tour = places(&section(&page, "## A tour"));
    assert_eq!(tour.len(), 10, "{tour:?}");
    for stop in TOUR {
        assert!(tour.iter().any(|place| place == stop), "the tour passes by {stop}");
    }
    let sources = sources();
    for place in tour.iter().map(|place| format!("{place}.rs")) {
        assert!(sources.iter().any(|(file, _)| *file == place), "the tour leads to {place}, which is not there");
    }
}

#[test]
fn a_file_of_a_crate_that_a_page_names_is_there() {
    let pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"].map(|page| root().join(page));
    for page in files(&root().join("docs"), ".md").into_iter().chain(pages) {
        let text = fs::read_to_string(&page).unwrap();
        let named = text.split("`crates/").skip(1).filter_map(|rest| rest.split('`').next());
        // CRATE stands for any.
        let is_path = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_./-".contains(c);
        for path in named.filter(|path| path.chars().all(is_path)) {
            assert!(root().join("crates").join(path).exists(), "{}: there is no crates/{path}", page.display());
        }
    }
}

/// Files of every crate as CRATE/FILE, without comments and without tests.
fn sources() -> Vec<(String, String)> {
    let crates = root().join("crates");
    let mut all = Vec::new();
    for path in [".rs", ".csv"].iter().flat_map(|ending| files(&crates, ending)) {
        let inside = path.strip_prefix(&crates).unwrap();
        let file = inside.to_string_lossy().replace("/src/", "/");
        let for_tests = inside.iter().any(|part| part == "tests" || part == "seeds" || part == "tests.rs");
        if for_tests || !inside.iter().any(|part| part == "src") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        all.push((file, code.collect::<Vec<_>>().join("\n")));
    }
    all
}

/// Lines under a heading, up to the next.
fn section<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with('#')).collect()
}

/// Places of a numbered list: the first words in backticks of each item.
fn places(lines: &[&str]) -> Vec<String> {
    let items = lines.iter().filter_map(|line| {
        let (number, item) = line.split_once(". `")?;
        number.parse::<usize>().ok()?;
        Some(item.split_once('`')?.0.to_owned())
    });
    items.collect()
}

/// The words by which the example of a recipe is found: those in backticks in the sentence that begins with "Example".
fn examples(lines: &[&str]) -> Vec<String> {
    let line = lines.iter().find_map(|line| line.strip_prefix("Example: ")).unwrap_or_default();
    let sentence = line.split(". ").next().unwrap_or_default();
    sentence.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_part(text[..at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next()))
}

fn differences(places: &[String], found: &BTreeSet<&str>, besides: &[&str]) -> Vec<String> {
    let idle = places.iter().filter(|place| !found.contains(place.as_str()));
    let idle = idle.map(|place| format!("\n  {place} is listed and does not have it"));
    let listed = |file: &str| places.iter().any(|place| place == file) || besides.contains(&file);
    let forgotten = found.iter().filter(|file| !listed(file)).map(|file| format!("\n  {file} is not listed"));
    idle.chain(forgotten).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "## Recipes\n\n### A kind\n\nExample: `Night`, `night`. It is one of `six`.\n\n\
                        1. `life/kind.rs`: a row.\n2. `golem/words.rs`: why, in `words`.\n\nTest: `just test`.\n\n## Next\n";

    #[test]
    fn a_recipe_is_read_off_its_page() {
        let lines = section(PAGE, "### A kind");
        assert_eq!(places(&lines), ["life/kind.rs", "golem/words.rs"]);
        assert_eq!(examples(&lines), ["Night", "night"]);
        assert!(section(PAGE, "### A thing").is_empty());
    }

    #[test]
    fn a_place_that_is_forgotten_and_one_that_is_idle_are_told() {
        let places = ["life/kind.rs".to_owned(), "golem/words.rs".to_owned()];
        assert!(differences(&places, &["life/kind.rs", "golem/words.rs"].into(), &[]).is_empty());
        let wrong = differences(&places, &["life/kind.rs", "bardo/keys.rs"].into(), &[]);
        assert_eq!(wrong, ["\n  golem/words.rs is listed and does not have it", "\n  bardo/keys.rs is not listed"]);
        let besides = ["bardo/keys.rs"];
        assert!(differences(&places[..1], &["life/kind.rs", "bardo/keys.rs"].into(), &besides).is_empty());
    }

    #[test]
    fn a_word_is_found_whole() {
        assert!(has_word("Command::Steer { text }", "Steer") && has_word("orders::strategy)", "orders::strategy"));
        assert!(!has_word("Steering, Steered, is_Steer", "Steer"));
    }
}
