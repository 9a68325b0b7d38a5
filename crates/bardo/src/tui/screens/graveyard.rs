//! All who died here, and of what.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use shell::view::status::Status;

use crate::draw::cut;
use crate::output::{count, date};
use crate::tui::app::App;
use crate::tui::look::{Styles, first_shown, lines, nothing, rows};

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let dead = app.dead();
    if dead.is_empty() {
        return nothing(frame, area, "no golem has died here");
    }
    let [list, one] = rows(area, [Constraint::Fill(1), Constraint::Length(9)]);
    let inner = look.panel(frame, list, &format!("graveyard: {} dead", dead.len()));
    let room = usize::from(inner.height);
    let marked = |one: &Status| Some(&one.name) == app.chosen.as_ref();
    let at = dead.iter().position(|one| marked(one)).unwrap_or(0);
    let shown = dead.iter().skip(first_shown(at, room)).take(room).map(|one| {
        let (mark, style) = if marked(one) { ("›", look.marked()) } else { (" ", Style::new()) };
        let facts = format!(" generation {:<2} {:>9} ticks  ", one.generation, count(one.tick));
        let why = one.why.clone().unwrap_or_default();
        let width = usize::from(inner.width).saturating_sub(facts.chars().count() + 20);
        Line::from(vec![
            Span::raw(mark),
            Span::styled(format!("† {:<14} ", cut(&one.name, 14)), style),
            Span::styled(facts, look.quiet()),
            Span::raw(cut(&why, width)),
        ])
    });
    lines(frame, inner, shown.collect());
    let Some(testament) = &app.testament else { return };
    let inner = look.panel(frame, one, &format!("bloodstain of {}", testament.name));
    let stain = &testament.bloodstain;
    let width = usize::from(inner.width);
    let mut told = vec![
        look.row("died", date(testament.died)),
        look.row("world", format!("{}; a unit was worth {}", stain.regime, stain.unit)),
    ];
    let features: Vec<String> = stain.features.iter().map(|(name, value)| format!("{name} {value:.3}")).collect();
    told.extend(look.rows("†", &features.join(", "), width));
    lines(frame, inner, told);
}
