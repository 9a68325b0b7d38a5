//! A provider that bills: it speaks the protocols of OpenAI, Anthropic and Gemini to the clients people have, says what a
//! test wants said, misbehaves as providers are reported to, and keeps a ledger by the published prices. What a gateway
//! promises about money is held to that ledger, never to what was said of it.
//!
//! Absent: audio and video (refused), WebSockets (426, on which clients fall back to HTTP), batches, stored files.

mod answer;
mod asked;
mod cache;
mod hidden;
mod ledger;
mod made;
mod media;
mod price;
mod read;
mod run;
mod script;
mod serve;
mod tokens;
mod write;

pub use asked::{BilledRequest, Piece, Protocol, ProviderProblem, Tool, Ttl};
pub use cache::{LEAST, STEP};
pub use hidden::Elsewhere;
pub use ledger::{BilledEntry, Ledger, RequestEnd};
pub use media::encode;
pub use price::{Extras, Price, Prices, Rate, Used, bill};
pub use script::{Counted, Fault, Habit, HangUp, Part, Plays, Says, Shown, Turn, always, first_tool, turns};
pub use serve::{Double, Setting};
pub use tokens::Tokeniser;
