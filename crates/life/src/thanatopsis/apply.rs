//! Applying the steps of a death.

use super::Event;
use crate::life::Life;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    let Some(death) = &mut life.death else { return };
    match event {
        Event::Reflected { hash } => death.progress.testament = Some(*hash),
        Event::Bequeathed { hash, entries } => death.progress.legacy = Some((*hash, *entries)),
    }
}
