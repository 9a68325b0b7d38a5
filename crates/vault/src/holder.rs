//! The process that holds the lock on a life: another bardo of the same user, which will release it, or a stranger,
//! which may not. Locks have no names, but the kernel knows their owners and lists them where there is a `/proc`;
//! elsewhere the holder is unknown, and counts as a stranger.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The process that has locked a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process of bardo that runs as the same user.
    Ours(u32),
    /// Any other process, with its id if that is known.
    Stranger(Option<u32>),
}

impl Holder {
    /// The holder of the lock on this file, which must be locked.
    pub fn of(path: &Path) -> Holder {
        let Some(pid) = pid(path) else { return Holder::Stranger(None) };
        if is_ours(pid) { Holder::Ours(pid) } else { Holder::Stranger(Some(pid)) }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Holder::Ours(pid) => write!(f, "another bardo, process {pid},"),
            Holder::Stranger(Some(pid)) => write!(f, "process {pid}, which is not a bardo of yours,"),
            Holder::Stranger(None) => f.write_str("a process that cannot be seen from here"),
        }
    }
}

/// Finds the holder in `/proc/locks`: `12: FLOCK  ADVISORY  WRITE 4711 fd:01:262147 0 EOF`; the line of a process that
/// waits has an arrow in it.
fn pid(path: &Path) -> Option<u32> {
    let inode = fs::metadata(path).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.get(5).filter(|_| words.get(1) == Some(&"FLOCK"))?;
        if place.rsplit(':').next() == Some(inode.as_str()) {
            words[4].parse().ok().filter(|pid| *pid > 0)
        } else {
            None
        }
    })
}

fn is_ours(pid: u32) -> bool {
    let folder = Path::new("/proc").join(pid.to_string());
    let user = |path: &Path| fs::metadata(path).map(|found| found.uid()).ok();
    let same_user = user(&folder).is_some() && user(&folder) == user(Path::new("/proc/self"));
    same_user && program(&folder).is_some() && program(&folder) == program(Path::new("/proc/self"))
}

/// The name of a program, also of one that was replaced by a newer version while it ran.
fn program(process: &Path) -> Option<OsString> {
    let path = fs::read_link(process.join("exe")).ok()?;
    let name = path.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_lock_is_can_be_told_where_the_kernel_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head");
        fs::write(&path, "").unwrap();
        assert_eq!(Holder::of(&path), Holder::Stranger(None), "an unlocked file has no holder to be seen");
        let file = fs::File::open(&path).unwrap();
        file.lock().unwrap();
        if Path::new("/proc/locks").exists() {
            assert_eq!(Holder::of(&path), Holder::Ours(std::process::id()));
            drop(file);
            let mut other =
                std::process::Command::new("flock").arg("--no-fork").arg(&path).args(["sleep", "30"]).spawn().unwrap();
            let begun = std::time::Instant::now();
            while Holder::of(&path) == Holder::Stranger(None) && begun.elapsed().as_secs() < 10 {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            let seen = Holder::of(&path);
            other.kill().unwrap();
            other.wait().unwrap();
            assert!(matches!(seen, Holder::Stranger(Some(_))), "{seen:?}");
        }
    }
}
