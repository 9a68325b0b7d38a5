//! Counts of conversations from the calls before: how many tokens a beginning was counted as. Only hashes are kept,
//! under a key of this process, of whole messages and of all that stands before them; no text is.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use serde_json::{Map, Value};
use shell::locks::lock;

use super::parts::{Parts, messages};
use super::protocol::AgentProtocol;

/// Beginnings that are remembered, the newest.
const KEPT: usize = 50_000;
/// Tokens that a server may add around each new message.
const EACH: u64 = 64;
/// Tokens that it may add around all it is sent.
const AROUND: u64 = 64;
/// A count of fewer tokens than one in so many bytes is not believed.
const DENSEST: u64 = 16;
/// Fields that change the answer, or how it comes, but not the tokens that go in.
const ASIDE: [&str; 21] = [
    "messages",
    "contents",
    "input",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "metadata",
    "user",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "stop",
    "stop_sequences",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "client_metadata",
    "cache_control",
];

type Head = [u8; 16];

/// The beginnings of a call: before its first message, after that, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain(Vec<Head>);

/// The key under which beginnings are hashed.
#[derive(Debug)]
pub(super) struct PrefixKey([u8; 32]);

impl PrefixKey {
    pub(super) fn new(bytes: [u8; 32]) -> PrefixKey {
        PrefixKey(bytes)
    }

    pub(super) fn chain(&self, whole: &Value, protocol: AgentProtocol) -> Chain {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(protocol.path().as_bytes());
        for (name, value) in whole.as_object().into_iter().flatten().filter(|(name, _)| !ASIDE.contains(&name.as_str()))
        {
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
            unmarked(&mut hasher, value, 2);
        }
        let head = |hasher: &blake3::Hasher| -> Head {
            hasher.finalize().as_bytes()[..16].try_into().expect("sixteen of thirty-two")
        };
        let list = messages(whole, protocol);
        if let (true, Some(text)) = (list.is_empty(), whole["input"].as_str()) {
            hasher.update(text.as_bytes());
        }
        let mut heads = vec![head(&hasher)];
        for message in list {
            unmarked(&mut hasher, message, 2);
            heads.push(head(&hasher));
        }
        Chain(heads)
    }
}

/// Hashes a value without the marks for the cache, which move from call to call: they are left out of a message or a
/// tool, of its parts and of theirs, and nowhere deeper, where they are part of a text or of a tool's input.
fn unmarked(hasher: &mut blake3::Hasher, value: &Value, deeper: usize) {
    match value {
        Value::Object(fields) => {
            hasher.update(b"{");
            let mark = |name: &String| name == "cache_control" && is_mark(&fields[name]);
            for (name, value) in fields.iter().filter(|(name, _)| !mark(name)) {
                hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
                match (name.as_str(), value) {
                    ("content" | "function", _) if deeper > 0 => unmarked(hasher, value, deeper - 1),
                    _ => whole(hasher, value),
                }
            }
            hasher.update(b"}");
        }
        Value::Array(all) => {
            hasher.update(b"[");
            all.iter().for_each(|one| unmarked(hasher, one, deeper));
            hasher.update(b"]");
        }
        _ => whole(hasher, value),
    }
}

fn is_mark(mark: &Value) -> bool {
    let known = |fields: &Map<String, Value>| {
        fields.iter().all(|(name, value)| (name == "type" || name == "ttl") && value.is_string())
    };
    mark.as_object().is_some_and(known) && mark.to_string().len() <= 64
}

fn whole(hasher: &mut blake3::Hasher, value: &Value) {
    let text = value.to_string();
    hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
}

/// The upper bound of a call's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Input {
    /// Tokens, never too few.
    pub(super) most: u64,
    /// Tokens that the beginning was counted as before, and how many messages those are; 0 where nothing is known of
    /// it.
    pub(super) counted: u64,
    pub(super) known: usize,
    /// Tokens by which `most` may well be too high.
    pub(super) margin: u64,
}

impl Input {
    /// Tokens of the bound that were not counted: about as many as there are bytes.
    pub(super) fn rough(&self) -> u64 {
        self.most.saturating_sub(self.counted)
    }
}

/// Counts of the beginnings of calls, at every provider of a home.
#[derive(Debug, Default)]
pub(super) struct Prefixes(Mutex<KnownPrefix>);

#[derive(Debug, Default)]
struct KnownPrefix {
    tokens: BTreeMap<Head, u64>,
    order: VecDeque<Head>,
}

impl Prefixes {
    fn known(&self) -> MutexGuard<'_, KnownPrefix> {
        lock(&self.0)
    }

    /// Bounds the tokens that go in: the count of the longest known beginning, and bytes for all that is new. `place`
    /// is the provider, the model and the way it is asked.
    pub(super) fn bound(&self, chain: &Chain, parts: &Parts, place: &str) -> Input {
        let bytes = AROUND + parts.before + parts.messages.iter().sum::<u64>();
        let known = self.known();
        // The first head is before all messages, and no provider counts that.
        let longest = chain.0.iter().enumerate().skip(1).rev();
        let found = longest.into_iter().find_map(|(at, head)| Some((at, *known.tokens.get(&at_place(head, place))?)));
        let all = Input { most: bytes, counted: 0, known: 0, margin: bytes / 2 };
        let Some((known, counted)) = found else { return all };
        let new = parts.messages.iter().skip(known).map(|bytes| bytes + EACH).sum::<u64>();
        let input = Input { most: counted + AROUND + new, counted, known, margin: AROUND + new / 2 };
        if input.most < bytes { input } else { all }
    }

    /// Remembers how many tokens the provider counted for all of this call.
    pub(super) fn learn(&self, chain: &Chain, parts: &Parts, place: &str, counted: u64) {
        let bytes = parts.before + parts.messages.iter().sum::<u64>();
        let Some(head) = chain.0.last().filter(|_| chain.0.len() > 1 && counted >= bytes / DENSEST) else { return };
        let (mut known, head) = (self.known(), at_place(head, place));
        if known.tokens.insert(head, counted).is_none() {
            known.order.push_back(head);
        }
        while known.order.len() > KEPT {
            let oldest = known.order.pop_front().expect("there are many");
            known.tokens.remove(&oldest);
        }
    }
}

fn at_place(head: &Head, place: &str) -> Head {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head).update(place.as_bytes());
    hasher.finalize().as_bytes()[..16].try_into().expect("sixteen of thirty-two")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::parts;
    use super::*;

    /// A tokeniser whose tokens are so many bytes, which adds ten around each message.
    fn counted(whole: &Value, each: u64) -> u64 {
        let texts =
            whole["messages"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap().len() as u64);
        let system = whole["system"].as_str().map_or(0, |text| text.len() as u64);
        texts.map(|bytes| bytes.div_ceil(each) + 10).sum::<u64>() + system.div_ceil(each) + 20
    }

    fn read(whole: &Value) -> (Chain, Parts) {
        let parts = parts::read(whole, AgentProtocol::Messages, "m").unwrap();
        (PrefixKey::new([7; 32]).chain(whole, AgentProtocol::Messages), parts)
    }

    fn talk(system: &str, texts: &[String]) -> Value {
        let message = |(n, text): (usize, &String)| json!({ "role": if n % 2 == 0 { "user" } else { "assistant" }, "content": text });
        let all: Vec<Value> = texts.iter().enumerate().map(message).collect();
        json!({ "model": "m", "system": system, "messages": all })
    }

    proptest! {
        /// Messages are added, edited, left out or said again, and a token has any number of bytes.
        #[test]
        fn a_bound_is_never_below_what_is_counted(
            turns in prop::collection::vec((0_u8..8, "[a-z ]{0,200}"), 1..30), each in 1_u64..6
        ) {
            let (prefixes, mut texts, mut system) = (Prefixes::default(), Vec::new(), "system".to_owned());
            for (what, text) in turns {
                match what {
                    0 => { texts.pop(); }
                    1 if !texts.is_empty() => { let at = text.len() % texts.len(); texts[at] = text; }
                    2 => system = text,
                    _ => texts.push(text),
                }
                let whole = talk(&system, &texts);
                let (chain, parts) = read(&whole);
                let (bound, true_count) = (prefixes.bound(&chain, &parts, "here").most, counted(&whole, each));
                prop_assert!(bound >= true_count, "{bound} for {true_count}");
                prefixes.learn(&chain, &parts, "here", true_count);
            }
        }
    }

    #[test]
    fn what_was_counted_is_known_and_only_what_is_new_counts_by_its_bytes() {
        let prefixes = Prefixes::default();
        let bound = |chain: &Chain, parts: &Parts, place: &str| prefixes.bound(chain, parts, place).most;
        let mut texts = vec!["long ".repeat(4_000)];
        let (chain, parts) = read(&talk("s", &texts));
        assert!(bound(&chain, &parts, "here") > 20_000);
        prefixes.learn(&chain, &parts, "here", 5_000);
        texts.push("short".to_owned());
        let (chain, parts) = read(&talk("s", &texts));
        assert!(bound(&chain, &parts, "here") < 5_200);
        assert!(bound(&chain, &parts, "elsewhere") > 20_000, "another server counts otherwise");
        let (chain, parts) = read(&talk("other", &texts));
        assert!(bound(&chain, &parts, "here") > 20_000, "it begins otherwise");
        prefixes.learn(&chain, &parts, "here", 3);
        assert!(bound(&chain, &parts, "here") > 20_000, "a count so low is not believed");
    }

    #[test]
    fn marks_for_the_cache_move_and_words_that_look_like_them_do_not() {
        let key = PrefixKey::new([7; 32]);
        let chain = |content: Value| {
            key.chain(&json!({ "messages": [{ "role": "user", "content": content }] }), AgentProtocol::Messages)
        };
        let mark = json!({ "type": "ephemeral" });
        let text = json!([{ "type": "text", "text": "t" }]);
        assert_eq!(chain(text.clone()), chain(json!([{ "type": "text", "text": "t", "cache_control": mark }])));
        let asked = |input: Value| chain(json!([{ "type": "tool_use", "id": "t", "name": "n", "input": input }]));
        assert_ne!(asked(json!({})), asked(json!({ "cache_control": mark })));
        assert_ne!(chain(text), chain(json!([{ "type": "text", "text": "t", "cache_control": "x".repeat(60) }])));
    }
}
