//! `golem run`: results on stdout once they are durable, progress on stderr, Ctrl-C a clean stop.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use golem::policy::Stage;
use golem::{Golem, Life, Name, Record};
use shell::feeds::{Feeds, Hears, News};
use shell::life::{Ending, Listener, Living, Pace, Run, Silent};
use shell::view::narrator::Narrator;
use shell::{Error, GolemHome, Home, Runtime};
use vault::Reader;

use crate::args::RunArgs;
use crate::output::{self, count, date, line, sentence};
use crate::{exit, named, signals};

/// Messages about followed markets go to stderr.
struct Complains;

impl Hears for Complains {
    fn grown(&self, _: &Path) {}

    fn news(&self, news: News) {
        output::complain(news.text);
    }
}

/// How long a run that waits for a model says nothing.
const QUIET: Duration = Duration::from_secs(4);

struct Crier {
    /// The last wait its owner was told about.
    waits: String,
    narrator: Narrator,
    json: bool,
    interrupts: Arc<AtomicU32>,
    progress: Option<Instant>,
    /// When it last said anything.
    spoke: Instant,
}

/// Lives a life, and where its owner wants it the lives of its heirs.
pub(crate) fn run(home: &Home, args: &RunArgs, json: bool) -> Result<ExitCode, Error> {
    let (runtime, interrupts) = (Runtime::of(home), catch_interrupts()?);
    let (mut name, mut left) = (args.name.clone(), args.ticks);
    loop {
        let began = ticks(home, &name)?;
        let (ending, code) = live(&runtime, &name, args.speed, left, json, &interrupts)?;
        if ending != Ending::Dead {
            return Ok(code);
        }
        let lived = ticks(home, &name)?;
        left = left.map(|left| left.saturating_sub(lived - began));
        if left == Some(0) {
            return Ok(code);
        }
        match super::heirs::automatic(&runtime, &named::golem(home, &name)?) {
            Some(heir) => name = heir.to_string(),
            None => {
                if !json {
                    line(format!("next: bardo testament {name}, or bardo golem successor {name}"));
                }
                return Ok(code);
            }
        }
        if !json {
            line(format!("{name} is born and lives on"));
        }
    }
}

fn ticks(home: &Home, name: &str) -> Result<u64, Error> {
    Ok(Reader::open(&named::golem(home, name)?.database())?.wake()?.0.life().tick())
}

fn live(
    runtime: &Arc<Runtime>,
    name: &str,
    pace: Pace,
    ticks: Option<u64>,
    json: bool,
    interrupts: &Arc<AtomicU32>,
) -> Result<(Ending, ExitCode), Error> {
    let (home, settings) = (runtime.home(), runtime.home().settings()?);
    let place = named::golem(home, name)?;
    // The dead need neither lock nor world, unless money is still on its way to them.
    let (golem, _) = Reader::open(&place.database())?.wake()?;
    if let (Some(death), true) = (&golem.life().death(), golem.owes_nothing() && place.has_gone_home(golem.life()))
        && home.treasury()?.undelivered(golem.life().id(), golem.life().transfers_taken())?.is_empty()
    {
        return Err(Error::Dead(place.name, death.cause.to_string()));
    }
    let (mut living, notices) = Living::open(runtime, place.clone(), settings.integer("run.snapshot_every") as u64)?;
    notices.iter().for_each(output::complain);
    if living.life().is_dead() {
        living.take_money(&mut Silent)?;
    }
    let ended = living.golem().owes_nothing() && place.has_gone_home(living.life());
    if let (Some(death), true) = (&living.life().death(), ended) {
        return Err(Error::Dead(place.name, death.cause.to_string()));
    }
    if living.life().heartbeat().paused {
        output::complain(format!("{0} is paused; `bardo golem resume {0}` lets it go on", name));
    }
    // Where no host is up, this process follows the market of a golem that lives in the present.
    let _feeds = living.watches().map(|file| Feeds::begin(home, Some(file), Arc::new(Complains)));
    if living.watches().is_some() && !json {
        output::complain("its time runs through the bars there are; after that it waits for each new one");
    } else if let (Pace::Times(speed), false) = (pace, json) {
        let interval = living.life().interval();
        let look = Duration::from_millis((interval.as_millis() as f64 / speed) as u64).as_secs_f64();
        output::complain(format!("running at {speed}×, a look every {look:.0} s; --speed max runs a whole life now"));
    }
    let mut crier = Crier::new(living.golem(), json, Arc::clone(interrupts));
    let batch = settings.integer("run.batch") as u64;
    let ending = living.run(Run { pace, ticks, batch }, &mut crier)?;
    crier.clear_progress();
    if !json {
        match ending {
            Ending::Dead if GolemHome::is_ordered(living.life()) && !place.is_buried() => {
                line(format!("everything of {name} is home"));
            }
            Ending::Dead => {}
            Ending::Ticks => line(summary(&place.name, living.life())),
            Ending::Stopped => line(format!("stopped; {}", summary(&place.name, living.life()))),
            Ending::WorldOver => {
                line(format!("the world has nothing more to show; {}", summary(&place.name, living.life())))
            }
        }
    }
    let code = match ending {
        Ending::Stopped => ExitCode::from(exit::INTERRUPTED),
        _ => ExitCode::SUCCESS,
    };
    Ok((ending, code))
}

fn summary(name: &Name, life: &Life) -> String {
    if life.is_dead() {
        return format!("{name} is dead, and its closing is not finished; `bardo golem run {name}` goes on with it");
    }
    let out = life.flights().iter().any(|flight| matches!(flight.stage, Stage::Permitted | Stage::Sent));
    let out = if out { "; an order is out, and its result is read when the golem runs again" } else { "" };
    format!(
        "{name} is {} at tick {}, {} old, vitality {:.2}, {} left{out}",
        output::phase(life.phase()),
        count(life.tick()),
        life.age(),
        life.vitality().composite,
        life.purse().credit
    )
}

/// The first interrupt asks for a clean stop, the second leaves at once; both lose nothing acknowledged.
pub(crate) fn catch_interrupts() -> Result<Arc<AtomicU32>, Error> {
    let interrupts = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&interrupts);
    signals::listen(move |_| {
        if seen.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
    })?;
    Ok(interrupts)
}

impl Crier {
    fn new(golem: &Golem, json: bool, interrupts: Arc<AtomicU32>) -> Crier {
        let progress = (!json && std::io::stderr().is_terminal()).then(Instant::now);
        let (waits, narrator, spoke) = (String::new(), Narrator::following(golem), Instant::now());
        Crier { waits, narrator, json, interrupts, progress, spoke }
    }

    /// Shows how far it is on a terminal, and what it waits for.
    fn show_progress(&mut self, life: &Life, waits: &str) {
        if let Some(last) = &mut self.progress
            && last.elapsed() >= Duration::from_millis(200)
        {
            *last = Instant::now();
            let (tick, phase) = (count(life.tick()), life.phase());
            eprint!(
                "\r\x1b[K{}  tick {tick}  {phase} {:.2}  {}{}",
                date(life.now()),
                life.vitality().composite,
                life.purse().credit,
                golem::plain::text(waits)
            );
            let _ = std::io::stderr().flush();
        }
    }

    fn clear_progress(&mut self) {
        if self.progress.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

impl Listener for Crier {
    fn acknowledged(&mut self, records: &[Record], life: &Life) -> Result<(), Error> {
        for record in records {
            let mut lines = Vec::new();
            self.narrator.tell(record, |told| {
                if self.json {
                    output::json(&told);
                } else if !told.message.is_routine() {
                    lines.push(format!("{}  {:>9}  {}", date(told.at), count(told.tick), sentence(&told.message)));
                }
            })?;
            if !lines.is_empty() {
                self.clear_progress();
                lines.iter().for_each(line);
                self.spoke = Instant::now();
            }
        }
        self.show_progress(life, "");
        Ok(())
    }

    fn stop(&mut self) -> bool {
        self.interrupts.load(Ordering::SeqCst) > 0 || output::reader_is_gone()
    }

    fn waits(&mut self, why: &str) {
        if self.waits != why {
            why.clone_into(&mut self.waits);
            self.clear_progress();
            output::complain(format!("it waits: {why}"));
        }
    }

    fn waits_for(&mut self, model: &str, life: &Life) {
        if self.progress.is_some() {
            self.show_progress(life, &format!("  waits for {model}"));
        } else if self.spoke.elapsed() >= QUIET {
            self.spoke = Instant::now();
            output::complain(format!("it waits for {model} to answer, at tick {}", count(life.tick())));
        }
    }

    fn lacks(&mut self, why: &str) {
        self.clear_progress();
        output::complain(format!("it goes on without its mind: {why}"));
    }
}
