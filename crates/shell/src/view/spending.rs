//! The view of an agent's owner: where the money went, which calls were made, what stopped them, what checks say, what
//! was refused and why. It is worked out here and nowhere else: the terminal, the page, the API and an assistant show
//! the same.

use std::collections::BTreeMap;

use golem::call::{self, ByModel, Denied, Room, Unit};
use golem::mortality::phase::Tier;
use golem::{Life, Time, Usdc};
use serde::Serialize;
use utoipa::ToSchema;
use vault::Refused;
use world::checks::{self, Round};
use world::{Says, Spec};

use super::figures::{count, date, several};
use super::fleet::Waiting;
use super::portrait::Row;
use super::purse::Purse;
use super::words;
use crate::errands::{self, Counters, Heard};
use crate::home::GolemHome;
use crate::{Error, wall};

/// Rounds of checks that are shown.
const ROUNDS: usize = 200;

/// Everything about a golem that its agent's owner pays for.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Spending {
    pub purse: Purse,
    pub next: NextCall,
    /// Since its birth, the dearest first.
    pub models: Vec<ModelCosts>,
    pub stops: Stops,
    pub checks: Vec<CheckSaid>,
    /// On record, the most frequent first.
    pub refusals: Vec<Refusals>,
    /// Refused before the golem was asked, since this gateway came up: no journal has them.
    pub turned_away: Vec<TurnedAway>,
    /// By session, as the agent names it: the newest sessions, and all others in one without a name.
    pub sessions: Vec<SessionCosts>,
    /// All of it in words.
    pub told: Vec<Row>,
}

/// The most the next call may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NextCall {
    /// In micro-USDC.
    #[schema(value_type = i64)]
    pub may_use: Usdc,
    /// Why it may not use more, if the reason is not the money itself.
    pub why: Option<String>,
}

/// Calls to one model. Each token is counted once, except thoughts, which are part of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModelCosts {
    /// Empty for calls whose process was gone before it was known what they used.
    pub model: String,
    pub calls: u64,
    /// Tokens in, without those read from a cache or written to one.
    pub input: u64,
    pub cached: u64,
    pub written: u64,
    pub output: u64,
    pub thought: u64,
    /// In micro-USDC.
    #[schema(value_type = i64)]
    pub cost: Usdc,
}

/// Calls that were stopped until the owner said yes.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Stops {
    pub times: u64,
    /// The question they wait on, while they are stopped.
    pub waits: Option<Waiting>,
    /// The newest that are over, oldest first.
    pub past: Vec<Stop>,
}

/// One time that calls were stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stop {
    /// World time in milliseconds.
    pub at: u64,
    pub until: u64,
    pub says: String,
}

/// The newest result of one check.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CheckSaid {
    pub name: String,
    /// Milliseconds since 1970; none, if there was no round yet.
    pub at: Option<u64>,
    /// Result of a check that passes or does not.
    pub passes: Option<bool>,
    /// Result of a check that gives a number.
    pub number: Option<f64>,
    /// Last words of the check's output.
    pub said: String,
    /// The results of the newest rounds, oldest first.
    pub past: Vec<CheckPoint>,
}

/// The result of a check in one round: 1 where it passes and 0 where it does not, or its number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct CheckPoint {
    /// Milliseconds since 1970.
    pub at: u64,
    pub value: f64,
}

/// Calls that were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refusals {
    /// By code, such as budget or held.
    pub code: String,
    pub times: u64,
    pub why: String,
    /// When that was last on record, in milliseconds of world time.
    pub last: u64,
}

/// Calls that were refused before their golem was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TurnedAway {
    pub code: String,
    pub times: u64,
    /// The message of the last refusal.
    pub why: String,
}

/// Calls and cost of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SessionCosts {
    pub session: Option<String>,
    pub calls: u64,
    pub input: u64,
    pub output: u64,
    /// In micro-USDC.
    #[schema(value_type = i64)]
    pub cost: Usdc,
    /// Time of the last call, in milliseconds since 1970.
    pub last: u64,
}

impl Spending {
    /// The spending of this life, with these refusals.
    pub(super) fn of(
        place: &GolemHome,
        life: &Life,
        refused: &[Refused],
        counters: &Counters,
    ) -> Result<Spending, Error> {
        let mut models: Vec<ModelCosts> = life.calls().models.iter().map(ModelCosts::of).collect();
        models.sort_by_key(|by| std::cmp::Reverse(by.cost));
        let heard = counters.of(&place.name).heard();
        let mut spending = Spending {
            purse: Purse::of(life),
            next: NextCall::of(life, wall::now_of(life)),
            models,
            stops: Stops::of(life),
            checks: checks_of(place, life)?,
            refusals: refusals(refused),
            turned_away: turned_away(&heard),
            sessions: sessions(&heard),
            told: Vec::new(),
        };
        spending.told = spending.in_words(place.name.as_str(), life);
        Ok(spending)
    }

    fn in_words(&self, name: &str, life: &Life) -> Vec<Row> {
        let mut rows = vec![("spent", self.purse.to_string())];
        if let (Some(why), false) = (&self.next.why, life.is_dead()) {
            rows.push(("next call", format!("may use {}: {why}", self.next.may_use)));
        }
        if let Some(calls) = words::calls(life) {
            let cut = match life.calls().cut {
                0 => String::new(),
                cut => format!("; {} cut off, which count as what they could have cost", count(cut)),
            };
            rows.push(("calls", calls + &cut));
        }
        if let Some(waits) = self.stops.waits.as_ref().filter(|_| !life.is_dead()) {
            let yes = format!("`bardo golem approve {name} {}` lets them go on", waits.key);
            rows.push(("stopped", format!("now, {}; {yes}", waits.says)));
        } else if let Some(last) = self.stops.past.last() {
            let at = date(Time::millis(last.at));
            rows.push(("stopped", format!("{}, the last {at}: {}", several(self.stops.times, "time"), last.says)));
        }
        rows.extend(self.checks.iter().map(|check| ("check", check.in_words())));
        rows.extend(
            self.refusals.iter().map(|one| ("refused", format!("{} {}: {}", count(one.times), one.code, one.why))),
        );
        rows.extend(
            self.turned_away
                .iter()
                .map(|one| ("turned away", format!("{} {}: {}", count(one.times), one.code, one.why))),
        );
        rows.into_iter().map(|(about, says)| Row { about: about.to_owned(), says }).collect()
    }
}

impl NextCall {
    fn of(life: &Life, now: Time) -> NextCall {
        match call::room(life, now, Tier::Cheap) {
            // Whatever money there is, a call without tokens is not made.
            Ok(Room { tokens: 0, tokens_by, .. }) => NextCall { may_use: Usdc::ZERO, why: Some(tokens_by.to_string()) },
            Ok(Room { by, .. }) | Err(by) => {
                let why = (!matches!(by, Denied::Broke | Denied::Funds)).then(|| by.to_string());
                NextCall { may_use: call::left(life, now).after(Usdc::ZERO), why }
            }
        }
    }
}

impl ModelCosts {
    fn of(by: &ByModel) -> ModelCosts {
        ModelCosts {
            model: by.model.clone(),
            calls: by.calls,
            input: by.input.saturating_sub(by.cached + by.written),
            cached: by.cached,
            written: by.written,
            output: by.output,
            thought: by.thought,
            cost: by.cost,
        }
    }
}

impl Stops {
    fn of(life: &Life) -> Stops {
        let calls = &life.calls();
        let waits = calls.hold.map(|hold| Waiting { key: hold.key, says: hold.to_string() });
        let past = calls.past.iter().map(|past| Stop {
            at: past.hold.since.as_millis(),
            until: past.until.as_millis(),
            says: past.hold.to_string(),
        });
        Stops { times: calls.stopped, waits, past: past.collect() }
    }
}

impl CheckSaid {
    fn in_words(&self) -> String {
        let said = if self.said.is_empty() { String::new() } else { format!(" ({})", self.said) };
        match (self.passes, self.number) {
            (Some(true), _) => format!("{} passes{said}", self.name),
            (Some(false), _) => format!("{} fails{said}", self.name),
            (None, Some(number)) => format!("{} says {number}", self.name),
            (None, None) => format!("{} has said nothing yet", self.name),
        }
    }
}

fn checks_of(place: &GolemHome, life: &Life) -> Result<Vec<CheckSaid>, Error> {
    let Ok(Spec::Checks { checks, .. }) = serde_json::from_str(&life.birth().world.spec) else { return Ok(Vec::new()) };
    let rounds = checks::latest(&place.check_results(), ROUNDS)?;
    let last = rounds.last();
    let one = |(at, check): (usize, &world::Check)| {
        let value = last.and_then(|round| round.values.get(at).copied());
        let said = last.and_then(|round| round.said.get(at).cloned());
        let point = |round: &Round| round.values.get(at).map(|value| CheckPoint { at: round.at, value: *value });
        CheckSaid {
            name: check.name.clone(),
            at: last.map(|round| round.at),
            passes: value.filter(|_| check.says == Says::Pass).map(|value| value > 0.5),
            number: value.filter(|_| check.says == Says::Number),
            said: said.unwrap_or_default(),
            past: rounds.iter().filter_map(point).collect(),
        }
    };
    Ok(checks.iter().enumerate().map(one).collect())
}

fn turned_away(heard: &Heard) -> Vec<TurnedAway> {
    let one =
        |one: &errands::TurnedAway| TurnedAway { code: one.code.to_owned(), times: one.times, why: one.why.clone() };
    heard.turned_away.iter().map(one).collect()
}

fn sessions(heard: &Heard) -> Vec<SessionCosts> {
    let others = (heard.others.calls > 0).then_some(&heard.others);
    let one = |one: &errands::Session| SessionCosts {
        session: Some(one.name.clone()).filter(|name| !name.is_empty()),
        calls: one.calls,
        input: one.input,
        output: one.output,
        cost: one.cost,
        last: one.last,
    };
    heard.sessions.iter().rev().chain(others).map(one).collect()
}

fn refusals(refused: &[Refused]) -> Vec<Refusals> {
    let mut all: BTreeMap<&str, (u64, Time)> = BTreeMap::new();
    for one in refused {
        let (times, last) = all.entry(&one.code).or_default();
        *times += u64::from(one.times);
        *last = (*last).max(one.at);
    }
    let one = |(code, (times, last)): (&str, (u64, Time))| {
        let (code, why) = (code.to_owned(), why(code));
        Refusals { code, times, why, last: last.as_millis() }
    };
    let mut all: Vec<Refusals> = all.into_iter().map(one).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.times));
    all
}

/// The meaning of a code, in the words that agents are told.
fn why(code: &str) -> String {
    let capped = [Unit::Tokens, Unit::Calls, Unit::Hours].map(|unit| [Denied::Spent(unit), Denied::Today(unit)]);
    let plain = [
        Denied::Dead,
        Denied::Frozen,
        Denied::Paused,
        Denied::Busy,
        Denied::Call,
        Denied::Hour,
        Denied::Day,
        Denied::Month,
        Denied::Allowance,
        Denied::Repeated,
        Denied::Broke,
    ];
    match (plain.into_iter().chain(capped.into_iter().flatten()).find(|by| by.code() == code), code) {
        (Some(by), _) => by.to_string(),
        (None, "held") => "calls were stopped until their owner said yes".to_owned(),
        (None, "phase") => "its phase allowed only cheaper models".to_owned(),
        (None, _) => "for a reason this version does not know".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str, at: u64, times: u32) -> Refused {
        Refused { seq: at, at: Time::millis(at), code: code.to_owned(), times }
    }

    #[test]
    fn refusals_are_counted_by_their_reason_the_most_frequent_first() {
        let all = refusals(&[refused("budget", 1, 2), refused("held", 2, 1), refused("budget", 3, 27)]);
        let told: Vec<_> = all.iter().map(|one| (one.code.as_str(), one.times, one.last)).collect();
        assert_eq!(told, [("budget", 29, 3), ("held", 1, 2)]);
        assert_eq!(all[0].why, "it does not have enough money left for that");
        // Every code that is ever on record has words of its own.
        for code in ["budget_day", "budget_call", "busy", "phase", "held", "repeated", "frozen", "paused", "dead"] {
            assert!(!why(code).contains("does not know"), "{code}");
        }
        for unit in ["tokens", "calls", "hours"] {
            for code in [format!("budget_{unit}"), format!("budget_{unit}_day")] {
                assert!(why(&code).contains(unit), "{code}");
            }
        }
    }

    #[test]
    fn each_token_of_a_model_is_counted_once() {
        let by = ByModel {
            model: "m".into(),
            calls: 2,
            input: 100,
            output: 9,
            cached: 60,
            written: 30,
            thought: 4,
            cost: Usdc::cents(1),
        };
        let told = ModelCosts::of(&by);
        assert_eq!((told.input, told.cached, told.written, told.output, told.thought), (10, 60, 30, 9, 4));
    }

    #[test]
    fn a_check_says_whether_it_passes_or_what_it_counts() {
        let check = |passes, number, said: &str| CheckSaid {
            name: "tests".into(),
            at: None,
            passes,
            number,
            said: said.into(),
            past: Vec::new(),
        };
        assert_eq!(check(Some(false), None, "2 failed").in_words(), "tests fails (2 failed)");
        assert_eq!(check(None, Some(41.0), "41").in_words(), "tests says 41");
        assert_eq!(check(None, None, "").in_words(), "tests has said nothing yet");
    }
}
