//! `up`: all golems of the home in one process, until Ctrl-C.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use server::up::notify::Telling;
use server::up::{Archiving, Asker, ChoreChanges, ChoreSettings, Plan, Up, api};
use settings::Settings;
use shell::care::backups::Backups;
use shell::home::links::{self, GOOD_FOR};
use shell::view::board::Board;
use shell::{Error, Home, files};

use crate::args::UpArgs;
use crate::logs::{self, Level};
use crate::output::{self, line};
use crate::{exit, signals};

/// Sections and keys that may change while golems run.
const CHANGES: [&str; 5] = ["notify.", "backup.", "styx.archive", "styx.keep", "log.level"];

fn given(settings: &Settings, key: &str) -> Option<String> {
    settings.text(key).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn chores(settings: &Settings, json: bool) -> Result<ChoreSettings, Error> {
    let here: Option<fn(&vault::Note)> = if json { None } else { Some(print) };
    let keep = Duration::from_millis(settings.span("styx.keep").as_millis());
    Ok(ChoreSettings {
        telling: Telling { here, ..Telling::of(settings)? },
        backups: Backups::of(settings),
        archive: given(settings, "styx.archive").map(|place| Archiving { place, keep }),
    })
}

/// Reads bardo.toml again for a host that is up: it takes what it can, and says which keys have to wait. If anything
/// in it is wrong, all stays as it was.
fn reread(
    home: &Home,
    before: &Settings,
    json: bool,
    asker: &Asker,
    level: &Level,
) -> Result<(Settings, String), Error> {
    let now = home.settings()?;
    let chores = chores(&now, json)?;
    level.set(&now)?;
    let changed = now.changed_since(before);
    let (taken, later): (Vec<&str>, Vec<&str>) =
        changed.iter().partition(|key| CHANGES.iter().any(|may| key.starts_with(may)));
    let any = |section: &str| taken.iter().any(|key| key.starts_with(section));
    asker.change(ChoreChanges {
        telling: any("notify.").then_some(chores.telling),
        backups: any("backup.").then_some(chores.backups),
        archive: any("styx.").then_some(chores.archive),
    });
    let said =
        |keys: &[&str], what: &str| if keys.is_empty() { None } else { Some(format!("{} {what}", keys.join(", "))) };
    let said = [said(&taken, "from now on"), said(&later, "from the next start on")];
    let said: Vec<String> = said.into_iter().flatten().collect();
    Ok((now, if said.is_empty() { "nothing in it has changed".to_owned() } else { said.join("; ") }))
}

/// Reads what `up` reads, and says why it would not start by it. Nothing is begun.
pub(crate) fn would_start(home: &Home) -> Result<(), Error> {
    let settings = home.settings()?;
    logs::check(&settings)?;
    chores(&settings, true)?;
    if let Some(address) = given(&settings, "api.listen") {
        api::Listen::address(&address)?;
    }
    if let Some(address) = given(&settings, "gateway.listen") {
        gateway::Listen::of(&address, &settings, home.prices()?)?;
    }
    Ok(())
}

pub(crate) fn up(home: &Home, args: &UpArgs, json: bool) -> Result<ExitCode, Error> {
    files::raise();
    home.require()?;
    let settings = home.settings()?;
    // Until the very end: what is left to say of coming down goes out when this is dropped.
    let logs = logs::begin(&settings, args.log_format)?;
    let chores = chores(&settings, json)?;
    let listen = args.listen.clone().or_else(|| settings.text("api.listen").map(str::to_owned)).unwrap_or_default();
    let api = if listen.is_empty() { None } else { Some(api::Listen::of(home, &listen, &settings)?) };
    let gateway = match (&args.gateway, &args.listen) {
        (Some(address), _) => Some(address.clone()),
        // No address, or any free port: the user is trying something out.
        (None, Some(listen)) if listen.is_empty() || listen.ends_with(":0") => None,
        (None, _) => settings.text("gateway.listen").map(str::to_owned),
    };
    let gateway = match gateway.filter(|address| !address.is_empty()) {
        Some(address) => Some(gateway::Listen::of(&address, &settings, home.prices()?)?),
        None => None,
    };
    let began = Instant::now();
    let say = |text: &str| {
        if json {
            output::json(&json!({ "after_ms": began.elapsed().as_millis() as u64, "told": text }));
        } else {
            line(text);
        }
    };
    let relay = given(&settings, "styx.url");
    if (relay.is_some() || chores.archive.is_some()) && !shell::river::is_joined(home) {
        say("styx.url and styx.archive are not used: this home is of no clade; `bardo styx init` begins one");
    }
    let plan = Plan { speed: args.speed, chores, api, gateway, relay };
    let up = Up::come(home, plan, say)?;
    // Before anything is printed: a reader of it may ask for a stop at once.
    hear_signals(home.clone(), settings, json, up.asker(), logs.level.clone())?;
    let boot = up.boot;
    let released = if boot.released > 0 { format!(", {} released", boot.released) } else { String::new() };
    say(&format!(
        "up after {:.1} s: {} living, {} dead, {} failed to start{released}",
        boot.took.as_secs_f64(),
        boot.living,
        boot.dead,
        boot.not_up
    ));
    if let Some(address) = up.address() {
        say(&format!("listening on http://{address}; the token is in {}", home.token().display()));
        say(&announced(home, &address.to_string(), json)?);
    }
    if let Some(address) = up.gateway() {
        say(&format!("agents call http://{address}/g/NAME/v1; `bardo golem connect NAME` says how"));
    }
    // JSON lines, of everything once it is durable.
    let crier = json.then(|| cry(up.board()));
    up.run(say)?;
    if let Some(crier) = crier {
        let _ = crier.join();
    }
    Ok(ExitCode::SUCCESS)
}

/// Hears what its owner signals: the first interrupt or termination asks for a clean stop, the second leaves at once, and
/// both lose nothing acknowledged; a hang-up asks to read bardo.toml again.
fn hear_signals(home: Home, mut settings: Settings, json: bool, asker: Asker, level: Level) -> Result<(), Error> {
    // To close the terminal it runs in is to end it.
    let attended = std::io::stdin().is_terminal();
    let mut asked = 0;
    signals::listen(move |hung_up| {
        if hung_up && !attended {
            let said = match reread(&home, &settings, json, &asker, &level) {
                Ok((now, said)) => {
                    settings = now;
                    asker.settings(None);
                    format!("bardo.toml was read again: {said}")
                }
                Err(why) => {
                    asker.settings(Some(why.to_string()));
                    format!("bardo.toml is wrong, so all stays as it was: {why}")
                }
            };
            tracing::info!(target: "host::said", "{said}");
            if json {
                output::json(&json!({ "told": said }))
            } else {
                line(said)
            }
            return;
        }
        asked += 1;
        if asked > 1 {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        asker.stop();
    })
}

/// `page`: a link to sign in with.
pub(crate) fn page(home: &Home, listen: Option<String>, json: bool) -> Result<ExitCode, Error> {
    let settings = home.require()?.settings()?;
    let address = listen.or_else(|| settings.text("api.listen").map(str::to_owned)).unwrap_or_default();
    if address.is_empty() {
        return Err(Error::Usage("api.listen is empty; say where the host listens with --listen ADDRESS".into()));
    }
    if !home.is_up() {
        return Err(Error::Host("no host is up, so a link would lead nowhere; `bardo up` serves the page".to_owned()));
    }
    let link = format!("{}{}", place(&address), links::make(home)?);
    if json {
        output::json(&json!({ "link": link, "seconds": GOOD_FOR.as_secs() }));
        return Ok(ExitCode::SUCCESS);
    }
    line(link);
    Ok(ExitCode::SUCCESS)
}

/// The address of its page. A link is a key: it is shown on a terminal and never logged.
fn announced(home: &Home, address: &str, json: bool) -> Result<String, Error> {
    if json || !std::io::stdout().is_terminal() {
        return Ok("`bardo page` makes a link to its page".to_owned());
    }
    let link = format!("{}{}", place(address), links::make(home)?);
    Ok(format!("the page: {link} (good once, for {} minutes)", GOOD_FOR.as_secs() / 60))
}

/// An address as a browser on this machine has it.
fn place(address: &str) -> String {
    let local = address.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
    if local.contains("://") { local.trim_end_matches('/').to_owned() } else { format!("http://{local}") }
}

/// Prints a note to the owner as a line; the time is the owner's own.
fn print(note: &vault::Note) {
    let at = golem::Time::millis(u64::try_from(note.at).unwrap_or_default());
    line(format!("{}  {}", output::date(at), note.text));
}

/// `notify test`: something that means nothing, to everyone who is told of notes.
pub(crate) fn notify(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let came = Telling::of(&home.require()?.settings()?)?.test()?;
    if came.is_empty() {
        let why = "no notification target is set; add a webhook, a topic or a program under [notify] in bardo.toml";
        return Err(Error::Usage(why.into()));
    }
    for (target, came) in &came {
        match came {
            _ if json => {
                output::json(&json!({ "target": target, "taken": came.is_ok(), "error": came.as_ref().err() }))
            }
            Ok(()) => line(format!("{target:<10} took it")),
            Err(why) => output::complain(format!("{target} did not take it: {why}")),
        }
    }
    let fine = came.iter().all(|(_, came)| came.is_ok());
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

fn cry(board: Arc<Board>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut next = 0;
        loop {
            let goes_on = board.wait(next, Duration::from_secs(1));
            let (frames, missed) = board.since(next, 4_096);
            if missed {
                output::json(&json!({ "missed": true }));
            }
            for frame in &frames {
                output::json_line(&frame.text_with_name());
            }
            next = frames.last().map_or(next, |frame| frame.number + 1);
            if !goes_on && frames.is_empty() || output::reader_is_gone() {
                return;
            }
        }
    })
}
