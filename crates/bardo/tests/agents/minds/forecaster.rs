//! The forecaster of the Python package, plugged in as a mind, on real hours that it was not fitted to: beside the rules, and
//! by itself. The unit is a window of the calendar, over which the coins are averaged; the same hours for every arm.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use golem::event::Event;
use golem::prediction::Voice;
use golem::{Record, rule};
use vault::Reader;

use crate::common::{Tent, full};

const FORECASTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/examples/volatility.py");
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/src");
/// Where volatility stands among the domains of a market.
const VOLATILITY: usize = 1;
const COINS: [&str; 4] = ["eth", "btc", "link", "aave"];
/// Hours of a window: a quarter of a year.
const WINDOW: u64 = 2_160;
const FIRST: u64 = 1_704_067_200;

fn hours(coin: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hourly");
    let path = folder.join(format!("{coin}_usdt_1h.csv.gz"));
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("BARDO_REALDATA").is_none(), "{} is absent", path.display());
    None
}

/// What was said of volatility over a life, and what anyone would have said: how wrong each was in all.
fn skill(tent: &Tent, name: &str) -> f64 {
    let (mut open, mut wrong, mut naively) = (VecDeque::new(), 0.0, 0.0);
    let hear = |record: Record| {
        for event in &record.events {
            match event {
                Event::Rule(rule::Event::Predicted { domain, naive, far, .. })
                    if usize::from(*domain) == VOLATILITY =>
                {
                    open.push_back((*naive, naive + f64::from(*far)));
                }
                Event::Rule(rule::Event::Scored { domain, actual }) if usize::from(*domain) == VOLATILITY => {
                    let (naive, said) = open.pop_front().unwrap();
                    wrong += (said - actual).abs();
                    naively += (naive - actual).abs();
                }
                Event::Rule(rule::Event::Voided { domain }) if usize::from(*domain) == VOLATILITY => {
                    open.pop_front();
                }
                _ => {}
            }
        }
        Ok::<_, vault::Error>(ControlFlow::Continue(()))
    };
    Reader::open(&tent.golem(name).database()).unwrap().replay(hear).unwrap();
    1.0 - wrong / naively
}

/// Lives a window; gives its skill, and its mind's part of the say after each ninth of it.
fn live(tent: &Tent, name: &str, coin: &str, start: u64, kind: &str, minded: bool) -> (f64, Vec<f64>) {
    let start = jiff::Timestamp::from_second(start as i64).unwrap().strftime("world.start=%F").to_string();
    let (kind, mind) = (format!("mind.kind={kind}"), format!("python3 {FORECASTER}"));
    let mut args = vec!["golem", "new", name, "--seed", "9815", "--data", coin, "--credit", "20", "--capital", "20"];
    for set in ["mortality.mode=immortal", start.as_str(), kind.as_str()] {
        args.extend(["--set", set]);
    }
    if minded {
        args.extend(["--mind", &mind, "--env", "PYTHONPATH"]);
    }
    let run = |args: &[&str]| {
        let output = tent.command(args).env("PYTHONPATH", PACKAGE).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&args);
    let parts = if minded { 9 } else { 1 };
    let mut say = Vec::new();
    for _ in 0..parts {
        run(&["golem", "run", name, "--speed", "max", "--ticks", &(WINDOW / parts).to_string()]);
        let life = Reader::open(&tent.golem(name).database()).unwrap().wake().unwrap().0;
        say.push(life.life().say(VOLATILITY, Voice::Outside));
    }
    (skill(tent, name), say)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half of a 95 % interval of a mean over windows.
fn half(values: &[f64]) -> f64 {
    let (mean, n) = (mean(values), values.len() as f64);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Student's t for eight windows; there are never many more.
    2.37 * (variance / n).sqrt()
}

#[test]
fn a_forecaster_of_thirty_lines_is_followed_as_far_as_it_is_right() {
    let coins = &COINS[..full(4, 1) as usize];
    if coins.iter().any(|coin| hours(coin).is_none()) {
        return eprintln!("skipped: no real hours here");
    }
    let lines = std::fs::read_to_string(FORECASTER).unwrap().lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 30, "{lines}");
    let (mut rules, mut beside, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    let mut says: Vec<Vec<f64>> = Vec::new();
    for window in 0..full(8, 1) {
        let start = FIRST + window * WINDOW * 3_600;
        let mut arms = [Vec::new(), Vec::new(), Vec::new()];
        for coin in coins {
            let tent = Tent::new();
            let hours = hours(coin).unwrap();
            tent.ok([Path::new("data"), Path::new("import"), &hours, Path::new("--name"), Path::new(coin)]);
            arms[0].push(live(&tent, "rules", coin, start, "rules", false).0);
            let (skill, say) = live(&tent, "beside", coin, start, "rules", true);
            arms[1].push(skill);
            says.push(say);
            arms[2].push(live(&tent, "alone", coin, start, "outside", true).0);
        }
        rules.push(mean(&arms[0]));
        beside.push(mean(&arms[1]));
        alone.push(mean(&arms[2]));
    }
    let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>();
    let (gain, by_itself) = (less(&beside, &rules), less(&alone, &rules));
    let grew: Vec<String> = (0..9)
        .map(|part| mean(&says.iter().map(|say| say[part]).collect::<Vec<_>>()))
        .map(|say| format!("{:.0}", 100.0 * say))
        .collect();
    println!(
        "counted: volatility, {} windows of {WINDOW} hours since 2024 x {} coins: rules {:+.4}, with the forecaster {:+.4} ({:+.4} ± {:.4} on the rules), the forecaster alone {:+.4} ({:+.4} ± {:.4})",
        rules.len(),
        coins.len(),
        mean(&rules),
        mean(&beside),
        mean(&gain),
        half(&gain),
        mean(&alone),
        mean(&by_itself),
        half(&by_itself)
    );
    println!("counted: its part of the say after each ninth, in per cent: {}", grew.join(" "));
    assert!(mean(&gain) > -0.01, "{gain:?}");
    assert!(says.iter().all(|say| *say.last().unwrap() > 0.0), "{says:?}");
}
