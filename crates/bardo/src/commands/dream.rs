//! `dream now|wake|report|list`: nights, as their owner orders and reads them.

use std::process::ExitCode;

use golem::dream::{Ahead, Found, Met, Origin, Staged};
use golem::rule::text::Parsed;
use golem::world::Manifest;
use golem::{Command, Life};
use host::view::nights::nights;
use host::{Error, GolemHome, Home};

use crate::args::DreamVerb;
use crate::commands::owner;
use crate::output::{self, count, date, line};

pub(crate) fn dispatch(home: &Home, verb: DreamVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        DreamVerb::Now { name } => owner::order(home, &name, Command::Dream, "falls asleep", json),
        DreamVerb::On { name } => owner::order(home, &name, Command::Dreams { on: true }, "dreams from now on", json),
        DreamVerb::Off { name } => owner::order(home, &name, Command::Dreams { on: false }, "dreams no more", json),
        DreamVerb::Wake { name } => owner::order(home, &name, Command::Wake, "is awake", json),
        DreamVerb::Report { name } => report(&home.read_golem(&name)?, json),
        DreamVerb::List { name } => list(&home.read_golem(&name)?, json),
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
    let dreams = &life.dreams;
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
    line(format!("{}, night {} of {}{so_far}", life.birth.name, count(night.number), date(night.began)));
    match &night.found {
        None => line("  nothing was looked through"),
        Some(found) => dreamt(found, &life.birth.world).iter().for_each(|text| line(format!("  {text}"))),
    }
    line(format!("  it cost {}; all nights together {}, {} of it wasted", night.cost, dreams.spent, dreams.wasted));
    for staged in &dreams.staged {
        let [rule, how] = on_trial(staged, &life.birth.world);
        line(format!("  on trial: {rule}"));
        line(format!("    {how}"));
    }
    for revision in &dreams.revisions {
        let domain = &life.birth.world.domains[usize::from(revision.domain)].name;
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

/// What a night went through, in its order.
pub(crate) fn dreamt(found: &Found, world: &Manifest) -> Vec<String> {
    let mut told = Vec::new();
    let mut line = |text: String| told.push(text);
    let feature = |at: u8| world.features.get(usize::from(at)).map_or("?", String::as_str);
    let closely = found.batch.len();
    line(format!("{} episodes replayed, {closely} of them closely", found.replayed));
    if let Some(keyword) = found.keyword {
        let (caught, new) = found.fragments;
        line(format!("what surprised it most had to do with {}", feature(keyword)));
        if caught > 0 {
            line(format!("falling asleep: {caught} fragments, {new} of them worth a test"));
        }
    }
    if !found.replay.precursors.is_empty() {
        let named: Vec<&str> = found.replay.precursors.iter().map(|at| feature(*at)).collect();
        line(format!("before large moves it was {} that stood out", named.join(", ")));
    }
    for trajectory in &found.replay.ahead {
        let if_ = match &trajectory.if_ {
            Ahead::Continues => "if things go on as they are".to_owned(),
            Ahead::Switches(regime) => format!("if the world turns {}", format!("{regime:?}").to_lowercase()),
            Ahead::Fires { through, .. } => {
                let way: Vec<&str> = through.iter().map(|at| feature(*at)).collect();
                format!("if {} moves", way.join(", and then "))
            }
        };
        let [change, worst] = [trajectory.change, trajectory.worst].map(|share| output::percent(f64::from(share), 2));
        line(format!("{if_}: {change} on average, {worst} at worst"));
    }
    let imagined = &found.imagined;
    if imagined.alternatives > 0 {
        let (tried, better) = (imagined.alternatives, imagined.better);
        line(format!("{tried} other choices worked out, {better} would have been better"));
    }
    for threat in &imagined.threats {
        let fall = f64::from(threat.fall_bps) / 100.0;
        let met = match threat.met_by {
            Met::Nothing => "there is no stop to meet it",
            Met::Stop => "the stop would meet it",
            Met::TooLate => "too sudden for the stop",
        };
        line(format!("a fall of {fall:.1} % would cost {}: {met}", threat.loss));
    }
    if let Some(rehearsed) = &imagined.rehearsed {
        let before: Vec<&str> = rehearsed.omen.0.iter().map(|c| feature(c.feature)).collect();
        line(format!("the worst it remembers began with {}: a warning of it is on trial", before.join(" and ")));
    }
    if !imagined.calmed.is_empty() {
        line(format!("{} stirring memories stir it less now", imagined.calmed.len()));
    }
    if !found.replay.forgotten.is_empty() {
        line(format!("{} worn-out episodes let go", found.replay.forgotten.len()));
    }
    let held = found.staged.len() + found.revisions.len();
    let looked_at = count(u64::from(found.looked_at));
    line(match (found.proposed, held) {
        (0, _) => format!("{looked_at} ideas, none less wrong than the playbook as it is: nothing came of it"),
        (proposed, 0) => {
            format!("{looked_at} ideas, {proposed} tested, none held on what it had not seen: nothing came of it")
        }
        (proposed, held) => format!("{looked_at} ideas, {proposed} tested, {held} held on what they had not seen"),
    });
    told
}

/// A hypothesis on trial: the rule, and how it has done so far.
pub(crate) fn on_trial(staged: &Staged, world: &Manifest) -> [String; 2] {
    let effect = (staged.heuristic.effect * 1_000.0).round() / 1_000.0;
    let rule = Parsed { effect, ..Parsed::from(&staged.heuristic) }.print(world).unwrap_or_default();
    let how = format!(
        "{}, night {}, confidence {:.2}, {} for and {} against; {}",
        origin(staged.origin),
        staged.night,
        staged.confidence,
        staged.confirmed,
        staged.contradicted,
        to_come(staged.confidence)
    );
    [rule, how]
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Pattern => "something episodes have in common",
        Origin::Fragment => "caught while falling asleep",
        Origin::Recombined => "put together from others",
        Origin::Inherited => "left unfinished by who came before",
        Origin::Random => "made up",
        Origin::Regret => "where the other choice would have been better",
        Origin::Thought => "proposed by a model",
    }
}

fn to_come(confidence: f64) -> String {
    let more = ((golem::dream::PROMOTED - confidence) / 0.1).ceil().max(0.0) as u32;
    format!("{more} more would let it in")
}

/// What dreams have brought into the playbook, and how it has done since.
fn adopted(life: &Life) {
    for heuristic in life.playbook.iter().filter(|h| h.provenance == golem::rule::Provenance::Dreamt) {
        let effect = (heuristic.expects() * 1_000.0).round() / 1_000.0;
        let parsed = Parsed { effect, ..Parsed::from(heuristic) };
        let rule = parsed.print(&life.birth.world).unwrap_or_default();
        let skill = heuristic.skill() * 100.0;
        line(format!(
            "  in use: {rule} ({} % against naive in {:.0} claims)",
            output::signed(skill, 1),
            heuristic.weight
        ));
    }
}
