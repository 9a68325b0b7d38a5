//! Recall must not cost much more than the two searches it stands on. Held here as a ratio, which means something
//! even in an unoptimised build on a busy machine; `examples/recall.rs` gives the figures of a release build.

use crate::common::{Chance, Library, cost};
use rusqlite::Connection;

#[test]
fn asking_both_ways_at_once_costs_little_more_than_asking_each() {
    let mut chance = Chance(9);
    let library = Library::new(20_000, 384, &mut chance);
    let questions: Vec<_> = (0..40).map(|_| library.question(&mut chance)).collect();
    let mut db = Connection::open_in_memory().unwrap();
    cost::fill(&mut db, &library);
    cost::embed(&mut db, &library);
    let cost = cost::measure(&db, &library, &questions, 3);
    cost.print();
    assert!(cost.ratio() < 1.5, "{cost:?}");
}
