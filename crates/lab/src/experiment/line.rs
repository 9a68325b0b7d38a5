//! One path, and how each arm fared on it. A line is a sequence of golems, each going on from the one before; where
//! siblings share the ticks there are several at once.

use golem::grimoire::{Grimoire, How};
use golem::inheritance::{BUDGET, Descent, estate, whole};
use golem::rule::{self, Heuristic};
use golem::{Birth, Endowment};
use golem::{Command, CommandId, Golem, Life, Span, Time, Usdc, What};
use serde::{Deserialize, Serialize};
use settings::chance::{Secret, identity};
use world::World;

use super::arm::{Crosses, Detector, Ends, Heir, Settled};
use super::{Budget, Error};
use crate::rehearsal::Rehearsal;
use crate::skill::{Errors, Listener};

/// Ticks of a life that tell how it began.
const EARLY: u64 = 400;
/// Ticks after a change that tell how it was met.
const AFTER: u64 = 600;
/// A change detector reports at most one change within so many ticks.
const APART: u64 = 200;
/// A golem that starts over without dying still has its latest observations: it looks at so many ticks again, which are
/// counted once.
const AGAIN: u64 = 100;

/// The stretch of a world that all arms are held to.
#[allow(missing_debug_implementations)]
pub struct Path<'a> {
    /// Opens the world of the path, from its beginning and equal for all arms; a golem born later looks from its birth on.
    pub open: &'a dyn Fn() -> Result<Box<dyn World + Send>, Error>,
    /// The seed of all dice on the path.
    pub seed: u64,
    pub budget: Budget,
    /// Times at which the rules of the world changed, in order, where they are known.
    pub changes: Option<&'a [Time]>,
}

/// Results of one arm on one path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fared {
    /// The share of naive's error it saved from where it counts to the end, all generations, newborn stretches included. Where
    /// nothing came due, as in the first hours of a life, it was as wrong as naive.
    pub skill: Option<f64>,
    /// In the first ticks of every life but the first; none for an arm without births.
    pub early: Option<f64>,
    /// In the ticks after each change.
    pub after: Option<f64>,
    /// Between one note and the next.
    pub notes: Vec<Option<f64>>,
    pub lives: Vec<Lived>,
    /// Looks at the world that were taken in all.
    pub ticks: u64,
    /// The last of its strands.
    #[serde(skip)]
    strands: u64,
    /// Errors that skill is computed from, until all arms of the path are in.
    #[serde(skip)]
    pub(crate) counted: Errors,
}

impl Fared {
    /// Adds the results of the same arm in another strand of the path; averaged when all are there.
    pub(crate) fn join(&mut self, more: Fared, strand: u64) {
        let add = |sum: &mut Option<f64>, more: Option<f64>| *sum = sum.zip(more).map(|(sum, more)| sum + more);
        if strand == 0 {
            *self = more;
            return;
        }
        add(&mut self.skill, more.skill);
        add(&mut self.early, more.early);
        add(&mut self.after, more.after);
        self.notes.iter_mut().zip(more.notes).for_each(|(sum, more)| add(sum, more));
        self.lives.extend(more.lives.into_iter().map(|lived| Lived { strand, ..lived }));
        self.ticks += more.ticks;
        self.strands = strand;
    }

    /// The results without what only reports need, for tuning.
    pub(crate) fn bare(self) -> Fared {
        Fared { skill: self.skill, ticks: self.ticks, counted: self.counted, ..Fared::default() }
    }

    pub(crate) fn average(&mut self) {
        let strands = (self.strands + 1) as f64;
        let all = [&mut self.skill, &mut self.early, &mut self.after].into_iter().chain(&mut self.notes);
        all.for_each(|value| *value = value.map(|sum| sum / strands));
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lived {
    /// Which of several files it was in that are one path together.
    pub strand: u64,
    pub generation: u64,
    pub sibling: u64,
    /// In ticks of the path.
    pub born: u64,
    pub ticks: u64,
    /// The cause of its end.
    pub ending: String,
    pub skill: Option<f64>,
    pub fitness: f64,
    /// Entries it was left.
    pub left: u64,
    /// Of those rules it was left that it has tried, the share that did better than naive.
    pub borne_out: Option<f64>,
    /// In micro-dollars.
    pub spent: i64,
}

/// State that may cross an end to the next of the line.
struct Legacy {
    before: Life,
    grimoire: Grimoire,
    lines: Vec<String>,
}

/// Errors by where in a path they came due.
struct ErrorTally {
    counted: Errors,
    early: Errors,
    after: Errors,
    notes: Vec<Errors>,
    /// In ticks of the path, in order.
    changes: Vec<u64>,
}

impl ErrorTally {
    fn new(path: &Path<'_>, start: Time, interval: Span) -> ErrorTally {
        let tick = |at: &Time| at.since(start).as_millis() / interval.as_millis().max(1);
        ErrorTally {
            counted: Errors::default(),
            early: Errors::default(),
            after: Errors::default(),
            notes: vec![Errors::default(); path.budget.ticks.div_ceil(path.budget.note_every) as usize],
            changes: path.changes.unwrap_or_default().iter().map(tick).collect(),
        }
    }

    /// Adds the errors that came due at this tick of the path, in a life of this age; `newborn` if it is not the first.
    fn add(&mut self, errors: &Errors, at: u64, age: u64, newborn: bool, budget: &Budget) {
        // The first look is at the first tick.
        let note = (at.saturating_sub(1) / budget.note_every) as usize;
        let note = note.min(self.notes.len() - 1);
        self.notes[note].add(errors);
        if at > budget.from {
            self.counted.add(errors);
        }
        if newborn && age < EARLY {
            self.early.add(errors);
        }
        let changed = self.changes[..self.changes.partition_point(|change| *change <= at)].last();
        if changed.is_some_and(|change| at < change + AFTER) {
            self.after.add(errors);
        }
    }
}

/// Page and Hinkley: how much worse one does than one used to, added up.
#[derive(Default)]
struct ChangeWatch {
    seen: f64,
    mean: f64,
    sum: f64,
    least: f64,
    usual: Errors,
}

impl ChangeWatch {
    /// Whether what came due just now shows a change.
    fn notices(&mut self, errors: &Errors, weights: &[f64], figures: &Detector) -> bool {
        self.usual.add(errors);
        self.seen += 1.0;
        // Each domain in its own usual errors of naive.
        let excess: f64 = weights.iter().enumerate().fold(0.0, |sum, (domain, weight)| {
            let ((own, naive), (_, usual)) = (errors.of(domain), self.usual.of(domain));
            sum + if usual > 0.0 { weight * (own - naive) / (usual / self.seen) } else { 0.0 }
        });
        self.mean += (excess - self.mean) / self.seen;
        self.sum += excess - self.mean - figures.slack;
        self.least = self.least.min(self.sum);
        self.sum - self.least > figures.threshold
    }
}

/// Runs an arm on a path; `cuts` are the times at which others died, for those who die when they did.
pub fn run(path: &Path<'_>, arm: &Settled, cuts: &[Time]) -> Result<(Fared, Vec<Time>), Error> {
    let siblings = arm.siblings.map_or(1, |siblings| siblings.number.max(1));
    let budget = Budget {
        ticks: path.budget.ticks / siblings,
        from: path.budget.from / siblings,
        note_every: path.budget.note_every,
    };
    let world = (path.open)()?;
    let (start, interval) = (world.start(), arm.constitution.interval);
    let weights: Vec<f64> = world.manifest().domains.iter().map(|domain| domain.weight).collect();
    drop(world);
    let end = start + interval.times(budget.ticks);
    let mut tally = ErrorTally::new(path, start, interval);
    let (mut fared, mut ends) = (Fared::default(), Vec::new());
    let mut legacy: Option<Legacy> = None;
    let (mut born, mut generation) = (start, 0);
    while born + interval <= end {
        let cut = match arm.ends {
            Ends::WithMortal | Ends::WithAnother => {
                cuts.iter().copied().find(|cut| *cut > born).unwrap_or(end).min(end)
            }
            Ends::Every => (born + interval.times(arm.every)).min(end),
            _ => end,
        };
        let mut heirs: Vec<(Rehearsal, Lived)> = Vec::new();
        for sibling in 0..siblings {
            let mut life = next(path, arm, sibling, generation, legacy.as_ref())?;
            let from = Stretch { start, from: born, cut, sibling, generation, weights: &weights, budget: &budget };
            let lived = live(&mut life, arm, &from, &mut tally, legacy.as_ref())?;
            heirs.push((life, lived));
        }
        let chosen = choose(arm, &heirs, path.seed ^ generation);
        fared.lives.extend(heirs.iter().map(|(_, lived)| lived.clone()));
        let (mut life, lived) = heirs.swap_remove(chosen);
        let ended = life.life().is_dead() || lived.ending == "noticed";
        let gone = life.life().seen().until.max(life.life().now());
        if !ended && gone + interval > end {
            break;
        }
        let retire = Command::Retire { reason: String::new() };
        life.feed(What::Commanded { id: CommandId([1; 8]), command: retire }, &mut |_, _| {})?;
        ends.push(gone);
        legacy = Some(leave(arm, &life));
        // A golem that dies at birth, as with no money at all, leaves the world where it was.
        born = gone.max(born + interval);
        generation += 1;
    }
    fared.ticks = fared.lives.iter().map(|lived| lived.ticks).sum();
    fared.skill = tally.counted.weighed(&weights);
    fared.counted = tally.counted;
    fared.early = tally.early.weighed(&weights);
    fared.after = tally.after.weighed(&weights);
    let noted = (budget.ticks.div_ceil(budget.note_every) as usize).min(tally.notes.len());
    fared.notes = tally.notes[..noted].iter().map(|errors| errors.weighed(&weights)).collect();
    Ok((fared, ends))
}

/// Where in a line a life stands.
struct Stretch<'a> {
    start: Time,
    /// Where it begins to count.
    from: Time,
    cut: Time,
    sibling: u64,
    generation: u64,
    weights: &'a [f64],
    budget: &'a Budget,
}

/// One life to its end, or to where it is ended.
fn live(
    life: &mut Rehearsal,
    arm: &Settled,
    within: &Stretch<'_>,
    tally: &mut ErrorTally,
    legacy: Option<&Legacy>,
) -> Result<Lived, Error> {
    let interval = arm.constitution.interval;
    let place = |at: Time| at.since(within.start).as_millis() / interval.as_millis().max(1);
    let (mut all, mut again) = (Errors::default(), 0);
    let (mut claims, mut watch, mut noticed) = (Listener::even(), ChangeWatch::default(), false);
    let newborn = within.generation > 0 && !arm.same_soul;
    while !life.is_over() && life.life().due() <= within.cut && !noticed {
        let mut errors = Errors::default();
        life.tick(&mut |record, life| claims.hear(record, life, &mut errors))?;
        let now = life.life().now();
        if now <= within.from {
            again = life.life().tick();
            continue;
        }
        let age = life.life().tick() - again;
        tally.add(&errors, place(now), age, newborn, within.budget);
        all.add(&errors);
        if arm.ends == Ends::Detected {
            noticed = watch.notices(&errors, within.weights, &arm.detector) && age >= APART;
        }
    }
    let now = life.life();
    let ending = match &now.death() {
        Some(death) => death.cause.name(),
        None if noticed => "noticed",
        None => "ended",
    };
    let left = legacy.map_or(0, |legacy| legacy.lines.len() as u64);
    Ok(Lived {
        strand: 0,
        generation: within.generation,
        sibling: within.sibling,
        born: place(within.from),
        ticks: now.tick() - again,
        ending: ending.to_owned(),
        skill: all.weighed(within.weights),
        fitness: now.vitality().epistemic,
        left,
        borne_out: borne_out(now),
        spent: (now.purse().funding - now.purse().credit).as_micros(),
    })
}

/// Of the rules it was left, tried often enough, the share that did better than naive.
fn borne_out(life: &Life) -> Option<f64> {
    let inherited =
        |h: &&Heuristic| h.provenance == rule::Provenance::Recalled && h.evidence_for + h.evidence_against >= 30;
    let tried: Vec<&Heuristic> = life.playbook().iter().filter(inherited).collect();
    let good = tried.iter().filter(|h| h.skill() > 0.0).count();
    (!tried.is_empty()).then(|| good as f64 / tried.len() as f64)
}

/// The sibling whose heirs go on.
fn choose(arm: &Settled, all: &[(Rehearsal, Lived)], dice: u64) -> usize {
    match arm.siblings.map(|siblings| siblings.heir_of) {
        None => 0,
        Some(Heir::Anyone) => (dice.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % all.len(),
        Some(Heir::Fittest) => {
            let skill = |at: &usize| all[*at].1.skill.unwrap_or(f64::NEG_INFINITY);
            (0..all.len()).max_by(|a, b| skill(a).total_cmp(&skill(b)).then(b.cmp(a))).unwrap_or(0)
        }
    }
}

fn leave(arm: &Settled, life: &Rehearsal) -> Legacy {
    let now = life.life();
    let lines = match arm.crosses {
        Crosses::Estate => estate(&whole(life.grimoire(), now), now, BUDGET),
        _ => Vec::new(),
    };
    let lines = lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data")).collect();
    Legacy { before: now.clone(), grimoire: life.grimoire().clone(), lines }
}

/// The next of a line: born where the one before left the world, and given what crosses.
fn next(
    path: &Path<'_>,
    arm: &Settled,
    sibling: u64,
    generation: u64,
    legacy: Option<&Legacy>,
) -> Result<Rehearsal, Error> {
    let mut world = (path.open)()?;
    let mut constitution = arm.constitution.clone();
    constitution.succession.evidence = match arm.crosses {
        Crosses::Everything => 1.0,
        Crosses::Effects | Crosses::Nothing => 0.0,
        Crosses::Estate => constitution.succession.evidence,
    };
    let mut descent = legacy.map(|legacy| Descent::of(&legacy.before, false));
    if let (Some(descent), Crosses::Nothing | Crosses::Effects) = (descent.as_mut(), arm.crosses) {
        descent.lineage.trust.clear();
    }
    let again = if arm.same_soul { arm.constitution.interval.times(AGAIN) } else { Span::default() };
    let begins = |descent: &Descent| (descent.begins - again).max(world.start());
    let born = descent.as_ref().map_or(world.start(), begins);
    world.seek(born)?;
    // Dice go on: no throw comes twice, whether a golem is born or goes on.
    let soul = path.seed ^ arm.twin.rotate_left(40) ^ generation.rotate_left(20) ^ sibling.rotate_left(30);
    let secret = Secret::from_seed(soul, "line");
    let birth = Birth {
        id: identity(Some(soul), "line"),
        name: "line".parse().expect("a plain name"),
        generation: generation as u32,
        laws: arm.laws,
        secret_hash: secret.hash(),
        seeded: true,
        constitution,
        world: world.manifest(),
        endowment: Endowment { credit: arm.credit, capital: Usdc::ZERO },
        lineage: descent.map(|descent| descent.lineage),
        unfinished: Vec::new(),
    };
    let mut life = Rehearsal::new(Golem::born(birth, born).0, world, secret);
    if let Some(Legacy { before, grimoire, .. }) = legacy {
        match arm.crosses {
            Crosses::Everything => life.take_over(before.playbook().iter().map(Heuristic::unasked), grimoire),
            Crosses::Effects => life.take_over(before.playbook().iter().map(Heuristic::unproven), grimoire),
            Crosses::Nothing | Crosses::Estate => {}
        }
    }
    life.feed(What::Funded { transfer: 1, credit: arm.credit, capital: Usdc::ZERO }, &mut |_, _| {})?;
    if let Some(legacy) = legacy.filter(|legacy| !legacy.lines.is_empty()) {
        for some in legacy.lines.chunks(200) {
            let lines: Vec<&str> = some.iter().map(String::as_str).collect();
            life.take_in(&lines, How::Inherited, &mut |_, _| {})?;
        }
    }
    Ok(life)
}
