//! Whether the queue behaves like one, and what foresight is worth in it.

use golem::rule::Stance;
use golem::world::{Fate, Observation};

use super::*;
use crate::World;

fn queue(ledger: Ledger) -> Queue {
    Queue::new(QueueConfig::default(), ledger).unwrap()
}

fn day(queue: &mut Queue, n: u64) -> Vec<Bar> {
    let mut told = Observation::default();
    queue.observe(START + Span::DAY.times(n), START + Span::DAY.times(n + 1), &mut told).unwrap();
    told.bars
}

fn order(action: u8, servers: i64) -> Order {
    Order::open(action, servers * SERVER)
}

fn mean(bars: &[Bar], domain: usize) -> f64 {
    bars.iter().map(|bar| bar.values[domain]).sum::<f64>() / bars.len() as f64
}

#[test]
fn afternoons_are_busier_than_nights() {
    let mut queue = queue(Ledger::memory());
    let (mut nights, mut afternoons) = (0.0, 0.0);
    for n in 0..60 {
        let bars = day(&mut queue, n);
        nights += mean(&bars[180..360], 0);
        afternoons += mean(&bars[1_170..1_440], 0);
    }
    assert!(afternoons > 2.0 * nights, "{afternoons} {nights}");
}

#[test]
fn more_servers_shorten_the_wait_from_the_next_bar_on_and_for_the_arrivals_nothing_changes() {
    let (mut few, mut many) = (queue(Ledger::memory()), queue(Ledger::memory()));
    let before = day(&mut many, 0);
    assert_eq!(before, day(&mut few, 0));
    many.commit(1, &order(ADD, 10)).unwrap().outcome().unwrap();
    assert_eq!(many.model.bar(), *before.last().unwrap());
    let (without, with) = (day(&mut few, 1), day(&mut many, 1));
    assert_eq!(many.servers(), 21);
    assert_eq!(mean(&without, 0), mean(&with, 0));
    assert!(with.iter().zip(&without).all(|(with, without)| with.values[1] < without.values[1]));
    assert!(mean(&without, 1) > 1.5 * mean(&with, 1));
}

#[test]
fn a_reopened_queue_has_the_servers_it_had_when_it_had_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut first = queue(Ledger::file(&path).unwrap());
    let mut told = day(&mut first, 0);
    first.commit(9, &order(ADD, 7)).unwrap().outcome().unwrap();
    told.extend(day(&mut first, 1));
    first.commit(4, &order(REMOVE, 3)).unwrap().outcome().unwrap();
    told.extend(day(&mut first, 2));
    assert_eq!(first.servers(), 15);
    let newest = first.model.bar();
    drop(first);

    let mut again = queue(Ledger::file(&path).unwrap());
    again.seek(START + Span::DAY.times(3)).unwrap();
    assert_eq!((again.model.bar(), again.servers()), (newest, 15));
    let retold: Vec<Bar> = (0..3).flat_map(|n| day(&mut again, n)).collect();
    assert_eq!(retold, told);
}

#[test]
fn servers_come_whole_and_only_rented_ones_go() {
    let mut queue = queue(Ledger::memory());
    let half = Order { units: SERVER - 1, ..order(ADD, 1) };
    assert_eq!(queue.commit(1, &half).unwrap(), Fate::Never);
    assert_eq!(queue.commit(2, &order(REMOVE, 1)).unwrap(), Fate::Never);
    let two_and_a_half = Order { units: 2 * SERVER + SERVER / 2, ..order(ADD, 1) };
    assert_eq!(queue.commit(3, &two_and_a_half).unwrap().outcome().unwrap().units, 2 * SERVER);
    assert_eq!(queue.commit(4, &order(REMOVE, 3)).unwrap(), Fate::Never);
    assert_eq!(queue.commit(5, &order(REMOVE, 2)).unwrap().outcome().unwrap().units, -2 * SERVER);
    assert_eq!(queue.commit(6, &order(ADD, MOST_SERVERS - OWN_SERVERS + 1)).unwrap(), Fate::Never);
}

#[test]
fn the_service_copes_on_most_days_and_nobody_waits_for_ever() {
    let mut queue = queue(Ledger::memory());
    let bars: Vec<Bar> = (0..120).flat_map(|n| day(&mut queue, n)).collect();
    let late = bars.iter().filter(|bar| bar.values[1] > 120.0).count() as f64 / bars.len() as f64;
    assert!((0.01..0.30).contains(&late), "{late}");
    assert!(bars.iter().all(|bar| bar.values[1] < (PATIENCE_MINUTES + 2.0) * 60.0));
    assert!(bars.iter().all(|bar| bar.unit > Usdc::cents(150) && bar.unit < Usdc::cents(500)));
}

#[test]
fn what_is_seen_is_what_there_was() {
    let mut queue = queue(Ledger::memory());
    queue.commit(1, &order(ADD, 2)).unwrap().outcome().unwrap();
    let bars: Vec<Bar> = (0..20).flat_map(|n| day(&mut queue, n)).collect();
    let memory = 90;
    let (mut usual, mut strained) = (DEMAND[0], 0);
    for (n, bar) in bars.iter().enumerate() {
        let [arrivals, ratio, wait, waiting, busy, servers, hour] = bar.features[..] else { panic!("{bar:?}") };
        usual += (arrivals - usual) / (n + 2).min(memory) as f64;
        assert!((ratio - arrivals / usual).abs() < 1e-9);
        assert_eq!((arrivals, wait, servers), (bar.values[0], bar.values[1], 13.0));
        assert!((0.0..=1.0).contains(&busy) && (waiting == 0.0 || busy == 1.0), "{bar:?}");
        assert!((hour - ((n + 1) % 2_160) as f64 / 90.0).abs() < 1e-9, "{hour}");
        strained += usize::from(busy == 1.0);
    }
    assert!(strained > 100 && strained < bars.len() / 3, "{strained}");
}

#[test]
fn no_word_of_trading_is_needed_to_describe_it() {
    let text = format!("{:?}", queue(Ledger::memory()).manifest()).to_lowercase();
    let words = ["market", "trad", "price", "buy", "sell", "candle", "eth", "volatility", "liquid"];
    assert!(words.iter().all(|word| !text.contains(word)), "{text}");
}

#[test]
fn instincts_that_would_rent_or_hand_back_are_right_to_do_so_by_more_than_the_fees() {
    let mut queue = queue(Ledger::memory());
    let manifest = queue.manifest();
    assert_eq!(manifest.holding, 270);
    let bars: Vec<Bar> = (0..60).flat_map(|n| day(&mut queue, n)).collect();
    let round_trip = 2.0 * FEE_PER_CENT as f64 / 100.0;
    let mut stances = 0;
    for text in &manifest.instincts {
        let rule = golem::rule::text::parse(text, &manifest).unwrap();
        let pairs = bars.windows(manifest.holding as usize + 1).map(|held| (&held[0], &held[held.len() - 1]));
        let gains: Vec<f64> = pairs
            .filter(|(bar, _)| rule.condition.holds(&bar.features))
            .map(|(bar, later)| later.unit.as_f64() / bar.unit.as_f64() - 1.0)
            .collect();
        let gain = gains.iter().sum::<f64>() / gains.len() as f64;
        match rule.stance {
            Stance::Watch | Stance::Fragment(_) => continue,
            Stance::Add => assert!(gain > 3.0 * round_trip, "{text}: {gain}"),
            Stance::Reduce => assert!(gain < -round_trip, "{text}: {gain}"),
        }
        stances += 1;
    }
    assert_eq!(stances, 3);
}

#[test]
fn a_server_is_kept_for_three_hours_or_as_long_as_anything_may_be_held() {
    let holding =
        |bar| Queue::new(QueueConfig { bar, ..QueueConfig::default() }, Ledger::memory()).unwrap().manifest().holding;
    assert_eq!(
        [Span::millis(1), Span::seconds(60), Span::seconds(3_600), Span::DAY].map(holding),
        [limits::HORIZON, 180, 3, 1]
    );
}
