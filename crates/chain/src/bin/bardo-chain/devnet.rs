//! `bardo chain devnet`: a real node on this machine, the venue's own contracts, traders from a seed, and its bars
//! among the owner's data.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chain::U256;
use chain::devnet::{self as net, PACKAGES};
use chain::rpc::SPAN;
use chain::site::Site;
use outside::Launch;
use serde_json::json;
use shell::life::programs::keeper;
use shell::{Error, Home};

use crate::args::Devnet;
use crate::output::{self, line};
use crate::place::said;
use crate::stop::told_to_stop;
use crate::traders::Traders;
use crate::watch::Watcher;

/// Seconds from block to block.
const BLOCK: u64 = 1;

pub(crate) fn devnet(home: &Home, args: &Devnet, json: bool) -> Result<ExitCode, Error> {
    if Site::file(&args.folder).exists() {
        let folder = args.folder.display();
        return Err(Error::Usage(format!(
            "{folder} has a chain.json, of a devnet that is running or that was killed; name another folder, or remove the file"
        )));
    }
    let parts = fetched(args.parts.clone())?;
    // The keeper starts the node in another folder.
    let parts = parts.canonicalize().map_err(|source| Error::Io { what: "cannot find", path: parts, source })?;
    let stop = told_to_stop()?;
    std::fs::create_dir_all(&args.folder).map_err(|source| Error::Io {
        what: "cannot make",
        path: args.folder.clone(),
        source,
    })?;
    output::complain("a node, Uniswap v3, two tokens, a pool with liquidity and a purse …");
    let kept = |command: &[String]| keep(command, &parts);
    let mut net = net::Devnet::start_by(&parts, &["--block-time", &BLOCK.to_string()], kept).map_err(said)?;
    if args.shares {
        net.share().map_err(said)?;
    }
    let gas = U256::from(10_u64).pow(U256::from(17));
    let (endpoints, place, owner) = (vec![net.url.clone()], net.place.clone(), net.who.owner);
    let site = Site { endpoints, place, owner, gas, span: SPAN, devnet: true, signer: Vec::new() };
    site.write(&args.folder).map_err(said)?;
    let ended = Watcher::open(home, &args.folder, &args.name, args.bar, true).and_then(|mut watcher| {
        let told = |url: &str| if json { output::json(&told(args, url)) } else { next_steps(args, url) };
        let ended = trade(args, &net, &mut watcher, &stop, told);
        watcher.forget();
        ended
    });
    // The chain is gone, so its description goes too.
    let _ = std::fs::remove_file(Site::file(&args.folder));
    ended?;
    if !json {
        line("the chain is gone, and so is everything on it");
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts the node under a keeper, so that it ends with this process, even after a kill.
fn keep(command: &[String], folder: &Path) -> std::io::Result<Child> {
    let launch = Launch { command: command.to_vec(), folder: folder.to_owned(), ..Launch::default() };
    let (keeper, launch) = (keeper(), serde_json::to_string(&launch).expect("plain data"));
    let mut command = Command::new(&keeper[0]);
    command.args(&keeper[1..]).arg(launch).stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0).spawn()
}

/// Trades until it is told to stop.
fn trade(
    args: &Devnet,
    net: &net::Devnet,
    watcher: &mut Watcher,
    stop: &AtomicBool,
    tell: impl Fn(&str),
) -> Result<(), Error> {
    let mut traders = Traders::new(args.seed);
    let (mut told, mut next) = (false, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        // A node that is gone ends the command with an error.
        traders.trade(net).and_then(|()| watcher.look()).map_err(said)?;
        if !told && watcher.bars() >= 3 {
            told = true;
            tell(&net.url);
        }
        next += Duration::from_secs(BLOCK);
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}

fn told(args: &Devnet, url: &str) -> serde_json::Value {
    json!({ "url": url, "folder": args.folder, "data": args.name, "bar": args.bar })
}

fn next_steps(args: &Devnet, url: &str) {
    let (folder, name) = (args.folder.display(), &args.name);
    line(format!("a chain at {url}, its pool among your data as {name}; Ctrl-C ends it, and all that is on it"));
    line("next, in another terminal:");
    line(format!(
        "  bardo golem new ada --data {name} --interval {}s --capital 500 --set mind.kind=reflex --set reflex.act_every=5 \\",
        args.bar
    ));
    line(format!("    --orders 'bardo chain orders {folder}'"));
    line("  bardo golem run ada");
    line(format!("  bardo chain purse {folder}"));
}

/// The folder of the node and the contracts, which are fetched if they are not there.
fn fetched(given: Option<PathBuf>) -> Result<PathBuf, Error> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|user| user.join(".cache")));
    let parts = given.or_else(|| cache().map(|cache| cache.join("bardo/chain")));
    let parts =
        parts.ok_or_else(|| Error::Usage("name a folder for the node and the contracts: --parts FOLDER".into()))?;
    if net::is_complete(&parts) {
        return Ok(parts);
    }
    output::complain(format!("fetching {} into {} …", PACKAGES.join(", "), parts.display()));
    npm(&parts)?;
    if net::is_complete(&parts) {
        return Ok(parts);
    }
    Err(Error::Host(format!("npm did not install everything into {}; remove it, and try again", parts.display())))
}

fn npm(parts: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(parts).map_err(|source| Error::Io {
        what: "cannot make",
        path: parts.to_owned(),
        source,
    })?;
    let fetched = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(parts)
        .args(PACKAGES)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match fetched {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Host(format!("npm could not fetch them: {status}"))),
        Err(why) => Err(Error::Host(format!("npm is needed to fetch them, and cannot be run: {why}"))),
    }
}
