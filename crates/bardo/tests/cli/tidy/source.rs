//! Source code as far as the house rules look at it: without comments, without strings or with them apart, without tests.

/// The lines of a source, with spaces where comments and strings were.
pub(crate) fn bare(source: &str) -> String {
    blank(source, ' ', |_, _| {})
}

/// The bare source with a quotation mark where each string begins; and the strings, each with its place in letters.
pub(crate) fn with_strings(source: &str) -> (String, Vec<(usize, String)>) {
    let mut strings = Vec::new();
    let marked = blank(source, '"', |at, string| strings.push((at, unquoted(string))));
    (marked, strings)
}

/// Puts spaces in place of comments and strings, and a mark where each string begins; hands on every string with its place.
fn blank(source: &str, mark: char, mut each: impl FnMut(usize, &[char])) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let (end, is_string) = match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => (line_end(&chars, at), false),
            ('/', Some('*')) => (comment_end(&chars, at), false),
            ('"', _) => (string_end(&chars, at), true),
            ('r', Some('"' | '#')) if !is_word(&chars, at) => (raw_end(&chars, at).unwrap_or(at), true),
            ('\'', _) => (char_end(&chars, at).unwrap_or(at), false),
            _ => (at, false),
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        if is_string {
            each(at, &chars[at..end]);
        }
        let blanked = chars[at..end].iter().enumerate().map(|(place, c)| match (place, c) {
            (_, '\n') => '\n',
            (0, _) if is_string => mark,
            _ => ' ',
        });
        out.extend(blanked);
        at = end;
    }
    out
}

/// A string without its quotation marks, in one line: lines that end in a backslash are joined, other ends of lines are `\n`.
fn unquoted(string: &[char]) -> String {
    let text: String = string.iter().collect();
    let raw = text.strip_prefix('r').map(|raw| raw.trim_matches('#'));
    let quoted = raw.unwrap_or(&text);
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    if raw.is_some() {
        return inner.replace('\n', "\\n");
    }
    let mut chars = inner.chars().peekable();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        match (c, chars.peek().copied()) {
            ('\\', Some('\n')) => while chars.next_if(|c| c.is_whitespace()).is_some() {},
            ('\\', Some('"')) => {}
            ('\\', Some(_)) => {
                out.push(c);
                out.extend(chars.next());
            }
            ('\n', _) => out.push_str("\\n"),
            _ => out.push(c),
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
