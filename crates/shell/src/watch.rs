//! New files in a folder, as the kernel reports them where it can: the bells of a host, and the inbox of a golem that runs by
//! itself.

use std::path::Path;

/// A watch on a folder: a thread that waits for the kernel to report a new file.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct FolderWatch {
    reports: std::sync::Arc<std::os::fd::OwnedFd>,
    watch: i32,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[cfg(target_os = "linux")]
impl FolderWatch {
    /// Begins to watch; none if the kernel does not let it.
    pub fn begin(folder: &Path, ring: impl Fn() + Send + 'static) -> Option<FolderWatch> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let reports = std::sync::Arc::new(init(CreateFlags::CLOEXEC).ok()?);
        let new = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        let watch = add_watch(&*reports, folder, new).ok()?;
        let theirs = std::sync::Arc::clone(&reports);
        let thread = std::thread::Builder::new().name("watch".into()).spawn(move || listen(&theirs, &ring)).ok()?;
        Some(FolderWatch { reports, watch, thread: Some(thread) })
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
impl Drop for FolderWatch {
    fn drop(&mut self) {
        // The thread is told that the watch is gone.
        let _ = rustix::fs::inotify::remove_watch(&*self.reports, self.watch);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A watch on a folder, which only Linux can keep this way.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub struct FolderWatch;

#[cfg(not(target_os = "linux"))]
impl FolderWatch {
    pub fn begin(_: &Path, _: impl Fn() + Send + 'static) -> Option<FolderWatch> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;
    use std::time::Duration;

    #[test]
    fn a_watch_reports_each_new_file_and_ends_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let (rung, rings) = std::sync::mpsc::channel();
        let watch = FolderWatch::begin(folder.path(), move || _ = rung.send(())).unwrap();
        for name in ["ada", "eve"] {
            fs::write(folder.path().join(name), "").unwrap();
            rings.recv_timeout(Duration::from_secs(20)).expect("it is reported");
            while rings.try_recv().is_ok() {}
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        assert!(rings.recv_timeout(Duration::from_millis(50)).is_err(), "a file that is taken is no news");
        drop(watch);
        assert!(rings.recv().is_err(), "its thread has ended");
    }
}
