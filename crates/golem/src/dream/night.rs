//! The night itself, from falling asleep to being woken.

use life::Draft;
use life::clade::News;
use life::dream::schedule::{self, RULES_COST};
use life::dream::{Event, Found, Night, SleepStage, Trigger, Waker, blocked, length, owes};
use life::heartbeat::State;
use life::money::Usdc;
use life::mortality::{Partition, economic};
use life::policy::Refusal;
use life::world::Observation;

use super::staging::stage;
use super::waking::wake;
use crate::thought;

/// Falls asleep if it is time to. Run at the end of every waking tick.
pub(crate) fn consider(draft: &mut Draft<'_>) {
    if !draft.dreams().are_on(draft)
        || draft.is_dead()
        || draft.heartbeat().state != State::Sleeping
        || draft.heartbeat().paused
    {
        return;
    }
    let Some(trigger) = schedule::trigger(draft) else { return };
    match schedule::blocked_for(draft, trigger) {
        Some(why) => draft.emit(Event::Blocked { why }),
        None => fall_asleep(draft, trigger),
    }
}

/// Falls asleep on the owner's word: as good as any urgency, and bound by the same conditions.
pub(crate) fn ordered(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if draft.heartbeat().state != State::Sleeping || draft.heartbeat().paused {
        return Err(Refusal::Busy);
    }
    if let Some(why) = blocked(draft) {
        return Err(Refusal::Dream(why));
    }
    fall_asleep(draft, Trigger::Owner);
    Ok(())
}

/// Switches dreaming on or off, as the owner says; a night under way ends with it.
pub(crate) fn switched(draft: &mut Draft<'_>, on: bool) {
    if on != draft.dreams().are_on(draft) {
        draft.emit(Event::Switched { on });
    }
    if !on {
        wake(draft, Waker::Owner);
    }
}

fn fall_asleep(draft: &mut Draft<'_>, trigger: Trigger) {
    let (ticks, budget) = match trigger {
        // Compressed into a tick; there may be no more. The night is for the heirs, and so is the money that pays for
        // it.
        Trigger::Emergency => (1, Usdc::micros(RULES_COST).min(economic::budget(draft, Partition::Legacy))),
        _ => {
            let (ticks, budget) = length(draft);
            let left = schedule::left_this_month(draft).min(schedule::left_this_session(draft, trigger));
            (ticks, budget.min(left).min(schedule::inference(draft)))
        }
    };
    if ticks > 0 {
        assert!(draft.dreams().night.is_none(), "a night begins in another");
        draft.emit(Event::Began { trigger, ticks, budget });
        // Questions are asked before any work is done.
        thought::tonight(draft);
    }
}

/// A tick of a night has passed.
pub(crate) fn sleep(draft: &mut Draft<'_>) {
    if draft.dreams().night.is_some() {
        draft.emit(Event::Slept);
        proceed(draft);
    }
}

/// Takes in the findings of a stage, if it is the one that was asked for.
pub(crate) fn dreamt(draft: &mut Draft<'_>, found: &Found) {
    let asked = |night: &Night| night.number == found.night && night.phase == found.phase && !night.worked;
    if draft.dreams().night.as_ref().is_some_and(asked) {
        stage(draft, found);
        proceed(draft);
    }
}

/// Goes on with a night that waited for a model, which has answered or will not.
pub(crate) fn go_on(draft: &mut Draft<'_>) {
    if draft.dreams().night.is_some() && !draft.is_dead() {
        proceed(draft);
    }
}

/// Ends as many phases as it was time for, each once its work is done, and at the end the night.
fn proceed(draft: &mut Draft<'_>) {
    while draft.dreams().night.is_some() {
        let asking = thought::tonight(draft);
        let Some(night) = &draft.dreams().night else { return };
        let phase = night.phase;
        let shares = SleepStage::shares(draft.phase(), draft.constitution().dream.split);
        let through: u64 = shares[..=phase as usize].iter().sum();
        // A phase is over when the part of the night up to its end has been slept.
        let over = u64::from(night.slept) * 1_000 >= through * u64::from(night.ticks);
        if !over || asking || owes(draft).is_some() {
            return;
        }
        let due = night.budget.min(Usdc::micros(RULES_COST)).share(shares[phase as usize] as i64, 1_000);
        let cost = due.min(economic::free(draft));
        assert!(cost >= Usdc::ZERO, "a night brings money");
        draft.emit(Event::Passed { phase, cost });
        if phase == SleepStage::Return {
            draft.emit(Event::Left { woken: None });
        }
    }
}

/// Whether these bars end the night: the world has moved further than the owner wants to sleep through.
pub(crate) fn stirs(draft: &mut Draft<'_>, observation: &Observation) {
    let Some(night) = &draft.dreams().night else { return };
    let figures = &draft.constitution().dream;
    let (unit, bps) = (night.unit, i64::from(figures.wake_move_bps));
    let far = |now: Usdc| {
        let moved = i128::from((now - unit).as_micros().abs()) * 10_000;
        unit.is_positive() && moved >= i128::from(unit.as_micros()) * i128::from(bps)
    };
    if figures.wakes && bps > 0 && observation.bars.iter().any(|bar| far(bar.unit)) {
        wake(draft, Waker::World);
    }
}

pub(crate) fn heard(draft: &mut Draft<'_>, news: News) {
    let urgent = matches!(news, News::Crisis { .. } | News::Regime { .. });
    if urgent && draft.constitution().dream.wakes {
        wake(draft, Waker::Clade);
    }
}
