//! The core as somebody outside meets it: the README's program, word for word, in a crate of its own, lives a life.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_life_in_the_readme_of_the_core_is_lived_from_outside() {
    let core = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../golem").canonicalize().unwrap();
    let readme = fs::read_to_string(core.join("README.md")).unwrap();
    let program = readme.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```\n")).unwrap().0;
    assert!(program.lines().count() <= 60, "a small life has grown to {} lines", program.lines().count());
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("src")).unwrap();
    fs::write(outside.path().join("src/main.rs"), program).unwrap();
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n[dependencies]\nbardo-golem = {{ path = {core:?} }}\n[workspace]\n"
    );
    fs::write(outside.path().join("Cargo.toml"), manifest).unwrap();
    // The versions this workspace was tested with, which are on this machine.
    fs::copy(core.join("../../Cargo.lock"), outside.path().join("Cargo.lock")).unwrap();
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["run", "--offline", "--quiet"])
        .current_dir(outside.path())
        .env("CARGO_TARGET_DIR", target().join("outside"))
        .output()
        .unwrap();
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{complaint}");
    assert!(said.starts_with("nemo died at tick ") && said.contains("for want of money"), "{said}{complaint}");
    assert!(!complaint.contains("warning"), "{complaint}");
}

/// Beside what is built here, so that only the first run builds the core for outside.
fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_bardo")).parent().unwrap().parent().unwrap().to_owned()
}
