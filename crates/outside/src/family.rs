//! Everything that a program has started. Whoever wraps an agent answers for all of it: what the agent leaves behind when it
//! goes is taken in by this process, and what is here when it must end is ended.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// How long whoever is asked to end may take to.
const ASKED: Duration = Duration::from_secs(2);
/// How long it is looked for more of them after that.
const LOOKED: Duration = Duration::from_secs(5);

/// From now on whoever loses its parent among those this process has started becomes a child of this process.
pub fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Asks all that this process has started to end, and ends them if they do not.
pub fn end() {
    let began = Instant::now();
    while began.elapsed() < LOOKED {
        if is_alone() {
            return;
        }
        tell(if began.elapsed() < ASKED { Signal::TERM } else { Signal::KILL });
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Sends a signal to all that this process has started, as far as they can be listed.
pub(crate) fn tell(signal: Signal) {
    for pid in descendants() {
        // Who has ended meanwhile needs no telling.
        let _ = kill_process(pid, signal);
    }
}

/// Nobody is left who runs and comes from this process.
pub(crate) fn is_alone() -> bool {
    descendants().is_empty()
}

/// Buries whoever has ended and was this process's own or has become so.
pub(crate) fn bury() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// Those who run and come from this process; who has ended and waits to be buried does not run.
fn descendants() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let stats = entries.flatten().filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let known: Vec<(i32, i32)> = stats.filter_map(|stat| parentage(&stat)).collect();
    let mut family = vec![rustix::process::getpid().as_raw_nonzero().get()];
    let mut at = 0;
    while at < family.len() {
        let parent = family[at];
        family.extend(known.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    family[1..].iter().filter_map(|pid| Pid::from_raw(*pid)).collect()
}

/// The number of a process and of its parent, unless it has ended.
fn parentage(stat: &str) -> Option<(i32, i32)> {
    let (front, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let (state, parent) = (fields.next()?, fields.next()?.parse().ok()?);
    (state != "Z").then_some((front.split(' ').next()?.parse().ok()?, parent))
}
