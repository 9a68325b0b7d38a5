//! `up`: all golems of the home in one process, until Ctrl-C.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use host::care::backups::Backups;
use host::config::Settings;
use host::gateway;
use host::up::notify::Telling;
use host::up::{Archiving, Plan, Up, api};
use host::view::board::Board;
use host::{Error, Home};
use serde_json::json;

use crate::args::UpArgs;
use crate::output::{self, line};
use crate::{exit, logs};

/// Where siblings elsewhere are reached, and where what golems know is kept.
fn river(settings: &Settings) -> (Option<String>, Option<Archiving>) {
    let given = |key: &str| settings.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let keep = Duration::from_millis(settings.span("styx.keep").as_millis());
    (given("styx.url"), given("styx.archive").map(|place| Archiving { place, keep }))
}

pub(crate) fn up(home: &Home, args: &UpArgs, json: bool) -> Result<ExitCode, Error> {
    home.require()?;
    let settings = home.settings()?;
    // Until the very end: what is left to say of coming down goes out when this is dropped.
    let _logs = logs::begin(&settings, args.log_format)?;
    let here: Option<fn(&vault::Note)> = if json { None } else { Some(print) };
    let telling = Telling { here, ..Telling::of(&settings)? };
    let listen = args.listen.clone().or_else(|| settings.text("api.listen").map(str::to_owned)).unwrap_or_default();
    let api = if listen.is_empty() { None } else { Some(api::Listen::of(home, &listen, &settings)?) };
    let gateway = match (&args.gateway, &args.listen) {
        (Some(address), _) => Some(address.clone()),
        // Whoever listens nowhere, or anywhere, is trying something out.
        (None, Some(listen)) if listen.is_empty() || listen.ends_with(":0") => None,
        (None, _) => settings.text("gateway.listen").map(str::to_owned),
    };
    let gateway = match gateway.filter(|address| !address.is_empty()) {
        Some(address) => Some(gateway::Listen::of(&address, &settings)?),
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
    let (relay, archive) = river(&settings);
    if (relay.is_some() || archive.is_some()) && !host::river::is_joined(home) {
        say("styx.url and styx.archive are not used: this home is of no clade; `bardo styx init` begins one");
    }
    let backups = Backups::of(&settings);
    let plan = Plan { speed: args.speed, telling, api, gateway, backups, relay, archive };
    let up = Up::come(home, plan, say)?;
    // Before anything is said: whoever reads it may ask for a stop at once.
    let stopper = up.stopper();
    let asked = AtomicU32::new(0);
    ctrlc::set_handler(move || {
        // The first asks for a clean stop, the second leaves at once; both lose nothing acknowledged.
        if asked.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        stopper.stop();
    })
    .map_err(|e| Error::Host(format!("cannot listen for Ctrl-C: {e}")))?;
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

/// What the owner is told of, as a line; the time is the owner's own.
fn print(note: &vault::Note) {
    let at = golem::Time::millis(u64::try_from(note.at).unwrap_or_default());
    line(format!("{}  {}", output::date(at), note.text));
}

/// `notify test`: something that means nothing, to everyone who is told of notes.
pub(crate) fn notify(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let came = Telling::of(&home.require()?.settings()?)?.test()?;
    if came.is_empty() {
        let why = "nobody is to be told; name a webhook, a topic or a program under [notify] in bardo.toml";
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
