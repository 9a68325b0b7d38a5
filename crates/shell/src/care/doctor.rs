//! A full examination of a home: the machine it stands on, every file, every record, every roll, every cent.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use golem::event::Event;
use golem::mortality;
use golem::{Golem, Life, Usdc};
use mind::{Chat, ChatConfig, ChatRequest, Completion};
use serde::Serialize;
use serde_json::json;
use settings::chance::Secret;
use tariff::Named;
use vault::{Anchor, Head, Log, Reader, Seal, Treasury};
use world::{Ledger, Spec};

use crate::Error;
use crate::feeds;
use crate::home::books::{self, Account, Own};
use crate::home::key::OwnerKey;
use crate::home::log::KnownTip;
use crate::home::prices;
use crate::home::{GolemHome, Home};
use crate::life::checks::CheckPlan;
use crate::private;

/// Room on the disk below which the next days are in doubt: a golem writes a few hundred bytes a tick.
const ROOM: u64 = 100 << 20;
/// 2024-01-01: no clock that is right stands before it.
const RIGHT: Duration = Duration::from_secs(1_704_067_200);
/// How far behind the newest file a clock may be without having been turned back.
const SLACK: Duration = Duration::from_secs(3_600);

/// Limits of a test question to a model: its cost, in micro-dollars, and its time.
const SMALL: u64 = 10_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub what: String,
    pub fine: bool,
    pub detail: String,
    /// Fine, but the owner should see to it.
    pub soon: bool,
}

impl Finding {
    pub(super) fn fine(what: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding { what: what.into(), fine: true, detail: detail.into(), soon: false }
    }

    pub(super) fn soon(what: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding { soon: true, ..Finding::fine(what, detail) }
    }

    pub fn wrong(what: impl Into<String>, detail: impl Into<String>) -> Finding {
        Finding { fine: false, ..Finding::fine(what, detail) }
    }
}

/// Examines everything, in order, telling each finding as it is made.
pub fn examine(home: &Home, mut tell: impl FnMut(Finding)) -> Result<(), Error> {
    tell(examine_home(home.require()?.root()));
    tell(examine_machine(home.root()));
    tell(examine_host(home));
    tell(examine_private(home.root()));
    tell(examine_prices(home));
    shelf_and_key(home).into_iter().for_each(&mut tell);
    if let Some(why) = home.clock_trouble() {
        tell(Finding::wrong("clock", why));
    }
    if let Err(why) = home.renames() {
        tell(Finding::wrong("names", why.to_string()));
    }
    if !home.has_reserve() {
        let why = "no room is kept for orders that stop something; `bardo init` lays it aside, once there is some";
        tell(Finding::soon("reserve", why));
    }
    let treasury = examine_treasury(home, &mut tell);
    let mut known = KnownTip::default();
    for golem in home.list()? {
        examine_golem(&golem, &mut known, treasury.as_ref(), &mut tell);
        examine_checks(&golem, &mut known).into_iter().for_each(&mut tell);
    }
    models(home)?.iter().for_each(|model| tell(examine_model(home, model)));
    examine_feeds(home).into_iter().for_each(&mut tell);
    for lost in lifeless(home) {
        let what = "its life.db is missing; bring it back, or restore a backup with `bardo golem restore`";
        tell(Finding::wrong(format!("{lost}: journal"), what));
    }
    for left in leftovers(home) {
        tell(Finding::wrong("leftover", format!("{left} is from a command that was cut short; remove it")));
    }
    Ok(())
}

/// The models its living golems may ask.
fn models(home: &Home) -> Result<BTreeSet<String>, Error> {
    let mut all = BTreeSet::new();
    for place in home.list()? {
        let Ok((golem, _)) = Reader::open(&place.database()).and_then(|reader| reader.wake()) else { continue };
        if !golem.life().is_dead() {
            all.extend(golem.life().constitution().thought.models.iter().flatten().cloned());
            all.extend(golem.life().constitution().dream.model.clone());
        }
    }
    Ok(all)
}

/// Whether prices of models were looked up lately.
fn examine_prices(home: &Home) -> Finding {
    let book = match home.prices() {
        Ok(prices) => prices,
        Err(why) => return Finding::wrong("prices", why.to_string()),
    };
    let book = book.book();
    let told = format!("{} models, looked up on {}", book.rows().len(), book.looked_up());
    match prices::age(book, crate::wall::now_ms()) {
        Some(days) if days > prices::LASTS => Finding::soon(
            "prices",
            format!(
                "{told}, {days} days ago; a newer Bardo has newer ones, and `bardo prices update FILE` takes a book"
            ),
        ),
        _ => Finding::fine("prices", told),
    }
}

/// Asks a model one small thing, and tells what that cost.
fn examine_model(home: &Home, name: &str) -> Finding {
    let what = format!("model {name}");
    let asked = || -> Result<(Completion, Duration), Error> {
        let named = Named::parse(name)?;
        let price = Some(home.prices()?.of(&named)?);
        let chat = Chat::open(&ChatConfig { named, price, timeout: PATIENCE, allow_plain_http: false })?;
        let schema = json!({ "type": "object", "properties": { "well": { "type": "boolean" } }, "required": ["well"] });
        let ask = ChatRequest {
            system: "Answer in JSON.",
            user: "Are you well?",
            schema: &schema,
            most: SMALL,
            tokens: 32,
            temperature: 0.0,
            within: PATIENCE,
        };
        let began = Instant::now();
        Ok((chat.ask(&ask)?, began.elapsed()))
    };
    match asked() {
        Ok((said, took)) => {
            let cost = Usdc::micros(i64::try_from(said.cost).unwrap_or(i64::MAX));
            Finding::fine(what, format!("answered within {} s, which cost {cost}", took.as_secs() + 1))
        }
        Err(why) => Finding::wrong(what, why.to_string()),
    }
}

/// Asks the venue of each series that is followed.
fn examine_feeds(home: &Home) -> Vec<Finding> {
    let plans = match feeds::Plan::list(home) {
        Ok(plans) => plans,
        Err(why) => return vec![Finding::wrong("followed", why.to_string())],
    };
    let sources =
        |plan: feeds::Plan| [Some(plan.first.clone()), plan.second.clone()].map(|source| (plan.clone(), source));
    let asked = plans.into_iter().flat_map(sources).filter_map(|(plan, source)| Some((plan, source?)));
    asked
        .map(|(plan, source)| {
            let what = format!("{}: {}", plan.name, source.venue);
            match feeds::sound(&plan, &source) {
                Err(why) => Finding::wrong(what, format!("{}: {why}", source.product)),
                Ok((_, Some(off))) if off.abs() > 30_000 => {
                    let (seconds, how) = (off.abs() / 1_000, if off > 0 { "ahead of" } else { "behind" });
                    Finding::wrong(what, format!("this machine's clock is {seconds} s {how} its own; set it right"))
                }
                Ok(_) => Finding::fine(what, format!("answers, with bars of {}", plan.bar())),
            }
        })
        .collect()
}

/// The finding on its checks here, if it has any.
fn examine_checks(place: &GolemHome, known: &mut KnownTip) -> Option<Finding> {
    let (golem, _) = place.wake_after(known).ok()?;
    let Ok(Spec::Checks { checks, .. }) = serde_json::from_str(&golem.life().birth().world.spec) else { return None };
    if golem.life().is_dead() || checks.is_empty() {
        return None;
    }
    let what = format!("{}: checks", place.name);
    let plan = match CheckPlan::read(place) {
        Ok(plan) => plan,
        Err(why) => return Some(Finding::wrong(what, why.to_string())),
    };
    let runs = |name: &str| plan.as_ref().is_some_and(|plan| plan.commands.contains_key(name));
    let unset: Vec<&str> = checks.iter().map(|check| check.name.as_str()).filter(|name| !runs(name)).collect();
    Some(match (&plan, &unset[..]) {
        (_, [first, ..]) => {
            let fix = format!("`bardo golem check {} {first}=COMMAND` says what it runs", place.name);
            Finding::wrong(what, format!("{} runs nothing here; {fix}", unset.join(", ")))
        }
        (Some(plan), []) if !plan.folder.is_dir() => {
            Finding::wrong(what, format!("they run in {}, which is not there", plan.folder.display()))
        }
        _ => Finding::fine(what, format!("{} of them, each with a command", checks.len())),
    })
}

fn examine_home(root: &Path) -> Finding {
    let trial = root.join(".doctor");
    match fs::write(&trial, "").and_then(|()| fs::remove_file(&trial)) {
        Ok(()) => Finding::fine("home", root.display().to_string()),
        Err(e) => Finding::wrong("home", format!("{} cannot be written to: {e}", root.display())),
    }
}

/// Examines the machine. Figures are told only where they are the trouble.
fn examine_machine(root: &Path) -> Finding {
    let what = "machine";
    if let Ok(disk) = rustix::fs::statvfs(root) {
        let room = disk.f_bavail.saturating_mul(disk.f_frsize);
        if room < ROOM {
            return Finding::wrong(what, format!("only {} MiB are left on the disk; make room", room >> 20));
        }
    }
    let now = SystemTime::now();
    let written = fs::metadata(root.join("treasury.db")).and_then(|file| file.modified()).ok();
    if now < SystemTime::UNIX_EPOCH + RIGHT || written.is_some_and(|written| now + SLACK < written) {
        return Finding::wrong(what, "the clock is behind what was written here; set it right");
    }
    if jiff::tz::TimeZone::get("Europe/Berlin").is_err() {
        return Finding::wrong(what, "there is no map of time zones");
    }
    Finding::fine(what, format!("room on the disk, a clock that is right, time zones, SQLite {}", vault::sqlite()))
}

fn examine_host(home: &Home) -> Finding {
    let looked = Log::reader(home.root(), &home.heads()).and_then(|log| {
        let Some(log) = log else { return Ok(0) };
        log.verify()?;
        Ok(log.golems()?.len())
    });
    match (looked, home.is_up()) {
        (Err(e), _) => Finding::wrong("host", e.to_string()),
        (Ok(_), true) => Finding::fine("host", "up, and runs the golems here"),
        (Ok(0), false) => Finding::fine("host", "not up, and nothing waits in its log"),
        (Ok(n), false) => {
            Finding::fine("host", format!("not up; records of {n} golems in its log are carried over now"))
        }
    }
}

/// Findings on the shelf and the owner's key, which no life depends on: told only where there is trouble.
fn shelf_and_key(home: &Home) -> Vec<Finding> {
    let mut wrong = Vec::new();
    let (library, key) = (home.root().join("library.db"), home.root().join("owner.key"));
    if library.exists()
        && let Err(e) = home.library().and_then(|library| Ok(library.check()?))
    {
        wrong.push(Finding::wrong("library", e.to_string()));
    }
    if key.exists()
        && let Err(e) = OwnerKey::of(home)
    {
        wrong.push(Finding::wrong("owner.key", e.to_string()));
    }
    wrong
}

/// Returns the treasury, to compare it with the golems, if it can be believed.
fn examine_treasury(home: &Home, tell: &mut impl FnMut(Finding)) -> Option<Treasury> {
    let looked = home.treasury_to_read().and_then(|treasury| {
        let (lines, balance) = (treasury.audit()?, treasury.balance()?);
        Ok((treasury, format!("{balance} free, all {lines} lines there and adding up")))
    });
    match looked {
        Ok((treasury, detail)) => {
            tell(Finding::fine("treasury", detail));
            Some(treasury)
        }
        Err(e) => {
            tell(Finding::wrong("treasury", e.to_string()));
            None
        }
    }
}

/// Examines permissions: a user who can read a home can lock its golems; one who can write there gives them orders.
fn examine_private(root: &Path) -> Finding {
    let what = "privacy";
    let exposed = match private::look(root) {
        Ok(exposed) => exposed,
        Err(e) => return Finding::wrong(what, format!("not everything can be looked at: {e}")),
    };
    let Some(worst) = exposed.iter().max_by_key(|one| (one.foreign, one.mode & 0o022 != 0)) else {
        return Finding::fine(what, "everything here is its owner's alone");
    };
    let (path, more) = (worst.path.display(), exposed.len() - 1);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let root = root.display();
    Finding::wrong(
        what,
        match (worst.foreign, worst.mode & 0o022 != 0) {
            (true, _) => format!("{path} belongs to another user{more}; chown -R it to the user who runs bardo"),
            (_, true) => format!("others may write {path}{more}; `bardo init` or `chmod -R go-rwx {root}` closes it"),
            (_, false) => format!("others may read {path}{more}; `bardo init` or `chmod -R go-rwx {root}` closes it"),
        },
    )
}

/// Names of golems whose folder is there but not their life.
fn lifeless(home: &Home) -> Vec<golem::Name> {
    let entries = fs::read_dir(home.golems()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    names.filter(|name| !home.place(name).database().exists()).collect()
}

/// Folders made aside by a command that was cut short; they may hold a secret.
fn leftovers(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.golems()).into_iter().flatten().flatten();
    let aside = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    aside.map(|entry| entry.path().display().to_string()).collect()
}

fn examine_golem(place: &GolemHome, known: &mut KnownTip, treasury: Option<&Treasury>, tell: &mut impl FnMut(Finding)) {
    let name = place.name.as_str();
    if let Err(e) = place.catch_up_after(known) {
        return tell(Finding::wrong(format!("{name}: journal"), e.to_string()));
    }
    let verified = Reader::open(&place.database()).and_then(|reader| reader.verify(&place.home().heads()));
    let golem = match verified {
        Ok((golem, check)) => {
            let mut detail = format!(
                "{} records, chain whole, {} state hashes right, {} bytes",
                check.records - check.after,
                check.state_hashes,
                check.bytes
            );
            if let Some((first, last)) = check.hole {
                let lost =
                    format!("records {first} to {last} are missing from its archive, {}", place.archive().display());
                tell(Finding::wrong(format!("{name}: journal"), format!("{lost}; put the file back")));
            }
            if check.after > 0 {
                detail += &format!("; up to record {} they are archived, and not here", check.after);
            }
            tell(Finding::fine(format!("{name}: journal"), detail));
            golem
        }
        Err(e) => return tell(Finding::wrong(format!("{name}: journal"), e.to_string())),
    };
    tell(examine_head(place, golem.life()));
    let own = match Own::read(&place.database(), &[]) {
        Ok(own) => own,
        Err(e) => return tell(Finding::wrong(format!("{name}: journal"), e.to_string())),
    };
    if let Some(treasury) = treasury {
        tell(examine_money(place, golem.life(), &own, treasury));
    }
    tell(examine_world(place, golem.life(), &own));
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

/// Compares the world's record with what the life was told.
fn examine_world(place: &GolemHome, life: &Life, own: &Own) -> Finding {
    let what = format!("{}: world", place.name);
    let ledger = match Ledger::look(place.ledger()) {
        Ok(ledger) => ledger,
        Err(e) => return Finding::wrong(what, e.to_string()),
    };
    let agreed = books::world_agrees(&ledger, life).and_then(|()| books::world_agrees_line_by_line(&ledger, own));
    match agreed {
        Ok(()) => {
            Finding::fine(what, format!("{} actions on record, as it was told of them", ledger.entries().count()))
        }
        Err(why) => Finding::wrong(what, format!("{why}; see what can be saved with `bardo recover`")),
    }
}

fn examine_money(place: &GolemHome, life: &Life, own: &Own, treasury: &Treasury) -> Finding {
    let what = format!("{}: money", place.name);
    let gap = life.unaccounted();
    if gap != Usdc::ZERO {
        return Finding::wrong(what, format!("{gap} is not accounted for"));
    }
    let agreed = Account::of(treasury, life)
        .map_err(|e| e.to_string())
        .and_then(|account| account.agrees(life).and_then(|()| account.agrees_line_by_line(own, life)));
    if let Err(why) = agreed {
        return Finding::wrong(what, format!("{why}; see what can be saved with `bardo recover`"));
    }
    let moved = Head::peek(&place.home().heads(), life.id()).is_some_and(|anchor| anchor.seal != Seal::Open);
    match treasury.undelivered(life.id(), life.transfers_taken()) {
        Err(e) => Finding::wrong(what, e.to_string()),
        Ok(sent) if sent.is_empty() => {
            Finding::fine(what, "accounted for to the micro-USDC, in its book and in the treasury's")
        }
        Ok(_) if moved => Finding::wrong(what, "money was sent to it that it never took before it was moved away"),
        Ok(sent) => {
            let sum: Usdc = sent.iter().map(|transfer| transfer.credit + transfer.capital).sum();
            Finding::fine(what, format!("accounted for; {sum} is on its way and taken at the next run"))
        }
    }
}

/// Examines the secret of the living, and every roll of the dead.
fn examine_secret(place: &GolemHome, golem: &Golem) -> Finding {
    let what = format!("{}: chance", place.name);
    let secret = match Secret::load(&place.secret()) {
        Ok(secret) => secret,
        Err(e) => return Finding::wrong(what, e.to_string()),
    };
    if secret.hash() != golem.life().birth().secret_hash {
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
    let reader = Reader::open(&place.database())?;
    let (mut golem, mut rolls, mut false_at) = (reader.beginning()?, 0, None);
    let earlier = golem.as_ref().map_or(0, |golem| golem.life().tick());
    reader.replay(|record| {
        let Some(living) = &mut golem else {
            golem = Golem::reborn(&record).ok();
            return Ok(ControlFlow::Continue(()));
        };
        let folded = living.fold_with(&record, |event, life| {
            if let Event::Mortality(mortality::Event::Rolled { roll, .. }) = event {
                rolls += 1;
                if *roll != secret.roll(life.id(), life.tick()) && false_at.is_none() {
                    false_at = Some(life.tick());
                }
            }
        });
        folded.map(ControlFlow::Continue).map_err(|e| vault::Error::unfoldable(record.seq, &e))
    })?;
    let ticks = golem
        .as_ref()
        .filter(|golem| golem.life().constitution().clocks().stochastic)
        .map(|golem| golem.life().tick() - earlier);
    match false_at {
        None if ticks.is_some_and(|ticks| ticks != rolls) => {
            Err(Error::Damaged(format!("{rolls} rolls for {} ticks: some are missing", ticks.unwrap_or(0))))
        }
        None => Ok(rolls),
        Some(tick) => Err(Error::Damaged(format!("the roll of tick {tick} is not the one the secret gives"))),
    }
}
