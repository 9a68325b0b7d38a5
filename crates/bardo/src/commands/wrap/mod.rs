//! `wrap`: a program of the user's, and a life for it: made or gone on with, run beside it, and ended with it.

mod keeper;
mod keys;
mod known;
mod passage;
mod plans;
mod purse;
mod rations;
mod servers;
mod settings;
mod spent;
mod told;
mod warnings;
mod watched;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use golem::mortality::death::Cause;
use golem::{Life, Name, call};
use outside::descendants;
use shell::home::agent;
use shell::life::checks::CheckPlan;
use shell::{Error, Home, Runtime, files, wall};
use tariff::Price;

use self::keeper::{Keeper, MoneyState, life};
use self::known::GolemAddress;
use self::passage::Passage;
use self::plans::Plans;
use self::told::ClosingWords;
use self::warnings::Warnings;
use self::watched::{ProgramEnd, WatchedProgram};
use crate::args::WrapArgs;
use crate::commands::home as homes;
use crate::{exit, output};

pub(crate) fn wrap(home: &Home, args: &WrapArgs, json: bool) -> Result<ExitCode, Error> {
    files::raise();
    let plans = Plans::of(home, args)?;
    let price = args.price.as_deref().map(Price::parse).transpose()?;
    if homes::make(home)? {
        output::complain(format!("made a home at {}", home.root().display()));
    }
    let runtime = Runtime::of(home);
    let place = purse::golem_for(&runtime, args)?;
    if let Some(plan) = CheckPlan::read(&place)?.filter(|_| !plans.protected.is_empty()) {
        // What the program may not write to, what its checks run may not either.
        CheckPlan { protect: plans.protected.clone(), ..plan }.write(&place)?;
    }
    let before = life(&place)?;
    let keeper = Keeper::of(&runtime, &place, &plans.servers, price, args.own_login)?;
    output::complain(format!("{}; its calls go through http://{}", stands(&place.name, &before), keeper.address));
    plans.say_environment(args.own_login);
    let passage = plans.allowed.as_ref().map(|allowed| Passage::open(&keeper.address, allowed)).transpose()?;
    descendants::adopt();
    let base = format!("http://{}/g/{}", keeper.address, place.name);
    let token = agent::token(&place)?;
    let at = GolemAddress { base: &base, token: &token, own_login: args.own_login };
    let mut warnings = Warnings::of(home, &place.name, MoneyState::of(&before))?;
    let mut watched = WatchedProgram::start(home, &place, args, &plans, &at, passage.as_ref())?;
    let began = Instant::now();
    let (ended, look) = watched.until_it_ends((&keeper, &mut warnings), &before, plans.wind_up)?;
    let took = began.elapsed();
    descendants::end();
    let pressed = watched.presses();
    keeper.hear_out(&place, || watched.presses() > pressed)?;
    let turned_away = keeper.turned_away();
    keeper.stop()?;
    let after = life(&place)?;
    let user = plans.given.variables.get("HOME").map(Path::new);
    let (known, login) = (plans.recognised.known, plans.recognised.login(user));
    let words = ClosingWords {
        name: &place.name,
        before: &before,
        after: &after,
        took,
        out: look.out,
        turned_away,
        known,
        login,
        refused: passage.as_ref().map(Passage::refused),
    };
    words.say(json);
    Ok(ExitCode::from(match (&after.death(), ended) {
        (Some(death), _) if matches!(death.cause, Cause::Economic { .. }) => exit::BUDGET,
        (Some(_), _) => exit::DEAD,
        (None, _) if look.out.is_some() => exit::BUDGET,
        (None, ProgramEnd::Itself(_)) if passage.is_some() && words.is_silent() => exit::SILENT,
        (None, ProgramEnd::Itself(code)) => code,
        (None, ProgramEnd::Interrupted) => exit::INTERRUPTED,
        (None, ProgramEnd::Retired) => exit::RETIRED,
        (None, ProgramEnd::Golem) => exit::DEAD,
    }))
}

/// A sentence about the golem's means: money, and the other caps on its calls.
fn stands(name: &Name, life: &Life) -> String {
    let caps: String = call::caps(life, wall::now_of(life)).map(|cap| format!(", {cap}")).collect();
    let imputed = if life.policy().imputed { " (imputed)" } else { "" };
    format!("{name} has {} left to live on{imputed}{caps}", life.purse().credit)
}
