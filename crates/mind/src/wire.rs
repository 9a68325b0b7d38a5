//! One way to ask a server: one request, one bounded answer. No redirect is followed, since a key belongs to one
//! address, and nothing is tried twice: the caller knows best whether to wait.

use std::error::Error as _;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, Response};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use serde::Serialize;
use tariff::Address;
use tariff::printable;

use crate::answer::complaint;
use crate::key::ApiKey;
use crate::{Error, http};

/// How long to wait for a connection; a server that exists accepts one sooner.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest wait that a server's `Retry-After` is believed for.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3_600);

/// How a key is shown to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// `Authorization: Bearer …`
    Bearer,
    /// `x-api-key: …`
    ApiKey,
}

/// One address of one server, and one model there.
#[derive(Debug)]
pub(crate) struct Wire {
    address: Address,
    model: String,
    key: Option<(ApiKey, Shows)>,
    timeout: Duration,
    /// The longest answer that is read.
    most: usize,
    client: Client,
}

impl Wire {
    pub(crate) fn open(
        address: Address,
        model: &str,
        key: Option<(ApiKey, Shows)>,
        timeout: Duration,
        most: usize,
    ) -> Result<Wire, Error> {
        let client = client(&address, timeout)?;
        Ok(Wire { address, model: model.to_owned(), key, timeout, most, client })
    }

    pub(crate) fn url(&self) -> String {
        self.address.url.to_string()
    }

    /// The body of a successful answer, bounded in bytes and in time.
    pub(crate) fn post(
        &self,
        body: &impl Serialize,
        headers: &[(HeaderName, HeaderValue)],
        most: Duration,
    ) -> Result<Vec<u8>, Error> {
        let (started, timeout) = (Instant::now(), most.min(self.timeout));
        let mut request = self.client.post(self.address.url.clone()).timeout(timeout);
        if let Some((key, shows)) = &self.key {
            request = match shows {
                Shows::Bearer => request.header(AUTHORIZATION, key.bearer()),
                Shows::ApiKey => request.header("x-api-key", key.plain()),
            };
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = request.json(body).send().map_err(|why| self.lost(&why, timeout))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = self.read(response, started, timeout)?;
        if !(200..300).contains(&status) {
            return Err(self.refused(status, &headers, &body));
        }
        if body.len() > self.most {
            return Err(self.nonsense(format!("it is longer than {} bytes", self.most)));
        }
        Ok(body)
    }

    pub(crate) fn nonsense(&self, why: String) -> Error {
        Error::Nonsense { url: self.url(), model: self.model.clone(), why: self.hidden(&why) }
    }

    /// Reads the body, or one byte more than the limit. The client restarts its timeout with every read, so a server
    /// that drips is stopped here.
    fn read(&self, mut response: Response, started: Instant, timeout: Duration) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        let mut chunk = [0; 16 << 10];
        while body.len() <= self.most {
            if started.elapsed() > timeout {
                return Err(Error::Slow { url: self.url(), waited: timeout });
            }
            match response.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => body.extend_from_slice(&chunk[..count]),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(self.cut(&why, timeout)),
            }
        }
        Ok(body)
    }

    /// The error for a request that did not get through, or that got no beginning of an answer.
    fn lost(&self, why: &reqwest::Error, waited: Duration) -> Error {
        if why.is_timeout() && !why.is_connect() {
            return Error::Slow { url: self.url(), waited };
        }
        if why.is_connect() {
            return Error::Unreachable { url: self.url(), why: root(why) };
        }
        Error::Cut { url: self.url(), why: root(why) }
    }

    /// The error for an answer that began and did not end.
    fn cut(&self, why: &io::Error, waited: Duration) -> Error {
        match why.get_ref().and_then(|inner| inner.downcast_ref::<reqwest::Error>()) {
            Some(inner) => self.lost(inner, waited),
            None => Error::Cut { url: self.url(), why: printable(&why.to_string()) },
        }
    }

    /// A text with the key removed, in case the server repeats it.
    pub(crate) fn hidden(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |(key, _)| key.scrub(text))
    }

    fn refused(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
        let url = self.url();
        let says = self.hidden(&complaint(body));
        match status {
            300..=399 => {
                let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
                let to = self.hidden(&printable(to));
                let why = format!("({url}) redirects to {to}; give that address instead");
                Error::Config { what: "the address of the model server", why }
            }
            401 | 403 => {
                Error::Denied { url, status, variable: self.key.as_ref().map(|(key, _)| key.variable().to_owned()) }
            }
            404 => Error::Unknown { url, model: self.model.clone(), says },
            429 | 503 | 529 => Error::Busy { url, status, retry_after: retry_after(headers) },
            408 | 500.. => Error::Failed { url, status, says },
            _ => Error::Rejected { url, status, says },
        }
    }
}

fn client(address: &Address, timeout: Duration) -> Result<Client, Error> {
    let mut client = http::blocking().user_agent(http::AGENT).connect_timeout(CONNECT).timeout(timeout);
    if !address.encrypted() {
        // A machine without certificates can still talk to itself.
        client = client.tls_certs_only([]);
    }
    if address.loopback {
        client = client.no_proxy();
    }
    client.build().map_err(|why| Error::Config {
        what: "https",
        why: format!("cannot be used here ({}); install the certificates of your system", root(&why)),
    })
}

/// Reads `Retry-After` in seconds; as a date it would need a clock both sides agree on.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

/// The innermost reason. The outer ones only say that something went wrong on the way.
fn root(why: &reqwest::Error) -> String {
    let mut shown = why.to_string();
    let mut source = why.source();
    while let Some(inner) = source {
        shown = inner.to_string();
        source = inner.source();
    }
    printable(&shown)
}
