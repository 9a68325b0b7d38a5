//! Homes to begin with, each with a few golems that differ in their world, their mind and how they end. They are made once
//! and copied for every run.

use std::fs;
use std::path::{Path, PathBuf};

use settings::{File, Settings};
use shell::life::Silent;
use shell::life::birth::{Wish, birth};
use shell::wall::Wall;
use shell::{Home, Runtime};
use world::Spec;

/// The owner's key: the same in every run, because what is left to heirs is signed with it.
const KEY: &str = "3051020101300506032b657004220420aa38be54df396431b25c3b0ad91107b0b2f1464d3c15ec5decd502f397b99ee7\
                   81210055c8319fac92df9019d75547ce4c105e2c3e885489da999f5e090491d4bd154b\n";
/// Number of homes.
const TOWNS: u64 = 6;

pub(super) struct Towns {
    folder: tempfile::TempDir,
}

impl Towns {
    pub(super) fn build() -> Towns {
        let folder = in_memory();
        std::thread::scope(|scope| {
            for town in 0..TOWNS {
                let root = folder.path().join(town.to_string());
                scope.spawn(move || settle(root, town));
            }
        });
        Towns { folder }
    }

    /// Copies a home to begin with.
    pub(super) fn copy(&self, number: u64, to: &Path) {
        super::disk::Files::below(&self.folder.path().join((number % TOWNS).to_string())).write(to);
    }
}

/// A folder in memory where there is one: nothing here is about how fast a disk is.
pub(super) fn in_memory() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn settle(root: PathBuf, town: u64) {
    let home = Home::simulated(root, &Wall::standing(0));
    let runtime = Runtime::of(&home);
    let settings = Settings::load(File::Bardo, None, std::iter::empty(), &["treasury.opening=10000".into()]).unwrap();
    home.init(&settings).unwrap();
    fs::write(home.root().join("owner.key"), KEY).unwrap();
    let market = |seed| Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 3.0, edge_bps: None, flip_days: None };
    let slow = |world, latency_ms, settle_bars| Spec::Slow { world: Box::new(world), latency_ms, settle_bars };
    let busy = ["mind.kind=reflex", "reflex.act_every=2", "policy.rebalances_per_day=100000"];
    let curious = ["mind.samples=2", "mind.sureness=0", "policy.rebalances_per_day=100000"];
    let asleep = ["dream.enabled=true", "dream.schedule.mode=autonomous", "dream.tier=core"];
    let costly = ["mortality.mode=hosted", "mortality.economic.machine_per_day=150"];
    // Golems with a past know something, and are about to sleep, to go through what they know, or to run out of money.
    let golems: [(&str, Spec, Vec<&str>, u64); 4] = [
        ("ada", market(10 + town), [&curious[..], &asleep].concat(), 380 + 7 * town),
        ("ben", slow(market(20 + town), 1, 2), busy.to_vec(), 40 + town),
        ("eve", Spec::Queue { seed: 30 + town, bar_ms: 40_000 }, [&curious[..], &asleep].concat(), 140 + town),
        ("kim", market(40 + town), [&busy[..], &costly].concat(), 90 + 5 * town),
    ];
    for (name, spec, set, past) in golems {
        let flags: Vec<String> = set.iter().map(|flag| (*flag).to_owned()).collect();
        let settings = Settings::load(File::Golem, None, std::iter::empty(), &flags).unwrap();
        let wish = Wish::of(name.parse().unwrap(), spec, Some(town), settings);
        let mut living = birth(&runtime, wish).unwrap();
        while living.life().tick() < past {
            living.turn(&mut Silent).unwrap();
            while runtime.async_worlds().errands_waiting() > 0 {
                runtime.async_worlds().run(0);
            }
        }
        assert!(!living.life().is_dead(), "{name} of town {town} has its death before it");
    }
}
