//! The venue of one golem, opened from a chain.json, and the host's errors for those of the chain.

use std::path::Path;

use chain::signer::{Key, Program, Signer};
use chain::site::Site;
use chain::venue::Venue;
use shell::Error;

/// An error of the chain as one of the host, by the caller's reaction.
pub(crate) fn said(error: chain::Error) -> Error {
    match error {
        chain::Error::Io { what, path, source } => Error::Io { what, path, source },
        chain::Error::Refused(why) => Error::Refused(format!("the signer refuses: {why}")),
        chain::Error::Away(_) | chain::Error::Split(_) => Error::Host(error.to_string()),
        chain::Error::Said(_) | chain::Error::Wrong(_) => Error::Usage(error.to_string()),
    }
}

/// Opens the venue for this golem, with its key and outbox in its own folder.
pub(crate) fn open(site: &Site, whose: &str, own: &Path) -> Result<Venue, chain::Error> {
    let signer: Box<dyn Signer> = if site.signer.is_empty() {
        Box::new(Key::kept(&own.join("key"), site.list())?)
    } else {
        Box::new(Program::start(&site.signer)?)
    };
    Venue::open(site.place.clone(), site.chain()?, signer, whose, &own.join("outbox"))
}
