//! A relay's connections: which owners may use it, how much each may ask, and what each connection listens to. The
//! receiver of a message follows from the owner that signed in; nothing that a client sends names another owner.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::{Notify, mpsc, watch};

use crate::envelope::{Envelope, Header};
use crate::key::Owner;
use crate::limits::{Limits, Meter};
use crate::river::River;
use crate::wire::{StoredWord, Why};

/// Words that wait for one connection; a slower one reads the rest from the store.
const QUEUE: usize = 256;
/// How long to wait before listening to a partition again after a failure.
const AGAIN: Duration = Duration::from_millis(500);

/// The owners that may use a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guests {
    Anyone,
    Only(HashSet<Owner>),
}

#[derive(Debug)]
pub struct Gateway {
    pub(crate) river: River,
    pub(crate) limits: Limits,
    guests: RwLock<Guests>,
    revoked: RwLock<HashSet<Owner>>,
    meter: Mutex<Meter>,
    listeners: Mutex<HashMap<Owner, Vec<Listener>>>,
    /// How many connections listen to each partition: one without a listener is not read.
    ears: Vec<watch::Sender<usize>>,
    sockets: AtomicUsize,
    pub counts: Counts,
}

/// Counts of a relay since it came up.
#[derive(Debug, Default)]
pub struct Counts {
    pub taken: AtomicU64,
    pub refused: AtomicU64,
    pub told: AtomicU64,
    pub turned_away: AtomicU64,
}

/// One connection that listens.
#[derive(Debug)]
struct Listener {
    number: u64,
    to: mpsc::Sender<Arc<StoredWord>>,
    /// Signals that there was more than the connection could take.
    behind: Arc<Notify>,
}

/// The receiving end of a listener.
#[derive(Debug)]
pub(crate) struct Ear {
    pub(crate) from: mpsc::Receiver<Arc<StoredWord>>,
    pub(crate) behind: Arc<Notify>,
    owner: Owner,
    number: u64,
    gateway: Arc<Gateway>,
}

/// A place among the connections.
#[derive(Debug)]
pub(crate) struct Seat(Arc<Gateway>);

impl Gateway {
    pub fn new(river: River, limits: Limits, guests: Guests) -> Arc<Gateway> {
        Arc::new(Gateway {
            ears: (0..river.partitions()).map(|_| watch::Sender::new(0)).collect(),
            river,
            meter: Mutex::new(Meter::new(&limits)),
            limits,
            guests: RwLock::new(guests),
            revoked: RwLock::default(),
            listeners: Mutex::default(),
            sockets: AtomicUsize::new(0),
            counts: Counts::default(),
        })
    }

    /// Bars an owner from now on, and closes its connections.
    pub fn revoke(&self, owner: Owner) {
        self.revoked.write().unwrap_or_else(PoisonError::into_inner).insert(owner);
        self.listeners().remove(&owner);
    }

    /// Sets the owners that may use the relay from now on, and closes the connections of all others.
    pub fn let_in(&self, guests: Guests) {
        *self.guests.write().unwrap_or_else(PoisonError::into_inner) = guests;
        self.listeners().retain(|owner, _| self.lets_in(*owner));
    }

    pub(crate) fn lets_in(&self, owner: Owner) -> bool {
        let revoked = self.revoked.read().unwrap_or_else(PoisonError::into_inner).contains(&owner);
        let invited = match &*self.guests.read().unwrap_or_else(PoisonError::into_inner) {
            Guests::Anyone => true,
            Guests::Only(owners) => owners.contains(&owner),
        };
        invited && !revoked
    }

    pub(crate) fn may_sign_in(&self, address: IpAddr) -> Result<(), Why> {
        if self.sockets() > self.limits.sockets {
            return Err(Why::TooMany);
        }
        self.meter().signs_in(address).map_err(too_fast)
    }

    pub(crate) fn may_put(&self, owner: Owner, envelope: &Envelope) -> Result<(), Why> {
        let (header, bytes) = (envelope.header, envelope.bytes().len());
        self.meter().puts(owner, header.speaker, header.class, bytes).map_err(too_fast)
    }

    /// Begins to listen for one connection of this owner.
    pub(crate) fn listen(self: &Arc<Gateway>, owner: Owner) -> Result<Ear, Why> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let (to, from) = mpsc::channel(QUEUE);
        let (number, behind) = (NUMBER.fetch_add(1, Ordering::Relaxed), Arc::new(Notify::new()));
        let mut listeners = self.listeners();
        let here = listeners.entry(owner).or_default();
        if here.len() >= self.limits.sockets_each {
            return Err(Why::TooMany);
        }
        here.push(Listener { number, to, behind: Arc::clone(&behind) });
        self.ears(owner).send_modify(|ears| *ears += 1);
        Ok(Ear { from, behind, owner, number, gateway: Arc::clone(self) })
    }

    /// A seat for one more connection, if there are fewer than `most`.
    pub(crate) fn seat(self: &Arc<Gateway>, most: usize) -> Option<Seat> {
        let seat = Seat(Arc::clone(self));
        (self.sockets.fetch_add(1, Ordering::Relaxed) < most).then_some(seat)
    }

    pub fn sockets(&self) -> usize {
        self.sockets.load(Ordering::Relaxed)
    }

    /// Passes on messages that come into a partition to the connections of their owner.
    pub(crate) async fn pass_on(self: Arc<Gateway>, partition: u16) {
        let mut ears = self.ears[usize::from(partition)].subscribe();
        loop {
            let _ = ears.wait_for(|ears| *ears > 0).await;
            if let Ok(mut messages) = self.river.listen(partition).await {
                // Messages that came while no connection listened are read by the connections themselves.
                self.all_behind(partition);
                while let Some(Ok(message)) = tokio::select! {
                    message = messages.next() => message,
                    _ = ears.wait_for(|ears| *ears == 0) => None,
                } {
                    let Ok(sequence) = message.info().map(|info| info.stream_sequence) else { continue };
                    if let Ok(header) = Header::read(&message.payload) {
                        self.tell(header.owner, sequence, &message.payload);
                    }
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    fn tell(&self, owner: Owner, sequence: u64, envelope: &[u8]) {
        let listeners = self.listeners();
        let Some(here) = listeners.get(&owner) else { return };
        let kept = Arc::new(StoredWord { sequence, envelope: envelope.to_vec() });
        for listener in here {
            if listener.to.try_send(Arc::clone(&kept)).is_err() {
                listener.behind.notify_one();
            }
        }
    }

    fn ears(&self, owner: Owner) -> &watch::Sender<usize> {
        &self.ears[usize::from(self.river.partition(owner))]
    }

    fn all_behind(&self, partition: u16) {
        let listeners = self.listeners();
        let here = listeners.iter().filter(|(owner, _)| self.river.partition(**owner) == partition);
        here.flat_map(|(_, here)| here).for_each(|listener| listener.behind.notify_one());
    }

    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self) -> MutexGuard<'_, HashMap<Owner, Vec<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.gateway.ears(self.owner).send_modify(|ears| *ears -= 1);
        let mut listeners = self.gateway.listeners();
        if let Some(here) = listeners.get_mut(&self.owner) {
            here.retain(|listener| listener.number != self.number);
            if here.is_empty() {
                listeners.remove(&self.owner);
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.sockets.fetch_sub(1, Ordering::Relaxed);
    }
}

fn too_fast(wait: Duration) -> Why {
    Why::TooFast { seconds: (wait.as_secs() + 1).min(86_400) as u32 }
}
