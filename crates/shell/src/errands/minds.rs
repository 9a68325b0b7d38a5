//! Models: the client under each name, and the questions under way. A question goes out once, on a thread that nothing
//! waits for; the golem goes on, and finds the answer when it has come. Its cost comes with it: as counted, or
//! all that was set aside if it cannot be counted.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use golem::thought::{self, Answer, Prompt, Question, Silence};
use golem::world::Manifest;
use golem::{Usdc, What};
use mind::{Chat, ChatConfig, ChatRequest};
use settings::Prices;
use tariff::Named;

use super::async_world::Waker;
use super::health::Health;
use super::question_log::{self, Keep, KeptQuestion};
use super::slots::{Errands, TurnCame};
use crate::locks::lock;

/// How long a model has to answer, whatever its golem would wait.
const LONGEST: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 120 });
/// How long a question waits for its turn. A question that has had none by then was not asked, and costs nothing.
const QUEUED: Duration = Duration::from_secs(60);

/// The models of one process.
#[derive(Debug, Default)]
pub struct Minds {
    errands: Arc<Errands>,
    health: Health,
    chats: Mutex<BTreeMap<String, Arc<Chat>>>,
}

impl Minds {
    pub(crate) fn new(errands: Arc<Errands>) -> Minds {
        Minds { errands, ..Minds::default() }
    }

    /// Health of the models.
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// The client of a model, opened when it is first asked.
    fn chat(&self, name: &str, prices: &Prices) -> Result<Arc<Chat>, mind::Error> {
        let mut chats = lock(&self.chats);
        if let Some(chat) = chats.get(name) {
            return Ok(Arc::clone(chat));
        }
        let named = Named::parse(name)?;
        let config = ChatConfig { price: Some(prices.of(&named)?), named, timeout: LONGEST, allow_plain_http: false };
        let chat = Arc::new(Chat::open(&config)?);
        chats.insert(name.to_owned(), Arc::clone(&chat));
        Ok(chat)
    }
}

/// The owner's settings for models.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    /// Prices of the models.
    pub(crate) prices: Prices,
    /// Questions to one provider at once.
    pub(crate) slots: usize,
    pub(crate) keep: Keep,
}

/// The questions of one life.
pub(crate) struct Thinking {
    minds: Arc<Minds>,
    asking: Asking,
    state: Mutex<MindsState>,
    news: Condvar,
}

#[derive(Default)]
struct MindsState {
    /// Questions by key; with the answer, once it has come.
    questions: BTreeMap<u64, Option<What>>,
    waker: Option<Waker>,
}

impl Thinking {
    pub(crate) fn new(minds: Arc<Minds>, asking: Asking) -> Arc<Thinking> {
        Arc::new(Thinking { minds, asking, state: Mutex::default(), news: Condvar::new() })
    }

    /// Sets the callback for the moment when an answer has come.
    pub(crate) fn wakes(&self, waker: Waker) {
        self.state().waker = Some(waker);
    }

    /// The answer to a question, if it has come; the question is sent, if it was not yet.
    pub(crate) fn ask(
        self: &Arc<Thinking>,
        question: &Question,
        model: Option<&str>,
        world: &Manifest,
        prompt: impl FnOnce() -> Result<(Prompt, Vec<u64>), crate::Error>,
    ) -> Result<Option<What>, crate::Error> {
        let key = question.key;
        let mut state = self.state();
        if let Some(known) = state.questions.get_mut(&key) {
            let answer = known.take();
            if answer.is_some() {
                state.questions.remove(&key);
            }
            return Ok(answer);
        }
        let silent = |said, cost| What::Answered { key, cost, said: Err(said) };
        let Some(model) = model else { return Ok(Some(silent(Silence::Unknown, Usdc::ZERO))) };
        let chat = match self.minds.chat(model, &self.asking.prices) {
            Ok(chat) => chat,
            Err(why) => {
                tracing::warn!(model, %why, "cannot be asked");
                self.minds.health.failed(model, &why.to_string(), Instant::now());
                return Ok(Some(silent(silence(&why), Usdc::ZERO)));
            }
        };
        state.questions.insert(key, None);
        drop(state);
        let (this, prompt, question, world) = (Arc::clone(self), prompt()?, question.clone(), world.clone());
        let provider = model.split('/').next().unwrap_or(model).to_owned();
        self.minds.errands.run_within(
            &format!("model {provider}"),
            self.asking.slots,
            Some(QUEUED),
            move |served| {
                let most = question.most;
                let what = match served {
                    TurnCame::Never => What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Busy) },
                    TurnCame::Now => {
                        let answer = catch_unwind(AssertUnwindSafe(|| this.put(&chat, &question, &prompt, &world)));
                        answer.unwrap_or_else(|_| What::Answered { key, cost: most, said: Err(Silence::Unusable) })
                    }
                };
                this.came(key, what);
            },
        )?;
        Ok(None)
    }

    /// Asks, reads what comes back, and keeps both as they were.
    fn put(&self, chat: &Chat, question: &Question, (prompt, shown): &(Prompt, Vec<u64>), world: &Manifest) -> What {
        let ask = ChatRequest {
            system: &prompt.system,
            user: &prompt.user,
            schema: &prompt.schema,
            most: u64::try_from(question.most.as_micros()).unwrap_or(0),
            tokens: question.purpose.tokens(),
            temperature: prompt.temperature,
            within: LONGEST,
        };
        let key = question.key;
        let mut kept = KeptQuestion {
            at: 0,
            key,
            purpose: question.purpose.name().to_owned(),
            model: chat.name().to_owned(),
            asked: question_log::hash(&format!("{}\n{}", prompt.system, prompt.user)),
            system: prompt.system.clone(),
            user: prompt.user.clone(),
            heard: String::new(),
            answer: String::new(),
            tokens: None,
            cost: 0,
            why: String::new(),
        };
        let what = match chat.ask(&ask) {
            Ok(said) => {
                self.minds.health.answered(chat.name());
                let cost = Usdc::micros(i64::try_from(said.cost).unwrap_or(i64::MAX)).min(Usdc::MOST);
                let heard = question_log::hash(&said.text);
                let read = thought::read(&said.text, question.purpose, world).map(|mut answer| {
                    // An answer may cite only records that it was shown.
                    answer.cites.retain(|record| shown.contains(record));
                    Box::new(Answer { heard: heard.clone(), used: said.used, ..answer })
                });
                (kept.heard, kept.answer, kept.tokens) = (heard, said.text, said.used);
                let said = read.map_err(|why| {
                    tracing::debug!(model = chat.name(), %why, "an answer cannot be used");
                    kept.why = why.to_string();
                    Silence::Unusable
                });
                What::Answered { key, cost, said }
            }
            Err(why) => {
                tracing::warn!(model = chat.name(), %why, "no answer");
                kept.why = why.to_string();
                self.minds.health.failed(chat.name(), &kept.why, Instant::now());
                let cost = if why.may_have_cost() { question.most } else { Usdc::ZERO };
                What::Answered { key, cost, said: Err(silence(&why)) }
            }
        };
        if let What::Answered { cost, .. } = &what {
            kept.cost = u64::try_from(cost.as_micros()).unwrap_or(0);
        }
        self.asking.keep.keep(kept);
        what
    }

    /// Forgets questions that are not open any more: they are settled, and their answers are not needed.
    pub(crate) fn keep_only(&self, is_open: impl Fn(u64) -> bool) {
        self.state().questions.retain(|key, _| is_open(*key));
    }

    fn came(&self, key: u64, what: What) {
        let mut state = self.state();
        let Some(place) = state.questions.get_mut(&key) else { return };
        *place = Some(what);
        let waker = state.waker.clone();
        drop(state);
        self.news.notify_all();
        if let Some(wake) = waker {
            wake();
        }
    }

    /// Whether a question is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.state().questions.values().any(Option::is_none)
    }

    pub(crate) fn has_news(&self) -> bool {
        self.state().questions.values().any(Option::is_some)
    }

    /// Waits for an answer, at most so long.
    pub(crate) fn wait(&self, most: Duration) {
        let state = self.state();
        if state.questions.values().all(Option::is_none) {
            drop(self.news.wait_timeout(state, most));
        }
    }

    fn state(&self) -> MutexGuard<'_, MindsState> {
        lock(&self.state)
    }
}

/// The meaning of a client's error for a golem.
fn silence(why: &mind::Error) -> Silence {
    use mind::Error;
    match why {
        Error::Unreachable { .. } => Silence::Down,
        Error::Busy { .. } => Silence::Busy,
        Error::Slow { .. } => Silence::Slow,
        Error::Failed { .. } | Error::Cut { .. } => Silence::Failed,
        Error::TooDear { .. } => Silence::TooDear,
        Error::Unknown { .. } | Error::Tariff(tariff::Error::Unpriced { .. }) => Silence::Unknown,
        Error::Nonsense { .. } => Silence::Unusable,
        _ => Silence::Refused,
    }
}

impl std::fmt::Debug for Thinking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thinking").field("under_way", &self.state().questions.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_nobody_waits_for_any_more_is_no_news() {
        let keep = Keep { folder: std::path::PathBuf::new(), days: 0 };
        let thinking = Thinking::new(Arc::default(), Asking { prices: Prices::default(), slots: 1, keep });
        let answer = |key| What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Slow) };
        thinking.state().questions.extend([(1, None), (2, None), (3, None)]);
        thinking.came(1, answer(1));
        assert!(thinking.has_news() && thinking.is_busy());
        thinking.keep_only(|key| key == 3);
        assert!(!thinking.has_news() && thinking.is_busy(), "the third is under way");
        thinking.came(2, answer(2));
        assert!(!thinking.has_news(), "it came after its time");
        thinking.came(3, answer(3));
        assert!(thinking.has_news() && !thinking.is_busy());
    }
}
