//! Salvage: reads what is left of a damaged store of the home, and puts a new store in its place. All of it is done
//! only on the owner's order, and nothing is thrown away: what is replaced is set aside.

use std::fs;
use std::path::{Path, PathBuf};

use golem::{GolemId, Usdc};
use rusqlite::Connection;

use crate::error::Error;
use crate::head::{Anchor, Head, Seal};
use crate::log::{self, Log, LogLine};
use crate::reading;
use crate::treasury::{self, Treasury, TreasuryRow};

impl Log {
    /// Every record that can still be read, by golem and number. None is certain: a line counts only if it follows from
    /// the golem's own file.
    pub fn salvage(root: &Path) -> Vec<LogLine> {
        let read = || -> rusqlite::Result<Vec<LogLine>> {
            let db = reading::open(&Log::path(root))?;
            let mut query = db.prepare("SELECT golem, seq, body, hash FROM line ORDER BY golem, seq")?;
            let lines = query.query_map([], LogLine::read)?;
            Ok(lines.map_while(Result::ok).collect())
        };
        read().unwrap_or_default()
    }

    /// Sets the host log aside and forgets what was acknowledged in it: the next host begins a new one.
    pub fn begin_anew(root: &Path, heads: &Path, aside: &Path) -> Result<(), Error> {
        let nothing = Anchor { seq: 0, hash: [0; 32], seal: Seal::Open };
        let mut head = take(heads, log::HOST)?;
        set_aside(&Log::path(root), aside)?;
        head.set(nothing)
    }
}

impl Treasury {
    /// Every line from the first on that can still be read and follows from the one before.
    pub fn salvage(root: &Path) -> Vec<TreasuryRow> {
        let read = |path: PathBuf| {
            reading::open(&path).and_then(|db| treasury::chain(&db)).map(|(rows, _)| rows).unwrap_or_default()
        };
        // A draft is there if putting it in place was cut short.
        let (there, draft) = (read(Treasury::path(root)), read(draft(root)));
        if draft.len() > there.len() { draft } else { there }
    }

    /// Accepts a ledger that was put where there was none, if its lines follow from each other up to the last.
    pub fn take_in(root: &Path, heads: &Path) -> Result<(), Error> {
        let what = "cannot read the treasury";
        let db = Connection::open(Treasury::path(root)).map_err(Error::store(what))?;
        let (rows, trouble) = treasury::chain(&db).map_err(Error::store(what))?;
        if let Some(why) = trouble {
            return Err(Error::unanchored(why));
        }
        let (seq, hash) = rows.last().map_or((0, treasury::genesis()), |row| (row.line, row.hash));
        Head::create(heads, treasury::HEAD, Anchor { seq, hash, seal: Seal::Open }).map(drop)
    }

    /// Sets the ledger aside and puts one with these lines in its place.
    pub fn begin_anew(root: &Path, heads: &Path, rows: &[TreasuryRow], aside: &Path) -> Result<Treasury, Error> {
        let what = "cannot write the treasury";
        let mut head = take(heads, treasury::HEAD)?;
        let (path, draft) = (Treasury::path(root), draft(root));
        remove(&draft)?;
        treasury::make(&draft)?;
        let mut db = Connection::open(&draft).map_err(Error::store(what))?;
        let tx = db.transaction().map_err(Error::store(what))?;
        rows.iter().try_for_each(|row| treasury::insert(&tx, row)).map_err(Error::store(what))?;
        tx.commit().map_err(Error::store(what))?;
        drop(db);
        fs::File::open(&draft).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", &draft))?;
        set_aside(&path, aside)?;
        fs::rename(&draft, &path).map_err(Error::io("cannot create", &path))?;
        sync_folder(root)?;
        let (seq, hash) = rows.last().map_or((0, treasury::genesis()), |row| (row.line, row.hash));
        head.set(Anchor { seq, hash, seal: Seal::Open })?;
        drop(head);
        Treasury::open(root, heads)
    }

    /// Writes a line that the ledger has lost; a line that is there is left as it is.
    pub fn enter(
        &mut self,
        kind: &str,
        golem: Option<GolemId>,
        number: u64,
        credit: Usdc,
        capital: Usdc,
        letter: Option<&str>,
    ) -> Result<(), Error> {
        self.write(|tx| {
            let known = "SELECT COUNT(*) FROM ledger WHERE kind = ?1 AND golem = ?2 AND number = ?3";
            let golem_text = golem.map(|id| id.to_string());
            let known: i64 =
                tx.query_row(known, rusqlite::params![kind, golem_text, number as i64], |row| row.get(0))?;
            if known == 0 {
                treasury::post(tx, &treasury::Post { kind, golem, number, credit, capital, letter, about: None })?;
            }
            Ok(Ok(()))
        })
    }
}

fn draft(root: &Path) -> PathBuf {
    root.join("treasury.new")
}

/// Takes the lock, whether or not the head can be trusted.
fn take(heads: &Path, id: GolemId) -> Result<Head, Error> {
    match Head::open(heads, id) {
        Err(Error::NoHead(_) | Error::Damaged { .. }) => {
            Head::create(heads, id, Anchor { seq: 0, hash: [0; 32], seal: Seal::Open })
        }
        other => other,
    }
}

/// A database and the files beside it while it is open.
fn files(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    ["-wal", "-shm", ""].into_iter().map(move |end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}

fn remove(path: &Path) -> Result<(), Error> {
    files(path)
        .filter(|file| file.exists())
        .try_for_each(|file| fs::remove_file(&file).map_err(Error::io("cannot remove", &file)))
}

fn set_aside(path: &Path, folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::io("cannot create", folder))?;
    for file in files(path).filter(|file| file.exists()) {
        let kept = folder.join(file.file_name().expect("a file has a name"));
        fs::rename(&file, &kept).map_err(Error::io("cannot set aside", &file))?;
    }
    sync_folder(folder)?;
    path.parent().map_or(Ok(()), sync_folder)
}

fn sync_folder(folder: &Path) -> Result<(), Error> {
    fs::File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", folder))
}
