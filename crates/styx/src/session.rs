//! One connection to a relay, from the challenge to the end.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::context::PublishAckFuture;
use axum::extract::ws::{Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream, poll_fn};
use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval_at, timeout, timeout_at};

use crate::envelope::{Envelope, Hash, Header, Speaker};
use crate::gateway::{Ear, Gateway};
use crate::key::Owner;
use crate::wire::{Down, Put, StoredWord, Up, VERSION, WORDS, Why, decode, encode, fit, signed};

/// How long a new connection may take to sign in.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Frames that may wait to be sent; a connection that does not read them is not read either.
const WAITING: usize = 64;
/// How long a frame may wait to be taken before the connection is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a connection is pinged; after three pings without an answer it is given up.
const QUIET: Duration = Duration::from_secs(20);
/// How long a word may take to be stored before that counts as failed.
const KEPT: Duration = Duration::from_secs(10);
/// How long to wait after a failed read, and before a home may ask for everything again.
const AGAIN: Duration = Duration::from_millis(500);

/// Signatures that are checked before other tasks have their turn.
const BREATH: usize = 16;

/// A word that is to be stored.
struct Checked {
    envelope: Envelope,
    hash: Hash,
    again: bool,
}

/// A word that is being stored, by its id, and when that was begun.
type Begun = (u64, Instant, Result<PublishAckFuture, Why>);

pub(crate) async fn hold(gateway: Arc<Gateway>, mut socket: WebSocket) {
    let ends = Instant::now() + gateway.limits.session;
    let owner = match timeout(HANDSHAKE, sign_in(&gateway, &mut socket)).await {
        Ok(Ok(owner)) => owner,
        Ok(Err(why)) => {
            gateway.counts.turned_away.fetch_add(1, Ordering::Relaxed);
            let bye = Message::Binary(encode(&Down::Bye { why }).into());
            let _ = timeout(HANDSHAKE, socket.send(bye)).await;
            return;
        }
        Err(_) => return,
    };
    let (sink, stream) = socket.split();
    let (out, frames) = mpsc::channel(WAITING);
    let (puts, begun) = mpsc::channel(gateway.limits.under_way);
    let writer = tokio::spawn(write(Arc::clone(&gateway), sink, begun, frames));
    let why = timeout_at(ends, read(&gateway, owner, stream, puts, out)).await.unwrap_or(Why::Over);
    // Words being stored are answered before the connection closes.
    if let Ok(Ok(Some(mut sink))) = timeout(HANDSHAKE, writer).await {
        let bye = Message::Binary(encode(&Down::Bye { why }).into());
        let _ = timeout(HANDSHAKE, sink.send(bye)).await;
        let _ = timeout(HANDSHAKE, sink.close()).await;
    }
}

/// Signs a home in; nothing is done for a connection before that.
async fn sign_in(gateway: &Gateway, socket: &mut WebSocket) -> Result<Owner, Why> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).map_err(|_| Why::Away)?;
    let challenge = Message::Binary(encode(&Down::Challenge { version: VERSION, nonce }).into());
    socket.send(challenge).await.map_err(|_| Why::Unreadable)?;
    let Some(Ok(Message::Binary(said))) = socket.recv().await else { return Err(Why::Unreadable) };
    let Some(Up::Sign { version, owner, home, signature }) = decode(&said) else { return Err(Why::Unreadable) };
    if version != VERSION {
        return Err(Why::Version(VERSION));
    }
    let owner = Owner(owner);
    if !owner.signed(&signed(&nonce, &home), &signature) {
        return Err(Why::Unknown);
    }
    if !gateway.lets_in(owner) {
        return Err(Why::NotHere);
    }
    let seconds = gateway.limits.session.as_secs() as u32;
    let welcome = Message::Binary(encode(&Down::Welcome { seconds }).into());
    socket.send(welcome).await.map_err(|_| Why::Unreadable)?;
    Ok(owner)
}

/// Serves a home's requests, until it leaves or is sent away.
async fn read(
    gateway: &Arc<Gateway>,
    owner: Owner,
    mut stream: SplitStream<WebSocket>,
    puts: mpsc::Sender<Begun>,
    out: mpsc::Sender<Down>,
) -> Why {
    let (mut telling, mut may_ask): (Option<Telling>, Instant) = (None, Instant::now());
    loop {
        let said = match timeout(QUIET * 3, stream.next()).await {
            Err(_) | Ok(None | Some(Err(_) | Ok(Message::Close(_)))) => return Why::Over,
            Ok(Some(Ok(Message::Binary(said)))) => said,
            Ok(Some(Ok(_))) => continue,
        };
        if !gateway.lets_in(owner) {
            return Why::NotHere;
        }
        match decode(&said) {
            Some(Up::Put { id, words }) if words.len() <= WORDS => {
                for (at, word) in check(gateway, owner, words).await.into_iter().enumerate() {
                    let begun = match word {
                        Ok(Checked { envelope, hash, again }) => {
                            gateway.river.put(envelope, hash, again).await.map_err(|_| Why::Away)
                        }
                        Err(why) => Err(why),
                    };
                    if puts.send((id.wrapping_add(at as u64), Instant::now(), begun)).await.is_err() {
                        return Why::Over;
                    }
                }
            }
            Some(Up::After { sequence }) => {
                drop(telling.take());
                // A request is short and its answer is long.
                tokio::time::sleep_until(may_ask).await;
                may_ask = Instant::now() + AGAIN;
                let ear = match gateway.listen(owner) {
                    Ok(ear) => ear,
                    Err(why) => return why,
                };
                telling = Some(Telling(tokio::spawn(tell(Arc::clone(gateway), owner, ear, sequence, out.clone()))));
            }
            Some(Up::Put { .. } | Up::Sign { .. }) | None => return Why::Unreadable,
        }
    }
}

/// Reads the words of a frame, and checks which of them are this owner's.
async fn check(gateway: &Gateway, owner: Owner, words: Vec<Put>) -> Vec<Result<Checked, Why>> {
    let mut checked: Vec<Result<Checked, Why>> = words.into_iter().map(|word| admit(gateway, owner, word)).collect();
    // A word that the next one names by its hash is vouched for by the next one's signature, so of what a golem says in
    // one go only the last signature needs checking.
    let (mut vouched, mut checks): (HashMap<Speaker, Hash>, usize) = (HashMap::new(), 0);
    for word in checked.iter_mut().rev() {
        let Ok(Checked { envelope, hash, .. }) = word else { continue };
        let Header { speaker, before, .. } = envelope.header;
        if vouched.get(&speaker) != Some(hash) {
            checks += 1;
            if checks % BREATH == 0 {
                tokio::task::yield_now().await;
            }
            if envelope.check().is_err() {
                *word = Err(Why::Forged);
                continue;
            }
        }
        vouched.insert(speaker, before);
    }
    checked
}

/// Checks a word's header against the owner that signed in, and the owner's limits.
fn admit(gateway: &Gateway, owner: Owner, Put { again, envelope }: Put) -> Result<Checked, Why> {
    let envelope = Envelope::from_bytes(envelope).map_err(|_| Why::Unreadable)?;
    if envelope.header.owner != owner {
        return Err(Why::Foreign);
    }
    gateway.may_put(owner, &envelope)?;
    Ok(Checked { hash: envelope.hash(), envelope, again })
}

/// The place of a word in the store, once it is there. Words under way run out of time together, not one after another.
async fn kept((id, began, begun): Begun) -> (u64, Result<u64, Why>) {
    let kept = match begun {
        Err(why) => Err(why),
        Ok(ack) => match timeout_at(began + KEPT, ack).await {
            Ok(Ok(ack)) => Ok(ack.sequence),
            Ok(Err(why)) if why.to_string().contains("maximum messages per subject") => Err(Why::Full),
            Ok(Err(_)) | Err(_) => Err(Why::Away),
        },
    };
    (id, kept)
}

/// Sends a home all words of its owner after a place: the stored ones, then new ones.
async fn tell(gateway: Arc<Gateway>, owner: Owner, mut ear: Ear, mut sequence: u64, out: mpsc::Sender<Down>) {
    let mut come: Vec<Arc<StoredWord>> = Vec::new();
    ear.behind.notify_one();
    loop {
        let behind = tokio::select! {
            biased;
            () = ear.behind.notified() => true,
            some = ear.from.recv_many(&mut come, WORDS) => {
                if some == 0 {
                    return;
                }
                // Some words may be missing among those that came.
                ear.behind.notified().now_or_never().is_some()
            }
        };
        let new = come.drain(..).filter(|kept| kept.sequence > sequence && !behind);
        let new: Vec<StoredWord> = new.map(|kept| StoredWord::clone(&kept)).collect();
        let told = match behind {
            true => tell_kept(&gateway, owner, &mut sequence, &out).await,
            false => say(&gateway, new, &mut sequence, &out).await.map(|()| true),
        };
        match told {
            Some(true) => {}
            Some(false) => {
                tokio::time::sleep(AGAIN).await;
                ear.behind.notify_one();
            }
            None => return,
        }
    }
}

/// Sends all stored words after a place, and that these are all; false if they cannot be read now, `None` if the
/// connection is gone.
async fn tell_kept(gateway: &Gateway, owner: Owner, sequence: &mut u64, out: &mpsc::Sender<Down>) -> Option<bool> {
    loop {
        let Ok((kept, more)) = gateway.river.after(owner, *sequence).await else { return Some(false) };
        say(gateway, kept, sequence, out).await?;
        if !more {
            break;
        }
    }
    let Ok((newest, _)) = gateway.river.newest(gateway.river.partition(owner)).await else { return Some(false) };
    out.send(Down::Here { sequence: newest }).await.ok()?;
    Some(true)
}

/// Sends these words, in as few frames as they fit into; `None` if the connection is gone.
async fn say(
    gateway: &Gateway,
    mut words: Vec<StoredWord>,
    sequence: &mut u64,
    out: &mpsc::Sender<Down>,
) -> Option<()> {
    while !words.is_empty() {
        let rest = words.split_off(fit(words.iter().map(|word| word.envelope.len())));
        *sequence = words.last()?.sequence;
        gateway.counts.told.fetch_add(words.len() as u64, Ordering::Relaxed);
        out.send(Down::Words { words }).await.ok()?;
        words = rest;
    }
    Some(())
}

/// A task that stops when this is dropped.
struct Telling(JoinHandle<()>);

impl Drop for Telling {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends answers, in the order in which they were asked for, and all other frames, in as few writes as possible.
/// Returns the sink if the other end still reads.
async fn write(
    gateway: Arc<Gateway>,
    mut sink: SplitSink<WebSocket, Message>,
    mut begun: mpsc::Receiver<Begun>,
    mut frames: mpsc::Receiver<Down>,
) -> Option<SplitSink<WebSocket, Message>> {
    let answers = poll_fn(move |context| begun.poll_recv(context)).then(kept).ready_chunks(WORDS);
    let mut answers = pin!(answers);
    // A home that is sent much may have nothing to say itself.
    let mut ping = interval_at(Instant::now() + QUIET, QUIET);
    let (mut some, mut asked, mut open) = (Vec::new(), true, true);
    while asked || open {
        tokio::select! {
            kept = answers.next(), if asked => match kept {
                Some(kept) => answer(&gateway, kept, &mut some),
                None => asked = false,
            },
            number = frames.recv_many(&mut some, WAITING), if open => open = number > 0,
            _ = ping.tick() => {
                timeout(PATIENCE, sink.send(Message::Ping(Vec::new().into()))).await.ok()?.ok()?;
            }
        }
        let sending = async {
            for frame in some.drain(..) {
                sink.feed(Message::Binary(encode(&frame).into())).await?;
            }
            sink.flush().await
        };
        timeout(PATIENCE, sending).await.ok()?.ok()?;
    }
    Some(sink)
}

fn answer(gateway: &Gateway, kept: Vec<(u64, Result<u64, Why>)>, to: &mut Vec<Down>) {
    let (mut places, refused) = (Vec::with_capacity(kept.len()), to.len());
    for (id, kept) in kept {
        match kept {
            Ok(sequence) => places.push((id, sequence)),
            Err(why) => to.push(Down::Refused { id, why }),
        }
    }
    gateway.counts.taken.fetch_add(places.len() as u64, Ordering::Relaxed);
    gateway.counts.refused.fetch_add((to.len() - refused) as u64, Ordering::Relaxed);
    if !places.is_empty() {
        to.push(Down::Taken { places });
    }
}
