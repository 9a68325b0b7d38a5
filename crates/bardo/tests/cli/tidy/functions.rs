//! How long functions are, from the line with `fn` to the brace that closes it.

use super::source::{bare, without_tests};

/// What fits on a screen.
pub(crate) const MOST: usize = 70;

/// The functions of a source that do not fit on a screen, and their lines; tests left out.
pub(crate) fn long(source: &str) -> Vec<(String, usize)> {
    let (source, _) = without_tests(&bare(source));
    let starts = source.match_indices("fn ").map(|(at, _)| at);
    let own = starts.filter(|at| source[..*at].chars().next_back().is_none_or(|c| c.is_whitespace()));
    let measured = own.filter_map(|at| {
        let name = source[at + 3..].split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        // A type and a promise have a name or a semicolon where a function has its body.
        let body = at + source[at..].find(['{', ';']).filter(|body| source[at + body..].starts_with('{'))?;
        let end = body + closing(&source[body..])?;
        Some((name.to_owned(), source[at..=end].lines().count())).filter(|_| !name.is_empty())
    });
    measured.filter(|(_, lines)| *lines > MOST).collect()
}

/// Where the brace is that closes the one this text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_too_long_by_one_line_and_not_before() {
        let function =
            |name: &str, lines: usize| format!("    pub fn {name}() {{\n{}    }}\n", "act();\n".repeat(lines - 2));
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function("tested", 200));
        let source = format!("impl A {{\n{}{}}}\n{tests}", function("fits", MOST), function("overflows", MOST + 1));
        assert_eq!(long(&source), [("overflows".to_owned(), MOST + 1)]);
        let braces = format!("fn quoted() {{ let open = '{{'; let text = \"{{{{\"; /* {{ */ }}\n{}", "\n".repeat(MOST));
        assert_eq!(long(&braces), []);
    }
}
