//! What can be typed behind `wrap`.

use std::path::PathBuf;

use ::golem::{Name, Usdc};
use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
pub(crate) struct WrapArgs {
    /// Money for a new golem to live on, or for all lives of a line [default: 1, or 1000 imputed where --tokens or --calls cap it]
    #[arg(long, value_name = "USDC")]
    pub(crate) credit: Option<Usdc>,
    /// The most it may spend in a day, in UTC; a new golem is given thirty times that, unless --credit says otherwise
    #[arg(long, value_name = "USDC")]
    pub(crate) per_day: Option<Usdc>,
    /// The most tokens its calls may take in all, such as 2M, or in a day, such as 500k/day; may be given for both
    #[arg(long, value_name = "TOKENS", value_parser = Ration::tokens)]
    pub(crate) tokens: Vec<Ration>,
    /// The most calls it may make in all, such as 500, or in a day, such as 100/day; may be given for both
    #[arg(long, value_name = "CALLS", value_parser = Ration::calls)]
    pub(crate) calls: Vec<Ration>,
    /// How many hours after its first call it may still call, such as 2 or 0.5, or after the first of a day, such as 8/day; may be
    /// given for both
    #[arg(long, value_name = "HOURS", value_parser = Ration::hours)]
    pub(crate) hours: Vec<Ration>,
    /// Run it in so many lives at most, one after the other, each with its share of the money: a line. Each life ends with a cause,
    /// and the next is its heir, in the same folder; the same command again goes on with the line, whatever ended it
    #[arg(long, value_name = "LIVES", value_parser = clap::value_parser!(u32).range(1..=999), conflicts_with = "per_day")]
    pub(crate) lives: Option<u32>,
    /// The most money for one life of a line [default: what is left of --credit, shared out evenly among the lives to come]
    #[arg(long, value_name = "USDC", requires = "lives")]
    pub(crate) share: Option<Usdc>,
    /// A check of --check that ends the line well once it passes
    #[arg(long, value_name = "CHECK", requires = "lives")]
    pub(crate) until: Option<String>,
    /// End a life of a line once a call has taken so much of its model's window, such as 0.8
    #[arg(long, value_name = "PART", value_parser = part, requires = "lives")]
    pub(crate) context: Option<f64>,
    /// End lives of a line by chance, the likelier the more calls they have made and the more of its model's window these take: half of
    /// them by so many calls, where a call that takes its whole window counts as five
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u32).range(1..), requires = "lives")]
    pub(crate) chance: Option<u32>,
    /// End a life of a line once a check that passed in it has failed in so many rounds since, one after the other
    #[arg(long, value_name = "ROUNDS", value_parser = clap::value_parser!(u32).range(1..), requires = "lives")]
    pub(crate) red: Option<u32>,
    /// Have the lives of a line work in a git worktree beside your own, on a branch called bardo/NAME; your own tree and branch stay
    /// as they are until `bardo golem merge`
    #[arg(long, requires = "lives")]
    pub(crate) branch: bool,
    /// A folder or file that git does not carry, such as node_modules or .env, to link into that worktree; may be given again
    #[arg(long, value_name = "PATH", requires = "branch")]
    pub(crate) link: Vec<PathBuf>,
    /// The golem, new or one to go on with; without one it is the program's own, called like it. Several programs share one, as a
    /// purse, while `bardo up` runs
    #[arg(long, visible_alias = "purse")]
    pub(crate) name: Option<Name>,
    /// How long the program has to wind up once it is out of money, tokens, calls or hours, before it is ended [default: 30s]
    #[arg(long, value_name = "SPAN")]
    pub(crate) wind_up: Option<String>,
    /// Pass on a variable that would be kept from the program, such as AWS_SECRET_ACCESS_KEY; may be given again
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) keep: Vec<String>,
    /// Give it nothing of your environment but what every program needs, and what --keep names
    #[arg(long)]
    pub(crate) clean_env: bool,
    /// Let it keep its own login (Claude Code's, Codex's), which goes unread to its own provider and nowhere else. Without this it
    /// has your key instead, and no login of its own
    #[arg(long)]
    pub(crate) own_login: bool,
    /// A check of yours that passes if its command ends with 0, such as tests='cargo test'; may be given again
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) check: Vec<String>,
    /// A check of yours whose command prints a number; may be given again
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) number: Vec<String>,
    /// A file or folder that neither the program nor what its checks run may write to, such as the tests; may be given again
    #[arg(long, value_name = "PATH")]
    pub(crate) protect: Vec<PathBuf>,
    /// Start it without a fence: it can then read and write this home like anything else of yours
    #[arg(long, conflicts_with = "protect")]
    pub(crate) unfenced: bool,
    /// Let it reach nothing but its golem's calls, the registries of packages, and what is allowed: never a provider of models
    #[arg(long, conflicts_with = "unfenced")]
    pub(crate) only_through: bool,
    /// A host it may reach as well, as HOST, .HOST for all below it, HOST:PORT or ADDRESS:PORT; may be given again
    #[arg(long, value_name = "HOST", requires = "only_through")]
    pub(crate) allow: Vec<String>,
    /// End the program, or a life of a line, after so many calls of a model, once none is under way, so that it starts over;
    /// `bardo age` says how many
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) retire_after: Option<u64>,
    /// Tell the program that its end is near where its model reads it: in its calls, or with --tell=hooks by hooks of Claude Code's or
    /// Codex's
    #[arg(long, value_enum, value_name = "WAY", num_args = 0..=1, require_equals = true, default_missing_value = "calls")]
    pub(crate) tell: Option<TellWay>,
    /// Send the program SIGUSR1 when its end is near; it ends a program that does not expect it
    #[arg(long)]
    pub(crate) usr1: bool,
    /// Price of models that have none here, in dollars for a million tokens, as IN/OUT
    #[arg(long, value_name = "IN/OUT")]
    pub(crate) price: Option<String>,
    /// How often it is checked, such as 1m
    #[arg(long, value_name = "SPAN")]
    pub(crate) every: Option<String>,
    /// Any key of golem.toml, such as policy.calls_per_hour=0.50; or mortality.stochastic.enabled=true, without which its golem never
    /// dies by chance
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}

/// Where a program's model reads that its end is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TellWay {
    /// In a line behind the newest message of each call, and behind what is cached
    Calls,
    /// By hooks on the command line of Claude Code or Codex, beside those it has
    Hooks,
}

fn part(text: &str) -> Result<f64, String> {
    let part = text.parse::<f64>().ok().filter(|part| *part > 0.0 && *part <= 1.0);
    part.ok_or_else(|| "write a part of the window, more than 0 and at most 1, such as 0.8".to_owned())
}

/// A cap on tokens, calls or hours, in all or in a day: `500`, `2M`, `100/day`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ration {
    /// Hours are counted in milliseconds.
    pub(crate) most: u64,
    pub(crate) a_day: bool,
}

const COUNTS: [(&str, u64); 4] = [("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("m", 1_000_000)];
const HOUR: u64 = 3_600_000;

impl Ration {
    fn tokens(text: &str) -> Result<Ration, String> {
        let wrong =
            || "write a whole number, or thousands or millions as k or M: 2M in all, 500k/day in a day".to_owned();
        Ration::read(text, &COUNTS, 1).ok_or_else(wrong)
    }

    fn calls(text: &str) -> Result<Ration, String> {
        let wrong = || "write a whole number: 500 in all, 100/day in a day".to_owned();
        Ration::read(text, &COUNTS, 1).ok_or_else(wrong)
    }

    fn hours(text: &str) -> Result<Ration, String> {
        let wrong = || "write hours, at least one second of them: 2 or 0.5 in all, 8/day in a day".to_owned();
        Ration::read(text, &[("h", HOUR)], HOUR).filter(|ration| ration.most >= 1_000).ok_or_else(wrong)
    }

    /// Reads an amount, with decimals where the scaled result is whole.
    fn read(text: &str, scales: &[(&str, u64)], usual: u64) -> Option<Ration> {
        let (amount, a_day) = text.strip_suffix("/day").map_or((text, false), |amount| (amount, true));
        let scaled = scales.iter().find_map(|&(suffix, scale)| Some((amount.strip_suffix(suffix)?, scale)));
        let (number, scale) = scaled.unwrap_or((amount, usual));
        let number = number.replace('_', "");
        let (whole, part) = number.split_once('.').unwrap_or((&number, ""));
        let is_plain = |digits: &str| digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_plain(whole) || !is_plain(part) {
            return None;
        }
        let tens = 10_u128.pow(u32::try_from(part.len()).ok()?);
        let n = format!("{whole}{part}").parse::<u128>().ok()? * u128::from(scale);
        let most = u64::try_from(n / tens).ok().filter(|most| *most <= ::golem::limits::CAP);
        most.filter(|_| n.is_multiple_of(tens)).map(|most| Ration { most, a_day })
    }
}
