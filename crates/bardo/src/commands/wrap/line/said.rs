//! The news of a line, as its owner is told them: a line of text for each life, and one for all of them.

use std::time::Duration;

use serde_json::json;

use super::super::ends::{self, LineGoesOn};
use super::super::funds::Funds;
use super::chain::{LineLife, LineMoney, LineOver};
use crate::exit;
use crate::output::{self, count};

/// The terms of a line, as they were typed.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineTerms<'a> {
    pub(super) funds: Funds,
    pub(super) until: Option<&'a str>,
    pub(super) json: bool,
}

fn calls_in(lives: &[LineLife]) -> u64 {
    lives.iter().map(|one| one.life.calls().made).sum()
}

fn calls_as_words(made: u64) -> String {
    if made == 1 { "1 call".to_owned() } else { format!("{} calls", count(made)) }
}

impl LineTerms<'_> {
    /// Says how the newest life of these ended.
    pub(super) fn say_life(&self, lives: &[LineLife], took: Duration) {
        let Some(last) = lives.last() else { return };
        let (name, money) = (&last.place.name, LineMoney::of(lives, &self.funds));
        let (nth, of, made) = (lives.len(), self.funds.lives, last.life.calls().made);
        let cause = last.life.death().map(|death| &death.cause);
        let check = self.until.map(|check| (check, last.check(check)));
        if self.json {
            return output::aside(&json!({
                "life": nth, "of": of, "name": name, "calls": made, "spent": last.used(), "left": money.remaining(),
                "ended": cause.map(ends::word_for), "cause": cause.map(|cause| cause.to_string()),
                "check": check.and_then(|(_, passes)| passes), "took_ms": took.as_millis() as u64,
            }));
        }
        let how = cause.map_or_else(|| "it lives".to_owned(), ends::words_for);
        let check = match check {
            Some((check, Some(false))) => format!("; {check} fails"),
            Some((check, None)) => format!("; {check} has given no result"),
            _ => String::new(),
        };
        let (calls, used, left, given) = (calls_as_words(made), last.used(), money.remaining(), money.given);
        output::complain(format!(
            "life {nth} of {of}, {name}: {used} on {calls}, {how}{check}; {left} of {given} left"
        ));
    }

    /// Says why the line is over; gives the exit code for that.
    pub(super) fn say_over(&self, lives: &[LineLife], over: LineOver) -> u8 {
        let money = LineMoney::of(lives, &self.funds);
        let (LineTerms { funds, until, .. }, nth) = (self, lives.len());
        let Some((first, last)) = lives.first().zip(lives.last()) else { return exit::ERROR };
        let (word, code) = match over {
            LineOver::Passed => ("passed", 0),
            LineOver::Lives if until.is_some() => ("lives", exit::LIVED_OUT),
            LineOver::Lives => ("lives", 0),
            LineOver::Money => ("money", exit::BUDGET),
            LineOver::Ended => ("owner", exit::DEAD),
        };
        if self.json {
            output::aside(&json!({
                "line": first.place.name, "ended": word, "lives": nth, "of": funds.lives, "calls": calls_in(lives),
                "spent": money.used, "given": money.given, "left": money.remaining(),
                "check": until.and_then(|check| last.check(check)),
            }));
            return code;
        }
        let (name, check) = (&first.place.name, until.unwrap_or("its check"));
        let after = if nth == 1 { "after one life".to_owned() } else { format!("after {nth} lives") };
        let how = match over {
            LineOver::Passed => format!("{check} passes {after}; --name begins another line"),
            LineOver::Lives if until.is_some() => {
                format!("{check} does not pass {after}; the same command with more --lives goes on with it")
            }
            LineOver::Lives => format!("it ends {after}; the same command with more --lives goes on with it"),
            LineOver::Money => {
                format!("its money is used up {after}; the same command with more --credit goes on with it")
            }
            LineOver::Ended => {
                let (name, death) = (&last.place.name, last.life.death());
                let cause = death.filter(|death| ends::goes_on(&death.cause) == LineGoesOn::Ended);
                let why = cause.map_or_else(|| "its owner has ended it".to_owned(), |death| death.cause.to_string());
                format!("{name} died {after}: {why}; `bardo golem successor {name}` begins it again")
            }
        };
        let (used, given, calls) = (money.used, money.given, calls_as_words(calls_in(lives)));
        output::complain(format!("the line of {name} is over: {how}. It spent {used} of {given} on {calls}"));
        code
    }
}
