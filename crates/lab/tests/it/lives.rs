//! Whole lives in memory, many of them: folding the record gives the same life to the byte, from the start
//! and from any snapshot, on any machine; and the odds of surviving are the documents'.

use std::collections::{BTreeMap, BTreeSet};

use golem::constitution::{Clocks, Constitution, Measure, MindKind, Mode};
use golem::owner::Account;
use golem::world::Observation;
use golem::{Birth, Command, CommandId, Golem, Input, Life, Record, Span, Time, Usdc, What, laws};
use lab::rehearsal::Rehearsal;
use settings::chance::{Secret, identity};
use vault::codec;
use world::{Ledger, Spec};

use crate::common::{lives, mix};

fn birth(seed: u64, constitution: Constitution, spec: &Spec) -> (Birth, Secret) {
    let secret = Secret::from_seed(seed, "life");
    let birth = Birth {
        id: identity(Some(seed), "life"),
        name: "life".parse().unwrap(),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: secret.hash(),
        seeded: true,
        constitution,
        world: spec.open(Ledger::memory()).unwrap().manifest(),
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    (birth, secret)
}

fn newborn(seed: u64, spec: &Spec, constitution: Constitution) -> (Rehearsal, Record) {
    let world = spec.open(Ledger::memory()).unwrap();
    let (birth, secret) = birth(seed, constitution, spec);
    let (golem, record) = Golem::born(birth, world.start());
    (Rehearsal::new(golem, world, secret), record)
}

/// Two months of hourly candles with a hole in them, made once.
fn candles() -> std::path::PathBuf {
    static MADE: std::sync::OnceLock<(tempfile::TempDir, std::path::PathBuf)> = std::sync::OnceLock::new();
    let (_, path) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("waves.csv");
        let hours = (0..1_500_u64).filter(|hour| !(400..409).contains(hour));
        let price = |hour: u64| 1_000 + mix(9, hour / 7) % 90 + mix(9, hour) % 13;
        let rows: String = hours.map(|hour| format!("{},{}\n", 1_700_002_800 + hour * 3_600, price(hour))).collect();
        std::fs::write(&path, format!("ts,price\n{rows}")).unwrap();
        (folder, path)
    });
    path.clone()
}

fn unheard(_: &Record, _: &Life) {}

/// A life of its own: world, mode, clocks, interval, temper and money all follow from the seed.
fn varied(seed: u64) -> (Rehearsal, Record) {
    let pick = |salt, n| (mix(seed, salt) % n) as usize;
    let spec = match pick(2, 4) {
        0 => Spec::Queue { seed, bar_ms: 40_000 },
        3 => Spec::Replay { path: candles(), start: None, sha256: None },
        // Sometimes with something to find, so that rules act as well.
        n => {
            let edge_bps = (n == 2).then_some(60);
            Spec::Sim { seed, bar_ms: 40_000, relations_change_days: n as f64, edge_bps, flip_days: None }
        }
    };
    let looks = if matches!(spec, Spec::Replay { .. }) { [3_600; 4] } else { [40, 40, 120, 3_600] };
    let interval = Span::seconds(looks[pick(1, 4)]);
    let mut c = Constitution { interval, ..Constitution::bare() };
    c.mode = [Mode::Hosted, Mode::Hosted, Mode::SelfHosted, Mode::Immortal][pick(3, 4)];
    c.clocks = Clocks { economic: pick(4, 5) > 0, epistemic: pick(5, 5) > 0, stochastic: pick(6, 5) > 0 };
    // A mind of rules for half of them, frozen for some of those.
    c.mind.kind = if pick(12, 2) == 0 { MindKind::Rules } else { MindKind::Reflex };
    c.mind.learning = pick(13, 4) > 0;
    c.mind.explore_every = pick(14, 60) as u32;
    // Most of them act on next to nothing: what matters here is that they act.
    (c.mind.samples, c.mind.sureness) = [(2, 0.0), (3, 0.2), (20, 2.5)][pick(15, 3)];
    c.reflex.pull = [0.02, 0.3, -2.0][pick(7, 3)];
    c.reflex.act_every = pick(8, 40) as u32;
    c.economic.machine_per_day = Usdc::micros(pick(9, 40_000_000) as i64);
    c.stochastic.base_hazard = [1e-6, 1e-4, 1e-3][pick(10, 3)];
    c.epistemic.measure = if pick(11, 4) == 0 { Measure::R2 } else { Measure::Skill };
    newborn(seed, &spec, c)
}

/// Lives up to so many ticks, with an owner who now and then gives, takes, freezes and sends to sleep.
fn live(life: &mut Rehearsal, seed: u64, ticks: u64, each: &mut impl FnMut(&Record, &Life)) {
    let fund = |n, credit, capital| What::Funded { transfer: n, credit, capital };
    life.feed(fund(1, Usdc::dollars(10), Usdc::dollars(100)), each).unwrap();
    for tick in 0..ticks {
        if life.is_over() {
            return;
        }
        life.tick(each).unwrap();
        let chance = mix(seed, 100 + tick);
        let amount = Usdc::micros((chance >> 40) as i64);
        let command = match chance % 400 {
            0 => Command::Withdraw { from: Account::Credit, amount },
            1 => Command::Withdraw { from: Account::Capital, amount },
            2 => Command::Freeze { reason: "test".into() },
            3 | 4 => Command::Resume,
            5 => Command::Dream,
            6 => {
                let next = life.life().transfers_taken() + 1;
                life.feed(fund(next, amount, amount), each).unwrap();
                continue;
            }
            _ => continue,
        };
        let what = What::Commanded { id: CommandId(tick.to_le_bytes()), command };
        life.feed(what, each).unwrap();
    }
}

#[test]
fn folding_gives_the_same_bytes_from_the_start_and_from_any_snapshot() {
    let mut endings = BTreeMap::<&str, u64>::new();
    for seed in 0..1_000 {
        let (mut life, first) = varied(seed);
        let mut records = vec![codec::encode(&first, None)];
        let mut snapshots: Vec<(u64, Vec<u8>)> = Vec::new();
        live(&mut life, seed, 1_500, &mut |record, now| {
            records.push(codec::encode(record, None));
            if mix(seed, record.seq).is_multiple_of(300) {
                snapshots.push((record.seq, codec::encode_life(now)));
            }
            assert_eq!(now.unaccounted(), Usdc::ZERO, "seed {seed}");
        });
        let lived = codec::encode_life(life.life());
        assert!(lived.len() <= golem::limits::LIFE_BYTES);
        let fold = |mut golem: Golem| {
            for seq in golem.seq() + 1..=records.len() as u64 {
                golem.fold(&codec::decode(seq, &records[seq as usize - 1]).unwrap().0).unwrap();
            }
            codec::encode_life(golem.life())
        };
        assert_eq!(fold(Golem::reborn(&first).unwrap()), lived, "seed {seed}, from the start");
        for (seq, bytes) in &snapshots {
            assert_eq!(fold(codec::decode_life(bytes, *seq).unwrap()), lived, "seed {seed}, from record {seq}");
        }
        let ending = life.life().death().map_or("alive", |death| death.cause.name());
        *endings.entry(ending).or_default() += 1;
    }
    println!("counted: endings of varied lives {endings:?}");
    assert!(endings.len() >= 4, "the lives were varied: {endings:?}");
}

/// Everything that was lived, as one hash.
fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for seed in 0..1_000 {
        let (mut life, first) = varied(seed);
        hasher.update(&codec::encode(&first, None));
        live(&mut life, seed, 400, &mut |record, _| {
            hasher.update(&codec::encode(record, None));
        });
        hasher.update(&codec::encode_life(life.life()));
    }
    hasher.finalize().to_hex().to_string()
}

/// What the standard library makes of many exponentials; on glibc it depends on the processor.
fn the_machines_own_exp() -> u64 {
    let bits = (0..400_000_u32).map(|i| std::hint::black_box(f64::from(i) * 1e-4 - 20.0).exp().to_bits());
    bits.fold(0, |sum, bits| sum.rotate_left(1) ^ bits)
}

#[test]
fn a_machine_without_fused_arithmetic_lives_the_same_lives() {
    const ASKED: &str = "BARDO_PRINT_DIGEST";
    if std::env::var_os(ASKED).is_some() {
        println!("digest={}", digest());
        println!("control={:x}", the_machines_own_exp());
        return;
    }
    let masked = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lives::a_machine_without_fused_arithmetic_lives_the_same_lives", "--nocapture"])
        .env(ASKED, "1")
        .env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F,-AVX512VL,-AVX512DQ,-AVX512BW")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&masked.stdout);
    assert!(printed.contains(&format!("digest={}", digest())), "{printed}");
    // The mask is no empty gesture: the standard library's own exponential does change under it.
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        assert!(!printed.contains(&format!("control={:x}", the_machines_own_exp())), "the mask did nothing: {printed}");
    }
}

#[test]
fn survival_over_many_lives_is_the_documents() {
    let count = lives(100_000, 25_000);
    let clocks = Clocks { economic: false, epistemic: false, stochastic: true };
    let c = Constitution { clocks, interval: Span::seconds(6 * 3_600), ..Constitution::bare() };
    let (unborn, _) = birth(0, c, &Spec::Queue { seed: 1, bar_ms: 40_000 });
    let ages: Vec<Option<Span>> = (0..count)
        .map(|seed| {
            // Nothing to see: only time and chance.
            let (id, secret) = (identity(Some(seed), "survival"), Secret::from_seed(seed, "survival"));
            let (mut golem, _) = Golem::born(Birth { id, ..unborn.clone() }, Time::seconds(0));
            while golem.life().age() < Span::DAY.times(90) && !golem.life().is_dead() {
                let roll = secret.roll(id, golem.life().tick() + 1);
                let now = golem.life().due();
                golem.step(&Input { now, roll, what: What::Observed(Observation::default()) }).unwrap();
            }
            golem.life().is_dead().then_some(golem.life().age())
        })
        .collect();
    for (days, expected) in [(7, 0.985), (30, 0.93), (60, 0.77), (90, 0.03)] {
        let limit = Span::DAY.times(days);
        let alive = ages.iter().filter(|age| age.is_none_or(|age| age > limit)).count() as f64 / count as f64;
        // The figures are rounded; on top of that, four standard errors of the sample.
        let tolerance = 0.006 + 4.0 * (expected * (1.0 - expected) / count as f64).sqrt();
        println!("counted: {days} days: {alive:.4} alive of {count}, expected {expected}");
        assert!((alive - expected).abs() < tolerance, "{days} days: {alive}");
    }
}

#[test]
fn one_path_lived_at_three_intervals_gives_one_survival_curve() {
    let count = lives(5_000, 600);
    let curve = |seconds: u64| -> Vec<f64> {
        let ages = (0..count).map(|seed| {
            // Chance alone: being right differs between horizons, and frailty with it.
            let clocks = Clocks { economic: false, epistemic: false, stochastic: true };
            let mut c = Constitution { interval: Span::seconds(seconds), clocks, ..Constitution::bare() };
            c.reflex.act_every = 0;
            // Old within two days, so that the whole curve fits into a test.
            c.stochastic.base_hazard = 2e-4;
            c.stochastic.aging_hazard = 2e-5;
            c.stochastic.aging_rate = 1.5e-3;
            let spec =
                Spec::Sim { seed: 11, bar_ms: 20_000, relations_change_days: 0.0, edge_bps: None, flip_days: None };
            let (mut life, _) = newborn(seed * 10_007 + seconds, &spec, c);
            while !life.life().is_dead() {
                life.tick(&mut unheard).unwrap();
            }
            // Death is noticed at the end of a step; on average it came half a step before.
            (life.life().age().as_millis() as f64 - seconds as f64 * 500.0) / 3_600_000.0
        });
        let mut ages: Vec<f64> = ages.collect();
        ages.sort_by(f64::total_cmp);
        ages
    };
    let curves = [curve(40), curve(300), curve(3_600)];
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let distance = kolmogorov_smirnov(&curves[a], &curves[b]);
        let critical = 1.95 * (2.0 / count as f64).sqrt(); // one in a thousand
        // Ages an hour apart make steps in the curve, half a step high at most.
        let step = 0.5 * densest_hour(&curves[0]);
        println!("intervals {a} and {b}: distance {distance:.4}, critical {critical:.4}, half a step {step:.4}");
        assert!(distance < critical + step, "intervals {a} and {b}: {distance}");
    }
}

/// The largest share of deaths within one hour.
fn densest_hour(sorted: &[f64]) -> f64 {
    let within = |from: f64| sorted.iter().filter(|age| (from..from + 1.0).contains(*age)).count();
    sorted.iter().map(|&from| within(from)).max().unwrap_or(0) as f64 / sorted.len() as f64
}

fn kolmogorov_smirnov(a: &[f64], b: &[f64]) -> f64 {
    let below = |sorted: &[f64], x: f64| sorted.partition_point(|age| *age <= x) as f64 / sorted.len() as f64;
    a.iter().chain(b).map(|&x| (below(a, x) - below(b, x)).abs()).fold(0.0, f64::max)
}

#[test]
fn every_clock_kills_and_a_switched_off_one_never_does() {
    let all = Clocks { economic: true, epistemic: true, stochastic: true };
    let cases = [
        (Clocks { economic: false, ..all }, "economic"),
        (Clocks { epistemic: false, ..all }, "epistemic_senescence"),
        (Clocks { stochastic: false, ..all }, "stochastic"),
    ];
    let mut seen = BTreeSet::new();
    for (clocks, never) in cases {
        for seed in 0..lives(200, 40) {
            let mut c = Constitution { clocks, ..Constitution::bare() };
            c.economic.machine_per_day = Usdc::dollars(20);
            c.mind.kind = MindKind::Reflex;
            c.reflex.pull = if seed.is_multiple_of(2) { 0.02 } else { -2.0 };
            c.stochastic.base_hazard = 2e-4;
            let (mut life, _) = newborn(
                seed,
                &Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None },
                c,
            );
            let fund = What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::ZERO };
            life.feed(fund, &mut unheard).unwrap();
            while !life.is_over() && life.life().tick() < 8_000 {
                life.tick(&mut unheard).unwrap();
            }
            if let Some(death) = &life.life().death() {
                assert_ne!(death.cause.name(), never, "seed {seed}");
                seen.insert(death.cause.name());
            }
        }
    }
    assert!(["economic", "epistemic_senescence", "stochastic"].iter().all(|cause| seen.contains(cause)), "{seen:?}");
}
