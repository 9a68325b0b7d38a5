//! What is said, one JSON message a line. Times are milliseconds since 1970 UTC, money is whole millionths of a dollar, and
//! units of holding are whole millionths of one.
//!
//! Whoever reads a message ignores what it does not know, on both ends, so that things can be added. What is said to a
//! program that is not in the first version is said only if the program has declared that it can.

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

/// All of it, as one schema: what is said to a program, and what it answers.
pub fn schema() -> serde_json::Value {
    /// Everything that is said.
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
