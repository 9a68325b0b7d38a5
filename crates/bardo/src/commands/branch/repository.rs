//! The repository that a folder belongs to, found by its files alone: a git that looked for it would read its settings.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shell::Error;

/// A repository with a working tree of its owner's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repository {
    /// The owner's working tree.
    pub(super) root: PathBuf,
    /// The folder with that tree's HEAD and index.
    pub(super) own: PathBuf,
    /// The folder with objects, branches and settings.
    pub(super) common: PathBuf,
}

impl Repository {
    pub(super) fn around(folder: &Path) -> Result<Repository, Error> {
        let folder = folder.canonicalize().map_err(Error::io("cannot find", folder))?;
        let is_root = |root: &&Path| root.join(".git").symlink_metadata().is_ok();
        let root = folder.ancestors().find(is_root).ok_or_else(|| {
            Error::Usage(format!("--branch is for a folder in a git repository, and {} is in none", folder.display()))
        })?;
        let own = own_folder(root)?;
        let common = match fs::read_to_string(own.join("commondir")) {
            Ok(text) => own.join(text.trim_end_matches('\n')),
            Err(missing) if missing.kind() == ErrorKind::NotFound => own.clone(),
            Err(other) => return Err(Error::io("cannot read", &own.join("commondir"))(other)),
        };
        let common = common.canonicalize().map_err(Error::io("cannot find", &common))?;
        Ok(Repository { root: root.to_owned(), own, common })
    }

    /// The branch that the owner is on, in full, or the commit where there is no branch.
    pub(super) fn head(&self) -> Result<String, Error> {
        let path = self.own.join("HEAD");
        let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
        let text = text.trim_end_matches('\n');
        Ok(text.strip_prefix("ref: ").unwrap_or(text).to_owned())
    }

    /// Folders of the owner's that no life writes to, none of them within another.
    pub(super) fn trees(&self) -> Vec<PathBuf> {
        let mut trees: Vec<PathBuf> = Vec::new();
        for folder in [&self.root, &self.common, &self.own] {
            if !trees.iter().any(|tree| folder.starts_with(tree)) {
                trees.push(folder.clone());
            }
        }
        trees
    }
}

/// The folder of git's own files: `.git`, or the folder that a file of this name leads to.
fn own_folder(root: &Path) -> Result<PathBuf, Error> {
    let git = root.join(".git");
    let own = if git.is_dir() {
        git
    } else {
        let text = fs::read_to_string(&git).map_err(Error::io("cannot read", &git))?;
        let to = text.strip_prefix("gitdir: ").map(|to| root.join(to.trim_end_matches('\n')));
        to.ok_or_else(|| Error::Usage(format!("{} does not say where its repository is", git.display())))?
    };
    own.canonicalize().map_err(Error::io("cannot find", &own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_found_from_any_folder_in_it_and_through_a_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["shop/.git/worktrees/side", "shop/src/deep", "side/src"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("side/.git"), format!("gitdir: {}\n", at("shop/.git/worktrees/side").display())).unwrap();
        fs::write(at("shop/.git/worktrees/side/commondir"), "../..\n").unwrap();
        let shop = Repository::around(&at("shop/src/deep")).unwrap();
        assert_eq!(shop, Repository { root: at("shop"), own: at("shop/.git"), common: at("shop/.git") });
        assert_eq!(shop.trees(), [at("shop")]);
        let side = Repository::around(&at("side/src")).unwrap();
        assert_eq!((&side.root, &side.common), (&at("side"), &at("shop/.git")));
        assert_eq!(side.own, at("shop/.git/worktrees/side"));
        assert_eq!(side.trees(), [at("side"), at("shop/.git")]);
        assert!(Repository::around(folder.path()).unwrap_err().to_string().contains("is in none"));
    }
}
