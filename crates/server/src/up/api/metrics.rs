//! For machines that watch: whether the process answers, whether golems can be written, and figures for Prometheus, of
//! the host and of each golem.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use shell::locks::lock;
use shell::view::board::Board;
use shell::view::histogram::Histogram;
use shell::view::status::{State as Standing, Status};
use shell::{Error, wall};
use utoipa::ToSchema;

use super::problem::Problem;
use super::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    healthy: bool,
}

/// The process answers.
#[utoipa::path(get, path = "/health", responses((status = 200, body = Health)), security(()))]
pub(super) async fn health() -> Json<Health> {
    Json(Health { healthy: true })
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Ready {
    ready: bool,
    /// Whether the host uses the settings that are in bardo.toml now.
    settings: bool,
    /// How many golems cannot run.
    unlived: usize,
}

/// Whether golems can be written: what happens is being written down.
#[utoipa::path(get, path = "/ready", responses((status = 200, body = Ready),
    (status = 503, description = "no golem can be written", body = Problem)), security(()))]
pub(super) async fn ready(State(app): State<AppState>) -> Result<Json<Ready>, Problem> {
    if let Some(why) = app.desk.board.trouble() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why));
    }
    // No token is needed for this, so it tells how many golems and not which.
    let all = app.desk.board.all();
    let unlived = all.iter().filter(|status| status.state == Standing::Unlived).count();
    if unlived > 0 && !all.iter().any(|status| status.state.is_here()) {
        let why = format!("none of {unlived} golems can run; `bardo golem list` says why");
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, why));
    }
    Ok(Json(Ready { ready: true, settings: app.desk.board.why_old_settings().is_none(), unlived }))
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, content_type = "text/plain", body = String)))]
pub(super) async fn metrics(State(app): State<AppState>) -> Result<Response, Problem> {
    let pools = app.pools.clone();
    let text = pools.read(move || {
        let treasury = lock(&app.desk.treasury).balance()?;
        let mut page = MetricsPage::default();
        of_host(&mut page, &app.desk.board);
        page.family("bardo_treasury_usdc", "gauge", "what the owner's treasury holds");
        page.line("bardo_treasury_usdc", &[], treasury.as_f64() / 1e6);
        of_golems(&mut page, &app.desk.board.all(), app.listen.golems_shown);
        Ok::<_, Error>(page.0)
    });
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4")], text.await?).into_response())
}

/// A page of figures in the text format.
#[derive(Default)]
struct MetricsPage(String);

impl MetricsPage {
    fn family(&mut self, name: &str, kind: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, about: &str, value: impl Display) {
        self.family(name, kind, about);
        self.line(name, &[], value);
    }

    fn histogram(&mut self, name: &str, about: &str, histogram: &Histogram) {
        self.family(name, "histogram", about);
        for millis in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000_u64] {
            let within = histogram.within(Duration::from_millis(millis));
            self.line(&format!("{name}_bucket"), &[("le", &(millis as f64 / 1_000.0).to_string())], within);
        }
        let count = histogram.count();
        self.line(&format!("{name}_bucket"), &[("le", "+Inf")], count);
        self.line(&format!("{name}_sum"), &[], histogram.total().as_secs_f64());
        self.line(&format!("{name}_count"), &[], count);
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn of_host(page: &mut MetricsPage, board: &Board) {
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    page.family("bardo_build_info", "gauge", "which program this is");
    page.line("bardo_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    page.one("bardo_ticks_total", "counter", "ticks lived since the host came up", count(&board.ticks));
    page.one("bardo_syncs_total", "counter", "writes of the host log that were synced", count(&board.syncs));
    page.one("bardo_falls_total", "counter", "times a golem fell over and was woken again", count(&board.falls));
    page.one("bardo_notes_sent_total", "counter", "notes that a target has accepted", count(&board.notes_sent));
    page.one(
        "bardo_notes_failed_total",
        "counter",
        "failed attempts to send notes to a target",
        count(&board.notes_failed),
    );
    page.one("bardo_listeners", "gauge", "streams of events that are open", count(&board.listeners));
    page.one("bardo_writing", "gauge", "1 while golems can be written", u8::from(board.trouble().is_none()));
    let by_the_file = u8::from(board.why_old_settings().is_none());
    page.one(
        "bardo_settings",
        "gauge",
        "0 while bardo.toml is wrong and the host keeps the settings it read before",
        by_the_file,
    );
    page.family("bardo_deaths_total", "counter", "deaths since the host came up, by cause");
    for (cause, deaths) in board.deaths() {
        page.line("bardo_deaths_total", &[("cause", &cause)], deaths);
    }
    if let Some(made) = board.newest_backup() {
        let age = (wall::now_ms() / 1_000 - made).max(0);
        page.one("bardo_backup_age_seconds", "gauge", "age of the newest copy in the backup folder", age);
    }
    page.histogram("bardo_tick_lateness_seconds", "how late ticks begin", &board.late);
    page.histogram("bardo_acknowledgement_seconds", "how long a record takes to be durable", &board.acknowledged);
}

/// Writes the figures of golems: the first so many by name, so that a page stays a page, and how many are left out.
fn of_golems(page: &mut MetricsPage, all: &[Status], most: usize) {
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for status in all {
        *states.entry(status.state.name()).or_default() += 1;
    }
    page.family("bardo_golems", "gauge", "golems by state");
    for (state, count) in states {
        page.line("bardo_golems", &[("state", state)], count);
    }
    let asking = all.iter().filter(|status| status.waits().is_some()).count();
    page.one("bardo_asks_waiting", "gauge", "requests that wait for the owner's yes or no", asking);
    let refusals = all.iter().map(|status| status.refusals).sum::<u64>();
    page.one("bardo_refusals", "gauge", "actions that policies have refused since the host came up", refusals);
    let (dead, living): (Vec<&Status>, Vec<&Status>) = all.iter().partition(|status| status.state == Standing::Dead);
    let shown = &living[..living.len().min(most)];
    let left_out = living.len() - shown.len();
    page.one("bardo_golems_left_out", "gauge", "living golems beyond api.metrics_golems, without series", left_out);
    page.one("bardo_golems_dead", "gauge", "dead golems, which have no series", dead.len());
    type Figure = fn(&Status) -> Option<f64>;
    let figures: [(&str, &str, Figure); 9] = [
        ("bardo_golem_vitality", "vitality, from 1 to 0", |status| Some(status.vitality)),
        ("bardo_golem_skill", "how well it understands its world", |status| Some(status.skill)),
        ("bardo_golem_load", "load, how much its stressors press", |status| Some(status.load)),
        ("bardo_golem_credit_usdc", "money to live on", |status| Some(status.credit.as_f64() / 1e6)),
        ("bardo_golem_worth_usdc", "cash and holdings", |status| Some(status.worth.as_f64() / 1e6)),
        ("bardo_golem_runway_seconds", "world time its money lasts; none while nothing is spent", |status| {
            status.runway.map(|seconds| seconds as f64)
        }),
        ("bardo_golem_tick", "its newest tick", |status| Some(status.tick as f64)),
        ("bardo_golem_last_tick_timestamp_seconds", "when its newest record was acknowledged", |status| {
            Some(status.written as f64 / 1_000.0)
        }),
        ("bardo_golem_refusals", "actions refused since the host came up", |status| Some(status.refusals as f64)),
    ];
    for (name, about, figure) in figures {
        page.family(name, "gauge", about);
        for status in shown {
            if let Some(value) = figure(status) {
                page.line(name, &[("golem", &status.name)], value);
            }
        }
    }
    page.family("bardo_golem_calls_total", "counter", "calls of its agent, by model");
    for (status, by) in shown.iter().flat_map(|status| status.called.iter().map(move |by| (status, by))) {
        page.line("bardo_golem_calls_total", &[("golem", &status.name), ("model", &by.model)], by.calls);
    }
    page.family("bardo_golem_calls_usdc_total", "counter", "cost of its agent's calls, by model");
    for (status, by) in shown.iter().flat_map(|status| status.called.iter().map(move |by| (status, by))) {
        let cost = by.cost.as_f64() / 1e6;
        page.line("bardo_golem_calls_usdc_total", &[("golem", &status.name), ("model", &by.model)], cost);
    }
    page.family("bardo_golem_calls_tokens_total", "counter", "tokens of its agent's calls, in and out");
    for (status, by) in shown.iter().flat_map(|status| status.called.iter().map(move |by| (status, by))) {
        for (way, tokens) in [("in", by.input), ("out", by.output)] {
            let labels = [("golem", status.name.as_str()), ("model", &by.model), ("way", way)];
            page.line("bardo_golem_calls_tokens_total", &labels, tokens);
        }
    }
    page.family("bardo_golem_calls_refused_total", "counter", "calls refused, as far as that is on record");
    for status in shown.iter().filter(|status| !status.called.is_empty() || status.denied > 0) {
        page.line("bardo_golem_calls_refused_total", &[("golem", &status.name)], status.denied);
    }
    page.family("bardo_golem_phase", "gauge", "1 for the phase it is in");
    for status in shown {
        page.line("bardo_golem_phase", &[("golem", &status.name), ("phase", &status.phase)], 1);
    }
}
