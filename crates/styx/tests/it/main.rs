//! The river, against a real NATS: what crosses it, and what hostile and broken ones do to it.

mod archive;
mod bank;
mod catchup;
mod chaos;
mod envelope;
mod isolation;
mod relay;
mod sockets;
mod throughput;
