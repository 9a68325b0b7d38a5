//! `lab lineages`: one line of golems on each path, several ways. Every arm has the same ticks and the same money on the
//! same path; they differ in whether anyone dies, and in what crosses a death.

use std::sync::atomic::{AtomicU64, Ordering};

use golem::event::{Event, Record};
use golem::grimoire::How;
use golem::grimoire::bundle::Line;
use golem::inheritance::{BUDGET, Descent, estate, whole};
use golem::life::Birth;
use golem::{Command, CommandId, Golem, Life, What, laws};
use host::chance::{Secret, identity};
use host::rehearsal::Rehearsal;
use serde::{Deserialize, Serialize};

use crate::lives::{Error, Lately, PLAN, Paths, Plan};

/// What becomes of a line at each death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Nobody inherits anything.
    Fresh,
    /// The heir is a copy: playbook, evidence and memory as they were.
    Copy,
    /// Through the bottleneck, discounted, to be tried before it is believed.
    Bottleneck,
    /// The same, but everything arrives at 0.4.
    Flat,
    /// Nobody dies; what is known goes through the bottleneck on the same days.
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

/// What one line came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Kin {
    /// Skill against naive in each stretch between two notes, over all generations.
    pub skill_lately: Vec<f64>,
    /// The same in the first tenth of each life but the first, on average; and over whole lives but the first.
    pub early: f64,
    pub later: f64,
    /// What became of the capital over all generations, as a share.
    pub returned: f64,
    /// Rules with a say at the end that nobody is born with.
    pub own_rules: f64,
    /// Entries that crossed a death, on average.
    pub crossed: f64,
}

/// Lives `plan.lives` lines of so many generations each, `plan.most_ticks` ticks in all.
pub fn run(plan: &Plan, way: Way, generations: u64, threads: usize, each: impl Fn() + Sync) -> Result<Vec<Kin>, Error> {
    if plan.version != PLAN {
        return Err(Error::Version(plan.version));
    }
    let paths = Paths::open(plan)?;
    let next = AtomicU64::new(0);
    let work = || -> Result<Vec<(u64, Kin)>, Error> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.lives {
                return Ok(done);
            }
            done.push((number, line(plan, &paths, way, generations, number)?));
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

/// One line, from the first to the last.
fn line(plan: &Plan, paths: &Paths, way: Way, generations: u64, number: u64) -> Result<Kin, Error> {
    let seed = plan.seed.wrapping_mul(1_000_003).wrapping_add(number);
    let span = plan.most_ticks / generations.max(1);
    let mut kin = Kin::default();
    let (mut estate_left, mut before): (Option<Left>, Option<Life>) = (None, None);
    let mut lived_in = Vec::new();
    for generation in 0..generations {
        // The same path again, entered where the one before left it, by somebody who has never acted on it.
        let (mut world, until) = paths.path(plan, seed, number)?;
        // As the heirs of an owner's golems are made: by hand, of the record.
        let descent = before.as_ref().map(|life| Descent::of(life, false));
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
            laws: laws::NEWEST,
            secret_hash: secret.hash(),
            seeded: true,
            constitution: descent.as_ref().map_or(&plan.constitution, |descent| &descent.constitution).clone(),
            world: world.manifest(),
            endowment: descent.as_ref().map_or(plan.endowment(), |descent| descent.endowment),
            lineage: descent.map(|descent| descent.lineage),
            unfinished: Vec::new(),
        };
        let endowment = birth.endowment;
        let (mut golem, _) = Golem::born(birth, born);
        if let (Way::Copy, Some(before)) = (way, &before) {
            copy(&mut golem, before);
        }
        let mut life = Rehearsal::new(golem, world, secret);
        let golem::life::Endowment { credit, capital } = endowment;
        life.feed(What::Funded { transfer: 1, credit, capital }, &mut |_, _| {})?;
        if let Some(left) = estate_left.take() {
            left.to(&mut life)?;
        }
        let most = if way == Way::Immortal { plan.most_ticks } else { span };
        let (mut lately, mut notes) = (Lately::default(), Vec::new());
        let goes_on = |life: &Life| until.is_none_or(|until| life.due() < until);
        while !life.is_over() && life.life().tick < most && goes_on(life.life()) {
            life.tick(&mut |_, _| {})?;
            if life.life().tick.is_multiple_of(plan.note_every.max(1)) {
                notes.push(lately.skill(life.life()));
            }
        }
        lived_in.push(notes.len());
        kin.skill_lately.extend(notes);
        let end = Command::Retire { reason: String::new() };
        life.feed(What::Commanded { id: CommandId([1; 8]), command: end }, &mut |_, _| {})?;
        let now = life.life().clone();
        let worth = now.capital.worth(now.seen.unit) + now.capital.withdrawn + now.capital.harvested;
        kin.returned += worth.as_f64() / capital.as_f64().max(1.0) - 1.0;
        let own = |h: &golem::rule::Heuristic| h.voice && h.provenance != golem::rule::Provenance::Instinct;
        kin.own_rules = now.playbook.iter().filter(|h| own(h) && h.skill() > 0.0).count() as f64;
        let whole = whole(life.grimoire(), &now);
        estate_left = match way {
            Way::Fresh | Way::Copy | Way::Immortal => None,
            Way::Bottleneck => Some(Left { lines: estate(&whole, &now, BUDGET) }),
            Way::Flat => {
                let flat = |line: Line| Line { confidence: 0.4 / 0.85, ..line };
                Some(Left { lines: estate(&whole, &now, BUDGET).into_iter().map(flat).collect() })
            }
        };
        kin.crossed += estate_left.as_ref().map_or(0.0, |left| left.lines.len() as f64) / generations as f64;
        before = Some(now);
        if way == Way::Immortal {
            break;
        }
    }
    let per_life = ((span / plan.note_every.max(1)) as usize).max(1);
    let tenth = per_life.div_ceil(10);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let later: Vec<&[f64]> = kin.skill_lately.chunks(per_life).skip(1).filter(|life| life.len() == per_life).collect();
    kin.early = mean(&later.iter().map(|life| mean(&life[..tenth])).collect::<Vec<_>>());
    kin.later = mean(&later.iter().map(|life| mean(life)).collect::<Vec<_>>());
    Ok(kin)
}

/// What is left to an heir.
struct Left {
    lines: Vec<Line>,
}

impl Left {
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
    let adopted = |(slot, heuristic): (usize, &golem::rule::Heuristic)| Event::Adopted {
        slot: slot as u8,
        heuristic: Box::new(heuristic.clone()),
    };
    let events: Vec<Event> = before.playbook.iter().enumerate().map(adopted).collect();
    let record = Record { seq: golem.seq() + 1, at: golem.life().now, events };
    golem.fold(&record).expect("the next record");
}
