//! Opening a database to read it. SQLite makes a small file beside a database that no process has open, and on a full
//! disk it cannot, so that nothing could be read just when the owner wants to look. If no process has the database open
//! and nothing waits beside it, the file alone is everything, and is read as it stands.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// Bytes of the file (`-shm`) that processes with the database open share, at least.
const SHARED: u64 = 32 << 10;

pub(crate) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    let looked = db.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0));
    match looked {
        Err(why) if no_room(&why) && stands_alone(path) => {
            let uri = format!("file:{}?immutable=1", escaped(path));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        // Any other fault is reported by the first query.
        _ => Ok(db),
    }
}

/// Makes a connection inert: no trigger, view or function that a file brings along runs.
pub(crate) fn inert(db: &Connection) -> rusqlite::Result<()> {
    use rusqlite::config::DbConfig;
    for on in [DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW] {
        db.set_db_config(on, false)?;
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map(|_| ())
}

/// Everything in a file's schema: kind, name, and its SQL without white space.
pub(crate) fn schema(db: &Connection) -> rusqlite::Result<Vec<(String, String, String)>> {
    let mut query = db.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema")?;
    let rows = query.query_map([], |row| {
        let made: String = row.get(2)?;
        Ok((row.get(0)?, row.get(1)?, made.split_whitespace().collect::<String>()))
    })?;
    rows.collect()
}

/// Whether a disk that is full or must not be written to could be the reason.
pub(crate) fn no_room(why: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    why.sqlite_error_code().is_some_and(|code| matches!(code, DiskFull | SystemIoFailure | CannotOpen | ReadOnly))
}

fn stands_alone(path: &Path) -> bool {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name).metadata().map_or(0, |file| file.len())
    };
    // A process that found no room for its `-shm` leaves the beginning of one.
    beside("-wal") == 0 && beside("-shm") < SHARED
}

fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.map(|byte| if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_stands_alone_is_read_as_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a life? 100%#1.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE one(n); INSERT INTO one VALUES(7);").unwrap();
        assert!(!stands_alone(&path), "a connection has it open");
        drop(db);
        assert!(stands_alone(&path));
        let uri = format!("file:{}?immutable=1", escaped(&path));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let db = Connection::open_with_flags(uri, flags).unwrap();
        assert_eq!(db.query_row("SELECT n FROM one", [], |row| row.get::<_, i64>(0)).unwrap(), 7);
        assert!(stands_alone(&path), "reading it left nothing");
    }
}
