//! A real EVM chain. The golem's key owns nothing but its gas: the money is in a purse on the chain that caps what the
//! key can spend and where. All that is signed passes a list first, all that is read is agreed by a majority of
//! endpoints, and all that is sent is on record before it leaves.
//!
//! Absent: the shell and the command line, which only the program `bardo-chain` in `src/bin` knows; trust in a single
//! endpoint; transactions of a kind that is not on the list.

pub mod amount;
pub mod contracts;
pub mod devnet;
mod error;
pub mod outbox;
pub mod pool;
pub mod rpc;
pub mod signer;
pub mod site;
pub mod tx;
pub mod venue;

pub use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
pub use alloy_sol_types::SolCall;
pub use error::Error;
