//! Making an heir: what it will be, and what it would be left, with how sure of it its predecessor was and it will be.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::text::{Line, Span};
use shell::life::heirs::Offer;

use crate::draw::bar;
use crate::output::count;
use crate::tui::app::App;
use crate::tui::look::{Styles, cents, columns, hang, lines, nothing, rows};
use crate::tui::wizard::Field;

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let name = app.chosen.as_deref().unwrap_or("the golem");
    let offer = match &app.offer {
        None => return nothing(frame, area, &format!("opening what {name} has left …")),
        Some(Err(why)) => return nothing(frame, area, why),
        Some(Ok(offer)) => offer,
    };
    let [form, left] =
        columns(area, [Constraint::Length(if area.width >= 110 { 46 } else { 34 }), Constraint::Fill(1)]);
    let [fields, advice] = rows(form, [Constraint::Length(9), Constraint::Fill(1)]);
    let inner = look.panel(frame, fields, &format!("heir of {name}, generation {}", offer.preview.generation));
    lines(frame, inner, form_lines(app, offer, look));
    let inner = look.panel(frame, advice, &format!("what {name} advises"));
    let told = offer.preview.recommendations.iter();
    let told = told.flat_map(|text| hang(text, usize::from(inner.width), "· ", "  ")).map(Line::raw);
    lines(frame, inner, told.collect());
    let inner = look.panel(frame, left, "what it would be left");
    lines(frame, inner, preview(app, offer, look, inner));
}

fn form_lines(app: &App, offer: &Offer, look: Styles) -> Vec<Line<'static>> {
    let wizard = &app.wizard;
    let field = |field: Field, label: &str, value: String| {
        let on = wizard.field == field;
        let value = if on && field != Field::Inherit { format!("{value}▏") } else { value };
        Line::from(vec![
            Span::raw(if on { "› " } else { "  " }),
            Span::styled(format!("{label:<10} "), look.quiet()),
            Span::styled(value, if on { look.strong() } else { ratatui::style::Style::new() }),
        ])
    };
    let inherit = if wizard.inherit { "yes  (← → change)" } else { "no   (← → change)" };
    let on = wizard.field == Field::Make;
    vec![
        field(Field::Name, "name", wizard.name.clone()),
        field(Field::Credit, "lives on $", wizard.credit.clone()),
        Line::from(vec![
            Span::styled("  acts with  ", look.quiet()),
            Span::raw(format!("{}, as before", cents(offer.capital))),
        ]),
        field(Field::Inherit, "inherits", inherit.to_owned()),
        Line::raw(""),
        Line::from(vec![
            Span::raw(if on { "› " } else { "  " }),
            Span::styled(" make this heir ", if on { look.marked() } else { look.quiet() }),
        ]),
    ]
}

fn preview(app: &App, offer: &Offer, look: Styles, area: Rect) -> Vec<Line<'static>> {
    let mut told = if app.wizard.inherit { estate(offer, look, area) } else { vec![Line::raw("no memory")] };
    let ended = offer.preview.ended.as_ref();
    let ended = ended.map(|how| format!("its line was ended ({how}); an heir begins it again"));
    let frozen = offer.preview.frozen.then(|| "its predecessor was frozen, and it is born frozen".to_owned());
    for text in ended.into_iter().chain(frozen) {
        let text = hang(&text, usize::from(area.width), "! ", "  ");
        told.extend(text.into_iter().map(|text| Line::styled(text, look.care())));
    }
    told
}

fn estate(offer: &Offer, look: Styles, area: Rect) -> Vec<Line<'static>> {
    let preview = &offer.preview;
    let stains = format!("† bloodstains: {}", preview.bloodstains);
    let mut told = vec![
        Line::from(vec![
            Span::raw(format!("{} entries, ", count(preview.entries as u64))),
            Span::styled(stains, look.grave()),
        ]),
        Line::raw(format!("{} innate by now", preview.innate)),
    ];
    let domains: Vec<String> = preview.domains.iter().map(|(name, n)| format!("{name} {n}")).collect();
    let width = usize::from(area.width);
    told.extend(hang(&domains.join(", "), width, "", "  ").into_iter().map(Line::raw));
    told.push(Line::raw(""));
    told.extend(histogram(offer, look, width));
    told.push(Line::raw(""));
    let new = format!("{:.0} % of what it would try is new", preview.divergence * 100.0);
    if preview.divergence < offer.least_divergence {
        let least = offer.least_divergence * 100.0;
        let text = format!("{new}; less than {least:.0} % is refused as a copy");
        told.extend(hang(&text, width, "! ", "  ").into_iter().map(|text| Line::styled(text, look.care())));
    } else {
        told.push(Line::raw(new));
    }
    if preview.low_divergence {
        let text = "its predecessor added little (low_divergence)";
        told.extend(hang(text, width, "! ", "  ").into_iter().map(|text| Line::styled(text, look.care())));
    }
    if !preview.unfinished.is_empty() {
        told.push(Line::raw(format!("{} unfinished dreams come first", preview.unfinished.len())));
    }
    told
}

/// How many entries have which confidence, before the death is crossed and after.
fn histogram(offer: &Offer, look: Styles, width: usize) -> Vec<Line<'static>> {
    let (before, after) = (&offer.preview.before, &offer.preview.after);
    let most = before.iter().chain(after).copied().max().unwrap_or(1).max(1);
    let room = (width.saturating_sub(24) / 2).clamp(6, 40);
    let heading = format!("confidence  {:<w$} after × 0.85", "before", w = room + 5);
    let mut told = vec![Line::styled(heading, look.quiet())];
    for tenth in (0..10).rev() {
        let drawn = |n: u32| bar(f64::from(n) / f64::from(most), room);
        told.push(Line::from(vec![
            Span::styled(format!("{:.1} to {:.1}  ", tenth as f64 / 10.0, (tenth + 1) as f64 / 10.0), look.quiet()),
            Span::styled(format!("{:>4} {}", before[tenth], drawn(before[tenth])), look.quiet()),
            Span::styled(format!(" {:>4} {}", after[tenth], drawn(after[tenth])), look.well()),
        ]));
    }
    told
}
