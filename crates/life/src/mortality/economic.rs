//! The economic clock: what a golem lives on, and how long that will last.

use super::phase::Phase;
use super::{Partition, Purse};
use crate::constitution::Mode;
use crate::life::Life;
use crate::money::Usdc;
use crate::time::Span;

const DAY: i128 = Span::DAY.as_millis() as i128;

/// The part of free credit that a purpose may use, by the table of the present phase.
pub fn budget(life: &Life, partition: Partition) -> Usdc {
    let permille = life.phase().behaviour().partitions[partition as usize];
    free(life).share(i64::from(permille), 1_000)
}

/// The reserve kept back for dying well; no living cost may touch it.
pub fn reserve(life: &Life) -> Usdc {
    let figures = &life.constitution().economic;
    figures.reserve_floor.max(life.purse.funding.share(i64::from(figures.reserve_bps), 10_000))
}

/// Credit that is neither kept for dying nor promised.
pub fn free(life: &Life) -> Usdc {
    (life.purse.credit - reserve(life) - life.purse.promised).max(Usdc::ZERO)
}

/// The economic score: 0 at the reserve, 1 at full funding.
pub fn score(life: &Life) -> f64 {
    if !life.constitution().clocks().economic {
        return 1.0;
    }
    let whole = (life.purse.funding - reserve(life)).as_f64();
    if whole <= 0.0 { 0.0 } else { ((life.purse.credit - reserve(life)).as_f64() / whole).clamp(0.0, 1.0) }
}

/// The cost of living this long, in whole micro-USDC; the fraction waits in `dust`. A golem that cannot pay in full
/// pays what it has above the reserve.
pub fn living_cost(life: &Life, lived: Span) -> Usdc {
    let due = (i128::from(life.purse.dust) + accrued(life, lived)) / DAY;
    Usdc::micros(i64::try_from(due).expect("micro-USDC overflow")).min(free(life)).min(unpromised_allowance(life))
}

/// The allowance left this month. The purse is the limit where the owner rents the machine.
pub fn allowance(life: &Life) -> Usdc {
    match life.constitution().mode {
        Mode::Hosted => Usdc::MOST,
        _ if life.month() > life.purse.month => life.constitution().economic.monthly_allowance,
        _ => (life.constitution().economic.monthly_allowance - life.purse.spent_this_month).max(Usdc::ZERO),
    }
}

/// The allowance left this month, less what is promised.
pub fn unpromised_allowance(life: &Life) -> Usdc {
    (allowance(life) - life.purse.promised).max(Usdc::ZERO)
}

/// The most that sending one action may take. While a golem lives, the reserve and a used-up allowance stay closed to
/// it; in dying it may use all its credit.
pub fn gas_at_most(life: &Life) -> Usdc {
    if life.is_dead() { life.purse.credit - life.purse.promised } else { free(life).min(allowance(life)) }
}

/// Whether it seeks revenue: want of money could end it, it is stable, and in these thirty days of its age and those
/// before it has earned less than it cost. What could pay comes first among its ideas then.
pub fn seeks_revenue(life: &Life) -> bool {
    let Purse { spent_this_month, spent_last_month, earned_this_month, earned_last_month, .. } = &life.purse;
    let short = *earned_this_month + *earned_last_month < *spent_this_month + *spent_last_month;
    life.laws().seeks_revenue && life.constitution().clocks().economic && life.phase() == Phase::Stable && short
}

/// The cost of a time in micro-USDC × milliseconds: whole numbers, so that any split of time costs the same.
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
    ((i128::from(life.purse.dust) + accrued(life, lived)) % DAY) as i64
}

/// Ticks until want of money ends it, at the present burn rate; none if nothing burns.
pub fn projected_ticks(life: &Life) -> Option<u64> {
    projected_life(life).map(|left| left.as_millis() / life.interval().as_millis().max(1))
}

/// World time until want of money ends it. By the day and not by the tick: looking less often spends no less.
pub fn projected_life(life: &Life) -> Option<Span> {
    let burning = life.purse.burn_a_day > 0.0 && life.constitution().clocks().economic;
    let left = (life.purse.credit - reserve(life)).as_f64().max(0.0);
    burning.then(|| Span::millis((left / life.purse.burn_a_day * Span::DAY.as_millis() as f64) as u64))
}
