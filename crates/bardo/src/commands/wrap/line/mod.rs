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

use golem::call::Runaway;
use golem::{Command, Life, Record, Usdc};
use shell::home::inbox::{self, Reply};
use shell::life::heirs::{self, Heir};
use shell::life::{Listener, Living, Pace, Run, Silent};
use shell::orders::order;
use shell::{Error, GolemHome};

use self::chain::{LineLife, LineMoney, LineStep, is_ended, lives_of, next_step};
use self::said::LineTerms;
use super::bounds::Bounds;
use super::ends::LifeEnd;
use super::funds::Funds;
use super::presses::SignalCounts;
use super::run::{ProgramRun, Runner};
use super::spent;
use super::watched::ProgramEnd;
use super::{keeper, plans, purse, word};
use crate::commands::branch::LineBranch;
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
    let branch = LineBranch::of(&first, args.branch, &args.link)?;
    let (branch, heard) = (branch.as_ref(), Arc::clone(&runner.heard));
    let runner = &Runner { runtime, args, plans: runner.plans, price: runner.price, branch, heard };
    loop {
        if runner.heard.presses() > 0 {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        plans::no_host(home)?;
        // Its owner may give a life another name meanwhile.
        let lives = lives_of(home, &first.present())?;
        let Some(last) = lives.last() else { return Err(Error::NoGolem(first.name.to_string())) };
        runner.gather_late(lives.iter().map(|one| (&one.place, &one.life)));
        let step = next_step(&lives, &terms.funds, terms.until, is_ended(home, &lives)?);
        match (step, branch) {
            (LineStep::Live, Some(branch)) => branch.stand()?,
            (LineStep::Bear(_) | LineStep::Over(_), Some(branch)) => branch.keep(&last.place.name)?,
            _ => {}
        }
        match step {
            LineStep::Over(over) => return Ok(ExitCode::from(terms.say_over(&lives, over))),
            LineStep::Die => finish_dying(runner, &last.place)?,
            LineStep::Bear(share) => bear_heir(runner, last, share)?,
            LineStep::Live => {
                let began = Instant::now();
                fits_its_sum(last, &LineMoney::of(&lives, &terms.funds))?;
                if let Some(code) = live_once(runner, last)? {
                    return Ok(ExitCode::from(code));
                }
                terms.say_life(&lives_of(home, &first.present())?, began.elapsed());
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
    let bounds = Bounds::of_life(runner.args, place, life)?;
    // A kill may have come before the end was on record.
    let book = runner.runtime.home().book()?;
    let due = bounds.crossed(&keeper::so_far(place, life, &book)?);
    let has_passed = matches!(due, Some(LifeEnd::Passed { .. }));
    if !has_passed && let Some(code) = brakes(place, life) {
        return Ok(Some(code));
    }
    if let Some(end) = due {
        end_life(runner, place, &end)?;
        return Ok(None);
    }
    let run = runner.run(place, life.clone(), &bounds)?;
    run.words(&place.name, runner.plans).say_doubts();
    if let Some(code) = stops(runner, place, &run, &bounds) {
        let name = &place.name;
        if !run.after.is_dead() {
            output::complain(format!("the line stops in the life of {name}; the same command goes on with it"));
        }
        return Ok(Some(code));
    }
    if run.after.is_dead() {
        runner.gather(place);
    } else {
        end_life(runner, place, &end_of(&run, &bounds))?;
    }
    Ok(None)
}

/// The exit code of a line that is not to go on by itself: its owner has interrupted it, or no heir would do better.
fn stops(runner: &Runner<'_>, place: &GolemHome, run: &ProgramRun, bounds: &Bounds) -> Option<u8> {
    if runner.heard.presses() > 0 {
        return Some(exit::INTERRUPTED);
    }
    if run.after.is_dead() || !run.unchecked && bounds.has_passed(&run.look).is_some() {
        return None;
    }
    if let Some(code) = brakes(place, &run.after) {
        return Some(code);
    }
    if run.unchecked {
        let name = &place.name;
        output::complain(format!(
            "no round of checks came once the program had ended, so nothing is known of its work; \
             `bardo golem check {name}` shows what they run"
        ));
        return Some(exit::ERROR);
    }
    let (before, after) = (run.before.calls(), run.after.calls());
    let tried = after.made > before.made || after.denied > before.denied || run.turned_away.times > 0;
    match run.ended {
        ProgramEnd::Itself(code) if code != 0 && !tried => {
            output::complain(format!(
                "the program ended with {code} before its first call, and an heir's would do the same"
            ));
            Some(code)
        }
        ProgramEnd::Itself(_) if runner.plans.allowed.is_some() && run.words(&place.name, runner.plans).is_silent() => {
            Some(exit::SILENT)
        }
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

/// The exit code of a line whose owner has stopped the calls of its life, or is asked about them: an heir's would not be stopped.
fn brakes(place: &GolemHome, life: &Life) -> Option<u8> {
    let name = &place.name;
    let why = match life.calls().hold {
        _ if life.heartbeat().frozen || place.frozen().is_some() => {
            format!("{name} is frozen; `bardo golem resume {name}` lets it go on")
        }
        _ if life.heartbeat().paused => format!("{name} is paused; `bardo golem resume {name}` lets it go on"),
        Some(hold) if hold.by == Runaway::Bill => {
            format!("{name}'s calls are stopped: {hold}; `bardo golem approve {name} {}` lets them go on", hold.key)
        }
        _ => return None,
    };
    output::complain(why);
    Some(exit::REFUSED)
}

/// Refuses to run a life that could spend more than is left of what the line was given.
fn fits_its_sum(last: &LineLife, money: &LineMoney) -> Result<(), Error> {
    let (name, has, left) = (&last.place.name, last.life.purse().credit, money.remaining());
    if has <= left {
        return Ok(());
    }
    let least = output::plain(has + money.used);
    Err(Error::Usage(format!(
        "{name} has {has} to live on, and of the {} for its line {left} are left; say --credit {least}, or more",
        money.given
    )))
}

/// Ends a life, durably; one that its owner has ended, paused or frozen meanwhile is left as it is.
///
/// The treasury is not told of it: an end that stands there is its owner's, and there is no heir after that.
fn end_life(runner: &Runner<'_>, place: &GolemHome, end: &LifeEnd) -> Result<(), Error> {
    // Before its testament is written.
    runner.gather(place);
    let (mut living, notices) = Living::open(runner.runtime, place.clone(), order::NO_SNAPSHOT)?;
    notices.iter().for_each(output::complain);
    // Letters from before come first.
    living.look_into_inbox(&mut Silent)?;
    let is_stopped = living.life().heartbeat().paused || living.life().heartbeat().frozen;
    if living.life().is_dead() || is_stopped && !matches!(end, LifeEnd::Passed { .. }) {
        return Ok(());
    }
    match living.obey(inbox::new_id(), Command::Retire { reason: end.reason() }, &mut Silent)? {
        Reply::Done | Reply::Dead(_) => word::forget(place),
        Reply::Refused(why) => return Err(Error::Refused(why)),
    }
    Ok(())
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
    match heirs::make_next(runtime, &estate, heir) {
        // The records say which heir it is, and whether its owner has ended the line meanwhile.
        Ok(_) | Err(Error::NameTaken(_) | Error::Vault(vault::Error::LineEnded | vault::Error::HasHeir)) => Ok(()),
        Err(other) => Err(other),
    }
}
