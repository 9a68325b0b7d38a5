//! `grimoire search|show|stats|verify|export|import`: what a golem knows, for people and programs.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use golem::grimoire::{Entry, How, Kind, Status, bundle, entry_of};
use golem::inheritance::{Way, may_leave};
use golem::{Golem, Life};
use serde_json::json;
use shell::life::recall;
use shell::view::known;
use shell::{Error, GolemHome, Home, Living, Runtime};
use vault::Reader;
use vault::grimoire::{Hit, Query};

use crate::args::{GrimoireVerb, Origin, Search};
use crate::named;
use crate::output::{self, count, line};

pub(crate) fn dispatch(home: &Home, verb: GrimoireVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        GrimoireVerb::Search(search) => self::search(home, &named::read_golem(home, &search.name)?, &search, json),
        GrimoireVerb::Embed { name } => embed(home, &named::read_golem(home, &name)?, json),
        GrimoireVerb::Show { name, id } => show(&named::read_golem(home, &name)?, id, json),
        GrimoireVerb::Stats { name } => stats(&named::read_golem(home, &name)?, json),
        GrimoireVerb::Verify { name } => verify(&named::read_golem(home, &name)?, json),
        GrimoireVerb::Export { name, to } => export(&named::read_golem(home, &name)?, to.as_deref(), json),
        GrimoireVerb::Import { name, from, origin } => {
            import(home, &named::read_golem(home, &name)?, &from, origin, json)
        }
    }
}

/// The life and all it knows, with what the playbook has learned since it was last written down.
fn known(place: &GolemHome) -> Result<(Reader, Golem, Vec<Entry>), Error> {
    let reader = Reader::open(&place.database())?;
    let (golem, _) = reader.wake()?;
    let entries = reader.entries()?.into_iter().map(|entry| current(entry, golem.life())).collect();
    Ok((reader, golem, entries))
}

fn current(entry: Entry, life: &Life) -> Entry {
    match life.playbook().iter().find(|heuristic| heuristic.id == entry.id) {
        Some(heuristic) => entry_of(heuristic, life, Some(&entry)),
        None => entry,
    }
}

fn search(home: &Home, place: &GolemHome, args: &Search, json: bool) -> Result<ExitCode, Error> {
    let reader = Reader::open(&place.database())?;
    let (golem, _) = reader.wake()?;
    let life = golem.life();
    let mut query = Query::about(args.query.join(" "), life.now(), life.regimes().now);
    (query.limit, query.transition) = (args.limit, life.regimes().transition());
    query.kinds = args.kind.map(|kind| kind.0).into_iter().collect();
    if args.all {
        query.statuses = Vec::new();
    }
    let embedder = recall::embedder(&home.settings()?)?;
    let embedder = embedder.as_ref().map(|served| served as &dyn mind::Embedder);
    let (hits, silent) = recall::search(&reader, embedder, &mut query)?;
    if let Some(why) = silent {
        output::complain(format!("{why}; searched by words alone"));
    }
    if hits.is_empty() && !json {
        line(format!("{} knows nothing of that", place.name));
    }
    for Hit { entry, score, parts } in hits {
        let entry = current(entry, life);
        if json {
            let mut value = json!({ "score": score, "entry": entry, "confidence": entry.confidence(life.now()) });
            if args.explain {
                value["parts"] = json!(parts);
            }
            output::json(&value);
            continue;
        }
        line(format!(
            "{:>6}  {:<17} {:.2}  {}",
            entry.id,
            entry.kind.name(),
            entry.confidence(life.now()),
            known::says(&entry, life)
        ));
        if args.explain {
            let likeness = parts.likeness.map_or("no vector".to_owned(), |likeness| format!("{likeness:.2}"));
            line(format!(
                "        {score:.3} = relevance {:.2} (words {:.2}, likeness {likeness}) × confidence {:.2} × recency \
                 {:.2} × regime {:.2} × bloodstain {:.1}",
                parts.relevance, parts.keywords, parts.confidence, parts.recency, parts.regime, parts.bloodstain
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn embed(home: &Home, place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let settings = home.settings()?;
    let Some(embedder) = recall::embedder(&settings)? else {
        let advice = "no embedding model is configured; set models.embedding in bardo.toml, such as nomic-embed-text";
        return Err(Error::Usage(advice.into()));
    };
    let _loan = place.borrow()?;
    let (living, _) = Living::open(&Runtime::of(home), place.clone(), settings.integer("run.snapshot_every") as u64)?;
    let show = std::io::stderr().is_terminal() && !json;
    let done = recall::fill(living.vault(), &embedder, |done| {
        if show {
            eprint!("\r{done} entries");
        }
    })?;
    if json {
        output::json(&json!({ "name": place.name, "embedded": done }));
    } else {
        line(format!("{} entries have a vector now", count(done as u64)));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(place: &GolemHome, id: u64, json: bool) -> Result<ExitCode, Error> {
    let (_, golem, entries) = known(place)?;
    let life = golem.life();
    let Some(entry) = entries.into_iter().find(|entry| entry.id == id) else {
        return Err(Error::Usage(format!("{} has no entry {id}; see `bardo grimoire search`", place.name)));
    };
    if json {
        let mut value = serde_json::to_value(&entry).expect("plain data");
        value["confidence"] = json!(entry.confidence(life.now()));
        output::json(&value);
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{} {}, {}", entry.kind.name(), entry.id, entry.status.name()));
    line(format!("  {:<10} {}", "says", known::says(&entry, life)));
    known::rows(&entry, life).iter().for_each(|row| line(format!("  {:<10} {}", row.about, row.says)));
    Ok(ExitCode::SUCCESS)
}

fn stats(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let (_, golem, entries) = known(place)?;
    let now = golem.life().now();
    let of = |kind: Kind, status: Status| entries.iter().filter(|e| e.kind == kind && e.status == status).count();
    let statuses = [Status::Active, Status::Candidate, Status::Dormant, Status::Archived];
    if json {
        let kinds: serde_json::Map<String, serde_json::Value> = Kind::ALL
            .iter()
            .map(|kind| {
                let by: serde_json::Map<_, _> =
                    statuses.iter().map(|status| (status.name().to_owned(), json!(of(*kind, *status)))).collect();
                (kind.name().to_owned(), by.into())
            })
            .collect();
        let pruned = golem.life().knowing().pruned();
        output::json(&json!({ "entries": entries.len(), "kinds": kinds, "pruned": pruned }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!(
        "{:<18} {:>8} {:>10} {:>8} {:>9} {:>11}",
        "KIND", "ACTIVE", "CANDIDATE", "DORMANT", "ARCHIVED", "CONFIDENCE"
    ));
    for kind in Kind::ALL {
        let active: Vec<f64> = entries
            .iter()
            .filter(|entry| entry.kind == kind && entry.status == Status::Active)
            .map(|entry| entry.confidence(now))
            .collect();
        let mean = if active.is_empty() {
            "".to_owned()
        } else {
            format!("{:.2}", active.iter().sum::<f64>() / active.len() as f64)
        };
        let [a, c, d, r] = statuses.map(|status| count(of(kind, status) as u64));
        line(format!("{:<18} {a:>8} {c:>10} {d:>8} {r:>9} {mean:>11}", kind.name()));
    }
    line(format!(
        "{:.0} % of what was in use was archived in the last 500 ticks",
        golem.life().knowing().pruned() * 100.0
    ));
    Ok(ExitCode::SUCCESS)
}

fn verify(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let reader = Reader::open(&place.database())?;
    let found = reader.verify(&place.home().heads());
    let entries = reader.entries().map(|entries| entries.len()).unwrap_or(0);
    if json {
        output::json(
            &json!({ "entries": entries, "fine": found.is_ok(), "why": found.as_ref().err().map(ToString::to_string) }),
        );
    }
    found?;
    if !json {
        line(format!("{} entries, each as the journal says", count(entries as u64)));
    }
    Ok(ExitCode::SUCCESS)
}

fn export(place: &GolemHome, to: Option<&Path>, json: bool) -> Result<ExitCode, Error> {
    let (_, golem, mut entries) = known(place)?;
    entries.retain(|entry| may_leave(entry, golem.life(), Way::Copied));
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| serde_json::to_string(&bundle::export(entry, golem.life())).expect("plain data"))
        .collect();
    let Some(path) = to else {
        lines.iter().for_each(|entry| output::json_line(entry));
        return Ok(ExitCode::SUCCESS);
    };
    let io = |source| Error::Io { what: "cannot write", path: path.to_owned(), source };
    let mut file = fs::File::create_new(path).map_err(io)?;
    shell::private::share(path).map_err(io)?;
    for entry in &lines {
        writeln!(file, "{entry}").map_err(io)?;
    }
    if json {
        output::json(&json!({ "entries": lines.len(), "file": path }));
    } else {
        line(format!("{} entries are in {}", count(lines.len() as u64), path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn import(home: &Home, place: &GolemHome, from: &Path, origin: Origin, json: bool) -> Result<ExitCode, Error> {
    let text =
        fs::read_to_string(from).map_err(|source| Error::Io { what: "cannot read", path: from.to_owned(), source })?;
    let every = home.settings()?.integer("run.snapshot_every") as u64;
    let _loan = place.borrow()?;
    let (mut living, _) = Living::open(&Runtime::of(home), place.clone(), every)?;
    let how = match origin {
        Origin::Inherited => How::Inherited,
        Origin::Clade => How::Clade,
        Origin::Purchased => How::Purchased,
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let told = living.take_in(&lines, how)?;
    let taken = told.iter().filter(|told| told.is_ok()).count();
    if json {
        let why: Vec<_> = told
            .iter()
            .enumerate()
            .filter_map(|(at, told)| Some(json!({ "line": at + 1, "why": told.as_ref().err()?.to_string() })))
            .collect();
        output::json(&json!({ "lines": told.len(), "taken": taken, "turned_away": why }));
        return Ok(ExitCode::SUCCESS);
    }
    for (at, told) in told.iter().enumerate() {
        if let Err(why) = told {
            line(format!("line {}: {why}", at + 1));
        }
    }
    line(format!(
        "{} of {} lines are in quarantine, to be tried without a say",
        count(taken as u64),
        count(told.len() as u64)
    ));
    Ok(ExitCode::SUCCESS)
}
