//! Reviewing whether learning about each domain has come to anything.

use life::Draft;
use life::goal::{Ended, Event, Goal};

/// Reviews, every so many ticks, whether more is known of each domain than the naive forecast knows.
pub(crate) fn review(draft: &mut Draft<'_>) {
    if draft.tick() == 0 || !draft.tick().is_multiple_of(draft.constitution().grace()) {
        return;
    }
    for domain in 0..draft.epistemic().domains.len() {
        let shown = &draft.epistemic().domains[domain];
        if shown.weight >= draft.laws().domain_minimum {
            // A golem that only repeats the naive forecast claims to know nothing, and has not failed at it.
            let (skill, echo) = (shown.skill(), draft.laws().echo);
            if skill.abs() > echo {
                let ended = if skill > 0.0 { Ended::Effective } else { Ended::Failed };
                draft.emit(Event::Finished { goal: Goal::Learn, domain: domain as u8, ended });
            }
        }
    }
}
