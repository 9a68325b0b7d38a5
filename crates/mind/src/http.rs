//! Clients of HTTP, made in one place: the TLS of the process is chosen before one is built, which would fall over without it, and
//! no redirect is followed, since what is sent belongs to the address its owner named.

use reqwest::redirect::Policy;

/// The name of this program where servers ask who calls.
pub const AGENT: &str = concat!("bardo/", env!("CARGO_PKG_VERSION"));

/// Chooses the TLS of this process; one that was chosen before stays.
pub fn choose_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client whose caller waits for each answer.
pub fn blocking() -> reqwest::blocking::ClientBuilder {
    choose_tls();
    reqwest::blocking::Client::builder().redirect(Policy::none())
}

/// A client for asynchronous callers.
pub fn client() -> reqwest::ClientBuilder {
    choose_tls();
    reqwest::Client::builder().redirect(Policy::none())
}
