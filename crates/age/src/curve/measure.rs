//! What is measured at each call of a life, and how old the life is then.

use serde::Serialize;

use super::within::Point;
use crate::growing::LOOKS_BACK;
use crate::record::{Call, Life};

/// Uses of tools at the end of a life that are left out: it ends because its last ones went well, or because they did not, and
/// neither is its age.
const LEFT_OUT: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Of the tools it asked for, those that failed.
    Failures,
    /// Of its changes, those that put back an earlier one.
    Undone,
    /// Of the tools it asked for, those it had just asked for the same.
    Repeated,
    /// Of its runs of tests, those that did not pass.
    Unpassed,
    /// Micro-dollars a call.
    Cost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// How full its context is, in fifths.
    Context,
    /// Calls since its birth, on a scale on which each doubling counts alike once the first sixteen are over.
    Calls,
}

impl Measure {
    pub const ALL: [Measure; 5] =
        [Measure::Failures, Measure::Undone, Measure::Repeated, Measure::Unpassed, Measure::Cost];

    /// The name of the measure for people.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Failures => "tools that failed",
            Measure::Undone => "edits undone",
            Measure::Repeated => "tools asked for again",
            Measure::Unpassed => "test runs not passed",
            Measure::Cost => "cost of a call",
        }
    }

    /// Whether it is a rate of something that goes wrong; what a call costs is not.
    pub fn is_rate(self) -> bool {
        self != Measure::Cost
    }

    /// Of one call, if it can be said. What looks back is asked only where there is enough to look back at.
    fn of(self, call: &Call, tools: u32, edits: u32) -> Option<(f64, f64)> {
        let back = LOOKS_BACK as u32;
        let pair = match self {
            Measure::Failures => (f64::from(call.tools), f64::from(call.failed)),
            Measure::Undone if edits >= back => (f64::from(call.edits), f64::from(call.undone)),
            Measure::Repeated if tools >= back => (f64::from(call.tools), f64::from(call.repeated)),
            Measure::Unpassed => (f64::from(call.checks), f64::from(call.checks - call.passed.min(call.checks))),
            Measure::Cost => (1.0, call.cost? as f64),
            Measure::Undone | Measure::Repeated => return None,
        };
        (pair.0 > 0.0).then_some(pair)
    }

    /// All calls of a life that say something about it.
    pub fn points(self, life: &Life, axis: Axis) -> Vec<Point> {
        let all: u32 = life.calls.iter().fold(0, |sum, call| sum.saturating_add(call.tools));
        let (mut tools, mut edits, mut points) = (0_u32, 0_u32, Vec::new());
        for (at, call) in life.calls.iter().enumerate() {
            let late = self.is_rate() && all.saturating_sub(tools) <= LEFT_OUT;
            if let (Some(x), Some((chances, times)), false) = (axis.of(life, at), self.of(call, tools, edits), late) {
                points.push(Point { x, chances, times });
            }
            tools = tools.saturating_add(call.tools);
            edits = edits.saturating_add(call.edits);
        }
        points
    }
}

impl Axis {
    pub const ALL: [Axis; 2] = [Axis::Context, Axis::Calls];

    /// How old a life is at its call of this number.
    fn of(self, life: &Life, call: usize) -> Option<f64> {
        match self {
            Axis::Calls => Some(Axis::scale(call as f64)),
            Axis::Context => {
                let (window, context) = (life.window.filter(|window| *window > 0)?, life.calls[call].context());
                (context > 0).then(|| (5.0 * context as f64 / window as f64).min(5.0))
            }
        }
    }

    /// Calls since birth, on the scale.
    pub(crate) fn scale(calls: f64) -> f64 {
        (1.0 + calls / 16.0).log2()
    }

    /// The parts of a life that are told: what each is called, and where it ends on the scale.
    pub fn parts(self) -> Vec<(String, f64)> {
        match self {
            Axis::Context => {
                (1..=5).map(|fifth| (format!("{}-{} %", fifth * 20 - 20, fifth * 20), f64::from(fifth))).collect()
            }
            Axis::Calls => {
                let ends = [10.0, 20.0, 40.0, 80.0, 160.0, 320.0];
                let from = [1, 11, 21, 41, 81, 161, 321];
                let mut parts: Vec<(String, f64)> =
                    ends.iter().zip(from).map(|(end, from)| (format!("{from}-{end}"), Axis::scale(*end))).collect();
                parts.push((format!("{}-", from[6]), f64::INFINITY));
                parts
            }
        }
    }
}
