//! A life that asks models: what it remembers that may bear on a question, and where its answers are waited for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::grimoire::{Entry, Grimoire};
use golem::{Life, What, thought};

use super::body::Body;
use super::listener::Listener;
use super::living::Living;
use super::turn::PATIENCE;
use crate::Error;
use crate::errands::Thinking;

/// Entries shown to a model.
const RECALLED: usize = 12;
/// What is believed less is not shown.
const BELIEVED: f64 = 0.3;

impl Body {
    /// The answer to a question, if it has come.
    pub(super) fn think(&mut self, life: &Life, key: u64) -> Result<Option<What>, Error> {
        let Some(question) = life.thoughts.find(key) else { return Ok(None) };
        let thinking = Arc::clone(self.thinking()?);
        let model = life.constitution().thought.model(question.tier);
        if self.grimoire.is_none() {
            self.grimoire = Some(self.known()?);
        }
        let recalled = || self.grimoire.as_ref().map(|grimoire| recalled(grimoire, life)).unwrap_or_default();
        thinking.ask(question, model, &life.birth.world, || thought::prompt(life, question, &recalled()))
    }

    fn thinking(&mut self) -> Result<&Arc<Thinking>, Error> {
        if self.thinking.is_none() {
            let home = self.place.home();
            // Without them whatever the book does not know is not asked, which is told then.
            let prices = home.settings()?.prices().unwrap_or_else(|why| {
                tracing::warn!(%why, "models.prices cannot be read");
                BTreeMap::new()
            });
            let thinking = Thinking::new(Arc::clone(home.minds()), prices);
            self.waker.iter().for_each(|waker| thinking.wakes(Arc::clone(waker)));
            self.thinking = Some(thinking);
        }
        let Some(thinking) = &self.thinking else { unreachable!("just made") };
        Ok(thinking)
    }

    /// Its world or a model is being asked something.
    pub(super) fn is_busy(&self) -> bool {
        self.ground.is_busy() || self.is_thinking()
    }

    fn is_thinking(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| thinking.is_busy())
    }

    pub(super) fn has_news(&self) -> bool {
        self.ground.has_news() || self.thinking.as_ref().is_some_and(|thinking| thinking.has_news())
    }

    /// Waits for an answer, at most so long.
    pub(super) fn wait(&self, most: Duration) {
        match &self.thinking {
            Some(thinking) if !self.ground.is_busy() => thinking.wait(most),
            _ => self.ground.wait(most),
        }
    }
}

impl Living {
    /// Takes what its questions under way come to, for as long as there is patience: whoever lives it next could only
    /// count them as paid for.
    pub(super) fn settle_thoughts(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        let until = Instant::now() + PATIENCE;
        while self.body.is_thinking() && Instant::now() < until {
            self.body.wait(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(100)));
            self.perform(listener)?;
        }
        if self.body.has_news() {
            self.perform(listener)?;
        }
        self.flush(listener)
    }
}

/// What it holds to be so that fits the present, surest first.
fn recalled(grimoire: &Grimoire, life: &Life) -> Vec<String> {
    // What it goes by is told beside what it has to show.
    let elsewhere = |entry: &Entry| life.playbook.iter().all(|rule| rule.id != entry.id);
    let here = |entry: &Entry| entry.regime.is_none_or(|regime| regime == life.regimes.now);
    let fits = |entry: &&Entry| here(entry) && elsewhere(entry);
    let mut known: Vec<(f64, &Entry)> =
        grimoire.in_use().filter(fits).map(|entry| (entry.confidence(life.now), entry)).collect();
    known.retain(|(confidence, _)| *confidence >= BELIEVED);
    known.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
    known.iter().take(RECALLED).map(|(confidence, entry)| format!("{} ({confidence:.2})", entry.text)).collect()
}
