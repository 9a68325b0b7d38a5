//! `lab lives`: plan, progress, and a page of figures.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use golem::Span;
use lab::arms::{self, Cell};
use lab::lineages::{self, Kin, Way};
use lab::tables::Table;
use lab::{LifeOutcome, Plan, Quantiles, Summary, lives};
use shell::{Error, Home};
use world::Spec;

use crate::args::{LivesArgs, PlanArgs, WorldKind};
use crate::output::{self, count, line};
use crate::page::{self, BLACK, Chart, INKS, Series, escape, percent, round_marks, span};
use shell::life::newborn::{settings, spec};

pub(crate) fn lives(home: &Home, args: &LivesArgs, json: bool) -> Result<ExitCode, Error> {
    if !args.vary.is_empty() {
        return compare(home, args, json);
    }
    let plan = repeated_or(&args.plan, || Ok(Plan { note_every: args.note_every, ..plan(home, &args.plan, &[])? }))?;
    let progress = Progress::of(plan.lives);
    let told = lives::run(&plan, threads(&args.plan), |_| progress.another());
    drop(progress);
    let (summary, outcomes) = told.map_err(said)?;
    let lived = [("only".to_owned(), outcomes)];
    let figures = figures(&summary, plan.constitution.interval);
    if let Some(folder) = &args.plan.rows {
        write_rows(folder, lives::tables(&lived, plan.note_every))?;
    }
    if let Some(path) = &args.html {
        let page = picture(&summary, &lived[0].1, plan.constitution.interval, &figures);
        output::save(path, page.as_bytes())?;
    }
    if json {
        output::json(&summary)
    } else {
        figures.iter().for_each(line);
    }
    Ok(ExitCode::SUCCESS)
}

/// Errors of the lab as errors of the command: those in its own words are about how it was used.
fn said(error: lives::Error) -> Error {
    match error {
        lives::Error::Life(error) => super::work_queue::broke(error),
        lives::Error::Io { what, path, source } => Error::Io { what, path, source },
        lives::Error::World(error) => error.into(),
        other => Error::Usage(other.to_string()),
    }
}

/// The plan that was written before, if one is named, or a new one; and written down on request.
fn repeated_or(args: &PlanArgs, new: impl FnOnce() -> Result<Plan, Error>) -> Result<Plan, Error> {
    let plan = match &args.plan {
        Some(path) => {
            let text =
                fs::read(path).map_err(|source| Error::Io { what: "cannot read", path: path.clone(), source })?;
            serde_json::from_slice(&text).map_err(|e| Error::Usage(format!("{} is not a plan: {e}", path.display())))?
        }
        None => new()?,
    };
    if let Some(path) = &args.manifest {
        let text = serde_json::to_vec_pretty(&plan).expect("plain data");
        output::save(path, &text)?;
    }
    Ok(plan)
}

/// Each table three times over, in this folder.
fn write_rows<const N: usize>(folder: &Path, tables: [(&str, Table); N]) -> Result<(), Error> {
    let cannot = |source| Error::Io { what: "cannot write", path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(cannot)?;
    tables.into_iter().try_for_each(|(name, table)| table.write(folder, name)).map_err(cannot)
}

/// A figure of a line, by name.
type LineFigure = (&'static str, fn(&Kin) -> Option<f64>);

/// Runs the same paths once for each way of going on after a death.
pub(crate) fn lineages(home: &Home, args: &PlanArgs, generations: u64, json: bool) -> Result<ExitCode, Error> {
    let plan = repeated_or(args, || {
        let plan = plan(home, args, &[])?;
        let note_every = (plan.most_ticks / generations / 40).max(1);
        Ok(Plan { generations: Some(generations), note_every, ..plan })
    })?;
    let progress = Progress::of(plan.lives * Way::ALL.len() as u64);
    let mut lines: Vec<(&str, Vec<Kin>)> = Vec::new();
    for way in Way::ALL {
        let told = lineages::run(&plan, way, threads(args), || progress.another());
        lines.push((way.name(), told.map_err(said)?));
    }
    drop(progress);
    if let Some(folder) = &args.rows {
        let (lines_of, notes) = lineages::tables(&lines, plan.note_every);
        write_rows(folder, [("lines", lines_of), ("notes", notes)])?;
    }
    let measures: [LineFigure; 5] = [
        ("skill, first tenth", |kin| kin.early),
        ("skill, whole lives", |kin| kin.later),
        ("died early", |kin| Some(kin.deaths as f64)),
        ("return", |kin| kin.returned),
        ("rules of its own", |kin| Some(kin.own_rules)),
    ];
    let rows: Vec<(&str, Vec<Option<Cell>>)> = measures
        .iter()
        .map(|(name, measure)| {
            let values: Vec<Vec<_>> = lines.iter().map(|(_, kin)| kin.iter().map(measure).collect()).collect();
            (*name, arms::beside_the_first(&values))
        })
        .collect();
    let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
    if json {
        output::json(&serde_json::json!({ "paths": plan.lives, "ways": names, "rows": rows }));
        return Ok(ExitCode::SUCCESS);
    }
    let generations = plan.generations.unwrap_or(1);
    let ticks = count(plan.most_ticks / generations.max(1));
    line(format!("{} paths, {generations} lives of {ticks} ticks on each; skill against naive", count(plan.lives)));
    table(&names, &rows, plan.lives as usize);
    Ok(ExitCode::SUCCESS)
}

/// Means of the first arm, and how the others differ from it.
fn table<N: AsRef<str>, R: AsRef<str>>(names: &[N], rows: &[(R, Vec<Option<Cell>>)], paths: usize) {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    line(format!("{:<24} {:>10}  {}", "", names[0], names[1..].iter().map(|n| format!("{n:>38}")).collect::<String>()));
    for (measure, cells) in rows {
        let others: String = cells[1..].iter().map(|cell| format!("{:>38}", shown(cell.as_ref()))).collect();
        let mean = cells[0].as_ref().map_or(NOTHING.to_owned(), |cell| number(cell.mean));
        line(format!("{:<24} {mean:>10}  {others}", measure.as_ref()));
    }
    let stars = if paths < arms::ENOUGH {
        format!("too few paths to call anything a difference: {} at least", arms::ENOUGH)
    } else {
        "* excludes 0".to_owned()
    };
    line(format!("differences to {}, path by path, with 95 % bootstrap intervals over paths; {stars}", names[0]));
    if rows.iter().flat_map(|(_, cells)| cells).any(Option::is_none) {
        line(format!("{NOTHING} there was nothing to measure"));
    }
}

fn threads(args: &PlanArgs) -> usize {
    args.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1)
}

/// The count of lives that are over, shown on a terminal.
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

/// Runs the same paths once for each value of a key, or for every combination where several keys are varied.
fn compare(home: &Home, args: &LivesArgs, json: bool) -> Result<ExitCode, Error> {
    let varied = args.vary.iter().map(|vary| Varied::read(vary)).collect::<Result<Vec<_>, Error>>()?;
    let keys: Vec<&str> = varied.iter().map(|one| one.key).collect();
    if let Some(twice) = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key)) {
        return Err(Error::Usage(format!("{} is varied twice; name all its values in one --vary", twice.1)));
    }
    let plans = combined(&varied)
        .into_iter()
        .map(|(name, set)| {
            let plan = plan(home, &args.plan, &set)?;
            Ok((name, Plan { note_every: args.note_every, ..plan }))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let progress = Progress::of(args.plan.lives * plans.len() as u64);
    let told = arms::live(&plans, threads(&args.plan), |_| progress.another());
    drop(progress);
    let told = told.map_err(said)?;
    if let Some(folder) = &args.plan.rows {
        write_rows(folder, lives::tables(&told, args.note_every))?;
    }
    let arms = arms::compare(&told);
    if json {
        output::json(&arms);
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{} paths, each run once for every {}", count(arms.paths as u64), keys.join(" and ")));
    table(&arms.names, &arms.rows, arms.paths);
    Ok(ExitCode::SUCCESS)
}

/// A key, and the values it is to have one after another.
struct Varied<'a> {
    key: &'a str,
    values: Vec<&'a str>,
}

impl Varied<'_> {
    fn read(vary: &str) -> Result<Varied<'_>, Error> {
        let (key, values) = vary.split_once('=').ok_or_else(|| {
            Error::Usage(format!("'{vary}' names no values; say for example --vary stress.mode=off,enforced"))
        })?;
        if key.starts_with("world.") || key.starts_with("heartbeat.") {
            let why =
                format!("{key} changes the paths themselves; only what lives on them can be compared path by path");
            return Err(Error::Usage(why));
        }
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        if values.len() < 2 {
            return Err(Error::Usage(format!("one value of {key} cannot be compared; say --vary {key}=A,B")));
        }
        Ok(Varied { key, values })
    }
}

/// Every combination of values: what it is called, and what is set for it. The first has the first value of each key.
fn combined(varied: &[Varied<'_>]) -> Vec<(String, Vec<String>)> {
    let mut all = vec![(String::new(), Vec::new())];
    for Varied { key, values } in varied {
        let with = |(name, set): &(String, Vec<String>), value: &&str| {
            let name = if name.is_empty() { (*value).to_owned() } else { format!("{name}+{value}") };
            (name, [&set[..], &[format!("{key}={value}")]].concat())
        };
        all = all.iter().flat_map(|one| values.iter().map(|value| with(one, value)).collect::<Vec<_>>()).collect();
    }
    all
}

/// Where there was nothing to measure.
const NOTHING: &str = "–";

fn shown(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return NOTHING.to_owned() };
    let mark = if cell.is_one() { "*" } else { "" };
    format!("{}{} ({} to {})", signed(cell.difference), mark, signed(cell.low), signed(cell.high))
}

fn number(value: f64) -> String {
    if value.abs() >= 1_000.0 { count(value.round() as u64) } else { format!("{value:.4}") }
}

fn signed(value: f64) -> String {
    if value.abs() >= 100.0 { output::signed(value, 0) } else { output::signed(value, 4) }
}

fn plan(home: &Home, args: &PlanArgs, more: &[String]) -> Result<Plan, Error> {
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
    if matches!(world.plain(), Spec::Live { .. } | Spec::Checks { .. }) {
        return Err(Error::Usage(
            "the laboratory has no live data; replay recorded data with --world replay".to_owned(),
        ));
    }
    if args.disjoint && !matches!(world, Spec::Replay { .. }) {
        let why = "--disjoint is for replays; every life of a simulated world has a path of its own";
        return Err(Error::Usage(why.to_owned()));
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
        note_every: 5_000,
        disjoint: args.disjoint,
        twin: 0,
        laws: args.laws,
        generations: None,
        founder: None,
    })
}

/// A page of figures, line by line.
fn figures(summary: &Summary, interval: Span) -> Vec<String> {
    let mut lines = Vec::new();
    let row = |lines: &mut Vec<String>, name: &str, q: Option<Quantiles>, show: &dyn Fn(f64) -> String| {
        let show = |value: fn(&Quantiles) -> f64| q.as_ref().map_or(NOTHING.to_owned(), |q| show(value(q)));
        let (low, mid, high) = (show(|q| q.p05), show(|q| q.p50), show(|q| q.p95));
        lines.push(format!("{name:<22} {low:>12} {mid:>12} {high:>12}"));
    };
    let percent = |value: f64| output::percent(value, 2);
    let deaths: Vec<String> =
        summary.deaths.iter().map(|(cause, lives)| format!("{cause} {}", count(*lives))).collect();
    lines.push(format!("{} lives: {}", count(summary.lives), deaths.join(", ")));
    lines.push(format!("{:<22} {:>12} {:>12} {:>12}", "", "5 %", "median", "95 %"));
    row(&mut lines, "lifetime", Some(summary.lifetime_ticks), &|ticks| interval.times(ticks as u64).to_string());
    row(&mut lines, "fitness at the end", Some(summary.fitness), &|value| format!("{value:.3}"));
    for moment in summary.fitness_over_time.iter().step_by((summary.fitness_over_time.len() / 6).max(1)) {
        let name = format!("  after {} ticks", count(moment.tick));
        row(&mut lines, &name, Some(moment.fitness), &|value| format!("{value:.3}"));
    }
    let skill = |value: f64| output::percent(value, 1);
    row(&mut lines, "skill, whole life", summary.skill, &skill);
    for (domain, skills) in &summary.skills {
        row(&mut lines, &format!("  {domain}, at the end"), *skills, &skill);
    }
    row(&mut lines, "cost of acting", summary.trading_costs, &|value| format!("{:.2} %", value * 100.0));
    row(&mut lines, "return", summary.returns, &percent);
    row(&mut lines, "  buy and hold", summary.returns_holding, &percent);
    row(&mut lines, "deepest fall", Some(summary.drawdowns), &|value| format!("{:.2} %", value * 100.0));
    row(&mut lines, "failures in a row", Some(summary.failures), &|value| format!("{value:.0}"));
    row(&mut lines, "load, on average", Some(summary.loads), &|value| format!("{value:.2}"));
    let (ticks, speed) = (count(summary.ticks), count(summary.ticks_per_second as u64));
    lines.push(format!("{ticks} ticks in {:.1} s, {speed} a second", summary.seconds));
    lines
}

/// Draws the lives: survival, skill over time, and returns from worst to best.
fn picture(summary: &Summary, outcomes: &[LifeOutcome], interval: Span, figures: &[String]) -> String {
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
    let sorted = |name: &str, ink, value: fn(&LifeOutcome) -> Option<f64>| {
        let mut values: Vec<f64> = outcomes.iter().filter_map(value).collect();
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
        sorted("buy and hold", INKS[1], |life| life.held),
    ];
    let ((low, high), (worst, best)) = (span(&returns, (-0.01, 0.01)), span(&skills, (0.45, 0.55)));
    let charts = [
        Chart {
            title: "Who is left".to_owned(),
            note: "The share of lives that have not ended.".to_owned(),
            marks: [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format!("{:.0} %", at * 100.0))).to_vec(),
            series: vec![Series { name: String::new(), ink: BLACK, points: alive }],
            ..Chart::over(end, None)
        },
        Chart {
            title: "Skill of those who are left".to_owned(),
            note: "0.50 is as good as the naive forecast; one life in twenty is above the upper line, one below the lower.".to_owned(),
            range: (worst, best),
            marks: round_marks(worst, best, |value| format!("{value:.2}")),
            series: skills,
            ..Chart::over(end, None)
        },
        Chart {
            title: "Returns, each sorted from worst to best".to_owned(),
            note: "What became of capital, and buy-and-hold on the same paths.".to_owned(),
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
