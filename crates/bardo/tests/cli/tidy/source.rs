//! Source code as far as the house rules look at it: without comments, without what stands in strings, without tests.

/// The same lines, with spaces where comments and the insides of strings were.
pub(crate) fn bare(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => line_end(&chars, at),
            ('/', Some('*')) => comment_end(&chars, at),
            ('"', _) => string_end(&chars, at),
            ('r', Some('"' | '#')) if !is_word(&chars, at) => raw_end(&chars, at).unwrap_or(at),
            ('\'', _) => char_end(&chars, at).unwrap_or(at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        }
        while at < end {
            out.push(if chars[at] == '\n' { '\n' } else { ' ' });
            at += 1;
        }
    }
    out
}

/// Whether this letter goes on with a word that began before it.
fn is_word(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') && chars[at - 1] != 'b'
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| at + length)
}

fn comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    at += 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// None where the letter r is no string at all.
fn raw_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let begin = at + 1 + hashes;
    if chars.get(begin) != Some(&'"') {
        return None;
    }
    let closes = |end: &usize| chars[*end] == '"' && chars[end + 1..].iter().take(hashes).all(|c| *c == '#');
    (begin + 1..chars.len()).find(closes).map(|end| end + 1 + hashes)
}

/// None where it is the name of a lifetime.
fn char_end(chars: &[char], at: usize) -> Option<usize> {
    match chars.get(at + 1)? {
        '\\' => chars[at + 3..].iter().position(|c| *c == '\'').map(|length| at + 4 + length),
        _ => (chars.get(at + 2) == Some(&'\'')).then_some(at + 3),
    }
}

/// Bare source with spaces in place of what is there for tests alone, and the names of modules that are.
pub(crate) fn without_tests(bare: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let (mut out, mut rest, mut modules) = (String::new(), bare, Vec::new());
    while let Some(at) = rest.find(MARK) {
        let item = &rest[at + MARK.len()..];
        let length = item_length(item);
        modules.extend(item[..length].split("mod ").nth(1).and_then(|name| name.strip_suffix(';')).map(str::to_owned));
        let end = at + MARK.len() + length;
        out.push_str(&rest[..at]);
        out.extend(rest[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[end..];
    }
    (out + rest, modules)
}

/// Up to the end of an item or a statement: its semicolon, or the brace that closes it.
fn item_length(text: &str) -> usize {
    let (mut braces, mut others) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => braces += 1,
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            '}' => braces -= 1,
            _ => {}
        }
        let closes = matches!(c, '}' | ';') && braces == 0 && others == 0;
        if closes {
            return at + c.len_utf8();
        }
    }
    text.len()
}
