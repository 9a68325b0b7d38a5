//! A mind that is a program of the owner's. The thread that runs the golem asks it and listens for a moment; a program
//! that takes longer is listened to on another thread, and one that crashes is started again there: it costs its golem
//! no more than its word.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use golem::Life;
use golem::limits;
use golem::outside::Word;
use golem::time::Time;
use golem::world::{Bar, Manifest, Observation};
use outside::wire::Look;
use outside::{Launch, Limits, MindProgram, Settled, Trouble};

use super::programs::{Run, keeper, rests};
use crate::Error;
use crate::errands::Waker;
use crate::home::GolemHome;
use crate::locks::{lock, recover};

/// How long a program has to end when it is asked to.
const BYE: Duration = Duration::from_secs(3);
/// The turns in which it is listened to; between two of them a caller may say that it is enough.
const TURN: Duration = Duration::from_millis(200);

pub(crate) struct Mind(Arc<Shared>);

struct Shared {
    state: Mutex<MindState>,
    start: Start,
    /// Signalled when there is something to do.
    more: Condvar,
    /// Signalled when something has been done.
    news: Condvar,
}

#[derive(Default)]
struct MindState {
    /// The program; none while a thread has it, or after a crash.
    program: Option<Box<MindProgram>>,
    /// Work to go on with on another thread: a look that the program has been shown, or is still to be shown.
    task: Option<Task>,
    /// The look that the program works on.
    under_way: Option<Time>,
    /// The answer to a look; none if the program crashed.
    said: Option<(Time, Option<Word>)>,
    falls: u32,
    rests: Option<Instant>,
    /// The last trouble with the program, until it speaks again.
    why: Option<String>,
    gone: bool,
    ended: bool,
    waker: Option<Waker>,
}

enum Task {
    Start(Time, Box<Look>),
    Hear(Time, Box<MindProgram>),
}

/// State of a look.
#[derive(Debug, PartialEq)]
pub(super) enum LookAnswer {
    /// The program has not been shown the look, and could be.
    Free,
    /// The program works on the look.
    Coming,
    /// The program still works on an earlier look.
    Behind,
    /// The program rests after a crash.
    Rests,
    /// The program has spoken, or crashed.
    Said(Option<Word>),
}

/// The mind outside of a life, with what is known of it.
#[derive(Default)]
pub(super) struct Consulting {
    /// Read from its file at the first tick.
    pub(super) mind: Option<Option<Mind>>,
    /// The look that the program works on; and since when.
    pub(super) shown: Option<(Time, Observation)>,
    pub(super) since: Option<Instant>,
    /// A word that came too late for its own tick.
    pub(super) late: Option<Word>,
    /// Bars that the program was not shown.
    pub(super) untold: Vec<Bar>,
    /// The round of its golem's memory that it was last told of.
    pub(super) recalled: Option<u64>,
    /// The trouble that the owner was last told of.
    pub(super) told: Option<String>,
}

impl Consulting {
    pub(super) fn mind(&self) -> Option<&Mind> {
        self.mind.as_ref()?.as_ref()
    }

    /// Returns the look that waited for the mind.
    pub(super) fn take_shown(&mut self) -> Option<(Time, Observation)> {
        self.shown.take()
    }

    pub(super) fn keep_untold(&mut self, bars: &[Bar]) {
        self.untold.extend_from_slice(bars);
        let over = self.untold.len().saturating_sub(limits::BARS);
        self.untold.drain(..over);
    }
}

/// How to start the program.
struct Start {
    launch: Launch,
    limits: Limits,
    settled: Settled,
    world: Manifest,
}

impl Mind {
    /// The mind of this life; its program is started when it is first shown something.
    pub(super) fn of(place: &GolemHome, life: &Life, run: &Run) -> Result<Mind, Error> {
        let seed = u64::from_le_bytes(life.id().0[..8].try_into().expect("eight of sixteen bytes"));
        let (launch, settled) = run.settle(place, life, seed, place.own())?;
        let start = Start { launch, limits: run.limits(), settled, world: life.birth().world.clone() };
        let (state, more, news) = (Mutex::default(), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state, start, more, news });
        let worker = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("mind".to_owned())
            .spawn(move || worker.work())
            .map_err(|why| Error::Host(format!("no thread can be started for a mind: {why}")))?;
        Ok(Mind(shared))
    }

    /// The answer to the look of this moment; beside it, the word on an earlier look, too late for it.
    pub(super) fn hear(&self, of: Time) -> (LookAnswer, Option<Word>) {
        let mut state = self.0.state();
        let late = match state.said.take() {
            Some((then, word)) if then == of => return (LookAnswer::Said(word), None),
            said => said.and_then(|(_, word)| word),
        };
        let heard = match state.under_way {
            Some(then) if then == of => LookAnswer::Coming,
            Some(_) => LookAnswer::Behind,
            None if state.rests.is_some_and(|until| until > Instant::now()) => LookAnswer::Rests,
            None => LookAnswer::Free,
        };
        (heard, late)
    }

    /// Shows the program a look, and listens on this thread for so long.
    pub(super) fn show(&self, of: Time, look: Look, patience: Duration) {
        let mut state = self.0.state();
        (state.under_way, state.said) = (Some(of), None);
        let Some(mut program) = state.program.take() else {
            state.task = Some(Task::Start(of, Box::new(look)));
            drop(state);
            return self.0.more.notify_one();
        };
        drop(state);
        match program.show(look).and_then(|()| program.hear(patience)) {
            Ok(Some(word)) => self.0.speak(of, Some(program), Ok(word)),
            Ok(None) => {
                self.0.state().task = Some(Task::Hear(of, program));
                self.0.more.notify_one();
            }
            Err(why) => self.0.speak(of, (!why.ends_it()).then_some(program), Err(why)),
        }
    }

    /// Waits for the program to speak, at most so long.
    pub(super) fn wait(&self, most: Duration) {
        let state = self.0.state();
        let at_it = |state: &mut MindState| state.under_way.is_some();
        drop(recover(self.0.news.wait_timeout_while(state, most, at_it)));
    }

    /// The last trouble with the program, until it speaks again.
    pub(super) fn why(&self) -> Option<String> {
        self.0.state().why.clone()
    }

    pub(super) fn wakes(&self, waker: Waker) {
        self.0.state().waker = Some(waker);
    }
}

impl Drop for Mind {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.gone = true;
        self.0.more.notify_one();
        let until = Instant::now() + BYE;
        while !state.ended && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            state = recover(self.0.news.wait_timeout(state, left)).0;
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, MindState> {
        lock(&self.state)
    }

    /// Does the work that would keep a life waiting, until the mind is dropped.
    fn work(&self) {
        while let Some(task) = self.next() {
            let (of, begun) = match task {
                Task::Hear(of, program) => (of, Ok(program)),
                Task::Start(of, look) => {
                    let shown = |mut program: Box<MindProgram>| program.show(*look).map(|()| program);
                    (of, self.start.begin().and_then(shown))
                }
            };
            match begun {
                Err(why) => self.speak(of, None, Err(why)),
                Ok(mut program) => loop {
                    match program.hear(TURN) {
                        Ok(None) if self.state().gone => break,
                        Ok(None) => {}
                        Ok(Some(word)) => break self.speak(of, Some(program), Ok(word)),
                        Err(why) => break self.speak(of, (!why.ends_it()).then_some(program), Err(why)),
                    }
                },
            }
            let waker = self.state().waker.clone();
            if let Some(wake) = waker {
                wake();
            }
        }
        let program = self.state().program.take();
        if let Some(program) = program {
            program.end();
        }
        self.state().ended = true;
        self.news.notify_all();
    }

    fn next(&self) -> Option<Task> {
        let idle = |state: &mut MindState| state.task.is_none() && !state.gone;
        let mut state = recover(self.more.wait_while(self.state(), idle));
        if state.gone { None } else { state.task.take() }
    }

    fn speak(&self, of: Time, program: Option<Box<MindProgram>>, said: Result<Word, Trouble>) {
        let mut state = self.state();
        let why = said.as_ref().err().map(|why| format!("the program that is its mind: {why}"));
        if let Some(why) = why.as_ref().filter(|why| state.why.as_ref() != Some(why)) {
            tracing::warn!(golem = self.start.settled.golem, "{why}");
        }
        state.rests = program.is_none().then(|| Instant::now() + rests(state.falls));
        state.falls = if program.is_none() { state.falls + 1 } else { 0 };
        (state.program, state.said, state.under_way, state.why) = (program, Some((of, said.ok())), None, why);
        drop(state);
        self.news.notify_all();
    }
}

impl Start {
    fn begin(&self) -> Result<Box<MindProgram>, Trouble> {
        let name = self.settled.golem.clone();
        let log = move |line: &str| tracing::info!(golem = name, "its mind: {line}");
        MindProgram::start(&keeper(), &self.launch, self.limits, &self.settled, &self.world, log).map(Box::new)
    }
}
