//! One connection of a program's to where it may go: by `CONNECT`, or by a plain request that is passed on as its host takes it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use super::allowed::{Allowed, AllowedHost};
use super::hello::{self, Hello};

/// The longest head of a request.
const HEAD: usize = 32 << 10;
/// How long a client may take to say what it wants.
const SAID: Duration = Duration::from_secs(30);
/// How long a host may take to be reached, at each of its addresses.
const REACHED: Duration = Duration::from_secs(10);
/// Headers that are between a client and a proxy alone.
const BETWEEN: [&str; 6] = ["connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te"];

/// A client's request to a proxy.
#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest {
    host: String,
    port: u16,
    /// The head as its host takes it; none for a tunnel.
    head: Option<String>,
}

/// Sees to one connection until it ends. What it asked for and did not get, and why.
pub(super) fn serve(mut client: TcpStream, allowed: &Allowed) -> Result<(), String> {
    let Some((head, early)) = heard(&mut client) else { return Ok(()) };
    let Some(asked) = asked(&head) else {
        refuse(&mut client, "400 Bad Request", "this is a proxy, and that is not a request to a proxy");
        return Ok(());
    };
    let way = match allowed.way(&asked.host, asked.port, asked.head.is_none()) {
        Ok(way) => way,
        Err(why) => {
            refuse(&mut client, "403 Forbidden", &why);
            return Err(why);
        }
    };
    let addresses = match allowed.addresses(&way) {
        Ok(addresses) => addresses,
        Err(why) => {
            refuse(&mut client, "502 Bad Gateway", &why);
            return Err(why);
        }
    };
    let reached = addresses.iter().find_map(|at| TcpStream::connect_timeout(at, REACHED).ok());
    let Some(mut server) = reached else {
        refuse(&mut client, "502 Bad Gateway", &format!("{} cannot be reached", way.host));
        return Ok(());
    };
    match &asked.head {
        Some(head) => {
            if server.write_all(head.as_bytes()).and_then(|()| server.write_all(&early)).is_ok() {
                pass(client, server);
            }
        }
        None => tunnel(client, server, &way, early)?,
    }
    Ok(())
}

fn tunnel(mut client: TcpStream, mut server: TcpStream, way: &AllowedHost, mut early: Vec<u8>) -> Result<(), String> {
    if client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").is_err() {
        return Ok(());
    }
    if way.named {
        loop {
            match hello::read(&early) {
                Hello::More if more(&mut client, &mut early) => {}
                Hello::More => return Ok(()),
                Hello::Wants(host) if host == way.host => break,
                Hello::Wants(host) => {
                    return Err(format!("the connection was asked for {}, but TLS in it names {host}", way.host));
                }
                Hello::Unnamed => {
                    return Err(format!("the connection was asked for {}, but no TLS in it names that host", way.host));
                }
            }
        }
    }
    if server.write_all(&early).is_ok() {
        pass(client, server);
    }
    Ok(())
}

/// The head of a request, and what came with it.
fn heard(client: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    client.set_read_timeout(Some(SAID)).ok()?;
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() > HEAD || !more(client, &mut bytes) {
            return None;
        }
    };
    let early = bytes.split_off(end);
    Some((String::from_utf8(bytes).ok()?, early))
}

/// Reads the next bytes of the client; false if none come.
fn more(client: &mut TcpStream, bytes: &mut Vec<u8>) -> bool {
    let mut piece = [0; 4096];
    match client.read(&mut piece) {
        Ok(length @ 1..) => {
            bytes.extend_from_slice(&piece[..length]);
            true
        }
        _ => false,
    }
}

fn asked(head: &str) -> Option<ProxyRequest> {
    // A line that ends in two ways is read in two ways.
    if head.replace("\r\n", "").contains(['\r', '\n']) {
        return None;
    }
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = target.rsplit_once(':')?;
        return Some(ProxyRequest { host: host.to_owned(), port: port.parse().ok()?, head: None });
    }
    let rest = target.strip_prefix("http://")?;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, 80),
    };
    let own =
        |line: &&str| line.split_once(':').is_some_and(|(name, _)| !BETWEEN.contains(&&*name.trim().to_lowercase()));
    // One request for each connection, so that no other goes to the same place behind it.
    let slash = if path.starts_with('/') { "" } else { "/" };
    let first = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    let head = headers.split("\r\n").filter(own).fold(first, |head, line| head + line + "\r\n") + "\r\n";
    Some(ProxyRequest { host: host.to_owned(), port, head: Some(head) })
}

fn refuse(client: &mut TcpStream, status: &str, why: &str) {
    let body = format!("bardo: {why}\n");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    // Who has hung up needs no telling.
    let _ = client.write_all((head + &body).as_bytes());
}

/// Passes on what both say, until both have said it or one has hung up.
pub(super) fn pass(client: TcpStream, server: TcpStream) {
    let _ = (client.set_read_timeout(None), client.set_nodelay(true), server.set_nodelay(true));
    let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
    let up = thread::Builder::new().name("passage".into()).spawn(move || one_way(&from, &to));
    if let Ok(up) = up {
        one_way(&server, &client);
        let _ = up.join();
    }
}

fn one_way(mut from: &TcpStream, mut to: &TcpStream) {
    if io::copy(&mut from, &mut to).is_ok() {
        let _ = to.shutdown(Shutdown::Write);
    } else {
        // What is still sent the other way would reach no one.
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::commands::wrap::passage::hello::tests::hello_to;

    fn pair() -> (TcpStream, TcpStream) {
        let place = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(place.local_addr().unwrap()).unwrap();
        (near, place.accept().unwrap().0)
    }

    /// Registries and providers of models share addresses: a client that asked for one could have named the other there.
    #[test]
    fn nothing_is_passed_on_to_a_host_before_it_is_named() {
        let way = AllowedHost { host: "registry.npmjs.org".to_owned(), port: 443, named: true };
        let through = |said: &[u8]| {
            let ((mut client, near), (server, mut far)) = (pair(), pair());
            client.write_all(said).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            far.shutdown(Shutdown::Write).unwrap();
            let ended = tunnel(near, server, &way, Vec::new());
            let mut heard = Vec::new();
            far.read_to_end(&mut heard).unwrap();
            (ended, heard)
        };
        let right = [&hello_to("Registry.NPMJS.org")[..], b"and more"].concat();
        assert_eq!(through(&right), (Ok(()), right.clone()));
        for (said, word) in [
            (hello_to("api.openai.com"), "api.openai.com"),
            (b"GET / HTTP/1.1\r\nHost: api.openai.com\r\n\r\n".to_vec(), "TLS"),
        ] {
            let (ended, heard) = through(&said);
            assert!(ended.unwrap_err().contains(word) && heard.is_empty(), "{word}");
        }
    }

    #[test]
    fn what_is_asked_of_a_proxy_is_read_and_a_host_is_told_what_it_is_asked() {
        let tunnel = |text: &str| asked(&format!("CONNECT {text} HTTP/1.1\r\nHost: other\r\n\r\n"));
        let found = tunnel("pypi.org:443").unwrap();
        assert_eq!((found.host.as_str(), found.port, found.head), ("pypi.org", 443, None));
        assert_eq!(tunnel("[::1]:443").unwrap().host, "[::1]");
        let plain = "GET http://deb.debian.org/debian/x?y=1 HTTP/1.1\r\nHost: api.openai.com\r\nAccept: a\r\n\
                     Proxy-Connection: keep-alive\r\nproxy-authorization: Basic x\r\nConnection: keep-alive\r\n\r\n";
        let found = asked(plain).unwrap();
        assert_eq!((found.host.as_str(), found.port), ("deb.debian.org", 80));
        assert_eq!(
            found.head.unwrap(),
            "GET /debian/x?y=1 HTTP/1.1\r\nHost: deb.debian.org\r\nConnection: close\r\nAccept: a\r\n\r\n"
        );
        let bare = asked("GET http://[::1]:81?a HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((bare.host.as_str(), bare.port), ("[::1]", 81));
        assert!(bare.head.unwrap().starts_with("GET /?a HTTP/1.1\r\nHost: [::1]:81\r\n"));
        for wrong in [
            "GET / HTTP/1.1",
            "CONNECT pypi.org HTTP/1.1",
            "CONNECT pypi.org:x HTTP/1.1",
            "x",
            "GET ftp://x/ HTTP/1.1",
            "GET http://pypi.org/ HTTP/1.1\r\nA: b\nHost: other",
        ] {
            assert_eq!(asked(&format!("{wrong}\r\n\r\n")), None, "{wrong}");
        }
    }
}
