//! opencode's sessions: rows of a database that is only read, or, of older versions, a folder of small files.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use age::{Session, Shelf};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

/// The largest of the small files that is read.
const LARGEST: u64 = 32 << 20;

pub(super) fn database(path: &Path, shelf: &mut Shelf<'_>) -> Result<(), Box<dyn Error>> {
    let connection = open(path)?;
    let mut sessions =
        connection.prepare("select id, parent_id, directory, version from session order by time_created, id")?;
    let mut messages =
        connection.prepare("select id, data from message where session_id = ?1 order by time_created, id")?;
    let mut parts = connection.prepare("select data from part where message_id = ?1 order by id")?;
    let mut rows = sessions.query([])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let (parent, folder, version): (Option<String>, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let mut session = Session::new(&id, parent.as_deref(), &folder, &version);
        let mut told = messages.query(params![id])?;
        while let Some(row) = told.next()? {
            let message: String = row.get(0)?;
            session.message(&message, row.get_ref(1)?.as_bytes()?);
            let mut of = parts.query(params![message])?;
            while let Some(row) = of.next()? {
                session.part(row.get_ref(0)?.as_bytes()?);
            }
        }
        session.put(shelf);
    }
    Ok(())
}

/// Opens the file for reading alone. Changes still to be moved into it lie beside it, and are read as well; without any, no
/// process is writing, and the file can be read as it is.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let mut escaped = String::new();
    for c in path.display().to_string().chars() {
        match c {
            '%' | '?' | '#' => escaped.push_str(&format!("%{:02x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    let beside = PathBuf::from(format!("{}-wal", path.display()));
    let waits = beside.metadata().is_ok_and(|about| about.len() > 0);
    let how = if waits { "mode=ro" } else { "immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("file:{escaped}?{how}"), flags)
}

/// `session/PROJECT/ID.json`, `message/SESSION/ID.json` and `part/MESSAGE/ID.json`; names grow with time.
pub(super) fn files(storage: &Path, shelf: &mut Shelf<'_>) -> Result<(), Box<dyn Error>> {
    let mut sessions: BTreeMap<String, Value> = BTreeMap::new();
    for project in folders(&storage.join("session")) {
        for file in documents(&project) {
            if let Some(told) = read(&file).and_then(|text| serde_json::from_slice::<Value>(&text).ok()) {
                sessions.insert(stem(&file), told);
            }
        }
    }
    for (id, about) in sessions {
        let text = |name: &str| about.get(name).and_then(Value::as_str);
        let (folder, version) = (text("directory").unwrap_or_default(), text("version").unwrap_or_default());
        let mut session = Session::new(&id, text("parentID"), folder, version);
        for file in documents(&storage.join("message").join(&id)) {
            let message = stem(&file);
            session.message(&message, &read(&file).unwrap_or_default());
            for part in documents(&storage.join("part").join(&message)) {
                session.part(&read(&part).unwrap_or_default());
            }
        }
        session.put(shelf);
    }
    Ok(())
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let small = file.metadata().is_ok_and(|about| about.len() <= LARGEST);
    small.then(|| fs::read(file).ok()).flatten()
}

fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn entries(folder: &Path, wanted: fn(&fs::FileType) -> bool) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let fits = entries.filter(|entry| entry.file_type().is_ok_and(|kind| wanted(&kind)));
    let mut paths: Vec<PathBuf> = fits.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn folders(of: &Path) -> Vec<PathBuf> {
    entries(of, fs::FileType::is_dir)
}

fn documents(of: &Path) -> Vec<PathBuf> {
    let mut files = entries(of, fs::FileType::is_file);
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files
}
