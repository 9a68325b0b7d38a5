//! `golem costs`: what agents' calls have cost, by golem, day and model; and of one golem, what became of its money, what stopped
//! its calls and what was refused.

use std::process::ExitCode;

use golem::{Time, Usdc};
use serde_json::json;
use settings::read_span;
use shell::errands::Counters;
use shell::view::costs::Costs;
use shell::view::portrait::Row;
use shell::view::spending::{ModelCosts, Spending};
use shell::{Error, Home};

use crate::named;
use crate::output::{self, count, line};

pub(crate) fn costs(
    home: &Home,
    name: Option<&str>,
    last: Option<&str>,
    csv: bool,
    json: bool,
) -> Result<ExitCode, Error> {
    let since = match last {
        None => Time::default(),
        Some(text) => {
            let wrong = || Error::Usage(format!("'{text}' is not a span; write --last 7d or --last 24h"));
            let back = read_span(text).ok_or_else(wrong)?.as_millis();
            Time::millis((shell::wall::now_ms() as u64).saturating_sub(back))
        }
    };
    let places = match name {
        Some(name) => vec![named::golem(home, name)?],
        None => home.list()?,
    };
    // No agent calls through this process.
    let (counters, mut all) = (Counters::default(), Vec::new());
    for place in places {
        match Costs::of(&place, since, &counters) {
            Ok(costs) => all.push(costs),
            Err(why) if name.is_none() => output::complain(format!("{}: {why}", place.name)),
            Err(why) => return Err(why),
        }
    }
    if csv {
        as_csv(&all);
    } else if json {
        all.iter().for_each(print_json);
    } else {
        as_table(&all, name);
    }
    Ok(ExitCode::SUCCESS)
}

/// The costs of one golem as the API has them, with those of each day and of all in dollars as well.
fn print_json(costs: &Costs) {
    let mut value = serde_json::to_value(costs).expect("plain data");
    let lines = value["lines"].as_array_mut().into_iter().flatten();
    lines.zip(&costs.lines).for_each(|(told, by)| told["cost_usd"] = json!(output::usd(by.cost)));
    value["total_usd"] = json!(output::usd(costs.total()));
    value["money_unit"] = json!(output::MONEY_UNIT);
    output::json(&value);
}

fn as_csv(all: &[Costs]) {
    line("golem,day,model,calls,input_tokens,output_tokens,cost_usd,cut,took_ms");
    for (golem, by) in all.iter().flat_map(|costs| costs.lines.iter().map(move |by| (&costs.name, by))) {
        let cost = format!("{:.6}", by.cost.as_f64() / 1e6);
        // A model is called what its provider calls it; nothing in it is taken for a column or a formula.
        let model = by.model.replace('"', "\"\"");
        line(format!(
            "{golem},{},\"{model}\",{},{},{},{cost},{},{}",
            by.day, by.calls, by.input, by.output, by.cut, by.took_ms
        ));
    }
}

/// One golem's money and what became of it, and the kinds of tokens that went to each model since its birth.
fn as_portrait(spending: &Spending) {
    for Row { about, says } in &spending.told {
        line(format!("{about:<10} {says}"));
    }
    line("");
    if spending.models.is_empty() {
        return;
    }
    let heads = ["MODEL", "CALLS", "IN", "FROM CACHE", "TO CACHE", "OUT", "OF IT THOUGHT", "COST"].map(str::to_owned);
    let cells = |by: &ModelCosts| {
        let tokens = [by.calls, by.input, by.cached, by.written, by.output, by.thought].map(count);
        let [calls, input, cached, written, output, thought] = tokens;
        [called(&by.model, usize::MAX), calls, input, cached, written, output, thought, by.cost.to_string()]
    };
    let table: Vec<[String; 8]> = [heads].into_iter().chain(spending.models.iter().map(cells)).collect();
    let width = |at: usize| table.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    for [model, figures @ ..] in &table {
        let figures = figures.iter().zip(&widths[1..]).map(|(cell, &width)| format!("  {cell:>width$}"));
        line(format!("{model:<width$}{}", figures.collect::<String>(), width = widths[0]));
    }
    line("");
}

/// The end of a model's name, which says more than its beginning.
fn called(model: &str, most: usize) -> String {
    let model = if model.is_empty() { "(lost)" } else { model };
    model.chars().skip(model.chars().count().saturating_sub(most)).collect()
}

fn as_table(all: &[Costs], name: Option<&str>) {
    if all.iter().all(|costs| costs.lines.is_empty() && costs.refused.is_empty()) {
        let who = name.unwrap_or("NAME");
        return line(match name {
            Some(_) => format!("{who} has made no calls; `bardo golem connect {who}` shows how its agent makes them"),
            None => {
                "no golem here has made any calls; `bardo golem connect NAME` shows how an agent makes them".to_owned()
            }
        });
    }
    if let (Some(_), [costs]) = (name, all) {
        as_portrait(&costs.spending);
    }
    let wide = |text: fn(&shell::view::costs::Line) -> usize, least: usize| {
        all.iter().flat_map(|costs| &costs.lines).map(text).max().unwrap_or(0).max(least)
    };
    let names = all.iter().map(|costs| costs.name.chars().count()).max().unwrap_or(0).max(5);
    let models = wide(|by| by.model.chars().count(), 5).min(44);
    line(format!(
        "{:<names$}  {:<10}  {:<models$}  {:>8}  {:>12}  {:>12}  {:>12}  {:>8}",
        "GOLEM", "DAY", "MODEL", "CALLS", "TOKENS IN", "TOKENS OUT", "COST", "MEAN"
    ));
    let mut total = Usdc::ZERO;
    for costs in all {
        for by in &costs.lines {
            let model = called(&by.model, models);
            let mean = format!("{:.1} s", by.took_ms as f64 / by.calls.max(1) as f64 / 1e3);
            line(format!(
                "{:<names$}  {:<10}  {model:<models$}  {:>8}  {:>12}  {:>12}  {:>12}  {mean:>8}",
                costs.name,
                by.day,
                count(by.calls),
                count(by.input),
                count(by.output),
                by.cost.to_string()
            ));
        }
        total += costs.total();
    }
    line(format!("together {total}"));
    for (costs, one) in all.iter().flat_map(|costs| costs.refused.iter().map(move |one| (costs, one))) {
        line(format!("{} was refused {} on {}: {}", costs.name, count(one.times), one.day, one.code));
    }
}
