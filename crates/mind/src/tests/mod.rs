//! Clients of models, against doubles and against a real server of models.

mod chat;
mod double;
mod faults;
mod local;
mod served;
