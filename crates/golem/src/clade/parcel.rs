//! Parcels that a golem sends its siblings: a word, and what goes with it.

use life::Life;
use life::clade::{Died, News};
use life::grimoire::Entry;
use life::id::GolemId;
use life::world::Manifest;
use serde::{Deserialize, Serialize};

use crate::grimoire::bundle;
use crate::input::What;

/// Entries that one word catches up on: twice what an hour lets in from one sibling.
const AT_ONCE: usize = 200;

/// One word of a golem's to its siblings. A relay that passes it on reads no more of it than whom it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parcel {
    pub from: GolemId,
    /// The number of the word among its sender's; each counts once.
    pub number: u64,
    pub news: News,
    /// Entries that its sender has found out, one line of a bundle each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// The place of its sender's death.
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

    /// The surest entries it has told since the word of this number, for a sibling that was not there to hear them.
    pub fn since<'a>(life: &Life, entries: impl Iterator<Item = &'a Entry>, heard: u64) -> Option<Parcel> {
        let told = |entry: &&Entry| entry.shared.is_some_and(|number| number > heard);
        let mut told: Vec<&Entry> = entries.filter(told).collect();
        told.sort_by(|a, b| b.confidence(life.now()).total_cmp(&a.confidence(life.now())).then(a.id.cmp(&b.id)));
        let lines = lines(told.into_iter().take(AT_ONCE), life);
        let news = News::Knowledge { entries: lines.len() as u32 };
        (!lines.is_empty()).then(|| Parcel { from: life.id(), number: life.clade().taught, news, lines, died: None })
    }

    /// Whether a golem can have sent this.
    pub fn is_sound(&self) -> bool {
        match self.news {
            News::Crisis { load, .. } => (0.0..=1.0).contains(&load),
            News::Death | News::Regime { .. } | News::Knowledge { .. } => true,
        }
    }

    /// The input that a golem of this world gets from the parcel, apart from its lines.
    pub fn heard_in(&self, world: &Manifest) -> What {
        let stain = self.died.as_ref().map(|died| Box::new(died.seen_by(world)));
        What::Heard { from: self.from, number: self.number, news: self.news, stain }
    }
}

fn lines<'a>(entries: impl Iterator<Item = &'a Entry>, life: &Life) -> Vec<String> {
    let line = |entry| serde_json::to_string(&bundle::export(entry, life)).expect("a line is plain data");
    entries.map(line).collect()
}
