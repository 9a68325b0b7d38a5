//! Permissions of a home: it is its owner's alone, from the first byte, because a user who can read a head can lock it,
//! and one who can write an inbox gives orders. Programs begin with [`begin`], after which nothing they make is open to
//! others; files their user asked for elsewhere are handed over with [`share`].

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::Mode;

/// The files of a home; other files in its folder are not ours to judge.
const OURS: [&str; 17] = [
    "bardo.toml",
    "home-id",
    "treasury.db",
    "host.db",
    "library.db",
    "api-token",
    "gateway",
    "tokens",
    "owner.key",
    "clade.key",
    "heads",
    "bells",
    "data",
    "attic",
    "clock",
    "reserve",
    "golems",
];
/// Permission bits of everyone but the owner.
const OTHERS: u32 = 0o077;

/// The umask before this program asked for more.
static BEFORE: OnceLock<Mode> = OnceLock::new();

/// A file of a home that is not its owner's alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    pub path: PathBuf,
    pub mode: u32,
    /// Whether it belongs to another user, who can do with it what they like.
    pub foreign: bool,
}

/// Makes every file of this process from now on its owner's alone, and turns memory dumps off:
/// keys of providers and the secrets of its golems are in it.
pub fn begin() {
    let before = rustix::process::umask(Mode::from_raw_mode(OTHERS));
    let _ = BEFORE.set(before);
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    // Where dumps are piped to a program, the limit is not asked.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// The umask before [`begin`], for a program of the user's own.
pub fn umask_before() -> Option<u32> {
    // Narrower on macOS.
    BEFORE.get().map(|before| before.bits() as _)
}

/// Opens a file that the user asked for, outside of any home, as far as files they make themselves.
pub fn share(path: &Path) -> io::Result<()> {
    let Some(before) = BEFORE.get() else { return Ok(()) };
    let before: u32 = before.as_raw_mode() as _;
    fs::set_permissions(path, Permissions::from_mode(0o666 & !before))
}

/// Makes a folder, and those it lies in, for its owner alone.
pub fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Copies the content of a file, and not its permissions.
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut source = fs::File::open(from)?;
    let mut copy = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut copy)
}

/// Writes and syncs a file for its owner's eyes alone.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes)?.sync_all()
}

/// Writes a file for its owner's eyes alone, without waiting for the disk.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<fs::File> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Takes every permission in a home from everyone but the owner.
pub fn close(root: &Path) -> io::Result<()> {
    for exposed in look(root)?.into_iter().filter(|exposed| !exposed.foreign) {
        fs::set_permissions(&exposed.path, Permissions::from_mode(exposed.mode & !OTHERS))?;
    }
    Ok(())
}

/// The files in a home that are not its owner's alone, the folder itself first.
pub fn look(root: &Path) -> io::Result<Vec<Exposed>> {
    let owner = fs::metadata(root)?.uid();
    let mut exposed = Vec::new();
    judge(root, owner, &mut exposed)?;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // Databases have companions beside them while they are open, and some files are written aside.
        let beside =
            |one: &&str| name.strip_prefix(*one).is_some_and(|rest| ["", "-wal", "-shm", ".new"].contains(&rest));
        if OURS.iter().any(beside) {
            walk(&entry.path(), owner, &mut exposed)?;
        }
    }
    Ok(exposed)
}

fn walk(path: &Path, owner: u32, exposed: &mut Vec<Exposed>) -> io::Result<()> {
    if judge(path, owner, exposed)? {
        for entry in fs::read_dir(path)? {
            walk(&entry?.path(), owner, exposed)?;
        }
    }
    Ok(())
}

/// Whether it is a folder. A link stands for what it leads to, which is not here; one that is gone by now is nothing.
fn judge(path: &Path, owner: u32, exposed: &mut Vec<Exposed>) -> io::Result<bool> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    let (mode, foreign) = (found.mode() & 0o7777, found.uid() != owner);
    if !found.is_symlink() && (mode & OTHERS != 0 || foreign) {
        exposed.push(Exposed { path: path.to_owned(), mode, foreign });
    }
    Ok(found.is_dir())
}
