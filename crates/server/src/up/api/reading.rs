//! Reading over the API, from the board and from files. Nothing here touches a golem.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{AppendHeaders, IntoResponse, Response};
use golem::Time;
use golem::thanatopsis::Testament;
use serde::Deserialize;
use shell::Error;
use shell::legacy::testament;
use shell::life::heirs::{self, Offer, Relative};
use shell::river::{self, Report};
use shell::view::costs::Costs;
use shell::view::fleet::Fleet;
use shell::view::known::Hit;
use shell::view::nights::Nights;
use shell::view::pictures::Pictures;
use shell::view::seen::Seen;
use shell::view::status::Status;
use shell::view::{remembered, shapes};
use utoipa::IntoParams;
use vault::Reader;
use vault::grimoire::Query as Recall;

use super::problem::Problem;
use super::state::AppState;

/// All golems at a glance, by name, at most 500 at a time; with `run` and `after` only those that have changed since. The answer's
/// headers `bardo-run`, `bardo-change` and `bardo-golems` say what to ask for next time, and how many there are. If there is a header
/// `bardo-next`, there are more: ask for those with it as `from`, and keep the `bardo-change` of the first answer.
#[utoipa::path(get, path = "/v1/golems", params(Listed), responses((status = 200, body = Vec<Status>)))]
pub(super) async fn golems(State(app): State<AppState>, Query(listed): Query<Listed>) -> Response {
    let Listed { run, after, from, limit } = listed;
    let page = app.desk.board.page_after(run, after, &from, limit.clamp(1, PAGE));
    let figures =
        [("bardo-run", app.desk.board.run()), ("bardo-change", page.change), ("bardo-golems", page.all as u64)];
    let figures = AppendHeaders(figures.map(|(name, figure)| (name, figure.to_string())));
    let next = page.golems.last().filter(|_| page.more).map(|last| [("bardo-next", last.name.clone())]);
    (figures, next.map(AppendHeaders), Json(page.golems)).into_response()
}

/// Golems in one answer.
const PAGE: usize = 500;

fn page() -> usize {
    PAGE
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Listed {
    /// The run of the host that `after` belongs to.
    #[serde(default)]
    run: u64,
    /// The newest change that is known.
    #[serde(default)]
    after: u64,
    /// Only golems after this name.
    #[serde(default)]
    from: String,
    /// How many at most.
    #[serde(default = "page")]
    #[param(minimum = 1, maximum = 500)]
    limit: usize,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Depth {
    /// Also the golem's whole inner state, under `life`.
    #[serde(default)]
    inner: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Since {
    /// The run of the host that `after` belongs to.
    #[serde(default)]
    run: u64,
    /// The newest change that is known.
    #[serde(default)]
    after: u64,
}

/// All golems in rows of a list: everything at first, and then only those that have changed.
#[utoipa::path(get, path = "/v1/fleet", params(Since), responses((status = 200, body = Fleet)))]
pub(super) async fn fleet(State(app): State<AppState>, Query(since): Query<Since>) -> Json<Fleet> {
    Json(Fleet::after(&app.desk.board, since.run, since.after))
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
            let status = status.unwrap_or_else(|| Status::of(place.name.as_str(), golem.life()));
            Ok(Json(Seen::of(&place, &golem, status, depth.inner)))
        })
        .await
}

/// The time span to look back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Back {
    /// Milliseconds since 1970; everything if not said.
    #[serde(default)]
    since: u64,
}

/// Show a golem's life in pictures: the series to draw, and how to read them.
#[utoipa::path(get, path = "/v1/golems/{name}/pictures", params(("name" = String, Path)),
    responses((status = 200, body = Pictures), (status = 404, body = Problem)))]
pub(super) async fn pictures(State(app): State<AppState>, Path(name): Path<String>) -> Result<Json<Pictures>, Problem> {
    app.clone().pools.read(move || Ok(Json(remembered::pictures(&app.desk.runtime.read_golem(&name)?)?))).await
}

/// Show a golem's spending: what its agent's calls have cost by model and day, what stopped them and what was refused.
#[utoipa::path(get, path = "/v1/golems/{name}/costs", params(("name" = String, Path), Back),
    responses((status = 200, body = Costs), (status = 404, body = Problem)))]
pub(super) async fn costs(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Query(back): Query<Back>,
) -> Result<Json<Costs>, Problem> {
    let pools = app.pools.clone();
    let read = move || {
        let runtime = &app.desk.runtime;
        Ok(Json(Costs::of(&runtime.read_golem(&name)?, Time::millis(back.since), runtime.counters())?))
    };
    pools.read(read).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Search {
    /// The text to search for.
    q: String,
    /// How many at most.
    #[serde(default = "ten")]
    #[param(minimum = 1, maximum = 100)]
    limit: usize,
    /// Also entries that are in quarantine or archived.
    #[serde(default)]
    all: bool,
}

fn ten() -> usize {
    10
}

/// Search what a golem knows, best matches first.
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
            let place = app.desk.runtime.read_golem(&name)?;
            let reader = Reader::open(&place.database())?;
            let (golem, _) = reader.wake()?;
            let life = golem.life();
            let mut query = Recall::about(search.q, life.now(), life.regimes().now);
            query.limit = search.limit.clamp(1, 100);
            if search.all {
                query.statuses = Vec::new();
            }
            let hits = reader.search(None, &query)?;
            Ok(Json(hits.into_iter().map(|hit| Hit::of(hit.score, hit.entry, life)).collect()))
        })
        .await
}

/// List a golem's nights, the newest last.
#[utoipa::path(get, path = "/v1/golems/{name}/dreams", params(("name" = String, Path)),
    responses((status = 200, body = Nights), (status = 404, body = Problem)))]
pub(super) async fn dreams(State(app): State<AppState>, Path(name): Path<String>) -> Result<Json<Nights>, Problem> {
    app.clone().pools.read(move || Ok(Json(Nights::of(&app.desk.runtime.read_golem(&name)?)?))).await
}

/// Show the testament of a dead golem.
#[utoipa::path(get, path = "/v1/golems/{name}/testament", params(("name" = String, Path)),
    responses((status = 200, body = shapes::Testament), (status = 404, body = Problem), (status = 409, description = "it is alive", body = Problem)))]
pub(super) async fn testament(
    State(app): State<AppState>,
    Path(name): Path<String>,
) -> Result<Json<Testament>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let place = app.desk.runtime.read_golem(&name)?;
            let (golem, _) = place.wake()?;
            match testament::read(&place, golem.life())? {
                Some(testament) => Ok(Json(testament)),
                None => Err(Error::Refused(format!("{name} has left no testament"))),
            }
        })
        .await
}

/// Show your golems in other homes: which are there, what was sent, held and refused, and which know of a death. `null`
/// if this home belongs to no clade.
#[utoipa::path(get, path = "/v1/clade", responses((status = 200, body = Option<Report>)))]
pub(super) async fn clade(State(app): State<AppState>) -> Result<Json<Option<Report>>, Problem> {
    app.clone().pools.read(move || river::report(&app.home).map(Json)).await
}

/// List a golem's family, the oldest generation first.
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
            Ok(Json(Relative::all(&family)))
        })
        .await
}

/// Show what an heir of a dead golem would inherit.
#[utoipa::path(get, path = "/v1/golems/{name}/estate", params(("name" = String, Path)),
    responses((status = 200, body = Offer), (status = 404, body = Problem), (status = 409, description = "it is alive, or not yet done with dying", body = Problem)))]
pub(super) async fn estate(State(app): State<AppState>, Path(name): Path<String>) -> Result<Json<Offer>, Problem> {
    app.clone()
        .pools
        .read(move || {
            let dead = app.desk.runtime.read_golem(&name)?;
            Ok(Json(Offer::of(&app.home, &dead)?))
        })
        .await
}
