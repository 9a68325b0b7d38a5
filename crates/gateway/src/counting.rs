//! Counting a call before it is made, at the provider and free of charge: for agents that ask for it, and for the
//! gateway itself where a bound in bytes would be more than what is left.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode};
use mind::Upstream;
use serde_json::Value;

use super::login::Login;
use super::prefix::Input;
use super::protocol::AgentProtocol;
use super::refusal::Refusal;
use super::shape::AgentCall;

/// The path at which an agent asks for a count.
pub(super) const PATH: &str = "messages/count_tokens";
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a call waits to be counted for itself.
const OWN_PATIENCE: Duration = Duration::from_secs(5);
/// Margin over a provider's count, which may be a little less than what it bills: one token in so many, and these.
const MORE: u64 = 50;
const AROUND: u64 = 64;
/// Fewer tokens in bytes are not worth asking for.
const WORTH: u64 = 512;
/// A count of fewer tokens than one in so many bytes is not believed.
const DENSEST: u64 = 16;
/// The longest answer: a number.
const LONGEST: usize = 64 << 10;

/// Passes a count of the provider's on to the agent, as the provider says it.
pub(super) async fn count(
    client: &reqwest::Client,
    upstream: &Upstream,
    asked: &AgentCall,
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
        return Err(wrong("the model's server gave an answer that cannot be passed on".to_owned()));
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Tokens of a bound that its provider would count better: those that stand in it as bytes.
pub(super) fn rough(input: &Input, upstream: &Upstream, asked: &AgentCall) -> u64 {
    let provider = upstream.name().split('/').next().unwrap_or_default();
    let counts = matches!(
        (asked.protocol, provider),
        (AgentProtocol::Messages, "anthropic")
            | (AgentProtocol::Generate, "gemini")
            | (AgentProtocol::Responses, "openai")
    );
    // What the provider leaves out or goes over again is not what it counts.
    if counts && !asked.shortened && input.rough() > WORTH { input.rough() } else { 0 }
}

/// Returns the bound as it is, or a lower one from the provider's own count with a margin.
pub(super) async fn counted(
    client: &reqwest::Client,
    upstream: &Upstream,
    asked: &AgentCall,
    headers: HeaderMap,
    input: Input,
) -> Input {
    let counts = async {
        let google = asked.protocol == AgentProtocol::Generate;
        let url = match asked.protocol {
            AgentProtocol::Generate => upstream.counts_google(),
            AgentProtocol::Responses => upstream.url("/responses/input_tokens"),
            _ => upstream.url(&format!("/{PATH}")),
        };
        let body = asked.to_count(upstream.model());
        let mut request = client.post(url.ok()?).headers(headers).header(CONTENT_TYPE, "application/json").body(body);
        let shows = if google { upstream.shows_google() } else { upstream.shows() };
        if let Some((name, value)) = shows {
            request = request.header(name, value);
        }
        let answer = request.send().await.ok()?.error_for_status().ok()?.bytes().await.ok()?;
        let answer: Value = serde_json::from_slice(answer.get(..answer.len().min(LONGEST))?).ok()?;
        answer[if google { "totalTokens" } else { "input_tokens" }].as_u64()
    };
    let count = tokio::time::timeout(OWN_PATIENCE, counts).await.ok().flatten();
    let bytes = asked.parts.before + asked.parts.messages.iter().sum::<u64>();
    let Some(count) = count.filter(|count| *count >= bytes / DENSEST) else { return input };
    let margin = count / MORE + AROUND;
    let most = count.saturating_add(margin);
    if most < input.most { Input { most, margin, ..input } } else { input }
}
