//! A world that is a program: each of its answers is checked against the question and the world's manifest before it
//! counts.

use golem::limits;
use golem::plain;
use golem::time::Time;
use golem::world::{Fate, Manifest, Observation, Order, Quote};

use crate::keeper::Launch;
use crate::program::{Limits, Program};
use crate::talk::{Settled, Talk};
use crate::trouble::Trouble;
use crate::wire::{self, Answer, Ask, Question};

/// A running world that has introduced itself.
#[derive(Debug)]
pub struct WorldProgram {
    talk: Talk,
    pub manifest: Manifest,
    pub start: Time,
    pub end: Option<Time>,
    /// Why the last preview gave no quote, in the world's own words.
    pub says: Option<String>,
}

impl WorldProgram {
    /// Starts a world, and waits for its introduction.
    pub fn start(
        keeper: &[String],
        launch: &Launch,
        limits: Limits,
        settled: &Settled,
        log: impl FnMut(&str) + Send + 'static,
    ) -> Result<WorldProgram, Trouble> {
        let program = Program::start(keeper, launch, limits, log)?;
        let (talk, welcome) = Talk::greet(program, settled.hello("world", None))?;
        let what = || "say who it is".to_owned();
        let lacks = |lacks| Trouble::Lacks { what: what(), lacks };
        let manifest = welcome.world.ok_or_else(|| lacks("world"))?;
        let manifest = manifest.read().map_err(|why| Trouble::Unsound { what: what(), why })?;
        let start = Time::millis(welcome.start.ok_or_else(|| lacks("start"))?);
        Ok(WorldProgram { talk, manifest, start, end: welcome.end.map(Time::millis), says: None })
    }

    /// Starts a program that only carries out the orders of a golem born into this world.
    pub fn carry_out(
        keeper: &[String],
        launch: &Launch,
        limits: Limits,
        settled: &Settled,
        born: &Manifest,
        log: impl FnMut(&str) + Send + 'static,
    ) -> Result<WorldProgram, Trouble> {
        let program = Program::start(keeper, launch, limits, log)?;
        let (talk, _) = Talk::greet(program, settled.hello("orders", Some(wire::Manifest::of(born))))?;
        Ok(WorldProgram { talk, manifest: born.clone(), start: Time::default(), end: None, says: None })
    }

    /// Takes the world to where its golem last looked, with the highest key the golem has used and what it holds, where
    /// that is known.
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
        self.says = answer.why.filter(|_| quote.is_none()).map(|why| plain::line(&why, 400));
        Ok(quote.map(|quote| quote.read()))
    }

    pub fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, Trouble> {
        self.fate("do what is ordered", Ask::Commit { key, order: wire::Order::of(order) })
    }

    pub fn reconcile(&mut self, key: u64) -> Result<Fate, Trouble> {
        self.fate("say what became of an order", Ask::Reconcile { key })
    }

    pub fn close(&mut self) -> Result<(), Trouble> {
        self.ask("send home what is left", Ask::Close).map(|_| ())
    }

    fn fate(&mut self, what: &'static str, ask: Ask) -> Result<Fate, Trouble> {
        let answer = self.ask(what, ask)?;
        let fate = answer.fate.ok_or_else(|| Trouble::Lacks { what: what.to_owned(), lacks: "fate" })?;
        Ok(fate.read())
    }

    fn ask(&mut self, what: &'static str, ask: Ask) -> Result<Answer, Trouble> {
        self.talk.ask(what, |id| Question { id, ask })
    }

    /// Asks the world to end, and kills it if it does not.
    pub fn end(self) {
        self.talk.end(|id| Question { id, ask: Ask::Bye });
    }
}
