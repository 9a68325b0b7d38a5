//! What fitness makes of knowing, not knowing, and being sure all the same; in a world of one coin and one level.

use crate::common::{SAFE, START, birth};
use golem::constitution::Constitution;
use golem::mortality::death::Cause;
use golem::mortality::epistemic::{domain_fitness, fitness};
use golem::world::{Bar, DomainKind, DomainSpec, Observation};
use golem::{Golem, Input, Span, Time, Usdc, What};

const TICK: Span = Span::seconds(40);

/// How often the coin falls as its sign says, and whether the level comes back to where it was.
#[derive(Clone, Copy)]
struct World {
    honest_sign: f64,
    level_returns: bool,
}

struct Walk {
    golem: Golem,
    coin: f64,
    level: f64,
    sign: f64,
    dice: u64,
}

impl Walk {
    fn new(change: impl FnOnce(&mut Constitution)) -> Walk {
        let mut birth = birth(Constitution::bare());
        birth.constitution.clocks.stochastic = false;
        birth.constitution.clocks.economic = false;
        birth.constitution.mind.explore_every = 0;
        change(&mut birth.constitution);
        let domain = |name: &str, kind| DomainSpec {
            name: name.into(),
            weight: 0.5,
            kind,
            horizon: 1,
            scale: None,
            level: None,
        };
        birth.world.domains =
            [domain("coin", DomainKind::Direction), domain("level", DomainKind::Value)].into_iter().collect();
        birth.world.features = vec!["sign".into(), "ratio".into()];
        let instincts =
            ["sign > 0 expect coin", "sign < 0 expect coin", "ratio > 1 expect level", "ratio < 1 expect level"];
        birth.world.instincts = instincts.iter().map(|text| format!("when {text} over 1")).collect();
        let (golem, _) = Golem::born(birth, START);
        let mut walk = Walk { golem, coin: 1_000.0, level: 100.0, sign: 1.0, dice: 7 };
        let what = What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::ZERO };
        walk.golem.step(&Input { now: START, roll: SAFE, what }).unwrap();
        walk
    }

    fn chance(&mut self) -> f64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn bar(&mut self, closed: Time, world: World) -> Bar {
        let rises = (self.chance() < world.honest_sign) == (self.sign > 0.0);
        self.coin += if rises { 1.0 } else { -1.0 };
        let noise = self.chance() * 2.0 - 1.0;
        // Either noise around a hundred, or a walk that no rule foresees.
        self.level =
            if world.level_returns { 100.0 + 15.0 * noise } else { (self.level + 2.0 * noise).clamp(50.0, 150.0) };
        self.sign = if self.chance() < 0.5 { 1.0 } else { -1.0 };
        Bar {
            closed,
            values: [self.coin, self.level].into_iter().collect(),
            features: [self.sign, self.level / 100.0].into_iter().collect(),
            unit: Usdc::dollars(10),
        }
    }

    fn ticks(&mut self, ticks: u64, world: World) -> &mut Walk {
        for _ in 0..ticks {
            if self.golem.life().is_dead() {
                return self;
            }
            let due = self.golem.life().due();
            let mut closed = self.golem.life().seen().until.max(START);
            let mut bars = Vec::new();
            while closed < due {
                closed = closed + TICK;
                bars.push(self.bar(closed, world));
            }
            let what = What::Observed(Observation { bars });
            self.golem.step(&Input { now: due, roll: SAFE, what }).unwrap();
        }
        self
    }

    fn fitness(&self) -> (f64, f64, f64) {
        let life = self.golem.life();
        (domain_fitness(life, 0).unwrap_or(0.5), domain_fitness(life, 1).unwrap_or(0.5), fitness(life))
    }
}

const KNOWABLE: World = World { honest_sign: 0.9, level_returns: true };
const COIN_LIES: World = World { honest_sign: 0.5, level_returns: true };
const NOTHING: World = World { honest_sign: 0.5, level_returns: false };

#[test]
fn honest_ignorance_in_one_domain_is_no_fault() {
    let mut walk = Walk::new(|_| {});
    let (coin, level, whole) = walk.ticks(6_000, COIN_LIES).fitness();
    assert!((0.47..0.53).contains(&coin), "it knows nothing of the coin, and says so: {coin}");
    assert!(level > 0.7 && whole > 0.55, "{level} {whole}");
    assert!(!walk.golem.life().is_dead());
}

#[test]
fn staying_sure_of_what_is_no_longer_true_is_punished_and_the_cause_of_death_names_it() {
    let sure = |walk: &mut Walk| walk.ticks(3_000, KNOWABLE).fitness();
    let mut learner = Walk::new(|_| {});
    let (before, _, _) = sure(&mut learner);
    assert!(before > 0.8, "{before}");
    let (after, ..) = learner.ticks(6_000, COIN_LIES).fitness();
    assert!(after > 0.45, "who learns stops being sure: {after}");

    let mut stubborn = Walk::new(|c| c.mind.learn_until = Some(TICK.times(3_000)));
    sure(&mut stubborn);
    let (after, ..) = stubborn.ticks(4_000, COIN_LIES).fitness();
    assert!(after < 0.2, "{after}");
    // Wrong about the coin and about the level: touch is lost, and death says where.
    stubborn.ticks(20_000, NOTHING);
    let death = stubborn.golem.life().death().expect("it does not live on like this");
    let Cause::EpistemicSenescence { failing_domains, final_fitness, .. } = &death.cause else {
        panic!("{:?}", death.cause)
    };
    assert_eq!(failing_domains[..], ["coin", "level"], "{final_fitness}");
}

#[test]
fn repeating_the_naive_forecast_everywhere_is_not_knowing() {
    let mut walk = Walk::new(|_| {});
    let (.., early) = walk.ticks(1_900, NOTHING).fitness();
    assert!((0.45..0.55).contains(&early), "{early}");
    let (.., late) = walk.ticks(4_000, NOTHING).fitness();
    assert!((0.38..0.42).contains(&late), "an echo drifts to 0.40: {late}");
}
