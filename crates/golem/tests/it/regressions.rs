//! Faults that were found once and must not come back: each test says what used to go wrong.
use crate::common::{Honest, SAFE, START, birth};
use golem::constitution::*;
use golem::episode;
use golem::event::Event;
use golem::mortality;
use golem::policy::{self, Proposal};
use golem::shell::perform;
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
    let n = golem.life().birth().world.domains.len();
    let nf = golem.life().birth().world.features.len();
    let mut closed = golem.life().seen().until.max(START).max(golem.life().now());
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
    golem.step(&Input { now: golem.life().now(), roll: SAFE, what }).unwrap().map(|r| r.events).unwrap_or_default()
}
fn worth(life: &Life, units: i64) -> Usdc {
    Usdc::micros((i128::from(life.seen().unit.as_micros()) * i128::from(units) / 1_000_000) as i64)
}
fn settle(golem: &mut Golem) {
    let cash = |life: &Life, order: &Order| {
        let worth = worth(life, order.units);
        if order.action == 0 { -worth } else { worth }
    };
    let fee = Usdc::micros(10);
    let mut honest = Honest {
        quote: |life: &Life, order: &Order| Some(Quote { cash: cash(life, order), fee, gas: Usdc::ZERO }),
        act: |life: &Life, order: &Order| {
            let units = if order.action == 0 { order.units } else { -order.units };
            Fate::Done(Outcome { units, cash: cash(life, order), fee, gas: Usdc::ZERO })
        },
        records: vec![],
    };
    perform(golem, &mut honest).unwrap();
}
/// The key of the preview that is owed first, and the action it is about.
fn preview(golem: &Golem) -> Option<(u64, Order)> {
    let owed = golem.owes();
    if let Some(Owed::Errand(Errand::Preview { key, order, .. })) = owed { Some((key, order)) } else { None }
}
fn buy(golem: &mut Golem, size: f64) {
    let e = feed(golem, What::Proposed(Proposal { action: 0, size }));
    assert!(e.iter().any(|e| matches!(e, Event::Policy(policy::Event::Intended(_)))), "{e:?}");
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
    let p = &g.life().purse();
    assert!(p.gas + p.spent <= Usdc::cents(1), "gas {} with an allowance of $0.01 a month", p.gas);
    assert!(p.gas.is_positive() && p.credit == p.given - p.gas - p.spent, "it is paid from credit: {p:?}");
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
    while g.life().purse().credit > Usdc::cents(60) {
        bars(&mut g, &[10_000_000]);
        settle(&mut g);
    }
    assert!(!g.life().is_dead());
    sell(&mut g);
    assert!(
        !g.life().is_dead() && g.life().purse().credit >= Usdc::cents(30),
        "credit {} below the reserve of $0.30",
        g.life().purse().credit
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
        stopped += e.iter().filter(|e| matches!(e, Event::Policy(policy::Event::Stopped))).count();
        while let Some((key, _)) = preview(&g) {
            feed(&mut g, What::Previewed { key, look: 0, quote: None });
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
    assert!(e.iter().any(|e| matches!(e, Event::Mortality(mortality::Event::Died(_)))));
    let died = e.iter().any(|e| matches!(e, Event::Episode(episode::Event::Remembered { why, .. }) if why & golem::episode::why::DEATH != 0));
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
    assert!(e.contains(&Event::Policy(policy::Event::Stopped)));
    let stop = e.iter().any(|e| matches!(e, Event::Episode(episode::Event::Remembered { why, .. }) if why & golem::episode::why::INTENT != 0));
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
            while let Some((key, _)) = preview(&g) {
                feed(&mut g, What::Previewed { key, look: 0, quote: None });
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
        if g.life().capital().holding > 0 {
            sell(&mut g);
        }
        let mut unit = g.life().seen().unit.as_f64();
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
                && let Some((key, Order { action: 0, .. })) = preview(&g)
            {
                // The book was empty for a moment: twice the price.
                let f = g.life().flights()[0].clone();
                let worth = g.life().seen().unit.share(f.units, 1_000_000);
                let quote = Quote { cash: -worth.share(2, 1), ..Quote::default() };
                feed(&mut g, What::Previewed { key, look: 0, quote: Some(quote) });
                spoilt = true;
            }
            let was = g.life().execution().domain.resolved;
            settle(&mut g);
            acted += g.life().execution().domain.resolved - was;
            if g.life().is_dead() {
                break;
            }
        }
        (acted, g.life().execution().cost, g.life().tick())
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
fn a_world_with_anything_out_of_bounds_is_not_born_into() {
    type Change<'a> = &'a dyn Fn(&mut Manifest);
    let unsound = |change: Change<'_>| {
        let mut birth = birth(Constitution::bare());
        change(&mut birth.world);
        birth.check().map_err(|why| why.to_string())
    };
    assert_eq!(unsound(&|_| {}), Ok(()));
    let long = |n: usize| "x".repeat(n);
    let cases: [(Change<'_>, &str); 14] = [
        (&|w| w.regime = Some(7), "the number of a declared domain"),
        (&|w| w.features = (0..25).map(|n| format!("f{n}")).collect(), "25 features are more"),
        (&|w| w.features = vec!["a".into(), "a".into()], "two features are named a"),
        (&|w| w.features = vec!["A b".into()], "in lower case"),
        (&|w| w.instincts = vec!["always expect tide".into(); 65], "more instincts"),
        (&|w| w.instincts = vec!["when moon > 1 expect tide".into()], "cannot be read"),
        (&|w| w.world = long(65), "64 plain characters"),
        (&|w| w.unit = "\u{1b}[2J".into(), "64 plain characters"),
        (&|w| w.spec = long(5_000), "4096 plain characters"),
        (&|w| w.bar = Span::ZERO, "a millisecond at least"),
        (&|w| w.domains[0].weight = f64::NAN, "the weight of tide"),
        (&|w| w.domains[0].horizon = u32::MAX, "looks 100000 bars ahead"),
        (&|w| w.domains[0].kind = DomainKind::Range, "needs a feature"),
        (&|w| w.lot = 0, "a lot is 1 to"),
    ];
    for (change, why) in cases {
        let said = unsound(change).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_landing_without_a_permit_is_not_believed() {
    let mut g = born(|c| c.policy.actions_per_day = 1, |_| {}, 10_000_000);
    bars(&mut g, &[10_000_000]);
    feed(&mut g, What::Proposed(Proposal { action: 0, size: 0.1 }));
    let (key, Order { units, .. }) = preview(&g).unwrap();
    let cash = -g.life().seen().unit.share(units, 1_000_000);
    let _ = g.step(&Input {
        now: g.life().now(),
        roll: SAFE,
        what: What::Landed { key, fate: Fate::Done(Outcome { units, cash, ..Outcome::default() }) },
    });
    assert!(g.life().capital().holding == 0, "settled without ever having been permitted; day {:?}", g.life().day());
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
        assert!(!g.life().episodes().surprise.last.is_nan(), "look {i}: {:?}", g.life().episodes().surprise);
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
    assert!(!g.life().is_dead() && g.life().capital().holding == 0);
    for _ in 0..300 {
        look(&mut g, 8_900_000, 50.0);
    }
    assert!(!g.life().is_dead());
    for _ in 0..200 {
        if !g.life().is_dead() {
            look(&mut g, 8_900_000, 400.0);
        }
    }
    assert!(!g.life().is_dead(), "{}", g.life().death().unwrap().cause);
}

#[test]
fn a_golem_of_means_acts_within_its_caps() {
    let mut g = born(|c| c.reflex.act_every = 10, |_| {}, 10_000_000);
    feed(&mut g, What::Funded { transfer: 2, credit: Usdc::ZERO, capital: Usdc::dollars(4_900) });
    for _ in 0..200 {
        bars(&mut g, &[10_000_000]);
        settle(&mut g);
    }
    assert!(g.life().flights_made() > 0, "with {} it never acted: {:?}", g.life().capital().cash, g.life().refused());
}
