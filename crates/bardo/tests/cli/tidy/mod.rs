//! The house rules that no compiler checks: which way the arrows between crates point, what the core must
//! not depend on or speak of, that modules form layers, how long a file or a function may get, which words are
//! used, and what must not be left lying about.

mod assertions;
mod circles;
mod copies;
mod events;
mod floors;
mod functions;
mod messages;
mod recipes;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use circles::Rooms;

/// Who may depend on whom. Arrows point down only; the middle ones never see each other.
const ARROWS: &[(&str, &[&str])] = &[
    ("life", &[]),
    ("golem", &["life"]),
    ("vault", &["golem"]),
    ("tariff", &[]),
    ("mind", &["tariff"]),
    ("age", &["tariff"]),
    ("outside", &["golem"]),
    ("styx", &["golem"]),
    ("world", &["golem"]),
    ("settings", &["golem", "world", "tariff"]),
    ("lab", &["golem", "world", "settings"]),
    ("shell", &["golem", "vault", "world", "tariff", "mind", "outside", "styx", "settings"]),
    ("gateway", &["golem", "tariff", "mind", "settings", "shell"]),
    ("server", &["golem", "vault", "world", "styx", "settings", "shell", "gateway"]),
    ("chain", &["golem", "world", "outside", "settings", "shell"]),
    ("testing", &["golem", "styx"]),
    (
        "bardo",
        &[
            "age", "golem", "vault", "world", "tariff", "mind", "outside", "styx", "settings", "lab", "shell",
            "gateway", "server",
        ],
    ),
];

/// Arrows of tests alone: whole lives of the laboratory are read back from the bytes that would be on a disk.
const FOR_TESTS: &[(&str, &str)] = &[("lab", "vault")];

/// The two crates of the core: what a golem is, and what it decides.
const CORE: [&str; 2] = ["life", "golem"];

/// Arrows between folders of the core that run up. The number only falls.
const MOST_UP: usize = 42;

/// Everything the core may stand on, beside itself: nothing here can tell time, draw chance or touch a file.
const CORE_DEPENDENCIES: &[&str] = &["arrayvec", "blake3", "libm", "serde", "serde_json", "thiserror"];

/// Beside the library, and on top of the house: it has a home, a golem's orders and candles to do with.
const PROGRAM_OF_CHAIN: &str = "crates/chain/src/bin/bardo-chain";

/// Functions that do not fit on a screen. None is added here; one that has become short enough comes off.
const LONG: &[(&str, &str)] = &[("shell/src/view/saying.rs", "sentence")];

const TRADING: &[&str] = &[
    "market",
    "markets",
    "trade",
    "trades",
    "trader",
    "trading",
    "price",
    "prices",
    "candle",
    "candles",
    "swap",
    "buy",
    "sell",
    "broker",
    "portfolio",
    "ticker",
    "bid",
    "stock",
    "token",
    "exchange",
    "volatility",
];

fn root() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "book" && !name.starts_with('.') {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found
}

/// The names under a heading of a manifest.
fn section(manifest: &str, heading: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != heading).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['.', '=', ' ']).next().filter(|name| !name.is_empty() && !name.starts_with('#')))
        .map(str::to_owned)
        .collect()
}

fn manifest(name: &str) -> String {
    fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap()
}

#[test]
fn arrows_between_crates_point_down() {
    let folders: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    for name in &folders {
        let may = allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no place in the house yet"));
        for heading in ["[dependencies]", "[dev-dependencies]", "[build-dependencies]"] {
            // What tests share is on no floor: only tests may stand on it.
            let used = section(&manifest(name), heading);
            let for_tests = |used: &str| used == "testing" || FOR_TESTS.contains(&(name.as_str(), used));
            let used = used.iter().filter(|used| heading != "[dev-dependencies]" || !for_tests(used.as_str()));
            for used in used.filter(|used| allowed.contains_key(used.as_str())) {
                assert!(may.contains(&used.as_str()), "{name} must not depend on {used}");
            }
        }
    }
}

#[test]
fn of_a_chain_only_its_program_knows_the_house() {
    let src = root().join("crates/chain/src");
    for path in files(&src, ".rs").into_iter().filter(|path| !path.starts_with(root().join(PROGRAM_OF_CHAIN))) {
        let source = fs::read_to_string(&path).unwrap();
        for name in ["shell", "outside", "world"] {
            let takes = [format!("use {name}::"), format!("({name}::"), format!(" {name}::")];
            let taken = takes.iter().find(|way| source.contains(way.as_str()));
            assert!(taken.is_none(), "{} needs {name}, which belongs to the program", path.display());
        }
    }
}

#[test]
fn the_core_depends_on_nothing_that_could_reach_outside() {
    for (at, name) in CORE.into_iter().enumerate() {
        for used in section(&manifest(name), "[dependencies]") {
            let known = CORE_DEPENDENCIES.iter().chain(&CORE[..at]).any(|known| *known == used);
            assert!(known, "{name} must stay pure: what is {used} for?");
        }
    }
    let reaching =
        ["std::fs", "std::net", "std::time", "std::env", "std::process", "std::thread", "println!", "eprintln!"];
    for path in core_files() {
        let source = fs::read_to_string(&path).unwrap();
        for word in reaching {
            assert!(!source.contains(word), "{}: {word} reaches outside", path.display());
        }
    }
}

fn core_files() -> impl Iterator<Item = PathBuf> {
    CORE.into_iter().flat_map(|name| files(&root().join("crates").join(name).join("src"), ".rs"))
}

#[test]
fn no_word_of_trading_stands_in_the_core() {
    for path in core_files() {
        let source = fs::read_to_string(&path).unwrap().to_lowercase();
        for (number, line) in source.lines().enumerate() {
            let words = line.split(|c: char| !c.is_alphabetic());
            if let Some(word) = words.into_iter().find(|word| TRADING.contains(word)) {
                panic!(
                    "{}:{}: '{word}' is a word of trading, of which the core knows nothing",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn files_can_be_read_in_one_sitting_and_open_with_their_story() {
    for path in files(&root().join("crates"), ".rs") {
        let source = fs::read_to_string(&path).unwrap();
        assert!(source.lines().count() <= 800, "{} is {} lines long", path.display(), source.lines().count());
        let opens = source.starts_with("//!") || source.starts_with("#![doc");
        assert!(opens, "{} does not say what it is about", path.display());
    }
}

#[test]
fn modules_form_layers_in_every_crate() {
    let crates = ARROWS.iter().map(|(name, _)| (*name, root().join("crates").join(name).join("src")));
    let crates = crates.chain([("the program of chain", root().join(PROGRAM_OF_CHAIN))]);
    let knotted = crates.flat_map(|(name, src)| {
        let own = files(&src, ".rs").into_iter().filter(|path| !path.starts_with(src.join("bin")));
        let circles = Rooms::read(&src, own).circles();
        circles.into_iter().map(move |circle| format!("in {name} {circle}"))
    });
    let knotted: Vec<String> = knotted.collect();
    assert!(knotted.is_empty(), "\n{}", knotted.join("\n"));
}

#[test]
fn few_arrows_between_folders_of_the_core_run_up() {
    let told = CORE.map(|name| {
        let src = root().join("crates").join(name).join("src");
        let rooms = Rooms::read(&src, files(&src, ".rs"));
        let needs = rooms.between_folders();
        floors::upward(&needs).iter().map(|(from, to)| format!("\n  {name}: {from} -> {to}")).collect::<Vec<_>>()
    });
    let up = told.concat();
    assert!(up.len() <= MOST_UP, "{} arrows run up, {MOST_UP} may:{}", up.len(), up.concat());
}

#[test]
fn a_function_fits_on_a_screen() {
    let mut long = Vec::new();
    for path in files(&root().join("crates"), ".rs") {
        let file = path.strip_prefix(root().join("crates")).unwrap().to_string_lossy().into_owned();
        if file.contains("/src/") && !file.contains("/src/tests/") && !file.ends_with("tests.rs") {
            let found = functions::long(&fs::read_to_string(&path).unwrap());
            long.extend(found.into_iter().map(|(name, lines)| (file.clone(), name, lines)));
        }
    }
    let listed = |file: &str, name: &str| LONG.contains(&(file, name));
    let new: Vec<_> = long.iter().filter(|(file, name, _)| !listed(file, name)).collect();
    assert!(new.is_empty(), "no more than {} lines fit on a screen:\n{new:#?}", functions::MOST);
    let is_long = |(file, name): &&(&str, &str)| long.iter().any(|(in_file, long, _)| in_file == file && long == name);
    let short: Vec<_> = LONG.iter().filter(|listed| !is_long(listed)).collect();
    assert!(short.is_empty(), "these fit on a screen by now; take them off the list:\n{short:#?}");
}

/// Two crates once wrote rows of the table `river` under letters of their own, and nothing would have told them of one that both
/// had taken.
#[test]
fn a_row_of_the_river_gets_its_letter_from_the_one_list() {
    let letter = |line: &str| {
        let mut literals =
            ["b\"", "b'"].into_iter().flat_map(|open| line.match_indices(open).map(move |(at, _)| (open, at)));
        literals.any(|(open, at)| {
            let mut rest = line[at + open.len()..].chars();
            rest.next().is_some_and(char::is_alphabetic) && rest.next() == open.chars().next_back()
        })
    };
    assert!(
        letter(r#"rows.push((b"s".to_vec(), None))"#) && letter("Some((b'n', golem)) => {}") && !letter(r#"b"river""#)
    );
    let (mut speaking, list) = (0, root().join("crates/styx/src/keys.rs"));
    for path in files(&root().join("crates"), ".rs") {
        let source = fs::read_to_string(&path).unwrap();
        let words = || source.split(|c: char| !c.is_alphanumeric() && c != '_');
        if path == list
            || !path.components().any(|part| part.as_os_str() == "src")
            || !words().any(|word| word == "river")
        {
            continue;
        }
        speaking += 1;
        if let Some(line) = source.lines().find(|line| letter(line)) {
            panic!("{}: `{}`: take the letter from styx::keys", path.display(), line.trim());
        }
    }
    assert!(speaking > 5, "the files that keep the river's books are elsewhere by now");
}

#[test]
fn a_life_is_held_to_its_bounds_in_production_too() {
    let sources = ["life", "golem"].map(|name| files(&root().join("crates").join(name).join("src"), ".rs"));
    let own = sources.iter().flatten().filter(|path| !path.ends_with("tests.rs"));
    let found: usize = own.map(|path| assertions::count(&fs::read_to_string(path).unwrap())).sum();
    assert!(found >= assertions::LEAST, "{found} assertions are left where lives are lived");
}

/// Whatever stands at the top of the repository, as git has it: a folder of work that was added by mistake is told at once.
#[test]
fn the_top_level_holds_what_it_is_known_to_hold() {
    let known = [
        ".ci",
        ".config",
        ".dockerignore",
        ".github",
        ".gitignore",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.lock",
        "Cargo.toml",
        "Dockerfile",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "crates",
        "deny.toml",
        "docs",
        "examples",
        "experiments",
        "justfile",
        "packaging",
        "python",
        "rust-toolchain.toml",
        "rustfmt.toml",
    ];
    let listed = Command::new("git").args(["ls-files", "--cached"]).current_dir(root()).output().unwrap();
    assert!(listed.status.success(), "git lists what is in the repository");
    let listed = String::from_utf8(listed.stdout).unwrap();
    let top: BTreeSet<&str> = listed.lines().filter_map(|path| path.split('/').next()).collect();
    let strange: Vec<&&str> = top.iter().filter(|name| !known.contains(name)).collect();
    assert!(top.len() > 20 && strange.is_empty(), "not known at the top: {strange:?}");
}

#[test]
fn nothing_is_left_lying_about() {
    // Spelled in halves, so that this file does not find itself.
    let stray = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["todo", "!("], ["dbg", "!("]].map(|halves| halves.concat());
    for path in ["crates", "docs"].iter().flat_map(|folder| files(&root().join(folder), "")) {
        let Ok(source) = fs::read_to_string(&path) else { continue };
        for word in &stray {
            assert!(!source.contains(word.as_str()), "{} has a stray {word}", path.display());
        }
    }
}

#[test]
fn whatever_is_printed_goes_the_one_way_that_a_terminal_cannot_take_for_an_order() {
    let printing = ["println!(", "stdout().write", "stderr().write"];
    let ours = ["bardo", "settings", "shell", "gateway", "server"].map(|name| format!("crates/{name}/src"));
    for path in
        ours.iter().map(String::as_str).chain([PROGRAM_OF_CHAIN]).flat_map(|folder| files(&root().join(folder), ".rs"))
    {
        let tests = path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests");
        if tests || path.ends_with("output.rs") || path.ends_with("logs.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for way in printing {
            assert!(!source.contains(way), "{}: {way} goes past output.rs", path.display());
        }
    }
}

#[test]
fn every_dependency_says_why_it_is_here() {
    let why = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let own = |name: &String| ARROWS.iter().any(|(own, _)| own == name);
    for name in section(&workspace, "[workspace.dependencies]").into_iter().filter(|name| !own(name)) {
        assert!(why.contains(&format!("`{name}`")), "docs/dependencies.md does not say what {name} is for");
    }
}

#[test]
fn every_crate_says_what_it_is_and_what_is_absent_from_it() {
    let table = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (name, _) in ARROWS {
        assert!(table.contains(&format!("\n| `{name}` | ")), "ARCHITECTURE.md has no row for {name}");
        let file = root().join("crates").join(name).join("src/lib.rs");
        let Ok(source) = fs::read_to_string(file) else { continue };
        let readme = || fs::read_to_string(root().join("crates").join(name).join("README.md")).unwrap();
        let story = if source.starts_with("//!") { source } else { readme() };
        let told = ["Absent", "Nothing here"].iter().any(|word| story.contains(word));
        assert!(told, "{name} does not say what is absent from it");
    }
}
