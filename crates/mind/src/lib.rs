//! Clients of the models a golem thinks with.
//!
//! Absent: any knowledge of golems and lives. Nothing is decided or kept here, and a key is never written anywhere.
//!
//! [`Chat`] asks a model something, for a sum that is never exceeded. The rest turns text into vectors, so that
//! knowledge can be found again by meaning: [`Served`] asks any OpenAI-compatible server, above all a keyless one on
//! the same machine. `Local`, behind the feature `local`, runs a small sentence model inside the process.
//!
//! Nearness is for finding, never for deciding that two pieces of knowledge say the same: to a good small model,
//! "gas drops below 10 gwei" lies nearer to "gas rises above 10 gwei" than to "gas price falls under ten gwei".

mod answer;
mod chat;
mod discovery;
mod error;
pub mod http;
mod key;
#[cfg(feature = "local")]
mod local;
mod served;
#[cfg(test)]
mod tests;
mod texts;
mod upstream;
mod vector;
mod wire;

pub use chat::{Chat, ChatConfig, ChatRequest, Completion};
pub use discovery::{AtHand, look_around};
pub use error::Error;
#[cfg(feature = "local")]
pub use local::Local;
pub use served::{Served, ServedConfig};
pub use texts::{BATCH, BATCH_BYTES, TEXT_BYTES};
pub use upstream::Upstream;

/// Turns text into vectors of length one, so that their dot product is the cosine between them.
pub trait Embedder: Send + Sync {
    /// The name of the model. Vectors of two models cannot be compared; keep the name beside them.
    fn model(&self) -> &str;

    /// The length of each vector; `None` until the model has been asked.
    fn dimensions(&self) -> Option<usize>;

    /// One vector per text, in order. Either all of them or an error.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error>;
}
