//! What a golem sends its siblings: a word, and what goes with it.

use life::Life;
use life::clade::{Died, News};
use life::grimoire::Entry;
use life::id::GolemId;
use life::world::Manifest;
use serde::{Deserialize, Serialize};

use crate::grimoire::bundle;
use crate::input::What;

/// Entries that one word catches up on: what an hour lets in from one sibling, twice.
const AT_ONCE: usize = 200;

/// One word of a golem's to its siblings. Whoever passes it on understands no more of it than whom it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parcel {
    pub from: GolemId,
    /// Its words are numbered, and each counts once.
    pub number: u64,
    pub news: News,
    /// What it has found out, one line of a bundle each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Where it died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died: Option<Died>,
}

impl Parcel {
    /// A word that is owed, with what goes with it.
    pub fn of<'a>(life: &Life, entries: impl Iterator<Item = &'a Entry>, number: u64, news: News) -> Parcel {
        let told = entries.filter(|entry| matches!(news, News::Knowledge { .. }) && entry.shared == Some(number));
        let features = || life.birth().world.features.iter().cloned().zip(life.knowing().moves.last.iter().copied());
        let died = (news == News::Death).then(|| Died { regime: life.regimes().now, features: features().collect() });
        Parcel { from: life.id(), number, news, lines: lines(told, life), died }
    }

    /// What it has told since the word of this number, the surest of it, for a sibling that was not there to hear it.
    pub fn since<'a>(life: &Life, entries: impl Iterator<Item = &'a Entry>, heard: u64) -> Option<Parcel> {
        let told = |entry: &&Entry| entry.shared.is_some_and(|number| number > heard);
        let mut told: Vec<&Entry> = entries.filter(told).collect();
        told.sort_by(|a, b| b.confidence(life.now()).total_cmp(&a.confidence(life.now())).then(a.id.cmp(&b.id)));
        let lines = lines(told.into_iter().take(AT_ONCE), life);
        let news = News::Knowledge { entries: lines.len() as u32 };
        (!lines.is_empty()).then(|| Parcel { from: life.id(), number: life.clade().taught, news, lines, died: None })
    }

    /// Whether a golem can have said this.
    pub fn is_sound(&self) -> bool {
        match self.news {
            News::Crisis { load, .. } => (0.0..=1.0).contains(&load),
            News::Death | News::Regime { .. } | News::Knowledge { .. } => true,
        }
    }

    /// What a golem of this world hears of it, apart from its lines.
    pub fn heard_in(&self, world: &Manifest) -> What {
        let stain = self.died.as_ref().map(|died| Box::new(died.seen_by(world)));
        What::Heard { from: self.from, number: self.number, news: self.news, stain }
    }
}

fn lines<'a>(entries: impl Iterator<Item = &'a Entry>, life: &Life) -> Vec<String> {
    let line = |entry| serde_json::to_string(&bundle::export(entry, life)).expect("a line is plain data");
    entries.map(line).collect()
}
