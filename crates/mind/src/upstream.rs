//! The upstream of calls that an agent has written: the address of a model's server, its price, and its key, which is
//! shown to that server alone.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tariff::Address;
use tariff::Book;
use tariff::Price;
use tariff::{Named, Protocol};

use crate::Error;
use crate::key::ApiKey;

#[derive(Debug)]
pub struct Upstream {
    named: Named,
    price: Price,
    key: Option<ApiKey>,
}

impl Upstream {
    /// Opens an upstream at the owner's price or, without one, at the book's.
    pub fn open(named: Named, price: Option<Price>) -> Result<Upstream, Error> {
        let price = price.map_or_else(|| Book::built_in().price(&named), Ok)?;
        let key = named.key_env.as_deref().map(ApiKey::from_env).transpose()?;
        Ok(Upstream { named, price, key })
    }

    /// The model's name at its server.
    pub fn model(&self) -> &str {
        &self.named.model
    }

    /// The model's name as its owner writes it.
    pub fn name(&self) -> &str {
        &self.named.name
    }

    pub fn price(&self) -> Price {
        self.price
    }

    /// The server's field for the most tokens of an answer.
    pub fn most_tokens(&self) -> &'static str {
        self.named.most_tokens
    }

    /// The address of this path, such as `/chat/completions`.
    pub fn url(&self, path: &str) -> Result<String, Error> {
        if self.named.as_it_stands {
            return Ok(format!("{}{path}", self.named.base));
        }
        Ok(Address::parse(&self.named.base, path, false)?.url.to_string())
    }

    /// The address for Google's own protocol, beside the one that speaks OpenAI's.
    pub fn generates(&self, stream: bool) -> Result<String, Error> {
        if stream {
            return Ok(format!("{}?alt=sse", self.google("streamGenerateContent")?));
        }
        self.google("generateContent")
    }

    /// The address at which Google counts the tokens of an input.
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

    /// The header that shows the key in Google's own protocol.
    pub fn shows_google(&self) -> Option<(HeaderName, HeaderValue)> {
        Some((HeaderName::from_static("x-goog-api-key"), self.key.as_ref()?.plain()))
    }

    /// The header that shows the key in the server's protocol.
    pub fn shows(&self) -> Option<(HeaderName, HeaderValue)> {
        let key = self.key.as_ref()?;
        Some(match self.named.protocol {
            Protocol::Chat => (AUTHORIZATION, key.bearer()),
            // Anthropic's clients send an auth token otherwise than an API key.
            Protocol::Messages if key.variable().ends_with("_AUTH_TOKEN") => (AUTHORIZATION, key.bearer()),
            Protocol::Messages => (HeaderName::from_static("x-api-key"), key.plain()),
        })
    }

    /// Whether the key stands in these bytes, which then must not be passed on.
    pub fn betrays(&self, bytes: &[u8]) -> bool {
        self.key.as_ref().is_some_and(|key| key.is_in(bytes))
    }
}

#[cfg(test)]
mod tests {
    use tariff::Server;

    use super::*;

    /// They were overwritten in silence, and the key went to the provider's own address.
    #[test]
    fn a_server_of_ones_own_is_asked_at_its_own_address_with_its_own_key() {
        let asked = |provider: &str, address: &str, model: &str, path: &str| {
            let server = Server::parse(provider, address).unwrap();
            let named = Named::parse(model).unwrap().served_by(&server);
            let key = named.key_env.clone();
            let price = Some(Price::NOTHING);
            let upstream = Upstream::open(Named { key_env: None, ..named }, price).unwrap();
            (upstream.url(path).unwrap(), upstream.model().to_owned(), key)
        };
        let work = || Some("WORK_KEY".to_owned());
        for (provider, address, model, path, url, name, key) in [
            (
                "openai",
                "https://WORK_KEY@example.com/v1/",
                "openai/gpt-5",
                "/chat/completions",
                "https://example.com/v1/chat/completions",
                "gpt-5",
                work(),
            ),
            (
                "openai",
                "https://example.com/api/paas/v4",
                "openai/openai/gpt-5",
                "/responses",
                "https://example.com/api/paas/v4/responses",
                "openai/gpt-5",
                None,
            ),
            (
                "anthropic",
                "https://WORK_KEY@example.com",
                "anthropic/opus",
                "/messages",
                "https://example.com/v1/messages",
                "opus",
                work(),
            ),
            (
                "anthropic",
                "http://127.0.0.1:4000/anthropic",
                "anthropic/opus",
                "/messages",
                "http://127.0.0.1:4000/anthropic/v1/messages",
                "opus",
                None,
            ),
        ] {
            assert_eq!(asked(provider, address, model, path), (url.to_owned(), name.to_owned(), key));
        }
        let owner = |address: &str| Server::parse("openai", address).unwrap().owner().map(|known| known.name);
        assert_eq!(owner("https://openrouter.ai/api/v1"), Some("openrouter"));
        assert_eq!((owner("https://example.com/v1"), owner("http://localhost:8000/v1")), (None, None));
        for wrong in
            ["http://10.0.0.1/v1", "https://example.com/v1?api-version=2", "example.com", "https://sk-hush@example.com"]
        {
            let refused = Server::parse("openai", wrong).unwrap_err().to_string();
            assert!(!refused.contains("hush"), "{refused}");
        }
    }
}
