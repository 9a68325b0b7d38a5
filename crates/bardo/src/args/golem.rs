//! What can be typed after `bardo golem`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use golem::{Name, Usdc};
use shell::life::Pace;

#[derive(Debug, Subcommand)]
pub(crate) enum GolemVerb {
    /// Bring a golem into the world and fund it from the treasury
    New(Box<New>),
    /// Run it: at the pace of the world, faster, or as fast as possible
    Run(RunArgs),
    /// All golems, living and dead, and how each stands
    List(ListArgs),
    /// One golem: vitality, money, skill, chance, and how it died
    Show {
        name: String,
        /// Draw its life line too: vitality, skill, return next to buy and hold, and the bits it knows
        #[arg(long)]
        plot: bool,
    },
    /// A golem's life in pictures: one HTML file, to be read, printed and passed on
    Report {
        name: String,
        /// File to make; without one it is printed
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A golem's life as rows: JSON lines, CSV and Parquet
    Export {
        name: String,
        /// Every claim it made, what naive would have said, and what came of it, into this folder
        #[arg(long, value_name = "FOLDER")]
        claims: PathBuf,
    },
    /// Events of a life, from birth on
    Events {
        name: String,
        /// Also what happens every tick
        #[arg(long)]
        all: bool,
    },
    /// Episodes a golem remembers: ticks that surprised, mattered or changed something
    Episodes {
        name: String,
        /// How many, counted back from the newest
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
        last: u64,
    },
    /// Show the policy it acts under, or change it
    Policy {
        name: String,
        /// Any policy key, such as policy.per_action=0.1
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// Rules a golem acts by, and changes proposed by editing PLAYBOOK.md
    Playbook {
        name: String,
        /// Accept the proposed changes; they are tried in the shadow first
        #[arg(long, conflicts_with = "discard")]
        accept: bool,
        /// Drop the proposed changes and write the file again
        #[arg(long)]
        discard: bool,
    },
    /// Stressors of a golem: why each presses, and what would clear it
    Stress { name: String },
    /// Give a golem another name, whether it lives or is dead; the old one leads to it for a day
    Rename {
        /// The name it has now, or one that still leads to it
        #[arg(value_name = "OLD")]
        name: String,
        /// The name it gets: 1 to 40 of a-z, 0-9 and '-', beginning with a letter
        #[arg(value_name = "NEW")]
        new: Name,
    },
    /// Give it money from the treasury
    Fund(Money),
    /// Take money back to the treasury
    Withdraw(Money),
    /// Show what a golem asks for, or say yes or no to it; no answer is a no
    Approve {
        /// The golem; without one, everything that waits for an answer
        name: Option<String>,
        /// Number of the request, so that nothing is answered unseen
        key: Option<u64>,
        /// Say no
        #[arg(long, requires = "key")]
        deny: bool,
    },
    /// Ask a golem something: a model answers from its record, and names the records it used
    Ask {
        name: String,
        /// The question, such as "why do you hold?"
        question: String,
    },
    /// Give a golem guidance for its thinking; guidance moves no money and loosens no rule
    Steer {
        name: String,
        /// Without a text, the guidance it has now; an empty text clears it
        text: Option<String>,
    },
    /// How an agent of yours calls models at this golem's expense: address, token, and what to set for common clients
    Connect {
        name: String,
        /// Another token; the old one opens nothing from now on
        #[arg(long)]
        rotate: bool,
    },
    /// Costs of agents' calls, by golem, day and model, of all golems without a name; with one, also what became of its
    /// money, what stopped its calls, what its checks say, and what was refused
    Costs {
        name: Option<String>,
        /// Only calls settled within this span, such as 7d
        #[arg(long, value_name = "SPAN")]
        last: Option<String>,
        /// As comma-separated values
        #[arg(long)]
        csv: bool,
        /// By life, session, sub-agent and tool, of a golem and its heirs; every part is the sum of its own
        #[arg(long, conflicts_with_all = ["last", "csv"])]
        tree: bool,
    },
    /// A golem's checks, with the command and the last result of each; with NAME=COMMAND, run that from now on, in this folder
    Check {
        name: String,
        #[arg(value_name = "NAME=COMMAND")]
        set: Vec<String>,
        /// How long a check may take, such as 60s
        #[arg(long)]
        limit: Option<String>,
    },
    /// Programs that are a golem's world or mind here; with --world or --mind, another from now on, run in this folder
    Program(ProgramArgs),
    /// Make a claim for a golem, scored when it comes due: the chance that a check passes, or the number it gives
    Claim {
        name: String,
        /// Domain of the claim: a check, or another domain of its world
        domain: String,
        /// A chance from 0 to 1, or a number
        #[arg(allow_negative_numbers = true)]
        value: f64,
        /// How long from now, such as 2h
        #[arg(long = "in", value_name = "SPAN", conflicts_with = "at", required_unless_present = "at")]
        within: Option<String>,
        /// When, such as 2030-01-31T09:00:00Z
        #[arg(long, value_name = "TIME")]
        at: Option<String>,
    },
    /// Questions a golem asked models, with their answers and costs
    Thoughts {
        name: String,
        /// How many, counted back from the newest
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
        last: u64,
        /// Word for word, as far as that is kept (models.keep_days)
        #[arg(long)]
        full: bool,
    },
    /// Stop world time and clocks until resumed
    Pause(Whom),
    /// Undo a pause or a freeze
    Resume(Whom),
    /// Forbid new exposure at once, even if the process hangs
    Freeze {
        #[command(flatten)]
        whom: Whom,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// End a golem's life: death by its owner
    #[command(alias = "kill")]
    Retire(Retire),
    /// Make an heir of a dead golem, from what it left
    Successor(Successor),
    /// Merge the branch of its line into the branch you are on, once you have seen what it changes; without hooks and filters
    Merge {
        /// A golem of the line
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Put a dead golem away: out of the list and the screens, with everything it left
    Bury {
        name: String,
        /// Also if something of it is not home yet: it stays where it is
        #[arg(long)]
        unfinished: bool,
    },
    /// Put a buried golem back into the list
    Unbury { name: String },
    /// Take a golem out of the host, for as long as you like: no host runs it until it is joined again
    Release { name: String },
    /// Let a host run a released golem again
    Join { name: String },
    /// Copy a life into a folder, even while it is running
    Backup {
        name: String,
        /// Folder to make; must not be there yet
        to: PathBuf,
    },
    /// Prove that a backup, or the newest of each golem in a folder of them, opens and folds to the life it was
    Drill { from: PathBuf },
    /// Take a backup or a moved life into this home
    Restore(Restore),
    /// Seal a life here and leave it in a folder for one other home to take in
    Move {
        name: String,
        /// Folder to make; must not be there yet
        folder: PathBuf,
        /// The home that may take it in, by the id that `bardo home` says there
        #[arg(long, value_name = "HOME-ID")]
        to: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Successor {
    /// The golem that died
    pub(crate) dead: String,
    /// Name of the heir; without one the next in the line, such as ada-2
    #[arg(long)]
    pub(crate) name: Option<Name>,
    /// Money to live on, instead of what its predecessor was given
    #[arg(long, value_name = "USDC")]
    pub(crate) budget: Option<Usdc>,
    /// Leave it what its predecessor knew, even if succession.inherit_grimoire says otherwise
    #[arg(long, conflicts_with = "no_inherit")]
    pub(crate) inherit_grimoire: bool,
    /// Leave it nothing but the configuration
    #[arg(long)]
    pub(crate) no_inherit: bool,
    /// Make the heir even if it would be a copy
    #[arg(long)]
    pub(crate) force_similarity: bool,
    /// Make the life repeatable
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Any key of golem.toml that is to be different
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// One golem, or all of them.
#[derive(Debug, ClapArgs)]
pub(crate) struct Whom {
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) name: Option<String>,
    /// Every golem of this home
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// Only living golems
    #[arg(long)]
    pub(crate) living: bool,
    /// Only dead golems
    #[arg(long)]
    pub(crate) dead: bool,
    /// Only frozen golems
    #[arg(long)]
    pub(crate) frozen: bool,
    /// Only paused golems
    #[arg(long)]
    pub(crate) paused: bool,
    /// Only golems that wait for your yes or no
    #[arg(long)]
    pub(crate) asking: bool,
    /// Only buried golems
    #[arg(long)]
    pub(crate) buried: bool,
    /// The order they are listed in
    #[arg(long, value_enum, default_value_t = SortBy::Name, value_name = "BY")]
    pub(crate) sort: SortBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortBy {
    Name,
    State,
    /// The weakest first
    Vitality,
    /// The oldest first
    Age,
    /// The poorest first
    Credit,
    /// The costliest to you first
    Net,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ProgramArgs {
    pub(crate) name: String,
    /// Command of its world, one line for the shell, such as './my_world.py --fast'
    #[arg(long, value_name = "COMMAND")]
    pub(crate) world: Option<String>,
    /// Command of the program that carries out its orders
    #[arg(long, value_name = "COMMAND")]
    pub(crate) orders: Option<String>,
    /// Command of its mind
    #[arg(long, value_name = "COMMAND")]
    pub(crate) mind: Option<String>,
    /// Run it without an outside mind from now on
    #[arg(long, conflicts_with = "mind")]
    pub(crate) no_mind: bool,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// How a program of the owner's is run.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct HowArgs {
    /// Let the program write to its own folder alone
    #[arg(long)]
    pub(crate) confined: bool,
    /// Pass this variable of the environment on to the program; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,
    /// Mebibytes of memory the program may ask for
    #[arg(long, value_name = "MIB")]
    pub(crate) memory: Option<u64>,
    /// Seconds the program may take for an answer
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) answers_within: Option<u64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct New {
    /// Name of the golem; without one you are asked for everything
    pub(crate) name: Option<Name>,
    /// World to live in: sim, edge, fair, replay, live, queue, checks, or a program of yours such as ./my_world.py
    #[arg(long, value_name = "WORLD", value_parser = world)]
    pub(crate) world: Option<Chosen>,
    /// Make the life repeatable: identity, chance and world all follow from this number
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Data to live in (see `bardo data`): what was imported is replayed, what is followed goes on into the present
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// A check of yours that passes if its command ends with 0, such as tests='cargo test'; may be given again
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) check: Vec<String>,
    /// A check of yours whose command prints a number, such as tickets='./count-tickets'; may be given again
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) number: Vec<String>,
    /// A program of yours that carries out its orders where it watches the present; without one they are on paper
    #[arg(long, value_name = "COMMAND")]
    pub(crate) orders: Option<String>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    /// How often it looks, such as 40s or 1h
    #[arg(long)]
    pub(crate) interval: Option<String>,
    /// Model it may ask, such as ollama/qwen3 (the same as --set mind.cheap=MODEL), or a program of yours such as ./my_mind.py
    #[arg(long, value_name = "MIND")]
    pub(crate) mind: Option<String>,
    /// Money to live on
    #[arg(long, value_name = "USDC")]
    pub(crate) credit: Option<Usdc>,
    /// Money to act with
    #[arg(long, value_name = "USDC")]
    pub(crate) capital: Option<Usdc>,
    /// Any key of golem.toml, such as mortality.stochastic.enabled=false
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// A golem.toml to start from
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A bundle to leave it: tried like anything from outside before it is believed
    #[arg(long, value_name = "BUNDLE")]
    pub(crate) from: Option<PathBuf>,
}

impl New {
    /// Whether the command was given no argument at all.
    pub(crate) fn is_bare(&self) -> bool {
        let said = [&self.data, &self.interval, &self.mind, &self.orders].iter().any(|text| text.is_some());
        let lists = [&self.check, &self.number, &self.set, &self.how.env].iter().any(|list| !list.is_empty());
        let money = self.credit.is_some() || self.capital.is_some();
        let files = self.config.is_some() || self.from.is_some();
        self.name.is_none() && self.world.is_none() && self.seed.is_none() && !(said || lists || money || files)
    }

    /// A newborn with a name and the defaults for everything else.
    pub(crate) fn named(name: Name) -> New {
        New {
            name: Some(name),
            world: None,
            seed: None,
            data: None,
            check: Vec::new(),
            number: Vec::new(),
            orders: None,
            how: HowArgs::default(),
            interval: None,
            mind: None,
            credit: None,
            capital: None,
            set: Vec::new(),
            config: None,
            from: None,
        }
    }
}

/// A world of ours, or a program of the owner's.
#[derive(Clone, Debug)]
pub(crate) enum Chosen {
    Ours(WorldKind),
    Program(String),
}

fn world(text: &str) -> Result<Chosen, String> {
    match WorldKind::from_str(text, true) {
        Ok(kind) => Ok(Chosen::Ours(kind)),
        Err(_) if text.chars().all(|c| c.is_ascii_lowercase()) && !std::path::Path::new(text).exists() => {
            let kinds = "sim, edge, fair, replay, live, queue or checks";
            Err(format!("there is no world {text:?}; name {kinds}, or a program of yours, such as ./{text}.py"))
        }
        Err(_) => Ok(Chosen::Program(text.to_owned())),
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WorldKind {
    Sim,
    Edge,
    Fair,
    Replay,
    Live,
    Queue,
    Checks,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    pub(crate) name: String,
    /// Pace of world time: 1x, 100x, or max
    #[arg(long, default_value = "1x", value_parser = pace)]
    pub(crate) speed: Pace,
    /// Stop after so many ticks
    #[arg(long)]
    pub(crate) ticks: Option<u64>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Money {
    pub(crate) name: String,
    /// In dollars, such as 5 or 0.25
    pub(crate) amount: Usdc,
    /// The money it acts with, not the money it lives on
    #[arg(long)]
    pub(crate) capital: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Retire {
    pub(crate) name: String,
    #[arg(long, default_value = "")]
    pub(crate) reason: String,
    /// The golem's name again, instead of being asked
    #[arg(long, value_name = "NAME")]
    pub(crate) confirm: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Restore {
    pub(crate) from: PathBuf,
    /// Call it something else here
    #[arg(long)]
    pub(crate) name: Option<Name>,
    /// Undo what this home has seen of the same life since
    #[arg(long)]
    pub(crate) rewind: bool,
    /// The original is gone for good; this copy is the life now
    #[arg(long)]
    pub(crate) take_over: bool,
    /// The key of the home a moved life comes from, as `bardo home` says there
    #[arg(long, value_name = "KEY")]
    pub(crate) signed_by: Option<String>,
}

pub(super) fn pace(text: &str) -> Result<Pace, String> {
    if text == "max" {
        return Ok(Pace::Max);
    }
    let times: f64 = text.trim_end_matches('x').parse().map_err(|_| "write 1x, 100x or max".to_owned())?;
    if times.is_finite() && (0.001..=1e6).contains(&times) {
        Ok(Pace::Times(times))
    } else {
        Err("must be from 0.001x to 1000000x, or max".to_owned())
    }
}

pub(super) fn speed_number(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('x').parse::<f64>().ok();
    number
        .filter(|speed| (0.001..=1e6).contains(speed))
        .ok_or_else(|| "must be from 0.001 to 1000000, such as 60".into())
}
