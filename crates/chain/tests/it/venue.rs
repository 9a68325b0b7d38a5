//! A real node, the venue's real contracts, a real purse.

use crate::common::{Ground, bounded, buys_for};
use chain::U256;
use chain::devnet::key_of;
use chain::rpc::Endpoints;
use chain::signer::{Key, List};
use chain::venue::Venue;
use golem::world::{Fate, Order, Outcome};
use golem::{Time, Usdc};
use serde_json::json;

#[test]
fn what_is_bought_and_sold_is_what_the_chain_says() {
    let Some(ground) = Ground::new() else { return };
    let mut venue = ground.venue();
    let half = 500_000;
    let quote = venue.preview(true, half).unwrap().expect("the pool has it");
    // Half an ether at 2,000, with the pool's fee and a little for having moved it.
    assert!((-1_000_900_000..=-1_000_000_000).contains(&quote.cash.as_micros()), "{quote:?}");
    assert!((3_000_000..3_100_000).contains(&quote.fee.as_micros()), "{quote:?}");
    assert!(quote.gas > Usdc::ZERO && quote.gas < Usdc::dollars(5), "{quote:?}");

    let order = bounded(half, 1_010, 0, ground.until(600));
    assert_eq!(venue.commit(1, true, &order).unwrap(), Fate::Pending);
    ground.mine(1);
    // It is in a block, and not deep enough to count.
    assert_eq!(venue.reconcile(1).unwrap(), Fate::Pending);
    ground.mine(3);
    let Fate::Done(bought) = venue.reconcile(1).unwrap() else { panic!("it is not done") };
    assert_eq!((bought.units, bought.cash, bought.fee), (half, quote.cash, quote.fee));
    assert!(bought.gas > Usdc::ZERO && bought.gas <= order.gas, "{bought:?}");
    let head = venue.chain().head().unwrap();
    assert_eq!(venue.held(&head).unwrap(), (Usdc::dollars(10_000) + bought.cash - bought.fee, half));

    // The same key again is the same answer, and nothing more is sent.
    assert_eq!(venue.commit(1, true, &order).unwrap(), Fate::Done(bought));
    let order = Order { action: 1, ..bounded(half, 0, 990, ground.until(600)) };
    assert_eq!(venue.commit(2, false, &order).unwrap(), Fate::Pending);
    ground.mine(4);
    let Fate::Done(sold) = venue.reconcile(2).unwrap() else { panic!("it is not done") };
    assert!(sold.units == -half && sold.cash - sold.fee >= Usdc::dollars(990), "{sold:?}");
    let head = venue.chain().head().unwrap();
    let all = Usdc::dollars(10_000) + bought.cash - bought.fee + sold.cash - sold.fee;
    assert_eq!(venue.held(&head).unwrap(), (all, 0));
    // Whoever comes back, even without its record, hears the same.
    drop(venue);
    assert_eq!(ground.venue().reconcile(1).unwrap(), Fate::Done(bought));
    std::fs::remove_file(ground.folder.path().join("outbox")).unwrap();
    let Fate::Done(again) = ground.venue().reconcile(2).unwrap() else { panic!("it was done") };
    assert_eq!(Outcome { gas: sold.gas, ..again }, sold);
}

#[test]
fn what_cannot_be_had_within_its_bounds_is_never_done() {
    let Some(ground) = Ground::new() else { return };
    let mut venue = ground.venue();
    // More than the pool holds.
    assert_eq!(venue.preview(true, 2_000_000_000).unwrap(), None);
    assert_eq!(venue.commit(1, true, &bounded(2_000_000_000, 1_000_000, 0, ground.until(600))).unwrap(), Fate::Never);
    // Dearer than it may be, cheaper than it must be, without gas, too late.
    assert_eq!(venue.commit(2, true, &bounded(500_000, 900, 0, ground.until(600))).unwrap(), Fate::Never);
    assert_eq!(venue.commit(3, false, &bounded(500_000, 0, 1_100, ground.until(600))).unwrap(), Fate::Never);
    let poor = Order { gas: Usdc::micros(1), ..bounded(500_000, 1_010, 0, ground.until(600)) };
    assert_eq!(venue.commit(4, true, &poor).unwrap(), Fate::Never);
    ground.mine(1);
    assert_eq!(venue.commit(5, true, &bounded(500_000, 1_010, 0, Time::seconds(1))).unwrap(), Fate::Never);
    // Nobody has heard of it, and nobody will.
    assert_eq!(venue.reconcile(6).unwrap(), Fate::Never);
    assert_eq!(venue.commit(6, true, &bounded(500_000, 1_010, 0, ground.until(600))).unwrap(), Fate::Never);
    let head = venue.chain().head().unwrap();
    assert_eq!(venue.held(&head).unwrap(), (Usdc::dollars(10_000), 0));
}

/// The price moves after it was sent: the purse does not pay more, and what it cost to try is told.
#[test]
fn a_price_that_moves_on_the_way_is_bounded() {
    let Some(ground) = Ground::new() else { return };
    let mut venue = ground.venue();
    ground.net.wire().ask("evm_setAutomine", json!([false])).unwrap();
    let order = bounded(500_000, 1_006, 0, ground.until(600));
    assert_eq!(venue.commit(1, true, &order).unwrap(), Fate::Pending);
    // Somebody pays more for gas and is before it.
    let front = json!([{ "from": ground.net.who.trader, "to": ground.net.router, "gas": "0x7a120",
        "maxFeePerGas": "0x174876e800", "maxPriorityFeePerGas": "0x174876e800",
        "input": buys_for(&ground.net, 200_000_000_000) }]);
    ground.net.wire().ask("eth_sendTransaction", front).unwrap();
    ground.mine(4);
    let Fate::Done(tried) = venue.reconcile(1).unwrap() else { panic!("it is settled") };
    assert_eq!((tried.units, tried.cash, tried.fee), (0, Usdc::ZERO, Usdc::ZERO));
    assert!(tried.gas > Usdc::ZERO && tried.gas <= order.gas);
    let head = venue.chain().head().unwrap();
    assert_eq!(venue.held(&head).unwrap(), (Usdc::dollars(10_000), 0));
}

/// A disk is lost, with the key on it. Whoever comes back as the same golem has another key, and still finds what it did; and
/// nothing that may yet land is ruled out.
#[test]
fn who_comes_back_with_another_key_finds_what_it_did() {
    let Some(ground) = Ground::new() else { return };
    let mut before = ground.venue();
    let order = bounded(20_000, 60, 20, ground.until(600));
    let mut done = before.commit(1, true, &order).unwrap();
    while done == Fate::Pending {
        ground.mine(1);
        done = before.reconcile(1).unwrap();
    }
    assert!(matches!(done, Fate::Done(_)), "{done:?}");
    let again = |whose: &str, file: &str| {
        let list =
            List { chain: 31_337, purse: ground.net.place.purse, owner: ground.net.who.owner, gas: U256::from(1) };
        let key = Key::new(key_of("another disk").as_slice(), list).unwrap();
        let chain = Endpoints::new(vec![ground.net.url.clone()]).unwrap();
        Venue::open(ground.net.place.clone(), chain, Box::new(key), whose, &ground.folder.path().join(file)).unwrap()
    };
    let mut after = again("ada", "second");
    // What its gas came to in dollars is reckoned at what an ether is worth by now.
    let found = after.reconcile(1).unwrap().outcome().unwrap();
    assert_eq!(Fate::Done(Outcome { gas: done.outcome().unwrap().gas, ..found }), done);
    // The old key still has the purse: something of it may be on its way for as long as any order is good.
    assert_eq!(after.reconcile(2).unwrap(), Fate::Pending);
    ground.net.wire().ask("evm_increaseTime", json!([3_700])).unwrap();
    ground.mine(4);
    assert_eq!(after.reconcile(2).unwrap(), Fate::Never);
    // Another golem's orders are other orders, whatever number and whichever key they have.
    ground.net.wire().ask("evm_increaseTime", json!([3_700])).unwrap();
    ground.mine(4);
    let mut heir = again("eve", "third");
    ground.net.wire().ask("evm_increaseTime", json!([3_700])).unwrap();
    ground.mine(4);
    assert_eq!(heir.reconcile(1).unwrap(), Fate::Never);
}

/// A copy that is older than what was done begins nothing more, however often it is opened and whatever numbers it has used up.
#[test]
fn an_older_copy_finds_out_and_does_not_forget() {
    let Some(ground) = Ground::new() else { return };
    let mut venue = ground.venue();
    assert_eq!(venue.astray(0).unwrap(), None);
    let before = ground.net.wire().ask("evm_snapshot", json!([])).unwrap();
    let mut done = venue.commit(2, true, &bounded(20_000, 60, 20, ground.until(600))).unwrap();
    while done == Fate::Pending {
        ground.mine(1);
        done = venue.reconcile(2).unwrap();
    }
    assert!(matches!(done, Fate::Done(_)), "{done:?}");
    assert_eq!(venue.astray(2).unwrap(), None, "who knows of it goes on");
    drop(venue);
    let outbox = ground.folder.path().join("outbox");
    let known = std::fs::read(&outbox).unwrap();
    let told = Some("order 2 was carried out after this copy of it was made".to_owned());
    // With its record and without.
    for record in [Some(&known), None] {
        record.map_or_else(|| std::fs::remove_file(&outbox), |known| std::fs::write(&outbox, known)).unwrap();
        for last in [1, 2, 500] {
            assert_eq!(ground.venue().astray(last).unwrap(), told, "{last}");
        }
    }
    // Another chain, with everything in the same place.
    std::fs::write(&outbox, known).unwrap();
    ground.net.wire().ask("evm_revert", json!([before])).unwrap();
    ground.mine(4);
    assert!(ground.venue().astray(2).unwrap().is_some_and(|why| why.contains("not the chain")));
}

/// Who never did anything has nothing in a purse that is another's, and comes to its end; who may have had something waits.
#[test]
fn a_purse_that_was_always_anothers_is_left_alone() {
    let Some(ground) = Ground::new() else { return };
    let list = || List { chain: 31_337, purse: ground.net.place.purse, owner: ground.net.who.owner, gas: U256::MAX };
    let open = |whose: &str| {
        let key = Key::new(key_of("a stranger").as_slice(), list()).unwrap();
        let chain = Endpoints::new(vec![ground.net.url.clone()]).unwrap();
        let file = ground.folder.path().join(whose);
        Venue::open(ground.net.place.clone(), chain, Box::new(key), whose, &file).unwrap()
    };
    // It has some gas, which goes home.
    let gas = U256::from(10_u64).pow(U256::from(18));
    let (owner, own) = (ground.net.who.owner, open("eve").address());
    ground.net.wire().send(owner, Some(own), gas, Vec::new()).unwrap();
    ground.mine(4);
    let ends = |whose: &str, last: u64| {
        (0..20).any(|_| {
            let mut venue = open(whose);
            venue.leave_to_others(last).unwrap();
            ground.mine(1);
            venue.close().unwrap().is_none()
        })
    };
    assert!(!ends("eve", 500), "nobody can be sure of so many numbers");
    assert!(ends("eve", 3));
    let head = open("eve").chain().head().unwrap();
    assert!(open("eve").chain().ether_of(own, &head).unwrap() < gas / U256::from(100));
    assert!(ground.venue().held(&head).unwrap().0 > Usdc::ZERO, "what is another's stays");
    // The same golem as the one that has acted, from a lost disk.
    let mut ada = ground.venue();
    let mut done = ada.commit(2, true, &bounded(20_000, 60, 20, ground.until(600))).unwrap();
    while done == Fate::Pending {
        ground.mine(1);
        done = ada.reconcile(2).unwrap();
    }
    assert!(!ends("ada", 1));
}
