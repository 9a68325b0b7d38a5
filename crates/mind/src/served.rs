//! A model behind an OpenAI-compatible `/v1/embeddings`: llama.cpp, Ollama, vLLM, a hosted one. Keyless servers on
//! this machine are the ordinary case; a key, where one is wanted, comes from an environment variable.
//!
//! Nothing is tried twice here and no redirect is followed: whoever asks knows best whether to wait, and a key
//! belongs to one address.

use std::error::Error as _;
use std::io::{self, Read};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, Response};
use reqwest::header::{AUTHORIZATION, HeaderMap, LOCATION, RETRY_AFTER};
use serde::Serialize;

use crate::address::Address;
use crate::answer::{complaint, printable, vectors};
use crate::key::Key;
use crate::texts::{self, BATCH};
use crate::{Embedder, Error};

/// A server that exists takes a connection in less.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest answer read: a full batch of 4,096 dimensions, with every digit written out.
const ANSWER_BYTES: usize = 32 << 20;
/// The longest wait a server can ask for and be believed.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3_600);

/// What there is to set. The default is Ollama on this machine with its usual embedding model.
#[derive(Clone, Debug)]
pub struct ServedConfig {
    /// The root of the server, its `/v1`, or its `/v1/embeddings`.
    pub url: String,
    /// As the server calls it.
    pub model: String,
    /// The environment variable that holds the key; none for a server that wants no key.
    pub key_env: Option<String>,
    /// How long one batch may take.
    pub timeout: Duration,
    /// How many texts are asked for at once, at most [`BATCH`].
    pub batch: usize,
    /// How long the vectors must be, if that is known; otherwise the first answer decides it.
    pub dimensions: Option<usize>,
    /// Allows plain http to another machine.
    pub allow_plain_http: bool,
}

impl Default for ServedConfig {
    fn default() -> ServedConfig {
        ServedConfig {
            url: "http://localhost:11434".to_owned(),
            model: "nomic-embed-text".to_owned(),
            key_env: None,
            timeout: Duration::from_secs(60),
            batch: 32,
            dimensions: None,
            allow_plain_http: false,
        }
    }
}

/// A client of one model on one server. Opening it asks nothing yet.
#[derive(Debug)]
pub struct Served {
    address: Address,
    model: String,
    key: Option<Key>,
    timeout: Duration,
    batch: usize,
    dimensions: OnceLock<usize>,
    client: Client,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
}

impl Served {
    pub fn open(config: &ServedConfig) -> Result<Served, Error> {
        let wrong = |what, why: &str| Err(Error::Config { what, why: why.to_owned() });
        if config.model.trim().is_empty() {
            return wrong("the embedding model", "has no name; give the one the server knows it by");
        }
        if config.timeout.is_zero() {
            return wrong("the timeout of the embedding server", "must be longer than nothing");
        }
        if !(1..=BATCH).contains(&config.batch) {
            return wrong("the batch of the embedding server", &format!("must be from 1 to {BATCH} texts"));
        }
        let address = Address::parse(&config.url, config.allow_plain_http)?;
        let key = config.key_env.as_deref().map(Key::from_env).transpose()?;
        let client = client(&address, config.timeout)?;
        let dimensions = config.dimensions.map_or_else(OnceLock::new, OnceLock::from);
        let (model, timeout, batch) = (config.model.clone(), config.timeout, config.batch);
        Ok(Served { address, model, key, timeout, batch, dimensions, client })
    }

    fn ask(&self, batch: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let started = Instant::now();
        let mut request = self.client.post(self.address.url.clone());
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header());
        }
        let request = request.json(&Request { model: &self.model, input: batch });
        let response = request.send().map_err(|why| self.lost(&why))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = self.read(response, started)?;
        if !(200..300).contains(&status) {
            return Err(self.refused(status, &headers, &body));
        }
        let nonsense = |why| Error::Nonsense { url: self.url(), model: self.model.clone(), why };
        if body.len() > ANSWER_BYTES {
            return Err(nonsense(format!("it is longer than {ANSWER_BYTES} bytes")));
        }
        let vectors = vectors(&body, batch.len()).map_err(nonsense)?;
        let got = vectors.first().map_or(0, Vec::len);
        let known = *self.dimensions.get_or_init(|| got);
        if known != got {
            return Err(Error::Dimensions { model: self.model.clone(), known, got });
        }
        Ok(vectors)
    }

    /// The body, or one byte more than is believed. The client counts its time anew for every read, so a server that
    /// drips is stopped here.
    fn read(&self, mut response: Response, started: Instant) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        let mut chunk = [0; 16 << 10];
        while body.len() <= ANSWER_BYTES {
            if started.elapsed() > self.timeout {
                return Err(Error::Slow { url: self.url(), waited: self.timeout });
            }
            match response.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => body.extend_from_slice(&chunk[..count]),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(self.cut(&why)),
            }
        }
        Ok(body)
    }

    fn url(&self) -> String {
        self.address.url.to_string()
    }

    /// The request did not get through, or no answer began.
    fn lost(&self, why: &reqwest::Error) -> Error {
        if why.is_timeout() && !why.is_connect() {
            return Error::Slow { url: self.url(), waited: self.timeout };
        }
        Error::Unreachable { url: self.url(), why: root(why) }
    }

    /// The answer began and did not end.
    fn cut(&self, why: &io::Error) -> Error {
        match why.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
            Some(inner) => self.lost(inner),
            None => Error::Unreachable { url: self.url(), why: printable(&why.to_string()) },
        }
    }

    fn refused(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
        let hidden = |text: String| self.key.as_ref().map_or(text.clone(), |key| key.scrub(&text));
        let url = self.url();
        let says = hidden(complaint(body));
        match status {
            300..=399 => {
                let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
                let why = format!("({url}) only points to {}; give the address it leads to", hidden(printable(to)));
                Error::Config { what: "the address of the embedding server", why }
            }
            401 | 403 => {
                Error::Denied { url, status, variable: self.key.as_ref().map(|key| key.variable().to_owned()) }
            }
            404 => Error::Unknown { url, model: self.model.clone(), says },
            429 | 503 => Error::Busy { url, status, retry_after: retry_after(headers) },
            408 | 500.. => Error::Failed { url, status, says },
            _ => Error::Rejected { url, status, says },
        }
    }
}

impl Embedder for Served {
    fn model(&self) -> &str {
        &self.model
    }

    fn dimensions(&self) -> Option<usize> {
        self.dimensions.get().copied()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        texts::check(texts)?;
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts::batches(texts, self.batch) {
            all.extend(self.ask(batch)?);
        }
        Ok(all)
    }
}

fn client(address: &Address, timeout: Duration) -> Result<Client, Error> {
    // The process may have chosen its cryptography already; then that one stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .user_agent(concat!("bardo/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .timeout(timeout);
    if !address.encrypted() {
        // A machine without certificates can still talk to itself.
        client = client.tls_certs_only([]);
    }
    if address.loopback {
        client = client.no_proxy();
    }
    client.build().map_err(|why| Error::Config {
        what: "https",
        why: format!("cannot be used here ({}); install the certificates of your system", root(&why)),
    })
}

/// In seconds; as a date it would need a clock both sides agree on.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// The innermost reason. The outer ones only say that something went wrong on the way.
fn root(why: &reqwest::Error) -> String {
    let mut shown = why.to_string();
    let mut source = why.source();
    while let Some(inner) = source {
        shown = inner.to_string();
        source = inner.source();
    }
    printable(&shown)
}
