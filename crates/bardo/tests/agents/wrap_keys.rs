//! Keys of an owner's, by the names they usually have and by odd ones, at addresses of their own and behind proxies: none reaches the
//! program, and each reaches one host.

use crate::common::Tent;
use crate::wrap::{life, told};
use testing::upstream::{Act, Upstream};

/// Variables that hold a key, and how it stands there.
const HELD: [(&str, &str); 46] = [
    ("OPENAI_API_KEY", "sk-proj-@"),
    ("ANTHROPIC_API_KEY", "sk-ant-api03-@"),
    ("ANTHROPIC_AUTH_TOKEN", "token-@"),
    ("GEMINI_API_KEY", "AIza@"),
    ("GOOGLE_API_KEY", "AIza@"),
    ("AZURE_OPENAI_API_KEY", "azure-@"),
    ("AWS_ACCESS_KEY_ID", "AKIA@"),
    ("AWS_SECRET_ACCESS_KEY", "aws-@"),
    ("AWS_BEARER_TOKEN_BEDROCK", "ABSK@"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-@"),
    ("CODEX_API_KEY", "sk-@"),
    ("OPENAI_ADMIN_KEY", "sk-admin-@"),
    ("COHERE_API_KEY", "co-@"),
    ("CO_API_KEY", "@"),
    ("LITELLM_API_KEY", "sk-@"),
    ("MOONSHOT_API_KEY", "sk-@"),
    ("CEREBRAS_API_KEY", "csk-@"),
    ("PERPLEXITY_API_KEY", "pplx-@"),
    ("AI_GATEWAY_API_KEY", "vck_@"),
    ("HF_TOKEN", "hf_@"),
    ("HUGGINGFACEHUB_API_TOKEN", "hf_@"),
    ("GROQ_API_KEY", "gsk_@"),
    ("XAI_API_KEY", "xai-@"),
    ("MISTRAL_API_KEY", "@"),
    ("DEEPSEEK_API_KEY", "sk-@"),
    ("TOGETHER_API_KEY", "tgp_v1_@"),
    ("FIREWORKS_API_KEY", "fw_@"),
    ("OPENROUTER_API_KEY", "sk-or-v1-@"),
    ("NVIDIA_API_KEY", "nvapi-@"),
    ("REPLICATE_API_TOKEN", "r8_@"),
    ("DASHSCOPE_API_KEY", "sk-@"),
    ("SAMBANOVA_API_KEY", "@"),
    // By no name that says so.
    ("SOME_OTHER_NAME", "sk-or-v1-@"),
    ("team_secret", "gsk_@"),
    ("MODEL_HEADERS", "Authorization: Bearer sk-@"),
    ("TOOL_CONFIG", "{\"provider\":{\"apiKey\":\"sk-ant-api03-@\"}}"),
    ("WHERE_TO", "https://user:xai-@@example.com/v1"),
    ("EXTRA_ARGS", "--api-key=nvapi-@ --verbose"),
    ("openai_api_key", "sk-@"),
    ("OPENAI_API_KEY_2", "sk-proj-@"),
    ("MY_OPENAI_KEY", "@"),
    ("WORK.GEMINI-KEY", "@"),
    // What another variable holds, in one that says nothing.
    ("CACHE_SALT", "same as MISTRAL_API_KEY"),
    ("DATABASE_URL", "same as CO_API_KEY"),
    ("NOTES", "same as SAMBANOVA_API_KEY"),
    ("PROMPT_PREFIX", "same as AZURE_OPENAI_API_KEY"),
];

/// Where clients of each have their address from, and what is put behind it there.
const OPENAI: [(&str, &str); 3] = [("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1"), ("OPENAI_HOST", "")];
const ANTHROPIC: [&str; 4] = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "ANTHROPIC_API_URL", "ANTHROPIC_HOST"];
const GOOGLE: &str = "GOOGLE_GEMINI_BASE_URL";
/// In these a call shows its key.
const SHOWN: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// Says what its environment is, also what a shell would not pass on, and calls once in each protocol that has somewhere to go.
const SHOWS: &str = r#"env; tr '\0' '\n' < /proc/$$/environ
curl -s "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}' >&2
curl -s "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" \
  -d '{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}' >&2
[ -z "$WITH_GOOGLE" ] || curl -s "$ANTHROPIC_BASE_URL/v1beta/models/m:generateContent" -H "x-goog-api-key: $BARDO_TOKEN" \
  -d '{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"generationConfig":{"maxOutputTokens":20}}' >&2"#;

/// What a variable holds, by which it is known wherever it turns up.
fn held(name: &str) -> String {
    let at = HELD.iter().position(|(known, _)| *known == name).unwrap();
    match HELD[at].1.split_once("same as ") {
        Some((_, other)) => format!("beside {}", held(other)),
        None => HELD[at].1.replacen('@', &format!("canary{at}x4f9b2c7d1e8a6f3b5c0d{at}"), 1),
    }
}

/// What a call has shown, header by header.
fn shown(upstream: &Upstream) -> Vec<(String, String)> {
    let head = upstream.last().0;
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let lines = lines.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    lines.filter(|(name, _)| SHOWN.contains(&name.as_str())).collect()
}

/// One environment of forty: which keys there are, under which name an owner has their addresses, and how much stands between.
struct Own {
    set: Vec<(&'static str, String)>,
    openai: (&'static str, &'static str),
    anthropic: &'static str,
    /// With which key Google's clients call a server of the owner's, if they do.
    google: Option<&'static str>,
    proxy: bool,
}

impl Own {
    fn of(number: usize) -> Own {
        let google = ["GEMINI_API_KEY", "GOOGLE_API_KEY"][number / 2 % 2];
        let token = number % 4 < 2;
        let is_set = |at: usize, name: &str| match name {
            "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => true,
            "ANTHROPIC_AUTH_TOKEN" => token,
            // Where both are there, the first counts.
            "GEMINI_API_KEY" | "GOOGLE_API_KEY" => name == google,
            // Whose value another has.
            "MISTRAL_API_KEY" | "CO_API_KEY" | "SAMBANOVA_API_KEY" | "AZURE_OPENAI_API_KEY" => true,
            _ => number.is_multiple_of(7) || number & (1 << (at % 5)) != 0,
        };
        let set = HELD.iter().enumerate().filter(|(at, (name, _))| is_set(*at, name));
        Own {
            set: set.map(|(_, (name, _))| (*name, held(name))).collect(),
            openai: OPENAI[number % 3],
            anthropic: ANTHROPIC[number / 3 % 4],
            google: number.is_multiple_of(2).then_some(google),
            proxy: number.is_multiple_of(3),
        }
    }

    /// What an Anthropic server is shown: a token goes before a key.
    fn token(&self) -> (&'static str, String) {
        match self.set.iter().find(|(name, _)| *name == "ANTHROPIC_AUTH_TOKEN") {
            Some((_, token)) => ("authorization", format!("Bearer {token}")),
            None => ("x-api-key", held("ANTHROPIC_API_KEY")),
        }
    }
}

/// Of sixteen keys fifteen were passed on; an address of one's own was overwritten in silence, and its key went to another host.
#[test]
fn in_forty_environments_no_key_reaches_the_program_or_a_host_that_is_not_its_own() {
    for number in 0..40 {
        let (tent, own) = (Tent::bare(), Own::of(number));
        let [openai, anthropic, google] = [(); 3].map(|()| Upstream::start(|_| Act::Honest));
        let mut command = tent.command(["wrap", "--name", "ada", "--", "sh", "-c", SHOWS]);
        let addresses = OPENAI.iter().map(|(name, _)| *name).chain(ANTHROPIC).chain([GOOGLE]);
        for name in HELD.iter().map(|(name, _)| *name).chain(addresses) {
            command.env_remove(name);
        }
        command.envs(own.set.iter().map(|(name, value)| (name, value)));
        command.env(own.openai.0, format!("{}{}", openai.url, own.openai.1)).env(own.anthropic, &anthropic.url);
        if own.google.is_some() {
            command.env(GOOGLE, &google.url).env("WITH_GOOGLE", "yes");
        }
        if own.proxy {
            command.env("HTTPS_PROXY", "http://proxy.invalid:3128").env("no_proxy", "example.com");
        }
        let output =
            command.env("BARDO__MODELS__PRICES", "openai/m=1/5, anthropic/m=1/5, gemini/m=1/5").output().unwrap();
        let (env, told) = (String::from_utf8(output.stdout.clone()).unwrap(), told(&output));
        assert!(!env.contains("canary") && !told.contains("canary"), "{number}: {env}\n{told}");
        assert_eq!(env.lines().filter(|line| *line == "BARDO_GOLEM=ada").count(), 2, "{number}: {env}\n{told}");
        assert!(
            env.contains("OPENAI_API_KEY=bardo-agent-") && env.contains("\nNO_PROXY=127.0.0.1,localhost,::1\n"),
            "{number}: {env}\n{told}"
        );
        assert!(!own.proxy || env.contains("no_proxy=example.com,127.0.0.1,localhost,::1"), "{env}");
        // Each host was shown the key that goes with its address, in the header it goes into, and nothing else.
        let mut hosts =
            vec![(&openai, ("authorization", format!("Bearer {}", held("OPENAI_API_KEY")))), (&anthropic, own.token())];
        hosts.extend(own.google.map(|key| (&google, ("x-goog-api-key", held(key)))));
        for (upstream, (header, key)) in &hosts {
            assert_eq!(upstream.calls(), 1, "{number}: {told}");
            assert_eq!(shown(upstream), [((*header).to_owned(), key.clone())], "{number}");
            let head = upstream.last().0;
            assert!(head.matches("canary").count() == 1 && !head.contains("bardo-agent-"), "{number}: {head}");
        }
        assert!(own.google.is_some() || google.calls() == 0);
        assert_eq!(life(&tent, "ada").calls().made, hosts.len() as u64, "{told}");
    }
}
