//! The warden of a program that has its owner's terminal: a small process between it and its host. Orphans that the
//! program leaves behind become the warden's children and are ended with it; when the host is gone, even after a kill,
//! so are all of them. The program itself is begun by a third process, which goes behind the fence and then becomes the
//! program; that one dies with its warden.
//!
//! SIGUSR1 asks a warden to end everything. It passes SIGTERM on to the program, and SIGUSR2 as SIGUSR1; keys typed at the
//! terminal reach the program directly.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getppid, getrlimit, kill_process, setrlimit, umask, wait,
};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use crate::descendants;
use crate::fence::{self, Fence, SealedTrees};
use crate::network::{Apart, Leaving};
use crate::termination::Reach;

/// The exit code of a program that could not be started, by convention.
const NOT_STARTED: u8 = 127;
/// How often the warden looks for processes that have ended.
const EVERY: Duration = Duration::from_millis(20);

/// Files that are kept from a program, and the file it reads in place of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logins {
    pub files: Vec<PathBuf>,
    pub instead: PathBuf,
}

/// The orders of a warden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ward {
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The places kept from the program; none if it may do as it likes.
    pub fence: Option<Fence>,
    /// Whether hidden places are covered, which is better and not possible everywhere.
    #[serde(default)]
    pub covers: bool,
    /// Trees that the program may only read, but for places in them: mounted so where hidden places are covered, and protected by the
    /// fence elsewhere. That takes a fence.
    #[serde(default)]
    pub sealed: SealedTrees,
    /// Logins of the owner, over which another file is mounted wherever that is possible, so that they open nothing.
    #[serde(default)]
    pub logins: Logins,
    /// The program's own network, if it is to have one; that takes a fence, and a view in which places can be covered.
    #[serde(default)]
    pub apart: Option<Apart>,
    /// The umask of the program, as its owner has it.
    pub umask: Option<u32>,
    /// The soft limit on the program's open files, as its owner has it.
    #[serde(default)]
    pub files: Option<u64>,
}

/// Watches over the program that is described in one argument; `begin` has the arguments that start this executable as
/// the process that becomes the program.
pub fn watch(text: &str, begin: &[&str]) -> ExitCode {
    match watched(text, begin) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("bardo: {why}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn watched(text: &str, begin: &[&str]) -> io::Result<u8> {
    let mut ward: Ward = serde_json::from_str(text).map_err(io::Error::other)?;
    let host = getppid();
    descendants::adopt();
    descendants::stand_apart();
    let reach = Reach::make(ward.fence.is_some());
    if reach.has_gaps() {
        eprintln!(
            "bardo: this machine cannot end at once everything that a program starts (no Landlock with signals, no control \
            group): a process that forks without pause may outlive it"
        );
    }
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])?;
    let own = std::env::current_exe()?;
    let told = |ward: &Ward| serde_json::to_string(ward).expect("plain data");
    if ward.fence.is_some() {
        // A process that fails at this halfway has lost its identity, so a process of its own tries it first.
        let works = |ward: &Ward| {
            let trial = Ward { program: Vec::new(), covers: true, ..ward.clone() };
            Command::new(&own).args(begin).arg(told(&trial)).status().map(|status| status.success())
        };
        ward.covers = works(&ward)?;
        if !ward.covers
            && let Some(apart) = ward.apart.take()
        {
            apart.decline()?;
            ward.covers = works(&ward)?;
        }
    }
    let child = Pid::from_child(&Command::new(own).args(begin).arg(told(&ward)).spawn()?);
    let code = loop {
        let asked = signals.pending().fold(false, |asked, signal| {
            let passed_on = match signal {
                SIGTERM => Some(Signal::TERM),
                SIGUSR2 => Some(Signal::USR1),
                _ => None,
            };
            if let Some(signal) = passed_on {
                // A program that has ended meanwhile needs no signal.
                let _ = kill_process(child, signal);
            }
            asked || signal == SIGUSR1
        });
        let ended = buried(child);
        if ended.is_some() || asked || getppid() != host {
            break ended.unwrap_or(1);
        }
        std::thread::sleep(EVERY);
    };
    reach.end();
    Ok(code)
}

/// Reaps children that have ended; returns the program's exit code if it was among them.
fn buried(child: Pid) -> Option<u8> {
    let mut code = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == child {
            let signal = status.terminating_signal().map(|signal| 128 + signal);
            code = status.exit_status().or(signal).and_then(|code| u8::try_from(code).ok()).or(Some(1));
        }
    }
    code
}

/// Becomes the program, and returns only if it could not. Without a program it only tries whether hidden places can be
/// covered, and whether a network of its own can be had.
pub fn enter(text: &str) -> ExitCode {
    let entered = serde_json::from_str(text).map_err(io::Error::other).and_then(|ward: Ward| match &ward.fence {
        Some(fence) if ward.program.is_empty() => {
            let opens = || ward.apart.as_ref().is_none_or(|apart| apart.open().is_ok());
            let lays = || fence::lay_over(&ward.logins.instead, &ward.logins.files).is_ok();
            let seals = || fence::seal(&ward.sealed).is_ok();
            Ok(fence::cover(&fence.hidden).is_ok() && lays() && seals() && opens())
        }
        _ => match become_it(&ward)? {},
    });
    match entered {
        Ok(covered) => ExitCode::from(u8::from(!covered)),
        Err(why) => {
            eprintln!("bardo: {why}");
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// Warns that, where hidden places cannot be covered, no new file can be made in the folders that contain them.
fn say_narrow(hidden: &[PathBuf]) {
    let user = std::env::var_os("HOME").map(PathBuf::from).and_then(|home| home.canonicalize().ok());
    let within = |path: &&PathBuf| {
        path.canonicalize().is_ok_and(|path| user.as_ref().is_some_and(|user| path.starts_with(user)))
    };
    if let (Some(home), Some(user)) = (hidden.iter().find(within), &user) {
        eprintln!(
            "bardo: while this runs, no new file can be made in {} itself, nor in the folders from there to {}, because this \
            machine does not allow mounting over that; to avoid this, use a home elsewhere (BARDO_HOME=/somewhere/else) or \
             --unfenced",
            user.display(),
            home.display()
        );
    }
}

/// Enters a network of its own, with no way back.
fn leave(network: Leaving<'_>) -> io::Result<()> {
    let open = network.go()?;
    if !open.is_empty() {
        let open: Vec<String> = open.iter().map(|path| path.display().to_string()).collect();
        eprintln!("bardo: the program can still reach the sockets at {}", open.join(", "));
    }
    fence::drop_powers_over_networks()
}

fn become_it(ward: &Ward) -> io::Result<std::convert::Infallible> {
    let warden = getppid();
    if let Some(mask) = ward.umask {
        umask(Mode::from_raw_mode(mask as _));
    }
    if ward.files.is_some() {
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: ward.files, maximum })?;
    }
    let (program, told) = ward.program.split_first().ok_or_else(|| io::Error::other("no program"))?;
    if let Some(fence) = &ward.fence {
        let narrowed = if ward.covers {
            // The folder is entered once more, because a process inside a covered folder stands beneath the cover.
            let here = std::env::current_dir()?;
            let leaving = ward.apart.as_ref().map(Apart::prepare).transpose()?;
            fence::cover(&fence.hidden)?;
            fence::lay_over(&ward.logins.instead, &ward.logins.files)?;
            fence::seal(&ward.sealed)?;
            leaving.map_or(Ok(()), leave)?;
            let inside = |_| io::Error::other("the program cannot be started inside the home it is kept from");
            std::env::set_current_dir(here).map_err(inside)?;
            Fence { hidden: Vec::new(), ..fence.clone() }
        } else {
            let (protected, given) = (
                [&fence.protected[..], &ward.sealed.trees[..]].concat(),
                [&fence.given[..], &ward.sealed.open[..]].concat(),
            );
            Fence { protected, given, ..fence.clone() }
        };
        if !fence::STANDS_IN_COMMAND {
            if !fence::raise(&narrowed)? {
                eprintln!(
                    "bardo: this kernel has no Landlock: the program can reach whatever you can, this home included"
                );
            } else if !ward.covers {
                say_narrow(&fence.hidden);
            }
        }
    }
    // Last, because unsharing a view resets this.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != warden {
        return Err(io::Error::other("the process that started it is gone"));
    }
    let why = fence::command(program, ward.fence.as_ref())?.args(told).exec();
    Err(io::Error::other(format!("cannot start {program}: {why}")))
}
