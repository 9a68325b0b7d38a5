//! The loop of a host: it waits for the next event, keeps the schedule, and hands golems to workers and takes them
//! back.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use shell::feeds::News;
use shell::home::signals::HostSignals;
use shell::home::{GolemHome, inbox};
use shell::life::desk::Desk;
use shell::life::{Living, Turn};
use shell::view::board::Board;
use shell::view::status::{State, Status};
use shell::watch::FolderWatch;
use shell::{Error, Home};
use tracing::{debug, info, warn};
use vault::{Glance, Reader};

use super::bells::BellFolder;
use super::chores::ChoreChanges;
use super::pace::Pace;
use super::slots::{SlotState, Slots};
use super::supervision::{ELSEWHERE, Next, RestartAfter, SAID, Supervisor};
use super::wake::{Job, Outcome, Wake};
use super::worker_pool::WorkerPool;

/// How often the folder of bells is looked at where the kernel does not report new ones; otherwise the folder of golems and this
/// one are looked at together.
const BELLS_EVERY: Duration = Duration::from_millis(50);
/// How often the folder of golems is scanned for those that were born, came in or ended elsewhere.
pub(super) const CENSUS_EVERY: Duration = Duration::from_secs(2);
/// How long a host that goes down waits for the next golem to be put to rest.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a golem that waits for a slow world is looked at, if the world does not report by itself.
const AWAITED: Duration = Duration::from_secs(1);
/// How often a golem that watches a series is looked at, since another process may follow that series.
const UNTOLD: Duration = Duration::from_secs(15);

/// The result of coming up: golems by state, and the time it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    pub living: usize,
    pub dead: usize,
    pub not_up: usize,
    pub released: usize,
    pub took: Duration,
}

/// The golems of a host that is up, their schedule, and the pool that gives them their turns.
pub(super) struct GolemLoop {
    pub(super) home: Home,
    pub(super) desk: Arc<Desk>,
    pub(super) slots: Slots,
    pub(super) supervisor: Supervisor,
    pub(super) wakes: Receiver<Wake>,
    waker: Sender<Wake>,
    pub(super) pool: WorkerPool,
    speed: f64,
    pace: Pace,
    bell_folder: BellFolder,
    /// The thread that reports new bells, if there can be one.
    bell_watch: Option<FolderWatch>,
    /// When the folder of bells is looked at next.
    bells: Instant,
    _signals: HostSignals,
    /// When the folder of golems is scanned next.
    census: Instant,
    /// Whether the last scan failed.
    lost: bool,
}

/// A handle with which any thread asks a host for something.
#[derive(Clone, Debug)]
pub struct Asker(Sender<Wake>);

impl Asker {
    /// Asks the host to come down.
    pub fn stop(&self) {
        let _ = self.0.send(Wake::Stop);
    }

    /// Has the host report that new settings are wrong, and why; or that they are right again.
    pub fn settings(&self, wrong: Option<String>) {
        let _ = self.0.send(Wake::Settings(wrong));
    }

    /// Changes the settings of the host's chores.
    pub fn change(&self, changes: ChoreChanges) {
        let _ = self.0.send(Wake::Chores(Box::new(changes)));
    }
}

impl GolemLoop {
    pub(super) fn new(
        speed: f64,
        desk: Arc<Desk>,
        pool: WorkerPool,
        bell_watch: Option<FolderWatch>,
        (waker, wakes): (Sender<Wake>, Receiver<Wake>),
    ) -> GolemLoop {
        let home = desk.runtime.home().clone();
        let now = home.wall().now();
        desk.board.ask_speed(speed);
        let supervisor = Supervisor { desk: Arc::clone(&desk), restart_after: RestartAfter::default() };
        let letters = waker.clone();
        let signals = desk.runtime.signals().connect(move |golem| drop(letters.send(Wake::Letter(golem.clone()))));
        GolemLoop {
            bell_folder: BellFolder::new(home.bells()),
            home,
            desk,
            slots: Slots::default(),
            supervisor,
            wakes,
            waker,
            pool,
            speed,
            pace: Pace::new(now),
            bell_watch,
            bells: now,
            _signals: signals,
            census: now,
            lost: false,
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.home.wall().now()
    }

    pub(super) fn board(&self) -> Arc<Board> {
        Arc::clone(&self.desk.board)
    }

    pub(super) fn asker(&self) -> Asker {
        Asker(self.waker.clone())
    }

    /// Opens every golem that lives here, and counts them by state.
    pub(super) fn wake_everyone(&mut self, tell: &mut impl FnMut(&str)) -> Result<Boot, Error> {
        self.look_for_golems()?;
        let (mut opened, mut letters) = (0, Vec::new());
        while self.slots.anyone_away() {
            match self.wakes.recv() {
                Ok(Wake::Back(slot, outcome)) => {
                    self.back(slot, outcome, tell);
                    opened += 1;
                    if opened % 1_000 == 0 {
                        tell(&format!("{opened} of {} awake", self.slots.len()));
                    }
                }
                Ok(Wake::Letter(golem)) => letters.push(golem),
                // The first pass of the loop looks at the bells.
                Ok(Wake::Bells) => {}
                Ok(Wake::Answered(_) | Wake::Grown(_) | Wake::News(_) | Wake::Chores(_) | Wake::Settings(_)) => {}
                Ok(Wake::Stop) | Err(_) => break,
            }
        }
        self.spread_out();
        // A letter outlives the host that was told of it; its bell, in memory, did not.
        for at in 0..self.slots.len() {
            if self.slots[at].living.is_some() && inbox::has_letters(&self.slots[at].place) {
                self.slots[at].rung = true;
                self.hear(at);
            }
        }
        letters.iter().for_each(|golem| self.rung_for(golem.as_str()));
        // A golem that is still dying counts as here and as dead.
        let all = self.desk.board.all();
        let dead = all.iter().filter(|status| status.state == State::Dead).count();
        let released = all.iter().filter(|status| status.state == State::Released).count();
        let living = all.iter().filter(|status| status.state.is_here()).count();
        let not_up = self.home.list()?.len().saturating_sub(dead + living + released);
        Ok(Boot { living, dead, not_up, released, took: Duration::ZERO })
    }

    /// Spreads all golems that are awake over one interval, so that they do not all wake in the same instant for ever
    /// after.
    pub(super) fn spread_out(&mut self) {
        let now = self.home.wall().now();
        let up: Vec<usize> = (0..self.slots.len()).filter(|at| self.slots[*at].living.is_some()).collect();
        for (nth, at) in up.iter().enumerate() {
            let interval = self.slots.interval(*at, self.speed);
            let due = now + interval.mul_f64((nth + 1) as f64 / up.len() as f64);
            self.slots.schedule(*at, due);
        }
    }

    /// Finds golems that are new here and sends for them.
    pub(super) fn look_for_golems(&mut self) -> Result<(), Error> {
        for place in self.home.list()? {
            if self.slots.find(place.name.as_str()).is_some() || place.is_buried() {
                continue;
            }
            // A golem that came to rest has left its id in its glance, so that its file is opened only once.
            let known = Glance::read(&place.vault()).map(|glance| Ok(glance.id));
            match known.unwrap_or_else(|| Reader::open(&place.database()).and_then(|reader| reader.id())) {
                Ok(id) => match self.slots.find_id(id).filter(|at| !self.slots[*at].place.database().exists()) {
                    Some(at) => self.take_up_renamed(at, place),
                    None => {
                        let at = self.slots.add(place.clone(), id, self.home.wall().now());
                        self.pool.give(Job::Open(at, place));
                    }
                },
                Err(why) => self.supervisor.unread(&place, &why.to_string()),
            }
        }
        Ok(())
    }

    /// Takes up a golem under the name that it has been given while it was out of the host.
    fn take_up_renamed(&mut self, at: usize, place: GolemHome) {
        let slot = &self.slots[at];
        // A worker that still has its old folder comes back first; the next scan finds this again.
        if slot.away || slot.living.is_some() {
            return;
        }
        let was = slot.place.name.to_string();
        info!(target: SAID, golem = place.name.as_str(), was = was.as_str(), "renamed");
        self.desk.board.forget(&was);
        self.slots.rename(at, place);
        self.slots[at].state = SlotState::Out;
        self.slots[at].falls.clear();
        self.slots.schedule(at, self.home.wall().now());
    }

    /// Does whatever is due by now, and says when there is something to do again if nothing wakes it before.
    pub(super) fn see_to(&mut self, now: Instant, tell: &mut impl FnMut(&str)) -> Instant {
        if now >= self.bells {
            self.listen_for_bells();
            self.bells = now + if self.bell_watch.is_some() { CENSUS_EVERY } else { BELLS_EVERY };
        }
        if now >= self.census {
            // Golems that are up go on, even if the folder cannot be read.
            let found = self.look_for_golems();
            if let (false, Err(why)) = (self.lost, &found) {
                tell(&format!("cannot look for new golems: {why}"));
            }
            self.lost = found.is_err();
            if let Some(news) = self.desk.runtime.clock_news() {
                warn!(target: SAID, "{news}");
                tell(&news);
                self.desk.tell_owner(format!("clock:{}", self.home.wall().now_ms()), "clock", None, news);
            }
            self.census = now + CENSUS_EVERY;
        }
        self.give_turns(now);
        for news in self.desk.runtime.minds().health().news() {
            info!(target: SAID, "{}", news.text);
            let key = format!("{}:{}", news.key, self.home.wall().now_ms());
            self.desk.tell_owner(key, "model", None, news.text);
        }
        if let Some(news) = self.pace.news(now) {
            warn!(target: SAID, "{news}");
            tell(&news);
        }
        if let Some(share) = self.pace.share_kept() {
            self.desk.board.keep_speed(share);
        }
        self.slots.next_due().map_or(self.bells, |due| due.min(self.bells))
    }

    /// Does what the loop was woken for; breaks if that is to stop.
    pub(super) fn woken(&mut self, wake: Wake, tell: &mut impl FnMut(&str)) -> ControlFlow<()> {
        match wake {
            Wake::Back(at, outcome) => self.back(at, outcome, tell),
            Wake::Letter(golem) => self.rung_for(golem.as_str()),
            Wake::Bells => self.listen_for_bells(),
            Wake::Answered(at) => {
                self.slots[at].answered = true;
                self.hear(at);
            }
            Wake::Grown(series) => {
                for at in 0..self.slots.len() {
                    if self.slots[at].waits && self.slots[at].watches() == Some(&series) {
                        self.slots[at].answered = true;
                        self.hear(at);
                    }
                }
            }
            Wake::News(News { key, text }) => {
                info!(target: SAID, "{text}");
                self.desk.tell_owner(key, "feed", None, text);
            }
            // The host has handed them to its services.
            Wake::Chores(_) => {}
            Wake::Settings(wrong) => self.reread(wrong),
            Wake::Stop => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// Tells the owner once of each fault in the settings, and of its end.
    fn reread(&self, wrong: Option<String>) {
        let text = match &wrong {
            Some(why) => format!("bardo.toml is wrong, so the host keeps the settings it read before: {why}"),
            None => "bardo.toml is right again".to_owned(),
        };
        if self.desk.board.settings_wrong(wrong) {
            let key = format!("settings:{}", self.home.wall().now_ms());
            self.desk.tell_owner(key, "settings", None, text);
        }
    }

    fn give_turns(&mut self, now: Instant) {
        while let Some(at) = self.slots.pop_due(now) {
            let slot = &mut self.slots[at];
            match (slot.state, slot.living.take()) {
                (SlotState::Up, Some(living)) => {
                    (slot.away, slot.rung) = (true, false);
                    self.pool.give(Job::Turn(at, living, (!slot.waits).then_some(slot.due)));
                }
                (SlotState::Down | SlotState::Out, None) => {
                    slot.away = true;
                    self.pool.give(Job::Open(at, slot.place.clone()));
                }
                (SlotState::Dead, None) if slot.heirless => {
                    (slot.away, slot.heirless) = (true, false);
                    self.pool.give(Job::Heir(at, slot.place.clone(), slot.id));
                }
                (_, living) => slot.living = living,
            }
        }
    }

    /// Lets every golem hear that another process has rung for.
    fn listen_for_bells(&mut self) {
        for name in self.bell_folder.take().into_iter().flatten() {
            self.rung_for(&name);
        }
    }

    /// Lets a golem with a new letter hear it at once, if it is here. One that is new here or has another name now is looked for at
    /// once.
    fn rung_for(&mut self, name: &str) {
        let Some(at) = self.slots.find(name) else {
            self.census = self.home.wall().now();
            return;
        };
        self.slots[at].rung = true;
        self.hear(at);
    }

    fn hear(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        if slot.away || !(slot.rung || slot.answered) {
            return;
        }
        slot.answered = false;
        let rung = std::mem::take(&mut slot.rung);
        if let Some(living) = slot.living.take() {
            slot.away = true;
            let job = if slot.waits { Job::Turn(at, living, None) } else { Job::Hear(at, living) };
            self.pool.give(job);
        } else if rung && slot.state != SlotState::Down {
            // The owner had taken it out, and may be done with it. A golem that is down is woken when it is due and
            // finds its letters then: the bell may belong to the very letter that brought it down.
            slot.state = SlotState::Out;
            slot.falls.clear();
            self.slots.schedule(at, self.home.wall().now());
        }
    }

    /// Takes back a golem from a worker.
    fn back(&mut self, at: usize, outcome: Outcome, tell: &mut impl FnMut(&str)) {
        let now = self.home.wall().now();
        self.slots[at].away = false;
        match outcome {
            Outcome::Open(living) => self.opened(at, living, now),
            Outcome::Turned(living, turn) => self.turned(at, living, turn, now),
            Outcome::Heard(living) => {
                self.slots[at].living = Some(living);
                let due = self.slots[at].due;
                self.slots.look_again(at, due);
            }
            Outcome::Left => {
                if self.slots[at].state == SlotState::Out {
                    self.slots.schedule(at, now);
                }
            }
            Outcome::Heirless(again) => {
                let slot = &mut self.slots[at];
                slot.heirless = slot.state == SlotState::Dead;
                let due = if slot.heirless { now + again } else { now };
                if slot.heirless || slot.state == SlotState::Out {
                    self.slots.schedule(at, due);
                }
            }
            Outcome::Wanted(living) => {
                let slot = &mut self.slots[at];
                (slot.away, slot.state) = (true, SlotState::Out);
                self.pool.give(Job::Leave(at, living));
            }
            Outcome::Released(status) => {
                self.slots[at].state = SlotState::Out;
                self.desk.board.post(*status);
                self.slots.schedule(at, now + ELSEWHERE);
            }
            Outcome::Fell(fall) => match self.supervisor.fell(&mut self.slots, at, fall, now, tell) {
                Next::Again(due) => self.slots.schedule(at, due),
                Next::LetGo => {
                    let slot = &mut self.slots[at];
                    slot.away = true;
                    self.pool.give(Job::LetGo(at, slot.place.clone(), slot.id));
                }
                Next::Nothing => {}
            },
        }
        self.hear(at);
    }

    fn opened(&mut self, at: usize, mut living: Box<Living>, now: Instant) {
        let dead = living.golem().owes_nothing() && living.life().is_dead();
        let ended = dead && living.place().has_gone_home(living.life());
        self.desk.board.post(Status::of(living.place().name.as_str(), living.life()));
        let waker = self.waker.clone();
        living.wakes(Arc::new(move || drop(waker.send(Wake::Answered(at)))));
        let slot = &mut self.slots[at];
        let id = living.life().id();
        slot.living = Some(living);
        (slot.state, slot.waits) = (SlotState::Up, false);
        let golem = slot.place.name.as_str();
        if slot.falls.is_empty() {
            debug!(golem, "opened");
        } else {
            info!(golem, "up again");
        }
        self.slots.identify(at, id);
        if ended { self.show_out(at) } else { self.slots.schedule(at, now) }
    }

    fn turned(&mut self, at: usize, living: Box<Living>, turn: Turn, now: Instant) {
        let slot = &mut self.slots[at];
        slot.living = Some(living);
        let was_kept = std::mem::take(&mut slot.disk_failures) > 0;
        slot.waits = turn == Turn::Waits;
        if was_kept {
            info!(golem = slot.place.name.as_str(), "up again");
        }
        if (was_kept || turn == Turn::Lived) && self.desk.board.files_troubled(None) {
            info!("golems can be written again");
        }
        self.supervisor.mindless(&mut self.slots[at]);
        match turn {
            Turn::Dead => self.show_out(at),
            Turn::WorldOver => {
                self.supervisor.world_over(&self.slots[at]);
                self.slots.schedule(at, now + CENSUS_EVERY);
            }
            Turn::Waits => {
                self.supervisor.unanswered(&self.slots[at]);
                let again = if self.slots[at].watches().is_some() { UNTOLD } else { AWAITED };
                self.slots.look_again(at, now + again);
            }
            // A golem that watches a series lives as fast as the series grows.
            Turn::Lived if self.slots[at].watches().is_some() => self.slots.schedule(at, now),
            Turn::Lived | Turn::Paused => {
                let interval = self.slots.interval(at, self.speed);
                // The next tick counts from when this one was due, not from when it was done; a golem far behind starts
                // afresh.
                let next = self.slots[at].meant + interval;
                let behind = next + interval < now;
                self.pace.turn(interval, if behind { now - next } else { Duration::ZERO });
                self.slots.schedule(at, if behind { now } else { next });
            }
        }
    }

    /// Puts a golem that has ended to rest: all it is still owed is its place in the graveyard.
    fn show_out(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        (slot.state, slot.heirless) = (SlotState::Dead, false);
        if let Some(living) = slot.living.take() {
            // The board must no longer say what it waited for.
            self.desk.board.post(Status::of(living.place().name.as_str(), living.life()));
            slot.away = true;
            self.pool.give(Job::Leave(at, living));
        }
    }

    /// Puts every golem to rest, with everything in its own file, and ends the workers.
    pub(super) fn go_down(&mut self, tell: &mut impl FnMut(&str)) {
        self.leave_everyone();
        let (mut left, mut patience) = (0, self.home.wall().now() + PATIENCE);
        while self.slots.anyone_away() {
            match self.wakes.recv_timeout(Duration::from_secs(1)) {
                Ok(wake @ Wake::Back(..)) => {
                    left += usize::from(self.left(wake));
                    patience = self.home.wall().now() + PATIENCE;
                }
                // A worker that waits for a disk that takes nothing would wait for ever; the log has all that was
                // acknowledged.
                Err(RecvTimeoutError::Timeout) if self.desk.board.trouble().is_some() => self.desk.give_up(),
                Err(RecvTimeoutError::Timeout) if self.home.wall().now() < patience => {}
                Ok(_) => {}
                Err(_) => break,
            }
        }
        info!(target: SAID, golems = left, "stopped cleanly");
        tell(&format!("{left} stopped cleanly"));
        self.pool.close();
        if self.desk.board.trouble().is_some() {
            self.desk.give_up();
        }
    }

    /// Sends every golem that is here to be put to rest.
    pub(super) fn leave_everyone(&mut self) {
        self.desk.board.close();
        for at in 0..self.slots.len() {
            if let Some(living) = self.slots[at].living.take() {
                self.slots[at].away = true;
                self.pool.give(Job::Leave(at, living));
            }
        }
    }

    /// Takes back a golem while all are put to rest: one that was still at something else is sent to rest now. True if
    /// this one needs nothing more.
    pub(super) fn left(&mut self, wake: Wake) -> bool {
        let Wake::Back(at, outcome) = wake else { return false };
        match outcome {
            Outcome::Open(living) | Outcome::Turned(living, _) | Outcome::Heard(living) | Outcome::Wanted(living) => {
                self.pool.give(Job::Leave(at, living));
                false
            }
            Outcome::Left | Outcome::Heirless(_) | Outcome::Released(_) | Outcome::Fell(_) => {
                self.slots[at].away = false;
                true
            }
        }
    }
}
