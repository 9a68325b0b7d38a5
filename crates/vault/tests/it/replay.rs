//! Whoever reads a journal may have enough, and may fail in words of its own; neither is damage, and what comes after is
//! not even looked at.

use std::ops::ControlFlow::{self, Break, Continue};
use std::path::Path;

use rusqlite::Connection;
use vault::{Error, Reader};

/// Where the journal is damaged, and where its readers have had enough.
const DAMAGED: u64 = 500;
const ENOUGH: u64 = 100;

/// A journal that is good up to a record.
fn damaged() -> (tempfile::TempDir, Reader) {
    let fixture = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures/first-version.db");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("life.db");
    std::fs::copy(fixture, &path).unwrap();
    let db = Connection::open(&path).unwrap();
    let sql = "UPDATE journal SET hash = zeroblob(32) WHERE seq = ?1";
    assert_eq!(db.execute(sql, [DAMAGED as i64]).unwrap(), 1);
    drop(db);
    (folder, Reader::open(&path).unwrap())
}

fn until(last: u64, seq: u64) -> ControlFlow<()> {
    if seq == last { Break(()) } else { Continue(()) }
}

#[test]
fn whoever_has_enough_reads_no_further() {
    let (_folder, reader) = damaged();
    let mut read = Vec::new();
    let check = reader.replay(|record| {
        read.push(record.seq);
        Ok::<_, Error>(until(ENOUGH, record.seq))
    });
    assert_eq!((check.unwrap().records, &read), (ENOUGH, &(1..=ENOUGH).collect()));
    read.clear();
    let done = reader.replay_from(40, |record| {
        read.push(record.seq);
        Ok::<_, Error>(until(ENOUGH, record.seq))
    });
    assert_eq!((done.is_ok(), read), (true, (40..=ENOUGH).collect()));
    let all = reader.replay(|_| Ok::<_, Error>(Continue(())));
    assert!(matches!(all, Err(Error::Damaged { .. })), "{all:?}");
}

#[test]
fn a_reader_fails_in_its_own_words_and_damage_is_told_in_them_too() {
    #[derive(Debug)]
    enum Why {
        Mine(u64),
        Theirs(Error),
    }
    impl From<Error> for Why {
        fn from(error: Error) -> Why {
            Why::Theirs(error)
        }
    }
    let (_folder, reader) = damaged();
    let mine = |seq: u64| if seq == ENOUGH { Err(Why::Mine(seq)) } else { Ok(Continue(())) };
    assert!(matches!(reader.replay(|record| mine(record.seq)), Err(Why::Mine(ENOUGH))));
    assert!(matches!(reader.replay_from(7, |record| mine(record.seq)), Err(Why::Mine(ENOUGH))));
    let theirs = reader.replay(|_| Ok::<_, Why>(Continue(())));
    assert!(matches!(theirs, Err(Why::Theirs(Error::Damaged { .. }))), "{theirs:?}");
}
