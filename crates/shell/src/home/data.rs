//! Imported data: candles the owner brings, checked once and kept under a plain name.

use std::fs;
use std::path::Path;

use golem::{Name, hex};
use sha2::{Digest, Sha256};
use world::{Candles, Report};

use super::place::Home;
use crate::{Error, private};

/// Reads a file, keeps a copy under `name`, and says what was wrong with it.
pub fn import(home: &Home, file: &Path, name: &Name) -> Result<Report, Error> {
    let kept = home.require()?.data().join(format!("{name}.csv"));
    if kept.exists() {
        return Err(Error::Usage(format!("there is already data named {name}; choose another with --name")));
    }
    let (_, report) = Candles::read(file)?;
    let partial = kept.with_extension("partial");
    private::copy(file, &partial).map_err(Error::io("cannot copy", file))?;
    fs::rename(&partial, &kept).map_err(Error::io("cannot create", &kept))?;
    Ok(report)
}

/// The names of what has been imported.
pub fn list(home: &Home) -> Result<Vec<String>, Error> {
    let folder = home.require()?.data();
    let mut names: Vec<String> = fs::read_dir(&folder)
        .map_err(Error::io("cannot read", &folder))?
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_suffix(".csv").map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}

/// The report on imported data, and its hash.
pub fn look(home: &Home, name: &str) -> Result<(Report, String), Error> {
    let file = home.data().join(format!("{name}.csv"));
    Ok((Candles::read(&file)?.1, digest(&file)?))
}

/// SHA-256 of as many bytes of a file as there were once; of all of it and nothing, if fewer are there now.
pub fn digest_of(file: &Path, length: u64) -> Result<String, Error> {
    let mut bytes = fs::read(file).map_err(Error::io("this golem's data is gone: cannot read", file))?;
    bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    Ok(hash_of(&bytes))
}

fn hash_of(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

/// SHA-256 of a file, so that a life goes on in the data it was born into.
pub fn digest(file: &Path) -> Result<String, Error> {
    let bytes = fs::read(file).map_err(Error::io("this golem's data is gone: cannot read", file))?;
    Ok(hash_of(&bytes))
}
