//! What can be said about a chain.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ChainVerb {
    /// Run a chain on this machine on which nothing is real but the code: Uniswap v3, traders and a purse
    Devnet(Devnet),
    /// Follow a pool into the present: one for any number of golems
    Watch {
        /// Folder with a chain.json
        folder: PathBuf,
        /// What its bars are called among your data
        #[arg(long = "as", value_name = "NAME", default_value = "pool")]
        name: golem::Name,
        /// How long a bar lasts, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        bar: u64,
    },
    /// Carry out the orders of a golem in a pool: the program for `golem new --orders`
    Orders {
        /// Folder with a chain.json
        folder: PathBuf,
        /// The name of a chain with real money on it, and the most dollars its purse may let out in a day: ethereum=100
        #[arg(long, value_name = "CHAIN=DOLLARS")]
        real_money: Option<String>,
    },
    /// Sign what is on the list of a chain.json, and nothing else: the program for its `signer`
    Signer {
        /// Folder with a chain.json
        folder: PathBuf,
        /// An encrypted key, as wallets write them; its password is read from BARDO_CHAIN_PASSWORD
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Show a purse: what is in it, who may spend how much of it, and until when
    Purse {
        /// Folder with a chain.json
        folder: PathBuf,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Devnet {
    /// Where its chain.json is written
    #[arg(default_value = "devnet")]
    pub(crate) folder: PathBuf,
    /// What its bars are called among your data
    #[arg(long = "as", value_name = "NAME", default_value = "devnet")]
    pub(crate) name: golem::Name,
    /// How long a bar lasts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 4)]
    pub(crate) bar: u64,
    /// Let golems give the pool liquidity, in shares of a hundred dollars, instead of buying and selling
    #[arg(long)]
    pub(crate) shares: bool,
    /// What the traders do follows from this number
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder of the node and the venue's contracts; fetched with npm if they are not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) parts: Option<PathBuf>,
}
