//! A journal in the format of the first release, kept for ever: every later version must fold it to this life.
//!
//! Made by `golem new ada --seed 1 --set mind.kind=reflex --set reflex.act_every=25 --set mortality.mode=hosted`, $2 more,
//! 1,000 ticks, $1 of its capital taken, and retired "to be kept".

use std::path::Path;

use golem::Usdc;
use golem::heartbeat::State;
use golem::mortality::death::Cause;
use golem::stress::Kind;
use vault::{Reader, codec};

#[test]
fn the_first_journal_still_folds_to_the_life_that_was_lived() {
    let fixture = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures/first-version.db");
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("life.db");
    std::fs::copy(fixture, &path).unwrap();
    let (golem, check) = Reader::open(&path).unwrap().verify(copy.path()).unwrap();
    let life = golem.life();
    // What was written down of its state is of an older layout of Life, so there is nothing to hold it against.
    assert_eq!((check.records, check.state_hashes), (1125, 0));
    assert_eq!((life.tick(), life.birth().generation, life.birth().laws), (1_000, 0, 2));
    assert_eq!(life.heartbeat().state, State::Dead);
    assert_eq!(life.death().unwrap().cause, Cause::OwnerKill { reason: "to be kept".into() });
    // Its birth lists the rates of its stressors, in an order that is kept for ever.
    let rates = Kind::ALL.map(|kind| life.constitution().stress.rates.of(kind));
    assert_eq!(rates[..6], [0.04, 0.025, 0.03, 0.06, 0.07, 0.035].map(Some));
    assert_eq!((life.purse().given, life.purse().spent), (Usdc::dollars(12), Usdc::micros(78_169)));
    assert_eq!(life.capital().withdrawn, Usdc::micros(99_236_473));
    assert_eq!(life.capital().fees, Usdc::micros(448_127));
    // To the last bit, with nothing but + − × ÷ and √.
    assert_eq!(life.vitality().epistemic.to_bits(), 0x3fe16527a765d60f);
    assert_eq!(life.vitality().composite.to_bits(), 0x3fe83c4c40f6d582);
}

/// A field once came into the constitution, which is part of Life, and `codec::LIFE` stayed what it was: lives from
/// before could not be woken, because their state hashes were held against a Life of another shape.
#[test]
fn whoever_changes_the_shape_of_life_says_so() {
    let fixture = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures/first-version.db");
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("life.db");
    std::fs::copy(fixture, &path).unwrap();
    let (golem, _) = Reader::open(&path).unwrap().wake().unwrap();
    let shape = blake3::hash(&codec::encode_life(golem.life())).to_hex();
    let known = (30, "bb63526ad1a37b19");
    assert_eq!((codec::LIFE, &shape[..16]), known, "Life has changed: raise codec::LIFE, then write both here");
}
