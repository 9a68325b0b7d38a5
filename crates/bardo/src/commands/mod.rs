//! One file per family of verbs.

pub(crate) mod bench;
mod birth;
#[cfg(feature = "chain")]
pub(crate) mod chain;
pub(crate) mod checks;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod copies;
pub(crate) mod costs;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod dream;
pub(crate) mod experiment;
mod export;
pub(crate) mod golem;
pub(crate) mod grimoire;
pub(crate) mod hands;
pub(crate) mod heirs;
pub(crate) mod home;
pub(crate) mod lab;
pub(crate) mod library;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod outside;
pub(crate) mod owner;
pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod styx;
pub(crate) mod talk;
pub(crate) mod token;
pub(crate) mod up;
pub(crate) mod wrap;
