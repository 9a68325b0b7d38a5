//! The counter where calls of a golem's agent are let through and settled. The caller waits here; the process that runs
//! the golem comes by, sets aside what each call can cost, and lets it go once that is durable.
//!
//! A call under way is known here and nowhere else: a call that is open in the life and unknown here was made by a
//! process that is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use golem::call::{CallOrigin, Denied, How, Kinds, Left, Unit, Used};
use golem::mortality::phase::{Phase, Tier};
use golem::{GolemId, Name, Usdc};
use tariff::Price;
use tokio::sync::{oneshot, watch};

use super::async_world::Waker;
use super::call_sums::{CallSum, Heard};
use super::end_notice::{EndNotice, EndPlan, EndState};
use crate::locks::lock;

/// Bound on a call: an upper bound of what goes in, and how much may come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub price: Price,
    /// Tokens, never too few.
    pub input: u64,
    /// Tokens of one answer, at most.
    pub output: u64,
    /// Answers.
    pub answers: u64,
    /// The fewest tokens that make an answer.
    pub fewest: u64,
}

/// A call that an agent wants to make.
#[derive(Debug)]
pub struct Wanted {
    pub bound: Bound,
    pub tier: Tier,
    /// Fingerprint of the call, by which a repetition is known.
    pub again: Option<u64>,
    /// Fingerprint of the question, by which calls that ask the same are known.
    pub alike: u64,
    /// Tokens of its bound that are counted as one for each byte, and would be counted exactly if that matters.
    pub rough: u64,
    /// The session, sub-agent and tool of the call, as far as its agent says.
    pub origin: Option<Box<CallOrigin>>,
    pub reply: oneshot::Sender<Verdict>,
}

/// Decision on a call.
#[derive(Debug)]
pub enum Verdict {
    /// Set aside durably; an answer may have so many tokens.
    Granted {
        grant: Grant,
        tokens: u64,
        most: Usdc,
        state: GolemState,
    },
    /// The part of the bound that is estimated from bytes is too large a share of what is left: count it exactly first.
    /// Nothing was decided.
    Rough,
    /// There will be room for it when calls under way are settled, which come to less than was set aside for them.
    Later {
        lacks: Lacks,
    },
    Denied {
        by: Denied,
        cause: Option<String>,
        lacks: Lacks,
        state: GolemState,
    },
}

/// The shortfall of a call: what it needs, and what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lacks {
    /// The unit it lacks; money, in micro-dollars, if none is named.
    pub of: Option<Unit>,
    /// The need, with the shortest useful answer.
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

    /// Whether there is enough, if not now, then once calls under way have given back what they do not use.
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

/// The right to make one call. Dropped unused, it means that no provider was asked and nothing was spent.
#[derive(Debug)]
pub struct Grant {
    pub key: u64,
    counter: Option<Arc<Counter>>,
}

impl Grant {
    fn new(key: u64, counter: &Arc<Counter>) -> Grant {
        Grant { key, counter: Some(Arc::clone(counter)) }
    }

    /// Takes the grant over: from here on the caller sees to it that the call is settled.
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

/// State of the golem, for a client that has to plan with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GolemState {
    pub phase: Phase,
    /// Free for calls; in the answer to a call that is let through, as it was before anything was set aside for it.
    pub left: Left,
    /// Free tokens, where they are capped.
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
}

/// The result of a call.
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
pub struct Counters(Mutex<KnownCounters>);

#[derive(Debug, Default)]
struct KnownCounters {
    /// The counter of each golem, and the name it was opened under.
    golems: BTreeMap<GolemId, (Name, Arc<Counter>)>,
    names: BTreeMap<Name, Arc<Counter>>,
}

impl Counters {
    pub fn of(&self, name: &Name) -> Arc<Counter> {
        let mut known = self.known();
        Arc::clone(known.names.entry(name.clone()).or_default())
    }

    /// Opens the counter of a golem that runs under this name from now on. It is the one that the golem had under an
    /// earlier name, if there is one, and never that of another golem which had this name before.
    pub(crate) fn open(&self, name: &Name, golem: GolemId) -> Served {
        let mut known = self.known();
        let is_its = |counter: &&Arc<Counter>| counter.golem.get().is_none_or(|other| *other == golem);
        let counter = match known.golems.get(&golem) {
            Some((_, counter)) => Arc::clone(counter),
            None => known.names.get(name).filter(is_its).cloned().unwrap_or_default(),
        };
        let _ = counter.golem.set(golem);
        let before = known.golems.insert(golem, (name.clone(), Arc::clone(&counter)));
        let is_old = |before: &Name| known.names.get(before).is_some_and(|other| Arc::ptr_eq(other, &counter));
        if let Some((before, _)) = before.filter(|(before, _)| before != name && is_old(before)) {
            known.names.remove(&before);
        }
        known.names.insert(name.clone(), Arc::clone(&counter));
        counter.opened()
    }

    fn known(&self) -> MutexGuard<'_, KnownCounters> {
        lock(&self.0)
    }
}

/// The counter of one golem.
#[derive(Default)]
pub struct Counter {
    /// The golem; none before it was opened for the first time.
    golem: OnceLock<GolemId>,
    state: Mutex<CounterState>,
    /// Raised when calls under way have to end.
    cut: watch::Sender<u64>,
    /// Raised when a call has been settled on record, which leaves more for others.
    freed: watch::Sender<u64>,
}

#[derive(Default)]
struct CounterState {
    /// How many threads run the golem: none or one, and for a moment two.
    lived: u32,
    wanted: Vec<Wanted>,
    done: Vec<Done>,
    under_way: BTreeSet<u64>,
    waker: Option<Waker>,
    /// Refusals that are not on record yet, by reason, and since when there are any.
    unsaid: Vec<(Denied, u32)>,
    unsaid_since: Option<Instant>,
    heard: Heard,
    end: EndState,
}

impl Counter {
    /// The golem that this is the counter of, once it was opened.
    pub fn golem(&self) -> Option<GolemId> {
        self.golem.get().copied()
    }

    /// Asks for a call to be let through; false if the golem is not running.
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

    /// Reports the result of a call.
    pub fn settle(&self, done: Done) {
        let mut state = self.state();
        state.done.push(done);
        let waker = state.waker.clone();
        drop(state);
        waker.into_iter().for_each(|wake| wake());
    }

    /// Returns a listener for the moment when calls have to end.
    pub fn cuts(&self) -> watch::Receiver<u64> {
        self.cut.subscribe()
    }

    /// Ends all calls under way.
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

    /// Returns a listener for the next call that is settled.
    pub fn frees(&self) -> watch::Receiver<u64> {
        self.freed.subscribe()
    }

    pub(crate) fn knows(&self, key: u64) -> bool {
        self.state().under_way.contains(&key)
    }

    /// Whether the golem is running.
    pub fn is_lived(&self) -> bool {
        self.state().lived > 0
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.state().under_way.is_empty()
    }

    /// Refusals that are not on record yet, if any has waited so long. The caller has to put them on record.
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

    /// Counts one more refusal for this reason that is not on record.
    pub fn refused(&self, by: Denied) {
        let mut state = self.state();
        state.unsaid_since.get_or_insert_with(Instant::now);
        match state.unsaid.iter_mut().find(|(known, _)| *known == by) {
            Some((_, times)) => *times = times.saturating_add(1),
            None => state.unsaid.push((by, 1)),
        }
    }

    /// Counts a call that was refused before the golem was asked.
    pub fn turned_away(&self, code: &'static str, why: &str) {
        self.state().heard.turn_away(code, why);
    }

    /// Adds a call to the sum of its session, as the agent names it.
    pub fn note_session(&self, session: &str, call: CallSum) {
        self.state().heard.note(session, call);
    }

    /// Settles how its end will be told; none is near yet.
    pub fn plan_end(&self, plan: EndPlan) {
        self.state().end.plan(plan);
    }

    /// Notes that its end is near, and why, if that was not noted before.
    pub fn near_end(&self, why: &str) {
        self.state().end.near(why);
    }

    /// Takes that back.
    pub fn recall_end(&self) {
        self.state().end.recall();
    }

    /// The notice of its end, while it is near.
    pub fn end_notice(&self) -> Option<EndNotice> {
        self.state().end.notice()
    }

    /// Money that no call takes before its end is told.
    pub(crate) fn kept_back(&self) -> Usdc {
        self.state().end.money_aside()
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

    /// Marks the golem as running, until the returned guard is dropped.
    fn opened(self: &Arc<Counter>) -> Served {
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

    fn state(&self) -> MutexGuard<'_, CounterState> {
        lock(&self.state)
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").finish_non_exhaustive()
    }
}

/// Guard of a golem that runs.
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
    /// Tells callers that still wait that the golem no longer runs.
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.lived -= 1;
        if state.lived == 0 {
            state.wanted.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_golem_keeps_its_counter_under_another_name_and_leaves_it_to_no_other() {
        let (ada, bea): (Name, Name) = ("ada".parse().unwrap(), "bea".parse().unwrap());
        let (counters, first, second) = (Counters::default(), GolemId([1; 16]), GolemId([2; 16]));
        drop(counters.open(&ada, first));
        let renamed = counters.open(&bea, first);
        assert!(Arc::ptr_eq(&renamed.0, &counters.of(&bea)) && counters.of(&bea).is_lived());
        assert_eq!(counters.of(&ada).golem(), None, "nothing is left under the old name");
        drop(counters.open(&ada, second));
        assert_eq!((counters.of(&ada).golem(), counters.of(&bea).golem()), (Some(second), Some(first)));
        // A golem that takes over the name of another gets a counter of its own.
        drop(counters.open(&bea, second));
        assert_eq!((counters.of(&bea).golem(), counters.of(&bea).is_lived()), (Some(second), false));
    }
}
