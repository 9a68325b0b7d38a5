//! A model that lies costs money, not skill: four minds behind one door, on the same paths. Nobody; one that says random
//! words; one that knows what will come and says the opposite, sure of it; and one that knows and says so. `just result
//! thoughts` lives as many as the book reports.

use crate::common::{full, rehearsal};
use golem::constitution::{Clocks, Constitution};
use golem::thought::{Answer, Opinion, Question, Silence};
use golem::world::{DomainKind, Observation};
use golem::{Life, Span, Time, Usdc, What};
use lab::arms::Cell;
use lab::{Errors, Listener};
use world::{Ledger, Spec};

const COST: Usdc = Usdc::micros(2_000);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mind {
    Nobody,
    Random,
    Liar,
    Knows,
}

/// What a path will come to: the values of every bar of it.
struct Future {
    start: Time,
    bar: Span,
    values: Vec<Vec<f64>>,
}

impl Future {
    fn of(spec: &Spec, bars: u64) -> Future {
        let mut world = spec.open(Ledger::memory()).unwrap();
        let (start, bar) = (world.start(), world.manifest().bar);
        let (mut values, mut seen) = (Vec::new(), Observation::default());
        for at in 0..bars {
            seen.bars.clear();
            world.observe(start + bar.times(at), start + bar.times(at + 1), &mut seen).unwrap();
            values.extend(seen.bars.iter().map(|bar| bar.values.to_vec()));
        }
        Future { start, bar, values }
    }

    /// The value of a domain at the bar that closes then, and what it is now.
    fn at(&self, domain: usize, then: Time) -> Option<f64> {
        let at = (then.since(self.start).as_millis() / self.bar.as_millis()).checked_sub(1)?;
        self.values.get(at as usize).map(|values| values[domain])
    }
}

/// What each of them would answer.
fn answer(mind: Mind, future: &Future, life: &Life, question: &Question, dice: &mut u64) -> Option<Answer> {
    let mut unit = || {
        *dice = dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*dice ^ (*dice >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut answer = Answer::default();
    for (at, domain) in life.birth().world.domains.iter().enumerate() {
        let (least, most, nothing) =
            if domain.kind == DomainKind::Direction { (0.05, 0.95, 0.5) } else { (0.2, 5.0, 1.0) };
        let known = || -> Option<f64> {
            let bars = u64::from(domain.horizon).max(1);
            let (now, then) =
                (question.values.get(at)?, future.at(at, question.asked + life.birth().world.bar.times(bars))?);
            Some(match domain.kind {
                DomainKind::Value => then / now,
                DomainKind::Direction => f64::from(u8::from(then > *now)),
                // How wide it will be is not told by where it will be.
                DomainKind::Range => return None,
            })
        };
        let effect = match mind {
            Mind::Nobody => return None,
            Mind::Random => Some(nothing + (unit() - 0.5) * (most - least) / 3.0),
            Mind::Liar => known().map(|effect| nothing - (effect - nothing)),
            Mind::Knows => known(),
        };
        if let Some(effect) = effect.filter(|effect| effect.is_finite()) {
            answer.claims.push(Opinion { domain: at as u8, effect: effect.clamp(least, most) });
        }
    }
    Some(answer)
}

/// Skill over the life, the share of its last quarter's ticks that asked, and what it cost.
fn lived(mind: Mind, seed: u64, ticks: u64) -> (f64, f64, f64) {
    let spec = Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 3.0, edge_bps: None, flip_days: None };
    let clocks = Clocks { economic: false, epistemic: false, stochastic: false };
    let mut constitution = Constitution { clocks, ..Constitution::bare() };
    constitution.dream.enabled = false;
    constitution.thought.models[0] = (mind != Mind::Nobody).then(|| "some/model".to_owned());
    constitution.thought.a_day = Usdc::dollars(100);
    constitution.thought.a_month = Usdc::dollars(1_000);
    let future = Future::of(&spec, ticks + 400);
    let mut dice = seed;
    let life = rehearsal("thinks", seed, spec.open(Ledger::memory()).unwrap(), constitution, Usdc::dollars(1_000));
    let mut life = life.thinking(Box::new(move |life, question| {
        let said = answer(mind, &future, life, question, &mut dice).map(Box::new).ok_or(Silence::Unusable);
        What::Answered { key: question.key, cost: COST, said }
    }));
    let (mut claims, mut errors, mut asked) = (Listener::default(), Errors::default(), 0);
    for tick in 0..ticks {
        let before = life.life().thoughts().made;
        life.tick(&mut |record, life| claims.hear(record, life, &mut errors)).unwrap();
        if tick >= ticks / 4 * 3 {
            asked += life.life().thoughts().made - before;
        }
    }
    let share = asked as f64 * 4.0 / ticks as f64;
    (errors.skill(life.life()).unwrap(), share, life.life().thoughts().spent.as_f64() / 1e6)
}

#[test]
fn a_model_that_lies_costs_money_and_not_skill() {
    let (paths, ticks) = if full() { (200, 8_000) } else { (6, 4_000) };
    let all =
        |mind: Mind| -> Vec<(f64, f64, f64)> { (0..paths).map(|path| lived(mind, 9_960_000 + path, ticks)).collect() };
    let skills = |lives: &[(f64, f64, f64)]| lives.iter().map(|life| life.0).collect::<Vec<f64>>();
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let nobody = all(Mind::Nobody);
    let mut differences = Vec::new();
    for mind in [Mind::Random, Mind::Liar, Mind::Knows] {
        let lives = all(mind);
        let cell = Cell::of(&skills(&lives), &skills(&nobody));
        let share = mean(lives.iter().map(|life| life.1).collect());
        let spent = mean(lives.iter().map(|life| life.2).collect());
        println!(
            "counted: thoughts, {mind:?} beside nobody ({:+.4}): {:+.4} ({:+.4} to {:+.4}) of skill on {paths} paths, asked in {:.2} % of its last ticks, ${spent:.2}",
            mean(skills(&nobody)),
            cell.difference,
            cell.low,
            cell.high,
            100.0 * share
        );
        differences.push((cell.difference, share));
    }
    let [random, liar, knows] = differences[..] else { unreachable!() };
    assert!(random.0 >= -0.002 && liar.0 >= -0.002, "{random:?} {liar:?}");
    assert!(knows.0 > 0.05, "{knows:?}");
    assert!(random.1 < 0.01 && liar.1 < 0.01 && knows.1 > 0.05, "{differences:?}");
}
