//! A disk that refuses, loses and tears. It watches every step of one host on its way to the disk. At the step that was
//! drawn the process ends: what is on the disk then, and not one byte that was written later, is where the next begins.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::{fs, io};

use shell::view::board::Board;
use vault::disk::{Step, Watch, watch};

use super::dice::SeedDice;

/// Everything there is on the way to the disk.
pub(super) const STEPS: [&str; 9] =
    ["the host log", "a journal", "a head", "the treasury", "a world", "a letter", "a reply", "a file", "the shelf"];

/// The faults of a disk while a host is up, by the number of the step.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    pub(super) refused: Range<u64>,
    /// The step at which the process ends: its subject, and its number among the steps of that subject.
    pub(super) cut: Option<(&'static str, u64)>,
}

/// How much of the last step is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WrittenPart {
    Lost,
    Torn,
    Kept,
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) what: &'static str,
    pub(super) how: WrittenPart,
    /// The number of the first message that had not been told by then.
    pub(super) untold: u64,
}

/// Everything below a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(BTreeMap<PathBuf, Vec<u8>>);

pub(super) struct Disk {
    seen: Rc<RefCell<SeenWrites>>,
    _watch: Watch,
}

struct SeenWrites {
    root: PathBuf,
    image: PathBuf,
    faults: Faults,
    how: WrittenPart,
    dice: SeedDice,
    steps: u64,
    /// Steps so far with the subject of the cut.
    ours: u64,
    refused: u64,
    /// The files as they were before the last step.
    before: Option<Files>,
    /// Heads as they were when the host came up: they are not synced, and a power cut may lose what was written since.
    heads: Files,
    board: Option<Arc<Board>>,
    cut: Option<Cut>,
    trace: blake3::Hasher,
}

impl Disk {
    /// Watches a home, and leaves in `image` what is there when its host is cut off.
    pub(super) fn watch(root: &Path, image: PathBuf, faults: Faults, mut dice: SeedDice) -> Disk {
        let seen = SeenWrites {
            root: root.to_owned(),
            image,
            faults,
            how: *dice.one_of(&[WrittenPart::Lost, WrittenPart::Torn, WrittenPart::Kept]),
            dice,
            steps: 0,
            ours: 0,
            refused: 0,
            before: None,
            heads: Files::below(&root.join("heads")),
            board: None,
            cut: None,
            trace: blake3::Hasher::new(),
        };
        let seen = Rc::new(RefCell::new(seen));
        let watched = Rc::clone(&seen);
        Disk { seen, _watch: watch(move |step| watched.borrow_mut().see(step)) }
    }

    /// Sets the board whose messages are told.
    pub(super) fn listen(&self, board: Arc<Board>) {
        self.seen.borrow_mut().board = Some(board);
    }

    pub(super) fn cut(&self) -> Option<Cut> {
        self.seen.borrow().cut
    }

    /// How often something was refused.
    pub(super) fn refused(&self) -> u64 {
        self.seen.borrow().refused
    }

    /// Every step there was, as one number.
    pub(super) fn trace(&self) -> blake3::Hash {
        self.seen.borrow().trace.finalize()
    }
}

impl SeenWrites {
    fn see(&mut self, step: Step) -> io::Result<()> {
        // A process that has ended goes on here for a while, in files that are never read.
        if self.cut.is_some() {
            return Ok(());
        }
        match step {
            Step::Before(what) => {
                self.steps += 1;
                self.trace.update(what.as_bytes());
                self.before = None;
                if self.faults.refused.contains(&self.steps) {
                    self.refused += 1;
                    return Err(io::ErrorKind::StorageFull.into());
                }
                self.ours += u64::from(self.faults.cut.is_some_and(|(end, _)| end == what));
                if self.faults.cut == Some((what, self.ours)) {
                    let files = Files::below(&self.root);
                    if self.how == WrittenPart::Lost { self.end(what, files) } else { self.before = Some(files) }
                }
            }
            Step::After(what) => {
                if let Some(before) = self.before.take() {
                    let after = Files::below(&self.root);
                    let left = if self.how == WrittenPart::Torn { before.torn(after, &mut self.dice) } else { after };
                    self.end(what, left);
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, what: &'static str, mut left: Files) {
        if self.dice.one_in(4) {
            left.replace(Path::new("heads"), &self.heads);
        }
        left.write(&self.image);
        let untold = self.board.as_ref().map_or(0, |board| board.next());
        self.cut = Some(Cut { what, how: self.how, untold });
    }
}

impl Files {
    /// Reads all files below a folder, but for memory that programs share while they are up, which does not outlast
    /// them.
    pub(super) fn below(root: &Path) -> Files {
        let (mut files, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.to_string_lossy().ends_with("-shm") {
                    files.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
                }
            }
        }
        Files(files)
    }

    pub(super) fn write(&self, root: &Path) {
        for (path, bytes) in &self.0 {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    /// Puts earlier files in the place of those in a folder that were there then.
    fn replace(&mut self, folder: &Path, earlier: &Files) {
        for (name, bytes) in &earlier.0 {
            if let Some(file) = self.0.get_mut(&folder.join(name)) {
                file.clone_from(bytes);
            }
        }
    }

    /// Mixes these files with the later ones: of each file that is being written, the first part is new and the rest is
    /// not.
    fn torn(&self, after: Files, dice: &mut SeedDice) -> Files {
        let changed = |path: &Path| self.0.get(path) != after.0.get(path);
        let mut torn = after.clone();
        for (path, new) in &mut torn.0 {
            let Some(old) = self.0.get(path).filter(|old| *old != new) else { continue };
            // SQLite writes into its file only what is safe beside it.
            let name = path.to_string_lossy();
            let log = name.strip_suffix("-wal");
            if name.ends_with(".db") || log.is_some_and(|file| changed(Path::new(file))) {
                continue;
            }
            let at = dice.roll(new.len() as u64 + 1) as usize;
            let rest = old.get(at..).unwrap_or_default().to_vec();
            new.truncate(at);
            new.extend(rest);
        }
        torn
    }
}
