//! The owner's word: `policy`, `approve`, `fund`, `withdraw`, `pause`, `resume`, `freeze`, `retire`, `halt`.

use std::io::IsTerminal;
use std::process::ExitCode;

use golem::owner::Account;
use golem::{Command, Usdc, thanatopsis};
use serde_json::json;
use settings::Settings;
use shell::home::inbox::Body;
use shell::home::log::KnownTip;
use shell::orders::fleet::{self, Brake};
use shell::orders::order::{self, Heard, NO_SNAPSHOT, PATIENCE, dead, hear};
use shell::{Error, GolemHome, Home, Runtime};

use crate::args::{Halt, Money, Retire};
use crate::exit;
use crate::named;
use crate::output::{self, line};

/// Gives a golem an order without reading settings: to stop a golem, the home is enough.
fn tell(place: &GolemHome, body: Body) -> Result<Heard, Error> {
    let runtime = Runtime::of(place.home());
    hear(&runtime, place, order::pass_on(&runtime, place, body, NO_SNAPSHOT)?, PATIENCE)
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
    let place = named::golem(home, name)?;
    let heard = tell(&place, Body::Command(command))?;
    Ok(report(&place, &heard, done, json))
}

pub(crate) fn fund(home: &Home, money: &Money, json: bool) -> Result<ExitCode, Error> {
    super::home::must_be_some(money.amount)?;
    let place = named::golem(home, &money.name)?;
    let (credit, capital) = if money.capital { (Usdc::ZERO, money.amount) } else { (money.amount, Usdc::ZERO) };
    let there = home.treasury()?.balance()?;
    if money.amount > there {
        return Err(vault::Error::TreasuryShort { asked: money.amount, there }.into());
    }
    let heard = tell(&place, Body::Fund { credit, capital })?;
    Ok(report(&place, &heard, &format!("was given {}", money.amount), json))
}

/// Changed keys take effect at once and for good; the others stay as they are now.
pub(crate) fn policy(home: &Home, name: &str, set: &[String], json: bool) -> Result<ExitCode, Error> {
    let place = named::golem(home, name)?;
    let (golem, _) = place.wake()?;
    let now = Settings::of_policy(golem.life().policy());
    if set.is_empty() {
        let keys = now.iter().filter_map(|flag| flag.split_once('='));
        if json {
            output::json(&keys.collect::<std::collections::BTreeMap<_, _>>());
        } else {
            keys.for_each(|(key, value)| line(format!("{key} = {}", if value.is_empty() { "\"\"" } else { value })));
        }
        return Ok(ExitCode::SUCCESS);
    }
    order(home, name, order::amend(&place, set)?, "lives under its new policy from now on", json)
}

pub(crate) fn withdraw(home: &Home, money: &Money, json: bool) -> Result<ExitCode, Error> {
    let from = if money.capital { Account::Capital } else { Account::Credit };
    super::home::must_be_some(money.amount)?;
    let command = Command::Withdraw { from, amount: money.amount };
    order(home, &money.name, command, &format!("returned {} to the treasury", money.amount), json)
}

/// Without a key it shows what is asked; an answer has to say what it answers.
pub(crate) fn approve(home: &Home, name: &str, key: Option<u64>, yes: bool, json: bool) -> Result<ExitCode, Error> {
    if let Some(key) = key {
        let done = if yes { "has your yes; it goes on if its policy still allows it" } else { "has your no" };
        return order(home, name, order::approve(&named::golem(home, name)?, key, yes)?, done, json);
    }
    let (golem, _) = named::golem(home, name)?.wake()?;
    let answers =
        |key| line(format!("yes: bardo golem approve {name} {key}\nno:  bardo golem approve {name} {key} --deny"));
    match (golem::policy::asks(golem.life()), golem.life().calls().hold) {
        (None, Some(hold)) if json => output::json(&hold),
        (ask, _) if json => output::json(&ask),
        (None, None) => line(format!("{name} asks for nothing")),
        (None, Some(hold)) => {
            line(format!("{name} asks: may its agent go on calling after {hold}?"));
            answers(hold.key);
        }
        (Some(ask), _) => {
            line(format!("{name} asks: {ask}"));
            if let Some(quote) = ask.quote {
                line(format!("  quoted at {}, and {} in fees", -quote.cash, quote.fee));
            }
            line(format!("  until {}, then silence is a no", output::date(ask.until)));
            answers(ask.key);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything that waits for a yes or a no.
pub(crate) fn asks(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let (mut waiting, mut known) = (0, KnownTip::default());
    for (place, seen) in home.glances()? {
        if !seen.is_ok_and(|(glance, _)| glance.asks) {
            continue;
        }
        let (golem, _) = place.wake_after(&mut known)?;
        waiting += 1;
        if let Some(hold) = golem.life().calls().hold {
            if json {
                output::json(&json!({ "name": place.name, "hold": hold }));
            } else {
                line(format!("{} asks: may its agent go on calling after {hold}?", place.name));
                line(format!("  bardo golem approve {} {}", place.name, hold.key));
            }
        }
        let Some(ask) = golem::policy::asks(golem.life()) else { continue };
        if json {
            output::json(&json!({ "name": place.name, "asks": ask }));
        } else {
            line(format!("{} asks: {ask}; until {}", place.name, output::date(ask.until)));
            line(format!("  bardo golem approve {} {}", place.name, ask.key));
        }
    }
    if waiting == 0 && !json {
        line("no golem asks for anything");
    }
    Ok(ExitCode::SUCCESS)
}

/// Freeze, pause or resume: one golem, or all of them.
pub(crate) fn brake(home: &Home, name: Option<&str>, brake: &Brake, json: bool) -> Result<ExitCode, Error> {
    match (name, brake) {
        (Some(name), Brake::Pause) => order(home, name, brake.command(), brake.done(), json),
        (Some(name), Brake::Resume) => {
            order::unmark_frozen(&named::golem(home, name)?)?;
            order(home, name, brake.command(), brake.done(), json)
        }
        (Some(name), Brake::Freeze { reason }) => freeze(home, name, reason, json),
        (None, _) => brake_all(home, brake, json),
    }
}

fn brake_all(home: &Home, brake: &Brake, json: bool) -> Result<ExitCode, Error> {
    let told = fleet::tell_all(&Runtime::of(home), brake, NO_SNAPSHOT, PATIENCE)?;
    if told.is_empty() && !json {
        line("no golem is alive here");
    }
    let mut failed = false;
    for (place, came) in &told {
        match came {
            Ok(Heard::Waiting) if !json && matches!(brake, Brake::Freeze { .. }) => still_frozen(place),
            Ok(heard) => drop(report(place, heard, brake.done(), json)),
            Err(e) if json => output::json(&json!({ "name": place.name, "done": false, "error": e.to_string() })),
            Err(e) => output::complain(format!("{}: {e}", place.name)),
        }
        failed |= came.is_err();
    }
    Ok(if failed { ExitCode::from(exit::ERROR) } else { ExitCode::SUCCESS })
}

fn still_frozen(place: &GolemHome) {
    line(format!("{} is frozen: no new exposure, though it has not answered yet", place.name));
}

fn freeze(home: &Home, name: &str, reason: &str, json: bool) -> Result<ExitCode, Error> {
    let place = named::golem(home, name)?;
    // Only what certainly has no future is spared; a life that cannot be read is frozen all the same.
    if let Ok((golem, _)) = place.wake()
        && golem.life().is_dead()
    {
        return Err(dead(&place, golem.life()));
    }
    order::mark_frozen(&place, reason)?;
    let heard = match tell(&place, Body::Command(Command::Freeze { reason: reason.to_owned() })) {
        // Frozen it is; only its own record does not say so yet.
        Err(why) if why.is_of_disk() || matches!(why, Error::Unwritten { .. }) => {
            output::complain(why);
            Heard::Waiting
        }
        heard => heard?,
    };
    if matches!(heard, Heard::Waiting) && !json {
        still_frozen(&place);
        return Ok(ExitCode::SUCCESS);
    }
    Ok(report(&place, &heard, "is frozen: no new exposure", json))
}

pub(crate) fn retire(home: &Home, args: &Retire, json: bool) -> Result<ExitCode, Error> {
    let place = named::golem(home, &args.name)?;
    let question = format!("retiring {0} ends its life for good. Type its name to go on: ", args.name);
    // A person who knows it by an old name may repeat either.
    let is_its_name = args.confirm.as_deref() == Some(place.name.as_str());
    if !is_its_name && !confirmed(args.confirm.as_deref(), &args.name, &question) {
        output::complain(format!("nothing was changed; to retire {0}, repeat with --confirm {0}", args.name));
        return Ok(ExitCode::from(exit::USAGE));
    }
    let command = Command::Retire { reason: args.reason.clone() };
    let heard = tell(&place, Body::Command(command))?;
    let left = match place.wake() {
        // Its owner is not told that something is home which is on its way at best.
        Ok((left, _)) if !place.has_gone_home(left.life()) => format!(
            "what it holds is closed and sent home while it runs: under a host, or with `bardo golem run {}`",
            place.name
        ),
        Ok((left, _)) => thanatopsis::left(left.life()).map_or_else(
            || "what it had is back in the treasury".to_owned(),
            |left| format!("its money is back in the treasury; {left}"),
        ),
        Err(why) => why.to_string(),
    };
    Ok(report(&place, &heard, &format!("is dead, retired by its owner; {left}"), json))
}

pub(crate) fn halt(home: &Home, args: &Halt, json: bool) -> Result<ExitCode, Error> {
    let question = "this ends every golem here for good. Type 'halt' to go on: ";
    if !confirmed(args.yes.then_some("halt"), "halt", question) {
        output::complain("nothing was changed; to end every golem, repeat with --yes");
        return Ok(ExitCode::from(exit::USAGE));
    }
    let fleet::Halted { ended, answers } = fleet::halt_all(&Runtime::of(home), "bardo halt", NO_SNAPSHOT, PATIENCE)?;
    if let Err(why) = &ended {
        output::complain(format!("heirs may still be made automatically: {why}"));
    }
    let mut left = Vec::new();
    for (place, heard) in answers {
        match heard {
            Ok(heard) => {
                if matches!(heard, Heard::Waiting) {
                    left.push(place.name.to_string());
                }
                report(&place, &heard, "is dead, by the kill switch", json);
            }
            Err(why) => {
                output::complain(format!("{}: {why}", place.name));
                left.push(place.name.to_string());
            }
        }
    }
    if left.is_empty() {
        return Ok(if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) });
    }
    output::complain(format!("not ended yet: {}; `bardo halt --all` can be repeated", left.join(", ")));
    Ok(ExitCode::from(exit::ERROR))
}

/// Asked on a terminal; elsewhere only a flag counts.
fn confirmed(given: Option<&str>, expected: &str, question: &str) -> bool {
    if let Some(given) = given {
        return given == expected;
    }
    if !std::io::stdin().is_terminal() {
        return false;
    }
    output::ask(question);
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == expected
}
