//! Events of a stream as they come: passed on byte for byte, and listened to for what was used.

use serde_json::Value;

use super::protocol::AgentProtocol;
use super::usage::{self, Usage};

/// The longest event that is read; a longer one is passed on unread.
const LONGEST: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Listening {
    protocol: AgentProtocol,
    /// Whether counts of what was used are kept back, which the agent did not ask for.
    hides_usage: bool,
    /// The event that has begun.
    begun: Vec<u8>,
    pub(super) usage: Option<Usage>,
    /// Whether the last event has come. A client that hears it may hang up at once.
    pub(super) over: bool,
    /// Whether the provider said that it left out some of the input or went over it again.
    pub(super) edited: bool,
    /// Whether the answer is complete, and only counts may follow.
    finished: bool,
}

impl Listening {
    pub(super) fn new(protocol: AgentProtocol, hides_usage: bool) -> Listening {
        Listening { protocol, hides_usage, begun: Vec::new(), usage: None, over: false, edited: false, finished: false }
    }

    /// Takes in a piece of the stream and returns what is to be passed on now. Where something may have to be kept
    /// back, an event goes on when it is whole.
    pub(super) fn hear(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.begun.extend_from_slice(chunk);
        let mut passed = Vec::new();
        while let Some(end) = end_of_event(&self.begun) {
            let event: Vec<u8> = self.begun.drain(..end).collect();
            if !self.heed(&event) {
                passed.extend(event);
            }
        }
        if self.begun.len() > LONGEST {
            passed.append(&mut self.begun);
        }
        if self.hides_usage { passed } else { chunk.to_vec() }
    }

    /// Whether the answer came whole. Some servers leave out the very last line.
    pub(super) fn is_whole(&self) -> bool {
        self.over || self.finished
    }

    /// Returns the bytes left to pass on when the stream has ended.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.begun);
        let kept_back = self.heed(&rest);
        if self.hides_usage && !kept_back { rest } else { Vec::new() }
    }

    /// Listens to one event; true if it holds only counts of what was used, which the agent did not ask for.
    fn heed(&mut self, event: &[u8]) -> bool {
        let text = String::from_utf8_lossy(event);
        let data: String = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
        self.over |= data == "[DONE]";
        let Ok(data) = serde_json::from_str::<Value>(&data) else { return false };
        let last = ["message_stop", "response.completed", "response.incomplete", "response.failed"];
        self.over |= data["type"].as_str().is_some_and(|kind| last.contains(&kind));
        let mut choices = data["choices"].as_array().into_iter().flatten();
        self.finished |= choices.any(|choice| choice["finish_reason"].is_string());
        let mut candidates = data["candidates"].as_array().into_iter().flatten();
        self.finished |= candidates.any(|candidate| candidate["finishReason"].is_string());
        self.edited |= usage::is_edited(&data);
        self.usage = usage::hear(self.usage, &data, self.protocol);
        let only_usage = data["choices"].as_array().is_some_and(Vec::is_empty) && data["usage"].is_object();
        self.hides_usage && only_usage
    }
}

/// Where the first event ends, blank line included.
fn end_of_event(bytes: &[u8]) -> Option<usize> {
    let lf = bytes.windows(2).position(|two| two == b"\n\n").map(|at| at + 2);
    let crlf = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
    match (lf, crlf) {
        (Some(lf), Some(crlf)) => Some(lf.min(crlf)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"h\u{e9}\"}}],\"usage\":null}\n\n: ping\n\n\
        data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";

    /// Hears `STREAM` in pieces of `cut` bytes.
    fn heard(cut: usize, hides: bool) -> (String, Option<Usage>) {
        let mut listening = Listening::new(AgentProtocol::Chat, hides);
        let mut passed = Vec::new();
        for chunk in STREAM.as_bytes().chunks(cut) {
            passed.extend(listening.hear(chunk));
        }
        assert!(listening.over, "its last event has been heard, before a client hangs up");
        passed.extend(listening.rest());
        (String::from_utf8(passed).unwrap(), listening.usage)
    }

    #[test]
    fn whatever_it_is_cut_into_it_arrives_whole_and_what_was_used_is_heard() {
        let used = Some(Usage { input: 5, output: 2, ..Usage::default() });
        for cut in 1..STREAM.len() + 1 {
            assert_eq!(heard(cut, false), (STREAM.to_owned(), used), "{cut}");
            let (passed, known) = heard(cut, true);
            assert_eq!(known, used);
            assert!(!passed.contains("prompt_tokens") && passed.ends_with("data: [DONE]\n\n"), "{passed}");
            assert!(passed.starts_with("data: {\"choices\":[{\"delta\"") && passed.contains(": ping\n\n"));
        }
    }

    #[test]
    fn what_ends_in_the_middle_is_passed_on_to_its_last_byte() {
        for hides in [false, true] {
            let mut listening = Listening::new(AgentProtocol::Chat, hides);
            let mut passed = listening.hear(b"data: {\"choices\":[{\"del");
            passed.extend(listening.rest());
            assert_eq!(passed, b"data: {\"choices\":[{\"del", "{hides}");
            assert!(listening.usage.is_none() && !listening.is_whole());
        }
    }
}
