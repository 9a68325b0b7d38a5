//! The folder of bells, by which other processes tell a host that a golem has a letter: each bell is an empty file with the name
//! of the golem. The kernel reports new ones where it can, and then the folder is read by itself only now and then; elsewhere
//! one look at its time says whether to read it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
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

/// A watch on the folder: a thread that waits for the kernel to report a new bell.
#[cfg(target_os = "linux")]
pub(super) struct BellWatch {
    reports: std::sync::Arc<std::os::fd::OwnedFd>,
    watch: i32,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[cfg(target_os = "linux")]
impl BellWatch {
    /// Begins to watch; none if the kernel does not let it.
    pub(super) fn begin(folder: &Path, ring: impl Fn() + Send + 'static) -> Option<BellWatch> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let reports = std::sync::Arc::new(init(CreateFlags::CLOEXEC).ok()?);
        let new = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        let watch = add_watch(&*reports, folder, new).ok()?;
        let theirs = std::sync::Arc::clone(&reports);
        let thread = std::thread::Builder::new().name("bells".into()).spawn(move || listen(&theirs, &ring)).ok()?;
        Some(BellWatch { reports, watch, thread: Some(thread) })
    }
}

/// Rings for everything that is reported, until the watch is removed or its folder is.
#[cfg(target_os = "linux")]
fn listen(reports: &std::os::fd::OwnedFd, ring: &impl Fn()) {
    use rustix::fs::inotify::{ReadFlags, Reader};
    use rustix::io::Errno;
    use std::mem::MaybeUninit;
    let mut space = [MaybeUninit::<u8>::uninit(); 4_096];
    let mut reader = Reader::new(reports, &mut space);
    loop {
        match reader.next() {
            Ok(report) if report.events().contains(ReadFlags::IGNORED) => return,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        // Reports that came together are rung for once.
        if reader.is_buffer_empty() {
            ring();
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for BellWatch {
    fn drop(&mut self) {
        // The thread is told that the watch is gone.
        let _ = rustix::fs::inotify::remove_watch(&*self.reports, self.watch);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A watch on the folder, which only Linux can keep this way.
#[cfg(not(target_os = "linux"))]
pub(super) struct BellWatch;

#[cfg(not(target_os = "linux"))]
impl BellWatch {
    pub(super) fn begin(_: &Path, _: impl Fn() + Send + 'static) -> Option<BellWatch> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_watch_reports_each_new_bell_and_ends_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (rung, rings) = std::sync::mpsc::channel();
        let watch = BellWatch::begin(folder.path(), move || drop(rung.send(()))).unwrap();
        for name in ["ada", "eve"] {
            fs::write(folder.path().join(name), "").unwrap();
            rings.recv_timeout(Duration::from_secs(20)).expect("it is reported");
            while rings.try_recv().is_ok() {}
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        assert!(rings.recv_timeout(Duration::from_millis(50)).is_err(), "a bell that is taken is no news");
        drop(watch);
        assert!(rings.recv().is_err(), "its thread has ended");
    }
}
