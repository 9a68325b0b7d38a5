//! `demo`: one whole life in a minute, with nothing to set up and nothing left behind. It runs what `golem run` runs;
//! only the figures are chosen so that a life is short, and they are ordinary keys of golem.toml.

mod screen;
mod story;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use golem::books::Books;
use golem::rule::Provenance;
use golem::{Life, Name, Record};
use host::care::doctor;
use host::config::{File, Settings};
use host::legacy::testament;
use host::life::birth::{Wish, birth};
use host::life::heirs::{self, Estate, Heir};
use host::life::{Ending, Listener, Living, Pace, Run};
use host::view::herald::Herald;
use host::{Error, GolemHome, Home, chance::Secret};

use crate::args::DemoArgs;
use crate::commands::run::catch_interrupts;
use crate::draw::{cut, spark};
use crate::exit;
use crate::output::{self, count};
use screen::Screen;
use story::{Look, Story, days, line};

/// What differs from an ordinary golem: it looks every eight minutes instead of every forty seconds, has half the money
/// and pays for its machine out of it, dreams long nights, and acts on less proof.
const CONSTITUTION: [&str; 8] = [
    "mortality.mode=hosted",
    "world.bar=8m",
    "heartbeat.interval=8m",
    "funds.credit=5",
    "mind.samples=10",
    "mind.sureness=1",
    "dream.enabled=true",
    "dream.tier=hardened",
];
const NAME: &str = "ada";
/// How long the heir is watched: two days.
const STRETCH: u64 = 360;
/// Looks between two breaths of the screen.
const BATCH: u64 = 16;
/// Records between two snapshots.
const SNAPSHOTS: u64 = 5_000;

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
        "One whole life, unscripted: a golem on a simulated market, with paper money and with figures that make a life \
         short. Seed {} repeats it to the byte.",
        args.seed
    ))?;
    screen.head("  day  vitality")?;
    let Some((dead, looks)) = live(&home, args.seed, &mut screen)? else { return Ok(stopped()) };
    leave(&dead, &looks, &mut screen)?;
    if !succeed(&home, args.seed, &dead, &looks, &mut screen)? {
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

/// A folder that nobody lives in yet.
fn free(folder: &Path) -> Result<&Path, Error> {
    let taken = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if taken {
        Err(Error::Usage(format!("{} is not empty; choose a new folder", folder.display())))
    } else {
        Ok(folder)
    }
}

/// From birth to the end, if nobody interrupts.
fn live(home: &Home, seed: u64, screen: &mut Screen) -> Result<Option<(GolemHome, Vec<Look>)>, Error> {
    let mut flags = CONSTITUTION.map(str::to_owned).to_vec();
    flags.push(format!("world.seed={seed}"));
    let settings = Settings::load(File::Golem, None, std::iter::empty(), &flags)?;
    let spec = super::newborn::spec(home, &settings, Some(seed))?;
    let name: Name = NAME.parse().expect("a name");
    let wish = Wish::of(name, spec, Some(seed), settings);
    let place = birth(home, wish)?.place().clone();
    let (mut living, _) = Living::open(place.clone(), SNAPSHOTS)?;
    let life = living.life();
    let born = format!(
        "{NAME} is born into a {} and looks at it every {}. It has {} to live on, which will run out, and {} to act with.",
        life.birth.world.world,
        life.constitution().interval,
        life.purse.credit,
        life.capital.cash
    );
    screen.tell(&line("birth", life, born))?;
    let mut teller = Teller::new(&living, screen);
    let ending = living.run(Run { pace: Pace::Max, ticks: None, batch: BATCH }, &mut teller)?;
    let looks = teller.story.looks;
    Ok((ending == Ending::Dead).then_some((place, looks)))
}

/// What is left of it: its lines, its money, its chance, its words.
fn leave(dead: &GolemHome, looks: &[Look], screen: &mut Screen) -> Result<(), Error> {
    screen.head("Its life, from birth to death")?;
    // Skill moves around one half, so its line shows from 0.3 to 0.7.
    type Part = (&'static str, fn(&Look) -> f64, fn(f64) -> f64);
    let parts: [Part; 3] = [
        ("vitality", |look| look.vitality, |share| share),
        ("skill", |look| look.skill, |skill| (skill - 0.3) / 0.4),
        ("money", |look| look.money, |share| share),
    ];
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
    let books = Books::of(life);
    for (label, text) in [("to live on", books.credit()), ("to act", books.capital()), ("net", books.net())] {
        say("sweep", format!("  {label:<10} {text}"))?;
    }
    say(
        "testament",
        format!(
            "  lived      {} looks, {} predictions, {} actions, {} refusals, {} nights",
            count(s.ticks),
            count(s.claims),
            s.actions,
            s.refusals,
            s.nights
        ),
    )?;
    say(
        "testament",
        format!("  return     {}; buy and hold {}", output::percent(s.returned, 2), output::percent(s.held, 2)),
    )?;
    for (label, title) in [("worked", "what worked"), ("failed", "what failed")] {
        let section = testament.sections.iter().find(|section| section.title == title);
        let first = section.and_then(|section| section.lines.first()?.split_once(" ("));
        if let Some((rule, by)) = first {
            let by = by.split_once(" against").map_or(by, |(by, _)| by);
            say("testament", format!("  {label:<10} {}", cut(&format!("{by}: {rule}"), 67)))?;
        }
    }
    if let Some(advice) = testament.recommendations.first() {
        say("testament", format!("  advises    {}", cut(advice, 67)))?;
    }
    let rolls = doctor::verify_rolls(dead, &Secret::load(&dead.secret())?)?;
    say("chance", format!("  chance     all {} rolls follow from the secret it now reveals", count(rolls)))
}

/// An heir, and the first days of it. False if somebody interrupts.
fn succeed(home: &Home, seed: u64, dead: &GolemHome, looks: &[Look], screen: &mut Screen) -> Result<bool, Error> {
    let estate: Estate = heirs::estate(home, dead)?;
    let name = heirs::next_name(home, &dead.name);
    let heir = Heir { name, seed: Some(seed), set: Vec::new(), inherit: Some(true), force: false };
    let place = heirs::make(home, &estate, heir)?.place().clone();
    let (mut living, _) = Living::open(place, SNAPSHOTS)?;
    let life = living.life();
    let name = life.birth.name.clone();
    screen.head("Its heir")?;
    let born = format!(
        "{name} is born where {0} died, with as much money. It is left {1} things {0} knew [Grimoire], trusts each {2:.0} % \
         less, and tests what it was not born with before using it.",
        dead.name,
        estate.preview.entries,
        (1.0 - heirs::CROSSING) * 100.0
    );
    screen.tell(&line("heir", life, born))?;
    screen.begin();
    let mut teller = Teller { quiet: true, ..Teller::new(&living, screen) };
    let ending = living.run(Run { pace: Pace::Max, ticks: Some(STRETCH), batch: BATCH }, &mut teller)?;
    if ending == Ending::Stopped {
        return Ok(false);
    }
    let life = living.life();
    let tried = life.playbook.iter().filter(|rule| rule.provenance == Provenance::Recalled);
    let (tried, heard) = tried.fold((0, 0), |(tried, heard), rule| (tried + 1, heard + u32::from(rule.voice)));
    let age = days(life.age);
    let then = looks.get(looks.partition_point(|look| look.day < age));
    let then = then.map_or(String::new(), |look| format!("; {}'s was {:.2} at that age", dead.name, look.skill));
    let text = match &life.death {
        None => format!(
            "{name} has called {tried} rules back from that memory; {heard} {} in use by now. Skill {:.2}{then}. It lives on.",
            if heard == 1 { "is" } else { "are" },
            life.vitality.epistemic
        ),
        Some(death) => format!("{name} has died, too, {} old, {}.", life.age, death.cause),
    };
    screen.tell(&line("first_stretch", life, text))?;
    Ok(true)
}

/// Tells a life as it is acknowledged.
struct Teller<'a> {
    herald: Herald,
    story: Story,
    screen: &'a mut Screen,
    /// Only time is shown.
    quiet: bool,
}

impl<'a> Teller<'a> {
    fn new(living: &Living, screen: &'a mut Screen) -> Teller<'a> {
        Teller { herald: Herald::following(living.golem()), story: Story::default(), screen, quiet: false }
    }
}

impl Listener for Teller<'_> {
    fn acknowledged(&mut self, records: &[Record], _: &Life) -> Result<(), Error> {
        for record in records {
            self.herald.tell(record, |_| {})?;
            let Some(life) = self.herald.life() else { continue };
            let mut lines = Vec::new();
            self.story.hear(record, life, |line| lines.push(line));
            self.screen.pass(life.tick, days(life.age), life.vitality.composite, life.phase())?;
            lines.iter().filter(|_| !self.quiet).try_for_each(|line| self.screen.tell(line))?;
        }
        Ok(())
    }

    fn stop(&mut self) -> bool {
        self.screen.stopped()
    }
}
