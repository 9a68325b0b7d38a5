//! The testament, whole, to be read.

use golem::thanatopsis::Testament;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::output::date;
use crate::tui::app::App;
use crate::tui::look::{Styles, hang, lines, nothing};

/// Longer lines are hard to read.
const MEASURE: u16 = 100;

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let Some(testament) = &app.testament else {
        return nothing(frame, area, "its closing (Thanatopsis) is not finished; there is no testament yet");
    };
    let inner = look.panel(frame, area, &format!("testament of {}", testament.name));
    let read = read(testament, look, inner.width);
    lines(frame, inner, read.into_iter().skip(app.scroll).collect());
}

/// The farthest line that can be the first on screen.
pub(crate) fn last(app: &App) -> usize {
    let (columns, rows) = app.size;
    let read =
        app.testament.as_ref().map(|testament| read(testament, Styles::new(app.colours), columns.saturating_sub(2)));
    read.map_or(0, |read| read.len().saturating_sub(usize::from(rows.saturating_sub(3))))
}

fn read(testament: &Testament, look: Styles, columns: u16) -> Vec<Line<'static>> {
    let (text, width) = (testament.markdown(date), usize::from(columns.min(MEASURE)));
    text.lines().skip(2).flat_map(|line| plain(line, look, width)).collect()
}

/// A line of the written testament without its marks.
fn plain(line: &str, look: Styles, width: usize) -> Vec<Line<'static>> {
    let line = line.replace('`', "");
    if let Some(title) = line.strip_prefix("## ") {
        return vec![Line::styled(title.to_owned(), look.title())];
    }
    if let Some(cells) = line.strip_prefix("| ") {
        let cells: Vec<&str> = cells.trim_end_matches(" |").split(" | ").collect();
        return match cells[..] {
            [name, value] if !name.starts_with("---") => {
                let label = format!("  {name:<34} ");
                hang(value, width, &label, &" ".repeat(label.len())).into_iter().map(Line::raw).collect()
            }
            _ => Vec::new(),
        };
    }
    let hung = match line.strip_prefix("- ") {
        Some(item) => hang(item, width, "· ", "  "),
        None => hang(&line, width, "", ""),
    };
    hung.into_iter().map(Line::raw).collect()
}
