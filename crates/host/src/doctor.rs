//! A full examination of a home: every file, every record, every roll, every cent.

use golem::event::Event;
use golem::{Golem, Life, Usdc};
use serde::Serialize;
use vault::{Anchor, Head, Reader, Seal, Treasury};

use crate::Error;
use crate::chance::Secret;
use crate::home::{GolemHome, Home};

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub what: String,
    pub fine: bool,
    pub detail: String,
}

impl Finding {
    fn fine(what: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding { what: what.into(), fine: true, detail: detail.into() }
    }

    fn wrong(what: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding { what: what.into(), fine: false, detail: detail.into() }
    }
}

/// Looks at everything, in order, telling each finding as it is made.
pub fn examine(home: &Home, mut tell: impl FnMut(Finding)) -> Result<(), Error> {
    tell(Finding::fine("home", home.require()?.root().display().to_string()));
    let treasury = home.treasury()?;
    tell(match treasury.audit()? {
        None => Finding::fine("treasury", format!("{} free, every line adds up", treasury.balance()?)),
        Some(line) => Finding::wrong("treasury", format!("line {line} of the ledger does not add up")),
    });
    for golem in home.list()? {
        examine_golem(&golem, &treasury, &mut tell);
    }
    for left in leftovers(home) {
        tell(Finding::wrong("leftover", format!("{left} is from a command that was cut short; remove it")));
    }
    Ok(())
}

/// Folders made aside by a command that never came to its end; they may hold a secret.
fn leftovers(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.golems()).into_iter().flatten().flatten();
    let aside = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    aside.map(|entry| entry.path().display().to_string()).collect()
}

fn examine_golem(place: &GolemHome, treasury: &Treasury, tell: &mut impl FnMut(Finding)) {
    let name = place.name.as_str();
    if let Err(e) = place.catch_up() {
        return tell(Finding::wrong(format!("{name}: journal"), e.to_string()));
    }
    let verified = Reader::open(&place.database()).and_then(|reader| reader.verify(&place.home().heads()));
    let golem = match verified {
        Ok((golem, check)) => {
            let detail = format!(
                "{} records, chain whole, {} state hashes right, {} bytes",
                check.records, check.state_hashes, check.bytes
            );
            tell(Finding::fine(format!("{name}: journal"), detail));
            golem
        }
        Err(e) => return tell(Finding::wrong(format!("{name}: journal"), e.to_string())),
    };
    tell(examine_head(place, golem.life()));
    tell(examine_money(place, golem.life(), treasury));
    tell(examine_secret(place, &golem));
}

fn examine_head(place: &GolemHome, life: &Life) -> Finding {
    let what = format!("{}: head", place.name);
    match Head::peek(&place.home().heads(), life.id()) {
        None => Finding::wrong(what, "missing or damaged, so it cannot be run; restore a backup of this golem"),
        Some(Anchor { seal: Seal::Open, seq, .. }) => {
            Finding::fine(what, format!("record {seq} acknowledged and there"))
        }
        Some(_) => Finding::fine(what, "sealed: this life was moved away"),
    }
}

fn examine_money(place: &GolemHome, life: &Life, treasury: &Treasury) -> Finding {
    let what = format!("{}: money", place.name);
    let gap = life.unaccounted();
    if gap != Usdc::ZERO {
        return Finding::wrong(what, format!("{gap} is not accounted for"));
    }
    let moved = Head::peek(&place.home().heads(), life.id()).is_some_and(|anchor| anchor.seal != Seal::Open);
    match treasury.undelivered(life.id(), life.transfers_taken) {
        Err(e) => Finding::wrong(what, e.to_string()),
        Ok(sent) if sent.is_empty() => Finding::fine(what, "accounted for to the micro-USDC"),
        Ok(_) if moved => Finding::wrong(what, "money was sent to it that it never took before it was moved away"),
        Ok(sent) => {
            let sum: Usdc = sent.iter().map(|transfer| transfer.credit + transfer.capital).sum();
            Finding::fine(what, format!("accounted for; {sum} is on its way and taken at the next run"))
        }
    }
}

/// The living keep their secret; the dead are held to every roll.
fn examine_secret(place: &GolemHome, golem: &Golem) -> Finding {
    let what = format!("{}: chance", place.name);
    let secret = match Secret::load(&place.secret()) {
        Ok(secret) => secret,
        Err(e) => return Finding::wrong(what, e.to_string()),
    };
    if secret.hash() != golem.life().birth.secret_hash {
        return Finding::wrong(what, "the secret is not the one it was born with");
    }
    if !golem.life().is_dead() {
        return Finding::fine(what, "the secret is the one it was born with; rolls can be verified after death");
    }
    match verify_rolls(place, &secret) {
        Ok(rolls) => Finding::fine(what, format!("all {rolls} rolls verified against the revealed secret")),
        Err(e) => Finding::wrong(what, e.to_string()),
    }
}

/// Recomputes every roll of a life from its secret.
pub fn verify_rolls(place: &GolemHome, secret: &Secret) -> Result<u64, Error> {
    let (mut golem, mut rolls, mut false_at) = (None::<Golem>, 0, None);
    Reader::open(&place.database())?.replay(|record| {
        let Some(living) = &mut golem else {
            golem = Golem::reborn(&record).ok();
            return Ok(());
        };
        let folded = living.fold_with(&record, |event, life| {
            if let Event::Rolled { roll, .. } = event {
                rolls += 1;
                if *roll != secret.roll(life.id(), life.tick) && false_at.is_none() {
                    false_at = Some(life.tick);
                }
            }
        });
        folded.map_err(|e| vault::Error::unfoldable(record.seq, &e))
    })?;
    let ticks =
        golem.as_ref().filter(|golem| golem.life().constitution().clocks().stochastic).map(|golem| golem.life().tick);
    match false_at {
        None if ticks.is_some_and(|ticks| ticks != rolls) => {
            Err(Error::Advice(format!("{rolls} rolls for {} ticks: some are missing", ticks.unwrap_or(0))))
        }
        None => Ok(rolls),
        Some(tick) => Err(Error::Advice(format!("the roll of tick {tick} is not the one the secret gives"))),
    }
}
