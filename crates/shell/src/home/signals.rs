//! Signals within one process: a host hears at once of a letter that another thread of its process has written, and that thread
//! hears at once of the reply. The files of the inbox are what counts, before a kill and after it. A signal only says that one of
//! them is there; between two processes the folder of bells and the file of the reply say the same.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use golem::{CommandId, Name};
use tokio::sync::Notify;

use super::place::GolemHome;
use crate::locks::{lock, recover};

/// The callback of a host for a golem that has a letter.
type HearsOfLetter = Arc<dyn Fn(&Name) + Send + Sync>;

/// The signals of a home within one process.
#[derive(Default)]
pub struct Signals {
    host: Mutex<Option<HearsOfLetter>>,
    awaited: Mutex<Vec<(CommandId, Arc<ReplyBell>)>>,
}

/// The connection of a host to the signals of its process. Letters are announced by files alone once it is dropped.
pub struct HostSignals {
    signals: Arc<Signals>,
    hears: HearsOfLetter,
}

/// A reply that a thread of this process waits for.
pub struct AwaitedReply {
    signals: Arc<Signals>,
    bell: Arc<ReplyBell>,
}

#[derive(Default)]
struct ReplyBell {
    /// Whether the reply was announced since the thread last waited.
    rung: Mutex<bool>,
    rings: Condvar,
    /// For tasks, which must not block.
    notify: Notify,
}

impl Signals {
    /// Connects the host that runs the golems of this home from now on.
    pub fn connect(self: &Arc<Signals>, hears: impl Fn(&Name) + Send + Sync + 'static) -> HostSignals {
        let hears: HearsOfLetter = Arc::new(hears);
        *self.host() = Some(Arc::clone(&hears));
        HostSignals { signals: Arc::clone(self), hears }
    }

    /// Whether a host in this process is connected.
    pub fn has_host(&self) -> bool {
        self.host().is_some()
    }

    /// Tells the host in this process that a golem has a letter; false if there is no such host.
    pub(crate) fn announce_letter(&self, golem: &Name) -> bool {
        let hears = self.host().clone();
        hears.is_some_and(|hears| {
            hears(golem);
            true
        })
    }

    /// Begins to wait for the reply to a letter. A reply from before may be announced no more: look for its file after this.
    pub fn await_reply(self: &Arc<Signals>, letter: CommandId) -> AwaitedReply {
        let bell = Arc::new(ReplyBell::default());
        self.awaited().push((letter, Arc::clone(&bell)));
        AwaitedReply { signals: Arc::clone(self), bell }
    }

    /// Tells the threads that wait for the reply to this letter that its file is there.
    pub(crate) fn announce_reply(&self, letter: CommandId) {
        for (_, bell) in self.awaited().iter().filter(|(id, _)| *id == letter) {
            *bell.rung() = true;
            bell.rings.notify_all();
            bell.notify.notify_one();
        }
    }

    fn host(&self) -> MutexGuard<'_, Option<HearsOfLetter>> {
        lock(&self.host)
    }

    fn awaited(&self) -> MutexGuard<'_, Vec<(CommandId, Arc<ReplyBell>)>> {
        lock(&self.awaited)
    }
}

impl AwaitedReply {
    /// Blocks until the reply is announced, no longer than this.
    pub fn wait(&self, most: Duration) {
        let rung = self.bell.rung();
        let waited = self.bell.rings.wait_timeout_while(rung, most, |rung| !*rung);
        let (mut rung, _) = recover(waited);
        *rung = false;
    }

    /// Returns once the reply is announced.
    pub async fn announced(&self) {
        self.bell.notify.notified().await;
    }
}

impl ReplyBell {
    fn rung(&self) -> MutexGuard<'_, bool> {
        lock(&self.rung)
    }
}

impl Drop for HostSignals {
    fn drop(&mut self) {
        let mut host = self.signals.host();
        // A host that has come up since stays connected.
        if host.as_ref().is_some_and(|hears| Arc::ptr_eq(hears, &self.hears)) {
            *host = None;
        }
    }
}

impl Drop for AwaitedReply {
    fn drop(&mut self) {
        self.signals.awaited().retain(|(_, bell)| !Arc::ptr_eq(bell, &self.bell));
    }
}

impl std::fmt::Debug for Signals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signals").field("host", &self.has_host()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HostSignals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostSignals").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AwaitedReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AwaitedReply").finish_non_exhaustive()
    }
}

impl GolemHome {
    /// Tells a host that there is something in the inbox: at once if it is in this process, else as [`GolemHome::ring`] does.
    pub fn ring_by(&self, signals: &Signals) {
        if !signals.announce_letter(&self.name) {
            self.ring();
        }
    }

    /// Whether a host in this very process runs this golem, so that its replies are announced here.
    pub fn is_hosted_by(&self, signals: &Signals) -> bool {
        signals.has_host() && self.lodges().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(20);

    fn name(name: &str) -> Name {
        name.parse().unwrap()
    }

    #[test]
    fn a_letter_is_announced_to_the_newest_host_and_to_none_that_has_gone() {
        let signals = Arc::new(Signals::default());
        assert!(!signals.announce_letter(&name("ada")), "there is no host");
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let connect = |host: &'static str| {
            let heard = Arc::clone(&heard);
            signals.connect(move |golem| heard.lock().unwrap().push(format!("{host} {golem}")))
        };
        let first = connect("first");
        assert!(signals.announce_letter(&name("ada")));
        let second = connect("second");
        drop(first);
        assert!(signals.has_host() && signals.announce_letter(&name("ben")));
        drop(second);
        assert!(!signals.has_host() && !signals.announce_letter(&name("eve")));
        assert_eq!(*heard.lock().unwrap(), ["first ada", "second ben"]);
    }

    #[test]
    fn a_reply_wakes_those_that_wait_for_it_and_one_that_came_first_is_not_lost() {
        let signals = Arc::new(Signals::default());
        let (mine, other) = (CommandId([1; 8]), CommandId([2; 8]));
        let awaited = signals.await_reply(mine);
        signals.announce_reply(other);
        let began = Instant::now();
        awaited.wait(Duration::from_millis(20));
        assert!(began.elapsed() >= Duration::from_millis(20), "another letter's reply wakes nothing");
        signals.announce_reply(mine);
        awaited.wait(LONG);
        let announcer = Arc::clone(&signals);
        let thread = std::thread::spawn(move || announcer.announce_reply(mine));
        awaited.wait(LONG);
        thread.join().unwrap();
        assert!(began.elapsed() < LONG, "both were heard");
        drop(awaited);
        assert!(signals.awaited().is_empty(), "nothing is kept of it");
    }

    #[test]
    fn a_task_hears_of_a_reply_that_came_before_it_waited() {
        let signals = Arc::new(Signals::default());
        let awaited = signals.await_reply(CommandId([1; 8]));
        signals.announce_reply(CommandId([1; 8]));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let heard = runtime.block_on(async { tokio::time::timeout(LONG, awaited.announced()).await });
        assert!(heard.is_ok());
    }
}
