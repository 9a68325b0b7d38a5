//! Real hourly candles, which stand beside the checkout and not in it. Where they are absent a test says that it is
//! skipped, except under `.ci/run` (BARDO_REALDATA=1), where their absence is a failure.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};

/// The file of one asset, if it is there.
pub fn hourly(asset: &str) -> Option<PathBuf> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../shared/data/hourly");
    let path = folder.join(format!("{asset}_usdt_1h.csv.gz"));
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("BARDO_REALDATA").is_none(), "{} is absent", path.display());
    eprintln!("skipped: {} is absent", path.display());
    None
}

/// All of these, or none.
pub fn hours_of(assets: &[&str]) -> Option<Vec<PathBuf>> {
    assets.iter().map(|asset| hourly(asset)).collect()
}
