//! What of an owner's environment a program gets: all of it but what opens a provider of models, which would let it spend past
//! its budget. Such keys are known by their names, by how they look, and by being what another variable holds.
//!
//! `HF_TOKEN` is among them, because inference at Hugging Face is paid with it; `GITHUB_TOKEN` is not, because an agent that
//! works on code pushes with it, and what it opens there costs nothing unless its owner has said so to GitHub.

use std::collections::{BTreeMap, BTreeSet};

use shell::Error;

/// Names of providers, one part of a key variable's name.
const PROVIDERS: [&str; 62] = [
    "AI21",
    "AIHUBMIX",
    "ANTHROPIC",
    "ANYSCALE",
    "ASSEMBLYAI",
    "BASETEN",
    "BEDROCK",
    "CEREBRAS",
    "CHUTES",
    "CLAUDE",
    "CODESTRAL",
    "CODEX",
    "COHERE",
    "COPILOT",
    "CURSOR",
    "DASHSCOPE",
    "DEEPGRAM",
    "DEEPINFRA",
    "DEEPSEEK",
    "ELEVENLABS",
    "FEATHERLESS",
    "FIREWORKS",
    "FIREWORKSAI",
    "FRIENDLI",
    "GEMINI",
    "GROK",
    "GROQ",
    "HELICONE",
    "HF",
    "HUGGINGFACE",
    "HUGGINGFACEHUB",
    "HYPERBOLIC",
    "JINA",
    "KIMI",
    "LITELLM",
    "MINIMAX",
    "MISTRAL",
    "MOONSHOT",
    "NEBIUS",
    "NOVITA",
    "NVIDIA",
    "OLLAMA",
    "OPENAI",
    "OPENCODE",
    "OPENROUTER",
    "PERPLEXITY",
    "PERPLEXITYAI",
    "POE",
    "PORTKEY",
    "QWEN",
    "REPLICATE",
    "REQUESTY",
    "SAMBANOVA",
    "SILICONFLOW",
    "TOGETHER",
    "TOGETHERAI",
    "VENICE",
    "VERTEX",
    "VOYAGE",
    "XAI",
    "ZAI",
    "ZHIPUAI",
];
/// Words that mark a variable as a key, another part of its name.
const SECRET: [&str; 6] = ["APIKEY", "KEY", "KEYS", "TOKEN", "SECRET", "CREDENTIALS"];
/// Keys whose names do not say so.
const OTHERS: [&str; 15] = [
    "AI_GATEWAY_API_KEY",
    "ARK_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_AI_API_KEY",
    "AZURE_API_KEY",
    "AZURE_INFERENCE_CREDENTIAL",
    "CO_API_KEY",
    "GLM_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_GENAI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
];
/// How keys begin, and whose they are where only one has such.
const FORMS: [(&str, Option<&str>); 18] = [
    ("sk-ant-", Some("anthropic")),
    ("sk-or-", Some("openrouter")),
    ("sk-proj-", Some("openai")),
    ("sk-svcacct-", Some("openai")),
    ("sk-admin-", Some("openai")),
    // Traces are kept with it and nothing is bought.
    ("sk-lf-", None),
    ("sk-", None),
    ("AIza", Some("gemini")),
    ("gsk_", Some("groq")),
    ("xai-", Some("xai")),
    ("pplx-", Some("perplexity")),
    ("hf_", Some("huggingface")),
    ("r8_", Some("replicate")),
    ("nvapi-", Some("nvidia")),
    ("csk-", Some("cerebras")),
    ("fw_", Some("fireworks")),
    ("tgp_v1_", Some("together")),
    ("ABSK", Some("bedrock")),
];
/// Letters and digits in a row that no word has.
const RUN: usize = 16;
/// Variables that every program needs, even if they look like keys.
const NEEDED: [&str; 14] = [
    "COLORTERM",
    "HOME",
    "LANG",
    "LOGNAME",
    "OLDPWD",
    "PATH",
    "PWD",
    "SHELL",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "_",
];
/// Shorter than this, what a variable holds is found everywhere.
const TELLING: usize = 12;

/// The environment a program gets, and the names of variables kept from it.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) variables: BTreeMap<String, String>,
    pub(super) kept_back: BTreeSet<String>,
}

/// How much its owner wants it to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    /// Only what every program needs.
    pub(super) clean: bool,
    /// All the same, whatever they are.
    pub(super) keep: &'a [String],
    /// Further variables that hold a key, named in the settings.
    pub(super) ours: &'a BTreeSet<String>,
}

pub(super) fn given(own: impl Iterator<Item = (String, String)>, wish: Wish<'_>) -> Given {
    let mut given = Given { variables: own.collect(), kept_back: BTreeSet::new() };
    let (keep, needed) = (|name: &str| wish.keep.iter().any(|one| one == name), |name: &str| NEEDED.contains(&name));
    let ours = |name: &str| name.starts_with("BARDO_");
    given.variables.retain(|name, _| !ours(name) || keep(name));
    let is_key = |name: &str, value: &str| {
        !value.trim().is_empty()
            && !needed(name)
            && (wish.ours.contains(name) || is_named(name, value) || whose(value).is_some())
    };
    let keys: Vec<(String, String)> = given
        .variables
        .iter()
        .filter(|(name, value)| is_key(name, value))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let holds = |value: &str| keys.iter().any(|(_, key)| key.trim().len() >= TELLING && value.contains(key.trim()));
    given.kept_back.extend(keys.iter().map(|(name, _)| name.clone()));
    given.kept_back.extend(given.variables.iter().filter(|(n, v)| !needed(n) && holds(v)).map(|(n, _)| n.clone()));
    given.kept_back.retain(|name| !keep(name));
    given.variables.retain(|name, _| {
        let usual = needed(name) || name.starts_with("LC_");
        !given.kept_back.contains(name) && (!wish.clean || usual || keep(name))
    });
    given
}

/// Whether a variable is a key by its name; a number of tokens is not.
fn is_named(name: &str, value: &str) -> bool {
    let name = name.to_uppercase();
    let parts: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |known: &[&str]| parts.iter().any(|part| known.contains(part));
    let counts = value.trim().chars().all(|c| c.is_ascii_digit());
    OTHERS.contains(&name.as_str()) || (has(&PROVIDERS) && has(&SECRET) && !counts)
}

/// Whether a key stands in this by how it looks; and whose it is, if only one has such.
pub(super) fn whose(text: &str) -> Option<Option<&'static str>> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).find_map(|piece| {
        let (begins, whose) = FORMS.iter().find(|(begins, _)| piece.starts_with(begins))?;
        let rest = &piece[begins.len()..];
        let long = rest.split(['-', '_']).any(|run| run.len() >= RUN);
        let mixed = rest.chars().any(|c| c.is_ascii_digit()) && rest.chars().any(|c| c.is_ascii_alphabetic());
        (long && mixed && *begins != "sk-lf-").then_some(*whose)
    })
}

/// A key in what a program is told would go with it into its own calls, and into every list of processes.
pub(super) fn none_told(program: &[String]) -> Result<(), Error> {
    match program.iter().position(|text| whose(text).is_some()) {
        None => Ok(()),
        Some(at) => Err(Error::Usage(format!(
            "the program's argument {at} contains a key; leave it out: its calls are paid with the key \
             in this environment, and it has a token of its golem's"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(begins: &str) -> String {
        format!("{begins}aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5kM7nP9")
    }

    fn kept(own: &[(&str, &str)], clean: bool, keep: &[&str]) -> Given {
        let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let keep: Vec<String> = keep.iter().map(|name| (*name).to_owned()).collect();
        given(own, Wish { clean, keep: &keep, ours: &BTreeSet::from(["WORK_KEY".to_owned()]) })
    }

    /// Of sixteen keys fifteen were passed on.
    #[test]
    fn every_providers_key_stays_with_its_owner_by_whatever_name() {
        let all = "OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN GEMINI_API_KEY AZURE_OPENAI_API_KEY GOOGLE_API_KEY \
                   AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN CLAUDE_CODE_OAUTH_TOKEN CODEX_API_KEY \
                   OPENAI_ADMIN_KEY OPENAI_KEY COHERE_API_KEY CO_API_KEY LITELLM_API_KEY MOONSHOT_API_KEY CEREBRAS_API_KEY \
                   PERPLEXITY_API_KEY AI_GATEWAY_API_KEY HF_TOKEN HUGGINGFACEHUB_API_TOKEN MISTRAL_API_KEY GROQ_API_KEY \
                   XAI_API_KEY DEEPSEEK_API_KEY TOGETHER_API_KEY FIREWORKS_API_KEY VENICE_API_KEY OPENROUTER_API_KEY \
                   REPLICATE_API_TOKEN NVIDIA_API_KEY DASHSCOPE_API_KEY openai_api_key MY_OPENAI_KEY WORK_KEY \
                   GOOGLE_APPLICATION_CREDENTIALS AWS_BEARER_TOKEN_BEDROCK COPILOT_TOKEN OPENAI_API_KEY_2 OLLAMA_API_KEY WORK.GEMINI-KEY";
        let own: Vec<(&str, &str)> = all.split_whitespace().map(|name| (name, "canary")).collect();
        let given = kept(&own, false, &[]);
        assert!(given.variables.is_empty(), "{:?}", given.variables);
        assert_eq!(given.kept_back.len(), own.len());
    }

    #[test]
    fn a_key_is_known_by_how_it_looks_and_by_what_holds_it_too() {
        for begins in ["sk-", "sk-ant-api03-", "sk-proj-", "AIza", "gsk_", "xai-", "pplx-", "hf_", "nvapi-", "fw_"] {
            let key = key(begins);
            let header = format!("Authorization: Bearer {key}");
            let config = format!("{{\"provider\":{{\"options\":{{\"apiKey\":\"{key}\"}}}}}}");
            let given = kept(&[("SOME_THING", &key), ("HEADERS", &header), ("CONFIG", &config)], false, &[]);
            assert!(given.variables.is_empty(), "{begins}: {:?}", given.variables);
        }
        let given =
            kept(&[("GROQ_API_KEY", "no-form-at-all"), ("WHERE", "https://u:no-form-at-all@example.com")], false, &[]);
        assert!(given.variables.is_empty(), "{:?}", given.variables);
    }

    #[test]
    fn everything_else_is_as_it_was() {
        let own = [
            ("PATH", "/opt/sk-learn-2024-abcdefghijklmnop1234/bin:/bin"),
            ("PWD", "/home/u/sk-aB3dE5gH7jK9mN1pQ3sT"),
            ("GITHUB_TOKEN", "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7"),
            ("NPM_TOKEN", "npm_aB3dE5gH7jK9mN1pQ3sT5vW7"),
            ("STRIPE_API_KEY", "sk_live_aB3dE5gH7jK9mN1pQ3sT5vW7"),
            ("LANGFUSE_SECRET_KEY", "sk-lf-aB3dE5gH7jK9mN1pQ3sT5vW7"),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "64000"),
            ("OPENAI_MAX_TOKEN", "4096"),
            ("OPENAI_MODEL", "gpt-5-mini"),
            ("PROJECT", "/srv/sk-recommender/data"),
            ("EMPTY_OPENAI_API_KEY", ""),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("LC_ALL", "C"),
        ];
        let given = kept(&own, false, &[]);
        assert_eq!(given.variables.len(), own.len(), "{:?}", given.kept_back);
        // Cleaned, only what every program needs is left; and what its owner keeps is kept.
        let clean = kept(
            &[&own[..], &[("HF_TOKEN", "canary"), ("BARDO_HOME", "/h")]].concat(),
            true,
            &["HF_TOKEN", "NPM_TOKEN"],
        );
        let names: Vec<&str> = clean.variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["HF_TOKEN", "LC_ALL", "NPM_TOKEN", "PATH", "PWD"]);
        assert!(clean.kept_back.is_empty());
    }

    #[test]
    fn no_key_is_told_to_a_program_in_so_many_words() {
        let told = |text: &str| none_told(&["aider".to_owned(), text.to_owned()]);
        assert!(told("--model").is_ok() && told("say sk-hello to them").is_ok());
        let refused = told(&format!("--openai-api-key={}", key("sk-proj-"))).unwrap_err().to_string();
        assert!(refused.contains("argument 1") && !refused.contains("aB3dE5"), "{refused}");
    }
}
