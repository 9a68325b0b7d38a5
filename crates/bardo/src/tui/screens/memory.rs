//! What a golem knows, and how surely: a list to search, and the entry that is marked.

use golem::grimoire::Status;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use shell::view::known::Hit;

use crate::draw::cut;
use crate::tui::app::App;
use crate::tui::look::{Styles, columns, first_shown, hang, lines, nothing, rows};

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let name = app.chosen.as_deref().unwrap_or("the golem");
    let Some(hits) = &app.memory else {
        return nothing(frame, area, &format!("asking what {name} knows …"));
    };
    let [list, one] = if area.width >= 110 {
        columns(area, [Constraint::Fill(3), Constraint::Fill(2)])
    } else {
        rows(area, [Constraint::Fill(1), Constraint::Length(9)])
    };
    let of =
        if app.query.is_empty() { "surest first".to_owned() } else { format!("“{}”, closest first", app.query) };
    let stained = hits.iter().filter(|hit| hit.entry.bloodstain).count();
    let stains = if stained > 0 { format!(", † {stained} learned in dying") } else { String::new() };
    let title = format!("memory (Grimoire) of {name}: {}, {of}{stains}", hits.len());
    let inner = look.panel(frame, list, &title);
    if hits.is_empty() {
        let none = if app.query.is_empty() { "it knows nothing yet" } else { "nothing comes to mind" };
        return nothing(frame, inner, none);
    }
    let width = usize::from(inner.width).saturating_sub(26);
    let shown = hits.iter().enumerate().skip(first_shown(app.at, usize::from(inner.height)));
    let shown = shown.take(usize::from(inner.height)).map(|(at, hit)| {
        let style = if at == app.at { look.marked() } else { Style::new() };
        let stain = match hit.entry.status {
            _ if hit.entry.bloodstain => "†",
            Status::Candidate => "?",
            _ => " ",
        };
        Line::from(vec![
            Span::raw(if at == app.at { "›" } else { " " }),
            Span::styled(stain, look.grave()),
            Span::raw(format!("{:.2} ", hit.confidence)),
            Span::styled(format!("{:<17} ", hit.entry.kind.name()), look.quiet()),
            Span::styled(cut(&hit.says, width), style),
        ])
    });
    lines(frame, inner, shown.collect());
    if let Some(hit) = hits.get(app.at) {
        let inner = look.panel(frame, one, &format!("entry {}", hit.entry.id));
        lines(frame, inner, detail(hit, look, usize::from(inner.width)));
    }
}

fn detail(hit: &Hit, look: Styles, width: usize) -> Vec<Line<'static>> {
    let mut told: Vec<Line<'static>> = hang(&hit.says, width, "", "").into_iter().map(Line::raw).collect();
    told.extend(hit.told.iter().flat_map(|row| look.rows(&row.about, &row.says, width)));
    told
}
