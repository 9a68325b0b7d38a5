//! Which models an agent may name, and what each stands for: as the owner maps them, or as they are called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use golem::mortality::phase::Tier;
use mind::{Named, Price, Server, Upstream};

use super::shape::Protocol;
use crate::Error;
use crate::config::Settings;

/// One model as it can be called.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) upstream: Arc<Upstream>,
    pub(super) tier: Tier,
}

#[derive(Debug)]
pub struct Models {
    /// What the owner has mapped: a name, what it stands for, and its tier. `*` is every other name.
    mapped: Vec<(String, String, Tier)>,
    prices: BTreeMap<String, Price>,
    /// Servers of the owner's own, by the provider in whose place they stand.
    servers: BTreeMap<&'static str, Server>,
    open: Mutex<BTreeMap<String, Arc<Upstream>>>,
}

/// Providers whose protocol agents speak; what they mean by a plain name is with one of these.
const SPOKEN: [&str; 2] = ["openai", "anthropic"];

impl Models {
    pub fn of(settings: &Settings) -> Result<Models, Error> {
        let text = settings.text("gateway.models").unwrap_or_default();
        let mapped = text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(read);
        let (mapped, prices) = (mapped.collect::<Result<_, _>>()?, settings.prices()?);
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

    /// What an agent means by a name; or what to say to it.
    pub(super) fn find(&self, name: &str, protocol: Protocol) -> Result<Model, String> {
        let spoken = if protocol == Protocol::Messages { "anthropic" } else { "openai" };
        let (stands_for, tier) = if self.mapped.is_empty() {
            let server = self.servers.get(spoken);
            let stands_for = match server {
                // It has names of its own, whatever they look like.
                Some(server) => format!("{}/{name}", server.owner().map_or(spoken, |owner| owner.name)),
                None => usual(name, spoken),
            };
            let upstream = self.open(&stands_for, server).map_err(|why| why.to_string())?;
            return Ok(Model { upstream, tier: Tier::Cheap });
        } else {
            let row = self.mapped.iter().find(|(known, ..)| known == name);
            let row = row.or_else(|| self.mapped.iter().find(|(known, ..)| known == "*"));
            let Some((_, stands_for, tier)) = row else {
                let known: Vec<&str> = self.names().collect();
                return Err(format!("there is no model of that name here; there are {}", known.join(", ")));
            };
            (stands_for.clone(), *tier)
        };
        Ok(Model { upstream: self.open(&stands_for, None).map_err(|why| why.to_string())?, tier })
    }

    /// The names an agent may use, if its owner has said which.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.mapped.iter().map(|(name, ..)| name.as_str()).filter(|name| *name != "*")
    }

    fn open(&self, name: &str, server: Option<&Server>) -> Result<Arc<Upstream>, mind::Error> {
        let known_by = server.map_or_else(|| name.to_owned(), |server| format!("{} {name}", server.host()));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upstream) = open.get(&known_by) {
            return Ok(Arc::clone(upstream));
        }
        let mut named = Named::parse(name)?;
        let mut price = self.prices.get(&named.name).copied();
        if let Some(server) = server {
            // Also on this machine: whoever passes a call on from here is paid for it elsewhere.
            price = price.or_else(|| mind::listed(name).map(|(price, _)| price));
            named = named.served_by(server);
        }
        let upstream = Arc::new(Upstream::open(named, price)?);
        // Whoever makes up names must not fill the memory with them.
        if open.len() < 1_000 {
            open.insert(known_by, Arc::clone(&upstream));
        }
        Ok(upstream)
    }
}

/// Environment variables that hold keys of the owner's: none of them is an agent's business.
pub fn keys(settings: &Settings) -> Result<BTreeSet<String>, Error> {
    let mut keys: BTreeSet<String> =
        mind::PROVIDERS.iter().filter_map(|known| known.key_env.map(str::to_owned)).collect();
    let models = Models::of(settings)?;
    for (_, stands_for, _) in &models.mapped {
        keys.extend(Named::parse(stands_for)?.key_env);
    }
    keys.extend(models.servers.into_values().filter_map(|server| server.key_env));
    let named = ["models.key_variable", "notify.webhook_secret_variable"];
    keys.extend(named.iter().filter_map(|key| settings.text(key)).filter(|name| !name.is_empty()).map(str::to_owned));
    keys.insert("ANTHROPIC_AUTH_TOKEN".to_owned());
    Ok(keys)
}

/// `NAME=PROVIDER/MODEL`, and `:middle` or `:strong` behind it if it is not cheap.
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

/// Whoever speaks a provider's protocol and says nothing else means that provider.
fn usual(name: &str, spoken: &str) -> String {
    let named = name.split_once('/').is_some_and(|(provider, _)| mind::PROVIDERS.iter().any(|p| p.name == provider));
    if named { name.to_owned() } else { format!("{spoken}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::File;

    fn models(text: &str) -> Result<Models, Error> {
        let flags = [format!("gateway.models={text}"), "models.prices=vllm/big=1/2".to_owned()];
        Models::of(&Settings::load(File::Bardo, None, std::iter::empty(), &flags)?)
    }

    #[test]
    fn a_name_stands_for_what_its_owner_says_and_for_nothing_else() {
        let models = models("small=ollama/qwen3:4b, big=vllm/big:strong").unwrap();
        let find = |name: &str| models.find(name, Protocol::Chat);
        let (small, big) = (find("small").unwrap(), find("big").unwrap());
        assert_eq!((small.upstream.model(), small.tier), ("qwen3:4b", Tier::Cheap));
        assert_eq!((big.upstream.model(), big.tier), ("big", Tier::Strong));
        assert_eq!(big.upstream.price(), Price::parse("1/2").unwrap());
        let refused = find("vllm/big").unwrap_err();
        assert!(refused.contains("small, big"), "{refused}");
    }

    #[test]
    fn every_other_name_may_stand_for_one_model_too() {
        let models = models("*=ollama/qwen3").unwrap();
        assert_eq!(models.find("gpt-5", Protocol::Chat).unwrap().upstream.model(), "qwen3");
        assert_eq!(models.names().count(), 0);
    }

    #[test]
    fn a_server_in_a_providers_place_gets_every_name_as_it_is_and_is_paid_by_the_book() {
        let with = |upstreams: &str| {
            let flags = [format!("gateway.upstreams={upstreams}"), "models.prices=openai/ours=1/2".to_owned()];
            Models::of(&Settings::load(File::Bardo, None, std::iter::empty(), &flags).unwrap())
        };
        let models = with("openai=http://127.0.0.1:9/v1").unwrap();
        let found = models.find("ours", Protocol::Responses).unwrap();
        assert_eq!((found.upstream.model(), found.upstream.price()), ("ours", Price::parse("1/2").unwrap()));
        assert_eq!(found.upstream.url("/responses").unwrap(), "http://127.0.0.1:9/v1/responses");
        let listed = models.find("gpt-5-mini", Protocol::Chat).unwrap();
        assert_eq!(listed.upstream.price(), mind::listed("openai/gpt-5-mini").unwrap().0, "also on this machine");
        assert_eq!(models.find("openai/ours", Protocol::Chat).unwrap().upstream.model(), "openai/ours");
        assert!(models.is_settled("openai") && !models.is_settled("anthropic"));
        for wrong in ["openai", "groq=https://example.com/v1", "openai=http://10.0.0.1/v1"] {
            assert!(with(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_map_says_what_one_looks_like() {
        for text in ["small", "=ollama/qwen3", "small=qwen3"] {
            assert!(models(text).is_err(), "{text}");
        }
    }
}
