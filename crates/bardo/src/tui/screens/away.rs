//! The screen while no host answers: said calmly, with what would help.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::tui::app::{App, HostLink};
use crate::tui::look::Styles;

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let why = match &app.link {
        HostLink::Away(why) => why.clone(),
        _ => "asking …".to_owned(),
    };
    let lines = vec![
        Line::styled("no host is up", look.strong()),
        Line::raw(""),
        Line::from(vec![Span::styled("at   ", look.quiet()), Span::raw(app.address.clone())]),
        Line::from(vec![Span::styled("why  ", look.quiet()), Span::raw(why)]),
        Line::raw(""),
        Line::raw("Golems live whether or not you are watching, but a host has to run"),
        Line::raw("them. Start one in another terminal:"),
        Line::raw(""),
        Line::styled("  bardo up", look.title()),
        Line::raw(""),
        Line::styled("The host is looked for every second; this screen then closes.", look.quiet()),
    ];
    let width = area.width.min(68);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + area.height.saturating_sub(lines.len() as u16) / 3,
        width,
        height: lines.len() as u16,
    };
    frame.render_widget(Paragraph::new(lines), place.intersection(area));
}
