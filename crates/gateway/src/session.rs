//! The session a call belongs to, as far as the agent names one. It is shown to the owner and decides nothing.

use axum::http::HeaderMap;
use serde_json::Value;

/// Headers in which agents name a session, the plainest first.
const HEADERS: [&str; 4] = ["x-session-id", "session-id", "session_id", "x-claude-code-session-id"];

/// Returns the session named in a header, or else the one in the call.
pub(super) fn said(headers: &HeaderMap, in_body: Option<String>) -> Option<String> {
    let header = |name: &&str| headers.get(*name)?.to_str().ok().map(str::trim).map(str::to_owned);
    HEADERS.iter().find_map(header).or(in_body).filter(|session| !session.is_empty())
}

/// Reads the session from `metadata.user_id`, as Claude Code writes it: behind a word in a longer name, or as JSON.
pub(super) fn in_body(whole: &Value) -> Option<String> {
    let user = whole.pointer("/metadata/user_id")?.as_str()?;
    let as_json = || serde_json::from_str::<Value>(user).ok()?.get("session_id")?.as_str().map(str::to_owned);
    user.rsplit_once("_session_").map(|(_, session)| session.to_owned()).or_else(as_json)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_found_where_agents_say_it() {
        let of = |user: &str| in_body(&json!({ "metadata": { "user_id": user } }));
        assert_eq!(of("user_4f_account__session_8d1c-77").as_deref(), Some("8d1c-77"));
        assert_eq!(of(r#"{"device_id":"d","session_id":"8d1c-77"}"#).as_deref(), Some("8d1c-77"));
        assert_eq!((of("somebody"), in_body(&json!({ "metadata": 7 }))), (None, None));
        let mut headers = HeaderMap::new();
        assert_eq!(said(&headers, None), None);
        assert_eq!(said(&headers, Some("b".into())).as_deref(), Some("b"));
        headers.insert("session_id", HeaderValue::from_static(" a "));
        assert_eq!(said(&headers, Some("b".into())).as_deref(), Some("a"));
    }
}
