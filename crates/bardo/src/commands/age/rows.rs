//! Lives as rows: the record of each (`records.jsonl`), and tables of lives and of calls for pandas and DuckDB.

use std::fs;
use std::io::Write;
use std::path::Path;

use age::Life;
use lab::tables::Table;
use shell::Error;

pub(super) fn write(lives: &[Life], folder: &Path) -> Result<(), Error> {
    let cannot = |source| Error::Io { what: "cannot write", path: folder.to_owned(), source };
    records(lives, folder).map_err(cannot)?;
    let (mut table, mut calls) = (Table::default(), Table::default());
    for life in lives {
        life_row(&mut table, life);
        (0..life.calls.len()).for_each(|at| call_row(&mut calls, life, at));
    }
    table.write(folder, "lives").map_err(cannot)?;
    calls.write(folder, "calls").map_err(cannot)?;
    Ok(())
}

fn records(lives: &[Life], folder: &Path) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(folder.join("records.jsonl"))?);
    for life in lives {
        serde_json::to_writer(&mut file, life)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

fn name(of: &impl serde::Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn life_row(table: &mut Table, life: &Life) {
    let tokens = life.tokens();
    let sum = |of: fn(&age::Call) -> u32| life.calls.iter().map(|call| u64::from(of(call))).sum::<u64>();
    let text = |of: &Option<String>| of.clone().unwrap_or_default();
    table.push([
        ("life", life.life.as_str().into()),
        ("of", text(&life.of).as_str().into()),
        ("project", text(&life.project).as_str().into()),
        ("harness", name(&life.harness).as_str().into()),
        ("version", text(&life.version).as_str().into()),
        ("model", life.model().into()),
        ("born", name(&life.born).as_str().into()),
        ("began", life.began.into()),
        ("ended", life.ended.into()),
        ("end", name(&life.end).as_str().into()),
        ("window", life.window.map(|window| window as f64).into()),
        ("calls", (life.calls.len() as u64).into()),
        ("input", tokens.input.into()),
        ("cached", tokens.cached.into()),
        ("written", tokens.write_5m.saturating_add(tokens.write_1h).into()),
        ("output", tokens.output.into()),
        ("cost_usd", (life.cost() as f64 / 1e6).into()),
        ("told_usd", life.told.map(|told| told as f64 / 1e6).into()),
        ("tools", sum(|call| call.tools).into()),
        ("failed", sum(|call| call.failed).into()),
        ("edits", sum(|call| call.edits).into()),
        ("undone", sum(|call| call.undone).into()),
        ("checks", sum(|call| call.checks).into()),
        ("passed", sum(|call| call.passed).into()),
        ("helpers", u64::from(life.helpers).into()),
        ("compactions", (life.compactions.len() as u64).into()),
        ("resumed", (life.resumed.len() as u64).into()),
        ("reward", life.reward.into()),
    ]);
}

fn call_row(table: &mut Table, life: &Life, at: usize) {
    let call = &life.calls[at];
    let model = life.models.get(usize::from(call.model)).map_or("", String::as_str);
    table.push([
        ("life", life.life.as_str().into()),
        ("call", (at as u64 + 1).into()),
        ("at", call.at.into()),
        ("model", model.into()),
        ("input", call.input.into()),
        ("cached", call.cached.into()),
        ("written", call.write_5m.saturating_add(call.write_1h).into()),
        ("output", call.output.into()),
        ("age", f64::from(call.age).into()),
        ("cost_usd", call.cost.map(|cost| cost as f64 / 1e6).into()),
        ("tools", u64::from(call.tools).into()),
        ("failed", u64::from(call.failed).into()),
        ("edits", u64::from(call.edits).into()),
        ("undone", u64::from(call.undone).into()),
        ("repeated", u64::from(call.repeated).into()),
        ("checks", u64::from(call.checks).into()),
        ("passed", u64::from(call.passed).into()),
        ("told", u64::from(!call.untold).into()),
    ]);
}
