//! What is said and done about a golem that is not up. One that fell over is woken again from its journal, after a while;
//! one that keeps falling is stopped, and its owner told. Who is lived elsewhere is looked for now and then.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use shell::home::GolemHome;
use shell::life::desk::Desk;
use shell::view::status::{State, Status};
use tracing::{error, info, warn};

use super::slots::{Slot, Slots, Stand};
use super::wake::Fall;

/// Where the log has what `tell` says too, so that whoever reads both need not read it twice.
pub const SAID: &str = "host::said";

/// One that falls so often is stopped.
const MOST_FALLS: usize = 5;
/// Within this span.
const FALLS_WITHIN: Duration = Duration::from_secs(600);
/// How long before it is looked again whether one that is lived elsewhere is free.
pub(super) const ELSEWHERE: Duration = Duration::from_secs(10);
/// How long before it is tried again whether a disk takes something.
const DISK_AGAIN: Duration = Duration::from_secs(2);
/// A world that has not answered for so long is worth a word to the owner.
const SILENCE: Duration = Duration::from_secs(60);
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;

/// How long one that fell waits before it is woken again: first, and at most.
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

/// What is to be done with one that is not up.
pub(super) enum Next {
    /// It is tried again then.
    Again(Instant),
    /// Nobody here reads its letters any more: whoever comes may take it.
    LetGo,
    Nothing,
}

pub(super) struct Supervisor {
    pub(super) desk: Arc<Desk>,
    pub(super) restart_after: RestartAfter,
}

impl Supervisor {
    /// A worker could not do with it what it was to do.
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
        if slot.stand == Stand::Stopped {
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
                // Whoever holds a lock for long is told of once a day; it may come and go as it likes.
                let key = format!("{}:{kind}:{}", slot.id, self.desk.wall.now_ms() / DAY_MS);
                self.desk.tell_owner(key, kind, Some(&name), format!("nobody lives {name}: {why}"));
                self.desk.board.mark(&name, State::Unlived, Some(why));
                Next::Again(now + ELSEWHERE)
            }
            Fall::Disk(why) => self.kept_by_disk(slots, at, &name, why, now),
            Fall::Broke(why) => self.broke(slot, &name, why, now, tell),
        }
    }

    /// The disk did not take something, which is nobody's fault here.
    fn kept_by_disk(&self, slots: &mut Slots, at: usize, name: &str, why: String, now: Instant) -> Next {
        slots[at].stand = Stand::Down;
        slots[at].disk_failures += 1;
        let failures = slots[at].disk_failures;
        if failures == 1 {
            warn!(golem = name, why, "the disk keeps it down, it is tried again");
        }
        self.desk.board.mark(name, State::Restarting, Some(why.clone()));
        if !slots.anyone_writes() && self.desk.board.files_troubled(Some(why.clone())) {
            error!(why, "no golem can be written");
        }
        // If nobody can write, that is told already; if it is this one's files alone, nobody else would say so.
        if failures == MOST_FALLS && self.desk.board.trouble().is_none() {
            let key = format!("{}:disk:{}", slots[at].id, self.desk.wall.now_ms() / DAY_MS);
            let text = format!("{name} waits for its files: {why}");
            self.desk.tell_owner(key, "disk", Some(name), text);
        }
        Next::Again(now + DISK_AGAIN.min(self.restart_after.most))
    }

    /// It, its world or its mind came apart.
    fn broke(&self, slot: &mut Slot, name: &str, why: String, now: Instant, tell: &mut impl FnMut(&str)) -> Next {
        self.desk.board.falls.fetch_add(1, Ordering::Relaxed);
        slot.falls.push_back(now);
        while slot.falls.front().is_some_and(|first| now.duration_since(*first) > FALLS_WITHIN) {
            slot.falls.pop_front();
        }
        if slot.falls.len() >= MOST_FALLS {
            slot.stand = Stand::Stopped;
            error!(target: SAID, golem = name, falls = MOST_FALLS, why, "stopped: it keeps falling over");
            tell(&format!("{name} is stopped, it fell over {MOST_FALLS} times: {why}"));
            let text = format!("{name} is stopped: it fell over {MOST_FALLS} times, the last time because {why}");
            let key = format!("{}:crash:{}", slot.id, self.desk.wall.now_ms());
            self.desk.tell_owner(key, "crash", Some(name), text);
            self.desk.board.mark(name, State::Stopped, Some(why));
            return Next::LetGo;
        }
        slot.stand = Stand::Down;
        let RestartAfter { first, most } = self.restart_after;
        let after = (first * 4_u32.pow(slot.falls.len() as u32 - 1)).min(most);
        let restart_ms = after.as_millis() as u64;
        warn!(target: SAID, golem = name, why, restart_ms, "fell over and is woken again");
        tell(&format!("{name} fell over and is woken again: {why}"));
        self.desk.board.mark(name, State::Restarting, Some(why));
        Next::Again(now + after)
    }

    /// A life that cannot even say whose it is: its owner hears of it, and it is looked for again.
    pub(super) fn unread(&self, place: &GolemHome, why: &str) {
        let name = place.name.as_str();
        if self.desk.board.one(name).is_none() {
            warn!(golem = name, why, "cannot be read");
            self.desk.board.post(Status::unread(name, why.to_owned()));
            let key = format!("{name}:unread:{}", self.desk.wall.now_ms() / DAY_MS);
            let text = format!("nobody lives {name}: {why}; `bardo doctor` looks at it");
            self.desk.tell_owner(key, "unread", Some(name), text);
        }
    }

    /// Its world takes long to answer; said when that begins.
    pub(super) fn unanswered(&self, slot: &Slot) {
        if let Some(why) = slot.living.as_ref().and_then(|living| living.refused()) {
            let name = slot.place.name.as_str();
            let key = format!("{}:refused:{}", slot.id, self.desk.wall.now_ms() / HOUR_MS);
            info!(golem = name, "an order was refused: {why}");
            self.desk.tell_owner(key, "feed", Some(name), format!("{name}: an order was refused: {why}"));
        }
        if let Some(why) = slot.living.as_ref().and_then(|living| living.why_away()) {
            let key = format!("{}:away:{}", slot.id, self.desk.wall.now_ms() / HOUR_MS);
            return self.waits(slot, &why, key);
        }
        let silent = slot.living.as_ref().and_then(|living| living.unanswered_for());
        if silent.is_some_and(|silent| silent >= SILENCE) {
            let key = format!("{}:silent:{}", slot.id, self.desk.wall.now_ms() / HOUR_MS);
            self.waits(slot, "its world does not answer", key);
        }
    }

    /// Its mind outside is of no use now; its owner hears of it, once an hour at most.
    pub(super) fn mindless(&self, slot: &mut Slot) {
        if let Some(why) = slot.living.as_mut().and_then(|living| living.mind_fell()) {
            let name = slot.place.name.as_str();
            let key = format!("{}:mind:{}", slot.id, self.desk.wall.now_ms() / HOUR_MS);
            self.desk.tell_owner(key, "model", Some(name), format!("{name} goes on without its mind: {why}"));
        }
    }

    /// Its world has come to its end; said when that begins.
    pub(super) fn world_over(&self, slot: &Slot) {
        let seen = slot.living.as_ref().map_or(0, |living| living.life().now.as_millis());
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

/// It is not lived by this host; said when that begins.
fn out(slot: &mut Slot, why: &str, tell: &mut impl FnMut(&str)) {
    if slot.stand != Stand::Out {
        let name = slot.place.name.as_str();
        info!(target: SAID, golem = name, why, "not lived here");
        tell(&format!("{name} is not lived here: {why}"));
    }
    slot.stand = Stand::Out;
}
