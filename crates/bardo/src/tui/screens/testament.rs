//! The testament, whole, to be read.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::output::date;
use crate::tui::app::App;
use crate::tui::look::{Look, hang, lines, nothing};

/// Longer lines are hard to read.
const MEASURE: u16 = 100;

pub(super) fn draw(app: &App, look: Look, frame: &mut Frame<'_>, area: Rect) {
    let Some(testament) = &app.testament else {
        return nothing(frame, area, "its closing (Thanatopsis) is not finished; there is no testament yet");
    };
    let inner = look.panel(frame, area, &format!("testament of {}", testament.name));
    let width = inner.width.min(MEASURE);
    let text = testament.markdown(date);
    let read: Vec<Line<'static>> =
        text.lines().skip(2).flat_map(|line| plain(line, look, usize::from(width))).collect();
    let most = read.len().saturating_sub(usize::from(inner.height));
    lines(frame, inner, read.into_iter().skip(app.scroll.min(most)).collect());
}

/// A line of the written testament without its marks.
fn plain(line: &str, look: Look, width: usize) -> Vec<Line<'static>> {
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
