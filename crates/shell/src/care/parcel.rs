//! Lives from outside: a folder that says it is a life. Nothing in it is followed, waited for or believed. Each file is
//! taken, byte by byte, into a folder of our own, and only what lies there is looked at; anything a life does not have
//! is a reason to refuse all of it.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use vault::{Reader, archive};

use super::label::{LABEL, Label, label_of};
use crate::durable::{aside, sync_folder};
use crate::{Error, hash};

const SMALL: u64 = 64 << 10;
const TEXT: u64 = 16 << 20;
/// Room that must be left when all of it was taken in.
const ROOM: u64 = 64 << 20;
/// The most segments of an archive: ten thousand records each.
const STRETCHES: usize = 100_000;

/// A folder of our own, which vanishes unless it is put in place.
#[derive(Debug)]
pub(crate) struct Crib {
    folder: PathBuf,
    placed: bool,
}

enum Part {
    /// Taken, if it is no larger.
    File(u64),
    /// Taken as part of the journal.
    Journal,
    /// Not taken: made again here, or of no use elsewhere.
    Left,
    /// A folder that is not taken.
    LeftFolder,
    Stretches,
    Letters,
}

fn part(name: &str) -> Option<Part> {
    Some(match name {
        "life.db" | "life.db-wal" => Part::Journal,
        "world.log" => Part::File(u64::MAX),
        "secret" | "FROZEN" | "GONE_HOME" => Part::File(SMALL),
        LABEL | "golem.toml" | "PLAYBOOK.md" | "testament.json" | "testament.md" => Part::File(TEXT),
        "legacy.bundle" | "inherited.bundle" | "inheritance.bundle" => Part::File(TEXT),
        "life.db-shm" | "glance" | "pictures" | "MOVED" | "MOVED-FROM" | "MOVED-TO" | "RELEASED" | "GIVEN-UP" => {
            Part::Left
        }
        // Programs of a machine are for its owner to name there.
        "checks.json" | "checks.log" | "programs.json" => Part::Left,
        "programs" | "orders" => Part::LeftFolder,
        "PLAYBOOK.md.was" | "PLAYBOOK.md.new" => Part::Left,
        "archive" => Part::Stretches,
        "inbox" => Part::Letters,
        _ => return None,
    })
}

impl Crib {
    /// Takes a life in, whole or not at all.
    pub(crate) fn take(golems: &Path, from: &Path) -> Result<Crib, Error> {
        let crib = Crib { folder: aside(golems, "restore")?, placed: false };
        crib.fill(from)?;
        Ok(crib)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder that of a golem.
    pub(crate) fn put(mut self, place: &Path) -> Result<(), Error> {
        fs::rename(&self.folder, place).map_err(Error::io("cannot create", place))?;
        self.placed = true;
        Ok(())
    }

    fn fill(&self, from: &Path) -> Result<(), Error> {
        let odd = |path: &Path| {
            Error::Damaged(format!(
                "{} is not part of a life: a link, a pipe or a file that bardo does not make; nothing of it was taken in",
                path.display()
            ))
        };
        if !from.join("life.db").exists() {
            return Err(vault::Error::Missing(from.join("life.db")).into());
        }
        let journal = self.folder.join("as-it-came");
        fs::create_dir(&journal).map_err(Error::io("cannot create", &journal))?;
        let (mut takes, mut size) = (Vec::new(), 0_u64);
        for path in entries(from)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let meta = path.symlink_metadata().map_err(Error::io("cannot read", &path))?;
            match part(&name) {
                Some(Part::Journal) if meta.is_file() => {
                    size = size.saturating_add(meta.len());
                    takes.push((path, journal.join(name)));
                }
                Some(Part::File(largest)) if meta.is_file() && meta.len() <= largest => {
                    size = size.saturating_add(meta.len());
                    takes.push((path, self.folder.join(name)));
                }
                Some(Part::Left) if meta.is_file() => {}
                Some(Part::Letters | Part::LeftFolder) if meta.is_dir() => {}
                Some(Part::Stretches) if meta.is_dir() => {
                    let own = self.folder.join("archive");
                    fs::create_dir(&own).map_err(Error::io("cannot create", &own))?;
                    for stretch in entries(&path)? {
                        let meta = stretch.symlink_metadata().map_err(Error::io("cannot read", &stretch))?;
                        let name = stretch.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
                        if !meta.is_file() || !(name == "draft" || is_stretch(&name)) || takes.len() > STRETCHES {
                            return Err(odd(&stretch));
                        }
                        if name != "draft" {
                            size = size.saturating_add(meta.len());
                            takes.push((stretch, own.join(name)));
                        }
                    }
                }
                _ => return Err(odd(&path)),
            }
        }
        // Twice: as it came, and as it is kept.
        let disk =
            rustix::fs::statvfs(&self.folder).map_err(|e| Error::io("cannot look at", &self.folder)(e.into()))?;
        let room = disk.f_bavail.saturating_mul(disk.f_frsize);
        if size.saturating_mul(2).saturating_add(ROOM) > room {
            return Err(Error::Host(format!("there is no room here for {} MiB; make some", size >> 19)));
        }
        for (path, copy) in &takes {
            take(path, copy, size)?;
        }
        // Written as a new file: bytes beside the pages of a file that came from elsewhere stay behind.
        Reader::open(&journal.join("life.db"))?.copy_to(&self.folder.join("life.db"))?;
        fs::remove_dir_all(&journal).map_err(Error::io("cannot remove", &journal))?;
        self.keep_own_stretches()?;
        sync_folder(&self.folder)
    }

    /// Removes segments of a future this copy does not have.
    fn keep_own_stretches(&self) -> Result<(), Error> {
        let archive = self.folder.join("archive");
        let own = archive::files(&archive, Reader::open(&self.folder.join("life.db"))?.begins_at()?);
        if !archive.exists() {
            return Ok(());
        }
        for file in entries(&archive)?.into_iter().filter(|file| !own.contains(file)) {
            fs::remove_file(&file).map_err(Error::io("cannot remove", &file))?;
        }
        sync_folder(&archive)
    }

    pub(crate) fn label(&self) -> Result<Option<Label>, Error> {
        label_of(&self.folder)
    }

    /// Checks every file beside the journal against the label, and those that are not there.
    pub(crate) fn must_be_as_labelled(&self) -> Result<(), Error> {
        let Some(label) = self.label()? else { return Ok(()) };
        for path in entries(&self.folder)?.iter().filter(|path| path.is_file()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if ["life.db", LABEL].contains(&name) {
                continue;
            }
            if label.files.get(name) != hash::of_file(path)?.as_ref() {
                return Err(Error::Damaged(format!("{name} is not the one this copy was made with; use another copy")));
            }
        }
        match label.files.keys().find(|name| !self.folder.join(name).exists()) {
            Some(missing) => Err(Error::Damaged(format!("{missing} is missing from this copy; use another copy"))),
            None => Ok(()),
        }
    }
}

impl Drop for Crib {
    fn drop(&mut self) {
        if !self.placed {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = fs::read_dir(folder).and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    read.map_err(Error::io("cannot read", folder))
}

/// The name of a segment in an archive: two numbers.
fn is_stretch(name: &str) -> bool {
    let numbers = name.strip_suffix(".db").and_then(|stem| stem.split_once('-'));
    let digits = |text: &str| !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(first, last)| digits(first) && digits(last))
}

/// Copies the bytes of a plain file and of nothing else; a path that has become a link or a pipe meanwhile is not
/// followed.
pub(crate) fn take(from: &Path, to: &Path, largest: u64) -> Result<(), Error> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(from).map_err(Error::io("cannot read", from))?;
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err(Error::Damaged(format!("{} is not a plain file", from.display())));
    }
    let mut copy: File =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(Error::io("cannot create", to))?;
    std::io::copy(&mut file.take(largest), &mut copy)
        .and_then(|_| copy.sync_all())
        .map_err(Error::io("cannot copy", from))
}
