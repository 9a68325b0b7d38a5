//! The address of a model server. Text on its way there can be read on the network unless it is encrypted, so plain
//! http is for this machine alone, or for a network its owner vouches for.

use std::net::IpAddr;

use url::Url;

use crate::Error;

const WHAT: &str = "the address of the model server";

#[derive(Clone, Debug)]
pub struct Address {
    /// The address that requests go to.
    pub url: Url,
    /// The server is on this machine.
    pub loopback: bool,
}

impl Address {
    /// Takes a server's root, its `/v1` or the whole address, which ends in this path: all three are in common use.
    pub fn parse(base: &str, end: &str, allow_plain_http: bool) -> Result<Address, Error> {
        // The address given is never repeated in a message: it might hold a password.
        let wrong = |why: String| Error::Config { what: WHAT, why };
        let example = "write it like http://localhost:11434 or https://api.example.com/v1";
        let mut url = Url::parse(base.trim()).map_err(|why| wrong(format!("cannot be read ({why}); {example}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!("must begin with http:// or https://; {example}")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("must hold no user name or password; put the key into an environment variable".into()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(format!("must end with its path, without ? or #; {example}")));
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let loopback = is_loopback(&host);
        if url.scheme() == "http" && !loopback && !allow_plain_http {
            return Err(wrong(format!(
                "is plain http to another machine ({host}), which can be read on the network; use https, or allow \
                 plain http if the network is yours"
            )));
        }
        let path = url.path().trim_end_matches('/');
        // Some servers have a version of their own in the path.
        let versioned = path.split('/').any(|part| part.starts_with("v1"));
        let path = match path {
            whole if whole.ends_with(end) => whole.to_owned(),
            part if versioned => format!("{part}{end}"),
            root => format!("{root}/v1{end}"),
        };
        url.set_path(&path);
        Ok(Address { url, loopback })
    }

    pub fn encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

fn is_loopback(host: &str) -> bool {
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_a_version_and_a_full_address_lead_to_the_same_place() {
        for base in ["http://localhost:11434", "http://localhost:11434/v1/", " http://LOCALHOST:11434/v1/embeddings"] {
            let address = Address::parse(base, "/embeddings", false).unwrap();
            assert_eq!(address.url.as_str(), "http://localhost:11434/v1/embeddings");
        }
        let behind = Address::parse("https://example.com/openai", "/embeddings", false).unwrap();
        assert_eq!(behind.url.as_str(), "https://example.com/openai/v1/embeddings");
        let own = Address::parse("https://example.com/v1beta/openai", "/chat/completions", false).unwrap();
        assert_eq!(own.url.as_str(), "https://example.com/v1beta/openai/chat/completions");
    }

    #[test]
    fn plain_http_stays_on_this_machine_unless_allowed() {
        for here in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]"] {
            assert!(Address::parse(&format!("http://{here}:8080"), "/embeddings", false).unwrap().loopback, "{here}");
        }
        for there in ["example.com", "localhost.example.com", "10.0.0.1", "127.0.0.1.example.com", "[2001:db8::1]"] {
            let refused = Address::parse(&format!("http://{there}"), "/embeddings", false).unwrap_err().to_string();
            assert!(refused.contains("use https"), "{refused}");
            assert!(!Address::parse(&format!("http://{there}"), "/embeddings", true).unwrap().loopback, "{there}");
            assert!(Address::parse(&format!("https://{there}"), "/embeddings", false).unwrap().encrypted(), "{there}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_without_repeating_it() {
        let odd =
            ["", "localhost:11434", "file:///hush", "http://me:hush@localhost", "http://localhost?key=hush", "hush"];
        for base in odd {
            let refused = Address::parse(base, "/embeddings", true).unwrap_err().to_string();
            assert!(!refused.contains("hush"), "{refused}");
        }
    }
}
