//! What lies over a screen: the keys, or a question that waits for an answer.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};
use shell::view::status::State;
use shell::view::status::Status;

use crate::tui::app::{App, Over};
use crate::tui::keys::HELP;
use crate::tui::look::Styles;
use crate::tui::told::OwnerOrder;

pub(super) fn draw(app: &App, over: &Over, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    match over {
        Over::Help => {
            let key = |(key, does): &(&'static str, &'static str)| {
                Line::from(vec![Span::styled(format!(" {key:<15} "), look.strong()), Span::raw(*does)])
            };
            window(frame, area, look, " keys ", HELP.iter().map(key).collect(), 76);
        }
        Over::Confirm(name, order) => {
            let waits = app.status().and_then(Status::waits);
            let (question, key) = match order {
                OwnerOrder::Answer { key, yes } => {
                    let wanted = waits.filter(|(waits, _)| waits == key).map(|(_, wanted)| wanted);
                    let wanted = wanted.unwrap_or_else(|| "what it does not ask any more".to_owned());
                    (format!(" Say {} to {name}: {wanted}?", if *yes { "yes" } else { "no" }), "Enter")
                }
                _ => (format!(" {} {name}?", capital(order.verb())), "y"),
            };
            ask(frame, area, look, &question, order.means(), key);
        }
        Over::Question(name, text) => {
            let room = usize::from(area.width.min(76).saturating_sub(6));
            let shown: String = text.chars().skip(text.chars().count().saturating_sub(room)).collect();
            let told = vec![
                Line::styled(format!(" Ask {name}; its model answers from its record:"), look.strong()),
                Line::raw(""),
                Line::raw(format!(" > {shown}▏")),
                Line::raw(""),
                Line::from(vec![
                    Span::styled(" Enter", look.title()),
                    Span::raw(" ask     "),
                    Span::styled("Esc", look.title()),
                    Span::raw(" put it away"),
                ]),
            ];
            window(frame, area, look, " ask ", told, 76);
        }
        Over::ConfirmAll(order) => {
            let living = app.golems.iter().filter(|one| one.state != State::Dead).count();
            let question = format!(" {} all {living} golems?", capital(order.verb()));
            ask(frame, area, look, &question, order.means_for_all(), "y");
        }
        Over::ConfirmHeir(dead) => {
            let wizard = &app.wizard;
            let question = format!(" Make {}, heir of {dead}?", wizard.name);
            let means = format!("It gets ${} to live on, from the treasury.", wizard.credit);
            ask(frame, area, look, &question, &means, "y");
        }
    }
}

fn ask(frame: &mut Frame<'_>, area: Rect, look: Styles, question: &str, means: &str, yes: &str) {
    let told = vec![
        Line::styled(question.to_owned(), look.strong()),
        Line::raw(format!(" {means}")),
        Line::raw(""),
        Line::from(vec![
            Span::styled(format!(" {yes}"), look.title()),
            Span::raw(" yes     "),
            Span::styled("any other key", look.title()),
            Span::raw(" no, leave everything as it is"),
        ]),
    ];
    window(frame, area, look, " sure? ", told, 60);
}

fn window(frame: &mut Frame<'_>, area: Rect, look: Styles, title: &'static str, told: Vec<Line<'static>>, width: u16) {
    let (width, height) = (width.min(area.width), (told.len() as u16 + 2).min(area.height));
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    frame.render_widget(Clear, place);
    let block = Block::bordered().border_style(look.quiet()).title(Span::styled(title, look.title()));
    frame.render_widget(Paragraph::new(told).block(block), place);
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
