//! What breaks in one golem stays in that golem.

use std::sync::atomic::Ordering;
use std::time::Duration;

use golem::Time;
use golem::world::{Manifest, Observation, Outcome, Quote};
use world::{Order, World};

use super::board::State;
use super::notify::Telling;
use super::{Plan, Up};
use crate::Home;
use crate::config::{File, Settings};
use crate::keeper::{Wish, birth};

/// A world that breaks when it is looked at for the third time.
struct Cursed {
    inner: Box<dyn World + Send>,
    looks: u32,
}

impl World for Cursed {
    fn manifest(&self) -> Manifest {
        self.inner.manifest()
    }
    fn start(&self) -> Time {
        self.inner.start()
    }
    fn end(&self) -> Option<Time> {
        self.inner.end()
    }
    fn seek(&mut self, until: Time) -> Result<(), world::Error> {
        self.inner.seek(until)
    }
    fn observe(&mut self, since: Time, now: Time, seen: &mut Observation) -> Result<(), world::Error> {
        self.looks += 1;
        assert!(self.looks < 3, "the world has come apart");
        self.inner.observe(since, now, seen)
    }
    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, world::Error> {
        self.inner.preview(order)
    }
    fn commit(&mut self, key: u64, order: &Order) -> Result<Option<Outcome>, world::Error> {
        self.inner.commit(key, order)
    }
    fn reconcile(&mut self, key: u64) -> Result<Option<Outcome>, world::Error> {
        self.inner.reconcile(key)
    }
}

fn home(golems: u64) -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    let settings = Settings::load(File::Bardo, None, std::iter::empty(), &["treasury.opening=1000000".into()]).unwrap();
    home.init(&settings).unwrap();
    for seed in 0..golems {
        let settings = Settings::load(File::Golem, None, std::iter::empty(), &[]).unwrap();
        let spec =
            world::Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None };
        let name = format!("g{seed}").parse().unwrap();
        birth(&home, Wish { name, spec, seed: Some(seed), settings, parent: None, bundle: None }).unwrap();
    }
    (folder, home)
}

/// Lives for a while; how late turns were, at worst but for one in a hundred, and how many there were.
fn live(home: &Home, curse: bool) -> (Duration, u64, u64) {
    let telling = Telling { targets: Vec::new(), heartbeat: None, daily: None };
    let mut up = Up::come(home, Plan { speed: 40.0, telling, api: None, backups: None }, |_| {}).unwrap();
    if curse {
        let slot = up.names["g7"];
        up.slots[slot].living.as_mut().unwrap().replace_world(|inner| Box::new(Cursed { inner, looks: 0 }));
    }
    let (board, stopper) = (up.board(), up.stopper());
    let thread = std::thread::spawn(move || up.run(|_| {}));
    std::thread::sleep(Duration::from_secs(6));
    let falls = board.falls.load(Ordering::Relaxed);
    assert!(board.all().iter().all(|status| status.state == State::Living), "the one that fell is up again");
    stopper.stop();
    thread.join().unwrap().unwrap();
    (board.late.quantile(0.99), board.ticks.load(Ordering::Relaxed), falls)
}

#[test]
fn a_world_that_panics_harms_no_neighbour() {
    let (_folder, home) = home(200);
    let (calm, calm_ticks, none) = live(&home, false);
    let (late, ticks, falls) = live(&home, true);
    println!("late by {calm:?} at most without, {late:?} with a panic; {calm_ticks} and {ticks} turns");
    assert_eq!((none, falls), (0, 1));
    assert!(late < calm.max(Duration::from_millis(20)) * 5, "{calm:?} {late:?}");
    assert!(ticks * 100 > calm_ticks * 97, "{calm_ticks} {ticks}");
    for place in home.list().unwrap() {
        vault::Reader::open(&place.database()).unwrap().verify(&home.heads()).unwrap();
    }
}
