//! Addresses an owner had in the environment before their program was given a golem's: a company's proxy, another provider, a
//! server on this machine. Calls go on to them, each with the key that belongs there. Where that cannot be, nothing is started
//! and it is said why: an address that is overwritten in silence sends its key to another server.

use shell::Error;
use tariff::{PROVIDERS, Server};

use super::keys::whose;

/// Providers whose clients read an address: from which variable, and what they add to it.
const ADDRESSES: [(&str, &str, &str); 8] = [
    ("openai", "OPENAI_BASE_URL", ""),
    ("openai", "OPENAI_API_BASE", ""),
    ("openai", "OPENAI_HOST", "/v1"),
    ("anthropic", "ANTHROPIC_BASE_URL", ""),
    ("anthropic", "ANTHROPIC_API_BASE", ""),
    ("anthropic", "ANTHROPIC_API_URL", ""),
    ("anthropic", "ANTHROPIC_HOST", ""),
    ("gemini", "GOOGLE_GEMINI_BASE_URL", "/v1beta/openai"),
];
/// Variables with the key for such an address, the first that is set.
const OPENAI: [&str; 1] = ["OPENAI_API_KEY"];
const ANTHROPIC: [&str; 2] = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];
const GEMINI: [&str; 2] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
/// Providers whose own clients find a golem's address in their environment.
pub(super) const TAKEN_ON: [&str; 3] = ["openai", "anthropic", "gemini"];
/// Variables that send calls where the gateway cannot follow, and what to do instead.
const PAST: [(&str, &str); 6] = [
    (
        "AZURE_OPENAI_ENDPOINT",
        "the Azure client has a protocol of its own; the plain client does not: set OPENAI_BASE_URL to that address with \
         /openai/v1 behind it, and OPENAI_API_KEY to the key",
    ),
    (
        "OPENAI_API_TYPE",
        "it makes OpenAI's client speak Azure's protocol; set OPENAI_BASE_URL to the address with /openai/v1",
    ),
    ("CLAUDE_CODE_USE_BEDROCK", "Claude Code then asks Amazon Bedrock, with an account of yours"),
    ("CLAUDE_CODE_USE_VERTEX", "Claude Code then asks Google's Vertex AI, with an account of yours"),
    ("CLAUDE_CODE_USE_FOUNDRY", "Claude Code then asks Microsoft Foundry, with an account of yours"),
    ("GOOGLE_GENAI_USE_VERTEXAI", "Google's clients then ask Vertex AI, with an account of yours"),
];

/// A server that calls go on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) provider: &'static str,
    /// The variable its address was in.
    pub(super) variable: &'static str,
    pub(super) server: Server,
}

/// The environment of an owner's.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A variable that is set and not empty.
fn there(own: Lookup<'_>, name: &str) -> Option<String> {
    own(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Refuses what would go past the gateway, unless its owner keeps it all the same.
pub(super) fn none_past(own: Lookup<'_>, keep: &[String]) -> Result<(), Error> {
    let off = |value: &str| ["0", "false", "no", "off", "openai", "open_ai"].contains(&value.to_lowercase().as_str());
    let set = |name: &str| there(own, name).is_some_and(|value| !off(&value));
    match PAST.iter().find(|(name, _)| set(name) && !keep.iter().any(|kept| kept == name)) {
        None => Ok(()),
        Some((name, why)) => Err(Error::Usage(format!(
            "{name} is set, so its calls would go past the gateway and its budget: {why}. Start it without, as in \
             `env -u {name} bardo wrap …`, or with --keep {name} if nothing here uses it"
        ))),
    }
}

/// The variable that holds an address in place of this provider's.
pub(super) fn variable(provider: &str, own: Lookup<'_>) -> Option<&'static str> {
    let mut rows = ADDRESSES.iter().filter(|(of, ..)| *of == provider);
    rows.find(|(_, name, _)| there(own, name).is_some()).map(|(_, name, _)| *name)
}

/// Calls are made by a host that began without this address.
pub(super) fn unknown_to_host(own: &Own) -> Error {
    let Own { provider, variable, server } = own;
    let key = server.key_env.as_ref().map(|key| format!("{key}@")).unwrap_or_default();
    Error::Usage(format!(
        "{variable} is set here, and calls are made by the host that is up, which does not read it; write \
         upstreams = \"{provider}=https://{key}{}/…\" under [gateway] in bardo.toml and restart the host, or start this \
         with `env -u {variable} bardo wrap …`",
        server.host()
    ))
}

/// The server its owner had in place of this provider's.
pub(super) fn own(provider: &'static str, own: Lookup<'_>) -> Result<Option<Own>, Error> {
    let rows = ADDRESSES.iter().filter(|(of, ..)| *of == provider);
    let mut set = rows.filter_map(|(_, name, adds)| Some((*name, there(own, name)?, *adds)));
    let Some((variable, address, adds)) = set.next() else { return Ok(None) };
    let plain = |address: &str, adds: &str| format!("{}{adds}", address.trim_end_matches('/'));
    let full = plain(&address, adds);
    if let Some((other, ..)) = set.find(|(_, other, adds)| plain(other, adds) != full) {
        return Err(Error::Usage(format!(
            "{variable} and {other} are two addresses, and calls go to one; start it with `env -u {other} bardo wrap …`"
        )));
    }
    let wrong = |why: tariff::Error| {
        Error::Usage(format!(
            "calls cannot go on to {variable}: {why}; mend it, or start it with `env -u {variable} bardo wrap …` to have them \
             go to {provider}'s own address"
        ))
    };
    let bare = Server::parse(provider, &full).map_err(wrong)?;
    let Some(key) = key_for(provider, variable, &bare, own)? else {
        return Ok(Some(Own { provider, variable, server: bare }));
    };
    let (scheme, rest) = full.split_once("://").expect("it was read as an address");
    let server = Server::parse(provider, &format!("{scheme}://{key}@{rest}")).map_err(wrong)?;
    Ok(Some(Own { provider, variable, server }))
}

/// The variable with the key that belongs there: that of whose server it is, or the one that goes with the address.
fn key_for(provider: &str, variable: &str, server: &Server, own: Lookup<'_>) -> Result<Option<String>, Error> {
    let owner = server.owner();
    if let Some(key) = owner.filter(|owner| owner.name != provider).and_then(|owner| owner.key_env)
        && there(own, key).is_some()
    {
        return Ok(Some(key.to_owned()));
    }
    let Some((key, value)) = paired(provider, own) else { return Ok(None) };
    match (whose(&value).flatten(), owner) {
        (Some(whose), Some(owner)) if whose != owner.name => Err(Error::Usage(format!(
            "{key} looks like a key of {whose}'s, and {variable} leads to {}'s server, which must not see it; set {key} to \
             the key that belongs there",
            owner.name
        ))),
        _ => Ok(Some(key.to_owned())),
    }
}

fn paired(provider: &str, own: Lookup<'_>) -> Option<(&'static str, String)> {
    let keys: &[&str] = match provider {
        "anthropic" => &ANTHROPIC,
        "gemini" => &GEMINI,
        _ => &OPENAI,
    };
    keys.iter().find_map(|key| Some((*key, there(own, key)?)))
}

/// Refuses a key that would go to the provider its variable is named after but looks like another provider's.
pub(super) fn no_strangers_key(provider: &str, own: Lookup<'_>) -> Result<(), Error> {
    let Some((key, value)) = paired(provider, own) else { return Ok(()) };
    match whose(&value).flatten().filter(|whose| *whose != provider) {
        None => Ok(()),
        Some(whose) => {
            let known = PROVIDERS.iter().find(|known| known.name == whose);
            let address = known.map_or_else(|| "its address".to_owned(), |known| known.base.to_owned());
            let mut rows = ADDRESSES.iter().filter(|(of, ..)| *of == provider);
            let variable = rows.next().map_or("OPENAI_BASE_URL", |(_, variable, _)| variable);
            Err(Error::Usage(format!(
                "{key} looks like a key of {whose}'s and would go to {provider}; set {variable} to where it belongs, such as \
                 {address}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(own: &[(&'static str, &str)]) -> impl Fn(&str) -> Option<String> {
        let own: Vec<(&str, String)> = own.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        move |name| own.iter().find(|(of, _)| *of == name).map(|(_, value)| value.clone())
    }

    fn all(lookup: Lookup<'_>) -> Result<Vec<Own>, Error> {
        TAKEN_ON.into_iter().filter_map(|provider| own(provider, lookup).transpose()).collect()
    }

    const OPENAIS: &str = "sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7";
    const ROUTERS: &str = "sk-or-v1-aB3dE5gH7jK9mN1pQ3sT5vW7";

    #[test]
    fn calls_go_on_to_the_address_that_was_there_with_the_key_that_belongs_to_it() {
        for (set, host, key) in [
            (
                &[("OPENAI_BASE_URL", "https://llm.example.com/v1"), ("OPENAI_API_KEY", "k")][..],
                "llm.example.com",
                "OPENAI_API_KEY",
            ),
            (&[("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")], "127.0.0.1", ""),
            (
                &[("OPENAI_API_BASE", "https://openrouter.ai/api/v1"), ("OPENAI_API_KEY", ROUTERS)],
                "openrouter.ai",
                "OPENAI_API_KEY",
            ),
            (
                &[
                    ("OPENAI_BASE_URL", "https://openrouter.ai/api/v1"),
                    ("OPENAI_API_KEY", OPENAIS),
                    ("OPENROUTER_API_KEY", ROUTERS),
                ],
                "openrouter.ai",
                "OPENROUTER_API_KEY",
            ),
            (
                &[("OPENAI_HOST", "https://llm.example.com"), ("OPENAI_BASE_URL", "https://llm.example.com/v1/")],
                "llm.example.com",
                "",
            ),
            (
                &[
                    ("ANTHROPIC_BASE_URL", "https://llm.example.com"),
                    ("ANTHROPIC_API_KEY", "k"),
                    ("ANTHROPIC_AUTH_TOKEN", "t"),
                ],
                "llm.example.com",
                "ANTHROPIC_AUTH_TOKEN",
            ),
            (
                &[("GOOGLE_GEMINI_BASE_URL", "https://llm.example.com/"), ("GEMINI_API_KEY", "k")],
                "llm.example.com",
                "GEMINI_API_KEY",
            ),
        ] {
            let found: Vec<Own> = all(&lookup(set)).unwrap();
            assert_eq!(found.len(), 1, "{set:?}");
            assert_eq!(
                (found[0].server.host().as_str(), found[0].server.key_env.as_deref().unwrap_or("")),
                (host, key)
            );
        }
        assert_eq!(all(&lookup(&[("OPENAI_API_KEY", OPENAIS), ("OPENAI_BASE_URL", " ")])).unwrap(), []);
    }

    #[test]
    fn where_an_address_cannot_be_kept_nothing_is_started_and_it_is_said_what_to_do() {
        for (set, words) in [
            (&[("OPENAI_BASE_URL", "http://10.0.0.1/v1")][..], ["OPENAI_BASE_URL", "plain http"]),
            (&[("OPENAI_BASE_URL", "https://x.openai.azure.com/openai?api-version=1")], ["OPENAI_BASE_URL", "env -u"]),
            (
                &[("OPENAI_BASE_URL", "https://a.example/v1"), ("OPENAI_API_BASE", "https://b.example/v1")],
                ["two", "OPENAI_API_BASE"],
            ),
            (
                &[("OPENAI_BASE_URL", "https://openrouter.ai/api/v1"), ("OPENAI_API_KEY", OPENAIS)],
                ["openai's", "openrouter's"],
            ),
        ] {
            let refused = all(&lookup(set)).unwrap_err().to_string();
            assert!(words.iter().all(|word| refused.contains(word)) && !refused.contains("aB3dE"), "{refused}");
        }
        let azure = lookup(&[("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")]);
        assert!(none_past(&azure, &[]).unwrap_err().to_string().contains("/openai/v1"));
        assert!(none_past(&azure, &["AZURE_OPENAI_ENDPOINT".to_owned()]).is_ok());
        assert!(none_past(&lookup(&[("CLAUDE_CODE_USE_BEDROCK", "1")]), &[]).is_err());
        assert!(none_past(&lookup(&[("CLAUDE_CODE_USE_BEDROCK", "0"), ("OPENAI_API_TYPE", "openai")]), &[]).is_ok());
        let refused = no_strangers_key("openai", &lookup(&[("OPENAI_API_KEY", ROUTERS)])).unwrap_err().to_string();
        assert!(refused.contains("https://openrouter.ai") && !refused.contains("aB3dE"), "{refused}");
        assert!(no_strangers_key("openai", &lookup(&[("OPENAI_API_KEY", OPENAIS)])).is_ok());
        assert!(no_strangers_key("anthropic", &lookup(&[("OPENAI_API_KEY", ROUTERS)])).is_ok());
    }
}
