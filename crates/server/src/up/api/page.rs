//! The page: a few files inside the program, which load nothing from anywhere else.

use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

/// The page's security policy: only these files run, they talk to this host alone, and no other page may frame them.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Files of the page: name, kind and content of each.
pub(crate) const FILES: [(&str, &str, &str); 24] = [
    ("index.html", "text/html; charset=utf-8", include_str!("../../../page/index.html")),
    ("style.css", "text/css; charset=utf-8", include_str!("../../../page/style.css")),
    ("main.js", JS, include_str!("../../../page/main.js")),
    ("host.js", JS, include_str!("../../../page/host.js")),
    ("known.js", JS, include_str!("../../../page/known.js")),
    ("dom.js", JS, include_str!("../../../page/dom.js")),
    ("creature.js", JS, include_str!("../../../page/creature.js")),
    ("fleet.js", JS, include_str!("../../../page/fleet.js")),
    ("row.js", JS, include_str!("../../../page/row.js")),
    ("top.js", JS, include_str!("../../../page/top.js")),
    ("feed.js", JS, include_str!("../../../page/feed.js")),
    ("death.js", JS, include_str!("../../../page/death.js")),
    ("keys.js", JS, include_str!("../../../page/keys.js")),
    ("life.js", JS, include_str!("../../../page/life.js")),
    ("agent.js", JS, include_str!("../../../page/agent.js")),
    ("charts.js", JS, include_str!("../../../page/charts.js")),
    ("family.js", JS, include_str!("../../../page/family.js")),
    ("told.js", JS, include_str!("../../../page/told.js")),
    ("birth.js", JS, include_str!("../../../page/birth.js")),
    ("heir.js", JS, include_str!("../../../page/heir.js")),
    ("house.js", JS, include_str!("../../../page/house.js")),
    ("plot.js", JS, include_str!("../../../page/plot.js")),
    ("uPlot.js", JS, include_str!("../../../page/uPlot.iife.min.js")),
    ("uPlot.css", "text/css; charset=utf-8", include_str!("../../../page/uPlot.min.css")),
];
const JS: &str = "text/javascript; charset=utf-8";

/// Whether this is a file of the page, which needs no token: there is nothing secret in it.
pub(super) fn is_of_it(path: &str) -> bool {
    path == "/" || path.starts_with("/page/")
}

pub(super) async fn index() -> Response {
    file(Path("index.html".to_owned())).await
}

pub(super) async fn file(Path(name): Path<String>) -> Response {
    let Some((_, kind, text)) = FILES.iter().find(|(file, _, _)| *file == name) else {
        return Problem::new(StatusCode::NOT_FOUND, "there is nothing here").into_response();
    };
    let headers = [
        (CONTENT_TYPE, *kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // Another version of the program has another page.
        (CACHE_CONTROL, "no-cache"),
    ];
    (headers, *text).into_response()
}
