//! Dreams: time off from the world, in five phases, with a budget of its own and nothing to act with.
//!
//! A night holds the heartbeat: nothing is decided and nothing is asked of the world. Claims still come due, clocks
//! still run, and stops and the breaker look at every bar as they do by day. When to sleep is in [`schedule`]; this
//! file is the night itself, from falling asleep to being woken.

mod gate;
mod imagine;
mod memory;
mod replay;
pub mod revision;
pub mod schedule;
pub mod staging;
mod work;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::constitution::DreamTier;
use crate::draft::Draft;
use crate::event::Event;
use crate::heartbeat::State;
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::mortality::economic::Partition;
use crate::mortality::phase;
use crate::policy::Refusal;
use crate::stress::Word;
use crate::time::Time;
use crate::world::Observation;

pub use imagine::{Imagined, Met, Rehearsed, Threat, ThreatKind};
pub use memory::{CALMED, Experience, Memory, Moment, STIRRING};
pub use replay::{Ahead, Replay, Trajectory};
pub use revision::Revision;
pub use schedule::{Blocked, blocked, urgency};
pub use staging::{Change, Fate, Origin, Staged};
pub use work::{Found, Idea, intensity, work};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    #[default]
    Onset,
    Nrem,
    Rem,
    Integration,
    Return,
}

impl Phase {
    pub const ALL: [Phase; 5] = [Phase::Onset, Phase::Nrem, Phase::Rem, Phase::Integration, Phase::Return];

    /// The part of a night's time and money that goes to each, in permille, by how well the golem is; or, of what onset
    /// and return leave, as its owner would have it.
    pub fn shares(of: phase::Phase, split: [Option<f64>; 3]) -> [u64; 5] {
        let by_phase = Phase::by_phase(of);
        let wanted = [0, 1, 2].map(|at| split[at].unwrap_or(by_phase[at + 1] as f64 / 850.0));
        let all: f64 = wanted.iter().sum();
        if split == [None; 3] || all <= 0.0 {
            return by_phase;
        }
        let [nrem, rem] = [wanted[0], wanted[1]].map(|share| (850.0 * share / all) as u64);
        [100, nrem, rem, 850 - nrem - rem, 50]
    }

    fn by_phase(of: phase::Phase) -> [u64; 5] {
        match of {
            phase::Phase::Thriving => [100, 340, 300, 210, 50],
            phase::Phase::Stable => [100, 300, 300, 250, 50],
            phase::Phase::Conservation => [100, 250, 200, 400, 50],
            phase::Phase::Declining => [100, 200, 160, 490, 50],
            phase::Phase::Terminal => [100, 160, 120, 570, 50],
        }
    }
}

/// Why a night began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The owner said so.
    Owner,
    /// There was enough to dream about.
    Urgency,
    /// It was time again.
    Interval,
    /// A crisis had been broken off.
    Breaker,
    /// The owner's hours of sleep.
    Window,
    /// The end is near, and this is the last.
    Emergency,
}

impl Trigger {
    /// The same in the documents' words: by time, by what weighs on it, or by what is new.
    pub fn word(self, life: &Life) -> &'static str {
        match self {
            Trigger::Owner | Trigger::Interval | Trigger::Window | Trigger::Emergency => "time",
            Trigger::Breaker => "emotional_load",
            Trigger::Urgency => {
                let [novelty, _, emotion, threat, _, time, load] = schedule::weighed(life);
                match () {
                    () if emotion.max(threat).max(load) >= novelty.max(time) => "emotional_load",
                    () if novelty >= time => "novelty_streak",
                    () => "time",
                }
            }
        }
    }
}

/// Who or what ended a night before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waker {
    Owner,
    /// A peer in need.
    Clade,
    /// The world moved too far.
    World,
    Death,
}

/// A night under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Night {
    pub number: u64,
    pub trigger: Trigger,
    pub phase: Phase,
    /// How long it is to be, and has been, in ticks.
    pub ticks: u32,
    pub slept: u32,
    pub budget: Usdc,
    pub spent: Usdc,
    /// The work of its present phase has been done.
    pub worked: bool,
    /// What a unit was worth when it began.
    pub unit: Usdc,
    /// What it has come up with and not put to the test yet.
    pub ideas: Vec<Idea>,
    /// Episodes gone through closely, heuristics credited with what came of them, and the worst that may come.
    pub batch: Vec<u64>,
    pub credited: Vec<u64>,
    pub ahead: f32,
    pub rehearsed: Option<Rehearsed>,
    /// What it came up with has been put to the test: whatever wakes it now, nothing of it is lost.
    pub integrated: bool,
    pub tally: Tally,
}

/// What a night did, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub replayed: u32,
    pub alternatives: u32,
    pub insights: u32,
    pub hypotheses: u32,
    pub calmed: u32,
    pub revisions: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dreams {
    pub nights: u64,
    pub whole: u64,
    pub night: Option<Night>,
    /// The tick at which the last one ended, and what there was of episodes and result by then.
    pub last: u64,
    pub episodes: u64,
    pub result: Usdc,
    pub spent: Usdc,
    /// Spent on nights that were broken off before anything they came up with was put to the test; and in the present
    /// thirty days of age.
    pub wasted: Usdc,
    pub month: u64,
    pub spent_this_month: Usdc,
    /// Hypotheses on trial, and what became of earlier ones.
    pub staged: Vec<Staged>,
    pub promoted: u64,
    pub refuted: u64,
    pub expired: u64,
    /// Which hypotheses held at the last look, one bit each, and when that was.
    pub holds: (u16, Time),
    /// What has come into use lately and may have to go again; and what has gone.
    pub changes: Vec<Change>,
    pub rolled_back: u64,
    /// The night of what is about to take its place in the playbook.
    pub admitted: Option<u64>,
    /// Domains whose heuristics learn again; and how often that was right.
    pub revisions: Vec<Revision>,
    pub revised: u64,
    /// The tick up to which each domain has been looked at for that.
    pub settled: [u64; limits::DOMAINS],
    /// Nights begun in the owner's present hours of sleep, and which hours those are.
    pub window: (u64, u32),
    /// What its owner has said since its birth about dreaming at all.
    pub switched: Option<bool>,
    /// What nights in the owner's present hours have cost.
    pub session: Usdc,
    /// For the next round of the Curator: a threat to warn of, and heuristics the last night spoke for or against.
    pub rehearsed: Option<Rehearsed>,
    pub judged: Vec<(u64, bool)>,
    /// What the last night did, and cost.
    pub tally: Tally,
    pub cost: Usdc,
}

/// How many looks a night lasts, as many as its ticks of forty seconds come to, and what it may cost, by how well the
/// golem is.
pub fn length(life: &Life) -> (u32, Usdc) {
    let figures = &life.constitution().dream;
    if figures.tier == DreamTier::Core {
        // A light one, between two looks.
        return (1, Usdc::micros(LIGHT_COST).min(figures.per_cycle_most));
    }
    let (ticks, cents) = match life.phase() {
        phase::Phase::Thriving => (60, 100),
        phase::Phase::Stable => (40, 50),
        phase::Phase::Conservation => (20, 20),
        phase::Phase::Declining => (10, 10),
        phase::Phase::Terminal => (0, 0),
    };
    let scale = life.constitution().interval.reference_ticks();
    let looks = if ticks > 0 { ((f64::from(ticks) / scale) as u32).max(1) } else { 0 };
    (looks, Usdc::cents(cents).min(figures.per_cycle_most))
}

/// What a night of the rules costs, in micro-USDC; what else it may cost is for those who ask models. Of light nights there
/// are some forty a day, which together cost as much.
const RULES_COST: i64 = 2_000;
const LIGHT_COST: i64 = 50;

/// The phase of a night under way whose work has not been done. A night of one tick has all its phases in that tick.
pub(crate) fn owes(life: &Life) -> Option<Phase> {
    let night = life.dreams.night.as_ref().filter(|_| !life.is_dead())?;
    let begun = night.slept > 0 || night.ticks != 1;
    (begun && !night.worked && work::has_work(life, night.phase)).then_some(night.phase)
}

/// Falls asleep if it is time to. Run at the end of every waking tick.
pub(crate) fn consider(draft: &mut Draft<'_>) {
    if !draft.dreams.are_on(draft)
        || draft.is_dead()
        || draft.heartbeat.state != State::Sleeping
        || draft.heartbeat.paused
    {
        return;
    }
    let Some(trigger) = schedule::trigger(draft) else { return };
    match schedule::blocked_for(draft, trigger) {
        Some(why) => draft.emit(Event::DreamBlocked { why }),
        None => fall_asleep(draft, trigger),
    }
}

/// The owner's word: as good as any urgency, and bound by the same conditions.
pub(crate) fn ordered(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if draft.heartbeat.state != State::Sleeping || draft.heartbeat.paused {
        return Err(Refusal::Busy);
    }
    if let Some(why) = blocked(draft) {
        return Err(Refusal::Dream(why));
    }
    fall_asleep(draft, Trigger::Owner);
    Ok(())
}

/// The owner's word on dreaming at all; a night under way ends with it.
pub(crate) fn switched(draft: &mut Draft<'_>, on: bool) {
    if on != draft.dreams.are_on(draft) {
        draft.emit(Event::DreamsSwitched { on });
    }
    if !on {
        wake(draft, Waker::Owner);
    }
}

fn fall_asleep(draft: &mut Draft<'_>, trigger: Trigger) {
    let (ticks, budget) = match trigger {
        // Compressed into a tick; there may be no more. It is for those who come after, and so is what pays for it.
        Trigger::Emergency => (1, Usdc::micros(RULES_COST).min(draft.purse.budget(draft, Partition::Legacy))),
        _ => {
            let (ticks, budget) = length(draft);
            let left = schedule::left_this_month(draft).min(schedule::left_this_session(draft, trigger));
            (ticks, budget.min(left).min(schedule::inference(draft)))
        }
    };
    if ticks > 0 {
        draft.emit(Event::DreamBegan { trigger, ticks, budget });
    }
}

/// A tick of a night has passed.
pub(crate) fn sleep(draft: &mut Draft<'_>) {
    if draft.dreams.night.is_some() {
        draft.emit(Event::Slept);
        proceed(draft);
    }
}

/// As many phases as it was time for, each once its work is done, and at the end the morning.
pub(crate) fn proceed(draft: &mut Draft<'_>) {
    while let Some(night) = &draft.dreams.night {
        let phase = night.phase;
        let shares = Phase::shares(draft.phase(), draft.constitution().dream.split);
        let through: u64 = shares[..=phase as usize].iter().sum();
        // A phase is over when the part of the night up to its end has been slept.
        let over = u64::from(night.slept) * 1_000 >= through * u64::from(night.ticks);
        if !over || owes(draft).is_some() {
            return;
        }
        let due = night.budget.min(Usdc::micros(RULES_COST)).share(shares[phase as usize] as i64, 1_000);
        let cost = due.min(draft.purse.free(draft));
        draft.emit(Event::DreamPassed { phase, cost });
        if phase == Phase::Return {
            draft.emit(Event::DreamLeft { woken: None });
        }
    }
}

/// Whether these bars end the night: the world has moved further than the owner wants to sleep through.
pub(crate) fn stirs(draft: &mut Draft<'_>, observation: &Observation) {
    let Some(night) = &draft.dreams.night else { return };
    let figures = &draft.constitution().dream;
    let (unit, bps) = (night.unit, i64::from(figures.wake_move_bps));
    let far = |now: Usdc| {
        let moved = i128::from((now - unit).as_micros().abs()) * 10_000;
        unit.is_positive() && moved >= i128::from(unit.as_micros()) * i128::from(bps)
    };
    if figures.wakes && bps > 0 && observation.bars.iter().any(|bar| far(bar.unit)) {
        wake(draft, Waker::World);
    }
}

pub(crate) fn heard(draft: &mut Draft<'_>, word: Word) {
    if matches!(word, Word::Crisis { .. }) && draft.constitution().dream.wakes {
        wake(draft, Waker::Clade);
    }
}

/// Ends a night before its time; what it had not done yet is lost, and what it had not put to the test.
pub(crate) fn wake(draft: &mut Draft<'_>, by: Waker) {
    if draft.dreams.night.is_some() {
        draft.emit(Event::DreamLeft { woken: Some(by) });
    }
}

impl Dreams {
    /// Whether it dreams at all: as it was born, unless its owner has said otherwise since.
    pub fn are_on(&self, life: &Life) -> bool {
        self.switched.unwrap_or(life.constitution().dream.enabled)
    }

    /// The share of what was tried that proved right, from a half on.
    pub fn quality(&self) -> f64 {
        let over = self.promoted + self.refuted + self.expired;
        (self.promoted as f64 + 2.0) / (over as f64 + 4.0)
    }

    pub(crate) fn begin(&mut self, trigger: Trigger, ticks: u32, budget: Usdc, unit: Usdc) {
        self.nights += 1;
        self.night = Some(Night {
            number: self.nights,
            trigger,
            phase: Phase::Onset,
            ticks,
            slept: 0,
            budget,
            spent: Usdc::ZERO,
            worked: false,
            unit,
            ideas: Vec::new(),
            batch: Vec::new(),
            credited: Vec::new(),
            ahead: 0.0,
            rehearsed: None,
            integrated: false,
            tally: Tally::default(),
        });
    }

    /// The work of a phase has been done.
    pub(crate) fn work(&mut self, found: &Found) {
        self.staged.extend(found.staged.iter().cloned());
        self.revisions.extend(found.revisions.iter().cloned());
        let Some(night) = &mut self.night else { return };
        night.worked = true;
        let insights = found.staged.iter().filter(|staged| staged.origin == Origin::Pattern).count() as u32;
        night.tally.replayed += found.replayed;
        night.tally.alternatives += found.imagined.alternatives;
        night.tally.calmed += found.imagined.calmed.len() as u32;
        night.tally.insights += insights;
        night.tally.hypotheses += found.staged.len() as u32 - insights;
        night.tally.revisions += found.revisions.len() as u32;
        night.batch.extend(&found.batch);
        night.credited.extend(found.replay.credits.iter().map(|(id, _)| *id));
        night.ahead = found.replay.ahead.iter().fold(night.ahead, |worst, ahead| worst.min(ahead.worst));
        if let Some(rehearsed) = &found.imagined.rehearsed {
            night.rehearsed = Some(rehearsed.clone());
        }
        if found.phase == Phase::Integration {
            night.integrated = true;
            night.ideas.clear();
            self.rehearsed = night.rehearsed.take().or_else(|| self.rehearsed.take());
            let (yes, no) = (found.confirmed.iter(), found.contradicted.iter());
            self.judged = yes.map(|id| (*id, true)).chain(no.map(|id| (*id, false))).collect();
        }
    }

    pub(crate) fn pass(&mut self, phase: Phase, cost: Usdc, month: u64) {
        let before = if self.month == month { self.spent_this_month } else { Usdc::ZERO };
        (self.month, self.spent_this_month) = (month, before + cost);
        self.spent += cost;
        if let Some(night) = &mut self.night {
            night.spent += cost;
            night.worked = false;
            if night.trigger == Trigger::Window {
                self.session += cost;
            }
            night.phase = *Phase::ALL.get(phase as usize + 1).unwrap_or(&Phase::Return);
        }
    }

    /// One more trial is over.
    pub(crate) fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Promoted => self.promoted += 1,
            Fate::Refuted => self.refuted += 1,
            Fate::Expired | Fate::Displaced => self.expired += 1,
        }
    }

    /// The night is over.
    pub(crate) fn leave(&mut self, woken: Option<Waker>, tick: u64, episodes: u64, result: Usdc) {
        if let Some(night) = self.night.take() {
            match woken {
                None => self.whole += 1,
                Some(_) if night.integrated => {}
                Some(_) => self.wasted += night.spent,
            }
            (self.tally, self.cost) = (night.tally, night.spent);
        }
        (self.last, self.episodes, self.result) = (tick, episodes, result);
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Phase::Onset => "onset",
            Phase::Nrem => "nrem",
            Phase::Rem => "rem",
            Phase::Integration => "integration",
            Phase::Return => "return",
        })
    }
}
