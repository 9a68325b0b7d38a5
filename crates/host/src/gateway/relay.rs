//! One call that was let through: made, listened to, and settled, however it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use futures_util::stream;
use golem::Usdc;
use golem::call::{Denied, How, Used};
use mind::Upstream;
use tokio::sync::watch;
use tracing::Span;

use super::refusal::Refusal;
use super::shape::{Asked, Protocol};
use super::span;
use super::stream::Listening;
use super::usage::Usage;
use crate::errands::{Counter, Done};

/// How long a model may take to begin, and between one word and the next.
const PATIENCE: Duration = Duration::from_secs(600);
/// The longest answer that is read at once.
const LONGEST: usize = 64 << 20;
/// Of what a server says about itself and its answer, agents are told this.
const TOLD: [&str; 6] =
    ["content-type", "retry-after", "openai-processing-ms", "x-request-id", "request-id", "openai-version"];

/// A call under way. Dropped, it is settled by what was seen of it.
pub(super) struct Call {
    counter: Arc<Counter>,
    key: u64,
    upstream: Arc<Upstream>,
    asked: Asked,
    tokens: u64,
    began: Instant,
    /// It may have reached somebody who wants to be paid.
    sent: bool,
    settled: bool,
    listening: Listening,
    span: Span,
}

impl Call {
    pub(super) fn new(
        counter: Arc<Counter>,
        granted: (u64, u64),
        upstream: Arc<Upstream>,
        asked: Asked,
        golem: &str,
    ) -> Call {
        let (key, tokens) = granted;
        let span = span::begin(golem, &upstream, &asked, tokens);
        let listening = Listening::new(asked.protocol, asked.hides_usage());
        let (began, sent, settled) = (Instant::now(), false, false);
        Call { counter, key, upstream, asked, tokens, began, sent, settled, listening, span }
    }

    /// Makes the call and passes on what comes back.
    pub(super) async fn make(mut self, client: &reqwest::Client, headers: HeaderMap) -> Response<Body> {
        let protocol = self.asked.protocol;
        let mut cuts = self.counter.cuts();
        let request = match self.request(client, headers) {
            Ok(request) => request,
            Err(why) => return Refusal::new(StatusCode::BAD_GATEWAY, "model", why).response(protocol),
        };
        self.sent = true;
        let answer = tokio::select! {
            answer = tokio::time::timeout(PATIENCE, request.send()) => answer,
            _ = cuts.changed() => return ended().response(protocol),
        };
        let answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => {
                // Nobody was reached, so nobody was asked.
                self.sent = !why.is_connect();
                let message = format!("no answer from the model ({})", if self.sent { "cut off" } else { "away" });
                return Refusal { again: Some(2), ..Refusal::new(StatusCode::BAD_GATEWAY, "upstream", message) }
                    .response(protocol);
            }
            Err(_) => {
                return Refusal::new(StatusCode::GATEWAY_TIMEOUT, "upstream", "the model took too long")
                    .response(protocol);
            }
        };
        let status = answer.status();
        let told: Vec<(HeaderName, HeaderValue)> = answer
            .headers()
            .iter()
            .filter(|(name, value)| TOLD.contains(&name.as_str()) && !self.upstream.betrays(value.as_bytes()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let streams = told.iter().any(|(name, value)| {
            *name == CONTENT_TYPE && value.to_str().is_ok_and(|kind| kind.starts_with("text/event-stream"))
        });
        let mut response = if status.is_success() && self.asked.stream && streams {
            Response::new(self.stream(answer, cuts))
        } else {
            self.whole(answer, cuts).await
        };
        if response.status() == StatusCode::OK {
            *response.status_mut() = status;
        }
        for (name, value) in told {
            response.headers_mut().entry(name).or_insert(value);
        }
        response
    }

    fn request(&self, client: &reqwest::Client, headers: HeaderMap) -> Result<reqwest::RequestBuilder, String> {
        let url = self.upstream.url(self.asked.protocol.path()).map_err(|why| why.to_string())?;
        let body = self.asked.body(self.upstream.model(), self.upstream.most_tokens(), self.tokens);
        let mut request = client.post(url).headers(headers).header(CONTENT_TYPE, "application/json").body(body);
        if let Some((name, value)) = self.upstream.shows() {
            request = request.header(name, value);
        }
        Ok(request)
    }

    /// An answer that comes at once.
    async fn whole(mut self, mut answer: reqwest::Response, mut cuts: watch::Receiver<u64>) -> Response<Body> {
        let protocol = self.asked.protocol;
        let failed = !answer.status().is_success();
        let mut body = Vec::new();
        loop {
            let chunk = tokio::select! {
                chunk = tokio::time::timeout(PATIENCE, answer.chunk()) => chunk,
                _ = cuts.changed() => return ended().response(protocol),
            };
            match chunk {
                Ok(Ok(Some(chunk))) if body.len() + chunk.len() <= LONGEST => body.extend_from_slice(&chunk),
                Ok(Ok(None)) => break,
                _ => {
                    return Refusal::new(StatusCode::BAD_GATEWAY, "upstream", "the answer of the model was cut off")
                        .response(protocol);
                }
            }
        }
        if failed {
            // Who refuses has done nothing.
            self.settle(Usdc::ZERO, How::Nothing, Usage::default());
        } else if let Ok(json) = serde_json::from_slice(&body)
            && let Some(usage) = Usage::of(&json, protocol)
        {
            self.told(usage);
        }
        if self.upstream.betrays(&body) {
            return Refusal::new(
                StatusCode::BAD_GATEWAY,
                "upstream",
                "the model's server said what is not to be passed on",
            )
            .response(protocol);
        }
        Response::new(Body::from(body))
    }

    /// An answer that comes word by word.
    fn stream(self, answer: reqwest::Response, cuts: watch::Receiver<u64>) -> Body {
        let streaming = Streaming { call: self, answer, cuts, before: Vec::new(), over: false };
        Body::from_stream(stream::unfold(streaming, |mut streaming| async move {
            let chunk = streaming.next().await?;
            Some((chunk, streaming))
        }))
    }

    fn told(&mut self, usage: Usage) {
        let micros = usage.costs(self.upstream.price());
        self.settle(
            Usdc::micros(i64::try_from(micros).unwrap_or(i64::MAX).min(Usdc::MOST.as_micros())),
            How::Told,
            usage,
        );
    }

    fn settle(&mut self, cost: Usdc, how: How, usage: Usage) {
        if std::mem::replace(&mut self.settled, true) {
            return;
        }
        span::settled(&self.span, cost, how, usage);
        let count = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
        let used = Used {
            model: golem::plain::line(self.upstream.name(), golem::limits::MODEL - 1),
            input: count(usage.all_input()),
            output: count(usage.output),
            took: u32::try_from(self.began.elapsed().as_millis()).unwrap_or(u32::MAX),
        };
        self.counter.settle(Done { key: self.key, cost, how, used });
    }

    /// What was seen of it can have cost this at most: all that went in, and as many tokens as bytes came out. Of an answer
    /// that would have come at once, nobody saw how far it had got.
    fn at_most(&self) -> Usdc {
        let all = self.tokens.saturating_mul(self.asked.answers);
        let output = if self.asked.stream { self.listening.said.min(all) } else { all };
        let micros = self.upstream.price().of(self.asked.input, output);
        Usdc::micros(i64::try_from(micros).unwrap_or(i64::MAX).min(Usdc::MOST.as_micros()))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        if !self.sent {
            return self.settle(Usdc::ZERO, How::Nothing, Usage::default());
        }
        let cost = self.at_most();
        self.settle(cost, How::Cut, self.listening.usage.unwrap_or_default());
    }
}

/// Its golem has ended, or is being put to rest.
fn ended() -> Refusal {
    Refusal::of(Denied::Dead, Some("its life ended, or whoever runs it stopped, in the middle of this call"))
}

struct Streaming {
    call: Call,
    answer: reqwest::Response,
    cuts: watch::Receiver<u64>,
    /// The last bytes that were passed on, as many as a key may have.
    before: Vec<u8>,
    over: bool,
}

/// More than any key has.
const KEY: usize = 512;

impl Streaming {
    async fn next(&mut self) -> Option<Result<Bytes, std::io::Error>> {
        if self.over {
            return None;
        }
        loop {
            let chunk = tokio::select! {
                chunk = tokio::time::timeout(PATIENCE, self.answer.chunk()) => chunk,
                _ = self.cuts.changed() => return self.ends(&ended()),
            };
            let passed = match chunk {
                Ok(Ok(Some(chunk))) => self.call.listening.hear(&chunk),
                Ok(Ok(None)) => {
                    self.over = true;
                    let rest = self.call.listening.rest();
                    if let Some(usage) = self.call.listening.usage {
                        self.call.told(usage);
                    }
                    return (!rest.is_empty()).then(|| Ok(rest.into()));
                }
                // As it was cut off there, so it is here.
                _ => {
                    self.over = true;
                    return Some(Err(std::io::Error::other("the answer of the model was cut off")));
                }
            };
            // All has been said: who hangs up on hearing it has cut nothing off.
            if let (true, Some(usage)) = (self.call.listening.over, self.call.listening.usage) {
                self.call.told(usage);
            }
            self.before.extend_from_slice(&passed);
            if self.call.upstream.betrays(&self.before) {
                let why = "the model's server said what is not to be passed on";
                return self.ends(&Refusal::new(StatusCode::BAD_GATEWAY, "upstream", why));
            }
            let start = self.before.len().saturating_sub(KEY);
            self.before.drain(..start);
            if !passed.is_empty() {
                return Some(Ok(passed.into()));
            }
        }
    }

    fn ends(&mut self, why: &Refusal) -> Option<Result<Bytes, std::io::Error>> {
        self.over = true;
        let event = if self.call.asked.protocol == Protocol::Responses {
            format!("event: error\n{}", why.event(Protocol::Chat))
        } else {
            why.event(self.call.asked.protocol)
        };
        Some(Ok(event.into()))
    }
}
