//! Letters: orders of the owner and words of peers from a golem's inbox, and money from the treasury.

use golem::clade::Parcel;
use golem::policy::Refusal;
use golem::{Command, CommandId, Usdc, What, grimoire, hex};
use tracing::info;

use super::listener::Listener;
use super::living::Living;
use super::siblings::is_outdated;
use crate::Error;
use crate::home::inbox::{self, Body, Letter, Reply};

impl Living {
    /// Answers letters that were written before the death was known; nothing of its life is touched.
    pub fn turn_away_letters(&self) {
        if self.life().is_dead() {
            for (path, _) in inbox::waiting(&self.body.place.inbox(), |_| true).unwrap_or_default() {
                let _ = inbox::answer(self.body.runtime.signals(), &path, &Reply::Dead(self.cause()));
            }
        }
    }

    /// The id of an order without a letter: it follows from where the life has got to, so that the same order,
    /// given again after a crash, is the same.
    pub(super) fn own_id(&self) -> CommandId {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"bardo own order").update(&self.life().id().0).update(&self.golem.seq().to_le_bytes());
        CommandId(hasher.finalize().as_bytes()[..8].try_into().expect("eight of thirty-two"))
    }

    /// Takes in the owner's letters and money since the last look.
    pub fn look_into_inbox(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        if let (false, Some(reason)) =
            (self.life().heartbeat().frozen || self.life().is_dead(), self.body.place.frozen())
        {
            self.obey(self.own_id(), Command::Freeze { reason }, listener)?;
        }
        self.take_money(listener)?;
        self.look_into_mail(listener)?;
        if !self.body.digested.is_empty() {
            self.body.put_off.clear();
        }
        let put_off = std::mem::take(&mut self.body.put_off);
        let waiting = inbox::waiting(&self.body.place.inbox(), |path| !put_off.contains(path))?;
        self.body.put_off = put_off;
        let news = waiting.iter().filter_map(|(_, letter)| match &letter.body {
            Body::News(parcel) => Some(parcel.clone()),
            _ => None,
        });
        let news: Vec<Parcel> = news.filter(|parcel| parcel.lines.is_empty()).collect();
        for (path, letter) in waiting {
            let order = order_of(&letter.body);
            let letter = match letter {
                Letter { id, body: Body::News(parcel) } if parcel.is_sound() && !is_outdated(&parcel, &news) => {
                    self.hear_letter(path, id, parcel, listener)?;
                    continue;
                }
                Letter { body: Body::News(_), .. } => {
                    inbox::discard(&path)?;
                    continue;
                }
                letter => letter,
            };
            let reply = match letter.check() {
                Ok(()) => self.heed(letter, listener)?,
                Err(why) => Reply::Refused(why),
            };
            inbox::answer(self.body.runtime.signals(), &path, &reply)?;
            if let Some(order) = order {
                let golem = self.body.place.name.as_str();
                match &reply {
                    Reply::Done => info!(golem, order, "obeyed"),
                    Reply::Refused(why) => info!(golem, order, why, "declined"),
                    Reply::Dead(_) => info!(golem, order, why = "it is dead", "declined"),
                }
            }
        }
        self.body.digested.clear();
        Ok(())
    }

    /// Does what a letter says, durably.
    fn heed(&mut self, letter: Letter, listener: &mut impl Listener) -> Result<Reply, Error> {
        match letter.body {
            Body::Fund { credit, capital } => self.fund(letter.id, credit, capital, listener),
            Body::Command(command) => self.obey(letter.id, command, listener),
            Body::Remember { text } => self.remember(&text, listener),
            Body::CatchUp => self.body.writing.carry_over(&self.body.place).map(|()| Reply::Done),
            Body::News(_) => unreachable!("peers are heard elsewhere"),
        }
    }

    /// Takes what the treasury has sent, in order, each once.
    pub fn take_money(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        let sent = self.body.treasury().undelivered(self.life().id(), self.life().transfers_taken())?;
        for sent in sent {
            let what = What::Funded { transfer: sent.number, credit: sent.credit, capital: sent.capital };
            self.feed(self.life().now(), what, listener)?;
        }
        self.flush(listener)?;
        self.perform(listener)
    }

    /// Obeys or refuses one command, durably.
    pub fn obey(&mut self, id: CommandId, command: Command, listener: &mut impl Listener) -> Result<Reply, Error> {
        // An order dated in the future is taken as of now, wherever the last look was.
        let timed = self.is_wall() && command.is_agents();
        let now = if timed { self.wall_time().max(self.life().now()) } else { self.life().now() };
        self.feed(now, What::Commanded { id, command }, listener)?;
        self.flush(listener)?;
        self.perform(listener)?;
        // Also true of a command that was obeyed or declined before, and whose answer got lost.
        let declined = self.life().commands().iter().find(|(known, _)| *known == id).and_then(|(_, rule)| *rule);
        Ok(match declined {
            None => Reply::Done,
            Some(Refusal::Dead) => Reply::Dead(self.cause()),
            Some(rule) => Reply::Refused(rule.to_string()),
        })
    }

    /// Takes in a text that its agent wants it to remember: in quarantine, like everything that comes from outside.
    pub(crate) fn remember(&mut self, text: &str, listener: &mut impl Listener) -> Result<Reply, Error> {
        if self.life().is_dead() {
            return Ok(Reply::Dead(self.cause()));
        }
        let line = grimoire::bundle::noted(text, self.life());
        let line = serde_json::to_string(&line).expect("a line is plain data");
        let told = self.take_in_as(&[&line], grimoire::How::Agent, listener)?;
        Ok(match told.into_iter().next() {
            Some(Err(why)) => Reply::Refused(why.to_string()),
            _ => Reply::Done,
        })
    }

    /// Takes money out of the treasury and in, once for each letter. Only the process that holds the lock may: money is
    /// never on its way to a life that cannot take it.
    pub fn fund(
        &mut self,
        letter: CommandId,
        credit: Usdc,
        capital: Usdc,
        listener: &mut impl Listener,
    ) -> Result<Reply, Error> {
        self.take_money(listener)?;
        let life = self.life();
        if life.is_dead() {
            return Ok(Reply::Dead(self.cause()));
        }
        let most = |given: Usdc, more: Usdc| given.checked_add(more).is_none_or(|sum| sum > Usdc::MOST);
        if most(life.purse().given, credit) || most(life.capital().given, capital) {
            return Ok(Reply::Refused(format!("no golem may ever be given more than {}", Usdc::MOST)));
        }
        let letter = hex::encode(&letter.0);
        let (id, taken) = (life.id(), life.transfers_taken());
        let sent = self.body.treasury().send_for(Some(&letter), id, taken, credit, capital);
        match sent {
            Ok(_) => {}
            Err(short @ vault::Error::TreasuryShort { .. }) => return Ok(Reply::Refused(short.to_string())),
            Err(other) => return Err(other.into()),
        }
        self.take_money(listener)?;
        Ok(Reply::Done)
    }
}

/// The name of an order in the log, without anything the owner wrote in it.
fn order_of(body: &Body) -> Option<&'static str> {
    Some(match body {
        Body::Fund { .. } => "fund",
        Body::Remember { .. } => "remember",
        Body::Command(command) => command.name(),
        Body::News(_) | Body::CatchUp => return None,
    })
}
