//! The body of a request as JSON, for whose arrival a limited time is allowed.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::problem::Problem;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// A body read as JSON, or refused with the reason. An empty body counts as an empty object.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<JsonBody<T>, Problem> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase();
        let late =
            |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time; nothing was begun");
        let arrived = timeout(ARRIVAL, Bytes::from_request(request, state)).await.map_err(late)?;
        let body = arrived.map_err(|why| Problem::new(why.status(), why.body_text()))?;
        if !body.is_empty() && kind != "application/json" {
            let why = "send the body with `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let read = Json::from_bytes(if body.is_empty() { b"{}" } else { &body });
        read.map(|Json(value)| JsonBody(value)).map_err(|why| Problem::new(why.status(), why.body_text()))
    }
}
