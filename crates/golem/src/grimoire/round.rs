//! One round: what Life has learned since the last goes into the Grimoire, the Curator goes through it, and what fits
//! the present comes back to be used or tried. The host, which keeps the entries, runs it; the answer is an input.

use std::borrow::Cow;
use std::collections::BTreeMap;

use life::grimoire::{
    Decision, Entry, Expectation, How, Kind, Link, PASSED_ON, Shown, Source, Status, WATCHED, Watched,
};
use life::id::GolemId;
use life::regime::Regime;
use life::rule::text::Parsed;
use life::rule::{
    Comparison, Condition, Heuristic, Is, Mix, Provenance, Stance, neutral, room_for_blends, room_for_fragments,
    rounded, surely_pays,
};
use life::world::DomainKind;
use life::{Life, limits, phage};

use super::Grimoire;
use super::admission::{Candidate, draft};
use super::sameness::Gist;
use crate::inheritance::{Way, has_tried, may_leave};
use crate::stress::words::title as words_of;

/// Rounds between two choices of what to watch.
const REWATCH: u64 = 10;
/// Claims a heuristic must have been tried in to be worth an insight.
const INSIGHT_TRIED: f64 = 200.0;
/// Skill a heuristic must have shown to be worth an insight.
const INSIGHT_SKILL: f64 = 0.02;
/// Deviations at which a link is believed.
const LINK_SURE: f32 = 5.0;
/// Cases it takes to believe a link.
const LINK_CASES: f32 = 100.0;
/// Claims after which a domain without skill is a gap.
const GAP_TRIED: f64 = 200.0;
/// Claims after which a rule is taken for refuted.
const REFUTED_TRIED: f64 = 30.0;
/// Phages with another stop that must have ended before the stop is questioned.
const STOPS: u32 = 4;
/// Entries taken back into the playbook, or tried in its shadow, a round.
const BACK: usize = 2;
/// Entries that an heir takes back or tries, a round.
const HEIRS: usize = 8;
/// Heuristics that may be tried at once.
const SHADOWS: usize = 16;
/// Strength that a memory gains when it was called back and was right.
const HELPED: f64 = 1.0;
/// Weight of a night that replays an entry, beside a case that is lived.
const REPLAYED: f64 = 0.5;
/// Entries that go out in one word, and in an hour of its world.
const SHARED: usize = 40;
const SHARED_AN_HOUR: u32 = 100;
/// Decisions one round may come to.
pub const DECISIONS: usize = 512;

/// The answer of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curation {
    pub round: u64,
    pub decisions: Vec<Decision>,
    pub alive: u32,
    pub archived: u32,
    pub watch: Vec<Watched>,
    /// Heuristics for the playbook, by slot.
    pub adopt: Vec<(u8, Heuristic)>,
    /// Entries taken in, by the source they came from.
    pub taken: Vec<(GolemId, u32)>,
    /// Entries for its siblings, which are marked with the number of the word that they go out with.
    pub shares: u32,
}

/// Runs the round that is due. The Grimoire is as if the answer had already been written.
pub fn round(grimoire: &mut Grimoire, life: &Life) -> Curation {
    let mut answer = Curation { round: life.knowing().rounds + 1, ..Curation::default() };
    grimoire.reserve(life.heuristics_made());
    let mut learn = Learn { grimoire, life, decisions: Vec::new() };
    learn.playbook();
    learn.warnings();
    learn.dreamt();
    learn.phages();
    learn.refuted();
    learn.wondered();
    if life.knowing().rounds.is_multiple_of(life.phase().behaviour().mode.distils_every()) {
        learn.insight();
        learn.link();
        learn.question();
        learn.lived_through();
    }
    let rewatch = life.knowing().rounds.is_multiple_of(REWATCH);
    if rewatch {
        learn.watched();
    }
    answer.decisions = learn.decisions;
    let source = source(life, How::Observed);
    let held = |id: u64| life.playbook().iter().any(|heuristic| heuristic.id == id);
    let curated = grimoire.curate(&life.birth().world, life.regimes().now, source, life.now(), held);
    (answer.alive, answer.archived) = (curated.alive, curated.archived);
    for decision in curated.decisions {
        grimoire.apply(&decision);
        answer.decisions.push(decision);
    }
    answer.adopt = come_back(grimoire, life);
    for (_, heuristic) in &answer.adopt {
        if let Some(mut entry) = grimoire.get(heuristic.id).cloned() {
            entry.retrievals += 1;
            let decision = Decision::Put(Box::new(entry));
            grimoire.apply(&decision);
            answer.decisions.push(decision);
        }
    }
    answer.shares = share(grimoire, life, &mut answer.decisions);
    answer.decisions.truncate(DECISIONS);
    answer.watch = if rewatch { watch(grimoire, life) } else { life.knowing().watched.clone() };
    answer
}

/// Entries for its siblings: what passes the gate of its phase and was not told before, warnings first, then the surest.
fn share(grimoire: &mut Grimoire, life: &Life, decisions: &mut Vec<Decision>) -> u32 {
    let room = DECISIONS.saturating_sub(decisions.len()).min(SHARED);
    if !life.constitution().clade.share || life.is_dead() || room == 0 {
        return 0;
    }
    let may = |entry: &Cow<'_, Entry>| {
        entry.provenance.hops < PASSED_ON
            && matches!(entry.status, Status::Active | Status::Dormant)
            && has_tried(entry, life)
            && may_leave(entry, life, Way::Clade)
    };
    // What a heuristic at work has learned is Life's; instincts are not told, since every golem is born with them.
    let innate = |entry: &Entry| entry.provenance.sources.iter().all(|source| source.how == How::Instinct);
    let at_work = |id: u64| life.playbook().iter().find(|heuristic| heuristic.id == id);
    let untold = grimoire.entries().filter(|entry| entry.shared.is_none() && !innate(entry));
    let now = untold.map(|entry| match at_work(entry.id) {
        Some(heuristic) => Cow::Owned(shown_in(heuristic, entry.clone(), life)),
        None => Cow::Borrowed(entry),
    });
    let mut ripe: Vec<Cow<'_, Entry>> = now.filter(may).collect();
    let urgent = |entry: &Entry| entry.kind == Kind::Warning;
    ripe.sort_by(|a, b| {
        let surer = b.confidence(life.now()).total_cmp(&a.confidence(life.now()));
        urgent(b).cmp(&urgent(a)).then(surer).then(a.id.cmp(&b.id))
    });
    let warnings = ripe.iter().filter(|entry| urgent(entry)).count();
    let left = SHARED_AN_HOUR.saturating_sub(life.clade().shared_at(life.now())) as usize;
    ripe.truncate(room.min(warnings + left));
    let number = life.clade().told + 1;
    // Most heuristics at work are not ripe; only those told are put into words.
    let told = ripe.into_iter().map(|entry| match entry {
        Cow::Owned(at_work) => worded(at_work, life),
        Cow::Borrowed(known) => known.clone(),
    });
    let told: Vec<Decision> =
        told.map(|entry| Decision::Put(Box::new(Entry { shared: Some(number), ..entry }))).collect();
    let shares = told.len() as u32;
    told.iter().for_each(|decision| grimoire.apply(decision));
    decisions.extend(told);
    shares
}

struct Learn<'a> {
    grimoire: &'a mut Grimoire,
    life: &'a Life,
    decisions: Vec<Decision>,
}

impl Learn<'_> {
    fn put(&mut self, entry: Entry) {
        if self.grimoire.get(entry.id) != Some(&entry) {
            self.keep(Decision::Put(Box::new(entry)));
        }
    }

    fn keep(&mut self, decision: Decision) {
        self.grimoire.apply(&decision);
        self.decisions.push(decision);
    }

    fn admit(&mut self, candidate: Candidate) {
        for decision in self.grimoire.admit(candidate, &self.life.birth().world, self.life.now()) {
            self.keep(decision);
        }
    }

    /// Writes down heuristics that came or went; what they learn in between is Life's.
    fn playbook(&mut self) {
        for heuristic in self.life.playbook() {
            if self.grimoire.get(heuristic.id).is_none() {
                self.put(entry_of(heuristic, self.life, self.grimoire.get(heuristic.id)));
            }
        }
        for heuristic in &self.life.knowing().shelf {
            let mut entry = entry_of(heuristic, self.life, self.grimoire.get(heuristic.id));
            let elsewhere = entry.regime.is_some_and(|regime| regime != self.life.regimes().now);
            entry.status = if elsewhere && heuristic.skill() > 0.0 { Status::Dormant } else { Status::Archived };
            if heuristic.provenance == Provenance::Recalled && heuristic.skill() > 0.0 {
                entry.strength += HELPED;
            }
            self.put(entry);
        }
    }

    /// Updates watched entries that were seen to hold or fail.
    fn watched(&mut self) {
        for watched in &self.life.knowing().watched {
            if let Some(entry) = self.grimoire.get(watched.id)
                && watched.held + watched.failed > 0.0
            {
                let mut next =
                    entry.checked(true, watched.held, self.life.now()).checked(false, watched.failed, self.life.now());
                // Agreement with what just happened strengthens a memory; that is all it does.
                next.strength += 0.1 * watched.held;
                self.put(next);
            }
        }
    }

    /// Makes a warning of each loss, from its two most unusual features just before.
    fn warnings(&mut self) {
        let Some(domain) = self.direction() else { return };
        for scar in &self.life.knowing().scars {
            let moves = &self.life.knowing().moves;
            let mut unusual: Vec<usize> = (0..scar.len()).collect();
            unusual.sort_by(|a, b| moves.away(scar, *b).abs().total_cmp(&moves.away(scar, *a).abs()).then(a.cmp(b)));
            let comparison = |feature: &usize| {
                let above = moves.away(scar, *feature) > 0.0;
                let half_way = f64::from(scar[*feature] + moves.mean[*feature]) / 2.0;
                let than = rounded(half_way, 2);
                Comparison { feature: *feature as u8, is: if above { Is::Above } else { Is::Below }, than }
            };
            let condition = Condition(unusual.iter().take(2).map(comparison).collect());
            let claim = Expectation { domain, effect: 0.4, stance: Stance::Reduce };
            let text = format!("what was held fell to its stop: {}", self.words(&condition, &claim));
            let mut entry = draft(Kind::Warning, &text, source(self.life, How::Observed), self.life.now());
            (entry.condition, entry.claim, entry.domain) = (Some(condition), Some(claim), Some(domain));
            entry.regime = Some(self.life.regimes().now);
            self.admit(Candidate { entry, seen_for: 1.0, seen_against: 0.0, single: true });
        }
    }

    /// Takes in the last night: the threat it rehearsed is a warning, to be tried like any other; and heuristics that
    /// it tested on the newest cases fade more slowly, or no more slowly than others.
    fn dreamt(&mut self) {
        let life = self.life;
        if let (Some(domain), Some(rehearsed)) = (self.direction(), &life.dreams().rehearsed) {
            let claim = Expectation { domain, effect: 0.4, stance: Stance::Reduce };
            let text = format!("{}: {}", self.words(&rehearsed.omen, &claim), rehearsed.words(life.policy()));
            let mut entry = draft(Kind::Warning, &text, source(life, How::Dreamt), life.now());
            (entry.condition, entry.claim, entry.domain) = (Some(rehearsed.omen.clone()), Some(claim), Some(domain));
            (entry.initial, entry.status) = (life.constitution().dream.insight, Status::Candidate);
            let (held, failed) = life.dreams().omen;
            // Another threshold is not another warning.
            let world = &life.birth().world;
            let told = |old: &Entry| Gist::of(old, world) == Gist::of(&entry, world);
            let told = life.laws().omens > 0 && self.grimoire.in_use().any(told);
            if !told && !self.grimoire.knows(&entry) {
                let (seen_for, seen_against) = (f64::from(held), f64::from(failed));
                self.admit(Candidate { entry, seen_for, seen_against, single: true });
            }
        }
        for (id, held) in &life.dreams().judged {
            let Some(entry) = self.grimoire.get(*id) else { continue };
            let same: Vec<Entry> = std::iter::once(entry)
                .chain(self.grimoire.about_the_same(entry).filter(|other| other.kind == Kind::Insight))
                .filter(|entry| entry.dream_validated != *held && entry.status != Status::Archived)
                .cloned()
                .collect();
            for mut entry in same {
                entry.dream_validated = *held;
                let seen = if *held { &mut entry.evidence_for } else { &mut entry.evidence_against };
                *seen += REPLAYED;
                self.put(entry);
            }
        }
    }

    /// Counts phages as evidence: a rule whose phage fared worse has stood, one whose phage fared better has not. Fifty
    /// ticks count for half a case.
    fn phages(&mut self) {
        for (id, stood) in &self.life.phages().stood {
            if let Some(entry) = self.grimoire.get(*id).filter(|entry| entry.status != Status::Archived) {
                self.put(entry.checked(*stood, REPLAYED, self.life.now()));
            }
        }
    }

    /// Makes a warning of a stressor that pressed hard and has passed, for when it comes near again, heirs included.
    fn lived_through(&mut self) {
        let life = self.life;
        for past in life.stress().past.iter().filter(|past| past.peak > life.laws().scar && !past.suspended) {
            let text = format!("{} once weighed heavily here, and passed", words_of(life, past.kind, past.domain));
            let mut entry = draft(Kind::Warning, &text, source(life, How::Observed), life.now());
            entry.domain = past.domain;
            if !self.grimoire.knows(&entry) {
                self.admit(Candidate { entry, seen_for: 1.0, seen_against: 0.0, single: true });
            }
        }
    }

    /// Makes an insight of the best heuristic that is not one yet.
    fn insight(&mut self) {
        let life = self.life;
        let worth =
            |h: &&Heuristic| h.voice && h.blend.is_none() && h.weight >= INSIGHT_TRIED && h.skill() >= INSIGHT_SKILL;
        let mut best: Vec<&Heuristic> = life.playbook().iter().filter(worth).collect();
        best.sort_by(|a, b| b.skill().total_cmp(&a.skill()).then(a.id.cmp(&b.id)));
        for heuristic in best {
            let kind = life.birth().world.domains[usize::from(heuristic.domain)].kind;
            // Coarse enough that a slightly better estimate is not another insight.
            let steps = if kind == DomainKind::Direction { 20.0 } else { 10.0 };
            let effect = (heuristic.effect * steps).round() / steps;
            if effect == neutral(kind) {
                continue;
            }
            let claim = Expectation { domain: heuristic.domain, effect, stance: Stance::Watch };
            let mut entry = draft(Kind::Insight, "", source(life, How::Observed), life.now());
            (entry.condition, entry.claim) = (Some(heuristic.condition.clone()), Some(claim));
            (entry.domain, entry.regime) = (Some(heuristic.domain), regime_of(heuristic));
            // Admitted once; from then on it is checked like any other entry.
            if !self.grimoire.knows(&entry) {
                entry.text = self.words(&heuristic.condition, &claim);
                self.supersede(&entry);
                self.admit(Candidate { entry, seen_for: 10.0, seen_against: 0.0, single: false });
                return;
            }
        }
    }

    /// Replaces an earlier insight of its own about the very same by what the heuristic expects by now.
    fn supersede(&mut self, entry: &Entry) {
        let earlier: Vec<Entry> = self.grimoire.about_the_same(entry).cloned().collect();
        for mut old in earlier {
            if old.kind == Kind::Insight
                && old.status != Status::Archived
                && old.provenance.sources == entry.provenance.sources
            {
                old.status = Status::Archived;
                self.keep(Decision::Put(Box::new(old)));
            }
        }
    }

    /// Links the surest pair of features not yet linked, and updates the links there are.
    fn link(&mut self) {
        let moves = &self.life.knowing().moves;
        let n = moves.last.len();
        let sure = |at: usize| {
            let (seen, same) = moves.pairs[at];
            if seen < LINK_CASES { 0.0 } else { (same / seen - 0.5) * 2.0 * seen.sqrt() }
        };
        let mut pairs: Vec<usize> = (0..n * n).filter(|at| at / n != at % n && sure(*at).abs() >= LINK_SURE).collect();
        pairs.sort_by(|a, b| sure(*b).abs().total_cmp(&sure(*a).abs()).then(a.cmp(b)));
        for at in pairs {
            let link = Link { cause: (at / n) as u8, effect: (at % n) as u8, same_way: sure(at) > 0.0 };
            if self.grimoire.knows_link(link) {
                continue;
            }
            let name = |feature: u8| self.life.birth().world.features[usize::from(feature)].as_str();
            let way = if link.same_way { "rise" } else { "fall" };
            let text = format!("when {} is high, {} tends to {way} soon", name(link.cause), name(link.effect));
            let mut entry = draft(Kind::CausalLink, &text, source(self.life, How::Observed), self.life.now());
            entry.link = Some(link);
            self.admit(Candidate { entry, seen_for: 10.0, seen_against: 0.0, single: false });
            return;
        }
    }

    /// Asks about gaps: a regime hardly met, a domain in which nothing known does better than naive, a stop that phages
    /// did better without.
    fn question(&mut self) {
        let life = self.life;
        if (1..20).contains(&life.regimes().met()) && life.regimes().now != Regime::Usual {
            let text = format!("what holds while the world is {}? it was met for a few ticks only", life.regimes().now);
            self.ask(&text, None);
        }
        for (at, spec) in life.birth().world.domains.iter().enumerate() {
            let domain = &life.epistemic().domains[at];
            if domain.weight >= GAP_TRIED && domain.skill() < life.laws().echo {
                let text = format!("what foretells {}? nothing known here does better than naive", spec.name);
                self.ask(&text, Some(at as u8));
            }
        }
        let [better, worse, _] = life.phages().ends[phage::Kind::Stop as usize];
        if better + worse >= STOPS && better > worse {
            self.ask("would another stop do better? it did for most phages that tried one", None);
        }
    }

    /// Asks about rules that came with good reasons and were refuted.
    fn refuted(&mut self) {
        let reasoned = |h: &&Heuristic| {
            matches!(h.provenance, Provenance::Recalled | Provenance::Dreamt | Provenance::Phage | Provenance::Thought)
        };
        let life = self.life;
        for heuristic in life.knowing().shelf.iter().filter(reasoned) {
            if heuristic.weight >= REFUTED_TRIED && heuristic.skill() < -life.laws().echo {
                let claim =
                    Expectation { domain: heuristic.domain, effect: heuristic.expects(), stance: heuristic.stance };
                let rule = words(&heuristic.condition, &claim, Parsed::from(heuristic).blend.as_ref(), life);
                self.ask(&format!("why does this not hold: {rule}?"), Some(heuristic.domain));
            }
        }
    }

    /// Keeps the questions that models have raised, each about the first domain that it names.
    fn wondered(&mut self) {
        let life = self.life;
        for text in &life.thoughts().questions {
            let names = |name: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
            let domain = life.birth().world.domains.iter().position(|spec| names(&spec.name));
            self.question_of(How::Thought, text, domain.map(|at| at as u8));
        }
    }

    fn ask(&mut self, text: &str, domain: Option<u8>) {
        self.question_of(How::Observed, text, domain);
    }

    fn question_of(&mut self, how: How, text: &str, domain: Option<u8>) {
        let mut entry = draft(Kind::Question, text, source(self.life, how), self.life.now());
        entry.domain = domain;
        self.admit(Candidate { entry, seen_for: 0.0, seen_against: 0.0, single: false });
    }

    fn direction(&self) -> Option<u8> {
        let domains = &self.life.birth().world.domains;
        domains.iter().position(|spec| spec.kind == DomainKind::Direction).map(|at| at as u8)
    }

    fn words(&self, condition: &Condition, claim: &Expectation) -> String {
        words(condition, claim, None, self.life)
    }
}

/// A condition and a claim in the words of the world.
pub(super) fn words(condition: &Condition, claim: &Expectation, blend: Option<&Mix>, life: &Life) -> String {
    let Expectation { domain, effect, stance } = *claim;
    let parsed = Parsed { condition: condition.clone(), domain, effect, blend: blend.cloned(), stance };
    parsed.print(&life.birth().world).unwrap_or_else(|e| format!("cannot be said: {e}"))
}

pub(crate) fn source(life: &Life, how: How) -> Source {
    Source { golem: life.id(), generation: life.birth().generation, how }
}

/// The regime in which a heuristic was mostly tried, if there is one.
fn regime_of(heuristic: &Heuristic) -> Option<Regime> {
    let all: f64 = heuristic.tried_in.iter().sum();
    let regimes = [Regime::Calm, Regime::Usual, Regime::Unsettled];
    regimes.into_iter().find(|regime| all >= 30.0 && heuristic.tried_in[*regime as usize] > 0.8 * all)
}

/// A heuristic as an entry; fields that only the entry has stay.
pub fn entry_of(heuristic: &Heuristic, life: &Life, known: Option<&Entry>) -> Entry {
    let how = match heuristic.provenance {
        Provenance::Instinct => How::Instinct,
        Provenance::Explored => How::Explored,
        Provenance::Recalled => How::Observed,
        Provenance::Dreamt => How::Dreamt,
        Provenance::Phage => How::Replicant,
        Provenance::Thought => How::Thought,
    };
    let kind = if heuristic.fragment().is_some() { Kind::StrategyFragment } else { Kind::Heuristic };
    let entry = known.cloned().unwrap_or_else(|| {
        let new = draft(kind, "", source(life, how), life.now());
        let initial = if how == How::Replicant { life.laws().of_phages } else { new.initial };
        Entry { initial, ..new }
    });
    worded(shown_in(heuristic, entry, life), life)
}

/// An entry that is a heuristic or a fragment says in the words of the world what it claims; any other keeps its own.
fn worded(entry: Entry, life: &Life) -> Entry {
    let said = matches!(entry.kind, Kind::Heuristic | Kind::StrategyFragment);
    let (true, Some(condition), Some(claim)) = (said, &entry.condition, &entry.claim) else {
        return entry;
    };
    let text = super::admission::clip(&words(condition, claim, entry.blend.as_ref(), life));
    Entry { text, ..entry }
}

/// An entry as a new heuristic: with its expectation, a share of what it has shown, and the rest still to show.
fn heuristic_of(entry: &Entry, life: &Life, voice: bool) -> Option<Heuristic> {
    let (condition, claim) = (entry.condition.clone()?, entry.claim?);
    let kind = life.birth().world.domains.get(usize::from(claim.domain))?.kind;
    let provenance = Provenance::Recalled;
    let stance = claim.stance.under(life.laws());
    let mut heuristic = Heuristic::new(entry.id, condition, claim.domain, kind, stance, provenance, life.tick());
    // A fragment speaks by what it has paid, and not in claims.
    (heuristic.effect, heuristic.voice) = (claim.effect, voice && heuristic.fragment().is_none());
    Some(having_shown(heuristic, entry.shown, life).of(entry.blend.as_ref()))
}

/// Heuristics for free slots: entries that fit the regime again, and entries that wait to be tried.
fn come_back(grimoire: &Grimoire, life: &Life) -> Vec<(u8, Heuristic)> {
    let here = |id: u64| life.playbook().iter().any(|heuristic| heuristic.id == id);
    let shadows = life.playbook().iter().filter(|h| !h.voice && h.fragment().is_none()).count();
    let wakes = |entry: &&Entry| {
        matches!(entry.kind, Kind::Heuristic | Kind::StrategyFragment)
            && entry.status == Status::Active
            && entry.confidence(life.now()) >= 0.3
    };
    let here_and_now = |entry: &Entry| entry.regime.is_none_or(|regime| regime == life.regimes().now);
    let tried = |entry: &&Entry| entry.claim.is_some() && entry.status == Status::Candidate && here_and_now(entry);
    let waking = grimoire.in_use().filter(wakes).map(|entry| (entry, true));
    // An heir has much to try and little else to go by.
    let at_once = if life.birth().generation > 0 { HEIRS } else { BACK };
    let at_once = if life.phase().behaviour().mode.tries() { at_once } else { 0 };
    let room = SHADOWS.saturating_sub(shadows).min(at_once);
    let mut blends = room_for_blends(life);
    let mut fragments = room_for_fragments(life);
    let mut fits = |entry: &Entry| {
        if entry.claim.is_some_and(|claim| matches!(claim.stance, Stance::Fragment(_))) && life.laws().fragments > 0 {
            let fits = fragments > 0;
            fragments -= usize::from(fits);
            return fits;
        }
        let fits = entry.blend.is_none() || blends > 0;
        blends -= usize::from(entry.blend.is_some() && fits);
        fits
    };
    let mut queue: Vec<&Entry> = grimoire.in_use().filter(tried).filter(|entry| !here(entry.id)).collect();
    let futile = futile(grimoire);
    // Siblings that have brought the fewest useless entries come first.
    queue.sort_by_key(|entry| entry.provenance.brought.map_or(0, |bringer| futile[&bringer]));
    let trying = queue.into_iter().take(room).map(|entry| (entry, false));
    let free = life.playbook().len()..limits::HEURISTICS;
    let chosen = waking.filter(|(entry, _)| !here(entry.id)).take(BACK).chain(trying);
    chosen
        .filter(|(entry, _)| fits(entry))
        .filter_map(|(entry, voice)| heuristic_of(entry, life, voice))
        .zip(free)
        .map(|(h, slot)| (slot as u8, h))
        .collect()
}

/// Entries of each sibling that have no say, or no longer.
fn futile(grimoire: &Grimoire) -> BTreeMap<GolemId, usize> {
    let mut futile = BTreeMap::new();
    for entry in grimoire.entries() {
        if let Some(bringer) = entry.provenance.brought {
            *futile.entry(bringer).or_default() += usize::from(entry.status != Status::Active);
        }
    }
    futile
}

/// A rule in an estate.
pub(super) struct EstateRule {
    /// True for a heuristic, whose expectation is more exact than an insight's.
    pub heuristic: bool,
    pub trusted: f64,
    pub rule: Parsed,
    pub shown: Option<Shown>,
}

/// The heuristic's entry, updated with its record by now, except for the words.
fn shown_in(heuristic: &Heuristic, mut entry: Entry, life: &Life) -> Entry {
    entry.id = heuristic.id;
    // Dreamt, and borne out awake.
    if heuristic.provenance == Provenance::Dreamt {
        entry.dream_validated = heuristic.voice;
    }
    let claim = Expectation { domain: heuristic.domain, effect: heuristic.expects(), stance: heuristic.stance };
    (entry.condition, entry.claim) = (Some(heuristic.condition.clone()), Some(claim));
    entry.blend = Parsed::from(heuristic).blend;
    (entry.domain, entry.regime) = (Some(heuristic.domain), regime_of(heuristic));
    entry.status = if heuristic.voice { Status::Active } else { Status::Candidate };
    if heuristic.fragment().is_some() {
        return paid_in(heuristic, entry, life);
    }
    // As many cases as count, in the proportion in which it did better and worse than naive.
    let all = f64::from(heuristic.evidence_for) + f64::from(heuristic.evidence_against);
    let share = if all > 0.0 { f64::from(heuristic.evidence_for) / all } else { 0.0 };
    (entry.evidence_for, entry.evidence_against) = (all.min(20.0) * share, all.min(20.0) * (1.0 - share));
    if all > 0.0 {
        entry.validated_at = life.now();
    }
    let Heuristic { weight: claims, error, naive_error, .. } = *heuristic;
    entry.shown = (claims > 0.0).then_some(Shown { claims, error, naive_error });
    entry
}

/// The entry of a fragment, updated with what it has paid: a case is a sample.
fn paid_in(heuristic: &Heuristic, mut entry: Entry, life: &Life) -> Entry {
    let paid = &heuristic.paid;
    entry.status = if surely_pays(life, heuristic) { Status::Active } else { Status::Candidate };
    let cases = paid.samples.min(20.0);
    (entry.evidence_for, entry.evidence_against) = (cases * paid.hits(), cases * (1.0 - paid.hits()));
    if paid.samples > 0.0 {
        entry.validated_at = life.now();
    }
    entry
}

/// The heuristic with as much of its line's record as crosses a death.
fn having_shown(heuristic: Heuristic, shown: Option<Shown>, life: &Life) -> Heuristic {
    let Some(shown) = shown else { return heuristic };
    let Shown { claims, error, naive_error } = shown.times(life.constitution().succession.evidence);
    Heuristic { weight: claims, error, naive_error, ..heuristic }
}

/// Starts untried instincts where the golem's line left off, as far as that is trusted: with its expectation, and a
/// share of the evidence. Only at birth: a golem that has begun to live has experience of its own.
pub(super) fn recollect(left: &[EstateRule], life: &Life) -> Vec<(u8, Heuristic)> {
    let born_with = |h: &Heuristic| life.tick() == 0 && h.provenance == Provenance::Instinct && h.weight == 0.0;
    let untried = life.playbook().iter().enumerate().filter(|(_, h)| born_with(h));
    untried
        .filter_map(|(slot, h)| {
            let own = Parsed::from(h);
            let same = left.iter().filter(|left| left.rule.is_about_the_same(&own));
            let EstateRule { rule, trusted, shown, .. } =
                same.max_by(|a, b| a.heuristic.cmp(&b.heuristic).then(a.trusted.total_cmp(&b.trusted)))?;
            let nothing = neutral(life.birth().world.domains[usize::from(h.domain)].kind);
            let effect = nothing + (rule.effect - nothing) * trusted.clamp(0.0, 1.0);
            let heuristic = having_shown(Heuristic { effect, ..h.clone() }, *shown, life);
            // Numbers cross as they are, with how sure they are: what failed does not cross at all.
            let Some((own, left)) = heuristic.blend.as_ref().zip(rule.blend.as_ref()) else {
                return Some((slot as u8, heuristic));
            };
            let mix = Mix { sure: left.sure.max(own.mix().sure), ..left.clone() };
            let held = shown.is_some_and(|shown| shown.error < shown.naive_error);
            held.then(|| (slot as u8, Heuristic { effect: rule.effect, ..heuristic }.of(Some(&mix))))
        })
        .collect()
}

/// Entries to watch: half of them the most asked for, half the longest unchecked.
fn watch(grimoire: &Grimoire, life: &Life) -> Vec<Watched> {
    let checkable = |entry: &&Entry| {
        entry.claim.is_some()
            && entry.blend.is_none()
            && entry.kind != Kind::Heuristic
            && entry.status == Status::Active
    };
    let mut by_use: Vec<&Entry> = grimoire.in_use().filter(checkable).collect();
    let mut by_age = by_use.clone();
    by_use.sort_by(|a, b| b.retrievals.cmp(&a.retrievals).then(a.id.cmp(&b.id)));
    by_age.sort_by(|a, b| a.validated_at.cmp(&b.validated_at).then(a.id.cmp(&b.id)));
    let mut chosen: Vec<&Entry> = by_use.into_iter().take(WATCHED / 2).collect();
    for entry in by_age {
        if chosen.len() < WATCHED && !chosen.iter().any(|known| known.id == entry.id) {
            chosen.push(entry);
        }
    }
    let watched = |entry: &Entry| {
        let (condition, claim) = (entry.condition.clone().unwrap_or_default(), entry.claim?);
        (usize::from(claim.domain) < life.birth().world.domains.len()).then_some(Watched {
            id: entry.id,
            condition,
            claim,
            held: 0.0,
            failed: 0.0,
            sure: entry.confidence(life.now()),
        })
    };
    chosen.into_iter().filter_map(watched).collect()
}
