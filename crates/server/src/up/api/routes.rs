//! The routes of the API, and the layers that all requests pass.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::Problem;
use super::state::AppState;
use super::{births, describe, fleet, guard, host, house, metrics, orders, page, reading, session, stream, witness};
use gateway::old_names::Led;

/// The largest body of a request.
const BODY: usize = 64 << 10;

/// The routes and their description.
fn described() -> (Router<AppState>, OpenApi) {
    let (router, mut api) = OpenApiRouter::new()
        .routes(routes!(reading::golems))
        .routes(routes!(session::sign_in))
        .routes(routes!(session::sign_out))
        .routes(routes!(reading::fleet))
        .routes(routes!(reading::one))
        .routes(routes!(reading::memory))
        .routes(routes!(reading::pictures))
        .routes(routes!(reading::costs))
        .routes(routes!(reading::dreams))
        .routes(routes!(reading::testament))
        .routes(routes!(reading::lineage))
        .routes(routes!(reading::estate))
        .routes(routes!(reading::clade))
        .routes(routes!(births::form))
        .routes(routes!(births::quote))
        .routes(routes!(births::bear))
        .routes(routes!(orders::successor))
        .routes(routes!(orders::fund))
        .routes(routes!(orders::withdraw))
        .routes(routes!(orders::steer))
        .routes(routes!(orders::ask))
        .routes(routes!(orders::strategy))
        .routes(routes!(orders::claim))
        .routes(routes!(orders::approve))
        .routes(routes!(orders::pause))
        .routes(routes!(orders::resume))
        .routes(routes!(orders::freeze))
        .routes(routes!(orders::retire))
        .routes(routes!(orders::dream))
        .routes(routes!(orders::wake))
        .routes(routes!(orders::order))
        .routes(routes!(house::bury))
        .routes(routes!(host::host))
        .routes(routes!(house::treasury))
        .routes(routes!(house::halt))
        .routes(routes!(house::backup))
        .routes(routes!(fleet::freeze_all))
        .routes(routes!(fleet::pause_all))
        .routes(routes!(fleet::resume_all))
        .routes(routes!(stream::events))
        .routes(routes!(stream::golem_events))
        .routes(routes!(metrics::health))
        .routes(routes!(metrics::ready))
        .routes(routes!(metrics::metrics))
        .split_for_parts();
    describe::complete(&mut api);
    (router, api)
}

pub(super) fn router(app: AppState) -> Router {
    let led = Led::below(&app.home, "/v1/golems/", "bardo-renamed");
    let (router, api) = described();
    // Shared by all clients: a thousand that never read it cost nothing.
    let written = Bytes::from(api.to_json().expect("a description is plain data"));
    let described = move || async move { ([(CONTENT_TYPE, "application/json")], written) };
    let routes = router
        .route("/", axum::routing::get(page::index))
        .route("/page/{file}", axum::routing::get(page::file))
        .route("/openapi.json", axum::routing::get(described))
        .route("/mcp", axum::routing::any(spoken))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here; see /openapi.json") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; see /openapi.json")
        })
        .layer(DefaultBodyLimit::max(BODY))
        .layer(axum::middleware::from_fn_with_state(app.clone(), guard::check))
        .layer(axum::middleware::from_fn(witness::watch))
        .with_state(app);
    led.over(routes)
}

/// The owner's assistant, over the Model Context Protocol.
async fn spoken(State(app): State<AppState>, request: Request) -> Response {
    app.mcp.handle(request).await.map(Body::new)
}

/// The description of the API, as it is kept in docs/openapi.json.
pub fn document() -> String {
    let (_, api) = described();
    api.to_pretty_json().expect("a description is plain data") + "\n"
}
