//! The host log as a reader of a home sees it, and golems as of their newest records, which may be in that log and not in
//! their own files yet.

use std::collections::BTreeSet;

use golem::{Golem, GolemId};
use vault::{Batch, Glance, Head, Log, LogLine, LogReader, Notice, Reader, Tip, Vault};

use super::place::{GolemHome, Home};
use crate::Error;

/// The group of the host log up to which a reader has verified it. A reader of many golems keeps it, so that this is done
/// once.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownTip(Option<Tip>);

/// A golem's folder with its glance and whether a process runs it, or the reason why neither can be read.
pub type GolemGlance = (GolemHome, Result<(Glance, bool), Error>);

impl Home {
    /// The host log: records that a host has written down and not carried over yet. While a host is up, the log is the
    /// host's to look after; one that was left behind is verified before any of it is believed.
    pub fn log(&self) -> Result<Option<LogReader>, Error> {
        self.log_after(&mut KnownTip::default())
    }

    /// The host log, for a reader who may have verified it before.
    pub fn log_after(&self, known: &mut KnownTip) -> Result<Option<LogReader>, Error> {
        let Some(reader) = Log::reader(self.root(), &self.heads())? else { return Ok(None) };
        if known.0 != Some(reader.tip()) && !self.is_up() {
            known.0 = Some(reader.verify()?);
        }
        Ok(Some(reader))
    }

    /// Carries records of this life, left in the log by a host that went down in haste, over into its own file.
    pub(crate) fn reclaim(&self, known: &mut KnownTip, vault: &mut Vault, golem: &mut Golem) -> Result<(), Error> {
        let Some(reader) = self.log_after(known)? else { return Ok(()) };
        let lines = reader.lines(golem.life().id())?;
        let Some(last) = lines.last() else { return Ok(()) };
        vault.catch_up(golem, &lines)?;
        let carried = vec![(golem.life().id(), last.seq)];
        match Log::open(self.root(), &self.heads(), Vec::new()) {
            Ok(mut log) => {
                log.commit(&Batch { carried, ..Batch::default() })?;
                known.0 = Some(log.tip());
                Ok(())
            }
            // The process that holds the log will do this itself; here it only saves room.
            Err(vault::Error::Locked(_)) => Ok(()),
            Err(other) => Err(other.into()),
        }
    }

    /// Every golem here at a glance, by name, and whether a process runs it.
    pub fn glances(&self) -> Result<Vec<GolemGlance>, Error> {
        let (mut ahead, mut lodgers, mut known) = (BTreeSet::new(), BTreeSet::new(), KnownTip::default());
        if let Some(log) = self.log_after(&mut known)? {
            ahead.extend(log.golems()?);
            lodgers.extend(if self.is_up() { log.lodgers()? } else { Vec::new() });
        }
        let mut look = |place: &GolemHome| -> Result<(Glance, bool), Error> {
            // If the newest records of a golem are in a host's log, its file does not know enough.
            let glance = match Glance::read(&place.vault()).filter(|glance| !ahead.contains(&glance.id)) {
                Some(glance) => glance,
                None => {
                    let (golem, _) = place.wake_after(&mut known)?;
                    Glance::of(golem.life(), golem.seq())
                }
            };
            let lived = Head::is_taken(&self.heads(), glance.id) || lodgers.contains(&glance.id);
            Ok((glance, lived))
        };
        let golems = self.list()?.into_iter();
        Ok(golems.map(|place| (look(&place), place)).map(|(seen, place)| (place, seen)).collect())
    }

    /// Records of a life that a host's log still has and its own file may lack.
    pub fn lines(&self, id: GolemId) -> Result<Vec<LogLine>, Error> {
        Ok(match self.log()? {
            Some(reader) => reader.lines(id)?,
            None => Vec::new(),
        })
    }

    /// Lets the log of a host that is down forget a life whose owner has chosen a copy instead.
    pub(crate) fn forget_lines(&self, id: GolemId) -> Result<(), Error> {
        let mut log = Log::open(self.root(), &self.heads(), Vec::new())?;
        Ok(log.commit(&Batch { carried: vec![(id, i64::MAX as u64)], ..Batch::default() })?)
    }
}

impl GolemHome {
    /// Refuses if a host that is up lives this golem.
    pub(crate) fn must_not_lodge(&self) -> Result<(), Error> {
        if self.lodges()? { Err(Error::Hosted(self.name.clone())) } else { Ok(()) }
    }

    /// The life as of its newest acknowledged record, whichever process runs it.
    pub fn wake(&self) -> Result<(Golem, Vec<Notice>), Error> {
        self.wake_after(&mut KnownTip::default())
    }

    /// The life as [`GolemHome::wake`] reads it, for a reader of many.
    pub fn wake_after(&self, known: &mut KnownTip) -> Result<(Golem, Vec<Notice>), Error> {
        let reader = Reader::open(&self.database())?;
        // The log first: what leaves it meanwhile is in the file by then.
        let lines = self.home().log_after(known)?.map_or(Ok(Vec::new()), |log| log.lines(reader.id()?))?;
        let (mut golem, tip, notices) = reader.wake_held(&self.home().heads())?;
        vault::live_on(&mut golem, tip, &lines)?;
        Ok((golem, notices))
    }

    /// Whether a process runs this golem right now.
    pub fn is_lived(&self, id: GolemId) -> bool {
        Head::is_taken(&self.home().heads(), id) || self.lodges().unwrap_or(false)
    }

    /// Whether a host that is up lives this golem.
    pub fn lodges(&self) -> Result<bool, Error> {
        if !self.home().is_up() {
            return Ok(false);
        }
        let Some(reader) = self.home().log()? else { return Ok(false) };
        Ok(reader.lodges(Reader::open(&self.database())?.id()?)?)
    }
}
