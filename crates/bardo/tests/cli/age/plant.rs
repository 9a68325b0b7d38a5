//! Lives with a declared age, written down before anything is measured: none, weak, strong, and with what is often taken for
//! age. Everything in them is drawn from a seed.

use age::{Born, Call, End, Harness, Life};

use crate::common::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plant {
    /// Tools fail as often late as early.
    None,
    /// Four points more in a hundred for each hundred calls.
    Weak,
    /// Fifteen.
    Strong,
    /// Tasks differ in length, and long ones are of a kind in which more fails, early and late.
    Length,
    /// Who works longer is on harder ones: a life ends when it has done what it had to, and who fails more takes longer.
    Harder,
    /// A failure brings another: calls of one life are not independent.
    Bursts,
    /// It is given up after four failures in a row.
    Quits,
}

fn chance(dice: &mut Dice) -> f64 {
    dice.roll(1 << 32) as f64 / (1_u64 << 32) as f64
}

/// Drawn from a normal distribution, as good as twelve dice make it.
fn normal(dice: &mut Dice, mean: f64, wide: f64) -> f64 {
    let sum: f64 = (0..12).map(|_| chance(dice)).sum();
    mean + wide * (sum - 6.0)
}

impl Plant {
    /// So many lives, always the same for a seed.
    pub(crate) fn lives(self, many: usize, seed: u64) -> Vec<Life> {
        let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ ((self as u64) << 56));
        (0..many).map(|number| life(&self.failures(&mut dice), number)).collect()
    }

    /// Which calls of a life fail.
    fn failures(self, dice: &mut Dice) -> Vec<bool> {
        let length = (normal(dice, 4.0, 0.8).exp() as usize).clamp(8, 600);
        let own = normal(dice, 0.10_f64.ln(), 0.6).exp().clamp(0.01, 0.6);
        let own = if self == Plant::Length { (0.03 * (length as f64 / 20.0).sqrt()).min(0.5) } else { own };
        let to_do = (length * 4 / 5).max(5);
        let (mut told, mut done, mut row) = (Vec::new(), 0, 0);
        // Bursts as they are in the middle of a life, from the first call on.
        let (calm, burst) = (own * 0.6, 0.55);
        let mut before = chance(dice) < calm / (1.0 - burst + calm);
        loop {
            let hundreds = (told.len() + 1) as f64 / 100.0;
            let rate = match self {
                Plant::Weak => own + 0.04 * hundreds,
                Plant::Strong => own + 0.15 * hundreds,
                Plant::Bursts if before => burst,
                Plant::Bursts => calm,
                _ => own,
            };
            let failed = chance(dice) < rate.min(0.95);
            told.push(failed);
            before = failed;
            row = if failed { row + 1 } else { 0 };
            done += usize::from(!failed);
            let over = match self {
                Plant::Harder => done >= to_do || told.len() >= 1_200,
                Plant::Quits => row >= 4 || told.len() >= length,
                _ => told.len() >= length,
            };
            if over {
                return told;
            }
        }
    }
}

/// A tool for each call, a context that fills up, and a price that stays as it is.
pub(crate) fn life(failures: &[bool], number: usize) -> Life {
    let calls = failures.iter().enumerate().map(|(at, failed)| Call {
        at: at as i64,
        input: 5_000 + 300 * at as u64,
        output: 100,
        cost: Some(10_000),
        tools: 1,
        failed: u32::from(*failed),
        ..Call::default()
    });
    Life {
        v: 1,
        life: format!("{number:016x}"),
        of: None,
        project: None,
        harness: Harness::Spans,
        version: None,
        models: vec!["planted".to_owned()],
        born: Born::Fresh,
        began: 0,
        ended: failures.len() as i64,
        end: End::Finished,
        window: Some(200_000),
        told: None,
        helpers: 0,
        compactions: Vec::new(),
        resumed: Vec::new(),
        rounded: false,
        reward: None,
        calls: calls.collect(),
    }
}
