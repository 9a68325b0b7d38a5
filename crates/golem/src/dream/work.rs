//! The night's work, as rules do it, phase by phase: what each proposes goes through the same gate, and what comes out
//! is [`Found`], typed data and nothing else. There is nothing in reach of this file that could say "do".
//!
//! ```compile_fail,E0308
//! // What a night has found cannot be put forward as something to do.
//! fn act(found: golem::dream::Found) -> golem::What {
//!     golem::What::Proposed(found)
//! }
//! ```

use serde::{Deserialize, Serialize};

use super::gate::{CASES, Case, Cases};
use super::imagine::{self, Imagined};
use super::memory::{Experience, Memory};
use super::replay::{self, Replay};
use super::revision::Revision;
use super::schedule;
use super::staging::{Origin, Staged};
use crate::constitution::{DreamMethod, DreamTier};
use crate::grimoire::Grimoire;
use crate::life::Life;
use crate::rule::mind::Dice;
use crate::rule::text;
use crate::rule::{Comparison, Condition, Heuristic, Is, Provenance, Stance, learning, rounded};
use crate::world::{DomainKind, Features};

/// Episodes looked through for what they have in common, and proposals put to the test a night.
const REPLAYED: usize = 160;
const PROPOSED: usize = 6;
/// The newest, lived through again where what is known may have stopped being true.
const NEWEST: usize = 120;

/// Trouble is being more wrong than naive by this share, over so many of the newest.
const TROUBLE: f64 = 0.02;
const LATEST: usize = 30;

/// What a night came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    pub night: u64,
    pub replayed: u32,
    /// Conditions looked at, and proposed after fitting.
    pub looked_at: u32,
    pub proposed: u32,
    /// What was borne out by what was held back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub staged: Vec<Staged>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<Revision>,
    /// Heuristics in use that the night bore out, and that it spoke against, by number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<u64>,
    /// The feature the night turned around.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<u8>,
    /// Fragments caught while falling asleep, and those that said something new.
    #[serde(skip_serializing_if = "is_none")]
    pub fragments: (u8, u8),
    /// Episodes gone through closely.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batch: Vec<u64>,
    #[serde(skip_serializing_if = "Replay::is_empty")]
    pub replay: Replay,
    #[serde(skip_serializing_if = "Imagined::is_empty")]
    pub imagined: Imagined,
}

fn is_none(fragments: &(u8, u8)) -> bool {
    *fragments == (0, 0)
}

impl Found {
    /// A night without dreams.
    pub fn nothing(life: &Life) -> Found {
        Found { night: life.dreams.night.as_ref().map_or(0, |night| night.number), ..Found::default() }
    }
}

/// How much a night goes into, by how well the golem understands its world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intensity {
    /// Episodes gone through closely.
    pub batch: usize,
    /// Other choices imagined for a decision.
    pub depth: usize,
    /// Recombinations, and threats.
    pub sessions: usize,
    pub threats: usize,
    /// How freely it imagines.
    pub temperature: f64,
}

pub fn intensity(fitness: f64) -> Intensity {
    let (batch, depth, sessions, threats, temperature) = match fitness {
        low if low < 0.5 => (15, 3, 3, 5, 0.9),
        middle if middle < 0.7 => (10, 2, 2, 3, 0.7),
        _ => (5, 1, 1, 1, 0.5),
    };
    Intensity { batch, depth, sessions, threats, temperature }
}

/// An idea before it is fitted.
pub(super) struct Idea {
    pub condition: Condition,
    pub origin: Origin,
}

/// Goes through a night.
pub fn work(memory: &Memory, grimoire: &Grimoire, life: &Life) -> Found {
    let light = life.constitution().dream.tier == DreamTier::Core;
    let mut found = Found::nothing(life);
    let intensity = intensity(life.vitality.epistemic);
    let chosen = memory.select(life, REPLAYED);
    let newest: Vec<&Experience> = memory.newest(NEWEST).collect();
    let seen = |chosen: &[&Experience]| -> Vec<Features> {
        chosen.iter().map(|e| e.state.iter().map(|f| f64::from(*f)).collect()).collect()
    };
    let (features, newest_features) = (seen(&chosen), seen(&newest));
    found.replayed = chosen.len() as u32;
    let mut dice = Dice::of_night(life, 0);

    // Falling asleep.
    found.keyword = replay::keyword(&chosen);
    // Replay.
    let batch = replay::batch(&chosen, life, intensity.batch);
    found.batch = batch.iter().map(|e| e.number).collect();
    if !schedule::only_integrates(life) {
        found.replay = replay::replay(&batch, &newest, grimoire, life);
        // Imagination.
        found.imagined = imagine::imagine(&batch, &chosen, &found.replay, life, &intensity);
    }

    let domains = life.birth.world.domains.len();
    // A light night has time for one of them: for the one in most trouble, or else for each in turn.
    let only = troubled(&newest, life).unwrap_or(found.night as usize % domains.max(1));
    for domain in 0..domains {
        if light && only != domain {
            continue;
        }
        let lately = Cases::of(life, domain, &newest, &newest_features);
        revise(&lately, &mut found);
        if schedule::only_integrates(life) {
            continue;
        }
        let cases = Cases::of(life, domain, &chosen, &features);
        let (learned, held_out) = cases.halves();
        if learned.len() + held_out.len() < 4 * CASES {
            continue;
        }
        let mut fits = fits(&cases, &learned, light, &mut found);
        fits.sort_by(|a, b| b.0.total_cmp(&a.0));
        fits.truncate(PROPOSED);
        let onset = imagine::fragments(found.keyword, &chosen, life, &mut dice);
        found.fragments.0 += onset.len() as u8;
        let unfinished = unfinished(life, domain);
        let recombined = imagine::recombine(domain, &chosen, life, &intensity, &mut dice);
        found.imagined.recombined += recombined.len() as u32;
        for idea in unfinished.into_iter().chain(onset).chain(recombined) {
            found.looked_at += 1;
            let known = |h: &Heuristic| usize::from(h.domain) == domain && h.condition.same(&idea.condition);
            if life.playbook.iter().any(known) {
                continue;
            }
            if let Some((effect, gain)) = cases.fit(&idea.condition, &learned) {
                found.fragments.1 += u8::from(idea.origin == Origin::Fragment);
                fits.push((gain, idea.condition, effect, idea.origin));
            }
        }
        for (_, condition, effect, origin) in fits {
            found.proposed += 1;
            let staged = cases.test(&condition, effect, origin, &held_out);
            found.staged.extend(staged.filter(|new| !found.staged.iter().any(|old| old.says_the_same(new))));
        }
    }
    found.replay.triage(&batch, &found.staged, life);
    found.staged.sort_by(|a, b| b.utility.total_cmp(&a.utility));
    if life.constitution().dream.method == DreamMethod::Random {
        found.revisions.clear();
        found.staged = (0..found.proposed).map(|_| at_random(life, &mut dice)).collect();
    }
    found
}

/// The domain in which it has lately been most wrong beside a naive forecaster, if that was more wrong.
fn troubled(newest: &[&Experience], life: &Life) -> Option<usize> {
    let lately = &newest[newest.len().saturating_sub(LATEST)..];
    let trouble = |domain: usize| {
        let kind = life.birth.world.domains[domain].kind;
        let (mut own, mut naive) = (0.0, 0.0);
        let open = |e: &&&Experience| {
            e.actual[domain].is_finite() && e.claimed[domain].is_finite() && e.tick > life.dreams.settled[domain]
        };
        for e in lately.iter().filter(open) {
            let wrong = |said: f64| learning::error(kind, e.base[domain], said, e.actual[domain], life.laws());
            own += wrong(e.claimed[domain]);
            naive += wrong(e.naive[domain]);
        }
        if naive > 0.0 { own / naive - 1.0 } else { 0.0 }
    };
    let open = |domain: &usize| !life.dreams.revisions.iter().any(|r| usize::from(r.domain) == *domain);
    let domains = (0..life.birth.world.domains.len()).filter(open).map(|domain| (domain, trouble(domain)));
    domains.filter(|(_, trouble)| *trouble > TROUBLE).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(domain, _)| domain)
}

/// What is known of a domain, held against the newest: borne out, or spoken against and better learned again.
fn revise(lately: &Cases<'_>, found: &mut Found) {
    let (life, laws) = (lately.life, lately.life.laws());
    if life.dreams.revisions.iter().any(|r| usize::from(r.domain) == lately.domain) {
        return;
    }
    let kind = life.birth.world.domains[lately.domain].kind;
    let here = |h: &&Heuristic| usize::from(h.domain) == lately.domain && h.say(kind, laws) > 0.0;
    let numbers = life.playbook.iter().filter(here).map(|h| h.id).take(MENTIONED);
    match lately.relearned(&mut found.looked_at) {
        Some(revision) => {
            found.proposed += 1;
            found.contradicted.extend(numbers);
            found.revisions.push(revision);
        }
        None => found.confirmed.extend(numbers),
    }
}

/// Heuristics a report mentions by number.
const MENTIONED: usize = 8;

/// Every feature against its quarters, from both sides: what it would have gained on what is learned from. A light night
/// tries the middle alone, but for what outcomes were traced back to.
fn fits(
    cases: &Cases<'_>,
    learned: &[&Case<'_>],
    light: bool,
    found: &mut Found,
) -> Vec<(f64, Condition, f64, Origin)> {
    let mut fits = Vec::new();
    for feature in 0..cases.life.birth.world.features.len() {
        let mut values: Vec<f64> = learned.iter().map(|case| case.features[feature]).collect();
        values.sort_by(f64::total_cmp);
        let credited = found.replay.precursors.contains(&(feature as u8));
        for quarter in if light && !credited { 2..3 } else { 1..4 } {
            let than = rounded(values[values.len() * quarter / 4], 3);
            for is in [Is::Above, Is::Below] {
                found.looked_at += 1;
                let condition = Condition([Comparison { feature: feature as u8, is, than }].into_iter().collect());
                if let Some((effect, gain)) = cases.fit(&condition, learned) {
                    fits.push((gain, condition, effect, Origin::Pattern));
                }
            }
        }
    }
    fits
}

/// What whoever came before did not live to see tested.
fn unfinished(life: &Life, domain: usize) -> Vec<Idea> {
    let rules = life.birth.unfinished.iter().filter_map(|rule| text::parse(rule, &life.birth.world).ok());
    let here = rules.filter(|rule| usize::from(rule.domain) == domain);
    here.map(|rule| Idea { condition: rule.condition, origin: Origin::Inherited }).collect()
}

/// Anything whatever: what the other arm of an experiment believes without asking.
fn at_random(life: &Life, dice: &mut Dice) -> Staged {
    let world = &life.birth.world;
    let domain = dice.below(world.domains.len());
    let kind = world.domains[domain].kind;
    let mut condition = Condition::default();
    for _ in 0..=dice.below(2) {
        let feature = dice.below(world.features.len());
        let is = if dice.below(2) == 0 { Is::Above } else { Is::Below };
        let than = life.knowing.moves.last.get(feature).map_or(0.0, |f| rounded(f64::from(*f), 3));
        condition.0.push(Comparison { feature: feature as u8, is, than });
    }
    let mut heuristic = Heuristic::new(0, condition, domain as u8, kind, Stance::Watch, Provenance::Dreamt, life.tick);
    let way = 0.7 + 0.6 * dice.below(1_000) as f64 / 1_000.0;
    heuristic.effect = rounded(if kind == DomainKind::Direction { way / 2.0 } else { way }, 2);
    Staged::new(heuristic, Origin::Random, 0.0, Vec::new(), life)
}
