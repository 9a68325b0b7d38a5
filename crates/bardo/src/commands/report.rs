//! `golem report`: a life in pictures.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use golem::books::Books;
use golem::thanatopsis::Testament;
use shell::legacy::testament;
use shell::view::history::History;
use shell::view::pictures::{Picture, Pictures};
use shell::{Error, GolemHome};

use crate::output::{self, line, portrait};
use crate::page::{self, BLACK, Chart, INKS, Series, escape, percent, round_marks, span};

pub(crate) fn report(place: &GolemHome, out: Option<&Path>, json: bool) -> Result<ExitCode, Error> {
    let history = History::read(place)?;
    if json {
        output::json(&history);
        return Ok(ExitCode::SUCCESS);
    }
    let testament = match &history.life {
        Some(life) => testament::read(place, life)?,
        None => None,
    };
    let page = page::page(&format!("{}: a life", place.name), &body(place, &history, testament.as_ref()));
    match out {
        None => line(page.trim_end()),
        Some(path) => {
            output::save(path, page.as_bytes())?;
            line(format!("the life of {} is in {}", place.name, path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn body(place: &GolemHome, history: &History, testament: Option<&Testament>) -> String {
    let Some(life) = &history.life else { return String::new() };
    let mut text = format!("<h1>{}</h1>\n", escape(place.name.as_str()));
    let standing = match &life.death() {
        Some(death) => format!("Died on day {:.1}, {}.", history.end(), death.cause),
        None => format!("Alive on day {:.1}, {}.", history.end(), output::phase(life.phase())),
    };
    let _ = writeln!(text, "<p class=\"lead\">{}</p>", escape(&standing));
    let _ = writeln!(text, "<p>Net for its owner {}.</p>", escape(&Books::of(life).net()));
    if history.looks.is_empty() {
        return text + "<p>It has not looked at its world yet.</p>\n";
    }
    let mut pictures = Pictures::of(history);
    for picture in std::mem::take(&mut pictures.pictures) {
        text += &chart(&pictures, picture).html();
    }
    if let Some(testament) = testament {
        text += "<h2>What it left</h2>\n<div class=\"words\">\n";
        for (title, lines) in testament.told() {
            let _ = writeln!(text, "<section><h3>{}</h3><ul>", escape(title));
            lines.iter().for_each(|line| text += &format!("<li>{}</li>\n", escape(line)));
            text += "</ul></section>\n";
        }
        text += "</div>\n";
    }
    let _ = writeln!(text, "<h2>In figures</h2>\n<pre>{}</pre>", escape(&portrait(place.name.as_str(), life, false)));
    text + "<p class=\"note\">Drawn from its journal. One life proves nothing, for it or against it.</p>\n"
}

/// Converts a picture of the page into a chart, with figures beside it.
fn chart(pictures: &Pictures, picture: Picture) -> Chart {
    let points = |values: Vec<Option<f64>>| {
        let pairs = pictures.days.iter().zip(values);
        pairs.filter_map(|(day, value)| Some((*day, value?))).collect()
    };
    let alone = picture.lines.len() == 1;
    let inks = |at: usize| if alone && !picture.stretches.is_empty() { BLACK } else { INKS[at % INKS.len()] };
    let lines = picture.lines.into_iter().enumerate();
    let series: Vec<Series> =
        lines.map(|(at, line)| Series { name: line.name, ink: inks(at), points: points(line.values) }).collect();
    let [low, high] = picture.least;
    let (low, high) = if picture.fixed { (low, high) } else { span(&series, (low, high)) };
    let figure = |at: f64| if picture.share { percent(at) } else { decimals(at, &picture.marks) };
    let within = picture.marks.iter().filter(|at| (low..=high).contains(*at));
    let marks = if picture.marks.is_empty() {
        round_marks(low, high, figure)
    } else {
        within.map(|at| (*at, figure(*at))).collect()
    };
    Chart {
        title: picture.title,
        note: picture.note,
        range: (low, high),
        marks,
        series,
        bands: picture.stretches.iter().map(|stretch| (stretch.from, stretch.to, stretch.phase)).collect(),
        ticks: picture.ticks,
        ..Chart::over(pictures.end, pictures.died)
    }
}

/// With one decimal where that says it all.
fn decimals(value: f64, marks: &[f64]) -> String {
    let tenths = marks.iter().all(|mark| ((mark * 10.0).round() - mark * 10.0).abs() < 1e-9);
    if tenths { format!("{value:.1}") } else { format!("{value:.2}") }
}
