//! Files that a life changed, as git compares them. The index it compares with is the runtime's own, made when the life began, so
//! nothing that stands in the tree's `.git` has a say: no hook, filter, driver or monitor of it is run. Git works behind a fence
//! that lets it write to that index alone.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use golem::thanatopsis::ChangedFiles;
use outside::fence::Fence;
use shell::{GolemHome, program};

/// How long git may take; a tree that takes longer is not looked at.
const LIMIT: Duration = Duration::from_secs(5);
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
/// Notes all files that git would not ignore by their content, and stores none of them.
const NOTE: &str = "git ls-files -z -o --exclude-standard | git update-index --add --info-only -z --stdin 2>/dev/null";
const CHANGED: &str = "git ls-files -z -m -o --exclude-standard";

/// The folder of the index, which no program of a golem's can write to.
fn store(place: &GolemHome) -> PathBuf {
    place.folder.join("tree")
}

/// Notes the tree as it is when a life begins, if it is one of git's; a life that goes on has noted it.
pub(crate) fn note(place: &GolemHome, here: &Path) {
    let store = store(place);
    let Some(top) = here.ancestors().find(|at| at.join(".git").exists()) else { return };
    if store.exists() {
        return;
    }
    let aside = store.with_extension("new");
    let _ = fs::remove_dir_all(&aside);
    let noted = make(&aside, top).is_ok() && git(place, &aside, top, NOTE).is_some();
    if !(noted && fs::rename(&aside, &store).is_ok()) {
        let _ = fs::remove_dir_all(&aside);
    }
}

/// The files that are otherwise than they were noted; none where they were not, or git cannot say.
pub(crate) fn changed_files(place: &GolemHome) -> Option<ChangedFiles> {
    let store = store(place);
    let top = fs::read_to_string(store.join("top")).ok()?;
    let said = git(place, &store, Path::new(&top), CHANGED)?;
    // A name that was cut off at the end of what is read has no end.
    let whole = said.rsplit_once('\0').map_or("", |(whole, _)| whole);
    // Another repository within this one is listed as a folder, changed or not.
    let names: BTreeSet<&str> = whole.split('\0').filter(|name| !name.is_empty() && !name.ends_with('/')).collect();
    Some(ChangedFiles::of(names))
}

/// Whether the tree is noted as a life found it.
pub(crate) fn is_noted(place: &GolemHome) -> bool {
    store(place).exists()
}

/// Drops what was noted of a life that is over.
pub(crate) fn forget(place: &GolemHome) {
    let _ = fs::remove_dir_all(store(place));
}

/// Makes a repository that has nothing but an index to come.
fn make(store: &Path, top: &Path) -> io::Result<()> {
    fs::create_dir_all(store.join("objects"))?;
    fs::create_dir_all(store.join("refs"))?;
    fs::write(store.join("HEAD"), "ref: refs/heads/none\n")?;
    fs::write(store.join("config"), CONFIG)?;
    fs::write(store.join("top"), top.to_str().ok_or(io::ErrorKind::InvalidInput)?)
}

/// Runs a line of ours, in which nothing of the tree stands.
fn git(place: &GolemHome, store: &Path, top: &Path, line: &str) -> Option<String> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).current_dir(top).env_clear();
    command.env("PATH", programs(top)?).env("GIT_DIR", store).env("GIT_WORK_TREE", top);
    command.env("GIT_INDEX_FILE", store.join("index"));
    command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_OPTIONAL_LOCKS", "0")]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let fence = Fence {
        hidden: vec![place.home().root().to_owned()],
        protected: vec![PathBuf::from("/")],
        given: vec![store.to_owned(), PathBuf::from("/dev")],
    };
    let ended = program::run(&mut command, b"", LIMIT, &AtomicBool::new(false), false, Some(&fence)).ok()?;
    (ended.code == Some(0)).then_some(ended.said)
}

/// Folders of programs, without those in which the tree could have a `git` of its own.
fn programs(top: &Path) -> Option<OsString> {
    let path = env::var_os("PATH")?;
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute() && !folder.starts_with(top));
    env::join_paths(folders).ok()
}

#[cfg(test)]
mod tests {
    use shell::Home;

    use super::*;

    fn run(folder: &Path, line: &str) {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.status().unwrap().success(), "{line}");
    }

    /// A tree whose own configuration would run a program for every file that git looks at.
    #[test]
    fn changed_files_are_told_and_nothing_of_a_hostile_tree_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, evil) = (folder.path().join("project"), folder.path().join("evil"));
        let place = Home::at(folder.path().join("home")).place(&"ada".parse().unwrap());
        fs::create_dir_all(&place.folder).unwrap();
        fs::create_dir_all(tree.join("src/deep")).unwrap();
        note(&place, &tree);
        assert_eq!(changed_files(&place), None, "it is no tree of git's");
        run(&tree, "git init -q . && echo a > src/a && echo b > b && echo c > c && echo built > .gitignore");
        let trap = format!("touch {0}; cat", evil.display());
        run(
            &tree,
            &format!(
                "git config filter.x.clean '{trap}' && git config core.fsmonitor '{trap}' && echo '* filter=x' > .gitattributes"
            ),
        );
        run(
            &tree,
            &format!(
                "mkdir hooks && printf '#!/bin/sh\n{trap}\n' > hooks/post-index-change && chmod +x hooks/* && git config core.hooksPath hooks"
            ),
        );
        note(&place, &tree.join("src/deep"));
        assert_eq!(changed_files(&place).unwrap(), ChangedFiles::default());
        run(&tree, "echo more >> src/a && rm c && echo new > 'n w' && touch b && echo x > built");
        note(&place, &tree);
        assert_eq!(changed_files(&place).unwrap().names, ["c", "n w", "src/a"], "as it was when the life began");
        assert!(!evil.exists(), "a program of the tree was run");
        forget(&place);
        assert_eq!(changed_files(&place), None);
    }
}
