//! What anyone may know of a host without asking its golems: how each of them is, what was told lately, and how
//! well time is kept. Golems post here once what they post is durable; whoever reads never makes them wait.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use golem::policy::{self, Ask};
use golem::{Life, Usdc, stress};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Messages kept for listeners that come back.
const REMEMBERED: usize = 20_000;

/// One golem at a glance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Status {
    pub name: String,
    pub id: String,
    pub state: State,
    pub phase: String,
    pub tick: u64,
    pub generation: u32,
    pub vitality: f64,
    /// How well it understands its world (epistemic fitness).
    pub skill: f64,
    pub load: f64,
    #[schema(value_type = i64)]
    pub credit: Usdc,
    /// Cash and what is held at its newest worth.
    #[schema(value_type = i64)]
    pub worth: Usdc,
    #[schema(value_type = i64)]
    pub given: Usdc,
    pub holding: i64,
    /// Since the host came up.
    pub refusals: u64,
    /// World time of its newest record, in milliseconds.
    pub now: u64,
    /// Why it is stopped or of what it died.
    pub why: Option<String>,
    /// Which of the causes it died of, by name.
    #[serde(default)]
    pub cause: Option<String>,
    /// How long its money lasts, in seconds of world time; none while it spends nothing.
    #[serde(default)]
    pub runway: Option<u64>,
    /// When this was acknowledged, in milliseconds of the host's clock.
    #[serde(default)]
    pub written: u64,
    /// What waits for its owner's yes or no.
    #[schema(value_type = Option<crate::up::api::shapes::Ask>)]
    pub asks: Option<Ask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Living,
    /// Something it would do waits for its owner's word; it lives on meanwhile.
    Asking,
    Dreaming,
    Paused,
    Frozen,
    /// It fell over and is being picked up.
    Restarting,
    /// It fell over too often; the others go on.
    Stopped,
    /// Its world has nothing more to show.
    Waiting,
    /// Another bardo of its owner's lives it, or has it in its hands for the moment.
    Elsewhere,
    /// Nobody lives it, and its owner should look: a stranger holds its lock, its head is missing, or its file says nothing.
    Unlived,
    /// Its owner has taken it out of the host, for a command or until it is joined again.
    Released,
    Dead,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Living => "living",
            State::Asking => "asking",
            State::Dreaming => "dreaming",
            State::Paused => "paused",
            State::Frozen => "frozen",
            State::Restarting => "restarting",
            State::Stopped => "stopped",
            State::Waiting => "waiting",
            State::Elsewhere => "elsewhere",
            State::Unlived => "unlived",
            State::Released => "released",
            State::Dead => "dead",
        }
    }

    /// Whether this host lives it.
    pub fn is_here(self) -> bool {
        !matches!(self, State::Elsewhere | State::Unlived | State::Released | State::Dead)
    }
}

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

#[derive(Debug, Default)]
pub struct Board {
    statuses: RwLock<BTreeMap<String, Status>>,
    told: Mutex<Told>,
    news: Condvar,
    pub late: Spread,
    pub acknowledged: Spread,
    pub ticks: AtomicU64,
    pub syncs: AtomicU64,
    pub falls: AtomicU64,
    pub listeners: AtomicU64,
    pub notes_sent: AtomicU64,
    pub notes_failed: AtomicU64,
    /// When the newest copy in the backup folder was made, in seconds; nothing where there is none.
    pub backed_up: AtomicU64,
    deaths: Mutex<BTreeMap<String, u64>>,
    trouble: Mutex<Trouble>,
}

/// What keeps golems from being written, if anything does.
#[derive(Debug, Default)]
struct Trouble {
    /// The host log takes nothing.
    log: Option<String>,
    /// The log does, but no golem's own files.
    files: Option<String>,
}

#[derive(Debug, Default)]
struct Told {
    frames: VecDeque<Frame>,
    next: u64,
    closed: bool,
}

impl Frame {
    /// The message, beginning with whose it is.
    pub fn text_with_name(&self) -> String {
        named(&self.golem, &self.text)
    }
}

/// A message as JSON, beginning with whose it is.
pub fn named(golem: &str, text: &str) -> String {
    format!("{{\"golem\":\"{golem}\",{}", text.trim_start_matches('{'))
}

impl Status {
    pub fn of(life: &Life) -> Status {
        let state = match life {
            life if life.is_dead() => State::Dead,
            life if life.heartbeat.paused => State::Paused,
            life if life.heartbeat.frozen => State::Frozen,
            life if life.dreams.night.is_some() => State::Dreaming,
            life if policy::asks(life).is_some() => State::Asking,
            _ => State::Living,
        };
        Status {
            name: life.birth.name.to_string(),
            id: life.id().to_string(),
            state,
            phase: life.phase().to_string(),
            tick: life.tick,
            generation: life.birth.generation,
            vitality: life.vitality.composite,
            skill: golem::mortality::epistemic::fitness(life),
            load: stress::load(life),
            credit: life.purse.credit,
            worth: life.capital.worth(life.seen.unit),
            given: life.capital.given,
            holding: life.capital.holding,
            refusals: 0,
            now: life.now.as_millis(),
            why: life.death.as_ref().map(|death| death.cause.to_string()),
            cause: life.death.as_ref().map(|death| death.cause.name().to_owned()),
            runway: life.purse.projected_life(life).filter(|_| !life.is_dead()).map(|left| left.as_millis() / 1_000),
            written: 0,
            asks: policy::asks(life),
        }
    }
}

impl Status {
    /// One of whom nothing can be read but its name.
    pub fn unread(name: &str, why: String) -> Status {
        Status {
            name: name.to_owned(),
            id: String::new(),
            state: State::Unlived,
            phase: "unknown".to_owned(),
            tick: 0,
            generation: 0,
            vitality: 0.0,
            skill: 0.0,
            load: 0.0,
            credit: Usdc::ZERO,
            worth: Usdc::ZERO,
            given: Usdc::ZERO,
            holding: 0,
            refusals: 0,
            now: 0,
            why: Some(why),
            cause: None,
            runway: None,
            written: 0,
            asks: None,
        }
    }
}

impl Board {
    pub fn post(&self, mut status: Status) {
        status.written = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let (cause, before) = (status.cause.clone(), self.write().insert(status.name.clone(), status));
        // Whoever was found dead when the host came up is no news.
        if let (Some(cause), Some(State::Living | State::Asking | State::Dreaming | State::Paused | State::Frozen)) =
            (cause, before.map(|before| before.state))
        {
            *self.deaths.lock().unwrap_or_else(PoisonError::into_inner).entry(cause).or_default() += 1;
        }
    }

    /// Deaths since the host came up, by the name of their cause.
    pub fn deaths(&self) -> BTreeMap<String, u64> {
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the newest backup was made, in seconds since 1970.
    pub fn newest_backup(&self) -> Option<i64> {
        Some(self.backed_up.load(Ordering::Relaxed) as i64).filter(|made| *made > 0)
    }

    /// Says of one that something is the matter with the process it lives in, not with its life.
    pub fn mark(&self, name: &str, state: State, why: Option<String>) {
        if let Some(status) = self.write().get_mut(name) {
            (status.state, status.why) = (state, why);
        }
    }

    pub fn forget(&self, name: &str) {
        self.write().remove(name);
    }

    pub fn all(&self) -> Vec<Status> {
        self.statuses.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub fn one(&self, name: &str) -> Option<Status> {
        self.statuses.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The living who come after this one by name, and after the last the first.
    pub fn after(&self, name: &str, most: usize) -> Vec<String> {
        let all = self.statuses.read().unwrap_or_else(PoisonError::into_inner);
        let later = all.range::<str, _>((Bound::Excluded(name), Bound::Unbounded));
        let earlier = all.range::<str, _>((Bound::Unbounded, Bound::Excluded(name)));
        let living = later.chain(earlier).filter(|(_, status)| status.state.is_here());
        living.take(most).map(|(name, _)| name.clone()).collect()
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, Status>> {
        self.statuses.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes messages on; the oldest are forgotten.
    pub fn tell(&self, golem: &Arc<str>, messages: Vec<(u64, bool, String)>) {
        let mut told = self.told();
        let (mut last, mut index) = (0, 0);
        for (seq, routine, text) in messages {
            index = if seq == last { index + 1 } else { 0 };
            last = seq;
            let number = told.next;
            told.next += 1;
            let (golem, text) = (Arc::clone(golem), text.into());
            told.frames.push_back(Frame { number, golem, seq, index, routine, text });
            if told.frames.len() > REMEMBERED {
                told.frames.pop_front();
            }
        }
        drop(told);
        self.news.notify_all();
    }

    /// The number the next message will have.
    pub fn next(&self) -> u64 {
        self.told().next
    }

    /// Messages from this number on, and whether some before them are forgotten.
    pub fn since(&self, number: u64, most: usize) -> (Vec<Frame>, bool) {
        let told = self.told();
        let first = told.frames.front().map_or(told.next, |frame| frame.number);
        let skip = number.saturating_sub(first) as usize;
        (told.frames.iter().skip(skip).take(most).cloned().collect(), number < first)
    }

    /// Waits until there is a message with this number, or the host closes, or patience ends; false if it closed.
    pub fn wait(&self, number: u64, patience: Duration) -> bool {
        let waits = |told: &mut Told| told.next <= number && !told.closed;
        let waited = self.news.wait_timeout_while(self.told(), patience, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).0.closed
    }

    pub fn close(&self) {
        self.told().closed = true;
        self.news.notify_all();
    }

    /// What keeps the log from being written, or nothing any more; true if that is news.
    pub fn troubled(&self, trouble: Option<String>) -> bool {
        let mut now = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let new = now.log != trouble;
        now.log = trouble;
        new
    }

    /// The same of the golems' own files, all of them.
    pub fn files_troubled(&self, trouble: Option<String>) -> bool {
        let mut now = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let new = now.files.is_some() != trouble.is_some();
        now.files = trouble;
        new
    }

    /// Why no golem can be written, if none can.
    pub fn trouble(&self) -> Option<String> {
        let now = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        now.log.clone().or_else(|| now.files.clone())
    }
}

/// How durations are spread, to an eighth of themselves, from a microsecond to an hour.
#[derive(Debug)]
pub struct Spread {
    counts: [AtomicU64; 256],
    micros: AtomicU64,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread { counts: std::array::from_fn(|_| AtomicU64::new(0)), micros: AtomicU64::new(0) }
    }
}

impl Spread {
    pub fn note(&self, duration: Duration) {
        let micros = duration.as_micros() as u64;
        self.counts[Spread::slot(micros)].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn slot(micros: u64) -> usize {
        if micros < 8 {
            return micros as usize;
        }
        let octave = 63 - micros.leading_zeros() as usize;
        let eighth = (micros >> (octave - 3)) as usize & 7;
        (octave * 8 + eighth - 16).min(255)
    }

    fn upper(slot: usize) -> u64 {
        if slot < 8 {
            return slot as u64;
        }
        let (octave, eighth) = ((slot + 16) / 8, (slot + 16) % 8);
        ((8 + eighth as u64 + 1) << (octave - 3)) - 1
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    pub fn total(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }

    /// How many took no longer than this.
    pub fn within(&self, duration: Duration) -> u64 {
        let last = Spread::slot(duration.as_micros() as u64);
        self.counts[..=last].iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// What so much of them stayed below.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut left = (self.count() as f64 * share).ceil() as u64;
        for (slot, count) in self.counts.iter().enumerate() {
            let here = count.load(Ordering::Relaxed);
            if here >= left && left > 0 {
                return Duration::from_micros(Spread::upper(slot));
            }
            left -= here.min(left);
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_knows_its_quantiles_to_an_eighth() {
        let spread = Spread::default();
        for micros in 1..=100_000_u64 {
            spread.note(Duration::from_micros(micros));
        }
        for (share, true_value) in [(0.5, 50_000.0), (0.99, 99_000.0), (0.001, 100.0)] {
            let said = spread.quantile(share).as_micros() as f64;
            assert!((said / true_value - 1.0).abs() <= 0.13, "{share}: {said}");
        }
        assert_eq!(spread.count(), 100_000);
        for micros in [0, 1, 7, 8, 9, 1_000, 123_456_789, u64::MAX] {
            let upper = Spread::upper(Spread::slot(micros));
            assert!(upper >= micros || Spread::slot(micros) == 255, "{micros} {upper}");
        }
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
