//! Death: its causes with their evidence. Dying is a state, not an instant; the way from here to the end is in
//! [`crate::thanatopsis`].

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Vitality;
use crate::figures::{one_in, several};
use crate::money::Usdc;
use crate::prose::Prose;
use crate::stress;
use crate::thanatopsis::Progress;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Death {
    pub at: Time,
    pub tick: u64,
    pub cause: Cause,
    pub vitality: Vitality,
    pub closing_attempts: u32,
    /// Stressors that pressed on it when it died.
    #[serde(default)]
    pub open: Vec<Open>,
    /// Whether a model was asked for its last words, and what they were.
    #[serde(default)]
    pub reflected_on: bool,
    #[serde(default)]
    pub words: Option<String>,
    /// How far it has come on the way to its end.
    #[serde(default)]
    pub progress: Progress,
}

/// A stressor that nothing had cleared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    pub kind: stress::Kind,
    pub domain: Option<u8>,
    pub severity: f64,
}

/// The cause of a death, with the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Economic {
        balance: Usdc,
        burn_rate: f64,
        ticks_alive: u64,
    },
    EpistemicSenescence {
        final_fitness: f64,
        fitness_at_peak: f64,
        ticks_in_senescence: u64,
        failing_domains: Vec<String>,
        last_successful_prediction: u64,
    },
    Stochastic {
        hazard_rate: f64,
        death_roll: f64,
        tick_at_death: u64,
        epistemic_fitness: f64,
        credit_balance: Usdc,
        was_in_senescence: bool,
    },
    OwnerKill {
        reason: String,
    },
    KillSwitch {
        trigger: String,
    },
}

impl Cause {
    /// True if the golem was ended deliberately, so that its line does not go on automatically.
    pub fn ends_the_line(&self) -> bool {
        matches!(self, Cause::OwnerKill { .. } | Cause::KillSwitch { .. })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Cause::Economic { .. } => "economic",
            Cause::EpistemicSenescence { .. } => "epistemic_senescence",
            Cause::Stochastic { .. } => "stochastic",
            Cause::OwnerKill { .. } => "owner_kill",
            Cause::KillSwitch { .. } => "kill_switch",
        }
    }
}

impl fmt::Display for Cause {
    /// The cause in plain words, with the figure that decided it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Economic { balance, burn_rate, .. } => {
                write!(f, "for want of money ({balance} left, burning ${:.6} a tick)", burn_rate / 1e6)
            }
            Cause::EpistemicSenescence { final_fitness, failing_domains, .. } if failing_domains.is_empty() => {
                write!(f, "lost touch (skill {final_fitness:.2})")
            }
            Cause::EpistemicSenescence { final_fitness, failing_domains, .. } => {
                write!(f, "lost touch (skill {final_fitness:.2}, failing in {})", failing_domains.join(", "))
            }
            Cause::Stochastic { hazard_rate, tick_at_death, .. } => {
                let (chance, looks) = (one_in(*hazard_rate), several(*tick_at_death, "look"));
                write!(f, "by chance: {chance} at each look, after {looks}")
            }
            Cause::OwnerKill { reason } if reason.is_empty() => write!(f, "retired by its owner"),
            Cause::OwnerKill { reason } => write!(f, "retired by its owner ({reason})"),
            Cause::KillSwitch { trigger } => write!(f, "kill switch ({trigger})"),
        }
    }
}

impl Prose for Box<Death> {
    const NAME: &'static str = "DeathJson";
}
