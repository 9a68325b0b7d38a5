//! Tools for an owner's assistant, as far as its token's scope goes. Tools that change something are not there unless
//! the owner has switched them on.

use std::sync::Arc;

use golem::{Command, Time, Usdc};
use serde_json::{Value, json};
use shell::home::Home;
use shell::home::inbox::Body;
use shell::home::log::KnownTip;
use shell::home::tokens::Scope;
use shell::orders::order;
use shell::view::costs::Costs;
use shell::view::narrator::Narrator;
use shell::view::status::Status;
use shell::view::words::Words;
use shell::{Error, Runtime};
use vault::Reader;

use super::agent::tell;
use super::tool::{Given, Tool};

/// The most events in one answer.
const EVENTS: u64 = 200;
const NAME: (&str, &str, bool, &str) = ("name", "string", true, "which golem");

const fn reads(
    name: &'static str,
    does: &'static str,
    takes: &'static [(&'static str, &'static str, bool, &'static str)],
) -> Tool {
    Tool { name, does, takes, scope: Scope::Read, changes: false }
}

pub(super) const TOOLS: &[Tool] = &[
    reads("list", "Every golem of this home, with its state, phase, money and what it asks.", &[]),
    reads("show", "One golem at this moment, in figures and in words.", &[NAME]),
    reads(
        "events",
        "A golem's latest events, oldest first.",
        &[NAME, ("last", "integer", false, "how many at most, up to 200; 20 if not said")],
    ),
    reads("report", "A golem's report: its testament if it is dead, and what it is living on if it is not.", &[NAME]),
    reads(
        "costs",
        "A golem's spending: what its agent's calls have cost by model and day, what stopped them, what its checks say, and \
         what was refused and why.",
        &[NAME, ("days", "integer", false, "how many days back; all if not said")],
    ),
    Tool {
        name: "approve",
        does: "Say yes or no to what a golem asks, by the key that `list` and `show` give.",
        takes: &[
            NAME,
            ("key", "integer", true, "the key of the question"),
            ("yes", "boolean", true, "true for yes, false for no"),
        ],
        scope: Scope::Answer,
        changes: true,
    },
    Tool {
        name: "freeze",
        does: "Freeze a golem: no new exposure, and no calls of its agent, until it is resumed.",
        takes: &[NAME, ("reason", "string", false, "why")],
        scope: Scope::Order,
        changes: true,
    },
    Tool {
        name: "fund",
        does: "Give a golem money to live on, out of the treasury.",
        takes: &[NAME, ("usd", "string", true, "how much, such as 2 or 0.50")],
        scope: Scope::Order,
        changes: true,
    },
];

pub(super) fn call(runtime: &Arc<Runtime>, name: &str, given: &Given) -> Result<Value, Error> {
    let home = runtime.home();
    if name == "list" {
        return list(home);
    }
    let place = home.golem(given.text("name"))?;
    let plain = |value: Result<Value, serde_json::Error>| value.expect("plain data");
    match name {
        "show" => {
            runtime.catch_up(&place)?;
            let (golem, _) = place.wake()?;
            let status = plain(serde_json::to_value(Status::of(place.name.as_str(), golem.life())));
            Ok(json!({ "status": status, "told": plain(serde_json::to_value(Words::of(golem.life(), &place))) }))
        }
        "events" => {
            runtime.catch_up(&place)?;
            let reader = Reader::open(&place.database())?;
            let (mut narrator, mut told) = (Narrator::before(&reader)?, Vec::new());
            let last = given.whole("last", 20).clamp(1, EVENTS) as usize;
            reader.replay(|record| {
                narrator.tell(&record, |one| {
                    if !one.message.is_routine() {
                        told.push(plain(serde_json::to_value(&one)));
                    }
                })?;
                told.drain(..told.len().saturating_sub(last));
                Ok::<_, Error>(std::ops::ControlFlow::Continue(()))
            })?;
            Ok(json!({ "events": told }))
        }
        "report" => {
            runtime.catch_up(&place)?;
            let (golem, _) = place.wake()?;
            let life = golem.life();
            let testament = std::fs::read_to_string(place.testament("md")).ok();
            Ok(json!({
                "alive": !life.is_dead(),
                "died_of": life.death().map(|death| death.cause.to_string()),
                "testament": testament,
                "told": plain(serde_json::to_value(Words::of(life, &place))),
            }))
        }
        "costs" => {
            let now = shell::wall::now_ms() as u64;
            let since =
                given.whole("days", u64::MAX).checked_mul(86_400_000).map_or(0, |back| now.saturating_sub(back));
            runtime.catch_up(&place)?;
            Ok(plain(serde_json::to_value(Costs::of(&place, Time::millis(since), runtime.counters())?)))
        }
        "approve" => {
            let command = order::approve(&place, given.whole("key", 0), given.is("yes", false))?;
            tell(runtime, &place, Body::Command(command))
        }
        "freeze" => {
            order::mark_frozen(&place, given.text("reason"))?;
            tell(runtime, &place, Body::Command(Command::Freeze { reason: given.text("reason").to_owned() }))
        }
        "fund" => {
            let usd: Usdc = given.text("usd").parse().map_err(|e| Error::Usage(format!("usd: {e}")))?;
            tell(runtime, &place, Body::Fund { credit: usd, capital: Usdc::ZERO })
        }
        other => Err(Error::Refused(format!("there is no tool {other:?} here"))),
    }
}

fn list(home: &Home) -> Result<Value, Error> {
    let (mut all, mut known) = (Vec::new(), KnownTip::default());
    for (place, seen) in home.glances()? {
        let status = match seen.and_then(|_| place.wake_after(&mut known)) {
            Ok((golem, _)) => Status::of(place.name.as_str(), golem.life()),
            Err(why) => Status::unread(place.name.as_str(), why.to_string()),
        };
        all.push(serde_json::to_value(status).expect("plain data"));
    }
    Ok(json!({ "golems": all }))
}
