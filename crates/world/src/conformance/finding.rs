//! Findings: a promise that holds, or the sentence that says it does not.

use crate::Error;

/// Opens the same world once more.
pub(super) type Open<'a, W> = &'a mut dyn FnMut() -> Box<W>;

/// A promise that holds, or the sentence that says what does not.
pub(super) type Checked<T = ()> = Result<T, String>;

/// A promise that a world breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPromise {
    /// How it breaks it.
    pub sentence: String,
    /// The change that keeps it.
    pub change: &'static str,
}

#[derive(Default)]
pub(super) struct Findings {
    pub(super) broken: Vec<BrokenPromise>,
    /// The change to make where what is looked at now does not hold.
    pub(super) change: &'static str,
}

impl Findings {
    pub(super) fn say(&mut self, sentence: impl Into<String>) {
        self.say_how(sentence, self.change);
    }

    /// Says what is broken where it is known how.
    pub(super) fn say_how(&mut self, sentence: impl Into<String>, change: &'static str) {
        let sentence = sentence.into();
        if self.broken.iter().all(|known| known.sentence != sentence) {
            self.broken.push(BrokenPromise { sentence, change });
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
