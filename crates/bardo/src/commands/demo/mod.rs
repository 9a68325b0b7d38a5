//! `demo`: what mortality is for, in a minute, with nothing to set up and nothing left behind. Two golems live in one market;
//! it turns; the one that has stopped learning dies of being wrong, the other lives on, and so does an heir of the dead one.
//! It runs what `golem run` runs; only the figures are chosen so that a life is short, and they are ordinary keys of
//! golem.toml. In a second act two more act, or do not, on what there is to know.

mod golems;
mod screen;
mod second;
mod story;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use golem::books::Books;
use golem::rule::Provenance;
use golem::{Life, Record};
use settings::{File, Settings};
use shell::legacy::testament;
use shell::life::heirs::{self, Estate, Heir};
use shell::life::{Ending, Listener, Living, Pace, Run};
use shell::view::figures::several;
use shell::view::narrator::Narrator;
use shell::{Error, GolemHome, Home, Runtime};

use crate::args::DemoArgs;
use crate::commands::run::catch_interrupts;
use crate::draw::{cut, spark};
use crate::exit;
use crate::output;
use golems::{BATCH, SNAPSHOTS, make_golem, return_on};
use screen::Screen;
use story::{Story, StoryLook, TURN, days, line};

/// Settings that differ from an ordinary golem's: it looks every eight minutes instead of every forty seconds, has half the
/// money and pays for its machine out of it, dreams long nights, and acts on less proof.
const CONSTITUTION: [&str; 9] = [
    "mortality.mode=hosted",
    "world.bar=8m",
    "heartbeat.interval=8m",
    "funds.credit=5",
    "mind.samples=10",
    "mind.sureness=1",
    "dream.enabled=true",
    "dream.tier=hardened",
    // The day on which volatility and gas, which used to swing back, begin to go on.
    "world.flip_days=10",
];
/// The setting of the golem that stops learning: sure of what it knows by then, it learns no more.
const STUBBORN: &str = "mind.learn_until=10d";
const NAME: &str = "ada";
const OTHER: &str = "ben";
/// How long the others are watched after its death: five days.
const STRETCH: u64 = 900;

pub(crate) fn demo(args: &DemoArgs, json: bool) -> Result<ExitCode, Error> {
    let interrupts = catch_interrupts()?;
    let mut screen = Screen::new(args.headless, json, args.speed, args.record.as_deref(), Arc::clone(&interrupts))?;
    // Gone again when this returns, however it returns.
    let aside = tempfile::tempdir().map_err(|e| Error::Host(format!("no temporary folder can be made: {e}")))?;
    let root = match &args.keep {
        Some(folder) => free(folder)?,
        None => aside.path(),
    };
    let home = Home::at(root.to_owned());
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[])?)?;

    screen.say(&format!(
        "Two golems in one simulated market, unscripted, with paper money. {NAME} stops learning after ten days; {OTHER} does \
         not. On day ten the market turns, and neither is told. Seed {} repeats it to the byte.",
        args.seed
    ))?;
    screen.head("  day  vitality")?;
    let Some((dead, looks)) = live(&home, args.seed, &mut screen)? else { return Ok(stopped()) };
    leave(&dead, &looks, &mut screen)?;
    let Some(other) = beside(&home, args.seed, &dead, looks.len() as u64 + STRETCH, &mut screen)? else {
        return Ok(stopped());
    };
    let Some(heir) = succeed(&home, args.seed, &dead, &mut screen)? else { return Ok(stopped()) };
    reckon(&[&dead, &other, &heir], &mut screen)?;
    if !second::second_act(&home, args.seed, &mut screen)? {
        return Ok(stopped());
    }
    screen.head("One life proves nothing, for it or against it.")?;
    screen.say("Thousands of runs: docs/results.md, and `bardo lab lives` for your own.")?;
    screen.say(&match &args.keep {
        Some(folder) => format!("The home is kept: bardo --home {} golem show {NAME} --plot", folder.display()),
        None => format!("Next: bardo demo --seed {}, or bardo init for a golem of your own.", args.seed + 1),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn stopped() -> ExitCode {
    ExitCode::from(exit::INTERRUPTED)
}

/// Checks that the folder is new or empty.
fn free(folder: &Path) -> Result<&Path, Error> {
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken {
        Err(Error::Usage(format!("{} is not empty; choose a new folder", folder.display())))
    } else {
        Ok(folder)
    }
}

/// Runs the first golem from birth to its end, unless interrupted.
fn live(home: &Home, seed: u64, screen: &mut Screen) -> Result<Option<(GolemHome, Vec<StoryLook>)>, Error> {
    let (place, mut living) = newborn(home, seed, NAME, &[STUBBORN])?;
    let life = living.life();
    let born = format!(
        "{NAME} is born into a {} and looks at it every {}. It has {} to live on, which will run out, and {} to act with.",
        life.birth().world.world,
        life.constitution().interval,
        life.purse().credit,
        life.capital().cash
    );
    screen.tell(&line("birth", life, born))?;
    let mut teller = Teller::new(&living, screen);
    let ending = living.run(Run { pace: Pace::Max, ticks: None, batch: BATCH }, &mut teller)?;
    let looks = teller.story.looks;
    Ok((ending == Ending::Dead).then_some((place, looks)))
}

/// One of the two of the first act, in the market of this seed.
fn newborn(home: &Home, seed: u64, name: &str, more: &[&str]) -> Result<(GolemHome, Living), Error> {
    let flags: Vec<String> = CONSTITUTION.iter().chain(more).map(|flag| (*flag).to_owned()).collect();
    make_golem(home, seed, name, &flags)
}

/// Shows the life line and the testament of the dead golem.
fn leave(dead: &GolemHome, looks: &[StoryLook], screen: &mut Screen) -> Result<(), Error> {
    screen.head("Its life, from birth to death")?;
    // Skill moves around one half, so its line shows from 0.3 to 0.7.
    type Part = (&'static str, fn(&StoryLook) -> f64, fn(f64) -> f64);
    let parts: [Part; 2] =
        [("vitality", |look| look.vitality, |share| share), ("skill", |look| look.skill, |skill| (skill - 0.3) / 0.4)];
    for (name, value, height) in parts {
        let values: Vec<f64> = looks.iter().map(value).collect();
        let heights: Vec<f64> = values.iter().copied().map(height).collect();
        let ends = values.first().zip(values.last()).map_or(String::new(), |(a, b)| format!("{a:.2} → {b:.2}"));
        screen.row(&format!("  {name:<9} {} {ends}", spark(&heights, 54)))?;
    }
    let (golem, _) = vault::Reader::open(&dead.database())?.wake()?;
    let life = golem.life();
    let Some(testament) = testament::read(dead, life)? else { return Ok(()) };
    let s = &testament.statistics;
    screen.head("What it leaves [testament]")?;
    let mut say = |station, text: String| screen.note(&line(station, life, text));
    say(
        "testament",
        format!(
            "  lived      {}, {}, {}, {}, {}",
            several(s.ticks, "look"),
            several(s.claims, "prediction"),
            several(s.actions, "action"),
            several(s.refusals, "refusal"),
            several(s.nights, "night")
        ),
    )?;
    let worked = testament.sections.iter().find(|section| section.title == "what worked");
    if let Some((rule, by)) = worked.and_then(|section| section.lines.first()?.split_once(" (")) {
        let by = by.split_once(" against").map_or(by, |(by, _)| by);
        say("testament", format!("  worked     {}", cut(&format!("{by}: {rule}"), 67)))?;
    }
    if let Some(advice) = testament.recommendations.first() {
        say("testament", format!("  advises    {}", cut(advice, 67)))?;
    }
    Ok(())
}

/// Runs the other golem through the same days and a few more. None if interrupted.
fn beside(
    home: &Home,
    seed: u64,
    dead: &GolemHome,
    ticks: u64,
    screen: &mut Screen,
) -> Result<Option<GolemHome>, Error> {
    let (place, mut living) = newborn(home, seed, OTHER, &[])?;
    screen.head("Beside it, in the same market")?;
    let born = format!("{OTHER} was born when {} was, with as much money, and never stops learning.", dead.name);
    screen.tell(&line("beside", living.life(), born))?;
    screen.begin();
    let mut teller = Teller { quiet: true, ..Teller::new(&living, screen) };
    let ending = living.run(Run { pace: Pace::Max, ticks: Some(ticks), batch: BATCH }, &mut teller)?;
    let looks = teller.story.looks;
    if ending == Ending::Stopped {
        return Ok(None);
    }
    // How sure it was when the market turned, how far that fell, and what became of it.
    let since = looks.partition_point(|look| look.day < TURN);
    let before = looks[..since].last().map_or(0.0, |look| look.skill);
    let worst = looks[since..].iter().map(|look| look.skill).fold(before, f64::min);
    let life = living.life();
    let text = match &life.death() {
        None => format!(
            "Its skill, {before:.2} on the day the market turned, fell to {worst:.2} and is {:.2} now. {OTHER} lives on.",
            life.vitality().epistemic
        ),
        Some(death) => format!("{OTHER} has died, too, {} old, {}.", life.age(), death.cause),
    };
    screen.tell(&line("learned", life, text))?;
    Ok(Some(place))
}

/// Makes an heir and runs its first days. None if interrupted.
fn succeed(home: &Home, seed: u64, dead: &GolemHome, screen: &mut Screen) -> Result<Option<GolemHome>, Error> {
    let estate: Estate = heirs::estate(home, dead)?;
    let (runtime, name) = (Runtime::of(home), heirs::next_name(home, &dead.name)?);
    let set = vec!["mind.learn_until=".to_owned()];
    let heir = Heir { name, seed: Some(seed), set, inherit: Some(true), force: false };
    let place = heirs::make(&runtime, &estate, heir)?.place().clone();
    let (mut living, _) = Living::open(&runtime, place.clone(), SNAPSHOTS)?;
    let life = living.life();
    let name = life.birth().name.clone();
    screen.head("Its heir")?;
    let born = format!(
        "{name} is born where {0} died, with as much money, and learns. It inherits {1} entries of {0}'s memory [Grimoire] at \
         {2:.0} % of their confidence, and tests those it was not born with before use.",
        dead.name,
        estate.preview.entries,
        heirs::CROSSING * 100.0
    );
    screen.tell(&line("heir", life, born))?;
    screen.begin();
    let mut teller = Teller { quiet: true, ..Teller::new(&living, screen) };
    let ending = living.run(Run { pace: Pace::Max, ticks: Some(STRETCH), batch: BATCH }, &mut teller)?;
    if ending == Ending::Stopped {
        return Ok(None);
    }
    let life = living.life();
    let tried = life.playbook().iter().filter(|rule| rule.provenance == Provenance::Recalled);
    let (tried, heard) = tried.fold((0, 0), |(tried, heard), rule| (tried + 1, heard + u32::from(rule.voice)));
    let text = match &life.death() {
        None => format!(
            "{name} has called {tried} rules back from that memory; {heard} {} in use by now. Skill {:.2}. It lives on.",
            if heard == 1 { "is" } else { "are" },
            life.vitality().epistemic
        ),
        Some(death) => format!("{name} has died, too, {} old, {}.", life.age(), death.cause),
    };
    screen.tell(&line("first_stretch", life, text))?;
    Ok(Some(place))
}

/// Shows the cost and the return of each golem.
fn reckon(all: &[&GolemHome], screen: &mut Screen) -> Result<(), Error> {
    screen.head("What they cost, and what they brought")?;
    screen.row(&format!("  {:<8} {:>6} {:>6} {:>9} {:>9}  {}", "", "days", "skill", "cost", "return", "now"))?;
    for place in all {
        let (golem, _) = vault::Reader::open(&place.database())?.wake()?;
        let life = golem.life();
        let books = Books::of(life);
        let now = if life.is_dead() { "dead" } else { "alive" };
        let text = format!(
            "  {:<8} {:>6.1} {:>6.2} {:>9} {:>9}  {now}",
            life.birth().name.as_str(),
            days(life.age()),
            life.vitality().epistemic,
            output::cents(books.spent + books.gas),
            output::percent(return_on(life), 2)
        );
        screen.figures(&line("reckoning", life, text))?;
    }
    Ok(())
}

/// Tells a life as it is acknowledged.
struct Teller<'a> {
    narrator: Narrator,
    story: Story,
    screen: &'a mut Screen,
    /// Only time is shown.
    quiet: bool,
}

impl<'a> Teller<'a> {
    fn new(living: &Living, screen: &'a mut Screen) -> Teller<'a> {
        Teller { narrator: Narrator::following(living.golem()), story: Story::default(), screen, quiet: false }
    }
}

impl Listener for Teller<'_> {
    fn acknowledged(&mut self, records: &[Record], _: &Life) -> Result<(), Error> {
        for record in records {
            self.narrator.tell(record, |_| {})?;
            let Some(life) = self.narrator.life() else { continue };
            let mut lines = Vec::new();
            self.story.hear(record, life, |line| lines.push(line));
            self.screen.pass(life.tick(), days(life.age()), life.vitality().composite, life.phase())?;
            lines.iter().filter(|_| !self.quiet).try_for_each(|line| self.screen.tell(line))?;
        }
        Ok(())
    }

    fn stop(&mut self) -> bool {
        self.screen.stopped()
    }
}
