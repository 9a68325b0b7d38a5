//! An answer as it is made: a turn of a script, cut where no more tokens are allowed, with what each part of it counts.

use serde_json::Value;

use super::asked::BilledRequest;
use super::hidden::Hidden;
use super::script::{Part, Shown, Turn};
use super::tokens::Tokeniser;

/// The words that are shown of any thought, again and again.
const THOUGHT: &str = "Let me see. ";

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    Think {
        tokens: u64,
        shown: Shown,
        seal: String,
    },
    /// Pieces of text, each with its tokens.
    Text(Vec<(String, u64)>),
    Tool {
        name: String,
        custom: bool,
        input: Value,
        tokens: u64,
    },
}

impl Block {
    pub(crate) fn tokens(&self) -> u64 {
        match self {
            Block::Think { tokens, .. } | Block::Tool { tokens, .. } => *tokens,
            Block::Text(pieces) => pieces.iter().map(|(_, tokens)| tokens).sum(),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Block::Text(pieces) => pieces.iter().map(|(text, _)| text.as_str()).collect(),
            Block::Think { shown: Shown::Whole, tokens, .. } => THOUGHT.repeat((*tokens).min(400) as usize / 4 + 1),
            Block::Think { shown: Shown::Summary, .. } => THOUGHT.to_owned(),
            Block::Think { .. } => String::new(),
            Block::Tool { input: Value::String(text), custom: true, .. } => text.clone(),
            Block::Tool { input, .. } => input.to_string(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    End,
    Tools,
    Length,
}

#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// By what it and its parts are known: this number, and the ones after it.
    pub(crate) number: u64,
    pub(crate) blocks: Vec<Block>,
    pub(crate) stop: Stop,
    pub(crate) said: u64,
    pub(crate) reasoned: u64,
}

/// How many of the tools at the provider are used.
pub(crate) fn searches(turn: &Turn, asked: &BilledRequest) -> u64 {
    let may = asked.searches.iter().sum();
    let wants = turn.0.iter().filter_map(|part| if let Part::Search(times) = part { Some(*times) } else { None });
    wants.reduce(|one, other| one + other).map_or(may, |wants| wants.min(may))
}

/// One that counts at most so many tokens; thoughts may be left out of that.
pub(crate) fn make(
    turn: &Turn,
    asked: &BilledRequest,
    (number, most, thinks_past_most): (u64, u64, bool),
    tokeniser: Tokeniser,
    hidden: &mut Hidden,
) -> Made {
    let mut made = Made { number, blocks: Vec::new(), stop: Stop::End, said: 0, reasoned: 0 };
    let mut left = most;
    for part in &turn.0 {
        match part {
            Part::Search(_) => {}
            Part::Think { tokens: wanted, shown } => {
                let tokens = if thinks_past_most { *wanted } else { (*wanted).min(left) };
                left -= if thinks_past_most { 0 } else { tokens };
                made.reasoned += tokens;
                let seal = hidden.seal(number + made.blocks.len() as u64, tokens);
                made.blocks.push(Block::Think { tokens, shown: *shown, seal });
                made.stop = if tokens < *wanted { Stop::Length } else { made.stop };
            }
            Part::Text(_) | Part::Words(_) => {
                let wanted = if let Part::Text(text) = part { pieces(text, tokeniser) } else { words(part) };
                let all: u64 = wanted.iter().map(|(_, tokens)| tokens).sum();
                let block = Block::Text(cut(wanted, left));
                made.said += block.tokens();
                left -= block.tokens();
                made.stop = if block.tokens() < all { Stop::Length } else { made.stop };
                made.blocks.push(block);
            }
            Part::Tool { name, input } => {
                let tokens = tokeniser.count(name) + tokeniser.count(&input.to_string());
                let custom = asked.offers(name).is_some_and(|tool| tool.custom);
                made.said += tokens.min(left);
                if tokens > left {
                    // What there is of a call that is not finished is billed and is of no use.
                    (made.stop, left) = (Stop::Length, 0);
                } else {
                    left -= tokens;
                    made.stop = Stop::Tools;
                    made.blocks.push(Block::Tool { name: name.clone(), custom, input: input.clone(), tokens });
                }
            }
        }
        if made.stop == Stop::Length {
            break;
        }
    }
    made
}

fn words(part: &Part) -> Vec<(String, u64)> {
    let Part::Words(tokens) = part else { return Vec::new() };
    (0..*tokens).map(|at| (if at == 0 { "word" } else { " word" }.to_owned(), 1)).collect()
}

/// Words with the space before them.
fn pieces(text: &str, tokeniser: Tokeniser) -> Vec<(String, u64)> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for at in 1..=text.len() {
        let ends = at == text.len() || (bytes[at].is_ascii_whitespace() && !bytes[at - 1].is_ascii_whitespace());
        if ends {
            let piece = &text[start..at];
            pieces.push((piece.to_owned(), tokeniser.count(piece)));
            start = at;
        }
    }
    pieces
}

/// As much of it as so many tokens are; the piece that does not fit is cut in the middle.
fn cut(pieces: Vec<(String, u64)>, most: u64) -> Vec<(String, u64)> {
    let (mut left, mut kept) = (most, Vec::new());
    for (text, tokens) in pieces {
        if left == 0 {
            break;
        }
        let fits = tokens.min(left);
        let length = text.floor_char_boundary(text.len() * fits as usize / tokens.max(1) as usize);
        kept.push((if fits < tokens { text[..length].to_owned() } else { text }, fits));
        left -= fits;
    }
    kept
}
