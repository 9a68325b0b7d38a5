//! A branch for a line of lives: a git worktree beside the owner's own, on the branch `bardo/NAME`, on which each life begins with
//! the commit that the one before has left, and which is merged by the owner's yes.
//!
//! The agent can write to the worktree and, if its owner gives it no fence, to the repository. So the runtime's own git reads
//! nothing from either that could name a program: its settings, hooks and attributes are in a folder of ours ([`git`]).

mod git;
mod guard;
mod index;
mod line_branch;
mod links;
mod merge;
mod remains;
mod repository;
mod worktree;

pub(crate) use line_branch::LineBranch;
pub(crate) use merge::merge;
