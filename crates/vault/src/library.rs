//! The Library: lines of knowledge that an owner's golems have left, on one shelf. Each line counts the golems that
//! came to know it independently; a golem believes nothing on the shelf until it has tried it.

use std::path::Path;

use golem::GolemId;
use golem::grimoire::Kind;
use golem::grimoire::bundle::{self, BundleLine};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use crate::Error;
use crate::disk;

const WHAT: &str = "the library cannot be used";

/// Golems that must know a line before it is battle-tested.
pub const BATTLE_TESTED: usize = 5;
/// The factor by which being battle-tested raises confidence, at most.
const BOOST: f64 = 1.1;
const SUREST: f64 = 0.95;
/// Golems that must come to know a line before it is worth a bundle.
pub const PROPOSES: usize = 3;
/// The time within which these golems must come to know it, in milliseconds.
const WITHIN_MS: i64 = 7 * 86_400_000;
/// Lines one golem may leave in an hour; warnings are not counted.
const AN_HOUR: i64 = 100;
const HOUR_MS: i64 = 3_600_000;

pub struct Library {
    db: Connection,
}

/// One line on the shelf.
#[derive(Clone, Debug, Serialize)]
pub struct Book {
    pub number: i64,
    pub line: BundleLine,
    /// The golem that left it first.
    pub from: String,
    /// All golems that knew it.
    pub known_by: Vec<String>,
    pub at_ms: i64,
    pub battle_tested: bool,
    /// Signed by a key other than the owner's.
    pub stranger: bool,
}

/// The golem that leaves a line, and how it came to know it.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    pub golem: GolemId,
    pub name: &'a str,
    /// The golem found it out, or has tried what it was told; otherwise it only passes it on.
    pub tried: bool,
    pub stranger: bool,
    /// Whether the hourly limit on lines applies to this golem.
    pub limited: bool,
}

/// The outcome of leaving a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelved {
    New,
    /// Another golem knew it already; now one more does.
    Known,
    Again,
    TooMany,
}

impl Library {
    /// Whether the file is whole.
    pub fn check(&self) -> Result<(), Error> {
        let sound: String =
            self.db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(Error::sqlite(WHAT))?;
        if sound == "ok" { Ok(()) } else { Err(Error::unanchored(format!("library.db is damaged: {sound}"))) }
    }

    pub fn open(path: &Path) -> Result<Library, Error> {
        Library::connect(path).map_err(Error::sqlite(WHAT))
    }

    fn connect(path: &Path) -> rusqlite::Result<Library> {
        let db = Connection::open(path)?;
        db.busy_timeout(std::time::Duration::from_secs(10))?;
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE IF NOT EXISTS books (
                 number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, line TEXT NOT NULL, first TEXT NOT NULL,
                 at_ms INTEGER NOT NULL, stranger INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS known_by (
                 book INTEGER NOT NULL REFERENCES books, golem TEXT NOT NULL, name TEXT NOT NULL,
                 at_ms INTEGER NOT NULL, PRIMARY KEY (book, golem));",
        )?;
        Ok(Library { db })
    }

    /// Writes a consistent copy of the whole shelf.
    pub fn copy_to(&self, path: &Path) -> Result<(), Error> {
        let copy = || -> rusqlite::Result<()> {
            let mut copy = Connection::open(path)?;
            rusqlite::backup::Backup::new(&self.db, &mut copy)?.run_to_completion(
                4_096,
                std::time::Duration::ZERO,
                None,
            )?;
            copy.pragma_update(None, "journal_mode", "DELETE")
        };
        copy().map_err(Error::sqlite("cannot copy the library"))?;
        std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", path))
    }

    /// Puts a line on the shelf, as known by this golem. A line left twice by the same golem is there once.
    pub fn shelve(&mut self, line: &BundleLine, by: By<'_>, now_ms: i64) -> Result<Shelved, Error> {
        self.put(line, by, now_ms).map_err(Error::sqlite(WHAT))
    }

    fn put(&mut self, line: &BundleLine, by: By<'_>, now_ms: i64) -> rusqlite::Result<Shelved> {
        let id = by.golem.to_string();
        let tx = self.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        if by.limited && line.kind != Kind::Warning {
            let lately: i64 = tx.query_row(
                "SELECT count(*) FROM known_by JOIN books ON number = book
                 WHERE golem = ?1 AND known_by.at_ms > ?2 AND key NOT LIKE 'warning %'",
                params![id, now_ms - HOUR_MS],
                |row| row.get(0),
            )?;
            if lately >= AN_HOUR {
                return Ok(Shelved::TooMany);
            }
        }
        let key = key(line);
        let known: Option<i64> =
            tx.query_row("SELECT number FROM books WHERE key = ?1", [&key], |row| row.get(0)).optional()?;
        let book = match known {
            Some(book) => book,
            None => {
                let text = serde_json::to_string(line).expect("a line is plain data");
                tx.execute(
                    "INSERT INTO books (key, line, first, at_ms, stranger) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![key, text, by.name, now_ms, by.stranger],
                )?;
                tx.last_insert_rowid()
            }
        };
        let counts = known.is_none() || by.tried;
        let added = if counts {
            tx.execute(
                "INSERT OR IGNORE INTO known_by (book, golem, name, at_ms) VALUES (?1, ?2, ?3, ?4)",
                params![book, id, by.name, now_ms],
            )?
        } else {
            0
        };
        disk::commit("the shelf", tx)?;
        Ok(match (known, added) {
            (None, _) => Shelved::New,
            (Some(_), 0) => Shelved::Again,
            (Some(_), _) => Shelved::Known,
        })
    }

    /// The lines that have all these words, or all lines if there are none; surest first.
    pub fn search(&self, words: &[String]) -> Result<Vec<Book>, Error> {
        self.find(words).map_err(Error::sqlite(WHAT))
    }

    fn find(&self, words: &[String]) -> rusqlite::Result<Vec<Book>> {
        let mut books = self.db.prepare("SELECT number, line, first, at_ms, stranger FROM books ORDER BY number")?;
        let mut known = self.db.prepare("SELECT name FROM known_by WHERE book = ?1 ORDER BY at_ms, golem")?;
        let mut found = Vec::new();
        let mut rows = books.query([])?;
        while let Some(row) = rows.next()? {
            let (number, text): (i64, String) = (row.get(0)?, row.get(1)?);
            let lower = text.to_lowercase();
            if !words.iter().all(|word| lower.contains(&word.to_lowercase())) {
                continue;
            }
            let Ok(mut line) = bundle::read(&text) else { continue };
            let known_by: Vec<String> = known.query_map([number], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let battle_tested = known_by.len() >= BATTLE_TESTED;
            if battle_tested {
                line.confidence = (line.confidence * BOOST).min(SUREST).max(line.confidence.min(SUREST));
            }
            let (from, at_ms, stranger) = (row.get(2)?, row.get(3)?, row.get(4)?);
            found.push(Book { number, line, from, known_by, at_ms, battle_tested, stranger });
        }
        found.sort_by(|a, b| b.line.confidence.total_cmp(&a.line.confidence).then(a.number.cmp(&b.number)));
        Ok(found)
    }

    /// Lines that three or more golems came to know within seven days: worth a bundle.
    pub fn proposals(&self) -> Result<Vec<Book>, Error> {
        self.worth_a_bundle().map_err(Error::sqlite(WHAT))
    }

    fn worth_a_bundle(&self) -> rusqlite::Result<Vec<Book>> {
        let mut times = self.db.prepare("SELECT at_ms FROM known_by WHERE book = ?1 ORDER BY at_ms")?;
        let mut worth = Vec::new();
        for book in self.find(&[])? {
            let at: Vec<i64> = times.query_map([book.number], |row| row.get(0))?.collect::<Result<_, _>>()?;
            if at.windows(PROPOSES).any(|close| close[PROPOSES - 1] - close[0] <= WITHIN_MS) {
                worth.push(book);
            }
        }
        Ok(worth)
    }

    pub fn count(&self) -> Result<i64, Error> {
        self.db.query_row("SELECT count(*) FROM books", [], |row| row.get(0)).map_err(Error::sqlite(WHAT))
    }
}

/// The identity of a line: its kind with its rule, its link or else its very text.
fn key(line: &BundleLine) -> String {
    let says = match (&line.rule, &line.link) {
        (Some(rule), _) => rule.clone(),
        (None, Some(link)) => format!("{} {} {}", link.cause, link.effect, link.same_way),
        (None, None) => line.text.clone(),
    };
    format!("{} {says}", line.kind.name())
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").finish_non_exhaustive()
    }
}
