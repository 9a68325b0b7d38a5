//! The knowledge of a golem, in words.

use golem::Life;
use golem::grimoire::Entry;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::figures::{date, rounded};
use super::portrait::Row;
use super::shapes;

/// Something a golem knows, as the result of a search.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Hit {
    /// How well it fits the query.
    pub score: f64,
    /// How sure it is of it now.
    pub confidence: f64,
    /// The text of the entry; in quotation marks if another golem said it.
    pub says: String,
    /// Everything else there is to know about it.
    pub told: Vec<Row>,
    #[schema(value_type = shapes::Entry)]
    pub entry: Entry,
}

impl Hit {
    pub fn of(score: f64, entry: Entry, life: &Life) -> Hit {
        let (says, told) = (says(&entry, life), rows(&entry, life));
        Hit { score, confidence: entry.confidence(life.now()), says, told, entry }
    }
}

/// The text of an entry; another's words are put in quotation marks.
pub fn says(entry: &Entry, life: &Life) -> String {
    let own = entry.provenance.sources.iter().any(|source| source.golem == life.id());
    let text = rounded(&entry.text);
    if own { text } else { format!("\"{text}\"") }
}

/// Rows on an entry: how sure the golem is of it, why, and its sources.
pub fn rows(entry: &Entry, life: &Life) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut row = |about: &str, says: String| rows.push(Row { about: about.to_owned(), says });
    row("confidence", format!("{:.2} now, began with {:.2}", entry.confidence(life.now()), entry.initial));
    row("evidence", format!("{:.1} for, {:.1} against", entry.evidence_for, entry.evidence_against));
    let regime = entry.regime.map_or("any regime".to_owned(), |regime| format!("learned in {regime}"));
    row("state", format!("{}, {}, {regime}", plain(&entry.status), plain(&entry.class)));
    for source in &entry.provenance.sources {
        let who = if source.golem == life.id() { "itself".to_owned() } else { source.golem.to_string() };
        row("from", format!("{who}, generation {}, {}", source.generation, plain(&source.how)));
    }
    match entry.provenance.crossings {
        0 => {}
        1 => row("crossed", "one death".to_owned()),
        several => row("crossed", format!("{several} deaths")),
    }
    row("since", format!("{}, last borne out {}", date(entry.born), date(entry.validated_at)));
    let half = entry.class.half_life().map_or("not by itself".to_owned(), |half| format!("by half every {half}"));
    let slower = match (entry.bloodstain, entry.dream_validated) {
        (true, _) => "; learned in dying, so at a third of the speed",
        (_, true) => "; confirmed by a dream, so at half the speed",
        _ => "",
    };
    row("fades", half + slower);
    if !entry.contradicts.is_empty() {
        let ids: Vec<String> = entry.contradicts.iter().map(u64::to_string).collect();
        row("against", ids.join(", "));
    }
    let (quality, strength) = (entry.quality, entry.strength);
    row("quality", format!("{quality:.2}, strength {strength:.1}, recalled {} times", entry.retrievals));
    rows
}

/// A name as the wire has it, readable.
fn plain(value: &impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or("?").replace('_', " ")
}
