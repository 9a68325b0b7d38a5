//! Listening for agents, at an address of the gateway's own, so that an agent that can reach it reaches nothing else of
//! its owner's.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, UPGRADE};
use axum::http::{Method, Response, StatusCode};
use golem::call::{CallOrigin, Denied, Left};
use golem::mortality::phase::Tier;
use golem::{GolemId, Name, Usdc};
use mind::http;
use serde_json::json;
use settings::chance;
use settings::{Prices, Settings};
use shell::errands::{Bound, Counter, GolemState, Verdict, Wanted};
use shell::home::agent;
use shell::locks::lock;
use shell::{Error, GolemHome, Home, Runtime, durable};
use tariff::Writes;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::bodies::{Bodies, Sent};
use super::counting;
use super::login::Login;
use super::models::{Model, Models, Unknown};
use super::notice;
use super::origin;
use super::parts::Cache;
use super::prefix::{Input, PrefixKey, Prefixes};
use super::protocol::AgentProtocol;
use super::refusal::Refusal;
use super::relay::{CameTo, Finds, RunningCall};
use super::session;
use super::shape::{self, AgentCall, InPath};
use super::shapes::Shapes;
use super::span;
use super::weighed::{is_public, weighed};
use crate::door;
use crate::old_names::Led;

/// How long a call may wait for its verdict, and how long for money that is set aside for others.
const WAITS: Duration = Duration::from_secs(30);
const LACKS: Duration = Duration::from_secs(20);
/// Tokens of an answer, where neither the agent nor the price book says.
const USUAL: u64 = 8_192;
/// Headers of the agent's that are passed on to the provider; with the last of them Codex says that its tools stand
/// among what goes in.
const PASSED_ON: [&str; 4] = ["accept", "anthropic-version", "user-agent", "x-openai-internal-codex-responses-lite"];
const THREADS: usize = 2;

/// The address to listen on, and the models that agents may call.
#[derive(Debug)]
pub struct Listen {
    pub address: SocketAddr,
    pub models: Models,
    /// Whether this is the home's own gateway, whose address is told to its agents.
    pub known: bool,
    /// Whether a login of a program's own is passed on to its provider.
    pub own_login: bool,
}

impl Listen {
    pub fn of(address: &str, settings: &Settings, prices: Prices) -> Result<Listen, Error> {
        let wrong =
            || Error::Usage(format!("gateway.listen is not an address: {address}; write it like 127.0.0.1:7374"));
        Ok(Listen {
            address: address.parse().map_err(|_| wrong())?,
            models: Models::of(settings, prices)?,
            known: true,
            own_login: settings.flag("gateway.own_login"),
        })
    }
}

/// The file with the address of a home's gateway, which each host writes as it comes up.
fn address_file(home: &Home) -> PathBuf {
    home.root().join("gateway")
}

/// The address that agents call: that of the gateway that is up, or of the next one.
pub fn address(home: &Home) -> Result<String, Error> {
    let up = std::fs::read_to_string(address_file(home)).ok().filter(|_| home.is_up());
    Ok(match up {
        Some(address) => address.trim().to_owned(),
        None => home.settings()?.text("gateway.listen").unwrap_or_default().to_owned(),
    })
}

/// What answers an agent that speaks the Model Context Protocol, once it is known whose agent it is. A server that speaks it hands
/// this down.
pub type Speaker = Box<dyn Fn(GolemHome, Request) -> Speaking + Send + Sync>;
pub type Speaking = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

struct Gateway {
    runtime: Arc<Runtime>,
    models: Models,
    client: reqwest::Client,
    mcp: Speaker,
    turned_away: Arc<Mutex<TurnedAway>>,
    bodies: Bodies,
    key: PrefixKey,
    prefixes: Arc<Prefixes>,
    shapes: Arc<Shapes>,
    own_login: bool,
}

/// Calls refused before a golem was asked, because they were not understood or named something unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnedAway {
    pub times: u64,
    /// The message of the last refusal.
    pub why: String,
    /// Models that were asked for and have no price, named as `models.prices` would name them.
    pub unpriced: Vec<String>,
}

/// Models without a price that are remembered.
const UNPRICED: usize = 16;

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
        lock(&self.turned_away).clone()
    }

    /// Stops the gateway; calls under way end, and are settled by what was seen of them.
    pub fn close(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

pub fn serve(listen: Listen, runtime: &Arc<Runtime>, mcp: Speaker) -> Result<Running, Error> {
    let cannot = |e: std::io::Error| {
        let way = "choose another address with `bardo up --gateway ADDRESS`, or gateway.listen in bardo.toml";
        Error::Host(format!("the gateway cannot listen on {}: {e}; {way}", listen.address))
    };
    let listener = std::net::TcpListener::bind(listen.address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let builder = || http::client().connect_timeout(Duration::from_secs(10)).pool_max_idle_per_host(256);
    // Without certificates a machine can still ask models of its own.
    let client = builder()
        .build()
        .or_else(|_| builder().tls_certs_only([]).build())
        .map_err(|e| Error::Host(format!("cannot make a client: {e}")))?;
    let turned_away = Arc::<Mutex<TurnedAway>>::default();
    let gateway = Gateway {
        runtime: Arc::clone(runtime),
        models: listen.models,
        client,
        mcp,
        turned_away: Arc::clone(&turned_away),
        bodies: Bodies::new(),
        key: PrefixKey::new(chance::Secret::draw().hash()),
        prefixes: Arc::default(),
        shapes: Arc::new(Shapes::of(runtime.home())),
        own_login: listen.own_login,
    };
    let gateway = Arc::new(gateway);
    let led = Led::below(runtime.home(), "/g/", "x-bardo-renamed");
    let threads =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().map_err(cannot)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let address_file = address_file(runtime.home());
    let thread = std::thread::Builder::new().name("gateway".into()).spawn(move || {
        threads.block_on(async {
            let listener = TcpListener::from_std(listener);
            let _ = begun.send(listener.as_ref().map(|_| ()).map_err(ToString::to_string));
            let Ok(listener) = listener else { return };
            let router = Router::new()
                .route("/g/{name}/v1/{*path}", axum::routing::any(called))
                .route("/g/{name}/t/{token}/v1/{*path}", axum::routing::any(called_with_login))
                .route("/g/{name}/v1beta/models/{what}", axum::routing::any(generated))
                .route("/g/{name}/mcp", axum::routing::any(spoken))
                .fallback(|| async { lost() })
                .with_state(gateway);
            tokio::select! {
                () = door::open(listener, led.over(router)) => {}
                _ = stopped => {}
            }
        });
        threads.shutdown_timeout(Duration::from_millis(200));
    });
    let thread = thread.map_err(cannot)?;
    match begins.recv() {
        Ok(Ok(())) => {
            if listen.known {
                durable::write(&address_file, address.to_string().as_bytes())?;
            }
            Ok(Running { address, turned_away, stop, thread })
        }
        _ => Err(Error::Host(format!("the gateway cannot listen on {address}"))),
    }
}

fn lost() -> Response<Body> {
    let message = "there is nothing here; calls go to /g/NAME/v1/chat/completions, responses, embeddings or messages";
    Refusal::new(StatusCode::NOT_FOUND, "not_found", message).response(AgentProtocol::Chat)
}

/// Refuses a WebSocket, on which a call goes on from earlier ones: those stand in no call and have no bound. Codex
/// tries one first, and on this answer turns to plain requests at once.
fn no_socket() -> Response<Body> {
    let message = "the Responses API has no WebSocket here: POST each whole call to this address; Codex does so automatically, \
                   and at once with supports_websockets=false in its provider";
    let mut response =
        Refusal::new(StatusCode::UPGRADE_REQUIRED, "websocket", message).response(AgentProtocol::Responses);
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    response
}

async fn called(
    State(gateway): State<Arc<Gateway>>,
    Path((name, path)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    gateway.answer(&name, None, &path, request).await
}

/// Answers a call with the token in its path and a login of the program's own where the token usually stands.
async fn called_with_login(
    State(gateway): State<Arc<Gateway>>,
    Path((name, token, path)): Path<(String, String, String)>,
    request: Request,
) -> Response<Body> {
    gateway.answer(&name, Some(&token), &path, request).await
}

/// Answers a call in Google's protocol, whose paths say which model is asked and how.
async fn generated(
    State(gateway): State<Arc<Gateway>>,
    Path((name, what)): Path<(String, String)>,
    request: Request,
) -> Response<Body> {
    let place = match gateway.enter(&name, request.headers()) {
        Ok(place) => place,
        Err(refusal) => return gateway.turn_away(None, &refusal, AgentProtocol::Generate),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
    // A name with `..` in it would be asked at the price of another model.
    let climbs = |model: &str| model.split('/').any(|part| matches!(part, "" | "." | ".."));
    let said = what.split_once(':').filter(|(model, _)| !climbs(model) && model.chars().all(plain));
    let stream = match said {
        Some((_, "generateContent")) => false,
        Some((_, "streamGenerateContent")) => true,
        _ => return lost(),
    };
    let (Some((model, _)), &Method::POST) = (said, request.method()) else { return lost() };
    let made = gateway.call(&place, (AgentProtocol::Generate, Some(InPath { model, stream })), request, None).await;
    match made {
        Ok(response) => gateway.telling_end(&place, response),
        Err(refusal) => gateway.turn_away(Some(&place), &refusal, AgentProtocol::Generate),
    }
}

/// Answers an agent over the Model Context Protocol.
async fn spoken(State(gateway): State<Arc<Gateway>>, Path(name): Path<String>, request: Request) -> Response<Body> {
    match gateway.enter(&name, request.headers()) {
        Ok(place) => (gateway.mcp)(place, request).await,
        Err(refusal) => refusal.response(AgentProtocol::Chat),
    }
}

impl Gateway {
    /// Answers a request under a golem's address, by its path and method.
    async fn answer(&self, name: &str, token: Option<&str>, path: &str, request: Request) -> Response<Body> {
        let protocol = AgentProtocol::ALL.into_iter().find(|protocol| protocol.path()[1..] == *path);
        // Each path is written in one way; an escaped one means something else.
        let protocol = protocol.filter(|_| !request.uri().path().contains('%'));
        let spoken = protocol.unwrap_or(if path.starts_with("messages") {
            AgentProtocol::Messages
        } else {
            AgentProtocol::Chat
        });
        let entered = match token {
            None => self.enter(name, request.headers()),
            Some(token) => self.found(name, |place| agent::leads(place, token.trim())),
        };
        let place = match entered {
            Ok(place) => place,
            Err(refusal) => return self.turn_away(None, &refusal, spoken),
        };
        // The list of models costs nothing and needs no login.
        let shown = token.filter(|_| path != "models").map(|_| self.login(request.headers(), spoken));
        let login = match shown.transpose() {
            Ok(login) => login,
            Err(refusal) => return self.turn_away(Some(&place), &refusal, spoken),
        };
        match (protocol, request.method()) {
            (None, &Method::GET) if path == "models" => self.listed(request.headers()),
            (Some(AgentProtocol::Responses), &Method::GET) => no_socket(),
            (None, &Method::POST) if path == counting::PATH => match self.counted(&place, request, login).await {
                Ok(response) => response,
                Err(refusal) => self.turn_away(Some(&place), &refusal, spoken),
            },
            (Some(protocol), &Method::POST) => match self.call(&place, (protocol, None), request, login).await {
                Ok(response) => self.telling_end(&place, response),
                Err(refusal) => self.turn_away(Some(&place), &refusal, protocol),
            },
            _ => lost(),
        }
    }

    /// Tells in the call itself that the end of a life is near, where its owner allows lines of ours there.
    fn with_notice(&self, place: &GolemHome, protocol: AgentProtocol, bytes: Vec<u8>) -> Vec<u8> {
        let notice = self.runtime.counters().of(&place.name).end_notice().filter(|notice| notice.in_calls);
        notice.and_then(|notice| notice::with_line(&bytes, protocol, &notice.words())).unwrap_or(bytes)
    }

    /// Tells in headers that the end of a life is near, why, and where a last word may be left.
    fn telling_end(&self, place: &GolemHome, mut response: Response<Body>) -> Response<Body> {
        let Some(notice) = self.runtime.counters().of(&place.name).end_notice() else { return response };
        let why = HeaderValue::from_str(&notice.why).unwrap_or(HeaderValue::from_static("near"));
        response.headers_mut().insert("x-bardo-end", why);
        let path = notice.testament.and_then(|path| HeaderValue::from_str(path.to_str()?).ok());
        if let Some(path) = path {
            response.headers_mut().insert("x-bardo-last-word", path);
        }
        response
    }

    /// Finds the golem whose agent this is. A client without its token learns nothing, not even whether there is such a
    /// golem.
    fn enter(&self, name: &str, headers: &HeaderMap) -> Result<GolemHome, Refusal> {
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let plain = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        self.opened(name, [bearer, plain("x-api-key"), plain("x-goog-api-key")])
    }

    /// Returns the login that stands where the token usually does, if the owner lets it through.
    fn login(&self, headers: &HeaderMap, spoken: AgentProtocol) -> Result<Login, Refusal> {
        if !self.own_login {
            let message = "a login of the program's own is passed on only where its owner says so: `bardo wrap --own-login`, or \
                           own_login = true under [gateway] in bardo.toml";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "login", message));
        }
        Login::of(headers, spoken).ok_or_else(|| {
            let message =
                "no login of the program's own came with this call; log it in, or start it without --own-login";
            Refusal::new(StatusCode::UNAUTHORIZED, "login", message)
        })
    }

    /// Finds the golem of this name, if one of these is its token.
    fn opened<const N: usize>(&self, name: &str, sent: [Option<&str>; N]) -> Result<GolemHome, Refusal> {
        self.found(name, |place| sent.into_iter().flatten().any(|sent| agent::opens(place, sent.trim())))
    }

    fn found(&self, name: &str, opens: impl FnOnce(&GolemHome) -> bool) -> Result<GolemHome, Refusal> {
        let place = name.parse::<Name>().ok().map(|name| self.runtime.home().place(&name));
        place.filter(|place| opens(place)).ok_or_else(|| {
            let message = "this is not the token of that golem's agent; `bardo golem connect NAME` shows it";
            Refusal::new(StatusCode::UNAUTHORIZED, "token", message)
        })
    }

    fn turn_away(&self, place: Option<&GolemHome>, refusal: &Refusal, protocol: AgentProtocol) -> Response<Body> {
        if let Some(place) = place {
            self.runtime.counters().of(&place.name).turned_away(refusal.code, &refusal.message);
        }
        let mut turned_away = lock(&self.turned_away);
        turned_away.times += 1;
        turned_away.why.clone_from(&refusal.message);
        refusal.response(protocol)
    }

    /// The refusal of an unknown model; a model without a price is logged once, for the owner.
    fn unknown(&self, place: &GolemHome, unknown: Unknown) -> Refusal {
        let mut turned_away = lock(&self.turned_away);
        let known = &mut turned_away.unpriced;
        if let Some(model) = unknown.unpriced.filter(|model| known.len() < UNPRICED && !known.contains(model)) {
            tracing::warn!(golem = place.name.as_str(), model, "a call was refused: its model has no price");
            known.push(model);
        }
        Refusal::new(StatusCode::NOT_FOUND, "model", unknown.why)
    }

    /// Answers with the list of models, in the shape of the client's protocol.
    fn listed(&self, headers: &HeaderMap) -> Response<Body> {
        let messages = headers.contains_key("anthropic-version");
        let protocol = if messages { AgentProtocol::Messages } else { AgentProtocol::Chat };
        let has_key = |variable: &str| std::env::var_os(variable).is_some_and(|key| !key.is_empty());
        let all = self.models.listed(protocol, has_key);
        let model = |(name, owner): &(String, String)| match protocol {
            AgentProtocol::Messages => {
                json!({ "type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z" })
            }
            _ => json!({ "id": name, "object": "model", "created": 0, "owned_by": owner }),
        };
        let data: Vec<_> = all.iter().map(model).collect();
        let (first, last) = (all.first().map(|(name, _)| name), all.last().map(|(name, _)| name));
        let body = match protocol {
            AgentProtocol::Messages => json!({ "data": data, "has_more": false, "first_id": first, "last_id": last }),
            _ => json!({ "object": "list", "data": data }),
        };
        let mut response = Response::new(Body::from(body.to_string()));
        response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        response
    }

    /// Answers with the count of a call, made by the provider that would answer it.
    async fn counted(
        &self,
        place: &GolemHome,
        request: Request,
        login: Option<Login>,
    ) -> Result<Response<Body>, Refusal> {
        if place.frozen_marker().exists() {
            return Err(Refusal::of(Denied::Frozen, None));
        }
        if !self.runtime.counters().of(&place.name).is_lived() {
            return Err(gone(place));
        }
        let (parts, body) = request.into_parts();
        let Sent { bytes, room: _room } = self.bodies.take(body).await?;
        let asked = shape::read(&bytes, AgentProtocol::Messages, &self.key).map_err(Refusal::wrong)?;
        let model = self.model(place, &asked.model, AgentProtocol::Messages, login.as_ref())?;
        counting::count(&self.client, &model.upstream, &asked, passed_on(&parts.headers), login.as_ref()).await
    }

    /// Finds the model of a call, with a key of the owner's or for a login of the program's own.
    fn model(
        &self,
        place: &GolemHome,
        name: &str,
        protocol: AgentProtocol,
        login: Option<&Login>,
    ) -> Result<Model, Refusal> {
        let found = match login {
            None => self.models.find(name, protocol),
            Some(_) => self.models.find_by_login(name, protocol),
        };
        found.map_err(|unknown| self.unknown(place, unknown))
    }

    async fn call(
        &self,
        place: &GolemHome,
        (protocol, path): (AgentProtocol, Option<InPath<'_>>),
        request: Request,
        login: Option<Login>,
    ) -> Result<Response<Body>, Refusal> {
        // The marker works without the golem's process.
        if place.frozen_marker().exists() {
            return Err(Refusal::of(Denied::Frozen, None));
        }
        let (parts, body) = request.into_parts();
        let Sent { bytes, room } = self.bodies.take(body).await?;
        let bytes = self.with_notice(place, protocol, bytes);
        let mut asked = shape::read_with(&bytes, protocol, &self.key, path).map_err(Refusal::wrong)?;
        asked.session = session::said(&parts.headers, asked.session.take());
        drop(bytes);
        let model = self.model(place, &asked.model, protocol, login.as_ref())?;
        let place_of = at_whom(&model.upstream, &parts.headers);
        let input = self.input(&mut asked, &model, &place_of);
        let turn = self.shapes.turn(protocol.path(), model.upstream.name(), &asked.unknown).await?;
        let worst = |asked: &AgentCall, input: Input| {
            let bound = worst(asked, input, &model, turn.is_trial());
            if login.as_ref().is_some_and(Login::is_unbounded) { unbounded(bound, &model) } else { Ok(bound) }
        };
        let counter = self.runtime.counters().of(&place.name);
        let again = parts.headers.get("idempotency-key").map(|key| known_by(counter.golem(), key));
        let mut bound = worst(&asked, input)?;
        // A login of the program's own is not used for a second request.
        let rough = if login.is_none() { counting::rough(&input, &model.upstream, &asked) } else { 0 };
        let origin = origin::origin(&parts.headers, asked.session.as_deref(), asked.tool.as_deref(), counter.golem());
        let origin = origin.as_ref();
        let mut verdict = self.verdict(place, &counter, (bound, model.tier, again, asked.alike, rough), origin).await?;
        if matches!(verdict, Verdict::Rough) {
            let headers = passed_on(&parts.headers);
            let input = counting::counted(&self.client, &model.upstream, &asked, headers, input).await;
            bound = worst(&asked, input)?;
            verdict = self.verdict(place, &counter, (bound, model.tier, again, asked.alike, 0), origin).await?;
        }
        match verdict {
            // With nothing rough in it, it was decided.
            Verdict::Rough => Err(Refusal::away()),
            Verdict::Later { lacks } => Err(Refusal::later(lacks)),
            Verdict::Denied { by, cause, lacks, state } => {
                span::refused(place.name.as_str(), &asked, by.code());
                let mut response = Refusal::of(by, cause.as_deref()).lacking(by, lacks).response(protocol);
                tell(response.headers_mut(), state, Usdc::ZERO);
                Ok(response)
            }
            Verdict::Granted { grant, tokens, most, state } => {
                let lowered = tokens < bound.output;
                let (prefixes, shapes) = (Arc::clone(&self.prefixes), Arc::clone(&self.shapes));
                let finds = Finds { prefixes, shapes, turn, place_of };
                let beside = (finds, room, login);
                let (name, money) = (place.name.as_str(), (grant, tokens, most));
                let call = RunningCall::new(counter, money, model.upstream, asked, beside, name);
                let mut response = call.make(&self.client, passed_on(&parts.headers)).await;
                // The cost of a stream is not known yet; and after a bill above its bound no call is let through.
                let cost = response.extensions().get::<CameTo>().map_or(Usdc::ZERO, |CameTo(cost)| *cost);
                let left = if cost > most { Left::default() } else { state.left };
                tell(response.headers_mut(), GolemState { left, ..state }, cost);
                response.headers_mut().insert("x-bardo-aside-micros", HeaderValue::from(most.as_micros()));
                if lowered {
                    response.headers_mut().insert("x-bardo-lowered-to", HeaderValue::from(tokens));
                }
                Ok(response)
            }
        }
    }

    /// Bounds the input: by what was counted before, and by tokens or bytes for what is new.
    fn input(&self, asked: &mut AgentCall, model: &Model, place_of: &str) -> Input {
        let whole = std::mem::take(&mut asked.whole);
        let input = self.prefixes.bound(&asked.chain, &asked.parts, place_of);
        if !is_public(model.upstream.name()) {
            return input;
        }
        weighed(input, &whole, asked.protocol, &asked.parts)
    }

    /// Asks the thread that runs the golem. Where money is only set aside, the call waits for what others leave of it.
    async fn verdict(
        &self,
        place: &GolemHome,
        counter: &Counter,
        (bound, tier, again, alike, rough): (Bound, Tier, Option<u64>, u64, u64),
        origin: Option<&CallOrigin>,
    ) -> Result<Verdict, Refusal> {
        let until = tokio::time::Instant::now() + LACKS;
        let mut frees = counter.frees();
        loop {
            frees.mark_unchanged();
            let (reply, verdict) = oneshot::channel();
            let origin = origin.map(|origin| Box::new(origin.clone()));
            if !counter.ask(Wanted { bound, tier, again, alike, rough, origin, reply }) {
                return Err(gone(place));
            }
            let verdict = tokio::time::timeout(WAITS, verdict).await.map_err(|_| Refusal::away())?;
            let verdict = verdict.map_err(|_| gone(place))?;
            let later = matches!(verdict, Verdict::Later { .. });
            if !later || tokio::time::timeout_at(until, frees.changed()).await.is_err() {
                return Ok(verdict);
            }
        }
    }
}

/// The upper bound of a call, at the dearest that a cache could make of its input; and a quarter more for unknown
/// fields.
fn worst(asked: &AgentCall, input: Input, model: &Model, is_trial: bool) -> Bound {
    let writes = match (asked.parts.cache, asked.protocol) {
        _ if asked.kept => Writes::Long,
        (Cache::None, AgentProtocol::Messages) => Writes::Never,
        (Cache::None | Cache::Short, _) => Writes::Short,
        (Cache::Long, _) => Writes::Long,
    };
    let rounds = if asked.parts.twice { 2 } else { 1 };
    let (margin, input) = (input.margin, input.most.saturating_mul(rounds));
    let answers = asked.answers.saturating_mul(rounds);
    let price = model.upstream.price().dearest(input, writes);
    let price = if is_trial { price.and_a_quarter() } else { price };
    let output = asked.most.or(model.longest).unwrap_or(USUAL);
    let spare = u128::from(margin) * u128::from(price.rates.input) / u128::from(price.rates.output.max(1));
    let fewest = asked.fewest_less(u64::try_from(spare).unwrap_or(u64::MAX));
    Bound { price, input, output, answers, fewest: fewest.min(output) }
}

/// The bound of a call whose answer cannot be kept short: it is taken to be as long as its model's longest.
fn unbounded(bound: Bound, model: &Model) -> Result<Bound, Refusal> {
    let longest = model.longest.ok_or_else(|| {
        let message = "the longest answer of this model is unknown, and its server accepts no limit; use another model";
        Refusal::new(StatusCode::NOT_FOUND, "model", message)
    })?;
    Ok(Bound { output: longest, fewest: longest, ..bound })
}

/// The place at which beginnings are counted alike: a provider, its model and the way it is asked.
fn at_whom(upstream: &mind::Upstream, headers: &HeaderMap) -> String {
    let ways = headers.get_all("anthropic-beta").iter().chain(headers.get_all(PASSED_ON[3]));
    let ways = ways.filter_map(|value| value.to_str().ok());
    ways.fold(upstream.name().to_owned(), |all, beta| all + " " + beta)
}

/// The refusal for a golem that is not running here: it is dead, or no process runs it.
fn gone(place: &GolemHome) -> Refusal {
    match place.wake() {
        Ok((golem, _)) if golem.life().is_dead() => {
            let cause = golem.life().death().map(|death| death.cause.to_string());
            Refusal::of(Denied::Dead, cause.as_deref())
        }
        _ => Refusal::away(),
    }
}

/// Tells in headers how the golem stands after a call of this cost, so that an agent can wind up in time. Caps other
/// than money are told as they stood before this call.
fn tell(headers: &mut HeaderMap, state: GolemState, cost: Usdc) {
    if let Ok(phase) = HeaderValue::from_str(&state.phase.to_string()) {
        headers.insert("x-bardo-phase", phase);
    }
    headers.insert("x-bardo-left-micros", HeaderValue::from(state.left.after(cost).as_micros()));
    for (name, left) in [("x-bardo-left-tokens", state.tokens), ("x-bardo-left-calls", state.calls)] {
        if let Some(left) = left {
            headers.insert(name, HeaderValue::from(left));
        }
    }
}

/// The fingerprint of a call by the key its agent gave it: of one golem, whatever that is called. A golem that was never
/// opened answers no call, so its fingerprint does not matter.
fn known_by(golem: Option<GolemId>, key: &HeaderValue) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&golem.map_or([0; 16], |golem| golem.0)).update(b"\0").update(key.as_bytes());
    u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"))
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = HeaderMap::new();
    for name in PASSED_ON {
        if let Some(value) = headers.get(name) {
            passed.insert(HeaderName::from_static(name), value.clone());
        }
    }
    // A beta costs something only through the fields it is for, and those are read.
    for beta in headers.get_all("anthropic-beta") {
        passed.append("anthropic-beta", beta.clone());
    }
    passed
}
