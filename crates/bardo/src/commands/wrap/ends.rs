//! How a life of a line ends where its owner has asked beforehand for it to end. The cause of its death says so in the record, in
//! a form that is read again when the line goes on.

use std::fmt;

use golem::mortality::death::Cause;

/// The beginning of each reason that a line gives; every other end by its owner's order ends the line too.
const MARK: &str = "line: ";
/// Name of the unit that a line shares out, and the word for a life that has spent its share.
const MONEY: &str = "money";
const SPENT: &str = "spent";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LifeEnd {
    /// The check that the line is for passes.
    Passed { check: String },
    /// The share is spent, or it is out of something else.
    Spent { of: &'static str },
    /// The program has ended by itself.
    Itself { code: u8 },
    /// As many calls were made as a life was to make.
    Calls { most: u64 },
    /// The newest call took so many thousandths of its model's window.
    Context { taken: u32 },
    /// Chance, which its owner asked for, at an age by its calls.
    Chance,
    /// A check that passed in it has failed in so many rounds since.
    Red { check: String, rounds: u32 },
    /// Calls ran away, and were stopped.
    Looped { how: String },
}

impl LifeEnd {
    /// One word for it, for programs.
    pub(super) fn word(&self) -> &'static str {
        match self {
            LifeEnd::Passed { .. } => "passed",
            LifeEnd::Spent { of: MONEY } => SPENT,
            LifeEnd::Spent { .. } => "capped",
            LifeEnd::Itself { .. } => "itself",
            LifeEnd::Calls { .. } => "calls",
            LifeEnd::Context { .. } => "context",
            LifeEnd::Chance => "chance",
            LifeEnd::Red { .. } => "red",
            LifeEnd::Looped { .. } => "loop",
        }
    }

    /// The reason of its death, as the record has it.
    pub(super) fn reason(&self) -> String {
        format!("{MARK}{}, {self}", self.word())
    }
}

impl fmt::Display for LifeEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LifeEnd::Passed { check } => write!(f, "{check} passes"),
            LifeEnd::Spent { of: MONEY } => write!(f, "its share of the money is spent"),
            LifeEnd::Spent { of } => write!(f, "it is out of {of}"),
            LifeEnd::Itself { code: 0 } => write!(f, "its program ended"),
            LifeEnd::Itself { code } => write!(f, "its program ended with {code}"),
            LifeEnd::Calls { most: 1 } => write!(f, "it has aged: it has made its call"),
            LifeEnd::Calls { most } => write!(f, "it has aged: it has made its {most} calls"),
            LifeEnd::Context { taken } => {
                write!(f, "it has aged: its last call took {} % of its model's window", taken / 10)
            }
            LifeEnd::Chance => write!(f, "it has aged, and chance has ended it"),
            LifeEnd::Red { check, rounds: 1 } => write!(f, "{check} passed in it, and then failed"),
            LifeEnd::Red { check, rounds } => {
                write!(f, "{check} passed in it, and then failed in {rounds} rounds")
            }
            LifeEnd::Looped { how } => write!(f, "it went round in a loop: {how}"),
        }
    }
}

/// Whether a line goes on after the death of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineGoesOn {
    /// With an heir.
    Yes,
    /// The check that it was for passed.
    Passed,
    /// The owner has ended it, or a halt has ended everything.
    Ended,
}

/// The word and the sentence that a line gave as the reason of a death.
fn by_line(cause: &Cause) -> Option<(&str, &str)> {
    match cause {
        Cause::OwnerKill { reason } => reason.strip_prefix(MARK)?.split_once(", "),
        _ => None,
    }
}

/// Read off the record alone, so that it is the same after a kill.
pub(super) fn goes_on(cause: &Cause) -> LineGoesOn {
    match (by_line(cause), cause) {
        (Some(("passed", _)), _) => LineGoesOn::Passed,
        (Some(_), _) => LineGoesOn::Yes,
        (None, cause) if cause.ends_the_line() => LineGoesOn::Ended,
        (None, _) => LineGoesOn::Yes,
    }
}

/// Whether it died because its share of the money was spent.
pub(super) fn is_spent(cause: &Cause) -> bool {
    by_line(cause).is_some_and(|(word, _)| word == SPENT)
}

/// A cause of death in the words of the line: without what is said of every life in it.
pub(super) fn words_for(cause: &Cause) -> String {
    by_line(cause).map_or_else(|| cause.to_string(), |(_, words)| words.to_owned())
}

/// One word for a cause of death, for programs.
pub(super) fn word_for(cause: &Cause) -> String {
    by_line(cause).map_or_else(|| cause.name().to_owned(), |(word, _)| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(reason: &str) -> Cause {
        Cause::OwnerKill { reason: reason.to_owned() }
    }

    #[test]
    fn an_end_is_read_again_from_the_record_as_it_was_written() {
        let ends = [
            (LifeEnd::Passed { check: "tests".to_owned() }, LineGoesOn::Passed, "tests passes"),
            (LifeEnd::Spent { of: "money" }, LineGoesOn::Yes, "its share of the money is spent"),
            (LifeEnd::Spent { of: "tokens" }, LineGoesOn::Yes, "it is out of tokens"),
            (LifeEnd::Itself { code: 3 }, LineGoesOn::Yes, "its program ended with 3"),
            (LifeEnd::Calls { most: 80 }, LineGoesOn::Yes, "it has aged: it has made its 80 calls"),
            (
                LifeEnd::Context { taken: 834 },
                LineGoesOn::Yes,
                "it has aged: its last call took 83 % of its model's window",
            ),
            (LifeEnd::Chance, LineGoesOn::Yes, "it has aged, and chance has ended it"),
            (
                LifeEnd::Red { check: "tests".to_owned(), rounds: 5 },
                LineGoesOn::Yes,
                "tests passed in it, and then failed in 5 rounds",
            ),
            (LifeEnd::Looped { how: "a, b".to_owned() }, LineGoesOn::Yes, "it went round in a loop: a, b"),
        ];
        for (end, on, said) in ends {
            let cause = died(&end.reason());
            assert_eq!((goes_on(&cause), words_for(&cause).as_str()), (on, said));
            assert_eq!(word_for(&cause), end.word());
            assert_eq!(is_spent(&cause), end == LifeEnd::Spent { of: "money" });
            assert!(end.reason().len() <= golem::limits::REASON, "a record keeps it whole");
        }
    }

    #[test]
    fn an_end_by_its_owner_ends_the_line_and_one_by_its_clocks_does_not() {
        for reason in ["", "enough", "passed, tests passes"] {
            assert_eq!(goes_on(&died(reason)), LineGoesOn::Ended, "{reason}");
        }
        assert_eq!(goes_on(&Cause::KillSwitch { trigger: "bardo halt".to_owned() }), LineGoesOn::Ended);
        let lost_touch = Cause::EpistemicSenescence {
            final_fitness: 0.2,
            fitness_at_peak: 0.6,
            ticks_in_senescence: 9,
            failing_domains: Vec::new(),
            last_successful_prediction: 1,
        };
        assert_eq!(goes_on(&lost_touch), LineGoesOn::Yes);
    }
}
