//! Hooks by which Claude Code and Codex tell their agent themselves that its end is near. They are said on the command line, beside
//! those of its owner, so no file of either is written and no call is changed.

use golem::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Moments at which an agent is told something, by the name that both programs have for each, and by Codex's in what it trusts.
const MOMENTS: [(&str, &str); 2] = [("PostToolUse", "post_tool_use"), ("UserPromptSubmit", "user_prompt_submit")];
/// Seconds a hook may take.
const LIMIT: u64 = 10;

/// How an agent is given hooks.
#[derive(Debug)]
pub(super) struct HookWay {
    arguments: fn() -> Vec<String>,
    /// How arguments of its owner's begin that would take the place of ours.
    replaced_by: &'static [&'static str],
}

pub(super) const CLAUDE: HookWay = HookWay { arguments: claude, replaced_by: &["--settings"] };
pub(super) const CODEX: HookWay = HookWay {
    arguments: codex,
    replaced_by: &["hooks=", "hooks.PostToolUse=", "hooks.UserPromptSubmit=", "hooks.state="],
};

impl HookWay {
    pub(super) fn arguments(&self) -> Vec<String> {
        (self.arguments)()
    }

    /// The argument of these that would take the place of ours.
    pub(super) fn replaced_in<'a>(&self, program: &'a [String]) -> Option<&'a String> {
        program.iter().find(|word| self.replaced_by.iter().any(|begins| word.starts_with(begins)))
    }
}

/// A line for the shell that says what stands in the file of the last word, and nothing as long as that is not there.
fn line(moment: &str) -> String {
    let said = json!({ "hookSpecificOutput": { "hookEventName": moment, "additionalContext": "%s" } });
    format!(r#"[ ! -s "$BARDO_LAST_WORD" ] || printf '{said}' "$(tr -d '[:cntrl:]"\\' < "$BARDO_LAST_WORD")""#)
}

/// Claude Code puts hooks of these settings beside those of its own files.
fn claude() -> Vec<String> {
    let hook = |moment: &str| json!([{ "hooks": [{ "type": "command", "command": line(moment), "timeout": LIMIT }] }]);
    let hooks: Map<String, Value> = MOMENTS.iter().map(|(moment, _)| ((*moment).to_owned(), hook(moment))).collect();
    vec![format!("--settings={}", json!({ "hooks": hooks }))]
}

/// Codex runs a hook only if it was looked at, which it notes by a digest; for ours, and for no other, that is said as well.
fn codex() -> Vec<String> {
    let hooks = MOMENTS.iter().map(|(moment, _)| {
        let hook = format!("{{type=\"command\",command={},timeout={LIMIT}}}", Value::from(line(moment)));
        format!("hooks.{moment}=[{{hooks=[{hook}]}}]")
    });
    let trusted = MOMENTS.iter().map(|(moment, key)| {
        format!(
            "\"/<session-flags>/config.toml:{key}:0:0\"={{trusted_hash=\"{}\"}}",
            codex_digest(key, &line(moment), LIMIT)
        )
    });
    let state = format!("hooks.state={{{}}}", trusted.collect::<Vec<_>>().join(","));
    hooks.chain([state]).flat_map(|option| ["-c".to_owned(), option]).collect()
}

/// The digest of a hook as Codex makes it: of its fields, in the order of their names.
fn codex_digest(key: &str, command: &str, limit: u64) -> String {
    let hook =
        format!("{{\"async\":false,\"command\":{},\"timeout\":{limit},\"type\":\"command\"}}", Value::from(command));
    let identity = format!("{{\"event_name\":\"{key}\",\"hooks\":[{hook}]}}");
    format!("sha256:{}", hex::encode(&Sha256::digest(identity)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn output_of(command: &str, last_word: &str) -> String {
        let output = Command::new("sh").args(["-c", command]).env("BARDO_LAST_WORD", last_word).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_hook_says_nothing_before_the_end_is_told_and_then_what_stands_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it's \"the\" last word.txt");
        let path = file.to_str().unwrap();
        assert_eq!(output_of(&line("PostToolUse"), path), "");
        std::fs::write(&file, "the end is near, by 100 %s; $(touch evil)\nin \"/a\\b\"\u{1b}[0m\n").unwrap();
        for (moment, _) in MOMENTS {
            let told: Value = serde_json::from_str(&output_of(&line(moment), path)).unwrap();
            let words = "the end is near, by 100 %s; $(touch evil)in /ab[0m";
            let context = json!({ "hookEventName": moment, "additionalContext": words });
            assert_eq!(told, json!({ "hookSpecificOutput": context }));
        }
    }

    #[test]
    fn claude_is_given_a_line_for_each_moment_in_one_argument() {
        let arguments = CLAUDE.arguments();
        let settings: Value = serde_json::from_str(arguments[0].strip_prefix("--settings=").unwrap()).unwrap();
        for (moment, _) in MOMENTS {
            assert_eq!(settings["hooks"][moment][0]["hooks"][0]["command"], line(moment));
        }
        assert_eq!(arguments.len(), 1);
        let own = |text: &str| CLAUDE.replaced_in(&["claude".to_owned(), text.to_owned()]).is_some();
        assert!(own("--settings") && own("--settings={}") && !own("--setting-sources"));
    }

    /// The digest is the one that Codex 0.169.0 itself showed of this hook.
    #[test]
    fn codex_is_told_to_trust_our_hooks_and_no_other() {
        let command = r#"test -s "$BARDO_LAST_WORD" && echo hi || true"#;
        let digest = "sha256:ff0f4c5744e643732c810c00dd01f88d86d0b36255e245821037fef386ef0e41";
        assert_eq!(codex_digest("post_tool_use", command, 600), digest);
        let arguments = CODEX.arguments();
        assert!(arguments.iter().step_by(2).all(|word| word == "-c") && arguments.len() == 6);
        for (argument, (moment, key)) in arguments.iter().skip(1).step_by(2).zip(MOMENTS) {
            assert!(argument.starts_with(&format!("hooks.{moment}=[{{hooks=[{{type=\"command\",command=\"[ ! -s")));
            assert!(arguments[5].contains(&codex_digest(key, &line(moment), LIMIT)), "{}", arguments[5]);
        }
        assert_eq!(arguments[5].matches("trusted_hash").count(), MOMENTS.len());
        assert!(!arguments.iter().any(|word| word.contains("bypass")));
        let own = |text: &str| CODEX.replaced_in(&["codex".to_owned(), "-c".to_owned(), text.to_owned()]).is_some();
        assert!(own("hooks.PostToolUse=[]") && !own("hooks.Stop=[]"));
    }
}
