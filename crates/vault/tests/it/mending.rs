//! Lives nobody would live, folded and verified; the largest that fits; and files that were left half made.
use golem::Birth;
use golem::constitution::*;
use golem::policy::{self, Proposal};
use golem::world::*;
use golem::*;
use vault::{Place, Reader, Vault};

const START: Time = Time::seconds(1_700_000_000);
struct Dice(u64);
impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn of<T: Copy>(&mut self, c: &[T]) -> T {
        c[self.below(c.len() as u64) as usize]
    }
    fn f(&mut self) -> f64 {
        self.below(1 << 40) as f64 / (1_u64 << 40) as f64
    }
}
fn birth(d: &mut Dice, domains: usize, features: usize) -> Birth {
    let mut c = Constitution {
        interval: d.of(&[Span::seconds(40), Span::seconds(120), Span::seconds(3600)]),
        ..Constitution::bare()
    };
    c.epistemic.measure = d.of(&[Measure::Skill, Measure::R2]);
    c.mind.explore_every = d.of(&[1, 5, 200]);
    c.mind.samples = 5;
    c.mind.sureness = 0.2;
    c.clocks.economic = d.below(2) == 0;
    c.policy.stop_bps = d.of(&[0, 100, 1000]);
    c.policy.max_drawdown_bps = d.of(&[0, 3000]);
    let kinds = [DomainKind::Value, DomainKind::Direction, DomainKind::Range];
    Birth {
        id: GolemId([7; 16]),
        name: "rig".parse().unwrap(),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: [0; 32],
        seeded: true,
        constitution: c,
        world: Manifest {
            lot: 1,
            world: "w".into(),
            spec: String::new(),
            bar: d.of(&[Span::seconds(40), Span::seconds(20), Span::millis(7)]),
            domains: (0..domains)
                .map(|i| DomainSpec {
                    name: format!("d{i}"),
                    weight: 0.5,
                    kind: kinds[i % 3],
                    horizon: d.of(&[0, 1, 3, 24, 100, 100_000]),
                    scale: Some(0),
                    level: None,
                })
                .collect(),
            features: (0..features).map(|i| format!("f{i}")).collect(),
            instincts: vec![],
            actions: [
                ActionSpec { name: "take".into(), effect: Effect::Adds },
                ActionSpec { name: "give".into(), effect: Effect::Reduces },
            ]
            .into_iter()
            .collect(),
            regime: Some((domains - 1) as u8),
            holding: d.of(&[0, 1, 5, 24, 1000, limits::HORIZON]),
            unit: "s".into(),
            data_per_day: Usdc::ZERO,
            timing: Timing::Told,
            paper: true,
        },
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    }
}
fn place(folder: &std::path::Path) -> Place {
    let p = Place { folder: folder.join("g"), heads: folder.join("heads") };
    std::fs::create_dir_all(&p.folder).unwrap();
    std::fs::create_dir_all(&p.heads).unwrap();
    p
}
fn input(g: &Golem, d: &mut Dice, price: &mut f64, level: &mut f64) -> Input {
    let life = g.life();
    let at = |what| Input { now: life.now(), roll: u64::MAX, what };
    if let (Some(owed), true) = (g.owes(), d.below(10) < 8) {
        let worth =
            |u: i64| Usdc::micros((i128::from(life.seen().unit.as_micros()) * i128::from(u) / 1_000_000) as i64);
        let cash = |order: &Order, units: i64| if order.action == 0 { -worth(units) } else { worth(units) };
        let fee = Usdc::micros(100);
        let (quoted, done, half) = (d.below(8) > 0, d.below(8) > 0, d.below(4) == 0);
        if owed == Owed::Duty(Duty::Curate) {
            let answer = golem::grimoire::round(&mut golem::grimoire::Grimoire::new([]), life);
            return at(What::Curated(Box::new(answer)));
        }
        return at(owed.answered(
            life,
            |order| quoted.then(|| Quote { cash: cash(order, order.units), fee, gas: Usdc::ZERO }),
            |order| {
                let units = if half { order.units / 2 } else { order.units };
                let sign = if order.action == 0 { 1 } else { -1 };
                let outcome = Outcome { units: sign * units, cash: cash(order, units), fee, gas: Usdc::ZERO };
                let effect = if order.action == 0 { Effect::Adds } else { Effect::Reduces };
                if done && order.allows(effect, &outcome) { Fate::Done(outcome) } else { Fate::Never }
            },
        ));
    }
    match d.below(30) {
        0 => at(What::Proposed(Proposal { action: d.below(2) as u8, size: d.f() * 0.3 })),
        1 => {
            let c = match d.below(8) {
                0 => Command::Pause,
                1 => Command::Freeze { reason: "x".into() },
                2 => Command::Dream,
                3 => Command::Withdraw {
                    from: golem::owner::Account::Capital,
                    amount: Usdc::micros(1 + d.below(5_000_000) as i64),
                },
                4 => Command::Amend {
                    instead_of: golem::policy::policy_hash(g.life().policy()),
                    policy: Box::new(PolicyFigures { stop_bps: d.of(&[0, 500, 2000]), ..Constitution::bare().policy }),
                },
                _ => Command::Resume,
            };
            at(What::Commanded { id: CommandId(d.next().to_le_bytes()), command: c })
        }
        2 if d.below(4) == 0 => at(What::Funded {
            transfer: life.transfers_taken() + 1,
            credit: Usdc::dollars(1),
            capital: Usdc::dollars(5),
        }),
        _ => {
            let now = if d.below(5) == 0 { life.due() + Span::seconds(d.below(4000)) } else { life.due() };
            let bar = life.birth().world.bar.max(Span::seconds(20));
            let mut closed = life.seen().until.max(START);
            let mut bars = vec![];
            // Aligned bars with holes, at most 300.
            let mut n = 0;
            while closed + bar <= now && n < 300 {
                closed = closed + bar;
                n += 1;
                if d.below(25) == 0 {
                    continue;
                }
                *price = (*price * (1.0 + (d.f() - 0.495) * 0.04)).clamp(1e4, 1e10);
                *level = (*level + (d.f() - 0.5)).abs() + 0.01;
                if d.below(400) == 0 {
                    *level *= d.of(&[0.1, 10.0]);
                }
                bars.push(Bar {
                    closed,
                    values: life
                        .birth()
                        .world
                        .domains
                        .iter()
                        .enumerate()
                        .map(|(i, _)| if i % 3 == 0 { *level } else { *price })
                        .collect(),
                    features: life.birth().world.features.iter().map(|_| d.f()).collect(),
                    unit: Usdc::micros(*price as i64),
                });
            }
            Input { now, roll: u64::MAX, what: What::Observed(Observation { bars }) }
        }
    }
}

#[test]
fn fuzzed_lives_fold_and_verify_and_stay_bounded() {
    let mut biggest = 0;
    let (mut stakes, mut pending) = (0, 0);
    let mut acts = 0;
    for seed in 0..60 {
        let mut d = Dice(seed);
        let folder = tempfile::tempdir().unwrap();
        let p = place(folder.path());
        let (nd, nf) = (1 + d.below(8) as usize, d.below(24) as usize + 1);
        let (mut g, first) = Golem::born(birth(&mut d, nd, nf), START);
        let mut v = Vault::create(&p, &first, g.life(), 100).unwrap();
        let mut again = Golem::reborn(&first).unwrap();
        let (mut price, mut level) = (1e7, 10.0);
        let i = Input {
            now: START,
            roll: u64::MAX,
            what: What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(100) },
        };
        let r = g.step(&i).unwrap().unwrap();
        again.fold(&r).unwrap();
        v.stage(&r, g.life());
        v.commit(g.life()).unwrap();
        for n in 0..3_000 {
            let i = input(&g, &mut d, &mut price, &mut level);
            if let Ok(Some(r)) = g.step(&i) {
                again.fold(&r).unwrap();
                v.stage(&r, g.life());
                if d.below(50) == 0 {
                    v.commit(g.life()).unwrap();
                }
                acts += r
                    .events
                    .iter()
                    .filter(|e| matches!(e, event::Event::Policy(policy::Event::Settled { .. })))
                    .count();
            }
            assert_eq!(g.life().unaccounted(), Usdc::ZERO);
            assert!(g.life().capital().cash >= Usdc::ZERO && g.life().purse().credit >= Usdc::ZERO);
            stakes = stakes.max(g.life().stakes().len());
            pending = pending.max(g.life().episodes().pending.len());
            if n % 500 == 0 {
                biggest = biggest.max(vault::codec::encode_life(g.life()).len());
            }
        }
        v.commit(g.life()).unwrap();
        assert_eq!(vault::codec::encode_life(g.life()), vault::codec::encode_life(again.life()), "seed {seed}");
        drop(v);
        Reader::open(&p.database()).unwrap().verify(&p.heads).unwrap();
        let (v, w, notices) = Vault::open(&p, 100).unwrap();
        assert!(notices.is_empty());
        assert_eq!(vault::codec::encode_life(w.life()), vault::codec::encode_life(g.life()));
        drop(v);
    }
    println!("biggest {biggest}, stakes {stakes}, pending {pending}, settled {acts}");
    assert!(stakes <= golem::limits::STAKES && pending <= golem::limits::EPISODES);
}

#[test]
fn the_largest_life_really_fits() {
    let mut d = Dice(1);
    let mut b = birth(&mut d, 8, 24);
    b.constitution.interval = Span::seconds(40);
    b.world.bar = Span::seconds(40);
    b.constitution.epistemic.measure = Measure::R2;
    b.constitution.clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    b.constitution.mind.explore_every = 1;
    b.world.holding = 63;
    b.world.domains.iter_mut().for_each(|d| d.horizon = 64);
    b.world.instincts = (0..64).map(|i| format!("when f0 > {}.123456789 and f1 > 0.123456789{i} and f2 > 0.2345678912 and f3 > 0.01234567 expect d{} over 64", -i - 1, i % 8)).collect();
    // As many blends as there may be, of as many features.
    for (at, text) in b.world.instincts.iter_mut().take(golem::limits::BLENDS).enumerate() {
        *text = format!("always expect d{} like a blend of f0, f1, f2, f{}", 3 * (at % 2), at + 3);
    }
    let (mut g, _) = Golem::born(b, START);
    println!("playbook {}", g.life().playbook().len());
    let mut most = 0;
    let mut parts = (0, 0, 0);
    for n in 0..2_000 {
        let closed = g.life().due();
        let bar = Bar {
            closed,
            values: (0..8).map(|_| 100.0 + d.f()).collect(),
            features: (0..24).map(|_| 0.5 + d.f()).collect(),
            unit: Usdc::micros(10_000_000 + d.below(100_000) as i64),
        };
        g.step(&Input { now: closed, roll: u64::MAX, what: What::Observed(Observation { bars: vec![bar] }) }).unwrap();
        if n % 10 == 0 {
            let l = vault::codec::encode_life(g.life()).len();
            if l > most {
                most = l;
                parts = (
                    g.life().open().iter().map(|o| o.len()).sum(),
                    g.life().stakes().len(),
                    g.life().episodes().pending.len(),
                );
            }
        }
    }
    println!("{most} bytes with open, stakes, pending {parts:?}");
    assert!(most <= golem::limits::LIFE_BYTES, "{most}");
}

#[test]
fn an_allow_list_is_bounded() {
    let mut d = Dice(1);
    let (mut g, _) = Golem::born(birth(&mut d, 2, 2), START);
    let policy = PolicyFigures {
        allow: Some((0..5_000).map(|n| format!("token-number-{n:040}")).collect()),
        ..Constitution::bare().policy
    };
    g.step(&Input {
        now: START,
        roll: 0,
        what: What::Commanded {
            id: CommandId([1; 8]),
            command: Command::Amend {
                instead_of: golem::policy::policy_hash(g.life().policy()),
                policy: Box::new(policy),
            },
        },
    })
    .unwrap();
    let bytes = vault::codec::encode_life(g.life()).len();
    assert!(bytes <= golem::limits::LIFE_BYTES, "{bytes}");
}

fn lived(p: &Place, ticks: u64, values: impl Fn(u64) -> f64) -> Result<Golem, vault::Error> {
    let mut d = Dice(5);
    let mut b = birth(&mut d, 2, 2);
    b.constitution.clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    b.constitution.epistemic.measure = Measure::Skill;
    b.constitution.mind.explore_every = 0;
    b.constitution.interval = Span::seconds(40);
    b.world.bar = Span::seconds(40);
    b.world.domains.iter_mut().for_each(|d| {
        d.horizon = 1;
        d.kind = DomainKind::Value
    });
    let (mut g, first) = Golem::born(b, START);
    let mut v = Vault::create(p, &first, g.life(), 100).unwrap();
    for n in 0..ticks {
        let closed = g.life().due();
        let bar = Bar {
            closed,
            values: (0..2).map(|_| values(n)).collect(),
            features: [1.0, 2.0].into_iter().collect(),
            unit: Usdc::dollars(10),
        };
        if let Some(r) = g
            .step(&Input { now: closed, roll: u64::MAX, what: What::Observed(Observation { bars: vec![bar] }) })
            .unwrap()
        {
            v.stage(&r, g.life());
            v.commit(g.life())?;
        }
    }
    Ok(g)
}

/// Snapshots of a life that is well, and of one that declines.
#[test]
fn a_snapshot_is_written_every_six_hours_of_the_world_and_every_fifty_records_of_a_decline() {
    let written = |interval: Span, center: f64| {
        let folder = tempfile::tempdir().unwrap();
        let p = place(folder.path());
        let mut b = birth(&mut Dice(5), 1, 1);
        b.constitution.clocks = Clocks { economic: false, epistemic: true, stochastic: false };
        // Whatever it knows: a vitality of 0.9, or of 0.2.
        (b.constitution.vitality.epistemic_center, b.constitution.vitality.epistemic_steepness) = (center, 0.01);
        (b.constitution.mind.kind, b.constitution.epistemic.measure) = (MindKind::Reflex, Measure::Skill);
        b.constitution.reflex = Reflex { noise: 0.0, pull: 0.0, act_every: 0 };
        (b.constitution.interval, b.world.bar) = (interval, interval);
        let (mut g, first) = Golem::born(b, START);
        let mut v = Vault::create(&p, &first, g.life(), u64::MAX).unwrap();
        let mut written: Vec<(u64, Time)> = Vec::new();
        let db = rusqlite::Connection::open(p.database()).unwrap();
        for n in 0..400_u64 {
            let now = g.life().due();
            let values = [100.0 + (n % 9) as f64].into_iter().collect();
            let bar = Bar { closed: now, values, features: [1.0].into_iter().collect(), unit: Usdc::dollars(10) };
            let what = What::Observed(Observation { bars: vec![bar] });
            let r = g.step(&Input { now, roll: u64::MAX, what }).unwrap().unwrap();
            v.stage(&r, g.life());
            v.commit(g.life()).unwrap();
            let newest: Option<i64> = db.query_row("SELECT MAX(seq) FROM snapshot", [], |row| row.get(0)).unwrap();
            if newest == Some(r.seq as i64) {
                written.push((r.seq, g.life().now()));
            }
        }
        let apart = |two: &[(u64, Time)]| (two[1].0 - two[0].0, two[1].1.since(two[0].1));
        written.windows(2).map(apart).collect::<Vec<(u64, Span)>>()
    };
    let sound = written(Span::seconds(3_600), -219.0);
    assert!(sound.len() > 60 && sound.iter().all(|(_, time)| *time == Span::seconds(6 * 3_600)), "{sound:?}");
    let declining = written(Span::seconds(40), 139.0);
    assert!(declining.len() > 5 && declining.iter().all(|(records, _)| *records == 50), "{declining:?}");
}

#[test]
fn huge_finite_values_do_not_stop_the_writing() {
    let folder = tempfile::tempdir().unwrap();
    let p = place(folder.path());
    let r = lived(&p, 200, |n| if n % 2 == 0 { 1.7e29 } else { -1.7e29 });
    assert!(r.is_ok(), "{}", r.err().unwrap());
}

#[test]
fn a_migration_cut_short_is_finished_at_the_next_open() {
    let folder = tempfile::tempdir().unwrap();
    let p = place(folder.path());
    lived(&p, 300, |n| 100.0 + (n % 9) as f64).unwrap();
    // The table was lost; making it again was cut short after CREATE and before its rows.
    let db = rusqlite::Connection::open(p.database()).unwrap();
    db.execute_batch("DELETE FROM episode").unwrap();
    drop(db);
    drop(Vault::open(&p, 100).unwrap());
    let r = Reader::open(&p.database()).unwrap().verify(&p.heads);
    assert!(r.is_ok(), "{}", r.err().unwrap());
}
