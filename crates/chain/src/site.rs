//! Where golems act, as its owner wrote it down: one file, with nothing secret in it.

use std::path::{Path, PathBuf};

use alloy_primitives::{Address, U256};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::rpc::{Endpoints, SPAN};
use crate::signer::List;
use crate::venue::Place;

/// Chains on which nothing is worth anything, by number.
const TESTS: [u64; 4] = [1_337, 31_337, 17_000, 11_155_111];
/// Chains with names. Others go by their number: what gas is there may be another matter, and has not been tried.
const NAMED: [(u64, &str); 1] = [(1, "ethereum")];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Most of them must agree.
    pub endpoints: Vec<String>,
    pub place: Place,
    /// Who has the purse, and gets everything in the end.
    pub owner: Address,
    /// The most that the gas of one transaction may cost, in wei.
    pub gas: U256,
    /// Blocks whose logs an endpoint gives at a time; some give as few as ten.
    #[serde(default = "span")]
    pub span: u64,
    /// A node of one's own, which has its owner's key and gives it away.
    #[serde(default)]
    pub devnet: bool,
    /// Another program that has the key, word by word; without one each golem has a key in its own folder.
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
        serde_json::from_str(&text).map_err(|why| Error::Wrong(format!("{} says no chain: {why}", path.display())))
    }

    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = Site::file(folder);
        let text = serde_json::to_string_pretty(self).expect("plain data") + "\n";
        std::fs::write(&path, text).map_err(|source| Error::Io { what: "cannot write", path, source })
    }

    /// What may be signed here.
    pub fn list(&self) -> List {
        List { chain: self.place.chain, purse: self.place.purse, owner: self.owner, gas: self.gas }
    }

    /// Nothing here is worth anything. Where it is, its owner has to say so by name, with the most dollars that the purse may
    /// let out in a day: `ethereum=500`. That most is what is given back.
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
                "chain {chain} has real money on it, and neither the purse nor this program has been audited. Whoever wants it all \
                 the same says so, with the most dollars the purse may let out in a day: --real-money {name}=100"
            ))
        })
    }
}
