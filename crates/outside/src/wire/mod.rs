//! The messages, one JSON object a line. Times are milliseconds since 1970 UTC, money is whole millionths of a dollar,
//! and units of holding are whole millionths of one.
//!
//! Both ends ignore fields they do not know, so that fields can be added. A question that is not in the first version
//! is asked only if the program has declared that it can answer it.

mod mind;
mod world;

use schemars::JsonSchema;

pub use mind::{
    Assessment, Look, Named, Passed, Pressure, Proposed, Refused, Resolved, Shown, ShownAsk, Standing, Stands, Word,
};
pub use world::{
    Action, Answer, Ask, Bar, Domain, DomainKind, Effect, Fate, Hello, Manifest, Order, Outcome, Question, Quote,
    Timing, Welcome,
};

/// The version that is spoken here.
pub const VERSION: u32 = 1;

/// All messages as one schema: those to a program, and its answers.
pub fn schema() -> serde_json::Value {
    /// All messages of the protocol.
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Protocol {
        hello: Hello,
        welcome: Welcome,
        question: Question,
        answer: Answer,
        shown: Shown,
        word: Word,
    }
    let schema = schemars::schema_for!(Protocol);
    serde_json::to_value(schema).expect("a schema is plain data")
}
