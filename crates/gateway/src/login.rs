//! A login of the program's own, where its owner lets it keep that: shown over TLS to the provider it is a login of,
//! and to no other server. It is not read, and stands in no record and no log; where it goes does not follow from
//! anything a call says.

use std::fmt;

use axum::http::header::{HeaderMap, HeaderName, HeaderValue};

use super::protocol::AgentProtocol;

/// Headers that carry a login, and those that the provider's own client sends beside it.
const SHOWS: [&str; 2] = ["authorization", "x-api-key"];
const BESIDE: [&str; 6] = [ACCOUNT, "x-app", "originator", "session-id", "thread-id", "openai-beta"];
/// The header with the ChatGPT account of a login; a call with a key has none.
const ACCOUNT: &str = "chatgpt-account-id";
/// The beginning of a golem's token, which is not a login.
const OURS: &[u8] = b"bardo-agent-";

/// The provider of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Anthropic,
    OpenAi,
    ChatGpt,
}

pub(super) struct Login {
    whose: Whose,
    headers: HeaderMap,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("whose", &self.whose).finish_non_exhaustive()
    }
}

impl Login {
    /// Returns the login that came with a call, if it has one that fits its protocol.
    pub(super) fn of(headers: &HeaderMap, protocol: AgentProtocol) -> Option<Login> {
        let is_ours = |value: &HeaderValue| value.as_bytes().windows(OURS.len()).any(|part| part == OURS);
        let whose = match protocol {
            AgentProtocol::Messages => Whose::Anthropic,
            AgentProtocol::Responses if headers.contains_key(ACCOUNT) => Whose::ChatGpt,
            AgentProtocol::Chat | AgentProtocol::Responses | AgentProtocol::Embeddings => Whose::OpenAi,
            AgentProtocol::Generate => return None,
        };
        let mut login = Login { whose, headers: HeaderMap::new() };
        for name in SHOWS {
            for value in headers.get_all(name).iter().filter(|value| !is_ours(value)) {
                let mut value = value.clone();
                value.set_sensitive(true);
                login.headers.append(HeaderName::from_static(name), value);
            }
        }
        if login.headers.is_empty() {
            return None;
        }
        for name in BESIDE {
            if let Some(value) = headers.get(name) {
                login.headers.insert(HeaderName::from_static(name), value.clone());
            }
        }
        Some(login)
    }

    /// The provider's address for this path.
    pub(super) fn url(&self, path: &str) -> String {
        let base = match self.whose {
            Whose::Anthropic => "https://api.anthropic.com/v1",
            Whose::OpenAi => "https://api.openai.com/v1",
            Whose::ChatGpt => "https://chatgpt.com/backend-api/codex",
        };
        format!("{base}{path}")
    }

    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    /// Whether an answer has no limit: this provider takes none, so a call is taken to be as long as its model's
    /// longest.
    pub(super) fn is_unbounded(&self) -> bool {
        self.whose == Whose::ChatGpt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        headers.iter().map(pair).collect()
    }

    #[test]
    fn a_login_goes_to_whoever_it_is_a_login_of_whatever_stands_beside_it() {
        let strange = [("host", "evil.example"), ("x-forwarded-host", "evil.example"), ("cookie", "c")];
        let of = |own: &[(&'static str, &'static str)], protocol| {
            Login::of(&with(&[own, &strange].concat()), protocol).map(|login| {
                let names: Vec<String> = login.headers().keys().map(|name| name.as_str().to_owned()).collect();
                (login.url(protocol.path()), names, login.is_unbounded())
            })
        };
        let oauth = ("authorization", "Bearer sk-ant-oat01-canary");
        let (url, names, unbounded) = of(&[oauth, ("x-app", "cli")], AgentProtocol::Messages).unwrap();
        assert_eq!((url.as_str(), unbounded), ("https://api.anthropic.com/v1/messages", false));
        assert_eq!(names, ["authorization", "x-app"]);
        let (url, _, unbounded) = of(&[oauth], AgentProtocol::Responses).unwrap();
        assert_eq!((url.as_str(), unbounded), ("https://api.openai.com/v1/responses", false));
        let (url, names, unbounded) = of(&[oauth, (ACCOUNT, "acc")], AgentProtocol::Responses).unwrap();
        assert_eq!((url.as_str(), unbounded), ("https://chatgpt.com/backend-api/codex/responses", true));
        assert_eq!(names.len(), 2);
        assert!(of(&[oauth], AgentProtocol::Generate).is_none());
    }

    #[test]
    fn a_golems_token_is_no_login_and_none_is_shown_where_it_is_written_down() {
        let ours = [("authorization", "Bearer bardo-agent-1"), ("x-api-key", "bardo-agent-1"), (ACCOUNT, "acc")];
        assert!(Login::of(&with(&ours), AgentProtocol::Messages).is_none());
        assert!(Login::of(&with(&[]), AgentProtocol::Messages).is_none());
        let login = Login::of(&with(&[("x-api-key", "canary")]), AgentProtocol::Messages).unwrap();
        assert!(!format!("{login:?} {:?}", login.headers()).contains("canary"));
    }
}
