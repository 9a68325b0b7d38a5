//! The life of a tent's golem, by its records, and once more in memory.

use std::ops::ControlFlow;

use golem::event::Event;
use golem::{Golem, Life, Record, What, mortality, owner};
use lab::rehearsal::Rehearsal;
use settings::chance::Secret;
use shell::Runtime;
use shell::life::worlds;
use vault::codec::Hash;
use vault::{LogLine, Reader};
use world::Ledger;

use super::Tent;

/// From its birth record and its secret, and the first money that it was given.
fn rehearsal(tent: &Tent, name: &str) -> (Rehearsal, What) {
    let place = tent.golem(name);
    let (mut birth, mut funds) = (None, None);
    Reader::open(&place.database())
        .unwrap()
        .replay(|record| {
            for event in &record.events {
                match event {
                    Event::Born(born) => birth = Some(((**born).clone(), record.at)),
                    Event::Owner(owner::Event::Funded { transfer, credit, capital }) => {
                        funds.get_or_insert(What::Funded { transfer: *transfer, credit: *credit, capital: *capital });
                    }
                    _ => {}
                }
            }
            let enough = birth.is_some() && funds.is_some();
            Ok::<_, vault::Error>(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
    let (birth, at) = birth.unwrap();
    let spec = worlds::read(&birth.world.spec).unwrap();
    let world = worlds::open(&Runtime::of(&tent.home()), &spec, Ledger::memory()).unwrap();
    let (golem, _) = Golem::born(birth, at);
    (Rehearsal::new(golem, world, Secret::load(&place.secret()).unwrap()), funds.unwrap())
}

/// Lived that long in memory, with whatever stands around it there: the hash of every record, and what became of it.
pub(crate) fn rehearse(tent: &Tent, ticks: u64, with: impl FnOnce(Rehearsal) -> Rehearsal) -> (Vec<Hash>, Rehearsal) {
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    let (life, funds) = rehearsal(tent, "ada");
    let (mut life, mut hashes) = (with(life), vec![reader.hash_at(1).unwrap().unwrap()]);
    let id = life.life().id();
    let mut hear = |record: &Record, life: &Life| {
        let tip = *hashes.last().unwrap();
        hashes.push(LogLine::of(id, &tip, record, life).hash);
    };
    life.feed(funds, &mut hear).unwrap();
    while !life.is_over() && life.life().tick() < ticks {
        life.tick(&mut hear).unwrap();
    }
    (hashes, life)
}

/// The hash of every record, and the ticks they tell of.
pub(crate) fn records(tent: &Tent) -> (Vec<Hash>, u64) {
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    let (mut last, mut ticks) = (0, 0);
    reader
        .replay(|record| {
            last = record.seq;
            ticks += record
                .events
                .iter()
                .filter(|event| matches!(event, Event::Mortality(mortality::Event::Aged { .. })))
                .count() as u64;
            Ok::<_, vault::Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    ((1..=last).map(|seq| reader.hash_at(seq).unwrap().unwrap()).collect(), ticks)
}

pub(crate) fn must_be_the_same(whole: &[Hash], other: &[Hash], how: &str) {
    let both = whole.len().min(other.len());
    let differs = (0..both).find(|at| whole[*at] != other[*at]);
    assert_eq!(differs.map(|at| at + 1), None, "{how}: the first record that differs");
}
