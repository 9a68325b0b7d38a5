//! Where agents leave their records, and whose a file is. Folders are walked without following links, and a file is known by
//! its place or by its first line.

use std::env;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use age::{FilePlace, Shelf};
use shell::Error;

use super::sessions;

/// Folders in folders, at most.
const DEEP: usize = 12;
/// Bytes of a file that are read to recognise its format.
const HEAD: u64 = 16 << 10;
/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Claude,
    Codex,
    Gemini,
    OpencodeDatabase,
    /// The folder `storage` of older versions.
    OpencodeFiles,
    Aider,
    AiderLog,
    Spans,
    Records,
}

#[derive(Clone, Debug)]
pub(super) struct FoundRecords {
    pub(super) path: PathBuf,
    pub(super) source: Source,
    helper: bool,
    changed: Option<SystemTime>,
}

/// Everything that agents have left in their usual places, and in the folder where one is.
pub(super) fn usual() -> Vec<FoundRecords> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = set("HOME").unwrap_or_default();
    let below = |path: &str| user.join(path);
    let mut folders = vec![below(".claude/projects"), below(".config/claude/projects")];
    folders.extend(set("CLAUDE_CONFIG_DIR").map(|folder| folder.join("projects")));
    let codex = set("CODEX_HOME").unwrap_or_else(|| below(".codex"));
    folders.extend([codex.join("sessions"), codex.join("archived_sessions"), below(".gemini/tmp")]);
    folders.push(set("XDG_DATA_HOME").unwrap_or_else(|| below(".local/share")).join("opencode"));
    let mut found = Vec::new();
    // One that two names lead to is read once.
    let mut real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real.iter().for_each(|folder| walk(folder, 0, &mut found));
    let history = PathBuf::from(".aider.chat.history.md");
    if history.is_file() {
        found.extend(known(&history));
    }
    ordered(found)
}

/// Records at the places a user has named.
pub(super) fn given(paths: &[PathBuf]) -> Result<Vec<FoundRecords>, Error> {
    let mut found = Vec::new();
    for path in paths {
        let real = path.canonicalize();
        let real = real.map_err(|source| Error::Io { what: "cannot read", path: path.clone(), source })?;
        if real.is_dir() {
            walk(&real, 0, &mut found);
        } else {
            let one = known(&real)
                .ok_or_else(|| Error::Usage(format!("{} is not a record of a known agent", path.display())))?;
            found.push(one);
        }
    }
    Ok(ordered(found))
}

/// Helpers after those that had them do something, and the older before the newer, which may have a copy of it.
fn ordered(mut found: Vec<FoundRecords>) -> Vec<FoundRecords> {
    found.sort_by(|one, other| (one.helper, one.changed, &one.path).cmp(&(other.helper, other.changed, &other.path)));
    found.dedup_by(|one, other| one.path == other.path);
    found
}

fn walk(folder: &Path, deep: usize, found: &mut Vec<FoundRecords>) {
    if deep > DEEP {
        return;
    }
    if folder.ends_with("storage") && folder.join("message").is_dir() {
        let changed = folder.metadata().and_then(|about| about.modified()).ok();
        return found.push(FoundRecords {
            path: folder.to_owned(),
            source: Source::OpencodeFiles,
            helper: false,
            changed,
        });
    }
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, deep + 1, found),
            Ok(kind) if kind.is_file() => found.extend(known(&path)),
            _ => {}
        }
    }
}

/// The agent that wrote a file, if it is a known one.
fn known(path: &Path) -> Option<FoundRecords> {
    let name = path.file_name()?.to_str()?;
    let parent = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let source = if name == "opencode.db" {
        Source::OpencodeDatabase
    } else if name.ends_with(".chat.history.md") {
        Source::Aider
    } else if name.ends_with(".json") && parent == "chats" {
        Source::Gemini
    } else if name.ends_with(".jsonl") || name.ends_with(".json") {
        by_head(path, name.ends_with(".jsonl"))?
    } else {
        return None;
    };
    let helper = parent == "subagents" || name.starts_with("agent-");
    let changed = path.metadata().and_then(|about| about.modified()).ok();
    Some(FoundRecords { path: path.to_owned(), source, helper, changed })
}

fn by_head(path: &Path, lines: bool) -> Option<Source> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    // What a file is stands in front; further on there may be anything.
    let first: String = head.chars().take(400).collect();
    let has = |words: &[&str]| words.iter().all(|word| head.contains(word));
    if has(&["\"resourceSpans\""]) {
        Some(Source::Spans)
    } else if !lines {
        None
    } else if head.starts_with("{\"v\":") && has(&["\"life\"", "\"harness\""]) {
        Some(Source::Records)
    } else if first.contains("\"type\":\"session_meta\"") && first.contains("\"payload\"") {
        Some(Source::Codex)
    } else if has(&["\"sessionId\"", "\"projectHash\""]) {
        Some(Source::Gemini)
    } else if has(&["\"event\"", "\"properties\"", "\"user_id\""]) {
        Some(Source::AiderLog)
    } else if has(&["\"type\""]) && (has(&["\"sessionId\""]) || has(&["\"leafUuid\""]) || has(&["\"messageId\""])) {
        Some(Source::Claude)
    } else {
        None
    }
}

/// Reads all of it, and says what could not be read.
pub(super) fn read_all(found: &[FoundRecords], shelf: &mut Shelf<'_>) -> Vec<String> {
    let mut trouble = Vec::new();
    for one in found {
        if let Err(why) = read(one, shelf) {
            trouble.push(format!("{}: {why}", one.path.display()));
        }
    }
    trouble
}

fn read(found: &FoundRecords, shelf: &mut Shelf<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let path = &found.path;
    match found.source {
        Source::OpencodeDatabase => return sessions::database(path, shelf),
        Source::OpencodeFiles => return sessions::files(path, shelf),
        _ => {}
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    // A history lies in the folder it is of.
    let folder = path.canonicalize().ok().and_then(|path| Some(path.parent()?.display().to_string()));
    let stem = if found.source == Source::Aider { folder.as_deref().unwrap_or(stem) } else { stem };
    let place = FilePlace { stem, helper: found.helper };
    let from = BufReader::with_capacity(BUFFER, File::open(path)?);
    match found.source {
        Source::Claude => age::read_claude(shelf, &place, from)?,
        Source::Codex => age::read_codex(shelf, &place, from)?,
        Source::Gemini => age::read_gemini(shelf, &place, from)?,
        Source::Aider => age::read_aider(shelf, &place, from)?,
        Source::AiderLog => age::read_aider_log(shelf, &place, from)?,
        Source::Spans => age::read_spans(shelf, from)?,
        Source::Records => age::read_records(shelf, from)?,
        Source::OpencodeDatabase | Source::OpencodeFiles => {}
    }
    Ok(())
}
