//! `golem check|claim`: what holds a golem's word against the world, and its word.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use golem::Command;
use golem::time::Time;
use golem::world::DomainKind;
use serde_json::json;
use settings::{read_moment, read_span};
use shell::life::checks::{self, CheckPlan};
use shell::{Error, GolemHome, Home};
use world::checks::Round;
use world::{Check, Says, Spec};

use super::owner;
use crate::named;
use crate::output::{self, date, line};

/// The commands of checks, from flags such as tests='cargo test'.
pub(crate) fn plan(check: &[String], number: &[String]) -> Result<Option<CheckPlan>, Error> {
    if check.is_empty() && number.is_empty() {
        return Ok(None);
    }
    let commands = check.iter().chain(number).map(|flag| named(flag)).collect::<Result<BTreeMap<_, _>, _>>()?;
    if commands.len() < check.len() + number.len() {
        return Err(Error::Usage("two checks have the same name".to_owned()));
    }
    Ok(Some(CheckPlan {
        folder: checks::folder(Path::new("."))?,
        limit: checks::LIMIT.as_secs(),
        commands,
        protect: Vec::new(),
        given: Vec::new(),
    }))
}

/// The names of such flags, as a key has them.
pub(crate) fn names(flags: &[String]) -> Result<Option<String>, Error> {
    let names = flags.iter().map(|flag| Ok(named(flag)?.0)).collect::<Result<Vec<_>, Error>>()?;
    Ok((!names.is_empty()).then(|| names.join(",")))
}

fn named(flag: &str) -> Result<(String, String), Error> {
    let (name, command) = flag.split_once('=').unwrap_or((flag, ""));
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let sound = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain);
    if !sound || command.trim().is_empty() {
        return Err(Error::Usage(format!(
            "a check is NAME=COMMAND, its name in lower case with underscores, such as tests='cargo test'; not '{flag}'"
        )));
    }
    Ok((name.to_owned(), command.to_owned()))
}

/// Shows its checks, or changes what they run.
pub(crate) fn check(place: &GolemHome, set: &[String], limit: Option<&str>, json: bool) -> Result<ExitCode, Error> {
    let (golem, _) = place.wake()?;
    let Ok(Spec::Checks { checks, .. }) = serde_json::from_str(&golem.life().birth().world.spec) else {
        return Err(Error::Usage(format!("{} has no checks: it lives in another world", place.name)));
    };
    let mut plan = CheckPlan::read(place)?;
    if !set.is_empty() || limit.is_some() {
        let changed = changed(plan, &checks, set, limit)?;
        changed.write(place)?;
        plan = Some(changed);
    }
    let last = checks::last(place)?;
    if json {
        show_json(&checks, plan.as_ref(), last)
    } else {
        show(place, &checks, plan.as_ref(), last)
    }
    Ok(ExitCode::SUCCESS)
}

fn changed(plan: Option<CheckPlan>, checks: &[Check], set: &[String], limit: Option<&str>) -> Result<CheckPlan, Error> {
    let folder = checks::folder(Path::new("."))?;
    let fresh = || CheckPlan {
        folder: folder.clone(),
        limit: checks::LIMIT.as_secs(),
        commands: BTreeMap::new(),
        protect: Vec::new(),
        given: Vec::new(),
    };
    let mut plan = plan.unwrap_or_else(fresh);
    for flag in set {
        let (name, command) = named(flag)?;
        if !checks.iter().any(|check| check.name == name) {
            let known: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
            let known = known.join(", ");
            return Err(Error::Usage(format!("{name} is not one of the checks it was born with: {known}")));
        }
        plan.commands.insert(name, command);
        plan.folder.clone_from(&folder);
    }
    if let Some(limit) = limit {
        let seconds = read_span(limit).map(|span| span.as_millis() / 1_000).filter(|s| (1..=3_600).contains(s));
        plan.limit =
            seconds.ok_or_else(|| Error::Usage(format!("--limit is from 1s to 1h, such as 60s; not '{limit}'")))?;
    }
    Ok(plan)
}

fn show_json(checks: &[Check], plan: Option<&CheckPlan>, last: Option<Round>) {
    let one = |(at, check): (usize, &Check)| {
        let value = last.as_ref().and_then(|round| round.values.get(at));
        let said = last.as_ref().and_then(|round| round.said.get(at));
        let command = plan.and_then(|plan| plan.commands.get(&check.name));
        json!({ "name": check.name, "says": check.says, "command": command, "value": value, "said": said })
    };
    output::json(&json!({
        "at": last.as_ref().map(|round| round.at),
        "folder": plan.map(|plan| &plan.folder),
        "limit_s": plan.map(|plan| plan.limit),
        "checks": checks.iter().enumerate().map(one).collect::<Vec<_>>(),
    }));
}

fn show(place: &GolemHome, checks: &[Check], plan: Option<&CheckPlan>, last: Option<Round>) {
    if checks.is_empty() {
        return line(format!("{} has no checks: only money and chance can end it", place.name));
    }
    let told = |at: usize| last.as_ref().and_then(|round| Some((*round.values.get(at)?, round.said.get(at)?)));
    for (at, check) in checks.iter().enumerate() {
        let result = match told(at) {
            Some((value, said)) if check.says == Says::Pass => {
                let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
                format!("{}{said}", if value > 0.5 { "passes" } else { "fails" })
            }
            Some((value, _)) => value.to_string(),
            None => "no result yet".to_owned(),
        };
        line(format!("{}  {result}", check.name));
        line(plan.and_then(|plan| plan.commands.get(&check.name)).map_or_else(
            || format!("    runs nothing here; `bardo golem check {} {}=COMMAND` says what", place.name, check.name),
            |command| format!("    {command}"),
        ));
    }
    if let Some(plan) = plan {
        let at = last.map_or_else(|| "none yet".to_owned(), |round| date(Time::millis(round.at)));
        line(format!("in {}, {} s each at most; last round: {at}", plan.folder.display(), plan.limit));
    }
}

/// A claim as it was typed: domain, value and date.
pub(crate) struct Claim<'a> {
    pub(crate) domain: &'a str,
    pub(crate) value: f64,
    pub(crate) within: Option<&'a str>,
    pub(crate) at: Option<&'a str>,
}

pub(crate) fn claim(home: &Home, name: &str, claim: &Claim<'_>, json: bool) -> Result<ExitCode, Error> {
    let place = named::golem(home, name)?;
    let (golem, _) = place.wake()?;
    let life = golem.life();
    let wall = life.birth().world.timing == golem::world::Timing::Wall;
    let now = if wall { Time::millis(home.time_ms().unsigned_abs()).max(life.now()) } else { life.now() };
    let wrong =
        |text: &str| Error::Usage(format!("'{text}' is not a time; write --in 2h or --at 2030-01-31T09:00:00Z"));
    let due = match (claim.within, claim.at) {
        (Some(span), _) => now + read_span(span).ok_or_else(|| wrong(span))?,
        (None, at) => at.and_then(read_moment).ok_or_else(|| wrong(at.unwrap_or_default()))?,
    };
    let spec = life.birth().world.domains.iter().find(|spec| spec.name == claim.domain);
    let Some(spec) = spec else {
        let known: Vec<&str> = life.birth().world.domains.iter().map(|spec| spec.name.as_str()).collect();
        let about = if known.is_empty() { "nothing; it has no checks".to_owned() } else { known.join(", ") };
        return Err(Error::Usage(format!("{name} can make claims about: {about}")));
    };
    let what = match spec.kind {
        DomainKind::Direction => format!("{:.0} %", 100.0 * claim.value),
        _ => claim.value.to_string(),
    };
    let done = format!("predicted {} = {what} for {}", claim.domain, date(due));
    let command = Command::Claim { domain: claim.domain.to_owned(), value: claim.value, due };
    owner::order(home, name, command, &done, json)
}
