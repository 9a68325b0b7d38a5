//! Copies of a whole home, by command or on a schedule, each round under a number of its own.
//!
//! ```text
//! FOLDER/rounds/000007-TIME.json      the parts of a round; written last, so what it names is whole
//!        golems/NAME/000007-TIME/     as `bardo golem backup` makes them
//!        treasury/000007-TIME.db      home/000007-TIME/     data/HASH.csv
//! ```
//!
//! The newest copy is the one with the highest number, whatever its time: clocks are wrong now and then. The treasury
//! is copied after the golems, and a golem that has paid something in meanwhile is copied again, so that the money of a
//! round adds up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use golem::GolemId;
use serde::{Deserialize, Serialize};
use settings::Settings;
use vault::{Head, Seal};

use super::copies;
use super::label::label_of;
use super::sealed::{self, Passphrase};
use crate::durable::{copy_if_there, sync_folder};
use crate::feeds::Plan;
use crate::home::log::KnownTip;
use crate::home::{GolemHome, Home, data};
use crate::{Error, hash, private};

/// How often a golem that pays in while it is copied is copied again.
const TRIES: usize = 20;
/// Files of a home that are copied as they are.
pub(crate) const FILES: &[&str] = &["bardo.toml", "home-id", "prices.csv", "renamed"];
/// Keys, encrypted.
pub(crate) const SEALED: &str = "keys.sealed";
/// The owner's shelf.
pub(crate) const LIBRARY: &str = "library.db";

/// The owner's settings for backups.
#[derive(Clone, Debug)]
pub struct Backups {
    pub folder: PathBuf,
    pub every: Duration,
    /// Rounds that are kept; none is removed if the owner does not say.
    pub keep: Option<usize>,
    pub keys: Option<Passphrase>,
}

/// The parts of one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The home it is of.
    pub home: String,
    pub made: String,
    pub golems: BTreeMap<String, GolemCopy>,
    /// Golems that could not be copied, and why.
    pub missing: BTreeMap<String, String>,
    /// Each file of it but the golems', by its path in the folder, and its hash.
    pub files: BTreeMap<String, String>,
    /// Imported candles: their name, and their file.
    pub data: BTreeMap<String, String>,
    /// The sources of series that are followed.
    #[serde(default)]
    pub followed: Vec<Plan>,
}

/// The copy of one golem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GolemCopy {
    pub id: String,
    pub copy: String,
    pub tick: u64,
    pub records: u64,
    pub deposits: u64,
    /// Whether it was moved away from here, or a move has begun.
    pub away: Option<Away>,
    /// Notes of a move beside the life, so that one that was cut short can still be finished.
    pub notes: BTreeMap<String, String>,
    pub released: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Away {
    Leaving,
    /// A record of the life that it was, not a life.
    Gone,
}

/// The round as it is written: with a hash that tells that it is whole.
#[derive(Serialize, Deserialize)]
struct Written {
    round: Round,
    check: String,
}

impl Backups {
    /// The backups of this home; none where no folder is named.
    pub fn of(settings: &Settings) -> Option<Backups> {
        let folder = settings.text("backup.folder").filter(|text| !text.is_empty())?;
        Some(Backups {
            folder: PathBuf::from(folder),
            every: Duration::from_millis(settings.span("backup.every").as_millis()),
            keep: Some(settings.integer("backup.keep") as usize),
            keys: None,
        })
    }

    /// The interval at which it is worth looking whether a round is due.
    pub fn look_every(&self) -> Duration {
        (self.every / 10).clamp(Duration::from_millis(200), Duration::from_secs(60))
    }

    /// Whether the newest round is older than the owner wants. One from the future was made by a clock that was wrong.
    pub fn is_due(&self, now: SystemTime) -> bool {
        let newest = numbered(&self.folder.join("rounds")).pop();
        let age = newest.and_then(|newest| now.duration_since(time_of(&newest)?).ok());
        age.is_none_or(|age| age >= self.every)
    }

    /// The time of the newest round, in seconds since 1970; 0 before the first.
    pub fn newest_made(&self) -> u64 {
        let made = numbered(&self.folder.join("rounds")).pop().and_then(|newest| time_of(&newest));
        let since = made.and_then(|made| made.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_secs())
    }

    /// Copies everything; golems that could not be copied are in the round, by name.
    pub fn make(&self, home: &Home, now: SystemTime) -> Result<Round, Error> {
        home.require()?;
        let stamp = format!("{:06}-{}", self.next_number(), stamp(now));
        for part in ["rounds", "golems", "treasury", "home", "data"] {
            let folder = self.folder.join(part);
            private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
        }
        let mut round = Round {
            home: home.identity()?,
            made: stamp.clone(),
            golems: BTreeMap::new(),
            missing: BTreeMap::new(),
            files: BTreeMap::new(),
            data: BTreeMap::new(),
            followed: Vec::new(),
        };
        let mut known = KnownTip::default();
        for place in home.list_still()? {
            // A golem that cannot be copied does not keep the others from it.
            match self.copy(&place, &stamp, &mut known) {
                Ok(kept) => drop(round.golems.insert(place.name.to_string(), kept)),
                Err(why) => drop(round.missing.insert(place.name.to_string(), why.to_string())),
            }
        }
        self.copy_treasury(home, &stamp, &mut round)?;
        self.copy_home(home, &stamp, &mut round)?;
        self.write(&stamp, &round)?;
        self.prune()?;
        Ok(round)
    }

    /// Returns the newest copy of a golem if it is still up to date, or makes a new one.
    fn copy(&self, place: &GolemHome, stamp: &str, known: &mut KnownTip) -> Result<GolemCopy, Error> {
        place.catch_up_after(known)?;
        let (golem, _) = place.wake_after(known)?;
        if golem.life().transfers_taken() == 0 {
            return Err(Error::Busy("its birth was cut short; it is complete once it was run".into()));
        }
        let folder = self.folder.join("golems").join(place.name.as_str());
        let known = numbered(&folder).pop().and_then(|newest| {
            let label = label_of(&folder.join(&newest)).ok()??;
            (label.id == golem.life().id().to_string() && label.records == golem.seq()).then_some((newest, label))
        });
        let (copy, label) = match known {
            Some(known) => known,
            None => (stamp.to_owned(), copies::backup_sharing(place, &folder.join(stamp), "archive")?),
        };
        let away = match Head::peek(&place.home().heads(), golem.life().id()).map(|head| head.seal) {
            Some(Seal::Leaving) => Some(Away::Leaving),
            Some(Seal::Gone) => Some(Away::Gone),
            Some(Seal::Open) | None => None,
        };
        let noted = |name: &&str| Some(((*name).to_owned(), fs::read_to_string(place.folder.join(name)).ok()?));
        let notes = copies::NOTES.iter().filter(|_| away.is_some()).filter_map(noted).collect();
        Ok(GolemCopy {
            id: label.id,
            copy,
            tick: label.tick,
            records: label.records,
            deposits: label.deposits,
            away,
            notes,
            released: place.is_released(),
        })
    }

    /// Copies the treasury, after the golems: money they have taken from it is in it then. Money it has received from
    /// one since that one was copied would be there twice, so that golem is copied again.
    fn copy_treasury(&self, home: &Home, stamp: &str, round: &mut Round) -> Result<(), Error> {
        let file = format!("treasury/{stamp}.db");
        let (copy, mut known) = (self.folder.join(&file), KnownTip::default());
        for _ in 0..TRIES {
            let treasury = home.treasury()?;
            let _ = fs::remove_file(&copy);
            treasury.copy_to(&copy)?;
            let mut behind = Vec::new();
            for (name, kept) in &round.golems {
                let id: GolemId = kept.id.parse().map_err(|_| Error::Damaged(format!("{name} has no id")))?;
                if treasury.received(id)? > kept.deposits {
                    behind.push(name.clone());
                }
            }
            if behind.is_empty() {
                round.files.insert(file, hash::of_file(&copy)?.unwrap_or_default());
                return Ok(());
            }
            for name in behind {
                let folder = self.folder.join("golems").join(&name).join(stamp);
                if folder.exists() {
                    fs::remove_dir_all(&folder).map_err(Error::io("cannot remove", &folder))?;
                }
                round.golems.remove(&name);
                let copied =
                    home.golem(&name).and_then(|place| Ok((self.copy(&place, stamp, &mut known)?, place.name)));
                match copied {
                    // It may have another name by now, and its copies with it.
                    Ok((kept, now)) => drop(round.golems.insert(now.to_string(), kept)),
                    Err(why) => drop(round.missing.insert(name, why.to_string())),
                }
            }
        }
        Err(Error::Busy(
            "money keeps moving while it is copied; pause the golem that pays in so often, and try again".into(),
        ))
    }

    fn copy_home(&self, home: &Home, stamp: &str, round: &mut Round) -> Result<(), Error> {
        let part = format!("home/{stamp}");
        let folder = self.folder.join(&part);
        private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
        for name in FILES {
            copy_if_there(&home.root().join(name), &folder)?;
        }
        if home.root().join(LIBRARY).exists() {
            home.library()?.copy_to(&folder.join(LIBRARY))?;
        }
        if let Some(passphrase) = &self.keys {
            sealed::seal(home, &folder.join(SEALED), passphrase)?;
        }
        for file in files_below(&folder)? {
            let name = file.strip_prefix(&self.folder).unwrap_or(&file).to_string_lossy().into_owned();
            round.files.insert(name, hash::of_file(&file)?.unwrap_or_default());
        }
        for name in data::list(home)? {
            let file = home.data().join(format!("{name}.csv"));
            // The series may grow meanwhile: the copy counts.
            let draft = self.folder.join("data").join(format!("{name}.draft"));
            private::copy(&file, &draft)
                .and_then(|_| fs::File::open(&draft)?.sync_all())
                .map_err(Error::io("cannot copy", &file))?;
            let kept = format!("{}.csv", data::digest(&draft)?);
            let copy = self.folder.join("data").join(&kept);
            fs::rename(&draft, &copy).map_err(Error::io("cannot copy", &file))?;
            round.data.insert(name.clone(), kept);
            if let Some(plan) = Plan::read(home, &name)? {
                round.followed.push(plan);
            }
        }
        sync_folder(&folder)?;
        sync_folder(&self.folder.join("data"))
    }

    fn write(&self, stamp: &str, round: &Round) -> Result<(), Error> {
        let folder = self.folder.join("rounds");
        let (draft, path) = (folder.join("draft"), folder.join(format!("{stamp}.json")));
        let written = Written { round: round.clone(), check: check(round) };
        fs::write(&draft, serde_json::to_vec_pretty(&written).expect("plain data"))
            .and_then(|()| fs::File::open(&draft)?.sync_all())
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(Error::io("cannot write", &path))?;
        sync_folder(&folder)
    }

    /// A number that nothing in the folder has.
    fn next_number(&self) -> u64 {
        let golems = fs::read_dir(self.folder.join("golems")).into_iter().flatten().flatten().map(|golem| golem.path());
        let parts = ["rounds", "treasury", "home"].map(|part| self.folder.join(part));
        let all = golems.chain(parts).flat_map(|folder| numbered(&folder));
        all.filter_map(|name| number_of(&name)).max().unwrap_or(0) + 1
    }

    /// Removes old rounds, and copies that no round names any more and that are older than the newest that one does.
    fn prune(&self) -> Result<(), Error> {
        let Some(keep) = self.keep else { return Ok(()) };
        let rounds = self.folder.join("rounds");
        let all = numbered(&rounds);
        for old in &all[..all.len().saturating_sub(keep)] {
            remove(&rounds.join(old))?;
        }
        let kept: Vec<Round> = rounds_in(&self.folder).into_iter().filter_map(|(_, round)| round.ok()).collect();
        // If a round that is kept cannot be read, its parts are not known.
        if kept.len() != numbered(&rounds).len() {
            return Ok(());
        }
        let names = |part: &str| -> BTreeSet<String> {
            let named = kept.iter().flat_map(|round| round.files.keys());
            named.filter_map(|file| file.strip_prefix(part)?.split('/').next().map(str::to_owned)).collect()
        };
        sweep(&self.folder.join("treasury"), &names("treasury/"))?;
        sweep(&self.folder.join("home"), &names("home/"))?;
        for golem in fs::read_dir(self.folder.join("golems")).into_iter().flatten().flatten() {
            let name = golem.file_name().to_string_lossy().into_owned();
            let copies: BTreeSet<String> =
                kept.iter().filter_map(|round| Some(round.golems.get(&name)?.copy.clone())).collect();
            sweep(&golem.path(), &copies)?;
            if copies.is_empty() {
                sweep_former(&golem.path(), &kept)?;
            }
        }
        Ok(())
    }
}

/// Removes copies made here that are not needed and are older than the newest that is.
fn sweep(folder: &Path, needed: &BTreeSet<String>) -> Result<(), Error> {
    let newest = needed.iter().filter_map(|name| number_of(name)).max();
    for name in numbered(folder) {
        if !needed.contains(&name) && number_of(&name) < newest {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Removes the copies under a name that no round has any more, where each round has their golem under its present name.
fn sweep_former(folder: &Path, kept: &[Round]) -> Result<(), Error> {
    for name in numbered(folder) {
        let copy = folder.join(&name);
        let Ok(Some(label)) = label_of(&copy) else { continue };
        if !kept.is_empty() && kept.iter().all(|round| round.golems.values().any(|golem| golem.id == label.id)) {
            remove(&copy)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), Error> {
    let gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    gone.map_err(Error::io("cannot remove", path))
}

fn check(round: &Round) -> String {
    blake3::hash(&serde_json::to_vec(round).expect("plain data")).to_hex().to_string()
}

/// The rounds in a folder, the oldest first; for each that cannot be read, the reason.
pub fn rounds_in(folder: &Path) -> Vec<(String, Result<Round, Error>)> {
    let read = |name: &str| -> Result<Round, Error> {
        let path = folder.join("rounds").join(name);
        let bytes = fs::read(&path).map_err(Error::io("cannot read", &path))?;
        let damaged = || Error::Damaged(format!("{} is damaged", path.display()));
        let written: Written = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if written.check == check(&written.round) { Ok(written.round) } else { Err(damaged()) }
    };
    numbered(&folder.join("rounds")).into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// The newest copy of each golem in a folder of backups; of a single copy, that one.
pub fn newest(folder: &Path) -> Vec<PathBuf> {
    if folder.join("life.db").exists() {
        return vec![folder.to_owned()];
    }
    let golems = fs::read_dir(folder.join("golems")).into_iter().flatten().flatten().map(|golem| golem.path());
    let mut newest: Vec<PathBuf> = golems.filter_map(|golem| Some(golem.join(numbered(&golem).pop()?))).collect();
    newest.sort();
    newest
}

/// Names of copies made here, the oldest first; of names with one number, a foreign one comes last.
fn numbered(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut all: Vec<String> = names.filter(|name| number_of(name).is_some() && time_of(name).is_some()).collect();
    all.sort_by_key(|name| (number_of(name), name.clone()));
    all
}

fn number_of(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse().ok()
}

fn time_of(name: &str) -> Option<SystemTime> {
    let time = name.split_once('-')?.1.split('.').next()?;
    let at = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time).ok()?;
    let seconds = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second();
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn stamp(now: SystemTime) -> String {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
    let at = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("cannot read", folder))?.flatten() {
        if entry.path().is_dir() { files.extend(files_below(&entry.path())?) } else { files.push(entry.path()) }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400)
    }

    /// One start with the clock ten years ahead ended the backups: each good copy was pruned at once in favour of the
    /// one from the future, and no other was due until then.
    #[test]
    fn a_clock_that_was_wrong_neither_displaces_nor_delays_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        home.init(&home.settings().unwrap()).unwrap();
        let folder = dir.path().join("copies");
        let backups = Backups { folder: folder.clone(), every: Duration::from_secs(86_400), keep: Some(2), keys: None };
        let rounds = || -> Vec<String> { rounds_in(&folder).into_iter().map(|(name, _)| name).collect() };
        backups.make(&home, at(20_000)).unwrap();
        assert!(!backups.is_due(at(20_000)) && backups.is_due(at(20_001)));
        backups.make(&home, at(23_650)).unwrap();
        assert!(backups.is_due(at(20_001)), "one from the future says nothing about how old the newest is");
        backups.make(&home, at(20_001)).unwrap();
        assert!(!backups.is_due(at(20_001)));
        assert_eq!(rounds(), ["000002-20341002T000000Z.json", "000003-20241005T000000Z.json"]);
        backups.make(&home, at(20_002)).unwrap();
        assert_eq!(rounds(), ["000003-20241005T000000Z.json", "000004-20241006T000000Z.json"]);
        assert_eq!(numbered(&folder.join("treasury")).len(), 2);
        assert_eq!(numbered(&folder.join("home")).len(), 2);
        fs::write(folder.join("rounds/mine.txt"), "").unwrap();
        backups.make(&home, at(20_003)).unwrap();
        assert!(folder.join("rounds/mine.txt").exists(), "what was not made here is not touched");
    }

    #[test]
    fn what_is_looked_for_often_is_made_as_often_as_was_said() {
        let every = |seconds| {
            let every = Duration::from_secs(seconds);
            Backups { folder: PathBuf::new(), every, keep: None, keys: None }.look_every()
        };
        assert_eq!(every(20), Duration::from_secs(2));
        assert_eq!(every(86_400), Duration::from_secs(60));
    }
}
