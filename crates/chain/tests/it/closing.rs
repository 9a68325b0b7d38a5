//! The end of a life on a chain: everything goes home, whatever gas costs and whoever is away, and nothing stays approved.

use crate::common::{Between, Ground, Way, bounded, key};
use alloy_sol_types::SolCall;
use chain::contracts::{Purse, Token};
use chain::rpc::Endpoints;
use chain::signer::Signer;
use chain::venue::Venue;
use chain::{Address, U256};
use golem::world::Fate;
use serde_json::json;

/// What somebody has of a token, approved to a spender if one is named.
fn has(ground: &Ground, token: Address, call: Vec<u8>) -> U256 {
    let chain = Endpoints::new(vec![ground.net.url.clone()]).unwrap();
    let head = chain.head().unwrap();
    U256::from_be_slice(&chain.call(token, &call, &head).unwrap())
}

fn balance(ground: &Ground, token: Address, owner: Address) -> U256 {
    has(ground, token, Token::balanceOfCall { owner }.abi_encode())
}

/// So much is bought, so that there is something to come home.
fn buys(ground: &Ground, venue: &mut Venue) {
    let order = bounded(500_000, 1_100, 0, ground.until(600));
    let mut fate = venue.commit(1, true, &order).unwrap();
    while fate == Fate::Pending {
        ground.mine(1);
        fate = venue.reconcile(1).unwrap();
    }
    assert!(matches!(fate, Fate::Done(_)), "{fate:?}");
}

fn all_is_home(ground: &Ground, was: (U256, U256)) {
    let net = &ground.net;
    let (purse, owner, own) = (net.place.purse, net.who.owner, key(net).address());
    for (token, before) in [(net.place.money, was.0), (net.place.thing, was.1)] {
        assert_eq!(balance(ground, token, purse), U256::ZERO, "something is left in the purse");
        assert_eq!(balance(ground, token, owner), before);
        let approved = Token::allowanceCall { owner: purse, spender: net.router }.abi_encode();
        assert_eq!(has(ground, token, approved), U256::ZERO, "something is left approved");
    }
    assert_eq!(has(ground, purse, Purse::keyCall {}.abi_encode()), U256::ZERO, "the key has not given itself up");
    let chain = Endpoints::new(vec![net.url.clone()]).unwrap();
    let left = chain.ether_of(own, &chain.head().unwrap()).unwrap();
    assert!(left < U256::from(10_u64.pow(16)), "{left} wei of gas are left");
}

#[test]
fn everything_goes_home_however_dear_gas_is_and_whoever_is_away() {
    let Some(ground) = Ground::new() else { return };
    let between = Between::new(&ground.net.url);
    let wire = ground.net.wire();
    let open = || ground.venue_through(vec![between.url.clone()]);
    let mut venue = open();
    buys(&ground, &mut venue);
    let purse = ground.net.place.purse;
    let was = (balance(&ground, ground.net.place.money, purse), balance(&ground, ground.net.place.thing, purse));
    assert!(was.0 > U256::ZERO && was.1 > U256::ZERO);
    wire.ask("evm_setAutomine", json!([false])).unwrap();

    // The node is away for an hour.
    between.meddle(|_| Way::Lost);
    assert!(venue.close().is_err());
    wire.ask("evm_increaseTime", json!([3_600])).unwrap();
    between.meddle(|_| Way::Through);

    // A hundred times as dear: it is paid, as far as what is there goes.
    let (mut said, mut rounds, mut kills) = (Vec::new(), 0, 0);
    while let Some(waits) = venue.close().unwrap() {
        if said.last() != Some(&waits) {
            said.push(waits);
        }
        rounds += 1;
        assert!(rounds < 200, "{said:?}");
        // It is killed at every step, and comes back to what the chain says.
        if rounds % 3 == 0 {
            venue = open();
            kills += 1;
        }
        if rounds % 7 == 0 {
            wire.ask("anvil_reorg", json!([1, []])).unwrap();
        }
        if rounds < 20 {
            wire.ask("anvil_setNextBlockBaseFeePerGas", json!(["0x174876e800"])).unwrap();
        }
        ground.mine(1);
    }
    all_is_home(&ground, was);
    println!("counted: home in {rounds} looks with {kills} kills: {said:?}");
    assert!(venue.close().unwrap().is_none(), "there is nothing left to do, however often it is asked");
}

/// Dearer than what is there can pay: it waits, says what would help, and goes on when gas is what it was.
#[test]
fn who_cannot_pay_its_way_home_waits_and_says_so() {
    let Some(ground) = Ground::new() else { return };
    let wire = ground.net.wire();
    let mut venue = ground.venue();
    let own = key(&ground.net).address();
    wire.ask("anvil_setBalance", json!([own, U256::from(10_u64.pow(15))])).unwrap();
    wire.ask("evm_setAutomine", json!([false])).unwrap();
    wire.ask("anvil_setNextBlockBaseFeePerGas", json!(["0x174876e800"])).unwrap();
    wire.ask("evm_mine", json!([])).unwrap();
    let waits = venue.close().unwrap().unwrap();
    assert!(waits.contains("cannot pay") && waits.contains(&own.to_string()), "{waits}");
    for _ in 0..60 {
        ground.mine(1);
        if venue.close().unwrap().is_none() {
            break;
        }
    }
    assert!(venue.close().unwrap().is_none());
    assert_eq!(balance(&ground, ground.net.place.money, ground.net.place.purse), U256::ZERO);
}
