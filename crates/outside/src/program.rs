//! A running program: asked one question at a time, with a time limit for each answer and a size limit for each line,
//! and ended with everything it started. It is asked to end before it is killed.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use golem::plain;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::keeper::{self, Launch};
use crate::trouble::{Trouble, quoted};

/// The most lines of standard error that are passed on in a second, and the most bytes of each.
const LOGGED: u32 = 50;
const LOGGED_BYTES: u64 = 2_000;
/// How long to wait for a program's last lines, which often say why it ends.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Limits on time, and on the length of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until the program has introduced itself.
    pub hello: Duration,
    /// Until it has answered a question.
    pub answer: Duration,
    /// Until it has ended when asked to.
    pub bye: Duration,
    /// The most bytes of one line.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        let seconds = Duration::from_secs;
        Limits { hello: seconds(30), answer: seconds(10), bye: seconds(2), line: 4 << 20 }
    }
}

/// A running program.
#[derive(Debug)]
pub struct Program {
    keeper: Child,
    /// The keeper's standard input: when it closes, everything that was started ends.
    lifeline: Option<ChildStdin>,
    talk: UnixStream,
    /// Bytes read, and not yet taken.
    heard: Vec<u8>,
    /// The last line it wrote to standard error, which often says why it ends.
    words: Arc<Mutex<String>>,
    limits: Limits,
    asking: Option<Asking>,
}

/// The question under way.
#[derive(Debug)]
struct Asking {
    line: Vec<u8>,
    /// How much of the line the program has read.
    told: usize,
    what: &'static str,
    limit: Duration,
    until: Instant,
}

impl Program {
    /// Starts a program under a keeper, which is this executable with these first arguments; each line that it writes
    /// to standard error goes to `log`.
    pub fn start(
        keeper: &[String],
        launch: &Launch,
        limits: Limits,
        mut log: impl FnMut(&str) + Send + 'static,
    ) -> Result<Program, Trouble> {
        let failed = |why: io::Error| Trouble::NotStarted(why.to_string());
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let text = serde_json::to_string(&Launch { environment: Vec::new(), ..launch.clone() }).expect("plain data");
        let mut command = Command::new(&keeper[0]);
        command.args(&keeper[1..]).arg(text).env_clear().envs(launch.environment.iter().cloned());
        command.stdin(Stdio::piped()).stdout(OwnedFd::from(theirs)).stderr(Stdio::piped()).process_group(0);
        let mut keeper = command.spawn().map_err(failed)?;
        let (lifeline, aside) = (keeper.stdin.take(), keeper.stderr.take());
        // The command holds the other end of the conversation: it must close, or the end of the program would not be
        // seen.
        drop(command);
        let words = Arc::new(Mutex::new(String::new()));
        if let Some(aside) = aside {
            let words = Arc::clone(&words);
            std::thread::spawn(move || {
                pass_on(aside, &mut |line: &str| {
                    if !line.trim().is_empty() {
                        *words.lock().unwrap_or_else(PoisonError::into_inner) = plain::line(line, 160);
                    }
                    log(line);
                });
            });
        }
        Ok(Program { keeper, lifeline, talk: ours, heard: Vec::new(), words, limits, asking: None })
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sends one line, and returns the line the program answers with.
    pub fn ask(&mut self, line: Vec<u8>, what: &'static str, limit: Duration) -> Result<Vec<u8>, Trouble> {
        self.begin(line, what, limit)?;
        loop {
            if let Some(line) = self.go_on(limit)? {
                return Ok(line);
            }
        }
    }

    /// Begins to ask a question, with a time limit.
    pub fn begin(&mut self, line: Vec<u8>, what: &'static str, limit: Duration) -> Result<(), Trouble> {
        self.unasked()?;
        self.asking = Some(Asking { line, told: 0, what, limit, until: Instant::now() + limit });
        Ok(())
    }

    /// Sends the rest of the question and listens, for as long as there is patience; returns the answer if it came.
    pub fn go_on(&mut self, patience: Duration) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(mut asking) = self.asking.take() else { return Ok(None) };
        let until = asking.until.min(Instant::now() + patience);
        let answer = if self.tell(&mut asking, until)? { self.hear(&asking, until)? } else { None };
        if answer.is_none() {
            self.asking = Some(asking);
        }
        Ok(answer)
    }

    /// Refuses a program that has said anything without being asked.
    fn unasked(&mut self) -> Result<(), Trouble> {
        if self.heard.is_empty() {
            let _ = self.talk.set_nonblocking(true);
            let mut some = [0; 512];
            let read = self.talk.read(&mut some);
            let _ = self.talk.set_nonblocking(false);
            self.heard.extend_from_slice(&some[..read.unwrap_or(0)]);
        }
        if self.heard.is_empty() {
            return Ok(());
        }
        let line = self.heard.split(|byte| *byte == b'\n').next().unwrap_or_default();
        match serde_json::from_slice::<serde_json::Value>(line) {
            Ok(value) if value.is_object() => Err(Trouble::Unasked(quoted(line))),
            _ => Err(Trouble::NoMessage { said: quoted(line), why: "no question had been asked".to_owned() }),
        }
    }

    /// Sends the rest of the question; false if some is left by then.
    fn tell(&mut self, asking: &mut Asking, until: Instant) -> Result<bool, Trouble> {
        while asking.told < asking.line.len() {
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let _ = self.talk.set_write_timeout(Some(left));
            match self.talk.write(&asking.line[asking.told..]) {
                Ok(written) => asking.told += written,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    let Asking { what, limit, .. } = *asking;
                    let deaf = Trouble::Deaf { what: what.to_owned(), limit };
                    return if Instant::now() >= asking.until { Err(deaf) } else { Ok(false) };
                }
                Err(_) => return Err(self.ended(asking.what)),
            }
        }
        Ok(true)
    }

    /// The line the program answers with, if it came by then.
    fn hear(&mut self, asking: &Asking, until: Instant) -> Result<Option<Vec<u8>>, Trouble> {
        let (mut chunk, mut looked) = ([0; 16 * 1024], 0);
        loop {
            if let Some(at) = self.heard[looked..].iter().position(|byte| *byte == b'\n') {
                let rest = self.heard.split_off(looked + at + 1);
                return Ok(Some(std::mem::replace(&mut self.heard, rest)));
            }
            looked = self.heard.len();
            if looked > self.limits.line {
                return Err(Trouble::TooLong(self.limits.line >> 20));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let Asking { what, limit, .. } = *asking;
                let silent = Trouble::Silent { what: what.to_owned(), limit };
                return if Instant::now() >= asking.until { Err(silent) } else { Ok(None) };
            }
            let _ = self.talk.set_read_timeout(Some(left.max(Duration::from_millis(1))));
            match self.talk.read(&mut chunk) {
                Ok(0) => return Err(self.ended(asking.what)),
                Ok(read) => self.heard.extend_from_slice(&chunk[..read]),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return Err(self.ended(asking.what)),
            }
        }
    }

    /// The error for a program that ended, with its exit code and last line as far as they come soon.
    fn ended(&mut self, what: &str) -> Trouble {
        let until = Instant::now() + self.limits.bye;
        let how = loop {
            match self.keeper.try_wait() {
                Ok(Some(status)) => break told(status.code()),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                _ => break "it has closed its standard output".to_owned(),
            }
        };
        std::thread::sleep(LAST_WORDS);
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (how.is_empty(), words.is_empty()) {
            (true, _) => Trouble::NotStarted(words),
            (false, true) => Trouble::Ended { what: what.to_owned(), how },
            (false, false) => Trouble::Ended { what: what.to_owned(), how: format!("{how}; it last said: {words}") },
        }
    }

    /// Asks the program to end, with this as the last line, and kills it if it does not.
    pub fn end(mut self, last: &[u8]) {
        self.leave(last);
    }

    fn leave(&mut self, last: &[u8]) {
        if self.lifeline.is_none() {
            return;
        }
        let until = Instant::now() + self.limits.bye;
        let _ = self.talk.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = self.talk.write(last);
        let _ = self.talk.shutdown(std::net::Shutdown::Write);
        let gone = |keeper: &mut Child| keeper.try_wait().is_ok_and(|ended| ended.is_some());
        while !gone(&mut self.keeper) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        // The keeper asks once more, and then kills.
        self.lifeline = None;
        let until = Instant::now() + Duration::from_secs(8);
        while !gone(&mut self.keeper) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !gone(&mut self.keeper) {
            let _ = kill_process_group(Pid::from_child(&self.keeper), Signal::KILL);
            let _ = self.keeper.wait();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A program that is dropped without `end` is of no use any more, and is not asked.
        self.limits.bye = Duration::ZERO;
        self.leave(b"");
    }
}

/// An exit code in words; empty for a program that never started.
fn told(code: Option<i32>) -> String {
    match code {
        Some(127) => String::new(),
        Some(0) => "with 0, as if all were done".to_owned(),
        Some(code) if code > 128 => format!("by signal {}", code - 128),
        Some(code) => format!("with {code}"),
        None => "with its keeper".to_owned(),
    }
}

/// Passes on lines, no more of them than a person could read.
fn pass_on(aside: impl Read, log: &mut dyn FnMut(&str)) {
    let mut lines = BufReader::new(aside);
    let (mut second, mut passed, mut line) = (Instant::now(), 0_u32, Vec::new());
    loop {
        line.clear();
        match (&mut lines).take(LOGGED_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return keeper::drain(lines),
            Ok(_) => {}
        }
        if second.elapsed() >= Duration::from_secs(1) {
            (second, passed) = (Instant::now(), 0);
        }
        passed += 1;
        if passed <= LOGGED {
            log(String::from_utf8_lossy(&line).trim_end());
        }
    }
}
