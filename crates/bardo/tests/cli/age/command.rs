//! `bardo age`, as it is used first: where records lie, what it prints and writes, and what it does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::fixtures;
use crate::common::{Tent, full, text};

/// A user's folder as the agents left it.
fn user(tent: &Tent) -> PathBuf {
    let user = tent.folder.path().join("user");
    copy(&fixtures().join("cc_new"), &user.join(".claude/projects/-canary-project"));
    copy(&fixtures().join("ck_new"), &user.join(".claude/projects/-canary-other"));
    copy(&fixtures().join("cx_new"), &user.join(".codex/sessions/2026/11/19"));
    copy(&fixtures().join("gm_new"), &user.join(".gemini/tmp/canary"));
    let data = user.join(".local/share/opencode");
    fs::create_dir_all(&data).unwrap();
    database(&data.join("opencode.db"));
    user
}

fn copy(from: &Path, to: &Path) {
    for file in crate::common::files(from) {
        let at = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::copy(file, at).unwrap();
    }
}

/// As opencode makes it, with what is read of it.
fn database(path: &Path) {
    let told: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(fixtures().join("oc_new/rows.json")).unwrap()).unwrap();
    let base = rusqlite::Connection::open(path).unwrap();
    base.execute_batch(
        "pragma journal_mode = wal;
         create table session (id text primary key, parent_id text, directory text, version text, time_created integer);
         create table message (id text primary key, session_id text, time_created integer, data text);
         create table part (id text primary key, message_id text, data text);",
    )
    .unwrap();
    let of = |row: &serde_json::Value, at: usize| row[at].as_str().map(str::to_owned);
    for (number, row) in (0_i64..).zip(told["sessions"].as_array().unwrap()) {
        let row = (of(row, 0), of(row, 1), of(row, 2), of(row, 3), number);
        base.execute("insert into session values (?1, ?2, ?3, ?4, ?5)", row).unwrap();
    }
    for (number, row) in (0_i64..).zip(told["messages"].as_array().unwrap()) {
        base.execute("insert into message values (?1, ?2, ?3, ?4)", (of(row, 0), of(row, 2), number, of(row, 1)))
            .unwrap();
    }
    for row in told["parts"].as_array().unwrap() {
        base.execute("insert into part values (?1, ?2, ?3)", (of(row, 2), of(row, 0), of(row, 1))).unwrap();
    }
}

#[test]
fn without_a_home_or_a_word_it_reads_what_all_agents_have_left_and_changes_nothing() {
    let tent = Tent::bare();
    let user = user(&tent);
    let list = || {
        let mut files: Vec<_> = crate::common::files(&user)
            .into_iter()
            .map(|path| (path.clone(), fs::metadata(&path).unwrap().modified().unwrap(), fs::read(&path).unwrap()))
            .collect();
        files.sort();
        files
    };
    let before = list();
    let mut command = tent.command(["age", "--json"]);
    command.env("HOME", &user).env_remove("XDG_DATA_HOME").env_remove("CODEX_HOME").env_remove("CLAUDE_CONFIG_DIR");
    let output = command.current_dir(&user).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let sources: Vec<&String> = told["sources"].as_object().unwrap().keys().collect();
    assert_eq!(sources, ["claude_code", "codex", "gemini", "opencode"]);
    let study = &told["studies"][0];
    assert_eq!(study["lives"].as_u64().unwrap(), 5, "{study}");
    assert_eq!(study["helpers"].as_u64().unwrap(), 7, "{study}");
    assert!(!text(&output.stdout).contains("canary") && !text(&output.stderr).contains("CANARY"));
    assert!(list() == before, "something of its owner's was changed");
    assert!(!tent.root().exists(), "it made a home");
}

#[test]
fn what_it_is_asked_for_it_writes_and_not_a_word_is_in_it() {
    let tent = Tent::bare();
    let user = user(&tent);
    let path = |name: &str| tent.folder.path().join(name).display().to_string();
    let projects = user.join(".claude/projects").display().to_string();
    let said = tent.ok(["age", &projects, "--by", "model", "--page", &path("age.html"), "--rows", &path("rows")]);
    assert!(said.contains("too few to tell") && said.contains("claude-opus-5-5"), "{said}");
    let page = fs::read_to_string(path("age.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && !page.contains("http://") && !page.contains("https://"), "{page}");
    let mut all = page + &said;
    for name in ["records.jsonl", "lives.jsonl", "lives.csv", "calls.jsonl", "calls.csv"] {
        all += &fs::read_to_string(Path::new(&path("rows")).join(name)).unwrap();
    }
    for word in ["CANARY", "marzipan", "nougat", "-canary-project"] {
        assert!(!all.contains(word), "{word}");
    }
    assert!(fs::read(Path::new(&path("rows")).join("calls.parquet")).unwrap().starts_with(b"PAR1"));
    // What it wrote it reads again.
    let again = tent.ok(["age", &path("rows/records.jsonl"), "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["studies"][0]["lives"], 2);
    let schema: serde_json::Value = serde_json::from_str(&tent.ok(["age", "--schema"])).unwrap();
    assert_eq!(schema["title"], "Life");
}

#[test]
fn what_is_no_record_is_said_to_be_none() {
    let tent = Tent::bare();
    let file = tent.folder.path().join("letter.txt");
    fs::write(&file, "dear").unwrap();
    let said = tent.fails(1, ["age", file.to_str().unwrap()]);
    assert!(said.contains("not a record of a known agent"), "{said}");
    let said = tent.ok(["age", tent.folder.path().to_str().unwrap()]);
    assert!(said.contains("nothing there is a record"), "{said}");
}

/// Behind its fence no connection leaves: the same thread that has raised it is refused one to a server that listens.
#[cfg(target_os = "linux")]
#[test]
fn behind_its_fence_there_is_no_network_and_nothing_can_be_written() {
    let tent = Tent::bare();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, given) = (server.local_addr().unwrap(), tent.folder.path().join("given"));
    fs::create_dir_all(&given).unwrap();
    let (inside, elsewhere) = (given.join("file"), tent.folder.path().join("file"));
    let reached = std::thread::spawn(move || {
        assert!(outside::fence::read_only(&[given]).unwrap(), "this kernel has no Landlock");
        let writes = [fs::write(inside, "x").is_ok(), fs::write(elsewhere, "x").is_ok()];
        (std::net::TcpStream::connect(address).is_ok(), writes)
    });
    assert_eq!(reached.join().unwrap(), (false, [true, false]));
    assert!(std::net::TcpStream::connect(address).is_ok(), "nobody else stands behind it");
}

/// One gibibyte in a minute and in 200 MB, where everything is run; a small part of it elsewhere.
#[test]
fn a_gigabyte_is_read_in_a_minute() {
    let tent = Tent::bare();
    let folder = tent.folder.path().join("projects");
    fs::create_dir_all(&folder).unwrap();
    let mut source = crate::common::files(&fixtures().join("cc_new")).into_iter();
    let source = source.find(|path| !path.to_string_lossy().contains("subagents")).unwrap();
    let one = fs::read_to_string(&source).unwrap();
    let session = &source.file_stem().unwrap().to_str().unwrap()[..8];
    // Results of tools are most of what is there, as they are on real disks.
    let filler = "word ".repeat(4_000);
    let one = one.replace("\"stdout\":\"CANARY\"", &format!("\"stdout\":\"{filler}\""));
    let size = full(1 << 30, 24 << 20) as usize;
    let sessions = size / one.len();
    for number in 0..sessions {
        let text = one.replace("\"msg_", &format!("\"msg_{number}_")).replace(session, &format!("{number:08x}"));
        fs::write(folder.join(format!("{number:08x}.jsonl")), text).unwrap();
    }
    let began = Instant::now();
    let output = tent.run(["age", folder.to_str().unwrap(), "--json"]);
    let took = began.elapsed();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["studies"][0]["lives"].as_u64().unwrap(), sessions as u64);
    println!("counted: {} MB of records in {took:?}, unoptimised", size >> 20);
    if size >= 1 << 30 {
        assert!(took.as_secs() < 60, "{took:?}");
    }
}
