//! The folder of bells, by which other processes tell a host that a golem has a letter: each bell is an empty file with the name
//! of the golem. The kernel reports new ones where it can, and then the folder is read by itself only now and then; elsewhere
//! one look at its time says whether to read it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The age from which the time of a folder is believed: file systems count it in steps, and a change within the same step as the
/// last reading would not show.
const SETTLED: Duration = Duration::from_secs(2);

/// The folder of bells, and the time it had when it was last read and nothing was in it.
pub(super) struct BellFolder {
    path: PathBuf,
    empty_at: Option<SystemTime>,
}

impl BellFolder {
    pub(super) fn new(path: PathBuf) -> BellFolder {
        BellFolder { path, empty_at: None }
    }

    /// Takes the bells that lie there, in an order that does not depend on the folder; none, without reading it, if it has not
    /// changed since it was last read.
    pub(super) fn take(&mut self) -> Option<BTreeSet<String>> {
        let changed = fs::metadata(&self.path).and_then(|folder| folder.modified()).ok()?;
        if self.empty_at == Some(changed) {
            return None;
        }
        let settled = changed.elapsed().is_ok_and(|age| age >= SETTLED);
        let entries = fs::read_dir(&self.path).ok()?;
        let bells: BTreeSet<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        for bell in &bells {
            let _ = fs::remove_file(bell);
        }
        self.empty_at = (settled && bells.is_empty()).then_some(changed);
        Some(bells.iter().filter_map(|bell| Some(bell.file_name()?.to_str()?.to_owned())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn names(bells: Option<BTreeSet<String>>) -> Vec<String> {
        bells.unwrap_or_default().into_iter().collect()
    }

    /// Sets the time of a folder back, as if it had not been touched for a while.
    fn age(folder: &Path, by: Duration) {
        let then = SystemTime::now() - by;
        fs::File::open(folder).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn every_bell_is_taken_once_and_a_folder_that_rests_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut bells = BellFolder::new(folder.path().to_owned());
        for name in ["eve", "ada"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(names(bells.take()), ["ada", "eve"]);
        assert_eq!(bells.take(), Some(BTreeSet::new()), "it has only just changed");
        age(folder.path(), SETTLED * 2);
        assert_eq!(bells.take(), Some(BTreeSet::new()));
        assert_eq!((bells.take(), bells.take()), (None, None), "nothing has changed since");
        fs::write(folder.path().join("ada"), "").unwrap();
        assert_eq!(names(bells.take()), ["ada"]);
        fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(bells.take(), None);
    }

    /// A file system that counts time in steps gives two changes the same time.
    #[test]
    fn a_bell_in_the_same_step_of_time_as_the_last_look_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut bells = BellFolder::new(folder.path().to_owned());
        let step = SystemTime::now();
        let stamp = || fs::File::open(folder.path()).unwrap().set_modified(step).unwrap();
        stamp();
        assert_eq!(names(bells.take()), [""; 0]);
        fs::write(folder.path().join("ada"), "").unwrap();
        stamp();
        assert_eq!(names(bells.take()), ["ada"]);
    }
}
