//! A world made of checks: commands of its owner's that pass or fail, or that give a number. The results of a round are
//! a bar, which is in a file before it is shown. The caller that opens the world brings the runner; no command is run
//! here.
//!
//! One round of all checks belongs to one bar, and each bar has at most one round: asked late, it is run late, and a
//! missed round stays missed.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use golem::time::{Span, Time};
use golem::world::{Bar, DomainKind, DomainSpec, Fate, Features, Manifest, Observation, Order, Quote, Timing, Values};
use golem::{Usdc, limits};
use serde::{Deserialize, Serialize};

use crate::{Error, World};

/// The level between failing and passing.
const PASSES: f64 = 0.5;
/// Rounds no longer needed that a file may hold before it is rewritten.
const OLD: usize = 10_000;

/// One check: its name, and the kind of its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub says: Says,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// The check passes or fails.
    Pass,
    Number,
}

/// The result of one check: its number, 1 or 0 where it passes or fails, none if it gave none, and its output.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    pub value: Option<f64>,
    pub text: String,
}

/// One round of all checks, as it stands in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// In milliseconds.
    pub at: u64,
    pub values: Vec<f64>,
    pub said: Vec<String>,
}

/// Runs all checks, once; `None` if that was cut short.
pub type Runner = Box<dyn FnMut(&[Check]) -> Option<Vec<CheckResult>> + Send>;

pub struct Checks {
    checks: Vec<Check>,
    bar: Span,
    start: Time,
    file: Option<PathBuf>,
    /// Rounds not yet known to be seen, oldest first.
    rounds: Vec<Round>,
    /// Rounds in the file.
    written: usize,
    newest: Time,
    run: Option<Runner>,
}

impl Checks {
    /// Opens a world of checks. A golem born now begins at `start`; without a file nothing is kept, and without a
    /// runner nothing is run.
    pub fn new(
        checks: Vec<Check>,
        bar: Span,
        start: Time,
        file: Option<PathBuf>,
        run: Option<Runner>,
    ) -> Result<Checks, Error> {
        if bar < Span::seconds(1) || bar > Span::DAY {
            return Err(Error::Config {
                what: "the time between two rounds of checks",
                why: "must be at least a second and at most a day",
            });
        }
        if checks.len() > limits::DOMAINS {
            return Err(Error::Config { what: "a golem", why: "has eight checks at most" });
        }
        let rounds = file.as_deref().map_or(Ok(Vec::new()), read)?;
        let newest = rounds.last().map_or(Time::default(), |round| Time::millis(round.at));
        Ok(Checks { checks, bar, start, file, written: rounds.len(), rounds, newest, run })
    }

    /// The newest end of a bar at or before this moment.
    fn boundary(&self, now: Time) -> Time {
        let bar = self.bar.as_millis();
        Time::millis(now.as_millis() / bar * bar)
    }

    fn bar(&self, round: &Round) -> Bar {
        Bar {
            closed: Time::millis(round.at),
            values: Values::from_iter(round.values.iter().copied()),
            features: Features::from_iter(round.values.iter().copied()),
            unit: Usdc::dollars(1),
        }
    }

    /// Runs one more round, which is in the file before it is shown; none where a number is missing, because an unknown
    /// result is neither a pass nor a failure.
    fn round(&mut self, at: Time) -> Result<(), Error> {
        let Some(said) = self.run.as_mut().and_then(|run| run(&self.checks)) else { return Ok(()) };
        let values: Option<Vec<f64>> = said.iter().map(|said| said.value).collect();
        let Some(values) = values.filter(|values| values.len() == self.checks.len()) else { return Ok(()) };
        let round = Round { at: at.as_millis(), values, said: said.into_iter().map(|said| said.text).collect() };
        if let Some(file) = &self.file {
            append(file, &round).map_err(|source| Error::Io { what: "cannot write", path: file.clone(), source })?;
            self.written += 1;
        }
        self.newest = at;
        self.rounds.push(round);
        Ok(())
    }

    /// Forgets rounds that were seen, and now and then rewrites the file without them.
    fn seen(&mut self, until: Time) -> Result<(), Error> {
        self.rounds.retain(|round| round.at > until.as_millis());
        let Some(file) = self.file.as_deref().filter(|_| self.written > OLD + self.rounds.len()) else { return Ok(()) };
        let failed = |source| Error::Io { what: "cannot write", path: file.to_owned(), source };
        let (aside, mut text) = (file.with_extension("new"), String::new());
        for round in &self.rounds {
            text += &line(round);
        }
        fs::write(&aside, text).map_err(failed)?;
        File::open(&aside).and_then(|file| file.sync_all()).map_err(failed)?;
        fs::rename(&aside, file).map_err(failed)?;
        self.written = self.rounds.len();
        Ok(())
    }
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checks").field("checks", &self.checks).field("bar", &self.bar).finish_non_exhaustive()
    }
}

impl World for Checks {
    fn manifest(&self) -> Manifest {
        manifest(&self.checks, self.bar)
    }

    fn start(&self) -> Time {
        self.start
    }

    fn end(&self) -> Option<Time> {
        None
    }

    fn seek(&mut self, until: Time) -> Result<(), Error> {
        self.seen(until)
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error> {
        let boundary = self.boundary(now);
        if boundary > since && boundary > self.newest && !self.checks.is_empty() {
            self.round(boundary)?;
        }
        let shown = |round: &&Round| round.at > since.as_millis() && round.at <= now.as_millis();
        let room = limits::BARS.saturating_sub(into.bars.len());
        into.bars.extend(self.rounds.iter().filter(shown).take(room).map(|round| self.bar(round)));
        self.seen(since)
    }

    fn preview(&mut self, _: &Order) -> Result<Option<Quote>, Error> {
        Ok(None)
    }

    fn commit(&mut self, _: u64, _: &Order) -> Result<Fate, Error> {
        Ok(Fate::Never)
    }

    fn reconcile(&mut self, _: u64) -> Result<Fate, Error> {
        Ok(Fate::Never)
    }
}

/// The manifest of a world of checks: a domain for each check, and no actions.
pub fn manifest(checks: &[Check], bar: Span) -> Manifest {
    let domain = |check: &Check| {
        let (kind, level) = match check.says {
            Says::Pass => (DomainKind::Direction, Some(PASSES)),
            Says::Number => (DomainKind::Value, None),
        };
        DomainSpec { name: check.name.clone(), weight: 1.0, kind, horizon: 1, scale: None, level }
    };
    Manifest {
        world: "checks".to_owned(),
        // The caller that opened this world fills it in.
        spec: String::new(),
        bar,
        domains: checks.iter().map(domain).collect(),
        features: checks.iter().map(|check| check.name.clone()).collect(),
        instincts: Vec::new(),
        actions: [].into_iter().collect(),
        regime: None,
        holding: 1,
        lot: 1,
        unit: "unit".to_owned(),
        data_per_day: Usdc::ZERO,
        timing: Timing::Wall,
        // The results are real, and money paid meanwhile is gone.
        paper: false,
    }
}

/// The newest rounds in a file, so many at most, oldest first.
pub fn latest(file: &Path, most: usize) -> Result<Vec<Round>, Error> {
    let mut rounds = read(file)?;
    rounds.drain(..rounds.len().saturating_sub(most));
    Ok(rounds)
}

/// Reads the rounds that were written whole; a round that a kill cut short was never shown.
fn read(path: &Path) -> Result<Vec<Round>, Error> {
    let failed = |source| Error::Io { what: "cannot read", path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(other) => return Err(failed(other)),
    };
    let mut rounds: Vec<Round> = Vec::new();
    for line in BufReader::new(file).lines() {
        let later = |round: &Round| rounds.last().is_none_or(|last| last.at < round.at);
        if let Some(round) = serde_json::from_str(&line.map_err(failed)?).ok().filter(later) {
            rounds.push(round);
        }
    }
    Ok(rounds)
}

fn line(round: &Round) -> String {
    serde_json::to_string(round).expect("plain data") + "\n"
}

/// Appends a round on a line of its own, after anything a kill may have left before it.
fn append(path: &Path, round: &Round) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("\n{}", line(round)).as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn pass(name: &str) -> Check {
        Check { name: name.to_owned(), says: Says::Pass }
    }

    /// A runner that gives these results, one a round, and then the last one for ever.
    fn runner(rounds: &[Option<f64>]) -> (Runner, Arc<Mutex<usize>>) {
        let (count, rounds) = (Arc::new(Mutex::new(0)), rounds.to_vec());
        let counted = Arc::clone(&count);
        let run = move |checks: &[Check]| {
            let mut count = counted.lock().unwrap();
            let value = rounds[(*count).min(rounds.len() - 1)];
            *count += 1;
            Some(checks.iter().map(|_| CheckResult { value, text: "said".to_owned() }).collect())
        };
        (Box::new(run), count)
    }

    fn told(world: &mut Checks, since: u64, now: u64) -> Vec<(u64, f64)> {
        let mut seen = Observation::default();
        world.observe(Time::seconds(since), Time::seconds(now), &mut seen).unwrap();
        seen.bars.iter().map(|bar| (bar.closed.as_seconds(), bar.values[0])).collect()
    }

    #[test]
    fn there_is_one_round_a_bar_and_what_was_missed_stays_missed() {
        let (run, count) = runner(&[Some(1.0), Some(0.0)]);
        let mut world = Checks::new(vec![pass("tests")], Span::seconds(60), Time::default(), None, Some(run)).unwrap();
        assert_eq!(told(&mut world, 0, 59), []);
        assert_eq!(told(&mut world, 0, 61), [(60, 1.0)]);
        assert_eq!(told(&mut world, 0, 119), [(60, 1.0)], "asked again, it is told again");
        assert_eq!(told(&mut world, 60, 601), [(600, 0.0)]);
        assert_eq!(*count.lock().unwrap(), 2);
        assert_eq!(world.manifest().check(), Ok(()));
    }

    #[test]
    fn a_round_is_in_its_file_before_it_is_told_and_a_torn_line_was_told_to_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checks.log");
        let open =
            |run| Checks::new(vec![pass("a")], Span::seconds(1), Time::default(), Some(path.clone()), run).unwrap();
        let (run, _) = runner(&[Some(1.0)]);
        assert_eq!(told(&mut open(Some(run)), 0, 5), [(5, 1.0)]);
        let mut torn = OpenOptions::new().append(true).open(&path).unwrap();
        torn.write_all(b"{\"at\":60").unwrap();
        let (run, count) = runner(&[Some(0.0)]);
        let mut again = open(Some(run));
        assert_eq!(told(&mut again, 4, 5), [(5, 1.0)], "what was written was so");
        assert_eq!(*count.lock().unwrap(), 0);
        assert_eq!(told(&mut again, 5, 7), [(7, 0.0)]);
        assert_eq!(told(&mut open(None), 4, 9), [(5, 1.0), (7, 0.0)]);
        assert_eq!(latest(&path, 1).unwrap()[0].at, 7_000);
    }

    #[test]
    fn what_gives_no_number_makes_no_bar() {
        let (run, _) = runner(&[None, Some(3.0)]);
        let tickets = Check { name: "tickets".to_owned(), says: Says::Number };
        let mut world = Checks::new(vec![tickets], Span::seconds(1), Time::default(), None, Some(run)).unwrap();
        assert_eq!(told(&mut world, 0, 1), []);
        assert_eq!(told(&mut world, 0, 1), [(1, 3.0)], "asked again within the bar, it is tried again");
    }

    #[test]
    fn a_file_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checks.log");
        let (run, _) = runner(&[Some(1.0)]);
        let mut world =
            Checks::new(vec![pass("a")], Span::seconds(1), Time::default(), Some(path.clone()), Some(run)).unwrap();
        world.written = OLD;
        for second in 1..=20 {
            told(&mut world, second - 1, second);
        }
        assert!(read(&path).unwrap()[0].at > 1_000, "what was seen is gone when there is much of it");
        let all: Vec<u64> = latest(&path, 100).unwrap().iter().map(|round| round.at).collect();
        let two: Vec<u64> = latest(&path, 2).unwrap().iter().map(|round| round.at).collect();
        assert_eq!((all.last(), &two[..]), (Some(&20_000), &all[all.len() - 2..]));
    }

    #[test]
    fn with_no_checks_there_is_nothing_to_see_and_it_is_a_world_all_the_same() {
        let mut world = Checks::new(Vec::new(), Span::seconds(60), Time::default(), None, None).unwrap();
        assert_eq!(told(&mut world, 0, 1_000_000), []);
        assert_eq!(world.manifest().check(), Ok(()));
    }
}
