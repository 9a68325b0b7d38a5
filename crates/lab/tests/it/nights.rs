//! Nights and their leavings, over whole lives: warnings that have held elsewhere, nothing where nothing was found, and the
//! same dreams whether a memory was heard or read.

use std::collections::BTreeMap;

use golem::constitution::{Constitution, DreamTier};
use golem::dream::{self, Memory, Moment, SleepStage};
use golem::episode;
use golem::event::{Event, Record};
use golem::grimoire::{Decision, Entry, Grimoire, How, Kind};
use golem::inheritance::{Way, may_leave};
use golem::thanatopsis::{Outside, Review, SECTIONS, write};
use golem::{Command, CommandId, Life, Usdc, What, grimoire};
use lab::rehearsal::Rehearsal;
use world::{Ledger, Spec};

use crate::common::{full, under};

fn lived(seed: u64, laws: u16) -> Rehearsal {
    let spec = Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 1.0, edge_bps: Some(100), flip_days: None };
    let mut constitution = Constitution::default();
    if seed.is_multiple_of(4) {
        constitution.dream.tier = DreamTier::Hardened;
    }
    under(laws, "nights", seed, spec.open(Ledger::memory()).unwrap(), constitution, Usdc::dollars(10))
}

fn is_dreamt(entry: &Entry) -> bool {
    entry.kind == Kind::Warning && entry.provenance.sources.iter().any(|source| source.how == How::Dreamt)
}

/// Leavings of the nights of a life, as it is lived.
#[derive(Default)]
struct Left {
    nights: u64,
    warned: u64,
    drills: usize,
    /// Ends of episodes, by number.
    changes: BTreeMap<u64, f32>,
    /// The newest night found a warning that has held so many times.
    held: Option<u32>,
    warnings: u64,
    /// The newest of them, by number.
    newest: u64,
}

impl Left {
    fn hear(&mut self, record: &Record, life: &Life, omens: u32) {
        let ended = record.events.iter().filter(|e| matches!(e, Event::Episode(episode::Event::LookedBack { .. })));
        let mut number = life.episodes().made + 1 - (life.episodes().pending.len() + ended.count()) as u64;
        // Remembered in the same record, it has begun since.
        for event in &record.events {
            match event {
                Event::Episode(episode::Event::LookedBack { change, .. }) => {
                    self.changes.insert(number, *change);
                    number += 1;
                }
                Event::Dream(dream::Event::Dreamt(found)) if found.phase == SleepStage::Rem => {
                    self.nights += 1;
                    self.drills += found.imagined.drills.len();
                    let imagined = &found.imagined;
                    self.held = imagined.rehearsed.as_ref().map(|_| imagined.omen.0);
                    self.warned += u64::from(imagined.rehearsed.is_some());
                    assert!(imagined.held.iter().all(|held| self.changes[held] < 0.0), "no fall came: {imagined:?}");
                    assert!(imagined.rehearsed.is_none() || imagined.omen.0 >= omens, "{imagined:?}");
                }
                Event::Grimoire(grimoire::Event::Kept(decision)) => {
                    if let Decision::Put(entry) = &**decision
                        && is_dreamt(entry)
                        && entry.id > self.newest
                    {
                        assert!(self.held.take().is_some(), "a night that found nothing left {entry:?}");
                        assert!(entry.evidence_for >= f64::from(omens), "{entry:?}");
                        (self.newest, self.warnings) = (entry.id, self.warnings + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Lines that say the same but for their figures count as one.
fn untested(life: &Rehearsal) -> Vec<String> {
    let outside = Outside { secret: String::new(), records: 0, journal: String::new() };
    let testament = write(life.life(), life.grimoire(), &Review::default(), outside).unwrap();
    let at = SECTIONS.iter().position(|title| *title == "what I left untested").unwrap();
    let figure =
        |word: &&str| word.trim_matches(|c: char| !c.is_alphanumeric()).starts_with(|c: char| c.is_ascii_digit());
    let plain = |line: &String| line.split(' ').filter(|word| !figure(word)).collect::<Vec<_>>().join(" ");
    testament.sections[at].lines.iter().map(plain).collect()
}

/// Of 32 places on a shelf 23 once were the same computed crash, without one case.
#[test]
fn each_warning_on_the_shelf_has_held_twice_and_a_night_that_found_nothing_left_nothing() {
    let ticks = if full() { 20_000 } else { 4_000 };
    let (mut all, mut shelf, mut lines) = (Left::default(), 0, 0);
    let mut nothing = 0;
    for seed in 1..=32 {
        let (mut life, mut left) = (lived(seed, golem::laws::NEWEST), Left::default());
        while life.life().tick() < ticks && !life.life().is_dead() {
            life.tick(&mut |record, life| left.hear(record, life, 2)).unwrap();
        }
        let halt = What::Commanded { id: CommandId([9; 8]), command: Command::Halt { trigger: "over".into() } };
        life.feed(halt, &mut |_, _| {}).unwrap();
        let dreamt: Vec<&Entry> = life.grimoire().in_use().filter(|entry| is_dreamt(entry)).collect();
        assert!(left.warned > 0 || dreamt.is_empty(), "nights that found nothing left {dreamt:?}");
        for warning in dreamt.into_iter().filter(|entry| may_leave(entry, life.life(), Way::Deposit)) {
            assert!(left.warnings > 0, "seed {seed}: {warning:?}");
            shelf += 1;
        }
        let said = untested(&life);
        let once: std::collections::BTreeSet<&String> = said.iter().collect();
        assert_eq!(once.len(), said.len(), "seed {seed}: {said:#?}");
        lines += said.len();
        nothing += left.nights - left.warned;
        (all.nights, all.warned, all.warnings) =
            (all.nights + left.nights, all.warned + left.warned, all.warnings + left.warnings);
        all.drills += left.drills;
    }
    println!(
        "counted: what 32 lives' nights left: {} nights, {nothing} without a warning and none left by them; {} warned, {} warnings kept, {shelf} on the shelf; {} answers of a policy; {lines} lines untested",
        all.nights, all.warned, all.warnings, all.drills
    );
    assert!(all.nights > 1_000 && nothing > 0 && all.drills >= 32);
}

/// How soon there are episodes enough for a night depends on how often the world surprises.
#[test]
fn the_first_night_comes_some_hours_after_the_first_look() {
    let hours = |seed: u64| {
        let mut life = lived(seed, golem::laws::NEWEST);
        while life.life().dreams().nights == 0 && life.life().tick() < 4_000 {
            life.tick(&mut |_, _| {}).unwrap();
        }
        life.life().age().as_millis() as f64 / 3_600_000.0
    };
    // Every fourth dreams whole nights, when there is enough to dream about.
    let mut all: Vec<f64> = (1..=20).filter(|seed| seed % 4 > 0).map(hours).collect();
    all.sort_by(f64::total_cmp);
    println!("counted: first light nights of {} lives after {all:.1?} hours", all.len());
    assert!((3.0..7.0).contains(&all[all.len() / 2]) && all[0] > 1.0 && all[all.len() - 1] < 24.0, "{all:?}");
}

/// A memory read from the journal begins in the middle; what came before its first episode is known to none of them.
#[test]
fn a_memory_that_was_read_dreams_what_one_that_was_heard_does() {
    let (mut life, mut heard) = (lived(5, golem::laws::NEWEST), None::<Memory>);
    let mut told: Vec<(Record, Option<Moment>)> = Vec::new();
    let (mut made, mut nights) = (0, 0);
    while life.life().tick() < 12_000 && !life.life().is_dead() {
        let mut asleep = |record: &Record, life: &Life| {
            let heard = heard.get_or_insert_with(|| Memory::of(life));
            heard.hear(record, life);
            let new = life.episodes().made > std::mem::replace(&mut made, life.episodes().made);
            told.push((record.clone(), new.then(|| Moment::of(life))));
            let rem = |night: &dream::Night| night.phase == SleepStage::Rem && !night.worked;
            if life.tick() < 11_000 || !life.dreams().night.as_ref().is_some_and(rem) {
                return;
            }
            let room = Memory::room(life) + life.episodes().pending.len();
            let numbers = told.iter().rev().filter(|(_, moment)| moment.is_some()).take(room).count();
            let from = told.iter().rposition(|(_, moment)| {
                moment.is_some_and(|moment| moment.number + numbers as u64 == life.episodes().made + 1)
            });
            let mut read = Memory::partial(life);
            told[from.unwrap()..].iter().for_each(|(record, moment)| read.read(record, life, || *moment));
            let known = Grimoire::default();
            assert_eq!(dream::work(&read, &known, life), dream::work(heard, &known, life));
            nights += 1;
        };
        life.tick(&mut asleep).unwrap();
    }
    assert!(nights > 10 && life.life().episodes().made > 500, "{nights}");
}
