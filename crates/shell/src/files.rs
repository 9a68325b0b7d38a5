//! How many files this process may have open: every golem, every client and every call at a provider takes some. What a shell or
//! a service manager allows at first is for programs that have few.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Where any number is allowed and a kernel has a limit of its own all the same.
const PLENTY: u64 = 10_240;

/// What was allowed before this program asked for more.
static BEFORE: OnceLock<Option<u64>> = OnceLock::new();

/// From now on it may have as many open as it is ever let.
pub fn raise() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let _ = BEFORE.set(current);
    for most in [maximum, Some(PLENTY)] {
        // None is any number.
        let more = current.is_some_and(|current| most.is_none_or(|most| most > current));
        if more && setrlimit(Resource::Nofile, Rlimit { current: most, maximum }).is_ok() {
            return;
        }
    }
}

/// What was allowed before [`raise`], for a program that is its user's own and may go through all it could have open.
pub fn before() -> Option<u64> {
    BEFORE.get().copied().flatten()
}
