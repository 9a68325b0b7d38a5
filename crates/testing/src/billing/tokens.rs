//! Letters into tokens, finely and coarsely: what holds for one tokeniser has to hold for the next model's too.

/// How text is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokeniser {
    /// As GPT-4o and its successors count.
    #[default]
    O200k,
    /// Four bytes are a token: the rule of thumb, easy to do by hand.
    Quarter,
    /// Every byte is a token: no byte-level tokeniser can come to more.
    EachByte,
}

/// Longer text is counted piece by piece, because the pattern that finds words gives up on endless white space.
const PIECE: usize = 16 << 10;

impl Tokeniser {
    pub fn named(name: &str) -> Option<Tokeniser> {
        match name {
            "o200k" => Some(Tokeniser::O200k),
            "quarter" => Some(Tokeniser::Quarter),
            "byte" => Some(Tokeniser::EachByte),
            _ => None,
        }
    }

    pub fn count(self, text: &str) -> u64 {
        match self {
            Tokeniser::Quarter => (text.len() as u64).div_ceil(4),
            Tokeniser::EachByte => text.len() as u64,
            Tokeniser::O200k => {
                let (mut rest, mut tokens) = (text, 0);
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
                    tokens += tiktoken_rs::o200k_base_singleton().count_ordinary(piece) as u64;
                    rest = after;
                }
                tokens
            }
        }
    }
}
