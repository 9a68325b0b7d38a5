//! Forecast of an upgrade: what this program will do to a home that an earlier one made. It only reads.

use std::time::SystemTime;

use vault::{FileStanding, Reader};

use super::backups::Backups;
use super::doctor::Finding;
use crate::Error;
use crate::home::{GolemHome, Home};

/// Tells everything that an upgrade touches, golem by golem; returns for how many it changes something.
pub fn foresee(home: &Home, mut tell: impl FnMut(Finding)) -> Result<usize, Error> {
    home.require()?;
    tell(host(home));
    tell(settings(home));
    tell(match home.treasury_to_read().and_then(|treasury| Ok(treasury.balance()?)) {
        Ok(_) => Finding::fine("treasury", "as it is"),
        Err(why) => Finding::wrong("treasury", why.to_string()),
    });
    let mut touched = 0;
    for golem in home.list()? {
        let standing = look(&golem);
        touched += usize::from(standing.as_ref().is_ok_and(|standing| !standing.is_todays()));
        tell(life(&golem, standing));
    }
    tell(copies(home));
    Ok(touched)
}

fn host(home: &Home) -> Finding {
    let what = match home.is_up() {
        true => "up; it goes on as the version it was started with, until it is restarted",
        false => "not up",
    };
    Finding::fine("host", what)
}

fn settings(home: &Home) -> Finding {
    match home.settings() {
        Ok(_) => Finding::fine("bardo.toml", "as it is"),
        Err(why) => Finding::wrong("bardo.toml", why.to_string()),
    }
}

fn look(place: &GolemHome) -> Result<FileStanding, vault::Error> {
    let reader = Reader::open(&place.database())?;
    let standing = FileStanding::of(&reader)?;
    // A life that does not wake here would not wake after the upgrade either.
    reader.wake().map(|_| standing)
}

fn life(place: &GolemHome, standing: Result<FileStanding, vault::Error>) -> Finding {
    let name = place.name.to_string();
    let standing = match standing {
        Ok(standing) => standing,
        Err(why) => return Finding::wrong(name, why.to_string()),
    };
    if standing.is_todays() {
        return Finding::fine(name, "as it is");
    }
    let records = standing.records;
    let mut done = Vec::new();
    if standing.layout {
        done.push("its file is marked as this version's, and no earlier one opens it after that".to_owned());
    }
    if standing.anew {
        done.push(format!("all {records} records are applied again, once"));
    }
    if standing.tables {
        done.push("the tables made from them are made again".to_owned());
    }
    Finding::fine(name, format!("when it next runs: {}", done.join("; ")))
}

/// Finding on backups: going back is by a copy, so whether there is one is worth a line.
fn copies(home: &Home) -> Finding {
    let newest = home.settings().ok().and_then(|settings| Backups::of(&settings)).map(|backups| backups.newest_made());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let detail = match newest {
        Some(made) if made > 0 => format!(
            "the newest is {} hours old; the version before opens what it made itself",
            now.saturating_sub(made) / 3_600
        ),
        _ => "none that this home knows of; bardo backup FOLDER makes one, with the version before".to_owned(),
    };
    Finding::fine("copies", detail)
}
