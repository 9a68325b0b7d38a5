//! What the demo is shown on: lines at a pace a person can follow, a status line between them, and a recording of both.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use golem::mortality::phase::Phase;
use serde_json::json;
use shell::Error;
use shell::life::Pace;

use super::story::StoryLine;
use crate::draw::{bar, wrap};
use crate::output;

/// Columns of what stands before a note.
const LABEL: usize = 13;
/// The column in which the text of a line begins.
const MARGIN: usize = 20;
/// How wide the whole is.
const WIDTH: usize = 80;
/// How long a look takes to pass, at the usual pace.
const LOOK: Duration = Duration::from_millis(5);
/// How long a character takes to read, at the usual pace.
const CHARACTER: Duration = Duration::from_millis(12);
/// Looks between two states of the status line.
const STEP: u64 = 10;
/// The longest sleep before an interrupt is noticed.
const NAP: Duration = Duration::from_millis(50);

pub(super) struct Screen {
    form: Form,
    /// None where nothing waits.
    speed: Option<f64>,
    /// Until when what was shown so far takes.
    due: Instant,
    looks: u64,
    /// A status line is on the screen.
    status: bool,
    colour: bool,
    terminal: bool,
    cast: Option<Cast>,
    interrupts: Arc<AtomicU32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Live,
    Json,
}

/// An asciicast, version 2: a header, then what was shown and when.
struct Cast {
    file: File,
    began: Instant,
}

impl Screen {
    pub(super) fn new(
        headless: bool,
        json: bool,
        pace: Pace,
        record: Option<&Path>,
        interrupts: Arc<AtomicU32>,
    ) -> Result<Screen, Error> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stdout().is_terminal() && !dumb;
        let live = !headless && !json && (terminal || record.is_some());
        let cast = record.map(Cast::begin).transpose()?;
        Ok(Screen {
            form: if json {
                Form::Json
            } else if live {
                Form::Live
            } else {
                Form::Plain
            },
            speed: if let (true, Pace::Times(times)) = (live, pace) { Some(times) } else { None },
            due: Instant::now(),
            looks: 0,
            status: false,
            colour: live && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            terminal,
            cast,
            interrupts,
        })
    }

    /// A moment of a life: when it was, how well it was, and what happened.
    pub(super) fn tell(&mut self, line: &StoryLine) -> Result<(), Error> {
        if self.form == Form::Json {
            output::json(line);
            return Ok(());
        }
        let gauge = self.gauge(line.vitality, line.phase);
        for (at, text) in wrap(&line.text, WIDTH - MARGIN).iter().enumerate() {
            if at == 0 {
                self.write(&format!("{:>5.1}  {gauge} {:.2}  {text}\n", line.day, line.vitality))?;
            } else {
                self.write(&format!("{:MARGIN$}{text}\n", ""))?;
            }
        }
        self.wait(CHARACTER * line.text.chars().count() as u32);
        Ok(())
    }

    /// Prints a labelled fact in a line of its own.
    pub(super) fn note(&mut self, line: &StoryLine) -> Result<(), Error> {
        if self.form == Form::Json {
            output::json(line);
        }
        // What is too long goes on below itself, beside its label.
        let (label, text) = line.text.split_at_checked(LABEL).unwrap_or((&line.text, ""));
        for (at, part) in wrap(text, WIDTH - LABEL).iter().enumerate() {
            self.row(&format!("{:LABEL$}{part}", if at == 0 { label } else { "" }))?;
        }
        Ok(())
    }

    /// One row of a table.
    pub(super) fn figures(&mut self, line: &StoryLine) -> Result<(), Error> {
        if self.form == Form::Json {
            output::json(line);
        }
        self.row(&line.text)
    }

    /// A line as it is.
    pub(super) fn row(&mut self, text: &str) -> Result<(), Error> {
        if self.form == Form::Json {
            return Ok(());
        }
        self.write(&format!("{text}\n"))?;
        self.wait(CHARACTER * text.chars().count() as u32);
        Ok(())
    }

    /// Words that belong to no moment.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Error> {
        wrap(text, WIDTH).iter().try_for_each(|line| self.row(line))
    }

    /// A heading between two parts.
    pub(super) fn head(&mut self, text: &str) -> Result<(), Error> {
        if self.form == Form::Json {
            return Ok(());
        }
        let text = self.paint("1", text);
        self.write(&format!("\n{text}\n"))
    }

    /// So many looks have passed in all: shows how things stand, and lets the time pass.
    pub(super) fn pass(&mut self, looks: u64, day: f64, vitality: f64, phase: Phase) -> Result<(), Error> {
        let since = looks.saturating_sub(self.looks);
        if self.speed.is_none() || since < STEP {
            return Ok(());
        }
        self.looks = looks;
        let gauge = self.gauge(vitality, phase);
        let status = format!("\r\x1b[K{day:>5.1}  {gauge} {vitality:.2}");
        self.record(&status)?;
        if self.terminal {
            output::write(&status);
        }
        self.status = true;
        self.wait(LOOK * since as u32);
        Ok(())
    }

    /// Looks of another life begin to count.
    pub(super) fn begin(&mut self) {
        self.looks = 0;
    }

    pub(super) fn stopped(&self) -> bool {
        self.interrupts.load(Ordering::SeqCst) > 0 || output::reader_is_gone()
    }

    fn wait(&mut self, time: Duration) {
        let Some(speed) = self.speed else { return };
        self.due = self.due.max(Instant::now()) + time.div_f64(speed);
        while Instant::now() < self.due && !self.stopped() {
            std::thread::sleep(self.due.saturating_duration_since(Instant::now()).min(NAP));
        }
    }

    fn gauge(&self, vitality: f64, phase: Phase) -> String {
        // Bluish green, sky blue, yellow, orange and vermilion can be told apart by everyone.
        let colour = match phase {
            Phase::Thriving => "38;5;36",
            Phase::Stable => "38;5;74",
            Phase::Conservation => "38;5;221",
            Phase::Declining => "38;5;214",
            Phase::Terminal => "38;5;166",
        };
        self.paint(colour, &bar(vitality, 6))
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Over the status line, if there is one. A pipe gets words alone; what moves and shines is for a terminal and for
    /// the recording of one.
    fn write(&mut self, text: &str) -> Result<(), Error> {
        let clear = if std::mem::take(&mut self.status) { "\r\x1b[K" } else { "" };
        self.record(&format!("{clear}{text}"))?;
        output::write(&if self.terminal { format!("{clear}{text}") } else { plain(text) });
        Ok(())
    }

    fn record(&mut self, text: &str) -> Result<(), Error> {
        self.cast.as_mut().map_or(Ok(()), |cast| cast.note(text))
    }
}

impl Cast {
    fn begin(path: &Path) -> Result<Cast, Error> {
        let mut file =
            File::create(path).map_err(|source| Error::Io { what: "cannot create", path: path.to_owned(), source })?;
        let _ = shell::private::share(path);
        let header = json!({ "version": 2, "width": WIDTH, "height": 32, "title": "bardo demo" });
        let _ = writeln!(file, "{header}");
        Ok(Cast { file, began: Instant::now() })
    }

    fn note(&mut self, text: &str) -> Result<(), Error> {
        let millis = self.began.elapsed().as_millis() as f64;
        let shown = text.replace('\n', "\r\n");
        writeln!(self.file, "{}", json!([millis / 1_000.0, "o", shown]))
            .map_err(|e| Error::Host(format!("the recording cannot be written: {e}")))
    }
}

/// Without colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once('m').map_or(part, |(_, after)| after))
}
