//! Who runs a program's golem meanwhile: a host that is up, or this process; and what it tells of it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gateway::{self, Listen, TurnedAway};
use golem::call::{Denied, Hold, Unit};
use golem::{Event, Life, Name, Record, Usdc, call, owner};
use settings::Settings;
use shell::home::log::KnownTip;
use shell::life::{Ending, Listener, Living, Pace, Run};
use shell::locks::lock;
use shell::{Error, GolemHome, Runtime, wall};
use tariff::{Book, Price};
use vault::Reader;

use super::servers::Own;
use super::signs::Signs;
use crate::output;

const EVERY: Duration = Duration::from_millis(50);
/// How long a host may take to find a newborn.
const FOUND: Duration = Duration::from_secs(15);
/// How long what its program left in the middle is listened to, and when its owner is told so.
const HEARD: Duration = Duration::from_secs(120);
const TOLD: Duration = Duration::from_secs(2);

/// How it is with a golem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MoneyState {
    pub(super) ended: bool,
    /// The unit it is out of: a call was refused for it with nothing under way, and none was let through since.
    pub(super) out: Option<Denied>,
    pub(super) left: Usdc,
    /// All that it was ever given to live on.
    pub(super) given: Usdc,
    /// Calls it had made in all when none was last seen under way.
    pub(super) made: u64,
    pub(super) under_way: bool,
    /// The unit of which it has a twentieth left, or less, where its owner has capped that.
    pub(super) short: Option<Unit>,
    /// The stop of its calls in force, until its owner says yes.
    pub(super) hold: Option<Hold>,
    /// Signs that its line heeds; none are seen of a golem that a host runs.
    pub(super) signs: Signs,
}

impl MoneyState {
    /// As long as nothing was refused.
    pub(super) fn of(life: &Life) -> MoneyState {
        let under_way = !life.calls().open.is_empty();
        let made = if under_way { 0 } else { life.calls().made };
        let (left, given) = (life.purse().credit, life.purse().given);
        MoneyState {
            ended: life.is_dead(),
            out: None,
            left,
            given,
            made,
            under_way,
            short: short(life),
            hold: life.calls().hold,
            signs: Signs::default(),
        }
    }
}

/// The first unit of which a twentieth is left, or less, of what its owner lets it have in all.
fn short(life: &Life) -> Option<Unit> {
    let mut caps = call::caps(life, wall::now_of(life));
    caps.find(|cap| !cap.a_day && cap.left() <= (cap.most / 20).max(1)).map(|cap| cap.unit)
}

/// The runner of the golem meanwhile: a host that is up, or this process.
pub(super) struct Keeper {
    pub(super) address: String,
    own: Option<Lived>,
}

struct Lived {
    gateway: gateway::Running,
    stop: Arc<AtomicBool>,
    look: Arc<Mutex<MoneyState>>,
    living: JoinHandle<Result<Ending, Error>>,
}

struct Ear {
    name: Name,
    stop: Arc<AtomicBool>,
    look: Arc<Mutex<MoneyState>>,
    book: Arc<Book>,
}

impl Listener for Ear {
    fn acknowledged(&mut self, records: &[Record], life: &Life) -> Result<(), Error> {
        let mut look = lock(&self.look);
        (look.ended, look.left, look.given) = (look.ended || life.is_dead(), life.purse().credit, life.purse().given);
        look.under_way = !life.calls().open.is_empty();
        if !look.under_way {
            look.made = life.calls().made;
        }
        (look.hold, look.short) = (life.calls().hold, short(life));
        records.iter().for_each(|record| look.signs.note(record, &self.book));
        for event in records.iter().flat_map(|record| &record.events) {
            if matches!(event, Event::Call(call::Event::Reserved { .. })) {
                look.out = None;
            }
            tell(&self.name, event, life);
        }
        Ok(())
    }

    fn refused(&mut self, by: Denied) {
        if by.is_the_end() {
            lock(&self.look).out = Some(by);
        }
    }

    fn stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// Tells the owner about an event at once, where no host does.
fn tell(name: &Name, event: &Event, life: &Life) {
    match event {
        Event::Call(call::Event::Held { key, .. }) => {
            let why = life.calls().hold.map(|hold| hold.to_string()).unwrap_or_default();
            output::complain(format!(
                "{name}'s calls are stopped: {why}; `bardo golem approve {name} {key}` lets it go on"
            ));
        }
        Event::Owner(owner::Event::Said(said)) => {
            let what = if said.done { "is done" } else { "asks you" };
            output::complain(format!("{name}'s agent {what}: {}", said.text));
        }
        _ => {}
    }
}

/// How a golem is run that no host runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeeperWishes<'a> {
    pub(super) servers: &'a [Own],
    /// A price for whatever the book says nothing of.
    pub(super) price: Option<Price>,
    /// Whether a login of the program's own is passed on.
    pub(super) own_login: bool,
    /// Whether it is a life of a line, whose signs are heeded from its birth on.
    pub(super) in_line: bool,
}

impl Keeper {
    pub(super) fn of(runtime: &Arc<Runtime>, place: &GolemHome, wishes: KeeperWishes<'_>) -> Result<Keeper, Error> {
        let KeeperWishes { servers, price, own_login, in_line } = wishes;
        let home = runtime.home();
        if home.is_up() {
            if price.is_some() {
                let why =
                    "a host is up, and calls go through it; set prices under [models] in bardo.toml and restart it";
                return Err(Error::Usage(format!("--price is for a gateway that wrap makes itself: {why}")));
            }
            let until = Instant::now() + FOUND;
            while !place.lodges()? {
                if Instant::now() > until {
                    return Err(Error::Host(format!("the host that is up does not run {}", place.name)));
                }
                std::thread::sleep(EVERY);
            }
            return Ok(Keeper { address: gateway::address(home)?, own: None });
        }
        let settings: Settings = home.settings()?;
        let opened = Living::open(runtime, place.clone(), settings.integer("run.snapshot_every") as u64);
        let (mut living, notices) = opened.map_err(|why| match why {
            Error::Vault(vault::Error::Locked(_)) => Error::Busy(format!(
                "another program is using {0}; several can share it while `bardo up` runs all golems here: start that, \
                 and then both, or take another name than {0}",
                place.name
            )),
            other => other,
        })?;
        notices.iter().for_each(output::complain);
        // Only this program is told where it is: the home names only the gateway of a host.
        let prices = home.prices()?.otherwise(price);
        let mut listen = Listen { known: false, ..Listen::of("127.0.0.1:0", &settings, prices)? };
        listen.own_login |= own_login;
        for own in servers {
            listen.models.stand_in(own.provider, own.server.clone());
        }
        let gateway = gateway::serve(listen, runtime, server::mcp::of_agents(runtime))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (mut look, book) = (MoneyState::of(living.life()), home.book()?);
        if in_line {
            look.signs = signs_so_far(place, &book)?;
        }
        let look = Arc::new(Mutex::new(look));
        let mut ear = Ear { name: place.name.clone(), stop: Arc::clone(&stop), look: Arc::clone(&look), book };
        let living =
            std::thread::spawn(move || living.run(Run { pace: Pace::Times(1.0), ticks: None, batch: 1 }, &mut ear));
        Ok(Keeper { address: gateway.address.to_string(), own: Some(Lived { gateway, stop, look, living }) })
    }

    /// How it is with its golem, which was like this before.
    pub(super) fn look(&self, place: &GolemHome, before: &Life) -> Result<MoneyState, Error> {
        if let Some(own) = &self.own {
            let look = *lock(&own.look);
            return Ok(MoneyState { ended: look.ended || own.living.is_finished(), ..look });
        }
        let life = life(place)?;
        let refused = life.calls().refused;
        let out = refused.filter(|_| refused != before.calls().refused).map(|(by, _)| by).filter(|by| by.is_the_end());
        Ok(MoneyState { out, ..MoneyState::of(&life) })
    }

    /// Hears calls that the program left in the middle to their end, because they are billed to their end and are otherwise paid
    /// as what they could have come to; until its owner has had enough of that.
    pub(super) fn hear_out(&self, place: &GolemHome, enough: impl Fn() -> bool) -> Result<(), Error> {
        let (mut known, began) = (KnownTip::default(), Instant::now());
        let newest = place.wake_after(&mut known)?.0.life().calls().made;
        let mut told = false;
        loop {
            let (golem, _) = place.wake_after(&mut known)?;
            let life = golem.life();
            let left = life.calls().open.iter().filter(|open| open.key <= newest);
            let (calls, most) = left.fold((0, Usdc::ZERO), |(calls, most), open| (calls + 1, most + open.most));
            if calls == 0 || life.is_dead() || began.elapsed() > HEARD || enough() {
                return Ok(());
            }
            if !told && began.elapsed() > TOLD {
                told = true;
                let calls = if calls == 1 { "1 call is".to_owned() } else { format!("{calls} calls are") };
                output::complain(format!(
                    "{calls} still being answered, and billed to the end, so this waits for the end; Ctrl-C books the {most} \
                     set aside instead"
                ));
            }
            std::thread::sleep(EVERY * 5);
        }
    }

    /// Calls that never got as far as the golem, where this process could tell.
    pub(super) fn turned_away(&self) -> TurnedAway {
        self.own.as_ref().map(|own| own.gateway.turned_away()).unwrap_or_default()
    }

    /// Settles calls under way, and finishes what a death still has to do.
    pub(super) fn stop(self) -> Result<(), Error> {
        let Some(own) = self.own else { return Ok(()) };
        own.gateway.close();
        if !lock(&own.look).ended {
            own.stop.store(true, Ordering::SeqCst);
        }
        own.living.join().map_err(|_| Error::Host("the thread that ran the golem ended early".into()))?.map(|_| ())
    }
}

/// How it is with a life of a line that is not run at the moment.
pub(super) fn so_far(place: &GolemHome, life: &Life, book: &Book) -> Result<MoneyState, Error> {
    Ok(MoneyState { signs: signs_so_far(place, book)?, ..MoneyState::of(life) })
}

/// The signs of a life as its record has them.
fn signs_so_far(place: &GolemHome, book: &Book) -> Result<Signs, Error> {
    let mut signs = Signs::default();
    Reader::open(&place.database())?.replay(|record| {
        signs.note(&record, book);
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(signs)
}

/// The life as of its newest record, no matter which process runs it.
pub(super) fn life(place: &GolemHome) -> Result<Life, Error> {
    Ok(place.wake()?.0.life().clone())
}
