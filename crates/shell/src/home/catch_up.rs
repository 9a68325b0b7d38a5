//! Records that a running host has written down and not yet carried over are not in a golem's own file. A reader of
//! that file has them carried over first: by the host, or, without a running host, right here.

use std::sync::Arc;
use std::time::Duration;

use vault::archive::Retention;
use vault::{Reader, Vault};

use super::inbox;
use super::log::KnownTip;
use super::place::{GolemHome, Home};
use super::signals::Signals;
use crate::Error;

/// How long a host has to answer a reader.
const PATIENCE: Duration = Duration::from_secs(5);

impl Home {
    /// A golem that exists, with everything that was acknowledged of it in its own file.
    pub fn read_golem(&self, name: &str) -> Result<GolemHome, Error> {
        let place = self.golem(name)?;
        place.catch_up()?;
        Ok(place)
    }
}

impl GolemHome {
    /// Has everything that was acknowledged carried into its own file, for a reader of that file.
    pub fn catch_up(&self) -> Result<(), Error> {
        self.catch_up_after(&mut KnownTip::default())
    }

    /// Has it carried in, for a reader of many.
    pub fn catch_up_after(&self, known: &mut KnownTip) -> Result<(), Error> {
        self.catch_up_by(&Arc::default(), known)
    }

    pub(crate) fn catch_up_by(&self, signals: &Arc<Signals>, known: &mut KnownTip) -> Result<(), Error> {
        let Some(reader) = self.home().log_after(known)? else { return Ok(()) };
        if reader.lines(Reader::open(&self.database())?.id()?)?.is_empty() {
            return Ok(());
        }
        if self.lodges()? {
            let reply = inbox::send_by(signals, self, inbox::new_id(), inbox::Body::CatchUp)?;
            if inbox::await_reply_by(signals, self, &reply, PATIENCE)?.is_none() {
                return Err(Error::Busy(format!(
                    "the host does not answer, and its log has newer records of {}; stop it or try again",
                    self.name
                )));
            }
            return Ok(());
        }
        match Vault::open(&self.vault(), 1) {
            Ok((mut vault, mut golem, _)) => {
                vault.retain(self.home().retention().unwrap_or(Retention::Whole));
                self.home().reclaim(known, &mut vault, &mut golem)
            }
            // The process that runs it has reclaimed the records already.
            Err(vault::Error::Locked(_) | vault::Error::Sealed(_)) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }
}
