//! A call that was let through: made, listened to, and settled, however it ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use futures_util::stream;
use golem::Usdc;
use golem::call::{Denied, How, Kinds, Used};
use mind::Upstream;
use shell::errands::{CallSum, Counter, Done, Grant};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tracing::Span;

use super::login::Login;
use super::prefix::Prefixes;
use super::protocol::AgentProtocol;
use super::refusal::Refusal;
use super::shape::AgentCall;
use super::shapes::{Shapes, Turn};
use super::span;
use super::stream::Listening;
use super::usage::{self, Usage};

/// How long a model may take to begin, and between one word and the next.
const PATIENCE: Duration = Duration::from_secs(600);
/// Pieces of an answer that wait for the client to take them.
const WORDS: usize = 16;
/// The longest answer that is read at once.
const LONGEST: usize = 64 << 20;
/// Headers of the server's that are passed on to the agent.
const TOLD: [&str; 6] =
    ["content-type", "retry-after", "openai-processing-ms", "x-request-id", "request-id", "openai-version"];

/// The lessons of a bill: where to keep what it shows, and under which names.
pub(super) struct Finds {
    pub(super) prefixes: Arc<Prefixes>,
    pub(super) shapes: Arc<Shapes>,
    pub(super) turn: Turn,
    /// The provider, the model and the way it is asked.
    pub(super) place_of: String,
}

/// A call under way, in a task of its own: an agent that hangs up does not stop what its provider bills, so the answer is heard
/// to its end all the same. Dropped, it counts as all that was set aside for it.
pub(super) struct RunningCall {
    counter: Arc<Counter>,
    key: u64,
    most: Usdc,
    upstream: Arc<Upstream>,
    asked: AgentCall,
    tokens: u64,
    finds: Finds,
    /// The room its body takes, until it has been sent.
    room: Option<OwnedSemaphorePermit>,
    /// The program's own login, in place of the owner's key.
    login: Option<Login>,
    began: Instant,
    /// Whether it may have reached a provider, which then bills it.
    sent: bool,
    /// The cost of the call, once it is settled.
    came_to: Option<Usdc>,
    listening: Listening,
    span: Span,
}

/// The cost of a call, carried beside an answer that came whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct CameTo(pub(super) Usdc);

type Answered = oneshot::Sender<Response<Body>>;

impl RunningCall {
    pub(super) fn new(
        counter: Arc<Counter>,
        (grant, tokens, most): (Grant, u64, Usdc),
        upstream: Arc<Upstream>,
        asked: AgentCall,
        (finds, room, login): (Finds, OwnedSemaphorePermit, Option<Login>),
        golem: &str,
    ) -> RunningCall {
        let span = span::begin(golem, &upstream, &asked, tokens);
        let listening = Listening::new(asked.protocol, asked.hides_usage());
        let (key, room, began, sent, came_to) = (grant.taken(), Some(room), Instant::now(), false, None);
        RunningCall {
            counter,
            key,
            most,
            upstream,
            asked,
            tokens,
            finds,
            room,
            login,
            began,
            sent,
            came_to,
            listening,
            span,
        }
    }

    /// Makes the call and passes on what comes back.
    pub(super) async fn make(self, client: &reqwest::Client, headers: HeaderMap) -> Response<Body> {
        let protocol = self.asked.protocol;
        let (answered, answer) = oneshot::channel();
        tokio::spawn(self.run(client.clone(), headers, answered));
        answer.await.unwrap_or_else(|_| ended().response(protocol))
    }

    async fn run(mut self, client: reqwest::Client, headers: HeaderMap, answered: Answered) {
        let protocol = self.asked.protocol;
        let mut cuts = self.counter.cuts();
        let request = match self.request(&client, headers) {
            Ok(request) => request,
            Err(why) => {
                let refusal = Refusal::new(StatusCode::BAD_GATEWAY, "model", why);
                return drop(answered.send(self.over(refusal.response(protocol))));
            }
        };
        self.sent = true;
        let answer = tokio::select! {
            answer = tokio::time::timeout(PATIENCE, request.send()) => answer,
            _ = cuts.changed() => return drop(answered.send(self.over(ended().response(protocol)))),
        };
        self.asked.is_sent();
        self.room = None;
        match answer {
            Ok(Ok(answer)) => self.answered(answer, cuts, answered).await,
            Ok(Err(why)) => {
                // No server was reached, so none was asked.
                self.sent = !why.is_connect();
                let message =
                    format!("no answer from the model ({})", if self.sent { "cut off" } else { "not reached" });
                let refusal = Refusal { again: Some(2), ..Refusal::new(StatusCode::BAD_GATEWAY, "upstream", message) };
                drop(answered.send(self.over(refusal.response(protocol))));
            }
            Err(_) => {
                let refusal = Refusal::new(StatusCode::GATEWAY_TIMEOUT, "upstream", "the model took too long");
                drop(answered.send(self.over(refusal.response(protocol))));
            }
        }
    }

    async fn answered(self, answer: reqwest::Response, cuts: watch::Receiver<u64>, answered: Answered) {
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
        let tell = |mut response: Response<Body>| {
            if response.status() == StatusCode::OK {
                *response.status_mut() = status;
            }
            for (name, value) in told {
                response.headers_mut().entry(name).or_insert(value);
            }
            drop(answered.send(response));
        };
        if status.is_success() && self.asked.stream && streams {
            let (words, heard) = mpsc::channel::<Result<Bytes, std::io::Error>>(WORDS);
            tell(Response::new(Body::from_stream(stream::unfold(heard, |mut heard| async move {
                let word = heard.recv().await?;
                Some((word, heard))
            }))));
            let mut streaming = Streaming { call: self, answer, cuts, before: Vec::new(), over: false };
            while let Some(word) = streaming.next().await {
                // A client that has hung up misses it; the cost is known at the end all the same.
                let _ = words.send(word).await;
            }
        } else {
            tell(self.whole(answer, cuts).await);
        }
    }

    fn request(&self, client: &reqwest::Client, headers: HeaderMap) -> Result<reqwest::RequestBuilder, String> {
        if let Some(login) = &self.login {
            let tokens = Some(self.tokens).filter(|_| !login.is_unbounded());
            let body = self.asked.body(self.upstream.model(), self.upstream.most_tokens(), tokens);
            let request = client.post(login.url(self.asked.protocol.path())).headers(headers).headers(login.headers());
            return Ok(request.header(CONTENT_TYPE, "application/json").body(body));
        }
        let generates = self.asked.protocol == AgentProtocol::Generate;
        let url = if generates {
            self.upstream.generates(self.asked.stream)
        } else {
            self.upstream.url(self.asked.protocol.path())
        };
        let url = url.map_err(|why| why.to_string())?;
        let body = self.asked.body(self.upstream.model(), self.upstream.most_tokens(), Some(self.tokens));
        let mut request = client.post(url).headers(headers).header(CONTENT_TYPE, "application/json").body(body);
        let shows = if generates { self.upstream.shows_google() } else { self.upstream.shows() };
        if let Some((name, value)) = shows {
            request = request.header(name, value);
        }
        Ok(request)
    }

    /// Answers with a body that comes whole, and settles the call.
    async fn whole(mut self, answer: reqwest::Response, cuts: watch::Receiver<u64>) -> Response<Body> {
        let response = self.heard(answer, cuts).await;
        self.over(response)
    }

    /// Settles the call before it is answered, where nothing comes after the answer.
    fn over(mut self, mut response: Response<Body>) -> Response<Body> {
        self.close();
        if let Some(cost) = self.came_to {
            response.extensions_mut().insert(CameTo(cost));
        }
        response
    }

    async fn heard(&mut self, mut answer: reqwest::Response, mut cuts: watch::Receiver<u64>) -> Response<Body> {
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
            // A server that refuses has done nothing.
            self.settle(Usdc::ZERO, How::Nothing, Usage::default());
        } else if let Ok(json) = serde_json::from_slice(&body)
            && let Some(usage) = usage::of(&json, protocol)
        {
            self.listening.edited = usage::is_edited(&json);
            self.told(usage);
        }
        if self.upstream.betrays(&body) {
            return Refusal::new(
                StatusCode::BAD_GATEWAY,
                "upstream",
                "the model's server said something secret, so its answer is not passed on",
            )
            .response(protocol);
        }
        Response::new(Body::from(body))
    }

    fn told(&mut self, usage: Usage) {
        // No call has an input of nothing: a server that says so has not counted, and the call may have cost all that
        // was set aside.
        if self.came_to.is_some() || usage.all_input() == 0 {
            return;
        }
        let usage = if self.asked.kept { usage.kept() } else { usage };
        let micros = self.upstream.price().cost(&usage);
        let cost = Usdc::micros(i64::try_from(micros).unwrap_or(i64::MAX).min(Usdc::MOST.as_micros()));
        self.finds.shapes.billed(&self.finds.turn, cost <= self.most);
        if !(self.asked.shortened || self.listening.edited) {
            let Finds { prefixes, place_of, .. } = &self.finds;
            prefixes.learn(&self.asked.chain, &self.asked.parts, place_of, usage.all_input());
        }
        self.settle(cost, How::Told, usage);
    }

    fn settle(&mut self, cost: Usdc, how: How, usage: Usage) {
        if self.came_to.is_some() {
            return;
        }
        self.came_to = Some(cost);
        span::settled(&self.span, cost, how, usage);
        let count = |tokens: u64| u32::try_from(tokens).unwrap_or(u32::MAX);
        let used = Used {
            model: golem::plain::line(self.upstream.name(), golem::limits::MODEL - 1),
            input: count(usage.all_input()),
            output: count(usage.output),
            took: u32::try_from(self.began.elapsed().as_millis()).unwrap_or(u32::MAX),
        };
        let written = usage.write_5m.saturating_add(usage.write_1h);
        let kinds = Kinds { cached: count(usage.cached), written: count(written), thought: count(usage.thought) };
        if let Some(session) = &self.asked.session {
            self.counter.note_session(session, CallSum { input: usage.all_input(), output: usage.output, cost });
        }
        self.counter.settle(Done { key: self.key, cost, how, used, kinds });
    }

    /// Settles the call by what is known, unless that was done.
    fn close(&mut self) {
        if self.came_to.is_some() {
            return;
        }
        if !self.sent {
            return self.settle(Usdc::ZERO, How::Nothing, Usage::default());
        }
        // What is billed for an answer that was cut off may go on to its longest, unseen.
        self.settle(self.most, How::Cut, self.listening.usage.unwrap_or_default());
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.close();
    }
}

/// The refusal where the golem has died or is being stopped.
fn ended() -> Refusal {
    Refusal::of(Denied::Dead, Some("the golem stopped during this call"))
}

struct Streaming {
    call: RunningCall,
    answer: reqwest::Response,
    cuts: watch::Receiver<u64>,
    /// The last bytes that were passed on, as many as a key may have.
    before: Vec<u8>,
    over: bool,
}

/// More bytes than any key has.
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
                    // A stream that ends before its last event was cut off, and what was counted up to there is not all
                    // of it.
                    if let (true, Some(usage)) = (self.call.listening.is_whole(), self.call.listening.usage) {
                        self.call.told(usage);
                    }
                    return (!rest.is_empty()).then(|| Ok(rest.into()));
                }
                // Cut off at the provider, and so cut off here.
                _ => {
                    self.over = true;
                    return Some(Err(std::io::Error::other("the answer of the model was cut off")));
                }
            };
            // All has been said: a client that hangs up now has cut nothing off.
            if let (true, Some(usage)) = (self.call.listening.over, self.call.listening.usage) {
                self.call.told(usage);
            }
            self.before.extend_from_slice(&passed);
            if self.call.upstream.betrays(&self.before) {
                let why = "the model's server said something secret, so its answer is not passed on";
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
        let event = if self.call.asked.protocol == AgentProtocol::Responses {
            format!("event: error\n{}", why.event(AgentProtocol::Chat))
        } else {
            why.event(self.call.asked.protocol)
        };
        Some(Ok(event.into()))
    }
}
