//! Providers and their prices: the table of providers, names of models as owners write them, the price book, and tokens as
//! each provider counts them.
//!
//! Absent: clients. Nothing is sent, no key is read, and no crate that speaks HTTP is compiled, so a program that only reckons
//! what was or would be spent needs none.

mod address;
mod book;
mod error;
mod price;
mod provider;
mod tokens;

pub use address::Address;
pub use book::{Book, PriceRow, sellers, without_brackets};
pub use error::{Error, printable};
pub use price::{Above, Price, Rates, Writes};
pub use provider::{Named, PROVIDERS, Protocol, Provider, Server, Shape, provider_at};
pub use tokens::Tokens;
