//! `wrap`: a program somebody already has, and a life for it: made or gone on with, run beside it, and ended with it.

mod keeper;
mod keys;
mod known;
mod plans;
mod purse;
mod servers;
mod settings;
mod told;
mod watched;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use golem::mortality::death::Cause;
use host::home::agent;
use host::life::checks::Plan;
use host::{Error, Home};
use mind::Price;
use outside::family;

use self::keeper::{Keeper, life};
use self::known::GolemAddress;
use self::plans::Plans;
use self::told::ClosingWords;
use self::watched::{ProgramEnd, WatchedProgram};
use crate::args::WrapArgs;
use crate::commands::home as homes;
use crate::{exit, output};

pub(crate) fn wrap(home: &Home, args: &WrapArgs, json: bool) -> Result<ExitCode, Error> {
    let plans = Plans::of(home, args)?;
    let price = args.price.as_deref().map(Price::parse).transpose()?;
    if homes::make(home)? {
        output::complain(format!("made a home at {}", home.root().display()));
    }
    let place = purse::golem_for(home, args)?;
    if let Some(plan) = Plan::read(&place)?.filter(|_| !plans.protected.is_empty()) {
        // What the program may not write to, what its checks run may not either.
        Plan { protect: plans.protected.clone(), ..plan }.write(&place)?;
    }
    let before = life(&place)?;
    let keeper = Keeper::of(home, &place, &plans.servers, price)?;
    output::complain(format!(
        "{} has {} left to live on; its calls go through http://{}",
        place.name, before.purse.credit, keeper.address
    ));
    plans.say_environment();
    family::adopt();
    let base = format!("http://{}/g/{}", keeper.address, place.name);
    let token = agent::token(&place)?;
    let at = GolemAddress { base: &base, token: &token };
    let began = Instant::now();
    let mut watched = WatchedProgram::start(home, &place, args, &plans, &at)?;
    let (ended, look) = watched.until_it_ends(&keeper, &before, plans.wind_up)?;
    family::end();
    let turned_away = keeper.turned_away();
    keeper.stop()?;
    let after = life(&place)?;
    let user = plans.given.variables.get("HOME").map(Path::new);
    let (known, login) = (plans.recognised.known, plans.recognised.login(user));
    ClosingWords {
        before: &before,
        after: &after,
        took: began.elapsed(),
        broke: look.broke,
        turned_away,
        known,
        login,
    }
    .say(json);
    Ok(ExitCode::from(match (&after.death, ended) {
        (Some(death), _) if matches!(death.cause, Cause::Economic { .. }) => exit::BUDGET,
        (Some(_), _) => exit::DEAD,
        (None, _) if look.broke => exit::BUDGET,
        (None, ProgramEnd::Itself(code)) => code,
        (None, ProgramEnd::Interrupted) => exit::INTERRUPTED,
        (None, ProgramEnd::Retired) => exit::RETIRED,
        (None, ProgramEnd::Golem) => exit::DEAD,
    }))
}
