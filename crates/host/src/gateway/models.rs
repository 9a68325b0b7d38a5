//! Which models an agent may name, and what each stands for: as the owner maps them, or as they are called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use golem::mortality::phase::Tier;
use mind::{Named, Price, Upstream};

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
    open: Mutex<BTreeMap<String, Arc<Upstream>>>,
}

impl Models {
    pub fn of(settings: &Settings) -> Result<Models, Error> {
        let text = settings.text("gateway.models").unwrap_or_default();
        let mapped = text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(read);
        Ok(Models { mapped: mapped.collect::<Result<_, _>>()?, prices: settings.prices()?, open: Mutex::default() })
    }

    /// What an agent means by a name; or what to say to it.
    pub(super) fn find(&self, name: &str, protocol: Protocol) -> Result<Model, String> {
        let (stands_for, tier) = if self.mapped.is_empty() {
            (usual(name, protocol), Tier::Cheap)
        } else {
            let row = self.mapped.iter().find(|(known, ..)| known == name);
            let row = row.or_else(|| self.mapped.iter().find(|(known, ..)| known == "*"));
            let Some((_, stands_for, tier)) = row else {
                let known: Vec<&str> = self.names().collect();
                return Err(format!("there is no model of that name here; there are {}", known.join(", ")));
            };
            (stands_for.clone(), *tier)
        };
        Ok(Model { upstream: self.open(&stands_for).map_err(|why| why.to_string())?, tier })
    }

    /// The names an agent may use, if its owner has said which.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.mapped.iter().map(|(name, ..)| name.as_str()).filter(|name| *name != "*")
    }

    fn open(&self, name: &str) -> Result<Arc<Upstream>, mind::Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upstream) = open.get(name) {
            return Ok(Arc::clone(upstream));
        }
        let named = Named::parse(name)?;
        let price = self.prices.get(&named.name).copied();
        let upstream = Arc::new(Upstream::open(named, price)?);
        // Whoever makes up names must not fill the memory with them.
        if open.len() < 1_000 {
            open.insert(name.to_owned(), Arc::clone(&upstream));
        }
        Ok(upstream)
    }
}

/// Environment variables that hold keys of the owner's: none of them is an agent's business.
pub fn keys(settings: &Settings) -> Result<BTreeSet<String>, Error> {
    let mut keys: BTreeSet<String> =
        mind::PROVIDERS.iter().filter_map(|known| known.key_env.map(str::to_owned)).collect();
    for (_, stands_for, _) in Models::of(settings)?.mapped {
        keys.extend(Named::parse(&stands_for)?.key_env);
    }
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
fn usual(name: &str, protocol: Protocol) -> String {
    let named = name.split_once('/').is_some_and(|(provider, _)| mind::PROVIDERS.iter().any(|p| p.name == provider));
    match protocol {
        _ if named => name.to_owned(),
        Protocol::Messages => format!("anthropic/{name}"),
        Protocol::Chat | Protocol::Responses | Protocol::Embeddings => format!("openai/{name}"),
    }
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
    fn what_is_no_map_says_what_one_looks_like() {
        for text in ["small", "=ollama/qwen3", "small=qwen3"] {
            assert!(models(text).is_err(), "{text}");
        }
    }
}
