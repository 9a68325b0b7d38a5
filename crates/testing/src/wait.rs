//! Waiting for what can be seen, instead of for as long as it takes on a slow day.

use std::thread;
use std::time::{Duration, Instant};

/// How often is looked.
const EVERY: Duration = Duration::from_millis(10);
/// Longer than anything takes on a machine that is busy with something else.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until this holds, and panics with `what` if it never does.
#[track_caller]
pub fn until(what: &str, holds: impl FnMut() -> bool) {
    within(PATIENCE, || what.to_owned(), holds);
}

/// Waits as long as that at most. `why` is asked only when it is too late, and can say how things stand by then.
#[track_caller]
pub fn within(most: Duration, why: impl FnOnce() -> String, mut holds: impl FnMut() -> bool) {
    found(most, why, || holds().then_some(()));
}

/// Looks for something as long as that at most, and gives what it has found.
#[track_caller]
pub fn found<T>(most: Duration, why: impl FnOnce() -> String, mut find: impl FnMut() -> Option<T>) -> T {
    let late = Instant::now() + most;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < late, "{}", why());
        thread::sleep(EVERY);
    }
}
