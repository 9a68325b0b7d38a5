//! What tests of several crates share: doubles of providers, a real server of models, a real NATS, and a way to wait. Nothing
//! here is part of a release.
#![allow(missing_debug_implementations, reason = "what a test holds is not printed")]

pub mod billing;
pub mod cluster;
mod http;
pub mod model;
pub mod provider;
pub mod upstream;
pub mod wait;
