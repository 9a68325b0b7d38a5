//! `chain devnet|watch|orders|signer|purse|owner`: a real chain, on which a purse caps what a golem's key can do.

mod devnet;
mod orders;
mod owner;
mod place;
mod traders;
mod watch;

use std::path::Path;
use std::process::ExitCode;

use ::chain::signer::{Key, serve};
use ::chain::site::Site;
use ::chain::venue;
use golem::time::Time;
use host::view::figures::date;
use host::{Error, Home};
use serde_json::json;

use self::place::said;
use crate::args::ChainVerb;
use crate::output::{self, line};

pub(crate) fn dispatch(home: &Home, verb: ChainVerb, json: bool) -> Result<ExitCode, Error> {
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
    serve(&mut key, from, to).map_err(|why| Error::Host(format!("whoever asked is gone: {why}")))?;
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
        None => line("key        none yet, or none any more: only its owner can do anything with it"),
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
