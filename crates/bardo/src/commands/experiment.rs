//! `lab run`: an experiment from a file, with what is known while it runs and what came of it.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lab::experiment::conduct::{self, Progress, Threads, Workers};
use lab::experiment::report::{self, Findings, WorldFinding};
use lab::experiment::stats::Difference;
use lab::experiment::work::Bench;
use lab::experiment::{Experiment, Phase};
use shell::Error;

use crate::args::RunExperiment;
use crate::commands::answers::spoiled;
use crate::commands::work_queue::{Queue, said, this_program, told_to_stop};
use crate::exit;
use crate::output::{self, count, line};
use crate::page::{self, escape};

pub(crate) fn run(args: &RunExperiment, json: bool) -> Result<ExitCode, Error> {
    let mut experiment = Experiment::read(&args.file).map_err(said)?;
    if args.quick {
        experiment = experiment.quickly().map_err(said)?;
    }
    let folder = args.out.clone().unwrap_or_else(|| {
        let quick = if args.quick { "-quick" } else { "" };
        PathBuf::from(format!("{}{quick}", experiment.name))
    });
    if let Some(why) = spoiled(&folder) {
        return Err(Error::Damaged(why));
    }
    let mut bench = Bench::new(experiment).map_err(said)?;
    bench.program = this_program();
    let stop = told_to_stop()?;
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let mut workers: Box<dyn Workers> = match &args.workers {
        Some(url) => Box::new(Queue::at(url, &folder, args.key.as_deref())?),
        None => Box::new(Threads(threads)),
    };
    let show = std::io::stderr().is_terminal();
    let mut last = Instant::now();
    let mut each = |progress: Progress| {
        // A log gets a line a minute, a terminal one that is written over.
        if show || last.elapsed() > Duration::from_secs(60) || progress.left.is_none() {
            eprint!("{}{}{}", if show { "\r\x1b[K" } else { "" }, told_of(&progress), if show { "" } else { "\n" });
            let _ = std::io::stderr().flush();
            last = Instant::now();
        }
    };
    let began = Instant::now();
    let findings = conduct::conduct(&bench, &folder, workers.as_mut(), &stop, &mut each);
    if show {
        eprint!("\r\x1b[K");
    }
    let Some(findings) = findings.map_err(said)? else {
        line(format!("stopped; what is done is kept. Go on with the same command: {}", folder.display()));
        return Ok(ExitCode::from(exit::INTERRUPTED));
    };
    output::save(&folder.join("report.html"), picture(&bench.experiment, &findings).as_bytes())?;
    keep_program(&folder)?;
    if json {
        output::json(&findings);
        return Ok(ExitCode::SUCCESS);
    }
    findings.verdict.iter().for_each(line);
    for (world, answer) in &findings.answers {
        line(format!("{world}: {answer}"));
    }
    let seconds = began.elapsed().as_secs();
    line(format!(
        "{} ticks; {seconds} s this time. Everything is in {}: begin with report.md or report.html",
        count(findings.ticks),
        folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}

fn told_of(progress: &Progress) -> String {
    let what = if progress.tuning { "tuning" } else { "running" };
    let left = progress.left.map_or(String::new(), |left| {
        let minutes = left.as_secs() / 60;
        if minutes > 0 { format!(", about {minutes} min left") } else { format!(", about {} s left", left.as_secs()) }
    });
    format!("{what}: {} of {} paths{left}", count(progress.done as u64), count(progress.all as u64))
}

/// The very program, beside what it found.
fn keep_program(folder: &Path) -> Result<(), Error> {
    let (own, kept) = (std::env::current_exe(), folder.join("bardo"));
    let Ok(own) = own else { return Ok(()) };
    // What is there is this program: with another the seal would not have fitted.
    if kept.exists() || std::fs::hard_link(&own, &kept).is_ok() {
        return Ok(());
    }
    std::fs::copy(&own, &kept).map(drop).map_err(|source| Error::Io { what: "cannot write", path: kept, source })
}

/// Tables and pictures in one file.
fn picture(experiment: &Experiment, findings: &Findings) -> String {
    let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n<ul>\n", escape(&findings.name), escape(&findings.question));
    for told in &findings.verdict {
        let _ = writeln!(body, "<li>{}</li>", escape(told));
    }
    for (world, answer) in &findings.answers {
        let _ = writeln!(body, "<li><b>{}</b>: {}</li>", escape(world), escape(answer));
    }
    let _ = writeln!(body, "</ul>\n<p>Sealed as {}</p>", findings.seal);
    for found in findings.places.iter().filter(|found| found.main) {
        let title = format!("{}, {} mind, {}", found.world, found.mind, found.phase.name());
        let _ = writeln!(body, "<h2>{}</h2>\n<p>{} paths</p>", escape(&title), found.paths);
        let rows: Vec<(String, Difference)> = found.against.clone();
        body.push_str(&forest(&format!("{} minus", findings.thesis), &rows));
    }
    for world in &experiment.worlds {
        for mind in &experiment.minds {
            let dial = report::along_the_dial(&findings.places, &world.name, &mind.name, Phase::Reporting);
            if dial.len() > 1 {
                let named = |f: &&WorldFinding| {
                    let (control, d) = report::hardest(f)?;
                    let often = if f.dial == 0.0 { "never".to_owned() } else { format!("every {} days", f.dial) };
                    Some((format!("{often}: {control}"), *d))
                };
                let rows: Vec<(String, Difference)> = dial.iter().filter_map(named).collect();
                let _ = writeln!(body, "<h2>{}, {} mind, over the dial</h2>", escape(&world.name), escape(&mind.name));
                body.push_str(&forest(&format!("{} minus its hardest control", findings.thesis), &rows));
            }
        }
    }
    page::page(&findings.name, &body)
}

/// Differences with their intervals, one below the other, around zero.
fn forest(title: &str, rows: &[(String, Difference)]) -> String {
    let far = rows.iter().map(|(_, d)| d.low.abs().max(d.high.abs())).fold(0.001, f64::max) * 1.05;
    let x = |value: f64| 500.0 + value / far * 240.0;
    let (height, mut drawn) = (rows.len() * 24 + 34, String::new());
    for (at, (name, d)) in rows.iter().enumerate() {
        let y = at * 24 + 30;
        let _ = writeln!(
            drawn,
            "<text x=\"0\" y=\"{}\">{}</text><path d=\"M{:.1} {y}H{:.1}\" stroke=\"#0072b2\" stroke-width=\"2\"/>\
             <circle cx=\"{:.1}\" cy=\"{y}\" r=\"4\" fill=\"#0072b2\"/><text x=\"760\" y=\"{}\">{:+.4}</text>",
            y + 4,
            escape(name),
            x(d.low),
            x(d.high),
            x(d.mean),
            y + 4,
            d.mean
        );
    }
    format!(
        "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 830 {height}\" font-size=\"13\" role=\"img\" aria-label=\"{}\">\
         <path d=\"M500 14V{height}\" stroke=\"#888\" stroke-dasharray=\"3 3\"/><text x=\"496\" y=\"10\">0</text>\n{drawn}</svg></figure>\n",
        escape(title),
        escape(title)
    )
}
