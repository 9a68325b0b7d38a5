//! Where a program may go that has a network of its own: registries of packages, what its owner allows, and never a provider of
//! models, whose bill no golem would pay.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use shell::Error;
use tariff::provider_at;

/// Where packages and sources come from.
const REGISTRIES: [&str; 13] = [
    "registry.npmjs.org",
    "pypi.org",
    "files.pythonhosted.org",
    "crates.io",
    "static.crates.io",
    "index.crates.io",
    "github.com",
    "codeload.github.com",
    "objects.githubusercontent.com",
    "raw.githubusercontent.com",
    "deb.debian.org",
    "proxy.golang.org",
    "sum.golang.org",
];
/// Models too, at hosts of which there are many, or that have no client here: how their names end.
const MODELS: [&str; 6] = [
    "aiplatform.googleapis.com",
    "openai.azure.com",
    "services.ai.azure.com",
    "chatgpt.com",
    "api.githubcopilot.com",
    "models.github.ai",
];

/// The ports of a host for which no port is said.
const TLS: u16 = 443;
const PLAIN: u16 = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Whom {
    Host(String),
    /// All whose names end like this.
    Below(String),
    Address(IpAddr),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HostEntry {
    whom: Whom,
    port: Option<u16>,
}

/// The hosts a program may reach.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    entries: Vec<HostEntry>,
    /// Servers of its owner's that stand in for a provider.
    never: Vec<String>,
}

/// A host that may be reached, before it is known where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AllowedHost {
    pub(super) host: String,
    pub(super) port: u16,
    /// Nothing but TLS that names this host: at the same address there may be others.
    pub(super) named: bool,
}

impl Allowed {
    pub(crate) fn of(allow: &[String], never: Vec<String>) -> Result<Allowed, Error> {
        let registries = REGISTRIES.iter().map(|host| HostEntry { whom: Whom::Host((*host).to_owned()), port: None });
        let own = allow.iter().map(|text| entry(text, &never)).collect::<Result<Vec<_>, _>>()?;
        Ok(Allowed { entries: registries.chain(own).collect(), never })
    }

    /// Places on this machine, which the program finds where they are.
    pub(super) fn here(&self) -> Vec<SocketAddr> {
        let place = |entry: &HostEntry| match entry {
            HostEntry { whom: Whom::Address(address), port: Some(port) } if address.is_loopback() => {
                Some(SocketAddr::new(*address, *port))
            }
            _ => None,
        };
        self.entries.iter().filter_map(place).collect()
    }

    /// The way to a host, asked for by `CONNECT` or in a plain request; or why it is closed.
    pub(super) fn way(&self, host: &str, port: u16, tunnel: bool) -> Result<AllowedHost, String> {
        let host = plain(host);
        if is_of_models(&host, &self.never) {
            return Err(format!(
                "{host} serves models, which are called through the golem's gateway, where calls are counted, and not past it"
            ));
        }
        let usual = if tunnel { TLS } else { PLAIN };
        let address = host.parse::<IpAddr>().ok();
        let fits = |entry: &&HostEntry| {
            let whom = match &entry.whom {
                Whom::Host(name) => *name == host,
                Whom::Below(end) => address.is_none() && host.ends_with(end.as_str()) && host.len() > end.len(),
                Whom::Address(own) => Some(*own) == address,
            };
            whom && port == entry.port.unwrap_or(usual)
        };
        match self.entries.iter().find(fits) {
            None => Err(format!(
                "{host}:{port} is not among what this program may reach; `--allow {host}{}` beside --only-through adds it",
                if port == usual { String::new() } else { format!(":{port}") }
            )),
            Some(entry) => {
                let named = tunnel && entry.port.is_none_or(|port| port == TLS) && address.is_none();
                Ok(AllowedHost { host, port, named })
            }
        }
    }

    /// Where it is: nothing of this machine or of a network within, unless that address is allowed by itself.
    pub(super) fn addresses(&self, way: &AllowedHost) -> Result<Vec<SocketAddr>, String> {
        let found = (way.host.as_str(), way.port).to_socket_addrs();
        let found: Vec<SocketAddr> = found.map_err(|why| format!("{} is not found: {why}", way.host))?.collect();
        let may = |at: &SocketAddr| is_public(at.ip()) || self.allows(*at);
        let open: Vec<SocketAddr> = found.iter().copied().filter(may).collect();
        match (open.is_empty(), found.first()) {
            (true, Some(at)) => Err(format!(
                "{} leads to {}, which is on this machine or in an internal network; `--allow {at}` allows it",
                way.host,
                at.ip()
            )),
            (true, None) => Err(format!("{} is not found", way.host)),
            (false, _) => Ok(open),
        }
    }

    fn allows(&self, at: SocketAddr) -> bool {
        let usual = [TLS, PLAIN].contains(&at.port());
        let port = |entry: &HostEntry| entry.port.map_or(usual, |port| port == at.port());
        self.entries.iter().any(|entry| entry.whom == Whom::Address(at.ip().to_canonical()) && port(entry))
    }
}

/// As it is compared: in small letters, without the dot that may end it, an address without its brackets.
fn plain(host: &str) -> String {
    let host = host.trim().trim_end_matches('.').to_ascii_lowercase();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    address.parse::<IpAddr>().map_or_else(|_| host.clone(), |address| address.to_canonical().to_string())
}

fn is_of_models(host: &str, never: &[String]) -> bool {
    let ends =
        |end: &str| host.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(['.', '-']));
    provider_at(host).is_some()
        || MODELS.iter().any(|end| ends(end))
        || (host.starts_with("bedrock") && host.ends_with(".amazonaws.com"))
        || never.iter().any(|own| own == host)
}

fn entry(text: &str, never: &[String]) -> Result<HostEntry, Error> {
    let wrong = || {
        Error::Usage(format!(
            "'{text}' is not a host to allow; write --allow example.com, .example.com for all below it, example.com:8443 \
             or 127.0.0.1:5432"
        ))
    };
    let (host, port) = match text.parse::<IpAddr>() {
        Ok(_) => (text, None),
        Err(_) => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        },
    };
    let below = host.starts_with('.');
    let name = plain(host);
    if is_of_models(name.trim_start_matches('.'), never) {
        return Err(Error::Usage(format!(
            "{name} serves models, which --only-through keeps from being called past the budget; leave out --allow {text}: \
             the program's calls go there through its golem"
        )));
    }
    let whom = match name.parse::<IpAddr>() {
        Ok(address) => Whom::Address(address),
        Err(_) if !is_name(name.trim_start_matches('.')) => return Err(wrong()),
        Err(_) if below => Whom::Below(name),
        Err(_) => Whom::Host(name),
    };
    Ok(HostEntry { whom, port })
}

fn is_name(text: &str) -> bool {
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    text.len() < 254 && text.split('.').all(|part| !part.is_empty() && letters(part))
}

/// Whether an address is on the public internet, outside this machine and its networks.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let within = address.is_private() || address.is_loopback() || address.is_link_local();
    // Shared by a carrier's customers, kept for protocols and for measuring, and whatever has no single owner.
    let shared = first == 100 && (64..128).contains(&second);
    let kept = (first, second, third) == (192, 0, 0) || (first == 198 && (18..20).contains(&second));
    !within && !shared && !kept && first != 0 && first < 224
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let [high, low] = [parts[6], parts[7]].map(u16::to_be_bytes);
    match parts {
        // An address of the fourth version within.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => is_public_v4(Ipv4Addr::new(high[0], high[1], low[0], low[1])),
        // What is given out to be reached by all; less the tunnels, which lead anywhere.
        [first, second, ..] => (first & 0xe000) == 0x2000 && first != 0x2002 && (first, second) != (0x2001, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(allow: &[&str]) -> Allowed {
        let allow: Vec<String> = allow.iter().map(|text| (*text).to_owned()).collect();
        Allowed::of(&allow, vec!["llm.example.com".to_owned()]).unwrap()
    }

    #[test]
    fn it_reaches_registries_and_what_is_allowed_and_nothing_else() {
        let allowed = allowed(&[".example.com", "other.org", "other.org:8443", "127.0.0.1:5432", "::1"]);
        for (host, port, tunnel) in [
            ("registry.npmjs.org", 443, true),
            ("PyPI.org.", 443, true),
            ("deb.debian.org", 80, false),
            ("a.b.example.com", 443, true),
            ("other.org", 8443, true),
            ("other.org", 8443, false),
            ("127.0.0.1", 5432, true),
            ("[::1]", 443, true),
        ] {
            assert!(allowed.way(host, port, tunnel).is_ok(), "{host}:{port}");
        }
        for (host, port, tunnel) in [
            ("registry.npmjs.org", 80, true),
            ("registry.npmjs.org", 22, true),
            ("deb.debian.org", 443, false),
            ("registry.npmjs.org.evil.net", 443, true),
            ("evilpypi.org", 443, true),
            ("example.com", 443, true),
            ("127.0.0.1", 443, true),
            ("127.0.0.2", 5432, true),
            ("localhost", 5432, true),
            ("2130706433", 5432, true),
            ("", 443, true),
        ] {
            let why = allowed.way(host, port, tunnel).unwrap_err();
            assert!(why.contains("--allow"), "{host}:{port}: {why}");
        }
        assert_eq!(allowed.here(), ["127.0.0.1:5432".parse::<SocketAddr>().unwrap()]);
    }

    #[test]
    fn no_provider_of_models_is_reached_whatever_is_allowed() {
        let allowed = allowed(&[".openai.com", ".googleapis.com", ".amazonaws.com", ".example.com", ".azure.com"]);
        for host in [
            "api.openai.com",
            "API.OPENAI.COM.",
            "eu.api.openai.com",
            "us-central1-aiplatform.googleapis.com",
            "generativelanguage.googleapis.com",
            "bedrock-runtime.eu-west-1.amazonaws.com",
            "mine.openai.azure.com",
            "llm.example.com",
        ] {
            let why = allowed.way(host, 443, true).unwrap_err();
            assert!(why.contains("gateway"), "{host}: {why}");
        }
        assert!(allowed.way("storage.googleapis.com", 443, true).is_ok());
        for text in ["api.openai.com", ".api.anthropic.com", "openrouter.ai:443", "API.x.ai", "llm.example.com"] {
            let refused = Allowed::of(&[text.to_owned()], vec!["llm.example.com".to_owned()]).unwrap_err();
            assert!(matches!(&refused, Error::Usage(why) if why.contains("past the budget")), "{text}: {refused}");
        }
        for text in
            ["", ".", "*", "*.example.com", "https://example.com", "example.com/path", "a b", "example.com:x", "[::1"]
        {
            let refused = Allowed::of(&[text.to_owned()], Vec::new()).unwrap_err();
            assert!(matches!(&refused, Error::Usage(why) if why.contains("not a host to allow")), "{text}: {refused}");
        }
    }

    #[test]
    fn a_name_that_leads_within_is_not_followed_unless_the_address_is_allowed() {
        let list = allowed(&["localhost:5432"]);
        let way = list.way("localhost", 5432, true).unwrap();
        assert!(list.addresses(&way).unwrap_err().contains("--allow"));
        let list = allowed(&["localhost:5432", "127.0.0.1:5432", "[::1]:5432"]);
        assert!(!list.addresses(&way).unwrap().is_empty());
        for within in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2001::1",
        ] {
            assert!(!is_public(within.parse().unwrap()), "{within}");
        }
        for public in ["1.1.1.1", "140.82.112.3", "172.32.0.1", "2606:4700::1111", "2a04:4e42::223", "64:ff9b::101:101"]
        {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn where_many_hosts_share_an_address_the_right_one_is_to_be_named() {
        let allowed = allowed(&["other.org:8443", "127.0.0.1:443"]);
        let named = |host: &str, port, tunnel| allowed.way(host, port, tunnel).unwrap().named;
        assert!(named("registry.npmjs.org", 443, true));
        assert!(!named("registry.npmjs.org", 80, false) && !named("other.org", 8443, true));
        assert!(!named("127.0.0.1", 443, true));
    }
}
