//! `golem merge`: the work of a line, taken into the branch that its owner is on, once they have seen it and said yes.
//!
//! Neither this repository's hooks nor its drivers are run: the merge is made of commits alone, and where it would conflict nothing
//! is changed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use golem::plain;
use serde_json::json;
use shell::{Error, GolemHome, Home};

use super::LineBranch;
use super::git::{GitFiles, Identity, RuntimeGit, one_line, parts};
use crate::named;
use crate::output::{self, line};

/// Conflicts that are named.
const NAMES: usize = 8;
/// Characters of a name: an agent may have called a file anything.
const NAME: usize = 200;
/// Columns of the summary.
const WIDE: &str = "--stat=100,70";
/// Marks of a merge or the like that an owner is in the middle of.
const UNFINISHED: [&str; 5] = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// A merge that can be made.
#[derive(Debug, PartialEq, Eq)]
struct LineMerge {
    /// The branch that its owner is on, in full, and its commit.
    onto: String,
    old: String,
    /// The newest commit of the line, and how many there are of it.
    tip: String,
    commits: String,
    tree: String,
    /// Nothing was done on the owner's branch meanwhile, so it only moves on.
    is_straight: bool,
}

pub(crate) fn merge(home: &Home, name: &str, yes: bool, json: bool) -> Result<ExitCode, Error> {
    let place = named::golem(home, name)?;
    let (first, last) = ends_of_line(home, &place)?;
    let Some(branch) = LineBranch::read(&first)? else {
        let why =
            format!("the line of {} works on no branch of its own; --branch at its start gives it one", first.name);
        return Err(Error::Usage(why));
    };
    let config = first.config();
    let lock = File::open(&config).map_err(Error::io("cannot open", &config))?;
    if lock.try_lock().is_err() {
        let why = format!("a process lives the line of {}; wait for it to end, or end it with Ctrl-C", first.name);
        return Err(Error::Busy(why));
    }
    if last.wake()?.0.life().is_dead() {
        branch.keep(&last.name)?;
    } else {
        output::complain(format!("{} lives, and only what it has committed is merged", last.name));
        branch.watch()?;
    }
    let onto = branch.plan.repository.head()?;
    if !onto.starts_with("refs/heads/") {
        let root = branch.plan.repository.root.display();
        let why = format!("{root} is on no branch; `git switch` to the one that this is merged into");
        return Err(Error::Refused(why));
    }
    let git = branch.git(&onto)?;
    let Some(merge) = plan(&branch, &git, onto)? else {
        say(json, &branch, None, "everything of it is merged already");
        return Ok(ExitCode::SUCCESS);
    };
    if !json {
        let at = git.anywhere();
        let shown = ["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "--no-color", WIDE];
        let stat = git.ask(&at, &[&shown[..], &[merge.old.as_str(), merge.tree.as_str()]].concat(), b"")?;
        let commits = if merge.commits == "1" { "1 commit".to_owned() } else { format!("{} commits", merge.commits) };
        line(format!("{commits} of {} onto {}:", branch.plan.branch, short(&merge.onto)));
        line(String::from_utf8_lossy(&stat).trim_end());
    }
    let consent = yes || (!json && std::io::stdin().is_terminal() && ask("merge this?"));
    if !consent {
        say(json, &branch, None, "nothing was merged; say --yes to merge it");
        return Ok(ExitCode::SUCCESS);
    }
    if !yes {
        must_be_as_shown(&branch, &git, &merge)?;
    }
    let commit = carry_out(&branch, &git, &merge)?;
    let worktree = branch.plan.worktree.display();
    let done = format!(
        "{} is merged into {}; when you are done with it: git worktree remove --force {worktree} && git branch -d {}",
        branch.plan.branch,
        short(&merge.onto),
        branch.plan.branch
    );
    say(json, &branch, Some(&commit), &done);
    Ok(ExitCode::SUCCESS)
}

fn say(json: bool, branch: &LineBranch, commit: Option<&str>, words: &str) {
    if json {
        return output::json(&json!({
            "branch": branch.plan.branch, "merged": commit.is_some(), "commit": commit, "words": words,
        }));
    }
    line(words);
}

fn ask(question: &str) -> bool {
    output::ask(format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "yes")
}

fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

/// The first and the newest golem of the line that this one belongs to.
fn ends_of_line(home: &Home, place: &GolemHome) -> Result<(GolemHome, GolemHome), Error> {
    let life = place.wake()?.0.life().clone();
    let id = life.birth().lineage.as_ref().map_or(life.id(), |line| line.first);
    let (mut first, mut newest) = (None, (0, place.clone()));
    for other in home.list()? {
        let Ok((golem, _)) = other.wake() else { continue };
        let (life, lineage) = (golem.life(), golem.life().birth().lineage.as_ref());
        if life.id() == id {
            first = Some(other.clone());
        }
        let is_of_line = life.id() == id || lineage.is_some_and(|line| line.first == id);
        if is_of_line && life.birth().generation >= newest.0 {
            newest = (life.birth().generation, other);
        }
    }
    let gone = || Error::Refused(format!("the first golem of the line of {} is not here", place.name));
    Ok((first.ok_or_else(gone)?, newest.1))
}

/// Finds out whether the branch can be merged; none if there is nothing to merge.
fn plan(branch: &LineBranch, git: &RuntimeGit<'_>, onto: String) -> Result<Option<LineMerge>, Error> {
    let (repository, name) = (&branch.plan.repository, &branch.plan.branch);
    let root = repository.root.display();
    let refused = |why: String| Err(Error::Refused(why));
    let Some(tip) = git.commit(&branch.full())? else {
        return refused(format!("there is no branch {name} any more"));
    };
    let Some(old) = git.commit(&onto)? else { return refused(format!("{} has no commit", short(&onto))) };
    if git.is_in(&tip, &old)? {
        return Ok(None);
    }
    if let Some(mark) = UNFINISHED.iter().find(|mark| repository.own.join(mark).exists()) {
        return refused(format!("you are in the middle of something in {root} ({mark}); finish that first"));
    }
    if repository.own.join("info/sparse-checkout").exists() {
        return refused(format!(
            "{root} is checked out in part; `git merge {name}` merges it, with your hooks and filters"
        ));
    }
    let index = repository.own.join("index");
    let files = GitFiles { tree: &repository.root, index: &index, opens: &[], identity: None };
    let status = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
    let changes = one_line(&git.ask(&files, &status, b"")?);
    if !changes.is_empty() {
        let files = changes.lines().count();
        let files = if files == 1 { "a file that is".to_owned() } else { format!("{files} files that are") };
        return refused(format!("{root} has {files} not committed; commit or stash that first"));
    }
    let is_straight = git.is_in(&old, &tip)?;
    let tree = if is_straight { tree_of(git, &tip)? } else { merged_tree(git, name, &old, &tip)? };
    let commits = one_line(&git.ask(&git.anywhere(), &["rev-list", "--count", &format!("{old}..{tip}")], b"")?);
    if let Some(path) = in_the_way(git, &repository.root, &old, &tree)? {
        return refused(format!("{} is not in git, and would be written over; move it away first", path.display()));
    }
    Ok(Some(LineMerge { onto, old, tip, commits, tree, is_straight }))
}

/// Refuses to go on if anything has changed while its owner was asked: it would be merged into another branch, or into half of it.
fn must_be_as_shown(branch: &LineBranch, git: &RuntimeGit<'_>, shown: &LineMerge) -> Result<(), Error> {
    let onto = branch.plan.repository.head()?;
    if onto == shown.onto && plan(branch, git, onto)?.as_ref() == Some(shown) {
        return Ok(());
    }
    let root = branch.plan.repository.root.display();
    Err(Error::Refused(format!("{root} has changed while you were asked, and nothing was merged; merge it again")))
}

fn tree_of(git: &RuntimeGit<'_>, commit: &str) -> Result<String, Error> {
    Ok(one_line(&git.ask(&git.anywhere(), &["rev-parse", &format!("{commit}^{{tree}}")], b"")?))
}

/// Merges two commits without a working tree. The answer is the tree, and the names of files with conflicts up to an empty one.
fn merged_tree(git: &RuntimeGit<'_>, name: &str, old: &str, tip: &str) -> Result<String, Error> {
    let merged = git.run(&git.anywhere(), &["merge-tree", "--write-tree", "-z", "--name-only", old, tip], b"")?;
    let mut said = merged.said.split(|byte| *byte == 0);
    let tree = said.next().map(one_line).unwrap_or_default();
    match merged.code {
        Some(0) => Ok(tree),
        Some(1) => {
            let shown = |name: &[u8]| plain::line(&one_line(name), NAME);
            let all: BTreeSet<String> = said.take_while(|part| !part.is_empty()).map(shown).collect();
            let names: Vec<&str> = all.iter().take(NAMES).map(String::as_str).collect();
            let more = if all.len() > NAMES { format!(" and {} more", all.len() - NAMES) } else { String::new() };
            Err(Error::Refused(format!(
                "it would conflict in {}{more}, and nothing was changed; `git merge {name}` merges it by hand, with your hooks and \
                 filters",
                names.join(", ")
            )))
        }
        _ => Err(Error::Host(format!("git merge-tree failed, which takes git 2.38 or newer: {}", merged.complaint))),
    }
}

/// A file that git does not know and that the merge would write over. Git itself spares those that it does not ignore.
fn in_the_way(git: &RuntimeGit<'_>, root: &Path, old: &str, tree: &str) -> Result<Option<PathBuf>, Error> {
    let changed = |filter: &str| {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", filter, old, tree];
        git.ask(&git.anywhere(), &args, b"")
    };
    let (added, removed) = (changed("--diff-filter=A")?, changed("--diff-filter=D")?);
    let removed: BTreeSet<&[u8]> = parts(&removed).collect();
    for path in parts(&added) {
        let mut at = root.to_owned();
        let mut so_far = PathBuf::new();
        for part in Path::new(OsStr::from_bytes(path)) {
            at.push(part);
            so_far.push(part);
            match at.symlink_metadata() {
                Err(_) => break,
                Ok(there) if there.is_dir() && so_far.as_os_str().as_bytes() != path => {}
                // A file of git's that the line has made a folder of.
                Ok(_) if removed.contains(so_far.as_os_str().as_bytes()) => break,
                Ok(there) if there.is_dir() && holds_only(&at, &so_far, &removed) => break,
                Ok(_) => return Ok(Some(at)),
            }
        }
    }
    Ok(None)
}

/// Whether everything in a folder is removed by the merge.
fn holds_only(folder: &Path, from_root: &Path, removed: &BTreeSet<&[u8]>) -> bool {
    let Ok(entries) = folder.read_dir() else { return false };
    entries.flatten().all(|entry| {
        let (at, from_root) = (entry.path(), from_root.join(entry.file_name()));
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_dir { holds_only(&at, &from_root, removed) } else { removed.contains(from_root.as_os_str().as_bytes()) }
    })
}

/// Changes the owner's tree, and then their branch.
fn carry_out(branch: &LineBranch, git: &RuntimeGit<'_>, merge: &LineMerge) -> Result<String, Error> {
    let (repository, name) = (&branch.plan.repository, &branch.plan.branch);
    let user = git.setting("user.name")?.zip(git.setting("user.email")?);
    let (user, email) = user.unwrap_or_else(|| ("Bardo".to_owned(), "bardo@localhost".to_owned()));
    let says = format!("Merge branch '{name}'");
    let commit = if merge.is_straight {
        merge.tip.clone()
    } else {
        let identity = Some(Identity { name: &user, email: &email });
        let files = GitFiles { identity, ..git.anywhere() };
        let args = ["commit-tree", &merge.tree, "-p", &merge.old, "-p", &merge.tip, "-m", &says];
        one_line(&git.ask(&files, &args, b"")?)
    };
    let index = repository.own.join("index");
    let opens = [repository.root.as_path(), &repository.own, &repository.common];
    let identity = Some(Identity { name: &user, email: &email });
    let files = GitFiles { tree: &repository.root, index: &index, opens: &opens, identity };
    let moved = git.run(&files, &["read-tree", "-m", "-u", &merge.old, &commit], b"")?;
    if moved.code != Some(0) {
        return Err(Error::Refused(format!("nothing was merged: {}", moved.complaint)));
    }
    let onward = git.ask(&files, &["update-ref", "-m", &format!("merge {name}"), "HEAD", &commit, &merge.old], b"");
    if let Err(why) = onward {
        // Files that the branch does not have would look like work of its owner's.
        git.ask(&files, &["read-tree", "-m", "-u", &commit, &merge.old], b"")?;
        return Err(Error::Refused(format!("nothing was merged: {why}")));
    }
    Ok(commit)
}
