//! Providers: names, addresses and protocols of model servers, as data; and how a model is named.

use crate::Error;
use crate::address::Address;

/// The protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `/chat/completions`, of OpenAI and nearly all other providers.
    Chat,
    /// `/messages`, of Anthropic.
    Messages,
}

/// How far a server can be held to the shape of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// The prompt only asks for a shape.
    Asked,
    /// The server answers in JSON, of any shape.
    Json,
    /// The server keeps to a JSON schema.
    Schema,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub name: &'static str,
    pub base: &'static str,
    pub protocol: Protocol,
    /// The environment variable that holds the key; none for a server that needs no key.
    pub key_env: Option<&'static str>,
    pub shape: Shape,
    /// The request's field for the most tokens of an answer.
    pub most_tokens: &'static str,
}

const fn chat(name: &'static str, base: &'static str, key_env: Option<&'static str>, shape: Shape) -> Provider {
    Provider { name, base, protocol: Protocol::Chat, key_env, shape, most_tokens: "max_tokens" }
}

/// All providers known by name.
pub static PROVIDERS: [Provider; 15] = [
    Provider {
        most_tokens: "max_completion_tokens",
        ..chat("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY"), Shape::Schema)
    },
    Provider {
        protocol: Protocol::Messages,
        ..chat("anthropic", "https://api.anthropic.com/v1", Some("ANTHROPIC_API_KEY"), Shape::Asked)
    },
    chat("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", Some("GEMINI_API_KEY"), Shape::Schema),
    chat("openrouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), Shape::Schema),
    chat("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), Shape::Json),
    chat("mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY"), Shape::Schema),
    chat("deepseek", "https://api.deepseek.com/v1", Some("DEEPSEEK_API_KEY"), Shape::Json),
    chat("xai", "https://api.x.ai/v1", Some("XAI_API_KEY"), Shape::Schema),
    chat("together", "https://api.together.xyz/v1", Some("TOGETHER_API_KEY"), Shape::Schema),
    chat("fireworks", "https://api.fireworks.ai/inference/v1", Some("FIREWORKS_API_KEY"), Shape::Schema),
    chat("venice", "https://api.venice.ai/api/v1", Some("VENICE_API_KEY"), Shape::Schema),
    chat("ollama", "http://localhost:11434/v1", None, Shape::Schema),
    chat("llamacpp", "http://localhost:8080/v1", None, Shape::Schema),
    chat("vllm", "http://localhost:8000/v1", None, Shape::Schema),
    chat("lmstudio", "http://localhost:1234/v1", None, Shape::Schema),
];

/// The provider that bills for calls to this host, or to a host below it; `None` for an unknown one.
pub fn provider_at(host: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().filter(|known| known.key_env.is_some()).find(|known| {
        let own = host_of(known.base).unwrap_or_default();
        host.strip_suffix(own.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

/// A model and its server, as an owner writes them: `ollama/qwen3`, or `http://localhost:8080/v1/smollm2` for a server
/// that has no name, and `https://WORK_KEY@example.com/v1/big` for one whose key is in the variable `WORK_KEY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name as the owner wrote it.
    pub name: String,
    pub model: String,
    pub base: String,
    pub protocol: Protocol,
    pub key_env: Option<String>,
    pub shape: Shape,
    pub most_tokens: &'static str,
    /// The model is on this machine, where nothing is paid.
    pub local: bool,
    /// The address is an owner's own: paths are appended to it as it stands, where the known ones are completed.
    pub as_it_stands: bool,
}

/// A server in place of a provider's own: a company's, another provider's, one on this machine. It speaks that
/// provider's protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    base: String,
    /// The environment variable that holds its key; none for a server that needs no key.
    pub key_env: Option<String>,
    protocol: Protocol,
    local: bool,
}

impl Server {
    /// Reads an address as that provider's own clients take it, such as `https://WORK_KEY@example.com/v1`.
    pub fn parse(provider: &str, address: &str) -> Result<Server, Error> {
        let known = PROVIDERS.iter().find(|known| known.name == provider);
        let protocol = known.map_or(Protocol::Chat, |known| known.protocol);
        let (address, key) = keyed(address.trim())?;
        let local = Address::parse(&address, "/chat/completions", false)?.loopback;
        let base = address.trim_end_matches('/');
        // Anthropic's clients add the version, OpenAI's do not.
        let base = if protocol == Protocol::Messages { format!("{base}/v1") } else { base.to_owned() };
        Ok(Server { base, key_env: key.map(str::to_owned), protocol, local })
    }

    /// The provider that runs this server, where its host name says so.
    pub fn owner(&self) -> Option<&'static Provider> {
        let host = host_of(&self.base)?;
        PROVIDERS.iter().find(|known| known.key_env.is_some() && host_of(known.base).as_ref() == Some(&host))
    }

    pub fn host(&self) -> String {
        host_of(&self.base).unwrap_or_default()
    }

    /// Whether it is on this machine, where a model without a price is free.
    pub fn is_local(&self) -> bool {
        self.local
    }
}

fn host_of(address: &str) -> Option<String> {
    url::Url::parse(address).ok()?.host_str().map(str::to_owned)
}

impl Named {
    /// This model, or one of that name, at a server of the owner's own.
    pub fn served_by(mut self, server: &Server) -> Named {
        (self.base, self.key_env) = (server.base.clone(), server.key_env.clone());
        (self.protocol, self.local, self.as_it_stands) = (server.protocol, server.local, true);
        // An unknown server is spoken to as most are.
        self.most_tokens = server.owner().map_or("max_tokens", |owner| owner.most_tokens);
        if server.host().ends_with(".openai.azure.com") {
            self.most_tokens = PROVIDERS[0].most_tokens;
        }
        self
    }

    /// This model at another address, such as a proxy's.
    pub fn at(mut self, base: &str) -> Named {
        base.clone_into(&mut self.base);
        self
    }

    pub fn parse(name: &str) -> Result<Named, Error> {
        let wrong = |why: String| Error::Config { what: "the model", why };
        let name = name.trim();
        let (address, key) = keyed(name)?;
        let (base, model, provider) = if name.starts_with("http://") || name.starts_with("https://") {
            let cut = address.find("/v1/").map(|at| at + "/v1".len());
            let (base, model) = cut.map(|at| (&address[..at], &address[at + 1..])).ok_or_else(|| {
                wrong("is an address without a model; write it like http://localhost:8080/v1/smollm2".to_owned())
            })?;
            (base, model, None)
        } else {
            let (provider, model) = name.split_once('/').unwrap_or((name, ""));
            let known = PROVIDERS.iter().find(|known| known.name == provider).ok_or_else(|| {
                let names: Vec<&str> = PROVIDERS.iter().map(|known| known.name).collect();
                wrong(format!(
                    "`{}` has an unknown provider; write PROVIDER/MODEL with one of {}, or the address of a server",
                    crate::error::printable(name),
                    names.join(", ")
                ))
            })?;
            (known.base, model, Some(known))
        };
        if model.is_empty() || model.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(wrong("has no name that a server could know; write it like ollama/qwen3".to_owned()));
        }
        let local = Address::parse(base, "/chat/completions", true)?.loopback;
        Ok(Named {
            name: name.to_owned(),
            model: model.to_owned(),
            base: base.to_owned(),
            protocol: provider.map_or(Protocol::Chat, |known| known.protocol),
            key_env: key.or(provider.and_then(|known| known.key_env)).map(str::to_owned),
            shape: provider.map_or(Shape::Schema, |known| known.shape),
            most_tokens: provider.map_or("max_tokens", |known| known.most_tokens),
            local,
            as_it_stands: false,
        })
    }
}

/// An address, and the variable that has its key, which stands before it like a user's name.
fn keyed(name: &str) -> Result<(String, Option<&str>), Error> {
    let Some((scheme, rest)) = name.split_once("://") else { return Ok((name.to_owned(), None)) };
    let host = rest.split('/').next().unwrap_or_default();
    let Some((variable, _)) = host.split_once('@') else { return Ok((name.to_owned(), None)) };
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if variable.is_empty() || !variable.chars().all(is_name) {
        // The text may be a key itself, so it is not repeated.
        let why = "has something before the @ that is not the name of an environment variable, such as WORK_KEY; put \
                   the key into one and its name there"
            .to_owned();
        return Err(Error::Config { what: "the model", why });
    }
    Ok((format!("{scheme}://{}", &rest[variable.len() + 1..]), Some(variable)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_by_who_has_it() {
        let named = Named::parse("openrouter/meta-llama/llama-3.3-70b-instruct").unwrap();
        assert_eq!((named.model.as_str(), named.local), ("meta-llama/llama-3.3-70b-instruct", false));
        assert_eq!(named.key_env.as_deref(), Some("OPENROUTER_API_KEY"));
        let local = Named::parse(" ollama/qwen3:4b ").unwrap();
        assert_eq!((local.model.as_str(), local.local, local.key_env), ("qwen3:4b", true, None));
        let own = Named::parse("http://127.0.0.1:9/v1/smollm2").unwrap();
        assert_eq!((own.base.as_str(), own.model.as_str(), own.local), ("http://127.0.0.1:9/v1", "smollm2", true));
        assert!(!Named::parse("https://example.com/api/v1/big").unwrap().local);
    }

    #[test]
    fn a_server_of_ones_own_may_want_a_key_and_no_key_is_ever_part_of_a_name() {
        let own = Named::parse("https://WORK_KEY@example.com/api/v1/big").unwrap();
        assert_eq!((own.base.as_str(), own.model.as_str()), ("https://example.com/api/v1", "big"));
        assert_eq!((own.key_env.as_deref(), own.local), (Some("WORK_KEY"), false));
        for name in ["https://sk-secret@example.com/v1/big", "https://a:b@example.com/v1/big", "https://@x/v1/big"] {
            let refused = Named::parse(name).unwrap_err().to_string();
            assert!(refused.contains("WORK_KEY") && !refused.contains("secret"), "{refused}");
        }
    }

    #[test]
    fn what_names_no_model_says_how_one_is_named() {
        for (name, word) in [
            ("qwen3", "PROVIDER/MODEL"),
            ("nobody/qwen3", "ollama"),
            ("ollama/", "ollama/qwen3"),
            ("ollama/a b", "ollama/qwen3"),
            ("http://localhost:8080", "/v1/smollm2"),
        ] {
            let refused = Named::parse(name).unwrap_err().to_string();
            assert!(refused.contains(word), "{name}: {refused}");
        }
    }

    #[test]
    fn a_host_is_a_providers_by_its_name_or_by_what_it_is_below() {
        let at = |host: &str| provider_at(host).map(|known| known.name);
        assert_eq!((at("api.openai.com"), at("eu.api.openai.com")), (Some("openai"), Some("openai")));
        assert_eq!(at("generativelanguage.googleapis.com"), Some("gemini"));
        for host in ["openai.com", "notapi.openai.com", "github.com", "localhost", "127.0.0.1", ""] {
            assert_eq!(at(host), None, "{host}");
        }
    }

    #[test]
    fn everybody_is_known_by_one_name_and_nobody_is_paid_in_plain_text() {
        for (at, provider) in PROVIDERS.iter().enumerate() {
            assert!(PROVIDERS[..at].iter().all(|other| other.name != provider.name), "{}", provider.name);
            let named = Named::parse(&format!("{}/some-model", provider.name)).unwrap();
            assert_eq!(named.local, provider.key_env.is_none(), "{}", provider.name);
            assert!(named.local || provider.base.starts_with("https://"), "{}", provider.name);
        }
    }
}
