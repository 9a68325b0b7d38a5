//! The report on age as one file with pictures, which loads nothing from anywhere.

use age::{Axis, Cause, Measure, Shelf, Study};

use super::text;
use crate::output::count;
use crate::page::{BLACK, Chart, INKS, Series, escape, page as whole, round_marks, span};

pub(super) fn page(studies: &[Study], shelf: &Shelf<'_>) -> String {
    let mut body = String::from("<h1>What age does to your agents</h1>\n");
    body +=
        "<p class=\"lead\">From the records they left on this machine. Figures alone; nothing was sent anywhere.</p>\n";
    for study in studies {
        if studies.len() > 1 {
            body += &format!("<h1>{}</h1>\n", escape(&study.of));
        }
        body += &one(study);
    }
    body += "<section><h3>what was read</h3><ul>\n";
    for (harness, lines) in &shelf.lines {
        body += &format!(
            "<li>{}: {} files, {} lines, {} of a kind unknown here, {} that could not be read</li>\n",
            harness.name(),
            count(lines.files),
            count(lines.read),
            count(lines.unknown),
            count(lines.unreadable)
        );
    }
    whole("What age does to your agents", &(body + "</ul></section>\n"))
}

fn one(study: &Study) -> String {
    let mut body = format!("<p class=\"lead\">{}</p>\n", escape(&text::head(study)));
    body += &format!("<p class=\"lead\"><b>{}.</b></p>\n<ul>\n", escape(text::verdict(study)));
    for found in study.findings.iter().filter(|found| found.trend.is_some()) {
        body += &format!("<li>{}</li>\n", escape(&text::finding(found)));
    }
    body += &format!("</ul>\n<p>When to start over: {}</p>\n", escape(&text::start_over(study)));
    for axis in Axis::ALL {
        for measure in Measure::ALL {
            body += &curve(study, measure, axis);
        }
    }
    body + &survival(study)
}

/// The curve of a measure over all lives, and of each life compared with itself.
fn curve(study: &Study, measure: Measure, axis: Axis) -> String {
    let rows: Vec<_> = study.rows.iter().filter(|row| row.measure == measure && row.axis == axis).collect();
    let there = rows.iter().filter(|row| row.rate.is_some()).count();
    if there < 2 {
        return String::new();
    }
    let scale = |value: f64| if measure.is_rate() { value } else { value / 1e6 };
    let first = rows[0].rate.unwrap_or(0.0);
    let middle = |at: usize| at as f64 + 0.5;
    let all = rows.iter().enumerate().filter_map(|(at, row)| Some((middle(at), scale(row.rate?)))).collect();
    let same = |of: fn(&age::Estimate) -> f64| {
        let own =
            rows.iter().enumerate().filter_map(|(at, row)| Some((middle(at), scale(first + of(&row.same_lives?)))));
        std::iter::once((middle(0), scale(first))).chain(own).collect::<Vec<_>>()
    };
    let series = vec![
        Series { name: "each life against itself".to_owned(), ink: INKS[0], points: same(|found| found.value) },
        Series { name: "between these, 95 %".to_owned(), ink: INKS[4], points: same(|found| found.low) },
        Series { name: "and these".to_owned(), ink: INKS[4], points: same(|found| found.high) },
        Series { name: "all lives in one heap".to_owned(), ink: BLACK, points: all },
    ];
    let range = span(&series, (0.0, if measure.is_rate() { 0.05 } else { 0.001 }));
    let figure = |value: f64| if measure.is_rate() { share(value) } else { format!("${value:.2}") };
    let parts = axis.parts();
    let below = [parts[0].0.clone(), parts[parts.len() / 2].0.clone(), parts[parts.len() - 1].0.clone()];
    let about = match axis {
        Axis::Context => "by how full the context is",
        Axis::Calls => "by calls since birth",
    };
    Chart {
        title: format!("{}, {about}", measure.name()),
        note: format!(
            "{} at first, {} at last",
            text::lives(rows[0].lives as u64),
            count(rows[rows.len() - 1].lives as u64)
        ),
        range,
        marks: round_marks(range.0, range.1, figure),
        series,
        end: rows.len() as f64,
        below,
        ..Chart::default()
    }
    .html()
}

fn survival(study: &Study) -> String {
    let steps = &study.survival.steps;
    if steps.len() < 2 {
        return String::new();
    }
    let line = |of: &dyn Fn(usize) -> f64| {
        let told = (0..steps.len()).map(|at| (at as f64 + 1.0, of(at)));
        told.collect::<Vec<_>>()
    };
    let mut series = vec![Series {
        name: "go on".to_owned(),
        ink: BLACK,
        points: std::iter::once((0.0, 1.0)).chain(line(&|at| steps[at].alive)).collect(),
    }];
    let names = ["finished", "interrupted", "failed", "cut"];
    for (which, name) in names.into_iter().enumerate().take(Cause::ALL.len()) {
        series.push(Series { name: name.to_owned(), ink: INKS[which], points: line(&|at| steps[at].ended[which]) });
    }
    let last = steps.len() - 1;
    Chart {
        title: "When lives end, and of what".to_owned(),
        note: format!("{}; each step is twice as many calls", text::lives(study.survival.lives as u64)),
        range: (0.0, 1.0),
        marks: round_marks(0.0, 1.0, share),
        series,
        end: steps.len() as f64,
        below: ["no calls".to_owned(), count(steps[last / 2].calls as u64), count(steps[last].calls as u64)],
        ..Chart::default()
    }
    .html()
}

fn share(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}
