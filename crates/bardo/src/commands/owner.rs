//! The owner's word: `policy`, `fund`, `withdraw`, `pause`, `resume`, `freeze`, `retire`, `halt`.
//!
//! A golem nobody is living is woken, told and put back to sleep; one that is being lived gets a letter.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use golem::event::Account;
use golem::{Command, Usdc, thanatopsis};
use host::config::{File, Settings};
use host::inbox::{self, Body, Reply};
use host::living::Silent;
use host::{Error, GolemHome, Home, Living};
use serde_json::json;
use vault::Reader;

use crate::args::{Halt, Money, Retire};
use crate::exit;
use crate::output::{self, line};

/// How long a living golem has to answer before the owner is told that the letter waits.
const PATIENCE: Duration = Duration::from_secs(5);

enum Heard {
    Done,
    /// Nobody answered; the letter waits.
    Waiting,
}

/// Where an order has got to.
enum Order {
    Answered(Reply),
    /// A living process has been written to; its answer will be here.
    Sent(PathBuf),
}

/// Passes an order on: to the golem itself if nobody is living it, else as a letter.
fn pass_on(home: &Home, place: &GolemHome, body: Body) -> Result<Order, Error> {
    let every = super::home::settings(home)?.integer("run.snapshot_every") as u64;
    match Living::open(place.clone(), every) {
        Ok((mut living, _)) => {
            // What was said before comes first.
            living.look_into_inbox(&mut Silent)?;
            if living.life().is_dead() {
                return Err(dead(place, living.life()));
            }
            let id = inbox::new_id();
            Ok(Order::Answered(match body {
                Body::Command(command) => living.obey(id, command, &mut Silent)?,
                Body::Fund { credit, capital } => living.fund(id, credit, capital, &mut Silent)?,
                Body::Word { .. } => unreachable!("golems write such letters, not owners"),
            }))
        }
        Err(Error::Vault(vault::Error::Locked(_))) => Ok(Order::Sent(inbox::send(&place.inbox(), body)?)),
        Err(other) => Err(other),
    }
}

/// What came of it, waiting for an answer no longer than this.
fn hear(place: &GolemHome, order: Order, patience: Duration) -> Result<Heard, Error> {
    let reply = match order {
        Order::Answered(reply) => Some(reply),
        Order::Sent(reply) => inbox::await_reply(&reply, patience)?,
    };
    match reply {
        Some(Reply::Done) => Ok(Heard::Done),
        Some(Reply::Refused(why)) => Err(Error::Refused(why)),
        Some(Reply::Dead(cause)) => Err(Error::Dead(place.name.clone(), cause)),
        None => Ok(Heard::Waiting),
    }
}

fn tell(home: &Home, place: &GolemHome, body: Body) -> Result<Heard, Error> {
    hear(place, pass_on(home, place, body)?, PATIENCE)
}

fn dead(place: &GolemHome, life: &golem::Life) -> Error {
    let cause = life.death.as_ref().map(|death| death.cause.to_string()).unwrap_or_default();
    Error::Dead(place.name.clone(), cause)
}

fn report(place: &GolemHome, heard: &Heard, done: &str, json: bool) -> ExitCode {
    let waiting = matches!(heard, Heard::Waiting);
    if json {
        output::json(&json!({ "name": place.name, "done": !waiting, "waiting": waiting }));
    } else if waiting {
        line(format!("{} has not answered yet; the order waits and is obeyed when it wakes", place.name));
    } else {
        line(format!("{} {done}", place.name));
    }
    ExitCode::SUCCESS
}

pub(crate) fn order(home: &Home, name: &str, command: Command, done: &str, json: bool) -> Result<ExitCode, Error> {
    let place = home.golem(name)?;
    let heard = tell(home, &place, Body::Command(command))?;
    Ok(report(&place, &heard, done, json))
}

pub(crate) fn fund(home: &Home, money: &Money, json: bool) -> Result<ExitCode, Error> {
    super::home::must_be_some(money.amount)?;
    let place = home.golem(&money.name)?;
    let (credit, capital) = if money.capital { (Usdc::ZERO, money.amount) } else { (money.amount, Usdc::ZERO) };
    let there = home.treasury()?.balance()?;
    if money.amount > there {
        return Err(vault::Error::TreasuryShort { asked: money.amount, there }.into());
    }
    let heard = tell(home, &place, Body::Fund { credit, capital })?;
    Ok(report(&place, &heard, &format!("was given {}", money.amount), json))
}

/// Changed keys take effect at once and for good; the others stay as they are now.
pub(crate) fn policy(home: &Home, name: &str, set: &[String], json: bool) -> Result<ExitCode, Error> {
    let place = home.golem(name)?;
    let (golem, _) = Reader::open(&place.database())?.wake()?;
    let now = Settings::of_policy(&golem.life().policy);
    if set.is_empty() {
        let keys = now.iter().filter_map(|flag| flag.split_once('='));
        if json {
            output::json(&keys.collect::<std::collections::BTreeMap<_, _>>());
        } else {
            keys.for_each(|(key, value)| line(format!("{key} = {}", if value.is_empty() { "\"\"" } else { value })));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(other) = set.iter().find(|flag| !flag.starts_with("policy.")) {
        return Err(Error::Advice(format!("only policy keys can be changed in a life; {other} was settled at birth")));
    }
    let instead_of = golem::policy::policy_hash(&golem.life().policy);
    let flags: Vec<String> = now.into_iter().chain(set.iter().cloned()).collect();
    let policy = Settings::load(File::Golem, None, std::iter::empty(), &flags)?.policy();
    let world = &golem.life().birth.world;
    if !policy.fits(world) {
        let known: Vec<&str> = world.actions.iter().map(|action| action.name.as_str()).collect();
        let known = known.join(", ");
        return Err(Error::Advice(format!("policy.allow names an action this world does not have; it has {known}")));
    }
    order(
        home,
        name,
        Command::Amend { policy: Box::new(policy), instead_of },
        "lives under its new policy from now on",
        json,
    )
}

pub(crate) fn withdraw(home: &Home, money: &Money, json: bool) -> Result<ExitCode, Error> {
    let from = if money.capital { Account::Capital } else { Account::Credit };
    super::home::must_be_some(money.amount)?;
    let command = Command::Withdraw { from, amount: money.amount };
    order(home, &money.name, command, &format!("returned {} to the treasury", money.amount), json)
}

pub(crate) fn pause(home: &Home, name: &str, json: bool) -> Result<ExitCode, Error> {
    order(home, name, Command::Pause, "is paused; its clocks stand still", json)
}

pub(crate) fn resume(home: &Home, name: &str, json: bool) -> Result<ExitCode, Error> {
    let place = home.golem(name)?;
    let marker = place.frozen_marker();
    if let Err(e) = fs::remove_file(&marker)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Error::Io { what: "cannot remove", path: marker, source: e });
    }
    order(home, name, Command::Resume, "goes on: neither paused nor frozen", json)
}

/// The marker first: from here on no new exposure, whatever the process is doing.
pub(crate) fn freeze(home: &Home, name: &str, reason: &str, json: bool) -> Result<ExitCode, Error> {
    let place = home.golem(name)?;
    // Only what certainly has no future is spared; a life that cannot be read is frozen all the same.
    if let Ok((golem, _)) = Reader::open(&place.database()).and_then(|reader| reader.wake())
        && golem.life().is_dead()
    {
        return Err(dead(&place, golem.life()));
    }
    let marker = place.frozen_marker();
    fs::write(&marker, reason).and_then(|()| fs::File::open(&marker)?.sync_all()).map_err(|source| Error::Io {
        what: "cannot write",
        path: marker,
        source,
    })?;
    let heard = tell(home, &place, Body::Command(Command::Freeze { reason: reason.to_owned() }))?;
    if matches!(heard, Heard::Waiting) && !json {
        line(format!("{} is frozen: no new exposure, though it has not answered yet", place.name));
        return Ok(ExitCode::SUCCESS);
    }
    Ok(report(&place, &heard, "is frozen: no new exposure", json))
}

pub(crate) fn retire(home: &Home, args: &Retire, json: bool) -> Result<ExitCode, Error> {
    let place = home.golem(&args.name)?;
    let question = format!("retiring {0} ends its life for good. Type its name to go on: ", args.name);
    if !confirmed(args.confirm.as_deref(), &args.name, &question) {
        eprintln!("bardo: nothing was changed; to retire {0}, repeat with --confirm {0}", args.name);
        return Ok(ExitCode::from(exit::USAGE));
    }
    let command = Command::Retire { reason: args.reason.clone() };
    let heard = tell(home, &place, Body::Command(command))?;
    let left = Reader::open(&place.database())?.wake()?.0;
    let left = match thanatopsis::left(left.life()) {
        None => "what it had is back in the treasury".to_owned(),
        Some(left) => format!("its money is back in the treasury; {left}"),
    };
    Ok(report(&place, &heard, &format!("is dead, retired by its owner; {left}"), json))
}

pub(crate) fn halt(home: &Home, args: &Halt, json: bool) -> Result<ExitCode, Error> {
    let question = "this ends every golem here for good. Type 'halt' to go on: ";
    if !confirmed(args.yes.then_some("halt"), "halt", question) {
        eprintln!("bardo: nothing was changed; to end every golem, repeat with --yes");
        return Ok(ExitCode::from(exit::USAGE));
    }
    // Everyone is told before anyone is waited for.
    let command = || Body::Command(Command::Halt { trigger: "bardo halt".into() });
    let orders: Vec<_> = home.list()?.into_iter().map(|place| (pass_on(home, &place, command()), place)).collect();
    let deadline = Instant::now() + PATIENCE;
    let mut failed = false;
    for (order, place) in orders {
        let heard = order.and_then(|order| hear(&place, order, deadline.saturating_duration_since(Instant::now())));
        match heard {
            Ok(heard) => {
                failed |= matches!(heard, Heard::Waiting);
                report(&place, &heard, "is dead, by the kill switch", json);
            }
            // The dead cannot be ended, and what was moved away is another home's to end.
            Err(Error::Dead(..) | Error::Vault(vault::Error::Sealed(_))) => {}
            Err(e) => {
                eprintln!("bardo: {}: {e}", place.name);
                failed = true;
            }
        }
    }
    Ok(if failed { ExitCode::from(exit::ERROR) } else { ExitCode::SUCCESS })
}

/// Asked on a terminal; elsewhere only a flag counts.
fn confirmed(given: Option<&str>, expected: &str, question: &str) -> bool {
    if let Some(given) = given {
        return given == expected;
    }
    if !std::io::stdin().is_terminal() {
        return false;
    }
    eprint!("{question}");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == expected
}
