//! `lab lives`: plan, progress, and a page of figures.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use golem::Span;
use host::{Error, Home};
use lab::arms::{self, Cell};
use lab::lineages::{self, Kin, Way};
use lab::{Outcome, Plan, Quantiles, Summary, lives};
use world::Spec;

use super::golem::{settings, spec};
use crate::args::{LivesArgs, WorldKind};
use crate::output::{self, count, line};
use crate::page::{self, BLACK, Chart, INKS, Series, escape, percent, round_marks, span};

pub(crate) fn lives(home: &Home, args: &LivesArgs, html: Option<&Path>, json: bool) -> Result<ExitCode, Error> {
    if let Some(vary) = &args.vary {
        return compare(home, args, vary, json);
    }
    let plan = match &args.plan {
        Some(path) => {
            let text =
                fs::read(path).map_err(|source| Error::Io { what: "cannot read", path: path.clone(), source })?;
            serde_json::from_slice(&text)
                .map_err(|e| Error::Advice(format!("{} is not a plan: {e}", path.display())))?
        }
        None => plan(home, args, &[])?,
    };
    if let Some(path) = &args.manifest {
        let text = serde_json::to_vec_pretty(&plan).expect("plain data");
        output::save(path, &text)?;
    }
    let progress = Progress::of(plan.lives);
    let told = lives::run(&plan, threads(args), |_| progress.another());
    drop(progress);
    let (summary, outcomes) = told.map_err(|e| Error::Advice(e.to_string()))?;
    let figures = figures(&summary, plan.constitution.interval);
    if let Some(path) = html {
        let page = picture(&summary, &outcomes, plan.constitution.interval, &figures);
        output::save(path, page.as_bytes())?;
    }
    if json {
        output::json(&summary)
    } else {
        figures.iter().for_each(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// A figure of a line, by name.
type Measure = (&'static str, fn(&Kin) -> f64);

/// The same paths, once for each way of going on after a death.
pub(crate) fn lineages(home: &Home, args: &LivesArgs, generations: u64, json: bool) -> Result<ExitCode, Error> {
    let mut plan = plan(home, args, &[])?;
    let life = plan.most_ticks / generations;
    plan.note_every = (life / 40).max(1);
    let progress = Progress::of(plan.lives * Way::ALL.len() as u64);
    let mut lines: Vec<(&str, Vec<Kin>)> = Vec::new();
    for way in Way::ALL {
        let told = lineages::run(&plan, way, generations, threads(args), || progress.another());
        lines.push((way.name(), told.map_err(|e| Error::Advice(e.to_string()))?));
    }
    drop(progress);
    let measures: [Measure; 4] = [
        ("first tenth of a life", |kin| kin.early),
        ("whole lives", |kin| kin.later),
        ("return", |kin| kin.returned),
        ("rules of its own", |kin| kin.own_rules),
    ];
    let rows: Vec<(&str, Vec<Cell>)> = measures
        .iter()
        .map(|(name, measure)| {
            let values: Vec<Vec<f64>> = lines.iter().map(|(_, kin)| kin.iter().map(measure).collect()).collect();
            (*name, values.iter().map(|arm| Cell::of(arm, &values[0])).collect())
        })
        .collect();
    let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
    if json {
        output::json(&serde_json::json!({ "paths": plan.lives, "ways": names, "rows": rows }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{} paths, {generations} lives of {} ticks on each; skill against naive", plan.lives, count(life)));
    line(format!("{:<22} {:>10}  {}", "", names[0], names[1..].iter().map(|n| format!("{n:>36}")).collect::<String>()));
    for (measure, cells) in &rows {
        let others: String = cells[1..].iter().map(|cell| format!("{:>36}", shown(cell, plan.lives >= 10))).collect();
        line(format!("{measure:<22} {:>10}  {others}", number(cells[0].mean)));
    }
    line("differences to fresh, path by path, and the range of 95 in 100 draws of the paths; * lies apart from zero");
    Ok(ExitCode::SUCCESS)
}

fn threads(args: &LivesArgs) -> usize {
    args.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1)
}

/// How many lives are over, where somebody watches.
struct Progress {
    over: AtomicU64,
    all: u64,
    show: bool,
}

impl Progress {
    fn of(all: u64) -> Progress {
        Progress { over: AtomicU64::new(0), all, show: std::io::stderr().is_terminal() }
    }

    fn another(&self) {
        let over = self.over.fetch_add(1, Ordering::Relaxed) + 1;
        if self.show {
            eprint!("\r\x1b[K{} of {} lives", count(over), count(self.all));
            let _ = std::io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.show {
            eprint!("\r\x1b[K");
        }
    }
}

/// The same paths, once for each value of one key.
fn compare(home: &Home, args: &LivesArgs, vary: &str, json: bool) -> Result<ExitCode, Error> {
    let (key, values) = vary.split_once('=').ok_or_else(|| {
        Error::Advice(format!("'{vary}' names no values; say for example --vary stress.mode=off,enforced"))
    })?;
    if key.starts_with("world.") || key.starts_with("heartbeat.") {
        let why = format!("{key} changes the paths themselves; only what lives on them can be compared path by path");
        return Err(Error::Advice(why));
    }
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    if values.len() < 2 {
        return Err(Error::Advice(format!("one value of {key} cannot be compared; say --vary {key}=A,B")));
    }
    let plans = values
        .iter()
        .map(|value| Ok(((*value).to_owned(), plan(home, args, &[format!("{key}={value}")])?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let progress = Progress::of(args.lives * values.len() as u64);
    let told = arms::live(&plans, threads(args), |_| progress.another());
    drop(progress);
    let arms = arms::compare(&told.map_err(|e| Error::Advice(e.to_string()))?);
    if json {
        output::json(&arms);
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{} paths, each lived once for every {key}", count(arms.paths as u64)));
    line(format!(
        "{:<24} {:>10}  {}",
        "",
        arms.names[0],
        arms.names[1..].iter().map(|n| format!("{n:>38}")).collect::<String>()
    ));
    for (measure, cells) in &arms.rows {
        let others: String = cells[1..].iter().map(|cell| format!("{:>38}", shown(cell, arms.paths >= 10))).collect();
        line(format!("{measure:<24} {:>10}  {others}", number(cells[0].mean)));
    }
    line(format!(
        "differences to {}, path by path, and the range of 95 in 100 draws of the paths; * lies apart from zero",
        arms.names[0]
    ));
    Ok(ExitCode::SUCCESS)
}

fn shown(cell: &Cell, enough: bool) -> String {
    let mark = if enough && !cell.could_be_nothing() { "*" } else { "" };
    format!("{}{} ({} to {})", signed(cell.difference), mark, signed(cell.low), signed(cell.high))
}

fn number(value: f64) -> String {
    if value.abs() >= 1_000.0 { count(value.round() as u64) } else { format!("{value:.4}") }
}

fn signed(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:+.0}") } else { format!("{value:+.4}") }
}

fn plan(home: &Home, args: &LivesArgs, more: &[String]) -> Result<Plan, Error> {
    let mut flags = args.set.clone();
    flags.extend_from_slice(more);
    let mut flag = |key: &str, value: Option<String>| flags.extend(value.map(|value| format!("{key}={value}")));
    let replay = args.data.is_some().then_some(WorldKind::Replay);
    flag("world.kind", args.world.or(replay).map(|kind| format!("{kind:?}").to_lowercase()));
    flag("world.seed", Some(args.seed.to_string()));
    flag("world.data", args.data.clone());
    flag("heartbeat.interval", args.interval.clone());
    let settings = settings(home, None, flags)?;
    let mut world = spec(home, &settings, Some(args.seed))?;
    if let Spec::Replay { path, .. } = &mut world {
        *path = home.root().join(&*path);
    }
    if args.disjoint && !matches!(world, Spec::Replay { .. }) {
        let why = "--disjoint is for replays; every life of a simulated world has a path of its own";
        return Err(Error::Advice(why.to_owned()));
    }
    Ok(Plan {
        version: lives::PLAN,
        lives: args.lives,
        seed: args.seed,
        world,
        constitution: settings.constitution()?,
        credit: settings.money("funds.credit"),
        capital: settings.money("funds.capital"),
        most_ticks: args.most_ticks,
        note_every: args.note_every,
        disjoint: args.disjoint,
        twin: 0,
    })
}

/// A page of figures, line by line.
fn figures(summary: &Summary, interval: Span) -> Vec<String> {
    let mut lines = Vec::new();
    let row = |lines: &mut Vec<String>, name: &str, q: Quantiles, show: &dyn Fn(f64) -> String| {
        lines.push(format!("{name:<22} {:>12} {:>12} {:>12}", show(q.p05), show(q.p50), show(q.p95)));
    };
    let deaths: Vec<String> =
        summary.deaths.iter().map(|(cause, lives)| format!("{cause} {}", count(*lives))).collect();
    lines.push(format!("{} lives: {}", count(summary.lives), deaths.join(", ")));
    lines.push(format!("{:<22} {:>12} {:>12} {:>12}", "", "5 %", "median", "95 %"));
    row(&mut lines, "lifetime", summary.lifetime_ticks, &|ticks| interval.times(ticks as u64).to_string());
    row(&mut lines, "skill (fitness)", summary.fitness, &|value| format!("{value:.3}"));
    for moment in summary.fitness_over_time.iter().step_by((summary.fitness_over_time.len() / 6).max(1)) {
        let name = format!("  after {} ticks", count(moment.tick));
        row(&mut lines, &name, moment.fitness, &|value| format!("{value:.3}"));
    }
    for (domain, skills) in &summary.skills {
        row(&mut lines, &format!("  {domain}, of naive"), *skills, &|value| format!("{:+.1} %", value * 100.0));
    }
    row(&mut lines, "cost of acting", summary.trading_costs, &|value| format!("{:.2} %", value * 100.0));
    row(&mut lines, "return", summary.returns, &|value| format!("{:+.2} %", value * 100.0));
    row(&mut lines, "  simply holding", summary.returns_holding, &|value| format!("{:+.2} %", value * 100.0));
    lines.push(format!("{:<22} {:>12} {:>12} {:>12}", "  cash", "", "+0.00 %", ""));
    row(&mut lines, "deepest fall", summary.drawdowns, &|value| format!("{:.2} %", value * 100.0));
    row(&mut lines, "failures in a row", summary.failures, &|value| format!("{value:.0}"));
    row(&mut lines, "load, on average", summary.loads, &|value| format!("{value:.2}"));
    let (ticks, speed) = (count(summary.ticks), count(summary.ticks_per_second as u64));
    lines.push(format!("{ticks} ticks in {:.1} s, {speed} a second", summary.seconds));
    lines
}

/// What they came to, drawn: who is left, how skill went, and returns from worst to best.
fn picture(summary: &Summary, outcomes: &[Outcome], interval: Span, figures: &[String]) -> String {
    let days = |ticks: u64| interval.times(ticks).as_millis() as f64 / 86_400_000.0;
    let end = days(outcomes.iter().map(|life| life.ticks).max().unwrap_or(0));
    let mut deaths: Vec<u64> = outcomes.iter().filter(|life| life.ending != "alive").map(|life| life.ticks).collect();
    deaths.sort_unstable();
    let left = |dead: usize| 1.0 - dead as f64 / outcomes.len().max(1) as f64;
    let steps =
        deaths.iter().enumerate().flat_map(|(at, ticks)| [(days(*ticks), left(at)), (days(*ticks), left(at + 1))]);
    let alive = [(0.0, 1.0)].into_iter().chain(steps).chain([(end, left(deaths.len()))]).collect();
    let skill = |name: &str, ink, value: fn(&Quantiles) -> f64| {
        let points = summary.fitness_over_time.iter().map(|moment| (days(moment.tick), value(&moment.fitness)));
        Series { name: name.to_owned(), ink, points: points.collect() }
    };
    let skills =
        vec![skill("95 %", INKS[2], |q| q.p95), skill("median", INKS[0], |q| q.p50), skill("5 %", INKS[1], |q| q.p05)];
    let sorted = |name: &str, ink, value: fn(&Outcome) -> f64| {
        let mut values: Vec<f64> = outcomes.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let all = values.len().max(2) as f64 - 1.0;
        Series {
            name: name.to_owned(),
            ink,
            points: values.iter().enumerate().map(|(at, v)| (at as f64 / all, *v)).collect(),
        }
    };
    let returns = vec![
        sorted("what they made", INKS[0], |life| life.returned),
        sorted("simply holding", INKS[1], |life| life.held),
    ];
    let ((low, high), (worst, best)) = (span(&returns, (-0.01, 0.01)), span(&skills, (0.45, 0.55)));
    let charts = [
        Chart {
            title: "Who is left",
            note: "The share of lives that have not ended.",
            marks: [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format!("{:.0} %", at * 100.0))).to_vec(),
            series: vec![Series { name: String::new(), ink: BLACK, points: alive }],
            ..Chart::over(end, None)
        },
        Chart {
            title: "Skill of those who are left",
            note: "0.50 is as good as the naive forecast; one life in twenty is above the upper line, one below the lower.",
            range: (worst, best),
            marks: round_marks(worst, best, |value| format!("{value:.2}")),
            series: skills,
            ..Chart::over(end, None)
        },
        Chart {
            title: "Returns, each sorted from worst to best",
            note: "What became of capital, beside simply holding on the same paths.",
            range: (low, high),
            marks: round_marks(low, high, percent),
            series: returns,
            end: 1.0,
            below: ["worst".to_owned(), "median".to_owned(), "best".to_owned()],
            ..Chart::default()
        },
    ];
    let drawn: String = charts.iter().map(Chart::html).collect();
    let body = format!(
        "<h1>{} lives</h1>\n{drawn}<h2>In figures</h2>\n<pre>{}</pre>\n",
        count(summary.lives),
        escape(&figures.join("\n"))
    );
    page::page("lives", &body)
}
