//! Conversations of agents, call by call, in every protocol: whatever is added, edited, cut off or exchanged meanwhile,
//! and however finely the provider counts, no bound is below its count.

use serde_json::{Value, json};
use testing::billing::{Double, Habit, Prices, Protocol as Spoken, Setting, Tokeniser, Turn, always};

use super::parts;
use super::prefix::{PrefixKey, Prefixes};
use super::protocol::AgentProtocol;
use super::weighed::weighed;

/// Numbers from a seed.
struct SeededDice(u64);

impl SeededDice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    fn text(&mut self, most: usize) -> String {
        const PIECES: [&str; 16] = [
            "heron ",
            "waits. ",
            "réédité ",
            "漢字",
            "\n\n    ",
            "\"said\" ",
            "{\"a\":[1,2]},",
            "🎉",
            "        ",
            "0123456789 ",
            "<|endoftext|>",
            "\\n\\t",
            "\u{1}",
            "snake_case(HTTPServer)?;\n",
            "Ω≈ç√",
            "aGVyb24gd2FpdHM=",
        ];
        (0..=self.roll(most)).map(|_| PIECES[self.roll(PIECES.len())]).collect()
    }
}

#[derive(Clone, Debug)]
enum HeardLine {
    User(String),
    Model(String),
    Asks(String),
    Found(String),
}

#[derive(Clone, Debug, Default)]
struct Talk {
    system: String,
    tools: Vec<String>,
    said: Vec<HeardLine>,
    marked: bool,
}

impl Talk {
    /// Changes the conversation between two calls.
    fn goes_on(&mut self, dice: &mut SeededDice) {
        match dice.roll(12) {
            0 => self.said.truncate(dice.roll(self.said.len() + 1)),
            1 if !self.said.is_empty() => {
                let at = dice.roll(self.said.len());
                self.said[at] = HeardLine::User(dice.text(40));
            }
            2 if self.said.len() > 2 => drop(self.said.drain(..2)),
            3 => self.system = dice.text(30),
            4 => self.tools.push(dice.text(30)),
            5 => drop(self.tools.pop()),
            6 => self.tools.reverse(),
            7 => self.marked = !self.marked,
            8 => self.said.extend([HeardLine::Asks(dice.text(20)), HeardLine::Found(dice.text(200))]),
            _ => self.said.extend([HeardLine::Model(dice.text(40)), HeardLine::User(dice.text(60))]),
        }
        if self.said.is_empty() {
            self.said.push(HeardLine::User(dice.text(40)));
        }
    }

    fn body(&self, protocol: AgentProtocol) -> Value {
        let said = |said: &HeardLine| match protocol {
            AgentProtocol::Messages => messages(said),
            AgentProtocol::Responses => responses(said),
            AgentProtocol::Generate => generate(said),
            AgentProtocol::Chat | AgentProtocol::Embeddings => chat(said),
        };
        let mut list: Vec<Value> = self.said.iter().map(said).collect();
        let schema = json!({ "type": "object", "properties": { "what": { "type": "string" } } });
        let tool = |(at, what): (usize, &String)| match protocol {
            AgentProtocol::Messages => {
                json!({ "name": format!("tool_{at}"), "description": what, "input_schema": schema })
            }
            AgentProtocol::Generate => {
                json!({ "name": format!("tool_{at}"), "description": what, "parameters": schema })
            }
            AgentProtocol::Responses => {
                json!({ "type": "function", "name": format!("tool_{at}"), "description": what, "parameters": schema })
            }
            AgentProtocol::Chat | AgentProtocol::Embeddings => {
                let function = json!({ "name": format!("tool_{at}"), "description": what, "parameters": schema });
                json!({ "type": "function", "function": function })
            }
        };
        let tools: Vec<Value> = self.tools.iter().enumerate().map(tool).collect();
        let mut body = match protocol {
            AgentProtocol::Messages => {
                if let (true, Some(last)) = (self.marked, list.last_mut()) {
                    last["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
                }
                json!({ "model": "gpt-5", "max_tokens": 100, "system": self.system, "messages": list })
            }
            AgentProtocol::Responses => json!({ "model": "gpt-5", "instructions": self.system, "input": list }),
            AgentProtocol::Generate => {
                json!({ "systemInstruction": { "parts": [{ "text": self.system }] }, "contents": list })
            }
            AgentProtocol::Chat | AgentProtocol::Embeddings => {
                list.insert(0, json!({ "role": "system", "content": self.system }));
                json!({ "model": "gpt-5", "messages": list })
            }
        };
        if !tools.is_empty() {
            let google = protocol == AgentProtocol::Generate;
            body["tools"] = if google { json!([{ "functionDeclarations": tools }]) } else { json!(tools) };
        }
        body
    }
}

fn messages(said: &HeardLine) -> Value {
    match said {
        HeardLine::User(text) => json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
        HeardLine::Model(text) => json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
        HeardLine::Asks(text) => {
            let part = json!({ "type": "tool_use", "id": "t", "name": "tool_0", "input": { "what": text } });
            json!({ "role": "assistant", "content": [part] })
        }
        HeardLine::Found(text) => {
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": text }] })
        }
    }
}

fn chat(said: &HeardLine) -> Value {
    match said {
        HeardLine::User(text) => json!({ "role": "user", "content": text }),
        HeardLine::Model(text) => json!({ "role": "assistant", "content": text }),
        HeardLine::Asks(text) => {
            let function = json!({ "name": "tool_0", "arguments": json!({ "what": text }).to_string() });
            let call = json!({ "id": "t", "type": "function", "function": function });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        }
        HeardLine::Found(text) => json!({ "role": "tool", "tool_call_id": "t", "content": text }),
    }
}

fn responses(said: &HeardLine) -> Value {
    match said {
        HeardLine::User(text) => {
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
        }
        HeardLine::Model(text) => {
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
        }
        HeardLine::Asks(text) => {
            let arguments = json!({ "what": text }).to_string();
            json!({ "type": "function_call", "call_id": "t", "name": "tool_0", "arguments": arguments })
        }
        HeardLine::Found(text) => json!({ "type": "function_call_output", "call_id": "t", "output": text }),
    }
}

fn generate(said: &HeardLine) -> Value {
    match said {
        HeardLine::User(text) => json!({ "role": "user", "parts": [{ "text": text }] }),
        HeardLine::Model(text) => json!({ "role": "model", "parts": [{ "text": text }] }),
        HeardLine::Asks(text) => {
            json!({ "role": "model", "parts": [{ "functionCall": { "name": "tool_0", "args": { "what": text } } }] })
        }
        HeardLine::Found(text) => {
            let response = json!({ "name": "tool_0", "response": { "output": text } });
            json!({ "role": "user", "parts": [{ "functionResponse": response }] })
        }
    }
}

#[test]
fn no_bound_of_a_chain_is_below_what_its_provider_counts() {
    let chains = if std::env::var_os("BARDO_FULL").is_some() { 10_000 } else { 240 };
    let spoken = [
        (AgentProtocol::Messages, Spoken::Messages),
        (AgentProtocol::Chat, Spoken::Chat),
        (AgentProtocol::Responses, Spoken::Responses),
        (AgentProtocol::Generate, Spoken::Gemini),
    ];
    let key = PrefixKey::new([7; 32]);
    let (mut calls, mut known) = (0, 0);
    for tokeniser in [Tokeniser::O200k, Tokeniser::Quarter, Tokeniser::EachByte] {
        let mut setting = Setting::new(Prices::parse("*=1/5").unwrap(), always(Turn::default(), Habit::HONEST));
        setting.tokeniser = tokeniser;
        let double = Double::start(setting).unwrap();
        let prefixes = Prefixes::default();
        for chain in 0..chains {
            let mut dice = SeededDice(chain);
            let (protocol, theirs) = spoken[chain as usize % spoken.len()];
            let mut talk = Talk { system: dice.text(20), ..Talk::default() };
            for _ in 0..2 + dice.roll(8) {
                talk.goes_on(&mut dice);
                let body = talk.body(protocol);
                let parts = parts::read(&body, protocol, "gpt-5").unwrap();
                let heads = key.chain(&body, protocol);
                let counted = double.counts(theirs, "gpt-5", &body).unwrap();
                let input = prefixes.bound(&heads, &parts, "here");
                assert!(input.most >= counted, "{input:?} for {counted}, {tokeniser:?}: {body}");
                if tokeniser == Tokeniser::O200k {
                    let input = weighed(input, &body, protocol, &parts);
                    assert!(input.most >= counted, "weighed, {input:?} for {counted}: {body}");
                }
                (calls, known) = (calls + 1, known + usize::from(input.known > 0));
                if dice.roll(4) > 0 {
                    prefixes.learn(&heads, &parts, "here", counted);
                }
            }
        }
    }
    println!(
        "counted: {calls} calls in {chains} chains at each of three tokenisers, {known} of them with a beginning that was known: no bound below its count"
    );
    assert!(known * 4 > calls, "{known} of {calls}");
}
