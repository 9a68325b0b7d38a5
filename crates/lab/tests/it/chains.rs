//! Lives that were recorded are lived again and come to the same records, byte for byte: eight seeds in four worlds, with
//! dreams and without, under the second laws. Whatever makes a life faster must leave every chain here as it is; `BARDO_WRITE_DOCS=1` records
//! them anew after a change that is meant to change lives.

use std::fmt::Write as _;
use std::path::Path;

use golem::Usdc;
use golem::constitution::{Constitution, DreamTier, ReplayOrder};
use golem::stress::Kind;
use sha2::{Digest, Sha256};
use world::{How, Ledger, Spec};

use crate::common::under;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;
const TICKS: u64 = 3_000;

/// A market, one with something to act on, work for servers, and a plant whose relations come again.
fn worlds() -> [(&'static str, Spec); 4] {
    let market = |relations_change_days, edge_bps| Spec::Sim {
        seed: 0,
        bar_ms: 40_000,
        relations_change_days,
        edge_bps,
        flip_days: None,
    };
    [
        ("market", market(0.1, None)),
        ("edge", market(0.0, Some(45))),
        ("queue", Spec::Queue { seed: 0, bar_ms: 40_000 }),
        ("plant", Spec::Shifting { seed: 0, bar_ms: 40_000, how: How::Recurring, change_days: 0.1 }),
    ]
}

/// Most dream as golems do by default; of the eight two have whole nights, and three are each replayed in another order.
fn constitution(seed: u64, dreams: bool) -> Constitution {
    let mut constitution = Constitution::default();
    // As it was by default when the chains were recorded.
    (constitution.dream.enabled, constitution.mind.phages) = (dreams, true);
    if seed.is_multiple_of(4) {
        constitution.dream.tier = DreamTier::Hardened;
    }
    constitution.dream.replay_order = match seed {
        5 => ReplayOrder::Recency,
        6 => ReplayOrder::Surprise,
        7 => ReplayOrder::Uniform,
        _ => ReplayOrder::Utility,
    };
    constitution
}

/// What one life came to.
struct Chain {
    records: u64,
    /// Of the last record and, through it, of all before.
    head: [u8; 32],
    nights: u64,
    /// Words to its siblings, each with entries that a round has chosen.
    told: u64,
}

/// A record as it was when the chains were recorded: then a birth listed the rates of its stressors, in the order of the
/// six kinds there were.
fn as_recorded(record: String) -> String {
    if !record.contains("\"Born\"") {
        return record;
    }
    let rates = Constitution::default().stress.rates;
    let listed: Vec<f64> = Kind::ALL.into_iter().take(6).filter_map(|kind| rates.of(kind)).collect();
    let [named, listed] = [serde_json::to_string(&rates).unwrap(), serde_json::to_string(&listed).unwrap()];
    assert_eq!(record.matches(&named).count(), 1, "a birth without rates");
    record.replace(&named, &listed)
}

fn lived(spec: &Spec, seed: u64, dreams: bool) -> Chain {
    let world = spec.clone().with_seed(seed).open(Ledger::memory()).unwrap();
    let mut life = under(2, "chains", seed, world, constitution(seed, dreams), Usdc::dollars(10)).among(1);
    let (mut records, mut head) = (0, [0_u8; 32]);
    while life.life().tick() < TICKS && !life.is_over() {
        life.tick(&mut |record, _| {
            records += 1;
            let body = as_recorded(serde_json::to_string(record).unwrap());
            head = Sha256::new().chain_update(head).chain_update(body).finalize().into();
        })
        .unwrap();
    }
    Chain { records, head, nights: life.life().dreams().nights, told: life.life().clade().told }
}

#[test]
fn lives_that_were_recorded_give_the_same_chains_again() {
    let (mut chains, mut told) = (String::new(), 0);
    for (name, world) in worlds() {
        for seed in SEEDS {
            for (way, dreams) in [("awake", false), ("dreaming", true)] {
                let chain = lived(&world, seed, dreams);
                assert_eq!(chain.nights > 0, dreams, "{name} {seed} {way} slept {} nights", chain.nights);
                told += chain.told;
                let head: String = chain.head.iter().map(|byte| format!("{byte:02x}")).collect();
                writeln!(chains, "{name} {seed} {way}: {} records, {head}", chain.records).unwrap();
            }
        }
    }
    assert!(told > 0, "not one of them has told its siblings anything");
    let path = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/it/chains.txt");
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &chains).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    let others: Vec<_> = recorded.lines().zip(chains.lines()).filter(|(then, now)| then != now).collect();
    assert!(others.is_empty(), "{} of {} lives are other lives now: {others:#?}", others.len(), chains.lines().count());
    assert_eq!(recorded.lines().count(), chains.lines().count(), "some lives were never recorded");
}
