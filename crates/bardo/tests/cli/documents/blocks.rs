//! Blocks of configuration as the four documents print them, in `blocks/`: keys and values alone, since those are the
//! specification's own spelling. Each passes `bardo config check`, and says what of it means something else here.

use std::fs;

use super::{page, run};

const BLOCKS: &str = "crates/bardo/tests/cli/documents/blocks";

#[test]
fn every_block_of_the_documents_passes_as_it_is_printed() {
    let files = crate::common::files(&page(BLOCKS));
    assert_eq!(files.len(), 13, "a block is not held any more, or a new one is not counted");
    let mut per_document = std::collections::BTreeMap::<String, usize>::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let block = fs::read_to_string(&path).unwrap();
        let to = if name.ends_with(".bardo.toml") { "bardo.toml" } else { "golem.toml" };
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(to), &block).unwrap();
        let printed = run(&format!("bardo config check {to}"), home.path());
        let lines: Vec<&str> = printed.lines().collect();
        // Remarks are named in the block, so that none comes or goes unread.
        let expected: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("# says: ")).collect();
        // Standard output comes first, then what was said beside it.
        let (first, remarks) = lines.split_first().unwrap_or_else(|| panic!("{name}: nothing was printed"));
        assert_eq!(*first, format!("{to} is fine"), "{name}: {printed}");
        assert_eq!(remarks.len(), expected.len(), "{name}: {printed}");
        for (remark, says) in remarks.iter().zip(expected) {
            assert!(remark.contains(says), "{name}: {remark}");
        }
        *per_document.entry(name.split('-').next().unwrap().to_owned()).or_default() += 1;
    }
    let documents: Vec<&str> = per_document.keys().map(String::as_str).collect();
    assert_eq!(documents, ["dreams", "inheritance", "mortality", "suffering"]);
}

#[test]
fn a_block_that_says_something_else_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for (key, value) in [
        ("dream.consolidation.validationRequired", "false"),
        ("death.bloodstain_retrieval_boost", "1.5"),
        ("dream.schedule", "\"sometimes\""),
        ("dream.wakeInterrupts.marketThresholds", "[{ asset = \"ETH\", window = \"5m\" }]"),
        ("mortality.affect.appraisalModel", "\"chain-of-thought\""),
    ] {
        fs::write(home.path().join("golem.toml"), format!("{key} = {value}\n")).unwrap();
        let printed = run("bardo config check golem.toml", home.path());
        assert!(printed.starts_with("bardo: golem.toml:1: ") && !printed.contains("is fine"), "{key}: {printed}");
    }
}
