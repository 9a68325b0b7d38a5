//! `bardo up`: all of an owner's golems in one process.
//!
//! One loop waits for whatever wakes it and hands golems to workers; a worker gives one golem its turn and hands it
//! back. Whatever a golem's world, mind or dream does to its worker, the loop and the others go on: one that falls
//! over is woken again from its journal, and one that keeps falling is stopped, and its owner told.

pub mod api;
pub mod board;
#[cfg(test)]
pub(crate) mod curse;
pub(crate) mod desk;
pub mod notify;
mod pace;
mod systemd;
mod target;
#[cfg(test)]
mod tests;
mod workers;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use golem::GolemId;
use tracing::{debug, error, info, warn};
use vault::{Log, Reader};

use crate::Error;
use crate::backups::Backups;
use crate::home::{GolemHome, Home};
use crate::life::{Living, Turn};
use board::{Board, State, Status};
use desk::{Desk, Scribe};
use notify::{Telling, host_note};
use pace::Pace;
use systemd::Systemd;
use workers::{Fall, Job, Outcome, Workers};

/// How often bells are listened for.
const BELLS_EVERY: Duration = Duration::from_millis(50);
/// How often it is looked for golems that were born, came in or ended elsewhere.
const CENSUS_EVERY: Duration = Duration::from_secs(2);
/// One that falls so often within the span is stopped.
const FALLS: (usize, Duration) = (5, Duration::from_secs(600));
/// How long before it is looked again whether one that is lived elsewhere is free.
const ELSEWHERE: Duration = Duration::from_secs(10);
/// How long a host that goes down waits for the next one to be put to rest.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long one that fell lies, first and at most.
const LIES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(30));

/// How often it is looked after one whose world takes its time, if that says nothing by itself.
const AWAITED: Duration = Duration::from_secs(1);
/// A world that has not answered for so long is worth a word to the owner.
const SILENCE: Duration = Duration::from_secs(60);

/// Where the log has what `tell` says too, so that whoever reads both need not read it twice.
pub const SAID: &str = "host::said";

/// What can wake the loop.
enum Wake {
    /// A worker is done with a golem.
    Back(usize, Outcome),
    /// The world of a golem has answered.
    Came(usize),
    /// The owner wants it to end.
    Stop,
}

/// One golem, from the loop's side.
struct Slot {
    place: GolemHome,
    id: GolemId,
    living: Option<Box<Living>>,
    /// A worker has it.
    away: bool,
    /// When it is seen to next.
    due: Instant,
    /// When its tick was meant to be.
    meant: Instant,
    /// It has a letter.
    rung: bool,
    /// Its world has answered.
    came: bool,
    /// Its tick waits for its world.
    waits: bool,
    falls: VecDeque<Instant>,
    /// How often in a row a disk has kept it from its turn.
    kept: usize,
    stand: Stand,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    Up,
    Down,
    Stopped,
    /// Moved, or lived by somebody else, who may let go of it.
    Out,
    Dead,
}

/// How a host is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    /// World seconds per second of the owner's.
    pub speed: f64,
    pub telling: Telling,
    pub api: Option<api::Listen>,
    pub backups: Option<Backups>,
}

/// What coming up came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    pub living: usize,
    pub dead: usize,
    pub not_up: usize,
    pub released: usize,
    pub took: Duration,
}

/// A host that is up.
pub struct Up {
    home: Home,
    desk: Arc<Desk>,
    scribe: Option<Scribe>,
    slots: Vec<Slot>,
    names: BTreeMap<String, usize>,
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    wakes: Receiver<Wake>,
    waker: Sender<Wake>,
    workers: Workers,
    speed: f64,
    pace: Pace,
    lies: (Duration, Duration),
    stop: Arc<AtomicBool>,
    tellers: Vec<JoinHandle<()>>,
    api: Option<api::Running>,
    pub boot: Boot,
}

/// Asks a host to come down, from anywhere.
#[derive(Clone, Debug)]
pub struct Stopper(Sender<Wake>);

impl Stopper {
    pub fn stop(&self) {
        let _ = self.0.send(Wake::Stop);
    }
}

impl Up {
    /// Takes the home's log, carries over what a host that went down in haste left there, and wakes everyone.
    pub fn come(home: &Home, plan: Plan, mut tell: impl FnMut(&str)) -> Result<Up, Error> {
        let began = Instant::now();
        home.require()?;
        let log = match Log::open(home.root(), &home.heads(), plan.telling.names()) {
            Ok(log) => log,
            Err(vault::Error::Locked(_)) => {
                return Err(Error::Refused("a host is up in this home already".into()));
            }
            Err(other) => return Err(other.into()),
        };
        log.verify()?;
        let bells = home.bells();
        fs::create_dir_all(&bells).map_err(Error::io("cannot create", &bells))?;
        let board = Arc::new(Board::default());
        let (desk, scribe) =
            Desk::open(log, home.root().to_owned(), &home.heads(), home.treasury()?, Arc::clone(&board))?;
        let (waker, wakes) = mpsc::channel();
        let workers = Workers::start(&desk, &waker);
        let stop = Arc::new(AtomicBool::new(false));
        let mut up = Up {
            home: home.clone(),
            desk,
            scribe: Some(scribe),
            slots: Vec::new(),
            names: BTreeMap::new(),
            due: BinaryHeap::new(),
            wakes,
            waker,
            workers,
            speed: plan.speed,
            pace: Pace::new(began),
            lies: LIES,
            stop,
            tellers: Vec::new(),
            api: None,
            boot: Boot::default(),
        };
        up.wake_everyone(&mut tell)?;
        up.boot.took = began.elapsed();
        up.tellers = notify::begin(&plan.telling, &up.desk, &up.stop)?;
        if let Some(backups) = plan.backups {
            let (home, desk, stop) = (home.clone(), Arc::clone(&up.desk), Arc::clone(&up.stop));
            up.tellers.push(std::thread::spawn(move || keep_copies(&backups, &home, &desk, &stop)));
        }
        if let Some(listen) = plan.api {
            up.api = Some(api::serve(listen, home.clone(), Arc::clone(&up.desk))?);
        }
        let Boot { living, dead, not_up, released, took } = up.boot;
        info!(target: SAID, living, dead, not_up, released, after_ms = took.as_millis() as u64, "up");
        if let Some(address) = up.address() {
            info!(target: SAID, %address, "listening");
        }
        Ok(up)
    }

    pub fn board(&self) -> Arc<Board> {
        Arc::clone(&self.desk.board)
    }

    pub fn stopper(&self) -> Stopper {
        Stopper(self.waker.clone())
    }

    /// Where the API is, if there is one.
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.api.as_ref().map(|api| api.address)
    }

    fn wake_everyone(&mut self, tell: &mut impl FnMut(&str)) -> Result<(), Error> {
        self.census()?;
        // Spread over one interval, so that they do not all wake in the same instant for ever after.
        let mut opened = 0;
        while self.slots.iter().any(|slot| slot.away) {
            match self.wakes.recv() {
                Ok(Wake::Back(slot, outcome)) => {
                    self.back(slot, outcome, tell);
                    opened += 1;
                    if opened % 1_000 == 0 {
                        tell(&format!("{opened} of {} awake", self.slots.len()));
                    }
                }
                Ok(Wake::Came(_)) => {}
                Ok(Wake::Stop) | Err(_) => break,
            }
        }
        let now = Instant::now();
        let up: Vec<usize> = (0..self.slots.len()).filter(|at| self.slots[*at].living.is_some()).collect();
        for (nth, at) in up.iter().enumerate() {
            let interval = self.interval(*at);
            let due = now + interval.mul_f64((nth + 1) as f64 / up.len() as f64);
            self.schedule(*at, due);
        }
        // One that is still dying is here and dead.
        let all = self.desk.board.all();
        self.boot.dead = all.iter().filter(|status| status.state == State::Dead).count();
        self.boot.released = all.iter().filter(|status| status.state == State::Released).count();
        self.boot.living = all.iter().filter(|status| status.state.is_here()).count();
        let counted = self.boot.dead + self.boot.living + self.boot.released;
        self.boot.not_up = self.home.list()?.len().saturating_sub(counted);
        Ok(())
    }

    /// Finds golems that are new here and sends for them.
    fn census(&mut self) -> Result<(), Error> {
        for place in self.home.list()? {
            if self.names.contains_key(place.name.as_str()) || place.is_buried() {
                continue;
            }
            let id = match Reader::open(&place.database()).and_then(|reader| reader.id()) {
                Ok(id) => id,
                Err(why) => {
                    self.unread(&place, &why.to_string());
                    continue;
                }
            };
            let at = self.slots.len();
            self.names.insert(place.name.to_string(), at);
            self.slots.push(Slot {
                place: place.clone(),
                id,
                living: None,
                away: true,
                due: Instant::now(),
                meant: Instant::now(),
                rung: false,
                came: false,
                waits: false,
                falls: VecDeque::new(),
                kept: 0,
                stand: Stand::Down,
            });
            self.workers.give(Job::Open(at, place));
        }
        Ok(())
    }

    /// A life that cannot even say whose it is: its owner hears of it, and it is looked for again.
    fn unread(&self, place: &GolemHome, why: &str) {
        let name = place.name.as_str();
        if self.desk.board.one(name).is_none() {
            warn!(golem = name, why, "cannot be read");
            self.desk.board.post(Status::unread(name, why.to_owned()));
            let key = format!("{name}:unread:{}", notify::now() / 86_400_000);
            let text = format!("nobody lives {name}: {why}; `bardo doctor` looks at it");
            self.desk.note(host_note(key, "unread", Some(name), text));
        }
    }

    fn interval(&self, at: usize) -> Duration {
        self.slots[at].living.as_ref().map_or(Duration::ZERO, |living| living.interval_at(self.speed))
    }

    fn schedule(&mut self, at: usize, due: Instant) {
        self.slots[at].meant = due;
        self.look_again(at, due);
    }

    /// Sees to it then; its tick is as late as it is.
    fn look_again(&mut self, at: usize, due: Instant) {
        self.slots[at].due = due;
        self.due.push(Reverse((due, at)));
    }

    /// Lives until it is stopped, then puts everything into place.
    pub fn run(mut self, mut tell: impl FnMut(&str)) -> Result<(), Error> {
        let (mut bells, mut census) = (Instant::now(), Instant::now());
        let (mut stopping, mut lost) = (false, false);
        let mut systemd = Systemd::find();
        systemd.say("READY=1");
        while !stopping {
            let now = Instant::now();
            if now >= bells {
                systemd.beat();
                self.listen_for_bells();
                bells = now + BELLS_EVERY;
            }
            if now >= census {
                // Those who are up go on, whatever the folder has to say.
                let found = self.census();
                if let (false, Err(why)) = (lost, &found) {
                    tell(&format!("nobody can be looked for: {why}"));
                }
                lost = found.is_err();
                census = now + CENSUS_EVERY;
            }
            self.give_turns(now);
            if let Some(news) = self.pace.news(now) {
                warn!(target: SAID, "{news}");
                tell(&news);
            }
            let next = self.due.peek().map_or(bells, |Reverse((due, _))| (*due).min(bells));
            match self.wakes.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Wake::Back(at, outcome)) => self.back(at, outcome, &mut tell),
                Ok(Wake::Came(at)) => {
                    self.slots[at].came = true;
                    self.hear(at);
                }
                Ok(Wake::Stop) => stopping = true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => stopping = true,
            }
        }
        systemd.say("STOPPING=1");
        info!("coming down");
        self.go_down(&mut tell)
    }

    fn give_turns(&mut self, now: Instant) {
        while let Some(Reverse((due, at))) = self.due.peek().copied().filter(|Reverse((due, _))| *due <= now) {
            self.due.pop();
            let slot = &mut self.slots[at];
            // Put off meanwhile, or with a worker, who brings it back to be scheduled again.
            if slot.due != due || slot.away {
                continue;
            }
            match (slot.stand, slot.living.take()) {
                (Stand::Up, Some(living)) => {
                    (slot.away, slot.rung) = (true, false);
                    self.workers.give(Job::Turn(at, living, (!slot.waits).then_some(due)));
                }
                (Stand::Down | Stand::Out, None) => {
                    slot.away = true;
                    self.workers.give(Job::Open(at, slot.place.clone()));
                }
                (_, living) => slot.living = living,
            }
        }
    }

    /// Whoever has a letter is heard at once, if it is here.
    fn listen_for_bells(&mut self) {
        let Ok(entries) = fs::read_dir(self.home.bells()) else { return };
        for entry in entries.flatten() {
            let _ = fs::remove_file(entry.path());
            let name = entry.file_name();
            let Some(&at) = name.to_str().and_then(|name| self.names.get(name)) else { continue };
            self.slots[at].rung = true;
            self.hear(at);
        }
    }

    fn hear(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        if slot.away || !(slot.rung || slot.came) {
            return;
        }
        slot.came = false;
        let rung = std::mem::take(&mut slot.rung);
        if let Some(living) = slot.living.take() {
            slot.away = true;
            let job = if slot.waits { Job::Turn(at, living, None) } else { Job::Hear(at, living) };
            self.workers.give(job);
        } else if rung {
            // Its owner had it, and may be done with it.
            slot.stand = Stand::Out;
            slot.falls.clear();
            self.schedule(at, Instant::now());
        }
    }

    /// A worker has brought a golem back.
    fn back(&mut self, at: usize, outcome: Outcome, tell: &mut impl FnMut(&str)) {
        let now = Instant::now();
        self.slots[at].away = false;
        match outcome {
            Outcome::Open(living) => {
                let ended = living.golem().owes_nothing() && living.life().is_dead();
                self.desk.board.post(Status::of(living.life()));
                let waker = self.waker.clone();
                living.wakes(Arc::new(move || drop(waker.send(Wake::Came(at)))));
                let slot = &mut self.slots[at];
                slot.id = living.life().id();
                slot.living = Some(living);
                (slot.stand, slot.waits) = (Stand::Up, false);
                let golem = slot.place.name.as_str();
                if slot.falls.is_empty() {
                    debug!(golem, "opened");
                } else {
                    info!(golem, "up again");
                }
                if ended { self.show_out(at) } else { self.schedule(at, now) }
            }
            Outcome::Turned(living, turn) => {
                let slot = &mut self.slots[at];
                slot.living = Some(living);
                let kept = std::mem::take(&mut slot.kept) > 0;
                slot.waits = turn == Turn::Waits;
                if kept {
                    info!(golem = slot.place.name.as_str(), "up again");
                }
                if (kept || turn == Turn::Lived) && self.desk.board.files_troubled(None) {
                    info!("golems can be written again");
                }
                match turn {
                    Turn::Dead => self.show_out(at),
                    Turn::WorldOver => {
                        self.stale(at);
                        self.schedule(at, now + CENSUS_EVERY);
                    }
                    Turn::Waits => {
                        self.unanswered(at);
                        self.look_again(at, now + AWAITED);
                    }
                    Turn::Lived | Turn::Paused => {
                        let interval = self.interval(at);
                        // On time means at the time it was due, not so long after it was done; who is far behind
                        // starts afresh.
                        let next = self.slots[at].meant + interval;
                        let behind = next + interval < now;
                        self.pace.turn(interval, if behind { now - next } else { Duration::ZERO });
                        self.schedule(at, if behind { now } else { next });
                    }
                }
            }
            Outcome::Heard(living) => {
                self.slots[at].living = Some(living);
                let due = self.slots[at].due;
                self.look_again(at, due);
            }
            Outcome::Left => {
                if self.slots[at].stand == Stand::Out {
                    self.schedule(at, now);
                }
            }
            Outcome::Wanted(living) => {
                let slot = &mut self.slots[at];
                (slot.away, slot.stand) = (true, Stand::Out);
                self.workers.give(Job::Leave(at, living));
            }
            Outcome::Released(status) => {
                self.slots[at].stand = Stand::Out;
                self.desk.board.post(*status);
                self.schedule(at, now + ELSEWHERE);
            }
            Outcome::Fell(fall) => self.fell(at, fall, now, tell),
        }
        self.hear(at);
    }

    /// It has ended: nothing more is owed it but its place in the graveyard.
    fn show_out(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        slot.stand = Stand::Dead;
        if let Some(living) = slot.living.take() {
            slot.away = true;
            self.workers.give(Job::Leave(at, living));
        }
    }

    /// Its world takes long to answer; said when that begins.
    fn unanswered(&mut self, at: usize) {
        let slot = &self.slots[at];
        let silent = slot.living.as_ref().and_then(|living| living.unanswered_for());
        if silent.is_none_or(|silent| silent < SILENCE) {
            return;
        }
        let name = slot.place.name.as_str();
        if self.desk.board.one(name).is_some_and(|status| status.state != State::Waiting) {
            let why = "its world does not answer";
            self.desk.board.mark(name, State::Waiting, Some(why.into()));
            info!(golem = name, "waits: {why}");
            let key = format!("{}:silent:{}", slot.id, notify::now() / 3_600_000);
            self.desk.note(host_note(key, "feed", Some(name), format!("{name} waits: {why}")));
        }
    }

    fn stale(&mut self, at: usize) {
        let slot = &self.slots[at];
        let name = slot.place.name.as_str();
        if self.desk.board.one(name).is_some_and(|status| status.state != State::Waiting) {
            self.desk.board.mark(name, State::Waiting, Some("its world has nothing more to show".into()));
            let seen = slot.living.as_ref().map_or(0, |living| living.life().now.as_millis());
            info!(golem = name, "waits: its world has nothing more to show");
            let text = format!("{name} waits: its world has nothing more to show");
            self.desk.note(host_note(format!("{}:feed:{seen}", slot.id), "feed", Some(name), text));
        }
    }

    /// It is not lived by this host; said when that begins.
    fn out(&mut self, at: usize, why: &str, tell: &mut impl FnMut(&str)) {
        let slot = &mut self.slots[at];
        let name = slot.place.name.as_str();
        if slot.stand != Stand::Out {
            info!(target: SAID, golem = name, why, "not lived here");
            tell(&format!("{name} is not lived here: {why}"));
        }
        slot.stand = Stand::Out;
    }

    /// It is woken again from its journal, after a while; who keeps falling is stopped.
    fn fell(&mut self, at: usize, fall: Fall, now: Instant, tell: &mut impl FnMut(&str)) {
        let slot = &mut self.slots[at];
        let name = slot.place.name.to_string();
        slot.living = None;
        if slot.stand == Stand::Stopped {
            return;
        }
        match fall {
            Fall::Moved(why) => {
                self.out(at, &why, tell);
                self.desk.board.forget(&name);
                self.schedule(at, now + ELSEWHERE);
            }
            Fall::Elsewhere(why) => {
                self.out(at, &why, tell);
                self.desk.board.mark(&name, State::Elsewhere, Some(why));
                self.schedule(at, now + ELSEWHERE);
            }
            Fall::Unlived(kind, why) => {
                self.out(at, &why, tell);
                // Whoever holds a lock for long is told of once a day; it may come and go as it likes.
                let key = format!("{}:{kind}:{}", self.slots[at].id, notify::now() / 86_400_000);
                self.desk.note(host_note(key, kind, Some(&name), format!("nobody lives {name}: {why}")));
                self.desk.board.mark(&name, State::Unlived, Some(why));
                self.schedule(at, now + ELSEWHERE);
            }
            Fall::Disk(why) => {
                slot.stand = Stand::Down;
                slot.kept += 1;
                if slot.kept == 1 {
                    warn!(golem = name, why, "the disk keeps it down, it is tried again");
                }
                self.desk.board.mark(&name, State::Restarting, Some(why.clone()));
                if !self.anyone_writes() && self.desk.board.files_troubled(Some(why.clone())) {
                    error!(why, "no golem can be written");
                }
                let slot = &self.slots[at];
                // If nobody can write, that is told already; if it is this one's files alone, nobody else would say so.
                if slot.kept == FALLS.0 && self.desk.board.trouble().is_none() {
                    let key = format!("{}:disk:{}", slot.id, notify::now() / 86_400_000);
                    let text = format!("{name} waits for its files: {why}");
                    self.desk.note(host_note(key, "disk", Some(&name), text));
                }
                self.schedule(at, now + self.lies.1.min(Duration::from_secs(2)));
            }
            Fall::Broke(why) => {
                self.desk.board.falls.fetch_add(1, Ordering::Relaxed);
                slot.falls.push_back(now);
                while slot.falls.front().is_some_and(|first| now.duration_since(*first) > FALLS.1) {
                    slot.falls.pop_front();
                }
                if slot.falls.len() >= FALLS.0 {
                    slot.stand = Stand::Stopped;
                    error!(target: SAID, golem = name, falls = FALLS.0, why, "stopped: it keeps falling over");
                    tell(&format!("{name} is stopped, it fell over {} times: {why}", FALLS.0));
                    let text =
                        format!("{name} is stopped: it fell over {} times, the last time because {why}", FALLS.0);
                    let key = format!("{}:crash:{}", slot.id, notify::now());
                    self.desk.note(host_note(key, "crash", Some(&name), text));
                    self.desk.board.mark(&name, State::Stopped, Some(why));
                    // Nobody here reads its letters any more: whoever comes may take it.
                    slot.away = true;
                    self.workers.give(Job::LetGo(at, slot.place.clone(), slot.id));
                    return;
                }
                slot.stand = Stand::Down;
                let lies = (self.lies.0 * 4_u32.pow(slot.falls.len() as u32 - 1)).min(self.lies.1);
                warn!(target: SAID, golem = name, why, lies_ms = lies.as_millis() as u64, "fell over and is woken again");
                tell(&format!("{name} fell over and is woken again: {why}"));
                self.desk.board.mark(&name, State::Restarting, Some(why));
                self.schedule(at, now + lies);
            }
        }
    }

    /// Whether there is a golem whose last attempt at being written went well.
    fn anyone_writes(&self) -> bool {
        let idle = |slot: &Slot| slot.living.as_ref().is_some_and(|living| living.life().heartbeat.paused);
        self.slots.iter().any(|slot| slot.stand == Stand::Up && slot.kept == 0 && !idle(slot))
    }

    /// Everyone's own file gets everything, and the log is empty.
    fn go_down(mut self, tell: &mut impl FnMut(&str)) -> Result<(), Error> {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(api) = self.api.take() {
            api.close();
        }
        self.desk.board.close();
        for at in 0..self.slots.len() {
            if let Some(living) = self.slots[at].living.take() {
                self.slots[at].away = true;
                self.workers.give(Job::Leave(at, living));
            }
        }
        let (mut left, mut patience) = (0, Instant::now() + PATIENCE);
        while self.slots.iter().any(|slot| slot.away) {
            match self.wakes.recv_timeout(Duration::from_secs(1)) {
                Ok(Wake::Back(
                    at,
                    Outcome::Open(living)
                    | Outcome::Turned(living, _)
                    | Outcome::Heard(living)
                    | Outcome::Wanted(living),
                )) => {
                    self.workers.give(Job::Leave(at, living));
                    patience = Instant::now() + PATIENCE;
                }
                Ok(Wake::Back(at, Outcome::Left | Outcome::Released(_) | Outcome::Fell(_))) => {
                    self.slots[at].away = false;
                    left += 1;
                    patience = Instant::now() + PATIENCE;
                }
                // Whoever waits for a disk that takes nothing would wait for ever; the log has all that was acknowledged.
                Err(RecvTimeoutError::Timeout) if self.desk.board.trouble().is_some() => self.desk.give_up(),
                Err(RecvTimeoutError::Timeout) if Instant::now() < patience => {}
                Ok(Wake::Stop | Wake::Came(_)) => {}
                Err(_) => break,
            }
        }
        info!(target: SAID, golems = left, "stopped cleanly");
        tell(&format!("{left} stopped cleanly"));
        self.workers.close();
        for teller in self.tellers.drain(..) {
            let _ = teller.join();
        }
        self.scribe.take().expect("there is one until here").close()?;
        info!("down");
        match self.desk.board.trouble() {
            None => Ok(()),
            Some(why) => Err(Error::Host(format!(
                "not everything could be put into place ({why}); nothing acknowledged is lost, the next start carries it over"
            ))),
        }
    }
}

/// Copies what has no fresh copy, on a thread that golems do not notice; the owner hears if that fails.
fn keep_copies(backups: &Backups, home: &Home, desk: &Desk, stop: &AtomicBool) {
    let mut look = Instant::now();
    while !stop.load(Ordering::SeqCst) {
        if Instant::now() >= look {
            look = Instant::now() + backups.look_every();
            let now = std::time::SystemTime::now();
            if !backups.is_due(now) {
                continue;
            }
            let failed = match backups.make(home, now) {
                Ok(round) => {
                    info!(golems = round.golems.len(), "copied into the backup folder");
                    round.missing.into_iter().next().map(|(name, why)| format!("{name}: {why}"))
                }
                Err(why) => Some(why.to_string()),
            };
            desk.board.backed_up.store(backups.newest_made(), Ordering::Relaxed);
            if let Some(why) = failed {
                warn!(why, "a backup failed");
                let day = notify::now() / 86_400_000;
                desk.note(host_note(format!("backup:{day}"), "backup", None, format!("a backup failed: {why}")));
            }
        }
        std::thread::sleep(BELLS_EVERY);
    }
}

impl std::fmt::Debug for Up {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Up").field("home", &self.home).field("golems", &self.slots.len()).finish_non_exhaustive()
    }
}
