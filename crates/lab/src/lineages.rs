//! `lab lineages`: one line of golems on each path, several ways. Every arm has the same ticks and the same money on the
//! same path; they differ in whether golems die, and in what crosses a death.

use std::sync::atomic::{AtomicU64, Ordering};

use golem::constitution::Mode;
use golem::event::{Event, Record};
use golem::grimoire::How;
use golem::grimoire::bundle::BundleLine;
use golem::inheritance::{BUDGET, Descent, estate, whole};
use golem::rule;
use golem::{Birth, Endowment};
use golem::{Command, CommandId, Golem, Life, Time, What};
use serde::{Deserialize, Serialize};
use settings::chance::{Secret, identity};

use crate::lives::{Error, Lately, Paths, Plan};
use crate::rehearsal::Rehearsal;
use crate::skill::{Errors, Listener};
use crate::tables::Table;

/// Ways for a line to go on after a death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// No heir inherits anything.
    Fresh,
    /// The heir is a copy: playbook, evidence and memory as they were.
    Copy,
    /// Through the bottleneck, discounted, to be tried before it is believed.
    Bottleneck,
    /// Through the bottleneck, but everything arrives at a confidence of 0.4.
    Flat,
    /// No golem dies: no clock runs, and nothing crosses a death.
    Immortal,
}

impl Way {
    pub const ALL: [Way; 5] = [Way::Fresh, Way::Copy, Way::Bottleneck, Way::Flat, Way::Immortal];

    pub fn name(self) -> &'static str {
        match self {
            Way::Fresh => "fresh",
            Way::Copy => "copy",
            Way::Bottleneck => "bottleneck",
            Way::Flat => "flat",
            Way::Immortal => "immortal",
        }
    }
}

impl Way {
    /// The plan as this way runs it: an immortal has no clock that could end it.
    fn applied(self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        if self == Way::Immortal {
            plan.constitution.mode = Mode::Immortal;
        }
        plan
    }
}

/// Results of one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Kin {
    /// Skill against naive in each stretch between two notes, over all generations.
    pub skill_lately: Vec<f64>,
    /// Skill over every claim in the first tenth of each life but the first, on average; none where nothing came due. An
    /// immortal has as many stretches as the others have lives.
    pub early: Option<f64>,
    /// Skill over every claim in the whole of each life but the first.
    pub later: Option<f64>,
    /// Lives that ended by themselves, before their time.
    pub deaths: u64,
    /// Return on the capital over all generations, as a share; none without capital.
    pub returned: Option<f64>,
    /// Rules with a say at the end that are not innate.
    pub own_rules: f64,
    /// Entries that crossed a death, on average.
    pub crossed: f64,
    /// The errors of all lives but the first, to be pooled over lines.
    #[serde(skip)]
    pub heirs: Errors,
}

/// Runs `plan.lives` lines of `plan.generations` lives each, `plan.most_ticks` ticks in all.
pub fn run(plan: &Plan, way: Way, threads: usize, each: impl Fn() + Sync) -> Result<Vec<Kin>, Error> {
    plan.check(true)?;
    let plan = &way.applied(plan);
    let paths = Paths::open(plan)?;
    let next = AtomicU64::new(0);
    let work = || -> Result<Vec<(u64, Kin)>, Error> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.lives {
                return Ok(done);
            }
            done.push((number, line(plan, &paths, way, number)?));
            each();
        }
    };
    let parts: Vec<Result<Vec<(u64, Kin)>, Error>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|handle| handle.join().expect("a life does not panic")).collect()
    });
    let mut numbered: Vec<(u64, Kin)> =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    numbered.sort_by_key(|(number, _)| *number);
    Ok(numbered.into_iter().map(|(_, kin)| kin).collect())
}

/// A row for each line of each way, and one for each note.
pub fn tables(lines: &[(&str, Vec<Kin>)], note_every: u64) -> (Table, Table) {
    let (mut all, mut notes) = (Table::default(), Table::default());
    for (way, kin) in lines {
        for (number, line) in kin.iter().enumerate() {
            let number = number as u64;
            all.push([
                ("way", (*way).into()),
                ("path", number.into()),
                ("early", line.early.into()),
                ("skill", line.later.into()),
                ("died_early", line.deaths.into()),
                ("return", line.returned.into()),
                ("own_rules", line.own_rules.into()),
                ("crossed", line.crossed.into()),
            ]);
            for (note, skill) in line.skill_lately.iter().enumerate() {
                let tick = (note as u64 + 1) * note_every;
                notes.push([
                    ("way", (*way).into()),
                    ("path", number.into()),
                    ("tick", tick.into()),
                    ("skill", (*skill).into()),
                ]);
            }
        }
    }
    (all, notes)
}

/// One line, from the first to the last.
fn line(plan: &Plan, paths: &Paths, way: Way, number: u64) -> Result<Kin, Error> {
    let generations = plan.generations.unwrap_or(1).max(1);
    let (founder, span) = match plan.founder {
        Some(founder) => (founder, (plan.most_ticks.saturating_sub(founder) / (generations - 1).max(1)).max(1)),
        None => (plan.most_ticks / generations, (plan.most_ticks / generations).max(1)),
    };
    let tenth = span.div_ceil(10);
    let mut kin = Kin { returned: plan.capital.is_positive().then_some(0.0), ..Kin::default() };
    let (mut estate_left, mut before): (Option<HeirsLegacy>, Option<Life>) = (None, None);
    let (mut early, mut later) = (Vec::new(), Vec::new());
    for generation in 0..generations {
        let (mut life, until) = next_of_line(plan, paths, way, number, generation, before.as_ref())?;
        if let Some(left) = estate_left.take() {
            left.to(&mut life)?;
        }
        let own = if generation == 0 { founder } else { span };
        let most = if way == Way::Immortal { founder + span * (generations - 1) } else { own };
        let (mut lately, mut claims) = (Lately::default(), Listener::default());
        // By the stretch of ticks they came due in: what came in its first tenth, and after it.
        let mut stretches = vec![(Errors::default(), Errors::default()); generations as usize];
        let goes_on = |life: &Life| until.is_none_or(|until| life.due() < until);
        while !life.is_over() && life.life().tick() < most && goes_on(life.life()) {
            let tick = life.life().tick();
            let (stretch, within) = match tick.checked_sub(own) {
                Some(after) => (1 + after / span, after % span),
                None => (0, tick),
            };
            let (first, rest) = &mut stretches[stretch as usize];
            let errors = if within < tenth { first } else { rest };
            life.tick(&mut |record, life| claims.hear(record, life, errors))?;
            if life.life().tick().is_multiple_of(plan.note_every.max(1)) {
                kin.skill_lately.push(lately.skill(life.life()));
            }
        }
        kin.deaths += u64::from(life.life().is_dead());
        for (first, rest) in stretches.iter().skip(usize::from(generation == 0)) {
            kin.heirs = kin.heirs.and(&first.and(rest));
            early.extend(first.skill(life.life()));
            later.extend(first.and(rest).skill(life.life()));
        }
        let end = Command::Retire { reason: String::new() };
        life.feed(What::Commanded { id: CommandId([1; 8]), command: end }, &mut |_, _| {})?;
        let now = life.life().clone();
        let worth = now.capital().worth(now.seen().unit) + now.capital().withdrawn + now.capital().harvested;
        let given = now.birth().endowment.capital;
        kin.returned = kin.returned.map(|sum| sum + worth.as_f64() / given.as_f64() - 1.0);
        let own = |h: &golem::rule::Heuristic| h.voice && h.provenance != golem::rule::Provenance::Instinct;
        kin.own_rules = now.playbook().iter().filter(|h| own(h) && h.skill() > 0.0).count() as f64;
        estate_left = HeirsLegacy::by(way, &life);
        kin.crossed += estate_left.as_ref().map_or(0.0, |left| left.lines.len() as f64) / generations as f64;
        before = Some(now);
        if way == Way::Immortal {
            break;
        }
    }
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    (kin.early, kin.later) = (mean(early), mean(later));
    Ok(kin)
}

/// The next of a line, born and funded on the same path, entered where the one before left it, by somebody who has never
/// acted on it; and where the path ends.
fn next_of_line(
    plan: &Plan,
    paths: &Paths,
    way: Way,
    number: u64,
    generation: u64,
    before: Option<&Life>,
) -> Result<(Rehearsal, Option<Time>), Error> {
    let seed = plan.seed.wrapping_mul(1_000_003).wrapping_add(number);
    let (mut world, until) = paths.path(plan, seed, number)?;
    // As the heirs of an owner's golems are made: by hand, of the record.
    let mut descent = before.map(|life| Descent::of(life, false));
    if let Some(descent) = descent.as_mut().filter(|_| way == Way::Fresh) {
        descent.lineage.trust.clear();
    }
    let born = descent.as_ref().map_or(world.start(), |descent| descent.begins);
    if generation > 0 {
        world.seek(born)?;
    }
    let soul = seed ^ plan.twin.rotate_left(40) ^ generation.rotate_left(20);
    let secret = Secret::from_seed(soul, "line");
    let birth = Birth {
        id: identity(Some(soul), "line"),
        name: "line".parse().expect("a plain name"),
        generation: generation as u32,
        laws: plan.laws(),
        secret_hash: secret.hash(),
        seeded: true,
        constitution: descent.as_ref().map_or(&plan.constitution, |descent| &descent.constitution).clone(),
        world: world.manifest(),
        endowment: descent.as_ref().map_or(plan.endowment(), |descent| descent.endowment),
        lineage: descent.map(|descent| descent.lineage),
        unfinished: Vec::new(),
    };
    let Endowment { credit, capital } = birth.endowment;
    let (mut golem, _) = Golem::born(birth, born);
    if let (Way::Copy, Some(before)) = (way, before) {
        copy(&mut golem, before);
    }
    let mut life = Rehearsal::new(golem, world, secret);
    life.feed(What::Funded { transfer: 1, credit, capital }, &mut |_, _| {})?;
    Ok((life, until))
}

/// The inheritance of an heir.
struct HeirsLegacy {
    lines: Vec<BundleLine>,
}

impl HeirsLegacy {
    /// The inheritance a dead golem leaves, where anything crosses a death.
    fn by(way: Way, dead: &Rehearsal) -> Option<HeirsLegacy> {
        let life = dead.life();
        let left = || estate(&whole(dead.grimoire(), life), life, BUDGET);
        match way {
            Way::Fresh | Way::Copy | Way::Immortal => None,
            Way::Bottleneck => Some(HeirsLegacy { lines: left() }),
            Way::Flat => {
                let flat = |line: BundleLine| BundleLine { confidence: 0.4 / 0.85, ..line };
                Some(HeirsLegacy { lines: left().into_iter().map(flat).collect() })
            }
        }
    }

    fn to(&self, heir: &mut Rehearsal) -> Result<(), Error> {
        let lines: Vec<String> =
            self.lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data")).collect();
        for some in lines.chunks(200) {
            heir.take_in(&some.iter().map(String::as_str).collect::<Vec<_>>(), How::Inherited, &mut |_, _| {})?;
        }
        Ok(())
    }
}

/// Everything the dead went by, with all its evidence, in the same places: what inheritance is not.
fn copy(golem: &mut Golem, before: &Life) {
    let adopted = |(slot, heuristic): (usize, &golem::rule::Heuristic)| {
        Event::Rule(rule::Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic.unasked()), night: None })
    };
    let events: Vec<Event> = before.playbook().iter().enumerate().map(adopted).collect();
    let record = Record { seq: golem.seq() + 1, at: golem.life().now(), events };
    golem.fold(&record).expect("the next record");
}
