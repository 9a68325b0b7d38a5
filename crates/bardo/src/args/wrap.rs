//! What can be typed behind `wrap`.

use std::path::PathBuf;

use ::golem::{Name, Usdc};
use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct WrapArgs {
    /// Money to live on, where the golem is new; 1 if not said
    #[arg(long, value_name = "USDC")]
    pub(crate) credit: Option<Usdc>,
    /// The most it may spend in a day, in UTC; a new golem is given thirty times that, if --credit does not say otherwise
    #[arg(long, value_name = "USDC")]
    pub(crate) per_day: Option<Usdc>,
    /// The golem, new or one to go on with; without one it is the program's own, called like it
    #[arg(long)]
    pub(crate) name: Option<Name>,
    /// How long the program has to wind up once it is out of money, before it is ended; 30s if not said
    #[arg(long, value_name = "SPAN")]
    pub(crate) wind_up: Option<String>,
    /// Pass on a variable that would be kept from the program, such as AWS_SECRET_ACCESS_KEY; may be given again
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) keep: Vec<String>,
    /// Give it nothing of your environment but what every program needs, and what you keep
    #[arg(long)]
    pub(crate) clean_env: bool,
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
    /// What models cost that have no price here, in dollars for a million tokens, as IN/OUT
    #[arg(long, value_name = "IN/OUT")]
    pub(crate) price: Option<String>,
    /// How often it is checked, such as 1m
    #[arg(long, value_name = "SPAN")]
    pub(crate) every: Option<String>,
    /// Any key of golem.toml, such as policy.calls_per_hour=0.50; or mortality.stochastic.enabled=true, without which its golem never
    /// dies by chance
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The program and what it is given
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<String>,
}
