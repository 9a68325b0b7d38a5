//! The purse on its own chain, against somebody who has the golem's key and everything else.

mod common;

use alloy_sol_types::SolCall;
use chain::contracts::{Purse, Token};
use chain::devnet::{Devnet, ours};
use chain::signer::Signer;
use chain::{Address, B256, U256, keccak256};
use common::{Dice, ETHER, Ground, full, key, parts};
use serde_json::json;

const DAY: u64 = 86_400;

fn sends(net: &Devnet, from: Address, input: Vec<u8>) -> Result<(), String> {
    net.wire().send(from, Some(net.place.purse), U256::ZERO, input).map(drop).map_err(|why| why.to_string())
}

fn reads<C: SolCall>(net: &Devnet, of: Address, call: &C) -> C::Return {
    let asked = json!([{ "to": of, "input": chain::Bytes::from(call.abi_encode()) }, "latest"]);
    let said: chain::Bytes = serde_json::from_value(net.wire().ask("eth_call", asked).unwrap()).unwrap();
    C::abi_decode_returns(&said).unwrap()
}

fn balance(net: &Devnet, token: Address, owner: Address) -> U256 {
    reads(net, token, &Token::balanceOfCall { owner })
}

/// Whoever has the key can send from it.
fn stolen(ground: &Ground) -> Address {
    let thief = key(&ground.net).address();
    ground.net.wire().ask("anvil_impersonateAccount", json!([thief])).unwrap();
    ground.net.wire().ask("anvil_setBalance", json!([thief, U256::from(ETHER) * U256::from(1_000_000)])).unwrap();
    thief
}

fn wait(net: &Devnet, seconds: u64) {
    net.wire().ask("evm_increaseTime", json!([seconds])).unwrap();
    net.wire().ask("evm_mine", json!([])).unwrap();
}

fn now(net: &Devnet) -> u64 {
    let block = net.wire().ask("eth_getBlockByNumber", json!(["latest", false])).unwrap();
    u64::from_str_radix(&block["timestamp"].as_str().unwrap()[2..], 16).unwrap()
}

/// The source is what the program has in it.
#[test]
fn the_contracts_are_compiled_from_their_sources() {
    let Some(parts) = parts() else { return };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/contracts");
    let told = std::process::Command::new("node")
        .arg(format!("{folder}/compile.js"))
        .arg(parts.join("node_modules/solc"))
        .output()
        .expect("node");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let kept = std::fs::read_to_string(format!("{folder}/compiled.txt")).unwrap();
    assert!(kept == String::from_utf8(told.stdout).unwrap(), "compiled.txt is of other sources: compile them again");
    assert!(ours("Purse").len() < 24_576, "no chain would take it");
}

/// A thief with the key, the host and a fortune: no more leaves in any 24 hours than a day's allowance, and nothing of it to
/// anywhere but the pool.
#[test]
fn a_thief_takes_a_day_and_no_more() {
    let Some(ground) = Ground::new() else { return };
    let (net, thief) = (&ground.net, stolen(&ground));
    let (money, purse) = (net.place.money, net.place.purse);
    let mut dice = Dice(9_402);
    let mut left: Vec<(u64, U256)> = Vec::new();
    let rounds = if full() { 20_000 } else { 120 };
    let (mut done, mut refused) = (0, 0);
    for n in 0..rounds {
        let before = balance(net, money, purse);
        // As much as there is, or a little more, for as good as nothing: whoever is in the pool before it has the rest.
        let free = reads(net, purse, &Purse::leftCall { token: money });
        let most = free + U256::from(dice.below(3)) - U256::from(1).min(free);
        let call = Purse::buyCall {
            id: keccak256(format!("theft {n}")),
            units: U256::from(dice.below(10_u64.pow(17)) + 1),
            most,
            deadline: U256::MAX,
        };
        if dice.below(3) == 0 {
            let pays = U256::from(dice.below(200_000_000_000));
            net.trade(dice.below(2) == 0, pays.min(U256::from(ETHER)) + U256::from(1)).unwrap();
        }
        match sends(net, thief, call.abi_encode()) {
            Ok(()) => done += 1,
            Err(_) => refused += 1,
        }
        let after = balance(net, money, purse);
        left.push((now(net), before.saturating_sub(after)));
        let mint = Token::mintCall { to: purse, value: U256::from(1_000_000_000) }.abi_encode();
        net.wire().send(net.who.maker, Some(money), U256::ZERO, mint).unwrap();
        wait(net, dice.below(3 * 3_600));
        let since = now(net).saturating_sub(DAY);
        let in_a_day: U256 = left.iter().filter(|(at, _)| *at >= since).map(|(_, amount)| *amount).sum();
        assert!(in_a_day <= U256::from(4_000_000_000_u64), "{in_a_day} in a day");
        assert!(reads(net, money, &Token::allowanceCall { owner: purse, spender: net.router }).is_zero());
    }
    let taken: U256 = left.iter().map(|(_, amount)| *amount).sum();
    println!(
        "counted: a thief's {rounds} purchases: {done} done, {refused} refused, {taken} micro-dollars over {} days",
        left.last().map_or(0, |(at, _)| (at - left[0].0) / DAY)
    );
    assert!(done > 0 && refused > 0 && balance(net, money, thief).is_zero());
}

/// Calls at random by somebody with the key and by strangers.
#[test]
fn calls_at_random_move_nothing_out() {
    let Some(ground) = Ground::new() else { return };
    let (net, thief) = (&ground.net, stolen(&ground));
    let (money, thing, purse, owner) = (net.place.money, net.place.thing, net.place.purse, net.who.owner);
    let mut dice = Dice(9_403);
    let count = if full() { 1_000_000 } else { 400 };
    let start = balance(net, money, purse);
    let (mut fine, mut reverted) = (0, 0);
    for n in 0..count {
        let token = [money, thing, purse, Address::repeat_byte(dice.roll() as u8)][dice.below(4) as usize];
        let number = |dice: &mut Dice| match dice.below(4) {
            0 => U256::MAX >> dice.below(256) as usize,
            1 => U256::ZERO,
            _ => U256::from(dice.roll() >> dice.below(64)),
        };
        let id: B256 = keccak256([dice.below(50) as u8]);
        let input = match dice.below(9) {
            0 => Purse::setKeyCall { key: thief, until: u64::MAX }.abi_encode(),
            1 => Purse::setAllowanceCall { token, aDay: number(&mut dice) }.abi_encode(),
            2 => Purse::freezeCall { frozen: dice.below(2) == 0 }.abi_encode(),
            3 => Purse::sweepCall { token }.abi_encode(),
            4 => {
                Purse::sellCall { id, units: number(&mut dice), least: number(&mut dice), deadline: number(&mut dice) }
                    .abi_encode()
            }
            5 => {
                // As one that is understood, with a bit turned round.
                let mut input =
                    Purse::buyCall { id, units: number(&mut dice), most: number(&mut dice), deadline: U256::MAX }
                        .abi_encode();
                let at = dice.below(input.len() as u64) as usize;
                input[at] ^= 1 << dice.below(8);
                input
            }
            6 => (0..dice.below(200)).map(|_| dice.roll() as u8).collect(),
            _ => Purse::buyCall { id, units: number(&mut dice), most: number(&mut dice), deadline: number(&mut dice) }
                .abi_encode(),
        };
        let from = if n % 4 == 0 { net.who.trader } else { thief };
        let called = json!([{ "from": from, "to": purse, "input": chain::Bytes::from(input.clone()), "gas": "0x989680" }, "latest"]);
        // Most are refused: only what is not is sent, and counted.
        if net.wire().ask("eth_call", called).is_err() {
            reverted += 1;
            continue;
        }
        fine += 1;
        let before = (balance(net, money, purse), balance(net, thing, purse), balance(net, money, owner));
        sends(net, from, input).unwrap();
        let after = (balance(net, money, purse), balance(net, thing, purse), balance(net, money, owner));
        // Either it was exchanged, or it went to its owner.
        assert!(
            after.0 == before.0 || after.1 > before.1 || after.2 > before.2 || after.1 < before.1,
            "{before:?} {after:?}"
        );
        assert_eq!(reads(net, purse, &Purse::ownerCall {}), owner);
        assert_eq!(reads(net, purse, &Purse::keyCall {}), thief);
        for token in [money, thing] {
            assert!(reads(net, token, &Token::allowanceCall { owner: purse, spender: net.router }).is_zero());
        }
    }
    println!("counted: {count} calls at random: {fine} fine, {reverted} refused");
    let gone = start - balance(net, money, purse).min(start);
    assert!(gone <= U256::from(4_000_000_000_u64) && balance(net, money, thief).is_zero(), "{gone}");
}

#[test]
fn the_owner_freezes_and_sweeps_alone() {
    let Some(ground) = Ground::new() else { return };
    let (net, thief) = (&ground.net, stolen(&ground));
    let buy = |n: u8| {
        let (units, most) = (U256::from(ETHER / 10), U256::from(300_000_000));
        Purse::buyCall { id: keccak256([n]), units, most, deadline: U256::MAX }.abi_encode()
    };
    sends(net, thief, buy(1)).unwrap();
    // The same by its name is never done again.
    assert!(sends(net, thief, buy(1)).is_err());
    sends(net, net.who.owner, Purse::freezeCall { frozen: true }.abi_encode()).unwrap();
    assert!(sends(net, thief, buy(2)).is_err());
    sends(net, net.who.owner, Purse::freezeCall { frozen: false }.abi_encode()).unwrap();
    sends(net, thief, buy(2)).unwrap();
    // Until a date.
    sends(net, net.who.owner, Purse::setKeyCall { key: thief, until: now(net) + 100 }.abi_encode()).unwrap();
    wait(net, 200);
    assert!(sends(net, thief, buy(3)).is_err());
    // What the key sends home goes to the owner, and what the owner sweeps too.
    sends(net, thief, Purse::sendHomeCall { token: net.place.thing }.abi_encode()).unwrap();
    assert_eq!(balance(net, net.place.thing, net.who.owner), U256::from(ETHER / 5));
    sends(net, net.who.owner, Purse::sweepCall { token: net.place.money }.abi_encode()).unwrap();
    assert!(balance(net, net.place.money, net.place.purse).is_zero());
    sends(net, thief, Purse::retireCall {}.abi_encode()).unwrap();
    assert_eq!(reads(net, net.place.purse, &Purse::keyCall {}), Address::ZERO);
    assert!(sends(net, thief, Purse::sendHomeCall { token: net.place.money }.abi_encode()).is_err());
}

/// A money that keeps a part of what is moved, and one that says it has moved what it has not.
#[test]
fn tokens_that_cheat_are_bounded() {
    let Some(ground) = Ground::new() else { return };
    let (net, thief) = (&ground.net, stolen(&ground));
    let (money, purse) = (net.place.money, net.place.purse);
    let behave = |kept: u64, lies: bool| {
        let call = Token::behaveCall { keptOfTenThousand: U256::from(kept), lies }.abi_encode();
        net.wire().send(net.who.maker, Some(money), U256::ZERO, call).unwrap();
    };
    let buy = |n: u8| {
        let (units, most) = (U256::from(ETHER / 10), U256::from(300_000_000));
        Purse::buyCall { id: keccak256([n]), units, most, deadline: U256::MAX }.abi_encode()
    };
    let sell = |n: u8, least: u64| {
        let units = U256::from(ETHER / 20);
        Purse::sellCall { id: keccak256([n]), units, least: U256::from(least), deadline: U256::MAX }.abi_encode()
    };
    sends(net, thief, buy(1)).unwrap();
    let before = balance(net, money, purse);
    behave(500, false);
    // The pool does not get what it is owed, so it does nothing.
    assert!(sends(net, thief, buy(2)).is_err());
    // What comes in is less than it should be: refused where that is below the least, and told as it is elsewhere.
    assert!(sends(net, thief, sell(3, 99_000_000)).is_err());
    assert_eq!(balance(net, money, purse), before);
    sends(net, thief, sell(4, 90_000_000)).unwrap();
    let got = balance(net, money, purse) - before;
    assert!(got >= U256::from(90_000_000) && got < U256::from(96_000_000), "{got}");
    behave(0, true);
    assert!(sends(net, thief, buy(5)).is_err());
    assert!(sends(net, thief, sell(6, 1)).is_err());
    assert_eq!(balance(net, money, purse), before + got);
}
