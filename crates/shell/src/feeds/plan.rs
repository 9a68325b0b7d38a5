//! The plan for following a series, as its owner wrote it: one file beside each series.

use std::fs;
use std::path::{Path, PathBuf};

use golem::Name;
use golem::time::Span;
use serde::{Deserialize, Serialize};

use super::venue::Venue;
use crate::home::Home;
use crate::{Error, durable};

const SUFFIX: &str = ".follow.json";

/// A plan: the sources of one series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub name: Name,
    pub bar_ms: u64,
    pub first: Source,
    /// The source to ask while the first does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<Source>,
    /// The beginning, in seconds since the epoch, if the venue goes back that far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
}

/// A market of a venue's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub venue: Venue,
    pub product: String,
    /// Another address with the same interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl Source {
    pub fn address(&self) -> &str {
        self.address.as_deref().unwrap_or(self.venue.address()).trim_end_matches('/')
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.product, self.venue)
    }
}

impl Plan {
    pub fn bar(&self) -> Span {
        Span::millis(self.bar_ms)
    }

    /// The file of the series.
    pub fn file(&self, home: &Home) -> PathBuf {
        home.data().join(format!("{}.csv", self.name))
    }

    pub fn read(home: &Home, name: &str) -> Result<Option<Plan>, Error> {
        read(&home.data().join(format!("{name}{SUFFIX}")))
    }

    pub fn write(&self, home: &Home) -> Result<(), Error> {
        self.check()?;
        let text = serde_json::to_string_pretty(self).expect("plain data") + "\n";
        durable::write(&home.data().join(format!("{}{SUFFIX}", self.name)), text.as_bytes())
    }

    /// Ends the following of a series, whose candles stay.
    pub fn remove(home: &Home, name: &Name) -> Result<(), Error> {
        let path = home.data().join(format!("{name}{SUFFIX}"));
        fs::remove_file(&path).map_err(Error::io("cannot remove", &path))
    }

    pub fn list(home: &Home) -> Result<Vec<Plan>, Error> {
        let Ok(entries) = fs::read_dir(home.data()) else { return Ok(Vec::new()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.to_string_lossy().ends_with(SUFFIX));
        paths.sort();
        paths.iter().filter_map(|path| read(path).transpose()).collect()
    }

    /// Checks whether the plan can be followed, as far as that shows without asking a venue.
    pub fn check(&self) -> Result<(), Error> {
        for source in [Some(&self.first), self.second.as_ref()].into_iter().flatten() {
            let Source { venue, product, address } = source;
            let seconds = self.bar_ms / 1_000;
            if !self.bar_ms.is_multiple_of(1_000) || !venue.intervals().contains(&seconds) {
                let lengths: Vec<String> = venue.intervals().iter().map(|s| Span::seconds(*s).to_string()).collect();
                let lengths = lengths.join(", ");
                return Err(Error::Usage(format!("{venue} has no bars of {}; it has {lengths}", self.bar())));
            }
            // The product becomes part of an address.
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
            if product.is_empty() || product.len() > 40 || !product.chars().all(plain) {
                return Err(Error::Usage(format!("{product:?} cannot be a market's name at a venue")));
            }
            let known = |address: &String| address.starts_with("http://") || address.starts_with("https://");
            if address.as_ref().is_some_and(|address| !known(address)) {
                return Err(Error::Usage("an address must begin with https:// or http://".into()));
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<Plan>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(other) => return Err(Error::io("cannot read", path)(other)),
    };
    let plan: Result<Plan, _> = serde_json::from_str(&text);
    let plan =
        plan.map_err(|why| Error::Damaged(format!("{} is not a plan to follow a series: {why}", path.display())))?;
    plan.check()?;
    Ok(Some(plan))
}

/// Whether the series of this name is followed.
pub fn is_followed(home: &Home, name: &str) -> bool {
    name.parse::<Name>().is_ok() && Plan::read(home, name).is_ok_and(|plan| plan.is_some())
}
