//! Living one life: the loop that looks, steps, writes down, acknowledges and performs.
//!
//! The order never varies. An input is stepped and staged; a commit makes it durable; only then is it
//! acknowledged and only then is anything it owes performed, whose answer is the next input. A commit
//! that was on its way when the process died is never sent again: the world is asked what became of it.

mod body;
pub(crate) mod far;
pub(crate) mod ground;
mod letters;
pub mod rehearsal;
pub(crate) mod writing;

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use golem::constitution::MindKind;
use golem::grimoire::{self, Grimoire, How, Turned};
use golem::heartbeat::State;
use golem::life::Endowment;
use golem::rule::text::Parsed;
use golem::shell;
use golem::world::{Observation, Timing};
use golem::{Command, Golem, Life, Owed, Record, Time, What, Which};
use vault::lines::HeirOf;
use vault::{Notice, Treasury, Vault};
use world::Ledger;

use crate::Error;
use crate::books;
use crate::bundle;
use crate::chance::Secret;
use crate::home::GolemHome;
use crate::inbox;
use crate::up::desk::Desk;
use crate::worlds;
use body::{Body, Shelled};
use far::Waker;
use writing::{Lodging, Writing};

/// Entries of an inheritance taken in one round.
const AT_ONCE: usize = 200;
/// How often the inbox is looked into while nothing else needs doing.
const INBOX_EVERY: Duration = Duration::from_millis(50);
/// How long a world that goes by the wall clock has to show what it has before a tick comes without it.
const GRACE: Duration = Duration::from_secs(2);
/// How long whoever leaves a life waits for its world to finish the call it is at.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Living {
    golem: Golem,
    body: Body,
    /// Since when a look is awaited, in a world that goes by the wall clock.
    looking: Option<Instant>,
}

/// How fast world time goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// World seconds per second of the owner's.
    Times(f64),
    Max,
}

#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub pace: Pace,
    /// Stop after so many ticks.
    pub ticks: Option<u64>,
    /// Ticks in one transaction at most.
    pub batch: u64,
}

/// Why a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Dead,
    Ticks,
    Stopped,
    /// The world has nothing more to show.
    WorldOver,
}

/// What became of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Lived,
    Paused,
    /// Its world has not yet shown what there is to see.
    Waits,
    WorldOver,
    Dead,
}

/// Who listens to a run. Everything told is durable already.
pub trait Listener {
    fn acknowledged(&mut self, records: &[Record], life: &Life) -> Result<(), Error>;
    /// Called often; true asks for a clean stop.
    fn stop(&mut self) -> bool;
}

impl Living {
    /// Takes the life's lock and wakes it.
    pub fn open(place: GolemHome, snapshot_every: u64) -> Result<(Living, Vec<Notice>), Error> {
        let treasury = Arc::new(Mutex::new(place.home().treasury()?));
        place.must_not_lodge()?;
        let (mut vault, mut golem, notices) = Vault::open(&place.vault(), snapshot_every)?;
        // Under the lock it is certain: a host that comes up now will find it taken.
        place.must_not_lodge()?;
        vault.retain(place.home().retention()?);
        place.home().reclaim(&mut vault, &mut golem)?;
        let mut living = Living::awake(place, Writing::Own(Box::new(vault)), golem, treasury)?;
        living.complete()?;
        Ok((living, notices))
    }

    /// Takes the life's lock and wakes it, whatever the treasury says of it: its owner is about to set that right.
    pub(crate) fn open_as_it_is(place: GolemHome) -> Result<Living, Error> {
        let treasury = Arc::new(Mutex::new(place.home().treasury()?));
        let (vault, golem, _) = Vault::open(&place.vault(), 1)?;
        Living::wake(place, Writing::Own(Box::new(vault)), golem, treasury)
    }

    /// Wakes a life at a host's desk. Its own file has everything, and nobody else may live it.
    pub(crate) fn lodge(place: GolemHome, desk: &Arc<Desk>) -> Result<Living, Error> {
        let (vault, golem, _) = Vault::open(&place.vault(), 1)?;
        let lodging = Lodging::new(Arc::clone(desk), &golem, vault.tip());
        drop(vault);
        let treasury = Arc::clone(&desk.treasury);
        let mut living = Living::awake(place, Writing::Lodged(lodging), golem, treasury)?;
        living.complete()?;
        Ok(living)
    }

    fn complete(&mut self) -> Result<(), Error> {
        self.complete_birth()?;
        self.complete_inheritance()
    }

    /// A birth is complete with its first money; one that was cut short before gets it now. An heir nobody asked for
    /// whose line was ended meanwhile gets none, and never lives.
    fn complete_birth(&mut self) -> Result<(), Error> {
        if self.life().transfers_taken > 0 || self.life().is_dead() {
            return Ok(());
        }
        let birth = &self.life().birth;
        let (id, Endowment { credit, capital }) = (birth.id, birth.endowment);
        let heir_of = birth.lineage.as_ref().map(|line| HeirOf { parent: line.parent, by_itself: line.by_itself });
        if !self.body.treasury().has_sent(id)? {
            let given = self.body.treasury().endow(id, heir_of, credit, capital);
            match given {
                Ok(_) => {}
                Err(why @ (vault::Error::LineEnded | vault::Error::HasHeir)) => {
                    let halt = Command::Halt { trigger: why.to_string() };
                    return self.obey(inbox::new_id(), halt, &mut Silent).map(|_| ());
                }
                Err(other) => return Err(other.into()),
            }
        }
        self.take_money(&mut Silent)
    }

    /// Not before its own book, the treasury's and the world's have been held against each other.
    fn awake(
        place: GolemHome,
        writing: Writing,
        golem: Golem,
        treasury: Arc<Mutex<Treasury>>,
    ) -> Result<Living, Error> {
        books::hold_treasury(&treasury.lock().unwrap_or_else(PoisonError::into_inner), golem.life())?;
        if golem.life().birth.world.paper {
            books::hold_world(&Ledger::look(place.ledger())?, golem.life())?;
        }
        Living::wake(place, writing, golem, treasury)
    }

    fn wake(place: GolemHome, writing: Writing, golem: Golem, treasury: Arc<Mutex<Treasury>>) -> Result<Living, Error> {
        let secret = Secret::load(&place.secret())?;
        if secret.hash() != golem.life().birth.secret_hash {
            return Err(Error::WrongSecret(place.secret()));
        }
        let ground = worlds::stand(&place, golem.life(), writing.is_lodged())?;
        let observation = Observation::default();
        let (unsaid, grimoire, memory, rewritten) = (Vec::new(), None, None, false);
        let body = Body { place, writing, ground, secret, treasury, observation, unsaid, grimoire, memory, rewritten };
        Ok(Living { golem, body, looking: None })
    }

    pub fn place(&self) -> &GolemHome {
        &self.body.place
    }

    pub fn life(&self) -> &Life {
        self.golem.life()
    }

    pub fn golem(&self) -> &Golem {
        &self.golem
    }

    /// Its own file, of a life that somebody lives by itself.
    pub fn vault(&self) -> &Vault {
        match &self.body.writing {
            Writing::Own(vault) => vault,
            Writing::Lodged(_) => unreachable!("a host gives nobody the file of a lodger"),
        }
    }

    /// Hands over the vault, to be sealed or copied; nothing may be under way.
    pub(crate) fn into_vault(self) -> Vault {
        match self.body.writing {
            Writing::Own(vault) => *vault,
            Writing::Lodged(_) => unreachable!("a host gives nobody the file of a lodger"),
        }
    }

    /// Lives until something ends it.
    pub fn run(&mut self, run: Run, listener: &mut impl Listener) -> Result<Ending, Error> {
        let ending = self.run_on(run, listener)?;
        // Whoever runs it next must not ask about what is still being done.
        self.body.ground.rest(PATIENCE);
        self.write_playbook()?;
        Ok(ending)
    }

    fn run_on(&mut self, run: Run, listener: &mut impl Listener) -> Result<Ending, Error> {
        let last_tick = run.ticks.map(|ticks| self.life().tick.saturating_add(ticks));
        let mut looked = Instant::now();
        let (mut pending, mut alarm) = (0, None);
        self.look_into_inbox(listener)?;
        loop {
            self.perform(listener)?;
            if self.life().heartbeat.state == State::Dead {
                self.flush(listener)?;
                // What the owner sent while it was dying goes back with the rest.
                self.take_money(listener)?;
                return Ok(Ending::Dead);
            }
            if listener.stop() {
                self.flush(listener)?;
                return Ok(Ending::Stopped);
            }
            if last_tick.is_some_and(|last| self.life().tick >= last) {
                self.flush(listener)?;
                return Ok(Ending::Ticks);
            }
            if looked.elapsed() >= INBOX_EVERY {
                self.look_into_inbox(listener)?;
                looked = Instant::now();
                continue;
            }
            if self.life().heartbeat.paused || self.life().is_dead() {
                self.flush(listener)?;
                self.body.ground.wait(INBOX_EVERY);
                continue;
            }
            if self.body.ground.end().is_some_and(|end| self.life().due() > end) {
                self.flush(listener)?;
                return Ok(Ending::WorldOver);
            }
            match run.pace {
                // As fast as it goes is as fast as the world answers.
                Pace::Max if !self.is_wall() => {
                    if self.body.ground.is_busy() {
                        self.flush(listener)?;
                        self.body.ground.wait(INBOX_EVERY);
                        continue;
                    }
                }
                pace => {
                    self.flush(listener)?;
                    pending = 0;
                    let speed = if let Pace::Times(speed) = pace { speed } else { 1.0 };
                    // Being spoken to does not put off the next look.
                    let until = *alarm.get_or_insert_with(|| Instant::now() + self.next_look_in(speed));
                    if !self.wait(until, listener)? {
                        continue;
                    }
                }
            }
            if !self.tick(listener)? {
                self.flush(listener)?;
                self.body.ground.wait(INBOX_EVERY);
                continue;
            }
            alarm = None;
            pending += 1;
            if pending >= run.batch {
                self.flush(listener)?;
                pending = 0;
            }
        }
    }

    /// One turn of one of many: what was said to it, what it owes, one look at the world, and all of it durable.
    pub(crate) fn turn(&mut self, listener: &mut impl Listener) -> Result<Turn, Error> {
        self.look_into_inbox(listener)?;
        self.perform(listener)?;
        let mut waits = false;
        if !self.life().is_dead() && !self.life().heartbeat.paused {
            if self.body.ground.end().is_some_and(|end| self.life().due() > end) {
                self.flush(listener)?;
                return Ok(Turn::WorldOver);
            }
            waits = !self.tick(listener)?;
            self.flush(listener)?;
            self.perform(listener)?;
        }
        self.flush(listener)?;
        if self.body.rewritten {
            self.show_playbook();
        }
        if self.life().heartbeat.state == State::Dead {
            self.take_money(listener)?;
            self.body.writing.carry_over(&self.body.place)?;
            return Ok(Turn::Dead);
        }
        let paused = self.life().heartbeat.paused;
        Ok(if paused {
            Turn::Paused
        } else if waits {
            Turn::Waits
        } else {
            Turn::Lived
        })
    }

    /// Listens to what was said to it, and does nothing else.
    pub(crate) fn hear(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.look_into_inbox(listener)?;
        self.perform(listener)?;
        self.flush(listener)
    }

    /// Its own file has everything; it may be left. A world that is at work for it must be done first: whoever opens it
    /// next must not ask about what is still being done.
    pub(crate) fn leave(&mut self) -> Result<(), Error> {
        self.flush(&mut Silent)?;
        self.show_playbook();
        self.body.writing.carry_over(&self.body.place)?;
        if self.body.ground.rest(PATIENCE) {
            Ok(())
        } else {
            Err(Error::Busy(format!(
                "the world of {} has not answered yet; try again in a moment",
                self.body.place.name
            )))
        }
    }

    /// Somebody wants to know when its world has answered.
    pub(crate) fn wakes(&self, waker: Waker) {
        self.body.ground.wakes(waker);
    }

    /// How long its world has not answered.
    pub(crate) fn unanswered_for(&self) -> Option<Duration> {
        self.body.ground.silent_for()
    }

    /// Looks at the world and lives what it shows; false while that is still to come. A world with its own time is looked
    /// at as it was when the look was due; one that goes by the wall clock as it is, and does not hold up a tick.
    fn tick(&mut self, listener: &mut impl Listener) -> Result<bool, Error> {
        let wall = self.is_wall();
        let now = if wall { wall_time().max(self.life().now) } else { self.life().due() };
        loop {
            let since = self.life().seen.until.max(self.life().born);
            let memory = std::mem::take(&mut self.body.observation);
            let Some((seen_at, seen)) = self.body.ground.look(since, now, memory)? else {
                let asked = *self.looking.get_or_insert_with(Instant::now);
                if !wall || asked.elapsed() < GRACE {
                    return Ok(false);
                }
                // It lives on, with nothing to see.
                self.looking = None;
                self.feed(now, What::Observed(Observation::default()), listener)?;
                return Ok(true);
            };
            let more = seen.bars.len() >= golem::limits::BARS;
            let now = if wall { now.max(seen_at) } else { seen_at };
            if let What::Observed(observation) = self.feed(now, What::Observed(seen), listener)? {
                self.body.observation = observation;
            }
            if !more {
                self.looking = None;
                return Ok(true);
            }
        }
    }

    fn is_wall(&self) -> bool {
        self.life().birth.world.timing == Timing::Wall
    }

    /// Steps one input; gives it back so that its memory can be used again.
    fn feed(&mut self, now: Time, what: What, listener: &mut impl Listener) -> Result<What, Error> {
        let what = shell::feed(&mut self.golem, &mut Shelled { body: &mut self.body, listener }, now, what)?;
        #[cfg(test)]
        if matches!(what, What::Observed(_)) {
            crate::up::curse::strike(&self.body.place, crate::up::curse::Part::Mind);
        }
        Ok(what)
    }

    fn flush(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.body.flush(self.golem.life(), listener)
    }

    /// Sees to what is owed, until nothing more is but what is under way.
    fn perform(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        // What came back though nobody asks for it any more may still be about money.
        if self.body.ground.is_far() {
            let errands = |golem: &Golem| -> Vec<Which> {
                let errand = |owed| if let Owed::Errand(errand) = owed { Some(errand.which()) } else { None };
                golem.owed().filter_map(errand).collect()
            };
            while let Some(what) = self.body.ground.keep_only(&errands(&self.golem)) {
                self.feed(self.life().now, what, listener)?;
                self.flush(listener)?;
            }
        }
        shell::perform(&mut self.golem, &mut Shelled { body: &mut self.body, listener })?;
        self.body.forget_what_can_be_read_again();
        Ok(())
    }

    /// Takes in lines of a bundle, durably, and says of each what became of it.
    pub fn take_in(&mut self, lines: &[&str], how: How) -> Result<Vec<Result<(), Turned>>, Error> {
        self.must_live()?;
        let mut grimoire = self.body.known()?;
        let (answer, told) = grimoire::take_in(&mut grimoire, self.golem.life(), lines, how);
        self.know(grimoire);
        self.feed(self.golem.life().now, What::Curated(Box::new(answer)), &mut Silent)?;
        self.flush(&mut Silent)?;
        Ok(told)
    }

    /// Takes what its owner proposed, to be tried like anything else that comes from outside.
    pub fn propose(&mut self, rules: impl IntoIterator<Item = Parsed>) -> Result<(), Error> {
        self.must_live()?;
        let mut grimoire = self.body.known()?;
        let answer = grimoire::proposed(&mut grimoire, self.golem.life(), rules);
        self.know(grimoire);
        self.feed(self.golem.life().now, What::Curated(Box::new(answer)), &mut Silent)?;
        self.flush(&mut Silent)
    }

    /// What it knows by now, as good as written.
    fn know(&mut self, grimoire: Grimoire) {
        self.body.grimoire = Some(grimoire);
    }

    /// The dead learn nothing.
    fn must_live(&self) -> Result<(), Error> {
        if self.life().is_dead() { Err(Error::Dead(self.body.place.name.clone(), self.cause())) } else { Ok(()) }
    }

    /// The playbook as a file, unless somebody has edited it; there is none without rules.
    pub fn write_playbook(&self) -> Result<bool, Error> {
        let rules = self.life().constitution().mind.kind == MindKind::Rules;
        if rules { crate::playbook::write(&self.body.place.playbook(), self.golem.life()) } else { Ok(false) }
    }

    /// The same at a host, where a page that cannot be written is no reason to stop living.
    fn show_playbook(&mut self) {
        self.body.rewritten = false;
        if let Err(why) = self.write_playbook() {
            tracing::warn!(golem = self.body.place.name.as_str(), %why, "cannot write its playbook");
        }
    }

    /// Takes in what it was left, if it has not yet: whatever it knows already is turned away, so being cut short
    /// costs nothing but the time.
    fn complete_inheritance(&mut self) -> Result<(), Error> {
        let path = self.body.place.inheritance();
        if self.life().is_dead() || !path.exists() {
            return Ok(());
        }
        let left = bundle::open(self.body.place.home(), &path)?;
        let lines: Vec<String> =
            left.lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data")).collect();
        let how = if left.stranger { How::Purchased } else { How::Inherited };
        for some in lines.chunks(AT_ONCE) {
            self.take_in(&some.iter().map(String::as_str).collect::<Vec<_>>(), how)?;
        }
        fs::rename(&path, self.body.place.inherited()).map_err(Error::io("cannot move", &path))
    }

    fn cause(&self) -> String {
        self.life().death.as_ref().map(|death| death.cause.to_string()).unwrap_or_default()
    }

    /// How long it is from one look to the next; the wall clock cannot be hurried.
    pub(crate) fn interval_at(&self, speed: f64) -> Duration {
        let speed = if self.is_wall() { 1.0 } else { speed };
        Duration::from_secs_f64(self.life().interval().as_millis() as f64 / 1_000.0 / speed)
    }

    /// How long it is until the next look.
    fn next_look_in(&self, speed: f64) -> Duration {
        if self.is_wall() {
            Duration::from_millis(self.life().due().since(wall_time()).as_millis())
        } else {
            self.interval_at(speed)
        }
    }

    /// Sleeps until the alarm; false if something wants attention first.
    fn wait(&mut self, until: Instant, listener: &mut impl Listener) -> Result<bool, Error> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(true);
            }
            std::thread::sleep(left.min(INBOX_EVERY));
            if listener.stop() || self.body.ground.has_news() {
                return Ok(false);
            }
            if left > INBOX_EVERY {
                let seq = self.golem.seq();
                self.look_into_inbox(listener)?;
                if self.golem.seq() != seq {
                    return Ok(false);
                }
            }
        }
    }
}

/// The time of everybody's clocks.
fn wall_time() -> Time {
    Time::millis(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64))
}

/// A listener that hears nothing and never stops anyone.
#[derive(Debug)]
pub struct Silent;

impl Listener for Silent {
    fn acknowledged(&mut self, _: &[Record], _: &Life) -> Result<(), Error> {
        Ok(())
    }
    fn stop(&mut self) -> bool {
        false
    }
}

impl std::fmt::Debug for Living {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Living")
            .field("name", &self.body.place.name)
            .field("seq", &self.golem.seq())
            .finish_non_exhaustive()
    }
}
