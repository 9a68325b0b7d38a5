//! Supervision of golems that are not up. One that fell over is woken again from its journal, after a while; one that
//! keeps falling is stopped, and its owner told. One that another process runs is looked for now and then.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shell::home::GolemHome;
use shell::life::desk::Desk;
use shell::view::status::{State, Status};
use tracing::{error, info, warn};

use super::slots::{Slot, SlotState, Slots};
use super::wake::Fall;

/// The log target of lines that `tell` prints too, so that a terminal can leave them out.
pub const SAID: &str = "host::said";

/// Falls after which a golem is stopped.
const MOST_FALLS: usize = 5;
/// The span within which falls count.
const FALLS_WITHIN: Duration = Duration::from_secs(600);
/// How long until a golem that runs elsewhere is tried again.
pub(super) const ELSEWHERE: Duration = Duration::from_secs(10);
/// How long until a disk that took nothing is tried again.
const DISK_AGAIN: Duration = Duration::from_secs(2);
/// How long a world may be silent before the owner is told.
const SILENCE: Duration = Duration::from_secs(60);
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;

/// How long a golem that fell waits before it is woken again: at first, and at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestartAfter {
    pub(super) first: Duration,
    pub(super) most: Duration,
}

impl Default for RestartAfter {
    fn default() -> RestartAfter {
        RestartAfter { first: Duration::from_millis(200), most: Duration::from_secs(30) }
    }
}

/// The next step for a golem that is not up.
pub(super) enum Next {
    /// Try it again at this time.
    Again(Instant),
    /// Let go of it: this host no longer reads its letters, and another process may take it.
    LetGo,
    Nothing,
}

pub(super) struct Supervisor {
    pub(super) desk: Arc<Desk>,
    pub(super) restart_after: RestartAfter,
}

impl Supervisor {
    /// Decides what happens with a golem that a worker could not open or run.
    pub(super) fn fell(
        &self,
        slots: &mut Slots,
        at: usize,
        fall: Fall,
        now: Instant,
        tell: &mut impl FnMut(&str),
    ) -> Next {
        let slot = &mut slots[at];
        slot.living = None;
        if slot.state == SlotState::Stopped {
            return Next::Nothing;
        }
        let name = slot.place.name.to_string();
        match fall {
            Fall::Moved(why) => {
                out(slot, &why, tell);
                self.desk.board.forget(&name);
                Next::Again(now + ELSEWHERE)
            }
            Fall::Elsewhere(why) => {
                out(slot, &why, tell);
                self.desk.board.mark(&name, State::Elsewhere, Some(why));
                Next::Again(now + ELSEWHERE)
            }
            Fall::Unlived(kind, why) => {
                out(slot, &why, tell);
                // The owner is told once a day, since the process that holds the lock may come and go.
                let key = format!("{}:{kind}:{}", slot.id, self.desk.runtime.wall().now_ms() / DAY_MS);
                self.desk.tell_owner(key, kind, Some(&name), format!("{name} is not running: {why}"));
                self.desk.board.mark(&name, State::Unlived, Some(why));
                Next::Again(now + ELSEWHERE)
            }
            Fall::Disk(why) => self.kept_by_disk(slots, at, &name, why, now),
            Fall::Broke(why) => self.broke(slot, &name, why, now, tell),
        }
    }

    /// Handles a golem whose disk did not take something, which is not the golem's fault.
    fn kept_by_disk(&self, slots: &mut Slots, at: usize, name: &str, why: String, now: Instant) -> Next {
        slots[at].state = SlotState::Down;
        slots[at].disk_failures += 1;
        let failures = slots[at].disk_failures;
        if failures == 1 {
            warn!(golem = name, why, "kept down by the disk, will retry");
        }
        self.desk.board.mark(name, State::Restarting, Some(why.clone()));
        if !slots.anyone_writes() && self.desk.board.files_troubled(Some(why.clone())) {
            error!(why, "no golem can be written");
        }
        // If no golem can be written, the owner is told already; if it is this one's files alone, only this note says
        // so.
        if failures == MOST_FALLS && self.desk.board.trouble().is_none() {
            let key = format!("{}:disk:{}", slots[at].id, self.desk.runtime.wall().now_ms() / DAY_MS);
            let text = format!("{name} waits for its files: {why}");
            self.desk.tell_owner(key, "disk", Some(name), text);
        }
        Next::Again(now + DISK_AGAIN.min(self.restart_after.most))
    }

    /// Handles a golem that fell over, through its own fault, its world's or its mind's.
    fn broke(&self, slot: &mut Slot, name: &str, why: String, now: Instant, tell: &mut impl FnMut(&str)) -> Next {
        self.desk.board.falls.fetch_add(1, Ordering::Relaxed);
        slot.falls.push_back(now);
        while slot.falls.front().is_some_and(|first| now.duration_since(*first) > FALLS_WITHIN) {
            slot.falls.pop_front();
        }
        if slot.falls.len() >= MOST_FALLS {
            slot.state = SlotState::Stopped;
            error!(target: SAID, golem = name, falls = MOST_FALLS, why, "stopped: it keeps falling over");
            tell(&format!("{name} is stopped, it fell over {MOST_FALLS} times: {why}"));
            let text = format!("{name} is stopped: it fell over {MOST_FALLS} times, the last time because {why}");
            let key = format!("{}:crash:{}", slot.id, self.desk.runtime.wall().now_ms());
            self.desk.tell_owner(key, "crash", Some(name), text);
            self.desk.board.mark(name, State::Stopped, Some(why));
            return Next::LetGo;
        }
        slot.state = SlotState::Down;
        let RestartAfter { first, most } = self.restart_after;
        let after = (first * 4_u32.pow(slot.falls.len() as u32 - 1)).min(most);
        let restart_ms = after.as_millis() as u64;
        warn!(target: SAID, golem = name, why, restart_ms, "fell over and is woken again");
        tell(&format!("{name} fell over and is woken again: {why}"));
        self.desk.board.mark(name, State::Restarting, Some(why));
        Next::Again(now + after)
    }

    /// Tells the owner of a golem whose file does not even give its id; the next scan tries it again.
    pub(super) fn unread(&self, place: &GolemHome, why: &str) {
        let name = place.name.as_str();
        if self.desk.board.one(name).is_none() {
            warn!(golem = name, why, "cannot be read");
            self.desk.board.post(Status::unread(name, why.to_owned()));
            let key = format!("{name}:unread:{}", self.desk.runtime.wall().now_ms() / DAY_MS);
            let text = format!("{name} is not running: {why}; run `bardo doctor` to find out more");
            self.desk.tell_owner(key, "unread", Some(name), text);
        }
    }

    /// Tells the owner of a world that takes long to answer or refuses an order.
    pub(super) fn unanswered(&self, slot: &Slot) {
        if let Some(why) = slot.living.as_ref().and_then(|living| living.refused()) {
            let name = slot.place.name.as_str();
            let key = format!("{}:refused:{}", slot.id, self.desk.runtime.wall().now_ms() / HOUR_MS);
            info!(golem = name, "an order was refused: {why}");
            self.desk.tell_owner(key, "feed", Some(name), format!("{name}: an order was refused: {why}"));
        }
        if let Some(why) = slot.living.as_ref().and_then(|living| living.why_away()) {
            let key = format!("{}:away:{}", slot.id, self.desk.runtime.wall().now_ms() / HOUR_MS);
            return self.waits(slot, &why, key);
        }
        let silent = slot.living.as_ref().and_then(|living| living.unanswered_for());
        if silent.is_some_and(|silent| silent >= SILENCE) {
            let key = format!("{}:silent:{}", slot.id, self.desk.runtime.wall().now_ms() / HOUR_MS);
            self.waits(slot, "its world does not answer", key);
        }
    }

    /// Tells the owner, once an hour at most, of a golem whose outside mind has failed.
    pub(super) fn mindless(&self, slot: &mut Slot) {
        if let Some(why) = slot.living.as_mut().and_then(|living| living.mind_fell()) {
            let name = slot.place.name.as_str();
            let key = format!("{}:mind:{}", slot.id, self.desk.runtime.wall().now_ms() / HOUR_MS);
            self.desk.tell_owner(key, "model", Some(name), format!("{name} goes on without its mind: {why}"));
        }
    }

    /// Tells the owner of a world that has come to its end.
    pub(super) fn world_over(&self, slot: &Slot) {
        let seen = slot.living.as_ref().map_or(0, |living| living.life().now().as_millis());
        self.waits(slot, "its world has nothing more to show", format!("{}:feed:{seen}", slot.id));
    }

    fn waits(&self, slot: &Slot, why: &str, key: String) {
        let name = slot.place.name.as_str();
        let Some(status) = self.desk.board.one(name) else { return };
        if status.why.as_deref() != Some(why) {
            self.desk.board.mark(name, State::Waiting, Some(why.to_owned()));
        }
        if status.state != State::Waiting {
            info!(golem = name, "waits: {why}");
            self.desk.tell_owner(key, "feed", Some(name), format!("{name} waits: {why}"));
        }
    }
}

/// Marks a golem as not running in this host, and says so when that begins.
fn out(slot: &mut Slot, why: &str, tell: &mut impl FnMut(&str)) {
    if slot.state != SlotState::Out {
        let name = slot.place.name.as_str();
        info!(target: SAID, golem = name, why, "not running here");
        tell(&format!("{name} is not running here: {why}"));
    }
    slot.state = SlotState::Out;
}
