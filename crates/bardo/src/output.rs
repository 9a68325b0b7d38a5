//! How things look on a terminal: words first, figures a person can take in, nothing that needs a TTY.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use golem::figures::{percent, signed};
use golem::plain;
use golem::{Life, Usdc};
use serde::Serialize;
use shell::Error;
pub(crate) use shell::view::figures::{cents, count, date, plain, units};
use shell::view::portrait;
pub(crate) use shell::view::saying::{phase, sentence};

pub(crate) const WELCOME: &str = "\
bardo puts an AI agent under a cap on real money, and ends it with a reason.

The agent you have; your provider bills its calls:
  bardo wrap --credit 2 -- COMMAND      run it on two dollars
  bardo golem costs                     what was spent, by day and model

A golem with a life of its own, on paper money:
  bardo demo                            see in a minute how one lives, dies and is succeeded
  bardo init                            make a home, with paper money in its treasury
  bardo golem new ada --world edge      bring a golem into the world; without a name, you are asked
  bardo golem run ada --speed max       run its whole life now
  bardo golem show ada                  how it is, or how it died
  bardo golem events ada                what happened

  bardo up                              run all of them, with a page to watch them on
  bardo --help                          what is needed first; bardo help all has everything
";

static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Prints a line; whatever anyone wrote into it, a terminal only shows it. A reader that has gone away is no reason to
/// complain, nor to leave work half done: what streams asks [`reader_is_gone`] and stops by itself.
pub(crate) fn line(text: impl AsRef<str>) {
    put(&plain::text(text.as_ref()));
}

fn put(text: &str) {
    if writeln!(io::stdout().lock(), "{text}").is_err() {
        READER_GONE.store(true, Ordering::Relaxed);
    }
}

/// Says what is wrong or worth knowing beside the result, as plainly as `line`.
pub(crate) fn complain(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "bardo: {}", plain::text(&text.to_string()));
}

/// One line for a program, where standard output belongs to another program.
pub(crate) fn aside(told: &serde_json::Value) {
    let _ = writeln!(io::stderr().lock(), "{told}");
}

/// Asks, and leaves the answer on the same line.
pub(crate) fn ask(question: impl std::fmt::Display) {
    let _ = write!(io::stderr().lock(), "{}", plain::text(&question.to_string()));
    let _ = io::stderr().flush();
}

/// Prints text as it is, at once: only our own colours and movements, never words from outside.
pub(crate) fn write(text: &str) {
    let mut out = io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        READER_GONE.store(true, Ordering::Relaxed);
    }
}

/// Writes a file its user asked for; a new one is as open as the files they make themselves.
pub(crate) fn save(path: &Path, text: &[u8]) -> Result<(), Error> {
    let fresh = !path.exists();
    let written = fs::write(path, text).and_then(|()| if fresh { shell::private::share(path) } else { Ok(()) });
    written.map_err(|source| Error::Io { what: "cannot write", path: path.to_owned(), source })
}

pub(crate) fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

/// The unit of every sum in JSON whose name does not end in `_usd`.
pub(crate) const MONEY_UNIT: &str = "millionths of a dollar";

/// A sum in dollars, which JSON has beside the same in its unit.
pub(crate) fn usd(sum: Usdc) -> f64 {
    sum.as_micros() as f64 / 1e6
}

pub(crate) fn json(value: &impl Serialize) {
    json_line(&serde_json::to_string(value).expect("plain data"));
}

/// JSON that is written already.
pub(crate) fn json_line(text: &str) {
    put(&plain::json(text));
}

/// One life, on one screen.
pub(crate) fn portrait(name: &str, life: &Life, running: bool) -> String {
    let head = portrait::head(name, life, running);
    portrait::rows(name, life).iter().fold(head, |text, row| text + &format!("\n  {:<10} {}", row.about, row.says))
}

/// Why a tick is remembered.
pub(crate) fn reasons(bits: u8) -> Vec<&'static str> {
    use golem::episode::why;
    let names = [
        (why::SURPRISE, "surprise"),
        (why::INTENT, "intent"),
        (why::REFUSAL, "refusal"),
        (why::REGIME, "regime"),
        (why::PHASE, "phase"),
        (why::DEATH, "death"),
        (why::ROUTINE, "routine"),
    ];
    names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

pub(crate) fn regime(number: u8) -> String {
    use golem::regime::Regime;
    [Regime::Calm, Regime::Usual, Regime::Unsettled].get(usize::from(number)).copied().unwrap_or_default().to_string()
}
