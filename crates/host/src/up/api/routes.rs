//! What can be asked and ordered. Reading looks at the board and the files; ordering writes a letter and waits for
//! its answer, exactly as the command line does.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use golem::event::Account;
use golem::plain;
use golem::{Command, Name, Usdc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::openapi::{OpenApi, SecurityRequirement};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vault::Reader;
use vault::grimoire::Query as Recall;

use super::told::{Offer, Words};
use super::{Reach, guard, stream, witness};
use crate::heirs::Heir;
use crate::inbox::Body;
use crate::up::board::{Spread, State as Standing, Status};
use crate::word::{self, Heard};
use crate::{Error, GolemHome, closing, heirs, nights};

/// The largest body anyone may send.
const BODY: usize = 64 << 10;

/// Why something was not done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    #[serde(skip)]
    pub(super) status: StatusCode,
    pub(super) error: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Problem {
        Problem { status, error: plain::line(&error.into(), 2_000) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self)).into_response()
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = match &error {
            Error::NoGolem(_) => StatusCode::NOT_FOUND,
            Error::Config(_) | Error::Advice(_) => StatusCode::BAD_REQUEST,
            Error::Dead(..) | Error::Refused(_) | Error::NameTaken(_) => StatusCode::CONFLICT,
            Error::Vault(vault::Error::TreasuryShort { .. } | vault::Error::Locked(_) | vault::Error::Sealed(_)) => {
                StatusCode::CONFLICT
            }
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Problem::new(status, error.to_string())
    }
}

/// JSON, or the reason why it is none.
struct Given<T>(T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> FromRequest<S> for Given<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Given<T>, Problem> {
        let read: Result<Json<T>, JsonRejection> = Json::from_request(request, state).await;
        read.map(|Json(value)| Given(value)).map_err(|why| Problem::new(why.status(), why.body_text()))
    }
}

/// Work that waits for files or for golems, away from the thread that serves everyone.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Problem::from),
        Err(_) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the host is going down")),
    }
}

pub(super) fn router(reach: Reach) -> (Router, OpenApi) {
    let (router, mut api) = OpenApiRouter::new()
        .routes(routes!(golems))
        .routes(routes!(one))
        .routes(routes!(memory))
        .routes(routes!(dreams))
        .routes(routes!(testament))
        .routes(routes!(lineage))
        .routes(routes!(estate))
        .routes(routes!(successor))
        .routes(routes!(fund))
        .routes(routes!(withdraw))
        .routes(routes!(steer))
        .routes(routes!(approve))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(freeze))
        .routes(routes!(retire))
        .routes(routes!(dream))
        .routes(routes!(wake))
        .routes(routes!(stream::events))
        .routes(routes!(stream::golem_events))
        .routes(routes!(health))
        .routes(routes!(ready))
        .routes(routes!(metrics))
        .split_for_parts();
    api.info.title = "bardo".into();
    (api.info.contact, api.info.license) = (None, None);
    api.info.version = env!("CARGO_PKG_VERSION").into();
    api.info.description = Some("Golems of one home, as a host that is up lives them.".into());
    let token = utoipa::openapi::security::HttpBuilder::new()
        .scheme(utoipa::openapi::security::HttpAuthScheme::Bearer)
        .description(Some("a token made with `bardo token new`, or the text in the home's file api-token"))
        .build();
    let components = api.components.get_or_insert_default();
    components.add_security_scheme("token", utoipa::openapi::security::SecurityScheme::Http(token));
    describe_scopes(&mut api);
    let written = api.to_json().expect("a description is plain data");
    let described = move || async move { ([(CONTENT_TYPE, "application/json")], written) };
    let router = router
        .route("/openapi.json", axum::routing::get(described))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here; see /openapi.json") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this is done another way; see /openapi.json")
        })
        .layer(DefaultBodyLimit::max(BODY))
        .layer(axum::middleware::from_fn_with_state(reach.clone(), guard::check))
        .layer(axum::middleware::from_fn(witness::watch))
        .with_state(reach);
    (router, api)
}

/// Says of each operation which scope its token must have.
fn describe_scopes(api: &mut OpenApi) {
    for (path, item) in &mut api.paths.paths {
        let operations = [(Method::GET, &mut item.get), (Method::POST, &mut item.post)];
        for (method, operation) in operations.into_iter().filter_map(|(method, one)| Some((method, one.as_mut()?))) {
            let scope = guard::needed(&method, path).name();
            if !guard::OPEN.contains(&path.as_str()) {
                operation.security = Some(vec![SecurityRequirement::new("token", [scope])]);
            }
        }
    }
}

/// The description of the API, as it is kept in docs/openapi.json.
pub fn document(home: &crate::Home) -> Result<String, Error> {
    let folder = home.root();
    let tokens = std::sync::Arc::new(crate::tokens::Keyring::of(home));
    let listen = super::Listen { address: ([127, 0, 0, 1], 0).into(), tokens, origins: Vec::new() };
    let board = std::sync::Arc::default();
    let log = vault::Log::open(folder, &home.heads(), Vec::new())?;
    let (desk, scribe) = crate::up::desk::Desk::open(log, folder.to_owned(), home.treasury()?, board)?;
    let (_, api) = router(Reach { home: home.clone(), desk, listen: listen.into() });
    scribe.close()?;
    Ok(api.to_pretty_json().expect("a description is plain data") + "\n")
}

/// All golems at a glance.
#[utoipa::path(get, path = "/v1/golems", responses((status = 200, body = Vec<Status>)))]
async fn golems(State(reach): State<Reach>) -> Json<Vec<Status>> {
    Json(reach.desk.board.all())
}

/// One golem, with everything it is at this moment, and under `told` the same in words.
#[utoipa::path(get, path = "/v1/golems/{name}", params(("name" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
async fn one(State(reach): State<Reach>, Path(name): Path<String>) -> Result<Json<Value>, Problem> {
    let status = reach.desk.board.one(&name);
    aside(move || {
        let place = reach.home.golem(&name)?;
        let (golem, _) = place.wake()?;
        let mut value = serde_json::to_value(golem.life()).expect("plain data");
        value["records"] = json!(golem.seq());
        value["running"] = json!(place.is_lived(golem.life().id()));
        value["status"] = json!(status.unwrap_or_else(|| Status::of(golem.life())));
        value["told"] = json!(Words::of(golem.life(), &place));
        Ok(Json(value))
    })
    .await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Search {
    /// What to look for.
    q: String,
    /// How many at most.
    #[serde(default = "ten")]
    #[param(minimum = 1, maximum = 100)]
    limit: usize,
    /// Also what is in quarantine or archived.
    #[serde(default)]
    all: bool,
}

fn ten() -> usize {
    10
}

/// What a golem knows of something, best first.
#[utoipa::path(get, path = "/v1/golems/{name}/memory", params(("name" = String, Path), Search),
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
async fn memory(
    State(reach): State<Reach>,
    Path(name): Path<String>,
    Query(search): Query<Search>,
) -> Result<Json<Value>, Problem> {
    aside(move || {
        let place = reach.home.read_golem(&name)?;
        let reader = Reader::open(&place.database())?;
        let (golem, _) = reader.wake()?;
        let life = golem.life();
        let mut query = Recall::about(search.q, life.now, life.regimes.now);
        query.limit = search.limit.clamp(1, 100);
        if search.all {
            query.statuses = Vec::new();
        }
        let hits = reader.search(None, &query)?;
        let told = hits
            .iter()
            .map(|hit| json!({ "score": hit.score, "entry": hit.entry, "confidence": hit.entry.confidence(life.now) }));
        Ok(Json(told.collect()))
    })
    .await
}

/// Its nights, the newest last.
#[utoipa::path(get, path = "/v1/golems/{name}/dreams", params(("name" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
async fn dreams(State(reach): State<Reach>, Path(name): Path<String>) -> Result<Json<Value>, Problem> {
    aside(move || {
        let nights = nights::nights(&reach.home.read_golem(&name)?)?;
        let newest = &nights[nights.len().saturating_sub(100)..];
        Ok(Json(json!({ "nights": nights.len(), "newest": newest })))
    })
    .await
}

/// What a dead golem has left in words.
#[utoipa::path(get, path = "/v1/golems/{name}/testament", params(("name" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Problem), (status = 409, description = "it is alive", body = Problem)))]
async fn testament(State(reach): State<Reach>, Path(name): Path<String>) -> Result<Json<Value>, Problem> {
    aside(move || {
        let place = reach.home.read_golem(&name)?;
        let (golem, _) = place.wake()?;
        match closing::testament(&place, golem.life())? {
            Some(testament) => Ok(Json(serde_json::to_value(testament).expect("plain data"))),
            None => Err(Error::Refused(format!("{name} has left no testament"))),
        }
    })
    .await
}

/// Its family, the oldest generation first.
#[utoipa::path(get, path = "/v1/golems/{name}/lineage", params(("name" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Problem)))]
async fn lineage(State(reach): State<Reach>, Path(name): Path<String>) -> Result<Json<Value>, Problem> {
    aside(move || {
        let family = heirs::family(&reach.home, &reach.home.golem(&name)?)?;
        Ok(Json(family.iter().map(|life| json!(heirs::Relative::of(life))).collect()))
    })
    .await
}

/// What an heir of a dead golem would be left.
#[utoipa::path(get, path = "/v1/golems/{name}/estate", params(("name" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Problem), (status = 409, description = "it is alive, or not yet done with dying", body = Problem)))]
async fn estate(State(reach): State<Reach>, Path(name): Path<String>) -> Result<Json<Value>, Problem> {
    aside(move || {
        let dead = reach.home.read_golem(&name)?;
        Ok(Json(serde_json::to_value(Offer::of(&reach.home, &dead)?).expect("plain data")))
    })
    .await
}

/// How an heir is to be made; what is left out is as its predecessor had it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Succession {
    /// The next in the line if there is none, such as ada-2.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Option<Name>,
    /// Money to live on, in micro-USDC.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    credit: Option<i64>,
    /// Whether it is left what its predecessor knew.
    #[serde(default)]
    inherit: Option<bool>,
}

/// Who was born.
#[derive(Debug, Serialize, ToSchema)]
struct Newborn {
    name: String,
    id: String,
    generation: u32,
}

/// Make an heir of a dead golem, from what it left.
#[utoipa::path(post, path = "/v1/golems/{name}/successor", params(("name" = String, Path)), request_body = Succession,
    responses((status = 200, body = Newborn), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn successor(
    State(reach): State<Reach>,
    Path(name): Path<String>,
    Given(wanted): Given<Succession>,
) -> Result<Json<Newborn>, Problem> {
    let credit = wanted.credit.map(|credit| Money { credit, capital: 0 }.read()).transpose()?;
    aside(move || {
        let home = &reach.home;
        let dead = home.read_golem(&name)?;
        let estate = heirs::estate(home, &dead)?;
        let set = credit.iter().map(|(credit, _)| format!("funds.credit={}", plain(*credit))).collect();
        let name = wanted.name.unwrap_or_else(|| heirs::next_name(home, &dead.name));
        let heir = Heir { name, seed: None, set, inherit: wanted.inherit, force: false };
        let heir = heirs::make(home, &estate, heir)?;
        let birth = &heir.life().birth;
        Ok(Json(Newborn { name: birth.name.to_string(), id: birth.id.to_string(), generation: birth.generation }))
    })
    .await
}

/// An amount as configuration text.
fn plain(amount: Usdc) -> String {
    amount.to_string().trim_start_matches('$').to_owned()
}

/// What came of an order.
#[derive(Debug, Serialize, ToSchema)]
struct Came {
    done: bool,
    /// Nobody has answered yet; the order waits and will be obeyed.
    waiting: bool,
}

async fn tell(
    reach: Reach,
    name: String,
    body: impl FnOnce(&GolemHome) -> Result<Body, Error> + Send + 'static,
) -> Result<(StatusCode, Json<Came>), Problem> {
    aside(move || {
        let place = reach.home.golem(&name)?;
        let body = body(&place)?;
        let heard = word::hear(&place, word::pass_on(&place, body, 1)?, word::PATIENCE)?;
        let waiting = heard == Heard::Waiting;
        let status = if waiting { StatusCode::ACCEPTED } else { StatusCode::OK };
        Ok((status, Json(Came { done: !waiting, waiting })))
    })
    .await
}

type Told = Result<(StatusCode, Json<Came>), Problem>;

/// Money, in micro-USDC.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Money {
    /// To live on.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    credit: i64,
    /// To act with.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    capital: i64,
}

impl Money {
    fn read(&self) -> Result<(Usdc, Usdc), Error> {
        let all = 0..=1_000_000_000_000_i64;
        if !all.contains(&self.credit) || !all.contains(&self.capital) || self.credit + self.capital == 0 {
            return Err(Error::Advice("an amount must be more than nothing and at most a million".into()));
        }
        Ok((Usdc::micros(self.credit), Usdc::micros(self.capital)))
    }
}

/// Give it money from the treasury.
#[utoipa::path(post, path = "/v1/golems/{name}/fund", params(("name" = String, Path)), request_body = Money,
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn fund(State(reach): State<Reach>, Path(name): Path<String>, Given(money): Given<Money>) -> Told {
    let (credit, capital) = money.read()?;
    tell(reach, name, move |_| Ok(Body::Fund { credit, capital })).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Withdrawal {
    /// `credit` or `capital`.
    #[schema(value_type = String)]
    from: Account,
    /// In micro-USDC.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    amount: i64,
}

/// Take money back to the treasury.
#[utoipa::path(post, path = "/v1/golems/{name}/withdraw", params(("name" = String, Path)), request_body = Withdrawal,
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn withdraw(State(reach): State<Reach>, Path(name): Path<String>, Given(money): Given<Withdrawal>) -> Told {
    let (amount, _) = Money { credit: money.amount, capital: 0 }.read()?;
    tell(reach, name, move |_| Ok(Body::Command(Command::Withdraw { from: money.from, amount }))).await
}

/// Keys of its policy and what they are to be, as in a configuration file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Steering {
    #[schema(example = json!({ "policy.per_action": "0.1" }))]
    set: BTreeMap<String, String>,
}

/// Change the policy it acts under.
#[utoipa::path(post, path = "/v1/golems/{name}/steer", params(("name" = String, Path)), request_body = Steering,
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn steer(State(reach): State<Reach>, Path(name): Path<String>, Given(steering): Given<Steering>) -> Told {
    let set: Vec<String> = steering.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    tell(reach, name, move |place| Ok(Body::Command(word::amend(place, &set)?))).await
}

/// A yes or a no, to what `asks` of the golem's status says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Approval {
    /// The key of what is asked, so that nothing is answered unseen.
    key: u64,
    yes: bool,
}

/// Say yes or no to what it asks; no answer is a no.
#[utoipa::path(post, path = "/v1/golems/{name}/approve", params(("name" = String, Path)), request_body = Approval,
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn approve(State(reach): State<Reach>, Path(name): Path<String>, Given(said): Given<Approval>) -> Told {
    let Approval { key, yes } = said;
    tell(reach, name, move |place| Ok(Body::Command(word::approve(place, key, yes)?))).await
}

/// Stop world time and clocks until resumed.
#[utoipa::path(post, path = "/v1/golems/{name}/pause", params(("name" = String, Path)),
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn pause(State(reach): State<Reach>, Path(name): Path<String>) -> Told {
    tell(reach, name, |_| Ok(Body::Command(Command::Pause))).await
}

/// Undo a pause or a freeze.
#[utoipa::path(post, path = "/v1/golems/{name}/resume", params(("name" = String, Path)),
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn resume(State(reach): State<Reach>, Path(name): Path<String>) -> Told {
    tell(reach, name, |place| {
        word::unmark_frozen(place)?;
        Ok(Body::Command(Command::Resume))
    })
    .await
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Freeze {
    #[serde(default)]
    reason: String,
}

/// Forbid new exposure at once.
#[utoipa::path(post, path = "/v1/golems/{name}/freeze", params(("name" = String, Path)), request_body = Freeze,
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn freeze(State(reach): State<Reach>, Path(name): Path<String>, Given(freeze): Given<Freeze>) -> Told {
    tell(reach, name, move |place| {
        let (golem, _) = place.wake()?;
        if golem.life().is_dead() {
            return Err(word::dead(place, golem.life()));
        }
        word::mark_frozen(place, &freeze.reason)?;
        Ok(Body::Command(Command::Freeze { reason: freeze.reason }))
    })
    .await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Retirement {
    /// Its name again: this cannot be undone.
    confirm: String,
    #[serde(default)]
    reason: String,
}

/// End it: death by its owner.
#[utoipa::path(post, path = "/v1/golems/{name}/retire", params(("name" = String, Path)), request_body = Retirement,
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn retire(State(reach): State<Reach>, Path(name): Path<String>, Given(end): Given<Retirement>) -> Told {
    if end.confirm != name {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "to end it, say its name again in `confirm`"));
    }
    tell(reach, name, move |_| Ok(Body::Command(Command::Retire { reason: end.reason }))).await
}

/// Send it to sleep.
#[utoipa::path(post, path = "/v1/golems/{name}/dream", params(("name" = String, Path)),
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn dream(State(reach): State<Reach>, Path(name): Path<String>) -> Told {
    tell(reach, name, |_| Ok(Body::Command(Command::Dream))).await
}

/// Wake it.
#[utoipa::path(post, path = "/v1/golems/{name}/wake", params(("name" = String, Path)),
    responses((status = 200, body = Came), (status = 202, body = Came), (status = 404, body = Problem), (status = 409, body = Problem)))]
async fn wake(State(reach): State<Reach>, Path(name): Path<String>) -> Told {
    tell(reach, name, |_| Ok(Body::Command(Command::Wake))).await
}

/// The process answers.
#[utoipa::path(get, path = "/health", responses((status = 200, body = Value)), security(()))]
async fn health() -> Json<Value> {
    Json(json!({ "healthy": true }))
}

/// What happens is being written down.
#[utoipa::path(get, path = "/ready", responses((status = 200, body = Value), (status = 503, body = Problem)), security(()))]
async fn ready(State(reach): State<Reach>) -> Result<Json<Value>, Problem> {
    if let Some(why) = reach.desk.board.trouble() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why));
    }
    // Anyone may ask this, so it tells how many and not who.
    let all = reach.desk.board.all();
    let unlived = all.iter().filter(|status| status.state == Standing::Unlived).count();
    if unlived > 0 && !all.iter().any(|status| status.state.is_here()) {
        let why = format!("none of {unlived} golems can be lived; `bardo golem list` says why");
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why));
    }
    Ok(Json(json!({ "ready": true, "unlived": unlived })))
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "text/plain", body = String)))]
async fn metrics(State(reach): State<Reach>) -> Response {
    let board = &reach.desk.board;
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for status in board.all() {
        *states.entry(status.state.name()).or_default() += 1;
    }
    let mut text = String::from("# TYPE bardo_golems gauge\n");
    for (state, count) in states {
        let _ = writeln!(text, "bardo_golems{{state=\"{state}\"}} {count}");
    }
    for (name, kind, value) in [
        ("bardo_ticks_total", "counter", board.ticks.load(Ordering::Relaxed)),
        ("bardo_syncs_total", "counter", board.syncs.load(Ordering::Relaxed)),
        ("bardo_falls_total", "counter", board.falls.load(Ordering::Relaxed)),
        ("bardo_notes_sent_total", "counter", board.notes_sent.load(Ordering::Relaxed)),
        ("bardo_listeners", "gauge", board.listeners.load(Ordering::Relaxed)),
        ("bardo_writing", "gauge", u64::from(board.trouble().is_none())),
    ] {
        let _ = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
    }
    histogram(&mut text, "bardo_tick_lateness_seconds", &board.late);
    histogram(&mut text, "bardo_acknowledgement_seconds", &board.acknowledged);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

fn histogram(text: &mut String, name: &str, spread: &Spread) {
    let _ = writeln!(text, "# TYPE {name} histogram");
    for millis in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000_u64] {
        let within = spread.within(Duration::from_millis(millis));
        let _ = writeln!(text, "{name}_bucket{{le=\"{}\"}} {within}", millis as f64 / 1_000.0);
    }
    let count = spread.count();
    let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}");
    let _ = writeln!(text, "{name}_sum {}\n{name}_count {count}", spread.total().as_secs_f64());
}
