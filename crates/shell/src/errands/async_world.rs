//! A world that answers later. Its calls are made one after another, on another thread; the golem that lives in it
//! sends them, goes on, and finds the answers when they have come. Every answer is handed over, however late: the core
//! decides what it means for behaviour by then, and money is settled by it all the same.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use golem::world::Observation;
use golem::{Time, What, Which};
use world::World;

use super::act::{AWAY, Act, act};
use super::slots::Errands;
use crate::Error;
use crate::error::panic_message;
use crate::locks::{lock, recover};
use crate::wall::Wall;

/// A callback for the moment when something has come.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

pub(crate) struct AsyncWorld {
    state: Mutex<AsyncWorldState>,
    news: Condvar,
    /// Signalled when another call is to be made.
    more: Condvar,
    errands: Arc<Errands>,
    provider: String,
    /// Raised while the golem waits for the call under way to be over.
    hurry: Arc<AtomicBool>,
    /// The marker that exists while new exposure is forbidden, whether the golem has read it or not.
    frozen: PathBuf,
    wall: Wall,
}

struct AsyncWorldState {
    /// The world; none while a call has it, or after a call that it did not survive.
    world: Option<Box<dyn World + Send>>,
    waiting: VecDeque<WorldCall>,
    /// A thread makes calls, or looks a moment longer whether there is another.
    working: bool,
    /// The call under way, and since when.
    calling: Option<(WorldCall, Instant)>,
    answers: Vec<WorldAnswer>,
    /// When it ends, as it said after its last call.
    end: Option<Time>,
    broken: Option<String>,
    /// Where its golem last saw it; the world is brought there before it is asked anything.
    seek: Option<Time>,
    /// Until when it is left alone, because it could not be reached; and why that was.
    away: Option<Instant>,
    why: Option<String>,
    /// Why it refused an order, until the owner is told.
    says: Option<String>,
    waker: Option<Waker>,
}

#[derive(Clone, Debug, PartialEq)]
enum WorldCall {
    Look { since: Time, now: Time },
    Errand(Act),
    Close,
}

/// The answer to one call.
enum WorldAnswer {
    Look { since: Time, now: Time, seen: Observation },
    Errand { which: Which, what: What },
    Closed,
    Failed(world::Error),
}

/// State of a look.
pub(crate) enum LookState {
    /// The bars up to this moment.
    Seen(Time, Observation),
    Coming,
}

impl AsyncWorld {
    pub(crate) fn new(
        world: Box<dyn World + Send>,
        errands: Arc<Errands>,
        provider: &str,
        frozen: PathBuf,
        wall: Wall,
        hurry: Arc<AtomicBool>,
    ) -> Arc<AsyncWorld> {
        let end = world.end();
        let state = AsyncWorldState {
            world: Some(world),
            waiting: VecDeque::new(),
            working: false,
            calling: None,
            answers: Vec::new(),
            end,
            broken: None,
            seek: None,
            away: None,
            why: None,
            says: None,
            waker: None,
        };
        let state = Mutex::new(state);
        let (news, more) = (Condvar::new(), Condvar::new());
        Arc::new(AsyncWorld { state, news, more, errands, provider: provider.to_owned(), hurry, frozen, wall })
    }

    /// Has the world brought to where its golem last saw it, before anything else is asked of it.
    pub(crate) fn seek(&self, until: Time) {
        self.state().seek = Some(until);
    }

    pub(crate) fn end(&self) -> Option<Time> {
        self.state().end
    }

    /// Sets the callback for the moment when something has come.
    pub(crate) fn wakes(&self, waker: Waker) {
        self.state().waker = Some(waker);
    }

    /// The bars since then; asked for, if they are not yet.
    pub(crate) fn look(self: &Arc<AsyncWorld>, since: Time, now: Time) -> Result<LookState, Error> {
        self.check()?;
        let mut state = self.state();
        // A look from another time is of no use any more.
        if let Some(at) = state.answers.iter().position(|answer| matches!(answer, WorldAnswer::Look { .. }))
            && let WorldAnswer::Look { since: from, now, seen } = state.answers.remove(at)
            && from == since
        {
            return Ok(LookState::Seen(now, seen));
        }
        let asked = state.calls().any(|call| matches!(call, WorldCall::Look { since: from, .. } if *from == since));
        drop(state);
        if !asked {
            self.send(WorldCall::Look { since, now })?;
        }
        Ok(LookState::Coming)
    }

    /// The answer to an errand, if it has come; the errand is sent, if it was not yet.
    pub(crate) fn errand(self: &Arc<AsyncWorld>, act: Act) -> Result<Option<What>, Error> {
        self.check()?;
        let mut state = self.state();
        let which = act.errand.which();
        let here =
            |answer: &WorldAnswer| matches!(answer, WorldAnswer::Errand { which: answered, .. } if *answered == which);
        if let Some(at) = state.answers.iter().position(here)
            && let WorldAnswer::Errand { what, .. } = state.answers.remove(at)
        {
            return Ok(Some(what));
        }
        let same = |call: &WorldCall| matches!(call, WorldCall::Errand(sent) if sent.errand.which() == which);
        let sent = state.calls().any(same);
        drop(state);
        if !sent {
            self.send(WorldCall::Errand(act))?;
        }
        Ok(None)
    }

    /// Whether everything a dead golem had left in it has gone home; asked for, if it is not yet.
    pub(crate) fn close(self: &Arc<AsyncWorld>) -> Result<bool, Error> {
        self.check()?;
        let mut state = self.state();
        if let Some(at) = state.answers.iter().position(|answer| matches!(answer, WorldAnswer::Closed)) {
            state.answers.remove(at);
            return Ok(true);
        }
        let asked = state.calls().any(|call| *call == WorldCall::Close);
        drop(state);
        if !asked {
            self.send(WorldCall::Close)?;
        }
        Ok(false)
    }

    /// An answer to an errand that is not owed any more, which may still be about money.
    pub(crate) fn unasked(&self, owed: &[Which]) -> Option<What> {
        let mut state = self.state();
        let stray = |answer: &WorldAnswer| matches!(answer, WorldAnswer::Errand { which, .. } if !owed.contains(which));
        let at = state.answers.iter().position(stray)?;
        if let WorldAnswer::Errand { what, .. } = state.answers.remove(at) { Some(what) } else { None }
    }

    /// Drops errands that are not owed any more and have not begun.
    pub(crate) fn keep_only(&self, owed: &[Which]) {
        self.state().waiting.retain(|call| match call {
            WorldCall::Errand(act) => owed.contains(&act.errand.which()),
            WorldCall::Look { .. } | WorldCall::Close => true,
        });
    }

    /// Whether a call is waiting or under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.state().calls().next().is_some()
    }

    pub(crate) fn has_news(&self) -> bool {
        !self.state().answers.is_empty()
    }

    /// Whether the answer to an errand is there.
    pub(crate) fn has_answers(&self) -> bool {
        self.state().answers.iter().any(|answer| matches!(answer, WorldAnswer::Errand { .. }))
    }

    /// How long the call under way has been.
    pub(crate) fn silent_for(&self) -> Option<Duration> {
        let calling = self.state().calling.as_ref().map(|(_, since)| *since);
        calling.map(|since| self.wall.now().saturating_duration_since(since))
    }

    /// Why the world could not be reached when it was last asked.
    pub(crate) fn why_away(&self) -> Option<String> {
        self.state().why.clone()
    }

    /// Why it refused an order, told once.
    pub(crate) fn says(&self) -> Option<String> {
        self.state().says.take()
    }

    /// Waits for something to come, at most so long.
    pub(crate) fn wait(&self, most: Duration) {
        let state = self.state();
        if state.answers.is_empty() && state.broken.is_none() {
            drop(self.news.wait_timeout(state, most));
        }
    }

    /// Waits until no call is under way; false if that takes too long.
    pub(crate) fn rest(&self, most: Duration) -> bool {
        let until = Instant::now() + most;
        self.hurry.store(true, Ordering::SeqCst);
        let mut state = self.state();
        state.waiting.clear();
        while state.calling.is_some() && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            state = recover(self.news.wait_timeout(state, left)).0;
        }
        self.hurry.store(false, Ordering::SeqCst);
        state.calling.is_none()
    }

    /// Why it cannot be asked anything, if that is so.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut state = self.state();
        if let Some(why) = &state.broken {
            return Err(Error::Broke(why.clone()));
        }
        if let Some(at) = state.answers.iter().position(|answer| matches!(answer, WorldAnswer::Failed(_)))
            && let WorldAnswer::Failed(why) = state.answers.remove(at)
        {
            return Err(why.into());
        }
        Ok(())
    }

    fn send(self: &Arc<AsyncWorld>, call: WorldCall) -> Result<(), Error> {
        let mut state = self.state();
        if state.away.is_some_and(|until| until > self.wall.now()) {
            return Ok(());
        }
        // A look comes before an action: a tick waits for it.
        match call {
            WorldCall::Look { .. } => state.waiting.push_front(call),
            WorldCall::Errand(_) | WorldCall::Close => state.waiting.push_back(call),
        }
        if std::mem::replace(&mut state.working, true) {
            drop(state);
            self.more.notify_one();
            return Ok(());
        }
        drop(state);
        let world = Arc::clone(self);
        self.errands.run(&self.provider, move || world.make_calls())
    }

    /// Makes one call after another until none is left, on a thread that nothing waits for.
    fn make_calls(&self) {
        while let Some((call, seek, mut world)) = self.begin() {
            let called = catch_unwind(AssertUnwindSafe(|| {
                let sought = seek.map_or(Ok(()), |until| world.seek(until));
                let answer = sought.and_then(|()| make(&call, world.as_mut(), &self.frozen));
                (answer, world.end(), world.says(), world)
            }));
            let mut state = self.state();
            state.calling = None;
            match called {
                Ok((answer, end, says, world)) => {
                    (state.world, state.end) = (Some(world), end);
                    match answer {
                        Ok(answer) => {
                            state.why = None;
                            state.says = says.or(state.says.take());
                            state.answers.push(answer);
                        }
                        // It is asked again later, whatever it was.
                        Err(world::Error::Away { what, again }) => {
                            state.why = Some(what);
                            state.away = Some(self.wall.now() + again.unwrap_or(AWAY));
                            state.seek = state.seek.or(seek);
                            state.waiting.clear();
                        }
                        Err(why) => state.answers.push(WorldAnswer::Failed(why)),
                    }
                }
                Err(panic) => state.broken = Some(panic_message(&panic)),
            }
            let waker = state.waker.clone();
            drop(state);
            self.news.notify_all();
            if let Some(wake) = waker {
                wake();
            }
        }
    }

    /// The next call, if there is one or comes within a moment: a life at full speed asks again at once.
    fn begin(&self) -> Option<(WorldCall, Option<Time>, Box<dyn World + Send>)> {
        let mut state = self.state();
        if state.waiting.is_empty() && state.world.is_some() {
            state = recover(self.more.wait_timeout(state, self.errands.lingers())).0;
        }
        let next = if state.waiting.is_empty() { None } else { state.world.take() };
        let (Some(world), Some(call)) = (next, state.waiting.pop_front()) else {
            state.working = false;
            return None;
        };
        state.calling = Some((call.clone(), self.wall.now()));
        Some((call, state.seek.take(), world))
    }

    fn state(&self) -> MutexGuard<'_, AsyncWorldState> {
        lock(&self.state)
    }
}

impl AsyncWorldState {
    fn calls(&self) -> impl Iterator<Item = &WorldCall> {
        self.calling.iter().map(|(call, _)| call).chain(&self.waiting)
    }
}

fn make(call: &WorldCall, world: &mut (dyn World + Send), frozen: &Path) -> Result<WorldAnswer, world::Error> {
    Ok(match call {
        WorldCall::Look { since, now } => {
            let mut seen = Observation::default();
            world.observe(*since, *now, &mut seen)?;
            WorldAnswer::Look { since: *since, now: *now, seen }
        }
        WorldCall::Close => world.close().map(|()| WorldAnswer::Closed)?,
        WorldCall::Errand(one) => WorldAnswer::Errand { which: one.errand.which(), what: act(world, one, frozen)? },
    })
}
