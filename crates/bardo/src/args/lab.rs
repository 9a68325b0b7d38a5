//! What can be asked of the laboratory.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::golem::WorldKind;

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// An experiment that is a file: run it, or go on with it, and write what came of it
    Run(RunExperiment),
    /// Take paths of experiments from a work queue and run them here
    Work(WorkArgs),
    /// Make a figure of the book again, or list all there are
    Reproduce(ReproduceArgs),
    /// Run whole lives, each on a path of its own
    Lives(LivesArgs),
    /// Lines of golems on the same paths, by what crosses each death
    Lineages {
        #[command(flatten)]
        plan: PlanArgs,
        /// Lives in each line; --most-ticks is shared among them
        #[arg(long, default_value_t = 5, conflicts_with = "plan", value_parser = clap::value_parser!(u64).range(2..=100))]
        generations: u64,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunExperiment {
    /// The experiment: what is asked, where, which ways are held against each other, and how it is read
    pub(crate) file: PathBuf,
    /// Where everything goes; a run that was interrupted goes on there [default: a folder named like the experiment]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Only as many paths as it says a quick look needs
    #[arg(long)]
    pub(crate) quick: bool,
    /// Threads to run on [default: one for each core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Hand the paths out to workers (`bardo lab work`) at this work queue, such as nats://127.0.0.1:4222
    #[arg(long, value_name = "ADDRESS", conflicts_with = "threads")]
    pub(crate) workers: Option<String>,
    /// The key of this run, which workers need as well; made if it is not there [default: workers.key where everything goes]
    #[arg(long, value_name = "FILE", requires = "workers")]
    pub(crate) key: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WorkArgs {
    /// Where the work queue is, such as nats://127.0.0.1:4222
    pub(crate) url: String,
    /// The key of the run to work for, as `bardo lab run --workers` made it; more than once for several runs
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) key: Vec<PathBuf>,
    /// Paths to run at a time [default: one for each core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Folder of the recorded data here, if it is not the one the experiment was begun with
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReproduceArgs {
    /// The figure to make; without a name all are listed
    pub(crate) name: Option<String>,
    /// At the size that is run whenever the program is changed, which takes minutes instead of hours
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only say what would be run, on which seeds and data
    #[arg(long, requires = "name")]
    pub(crate) show: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct LivesArgs {
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Note the fitness of every life each so many ticks
    #[arg(long, default_value_t = 5_000, conflicts_with = "plan", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) note_every: u64,
    /// Run the same paths once for each value of a key, and compare with the first, such as
    /// stress.mode=off,visible,enforced; more than once for every combination
    #[arg(long, value_name = "KEY=A,B", conflicts_with_all = ["plan", "manifest"])]
    pub(crate) vary: Vec<String>,
    /// Draw the results as well: one HTML file
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub(crate) html: Option<PathBuf>,
}

/// Everything a run depends on, or the plan of an earlier run.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanArgs {
    /// How many lives
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) lives: u64,
    /// World to live in
    #[arg(long, value_enum)]
    pub(crate) world: Option<WorldKind>,
    /// Imported data to replay (see `bardo data`)
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// Every path and every roll follows from this number
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads to run on [default: one for each core]
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// How often the golems look, such as 40s or 1h
    #[arg(long)]
    pub(crate) interval: Option<String>,
    /// No life is longer than this many ticks
    #[arg(long, default_value_t = 400_000)]
    pub(crate) most_ticks: u64,
    /// Any key of golem.toml, such as mortality.stochastic.enabled=false or mind.learning=false
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Lives of a replay share no bar: each begins where the one before must have ended
    #[arg(long)]
    pub(crate) disjoint: bool,
    /// Laws the golems are born under, to compare with today's
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=i64::from(::golem::laws::NEWEST)))]
    pub(crate) laws: Option<u16>,
    /// Write a row for each life and each note into this folder too, as JSON lines, CSV and Parquet
    #[arg(long, value_name = "FOLDER")]
    pub(crate) rows: Option<PathBuf>,
    /// Write the plan here, to be repeated with --plan
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Repeat a plan written before; every choice but --threads comes from it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lives", "world", "data", "seed", "interval", "most_ticks", "set", "disjoint", "laws"])]
    pub(crate) plan: Option<PathBuf>,
}
