//! A world that is a program of its owner's. Outcomes that it reports are kept beside the life as for every world, and
//! are not asked again. A program that breaks off, breaks the protocol or does not answer is ended, rests a while and
//! is started again; an action that it may have been told to do by then is asked about, and never told again.

use std::path::Path;
use std::time::Instant;

use golem::Life;
use golem::time::Time;
use golem::world::{Fate, Manifest, Observation, Order, Quote};
use outside::{Launch, Settled, Trouble, WorldProgram};
use world::{Ledger, World};

use super::programs::{Programs, Run, keeper, rests};
use crate::home::GolemHome;
use crate::{Error, private};

/// A program as a world.
#[derive(Debug)]
pub struct Outside {
    run: Run,
    launch: Launch,
    settled: Settled,
    /// The manifest that was declared at birth; none before.
    born: Option<Manifest>,
    /// Whether it carries out orders, and shows nothing.
    orders: bool,
    program: Option<WorldProgram>,
    /// Outcomes it has reported; none, where it has to remember them by itself.
    ledger: Option<Ledger>,
    /// How often in a row it fell over, and until when it rests.
    falls: u32,
    rests: Option<Instant>,
    /// The last trouble with it.
    why: String,
    /// The time its golem has seen.
    stands: Time,
    /// The last key that has been used, and what is held, where a ledger keeps that.
    knows: Option<(u64, i64)>,
    /// The key of an action that it may have been told to do, and has not answered.
    unsure: Option<u64>,
    /// Whether the last question got as far as the program.
    told: bool,
    /// Start of its data, as it said last.
    start: Time,
    end: Option<Time>,
}

impl Outside {
    /// A world for a golem that is not born yet, or for a check: it runs, and has to remember everything by itself.
    pub fn bare(home: &Path, own: &Path, run: Run, golem: &str, seed: u64) -> Result<Outside, Error> {
        private::folder(own).map_err(Error::io("cannot create", own))?;
        let settled = Settled { golem: golem.to_owned(), id: None, folder: own.display().to_string(), seed };
        let mut outside = Outside {
            launch: run.launch(home, own),
            run,
            settled,
            born: None,
            orders: false,
            program: None,
            ledger: None,
            falls: 0,
            rests: None,
            why: String::new(),
            stands: Time::default(),
            knows: None,
            unsure: None,
            told: false,
            start: Time::default(),
            end: None,
        };
        outside.begin().map_err(|why| Error::Usage(format!("the program {}: {why}", outside.run.command)))?;
        Ok(outside)
    }

    /// The world of this life.
    pub(super) fn of(place: &GolemHome, life: &Life, seed: u64, ledger: Ledger) -> Result<Outside, Error> {
        let run = Programs::read(place)?.world.ok_or_else(|| {
            let name = &place.name;
            Error::Usage(format!("{name} lives in a program that is not named here; `bardo golem program {name} --world COMMAND` names it"))
        })?;
        Outside::run(run, place, life, seed, ledger, false)
    }

    /// The program that carries out the orders of this life.
    pub(super) fn orders(place: &GolemHome, life: &Life, ledger: Ledger) -> Result<Outside, Error> {
        let run = Programs::read(place)?.orders.ok_or_else(|| {
            let name = &place.name;
            Error::Usage(format!("no program is named here that carries out the orders of {name}; `bardo golem program {name} --orders COMMAND` names one"))
        })?;
        Outside::run(run, place, life, 0, ledger, true)
    }

    /// Checks that the program which carries out the orders of this life can be started, if it has one.
    pub fn greets(place: &GolemHome, life: &Life) -> Result<(), Error> {
        if !GolemHome::is_ordered(life) {
            return Ok(());
        }
        let mut orders = Outside::orders(place, life, Ledger::memory())?;
        orders.begin().map_err(|why| Error::Usage(format!("the program {}: {why}", orders.run.command)))
    }

    fn run(
        run: Run,
        place: &GolemHome,
        life: &Life,
        seed: u64,
        ledger: Ledger,
        orders: bool,
    ) -> Result<Outside, Error> {
        let own = if orders { place.orders() } else { place.own() };
        let (launch, settled) = run.settle(place, life, seed, own)?;
        Ok(Outside {
            launch,
            run,
            settled,
            born: Some(Manifest { spec: String::new(), ..life.birth().world.clone() }),
            orders,
            program: None,
            stands: life.seen().until,
            knows: Some((life.flights_made(), ledger.held())),
            ledger: Some(ledger),
            falls: 0,
            rests: None,
            why: String::new(),
            unsure: None,
            told: false,
            start: life.born(),
            end: None,
        })
    }

    /// Starts the program, and brings it to where its golem is.
    fn begin(&mut self) -> Result<(), Trouble> {
        let name = self.settled.golem.clone();
        let log = move |line: &str| tracing::info!(golem = name, "its world: {line}");
        let (keeper, limits) = (keeper(), self.run.limits());
        let mut program = match self.born.as_ref().filter(|_| self.orders) {
            Some(born) => WorldProgram::carry_out(&keeper, &self.launch, limits, &self.settled, born, log)?,
            None => WorldProgram::start(&keeper, &self.launch, limits, &self.settled, log)?,
        };
        if self.born.as_ref().is_some_and(|born| *born != program.manifest) {
            let why = "it is another world than its golem was born into".to_owned();
            return Err(Trouble::Unsound { what: "say who it is".to_owned(), why });
        }
        if self.born.is_some() {
            program.seek(self.stands, self.knows)?;
        } else {
            self.start = program.start;
        }
        self.end = program.end;
        self.program = Some(program);
        Ok(())
    }

    /// Asks the program something, starting it first if it does not run.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut WorldProgram) -> Result<T, Trouble>) -> Result<T, world::Error> {
        self.told = false;
        if let Some(left) =
            self.rests.map(|until| until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
        {
            return Err(world::Error::Away { what: self.why.clone(), again: Some(left) });
        }
        let begun = if self.program.is_some() { Ok(()) } else { self.begin() };
        let asked = begun.and_then(|()| {
            self.told = true;
            ask(self.program.as_mut().expect("it runs"))
        });
        match asked {
            Ok(answer) => {
                (self.falls, self.rests) = (0, None);
                self.end = self.program.as_ref().and_then(|program| program.end);
                Ok(answer)
            }
            Err(Trouble::Away { what, again }) => Err(world::Error::Away { what, again }),
            Err(trouble) => Err(self.fell(&trouble)),
        }
    }

    fn fell(&mut self, trouble: &Trouble) -> world::Error {
        let does = if self.orders { "carries out its orders" } else { "is its world" };
        let what = format!("the program that {does}: {trouble}");
        if trouble.ends_it() {
            self.program = None;
        }
        if trouble.is_for_good() || !trouble.ends_it() {
            return world::Error::Outside(what);
        }
        let rest = rests(self.falls);
        self.falls += 1;
        self.rests = Some(Instant::now() + rest);
        self.why.clone_from(&what);
        world::Error::Away { what, again: Some(rest) }
    }

    /// The known outcome of a key, which is not asked again.
    fn known(&self, key: u64) -> Option<Fate> {
        let entry = self.ledger.as_ref()?.entry(key)?;
        Some(entry.outcome.map_or(Fate::Never, Fate::Done))
    }

    /// Keeps the outcome of a key, once it is final.
    fn keep(&mut self, key: u64, fate: Fate) -> Result<Fate, world::Error> {
        self.unsure = self.unsure.filter(|unsure| *unsure != key);
        if let (Some(ledger), Fate::Done(_) | Fate::Never) = (&mut self.ledger, fate) {
            ledger.once(key, self.stands, || fate.outcome())?;
            self.knows =
                self.knows.map(|(last, held)| (last.max(key), held + fate.outcome().map_or(0, |done| done.units)));
        }
        Ok(fate)
    }
}

impl World for Outside {
    fn manifest(&self) -> Manifest {
        let said = self.program.as_ref().map(|program| program.manifest.clone());
        said.or_else(|| self.born.clone()).unwrap_or_default()
    }

    fn start(&self) -> Time {
        self.start
    }

    fn end(&self) -> Option<Time> {
        self.end
    }

    fn seek(&mut self, until: Time) -> Result<(), world::Error> {
        self.stands = until;
        if self.program.is_none() && self.born.is_some() {
            // The program is brought there when it is started.
            return Ok(());
        }
        let knows = self.knows;
        self.ask(|program| program.seek(until, knows))
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), world::Error> {
        let told = into.bars.len();
        let seen = self.ask(|program| program.observe(since, now, into));
        if seen.is_err() {
            into.bars.truncate(told);
        }
        seen?;
        self.stands = into.bars.last().map_or(since, |bar| bar.closed);
        Ok(())
    }

    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, world::Error> {
        self.ask(|program| program.preview(order))
    }

    fn says(&mut self) -> Option<String> {
        self.program.as_mut().and_then(|program| program.says.take())
    }

    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, world::Error> {
        if let Some(fate) = self.known(key) {
            return Ok(fate);
        }
        if self.unsure == Some(key) {
            return self.reconcile(key);
        }
        self.unsure = Some(key);
        self.knows = self.knows.map(|(last, held)| (last.max(key), held));
        let asked = self.ask(|program| program.commit(key, order));
        match asked {
            Ok(fate) => self.keep(key, fate),
            // If what it stands for could not be reached, it says so itself; and a program that does not run was told
            // nothing.
            Err(why) => {
                if !self.told || self.falls == 0 && matches!(why, world::Error::Away { .. }) {
                    self.unsure = None;
                }
                Err(why)
            }
        }
    }

    fn reconcile(&mut self, key: u64) -> Result<Fate, world::Error> {
        if let Some(fate) = self.known(key) {
            return Ok(fate);
        }
        self.knows = self.knows.map(|(last, held)| (last.max(key), held));
        let fate = self.ask(|program| program.reconcile(key))?;
        self.keep(key, fate)
    }

    fn close(&mut self) -> Result<(), world::Error> {
        if self.orders { self.ask(WorldProgram::close) } else { Ok(()) }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        if let Some(program) = self.program.take() {
            program.end();
        }
    }
}
