//! `lab run`: an experiment that is a file. It says what is asked, in which worlds, which ways of going on are held against
//! each other, what each may be tuned by and on which seeds, and how the answer is read from the figures. All of
//! that is hashed before the first seed is opened that is reported on, and the hash stands in the report.

pub mod arm;
pub mod conduct;
mod fault;
pub mod line;
pub mod report;
pub mod sample;
pub mod seal;
pub mod stats;
pub mod work;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use golem::laws::{self, Trial};
use golem::{Time, hex};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use settings::{File, Settings, read_moment};
use sha2::{Digest, Sha256};
use world::Spec;

pub use arm::{Arm, Crosses, Ends, Heir, Keys, Tuned};
pub use fault::Error;
use fault::{io, wrong};

use crate::lives::digest;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub name: String,
    pub question: String,
    pub budget: Budget,
    pub tuning: Tuning,
    pub reporting: Sample,
    /// The whole once more, on seeds of its own.
    #[serde(default)]
    pub again: Option<Sample>,
    /// A smaller version, for a reader who wants to check it quickly.
    #[serde(default)]
    pub quick: Option<Quick>,
    /// Settings that were found before; with them nothing is tuned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuned>,
    pub analysis: Analysis,
    /// Keys of golem.toml, for all arms.
    #[serde(default)]
    pub set: Keys,
    pub minds: Vec<Mind>,
    pub worlds: Vec<DialWorld>,
    pub arms: Vec<Arm>,
}

/// The budget of every arm on every path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Looks at the world, all generations together.
    pub ticks: u64,
    /// Skill counts from this tick on, so that no arm is measured by what its first golem had yet to learn.
    pub from: u64,
    /// Ticks between two notes of how it went.
    pub note_every: u64,
}

/// The budget of tuning, equal for all arms that have keys to tune: so many settings at most, on these paths and no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    pub seed: u64,
    pub paths: u64,
    pub settings: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub seed: u64,
    /// At the place of the dial that the question is about.
    pub paths: u64,
    /// At each other place.
    #[serde(default)]
    pub dial_paths: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    pub paths: u64,
    #[serde(default)]
    pub tuning_paths: u64,
    /// The seal of a whole run, whose settings are taken instead of tuning.
    #[serde(default)]
    pub sealed: Option<PathBuf>,
}

/// How the answer is read from the figures, said before there are any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// The arm that is claimed to do better ...
    pub thesis: String,
    /// ... than each of these.
    pub against: Vec<String>,
    /// Held against the thesis, and nothing but chance apart from it.
    pub twin: String,
    /// Pairs that are looked at beside the question.
    #[serde(default)]
    pub beside: Vec<(String, String)>,
    pub alpha: f64,
    /// The smallest difference in skill that is worth having.
    pub smallest: f64,
    /// A twin may differ by so much.
    pub nothing: f64,
    /// Times the paths are drawn again.
    pub draws: usize,
}

/// A setting of the mind; what holds at one only is no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mind {
    pub name: String,
    /// Learns slowly and remembers long.
    #[serde(default)]
    pub slow: bool,
}

/// A world with a dial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialWorld {
    pub name: String,
    /// The world at the place of the dial that the question is about; for recorded data the first file.
    pub spec: Spec,
    /// More files of the same kind, which are one path together: what happens in one happens in all of them.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// The field of the spec that the dial turns, and below the values it turns to.
    #[serde(default)]
    pub dial: Option<String>,
    #[serde(default)]
    pub at: Vec<f64>,
    /// Recorded data has only so many windows, and looks of its own length.
    #[serde(default)]
    pub budget: Option<Budget>,
    #[serde(default)]
    pub set: Keys,
    /// Which stretches of recorded data are for what: dates as they stand in golem.toml, from and to.
    #[serde(default)]
    pub windows: Option<Windows>,
}

/// Each is cut into windows of a budget's length that share no bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    pub tuning: (String, String),
    pub reporting: (String, String),
    pub again: (String, String),
}

/// The purpose of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Tuning,
    Reporting,
    Again,
}

impl Windows {
    /// From where to where.
    pub fn of(&self, phase: Phase) -> Result<(Time, Time), Error> {
        let (from, to) = match phase {
            Phase::Tuning => &self.tuning,
            Phase::Reporting => &self.reporting,
            Phase::Again => &self.again,
        };
        let moment = |text: &str| {
            read_moment(text).ok_or_else(|| Error::File(format!("'{text}' is not a date; write it like 2024-01-31")))
        };
        Ok((moment(from)?, moment(to)?))
    }
}

impl Experiment {
    pub fn read(path: &Path) -> Result<Experiment, Error> {
        let text = std::fs::read_to_string(path).map_err(io("cannot read", path))?;
        let mut experiment: Experiment = toml_edit::de::from_str(&text)
            .map_err(|e| Error::File(format!("{} is not an experiment: {e}", path.display())))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        for place in &mut experiment.worlds {
            let files = place.spec.candles().map(|(file, _)| file).into_iter().chain(&mut place.files);
            files.for_each(|file| *file = folder.join(&*file));
        }
        let sealed = experiment.quick.as_mut().and_then(|quick| quick.sealed.as_mut());
        sealed.into_iter().for_each(|file| *file = folder.join(&*file));
        experiment.check()?;
        Ok(experiment)
    }

    /// Of all that a result depends on. Recorded data counts by what is in it, wherever it lies.
    pub fn digest(&self) -> Result<String, Error> {
        let mut hash = Sha256::new();
        for place in &self.worlds {
            let mut spec = place.spec.clone();
            for file in spec.candles().map(|(file, _)| &*file).into_iter().chain(&place.files) {
                hash.update(digest(file)?);
            }
        }
        hash.update(serde_json::to_vec(&self.anywhere()).expect("plain data"));
        Ok(hex::encode(&hash.finalize()))
    }

    /// The experiment without the places of its data, so that it is equal on any machine.
    pub fn anywhere(&self) -> Experiment {
        let mut plain = self.clone();
        plain.find_data_in(Path::new(""));
        // The quick version has no bearing on the result.
        plain.quick = None;
        plain
    }

    /// Looks for recorded data here, by the names of its files.
    pub fn find_data_in(&mut self, folder: &Path) {
        for place in &mut self.worlds {
            for file in place.spec.candles().map(|(file, _)| file).into_iter().chain(&mut place.files) {
                *file = folder.join(file.file_name().unwrap_or_default());
            }
        }
    }

    /// The quick version, with fewer paths.
    pub fn quickly(mut self) -> Result<Experiment, Error> {
        let Some(quick) = self.quick.take() else { return wrong("this experiment has no quick version") };
        self.reporting.paths = quick.paths;
        self.reporting.dial_paths = 0;
        self.again = None;
        self.tuning.paths = quick.tuning_paths;
        if let Some(file) = quick.sealed {
            #[derive(Deserialize)]
            struct Seal {
                tuned: Tuned,
            }
            let text = std::fs::read_to_string(&file).map_err(io("cannot read", &file))?;
            let seal: Seal = serde_json::from_str(&text)
                .map_err(|e| Error::File(format!("{} is not a seal of an experiment: {e}", file.display())))?;
            self.tuned = Some(seal.tuned);
        }
        Ok(self)
    }

    pub fn arm(&self, name: &str) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.name == name)
    }

    fn check(&self) -> Result<(), Error> {
        let unique = |names: Vec<&str>, what: &str| {
            let all: BTreeSet<&str> = names.iter().copied().collect();
            let odd = names.iter().find(|name| name.is_empty() || name.contains(['/', '|']));
            match odd {
                Some(odd) => wrong(format!("'{odd}' is not a name for {what}")),
                None if all.len() < names.len() || names.is_empty() => {
                    wrong(format!("there must be {what}, each with a name of its own"))
                }
                None => Ok(()),
            }
        };
        unique(self.arms.iter().map(|arm| arm.name.as_str()).collect(), "arms")?;
        unique(self.worlds.iter().map(|place| place.name.as_str()).collect(), "worlds")?;
        unique(self.minds.iter().map(|mind| mind.name.as_str()).collect(), "minds")?;
        let analysis = &self.analysis;
        let beside = analysis.beside.iter().flat_map(|(one, other)| [one, other]);
        for name in [&analysis.thesis, &analysis.twin].into_iter().chain(&analysis.against).chain(beside) {
            if self.arm(name).is_none() {
                return wrong(format!("there is no arm named '{name}'"));
            }
        }
        let thesis = self.arm(&analysis.thesis).expect("found above");
        if thesis.ends != Ends::Clocks {
            return wrong(format!("others die when {} dies, so its own clocks must end it", thesis.name));
        }
        let seeds = [Some(self.tuning.seed), Some(self.reporting.seed), self.again.map(|again| again.seed)];
        if seeds.iter().flatten().collect::<BTreeSet<_>>().len() < seeds.iter().flatten().count() {
            return wrong("seeds to tune on and seeds to report on must not be the same");
        }
        if !(analysis.alpha > 0.0 && analysis.alpha < 0.5 && analysis.draws >= 100) {
            return wrong("alpha must be between 0 and 0.5, and there must be 100 draws at least");
        }
        for arm in &self.arms {
            let Some(like) = &arm.like else { continue };
            if !arm.tune.is_empty() || self.arm(like).is_none_or(|other| other.tune.is_empty()) {
                return wrong(format!(
                    "{} takes what another arm was tuned to; there must be one, and nothing of its own",
                    arm.name
                ));
            }
        }
        for place in &self.worlds {
            self.check_place(place)?;
        }
        for (place, mind, arm) in self.everyone() {
            let choices = arm.choices();
            if choices.len() > self.tuning.settings {
                let (name, most) = (&arm.name, self.tuning.settings);
                return wrong(format!(
                    "{name} has {} settings to choose from; {most} at most for every arm",
                    choices.len()
                ));
            }
            for choice in &choices {
                self.settled(place, mind, arm, choice)?;
            }
        }
        Ok(())
    }

    fn check_place(&self, place: &DialWorld) -> Result<(), Error> {
        let Budget { ticks, from, note_every } = self.budget(place);
        if ticks == 0 || from >= ticks || note_every == 0 || from % note_every != 0 {
            return wrong("a budget counts from a whole number of notes before its end");
        }
        let recorded = matches!(place.spec, Spec::Replay { .. } | Spec::Gauge { .. });
        if !recorded
            && !matches!(place.spec, Spec::Sim { .. } | Spec::Edge { .. } | Spec::Queue { .. } | Spec::Shifting { .. })
        {
            return wrong(format!("{} is not a world for the laboratory", place.name));
        }
        if recorded != place.windows.is_some() || (!recorded && !place.files.is_empty()) {
            return wrong(format!("{}: files and windows are for recorded data, which needs windows", place.name));
        }
        for phase in [Phase::Tuning, Phase::Reporting, Phase::Again] {
            place.windows.as_ref().map(|windows| windows.of(phase)).transpose()?;
        }
        for number in 0..self.dial(place).len() {
            self.at(place, number)?
                .open(world::Ledger::memory())
                .map(drop)
                .or_else(|e| if recorded { Ok(()) } else { Err(e) })?;
        }
        Ok(())
    }

    /// The budget of a place, or the one that holds for all.
    pub fn budget(&self, place: &DialWorld) -> Budget {
        place.budget.unwrap_or(self.budget)
    }

    /// Where the dial stands: first what the question is about.
    pub fn dial(&self, place: &DialWorld) -> Vec<f64> {
        let Some(field) = &place.dial else { return vec![0.0] };
        let main = serde_json::to_value(&place.spec).expect("plain data")[field].as_f64().unwrap_or(0.0);
        [main].into_iter().chain(place.at.iter().copied().filter(|at| *at != main)).collect()
    }

    /// The world with its dial at this place.
    pub fn at(&self, place: &DialWorld, number: usize) -> Result<Spec, Error> {
        let Some(field) = &place.dial else { return Ok(place.spec.clone()) };
        let mut spec = serde_json::to_value(&place.spec).expect("plain data");
        spec[field] = self.dial(place)[number].into();
        serde_json::from_value(spec).map_err(|e| Error::File(format!("{} has no dial '{field}': {e}", place.name)))
    }

    pub fn everyone(&self) -> impl Iterator<Item = (&DialWorld, &Mind, &Arm)> {
        let minds = move |place| self.minds.iter().map(move |mind| (place, mind));
        self.worlds.iter().flat_map(minds).flat_map(|(place, mind)| self.arms.iter().map(move |arm| (place, mind, arm)))
    }

    /// An arm in a world, under a mind, with one of its settings: everything golems of it are made of.
    pub fn settled(&self, place: &DialWorld, mind: &Mind, arm: &Arm, choice: &Keys) -> Result<arm::Settled, Error> {
        let mut keys = self.set.clone();
        for more in [&place.set, &arm.set, choice] {
            keys.extend(more.clone());
        }
        let knobs = arm::Knobs::taken_from(&mut keys)?;
        // They were on by default when the file was sealed.
        keys.entry("mind.phages".to_owned()).or_insert(true.into());
        let mut flags: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect();
        if arm.ends != Ends::Clocks {
            flags.push("mortality.mode=immortal".to_owned());
        }
        let settings = Settings::load(File::Golem, None, [], &flags)?;
        let trial = Trial { slow: mind.slow, ..knobs.trial };
        // The laws that the file was sealed under.
        let usual = trial == Trial { memory: 2, ..Trial::default() };
        let laws = if usual { Some(laws::OF_TRIALS) } else { trial.number() };
        Ok(arm::Settled {
            ends: arm.ends,
            crosses: arm.crosses,
            same_soul: arm.same_soul,
            twin: arm.twin,
            siblings: arm.siblings,
            constitution: settings.constitution()?,
            credit: settings.money("funds.credit"),
            laws: laws.ok_or_else(|| {
                Error::File(format!("{} asks for a way of forgetting that no set of laws has", arm.name))
            })?,
            detector: knobs.detector,
            every: knobs.every,
        })
    }
}

/// As it would be written after `--set KEY=`.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
