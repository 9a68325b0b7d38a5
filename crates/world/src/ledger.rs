//! A world's record of actions, as a chain would keep it: each key has one fate, written and synced before it is told.
//! A key asked about before it was ever done is ruled out for good, so a golem that comes back from a crash can rely on
//! the answer.
//!
//! On disk it is one line of JSON for each key, sealed over itself and the seal of the line before; where the outcome
//! of an order is not known when it is given, an earlier line says that it was taken. A last line without its newline
//! was never acknowledged and is cut off; anything else that does not follow is damage, and damage is not guessed
//! around. Only the golem's own life can tell that whole lines are missing at the end: it knows what it asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use golem::time::Time;
use golem::world::{Order, Outcome};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The fate of one key; no outcome means it was refused or ruled out, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// World time at which the fate was decided.
    pub at: Time,
    pub outcome: Option<Outcome>,
}

/// An order that was taken before its outcome could be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// World time at which the order was given.
    pub(crate) at: Time,
    pub(crate) order: Order,
}

#[derive(Debug)]
pub struct Ledger {
    entries: BTreeMap<u64, LedgerEntry>,
    /// Orders taken before their outcome was known, also those decided since.
    taken: BTreeMap<u64, Taken>,
    /// The taken orders that are not decided yet.
    open: BTreeSet<u64>,
    held: i64,
    /// The seal of the newest line.
    seal: u64,
    sheet: Option<Sheet>,
}

#[derive(Debug)]
struct Sheet {
    /// The file, kept open and locked; none where the caller excludes other writers.
    file: Option<File>,
    path: PathBuf,
    /// A write failed half-way: what the file holds is unknown until it is read again.
    stuck: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerLine {
    key: u64,
    at: Time,
    // Without this a line that lost its outcome would read as a refusal.
    #[serde(deserialize_with = "Option::deserialize")]
    outcome: Option<Outcome>,
    seal: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TakenLine {
    key: u64,
    at: Time,
    order: Order,
    seal: String,
}

impl Ledger {
    /// A ledger in memory, forgotten with the process: for lives that are lived in one go.
    pub fn memory() -> Ledger {
        Ledger {
            entries: BTreeMap::new(),
            taken: BTreeMap::new(),
            open: BTreeSet::new(),
            held: 0,
            seal: 0,
            sheet: None,
        }
    }

    /// Opens or begins the record at this path and keeps it locked while in use.
    pub fn file(path: impl AsRef<Path>) -> Result<Ledger, Error> {
        Ledger::read(path.as_ref())
    }

    /// Opens one record of very many: its file is open only while something is written. The caller makes sure that no
    /// other process writes there.
    pub fn resting(path: impl AsRef<Path>) -> Result<Ledger, Error> {
        let path = path.as_ref();
        let mut ledger = if path.exists() { Ledger::read(path)? } else { Ledger::memory() };
        ledger.sheet = Some(Sheet { file: None, path: path.to_owned(), stuck: false });
        Ok(ledger)
    }

    /// Reads a record without changing anything; a line that is being written is not seen.
    pub fn look(path: impl AsRef<Path>) -> Result<Ledger, Error> {
        match fs::read(&path) {
            Ok(text) => Ledger::parse(path.as_ref(), &text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Ledger::memory()),
            Err(source) => Err(Error::Io { what: "cannot read", path: path.as_ref().to_owned(), source }),
        }
    }

    /// Every line from the first on that can still be read and follows from the one before.
    pub fn salvage(path: impl AsRef<Path>) -> BTreeMap<u64, LedgerEntry> {
        let text = fs::read(&path).unwrap_or_default();
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let whole = ends.take_while(|end| Ledger::parse(path.as_ref(), &text[..*end]).is_ok()).last().unwrap_or(0);
        Ledger::parse(path.as_ref(), &text[..whole]).map(|ledger| ledger.entries).unwrap_or_default()
    }

    /// Writes a whole record in place of the one that is there.
    pub fn rebuild(path: impl AsRef<Path>, entries: BTreeMap<u64, LedgerEntry>) -> Result<Ledger, Error> {
        let path = path.as_ref();
        let mut sheet = Sheet { file: None, path: path.to_owned(), stuck: false };
        sheet.rewrite(&entries, &BTreeMap::new())?;
        Ledger::file(path)
    }

    fn parse(path: &Path, text: &[u8]) -> Result<Ledger, Error> {
        let mut ledger = Ledger::memory();
        for (index, line) in
            text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).enumerate()
        {
            let damaged = |why| Error::Ledger { path: path.to_owned(), line: index as u64 + 1, why };
            if let Ok(line) = serde_json::from_slice::<TakenLine>(line) {
                if ledger.entries.contains_key(&line.key) || ledger.taken.contains_key(&line.key) {
                    return Err(damaged(format!("key {} was taken twice", line.key)));
                }
                let taken = Taken { at: line.at, order: line.order };
                ledger.seal = seal(ledger.seal, &(line.key, taken.at, taken.order));
                if line.seal != spelled(ledger.seal) {
                    return Err(damaged("it does not follow from the line before".into()));
                }
                ledger.taken.insert(line.key, taken);
                ledger.open.insert(line.key);
                continue;
            }
            let line: LedgerLine = serde_json::from_slice(line).map_err(|e| damaged(e.to_string()))?;
            let entry = LedgerEntry { at: line.at, outcome: line.outcome };
            if ledger.entries.contains_key(&line.key) {
                return Err(damaged(format!("key {} has two fates", line.key)));
            }
            ledger.seal = seal(ledger.seal, &(line.key, entry.at, entry.outcome));
            if line.seal != spelled(ledger.seal) {
                return Err(damaged("it does not follow from the line before".into()));
            }
            ledger.note(line.key, entry);
        }
        Ok(ledger)
    }

    fn read(path: &Path) -> Result<Ledger, Error> {
        let failed = |what| move |source| Error::Io { what, path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(failed("cannot open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Busy { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(failed("cannot lock")(source)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed("cannot read"))?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed("cannot cut the torn end off"))?;
        }
        // A line that reached the file but not the disk is about to be trusted; it must not vanish afterwards.
        file.sync_all().and_then(|()| sync_folder(path)).map_err(failed("cannot sync"))?;

        let mut ledger = Ledger::parse(path, &text[..whole])?;
        ledger.sheet = Some(Sheet { file: Some(file), path: path.to_owned(), stuck: false });
        Ok(ledger)
    }

    /// The fate of a key; if it has none yet, `act` decides it, once and for all.
    pub fn once(
        &mut self,
        key: u64,
        at: Time,
        act: impl FnOnce() -> Option<Outcome>,
    ) -> Result<Option<Outcome>, Error> {
        if let Some(entry) = self.entries.get(&key) {
            return Ok(entry.outcome);
        }
        let outcome = act();
        let entry = LedgerEntry { at, outcome };
        let seal = seal(self.seal, &(key, at, outcome));
        if let Some(sheet) = &mut self.sheet {
            sheet.write(&text(&LedgerLine::of(key, &entry, seal)))?;
        }
        self.seal = seal;
        self.note(key, entry);
        Ok(outcome)
    }

    /// Takes an order whose outcome cannot be known yet; an order that was taken or has a fate stays as it is.
    pub(crate) fn take(&mut self, key: u64, at: Time, order: &Order) -> Result<(), Error> {
        if self.entries.contains_key(&key) || self.taken.contains_key(&key) {
            return Ok(());
        }
        let seal = seal(self.seal, &(key, at, order));
        if let Some(sheet) = &mut self.sheet {
            sheet.write(&text(&TakenLine { key, at, order: *order, seal: spelled(seal) }))?;
        }
        self.seal = seal;
        self.taken.insert(key, Taken { at, order: *order });
        self.open.insert(key);
        Ok(())
    }

    /// The order of this key and when it was taken, if that was before its outcome could be known.
    pub(crate) fn taken(&self, key: u64) -> Option<Taken> {
        self.taken.get(&key).copied()
    }

    /// The first order that has no fate yet.
    pub(crate) fn undecided(&self) -> Option<(u64, Taken)> {
        let key = self.open.first()?;
        self.taken.get(key).map(|taken| (*key, *taken))
    }

    /// The fate of a key; if it has none yet, it is ruled out.
    pub fn reconcile(&mut self, key: u64, at: Time) -> Result<Option<Outcome>, Error> {
        self.once(key, at, || None)
    }

    /// Forgets every key above this one, as if it had never been used: a golem restored from an older copy of itself
    /// will use those keys for something else.
    pub fn forget_after(&mut self, last: u64) -> Result<(), Error> {
        let kept = self.entries.iter().filter(|(key, _)| **key <= last).map(|(key, entry)| (*key, *entry)).collect();
        self.taken.retain(|key, _| *key <= last);
        self.open.retain(|key| *key <= last);
        (self.held, self.seal) = (0, sealed(&kept, &self.taken).1);
        if let Some(sheet) = &mut self.sheet {
            sheet.rewrite(&kept, &self.taken)?;
        }
        self.entries.clear();
        for (key, entry) in kept {
            self.note(key, entry);
        }
        Ok(())
    }

    /// The fate of a key, if it has one.
    pub fn entry(&self, key: u64) -> Option<LedgerEntry> {
        self.entries.get(&key).copied()
    }

    /// Units given out and not given back, in millionths.
    pub fn held(&self) -> i64 {
        self.held
    }

    /// Every key that has a fate, in order of keys.
    pub fn entries(&self) -> impl Iterator<Item = (u64, LedgerEntry)> + '_ {
        self.entries.iter().map(|(key, entry)| (*key, *entry))
    }

    fn note(&mut self, key: u64, entry: LedgerEntry) {
        self.held = self.held.saturating_add(entry.outcome.map_or(0, |outcome| outcome.units));
        self.entries.insert(key, entry);
        self.open.remove(&key);
    }
}

impl Sheet {
    fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        if self.stuck {
            return Err(Error::Stuck { path: self.path.clone() });
        }
        self.stuck = true;
        self.append(text).map_err(|source| Error::Io { what: "cannot write", path: self.path.clone(), source })?;
        self.stuck = false;
        Ok(())
    }

    fn append(&self, text: &[u8]) -> io::Result<()> {
        if let Some(mut file) = self.file.as_ref() {
            return file.write_all(text).and_then(|()| file.sync_data());
        }
        let new = !self.path.exists();
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
        file.write_all(text)?;
        file.sync_data()?;
        if new { sync_folder(&self.path) } else { Ok(()) }
    }

    /// Puts a whole new file in place of this one: after a crash there is one or the other, never half of each.
    fn rewrite(&mut self, entries: &BTreeMap<u64, LedgerEntry>, taken: &BTreeMap<u64, Taken>) -> Result<(), Error> {
        if self.stuck {
            return Err(Error::Stuck { path: self.path.clone() });
        }
        let (text, _) = sealed(entries, taken);
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        let replace = |path: &Path| {
            // Appending from the start, since this handle goes on as the record.
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&name)?;
            file.lock()?;
            file.set_len(0)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&name, path)?;
            sync_folder(path)?;
            Ok(file)
        };
        self.stuck = true;
        let file = replace(&self.path).map_err(|source| Error::Io {
            what: "cannot rewrite",
            path: self.path.clone(),
            source,
        })?;
        self.file = self.file.take().map(|_| file);
        self.stuck = false;
        Ok(())
    }
}

impl LedgerLine {
    fn of(key: u64, entry: &LedgerEntry, seal: u64) -> LedgerLine {
        LedgerLine { key, at: entry.at, outcome: entry.outcome, seal: spelled(seal) }
    }
}

fn text(line: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("a line of plain numbers");
    text.push(b'\n');
    text
}

/// The text of a whole record, and the seal of its last line.
fn sealed(entries: &BTreeMap<u64, LedgerEntry>, taken: &BTreeMap<u64, Taken>) -> (Vec<u8>, u64) {
    let (mut whole, mut last) = (Vec::new(), 0);
    let keys: BTreeSet<u64> = entries.keys().chain(taken.keys()).copied().collect();
    for key in keys {
        if let Some(Taken { at, order }) = taken.get(&key) {
            last = seal(last, &(key, at, order));
            whole.extend(text(&TakenLine { key, at: *at, order: *order, seal: spelled(last) }));
        }
        if let Some(entry) = entries.get(&key) {
            last = seal(last, &(key, entry.at, entry.outcome));
            whole.extend(text(&LedgerLine::of(key, entry, last)));
        }
    }
    (whole, last)
}

/// FNV-1a over the seal before and the content of this line: against accidents, not against the owner.
fn seal(before: u64, said: &impl Serialize) -> u64 {
    let said = serde_json::to_vec(said).expect("plain numbers");
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    before.to_le_bytes().iter().chain(&said).fold(0xcbf2_9ce4_8422_2325, mix)
}

fn spelled(seal: u64) -> String {
    format!("{seal:016x}")
}

/// A new file is durable only when its folder is.
fn sync_folder(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use golem::Usdc;

    use super::*;

    const NOON: Time = Time::seconds(43_200);

    fn outcome(units: i64) -> Option<Outcome> {
        Some(Outcome { units, cash: Usdc::micros(-units * 2), fee: Usdc::micros(3), gas: Usdc::ZERO })
    }

    fn written(path: &Path) -> Vec<u8> {
        let mut ledger = Ledger::file(path).unwrap();
        ledger.once(1, NOON, || outcome(500)).unwrap();
        ledger.once(2, NOON, || None).unwrap();
        ledger.reconcile(7, NOON).unwrap();
        ledger.once(3, NOON, || outcome(-200)).unwrap();
        fs::read(path).unwrap()
    }

    #[test]
    fn a_key_has_one_fate_across_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let text = String::from_utf8(written(&path)).unwrap();
        assert_eq!(
            text.lines().take(2).collect::<Vec<_>>(),
            [
                r#"{"key":1,"at":43200000,"outcome":{"units":500,"cash":-1000,"fee":3,"gas":0},"seal":"f8e91e06bd420264"}"#,
                r#"{"key":2,"at":43200000,"outcome":null,"seal":"acb4dbf4de758e35"}"#
            ]
        );
        let mut ledger = Ledger::file(&path).unwrap();
        assert_eq!(ledger.held(), 300);
        assert_eq!(ledger.once(1, NOON, || panic!("done already")).unwrap(), outcome(500));
        assert_eq!(ledger.once(2, NOON, || panic!("refused already")).unwrap(), None);
        assert_eq!(ledger.once(7, NOON, || panic!("ruled out already")).unwrap(), None);
        assert_eq!(ledger.reconcile(3, NOON).unwrap(), outcome(-200));
        drop(ledger);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn wherever_the_file_is_torn_the_whole_lines_survive_and_writing_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let text = written(&path);
        for cut in 0..=text.len() {
            fs::write(&path, &text[..cut]).unwrap();
            let lines = text[..cut].iter().filter(|byte| **byte == b'\n').count();
            let mut ledger = Ledger::file(&path).unwrap();
            assert_eq!(ledger.entries().count(), lines, "cut at {cut}");
            ledger.once(9, NOON, || outcome(1)).unwrap();
            drop(ledger);
            let ledger = Ledger::file(&path).unwrap();
            assert_eq!(ledger.entries().count(), lines + 1, "cut at {cut}");
        }
    }

    #[test]
    fn damage_is_named_by_line_and_not_guessed_around() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let line = |key, before| {
            let entry = LedgerEntry { at: Time::seconds(0), outcome: None };
            let last = seal(before, &(key, entry.at, entry.outcome));
            (String::from_utf8(text(&LedgerLine::of(key, &entry, last))).unwrap().trim_end().to_owned(), last)
        };
        let (good, first) = line(1, 0);
        let (next, _) = line(2, first);
        let (alone, _) = line(2, 0);
        for (bad, why) in [
            ("\0\0\0\0", "expected value"),
            ("", "EOF"),
            (&good, "key 1 has two fates"),
            (r#"{"key":2,"at":0,"seal":"0"}"#, "missing field `outcome`"),
            (r#"{"key":2,"at":0,"outcome":null}"#, "missing field `seal`"),
            (r#"{"key":2,"at":0,"outcome":null,"x":1}"#, "unknown field"),
            (&format!("{next}{{"), "trailing"),
            (&alone, "does not follow"),
            (&next.replace("\"at\":0", "\"at\":1"), "does not follow"),
        ] {
            fs::write(&path, format!("{good}\n{bad}\n")).unwrap();
            let error = Ledger::file(&path).unwrap_err().to_string();
            assert!(error.contains("ledger line 2: ") && error.contains(why), "{error}");
            assert_eq!(Ledger::look(&path).unwrap_err().to_string(), error);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{good}\n{bad}\n"));
        }
    }

    #[test]
    fn a_record_that_rests_is_the_same_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let mut resting = Ledger::resting(&path).unwrap();
        assert!(!path.exists(), "nothing was done yet");
        resting.once(1, NOON, || outcome(500)).unwrap();
        resting.reconcile(2, NOON).unwrap();
        let known: Vec<_> = Ledger::file(&path).unwrap().entries().collect();
        assert_eq!(known, Ledger::resting(&path).unwrap().entries().collect::<Vec<_>>());
        assert_eq!((known.len(), resting.held()), (2, 500));
    }

    #[test]
    fn two_worlds_cannot_share_one_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let first = Ledger::file(&path).unwrap();
        assert!(matches!(Ledger::file(&path), Err(Error::Busy { .. })));
        drop(first);
        Ledger::file(&path).unwrap();
    }

    #[test]
    fn after_a_failed_write_nothing_more_is_done_until_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let mut ledger = Ledger::file(&path).unwrap();
        ledger.sheet.as_mut().unwrap().file = Some(File::open(&path).unwrap());
        assert!(matches!(ledger.once(1, NOON, || outcome(1)), Err(Error::Io { .. })));
        assert!(matches!(ledger.once(2, NOON, || outcome(1)), Err(Error::Stuck { .. })));
        assert_eq!(ledger.held(), 0);
        drop(ledger);
        assert_eq!(Ledger::file(&path).unwrap().reconcile(1, NOON).unwrap(), None);
    }

    #[test]
    fn a_restored_golem_finds_its_later_keys_unused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        written(&path);
        let mut ledger = Ledger::file(&path).unwrap();
        ledger.forget_after(2).unwrap();
        assert_eq!(ledger.held(), 500);
        assert!(matches!(Ledger::file(&path), Err(Error::Busy { .. })));
        assert_eq!(ledger.once(3, NOON, || outcome(7)).unwrap(), outcome(7));
        drop(ledger);
        let mut ledger = Ledger::file(&path).unwrap();
        let known: Vec<u64> = ledger.entries().map(|(key, _)| key).collect();
        assert_eq!((known, ledger.held()), (vec![1, 2, 3], 507));
        assert_eq!(ledger.once(7, NOON, || outcome(1)).unwrap(), outcome(1));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
