//! How a browser signs in: with a link that is good once and for a short while, into a token in two halves. One is a cookie
//! that no script can read and no other site can send. But browsers send cookies to every port of a machine, and an agent may
//! listen on one; so the other half is kept by the page itself, which a page of another port cannot look into.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header::{COOKIE, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use serde::{Deserialize, Serialize};
use shell::home::links;
use shell::home::tokens::{self, Scope};
use utoipa::ToSchema;

use super::body::JsonBody;
use super::problem::Problem;
use super::state::AppState;

/// How long a browser stays signed in.
const STAY: Duration = Duration::from_secs(30 * 86_400);
/// Characters of the half in the cookie.
const HALF: usize = 32;
/// The header that the other half comes in.
const KEY: &str = "bardo-page";

/// The token that both halves make; empty if one is missing.
pub(super) fn token(headers: &HeaderMap, name: &str) -> String {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let cookie = pairs.find(|(found, _)| *found == name).map(|(_, value)| value);
    let key = headers.get(KEY).and_then(|value| value.to_str().ok());
    match (cookie, key) {
        (Some(cookie), Some(key)) if cookie.len() == HALF && key.len() == HALF => format!("{cookie}{key}"),
        _ => String::new(),
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Code {
    /// The code at the end of the link.
    code: String,
}

/// The page's half of its token; the other half is in the cookie.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SignedIn {
    /// The half to send as `Bardo-Page` with each request.
    key: String,
}

/// Sign in with the code of a link, which is then used up. The answer sets a cookie, which opens nothing without the key.
#[utoipa::path(post, path = "/v1/session", request_body = Code,
    responses((status = 200, body = SignedIn), (status = 401, description = "the link is used up or too old", body = Problem)))]
pub(super) async fn sign_in(
    State(app): State<AppState>,
    headers: HeaderMap,
    JsonBody(given): JsonBody<Code>,
) -> Result<Response, Problem> {
    let (pools, name) = (app.pools.clone(), app.listen.cookie.clone());
    let signed = pools.read(move || {
        let good = links::take(&app.home, &given.code);
        good.then(|| tokens::sign_in(&app.home, Scope::All, STAY)).transpose()
    });
    let Some(token) = signed.await? else {
        let why = "this link is used up or too old; `bardo page` makes another";
        return Err(Problem::new(StatusCode::UNAUTHORIZED, why));
    };
    let (cookie, key) = token.split_at(HALF);
    // Where the page came over TLS the cookie does not leave without it.
    let secure = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!("{name}={cookie}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", STAY.as_secs());
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Json(SignedIn { key: key.to_owned() })).into_response())
}

/// Sign out: the two halves open nothing any more, here or elsewhere.
#[utoipa::path(post, path = "/v1/session/end", responses((status = 204, description = "signed out")))]
pub(super) async fn sign_out(State(app): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let (pools, name) = (app.pools.clone(), app.listen.cookie.clone());
    let token = token(&headers, &name);
    if !token.is_empty() {
        pools.read(move || tokens::sign_out(&app.home, &token)).await?;
    }
    let gone = format!("{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, gone)])).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_and_nothing_else_is_taken_for_it() {
        let (half, other) = ("x".repeat(HALF), "y".repeat(HALF));
        let of = |text: String, key: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, text.parse().unwrap());
            headers.insert(KEY, key.parse().unwrap());
            token(&headers, "bardo")
        };
        assert_eq!(of(format!("a=1; bardo={half}; b=2"), &other), format!("{half}{other}"));
        for text in [
            format!("xbardo={half}"),
            format!("bardo2={half}"),
            format!("Bardo={half}"),
            "bardo".into(),
            "bardo=x".into(),
        ] {
            assert_eq!(of(text, &other), "");
        }
        assert_eq!(of(format!("bardo={half}"), "y"), "");
    }
}
