//! The listener of a life.

use golem::call::Denied;
use golem::{Life, Record};

use crate::Error;

/// The listener of a run. Everything it is told is durable already.
pub trait Listener {
    fn acknowledged(&mut self, records: &[Record], life: &Life) -> Result<(), Error>;
    /// Called often; true asks for a clean stop.
    fn stop(&mut self) -> bool;
    /// The world cannot be reached, and the golem waits; told again as long as that is so.
    fn waits(&mut self, _why: &str) {}
    /// A model has been asked, and the golem waits for the answer; told again as long as that is so.
    fn waits_for(&mut self, _model: &str, _life: &Life) {}
    /// A call of its agent's was not let through. This may be on no record.
    fn refused(&mut self, _by: Denied) {}
    /// The mind outside is of no use now, and the golem goes on without it.
    fn lacks(&mut self, _why: &str) {}
}

/// A listener that hears nothing and never stops a run.
#[derive(Debug)]
pub struct Silent;

impl Listener for Silent {
    fn acknowledged(&mut self, _: &[Record], _: &Life) -> Result<(), Error> {
        Ok(())
    }
    fn stop(&mut self) -> bool {
        false
    }
}
