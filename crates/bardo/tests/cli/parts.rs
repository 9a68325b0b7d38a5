//! What the program is made of: nothing of a chain, and the same crates with the same features whether it is built alone or
//! with everything else. Features that differ have most of what stands on them compiled a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::common::text;

/// Each crate and the features that are chosen of it, more than once where it is built for more than one purpose.
fn parts(told: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p}|{f}"]).args(told);
    let listed = cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).output().unwrap();
    assert!(listed.status.success(), "{}", text(&listed.stderr));
    let mut parts = BTreeMap::<String, BTreeSet<String>>::new();
    for (part, features) in text(&listed.stdout).lines().filter_map(|line| line.split_once('|')) {
        let features = features.trim_end_matches(" (*)").to_owned();
        parts.entry(part.split(" (").next().unwrap().to_owned()).or_default().insert(features);
    }
    parts
}

#[test]
fn nothing_of_a_chain_is_in_the_program() {
    let parts = parts(&["-p", "bardo", "-e", "normal,build"]);
    let chains =
        |part: &&String| ["bardo-chain ", "alloy-", "k256 ", "ruint "].iter().any(|name| part.starts_with(name));
    let found: Vec<&String> = parts.keys().filter(chains).collect();
    assert!(parts.len() > 200 && found.is_empty(), "the program needs {found:?}");
}

#[test]
fn what_lives_in_memory_needs_no_server_and_what_lives_on_a_disk_serves_nobody() {
    for (name, without) in [
        ("bardo-lab", &["axum", "hyper", "reqwest", "rmcp", "rusqlite", "tokio", "utoipa"][..]),
        ("bardo-age", &["hyper", "reqwest", "tokio"]),
        ("bardo-shell", &["axum", "rmcp", "utoipa-axum"]),
        ("bardo-gateway", &["rmcp", "utoipa-axum"]),
    ] {
        let parts = parts(&["-p", name, "-e", "normal,build"]);
        let found: Vec<&String> =
            parts.keys().filter(|part| without.iter().any(|one| part.split(' ').next() == Some(one))).collect();
        assert!(parts.len() > 20 && found.is_empty(), "{name} needs {found:?}");
    }
}

#[test]
fn built_alone_it_is_made_of_the_same_as_with_everything_else() {
    for edges in ["normal,build", "normal,build,dev"] {
        let (alone, all) = (parts(&["-p", "bardo", "-e", edges]), parts(&["--workspace", "-e", edges]));
        let differs = |(part, features): &(&String, &BTreeSet<String>)| !features.is_subset(&all[*part]);
        let differing: Vec<_> =
            alone.iter().filter(differs).map(|(part, _)| (part, &alone[part], &all[part])).collect();
        let remedy = "Cargo.toml holds such features alike for the crate bardo: see what is never called there";
        assert!(differing.is_empty(), "alone and with everything else ({edges}): {differing:#?}\n{remedy}");
    }
}
