//! The one door for knowledge from outside: bundles, estates, siblings. Nothing that comes in is believed; what can be
//! checked is tried in quarantine, without a say, until this golem's own claims have shown it to be right.
//!
//! Of what a sender says about itself only the modest part counts: not its evidence, not how slowly it should fade,
//! not that it was paid for with a life. Only down one's own line does evidence cross, at a discount. Text is kept to be read, cleaned of anything that could be taken for an
//! address; nothing anywhere takes an amount or a permission from it.

use std::collections::BTreeSet;

use life::Life;
use life::grimoire::{
    Class, Decision, Entry, Expectation, How, Intake, Kind, PASSED_ON, Shown, Source, Status, inherited,
};
use life::id::GolemId;
use life::rule::neutral;
use life::rule::text::Parsed;
use life::world::DomainKind;

use super::admission::{Candidate, clip, draft};
use super::bundle::{self, BundleLine};
use super::round::{self, Curation, DECISIONS, EstateRule, source, words};
use super::{Grimoire, MeaningKey, SOURCES};
use crate::clade::Parcel;
use crate::inheritance::BALDWIN;

/// Entries taken in an hour of world time, from everyone.
pub const AN_HOUR: u32 = 200;
/// Entries taken in an hour of world time from one source.
pub const AN_HOUR_EACH: u32 = 100;
/// Ticks after which a golem has seen enough to tell what could be true here from what could not.
const SEASONED: u64 = 200;
/// Entries of one sibling that wait for their trial at once, so that one that brings much of no use cannot fill the
/// memory.
const WAITING: usize = 50;
/// How a line says that it is a warning, as every golem writes it.
const WARNS: &str = "\"kind\":\"warning\"";
/// Notes from its agent that are kept at once.
const NOTES: usize = 500;
/// An expectation beyond these is a mistake or a trap.
const FACTORS: (f64, f64) = (0.2, 5.0);
const CHANCES: (f64, f64) = (0.05, 0.95);
/// A threshold so many deviations from anything seen here is from another world.
const STRANGE: f32 = 20.0;
/// The confidence that an owner's rule begins with.
const OWNER: f64 = 0.5;
/// Confidence from which an entry is well established: one that contradicts it starts lower.
const ESTABLISHED: f64 = 0.6;

/// Why something was not taken in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Turned {
    #[error("{0}")]
    Unreadable(String),
    #[error("{0}")]
    Anomalous(String),
    #[error("already known")]
    Known,
    #[error("the golem has seen too little of its own world to judge entries from others; try again later")]
    TooSoon,
    #[error("more than {AN_HOUR_EACH} an hour from one source or {AN_HOUR} from all; try again later")]
    TooMany,
    #[error("it was passed on by {PASSED_ON} siblings already, which is too many to trust it")]
    TooFar,
    #[error("not worth keeping")]
    Worthless,
}

impl Grimoire {
    /// Decisions about a line. The caller says by which way it came; the line does not get to.
    pub fn ingest(
        &self,
        line: &BundleLine,
        how: How,
        life: &Life,
        intake: &mut Intake,
    ) -> Result<Vec<Decision>, Turned> {
        let origin = line.provenance.sources.last().map_or(GolemId([0; 16]), |source| source.golem);
        self.ingest_from(origin, line, how, life, intake)
    }

    /// Decisions about a line from this bringer, which need not be its source: a sibling that brings too much is not
    /// helped by using other names.
    pub fn ingest_from(
        &self,
        bringer: GolemId,
        line: &BundleLine,
        how: How,
        life: &Life,
        intake: &mut Intake,
    ) -> Result<Vec<Decision>, Turned> {
        let origin = line.provenance.sources.last().map_or(GolemId([0; 16]), |source| source.golem);
        if how == How::Clade && life.tick() < SEASONED {
            return Err(Turned::TooSoon);
        }
        // A line that came from this golem is known already, even if a sibling brings it back.
        if how == How::Clade && (line.provenance.hops >= PASSED_ON || origin == life.id()) {
            return Err(if origin == life.id() { Turned::Known } else { Turned::TooFar });
        }
        // An estate comes once, and by its owner's will; everything else is let in by the hour. Warnings are not kept
        // waiting: the size of a letter bounds them.
        let warns = how == How::Clade && line.kind == Kind::Warning;
        if how != How::Inherited && !warns && !intake.admit(bringer, life.now(), (AN_HOUR, AN_HOUR_EACH)) {
            return Err(Turned::TooMany);
        }
        if how == How::Clade && self.waiting_of(bringer, warns) >= WAITING {
            return Err(Turned::TooMany);
        }
        let mut entry = candidate(line, origin, how, life)?;
        entry.provenance.brought = (how == How::Clade).then_some(bringer);
        if let Some(known) = self.by_key(&MeaningKey::of(&entry)) {
            return also(known, entry.provenance.sources[0]);
        }
        let world = &life.birth().world;
        if self.opposed(&entry, world).any(|other| other.confidence(life.now()) >= ESTABLISHED) {
            entry.initial /= 2.0;
        }
        if how == How::Agent {
            return self.noted(entry);
        }
        let begins = entry.initial;
        let mut decisions =
            self.admit(Candidate { entry, seen_for: 0.0, seen_against: 0.0, single: false }, world, life.now());
        if decisions.is_empty() {
            return Err(Turned::Worthless);
        }
        if let Some(Decision::Put(entry)) = decisions.last_mut() {
            // The gate sets the confidence of new entries; one from outside begins with what its way here has left of
            // its own.
            entry.initial = begins;
        }
        Ok(decisions)
    }

    /// Entries of one sibling that are still to be tried; warnings are counted apart from the rest.
    fn waiting_of(&self, bringer: GolemId, warnings: bool) -> usize {
        let of_it = |entry: &&Entry| entry.provenance.brought == Some(bringer) && entry.status == Status::Candidate;
        self.in_use().filter(of_it).filter(|entry| (entry.kind == Kind::Warning) == warnings).count()
    }

    /// Keeps a note from its agent, to be looked up and not weighed; its source tells it apart.
    fn noted(&self, mut entry: Entry) -> Result<Vec<Decision>, Turned> {
        if self.entries().filter(|known| is_agents(known)).count() >= NOTES {
            return Err(Turned::TooMany);
        }
        entry.id = self.next_id();
        Ok(vec![Decision::Put(Box::new(entry))])
    }
}

/// The entry of a line, to be tried here.
fn candidate(line: &BundleLine, origin: GolemId, how: How, life: &Life) -> Result<Entry, Turned> {
    let (rule, link) = line.meaning(&life.birth().world).map_err(Turned::Unreadable)?;
    let generation = line.provenance.sources.last().map_or(0, |source| source.generation);
    let mut entry =
        draft(line.kind, &without_addresses(&clip(&line.text)), Source { golem: origin, generation, how }, life.now());
    if let Some(rule) = &rule {
        plausible(rule.domain, rule.effect, life)?;
        for comparison in &rule.condition.0 {
            familiar(usize::from(comparison.feature), comparison.than, life)?;
        }
        entry.domain = Some(rule.domain);
        entry.condition = Some(rule.condition.clone());
        entry.claim = Some(Expectation { domain: rule.domain, effect: rule.effect, stance: rule.stance });
        entry.blend.clone_from(&rule.blend);
    }
    (entry.link, entry.regime) = (link, line.regime);
    // What a line says it has shown counts only down one's own line.
    entry.shown = line.shown.filter(|shown| how == How::Inherited && shown.is_sound());
    entry.status = Status::Candidate;
    // Only what came down one's own line may say that it was learned in dying.
    entry.bloodstain = line.bloodstain && how == How::Inherited;
    let crossings = line.provenance.crossings.saturating_add(u32::from(how == How::Inherited));
    entry.provenance.crossings = crossings;
    entry.provenance.hops = line.provenance.hops.saturating_add(u32::from(how == How::Clade));
    let sender = if line.confidence.is_finite() { line.confidence } else { 0.0 };
    // The sender's confidence has the earlier deaths in it already.
    entry.initial = inherited(how, sender, 1, false);
    if how == How::Inherited {
        let came = entry.provenance.sources[0];
        entry.provenance.sources = line.provenance.sources.iter().copied().take(SOURCES - 1).collect();
        if !entry.provenance.sources.contains(&came) {
            entry.provenance.sources.push(came);
        }
        if innate(line, life) {
            entry.class = Class::Structural;
        }
    }
    Ok(entry)
}

/// Takes in as many lines as one round has room for, and says what became of each.
pub fn take_in(grimoire: &mut Grimoire, life: &Life, lines: &[&str], how: How) -> (Curation, Vec<Result<(), Turned>>) {
    let (mut answer, mut told) = admit(grimoire, life, &[(None, lines.to_vec())], how);
    if how == How::Inherited {
        answer.adopt.extend(round::recollect(&expectations(lines, life), life));
    }
    (answer, told.remove(0))
}

/// Runs the round that is due, with what siblings have told since the last. Returns, for each sibling, the lines that
/// wait for another round: an hour lets in no more, or the golem is too young to judge.
pub fn digest(grimoire: &mut Grimoire, life: &Life, parcels: &[&Parcel]) -> (Curation, Vec<Vec<String>>) {
    let told = parcels.iter().map(|parcel| (Some(parcel.from), parcel.lines.iter().map(String::as_str).collect()));
    let brought: Vec<(_, Vec<&str>)> = told.collect();
    let (answer, came) = admit(grimoire, life, &brought, How::Clade);
    let rest = parcels.iter().zip(came).map(|(parcel, came)| {
        let late =
            parcel.lines.iter().zip(came).filter(|(_, came)| matches!(came, Err(Turned::TooMany | Turned::TooSoon)));
        late.map(|(line, _)| line.clone()).collect()
    });
    (answer, rest.collect())
}

fn admit(
    grimoire: &mut Grimoire,
    life: &Life,
    parcels: &[(Option<GolemId>, Vec<&str>)],
    how: How,
) -> (Curation, Vec<Vec<Result<(), Turned>>>) {
    let mut answer = round::round(grimoire, life);
    let mut intake = life.knowing().intake.clone();
    // Siblings of which nothing more is let in: only their warnings are still read.
    let mut full = BTreeSet::new();
    let mut take = |bringer: Option<GolemId>, text: &str| {
        if bringer.is_some_and(|bringer| full.contains(&bringer)) && !text.contains(WARNS) {
            return Err(Turned::TooMany);
        }
        let line = bundle::read(text).map_err(Turned::Unreadable)?;
        if answer.decisions.len() + SOURCES >= DECISIONS {
            return Err(Turned::TooMany);
        }
        let decisions = match bringer {
            Some(bringer) => grimoire.ingest_from(bringer, &line, how, life, &mut intake),
            None => grimoire.ingest(&line, how, life, &mut intake),
        };
        if decisions == Err(Turned::TooMany) && line.kind != Kind::Warning {
            full.extend(bringer);
        }
        let decisions = decisions?;
        decisions.iter().for_each(|decision| grimoire.apply(decision));
        answer.decisions.extend(decisions);
        Ok(())
    };
    let told = parcels.iter().map(|(bringer, lines)| lines.iter().map(|line| take(*bringer, line)).collect()).collect();
    answer.taken = life.knowing().intake.grown_to(&intake);
    (answer, told)
}

/// The rules in an estate, with what is left of their sender's confidence.
fn expectations(lines: &[&str], life: &Life) -> Vec<EstateRule> {
    let read = lines.iter().filter_map(|line| bundle::read(line).ok());
    read.filter_map(|line| {
        let (rule, _) = line.meaning(&life.birth().world).ok()?;
        let rule = rule.filter(|rule| plausible(rule.domain, rule.effect, life).is_ok())?;
        let sender = if line.confidence.is_finite() { line.confidence } else { 0.0 };
        Some(EstateRule {
            heuristic: line.kind == Kind::Heuristic,
            trusted: inherited(How::Inherited, sender, 1, false),
            rule,
            shown: line.shown.filter(Shown::is_sound),
        })
    })
    .collect()
}

/// Takes in rules that the owner wrote. They are tried like all others, and only the golem's own claims decide.
pub fn proposed(grimoire: &mut Grimoire, life: &Life, rules: impl IntoIterator<Item = Parsed>) -> Curation {
    let mut answer = round::round(grimoire, life);
    for rule in rules {
        let claim = Expectation { domain: rule.domain, effect: rule.effect, stance: rule.stance };
        let text = words(&rule.condition, &claim, rule.blend.as_ref(), life);
        let mut entry = draft(Kind::Heuristic, &text, source(life, How::Owner), life.now());
        (entry.condition, entry.claim, entry.domain) = (Some(rule.condition), Some(claim), Some(rule.domain));
        entry.blend = rule.blend;
        (entry.status, entry.initial) = (Status::Candidate, OWNER);
        if !grimoire.knows(&entry) && answer.decisions.len() < DECISIONS {
            entry.id = grimoire.next_id();
            let decision = Decision::Put(Box::new(entry));
            grimoire.apply(&decision);
            answer.decisions.push(decision);
        }
    }
    answer
}

/// Adds one more source to an entry that is known already.
fn also(known: &Entry, source: Source) -> Result<Vec<Decision>, Turned> {
    let mut known = known.clone();
    if known.provenance.sources.contains(&source) || known.provenance.sources.len() >= SOURCES {
        return Err(Turned::Known);
    }
    known.provenance.sources.push(source);
    Ok(vec![Decision::Put(Box::new(known))])
}

fn is_agents(entry: &Entry) -> bool {
    entry.status == Status::Candidate && entry.provenance.sources.iter().all(|source| source.how == How::Agent)
}

/// True for an entry in the line for generations and still believed: what was learned becomes innate.
fn innate(line: &BundleLine, life: &Life) -> bool {
    let first = line.provenance.sources.iter().map(|source| source.generation).min();
    let old = first.is_some_and(|first| life.birth().generation >= first + BALDWIN.0);
    old && line.confidence >= BALDWIN.1
}

fn plausible(domain: u8, effect: f64, life: &Life) -> Result<(), Turned> {
    let kind = life.birth().world.domains[usize::from(domain)].kind;
    let (least, most) = if kind == DomainKind::Direction { CHANCES } else { FACTORS };
    if effect != neutral(kind) && !(least..=most).contains(&effect) {
        return Err(Turned::Anomalous(format!(
            "nothing here is expected to be {effect} times what it was, or as sure"
        )));
    }
    Ok(())
}

/// Refuses a threshold far from anything this golem has seen of the feature.
fn familiar(feature: usize, than: f64, life: &Life) -> Result<(), Turned> {
    let moves = &life.knowing().moves;
    let (Some(mean), Some(square)) = (moves.mean.get(feature), moves.square.get(feature)) else { return Ok(()) };
    let deviation = square.sqrt().max(mean.abs() * 0.01).max(f32::MIN_POSITIVE);
    let away = ((than as f32 - mean) / deviation).abs();
    if away <= STRANGE {
        return Ok(());
    }
    let name = &life.birth().world.features[feature];
    Err(Turned::Anomalous(format!("{name} has never been anywhere near {than} here")))
}

/// Long runs of letters and digits are addresses, keys or worse; words are not that long.
fn without_addresses(text: &str) -> String {
    let suspicious = |word: &str| {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = core.chars().filter(char::is_ascii_digit).count();
        let hexadecimal = core.starts_with("0x") && core.len() > 10;
        hexadecimal || (core.chars().count() >= 26 && digits >= 3) || core.contains("://")
    };
    text.split(' ').map(|word| if suspicious(word) { "[removed]" } else { word }).collect::<Vec<_>>().join(" ")
}
