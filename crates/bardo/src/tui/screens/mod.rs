//! What is drawn, a file for each screen. `view` looks at the state and never changes it.

mod away;
mod clade;
pub(crate) mod death;
mod dreams;
mod events;
mod family;
mod golems;
mod graveyard;
mod life;
mod memory;
mod over;
mod successor;
pub(crate) mod testament;

use ratatui::Frame;
use ratatui::layout::{Constraint, Margin, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::app::{App, HostLink, Screen};
use super::look::{Styles, nothing, rows};
use crate::draw::cut;

/// Smaller than this nothing can be read.
const LEAST: (u16, u16) = (60, 16);

pub(crate) fn view(app: &App, frame: &mut Frame<'_>) {
    let look = Styles::new(app.colours);
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return nothing(frame, area, "this terminal is too small; 80 by 24 is enough");
    }
    let [head, body, foot] = rows(area, [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]);
    let body = body.inner(Margin::new(1, 0));
    tabs(app, look, frame, head);
    if never_seen(app) {
        away::draw(app, look, frame, body);
    } else {
        draw(app, look, frame, body);
    }
    bottom(app, look, frame, foot);
    if let Some(over) = &app.over {
        over::draw(app, over, look, frame, body);
    }
}

fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, body: Rect) {
    match app.screen {
        Screen::Golems => golems::draw(app, look, frame, body),
        Screen::Life if app.is_dead() => death::draw(app, look, frame, body),
        Screen::Life => life::draw(app, look, frame, body),
        Screen::Memory => memory::draw(app, look, frame, body),
        Screen::Dreams => dreams::draw(app, look, frame, body),
        Screen::Events => events::draw(app, look, frame, body),
        Screen::Graveyard => graveyard::draw(app, look, frame, body),
        Screen::Family => family::draw(app, look, frame, body),
        Screen::Clade => clade::draw(app, look, frame, body),
        Screen::Testament => testament::draw(app, look, frame, body),
        Screen::Successor => successor::draw(app, look, frame, body),
    }
}

fn never_seen(app: &App) -> bool {
    app.golems.is_empty() && app.link != HostLink::Up
}

fn tabs(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let mut spans = vec![Span::styled(" bardo ", look.strong())];
    let open = match app.screen {
        Screen::Testament | Screen::Successor => Screen::Life,
        screen => screen,
    };
    for (at, (screen, name)) in Screen::TABS.iter().enumerate() {
        let style = if *screen == open { look.marked() } else { Style::new() };
        spans.push(Span::styled(format!(" {}", at + 1), if *screen == open { style } else { look.quiet() }));
        spans.push(Span::styled(format!(" {name}"), style));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// Keys that do something here, or what was just said, or what is being typed; and how the host is.
fn bottom(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let (state, style) = match &app.link {
        HostLink::Up => ("● host is up ".to_owned(), look.quiet()),
        HostLink::Trying => ("○ looking for the host ".to_owned(), look.quiet()),
        HostLink::Away(_) => ("○ host is away, trying again ".to_owned(), look.care()),
    };
    let room = usize::from(area.width).saturating_sub(state.chars().count() + 2);
    let (text, tone) = match (&app.notice, app.typing) {
        (_, true) => {
            let typed = match app.screen {
                Screen::Memory => &app.query,
                Screen::Events => &app.feed.text,
                _ => &app.names,
            };
            (format!("/{typed}▏"), look.strong())
        }
        (Some(notice), _) => (notice.clone(), look.strong()),
        (None, _) => (hints(app).to_owned(), look.quiet()),
    };
    let text = cut(&text, room);
    let gap = room + 1 - text.chars().count();
    let spans = vec![Span::raw(" "), Span::styled(text, tone), Span::raw(" ".repeat(gap)), Span::styled(state, style)];
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn hints(app: &App) -> &'static str {
    match app.screen {
        _ if never_seen(app) => "q quit",
        Screen::Golems => "j k choose  Enter open  / find  f p r order  ? help  q quit",
        Screen::Life if app.is_dead() => "j k choose  Enter go on  Esc back  ? help",
        Screen::Life => "f freeze  p pause  r resume  Esc back  ? help",
        Screen::Memory => "/ search  j k choose  Esc back  ? help",
        Screen::Dreams => "j k choose a night  PgDn read on  Esc back  ? help",
        Screen::Events => "/ find  ← → topic  a one or all  Esc back  ? help",
        Screen::Graveyard => "j k choose  Enter its end  t testament  s heir",
        Screen::Family => "j k choose  Enter open  Esc back  ? help",
        Screen::Clade => "j k scroll  Esc back  ? help",
        Screen::Testament => "j k scroll  Esc back  ? help",
        Screen::Successor => "↑ ↓ field  type  Enter next  Esc back",
    }
}
