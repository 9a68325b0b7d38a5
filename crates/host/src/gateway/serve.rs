//! Listening for agents. An address of its own, so that an agent that can reach it reaches nothing else of its owner's.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Response, StatusCode};
use golem::Name;
use golem::call::Denied;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::models::Models;
use super::refusal::Refusal;
use super::relay::Call;
use super::shape::{self, Asked, Protocol};
use super::span;
use crate::config::Settings;
use crate::errands::{Bound, Stands, Verdict, Wanted};
use crate::home::agent;
use crate::mcp::{self, Who};
use crate::{Error, GolemHome, Home, durable};

/// The largest call: a few pictures.
const LARGEST: usize = 32 << 20;
/// How long a call may take to arrive.
const ARRIVES: Duration = Duration::from_secs(60);
/// How long it may wait to be let through.
const WAITS: Duration = Duration::from_secs(30);
/// Fewer tokens than this are no answer.
const FEWEST: u64 = 16;
/// What an agent says about its own call that its model is told too.
const PASSED_ON: [&str; 3] = ["accept", "anthropic-version", "user-agent"];
/// What changes how a model answers and not what that costs.
const HARMLESS: [&str; 6] = [
    "prompt-caching",
    "fine-grained-tool-streaming",
    "interleaved-thinking",
    "token-efficient-tools",
    "claude-code",
    "tools-",
];
const THREADS: usize = 2;

/// Where to listen, and for which models.
#[derive(Debug)]
pub struct Listen {
    pub address: SocketAddr,
    pub models: Models,
}

impl Listen {
    pub fn of(address: &str, settings: &Settings) -> Result<Listen, Error> {
        let wrong = || Error::Usage(format!("gateway.listen is no address: {address}; write it like 127.0.0.1:7374"));
        Ok(Listen { address: address.parse().map_err(|_| wrong())?, models: Models::of(settings)? })
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
}

/// A gateway that is being served.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Running {
    /// Whatever is under way ends here, and is settled by what was seen of it.
    pub fn close(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

pub fn serve(listen: Listen, home: &Home) -> Result<Running, Error> {
    let cannot = |e: std::io::Error| Error::Host(format!("the gateway cannot listen on {}: {e}", listen.address));
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
    let gateway = Arc::new(Gateway { home: home.clone(), models: listen.models, client, mcp: mcp::http(home) });
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
                .route("/g/{name}/mcp", axum::routing::any(spoken))
                .fallback(|| async { lost() })
                .with_state(gateway);
            tokio::select! {
                served = axum::serve(listener, router) => drop(served),
                _ = stopped => {}
            }
        });
        runtime.shutdown_timeout(Duration::from_millis(200));
    });
    let thread = thread.map_err(cannot)?;
    match begins.recv() {
        Ok(Ok(())) => {
            durable::write(&address_file(home), address.to_string().as_bytes())?;
            Ok(Running { address, stop, thread })
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
        Err(refusal) => return refusal.response(spoken),
    };
    match (protocol, request.method()) {
        (None, &Method::GET) if path == "models" => gateway.listed(),
        (Some(protocol), &Method::POST) => match gateway.call(&place, protocol, request).await {
            Ok(response) => response,
            Err(refusal) => refusal.response(protocol),
        },
        _ => lost(),
    }
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
        let plain = headers.get("x-api-key").and_then(|value| value.to_str().ok());
        let place = name.parse::<Name>().ok().map(|name| self.home.place(&name));
        let opens =
            |place: &GolemHome| [bearer, plain].into_iter().flatten().any(|sent| agent::opens(place, sent.trim()));
        place.filter(opens).ok_or_else(|| {
            let message = "this is not the token of that golem's agent; `bardo golem connect NAME` shows it";
            Refusal::new(StatusCode::UNAUTHORIZED, "token", message)
        })
    }

    fn listed(&self) -> Response<Body> {
        let model = |name: &str| json!({ "id": name, "object": "model", "created": 0, "owned_by": "bardo" });
        let all: Vec<_> = self.models.names().map(model).collect();
        let mut response = Response::new(Body::from(json!({ "object": "list", "data": all }).to_string()));
        response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        response
    }

    async fn call(&self, place: &GolemHome, protocol: Protocol, request: Request) -> Result<Response<Body>, Refusal> {
        // A marker needs nobody's cooperation.
        if place.frozen_marker().exists() {
            return Err(Refusal::of(Denied::Frozen, None));
        }
        let (parts, body) = request.into_parts();
        let late = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "slow", "the call took too long to arrive");
        let body = tokio::time::timeout(ARRIVES, to_bytes(body, LARGEST)).await.map_err(late)?;
        let large =
            |_| Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "large", "the call did not arrive whole, or is too large");
        let body = body.map_err(large)?;
        let asked = shape::read(&body, protocol).map_err(Refusal::wrong)?;
        let model = self.models.find(&asked.model, protocol);
        let model = model.map_err(|why| Refusal::new(StatusCode::NOT_FOUND, "model", why))?;
        let counter = self.home.counters().of(&place.name);
        let (reply, verdict) = oneshot::channel();
        let bound = bound(&asked, &model.upstream);
        let again = parts.headers.get("idempotency-key").map(|key| known_by(place, key));
        let wanted = Wanted { bound, tier: model.tier, again, alike: asked.alike, reply };
        counter.ask(wanted).map_err(|_| gone(place))?;
        let verdict = tokio::time::timeout(WAITS, verdict).await.map_err(|_| Refusal::away())?;
        match verdict.map_err(|_| gone(place))? {
            Verdict::Denied { by, cause, stands } => {
                span::refused(place.name.as_str(), &asked, by.code());
                let mut response = Refusal::of(by, cause.as_deref()).response(protocol);
                tell(response.headers_mut(), stands);
                Ok(response)
            }
            Verdict::Granted { key, tokens, stands } => {
                let call = Call::new(counter, (key, tokens), model.upstream, asked, place.name.as_str());
                let mut response = call.make(&self.client, passed_on(&parts.headers)).await;
                tell(response.headers_mut(), stands);
                Ok(response)
            }
        }
    }
}

fn bound(asked: &Asked, upstream: &mind::Upstream) -> Bound {
    let Asked { input, output, answers, .. } = *asked;
    Bound { price: upstream.price(), input, output, answers, fewest: FEWEST }
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
    let betas = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    let harmless = |beta: &&str| HARMLESS.iter().any(|with| beta.starts_with(with));
    let betas: Vec<&str> = betas.flat_map(|text| text.split(',')).map(str::trim).filter(harmless).collect();
    if let (false, Ok(value)) = (betas.is_empty(), HeaderValue::from_str(&betas.join(","))) {
        passed.insert("anthropic-beta", value);
    }
    passed
}
