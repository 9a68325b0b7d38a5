//! What can be read: the board, and the files. Nothing here touches a golem.

use axum::Json;
use axum::extract::{Path, Query, State};
use golem::Time;
use golem::thanatopsis::Testament;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use vault::Reader;
use vault::grimoire::Query as Recall;

use super::problem::Problem;
use super::state::AppState;
use crate::Error;
use crate::legacy::testament;
use crate::life::heirs::{self, Offer, Relative};
use crate::river::{self, Report};
use crate::view::costs::Costs;
use crate::view::nights::{self, Night};
use crate::view::shapes;
use crate::view::status::Status;
use crate::view::words::Words;

/// All golems at a glance.
#[utoipa::path(get, path = "/v1/golems", responses((status = 200, body = Vec<Status>)))]
pub(super) async fn golems(State(app): State<AppState>) -> Json<Vec<Status>> {
    Json(app.desk.board.all())
}

/// One golem.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Seen {
    name: String,
    id: String,
    generation: u32,
    /// World time of its birth, in milliseconds.
    born: u64,
    records: u64,
    /// Somebody is living it now.
    running: bool,
    status: Status,
    told: Words,
    /// Everything it is, as its journal has it; with `inner` alone, and for whoever knows the core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    life: Option<Value>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Depth {
    /// Also everything it is inside, under `life`.
    #[serde(default)]
    inner: bool,
}

/// One golem at this moment, and under `told` in words.
#[utoipa::path(get, path = "/v1/golems/{name}", params(("name" = String, Path), Depth),
    responses((status = 200, body = Seen), (status = 404, body = Problem)))]
pub(super) async fn one(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Query(depth): Query<Depth>,
) -> Result<Json<Seen>, Problem> {
    let status = app.desk.board.one(&name);
    app.clone()
        .pools
        .read(move || {
            let place = app.home.golem(&name)?;
            let (golem, _) = place.wake()?;
            let life = golem.life();
            Ok(Json(Seen {
                name: life.birth.name.to_string(),
                id: life.id().to_string(),
                generation: life.birth.generation,
                born: life.born.as_millis(),
                records: golem.seq(),
                running: place.is_lived(life.id()),
                status: status.unwrap_or_else(|| Status::of(life)),
                told: Words::of(life, &place),
                life: depth.inner.then(|| serde_json::to_value(life).expect("plain data")),
            }))
        })
        .await
}

/// Something it knows.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Hit {
    /// How well it fits what was asked.
    score: f64,
    confidence: f64,
    #[schema(value_type = shapes::Entry)]
    entry: golem::grimoire::Entry,
}

/// How far back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Back {
    /// Milliseconds since 1970; everything if not said.
    #[serde(default)]
    since: u64,
}

/// What its agent's calls have cost, by day and model, and what was refused.
#[utoipa::path(get, path = "/v1/golems/{name}/costs", params(("name" = String, Path), Back),
    responses((status = 200, body = Costs), (status = 404, body = Problem)))]
pub(super) async fn costs(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Query(back): Query<Back>,
) -> Result<Json<Costs>, Problem> {
    app.clone().pools.read(move || Ok(Json(Costs::of(&app.home.golem(&name)?, Time::millis(back.since))?))).await
}

/// Its nights.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Nights {
    /// How many there were.
    nights: usize,
    /// The newest hundred.
    newest: Vec<Night>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Search {
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
    responses((status = 200, body = Vec<Hit>), (status = 404, body = Problem)))]
pub(super) async fn memory(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Query(search): Query<Search>,
) -> Result<Json<Vec<Hit>>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let place = app.home.read_golem(&name)?;
            let reader = Reader::open(&place.database())?;
            let (golem, _) = reader.wake()?;
            let life = golem.life();
            let mut query = Recall::about(search.q, life.now, life.regimes.now);
            query.limit = search.limit.clamp(1, 100);
            if search.all {
                query.statuses = Vec::new();
            }
            let hits = reader.search(None, &query)?;
            let told = |hit: vault::grimoire::Hit| {
                let confidence = hit.entry.confidence(life.now);
                Hit { score: hit.score, confidence, entry: hit.entry }
            };
            Ok(Json(hits.into_iter().map(told).collect()))
        })
        .await
}

/// Its nights, the newest last.
#[utoipa::path(get, path = "/v1/golems/{name}/dreams", params(("name" = String, Path)),
    responses((status = 200, body = Nights), (status = 404, body = Problem)))]
pub(super) async fn dreams(State(app): State<AppState>, Path(name): Path<String>) -> Result<Json<Nights>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let mut all = nights::nights(&app.home.read_golem(&name)?)?;
            let nights = all.len();
            let newest = all.split_off(nights.saturating_sub(100));
            Ok(Json(Nights { nights, newest }))
        })
        .await
}

/// What a dead golem has left in words.
#[utoipa::path(get, path = "/v1/golems/{name}/testament", params(("name" = String, Path)),
    responses((status = 200, body = shapes::Testament), (status = 404, body = Problem), (status = 409, description = "it is alive", body = Problem)))]
pub(super) async fn testament(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<Testament>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let place = app.home.read_golem(&name)?;
            let (golem, _) = place.wake()?;
            match testament::read(&place, golem.life())? {
                Some(testament) => Ok(Json(testament)),
                None => Err(Error::Refused(format!("{name} has left no testament"))),
            }
        })
        .await
}

/// Your golems elsewhere: who is there, what was sent, held and refused, and who knows of a death.
#[utoipa::path(get, path = "/v1/clade",
    responses((status = 200, body = Report), (status = 409, description = "this home is of no clade", body = Problem)))]
pub(super) async fn clade(State(app): State<AppState>) -> Result<Json<Report>, Problem> {
    let none = || Error::Refused("this home is of no clade; `bardo styx init` begins one".into());
    app.clone().pools.read(move || river::report(&app.home)?.map(Json).ok_or_else(none)).await
}

/// Its family, the oldest generation first.
#[utoipa::path(get, path = "/v1/golems/{name}/lineage", params(("name" = String, Path)),
    responses((status = 200, body = Vec<Relative>), (status = 404, body = Problem)))]
pub(super) async fn lineage(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<Vec<Relative>>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let family = heirs::family(&app.home, &app.home.golem(&name)?)?;
            Ok(Json(family.iter().map(Relative::of).collect()))
        })
        .await
}

/// What an heir of a dead golem would be left.
#[utoipa::path(get, path = "/v1/golems/{name}/estate", params(("name" = String, Path)),
    responses((status = 200, body = Offer), (status = 404, body = Problem), (status = 409, description = "it is alive, or not yet done with dying", body = Problem)))]
pub(super) async fn estate(State(app): State<AppState>, Path(name): Path<String>) -> Result<Json<Offer>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let dead = app.home.read_golem(&name)?;
            Ok(Json(Offer::of(&app.home, &dead)?))
        })
        .await
}
