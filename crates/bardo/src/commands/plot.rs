//! `golem show --plot`: a life line in eighty columns.

use golem::information::Sign;
use golem::mortality::phase::Phase;
use shell::view::history::{History, LookRow};

use crate::draw::Dots;

const COLUMNS: usize = 68;
const ROWS: usize = 5;

/// Lines to print, one below the other.
pub(crate) fn draw(history: &History) -> Vec<String> {
    if history.looks.is_empty() {
        return vec!["  nothing to draw yet".to_owned()];
    }
    // By time, not by look: who saves its strength looks half as often.
    let look = |dot: usize| {
        let day = history.end() * (dot as f64 + 0.5) / (COLUMNS * 2) as f64;
        let at = history.looks.partition_point(|look| look.day < day);
        &history.looks[at.min(history.looks.len() - 1)]
    };
    let line = |value: fn(&LookRow) -> f64| (0..COLUMNS * 2).map(|dot| value(look(dot))).collect::<Vec<f64>>();
    let mut lines = panel("vitality", (0.0, 1.0), &[line(|look| look.vitality)], |value| format!("{value:.2}"));
    lines.push(format!("{:9} {}", "phase", phases(history)));
    if !history.nights.is_empty() {
        lines.push(format!("{:9} {}", "dreams", nights(history)));
    }
    lines.push(format!("{:9} t thriving  s stable  c conservation  d declining  x terminal", ""));
    let skill = line(|look| look.skill);
    let (low, high) = skill.iter().fold((0.4, 0.6), |(low, high): (f64, f64), at| (low.min(*at), high.max(*at)));
    let naive = vec![0.5; skill.len()];
    let title = "skill (dotted: 0.50, as good as naive)";
    lines.extend(panel(title, (low, high), &[skill, naive], |value| format!("{value:.2}")));
    let (returned, held) = (line(|look| look.returned), line(|look| look.held));
    let all = returned.iter().chain(&held);
    let (low, high) = all.fold((-0.01, 0.01), |(low, high): (f64, f64), at| (low.min(*at), high.max(*at)));
    let percent = |value: f64| crate::output::percent(value, 0);
    lines.extend(panel("return (dotted: buy and hold)", (low, high), &[returned, held], percent));
    let end = format!("day {:.1}{}", history.end(), if history.died.is_some() { " †" } else { "" });
    lines.push(format!("{:9} day 0{end:>width$}", "", width = COLUMNS - 5));
    lines.extend(information(history));
    lines
}

/// The information in its recent claims, beside the most they ever held; and a sign of trouble, if there is one.
fn information(history: &History) -> Vec<String> {
    let Some(last) = history.information.last() else { return Vec::new() };
    let most = history.information.iter().map(|window| window.bits).fold(0.0, f64::max);
    let bits = format!(
        "{:9} {:.2} of information in its recent claims ({:.3} a tick); at most {most:.2}",
        "bits", last.bits, last.bits_a_tick
    );
    let sign = history.sign.map(|sign| match sign {
        Sign::Decoupled => "it looks well, but its claims have little to do with what happens",
        Sign::Overfitted => "far less than before: it relies on what no longer holds",
    });
    std::iter::once(bits).chain(sign.map(|sign| format!("{:9} {sign}", ""))).collect()
}

/// The first line whole, any other dotted, between two figures.
fn panel(title: &str, (low, high): (f64, f64), values: &[Vec<f64>], figure: impl Fn(f64) -> String) -> Vec<String> {
    let mut dots = Dots::new(COLUMNS, ROWS);
    for (at, line) in values.iter().enumerate() {
        let heights: Vec<f64> = line.iter().map(|value| (value - low) / (high - low)).collect();
        dots.line(&heights, if at == 0 { 1 } else { 2 });
    }
    let mut lines = vec![String::new(), title.to_owned()];
    for (at, row) in dots.rows().enumerate() {
        let label = match at {
            0 => figure(high),
            at if at + 1 == ROWS => figure(low),
            _ => String::new(),
        };
        lines.push(format!("{label:>8} │{row}"));
    }
    lines
}

/// The phase it was in, column by column.
fn phases(history: &History) -> String {
    let letter = |column: usize| {
        let day = history.end() * (column as f64 + 0.5) / COLUMNS as f64;
        let phase = history.phases.iter().rev().find(|(from, _)| *from <= day).map(|(_, phase)| *phase);
        match phase {
            Some(Phase::Thriving) => 't',
            Some(Phase::Stable) => 's',
            Some(Phase::Conservation) => 'c',
            Some(Phase::Declining) => 'd',
            Some(Phase::Terminal) => 'x',
            None => ' ',
        }
    };
    (0..COLUMNS).map(letter).collect()
}

fn nights(history: &History) -> String {
    let mut columns = vec![' '; COLUMNS];
    for night in &history.nights {
        let column = (night / history.end().max(f64::MIN_POSITIVE) * COLUMNS as f64) as usize;
        columns[column.min(COLUMNS - 1)] = '·';
    }
    columns.iter().collect::<String>().trim_end().to_owned()
}
