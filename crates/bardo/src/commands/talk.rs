//! Talking with a golem: `ask`, `steer` and `thoughts`. Neither an answer nor a strategy can move money.

use std::process::ExitCode;

use golem::Command;
use serde_json::json;
use shell::orders::order::{self, ANSWER, QuestionResult};
use shell::{Error, GolemHome, Home, KeptQuestion, Runtime};

use super::owner;
use crate::exit;
use crate::named;
use crate::output::{self, count, line};

/// Characters of an answer in a list.
const SHORT: usize = 100;

pub(crate) fn ask(home: &Home, name: &str, question: &str, json: bool) -> Result<ExitCode, Error> {
    let place = named::golem(home, name)?;
    let every = home.settings()?.integer("run.snapshot_every") as u64;
    order::question(question.to_owned())?;
    if !json {
        output::complain(format!("asking a model for {name}; this takes as long as the model does"));
    }
    let asked = order::ask(&Runtime::of(home), &place, question, every, ANSWER)?;
    let told = match &asked {
        QuestionResult::Told(told) => told,
        QuestionResult::Asleep | QuestionResult::Waiting if json => {
            output::json(&json!({ "name": name, "answer": null, "asleep": asked == QuestionResult::Asleep }));
            return Ok(ExitCode::SUCCESS);
        }
        QuestionResult::Asleep => {
            line(format!(
                "{name} is asleep; it is asked in the morning, and `bardo golem thoughts {name}` has the answer"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        QuestionResult::Waiting => {
            line(format!("there is no answer yet; `bardo golem thoughts {name}` has it once it has come"));
            return Ok(ExitCode::SUCCESS);
        }
    };
    let why = told.silence.map(|silence| silence.name());
    if json {
        let (text, records, cost) = (&told.text, &told.cites, told.cost);
        output::json(&json!({ "name": name, "answer": text, "records": records, "silence": why, "cost": cost }));
        return Ok(if why.is_none() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) });
    }
    match &told.text {
        Some(text) => {
            line(golem::plain::text(text));
            let records: Vec<String> = told.cites.iter().map(|record| count(*record)).collect();
            let by = if records.is_empty() { "no record of its own".to_owned() } else { records.join(", ") };
            output::complain(format!(
                "from {by}; {}. A model wrote this: `bardo golem events {name}` has the facts",
                told.cost
            ));
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let why = why.unwrap_or("unusable");
            output::complain(format!(
                "no model answered ({why}), which cost {}; `bardo doctor` tries each of them",
                told.cost
            ));
            Ok(ExitCode::from(exit::ERROR))
        }
    }
}

/// Without a text it shows the one there is.
pub(crate) fn steer(home: &Home, name: &str, text: Option<&str>, json: bool) -> Result<ExitCode, Error> {
    if let Some(text) = text {
        let done = if text.is_empty() {
            "has no guidance from you any more"
        } else {
            "keeps that guidance in mind from now on"
        };
        return owner::order(home, name, Command::Steer { text: text.to_owned() }, done, json);
    }
    let (golem, _) = named::golem(home, name)?.wake()?;
    let strategy = golem.life().strategy();
    match strategy {
        _ if json => output::json(&json!({ "name": name, "strategy": strategy })),
        "" => line(format!("{name} has no guidance from you; `bardo golem steer {name} \"…\"` gives it some")),
        text => line(golem::plain::text(text)),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn thoughts(place: &GolemHome, last: u64, full: bool, json: bool) -> Result<ExitCode, Error> {
    let all = shell::kept(&place.thoughts())?;
    let some = &all[all.len().saturating_sub(last as usize)..];
    if json {
        some.iter().for_each(output::json);
        return Ok(ExitCode::SUCCESS);
    }
    if some.is_empty() {
        line(format!("{} has asked no model, or nothing of it is kept (models.keep_days)", place.name));
    }
    some.iter().for_each(|kept| tell(kept, full));
    Ok(ExitCode::SUCCESS)
}

fn tell(kept: &KeptQuestion, full: bool) {
    let at = output::date(golem::Time::millis(kept.at));
    let tokens =
        kept.tokens.map_or("tokens unknown".to_owned(), |(input, output)| format!("{input} + {output} tokens"));
    let cost = golem::Usdc::micros(kept.cost as i64);
    line(format!("{at}  {:>5}  {:<9} {}  {tokens}, {cost}", kept.key, kept.purpose, kept.model));
    let said = if kept.answer.is_empty() { &kept.why } else { &kept.answer };
    if full {
        line(golem::plain::text(&format!("{}\n\n{}\n→ {}\n{said}\n", kept.system, kept.user, kept.heard)));
    } else {
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        line(format!("  {}", golem::plain::line(&words, SHORT)));
    }
}
