//! Programs of the owner's: started in a process group of their own, so that everything they start can be ended with
//! them, limited in time, and listened to no further than a person could want to read.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use outside::fence::{self, Fence};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long a program may go on when the process that started it has to leave.
const LAST: Duration = Duration::from_secs(1);
/// Bytes of its output that are read.
const HEARD: u64 = 64 * 1024;
/// How long output is read after its end.
const LISTENS: Duration = Duration::from_secs(1);

/// The end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramExit {
    /// Exit code; none if the program was ended.
    pub code: Option<i32>,
    /// Why it was ended, or how it ended, in words.
    pub how: String,
    pub said: String,
}

/// Runs it to its end, or ends it with all that it started when it takes too long or the caller says stop. What a
/// program that succeeds leaves running may stay, if `leaves`.
pub fn run(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
    stop: &AtomicBool,
    leaves: bool,
    fence: Option<&Fence>,
) -> io::Result<ProgramExit> {
    command.stdin(Stdio::piped()).process_group(0);
    let mut child = match fence {
        Some(fence) => fence::start(command, fence)?.0,
        None => command.spawn()?,
    };
    let group = Pid::from_child(&child);
    // A program that does not read its input is not an error: its exit code says what it made of it.
    let _ = child.stdin.take().expect("it was piped").write_all(input);
    let listening = child.stdout.take().map(|out| {
        let (say, heard) = mpsc::channel();
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let _ = out.take(HEARD).read_to_end(&mut said);
            let _ = say.send(String::from_utf8_lossy(&said).into_owned());
        });
        heard
    });
    let mut deadline = Instant::now() + limit;
    // Waited for without being reaped: until it is, its group id is not given to another process.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let (code, why) = loop {
        match waitid(WaitId::Pid(group), look)? {
            Some(ended) => break (ended.exit_status(), None),
            None if Instant::now() >= deadline => break (None, Some("it took too long")),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
        if stop.load(Ordering::SeqCst) {
            deadline = deadline.min(Instant::now() + LAST);
        }
    };
    if !(leaves && code == Some(0)) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    let said = listening.and_then(|heard| heard.recv_timeout(LISTENS).ok()).unwrap_or_default();
    Ok(ProgramExit { code, how: why.map_or_else(|| format!("it ended with {status}"), str::to_owned), said })
}
