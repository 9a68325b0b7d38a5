//! The store of a relay: streams of JetStream, by partitions of owners.

use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, push};
use async_nats::jetstream::context::{PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt;
use serde_json::json;

use crate::envelope::{Envelope, Hash, Speaker};
use crate::key::Owner;
use crate::wire::StoredWord;

/// How long JetStream may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most envelopes read at once for a home that has been away; `BATCH_BYTES` limits their bytes.
const BATCH: usize = 1_024;
const BATCH_BYTES: usize = 2 << 20;

/// The shape of the store: partitions, copies, and how much is kept for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub partitions: u16,
    pub replicas: usize,
    pub kept: Duration,
    /// The most words of one golem of one class; a word above that is refused and pushes nothing out.
    pub each: i64,
    /// The time within which a repeated envelope counts as the same.
    pub same: Duration,
}

impl Default for Shape {
    fn default() -> Shape {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        Shape { partitions: 16, replicas: 3, kept: days(7), each: 20_000, same: Duration::from_secs(600) }
    }
}

#[derive(Clone, Debug)]
pub struct River {
    client: Client,
    streams: Context,
    partitions: u16,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("NATS cannot be reached at {servers}: {why}")]
    Unreachable { servers: String, why: String },
    #[error("JetStream refused the request: {0}")]
    Refused(String),
    #[error("JetStream did not answer")]
    Silent,
}

impl River {
    /// Connects, and creates the streams that are missing.
    pub async fn open(servers: &str, shape: Shape) -> Result<River, Error> {
        let unreachable = |why: String| Error::Unreachable { servers: servers.to_owned(), why };
        let options = ConnectOptions::new().connection_timeout(Duration::from_secs(5)).name("styx");
        let addresses: Vec<String> = servers.split(',').map(str::to_owned).collect();
        let client = options.connect(addresses).await.map_err(|why| unreachable(why.to_string()))?;
        let mut streams = jetstream::new(client.clone());
        streams.set_timeout(PATIENCE);
        let river = River { client, streams, partitions: shape.partitions };
        for partition in 0..shape.partitions {
            river.streams.get_or_create_stream(config(partition, shape)).await.map_err(refused)?;
        }
        Ok(river)
    }

    pub fn partitions(&self) -> u16 {
        self.partitions
    }

    pub fn partition(&self, owner: Owner) -> u16 {
        self.of_hash(blake3::hash(&owner.0))
    }

    fn of_hash(&self, owner: blake3::Hash) -> u16 {
        u16::from_le_bytes([owner.as_bytes()[0], owner.as_bytes()[1]]) % self.partitions
    }

    /// Begins to store an envelope, known by its hash; it is stored once the future resolves. A second time it is not
    /// stored again, unless `again` says that it got lost.
    pub async fn put(&self, envelope: Envelope, hash: Hash, again: bool) -> Result<PublishAckFuture, Error> {
        let subject = self.subject(&envelope);
        let message = PublishMessage::build();
        let message = if again { message } else { message.message_id(text(&hash[..16])) };
        let message = message.payload(envelope.into_bytes().into());
        self.streams.send_publish(subject, message).await.map_err(|why| match why.kind() {
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Error::Silent,
            _ => refused(why),
        })
    }

    /// A batch of one owner's envelopes after this place, oldest first; and whether there are more.
    pub async fn after(&self, owner: Owner, sequence: u64) -> Result<(Vec<StoredWord>, bool), Error> {
        let stream = name(self.partition(owner));
        let subject = format!("{}.>", self.all_of(owner));
        let from = sequence.saturating_add(1);
        let ask = json!({ "seq": from, "batch": BATCH, "max_bytes": BATCH_BYTES, "next_by_subj": subject });
        let inbox = self.client.new_inbox();
        let mut answers = self.client.subscribe(inbox.clone()).await.map_err(refused)?;
        let to = format!("$JS.API.DIRECT.GET.{stream}");
        self.client.publish_with_reply(to, inbox, ask.to_string().into()).await.map_err(refused)?;
        let mut kept = Vec::new();
        loop {
            let answer = tokio::time::timeout(PATIENCE, answers.next()).await;
            let Some(answer) = answer.map_err(|_| Error::Silent)? else { return Err(Error::Silent) };
            let number = |name: &str| -> Option<u64> { answer.headers.as_ref()?.get(name)?.as_str().parse().ok() };
            if let Some(status) = answer.status {
                return match status.as_u16() {
                    // The end of the batch, or nothing at all.
                    204 => Ok((kept, number("Nats-Num-Pending").is_some_and(|more| more > 0))),
                    404 => Ok((kept, false)),
                    _ => Err(Error::Refused(format!("{status}"))),
                };
            }
            let Some(sequence) = number("Nats-Sequence") else { return Err(Error::Silent) };
            kept.push(StoredWord { sequence, envelope: answer.payload.to_vec() });
        }
    }

    /// Listens to everything that comes into a partition from now on.
    pub async fn listen(&self, partition: u16) -> Result<push::Ordered, Error> {
        let stream = self.streams.get_stream(name(partition)).await.map_err(refused)?;
        let config = push::OrderedConfig {
            deliver_subject: self.client.new_inbox(),
            deliver_policy: DeliverPolicy::New,
            ..push::OrderedConfig::default()
        };
        stream.create_consumer(config).await.map_err(refused)?.messages().await.map_err(refused)
    }

    /// The newest place of a partition, and whether it has a leader.
    pub async fn newest(&self, partition: u16) -> Result<(u64, bool), Error> {
        let stream = self.streams.get_stream_no_info(name(partition)).await.map_err(refused)?;
        let info = stream.get_info().await.map_err(refused)?;
        let leads = info.cluster.as_ref().is_none_or(|cluster| cluster.leader.is_some());
        Ok((info.state.last_sequence, leads))
    }

    /// The state of a partition: `None` without a leader, otherwise the servers that are behind the leader.
    pub async fn stand(&self, partition: u16) -> Option<Vec<String>> {
        let stream = self.streams.get_stream_no_info(name(partition)).await.ok()?;
        let info = stream.get_info().await.ok()?;
        let Some(cluster) = info.cluster.filter(|cluster| !cluster.replicas.is_empty()) else {
            return Some(Vec::new());
        };
        cluster.leader?;
        let behind = cluster.replicas.into_iter().filter(|one| !one.current || one.offline || one.lag.unwrap_or(0) > 0);
        Some(behind.map(|one| one.name).collect())
    }

    /// The subject of an envelope. Its header is hashed first, so nothing in it can name another subject.
    pub fn subject(&self, envelope: &Envelope) -> String {
        let header = envelope.header;
        format!("{}.{}.{}", self.all_of(header.owner), speaker(header.speaker), header.class.name())
    }

    fn all_of(&self, owner: Owner) -> String {
        let hash = blake3::hash(&owner.0);
        format!("styx.v1.p{:02}.{}", self.of_hash(hash), text(&hash.as_bytes()[..16]))
    }
}

fn speaker(speaker: Speaker) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&speaker.home).update(&speaker.golem.0);
    text(&hasher.finalize().as_bytes()[..16])
}

fn text(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn name(partition: u16) -> String {
    format!("STYX_P{partition:02}")
}

fn config(partition: u16, shape: Shape) -> Config {
    Config {
        name: name(partition),
        subjects: vec![format!("styx.v1.p{partition:02}.>")],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        num_replicas: shape.replicas,
        max_age: shape.kept,
        max_messages_per_subject: shape.each,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        duplicate_window: shape.same,
        allow_direct: true,
        deny_delete: true,
        ..Config::default()
    }
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Refused(why.to_string())
}
