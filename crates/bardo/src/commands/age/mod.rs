//! `age`: what age does to the user's agents, from the records that lie on this disk. Behind a fence without a network,
//! and nothing is written but what is asked for.

mod find;
mod page;
mod rows;
mod sessions;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use age::{End, GolemCall, Group, Shelf, Study, StudyOptions};
use golem::Time;
use outside::fence;
use serde_json::json;
use shell::home::log::KnownTip;
use shell::{Error, Home};

use crate::args::{AgeArgs, AgeBy};
use crate::output;

pub(crate) fn age(home: &Home, args: &AgeArgs, json: bool) -> Result<ExitCode, Error> {
    if args.schema {
        output::json(&age::schema());
        return Ok(ExitCode::SUCCESS);
    }
    // Without a home there is the book that is built in.
    let book = home.book().unwrap_or_else(|_| tariff::Book::built_in());
    let mut shelf = Shelf::new(&book, shell::wall::now_ms());
    if args.golems {
        golems(home, &mut shelf);
    }
    let writable = places_to_write(args)?;
    let fenced = fence::read_only(&writable).unwrap_or(false);
    let found = if args.paths.is_empty() { find::usual() } else { find::given(&args.paths)? };
    let trouble = find::read_all(&found, &mut shelf);
    trouble.iter().for_each(output::complain);
    if !fenced {
        output::complain("this kernel has no fence; the records were read without one, and still nothing was sent");
    }
    let asked = StudyOptions {
        by: match args.by {
            None => Group::All,
            Some(AgeBy::Model) => Group::Model,
            Some(AgeBy::Harness) => Group::Harness,
            Some(AgeBy::Project) => Group::Project,
        },
        handover: args.handover.map(|sum| sum.as_f64()),
        helpers: args.helpers,
    };
    let studies = Study::of(&shelf.lives, &asked);
    if let Some(folder) = &args.rows {
        rows::write(&shelf.lives, folder)?;
    }
    if let Some(file) = &args.page {
        output::save(file, page::page(&studies, &shelf).as_bytes())?;
    }
    if json {
        output::json(&json!({ "sources": shelf.lines, "studies": studies }));
    } else {
        text::say(&studies, &shelf, args);
        if let Some(folder) = &args.rows {
            let files = "records.jsonl, and lives and calls as .jsonl, .csv and .parquet";
            output::line(format!("{} lives in {}: {files}", shelf.lives.len(), folder.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Places that may be written to from then on: the folders of the files asked for, made while that is still allowed.
fn places_to_write(args: &AgeArgs) -> Result<Vec<PathBuf>, Error> {
    let cannot = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { what: "cannot write", path, source }
    };
    let mut places = Vec::new();
    if let Some(folder) = &args.rows {
        fs::create_dir_all(folder).map_err(cannot(folder))?;
        places.push(folder.clone());
    }
    if let Some(file) = &args.page {
        // Only the file, if it can be made; this command has no business with the rest of its folder.
        fs::OpenOptions::new().append(true).create(true).open(file).map_err(cannot(file))?;
        places.push(file.clone());
    }
    Ok(places)
}

/// Takes in the calls of agents whose purse is a golem, as far as there is a home.
fn golems(home: &Home, shelf: &mut Shelf<'_>) {
    let mut known = KnownTip::default();
    for place in home.list().unwrap_or_default() {
        let mut read = || -> Result<_, Error> {
            place.catch_up_after(&mut known)?;
            let dead = place.wake_after(&mut known)?.0.life().is_dead();
            Ok((vault::Reader::open(&place.database())?.calls(Time::default())?, dead))
        };
        match read() {
            Ok((calls, dead)) => {
                let calls = calls.into_iter().map(|call| GolemCall {
                    at: i64::try_from(call.at.as_millis()).unwrap_or(0),
                    model: call.model,
                    input: u64::from(call.input),
                    output: u64::from(call.output),
                    cost: call.cost.as_f64() as u64,
                });
                let end = if dead { End::Finished } else { End::Open };
                shelf.golem(&place.folder.display().to_string(), calls, end);
            }
            Err(why) => output::complain(format!("{}: {why}", place.name)),
        }
    }
}
