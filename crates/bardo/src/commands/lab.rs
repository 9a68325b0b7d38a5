//! `lab lives`: plan, progress, and a page of figures.

use std::fs;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use golem::Span;
use host::{Error, Home};
use lab::{Plan, Quantiles, Summary, lives};
use world::Spec;

use super::golem::{settings, spec};
use crate::args::{LivesArgs, WorldKind};
use crate::output::{self, count, line};

pub(crate) fn lives(home: &Home, args: &LivesArgs, json: bool) -> Result<ExitCode, Error> {
    let plan = match &args.plan {
        Some(path) => {
            let text =
                fs::read(path).map_err(|source| Error::Io { what: "cannot read", path: path.clone(), source })?;
            serde_json::from_slice(&text)
                .map_err(|e| Error::Advice(format!("{} is not a plan: {e}", path.display())))?
        }
        None => plan(home, args)?,
    };
    if let Some(path) = &args.manifest {
        let text = serde_json::to_vec_pretty(&plan).expect("plain data");
        fs::write(path, text).map_err(|source| Error::Io { what: "cannot write", path: path.clone(), source })?;
    }
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let (over, show) = (AtomicU64::new(0), std::io::stderr().is_terminal());
    let told = lives::run(&plan, threads, |_| {
        let over = over.fetch_add(1, Ordering::Relaxed) + 1;
        if show {
            eprint!("\r\x1b[K{} of {} lives", count(over), count(plan.lives));
            let _ = std::io::stderr().flush();
        }
    });
    if show {
        eprint!("\r\x1b[K");
    }
    let (summary, _) = told.map_err(|e| Error::Advice(e.to_string()))?;
    if json {
        output::json(&summary)
    } else {
        print(&summary, plan.constitution.interval)
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(home: &Home, args: &LivesArgs) -> Result<Plan, Error> {
    let mut flags = args.set.clone();
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
    })
}

fn print(summary: &Summary, interval: Span) {
    let row = |name: &str, q: Quantiles, show: &dyn Fn(f64) -> String| {
        line(format!("{name:<22} {:>12} {:>12} {:>12}", show(q.p05), show(q.p50), show(q.p95)));
    };
    let deaths: Vec<String> =
        summary.deaths.iter().map(|(cause, lives)| format!("{cause} {}", count(*lives))).collect();
    line(format!("{} lives: {}", count(summary.lives), deaths.join(", ")));
    line(format!("{:<22} {:>12} {:>12} {:>12}", "", "5 %", "median", "95 %"));
    row("lifetime", summary.lifetime_ticks, &|ticks| interval.times(ticks as u64).to_string());
    row("skill (fitness)", summary.fitness, &|value| format!("{value:.3}"));
    for moment in summary.fitness_over_time.iter().step_by((summary.fitness_over_time.len() / 6).max(1)) {
        let name = format!("  after {} ticks", count(moment.tick));
        row(&name, moment.fitness, &|value| format!("{value:.3}"));
    }
    for (domain, skills) in &summary.skills {
        row(&format!("  {domain}, of naive"), *skills, &|value| format!("{:+.1} %", value * 100.0));
    }
    row("cost of acting", summary.trading_costs, &|value| format!("{:.2} %", value * 100.0));
    row("return", summary.returns, &|value| format!("{:+.2} %", value * 100.0));
    row("  simply holding", summary.returns_holding, &|value| format!("{:+.2} %", value * 100.0));
    line(format!("{:<22} {:>12} {:>12} {:>12}", "  cash", "", "+0.00 %", ""));
    let (ticks, speed) = (count(summary.ticks), count(summary.ticks_per_second as u64));
    line(format!("{ticks} ticks in {:.1} s, {speed} a second", summary.seconds));
}
