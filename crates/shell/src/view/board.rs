//! The board of a host, readable without asking its golems: the status of each, the newest messages, and how well time
//! is kept. Golems post here once what they post is durable; a reader never makes them wait.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
use std::time::Duration;

use super::histogram::Histogram;
use super::status::{State, Status};
use crate::locks::{lock, recover};
use crate::wall::Wall;

/// Messages kept for listeners that come back.
const REMEMBERED: usize = 20_000;

/// One message as it goes out.
#[derive(Clone, Debug)]
pub struct Frame {
    pub number: u64,
    pub golem: Arc<str>,
    pub seq: u64,
    /// Which of the messages of its record this is.
    pub index: u32,
    pub routine: bool,
    /// The message with its place in the life, as JSON.
    pub text: Arc<str>,
}

/// A page of the golems, in the order of their names.
#[derive(Debug)]
pub struct Page {
    pub golems: Vec<Status>,
    /// Whether there are more after the last of this page.
    pub more: bool,
    /// The newest change there is.
    pub change: u64,
    /// How many golems there are, here and on other pages.
    pub all: usize,
}

#[derive(Debug, Default)]
pub struct Board {
    statuses: RwLock<BTreeMap<String, Status>>,
    recent: Mutex<Recent>,
    news: Condvar,
    pub late: Histogram,
    pub acknowledged: Histogram,
    pub ticks: AtomicU64,
    pub syncs: AtomicU64,
    pub falls: AtomicU64,
    pub listeners: AtomicU64,
    pub notes_sent: AtomicU64,
    pub notes_failed: AtomicU64,
    /// Time of the newest copy in the backup folder, in seconds; 0 before the first.
    pub backed_up: AtomicU64,
    /// Whether the host makes copies, and whether they are wanted now.
    pub copies: AtomicBool,
    pub copy_now: AtomicBool,
    /// How often a status has changed.
    changes: AtomicU64,
    deaths: Mutex<BTreeMap<String, u64>>,
    /// The newest message out of the ordinary of each golem, as JSON.
    last: Mutex<BTreeMap<Arc<str>, Arc<str>>>,
    trouble: Mutex<Trouble>,
    /// Why the settings in the file are not the ones in use.
    settings: Mutex<Option<String>>,
    /// When it was put up, by its clock.
    run: u64,
    /// World seconds per second that are asked of the host, as the bits of a number.
    speed: AtomicU64,
    /// The share of that speed which was kept when it was last measured, as the bits of a number.
    kept: AtomicU64,
    wall: Wall,
}

/// Why golems cannot be written, if they cannot.
#[derive(Debug, Default)]
struct Trouble {
    /// The host log cannot be written.
    log: Option<String>,
    /// The log can be written, but no golem's own files.
    files: Option<String>,
}

#[derive(Debug, Default)]
struct Recent {
    frames: VecDeque<Frame>,
    next: u64,
    closed: bool,
}

impl Frame {
    /// The message, beginning with the name of its golem.
    pub fn text_with_name(&self) -> String {
        named(&self.golem, &self.text)
    }
}

/// A message as JSON, beginning with the name of its golem.
pub fn named(golem: &str, text: &str) -> String {
    format!("{{\"golem\":\"{golem}\",{}", text.trim_start_matches('{'))
}

impl Board {
    /// An empty board on this clock.
    pub(crate) fn on(wall: &Wall) -> Board {
        Board { wall: wall.clone(), run: wall.now_ms() as u64, ..Board::default() }
    }

    /// The run of the host that this board belongs to.
    pub fn run(&self) -> u64 {
        self.run
    }

    pub fn post(&self, mut status: Status) {
        status.written = self.wall.now_ms() as u64;
        let cause = status.cause.clone();
        let mut statuses = self.write();
        // Counted under the lock: a reader that has asked for all changes up to a number has them.
        status.change = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        let before = statuses.insert(status.name.clone(), status);
        drop(statuses);
        // A golem that was found dead when the host came up is no news.
        if let (Some(cause), Some(State::Living | State::Asking | State::Dreaming | State::Paused | State::Frozen)) =
            (cause, before.map(|before| before.state))
        {
            *lock(&self.deaths).entry(cause).or_default() += 1;
        }
    }

    /// Deaths since the host came up, by the name of their cause.
    pub fn deaths(&self) -> BTreeMap<String, u64> {
        lock(&self.deaths).clone()
    }

    /// When the newest backup was made, in seconds since 1970.
    pub fn newest_backup(&self) -> Option<i64> {
        Some(self.backed_up.load(Ordering::Relaxed) as i64).filter(|made| *made > 0)
    }

    /// Says of one golem that something is the matter with its process, not with its life.
    pub fn mark(&self, name: &str, state: State, why: Option<String>) {
        if let Some(status) = self.write().get_mut(name) {
            (status.state, status.why) = (state, why);
            status.change = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        }
    }

    /// The statuses changed since this change of this run, the number of the newest change, and how many golems there
    /// are. After another run, all have changed.
    pub fn changed_after(&self, run: u64, change: u64) -> (Vec<Status>, u64, usize) {
        let change = if run == self.run { change } else { 0 };
        let all = recover(self.statuses.read());
        let changed = all.values().filter(|status| status.change > change).cloned().collect();
        (changed, self.changes.load(Ordering::Relaxed), all.len())
    }

    /// The first changed statuses whose names come after this one, and whether there are more of them.
    pub fn page_after(&self, run: u64, change: u64, name: &str, most: usize) -> Page {
        let change = if run == self.run { change } else { 0 };
        let all = recover(self.statuses.read());
        let later = all.range::<str, _>((Bound::Excluded(name), Bound::Unbounded));
        let mut changed = later.map(|(_, status)| status).filter(|status| status.change > change);
        let golems = changed.by_ref().take(most).cloned().collect();
        Page { golems, more: changed.next().is_some(), change: self.changes.load(Ordering::Relaxed), all: all.len() }
    }

    pub fn forget(&self, name: &str) {
        self.write().remove(name);
        lock(&self.last).remove(name);
    }

    /// The newest message out of the ordinary of this golem since the host came up, as JSON.
    pub fn last(&self, name: &str) -> Option<Arc<str>> {
        lock(&self.last).get(name).cloned()
    }

    /// Notes the speed that is asked of the host, in world seconds per second.
    pub fn ask_speed(&self, speed: f64) {
        self.speed.store(speed.to_bits(), Ordering::Relaxed);
    }

    /// Notes the share of the asked speed that was kept.
    pub fn keep_speed(&self, share: f64) {
        self.kept.store(share.to_bits(), Ordering::Relaxed);
    }

    /// The speed that is asked of the host, and the share of it that was kept when it was last measured.
    pub fn speed(&self) -> (f64, Option<f64>) {
        let read = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        (read(&self.speed), Some(read(&self.kept)).filter(|share| *share > 0.0))
    }

    pub fn all(&self) -> Vec<Status> {
        recover(self.statuses.read()).values().cloned().collect()
    }

    pub fn one(&self, name: &str) -> Option<Status> {
        recover(self.statuses.read()).get(name).cloned()
    }

    /// The living golem after this name; after the last, the first.
    pub fn after(&self, name: &str, most: usize) -> Vec<String> {
        let all = recover(self.statuses.read());
        let later = all.range::<str, _>((Bound::Excluded(name), Bound::Unbounded));
        let earlier = all.range::<str, _>((Bound::Unbounded, Bound::Excluded(name)));
        let living = later.chain(earlier).filter(|(_, status)| status.state.is_here());
        living.take(most).map(|(name, _)| name.clone()).collect()
    }

    /// The living golem before this name; before the first, the last.
    pub fn before(&self, name: &str, most: usize) -> Vec<String> {
        let all = recover(self.statuses.read());
        let earlier = all.range::<str, _>((Bound::Unbounded, Bound::Excluded(name))).rev();
        let later = all.range::<str, _>((Bound::Excluded(name), Bound::Unbounded)).rev();
        let living = earlier.chain(later).filter(|(_, status)| status.state.is_here());
        living.take(most).map(|(name, _)| name.clone()).collect()
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Status>> {
        recover(self.statuses.write())
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        lock(&self.recent)
    }

    /// Passes messages on; the oldest are forgotten.
    pub fn tell(&self, golem: &Arc<str>, messages: Vec<(u64, bool, String)>) {
        let mut recent = self.recent();
        let (mut last, mut index, mut newest) = (0, 0, None);
        for (seq, routine, text) in messages {
            index = if seq == last { index + 1 } else { 0 };
            last = seq;
            let number = recent.next;
            recent.next += 1;
            let (golem, text): (_, Arc<str>) = (Arc::clone(golem), text.into());
            if !routine {
                newest = Some(Arc::clone(&text));
            }
            recent.frames.push_back(Frame { number, golem, seq, index, routine, text });
            if recent.frames.len() > REMEMBERED {
                recent.frames.pop_front();
            }
        }
        drop(recent);
        if let Some(text) = newest {
            self.keep_last(golem, text);
        }
        self.news.notify_all();
    }

    /// Keeps the newest message of a golem, which clients of the list are told as a change.
    fn keep_last(&self, golem: &Arc<str>, text: Arc<str>) {
        lock(&self.last).insert(Arc::clone(golem), text);
        if let Some(status) = self.write().get_mut(&**golem) {
            status.change = self.changes.fetch_add(1, Ordering::Relaxed) + 1;
        }
    }

    /// The number the next message will have.
    pub fn next(&self) -> u64 {
        self.recent().next
    }

    /// Messages from this number on, and whether some before them are forgotten.
    pub fn since(&self, number: u64, most: usize) -> (Vec<Frame>, bool) {
        let recent = self.recent();
        let first = recent.frames.front().map_or(recent.next, |frame| frame.number);
        let skip = number.saturating_sub(first) as usize;
        (recent.frames.iter().skip(skip).take(most).cloned().collect(), number < first)
    }

    /// Waits until there is a message with this number, or the host closes, or patience ends; false if it closed.
    pub fn wait(&self, number: u64, patience: Duration) -> bool {
        let waits = |recent: &mut Recent| recent.next <= number && !recent.closed;
        let waited = self.news.wait_timeout_while(self.recent(), patience, waits);
        !recover(waited).0.closed
    }

    pub fn close(&self) {
        self.recent().closed = true;
        self.news.notify_all();
    }

    /// Records why the log cannot be written, or that it can again; true if that is news.
    pub fn troubled(&self, trouble: Option<String>) -> bool {
        let mut now = lock(&self.trouble);
        let new = now.log != trouble;
        now.log = trouble;
        new
    }

    /// Records why the golems' own files cannot be written, all of them, or that they can again; true if that is news.
    pub fn files_troubled(&self, trouble: Option<String>) -> bool {
        let mut now = lock(&self.trouble);
        let new = now.files.is_some() != trouble.is_some();
        now.files = trouble;
        new
    }

    /// Records that the settings in the file are wrong, or right again; true if that is news.
    pub fn settings_wrong(&self, why: Option<String>) -> bool {
        let mut now = lock(&self.settings);
        let new = *now != why;
        *now = why;
        new
    }

    /// Why the settings in the file are not the ones in use.
    pub fn why_old_settings(&self) -> Option<String> {
        lock(&self.settings).clone()
    }

    /// Why no golem can be written, if none can.
    pub fn trouble(&self) -> Option<String> {
        let now = lock(&self.trouble);
        now.log.clone().or_else(|| now.files.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_everybody_once_and_then_only_who_changed() {
        let board = Board { run: 7, ..Board::default() };
        let names: Vec<String> = (0..1_201).map(|n| format!("g{n:04}")).collect();
        names.iter().for_each(|name| board.post(Status::unread(name, String::new())));
        let (mut seen, mut name, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = board.page_after(0, 0, &name, 500);
            seen.extend(page.golems.iter().map(|status| status.name.clone()));
            (name, pages) = (seen.last().unwrap().clone(), pages + 1);
            assert_eq!((page.change, page.all), (1_201, 1_201));
            if !page.more {
                break;
            }
        }
        assert_eq!((pages, seen), (3, names));
        assert!(!board.page_after(0, 0, "", 1_201).more, "a page that holds the last is the last");
        board.post(Status::unread("g0700", String::new()));
        let page = board.page_after(7, 1_201, "", 500);
        assert_eq!((page.golems.len(), page.golems[0].name.as_str(), page.more), (1, "g0700", false));
        assert!(board.page_after(7, 1_201, "g0700", 500).golems.is_empty());
    }

    #[test]
    fn the_newest_event_out_of_the_ordinary_is_kept_and_is_a_change() {
        let board = Board { run: 7, ..Board::default() };
        board.post(Status::unread("ada", String::new()));
        let ada: Arc<str> = "ada".into();
        board.tell(&ada, vec![(1, false, "{\"n\":1}".into()), (1, false, "{\"n\":2}".into()), (2, true, "{}".into())]);
        assert_eq!(board.last("ada").as_deref(), Some("{\"n\":2}"));
        assert_eq!(board.changed_after(7, 1).0.len(), 1, "a client that has seen the status is told");
        board.tell(&ada, vec![(3, true, "{}".into())]);
        assert!(board.changed_after(7, 2).0.is_empty(), "what is routine is no change of a list");
        board.forget("ada");
        assert_eq!(board.last("ada"), None);
    }

    #[test]
    fn a_speed_is_kept_only_once_it_was_measured() {
        let board = Board::default();
        board.ask_speed(400.0);
        assert_eq!(board.speed(), (400.0, None));
        board.keep_speed(0.4);
        assert_eq!(board.speed(), (400.0, Some(0.4)));
    }

    #[test]
    fn listeners_find_what_they_missed_or_hear_that_it_is_gone() {
        let board = Board::default();
        let ada: Arc<str> = "ada".into();
        let say = |n: u64| board.tell(&ada, (0..n).map(|seq| (seq, false, "{}".to_owned())).collect());
        say(3);
        let (frames, gap) = board.since(1, 10);
        assert_eq!((frames.len(), gap, board.next()), (2, false, 3));
        say(REMEMBERED as u64);
        let (frames, gap) = board.since(1, 10);
        assert_eq!((frames[0].number, gap), (3, true), "what is gone is said to be gone");
        assert!(board.wait(board.next() - 1, Duration::ZERO));
    }
}
