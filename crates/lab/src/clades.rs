//! Siblings that tell each other what they find out, beside the same golems that do not; and siblings that lie.
//!
//! A group is so many golems, each in a world of its own, who live tick by tick in step and hear what was said in the tick
//! before. The same group in two arms has the same worlds and the same dice; the unit of comparison is a group.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use golem::clade::{News, Parcel};
use golem::constitution::Constitution;
use golem::grimoire::bundle::{BundleLine, VERSION};
use golem::grimoire::{Class, Entry, How, Kind, Provenance, Source, Status};
use golem::world::DomainKind;
use golem::{Birth, Endowment};
use golem::{Golem, GolemId, Life, Usdc, What, laws};
use settings::chance::{Secret, identity};
use world::{Ledger, Spec};

use crate::lives::Error;
use crate::rehearsal::Rehearsal;
use crate::skill::{Errors, Listener};

/// Everything a run of groups depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    pub groups: u64,
    pub seed: u64,
    /// The world of each sibling, whose seed is its group's and its own.
    pub siblings: Vec<Spec>,
    /// All siblings of a group see one path instead of each its own.
    pub one_path: bool,
    pub constitution: Constitution,
    pub ticks: u64,
    /// Skill is noted for every so many ticks by itself.
    pub note_every: u64,
    pub liars: Liars,
}

/// False siblings: they see nothing and spread lies, as many as a golem would take in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Liars {
    pub number: u32,
    /// Whether all of them tell the same lies.
    pub together: bool,
}

/// Results of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Skill against naive of each sibling over all its claims.
    pub skills: Vec<f64>,
    /// Skill in each stretch between two notes, on average over siblings.
    pub lately: Vec<f64>,
    /// Skill in each stretch of the first sibling, and below of the last.
    pub first: Vec<f64>,
    pub last: Vec<f64>,
    /// Entries told, and entries that siblings have from each other and have seen hold.
    pub told: u64,
    pub held_up: u64,
    /// Lies told, taken in for trial, and believed after it.
    pub lies: u64,
    pub tried: u64,
    pub believed: u64,
    /// Lies that believers passed on, and below those that were believed at second hand.
    pub passed_on: u64,
    pub caught: u64,
    /// A lie had a say without evidence of the golem's own.
    pub untried: u64,
}

impl Group {
    /// The mean over siblings.
    pub fn skill(&self) -> f64 {
        self.skills.iter().sum::<f64>() / self.skills.len().max(1) as f64
    }
}

/// Runs them all on so many threads; `each` hears of every group that is over.
pub fn run(plan: &Groups, threads: usize, each: impl Fn() + Sync) -> Result<Vec<Group>, Error> {
    let next = AtomicU64::new(0);
    let work = || -> Result<Vec<(u64, Group)>, Error> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.groups {
                return Ok(done);
            }
            done.push((number, live(plan, number)?));
            each();
        }
    };
    let parts: Vec<Result<Vec<(u64, Group)>, Error>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|handle| handle.join().expect("a group does not panic")).collect()
    });
    let mut numbered: Vec<(u64, Group)> =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    numbered.sort_by_key(|(number, _)| *number);
    Ok(numbered.into_iter().map(|(_, group)| group).collect())
}

/// One sibling while it is lived.
struct Sibling {
    life: Rehearsal,
    claims: Listener,
    errors: Errors,
    lately: Errors,
}

fn live(plan: &Groups, number: u64) -> Result<Group, Error> {
    let seed = plan.seed.wrapping_mul(1_000_003).wrapping_add(number);
    let born = |(at, spec): (usize, &Spec)| sibling(plan, spec, seed, at as u64);
    let mut siblings: Vec<Sibling> = plan.siblings.iter().enumerate().map(born).collect::<Result<_, _>>()?;
    let mut group = Group::default();
    let mut liars = Lies::new(plan.liars, seed);
    for tick in 1..=plan.ticks {
        let mut said: Vec<Arc<Parcel>> = Vec::new();
        for sibling in &mut siblings {
            let Sibling { life, claims, errors, lately } = sibling;
            life.tick(&mut |record, life| {
                let mut more = Errors::default();
                claims.hear(record, life, &mut more);
                (*errors, *lately) = (errors.and(&more), lately.and(&more));
            })?;
            said.extend(life.said().into_iter().map(Arc::new));
        }
        group.told += said.iter().map(|parcel| parcel.lines.len() as u64).sum::<u64>();
        let lies = liars.tell(tick, siblings[0].life.life());
        group.lies += lies.iter().map(|parcel| parcel.lines.len() as u64).sum::<u64>();
        said.extend(lies);
        for sibling in siblings.iter_mut() {
            let own = sibling.life.life().id();
            said.iter().filter(|parcel| parcel.from != own).for_each(|parcel| sibling.life.tell(Arc::clone(parcel)));
        }
        if tick.is_multiple_of(plan.note_every.max(1)) {
            let noted: Vec<f64> =
                siblings.iter_mut().filter_map(|s| std::mem::take(&mut s.lately).skill(s.life.life())).collect();
            group.lately.push(noted.iter().sum::<f64>() / noted.len().max(1) as f64);
            group.first.extend(noted.first());
            group.last.extend(noted.last());
            siblings.iter().for_each(|sibling| liars.look(&sibling.life, &mut group));
        }
    }
    for sibling in &siblings {
        group.skills.extend(sibling.errors.skill(sibling.life.life()));
        liars.count(&sibling.life, &mut group);
    }
    Ok(group)
}

fn sibling(plan: &Groups, spec: &Spec, seed: u64, at: u64) -> Result<Sibling, Error> {
    let own = seed ^ (at + 1).rotate_left(40);
    let world = spec.clone().with_seed(if plan.one_path { seed } else { own }).open(Ledger::memory())?;
    let secret = Secret::from_seed(own, "sibling");
    let birth = Birth {
        id: identity(Some(own), "sibling"),
        name: "sibling".parse().expect("a plain name"),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: secret.hash(),
        seeded: true,
        constitution: plan.constitution.clone(),
        world: world.manifest(),
        endowment: Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let (golem, _) = Golem::born(birth, world.start());
    let peers = plan.siblings.len() as u32 - 1 + plan.liars.number;
    let mut life = Rehearsal::new(golem, world, secret).among(peers);
    let money = What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(100) };
    life.feed(money, &mut |_, _| {})?;
    Ok(Sibling { life, claims: Listener::default(), errors: Errors::default(), lately: Errors::default() })
}

/// Lies of one word, and ticks between two: 100 an hour of a world that is looked at every 40 seconds.
const LIES: usize = 50;
const EVERY: u64 = 45;

/// The liars of a group, and the source of their lies.
struct Lies {
    liars: Liars,
    ids: BTreeSet<GolemId>,
    seed: u64,
}

impl Lies {
    fn new(liars: Liars, seed: u64) -> Lies {
        let id = |n: u32| identity(Some(seed ^ u64::from(n).rotate_left(48)), "liar");
        Lies { liars, ids: (0..liars.number).map(id).collect(), seed }
    }

    /// Lies for this tick: rules that look like any golem's, about what the golems see, with high confidence.
    fn tell(&mut self, tick: u64, seen: &Life) -> Vec<Arc<Parcel>> {
        if !tick.is_multiple_of(EVERY) {
            return Vec::new();
        }
        let word = |(at, from): (usize, &GolemId)| {
            let voice = if self.liars.together { 0 } else { at as u64 + 1 };
            let mut state = self.seed ^ tick.rotate_left(20) ^ voice.rotate_left(52);
            let lines = (0..LIES).map(|_| lie(*from, &mut state, seen)).collect();
            let news = News::Knowledge { entries: LIES as u32 };
            Arc::new(Parcel { from: *from, number: tick / EVERY, news, lines, died: None })
        };
        self.ids.iter().enumerate().map(word).collect()
    }

    fn is_one(&self, entry: &Entry) -> bool {
        entry.provenance.sources.iter().all(|source| self.ids.contains(&source.golem) && source.how == How::Clade)
    }

    /// Whether a lie has a say that it has not earned here.
    fn look(&self, life: &Rehearsal, group: &mut Group) {
        if self.ids.is_empty() {
            return;
        }
        let believed = life.grimoire().entries().filter(|entry| self.is_one(entry) && entry.status == Status::Active);
        let unearned = |entry: &&Entry| entry.evidence_for <= 0.0 && entry.shown.is_none();
        group.untried += believed.filter(unearned).count() as u64;
    }

    fn count(&self, life: &Rehearsal, group: &mut Group) {
        for entry in life.grimoire().entries() {
            let foreign = entry.provenance.sources.iter().all(|source| source.how == How::Clade);
            if foreign && !self.is_one(entry) {
                group.held_up += u64::from(entry.status == Status::Active && entry.evidence_for > 0.0);
            } else if self.is_one(entry) {
                group.tried += 1;
                group.believed += u64::from(entry.status == Status::Active);
                group.passed_on += u64::from(entry.shared.is_some());
                let honest = entry.provenance.brought.is_some_and(|bringer| !self.ids.contains(&bringer));
                group.caught += u64::from(honest && entry.status == Status::Active);
            }
        }
    }
}

/// A rule about something the golems see, made up.
fn lie(from: GolemId, state: &mut u64, seen: &Life) -> String {
    let mut draw = |most: u64| {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most
    };
    let (world, moves) = (&seen.birth().world, &seen.knowing().moves);
    let feature = draw(world.features.len() as u64) as usize;
    let deviation = moves.square.get(feature).copied().unwrap_or(0.0).sqrt();
    let than = moves.mean.get(feature).copied().unwrap_or(0.0) + deviation * (draw(300) as f32 / 100.0 - 1.5);
    let above = if draw(2) == 0 { ">" } else { "<" };
    let domain = &world.domains[draw(world.domains.len() as u64) as usize];
    let expects = match domain.kind {
        DomainKind::Direction => format!("{}%", 10 + draw(81)),
        DomainKind::Value | DomainKind::Range => format!("x{:.2}", 0.3 + draw(250) as f64 / 100.0),
    };
    let rule = format!("when {} {above} {than} expect {} {expects}", world.features[feature], domain.name);
    let source = Source { golem: from, generation: 0, how: How::Observed };
    let line = BundleLine {
        bundle: VERSION,
        // Some of them cry wolf.
        kind: if draw(10) == 0 { Kind::Warning } else { Kind::Heuristic },
        text: rule.clone(),
        rule: Some(rule),
        link: None,
        shown: None,
        regime: None,
        class: Class::Tactical,
        confidence: 0.95,
        evidence_for: 500.0,
        evidence_against: 1.0,
        born: seen.now(),
        validated_at: seen.now(),
        bloodstain: false,
        provenance: Provenance { sources: vec![source], crossings: 0, hops: 0, brought: None },
    };
    serde_json::to_string(&line).expect("a line is plain data")
}
