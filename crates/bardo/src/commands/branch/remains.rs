//! Work that a life left uncommitted: committed by the runtime once it is dead, so that nothing is lost and its heir begins with it.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use golem::Name;
use shell::Error;

use super::LineBranch;
use super::git::{GitFiles, Identity, RuntimeGit, must_be_real, one_line};
use super::guard::must_hold_no_pipe;
use super::index::read_files;
use super::line_branch::BranchNotes;
use super::worktree::{put, remove_file};
use crate::output;

const RUNTIME: Identity<'_> = Identity { name: "Bardo", email: "bardo@localhost" };
/// The longest HEAD that is read.
const HEAD: u64 = 4_096;
/// Locks of commands of git that ended with the program.
const LOCKS: [&str; 2] = ["index.lock", "HEAD.lock"];
/// Marks of merges and the like that a life was in the middle of.
const UNFINISHED: [&str; 6] =
    ["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE"];
const UNFINISHED_FOLDERS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

impl LineBranch {
    /// Commits what this life, which is dead, left in the worktree. Nothing is done where nothing is left, so it may be asked for
    /// again after a kill.
    pub(crate) fn keep(&self, of: &Name) -> Result<(), Error> {
        self.watch()?;
        let (admin, worktree) = (self.admin(), &self.plan.worktree);
        if !worktree.is_dir() || !admin.is_dir() {
            return Ok(());
        }
        must_be_real(worktree)?;
        must_be_real(&admin)?;
        must_hold_no_pipe(worktree, false)?;
        LOCKS.iter().try_for_each(|name| remove_file(&admin.join(name)))?;
        let (own, [branches, logs]) = (self.plan.branch.trim_start_matches("bardo/"), self.shared());
        remove_file(&branches.join(format!("{own}.lock")))?;
        // Git would write to whatever a link in its place leads to.
        if logs.join(own).is_symlink() {
            remove_file(&logs.join(own))?;
        }
        let git = self.git(&self.full())?;
        let tip = self.tip(&git)?;
        let parents = self.parents(&git, &tip)?;
        let index = git.index();
        let files = GitFiles { tree: worktree, index: &index, opens: &[], identity: Some(RUNTIME) };
        let links: Vec<_> = self.plan.links.iter().cloned().collect();
        let left = read_files(&git, &files, &tip, &links)?;
        if let Some(why) = left.complaint {
            output::complain(format!("{of}: {why}"));
        }
        let before = one_line(&git.ask(&files, &["rev-parse", &format!("{tip}^{{tree}}")], b"")?);
        let newest = if left.tree == before && parents.len() == 1 && parents[0] == tip {
            tip
        } else {
            let says = format!("Keep what {of} left uncommitted");
            let mut args = vec!["commit-tree", &left.tree, "-m", &says];
            args.extend(parents.iter().flat_map(|parent| ["-p", parent.as_str()]));
            let commit = one_line(&git.ask(&files, &args, b"")?);
            // An agent may have had its branch stand for another, which is not to be moved.
            git.ask(&files, &["update-ref", "--no-deref", "-m", &says, &self.full(), &commit, &tip], b"")?;
            commit
        };
        self.settle(&index)?;
        drop(git);
        self.note(&BranchNotes { newest: Some(newest), guarded: None })
    }

    /// The commits that the files left are made of: the branch, and the commit that the life was on, if that was elsewhere.
    fn parents(&self, git: &RuntimeGit<'_>, tip: &str) -> Result<Vec<String>, Error> {
        let head = read_head(&self.admin().join("HEAD")).filter(|head| *head != self.full());
        let head = head.map(|head| git.commit(&head)).transpose()?.flatten();
        Ok(match head {
            Some(head) if git.is_in(tip, &head)? => vec![head],
            Some(head) if !git.is_in(&head, tip)? => vec![tip.to_owned(), head],
            _ => vec![tip.to_owned()],
        })
    }

    /// Has the worktree stand on its branch, with nothing under way, as its heir finds it.
    fn settle(&self, index: &Path) -> Result<(), Error> {
        let admin = self.admin();
        UNFINISHED.iter().try_for_each(|name| remove_file(&admin.join(name)))?;
        for name in UNFINISHED_FOLDERS {
            // Links are removed and not followed.
            let _ = fs::remove_dir_all(admin.join(name));
        }
        put(&admin.join("HEAD"), &format!("ref: {}\n", self.full()))?;
        let (aside, to) = (admin.join("index.bardo"), admin.join("index"));
        remove_file(&aside)?;
        fs::copy(index, &aside).and_then(|_| fs::rename(&aside, &to)).map_err(Error::io("cannot write", &to))
    }
}

/// The branch or the commit that a HEAD is on; none if an agent has written anything else.
fn read_head(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(HEAD).read_to_string(&mut text).ok()?;
    let text = text.trim_end();
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "/-_.".contains(c));
    match text.strip_prefix("ref: ") {
        Some(name) => {
            (name.starts_with("refs/heads/") && is_plain(name) && !name.contains("..")).then(|| name.to_owned())
        }
        None => {
            let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hash.then(|| text.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_a_branch_or_a_commit_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let head = folder.path().join("HEAD");
        let hash = "0123456789abcdef0123456789abcdef01234567";
        for (text, expected) in [
            ("ref: refs/heads/bardo/ada\n", Some("refs/heads/bardo/ada")),
            (format!("{hash}\n").as_str(), Some(hash)),
            ("ref: refs/heads/a..b", None),
            ("ref: refs/heads/$(true)", None),
            ("ref: --upload-pack=x", None),
            ("--all", None),
            ("", None),
        ] {
            fs::write(&head, text).unwrap();
            assert_eq!(read_head(&head).as_deref(), expected, "{text}");
        }
        fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &head).unwrap();
        assert_eq!(read_head(&head), None);
    }
}
