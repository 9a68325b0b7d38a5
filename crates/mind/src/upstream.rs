//! Where calls go that somebody else has written: the address of a model's server, what it costs, and the key it wants, which
//! is shown to that server and to nobody else.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::Error;
use crate::address::Address;
use crate::book::Book;
use crate::key::Key;
use crate::price::Price;
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

    /// Where Google's own protocol is spoken: beside the address that speaks everybody else's.
    pub fn generates(&self, stream: bool) -> Result<String, Error> {
        if stream {
            return Ok(format!("{}?alt=sse", self.google("streamGenerateContent")?));
        }
        self.google("generateContent")
    }

    /// Where Google counts what would go in.
    pub fn counts_google(&self) -> Result<String, Error> {
        self.google("countTokens")
    }

    fn google(&self, what: &str) -> Result<String, Error> {
        let base = self.named.base.trim_end_matches('/');
        let beside = base.strip_suffix("/openai").map(str::to_owned);
        let beside = beside.or_else(|| base.strip_suffix("/v1").map(|root| format!("{root}/v1beta")));
        let path = format!("/models/{}:{what}", self.named.model);
        Ok(Address::parse(beside.as_deref().unwrap_or(base), &path, false)?.url.to_string())
    }

    /// The header that shows the key there.
    pub fn shows_google(&self) -> Option<(HeaderName, HeaderValue)> {
        Some((HeaderName::from_static("x-goog-api-key"), self.key.as_ref()?.plain()))
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
