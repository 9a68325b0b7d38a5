//! The cost of calls, by day and by model, and everything else an owner sees of them.

use std::collections::BTreeMap;

use golem::call::How;
use golem::{Time, Usdc};
use serde::Serialize;
use utoipa::ToSchema;
use vault::{Call, Refused};

use super::spending::Spending;
use crate::Error;
use crate::errands::Counters;
use crate::home::GolemHome;

/// Calls and cost of one day at one model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Line {
    /// In UTC, such as 2030-01-31.
    pub day: String,
    /// Empty for calls whose process was gone before it was known what they used.
    pub model: String,
    pub calls: u64,
    /// Tokens in and out, as far as they were reported.
    pub input: u64,
    pub output: u64,
    /// In micro-USDC.
    #[schema(value_type = i64)]
    pub cost: Usdc,
    /// Calls whose cost is unknown, counted at the most they could have cost.
    pub cut: u64,
    /// Milliseconds from first byte to last, all together.
    pub took_ms: u64,
}

/// Calls that were refused on one day for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Denied {
    pub day: String,
    /// By code, such as budget or held.
    pub code: String,
    pub times: u64,
}

/// The cost of a golem's agent.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Costs {
    pub name: String,
    /// The purse as of now.
    pub spending: Spending,
    /// By day and model, oldest first.
    pub lines: Vec<Line>,
    pub refused: Vec<Denied>,
}

impl Costs {
    /// The cost of calls settled since then, and what the counters of this process have heard.
    pub fn of(place: &GolemHome, since: Time, counters: &Counters) -> Result<Costs, Error> {
        place.catch_up()?;
        let reader = vault::Reader::open(&place.database())?;
        let refused: Vec<Refused> = reader.refused()?.into_iter().filter(|one| one.at >= since).collect();
        let (golem, _) = reader.wake()?;
        let spending = Spending::of(place, golem.life(), &refused, counters)?;
        let (lines, refused) = (lines(&reader.calls(since)?), denied(&refused));
        Ok(Costs { name: place.name.to_string(), spending, lines, refused })
    }

    pub fn total(&self) -> Usdc {
        self.lines.iter().fold(Usdc::ZERO, |sum, line| sum + line.cost)
    }
}

fn lines(calls: &[Call]) -> Vec<Line> {
    let mut all: BTreeMap<(String, &str), Line> = BTreeMap::new();
    for call in calls {
        let day = day(call.at);
        let line = all.entry((day.clone(), &call.model)).or_insert_with(|| Line {
            day,
            model: call.model.clone(),
            ..Line::default()
        });
        line.calls += 1;
        line.input += u64::from(call.input);
        line.output += u64::from(call.output);
        line.cost += call.cost;
        line.cut += u64::from(matches!(call.how, How::Cut | How::Lost));
        line.took_ms += u64::from(call.took_ms);
    }
    all.into_values().collect()
}

fn denied(refused: &[Refused]) -> Vec<Denied> {
    let mut all: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for one in refused {
        *all.entry((day(one.at), &one.code)).or_default() += u64::from(one.times);
    }
    all.into_iter().map(|((day, code), times)| Denied { day, code: code.to_owned(), times }).collect()
}

fn day(at: Time) -> String {
    let stamp = i64::try_from(at.as_millis()).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    stamp.map_or_else(String::new, |stamp| stamp.strftime("%F").to_string())
}
