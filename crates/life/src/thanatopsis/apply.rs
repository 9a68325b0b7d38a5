//! Applying the steps of a death.

use super::Event;
use crate::life::Life;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    let Some(death) = &mut life.death else { return };
    match event {
        Event::Reflected { hash } => {
            assert!(death.progress.testament.is_none(), "a testament is written twice");
            death.progress.testament = Some(*hash);
        }
        Event::Bequeathed { hash, entries } => {
            assert!(death.progress.testament.is_some(), "a legacy comes before the testament");
            assert!(death.progress.legacy.is_none(), "a legacy is passed on twice");
            death.progress.legacy = Some((*hash, *entries));
        }
    }
}
