//! Ending everything that a program has started at once, also processes that fork faster than they can be listed.
//! Either all of them are in a domain of the kernel's (Landlock) from which no signal gets out, so that a signal to all
//! processes reaches them alone; or in a control group of their own. Where neither can be made, they are listed and
//! ended one by one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group, test_kill_process};

use crate::{descendants, fence};

/// How long processes that are asked to end may take.
const ASKED: Duration = Duration::from_secs(2);
/// How long killing is tried after that.
const TRIED: Duration = Duration::from_secs(8);
const EVERY: Duration = Duration::from_millis(10);
/// Empty lists in a row before the descendants count as gone.
const QUIET: u32 = 3;

/// The way in which all descendants of this process are reached.
#[derive(Debug)]
pub(crate) enum Reach {
    /// A signal to all processes stays within the domain.
    Domain,
    Group(Group),
    OneByOne,
}

impl Reach {
    /// Chooses the way; to be called before this process has a second thread or a child. A domain is for programs
    /// behind a fence: from within it they can signal no other process.
    pub(crate) fn make(fenced: bool) -> Reach {
        let outside = getppid().filter(|_| fenced);
        if let Some(outside) = outside.filter(|_| fence::keep_signals_in()) {
            // A signal to all processes is sent only where it is known to stay: the parent is the nearest it must not
            // reach.
            if test_kill_process(outside) == Err(Errno::PERM) {
                return Reach::Domain;
            }
        }
        Group::make(Path::new("/sys/fs/cgroup")).map_or(Reach::OneByOne, Reach::Group)
    }

    /// Whether a process that forks fast enough may get away.
    pub(crate) fn has_gaps(&self) -> bool {
        matches!(self, Reach::OneByOne)
    }

    /// Asks all descendants to end, and kills those that do not.
    pub(crate) fn end(&self) {
        let began = Instant::now();
        descendants::tell(Signal::TERM);
        while began.elapsed() < ASKED {
            descendants::bury();
            if descendants::is_alone() {
                break;
            }
            std::thread::sleep(EVERY);
        }
        let (until, mut quiet) = (Instant::now() + TRIED, 0);
        loop {
            match self {
                // To all processes but this one, as far as the domain reaches.
                Reach::Domain => drop(kill_process_group(Pid::INIT, Signal::KILL)),
                Reach::Group(group) => group.kill(),
                Reach::OneByOne => descendants::tell(Signal::KILL),
            }
            descendants::bury();
            // A list made during a fork may miss both processes.
            quiet = if descendants::is_alone() { quiet + 1 } else { 0 };
            if quiet >= QUIET || Instant::now() > until {
                return;
            }
            if !self.has_gaps() {
                std::thread::sleep(EVERY);
            }
        }
    }
}

/// A control group of this process and its descendants.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    above: PathBuf,
}

impl Group {
    /// Enters a group of its own below the present one, if one can be made that can be killed as a whole.
    fn make(mounted: &Path) -> Option<Group> {
        let mounted = [mounted.to_owned(), mounted.join("unified")];
        let mounted = mounted.iter().find(|folder| folder.join("cgroup.procs").exists())?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let above = mounted.join(own);
        let folder = above.join(format!("bardo-{}", getpid()));
        fs::create_dir(&folder).ok()?;
        let group = Group { folder, above };
        let goes = |folder: &Path| fs::write(folder.join("cgroup.procs"), "0").is_ok();
        let killable = group.folder.join("cgroup.kill").exists();
        // It must be able to leave as well, or it would be killed with the rest; dropped, the group is removed.
        (killable && goes(&group.folder) && goes(&group.above) && goes(&group.folder)).then_some(group)
    }

    /// Kills all processes of the group except this one, which leaves it first.
    fn kill(&self) {
        let _ = fs::write(self.above.join("cgroup.procs"), "0");
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
    }

    fn leave(&self) {
        let _ = fs::write(self.above.join("cgroup.procs"), "0");
        let until = Instant::now() + ASKED;
        // The group is busy until all killed processes have been reaped.
        while fs::remove_dir(&self.folder).is_err() && self.folder.exists() && Instant::now() < until {
            std::thread::sleep(EVERY);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.leave();
    }
}
