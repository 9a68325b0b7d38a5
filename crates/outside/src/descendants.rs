//! The descendants of this process: everything that a program has started. A process that wraps an agent answers for
//! all of them: orphans the agent leaves behind become its children, and those that are there when it must end are
//! ended. Where orphans always become children of the first process, as on macOS, they are known by the process group
//! that they are still in; one that has left its parent and its group is not found.

use std::process::{Command, Stdio};
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

/// A running process, as it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListedProcess {
    pid: i32,
    parent: i32,
    /// The process group of a program; none where that is of no use, because this process adopts orphans.
    group: Option<i32>,
}

/// The first process, which has the orphans that no other process adopts.
const FIRST: i32 = 1;

/// Enters a process group of its own, where orphans are known by their group, unless that would take the terminal from
/// the programs started here.
pub(crate) fn stand_apart() {
    use std::io::IsTerminal;
    if !cfg!(target_os = "linux") && !std::io::stdin().is_terminal() {
        // The leader of a group has one already.
        let _ = rustix::process::setpgid(None, None);
    }
}

/// Running descendants of this process; a zombie does not run.
fn descendants() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let listed = if cfg!(target_os = "linux") { by_proc() } else { by_ps() };
    family(own, &listed).into_iter().filter_map(Pid::from_raw).collect()
}

/// Everything below a process: its children, theirs, and orphans of a group that one of them leads or that it is in
/// itself. Its own ancestors are not below it, whatever group they are in.
fn family(own: i32, listed: &[ListedProcess]) -> Vec<i32> {
    let find = |pid: i32| listed.iter().find(|one| one.pid == pid);
    let mut above = vec![own];
    while let Some(one) = above.last().and_then(|pid| find(*pid)).filter(|one| !above.contains(&one.parent)) {
        above.push(one.parent);
    }
    let mut groups: Vec<i32> = find(own).and_then(|one| one.group).into_iter().collect();
    let (mut family, mut at) = (vec![own], 0);
    while at < family.len() {
        let parent = family[at];
        groups.push(parent);
        let orphaned = |one: &&ListedProcess| one.parent == FIRST && one.group.is_some_and(|of| groups.contains(&of));
        let below = |one: &&ListedProcess| one.parent == parent || orphaned(one);
        let new = |one: &&ListedProcess| !family.contains(&one.pid) && !above.contains(&one.pid);
        let found: Vec<i32> = listed.iter().filter(below).filter(new).map(|one| one.pid).collect();
        family.extend(found);
        at += 1;
    }
    family.split_off(1)
}

fn by_proc() -> Vec<ListedProcess> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let stats = entries.flatten().filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter_map(|stat| parentage(&stat)).collect()
}

/// The number of a process and of its parent, unless it has ended.
fn parentage(stat: &str) -> Option<ListedProcess> {
    let (front, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let (state, parent) = (fields.next()?, fields.next()?.parse().ok()?);
    let pid = front.split(' ').next()?.parse().ok()?;
    (state != "Z").then_some(ListedProcess { pid, parent, group: None })
}

/// The list that every Unix has a program for; that program itself is left out.
fn by_ps() -> Vec<ListedProcess> {
    let mut command = Command::new("ps");
    command.args(["-A", "-o", "pid=,ppid=,pgid=,stat="]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(child) = command.stdout(Stdio::piped()).spawn() else { return Vec::new() };
    let itself = i32::try_from(child.id()).unwrap_or_default();
    let Ok(output) = child.wait_with_output() else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(row).filter(|one| one.pid != itself).collect()
}

/// A process that has not ended: its number, its parent's, its group's and its state.
fn row(line: &str) -> Option<ListedProcess> {
    let mut words = line.split_whitespace();
    let mut number = || words.next()?.parse::<i32>().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    (!words.next()?.starts_with('Z')).then_some(ListedProcess { pid, parent, group: Some(group) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(table: &str) -> Vec<ListedProcess> {
        table.lines().filter_map(row).collect()
    }

    #[test]
    fn orphans_are_found_by_the_group_that_they_are_still_in() {
        // A shell, the command in its terminal, this process (30) and its program (31).
        let table = "\
            1 0 1 Ss
            10 1 10 Ss
            20 10 20 S+
            21 10 20 S+
            30 20 20 S+
            31 30 20 S+
            32 31 32 S
            33 31 20 Z+
            40 1 20 S+
            41 1 32 S
            42 41 42 S
            43 1 42 S
            50 1 50 Ss
            51 50 50 S";
        // Left: a sibling in the pipe (21), one that has ended (33), and processes of others (50, 51).
        assert_eq!(family(30, &listed(table)), [31, 40, 32, 41, 42, 43]);
        // Without a shell above it, the command that started this process is an orphan of the same group.
        let orphaned = "1 0 1 Ss\n20 1 20 S\n30 20 20 S\n31 30 20 S";
        assert_eq!(family(30, &listed(orphaned)), [31]);
        // Where orphans are adopted, groups are not looked at.
        let adopted = |pid, parent| ListedProcess { pid, parent, group: None };
        assert_eq!(family(30, &[adopted(1, 0), adopted(30, 1), adopted(31, 30), adopted(40, 1)]), [31]);
    }

    #[test]
    fn both_lists_have_what_was_started_here() {
        if Command::new("ps").arg("-A").stdout(Stdio::null()).status().is_err() {
            return eprintln!("skipped: no ps");
        }
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let mut lists = vec![by_ps()];
        if cfg!(target_os = "linux") {
            lists.push(by_proc());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for list in lists {
            assert!(family(own, &list).contains(&pid), "{list:?}");
            assert!(list.iter().any(|one| one.pid == pid && one.parent == own));
        }
    }
}
