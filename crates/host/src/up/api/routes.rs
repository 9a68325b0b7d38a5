//! The routes of the API, what holds for all requests, and how a refusal looks.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use golem::plain;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Reach, describe, fleet, guard, metrics, orders, reading, stream, witness};
use crate::Error;

/// The largest body anyone may send.
const BODY: usize = 64 << 10;
/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);
/// In how many seconds whoever came at a bad moment is to come again.
const AGAIN: u16 = 5;

/// Why something was not done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    #[serde(skip)]
    pub(super) status: StatusCode,
    /// In how many seconds it may be done, if it is worth asking again.
    #[serde(skip)]
    again: Option<u16>,
    pub(super) error: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Problem {
        Problem { status, again: None, error: plain::line(&error.into(), 2_000) }
    }

    /// Not now; nothing is wrong with what was asked.
    pub(super) fn busy(error: impl Into<String>) -> Problem {
        Problem { again: Some(AGAIN), ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let again = self.again;
        let mut response = (self.status, Json(self)).into_response();
        if let Some(seconds) = again {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = match &error {
            Error::NoGolem(_) => StatusCode::NOT_FOUND,
            Error::Config(_) | Error::Usage(_) => StatusCode::BAD_REQUEST,
            Error::Busy(_) | Error::Vault(vault::Error::Busy(_)) => return Problem::busy(error.to_string()),
            Error::Damaged(_) | Error::Secret(_) | Error::WrongSecret(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Error::Vault(vault::Error::Damaged { .. } | vault::Error::Stale { .. } | vault::Error::Forked(_)) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Error::KeyTaken(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Dead(..) | Error::Refused(_) | Error::NameTaken(_) => StatusCode::CONFLICT,
            Error::Copy { new, least } => {
                let why = format!(
                    "{new:.0} % of what it would try is new, less than the {least:.0} % of succession.min_divergence: it would be \
                     a copy; change its rules, or send \"inherit\": false, or \"force\": true if a copy is what you want"
                );
                return Problem::new(StatusCode::CONFLICT, why);
            }
            Error::Hosted(_)
            | Error::Vault(vault::Error::TreasuryShort { .. } | vault::Error::Locked(_) | vault::Error::Sealed(_)) => {
                StatusCode::CONFLICT
            }
            // The host, its disk or its models; whoever asked can do nothing about it.
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Problem::new(status, error.to_string())
    }
}

/// JSON, or the reason why it is none. Nothing at all is as good as an object with nothing in it.
pub(super) struct Given<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Given<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Given<T>, Problem> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
        let late =
            |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time; nothing was begun");
        let arrived = timeout(ARRIVAL, Bytes::from_request(request, state)).await.map_err(late)?;
        let body = arrived.map_err(|why| Problem::new(why.status(), why.body_text()))?;
        if !body.is_empty() && kind != "application/json" {
            let why = "say what you send: `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let read = Json::from_bytes(if body.is_empty() { b"{}" } else { &body });
        read.map(|Json(value)| Given(value)).map_err(|why| Problem::new(why.status(), why.body_text()))
    }
}

pub(super) fn router(reach: Reach) -> (Router, OpenApi) {
    let (router, mut api) = OpenApiRouter::new()
        .routes(routes!(reading::golems))
        .routes(routes!(reading::one))
        .routes(routes!(reading::memory))
        .routes(routes!(reading::dreams))
        .routes(routes!(reading::testament))
        .routes(routes!(reading::lineage))
        .routes(routes!(reading::estate))
        .routes(routes!(orders::successor))
        .routes(routes!(orders::fund))
        .routes(routes!(orders::withdraw))
        .routes(routes!(orders::steer))
        .routes(routes!(orders::approve))
        .routes(routes!(orders::pause))
        .routes(routes!(orders::resume))
        .routes(routes!(orders::freeze))
        .routes(routes!(orders::retire))
        .routes(routes!(orders::dream))
        .routes(routes!(orders::wake))
        .routes(routes!(orders::order))
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
    // Shared by whoever asks for it: a thousand who never read it cost nothing.
    let written = Bytes::from(api.to_json().expect("a description is plain data"));
    let described = move || async move { ([(CONTENT_TYPE, "application/json")], written) };
    let router = router
        .route("/openapi.json", axum::routing::get(described))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here; see /openapi.json") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; see /openapi.json")
        })
        .layer(DefaultBodyLimit::max(BODY))
        .layer(axum::middleware::from_fn_with_state(reach.clone(), guard::check))
        .layer(axum::middleware::from_fn(witness::watch))
        .with_state(reach);
    (router, api)
}

/// The description of the API, as it is kept in docs/openapi.json.
pub fn document(home: &crate::Home) -> Result<String, Error> {
    let folder = home.root();
    let listen = super::Listen {
        address: ([127, 0, 0, 1], 0).into(),
        tokens: std::sync::Arc::new(crate::tokens::Keyring::of(home)),
        origins: Vec::new(),
        golems_shown: 0,
    };
    let board = std::sync::Arc::default();
    let log = vault::Log::open(folder, &home.heads(), Vec::new())?;
    let (desk, scribe) = crate::up::desk::Desk::open(log, folder.to_owned(), &home.heads(), home.treasury()?, board)?;
    let (_, api) = router(Reach::new(home.clone(), desk, listen));
    scribe.close()?;
    Ok(api.to_pretty_json().expect("a description is plain data") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reaction_has_its_own_answer() {
        for (error, status, again) in [
            (Error::Usage("x".into()), 400, None),
            (Error::Busy("x".into()), 503, Some("5")),
            (vault::Error::Busy("x".into()).into(), 503, Some("5")),
            (Error::Host("x".into()), 503, None),
            (Error::Damaged("x".into()), 500, None),
            (vault::Error::unanchored("x").into(), 500, None),
        ] {
            let told = format!("{error:?}");
            let answer = Problem::from(error).into_response();
            let after = answer.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
            assert_eq!((answer.status().as_u16(), after.as_deref()), (status, again), "{told}");
        }
    }
}
