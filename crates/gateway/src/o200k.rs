//! Tokens of text as OpenAI's models count them since GPT-4o, and never too few. Known here is the first third of that
//! vocabulary: pairs are merged in the order of their ranks, so a count that stops early has merged less and is left
//! with more tokens. All of it would be a tenth of the program. `packaging/tokens` writes the file.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Tokens of two bytes and more by rank: each its length, and then its bytes.
const RANKS: &[u8] = include_bytes!("o200k.ranks");
/// Longer words are counted in pieces: looking at all pairs of a long one takes too long.
const PIECE: usize = 32;

static VOCABULARY: LazyLock<HashMap<&'static [u8], u32>> = LazyLock::new(|| {
    let (mut known, mut rest) = (HashMap::new(), RANKS);
    while let [length, after @ ..] = rest {
        let (token, others) = after.split_at(usize::from(*length).min(after.len()));
        known.insert(token, known.len() as u32);
        rest = others;
    }
    known
});

/// Tokens of a text.
pub(super) fn count(text: &str) -> u64 {
    let (mut rest, mut tokens) = (text, 0);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(word(rest));
        tokens += word.as_bytes().chunks(PIECE).map(merged).sum::<u64>();
        rest = after;
    }
    tokens
}

/// Tokens of one word: the pair with the lowest rank is merged, until no pair is known.
fn merged(word: &[u8]) -> u64 {
    if word.len() == 1 || VOCABULARY.contains_key(word) {
        return 1;
    }
    let mut ends: Vec<usize> = (0..=word.len()).collect();
    loop {
        let pairs = ends.windows(3).enumerate();
        let known = pairs.filter_map(|(at, pair)| Some((*VOCABULARY.get(&word[pair[0]..pair[2]])?, at)));
        let Some((_, at)) = known.min() else { return ends.len() as u64 - 1 };
        ends.remove(at + 1);
    }
}

/// Bytes of the first word of a text that has one, cut as that tokeniser cuts: letters with what stands before them, numbers of
/// three digits, marks, lines, spaces.
fn word(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let before = if first.is_alphanumeric() || is_line(first) { 0 } else { first.len_utf8() };
    let run = letters(&text[before..]);
    if run > 0 {
        return before + run;
    }
    if first.is_numeric() {
        return text.chars().take(3).take_while(|c| c.is_numeric()).map(char::len_utf8).sum();
    }
    let space = usize::from(first == ' ');
    let marks = span(&text[space..], |c| !(c.is_whitespace() || c.is_alphanumeric()));
    if marks > 0 {
        let end = space + marks;
        return end + span(&text[end..], |c| is_line(c) || c == '/');
    }
    let white = span(text, char::is_whitespace).max(first.len_utf8());
    if let Some(at) = text[..white].rfind(is_line) {
        return at + 1;
    }
    // The last of several spaces belongs to the word behind them.
    match text[..white].char_indices().next_back() {
        Some((at, _)) if at > 0 && white < text.len() => at,
        _ => white,
    }
}

/// Bytes of the letters at the start: large ones, small ones after them, and an ending with an apostrophe, such as
/// `'ll`.
fn letters(text: &str) -> usize {
    let large = span(text, |c| c.is_alphabetic() && !c.is_lowercase());
    let run = large + span(&text[large..], |c| c.is_alphabetic() && !c.is_uppercase());
    let ends = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
    let behind = |end: &&str| text[run..].get(..end.len()).is_some_and(|start| start.eq_ignore_ascii_case(end));
    match run {
        0 => 0,
        _ => run + ends.into_iter().find(behind).map_or(0, str::len),
    }
}

fn is_line(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

fn span(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !belongs(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testing::billing::Tokeniser;

    use super::*;

    #[test]
    fn text_is_cut_where_the_tokeniser_cuts_it() {
        let cut = |mut text: &'static str| {
            let mut words = Vec::new();
            while !text.is_empty() {
                let (first, rest) = text.split_at(word(text));
                words.push(first);
                text = rest;
            }
            words
        };
        assert_eq!(cut("Hello, it's HTTPServer 12345!"), ["Hello", ",", " it's", " HTTPServer", " ", "123", "45", "!"]);
        assert_eq!(cut("a  b\n\n  if (x) {\n}"), ["a", " ", " b", "\n\n", " ", " if", " (", "x", ")", " {\n", "}"]);
        assert_eq!(cut("naïve 漢字 —x  "), ["naïve", " 漢字", " —", "x", "  "]);
    }

    #[test]
    fn a_third_of_the_vocabulary_counts_a_little_too_much() {
        for text in [include_str!("serve.rs"), include_str!("../README.md")] {
            let (here, there) = (count(text), Tokeniser::O200k.count(text));
            assert!(here >= there && here * 100 <= there * 115, "{here} {there}");
        }
        assert_eq!(count(""), 0);
        assert!(count(&"x".repeat(100_000)) <= 100_000 && count(&" ".repeat(100_000)) <= 100_000);
    }

    proptest! {
        #[test]
        fn a_count_is_never_below_the_tokenisers_own(text in "(?s)([a-zA-Z]{1,9}[ .,'_\n/\"{}:0-9]{0,4}|\\PC{1,3}){0,60}") {
            // Where marks of other scripts cut words otherwise, it is a token or two.
            let (here, there) = (count(&text), Tokeniser::O200k.count(&text));
            prop_assert!(here + here / 10 + 2 >= there, "{here} {there} {text:?}");
        }
    }
}
