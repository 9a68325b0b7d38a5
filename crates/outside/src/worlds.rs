//! A world outside, asked: every answer is held against what was asked and what the world declared before anybody sees it.

use std::time::Duration;

use golem::limits;
use golem::time::Time;
use golem::world::{Fate, Manifest, Observation, Order, Quote};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::keeper::Launch;
use crate::program::{Limits, Program};
use crate::trouble::{Trouble, quoted};
use crate::wire::{self, Answer, Ask, Hello, Question, VERSION, Welcome};

/// A world outside that has said who it is.
#[derive(Debug)]
pub struct WorldProgram {
    program: Program,
    asked: u64,
    pub manifest: Manifest,
    pub start: Time,
    pub end: Option<Time>,
}

/// What a program has to be told about whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub golem: String,
    pub folder: String,
    pub seed: u64,
}

impl WorldProgram {
    /// Starts it, and hears what it is.
    pub fn start(
        keeper: &[String],
        launch: &Launch,
        limits: Limits,
        settled: &Settled,
        log: impl FnMut(&str) + Send + 'static,
    ) -> Result<WorldProgram, Trouble> {
        let mut program = Program::start(keeper, launch, limits, log)?;
        let hello = Hello {
            bardo: "world".to_owned(),
            version: VERSION,
            golem: settled.golem.clone(),
            folder: settled.folder.clone(),
            seed: settled.seed,
            world: None,
        };
        let welcome = greet(&mut program, &hello)?;
        let what = || "say who it is".to_owned();
        let lacks = |lacks| Trouble::Lacks { what: what(), lacks };
        let manifest = welcome.world.ok_or_else(|| lacks("world"))?;
        let manifest = manifest.read().map_err(|why| Trouble::Unsound { what: what(), why })?;
        let start = Time::millis(welcome.start.ok_or_else(|| lacks("start"))?);
        Ok(WorldProgram { program, asked: 0, manifest, start, end: welcome.end.map(Time::millis) })
    }

    /// Its golem last looked then, has used no key above this one, and holds so much, where anybody knows.
    pub fn seek(&mut self, until: Time, known: Option<(u64, i64)>) -> Result<(), Trouble> {
        let (key, held) = known.unzip();
        self.ask("stand where its golem last looked", Ask::Seek { until: until.as_millis(), key, held }).map(|_| ())
    }

    pub fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Trouble> {
        let most = limits::BARS.saturating_sub(into.bars.len());
        let ask = Ask::Observe { since: since.as_millis(), now: now.as_millis(), most };
        let what = "show its bars";
        let answer = self.ask(what, ask)?;
        let unsound = |why: String| Trouble::Unsound { what: what.to_owned(), why };
        let bars = answer.bars.ok_or_else(|| Trouble::Lacks { what: what.to_owned(), lacks: "bars" })?;
        if bars.len() > most {
            return Err(unsound(format!("{} bars are more than the {most} that were asked for", bars.len())));
        }
        let mut last = since;
        for bar in &bars {
            let bar = bar.read(&self.manifest).map_err(unsound)?;
            if bar.closed <= last || bar.closed > now {
                let at = bar.closed.as_millis();
                return Err(unsound(format!(
                    "a bar that closed at {at} is not in its order after {} and up to {}",
                    last.as_millis(),
                    now.as_millis()
                )));
            }
            last = bar.closed;
            into.bars.push(bar);
        }
        self.end = answer.end.map(Time::millis).or(self.end);
        Ok(())
    }

    pub fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Trouble> {
        let what = "say what an order would do";
        let answer = self.ask(what, Ask::Preview { order: wire::Order::of(order) })?;
        let quote = answer.quote.ok_or_else(|| Trouble::Lacks { what: what.to_owned(), lacks: "quote" })?;
        Ok(quote.map(|quote| quote.read()))
    }

    pub fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, Trouble> {
        self.fate("do what is ordered", Ask::Commit { key, order: wire::Order::of(order) })
    }

    pub fn reconcile(&mut self, key: u64) -> Result<Fate, Trouble> {
        self.fate("say what became of an order", Ask::Reconcile { key })
    }

    fn fate(&mut self, what: &'static str, ask: Ask) -> Result<Fate, Trouble> {
        let answer = self.ask(what, ask)?;
        let fate = answer.fate.ok_or_else(|| Trouble::Lacks { what: what.to_owned(), lacks: "fate" })?;
        Ok(fate.read())
    }

    fn ask(&mut self, what: &str, ask: Ask) -> Result<Answer, Trouble> {
        self.asked += 1;
        let limit = self.program.limits().answer;
        let line = self.program.ask(&line(&Question { id: self.asked, ask }), what, limit)?;
        let answer: Answer = read(&line, what)?;
        if answer.id != self.asked {
            return Err(Trouble::OtherQuestion { asked: self.asked, answered: answer.id });
        }
        if let Some(error) = answer.error {
            return Err(Trouble::Says(golem::plain::line(&error, 200)));
        }
        if let Some(away) = answer.away {
            let again = answer.again_ms.map(|ms| Duration::from_millis(ms.min(3_600_000)));
            return Err(Trouble::Away { what: golem::plain::line(&away, 200), again });
        }
        Ok(answer)
    }

    /// Asks it to end, and ends it if it does not.
    pub fn end(self) {
        let last = line(&Question { id: self.asked + 1, ask: Ask::Bye });
        self.program.end(&last);
    }
}

/// The first words.
pub(crate) fn greet(program: &mut Program, hello: &Hello) -> Result<Welcome, Trouble> {
    let limit = program.limits().hello;
    let said = program.ask(&line(hello), "say who it is", limit)?;
    let welcome: Welcome = read(&said, "say who it is")?;
    if welcome.version == 0 || welcome.version > VERSION {
        return Err(Trouble::Version { theirs: welcome.version, ours: VERSION });
    }
    if welcome.bardo != hello.bardo {
        let ours = if hello.bardo == "world" { "world" } else { "mind" };
        return Err(Trouble::Kind { theirs: golem::plain::line(&welcome.bardo, 40), ours });
    }
    Ok(welcome)
}

/// A message of this kind, or what is wrong with it: that it is none, or what of it cannot be.
fn read<T: DeserializeOwned>(line: &[u8], what: &str) -> Result<T, Trouble> {
    serde_json::from_slice(line).map_err(|why| match why.classify() {
        Category::Data => Trouble::Unsound { what: what.to_owned(), why: why.to_string() },
        Category::Io | Category::Syntax | Category::Eof => {
            Trouble::NoMessage { said: quoted(line), why: why.to_string() }
        }
    })
}

pub(crate) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("plain data");
    line.push(b'\n');
    line
}
