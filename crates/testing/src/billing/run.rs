//! An answer under way: made at its pace, billed as it is made, and cut off by whichever side does so first.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::answer::Event;
use super::ledger::{Ledger, RequestEnd};
use super::price::{Price, Used};
use super::script::{Fault, Habit, HangUp};

/// How often a client that waits is looked after.
const LOOK: Duration = Duration::from_millis(5);

pub(crate) struct Run<'a> {
    pub(crate) stream: &'a mut TcpStream,
    pub(crate) ledger: &'a Ledger,
    pub(crate) number: u64,
    pub(crate) price: Price,
    /// Usage of the whole answer.
    pub(crate) used: Used,
    /// Tokens of the longest answers that were allowed.
    pub(crate) longest: u64,
    pub(crate) habit: Habit,
    pub(crate) made: u64,
    /// When the first token was begun.
    pub(crate) began: Option<Instant>,
}

/// Whether the connection can take another request after an answer.
type On = Option<()>;

impl Run<'_> {
    /// Waits until it begins; none if the client hangs up before.
    pub(crate) fn begin(&mut self) -> On {
        self.charge(0);
        if !self.idle(self.habit.first) {
            return self.hung_up();
        }
        self.began = Some(Instant::now());
        Some(())
    }

    /// An answer that comes at once.
    pub(crate) fn whole(&mut self, body: &Value) -> On {
        let (text, all) = (body.to_string(), self.used.output());
        match self.habit.fault {
            Some(Fault::CutAt(tokens) | Fault::ErrorAt(tokens)) if tokens < all => {
                self.until(tokens)?;
                let head = head(200, "application/json", &format!("content-length: {}\r\n", text.len()));
                let half = &text.as_bytes()[..text.len() / 2];
                let _ = self.stream.write_all(&[head.as_bytes(), half].concat());
                return self.cut();
            }
            Some(Fault::Stalls(time)) => {
                self.until(all)?;
                self.idle(time);
                return self.cut();
            }
            _ => self.until(all)?,
        }
        self.ledger.end(self.number, 200, RequestEnd::Whole);
        send(self.stream, 200, "", &text)
    }

    /// The work is done, and this is all there is to show for it.
    pub(crate) fn lost(&mut self, status: u16, body: &Value) -> On {
        self.until(self.used.output())?;
        self.ledger.end(self.number, status, RequestEnd::Failed);
        send(self.stream, status, "", &body.to_string())
    }

    /// An answer that comes piece by piece, or the event that says that it does not.
    pub(crate) fn events(&mut self, events: &[Event], kind: &str, error: &str) -> On {
        let head = head(200, kind, "cache-control: no-cache\r\ntransfer-encoding: chunked\r\n");
        if self.stream.write_all(head.as_bytes()).is_err() {
            return self.hung_up();
        }
        for (at, event) in events.iter().enumerate() {
            match self.habit.fault {
                Some(Fault::CutAt(tokens)) if event.made > tokens => {
                    self.until(tokens)?;
                    return self.cut();
                }
                Some(Fault::ErrorAt(tokens)) if event.made > tokens => {
                    self.until(tokens)?;
                    self.ledger.end(self.number, 200, RequestEnd::Failed);
                    let last = format!("{:x}\r\n{error}\r\n0\r\n\r\n", error.len());
                    return self.stream.write_all(last.as_bytes()).ok();
                }
                Some(Fault::Stalls(time)) if at + 1 == events.len() => {
                    self.until(event.made)?;
                    self.idle(time);
                    return self.cut();
                }
                _ => self.until(event.made)?,
            }
            let text = &event.text;
            let chunk = format!("{:x}\r\n{text}\r\n", text.len());
            if !text.is_empty() && self.stream.write_all(chunk.as_bytes()).is_err() {
                return self.hung_up();
            }
        }
        self.ledger.end(self.number, 200, RequestEnd::Whole);
        self.stream.write_all(b"0\r\n\r\n").ok()
    }

    /// Makes so many tokens, as fast as it does; none if the client hangs up meanwhile.
    fn until(&mut self, made: u64) -> On {
        loop {
            let allowed = self.habit.pace.map_or(u64::MAX, |pace| {
                u64::try_from(self.began.map_or(0, |began| began.elapsed().as_millis()))
                    .unwrap_or(u64::MAX)
                    .saturating_mul(pace)
                    / 1_000
            });
            self.charge(made.min(allowed).max(self.made));
            if self.made >= made {
                return Some(());
            }
            if gone(self.stream) {
                return self.hung_up();
            }
            thread::sleep(LOOK);
        }
    }

    /// Makes nothing for so long; false if the client hangs up meanwhile.
    fn idle(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if gone(self.stream) {
                return false;
            }
            thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        true
    }

    /// Bills tokens before they are sent, so that the ledger is never behind a client.
    fn charge(&mut self, made: u64) {
        self.made = made;
        let reasoned = made.min(self.used.reasoned);
        self.ledger.charge(self.number, self.price, Used { reasoned, said: made - reasoned, ..self.used });
    }

    fn cut(&mut self) -> On {
        self.ledger.end(self.number, 200, RequestEnd::Cut);
        None
    }

    fn hung_up(&mut self) -> On {
        // What has no pace is made in the moment in which it begins.
        if self.habit.pace.is_none() && self.began.is_some() {
            self.charge(self.used.output());
        }
        let all = self.began.is_some() && self.made >= self.used.output();
        if !all && self.habit.hang_up == HangUp::GoesOn {
            self.charge(self.longest.max(self.used.output()));
        }
        self.ledger.end(self.number, 200, if all { RequestEnd::Whole } else { RequestEnd::HungUp });
        None
    }
}

/// The client has closed its side of the line.
fn gone(stream: &TcpStream) -> bool {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
    let seen = stream.peek(&mut [0]);
    let _ = stream.set_read_timeout(None);
    match seen {
        Ok(bytes) => bytes == 0,
        Err(why) => !matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted),
    }
}

fn head(status: u16, kind: &str, headers: &str) -> String {
    let reason = if status == 200 { "OK" } else { "No" };
    format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\nrequest-id: req_double\r\n{headers}\r\n")
}

/// A whole answer outside any run.
pub(crate) fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &str) -> On {
    let head = head(status, "application/json", &format!("{headers}content-length: {}\r\n", body.len()));
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).ok()
}
