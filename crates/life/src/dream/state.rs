//! The state of dreams: the night under way, totals of earlier ones, and ideas on trial.

use serde::{Deserialize, Serialize};

use super::{Change, Drill, Fate, Found, Idea, Origin, Rehearsed, Revision, Staged};
use crate::dream::{SleepStage, Trigger, Waker};
use crate::limits;
use crate::money::Usdc;
use crate::rule::Condition;
use crate::time::Time;

/// A night under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Night {
    pub number: u64,
    pub trigger: Trigger,
    pub phase: SleepStage,
    /// How long it is to be, in ticks.
    pub ticks: u32,
    /// How long it has been.
    pub slept: u32,
    pub budget: Usdc,
    pub spent: Usdc,
    /// True once the work of its present phase has been done.
    pub worked: bool,
    /// Set aside for or spent on questions to models, which is part of what it has spent.
    pub thoughts: Usdc,
    /// Questions asked in its present phase.
    pub asked: u8,
    /// Half thoughts caught while falling asleep.
    pub fragments: Vec<String>,
    /// The fall that a model would have it be ready for, in basis points, and what the world looks like before.
    pub feared: Option<(u32, Condition)>,
    /// The worth of a unit when the night began.
    pub unit: Usdc,
    /// Ideas it has come up with and not put to the test yet.
    pub ideas: Vec<Idea>,
    /// Episodes gone through closely.
    pub batch: Vec<u64>,
    /// Heuristics credited with what came of them.
    pub credited: Vec<u64>,
    /// The worst that may come.
    pub ahead: f32,
    pub rehearsed: Option<Rehearsed>,
    /// Episodes in which its omen held, and in which it did not.
    #[serde(default)]
    pub omen: (u32, u32),
    /// True once its ideas have been put to the test: whatever wakes it now, none of them is lost.
    pub integrated: bool,
    pub tally: Tally,
}

/// Counts of a night's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub replayed: u32,
    pub alternatives: u32,
    pub insights: u32,
    pub hypotheses: u32,
    pub calmed: u32,
    pub revisions: u32,
    /// Tokens of the answers it had from models, as far as their servers count them.
    #[serde(default)]
    pub tokens: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dreams {
    pub nights: u64,
    pub whole: u64,
    pub night: Option<Night>,
    /// The tick at which the last night ended.
    pub last: u64,
    /// Episodes there were by then.
    pub episodes: u64,
    /// The result of its actions by then.
    pub result: Usdc,
    pub spent: Usdc,
    /// Spent on nights that were broken off before anything they came up with was put to the test.
    pub wasted: Usdc,
    /// Thirty days of age, counted.
    pub month: u64,
    /// Spent on nights in the present thirty days.
    pub spent_this_month: Usdc,
    /// Hypotheses on trial.
    pub staged: Vec<Staged>,
    /// Earlier ones that were let in.
    pub promoted: u64,
    /// Earlier ones that were wrong.
    pub refuted: u64,
    /// Earlier ones whose time was up.
    pub expired: u64,
    /// Which hypotheses held at the last look, one bit each, and when that was.
    pub holds: (u16, Time),
    /// Ideas that have come into use lately and may have to go again.
    pub changes: Vec<Change>,
    /// How often an idea had to go again.
    pub rolled_back: u64,
    /// Domains whose heuristics learn again.
    pub revisions: Vec<Revision>,
    /// How often learning again was right.
    pub revised: u64,
    /// The tick up to which each domain has been judged for learning again.
    pub settled: [u64; limits::DOMAINS],
    /// Nights begun in the owner's present hours of sleep, and which hours those are.
    pub window: (u64, u32),
    /// The owner's word since its birth on whether it dreams at all.
    pub switched: Option<bool>,
    /// The cost of nights in the owner's present hours.
    pub session: Usdc,
    /// A threat to warn of, for the next round of the Curator.
    pub rehearsed: Option<Rehearsed>,
    /// Episodes in which its omen held, beside the one it was made from, and in which it did not.
    pub omen: (u32, u32),
    /// Answers of gate and policy to what may go wrong, by the newest night that asked.
    pub drills: Vec<Drill>,
    /// Heuristics the last night spoke for or against, for the next round of the Curator.
    pub judged: Vec<(u64, bool)>,
    /// Counts of the last night's work.
    pub tally: Tally,
    /// The cost of the last night.
    pub cost: Usdc,
}

impl Dreams {
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
            phase: SleepStage::Onset,
            ticks,
            slept: 0,
            budget,
            spent: Usdc::ZERO,
            worked: false,
            thoughts: Usdc::ZERO,
            asked: 0,
            fragments: Vec::new(),
            feared: None,
            unit,
            ideas: Vec::new(),
            batch: Vec::new(),
            credited: Vec::new(),
            ahead: 0.0,
            rehearsed: None,
            omen: (0, 0),
            integrated: false,
            tally: Tally::default(),
        });
    }

    /// Takes in the work of a phase.
    pub(crate) fn work(&mut self, found: &Found) {
        self.staged.extend(found.staged.iter().cloned());
        self.revisions.extend(found.revisions.iter().cloned());
        for drill in &found.imagined.drills {
            self.drills.retain(|known| !known.is_of_the_same(drill));
            self.drills.push(*drill);
        }
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
            night.omen = found.imagined.omen;
        }
        if found.phase == SleepStage::Integration {
            night.integrated = true;
            night.ideas.clear();
            if let Some(rehearsed) = night.rehearsed.take() {
                (self.rehearsed, self.omen) = (Some(rehearsed), night.omen);
            }
            let (yes, no) = (found.confirmed.iter(), found.contradicted.iter());
            self.judged = yes.map(|id| (*id, true)).chain(no.map(|id| (*id, false))).collect();
        }
    }

    pub(crate) fn pass(&mut self, phase: SleepStage, cost: Usdc, month: u64) {
        self.charge(cost, month);
        if let Some(night) = &mut self.night {
            (night.worked, night.asked) = (false, 0);
            night.phase = *SleepStage::ALL.get(phase as usize + 1).unwrap_or(&SleepStage::Return);
        }
    }

    fn charge(&mut self, cost: Usdc, month: u64) {
        let before = if self.month == month { self.spent_this_month } else { Usdc::ZERO };
        (self.month, self.spent_this_month) = (month, before + cost);
        self.spent += cost;
        if let Some(night) = &mut self.night {
            night.spent += cost;
            if night.trigger == Trigger::Window {
                self.session += cost;
            }
        }
    }

    /// Notes a question to a model; what it may cost counts as spent until its cost is known.
    pub(crate) fn ask(&mut self, most: Usdc, month: u64) {
        self.charge(most, month);
        if let Some(night) = &mut self.night {
            night.thoughts += most;
            night.asked = night.asked.saturating_add(1);
        }
    }

    /// Stops questions for this phase.
    pub(crate) fn quiet(&mut self) {
        self.night.iter_mut().for_each(|night| night.asked = u8::MAX);
    }

    /// Gives back what a question of a night left of the sum set aside for it. A night that is over has been paid for
    /// as it was.
    pub(crate) fn settle(&mut self, night: u64, month: u64, rest: Usdc) {
        self.spent -= rest;
        if self.month == month {
            self.spent_this_month -= rest;
        }
        if let Some(night) = self.night.as_mut().filter(|now| now.number == night) {
            night.spent -= rest;
            night.thoughts -= rest;
            if night.trigger == Trigger::Window {
                self.session -= rest;
            }
        }
    }

    /// Counts the tokens of an answer for the night that asked, if it is still under way.
    pub(crate) fn count_tokens(&mut self, night: u64, tokens: u64) {
        if let Some(night) = self.night.as_mut().filter(|now| now.number == night) {
            night.tally.tokens = night.tally.tokens.saturating_add(tokens);
        }
    }

    pub(crate) fn catch(&mut self, night: u64, fragment: String) {
        let this = self.night.as_mut().filter(|now| now.number == night);
        this.into_iter().for_each(|night| night.fragments.push(fragment.clone()));
    }

    pub(crate) fn fear(&mut self, night: u64, fall_bps: u32, omen: &Condition) {
        let this = self.night.as_mut().filter(|now| now.number == night);
        let worse = |night: &&mut Night| night.feared.as_ref().is_none_or(|(known, _)| *known < fall_bps);
        this.filter(worse).into_iter().for_each(|night| night.feared = Some((fall_bps, omen.clone())));
    }

    /// Counts one more trial that is over.
    pub(crate) fn count(&mut self, fate: Fate) {
        match fate {
            Fate::Promoted => self.promoted += 1,
            Fate::Refuted => self.refuted += 1,
            Fate::Expired | Fate::Displaced => self.expired += 1,
        }
    }

    /// Ends the night.
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
