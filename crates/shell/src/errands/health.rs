//! Which models answer. Very many golems may ask the same one; its owner is told once that it does not answer, and once
//! that it does again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::locks::lock;

/// Questions in a row, of any golem, that got no answer before it is news.
const IN_A_ROW: u32 = 3;
/// The least time without an answer before it is news.
const FOR: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub struct Health {
    models: Mutex<BTreeMap<String, Model>>,
}

#[derive(Debug, Default)]
struct Model {
    failed: u32,
    /// Since when it has not answered, and why the last time.
    since: Option<(Instant, String)>,
    told: bool,
    /// How often it was news, so that the next has another key.
    times: u64,
    news: Vec<News>,
}

/// News of a model for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// Equal for equal news.
    pub key: String,
    pub text: String,
}

impl Health {
    pub(super) fn answered(&self, model: &str) {
        self.with(model, |known| {
            if std::mem::take(&mut known.told) {
                let key = format!("model:{model}:{}:back", known.times);
                known.news.push(News { key, text: format!("the model {model} answers again") });
            }
            (known.failed, known.since) = (0, None);
        });
    }

    pub(super) fn failed(&self, model: &str, why: &str, now: Instant) {
        self.with(model, |known| {
            known.failed += 1;
            let since = known.since.as_ref().map_or(now, |(since, _)| *since);
            known.since = Some((since, why.to_owned()));
            if !known.told && known.failed >= IN_A_ROW && now.saturating_duration_since(since) >= FOR {
                known.told = true;
                known.times += 1;
                let key = format!("model:{model}:{}:away", known.times);
                let text = format!(
                    "the model {model} does not answer ({why}); golems that ask it use their own rules until it does. `bardo doctor` tests it"
                );
                known.news.push(News { key, text });
            }
        });
    }

    /// News that has not been told yet.
    pub fn news(&self) -> Vec<News> {
        let mut models = lock(&self.models);
        models.values_mut().flat_map(|model| std::mem::take(&mut model.news)).collect()
    }

    fn with(&self, model: &str, change: impl FnOnce(&mut Model)) {
        let mut models = lock(&self.models);
        change(models.entry(model.to_owned()).or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_does_not_answer_is_told_of_once_and_once_when_it_does_again() {
        let (health, began) = (Health::default(), Instant::now());
        let fails =
            |seconds: u64| health.failed("ollama/x", "connection refused", began + Duration::from_secs(seconds));
        (0..100).for_each(|_| fails(1));
        assert_eq!(health.news(), [], "a moment is no news");
        (0..1_000).for_each(|n| fails(21 + n));
        let told = health.news();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].text.contains("ollama/x") && told[0].text.contains("connection refused"));
        (0..3).for_each(|_| health.answered("ollama/x"));
        let back = health.news();
        assert_eq!(back.len(), 1, "{back:?}");
        (2_000..2_100).for_each(fails);
        let again = health.news();
        assert_eq!(again.len(), 1);
        assert_ne!(again[0].key, told[0].key, "another time is other news");
        health.answered("ollama/y");
        assert_eq!(health.news(), [], "it was never missing");
    }
}
