//! Follows a pool into a series of candles: one process reads the chain, and any number of golems read its file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chain::pool::{Bar, Watch};
use chain::rpc::Endpoints;
use chain::site::Site;
use chain::venue::Range;
use golem::Name;
use golem::time::{Span, Time};
use serde_json::json;
use shell::view::figures::count;
use shell::{Error, Home};
use world::Candle;
use world::series::Writer;

use crate::output::{self, line};
use crate::place::said;
use crate::stop::told_to_stop;

/// The chain is looked at four times a bar, within these bounds, in seconds: requests are often paid for.
const EVERY: (u64, u64) = (1, 12);

pub(crate) fn watch(home: &Home, folder: &Path, name: &Name, bar: u64, json: bool) -> Result<ExitCode, Error> {
    let stop = told_to_stop()?;
    let mut watcher = Watcher::open(home, folder, name, bar, false)?;
    if json {
        output::json(&json!({ "folder": folder, "data": name, "bar": bar }));
    } else {
        line(format!("following the pool of {} as {name}, in bars of {bar} s; Ctrl-C ends it", folder.display()));
    }
    watcher.run(&stop)?;
    let (bars, asked) = (watcher.bars() as u64, watcher.chain.asked());
    if json {
        output::json(&json!({ "bars": bars, "questions": asked }));
    } else {
        line(format!("{} bars; {} questions to the chain", count(bars), count(asked)));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) struct Watcher {
    chain: Endpoints,
    site: Site,
    writer: Writer,
    watch: Watch,
    /// The file of the reader's place in the pool; the series itself has the bars.
    file: PathBuf,
}

impl Watcher {
    /// Opens the watcher where it was left or, with `anew`, from the beginning of a new chain.
    pub(crate) fn open(home: &Home, folder: &Path, name: &Name, bar: u64, anew: bool) -> Result<Watcher, Error> {
        let site = Site::read(folder).map_err(said)?;
        let chain = site.chain().map_err(said)?;
        let path = home.data().join(format!("{name}.csv"));
        std::fs::create_dir_all(home.data()).map_err(|source| Error::Io {
            what: "cannot make",
            path: home.data(),
            source,
        })?;
        let writer = Writer::with_gas(path, Span::seconds(bar.max(1)))?;
        let venue = label(&site);
        // Bars of two things in one series would be a market that never was.
        if let Some(other) = writer.venue().filter(|other| *other != venue) {
            return Err(Error::Usage(format!(
                "{name} has bars of something else in it ({other}, not {venue}); choose another name with --as"
            )));
        }
        // Beside the series it belongs to: another home may follow the same pool.
        let file = home.data().join(format!("{name}.watch.json"));
        let kept = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
        // A place in another chain says nothing of this one.
        let head = chain.head().map_err(said)?.number;
        let kept = kept.filter(|watch: &Watch| !anew && watch.bar == bar.max(1) && watch.next <= head + 1);
        let watch = kept.unwrap_or_else(|| Watch::new(bar, site.place.since));
        Ok(Watcher { chain, site, writer, watch, file })
    }

    pub(crate) fn bars(&self) -> usize {
        self.writer.candles().bars().len()
    }

    /// Removes the file of its place, which is of no use any more.
    pub(crate) fn forget(self) {
        let _ = std::fs::remove_file(self.file);
    }

    /// Follows the pool until it is told to stop. A chain that is away is asked again.
    pub(crate) fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        let mut away = false;
        while !stop.load(Ordering::Relaxed) {
            match self.look() {
                Ok(()) if std::mem::take(&mut away) => output::complain("the chain answers again"),
                Ok(()) => {}
                Err(chain::Error::Io { what, path, source }) => return Err(Error::Io { what, path, source }),
                Err(why) if !std::mem::replace(&mut away, true) => output::complain(why),
                Err(_) => {}
            }
            let seconds = (self.watch.bar / 4).clamp(EVERY.0, EVERY.1);
            (0..seconds * 4).take_while(|_| !stop.load(Ordering::Relaxed)).for_each(|_| {
                std::thread::sleep(Duration::from_millis(250));
            });
        }
        Ok(())
    }

    pub(crate) fn look(&mut self) -> Result<(), chain::Error> {
        let before = self.watch.clone();
        let bars = self.watch.read(&self.chain, &self.site.place)?;
        let until = self.writer.until().unwrap_or_default();
        let new: Vec<Candle> =
            bars.iter().map(|bar| candle(bar.told(&self.site.place))).filter(|candle| candle.opened >= until).collect();
        if let Err(why) = self.writer.add(&new, &label(&self.site)) {
            self.watch = before;
            let (what, path) = ("cannot add to", self.writer.path().to_owned());
            return Err(chain::Error::Io { what, path, source: std::io::Error::other(why.to_string()) });
        }
        if self.watch.next > before.next {
            let text = serde_json::to_vec(&self.watch).expect("plain data");
            std::fs::write(&self.file, text).map_err(|source| chain::Error::Io {
                what: "cannot write",
                path: self.file.clone(),
                source,
            })?;
        }
        Ok(())
    }
}

/// The venue of the bars, as it stands in the series.
fn label(site: &Site) -> String {
    let range = |range: Range| format!("shares {}..{} of {}", range.lower, range.upper, range.each);
    site.place.range.map_or_else(|| "pool".to_owned(), range)
}

fn candle(bar: Bar) -> Candle {
    let Bar { opened, open, high, low, close, volume, gas } = bar;
    Candle { opened: Time::seconds(opened), open, high, low, close, volume, gas: gas / 1e9 }
}
