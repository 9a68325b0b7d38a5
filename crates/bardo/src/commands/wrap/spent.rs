//! What a golem has run out of, in words, and what gives it more.

use golem::call::{Denied, Unit};
use golem::{Name, Usdc};

/// Name of the unit it is out of.
pub(super) fn name(out: Denied) -> &'static str {
    match out {
        Denied::Spent(unit) => unit.name(),
        _ => "money",
    }
}

/// Why a call was refused for it.
pub(super) fn why(out: Denied, left: Usdc) -> String {
    match out {
        Denied::Spent(Unit::Tokens) => "a call was refused that may take more tokens than are left".to_owned(),
        Denied::Spent(Unit::Calls) => "a call was refused, because none is left".to_owned(),
        Denied::Spent(Unit::Hours) => "a call was refused, because its time is over".to_owned(),
        _ => format!("a call was refused that may cost more than the {left} it has left"),
    }
}

/// The command that gives it more.
pub(super) fn more(out: Denied, golem: &Name) -> String {
    match out {
        Denied::Spent(unit) => {
            let some = match unit {
                Unit::Tokens => "4000000",
                Unit::Calls => "1000",
                Unit::Hours => "4h",
            };
            format!("`bardo golem policy {golem} --set {}={some}`, or as many as you like,", unit.key(false))
        }
        _ => format!("`bardo golem fund {golem} 1`"),
    }
}
