//! Room on the disk that a home keeps for orders that stop something. Just when a disk is full an owner wants to pause,
//! end or take money back, and what is obeyed has to be written down: then this file is given up, and laid aside again
//! once there is room.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FallocateFlags, StatVfsMountFlags, fallocate, statvfs};

use super::Home;

/// To end three golems of 2,000 ticks, with their testaments and what they leave, takes some 900 KB, and an owner may
/// end all.
const LENGTH: u64 = 4 << 20;
/// Room that must be left beside the reserve: on a fuller disk it is not laid aside.
const BESIDE: u64 = 4 << 20;

/// Some file systems do not say, or not at once, what room a file takes: there it is not laid aside again at every
/// look.
static UNSEEN: AtomicBool = AtomicBool::new(false);

impl Home {
    pub fn reserve(&self) -> PathBuf {
        self.root().join("reserve")
    }

    /// Whether there is room for orders that stop something, whatever else fills the disk.
    pub fn has_reserve(&self) -> bool {
        fs::metadata(self.reserve()).is_ok_and(|file| file.len() == LENGTH && file.blocks() * 512 >= LENGTH)
    }

    /// Lays the reserve aside if it is not there. Best effort: a home without it is a home all the same.
    pub fn keep_reserve(&self) -> bool {
        let is_there = || fs::metadata(self.reserve()).is_ok_and(|file| file.len() == LENGTH);
        if self.has_reserve() || UNSEEN.load(Ordering::Relaxed) && is_there() {
            return true;
        }
        if self.room() < LENGTH + BESIDE {
            return false;
        }
        let laid = lay_aside(&self.reserve()).is_ok();
        if !laid {
            self.give_up_reserve();
        } else if !self.has_reserve() {
            UNSEEN.store(true, Ordering::Relaxed);
        }
        laid
    }

    /// Gives the reserve up for an order that found no room. Says whether there was any to give.
    pub(crate) fn give_up_reserve(&self) -> bool {
        fs::remove_file(self.reserve()).is_ok()
    }

    /// Free bytes of the disk that the home is on, and all of its bytes; none where the file system does not say.
    pub fn disk(&self) -> Option<(u64, u64)> {
        let disk = statvfs(self.root()).ok()?;
        Some((disk.f_bavail.saturating_mul(disk.f_frsize), disk.f_blocks.saturating_mul(disk.f_frsize)))
    }

    fn room(&self) -> u64 {
        statvfs(self.root()).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// Whether the file system is read-only, whatever is free.
    pub(crate) fn is_read_only(&self) -> bool {
        statvfs(self.root()).is_ok_and(|disk| disk.f_flag.contains(StatVfsMountFlags::RDONLY))
    }
}

fn lay_aside(path: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // Where room cannot be had without writing, it is written.
    if fallocate(&file, FallocateFlags::empty(), 0, LENGTH).is_err() {
        io::copy(&mut io::repeat(b'.').take(LENGTH), &mut file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_laid_aside_given_up_once_and_laid_aside_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        assert!(!home.has_reserve() && !home.give_up_reserve());
        assert!(home.keep_reserve() && home.has_reserve() && home.keep_reserve());
        assert!(home.give_up_reserve() && !home.give_up_reserve() && !home.has_reserve());
        // An empty file of that length is no room.
        fs::File::create(home.reserve()).unwrap().set_len(LENGTH).unwrap();
        assert!(!home.has_reserve() && home.keep_reserve() && home.has_reserve());
    }
}
