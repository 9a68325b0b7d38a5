//! Golems elsewhere: who is there, what was sent, held and refused.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::app::App;
use crate::tui::look::{Styles, lines, nothing};

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let report = match &app.clade {
        None => return nothing(frame, area, "asking for golems elsewhere …"),
        Some(None) => {
            return nothing(
                frame,
                area,
                "all your golems are here; `bardo styx init` connects this home with others of yours",
            );
        }
        Some(Some(report)) => report,
    };
    let inner = look.panel(frame, area, &format!("clade: {} elsewhere", report.siblings.len()));
    let width = usize::from(inner.width);
    let rows = report.told.iter().flat_map(|row| look.rows(&row.about, &row.says, width));
    lines(frame, inner, rows.skip(app.scroll).collect());
}
