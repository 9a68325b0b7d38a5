//! The host itself: since when it is up, how fast it runs its golems, what room it has, and what keeps it from its work.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use shell::wall;
use utoipa::ToSchema;

use super::problem::Problem;
use super::state::AppState;

/// The host that answers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HostView {
    version: &'static str,
    /// When the host came up, in milliseconds since 1970 by its clock.
    since: u64,
    /// The time by its clock.
    now: u64,
    /// World seconds per second that were asked for.
    speed: f64,
    /// The share of that speed that was kept when it was last measured; none in the first half minute.
    kept: Option<f64>,
    /// Free bytes of the disk that the home is on.
    free: Option<u64>,
    /// All bytes of that disk.
    disk: Option<u64>,
    /// Why no golem can be written, if none can.
    trouble: Option<String>,
    /// Why the settings in use are not the ones in bardo.toml.
    settings: Option<String>,
    /// Age in seconds of the newest copy in the backup folder; none before the first.
    backup: Option<i64>,
    /// Deaths since the host came up, by the name of their cause.
    deaths: BTreeMap<String, u64>,
}

impl HostView {
    fn of(app: &AppState) -> HostView {
        let board = &app.desk.board;
        let (speed, kept) = board.speed();
        let (free, disk) = app.home.disk().unzip();
        HostView {
            version: env!("CARGO_PKG_VERSION"),
            since: board.run(),
            now: app.desk.now_ms(),
            speed,
            kept,
            free,
            disk,
            trouble: board.trouble(),
            settings: board.why_old_settings(),
            backup: board.newest_backup().map(|made| (wall::now_ms() / 1_000 - made).max(0)),
            deaths: board.deaths(),
        }
    }
}

/// Show the host: since when it is up, the speed asked and kept, the room on its disk, and what keeps it from its work.
#[utoipa::path(get, path = "/v1/host", responses((status = 200, body = HostView)))]
pub(super) async fn host(State(app): State<AppState>) -> Result<Json<HostView>, Problem> {
    let pools = app.pools.clone();
    pools.read(move || Ok(Json(HostView::of(&app)))).await
}
