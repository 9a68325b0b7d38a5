//! `styx init|serve|join|status|doctor`: golems of one owner in several homes, and the relay between them.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use golem::hex;
use serde_json::json;
use shell::view::figures::several;
use shell::{Error, Home, care, river};
use styx::{Gateway, Guests, Limits, Owner, River, Shape};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

use crate::args::{ServeArgs, StyxVerb};
use crate::exit;
use crate::output::{self, count, line};

/// How often the list of clades that may use the relay is read.
const LOOK: Duration = Duration::from_secs(2);

pub(crate) fn dispatch(home: &Home, verb: StyxVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        StyxVerb::Init { relay, archive, invite } => init(home.require()?, relay, archive, invite.as_deref(), json),
        StyxVerb::Join { from, relay, archive } => join(home, &from, relay, archive, json),
        StyxVerb::Serve(args) => serve(home, &args, json),
        StyxVerb::Status => status(home.require()?, json),
        StyxVerb::Doctor => doctor(home, json),
    }
}

fn init(
    home: &Home,
    relay: Option<String>,
    archive: Option<String>,
    invite: Option<&Path>,
    json: bool,
) -> Result<ExitCode, Error> {
    let new = river::make(home)?;
    settle(home, relay, archive)?;
    if let Some(to) = invite {
        river::invite(home, to)?;
    }
    let report = river::report(home)?.expect("it has just been made");
    if json {
        output::json(&json!({ "clade": report.clade, "new": new, "relay": report.relay, "archive": report.archive }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{} clade {}", if new { "began" } else { "this home is of" }, report.clade));
    match (&report.relay, &report.archive) {
        (None, _) => {
            line("next: name a relay with `bardo styx init --relay ws://HOST:7171/v1`, or run one: `bardo styx serve`")
        }
        (_, None) => line(
            "next: `bardo styx init --archive FOLDER` keeps what your golems know where a fire here does not reach",
        ),
        _ => line("next: `bardo up` connects; it has to be started again if it is up"),
    }
    match invite {
        Some(to) => line(format!(
            "{} is an invitation: any home that has it can join this clade, so carry it over yourself, and delete it after `bardo styx join`",
            to.display()
        )),
        None => line("`bardo styx init --invite FILE` writes an invitation for another home of yours"),
    }
    Ok(ExitCode::SUCCESS)
}

fn settle(home: &Home, relay: Option<String>, archive: Option<String>) -> Result<(), Error> {
    let given = [("styx.url", relay), ("styx.archive", archive)];
    for (key, value) in given.iter().filter_map(|(key, value)| value.as_deref().map(|value| (*key, value))) {
        if key == "styx.url" && !(value.starts_with("ws://") || value.starts_with("wss://")) {
            return Err(Error::Usage(format!("a relay is at ws:// or wss://, not {value}")));
        }
        home.set(key, value)?;
    }
    Ok(())
}

fn join(
    home: &Home,
    from: &Path,
    relay: Option<String>,
    archive: Option<String>,
    json: bool,
) -> Result<ExitCode, Error> {
    // A new home after a total loss begins with this command.
    home.init(&home.settings()?)?;
    let invitation = river::accept(home, from)?;
    let given = |named: Option<String>, invited: String| named.or(Some(invited)).filter(|place| !place.is_empty());
    settle(home, given(relay, invitation.relay), given(archive, invitation.archive))?;
    let report = river::report(home)?.expect("it has just been joined");
    let left = match &report.archive {
        Some(place) => river::bring_back(home, place)?,
        None => Vec::new(),
    };
    if json {
        output::json(&json!({ "clade": report.clade, "relay": report.relay, "archive": report.archive, "left": left }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("this home is of clade {}", report.clade));
    for one in &left {
        let end =
            if one.dead { format!("died at tick {}", count(one.tick)) } else { format!("at tick {}", count(one.tick)) };
        line(format!(
            "  {:<16} {end}; {} things it knew are in {}",
            one.name,
            count(one.entries),
            one.bundle.display()
        ));
    }
    if let Some(one) = left.iter().max_by_key(|one| one.entries) {
        line("all of it is on the shelf (`bardo library list`); a golem that begins with what one of them knew:");
        line(format!("  bardo golem new {}-2 --from {}", one.name, one.bundle.display()));
    }
    line(match report.relay {
        Some(_) => "next: `bardo up` connects; it has to be started again if it is up",
        None => "next: name the relay with `bardo styx init --relay URL`",
    });
    Ok(ExitCode::SUCCESS)
}

fn status(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let Some(report) = river::report(home)? else {
        match json {
            true => output::json(&json!(null)),
            false => line("this home is of no clade; `bardo styx init` begins one"),
        }
        return Ok(ExitCode::SUCCESS);
    };
    if json {
        output::json(&report);
        return Ok(ExitCode::SUCCESS);
    }
    report.told.iter().for_each(|row| line(format!("{:<9}{}", row.about, row.says)));
    Ok(ExitCode::SUCCESS)
}

fn doctor(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let mut fine = true;
    care::river::examine(home, |finding| {
        fine &= finding.fine;
        super::home::told(&finding, json);
    })?;
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

/// A relay, until it is stopped.
fn serve(home: &Home, args: &ServeArgs, json: bool) -> Result<ExitCode, Error> {
    let trouble = |why: &dyn std::fmt::Display| Error::Host(why.to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| trouble(&why))?;
    let guests = guests(home, args)?;
    runtime.block_on(async {
        let servers = args.nats.split(',').count();
        let replicas = args.replicas.unwrap_or(if servers >= 3 { 3 } else { 1 });
        let shape = Shape { partitions: args.partitions, replicas, ..Shape::default() };
        let river = River::open(&args.nats, shape).await.map_err(|why| trouble(&why))?;
        let listener = TcpListener::bind(&args.listen).await.map_err(|why| {
            Error::Usage(format!("cannot listen on {}: {why}; choose another address with --listen", args.listen))
        })?;
        let address = listener.local_addr().map_err(|why| trouble(&why))?;
        let gateway = Gateway::new(river, Limits { proxy: args.proxy, ..Limits::default() }, guests.clone());
        let whom = match &guests {
            Guests::Anyone => "anyone".to_owned(),
            Guests::Only(owners) => several(owners.len() as u64, "clade"),
        };
        if json {
            output::json(
                &json!({ "listening": address.to_string(), "replicas": replicas, "partitions": args.partitions }),
            );
        } else {
            line(format!(
                "a relay at ws://{address}/v1 for {whom}, each word on {}; Ctrl-C stops it",
                several(replicas as u64, "server")
            ));
            line(format!("homes join with `bardo styx init --relay ws://{address}/v1`"));
        }
        let looking = look_for_guests(home.clone(), args.clone(), Arc::clone(&gateway), guests);
        tokio::select! {
            served = gateway.serve(listener) => served.map_err(|why| trouble(&why)),
            () = looking => Ok(()),
            () = stopped() => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Waits for Ctrl-C, or for a request to terminate.
async fn stopped() {
    let mut told = match signal(SignalKind::terminate()) {
        Ok(told) => told,
        Err(_) => return drop(tokio::signal::ctrl_c().await),
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = told.recv() => {}
    }
}

/// Follows the list: disconnects clades taken off it, and lets in clades put on it.
async fn look_for_guests(home: Home, args: ServeArgs, gateway: Arc<Gateway>, mut known: Guests) {
    loop {
        sleep(LOOK).await;
        match guests(&home, &args) {
            Ok(now) if now != known => {
                gateway.let_in(now.clone());
                known = now;
            }
            _ => {}
        }
    }
}

/// Clades that may use the relay: this home's own, those named, and those on the list; any clade only on request.
fn guests(home: &Home, args: &ServeArgs) -> Result<Guests, Error> {
    if args.anyone {
        return Ok(Guests::Anyone);
    }
    let mut owners = HashSet::new();
    if river::is_joined(home) {
        owners.extend(river::report(home)?.and_then(|report| read_owner(&report.clade)));
    }
    let mut named = args.owner.clone();
    if let Some(list) = &args.owners {
        let text = std::fs::read_to_string(list)
            .map_err(|why| Error::Usage(format!("cannot read {}: {why}", list.display())))?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        named.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    for name in named {
        let owner = read_owner(&name);
        owners.insert(
            owner.ok_or_else(|| {
                Error::Usage(format!("'{name}' is not the id of a clade; `bardo styx status` shows it"))
            })?,
        );
    }
    if owners.is_empty() && args.owners.is_none() {
        return Err(Error::Usage(
            "this relay would accept no home: name clades with --owner or --owners FILE, run `bardo styx init` here first, or say --anyone"
                .into(),
        ));
    }
    Ok(Guests::Only(owners))
}

fn read_owner(text: &str) -> Option<Owner> {
    let bytes = hex::decode(text).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    bytes.map(Owner)
}
