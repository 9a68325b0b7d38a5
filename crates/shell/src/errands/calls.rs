//! Where calls of a golem's agent are let through and settled. Whoever makes them waits here; whoever lives the golem comes
//! by, sets aside what each can cost, and lets it go once that is durable.
//!
//! A call that is under way is known here and nowhere else: one that Life has open and that nobody here knows was made by a
//! process that is no more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use golem::call::{Denied, How, Kinds, Left, Unit, Used};
use golem::mortality::phase::{Phase, Tier};
use golem::{Name, Usdc};
use tariff::Price;
use tokio::sync::{oneshot, watch};

use super::far::Waker;
use super::heard::{CallSum, Heard};

/// What a call can come to: an upper bound of what goes in, and how much may come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub price: Price,
    /// Tokens, never too few.
    pub input: u64,
    /// Tokens of one answer, at most.
    pub output: u64,
    /// Answers.
    pub answers: u64,
    /// Fewer tokens than this are no answer.
    pub fewest: u64,
}

/// A call that somebody would make.
#[derive(Debug)]
pub struct Wanted {
    pub bound: Bound,
    pub tier: Tier,
    /// By what it would be known if it were made again.
    pub again: Option<u64>,
    /// By what calls that ask the same are known.
    pub alike: u64,
    /// Tokens of its bound that are only as many as bytes, and would be counted if that matters.
    pub rough: u64,
    pub reply: oneshot::Sender<Verdict>,
}

/// Whether it may be made.
#[derive(Debug)]
pub enum Verdict {
    /// So much is set aside, durably; an answer may have so many tokens.
    Granted {
        grant: Grant,
        tokens: u64,
        most: Usdc,
        stands: Stands,
    },
    /// What stands in it as bytes is more than it should be of what is left: it is to be counted first. Nothing was decided.
    Rough,
    /// There will be room for it when calls under way are settled, which come to less than was set aside for them.
    Later {
        lacks: Lacks,
    },
    Denied {
        by: Denied,
        cause: Option<String>,
        lacks: Lacks,
        stands: Stands,
    },
}

/// What a call needs, and what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lacks {
    /// Of what else than money, in micro-dollars.
    pub of: Option<Unit>,
    /// With the shortest answer that is worth its question.
    pub needs: u64,
    pub free: u64,
    /// Set aside for so many calls under way.
    pub aside: u64,
    pub by: usize,
}

impl Lacks {
    pub fn of_money(needs: Usdc, free: Usdc, aside: Usdc, by: usize) -> Lacks {
        let micros = |sum: Usdc| u64::try_from(sum.as_micros()).unwrap_or(0);
        Lacks { of: None, needs: micros(needs), free: micros(free), aside: micros(aside), by }
    }

    /// There is enough of it once calls under way have given back what they do not use, if not now.
    pub fn passes(&self) -> bool {
        self.needs <= self.free || (self.by > 0 && self.needs <= self.free.saturating_add(self.aside))
    }
}

impl fmt::Display for Lacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let money = |n: u64| Usdc::micros(i64::try_from(n).unwrap_or(i64::MAX)).to_string();
        let amount = |n: u64| self.of.map_or_else(|| money(n), |unit| unit.amount(n).to_string());
        let (needs, free, aside) = (amount(self.needs), amount(self.free), amount(self.aside));
        match self.of {
            None => write!(f, "it may cost {needs}, {free} is free")?,
            Some(Unit::Hours) => return write!(f, "{free} are left"),
            Some(_) => write!(f, "it may take {needs}, {free} are free")?,
        }
        let are = if self.of.is_some() { "are" } else { "is" };
        match self.by {
            0 => Ok(()),
            1 => write!(f, ", {aside} {are} set aside for a call under way"),
            by => write!(f, ", {aside} {are} set aside for {by} calls under way"),
        }
    }
}

/// The right to make one call. Where nobody takes it up, nobody was asked and nothing was spent.
#[derive(Debug)]
pub struct Grant {
    pub key: u64,
    counter: Option<Arc<Counter>>,
}

impl Grant {
    fn new(key: u64, counter: &Arc<Counter>) -> Grant {
        Grant { key, counter: Some(Arc::clone(counter)) }
    }

    /// From here on somebody else sees to it that it is settled.
    pub fn taken(mut self) -> u64 {
        self.counter = None;
        self.key
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if let Some(counter) = self.counter.take() {
            let (cost, used, kinds) = (Usdc::ZERO, Used::default(), Kinds::default());
            counter.settle(Done { key: self.key, cost, how: How::Nothing, used, kinds });
        }
    }
}

/// How the golem stands, for whoever has to plan with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stands {
    pub phase: Phase,
    /// What is left for calls and promised to nobody; of one that is let through, before anything was set aside for it.
    pub left: Left,
    /// The same in tokens and in calls, where they are capped.
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub key: u64,
    pub cost: Usdc,
    pub how: How,
    pub used: Used,
    pub kinds: Kinds,
}

/// The counters of a home, one for each golem that was called for.
#[derive(Debug, Default)]
pub struct Counters(Mutex<BTreeMap<Name, Arc<Counter>>>);

impl Counters {
    pub fn of(&self, name: &Name) -> Arc<Counter> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(name.clone()).or_default())
    }
}

/// One golem's.
#[derive(Default)]
pub struct Counter {
    state: Mutex<State>,
    /// Raised when whatever is under way is to end.
    cut: watch::Sender<u64>,
    /// Raised when a call has been settled on record, which leaves more for others.
    freed: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    /// How many live the golem: none or one, and for a moment two.
    lived: u32,
    wanted: Vec<Wanted>,
    done: Vec<Done>,
    under_way: BTreeSet<u64>,
    waker: Option<Waker>,
    /// Refusals that are not on record yet, by what they were for, and since when there are any.
    unsaid: Vec<(Denied, u32)>,
    unsaid_since: Option<Instant>,
    heard: Heard,
}

impl Counter {
    /// Asks for a call to be let through; whether there is somebody to ask, who lives the golem.
    pub fn ask(&self, wanted: Wanted) -> bool {
        let mut state = self.state();
        if state.lived == 0 {
            return false;
        }
        state.wanted.push(wanted);
        let waker = state.waker.clone();
        drop(state);
        waker.into_iter().for_each(|wake| wake());
        true
    }

    /// Says what a call came to.
    pub fn settle(&self, done: Done) {
        let mut state = self.state();
        state.done.push(done);
        let waker = state.waker.clone();
        drop(state);
        waker.into_iter().for_each(|wake| wake());
    }

    /// Somebody who makes calls is told when they are to end.
    pub fn cuts(&self) -> watch::Receiver<u64> {
        self.cut.subscribe()
    }

    /// Whatever is under way ends.
    pub(crate) fn cut(&self) {
        self.cut.send_modify(|times| *times += 1);
    }

    pub(crate) fn take(&self) -> (Vec<Wanted>, Vec<Done>) {
        let mut state = self.state();
        (std::mem::take(&mut state.wanted), std::mem::take(&mut state.done))
    }

    pub(crate) fn begin(&self, key: u64) {
        self.state().under_way.insert(key);
    }

    pub(crate) fn end(&self, key: u64) {
        self.state().under_way.remove(&key);
        self.freed.send_modify(|times| *times += 1);
    }

    /// Somebody who waits for others to be settled is told when one is.
    pub fn frees(&self) -> watch::Receiver<u64> {
        self.freed.subscribe()
    }

    pub(crate) fn knows(&self, key: u64) -> bool {
        self.state().under_way.contains(&key)
    }

    /// Whether anybody lives the golem.
    pub fn is_lived(&self) -> bool {
        self.state().lived > 0
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.state().under_way.is_empty()
    }

    /// What was refused and is not on record yet, if any of that has waited so long for it. It is whoever asks who puts it
    /// there.
    pub(crate) fn unsaid(&self, waited: Duration) -> Vec<(Denied, u32)> {
        let mut state = self.state();
        match state.unsaid_since {
            Some(since) if since.elapsed() >= waited => {
                state.unsaid_since = None;
                std::mem::take(&mut state.unsaid)
            }
            _ => Vec::new(),
        }
    }

    /// One more was refused for this, and no record says so.
    pub fn refused(&self, by: Denied) {
        let mut state = self.state();
        state.unsaid_since.get_or_insert_with(Instant::now);
        match state.unsaid.iter_mut().find(|(known, _)| *known == by) {
            Some((_, times)) => *times = times.saturating_add(1),
            None => state.unsaid.push((by, 1)),
        }
    }

    /// One was turned away before anybody was asked about it.
    pub fn turned_away(&self, code: &'static str, why: &str) {
        self.state().heard.turn_away(code, why);
    }

    /// What a call came to that belongs to what an agent calls a session.
    pub fn note_session(&self, session: &str, call: CallSum) {
        self.state().heard.note(session, call);
    }

    pub(crate) fn heard(&self) -> Heard {
        self.state().heard.clone()
    }

    pub(crate) fn has_news(&self) -> bool {
        let state = self.state();
        !(state.wanted.is_empty() && state.done.is_empty())
    }

    pub(crate) fn wakes(&self, waker: Waker) {
        self.state().waker = Some(waker);
    }

    /// From now on somebody lives the golem, until what this gives is dropped.
    pub(crate) fn opened(self: &Arc<Counter>) -> Served {
        self.state().lived += 1;
        Served(Arc::clone(self))
    }

    /// Waits for something to come, at most so long.
    pub(crate) fn wait(&self, most: Duration) {
        let until = Instant::now() + most;
        while !self.has_news() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2).min(most));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").finish_non_exhaustive()
    }
}

/// Somebody lives the golem.
#[derive(Debug)]
pub(crate) struct Served(Arc<Counter>);

impl Served {
    /// The right to make a call that is on record.
    pub(crate) fn grant(&self, key: u64) -> Grant {
        Grant::new(key, &self.0)
    }
}

impl std::ops::Deref for Served {
    type Target = Counter;

    fn deref(&self) -> &Counter {
        &self.0
    }
}

impl Drop for Served {
    /// Whoever still waits is told that nobody is there.
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.lived -= 1;
        if state.lived == 0 {
            state.wanted.clear();
        }
    }
}
