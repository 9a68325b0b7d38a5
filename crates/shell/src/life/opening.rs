//! Opening a life: under its lock, or at a host's desk, and complete with what it was born to have.

use std::fs;
use std::sync::{Arc, Mutex};

use golem::Command;
use golem::Endowment;
use golem::grimoire::How;
use vault::lines::HeirOf;
use vault::{Notice, Vault};

use super::desk::Desk;
use super::listener::Silent;
use super::living::Living;
use super::writing::{Lodging, Writing};
use crate::home::GolemHome;
use crate::legacy::bundle;
use crate::{Error, Runtime};

/// Entries of an inheritance taken in one round.
const AT_ONCE: usize = 200;

impl Living {
    /// Takes the life's lock and wakes it.
    pub fn open(runtime: &Arc<Runtime>, place: GolemHome, snapshot_every: u64) -> Result<(Living, Vec<Notice>), Error> {
        let treasury = Arc::new(Mutex::new(place.home().treasury()?));
        place.must_not_lodge()?;
        let (mut vault, mut golem, notices) = Vault::open(&place.vault(), snapshot_every)?;
        // Under the lock it is certain: a host that starts now will find it taken.
        place.must_not_lodge()?;
        vault.retain(runtime.retention());
        runtime.reclaim(&mut vault, &mut golem)?;
        let mut living = Living::awake(runtime, place, Writing::Own(Box::new(vault)), golem, treasury)?;
        living.complete()?;
        Ok((living, notices))
    }

    /// Takes the life's lock and wakes it, whatever the treasury says of it: its owner is about to set that right.
    pub(crate) fn open_as_it_is(runtime: &Arc<Runtime>, place: GolemHome) -> Result<Living, Error> {
        let treasury = Arc::new(Mutex::new(place.home().treasury()?));
        let (vault, golem, _) = Vault::open(&place.vault(), 1)?;
        Living::wake(runtime, place, Writing::Own(Box::new(vault)), golem, treasury)
    }

    /// Wakes a life at a host's desk. Its own file has everything, and no other process may run it.
    pub fn lodge(place: GolemHome, desk: &Arc<Desk>) -> Result<Living, Error> {
        let (vault, golem, _) = Vault::open(&place.vault(), 1)?;
        let lodging = Lodging::new(Arc::clone(desk), &place.name, &golem, vault.tip());
        drop(vault);
        let treasury = Arc::clone(&desk.treasury);
        let mut living = Living::awake(&desk.runtime, place, Writing::Lodged(lodging), golem, treasury)?;
        living.complete()?;
        Ok(living)
    }

    fn complete(&mut self) -> Result<(), Error> {
        self.complete_birth()?;
        self.complete_inheritance()
    }

    /// Completes a birth with its first money, if it was cut short before. An automatic heir
    /// whose line was ended meanwhile gets none, and never lives.
    fn complete_birth(&mut self) -> Result<(), Error> {
        if self.life().transfers_taken() > 0 || self.life().is_dead() {
            return Ok(());
        }
        let birth = &self.life().birth();
        let (id, Endowment { credit, capital }) = (birth.id, birth.endowment);
        let heir_of = birth.lineage.as_ref().map(|line| HeirOf { parent: line.parent, by_itself: line.by_itself });
        if !self.body.treasury().has_sent(id)? {
            let given = self.body.treasury().endow(id, heir_of, credit, capital);
            match given {
                Ok(_) => {}
                Err(why @ (vault::Error::LineEnded | vault::Error::HasHeir)) => {
                    let halt = Command::Halt { trigger: why.to_string() };
                    return self.obey(self.own_id(), halt, &mut Silent).map(|_| ());
                }
                Err(other) => return Err(other.into()),
            }
        }
        self.take_money(&mut Silent)
    }

    /// Takes in its inheritance, if it has not yet: entries it knows already are refused, so being cut short
    /// costs nothing but the time.
    fn complete_inheritance(&mut self) -> Result<(), Error> {
        let path = self.body.place.inheritance();
        if self.life().is_dead() || !path.exists() {
            return Ok(());
        }
        let left = bundle::open(self.body.place.home(), &path)?;
        let lines: Vec<String> =
            left.lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data")).collect();
        let how = if left.stranger { How::Purchased } else { How::Inherited };
        for some in lines.chunks(AT_ONCE) {
            self.take_in(&some.iter().map(String::as_str).collect::<Vec<_>>(), how)?;
        }
        fs::rename(&path, self.body.place.inherited()).map_err(Error::io("cannot move", &path))
    }
}
