//! The state of the river for a home, read from what it has written down: for its owner, on any screen, whether a host
//! is up or not.

use std::sync::Arc;

use golem::{GolemId, hex};
use serde::{Deserialize, Serialize};
use styx::keys::RowKind;
use utoipa::ToSchema;
use vault::Log;

use super::key;
use super::store::{Books, RECEIPTS, RiverState};
use crate::Error;
use crate::home::Home;
use crate::view::figures::{count, several};
use crate::view::portrait::Row;

/// The report on a home's clade and its river.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// The id by which relays know the clade; it is not a secret.
    pub clade: String,
    /// The id by which siblings know this home, once a host was up.
    pub home: Option<String>,
    pub relay: Option<String>,
    pub archive: Option<String>,
    #[serde(flatten)]
    pub state: RiverState,
    /// Words that not every other home has confirmed, and words that wait for earlier ones.
    pub unconfirmed: usize,
    pub held: usize,
    pub homes: Vec<Other>,
    pub siblings: Vec<Sibling>,
    pub deaths: Vec<Death>,
    /// The whole report in words.
    pub told: Vec<Row>,
}

/// Another home.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Other {
    pub home: String,
    /// When it was last heard of, in milliseconds since 1970.
    pub at_ms: u64,
}

/// A golem in another home.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Sibling {
    pub golem: String,
    pub name: Option<String>,
    pub home: String,
    /// Words that were heard from it.
    pub heard: u64,
    /// The number under which it said two different words.
    pub forked: Option<u64>,
}

/// A golem of this home that has died, and how many others know of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Death {
    pub golem: String,
    pub name: String,
    pub homes: usize,
    pub archived: bool,
    /// Whether the death is known in two other places.
    pub transmitted: bool,
}

/// Makes the report, if this home belongs to a clade.
pub fn report(home: &Home) -> Result<Option<Report>, Error> {
    let Some(clade) = key::read(home)?.map(Arc::new) else { return Ok(None) };
    let settings = home.settings()?;
    let given = |key: &str| settings.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let rows = match Log::reader(home.root(), &home.heads())? {
        Some(log) => log.river()?,
        None => Vec::new(),
    };
    let me = rows
        .iter()
        .find(|(key, _)| *key == RowKind::Home.key(&[]))
        .and_then(|(_, value)| value.get(..16)?.try_into().ok());
    let up = Log::is_taken(&home.heads());
    let since = rows
        .iter()
        .find(|(key, _)| *key == RowKind::State.key(&[]))
        .and_then(|(_, value)| serde_json::from_slice::<RiverState>(value).ok());
    let books = Books::of(&clade, me.unwrap_or_default(), rows);
    let sibling = |(speaker, heard, forked): (styx::Speaker, u64, Option<u64>)| Sibling {
        golem: speaker.golem.to_string(),
        name: books.name(speaker.golem).map(str::to_owned),
        home: hex::encode(&speaker.home),
        heard,
        forked,
    };
    let death = |(golem, ended): (&GolemId, &super::store::AnnouncedDeath)| Death {
        golem: golem.to_string(),
        name: ended.name.clone(),
        homes: ended.homes,
        archived: ended.archived,
        transmitted: ended.receipts() >= RECEIPTS,
    };
    let since_ms = since.filter(|_| up).and_then(|state| state.since_ms);
    let mut report = Report {
        clade: clade.owner().to_string(),
        home: me.map(|me: [u8; 16]| hex::encode(&me)),
        relay: given("styx.url"),
        archive: given("styx.archive"),
        unconfirmed: books.mailbox.waiting(),
        held: books.mailbox.held(),
        homes: books.mailbox.homes().map(|(home, at_ms)| Other { home: hex::encode(&home), at_ms }).collect(),
        siblings: books.mailbox.heads().map(sibling).collect(),
        deaths: books.ended.iter().map(death).collect(),
        state: RiverState { since_ms, ..books.state },
        told: Vec::new(),
    };
    report.told = told(&report, home.wall().now_ms().unsigned_abs());
    Ok(Some(report))
}

/// The rows of the report: a topic and what there is to say.
fn told(report: &Report, now_ms: u64) -> Vec<Row> {
    let state = &report.state;
    let connected = match (state.since_ms, &state.trouble) {
        (Some(since), _) => format!("connected for {}", ago(now_ms, since)),
        (None, Some(why)) => format!("not connected: {why}"),
        (None, None) => "not connected: no host is up".to_owned(),
    };
    let kept = match (state.archived_ms, &state.archive_trouble) {
        (_, Some(why)) => format!("cannot be written: {why}"),
        (Some(at), None) => format!("last written {} ago", ago(now_ms, at)),
        (None, None) => "nothing in it yet".to_owned(),
    };
    let none =
        |place: &Option<String>, how: &str| place.as_ref().map_or("none".to_owned(), |place| format!("{place}, {how}"));
    let mut told = vec![
        ("clade", report.clade.clone()),
        ("home", report.home.clone().unwrap_or_else(|| "no host has been up since it joined".to_owned())),
        ("relay", none(&report.relay, &connected)),
        ("archive", none(&report.archive, &kept)),
        (
            "words",
            format!(
                "{} sent, {} heard; {} that not every home has confirmed, {} that wait for some before them",
                count(state.sent),
                count(state.heard),
                count(report.unconfirmed as u64),
                count(report.held as u64)
            ),
        ),
    ];
    told.extend(state.refused.iter().map(|(why, times)| ("refused", format!("{} times: {why}", count(*times)))));
    let other = |at_ms: u64| format!("was heard of {} ago", ago(now_ms, at_ms));
    told.extend(report.homes.iter().map(|one| ("home", format!("{} {}", &one.home[..8], other(one.at_ms)))));
    told.extend(report.siblings.iter().map(|one| ("sibling", sibling(one))));
    told.extend(report.deaths.iter().map(|one| ("death", death(one))));
    told.into_iter().map(|(about, says)| Row { about: about.to_owned(), says }).collect()
}

fn sibling(one: &Sibling) -> String {
    let who = one.name.as_deref().unwrap_or(&one.golem[..8]);
    let forked = match one.forked {
        Some(number) => {
            format!("; it said two different words under number {number}, so nothing more is taken from it")
        }
        None => String::new(),
    };
    format!("{who:<16} in home {}: {}{forked}", &one.home[..8], several(one.heard, "word"))
}

fn death(one: &Death) -> String {
    let places = match (one.homes, one.archived) {
        (0, false) => "confirmed by no other home yet".to_owned(),
        (0, true) => "in the archive, and confirmed by no other home yet".to_owned(),
        (n, true) => format!("confirmed by {} and in the archive", several(n as u64, "home")),
        (n, false) => format!(
            "confirmed by {}{}",
            several(n as u64, "home"),
            if n < 2 { ", and not yet in the archive" } else { "" }
        ),
    };
    format!("{:<16} {places}", one.name)
}

fn ago(now: u64, then: u64) -> String {
    golem::Span::seconds(now.saturating_sub(then) / 1_000).to_string()
}
