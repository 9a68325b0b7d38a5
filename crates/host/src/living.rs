//! Living one life: the loop that looks, steps, writes down, acknowledges and performs.
//!
//! The order never varies. An input is stepped and staged; a commit makes it durable; only then is it
//! acknowledged and only then is anything it owes performed, whose answer is the next input. A commit
//! that was on its way when the process died is never sent again: the world is asked what became of it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use golem::constitution::MindKind;
use golem::dream::{self, Memory};
use golem::grimoire::{self, Grimoire, How, Intake, Turned};
use golem::heartbeat::State;
use golem::life::Endowment;
use golem::policy::Rule;
use golem::rule::text::Parsed;
use golem::stress::Word;
use golem::world::{Effect, Observation};
use golem::{Command, CommandId, Golem, Input, Life, Owed, Record, Time, Usdc, What};
use tracing::info;
use vault::lines::HeirOf;
use vault::{Head, Notice, Reader, Seal, Treasury, Vault};
use world::{Ledger, World};

use crate::Error;
use crate::books;
use crate::bundle;
use crate::chance::Secret;
use crate::closing;
use crate::effects;
use crate::home::GolemHome;
use crate::inbox::{self, Body, Letter, Reply};
use crate::keep::{Keep, Lodging};
use crate::nights;
use crate::up::desk::Desk;

/// Entries of an inheritance taken in one round.
const AT_ONCE: usize = 200;
/// The most of a host's golems that one of them speaks to.
const PEERS: usize = 32;
/// How often the inbox is looked into while nothing else needs doing.
const INBOX_EVERY: Duration = Duration::from_millis(50);

pub struct Living {
    pub place: GolemHome,
    golem: Golem,
    keep: Keep,
    world: Box<dyn World + Send>,
    secret: Secret,
    treasury: Arc<Mutex<Treasury>>,
    observation: Observation,
    /// Records stepped but not yet durable.
    unsaid: Vec<Record>,
    /// What it knows, read from its rows when it is first needed.
    grimoire: Option<Grimoire>,
    intake: Intake,
    /// What it can dream of, read from its journal when it first dreams.
    memory: Option<Memory>,
    /// Its playbook may have changed since it was last written down.
    rewritten: bool,
    /// Commits that may or may not have been sent before this process began.
    doubtful: BTreeSet<u64>,
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
        let ledger = Ledger::file(place.ledger())?;
        let mut living = Living::awake(place, Keep::Own(Box::new(vault)), golem, treasury, ledger)?;
        living.complete()?;
        Ok((living, notices))
    }

    /// Takes the life's lock and wakes it, whatever the treasury says of it: its owner is about to set that right.
    pub(crate) fn open_as_it_is(place: GolemHome) -> Result<Living, Error> {
        let treasury = Arc::new(Mutex::new(place.home().treasury()?));
        let (vault, golem, _) = Vault::open(&place.vault(), 1)?;
        let ledger = Ledger::file(place.ledger())?;
        Living::wake(place, Keep::Own(Box::new(vault)), golem, treasury, ledger)
    }

    /// Wakes a life at a host's desk. Its own file has everything, and nobody else may live it.
    pub(crate) fn lodge(place: GolemHome, desk: &Arc<Desk>) -> Result<Living, Error> {
        let (vault, golem, _) = Vault::open(&place.vault(), 1)?;
        let lodging = Lodging::new(Arc::clone(desk), place.name.as_str(), vault.tip());
        drop(vault);
        let ledger = Ledger::resting(place.ledger())?;
        let treasury = Arc::clone(&desk.treasury);
        let mut living = Living::awake(place, Keep::Lodged(lodging), golem, treasury, ledger)?;
        living.complete()?;
        Ok(living)
    }

    fn complete(&mut self) -> Result<(), Error> {
        self.complete_birth()?;
        self.complete_inheritance()
    }

    fn treasury(&self) -> MutexGuard<'_, Treasury> {
        self.treasury.lock().unwrap_or_else(PoisonError::into_inner)
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
        if !self.treasury().has_sent(id)? {
            let given = self.treasury().endow(id, heir_of, credit, capital);
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
        keep: Keep,
        golem: Golem,
        treasury: Arc<Mutex<Treasury>>,
        ledger: Ledger,
    ) -> Result<Living, Error> {
        books::hold_treasury(&treasury.lock().unwrap_or_else(PoisonError::into_inner), golem.life())?;
        books::hold_world(&ledger, golem.life())?;
        Living::wake(place, keep, golem, treasury, ledger)
    }

    fn wake(
        place: GolemHome,
        keep: Keep,
        golem: Golem,
        treasury: Arc<Mutex<Treasury>>,
        ledger: Ledger,
    ) -> Result<Living, Error> {
        let secret = Secret::load(&place.secret())?;
        if secret.hash() != golem.life().birth.secret_hash {
            return Err(Error::WrongSecret(place.secret()));
        }
        let mut world = place.home().open_world(&golem.life().birth.world.spec, ledger)?;
        world.seek(golem.life().seen.until)?;
        #[cfg(test)]
        let world = crate::up::curse::over(&place, world);
        let sent_or_not = |owed| if let Owed::Commit { key, .. } = owed { Some(key) } else { None };
        let doubtful = golem.owed().into_iter().filter_map(sent_or_not).collect();
        Ok(Living {
            place,
            golem,
            keep,
            world,
            secret,
            treasury,
            observation: Observation::default(),
            unsaid: Vec::new(),
            grimoire: None,
            intake: Intake::default(),
            memory: None,
            rewritten: false,
            doubtful,
        })
    }

    pub fn life(&self) -> &Life {
        self.golem.life()
    }

    pub fn golem(&self) -> &Golem {
        &self.golem
    }

    /// Its own file, of a life that somebody lives by itself.
    pub fn vault(&self) -> &Vault {
        match &self.keep {
            Keep::Own(vault) => vault,
            Keep::Lodged(_) => unreachable!("a host gives nobody the file of a lodger"),
        }
    }

    /// Hands over the vault, to be sealed or copied; nothing may be under way.
    pub(crate) fn into_vault(self) -> Vault {
        match self.keep {
            Keep::Own(vault) => *vault,
            Keep::Lodged(_) => unreachable!("a host gives nobody the file of a lodger"),
        }
    }

    /// Lives until something ends it.
    pub fn run(&mut self, run: Run, listener: &mut impl Listener) -> Result<Ending, Error> {
        let ending = self.run_on(run, listener)?;
        self.write_playbook()?;
        Ok(ending)
    }

    fn run_on(&mut self, run: Run, listener: &mut impl Listener) -> Result<Ending, Error> {
        let last_tick = run.ticks.map(|ticks| self.life().tick.saturating_add(ticks));
        let mut looked = Instant::now();
        let (mut pending, mut alarm) = (0, None);
        self.look_into_inbox(listener)?;
        loop {
            self.settle(listener)?;
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
                std::thread::sleep(INBOX_EVERY);
                continue;
            }
            let due = self.life().due();
            if self.world.end().is_some_and(|end| due > end) {
                self.flush(listener)?;
                return Ok(Ending::WorldOver);
            }
            if let Pace::Times(speed) = run.pace {
                self.flush(listener)?;
                pending = 0;
                // Being spoken to does not put off the next look.
                let until = *alarm.get_or_insert_with(|| Instant::now() + self.interval_at(speed));
                if !self.wait(until, listener)? {
                    continue;
                }
                alarm = None;
            }
            self.tick(due)?;
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
        self.settle(listener)?;
        if !self.life().is_dead() && !self.life().heartbeat.paused {
            let due = self.life().due();
            if self.world.end().is_some_and(|end| due > end) {
                self.flush(listener)?;
                return Ok(Turn::WorldOver);
            }
            self.tick(due)?;
            self.flush(listener)?;
            self.settle(listener)?;
        }
        self.flush(listener)?;
        if self.rewritten {
            self.show_playbook();
        }
        if self.life().heartbeat.state == State::Dead {
            self.take_money(listener)?;
            self.keep.carry_over(&self.place)?;
            return Ok(Turn::Dead);
        }
        Ok(if self.life().heartbeat.paused { Turn::Paused } else { Turn::Lived })
    }

    /// Listens to what was said to it, and does nothing else.
    pub(crate) fn hear(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.look_into_inbox(listener)?;
        self.settle(listener)?;
        self.flush(listener)
    }

    /// Its own file has everything; it may be left.
    pub(crate) fn leave(&mut self) -> Result<(), Error> {
        self.flush(&mut Silent)?;
        self.show_playbook();
        self.keep.carry_over(&self.place)
    }

    /// Whoever wrote to the dead before it was known hears of it; nothing of its life is touched.
    pub(crate) fn turn_away_letters(&self) {
        if self.life().is_dead() {
            for (path, _) in inbox::waiting(&self.place.inbox()).unwrap_or_default() {
                let _ = inbox::answer(&path, &Reply::Dead(self.cause()));
            }
        }
    }

    /// Looks at the world as of `now` and lives what it shows.
    fn tick(&mut self, now: Time) -> Result<(), Error> {
        loop {
            let since = self.life().seen.until.max(self.life().born);
            let mut observation = std::mem::take(&mut self.observation);
            observation.bars.clear();
            self.world.observe(since, now, &mut observation)?;
            let more = observation.bars.len() >= golem::limits::BARS;
            self.observation = self.feed(now, What::Observed(observation))?;
            if !more {
                return Ok(());
            }
        }
    }

    /// Steps one input; gives an observation back so that its memory can be used again.
    fn feed(&mut self, now: Time, what: What) -> Result<Observation, Error> {
        let roll = self.secret.roll(self.life().id(), self.life().tick + 1);
        let input = Input { now, roll, what };
        self.keep.about_to_step(&self.golem);
        let stepped = self.golem.step(&input)?;
        #[cfg(test)]
        if matches!(input.what, What::Observed(_)) {
            crate::up::curse::strike(&self.place, crate::up::curse::Part::Mind);
        }
        if let Some(record) = stepped {
            self.keep.stage(&record, self.golem.life());
            if let Some(memory) = &mut self.memory {
                memory.hear(&record, self.golem.life());
            }
            self.unsaid.push(record);
        }
        match input.what {
            What::Observed(observation) => Ok(observation),
            _ => Ok(Observation::default()),
        }
    }

    /// Makes durable what was stepped, then says so.
    fn flush(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        if self.unsaid.is_empty() {
            return Ok(());
        }
        self.keep.commit(&self.unsaid, self.golem.life())?;
        listener.acknowledged(&self.unsaid, self.golem.life())?;
        self.unsaid.clear();
        Ok(())
    }

    /// Performs what is owed until nothing more is; everything owed is on record before it is done.
    fn settle(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        while !self.golem.owes_nothing() {
            // Nothing leaves the process with this, so it can wait for the next transaction.
            if self.golem.owed().first() == Some(&Owed::Curate) {
                self.curate()?;
                continue;
            }
            self.flush(listener)?;
            let before = self.golem.seq();
            for owed in self.golem.owed() {
                let what = self.perform(&owed)?;
                self.feed(self.life().now, what)?;
                self.flush(listener)?;
            }
            if self.golem.seq() == before {
                break;
            }
        }
        self.forget_what_can_be_read_again();
        Ok(())
    }

    /// Goes through what it knows.
    fn curate(&mut self) -> Result<(), Error> {
        let grimoire = match &mut self.grimoire {
            Some(grimoire) => grimoire,
            empty => empty.insert(Grimoire::new(self.keep.entries(&self.place)?)),
        };
        let answer = grimoire::round(grimoire, self.golem.life());
        self.feed(self.golem.life().now, What::Curated(Box::new(answer)))?;
        self.rewritten = true;
        Ok(())
    }

    /// One of very many keeps in memory only what it cannot do without.
    fn forget_what_can_be_read_again(&mut self) {
        if self.keep.is_lodged() {
            (self.grimoire, self.memory) = (None, None);
        }
    }

    /// Takes in lines of a bundle, durably, and says of each what became of it.
    pub fn take_in(&mut self, lines: &[&str], how: How) -> Result<Vec<Result<(), Turned>>, Error> {
        self.must_live()?;
        let mut grimoire = Grimoire::new(self.keep.entries(&self.place)?);
        let (answer, told) = grimoire::take_in(&mut grimoire, self.golem.life(), lines, how, &mut self.intake);
        self.grimoire = Some(grimoire);
        self.feed(self.golem.life().now, What::Curated(Box::new(answer)))?;
        self.flush(&mut Silent)?;
        Ok(told)
    }

    /// Takes what its owner proposed, to be tried like anything else that comes from outside.
    pub fn propose(&mut self, rules: impl IntoIterator<Item = Parsed>) -> Result<(), Error> {
        self.must_live()?;
        let mut grimoire = Grimoire::new(self.keep.entries(&self.place)?);
        let answer = grimoire::proposed(&mut grimoire, self.golem.life(), rules);
        self.grimoire = Some(grimoire);
        self.feed(self.golem.life().now, What::Curated(Box::new(answer)))?;
        self.flush(&mut Silent)
    }

    /// The dead learn nothing.
    fn must_live(&self) -> Result<(), Error> {
        if self.life().is_dead() { Err(Error::Dead(self.place.name.clone(), self.cause())) } else { Ok(()) }
    }

    /// The playbook as a file, unless somebody has edited it; there is none without rules.
    pub fn write_playbook(&self) -> Result<bool, Error> {
        let rules = self.life().constitution().mind.kind == MindKind::Rules;
        if rules { crate::playbook::write(&self.place.playbook(), self.golem.life()) } else { Ok(false) }
    }

    /// The same at a host, where a page that cannot be written is no reason to stop living.
    fn show_playbook(&mut self) {
        self.rewritten = false;
        if let Err(why) = self.write_playbook() {
            tracing::warn!(golem = self.place.name.as_str(), %why, "cannot write its playbook");
        }
    }

    fn perform(&mut self, owed: &Owed) -> Result<What, Error> {
        match *owed {
            Owed::Commit { key, action, .. } => {
                let doubtful = self.doubtful.remove(&key);
                let adds = self.life().birth.world.actions[usize::from(action)].effect == Effect::Adds;
                // The last look before money moves: an owner's freeze counts even if nobody has read it yet.
                let only_ask = doubtful || (adds && self.place.frozen().is_some());
                let owed = if only_ask { &Owed::Reconcile { key } } else { owed };
                effects::ask_world(self.world.as_mut(), owed)
            }
            Owed::Dream { .. } => self.dream(),
            Owed::Reflect => self.reflect(),
            Owed::Bequeath => self.bequeath(),
            Owed::Tell { number, word } => Ok(What::Told { number, peers: self.tell_peers(number, word)? }),
            Owed::Deposit { deposit, amount } => {
                self.treasury().receive(self.golem.life().id(), deposit, amount)?;
                Ok(What::Deposited { deposit })
            }
            _ => effects::ask_world(self.world.as_mut(), owed),
        }
    }

    /// Takes in what it was left, if it has not yet: whatever it knows already is turned away, so being cut short
    /// costs nothing but the time.
    fn complete_inheritance(&mut self) -> Result<(), Error> {
        let path = self.place.inheritance();
        if self.life().is_dead() || !path.exists() {
            return Ok(());
        }
        let left = bundle::open(self.place.home(), &path)?;
        let lines: Vec<String> =
            left.lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data")).collect();
        let how = if left.stranger { How::Purchased } else { How::Inherited };
        for some in lines.chunks(AT_ONCE) {
            self.take_in(&some.iter().map(String::as_str).collect::<Vec<_>>(), how)?;
        }
        fs::rename(&path, self.place.inherited()).map_err(Error::io("cannot move", &path))
    }

    /// Writes the testament.
    fn reflect(&mut self) -> Result<What, Error> {
        let grimoire = Grimoire::new(self.keep.entries(&self.place)?);
        let hash = closing::reflect(&self.place, self.golem.life(), &grimoire, &self.secret)?;
        Ok(What::Reflected { hash })
    }

    /// Passes on what it knew.
    fn bequeath(&mut self) -> Result<What, Error> {
        let grimoire = Grimoire::new(self.keep.entries(&self.place)?);
        let (hash, entries) = closing::bequeath(&self.place, self.golem.life(), &grimoire)?;
        Ok(What::Bequeathed { hash, entries })
    }

    /// Does the night's work. What is lived and known is durable by now, so the file has it all; a night in the middle of
    /// a run must see no more and no less than one right after a start.
    fn dream(&mut self) -> Result<What, Error> {
        if self.grimoire.is_none() {
            self.grimoire = Some(Grimoire::new(self.keep.entries(&self.place)?));
        }
        if self.memory.is_none() {
            self.keep.carry_over(&self.place)?;
            self.memory = Some(nights::remembered(&self.place, self.golem.life())?);
        }
        let (Some(memory), Some(grimoire)) = (&self.memory, &self.grimoire) else { unreachable!("just read") };
        #[cfg(test)]
        crate::up::curse::strike(&self.place, crate::up::curse::Part::Dream);
        Ok(What::Dreamt(Box::new(dream::work(memory, grimoire, self.golem.life()))))
    }

    /// A letter to every living golem of the same home. Sent twice after a crash, each is the same letter.
    fn tell_peers(&self, number: u64, word: Word) -> Result<u32, Error> {
        let from = self.life().id();
        let mut hasher = blake3::Hasher::new();
        let when = self.life().now.as_millis();
        hasher.update(&from.0).update(&number.to_le_bytes()).update(&when.to_le_bytes());
        hasher.update(format!("{word:?}").as_bytes());
        let id = CommandId(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"));
        // A neighbour that cannot be read or written to is its owner's to see to; nothing here waits for it.
        let told =
            self.peers()?.iter().filter(|peer| inbox::send_as(peer, id, Body::Word { from, word }).is_ok()).count();
        Ok(told as u32)
    }

    /// The living of the same home; of very many, the next few by name.
    fn peers(&self) -> Result<Vec<GolemHome>, Error> {
        let (home, me) = (self.place.home(), &self.place.name);
        if let Some(near) = self.keep.neighbours(me.as_str(), PEERS) {
            return Ok(near.iter().filter_map(|name| home.golem(name).ok()).collect());
        }
        let lives = |place: &GolemHome| {
            let woken = Reader::open(&place.database()).and_then(|reader| reader.wake());
            woken.is_ok_and(|(golem, _)| {
                let here = Head::peek(&home.heads(), golem.life().id()).is_some_and(|head| head.seal == Seal::Open);
                here && !golem.life().is_dead()
            })
        };
        Ok(home.list()?.into_iter().filter(|place| place.name != *me && lives(place)).collect())
    }

    /// Takes in what the owner has said and sent since the last look.
    pub fn look_into_inbox(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        if let (false, Some(reason)) = (self.life().heartbeat.frozen || self.life().is_dead(), self.place.frozen()) {
            self.obey(inbox::new_id(), Command::Freeze { reason }, listener)?;
        }
        self.take_money(listener)?;
        for (path, letter) in inbox::waiting(&self.place.inbox())? {
            let order = order_of(&letter.body);
            let is_word = matches!(letter.body, Body::Word { .. });
            let reply = match letter.check() {
                Ok(()) => self.heed(letter, listener)?,
                Err(why) => Reply::Refused(why),
            };
            if is_word {
                inbox::discard(&path)?;
                continue;
            }
            inbox::answer(&path, &reply)?;
            if let Some(order) = order {
                let golem = self.place.name.as_str();
                match &reply {
                    Reply::Done => info!(golem, order, "obeyed"),
                    Reply::Refused(why) => info!(golem, order, why, "declined"),
                    Reply::Dead(_) => info!(golem, order, why = "it is dead", "declined"),
                }
            }
        }
        Ok(())
    }

    /// Does what a letter says, durably.
    fn heed(&mut self, letter: Letter, listener: &mut impl Listener) -> Result<Reply, Error> {
        match letter.body {
            Body::Fund { credit, capital } => self.fund(letter.id, credit, capital, listener),
            Body::Command(command) => self.obey(letter.id, command, listener),
            Body::CatchUp => self.keep.carry_over(&self.place).map(|()| Reply::Done),
            Body::Word { from, word } => {
                self.feed(self.life().now, What::Heard { letter: letter.id, from, word })?;
                self.flush(listener).map(|()| Reply::Done)
            }
        }
    }

    /// Takes what the treasury has sent, in order, each once.
    pub fn take_money(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        let sent = self.treasury().undelivered(self.life().id(), self.life().transfers_taken)?;
        for sent in sent {
            let what = What::Funded { transfer: sent.number, credit: sent.credit, capital: sent.capital };
            self.feed(self.life().now, what)?;
        }
        self.flush(listener)?;
        self.settle(listener)
    }

    /// Obeys or refuses one command, durably.
    pub fn obey(&mut self, id: CommandId, command: Command, listener: &mut impl Listener) -> Result<Reply, Error> {
        self.feed(self.life().now, What::Commanded { id, command })?;
        self.flush(listener)?;
        self.settle(listener)?;
        // Also true of a command that was obeyed or declined before, and whose answer got lost.
        let declined = self.life().commands.iter().find(|(known, _)| *known == id).and_then(|(_, rule)| *rule);
        Ok(match declined {
            None => Reply::Done,
            Some(Rule::Dead) => Reply::Dead(self.cause()),
            Some(rule) => Reply::Refused(rule.to_string()),
        })
    }

    /// Takes money out of the treasury and in, once for each letter. Only who holds the lock may: money is never
    /// on its way to a life that cannot take it.
    pub fn fund(
        &mut self,
        letter: CommandId,
        credit: Usdc,
        capital: Usdc,
        listener: &mut impl Listener,
    ) -> Result<Reply, Error> {
        self.take_money(listener)?;
        let life = self.life();
        if life.is_dead() {
            return Ok(Reply::Dead(self.cause()));
        }
        let most = |given: Usdc, more: Usdc| given.checked_add(more).is_none_or(|sum| sum > Usdc::MOST);
        if most(life.purse.given, credit) || most(life.capital.given, capital) {
            return Ok(Reply::Refused(format!("no golem may ever be given more than {}", Usdc::MOST)));
        }
        let letter: String = letter.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let (id, taken) = (life.id(), life.transfers_taken);
        let sent = self.treasury().send_for(Some(&letter), id, taken, credit, capital);
        match sent {
            Ok(_) => {}
            Err(short @ vault::Error::TreasuryShort { .. }) => return Ok(Reply::Refused(short.to_string())),
            Err(other) => return Err(other.into()),
        }
        self.take_money(listener)?;
        Ok(Reply::Done)
    }

    fn cause(&self) -> String {
        self.life().death.as_ref().map(|death| death.cause.to_string()).unwrap_or_default()
    }

    pub(crate) fn interval_at(&self, speed: f64) -> Duration {
        Duration::from_secs_f64(self.life().interval().as_millis() as f64 / 1_000.0 / speed)
    }

    /// Sleeps until the alarm; false if something wants attention first.
    fn wait(&mut self, until: Instant, listener: &mut impl Listener) -> Result<bool, Error> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(true);
            }
            std::thread::sleep(left.min(INBOX_EVERY));
            if listener.stop() {
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

/// What the log calls an owner's word; nothing of what the owner wrote in it.
fn order_of(body: &Body) -> Option<&'static str> {
    Some(match body {
        Body::Fund { .. } => "fund",
        Body::Command(command) => match command {
            Command::Pause => "pause",
            Command::Resume => "resume",
            Command::Freeze { .. } => "freeze",
            Command::Withdraw { .. } => "withdraw",
            Command::Dream => "dream",
            Command::Dreams { on: true } => "dreams on",
            Command::Dreams { on: false } => "dreams off",
            Command::Wake => "wake",
            Command::Retire { .. } => "retire",
            Command::Halt { .. } => "halt",
            Command::Approve { .. } => "approve",
            Command::Amend { .. } => "amend",
        },
        Body::Word { .. } | Body::CatchUp => return None,
    })
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
        f.debug_struct("Living").field("name", &self.place.name).field("seq", &self.golem.seq()).finish_non_exhaustive()
    }
}
