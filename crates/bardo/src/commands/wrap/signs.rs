//! Signs of a life that its line heeds. They are read off the record, so a run that goes on after a kill knows what the one before
//! it saw.

use golem::limits::DOMAINS;
use golem::{Event, Record, Time, call, prediction};
use tariff::Book;

use super::hazard::{CALL, WHOLE_WINDOW};

/// The level from which a check that passes or fails has passed.
const PASSES: f64 = 0.5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// The newest round of checks.
    pub(super) round: Time,
    /// Rounds since each check last passed; none before it first has.
    since: [Option<u32>; DOMAINS],
    /// The part of its model's window that the newest call took, in thousandths; none where the book has no window.
    pub(super) window: Option<u32>,
    /// Age by its calls, in thousandths of one: a call that takes its whole window ages it more.
    pub(super) age: u64,
}

impl Signs {
    pub(super) fn note(&mut self, record: &Record, book: &Book) {
        for event in &record.events {
            match event {
                Event::Prediction(prediction::Event::Sensed { until, bars, values, .. }) => {
                    self.round = *until;
                    for (since, value) in self.since.iter_mut().zip(values) {
                        let longer = since.map(|rounds| rounds.saturating_add(*bars));
                        *since = if *value > PASSES { Some(0) } else { longer };
                    }
                }
                Event::Call(call::Event::Settled { how: call::How::Told, used, .. }) => {
                    let tokens = u64::from(used.input) + u64::from(used.output);
                    let window = book.find(&used.model).and_then(|row| row.context).filter(|window| *window > 0);
                    self.window = window.map(|window| u32::try_from(tokens * 1_000 / window).unwrap_or(u32::MAX));
                    self.age += CALL + WHOLE_WINDOW * u64::from(self.window.unwrap_or(0).min(1_000));
                }
                Event::Call(call::Event::Settled { how: call::How::Cut | call::How::Lost, .. }) => self.age += CALL,
                _ => {}
            }
        }
    }

    /// Whether a check passed in the newest round.
    pub(super) fn passes(&self, check: usize) -> bool {
        self.since.get(check) == Some(&Some(0))
    }

    /// How many rounds in a row a check has failed that passed before; none, if it never has.
    pub(super) fn failed_for(&self, check: usize) -> u32 {
        self.since.get(check).copied().flatten().unwrap_or(0)
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
        let (mut signs, book) = (Signs::default(), Book::built_in());
        assert!(!signs.passes(0) && !signs.passes(DOMAINS));
        signs.note(&round(1, &[0.0, 1.0]), &book);
        assert!(!signs.passes(0) && signs.passes(1) && signs.round == Time::seconds(1));
        signs.note(&round(2, &[1.0, 0.0]), &book);
        assert!(signs.passes(0) && !signs.passes(1));
    }

    #[test]
    fn only_a_check_that_has_passed_is_counted_as_failing_since() {
        let (mut signs, book) = (Signs::default(), Book::built_in());
        for at in 1..5 {
            signs.note(&round(at, &[0.0, f64::from(u8::from(at == 2))]), &book);
        }
        assert_eq!((signs.failed_for(0), signs.failed_for(1)), (0, 2));
        signs.note(&round(5, &[0.0, 1.0]), &book);
        assert_eq!(signs.failed_for(1), 0);
    }

    #[test]
    fn a_window_is_taken_up_by_the_newest_call_whose_usage_was_told() {
        let settled = |model: &str, how, input| {
            let used = call::Used { model: model.to_owned(), input, output: 10, took: 1 };
            let event = call::Event::Settled { key: 1, cost: Usdc::ZERO, over: Usdc::ZERO, how, used };
            Record { seq: 1, at: Time::default(), events: vec![event.into()] }
        };
        let (mut signs, book) = (Signs::default(), Book::built_in());
        let row = book.rows().iter().find(|row| row.context.is_some_and(|window| window >= 1_000)).unwrap();
        let window = row.context.unwrap();
        signs.note(&settled(&row.name, call::How::Told, u32::try_from(window / 2).unwrap()), &book);
        assert!((500..=510).contains(&signs.window.unwrap()), "{:?} of {window}", signs.window);
        signs.note(&settled(&row.name, call::How::Cut, 1), &book);
        assert!(signs.window.is_some_and(|part| part >= 500), "what was not told is not believed");
        signs.note(&settled("http://127.0.0.1:9/v1/m", call::How::Told, 1), &book);
        assert_eq!(signs.window, None);
        // Three calls, one of which took half of a window; one that cost nothing does not count.
        signs.note(&settled(&row.name, call::How::Nothing, 1), &book);
        assert!((3 * CALL + 2_000..3 * CALL + 2_050).contains(&signs.age), "{}", signs.age);
    }
}
