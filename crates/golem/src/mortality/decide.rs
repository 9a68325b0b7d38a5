//! The documents' sequence of eight steps, in their order, at the end of every tick, waking or dreaming, whether or not
//! the heartbeat has come round.

use life::clade::News;
use life::constitution::Mode;
use life::heartbeat::{self, State};
use life::mortality::death::{Cause, Death, Open};
use life::mortality::phase::Phase;
use life::mortality::vitality::Parts;
use life::mortality::{Event, Senescence, economic, epistemic, stochastic};
use life::thanatopsis::Progress;
use life::time::{Span, Time};
use life::{Draft, Life, stress};

use super::{touch, watch};
use crate::{clade, dream};

/// The longest step that is lived, in intervals: in a longer gap the host was away, and the excess is not lived.
pub const LONGEST_STEP: u64 = 16;

pub(crate) fn run(draft: &mut Draft<'_>, now: Time, roll: u64) {
    // 1. Economic health: living costs money, for exactly as long as it lasted.
    let lived = lived(draft, now);
    let cost = economic::living_cost(draft, lived);
    let from = draft.age();
    draft.emit(Event::Aged { lived, cost });
    watch::watch(draft);

    // 2. Epistemic fitness, and what follows from it.
    let fitness = epistemic::fitness(draft);
    touch::watch(draft, fitness);

    // 3. Composite vitality and its phase.
    let parts = Parts::of(draft, fitness);
    draft.emit(Event::VitalityUpdated { composite: parts.composite() });
    change_phase(draft, &parts);

    // 4 to 6. Three ways to die; whichever is first, kills.
    let cause = by_chance(draft, from, roll).or_else(|| by_hunger(draft)).or_else(|| by_losing_touch(draft));

    // 7 and 8. What a phase permits is read from its table, and every event above is the telemetry.
    if let Some(cause) = cause {
        die(draft, cause);
    }
}

fn lived(life: &Life, now: Time) -> Span {
    now.since(life.lived_until()).min(life.interval().times(LONGEST_STEP))
}

fn change_phase(draft: &mut Draft<'_>, parts: &Parts) {
    let from = draft.phase();
    let hysteresis = draft.constitution().vitality.hysteresis;
    let mut to = Phase::after(from, parts.composite(), hysteresis);
    if draft.constitution().mode == Mode::Immortal {
        to = to.max(Phase::Stable);
    }
    if to != from {
        draft.emit(Event::PhaseChanged { from, to, trigger: parts.weakest() });
    }
}

fn by_chance(draft: &mut Draft<'_>, from: Span, roll: u64) -> Option<Cause> {
    if !draft.constitution().clocks().stochastic {
        return None;
    }
    let robustness = stochastic::robustness(draft);
    let hazard = stochastic::risk(&draft.constitution().stochastic, from, draft.age(), robustness);
    draft.emit(Event::Rolled { hazard, roll });
    stochastic::dies(hazard, roll).then(|| Cause::Stochastic {
        hazard_rate: hazard,
        death_roll: stochastic::fraction(roll),
        tick_at_death: draft.tick(),
        epistemic_fitness: draft.vitality().epistemic,
        credit_balance: draft.purse().credit,
        was_in_senescence: matches!(draft.epistemic().senescence, Senescence::Senescent { .. }),
    })
}

fn by_hunger(life: &Life) -> Option<Cause> {
    let enabled = life.constitution().clocks().economic;
    (enabled && life.purse().credit <= economic::reserve(life)).then(|| economic_cause(life))
}

/// The death of a golem that has been senescent for as long again as it had time to recover, whatever money it has.
fn by_losing_touch(life: &Life) -> Option<Cause> {
    let lost = |since: u64| life.tick() >= since + life.constitution().senescent();
    let enabled = life.constitution().clocks().epistemic;
    let senescent = matches!(life.epistemic().senescence, Senescence::Senescent { since } if lost(since));
    (enabled && senescent).then(|| epistemic_cause(life))
}

fn economic_cause(life: &Life) -> Cause {
    Cause::Economic { balance: life.purse().credit, burn_rate: life.purse().burn_rate, ticks_alive: life.tick() }
}

fn epistemic_cause(life: &Life) -> Cause {
    Cause::EpistemicSenescence {
        final_fitness: life.vitality().epistemic,
        fitness_at_peak: life.epistemic().peak,
        ticks_in_senescence: match life.epistemic().senescence {
            Senescence::Senescent { since } => life.tick() - since,
            _ => 0,
        },
        failing_domains: epistemic::failing(life),
        last_successful_prediction: life.epistemic().last_success,
    }
}

pub(crate) fn die(draft: &mut Draft<'_>, cause: Cause) {
    let figures = &draft.constitution().stress;
    let open = |s: &stress::Stressor| Open { kind: s.kind, domain: s.domain, severity: s.severity(figures) };
    let open = draft.stress().active.iter().map(open).collect();
    let (at, tick, vitality) = (draft.at(), draft.tick(), draft.vitality().clone());
    let (progress, words) = (Progress::default(), None);
    let death = Death { at, tick, cause, vitality, closing_attempts: 0, open, reflected_on: false, words, progress };
    dream::wake(draft, dream::Waker::Death);
    draft.emit(Event::Died(Box::new(death)));
    draft.emit(heartbeat::Event::Turned(State::Dying));
    clade::call_out(draft, News::Death);
}
