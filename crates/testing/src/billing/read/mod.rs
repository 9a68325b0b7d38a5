//! Bodies as they come, read into what a model is given, one protocol a file.

mod chat;
mod extras;
mod gemini;
mod messages;
mod responses;

use serde_json::Value;

use super::asked::{BilledRequest, Ground, Protocol, ProviderProblem};

pub(crate) fn read(asked: BilledRequest, body: &Value, ground: &Ground<'_>) -> Result<BilledRequest, ProviderProblem> {
    if !body.is_object() {
        return Err(ProviderProblem::wrong("the body is no JSON object"));
    }
    let mut asked = match asked.protocol {
        Protocol::Chat => chat::read(asked, body, ground),
        Protocol::Embeddings => chat::embeddings(asked, body, ground),
        Protocol::Responses | Protocol::CountResponses => responses::read(asked, body, ground),
        Protocol::Messages | Protocol::CountMessages => messages::read(asked, body, ground),
        Protocol::Gemini | Protocol::CountGemini => gemini::read(asked, body, ground),
    }?;
    extras::read(&mut asked, body, ground);
    Ok(asked)
}
