//! Models at hand: servers on this machine that answer, and providers whose key is in the environment.

use std::env;
use std::io::Read;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use reqwest::Url;
use serde_json::Value;

use tariff::PROVIDERS;
use tariff::printable;

use crate::http;

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
    let client = http::blocking().no_proxy().timeout(ANSWER).tls_certs_only([]).build().ok()?;
    let response =
        client.get(format!("{base}/models")).send().ok().filter(|response| response.status().is_success())?;
    let mut body = Vec::new();
    response.take(LIST).read_to_end(&mut body).ok()?;
    let list: Value = serde_json::from_slice(&body).ok()?;
    let name = |model: &Value| model.get("id").and_then(Value::as_str).map(printable);
    Some(list.get("data")?.as_array()?.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;

    /// `bardo init` fell over wherever a model server was up: alone of all clients this one was built without a TLS having
    /// been chosen, and it is the first that a new home needs.
    #[test]
    fn a_server_of_this_machine_tells_its_models_to_a_process_that_has_asked_nothing_before() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            // The first connection only finds out whether there is a server.
            drop(listener.accept().unwrap());
            let (mut stream, _) = listener.accept().unwrap();
            let (mut asked, mut byte) = (Vec::<u8>::new(), [0_u8]);
            while !asked.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                asked.push(byte[0]);
            }
            let list = r#"{"data":[{"id":"qwen3"},{"id":"smollm2"}]}"#;
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{list}", list.len())
                .unwrap();
            String::from_utf8(asked).unwrap()
        });
        assert_eq!(models(&base), Some(vec!["qwen3".to_owned(), "smollm2".to_owned()]));
        assert!(server.join().unwrap().starts_with("GET /v1/models "));
    }
}
