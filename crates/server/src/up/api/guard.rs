//! Access to the API: a client needs a token with the right scope, and pages of foreign origins are turned away.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use blake3::Hash;
use futures_util::StreamExt;
use shell::home::tokens::{Keyring, Scope};

use super::problem::Problem;
use super::state::{AppState, Listen};
use super::{page, session};
use crate::mcp::Who;

/// How often the token of an open stream is checked again.
const LOOK: Duration = Duration::from_secs(2);
/// Paths that need no token.
pub(super) const OPEN: [&str; 4] = ["/health", "/ready", "/openapi.json", "/v1/session"];
/// Headers that a page of another origin may send.
const HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id";
/// The header with which a browser asks whether a page may reach into a private network, and the one that answers it.
const PRIVATE: (&str, &str) = ("access-control-request-private-network", "access-control-allow-private-network");

/// The right by which a request enters.
#[derive(Debug, PartialEq, Eq)]
enum Pass {
    /// No token, and none is needed.
    Open,
    /// A browser's question whether its page may send a request.
    Preflight,
    /// A token with the scope that is needed.
    Token(Hash),
}

/// The name of the token that a request came with.
#[derive(Clone, Debug)]
pub(super) struct Holder(pub(super) String);

/// The scope that a request needs: `Scope::All` for one that is not named here.
pub(super) fn needed(method: &Method, path: &str) -> Scope {
    // The tools of an assistant are checked call by call.
    if method.is_safe() || path == "/mcp" {
        return Scope::Read;
    }
    match path.rsplit('/').next().unwrap_or_default() {
        // Neither changes a golem: one asks for a price, the other signs out.
        "quote" | "end" => Scope::Read,
        "approve" => Scope::Answer,
        "pause" | "resume" | "freeze" | "fund" | "withdraw" | "dream" | "wake" | "ask" => Scope::Order,
        _ => Scope::All,
    }
}

pub(super) async fn check(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let listen = &app.listen;
    let origin = request.headers().get(ORIGIN).filter(|origin| is_welcome(listen, origin)).cloned();
    let private = request.headers().contains_key(PRIVATE.0);
    let mut answer = match may_enter(listen, request.method(), request.uri().path(), request.headers()) {
        Ok(Pass::Preflight) => preflight(private),
        Ok(pass) => answer(listen, pass, request, next).await,
        Err(problem) => problem.into_response(),
    };
    if let Some(origin) = origin {
        answer.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    // A cache must not give one page what was said to another.
    answer.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    answer
}

async fn answer(listen: &Listen, pass: Pass, mut request: Request, next: Next) -> Response {
    let mut holder = None;
    if let Pass::Token(token) = pass
        && let Some((name, scope)) = listen.tokens.holder(token)
    {
        request.extensions_mut().insert(Who::Owner { scope, changes: listen.changes });
        holder = Some(Holder(name));
    }
    let stream = request.uri().path().ends_with("/events");
    let mut answer = next.run(request).await;
    // The log is written from the answer, so the name of the token goes with it.
    if let Some(holder) = holder {
        answer.extensions_mut().insert(holder);
    }
    match pass {
        Pass::Token(token) if stream => until_revoked(answer, Arc::clone(&listen.tokens), token),
        Pass::Token(_) | Pass::Open | Pass::Preflight => answer,
    }
}

/// Ends a stream when its token does; it has no end of its own.
fn until_revoked(answer: Response, tokens: Arc<Keyring>, token: Hash) -> Response {
    let revoked = async move {
        while tokens.scope_of_hash(token).is_some() {
            tokio::time::sleep(LOOK).await;
        }
    };
    answer.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(revoked))))
}

fn preflight(private: bool) -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    let mut answer = (StatusCode::NO_CONTENT, headers).into_response();
    if private {
        answer.headers_mut().insert(HeaderName::from_static(PRIVATE.1), HeaderValue::from_static("true"));
    }
    answer
}

fn is_welcome(listen: &Listen, origin: &HeaderValue) -> bool {
    origin.to_str().is_ok_and(|origin| listen.origins.iter().any(|one| one == origin))
}

fn may_enter(listen: &Listen, method: &Method, path: &str, headers: &HeaderMap) -> Result<Pass, Problem> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // A page elsewhere may make a browser call us; a name that points here may make it think we are that page.
    let page = headers.get(ORIGIN);
    let host = text(HOST).unwrap_or_default();
    if page.is_some_and(|origin| !is_welcome(listen, origin) && !is_own(origin, host)) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "pages of this origin may not talk to bardo; see api.origins"));
    }
    if host.is_empty() || !is_ours(listen, host) {
        return Err(Problem::new(StatusCode::FORBIDDEN, "this is not the host you asked for"));
    }
    if page.is_some() && method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Ok(Pass::Preflight);
    }
    if OPEN.contains(&path) || page::is_of_it(path) {
        return Ok(Pass::Open);
    }
    let given = match text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")) {
        Some(token) => token.to_owned(),
        None if is_of_our_page(listen, method, headers, host) => session::token(headers, &listen.cookie),
        None => String::new(),
    };
    let token = blake3::hash(given.as_bytes());
    let (scope, needed) = (listen.tokens.scope_of_hash(token), needed(method, path));
    match scope {
        Some(scope) if scope >= needed => Ok(Pass::Token(token)),
        Some(scope) => {
            let why = format!("this needs a token with the scope {needed}, and yours has the scope {scope}");
            Err(Problem::new(StatusCode::FORBIDDEN, why))
        }
        None => {
            let why = "send a token of this home as `Authorization: Bearer TOKEN` (`bardo token new` makes one), or sign in with a link (`bardo page` makes one)";
            Err(Problem::new(StatusCode::UNAUTHORIZED, why))
        }
    }
}

/// Whether this origin is the very address that was asked.
fn is_own(origin: &HeaderValue, host: &str) -> bool {
    let origin = origin.to_str().unwrap_or_default();
    let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    name.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

/// Whether a request comes from our own page. A browser sends the cookie with requests of any page, so it counts only
/// where no other page can have asked, and for every change the browser must name the origin. Behind a proxy our page
/// has an origin that is welcome.
fn is_of_our_page(listen: &Listen, method: &Method, headers: &HeaderMap, host: &str) -> bool {
    let from = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    let near = from.is_none_or(|site| matches!(site, b"same-origin" | b"none"));
    match headers.get(ORIGIN) {
        Some(origin) => near && (is_own(origin, host) || is_welcome(listen, origin)),
        None => near && method.is_safe(),
    }
}

/// Whether a host name is ours. An API that listens on this machine alone answers to the machine's names and to those
/// of welcome origins; one that listens to the world answers to any name.
fn is_ours(listen: &Listen, host: &str) -> bool {
    let welcome = |origin: &String| origin.split_once("://").is_some_and(|(_, name)| name.eq_ignore_ascii_case(host));
    if !listen.address.ip().is_loopback() || listen.origins.iter().any(welcome) {
        return true;
    }
    let (name, rest) = match host.strip_prefix('[') {
        Some(inside) => match inside.split_once(']') {
            Some((name, rest)) if name.parse::<std::net::Ipv6Addr>().is_ok() => (name, rest),
            _ => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    // Nothing may follow but a port, or what was read is not what was meant.
    let port = |text: &str| text.len() <= 5 && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !rest.is_empty() && !rest.strip_prefix(':').is_some_and(port) {
        return false;
    }
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen() -> (tempfile::TempDir, Listen) {
        let folder = tempfile::tempdir().unwrap();
        let home = shell::Home::at(folder.path().to_owned());
        std::fs::write(home.token(), "t".repeat(64)).unwrap();
        let tokens = Arc::new(Keyring::of(&home));
        let (address, cookie) = ("127.0.0.1:1".parse().unwrap(), "bardo-0".to_owned());
        let origins = vec!["https://mine.example".into()];
        (folder, Listen { address, tokens, origins, cookie, golems_shown: 0, changes: false })
    }

    fn status(listen: &Listen, method: &Method, headers: &[(&str, &str)], path: &str) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        match may_enter(listen, method, path, &map) {
            Ok(Pass::Preflight) => 204,
            Ok(_) => 200,
            Err(problem) => problem.status.as_u16(),
        }
    }

    #[test]
    fn only_who_knows_the_token_enters_and_no_page_of_anybody_else() {
        let (_folder, listen) = listen();
        let good = format!("Bearer {}", "t".repeat(64));
        let (host, token) = (("host", "localhost:1"), ("authorization", good.as_str()));
        let mine = ("origin", "https://mine.example");
        for (headers, expected) in [
            (vec![host, token], 200),
            (vec![host], 401),
            (vec![host, ("authorization", "Bearer x")], 401),
            (vec![host, ("authorization", "tttt")], 401),
            (vec![token], 403),
            (vec![("host", "evil.example"), token], 403),
            (vec![("host", "[::1]:1"), token], 200),
            (vec![host, token, ("origin", "https://evil.example")], 403),
            (vec![host, token, mine], 200),
        ] {
            assert_eq!(status(&listen, &Method::GET, &headers, "/v1/golems"), expected, "{headers:?}");
        }
        assert_eq!(status(&listen, &Method::GET, &[host], "/health"), 200);
        assert_eq!(status(&listen, &Method::GET, &[host], "/health/../v1/golems"), 401);
        let asks = ("access-control-request-method", "POST");
        for (headers, expected) in [
            (vec![host, mine, asks], 204),
            (vec![host, ("origin", "https://evil.example"), asks], 403),
            (vec![("host", "evil.example"), mine, asks], 403),
            (vec![host, mine], 401),
            (vec![host, asks], 401),
        ] {
            assert_eq!(status(&listen, &Method::OPTIONS, &headers, "/v1/golems/ada/fund"), expected, "{headers:?}");
        }
    }

    /// A cookie goes to every port of a machine, so a program on another port has seen it: by itself it opens nothing.
    #[test]
    fn a_browser_needs_both_halves_and_to_be_on_our_page() {
        let (_folder, listen) = listen();
        let half = "t".repeat(32);
        let cookie = format!("bardo-0={half}");
        let (host, cookie, key) = (("host", "localhost:1"), ("cookie", cookie.as_str()), ("bardo-page", half.as_str()));
        let whole = format!("bardo-0={}", "t".repeat(64));
        let (own, site) = (("origin", "http://localhost:1"), ("sec-fetch-site", "same-origin"));
        let proxied = [("host", "mine.example"), ("origin", "https://mine.example"), cookie, key];
        for (headers, expected) in [
            (vec![host, cookie, key, own, site], 200),
            (vec![host, cookie, key, own], 200),
            (vec![host, cookie, own, site], 401),
            (vec![host, key, own, site], 401),
            (vec![host, ("cookie", whole.as_str()), own, site], 401),
            (vec![host, cookie, key, site], 401),
            (vec![host, cookie, key, own, ("sec-fetch-site", "same-site")], 401),
            (vec![host, cookie, key, ("origin", "http://localhost:3000")], 403),
            (vec![host, ("authorization", &format!("Bearer {half}")), own], 401),
            (vec![host, cookie, key, own, ("authorization", "Basic x")], 200),
            (proxied.to_vec(), 200),
            (vec![host, ("origin", "https://mine.example"), cookie, key], 200),
            (vec![("host", "evil.example"), ("origin", "https://mine.example"), cookie, key], 403),
        ] {
            assert_eq!(status(&listen, &Method::POST, &headers, "/v1/golems/ada/fund"), expected, "{headers:?}");
        }
    }

    /// `[::1].evil.com` and `localhost:80@evil` once counted as this machine: what came after the name was not read.
    #[test]
    fn only_a_name_of_this_machine_and_a_port_is_a_host() {
        let (_folder, listen) = listen();
        for host in ["localhost", "LocalHost:7373", "127.0.0.1", "127.0.0.1:80", "127.9.9.9:1", "[::1]", "[::1]:65535"]
        {
            assert!(is_ours(&listen, host), "{host}");
        }
        for host in [
            "[::1].evil.com",
            "localhost:80@evil",
            "localhost@evil",
            "localhost:",
            "localhost:evil",
            "localhost:123456",
            "localhost.evil.com",
            "[::1",
            "[localhost]",
            "[127.0.0.1]",
            "::1",
            "",
            ":80",
            "2130706433",
            "127.1.evil",
            "0.0.0.0",
            "localhost ",
        ] {
            assert!(!is_ours(&listen, host), "{host}");
        }
    }
}
