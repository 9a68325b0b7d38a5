//! `home`, `backup`, `restore`, `drill`: a whole home, and how it comes back.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use serde_json::json;
use shell::care::backups::Backups;
use shell::care::doctor;
use shell::care::sealed::Passphrase;
use shell::care::whole;
use shell::home::key::OwnerKey;
use shell::{Error, Home};

use crate::args::{Backup, WholeRestore};
use crate::exit;
use crate::output::{self, count, line};

/// The facts another home needs to send a golem here, or to take one in from here.
pub(crate) fn home(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let (id, key) = (home.require()?.identity()?, OwnerKey::of(home)?.public());
    if json {
        output::json(&json!({ "home": home.root(), "id": id, "key": key, "up": home.is_up() }));
    } else {
        line(format!("home  {}", home.root().display()));
        line(format!("id    {id}"));
        line(format!("key   {key}"));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn backup(home: &Home, args: &Backup, json: bool) -> Result<ExitCode, Error> {
    let keys = passphrase(args.with_keys, args.passphrase_file.as_deref())?;
    let with_keys = keys.is_some();
    let backups = Backups { folder: args.folder.clone(), every: std::time::Duration::ZERO, keep: None, keys };
    shell::care::copies::must_be_outside(home, &args.folder)?;
    let round = backups.make(home, SystemTime::now())?;
    if json {
        output::json(&round);
    } else {
        let golems = match round.golems.len() {
            1 => "1 golem".to_owned(),
            n => format!("{n} golems"),
        };
        let keys = if with_keys { ", keys encrypted" } else { "; its keys are not in there" };
        line(format!("round {} is in {}: {golems}, treasury, settings{keys}", round.made, args.folder.display()));
        line("it holds the golems' secrets: keep it where only you can read it");
    }
    for (name, why) in &round.missing {
        output::complain(format!("{name} could not be copied: {why}"));
    }
    Ok(if round.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

pub(crate) fn restore(home: &Home, args: &WholeRestore, json: bool) -> Result<ExitCode, Error> {
    if !args.take_over {
        return Err(Error::Usage(
            "the home this is a copy of may still be there, and two copies of one home would spend twice. If it is gone \
             for good, repeat with --take-over"
                .into(),
        ));
    }
    let keys = passphrase(args.with_keys, args.passphrase_file.as_deref())?;
    let restored = whole::restore(home.root(), &args.folder, keys.as_ref())?;
    report(&restored, json);
    if !json {
        line("next: bardo doctor, then bardo up");
    }
    let whole = restored.missing.is_empty() && restored.passed_over.is_empty();
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

fn report(restored: &whole::Restored, json: bool) {
    if json {
        output::json(restored);
    } else {
        for golem in &restored.golems {
            let gone = if golem.gone { ", moved away as it was" } else { "" };
            line(format!("{} is here, at tick {}{gone}", golem.name, count(golem.tick)));
        }
        line(format!("the treasury holds {} of paper money", restored.treasury));
        if !restored.keys.is_empty() {
            line(format!("keys: {}", restored.keys.join(", ")));
        }
        if restored.keys_left {
            line("keys are in there too; --with-keys brings them back");
        }
    }
    for (name, why) in &restored.passed_over {
        output::complain(format!("round {name} was passed over: {why}"));
    }
    for (name, why) in &restored.missing {
        output::complain(format!("{name} is not in this backup: {why}"));
    }
}

/// Restores it into a home that vanishes, and examines that as `bardo doctor` would.
pub(crate) fn drill(folder: &Path, json: bool) -> Result<ExitCode, Error> {
    let aside = tempfile::tempdir().map_err(|e| Error::Host(format!("no room for a drill: {e}")))?;
    let home = Home::at(aside.path().join("home"));
    let restored = whole::restore(home.root(), folder, None)?;
    let mut wrong = Vec::new();
    doctor::examine(&home, |finding| {
        if !finding.fine {
            wrong.push(finding);
        }
    })?;
    for finding in &wrong {
        if json {
            output::json(finding);
        } else {
            line(format!("WRONG {:<24} {}", finding.what, finding.detail));
        }
    }
    let (golems, fine) = (restored.golems.len(), wrong.is_empty() && restored.passed_over.is_empty());
    report_drill(&restored, golems, fine, json);
    Ok(if fine && restored.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

fn report_drill(restored: &whole::Restored, golems: usize, fine: bool, json: bool) {
    if json {
        output::json(
            &json!({ "round": restored.round, "golems": golems, "treasury": restored.treasury, "fine": fine }),
        );
    } else if fine {
        line(format!(
            "ok    round {}: {golems} golems fold to the lives they were, the treasury holds {}",
            restored.round, restored.treasury
        ));
    }
    for (name, why) in restored.passed_over.iter().chain(&restored.missing) {
        output::complain(format!("{name}: {why}"));
    }
}

fn passphrase(wanted: bool, file: Option<&Path>) -> Result<Option<Passphrase>, Error> {
    wanted.then(|| Passphrase::find(file)).transpose()
}
