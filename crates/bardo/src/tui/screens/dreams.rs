//! Nights, and what came of the one that is marked.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use shell::view::nights::Nights;

use crate::output::{count, date};
use crate::tui::app::App;
use crate::tui::look::{Styles, columns, first_shown, hang, lines, nothing};

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let name = app.chosen.as_deref().unwrap_or("the golem");
    let Some(nights) = &app.nights else {
        return nothing(frame, area, &format!("asking {name} for its nights …"));
    };
    if nights.newest.is_empty() {
        return nothing(frame, area, &format!("{name} has never dreamt; `bardo dream now {name}` sends it to sleep"));
    }
    let [list, report] = columns(area, [Constraint::Length(30), Constraint::Fill(1)]);
    let inner = look.panel(frame, list, &format!("{} nights of {name}", count(nights.nights)));
    // The newest on top.
    let shown = nights.newest.iter().rev().enumerate().skip(first_shown(app.at, usize::from(inner.height)));
    let shown = shown.take(usize::from(inner.height)).map(|(at, night)| {
        let staged = night.found.as_ref().map_or(0, |found| found.staged.len());
        let mark = if at == app.at { "›" } else { " " };
        let text = format!("{mark}{:>4}  {}", night.number, &date(night.began)[..16]);
        let style = if at == app.at { look.marked() } else { Style::new() };
        Line::from(vec![
            Span::styled(text, style),
            Span::raw(if staged > 0 { format!("  +{staged}") } else { String::new() }),
        ])
    });
    lines(frame, inner, shown.collect());
    tell(nights, (app.at, app.scroll), look, frame, report);
}

fn tell(nights: &Nights, (at, scroll): (usize, usize), look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let Some(night) = nights.newest.iter().rev().nth(at) else { return };
    let so_far = if night.ended { "" } else { ", still asleep" };
    let inner = look.panel(frame, area, &format!("night {}{so_far}", night.number));
    let width = usize::from(inner.width);
    let mut told = Vec::new();
    // The result first; how it came about for readers who go on.
    let (came, how) = night.told.split_last().map_or(("", [].as_slice()), |(came, how)| (came.as_str(), how));
    told.extend(hang(came, width, "", "  ").into_iter().map(|text| Line::styled(text, look.strong())));
    for text in how {
        told.extend(hang(text, width, "", "  ").into_iter().map(Line::raw));
    }
    told.push(look.row("cost", format!("{}; it slept for {} of its ticks", night.cost, night.ticks)));
    let became = format!("{} borne out, {} refuted, {} forgotten", night.promoted, night.refuted, night.forgotten);
    told.push(look.row("since then", became));
    told.push(Line::raw(""));
    told.push(Line::styled("on trial now", look.title()));
    if nights.on_trial.is_empty() {
        told.push(Line::raw("nothing"));
    }
    for trial in &nights.on_trial {
        told.extend(hang(&trial.rule, width, "", "  ").into_iter().map(Line::raw));
        told.extend(hang(&trial.how, width, "  ", "  ").into_iter().map(|text| Line::styled(text, look.quiet())));
    }
    let first = scroll.min(told.len().saturating_sub(1));
    lines(frame, inner, told.into_iter().skip(first).collect());
}
