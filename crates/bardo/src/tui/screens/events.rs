//! What happens, the newest first, as far as the filters let it through.

use golem::Time;
use golem::wire::Gravity;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span};

use crate::draw::cut;
use crate::output::{count, date};
use crate::tui::app::App;
use crate::tui::look::{Styles, lines, nothing, rows};
use crate::tui::told::StreamMessage;
use shell::view::saying::Topic;

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let [head, list] = rows(area, [Constraint::Length(1), Constraint::Fill(1)]);
    lines(frame, head, vec![filters(app, look)]);
    let whose = match (&app.chosen, app.feed.only_one) {
        (Some(name), true) => format!("everything that happens to {name}"),
        _ => "recent events".to_owned(),
    };
    let inner = look.panel(frame, list, &whose);
    let wide = inner.width >= 110;
    let room = usize::from(inner.height);
    let shown: Vec<Line<'static>> = app
        .passing()
        .skip(app.feed.back)
        .take(room)
        .map(|heard| line(heard, look, wide, usize::from(inner.width)))
        .collect();
    if shown.is_empty() {
        return nothing(frame, inner, "nothing of that kind since the host came up");
    }
    lines(frame, inner, shown);
}

fn filters(app: &App, look: Styles) -> Line<'static> {
    let mut spans = Vec::new();
    for topic in Topic::ALL {
        let style = if topic == app.feed.topic { look.marked() } else { look.quiet() };
        spans.extend([Span::styled(format!(" {} ", topic.name()), style), Span::raw(" ")]);
    }
    if !app.feed.text.is_empty() {
        spans.push(Span::raw(format!("with “{}”", app.feed.text)));
    }
    Line::from(spans)
}

pub(super) fn line(heard: &StreamMessage, look: Styles, wide: bool, width: usize) -> Line<'static> {
    let when = date(Time::millis(heard.at));
    let when = if wide { when } else { when.get(5..16).unwrap_or_default().to_owned() };
    let (ticks, names) = if wide { (9, 16) } else { (7, 8) };
    let head = format!("{when} {:>ticks$} {:<names$} ", count(heard.tick), cut(&heard.golem, names));
    let style = look.of_gravity(heard.gravity);
    let room = width.saturating_sub(head.chars().count() + 2);
    Line::from(vec![
        Span::styled(head, look.quiet()),
        Span::styled(if heard.gravity == Gravity::Grave { "† " } else { "  " }, style),
        Span::styled(cut(&heard.says, room), style),
    ])
}
