//! What can be typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use golem::{Name, Usdc};
use host::life::Pace;

/// A runtime for agents that can die.
///
/// A golem watches a world, makes claims about it, lives on money it was given, and ends: out of money,
/// out of touch with the world, or by chance. All money is paper.
#[derive(Debug, Parser)]
#[command(name = "bardo", version, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
    /// Where everything is kept [default: $BARDO_HOME, or the platform's data folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) home: Option<PathBuf>,
    /// Print JSON instead of words; JSON lines on runs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Watch a golem live, die and be succeeded, in a minute; needs nothing and leaves nothing behind
    Demo(DemoArgs),
    /// Make a home: a treasury with paper money, and a place for golems
    Init,
    /// Make, run, look at and steer golems
    #[command(subcommand)]
    Golem(GolemVerb),
    /// Run all golems here in one process, with an API, until stopped
    Up(UpArgs),
    /// Watch a host that is up: its golems, their lives, memories, dreams and deaths, on screen
    Tui(TuiArgs),
    /// Dreams: order a night, or read what came of one
    #[command(subcommand)]
    Dream(DreamVerb),
    /// Memory (Grimoire): what a golem knows, how surely, and from where
    #[command(subcommand)]
    Grimoire(GrimoireVerb),
    /// What a dead golem left in words: its life, its end, what it would do differently
    Testament(TestamentArgs),
    /// All who died here, and of what
    Graveyard,
    /// The family of a golem, from the first of its line
    Lineage { name: String },
    /// The shelf (Library) of what your golems have left
    #[command(subcommand)]
    Library(LibraryVerb),
    /// Who may talk to a host over its API, and how far
    #[command(subcommand)]
    Token(TokenVerb),
    /// Kill switch: end every golem here at once
    Halt(Halt),
    /// Show the treasury, or add paper money to it
    Treasury(TreasuryArgs),
    /// Bring in candles to replay
    #[command(subcommand)]
    Data(DataVerb),
    /// Live whole populations in memory, to find out
    #[command(subcommand)]
    Lab(LabVerb),
    /// Being told of what happens
    #[command(subcommand)]
    Notify(NotifyVerb),
    /// Which home this is: where, its id, its public key
    Home,
    /// Copy the whole home into a folder, even while a host is up
    Backup(Backup),
    /// Bring a whole home back from its copies, where there is none
    Restore(WholeRestore),
    /// Prove that a whole home can be brought back from its copies
    Drill { folder: PathBuf },
    /// Examine the whole home: every record, every roll, every cent
    Doctor,
    /// Set right what can be when a file is lost, cut or old; tells first what is lost, and changes nothing without --yes
    Recover {
        /// Do it
        #[arg(long)]
        yes: bool,
    },
    /// Show, check and describe the configuration
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Print shell completions
    Completions { shell: clap_complete::Shell },
    /// Write man pages, one for each command
    Man {
        /// Folder to write them into, such as ~/.local/share/man/man1
        folder: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum NotifyVerb {
    /// Send something that means nothing to whoever is to be told, and say who took it
    Test,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct UpArgs {
    /// World seconds per second
    #[arg(long, default_value_t = 1.0, value_parser = speed_number)]
    pub(crate) speed: f64,
    /// Where the API listens, instead of api.listen; empty for no API
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// What the log on stderr looks like, instead of log.format
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    Human,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenVerb {
    /// Make a token, shown once
    New {
        /// What you will know it by, such as grafana
        name: Name,
        #[arg(long, value_enum)]
        scope: TokenScope,
    },
    /// All tokens, what they open, and when they were made
    List,
    /// Make a token open nothing, at once
    Revoke { name: Name },
    /// Give a token another text and the same scope; `local` is the one in api-token
    Rotate { name: Name },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenScope {
    /// Look at everything, figures and events included
    Read,
    /// And say yes or no to what a golem asks
    Answer,
    /// And pause, resume, freeze, fund, withdraw, send to sleep and wake
    Order,
    /// And end, succeed, or change what a golem may do
    All,
}

impl From<TokenScope> for host::home::tokens::Scope {
    fn from(scope: TokenScope) -> host::home::tokens::Scope {
        match scope {
            TokenScope::Read => host::home::tokens::Scope::Read,
            TokenScope::Answer => host::home::tokens::Scope::Answer,
            TokenScope::Order => host::home::tokens::Scope::Order,
            TokenScope::All => host::home::tokens::Scope::All,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TuiArgs {
    /// A golem to begin with; without one, all of them
    pub(crate) name: Option<String>,
    /// Where the host listens, instead of api.listen
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
}

fn speed_number(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('x').parse::<f64>().ok();
    number
        .filter(|speed| (0.001..=1e6).contains(speed))
        .ok_or_else(|| "must be from 0.001 to 1000000, such as 60".into())
}

#[derive(Debug, Subcommand)]
pub(crate) enum GolemVerb {
    /// Bring a golem into the world and fund it from the treasury
    New(New),
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
    /// Its life in pictures: one HTML file, to be read, printed and passed on
    Report {
        name: String,
        /// File to make; without one it is printed
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// What happened, from birth on
    Events {
        name: String,
        /// Also what happens every tick
        #[arg(long)]
        all: bool,
    },
    /// What it remembers: ticks that surprised, mattered or changed something
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
    /// What it goes by: its rules, and what was proposed by editing PLAYBOOK.md
    Playbook {
        name: String,
        /// Take what was proposed, to be tried in the shadow
        #[arg(long, conflicts_with = "discard")]
        accept: bool,
        /// Forget what was proposed and write the file anew
        #[arg(long)]
        discard: bool,
    },
    /// What presses on it, why, and what would clear it
    Stress { name: String },
    /// Give it money from the treasury
    Fund(Money),
    /// Take money back to the treasury
    Withdraw(Money),
    /// Show what it asks for, or say yes or no to it; no answer is a no
    Approve {
        /// Without a name, everything that waits for an answer
        name: Option<String>,
        /// The number of what it asks for, so that nothing is answered unseen
        key: Option<u64>,
        /// Say no
        #[arg(long, requires = "key")]
        deny: bool,
    },
    /// Ask it something: a model answers from its record, and says which records it goes by
    Ask {
        name: String,
        /// Such as "why do you hold?"
        question: String,
    },
    /// Say what it is to have in mind when it thinks; it moves no money and loosens no rule
    Steer {
        name: String,
        /// Without a text, what it has in mind now; an empty one takes it back
        text: Option<String>,
    },
    /// What it asked models, what they said and what it cost
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
    /// End it: death by its owner
    #[command(alias = "kill")]
    Retire(Retire),
    /// Make an heir of a dead golem, from what it left
    Successor(Successor),
    /// Put a dead golem away: out of the list and the screens, with everything it left
    Bury { name: String },
    /// Put it back into the list
    Unbury { name: String },
    /// Take it out of the host, for as long as you like: no host lives it until it is joined again
    Release { name: String },
    /// Let a host live it again
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

#[derive(Debug, Subcommand)]
pub(crate) enum GrimoireVerb {
    /// Look something up, best first
    Search(Search),
    /// One entry: evidence, confidence, provenance
    Show { name: String, id: u64 },
    /// Fill in vectors for finding by meaning, with the model bardo.toml names
    Embed { name: String },
    /// How much is known, of which kind
    Stats { name: String },
    /// Hold every entry against the journal
    Verify { name: String },
    /// Write what it holds true as a bundle: one JSON object a line
    Export {
        name: String,
        /// File to make; without one it is printed
        to: Option<PathBuf>,
    },
    /// Take in a bundle: into quarantine, where it is tried without a say
    Import {
        name: String,
        from: PathBuf,
        /// How it came here
        #[arg(long = "as", value_enum, default_value_t = Origin::Purchased)]
        origin: Origin,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Successor {
    /// The golem that died
    pub(crate) dead: String,
    /// What to call the heir; without one the next in the line, such as ada-2
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
    /// Even if it would be a copy
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

#[derive(Debug, ClapArgs)]
pub(crate) struct TestamentArgs {
    pub(crate) name: String,
    /// Hold it against the journal: every record, every roll, every word
    #[arg(long)]
    pub(crate) verify: bool,
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
    /// Only those who are alive
    #[arg(long)]
    pub(crate) living: bool,
    /// Only the dead
    #[arg(long)]
    pub(crate) dead: bool,
    /// Only those who are frozen
    #[arg(long)]
    pub(crate) frozen: bool,
    /// Only those who are paused
    #[arg(long)]
    pub(crate) paused: bool,
    /// Only those who wait for your yes or no
    #[arg(long)]
    pub(crate) asking: bool,
    /// Those who are buried, and nobody else
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
    /// What they cost you most first
    Net,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LibraryVerb {
    /// Everything on the shelf, surest first
    List,
    /// What has all these words in it
    Search { words: Vec<String> },
    /// Put what a golem knows on the shelf: all that may leave it, or these entries
    Add {
        name: String,
        /// Numbers of entries (see `bardo grimoire search`)
        ids: Vec<u64>,
    },
    /// Write a bundle of it, signed with your key
    Export {
        to: PathBuf,
        /// Only what has all these words in it
        words: Vec<String>,
    },
    /// Take a bundle onto the shelf, whoever signed it
    Import { from: PathBuf },
    /// What would make a good bundle; or, with a file, make one under a name
    Bundle {
        #[arg(default_value = "bundle")]
        name: String,
        #[arg(long)]
        to: Option<PathBuf>,
        words: Vec<String>,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Origin {
    Inherited,
    Clade,
    Purchased,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Search {
    pub(crate) name: String,
    /// What it is about; nothing for all, best first
    pub(crate) query: Vec<String>,
    /// Only entries of this kind: insight, heuristic, warning, causal_link, strategy_fragment or question
    #[arg(long)]
    pub(crate) kind: Option<KindArg>,
    /// Also what is in quarantine or archived
    #[arg(long)]
    pub(crate) all: bool,
    /// How each score came about
    #[arg(long)]
    pub(crate) explain: bool,
    #[arg(long, default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KindArg(pub(crate) golem::grimoire::Kind);

impl std::str::FromStr for KindArg {
    type Err = String;

    fn from_str(text: &str) -> Result<KindArg, String> {
        let kind = golem::grimoire::Kind::ALL.into_iter().find(|kind| kind.name() == text);
        let names = golem::grimoire::Kind::ALL.map(golem::grimoire::Kind::name).join(", ");
        kind.map(KindArg).ok_or_else(|| format!("there is no kind {text}; there are {names}"))
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct New {
    pub(crate) name: Name,
    /// What to live in
    #[arg(long, value_enum)]
    pub(crate) world: Option<WorldKind>,
    /// Make the life repeatable: identity, chance and world all follow from this number
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Imported data to replay (see `bardo data`)
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// How often it looks, such as 40s or 1h
    #[arg(long)]
    pub(crate) interval: Option<String>,
    /// Model it may ask, such as ollama/qwen3 or openai/gpt-5-mini; the same as --set mind.cheap=MODEL
    #[arg(long, value_name = "MODEL")]
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

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WorldKind {
    Sim,
    Replay,
    Queue,
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
pub(crate) struct DemoArgs {
    /// Which life: market, chance and end all follow from this number
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How fast it is shown: 1x takes about a minute, max does not wait
    #[arg(long, default_value = "1x", value_parser = pace)]
    pub(crate) speed: Pace,
    /// Plain text, as fast as possible; as always where the output is no terminal
    #[arg(long)]
    pub(crate) headless: bool,
    /// Record what is shown, and when, as an asciicast
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Keep the home it lived in, in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
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
    /// Its name again, instead of being asked
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

#[derive(Debug, ClapArgs)]
pub(crate) struct Backup {
    /// Folder to make, or one that holds earlier rounds
    pub(crate) folder: PathBuf,
    /// Also owner.key and the token of the API, encrypted with a passphrase
    #[arg(long)]
    pub(crate) with_keys: bool,
    /// A file with the passphrase in its first line, instead of BARDO_PASSPHRASE
    #[arg(long, value_name = "FILE", requires = "with_keys")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WholeRestore {
    /// A folder that `bardo backup` or `bardo up` has made
    pub(crate) folder: PathBuf,
    /// The home it is a copy of is gone for good
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Also the keys in it, with the passphrase they were encrypted with
    #[arg(long)]
    pub(crate) with_keys: bool,
    /// A file with the passphrase in its first line, instead of BARDO_PASSPHRASE
    #[arg(long, value_name = "FILE", requires = "with_keys")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Halt {
    /// Every golem in this home
    #[arg(long, required = true)]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TreasuryArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<TreasuryVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TreasuryVerb {
    /// Add paper money
    Add { amount: Usdc },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataVerb {
    /// Read a CSV of candles (plain or gzip), report what is wrong with it, and keep it
    Import {
        file: PathBuf,
        /// What to call it
        #[arg(long)]
        name: Name,
    },
    /// What has been imported
    List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// So many whole lives, each on a path of its own
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
pub(crate) struct LivesArgs {
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
    /// Note the fitness of every life each so many ticks
    #[arg(long, default_value_t = 5_000, conflicts_with = "plan", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) note_every: u64,
    /// Run the same paths once for each value of a key, and compare with the first, such as
    /// stress.mode=off,visible,enforced
    #[arg(long, value_name = "KEY=A,B", conflicts_with_all = ["plan", "manifest"])]
    pub(crate) vary: Option<String>,
    /// Draw what they came to as well: one HTML file
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub(crate) html: Option<PathBuf>,
}

/// What a run depends on, or the plan of an earlier one.
#[derive(Debug, ClapArgs)]
pub(crate) struct PlanArgs {
    /// How many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) lives: u64,
    /// What to live in
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
    /// How often they look, such as 40s or 1h
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
    /// The laws they are born under, to compare with those of today
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=i64::from(golem::laws::NEWEST)))]
    pub(crate) laws: Option<u16>,
    /// Write the plan here, to be repeated with --plan
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,
    /// Repeat a plan written before; every choice but --threads comes from it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lives", "world", "data", "seed", "interval", "most_ticks", "set", "disjoint", "laws"])]
    pub(crate) plan: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DreamVerb {
    /// Fall asleep at once
    Now { name: String },
    /// Dream from now on
    On { name: String },
    /// Dream no more
    Off { name: String },
    /// End a night before its time
    Wake { name: String },
    /// The newest night: what was replayed and found, what is on trial, what earlier ones came to
    Report { name: String },
    /// All nights
    List { name: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Every key, its value and where that comes from
    Show {
        /// A golem; without one, the home's own
        name: Option<String>,
    },
    /// Check a bardo.toml or golem.toml
    Check { file: Option<PathBuf> },
    /// JSON schema of a configuration file
    Schema {
        #[arg(value_enum)]
        file: ConfigFile,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ConfigFile {
    Bardo,
    Golem,
}

fn pace(text: &str) -> Result<Pace, String> {
    if text == "max" {
        return Ok(Pace::Max);
    }
    let times: f64 = text.trim_end_matches('x').parse().map_err(|_| "write 1x, 100x or max".to_owned())?;
    if times.is_finite() && (0.001..=1e6).contains(&times) {
        Ok(Pace::Times(times))
    } else {
        Err("between 0.001x and 1000000x, or max".to_owned())
    }
}
