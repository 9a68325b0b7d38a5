//! A mind outside, shown what its golem is about to see: every word is held against what its golem's world is before
//! anybody hears it.

use std::time::Duration;

use golem::outside::Word;
use golem::world::Manifest;

use crate::keeper::Launch;
use crate::program::{Limits, Program};
use crate::talk::{Settled, Talk};
use crate::trouble::Trouble;
use crate::wire::{self, Look, Shown, ShownAsk};

const LOOK: &str = "say what it makes of a look";

/// A mind outside that has said who it is.
#[derive(Debug)]
pub struct MindProgram {
    talk: Talk,
    world: Manifest,
    /// What it is called.
    pub name: String,
}

impl MindProgram {
    /// Starts it, and hears what it is.
    pub fn start(
        keeper: &[String],
        launch: &Launch,
        limits: Limits,
        settled: &Settled,
        world: &Manifest,
        log: impl FnMut(&str) + Send + 'static,
    ) -> Result<MindProgram, Trouble> {
        let program = Program::start(keeper, launch, limits, log)?;
        let (talk, welcome) = Talk::greet(program, settled.hello("mind", Some(wire::Manifest::of(world))))?;
        let name = golem::plain::line(welcome.name.as_deref().unwrap_or("a mind"), 40);
        Ok(MindProgram { talk, world: world.clone(), name })
    }

    /// Shows it what its golem is about to see.
    pub fn show(&mut self, look: Look) -> Result<(), Trouble> {
        self.talk.begin(LOOK, |id| Shown { id, ask: ShownAsk::Look(Box::new(look)) })
    }

    /// What it makes of that, if it says so while there is patience.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<Word>, Trouble> {
        let Some(word) = self.talk.go_on::<wire::Word>(LOOK, patience)? else { return Ok(None) };
        word.read(&self.world).map(Some).map_err(|why| Trouble::Unsound { what: LOOK.to_owned(), why })
    }

    /// Asks it to end, and ends it if it does not.
    pub fn end(self) {
        self.talk.end(|id| Shown { id, ask: ShownAsk::Bye });
    }
}
