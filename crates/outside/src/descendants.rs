//! The descendants of this process: everything that a program has started. A process that wraps an agent answers for
//! all of them: orphans the agent leaves behind become its children, and those that are there when it must end are
//! ended.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// How long processes that are asked to end may take.
const ASKED: Duration = Duration::from_secs(2);
/// How long descendants are looked for and ended, in all.
const LOOKED: Duration = Duration::from_secs(5);

/// Adopts orphans: from now on, descendants of this process that lose their parent become its children.
pub fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Asks all descendants of this process to end, and kills those that do not.
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

/// Sends a signal to all descendants of this process, as far as they can be listed.
pub(crate) fn tell(signal: Signal) {
    for pid in descendants() {
        // A process that has ended meanwhile needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Whether no descendant of this process is running any more.
pub(crate) fn is_alone() -> bool {
    descendants().is_empty()
}

/// Reaps children that have ended, adopted ones too.
pub(crate) fn bury() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// Running descendants of this process; a zombie does not run.
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
