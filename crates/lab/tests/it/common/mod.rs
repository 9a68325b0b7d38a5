//! Lives to be measured, and real hourly candles, which stand beside the checkout and not in it. Where they are absent a test
//! says that it is skipped, except under `.ci/run` (BARDO_REALDATA=1), where their absence is a failure.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};

use golem::constitution::{Clocks, Constitution};
use golem::time::Span;
use golem::{Birth, Endowment};
use golem::{Golem, Usdc, What, laws};
use lab::Plan;
use lab::lives::PLAN;
use lab::rehearsal::Rehearsal;
use settings::chance::{Secret, identity};
use world::{Spec, World};

/// As many lives as the book reports, and not only a share.
pub fn full() -> bool {
    std::env::var_os("BARDO_FULL").is_some()
}

/// Lives of which nobody dies of what is to be measured, and in which nobody dreams, noted every 200 ticks.
pub fn plan(world: Spec, lives: u64, seed: u64, most_ticks: u64, interval: Span) -> Plan {
    let clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    let mut constitution = Constitution { clocks, interval, ..Constitution::bare() };
    constitution.dream.enabled = false;
    Plan {
        version: PLAN,
        lives,
        seed,
        world,
        constitution,
        credit: Usdc::dollars(10),
        capital: Usdc::dollars(100),
        most_ticks,
        note_every: 200,
        disjoint: false,
        twin: 0,
        laws: None,
        generations: None,
        founder: None,
    }
}

/// One life in memory, born into a world and given money.
pub fn rehearsal(
    name: &str,
    seed: u64,
    world: Box<dyn World + Send>,
    constitution: Constitution,
    credit: Usdc,
) -> Rehearsal {
    under(laws::NEWEST, name, seed, world, constitution, credit)
}

/// The same under laws of its own.
pub fn under(
    laws: u16,
    name: &str,
    seed: u64,
    world: Box<dyn World + Send>,
    constitution: Constitution,
    credit: Usdc,
) -> Rehearsal {
    let secret = Secret::from_seed(seed, name);
    let birth = Birth {
        id: identity(Some(seed), name),
        name: name.parse().unwrap(),
        generation: 0,
        laws,
        secret_hash: secret.hash(),
        seeded: true,
        constitution,
        world: world.manifest(),
        endowment: Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let (golem, _) = Golem::born(birth, world.start());
    let mut life = Rehearsal::new(golem, world, secret);
    let money = What::Funded { transfer: 1, credit, capital: Usdc::dollars(100) };
    life.feed(money, &mut |_, _| {}).unwrap();
    life
}

/// The file of one asset, if it is there.
pub fn hourly(asset: &str) -> Option<PathBuf> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../../shared/data/hourly");
    let path = folder.join(format!("{asset}_usdt_1h.csv.gz"));
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("BARDO_REALDATA").is_none(), "{} is absent", path.display());
    eprintln!("skipped: {} is absent", path.display());
    None
}

/// All of these, or none.
pub fn hours_of(assets: &[&str]) -> Option<Vec<PathBuf>> {
    assets.iter().map(|asset| hourly(asset)).collect()
}

/// The whole count in a full run, a share of it otherwise.
pub fn lives(full: u64, share: u64) -> u64 {
    if std::env::var_os("BARDO_FULL").is_some() { full } else { share }
}

pub fn mix(seed: u64, salt: u64) -> u64 {
    let z = (seed ^ salt.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}
