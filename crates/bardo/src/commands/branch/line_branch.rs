//! The branch of a line, as it is written down in the folder of its first golem: where it is, and how far it has come.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use outside::fence::SealedTrees;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shell::life::checks::CheckPlan;
use shell::{Error, GolemHome, durable};

use super::git::{RuntimeGit, program};
use super::guard::{GuardedFiles, must_hold_no_pipe};
use super::links::{lie_apart, read_links};
use super::repository::Repository;

/// Files in the folder of the first golem.
const PLAN: &str = "branch.json";
const NOTES: &str = "branch-notes.json";

/// Variables that would have git work elsewhere.
const OF_GIT: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"];

/// The places of a line's branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BranchPlan {
    pub(super) repository: Repository,
    pub(super) worktree: PathBuf,
    /// The folder that the line was begun in, from the root.
    pub(super) within: PathBuf,
    /// Name of the branch, such as `bardo/ada`.
    pub(super) branch: String,
    /// The commit that it began with.
    pub(super) base: String,
    /// Paths from the root that are the owner's own.
    pub(super) links: BTreeSet<PathBuf>,
}

/// Notes on a branch, from one life to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BranchNotes {
    /// The newest commit that the runtime knows of.
    pub(super) newest: Option<String>,
    /// Files that say what git runs, as they were when the present life's program was started.
    pub(super) guarded: Option<GuardedFiles>,
}

/// The branch that a line works on.
#[derive(Clone, Debug)]
pub(crate) struct LineBranch {
    first: GolemHome,
    pub(super) plan: BranchPlan,
}

impl LineBranch {
    /// Refuses a folder in which no line can work on a branch of its own, before anything is made.
    pub(crate) fn fits_here() -> Result<(), Error> {
        program(&Repository::around(&here()?)?.root).map(|_| ())
    }

    /// The branch of the line that begins with this golem, if its owner wants one for it; it is begun where the owner is.
    pub(crate) fn of(first: &GolemHome, wanted: bool, link: &[PathBuf]) -> Result<Option<LineBranch>, Error> {
        let (name, known) = (&first.name, LineBranch::read(first)?);
        if !wanted {
            let Some(branch) = known else { return Ok(None) };
            return Err(Error::Usage(format!(
                "the line of {name} works on the branch {}; say --branch, or --name for another line",
                branch.plan.branch
            )));
        }
        let here = here()?;
        let mut plan = match known {
            Some(branch) if Repository::around(&here)? != branch.plan.repository => {
                return Err(Error::Usage(format!(
                    "the line of {name} works for {}; go there, or begin another line with --name",
                    branch.plan.repository.root.display()
                )));
            }
            Some(branch) => branch.plan,
            None => begin(first, &here)?,
        };
        let git = RuntimeGit::of(first, &plan.repository, &format!("refs/heads/{}", plan.branch))?;
        let links = read_links(&git, &plan.repository, &here, link)?;
        drop(git);
        plan.links.extend(links);
        lie_apart(&plan.repository.root, &plan.links)?;
        write(first, PLAN, &plan)?;
        Ok(Some(LineBranch { first: first.clone(), plan }))
    }

    /// The branch of the line that begins with this golem, as it was begun.
    pub(super) fn read(first: &GolemHome) -> Result<Option<LineBranch>, Error> {
        let plan = read(first, PLAN)?;
        Ok(plan.map(|plan| LineBranch { first: first.clone(), plan }))
    }

    /// Name of the branch in full.
    pub(super) fn full(&self) -> String {
        format!("refs/heads/{}", self.plan.branch)
    }

    /// The folder of git's own files for the worktree.
    pub(super) fn admin(&self) -> PathBuf {
        self.plan.repository.common.join("worktrees").join(self.plan.branch.replace('/', "-"))
    }

    /// Folders in which git keeps the branches of lines, and its log of them.
    pub(super) fn shared(&self) -> [PathBuf; 2] {
        ["refs/heads/bardo", "logs/refs/heads/bardo"].map(|name| self.plan.repository.common.join(name))
    }

    /// A git whose HEAD is this branch, or another.
    pub(super) fn git(&self, head: &str) -> Result<RuntimeGit<'_>, Error> {
        let objects = self.plan.repository.common.join("objects");
        self.shared().iter().chain([&objects]).try_for_each(|folder| must_hold_no_pipe(folder, true))?;
        RuntimeGit::of(&self.first.present(), &self.plan.repository, head)
    }

    pub(super) fn notes(&self) -> Result<BranchNotes, Error> {
        Ok(read(&self.first.present(), NOTES)?.unwrap_or_default())
    }

    pub(super) fn note(&self, notes: &BranchNotes) -> Result<(), Error> {
        write(&self.first.present(), NOTES, notes)
    }

    /// The folder that its lives work in.
    pub(crate) fn folder(&self) -> PathBuf {
        let within = self.plan.worktree.join(&self.plan.within);
        if within.is_dir() { within } else { self.plan.worktree.clone() }
    }

    /// Places in the owner's own folders that a life writes to: commits of its own branch, and what is linked.
    fn open(&self) -> Vec<PathBuf> {
        let Repository { root, common, .. } = &self.plan.repository;
        let links = self.plan.links.iter().map(|path| root.join(path)).filter(|path| path.is_dir());
        let own = [common.join("objects"), self.admin()].into_iter().chain(self.shared());
        own.chain(links).filter_map(|path| path.canonicalize().ok()).collect()
    }

    /// All that is the owner's own, which a life may read.
    pub(crate) fn sealed(&self) -> SealedTrees {
        SealedTrees { trees: self.plan.repository.trees(), open: self.open() }
    }

    /// Has a program start in the folder of its lives, as if its owner stood there.
    pub(crate) fn place_in(&self, command: &mut Command) {
        let folder = self.folder();
        command.current_dir(&folder).env("PWD", folder);
        for name in OF_GIT {
            command.env_remove(name);
        }
    }

    /// Protected paths, and the same in the worktree.
    pub(crate) fn protected(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let from_root = |path: &PathBuf| path.strip_prefix(&self.plan.repository.root).ok().map(Path::to_owned);
        let there = paths.iter().filter_map(from_root).map(|path| self.plan.worktree.join(path));
        paths.iter().cloned().chain(there.filter(|path| path.exists())).collect()
    }

    /// Has checks look at the worktree, and keeps what they run from writing to what is the owner's.
    pub(crate) fn narrow(&self, plan: CheckPlan, protected: &[PathBuf]) -> CheckPlan {
        let SealedTrees { trees, open } = self.sealed();
        CheckPlan { folder: self.folder(), protect: [self.protected(protected), trees].concat(), given: open, ..plan }
    }
}

fn here() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.map_err(|why| Error::Usage(format!("there is no folder to work in: {why}")))
}

/// Where a branch for this line is begun: at the commit that its owner is on.
fn begin(first: &GolemHome, here: &Path) -> Result<BranchPlan, Error> {
    let repository = Repository::around(here)?;
    let branch = format!("bardo/{}", first.name);
    let full = format!("refs/heads/{branch}");
    let within = here.strip_prefix(&repository.root).map(Path::to_owned).unwrap_or_default();
    let git = RuntimeGit::of(first, &repository, &full)?;
    let base = git.commit(&repository.head()?)?;
    let is_there = git.commit(&full)?.is_some();
    drop(git);
    let name = &first.name;
    if is_there {
        let why =
            format!("there is a branch {branch} already, which is not this line's; --name calls it something else");
        return Err(Error::Usage(why));
    }
    let Some(base) = base else {
        let why = format!("{} has no commit yet that a branch could begin with; make one", repository.root.display());
        return Err(Error::Usage(why));
    };
    let beside = repository.root.file_name().map(|root| format!("{}-{name}", root.to_string_lossy()));
    let worktree = repository.root.parent().zip(beside).map(|(folder, name)| folder.join(name));
    let worktree = worktree.ok_or_else(|| Error::Usage("there is no room for a worktree beside /".to_owned()))?;
    if worktree.symlink_metadata().is_ok() {
        let why = format!("{} is there already, and would be the worktree; move it, or say --name", worktree.display());
        return Err(Error::Usage(why));
    }
    Ok(BranchPlan { repository, worktree, within, branch, base, links: BTreeSet::new() })
}

fn read<T: DeserializeOwned>(first: &GolemHome, name: &str) -> Result<Option<T>, Error> {
    let path = first.folder.join(name);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(None),
        Err(other) => return Err(Error::io("cannot read", &path)(other)),
    };
    let read = serde_json::from_str(&text);
    read.map(Some).map_err(|why| Error::Damaged(format!("{} does not describe a branch: {why}", path.display())))
}

fn write(first: &GolemHome, name: &str, what: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(what).expect("plain data") + "\n";
    durable::write(&first.folder.join(name), text.as_bytes())
}
