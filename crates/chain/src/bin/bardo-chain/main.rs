//! `bardo-chain`, which `bardo chain` hands over to: a real chain, on which a purse caps what a golem's key can do. It
//! is a program of its own, so that `bardo` builds and ships without the dependencies of a chain.

mod args;
mod devnet;
mod orders;
mod output;
mod owner;
mod place;
mod stop;
mod traders;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chain::signer::{Key, serve};
use chain::site::Site;
use chain::venue;
use clap::{Parser, Subcommand};
use golem::time::Time;
use serde_json::json;
use shell::view::figures::date;
use shell::{Error, Home};

use args::ChainVerb;
use output::line;
use place::said;

/// The exit code of a refused command; any other error exits with 1.
const REFUSED: u8 = 6;

/// A real chain: a golem that exchanges money in a pool, with a purse that caps it.
#[derive(Debug, Parser)]
#[command(
    name = "bardo-chain",
    bin_name = "bardo chain",
    version,
    disable_help_subcommand = true,
    max_term_width = 100
)]
struct Args {
    #[command(subcommand)]
    verb: Verb,
    /// Where everything is kept [default: $BARDO_HOME, or the platform's data folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// Print JSON instead of words
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    #[command(flatten)]
    Chain(ChainVerb),
    /// Keep a program, so that nothing of it is left behind
    #[command(hide = true)]
    Keep { launch: String },
}

fn main() -> ExitCode {
    let args = Args::parse();
    let verb = match args.verb {
        Verb::Keep { launch } => return outside::keeper::keep(&launch),
        Verb::Chain(verb) => verb,
    };
    shell::private::begin();
    match Home::locate(args.home).and_then(|home| dispatch(&home, verb, args.json)) {
        Ok(code) => code,
        Err(error) => {
            output::complain(&error);
            if matches!(error, Error::Refused(_)) { ExitCode::from(REFUSED) } else { ExitCode::FAILURE }
        }
    }
}

fn dispatch(home: &Home, verb: ChainVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        ChainVerb::Devnet(args) => devnet::devnet(home.require()?, &args, json),
        ChainVerb::Watch { folder, name, bar } => watch::watch(home.require()?, &folder, &name, bar, json),
        ChainVerb::Orders { folder, real_money } => orders::orders(&folder, real_money.as_deref()),
        ChainVerb::Signer { folder, key } => signer(&folder, &key),
        ChainVerb::Purse { folder } => purse(&folder, json),
        ChainVerb::Owner { folder, deed } => owner::owner(&folder, &deed, json),
    }
}

fn signer(folder: &Path, file: &Path) -> Result<ExitCode, Error> {
    let site = Site::read(folder).map_err(said)?;
    let password = std::env::var("BARDO_CHAIN_PASSWORD").unwrap_or_default();
    let mut key = Key::open(file, &password, site.list()).map_err(said)?;
    let (from, to) = (std::io::stdin().lock(), std::io::stdout().lock());
    serve(&mut key, from, to)
        .map_err(|why| Error::Host(format!("the program that asks for signatures is gone: {why}")))?;
    Ok(ExitCode::SUCCESS)
}

fn purse(folder: &Path, json: bool) -> Result<ExitCode, Error> {
    let site = Site::read(folder).map_err(said)?;
    let chain = site.chain().map_err(said)?;
    let Site { place, owner, .. } = site;
    let held = venue::purse(&chain, &place).map_err(said)?;
    if json {
        output::json(&json!({
            "chain": place.chain, "purse": place.purse, "owner": owner, "key": held.key, "until": held.until,
            "frozen": held.frozen, "money": held.money, "things": held.things, "shares": held.shares,
            "money_left": held.money_left, "things_left": held.things_left,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("purse      {} on chain {}", place.purse, place.chain));
    line(format!("owner      {owner}"));
    match held.key {
        Some(key) => line(format!("key        {key}, until {}", date(Time::seconds(held.until)))),
        None => line("key        none: only its owner can use the purse"),
    }
    let shares = held.shares.map_or(String::new(), |shares| format!(", and {} shares in the pool", units(shares)));
    line(format!("holds      {} and {} of the thing{shares}", held.money, units(held.things)));
    let frozen = if held.frozen { ", for it is frozen" } else { "" };
    line(format!("may leave  {} and {} of the thing now{frozen}", held.money_left, units(held.things_left)));
    Ok(ExitCode::SUCCESS)
}

fn units(millionths: i64) -> String {
    format!("{:.6}", millionths as f64 / 1e6)
}
