//! Who may talk to the API: whoever knows the token, from no page of somebody else's.

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::routes::Problem;
use super::{Listen, Reach};
use crate::{Error, Home};

/// The longest a request that is no stream may take, its body included.
const PATIENCE: Duration = Duration::from_secs(30);
/// What anyone may ask.
pub(super) const OPEN: [&str; 3] = ["/health", "/ready", "/openapi.json"];

/// The token of this home, drawn when first asked for and readable by the owner alone.
pub(super) fn token(home: &Home) -> Result<String, Error> {
    let path = home.token();
    if !path.exists() {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let draft = path.with_extension("new");
        let _ = fs::remove_file(&draft);
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
        file.and_then(|mut file| file.write_all(token.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(Error::io("cannot write", &path))?;
    }
    let token = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?.trim().to_owned();
    if token.len() < 32 {
        return Err(Error::Advice(format!("the token in {} is too short; remove the file", path.display())));
    }
    Ok(token)
}

pub(super) async fn check(State(reach): State<Reach>, request: Request, next: Next) -> Response {
    if let Err(problem) = may_enter(&reach.listen, request.uri().path(), request.headers()) {
        return problem.into_response();
    }
    let stream = request.uri().path().ends_with("/events");
    let answer = next.run(request);
    if stream {
        return answer.await;
    }
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(answer) => answer,
        Err(_) => Problem::new(StatusCode::REQUEST_TIMEOUT, "this took too long").into_response(),
    }
}

fn may_enter(listen: &Listen, path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // A page elsewhere may make a browser call us; a name that points here may make it think we are that page.
    if headers.contains_key(ORIGIN)
        && !text(ORIGIN).is_some_and(|origin| listen.origins.iter().any(|one| one == origin))
    {
        return Err(Problem::new(StatusCode::FORBIDDEN, "pages of this origin may not talk to bardo; see api.origins"));
    }
    if !text(HOST).is_some_and(|host| is_ours(listen, host)) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "this is not the host you asked for"));
    }
    if OPEN.contains(&path) {
        return Ok(());
    }
    let given = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // Compared as hashes, which takes equally long wherever they differ.
    if blake3::hash(given.as_bytes()) == blake3::hash(listen.token.as_bytes()) {
        return Ok(());
    }
    Err(Problem::new(StatusCode::UNAUTHORIZED, "send the token of this home as `Authorization: Bearer TOKEN`"))
}

/// On this machine only names of this machine count; who listens to the world answers to any name.
fn is_ours(listen: &Listen, host: &str) -> bool {
    if !listen.address.ip().is_loopback() {
        return true;
    }
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(headers: &[(&str, &str)], path: &str) -> u16 {
        let address = "127.0.0.1:1".parse().unwrap();
        let listen = Listen { address, token: "t".repeat(64), origins: vec!["https://mine.example".into()] };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        may_enter(&listen, path, &map).map_or_else(|problem| problem.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_who_knows_the_token_enters_and_no_page_of_anybody_else() {
        let good = format!("Bearer {}", "t".repeat(64));
        let (host, token) = (("host", "localhost:1"), ("authorization", good.as_str()));
        for (headers, expected) in [
            (vec![host, token], 200),
            (vec![host], 401),
            (vec![host, ("authorization", "Bearer x")], 401),
            (vec![host, ("authorization", "tttt")], 401),
            (vec![token], 403),
            (vec![("host", "evil.example"), token], 403),
            (vec![("host", "[::1]:1"), token], 200),
            (vec![host, token, ("origin", "https://evil.example")], 403),
            (vec![host, token, ("origin", "https://mine.example")], 200),
        ] {
            assert_eq!(status(&headers, "/v1/golems"), expected, "{headers:?}");
        }
        assert_eq!(status(&[host], "/health"), 200);
        assert_eq!(status(&[host], "/health/../v1/golems"), 401);
    }
}
