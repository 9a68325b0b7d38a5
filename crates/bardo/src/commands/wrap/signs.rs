//! Signs of a life that its line heeds. They are read off the record, so a run that goes on after a kill knows what the one before
//! it saw.

use golem::limits::DOMAINS;
use golem::{Event, Record, Time, prediction};

/// The level from which a check that passes or fails has passed.
const PASSES: f64 = 0.5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// The newest round of checks.
    pub(super) round: Time,
    /// Rounds since each check last passed; none before it first has.
    since: [Option<u32>; DOMAINS],
}

impl Signs {
    pub(super) fn note(&mut self, record: &Record) {
        for event in &record.events {
            if let Event::Prediction(prediction::Event::Sensed { until, bars, values, .. }) = event {
                self.round = *until;
                for (since, value) in self.since.iter_mut().zip(values) {
                    *since = if *value > PASSES { Some(0) } else { since.map(|rounds| rounds.saturating_add(*bars)) };
                }
            }
        }
    }

    /// Whether a check passed in the newest round.
    pub(super) fn passes(&self, check: usize) -> bool {
        self.since.get(check) == Some(&Some(0))
    }
}

#[cfg(test)]
mod tests {
    use golem::Usdc;

    use super::*;

    fn round(at: u64, values: &[f64]) -> Record {
        let values = values.iter().copied().collect();
        let sensed = prediction::Event::Sensed { until: Time::seconds(at), bars: 1, values, unit: Usdc::dollars(1) };
        Record { seq: at, at: Time::seconds(at), events: vec![sensed.into()] }
    }

    #[test]
    fn a_check_passes_if_it_did_in_the_newest_round() {
        let mut signs = Signs::default();
        assert!(!signs.passes(0) && !signs.passes(DOMAINS));
        signs.note(&round(1, &[0.0, 1.0]));
        assert!(!signs.passes(0) && signs.passes(1) && signs.round == Time::seconds(1));
        signs.note(&round(2, &[1.0, 0.0]));
        assert!(signs.passes(0) && !signs.passes(1));
    }
}
