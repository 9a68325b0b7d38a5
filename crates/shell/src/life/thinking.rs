//! A life that asks models: the context it shows beside its own state, and where its answers are waited for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::grimoire::{Entry, Grimoire};
use golem::thought::{self, Prompt, Purpose, Question};
use golem::{Life, What, dream};
use settings::{File, Prices, Settings};
use vault::Reader;

use super::body::Body;
use super::listener::Listener;
use super::living::Living;
use crate::Error;
use crate::errands::{Asking, Keep, Thinking};
use crate::home::inbox;
use crate::legacy::testament;
use crate::view::narrator::Narrator;

/// Entries shown to a model.
const RECALLED: usize = 12;
/// The least confidence of an entry that is shown.
const BELIEVED: f64 = 0.3;
/// The weight of a word in common beside a point of confidence.
const IN_COMMON: f64 = 0.5;
/// Records shown to the model that answers an owner, and how many of the newest they are picked from.
const RECORDS: usize = 20;
const LATELY: u64 = 2_000;
/// Letters of a record in words.
const RECORD: usize = 160;

impl Body {
    /// The answer to a question, if it has come.
    pub(super) fn think(&mut self, life: &Life, key: u64) -> Result<Option<What>, Error> {
        let Some(question) = life.thoughts().find(key) else { return Ok(None) };
        let thinking = Arc::clone(self.thinking()?);
        let model = thought::model(life, question);
        thinking.ask(question, model, &life.birth().world, || self.prompt(life, question))
    }

    /// A question in words, and the records it shows.
    fn prompt(&mut self, life: &Life, question: &Question) -> Result<(Prompt, Vec<u64>), Error> {
        let mut shown = Vec::new();
        let recalled = match question.purpose {
            purpose if purpose.is_nightly() => self.tonight(life)?,
            Purpose::Reflect => {
                let grimoire = self.known()?;
                testament::lines(&self.place, life, &grimoire, &self.secret)?
            }
            Purpose::Answer => {
                let records = self.lately()?;
                let lines = records.iter().map(|(seq, words)| format!("[{seq}] {words}"));
                let asked = question.owner.as_ref().map_or("", |(_, text)| text);
                let mut lines: Vec<String> = lines.collect();
                shown = records.into_iter().map(|(seq, _)| seq).collect();
                lines.extend(recalled(self.grimoire()?, life, asked));
                lines
            }
            _ => {
                let unusual = unusual(life, question);
                recalled(self.grimoire()?, life, &unusual)
            }
        };
        Ok((thought::prompt(life, question, &recalled), shown))
    }

    /// Entries of its memory that fit the moment.
    pub(super) fn recalled(&mut self, life: &Life) -> Result<Vec<String>, Error> {
        Ok(recalled(self.grimoire()?, life, ""))
    }

    fn grimoire(&mut self) -> Result<&Grimoire, Error> {
        if self.grimoire.is_none() {
            self.grimoire = Some(self.known()?);
        }
        let Some(grimoire) = &self.grimoire else { unreachable!("just read") };
        Ok(grimoire)
    }

    fn tonight(&mut self, life: &Life) -> Result<Vec<String>, Error> {
        self.remember(life)?;
        Ok(self.memory.as_ref().map(|memory| dream::told(memory, life)).unwrap_or_default())
    }

    /// The newest of its records that an owner would be told of, in words.
    fn lately(&mut self) -> Result<Vec<(u64, String)>, Error> {
        self.writing.carry_over(&self.place)?;
        let reader = Reader::open(&self.place.database())?;
        let (golem, mut from) = reader.before(reader.tip()?.seq.saturating_sub(LATELY))?;
        let (mut narrator, mut told) = (golem.map_or_else(Narrator::new, Narrator::after), Vec::new());
        reader.read_on(&mut from, u64::MAX, |record| {
            narrator.tell(&record, |message| {
                if !message.message.is_routine() {
                    let words = serde_json::to_string(&message.message).expect("a message is plain data");
                    told.push((message.seq, golem::plain::line(&words, RECORD)));
                }
            })
        })?;
        Ok(told.split_off(told.len().saturating_sub(RECORDS)))
    }

    fn thinking(&mut self) -> Result<&Arc<Thinking>, Error> {
        if self.thinking.is_none() {
            let home = self.place.home();
            // An order must work without settings. How long to keep words is not known then: none is kept.
            let (settings, days) = match home.settings() {
                Ok(settings) => {
                    let days = settings.integer("models.keep_days") as u64;
                    (settings, days)
                }
                Err(why) => {
                    tracing::warn!(%why, "settings cannot be read, so models are asked by the defaults");
                    (Settings::defaults(File::Bardo), 0)
                }
            };
            // Without prices, models that the book does not know are not asked, which is told then.
            let prices = home.prices().unwrap_or_else(|why| {
                tracing::warn!(%why, "prices of models cannot be read");
                Prices::default()
            });
            let keep = Keep { folder: self.place.thoughts(), days };
            let asking = Asking { prices, slots: settings.integer("models.slots") as usize, keep };
            let thinking = Thinking::new(Arc::clone(self.runtime.minds()), asking);
            self.waker.iter().for_each(|waker| thinking.wakes(Arc::clone(waker)));
            self.thinking = Some(thinking);
        }
        let Some(thinking) = &self.thinking else { unreachable!("just made") };
        Ok(thinking)
    }

    /// Whether its world or a model is being asked something.
    pub(super) fn is_busy(&self) -> bool {
        self.ground.is_busy() || self.is_thinking()
    }

    pub(super) fn is_thinking(&self) -> bool {
        self.thinking.as_ref().is_some_and(|thinking| thinking.is_busy())
    }

    pub(super) fn has_news(&self) -> bool {
        self.ground.has_news()
            || self.counter.has_news()
            || self.thinking.as_ref().is_some_and(|thinking| thinking.has_news())
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
    /// Tells processes that wait for the answer to a question of the owner's that it is in the record.
    pub(super) fn close_questions(&mut self) {
        let told = &self.golem.life().thoughts().told;
        let newest = told.last().map(|told| told.command);
        if newest != self.answered {
            told.iter().for_each(|told| inbox::close_question(&self.body.place, told.command));
            self.answered = newest;
        }
    }

    /// Tells which model it waits for, if it waits for one.
    pub(super) fn say_waits(&self, listener: &mut impl Listener) {
        let life = self.life();
        if let Some(question) = life.thoughts().open.first().filter(|_| self.body.is_thinking()) {
            listener.waits_for(thought::model(life, question).unwrap_or("a model"), life);
        }
    }

    /// Takes in the answers to its questions under way, for as long as there is patience: the next process to run it
    /// could only count them as paid for.
    pub(crate) fn settle_thoughts(&mut self, patience: Duration, listener: &mut impl Listener) -> Result<(), Error> {
        let until = Instant::now() + patience;
        while self.body.is_thinking() && Instant::now() < until {
            self.say_waits(listener);
            self.body.wait(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(100)));
            self.perform(listener)?;
        }
        if self.body.has_news() {
            self.perform(listener)?;
        }
        self.flush(listener)
    }
}

/// The unusual features of the moment of a question, in the words of its world.
fn unusual(life: &Life, question: &Question) -> String {
    let moves = &life.knowing().moves;
    let away = |at: usize| {
        let (mean, square) = (moves.mean.get(at).copied().unwrap_or(0.0), moves.square.get(at).copied().unwrap_or(0.0));
        question.seen.get(at).is_some_and(|value| (value - mean) * (value - mean) > square)
    };
    let names = life.birth().world.features.iter().enumerate().filter(|(at, _)| away(*at));
    names.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" ")
}

fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|word| word.chars().count() > 2).map(str::to_lowercase).collect()
}

/// Entries it believes that fit the present: first those that have most in common with the question, then the surest.
fn recalled(grimoire: &Grimoire, life: &Life, about: &str) -> Vec<String> {
    let about = words(about);
    // Rules of the playbook are told beside their record, so they are left out here.
    let elsewhere = |entry: &Entry| life.playbook().iter().all(|rule| rule.id != entry.id);
    let here = |entry: &Entry| entry.regime.is_none_or(|regime| regime == life.regimes().now);
    let fits = |entry: &&Entry| here(entry) && elsewhere(entry);
    let weigh = |entry: &Entry| {
        let confidence = entry.confidence(life.now());
        let common = if about.is_empty() { 0 } else { words(&entry.text).intersection(&about).count() } as f64;
        (confidence + IN_COMMON * common, confidence)
    };
    let mut known: Vec<((f64, f64), &Entry)> =
        grimoire.in_use().filter(fits).map(|entry| (weigh(entry), entry)).collect();
    known.retain(|((_, confidence), _)| *confidence >= BELIEVED);
    known.sort_by(|a, b| b.0.0.total_cmp(&a.0.0).then(a.1.id.cmp(&b.1.id)));
    known.iter().take(RECALLED).map(|((_, confidence), entry)| format!("{} ({confidence:.2})", entry.text)).collect()
}
