//! A host's connection to the relay: one thread that keeps calling, sends what is due, and writes down what comes before
//! a golem hears of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::FutureExt;
use golem::GolemId;
use shell::Error;
use shell::life::desk::{Brought, Desk};
use shell::river::{Arrived, RiverStore};
use styx::client::{Ear, Error as Trouble, Mouth, connect};
use styx::wire::{Down, Put, StoredWord, Up, Why};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tracing::{debug, info, warn};
use vault::Batch;

/// How often the thread checks whether something is due.
const LOOK: Duration = Duration::from_millis(500);
/// How long after a failure the relay is called again: at first, and at most after doubling.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// The most words under way to the relay at once.
const UNDER_WAY: usize = 512;
/// The most words that are written down together.
const TOGETHER: usize = 1_024;

/// The connection of a host that is up, until it is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Link {
    /// Begins to call, if this home belongs to a clade and there is a relay.
    pub(crate) fn begin(desk: &Arc<Desk>, url: Option<String>) -> Result<Option<Link>, Error> {
        let (Some(_), Some(url)) = (&desk.river, url) else { return Ok(None) };
        let (stop, desk) = (Arc::new(AtomicBool::new(false)), Arc::clone(desk));
        let stopped = Arc::clone(&stop);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| Error::Host(format!("cannot call the relay: {why}")))?;
        let thread = std::thread::Builder::new().name("river".into()).spawn(move || {
            let store = desk.river.as_ref().expect("it was looked at before");
            runtime.block_on(keep_calling(&url, &desk, store, &stopped));
        });
        let thread = thread.map_err(|why| Error::Host(format!("cannot call the relay: {why}")))?;
        Ok(Some(Link { stop, thread: Some(thread) }))
    }
}

impl Link {
    /// Tells the thread to hang up, without waiting for that: it may itself wait for a disk that takes nothing.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn keep_calling(url: &str, desk: &Desk, store: &RiverStore, stop: &AtomicBool) {
    let mut wait = AGAIN.0;
    while !stop.load(Ordering::SeqCst) {
        let ended = match connect(url, &store.clade, store.home).await {
            Ok((mouth, ear)) => {
                info!(relay = url, "connected");
                store.connected(desk.now_ms(), None);
                wait = AGAIN.0;
                let mut call = RelayCall { desk, store, mouth, ear, under_way: HashMap::new(), next: 0 };
                call.hold(stop).await
            }
            Err(why) => Err(why),
        };
        store.books().mailbox.unsent();
        let Err(why) = ended else { break };
        // A session that has run out is not an error.
        if matches!(why, Trouble::Turned(Why::Over)) {
            continue;
        }
        warn!(relay = url, %why, "not connected");
        store.connected(desk.now_ms(), Some(why.to_string()));
        let mut left = wait;
        while !left.is_zero() && !stop.load(Ordering::SeqCst) {
            settle(desk, store);
            let step = left.min(LOOK);
            sleep(step).await;
            left -= step;
        }
        wait = (wait * 2).min(AGAIN.1);
    }
}

/// A call to the relay.
struct RelayCall<'a> {
    desk: &'a Desk,
    store: &'a RiverStore,
    mouth: Mouth,
    ear: Ear,
    /// Words that the relay has not answered for, by id: the golem and the number of each.
    under_way: HashMap<u64, (GolemId, u64)>,
    next: u64,
}

impl RelayCall<'_> {
    /// Holds the call until it breaks off, or the host goes down.
    async fn hold(&mut self, stop: &AtomicBool) -> Result<(), Trouble> {
        let place = self.store.books().mailbox.place;
        self.mouth.say(&Up::After { sequence: place }).await?;
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stop.load(Ordering::SeqCst) {
            tokio::select! {
                said = self.ear.hear() => {
                    let mut frames = vec![said?];
                    let words = |frame: &Down| if let Down::Words { words } = frame { words.len() } else { 0 };
                    while frames.iter().map(words).sum::<usize>() < TOGETHER
                        && let Some(said) = self.ear.hear().now_or_never()
                    {
                        frames.push(said?);
                    }
                    self.heed(frames).await?;
                }
                () = self.store.due.notified() => {}
                _ = look.tick() => settle(self.desk, self.store),
            }
            self.send().await?;
        }
        Ok(())
    }

    async fn heed(&mut self, frames: Vec<Down>) -> Result<(), Trouble> {
        let mut came: Vec<StoredWord> = Vec::new();
        for frame in frames {
            match frame {
                Down::Words { mut words } => came.append(&mut words),
                Down::Taken { places } => {
                    let mut books = self.store.books();
                    for (id, _) in places {
                        if let Some((golem, number)) = self.under_way.remove(&id) {
                            books.mailbox.taken(golem, number);
                            books.state.sent += 1;
                        }
                    }
                }
                Down::Refused { id, why } => {
                    debug!(%why, "the relay does not take a word");
                    self.under_way.remove(&id);
                    let why =
                        if matches!(why, Why::TooFast { .. }) { "too much at once".into() } else { why.to_string() };
                    self.store.books().refuse(&format!("by the relay: {why}"));
                }
                Down::Here { sequence } => {
                    // A relay that has lost what it had is read again from its beginning.
                    if came.is_empty() && self.store.books().mailbox.place > sequence {
                        self.store.books().mailbox.place = 0;
                        self.mouth.say(&Up::After { sequence: 0 }).await?;
                    }
                }
                Down::Bye { why } => return Err(Trouble::Turned(why)),
                Down::Challenge { .. } | Down::Welcome { .. } => return Err(Trouble::NoRelay),
            }
        }
        if !came.is_empty() {
            let came: Vec<(u64, &[u8])> = came.iter().map(|kept| (kept.sequence, kept.envelope.as_ref())).collect();
            let (arrived, brought) = self.store.take(&came, self.desk.now_ms(), |rows| bring(self.desk, rows));
            deliver(self.desk, arrived, brought);
        }
        Ok(())
    }

    /// Sends what is due, and a receipt for what was heard.
    async fn send(&mut self) -> Result<(), Trouble> {
        let now = self.desk.now_ms();
        let room = UNDER_WAY.saturating_sub(self.under_way.len());
        let (due, receipt) = {
            let mut books = self.store.books();
            (books.mailbox.due(now, room), books.mailbox.receipt(now))
        };
        for (id, (envelope, _)) in (self.next..).zip(&due) {
            self.under_way.insert(id, (envelope.header.speaker.golem, envelope.header.number));
        }
        let mut words: Vec<Put> = due.iter().map(|(envelope, again)| Put::new(envelope, *again)).collect();
        words.extend(receipt.map(|receipt| Put::new(&receipt, false)));
        self.next = self.mouth.put(self.next, words).await?;
        Ok(())
    }
}

/// Settles what is overdue.
fn settle(desk: &Desk, store: &RiverStore) {
    let (arrived, brought) = store.settle(desk.now_ms(), |rows| bring(desk, rows));
    deliver(desk, arrived, brought);
}

fn bring(desk: &Desk, rows: Vec<styx::mailbox::RowChange>) -> Option<Brought> {
    (!rows.is_empty()).then(|| desk.bring(Batch { river: rows, ..Batch::default() }))
}

/// Puts what has come into the mail, once it is durable.
fn deliver(desk: &Desk, arrived: Arrived, brought: Option<Brought>) {
    if brought.is_some_and(|brought| desk.wait(brought).is_err()) {
        // The host cannot write any more and says so itself; what came will come again.
        return;
    }
    for parcel in arrived.parcels {
        desk.mail.spread(&parcel);
    }
    for (key, text) in arrived.news {
        desk.tell_owner(key, "clade", None, text);
    }
}
