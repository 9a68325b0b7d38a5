//! Programs of the owner's as worlds and minds: naming one, trying one out, and what is said to it.

use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use ::outside::wire::{self, Answer, Ask, Hello, Question, VERSION, Welcome};
use golem::Name;
use golem::time::{Span, Time};
use golem::world::Observation;
use serde_json::json;
use settings::{File, Settings};
use shell::life::birth::{Wish, birth};
use shell::life::checks;
use shell::life::newborn;
use shell::life::outside::Outside;
use shell::life::programs::{Programs, Run};
use shell::life::{Listener, Pace};
use shell::{Error, GolemHome, Home, Runtime};
use world::{Ledger, Spec, World};

use crate::args::{HowArgs, ProgramArgs, Served, WorldVerb};
use crate::exit;
use crate::output::{self, line};

pub(crate) fn dispatch(home: &Home, verb: &WorldVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        WorldVerb::Schema => {
            output::json(&::outside::wire::schema());
            Ok(ExitCode::SUCCESS)
        }
        WorldVerb::Serve { world } => serve(*world),
        WorldVerb::Check { how, command } => check(home, &run(&shell(command), how)?, json),
    }
}

/// One of our own worlds, on this end of the conversation.
fn serve(world: Served) -> Result<ExitCode, Error> {
    let mut lines = std::io::stdin().lock().lines();
    let mut heard = || lines.next().transpose().ok().flatten();
    let unreadable = |why: serde_json::Error| Error::Usage(format!("that is not a message: {why}"));
    let Some(hello) = heard() else { return Ok(ExitCode::SUCCESS) };
    let hello: Hello = serde_json::from_str(&hello).map_err(unreadable)?;
    let (seed, bar_ms) = (hello.seed, golem::time::REFERENCE_TICK.as_millis());
    let spec = match world {
        Served::Sim => Spec::Sim { seed, bar_ms, relations_change_days: 0.0, edge_bps: None, flip_days: None },
        Served::Queue => Spec::Queue { seed, bar_ms },
    };
    let mut ledger = Ledger::file(Path::new(&hello.folder).join("world.log"))?;
    let mut world = spec.open(Ledger::memory())?;
    output::json(&Welcome {
        bardo: "world".to_owned(),
        version: VERSION,
        can: Vec::new(),
        world: Some(wire::Manifest::of(&world.manifest())),
        start: Some(world.start().as_millis()),
        end: world.end().map(|end| end.as_millis()),
        name: None,
    });
    let mut opened = false;
    while let Some(line) = heard() {
        let question: Question = serde_json::from_str(&line).map_err(unreadable)?;
        if let Ask::Seek { key: Some(key), .. } = question.ask {
            ledger.forget_after(key)?;
        }
        if !opened {
            world = spec.open(std::mem::replace(&mut ledger, Ledger::memory()))?;
            opened = true;
        }
        if question.ask == Ask::Bye {
            break;
        }
        let answer = answer(world.as_mut(), &question.ask);
        let error = answer.as_ref().err().map(ToString::to_string);
        let answer = Answer { id: question.id, error, ..answer.unwrap_or_default() };
        output::json_line(&serde_json::to_string(&answer).expect("plain data"));
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(world: &mut dyn World, ask: &Ask) -> Result<Answer, world::Error> {
    let nothing = Answer::default();
    Ok(match *ask {
        Ask::Seek { until, .. } => world.seek(Time::millis(until)).map(|()| nothing)?,
        Ask::Observe { since, now, .. } => {
            let mut seen = Observation::default();
            world.observe(Time::millis(since), Time::millis(now), &mut seen)?;
            Answer { bars: Some(seen.bars.iter().map(wire::Bar::of).collect()), ..nothing }
        }
        Ask::Preview { order } => {
            let quote = world.preview(&order.read())?;
            Answer { quote: Some(quote.as_ref().map(wire::Quote::of)), ..nothing }
        }
        Ask::Commit { key, order } => {
            Answer { fate: Some(wire::Fate::of(&world.commit(key, &order.read())?)), ..nothing }
        }
        Ask::Reconcile { key } => Answer { fate: Some(wire::Fate::of(&world.reconcile(key)?)), ..nothing },
        Ask::Close => world.close().map(|()| nothing)?,
        Ask::Bye => nothing,
    })
}

/// How a program is run from this folder.
pub(crate) fn run(command: &str, how: &HowArgs) -> Result<Run, Error> {
    let folder = checks::folder(Path::new("."))?;
    let first = command.split_whitespace().next().unwrap_or_default();
    if (first.contains('/') || first.ends_with(".py")) && !folder.join(first).exists() {
        return Err(Error::Usage(format!("the program {first} cannot be started: there is no such file")));
    }
    Ok(Run {
        command: started(command, &folder),
        folder,
        environment: how.env.clone(),
        confined: how.confined,
        memory: how.memory,
        answers_within: how.answers_within.unwrap_or(10),
    })
}

/// A program that carries out orders: it may take as long as the venue behind it does.
pub(crate) fn patient(command: &str, how: &HowArgs) -> Result<Run, Error> {
    Ok(Run { answers_within: how.answers_within.unwrap_or(60), ..run(command, how)? })
}

/// A file, or words for the shell: no model is called like that.
pub(crate) fn is_program(mind: &str) -> bool {
    let first = mind.split_whitespace().next().unwrap_or_default();
    mind.contains(char::is_whitespace) || first.starts_with(['.', '/', '~']) || first.ends_with(".py")
}

/// A file of Python need not be made executable first.
fn started(command: &str, folder: &Path) -> String {
    use std::os::unix::fs::PermissionsExt;
    let first = command.split_whitespace().next().unwrap_or_default();
    let file = folder.join(first);
    let runs = std::fs::metadata(&file).is_ok_and(|file| file.permissions().mode() & 0o111 != 0);
    match first.ends_with(".py") && file.is_file() {
        true if !runs => format!("python3 {command}"),
        // The shell looks for a bare name on PATH, and not here.
        true if !first.contains('/') => format!("./{command}"),
        _ => command.to_owned(),
    }
}

/// Words as one line for the shell that means them.
fn shell(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// How it would be named for a golem, with whatever it was given here.
fn again(run: &Run) -> String {
    let mut words = shell(std::slice::from_ref(&run.command));
    run.environment.iter().for_each(|name| words += &format!(" --env {name}"));
    words += if run.confined { " --confined" } else { "" };
    run.memory.iter().for_each(|memory| words += &format!(" --memory {memory}"));
    words
}

/// How long a bar of its lasts.
pub(crate) fn bar(home: &Home, run: &Run) -> Result<Span, Error> {
    let folder = temporary()?;
    let world = Outside::bare(home.root(), folder.path(), run.clone(), "nobody", 0)?;
    Ok(world.manifest().bar)
}

fn check(home: &Home, run: &Run, json: bool) -> Result<ExitCode, Error> {
    let folder = temporary()?;
    let open = || Outside::bare(home.root(), folder.path(), run.clone(), "nobody", 1);
    // A program that does not even start is an error of its own.
    drop(open()?);
    let opened = || -> Box<dyn World> {
        match open() {
            Ok(world) => Box::new(world),
            Err(why) => Box::new(Gone(why.to_string())),
        }
    };
    // It can take half a minute; where its output is read by a program, the findings alone are printed.
    let is_watched = std::io::stderr().is_terminal() && !json;
    let found = world::conformance::examine(opened, |what| {
        if is_watched {
            output::complain(format!("looking at {what}"));
        }
    });
    if json {
        let breaks: Vec<&str> = found.iter().map(|broken| broken.sentence.as_str()).collect();
        let changes: Vec<&str> = found.iter().map(|broken| broken.change).collect();
        output::json(&json!({
            "command": run.command, "keeps_every_promise": found.is_empty(), "breaks": breaks, "changes": changes,
        }));
    } else if found.is_empty() {
        line(format!("{} keeps every promise a world makes", run.command));
        line(format!("next: bardo golem new NAME --world {}", again(run)));
    } else {
        for (at, broken) in found.iter().enumerate() {
            line(format!("  {}", broken.sentence));
            // Once for all that one change mends.
            if found.get(at + 1).is_none_or(|next| next.change != broken.change) {
                line(format!("    to mend it: {}", broken.change));
            }
        }
        line(format!("{} of the promises of a world are broken; docs/own-world.md explains each of them", found.len()));
    }
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

/// Looks that a mind is shown when it is checked.
const LOOKS: u64 = 100;

/// A paper life with this mind as its only voice, somewhere aside.
pub(crate) fn check_mind(how: &HowArgs, command: &[String], json: bool) -> Result<ExitCode, Error> {
    let (folder, run) = (temporary()?, run(&shell(command), how)?);
    let home = Home::at(folder.path().join("home"));
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[])?)?;
    let flags = ["world.seed=1", "mind.kind=outside", "mortality.mode=immortal", "dream.enabled=false"];
    let settings = newborn::settings(&home, None, flags.map(str::to_owned).to_vec())?;
    let spec = newborn::spec(&home, &settings, Some(1))?;
    let programs = Programs { mind: Some(run.clone()), ..Programs::default() };
    let name: Name = "nobody".parse().expect("a name");
    let mut living = birth(&Runtime::of(&home), Wish { programs, ..Wish::of(name, spec, Some(1), settings) })?;
    let mut ear = MindEar::default();
    living.run(shell::life::Run { pace: Pace::Max, ticks: Some(LOOKS), batch: LOOKS }, &mut ear)?;
    let (words, life) = (living.life().outside().words, living.life());
    let held: u64 = life.outside().standing.iter().map(|standing| standing.resolved).sum();
    if json {
        let found: Vec<&String> = ear.lacks.iter().collect();
        output::json(
            &json!({ "command": run.command, "looks": LOOKS, "words": words, "claims": held, "breaks": found }),
        );
    } else if let Some(why) = &ear.lacks {
        line(format!("  {why}"));
        line(format!("it spoke {words} times at {LOOKS} looks"));
    } else {
        line(format!(
            "{} spoke {words} times at {LOOKS} looks; {held} of its claims have met their answer",
            run.command
        ));
        line(format!("next: bardo golem new NAME --mind {}", again(&run)));
    }
    Ok(if ear.lacks.is_none() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

/// Hears what is wrong with a mind, and ends its life then.
#[derive(Default)]
struct MindEar {
    lacks: Option<String>,
}

impl Listener for MindEar {
    fn acknowledged(&mut self, _: &[golem::Record], _: &golem::Life) -> Result<(), Error> {
        Ok(())
    }
    fn stop(&mut self) -> bool {
        self.lacks.is_some()
    }
    fn lacks(&mut self, why: &str) {
        self.lacks = Some(why.to_owned());
    }
}

/// A world that did not come up again.
struct Gone(String);

impl Gone {
    fn why<T>(&self) -> Result<T, world::Error> {
        Err(world::Error::Outside(self.0.clone()))
    }
}

impl World for Gone {
    fn manifest(&self) -> golem::world::Manifest {
        golem::world::Manifest::default()
    }
    fn start(&self) -> golem::Time {
        golem::Time::default()
    }
    fn end(&self) -> Option<golem::Time> {
        None
    }
    fn seek(&mut self, _: golem::Time) -> Result<(), world::Error> {
        self.why()
    }
    fn observe(
        &mut self,
        _: golem::Time,
        _: golem::Time,
        _: &mut golem::world::Observation,
    ) -> Result<(), world::Error> {
        self.why()
    }
    fn preview(&mut self, _: &world::Order) -> Result<Option<golem::world::Quote>, world::Error> {
        self.why()
    }
    fn commit(&mut self, _: u64, _: &world::Order) -> Result<golem::world::Fate, world::Error> {
        self.why()
    }
    fn reconcile(&mut self, _: u64) -> Result<golem::world::Fate, world::Error> {
        self.why()
    }
}

/// Shows the programs of a golem, or names another.
pub(crate) fn program(place: &GolemHome, args: &ProgramArgs, json: bool) -> Result<ExitCode, Error> {
    let mut programs = Programs::read(place)?;
    let changes = args.world.is_some() || args.orders.is_some() || args.mind.is_some() || args.no_mind;
    if let Some(command) = &args.world {
        programs.world = Some(run(command, &args.how)?);
    }
    if let Some(command) = &args.orders {
        programs.orders = Some(patient(command, &args.how)?);
    }
    if let Some(command) = &args.mind {
        programs.mind = Some(run(command, &args.how)?);
    }
    if args.no_mind {
        programs.mind = None;
    }
    if changes {
        programs.write(place)?;
    }
    if json {
        output::json(&programs);
        return Ok(ExitCode::SUCCESS);
    }
    for (what, run) in [("world", &programs.world), ("orders", &programs.orders), ("mind", &programs.mind)] {
        if let Some(Run { command, folder, confined, .. }) = run {
            let kept = if *confined { ", confined" } else { "" };
            line(format!("{what:<10} {command} (in {}{kept})", folder.display()));
        }
    }
    if programs == Programs::default() {
        line(format!("{} has no program of yours", place.name));
    }
    if changes {
        line("this takes effect when its golem is next opened");
    }
    if args.orders.is_some() {
        let (golem, _) = place.wake()?;
        // Where a process runs the golem, that one has greeted it already.
        if !place.is_lived(golem.life().id()) {
            greet(place, golem.life());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns at once if orders cannot be carried out, which the owner would otherwise learn days later.
pub(crate) fn greet(place: &GolemHome, life: &golem::Life) {
    if let Err(why) = Outside::greets(place, life) {
        output::complain(format!("as things stand its orders cannot be carried out: {why}"));
    }
}

fn temporary() -> Result<tempfile::TempDir, Error> {
    tempfile::tempdir().map_err(|why| Error::Host(format!("no temporary folder can be made: {why}")))
}
