//! All golems at a glance.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};
use shell::view::status::{State, Status};

use crate::draw::cut;
use crate::output::count;
use crate::tui::app::App;
use crate::tui::look::{Styles, cents, first_shown, lines, nothing, rows, sign, state};

/// From here on there is room for more than the least.
const WIDE: u16 = 110;

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let (listed, wide) = (app.listed(), area.width >= WIDE);
    if app.golems.is_empty() {
        return nothing(frame, area, "no golems yet; make one with `bardo golem new NAME --world edge`");
    }
    let [head, room] = rows(area, [Constraint::Length(1), Constraint::Fill(1)]);
    frame.render_widget(Line::from(summary(app, look)), head);
    if listed.is_empty() {
        return nothing(frame, room, &format!("no golem has {} in its name", app.names));
    }
    let room = lately(app, look, frame, room, listed.len(), wide);
    let marked = listed.iter().position(|one| Some(&one.name) == app.chosen.as_ref());
    let first = first_shown(marked.unwrap_or_default(), usize::from(room.height).saturating_sub(1));
    let rows = listed.iter().enumerate().skip(first).take(usize::from(room.height)).map(|(at, one)| {
        let style = if Some(at) == marked { look.marked() } else { look.of_state(one.state) };
        row(one, wide, Some(at) == marked, look).style(style)
    });
    let right = |text: &'static str| Cell::from(Line::from(text).alignment(Alignment::Right));
    let mut heads = vec![Cell::from(" name"), Cell::from("state"), Cell::from("phase"), Cell::from("vitality")];
    let titles: &[&str] = if wide {
        &["tick", "skill", "credit", "worth of given", "return", "load", "gen"]
    } else {
        &["tick", "skill", "credit", "return", "load"]
    };
    heads.extend(titles.iter().map(|title| right(title)));
    let table = Table::new(rows, widths(wide)).header(Row::new(heads).style(look.quiet())).column_spacing(1);
    frame.render_widget(table, room);
}

/// Where there are few golems there is room for what happens to them; gives what is left for the list.
fn lately(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect, listed: usize, wide: bool) -> Rect {
    let needed = u16::try_from(listed + 2).unwrap_or(u16::MAX);
    if area.height.saturating_sub(needed) < 8 || app.heard.is_empty() {
        return area;
    }
    let [list, lately] = rows(area, [Constraint::Length(needed), Constraint::Fill(1)]);
    let inner = look.panel(frame, lately, "recent events");
    let newest = app.heard.iter().rev().take(usize::from(inner.height));
    let told = newest.map(|heard| super::events::line(heard, look, wide, usize::from(inner.width)));
    lines(frame, inner, told.collect());
    list
}

fn widths(wide: bool) -> Vec<Constraint> {
    let widths: &[u16] = if wide { &[16, 9, 14, 15, 9, 5, 8, 18, 7, 4, 3] } else { &[11, 8, 14, 8, 7, 5, 6, 7, 4] };
    widths.iter().map(|width| Constraint::Length(*width)).collect()
}

fn summary(app: &App, look: Styles) -> Vec<Span<'static>> {
    let dead = app.dead().len();
    let mut text = format!("{} golems, {} dead", app.golems.len(), dead);
    if !app.names.is_empty() {
        text += &format!("; those with “{}” in the name", app.names);
    }
    vec![Span::styled(text, look.quiet())]
}

fn row(one: &Status, wide: bool, marked: bool, look: Styles) -> Row<'static> {
    let right = |text: String| Cell::from(Line::from(text).alignment(Alignment::Right));
    let dead = one.state == State::Dead;
    let phase = if dead { "†".to_owned() } else { format!("{} {}", sign(&one.phase), one.phase) };
    let style = if marked || dead { Style::new() } else { look.of_share(one.vitality) };
    let mut vitality = look.bar(one.vitality, if wide { 10 } else { 3 }, style);
    if marked {
        vitality.iter_mut().for_each(|span| span.style = Style::new());
    }
    vitality.push(Span::raw(format!(" {:.2}", one.vitality)));
    let name = cut(&one.name, if wide { 15 } else { 10 });
    let mut cells = vec![
        Cell::from(format!("{}{name}", if marked { "›" } else { " " })),
        Cell::from(state(one.state)),
        Cell::from(phase),
        Cell::from(Line::from(vitality)),
        right(count(one.tick)),
        right(format!("{:.2}", one.skill)),
        right(cents(one.credit)),
    ];
    let given = one.given.as_f64();
    // A dead golem's money is back in the treasury: there is no worth to compare.
    let came_to = if dead || given <= 0.0 {
        "–".to_owned()
    } else {
        crate::output::percent(one.worth.as_f64() / given - 1.0, 1)
    };
    if wide {
        let worth = if dead { "–".to_owned() } else { format!("{} of {}", cents(one.worth), cents(one.given)) };
        cells.push(right(worth));
    }
    cells.push(right(came_to));
    cells.push(right(if dead { "–".to_owned() } else { format!("{:.2}", one.load) }));
    if wide {
        cells.push(right(one.generation.to_string()));
    }
    Row::new(cells)
}
