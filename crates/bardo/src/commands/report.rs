//! `golem report`: a life in pictures.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use golem::books::Books;
use golem::mortality::phase::Phase;
use golem::stress::Band;
use golem::thanatopsis::Testament;
use host::legacy::testament;
use host::{Error, GolemHome};

use crate::history::{History, Look};
use crate::output::{self, line, portrait};
use crate::page::{self, BLACK, Chart, INKS, Ink, Series, escape, percent, round_marks, span};

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
    let page = page::page(&format!("{}: a life", place.name), &body(&history, testament.as_ref()));
    match out {
        None => line(page.trim_end()),
        Some(path) => {
            output::save(path, page.as_bytes())?;
            line(format!("the life of {} is in {}", place.name, path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn body(history: &History, testament: Option<&Testament>) -> String {
    let Some(life) = &history.life else { return String::new() };
    let mut text = format!("<h1>{}</h1>\n", escape(life.birth.name.as_str()));
    let standing = match &life.death {
        Some(death) => format!("Died on day {:.1}, {}.", history.end(), death.cause),
        None => format!("Alive on day {:.1}, {}.", history.end(), output::phase(life.phase())),
    };
    let _ = writeln!(text, "<p class=\"lead\">{}</p>", escape(&standing));
    let _ = writeln!(text, "<p>Net for its owner {}.</p>", escape(&Books::of(life).net()));
    if history.looks.is_empty() {
        return text + "<p>It has not looked at its world yet.</p>\n";
    }
    for chart in charts(history) {
        text += &chart.html();
    }
    if let Some(testament) = testament {
        text += "<h2>What it left</h2>\n<div class=\"words\">\n";
        for section in testament.sections.iter().filter(|section| section.lines != ["nothing to say"]) {
            let _ = writeln!(text, "<section><h3>{}</h3><ul>", escape(&section.title));
            section.lines.iter().for_each(|line| text += &format!("<li>{}</li>\n", escape(line)));
            text += "</ul></section>\n";
        }
        text += "</div>\n";
    }
    let _ = writeln!(text, "<h2>In figures</h2>\n<pre>{}</pre>", escape(&portrait(life, false)));
    text + "<p class=\"note\">Drawn from its journal. One life proves nothing, for it or against it.</p>\n"
}

fn charts(history: &History) -> Vec<Chart> {
    vec![life_line(history), parts(history), skills(history), money(history), load(history)]
}

fn series(history: &History, name: &str, ink: Ink, value: impl Fn(&Look) -> Option<f64>) -> Series {
    let points = history.looks.iter().filter_map(|look| Some((look.day, value(look)?))).collect();
    Series { name: name.to_owned(), ink, points }
}

fn life_line(history: &History) -> Chart {
    Chart {
        title: "Life line",
        note: if history.nights.is_empty() {
            "Vitality, on the phases it went through."
        } else {
            "Vitality, on the phases it went through. Marks below: dreams."
        },
        range: (0.0, 1.0),
        marks: [0.1, 0.3, 0.5, 0.7, 1.0].map(|at| (at, format!("{at:.1}"))).to_vec(),
        series: vec![series(history, "vitality", BLACK, |look| Some(look.vitality))],
        bands: phases(history),
        ticks: history.nights.clone(),
        ..Chart::over(history.end(), history.died)
    }
}

fn parts(history: &History) -> Chart {
    Chart {
        title: "What vitality is made of",
        note: "It is the product of these three: none makes up for another.",
        range: (0.0, 1.0),
        marks: [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format!("{at:.2}"))).to_vec(),
        series: vec![
            series(history, "money", INKS[0], |look| Some(look.money)),
            series(history, "skill", INKS[1], |look| Some(look.touch)),
            series(history, "age", INKS[2], |look| Some(look.age)),
        ],
        ..Chart::over(history.end(), history.died)
    }
}

fn skills(history: &History) -> Chart {
    let by_domain = history.domains.iter().enumerate();
    let skills: Vec<Series> =
        by_domain.map(|(at, name)| series(history, name, INKS[at % INKS.len()], |look| look.skills[at])).collect();
    let (worst, best) = span(&skills, (0.35, 0.65));
    let tenths = (0..=10).map(|tenth| f64::from(tenth) / 10.0).filter(|at| (worst..best).contains(at));
    Chart {
        title: "Skill, by domain",
        note: "0.5 is as good as the naive forecast, 1 is perfect.",
        range: (worst, best),
        marks: tenths.map(|at| (at, format!("{at:.1}"))).collect(),
        series: skills,
        ..Chart::over(history.end(), history.died)
    }
}

fn money(history: &History) -> Chart {
    let money = [
        series(history, "what it made", INKS[0], |look| Some(look.returned)),
        series(history, "buy and hold", INKS[1], |look| Some(look.held)),
    ];
    let (low, high) = span(&money, (-0.01, 0.01));
    Chart {
        title: "Return vs. buy and hold",
        note: if history.actions.is_empty() {
            "What became of what it was given to act with. It never acted."
        } else {
            "What became of what it was given to act with. Marks below: its actions."
        },
        range: (low, high),
        marks: round_marks(low, high, percent),
        series: money.into(),
        ticks: history.actions.clone(),
        ..Chart::over(history.end(), history.died)
    }
}

fn load(history: &History) -> Chart {
    let bands = [Band::Elevated, Band::Constrained, Band::Dominant, Band::Crisis];
    Chart {
        title: "Load",
        note: "How much presses on it. From 0.55 it ventures nothing new, from 0.75 it takes on no exposure.",
        range: (0.0, 1.0),
        marks: bands.map(|band| (band.from(), format!("{:.2}", band.from()))).to_vec(),
        series: vec![series(history, "load", INKS[0], |look| Some(look.load))],
        ..Chart::over(history.end(), history.died)
    }
}

/// Each stretch of a phase: from, to, and how it is coloured.
fn phases(history: &History) -> Vec<(f64, f64, Phase)> {
    let ends = history.phases.iter().skip(1).map(|(day, _)| *day).chain([history.end()]);
    history.phases.iter().zip(ends).map(|((from, phase), to)| (*from, to, *phase)).collect()
}
