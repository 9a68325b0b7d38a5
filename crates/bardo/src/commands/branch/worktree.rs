//! The worktree of a line, made or completed before each life: an ordinary worktree of git, whose few files are written here because
//! git's own command for it would run the hook of a checkout.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use shell::Error;

use super::LineBranch;
use super::git::{GitFiles, RuntimeGit, must_be_real};
use super::guard::{compare, guarded};
use super::line_branch::BranchNotes;
use super::links::lay_link;
use crate::output;

impl LineBranch {
    /// Has everything there that a life works with. Each step is taken if it is not done, so it goes on after a kill.
    pub(crate) fn stand(&self) -> Result<(), Error> {
        self.watch()?;
        let repository = &self.plan.repository;
        let (admin, worktree) = (self.admin(), &self.plan.worktree);
        let [branches, logs] = self.shared();
        let create = |folder: &Path| fs::create_dir_all(folder).map_err(Error::io("cannot create", folder));
        create(&branches)?;
        if repository.common.join("logs/refs").exists() {
            create(&logs)?;
        }
        if !worktree.exists() {
            // Without its files the index would say that all of them were removed.
            remove_file(&admin.join("index"))?;
        }
        create(worktree)?;
        create(&admin)?;
        must_be_real(worktree)?;
        must_be_real(&admin)?;
        self.write_links_of_git()?;
        let git = self.git(&self.full())?;
        let tip = self.tip(&git)?;
        if !admin.join("index").exists() {
            let (index, opens) = (admin.join("index"), [worktree.as_path(), &admin]);
            remove_file(&admin.join("index.lock"))?;
            let files = GitFiles { tree: worktree, index: &index, opens: &opens, identity: None };
            git.ask(&files, &["read-tree", "--reset", "-u", &tip], b"")?;
        }
        drop(git);
        for path in &self.plan.links {
            if let Some(why) = lay_link(&repository.root, worktree, path)? {
                output::complain(why);
            }
        }
        self.note(&BranchNotes { newest: Some(tip), guarded: Some(guarded(repository)) })
    }

    /// Refuses to go on once after a life in which files changed that say what git runs.
    pub(crate) fn watch(&self) -> Result<(), Error> {
        let notes = self.notes()?;
        let Some(was) = notes.guarded else { return Ok(()) };
        // Whatever has changed, its owner knows it from now on.
        self.note(&BranchNotes { guarded: None, ..notes })?;
        compare(&was, &guarded(&self.plan.repository))
    }

    /// The newest commit of the branch, which is made if it is not there.
    pub(super) fn tip(&self, git: &RuntimeGit<'_>) -> Result<String, Error> {
        if let Some(tip) = git.commit(&self.full())? {
            return Ok(tip);
        }
        let newest = self.notes()?.newest.unwrap_or_else(|| self.plan.base.clone());
        let says = "begin a line of lives";
        git.ask(&git.anywhere(), &["update-ref", "--no-deref", "-m", says, &self.full(), &newest], b"")?;
        Ok(newest)
    }

    /// Files by which git knows that the worktree is one, and of which repository.
    fn write_links_of_git(&self) -> Result<(), Error> {
        let (admin, worktree) = (self.admin(), &self.plan.worktree);
        let place = worktree.join(".git");
        if place.symlink_metadata().is_ok_and(|there| there.is_dir()) {
            return Err(Error::Refused(format!(
                "{} is a repository of its own by now; move it away, and the same command goes on",
                place.display()
            )));
        }
        put(&place, &format!("gitdir: {}\n", admin.display()))?;
        put(&admin.join("gitdir"), &format!("{}\n", place.display()))?;
        put(&admin.join("commondir"), "../..\n")?;
        if admin.join("HEAD").symlink_metadata().is_ok() {
            return Ok(());
        }
        put(&admin.join("HEAD"), &format!("ref: {}\n", self.full()))
    }
}

/// Writes a file that an agent could have made a link of.
pub(super) fn put(path: &Path, text: &str) -> Result<(), Error> {
    let is_it = path.symlink_metadata().is_ok_and(|there| there.is_file());
    if is_it && fs::read(path).is_ok_and(|said| said == text.as_bytes()) {
        return Ok(());
    }
    remove_file(path)?;
    fs::write(path, text).map_err(Error::io("cannot write", path))
}

pub(super) fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(Error::io("cannot remove", path)(why)),
        _ => Ok(()),
    }
}
