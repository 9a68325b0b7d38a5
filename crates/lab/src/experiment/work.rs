//! What there is to do in an experiment, piece by piece, and what has been done. A piece is all that is run on one path. Which
//! process runs it and when changes nothing about it, so whatever was interrupted goes on where it was.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use golem::{Span, Time};
use serde::{Deserialize, Serialize};
use world::{Candles, Gauge, Ledger, Replay, ReplayConfig, Spec, World};

pub use super::arm::Tuned;
use super::arm::{Ends, Settled};
use super::fault::{io, wrong};
use super::line::{self, Fared};
use super::{Arm, DialWorld, Error, Experiment, Keys, Mind, Phase};
use crate::skill::Errors;

/// One piece of work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    pub phase: Phase,
    pub world: usize,
    /// Which place of the dial.
    pub dial: usize,
    pub mind: usize,
    pub path: u64,
}

/// The result of one unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub unit: Unit,
    /// By arm; while tuning, by arm and which of its settings.
    pub fared: BTreeMap<String, Fared>,
    /// Seconds the worker needed. Nothing that is reported depends on it.
    pub seconds: f64,
}

pub fn place_of(world: &str, mind: &str, arm: &str) -> String {
    format!("{world}|{mind}|{arm}")
}

/// An experiment with its data at hand.
#[derive(Debug)]
pub struct Bench {
    pub experiment: Experiment,
    /// By world: the files of recorded data, read once.
    candles: Vec<Vec<Candles>>,
    /// Which program this is: what another one found is not mixed with what this one finds.
    pub program: String,
}

impl Bench {
    pub fn new(experiment: Experiment) -> Result<Bench, Error> {
        let files = |place: &DialWorld| -> Result<Vec<Candles>, Error> {
            let mut spec = place.spec.clone();
            let first = spec.candles().map(|(file, _)| file.clone());
            first.iter().chain(&place.files).map(|file| Ok(Candles::read(file)?.0)).collect()
        };
        let candles = experiment.worlds.iter().map(files).collect::<Result<_, _>>()?;
        Ok(Bench { experiment, candles, program: concat!("bardo ", env!("CARGO_PKG_VERSION")).to_owned() })
    }

    /// Everything of a phase.
    pub fn units(&self, phase: Phase) -> Result<Vec<Unit>, Error> {
        let experiment = &self.experiment;
        let mut all = Vec::new();
        for (world, place) in experiment.worlds.iter().enumerate() {
            for dial in 0..experiment.dial(place).len() {
                let sample = match phase {
                    Phase::Reporting => Some(experiment.reporting),
                    Phase::Again => experiment.again,
                    Phase::Tuning => None,
                };
                let paths = match sample {
                    Some(sample) if dial == 0 => sample.paths,
                    Some(sample) => sample.dial_paths,
                    None if phase == Phase::Tuning && dial == 0 && experiment.tuned.is_none() => {
                        experiment.tuning.paths
                    }
                    None => 0,
                };
                let paths = self.room(place, phase)?.map_or(paths, |room| paths.min(room));
                for mind in 0..experiment.minds.len() {
                    all.extend((0..paths).map(|path| Unit { phase, world, dial, mind, path }));
                }
            }
        }
        Ok(all)
    }

    /// Windows that recorded data has.
    fn room(&self, place: &DialWorld, phase: Phase) -> Result<Option<u64>, Error> {
        let Some(windows) = &place.windows else { return Ok(None) };
        let (from, to) = windows.of(phase)?;
        let each = self.window(place)?;
        Ok(Some(to.since(from).as_millis() / each.as_millis().max(1)))
    }

    /// How long one is.
    fn window(&self, place: &DialWorld) -> Result<Span, Error> {
        let (mind, arm) = (&self.experiment.minds[0], &self.experiment.arms[0]);
        let settled = self.experiment.settled(place, mind, arm, &arm.choices()[0])?;
        Ok(settled.constitution.interval.times(self.experiment.budget(place).ticks))
    }

    pub fn run(&self, unit: &Unit, tuned: &Tuned) -> Result<Done, Error> {
        let began = Instant::now();
        let experiment = &self.experiment;
        let (place, mind) = (&experiment.worlds[unit.world], &experiment.minds[unit.mind]);
        let mut fared = BTreeMap::<String, Fared>::new();
        for strand in 0..self.candles[unit.world].len().max(1) {
            let told = match unit.phase {
                Phase::Tuning => self.tune(unit, place, mind, strand)?,
                _ => self.hold(unit, place, mind, strand, tuned)?,
            };
            for (name, more) in self.on_one_measure(told, place, unit, strand)? {
                fared.entry(name).or_default().join(more, strand as u64);
            }
        }
        fared.values_mut().for_each(Fared::average);
        Ok(Done { unit: unit.clone(), fared, seconds: began.elapsed().as_secs_f64() })
    }

    /// Measures every arm against all the error that naive made on the path, though a newborn has no claims at first. An arm whose
    /// siblings share the ticks is measured against its own part.
    fn on_one_measure(
        &self,
        told: Vec<(String, Fared)>,
        place: &DialWorld,
        unit: &Unit,
        strand: usize,
    ) -> Result<Vec<(String, Fared)>, Error> {
        let shares = |name: &str| {
            let arm = name.split('|').next().unwrap_or(name);
            self.experiment.arm(arm).is_some_and(|arm| arm.siblings.is_some())
        };
        let alone = |(name, _): &&(String, Fared)| !shares(name);
        let all = told.iter().filter(alone).fold(Errors::default(), |all, (_, fared)| all.most(&fared.counted));
        let world = self.opened(place, unit, strand, unit.path)?;
        let weights: Vec<f64> = world.manifest().domains.iter().map(|domain| domain.weight).collect();
        let measured = |(name, mut fared): (String, Fared)| {
            if !shares(&name) {
                fared.skill = fared.counted.saved_of(&all, &weights);
            }
            (name, fared)
        };
        Ok(told.into_iter().map(measured).collect())
    }

    /// Every setting of every arm that has any to choose from.
    fn tune(&self, unit: &Unit, place: &DialWorld, mind: &Mind, strand: usize) -> Result<Vec<(String, Fared)>, Error> {
        let mut all = Vec::new();
        for arm in self.experiment.arms.iter().filter(|arm| !arm.tune.is_empty()) {
            for (number, choice) in arm.choices().iter().enumerate() {
                let settled = self.experiment.settled(place, mind, arm, choice)?;
                let (fared, _) = self.line(unit, place, strand, unit.path, &settled, &[])?;
                // What is chosen is chosen by this alone.
                let kept = fared.bare();
                all.push((format!("{}|{number}", arm.name), kept));
            }
        }
        // How far apart they are on one path tells what the reporting paths will be able to show.
        for arm in self.experiment.arms.iter().filter(|arm| arm.tune.is_empty() && arm.like.is_none() && !follows(arm))
        {
            let settled = self.experiment.settled(place, mind, arm, &Keys::new())?;
            let (fared, _) = self.line(unit, place, strand, unit.path, &settled, &[])?;
            all.push((format!("{}|0", arm.name), fared.bare()));
        }
        Ok(all)
    }

    /// Every arm, as it was tuned.
    fn hold(
        &self,
        unit: &Unit,
        place: &DialWorld,
        mind: &Mind,
        strand: usize,
        tuned: &Tuned,
    ) -> Result<Vec<(String, Fared)>, Error> {
        let experiment = &self.experiment;
        let settled = |arm: &Arm| {
            let from = arm.like.as_ref().unwrap_or(&arm.name);
            let choice = tuned.get(&place_of(&place.name, &mind.name, from)).cloned().unwrap_or_default();
            experiment.settled(place, mind, arm, &choice)
        };
        let thesis = experiment.arm(&experiment.analysis.thesis).expect("checked when it was read");
        let (first, own) = self.line(unit, place, strand, unit.path, &settled(thesis)?, &[])?;
        let mut another = None;
        let mut all = vec![(thesis.name.clone(), first)];
        for arm in experiment.arms.iter().filter(|arm| arm.name != thesis.name) {
            let cuts: &[Time] = match arm.ends {
                Ends::WithMortal => &own,
                Ends::WithAnother => {
                    if another.is_none() {
                        another = Some(self.another(unit, place, strand, &settled(thesis)?)?);
                    }
                    another.as_deref().expect("just made")
                }
                _ => &[],
            };
            let (fared, _) = self.line(unit, place, strand, unit.path, &settled(arm)?, cuts)?;
            all.push((arm.name.clone(), fared));
        }
        Ok(all)
    }

    /// When the thesis' golem died on another path, as if that path had begun where this one did.
    fn another(&self, unit: &Unit, place: &DialWorld, strand: usize, thesis: &Settled) -> Result<Vec<Time>, Error> {
        let partner = unit.path ^ 1;
        // The last of an odd number of windows has no other neighbour than the one before it.
        let past = self.room(place, unit.phase)?.is_some_and(|room| partner >= room);
        let partner = if past { unit.path.saturating_sub(1) } else { partner };
        let (_, ends) = self.line(unit, place, strand, partner, thesis, &[])?;
        let (here, there) = (self.start(unit, place, unit.path)?, self.start(unit, place, partner)?);
        Ok(ends.into_iter().map(|end| here + end.since(there)).collect())
    }

    /// Where a path of recorded data begins; simulated ones all begin at the same time.
    fn start(&self, unit: &Unit, place: &DialWorld, path: u64) -> Result<Time, Error> {
        let Some(windows) = &place.windows else { return Ok(Time::default()) };
        Ok(windows.of(unit.phase)?.0 + self.window(place)?.times(path))
    }

    fn line(
        &self,
        unit: &Unit,
        place: &DialWorld,
        strand: usize,
        path: u64,
        arm: &Settled,
        cuts: &[Time],
    ) -> Result<(Fared, Vec<Time>), Error> {
        let budget = self.experiment.budget(place);
        let changes = self.spec(place, unit, path)?.changes(budget.ticks);
        let open = || self.opened(place, unit, strand, path);
        let path = line::Path { open: &open, seed: self.seed(unit, path), budget, changes: changes.as_deref() };
        line::run(&path, arm, cuts)
    }

    /// The seed of a path, of its world and of all dice on it.
    fn seed(&self, unit: &Unit, path: u64) -> u64 {
        let experiment = &self.experiment;
        let sample = match unit.phase {
            Phase::Tuning => experiment.tuning.seed,
            Phase::Reporting => experiment.reporting.seed,
            Phase::Again => experiment.again.map_or(0, |again| again.seed),
        };
        sample.wrapping_mul(1_000_003).wrapping_add(path)
    }

    fn spec(&self, place: &DialWorld, unit: &Unit, path: u64) -> Result<Spec, Error> {
        Ok(self.experiment.at(place, unit.dial)?.with_seed(self.seed(unit, path)))
    }

    /// The world of a path, from its beginning.
    fn opened(&self, place: &DialWorld, unit: &Unit, strand: usize, path: u64) -> Result<Box<dyn World + Send>, Error> {
        let start = self.start(unit, place, path)?;
        let candles = || self.candles[unit.world][strand].clone();
        Ok(match self.spec(place, unit, path)? {
            Spec::Replay { .. } => {
                let config = ReplayConfig { start: Some(start), name: "candles".into() };
                Box::new(Replay::new(candles(), config, Ledger::memory())?)
            }
            Spec::Gauge { .. } => Box::new(Gauge::new(candles(), Some(start), Ledger::memory())?),
            spec => spec.open(Ledger::memory())?,
        })
    }

    /// The best setting of every arm that had any to choose from: the highest mean skill on the tuning paths.
    pub fn tuned(&self, done: &[Done]) -> Result<Tuned, Error> {
        let experiment = &self.experiment;
        if let Some(tuned) = &experiment.tuned {
            return Ok(tuned.clone());
        }
        let mut tuned = Tuned::new();
        for (world, place) in experiment.worlds.iter().enumerate() {
            for (mind, setting) in experiment.minds.iter().enumerate() {
                let here: Vec<&Done> = done.iter().filter(|d| d.unit.world == world && d.unit.mind == mind).collect();
                for arm in experiment.arms.iter().filter(|arm| !arm.tune.is_empty()) {
                    let choices = arm.choices();
                    let mean = |number: usize| {
                        let skills = here.iter().filter_map(|d| d.fared.get(&format!("{}|{number}", arm.name))?.skill);
                        let skills: Vec<f64> = skills.collect();
                        (!skills.is_empty()).then(|| skills.iter().sum::<f64>() / skills.len() as f64)
                    };
                    let measured = (0..choices.len()).filter_map(|number| Some((number, mean(number)?)));
                    // The first of equals.
                    let best = measured.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
                    let key = place_of(&place.name, &setting.name, &arm.name);
                    let Some((best, _)) = best else {
                        return wrong(format!(
                            "nothing came due while {key} was tuned; give it more ticks or more paths"
                        ));
                    };
                    tuned.insert(key, choices[best].clone());
                }
            }
        }
        Ok(tuned)
    }
}

/// Whether its lives end when those of another arm do.
fn follows(arm: &Arm) -> bool {
    matches!(arm.ends, Ends::WithMortal | Ends::WithAnother)
}

/// Results in a file, a line each as they come, so that a kill loses one at most.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens it, and reads what is there already; a line cut off by a kill is dropped.
    pub fn open(path: &FilePath) -> Result<(Log, Vec<Done>), Error> {
        let mut done: Vec<Done> = Vec::new();
        let mut whole = 0;
        if path.exists() {
            let mut reader = BufReader::new(File::open(path).map_err(io("cannot read", path))?);
            let mut line = String::new();
            while reader.read_line(&mut line).map_err(io("cannot read", path))? > 0 && line.ends_with('\n') {
                let number = done.len() + 1;
                let damaged = |e| {
                    Error::File(format!(
                        "line {number} of {} is damaged ({e}); remove it, and its path is run again",
                        path.display()
                    ))
                };
                done.push(serde_json::from_str(&line).map_err(damaged)?);
                whole += line.len() as u64;
                line.clear();
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(io("cannot write", path))?;
        file.set_len(whole).map_err(io("cannot write", path))?;
        Ok((Log { path: path.to_owned(), file }, done))
    }

    pub fn add(&mut self, done: &Done) -> Result<(), Error> {
        let mut line = serde_json::to_vec(done).expect("plain data");
        line.push(b'\n');
        self.file.write_all(&line).map_err(io("cannot write", &self.path))?;
        self.file.sync_data().map_err(io("cannot write", &self.path))
    }
}

/// Does pieces of work on threads of this process; `each` hears of every one, in whichever order they come. After a stop no new
/// piece is begun.
pub fn by_threads(
    bench: &Bench,
    units: &[Unit],
    tuned: &Tuned,
    threads: usize,
    stop: &AtomicBool,
    mut each: impl FnMut(Done) -> Result<(), Error>,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let (to, from) = mpsc::channel::<Result<Done, Error>>();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (to, next) = (to.clone(), &next);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    if to.send(bench.run(unit, tuned)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(to);
        for done in from {
            let taken = done.and_then(&mut each);
            if taken.is_err() {
                stop.store(true, Ordering::Relaxed);
                return taken;
            }
        }
        Ok(())
    })
}
