//! The kinds of stressors in one table, how each grows, and the bands of load.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::time::Span;

/// How severe a stressor is when it begins.
pub const ONSET: f64 = 0.20;

/// A stressor that returns within this time is as severe as it was.
pub const RELAPSE: Span = Span::DAY;

/// Consecutive cycles of crisis that break the circuit.
pub const BREAKER_CYCLES: u8 = 3;

/// How long suspended stressors stay so.
pub const BREAKER_REST: Span = Span::DAY;

/// Places in which a kind is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    EachDomain,
    WholeLife,
    Both,
}

impl About {
    pub(crate) fn each_domain(self) -> bool {
        matches!(self, About::EachDomain | About::Both)
    }

    pub(crate) fn whole_life(self) -> bool {
        matches!(self, About::WholeLife | About::Both)
    }

    const fn places(self) -> usize {
        match self {
            About::EachDomain => limits::DOMAINS,
            About::WholeLife => 1,
            About::Both => limits::DOMAINS + 1,
        }
    }
}

/// The row of a kind.
struct Row {
    name: &'static str,
    about: About,
    rate: f64,
}

macro_rules! kinds {
    ($($kind:ident $name:literal $about:ident $rate:literal;)*) => {
        /// A kind of stressor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kind {
            $($kind,)*
        }

        const ROWS: &[Row] = &[$(Row { name: $name, about: About::$about, rate: $rate },)*];

        impl Kind {
            pub const ALL: [Kind; ROWS.len()] = [$(Kind::$kind,)*];
        }
    };
}

// The one table: a name, what it can be about, and its usual growth a day. Records count kinds in this order, so a new
// one goes to the end. Beside its row a kind has its reading (`read::find`), its words (`golem::stress::words`) and its
// key of the settings; the compiler asks for the first two.
kinds! {
    RepeatedFailure   "repeated_failure"   EachDomain 0.040;
    Futility          "futility"           Both       0.025;
    Invisibility      "invisibility"       WholeLife  0.030;
    IdentityViolation "identity_violation" WholeLife  0.060;
    ExistentialThreat "existential_threat" WholeLife  0.070;
    Purposelessness   "purposelessness"    WholeLife  0.035;
}

/// Stressors at once: one of every kind in every domain it can be about.
pub(crate) const PLACES: usize = {
    let (mut places, mut at) = (0, 0);
    while at < ROWS.len() {
        places += ROWS[at].about.places();
        at += 1;
    }
    places
};

impl Kind {
    pub fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// The kind of this name, if this version knows it.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub(crate) fn about(self) -> About {
        ROWS[self as usize].about
    }

    /// The usual growth a day.
    pub(crate) fn usual_rate(self) -> f64 {
        ROWS[self as usize].rate
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

pub(super) fn grown(onset: f64, rate: f64, held: Span) -> f64 {
    (onset + rate * held.as_millis() as f64 / Span::DAY.as_millis() as f64).min(1.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    Nominal,
    Elevated,
    Constrained,
    Dominant,
    Crisis,
}

impl Band {
    pub const ALL: [Band; 5] = [Band::Nominal, Band::Elevated, Band::Constrained, Band::Dominant, Band::Crisis];

    /// The load at which a band begins.
    pub fn from(self) -> f64 {
        match self {
            Band::Nominal => 0.0,
            Band::Elevated => 0.35,
            Band::Constrained => 0.55,
            Band::Dominant => 0.75,
            Band::Crisis => 0.90,
        }
    }

    pub fn of(load: f64) -> Band {
        // Sums of severities miss a mark by a hair; no golem should escape for that hair.
        let reached = |band: &&Band| load >= band.from() - 1e-12;
        *Band::ALL.iter().rev().find(reached).unwrap_or(&Band::Nominal)
    }

    /// Doings that a band leaves open. Giving up exposure, looking, predicting and asking are open in every one.
    pub fn allowed(self) -> Allowed {
        Allowed {
            explore: self < Band::Constrained,
            add: self < Band::Dominant,
            keep: self < Band::Crisis,
            size_percent: if self < Band::Constrained { 100 } else { 50 },
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Band::Nominal => "nominal",
            Band::Elevated => "elevated",
            Band::Constrained => "constrained",
            Band::Dominant => "dominant",
            Band::Crisis => "crisis",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Try new ideas, take on new strategies.
    pub explore: bool,
    /// Take up new exposure.
    pub add: bool,
    /// Hold on to exposure whose time is up.
    pub keep: bool,
    /// The largest share of the usual size, in per cent.
    pub size_percent: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name_in_records_settings_and_words() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!((kind as usize, Kind::named(kind.name())), (at, Some(kind)));
        }
        assert_eq!(Kind::named("grief"), None);
    }
}
