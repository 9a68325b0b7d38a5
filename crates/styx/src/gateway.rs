//! What a relay knows of whoever is connected: who may be here, how much it may ask, and who wants to be told what. Whom
//! something concerns is computed from who signed in; nothing that a client sends names anybody.

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
use crate::wire::{Kept, Why};

/// Words that wait for one connection; whoever is slower reads the rest where it is kept.
const QUEUE: usize = 256;
/// So long before what a partition has is listened to again after it could not be.
const AGAIN: Duration = Duration::from_millis(500);

/// Who may use a relay.
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
    /// How many listen to each partition: one to which nobody does is not read.
    ears: Vec<watch::Sender<usize>>,
    sockets: AtomicUsize,
    pub counts: Counts,
}

/// What a relay has done since it came up.
#[derive(Debug, Default)]
pub struct Counts {
    pub taken: AtomicU64,
    pub refused: AtomicU64,
    pub told: AtomicU64,
    pub turned_away: AtomicU64,
}

/// One connection that wants to be told.
#[derive(Debug)]
struct Listener {
    number: u64,
    to: mpsc::Sender<Arc<Kept>>,
    /// There was more than it could take.
    behind: Arc<Notify>,
}

/// What one connection is told by.
#[derive(Debug)]
pub(crate) struct Ear {
    pub(crate) from: mpsc::Receiver<Arc<Kept>>,
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

    /// From now on this owner is not let in, and whoever is here in its name is shown out.
    pub fn revoke(&self, owner: Owner) {
        self.revoked.write().unwrap_or_else(PoisonError::into_inner).insert(owner);
        self.listeners().remove(&owner);
    }

    /// From now on these may use it; whoever is here and not among them is shown out.
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

    /// Listens for one connection of this owner's.
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

    /// A place for one more connection, if there are fewer than so many.
    pub(crate) fn seat(self: &Arc<Gateway>, most: usize) -> Option<Seat> {
        let seat = Seat(Arc::clone(self));
        (self.sockets.fetch_add(1, Ordering::Relaxed) < most).then_some(seat)
    }

    pub fn sockets(&self) -> usize {
        self.sockets.load(Ordering::Relaxed)
    }

    /// Passes on what comes into a partition, to whoever is connected and whose it is.
    pub(crate) async fn pass_on(self: Arc<Gateway>, partition: u16) {
        let mut ears = self.ears[usize::from(partition)].subscribe();
        loop {
            let _ = ears.wait_for(|ears| *ears > 0).await;
            if let Ok(mut messages) = self.river.listen(partition).await {
                // What came while nobody listened, connections read for themselves.
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
        let kept = Arc::new(Kept { sequence, envelope: envelope.to_vec() });
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
