//! A chain as it was written down, opened for one golem, and what it says if that does not go.

use std::path::Path;

use chain::signer::{Key, Program, Signer};
use chain::site::Site;
use chain::venue::Venue;
use shell::Error;

/// What the chain says in its own words.
pub(crate) fn said(error: chain::Error) -> Error {
    match error {
        chain::Error::Io { what, path, source } => Error::Io { what, path, source },
        chain::Error::Refused(why) => Error::Refused(format!("the signer refuses: {why}")),
        chain::Error::Away(_) | chain::Error::Split(_) => Error::Host(error.to_string()),
        chain::Error::Said(_) | chain::Error::Wrong(_) => Error::Usage(error.to_string()),
    }
}

/// Where this golem acts; its own folder is this.
pub(crate) fn open(site: &Site, whose: &str, own: &Path) -> Result<Venue, chain::Error> {
    let signer: Box<dyn Signer> = if site.signer.is_empty() {
        Box::new(Key::kept(&own.join("key"), site.list())?)
    } else {
        Box::new(Program::start(&site.signer)?)
    };
    Venue::open(site.place.clone(), site.chain()?, signer, whose, &own.join("outbox"))
}
