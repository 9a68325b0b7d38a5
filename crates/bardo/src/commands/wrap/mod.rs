//! `wrap`: a program of the user's, and a life for it: made or gone on with, run beside it, and ended with it; or a line of them.

mod bounds;
mod ends;
mod funds;
mod hazard;
mod hooks;
mod keeper;
mod keys;
mod known;
mod line;
mod passage;
mod plans;
mod presses;
mod purse;
mod rations;
mod run;
mod servers;
mod settings;
mod signs;
mod spent;
mod told;
mod warnings;
mod watched;
mod word;

use std::process::ExitCode;

use golem::mortality::death::Cause;
use shell::{Error, Home, Runtime, files};
use tariff::Price;

use self::bounds::Bounds;
use self::keeper::life;
use self::plans::Plans;
use self::presses::SignalCounts;
use self::run::{ProgramRun, Runner};
use self::watched::ProgramEnd;
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
    let runtime = &Runtime::of(home);
    let runner = |heard| Runner { runtime, args, plans: &plans, price, branch: None, heard };
    if args.lives.is_some() {
        return line::live(&runner(SignalCounts::listen()?), json);
    }
    let place = purse::golem_for(runtime, args)?;
    let runner = runner(SignalCounts::listen()?);
    let before = life(&place)?;
    let bounds = Bounds::of_run(args, &before);
    let run = runner.run(&place, before, &bounds)?;
    runner.gather(&place);
    let words = run.words(&place.name, &plans);
    words.say(json);
    Ok(ExitCode::from(code_of(&run, plans.allowed.is_some() && words.is_silent())))
}

fn code_of(run: &ProgramRun, silent: bool) -> u8 {
    match (run.after.death(), &run.ended) {
        (Some(death), _) if matches!(death.cause, Cause::Economic { .. }) => exit::BUDGET,
        (Some(_), _) => exit::DEAD,
        (None, _) if run.look.out.is_some() => exit::BUDGET,
        (None, ProgramEnd::Itself(_)) if silent => exit::SILENT,
        (None, ProgramEnd::Itself(code)) => *code,
        (None, ProgramEnd::Interrupted) => exit::INTERRUPTED,
        (None, ProgramEnd::Crossed(_)) => exit::RETIRED,
        (None, ProgramEnd::Golem) => exit::DEAD,
    }
}
