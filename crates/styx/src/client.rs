//! A home's end of the river: one connection outwards.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::key::Clade;
use crate::wire::{Down, FRAME, Put, Up, VERSION, Why, decode, encode, fit, signed};

/// How long a relay may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes that are read ahead.
const BUFFER: usize = 32 << 10;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{url} cannot be reached: {why}")]
    Unreachable { url: String, why: String },
    #[error("it does not speak the protocol of a relay")]
    NoRelay,
    #[error("it says: {0}")]
    Turned(Why),
    #[error("it hung up")]
    Gone,
}

/// The sending half of a connection to a relay.
#[derive(Debug)]
pub struct Mouth(SplitSink<Socket, Message>);

/// The receiving half of a connection to a relay.
#[derive(Debug)]
pub struct Ear(SplitStream<Socket>);

/// Installs the process's TLS provider, if none is installed yet.
pub(crate) fn tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Connects and signs in.
pub async fn connect(url: &str, clade: &Clade, home: [u8; 16]) -> Result<(Mouth, Ear), Error> {
    tls();
    let unreachable = |why: String| Error::Unreachable { url: url.to_owned(), why };
    let config = WebSocketConfig::default().read_buffer_size(BUFFER).max_message_size(Some(FRAME));
    let config = config.max_frame_size(Some(FRAME));
    let connecting = timeout(PATIENCE, connect_async_with_config(url, Some(config), true)).await;
    let connected = connecting.map_err(|_| unreachable("it does not answer".to_owned()))?;
    let (socket, _) = connected.map_err(|why| unreachable(why.to_string()))?;
    let (sink, stream) = socket.split();
    let (mut mouth, mut ear) = (Mouth(sink), Ear(stream));
    let Down::Challenge { version, nonce } = timeout(PATIENCE, ear.hear()).await.map_err(|_| Error::Gone)?? else {
        return Err(Error::NoRelay);
    };
    if version != VERSION {
        return Err(Error::Turned(Why::Version(version)));
    }
    let signature = clade.sign(&signed(&nonce, &home)).to_vec();
    mouth.say(&Up::Sign { version: VERSION, owner: clade.owner().0, home, signature }).await?;
    match timeout(PATIENCE, ear.hear()).await.map_err(|_| Error::Gone)?? {
        Down::Welcome { .. } => Ok((mouth, ear)),
        Down::Bye { why } => Err(Error::Turned(why)),
        _ => Err(Error::NoRelay),
    }
}

impl Mouth {
    pub async fn say(&mut self, frame: &Up) -> Result<(), Error> {
        self.0.send(Message::Binary(encode(frame).into())).await.map_err(|_| Error::Gone)
    }

    /// Sends words, in as few frames as they fit into; returns the id of the next word.
    pub async fn put(&mut self, mut id: u64, mut words: Vec<Put>) -> Result<u64, Error> {
        while !words.is_empty() {
            let rest = words.split_off(fit(words.iter().map(|word| word.envelope.len())).max(1));
            let next = id + words.len() as u64;
            self.0.feed(Message::Binary(encode(&Up::Put { id, words }).into())).await.map_err(|_| Error::Gone)?;
            (id, words) = (next, rest);
        }
        self.0.flush().await.map_err(|_| Error::Gone)?;
        Ok(id)
    }
}

impl Ear {
    /// The next frame.
    pub async fn hear(&mut self) -> Result<Down, Error> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Binary(said))) => return decode(&said).ok_or(Error::NoRelay),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Err(Error::Gone),
                Some(Ok(_)) => {}
            }
        }
    }
}
