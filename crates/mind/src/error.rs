//! One error, a variant per reaction of the caller; each says in plain words what is wrong and what to do.

use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing can be asked before a setting is changed.
    #[error("{what} {why}")]
    Config { what: &'static str, why: String },
    /// The key is not where the settings say.
    #[error("the environment variable {variable} should hold the key of the model server, but {why}")]
    Key { variable: String, why: &'static str },
    /// Skip this text or cut it; everything else would have worked.
    #[error("text {index} cannot be embedded: {why}")]
    Text { index: usize, why: String },
    /// The server does not answer. Asking again may help.
    #[error("no answer from {url} ({why}); check that the server is running and that the address is right")]
    Unreachable { url: String, why: String },
    /// The server was gone before the answer was complete. Asking again may help.
    #[error("the answer from {url} was cut off ({why}); check that the server keeps running")]
    Cut { url: String, why: String },
    /// Asking again may help, for less at a time or with more patience.
    #[error("{url} did not answer within {} s; give it more time or smaller batches", waited.as_secs_f64())]
    Slow { url: String, waited: Duration },
    /// Ask again, but not before the time named.
    #[error("{url} is too busy (status {status}); try again {}", when(*retry_after))]
    Busy { url: String, status: u16, retry_after: Option<Duration> },
    /// The server failed. Asking again may help.
    #[error("{url} failed (status {status}): {says}")]
    Failed { url: String, status: u16, says: String },
    /// Not without another key.
    #[error("{} (status {status})", denied(url, variable.as_deref()))]
    Denied { url: String, status: u16, variable: Option<String> },
    /// Not before the model is there, or the address leads to where it is.
    #[error(
        "{url} has no model `{model}`, or nothing of its kind at that address ({says}); load the model into the server, \
         or correct its name or the address"
    )]
    Unknown { url: String, model: String, says: String },
    /// The same request will be rejected again.
    #[error("{url} rejects the request (status {status}): {says}")]
    Rejected { url: String, status: u16, says: String },
    /// An answer that must not be used. The server, or the model in it, is not of the kind that was asked.
    #[error("the answer from {url} cannot be used: {why}; check that `{model}` is the right kind of model")]
    Nonsense { url: String, model: String, why: String },
    /// The sum is too small for this question.
    #[error(
        "asking {model} could cost {}, and only {} is reserved for it; allow more per question, or name a cheaper model",
        dollars(*needs), dollars(*most)
    )]
    TooDear { model: String, needs: u64, most: u64 },
    /// A name that cannot be read, or a model without a price.
    #[error(transparent)]
    Tariff(#[from] tariff::Error),
    /// Stored vectors and new ones are of different sizes.
    #[error(
        "`{model}` gives vectors of {got} dimensions where {known} were expected: it is another model than before; go \
        back to the old one or embed everything again"
    )]
    Dimensions { model: String, known: usize, got: usize },
    /// The model in this folder is missing, damaged or of another kind.
    #[error("the model in {folder} cannot be used: {why}")]
    Model { folder: PathBuf, why: String },
}

impl Error {
    /// Whether the provider may charge although there is no answer: the request may have got through.
    pub fn may_have_cost(&self) -> bool {
        matches!(self, Error::Cut { .. } | Error::Slow { .. } | Error::Failed { .. } | Error::Nonsense { .. })
    }
}

fn dollars(micros: u64) -> String {
    format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn when(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(|| "in a while".to_owned(), |wait| format!("in {} s", wait.as_secs()))
}

fn denied(url: &str, variable: Option<&str>) -> String {
    match variable {
        Some(variable) => format!("{url} does not accept the key in {variable}; put a valid one there"),
        None => format!("{url} requires a key; name the environment variable that holds it"),
    }
}
