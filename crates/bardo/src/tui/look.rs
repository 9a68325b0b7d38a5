//! How things look: few colours, told apart by anyone (after Okabe and Ito), and never by colour alone. Panels have a
//! line above them and nothing else.

use golem::wire::Gravity;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use shell::view::creature::{creature, half_blocks};
use shell::view::status::{State, Status};

use crate::draw::{self, Dots};
pub(crate) use crate::output::cents;

/// The styles of one terminal; without colours weight alone tells things apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Styles {
    colours: bool,
}

impl Styles {
    pub(crate) fn new(colours: bool) -> Styles {
        Styles { colours }
    }

    fn ink(self, colour: u8, plain: Modifier) -> Style {
        if self.colours { Style::new().fg(Color::Indexed(colour)) } else { Style::new().add_modifier(plain) }
    }

    /// Labels and lines.
    pub(crate) fn quiet(self) -> Style {
        self.ink(245, Modifier::DIM)
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Sky blue: titles, and what is well.
    pub(crate) fn well(self) -> Style {
        self.ink(74, Modifier::empty())
    }

    /// Orange: what needs a look.
    pub(crate) fn care(self) -> Style {
        self.ink(214, Modifier::BOLD)
    }

    /// Vermilion: what is ending or broken.
    pub(crate) fn grave(self) -> Style {
        self.ink(166, Modifier::BOLD)
    }

    /// The style of a message of this gravity.
    pub(crate) fn of_gravity(self, gravity: Gravity) -> Style {
        match gravity {
            Gravity::Routine | Gravity::Notable => Style::new(),
            Gravity::Serious => self.care(),
            Gravity::Grave => self.grave(),
        }
    }

    pub(crate) fn title(self) -> Style {
        self.well().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn marked(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// For a share that is better the higher it is.
    pub(crate) fn of_share(self, share: f64) -> Style {
        match share {
            share if share < 0.3 => self.grave(),
            share if share < 0.5 => self.care(),
            _ => self.well(),
        }
    }

    /// For skill, where one half is as good as naive.
    pub(crate) fn of_skill(self, skill: f64) -> Style {
        self.of_share(skill + 0.03)
    }

    /// For a load, which is better the lower it is.
    pub(crate) fn of_load(self, load: f64) -> Style {
        self.of_share(1.0 - load)
    }

    pub(crate) fn of_state(self, state: State) -> Style {
        match state {
            State::Living | State::Dreaming => Style::new(),
            State::Asking | State::Paused | State::Frozen | State::Waiting | State::Elsewhere | State::Released => {
                self.care()
            }
            State::Restarting | State::Stopped | State::Unlived => self.grave(),
            State::Dead => self.quiet(),
        }
    }

    /// A line as long as a share, with what is missing as dots.
    pub(crate) fn bar(self, share: f64, columns: usize, style: Style) -> Vec<Span<'static>> {
        let halves = (share.clamp(0.0, 1.0) * columns as f64 * 2.0).round() as usize;
        let full = "━".repeat(halves / 2) + if halves % 2 == 1 { "╸" } else { "" };
        vec![Span::styled(full, style), Span::styled("·".repeat(columns - halves.div_ceil(2)), self.quiet())]
    }

    /// A panel: a line with a title above it, and the room below.
    pub(crate) fn panel(self, frame: &mut Frame<'_>, area: Rect, title: &str) -> Rect {
        if area.is_empty() {
            return area;
        }
        let title = Line::from(vec![Span::styled(title.to_owned(), self.title()), Span::raw(" ")]);
        let block = Block::new().borders(Borders::TOP).border_style(self.quiet()).title(title);
        let inner = block.inner(area);
        frame.render_widget(block, area);
        inner
    }

    /// `label  text`, the label quiet.
    pub(crate) fn row(self, label: &str, text: impl Into<String>) -> Line<'static> {
        Line::from(vec![Span::styled(format!("{label:<10} "), self.quiet()), Span::raw(text.into())])
    }

    /// A labelled text over as many lines as it takes.
    pub(crate) fn rows(self, label: &str, text: &str, width: usize) -> Vec<Line<'static>> {
        let broken = draw::wrap(text, width.saturating_sub(11).max(10)).into_iter().enumerate();
        broken.map(|(at, text)| self.row(if at == 0 { label } else { "" }, text)).collect()
    }

    /// How something went, with its scale on the left.
    pub(crate) fn curve(self, frame: &mut Frame<'_>, area: Rect, values: &[f64], style: Style) {
        if area.height == 0 || area.width < 12 || values.is_empty() {
            return;
        }
        let (low, high, heights) = scaled(values);
        let (columns, rows) = (usize::from(area.width) - 6, usize::from(area.height));
        let mut dots = Dots::new(columns, rows);
        dots.line(&heights, 1);
        let lines = dots.rows().enumerate().map(|(at, row)| {
            let scale = match at {
                0 => format!("{high:.2} "),
                at if at + 1 == rows => format!("{low:.2} "),
                _ => " ".repeat(5),
            };
            Line::from(vec![Span::styled(scale + "│", self.quiet()), Span::styled(row, style)])
        });
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
    }
}

/// From 0 to 1 between the least and the most, but no less than a tenth: what hardly moves should look like it.
fn scaled(values: &[f64]) -> (f64, f64, Vec<f64>) {
    let (low, high) = values.iter().fold((1.0_f64, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    let (middle, reach) = ((low + high) / 2.0, ((high - low) / 2.0 * 1.1).max(0.05));
    let (low, high) = ((middle - reach).max(0.0), (middle + reach).min(1.0));
    (low, high, values.iter().map(|value| (value - low) / (high - low)).collect())
}

/// How something went, in one row.
pub(crate) fn trace(values: &[f64], columns: usize) -> String {
    let mut dots = Dots::new(columns, 1);
    dots.line(&scaled(values).2, 1);
    dots.rows().next().unwrap_or_default()
}

/// A quiet sentence in the middle, where there is nothing else to show.
pub(crate) fn nothing(frame: &mut Frame<'_>, area: Rect, text: &str) {
    let width = area.width.saturating_sub(4).min(60);
    let lines: Vec<Line<'_>> = draw::wrap(text, usize::from(width)).into_iter().map(Line::from).collect();
    let (height, top) = (lines.len() as u16, area.height / 3);
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + top, width, height };
    frame.render_widget(Paragraph::new(lines), place.intersection(area));
}

/// Lines from the first that is to be shown.
/// The figure of a golem: twelve columns, six lines.
pub(crate) fn figure(status: &Status, style: Style) -> Vec<Line<'static>> {
    half_blocks(&creature(status)).into_iter().map(|row| Line::styled(row, style)).collect()
}

pub(crate) fn lines(frame: &mut Frame<'_>, area: Rect, lines: Vec<Line<'static>>) {
    frame.render_widget(Paragraph::new(lines), area);
}

pub(crate) fn rows<const N: usize>(area: Rect, heights: [Constraint; N]) -> [Rect; N] {
    Layout::vertical(heights).areas(area)
}

/// Side by side, with room to breathe between them.
pub(crate) fn columns<const N: usize>(area: Rect, widths: [Constraint; N]) -> [Rect; N] {
    Layout::horizontal(widths).spacing(2).areas(area)
}

/// The first of so many lines to show, so that the marked one is among them.
pub(crate) fn first_shown(marked: usize, room: usize) -> usize {
    (marked + 1).saturating_sub(room.max(1))
}

/// Text broken to a width, each line but the first set in.
pub(crate) fn hang(text: &str, width: usize, first: &str, then: &str) -> Vec<String> {
    let room = width.saturating_sub(first.chars().count().max(then.chars().count())).max(10);
    let broken = draw::wrap(text, room).into_iter().enumerate();
    broken.map(|(at, line)| format!("{}{line}", if at == 0 { first } else { then })).collect()
}

/// A sign for each phase, for those who cannot tell its colour.
pub(crate) fn sign(phase: &str) -> &'static str {
    match phase {
        "thriving" => "▲",
        "stable" => "●",
        "conservation" => "◐",
        "declining" => "▼",
        "terminal" => "✖",
        _ => " ",
    }
}

pub(crate) fn state(state: State) -> &'static str {
    match state {
        State::Living => "living",
        State::Asking => "asks you",
        State::Dreaming => "dreaming",
        State::Paused => "paused",
        State::Frozen => "frozen",
        State::Restarting => "restarts",
        State::Stopped => "stopped",
        State::Waiting => "waiting",
        State::Elsewhere => "elsewhere",
        State::Unlived => "not lived",
        State::Released => "released",
        State::Dead => "dead",
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    crate::output::percent(share, 2)
}
