//! A line of lives: the program is run once more in each, by a golem that is the heir of the one before, until its check passes,
//! its lives or its money are used up, or its owner ends it.
//!
//! Every step is read off the records of its golems ([`chain`]), also between two lives of one process, so a line goes on after a
//! kill by the way it takes anyway.

mod chain;
mod said;

use std::fs::{File, TryLockError};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::{Command, Life, Record, Usdc};
use shell::home::inbox::Body;
use shell::life::heirs::{self, Heir};
use shell::life::{Listener, Living, Pace, Run};
use shell::orders::order::{self, Heard};
use shell::{Error, GolemHome, Runtime};

use self::chain::{LineLife, LineStep, lives_of, next_step};
use self::said::LineTerms;
use super::bounds::Bounds;
use super::ends::LifeEnd;
use super::funds::Funds;
use super::presses::SignalCounts;
use super::purse;
use super::run::{ProgramRun, Runner};
use super::spent;
use super::watched::ProgramEnd;
use crate::{exit, output};

/// How long another process may take to let go of a line: one that was killed has let go, one that is being started has not.
const PATIENCE: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_millis(50);

/// Lives a line to its end, from wherever it has got to.
pub(super) fn live(runner: &Runner<'_>, json: bool) -> Result<ExitCode, Error> {
    let (runtime, args) = (runner.runtime, runner.args);
    let home = runtime.home();
    let terms = LineTerms { funds: Funds::of(args), until: args.until.as_deref(), json };
    let first = purse::first_of_line(runtime, args)?;
    let _alone = hold_line(&first)?;
    loop {
        if runner.heard.presses() > 0 {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        let lives = lives_of(home, &first)?;
        let Some(last) = lives.last() else { return Err(Error::NoGolem(first.name.to_string())) };
        match next_step(&lives, &terms.funds, terms.until) {
            LineStep::Over(over) => return Ok(ExitCode::from(terms.say_over(&lives, over))),
            LineStep::Die => finish_dying(runner, &last.place)?,
            LineStep::Bear(share) => bear_heir(runner, last, share)?,
            LineStep::Live => {
                let began = Instant::now();
                if let Some(code) = live_once(runner, last)? {
                    return Ok(ExitCode::from(code));
                }
                terms.say_life(&lives_of(home, &first)?, began.elapsed());
            }
        }
    }
}

/// Keeps other processes from living the same line, until it is dropped or this process ends.
fn hold_line(first: &GolemHome) -> Result<File, Error> {
    // The folder itself is locked by a command that borrows the golem, which must be free to.
    let path = first.config();
    let lock = File::open(&path).map_err(Error::io("cannot open", &path))?;
    let began = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(why)) => return Err(Error::io("cannot lock", &path)(why)),
            Err(TryLockError::WouldBlock) if began.elapsed() > PATIENCE => {
                return Err(Error::Busy(format!(
                    "another process lives the line of {}; wait for it to end, or give this one another --name",
                    first.name
                )));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(EVERY),
        }
    }
}

/// Runs the program in this life and ends the life as its owner has asked; gives an exit code if the line stops here and this
/// life goes on with the next start.
fn live_once(runner: &Runner<'_>, last: &LineLife) -> Result<Option<u8>, Error> {
    let LineLife { place, life, .. } = last;
    purse::amend(runner.runtime, runner.args, place, life)?;
    let bounds = Bounds::of_life(runner.args, life)?;
    if let Some(check) = runner.args.until.as_ref().filter(|check| last.check(check) == Some(true)) {
        // It passed, and a kill came before the end was on record.
        end_life(runner.runtime, place, &LifeEnd::Passed { check: check.clone() })?;
        return Ok(None);
    }
    let run = runner.run(place, life.clone(), &bounds)?;
    let words = run.words(&place.name, runner.plans);
    words.say_doubts();
    if let Some(code) = stops(runner, &run, words.is_silent()) {
        let name = &place.name;
        if !run.after.is_dead() {
            output::complain(format!("the line stops in the life of {name}; the same command goes on with it"));
        }
        return Ok(Some(code));
    }
    if !run.after.is_dead() {
        end_life(runner.runtime, place, &end_of(&run, &bounds))?;
    }
    Ok(None)
}

/// The exit code of a line that is not to go on by itself: its owner has interrupted it, or no heir would do better.
fn stops(runner: &Runner<'_>, run: &ProgramRun, silent: bool) -> Option<u8> {
    let (before, after) = (run.before.calls(), run.after.calls());
    let tried = after.made > before.made || after.denied > before.denied || run.turned_away.times > 0;
    match run.ended {
        _ if runner.heard.presses() > 0 => Some(exit::INTERRUPTED),
        _ if run.after.is_dead() => None,
        ProgramEnd::Itself(code) if code != 0 && !tried => {
            output::complain(format!(
                "the program ended with {code} before its first call, and an heir's would do the same"
            ));
            Some(code)
        }
        ProgramEnd::Itself(_) if silent && runner.plans.allowed.is_some() => Some(exit::SILENT),
        _ => None,
    }
}

fn end_of(run: &ProgramRun, bounds: &Bounds) -> LifeEnd {
    if let Some(passed) = bounds.has_passed(&run.look) {
        return passed;
    }
    match (&run.ended, run.look.out) {
        // It passed while the program ran, and not any more once it had ended.
        (ProgramEnd::Crossed(LifeEnd::Passed { check }), _) => {
            LifeEnd::Red { check: check.clone(), rounds: bounds.failed_for(&run.look) }
        }
        (ProgramEnd::Crossed(end), _) => end.clone(),
        (_, Some(out)) => LifeEnd::Spent { of: spent::name(out) },
        (ProgramEnd::Itself(code), None) => bounds.has_looped(&run.look).unwrap_or(LifeEnd::Itself { code: *code }),
        (ProgramEnd::Golem | ProgramEnd::Interrupted, None) => LifeEnd::Itself { code: exit::INTERRUPTED },
    }
}

/// Ends a life, durably; one that its owner has ended meanwhile is ended.
fn end_life(runtime: &Arc<Runtime>, place: &GolemHome, end: &LifeEnd) -> Result<(), Error> {
    let command = Body::Command(Command::Retire { reason: end.reason() });
    let order = order::pass_on(runtime, place, command, order::NO_SNAPSHOT);
    match order.and_then(|order| order::hear(runtime, place, order, order::PATIENCE)) {
        Ok(Heard::Done) | Err(Error::Dead(..)) => Ok(()),
        Ok(Heard::Waiting) => Err(Error::Busy(format!("another process runs {}; wait for it to end", place.name))),
        Err(other) => Err(other),
    }
}

/// Stops a run when the owner asks for it.
struct StopOnPress(Arc<SignalCounts>);

impl Listener for StopOnPress {
    fn acknowledged(&mut self, _: &[Record], _: &Life) -> Result<(), Error> {
        Ok(())
    }

    fn stop(&mut self) -> bool {
        self.0.presses() > 0
    }
}

/// Takes a death that was cut short to its end: its money home, its testament, what it leaves.
fn finish_dying(runner: &Runner<'_>, place: &GolemHome) -> Result<(), Error> {
    let every = runner.runtime.home().settings()?.integer("run.snapshot_every") as u64;
    let (mut living, notices) = Living::open(runner.runtime, place.clone(), every)?;
    notices.iter().for_each(output::complain);
    let run = Run { pace: Pace::Times(1.0), ticks: None, batch: 1 };
    living.run(run, &mut StopOnPress(Arc::clone(&runner.heard))).map(|_| ())
}

/// Makes the next life of the line, in the place of the one that died.
fn bear_heir(runner: &Runner<'_>, dead: &LineLife, share: Usdc) -> Result<(), Error> {
    let (runtime, home) = (runner.runtime, runner.runtime.home());
    let estate = heirs::estate(home, &dead.place)?;
    let name = heirs::next_name(home, &dead.place.name)?;
    let set = vec![format!("funds.credit={}", output::plain(share))];
    // A program's golem has no rules that could differ from those of its predecessor.
    let heir = Heir { name, seed: None, set, inherit: None, force: true };
    match heirs::make(runtime, &estate, heir) {
        // The records say which heir it is.
        Ok(_) | Err(Error::NameTaken(_)) => Ok(()),
        Err(other) => Err(other),
    }
}
