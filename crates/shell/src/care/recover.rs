//! Recovery of a home in which a file is lost, cut or old: every store is compared with the others, and lines that one
//! has lost are written again from those that have them; what cannot be recovered is said. Nothing is made up, nothing
//! is thrown away, and without the owner's word nothing is touched.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use golem::mortality::death::Cause;
use golem::owner::Account as Purse;
use golem::{Command, Golem, Usdc};
use serde::Serialize;
use vault::lines::HeirOf;
use vault::treasury::TreasuryRow;
use vault::{Anchor, Head, Log, LogLine, Reader, Seal, Treasury, Vault};
use world::Ledger;

use crate::home::books::{self, Account, Own};
use crate::home::inbox::{self, Reply};
use crate::home::{GolemHome, Home};
use crate::life::{Living, Silent};
use crate::{Error, Runtime};

/// One thing that is wrong, and what is done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub what: String,
    /// The trouble, and what is lost by it.
    pub lost: String,
    /// The remedy; none if nothing can be done here.
    pub done: Option<String>,
}

impl Step {
    fn new(what: impl ToString, lost: impl ToString, done: impl ToString) -> Step {
        Step { what: what.to_string(), lost: lost.to_string(), done: Some(done.to_string()) }
    }

    fn beyond(what: impl ToString, lost: impl ToString) -> Step {
        Step { what: what.to_string(), lost: lost.to_string(), done: None }
    }
}

/// A golem as its own file and what can still be read of a host log have it.
struct Case {
    place: GolemHome,
    golem: Golem,
    /// Records that the log has beyond its own file.
    lines: Vec<LogLine>,
    /// The anchor that the head needs for it to be run.
    anchor: Option<Anchor>,
}

/// Sets right what can be set right, telling each step; only if `really`, and otherwise only tells.
pub fn recover(runtime: &Arc<Runtime>, really: bool, mut tell: impl FnMut(Step)) -> Result<(), Error> {
    let home = runtime.home();
    home.require()?;
    if home.is_up() {
        return Err(Error::Refused("a host is up in this home; stop it first".into()));
    }
    let trouble = match Log::reader(home.root(), &home.heads()) {
        Ok(None) => None,
        Ok(Some(log)) => log.verify().err(),
        Err(e) => Some(e),
    };
    let mut lines: BTreeMap<golem::GolemId, Vec<LogLine>> = BTreeMap::new();
    for line in Log::salvage(home.root()) {
        lines.entry(line.golem).or_default().push(line);
    }
    let mut cases = Vec::new();
    for place in home.list()? {
        match Case::look_at(&place, &mut lines, &mut tell) {
            Ok(case) => cases.extend(case),
            Err(e) => tell(Step::beyond(&place.name, format!("{e}; its contents cannot be read"))),
        }
    }
    for case in cases.iter().filter_map(|case| Some((case, case.anchor?))).filter(|_| really) {
        drop(Head::create(&home.heads(), case.0.golem.life().id(), case.1)?);
    }
    host_log(home, trouble, &cases, really, &mut tell)?;
    let rows = treasury(home, &cases, really, &mut tell)?;
    for case in &cases {
        case.mend_world(really, &mut tell)?;
        case.return_again(runtime, &rows, really, &mut tell)?;
    }
    Ok(())
}

/// Sets the log aside, once golems' own files have what could be carried over.
fn host_log(
    home: &Home,
    trouble: Option<vault::Error>,
    cases: &[Case],
    really: bool,
    tell: &mut impl FnMut(Step),
) -> Result<(), Error> {
    let Some(trouble) = trouble else { return Ok(()) };
    let saved: Vec<&Case> = cases.iter().filter(|case| !case.lines.is_empty()).collect();
    let records: usize = saved.iter().map(|case| case.lines.len()).sum();
    let aside = aside(home, "host");
    tell(Step::new(
        "host log",
        format!(
            "{}; ticks that were acknowledged only there are gone, and notes that were not sent yet",
            brief(&trouble)
        ),
        format!(
            "{records} records of {} golems in it follow from their own files and are carried over; what is left is set aside in {}",
            saved.len(),
            aside.display()
        ),
    ));
    if !really {
        return Ok(());
    }
    for case in saved {
        let (mut vault, mut golem, _) = Vault::open(&case.place.vault(), 1)?;
        vault.catch_up(&mut golem, &case.lines)?;
    }
    Ok(Log::begin_anew(home.root(), &home.heads(), &aside)?)
}

/// Brings the treasury to what the golems know; returns its lines.
fn treasury(home: &Home, cases: &[Case], really: bool, tell: &mut impl FnMut(Step)) -> Result<Vec<TreasuryRow>, Error> {
    let trouble = home.treasury().and_then(|treasury| Ok(treasury.audit()?)).err();
    let rows = Treasury::salvage(home.root());
    if let Some(trouble) = &trouble {
        let aside = aside(home, "treasury");
        let (lines, free) = rows.last().map_or((0, Usdc::ZERO), |row| (row.line, row.balance));
        tell(Step::new(
            "treasury",
            format!(
                "{}; what its owner added since, and what golems that are not here were given or returned, cannot be recovered",
                brief(trouble)
            ),
            format!(
                "its first {lines} lines are whole and are kept, with {free} free; what was there is set aside in {}",
                aside.display()
            ),
        ));
        if really {
            let mut fresh = Treasury::begin_anew(home.root(), &home.heads(), &rows, &aside)?;
            // An owner's end of a golem stands in the journal too, and must not be forgotten: it keeps heirs from being
            // made.
            for life in cases.iter().map(|case| case.golem.life()) {
                let cause = life.death().map(|death| &death.cause);
                if matches!(cause, Some(Cause::OwnerKill { .. } | Cause::KillSwitch { .. })) {
                    fresh.end(life.id())?;
                }
            }
        }
    }
    let (mut sent, mut returned) = (Vec::new(), Vec::new());
    for case in cases {
        let life = case.golem.life();
        let unknown = Account::among(&rows, life).unknown(&Own::read(&case.place.database(), &case.lines)?, life);
        sent.extend(unknown.0.into_iter().map(|taken| (case, taken.number, taken.credit, taken.capital)));
        returned.extend(unknown.1.into_iter().map(|(number, amount)| (case, number, amount, Usdc::ZERO)));
    }
    let sum = |lines: &[(&Case, u64, Usdc, Usdc)]| -> Usdc { lines.iter().map(|line| line.2 + line.3).sum() };
    let there = rows.last().map_or(Usdc::ZERO, |row| row.balance) + sum(&returned);
    let short = (sum(&sent) - there).max(Usdc::ZERO);
    // Money in before money out, so that it is never asked for more than it can have had.
    enter(home, "received", &returned, really, tell)?;
    if short.is_positive() {
        tell(Step::new(
            "treasury",
            format!("golems were given {short} more than it has lines of having had"),
            format!("{short} added, because it must have been there"),
        ));
        if really {
            home.treasury()?.add(short)?;
        }
    }
    enter(home, "sent", &sent, really, tell)?;
    Ok(if really { Treasury::salvage(home.root()) } else { rows })
}

fn enter(
    home: &Home,
    kind: &str,
    lines: &[(&Case, u64, Usdc, Usdc)],
    really: bool,
    tell: &mut impl FnMut(Step),
) -> Result<(), Error> {
    let what = if kind == "sent" { "transfer" } else { "deposit" };
    for (case, number, credit, capital) in lines {
        tell(Step::new(
            "treasury",
            format!("it has no line of {what} {number} of {}, whose journal has it", case.place.name),
            format!("{} {kind}, written again from that journal", *credit + *capital),
        ));
        if really {
            let life = case.golem.life();
            let heir_of = life.birth().lineage.as_ref().filter(|_| kind == "sent" && *number == 1);
            let heir_of = heir_of.map(|line| HeirOf { parent: line.parent, by_itself: line.by_itself });
            let letter = heir_of.map(|of| of.letter(life.id()));
            home.treasury()?.enter(kind, Some(life.id()), *number, *credit, *capital, letter.as_deref())?;
        }
    }
    Ok(())
}

impl Case {
    /// The case of a golem; none if nothing can be done for it here, or nothing need be: it was moved away.
    fn look_at(
        place: &GolemHome,
        lines: &mut BTreeMap<golem::GolemId, Vec<LogLine>>,
        tell: &mut impl FnMut(Step),
    ) -> Result<Option<Case>, Error> {
        let (reader, heads) = (Reader::open(&place.database())?, place.home().heads());
        let (id, known) = (reader.id()?, Head::peek(&heads, reader.id()?));
        if known.is_some_and(|known| known.seal != Seal::Open)
            || (known.is_none() && place.folder.join("MOVED").exists())
        {
            return Ok(None);
        }
        // Everything that can be known to be right about the file by itself; only then may it be the life again.
        let (mut golem, check) = reader.verify(std::path::Path::new(""))?;
        let tip = reader.tip()?;
        let lines = vault::follow(golem.seq(), tip.hash, lines.remove(&id).unwrap_or_default());
        vault::live_on(&mut golem, tip.hash, &lines)?;
        let mut anchor = None;
        match reader.wake_held(&heads) {
            Ok(_) if known.is_some() => {}
            Ok(_) => {
                let lost =
                    format!("its head is missing or damaged; its journal is whole up to record {}", check.records);
                tell(Step::new(&place.name, lost, "it gets a new one; do this only if it lives nowhere else"));
                anchor = Some(tip);
            }
            Err(vault::Error::Stale { here, known }) => {
                let lost = format!("records {} to {known} of its life were acknowledged and are gone", here + 1);
                tell(Step::new(
                    &place.name,
                    lost,
                    format!("it goes on from record {here}, tick {}", golem.life().tick()),
                ));
                anchor = Some(tip);
            }
            Err(other) => return Err(other.into()),
        }
        Ok(Some(Case { place: place.clone(), golem, lines, anchor }))
    }

    /// Rebuilds the world's record, from what the life was told and what can still be read of it.
    fn mend_world(&self, really: bool, tell: &mut impl FnMut(Step)) -> Result<(), Error> {
        let (life, path) = (self.golem.life(), self.place.ledger());
        // A record of what really happened cannot be written again.
        if !life.birth().world.paper {
            return Ok(());
        }
        let own = Own::read(&self.place.database(), &self.lines)?;
        let agrees = |ledger: &Ledger| {
            books::world_agrees(ledger, life).and_then(|()| books::world_agrees_line_by_line(ledger, &own))
        };
        let Err(why) = Ledger::look(&path).map_err(|e| e.to_string()).and_then(|ledger| agrees(&ledger)) else {
            return Ok(());
        };
        // Actions it has asked for and that cannot have reached its world; the numbers of the rest will be used again.
        let asked = life.flights().iter().filter(|flight| flight.is_unsent()).map(|flight| flight.key - 1).min();
        let mut entries = Ledger::salvage(&path);
        let unasked = entries.split_off(&(asked.unwrap_or(life.flights_made()) + 1)).len();
        let mut again = 0;
        for (key, entry) in own.entries() {
            if entries.get(&key).is_none_or(|there| there.outcome != entry.outcome) {
                entries.insert(key, entry);
                again += 1;
            }
        }
        let held: i64 = entries.values().filter_map(|entry| entry.outcome).map(|outcome| outcome.units).sum();
        let under_way =
            life.flights().iter().filter_map(|flight| entries.get(&flight.key)?.outcome).map(|o| o.units).sum::<i64>();
        if held - under_way != life.capital().holding {
            let what = format!("{why}; its journal cannot be read far enough back to tell: put its archive back first");
            tell(Step::beyond(&self.place.name, what));
            return Ok(());
        }
        let done =
            format!("{again} actions are written again from its journal, {unasked} it never asked for are forgotten");
        tell(Step::new(&self.place.name, why, done));
        if really {
            drop(Ledger::rebuild(&path, entries)?);
        }
        Ok(())
    }

    /// Has it return again, under the same numbers, money that the treasury has from it and that it has not returned,
    /// because those records are lost; so the money is there once.
    fn return_again(
        &self,
        runtime: &Arc<Runtime>,
        rows: &[TreasuryRow],
        really: bool,
        tell: &mut impl FnMut(Step),
    ) -> Result<(), Error> {
        let (life, name) = (self.golem.life(), &self.place.name);
        let account = Account::among(rows, life);
        let (beyond, on_its_way) = (account.beyond(life), account.on_its_way(life));
        if !beyond.is_empty() {
            let sum: Usdc = beyond.iter().map(|(_, amount)| *amount).sum();
            let lost =
                format!("the treasury has {sum} from it that it still holds: it was returned in records that are lost");
            let mut living = if really { Some(Living::open_as_it_is(runtime, self.place.clone())?) } else { None };
            let returned = match &mut living {
                Some(living) => beyond.iter().all(|(_, amount)| return_once(living, *amount).unwrap_or(false)),
                None => true,
            };
            tell(if returned {
                Step::new(name, lost, format!("it returns {sum} again, under the same numbers"))
            } else {
                let stays = "it cannot return that any more, and stays closed; restore a newer copy of it";
                Step::beyond(name, format!("{lost}; {stays}"))
            });
        }
        if on_its_way.is_positive() {
            let lost = format!("{on_its_way} was sent to it that its journal does not have");
            tell(Step::new(name, lost, "it takes that, again under the same numbers, when it is next run"));
        }
        Ok(())
    }
}

/// Takes an amount from credit, or else from capital.
fn return_once(living: &mut Living, amount: Usdc) -> Result<bool, Error> {
    for from in [Purse::Credit, Purse::Capital] {
        let order = Command::Withdraw { from, amount };
        if living.obey(inbox::new_id(), order, &mut Silent)? == Reply::Done {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A folder in the attic that is not there yet.
fn aside(home: &Home, what: &str) -> PathBuf {
    let free = |n: &u32| !home.attic().join(format!("{what}-{n}")).exists();
    home.attic().join(format!("{what}-{}", (1..).find(free).expect("some number is free")))
}

/// An error's text, without the advice to come here.
fn brief(error: &impl ToString) -> String {
    let text = error.to_string();
    text.split("; nothing was changed").next().unwrap_or_default().to_owned()
}
