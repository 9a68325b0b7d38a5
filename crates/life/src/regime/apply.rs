//! Applying a change of regime.

use super::Event;
use crate::daimon::{self, Felt};
use crate::life::Life;
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, Event::Changed { to, .. }: &Event) {
    life.regimes.change(*to, at);
    daimon::feel(life, Felt::RegimeShift);
}
