//! `dream now|wake|report|list`: nights, as their owner orders and reads them.

use std::process::ExitCode;

use golem::rule::text::Parsed;
use golem::{Command, Life};
use shell::view::dreamt::on_trial;
use shell::view::nights::nights;
use shell::{Error, GolemHome, Home};

use crate::args::DreamVerb;
use crate::commands::owner;
use crate::named;
use crate::output::{self, count, date, line};

pub(crate) fn dispatch(home: &Home, verb: DreamVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        DreamVerb::Now { name } => owner::order(home, &name, Command::Dream, "falls asleep", json),
        DreamVerb::On { name } => owner::order(home, &name, Command::Dreams { on: true }, "dreams from now on", json),
        DreamVerb::Off { name } => owner::order(home, &name, Command::Dreams { on: false }, "dreams no more", json),
        DreamVerb::Wake { name } => owner::order(home, &name, Command::Wake, "is awake", json),
        DreamVerb::Report { name } => report(&named::read_golem(home, &name)?, json),
        DreamVerb::List { name } => list(&named::read_golem(home, &name)?, json),
    }
}

fn list(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let nights = nights(place)?;
    if nights.is_empty() && !json {
        line(format!("{} has never dreamt", place.name));
    } else if !json {
        line(format!(
            "{:>6} {:<20} {:>6} {:>9} {:>9} {:>7} {:>11}",
            "NIGHT", "BEGAN", "TICKS", "EPISODES", "PROPOSED", "STAGED", "COST"
        ));
    }
    for night in nights {
        if json {
            output::json(&night);
            continue;
        }
        let (replayed, proposed, staged) =
            night.found.as_ref().map_or((0, 0, 0), |found| (found.replayed, found.proposed, found.staged.len()));
        let woken = night.woken.map_or(String::new(), |by| format!("  woken ({by:?})").to_lowercase());
        line(format!(
            "{:>6} {:<20} {:>6} {replayed:>9} {proposed:>9} {staged:>7} {:>11}{woken}",
            count(night.number),
            date(night.began),
            night.ticks,
            night.cost.to_string()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn report(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let nights = nights(place)?;
    let (golem, _) = place.wake()?;
    let life = golem.life();
    let dreams = &life.dreams();
    let Some(night) = nights.last() else {
        let why = golem::dream::blocked(life).map_or(String::new(), |why| format!("; none could begin now: {why}"));
        if json {
            output::json(&serde_json::json!({ "nights": 0 }));
        } else if dreams.are_on(life) {
            line(format!("{} has not dreamt yet{why}", place.name));
        } else {
            line(format!("{} does not dream; `bardo dream on {}` switches its dreams on", place.name, place.name));
        }
        return Ok(ExitCode::SUCCESS);
    };
    if json {
        output::json(&serde_json::json!({
            "nights": dreams.nights, "whole": dreams.whole, "spent": dreams.spent, "wasted": dreams.wasted,
            "promoted": dreams.promoted, "refuted": dreams.refuted, "forgotten": dreams.expired, "last": night,
            "staged": dreams.staged, "revisions": dreams.revisions, "taken_back": dreams.rolled_back,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let so_far = if night.ended { "" } else { ", still asleep" };
    line(format!("{}, night {} of {}{so_far}", place.name, count(night.number), date(night.began)));
    night.told.iter().for_each(|text| line(format!("  {text}")));
    line(format!("  it cost {}; all nights together {}, {} of it wasted", night.cost, dreams.spent, dreams.wasted));
    for staged in &dreams.staged {
        let trial = on_trial(staged, &life.birth().world);
        line(format!("  on trial: {}", trial.rule));
        line(format!("    {}", trial.how));
    }
    for revision in &dreams.revisions {
        let domain = &life.birth().world.domains[usize::from(revision.domain)].name;
        let how =
            if revision.adopted { "has learned again; what it knew before is still kept" } else { "learns again" };
        line(format!(
            "  {domain} {how}: night {}, {} for and {} against",
            revision.night, revision.confirmed, revision.contradicted
        ));
    }
    line(format!(
        "  of earlier ones {} borne out, {} refuted, {} forgotten; {} taken back",
        dreams.promoted, dreams.refuted, dreams.expired, dreams.rolled_back
    ));
    adopted(life);
    Ok(ExitCode::SUCCESS)
}

/// Rules that dreams brought into the playbook, and how they have done since.
fn adopted(life: &Life) {
    for heuristic in life.playbook().iter().filter(|h| h.provenance == golem::rule::Provenance::Dreamt) {
        let effect = (heuristic.expects() * 1_000.0).round() / 1_000.0;
        let parsed = Parsed { effect, ..Parsed::from(heuristic) };
        let rule = parsed.print(&life.birth().world).unwrap_or_default();
        let skill = heuristic.skill() * 100.0;
        line(format!(
            "  in use: {rule} ({} % against naive in {:.0} claims)",
            output::signed(skill, 1),
            heuristic.weight
        ));
    }
}
