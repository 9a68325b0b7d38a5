//! Counting without asking: agents have their calls counted by the provider before they make them, which nobody is paid for.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use mind::Upstream;

use super::login::Login;
use super::refusal::Refusal;
use super::shape::Asked;

/// Where that is asked.
pub(super) const PATH: &str = "messages/count_tokens";
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest answer: a number.
const LONGEST: usize = 64 << 10;

/// What a provider counts, as it says it.
pub(super) async fn count(
    client: &reqwest::Client,
    upstream: &Upstream,
    asked: &Asked,
    headers: HeaderMap,
    login: Option<&Login>,
) -> Result<Response<Body>, Refusal> {
    let wrong = |why: String| Refusal::new(StatusCode::BAD_GATEWAY, "upstream", why);
    let path = format!("/{PATH}");
    let own = login.map(|login| login.url(&path));
    let url = own.map_or_else(|| upstream.url(&path).map_err(|why| wrong(why.to_string())), Ok)?;
    let body = asked.counting(upstream.model());
    let mut request = client.post(url).headers(headers).header(CONTENT_TYPE, "application/json").body(body);
    if let Some(login) = login {
        request = request.headers(login.headers());
    } else if let Some((name, value)) = upstream.shows() {
        request = request.header(name, value);
    }
    let away = |_| wrong("no answer from the model's server".to_owned());
    let answer = request.timeout(PATIENCE).send().await.map_err(away)?;
    let status = answer.status();
    let body = answer.bytes().await.map_err(away)?;
    if body.len() > LONGEST || upstream.betrays(&body) {
        return Err(wrong("the model's server said what is not to be passed on".to_owned()));
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
