//! Addresses with a name that a golem no longer has. For a day they lead to the golem, in the API and in the gateway, and
//! a header of the answer says what it is called now.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use golem::Name;

use shell::Home;

/// The addresses of golems below one path.
#[derive(Clone, Debug)]
pub struct Led {
    home: Home,
    /// The part of an address before the name.
    before: &'static str,
    /// The header of an answer that says what the golem is called now.
    header: HeaderName,
}

impl Led {
    pub fn below(home: &Home, before: &'static str, header: &'static str) -> Led {
        Led { home: home.clone(), before, header: HeaderName::from_static(header) }
    }

    /// These routes, reached by old names too. The name is put right before a route is chosen.
    pub fn over(self, routes: Router) -> Router {
        Router::new().fallback_service(routes).layer(from_fn_with_state(self, lead))
    }

    /// The present name, and the address with it, where the name in an address is not that of a folder but leads to one.
    fn elsewhere(&self, uri: &Uri) -> Option<(Name, Uri)> {
        let rest = uri.path().strip_prefix(self.before)?;
        let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let now = self.home.renamed_from(name)?;
        let query = uri.query().map_or(String::new(), |query| format!("?{query}"));
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(format!("{}{now}{rest}{query}", self.before).parse().ok()?);
        Some((now, Uri::from_parts(parts).ok()?))
    }
}

async fn lead(State(led): State<Led>, mut request: Request, next: Next) -> Response {
    let Some((now, uri)) = led.elsewhere(request.uri()) else { return next.run(request).await };
    *request.uri_mut() = uri;
    let mut answer = next.run(request).await;
    // A client that may not enter learns nothing of it.
    let enters = !matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let (true, Ok(now)) = (enters, HeaderValue::from_str(now.as_str())) {
        answer.headers_mut().insert(led.header, now);
    }
    answer
}
