//! The purse on its own chain, against somebody who has the golem's key and everything else.

use crate::common::{Dice, ETHER, Ground, full, key, parts};
use alloy_sol_types::SolCall;
use chain::contracts::{Purse, Token};
use chain::devnet::{Devnet, ours};
use chain::signer::Signer;
use chain::{Address, B256, U256, keccak256};
use serde_json::{Value, json};

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
    let rounds = if full() { 2_000 } else { 120 };
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

/// What somebody who has the key, or nobody's, may say to a purse: half of it could be meant.
fn said_at_random(dice: &mut Dice, net: &Devnet, who: Address) -> Vec<u8> {
    let token = [net.place.money, net.place.thing, net.place.purse, who][dice.below(4) as usize];
    let wild = |dice: &mut Dice| match dice.below(4) {
        0 => U256::MAX >> dice.below(256) as usize,
        1 => U256::ZERO,
        _ => U256::from(dice.roll() >> dice.below(64)),
    };
    let amount = |dice: &mut Dice, usual: u64| match dice.below(6) {
        0 => wild(dice),
        _ => U256::from(dice.below(usual) + 1),
    };
    let id = if dice.below(4) == 0 { keccak256([dice.below(50) as u8]) } else { B256::from(U256::from(dice.roll())) };
    let deadline = if dice.below(4) == 0 { wild(dice) } else { U256::MAX };
    let (things, dollars) = (amount(dice, ETHER / 20), amount(dice, 200_000_000));
    let liquidity: u128 = amount(dice, 20_000_000_000_000).saturating_to();
    let mut input = match dice.below(18) {
        0 => Purse::setKeyCall { key: who, until: u64::MAX }.abi_encode(),
        1 => Purse::setAllowanceCall { token, aDay: wild(dice) }.abi_encode(),
        2 => Purse::freezeCall { frozen: dice.below(2) == 0 }.abi_encode(),
        3 => Purse::sweepCall { token }.abi_encode(),
        4 => Purse::setRangeCall { lower: Default::default(), upper: Default::default() }.abi_encode(),
        5 => Purse::uniswapV3MintCallbackCall { owed0: things, owed1: dollars, data: Default::default() }.abi_encode(),
        6 => (0..dice.below(200)).map(|_| dice.roll() as u8).collect(),
        7 if dice.below(20) == 0 => Purse::retireCall {}.abi_encode(),
        7 if dice.below(20) == 0 => Purse::bringInCall {}.abi_encode(),
        7 if dice.below(20) == 0 => Purse::sendHomeCall { token }.abi_encode(),
        7..=10 => Purse::buyCall { id, units: things, most: dollars, deadline }.abi_encode(),
        11..=13 => Purse::sellCall { id, units: things, least: dollars >> 4, deadline }.abi_encode(),
        14 | 15 => {
            Purse::provideCall { id, amount: liquidity, units: things >> 1, most: dollars, deadline }.abi_encode()
        }
        _ => Purse::withdrawCall { id, amount: liquidity, least: dollars >> 6, deadline }.abi_encode(),
    };
    if dice.below(8) == 0 && !input.is_empty() {
        let at = dice.below(input.len() as u64) as usize;
        input[at] ^= 1 << dice.below(8);
    }
    input
}

/// A purse and those around it, at one moment.
#[derive(Debug)]
struct Scene {
    time: u64,
    key: Address,
    /// What the purse and its owner have, of the money and of the thing.
    ours: [U256; 2],
    home: [U256; 2],
    /// What no key may change: its owner, whether it is frozen, its range, what may leave in a day, what is approved, and what
    /// those have who have nothing to do with it.
    fixed: Vec<U256>,
    in_pool: U256,
}

fn scene(net: &Devnet, client: &reqwest::blocking::Client, others: [Address; 2]) -> Scene {
    let (purse, tokens) = (net.place.purse, [net.place.money, net.place.thing]);
    let held = |owner, token| (token, Token::balanceOfCall { owner }.abi_encode());
    let mut asked = vec![(purse, Purse::keyCall {}.abi_encode())];
    asked.extend([purse, net.who.owner].into_iter().flat_map(|whose| tokens.map(|token| held(whose, token))));
    asked.push(held(net.place.pool, net.place.thing));
    asked.extend([
        (purse, Purse::ownerCall {}.abi_encode()),
        (purse, Purse::frozenCall {}.abi_encode()),
        (purse, Purse::lowerCall {}.abi_encode()),
        (purse, Purse::upperCall {}.abi_encode()),
    ]);
    for token in tokens {
        asked.push((purse, Purse::allowancesCall { token }.abi_encode()));
        asked.push((token, Token::allowanceCall { owner: purse, spender: net.router }.abi_encode()));
        asked.extend(others.map(|whose| held(whose, token)));
    }
    let one = |(nth, (to, call)): (usize, &(Address, Vec<u8>))| {
        let params = json!([{ "to": to, "input": chain::Bytes::from(call.clone()) }, "latest"]);
        json!({ "jsonrpc": "2.0", "id": nth, "method": "eth_call", "params": params })
    };
    // All of it in one request, or a million calls would take a day.
    let mut body: Vec<Value> = asked.iter().enumerate().map(one).collect();
    let latest = json!(["latest", false]);
    body.push(json!({ "jsonrpc": "2.0", "id": 99, "method": "eth_getBlockByNumber", "params": latest }));
    let mut told: Vec<Value> = client.post(&net.url).json(&body).send().unwrap().json().unwrap();
    told.sort_by_key(|told| told["id"].as_u64());
    let time = told.last().and_then(|told| told["result"]["timestamp"].as_str()).unwrap_or_else(|| panic!("{told:?}"));
    let time = u64::from_str_radix(&time[2..], 16).unwrap();
    let word = |told: &Value| {
        let result: chain::Bytes = serde_json::from_value(told["result"].clone()).unwrap_or_else(|_| panic!("{told}"));
        U256::from_be_slice(&result[..32])
    };
    let words: Vec<U256> = told[..asked.len()].iter().map(word).collect();
    Scene {
        time,
        key: Address::from_word(words[0].into()),
        ours: [words[1], words[2]],
        home: [words[3], words[4]],
        in_pool: words[5],
        fixed: words[6..].to_vec(),
    }
}

/// Calls at random by somebody with the key and by strangers, in a market that moves: in no 24 hours does more leave than may,
/// nothing of it goes to anybody, and nothing that its owner has said is changed.
#[test]
fn calls_at_random_move_nothing_out() {
    // A node reckons with everything it has at every block: many short chains take a tenth of the time of a long one.
    let (chains, calls) = if full() { (100, 10_000) } else { (2, 1_000) };
    let of_a_half = |half: u64| {
        let seeds = (0..chains).filter(move |nth| nth % 2 == half).map(|nth| 9_409_000 + nth);
        let came: Option<Vec<(u64, u64)>> = seeds.map(|seed| called_at_random(seed, calls)).collect();
        came.map(|came| came.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
    };
    let both = std::thread::scope(|scope| {
        let both = [0, 1].map(|half| scope.spawn(move || of_a_half(half)));
        both.map(|one| one.join().expect("nothing moves out"))
    });
    let [Some(one), Some(other)] = both else { return };
    let (fine, refused) = (one.0 + other.0, one.1 + other.1);
    println!("counted: {} calls at random: {fine} fine, {refused} refused", chains * calls);
    assert!(fine > chains * calls / 100 && refused > chains * calls / 4);
}

/// How many were fine, and how many were refused.
fn called_at_random(seed: u64, count: u64) -> Option<(u64, u64)> {
    let mut ground = Ground::new()?;
    ground.net.share().unwrap();
    let (net, thief, stranger) = (&ground.net, stolen(&ground), Address::repeat_byte(0x77));
    let (purse, owner) = (net.place.purse, net.who.owner);
    net.wire().ask("anvil_impersonateAccount", json!([stranger])).unwrap();
    net.wire().ask("anvil_setBalance", json!([stranger, U256::from(ETHER) * U256::from(1_000_000)])).unwrap();
    let client = reqwest::blocking::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let look = || scene(net, &client, [thief, stranger]);
    sends(net, owner, Purse::setKeyCall { key: thief, until: u64::MAX }.abi_encode()).unwrap();
    let mut dice = Dice(seed);
    let (mut fine, mut refused) = (0_u64, 0_u64);
    let mut left: Vec<(u64, [U256; 2])> = Vec::new();
    let mut before = look();
    for n in 0..count {
        let from = if dice.below(8) == 0 { stranger } else { thief };
        let input = said_at_random(&mut dice, net, from);
        let called = json!([{ "from": from, "to": purse, "input": chain::Bytes::from(input.clone()), "gas": "0x989680" }, "latest"]);
        // Most are refused: only what is not is sent.
        if net.wire().ask("eth_call", called).is_err() {
            refused += 1;
        } else {
            fine += u64::from(sends(net, from, input).is_ok());
            let after = look();
            assert_eq!(after.fixed, before.fixed);
            assert!((0..2).all(|at| after.home[at] >= before.home[at]), "its owner has paid for it");
            let went_home = |at: usize| after.home[at] - before.home[at];
            let gone = [0, 1].map(|at| before.ours[at].saturating_sub(after.ours[at]).saturating_sub(went_home(at)));
            left.retain(|(at, _)| *at + DAY > after.time);
            left.push((after.time, gone));
            for (at, most) in [U256::from(4_000_000_000_u64), U256::from(4) * U256::from(ETHER)].into_iter().enumerate()
            {
                let in_a_day: U256 = left.iter().map(|(_, gone)| gone[at]).sum();
                assert!(in_a_day <= most, "{in_a_day} of {at} in a day");
            }
            before = after;
        }
        if n % 32 == 0 {
            // Its owner gives it more, and the key again; others move the price; time goes by.
            let mint = Token::mintCall { to: purse, value: U256::from(20_000_000) }.abi_encode();
            net.wire().send(net.who.maker, Some(net.place.money), U256::ZERO, mint).unwrap();
            if before.key != thief {
                sends(net, owner, Purse::setKeyCall { key: thief, until: u64::MAX }.abi_encode()).unwrap();
            }
            let buys = before.in_pool > U256::from(ETHER) * U256::from(1_000);
            let pays = if buys { U256::from(30_000_000_000_u64) } else { U256::from(ETHER) * U256::from(15) };
            net.trade(buys, pays).unwrap();
            wait(net, dice.below(4 * 3_600));
            before = look();
        }
    }
    Some((fine, refused))
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
