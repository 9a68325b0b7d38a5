//! A page of pictures: one HTML file that needs nothing else.
//!
//! Lines are drawn in SVG that stretches with the page; words and figures stand beside it as text, so that they keep
//! their size on a phone and in print.

use std::fmt::Write;

use golem::mortality::phase::Phase;

/// A colour, and the dashes of its line.
pub(crate) type Ink = (&'static str, &'static str);

/// Okabe and Ito's colours, which nearly everyone can tell apart; dashes for who cannot, and for grey paper.
pub(crate) const INKS: [Ink; 6] = [
    ("#0072b2", ""),
    ("#d55e00", "7 3"),
    ("#009e73", "2 3"),
    ("#cc79a7", "10 3 2 3"),
    ("#56b4e9", "5 5"),
    ("#e69f00", "1 2"),
];
pub(crate) const BLACK: Ink = ("#000000", "");

/// A whole page around what is on it.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<style>{STYLE}</style>\n{body}",
        escape(title)
    )
}

#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) ink: Ink,
    pub(crate) points: Vec<(f64, f64)>,
}

#[derive(Debug, Default)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) range: (f64, f64),
    /// Lines across, with their figures.
    pub(crate) marks: Vec<(f64, String)>,
    pub(crate) series: Vec<Series>,
    pub(crate) bands: Vec<(f64, f64, Phase)>,
    /// Marks along the bottom.
    pub(crate) ticks: Vec<f64>,
    pub(crate) died: Option<f64>,
    /// Where it ends; it begins at nothing.
    pub(crate) end: f64,
    /// Labels below the beginning, the middle and the end.
    pub(crate) below: [String; 3],
}

impl Chart {
    /// Over the days of a life or of many.
    pub(crate) fn over(days: f64, died: Option<f64>) -> Chart {
        let death = died.map_or("", |_| " †");
        let below = ["day 0".to_owned(), format!("{:.1}", days / 2.0), format!("{days:.1}{death}")];
        Chart { range: (0.0, 1.0), died, end: days, below, ..Chart::default() }
    }

    pub(crate) fn html(&self) -> String {
        let (low, high) = self.range;
        let x = |day: f64| day / self.end.max(f64::MIN_POSITIVE) * 1_000.0;
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
        let [begin, middle, end] = &self.below;
        format!(
            "<figure>\n<h2>{}</h2>\n<p class=\"note\">{}</p>\n<p class=\"legend\">{}</p>\n<div class=\"chart\">\
             <div class=\"figures\">{figures}</div>\n<svg viewBox=\"0 0 1000 300\" preserveAspectRatio=\"none\" role=\"img\" \
             aria-label=\"{0}\">\n{drawn}</svg>\n<div class=\"days\"><span>{begin}</span><span>{middle}</span>\
             <span>{end}</span></div></div>\n</figure>\n",
            self.title,
            self.note,
            self.legend(),
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

/// Between the lowest and the highest of them, and at least this much, with a little room.
pub(crate) fn span(series: &[Series], least: (f64, f64)) -> (f64, f64) {
    let values = series.iter().flat_map(|series| &series.points).map(|(_, value)| *value);
    let (low, high) = values.fold(least, |(low, high), value| (low.min(value), high.max(value)));
    let room = (high - low) * 0.04;
    (low - room, high + room)
}

/// A few round figures between two.
pub(crate) fn round_marks(low: f64, high: f64, figure: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    let steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0];
    let step = steps.into_iter().find(|step| (high - low) / step <= 5.0).unwrap_or(high - low);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|at| at as f64 * step).map(|at| (at, figure(at))).collect()
}

pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:+.0} %", share * 100.0);
    if matches!(text.as_str(), "+0 %" | "-0 %") { "0 %".to_owned() } else { text }
}

pub(crate) fn escape(text: &str) -> String {
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
  .chart { margin-top: .6rem; display: grid; grid-template-columns: 3.2rem 1fr; grid-template-rows: 13rem auto }
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
