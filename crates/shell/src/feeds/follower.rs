//! Following one series: when its venue is asked next, and what of an answer is added. The follower has neither a clock
//! nor a connection of its own; its caller says what time it is and brings the answers.
//!
//! A bar is added when it has closed by this machine's clock and by the venue's, and only if those before it are there or
//! were missing from every answer for a while. What has been added is never changed, whatever the venue says of it later.

use std::collections::BTreeMap;

use golem::time::Time;
use tracing::debug;
use world::Candle;
use world::series::Writer;

use super::plan::{Plan, Source};
use super::venue::{Trouble, VenueAnswer};
use crate::Error;

/// How long after its end a bar counts as closed: its last trades may come late.
const SETTLES: i64 = 2_000;
/// How long after it should be there the next bar is asked for.
const SOON: i64 = 1_000;
/// A bar that is missing from so many answers is missing for good, if it is of long ago; a recent one may still come, for
/// a quarter of a bar's length, within these bounds.
const ANSWERS: u32 = 3;
const LONG_AGO: i64 = 86_400_000;
const PATIENCE: (i64, i64) = (60_000, 900_000);
/// How long until a bar that is not there yet, or missing amid others, is asked for again: at first, and at most.
const AGAIN: i64 = 3_000;
const LONGEST: i64 = 60_000;
/// How long until a venue is asked again that is away, that was asked too often, or that refuses for good.
const AWAY: i64 = 5_000;
const AWAY_LONGEST: i64 = 300_000;
const TOO_OFTEN: i64 = 30_000;
const TOO_OFTEN_LONGEST: i64 = 900_000;
const WRONG: i64 = 3_600_000;
/// Clocks this far apart are worth a note to the owner.
const APART: i64 = 30_000;
/// How long a venue may be silent before it counts as away.
const SILENT: i64 = 60_000;

/// News for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The key of the news, unchanged as long as it is the same news.
    pub key: String,
    pub text: String,
}

/// A series that is followed.
#[derive(Debug)]
pub struct Follower {
    plan: Plan,
    writer: Writer,
    first: VenueLine,
    second: Option<VenueLine>,
    /// Closed bars that wait for those before them, and the venue each came from.
    pool: BTreeMap<Time, (Candle, &'static str)>,
    /// How many answers each bar was missing from, and when it was first.
    absent: BTreeMap<Time, (u32, i64)>,
    /// The time to ask on from, after an answer without any bars.
    skip: Option<Time>,
    /// Bars that a venue has changed since they were added.
    revised: u64,
    /// Questions so far; part of the jitter, so that not all series ask at the same moment.
    asked: u64,
}

/// A venue that the series may come from, and how it answers.
#[derive(Debug)]
struct VenueLine {
    source: Source,
    due: i64,
    /// Failures in a row.
    failures: u32,
    /// Since when it has had no new bar though it was time.
    silent: Option<i64>,
    /// Answers in a row without a new bar though it was time.
    empty: u32,
    /// Whether its clock is too far from this machine's.
    apart: bool,
    told: bool,
}

impl VenueLine {
    fn new(source: Source) -> VenueLine {
        VenueLine { source, due: 0, failures: 0, silent: None, empty: 0, apart: false, told: false }
    }
}

/// The line that a question goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    First,
    Second,
}

/// A question to a venue.
#[derive(Clone, Debug)]
pub struct VenueQuestion {
    pub which: Which,
    pub source: Source,
    pub url: String,
    from: Time,
}

impl Follower {
    pub fn new(plan: Plan, writer: Writer) -> Follower {
        let (first, second) = (VenueLine::new(plan.first.clone()), plan.second.clone().map(VenueLine::new));
        let (pool, absent) = (BTreeMap::new(), BTreeMap::new());
        Follower { plan, writer, first, second, pool, absent, skip: None, revised: 0, asked: 0 }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// When its last bar closed.
    pub fn until(&self) -> Option<Time> {
        self.writer.until()
    }

    /// Whether everything its venue has by now is there.
    pub fn has_all(&self, now: i64) -> bool {
        let next = self.until().map(|until| (until + self.plan.bar()).as_millis() as i64);
        next.is_some_and(|next| next > now || self.first.empty > 0) && self.pool.is_empty()
    }

    /// Bars that its venue has changed later.
    pub fn revised(&self) -> u64 {
        self.revised
    }

    /// When a venue is to be asked next, in milliseconds.
    pub fn due(&self) -> i64 {
        self.second_due().map_or(self.first.due, |second| second.min(self.first.due))
    }

    /// When the second venue is asked next: not before the first has had nothing to show for a while.
    fn second_due(&self) -> Option<i64> {
        let patience = SILENT.max(self.plan.bar_ms as i64 / 12);
        Some(self.second.as_ref()?.due.max(self.first.silent? + patience))
    }

    /// The next question, if one is due by now.
    pub fn ask(&mut self, now: i64) -> Option<VenueQuestion> {
        let which = if self.first.due <= now {
            Which::First
        } else if self.second_due().is_some_and(|due| due <= now) {
            Which::Second
        } else {
            return None;
        };
        let source = self.line(which).source.clone();
        let (bar, page) = (self.plan.bar(), source.venue.page());
        // From the last known bar on, to see whether the venue has changed it.
        let known = self.until().map(|until| self.skip.unwrap_or(until - bar));
        let back = || Time::millis((now as u64).saturating_sub(bar.as_millis() * (page - 1)));
        let from = known.or(self.skip).or(self.plan.since.map(Time::seconds)).unwrap_or_else(back);
        let from = Time::millis(from.as_millis() / bar.as_millis() * bar.as_millis());
        let url = source.venue.url(source.address(), &source.product, bar, from);
        self.asked += 1;
        Some(VenueQuestion { which, source, url, from })
    }

    /// Takes an answer in, adds what can be added, and says when to ask again; gives how many bars are new.
    pub fn hear(
        &mut self,
        now: i64,
        question: &VenueQuestion,
        answer: Result<VenueAnswer, String>,
    ) -> Result<(u64, Vec<News>), Error> {
        let venue = question.source.venue;
        let mut news = Vec::new();
        let bars = match answer.map_err(Trouble::Away).and_then(|answer| {
            let theirs = answer.date_ms;
            venue.read(&answer).map(|bars| (bars, theirs))
        }) {
            Ok((bars, theirs)) => {
                self.answered(now, question.which, theirs, &mut news);
                self.take(now, question, bars, theirs)
            }
            Err(trouble) => {
                self.failed(now, question.which, &trouble, &mut news);
                return Ok((0, news));
            }
        };
        let added = self.add(now, &mut news)?;
        self.schedule(now, question, bars, added);
        Ok((added, news))
    }

    /// Sorts out what an answer holds; says how many bars there were from the one asked for on.
    fn take(&mut self, now: i64, question: &VenueQuestion, mut bars: Vec<Candle>, theirs: Option<i64>) -> u64 {
        let (bar, venue) = (self.plan.bar(), question.source.venue);
        let clock = theirs.map_or(now, |theirs| theirs.min(now));
        let closes = |opened: Time| (opened + bar).as_millis() as i64;
        let whole =
            |candle: &Candle| candle.opened.as_millis().is_multiple_of(bar.as_millis()) && candle.check().is_ok();
        bars.retain(|candle| whole(candle) && candle.opened >= question.from);
        bars.sort_by_key(|candle| candle.opened);
        bars.dedup_by_key(|candle| candle.opened);
        let newest = bars.last().map(|candle| candle.opened);
        // One after it is there already: it is over, whatever the clocks say.
        let is_over = |opened: Time| {
            newest.is_some_and(|newest| newest > opened && closes(opened) + SETTLES <= now.max(theirs.unwrap_or(now)))
        };
        let closed = |candle: &&Candle| closes(candle.opened) + SETTLES <= clock || is_over(candle.opened);
        let until = self.until();
        for candle in bars.iter().filter(closed) {
            if until.is_none_or(|until| candle.opened >= until) {
                self.pool.entry(candle.opened).or_insert((*candle, venue.name()));
            } else if let Some(known) = self.known(candle.opened).filter(|known| known != candle) {
                self.revised += 1;
                debug!(series = %self.plan.name, at = ?known.opened, "the venue changed a bar; the one that was added stays");
            }
        }
        // Bars that are missing between others.
        let begins = until.unwrap_or_else(|| bars.first().map_or(question.from, |candle| candle.opened));
        let (mut slot, last) = (begins.max(question.from), newest.unwrap_or(question.from));
        while slot < last {
            if bars.binary_search_by_key(&slot, |candle| candle.opened).is_err() {
                self.absent.entry(slot).or_insert((0, now)).0 += 1;
            }
            slot = slot + bar;
        }
        bars.len() as u64
    }

    fn known(&self, opened: Time) -> Option<Candle> {
        let bars = self.writer.candles().bars();
        bars.binary_search_by_key(&opened, |bar| bar.opened).ok().map(|at| bars[at])
    }

    /// Adds bars that follow without a hole, or with one that cannot be filled.
    fn add(&mut self, now: i64, news: &mut Vec<News>) -> Result<u64, Error> {
        let bar = self.plan.bar();
        let (mut added, mut missing) = (0, 0_u64);
        let mut next = self.until().or_else(|| self.pool.keys().next().copied());
        let mut batch: Vec<(Candle, &'static str)> = Vec::new();
        while let (Some(at), Some((first, _))) = (next, self.pool.first_key_value()) {
            if *first > at {
                if !self.is_missing(now, at) {
                    break;
                }
                missing += 1;
                next = Some(at + bar);
                continue;
            }
            batch.extend(self.pool.pop_first().map(|(_, bar)| bar));
            next = Some(at + bar);
        }
        for run in batch.chunk_by(|a, b| a.1 == b.1) {
            let bars: Vec<Candle> = run.iter().map(|(bar, _)| *bar).collect();
            self.writer.add(&bars, run[0].1)?;
            added += bars.len() as u64;
        }
        if let Some(until) = self.until().filter(|_| added > 0) {
            self.absent.retain(|at, _| *at >= until);
            self.skip = None;
            if missing > 0 {
                let text = format!("{}: {missing} bars before {} are missing for good", self.plan.name, date(until));
                news.push(News { key: format!("{}:gap:{}", self.plan.name, until.as_seconds()), text });
            }
        }
        Ok(added)
    }

    /// Whether this bar will not come any more.
    fn is_missing(&self, now: i64, at: Time) -> bool {
        let patience = (self.plan.bar_ms as i64 / 4).clamp(PATIENCE.0, PATIENCE.1);
        let waited = |since: i64| now - since >= patience || now - at.as_millis() as i64 >= LONG_AGO;
        self.absent.get(&at).is_some_and(|(answers, since)| *answers >= ANSWERS && waited(*since))
    }

    /// Schedules the next question to this line after an answer.
    fn schedule(&mut self, now: i64, question: &VenueQuestion, bars: u64, added: u64) {
        let (bar, page) = (self.plan.bar(), question.source.venue.page());
        let reach = question.from + bar.times(page);
        let behind = (reach.as_millis() as i64) < now - bar.as_millis() as i64;
        let jitter = self.jitter();
        let next_close = self.until().map(|until| (until + bar).as_millis() as i64 + SETTLES + SOON);
        let waits_for_hole = !self.pool.is_empty();
        let line = self.line_mut(question.which);
        if added > 0 {
            (line.empty, line.silent) = (0, None);
        }
        line.due = if added > 0 && (behind || bars >= page - 1) {
            now
        } else if let Some(close) = next_close.filter(|close| *close > now && !waits_for_hole) {
            (line.empty, line.silent) = (0, None);
            close + jitter % 2_000
        } else {
            line.empty += 1;
            line.silent.get_or_insert(now);
            let wait = (AGAIN << line.empty.min(6).saturating_sub(1)).min(LONGEST).min(bar.as_millis() as i64 / 4);
            now + wait + jitter % (wait / 4).max(1)
        };
        // A venue that shows windows had nothing in this one.
        if bars == 0 && behind && self.pool.is_empty() {
            self.skip = Some(reach);
            self.line_mut(question.which).due = now;
        }
    }

    fn answered(&mut self, now: i64, which: Which, theirs: Option<i64>, news: &mut Vec<News>) {
        let name = self.plan.name.clone();
        let line = self.line_mut(which);
        let venue = line.source.venue;
        line.failures = 0;
        if std::mem::take(&mut line.told) {
            news.push(News {
                key: format!("{name}:{venue}:back:{now}"),
                text: format!("{name}: {venue} answers again"),
            });
        }
        let off = theirs.map_or(0, |theirs| now - theirs);
        if (off.abs() > APART) != line.apart {
            line.apart = !line.apart;
            if line.apart {
                let (seconds, how) = (off.abs() / 1_000, if off > 0 { "ahead of" } else { "behind" });
                let text = format!("{name}: this machine's clock is {seconds} s {how} that of {venue}; set it right");
                news.push(News { key: format!("{name}:{venue}:clock:{}", now / 86_400_000), text });
            }
        }
    }

    fn failed(&mut self, now: i64, which: Which, trouble: &Trouble, news: &mut Vec<News>) {
        let (name, jitter, others) = (self.plan.name.clone(), self.jitter(), self.second.as_ref());
        let second = others.filter(|_| which == Which::First).map(|line| line.source.venue);
        let worth_a_word = SILENT.max(self.plan.bar_ms as i64 / 4);
        let line = self.line_mut(which);
        let venue = line.source.venue;
        line.failures += 1;
        let (since, times) = (*line.silent.get_or_insert(now), line.failures);
        let longer = |first: i64, longest: i64| (first << (times - 1).min(12)).min(longest);
        let wait = match trouble {
            // Not before the time it gave.
            Trouble::TooOften(Some(wait)) => {
                i64::try_from(wait.as_millis()).unwrap_or(i64::MAX).clamp(1_000, 86_400_000 * 3)
            }
            Trouble::TooOften(None) => longer(TOO_OFTEN, TOO_OFTEN_LONGEST),
            Trouble::Away(_) => longer(AWAY, AWAY_LONGEST),
            Trouble::Wrong(_) => WRONG,
        };
        line.due = now + wait + jitter % (wait / 4).max(1);
        let for_good = matches!(trouble, Trouble::Wrong(_));
        if !line.told && (for_good || now - since >= worth_a_word) {
            line.told = true;
            let instead = second.map_or(String::new(), |second| format!("; {second} is asked meanwhile"));
            let text = format!("{name}: {venue} does not answer: {trouble}{instead}");
            news.push(News { key: format!("{name}:{venue}:away:{since}"), text });
        }
    }

    fn line(&self, which: Which) -> &VenueLine {
        match (which, &self.second) {
            (Which::Second, Some(second)) => second,
            _ => &self.first,
        }
    }

    fn line_mut(&mut self, which: Which) -> &mut VenueLine {
        match (which, &mut self.second) {
            (Which::Second, Some(second)) => second,
            _ => &mut self.first,
        }
    }

    /// Milliseconds that differ from one question to the next and from one series to another.
    fn jitter(&self) -> i64 {
        let hash = blake3::hash(format!("{}:{}", self.plan.name, self.asked).as_bytes());
        i64::from(u32::from_le_bytes(hash.as_bytes()[..4].try_into().expect("four of thirty-two")))
    }
}

fn date(at: Time) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millis() as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}
