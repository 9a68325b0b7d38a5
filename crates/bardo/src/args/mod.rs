//! What can be typed.

// Read here for help, completions and man pages; what was typed is for the program that it is handed to.
#[allow(dead_code)]
mod chain;
mod golem;
mod lab;
mod wrap;

use std::path::PathBuf;

use ::golem::{Name, Usdc};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use shell::feeds::Venue;
use shell::life::Pace;

pub(crate) use chain::*;
pub(crate) use golem::*;
pub(crate) use lab::*;
pub(crate) use wrap::*;

/// Puts an AI agent under a cap on real money, and ends it with a reason
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
    /// Run a program of yours on a budget: it calls models at a golem's expense, and ends with the golem
    Wrap(Box<WrapArgs>),
    /// Measure what age does to the agents you have, from the records they leave on this machine; nothing is sent, and nothing of
    /// yours is changed
    Age(AgeArgs),
    /// Speak MCP over standard input and output, with the token in BARDO_TOKEN: a golem's agent reads its state and makes claims, an assistant of yours looks after golems
    Mcp,
    /// Run all golems here in one process, with an API, until stopped
    Up(UpArgs),
    /// Make a link that opens the page of a host that is up, in a browser; it is good once
    Page {
        /// Where the browser finds the host, instead of api.listen
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Watch a host that is up: its golems, their lives, memories, dreams and deaths, on screen
    Tui(TuiArgs),
    /// Dreams: order a night, or read what came of one
    #[command(subcommand)]
    Dream(DreamVerb),
    /// Memory (Grimoire): what a golem knows, how surely, and from where
    #[command(subcommand)]
    Grimoire(GrimoireVerb),
    /// The testament of a dead golem: its life, its end, what it would do differently
    Testament(TestamentArgs),
    /// All golems that died here, and of what
    Graveyard,
    /// The family of a golem, from the first of its line
    Lineage { name: String },
    /// The shelf (Library) of what your golems have left
    #[command(subcommand)]
    Library(LibraryVerb),
    /// Tokens for the API of a host, and what each of them opens
    #[command(subcommand)]
    Token(TokenVerb),
    /// Kill switch: end every golem here at once
    Halt(Halt),
    /// Show the treasury, or add paper money to it
    Treasury(TreasuryArgs),
    /// Golems of yours in several homes, and the relay between them (Styx)
    #[command(subcommand)]
    Styx(StyxVerb),
    /// A real chain: a golem that exchanges money in a pool, with a purse that caps it
    #[command(subcommand)]
    Chain(ChainVerb),
    /// Prices of models: the price book, and how to bring in a newer one
    #[command(subcommand)]
    Prices(PricesVerb),
    /// Bring in candles to replay
    #[command(subcommand)]
    Data(DataVerb),
    /// Worlds that are programs of yours
    #[command(subcommand)]
    World(WorldVerb),
    /// Minds that are programs of yours
    #[command(subcommand)]
    Mind(MindVerb),
    /// Run whole populations in memory, as experiments
    #[command(subcommand)]
    Lab(LabVerb),
    /// Find out how many golems this machine carries, by running some for a few seconds in a folder of their own
    Bench(BenchArgs),
    /// Notes about what happens, to targets such as a webhook
    #[command(subcommand)]
    Notify(NotifyVerb),
    /// This home: its folder, its id, its public key
    Home,
    /// Copy the whole home into a folder, even while a host is up
    Backup(Backup),
    /// Bring a whole home back from its copies, where no home is yet
    Restore(WholeRestore),
    /// Prove that a whole home can be brought back from its copies
    Drill { folder: PathBuf },
    /// Examine the whole home: every record, every roll, every cent
    Doctor,
    /// Show whether this machine's clock is believed
    Clock {
        /// Believe the clock: golems use it from now on
        #[arg(long)]
        right: bool,
    },
    /// Effects of another version on this home
    #[command(subcommand)]
    Upgrade(UpgradeVerb),
    /// Repair what can be repaired when a file is lost, cut or old; tells first what is lost, and changes nothing without --yes
    Recover {
        /// Make the repairs
        #[arg(long)]
        yes: bool,
    },
    /// Show, check and describe the configuration
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Keep a program, so that nothing of it is left
    #[command(hide = true)]
    Keep { launch: String },
    /// Watch over a program that has this terminal
    #[command(hide = true)]
    Ward { ward: String },
    /// Become that program
    #[command(hide = true)]
    Enter { ward: String },
    /// The commands a newcomer needs first; with `all` every command, or what one of them does
    Help {
        /// all, or a command such as golem new
        #[arg(value_name = "COMMAND")]
        topic: Vec<String>,
    },
    /// Print shell completions
    Completions { shell: clap_complete::Shell },
    /// Write man pages, one for each command
    Man {
        /// Folder to write them into, such as ~/.local/share/man/man1
        folder: PathBuf,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchArgs {
    /// How many golems to run
    #[arg(long, default_value_t = 50, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub(crate) golems: usize,
    /// How long to watch them
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) seconds: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UpgradeVerb {
    /// Tell what this version will do to a home that an earlier one made, and what it cannot; changes nothing
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NotifyVerb {
    /// Send a test note to every target and list which of them took it
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
    /// Where the model gateway listens, instead of gateway.listen; empty for none
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) gateway: Option<String>,
    /// Format of the log on stderr, instead of log.format
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
        /// Name of the token, such as grafana
        name: Name,
        #[arg(long, value_enum)]
        scope: TokenScope,
    },
    /// All tokens, what they open, and when they were made
    List,
    /// Revoke a token: from now on it opens nothing
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

impl From<TokenScope> for shell::home::tokens::Scope {
    fn from(scope: TokenScope) -> shell::home::tokens::Scope {
        match scope {
            TokenScope::Read => shell::home::tokens::Scope::Read,
            TokenScope::Answer => shell::home::tokens::Scope::Answer,
            TokenScope::Order => shell::home::tokens::Scope::Order,
            TokenScope::All => shell::home::tokens::Scope::All,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum PricesVerb {
    /// The price of a model here, the table it comes from, and the model's other names
    Show {
        /// As PROVIDER/MODEL, such as openai/gpt-5-mini
        model: String,
    },
    /// Every model that has a price here
    List {
        /// Only models of this provider, such as anthropic
        #[arg(long)]
        provider: Option<String>,
    },
    /// Put a newer price book into this home, in place of the built-in one
    Update {
        /// A book in the form that packaging/prices writes
        file: PathBuf,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct TuiArgs {
    /// A golem to begin with; without one, all of them
    pub(crate) name: Option<String>,
    /// Where the host listens, instead of api.listen
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrimoireVerb {
    /// Look something up, best first
    Search(Search),
    /// One entry: evidence, confidence, provenance
    Show { name: String, id: u64 },
    /// Fill in vectors for finding by meaning, with the model bardo.toml names
    Embed { name: String },
    /// Number of entries, by kind
    Stats { name: String },
    /// Hold every entry against the journal
    Verify { name: String },
    /// Write what a golem holds true as a bundle: one JSON object a line
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
pub(crate) struct TestamentArgs {
    pub(crate) name: String,
    /// Hold it against the journal: every record, every roll, every word
    #[arg(long)]
    pub(crate) verify: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LibraryVerb {
    /// Everything on the shelf, surest first
    List,
    /// Entries that have all these words in them
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
        /// Only entries that have all these words in them
        words: Vec<String>,
    },
    /// Take a bundle onto the shelf, from any signer
    Import { from: PathBuf },
    /// Propose good bundles; or, with a file, make one under a name
    Bundle {
        #[arg(default_value = "bundle")]
        name: String,
        #[arg(long)]
        to: Option<PathBuf>,
        words: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum StyxVerb {
    /// Begin a clade here, or change where its relay and its archive are
    Init {
        /// Address of the relay, such as ws://relay:7171/v1
        #[arg(long, value_name = "URL")]
        relay: Option<String>,
        /// Place for a sealed archive of what your golems know: a folder, or s3://bucket/prefix
        #[arg(long, value_name = "PLACE")]
        archive: Option<String>,
        /// Write an invitation for another home of yours into this file
        #[arg(long, value_name = "FILE")]
        invite: Option<PathBuf>,
    },
    /// Join a clade with its invitation, and bring back what its archive has
    Join {
        from: PathBuf,
        /// Another address of the relay than the invitation has
        #[arg(long, value_name = "URL")]
        relay: Option<String>,
        /// Another archive than the invitation has
        #[arg(long, value_name = "PLACE")]
        archive: Option<String>,
    },
    /// Run a relay in front of NATS JetStream; it can read nothing of what it passes on
    Serve(ServeArgs),
    /// Homes of the clade, when each was last heard of, what was sent, held and refused
    Status,
    /// Examine key, relay, archive and siblings
    Doctor,
}

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Where homes connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7171")]
    pub(crate) listen: String,
    /// NATS with JetStream; several, with commas, for a cluster
    #[arg(long, value_name = "URLS", default_value = "nats://127.0.0.1:4222")]
    pub(crate) nats: String,
    /// A clade that may use it, as `bardo styx status` calls it; may be given again
    #[arg(long, value_name = "CLADE")]
    pub(crate) owner: Vec<String>,
    /// A file of clades that may use it, one a line; a clade taken off it is disconnected
    #[arg(long, value_name = "FILE")]
    pub(crate) owners: Option<PathBuf>,
    /// Let any clade use it
    #[arg(long)]
    pub(crate) anyone: bool,
    /// A proxy in front of it, such as one that ends TLS; it is believed when it says where homes connect from
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) proxy: Option<std::net::IpAddr>,
    /// How many servers of the cluster keep each message [default: 3, or 1 where only one is named]
    #[arg(long)]
    pub(crate) replicas: Option<usize>,
    /// Streams that owners are spread over; cannot be changed later
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) partitions: u16,
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
    /// Words to look for; none for all entries, best first
    pub(crate) query: Vec<String>,
    /// Only entries of this kind: insight, heuristic, warning, causal_link, strategy_fragment or question
    #[arg(long)]
    pub(crate) kind: Option<KindArg>,
    /// Also entries in quarantine or archived
    #[arg(long)]
    pub(crate) all: bool,
    /// How each score came about
    #[arg(long)]
    pub(crate) explain: bool,
    #[arg(long, default_value_t = 10)]
    pub(crate) limit: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct KindArg(pub(crate) ::golem::grimoire::Kind);

impl std::str::FromStr for KindArg {
    type Err = String;

    fn from_str(text: &str) -> Result<KindArg, String> {
        let kind = ::golem::grimoire::Kind::ALL.into_iter().find(|kind| kind.name() == text);
        let names = ::golem::grimoire::Kind::ALL.map(::golem::grimoire::Kind::name).join(", ");
        kind.map(KindArg).ok_or_else(|| format!("there is no kind {text}; there are {names}"))
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DemoArgs {
    /// Seed of the life: market, chance and end all follow from this number
    #[arg(long, default_value_t = 13)]
    pub(crate) seed: u64,
    /// How fast it is shown: 1x takes about a minute, max does not wait
    #[arg(long, default_value = "1x", value_parser = pace)]
    pub(crate) speed: Pace,
    /// Plain text, as fast as possible; always so where the output is not a terminal
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
pub(crate) struct Backup {
    /// Folder to make, or one that holds earlier rounds
    pub(crate) folder: PathBuf,
    /// Also owner.key, clade.key and the tokens of the API, encrypted with a passphrase
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
        /// Name for the data
        #[arg(long)]
        name: Name,
    },
    /// Follow a market into the present: closed bars are added as its venue publishes them
    Follow(FollowArgs),
    /// Follow a market no longer; the bars it brought stay
    Unfollow { name: Name },
    /// All data that was imported or is followed
    List,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct FollowArgs {
    /// Name for the data, such as eth
    pub(crate) name: Name,
    /// Venue that publishes it, without a key: binance, coinbase or kraken
    #[arg(long)]
    pub(crate) venue: Venue,
    /// The venue's name for the market [default: the dollar market of NAME]
    #[arg(long)]
    pub(crate) product: Option<String>,
    /// How long a bar lasts: 1m, 5m, 15m, 1h, 1d and others that the venue has
    #[arg(long, default_value = "1h")]
    pub(crate) interval: ::golem::time::Span,
    /// Another venue, asked while the first does not answer: VENUE or VENUE:PRODUCT
    #[arg(long, value_name = "VENUE")]
    pub(crate) second: Option<String>,
    /// How far back it goes, such as 2026-01-01, where the venue does
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// A CSV of candles to begin with: its past, as far as you have it
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Another address that speaks like the venue
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Fetch what there is by now, and leave the rest to the host
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MindVerb {
    /// Show a program a hundred looks of a paper life, and say what it made of them or what is wrong with it
    Check {
        #[command(flatten)]
        how: HowArgs,
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorldVerb {
    /// Hold a program against every promise a world makes, and say in sentences what it breaks
    Check {
        #[command(flatten)]
        how: HowArgs,
        /// The program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Be one of Bardo's own worlds as a program, to see how it is done
    Serve {
        #[arg(value_enum)]
        world: Served,
    },
    /// JSON Schema of the messages between Bardo and a program
    Schema,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Served {
    Sim,
    Queue,
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

#[derive(Debug, ClapArgs)]
pub(crate) struct AgeArgs {
    /// Files or folders to read, instead of all that agents have left in your own folders
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Tell lives apart
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<AgeBy>,
    /// Take helpers for lives of their own
    #[arg(long)]
    pub(crate) helpers: bool,
    /// Read what golems' agents asked as well: what was run under `wrap` stands in its agent's own records already
    #[arg(long)]
    pub(crate) golems: bool,
    /// Cost of starting over, instead of what lives spent before they first changed a file
    #[arg(long, value_name = "USDC")]
    pub(crate) handover: Option<Usdc>,
    /// Write all of it into one file with pictures, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Write the record of each life, and tables of lives and calls, into this folder: figures and hashes, no word of what was said
    #[arg(long, value_name = "FOLDER")]
    pub(crate) rows: Option<PathBuf>,
    /// Print the JSON Schema of a life's record, and read nothing
    #[arg(long, conflicts_with_all = ["paths", "by", "helpers", "golems", "handover", "page", "rows"])]
    pub(crate) schema: bool,
}

/// By what lives are told apart.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AgeBy {
    Model,
    Harness,
    Project,
}
