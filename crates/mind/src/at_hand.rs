//! Models at hand: servers on this machine that answer, and providers whose key is in the environment.

use std::env;
use std::io::Read;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use reqwest::Url;
use reqwest::blocking::Client;
use serde_json::Value;

use tariff::PROVIDERS;
use tariff::printable;

/// How long to wait for a connection: a server of this machine accepts one sooner, or is not there.
const CONNECT: Duration = Duration::from_millis(200);
const ANSWER: Duration = Duration::from_secs(2);
/// The longest list of models that is read.
const LIST: u64 = 1 << 20;

/// A provider or local server that could be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtHand {
    pub provider: &'static str,
    /// The variable that holds the key; none for a server of this machine.
    pub variable: Option<&'static str>,
    /// The models that a server of this machine has, by its own names.
    pub models: Vec<String>,
}

/// Lists what is at hand. Nothing is asked that could cost anything, and no key is read.
pub fn look_around() -> Vec<AtHand> {
    let here = PROVIDERS.iter().filter_map(|provider| match provider.key_env {
        Some(variable) => {
            let set = env::var_os(variable).is_some_and(|value| !value.is_empty());
            set.then(|| AtHand { provider: provider.name, variable: Some(variable), models: Vec::new() })
        }
        None => {
            let models = models(provider.base)?;
            Some(AtHand { provider: provider.name, variable: None, models })
        }
    });
    here.collect()
}

/// The models of a server of this machine; `None` if no model server answers there.
fn models(base: &str) -> Option<Vec<String>> {
    let url = Url::parse(base).ok()?;
    let (host, port) = (url.host_str()?, url.port_or_known_default()?);
    let mut places = (host, port).to_socket_addrs().ok()?;
    places.find_map(|place| TcpStream::connect_timeout(&place, CONNECT).ok())?;
    let client = Client::builder().no_proxy().timeout(ANSWER).tls_certs_only([]).build().ok()?;
    let response =
        client.get(format!("{base}/models")).send().ok().filter(|response| response.status().is_success())?;
    let mut body = Vec::new();
    response.take(LIST).read_to_end(&mut body).ok()?;
    let list: Value = serde_json::from_slice(&body).ok()?;
    let name = |model: &Value| model.get("id").and_then(Value::as_str).map(printable);
    Some(list.get("data")?.as_array()?.iter().filter_map(name).collect())
}
