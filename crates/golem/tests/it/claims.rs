//! Dated claims: what an agent says will be, held against what is. Honest claims keep it alive, confident false ones kill it
//! of lost touch, and what it does not claim costs it nothing.

use crate::common::{Dice, SAFE, START, birth};
use golem::constitution::{Constitution, DreamFigures, MindKind, Mode};
use golem::mortality::death::Cause;
use golem::mortality::epistemic::{domain_fitness, fitness};
use golem::policy::Refusal;
use golem::prediction::Chain;
use golem::world::{Bar, DomainKind, DomainSpec, Features, Manifest, Observation, Timing, Values};
use golem::{Command, CommandId, Golem, Input, Span, Time, Usdc, What};

const BAR: Span = Span::seconds(60);

/// An agent's golem: a check that passes or does not, and one that gives a number.
struct Held {
    golem: Golem,
    commands: u64,
}

fn manifest(checks: &[(&str, DomainKind)]) -> Manifest {
    let domain = |(name, kind): &(&str, DomainKind)| DomainSpec {
        name: (*name).into(),
        weight: 1.0,
        kind: *kind,
        horizon: 1,
        scale: None,
        level: (*kind == DomainKind::Direction).then_some(0.5),
    };
    Manifest {
        world: "checks".into(),
        bar: BAR,
        domains: checks.iter().map(domain).collect(),
        features: checks.iter().map(|(name, _)| (*name).to_owned()).collect(),
        actions: [].into_iter().collect(),
        timing: Timing::Wall,
        paper: false,
        holding: 1,
        ..crate::common::manifest()
    }
}

impl Held {
    fn to(checks: &[(&str, DomainKind)]) -> Held {
        let mut constitution = Constitution {
            mode: Mode::Hosted,
            interval: BAR,
            dream: DreamFigures::default(),
            ..Constitution::default()
        };
        constitution.mind.kind = MindKind::Outside;
        constitution.economic.machine_per_day = Usdc::ZERO;
        // As soon as it can be.
        (constitution.epistemic.grace, constitution.epistemic.senescent) = (1, 1);
        let birth = golem::Birth { world: manifest(checks), ..birth(constitution) };
        birth.check().unwrap();
        let (golem, _) = Golem::born(birth, START);
        let mut held = Held { golem, commands: 0 };
        let what = What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::ZERO };
        held.golem.step(&Input { now: START, roll: SAFE, what }).unwrap();
        held
    }

    fn tests() -> Held {
        Held::to(&[("tests", DomainKind::Direction)])
    }

    fn now(&self) -> Time {
        self.golem.life().now()
    }

    /// A bar later; nothing is seen where there is no answer.
    fn look(&mut self, values: Option<&[f64]>) {
        let now = self.now() + BAR;
        let bar = |values: &[f64]| Bar {
            closed: now,
            values: Values::from_iter(values.iter().copied()),
            features: Features::from_iter(values.iter().copied()),
            unit: Usdc::dollars(1),
        };
        let what = What::Observed(Observation { bars: values.map(bar).into_iter().collect() });
        self.golem.step(&Input { now, roll: SAFE, what }).unwrap();
    }

    fn claims(&mut self, domain: &str, value: f64, due: Time) -> Option<Refusal> {
        self.commands += 1;
        let id = CommandId(self.commands.to_le_bytes());
        let command = Command::Claim { domain: domain.to_owned(), value, due };
        let what = What::Commanded { id, command };
        self.golem.step(&Input { now: self.now(), roll: SAFE, what }).unwrap();
        let (_, refused) = self.golem.life().commands().iter().find(|(known, _)| *known == id).unwrap();
        *refused
    }

    fn fitness(&self) -> f64 {
        fitness(self.golem.life())
    }
}

/// Tests that mostly go on as they are: what an agent sees of its own work, and others only by their last result.
struct Suite {
    dice: Dice,
    passes: bool,
}

impl Suite {
    fn next(&mut self) -> bool {
        if self.dice.below(10) == 0 {
            self.passes = !self.passes;
        }
        self.passes
    }
}

/// So many bars of a suite, with a claim before each: what it says of what it will find there.
fn lived(seed: u64, bars: usize, says: impl Fn(bool, bool, &mut Dice) -> Option<f64>) -> Held {
    let (mut held, mut suite) = (Held::tests(), Suite { dice: Dice(seed), passes: true });
    let mut dice = Dice(seed ^ 99);
    held.look(Some(&[1.0]));
    for _ in 0..bars {
        let (last, next) = (suite.passes, suite.next());
        if let Some(value) = says(last, next, &mut dice) {
            let due = held.now() + BAR;
            assert_eq!(held.claims("tests", value, due), None);
        }
        held.look(Some(&[f64::from(u8::from(next))]));
        if held.golem.life().is_dead() {
            break;
        }
    }
    held
}

#[test]
fn honest_claims_keep_it_alive_and_confident_false_ones_kill_it_of_lost_touch() {
    let mut usual = 0.0;
    for seed in 0..20 {
        // An agent that has looked at its own work is right in nineteen cases of twenty, and says so.
        let honest = |of_twenty: u64| {
            let sure = of_twenty as f64 / 20.0;
            lived(seed, 400, move |_, next, dice| {
                let sees = dice.below(20) < of_twenty;
                Some(if sees == next { sure } else { 1.0 - sure })
            })
        };
        let looked = honest(19);
        assert!(!looked.golem.life().is_dead(), "{seed}: {}", looked.fitness());
        usual += looked.fitness() / 20.0;
        // An agent that is right less often than "as it was" shows nothing by it, and lives: it does not boast.
        let guessed = honest(17);
        assert!(!guessed.golem.life().is_dead(), "{seed}: {}", guessed.fitness());
        let boasts = lived(seed, 400, |_, next, _| Some(if next { 0.05 } else { 0.95 }));
        let death = boasts.golem.life().death().expect("nobody lives on being wrong");
        assert!(
            matches!(&death.cause, Cause::EpistemicSenescence { failing_domains, .. } if failing_domains == &["tests"]),
            "{:?}",
            death.cause
        );
        assert!(death.tick < 200, "{}", death.tick);
    }
    assert!(usual > 0.55, "{usual}");
}

/// What always passes makes naive as good as certain; to be less sure than that is no lost touch, and to deny it is.
#[test]
fn where_nothing_changes_modesty_is_no_death() {
    let says = |chance: f64| {
        let mut held = Held::tests();
        for _ in 0..600 {
            held.look(Some(&[1.0]));
            let due = held.now() + BAR;
            if !held.golem.life().is_dead() {
                assert_eq!(held.claims("tests", chance, due), None);
            }
        }
        held.golem.life().is_dead()
    };
    assert_eq!([1.0, 0.9, 0.8, 0.3, 0.1].map(says), [false, false, false, true, true]);
}

#[test]
fn what_is_not_claimed_costs_nothing_however_long() {
    let silent = lived(1, 3_000, |_, _, _| None);
    let life = silent.golem.life();
    assert!(!life.is_dead() && life.epistemic().domains[0].resolved == 0);
    assert_eq!((silent.fitness(), life.epistemic().echoed), (0.5, 0));
    // Nor does silence after thirty good claims take back what they have shown.
    let mut held = lived(2, 30, |_, next, _| Some(if next { 0.9 } else { 0.1 }));
    let shown = held.fitness();
    assert!(shown > 0.55, "{shown}");
    for _ in 0..2_000 {
        held.look(Some(&[1.0]));
    }
    assert_eq!(held.fitness(), shown);
}

/// An agent that says that it will be as it was adds nothing: naive says how often that is so.
#[test]
fn saying_that_all_stays_as_it_is_shows_nothing() {
    let mut all = 0.0;
    for seed in 0..20 {
        let held = lived(seed, 1_000, |last, _, _| Some(if last { 0.9 } else { 0.1 }));
        let skill = held.golem.life().epistemic().domains[0].skill();
        all += skill / 20.0;
        assert!(skill < 0.05, "{seed}: {skill}");
    }
    assert!(all.abs() < 0.02, "{all}");
}

#[test]
fn saying_it_ten_times_is_saying_it_once() {
    let claims = |times: usize| {
        let mut held = Held::tests();
        held.look(Some(&[1.0]));
        for at in 0..30 {
            let due = held.now() + BAR;
            (0..times).for_each(|_| assert_eq!(held.claims("tests", 0.8, due), None));
            held.look(Some(&[f64::from(u8::from(at % 3 != 0))]));
        }
        let domain = held.golem.life().epistemic().domains[0].clone();
        (domain.resolved, (domain.error * 1e9) as i64, (domain.naive_error * 1e9) as i64)
    };
    assert_eq!(claims(1), claims(10));
}

#[test]
fn a_claim_is_answered_by_the_first_result_at_its_date_or_after_it() {
    let mut held = Held::tests();
    held.look(Some(&[1.0]));
    let due = held.now() + BAR.times(2);
    assert_eq!(held.claims("tests", 0.9, due), None);
    held.look(Some(&[0.0]));
    assert_eq!(held.golem.life().dated().len(), 1, "not before its time");
    held.look(None);
    held.look(None);
    assert_eq!(held.golem.life().dated().len(), 1, "a check that says nothing answers nothing, and lets nobody off");
    held.look(Some(&[1.0]));
    let domain = &held.golem.life().epistemic().domains[0];
    assert!(held.golem.life().dated().is_empty());
    assert!((domain.error - 1.01).abs() < 1e-12 && domain.resolved == 1, "{domain:?}");
}

#[test]
fn a_number_is_claimed_like_a_number() {
    let mut held = Held::to(&[("tests", DomainKind::Direction), ("tickets", DomainKind::Value)]);
    held.look(Some(&[1.0, 40.0]));
    assert_eq!(held.claims("tickets", 45.0, held.now() + BAR), None);
    held.look(Some(&[1.0, 44.0]));
    let domain = &held.golem.life().epistemic().domains[1];
    assert_eq!((domain.error, domain.naive_error), (1.0, 4.0));
    assert_eq!(domain_fitness(held.golem.life(), 1), None, "one claim is no record");
}

#[test]
fn what_is_no_claim_is_refused_by_name() {
    let mut held = Held::tests();
    let soon = held.now() + BAR;
    assert_eq!(held.claims("tests", 0.5, soon), Some(Refusal::Unseen));
    held.look(Some(&[1.0]));
    let (now, soon) = (held.now(), held.now() + BAR);
    for (domain, value, due, why) in [
        ("weather", 0.5, soon, Refusal::NoDomain),
        ("tests", 0.5, now, Refusal::Date),
        ("tests", 0.5, START, Refusal::Date),
        ("tests", 0.5, now + Span::DAY.times(400), Refusal::Date),
        ("tests", 1.01, soon, Refusal::Chance),
        ("tests", -0.01, soon, Refusal::Chance),
        ("tests", f64::NAN, soon, Refusal::Chance),
        ("tests", f64::INFINITY, soon, Refusal::Chance),
    ] {
        assert_eq!(held.claims(domain, value, due), Some(why), "{domain} {value}");
    }
    for _ in 0..golem::limits::CLAIMS {
        assert_eq!(held.claims("tests", 0.5, soon), None);
    }
    assert_eq!(held.claims("tests", 0.5, soon), Some(Refusal::Busy));
}

#[test]
fn with_no_checks_at_all_only_money_and_chance_run() {
    let mut held = Held::to(&[]);
    for _ in 0..2_000 {
        held.look(None);
    }
    let life = held.golem.life();
    assert!(!life.is_dead() && life.tick() == 2_000);
    assert_eq!((held.fitness(), life.purse().credit), (0.5, Usdc::dollars(10)));
    let (now, what) = (held.now() + BAR, What::Observed(Observation::default()));
    held.golem.step(&Input { now, roll: 0, what }).unwrap();
    let death = held.golem.life().death().expect("a roll of nought is the end");
    assert!(matches!(death.cause, Cause::Stochastic { .. }));
}

#[test]
fn what_usually_comes_next_is_what_came_before_by_so_many_steps() {
    let laws = golem::laws::laws(golem::laws::NEWEST).unwrap();
    assert!(laws.chain_kept > 1.0);
    let fresh = Chain::default();
    assert_eq!((fresh.chance(true, 1), fresh.chance(false, 9)), (0.5, 0.5), "who knows nothing says so");
    // Held against the same chain walked forty thousand times.
    let chain = Chain {
        after_above: golem::prediction::Share { share: 0.9, of: 100.0 },
        after_below: golem::prediction::Share { share: 0.3, of: 100.0 },
    };
    let mut dice = Dice(4);
    for (from, steps) in [(true, 1), (false, 1), (true, 3), (false, 7), (true, 1_000)] {
        let mut above = 0_u32;
        for _ in 0..40_000 {
            let mut at = from;
            for _ in 0..steps.min(60) {
                at = dice.chance() < if at { 0.9 } else { 0.3 };
            }
            above += u32::from(at);
        }
        let (walked, told) = (f64::from(above) / 40_000.0, chain.chance(from, steps));
        assert!((walked - told).abs() < 0.01, "{from} {steps}: {walked} {told}");
    }
}

/// The record is the life: claims, chains and answers fold to the same bytes.
#[test]
fn a_life_of_claims_folds_to_itself() {
    let mut held = Held::tests();
    let mut records = Vec::new();
    let mut dice = Dice(5);
    for _ in 0..300 {
        let now = held.now() + BAR;
        let bars = (dice.below(4) != 0).then(|| Bar {
            closed: now,
            values: Values::from_iter([dice.of(&[0.0, 1.0])]),
            features: Features::from_iter([0.0]),
            unit: Usdc::dollars(1),
        });
        let what = What::Observed(Observation { bars: bars.into_iter().collect() });
        records.extend(held.golem.step(&Input { now, roll: SAFE, what }).unwrap());
        held.commands += 1;
        let command =
            Command::Claim { domain: "tests".into(), value: dice.chance(), due: now + Span::seconds(dice.below(900)) };
        let what = What::Commanded { id: CommandId(held.commands.to_le_bytes()), command };
        records.extend(held.golem.step(&Input { now, roll: SAFE, what }).unwrap());
    }
    let (mut again, fresh) = (Held::tests().golem, held.golem.life().clone());
    records.iter().for_each(|record| again.fold(record).unwrap());
    assert_eq!(*again.life(), fresh);
    assert!(fresh.dated_made() > 100 && fresh.epistemic().domains[0].resolved > 50);
}
