//! What can be typed about a chain: by this program, and by `bardo`, whose help and pages list it.

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
        /// Name of its bars among your data
        #[arg(long = "as", value_name = "NAME", default_value = "pool")]
        name: golem::Name,
        /// How long a bar lasts, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
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
    /// Say which calls the owner of a purse makes to freeze or sweep it or to give it to a key; on a devnet, make them
    Owner {
        /// Folder with a chain.json
        folder: PathBuf,
        #[command(subcommand)]
        deed: OwnerDeed,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OwnerDeed {
    /// Stop all payments from it, except to its owner
    Freeze,
    /// Let it be used again
    Thaw,
    /// Send everything in it to its owner
    Sweep,
    /// Give it to this key, and to no other
    Key {
        key: String,
        /// For how long
        #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_650))]
        days: u64,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Devnet {
    /// Where its chain.json is written
    #[arg(default_value = "devnet")]
    pub(crate) folder: PathBuf,
    /// Name of its bars among your data
    #[arg(long = "as", value_name = "NAME", default_value = "devnet")]
    pub(crate) name: golem::Name,
    /// How long a bar lasts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) bar: u64,
    /// Let golems give the pool liquidity, in shares of a hundred dollars, instead of buying and selling
    #[arg(long)]
    pub(crate) shares: bool,
    /// Seed of the traders: everything they do follows from this number
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder of the node and the venue's contracts; fetched with npm if they are not there
    #[arg(long, value_name = "FOLDER")]
    pub(crate) parts: Option<PathBuf>,
}
