//! What age does to agents: the readers over what real ones left, the statistics over lives with a declared age, and the command.

mod command;
mod hostile;
mod plant;
mod planted;
mod readers;

use std::path::{Path, PathBuf};

use age::{FilePlace, Session, Shelf};
use tariff::Book;

/// Long after everything in the fixtures.
const NOW: i64 = 1_900_000_000_000;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/age/fixtures")
}

/// Every file of a fixture, those of helpers last.
fn files(name: &str) -> Vec<PathBuf> {
    let mut files = crate::common::files(&fixtures().join(name));
    files.sort_by_key(|path| (is_helper(path), path.clone()));
    files
}

fn is_helper(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"))
}

/// Reads a fixture by what its name begins with: `cc` and `ck` Claude Code, `cx` Codex, `gm` Gemini CLI, `oc` opencode.
fn read<'a>(name: &str, book: &'a Book) -> Shelf<'a> {
    let mut shelf = Shelf::new(book, NOW);
    for path in files(name) {
        let text = std::fs::read(&path).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let place = FilePlace { stem, helper: is_helper(&path) };
        match &name[..2] {
            "cc" | "ck" => age::read_claude(&mut shelf, &place, &text[..]).unwrap(),
            "cx" => age::read_codex(&mut shelf, &place, &text[..]).unwrap(),
            "gm" => age::read_gemini(&mut shelf, &place, &text[..]).unwrap(),
            _ => rows(&mut shelf, &text),
        }
    }
    shelf
}

/// opencode's rows, as its database has them.
fn rows(shelf: &mut Shelf<'_>, text: &[u8]) {
    let told: serde_json::Value = serde_json::from_slice(text).unwrap();
    let list = |name: &str| told[name].as_array().unwrap().clone();
    let (messages, parts) = (list("messages"), list("parts"));
    for one in list("sessions") {
        let of = |at: usize| one[at].as_str().unwrap_or_default();
        let mut session = Session::new(of(0), one[1].as_str(), of(2), of(3));
        for message in messages.iter().filter(|message| message[2] == one[0]) {
            session.message(message[0].as_str().unwrap(), message[1].as_str().unwrap().as_bytes());
            for part in parts.iter().filter(|part| part[0] == message[0]) {
                session.part(part[1].as_str().unwrap().as_bytes());
            }
        }
        session.put(shelf);
    }
}
