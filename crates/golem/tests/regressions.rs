//! Faults that were found once and must not come back: each test says what used to go wrong.
mod common;
use common::{SAFE, START, birth};
use golem::constitution::*;
use golem::event::Event;
use golem::policy::Proposal;
use golem::world::*;
use golem::*;

const TICK: Span = Span::seconds(40);

fn born(change: impl FnOnce(&mut Constitution), alter: impl FnOnce(&mut Manifest), credit: i64) -> Golem {
    let mut b = birth(Constitution::bare());
    b.constitution.mind.kind = MindKind::Reflex;
    b.constitution.reflex.act_every = 0;
    b.constitution.clocks.stochastic = false;
    change(&mut b.constitution);
    alter(&mut b.world);
    let (mut golem, _) = Golem::born(b, START);
    let what = What::Funded { transfer: 1, credit: Usdc::micros(credit), capital: Usdc::dollars(100) };
    golem.step(&Input { now: START, roll: SAFE, what }).unwrap();
    golem
}
fn bars(golem: &mut Golem, units: &[i64]) -> Vec<Event> {
    let n = golem.life().birth.world.domains.len();
    let nf = golem.life().birth.world.features.len();
    let mut closed = golem.life().seen.until.max(START).max(golem.life().now);
    let mut v = vec![];
    for u in units {
        closed = closed + TICK;
        v.push(Bar {
            closed,
            values: (0..n).map(|i| 100.0 + ((closed.as_seconds() / 40 + i as u64) % 7) as f64).collect(),
            features: (0..nf).map(|i| (closed.as_seconds() / 40 % (i as u64 + 3)) as f64).collect(),
            unit: Usdc::micros(*u),
        });
    }
    let now = closed.max(golem.life().due());
    golem
        .step(&Input { now, roll: SAFE, what: What::Observed(Observation { bars: v }) })
        .unwrap()
        .map(|r| r.events)
        .unwrap_or_default()
}
fn feed(golem: &mut Golem, what: What) -> Vec<Event> {
    golem.step(&Input { now: golem.life().now, roll: SAFE, what }).unwrap().map(|r| r.events).unwrap_or_default()
}
fn settle(golem: &mut Golem) {
    while let Some(owed) = golem.owed().first().cloned() {
        let life = golem.life();
        let worth =
            |units: i64| Usdc::micros((i128::from(life.seen.unit.as_micros()) * i128::from(units) / 1_000_000) as i64);
        let what = match owed {
            Owed::Preview { key, action, units } => What::Previewed {
                key,
                quote: Some(Quote {
                    cash: if action == 0 { -worth(units) } else { worth(units) },
                    fee: Usdc::micros(10),
                }),
            },
            Owed::Commit { key, action, units, .. } => What::Landed {
                key,
                outcome: Some(Outcome {
                    units: if action == 0 { units } else { -units },
                    cash: if action == 0 { -worth(units) } else { worth(units) },
                    fee: Usdc::micros(10),
                }),
            },
            Owed::Reconcile { key } => What::Landed { key, outcome: None },
            Owed::Deposit { deposit, .. } => What::Deposited { deposit },
            Owed::Dream { .. } => What::Dreamt(Box::new(golem::dream::Found::nothing(life))),
            Owed::Reflect => What::Reflected { hash: [0; 32] },
            Owed::Bequeath => What::Bequeathed { hash: [0; 32], entries: 0 },
            Owed::Tell { number, .. } => What::Told { number, peers: 0 },
            Owed::Curate => What::Curated(Box::new(golem::grimoire::Answer {
                round: life.knowing.rounds + 1,
                ..Default::default()
            })),
        };
        feed(golem, what);
    }
}
fn buy(golem: &mut Golem, size: f64) {
    let e = feed(golem, What::Proposed(Proposal { action: 0, size }));
    assert!(e.iter().any(|e| matches!(e, Event::Intended(_))), "{e:?}");
    settle(golem);
}
fn sell(golem: &mut Golem) {
    feed(golem, What::Proposed(Proposal { action: 1, size: 1.0 }));
    settle(golem);
}

#[test]
fn gas_keeps_to_the_monthly_allowance() {
    let mut g = born(
        |c| {
            c.mode = Mode::SelfHosted;
            c.economic.monthly_allowance = Usdc::cents(1);
            c.economic.per_action = Usdc::cents(1);
        },
        |_| {},
        10_000_000,
    );
    bars(&mut g, &[10_000_000]);
    for _ in 0..10 {
        feed(&mut g, What::Proposed(Proposal { action: 0, size: 0.1 }));
        settle(&mut g);
        sell(&mut g);
    }
    let p = &g.life().purse;
    assert!(p.gas + p.spent <= Usdc::cents(1), "gas {} with an allowance of $0.01 a month", p.gas);
}

#[test]
fn gas_of_a_living_golem_leaves_the_reserve_alone() {
    let mut g = born(
        |c| {
            c.economic.per_action = Usdc::cents(50);
            c.economic.machine_per_day = Usdc::dollars(400);
        },
        |_| {},
        10_000_000,
    );
    bars(&mut g, &[10_000_000]);
    buy(&mut g, 0.25);
    while g.life().purse.credit > Usdc::cents(60) {
        bars(&mut g, &[10_000_000]);
        settle(&mut g);
    }
    assert!(!g.life().is_dead());
    sell(&mut g);
    assert!(
        !g.life().is_dead() && g.life().purse.credit >= Usdc::cents(30),
        "credit {} below the reserve of $0.30",
        g.life().purse.credit
    );
}

#[test]
fn the_breaker_remembers_the_highest_worth_of_every_bar() {
    let one = |chunks: &[&[i64]]| {
        let mut g = born(
            |c| {
                c.policy.per_action_bps = 10_000;
                c.policy.stop_bps = 0;
                c.policy.max_drawdown_bps = 1_300;
            },
            |_| {},
            10_000_000,
        );
        bars(&mut g, &[10_000_000]);
        buy(&mut g, 1.0);
        for c in chunks {
            bars(&mut g, c);
            if g.life().is_dead() {
                break;
            }
        }
        g.life().is_dead()
    };
    let singly = one(&[&[15_000_000], &[14_000_000], &[12_700_000]]);
    let together = one(&[&[15_000_000, 14_000_000], &[12_700_000]]);
    assert_eq!(singly, together, "the same bars, told one by one or two at once");
}

#[test]
fn a_stop_the_world_refuses_does_not_flood() {
    let mut g = born(
        |c| {
            c.policy.max_drawdown_bps = 0;
        },
        |_| {},
        10_000_000,
    );
    bars(&mut g, &[10_000_000]);
    buy(&mut g, 0.25);
    let mut stopped = 0;
    for _ in 0..200 {
        let e = bars(&mut g, &[5_000_000]);
        stopped += e.iter().filter(|e| matches!(e, Event::Stopped)).count();
        while let Some(Owed::Preview { key, .. }) = g.owed().first().cloned() {
            feed(&mut g, What::Previewed { key, quote: None });
        }
    }
    assert!(stopped < 20, "told {stopped} times in 200 bars");
}

#[test]
fn a_breakers_death_and_a_stop_are_remembered() {
    let mut g = born(
        |c| {
            c.policy.per_action_bps = 10_000;
            c.policy.stop_bps = 0;
        },
        |_| {},
        10_000_000,
    );
    bars(&mut g, &[10_000_000]);
    buy(&mut g, 1.0);
    let e = bars(&mut g, &[5_000_000]);
    assert!(e.iter().any(|e| matches!(e, Event::Died(_))));
    let died = e.iter().any(|e| matches!(e, Event::Remembered { why, .. } if why & golem::episode::why::DEATH != 0));
    let mut g = born(
        |c| {
            c.policy.max_drawdown_bps = 0;
        },
        |_| {},
        10_000_000,
    );
    bars(&mut g, &[10_000_000]);
    buy(&mut g, 0.25);
    let e = bars(&mut g, &[5_000_000]);
    assert!(e.contains(&Event::Stopped));
    let stop = e.iter().any(|e| matches!(e, Event::Remembered { why, .. } if why & golem::episode::why::INTENT != 0));
    assert!(died && stop, "death remembered: {died}, stop remembered: {stop}");
}

fn seasoned(change: impl FnOnce(&mut Constitution)) -> Golem {
    let mut g = born(
        |c| {
            c.mind.kind = MindKind::Rules;
            c.mind.explore_every = 0;
            c.policy.stop_bps = 0;
            c.policy.max_drawdown_bps = 0;
            change(c);
        },
        |w| {
            w.instincts = vec!["always expect tide over 1 then add".into()];
            w.domains.iter_mut().for_each(|d| d.horizon = 1);
        },
        10_000_000,
    );
    // Holding pays one or two per cent, always.
    let mut unit = 10_000_000_f64;
    for i in 0..60 {
        unit *= if i % 2 == 0 { 1.01 } else { 1.02 };
        bars(&mut g, &[unit as i64]);
        if i < 40 {
            while let Some(o) = g.owed().first().cloned() {
                let Owed::Preview { key, .. } = o else { break };
                feed(&mut g, What::Previewed { key, quote: None });
            }
        } else {
            settle(&mut g)
        }
    }
    g
}

#[test]
fn one_absurd_preview_does_not_end_all_acting() {
    let run = |absurd: bool| {
        let mut g = seasoned(|_| {});
        if g.life().capital.holding > 0 {
            sell(&mut g);
        }
        let mut unit = g.life().seen.unit.as_f64();
        let mut spoilt = false;
        let mut acted = 0;
        for i in 0..2_000 {
            unit *= if i % 2 == 0 { 1.01 } else { 1.02 };
            if unit > 1e12 {
                unit = 1e7;
            }
            bars(&mut g, &[unit as i64]);
            if absurd
                && !spoilt
                && let Some(Owed::Preview { key, action: 0, .. }) = g.owed().first().cloned()
            {
                // The book was empty for a moment: twice the price.
                let f = g.life().flights[0].clone();
                let worth = g.life().seen.unit.share(f.units, 1_000_000);
                feed(&mut g, What::Previewed { key, quote: Some(Quote { cash: -worth.share(2, 1), fee: Usdc::ZERO }) });
                spoilt = true;
            }
            let was = g.life().execution.domain.resolved;
            settle(&mut g);
            acted += g.life().execution.domain.resolved - was;
            if g.life().is_dead() {
                break;
            }
        }
        (acted, g.life().execution.cost, g.life().tick)
    };
    let (honest, absurd) = (run(false), run(true));
    assert!(honest.0 > 0 && absurd.0 >= honest.0, "honest {honest:?}, after one absurd preview {absurd:?}");
}

#[test]
fn samples_the_configuration_allows_can_be_reached() {
    let keep = 1.0 - 1.0 / 200.0_f64;
    let mut s = 0.0;
    let mut n = 0_u64;
    while n < 10_000_000 {
        let t = s * keep + 1.0;
        if t == s {
            break;
        }
        s = t;
        n += 1;
    }
    assert!(s >= 150.0, "after {n} samples the decayed count stands still at {s:.17}");
}

#[test]
fn a_regime_domain_that_is_not_there_does_not_panic() {
    let mut g = born(|_| {}, |w| w.regime = Some(7), 10_000_000);
    bars(&mut g, &[10_000_000]);
}

#[test]
fn a_landing_without_a_permit_is_not_believed() {
    let mut g = born(|c| c.policy.actions_per_day = 1, |_| {}, 10_000_000);
    bars(&mut g, &[10_000_000]);
    feed(&mut g, What::Proposed(Proposal { action: 0, size: 0.1 }));
    let Some(Owed::Preview { key, units, .. }) = g.owed().first().cloned() else { panic!() };
    let cash = -g.life().seen.unit.share(units, 1_000_000);
    let _ = g.step(&Input {
        now: g.life().now,
        roll: SAFE,
        what: What::Landed { key, outcome: Some(Outcome { units, cash, fee: Usdc::ZERO }) },
    });
    assert!(g.life().capital.holding == 0, "settled without ever having been permitted; day {:?}", g.life().day);
}

#[test]
fn surprise_stays_a_number() {
    let mut g = born(
        |c| {
            c.mind.kind = MindKind::Rules;
            c.clocks.epistemic = false;
        },
        |w| w.domains.iter_mut().for_each(|d| d.horizon = 1),
        10_000_000,
    );
    for i in 0..80_u64 {
        let closed = g.life().due();
        let values = (0..2).map(|_| if i % 2 == 0 { 1.7e29 } else { -1.7e29 }).collect();
        let bar = Bar { closed, values, features: Features::new(), unit: Usdc::dollars(10) };
        g.step(&Input { now: closed, roll: SAFE, what: What::Observed(Observation { bars: vec![bar] }) }).unwrap();
        assert!(!g.life().episodes.surprise.last.is_nan(), "look {i}: {:?}", g.life().episodes.surprise);
    }
}

#[test]
fn who_holds_nothing_is_not_killed_by_the_weather() {
    let mut g = born(
        |c| {
            c.policy.per_action_bps = 10_000;
            c.policy.stop_bps = 0;
            c.clocks.epistemic = false;
            c.clocks.economic = false;
        },
        |w| w.regime = Some(1),
        10_000_000,
    );
    let look = |g: &mut Golem, unit: i64, wind: f64| {
        let closed = g.life().due();
        let bar = Bar {
            closed,
            values: [100.0, wind].into_iter().collect(),
            features: Features::new(),
            unit: Usdc::micros(unit),
        };
        g.step(&Input { now: closed, roll: SAFE, what: What::Observed(Observation { bars: vec![bar] }) }).unwrap();
    };
    for _ in 0..300 {
        look(&mut g, 10_000_000, 50.0);
    }
    buy(&mut g, 1.0);
    look(&mut g, 8_900_000, 50.0);
    sell(&mut g);
    assert!(!g.life().is_dead() && g.life().capital.holding == 0);
    for _ in 0..300 {
        look(&mut g, 8_900_000, 50.0);
    }
    assert!(!g.life().is_dead());
    for _ in 0..200 {
        if !g.life().is_dead() {
            look(&mut g, 8_900_000, 400.0);
        }
    }
    assert!(!g.life().is_dead(), "{}", g.life().death.as_ref().unwrap().cause);
}

#[test]
fn a_golem_of_means_acts_within_its_caps() {
    let mut g = born(|c| c.reflex.act_every = 10, |_| {}, 10_000_000);
    feed(&mut g, What::Funded { transfer: 2, credit: Usdc::ZERO, capital: Usdc::dollars(4_900) });
    for _ in 0..200 {
        bars(&mut g, &[10_000_000]);
        settle(&mut g);
    }
    assert!(g.life().flights_made > 0, "with {} it never acted: {:?}", g.life().capital.cash, g.life().refused);
}
