//! The river, against a real NATS: what crosses it, and what hostile and broken ones do to it.

mod archive;
mod catchup;
mod chaos;
mod envelope;
mod isolation;
mod mailbox;
mod relay;
mod sockets;
mod throughput;
