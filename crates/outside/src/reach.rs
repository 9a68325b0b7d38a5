//! Ending at once whatever a program has started, also what changes its number faster than anybody can list it. Either all of
//! it stands in a domain of the kernel's (Landlock) from which no signal gets out, so that a signal to everybody reaches it
//! and nobody else; or in a control group of its own. Where neither may be made, it is looked for and ended one by one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process_group, test_kill_process};

use crate::{family, fence};

/// How long whoever is asked to end may take to.
const ASKED: Duration = Duration::from_secs(2);
/// How long it is tried to end them after that.
const TRIED: Duration = Duration::from_secs(8);
const EVERY: Duration = Duration::from_millis(10);
/// So often in a row nobody is found before nobody is there.
const QUIET: u32 = 3;

/// How everything that comes from this process is reached.
#[derive(Debug)]
pub(crate) enum Reach {
    /// A signal to everybody stays within the domain.
    Domain,
    Group(Group),
    OneByOne,
}

impl Reach {
    /// To be made before this process has a second thread and has started anybody. A domain is for programs behind a fence:
    /// from within it they could signal nobody else.
    pub(crate) fn make(fenced: bool) -> Reach {
        let outside = getppid().filter(|_| fenced);
        if let Some(outside) = outside.filter(|_| fence::keep_signals_in()) {
            // A signal to everybody is sent only where it is known to stay: its own parent is the nearest it must not reach.
            if test_kill_process(outside) == Err(Errno::PERM) {
                return Reach::Domain;
            }
        }
        Group::make(Path::new("/sys/fs/cgroup")).map_or(Reach::OneByOne, Reach::Group)
    }

    /// Whoever hurries may get away.
    pub(crate) fn has_gaps(&self) -> bool {
        matches!(self, Reach::OneByOne)
    }

    /// Asks everybody to end, and ends them if they do not.
    pub(crate) fn end(&self) {
        let began = Instant::now();
        family::tell(Signal::TERM);
        while began.elapsed() < ASKED {
            family::bury();
            if family::is_alone() {
                break;
            }
            std::thread::sleep(EVERY);
        }
        let (until, mut quiet) = (Instant::now() + TRIED, 0);
        loop {
            match self {
                // To everybody but itself, as far as the domain reaches.
                Reach::Domain => drop(kill_process_group(Pid::INIT, Signal::KILL)),
                Reach::Group(group) => group.kill(),
                Reach::OneByOne => family::tell(Signal::KILL),
            }
            family::bury();
            // A list that is made while somebody forks may miss both.
            quiet = if family::is_alone() { quiet + 1 } else { 0 };
            if quiet >= QUIET || Instant::now() > until {
                return;
            }
            if !self.has_gaps() {
                std::thread::sleep(EVERY);
            }
        }
    }
}

/// A control group of this process and of all that come from it.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    above: PathBuf,
}

impl Group {
    /// Goes into a group of its own below the one it is in, if it may make one that can be killed as a whole.
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
        // Out again as well, or it would be killed with the rest; dropped, the group is taken away.
        (killable && goes(&group.folder) && goes(&group.above) && goes(&group.folder)).then_some(group)
    }

    /// Everybody but this process, which goes out first.
    fn kill(&self) {
        let _ = fs::write(self.above.join("cgroup.procs"), "0");
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
    }

    fn leave(&self) {
        let _ = fs::write(self.above.join("cgroup.procs"), "0");
        let until = Instant::now() + ASKED;
        // It is busy for as long as somebody who was killed has not been buried.
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
