//! Agents that have a golem, and programs and minds that are not ours: the gateway, MCP, worlds and minds outside, orders
//! carried out by programs.

mod action;
mod attempts;
mod branch;
mod carried;
mod chain;
mod checks;
#[path = "../common/mod.rs"]
mod common;
mod examples;
mod follow;
mod gateway;
mod last_word;
mod lines;
mod mcp;
mod memory;
mod minds;
mod nights;
mod own_login;
mod passing;
mod programs;
mod python;
mod real;
mod talking;
mod thinking;
mod wrap;
mod wrap_ends;
mod wrap_gives;
mod wrap_keys;
mod wrap_only;
mod wrap_shared;
mod wrap_user;
mod wrap_warns;
