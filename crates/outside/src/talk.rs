//! A conversation with a program: first its introduction, then one question and its answer at a time.

use std::time::Duration;

use golem::plain;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::program::Program;
use crate::trouble::{Trouble, quoted};
use crate::wire::{self, Hello, VERSION, Welcome};

/// The golem's data that a program is told at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub golem: String,
    pub id: Option<String>,
    pub folder: String,
    pub seed: u64,
}

impl Settled {
    pub(crate) fn hello(&self, bardo: &str, world: Option<wire::Manifest>) -> Hello {
        let (golem, id, folder) = (self.golem.clone(), self.id.clone(), self.folder.clone());
        Hello { bardo: bardo.to_owned(), version: VERSION, golem, id, folder, seed: self.seed, world }
    }
}

/// An answer to a numbered question.
pub(crate) trait Answered: DeserializeOwned {
    fn id(&self) -> u64;
    /// The fault that the program itself reports in place of an answer.
    fn trouble(&mut self) -> Option<Trouble>;
}

impl Answered for wire::Answer {
    fn id(&self) -> u64 {
        self.id
    }

    fn trouble(&mut self) -> Option<Trouble> {
        let says = self.error.take().map(|error| Trouble::Says(plain::line(&error, 200)));
        says.or_else(|| {
            let again = self.again_ms.map(|ms| Duration::from_millis(ms.min(3_600_000)));
            self.away.take().map(|away| Trouble::Away { what: plain::line(&away, 400), again })
        })
    }
}

impl Answered for wire::Word {
    fn id(&self) -> u64 {
        self.id
    }

    fn trouble(&mut self) -> Option<Trouble> {
        self.error.take().map(|error| Trouble::Says(plain::line(&error, 200)))
    }
}

#[derive(Debug)]
pub(crate) struct Talk {
    program: Program,
    asked: u64,
}

impl Talk {
    /// Exchanges the first messages.
    pub(crate) fn greet(mut program: Program, hello: Hello) -> Result<(Talk, Welcome), Trouble> {
        let limit = program.limits().hello;
        let said = program.ask(line(&hello), "say who it is", limit)?;
        let welcome: Welcome = read(&said, "say who it is")?;
        if welcome.version == 0 || welcome.version > VERSION {
            return Err(Trouble::Version { theirs: welcome.version, ours: VERSION });
        }
        if welcome.bardo != hello.bardo {
            let ours = ["world", "orders", "mind"].into_iter().find(|kind| hello.bardo == *kind).unwrap_or_default();
            return Err(Trouble::Kind { theirs: plain::line(&welcome.bardo, 40), ours });
        }
        Ok((Talk { program, asked: 0 }, welcome))
    }

    pub(crate) fn ask<Q: Serialize, A: Answered>(
        &mut self,
        what: &'static str,
        question: impl FnOnce(u64) -> Q,
    ) -> Result<A, Trouble> {
        self.begin(what, question)?;
        loop {
            if let Some(answer) = self.go_on(what, self.program.limits().answer)? {
                return Ok(answer);
            }
        }
    }

    /// Begins to ask a question.
    pub(crate) fn begin<Q: Serialize>(
        &mut self,
        what: &'static str,
        question: impl FnOnce(u64) -> Q,
    ) -> Result<(), Trouble> {
        self.asked += 1;
        let limit = self.program.limits().answer;
        self.program.begin(line(&question(self.asked)), what, limit)
    }

    /// The answer to the question under way, if it comes in time.
    pub(crate) fn go_on<A: Answered>(&mut self, what: &str, patience: Duration) -> Result<Option<A>, Trouble> {
        let Some(said) = self.program.go_on(patience)? else { return Ok(None) };
        let mut answer: A = read(&said, what)?;
        if answer.id() != self.asked {
            return Err(Trouble::OtherQuestion { asked: self.asked, answered: answer.id() });
        }
        answer.trouble().map_or(Ok(Some(answer)), Err)
    }

    /// Asks the program to end, and kills it if it does not.
    pub(crate) fn end<Q: Serialize>(self, bye: impl FnOnce(u64) -> Q) {
        let last = line(&bye(self.asked + 1));
        self.program.end(&last);
    }
}

/// Reads a message of this kind; an error says that the line is not a message, or which part of it cannot be.
fn read<T: DeserializeOwned>(line: &[u8], what: &str) -> Result<T, Trouble> {
    serde_json::from_slice(line).map_err(|why| match why.classify() {
        Category::Data => Trouble::Unsound { what: what.to_owned(), why: why.to_string() },
        Category::Io | Category::Syntax | Category::Eof => {
            Trouble::NoMessage { said: quoted(line), why: why.to_string() }
        }
    })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("plain data");
    line.push(b'\n');
    line
}
