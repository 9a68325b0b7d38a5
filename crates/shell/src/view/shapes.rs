//! Descriptions of answers whose types belong to the core, which knows of no API. Only the API's document is made of
//! these; clients generated from it show that they are true.
#![allow(dead_code)]

use utoipa::ToSchema;

/// A question that waits for the owner's yes or no.
#[derive(Debug, ToSchema)]
pub struct Ask {
    /// The key that an answer must name.
    key: u64,
    action: String,
    /// Millionths of a unit.
    units: i64,
    unit: String,
    /// The most it may cost, in micro-USDC.
    most: i64,
    #[schema(value_type = Option<Object>)]
    quote: Option<()>,
    /// World time at which silence becomes a no, in milliseconds.
    until: u64,
}

/// Calls and cost at one model.
#[derive(Debug, ToSchema)]
pub struct Called {
    model: String,
    calls: u64,
    input: u64,
    output: u64,
    /// In micro-USDC.
    cost: i64,
    /// Tokens in that were read from a cache or written to one, and tokens out that were thoughts.
    cached: u64,
    written: u64,
    thought: u64,
}

/// Calls of an agent that are stopped until an owner says yes.
#[derive(Debug, ToSchema)]
pub struct Hold {
    /// The key that a yes must name.
    key: u64,
    /// alike, fan or pace.
    by: String,
    times: u32,
    /// The most those calls were to cost, in micro-USDC.
    sum: i64,
    /// World time, in milliseconds.
    since: u64,
}

/// Pleasure, arousal, dominance, each from -1 to 1.
#[derive(Debug, ToSchema)]
pub struct Pad {
    pleasure: f64,
    arousal: f64,
    dominance: f64,
}

/// One piece of knowledge.
#[derive(Debug, ToSchema)]
pub struct Entry {
    id: u64,
    /// insight, heuristic, warning, causal_link, strategy_fragment or question.
    kind: String,
    text: String,
    /// structural, regime_conditional, tactical or ephemeral.
    class: String,
    /// candidate, active, dormant or archived.
    status: String,
    initial: f64,
    evidence_for: f64,
    evidence_against: f64,
    /// World time, in milliseconds.
    born: u64,
    validated_at: u64,
    dream_validated: bool,
    bloodstain: bool,
    quality: f64,
    strength: f64,
    retrievals: u32,
}

/// A place in a line of descent.
#[derive(Debug, ToSchema)]
struct Ancestry {
    generation: u32,
    lineage: String,
    parent: Option<String>,
}

/// A life in figures.
#[derive(Debug, ToSchema)]
struct Statistics {
    ticks: u64,
    age_seconds: u64,
    episodes: u64,
    claims: u64,
    actions: u64,
    refusals: u64,
    nights: u64,
    dreams_borne_out: u64,
    skill: f64,
    highest_skill: f64,
    lowest_skill: f64,
    /// Change of the capital, as a share, beside holding throughout.
    returned: f64,
    held: f64,
    books: Books,
    load: f64,
}

/// Money given, where it went and what came back, in micro-USDC.
#[derive(Debug, ToSchema)]
struct Books {
    given: Both,
    earned: i64,
    fees: i64,
    spent: i64,
    gas: i64,
    harvested: i64,
    returned: Both,
    left: Both,
    unrealised: i64,
    net: i64,
}

#[derive(Debug, ToSchema)]
struct Both {
    credit: i64,
    capital: i64,
}

#[derive(Debug, ToSchema)]
struct Section {
    title: String,
    lines: Vec<String>,
}

/// The testament of a dead golem, in words.
#[derive(Debug, ToSchema)]
pub struct Testament {
    version: u32,
    name: String,
    id: String,
    ancestry: Ancestry,
    /// World time, in milliseconds.
    born: u64,
    died: u64,
    /// One key, which is the cause, and under it the evidence.
    #[schema(value_type = Object)]
    cause: (),
    cause_in_words: String,
    statistics: Statistics,
    sections: Vec<Section>,
    /// Cost of the agent's calls, by model.
    #[schema(required = false)]
    calls: Vec<Called>,
    /// Billed beyond all that it had, in micro-USDC.
    #[schema(required = false)]
    unpaid: i64,
    recommendations: Vec<String>,
    switches: Vec<String>,
    /// With it every roll of this life can be checked.
    secret: String,
    secret_hash: String,
    /// The number of the record this was written after.
    records: u64,
    /// The hash of the journal up to it.
    journal: String,
}
