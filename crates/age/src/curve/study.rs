//! A study of lives: all of them, or each model's, harness's or project's by itself.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fresh::{Fresh, compactions};
use super::measure::{Axis, Measure};
use super::survival::Survival;
use super::verdict::{Finding, Verdict, findings};
use super::when::{When, when};
use super::within::{Estimate, Point, difference};
use crate::record::{Born, Harness, Life};

/// By what lives are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    #[default]
    All,
    Model,
    Harness,
    Project,
}

/// Options of a study.
#[derive(Clone, Copy, Debug, Default)]
pub struct StudyOptions {
    pub by: Group,
    /// Cost of a hand-over, in micro-dollars, if it is not to be read off the lives.
    pub handover: Option<f64>,
    /// Whether to count lives that another life started; that life decides when they end, so they are left out by default.
    pub helpers: bool,
}

/// A rate in one part of life.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateRow {
    pub measure: Measure,
    pub axis: Axis,
    pub part: String,
    /// Lives that have something there, how many chances there were, and how often it happened.
    pub lives: usize,
    pub chances: f64,
    pub rate: Option<f64>,
    /// Against the first part, in lives that have both.
    pub same_lives: Option<Estimate>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    pub of: String,
    pub lives: usize,
    pub helpers: usize,
    pub calls: usize,
    /// In micro-dollars at the book's prices, and how many calls have no price.
    pub cost: u64,
    pub unpriced: usize,
    /// By harness.
    pub harnesses: BTreeMap<Harness, usize>,
    pub rows: Vec<RateRow>,
    pub findings: Vec<Finding>,
    pub survival: Survival,
    pub compactions: Vec<Fresh>,
    pub when: Option<When>,
}

impl Study {
    /// One for each group, the largest first.
    pub fn of(lives: &[Life], asked: &StudyOptions) -> Vec<Study> {
        let mut groups: BTreeMap<String, Vec<&Life>> = BTreeMap::new();
        for life in lives {
            let group = match asked.by {
                Group::All => "all".to_owned(),
                Group::Model => life.model().to_owned(),
                Group::Harness => life.harness.name().to_owned(),
                Group::Project => life.project.clone().unwrap_or_else(|| "unknown".to_owned()),
            };
            groups.entry(group).or_default().push(life);
        }
        let mut studies: Vec<Study> = groups.into_iter().map(|(of, lives)| Study::one(of, &lives, asked)).collect();
        studies.sort_by_key(|study| std::cmp::Reverse(study.calls));
        studies
    }

    fn one(of: String, lives: &[&Life], asked: &StudyOptions) -> Study {
        let own: Vec<&Life> = lives.iter().copied().filter(|life| asked.helpers || life.born != Born::Helper).collect();
        let mut harnesses = BTreeMap::new();
        for life in lives {
            *harnesses.entry(life.harness).or_default() += 1;
        }
        let findings = findings(&own);
        let ages = |measure: Measure| {
            findings
                .iter()
                .any(|found| found.measure == measure && found.axis == Axis::Calls && found.verdict == Verdict::Age)
        };
        let when = when(&own, ages(Measure::Failures), ages(Measure::Cost), asked.handover);
        let calls = || lives.iter().flat_map(|life| &life.calls);
        Study {
            of,
            lives: own.len(),
            helpers: lives.len() - own.len(),
            calls: calls().count(),
            cost: lives.iter().map(|life| life.cost()).fold(0, u64::saturating_add),
            unpriced: calls().filter(|call| call.cost.is_none()).count(),
            harnesses,
            rows: rows(&own),
            survival: Survival::of(&own),
            compactions: compactions(&own),
            when,
            findings,
        }
    }

    /// The verdict of the whole study: age, if anything that goes wrong rises with it.
    pub fn verdict(&self) -> Verdict {
        let found =
            |verdict: Verdict| self.findings.iter().any(|found| found.measure.is_rate() && found.verdict == verdict);
        let order = [Verdict::Age, Verdict::Unsure, Verdict::NoSign];
        order.into_iter().find(|verdict| found(*verdict)).unwrap_or(Verdict::TooFew)
    }
}

fn rows(lives: &[&Life]) -> Vec<RateRow> {
    let mut rows = Vec::new();
    for measure in Measure::ALL {
        for axis in Axis::ALL {
            let points: Vec<Vec<Point>> = lives.iter().map(|life| measure.points(life, axis)).collect();
            rows.extend(parts(measure, axis, &points));
        }
    }
    rows
}

fn parts(measure: Measure, axis: Axis, points: &[Vec<Point>]) -> Vec<RateRow> {
    let parts = axis.parts();
    let first_end = parts[0].1;
    let mut from = f64::NEG_INFINITY;
    let mut rows = Vec::new();
    for (at, (part, end)) in parts.into_iter().enumerate() {
        // The last fifth has what fills all of it.
        let last = axis == Axis::Context && at == 4;
        let within = |x: f64| x >= from && (x < end || last);
        let here = |life: &&Vec<Point>| life.iter().any(|point| within(point.x));
        let all = points.iter().flatten().filter(|point| within(point.x));
        let (chances, times) = all.fold((0.0, 0.0), |(many, sum), point| (many + point.chances, sum + point.times));
        rows.push(RateRow {
            measure,
            axis,
            part,
            lives: points.iter().filter(here).count(),
            chances,
            rate: (chances > 0.0).then(|| times / chances),
            same_lives: if at == 0 { None } else { difference(points, |x| x < first_end, within) },
        });
        from = end;
    }
    rows
}
