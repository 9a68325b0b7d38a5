//! A mind outside: without a say before it has earned one, held to every word, inside the same cage as everyone.

use crate::common::{Dice, SAFE, START, birth};
use golem::constitution::{Constitution, MindKind};
use golem::event::Event;
use golem::outside::{Expected, Word};
use golem::policy::{self, Proposal, Refusal};
use golem::prediction::Voice;
use golem::rule;
use golem::world::{Bar, DomainKind, DomainSpec, Fate, Observation, Outcome, Quote};
use golem::{Fault, Golem, Input, Life, Owed, Record, Usdc, What};

const PULL: f64 = 0.05;
const HORIZON: u32 = 12;

/// A level that goes back to a hundred, which a mind that knows it can foretell. The worth of a unit goes up for a
/// while and down for a while, so a mind that knows the time knows what holding pays.
struct Lived {
    golem: Golem,
    records: Vec<Record>,
    level: f64,
    dice: Dice,
    looks: u64,
    wave: bool,
}

impl Lived {
    fn new(kind: MindKind, seed: u64) -> Lived {
        let mut birth = birth(Constitution::bare());
        birth.constitution.clocks.stochastic = false;
        birth.constitution.clocks.economic = false;
        birth.constitution.clocks.epistemic = false;
        birth.constitution.dream.enabled = false;
        birth.constitution.mind.kind = kind;
        birth.constitution.mind.explore_every = 0;
        birth.constitution.policy.max_drawdown_bps = 0;
        birth.id.0[15] = seed as u8;
        let domain = DomainSpec {
            name: "level".into(),
            weight: 1.0,
            kind: DomainKind::Value,
            horizon: HORIZON,
            scale: None,
            level: None,
        };
        birth.world.domains = [domain].into_iter().collect();
        birth.world.regime = Some(0);
        birth.world.holding = HORIZON;
        birth.world.features = ["ratio", "other"].map(Into::into).to_vec();
        birth.world.instincts = ["when other > 2 expect level over 12"].map(Into::into).to_vec();
        let (golem, record) = Golem::born(birth, START);
        let mut lived = Lived { golem, records: vec![record], level: 100.0, dice: Dice(seed), looks: 0, wave: false };
        lived.feed(What::Funded { transfer: 1, credit: Usdc::dollars(20), capital: Usdc::dollars(100) }).unwrap();
        lived
    }

    fn life(&self) -> &Life {
        self.golem.life()
    }

    fn feed(&mut self, what: What) -> Result<Vec<Event>, Fault> {
        let now = if matches!(what, What::Observed(_)) { self.life().due() } else { self.life().now() };
        let record = self.golem.step(&Input { now, roll: SAFE, what })?;
        assert_eq!(self.life().unaccounted(), Usdc::ZERO);
        let events = record.as_ref().map(|record| record.events.clone()).unwrap_or_default();
        self.records.extend(record);
        Ok(events)
    }

    /// The bar that comes, and what a mind that is shown it says.
    fn tick(&mut self, mind: impl FnOnce(&Life, f64, u64, &mut Dice) -> Option<Word>) -> Vec<Event> {
        let closed = self.life().due();
        self.level = 100.0 + (1.0 - PULL) * (self.level - 100.0) + 20.0 * (self.dice.chance() - 0.5);
        self.looks += 1;
        let other = self.dice.chance();
        let unit = if self.wave { wave(self.looks) } else { 1_000.0 };
        let bar = Bar {
            closed,
            values: [self.level].into_iter().collect(),
            features: [self.level / 100.0, other].into_iter().collect(),
            unit: Usdc::cents(unit as i64),
        };
        if let Some(word) = mind(self.golem.life(), self.level, self.looks, &mut self.dice) {
            self.feed(What::Spoken(Box::new(word))).unwrap();
        }
        let mut events = self.feed(What::Observed(Observation { bars: vec![bar] })).unwrap();
        loop {
            let Some(owed) = self.golem.owed().next() else { break };
            let unit = self.life().seen().unit;
            let cash = |order: &golem::world::Order| {
                let worth = unit.share(order.units, 1_000_000);
                if order.action == 0 { -worth } else { worth }
            };
            let quote =
                |order: &golem::world::Order| Some(Quote { cash: cash(order), fee: Usdc::ZERO, gas: Usdc::ZERO });
            let act = |order: &golem::world::Order| {
                let units = if order.action == 0 { order.units } else { -order.units };
                Fate::Done(Outcome { units, cash: cash(order), fee: Usdc::ZERO, gas: Usdc::ZERO })
            };
            let what = match &owed {
                Owed::Duty(duty) => duty.barely(self.life()),
                Owed::Errand(errand) => errand.answered(quote, act),
            };
            events.extend(self.feed(what).unwrap());
        }
        events
    }

    fn skill(&self) -> f64 {
        self.life().epistemic().domains[0].skill()
    }
}

/// In cents, over two days of looks.
fn wave(look: u64) -> f64 {
    let at = look % 48;
    1_000.0 + 10.0 * if at < 24 { at } else { 48 - at } as f64
}

fn expects(value: f64) -> Option<Word> {
    Some(Word { claims: vec![Expected { domain: 0, value }], ..Word::default() })
}

/// What is left by its horizon of how far the level is from a hundred.
fn left() -> f64 {
    (0..HORIZON).fold(1.0, |left, _| left * (1.0 - PULL))
}

/// The level at its horizon.
fn knows(level: f64) -> Option<Word> {
    expects(100.0 + left() * (level - 100.0))
}

/// The other way, as far.
fn lies(level: f64) -> Option<Word> {
    expects(level + (level - 100.0) * (1.0 - left()))
}

#[test]
fn beside_the_rules_it_earns_its_say_and_one_that_lies_never_has_any() {
    let lived = |mind: &dyn Fn(f64) -> Option<Word>| {
        let mut lived = Lived::new(MindKind::Rules, 1);
        let mut first = None;
        for tick in 0..6_000_u64 {
            lived.tick(|_, level, _, _| mind(level));
            if first.is_none() && lived.life().say(0, Voice::Outside) > 0.0 {
                first = Some(tick);
            }
        }
        (lived.skill(), first, lived)
    };
    let (alone, never, _) = lived(&|_| None);
    let (helped, first, told) = lived(&knows);
    let (lied_to, none, liar) = lived(&lies);
    println!(
        "counted: skill {alone:+.3} alone, {helped:+.3} with a mind that knows, heard from tick {first:?}; {lied_to:+.3} with a liar"
    );
    assert_eq!((never, none), (None, None), "nothing false has a say");
    assert!((u64::from(HORIZON) + 5..2_000).contains(&first.unwrap()), "{first:?}");
    assert!(helped > alone + 0.1 && (lied_to - alone).abs() < 1e-9, "{alone} {helped} {lied_to}");
    assert!(told.life().outside().standing[0].skill() > 0.1 && liar.life().outside().standing[0].skill() < 0.0);
}

#[test]
fn as_the_only_voice_it_speaks_from_the_first_and_is_followed_as_far_as_it_is_right() {
    let lived = |mind: &dyn Fn(f64) -> Option<Word>| {
        let mut lived = Lived::new(MindKind::Outside, 2);
        (0..6_000).for_each(|_| drop(lived.tick(|_, level, _, _| mind(level))));
        lived
    };
    let (knows, lies, silent) = (lived(&knows), lived(&lies), lived(&|_| None));
    let followed = |lived: &Lived| lived.life().trust()[0].followed();
    assert!(knows.skill() > 0.1 && followed(&knows) > 0.9, "{} {}", knows.skill(), followed(&knows));
    assert!(lies.skill() > -0.05 && followed(&lies) < 0.1, "{} {}", lies.skill(), followed(&lies));
    assert!(knows.life().epistemic().domains[0].resolved > 5_900);
    assert_eq!(silent.life().epistemic().domains[0].resolved, 0, "what nobody claims costs nothing");
    // What is long past counts for no more than it does with rules.
    assert!(knows.life().epistemic().domains[0].weight < knows.life().fitness_window() * 1.1);
}

#[test]
fn a_word_is_for_the_tick_it_is_said_before_and_for_no_other() {
    let mut lived = Lived::new(MindKind::Outside, 3);
    let claimed =
        |events: &[Event]| events.iter().any(|event| matches!(event, Event::Rule(rule::Event::Predicted { .. })));
    (0..20).for_each(|_| drop(lived.tick(|_, level, _, _| knows(level))));
    assert!(!claimed(&lived.tick(|_, _, _, _| None)));
    assert!(claimed(&lived.tick(|_, level, _, _| knows(level))));
    // Said twice before one tick, the last word is the word.
    let (first, last) = (lived.level * 2.0, lived.level * 0.99);
    lived.feed(What::Spoken(Box::new(expects(first).unwrap()))).unwrap();
    let events = lived.tick(|_, _, _, _| expects(last));
    let said = events.iter().find_map(|event| match event {
        Event::Rule(rule::Event::Predicted { far, .. }) => Some(*far),
        _ => None,
    });
    assert!(said.unwrap() < lived.level as f32 * 0.5, "{said:?}");
}

#[test]
fn what_cannot_be_said_changes_nothing() {
    let mut lived = Lived::new(MindKind::Rules, 4);
    (0..5).for_each(|_| drop(lived.tick(|_, level, _, _| knows(level))));
    let before = lived.life().clone();
    let claims = |claims: &[(u8, f64)]| Word {
        claims: claims.iter().map(|(domain, value)| Expected { domain: *domain, value: *value }).collect(),
        ..Word::default()
    };
    let proposal = |action, size| Word { proposal: Some(Proposal { action, size }), ..Word::default() };
    for wrong in [
        claims(&[(1, 1.0)]),
        claims(&[(0, f64::NAN)]),
        claims(&[(0, f64::INFINITY)]),
        claims(&[(0, 1e300)]),
        claims(&[(0, 1.0), (0, 2.0)]),
        proposal(9, 0.5),
        proposal(0, 0.0),
        proposal(0, 1.5),
        proposal(0, f64::NAN),
        Word { rules: vec!["buy everything".into()], ..Word::default() },
        Word { rules: vec!["when other > 1 expect level over 12".into(); 4], ..Word::default() },
        Word { note: "x".repeat(281), ..Word::default() },
    ] {
        assert!(matches!(lived.feed(What::Spoken(Box::new(wrong.clone()))), Err(Fault::Word(_))), "{wrong:?}");
    }
    let late = Input { now: lived.life().due(), roll: SAFE, what: What::Spoken(Box::default()) };
    assert_eq!(lived.golem.step(&late), Err(Fault::Untimely), "it speaks of now");
    assert_eq!(*lived.life(), before);
}

/// Exposure is for minds that have shown that holding pays when they say so; and holdings are given up in the end.
#[test]
fn what_it_would_do_passes_the_whole_cage() {
    let lived = |mind: &dyn Fn(u64, &mut Dice) -> bool| {
        let mut lived = Lived::new(MindKind::Outside, 5);
        lived.wave = true;
        let (mut refused, mut acted, mut first) = (Vec::new(), 0, None);
        for tick in 0..6_000_u64 {
            let events = lived.tick(|life, level, look, dice| {
                let buys = mind(look, dice) && life.capital().holding == 0;
                let proposal = buys.then_some(Proposal { action: 0, size: 0.02 });
                Some(Word { proposal, ..knows(level).unwrap() })
            });
            for event in events {
                match event {
                    Event::Policy(policy::Event::Refused { rule }) if !refused.contains(&rule) => refused.push(rule),
                    Event::Policy(policy::Event::Settled { outcome, .. }) => {
                        acted += 1;
                        first.get_or_insert(tick);
                        assert_ne!(outcome.units, 0);
                    }
                    _ => {}
                }
            }
        }
        (refused, acted, first, lived)
    };
    // It buys where what it buys goes up for as long as it is held; or whenever a coin says so.
    let (refused, acted, first, knowing) = lived(&|look, _| look % 48 < 4);
    println!("counted: {acted} actions from tick {first:?} on, refused by {refused:?}");
    assert!(
        refused.contains(&Refusal::Unproven) && first.unwrap() > 500 && acted > 20,
        "{refused:?} {first:?} {acted}"
    );
    assert!(knowing.life().capital().realised.is_positive(), "{:?}", knowing.life().capital());
    let (refused, acted, ..) = lived(&|_, dice| dice.below(12) == 0);
    assert_eq!(acted, 0, "a coin has no edge: {refused:?}");
}

#[test]
fn what_was_said_folds_to_the_same_life() {
    for kind in [MindKind::Rules, MindKind::Outside] {
        let mut lived = Lived::new(kind, 6);
        lived.wave = true;
        for tick in 0..2_000_u64 {
            lived.tick(|_, level, look, dice| match dice.below(4) {
                0 => None,
                1 => Some(Word { note: format!("at {tick}"), ..lies(level).unwrap() }),
                _ => Some(Word {
                    proposal: (look % 48 < 4).then_some(Proposal { action: 0, size: 0.02 }),
                    rules: vec![format!("when ratio > {} expect level x0.9 over 12", 1.0 + look as f64 / 4_000.0)],
                    ..knows(level).unwrap()
                }),
            });
        }
        let mut records = lived.records.iter();
        let mut folded = Golem::reborn(records.next().unwrap()).unwrap();
        records.for_each(|record| folded.fold(record).unwrap());
        assert_eq!(folded.life(), lived.life());
    }
}
