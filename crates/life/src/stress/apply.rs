//! Applying facts to pressure. It calculates and never decides.

use super::{BREAKER_CYCLES, Event, Ledger, Mark};
use crate::laws::Laws;
use crate::life::Life;
use crate::time::Span;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    let (age, stress) = (life.age, &mut life.stress);
    match event {
        Event::Raised { kind, domain, severity } => {
            assert!(stress.find(*kind, *domain).is_none(), "a stressor presses twice");
            stress.raise(*kind, *domain, *severity, age);
        }
        Event::Pressed { kind, domain, presses } => stress.press(*kind, *domain, *presses),
        Event::Cleared(evidence) => {
            assert!(stress.find(evidence.kind(), evidence.domain()).is_some(), "a stressor clears that was not there");
            stress.end(evidence.kind(), evidence.domain(), evidence.severity(), age, false);
        }
        Event::Cycled { crises } => {
            assert!(*crises <= BREAKER_CYCLES, "a crisis goes on past the breaker");
            stress.crises = *crises;
        }
        Event::Suspended => {
            for stressor in stress.active.clone() {
                let severity = stressor.severity(&life.birth.constitution.stress);
                stress.end(stressor.kind, stressor.domain, severity, age, true);
            }
            stress.crises = 0;
            stress.broken = Some(age);
            stress.dream_wanted = true;
        }
        Event::Warned { domain, .. } => stress.heeding = Some(*domain),
        Event::Cautioned { key, percent } => stress.cautioned = Some((*key, *percent)),
        Event::Heeded { domain, helped } => {
            let laws = life.laws();
            life.stress.learned(*domain, *helped, laws);
        }
        Event::Assessed(assessed) => stress.asked.extend(assessed.named.iter().cloned()),
        Event::Named { holds } => stress.name(*holds, age),
        Event::Eased { at } => {
            let (rate, kept) = (life.birth.constitution.stress.named_rate, life.laws().named_kept);
            life.stress.ease(usize::from(*at), rate, age, kept);
        }
    }
}

impl Ledger {
    /// Notes how things stand if a quarter of a day has passed since the last note.
    pub(crate) fn mark(life: &mut Life, laws: &Laws) {
        let quarter = life.age.as_millis() / (Span::DAY.as_millis() / laws.marks_a_day);
        let ledger = &life.stress.ledger;
        if ledger.marks.back().is_some_and(|mark| mark.quarter >= quarter) {
            return;
        }
        let capital = &life.capital;
        let worth = capital.worth(life.seen.unit);
        let mark = Mark {
            quarter,
            fitness: life.vitality.epistemic,
            gained: worth + capital.withdrawn + capital.harvested - capital.given,
            worth,
            unit: life.seen.unit,
            actions: life.execution.domain.resolved,
        };
        let ledger = &mut life.stress.ledger;
        let before =
            ledger.marks.iter().rev().find(|old| old.quarter + laws.marks_a_day <= quarter).or(ledger.marks.front());
        ledger.falling = before.is_some_and(|old| mark.fitness < old.fitness);
        // Less than a week is too short to tell.
        let week = ledger.marks.front().filter(|old| old.quarter + laws.stress_marks <= quarter);
        ledger.below = week.is_some_and(|old| mark.wasted(old));
        ledger.marks.push_back(mark);
        while ledger.marks.front().is_some_and(|old| old.quarter + laws.stress_marks < quarter) {
            ledger.marks.pop_front();
        }
    }
}
