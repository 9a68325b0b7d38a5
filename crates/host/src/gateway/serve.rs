//! Listening for agents. An address of its own, so that an agent that can reach it reaches nothing else of its owner's.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Response, StatusCode};
use golem::Name;
use golem::call::Denied;
use golem::mortality::phase::Tier;
use mind::Writes;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::bodies::{Bodies, Sent};
use super::counting;
use super::models::{Model, Models};
use super::parts::Cache;
use super::prefix::{Key, Prefixes};
use super::protocol::Protocol;
use super::refusal::Refusal;
use super::relay::{Call, Finds};
use super::shape::{self, Asked, InPath};
use super::shapes::Shapes;
use super::span;
use crate::config::{Prices, Settings};
use crate::errands::{Bound, Counter, Stands, Verdict, Wanted};
use crate::home::agent;
use crate::mcp::{self, Who};
use crate::{Error, GolemHome, Home, chance, door, durable};

/// How long a call may wait for its verdict, and how long for money that is set aside for others.
const WAITS: Duration = Duration::from_secs(30);
const LACKS: Duration = Duration::from_secs(20);
/// Tokens of an answer, where neither the agent nor anybody else says.
const USUAL: u64 = 8_192;
/// What an agent says about its own call that its model is told too; with the last of them Codex says that its tools stand among
/// what goes in.
const PASSED_ON: [&str; 4] = ["accept", "anthropic-version", "user-agent", "x-openai-internal-codex-responses-lite"];
const THREADS: usize = 2;

/// Where to listen, and for which models.
#[derive(Debug)]
pub struct Listen {
    pub address: SocketAddr,
    pub models: Models,
    /// The home's own: whoever asks where its agents call is told this address.
    pub known: bool,
}

impl Listen {
    pub fn of(address: &str, settings: &Settings, prices: Prices) -> Result<Listen, Error> {
        let wrong = || Error::Usage(format!("gateway.listen is no address: {address}; write it like 127.0.0.1:7374"));
        Ok(Listen {
            address: address.parse().map_err(|_| wrong())?,
            models: Models::of(settings, prices)?,
            known: true,
        })
    }
}

/// Where the gateway of a home is, while one is up: a file that whoever comes up writes.
fn address_file(home: &Home) -> PathBuf {
    home.root().join("gateway")
}

/// Where agents call: where the gateway that is up listens, or where the next would.
pub fn address(home: &Home) -> Result<String, Error> {
    let up = std::fs::read_to_string(address_file(home)).ok().filter(|_| home.is_up());
    Ok(match up {
        Some(address) => address.trim().to_owned(),
        None => home.settings()?.text("gateway.listen").unwrap_or_default().to_owned(),
    })
}

struct Gateway {
    home: Home,
    models: Models,
    client: reqwest::Client,
    mcp: mcp::Http,
    turned_away: Arc<Mutex<TurnedAway>>,
    bodies: Bodies,
    key: Key,
    prefixes: Arc<Prefixes>,
    shapes: Arc<Shapes>,
}

/// Calls that no golem was asked about, because they were not understood, or asked for what nobody here knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnedAway {
    pub times: u64,
    /// What was said to the last of them.
    pub why: String,
}

/// A gateway that is being served.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    turned_away: Arc<Mutex<TurnedAway>>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Running {
    pub fn turned_away(&self) -> TurnedAway {
        self.turned_away.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whatever is under way ends here, and is settled by what was seen of it.
    pub fn close(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

pub fn serve(listen: Listen, home: &Home) -> Result<Running, Error> {
    let cannot = |e: std::io::Error| {
        let way = "choose another address with `bardo up --gateway ADDRESS`, or gateway.listen in bardo.toml";
        Error::Host(format!("the gateway cannot listen on {}: {e}; {way}", listen.address))
    };
    let listener = std::net::TcpListener::bind(listen.address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        builder.connect_timeout(Duration::from_secs(10)).pool_max_idle_per_host(256)
    };
    // Which models will be asked is not known yet: a machine without certificates can still ask its own.
    let client = builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|e| Error::Host(format!("cannot make a client: {e}")))?;
    let turned_away = Arc::<Mutex<TurnedAway>>::default();
    let gateway = Gateway {
        home: home.clone(),
        models: listen.models,
        client,
        mcp: mcp::http(home),
        turned_away: Arc::clone(&turned_away),
        bodies: Bodies::new(),
        key: Key::new(chance::Secret::draw().hash()),
        prefixes: Arc::default(),
        shapes: Arc::new(Shapes::of(home)),
    };
    let gateway = Arc::new(gateway);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().map_err(cannot)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let thread = std::thread::Builder::new().name("gateway".into()).spawn(move || {
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener);
            let _ = begun.send(listener.as_ref().map(|_| ()).map_err(ToString::to_string));
            let Ok(listener) = listener else { return };
            let router = Router::new()
                .route("/g/{name}/v1/{*path}", axum::routing::any(called))
                .route("/g/{name}/v1beta/models/{what}", axum::routing::any(generated))
                .route("/g/{name}/mcp", axum::routing::any(spoken))
                .fallback(|| async { lost() })
                .with_state(gateway);
            tokio::select! {
                () = door::open(listener, router) => {}
                _ = stopped => {}
            }
        });
        runtime.shutdown_timeout(Duration::from_millis(200));
    });
    let thread = thread.map_err(cannot)?;
    match begins.recv() {
        Ok(Ok(())) => {
            if listen.known {
                durable::write(&address_file(home), address.to_string().as_bytes())?;
            }
            Ok(Running { address, turned_away, stop, thread })
        }
        _ => Err(Error::Host(format!("the gateway cannot listen on {address}"))),
    }
}

fn lost() -> Response<Body> {
    let message = "there is nothing here; calls go to /g/NAME/v1/chat/completions, responses, embeddings or messages";
    Refusal::new(StatusCode::NOT_FOUND, "not_found", message).response(Protocol::Chat)
}

async fn called(
    State(gateway): State<Arc<Gateway>>,
    Path((name, path)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.path()[1..] == path);
    // There is one way to write each of these; whoever writes it otherwise means something else.
    let protocol = protocol.filter(|_| !request.uri().path().contains('%'));
    let spoken = protocol.unwrap_or(if path.starts_with("messages") { Protocol::Messages } else { Protocol::Chat });
    let place = match gateway.enter(&name, request.headers()) {
        Ok(place) => place,
        Err(refusal) => return gateway.turn_away(&refusal, spoken),
    };
    match (protocol, request.method()) {
        (None, &Method::GET) if path == "models" => gateway.listed(request.headers()),
        (None, &Method::POST) if path == counting::PATH => match gateway.counted(&place, request).await {
            Ok(response) => response,
            Err(refusal) => gateway.turn_away(&refusal, spoken),
        },
        (Some(protocol), &Method::POST) => match gateway.call(&place, protocol, None, request).await {
            Ok(response) => response,
            Err(refusal) => gateway.turn_away(&refusal, protocol),
        },
        _ => lost(),
    }
}

/// In Google's protocol, whose paths say which model is asked and how.
async fn generated(
    State(gateway): State<Arc<Gateway>>,
    Path((name, what)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let place = match gateway.enter(&name, request.headers()) {
        Ok(place) => place,
        Err(refusal) => return gateway.turn_away(&refusal, Protocol::Generate),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
    let said = what.split_once(':').filter(|(model, _)| !model.is_empty() && model.chars().all(plain));
    let stream = match said {
        Some((_, "generateContent")) => false,
        Some((_, "streamGenerateContent")) => true,
        _ => return lost(),
    };
    let (Some((model, _)), &Method::POST) = (said, request.method()) else { return lost() };
    let made = gateway.call(&place, Protocol::Generate, Some(InPath { model, stream }), request).await;
    made.unwrap_or_else(|refusal| gateway.turn_away(&refusal, Protocol::Generate))
}

/// The same agent over the Model Context Protocol.
async fn spoken(State(gateway): State<Arc<Gateway>>, Path(name): Path<String>, mut request: Request) -> Response<Body> {
    match gateway.enter(&name, request.headers()) {
        Ok(place) => {
            request.extensions_mut().insert(Who::Agent(place));
            gateway.mcp.handle(request).await.map(Body::new)
        }
        Err(refusal) => refusal.response(Protocol::Chat),
    }
}

impl Gateway {
    /// Whose agent this is. Who has no golem's token is told nothing, not even whether there is such a golem.
    fn enter(&self, name: &str, headers: &HeaderMap) -> Result<GolemHome, Refusal> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let plain = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let sent = [bearer, plain("x-api-key"), plain("x-goog-api-key")];
        let place = name.parse::<Name>().ok().map(|name| self.home.place(&name));
        let opens = |place: &GolemHome| sent.into_iter().flatten().any(|sent| agent::opens(place, sent.trim()));
        place.filter(opens).ok_or_else(|| {
            let message = "this is not the token of that golem's agent; `bardo golem connect NAME` shows it";
            Refusal::new(StatusCode::UNAUTHORIZED, "token", message)
        })
    }

    fn turn_away(&self, refusal: &Refusal, protocol: Protocol) -> Response<Body> {
        let mut turned_away = self.turned_away.lock().unwrap_or_else(PoisonError::into_inner);
        turned_away.times += 1;
        turned_away.why.clone_from(&refusal.message);
        refusal.response(protocol)
    }

    /// What may be named, in the shape of whoever asks.
    fn listed(&self, headers: &HeaderMap) -> Response<Body> {
        let messages = headers.contains_key("anthropic-version");
        let protocol = if messages { Protocol::Messages } else { Protocol::Chat };
        let has_key = |variable: &str| std::env::var_os(variable).is_some_and(|key| !key.is_empty());
        let all = self.models.listed(protocol, has_key);
        let model = |(name, owner): &(String, String)| match protocol {
            Protocol::Messages => {
                json!({ "type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z" })
            }
            _ => json!({ "id": name, "object": "model", "created": 0, "owned_by": owner }),
        };
        let data: Vec<_> = all.iter().map(model).collect();
        let (first, last) = (all.first().map(|(name, _)| name), all.last().map(|(name, _)| name));
        let body = match protocol {
            Protocol::Messages => json!({ "data": data, "has_more": false, "first_id": first, "last_id": last }),
            _ => json!({ "object": "list", "data": data }),
        };
        let mut response = Response::new(Body::from(body.to_string()));
        response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        response
    }

    /// What a call would be counted as, by who would answer it.
    async fn counted(&self, place: &GolemHome, request: Request) -> Result<Response<Body>, Refusal> {
        if place.frozen_marker().exists() {
            return Err(Refusal::of(Denied::Frozen, None));
        }
        if !self.home.counters().of(&place.name).is_lived() {
            return Err(gone(place));
        }
        let (parts, body) = request.into_parts();
        let Sent { bytes, room: _room } = self.bodies.take(body).await?;
        let asked = shape::read(&bytes, Protocol::Messages, &self.key).map_err(Refusal::wrong)?;
        let model = self.models.find(&asked.model, Protocol::Messages);
        let model = model.map_err(|why| Refusal::new(StatusCode::NOT_FOUND, "model", why))?;
        counting::count(&self.client, &model.upstream, &asked, passed_on(&parts.headers)).await
    }

    async fn call(
        &self,
        place: &GolemHome,
        protocol: Protocol,
        path: Option<InPath<'_>>,
        request: Request,
    ) -> Result<Response<Body>, Refusal> {
        // A marker needs nobody's cooperation.
        if place.frozen_marker().exists() {
            return Err(Refusal::of(Denied::Frozen, None));
        }
        let (parts, body) = request.into_parts();
        let Sent { bytes, room } = self.bodies.take(body).await?;
        let asked = shape::read_with(&bytes, protocol, &self.key, path).map_err(Refusal::wrong)?;
        drop(bytes);
        let model = self.models.find(&asked.model, protocol);
        let model = model.map_err(|why| Refusal::new(StatusCode::NOT_FOUND, "model", why))?;
        let turn = self.shapes.turn(protocol.path(), model.upstream.name(), &asked.unknown).await?;
        let place_of = at_whom(&model.upstream, &parts.headers);
        let input = self.prefixes.bound(&asked.chain, &asked.parts, &place_of);
        let bound = bound(&asked, input, &model, turn.is_trial());
        let again = parts.headers.get("idempotency-key").map(|key| known_by(place, key));
        let counter = self.home.counters().of(&place.name);
        match self.verdict(place, &counter, (bound, model.tier, again, asked.alike)).await? {
            Verdict::Later { lacks } => Err(Refusal::later(lacks)),
            Verdict::Denied { by, cause, lacks, stands } => {
                span::refused(place.name.as_str(), &asked, by.code());
                let mut response = Refusal::of(by, cause.as_deref()).lacking(by, lacks).response(protocol);
                tell(response.headers_mut(), stands);
                Ok(response)
            }
            Verdict::Granted { grant, tokens, most, stands } => {
                let lowered = tokens < bound.output;
                let finds =
                    Finds { prefixes: Arc::clone(&self.prefixes), shapes: Arc::clone(&self.shapes), turn, place_of };
                let call = Call::new(
                    counter,
                    (grant, tokens, most),
                    model.upstream,
                    asked,
                    (finds, room),
                    place.name.as_str(),
                );
                let mut response = call.make(&self.client, passed_on(&parts.headers)).await;
                // What is set aside for this one comes to less, and what it comes to is not known yet.
                tell(response.headers_mut(), Stands { left: stands.left + most, ..stands });
                response.headers_mut().insert("x-bardo-aside-micros", HeaderValue::from(most.as_micros()));
                if lowered {
                    response.headers_mut().insert("x-bardo-lowered-to", HeaderValue::from(tokens));
                }
                Ok(response)
            }
        }
    }

    /// Asks whoever lives the golem. Where money is only set aside, it is waited for what others leave of theirs.
    async fn verdict(
        &self,
        place: &GolemHome,
        counter: &Counter,
        (bound, tier, again, alike): (Bound, Tier, Option<u64>, u64),
    ) -> Result<Verdict, Refusal> {
        let until = tokio::time::Instant::now() + LACKS;
        let mut frees = counter.frees();
        loop {
            frees.mark_unchanged();
            let (reply, verdict) = oneshot::channel();
            counter.ask(Wanted { bound, tier, again, alike, reply }).map_err(|_| gone(place))?;
            let verdict = tokio::time::timeout(WAITS, verdict).await.map_err(|_| Refusal::away())?;
            let verdict = verdict.map_err(|_| gone(place))?;
            let later = matches!(verdict, Verdict::Later { .. });
            if !later || tokio::time::timeout_at(until, frees.changed()).await.is_err() {
                return Ok(verdict);
            }
        }
    }
}

/// All of it at the dearest that a cache could make of what goes in; and a quarter more for what nobody here knows.
fn bound(asked: &Asked, input: u64, model: &Model, is_trial: bool) -> Bound {
    let writes = match (asked.parts.cache, asked.protocol) {
        _ if asked.kept => Writes::Long,
        (Cache::None, Protocol::Messages) => Writes::Never,
        (Cache::None | Cache::Short, _) => Writes::Short,
        (Cache::Long, _) => Writes::Long,
    };
    let rounds = if asked.parts.twice { 2 } else { 1 };
    let (input, answers) = (input.saturating_mul(rounds), asked.answers.saturating_mul(rounds));
    let price = model.upstream.price().dearest(input, writes);
    let price = if is_trial { price.and_a_quarter() } else { price };
    let output = asked.most.or(model.longest).unwrap_or(USUAL);
    Bound { price, input, output, answers, fewest: asked.fewest().min(output) }
}

/// By whom and in which way a beginning is counted alike.
fn at_whom(upstream: &mind::Upstream, headers: &HeaderMap) -> String {
    let betas = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    betas.fold(upstream.name().to_owned(), |all, beta| all + " " + beta)
}

/// Nobody lives it here: it may be dead, or nobody may be running it.
fn gone(place: &GolemHome) -> Refusal {
    match place.wake() {
        Ok((golem, _)) if golem.life().is_dead() => {
            let cause = golem.life().death.as_ref().map(|death| death.cause.to_string());
            Refusal::of(Denied::Dead, cause.as_deref())
        }
        _ => Refusal::away(),
    }
}

/// How its golem stands, so that an agent can wind up in time.
fn tell(headers: &mut HeaderMap, stands: Stands) {
    if let Ok(phase) = HeaderValue::from_str(&stands.phase.to_string()) {
        headers.insert("x-bardo-phase", phase);
    }
    headers.insert("x-bardo-left-micros", HeaderValue::from(stands.left.as_micros()));
}

fn known_by(place: &GolemHome, key: &HeaderValue) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(place.name.as_str().as_bytes()).update(b"\0").update(key.as_bytes());
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"))
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = HeaderMap::new();
    for name in PASSED_ON {
        if let Some(value) = headers.get(name) {
            passed.insert(HeaderName::from_static(name), value.clone());
        }
    }
    // What they could cost stands in the fields that they are for.
    for beta in headers.get_all("anthropic-beta") {
        passed.append("anthropic-beta", beta.clone());
    }
    passed
}
