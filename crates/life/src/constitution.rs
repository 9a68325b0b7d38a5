//! The constitution of a golem: every figure its life runs by, fixed in its birth record.
//!
//! The defaults are the specification's. They are configuration, so they are not laws: two golems under
//! the same laws may have different constitutions.

mod cage;
mod strategy;

use serde::{Deserialize, Serialize};

use crate::laws::Laws;
use crate::money::Usdc;
use crate::mortality::phase::Tier;
use crate::prose::Prose;
use crate::stress::Rates;
use crate::time::{REFERENCE_TICK, Span, Time};

pub use cage::{Caps, OnDeath, PolicyFigures};
pub use strategy::StrategyFigures;

/// Looks a grace period never falls below.
const GRACE_FLOOR: f64 = 50.0;
/// A cycle of stress, in reference ticks.
const CYCLE: u32 = 50;
/// Looks that a cycle never falls below.
const CYCLE_FLOOR: f64 = 5.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Constitution {
    pub mode: Mode,
    pub clocks: Clocks,
    /// How often the golem looks; in a replay, one bar.
    pub interval: Span,
    pub vitality: VitalityFigures,
    pub economic: EconomicFigures,
    pub epistemic: EpistemicFigures,
    pub stochastic: StochasticFigures,
    pub policy: PolicyFigures,
    pub reflex: Reflex,
    #[serde(default)]
    pub mind: Mind,
    #[serde(default)]
    pub stress: StressFigures,
    #[serde(default)]
    pub affect: AffectFigures,
    #[serde(default)]
    pub dream: DreamFigures,
    #[serde(default)]
    pub thought: ThoughtFigures,
    #[serde(default)]
    pub mandate: MandateFigures,
    #[serde(default)]
    pub succession: SuccessionFigures,
    #[serde(default)]
    pub clade: CladeFigures,
    #[serde(default, skip_serializing_if = "StrategyFigures::is_silent")]
    pub strategy: StrategyFigures,
}

/// Settings for a golem among its owner's other golems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CladeFigures {
    /// Shares what it finds out with them, and tries what they share.
    pub share: bool,
}

impl Default for CladeFigures {
    fn default() -> CladeFigures {
        CladeFigures { share: true }
    }
}

/// Whether and how its line goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuccessionFigures {
    /// An heir is made at death without asking.
    pub auto: bool,
    /// Money for the heir to live on; without a sum, what its predecessor was first given.
    pub budget: Option<Usdc>,
    /// The heir is left what its predecessor knew.
    pub inherit: bool,
    /// The share of what an heir would try that its predecessor had not been told.
    pub min_divergence: f64,
    /// The share of what a rule has shown that crosses a death with it.
    pub evidence: f64,
}

impl Default for SuccessionFigures {
    fn default() -> SuccessionFigures {
        SuccessionFigures { auto: false, budget: None, inherit: true, min_divergence: 0.15, evidence: 0.2 }
    }
}

/// Figures that a life should leave behind, or it is said to have changed little.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MandateFigures {
    /// Entries of its own.
    pub novel: u32,
    /// Entries it was left and gave up.
    pub invalidated: u32,
    /// The share of questions.
    pub questions: f64,
}

impl Default for MandateFigures {
    fn default() -> MandateFigures {
        MandateFigures { novel: 5, invalidated: 3, questions: 0.10 }
    }
}

/// The mode of living: who bears its cost, and whether it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Hosted,
    SelfHosted,
    Immortal,
}

/// Which clocks may kill. Each can be switched singly, for experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    pub economic: bool,
    pub epistemic: bool,
    pub stochastic: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VitalityFigures {
    pub economic_center: f64,
    pub economic_steepness: f64,
    pub epistemic_center: f64,
    pub epistemic_steepness: f64,
    pub age_drag: f64,
    pub hysteresis: f64,
    /// The age at which the age factor reaches one.
    pub lifespan: Span,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EconomicFigures {
    pub reserve_floor: Usdc,
    /// Share of the funding kept for dying, in basis points.
    pub reserve_bps: u32,
    /// Below this score the owner is warned.
    pub critical: f64,
    pub machine_per_day: Usdc,
    /// The cost of carrying out one action, paid from credit.
    #[serde(default)]
    pub per_action: Usdc,
    /// Share of realised profit that becomes credit, in basis points.
    #[serde(default)]
    pub harvest_bps: u32,
    /// The most a self-hosted golem may spend in thirty days.
    pub monthly_allowance: Usdc,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpistemicFigures {
    pub measure: Measure,
    /// The window of fitness, in reference ticks; scaled to the interval, never below 200 looks.
    pub window: u32,
    pub warning: f64,
    pub senescence: f64,
    pub recovery: f64,
    /// The grace period, in reference ticks; scaled to the interval, never below 50 looks.
    pub grace: u32,
    /// How long it may be senescent before it dies of it; scaled like the grace.
    #[serde(default = "as_the_grace")]
    pub senescent: u32,
}

fn as_the_grace() -> u32 {
    500
}

/// How being right is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Skill against the naive forecast: one half is exactly as good as naive.
    Skill,
    /// R² over the last hundred pairs, as the documents first had it.
    R2,
}

/// Gompertz–Makeham, per reference tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StochasticFigures {
    pub base_hazard: f64,
    pub aging_hazard: f64,
    pub aging_rate: f64,
    pub max_hazard: f64,
    pub frailty: f64,
}

/// How a golem makes up its mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mind {
    pub kind: MindKind,
    /// Whether heuristics learn from what came of their claims. Off is for experiments.
    pub learning: bool,
    /// The age at which heuristics stop learning. Also for experiments.
    #[serde(default)]
    pub learn_until: Option<Span>,
    /// Try a new heuristic every so many ticks; zero never does.
    pub explore_every: u32,
    /// Deviations below the mean of what holding paid that must still be worth its cost.
    #[serde(default = "surely")]
    pub sureness: f64,
    /// Samples before anything is taken for shown.
    #[serde(default = "enough")]
    pub samples: u32,
    /// Phages are sent out to put its knowledge to the test.
    #[serde(default)]
    pub phages: bool,
}

fn surely() -> f64 {
    2.5
}

fn enough() -> u32 {
    20
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MindKind {
    /// Expects more of the same, and acts by the calendar: a yardstick for the others.
    Reflex,
    /// Heuristics over the world's features, learning.
    Rules,
    /// An agent of its owner's: it says what it expects when it has something to say, and the golem says nothing of its own.
    Outside,
}

impl Default for Mind {
    /// The mind of lives born before there were rules.
    fn default() -> Self {
        Mind {
            kind: MindKind::Reflex,
            learning: true,
            learn_until: None,
            explore_every: 0,
            sureness: surely(),
            samples: enough(),
            phages: false,
        }
    }
}

/// How pressure grows, and what it may close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StressFigures {
    pub mode: StressMode,
    /// Growth a day, by kind. A kind that the birth does not name is not looked for.
    pub rates: Rates,
    /// Growth a day of a stressor that the golem has named itself.
    pub named_rate: f64,
    /// Active stressors at which the golem may name no more.
    pub most: u32,
    /// Domains in which work serves the owner; none at all means all that have a weight.
    #[serde(default)]
    pub objectives: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StressMode {
    Off,
    /// Observed and shown; no gate closes for it.
    Visible,
    Enforced,
}

impl Default for StressFigures {
    /// The stress figures of lives born before there were stressors.
    fn default() -> Self {
        StressFigures {
            mode: StressMode::Off,
            rates: Rates::default(),
            named_rate: 0.030,
            most: 5,
            objectives: Vec::new(),
        }
    }
}

/// Whether and how happenings become a mood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AffectFigures {
    pub appraisal: Appraisal,
    /// How much of a mood is left a tick later.
    pub mood_keep: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Appraisal {
    RuleBased,
    Disabled,
}

impl Default for AffectFigures {
    /// The affect figures of lives born before there were moods.
    fn default() -> Self {
        AffectFigures { appraisal: Appraisal::Disabled, mood_keep: 0.95 }
    }
}

/// Which models it may ask, how often, and what that may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThoughtFigures {
    /// The cheap, the middle and the strong model, by the names the host knows; a tier without a model is not asked.
    pub models: [Option<String>; 3],
    /// The most one question may cost, by tier.
    pub per_call: [Usdc; 3],
    pub a_day: Usdc,
    pub a_month: Usdc,
    /// The share of its ticks that may ask.
    pub most_asking: f64,
    /// Bits that a dollar must have brought for it to ask more often.
    pub bits_per_dollar: f64,
    /// World time an answer may take.
    pub patience: Span,
}

impl Default for ThoughtFigures {
    /// The figures of a life that asks no model.
    fn default() -> Self {
        ThoughtFigures {
            models: [const { None }; 3],
            per_call: [Usdc::micros(20_000), Usdc::micros(60_000), Usdc::micros(250_000)],
            a_day: Usdc::cents(50),
            a_month: Usdc::dollars(10),
            most_asking: 0.2,
            bits_per_dollar: 1.0,
            patience: Span::seconds(600),
        }
    }
}

impl ThoughtFigures {
    /// Whether there is a model to ask.
    pub fn any(&self) -> bool {
        self.models.iter().any(Option::is_some)
    }

    /// The tier that answers for this one: itself, or the nearest below it that there is a model for.
    pub fn nearest(&self, tier: Tier) -> Option<Tier> {
        let below = [Tier::Strong, Tier::Middle, Tier::Cheap].into_iter().filter(|known| *known <= tier);
        below.into_iter().find(|tier| self.model(*tier).is_some())
    }

    /// The host's name for the model of a tier.
    pub fn model(&self, tier: Tier) -> Option<&str> {
        self.models.get((tier as usize).checked_sub(1)?)?.as_deref()
    }

    pub fn per_call(&self, tier: Tier) -> Usdc {
        (tier as usize).checked_sub(1).and_then(|at| self.per_call.get(at)).copied().unwrap_or(Usdc::ZERO)
    }
}

/// Whether, when and at what cost it dreams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DreamFigures {
    pub enabled: bool,
    pub tier: DreamTier,
    pub schedule: DreamSchedule,
    /// Urgency that begins a night outside the owner's own hours.
    pub threshold: f64,
    pub per_cycle_most: Usdc,
    pub monthly_most: Usdc,
    /// A move of the world, in basis points of a unit's worth, that ends a night; zero never does.
    pub wake_move_bps: u32,
    #[serde(default)]
    pub method: DreamMethod,
    /// The owner's hours of sleep.
    #[serde(default)]
    pub windows: Vec<Window>,
    /// The most that all nights of one stretch of those hours may cost.
    #[serde(default = "two_dollars")]
    pub per_session_most: Usdc,
    /// Something urgent may end a night.
    #[serde(default = "yes")]
    pub wakes: bool,
    /// Replay, imagination and integration, as the owner would split what onset and return leave; by phase where nothing
    /// is said.
    #[serde(default)]
    pub split: [Option<f64>; 3],
    #[serde(default)]
    pub replay_order: ReplayOrder,
    /// The share of tests that are disturbed.
    #[serde(default = "three_tenths")]
    pub disturbed: f64,
    #[serde(default)]
    pub most: Intensity,
    /// Confidence with which an idea that was put together begins its trial, and a pattern.
    #[serde(default = "a_fifth")]
    pub hypothesis: f64,
    #[serde(default = "three_tenths")]
    pub insight: f64,
    /// Ideas on trial at once.
    #[serde(default = "ten")]
    pub staged_most: u32,
    /// The model that answers in its nights, and for its last words, instead of those of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

fn two_dollars() -> Usdc {
    Usdc::dollars(2)
}

fn yes() -> bool {
    true
}

fn three_tenths() -> f64 {
    0.3
}

fn a_fifth() -> f64 {
    0.2
}

fn ten() -> u32 {
    10
}

/// How much a night goes into.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intensity {
    /// Episodes gone through closely.
    pub batch: u32,
    /// Other choices imagined for a decision.
    pub depth: u32,
    /// Recombinations.
    pub sessions: u32,
    /// Threats rehearsed.
    pub threats: u32,
    /// How freely it imagines.
    pub temperature: f64,
}

impl Default for Intensity {
    /// The most there is.
    fn default() -> Intensity {
        Intensity { batch: 15, depth: 3, sessions: 3, threats: 5, temperature: 0.9 }
    }
}

/// Which memories are gone through first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayOrder {
    /// Gain that was possible, times how likely a similar case is to return.
    #[default]
    Utility,
    Recency,
    Surprise,
    Uniform,
}

/// Hours of sleep, every day the same on the clock of a place. What that clock shows is settled at birth, so that a life
/// needs no maps of the world's time: from each of these moments on, it is so many seconds ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Minutes from midnight.
    pub start: u16,
    /// Minutes from midnight; before the start, it is of the day after.
    pub end: u16,
    pub zone: String,
    pub ahead: Vec<(Time, i32)>,
}

impl Window {
    /// The number of the stretch this moment lies in, if it lies in one.
    pub fn around(&self, now: Time) -> Option<u64> {
        let at = self.ahead.partition_point(|(from, _)| *from <= now);
        let (_, ahead) = self.ahead.get(at.checked_sub(1)?)?;
        let local = now.as_seconds() as i64 + i64::from(*ahead);
        let (day, minute) = (local.div_euclid(86_400), local.rem_euclid(86_400) / 60);
        let (start, end) = (i64::from(self.start), i64::from(self.end));
        let begun = match start < end {
            true => (start..end).contains(&minute).then_some(day),
            false if minute >= start => Some(day),
            false => (minute < end).then_some(day - 1),
        };
        begun.map(|day| day.unsigned_abs() * 1_440 + u64::from(self.start))
    }
}

/// How a night treats its ideas. Only experiments use anything but the careful way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DreamMethod {
    #[default]
    Careful,
    /// As many ideas as the careful way has, made up and believed without a test.
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DreamTier {
    /// A light night every so often.
    Core,
    /// Whole nights, when there is enough to dream about.
    Hardened,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DreamSchedule {
    /// Only when the owner says so.
    Owner,
    Autonomous,
    Hybrid,
}

impl Default for DreamFigures {
    /// The dream figures of lives born before there were dreams.
    fn default() -> Self {
        DreamFigures {
            enabled: false,
            tier: DreamTier::Core,
            schedule: DreamSchedule::Hybrid,
            threshold: 0.8,
            per_cycle_most: Usdc::cents(50),
            monthly_most: Usdc::dollars(15),
            wake_move_bps: 1_000,
            method: DreamMethod::Careful,
            windows: Vec::new(),
            per_session_most: two_dollars(),
            wakes: true,
            split: [None; 3],
            replay_order: ReplayOrder::Utility,
            disturbed: three_tenths(),
            most: Intensity::default(),
            hypothesis: a_fifth(),
            insight: three_tenths(),
            staged_most: ten(),
            model: None,
        }
    }
}

/// The mind of a golem that has no rules yet: it expects the next value to be the last one, pulled a
/// little towards the mean, and it is not quite sure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reflex {
    /// Noise on every forecast, as a share of the usual change.
    pub noise: f64,
    /// Pull towards the running mean; negative is stubbornly wrong.
    pub pull: f64,
    /// Take up or give up exposure every so many ticks; zero never acts.
    pub act_every: u32,
}

impl Default for Constitution {
    fn default() -> Self {
        Constitution {
            mode: Mode::SelfHosted,
            clocks: Clocks { economic: true, epistemic: true, stochastic: true },
            interval: REFERENCE_TICK,
            vitality: VitalityFigures {
                economic_center: 0.3,
                economic_steepness: 10.0,
                epistemic_center: 0.4,
                epistemic_steepness: 8.0,
                age_drag: 0.3,
                hysteresis: 0.05,
                lifespan: REFERENCE_TICK.times(200_000),
            },
            economic: EconomicFigures {
                reserve_floor: Usdc::cents(30),
                reserve_bps: 200,
                critical: 0.30,
                machine_per_day: Usdc::micros(168_000),
                per_action: Usdc::micros(2_000),
                harvest_bps: 2_500,
                monthly_allowance: Usdc::dollars(5),
            },
            epistemic: EpistemicFigures {
                measure: Measure::Skill,
                window: 2_000,
                warning: 0.50,
                senescence: 0.35,
                recovery: 0.45,
                grace: 500,
                senescent: 500,
            },
            stochastic: StochasticFigures {
                base_hazard: 1e-6,
                aging_hazard: 1e-8,
                aging_rate: 5e-5,
                max_hazard: 1e-3,
                frailty: 2.0,
            },
            policy: PolicyFigures::default(),
            reflex: Reflex { noise: 0.2, pull: 0.02, act_every: 2_160 },
            mind: Mind {
                kind: MindKind::Rules,
                learning: true,
                learn_until: None,
                explore_every: 200,
                sureness: surely(),
                samples: enough(),
                phages: false,
            },
            stress: StressFigures { mode: StressMode::Enforced, ..StressFigures::default() },
            affect: AffectFigures { appraisal: Appraisal::RuleBased, ..AffectFigures::default() },
            dream: DreamFigures { enabled: true, ..DreamFigures::default() },
            thought: ThoughtFigures::default(),
            mandate: MandateFigures::default(),
            succession: SuccessionFigures::default(),
            clade: CladeFigures::default(),
            strategy: StrategyFigures::default(),
        }
    }
}

impl Constitution {
    /// The constitution of a golem that pays for its machine and never dreams: all three clocks, and nothing that is
    /// not about them. Experiments on mortality alone begin with it.
    pub fn bare() -> Constitution {
        Constitution { mode: Mode::Hosted, dream: DreamFigures::default(), ..Constitution::default() }
    }

    /// Clocks that tick: those switched on, where the mode has them at all.
    pub fn clocks(&self) -> Clocks {
        match self.mode {
            Mode::Hosted => self.clocks,
            Mode::SelfHosted => Clocks { economic: false, ..self.clocks },
            Mode::Immortal => Clocks { economic: false, epistemic: false, stochastic: false },
        }
    }

    pub fn fitness_window(&self, laws: &Laws) -> f64 {
        self.scaled(self.epistemic.window).max(laws.window_floor)
    }

    pub fn grace(&self) -> u64 {
        self.scaled(self.epistemic.grace).max(GRACE_FLOOR) as u64
    }

    /// Looks it may be senescent for.
    pub fn senescent(&self) -> u64 {
        self.scaled(self.epistemic.senescent).max(GRACE_FLOOR) as u64
    }

    /// Looks in a cycle of stress.
    pub fn cycle(&self) -> u64 {
        self.scaled(CYCLE).max(CYCLE_FLOOR) as u64
    }

    /// A window counted in reference ticks, as looks of this golem.
    fn scaled(&self, ticks: u32) -> f64 {
        f64::from(ticks) * REFERENCE_TICK.as_millis() as f64 / self.interval.as_millis().max(1) as f64
    }
}

impl Prose for Box<PolicyFigures> {
    const NAME: &'static str = "PolicyJson";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::laws;

    #[test]
    fn windows_scale_with_the_interval_but_keep_their_floors() {
        let looks = |interval| {
            let c = Constitution { interval, ..Constitution::bare() };
            (c.fitness_window(laws(1).unwrap()), c.grace())
        };
        assert_eq!(looks(Span::seconds(40)), (2_000.0, 500));
        assert_eq!(looks(Span::seconds(80)), (1_000.0, 250));
        assert_eq!(looks(Span::seconds(3_600)), (200.0, 50));
    }

    #[test]
    fn modes_take_clocks_away_and_never_add_one() {
        let with = |mode, clocks| Constitution { mode, clocks, ..Constitution::bare() }.clocks();
        let all = Clocks { economic: true, epistemic: true, stochastic: true };
        let none = Clocks { economic: false, epistemic: false, stochastic: false };
        assert_eq!(Constitution::default().mode, Mode::SelfHosted);
        assert_eq!(with(Mode::Hosted, all), all);
        assert_eq!(with(Mode::Hosted, none), none);
        assert_eq!(with(Mode::SelfHosted, all), Clocks { economic: false, ..all });
        assert_eq!(with(Mode::Immortal, all), none);
    }
}
