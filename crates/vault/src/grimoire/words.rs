//! The index of words: which entries have a word. FTS5 keeps the lists; the scores are worked out in [`super::score`],
//! because FTS5's own ranking visits every entry of every word at a microsecond each, ten times what reading the lists
//! takes.
//!
//! Words are stemmed (`porter`), because an owner asks what happens when fees *rise* and the entry says *rising*;
//! accents and case do not count (`unicode61`). Entries are in plain English or made of names, where this errs
//! little, and an error costs a place in a ranking: nothing is ever decided by likeness of text.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::row::{str_at, text_in};

/// How the index is made: without a copy of the texts, which the entries hold already. A change here is noticed on
/// opening, and the index is rebuilt.
const COLUMNS: &str =
    "USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')";

/// A longer question is cut: by then it has said what it is about.
const MOST_WORDS: usize = 32;

/// Stop words: they hold a question together and say nothing of what it is about. Half of the entries have them, so
/// that reading their lists would be most of the work. Words that turn a meaning round are not among them: *not*,
/// *above*,
/// *before*.
const GLUE: [&str; 48] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do", "does", "for", "from", "had",
    "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "so", "that",
    "the", "then", "there", "this", "to", "was", "what", "when", "where", "which", "who", "why", "will", "with",
];

/// Where the index stands: in the file or, for a reader that may not write there, in a temporary table of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where {
    File,
    Aside,
}

/// Rebuilds the index if it is missing, made otherwise or out of step with the entries.
pub(super) fn mend(db: &Connection) -> rusqlite::Result<()> {
    if in_step(db) {
        // A reader's own temporary table would shadow it.
        return db.execute_batch("DROP TABLE IF EXISTS temp.entry_words");
    }
    if db.is_readonly("main")? { make(db, Where::Aside) } else { make(db, Where::File) }
}

/// Whether the index fits the entries: a cheap check, which may say no too often, since rebuilding mends any fault. How
/// the index was made stands in the schema; entries and index are only ever written together.
fn in_step(db: &Connection) -> bool {
    let made: rusqlite::Result<Option<String>> =
        db.query_row("SELECT sql FROM main.sqlite_schema WHERE name = 'entry_words'", [], |row| row.get(0)).optional();
    let holds = |sql: &str| db.query_row(sql, [], |row| row.get(0)).unwrap_or(false);
    matches!(made, Ok(Some(sql)) if sql.ends_with(COLUMNS))
        && holds("SELECT (SELECT count(*) FROM main.entry) = (SELECT count(*) FROM main.entry_words_docsize)")
        && holds("SELECT count(*) >= 0 FROM main.entry_words WHERE entry_words MATCH 'qzx'")
}

/// Builds the index as a whole or not at all, within the transaction under way if there is one.
pub(super) fn make(db: &Connection, place: Where) -> rusqlite::Result<()> {
    if !db.is_autocommit() {
        return fill(db, place);
    }
    let tx = db.unchecked_transaction()?;
    fill(&tx, place)?;
    tx.commit()
}

fn fill(db: &Connection, place: Where) -> rusqlite::Result<()> {
    let schema = match place {
        Where::File => "main",
        Where::Aside => "temp",
    };
    db.execute_batch(&format!(
        "DROP TABLE IF EXISTS {schema}.entry_words; CREATE VIRTUAL TABLE {schema}.entry_words {COLUMNS};"
    ))?;
    let mut query = db.prepare("SELECT id, body FROM entry ORDER BY id")?;
    let mut insert = db.prepare(&format!("INSERT INTO {schema}.entry_words(rowid, text) VALUES(?1, ?2)"))?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        insert.execute(params![row.get::<_, i64>(0)?, text_in(str_at(row, 1)).unwrap_or_default()])?;
    }
    Ok(())
}

pub(super) fn put(db: &Connection, id: u64, text: &str) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO entry_words(rowid, text) VALUES(?1, ?2)")?
        .execute(params![id as i64, text])?;
    Ok(())
}

pub(super) fn forget(db: &Connection, id: u64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM entry_words WHERE rowid = ?1")?.execute([id as i64])?;
    Ok(())
}

/// The distinct words of a question. The text is cut wherever FTS5's query syntax could begin, so that any input is
/// words and nothing else; what is not ASCII is left to the tokeniser, which knows more scripts. Stop words count only
/// where there is nothing else.
pub(super) fn asked(text: &str) -> Vec<String> {
    let distinct = |glue: bool| -> Vec<String> {
        let mut seen = BTreeSet::new();
        let words = split(text).map(str::to_lowercase).filter(|word| GLUE.contains(&word.as_str()) == glue);
        words.filter(|word| seen.insert(word.clone())).take(MOST_WORDS).collect()
    };
    let words = distinct(false);
    if words.is_empty() { distinct(true) } else { words }
}

/// How long a text is, in words.
pub(super) fn length(text: &str) -> usize {
    split(text).count()
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| (c.is_ascii() && !c.is_ascii_alphanumeric()) || c.is_whitespace())
        .filter(|word| !word.is_empty())
}

/// Hands each entry that has a word to `each`, by number.
pub(super) fn standing(db: &Connection, word: &str, mut each: impl FnMut(u64)) -> rusqlite::Result<()> {
    let mut query = db.prepare_cached("SELECT rowid FROM entry_words WHERE entry_words MATCH ?1")?;
    let mut rows = query.query([format!("\"{word}\"")])?;
    while let Some(row) = rows.next()? {
        each(row.get::<_, i64>(0)? as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_its_distinct_words_without_glue() {
        assert_eq!(
            asked("What happens to the Gas price, if GAS is above 10.5?"),
            ["happens", "gas", "price", "above", "10", "5"]
        );
        assert_eq!(asked("to be or not to be"), ["not"]);
        assert_eq!(asked("what is it"), ["what", "is", "it"]);
        assert_eq!(asked("\"gas* NEAR(fee, 2) -col:x ^y"), ["gas", "near", "fee", "2", "col", "x", "y"]);
        assert_eq!(asked("café naïve"), ["café", "naïve"]);
        assert_eq!(asked(" \0\"'*()^:-+{}[] "), Vec::<String>::new());
    }

    #[test]
    fn a_question_of_any_length_asks_for_so_many_words() {
        let long: String = (0..5_000).map(|n| format!("word{n} ")).collect();
        assert_eq!(asked(&long).len(), MOST_WORDS);
    }
}
