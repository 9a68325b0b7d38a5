//! `wrap`: a program somebody already has, and a life for it: made or gone on with, run beside it, and ended with it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use golem::mortality::death::Cause;
use golem::{Event, Life, Name, Record, Usdc, call, owner};
use host::config::{File, Origin, Settings};
use host::home::agent;
use host::life::checks::Plan;
use host::life::{Ending, Listener, Living, Pace, Run};
use host::{Error, GolemHome, Home, gateway};
use outside::family;
use outside::fence::{self, Fence};
use serde_json::json;

use crate::args::{Chosen, New, WorldKind, WrapArgs};
use crate::commands::{checks, golem as golems, home as homes};
use crate::{exit, output, signals};

/// How often it is looked whether the program or its golem has ended.
const EVERY: Duration = Duration::from_millis(50);
/// How often the file of a golem that a host runs is looked at.
const LOOKS: Duration = Duration::from_millis(500);
/// How long a program may take to end after Ctrl-C, which it has heard as well.
const INTERRUPTED: Duration = Duration::from_secs(5);
/// How long a host may take to find a newborn.
const FOUND: Duration = Duration::from_secs(15);
/// What a new golem has to live on, where nobody says.
const CREDIT: Usdc = Usdc::dollars(1);
/// How often a golem that nobody checks looks at its clocks.
const UNCHECKED: &str = "10s";
const CHECKED: &str = "1m";
/// Whether it may die by chance.
const CHANCE: &str = "mortality.stochastic.enabled";

pub(crate) fn wrap(home: &Home, args: &WrapArgs, json: bool) -> Result<ExitCode, Error> {
    // Whoever has mistyped a check or a path is told before anything is made.
    checks::plan(&args.check, &args.number)?;
    let protected = real(&args.protect)?;
    if !home.is_known() {
        homes::make(home)?;
        output::complain(format!("made a home at {}", home.root().display()));
    }
    let place = golem_for(home, args)?;
    if let Some(plan) = Plan::read(&place)?.filter(|_| !protected.is_empty()) {
        // What the program may not write to, what its checks run may not either.
        Plan { protect: protected, ..plan }.write(&place)?;
    }
    let before = life(&place)?;
    let keeper = Keeper::of(home, &place)?;
    output::complain(format!(
        "{} has {} left to live on; its calls go through http://{}",
        place.name, before.purse.credit, keeper.address
    ));
    family::adopt();
    let mut child = spawn(home, &place, &keeper.address, args)?;
    let (began, interrupts) = (Instant::now(), interrupts()?);
    let code = watch(&mut child, &keeper, &place, &interrupts)?;
    family::end();
    keeper.stop()?;
    let after = life(&place)?;
    say(&before, &after, began.elapsed(), json);
    Ok(match (&after.death, code) {
        (Some(death), _) if matches!(death.cause, Cause::Economic { .. }) => ExitCode::from(exit::BUDGET),
        (Some(_), _) => ExitCode::from(exit::DEAD),
        (None, code) => ExitCode::from(code),
    })
}

fn real(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let wrong = |path: &PathBuf, why| Error::Usage(format!("cannot protect {}: {why}", path.display()));
    paths.iter().map(|path| path.canonicalize().map_err(|why| wrong(path, why))).collect()
}

fn life(place: &GolemHome) -> Result<Life, Error> {
    Ok(place.wake()?.0.life().clone())
}

/// Makes it, or goes on with it.
fn golem_for(home: &Home, args: &WrapArgs) -> Result<GolemHome, Error> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => called(&args.program),
    };
    if let Ok(place) = home.golem(name.as_str()) {
        let life = life(&place)?;
        if let Some(death) = &life.death {
            let advice = format!("`bardo golem successor {name}` makes an heir, and --name another golem");
            return Err(Error::Dead(name, format!("{}; {advice}", death.cause)));
        }
        if args.credit.is_some() {
            let has = life.purse.credit;
            output::complain(format!(
                "{name} has lived before and keeps what it has, {has}; `bardo golem fund {name}` gives it more"
            ));
        }
        return Ok(place);
    }
    let every = args.every.clone().unwrap_or_else(|| {
        let checked = !(args.check.is_empty() && args.number.is_empty());
        if checked { CHECKED } else { UNCHECKED }.to_owned()
    });
    let new = New {
        name: Some(name.clone()),
        world: Some(Chosen::Ours(WorldKind::Checks)),
        check: args.check.clone(),
        number: args.number.clone(),
        interval: Some(every.clone()),
        credit: Some(args.credit.unwrap_or(CREDIT)),
        set: [vec![format!("world.bar={every}")], no_chance(&args.set)?, args.set.clone()].concat(),
        ..New::named(name.clone())
    };
    golems::birth_of(home, new)?;
    home.golem(name.as_str())
}

/// A program that does its work is not to be ended by a roll of dice: its golem has no clock of chance, unless its owner asks for
/// one by a flag or in the environment.
fn no_chance(set: &[String]) -> Result<Vec<String>, Error> {
    let said = Settings::load(File::Golem, None, std::env::vars(), set)?;
    let unsaid = matches!(said.origin(CHANCE), Origin::Default);
    Ok(unsaid.then(|| format!("{CHANCE}=false")).into_iter().collect())
}

/// What a golem is called that nobody has named: as its program is, and not as what that is written in. Two agents in Python
/// must not share a purse.
fn called(program: &[String]) -> Name {
    let script = program[1..].iter().find(|argument| !argument.starts_with('-') && Path::new(argument).is_file());
    let stem = Path::new(script.unwrap_or(&program[0]))
        .file_stem()
        .map(|stem| stem.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let plain: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(30).collect();
    plain.trim_matches('-').parse().unwrap_or_else(|_| "agent".parse().expect("a plain name"))
}

/// Starts the program, with an address and a token in place of every key its owner has.
fn spawn(home: &Home, place: &GolemHome, address: &str, args: &WrapArgs) -> Result<Child, Error> {
    let (base, token) = (format!("http://{address}/g/{}", place.name), agent::token(place)?);
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]);
    for key in gateway::keys(&home.settings()?)? {
        command.env_remove(key);
    }
    command
        .env_remove("BARDO_HOME")
        .env("OPENAI_BASE_URL", format!("{base}/v1"))
        .env("OPENAI_API_BASE", format!("{base}/v1"))
        .env("OPENAI_API_KEY", &token)
        .env("ANTHROPIC_BASE_URL", &base)
        .env("ANTHROPIC_API_KEY", &token)
        .env("BARDO_MCP_URL", format!("{base}/mcp"))
        .env("BARDO_TOKEN", &token)
        .env("BARDO_GOLEM", place.name.as_str());
    let cannot = |why: std::io::Error| Error::Usage(format!("cannot start {}: {why}", args.program[0]));
    if args.unfenced {
        return command.spawn().map_err(cannot);
    }
    let fence = Fence { hidden: vec![home.root().to_owned()], protected: args.protect.clone(), given: Vec::new() };
    let (child, stands) = fence::start(&mut command, &fence).map_err(cannot)?;
    if !stands {
        output::complain("this kernel has no Landlock: the program can reach whatever you can, this home included");
    }
    Ok(child)
}

/// Until the program ends, or has to; its exit code.
fn watch(child: &mut Child, keeper: &Keeper, place: &GolemHome, interrupts: &AtomicU32) -> Result<u8, Error> {
    let (mut looked, mut interrupted) = (Instant::now(), None);
    loop {
        if let Some(status) =
            child.try_wait().map_err(|why| Error::Host(format!("cannot wait for the program: {why}")))?
        {
            return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::ERROR));
        }
        if looked.elapsed() >= LOOKS {
            looked = Instant::now();
            if keeper.has_ended(place)? {
                output::complain(format!("{} has ended, and its program with it", place.name));
                return Ok(exit::DEAD);
            }
        }
        if interrupts.load(Ordering::SeqCst) > 0 {
            let since = *interrupted.get_or_insert_with(Instant::now);
            if since.elapsed() > INTERRUPTED || interrupts.load(Ordering::SeqCst) > 1 {
                return Ok(exit::INTERRUPTED);
            }
        }
        std::thread::sleep(EVERY);
    }
}

fn interrupts() -> Result<Arc<AtomicU32>, Error> {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    signals::listen(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    })?;
    Ok(count)
}

/// What it cost and how it ended, where the program's own output is not.
fn say(before: &Life, after: &Life, took: Duration, json: bool) {
    let name = &after.birth.name;
    let (calls, spent) = (after.calls.made - before.calls.made, after.calls.spent - before.calls.spent);
    if json {
        let died_of = after.death.as_ref().map(|death| death.cause.to_string());
        let told = json!({ "name": name, "calls": calls, "spent": spent, "left": after.purse.credit,
                           "took_ms": took.as_millis() as u64, "died_of": died_of });
        return output::aside(&told);
    }
    let took = golem::Span::millis(took.as_millis() as u64);
    output::complain(format!("{name} spent {spent} on {calls} calls in {took}"));
    match &after.death {
        Some(death) => {
            output::complain(format!("{name} died: {}; `bardo testament {name}` says the rest", death.cause))
        }
        None => {
            let left: Usdc = after.purse.credit;
            output::complain(format!("{name} lives, with {left} left; --name {name} goes on with it"));
        }
    }
}

/// Who runs the golem meanwhile: a host that is up, or this process.
struct Keeper {
    address: String,
    own: Option<Own>,
}

struct Own {
    gateway: gateway::Running,
    stop: Arc<AtomicBool>,
    dead: Arc<AtomicBool>,
    living: JoinHandle<Result<Ending, Error>>,
}

struct Ear {
    stop: Arc<AtomicBool>,
    dead: Arc<AtomicBool>,
}

impl Listener for Ear {
    fn acknowledged(&mut self, records: &[Record], life: &Life) -> Result<(), Error> {
        for event in records.iter().flat_map(|record| &record.events) {
            tell(event, life);
        }
        if life.is_dead() {
            self.dead.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    fn stop(&mut self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// What its owner is told of at once, where no host does.
fn tell(event: &Event, life: &Life) {
    let name = &life.birth.name;
    match event {
        Event::Call(call::Event::Held { key, .. }) => {
            let why = life.calls.hold.map(|hold| hold.to_string()).unwrap_or_default();
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

impl Keeper {
    fn of(home: &Home, place: &GolemHome) -> Result<Keeper, Error> {
        if home.is_up() {
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
        let (mut living, notices) = Living::open(place.clone(), settings.integer("run.snapshot_every") as u64)?;
        notices.iter().for_each(output::complain);
        let gateway = gateway::serve(gateway::Listen::of("127.0.0.1:0", &settings)?, home)?;
        let (stop, dead) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let mut ear = Ear { stop: Arc::clone(&stop), dead: Arc::clone(&dead) };
        let living =
            std::thread::spawn(move || living.run(Run { pace: Pace::Times(1.0), ticks: None, batch: 1 }, &mut ear));
        Ok(Keeper { address: gateway.address.to_string(), own: Some(Own { gateway, stop, dead, living }) })
    }

    fn has_ended(&self, place: &GolemHome) -> Result<bool, Error> {
        match &self.own {
            Some(own) => Ok(own.dead.load(Ordering::SeqCst) || own.living.is_finished()),
            None => Ok(life(place)?.is_dead()),
        }
    }

    /// Whatever was under way is settled, and what a death still has to do is done.
    fn stop(self) -> Result<(), Error> {
        let Some(own) = self.own else { return Ok(()) };
        own.gateway.close();
        if !own.dead.load(Ordering::SeqCst) {
            own.stop.store(true, Ordering::SeqCst);
        }
        own.living.join().map_err(|_| Error::Host("its life was left in haste".into()))?.map(|_| ())
    }
}
