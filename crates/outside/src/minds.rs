//! A mind that is a program, shown what its golem is about to see: each of its words is checked against the golem's
//! world before it counts.

use std::time::Duration;

use golem::outside::Word;
use golem::world::Manifest;

use crate::keeper::Launch;
use crate::program::{Limits, Program};
use crate::talk::{Settled, Talk};
use crate::trouble::Trouble;
use crate::wire::{self, Look, Shown, ShownAsk};

const LOOK: &str = "say what it makes of a look";

/// A running mind that has introduced itself.
#[derive(Debug)]
pub struct MindProgram {
    talk: Talk,
    world: Manifest,
    /// The mind's name.
    pub name: String,
}

impl MindProgram {
    /// Starts a mind, and waits for its introduction.
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

    /// Shows the mind what its golem is about to see.
    pub fn show(&mut self, look: Look) -> Result<(), Trouble> {
        self.talk.begin(LOOK, |id| Shown { id, ask: ShownAsk::Look(Box::new(look)) })
    }

    /// The mind's word on what it was shown, if it comes in time.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<Word>, Trouble> {
        let Some(word) = self.talk.go_on::<wire::Word>(LOOK, patience)? else { return Ok(None) };
        word.read(&self.world).map(Some).map_err(|why| Trouble::Unsound { what: LOOK.to_owned(), why })
    }

    /// Asks the mind to end, and kills it if it does not.
    pub fn end(self) {
        self.talk.end(|id| Shown { id, ask: ShownAsk::Bye });
    }
}
