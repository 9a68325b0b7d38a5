//! The review of a life: what stirred it most, its firsts and extremes, its turning points, and the shape of the whole.
//! The host collects it from the journal, in one pass.

use life::event::{Event, Record};
use life::money::Usdc;
use life::{Life, dream, mortality, policy, regime, stress};
use serde::{Deserialize, Serialize};

/// How many of each are kept.
const STIRRING: usize = 5;
const TURNING: usize = 12;
/// How much a third of a life must differ from another for it to count.
const DIFFERS: f64 = 0.02;

/// The shape of a life, by how it stood in each third of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arc {
    /// Down, and up again.
    Redemptive,
    /// Up, and down again.
    Contaminating,
    Progressive,
    Tragic,
    #[default]
    Stable,
}

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    pub tick: u64,
    pub what: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    pub first_unit: Option<Usdc>,
    /// Stirring moments by arousal, most first, as far as they can be said.
    pub stirring: Vec<(f64, Moment)>,
    pub turning: Vec<Moment>,
    pub highest_skill: (f64, u64),
    pub lowest_skill: (f64, u64),
    pub actions: u64,
    pub refusals: u64,
    /// Vitality as it went, every so many ticks, thinned out as a life grows long.
    shape: Vec<f64>,
    every: u64,
}

impl Review {
    /// Takes in one record, given the life it led to.
    pub fn hear(&mut self, record: &Record, life: &Life) {
        let tick = life.tick();
        for event in &record.events {
            match event {
                Event::Mortality(mortality::Event::VitalityUpdated { composite }) => self.look(*composite, life),
                Event::Mortality(mortality::Event::PhaseChanged { from, to, .. }) => {
                    let word = if *to < *from { "came down to" } else { "rose to" };
                    self.turn(tick, format!("{word} {to}"));
                    self.stir(life, format!("{word} {to}"));
                }
                Event::Regime(regime::Event::Changed { to, .. }) => self.stir(life, format!("the world turned {to}")),
                Event::Policy(policy::Event::Granted { .. }) => {
                    self.actions += 1;
                    if self.actions == 1 {
                        self.turn(tick, "acted for the first time".to_owned());
                    }
                }
                Event::Policy(policy::Event::Refused { rule }) | Event::Policy(policy::Event::Denied { rule, .. }) => {
                    self.refusals += 1;
                    if self.refusals == 1 {
                        self.turn(tick, format!("was refused for the first time: {rule}"));
                    }
                }
                Event::Policy(policy::Event::Stopped) => {
                    self.turn(tick, "gave up what it held at its stop".to_owned());
                    self.stir(life, "what it held fell to its stop".to_owned());
                }
                Event::Mortality(mortality::Event::Senesced) => self.turn(tick, "lost touch with the world".to_owned()),
                Event::Mortality(mortality::Event::Recovered) => self.turn(tick, "found it again".to_owned()),
                Event::Stress(stress::Event::Suspended) => self.turn(tick, "a crisis was broken off".to_owned()),
                Event::Dream(dream::Event::Revised { .. }) => self.turn(tick, "learned a domain again".to_owned()),
                _ => {}
            }
        }
    }

    fn look(&mut self, composite: f64, life: &Life) {
        self.first_unit = self.first_unit.or_else(|| Some(life.seen().unit).filter(|unit| unit.is_positive()));
        let skill = life.vitality().epistemic;
        if life.claims_made() + life.epistemic().domains.iter().map(|d| d.resolved).sum::<u64>() > 100 {
            if self.highest_skill.1 == 0 || skill > self.highest_skill.0 {
                self.highest_skill = (skill, life.tick());
            }
            if self.lowest_skill.1 == 0 || skill < self.lowest_skill.0 {
                self.lowest_skill = (skill, life.tick());
            }
        }
        self.every = self.every.max(1);
        if life.tick().is_multiple_of(self.every) {
            self.shape.push(composite);
            if self.shape.len() >= 600 {
                self.shape = self.shape.iter().copied().step_by(2).collect();
                self.every *= 2;
            }
        }
    }

    fn turn(&mut self, tick: u64, what: String) {
        // The newest say more than the many in between; the first stay.
        if self.turning.len() >= TURNING {
            self.turning.remove(TURNING / 2);
        }
        self.turning.push(Moment { tick, what });
    }

    fn stir(&mut self, life: &Life, what: String) {
        let arousal = life.daimon().mood.arousal.max(life.daimon().last.arousal);
        self.stirring.push((arousal, Moment { tick: life.tick(), what }));
        self.stirring.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.tick.cmp(&b.1.tick)));
        self.stirring.truncate(STIRRING);
    }

    /// The shape of the whole, by the means of its thirds.
    pub fn arc(&self) -> Arc {
        let n = self.shape.len();
        if n < 6 {
            return Arc::Stable;
        }
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (first, middle, last) =
            (mean(&self.shape[..n / 3]), mean(&self.shape[n / 3..2 * n / 3]), mean(&self.shape[2 * n / 3..]));
        if middle < first - DIFFERS && last > middle + DIFFERS {
            Arc::Redemptive
        } else if middle > first + DIFFERS && last < middle - DIFFERS {
            Arc::Contaminating
        } else if last > first + DIFFERS {
            Arc::Progressive
        } else if last < first - DIFFERS {
            Arc::Tragic
        } else {
            Arc::Stable
        }
    }
}

impl std::fmt::Display for Arc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Arc::Redemptive => "redemptive",
            Arc::Contaminating => "contaminating",
            Arc::Progressive => "progressive",
            Arc::Tragic => "tragic",
            Arc::Stable => "stable",
        })
    }
}
