//! A model that is asked something and answers in words. A sum becomes tokens here: an upper bound of the input, and as
//! many tokens of output as the rest of the sum pays for. The usage a server reports is believed up to the reservation;
//! anything beyond is reported and never owed.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};
use tariff::Address;
use tariff::Book;
use tariff::Tokens;
use tariff::{Named, Protocol, Shape};
use tariff::{Price, Writes};

use crate::Error;
use crate::key::ApiKey;
use crate::wire::{Shows, Wire};

/// The longest answer that is read, in bytes: far more than any answer takes.
const ANSWER_BYTES: usize = 1 << 20;
/// Tokens that a server adds around the messages.
const AROUND: u64 = 64;
/// The fewest tokens that can hold an answer.
const FEWEST: u64 = 64;
/// The version of Anthropic's protocol that is spoken here.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Settings of a client.
#[derive(Clone, Debug)]
pub struct ChatConfig {
    pub named: Named,
    /// The owner's price, in place of the book's or where the book has none.
    pub price: Option<Price>,
    pub timeout: Duration,
    /// Allows plain http to another machine.
    pub allow_plain_http: bool,
}

/// A question, and its limits.
#[derive(Clone, Debug)]
pub struct ChatRequest<'a> {
    pub system: &'a str,
    pub user: &'a str,
    /// The shape of the answer; null for none.
    pub schema: &'a Value,
    /// The most it may cost, in micro-dollars.
    pub most: u64,
    /// The most tokens of an answer that are of use.
    pub tokens: u64,
    pub temperature: f32,
    /// The longest time it may take.
    pub within: Duration,
}

/// An answer, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    /// Tokens in and out, as the server counts them; none if it does not say.
    pub used: Option<(u64, u64)>,
    /// Micro-dollars, as far as can be known; the whole reservation if the server does not report its usage.
    pub cost: u64,
}

/// A client of one model of one provider. Opening it asks nothing yet.
#[derive(Debug)]
pub struct Chat {
    named: Named,
    price: Price,
    wire: Wire,
    /// How far the server can be held to a shape; lowered once it has refused one.
    shape: AtomicU8,
}

impl Chat {
    pub fn open(config: &ChatConfig) -> Result<Chat, Error> {
        let named = &config.named;
        let price = config.price.map_or_else(|| Book::built_in().price(named), Ok)?;
        let (path, shows) = match named.protocol {
            Protocol::Chat => ("/chat/completions", Shows::Bearer),
            Protocol::Messages => ("/messages", Shows::ApiKey),
        };
        let address = Address::parse(&named.base, path, config.allow_plain_http)?;
        let key = named.key_env.as_deref().map(ApiKey::from_env).transpose()?.map(|key| (key, shows));
        let wire = Wire::open(address, &named.model, key, config.timeout, ANSWER_BYTES)?;
        Ok(Chat { named: named.clone(), price, wire, shape: AtomicU8::new(named.shape as u8) })
    }

    pub fn name(&self) -> &str {
        &self.named.name
    }

    pub fn price(&self) -> Price {
        self.price
    }

    /// Asks once. An error says by its kind whether anything can have been paid for: see [`Error::may_have_cost`].
    pub fn ask(&self, ask: &ChatRequest<'_>) -> Result<Completion, Error> {
        let shape = self.shape();
        let system = match shape {
            _ if ask.schema.is_null() => ask.system.to_owned(),
            Shape::Schema => ask.system.to_owned(),
            Shape::Json | Shape::Asked => {
                format!("{}\nThe shape of the answer, as a JSON schema: {}", ask.system, ask.schema)
            }
        };
        // No tokeniser makes more tokens than there are bytes.
        let schema = if shape == Shape::Schema { ask.schema.to_string().len() } else { 0 };
        let input = (system.len() + ask.user.len() + schema) as u64 + AROUND;
        // Nothing is marked for a cache, and some servers write there unasked.
        let dearest = self.price.dearest(input, Writes::Short);
        let tokens = dearest.affords(ask.most, input).unwrap_or(0).min(ask.tokens);
        if tokens < FEWEST.min(ask.tokens) {
            let needs = dearest.of(input, FEWEST.min(ask.tokens));
            return Err(Error::TooDear { model: self.named.name.clone(), needs, most: ask.most });
        }
        let body = self.body(ask, &system, shape, tokens);
        let headers: &[(HeaderName, HeaderValue)] = match self.named.protocol {
            Protocol::Chat => &[],
            Protocol::Messages => &[(HeaderName::from_static(VERSION.0), HeaderValue::from_static(VERSION.1))],
        };
        let answer = self.wire.post(&body, headers, ask.within).inspect_err(|why| self.learn_from(why, shape))?;
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|why| self.wire.nonsense(format!("it does not have the expected form ({why})")))?;
        let (text, used) = match self.named.protocol {
            Protocol::Chat => (
                answer.pointer("/choices/0/message/content").and_then(Value::as_str),
                answer.get("usage").and_then(|usage| Tokens::in_parts(usage, ["prompt_tokens", "completion_tokens"])),
            ),
            Protocol::Messages => {
                let parts = answer.get("content").and_then(Value::as_array);
                let text = parts.and_then(|parts| parts.iter().find_map(|part| part.get("text")?.as_str()));
                (text, answer.get("usage").and_then(messages))
            }
        };
        let cost = used.map_or(ask.most, |tokens| self.price.cost(&tokens));
        let used = used.map(|tokens| (tokens.all_input(), tokens.output));
        // A refusal to answer has been paid for as well.
        let text = self.wire.hidden(text.unwrap_or_default());
        Ok(Completion { text, used, cost })
    }

    fn body(&self, ask: &ChatRequest<'_>, system: &str, shape: Shape, tokens: u64) -> Value {
        let user = json!({ "role": "user", "content": ask.user });
        let mut body = match self.named.protocol {
            Protocol::Chat => json!({ "messages": [{ "role": "system", "content": system }, user] }),
            Protocol::Messages => json!({ "system": system, "messages": [user] }),
        };
        body["model"] = json!(self.named.model);
        body[self.named.most_tokens] = json!(tokens);
        // Anthropic's protocol refuses a request that is warmer than one.
        let warmest = if self.named.protocol == Protocol::Messages { 1.0 } else { f32::MAX };
        body["temperature"] = json!(ask.temperature.min(warmest));
        if self.named.protocol == Protocol::Chat && !ask.schema.is_null() {
            match shape {
                Shape::Schema => {
                    let schema = json!({ "name": "answer", "schema": ask.schema });
                    body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
                }
                Shape::Json => body["response_format"] = json!({ "type": "json_object" }),
                Shape::Asked => {}
            }
        }
        body
    }

    fn shape(&self) -> Shape {
        [Shape::Asked, Shape::Json, Shape::Schema]
            .into_iter()
            .find(|shape| *shape as u8 == self.shape.load(Ordering::Relaxed))
            .unwrap_or(Shape::Asked)
    }

    /// Asks less of a server the next time, once it has refused the shape of an answer.
    fn learn_from(&self, why: &Error, shape: Shape) {
        let of_shape =
            |says: &str| ["response_format", "json_schema", "json_object", "schema"].iter().any(|w| says.contains(w));
        if let Error::Rejected { says, .. } = why
            && of_shape(says)
        {
            let less = if shape == Shape::Schema { Shape::Json } else { Shape::Asked };
            self.shape.store(less as u8, Ordering::Relaxed);
        }
    }
}

/// The usage as Anthropic's protocol reports it; `None` if it is not in whole numbers.
fn messages(usage: &Value) -> Option<Tokens> {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let mut tokens = Tokens { input: count("input_tokens")?, output: count("output_tokens")?, ..Tokens::default() };
    tokens.heed(usage);
    Some(tokens)
}
