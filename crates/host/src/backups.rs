//! Backups on a schedule: a copy of each golem and of the treasury, under the time it was made, the newest few kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::config::Settings;
use crate::home::{GolemHome, Home};
use crate::{Error, keeper};

/// What an owner has said about backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backups {
    pub folder: PathBuf,
    pub every: Duration,
    pub keep: usize,
}

impl Backups {
    /// None where no folder is named.
    pub fn of(settings: &Settings) -> Option<Backups> {
        let folder = settings.text("backup.folder").filter(|text| !text.is_empty())?;
        Some(Backups {
            folder: PathBuf::from(folder),
            every: Duration::from_millis(settings.span("backup.every").as_millis()),
            keep: settings.integer("backup.keep") as usize,
        })
    }

    /// Copies whatever has no copy younger than the owner wants; how many golems that were, and the first that failed.
    pub fn make_due(&self, home: &Home, now: SystemTime) -> Result<(usize, Option<String>), Error> {
        fs::create_dir_all(&self.folder).map_err(Error::io("cannot create", &self.folder))?;
        let treasury = self.folder.join("treasury");
        if self.is_due(&treasury, now) {
            fs::create_dir_all(&treasury).map_err(Error::io("cannot create", &treasury))?;
            home.treasury()?.copy_to(&treasury.join(format!("{}.db", stamp(now))))?;
            self.prune(&treasury)?;
        }
        let (mut made, mut failed) = (0, None);
        for place in home.list()? {
            let folder = self.folder.join("golems").join(place.name.as_str());
            if !self.is_due(&folder, now) {
                continue;
            }
            // One that cannot be copied does not keep the others from it.
            match self.copy(&place, &folder, now) {
                Ok(()) => made += 1,
                Err(why) => failed = failed.or(Some(format!("{}: {why}", place.name))),
            }
        }
        Ok((made, failed))
    }

    /// When the newest copy of anything was made, in seconds since 1970; 0 if there is none.
    pub(crate) fn newest_made(&self) -> u64 {
        let made = |path: PathBuf| {
            Some(fs::metadata(path).ok()?.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs())
        };
        newest(&self.folder).into_iter().filter_map(made).max().unwrap_or(0)
    }

    fn copy(&self, place: &GolemHome, folder: &Path, now: SystemTime) -> Result<(), Error> {
        place.catch_up()?;
        keeper::backup_sharing(place, &folder.join(stamp(now)), "archive")?;
        self.prune(folder)
    }

    fn is_due(&self, folder: &Path, now: SystemTime) -> bool {
        let newest = kept(folder).pop().and_then(|path| fs::metadata(path).ok()?.modified().ok());
        newest.is_none_or(|made| now.duration_since(made).is_ok_and(|age| age >= self.every))
    }

    /// Only what was made here and is too old goes.
    fn prune(&self, folder: &Path) -> Result<(), Error> {
        let all = kept(folder);
        for old in &all[..all.len().saturating_sub(self.keep)] {
            let gone = if old.is_dir() { fs::remove_dir_all(old) } else { fs::remove_file(old) };
            gone.map_err(Error::io("cannot remove", old))?;
        }
        Ok(())
    }
}

/// The newest copy of each golem in a folder of backups; of a single copy, that one.
pub fn newest(folder: &Path) -> Vec<PathBuf> {
    if folder.join("life.db").exists() {
        return vec![folder.to_owned()];
    }
    let golems = fs::read_dir(folder.join("golems")).into_iter().flatten().flatten();
    let mut newest: Vec<PathBuf> = golems.filter_map(|golem| kept(&golem.path()).pop()).collect();
    newest.sort();
    newest
}

/// Copies in a folder, the oldest first: their names are times.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let ours = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        stem.len() == 16 && stem.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z'))
    };
    let mut all: Vec<PathBuf> = entries.filter(ours).collect();
    all.sort();
    all
}

fn stamp(now: SystemTime) -> String {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |at| at.strftime("%Y%m%dT%H%M%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_few_are_kept_and_nothing_else_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        let at = |day: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400);
        for day in 0..5 {
            fs::write(dir.path().join(stamp(at(day))), "").unwrap();
        }
        fs::write(dir.path().join("mine.txt"), "").unwrap();
        let backups = Backups { folder: dir.path().to_owned(), every: Duration::from_secs(1), keep: 2 };
        backups.prune(dir.path()).unwrap();
        let names: Vec<String> =
            kept(dir.path()).iter().map(|path| path.file_name().unwrap().to_string_lossy().into()).collect();
        assert_eq!(names, ["19700104T000000Z", "19700105T000000Z"]);
        assert!(dir.path().join("mine.txt").exists());
    }
}
