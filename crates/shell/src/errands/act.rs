//! Calls to a world, with a last check before anything is done.

use std::path::Path;
use std::time::Duration;

use golem::{Errand, What};
use vault::disk;
use world::World;

/// How long a world that gives no time itself is left alone when it cannot be reached.
pub(crate) const AWAY: Duration = Duration::from_secs(10);

/// An errand to a world, and whether it takes up exposure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Act {
    pub(crate) errand: Errand,
    pub(crate) adds: bool,
}

/// Performs an errand. This is the last check before money moves: an owner's freeze counts even if the golem has not
/// read it.
pub(crate) fn act(world: &mut (dyn World + Send), act: &Act, frozen: &Path) -> Result<What, world::Error> {
    let errand = match act.errand {
        Errand::Commit { key, .. } if act.adds && frozen.exists() => Errand::Reconcile { key },
        errand => errand,
    };
    // An errand that only asks leaves no trace.
    let leaves_a_trace = !matches!(errand, Errand::Preview { .. });
    if leaves_a_trace {
        let path = frozen.with_file_name("world.log");
        disk::before("a world").map_err(|source| world::Error::Io { what: "cannot write", path, source })?;
    }
    let answer = world::ask(world, &errand)?.expect("words for peers are not sent to a world");
    if leaves_a_trace {
        disk::after("a world");
    }
    Ok(answer)
}
