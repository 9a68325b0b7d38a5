//! `golem report`: a life in pictures, one HTML file that needs nothing else.
//!
//! Lines are drawn in SVG that stretches with the page; words and figures stand beside it as text, so that they keep
//! their size on a phone and in print.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use golem::mortality::phase::Phase;
use golem::stress::Band;
use golem::thanatopsis::Testament;
use host::{Error, GolemHome, closing};

use crate::history::{History, Look};
use crate::output::{self, line, portrait};

/// Okabe and Ito's colours, which nearly everyone can tell apart; dashes for who cannot, and for grey paper.
const INKS: [(&str, &str); 6] = [
    ("#0072b2", ""),
    ("#d55e00", "7 3"),
    ("#009e73", "2 3"),
    ("#cc79a7", "10 3 2 3"),
    ("#56b4e9", "5 5"),
    ("#e69f00", "1 2"),
];
const BLACK: (&str, &str) = ("#000000", "");

pub(crate) fn report(place: &GolemHome, out: Option<&Path>, json: bool) -> Result<ExitCode, Error> {
    let history = History::read(place)?;
    if json {
        output::json(&history);
        return Ok(ExitCode::SUCCESS);
    }
    let testament = match &history.life {
        Some(life) => closing::testament(place, life)?,
        None => None,
    };
    let page = page(&history, testament.as_ref());
    match out {
        None => line(page.trim_end()),
        Some(path) => {
            let wrote = fs::write(path, page);
            wrote.map_err(|source| Error::Io { what: "cannot write", path: path.to_owned(), source })?;
            line(format!("the life of {} is in {}", place.name, path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn page(history: &History, testament: Option<&Testament>) -> String {
    let Some(life) = &history.life else { return String::new() };
    let name = escape(life.birth.name.as_str());
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{name}: a life</title>\n<style>{STYLE}</style>\n\
         <h1>{name}</h1>\n"
    );
    let standing = match &life.death {
        Some(death) => format!("Died on day {:.1}, {}.", history.end(), death.cause),
        None => format!("Alive on day {:.1}, {}.", history.end(), output::phase(life.phase())),
    };
    let _ = writeln!(text, "<p class=\"lead\">{}</p>", escape(&standing));
    if history.looks.is_empty() {
        return text + "<p>It has not looked at its world yet.</p>\n";
    }
    for chart in charts(history) {
        text += &chart.html(history.end());
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
    let series = |name: &str, ink, value: &dyn Fn(&Look) -> Option<f64>| Series {
        name: name.to_owned(),
        ink,
        points: history.looks.iter().filter_map(|look| Some((look.day, value(look)?))).collect(),
    };
    let shares = || [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format!("{at:.2}"))).to_vec();
    let by_domain = history.domains.iter().enumerate();
    let skills: Vec<Series> =
        by_domain.map(|(at, name)| series(name, INKS[at % INKS.len()], &|look| look.skills[at])).collect();
    let money = [
        series("what it made", INKS[0], &|look| Some(look.returned)),
        series("simply holding", INKS[1], &|look| Some(look.held)),
    ];
    let (low, high) = span(&money, (-0.01, 0.01));
    let (worst, best) = span(&skills, (0.35, 0.65));
    vec![
        Chart {
            title: "Life line",
            note: if history.nights.is_empty() {
                "Vitality, on the phases it went through."
            } else {
                "Vitality, on the phases it went through. Ticks below are nights it dreamt."
            },
            range: (0.0, 1.0),
            marks: [0.1, 0.3, 0.5, 0.7, 1.0].map(|at| (at, format!("{at:.1}"))).to_vec(),
            series: vec![series("vitality", BLACK, &|look| Some(look.vitality))],
            bands: phases(history),
            ticks: history.nights.clone(),
            died: history.died,
        },
        Chart {
            title: "What vitality is made of",
            note: "It is the product of these three: none makes up for another.",
            range: (0.0, 1.0),
            marks: shares(),
            series: vec![
                series("money", INKS[0], &|look| Some(look.money)),
                series("skill", INKS[1], &|look| Some(look.touch)),
                series("age", INKS[2], &|look| Some(look.age)),
            ],
            ..Chart::of(history)
        },
        Chart {
            title: "Skill, by domain",
            note: "0.5 is as good as the naive forecast, 1 is perfect.",
            range: (worst, best),
            marks: (0..=10)
                .map(|tenth| f64::from(tenth) / 10.0)
                .filter(|at| (worst..best).contains(at))
                .map(|at| (at, format!("{at:.1}")))
                .collect(),
            series: skills,
            ..Chart::of(history)
        },
        Chart {
            title: "Money beside holding",
            note: if history.actions.is_empty() {
                "What became of what it was given to act with. It never acted."
            } else {
                "What became of what it was given to act with. Ticks below are its actions."
            },
            range: (low, high),
            marks: round_marks(low, high, percent),
            series: money.into(),
            ticks: history.actions.clone(),
            ..Chart::of(history)
        },
        Chart {
            title: "Load",
            note: "How much presses on it. From 0.55 it ventures nothing new, from 0.75 it takes on no exposure.",
            range: (0.0, 1.0),
            marks: [Band::Elevated, Band::Constrained, Band::Dominant, Band::Crisis]
                .map(|band| (band.from(), format!("{:.2}", band.from())))
                .to_vec(),
            series: vec![series("load", INKS[0], &|look| Some(look.load))],
            ..Chart::of(history)
        },
    ]
}

/// Each stretch of a phase: from, to, and how it is coloured.
fn phases(history: &History) -> Vec<(f64, f64, Phase)> {
    let ends = history.phases.iter().skip(1).map(|(day, _)| *day).chain([history.end()]);
    history.phases.iter().zip(ends).map(|((from, phase), to)| (*from, to, *phase)).collect()
}

/// From the lowest to the highest of them, and at least this much, with a little room.
fn span(series: &[Series], least: (f64, f64)) -> (f64, f64) {
    let values = series.iter().flat_map(|series| &series.points).map(|(_, value)| *value);
    let (low, high) = values.fold(least, |(low, high), value| (low.min(value), high.max(value)));
    let room = (high - low) * 0.04;
    (low - room, high + room)
}

/// A few round figures between two.
fn round_marks(low: f64, high: f64, figure: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    let steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| (high - low) / step <= 5.0).unwrap_or(high - low);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|at| at as f64 * step).map(|at| (at, figure(at))).collect()
}

fn percent(share: f64) -> String {
    let text = format!("{:+.0} %", share * 100.0);
    if matches!(text.as_str(), "+0 %" | "-0 %") { "0 %".to_owned() } else { text }
}

struct Series {
    name: String,
    ink: (&'static str, &'static str),
    points: Vec<(f64, f64)>,
}

struct Chart {
    title: &'static str,
    note: &'static str,
    range: (f64, f64),
    /// Lines across, with their figures.
    marks: Vec<(f64, String)>,
    series: Vec<Series>,
    bands: Vec<(f64, f64, Phase)>,
    /// Days marked along the bottom.
    ticks: Vec<f64>,
    died: Option<f64>,
}

impl Chart {
    /// Empty, but for the end.
    fn of(history: &History) -> Chart {
        Chart {
            title: "",
            note: "",
            range: (0.0, 1.0),
            marks: Vec::new(),
            series: Vec::new(),
            bands: Vec::new(),
            ticks: Vec::new(),
            died: history.died,
        }
    }

    fn html(&self, end: f64) -> String {
        let (low, high) = self.range;
        let x = |day: f64| day / end.max(f64::MIN_POSITIVE) * 1_000.0;
        let y = |value: f64| (high - value) / (high - low) * 300.0;
        let mut drawn = String::new();
        for (from, to, phase) in &self.bands {
            let (from, to) = (x(*from), x(*to));
            let _ =
                writeln!(drawn, "<rect class=\"{phase}\" x=\"{from:.1}\" width=\"{:.1}\" height=\"300\"/>", to - from);
        }
        for (value, _) in &self.marks {
            let _ = writeln!(drawn, "<path class=\"mark\" d=\"M0 {0:.1}H1000\"/>", y(*value));
        }
        for day in &self.ticks {
            let _ = writeln!(drawn, "<path class=\"tick\" d=\"M{:.1} 300V282\"/>", x(*day));
        }
        if let Some(day) = self.died {
            let _ = writeln!(drawn, "<path class=\"died\" d=\"M{:.1} 0V300\"/>", x(day));
        }
        for series in &self.series {
            let points: Vec<String> =
                series.points.iter().map(|(day, v)| format!("{:.1},{:.1}", x(*day), y(*v))).collect();
            let (colour, dash) = series.ink;
            let points = points.join(" ");
            let _ = writeln!(drawn, "<polyline stroke=\"{colour}\" stroke-dasharray=\"{dash}\" points=\"{points}\"/>");
        }
        let figures = self.marks.iter().fold(String::new(), |text, (value, figure)| {
            text + &format!("<span style=\"top:{:.1}%\">{figure}</span>", y(*value) / 3.0)
        });
        let death = self.died.map_or("", |_| " †");
        format!(
            "<figure>\n<h2>{}</h2>\n<p class=\"note\">{}</p>\n<p class=\"legend\">{}</p>\n<div class=\"chart\">\
             <div class=\"figures\">{figures}</div>\n<svg viewBox=\"0 0 1000 300\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{0}\">\n{drawn}</svg>\n<div class=\"days\"><span>day 0</span><span>{:.1}</span>\
             <span>{end:.1}{death}</span></div></div>\n</figure>\n",
            self.title,
            self.note,
            self.legend(),
            end / 2.0,
        )
    }

    fn legend(&self) -> String {
        let lines = self.series.iter().filter(|_| self.series.len() > 1).map(|series| {
            let (colour, dash) = series.ink;
            format!(
                "<span><svg viewBox=\"0 0 34 8\"><path d=\"M0 4H34\" stroke=\"{colour}\" stroke-dasharray=\"{dash}\"/></svg> {}</span>",
                escape(&series.name)
            )
        });
        let been = |phase: &Phase| self.bands.iter().any(|(_, _, other)| other == phase);
        let phases = Phase::ALL.into_iter().rev().filter(been);
        let phases = phases.map(|phase| format!("<span><i class=\"{phase}\"></i> {phase}</span>"));
        lines.chain(phases).collect::<Vec<_>>().join(" ")
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "
  body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; color: #111; background: #fff;
         font: 16px/1.45 system-ui, sans-serif }
  h1 { margin: 0; font-size: 2rem } h2 { margin: 0; font-size: 1.15rem } h3 { margin: 0; font-size: 1rem }
  h3::first-letter { text-transform: uppercase }
  .lead { margin: .2rem 0 0; font-size: 1.1rem } .note { margin: 0; color: #555; font-size: .9rem }
  figure { margin: 1.8rem 0 0; break-inside: avoid } figure + h2, .words + h2 { margin: 2rem 0 .5rem }
  .legend { margin: .3rem 0; font-size: .9rem } .legend span { margin-right: 1em; white-space: nowrap }
  .legend svg { width: 34px; height: 8px; vertical-align: middle } .legend i { display: inline-block; width: 14px;
         height: 14px; vertical-align: -2px; border: 1px solid #aaa }
  .chart { display: grid; grid-template-columns: 3.2rem 1fr; grid-template-rows: 13rem auto }
  .chart svg { width: 100%; height: 100%; border-bottom: 1px solid #555; overflow: visible }
  .figures { position: relative; font-size: .8rem; color: #555 }
  .figures span { position: absolute; right: .5rem; white-space: nowrap; transform: translateY(-50%) }
  .days { grid-column: 2; display: flex; justify-content: space-between; font-size: .8rem; color: #555 }
  svg * { vector-effect: non-scaling-stroke; fill: none } polyline, .legend path { stroke-width: 2 }
  .mark { stroke: #ccc; stroke-width: 1 } .tick { stroke: #0072b2; stroke-width: 1.5 }
  .died { stroke: #000; stroke-width: 2; stroke-dasharray: 3 3 }
  rect.thriving, i.thriving { fill: #b9e3d4; background: #b9e3d4 } rect.stable, i.stable { fill: #e2f1fa; background: #e2f1fa }
  rect.conservation, i.conservation { fill: #faf6c3; background: #faf6c3 }
  rect.declining, i.declining { fill: #f8dfae; background: #f8dfae }
  rect.terminal, i.terminal { fill: #efb995; background: #efb995 }
  .words { columns: 24rem 2; column-gap: 2rem } section { break-inside: avoid; padding-top: .6rem }
  ul { margin: 0; padding-left: 1.1rem; font-size: .9rem; overflow-wrap: anywhere }
  pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem }
  @media print { body { max-width: none; padding: 0 } * { print-color-adjust: exact } .chart { grid-template-rows: 9rem auto } }
";
