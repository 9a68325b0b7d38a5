//! Liquidity as what a golem trades: given and taken back as the chain says, within its bounds, and home in the end.

use crate::common::{ETHER, Ground, bounded};
use alloy_sol_types::SolCall;
use chain::U256;
use chain::contracts::{Purse, Token};
use chain::pool::Watch;
use chain::venue::Venue;
use golem::Usdc;
use golem::world::{Fate, Outcome};
use serde_json::json;

const SHARE: i64 = 1_000_000;

fn ground() -> Option<Ground> {
    let mut ground = Ground::new()?;
    ground.net.share().unwrap();
    Some(ground)
}

fn settled(ground: &Ground, venue: &mut Venue, key: u64, mut fate: Fate) -> Fate {
    while fate == Fate::Pending {
        ground.mine(1);
        fate = venue.reconcile(key).unwrap();
    }
    fate
}

fn gives(ground: &Ground, venue: &mut Venue, key: u64, shares: i64) -> Outcome {
    let fate = venue.commit(key, true, &bounded(shares * SHARE, shares * 120, 0, ground.until(600))).unwrap();
    let Fate::Done(outcome) = settled(ground, venue, key, fate) else { panic!("it is not done") };
    outcome
}

#[test]
fn what_is_given_and_taken_back_is_what_the_chain_says() {
    let Some(ground) = ground() else { return };
    let mut venue = ground.venue();
    let quote = venue.preview(true, 10 * SHARE).unwrap().expect("the pool takes it");
    // Ten shares of a hundred dollars; about half of it was exchanged first.
    assert!((-1_004_000_000..=-1_000_500_000).contains(&quote.cash.as_micros()), "{quote:?}");
    assert!(quote.gas > Usdc::ZERO && quote.gas < Usdc::dollars(10), "{quote:?}");
    let given = gives(&ground, &mut venue, 1, 10);
    assert_eq!((given.units, given.cash), (10 * SHARE, quote.cash));
    let head = venue.chain().head().unwrap();
    let left = Usdc::dollars(10_000) + given.cash;
    assert_eq!(venue.held(&head).unwrap(), (left, 10 * SHARE));
    // Nothing of the thing stays behind: what the pool did not want was sold again.
    let owner = ground.net.place.purse;
    let thing = chain::rpc::Endpoints::new(vec![ground.net.url.clone()]).unwrap();
    let call = Token::balanceOfCall { owner }.abi_encode();
    assert!(U256::from_be_slice(&thing.call(ground.net.place.thing, &call, &head).unwrap()).is_zero());

    // Whoever trades there pays those whose liquidity it is.
    let before = venue.preview(false, 5 * SHARE).unwrap().expect("it is there");
    for _ in 0..20 {
        ground.net.trade(true, U256::from(40_000_000_000_u64)).unwrap();
        ground.net.trade(false, U256::from(19) * U256::from(ETHER)).unwrap();
    }
    let after = venue.preview(false, 5 * SHARE).unwrap().expect("it is there");
    assert!(after.cash > before.cash + Usdc::micros(200_000), "{before:?} {after:?}");
    let order = bounded(5 * SHARE, 0, 480, ground.until(600));
    let fate = venue.commit(2, false, &order).unwrap();
    let Fate::Done(taken) = settled(&ground, &mut venue, 2, fate) else { panic!("it is not done") };
    assert_eq!((taken.units, taken.cash), (-5 * SHARE, after.cash));
    println!(
        "counted: ten shares for {} dollars; half of them taken back for {} before and {} after $1.6 million were traded; \
         gas {} and {}",
        given.cash, before.cash, taken.cash, given.gas, taken.gas
    );
    let head = venue.chain().head().unwrap();
    assert_eq!(venue.held(&head).unwrap(), (left + taken.cash, 5 * SHARE));
}

#[test]
fn what_cannot_be_had_within_its_bounds_is_never_given() {
    let Some(ground) = ground() else { return };
    let mut venue = ground.venue();
    // More than may leave in a day, more than is there to take back, dearer than it may be.
    assert_eq!(venue.preview(true, 30 * SHARE).unwrap(), None);
    assert_eq!(venue.preview(false, SHARE).unwrap(), None);
    assert_eq!(venue.commit(1, true, &bounded(SHARE, 99, 0, ground.until(600))).unwrap(), Fate::Never);
    gives(&ground, &mut venue, 2, 2);
    assert_eq!(venue.commit(3, false, &bounded(SHARE, 0, 101, ground.until(600))).unwrap(), Fate::Never);
    // The price goes far between what was said and what is done: refused by the purse, and what it cost to try is told.
    ground.net.wire().ask("evm_setAutomine", json!([false])).unwrap();
    assert_eq!(venue.commit(4, true, &bounded(SHARE, 103, 0, ground.until(600))).unwrap(), Fate::Pending);
    let front = json!([{ "from": ground.net.who.trader, "to": ground.net.router, "gas": "0x7a120",
        "maxFeePerGas": "0x174876e800", "maxPriorityFeePerGas": "0x174876e800",
        "input": crate::common::buys_for(&ground.net, 400_000_000_000) }]);
    ground.net.wire().ask("eth_sendTransaction", front).unwrap();
    ground.mine(4);
    let Fate::Done(tried) = venue.reconcile(4).unwrap() else { panic!("it is settled") };
    assert!(tried.units == 0 && tried.cash == Usdc::ZERO && tried.gas > Usdc::ZERO, "{tried:?}");
    ground.net.wire().ask("evm_setAutomine", json!([true])).unwrap();
    // An owner who lets none be given lets none be given, and has what was there back.
    let none = Purse::setRangeCall { lower: Default::default(), upper: Default::default() }.abi_encode();
    ground.net.wire().send(ground.net.who.owner, Some(ground.net.place.purse), U256::ZERO, none).unwrap();
    assert_eq!(venue.preview(true, SHARE).unwrap(), None);
    let head = venue.chain().head().unwrap();
    let (money, shares) = venue.held(&head).unwrap();
    assert!(shares == 0 && money > Usdc::dollars(9_800), "{money}");
}

/// It dies with liquidity in the pool that it could not give up in time.
#[test]
fn liquidity_comes_home_at_the_end() {
    let Some(ground) = ground() else { return };
    let mut venue = ground.venue();
    gives(&ground, &mut venue, 1, 10);
    let mut said = Vec::new();
    for round in 0..60 {
        let Some(waits) = venue.close().unwrap() else { break };
        said.push(waits);
        ground.mine(1);
        if round % 2 == 0 {
            venue = ground.venue();
        }
    }
    assert!(venue.close().unwrap().is_none(), "{said:?}");
    assert!(said[0].contains("in the pool"), "{said:?}");
    let head = venue.chain().head().unwrap();
    assert_eq!(venue.held(&head).unwrap(), (Usdc::ZERO, 0));
    let owner = ground.net.who.owner;
    let has = |token| {
        let told = venue.chain().call(token, &Token::balanceOfCall { owner }.abi_encode(), &head).unwrap();
        U256::from_be_slice(&told)
    };
    assert!(has(ground.net.place.money) > U256::from(9_400_000_000_u64), "about half of it was money");
    assert!(has(ground.net.place.thing) > U256::from(ETHER / 5), "and half of it the thing");
}

/// What is shown of it is what it would come to, but for what the pool takes on the way.
#[test]
fn bars_of_shares_are_what_a_share_comes_to() {
    let Some(ground) = ground() else { return };
    let mut venue = ground.venue();
    let mut watch = Watch::new(12, ground.net.place.since);
    gives(&ground, &mut venue, 1, 10);
    for (buys, amount) in [(true, 150_000_000_000_u64), (false, 10 * ETHER), (true, 90_000_000_000)] {
        ground.net.trade(buys, U256::from(amount)).unwrap();
        ground.mine(4);
        let bars = watch.read(venue.chain(), &ground.net.place).unwrap();
        let shown = bars.last().expect("it is over").told(&ground.net.place).close;
        let comes_to = venue.preview(false, 10 * SHARE).unwrap().expect("it is there").cash.as_micros() as f64 / 10e6;
        println!("counted: a share is shown at {shown:.3} dollars and comes to {comes_to:.3}");
        assert!((shown / comes_to - 1.0).abs() < 0.004, "{shown} {comes_to}");
    }
}

/// Prices go where all of it is the thing, and where none of it is.
#[test]
fn liquidity_is_given_and_taken_wherever_the_price_is() {
    let Some(ground) = ground() else { return };
    let mut venue = ground.venue();
    let far = [(false, U256::from(180) * U256::from(ETHER)), (true, U256::from(900_000_000_000_u64))];
    for (nth, (buys, amount)) in (0..).zip(far) {
        ground.net.trade(buys, amount).unwrap();
        let given = gives(&ground, &mut venue, 2 * nth + 1, 3);
        let order = bounded(3 * SHARE, 0, 200, ground.until(600));
        let fate = venue.commit(2 * nth + 2, false, &order).unwrap();
        let Fate::Done(taken) = settled(&ground, &mut venue, 2 * nth + 2, fate) else { panic!("it is not done") };
        println!("counted: three shares beyond their prices for {} and back for {}", given.cash, taken.cash);
        assert!(taken.cash + given.cash > Usdc::dollars(-4), "{given:?} {taken:?}");
    }
}

/// A range that is not the one that was written down, and somebody who sends it a little of something whenever it is about to go.
#[test]
fn nobody_gives_where_it_was_not_meant_or_keeps_it_from_going() {
    let Some(ground) = ground() else { return };
    let mut venue = ground.venue();
    venue.check_range().unwrap();
    gives(&ground, &mut venue, 1, 1);
    let (wire, purse, money) = (ground.net.wire(), ground.net.place.purse, ground.net.place.money);
    let other = Purse::setRangeCall { lower: "-60".parse().unwrap(), upper: "60".parse().unwrap() }.abi_encode();
    wire.send(ground.net.who.owner, Some(purse), U256::ZERO, other).unwrap();
    let said = venue.check_range().unwrap_err().to_string();
    assert!(said.contains("from -60 to 60") && said.contains("setRange"), "{said}");
    for _ in 0..40 {
        let Some(_) = venue.close().unwrap() else { break };
        let dust = Token::transferCall { to: purse, value: U256::from(1) }.abi_encode();
        wire.send(ground.net.who.trader, Some(money), U256::ZERO, dust).unwrap();
        ground.mine(1);
    }
    assert!(venue.close().unwrap().is_none(), "it goes all the same");
    let head = venue.chain().head().unwrap();
    assert!(venue.held(&head).unwrap().0 < Usdc::micros(100));
}
