//! What runs, what is left of it, and what it complains of.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::Duration;
use testing::wait::within;

/// Everything that still runs and has this in its command line.
fn left(mark: &str) -> Vec<String> {
    let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let state = fs::read_to_string(entry.path().join("stat")).ok()?;
        let dead = state.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'));
        (line.contains(mark) && !dead && !line.contains("bardo golem") && !line.contains("bardo up")).then_some(line)
    });
    lines.collect()
}

pub(crate) fn none_is_left(mark: &str, after: &str) {
    within(Duration::from_secs(15), || format!("{after}: {:?}", left(mark)), || left(mark).is_empty());
}

/// Reads what a program complains until one of these has been said.
pub(crate) fn complains(child: &mut Child, wanted: &str) -> (bool, String) {
    let mut said = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    let (over, late) = (std::sync::mpsc::channel::<()>(), child.id().to_string());
    std::thread::spawn(move || {
        // Whoever says nothing is not waited for.
        if over.1.recv_timeout(Duration::from_secs(30)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-KILL", &late]).status();
        }
    });
    while lines.read_line(&mut line).unwrap_or(0) > 0 {
        said += &line;
        if said.contains(wanted) {
            std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
            return (true, said);
        }
        line.clear();
    }
    drop(over.0);
    (false, said)
}
