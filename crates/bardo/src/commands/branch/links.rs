//! Folders and files that git does not carry, such as dependencies, builds or `.env`: a worktree has symbolic links to the owner's.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use shell::Error;

use super::git::RuntimeGit;
use super::repository::Repository;

/// Paths from the root of a repository for what its owner wants linked; none of them is in git, or leads out of the repository.
pub(super) fn read_links(
    git: &RuntimeGit<'_>,
    repository: &Repository,
    here: &Path,
    paths: &[PathBuf],
) -> Result<BTreeSet<PathBuf>, Error> {
    let link = |path: &PathBuf| -> Result<PathBuf, Error> {
        let refused = |why: &str| Error::Usage(format!("--link {}: {why}", path.display()));
        let at = here.join(path);
        let real = at.canonicalize().map_err(|why| refused(&why.to_string()))?;
        if !real.starts_with(&repository.root) {
            return Err(refused("it is outside of the repository, and a line works within that"));
        }
        // The last part of it may be a link itself, and is linked as it is called.
        let last = at.file_name().zip(at.parent().and_then(|parent| parent.canonicalize().ok()));
        let named = last.map(|(name, parent)| parent.join(name));
        let from_root = named.as_deref().and_then(|named| named.strip_prefix(&repository.root).ok());
        let from_root = from_root.filter(|path| !path.as_os_str().is_empty());
        let from_root = from_root.ok_or_else(|| refused("name a folder or a file in the repository"))?;
        let of_git = [&repository.common, &repository.own];
        let leads_to_git = of_git.iter().any(|git| real.starts_with(git) || git.starts_with(&real));
        if leads_to_git || from_root.starts_with(".git") {
            return Err(refused("that is git's own"));
        }
        let text = from_root.to_str().ok_or_else(|| refused("its name is not text"))?;
        let index = repository.own.join("index");
        let files = super::git::GitFiles { index: &index, ..git.anywhere() };
        if !git.ask(&files, &["ls-files", "-z", "--", text], b"")?.is_empty() {
            return Err(refused("git has it, so every worktree has its own"));
        }
        Ok(from_root.to_owned())
    };
    paths.iter().map(link).collect()
}

/// Refuses what lies in a linked folder: an agent, which can write there, could have it lead to anything else of its owner's, and that
/// would be open to the next life.
pub(super) fn lie_apart(root: &Path, links: &BTreeSet<PathBuf>) -> Result<(), Error> {
    for outer in links {
        let Ok(open) = root.join(outer).canonicalize() else { continue };
        let lies_in = |path: &Path| path.starts_with(&open) && path != open;
        let inner = links.iter().find(|link| {
            let at = root.join(link);
            lies_in(&at) || at.canonicalize().is_ok_and(|at| lies_in(&at))
        });
        if let Some(inner) = inner {
            let (inner, outer) = (inner.display(), outer.display());
            return Err(Error::Usage(format!(
                "--link {inner}: it lies in {outer}, which is linked with all that is in it"
            )));
        }
    }
    Ok(())
}

/// Lays a link in a worktree, unless something else stands there; says so then. An agent may have put links on the way, and none is
/// followed.
pub(super) fn lay_link(root: &Path, worktree: &Path, path: &Path) -> Result<Option<String>, Error> {
    let (to, at) = (root.join(path), worktree.join(path));
    let mut folder = worktree.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else { continue };
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(there) if there.is_dir() => {}
            Ok(_) => return Ok(Some(format!("{} is not linked: {} is no folder", at.display(), folder.display()))),
            Err(_) => fs::create_dir(&folder).map_err(Error::io("cannot create", &folder))?,
        }
    }
    match symlink(&to, &at) {
        Ok(()) => Ok(None),
        Err(there) if there.kind() == ErrorKind::AlreadyExists => {
            let is_ours = fs::read_link(&at).is_ok_and(|leads| leads == to);
            Ok((!is_ours).then(|| format!("{} is not linked: something else stands there", at.display())))
        }
        Err(other) => Err(Error::io("cannot link", &at)(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_linked_folder_lies_in_another() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["build/out", "build-cache", "data/deep"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink(root.join("data/deep"), root.join("deep")).unwrap();
        symlink(root.join("data"), root.join("same")).unwrap();
        for (paths, fit) in [
            (&["build", "build-cache", "gone"][..], true),
            (&["data", "same"], true),
            (&["build", "build/out"], false),
            (&["data", "deep"], false),
            (&["same", "data/deep"], false),
        ] {
            let links: BTreeSet<PathBuf> = paths.iter().map(PathBuf::from).collect();
            assert_eq!(lie_apart(&root, &links).is_ok(), fit, "{paths:?}");
        }
        // What an agent has put in the place of the inner one leads elsewhere, and lies there all the same.
        fs::remove_dir(root.join("build/out")).unwrap();
        symlink(root.join("data"), root.join("build/out")).unwrap();
        assert!(lie_apart(&root, &["build", "build/out"].map(PathBuf::from).into()).is_err());
    }

    #[test]
    fn no_link_is_laid_through_a_link_or_over_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["root/app/modules", "tree", "elsewhere"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let lay = |path: &str| lay_link(&at("root"), &at("tree"), Path::new(path)).unwrap();
        assert_eq!(lay("app/modules"), None);
        assert_eq!(fs::read_link(at("tree/app/modules")).unwrap(), at("root/app/modules"));
        assert_eq!(lay("app/modules"), None, "it is there already");
        fs::write(at("tree/.env"), "theirs").unwrap();
        assert!(lay(".env").unwrap().contains("something else stands there"));
        symlink(at("elsewhere"), at("tree/out")).unwrap();
        assert!(lay("out/modules").unwrap().contains("is no folder"));
        assert_eq!(at("elsewhere").read_dir().unwrap().count(), 0);
    }
}
