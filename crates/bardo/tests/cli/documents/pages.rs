//! Pages as somebody follows them: every `console` block of every page is run, in the order of the page and from an empty home, and
//! what it prints is compared. `sh` blocks are run too. What a page needs and does not show stands in remarks above a block:
//!
//! | remark | |
//! | --- | --- |
//! | `<!-- first: COMMAND -->` | is run before, and must succeed |
//! | `<!-- beside: COMMAND -->` | is started before, is there once it has printed a line, and ends with the page, when its input does |
//! | `<!-- file: NAME -->` | the block is this file |
//! | `<!-- not run: REASON -->` | the block is passed over |
//!
//! A line of a page with … in it stands for whatever has the rest of it around: times, ids, keys.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use super::{compare, in_home, page, run};

/// Every page that shows what is typed, and how many `console` blocks it has: those that are not run have a reason.
macro_rules! pages {
    ($($test:ident: $page:literal shows $blocks:literal;)*) => {
        const PAGES: &[(&str, usize)] = &[$(($page, $blocks)),*];
        $(
            #[test]
            fn $test() {
                check_page($page, $blocks);
            }
        )*
    };
}

pages! {
    the_readme_is_true: "README.md" shows 3;
    the_package_for_python_is_true: "python/README.md" shows 2;
    acting_is_true: "docs/concepts/acting.md" shows 1;
    money_is_true: "docs/concepts/money.md" shows 1;
    pressure_is_true: "docs/concepts/pressure.md" shows 1;
    configuration_is_true: "docs/configuration.md" shows 1;
    the_gateway_is_true: "docs/gateway.md" shows 1;
    a_first_life_is_true: "docs/first-life.md" shows 2;
    getting_started_is_true: "docs/getting-started.md" shows 6;
    the_journal_is_true: "docs/journal.md" shows 2;
    the_laboratory_is_true: "docs/lab.md" shows 4;
    the_machine_burned_is_true: "docs/machine-burned.md" shows 4;
    minds_are_true: "docs/minds.md" shows 1;
    operating_is_true: "docs/operating.md" shows 4;
    worlds_in_any_language_are_true: "docs/outside.md" shows 1;
    the_way_out_of_damage_is_true: "docs/recovery.md" shows 1;
}

/// The fences that begin these blocks of a page.
fn blocks<'a>(document: &'a str, tag: &'a str) -> impl Iterator<Item = usize> + 'a {
    document.lines().enumerate().filter(move |(_, line)| *line == format!("```{tag}")).map(|(at, _)| at)
}

#[test]
fn no_page_shows_what_nobody_runs() {
    let docs = crate::common::files(&page("docs")).into_iter();
    let beside = ["README.md", "CONTRIBUTING.md", "python/README.md", "experiments/README.md"].map(page);
    let mut found = Vec::new();
    for path in docs.chain(beside).filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        if path.components().any(|part| part.as_os_str() == "book") {
            continue;
        }
        let name = path.strip_prefix(page("")).unwrap().to_str().unwrap().to_owned();
        let document = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = document.lines().collect();
        let consoles = blocks(&document, "console").count();
        if consoles > 0 {
            found.push((name, consoles));
            continue;
        }
        // Here nothing is run at all, so whatever could be typed says why.
        for at in blocks(&document, "sh") {
            let why = at.checked_sub(1).and_then(|above| remark(lines[above]));
            assert!(matches!(why, Some(("not run", _))), "{name}:{}: why is this not run?", at + 1);
        }
    }
    let listed: Vec<(String, usize)> = PAGES.iter().map(|(name, blocks)| ((*name).to_owned(), *blocks)).collect();
    for one in &found {
        assert!(listed.contains(one), "{one:?} is not among the pages that are run");
    }
    assert_eq!(found.len(), listed.len(), "a page that is listed shows nothing any more");
    println!("counted: {} console blocks of {} pages", found.iter().map(|(_, n)| n).sum::<usize>(), found.len());
}

fn check_page(name: &str, consoles: usize) {
    let document = fs::read_to_string(page(name)).unwrap();
    let home = tempfile::tempdir().unwrap();
    let (shown, ran) = played(name, &document, home.path());
    assert_eq!(ran, consoles, "console blocks of {name} that were run");
    compare(name, &document, &shown);
}

/// A page as it is once everything on it was done, and how many of its `console` blocks were.
fn played(name: &str, document: &str, home: &Path) -> (String, usize) {
    let lines: Vec<&str> = document.lines().collect();
    let (mut shown, mut at, mut ran) = (String::new(), 0, 0);
    let (mut passed_over, mut file, mut beside) = (false, None, Vec::new());
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        shown += &format!("{line}\n");
        match remark(line) {
            Some(("first", command)) => succeed(command, home),
            Some(("beside", command)) => beside.push(Beside::start(command, home)),
            Some(("file", name)) => file = Some(name),
            Some(_) => passed_over = true,
            None => {}
        }
        let Some(tag) = line.strip_prefix("```") else { continue };
        let length = lines[at..].iter().position(|line| line.starts_with("```"));
        let end = at + length.unwrap_or_else(|| panic!("{name}:{at}: a block without an end"));
        let block = &lines[at..end];
        if tag == "console" && !passed_over {
            shown += &commands(block, home);
            ran += 1;
        } else {
            block.iter().for_each(|line| shown += &format!("{line}\n"));
        }
        let whole = block.join("\n") + "\n";
        if let Some(file) = file.take() {
            fs::write(home.join(file), &whole).unwrap();
        }
        if tag == "sh" && !passed_over {
            run(&whole, home);
        }
        shown += "```\n";
        (at, passed_over) = (end + 1, false);
    }
    (shown, ran)
}

/// What stands above a block and says how it is run.
fn remark(line: &str) -> Option<(&str, &str)> {
    let (what, how) = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?.split_once(": ")?;
    ["first", "beside", "file", "not run"].contains(&what).then_some((what, how))
}

/// A program that runs while a page is played.
struct Beside(Child);

impl Beside {
    fn start(command: &str, home: &Path) -> Beside {
        let mut child = in_home(command, home).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(!said.is_empty(), "{command} ended without a word");
        Beside(child)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What a page needs before it can show anything.
fn succeed(command: &str, home: &Path) {
    let marked = run(&format!("{{ {command}\n}} && echo '(it is done)'"), home);
    assert!(marked.contains("(it is done)"), "{command}\n{marked}");
}

/// Commands of one block, each with what it prints now.
fn commands(block: &[&str], home: &Path) -> String {
    let (mut shown, mut lines) = (String::new(), block.iter().peekable());
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else { continue };
        shown += &format!("$ {command}\n");
        let mut before = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            before.push(*line);
        }
        for printed in run(command, home).lines() {
            let stands = before.iter().find(|line| fits(line, printed));
            shown += &format!("{}\n", stands.unwrap_or(&printed));
        }
    }
    shown
}

/// Whether this line of a page, which has … for what differs each time, stands for what was printed.
fn fits(line: &str, printed: &str) -> bool {
    let parts: Vec<&str> = line.split('…').collect();
    let [first, middle @ .., last] = &parts[..] else { return false };
    let Some(mut rest) = printed.strip_prefix(*first) else { return false };
    for part in middle {
        let Some(at) = rest.find(*part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(*last)
}

#[test]
fn a_page_that_lies_is_found_and_what_differs_each_time_is_no_lie() {
    let home = tempfile::tempdir().unwrap();
    // What runs beside a page is there for as long as the page is played, and has ended after it.
    let beside = "<!-- beside: echo here; cat; touch ended -->\n";
    let (shown, _) = played("a page", &format!("{beside}```console\n$ ls ended\nended\n```\n"), home.path());
    assert!(shown.contains("ls: ") && home.path().join("ended").exists(), "{shown}");
    let fence = |tag: &str, block: &str| format!("```{tag}\n{block}```\n");
    let remarks = "<!-- first: echo 7 > seven -->\n<!-- file: eight -->\n".to_owned() + &fence("text", "eight\n");
    let (before, after) =
        (fence("console", "$ cat seven\n8\n$ cat eight\n"), fence("console", "$ cat seven\n7\n$ cat eight\neight\n"));
    let never =
        "<!-- not run: it would fail -->\n".to_owned() + &fence("sh", "touch gone\n") + &fence("sh", "touch done\n");
    let (shown, ran) = played("a page", &(remarks.clone() + &before + &never), home.path());
    assert_eq!((shown, ran), (remarks + &after + &never, 1));
    assert!(home.path().join("done").exists() && !home.path().join("gone").exists());

    for (line, printed) in
        [("id …", "id 5a1c"), ("12 ticks in … s, … a second", "12 ticks in 7.5 s, 2 a second"), ("…", "x")]
    {
        assert!(fits(line, printed), "{line}");
    }
    for (line, printed) in
        [("id 5a1c", "id 5a1c"), ("id …", "key 5"), ("… ticks in … s", "12 ticks in 7 min"), ("a … a", "a ")]
    {
        assert!(!fits(line, printed), "{line}");
    }
}
