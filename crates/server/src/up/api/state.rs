//! The state that every request can reach, and the address and clients the API listens for.

use std::net::SocketAddr;
use std::sync::Arc;

use settings::Settings;
use shell::home::tokens::{self, Keyring};
use shell::life::desk::Desk;
use shell::orders::book::OrderBook;
use shell::{Error, Home};

use super::pools::Pools;
use crate::mcp;

/// The address to listen on, and the tokens and origins that are let in.
#[derive(Clone, Debug)]
pub struct Listen {
    pub address: SocketAddr,
    pub(super) tokens: Arc<Keyring>,
    pub(super) origins: Vec<String>,
    /// The name of the page's cookie: another in each home, because browsers send it to every port.
    pub(super) cookie: String,
    /// How many golems have series of their own in the metrics.
    pub(super) golems_shown: usize,
    /// Whether assistants may change anything.
    pub(super) changes: bool,
}

/// The state that every request can reach.
#[derive(Clone)]
pub(super) struct AppState {
    pub(super) home: Home,
    pub(super) desk: Arc<Desk>,
    pub(super) listen: Arc<Listen>,
    pub(super) book: OrderBook,
    pub(super) pools: Pools,
    pub(super) mcp: mcp::Http,
}

impl AppState {
    pub(super) fn new(desk: Arc<Desk>, listen: Listen) -> AppState {
        let home = desk.runtime.home().clone();
        let book = OrderBook::of(&desk.runtime);
        let mcp = mcp::http(&desk.runtime);
        AppState { home, desk, listen: listen.into(), book, pools: Pools::new(), mcp }
    }
}

impl Listen {
    /// Reads an address as settings have it.
    pub fn address(written: &str) -> Result<SocketAddr, Error> {
        let wrong = || Error::Usage(format!("api.listen is not an address: {written}; write it like 127.0.0.1:7373"));
        written.parse().map_err(|_| wrong())
    }

    pub fn of(home: &Home, address: &str, settings: &Settings) -> Result<Listen, Error> {
        let origins = settings.text("api.origins").unwrap_or_default();
        tokens::local(home)?;
        Ok(Listen {
            address: Listen::address(address)?,
            tokens: Arc::new(Keyring::of(home)),
            origins: origins.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect(),
            cookie: format!("bardo-{}", home.identity()?.chars().take(8).collect::<String>()),
            golems_shown: settings.integer("api.metrics_golems") as usize,
            changes: settings.flag("mcp.changes"),
        })
    }
}
