//! `data`: candles that are brought, and markets that are followed into the present.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use golem::Time;
use serde_json::json;
use shell::feeds::{self, Follower, Plan, Source, Venue};
use shell::home::data as imported;
use shell::{Error, Home, wall};
use world::series::Writer;
use world::{Candles, Report};

use super::run::catch_interrupts;
use crate::args::{DataVerb, FollowArgs};
use crate::exit;
use crate::output::{self, count, date, line};

pub(crate) fn data(home: &Home, verb: &DataVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        DataVerb::Import { file, name } => {
            let report = imported::import(home, file, name)?;
            if json {
                output::json(&report);
            } else {
                line(report.to_string());
                line(format!("next: bardo golem new NAME --world replay --data {name}"));
            }
        }
        DataVerb::Follow(args) => return follow(home, args, json),
        DataVerb::Unfollow { name } => {
            if Plan::read(home.require()?, name.as_str())?.is_none() {
                return Err(Error::Usage(format!("{name} is not followed; see `bardo data list`")));
            }
            Plan::remove(home, name)?;
            match json {
                true => output::json(&json!({ "name": name, "followed": false })),
                false => line(format!(
                    "{name} is no longer followed; the bars that have come stay, and golems that watch it wait"
                )),
            }
        }
        DataVerb::List => list(home, json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(home: &Home, json: bool) -> Result<(), Error> {
    let names = imported::list(home)?;
    if names.is_empty() && !json {
        line("nothing here yet: bring in candles with `bardo data import FILE --name NAME`, or follow a market with");
        line("`bardo data follow eth --venue kraken`");
    }
    for name in names {
        let followed = Plan::read(home, &name).ok().flatten();
        match imported::look(home, &name) {
            Ok((report, hash)) if json => output::json(&json!({
                "name": name, "bars": report.bars, "interval_ms": report.interval, "from": report.from,
                "until": report.until, "gaps": report.gaps.len(), "sha256": hash, "followed": followed,
            })),
            Ok((report, hash)) => {
                let rest = match &followed {
                    Some(plan) => format!("followed: {}{}", plan.first, behind(report.until, plan)),
                    None => format!("sha256 {}…", &hash[..12]),
                };
                line(format!("{name:<20} {}, {rest}", span(&report)));
            }
            Err(e) if json => output::json(&json!({ "name": name, "error": e.to_string(), "followed": followed })),
            Err(e) => line(format!("{name:<20} cannot be read: {e}")),
        }
    }
    Ok(())
}

fn span(report: &Report) -> String {
    let (from, until) = (date(report.from), date(report.until));
    format!("{from} to {until}, {} bars of {}, {} gaps", count(report.bars), report.interval, report.gaps.len())
}

/// How far it is behind, if it is.
fn behind(until: Time, plan: &Plan) -> String {
    let now = Time::millis(wall::now_ms() as u64);
    let bars = now.since(until).as_millis() / plan.bar_ms.max(1);
    if bars > 0 { format!(", {} bars behind", count(bars)) } else { String::new() }
}

fn follow(home: &Home, args: &FollowArgs, json: bool) -> Result<ExitCode, Error> {
    let plan = plan(args)?;
    plan.check()?;
    home.require()?;
    let known = Plan::read(home, plan.name.as_str())?;
    if known.is_none() && plan.file(home).exists() {
        let name = &plan.name;
        let why = format!("there is already data named {name}; choose another name, and begin with it by --history");
        return Err(Error::Usage(why));
    }
    if known.as_ref().is_some_and(|known| known.bar_ms != plan.bar_ms) {
        return Err(Error::Usage(format!("{} has bars of another length; choose another name", plan.name)));
    }
    // A mistyped market is found out before anything is written.
    if known.as_ref() != Some(&plan) {
        for source in [Some(&plan.first), plan.second.as_ref()].into_iter().flatten() {
            if let Err(why) = feeds::sound(&plan, source) {
                let hint = match why.is_for_good() {
                    true => "; --product says what the venue calls it",
                    false if known.is_none() && source == &plan.first => {
                        "; nothing was begun. Try again later, or ask another with --venue; candles in a file are brought with \
                         `bardo data import`"
                    }
                    false => "",
                };
                let why = format!("{source}: {why}{hint}");
                if known.is_none() && source == &plan.first {
                    return Err(Error::Usage(why));
                }
                output::complain(why);
            }
        }
    }
    if let Some(file) = &args.history {
        begin_with(home, &plan, file)?;
    }
    plan.write(home)?;
    let name = plan.name.clone();
    if home.is_up() {
        match json {
            true => output::json(&json!({ "name": name, "followed": plan })),
            false => line(format!("the host that is up follows {name} from now on; see bardo data list")),
        }
        return Ok(ExitCode::SUCCESS);
    }
    here(home, &plan, args.once, json)
}

/// Follows it in this process, until Ctrl-C, or until what there is by now has come.
fn here(home: &Home, plan: &Plan, once: bool, json: bool) -> Result<ExitCode, Error> {
    let interrupts = catch_interrupts()?;
    let (name, mut said) = (&plan.name, 0_u32);
    let done = |follower: &Follower| once && follower.has_all(wall::now_ms());
    let goes_on = |follower: &Follower| interrupts.load(Ordering::SeqCst) == 0 && !done(follower);
    feeds::follow(plan, home, goes_on, |follower, added, news| {
        for news in news {
            output::complain(news.text);
        }
        let Some(until) = follower.until().filter(|_| added > 0) else { return };
        said += 1;
        match json {
            true => output::json(&json!({ "name": name, "added": added, "until": until })),
            false => line(format!("{} bars more, until {}", count(added), date(until))),
        }
        if said == 1 && !once && !json {
            output::complain(format!(
                "next: bardo golem new NAME --data {name}; `bardo up` follows it too. Ctrl-C ends this"
            ));
        }
    })?;
    if once && !json {
        line(format!("next: bardo golem new NAME --data {name}"));
    }
    Ok(if once { ExitCode::SUCCESS } else { ExitCode::from(exit::INTERRUPTED) })
}

fn plan(args: &FollowArgs) -> Result<Plan, Error> {
    let product = |venue: Venue| args.product.clone().unwrap_or_else(|| venue.product(args.name.as_str()));
    let first = Source { venue: args.venue, product: product(args.venue), address: args.url.clone() };
    let second = match args.second.as_deref() {
        None => None,
        Some(text) => {
            let (venue, product) = text.split_once(':').map_or((text, None), |(venue, product)| (venue, Some(product)));
            let venue: Venue = venue.parse().map_err(Error::Usage)?;
            let product = product.map_or_else(|| venue.product(args.name.as_str()), str::to_owned);
            Some(Source { venue, product, address: None })
        }
    };
    let since = match args.since.as_deref() {
        None => None,
        Some(text) => {
            Some(day(text).ok_or_else(|| Error::Usage(format!("{text:?} is not a date; write it like 2026-01-31")))?)
        }
    };
    Ok(Plan { name: args.name.clone(), bar_ms: args.interval.as_millis(), first, second, since })
}

/// Seconds since the epoch at which this day, or this moment, begins.
fn day(text: &str) -> Option<u64> {
    let moment = text.parse::<jiff::Timestamp>().ok();
    let day = || Some(text.parse::<jiff::civil::Date>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp());
    moment.or_else(day).and_then(|at| u64::try_from(at.as_second()).ok())
}

/// Puts what its owner has of the past before everything else.
fn begin_with(home: &Home, plan: &Plan, file: &Path) -> Result<(), Error> {
    let (candles, report) = Candles::read(file)?;
    if candles.interval() != plan.bar() {
        let (have, want) = (candles.interval(), plan.bar());
        return Err(Error::Usage(format!("{} has bars of {have}, not of {want}", file.display())));
    }
    let mut writer = Writer::open(plan.file(home), plan.bar())?;
    if writer.until().is_some() {
        return Err(Error::Usage(format!("{} has a history already", plan.name)));
    }
    // A bar that is not over yet may come otherwise.
    let now = Time::millis(wall::now_ms() as u64);
    let over: Vec<_> = candles.bars().iter().copied().filter(|bar| bar.opened + plan.bar() <= now).collect();
    writer.add(&over, "history")?;
    output::complain(format!("{}: {} bars of history", plan.name, count(report.bars)));
    Ok(())
}
