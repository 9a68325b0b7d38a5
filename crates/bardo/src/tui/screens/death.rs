//! A death: a stone, what the life came to, its last words, and the four ways on.

use golem::thanatopsis::Testament;
use ratatui::Frame;
use ratatui::layout::{Constraint, Margin, Rect};
use ratatui::text::{Line, Span};

use crate::output::{count, date};
use crate::tui::app::App;
use crate::tui::look::{Styles, columns, figure, hang, lines, percent, rows};

/// The four ways on, as the document has them, with what each does.
pub(crate) const OPTIONS: [(&str, &str); 4] = [
    ("Summon successor", "make an heir from what it left"),
    ("View death reflection", "read its testament whole"),
    ("Browse graveyard", "all who died here"),
    ("Start fresh", "a new golem that inherits nothing"),
];

/// Sections to quote, as far as there is room; what matters most to an heir comes first.
const LAST: [&str; 5] =
    ["what killed me", "what I would change", "what I suspect but cannot prove", "what confused me", "what worked"];

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let Some(status) = app.status() else { return };
    let [_, memorial, words, ways] = rows(
        area,
        [
            Constraint::Length(u16::from(area.height > 30)),
            Constraint::Length(11),
            Constraint::Fill(1),
            Constraint::Length(OPTIONS.len() as u16 + 1),
        ],
    );
    let [stone, facts] = columns(memorial, [Constraint::Length(20), Constraint::Fill(1)]);
    if app.creatures {
        lines(frame, stone.inner(Margin::new(4, 2)), figure(status, look.quiet()));
    }
    let why = status.why.clone().unwrap_or_else(|| "the cause is not known".to_owned());
    let mut told = vec![Line::raw(""), Line::styled(format!("{} is dead", status.name), look.strong())];
    let width = usize::from(facts.width);
    told.extend(hang(&why, width, "", "").into_iter().map(|text| Line::styled(text, look.grave())));
    match &app.testament {
        Some(testament) => told.extend(statistics(testament, look)),
        None => {
            told.push(look.row("lived", format!("{} ticks, generation {}", count(status.tick), status.generation)));
            told.push(Line::raw("its closing (Thanatopsis) is not finished; the testament comes with it"));
        }
    }
    lines(frame, facts, told);
    let inner = look.panel(frame, words, "last words");
    if let Some(testament) = &app.testament {
        lines(frame, inner, last_words(testament, look, usize::from(inner.width)));
    }
    let inner = look.panel(frame, ways, "what now");
    let way = |(at, (name, does)): (usize, &(&'static str, &'static str))| {
        let (mark, style) = if at == app.at { ("›", look.marked()) } else { (" ", look.strong()) };
        Line::from(vec![
            Span::raw(format!("{mark} ")),
            Span::styled(format!("{name:<22}"), style),
            Span::styled(format!("  {does}"), look.quiet()),
        ])
    };
    lines(frame, inner, OPTIONS.iter().enumerate().map(way).collect());
}

fn statistics(testament: &Testament, look: Styles) -> Vec<Line<'static>> {
    let s = &testament.statistics;
    let stain = &testament.bloodstain;
    vec![
        look.row("lived", format!("{} to {}", date(testament.born), date(testament.died))),
        look.row("ticks", format!("{}, generation {}", count(s.ticks), testament.ancestry.generation)),
        look.row("skill", format!("{:.2} at the end, {:.2} at best", s.skill, s.highest_skill)),
        look.row("return", format!("{}, buy and hold {}", percent(s.returned), percent(s.held))),
        look.row("net", format!("{} of {} given", s.books.net, s.books.given.sum())),
        look.row("did", format!("{} claims, {} actions, {} nights", count(s.claims), s.actions, s.nights)),
        look.row("†", format!("bloodstain left in a {} world", stain.regime)),
    ]
}

fn last_words(testament: &Testament, look: Styles, width: usize) -> Vec<Line<'static>> {
    let mut told = Vec::new();
    let sections = testament.told();
    for title in LAST {
        let Some((_, said)) = sections.iter().find(|(named, _)| *named == title) else { continue };
        told.push(Line::styled(title, look.quiet()));
        for text in said {
            told.extend(hang(&format!("“{text}”"), width, "", " ").into_iter().map(Line::raw));
        }
    }
    told
}
