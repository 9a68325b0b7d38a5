//! `lab lives`: so many whole lives, each on a path of its own, all from one plan.
//!
//! A plan and its number of lives give the same outcomes whatever the threads; only the clock on the wall
//! differs. Each life has a path and a secret of its own, both from the plan's seed: another seed of a simulated
//! world, another date to begin at in a replay. Lives of one replay share bars where they overlap.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use golem::constitution::Constitution;
use golem::event::Event;
use golem::goal::{self, Ended, Goal};
use golem::mortality::Senescence;
use golem::mortality::economic::reserve;
use golem::stress;
use golem::{Birth, Endowment, hex};
use golem::{Golem, Life, Time, Usdc, What, laws, limits};
use serde::{Deserialize, Serialize};
use settings::chance::{Secret, identity};
use sha2::{Digest, Sha256};
use world::{Candles, Ledger, Replay, ReplayConfig, Spec, World};

use crate::quantiles::Quantiles;
use crate::rehearsal::Rehearsal;
use crate::skill::{Errors, Listener};
use crate::tables::{Cell, Table};

/// Everything a run depends on: what it writes down so that it can be repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub version: u32,
    pub lives: u64,
    pub seed: u64,
    /// The world of the first life; the others differ only in their seed or their start.
    pub world: Spec,
    pub constitution: Constitution,
    pub credit: Usdc,
    pub capital: Usdc,
    /// No life is lived longer than this.
    pub most_ticks: u64,
    /// Fitness is noted every so many ticks.
    pub note_every: u64,
    /// Lives of a replay follow one another and share no bar, instead of beginning anywhere.
    #[serde(default)]
    pub disjoint: bool,
    /// Another golem on the same path, with ideas of its own: for arms that differ in nothing else.
    #[serde(default)]
    pub twin: u64,
    /// The laws they are born under; the newest, if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laws: Option<u16>,
    /// Lives in each line, where lines are run; a plan for single lives has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generations: Option<u64>,
    /// Ticks of the first life of a line, where it is not as long as those after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub founder: Option<u64>,
}

impl Plan {
    pub(crate) fn endowment(&self) -> Endowment {
        Endowment { credit: self.credit, capital: self.capital }
    }

    pub(crate) fn laws(&self) -> u16 {
        self.laws.unwrap_or(laws::NEWEST)
    }
}

/// Results of one life.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LifeOutcome {
    pub ending: String,
    pub ticks: u64,
    pub fitness: f64,
    /// Skill against naive over every claim of the life that came due; none where none did.
    pub skill: Option<f64>,
    /// Fitness as it went, noted every so many ticks.
    pub fitness_over_time: Vec<f64>,
    /// Skill against naive in each stretch between two notes by itself, over all domains by their weight.
    pub skill_lately: Vec<f64>,
    /// Errors in each of those stretches, and after the last of them, to be pooled over lives.
    #[serde(skip)]
    pub errors: Vec<Errors>,
    /// Whether it lost touch at some time in its life.
    pub senesced: bool,
    /// Skill against naive in each domain, at the end; none where too little was claimed.
    pub skills: BTreeMap<String, Option<f64>>,
    /// Actions that were carried out.
    pub actions: u64,
    /// Cost of the actions, in fees and in falling short of the price, as a share of capital; none where there was no capital
    /// or nothing to hold.
    pub trading_cost: Option<f64>,
    /// Return on the capital, as a share; none where `trading_cost` is.
    pub returned: Option<f64>,
    /// Return by simply holding, as a share; none where `trading_cost` is.
    pub held: Option<f64>,
    /// The deepest fall from the highest worth, as a share.
    pub drawdown: f64,
    /// The most goals of one domain that failed one after another.
    pub failures: u64,
    /// The load of stressors on average.
    pub load: f64,
    /// The share of its ticks in which load closed something.
    pub constrained: f64,
    pub nights: u64,
    /// Trials of what was dreamt that are over.
    pub tried: u64,
    /// Trials in which it was borne out.
    pub borne_out: u64,
    /// Money the dead still had beyond the reserve for dying, in micro-dollars.
    pub stranded: i64,
    /// How phages ended, by kind: better, worse, alike.
    pub phages: [[u32; 3]; 4],
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub lives: u64,
    pub deaths: BTreeMap<String, u64>,
    pub lifetime_ticks: Quantiles,
    pub fitness: Quantiles,
    pub fitness_over_time: Vec<Moment>,
    /// Lives that lost touch at some time.
    pub senesced: u64,
    /// Over every claim of a life.
    pub skill: Option<Quantiles>,
    /// By domain, at the end.
    pub skills: BTreeMap<String, Option<Quantiles>>,
    pub trading_costs: Option<Quantiles>,
    pub returns: Option<Quantiles>,
    pub returns_holding: Option<Quantiles>,
    pub returns_cash: f64,
    pub drawdowns: Quantiles,
    pub failures: Quantiles,
    pub loads: Quantiles,
    pub ticks: u64,
    pub seconds: f64,
    pub ticks_per_second: f64,
}

/// The fitness of all lives that came so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    pub tick: u64,
    pub lives: u64,
    #[serde(flatten)]
    pub fitness: Quantiles,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Life(#[from] crate::rehearsal::Error),
    #[error("{0}")]
    World(#[from] world::Error),
    #[error("{0} is not the data this plan was made for; bring the old file back or make a new plan")]
    Data(PathBuf),
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
    #[error("this data has room for {room} lives of {ticks} ticks that share no bar; ask for fewer or shorter ones")]
    Room { room: u64, ticks: u64 },
    #[error("this plan was written by another version ({0}); write a new one")]
    Version(u32),
    #[error("there is no life in this plan; ask for one at least")]
    NoLives,
    #[error("this is a plan for {0}; repeat it with `bardo lab {0} --plan`")]
    Other(&'static str),
}

impl Plan {
    pub(crate) fn check(&self, lines: bool) -> Result<(), Error> {
        if self.version != PLAN {
            Err(Error::Version(self.version))
        } else if self.lives == 0 {
            Err(Error::NoLives)
        } else if self.generations.is_some() && !lines {
            Err(Error::Other("lineages"))
        } else if self.generations.is_none() && lines {
            Err(Error::Other("lives"))
        } else {
            Ok(())
        }
    }
}

/// The version of plans this program writes and repeats.
pub const PLAN: u32 = 3;

/// Lives them all on so many threads; `each` hears of every life that is over.
pub fn run(
    plan: &Plan,
    threads: usize,
    each: impl Fn(&LifeOutcome) + Sync,
) -> Result<(Summary, Vec<LifeOutcome>), Error> {
    plan.check(false)?;
    let paths = Paths::open(plan)?;
    let (next, began) = (AtomicU64::new(0), Instant::now());
    let work = || -> Result<Vec<(u64, LifeOutcome)>, Error> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.lives {
                return Ok(done);
            }
            let outcome = live(plan, &paths, number)?;
            each(&outcome);
            done.push((number, outcome));
        }
    };
    let parts: Vec<Result<Vec<(u64, LifeOutcome)>, Error>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|handle| handle.join().expect("a life does not panic")).collect()
    });
    let seconds = began.elapsed().as_secs_f64();
    let mut numbered: Vec<(u64, LifeOutcome)> =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    numbered.sort_by_key(|(number, _)| *number);
    let outcomes: Vec<LifeOutcome> = numbered.into_iter().map(|(_, outcome)| outcome).collect();
    Ok((Summary::of(&outcomes, plan.note_every, seconds), outcomes))
}

/// One whole life.
fn live(plan: &Plan, paths: &Paths, number: u64) -> Result<LifeOutcome, Error> {
    let seed = plan.seed.wrapping_mul(1_000_003).wrapping_add(number);
    let (world, until) = paths.path(plan, seed, number)?;
    let secret = Secret::from_seed(seed, "lab");
    let birth = Birth {
        id: identity(Some(seed ^ plan.twin.rotate_left(40)), "lab"),
        name: "lab".parse().expect("a plain name"),
        generation: 0,
        laws: plan.laws(),
        secret_hash: secret.hash(),
        seeded: true,
        constitution: plan.constitution.clone(),
        world: world.manifest(),
        endowment: plan.endowment(),
        lineage: None,
        unfinished: Vec::new(),
    };
    let (golem, _) = Golem::born(birth, world.start());
    let mut life = Rehearsal::new(golem, world, secret);
    let mut watch = Watch::default();
    let heard = &mut |record: &golem::Record, life: &golem::Life| watch.hear(record, life);
    life.feed(What::Funded { transfer: 1, credit: plan.credit, capital: plan.capital }, heard)?;
    let (mut first_unit, mut noted, mut senesced) = (None, Vec::new(), false);
    let (mut lately, mut skill_lately) = (Lately::default(), Vec::new());
    let mut errors: Vec<Errors> = Vec::new();
    let goes_on = |life: &Life| until.is_none_or(|until| life.due() < until);
    while !life.is_over() && life.life().tick() < plan.most_ticks && goes_on(life.life()) {
        life.tick(&mut |record, life| watch.hear(record, life))?;
        watch.look(life.life());
        if life.life().tick().is_multiple_of(plan.note_every.max(1)) {
            noted.push(life.life().vitality().epistemic);
            skill_lately.push(lately.skill(life.life()));
            errors.push(std::mem::take(&mut watch.lately));
        }
        senesced |= matches!(life.life().epistemic().senescence, Senescence::Senescent { .. });
        first_unit = first_unit.or_else(|| Some(life.life().seen().unit).filter(|unit| unit.is_positive()));
    }
    let ticks = life.life().tick().max(1) as f64;
    errors.push(watch.lately);
    Ok(LifeOutcome {
        skill: watch.errors.skill(life.life()),
        errors,
        fitness_over_time: noted,
        skill_lately,
        senesced,
        drawdown: watch.drawdown,
        failures: watch.longest,
        load: watch.load / ticks,
        constrained: watch.constrained as f64 / ticks,
        ..outcome(&life, plan.capital, first_unit)
    })
}

/// Errors as they stood at the last note, to tell what was added since from what had been there.
#[derive(Default)]
pub(crate) struct Lately {
    tick: u64,
    errors: Vec<(f64, f64)>,
}

impl Lately {
    pub(crate) fn skill(&mut self, life: &Life) -> f64 {
        let keep = 1.0 - 1.0 / life.fitness_window();
        let left = keep.powf((life.tick() - self.tick) as f64);
        let now: Vec<(f64, f64)> = life.epistemic().domains.iter().map(|d| (d.error, d.naive_error)).collect();
        self.errors.resize(now.len(), (0.0, 0.0));
        let (mut sum, mut weights) = (0.0, 0.0);
        for ((spec, now), then) in life.birth().world.domains.iter().zip(&now).zip(&self.errors) {
            let (error, naive) = (now.0 - then.0 * left, now.1 - then.1 * left);
            if naive > 1e-12 {
                sum += spec.weight * (1.0 - error / naive);
                weights += spec.weight;
            }
        }
        *self = Lately { tick: life.tick(), errors: now };
        if weights > 0.0 { sum / weights } else { 0.0 }
    }
}

/// Figures that are followed through a life because its end does not show them.
#[derive(Default)]
struct Watch {
    claims: Listener,
    errors: Errors,
    /// Since the last note.
    lately: Errors,
    drawdown: f64,
    /// Goals that failed in a row, by domain.
    failing: [u64; limits::DOMAINS],
    longest: u64,
    load: f64,
    constrained: u64,
}

impl Watch {
    fn hear(&mut self, record: &golem::Record, life: &Life) {
        let mut more = Errors::default();
        self.claims.hear(record, life, &mut more);
        (self.errors, self.lately) = (self.errors.and(&more), self.lately.and(&more));
        // Before anything is given up for it.
        let (worth, peak) = (life.capital().worth(life.seen().unit), life.capital().peak);
        if peak > worth {
            self.drawdown = self.drawdown.max(1.0 - worth.as_f64() / peak.as_f64());
        }
        for event in &record.events {
            // Looking into itself is no more than that: a golem without stressors never does.
            if let Event::Goal(goal::Event::Finished { goal, domain, ended }) = event
                && *goal != Goal::SelfExamine
            {
                let run = &mut self.failing[usize::from(*domain)];
                *run = if *ended == Ended::Failed { *run + 1 } else { 0 };
                self.longest = self.longest.max(*run);
            }
        }
    }

    fn look(&mut self, life: &Life) {
        if !life.stress().active.is_empty() {
            let load = stress::load(life);
            self.load += load;
            self.constrained += u64::from(!stress::allowed(life).explore);
        }
    }
}

/// Where the paths of a plan come from: seeds, or one file of candles read once.
pub(crate) enum Paths {
    Seeds(Spec),
    /// The candles, and the bars a life may begin at.
    Candles(Candles, std::ops::Range<u64>),
}

impl Paths {
    /// Dates begin at the plan's own, if it has one, and leave room for the longest life or for half the data,
    /// whichever is shorter.
    pub(crate) fn open(plan: &Plan) -> Result<Paths, Error> {
        let Spec::Replay { path, start, sha256 } = &plan.world else { return Ok(Paths::Seeds(plan.world.clone())) };
        if sha256.is_some() && *sha256 != Some(digest(path)?) {
            return Err(Error::Data(path.clone()));
        }
        let candles = Candles::read(path)?.0;
        let bars = candles.bars();
        let first = start.map_or(0, |start| bars.partition_point(|bar| bar.opened.as_seconds() < start)) as u64;
        let looks = plan.constitution.interval.as_millis() / candles.interval().as_millis().max(1);
        let each = plan.most_ticks.saturating_mul(looks.max(1));
        if plan.disjoint {
            let room = (bars.len() as u64 - first).saturating_sub(1) / each.max(1);
            if room < plan.lives {
                return Err(Error::Room { room, ticks: plan.most_ticks });
            }
            return Ok(Paths::Candles(candles, first..first + each * plan.lives));
        }
        let room = (bars.len() as u64 / 2).min(each);
        let last = (bars.len() as u64 - room).max(first + 1).min(bars.len() as u64 - 1);
        Ok(Paths::Candles(candles, first.min(last - 1)..last))
    }

    /// A world of the plan's kind on its own path: another seed, or another date to begin at.
    pub(crate) fn path(
        &self,
        plan: &Plan,
        seed: u64,
        number: u64,
    ) -> Result<(Box<dyn World + Send>, Option<Time>), Error> {
        let spec = match self {
            Paths::Candles(candles, dates) => {
                let room = (dates.end - dates.start).max(1);
                let begins =
                    dates.start + if plan.disjoint { room / plan.lives * number } else { scatter(seed) % room };
                let start = candles.bars()[begins as usize].opened;
                let config = ReplayConfig { start: Some(start), name: "candles".into() };
                // Where one ends at the latest, the next begins: a golem that looks less often does not live on.
                let next = candles.bars().get((begins + room / plan.lives) as usize).map(|bar| bar.opened);
                let world = Box::new(Replay::new(candles.clone(), config, Ledger::memory())?);
                return Ok((world, next.filter(|_| plan.disjoint)));
            }
            Paths::Seeds(spec) => spec.clone().with_seed(seed),
        };
        Ok((spec.open(Ledger::memory())?, None))
    }
}

/// SHA-256 of a file, so that what was planned for some data is lived in no other.
pub(crate) fn digest(file: &Path) -> Result<String, Error> {
    let lost = |source| Error::Io { what: "this golem's data is gone: cannot read", path: file.to_owned(), source };
    let bytes = std::fs::read(file).map_err(lost)?;
    Ok(hex::encode(&Sha256::digest(&bytes)))
}

/// Neighbouring seeds, far apart.
fn scatter(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

fn outcome(rehearsal: &Rehearsal, capital: Usdc, first_unit: Option<Usdc>) -> LifeOutcome {
    let life = rehearsal.life();
    let worth = life.capital().worth(life.seen().unit) + life.capital().withdrawn + life.capital().harvested;
    let share = |now: Usdc, then: Usdc| then.is_positive().then(|| now.as_f64() / then.as_f64() - 1.0);
    let spent = life.capital().fees.as_f64() + life.execution().slipped;
    let skills = life.birth().world.domains.iter().zip(&life.epistemic().domains);
    LifeOutcome {
        ending: life.death().map_or("alive", |death| death.cause.name()).to_owned(),
        ticks: life.tick(),
        fitness: life.vitality().epistemic,
        skill: None,
        fitness_over_time: Vec::new(),
        skill_lately: Vec::new(),
        senesced: false,
        skills: skills
            .map(|(spec, domain)| (spec.name.clone(), (domain.weight >= 20.0).then(|| domain.skill())))
            .collect(),
        actions: life.execution().domain.resolved,
        trading_cost: capital.is_positive().then(|| spent / capital.as_f64()),
        returned: share(worth, capital),
        held: first_unit.and_then(|first| share(life.seen().unit, first)),
        drawdown: 0.0,
        errors: Vec::new(),
        failures: 0,
        load: 0.0,
        constrained: 0.0,
        nights: life.dreams().nights,
        tried: life.dreams().promoted + life.dreams().refuted + life.dreams().expired,
        borne_out: life.dreams().promoted,
        stranded: if life.is_dead() { (life.purse().credit - reserve(life)).max(Usdc::ZERO).as_micros() } else { 0 },
        phages: life.phages().ends,
    }
}

/// Rows by arm and path: one for each life, one for each note, and one for each domain at the end.
pub fn tables(arms: &[(String, Vec<LifeOutcome>)], note_every: u64) -> [(&'static str, Table); 3] {
    let (mut lives, mut notes, mut skills) = (Table::default(), Table::default(), Table::default());
    for (arm, outcomes) in arms {
        for (path, life) in outcomes.iter().enumerate() {
            let on = || -> [(&'static str, Cell); 2] { [("arm", arm.as_str().into()), ("path", (path as u64).into())] };
            let [named, numbered] = on();
            lives.push([
                named,
                numbered,
                ("cause", life.ending.as_str().into()),
                ("ticks", life.ticks.into()),
                ("fitness", life.fitness.into()),
                ("skill", life.skill.into()),
                ("return", life.returned.into()),
                ("return_holding", life.held.into()),
                ("trading_cost", life.trading_cost.into()),
                ("drawdown", life.drawdown.into()),
                ("actions", life.actions.into()),
                ("failures", life.failures.into()),
                ("load", life.load.into()),
                ("constrained", life.constrained.into()),
                ("nights", life.nights.into()),
            ]);
            let noted = life.fitness_over_time.iter().zip(&life.skill_lately).enumerate();
            noted.for_each(|(note, (fitness, skill))| {
                let tick = (note as u64 + 1) * note_every;
                let [named, numbered] = on();
                notes.push([
                    named,
                    numbered,
                    ("tick", tick.into()),
                    ("fitness", (*fitness).into()),
                    ("skill", (*skill).into()),
                ]);
            });
            for (domain, skill) in &life.skills {
                let [named, numbered] = on();
                skills.push([named, numbered, ("domain", domain.as_str().into()), ("skill", (*skill).into())]);
            }
        }
    }
    [("lives", lives), ("notes", notes), ("skills", skills)]
}

/// At most so many, evenly spread, so that a long run still fits on a screen.
const MOMENTS: usize = 400;

fn moments(outcomes: &[LifeOutcome], note_every: u64) -> Vec<Moment> {
    let most = outcomes.iter().map(|outcome| outcome.fitness_over_time.len()).max().unwrap_or(0);
    let stride = most.div_ceil(MOMENTS).max(1);
    let at = |n: usize| {
        let there: Vec<f64> = outcomes.iter().filter_map(|outcome| outcome.fitness_over_time.get(n).copied()).collect();
        let (tick, lives) = ((n as u64 + 1) * note_every, there.len() as u64);
        Some(Moment { tick, lives, fitness: Quantiles::of(there)? })
    };
    (0..most).step_by(stride).filter_map(at).collect()
}

impl Summary {
    fn of(outcomes: &[LifeOutcome], note_every: u64, seconds: f64) -> Summary {
        let mut deaths = BTreeMap::<String, u64>::new();
        let mut skills = BTreeMap::<String, Vec<f64>>::new();
        for outcome in outcomes {
            *deaths.entry(outcome.ending.clone()).or_default() += 1;
            for (domain, skill) in &outcome.skills {
                skills.entry(domain.clone()).or_default().extend(*skill);
            }
        }
        let ticks = outcomes.iter().map(|outcome| outcome.ticks).sum();
        let some = |measure: fn(&LifeOutcome) -> Option<f64>| Quantiles::of(outcomes.iter().filter_map(measure));
        let of = |measure: fn(&LifeOutcome) -> f64| {
            Quantiles::of(outcomes.iter().map(measure)).expect("a plan has one life at least")
        };
        Summary {
            lives: outcomes.len() as u64,
            deaths,
            lifetime_ticks: of(|outcome| outcome.ticks as f64),
            fitness: of(|outcome| outcome.fitness),
            fitness_over_time: moments(outcomes, note_every),
            senesced: outcomes.iter().filter(|outcome| outcome.senesced).count() as u64,
            skill: some(|outcome| outcome.skill),
            skills: skills.into_iter().map(|(domain, skills)| (domain, Quantiles::of(skills))).collect(),
            trading_costs: some(|outcome| outcome.trading_cost),
            returns: some(|outcome| outcome.returned),
            returns_holding: some(|outcome| outcome.held),
            returns_cash: 0.0,
            drawdowns: of(|outcome| outcome.drawdown),
            failures: of(|outcome| outcome.failures as f64),
            loads: of(|outcome| outcome.load),
            ticks,
            seconds,
            ticks_per_second: if seconds > 0.0 { ticks as f64 / seconds } else { 0.0 },
        }
    }

    /// The part that repeats to the byte: everything but the time it took.
    pub fn timeless(&self) -> Summary {
        Summary { seconds: 0.0, ticks_per_second: 0.0, ..self.clone() }
    }
}
