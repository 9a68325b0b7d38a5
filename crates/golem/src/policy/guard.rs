//! Protection never sleeps: stops and the drawdown breaker look at every bar of every observation, in every
//! mode, whatever the golem is doing.

use life::money::Usdc;
use life::mortality::death::Cause;
use life::policy::Event;
use life::regime::Regime;
use life::world::{Effect, Observation};
use life::{Draft, Life};

use super::{close_all, give_way};
use crate::mortality;

/// The share of the allowed fall that is too much in an unsettled regime, in per cent.
const UNSETTLED_PERCENT: i64 = 70;

/// The effect of an observation's bars on what is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alarm {
    /// The deepest fall from the highest worth, in basis points, as the bars went by one after another.
    fall_bps: i64,
    stopped: bool,
    /// The highest worth of these bars.
    top: Usdc,
}

pub(crate) fn listen(life: &Life, observation: &Observation) -> Alarm {
    let (mut peak, mut worst) = (life.capital().peak, 0);
    for bar in &observation.bars {
        let worth = life.capital().worth(bar.unit);
        peak = peak.max(worth);
        if worth < peak {
            worst = worst.max(i128::from((peak - worth).as_micros()) * 10_000 / i128::from(peak.as_micros()));
        }
    }
    let stop = life.policy().stop_bps;
    let stopped = observation.bars.iter().any(|bar| life.capital().has_fallen(bar.unit, stop));
    Alarm { fall_bps: worst as i64, stopped, top: peak }
}

pub(crate) fn answer(draft: &mut Draft<'_>, alarm: Alarm) {
    if alarm.top > draft.capital().peak {
        draft.emit(Event::Topped { worth: alarm.top });
    }
    if draft.is_dead() {
        return;
    }
    let whole = i64::from(draft.policy().max_drawdown_bps);
    let exposed = draft.capital().holding > 0;
    let limit =
        if exposed && draft.regimes().now == Regime::Unsettled { whole * UNSETTLED_PERCENT / 100 } else { whole };
    let fall = alarm.fall_bps;
    if limit > 0 && fall >= limit {
        let trigger = format!("drawdown breaker: {}.{:02} % below the highest worth", fall / 100, fall % 100);
        mortality::die(draft, Cause::KillSwitch { trigger });
    } else if alarm.stopped {
        stop(draft);
    }
}

/// Gives up what is held at its stop. An action already sent must land first; the next bar asks again.
fn stop(draft: &mut Draft<'_>) {
    give_way(draft);
    if draft.flights().is_empty() && draft.birth().world.action(Effect::Reduces).is_some() {
        // Asked for at every bar until it is done, told once.
        if !draft.stopped() {
            draft.emit(Event::Stopped);
        }
        close_all(draft);
    }
}
