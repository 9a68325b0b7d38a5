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
        if real.starts_with(&repository.common) || from_root.starts_with(".git") {
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
