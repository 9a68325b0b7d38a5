//! Refusals, in the shape of the protocol that was spoken: a code for programs and a sentence for people.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use golem::call::Denied;
use serde_json::{Value, json};
use shell::errands::Lacks;

use super::protocol::AgentProtocol;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// Seconds after which asking again may help.
    pub(super) again: Option<u32>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { status, code, message: message.into(), again: None }
    }

    pub(super) fn wrong(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// The refusal while the golem is not running, so that no call can be let through.
    pub(super) fn away() -> Refusal {
        let message = "the golem is not running; start it with `bardo up` or `bardo golem run`";
        Refusal { again: Some(2), ..Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "away", message) }
    }

    pub(super) fn of(by: Denied, cause: Option<&str>) -> Refusal {
        let status = match by {
            Denied::Dead => StatusCode::GONE,
            Denied::Frozen | Denied::Paused | Denied::Held(_) | Denied::Phase(_) => StatusCode::FORBIDDEN,
            Denied::Busy => StatusCode::TOO_MANY_REQUESTS,
            // Not 409, which clients repeat automatically.
            Denied::Repeated => StatusCode::UNPROCESSABLE_ENTITY,
            Denied::Call
            | Denied::Hour
            | Denied::Day
            | Denied::Month
            | Denied::Allowance
            | Denied::Funds
            | Denied::Broke
            | Denied::Short(_)
            | Denied::Today(_)
            | Denied::Spent(_) => StatusCode::PAYMENT_REQUIRED,
        };
        let message = match (by, cause) {
            (Denied::Dead, Some(cause)) => format!("dead: {cause}"),
            _ => format!("{}: {by}", by.code()),
        };
        Refusal { again: (by == Denied::Busy).then_some(1), ..Refusal::new(status, by.code(), message) }
    }

    /// The refusal where money or tokens would do but are set aside for calls under way, which may give some of them
    /// back.
    pub(super) fn later(lacks: Lacks) -> Refusal {
        let what = if lacks.of.is_some() { "tokens for that are" } else { "money for that is" };
        let message = format!("busy: {what} set aside for calls under way; {lacks}");
        Refusal { again: Some(2), ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, "busy", message) }
    }

    /// Adds the figures, where money is lacking or something else that is capped.
    pub(super) fn lacking(mut self, by: Denied, lacks: Lacks) -> Refusal {
        if self.status == StatusCode::PAYMENT_REQUIRED && by != Denied::Repeated {
            self.message = format!("{}: {lacks}", self.message);
        }
        self
    }

    /// The body of the refusal, as its protocol has it.
    pub(super) fn body(&self, protocol: AgentProtocol) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            402 => "billing_error",
            403 | 410 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        match protocol {
            AgentProtocol::Messages => {
                json!({ "type": "error", "error": { "type": kind, "message": self.message, "code": self.code } })
            }
            AgentProtocol::Generate => {
                let status = match self.status.as_u16() {
                    401 => "UNAUTHENTICATED",
                    402 | 403 | 410 => "PERMISSION_DENIED",
                    404 => "NOT_FOUND",
                    429 => "RESOURCE_EXHAUSTED",
                    500.. => "UNAVAILABLE",
                    _ => "INVALID_ARGUMENT",
                };
                let details = json!([{ "reason": self.code }]);
                json!({ "error": { "code": self.status.as_u16(), "message": self.message, "status": status,
                                   "details": details } })
            }
            AgentProtocol::Chat | AgentProtocol::Responses | AgentProtocol::Embeddings => {
                json!({ "error": { "message": self.message, "type": kind, "param": null, "code": self.code } })
            }
        }
    }

    /// The refusal as an event in the middle of a stream.
    pub(super) fn event(&self, protocol: AgentProtocol) -> String {
        match protocol {
            AgentProtocol::Messages => format!("event: error\ndata: {}\n\n", self.body(protocol)),
            _ => format!("data: {}\n\n", self.body(protocol)),
        }
    }

    pub(super) fn response(&self, protocol: AgentProtocol) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body(protocol).to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-bardo-refused", HeaderValue::from_static(self.code));
        match self.again {
            Some(seconds) => drop(headers.insert(RETRY_AFTER, HeaderValue::from(seconds))),
            // Clients that look at this header do not repeat a call that will not be let through.
            None => drop(headers.insert("x-should-retry", HeaderValue::from_static("false"))),
        }
        response
    }
}
