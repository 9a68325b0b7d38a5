//! What a compaction changed: the calls behind it against those before it, less what the same calls changed in lives of the
//! same age that had none. What a fresh start changed is read off the first part of the curve.

use serde::Serialize;

use super::measure::Measure;
use super::within::{Estimate, mean};
use crate::record::{Call, Life};

/// Calls that are held against each other, on each side.
const SIDE: usize = 15;
/// Lives without a compaction that are asked for the same age, at least.
const OTHERS: usize = 3;
/// Compactions below which nothing is said.
const LEAST: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fresh {
    pub measure: Measure,
    /// Compactions with enough calls on both sides, and lives of the same age to hold them against.
    pub compactions: usize,
    /// Change of the rate after a compaction, beyond its change in those other lives.
    pub change: Option<Estimate>,
}

/// For each rate that can be told.
pub(crate) fn compactions(lives: &[&Life]) -> Vec<Fresh> {
    [Measure::Failures, Measure::Cost].map(|measure| of(measure, lives)).to_vec()
}

fn of(measure: Measure, lives: &[&Life]) -> Fresh {
    let without: Vec<&&Life> = lives.iter().filter(|life| life.compactions.is_empty()).collect();
    let mut pairs = Vec::new();
    for life in lives {
        for at in life.compactions.iter().map(|at| *at as usize) {
            let others: Vec<f64> = without.iter().filter_map(|other| change(measure, other, at)).collect();
            if let Some(own) = change(measure, life, at).filter(|_| others.len() >= OTHERS) {
                pairs.push((1.0, own - others.iter().sum::<f64>() / others.len() as f64));
            }
        }
    }
    let change = (pairs.len() >= LEAST).then(|| mean(&pairs)).flatten();
    Fresh { measure, compactions: pairs.len(), change }
}

/// The rate behind a call less the rate before it.
fn change(measure: Measure, life: &Life, at: usize) -> Option<f64> {
    let before = life.calls.get(at.checked_sub(SIDE)?..at)?;
    let after = life.calls.get(at..at.checked_add(SIDE)?)?;
    Some(rate(measure, after)? - rate(measure, before)?)
}

fn rate(measure: Measure, calls: &[Call]) -> Option<f64> {
    let (chances, times) = match measure {
        Measure::Cost => {
            let costs: Vec<u64> = calls.iter().filter_map(|call| call.cost).collect();
            (costs.len() as f64, costs.iter().fold(0, |sum: u64, one| sum.saturating_add(*one)) as f64)
        }
        _ => {
            let sum = |of: fn(&Call) -> u32| calls.iter().map(|call| f64::from(of(call))).sum::<f64>();
            (sum(|call| call.tools), sum(|call| call.failed))
        }
    };
    (chances > 0.0).then(|| times / chances)
}
