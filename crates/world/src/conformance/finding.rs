//! Findings: a promise that holds, or the sentence that says it does not.

use crate::Error;

/// Opens the same world once more.
pub(super) type Open<'a, W> = &'a mut dyn FnMut() -> Box<W>;

/// A promise that holds, or the sentence that says what does not.
pub(super) type Checked<T = ()> = Result<T, String>;

#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<String>);

impl Findings {
    pub(super) fn say(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.0.contains(&sentence) {
            self.0.push(sentence);
        }
    }

    pub(super) fn of<T>(&mut self, checked: Checked<T>) -> Option<T> {
        checked.map_err(|sentence| self.say(sentence)).ok()
    }
}

pub(super) fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Turns an error of the world into a finding like any other.
pub(super) fn able<T>(to: &str, answer: Result<T, Error>) -> Checked<T> {
    answer.map_err(|error| format!("a world must be able to {to}: {error}"))
}
