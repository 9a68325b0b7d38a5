//! The site, the place where golems act, as its owner wrote it down: one file, with nothing secret in it.

use std::path::{Path, PathBuf};

use alloy_primitives::{Address, U256};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::rpc::{Endpoints, SPAN};
use crate::signer::List;
use crate::venue::VenuePlace;

/// Test chains, on which nothing has any worth, by number.
const TESTS: [u64; 4] = [1_337, 31_337, 17_000, 11_155_111];
/// Chains with names. Others are named by their number: gas may work otherwise there, and has not been tried.
const NAMED: [(u64, &str); 1] = [(1, "ethereum")];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Endpoints of the chain, of which more than half must agree.
    pub endpoints: Vec<String>,
    pub place: VenuePlace,
    /// The owner of the purse, who gets everything in the end.
    pub owner: Address,
    /// The most that the gas of one transaction may cost, in wei.
    pub gas: U256,
    /// Blocks whose logs an endpoint gives at a time; some give as few as ten.
    #[serde(default = "span")]
    pub span: u64,
    /// Whether this is a devnet, whose node has the owner's key.
    #[serde(default)]
    pub devnet: bool,
    /// The command of a program that has the key, word by word; without one each golem has a key in its own folder.
    #[serde(default)]
    pub signer: Vec<String>,
}

fn span() -> u64 {
    SPAN
}

impl Site {
    pub fn chain(&self) -> Result<Endpoints, Error> {
        Ok(Endpoints::new(self.endpoints.clone())?.spanning(self.span))
    }

    pub fn file(folder: &Path) -> PathBuf {
        folder.join("chain.json")
    }

    pub fn read(folder: &Path) -> Result<Site, Error> {
        let path = Site::file(folder);
        let text = std::fs::read_to_string(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::Wrong(format!(
                "there is no chain.json in {}: `bardo chain devnet {0}` makes one, with a chain on this machine",
                folder.display()
            )),
            _ => Error::Io { what: "cannot read", path: path.clone(), source },
        })?;
        serde_json::from_str(&text)
            .map_err(|why| Error::Wrong(format!("{} does not describe a chain: {why}", path.display())))
    }

    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = Site::file(folder);
        let text = serde_json::to_string_pretty(self).expect("plain data") + "\n";
        std::fs::write(&path, text).map_err(|source| Error::Io { what: "cannot write", path, source })
    }

    /// The list of what may be signed here.
    pub fn list(&self) -> List {
        List { chain: self.place.chain, purse: self.place.purse, owner: self.owner, gas: self.gas }
    }

    /// Admits a test chain. A chain with real money must be allowed by name, with the most dollars that the purse may
    /// let out in a day: `ethereum=500`. Returns that limit.
    pub fn admits(&self, real: Option<&str>) -> Result<Option<u64>, Error> {
        let chain = self.place.chain;
        if TESTS.contains(&chain) {
            return match real {
                Some(_) => Err(Error::Wrong(format!("chain {chain} is for tests: there is no real money on it"))),
                None => Ok(None),
            };
        }
        let name =
            NAMED.iter().find(|(id, _)| *id == chain).map_or_else(|| chain.to_string(), |(_, name)| (*name).to_owned());
        let most = real.and_then(|real| real.strip_prefix(&name)?.strip_prefix('=')?.parse().ok());
        most.map(Some).ok_or_else(|| {
            Error::Wrong(format!(
                "chain {chain} has real money on it, and neither the purse nor this program has been audited. To use it all \
                the same, name the most dollars the purse may let out in a day: --real-money {name}=100"
            ))
        })
    }
}
