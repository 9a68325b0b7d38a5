//! Mood as it is kept.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::laws::{FELT, Laws};

/// Pleasure, arousal, dominance, each from −1 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pad {
    pub pleasure: f64,
    pub arousal: f64,
    pub dominance: f64,
}

/// Happenings that are appraised. Their figures are laws, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Felt {
    Profit,
    Loss,
    GreatLoss,
    Missed,
    RegimeShift,
    SiblingDeath,
    Validated,
    Contradicted,
    /// Money is short.
    Anxiety,
    /// Losing touch.
    Dread,
}

// The laws have a line for each.
const _: () = assert!(Felt::Dread as usize + 1 == FELT);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Daimon {
    pub mood: Pad,
    /// The feeling of the last tick.
    pub last: Pad,
    sum: Pad,
    felt: u32,
}

/// The eight corners of mood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Octant {
    Neutral,
    Joy,
    Trust,
    Serenity,
    Acceptance,
    Anger,
    Fear,
    Disgust,
    Sadness,
}

/// The intensity below which a mood has no name.
const NAMED: f64 = 0.05;

/// The intensity from which a mood is marked.
const MARKED: f64 = 0.2;

/// The intensity from which a mood is strong.
const STRONG: f64 = 0.4;

impl Pad {
    /// The intensity of a mood, from 0 to 1.
    pub fn intensity(self) -> f64 {
        let Pad { pleasure, arousal, dominance } = self;
        ((pleasure * pleasure + arousal * arousal + dominance * dominance) / 3.0).sqrt()
    }

    pub fn octant(self) -> Octant {
        if self.intensity() < NAMED {
            return Octant::Neutral;
        }
        match (self.pleasure >= 0.0, self.arousal >= 0.0, self.dominance >= 0.0) {
            (true, true, true) => Octant::Joy,
            (true, true, false) => Octant::Trust,
            (true, false, true) => Octant::Serenity,
            (true, false, false) => Octant::Acceptance,
            (false, true, true) => Octant::Anger,
            (false, true, false) => Octant::Fear,
            (false, false, true) => Octant::Disgust,
            (false, false, false) => Octant::Sadness,
        }
    }

    /// How much of the usual size this mood takes on: all of it, or less.
    pub fn size_percent(self) -> i64 {
        match self.octant() {
            Octant::Fear | Octant::Sadness => match self.intensity() {
                strong if strong >= STRONG => 60,
                marked if marked >= MARKED => 80,
                _ => 90,
            },
            _ => 100,
        }
    }

    fn mixed(self, keep: f64, other: Pad) -> Pad {
        let mix = |old: f64, new: f64| keep * old + (1.0 - keep) * new;
        Pad {
            pleasure: mix(self.pleasure, other.pleasure),
            arousal: mix(self.arousal, other.arousal),
            dominance: mix(self.dominance, other.dominance),
        }
    }
}

impl Daimon {
    pub(crate) fn feel(&mut self, what: Felt, laws: &Laws) {
        let [pleasure, arousal, dominance] = laws.appraisals[what as usize];
        self.sum.pleasure += pleasure;
        self.sum.arousal += arousal;
        self.sum.dominance += dominance;
        self.felt += 1;
    }

    /// The tick is over: its appraisals together, or none, move the mood.
    pub(super) fn pass(&mut self, keep: f64) {
        let n = f64::from(self.felt.max(1));
        self.last =
            Pad { pleasure: self.sum.pleasure / n, arousal: self.sum.arousal / n, dominance: self.sum.dominance / n };
        self.mood = self.mood.mixed(keep, self.last);
        (self.sum, self.felt) = (Pad::default(), 0);
    }
}

impl fmt::Display for Octant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Octant::Neutral => "neutral",
            Octant::Joy => "joy",
            Octant::Trust => "trust",
            Octant::Serenity => "serenity",
            Octant::Acceptance => "acceptance",
            Octant::Anger => "anger",
            Octant::Fear => "fear",
            Octant::Disgust => "disgust",
            Octant::Sadness => "sadness",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::laws;

    #[test]
    fn every_corner_has_its_name_and_none_takes_on_more_than_usual() {
        let corners = [
            ([1.0, 1.0, 1.0], Octant::Joy),
            ([1.0, 1.0, -1.0], Octant::Trust),
            ([1.0, -1.0, 1.0], Octant::Serenity),
            ([1.0, -1.0, -1.0], Octant::Acceptance),
            ([-1.0, 1.0, 1.0], Octant::Anger),
            ([-1.0, 1.0, -1.0], Octant::Fear),
            ([-1.0, -1.0, 1.0], Octant::Disgust),
            ([-1.0, -1.0, -1.0], Octant::Sadness),
        ];
        for ([p, a, d], octant) in corners {
            for (times, percent) in [(0.01, 100), (0.1, 90), (0.3, 80), (0.9, 60)] {
                let mood = Pad { pleasure: p * times, arousal: a * times, dominance: d * times };
                let named = if times < NAMED { Octant::Neutral } else { octant };
                assert_eq!(mood.octant(), named);
                let cautious = matches!(named, Octant::Fear | Octant::Sadness);
                assert_eq!(mood.size_percent(), if cautious { percent } else { 100 }, "{octant} {times}");
            }
        }
    }

    #[test]
    fn mood_is_nineteen_twentieths_of_the_old_and_fades_when_nothing_happens() {
        let (mut daimon, laws) = (Daimon::default(), laws(1).unwrap());
        daimon.feel(Felt::Profit, laws);
        daimon.pass(0.95);
        assert!((daimon.mood.pleasure - 0.05 * 0.6).abs() < 1e-12 && daimon.last.pleasure == 0.6);
        daimon.feel(Felt::Profit, laws);
        daimon.feel(Felt::Loss, laws);
        daimon.pass(0.95);
        let mixed = (0.6 - 0.5) / 2.0;
        assert!((daimon.mood.pleasure - (0.95 * 0.03 + 0.05 * mixed)).abs() < 1e-12, "two at once are one mixed");
        (0..200).for_each(|_| daimon.pass(0.95));
        assert!(daimon.mood.intensity() < 1e-5);
    }
}
