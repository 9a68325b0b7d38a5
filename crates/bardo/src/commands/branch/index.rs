//! A working tree as it is, made into a tree of git. Repositories within it are left out: git would ask another git for changes in
//! them, and that one runs what their settings say. Submodules stay as the commit before has them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use shell::Error;

use super::git::{GitFiles, RuntimeGit, one_line, parts};

/// The mode of an entry that is a commit of another repository.
const REPOSITORY: &[u8] = b"160000 ";

/// A tree, and what could not be read into it.
#[derive(Debug)]
pub(super) struct TreeOfFiles {
    pub(super) tree: String,
    pub(super) complaint: Option<String>,
}

/// An entry of an index for a commit of another repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Submodule {
    commit: String,
    path: Vec<u8>,
}

/// Reads the files of a working tree that began as this commit, but for these paths, into the index, and makes a tree of them.
pub(super) fn read_files(
    git: &RuntimeGit<'_>,
    files: &GitFiles<'_>,
    commit: &str,
    without: &[PathBuf],
) -> Result<TreeOfFiles, Error> {
    git.ask(files, &["read-tree", commit], b"")?;
    let before = submodules(&entries(git, files)?);
    remove(git, files, before.iter().map(|one| &one.path[..]))?;
    let add = ["-c", "advice.addEmbeddedRepo=false", "add", "-A", "--ignore-errors"];
    let mut added = git.run(files, &add, b"")?;
    let mut complaint = None;
    if !matches!(added.code, Some(0 | 1)) {
        // One file that is not in the encoding that a `.gitattributes` says would keep all others from being read.
        complaint = Some(format!("its files are committed without a change of encoding: {}", added.complaint));
        git.keep_encodings()?;
        added = git.run(files, &add, b"")?;
    }
    match added.code {
        Some(0) => {}
        // Files that cannot be read stay where they are.
        Some(1) => complaint = Some(format!("not all that it left could be committed: {}", added.complaint)),
        _ => return Err(Error::Host(format!("git add failed: {}", added.complaint))),
    }
    let found = submodules(&entries(git, files)?);
    let without = without.iter().map(|path| path.as_os_str().as_bytes());
    remove(git, files, found.iter().map(|one| &one.path[..]).chain(without))?;
    restore(git, files, &before)?;
    Ok(TreeOfFiles { tree: one_line(&git.ask(files, &["write-tree"], b"")?), complaint })
}

fn entries(git: &RuntimeGit<'_>, files: &GitFiles<'_>) -> Result<Vec<u8>, Error> {
    git.ask(files, &["ls-files", "--stage", "-z"], b"")
}

/// Each entry is `MODE HASH STAGE`, a tab and the path.
fn submodules(entries: &[u8]) -> Vec<Submodule> {
    let read = |entry: &[u8]| {
        let rest = entry.strip_prefix(REPOSITORY)?;
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let tab = rest.iter().position(|byte| *byte == b'\t')?;
        Some(Submodule { commit: one_line(&rest[..space]), path: rest[tab + 1..].to_vec() })
    };
    parts(entries).filter_map(read).collect()
}

fn remove<'p>(git: &RuntimeGit<'_>, files: &GitFiles<'_>, paths: impl Iterator<Item = &'p [u8]>) -> Result<(), Error> {
    let input: Vec<u8> = paths.flat_map(|path| [path, b"\0"].concat()).collect();
    if input.is_empty() {
        return Ok(());
    }
    git.ask(files, &["update-index", "--force-remove", "-z", "--stdin"], &input).map(|_| ())
}

/// Enters submodules as they were, where their folders are still there and nothing else stands in their place.
fn restore(git: &RuntimeGit<'_>, files: &GitFiles<'_>, before: &[Submodule]) -> Result<(), Error> {
    if before.is_empty() {
        return Ok(());
    }
    let entries = entries(git, files)?;
    let path = |entry: &[u8]| entry.iter().position(|byte| *byte == b'\t').map(|tab| entry[tab + 1..].to_vec());
    let paths: BTreeSet<Vec<u8>> = parts(&entries).filter_map(path).collect();
    let stands = |one: &&Submodule| {
        let within = [&one.path[..], b"/"].concat();
        let is_taken = paths.range(within.clone()..).next().is_some_and(|path| path.starts_with(&within));
        let folder = files.tree.join(Path::new(OsStr::from_bytes(&one.path)));
        folder.symlink_metadata().is_ok_and(|there| there.is_dir()) && !is_taken && !paths.contains(&one.path)
    };
    let line = |one: &Submodule| [REPOSITORY, one.commit.as_bytes(), b" 0\t", &one.path[..], b"\0"].concat();
    let input: Vec<u8> = before.iter().filter(stands).flat_map(line).collect();
    git.ask(files, &["update-index", "-z", "--index-info"], &input).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commits_of_other_repositories_are_taken_for_submodules() {
        let entries = b"100644 aa 0\tREADME\x00160000 bb 0\tvendor/a b\n\x00120000 cc 0\t160000 x\0";
        let expected = Submodule { commit: "bb".to_owned(), path: b"vendor/a b\n".to_vec() };
        assert_eq!(submodules(entries), [expected]);
        assert!(submodules(b"").is_empty());
    }
}
