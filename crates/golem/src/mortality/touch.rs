//! Watching whether a golem is still in touch with the world: warned, given time, and past recovery.

use life::Draft;
use life::mortality::{Event, Senescence};

/// How far above the warning level fitness must rise before falling below it is news again.
const RELIEF: f64 = 0.02;

/// The fewest ticks that a regime must have been met for before failing in it counts.
const UNFAMILIAR: u64 = 20;

/// Notes echoing, decline, grace, senescence and recovery as they begin and end.
pub(crate) fn watch(draft: &mut Draft<'_>, fitness: f64) {
    watch_echo(draft);
    if !draft.constitution().clocks().epistemic {
        return;
    }
    let figures = draft.constitution().epistemic.clone();
    let (tick, grace) = (draft.tick(), draft.constitution().grace());
    match draft.epistemic().declining_since {
        None if fitness < figures.warning => draft.emit(Event::EpistemicWarned),
        Some(_) if fitness >= figures.warning + RELIEF => draft.emit(Event::EpistemicRelieved),
        _ => {}
    }
    let familiar = draft.regimes().met() >= UNFAMILIAR;
    match draft.epistemic().senescence {
        Senescence::Sound if fitness < figures.senescence && familiar => draft.emit(Event::GraceOpened),
        Senescence::Grace { .. } if fitness > figures.recovery => draft.emit(Event::Recovered),
        // Between the two marks nothing is decided: the grace goes on until one of them is passed.
        Senescence::Grace { since } if tick >= since + grace && fitness < figures.senescence && familiar => {
            draft.emit(Event::Senesced);
        }
        Senescence::Senescent { .. } if fitness > figures.recovery => draft.emit(Event::Recovered),
        _ => {}
    }
}

fn watch_echo(draft: &mut Draft<'_>) {
    let laws = draft.laws();
    let tried = draft.epistemic().domains.iter().any(|d| d.weight >= laws.domain_minimum);
    let echoing = tried && draft.epistemic().domains.iter().all(|d| d.echoes(laws));
    if echoing {
        draft.emit(Event::Echoed);
    } else if draft.epistemic().echoed > 0 {
        draft.emit(Event::EchoBroken);
    }
}
