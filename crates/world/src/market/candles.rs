//! Candles from a CSV file, as exchanges and collectors write them: plain or gzipped, with or without a
//! header, times in seconds, milliseconds or microseconds. Rows that cannot be true are left out and
//! reported; gaps are reported and stay gaps.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use csv::ByteRecord;
use flate2::bufread::MultiGzDecoder;
use golem::Usdc;
use golem::time::{Span, Time};

pub use super::report::{Gap, Problem, Report};
use crate::Error;

/// One bar as recorded; knowable only when it has closed, one interval after it opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candle {
    pub opened: Time,
    pub open: f64,
    pub high: f64,
    pub low: f64,
    pub close: f64,
    /// Volume in units, not dollars; 0 if the file does not say.
    pub volume: f64,
    /// The price of a unit of gas at the end of the bar, in gwei; 0 if the file does not say.
    pub gas: f64,
}

impl Candle {
    /// Checks a candle; an error says why it cannot be true.
    pub fn check(&self) -> Result<(), &'static str> {
        let prices = [self.open, self.high, self.low, self.close];
        let inside = |price: f64| self.low <= price && price <= self.high;
        if !prices.iter().all(|price| price.is_finite()) || !self.volume.is_finite() || !self.gas.is_finite() {
            Err("a number is not finite")
        } else if prices.iter().any(|price| *price <= 0.0) {
            Err("a price is not above zero")
        } else if prices.iter().any(|price| price * 1e6 > Usdc::MOST.as_f64()) {
            Err("a price is above a billion dollars")
        } else if self.volume < 0.0 {
            Err("the volume is below zero")
        } else if self.gas < 0.0 {
            Err("the gas is below zero")
        } else if self.high < self.low {
            Err("the high is below the low")
        } else if !inside(self.open) {
            Err("the open lies outside low and high")
        } else if !inside(self.close) {
            Err("the close lies outside low and high")
        } else {
            Ok(())
        }
    }
}

/// At least two bars in order; cheap to clone, so that many lives can share one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Candles {
    bars: Arc<[Candle]>,
    interval: Span,
    volume_known: bool,
    gas_known: bool,
}

impl Candles {
    pub fn read(path: impl AsRef<Path>) -> Result<(Candles, Report), Error> {
        let path = path.as_ref();
        let failed = |what| move |source| Error::Io { what, path: path.to_owned(), source };
        let mut file = BufReader::new(File::open(path).map_err(failed("cannot open"))?);
        let zipped = file.fill_buf().map_err(failed("cannot read"))?.starts_with(&[0x1f, 0x8b]);
        let text: Box<dyn Read> = if zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        parse(text).map_err(|wrong| match wrong {
            Wrong::Io(source) => failed("cannot read")(source),
            Wrong::Content(why) => Error::Candles { path: path.to_owned(), why },
        })
    }

    /// The candles of a series that still grows.
    pub(crate) fn of(bars: Vec<Candle>, interval: Span, gas_known: bool) -> Candles {
        Candles { bars: bars.into(), interval, volume_known: true, gas_known }
    }

    /// These candles, followed by newer ones.
    pub(crate) fn and(&self, more: impl IntoIterator<Item = Candle>) -> Candles {
        Candles::of(self.bars.iter().copied().chain(more).collect(), self.interval, self.gas_known)
    }

    pub fn bars(&self) -> &[Candle] {
        &self.bars
    }

    pub fn interval(&self) -> Span {
        self.interval
    }

    pub fn volume_known(&self) -> bool {
        self.volume_known
    }

    pub fn gas_known(&self) -> bool {
        self.gas_known
    }
}

enum Wrong {
    Io(io::Error),
    Content(String),
}

/// The column of each value.
struct Columns {
    time: usize,
    open: usize,
    high: usize,
    low: usize,
    close: usize,
    volume: Option<usize>,
    gas: Option<usize>,
}

struct CandleRow {
    line: u64,
    candle: Candle,
}

fn parse(text: impl Read) -> Result<(Candles, Report), Wrong> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let mut record = ByteRecord::new();
    // A byte record read flexibly has nothing to fail on but the reading itself.
    let mut next = |record: &mut ByteRecord| reader.read_byte_record(record).map_err(|e| Wrong::Io(io::Error::from(e)));
    if !next(&mut record)? {
        return Err(Wrong::Content("it is empty".to_owned()));
    }
    let named = field(&record, 0).is_none_or(|first| first.parse::<f64>().is_err());
    let columns = if named { Columns::named(&record) } else { Columns::counted(record.len()) };
    let columns = columns.map_err(Wrong::Content)?;

    let (mut rows, mut problems, mut read) = (Vec::new(), Vec::new(), 0);
    let mut more = if named { next(&mut record)? } else { true };
    while more {
        read += 1;
        let line = record.position().map_or(0, |position| position.line());
        match columns.candle(&record) {
            Ok(candle) => rows.push(CandleRow { line, candle }),
            Err(why) => problems.push(Problem { line, why }),
        }
        more = next(&mut record)?;
    }

    let rows = in_order(rows, &mut problems);
    let interval = most_common_spacing(&rows);
    let rows = apart(rows, interval, &mut problems);
    problems.sort_by_key(|problem| problem.line);
    let (Some(first), Some(last), true) = (rows.first(), rows.last(), rows.len() > 1) else {
        let example = problems.first().map(|problem| format!("; {problem}")).unwrap_or_default();
        return Err(Wrong::Content(format!("fewer than two of its {read} rows are usable{example}")));
    };
    let report = Report {
        rows: read,
        bars: rows.len() as u64,
        interval,
        from: first.candle.opened,
        until: last.candle.opened + interval,
        problems,
        gaps: gaps(&rows, interval),
    };
    let (volume_known, gas_known) = (columns.volume.is_some(), columns.gas.is_some());
    let bars = rows.into_iter().map(|row| row.candle).collect();
    Ok((Candles { bars, interval, volume_known, gas_known }, report))
}

impl Columns {
    /// Columns by the names in the header.
    fn named(header: &ByteRecord) -> Result<Columns, String> {
        let names: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).trim().to_lowercase().replace(' ', "_")).collect();
        let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
        // A header may hold anything; a message stays one line.
        let header = || golem::plain::line(&names.join(","), 120);
        let time = find(&["ts", "timestamp", "time", "open_time"])
            .ok_or_else(|| format!("no column is named ts in its header '{}'", header()))?;
        let close = find(&["close", "price"])
            .ok_or_else(|| format!("no column is named close or price in its header '{}'", header()))?;
        let or_close = |name| find(&[name]).unwrap_or(close);
        Ok(Columns {
            time,
            open: or_close("open"),
            high: or_close("high"),
            low: or_close("low"),
            close,
            volume: find(&["volume"]),
            gas: find(&["gas_gwei"]),
        })
    }

    /// Columns by their number, where there is no header.
    fn counted(columns: usize) -> Result<Columns, String> {
        match columns {
            2 => Ok(Columns { time: 0, open: 1, high: 1, low: 1, close: 1, volume: None, gas: None }),
            6 | 12 => Ok(Columns { time: 0, open: 1, high: 2, low: 3, close: 4, volume: Some(5), gas: None }),
            _ => Err(format!("it has no header, and {columns} columns could be anything; 2, 6 or 12 are understood")),
        }
    }

    fn candle(&self, record: &ByteRecord) -> Result<Candle, &'static str> {
        let number = |at: usize, why| field(record, at).and_then(|text| text.parse::<f64>().ok()).ok_or(why);
        let candle = Candle {
            opened: field(record, self.time).and_then(time).ok_or("the time is not a timestamp")?,
            open: number(self.open, "the open is not a number")?,
            high: number(self.high, "the high is not a number")?,
            low: number(self.low, "the low is not a number")?,
            close: number(self.close, "the close is not a number")?,
            volume: self.volume.map_or(Ok(0.0), |at| number(at, "the volume is not a number"))?,
            gas: self.gas.map_or(Ok(0.0), |at| number(at, "the gas is not a number"))?,
        };
        candle.check().map(|()| candle)
    }
}

fn field(record: &ByteRecord, at: usize) -> Option<&str> {
    record.get(at).and_then(|bytes| std::str::from_utf8(bytes).ok()).map(str::trim)
}

/// Seconds, milliseconds or microseconds, told apart by size; row by row, because one exchange changed
/// its mind in the middle of its files.
fn time(text: &str) -> Option<Time> {
    let number: u64 = text.parse().ok()?;
    match number {
        0..100_000_000_000 => Some(Time::seconds(number)),
        100_000_000_000..100_000_000_000_000 => Some(Time::millis(number)),
        100_000_000_000_000..100_000_000_000_000_000 => Some(Time::millis(number / 1_000)),
        _ => None,
    }
}

/// Leaves out rows that go back in time, and single rows that leap ahead of everything after them.
fn in_order(rows: Vec<CandleRow>, problems: &mut Vec<Problem>) -> Vec<CandleRow> {
    let times: Vec<Time> = rows.iter().map(|row| row.candle.opened).collect();
    let mut kept: Vec<CandleRow> = Vec::with_capacity(rows.len());
    for (at, row) in rows.into_iter().enumerate() {
        let last = kept.last().map(|row| row.candle.opened);
        let opened = row.candle.opened;
        let leaps = times.get(at + 1).is_some_and(|next| *next < opened && last.is_none_or(|last| *next > last));
        let why = match last {
            Some(last) if opened == last => "its time is that of the row before",
            Some(last) if opened < last => "its time is before that of the row before",
            _ if leaps => "its time is after that of the row after it",
            _ => {
                kept.push(row);
                continue;
            }
        };
        problems.push(Problem { line: row.line, why });
    }
    kept
}

fn spacing(pair: &[CandleRow]) -> Span {
    pair[1].candle.opened.since(pair[0].candle.opened)
}

fn most_common_spacing(rows: &[CandleRow]) -> Span {
    let mut counts: BTreeMap<Span, u64> = BTreeMap::new();
    for pair in rows.windows(2) {
        *counts.entry(spacing(pair)).or_default() += 1;
    }
    // Of equally common ones the shortest, since a gap can only be longer.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(Span::ZERO, |(span, _)| span)
}

/// Leaves out bars that open while the one before is still open.
fn apart(rows: Vec<CandleRow>, interval: Span, problems: &mut Vec<Problem>) -> Vec<CandleRow> {
    let mut kept: Vec<CandleRow> = Vec::with_capacity(rows.len());
    for row in rows {
        if kept.last().is_some_and(|last| row.candle.opened < last.candle.opened + interval) {
            problems.push(Problem { line: row.line, why: "it opens before the bar before it has closed" });
        } else {
            kept.push(row);
        }
    }
    kept
}

fn gaps(rows: &[CandleRow], interval: Span) -> Vec<Gap> {
    let wide = rows.windows(2).filter(|pair| spacing(pair) > interval);
    wide.map(|pair| Gap {
        from: pair[0].candle.opened + interval,
        to: pair[1].candle.opened,
        missing: spacing(pair).as_millis().div_ceil(interval.as_millis()) - 1,
    })
    .collect()
}

#[cfg(test)]
mod tests;
