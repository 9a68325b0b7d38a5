//! Calls that only a purse's owner can make: printed for any wallet, and made at once on a devnet.

use std::path::Path;
use std::process::ExitCode;

use chain::contracts::Purse;
use chain::devnet::Wire;
use chain::site::Site;
use chain::venue;
use chain::{Address, Bytes, SolCall, U256};
use serde_json::json;
use shell::Error;

use crate::args::OwnerDeed;
use crate::output::{self, line};
use crate::place::said;

const DAY: u64 = 86_400;
/// Wei that a new key is given on a devnet.
const GAS: u64 = 1_000_000_000_000_000_000;

pub(crate) fn owner(folder: &Path, deed: &OwnerDeed, json: bool) -> Result<ExitCode, Error> {
    let site = Site::read(folder).map_err(said)?;
    let Site { place, owner, .. } = &site;
    let key = if let OwnerDeed::Key { key, .. } = deed { Some(read(key)?) } else { None };
    let calls = match deed {
        OwnerDeed::Freeze => vec![freezes(true)],
        OwnerDeed::Thaw => vec![freezes(false)],
        OwnerDeed::Sweep => sweeps(&site)?,
        OwnerDeed::Key { days, .. } => {
            let now = site.chain().and_then(|chain| chain.head()).map_err(said)?.time;
            vec![keys(key.unwrap_or_default(), now + days * DAY)]
        }
    };
    if site.devnet {
        let wire = Wire::to(&site.endpoints[0]).map_err(said)?;
        let send = |to, value, data| wire.send(*owner, Some(to), value, data).map(drop).map_err(said);
        calls.iter().try_for_each(|(_, data)| send(place.purse, U256::ZERO, data.clone()))?;
        key.map_or(Ok(()), |key| send(key, U256::from(GAS), Vec::new()))?;
    }
    if json {
        let calls = calls.into_iter().map(|(call, data)| json!({ "call": call, "data": Bytes::from(data) }));
        output::json(&json!({
            "chain": place.chain, "from": owner, "to": place.purse, "calls": calls.collect::<Vec<_>>(), "sent": site.devnet,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if site.devnet {
        calls.iter().for_each(|(call, _)| line(format!("done: {call}")));
    } else {
        line(format!("from {owner}, to {} on chain {}, with any wallet, in this order:", place.purse, place.chain));
        calls.into_iter().for_each(|(call, data)| line(format!("  {call}\n    {}", Bytes::from(data))));
    }
    Ok(ExitCode::SUCCESS)
}

fn read(key: &str) -> Result<Address, Error> {
    key.parse().map_err(|why| Error::Usage(format!("{key} is not an address: {why}")))
}

fn freezes(frozen: bool) -> (String, Vec<u8>) {
    (format!("freeze({frozen})"), Purse::freezeCall { frozen }.abi_encode())
}

fn keys(key: Address, until: u64) -> (String, Vec<u8>) {
    (format!("setKey({key}, {until})"), Purse::setKeyCall { key, until }.abi_encode())
}

/// The calls that empty a purse, beginning with its liquidity in the pool if there is any.
fn sweeps(site: &Site) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let in_pool = site.chain().and_then(|chain| venue::in_pool(&chain, &site.place)).map_err(said)?;
    let bring = || ("bringIn()".to_owned(), Purse::bringInCall {}.abi_encode());
    let sweep = |token| (format!("sweep({token})"), Purse::sweepCall { token }.abi_encode());
    let bring = in_pool.then(bring);
    Ok(bring.into_iter().chain([site.place.money, site.place.thing].map(sweep)).collect())
}
