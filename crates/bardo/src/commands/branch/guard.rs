//! The files of a repository that say what git runs, as they were when a life began. Behind its fence an agent cannot write to them;
//! where there is no fence, its owner is told before anything else is done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use golem::hex;
use sha2::{Digest, Sha256};
use shell::Error;

use super::repository::Repository;

/// Files of a working tree that git reads wherever they lie.
const OPENED: [&str; 2] = [".gitignore", ".gitattributes"];
/// Bytes of a file that count.
const READS: u64 = 1 << 20;

/// A mark of each file, by its path.
pub(super) type GuardedFiles = BTreeMap<String, String>;

/// The files as they are.
pub(super) fn guarded(repository: &Repository) -> GuardedFiles {
    let Repository { root, own, common } = repository;
    let mut paths: BTreeSet<PathBuf> = [root, own, common].into_iter().cloned().collect();
    for folder in [common, own] {
        paths.extend(["config", "config.worktree"].map(|name| folder.join(name)));
        for name in ["hooks", "info"] {
            let entries = folder.join(name).read_dir().into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        }
    }
    if !root.join(".git").is_dir() {
        paths.insert(root.join(".git"));
    }
    paths.iter().filter_map(|path| Some((path.display().to_string(), mark(path)?))).collect()
}

/// None if there is no such file.
fn mark(path: &Path) -> Option<String> {
    let is = path.symlink_metadata().ok()?;
    // Not the device, whose number is another after the machine was started again.
    let place = format!("{}:{:o}", is.ino(), is.mode());
    if is.is_symlink() {
        return Some(format!("{place} to {}", fs::read_link(path).ok()?.display()));
    }
    if !is.is_file() {
        return Some(place);
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(READS).read_to_end(&mut bytes)).ok()?;
    // Whatever writes a file whole gives it another place on the disk, and it may say the same.
    Some(format!("{:o} {} {}", is.mode(), is.len(), hex::encode(&Sha256::digest(&bytes))))
}

/// Refuses to go on if anything is other than it was.
pub(super) fn compare(was: &GuardedFiles, is: &GuardedFiles) -> Result<(), Error> {
    let differs = |path: &&String| was.get(*path) != is.get(*path);
    let paths: BTreeSet<&String> = was.keys().chain(is.keys()).filter(differs).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = paths.iter().take(5).map(|path| path.as_str()).collect();
    Err(Error::Refused(format!(
        "while a life ran, {} changed, and your own git would run what is said there; look at it, put it right, and the same \
         command goes on",
        names.join(", ")
    )))
}

/// Refuses a pipe where git opens a file: it would wait for it until its time is over. In a folder of git's own, it opens any.
pub(super) fn must_hold_no_pipe(folder: &Path, is_of_git: bool) -> Result<(), Error> {
    let mut folders = vec![(folder.to_owned(), is_of_git)];
    while let Some((folder, is_of_git)) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if kind.is_dir() {
                folders.push((entry.path(), is_of_git || name == ".git"));
            } else if kind.is_fifo() && (is_of_git || OPENED.iter().any(|opened| name == *opened)) {
                let pipe = entry.path();
                return Err(Error::Refused(format!(
                    "{} is a pipe, and git would wait for it; remove it, and the same command goes on",
                    pipe.display()
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_that_says_what_git_runs_is_missed_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let git = root.join(".git");
        for name in [".git/hooks", ".git/info", ".git/objects"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(git.join("config"), "[core]\n").unwrap();
        let repository = Repository { root: root.clone(), own: git.clone(), common: git.clone() };
        for file in [".git/config", ".git/config.worktree", ".git/hooks/pre-commit", ".git/info/attributes"] {
            let was = guarded(&repository);
            fs::write(root.join("work"), file).unwrap();
            fs::write(git.join("objects/new"), file).unwrap();
            assert!(compare(&was, &guarded(&repository)).is_ok(), "work is no change");
            fs::write(root.join(file), "[alias]\n").unwrap();
            let told = compare(&was, &guarded(&repository)).unwrap_err().to_string();
            assert!(told.contains(file), "{told}");
        }
        let was = guarded(&repository);
        fs::rename(&git, root.join("moved")).unwrap();
        fs::create_dir(&git).unwrap();
        assert!(compare(&was, &guarded(&repository)).is_err(), "another folder stands in its place");
    }
}
