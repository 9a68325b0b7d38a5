//! A program that carries out the orders of one golem in a pool. The key is with this program or with a signer of its
//! own, never with the golem's host.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chain::devnet::Wire;
use chain::site::Site;
use chain::venue::Venue;
use chain::{Error as Wrong, U256};
use outside::wire::{self, Answer, Ask, Effect, Hello, Manifest, Question, VERSION, Welcome};
use shell::Error;

use crate::output;
use crate::place::{open, said};

/// How long to wait before a chain that cannot be reached is asked again, in milliseconds.
const AGAIN: u64 = 2_000;
/// A devnet's purse: dollars in it, and its allowance for a day in dollars and in thousandths of an ether.
const GIVEN: u64 = 5_000;

pub(crate) fn orders(folder: &Path, real: Option<&str>) -> Result<ExitCode, Error> {
    let site = Site::read(folder).map_err(said)?;
    let most = site.admits(real).map_err(said)?;
    let mut lines = std::io::stdin().lock().lines();
    let mut heard = || lines.next().transpose().ok().flatten();
    let unreadable = |why: serde_json::Error| Error::Usage(format!("that is not a message: {why}"));
    let Some(hello) = heard() else { return Ok(ExitCode::SUCCESS) };
    let hello: Hello = serde_json::from_str(&hello).map_err(unreadable)?;
    let (Some(born), Some(whose), "orders") = (hello.world, hello.id, hello.bardo.as_str()) else {
        return Err(Error::Usage("this carries out orders: `bardo golem new NAME --data POOL --orders …`".into()));
    };
    output::json(&welcome());
    let (own, folder) = (hello.folder.into(), folder.to_owned());
    let mut program = OrderProgram { site, folder, most, born, whose, own, venue: None, last: None, astray: None };
    while let Some(line) = heard() {
        let Question { id, ask } = serde_json::from_str(&line).map_err(unreadable)?;
        if ask == Ask::Bye {
            break;
        }
        // Any fault here is the chain's, or one for the owner to mend: the golem waits, and says why.
        let answer = match program.answer(ask) {
            Ok(answer) => Answer { id, ..answer },
            Err(why) => {
                // A signer that is gone and an outbox that cannot be written are opened again.
                if matches!(why, Wrong::Wrong(_) | Wrong::Io { .. }) {
                    program.venue = None;
                }
                Answer { id, away: Some(why.to_string()), again_ms: Some(AGAIN), ..Answer::default() }
            }
        };
        output::json(&answer);
    }
    Ok(ExitCode::SUCCESS)
}

fn welcome() -> Welcome {
    let (bardo, can) = ("orders".to_owned(), Vec::new());
    Welcome { bardo, version: VERSION, can, world: None, start: None, end: None, name: None }
}

struct OrderProgram {
    site: Site,
    /// The folder of the site's file.
    folder: PathBuf,
    /// The limit in dollars a day, where they are real.
    most: Option<u64>,
    born: Manifest,
    whose: String,
    own: PathBuf,
    venue: Option<Venue>,
    /// The last number that the golem has used.
    last: Option<u64>,
    /// Why nothing may be begun, if anything; none before this process has looked for it.
    astray: Option<Option<String>>,
}

impl OrderProgram {
    fn answer(&mut self, ask: Ask) -> Result<Answer, Wrong> {
        let nothing = Answer::default();
        Ok(match ask {
            // The chain has its own state; whether the golem's books agree is checked before anything is begun.
            Ask::Seek { key, .. } => {
                (self.last, self.astray) = (key, None);
                nothing
            }
            Ask::Bye => nothing,
            Ask::Observe { .. } => {
                return Err(Wrong::Wrong("this program carries out orders, and has no bars".to_owned()));
            }
            Ask::Preview { order } => {
                let buys = self.buys(order.action)?;
                let astray = self.is_astray()?;
                // The golem begins nothing more; it may still try to sell what it believes to hold, or it could never
                // end.
                if let Some(why) = astray.clone().filter(|_| buys) {
                    return Ok(Answer { quote: Some(None), why: Some(why), ..nothing });
                }
                let venue = self.venue(true)?;
                let quote = venue.preview(buys, order.units)?;
                let why = match (&quote, astray) {
                    (Some(_), _) => None,
                    (None, Some(why)) => Some(why),
                    (None, None) => venue.why_not(buys, order.units)?,
                };
                Answer { quote: Some(quote.as_ref().map(wire::Quote::of)), why, ..nothing }
            }
            Ask::Commit { key, order } => {
                let buys = self.buys(order.action)?;
                let fate = self.venue(true)?.commit(key, buys, &order.read())?;
                Answer { fate: Some(wire::Fate::of(&fate)), ..nothing }
            }
            Ask::Reconcile { key } => {
                Answer { fate: Some(wire::Fate::of(&self.venue(false)?.reconcile(key)?)), ..nothing }
            }
            Ask::Close => {
                let last = self.last.unwrap_or_default();
                let venue = self.venue(false)?;
                venue.leave_to_others(last)?;
                match venue.close()? {
                    None => nothing,
                    Some(waits) => Answer { away: Some(waits), again_ms: Some(AGAIN / 2), ..nothing },
                }
            }
        })
    }

    fn buys(&self, action: u8) -> Result<bool, Wrong> {
        let action = self.born.actions.get(usize::from(action));
        action
            .map(|action| action.effect == Effect::Adds)
            .ok_or_else(|| Wrong::Wrong("the world has no such action".into()))
    }

    /// Why the golem's books do not agree with the purse; looked for once, before anything is begun.
    fn is_astray(&mut self) -> Result<Option<String>, Wrong> {
        if let (None, Some(last)) = (&self.astray, self.last) {
            let told =
                |why| format!("{why}; the golem begins nothing more. Retire it, and everything in the purse goes home");
            self.astray = Some(self.venue(false)?.astray(last)?.map(told));
        }
        Ok(self.astray.clone().flatten())
    }

    /// The venue, opened when it is first needed; before spending, the purse must allow this key.
    fn venue(&mut self, spends: bool) -> Result<&mut Venue, Wrong> {
        let mut venue = match self.venue.take() {
            Some(venue) => venue,
            None => open(&self.site, &self.whose, &self.own)?,
        };
        let may = if spends { self.may_spend(&mut venue) } else { Ok(()) };
        let venue = self.venue.insert(venue);
        may.map(|()| venue)
    }

    fn may_spend(&self, venue: &mut Venue) -> Result<(), Wrong> {
        let (purse, own) = (self.site.place.purse, venue.address());
        if let Some(most) = self.most {
            let a_day = venue.a_day()?;
            if a_day.as_micros() > i64::try_from(most).unwrap_or(i64::MAX).saturating_mul(1_000_000) {
                return Err(Wrong::Wrong(format!(
                    "the purse {purse} lets out more than {most} dollars a day; lower its allowance"
                )));
            }
        }
        venue.check_range()?;
        let keyed = venue.keyed()?;
        if keyed == own {
            return Ok(());
        }
        let folder = self.folder.display();
        if !keyed.is_zero() {
            return Err(Wrong::Wrong(format!(
                "its purse has another key, {keyed}: a purse is for one golem. If that one is gone, its owner runs `bardo chain owner {folder} key {own}`"
            )));
        }
        if self.site.devnet {
            let (money, thing) = (GIVEN * 1_000_000, U256::from(GIVEN) * U256::from(10_u64).pow(U256::from(15)));
            let wire = Wire::to(&self.site.endpoints[0])?;
            return wire.give(&self.site.place, self.site.owner, own, money, (money, thing));
        }
        Err(Wrong::Wrong(format!(
            "the purse does not know the key {own}; its owner calls setKey({own}, UNTIL) on it (`bardo chain owner {folder} key {own}` says how) and sends the key some gas"
        )))
    }
}
