//! How large the program is, stripped: whatever is linked into it is loaded and shipped with it, needed or not.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes that the program may have as tests build it, and as it is released.
const BUILT: u64 = 62_000_000;
const RELEASED: u64 = 36_500_000;

fn stripped(program: &Path) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("bardo");
    let strip = Command::new("strip").arg("-o").arg(&small).arg(program).status();
    assert!(strip.expect("strip comes with the linker").success(), "{} cannot be stripped", program.display());
    small.metadata().unwrap().len()
}

fn check_size(program: &Path, most: u64) {
    let size = stripped(program);
    println!("counted: {} has {size} bytes without symbols, of {most}", program.display());
    assert!(size <= most, "{} has {size} bytes and may have {most}: what has it come to need?", program.display());
}

#[test]
fn the_program_has_not_grown_unseen() {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_bardo"));
    let folder = own.parent().unwrap();
    if !folder.ends_with("release") {
        check_size(&own, BUILT);
    }
    // One that was built here for whatever reason, such as `just size`.
    let released = folder.parent().unwrap().join("release/bardo");
    if released.exists() {
        check_size(&released, RELEASED);
    }
}
