//! Text from outside, made fit to be shown. A terminal takes some characters for orders: to move, to recolour, to set
//! its title, to answer as if the user had typed, to turn a line around. Code that shows, keeps or passes on text from
//! outside asks here which characters are only characters.

use std::borrow::Cow;

/// The mark left where something was taken out, so that the rest is not taken for the whole.
const LOST: char = '\u{fffd}';

/// Whether a character is safe to show: no control character of either set, nothing that turns text around, breaks a
/// line without looking like it, or cannot be seen.
pub fn is_plain(c: char) -> bool {
    !(c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'))
}

/// The text without characters that a terminal would obey; its lines and tabs are kept.
pub fn text(text: &str) -> Cow<'_, str> {
    let keeps = |c: char| is_plain(c) || c == '\n' || c == '\t';
    if text.chars().all(keeps) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if keeps(c) { c } else { LOST }).collect::<String>().into()
}

/// The text in one line, of so many characters at most.
pub fn line(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).map(|c| if is_plain(c) { c } else { LOST }).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}

/// JSON that is safe to show and still means the same: unsafe characters are written as escapes.
pub fn json(json: &str) -> Cow<'_, str> {
    if json.chars().all(|c| is_plain(c) || c == '\n') {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_plain(c) || c == '\n' {
            safe.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe += &format!("\\u{unit:04x}"));
        }
    }
    safe.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_and_nothing_else_is_touched() {
        let hostile = "a\x1b]0;title\x07b\u{9b}31mc\u{202e}d\r\u{7f}\u{2028}\u{e0041}e";
        assert_eq!(text(hostile), "a\u{fffd}]0;title\u{fffd}b\u{fffd}31mc\u{fffd}d\u{fffd}\u{fffd}\u{fffd}\u{fffd}e");
        let kind = "naïve, 日本語, 👩‍🚀, $1.50\n\tyes";
        assert!(matches!(text(kind), Cow::Borrowed(same) if same == kind));
        assert_eq!(line("one\ntwo", 10), "one\u{fffd}two");
        assert_eq!(line("abcdef", 3), "abc…");
    }

    #[test]
    fn json_says_the_same_as_before() {
        let value = serde_json::json!({ "a": "\x1b[31m \u{9b} \u{202e} \u{e0041} \u{7f}", "b\u{85}": 1 });
        let shown = value.to_string();
        let safe = json(&shown);
        assert!(safe.chars().all(is_plain), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
