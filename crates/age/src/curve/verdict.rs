//! What is said about age, and from which numbers on. They were chosen on planted lives: `docs/age.md` tells with which result.

use serde::Serialize;

use super::measure::{Axis, Measure};
use super::within::{Estimate, Trend, trend};
use crate::record::Life;

/// Fewer lives than that say nothing, however long they are: by how many of the same length would say as much.
const LEAST_LIVES: f64 = 8.0;
/// And fewer times that it happened.
const LEAST_TIMES: f64 = 50.0;
/// How often something may be found where there is nothing, over all that is asked.
const FALSE: f64 = 0.025;
/// A rise of the rate, from the tenth call to the two hundredth, that is worth hearing of.
const WORTH: f64 = 0.05;
/// Between which calls a rise is told, and between which fifths.
const CALLS: (f64, f64) = (10.0, 200.0);
const FIFTHS: (f64, f64) = (0.5, 4.5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Too few lives, or too few times.
    TooFew,
    /// Enough, and no rise that is worth hearing of.
    NoSign,
    /// Enough, and yet it could be either.
    Unsure,
    /// The measure rises with age, within the same lives.
    Age,
}

/// The finding about one measure along one scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub measure: Measure,
    pub axis: Axis,
    pub verdict: Verdict,
    pub trend: Option<Trend>,
    /// Rise of the rate from early to late, with an interval that holds nineteen times in twenty.
    pub rise: Option<Estimate>,
}

/// Everything that is asked about these lives. The chance of a false alarm is shared among what can be asked at all.
pub(crate) fn findings(lives: &[&Life]) -> Vec<Finding> {
    let asked: Vec<(Measure, Axis)> =
        Measure::ALL.into_iter().flat_map(|measure| Axis::ALL.map(|axis| (measure, axis))).collect();
    let trends: Vec<Option<Trend>> = asked
        .iter()
        .map(|(measure, axis)| {
            let points: Vec<_> = lives.iter().map(|life| measure.points(life, *axis)).collect();
            trend(&points)
        })
        .collect();
    let can = |measure: Measure, found: &Option<Trend>| found.is_some_and(|found| is_enough(measure, &found));
    let many =
        asked.iter().zip(&trends).filter(|((measure, _), found)| measure.is_rate() && can(*measure, found)).count();
    asked.iter().zip(trends).map(|((measure, axis), found)| one(*measure, *axis, found, many)).collect()
}

fn is_enough(measure: Measure, found: &Trend) -> bool {
    found.effective >= LEAST_LIVES && (!measure.is_rate() || found.times >= LEAST_TIMES)
}

fn one(measure: Measure, axis: Axis, found: Option<Trend>, many: usize) -> Finding {
    let (from, to) = match axis {
        Axis::Calls => (Axis::scale(CALLS.0), Axis::scale(CALLS.1)),
        Axis::Context => FIFTHS,
    };
    let rise = found.map(|found| {
        let Estimate { value, low, high } = found.interval(FALSE);
        Estimate { value: value * (to - from), low: low * (to - from), high: high * (to - from) }
    });
    let verdict = match (found, rise) {
        (Some(found), Some(rise)) if is_enough(measure, &found) => {
            // What a call costs is asked by itself.
            let share = FALSE / if measure.is_rate() { many.max(1) as f64 } else { 1.0 };
            if found.interval(share).low > 0.0 {
                Verdict::Age
            } else if measure.is_rate() && rise.high > WORTH {
                Verdict::Unsure
            } else {
                Verdict::NoSign
            }
        }
        _ => Verdict::TooFew,
    };
    Finding { measure, axis, verdict, trend: found, rise }
}
