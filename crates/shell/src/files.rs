//! The limit of open files of this process: every golem, every client and every call at a provider takes some. The
//! limit that a shell or a service manager sets at first is for programs that have few.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limit to ask for where any number is allowed and the kernel has a limit of its own all the same.
const PLENTY: u64 = 10_240;

/// The limit before this program asked for more.
static BEFORE: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the limit as far as it may be raised.
pub fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let _ = BEFORE.set(current);
    for most in [maximum, Some(PLENTY)] {
        // None means any number.
        let more = current.is_some_and(|current| most.is_none_or(|most| most > current));
        if more && setrlimit(Resource::Nofile, Rlimit { current: most, maximum }).is_ok() {
            return;
        }
    }
}

/// The limit before [`raise`], for a program of the user's own that may go through all the files it could have open.
pub fn before() -> Option<u64> {
    BEFORE.get().copied().flatten()
}
