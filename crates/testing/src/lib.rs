//! Tools that tests of several crates share: doubles of providers that bill and fail, a real server of models, a real NATS,
//! and a way to wait for a condition without sleeping.
//!
//! Absent: tests, and any part of a release. Only tests stand on this crate, and no product crate knows it.
#![allow(missing_debug_implementations, reason = "what a test holds is not printed")]

pub mod billing;
pub mod cluster;
mod http;
pub mod model;
pub mod provider;
pub mod upstream;
pub mod wait;
