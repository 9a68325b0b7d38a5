//! The loop of a host: it waits for the next event, keeps the schedule, and hands golems to workers and takes them
//! back.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shell::feeds::{Feeds, Hears, News};
use shell::life::desk::{Desk, Scribe};
use shell::life::{Living, Turn};
use shell::view::board::Board;
use shell::view::status::{State, Status};
use shell::{Error, Home};
use tracing::{debug, info, warn};
use vault::{Glance, Log, Reader};

use super::api;
use super::chores::{Busy, Changes, Chores};
use super::crew::Crew;
use super::link::Link;
use super::pace::Pace;
use super::slots::{Slots, Stand};
use super::supervision::{ELSEWHERE, Next, RestartAfter, SAID, Supervisor};
use super::systemd::Systemd;
use super::wake::{Job, Outcome, Wake};
use crate::mcp;

/// How often the folder of bells is read.
const BELLS_EVERY: Duration = Duration::from_millis(50);
/// How often the folder of golems is scanned for those that were born, came in or ended elsewhere.
pub(super) const CENSUS_EVERY: Duration = Duration::from_secs(2);
/// How long a host that goes down waits for the next golem to be put to rest.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a golem that waits for a slow world is looked at, if the world does not report by itself.
const AWAITED: Duration = Duration::from_secs(1);
/// How often a golem that watches a series is looked at, since another process may follow that series.
const UNTOLD: Duration = Duration::from_secs(15);

/// The settings of a host.
#[derive(Debug)]
pub struct Plan {
    /// World seconds per second of the owner's.
    pub speed: f64,
    pub chores: Chores,
    pub api: Option<api::Listen>,
    pub gateway: Option<gateway::Listen>,
    /// The address of the relay to siblings in other homes.
    pub relay: Option<String>,
}

/// The result of coming up: golems by state, and the time it took.
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
    pub(super) desk: Arc<Desk>,
    scribe: Option<Scribe>,
    pub(super) slots: Slots,
    pub(super) supervisor: Supervisor,
    pub(super) wakes: Receiver<Wake>,
    waker: Sender<Wake>,
    pub(super) crew: Crew,
    speed: f64,
    pace: Pace,
    /// When bells are read next.
    bells: Instant,
    /// When the folder of golems is scanned next.
    census: Instant,
    /// Whether the last scan failed.
    lost: bool,
    chores: Busy,
    api: Option<api::Running>,
    gateway: Option<gateway::Running>,
    feeds: Option<Feeds>,
    river: Option<Link>,
    pub boot: Boot,
}

/// Wakes a host when a series has grown.
struct Bell(Mutex<Sender<Wake>>);

impl Bell {
    fn ring(&self, wake: Wake) {
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(wake);
    }
}

impl Hears for Bell {
    fn grown(&self, file: &Path) {
        self.ring(Wake::Grown(file.to_owned()));
    }

    fn news(&self, news: News) {
        self.ring(Wake::News(news));
    }
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
    pub fn change(&self, changes: Changes) {
        let _ = self.0.send(Wake::Chores(Box::new(changes)));
    }
}

impl Up {
    /// Takes the home's log, carries over what a host that went down in haste left there, and wakes everyone.
    pub fn come(home: &Home, plan: Plan, mut tell: impl FnMut(&str)) -> Result<Up, Error> {
        let began = home.wall().now();
        let (desk, scribe) = Desk::open(take_log(home, &plan)?, home)?;
        let (waker, wakes) = mpsc::channel();
        let crew = Crew::start(&desk, &waker);
        let mut up = Up::over(home, &plan, desk, crew, waker, wakes);
        up.scribe = Some(scribe);
        home.keep_reserve();
        up.wake_everyone(&mut tell)?;
        up.boot.took = home.wall().now() - began;
        up.chores = Busy::begin(plan.chores, home, &up.desk)?;
        if let Some(listen) = plan.api {
            up.api = Some(api::serve(listen, home.clone(), Arc::clone(&up.desk))?);
        }
        if let Some(listen) = plan.gateway {
            up.gateway = Some(gateway::serve(listen, home, mcp::of_agents(home))?);
        }
        up.river = Link::begin(&up.desk, plan.relay)?;
        up.feeds = Some(Feeds::begin(home, None, Arc::new(Bell(Mutex::new(up.waker.clone())))));
        let Boot { living, dead, not_up, released, took } = up.boot;
        info!(target: SAID, living, dead, not_up, released, after_ms = took.as_millis() as u64, "up");
        if let Some(address) = up.address() {
            info!(target: SAID, %address, "listening");
        }
        Ok(up)
    }

    /// A host without threads of its own, for a test that gives the turns and moves the clock.
    #[cfg(test)]
    pub(super) fn stepped(home: &Home, plan: &Plan) -> Result<Up, Error> {
        let desk = Desk::alone(take_log(home, plan)?, home)?;
        let (waker, wakes) = mpsc::channel();
        let mut up = Up::over(home, plan, desk, Crew::none(), waker, wakes);
        up.look_for_golems()?;
        Ok(up)
    }

    fn over(home: &Home, plan: &Plan, desk: Arc<Desk>, crew: Crew, waker: Sender<Wake>, wakes: Receiver<Wake>) -> Up {
        let now = home.wall().now();
        let supervisor = Supervisor { desk: Arc::clone(&desk), restart_after: RestartAfter::default() };
        Up {
            home: home.clone(),
            desk,
            scribe: None,
            slots: Slots::default(),
            supervisor,
            wakes,
            waker,
            crew,
            speed: plan.speed,
            pace: Pace::new(now),
            bells: now,
            census: now,
            lost: false,
            chores: Busy::default(),
            api: None,
            gateway: None,
            feeds: None,
            river: None,
            boot: Boot::default(),
        }
    }

    pub fn board(&self) -> Arc<Board> {
        Arc::clone(&self.desk.board)
    }

    pub fn asker(&self) -> Asker {
        Asker(self.waker.clone())
    }

    /// The address of the API, if there is one.
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.api.as_ref().map(|api| api.address)
    }

    /// The address of the gateway, if there is one.
    pub fn gateway(&self) -> Option<std::net::SocketAddr> {
        self.gateway.as_ref().map(|gateway| gateway.address)
    }

    fn wake_everyone(&mut self, tell: &mut impl FnMut(&str)) -> Result<(), Error> {
        self.look_for_golems()?;
        let mut opened = 0;
        while self.slots.anyone_away() {
            match self.wakes.recv() {
                Ok(Wake::Back(slot, outcome)) => {
                    self.back(slot, outcome, tell);
                    opened += 1;
                    if opened % 1_000 == 0 {
                        tell(&format!("{opened} of {} awake", self.slots.len()));
                    }
                }
                Ok(Wake::Answered(_) | Wake::Grown(_) | Wake::News(_) | Wake::Chores(_) | Wake::Settings(_)) => {}
                Ok(Wake::Stop) | Err(_) => break,
            }
        }
        self.spread_out();
        // A golem that is still dying counts as here and as dead.
        let all = self.desk.board.all();
        self.boot.dead = all.iter().filter(|status| status.state == State::Dead).count();
        self.boot.released = all.iter().filter(|status| status.state == State::Released).count();
        self.boot.living = all.iter().filter(|status| status.state.is_here()).count();
        let counted = self.boot.dead + self.boot.living + self.boot.released;
        self.boot.not_up = self.home.list()?.len().saturating_sub(counted);
        Ok(())
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
    fn look_for_golems(&mut self) -> Result<(), Error> {
        for place in self.home.list()? {
            if self.slots.find(place.name.as_str()).is_some() || place.is_buried() {
                continue;
            }
            // A golem that came to rest has left its id in its glance, so that its file is opened only once.
            let known = Glance::read(&place.vault()).map(|glance| Ok(glance.id));
            match known.unwrap_or_else(|| Reader::open(&place.database()).and_then(|reader| reader.id())) {
                Ok(id) => {
                    let at = self.slots.add(place.clone(), id, self.home.wall().now());
                    self.crew.give(Job::Open(at, place));
                }
                Err(why) => self.supervisor.unread(&place, &why.to_string()),
            }
        }
        Ok(())
    }

    /// Lives until it is stopped, then puts everything into place.
    pub fn run(mut self, mut tell: impl FnMut(&str)) -> Result<(), Error> {
        let mut systemd = Systemd::find();
        systemd.say("READY=1");
        loop {
            systemd.beat();
            let next = self.see_to(self.home.wall().now(), &mut tell);
            let woken = match self.wakes.recv_timeout(next.saturating_duration_since(self.home.wall().now())) {
                Ok(wake) => self.woken(wake, &mut tell),
                Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
                Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
            };
            if woken.is_break() {
                break;
            }
        }
        systemd.say("STOPPING=1");
        info!("coming down");
        self.go_down(&mut tell)
    }

    /// Does whatever is due by now, and says when there is something to do again if nothing wakes it before.
    pub(super) fn see_to(&mut self, now: Instant, tell: &mut impl FnMut(&str)) -> Instant {
        if now >= self.bells {
            self.listen_for_bells();
            self.bells = now + BELLS_EVERY;
        }
        if now >= self.census {
            // Golems that are up go on, even if the folder cannot be read.
            let found = self.look_for_golems();
            if let (false, Err(why)) = (self.lost, &found) {
                tell(&format!("cannot look for new golems: {why}"));
            }
            self.lost = found.is_err();
            self.keep_room();
            if let Some(news) = self.home.clock_news() {
                warn!(target: SAID, "{news}");
                tell(&news);
                self.desk.tell_owner(format!("clock:{}", self.home.wall().now_ms()), "clock", None, news);
            }
            self.census = now + CENSUS_EVERY;
        }
        self.give_turns(now);
        for news in self.home.minds().health().news() {
            info!(target: SAID, "{}", news.text);
            let key = format!("{}:{}", news.key, self.home.wall().now_ms());
            self.desk.tell_owner(key, "model", None, news.text);
        }
        if let Some(news) = self.pace.news(now) {
            warn!(target: SAID, "{news}");
            tell(&news);
        }
        self.slots.next_due().map_or(self.bells, |due| due.min(self.bells))
    }

    /// Lays the room for orders aside again once the disk has some; not in a stepped host, which has no scribe.
    fn keep_room(&self) {
        if self.scribe.is_some() {
            self.home.keep_reserve();
        }
    }

    /// Does what the loop was woken for; breaks if that is to stop.
    pub(super) fn woken(&mut self, wake: Wake, tell: &mut impl FnMut(&str)) -> ControlFlow<()> {
        match wake {
            Wake::Back(at, outcome) => self.back(at, outcome, tell),
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
            Wake::Chores(changes) => self.chores.change(*changes, &self.home, &self.desk),
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
            match (slot.stand, slot.living.take()) {
                (Stand::Up, Some(living)) => {
                    (slot.away, slot.rung) = (true, false);
                    self.crew.give(Job::Turn(at, living, (!slot.waits).then_some(slot.due)));
                }
                (Stand::Down | Stand::Out, None) => {
                    slot.away = true;
                    self.crew.give(Job::Open(at, slot.place.clone()));
                }
                (Stand::Dead, None) if slot.heirless => {
                    (slot.away, slot.heirless) = (true, false);
                    self.crew.give(Job::Heir(at, slot.place.clone(), slot.id));
                }
                (_, living) => slot.living = living,
            }
        }
    }

    /// Lets golems with a new letter hear it at once, if they are here.
    fn listen_for_bells(&mut self) {
        let Ok(entries) = fs::read_dir(self.home.bells()) else { return };
        // In an order that does not depend on the folder.
        let rung: BTreeSet<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        for bell in rung {
            let _ = fs::remove_file(&bell);
            let name = bell.file_name().and_then(|name| name.to_str());
            let Some(at) = name.and_then(|name| self.slots.find(name)) else { continue };
            self.slots[at].rung = true;
            self.hear(at);
        }
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
            self.crew.give(job);
        } else if rung && slot.stand != Stand::Down {
            // The owner had taken it out, and may be done with it. A golem that is down is woken when it is due and
            // finds its letters then: the bell may belong to the very letter that brought it down.
            slot.stand = Stand::Out;
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
                if self.slots[at].stand == Stand::Out {
                    self.slots.schedule(at, now);
                }
            }
            Outcome::Heirless(again) => {
                let slot = &mut self.slots[at];
                slot.heirless = slot.stand == Stand::Dead;
                let due = if slot.heirless { now + again } else { now };
                if slot.heirless || slot.stand == Stand::Out {
                    self.slots.schedule(at, due);
                }
            }
            Outcome::Wanted(living) => {
                let slot = &mut self.slots[at];
                (slot.away, slot.stand) = (true, Stand::Out);
                self.crew.give(Job::Leave(at, living));
            }
            Outcome::Released(status) => {
                self.slots[at].stand = Stand::Out;
                self.desk.board.post(*status);
                self.slots.schedule(at, now + ELSEWHERE);
            }
            Outcome::Fell(fall) => match self.supervisor.fell(&mut self.slots, at, fall, now, tell) {
                Next::Again(due) => self.slots.schedule(at, due),
                Next::LetGo => {
                    let slot = &mut self.slots[at];
                    slot.away = true;
                    self.crew.give(Job::LetGo(at, slot.place.clone(), slot.id));
                }
                Next::Nothing => {}
            },
        }
        self.hear(at);
    }

    fn opened(&mut self, at: usize, mut living: Box<Living>, now: Instant) {
        let dead = living.golem().owes_nothing() && living.life().is_dead();
        let ended = dead && living.place().has_gone_home(living.life());
        self.desk.board.post(Status::of(living.life()));
        let waker = self.waker.clone();
        living.wakes(Arc::new(move || drop(waker.send(Wake::Answered(at)))));
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
        (slot.stand, slot.heirless) = (Stand::Dead, false);
        if let Some(living) = slot.living.take() {
            // The board must no longer say what it waited for.
            self.desk.board.post(Status::of(living.life()));
            slot.away = true;
            self.crew.give(Job::Leave(at, living));
        }
    }

    /// Goes down: every golem's own file gets everything, and the log is empty.
    fn go_down(mut self, tell: &mut impl FnMut(&str)) -> Result<(), Error> {
        self.chores.stop();
        if let Some(api) = self.api.take() {
            api.close();
        }
        if let Some(gateway) = self.gateway.take() {
            gateway.close();
        }
        self.feeds = None;
        if let Some(river) = &self.river {
            river.stop();
        }
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
        self.crew.close();
        if self.desk.board.trouble().is_some() {
            self.desk.give_up();
        }
        std::mem::take(&mut self.chores).join();
        self.scribe.take().expect("there is one until here").close()?;
        info!("down");
        match self.desk.board.trouble() {
            None => Ok(()),
            Some(why) => Err(Error::Host(format!(
                "not everything could be written to its own file ({why}); nothing acknowledged is lost, the next start carries it over"
            ))),
        }
    }

    /// Sends every golem that is here to be put to rest.
    pub(super) fn leave_everyone(&mut self) {
        self.desk.board.close();
        for at in 0..self.slots.len() {
            if let Some(living) = self.slots[at].living.take() {
                self.slots[at].away = true;
                self.crew.give(Job::Leave(at, living));
            }
        }
    }

    /// Takes back a golem while all are put to rest: one that was still at something else is sent to rest now. True if
    /// this one needs nothing more.
    pub(super) fn left(&mut self, wake: Wake) -> bool {
        let Wake::Back(at, outcome) = wake else { return false };
        match outcome {
            Outcome::Open(living) | Outcome::Turned(living, _) | Outcome::Heard(living) | Outcome::Wanted(living) => {
                self.crew.give(Job::Leave(at, living));
                false
            }
            Outcome::Left | Outcome::Heirless(_) | Outcome::Released(_) | Outcome::Fell(_) => {
                self.slots[at].away = false;
                true
            }
        }
    }
}

/// Takes the log of a home, which must have everything that was acknowledged, if no other host has it.
fn take_log(home: &Home, plan: &Plan) -> Result<Log, Error> {
    home.require()?;
    let log = match Log::open(home.root(), &home.heads(), plan.chores.telling.names()) {
        Ok(log) => log,
        Err(vault::Error::Locked(_)) => return Err(Error::Refused("a host is up in this home already".into())),
        Err(other) => return Err(other.into()),
    };
    log.verify()?;
    let bells = home.bells();
    fs::create_dir_all(&bells).map_err(Error::io("cannot create", &bells))?;
    Ok(log)
}

impl std::fmt::Debug for Up {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Up").field("home", &self.home).field("golems", &self.slots.len()).finish_non_exhaustive()
    }
}
