//! The brakes of all golems at once, as `bardo golem freeze --all` has them.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use shell::orders::fleet::{self, Brake};
use shell::orders::order::{Heard, PATIENCE};
use utoipa::ToSchema;

use super::problem::Problem;
use super::state::AppState;

/// A golem, and what came of the order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Braked {
    name: String,
    done: bool,
    /// Whether the golem has not answered yet; the order waits and will be obeyed. A freeze holds already.
    waiting: bool,
    /// Why the golem could not be told, if so.
    error: Option<String>,
}

impl Braked {
    pub(super) fn of((place, came): fleet::FleetResult) -> Braked {
        Braked {
            name: place.name.to_string(),
            done: matches!(came, Ok(Heard::Done)),
            waiting: matches!(came, Ok(Heard::Waiting)),
            error: came.err().map(|why| why.to_string()),
        }
    }
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reason {
    #[serde(default)]
    reason: String,
}

/// Forbid new exposure to every golem at once. The body may be left out.
#[utoipa::path(post, path = "/v1/freeze", request_body(content = Option<Reason>),
    responses((status = 200, description = "what came of it, golem by golem", body = Vec<Braked>),
        (status = 400, description = "the body is not what is expected", body = Problem)))]
pub(super) async fn freeze_all(State(app): State<AppState>, body: Bytes) -> Result<Json<Vec<Braked>>, Problem> {
    let given = if body.is_empty() { Ok(Reason::default()) } else { serde_json::from_slice::<Reason>(&body) };
    let Reason { reason } = given.map_err(|why| Problem::new(StatusCode::BAD_REQUEST, why.to_string()))?;
    brake(app, Brake::Freeze { reason }).await
}

/// Stop world time and clocks of every golem until resumed.
#[utoipa::path(post, path = "/v1/pause",
    responses((status = 200, description = "what came of it, golem by golem", body = Vec<Braked>)))]
pub(super) async fn pause_all(State(app): State<AppState>) -> Result<Json<Vec<Braked>>, Problem> {
    brake(app, Brake::Pause).await
}

/// Undo the pauses and freezes of all.
#[utoipa::path(post, path = "/v1/resume",
    responses((status = 200, description = "what came of it, golem by golem", body = Vec<Braked>)))]
pub(super) async fn resume_all(State(app): State<AppState>) -> Result<Json<Vec<Braked>>, Problem> {
    brake(app, Brake::Resume).await
}

async fn brake(app: AppState, brake: Brake) -> Result<Json<Vec<Braked>>, Problem> {
    let (pools, runtime) = (app.pools.clone(), Arc::clone(&app.desk.runtime));
    let told = pools
        .order(move || Ok(Json(fleet::tell_all(&runtime, &brake, 1, PATIENCE)?.into_iter().map(Braked::of).collect())));
    told.await
}
