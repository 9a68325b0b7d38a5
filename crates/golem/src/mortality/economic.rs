//! The economic clock: what a golem lives on, and how long that will last.

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::vitality::sigmoid;
use crate::constitution::Mode;
use crate::draft::Draft;
use crate::event::Event;
use crate::laws::Laws;
use crate::life::Life;
use crate::money::Usdc;
use crate::time::Span;

const DAY: i128 = Span::DAY.as_millis() as i128;

/// Credit is what a golem lives on; what it acts with is [`crate::policy::Capital`], a separate account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Purse {
    /// The yardstick of the score: the most it was ever given to live on at once.
    pub funding: Usdc,
    /// What is left, the reserve included.
    pub credit: Usdc,
    pub given: Usdc,
    pub spent: Usdc,
    /// What sending actions cost.
    pub gas: Usdc,
    pub withdrawn: Usdc,
    /// Set aside for errands that are under way, and no longer free.
    pub promised: Usdc,
    /// Cost of living not yet worth a whole micro-USDC, in micro-USDC × milliseconds ÷ day.
    pub dust: i64,
    /// Smoothed cost of a tick, and of a day, in micro-USDC.
    pub burn_rate: f64,
    pub burn_a_day: f64,
    /// Thirty days of age, counted, and what was spent in the present thirty.
    pub month: u64,
    pub spent_this_month: Usdc,
    /// The owner has been told that money is short.
    pub critical: bool,
}

/// What credit is kept for. A purpose may use its part of what is free now, so none can starve another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    Inference,
    Gas,
    Data,
    Legacy,
}

impl Purse {
    /// The part of what is free that a purpose may use, by the table of the present phase.
    pub fn budget(&self, life: &Life, partition: Partition) -> Usdc {
        let permille = life.phase().behaviour().partitions[partition as usize];
        self.free(life).share(i64::from(permille), 1_000)
    }

    /// Kept back for dying well; no living cost may touch it.
    pub fn reserve(&self, life: &Life) -> Usdc {
        let figures = &life.constitution().economic;
        figures.reserve_floor.max(self.funding.share(i64::from(figures.reserve_bps), 10_000))
    }

    pub fn free(&self, life: &Life) -> Usdc {
        (self.credit - self.reserve(life) - self.promised).max(Usdc::ZERO)
    }

    /// 0 at the reserve, 1 at full funding.
    pub fn score(&self, life: &Life) -> f64 {
        if !life.constitution().clocks().economic {
            return 1.0;
        }
        let whole = (self.funding - self.reserve(life)).as_f64();
        if whole <= 0.0 { 0.0 } else { ((self.credit - self.reserve(life)).as_f64() / whole).clamp(0.0, 1.0) }
    }

    /// What living this long costs, to the whole micro-USDC; the fraction waits in `dust`. A golem that
    /// cannot pay in full pays what it has above the reserve.
    pub(crate) fn living_cost(&self, life: &Life, lived: Span) -> Usdc {
        let due = (i128::from(self.dust) + Self::accrued(life, lived)) / DAY;
        Usdc::micros(i64::try_from(due).expect("micro-USDC overflow")).min(self.free(life)).min(self.allowance(life))
    }

    /// What may still be spent this month. The purse is the limit where the owner rents the machine.
    pub(crate) fn allowance(&self, life: &Life) -> Usdc {
        match life.constitution().mode {
            Mode::Hosted => Usdc::MOST,
            _ if Self::month_at(life.age, life.laws()) > self.month => life.constitution().economic.monthly_allowance,
            _ => (life.constitution().economic.monthly_allowance - self.spent_this_month).max(Usdc::ZERO),
        }
    }

    /// The most that sending one action may take. The living leave the reserve and their allowance alone; for dying it
    /// is there.
    pub(crate) fn gas_at_most(&self, life: &Life) -> Usdc {
        if life.is_dead() { self.credit - self.promised } else { self.free(life).min(self.allowance(life)) }
    }

    pub(crate) fn burn_gas(&mut self, gas: Usdc, age: Span, laws: &Laws) {
        self.spend(gas, age, laws);
        self.spent -= gas;
        self.gas += gas;
    }

    pub(crate) fn month_at(age: Span, laws: &Laws) -> u64 {
        age.as_millis() / Span::DAY.times(laws.month_days).as_millis()
    }

    pub(crate) fn spend(&mut self, cost: Usdc, age: Span, laws: &Laws) {
        let month = Self::month_at(age, laws);
        let before = if month == self.month { self.spent_this_month } else { Usdc::ZERO };
        self.month = month;
        self.spent_this_month = before + cost;
        self.credit -= cost;
        self.spent += cost;
    }

    /// In micro-USDC × milliseconds: whole numbers, so that any split of time costs the same.
    fn accrued(life: &Life, lived: Span) -> i128 {
        // An owner who hosts the golem pays for the machine elsewhere.
        let machine = match life.constitution().mode {
            Mode::Hosted => life.constitution().economic.machine_per_day,
            Mode::SelfHosted | Mode::Immortal => Usdc::ZERO,
        };
        let per_day = machine + life.birth.world.data_per_day;
        i128::from(per_day.as_micros()) * i128::from(lived.as_millis())
    }

    /// The fraction left over after this much living; what could not be paid is forgiven, not owed.
    pub(crate) fn dust_after(life: &Life, lived: Span) -> i64 {
        ((i128::from(life.purse.dust) + Self::accrued(life, lived)) % DAY) as i64
    }

    /// Ticks until want of money ends it, at the present burn rate; none if nothing burns.
    pub fn projected_ticks(&self, life: &Life) -> Option<u64> {
        self.projected_life(life).map(|left| left.as_millis() / life.interval().as_millis().max(1))
    }

    /// World time until want of money ends it. By the day and not by the tick: looking less often spends no less.
    pub fn projected_life(&self, life: &Life) -> Option<Span> {
        let burning = self.burn_a_day > 0.0 && life.constitution().clocks().economic;
        let left = (self.credit - self.brink(life)).as_f64().max(0.0);
        burning.then(|| Span::millis((left / self.burn_a_day * Span::DAY.as_millis() as f64) as u64))
    }

    /// The credit at which vitality falls to its end for want of money alone, skill and age as they are. Hunger kills
    /// there, well before the last cent.
    fn brink(&self, life: &Life) -> Usdc {
        let (figures, reserve) = (&life.constitution().vitality, self.reserve(life));
        let (center, steepness) = (figures.economic_center, figures.economic_steepness);
        let others = life.vitality.composite / sigmoid(life.vitality.economic, center, steepness);
        let needed = Phase::Declining.behaviour().from / others;
        // Where no money could help, it is not money that ends it.
        if needed >= 1.0 || needed.is_nan() {
            return reserve;
        }
        let share = center + libm::log(needed / (1.0 - needed)) / steepness;
        let above = (self.funding - reserve).as_f64() * share.clamp(0.0, 1.0);
        reserve + Usdc::micros(above as i64)
    }
}

/// Tells the owner once when money runs short, and again only after it had recovered.
pub(crate) fn watch(draft: &mut Draft<'_>) {
    if !draft.constitution().clocks().economic {
        return;
    }
    let (score, critical) = (draft.purse.score(draft), draft.constitution().economic.critical);
    match draft.purse.critical {
        false if score < critical => draft.emit(Event::EconomicCritical),
        true if score >= critical + draft.constitution().vitality.hysteresis => draft.emit(Event::EconomicRelieved),
        _ => {}
    }
}
