//! Exit codes, as documented.

use shell::Error;

pub(crate) const ERROR: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const CONFIG: u8 = 3;
pub(crate) const DEAD: u8 = 4;
pub(crate) const BUDGET: u8 = 5;
pub(crate) const REFUSED: u8 = 6;
/// A program that may only call through its golem, and did not.
pub(crate) const SILENT: u8 = 7;
/// A program that was to make so many calls has made them.
pub(crate) const RETIRED: u8 = 8;
/// All lives of a line have been lived, and its check does not pass.
pub(crate) const LIVED_OUT: u8 = 9;
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit code of a command that failed with this error.
pub(crate) fn code_of(error: &Error) -> u8 {
    match error {
        Error::Config(_) => CONFIG,
        Error::Dead(..) => DEAD,
        Error::Refused(_) | Error::Copy { .. } => REFUSED,
        Error::Vault(vault::Error::TreasuryShort { .. }) => BUDGET,
        _ => ERROR,
    }
}
