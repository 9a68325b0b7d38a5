//! The models an agent may name, and what each name stands for: as the owner maps them, or as providers call them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use golem::mortality::phase::Tier;
use golem::{limits, plain};
use mind::Upstream;
use settings::{Prices, Settings};
use shell::Error;
use shell::locks::lock;
use tariff::{Named, Price, Server};

use super::protocol::AgentProtocol;

/// A model as it can be called.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) upstream: Arc<Upstream>,
    pub(super) tier: Tier,
    /// Tokens of its longest answer, where the book says.
    pub(super) longest: Option<u64>,
}

/// A name that stands for nothing which can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// The message for the agent that named it.
    pub(super) why: String,
    /// The model it stands for, if all that is missing is a price.
    pub(super) unpriced: Option<String>,
}

impl From<mind::Error> for Unknown {
    fn from(why: mind::Error) -> Unknown {
        let unpriced = match &why {
            mind::Error::Tariff(tariff::Error::Unpriced { model, .. }) => Some(plain::line(model, limits::MODEL)),
            _ => None,
        };
        Unknown { why: why.to_string(), unpriced }
    }
}

impl From<tariff::Error> for Unknown {
    fn from(why: tariff::Error) -> Unknown {
        mind::Error::from(why).into()
    }
}

#[derive(Debug)]
pub struct Models {
    /// The owner's map: a name, what it stands for, and its tier. `*` is every other name.
    mapped: Vec<(String, String, Tier)>,
    prices: Prices,
    /// The owner's own servers, by the provider in whose place they stand.
    servers: BTreeMap<&'static str, Server>,
    open: Mutex<BTreeMap<String, Arc<Upstream>>>,
}

/// Providers whose protocols agents speak; a plain name means a model of one of these.
const SPOKEN: [&str; 3] = ["openai", "anthropic", "gemini"];

impl Models {
    pub fn of(settings: &Settings, prices: Prices) -> Result<Models, Error> {
        let mapped = mapped(settings)?;
        let mut models = Models { mapped, prices, servers: BTreeMap::new(), open: Mutex::default() };
        let upstreams = settings.text("gateway.upstreams").unwrap_or_default();
        for one in upstreams.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let wrong = || {
                let like = "PROVIDER=ADDRESS with openai or anthropic, such as openai=https://WORK_KEY@example.com/v1";
                Error::Usage(format!("gateway.upstreams is written as {like}, and commas between; not '{one}'"))
            };
            let (provider, address) = one.split_once('=').ok_or_else(wrong)?;
            let provider = SPOKEN.into_iter().find(|known| *known == provider.trim()).ok_or_else(wrong)?;
            models.servers.insert(provider, Server::parse(provider, address)?);
        }
        Ok(models)
    }

    /// Has calls for a provider go to another server, unless the settings have said where they go.
    pub fn stand_in(&mut self, provider: &str, server: Server) {
        if let Some(provider) = SPOKEN.into_iter().find(|known| *known == provider) {
            self.servers.entry(provider).or_insert(server);
        }
    }

    /// The settings say where calls for this provider go.
    pub fn is_settled(&self, provider: &str) -> bool {
        !self.mapped.is_empty() || self.servers.contains_key(provider)
    }

    /// Finds the model that an agent means by a name; or says why there is none.
    pub(super) fn find(&self, name: &str, protocol: AgentProtocol) -> Result<Model, Unknown> {
        let (stands_for, server, tier) = self.stands_for(name, protocol)?;
        self.model(&stands_for, server, tier, true)
    }

    /// Finds the model for a call with a login of the program's own: at the provider whose login it is, without a key
    /// of the owner's, and nowhere else.
    pub(super) fn find_by_login(&self, name: &str, protocol: AgentProtocol) -> Result<Model, Unknown> {
        let (stands_for, server, tier) = self.stands_for(name, protocol)?;
        let own = spoken(protocol);
        if server.is_some() || stands_for.split_once('/').is_none_or(|(provider, _)| provider != own) {
            let why =
                format!("a login of the program's own is only for {own}, and {name} is with another provider here");
            return Err(Unknown { why, unpriced: None });
        }
        self.model(&stands_for, None, tier, false)
    }

    /// Looks a name up: what it stands for, the owner's server for it if there is one, and its tier.
    fn stands_for(&self, name: &str, protocol: AgentProtocol) -> Result<(String, Option<&Server>, Tier), Unknown> {
        let spoken = spoken(protocol);
        if self.mapped.is_empty() {
            let server = self.servers.get(spoken);
            let stands_for = match server {
                // A server of the owner's has names of its own, whatever they look like.
                Some(server) => format!("{}/{name}", server.owner().map_or(spoken, |owner| owner.name)),
                None => usual(name, spoken),
            };
            return Ok((stands_for, server, Tier::Cheap));
        }
        let row = self.mapped.iter().find(|(known, ..)| known == name);
        let row = row.or_else(|| self.mapped.iter().find(|(known, ..)| known == "*"));
        let Some((_, stands_for, tier)) = row else {
            let known: Vec<&str> = self.names().collect();
            let why = format!("there is no model of that name here; there are {}", known.join(", "));
            return Err(Unknown { why, unpriced: None });
        };
        Ok((stands_for.clone(), None, *tier))
    }

    /// Opens a model with the key it wants, or without one.
    fn model(&self, stands_for: &str, server: Option<&Server>, tier: Tier, keyed: bool) -> Result<Model, Unknown> {
        let upstream = self.open(stands_for, server, keyed)?;
        let longest = self.prices.book().find(stands_for).and_then(|row| row.longest_answer);
        Ok(Model { upstream, tier, longest })
    }

    /// Lists the names an agent may use, each with its provider: those its owner has mapped, or else every model that
    /// has a price here and a provider whose key is there. Names are written as clients of this protocol write them.
    pub(super) fn listed(&self, protocol: AgentProtocol, has_key: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        if !self.mapped.is_empty() {
            return self.names().map(|name| (name.to_owned(), "bardo".to_owned())).collect();
        }
        let sellers = tariff::sellers(&has_key);
        let known = self.prices.book().rows().iter().filter(|row| sellers.contains(&row.provider()));
        let own = self.prices.own().keys().filter(|name| {
            Named::parse(name).is_ok_and(|named| named.key_env.is_none_or(|variable| has_key(&variable)))
        });
        let all: BTreeSet<&str> = known.map(|row| row.name.as_str()).chain(own.map(String::as_str)).collect();
        let spoken = spoken(protocol);
        let called = |name: &str| match name.split_once('/') {
            Some((provider, model)) if provider == spoken => (model.to_owned(), provider.to_owned()),
            Some((provider, _)) if !provider.ends_with(':') => (name.to_owned(), provider.to_owned()),
            _ => (name.to_owned(), "bardo".to_owned()),
        };
        all.into_iter().map(called).collect()
    }

    /// The names an agent may use, if its owner has said which.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.mapped.iter().map(|(name, ..)| name.as_str()).filter(|name| *name != "*")
    }

    fn open(&self, name: &str, server: Option<&Server>, keyed: bool) -> Result<Arc<Upstream>, mind::Error> {
        let at = server.map(|server| server.host()).unwrap_or_default();
        let known_by = format!("{at} {name}{}", if keyed { "" } else { " without a key" });
        let mut open = lock(&self.open);
        if let Some(upstream) = open.get(&known_by) {
            return Ok(Arc::clone(upstream));
        }
        let mut named = Named::parse(name)?;
        // Also on this machine: a proxy here may be billed elsewhere.
        let price = self.prices.of(&named);
        if let Some(server) = server {
            named = named.served_by(server);
        }
        if !keyed {
            named.key_env = None;
        }
        let price = price.or_else(|why| if named.local { Ok(Price::NOTHING) } else { Err(why) })?;
        let upstream = Arc::new(Upstream::open(named, Some(price))?);
        // An agent that makes up names must not fill the memory with them.
        if open.len() < 1_000 {
            open.insert(known_by, Arc::clone(&upstream));
        }
        Ok(upstream)
    }
}

/// Environment variables that hold keys of the owner's: none of them is an agent's business.
pub fn keys(settings: &Settings) -> Result<BTreeSet<String>, Error> {
    let mut keys: BTreeSet<String> =
        tariff::PROVIDERS.iter().filter_map(|known| known.key_env.map(str::to_owned)).collect();
    let models = Models::of(settings, Prices::default())?;
    for (_, stands_for, _) in &models.mapped {
        keys.extend(Named::parse(stands_for)?.key_env);
    }
    keys.extend(models.servers.into_values().filter_map(|server| server.key_env));
    let named = ["models.key_variable", "notify.webhook_secret_variable"];
    keys.extend(named.iter().filter_map(|key| settings.text(key)).filter(|name| !name.is_empty()).map(str::to_owned));
    keys.insert("ANTHROPIC_AUTH_TOKEN".to_owned());
    Ok(keys)
}

fn mapped(settings: &Settings) -> Result<Vec<(String, String, Tier)>, Error> {
    let text = settings.text("gateway.models").unwrap_or_default();
    text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(read).collect()
}

/// Reads `NAME=PROVIDER/MODEL`, with `:middle` or `:strong` behind it if it is not cheap.
fn read(text: &str) -> Result<(String, String, Tier), Error> {
    let wrong = || {
        let like = "NAME=PROVIDER/MODEL, with :middle or :strong behind it if it is not cheap";
        Error::Usage(format!("gateway.models is written as {like}, and commas between; not '{text}'"))
    };
    let (name, stands_for) = text.split_once('=').ok_or_else(wrong)?;
    let (stands_for, tier) = match stands_for.rsplit_once(':') {
        Some((model, "cheap")) => (model, Tier::Cheap),
        Some((model, "middle")) => (model, Tier::Middle),
        Some((model, "strong")) => (model, Tier::Strong),
        _ => (stands_for, Tier::Cheap),
    };
    if name.trim().is_empty() {
        return Err(wrong());
    }
    Named::parse(stands_for)?;
    Ok((name.trim().to_owned(), stands_for.trim().to_owned(), tier))
}

/// The provider meant by a call in this protocol that names none.
fn spoken(protocol: AgentProtocol) -> &'static str {
    match protocol {
        AgentProtocol::Messages => "anthropic",
        AgentProtocol::Generate => "gemini",
        AgentProtocol::Chat | AgentProtocol::Responses | AgentProtocol::Embeddings => "openai",
    }
}

fn usual(name: &str, spoken: &str) -> String {
    let named = name.split_once('/').is_some_and(|(provider, _)| tariff::PROVIDERS.iter().any(|p| p.name == provider));
    if named { name.to_owned() } else { format!("{spoken}/{name}") }
}

#[cfg(test)]
mod tests {
    use tariff::Book;

    use super::*;
    use settings::File;

    fn models(text: &str) -> Result<Models, Error> {
        let flags = [format!("gateway.models={text}"), "models.prices=vllm/big=1/2".to_owned()];
        let settings = Settings::load(File::Bardo, None, std::iter::empty(), &flags)?;
        Models::of(&settings, Prices::new(settings.prices()?, Book::built_in()))
    }

    #[test]
    fn what_may_be_named_is_what_has_a_price_and_a_key() {
        let open = models("").unwrap();
        let listed = |protocol, keys: &[&str]| -> BTreeSet<String> {
            open.listed(protocol, |variable| keys.contains(&variable)).into_iter().map(|(name, _)| name).collect()
        };
        let (chat, both) = (listed(AgentProtocol::Chat, &["OPENAI_API_KEY"]), ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"]);
        assert!(chat.contains("gpt-5-mini") && chat.contains("text-embedding-3-small") && chat.contains("vllm/big"));
        assert!(!chat.iter().any(|name| name.contains("claude") || name.contains("gemini")));
        let messages = listed(AgentProtocol::Messages, &both);
        assert!(messages.contains("claude-opus-4-8") && messages.contains("openai/gpt-5-mini"));
        assert_eq!(listed(AgentProtocol::Chat, &[]), BTreeSet::from(["vllm/big".to_owned()]));
        // What is listed can be found under that name.
        for name in chat {
            let priced = open.prices.of(&Named::parse(&usual(&name, "openai")).unwrap());
            assert!(priced.is_ok(), "{name}");
        }
        assert_eq!(models("small=ollama/qwen3,*=vllm/big").unwrap().listed(AgentProtocol::Chat, |_| true).len(), 1);
    }

    #[test]
    fn a_name_stands_for_what_its_owner_says_and_for_nothing_else() {
        let models = models("small=ollama/qwen3:4b, big=vllm/big:strong").unwrap();
        let find = |name: &str| models.find(name, AgentProtocol::Chat);
        let (small, big) = (find("small").unwrap(), find("big").unwrap());
        assert_eq!((small.upstream.model(), small.tier), ("qwen3:4b", Tier::Cheap));
        assert_eq!((big.upstream.model(), big.tier), ("big", Tier::Strong));
        assert_eq!(big.upstream.price(), Price::parse("1/2").unwrap());
        let refused = find("vllm/big").unwrap_err();
        assert!(refused.why.contains("small, big") && refused.unpriced.is_none(), "{refused:?}");
        let open = self::models("").unwrap();
        let unpriced = open.find("gpt-99", AgentProtocol::Chat).unwrap_err().unpriced;
        assert_eq!(unpriced.as_deref(), Some("openai/gpt-99"));
    }

    #[test]
    fn every_other_name_may_stand_for_one_model_too() {
        let models = models("*=ollama/qwen3").unwrap();
        assert_eq!(models.find("gpt-5", AgentProtocol::Chat).unwrap().upstream.model(), "qwen3");
        assert_eq!(models.names().count(), 0);
    }

    #[test]
    fn a_server_in_a_providers_place_gets_every_name_as_it_is_and_is_paid_by_the_book() {
        let with = |upstreams: &str| {
            let flags = [format!("gateway.upstreams={upstreams}"), "models.prices=openai/ours=1/2".to_owned()];
            let settings = Settings::load(File::Bardo, None, std::iter::empty(), &flags).unwrap();
            Models::of(&settings, Prices::new(settings.prices()?, Book::built_in()))
        };
        let models = with("openai=http://127.0.0.1:9/v1").unwrap();
        let found = models.find("ours", AgentProtocol::Responses).unwrap();
        assert_eq!((found.upstream.model(), found.upstream.price()), ("ours", Price::parse("1/2").unwrap()));
        assert_eq!(found.upstream.url("/responses").unwrap(), "http://127.0.0.1:9/v1/responses");
        let listed = models.find("gpt-5-mini", AgentProtocol::Chat).unwrap();
        let row = Book::built_in().find("openai/gpt-5-mini").unwrap().price;
        assert_eq!(listed.upstream.price(), row, "also on this machine");
        assert_eq!(models.find("openai/ours", AgentProtocol::Chat).unwrap().upstream.model(), "openai/ours");
        assert!(models.is_settled("openai") && !models.is_settled("anthropic"));
        for wrong in ["openai", "groq=https://example.com/v1", "openai=http://10.0.0.1/v1"] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_login_of_the_programs_own_needs_no_key_and_goes_to_no_server_but_its_providers() {
        let by_login = |text: &str, name: &str, protocol| models(text).unwrap().find_by_login(name, protocol);
        let found = by_login("", "claude-opus-4-8", AgentProtocol::Messages).unwrap();
        assert!(found.upstream.shows().is_none() && found.upstream.model() == "claude-opus-4-8");
        assert!(by_login("opus=anthropic/claude-opus-4-8", "opus", AgentProtocol::Messages).is_ok());
        for (map, name, protocol) in [
            ("", "openai/gpt-5-mini", AgentProtocol::Messages),
            ("m=ollama/qwen3", "m", AgentProtocol::Messages),
            ("*=https://api.anthropic.com.example/v1/opus", "opus", AgentProtocol::Messages),
            ("", "anthropic/claude-opus-4-8", AgentProtocol::Responses),
        ] {
            assert!(by_login(map, name, protocol).unwrap_err().why.contains("another provider"), "{map} {name}");
        }
        let mut with_server = models("").unwrap();
        with_server.stand_in("anthropic", Server::parse("anthropic", "http://127.0.0.1:9").unwrap());
        assert!(with_server.find_by_login("claude-opus-4-8", AgentProtocol::Messages).is_err());
    }

    #[test]
    fn what_is_no_map_says_what_one_looks_like() {
        for text in ["small", "=ollama/qwen3", "small=qwen3"] {
            assert!(models(text).is_err(), "{text}");
        }
    }
}
