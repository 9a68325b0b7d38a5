//! A golem and the others of its home: words it tells them, by letter or across a host's mail, and words it hears of
//! them.

use std::path::PathBuf;

use golem::clade::{News, Parcel};
use golem::grimoire::Grimoire;
use golem::{CommandId, Life};
use vault::{Batch, Glance, Head, Reader, Seal};

use super::body::Body;
use super::desk::Desk;
use super::listener::Listener;
use super::living::Living;
use crate::Error;
use crate::home::GolemHome;
use crate::home::inbox::{self, Body as Text, Letter};
use crate::home::signals::Signals;

/// The most siblings that a golem speaks to, and looks to for words it has missed.
const PEERS: usize = 32;

impl Body {
    /// A word to every living golem of the same home. Told twice after a crash, it is the same word.
    pub(super) fn tell_peers(&mut self, life: &Life, number: u64, news: News) -> Result<u32, Error> {
        let known = match (news, &self.grimoire) {
            (News::Knowledge { .. }, None) => Some(self.known()?),
            _ => None,
        };
        let entries = known.as_ref().or(self.grimoire.as_ref()).into_iter().flat_map(Grimoire::entries);
        let parcel = Parcel::of(life, entries, number, news);
        self.say_afar(&parcel)?;
        // A death is the one word that the teller cannot be asked for again, so it is written down for each of them.
        if let Some((desk, name)) = self.writing.lodged().filter(|_| news != News::Death) {
            return Ok(desk.mail.send(name, &desk.board.after(name, PEERS), parcel));
        }
        // A neighbour that cannot be read or written to is its owner's to see to; nothing here waits for it.
        let told = self.peers()?.iter().filter(|peer| write_to(self.runtime.signals(), peer, &parcel).is_ok()).count();
        Ok(told as u32)
    }

    /// Tells siblings elsewhere too, once: the word is in the host's book before anything else happens, and sent from
    /// there.
    fn say_afar(&self, parcel: &Parcel) -> Result<(), Error> {
        let Some((desk, name)) = self.writing.lodged() else { return Ok(()) };
        let Some(store) = &desk.river else { return Ok(()) };
        let bring = |rows| desk.bring(Batch { river: rows, ..Batch::default() });
        store.say(name, parcel, desk.now_ms(), bring).map_or(Ok(()), |brought| desk.wait(brought))
    }

    /// Tells siblings elsewhere what it told here while no host was up.
    fn say_rest_afar(&mut self, life: &Life) -> Result<(), Error> {
        let said = |(desk, _): (&Desk, _)| desk.river.as_ref().map(|store| store.said(life.id()));
        let Some(said) = self.writing.lodged().and_then(said).filter(|said| *said < life.clade().taught) else {
            return Ok(());
        };
        let known = self.known()?;
        Parcel::since(life, known.entries(), said).map_or(Ok(()), |parcel| self.say_afar(&parcel))
    }

    /// The living of the same home; of very many, the next few by name.
    fn peers(&self) -> Result<Vec<GolemHome>, Error> {
        let (home, me) = (self.place.home(), &self.place.name);
        if let Some((desk, name)) = self.writing.lodged() {
            return Ok(desk.board.after(name, PEERS).iter().filter_map(|name| home.golem(name).ok()).collect());
        }
        let lives = |place: &GolemHome| {
            let known = Glance::read(&place.vault()).map(|glance| (glance.id, glance.dead));
            let woken = || {
                let (golem, _) = Reader::open(&place.database()).and_then(|reader| reader.wake()).ok()?;
                Some((golem.life().id(), golem.life().is_dead()))
            };
            known.or_else(woken).is_some_and(|(id, dead)| {
                !dead && Head::peek(&home.heads(), id).is_some_and(|head| head.seal == Seal::Open)
            })
        };
        let (later, earlier): (Vec<_>, Vec<_>) = home.list()?.into_iter().partition(|place| place.name > *me);
        let others = later.into_iter().chain(earlier).filter(|place| place.name != *me);
        Ok(others.filter(lives).take(PEERS).collect())
    }

    /// Words of siblings that wait to be heard.
    fn waiting(&self) -> Result<Vec<Parcel>, Error> {
        let held = self.writing.lodged().map(|(desk, name)| desk.mail.waiting(name)).unwrap_or_default();
        let written =
            inbox::waiting(&self.place.inbox(), |_| true)?.into_iter().filter_map(|(_, letter)| match letter.body {
                Text::News(parcel) => Some(parcel),
                _ => None,
            });
        Ok(written.chain(held.iter().map(|parcel| Parcel::clone(parcel))).collect())
    }

    /// Findings that siblings have told since the last round.
    pub(super) fn taught(&mut self, life: &Life) -> Result<Vec<Parcel>, Error> {
        if !self.caught_up {
            self.say_rest_afar(life)?;
        }
        self.catch_up(life);
        Ok(self.waiting()?.into_iter().filter(|parcel| !parcel.lines.is_empty()).collect())
    }

    /// Reads in its siblings' own records what they told while it was not here to hear.
    fn catch_up(&mut self, life: &Life) {
        let told_since = |place: &GolemHome, heard: u64| {
            let reader = Reader::open(&place.database()).ok()?;
            let (golem, entries) = (reader.wake().ok()?.0, reader.entries().ok()?);
            Parcel::since(golem.life(), entries.iter(), heard)
        };
        if let Some((desk, name)) = self.writing.lodged() {
            for (peer, id, taught) in desk.mail.missed(name, &desk.board.before(name, PEERS)) {
                let heard = life.clade().heard_of(id).taught;
                if let (true, Ok(place)) = (taught > heard, self.place.home().golem(&peer))
                    && let Some(parcel) = told_since(&place, heard)
                {
                    desk.mail.put(name, parcel);
                }
            }
        } else if !self.caught_up && life.clade().heard.is_empty() {
            // By letter nothing is missed but what was told before it was born.
            for peer in &self.peers().unwrap_or_default() {
                if let Some(parcel) = told_since(peer, 0) {
                    let _ = write_to(self.runtime.signals(), &self.place, &parcel);
                }
            }
        }
        self.caught_up = true;
    }
}

impl Living {
    /// Hears what waits for it at the host's mail.
    pub(super) fn look_into_mail(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        let held = self.body.writing.lodged().map(|(desk, name)| desk.mail.waiting(name)).unwrap_or_default();
        // Findings of one teller are heard in its order: a later word that is done before an earlier one would hide,
        // after a kill, what was still to come of that.
        let mut unfinished = Vec::new();
        for parcel in &held {
            if unfinished.contains(&parcel.from) && !parcel.lines.is_empty() {
                continue;
            }
            let rest = if is_outdated(parcel, held.iter().map(|other| &**other)) {
                Some(Vec::new())
            } else {
                self.hear_word(parcel, listener)?
            };
            if rest.as_ref().is_none_or(|rest| !rest.is_empty()) {
                unfinished.push(parcel.from);
            }
            if let (Some(rest), Some((desk, name))) = (rest, self.body.writing.lodged()) {
                desk.mail.heard(name, parcel, rest);
            }
        }
        Ok(())
    }

    /// Hears a sibling's letter.
    pub(super) fn hear_letter(
        &mut self,
        path: PathBuf,
        id: CommandId,
        parcel: Parcel,
        listener: &mut impl Listener,
    ) -> Result<(), Error> {
        match self.hear_word(&parcel, listener)? {
            None => {
                self.body.put_off.insert(path);
                Ok(())
            }
            Some(rest) if rest.is_empty() => inbox::discard(&path),
            Some(rest) => inbox::leave_rest(&path, &Letter { id, body: Text::News(Parcel { lines: rest, ..parcel }) }),
        }
    }

    /// Hears a word of a sibling's. Its findings are tried with the next round, as many as an hour lets in; the
    /// word is heard when all of it has been. None if it is to wait for that; otherwise those lines that still are.
    fn hear_word(&mut self, parcel: &Parcel, listener: &mut impl Listener) -> Result<Option<Vec<String>>, Error> {
        if !parcel.lines.is_empty() && self.life().digests() {
            let this =
                |((from, number), _): &((golem::GolemId, u64), _)| (*from, *number) == (parcel.from, parcel.number);
            let Some(at) = self.body.digested.iter().position(this) else { return Ok(None) };
            let (_, rest) = self.body.digested.remove(at);
            if !rest.is_empty() {
                return Ok(Some(rest));
            }
        }
        self.feed(self.life().now(), parcel.heard_in(&self.life().birth().world), listener)?;
        self.flush(listener)?;
        Ok(Some(Vec::new()))
    }
}

/// News of how a world turned: only the newest word of each teller counts.
pub(super) fn is_outdated<'a>(parcel: &Parcel, others: impl IntoIterator<Item = &'a Parcel>) -> bool {
    let turn = |one: &Parcel| matches!(one.news, News::Regime { .. });
    turn(parcel) && others.into_iter().any(|one| turn(one) && one.from == parcel.from && one.number > parcel.number)
}

/// A letter that is the same however often it is sent.
fn write_to(signals: &Signals, peer: &GolemHome, parcel: &Parcel) -> Result<PathBuf, Error> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&parcel.from.0).update(&parcel.number.to_le_bytes());
    let id = CommandId(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"));
    inbox::send_by(signals, peer, id, Text::News(parcel.clone()))
}
