//! Speed, as ratios in one run: a noisy machine cannot be trusted with bare times.
//!
//! `just bench` prints a table; `--ticks N` makes the long parts shorter.

use std::fs;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use golem::Birth;
use golem::constitution::{Clocks, Constitution, MindKind};
use golem::world::Observation;
use golem::{Golem, GolemId, Record, Usdc, What, laws};
use lab::rehearsal::Rehearsal;
use rusqlite::{Connection, params};
use settings::chance::Secret;
use vault::{Place, Reader, Vault};
use world::{Ledger, Spec, World};

const SPEC: Spec = Spec::Sim { seed: 1, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None };

fn main() {
    let mut args = std::env::args().skip_while(|arg| arg != "--ticks").skip(1);
    let ticks = args.next().and_then(|n| n.parse().ok()).unwrap_or(200_000);
    println!(
        "{ticks} ticks; {} build\n",
        if cfg!(debug_assertions) { "DEBUG: figures mean nothing" } else { "release" }
    );
    in_memory(ticks, MindKind::Reflex);
    in_memory(ticks, MindKind::Rules);
    transactions();
    journal(ticks);
}

/// A golem that outlives any benchmark.
fn newborn(mind: MindKind) -> (Golem, Record, Box<dyn World + Send>, Secret) {
    let world = SPEC.open(Ledger::memory()).expect("the sim opens");
    let secret = Secret::from_seed(1, "bench");
    let clocks = Clocks { economic: false, epistemic: false, stochastic: true };
    let mut constitution = Constitution { clocks, ..Constitution::bare() };
    constitution.mind.kind = mind;
    constitution.policy.max_drawdown_bps = 0;
    constitution.stochastic.base_hazard = 1e-15;
    constitution.stochastic.aging_hazard = 1e-18;
    let birth = Birth {
        id: GolemId([1; 16]),
        name: "bench".parse().expect("a plain name"),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: secret.hash(),
        seeded: true,
        constitution,
        world: world.manifest(),
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let (golem, record) = Golem::born(birth, world.start());
    (golem, record, world, secret)
}

fn funded(mind: MindKind) -> Rehearsal {
    let (golem, _, world, secret) = newborn(mind);
    let mut life = Rehearsal::new(golem, world, secret);
    let money = What::Funded { transfer: 1, credit: Usdc::dollars(100), capital: Usdc::dollars(100) };
    life.feed(money, &mut |_, _| {}).expect("money is taken");
    life
}

/// Best of five: the noise of a shared machine only ever adds.
fn best(mut work: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| work()).fold(0.0, f64::max)
}

fn in_memory(ticks: u64, mind: MindKind) {
    let whole = best(|| {
        let mut life = funded(mind);
        let began = Instant::now();
        for _ in 0..ticks {
            life.tick(&mut |record, _| {
                black_box(record);
            })
            .expect("the sim goes on");
        }
        ticks as f64 / began.elapsed().as_secs_f64()
    });
    let world_alone = best(|| {
        let mut world = SPEC.open(Ledger::memory()).expect("the sim opens");
        let (mut now, mut seen) = (world.start(), Observation::default());
        let began = Instant::now();
        for _ in 0..ticks {
            let next = now + golem::time::REFERENCE_TICK;
            seen.bars.clear();
            world.observe(now, next, &mut seen).expect("the sim goes on");
            black_box(&seen);
            now = next;
        }
        ticks as f64 / began.elapsed().as_secs_f64()
    });
    let rolls_alone = best(|| {
        let (secret, id) = (Secret::from_seed(1, "bench"), GolemId([1; 16]));
        let began = Instant::now();
        for tick in 0..ticks {
            black_box(secret.roll(id, tick));
        }
        ticks as f64 / began.elapsed().as_secs_f64()
    });
    println!(
        "a. in memory, one core: step + apply + sim + roll, mind of {}",
        if mind == MindKind::Reflex { "reflex" } else { "rules" }
    );
    println!("   whole tick   {:>6.2} million/s", whole / 1e6);
    println!(
        "   sim alone    {:>6.2} million/s   {:.2} of a whole tick's time",
        world_alone / 1e6,
        whole / world_alone
    );
    println!(
        "   roll alone   {:>6.2} million/s   {:.2} of a whole tick's time\n",
        rolls_alone / 1e6,
        whole / rolls_alone
    );
}

/// The same bytes, with the same settings, through the vault and through nothing but SQLite, in turns.
fn transactions() {
    const EACH: usize = 2_000;
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (golem, born, world, secret) = newborn(MindKind::Rules);
    let place = Place { folder: folder.path().to_owned(), heads: folder.path().join("heads") };
    let mut vault = Vault::create(&place, &born, golem.life(), u64::MAX).expect("a vault opens");
    let mut bare = bare_table(&folder.path().join("bare.db"));
    let mut life = Rehearsal::new(golem, world, secret);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    while ours.len() < EACH {
        life.tick(&mut |record, now| {
            let seq = record.seq as i64;
            let body = vault::codec::encode(record, None);
            let mut through_vault = || {
                let began = Instant::now();
                vault.stage(record, now);
                vault.commit(now).expect("the disk has room");
                ours.push(began.elapsed().as_secs_f64());
            };
            let mut through_nothing = || {
                let began = Instant::now();
                let tx = bare.transaction().expect("a transaction begins");
                tx.prepare_cached("INSERT INTO t(seq, body, hash) VALUES(?1, ?2, ?3)")
                    .and_then(|mut insert| insert.execute(params![seq, body, [7_u8; 32]]))
                    .expect("a row is inserted");
                tx.commit().expect("the disk has room");
                theirs.push(began.elapsed().as_secs_f64());
            };
            if seq % 2 == 0 {
                through_vault();
                through_nothing();
            } else {
                through_nothing();
                through_vault();
            }
        })
        .expect("the sim goes on");
    }
    ours.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    let ratio =
        |share: f64| ours[(ours.len() as f64 * share) as usize] / theirs[(theirs.len() as f64 * share) as usize];
    let (median, slow) = (ratio(0.5), ratio(0.9));
    println!("b. durable transaction, one tick each, against bare SQLite of the same bytes and settings, in turns");
    println!("   median {median:.3} ×, 90th percentile {slow:.3} × ({EACH} of each)\n");
}

fn bare_table(path: &Path) -> Connection {
    let db = Connection::open(path).expect("a database opens");
    db.pragma_update(None, "journal_mode", "WAL").expect("a setting");
    db.pragma_update(None, "synchronous", "FULL").expect("a setting");
    db.execute_batch("CREATE TABLE t(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT")
        .expect("a table");
    db
}

fn journal(ticks: u64) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (golem, born, world, secret) = newborn(MindKind::Rules);
    let place = Place { folder: folder.path().to_owned(), heads: folder.path().join("heads") };
    let mut vault = Vault::create(&place, &born, golem.life(), 5_000).expect("a vault opens");
    let mut life = Rehearsal::new(golem, world, secret);
    let money = What::Funded { transfer: 1, credit: Usdc::dollars(100), capital: Usdc::dollars(100) };
    life.feed(money, &mut |record, now| vault.stage(record, now)).expect("money is taken");
    let began = Instant::now();
    let mut transactions = 0;
    for tick in 1..=ticks {
        life.tick(&mut |record, now| vault.stage(record, now)).expect("the sim goes on");
        if tick % 256 == 0 || tick == ticks {
            vault.commit(life.life()).expect("the disk has room");
            transactions += 1;
        }
    }
    let lived = began.elapsed().as_secs_f64();
    drop(vault);
    let bytes = fs::metadata(place.database()).expect("the file is there").len();
    println!("c. full fold of {ticks} ticks, chain verified, from the first record");
    let fold = best(|| {
        let began = Instant::now();
        let mut golem: Option<Golem> = None;
        Reader::open(&place.database())
            .and_then(|reader| {
                reader.replay(|record| {
                    match &mut golem {
                        Some(golem) => golem.fold(&record).expect("the record folds"),
                        None => golem = Golem::reborn(&record).ok(),
                    }
                    Ok(ControlFlow::Continue(()))
                })
            })
            .expect("the journal is whole");
        assert_eq!(golem.as_ref().map(Golem::life), Some(life.life()), "the fold is the life");
        1.0 / began.elapsed().as_secs_f64()
    });
    println!("   {:.3} s, {:.2} million ticks/s", 1.0 / fold, ticks as f64 * fold / 1e6);
    println!("   living and writing it took {:.2} ×\n", lived * fold);
    println!(
        "d. file: {:.0} bytes a tick; {:.4} transactions a tick",
        bytes as f64 / ticks as f64,
        f64::from(transactions) / ticks as f64
    );
}
