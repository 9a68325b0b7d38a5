//! Requests about the home as a whole: its treasury, the kill switch, a round of copies, and the dead that are put away.

use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use golem::Usdc;
use serde::{Deserialize, Serialize};
use shell::Error;
use shell::orders::fleet;
use shell::orders::order::PATIENCE;
use utoipa::ToSchema;

use super::body::JsonBody;
use super::fleet::Braked;
use super::problem::Problem;
use super::state::AppState;

/// Lines of the treasury's book that are shown.
const LINES: usize = 100;

/// The treasury: its balance, and what became of its money.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Treasury {
    /// In micro-USDC.
    #[schema(value_type = i64)]
    balance: Usdc,
    /// The newest hundred lines, the newest first.
    lines: Vec<Line>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Line {
    kind: String,
    /// The golem it concerns, by id.
    golem: Option<String>,
    /// In micro-USDC, like the balance after it.
    #[schema(value_type = i64)]
    amount: Usdc,
    #[schema(value_type = i64)]
    balance: Usdc,
}

/// Show the balance of the treasury and the newest lines of its book.
#[utoipa::path(get, path = "/v1/treasury", responses((status = 200, body = Treasury)))]
pub(super) async fn treasury(State(app): State<AppState>) -> Result<Json<Treasury>, Problem> {
    let read = move || {
        let treasury = app.home.treasury_to_read()?;
        let lines = treasury.entries(LINES)?.into_iter().map(|entry| Line {
            kind: entry.kind,
            golem: entry.golem,
            amount: entry.amount,
            balance: entry.balance,
        });
        Ok(Json(Treasury { balance: treasury.balance()?, lines: lines.collect() }))
    };
    app.pools.clone().read(read).await
}

/// The confirmation that ends the whole home.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Halting {
    /// The word `halt`, so that it is not sent by accident.
    confirm: String,
}

/// End every golem here for good. No heir follows automatically.
#[utoipa::path(post, path = "/v1/halt", request_body = Halting,
    responses((status = 200, description = "what came of it, golem by golem", body = Vec<Braked>)))]
pub(super) async fn halt(
    State(app): State<AppState>,
    JsonBody(said): JsonBody<Halting>,
) -> Result<Json<Vec<Braked>>, Problem> {
    if said.confirm != "halt" {
        let why = "this ends every golem here for good; to confirm, send {\"confirm\": \"halt\"}";
        return Err(Problem::new(StatusCode::CONFLICT, why));
    }
    let order = move || {
        let halted = fleet::halt_all(&app.desk.runtime, "halt over the API", 1, PATIENCE)?;
        let braked: Vec<Braked> = halted.answers.into_iter().map(Braked::of).collect();
        Ok((braked, halted.ended))
    };
    let (braked, ended) = app.pools.clone().order(order).await?;
    // An ended golem stays ended, even if the treasury cannot write it down.
    ended.map(|_| Json(braked)).map_err(|why| {
        let why = format!("every golem was told to end, but the treasury could not write it down: {why}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    })
}

/// A round of copies that has been asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Begun {
    begun: bool,
}

/// Copy the whole home into the backup folder now, instead of when that is next due. `bardo_backup_age_seconds` says when
/// it is done; whatever cannot be copied is told as a note.
#[utoipa::path(post, path = "/v1/backup",
    responses((status = 202, body = Begun), (status = 409, description = "no backup folder is named", body = Problem)))]
pub(super) async fn backup(State(app): State<AppState>) -> Result<(StatusCode, Json<Begun>), Problem> {
    if !app.desk.board.copies.load(Ordering::Relaxed) {
        let why = "there is no backup folder: name one as backup.folder in bardo.toml and have the host read it again (`systemctl reload bardo`, or a hang-up)";
        return Err(Error::Refused(why.into()).into());
    }
    app.desk.board.copy_now.store(true, Ordering::Relaxed);
    Ok((StatusCode::ACCEPTED, Json(Begun { begun: true })))
}

/// A dead golem that was put away.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Laid {
    buried: bool,
}

/// Put a dead golem away: out of the lists, with everything it left. `bardo golem unbury` brings it back.
#[utoipa::path(post, path = "/v1/golems/{name}/bury", params(("name" = String, Path)),
    responses((status = 200, body = Laid), (status = 404, body = Problem), (status = 409, description = "it is alive, or something of it is not home yet", body = Problem)))]
pub(super) async fn bury(State(app): State<AppState>, Path(name): Path<String>) -> Result<Json<Laid>, Problem> {
    let pools = app.pools.clone();
    let order = move || {
        let place = app.home.golem(&name)?;
        place.bury(false)?;
        app.desk.board.forget(place.name.as_str());
        Ok(Json(Laid { buried: true }))
    };
    pools.order(order).await
}
