//! Once or never: a host that is killed anywhere between what is meant and what is settled, and a node that loses, repeats,
//! delays and takes back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Between, Dice, Ground, Way, bounded, full};
use chain::venue::{Venue, VenuePlace};
use golem::Usdc;
use golem::world::{Fate, Order, Outcome};
use serde_json::{Value, json};

/// What the journal of a golem would have come to.
#[derive(Default)]
struct Books {
    money: Usdc,
    things: i64,
    done: u64,
    never: u64,
    in_vain: u64,
}

impl Books {
    fn settle(&mut self, order: &Order, buys: bool, fate: Fate) {
        match fate {
            Fate::Done(Outcome { units: 0, gas, .. }) => {
                assert!(gas <= order.gas);
                self.in_vain += 1;
            }
            Fate::Done(outcome) => {
                let effect = if buys { golem::world::Effect::Adds } else { golem::world::Effect::Reduces };
                assert!(order.allows(effect, &outcome), "{order:?} {outcome:?}");
                self.money += outcome.cash - outcome.fee;
                self.things += outcome.units;
                self.done += 1;
            }
            Fate::Never => self.never += 1,
            Fate::Pending => panic!("it is not settled"),
        }
    }
}

#[test]
fn every_order_lands_once_or_never_whoever_is_killed() {
    let Some(ground) = Ground::new() else { return };
    lands_once_or_never(&ground, 9_404, if full() { 2_500 } else { 40 }, 20_000);
}

#[test]
fn liquidity_is_given_and_taken_once_or_never_too() {
    let Some(mut ground) = Ground::new() else { return };
    ground.net.share().unwrap();
    lands_once_or_never(&ground, 9_405, if full() { 500 } else { 20 }, 400_000);
}

/// So many orders, each for about forty dollars.
fn lands_once_or_never(ground: &Ground, seed: u64, orders: u64, units: i64) {
    let between = Between::new(&ground.net.url);
    let wire = ground.net.wire();
    wire.ask("evm_setAutomine", json!([false])).unwrap();
    let mut dice = Dice(seed);
    let (mut books, mut kills, mut taken_back) = (Books { money: Usdc::dollars(10_000), ..Books::default() }, 0, 0);
    let (mut deepest, mut out_of_order) = (0, 0);
    let place = VenuePlace { depth: 8, ..ground.net.place.clone() };
    // Everything that was sent, so that the node may take an older one first.
    let sent: Arc<Mutex<Vec<Value>>> = Arc::default();
    let open = |between: &Between| -> Venue {
        // Whoever comes back finds the node in whichever state it is in.
        loop {
            let outbox = ground.folder.path().join("outbox");
            let chain = chain::rpc::Endpoints::new(vec![between.url.clone()]).unwrap();
            let key = Box::new(crate::common::key(&ground.net));
            if let Ok(venue) = Venue::open(place.clone(), chain, key, "ada", &outbox) {
                return venue;
            }
        }
    };
    let mut venue = open(&between);
    for key in 1..=orders {
        let buys = books.things == 0 || (dice.below(2) == 0 && books.things < 10 * units);
        let order = bounded(units, 60, 20, ground.until(60 + dice.below(240)));
        let (rolls, keeps) = (Mutex::new(Dice(dice.roll())), Arc::clone(&sent));
        between.meddle(move |asked| {
            if asked["method"] == "eth_sendRawTransaction" {
                keeps.lock().unwrap().push(asked["params"].clone());
            }
            match rolls.lock().unwrap().below(40) {
                0 => Way::Lost,
                1 => Way::Unheard,
                2 => Way::Twice,
                3 => Way::Late(Duration::from_millis(20)),
                _ => Way::Through,
            }
        });
        let mut asked_once = false;
        let fate = loop {
            let came = if asked_once { venue.reconcile(key) } else { venue.commit(key, buys, &order) };
            // A golem commits until it is answered, and asks what became of it from then on; after a crash it only asks.
            asked_once |= came.is_ok();
            match came {
                Ok(Fate::Pending) | Err(_) => {}
                Ok(fate) => break fate,
            }
            match dice.below(10) {
                0 | 1 => {
                    venue = open(&between);
                    (asked_once, kills) = (true, kills + 1);
                }
                2 => {
                    // Blocks that were there are not any more.
                    let depth = 1 + dice.below(place.depth);
                    wire.ask("anvil_reorg", json!([depth, []])).unwrap();
                    (taken_back, deepest) = (taken_back + 1, depth.max(deepest));
                }
                3 => drop(wire.ask("anvil_dropAllTransactions", json!([])).unwrap()),
                4 => {
                    // What was sent before comes in after what was sent last.
                    wire.ask("anvil_dropAllTransactions", json!([])).unwrap();
                    let all = sent.lock().unwrap();
                    let recent = &all[all.len().saturating_sub(6)..];
                    for raw in recent.first().into_iter().chain(recent.last()) {
                        out_of_order += u64::from(wire.ask("eth_sendRawTransaction", raw.clone()).is_ok());
                    }
                }
                5 => {}
                _ => ground.mine(1 + dice.below(3)),
            }
        };
        books.settle(&order, buys, fate);
        between.meddle(|_| Way::Through);
        // The books, the purse and the chain say the same, to the unit.
        let head = venue.chain().head().unwrap();
        let deep = venue.chain().block(head.number - place.depth).unwrap();
        assert_eq!(venue.held(&deep).unwrap(), (books.money, books.things), "after order {key}: {fate:?}");
        assert_eq!(venue.held(&head).unwrap(), (books.money, books.things), "after order {key}: {fate:?}");
        if key % 100 == 0 {
            println!("{key} of {orders} orders, {kills} kills");
        }
        if dice.below(6) == 0 {
            wire.ask("evm_increaseTime", json!([7_200])).unwrap();
            ground.mine(1);
        }
    }
    let Books { done, never, in_vain, .. } = books;
    println!(
        "counted: {orders} orders, {kills} kills, {taken_back} times up to {deepest} blocks were taken back, {out_of_order} taken out of \
         order: {done} done once, {never} never, {in_vain} in vain"
    );
    assert!(done > 0 && kills > 2 * orders && out_of_order > 0);
}
