//! Once or never: a host that is killed anywhere between what is meant and what is settled, and a node that loses, repeats,
//! delays and takes back.

mod common;

use std::time::Duration;

use chain::venue::Venue;
use common::{Between, Dice, Ground, Way, bounded, full};
use golem::Usdc;
use golem::world::{Fate, Order, Outcome};
use serde_json::json;

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
    let between = Between::new(&ground.net.url);
    let wire = ground.net.wire();
    wire.ask("evm_setAutomine", json!([false])).unwrap();
    let mut dice = Dice(9_404);
    let orders = if full() { 2_500 } else { 10 };
    let (mut books, mut kills, mut taken_back) = (Books { money: Usdc::dollars(10_000), ..Books::default() }, 0, 0);
    let open = |between: &Between| -> Venue {
        // Whoever comes back finds the node in whichever state it is in.
        loop {
            let outbox = ground.folder.path().join("outbox");
            let chain = chain::rpc::Endpoints::new(vec![between.url.clone()]).unwrap();
            let opened =
                Venue::open(ground.net.place.clone(), chain, Box::new(common::key(&ground.net)), "ada", &outbox);
            if let Ok(venue) = opened {
                return venue;
            }
        }
    };
    let mut venue = open(&between);
    for key in 1..=orders {
        let buys = books.things == 0 || (dice.below(2) == 0 && books.things < 200_000);
        let units = 20_000;
        let order = bounded(units, 60, 20, ground.until(60 + dice.below(240)));
        let seed = dice.roll();
        let rolls = std::sync::Mutex::new(Dice(seed));
        between.meddle(move |_| match rolls.lock().unwrap().below(40) {
            0 => Way::Lost,
            1 => Way::Unheard,
            2 => Way::Twice,
            3 => Way::Late(Duration::from_millis(20)),
            _ => Way::Through,
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
                    let depth = 1 + dice.below(ground.net.place.depth);
                    wire.ask("anvil_reorg", json!([depth, []])).unwrap();
                    taken_back += 1;
                }
                3 => drop(wire.ask("anvil_dropAllTransactions", json!([])).unwrap()),
                4 | 5 => {}
                _ => ground.mine(1),
            }
        };
        books.settle(&order, buys, fate);
        between.meddle(|_| Way::Through);
        // The books, the purse and the chain say the same, to the unit.
        let head = venue.chain().head().unwrap();
        let deep = venue.chain().block(head.number - ground.net.place.depth).unwrap();
        assert_eq!(venue.held(&deep).unwrap(), (books.money, books.things), "after order {key}: {fate:?}");
        assert_eq!(venue.held(&head).unwrap(), (books.money, books.things), "after order {key}: {fate:?}");
        if dice.below(6) == 0 {
            wire.ask("evm_increaseTime", json!([7_200])).unwrap();
            ground.mine(1);
        }
    }
    let Books { done, never, in_vain, .. } = books;
    println!(
        "counted: {orders} orders, {kills} kills, {taken_back} times blocks were taken back: {done} done once, {never} never, {in_vain} in vain"
    );
    assert!(done > 0 && kills > 0);
}
