//! The second act: two newborns live through the same days, one in a market with an edge, one in the same market without
//! it. The first acts on what it finds out; the second finds nothing, does nothing and pays nothing.

use golem::event::Event;
use golem::{Life, Record, policy};
use shell::life::{Ending, Listener, Pace, Run};
use shell::{Error, Home};

use super::golems::{BATCH, make_golem, return_on};
use super::screen::Screen;
use super::story::{days, line};
use crate::output::{cents, count, percent};

/// Both, with the worlds they live in.
const TWO: [(&str, &str, &str); 2] =
    [("cleo", "edge", "where one kind of bar pays"), ("dora", "fair", "where nothing does")];
/// How long they live: long enough to see twenty times what following a sign pays, and then to follow it for a while.
const TICKS: u64 = 6 * 2_160;

/// Shows what both came to. False if interrupted.
pub(super) fn second_act(home: &Home, seed: u64, screen: &mut Screen) -> Result<bool, Error> {
    screen.head("Where there is something to know, and where there is not")?;
    screen.say(
        "Two newborns, six days each in one market: the same chance, the same odd bars. After one kind of them the price \
         drifts for cleo, by about three times what going in and out costs, and for dora it does not. Neither is told.",
    )?;
    for (name, world, place) in TWO {
        let (_, mut living) = make_golem(home, seed, name, &without_dreams(world))?;
        let mut acts = Acts { screen: &mut *screen, first: None };
        let ending = living.run(Run { pace: Pace::Max, ticks: Some(TICKS), batch: BATCH }, &mut acts)?;
        let first = acts.first;
        if ending == Ending::Stopped {
            return Ok(false);
        }
        let life = living.life();
        screen.tell(&line("second_act", life, sum_up(life, place, first)))?;
    }
    Ok(true)
}

/// The settings of the second act: an ordinary golem's, but that it does not dream.
fn without_dreams(world: &str) -> [String; 2] {
    [format!("world.kind={world}"), "dream.enabled=false".to_owned()]
}

fn sum_up(life: &Life, place: &str, first: Option<f64>) -> String {
    let (name, gain) = (&life.birth().name, percent(return_on(life), 2));
    let end = life.death().map(|death| format!(" Died, {} old, {}.", life.age(), death.cause));
    let end = end.unwrap_or_default();
    let Some(first) = first else { return format!("{name}, {place}: no action, {gain} of its capital, no fees.{end}") };
    let (times, fees) = (count(life.execution().domain.resolved), cents(life.capital().fees));
    format!(
        "{name}, {place}: acts from day {first:.1} on, {times} times. {gain} of its capital, {fees} of fees paid.{end}"
    )
}

/// Notes when it first took up exposure.
struct Acts<'a> {
    screen: &'a mut Screen,
    first: Option<f64>,
}

impl Listener for Acts<'_> {
    fn acknowledged(&mut self, records: &[Record], life: &Life) -> Result<(), Error> {
        let took =
            |event: &Event| matches!(event, Event::Policy(policy::Event::Settled { outcome, .. }) if outcome.units > 0);
        let first = || records.iter().find(|record| record.events.iter().any(took));
        self.first = self.first.or_else(|| first().map(|record| days(record.at.since(life.born()))));
        Ok(())
    }

    fn stop(&mut self) -> bool {
        self.screen.stopped()
    }
}
