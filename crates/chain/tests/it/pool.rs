//! Bars from a real pool: what was told is never taken back, and whoever was away misses nothing.

use crate::common::{Between, Dice, ETHER, Ground, Way};
use chain::U256;
use chain::pool::{Bar, Watch};
use chain::rpc::Endpoints;
use serde_json::json;

#[test]
fn bars_are_the_exchanges_of_the_pool() {
    let Some(ground) = Ground::new() else { return };
    let chain = Endpoints::new(vec![ground.net.url.clone()]).unwrap();
    let place = &ground.net.place;
    let start = chain.head().unwrap().number;
    let mut watch = Watch::new(60, start);
    assert_eq!(watch.read(&chain, place).unwrap(), []);
    // Somebody buys for 20,000 dollars, and two minutes later sells ten ether.
    ground.net.trade(true, U256::from(20_000_000_000_u64)).unwrap();
    ground.mine(10);
    ground.net.trade(false, U256::from(10) * U256::from(ETHER)).unwrap();
    ground.mine(20);
    let bars = watch.read(&chain, place).unwrap();
    assert!(bars.len() >= 4, "{bars:?}");
    assert!(bars.windows(2).all(|two| two[1].opened == two[0].opened + 60 && two[1].open == two[0].close), "{bars:?}");
    // Of 1,000 ether in it ten and a bit left: up by two in a hundred, and back.
    let high = bars.iter().map(|bar| bar.high).fold(0.0, f64::max);
    assert!((2_035.0..2_042.0).contains(&high), "{high}");
    assert!((1_998.0..2_005.0).contains(&bars.last().unwrap().close), "{bars:?}");
    let volume: f64 = bars.iter().map(|bar| bar.volume).sum();
    assert!((19.7..20.0).contains(&volume), "{volume}");
    assert!(bars.iter().all(|bar| bar.gas > 0.0));
}

/// Read again and again through somebody who loses answers, with blocks taken back in between and long times away: together the
/// same bars as read at once in the end.
#[test]
fn nothing_told_is_taken_back_and_nothing_is_missed() {
    let Some(ground) = Ground::new() else { return };
    let between = Between::new(&ground.net.url);
    let (through, plain) =
        (Endpoints::new(vec![between.url.clone()]).unwrap(), Endpoints::new(vec![ground.net.url.clone()]).unwrap());
    let place = &ground.net.place;
    let start = plain.head().unwrap().number;
    let (mut watch, mut told, mut dice) = (Watch::new(60, start), Vec::<Bar>::new(), Dice(9_405));
    let mut failed = 0;
    for _ in 0..40 {
        for _ in 0..dice.below(4) {
            let amount = if dice.below(2) == 0 { 5_000_000_000 } else { ETHER };
            ground.net.trade(amount != ETHER, U256::from(amount)).unwrap();
        }
        ground.mine(1 + dice.below(8));
        if dice.below(4) == 0 {
            ground.net.wire().ask("anvil_reorg", json!([1 + dice.below(place.depth), []])).unwrap();
        }
        let seed = dice.roll();
        let rolls = std::sync::Mutex::new(Dice(seed));
        between.meddle(move |_| if rolls.lock().unwrap().below(12) == 0 { Way::Unheard } else { Way::Through });
        match watch.read(&through, place) {
            Ok(more) => told.extend(more),
            Err(_) => failed += 1,
        }
    }
    between.meddle(|_| Way::Through);
    told.extend(watch.read(&through, place).unwrap());
    let mut at_once = Watch::new(60, start);
    let all = at_once.read(&plain, place).unwrap();
    assert!(failed > 0 && all.len() > 20, "{failed} {}", all.len());
    assert_eq!(told, all);
}
