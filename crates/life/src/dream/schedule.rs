//! When to sleep: how much there is to dream about, what must hold before a night may begin, and how the three clocks
//! bear on it. Pure functions of a life.

use super::{Blocked, Dreams, Night, SleepStage, Trigger};
use crate::constitution::{DreamSchedule, DreamTier};
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::phase::Phase;
use crate::mortality::{Partition, economic, sigmoid};
use crate::policy::Stage;
use crate::regime::Regime;
use crate::stress;
use crate::time::Span;

/// Reference ticks between two light nights.
const INTERVAL: u64 = 50;

/// The fewest looks between two nights: a golem that looks once an hour does not sleep every other hour.
const LOOKS: u64 = 20;

const HOUR: Span = Span::seconds(3_600);

/// Urgency that a golem doing well needs.
const THRIVING: f64 = 0.8;

/// Urgency that any other golem needs.
const OTHERS: f64 = 0.6;

/// Urgency needed on top while the world is unsettled, when more is missed by sleeping.
const ACTIVE: f64 = 0.1;

/// The most that the fiber's marks may add: enough to bring a night forward, too little to bring one about.
const MARKED: f64 = 0.2;

/// How far the quality of earlier dreams bends urgency, from none to all of them right.
const QUALITY: f64 = 0.4;

/// Below this share of what is free, thinking is kept for waking.
const FLOOR_PERCENT: i64 = 15;

/// Weights of urgency, in the order of [`parts`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    pub each: [f64; 7],
    /// Ticks after which a night is due by itself.
    pub period: f64,
}

/// Chosen here: the documents give the terms and the direction in which phases shift them. Time and what waits to be
/// gone through are enough by themselves, about once a period; what else there is brings a night forward. On the way
/// down time weighs more, and novelty more than tidying up.
pub fn weights(phase: Phase) -> Weights {
    let (each, period) = match phase {
        Phase::Thriving => ([0.25, 0.40, 0.15, 0.15, 0.15, 0.45, 0.15], 2_160.0),
        Phase::Stable => ([0.25, 0.40, 0.15, 0.20, 0.15, 0.45, 0.15], 1_440.0),
        Phase::Conservation => ([0.25, 0.30, 0.15, 0.20, 0.15, 0.50, 0.15], 1_440.0),
        Phase::Declining => ([0.25, 0.20, 0.15, 0.20, 0.15, 0.60, 0.15], 1_080.0),
        Phase::Terminal => ([0.0; 7], 1_080.0),
    };
    Weights { each, period }
}

/// The parts of urgency: novelty, consolidation, emotion, threat, drift, time and load, each from 0 to 1.
pub fn parts(life: &Life) -> [f64; 7] {
    let unit = |value: f64| if value > 0.0 { value.min(1.0) } else { 0.0 };
    let dreams = &life.dreams;
    let unreplayed = life.episodes.made.saturating_sub(dreams.episodes) as f64;
    let worth = life.capital.worth(life.seen.unit).as_f64();
    let lost = (dreams.result - life.capital.result()).as_f64();
    let since = (life.tick - dreams.last.min(life.tick)) as f64 * scale(life);
    [
        unit(life.episodes.surprise.mean - 1.0),
        unit(unreplayed / 200.0),
        unit(life.daimon.mood.arousal),
        if worth > 0.0 { unit(lost / (0.05 * worth)) } else { 0.0 },
        unit(1.0 - life.vitality.epistemic),
        sigmoid(since / weights(life.phase()).period, 1.0, 4.0),
        stress::load(life),
    ]
}

/// The parts of urgency, as this phase of life weighs them.
pub(super) fn weighed(life: &Life) -> [f64; 7] {
    let (mut weighed, weights) = (parts(life), weights(life.phase()).each);
    weighed.iter_mut().zip(weights).for_each(|(part, weight)| *part *= weight);
    weighed
}

/// How much it would be worth to dream now, from 0 up; what the fiber has marked since the last night comes on top, and
/// a golem whose dreams proved right dreams sooner.
pub fn urgency(life: &Life) -> f64 {
    (weighed(life).into_iter().fold(0.0, |sum, part| sum + part) + life.knowing.fiber.urgency.min(MARKED))
        * intensity(life)
        * (1.0 + QUALITY * (life.dreams.quality() - 0.5))
}

/// How much more each clock makes of dreaming.
pub fn intensity(life: &Life) -> f64 {
    let economic = economic::projected_life(life).map_or(0.0, |left| near(hours(left), 72.0));
    let epistemic = near(life.vitality.epistemic, life.constitution().epistemic.warning);
    let stochastic = ((life.vitality.age_factor - 0.70) / 0.30).clamp(0.0, 1.0);
    1.0 + 0.5 * economic + 0.3 * epistemic + 0.2 * stochastic
}

/// How near a value is to zero: 0 at the mark and above, 1 at nothing.
fn near(value: f64, mark: f64) -> f64 {
    if mark > 0.0 { (1.0 - value / mark).clamp(0.0, 1.0) } else { 0.0 }
}

fn hours(span: Span) -> f64 {
    span.as_millis() as f64 / HOUR.as_millis() as f64
}

/// Reference ticks in one tick of this golem.
fn scale(life: &Life) -> f64 {
    life.constitution().interval.reference_ticks()
}

/// The urgency a night needs by itself.
pub fn threshold(life: &Life) -> f64 {
    let figures = &life.constitution().dream;
    let by_phase = if life.phase() == Phase::Thriving { THRIVING } else { OTHERS };
    let least = if figures.schedule == DreamSchedule::Hybrid { figures.threshold.max(by_phase) } else { by_phase };
    least + if life.regimes.now == Regime::Unsettled { ACTIVE } else { 0.0 }
}

/// Why a night should begin now, if one should.
pub fn trigger(life: &Life) -> Option<Trigger> {
    let figures = &life.constitution().dream;
    if life.phase() == Phase::Terminal && life.vitality.ticks_in_phase == 0 {
        return Some(Trigger::Emergency);
    }
    if life.stress.dream_wanted {
        return Some(Trigger::Breaker);
    }
    if figures.schedule != DreamSchedule::Autonomous && window(life).is_some_and(|(_, left)| left > 0) {
        return Some(Trigger::Window);
    }
    if figures.schedule == DreamSchedule::Owner {
        return None;
    }
    if figures.tier == DreamTier::Core {
        let frequency = life.phase().behaviour().dream_frequency;
        if frequency <= 0.0 {
            return None;
        }
        let every = ((INTERVAL as f64 / scale(life) / frequency) as u64).max(LOOKS);
        // Twice as often with the end in sight.
        let soon = economic::projected_life(life).is_some_and(|left| left < HOUR.times(72));
        let every = if soon { every / 2 } else { every };
        return (life.tick >= life.dreams.last + every).then_some(Trigger::Interval);
    }
    (urgency(life) >= threshold(life)).then_some(Trigger::Urgency)
}

/// The owner's hours of sleep it is in, told apart from all others, and the nights it may still begin in them.
pub fn window(life: &Life) -> Option<(u64, u32)> {
    let hours = bedtime(life)?;
    let begun = if life.dreams.window.0 == hours { life.dreams.window.1 } else { 0 };
    Some((hours, cycles(life.phase()).saturating_sub(begun)))
}

pub(crate) fn bedtime(life: &Life) -> Option<u64> {
    life.constitution().dream.windows.iter().find_map(|window| window.around(life.now))
}

/// Nights in one stretch of the owner's hours.
pub fn cycles(phase: Phase) -> u32 {
    match phase {
        Phase::Thriving => 4,
        Phase::Stable => 3,
        Phase::Conservation => 2,
        Phase::Declining => 1,
        Phase::Terminal => 0,
    }
}

/// Less than a day of life is left: what is known is gone through once more, and nothing new is ventured.
pub fn only_integrates(life: &Life) -> bool {
    economic::projected_life(life).is_some_and(|left| left < HOUR.times(24))
}

/// Episodes there must be before the first night.
pub fn first_night(phase: Phase) -> u64 {
    match phase {
        Phase::Thriving => 50,
        Phase::Stable => 100,
        Phase::Conservation => 150,
        Phase::Declining | Phase::Terminal => 200,
    }
}

/// The reason that no night can begin now, even on the owner's word.
pub fn blocked(life: &Life) -> Option<Blocked> {
    blocked_for(life, Trigger::Owner)
}

/// The reason that no night can begin for this trigger. The last night, before dying, needs neither time nor money for
/// thinking: it is paid from what is kept for the heirs.
pub fn blocked_for(life: &Life, trigger: Trigger) -> Option<Blocked> {
    if !life.dreams.are_on(life) {
        return Some(Blocked::Off);
    }
    if trigger == Trigger::Emergency {
        return if life.episodes.made < first_night(Phase::Thriving) {
            Some(Blocked::Episodes)
        } else if is_busy(life) {
            Some(Blocked::Busy)
        } else {
            None
        };
    }
    let short = economic::projected_life(life).is_some_and(|left| left < HOUR.times(6));
    if life.phase() == Phase::Terminal || short {
        return Some(Blocked::Phase);
    }
    if life.episodes.made < first_night(life.phase()) {
        return Some(Blocked::Episodes);
    }
    if is_busy(life) {
        return Some(Blocked::Busy);
    }
    let floor = economic::free(life).share(FLOOR_PERCENT, 100);
    let thin = inference(life) < floor || !inference(life).is_positive() || !left_this_month(life).is_positive();
    thin.then_some(Blocked::Budget)
}

/// True while something is under way that cannot be left alone; an action that only waits for its owner's word can.
fn is_busy(life: &Life) -> bool {
    !life.permits.is_empty() || life.flights.iter().any(|flight| flight.stage != Stage::Waiting)
}

/// Money there is to think with.
pub fn inference(life: &Life) -> Usdc {
    economic::budget(life, Partition::Inference).min(economic::allowance(life))
}

/// Money that dreams may still cost in these thirty days.
pub fn left_this_month(life: &Life) -> Usdc {
    let spent = if life.dreams.month == life.month() { life.dreams.spent_this_month } else { Usdc::ZERO };
    (life.constitution().dream.monthly_most - spent).max(Usdc::ZERO)
}

/// Money that nights in the owner's present hours may still cost; outside them there is no such bound.
pub fn left_this_session(life: &Life, trigger: Trigger) -> Usdc {
    let same = bedtime(life) == Some(life.dreams.window.0);
    let spent = if same { life.dreams.session } else { Usdc::ZERO };
    match trigger {
        Trigger::Window => (life.constitution().dream.per_session_most - spent).max(Usdc::ZERO),
        _ => Usdc::MOST,
    }
}

impl Trigger {
    /// The trigger in the documents' words: by time, by what weighs on it, or by what is new.
    pub fn word(self, life: &Life) -> &'static str {
        match self {
            Trigger::Owner | Trigger::Interval | Trigger::Window | Trigger::Emergency => "time",
            Trigger::Breaker => "emotional_load",
            Trigger::Urgency => {
                let [novelty, _, emotion, threat, _, time, load] = weighed(life);
                if emotion.max(threat).max(load) >= novelty.max(time) {
                    "emotional_load"
                } else if novelty >= time {
                    "novelty_streak"
                } else {
                    "time"
                }
            }
        }
    }
}

impl Dreams {
    /// Whether it dreams at all: as it was born, unless its owner has said otherwise since.
    pub fn are_on(&self, life: &Life) -> bool {
        self.switched.unwrap_or(life.constitution().dream.enabled)
    }
}

/// How many looks a night lasts, as many as its ticks of forty seconds come to, and what it may cost, by how well the
/// golem is.
pub fn length(life: &Life) -> (u32, Usdc) {
    let figures = &life.constitution().dream;
    if figures.tier == DreamTier::Core {
        // A light night, between two looks.
        return (1, Usdc::micros(LIGHT_COST).min(figures.per_cycle_most));
    }
    let (ticks, cents) = match life.phase() {
        Phase::Thriving => (60, 100),
        Phase::Stable => (40, 50),
        Phase::Conservation => (20, 20),
        Phase::Declining => (10, 10),
        Phase::Terminal => (0, 0),
    };
    let scale = life.constitution().interval.reference_ticks();
    let looks = if ticks > 0 { ((f64::from(ticks) / scale) as u32).max(1) } else { 0 };
    (looks, Usdc::cents(cents).min(figures.per_cycle_most))
}

/// The cost of a night's own work, in micro-USDC; the rest of its budget is for asking models.
pub const RULES_COST: i64 = 2_000;

/// The cost of a light night, in micro-USDC. There are some forty a day, which together cost as much as a whole one.
const LIGHT_COST: i64 = 50;

/// Money that a night may spend on asking models, beside what its own work costs.
pub fn for_thoughts(night: &Night) -> Usdc {
    night.budget - night.budget.min(Usdc::micros(RULES_COST))
}

/// The phase of a night under way whose work has not been done. A night of one tick has all its phases in that tick.
pub fn owes(life: &Life) -> Option<SleepStage> {
    let night = life.dreams.night.as_ref().filter(|_| !life.is_dead())?;
    let begun = (night.slept > 0 || night.ticks != 1) && !life.thoughts.asks_for(night.number);
    (begun && !night.worked && has_work(life, night.phase)).then_some(night.phase)
}

/// Whether a phase of this life's nights has anything to do.
fn has_work(life: &Life, phase: SleepStage) -> bool {
    match phase {
        SleepStage::Onset | SleepStage::Nrem | SleepStage::Rem => !only_integrates(life),
        SleepStage::Integration => true,
        SleepStage::Return => false,
    }
}
