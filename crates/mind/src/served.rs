//! A model behind an OpenAI-compatible `/v1/embeddings`: llama.cpp, Ollama, vLLM, a hosted one. Keyless servers on this
//! machine are the ordinary case; a key, where one is needed, comes from an environment variable.

use std::sync::OnceLock;
use std::time::Duration;

use serde::Serialize;
use tariff::Address;

use crate::answer::vectors;
use crate::key::ApiKey;
use crate::texts::{self, BATCH};
use crate::wire::{Shows, Wire};
use crate::{Embedder, Error};

/// The longest answer that is read: a full batch of 4,096 dimensions, with every digit written out.
const ANSWER_BYTES: usize = 32 << 20;

/// Settings of a client. The default is Ollama on this machine with its usual embedding model.
#[derive(Clone, Debug)]
pub struct ServedConfig {
    /// The root of the server, its `/v1`, or its `/v1/embeddings`.
    pub url: String,
    /// The model's name at the server.
    pub model: String,
    /// The environment variable that holds the key; none for a server that needs no key.
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
    wire: Wire,
    model: String,
    timeout: Duration,
    batch: usize,
    dimensions: OnceLock<usize>,
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
            return wrong("the timeout of the embedding server", "must be longer than 0");
        }
        if !(1..=BATCH).contains(&config.batch) {
            return wrong("the batch of the embedding server", &format!("must be from 1 to {BATCH} texts"));
        }
        let address = Address::parse(&config.url, "/embeddings", config.allow_plain_http)?;
        let key = config.key_env.as_deref().map(ApiKey::from_env).transpose()?.map(|key| (key, Shows::Bearer));
        let (model, timeout, batch) = (config.model.clone(), config.timeout, config.batch);
        let wire = Wire::open(address, &model, key, timeout, ANSWER_BYTES)?;
        let dimensions = config.dimensions.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Served { wire, model, timeout, batch, dimensions })
    }

    fn ask(&self, batch: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let body = self.wire.post(&Request { model: &self.model, input: batch }, &[], self.timeout)?;
        let vectors = vectors(&body, batch.len()).map_err(|why| self.wire.nonsense(why))?;
        let got = vectors.first().map_or(0, Vec::len);
        let known = *self.dimensions.get_or_init(|| got);
        if known != got {
            return Err(Error::Dimensions { model: self.model.clone(), known, got });
        }
        Ok(vectors)
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
