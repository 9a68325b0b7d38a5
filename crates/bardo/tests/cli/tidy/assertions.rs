//! How many assertions a source has that are on in production.

use super::source::{bare, without_tests};

/// The fewest that the two crates of the core have together.
pub(crate) const LEAST: usize = 50;

/// The assertions of a source; tests, those of debug builds and those of the compiler left out.
pub(crate) fn count(source: &str) -> usize {
    let (source, _) = without_tests(&bare(source));
    let all = source.match_indices("assert").filter(|(at, word)| {
        let (before, rest) = (&source[..*at], &source[at + word.len()..]);
        let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let called = ["!(", "_eq!(", "_ne!("].iter().any(|way| rest.starts_with(way));
        whole && called && !before.trim_end().ends_with('=')
    });
    all.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_in_production_is_counted() {
        let source = "const _: () = assert!(1 < 2);\nfn a() {\n    // assert!(no)\n    assert!(x);\n    assert_eq!(x, y);\n    \
                      debug_assert!(x);\n    say(\"assert!(z)\");\n}\n#[cfg(test)]\nmod tests {\n    fn t() { assert!(x) }\n}\n";
        assert_eq!(count(source), 2);
    }
}
