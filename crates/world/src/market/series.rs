//! A series of candles that still grows. Rows are only ever added, each on disk before it is seen, and none is ever
//! changed: a replay of the whole file later shows what was seen at the time.
//!
//! One process adds rows, under a lock; any number read. A last line without its newline is being written, or was cut
//! short, and does not count yet.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use golem::time::{Span, Time};

use super::candles::{Candle, Candles};
use crate::Error;

const HEADER: &str = "ts,open,high,low,close,volume,venue\n";
/// The header of a series with gas prices.
const WITH_GAS: &str = "ts,open,high,low,close,volume,venue,gas_gwei\n";

/// The readers' view of a series; one serves all golems that watch the same file.
#[derive(Debug)]
pub struct Series {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    candles: Candles,
    /// Bytes of the file that have been read into the candles.
    read: u64,
}

impl Series {
    pub fn open(path: impl Into<PathBuf>, interval: Span) -> Result<Series, Error> {
        let path = path.into();
        let series =
            Series { path, known: Mutex::new(Known { candles: Candles::of(Vec::new(), interval, false), read: 0 }) };
        let known = series.latest()?;
        match known.bars().len() {
            0 => Err(series.wrong("nothing is in it yet".to_owned())),
            _ => Ok(series),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All candles that have come by now.
    pub fn latest(&self) -> Result<Candles, Error> {
        let failed = |source| Error::Io { what: "cannot read", path: self.path.clone(), source };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let length = std::fs::metadata(&self.path).map_err(failed)?.len();
        if length < known.read {
            return Err(self.wrong("rows that were already read are gone from it; bring the old file back".to_owned()));
        }
        if length > known.read {
            let rest = read_from(&self.path, known.read).map_err(failed)?;
            let whole = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            if known.read == 0 {
                known.candles =
                    Candles::of(Vec::new(), known.candles.interval(), rest.starts_with(WITH_GAS.as_bytes()));
            }
            let bars = parse(&rest[..whole], &known.candles).map_err(|why| self.wrong(why))?;
            if !bars.is_empty() {
                known.candles = known.candles.and(bars);
            }
            known.read += whole as u64;
        }
        Ok(known.candles.clone())
    }

    fn wrong(&self, why: String) -> Error {
        Error::Candles { path: self.path.clone(), why }
    }
}

/// The writer of a series; there can be only one.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    candles: Candles,
    /// The venue of the last row.
    venue: Option<String>,
    /// A write failed half-way: what the file holds is unknown until it is read again.
    stuck: bool,
}

impl Writer {
    /// Opens or begins the file, and cuts off a torn last line.
    pub fn open(path: impl Into<PathBuf>, interval: Span) -> Result<Writer, Error> {
        Writer::with(path, interval, HEADER)
    }

    /// Opens or begins a file whose bars have gas prices. A file that was begun without them stays without.
    pub fn with_gas(path: impl Into<PathBuf>, interval: Span) -> Result<Writer, Error> {
        Writer::with(path, interval, WITH_GAS)
    }

    fn with(path: impl Into<PathBuf>, interval: Span, header: &str) -> Result<Writer, Error> {
        let path = path.into();
        let failed = |what| {
            let path = path.clone();
            move |source| Error::Io { what, path, source }
        };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(&path).map_err(failed("cannot open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { path: path.clone() }),
            Err(TryLockError::Error(source)) => return Err(failed("cannot lock")(source)),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed("cannot read"))?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed("cannot cut the torn end off"))?;
        }
        if whole == 0 {
            file.write_all(header.as_bytes()).map_err(failed("cannot write"))?;
        }
        file.sync_all().map_err(failed("cannot sync"))?;
        let begun = if whole == 0 { header.as_bytes() } else { &text[..whole] };
        let none = Candles::of(Vec::new(), interval, begun.starts_with(WITH_GAS.as_bytes()));
        let bars = parse(&text[..whole], &none).map_err(|why| Error::Candles { path: path.clone(), why })?;
        let last = text[..whole].split(|byte| *byte == b'\n').rev().find(|line| !line.is_empty());
        let venue = last.filter(|_| !bars.is_empty()).and_then(|line| line.split(|byte| *byte == b',').nth(6));
        let venue = venue.map(|venue| String::from_utf8_lossy(venue).into_owned());
        Ok(Writer { file, candles: none.and(bars), path, venue, stuck: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn candles(&self) -> &Candles {
        &self.candles
    }

    /// The venue of the last bar.
    pub fn venue(&self) -> Option<&str> {
        self.venue.as_deref()
    }

    /// When the last bar closed.
    pub fn until(&self) -> Option<Time> {
        self.candles.bars().last().map(|bar| bar.opened + self.candles.interval())
    }

    /// Adds bars of a venue that closed after the last one, in order; all of them are on disk before this returns.
    pub fn add(&mut self, bars: &[Candle], venue: &str) -> Result<(), Error> {
        if self.stuck {
            return Err(Error::Stuck { path: self.path.clone() });
        }
        let mut text = String::new();
        for bar in bars {
            let Candle { opened, open, high, low, close, volume, gas } = bar;
            let gas = if self.candles.gas_known() { format!(",{gas}") } else { String::new() };
            text += &format!("{},{open},{high},{low},{close},{volume},{venue}{gas}\n", opened.as_seconds());
        }
        // Checked as a reader will parse it.
        let wrong = |why| Error::Candles { path: self.path.clone(), why };
        let added = parse(text.as_bytes(), &self.candles).map_err(wrong)?;
        self.stuck = true;
        let wrote = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        wrote.map_err(|source| Error::Io { what: "cannot write", path: self.path.clone(), source })?;
        self.stuck = false;
        self.candles = self.candles.and(added);
        if !bars.is_empty() {
            self.venue = Some(venue.to_owned());
        }
        Ok(())
    }
}

fn read_from(path: &Path, at: u64) -> io::Result<Vec<u8>> {
    let (mut file, mut rest) = (File::open(path)?, Vec::new());
    file.seek(SeekFrom::Start(at))?;
    file.read_to_end(&mut rest)?;
    Ok(rest)
}

/// Parses whole lines that follow the known candles.
fn parse(text: &[u8], known: &Candles) -> Result<Vec<Candle>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "it is not text".to_owned())?;
    let mut last = known.bars().last().map(|bar| bar.opened + known.interval());
    let mut bars = Vec::new();
    let header = if known.gas_known() { WITH_GAS } else { HEADER };
    for line in text.strip_prefix(header).unwrap_or(text).lines() {
        let candle = row(line, known.gas_known())
            .ok_or_else(|| format!("'{}' is not a row of candles", golem::plain::line(line, 80)))?;
        let sound = candle.check().and_then(|()| {
            let in_order = last.is_none_or(|last| candle.opened >= last);
            if in_order { Ok(()) } else { Err("it opens before the bar before it has closed") }
        });
        sound.map_err(|why| format!("'{}': {why}", golem::plain::line(line, 80)))?;
        last = Some(candle.opened + known.interval());
        bars.push(candle);
    }
    Ok(bars)
}

fn row(line: &str, gas_known: bool) -> Option<Candle> {
    let mut fields = line.split(',');
    let opened = Time::seconds(fields.next()?.parse().ok().filter(|seconds| *seconds < 100_000_000_000)?);
    let mut number = || fields.next()?.parse::<f64>().ok();
    let [open, high, low, close, volume] = [number()?, number()?, number()?, number()?, number()?];
    let _venue = fields.next()?;
    let gas = if gas_known { fields.next()?.parse().ok()? } else { 0.0 };
    fields.next().is_none().then_some(Candle { opened, open, high, low, close, volume, gas })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Span = Span::seconds(3_600);

    fn bar(hour: u64) -> Candle {
        let close = 10.0 + hour as f64 / 3.0;
        Candle {
            opened: Time::seconds(hour * 3_600),
            open: 10.0,
            high: 900.0,
            low: 1.0,
            close,
            volume: 0.1 + 0.2,
            gas: 0.0,
        }
    }

    #[test]
    fn what_gas_cost_is_kept_where_a_series_was_begun_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.csv");
        let at = |hour, gas| Candle { gas, ..bar(hour) };
        let mut writer = Writer::with_gas(&path, HOUR).unwrap();
        writer.add(&[at(5, 31.5)], "pool").unwrap();
        drop(writer);
        // A writer goes on with the columns the file was begun with.
        let mut writer = Writer::open(&path, HOUR).unwrap();
        assert_eq!(writer.venue(), Some("pool"));
        writer.add(&[at(6, 0.25)], "pool").unwrap();
        let series = Series::open(&path, HOUR).unwrap().latest().unwrap();
        assert!(series.gas_known() && series.bars() == [at(5, 31.5), at(6, 0.25)]);
        let (read, _) = Candles::read(&path).unwrap();
        assert!(read.gas_known() && read.bars() == series.bars());
        assert!(writer.add(&[at(7, -1.0)], "pool").is_err());
        // And one that was begun without stays without.
        let path = folder.path().join("eth.csv");
        Writer::open(&path, HOUR).unwrap();
        let mut writer = Writer::with_gas(&path, HOUR).unwrap();
        writer.add(&[at(5, 31.5)], "pool").unwrap();
        let series = Series::open(&path, HOUR).unwrap().latest().unwrap();
        assert!(!series.gas_known() && series.bars() == [bar(5)]);
    }

    #[test]
    fn what_was_added_is_read_as_it_was_and_by_everyone_who_watches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eth.csv");
        let mut writer = Writer::open(&path, HOUR).unwrap();
        assert!(Series::open(&path, HOUR).is_err(), "nothing is in it yet");
        writer.add(&[bar(5), bar(6)], "kraken").unwrap();
        let series = Series::open(&path, HOUR).unwrap();
        assert_eq!(series.latest().unwrap().bars(), [bar(5), bar(6)]);
        writer.add(&[bar(9)], "coinbase").unwrap();
        assert_eq!(series.latest().unwrap().bars(), [bar(5), bar(6), bar(9)]);
        assert_eq!(writer.until(), Some(Time::seconds(10 * 3_600)));
        // It is a file of candles like any other.
        let (candles, report) = Candles::read(&path).unwrap();
        assert_eq!((candles.bars(), report.gaps.len()), (series.latest().unwrap().bars(), 1));
    }

    #[test]
    fn nothing_is_ever_put_before_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eth.csv");
        let mut writer = Writer::open(&path, HOUR).unwrap();
        writer.add(&[bar(5), bar(7)], "kraken").unwrap();
        for late in [vec![bar(6)], vec![bar(7)], vec![bar(9), bar(8)], vec![Candle { low: 0.0, ..bar(8) }]] {
            assert!(writer.add(&late, "kraken").is_err(), "{late:?}");
        }
        let minutes = Candle { opened: Time::seconds(7 * 3_600 + 60), ..bar(7) };
        assert!(writer.add(&[minutes], "kraken").is_err());
        writer.add(&[bar(8)], "kraken").unwrap();
        assert_eq!(Series::open(&path, HOUR).unwrap().latest().unwrap().bars().len(), 3);
    }

    #[test]
    fn wherever_a_row_is_torn_it_is_nobodys_and_whoever_adds_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eth.csv");
        let mut writer = Writer::open(&path, HOUR).unwrap();
        writer.add(&[bar(5), bar(6)], "kraken").unwrap();
        drop(writer);
        let text = std::fs::read(&path).unwrap();
        for cut in 0..text.len() {
            std::fs::write(&path, &text[..cut]).unwrap();
            let whole = text[..cut].iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
            let read = Series::open(&path, HOUR).map(|series| series.latest().unwrap().bars().len());
            assert_eq!(read.unwrap_or(0), whole, "cut at {cut}");
            let mut writer = Writer::open(&path, HOUR).unwrap();
            writer.add(&[bar(9)], "kraken").unwrap();
            drop(writer);
            assert_eq!(Series::open(&path, HOUR).unwrap().latest().unwrap().bars().len(), whole + 1, "cut at {cut}");
        }
    }

    #[test]
    fn one_adds_and_what_was_cut_away_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eth.csv");
        let mut writer = Writer::open(&path, HOUR).unwrap();
        writer.add(&[bar(5), bar(6)], "kraken").unwrap();
        assert!(matches!(Writer::open(&path, HOUR), Err(Error::Busy { .. })));
        let series = Series::open(&path, HOUR).unwrap();
        std::fs::write(&path, HEADER).unwrap();
        assert!(series.latest().unwrap_err().to_string().contains("gone from it"));
        std::fs::write(&path, format!("{HEADER}1,2,3\n")).unwrap();
        drop(writer);
        assert!(Writer::open(&path, HOUR).unwrap_err().to_string().contains("'1,2,3' is not a row of candles"));
    }
}
