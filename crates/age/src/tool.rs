//! What an agent does with a tool, as far as a record needs it: the same as before, a change of a file, a run of tests.
//! Whatever it was asked is hashed at once.

use serde_json::Value;

use crate::name::{number, number_of};

/// One use of a tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolUse {
    /// By what the same use would be known again.
    pub(crate) hash: u64,
    /// Whether it runs tests, so that its result says whether they pass.
    pub(crate) check: bool,
    /// Whether it has another agent do something.
    pub(crate) helper: bool,
}

/// A change of a file: from what, to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) file: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl ToolUse {
    /// By its name and what it was told, as it stands there.
    pub(crate) fn new(name: &str, told: &[u8]) -> ToolUse {
        ToolUse { hash: number_of(&[name.as_bytes(), told]), check: false, helper: false }
    }

    pub(crate) fn runs(mut self, command: Option<&str>) -> ToolUse {
        self.check = command.is_some_and(is_check);
        self
    }
}

impl Edit {
    pub(crate) fn new(file: &str, from: &str, to: &str) -> Edit {
        Edit { file: number(file.as_bytes()), from: number(from.as_bytes()), to: number(to.as_bytes()) }
    }

    /// Of a difference in the usual form: what it takes away and what it puts there.
    pub(crate) fn of_diff(file: &str, diff: &str) -> Edit {
        let side = |sign: char| {
            let lines = diff.lines().filter(|line| !line.starts_with("+++") && !line.starts_with("---"));
            lines.filter_map(|line| line.strip_prefix(sign)).collect::<Vec<_>>().join("\n")
        };
        Edit::new(file, &side('-'), &side('+'))
    }

    /// Whether this puts back what that one changed.
    pub(crate) fn undoes(&self, before: &Edit) -> bool {
        self.file == before.file && self.from == before.to && self.to == before.from && self.from != self.to
    }
}

/// Beginnings of commands that run tests.
const CHECKS: [&str; 43] = [
    "cargo test",
    "cargo nextest run",
    "pytest",
    "py.test",
    "python -m pytest",
    "python3 -m pytest",
    "python -m unittest",
    "python3 -m unittest",
    "uv run pytest",
    "poetry run pytest",
    "npm test",
    "npm run test",
    "yarn test",
    "pnpm test",
    "npx jest",
    "npx vitest",
    "npx mocha",
    "npx playwright test",
    "jest",
    "vitest",
    "bun test",
    "deno test",
    "node --test",
    "go test",
    "make test",
    "make check",
    "just test",
    "just check",
    "just ci",
    "mvn test",
    "mvn verify",
    "gradle test",
    "./gradlew test",
    "dotnet test",
    "bundle exec rspec",
    "rspec",
    "rake test",
    "mix test",
    "ctest",
    "tox",
    "phpunit",
    "swift test",
    "bazel test",
];

/// Whether a command ends with a run of tests whose outcome is its own: behind a pipe, or before something else, it is not.
pub(crate) fn is_check(command: &str) -> bool {
    let command = command.trim().trim_end_matches("2>&1").trim_end();
    let last = command.rsplit("&&").next().unwrap_or_default().trim();
    if command.contains(['|', ';', '\n', '`']) || last.contains('&') {
        return false;
    }
    let mut words = last.split_whitespace().peekable();
    // Variables that are set for it, and how long it may take.
    while words.peek().is_some_and(|word| {
        word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    }) {
        words.next();
    }
    if words.peek() == Some(&"timeout") {
        words.next();
        words.next();
    }
    let plain = words.take(8).collect::<Vec<_>>().join(" ");
    CHECKS.iter().any(|check| plain.strip_prefix(check).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// The command among what a shell was told: a text, or a list of words behind the shell's own.
pub(crate) fn command(told: &Value) -> Option<String> {
    let said = ["command", "cmd"].into_iter().find_map(|name| told.get(name))?;
    match said {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match &words[..] {
                [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') => Some((*line).to_owned()),
                _ => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}
