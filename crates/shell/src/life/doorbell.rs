//! The doorbell of a life that runs by itself: it sleeps until a letter is there or something has come back from outside. The
//! kernel reports letters where it can; elsewhere the inbox is looked into again and again.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::durable;
use crate::errands::Waker;
use crate::locks::{lock, recover};
use crate::watch::FolderWatch;

/// How often the inbox is looked into while nothing else needs doing and the kernel reports no letters.
pub(super) const INBOX_EVERY: Duration = Duration::from_millis(50);
/// How often it is looked into all the same where the kernel reports them, and the clock with it.
const WATCHED_EVERY: Duration = Duration::from_secs(1);
/// How long it sleeps at a stretch: nothing wakes it when its owner asks it to stop.
const STRETCH: Duration = Duration::from_millis(250);

pub(super) struct Doorbell {
    inbox: PathBuf,
    rung: Arc<Rung>,
    looked: Instant,
    /// Begun with the first wait: most runs that are as fast as they go never wait.
    watch: Option<FolderWatch>,
    waited: bool,
}

#[derive(Default)]
struct Rung {
    state: Mutex<RungState>,
    rings: Condvar,
}

#[derive(Default)]
struct RungState {
    /// Whether something was put into the inbox since it was last looked into.
    letter: bool,
    /// Whether anything has come since the last wait.
    any: bool,
}

impl Doorbell {
    pub(super) fn of(inbox: PathBuf) -> Doorbell {
        Doorbell { inbox, rung: Arc::default(), looked: Instant::now(), watch: None, waited: false }
    }

    /// The callback for what comes back from outside.
    pub(super) fn waker(&self) -> Waker {
        let rung = Arc::clone(&self.rung);
        Arc::new(move || rung.ring(false))
    }

    /// Whether it is time to look into the inbox.
    pub(super) fn is_due(&self) -> bool {
        let every = if self.watch.is_some() { WATCHED_EVERY } else { INBOX_EVERY };
        self.rung.state().letter || self.looked.elapsed() >= every
    }

    /// Forgets what was rung for, right before the inbox is looked into.
    pub(super) fn looks(&mut self) {
        self.rung.state().letter = false;
        self.looked = Instant::now();
    }

    /// Sleeps until it rings, for a stretch at most and no longer than this.
    pub(super) fn wait(&mut self, most: Duration) {
        self.watch();
        let most = most.min(if self.watch.is_some() { STRETCH } else { INBOX_EVERY });
        let waited = self.rung.rings.wait_timeout_while(self.rung.state(), most, |state| !state.any);
        let (mut state, _) = recover(waited);
        state.any = false;
    }

    /// Begins to watch the inbox, if that was not tried yet.
    fn watch(&mut self) {
        if std::mem::replace(&mut self.waited, true) || durable::folder_within(&self.inbox).is_err() {
            return;
        }
        let rung = Arc::clone(&self.rung);
        self.watch = FolderWatch::begin(&self.inbox, move || rung.ring(true));
        // A letter from before is not reported.
        self.rung.ring(true);
    }
}

impl Rung {
    fn ring(&self, letter: bool) {
        let mut state = self.state();
        state.letter |= letter;
        state.any = true;
        drop(state);
        self.rings.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, RungState> {
        lock(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn it_sleeps_until_a_letter_or_an_answer_comes_and_loses_neither() {
        let folder = tempfile::tempdir().unwrap();
        let mut bell = Doorbell::of(folder.path().join("inbox"));
        bell.wait(STRETCH);
        assert!(bell.is_due(), "a letter from before is looked for");
        bell.looks();
        let began = Instant::now();
        bell.wait(STRETCH);
        let least = if bell.watch.is_some() { STRETCH } else { INBOX_EVERY };
        assert!(began.elapsed() >= least, "nothing has come");
        bell.waker()();
        assert!(bell.rung.state().any && !bell.rung.state().letter, "an answer is no letter");
        bell.wait(STRETCH);
        assert!(!bell.rung.state().any, "it ends one wait");
        if bell.watch.is_some() {
            fs::write(folder.path().join("inbox").join("1-2.letter"), "").unwrap();
            let until = Instant::now() + Duration::from_secs(20);
            while !bell.rung.state().letter && Instant::now() < until {
                bell.wait(STRETCH);
            }
            assert!(bell.rung.state().letter && bell.is_due());
        }
    }
}
