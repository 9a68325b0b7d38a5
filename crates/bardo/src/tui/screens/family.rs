//! The line a golem comes from: each generation set in below the one before it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use shell::life::heirs::Relative;

use crate::draw::cut;
use crate::output::count;
use crate::tui::app::App;
use crate::tui::look::{Styles, first_shown, lines, nothing};

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let name = app.chosen.as_deref().unwrap_or("the golem");
    let Some(family) = &app.family else {
        return nothing(frame, area, &format!("asking for the family of {name} …"));
    };
    let inner = look.panel(frame, area, &format!("family of {name}: {} here", family.len()));
    let (room, width) = (usize::from(inner.height), usize::from(inner.width));
    let eldest = family.iter().map(|one| one.generation).min().unwrap_or_default();
    let shown = family.iter().enumerate().skip(first_shown(app.at, room)).take(room);
    lines(frame, inner, shown.map(|(at, one)| line(one, eldest, at == app.at, look, width)).collect());
}

fn line(one: &Relative, eldest: u32, marked: bool, look: Styles, width: usize) -> Line<'static> {
    let depth = (one.generation - eldest) as usize;
    let branch = if depth == 0 { String::new() } else { format!("{}└─ ", "   ".repeat(depth - 1)) };
    let facts = format!("  generation {}, {} ticks, skill {:.2}  ", one.generation, count(one.ticks), one.skill);
    let end = one.cause.clone().unwrap_or_else(|| "alive".to_owned());
    let sign = if one.alive { "•" } else { "†" };
    let room = width.saturating_sub(branch.chars().count() + one.name.len() + facts.chars().count() + 6);
    Line::from(vec![
        Span::raw(if marked { "›" } else { " " }),
        Span::styled(branch, look.quiet()),
        Span::styled(format!("{sign} {}", one.name), if marked { look.marked() } else { look.strong() }),
        Span::styled(facts, look.quiet()),
        Span::styled(cut(&end, room), if one.alive { look.well() } else { Style::new() }),
    ])
}
