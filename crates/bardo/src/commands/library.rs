//! `library list|search|add|export|import|bundle`: the owner's shelf of what golems have left.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use golem::grimoire::bundle::BundleLine;
use golem::grimoire::{Grimoire, How, inherited};
use golem::inheritance::{BUDGET, Way, whole};
use shell::home::key::OwnerKey;
use shell::legacy::bundle;
use shell::legacy::shelf;
use shell::wall;
use shell::{Error, Home};
use vault::Reader;
use vault::library::{Book, By, Shelved};

use crate::args::LibraryVerb;
use crate::named;
use crate::output::{self, count, line};

const EMPTY: &str = "there is nothing on the shelf; what a golem leaves at its death comes here";

pub(crate) fn dispatch(home: &Home, verb: LibraryVerb, json: bool) -> Result<ExitCode, Error> {
    home.require()?;
    match verb {
        LibraryVerb::List => list(&home.library()?.search(&[])?, EMPTY, json),
        LibraryVerb::Search { words } => {
            let none = if home.library()?.count()? == 0 { EMPTY } else { "nothing on the shelf has all these words" };
            list(&home.library()?.search(&words)?, none, json)
        }
        LibraryVerb::Add { name, ids } => add(home, &name, &ids, json),
        LibraryVerb::Export { to, words } => {
            let books = home.library()?.search(&words)?;
            write(home, &to, "library", &books, json)
        }
        LibraryVerb::Import { from } => import(home, &from, json),
        LibraryVerb::Bundle { name, to, words } => match to {
            Some(to) => write(home, &to, &name, &home.library()?.search(&words)?, json),
            None => propose(home, json),
        },
    }
}

fn list(books: &[Book], none: &str, json: bool) -> Result<ExitCode, Error> {
    if json {
        books.iter().for_each(output::json);
        return Ok(ExitCode::SUCCESS);
    }
    if books.is_empty() {
        line(none);
    }
    for book in books {
        let mut marks = Vec::new();
        if book.line.bloodstain {
            marks.push("learned in dying".to_owned());
        }
        if book.battle_tested {
            marks.push("battle-tested".to_owned());
        }
        if book.stranger {
            marks.push("from a stranger".to_owned());
        }
        let known = if book.known_by.len() > 1 { format!(", known by {}", book.known_by.len()) } else { String::new() };
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        line(format!(
            "{:>5}  {:.2}  {:<12} {}{marks}",
            book.number,
            book.line.confidence,
            book.line.kind.name(),
            book.line.text
        ));
        line(format!("{:>26}from {}{known}", "", book.from));
    }
    Ok(ExitCode::SUCCESS)
}

/// From a golem's memory to the shelf: what may leave it at all, or of that what is named; of the dead anything.
fn add(home: &Home, name: &str, ids: &[u64], json: bool) -> Result<ExitCode, Error> {
    let place = named::read_golem(home, name)?;
    let reader = Reader::open(&place.database())?;
    let (golem, _) = reader.wake()?;
    let life = golem.life();
    let whole = whole(&Grimoire::new(reader.entries()?), life);
    let way = if life.is_dead() { Way::Picked } else { Way::Shelf };
    let named = whole.entries().filter(|entry| ids.is_empty() || ids.contains(&entry.id));
    let shelf::Tally { added, kept_back } = shelf::leave(&place, life, named, way)?;
    if json {
        output::json(&serde_json::json!({ "added": added, "kept_back": kept_back }));
    } else {
        line(format!("{} added to the shelf, {} not sure enough or too many to leave", count(added), count(kept_back)));
    }
    Ok(ExitCode::SUCCESS)
}

fn write(home: &Home, to: &Path, name: &str, books: &[Book], json: bool) -> Result<ExitCode, Error> {
    let lines: Vec<BundleLine> = books.iter().take(BUDGET).map(|book| book.line.clone()).collect();
    if lines.is_empty() {
        return Err(Error::Usage("nothing on the shelf fits that; see `bardo library list`".to_owned()));
    }
    let text = bundle::pack(&OwnerKey::of(home)?, name, None, &lines);
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).open(to);
    let io = |source| Error::Io { what: "cannot write", path: to.to_owned(), source };
    std::io::Write::write_all(&mut file.map_err(io)?, text.as_bytes()).map_err(io)?;
    shell::private::share(to).map_err(io)?;
    if json {
        output::json(&serde_json::json!({ "file": to, "entries": lines.len() }));
    } else {
        line(format!(
            "{}: {} entries, signed; give it to a golem with `golem new NAME --from`",
            to.display(),
            lines.len()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn import(home: &Home, from: &Path, json: bool) -> Result<ExitCode, Error> {
    let bundle = bundle::open(home, from)?;
    let (mut new, mut library) = (0_u64, home.library()?);
    // No golem here has tried any of it: it counts as known by its maker.
    let maker = blake3_id(&bundle.header.owner);
    for entry in &bundle.lines {
        let (name, stranger) = (bundle.header.name.as_str(), bundle.stranger);
        let by = By { golem: maker, name, tried: true, stranger, limited: false };
        // However sure the maker was, a stranger's entry counts at the confidence a buyer would give it.
        let most = if stranger { inherited(How::Purchased, entry.confidence, 1, false) } else { 1.0 };
        let entry = BundleLine { confidence: entry.confidence.min(most), ..entry.clone() };
        let shelved = library.shelve(&entry, by, wall::now_ms())?;
        new += u64::from(matches!(shelved, Shelved::New | Shelved::Known));
    }
    if json {
        output::json(&serde_json::json!({ "added": new, "entries": bundle.lines.len(), "stranger": bundle.stranger }));
    } else {
        let whose = if bundle.stranger { "a stranger's" } else { "your own" };
        line(format!("{} of {} entries are new; the signature is {whose}", count(new), bundle.lines.len()));
    }
    Ok(ExitCode::SUCCESS)
}

fn blake3_id(text: &str) -> golem::GolemId {
    golem::GolemId(shell::legacy::bundle::mark(text))
}

/// Proposes bundles of what several golems found out independently within a week.
fn propose(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let books = home.library()?.proposals()?;
    list(&books, "nothing yet that three golems came to within seven days", json)
}
