//! Files and folders that are there whole or not at all: made aside, synced, and moved into place.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use settings::chance;
use vault::disk;

use crate::Error;
use crate::private;

/// A fresh folder that no other process uses, to make something whole in.
pub(crate) fn aside(parent: &Path, what: &str) -> Result<PathBuf, Error> {
    let folder = parent.join(format!(".{what}-{}", chance::identity(None, "")));
    private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
    Ok(folder)
}

/// Makes this folder if it is not there, but none around it: that of a golem that was renamed must not come back.
pub(crate) fn folder_within(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

pub(crate) fn copy_if_there(file: &Path, folder: &Path) -> Result<(), Error> {
    if !file.exists() {
        return Ok(());
    }
    let copy = folder.join(file.file_name().expect("a file has a name"));
    private::copy(file, &copy).map_err(Error::io("cannot copy", file))?;
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", &copy))
}

pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    fs::File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", folder))
}

/// Writes a file whole or not at all; after a power cut it may be as it was before, since nothing depends on its being
/// the newest.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let aside = path.with_extension("new");
    private::put(&aside, bytes).and_then(|_| fs::rename(&aside, path)).map_err(Error::io("cannot write", path))
}

/// Writes a file aside, syncs it and moves it into place.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    disk::before("a file").map_err(Error::io("cannot write", path))?;
    let aside = path.with_extension("new");
    let mut file = fs::File::create(&aside).map_err(Error::io("cannot create", &aside))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(Error::io("cannot write", &aside))?;
    fs::rename(&aside, path).map_err(Error::io("cannot move", &aside))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))?;
    disk::after("a file");
    Ok(())
}
