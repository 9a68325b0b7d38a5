//! Where calls go that somebody else has written: the address of a model's server, what it costs, and the key it wants, which
//! is shown to that server and to nobody else.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::Error;
use crate::address::Address;
use crate::book::Book;
use crate::key::Key;
use crate::price::{Price, Writes};
use crate::provider::{Named, Protocol};

#[derive(Debug)]
pub struct Upstream {
    named: Named,
    price: Price,
    key: Option<Key>,
}

impl Upstream {
    /// At this price, where it is other than the book says or the book says nothing.
    pub fn open(named: Named, price: Option<Price>) -> Result<Upstream, Error> {
        let price = price.map_or_else(|| Book::built_in().price(&named), Ok)?;
        let key = named.key_env.as_deref().map(Key::from_env).transpose()?;
        Ok(Upstream { named, price, key })
    }

    /// What its server calls the model.
    pub fn model(&self) -> &str {
        &self.named.model
    }

    /// As its owner writes it.
    pub fn name(&self) -> &str {
        &self.named.name
    }

    pub fn price(&self) -> Price {
        self.price
    }

    /// One price for every token of a call with so many in, which it cannot pass: see [`Price::dearest`]. What is marked for
    /// a cache has been counted twice; `kept` says that what is written there is to stay for longer than usual.
    pub fn dearest(&self, input: u64, kept: bool) -> Price {
        let writes = match (self.named.protocol, kept) {
            (Protocol::Messages, _) => Writes::CountedTwice,
            (Protocol::Chat, false) => Writes::Unasked,
            (Protocol::Chat, true) => Writes::Kept,
        };
        self.price.dearest(input, writes)
    }

    /// What its server calls the most tokens of an answer.
    pub fn most_tokens(&self) -> &'static str {
        self.named.most_tokens
    }

    /// Where to send what belongs at this path, such as `/chat/completions`.
    pub fn url(&self, path: &str) -> Result<String, Error> {
        if self.named.as_it_stands {
            return Ok(format!("{}{path}", self.named.base));
        }
        Ok(Address::parse(&self.named.base, path, false)?.url.to_string())
    }

    /// The header that shows the key, in the manner of its server.
    pub fn shows(&self) -> Option<(HeaderName, HeaderValue)> {
        let key = self.key.as_ref()?;
        Some(match self.named.protocol {
            Protocol::Chat => (AUTHORIZATION, key.bearer()),
            // Its clients show what is called a token otherwise than what is called a key.
            Protocol::Messages if key.variable().ends_with("_AUTH_TOKEN") => (AUTHORIZATION, key.bearer()),
            Protocol::Messages => (HeaderName::from_static("x-api-key"), key.plain()),
        })
    }

    /// Whether the key stands in these bytes, which then must not be passed on.
    pub fn betrays(&self, bytes: &[u8]) -> bool {
        self.key.as_ref().is_some_and(|key| key.is_in(bytes))
    }
}
