//! Answers as each protocol writes them, whole and in streams, so that the clients people have accept them.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::{Value, json};

use super::answer::{Event, ModelAnswer};
use super::asked::{Protocol, ProviderProblem};

pub(crate) use responses::{id as response_id, item_id};

pub(crate) fn whole(answer: &ModelAnswer<'_>) -> Value {
    match answer.asked.protocol {
        Protocol::Chat => chat::whole(answer),
        Protocol::Embeddings => chat::embeddings(answer),
        Protocol::Responses => responses::whole(answer),
        Protocol::Messages => messages::whole(answer),
        Protocol::CountResponses => {
            json!({ "object": "response.input_tokens", "input_tokens": answer.asked.input() })
        }
        Protocol::CountMessages => json!({ "input_tokens": answer.asked.input() }),
        Protocol::Gemini => gemini::whole(answer),
        Protocol::CountGemini => json!({ "totalTokens": answer.asked.input() }),
    }
}

pub(crate) fn events(answer: &ModelAnswer<'_>) -> Vec<Event> {
    match answer.asked.protocol {
        Protocol::Responses | Protocol::CountResponses => responses::events(answer),
        Protocol::Messages | Protocol::CountMessages => messages::events(answer),
        Protocol::Gemini | Protocol::CountGemini => gemini::events(answer),
        Protocol::Chat | Protocol::Embeddings => chat::events(answer),
    }
}

/// The event by which a stream of this protocol says that it failed.
pub(crate) fn error(protocol: Protocol) -> String {
    let message = "it failed in the middle".to_owned();
    let data = match protocol {
        Protocol::Responses => json!({ "type": "error", "code": "server_error", "message": message, "param": null }),
        _ => problem(protocol, &ProviderProblem { status: 500, message }),
    };
    match protocol {
        Protocol::Responses | Protocol::Messages | Protocol::CountMessages => format!("event: error\ndata: {data}\n\n"),
        _ => format!("data: {data}\n\n"),
    }
}

/// A refusal in the words of this protocol.
pub(crate) fn problem(protocol: Protocol, problem: &ProviderProblem) -> Value {
    let ProviderProblem { status, message } = problem;
    match protocol {
        Protocol::Messages | Protocol::CountMessages => {
            let kind = match status {
                401 => "authentication_error",
                404 => "not_found_error",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                500.. => "api_error",
                _ => "invalid_request_error",
            };
            json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_double" })
        }
        Protocol::Gemini | Protocol::CountGemini => {
            let kind = match status {
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                500.. => "INTERNAL",
                _ => "INVALID_ARGUMENT",
            };
            json!({ "error": { "code": status, "message": message, "status": kind } })
        }
        _ => {
            let (kind, code) = match status {
                404 => ("invalid_request_error", json!("model_not_found")),
                429 => ("rate_limit_error", json!("rate_limit_exceeded")),
                500.. => ("server_error", Value::Null),
                _ => ("invalid_request_error", Value::Null),
            };
            json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
        }
    }
}
