//! Names of golems. A golem is its id; its name is the label of its folder, which its owner may change. A name that a
//! golem gave up leads to it for a day, and no other golem takes it meanwhile.
//!
//! The folder is the truth, and has one name at any instant. The file `renamed` only says where names lead that no
//! folder has, so its line is written before the folder is moved: a rename that is cut short in between leaves the
//! golem under its old name, and both names lead to it.

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use golem::{GolemId, Name, Span};
use serde::{Deserialize, Serialize};
use vault::Reader;

use super::place::{GolemHome, Home};
use crate::{Error, durable};

/// How long a name leads on, in milliseconds.
const LEADS_MS: i64 = 86_400_000;
/// Lines that are kept at least, as the record of who was called what.
const KEPT: usize = 1_000;
/// How long a list waits for names that are being changed: a process that hangs must not hold up an order to stop.
const STILL: Duration = Duration::from_secs(2);

/// One change of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub old: Name,
    pub new: Name,
    /// The id of the golem.
    pub golem: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Until when the old name leads to the golem.
    pub until: i64,
}

impl Renamed {
    /// Whether the old name leads to the golem at this time. A line that a clock far ahead wrote leads nowhere once the
    /// clock is right again: no name is promised for longer than a day.
    fn leads(&self, now: i64) -> bool {
        now < self.until && self.until.saturating_sub(now) <= 2 * LEADS_MS
    }
}

impl Home {
    fn renamed_file(&self) -> PathBuf {
        self.root().join("renamed")
    }

    /// Changes of names, the oldest first.
    pub fn renames(&self) -> Result<Vec<Renamed>, Error> {
        let path = self.renamed_file();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("cannot read", &path)(e)),
        };
        let lines: Result<Vec<Renamed>, _> = text.lines().map(serde_json::from_str).collect();
        lines.map_err(|e| {
            let path = path.display();
            Error::Damaged(format!("{path} cannot be read ({e}); remove it: old names then lead to no golem"))
        })
    }

    /// The golem that a name leads to which no folder has: its name until a day ago at most, or the one it was about
    /// to be given when a rename was cut short.
    pub(super) fn lead(&self, name: &str) -> Option<GolemHome> {
        self.lead_by(|line| line.old.as_str() == name || line.new.as_str() == name)
    }

    fn lead_by(&self, is_meant: impl Fn(&Renamed) -> bool) -> Option<GolemHome> {
        let now = self.wall().now_ms();
        // A file that cannot be read leads nowhere; `bardo doctor` says so.
        let lines = self.renames().unwrap_or_default();
        let line = lines.iter().rev().find(|line| line.leads(now) && is_meant(line))?;
        let id: GolemId = line.golem.parse().ok()?;
        // The folder that it was moved to last, even if its life cannot be read: it can be frozen all the same.
        let its = lines.iter().rev().filter(|other| other.golem == line.golem).flat_map(|line| [&line.new, &line.old]);
        let known = its.map(|name| self.place(name)).find(|place| place.may_be(id));
        known.or_else(|| self.list().ok()?.into_iter().find(|place| place.is(id)))
    }

    /// The present name of a golem, where this is one that it no longer has.
    pub fn renamed_from(&self, name: &str) -> Option<Name> {
        let there = self.place(&name.parse().ok()?);
        if there.database().exists() { None } else { self.lead(name).map(|place| place.name) }
    }

    /// How long this name leads on.
    fn leads_for(&self, name: &str) -> Span {
        let (lines, now) = (self.renames().unwrap_or_default(), self.wall().now_ms());
        let its = lines.iter().filter(|line| line.leads(now) && line.old.as_str() == name);
        Span::millis(its.map(|line| line.until.abs_diff(now)).max().unwrap_or(0))
    }

    /// The golem that an old name leads to, and for how long, in words for the person who typed it.
    pub fn led_on(&self, old: &str) -> Option<String> {
        let (now, left) = (self.renamed_from(old)?, self.leads_for(old));
        Some(format!("{old} is called {now} now; the old name leads to it for another {left}"))
    }

    /// Whether no golem has this name, and it leads to none.
    pub fn is_free(&self, name: &Name) -> Result<bool, Error> {
        match self.must_be_free(name, None) {
            Ok(()) => Ok(true),
            Err(Error::NameTaken(_) | Error::Refused(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Refuses a name that a golem has, or that leads to one; `by` may take back a name of its own.
    pub fn must_be_free(&self, name: &Name, by: Option<GolemId>) -> Result<(), Error> {
        if self.place(name).folder.exists() {
            return Err(Error::NameTaken(name.clone()));
        }
        // A file that cannot be read may have promised any name.
        let lines = self.renames()?;
        let is_anothers = |line: &Renamed| line.old == *name && by.is_none_or(|id| line.golem != id.to_string());
        if lines.iter().any(is_anothers)
            && let Some(why) = self.clock_trouble()
        {
            return Err(Error::Refused(format!(
                "{name} was the name of another golem, and whether it leads to that one still cannot be told: {why}"
            )));
        }
        match self.lead_by(|line| line.old == *name) {
            Some(place) if by.is_none_or(|id| !place.may_be(id)) => {
                let left = self.leads_for(name.as_str());
                Err(Error::Refused(format!(
                    "{name} was the name of {} and leads to it for another {left}; choose another name",
                    place.name
                )))
            }
            _ => Ok(()),
        }
    }

    /// Keeps others from giving and changing names here, until the guard is dropped.
    pub(crate) fn hold_names(&self) -> Result<File, Error> {
        let root = self.root();
        let lock = File::open(root).map_err(Error::io("cannot open", root))?;
        lock.lock().map_err(Error::io("cannot lock", root))?;
        Ok(lock)
    }

    /// Every golem here, none left out because its folder is moved while they are read. Not for one who holds the names.
    pub fn list_still(&self) -> Result<Vec<GolemHome>, Error> {
        let until = Instant::now() + STILL;
        let names = File::open(self.root()).ok();
        let is_held = |names: &File| matches!(names.try_lock_shared(), Err(TryLockError::WouldBlock));
        while names.as_ref().is_some_and(is_held) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.list()
    }

    /// Enters a change of a name, which the move of the folder follows. The caller holds the names.
    pub(crate) fn note_rename(&self, golem: GolemId, old: &Name, new: &Name) -> Result<Renamed, Error> {
        let now = self.wall().now_ms();
        let (golem, until) = (golem.to_string(), now.saturating_add(LEADS_MS));
        let line = Renamed { old: old.clone(), new: new.clone(), golem, at: now, until };
        let mut lines = self.renames()?;
        // One line for each name that it gave up; and a name that it takes back leads nowhere but to its folder.
        lines.retain(|other| other.golem != line.golem || (other.old != *old && other.old != *new));
        lines.push(line.clone());
        let surplus = lines.len().saturating_sub(KEPT);
        let kept = lines.iter().enumerate().filter(|(at, line)| *at >= surplus || line.leads(now));
        let text = kept.map(|(_, line)| serde_json::to_string(line).expect("a line is plain data") + "\n");
        durable::write(&self.renamed_file(), text.collect::<String>().as_bytes())?;
        Ok(line)
    }
}

impl GolemHome {
    /// The golem where it is now: an order that was on its way while its folder was moved finds it again.
    pub fn present(&self) -> GolemHome {
        let moved = || self.home().lead(self.name.as_str());
        if self.database().exists() { self.clone() } else { moved().unwrap_or_else(|| self.clone()) }
    }

    /// Whether this folder holds the life with this id, as far as that can be read.
    fn may_be(&self, id: GolemId) -> bool {
        let known = Reader::open(&self.database()).and_then(|reader| reader.id());
        self.database().exists() && known.map_or(true, |other| other == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wall::Wall;

    const ADA: GolemId = GolemId([1; 16]);

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    /// A home on a clock of its own, with a folder that holds something where a life would be.
    fn home(with: &str) -> (tempfile::TempDir, Wall, Home) {
        let folder = tempfile::tempdir().unwrap();
        let wall = Wall::standing(1_000_000);
        let home = Home::simulated(folder.path().join("home"), &wall);
        home.init(&home.settings().unwrap()).unwrap();
        hold(&home, with);
        (folder, wall, home)
    }

    /// The life cannot be read, so that its folder counts as the one that the lines name.
    fn hold(home: &Home, with: &str) {
        let place = home.place(&name(with));
        fs::create_dir_all(&place.folder).unwrap();
        fs::write(place.database(), "not a life").unwrap();
    }

    fn rename(home: &Home, old: &str, new: &str) {
        home.note_rename(ADA, &name(old), &name(new)).unwrap();
        fs::rename(home.place(&name(old)).folder, home.place(&name(new)).folder).unwrap();
    }

    fn found(home: &Home, asked: &str) -> Option<String> {
        home.golem(asked).ok().map(|place| place.name.to_string())
    }

    fn is_free(home: &Home, asked: &str) -> bool {
        home.is_free(&name(asked)).unwrap()
    }

    #[test]
    fn an_old_name_leads_on_for_a_day_and_is_free_after_that() {
        let (_folder, wall, home) = home("ada");
        rename(&home, "ada", "bea");
        rename(&home, "bea", "cyd");
        for asked in ["ada", "bea", "cyd"] {
            assert_eq!(found(&home, asked).as_deref(), Some("cyd"), "{asked}");
        }
        let refused = home.must_be_free(&name("ada"), None).unwrap_err().to_string();
        assert!(refused.contains("ada was the name of cyd and leads to it for another"), "{refused}");
        assert!(matches!(home.must_be_free(&name("cyd"), None), Err(Error::NameTaken(_))));
        wall.go_on(Duration::from_millis(LEADS_MS as u64 - 1));
        assert!(!is_free(&home, "ada"));
        wall.go_on(Duration::from_millis(1));
        assert_eq!((found(&home, "ada"), found(&home, "cyd").as_deref()), (None, Some("cyd")));
        assert!(is_free(&home, "ada") && is_free(&home, "bea"));
    }

    /// Between the line and the move the folder has the old name; after the move it has the new one. There is nothing in
    /// between, since a folder is moved at once or not at all.
    #[test]
    fn a_rename_cut_short_leaves_both_names_leading_to_the_golem() {
        let (_folder, _, home) = home("ada");
        home.note_rename(ADA, &name("ada"), &name("bea")).unwrap();
        for asked in ["ada", "bea"] {
            assert_eq!(found(&home, asked).as_deref(), Some("ada"), "cut short before the move, by {asked}");
        }
        assert!(is_free(&home, "bea"), "the name that was not taken stays free");
        rename(&home, "ada", "bea");
        for asked in ["ada", "bea"] {
            assert_eq!(found(&home, asked).as_deref(), Some("bea"), "cut short after the move, by {asked}");
        }
        assert_eq!(home.renames().unwrap().len(), 1, "the same change twice is one line");
    }

    #[test]
    fn a_golem_takes_back_its_own_name_and_a_new_one_under_a_freed_name_is_meant_by_it() {
        let (_folder, wall, home) = home("ada");
        rename(&home, "ada", "bea");
        rename(&home, "bea", "ada");
        assert_eq!((found(&home, "ada").as_deref(), found(&home, "bea").as_deref()), (Some("ada"), Some("ada")));
        assert!(!is_free(&home, "bea"));
        rename(&home, "ada", "cyd");
        wall.go_on(Duration::from_millis(LEADS_MS as u64));
        hold(&home, "ada");
        assert_eq!(found(&home, "ada").as_deref(), Some("ada"), "a folder of this name is always meant");
    }

    #[test]
    fn a_file_that_cannot_be_read_leads_nowhere_frees_no_name_and_is_not_written_over() {
        let (_folder, _, home) = home("ada");
        fs::write(home.renamed_file(), "{}\n").unwrap();
        assert_eq!((found(&home, "ada").as_deref(), found(&home, "bea")), (Some("ada"), None));
        assert!(matches!(home.is_free(&name("bea")), Err(Error::Damaged(_))));
        assert!(crate::life::heirs::next_name(&home, &name("ada")).is_err(), "and no heir is named for ever");
        assert!(home.note_rename(ADA, &name("ada"), &name("bea")).is_err());
        assert_eq!(fs::read_to_string(home.renamed_file()).unwrap(), "{}\n");
    }

    /// The folder is away for as long as the names are held, as a reader may see it that has read half of them.
    #[test]
    fn a_list_that_must_be_whole_waits_for_a_rename_but_not_for_one_that_hangs() {
        let (_folder, _, home) = home("ada");
        let (ada, bea, away) = (home.place(&name("ada")), home.place(&name("bea")), home.root().join("away"));
        let listed = |home: &Home| home.list_still().unwrap().pop().map(|place| place.name.to_string());
        let names = home.hold_names().unwrap();
        fs::rename(&ada.folder, &away).unwrap();
        let seen = std::thread::scope(|threads| {
            let reads = threads.spawn(|| listed(&home));
            std::thread::sleep(Duration::from_millis(100));
            fs::rename(&away, &bea.folder).unwrap();
            drop(names);
            reads.join().unwrap()
        });
        assert_eq!(seen.as_deref(), Some("bea"));
        let _hangs = home.hold_names().unwrap();
        assert_eq!(listed(&home).as_deref(), Some("bea"), "a process that hangs holds up no halt");
    }

    #[test]
    fn a_clock_that_leaps_keeps_no_name_for_ever_and_frees_none() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        let now = home.wall().now_ms();
        let mut line = home.note_rename(ADA, &name("ada"), &name("bea")).unwrap();
        assert!(line.leads(now) && !line.leads(line.until), "for a day");
        assert!(!line.leads(now - 90 * LEADS_MS), "written by a clock that was ahead");
        line.until = 1;
        fs::write(home.renamed_file(), serde_json::to_string(&line).unwrap() + "\n").unwrap();
        assert!(is_free(&home, "ada"), "its day is over");
        let long_ago = now - 90 * LEADS_MS;
        fs::write(home.root().join("clock"), format!(r#"{{"at_ms":{long_ago},"boot":"another","up_ms":7}}"#)).unwrap();
        let refused = home.must_be_free(&name("ada"), None).unwrap_err().to_string();
        assert!(refused.contains("this machine's clock"), "{refused}");
        assert!(is_free(&home, "cyd") && home.must_be_free(&name("ada"), Some(ADA)).is_ok());
        home.believe_clock().unwrap();
        assert!(is_free(&home, "ada"));
    }
}
