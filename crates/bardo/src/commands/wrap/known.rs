//! Agents that are known by name: where each reads the address and the key of its models from, if that is not where the clients
//! of OpenAI and Anthropic do, and where it keeps logins of its own. What stands here was looked up in the programs
//! themselves; docs/gateway.md says in which versions.

use std::path::{Path, PathBuf};

use serde_json::json;
use shell::home::agent;

use super::hooks::{self, HookWay};
use super::settings::{Settings, merge};

/// Values for a variable or an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    /// The golem's address, to which a client adds `/v1/messages`.
    Base,
    /// The golem's address with its version, to which a client adds `/chat/completions`.
    Versioned,
    Token,
    /// The golem's address with its token in it, for clients that show a login of their own where the token would stand.
    Keyless,
    Plain(&'static str),
}

/// How an agent is told where its calls go while it keeps its own login.
#[derive(Debug)]
pub(super) struct OwnLogin {
    /// The provider the login belongs to.
    pub(super) provider: &'static str,
    set: &'static [(&'static str, To)],
    /// Variables that would take precedence over a login.
    unset: &'static [&'static str],
    /// Variables that hold a login.
    pub(super) keep: &'static [&'static str],
}

/// One agent.
#[derive(Debug)]
pub(super) struct KnownAgent {
    pub(super) name: &'static str,
    /// Names of its packages, as in `npx NAME` or `uvx NAME`.
    packages: &'static [&'static str],
    set: &'static [(&'static str, To)],
    /// Variables that would contradict those that are set.
    unset: &'static [&'static str],
    /// Arguments it is given right behind its name.
    told: fn(&GolemAddress<'_>) -> Vec<String>,
    /// How it is given hooks, if it has any.
    pub(super) hooks: Option<HookWay>,
    /// Whether and how it can keep its own login.
    pub(super) own_login: Option<OwnLogin>,
    /// Settings that go before its owner's own, for what no variable says.
    pub(super) settings: Option<Settings>,
    /// Where its logins are, below its user's folder: an account of the owner's, which no golem pays for.
    logins: &'static [&'static str],
    /// The variable with the key of the provider it usually asks; none for an agent that may ask any.
    pub(super) key: Option<&'static str>,
    /// Why none of its calls may have come through.
    pub(super) silent: &'static str,
}

/// Where a golem's calls go.
#[derive(Clone, Copy, Debug)]
pub(super) struct GolemAddress<'a> {
    /// `http://ADDRESS/g/NAME`
    pub(super) base: &'a str,
    pub(super) token: &'a str,
    /// The program keeps its own login.
    pub(super) own_login: bool,
}

impl GolemAddress<'_> {
    fn fill(&self, to: To) -> String {
        match to {
            To::Base => self.base.to_owned(),
            To::Versioned => format!("{}/v1", self.base),
            To::Token => self.token.to_owned(),
            To::Keyless => format!("{}/t/{}", self.base, agent::in_address(self.token)),
            To::Plain(text) => text.to_owned(),
        }
    }
}

/// Variables that the clients of OpenAI and Anthropic read, in every language, as does most of what is built on them.
const EVERYBODY: [(&str, To); 6] = [
    ("OPENAI_BASE_URL", To::Versioned),
    ("OPENAI_API_BASE", To::Versioned),
    ("OPENAI_API_KEY", To::Token),
    ("ANTHROPIC_BASE_URL", To::Base),
    ("ANTHROPIC_API_BASE", To::Base),
    ("ANTHROPIC_API_KEY", To::Token),
];

const PLAIN: KnownAgent = KnownAgent {
    name: "",
    packages: &[],
    set: &[],
    unset: &[],
    told: nothing,
    hooks: None,
    own_login: None,
    settings: None,
    logins: &[],
    key: None,
    silent: "a base URL that is written into it, or a .env file of its own, sends its calls past the gateway",
};

static KNOWN: [KnownAgent; 6] = [
    KnownAgent {
        name: "claude",
        packages: &["@anthropic-ai/claude-code"],
        // A token needs no confirmation at the terminal and goes before a login; a key needs one.
        set: &[("ANTHROPIC_AUTH_TOKEN", To::Token)],
        unset: &["ANTHROPIC_API_KEY"],
        hooks: Some(hooks::CLAUDE),
        own_login: Some(OwnLogin {
            provider: "anthropic",
            set: &[("ANTHROPIC_BASE_URL", To::Keyless)],
            unset: &["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_BASE"],
            keep: &["CLAUDE_CODE_OAUTH_TOKEN"],
        }),
        logins: &[".claude/.credentials.json"],
        key: Some("ANTHROPIC_API_KEY"),
        silent: "`apiKeyHelper` or `env` in a settings.json of Claude Code's overrides the environment",
        ..PLAIN
    },
    KnownAgent {
        name: "codex",
        packages: &["@openai/codex"],
        told: codex,
        hooks: Some(hooks::CODEX),
        own_login: Some(OwnLogin { provider: "openai", set: &[], unset: &[], keep: &[] }),
        logins: &[".codex/auth.json"],
        key: Some("OPENAI_API_KEY"),
        silent: "--oss, --profile or another `model_provider` of Codex's goes past the gateway",
        ..PLAIN
    },
    KnownAgent {
        name: "gemini",
        packages: &["@google/gemini-cli"],
        set: &[("GOOGLE_GEMINI_BASE_URL", To::Base), ("GEMINI_API_KEY", To::Token)],
        unset: &["GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"],
        settings: Some(Settings {
            variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            usual: "/etc/gemini-cli/settings.json",
            name: "gemini-settings.json",
            text: r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#,
        }),
        logins: &[".gemini/oauth_creds.json"],
        key: Some("GEMINI_API_KEY"),
        silent: "a login with Google or at Vertex AI, and a .env file of its own, go past the gateway",
        ..PLAIN
    },
    KnownAgent {
        name: "opencode",
        packages: &["opencode-ai"],
        logins: &[".local/share/opencode/auth.json"],
        silent: "providers of opencode's other than openai and anthropic go past the gateway",
        ..PLAIN
    },
    KnownAgent {
        name: "aider",
        packages: &["aider-chat"],
        logins: &[".aider/oauth-keys.env"],
        silent: "a .env file or .aider.conf.yml overrides the environment, and models of other providers go past the gateway",
        ..PLAIN
    },
    KnownAgent {
        name: "goose",
        packages: &[],
        set: &[
            ("OPENAI_HOST", To::Base),
            ("OPENAI_BASE_PATH", To::Plain("v1/chat/completions")),
            ("ANTHROPIC_HOST", To::Base),
            ("GOOSE_DISABLE_KEYRING", To::Plain("1")),
        ],
        logins: &[".config/goose/secrets.yaml"],
        silent: "providers of goose's other than openai and anthropic (GOOSE_PROVIDER) go past the gateway",
        ..PLAIN
    },
];

fn nothing(_: &GolemAddress<'_>) -> Vec<String> {
    Vec::new()
}

/// Codex reads no address from its environment, and tries a WebSocket first, which the gateway has none of. A provider of its own
/// that speaks plainly at once goes before every login, unless it says that it wants one.
fn codex(place: &GolemAddress<'_>) -> Vec<String> {
    let (base, by) = if place.own_login {
        (place.fill(To::Keyless), "requires_openai_auth=true")
    } else {
        (place.base.to_owned(), "env_key=\"BARDO_TOKEN\"")
    };
    let provider =
        format!("{{name=\"bardo\",base_url=\"{base}/v1\",{by},wire_api=\"responses\",supports_websockets=false}}");
    let option = |value: String| ["-c".to_owned(), value];
    [option("model_provider=\"bardo\"".to_owned()), option(format!("model_providers.bardo={provider}"))].concat()
}

/// A program of an owner's, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recognised {
    pub(super) known: &'static KnownAgent,
    /// Where its name stands among what is started.
    at: usize,
}

/// Which agent this starts: by its own name, or by that of its package behind a program that runs packages.
pub(super) fn recognise(program: &[String]) -> Recognised {
    let stem = |text: &str| Path::new(text).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let first = program.first().and_then(|first| stem(first)).unwrap_or_default();
    if let Some(known) = KNOWN.iter().find(|known| known.name == first) {
        return Recognised { known, at: 0 };
    }
    let runs = ["npx", "bunx", "pnpx", "pnpm", "npm", "yarn", "uvx", "uv", "pipx"].contains(&first.as_str());
    let named = |text: &str| {
        // A version may stand behind it, and a package's name may begin with the same sign.
        let plain = text.rfind('@').filter(|at| *at > 0).map_or(text, |at| &text[..at]);
        KNOWN.iter().find(|known| known.name == plain || known.packages.contains(&plain))
    };
    let found = program.iter().enumerate().skip(1).find_map(|(at, text)| Some(Recognised { known: named(text)?, at }));
    found.filter(|_| runs).unwrap_or(Recognised { known: &PLAIN, at: 0 })
}

impl Recognised {
    /// The command line to start: the program with its extra arguments behind its name, hooks of ours among them where it is to have
    /// those.
    pub(super) fn started(&self, program: &[String], place: &GolemAddress<'_>, by_hooks: bool) -> Vec<String> {
        let (before, behind) = program.split_at(self.at + 1);
        let hooks = self.known.hooks.as_ref().filter(|_| by_hooks).map(HookWay::arguments).unwrap_or_default();
        [before, &(self.known.told)(place), &hooks, behind].concat()
    }

    /// Variables it is given in its environment, and those it must not have there.
    pub(super) fn environment(&self, place: &GolemAddress<'_>, own: impl Fn(&str) -> Option<String>) -> Set {
        let own_login = self.known.own_login.as_ref().filter(|_| place.own_login);
        let unset = [self.known.unset, own_login.map_or(&[][..], |own| own.unset)].concat();
        let rows = EVERYBODY.iter().filter(|(name, _)| !self.known.unset.contains(name)).chain(self.known.set);
        let rows = rows.chain(own_login.map_or(&[][..], |own| own.set)).filter(|(name, _)| !unset.contains(name));
        let mut set: Vec<(&str, String)> = rows.map(|(name, to)| (*name, place.fill(*to))).collect();
        for name in ["NO_PROXY", "no_proxy"] {
            set.push((name, past_proxies(own(name))));
        }
        if self.known.name == "opencode" {
            set.push(("OPENCODE_CONFIG_CONTENT", opencode(own("OPENCODE_CONFIG_CONTENT"), place)));
        }
        set.extend([("BARDO_MCP_URL", format!("{}/mcp", place.base)), ("BARDO_TOKEN", place.token.to_owned())]);
        Set { set, unset }
    }

    /// Whether it is given a golem's token in place of what its owner has there.
    pub(super) fn replaces(&self, name: &str) -> bool {
        let rows = EVERYBODY.iter().chain(self.known.set);
        name == "ANTHROPIC_AUTH_TOKEN" || rows.filter(|(_, to)| *to == To::Token).any(|(of, _)| *of == name)
    }

    /// A login of its own that is there: what it does with that, no golem pays for.
    pub(super) fn login(&self, user: Option<&Path>) -> Option<PathBuf> {
        let user = user?;
        self.known.logins.iter().map(|file| user.join(file)).find(|file| file.exists())
    }
}

/// Every login of an agent's that is there: what opens an account of its owner's is no program's on a budget.
pub(super) fn logins(user: &Path) -> Vec<PathBuf> {
    let files = KNOWN.iter().flat_map(|known| known.logins).map(|file| user.join(file));
    files.filter(|file| file.is_file()).collect()
}

/// Changes to a program's environment.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) set: Vec<(&'static str, String)>,
    pub(super) unset: Vec<&'static str>,
}

/// This machine is reached without a proxy, whatever else is.
fn past_proxies(own: Option<String>) -> String {
    let own = own.unwrap_or_default();
    let mut hosts: Vec<&str> = own.split(',').map(str::trim).filter(|host| !host.is_empty()).collect();
    for here in ["127.0.0.1", "localhost", "::1"] {
        if !hosts.contains(&here) && !hosts.contains(&"*") {
            hosts.push(here);
        }
    }
    hosts.join(",")
}

/// opencode takes an address with its version for both, and what is said here goes before its files.
fn opencode(own: Option<String>, place: &GolemAddress<'_>) -> String {
    let options = json!({ "options": { "baseURL": format!("{}/v1", place.base), "apiKey": place.token } });
    let mut all = own.and_then(|own| serde_json::from_str(&own).ok()).unwrap_or_else(|| json!({}));
    merge(&mut all, &json!({ "provider": { "openai": options, "anthropic": options } }));
    all.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const PLACE: GolemAddress<'_> =
        GolemAddress { base: "http://127.0.0.1:9/g/ada", token: "bardo-agent-1", own_login: false };

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn an_agent_is_known_by_its_name_however_it_is_started() {
        for (program, name, begins) in [
            ("claude -p hello", "claude", "claude -p"),
            ("/usr/local/bin/codex exec hello", "codex", "/usr/local/bin/codex -c model_provider=\"bardo\" -c"),
            (
                "npx -y @openai/codex@0.169.0 exec hello",
                "codex",
                "npx -y @openai/codex@0.169.0 -c model_provider=\"bardo\"",
            ),
            ("uvx aider-chat --model gpt-5", "aider", "uvx aider-chat --model"),
            ("npx @google/gemini-cli", "gemini", "npx @google/gemini-cli"),
            ("python codex", "", "python codex"),
            ("sh -c claude", "", "sh -c"),
        ] {
            let program = words(program);
            let found = recognise(&program);
            assert_eq!(found.known.name, name, "{program:?}");
            assert!(found.started(&program, &PLACE, false).join(" ").starts_with(begins), "{program:?}");
        }
        let codex = words("codex exec hello");
        let started = recognise(&codex).started(&codex, &PLACE, false);
        assert!(started[4].contains("http://127.0.0.1:9/g/ada/v1") && started[4].contains("supports_websockets=false"));
        assert_eq!(started[5..], ["exec", "hello"]);
        // Hooks stand behind its name as well, and only an agent that has them is given any.
        let hooked = recognise(&codex).started(&codex, &PLACE, true);
        assert!(hooked[6].starts_with("hooks.PostToolUse=") && hooked[hooked.len() - 2..] == ["exec", "hello"]);
        let plain = words("gemini -p hello");
        assert_eq!(recognise(&plain).started(&plain, &PLACE, true), plain);
    }

    #[test]
    fn who_keeps_its_own_login_is_told_an_address_that_leads_to_its_golem_and_no_key() {
        let place = GolemAddress { own_login: true, ..PLACE };
        let claude = recognise(&words("claude -p x"));
        let Set { set, unset } = claude.environment(&place, |_| None);
        let value = |name: &str| set.iter().rfind(|(of, _)| *of == name).map(|(_, to)| to.as_str());
        let way = format!("/g/ada/t/{}", agent::in_address("bardo-agent-1"));
        assert!(!way.contains("bardo-agent-1"), "a list of processes shows it");
        assert_eq!(value("ANTHROPIC_BASE_URL"), Some(format!("http://127.0.0.1:9{way}").as_str()));
        for name in ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"] {
            assert!(value(name).is_none() && unset.contains(&name), "{name}");
        }
        assert_eq!(value("OPENAI_API_KEY"), Some("bardo-agent-1"), "for what it starts itself");
        let codex = words("codex exec hello");
        let started = recognise(&codex).started(&codex, &place, false)[4].clone();
        assert!(started.contains(&format!("{way}/v1\"")) && started.contains("requires_openai_auth=true"), "{started}");
        assert!(!started.contains("env_key"), "{started}");
        assert!(recognise(&words("opencode run x")).known.own_login.is_none());
    }

    #[test]
    fn each_is_told_its_address_in_its_own_way_and_finds_this_machine_past_any_proxy() {
        let of = |program: &str, own: &[(&str, &str)]| {
            let own = own.to_vec();
            let known = |name: &str| own.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned());
            recognise(&words(program)).environment(&PLACE, known)
        };
        let value = |set: &Set, name: &str| set.set.iter().find(|(of, _)| *of == name).map(|(_, to)| to.clone());
        let plain = of("python agent.py", &[("no_proxy", "example.com, localhost"), ("NO_PROXY", "*")]);
        for name in ["OPENAI_BASE_URL", "OPENAI_API_BASE"] {
            assert_eq!(value(&plain, name).unwrap(), "http://127.0.0.1:9/g/ada/v1");
        }
        assert_eq!(value(&plain, "ANTHROPIC_BASE_URL").unwrap(), "http://127.0.0.1:9/g/ada");
        assert_eq!(value(&plain, "no_proxy").unwrap(), "example.com,localhost,127.0.0.1,::1");
        assert_eq!(value(&plain, "NO_PROXY").unwrap(), "*");
        let claude = of("claude", &[]);
        assert!(value(&claude, "ANTHROPIC_API_KEY").is_none() && claude.unset == ["ANTHROPIC_API_KEY"]);
        assert_eq!(value(&claude, "ANTHROPIC_AUTH_TOKEN").unwrap(), "bardo-agent-1");
        assert_eq!(value(&of("goose run", &[]), "OPENAI_HOST").unwrap(), "http://127.0.0.1:9/g/ada");
        assert_eq!(value(&of("gemini", &[]), "GEMINI_API_KEY").unwrap(), "bardo-agent-1");
        // What its owner has set for opencode stays, beside the address and the key.
        let own = r#"{"theme":"dark","provider":{"openai":{"options":{"apiKey":"sk-own","timeout":9}}}}"#;
        let opencode = value(&of("opencode run x", &[("OPENCODE_CONFIG_CONTENT", own)]), "OPENCODE_CONFIG_CONTENT");
        let opencode: Value = serde_json::from_str(&opencode.unwrap()).unwrap();
        let openai = &opencode["provider"]["openai"]["options"];
        assert_eq!((&opencode["theme"], &openai["timeout"]), (&json!("dark"), &json!(9)));
        assert_eq!(
            (&openai["apiKey"], &openai["baseURL"]),
            (&json!("bardo-agent-1"), &json!("http://127.0.0.1:9/g/ada/v1"))
        );
    }
}
