//! Orders that stop something, where nothing can be written: they have a reserve of room, and where that does not help
//! either, whatever needs no record is done, and the error says that the rest is not.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::sync::Mutex;

use golem::{Command, GolemId};
use rustix::process::{Pid, Signal, kill_process};
use vault::{Glance, Head, Holder, Log, Reader};

use crate::Error;
use crate::home::GolemHome;
use crate::locks::lock;

/// The effect of an order that stops something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrakeKind {
    /// New exposure.
    Freezes,
    /// Time, or the life: until that is on record the golem is frozen at least.
    Ends,
    /// Nothing that runs: money comes back, an ask is answered, a brake is let go.
    Settles,
}

/// Results of an order that may not have been written down.
pub(super) trait Came: Sized {
    /// Why nothing, or not all of it, is on record.
    fn why_not(came: &Result<Self, Error>) -> Option<&Error>;
    /// Whether some of it may be on record.
    fn has_begun(came: &Result<Self, Error>) -> bool;
    /// Turns a failure into a result that says some of it may be on record, though not by the last attempt.
    fn unsure(came: Result<Self, Error>) -> Result<Self, Error>;
}

impl Came for () {
    fn why_not(came: &Result<(), Error>) -> Option<&Error> {
        came.as_ref().err()
    }

    fn has_begun(_: &Result<(), Error>) -> bool {
        false
    }

    fn unsure(came: Result<(), Error>) -> Result<(), Error> {
        came
    }
}

impl BrakeKind {
    /// The effect of a command; none if it can wait for room like every other order.
    pub(super) fn of(command: &Command) -> Option<BrakeKind> {
        match command {
            Command::Freeze { .. } => Some(BrakeKind::Freezes),
            Command::Pause | Command::Retire { .. } | Command::Halt { .. } => Some(BrakeKind::Ends),
            Command::Resume | Command::Withdraw { .. } | Command::Approve { .. } => Some(BrakeKind::Settles),
            Command::Dream
            | Command::Dreams { .. }
            | Command::Wake
            | Command::Amend { .. }
            | Command::Ask { .. }
            | Command::Steer { .. }
            | Command::Claim { .. }
            | Command::Propose(_)
            | Command::Say(_) => None,
        }
    }
}

/// Gives an order, and if the disk does not take it once more with the room that is kept for it. The order must be one
/// that counts once however often it is given.
pub(super) fn insist<T: Came>(
    place: &GolemHome,
    kind: BrakeKind,
    order: impl Fn() -> Result<T, Error>,
) -> Result<T, Error> {
    let is_kept_out = |came: &Result<T, Error>| T::why_not(came).is_some_and(Error::is_of_disk);
    let mut came = order();
    let mut begun = T::has_begun(&came);
    // A quota is full on a disk that is not.
    if is_kept_out(&came) && !place.home().is_read_only() && place.home().give_up_reserve() {
        came = order();
        begun |= T::has_begun(&came);
    }
    match T::why_not(&came) {
        Some(why) if why.is_of_disk() && !begun => Err(unwritten(place, kind, why)),
        Some(why) if why.is_of_disk() => {
            freeze_instead(place, kind);
            T::unsure(came)
        }
        _ => came,
    }
}

/// Freezes a golem that is to end, where there is no room to write down that it is to end.
fn freeze_instead(place: &GolemHome, kind: BrakeKind) -> bool {
    let closed = kind == BrakeKind::Ends && !place.home().is_read_only();
    closed && mark(&place.present(), "there was no room to write down that it was stopped").is_ok()
}

/// Marks it frozen. Only the marker counts, and it needs no room on a disk; the reason in it may find none.
pub(super) fn mark(place: &GolemHome, reason: &str) -> Result<(), Error> {
    let marker = place.frozen_marker();
    let mut file = fs::File::create(&marker).map_err(Error::io("cannot write", &marker))?;
    match file.write_all(reason.as_bytes()).and_then(|()| file.sync_all()) {
        Err(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => Ok(()),
        done => done.map_err(Error::io("cannot write", &marker)),
    }
}

/// Whether another process has it, which can be written to all the same: one of another version, or one that hangs while
/// it holds the file.
pub(super) fn is_anothers(place: &GolemHome, why: &Error) -> bool {
    let lives = || place.home().is_up() || id(place).is_some_and(|id| Head::is_taken(&place.home().heads(), id));
    match why {
        Error::Vault(vault::Error::TooNew(_) | vault::Error::Newer(_)) => lives(),
        Error::Vault(why) => why.is_held(),
        _ => false,
    }
}

pub(super) fn id(place: &GolemHome) -> Option<GolemId> {
    let read = || Reader::open(&place.database()).and_then(|reader| reader.id()).ok();
    Glance::read(&place.vault()).map(|glance| glance.id).or_else(read)
}

/// The error for an order that could not be recorded: what was done instead, and why.
fn unwritten(place: &GolemHome, kind: BrakeKind, why: &Error) -> Error {
    let home = place.home();
    let instead = match kind {
        BrakeKind::Settles => "repeat it once something can be written".to_owned(),
        _ if home.is_read_only() => stop_whoever_lives(place),
        _ if freeze_instead(place, kind) => {
            "it is frozen until then: no new exposure; repeat it once there is room".to_owned()
        }
        BrakeKind::Ends | BrakeKind::Freezes => "repeat it once something can be written".to_owned(),
    };
    Error::Unwritten { why: why.to_string(), instead }
}

/// Stops the process that runs it by a signal, which can be heard where nothing can be written.
fn stop_whoever_lives(place: &GolemHome) -> String {
    let heads = place.home().heads();
    let own = id(place).filter(|id| Head::is_taken(&heads, *id)).map(|id| Head::path(&heads, id));
    let path = own.or_else(|| place.home().is_up().then(|| Log::lock(&heads)));
    let again = "repeat it once the home can be written";
    let Some(path) = path else { return format!("no process runs it; {again}") };
    match Holder::of(&path) {
        Holder::Ours(pid) if pid != std::process::id() && stop(pid) => {
            format!("process {pid}, which ran it, was told to stop; {again}")
        }
        holder => format!("{holder} runs it and was not told to stop; {again}"),
    }
}

/// Sends the signal once, however many of its golems are to be stopped: at a second one the process would leave at
/// once.
fn stop(pid: u32) -> bool {
    static TOLD: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    let mut told = lock(&TOLD);
    let tell = |pid: Pid| kill_process(pid, Signal::TERM).is_ok();
    let is_told = told.contains(&pid) || i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(tell);
    if is_told {
        told.insert(pid);
    }
    is_told
}
