//! Applying time and the three clocks. It calculates and never decides.

use super::{Event, Senescence, epistemic, vitality};
use crate::constitution::MindKind;
use crate::daimon;
use crate::heartbeat::State;
use crate::life::Life;
use crate::money::Usdc;
use crate::mortality::economic;
use crate::stress::Ledger;
use crate::time::{Span, Time};

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Aged { lived, cost } => age(life, at, *lived, *cost),
        Event::EconomicCritical => life.purse.critical = true,
        Event::EconomicRelieved => life.purse.critical = false,
        Event::Echoed => life.epistemic.echoed += 1,
        Event::EchoBroken => life.epistemic.echoed = 0,
        Event::EpistemicWarned => life.epistemic.declining_since = Some(life.tick),
        Event::EpistemicRelieved => life.epistemic.declining_since = None,
        Event::GraceOpened => life.epistemic.senescence = Senescence::Grace { since: life.tick },
        Event::Senesced => life.epistemic.senescence = Senescence::Senescent { since: life.tick },
        Event::Recovered => life.epistemic.senescence = Senescence::Sound,
        Event::VitalityUpdated { composite } => {
            let fitness = epistemic::fitness(life);
            life.epistemic.peak = life.epistemic.peak.max(fitness);
            life.vitality.economic = economic::score(life);
            life.vitality.epistemic = fitness;
            life.vitality.age_factor = vitality::age_factor(life);
            life.vitality.composite = *composite;
            life.vitality.ticks_in_phase += 1;
            life.vitality.last_computed = at;
            daimon::pass(life);
            if life.heartbeat.state != State::Dreaming {
                let laws = life.laws();
                life.knowing.fiber.pass(life.tick, laws);
            }
        }
        Event::PhaseChanged { from, to, .. } => {
            assert!(life.vitality.phase == *from, "a phase is left that it is not in");
            life.vitality.previous_phase = Some(*from);
            life.vitality.phase = *to;
            life.vitality.ticks_in_phase = 0;
            life.heartbeat.epoch += 1;
        }
        Event::Rolled { .. } => {}
        Event::Died(death) => {
            assert!(life.death.is_none(), "it dies twice");
            life.death = Some(death.clone());
        }
    }
}

/// Ages a life by a tick: it cost something, and what was shown long ago counts for less.
fn age(life: &mut Life, at: Time, lived: Span, cost: Usdc) {
    assert!(life.death.is_none(), "the dead grow older");
    assert!(lived <= at.since(life.lived_until), "more is lived than time has passed");
    assert!(cost >= Usdc::ZERO, "living brings money");
    let (burn, laws) = (cost.as_f64(), life.laws());
    let keep = laws.burn_keep;
    life.purse.dust = economic::dust_after(life, lived);
    life.purse.spend(cost, life.age, laws);
    life.purse.burn_rate = if life.tick == 0 { burn } else { life.purse.burn_rate * keep + burn * (1.0 - keep) };
    if lived > Span::ZERO {
        let a_day = burn * Span::DAY.as_millis() as f64 / lived.as_millis() as f64;
        let old = life.purse.burn_a_day;
        life.purse.burn_a_day = if old == 0.0 { a_day } else { old * keep + a_day * (1.0 - keep) };
    }
    life.tick += 1;
    life.age = life.age + lived;
    life.lived_until = at;
    let window = life.birth.constitution.fitness_window(laws);
    // An outside mind speaks when it has something to say, so its record does not fade in silence.
    if life.birth.constitution.mind.kind != MindKind::Outside {
        life.epistemic.fade(window);
    }
    life.execution.domain.fade(window);
    life.execution.fade(laws);
    life.regimes.met[life.regimes.now as usize] += 1;
    life.episodes.surprise.close(laws.surprise_memory);
    life.stress.live(lived);
    Ledger::mark(life, laws);
}
