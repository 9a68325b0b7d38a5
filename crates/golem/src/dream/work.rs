//! The night's work, as rules do it, each phase when it comes: what they propose goes through the same gate, and what
//! comes out is [`Found`], typed data and nothing else. There is nothing in reach of this file that could say "do".
//!
//! ```compile_fail,E0308
//! // What a night has found cannot be put forward as something to do.
//! fn act(found: golem::dream::Found) -> golem::What {
//!     golem::What::Proposed(found)
//! }
//! ```

use life::constitution::{DreamMethod, DreamTier, Intensity};
use life::dream::{Found, Idea, Night, Origin, SleepStage, Staged, schedule};
use life::rule::{Comparison, Condition, Heuristic, Is, Provenance, Stance, learning, rounded, text};
use life::world::{DomainKind, Features};
use life::{Life, limits};

use super::gate::{CASES, Case, Cases};
use super::memory::{Experience, Memory};
use super::{imagine, replay};
use crate::dream::replay::triage;
use crate::grimoire::Grimoire;
use crate::rule::Dice;

/// Episodes looked through for what they have in common.
pub(super) const REPLAYED: usize = 160;

/// Proposals put to the test a night.
const PROPOSED: usize = 6;

/// Newest episodes, lived through again where what is known may have stopped being true.
const NEWEST: usize = 120;

/// Trouble is being more wrong than naive by this share.
const TROUBLE: f64 = 0.02;

/// Newest episodes that trouble is looked for in.
const LATEST: usize = 30;

/// How much this life's nights go into: less, the better it understands its world, and no more than its owner lets it.
pub fn intensity(life: &Life) -> Intensity {
    let (batch, depth, sessions, threats, temperature) = match life.vitality().epistemic {
        low if low < 0.5 => (15, 3, 3, 5, 0.9),
        middle if middle < 0.7 => (10, 2, 2, 3, 0.7),
        _ => (5, 1, 1, 1, 0.5),
    };
    let most = life.constitution().dream.most;
    Intensity {
        batch: most.batch.min(batch),
        depth: most.depth.min(depth),
        sessions: most.sessions.min(sessions),
        threats: most.threats.min(threats),
        temperature: most.temperature.min(temperature),
    }
}

/// Does the work of the phase a night is in.
pub fn work(memory: &Memory, grimoire: &Grimoire, life: &Life) -> Found {
    let mut found = Found::nothing(life);
    let Some(night) = &life.dreams().night else { return found };
    // Waking up goes through no episodes, and a night that only integrates through the newest.
    let chosen = match night.phase {
        SleepStage::Return => Vec::new(),
        SleepStage::Integration if schedule::only_integrates(life) => Vec::new(),
        _ => memory.select(life, REPLAYED),
    };
    let newest: Vec<&Experience> = memory.newest(NEWEST).collect();
    let tonight = Tonight { life, night, dice: Dice::of_night(life, night.phase as u64), chosen, newest };
    match night.phase {
        SleepStage::Onset => tonight.falls_asleep(&mut found),
        SleepStage::Nrem => tonight.replays(grimoire, &mut found),
        SleepStage::Rem => tonight.imagines(memory, &mut found),
        SleepStage::Integration => tonight.integrates(memory, &mut found),
        SleepStage::Return => {}
    }
    found.ideas.truncate(limits::IDEAS);
    found
}

/// The material of a phase.
struct Tonight<'a> {
    life: &'a Life,
    night: &'a Night,
    dice: Dice,
    chosen: Vec<&'a Experience>,
    newest: Vec<&'a Experience>,
}

fn features_of(chosen: &[&Experience]) -> Vec<Features> {
    chosen.iter().map(|e| e.state.iter().map(|f| f64::from(*f)).collect()).collect()
}

impl Tonight<'_> {
    fn is_light(&self) -> bool {
        self.life.constitution().dream.tier == DreamTier::Core
    }

    /// Domains to work on. A light night has time for one: the one in most trouble, or else each in turn.
    fn domains(&self) -> Vec<usize> {
        let all = self.life.birth().world.domains.len();
        if !self.is_light() {
            return (0..all).collect();
        }
        vec![troubled(&self.newest, self.life).unwrap_or(self.night.number as usize % all.max(1))]
    }

    /// Episodes gone through closely in this night's replay.
    fn batch<'m>(&self, memory: &'m Memory) -> Vec<&'m Experience> {
        self.night.batch.iter().filter_map(|number| memory.get(*number)).collect()
    }

    fn falls_asleep(mut self, found: &mut Found) {
        found.keyword = replay::keyword(&self.chosen);
        found.ideas = imagine::fragments(found.keyword, &self.chosen, self.life, &mut self.dice);
        found.fragments.0 = found.ideas.len() as u8;
    }

    /// Does the work of replay: what led to what, and what episodes have in common.
    fn replays(self, grimoire: &Grimoire, found: &mut Found) {
        let batch = replay::batch(&self.chosen, self.life, intensity(self.life).batch as usize);
        found.replayed = self.chosen.len() as u32;
        found.batch = batch.iter().map(|e| e.number).collect();
        found.replay = replay::replay(&batch, &self.newest, grimoire, self.life);
        let features = features_of(&self.chosen);
        for domain in self.domains() {
            let cases = Cases::of(self.life, domain, &self.chosen, &features);
            let (learned, held_out) = cases.halves();
            if learned.len() + held_out.len() < 4 * CASES {
                continue;
            }
            let mut fits = fits(&cases, &learned, self.is_light(), found);
            fits.sort_by(|a, b| b.0.total_cmp(&a.0));
            let pattern = |(_, condition)| Idea { domain: Some(domain as u8), origin: Origin::Pattern, condition };
            found.ideas.extend(fits.into_iter().take(PROPOSED).map(pattern));
        }
    }

    /// Does the work of imagination: what might have been, and what may come.
    fn imagines(mut self, memory: &Memory, found: &mut Found) {
        let (intensity, batch) = (intensity(self.life), self.batch(memory));
        found.imagined = imagine::imagine(&batch, &self.chosen, memory, self.life, &intensity);
        found.ideas.extend(imagine::regretted(&batch, &self.chosen, memory, self.life));
        for domain in self.domains() {
            let ideas = imagine::recombine(domain, &self.chosen, self.life, &intensity, &mut self.dice);
            found.imagined.recombined += ideas.len() as u32;
            found.ideas.extend(ideas);
        }
    }

    /// Does the work of integration: tests each idea on cases it was not made from, and what is known on the newest.
    fn integrates(mut self, memory: &Memory, found: &mut Found) {
        let (features, lately) = (features_of(&self.chosen), features_of(&self.newest));
        for domain in self.domains() {
            revise(&Cases::of(self.life, domain, &self.newest, &lately), found);
            if schedule::only_integrates(self.life) {
                continue;
            }
            let cases = Cases::of(self.life, domain, &self.chosen, &features);
            let (learned, held_out) = cases.halves();
            if learned.len() + held_out.len() < 4 * CASES {
                continue;
            }
            let here = |idea: &&Idea| idea.domain.is_none_or(|of| usize::from(of) == domain);
            for idea in unfinished(self.life, domain).iter().chain(self.night.ideas.iter().filter(here)) {
                found.looked_at += 1;
                let known = |h: &Heuristic| usize::from(h.domain) == domain && h.condition.same(&idea.condition);
                if idea.origin != Origin::Pattern && self.life.playbook().iter().any(known) {
                    continue;
                }
                let Some((effect, _)) = cases.fit(&idea.condition, &learned) else { continue };
                found.fragments.1 += u8::from(idea.origin == Origin::Fragment);
                found.proposed += 1;
                let staged = cases.test(&idea.condition, effect, idea.origin, &held_out);
                found.staged.extend(staged.filter(|new| !found.staged.iter().any(|old| old.says_the_same(new))));
            }
        }
        triage(&mut found.replay, &self.batch(memory), &found.staged, self.life);
        found.staged.sort_by(|a, b| b.utility.total_cmp(&a.utility));
        if self.life.constitution().dream.method == DreamMethod::Random {
            found.revisions.clear();
            found.staged = (0..found.proposed).map(|_| at_random(self.life, &mut self.dice)).collect();
        }
    }
}

/// The domain in which it has lately been most wrong beside a naive forecaster, if it was more wrong in any.
fn troubled(newest: &[&Experience], life: &Life) -> Option<usize> {
    let lately = &newest[newest.len().saturating_sub(LATEST)..];
    let trouble = |domain: usize| {
        let kind = life.birth().world.domains[domain].kind;
        let (mut own, mut naive) = (0.0, 0.0);
        let open = |e: &&&Experience| {
            e.actual[domain].is_finite() && e.claimed[domain].is_finite() && e.tick > life.dreams().settled[domain]
        };
        for e in lately.iter().filter(open) {
            let wrong = |said: f64| learning::error(kind, e.base[domain], said, e.actual[domain], life.laws());
            own += wrong(e.claimed[domain]);
            naive += wrong(e.naive[domain]);
        }
        if naive > 0.0 { own / naive - 1.0 } else { 0.0 }
    };
    let open = |domain: &usize| !life.dreams().revisions.iter().any(|r| usize::from(r.domain) == *domain);
    let domains = (0..life.birth().world.domains.len()).filter(open).map(|domain| (domain, trouble(domain)));
    domains.filter(|(_, trouble)| *trouble > TROUBLE).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(domain, _)| domain)
}

/// Tests what is known of a domain on the newest episodes: borne out, or spoken against and better learned again.
fn revise(lately: &Cases<'_>, found: &mut Found) {
    let (life, laws) = (lately.life, lately.life.laws());
    if life.dreams().revisions.iter().any(|r| usize::from(r.domain) == lately.domain) {
        return;
    }
    let kind = life.birth().world.domains[lately.domain].kind;
    let here = |h: &&Heuristic| usize::from(h.domain) == lately.domain && h.say(kind, laws) > 0.0;
    let numbers = life.playbook().iter().filter(here).map(|h| h.id).take(MENTIONED);
    let before = found.looked_at;
    match lately.relearned(&mut found.looked_at) {
        Some(revision) => {
            found.proposed += 1;
            found.contradicted.extend(numbers);
            found.revisions.push(revision);
        }
        // Heuristics that were tested on nothing were not borne out.
        None if found.looked_at > before => found.confirmed.extend(numbers),
        None => {}
    }
}

/// Heuristics a report mentions by number.
const MENTIONED: usize = 8;

/// Conditions of every feature at its quarters, from both sides, with the gain each would have had on the cases to
/// learn from. A light night tries the middle alone, except for features that outcomes were traced back to.
fn fits(cases: &Cases<'_>, learned: &[&Case<'_>], light: bool, found: &mut Found) -> Vec<(f64, Condition)> {
    let mut fits = Vec::new();
    for feature in 0..cases.life.birth().world.features.len() {
        let mut values: Vec<f64> = learned.iter().map(|case| case.features[feature]).collect();
        values.sort_by(f64::total_cmp);
        let credited = found.replay.precursors.contains(&(feature as u8));
        for quarter in if light && !credited { 2..3 } else { 1..4 } {
            let than = rounded(values[values.len() * quarter / 4], 3);
            for is in [Is::Above, Is::Below] {
                found.looked_at += 1;
                let condition = Condition([Comparison { feature: feature as u8, is, than }].into_iter().collect());
                if let Some((_, gain)) = cases.fit(&condition, learned) {
                    fits.push((gain, condition));
                }
            }
        }
    }
    fits
}

/// Ideas that a predecessor did not live to see tested.
fn unfinished(life: &Life, domain: usize) -> Vec<Idea> {
    let rules = life.birth().unfinished.iter().filter_map(|rule| text::parse(rule, &life.birth().world).ok());
    let here = rules.filter(|rule| usize::from(rule.domain) == domain);
    let idea = |condition| Idea { domain: Some(domain as u8), origin: Origin::Inherited, condition };
    here.map(|rule| idea(rule.condition)).collect()
}

/// An idea at random, which the other arm of an experiment believes without asking.
fn at_random(life: &Life, dice: &mut Dice) -> Staged {
    let world = &life.birth().world;
    let domain = dice.below(world.domains.len());
    let kind = world.domains[domain].kind;
    let mut condition = Condition::default();
    for _ in 0..=dice.below(2) {
        let feature = dice.below(world.features.len());
        let is = if dice.below(2) == 0 { Is::Above } else { Is::Below };
        let than = life.knowing().moves.last.get(feature).map_or(0.0, |f| rounded(f64::from(*f), 3));
        condition.0.push(Comparison { feature: feature as u8, is, than });
    }
    let mut heuristic =
        Heuristic::new(0, condition, domain as u8, kind, Stance::Watch, Provenance::Dreamt, life.tick());
    let way = 0.7 + 0.6 * dice.below(1_000) as f64 / 1_000.0;
    heuristic.effect = rounded(if kind == DomainKind::Direction { way / 2.0 } else { way }, 2);
    Staged::new(heuristic, Origin::Random, 0.0, (Vec::new(), life.tick()), life)
}
