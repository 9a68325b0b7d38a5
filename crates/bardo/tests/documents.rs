//! What the documentation shows is what happens: every `console` block is run, in order, from an empty
//! home, and its output compared; `sh` blocks are run too, unless they build the program itself. `BARDO_WRITE_DOCS=1` writes the true output instead.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::text;

fn check_document(name: &str) {
    let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..").join(name);
    let document = fs::read_to_string(&path).unwrap();
    let home = tempfile::tempdir().unwrap();
    let (mut shown, mut inside, mut script, mut commands) = (String::new(), "", String::new(), 0);
    for line in document.lines() {
        let keep = |shown: &mut String| *shown += &format!("{line}\n");
        if let Some(tag) = line.strip_prefix("```") {
            if inside == "sh" && !script.contains("cargo ") {
                run(&std::mem::take(&mut script), home.path());
            }
            script.clear();
            inside = if inside.is_empty() { if tag.is_empty() { "text" } else { tag } } else { "" };
            keep(&mut shown);
        } else if inside != "console" {
            if inside == "sh" {
                script += &format!("{line}\n");
            }
            keep(&mut shown);
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands += 1;
            shown += &format!("$ {command}\n{}", run(command, home.path()));
        }
    }
    assert!(commands > 0, "{name} shows nothing");
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        fs::write(&path, shown).unwrap();
    } else if shown != document {
        let (expected, actual): (Vec<_>, Vec<_>) = (document.lines().collect(), shown.lines().collect());
        let first = expected.iter().zip(&actual).position(|(a, b)| a != b).unwrap_or(expected.len().min(actual.len()));
        let at = |lines: &[&str]| lines.get(first).map_or("(the end)".to_owned(), |line| (*line).to_owned());
        panic!("{name}:{}\n  shows  {}\n  prints {}", first + 1, at(&expected), at(&actual));
    }
}

fn run(command: &str, home: &Path) -> String {
    let mut path = vec![PathBuf::from(env!("CARGO_BIN_EXE_bardo")).parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(home)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("HOME", home)
        .env_remove("BARDO_HOME")
        .env_remove("XDG_DATA_HOME")
        .output()
        .unwrap();
    let printed = text(&output.stdout) + &text(&output.stderr);
    printed.replace(home.to_str().unwrap(), "~")
}

#[test]
fn the_readme_is_true() {
    check_document("README.md");
}

#[test]
fn getting_started_is_true() {
    check_document("docs/getting-started.md");
}
