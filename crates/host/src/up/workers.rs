//! Those who give golems their turns. Whatever happens to one of them at work, a panic included, happens to the one
//! golem it had in its hands.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use golem::GolemId;
use golem::life::Lineage;
use tracing::{Span, debug, debug_span, info};
use vault::{Holder, Reader};

use super::Wake;
use super::board::{State, Status};
use super::desk::Desk;
use super::notify::host_note;
use crate::Error;
use crate::heirs;
use crate::home::GolemHome;
use crate::life::{Living, Silent, Turn, writing};
use crate::words_of;

/// They mostly wait for the scribe, so there are many more than processors.
const WORKERS: usize = 32;

/// What became of a golem at a worker.
pub(super) enum Outcome {
    Open(Box<Living>),
    Turned(Box<Living>, Turn),
    Heard(Box<Living>),
    /// Its own file has everything.
    Left,
    /// Its owner wants it out of here.
    Wanted(Box<Living>),
    /// Its owner has it.
    Released(Box<Status>),
    Fell(Fall),
}

/// Why a golem is not up.
pub(super) enum Fall {
    /// It, its world or its mind broke.
    Broke(String),
    /// The disk did not take something; that is nobody's fault here.
    Disk(String),
    /// It was moved away.
    Moved(String),
    /// Another bardo has it, and will let go of it.
    Elsewhere(String),
    /// Nobody lives it, and nothing here can change that: its owner is told, with what kind of note.
    Unlived(&'static str, String),
}

pub(super) enum Job {
    Open(usize, GolemHome),
    /// Its turn, and when that was due; none where it goes on with one that had to wait for its world.
    Turn(usize, Box<Living>, Option<Instant>),
    Hear(usize, Box<Living>),
    Leave(usize, Box<Living>),
    /// One that is stopped: its own file gets everything, and whoever wants may live it.
    LetGo(usize, GolemHome, GolemId),
}

/// Threads that give golems their turns.
pub(super) struct Workers {
    jobs: Arc<Jobs>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Jobs {
    waiting: Mutex<(VecDeque<Job>, bool)>,
    news: Condvar,
}

impl Workers {
    pub(super) fn start(desk: &Arc<Desk>, waker: &Sender<Wake>) -> Workers {
        let jobs: Arc<Jobs> = Arc::default();
        let work = |jobs: Arc<Jobs>, desk: Arc<Desk>, waker: Sender<Wake>| {
            while let Some(job) = jobs.next() {
                let (at, outcome) = perform(job, &desk);
                if waker.send(Wake::Back(at, outcome)).is_err() {
                    return;
                }
            }
        };
        let threads = (0..WORKERS)
            .map(|_| {
                let (jobs, desk, waker) = (Arc::clone(&jobs), Arc::clone(desk), waker.clone());
                std::thread::spawn(move || work(jobs, desk, waker))
            })
            .collect();
        Workers { jobs, threads }
    }

    pub(super) fn give(&self, job: Job) {
        self.jobs.waiting().0.push_back(job);
        self.jobs.news.notify_one();
    }

    pub(super) fn close(&mut self) {
        self.jobs.waiting().1 = true;
        self.jobs.news.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Jobs {
    fn waiting(&self) -> MutexGuard<'_, (VecDeque<Job>, bool)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job; none once there are no more to come.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.waiting();
        loop {
            if let Some(job) = waiting.0.pop_front() {
                return Some(job);
            }
            if waiting.1 {
                return None;
            }
            waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Whatever happens in here happens to one golem.
fn perform(job: Job, desk: &Arc<Desk>) -> (usize, Outcome) {
    let (Job::Open(at, _) | Job::Turn(at, ..) | Job::Hear(at, _) | Job::Leave(at, _) | Job::LetGo(at, ..)) = job;
    let (_inside, began) = (span_of(&job).entered(), Instant::now());
    let place = if let Job::Open(_, place) = &job { Some(place.clone()) } else { None };
    let done = catch_unwind(AssertUnwindSafe(|| match job {
        Job::Open(_, place) => open(&place, desk),
        Job::Turn(_, living, _) | Job::Hear(_, living) if living.place().is_lent() => Ok(Outcome::Wanted(living)),
        Job::Turn(_, mut living, due) => {
            if let Some(due) = due {
                desk.board.late.note(due.elapsed());
            }
            let turn = living.turn(&mut Silent)?;
            desk.board.ticks.fetch_add(u64::from(turn != Turn::Waits), Ordering::Relaxed);
            Ok(Outcome::Turned(living, turn))
        }
        Job::Hear(_, mut living) => living.hear(&mut Silent).map(|()| Outcome::Heard(living)),
        Job::Leave(_, mut living) => {
            living.leave()?;
            desk.lodge(living.life().id(), false)?;
            living.turn_away_letters();
            succeed(&living, desk);
            Ok(Outcome::Left)
        }
        Job::LetGo(_, place, id) => {
            // What cannot be carried over stays in the log, for whoever opens it next.
            let carried = writing::carry_over(&place, desk);
            desk.lodge(id, false)?;
            carried.map(|()| Outcome::Left)
        }
    }));
    let outcome = match done {
        Ok(Ok(outcome)) => {
            debug!(micros = began.elapsed().as_micros() as u64, "done");
            outcome
        }
        Ok(Err(error)) => Outcome::Fell(fall(error)),
        Err(panic) => Outcome::Fell(Fall::Broke(words_of(&panic))),
    };
    if let (Outcome::Fell(Fall::Elsewhere(_) | Fall::Unlived(..)), Some(place)) = (&outcome, place) {
        introduce_unlived(&place, desk);
    }
    (at, outcome)
}

/// What a trace calls this piece of work.
fn span_of(job: &Job) -> Span {
    match job {
        Job::Open(_, place) => debug_span!("open", golem = place.name.as_str()),
        Job::Turn(_, living, _) => debug_span!("turn", golem = living.place().name.as_str()),
        Job::Hear(_, living) => debug_span!("hear", golem = living.place().name.as_str()),
        Job::Leave(_, living) => debug_span!("leave", golem = living.place().name.as_str()),
        Job::LetGo(_, place, _) => debug_span!("let_go", golem = place.name.as_str()),
    }
}

/// A line goes on where its owner wants it to; the newborn is found by the next census and told of when it is first
/// opened. Why one could not be made is told once.
fn succeed(dead: &Living, desk: &Desk) {
    if dead.life().heartbeat.state != golem::heartbeat::State::Dead {
        return;
    }
    let name = dead.place().name.as_str();
    if let Err(why) = heirs::automatic(dead.place().home(), dead.place()) {
        let text = format!("{name} has no heir: {why}; `bardo golem successor {name}` makes one by hand");
        info!(golem = name, "{text}");
        desk.note(host_note(format!("{}:heirless", dead.life().id()), "heir", Some(name), text));
    }
}

/// An heir that nobody was asked about is told of before it has lived a tick, so a kill after its birth hides none.
fn introduce(newborn: &Living, desk: &Desk) {
    let life = newborn.life();
    let unasked = |line: &&Lineage| line.by_itself && life.tick == 0 && !life.is_dead();
    if let Some(line) = life.birth.lineage.as_ref().filter(unasked) {
        let name = newborn.place().name.as_str();
        let text = format!("{name} is born, heir of {}", line.parent_name);
        info!(golem = name, "{text}");
        desk.note(host_note(format!("{}:heir", line.parent), "heir", Some(name), text));
    }
}

/// One that could not be opened is on the board all the same, with whatever can be read of it without its lock.
fn introduce_unlived(place: &GolemHome, desk: &Desk) {
    let name = place.name.as_str();
    if desk.board.one(name).is_none() {
        let read = catch_unwind(AssertUnwindSafe(|| place.wake().map(|(golem, _)| Status::of(golem.life()))));
        let unread = |why: String| Status::unread(name, why);
        let status =
            read.map_or_else(|panic| unread(words_of(&panic)), |read| read.unwrap_or_else(|e| unread(e.to_string())));
        desk.board.post(status);
    }
}

fn fall(error: Error) -> Fall {
    match error {
        Error::Vault(vault::Error::Sealed(_)) => Fall::Moved(error.to_string()),
        Error::Vault(vault::Error::Locked(path)) => match Holder::of(&path) {
            holder @ Holder::Ours(_) => Fall::Elsewhere(format!("{holder} has it")),
            holder @ Holder::Stranger(_) => {
                Fall::Unlived("lock", format!("{holder} holds its lock, {}", path.display()))
            }
        },
        // Restored under another name, or put away.
        Error::Vault(vault::Error::Missing(_)) => Fall::Moved(error.to_string()),
        Error::Vault(vault::Error::NoHead(_)) => Fall::Unlived("head", error.to_string()),
        Error::Io { .. }
        | Error::Vault(vault::Error::Io { .. } | vault::Error::Sqlite { .. } | vault::Error::Disk { .. }) => {
            Fall::Disk(error.to_string())
        }
        Error::World(world::Error::Io { .. } | world::Error::Stuck { .. } | world::Error::Away { .. }) => {
            Fall::Disk(error.to_string())
        }
        Error::Host(_) | Error::Busy(_) | Error::Vault(vault::Error::Busy(_)) => Fall::Disk(error.to_string()),
        other => Fall::Broke(other.to_string()),
    }
}

/// From now on it is lived here: said in the log first, then made sure that nobody lives it or wants it.
fn open(place: &GolemHome, desk: &Arc<Desk>) -> Result<Outcome, Error> {
    if place.is_lent() {
        return let_go(place, desk);
    }
    let id = Reader::open(&place.database())?.id()?;
    desk.lodge(id, true)?;
    let lodge = || {
        if place.is_lent() {
            return let_go(place, desk);
        }
        writing::carry_over(place, desk)?;
        let living = Living::lodge(place.clone(), desk)?;
        introduce(&living, desk);
        Ok(Outcome::Open(Box::new(living)))
    };
    let opened = lodge();
    if !matches!(opened, Ok(Outcome::Open(_))) {
        desk.lodge(id, false)?;
    }
    opened
}

/// Its owner has it: what the log has of it belongs in its own file, unless the owner has given that up.
fn let_go(place: &GolemHome, desk: &Arc<Desk>) -> Result<Outcome, Error> {
    let reader = Reader::open(&place.database())?;
    if place.home().errands().busy(reader.id()?).is_some() {
        return Err(Error::Busy("its world is still at work for it".into()));
    }
    if writing::carry_over(place, desk).is_err() && place.is_given_up() {
        desk.forget(reader.id()?)?;
    }
    let (golem, _) = reader.wake()?;
    let why = "its owner has taken it out of the host; `bardo golem join` brings it back";
    let status = Status { state: State::Released, why: Some(why.into()), ..Status::of(golem.life()) };
    Ok(Outcome::Released(Box::new(status)))
}
