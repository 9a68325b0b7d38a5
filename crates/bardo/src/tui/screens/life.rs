//! One life: how well it is and why, what it lives on, what it can do, what presses on it.

use golem::Usdc;
use golem::call::ByModel;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use shell::view::words::Words;

use crate::draw::cut;
use crate::output::{count, units};
use crate::tui::app::App;
use crate::tui::look::{Styles, cents, columns, figure, hang, lines, nothing, percent, rows, sign, state, trace};
use shell::view::seen::Seen;

pub(super) fn draw(app: &App, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let Some(seen) = &app.seen else {
        let name = app.chosen.as_deref().unwrap_or("that");
        let known = app.status().is_some();
        let text =
            if known { format!("looking at {name} …") } else { format!("there is no golem named {name} here") };
        return nothing(frame, area, &text);
    };
    let told = &seen.told;
    let (tall, wide) = (area.height >= 34, area.width >= 110);
    let [head, upper, lower] = rows(
        area,
        [Constraint::Length(2), Constraint::Fill(3), Constraint::Length(if tall { area.height / 3 } else { 7 })],
    );
    let asks = seen.status.waits().map_or_else(Line::default, |(_, wanted)| {
        let silence = if seen.status.asks.is_some() { "   y yes   n no   silence is a no" } else { "   y yes   n no" };
        Line::from(vec![Span::styled(format!("asks you: {wanted}"), look.care()), Span::styled(silence, look.quiet())])
    });
    lines(frame, head, vec![headline(seen, look), asks]);
    let right_width = if wide { 46 } else { 40 };
    let [left, right] = columns(upper, [Constraint::Fill(1), Constraint::Length(right_width)]);
    let skills = told.skills.len() as u16 + 1;
    let [line, skill] = rows(left, [Constraint::Fill(1), Constraint::Length(skills)]);
    vitality(app, seen, look, frame, line);
    let inner = look.panel(frame, skill, "skill by domain (epistemic fitness)");
    lines(frame, inner, skills_by_domain(told, look, inner.width));
    let [clocks, money, mood] = rows(right, if tall { [5, 11, 6] } else { [4, 5, 4] }.map(Constraint::Length));
    let inner = look.panel(frame, clocks, "clocks");
    lines(frame, inner, clock_lines(told, look));
    let inner = look.panel(frame, money, "money");
    lines(frame, inner, money_lines(told, &seen.status.called, look));
    let inner = look.panel(frame, mood, "mood (Daimon)");
    lines(frame, inner, mood_lines(told, look, usize::from(inner.width)));
    if wide {
        let [pressure, lately] = columns(lower, [Constraint::Fill(1), Constraint::Fill(1)]);
        load(app, seen, look, frame, pressure);
        let inner = look.panel(frame, lately, "lately");
        lines(frame, inner, news(app, look, inner));
    } else {
        load(app, seen, look, frame, lower);
    }
}

fn headline(seen: &Seen, look: Styles) -> Line<'static> {
    let status = &seen.status;
    Line::from(vec![
        Span::styled(status.name.clone(), look.strong()),
        Span::styled(format!("  {} {}", sign(&status.phase), status.phase), look.of_share(status.vitality)),
        Span::styled(format!("  {}", state(status.state)), look.of_state(status.state)),
        Span::raw(format!("  {}", seen.told.age)),
        Span::styled(format!("  tick {}", count(status.tick)), look.quiet()),
        Span::styled(format!("  generation {}", status.generation), look.quiet()),
    ])
}

fn vitality(app: &App, seen: &Seen, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let looks = &app.looks;
    let since = looks.front().map_or(String::new(), |first| format!(" since tick {}", count(first.tick)));
    let title = format!("vitality {:.2}{since}", seen.status.vitality);
    let inner = look.panel(frame, area, &title);
    let tall = area.height >= 18;
    let [chart, parts] = rows(inner, [Constraint::Fill(1), Constraint::Length(if tall { 10 } else { 2 })]);
    let of = |pick: fn(&crate::tui::app::LifeLook) -> f64| looks.iter().map(pick).collect::<Vec<f64>>();
    let style = look.of_share(seen.status.vitality);
    look.curve(frame, chart, &of(|look| look.vitality), style);
    if tall {
        let [money, skill] = rows(parts, [Constraint::Length(5), Constraint::Length(5)]);
        let inner = look.panel(frame, money, "money left to live on");
        look.curve(frame, inner, &of(|look| look.money), Style::new());
        let inner = look.panel(frame, skill, "skill, 0.50 is as good as naive");
        return look.curve(frame, inner, &of(|look| look.skill), Style::new());
    }
    let columns = usize::from(parts.width).saturating_sub(12);
    let part = |name: &str, values: Vec<f64>| {
        let now = values.last().map_or("–".to_owned(), |now| format!("{now:.2}"));
        let went = trace(&values, columns);
        Line::from(vec![Span::styled(format!("{name:<5} {now:>4} "), look.quiet()), Span::styled(went, Style::new())])
    };
    lines(frame, parts, vec![part("money", of(|look| look.money)), part("skill", of(|look| look.skill))]);
}

fn clock_lines(told: &Words, look: Styles) -> Vec<Line<'static>> {
    let line = |clock: &shell::view::words::Clock| {
        let mut spans = vec![Span::styled(format!("{:<7}", clock.name), look.quiet())];
        let style = if clock.on { look.of_share(clock.factor) } else { look.quiet() };
        spans.extend(look.bar(clock.factor, 4, style));
        spans.push(Span::raw(format!(" {:.2}  ", clock.factor)));
        spans.push(Span::raw(clock.says.clone()));
        Line::from(spans)
    };
    told.clocks.iter().map(line).collect()
}

fn money_lines(told: &Words, called: &[ByModel], look: Styles) -> Vec<Line<'static>> {
    let money = &told.money;
    let held = money.held.map_or(String::new(), |held| format!(", holding {}", percent(held)));
    let holds = match money.holding {
        0 => format!("nothing; {} in cash", cents(money.cash)),
        holding => format!("{} {} for {}", units(holding), money.unit, cents(money.cost)),
    };
    let books = &money.books;
    let mut shown = vec![
        look.row("lives on", format!("{} ({} for dying)", cents(money.credit), cents(money.kept))),
        look.row("acts with", format!("{} of {}", cents(money.worth), cents(books.given.capital))),
        look.row("holds", holds),
        look.row("net", format!("{} of {} given", books.net, cents(books.given.sum()))),
        look.row("return", format!("{}{held}", percent(money.returned))),
    ];
    if !called.is_empty() {
        let (calls, cost) = called.iter().fold((0, Usdc::ZERO), |(calls, cost), by| (calls + by.calls, cost + by.cost));
        shown.insert(1, look.row("calls", format!("{} of its agent's for {cost}", count(calls))));
    }
    // Where there is room, every cent: these add up to the micro-USDC.
    shown.extend([
        look.row("given", format!("{} and {}", books.given.credit, books.given.capital)),
        look.row("earned", format!("{}, fees {}", books.earned, books.fees)),
        look.row("spent", format!("{}, gas {}", books.spent, books.gas)),
        look.row("harvested", format!("{} into credit", books.harvested)),
        look.row("returned", format!("{} and {}", books.returned.credit, books.returned.capital)),
    ]);
    shown
}

fn mood_lines(told: &Words, look: Styles, width: usize) -> Vec<Line<'static>> {
    let pad = told.pad;
    let regime = told.regime.as_ref().map_or(String::new(), |regime| format!(", world is {regime}"));
    let mut told_of = vec![
        look.row(
            "mood",
            format!("{} P{} A{} D{}", told.mood, short(pad.pleasure), short(pad.arousal), short(pad.dominance)),
        ),
        look.row("heartbeat", format!("{}{regime}", told.heartbeat)),
        look.row("memory", told.memory.clone()),
    ];
    told_of.extend(look.rows("phase", &told.phase, width));
    told_of.extend(told.phages.iter().flat_map(|said| look.rows("phages", said, width)));
    told_of.extend(told.thoughts.iter().flat_map(|said| look.rows("thoughts", said, width)));
    told_of.extend(told.mind.iter().flat_map(|said| look.rows("mind", said, width)));
    told_of.extend(look.rows("world", &told.world, width));
    told_of
}

/// `+.05`: from −1 to 1 in as little room as there is.
fn short(value: f64) -> String {
    format!("{value:+.2}").replacen("0.", ".", 1)
}

fn skills_by_domain(told: &Words, look: Styles, width: u16) -> Vec<Line<'static>> {
    let longest = told.skills.iter().map(|one| one.domain.chars().count()).max().unwrap_or_default().min(14);
    let bar = usize::from(width).saturating_sub(longest + 22).clamp(4, 40);
    let line = |one: &shell::view::words::Skill| {
        let mut spans = vec![Span::styled(format!("{:<longest$} ", cut(&one.domain, longest)), look.quiet())];
        match one.skill {
            Some(skill) => {
                spans.extend(look.bar(skill, bar, look.of_skill(skill)));
                spans.push(Span::raw(format!(" {skill:.2}")));
            }
            None => spans.push(Span::raw("unknown yet")),
        }
        spans.push(Span::styled(format!("  {} claims", count(one.claims)), look.quiet()));
        Line::from(spans)
    };
    told.skills.iter().map(line).collect()
}

/// Stressors, why each presses, and what would clear it; and where there is room the figure of the golem beside them.
fn load(app: &App, seen: &Seen, look: Styles, frame: &mut Frame<'_>, area: Rect) {
    let load = &seen.told.load;
    let mut inner = look.panel(frame, area, &format!("load {:.2}, {}", load.load, load.band));
    if app.creatures && inner.height >= 6 && inner.width >= 50 {
        let [text, beside] = columns(inner, [Constraint::Fill(1), Constraint::Length(12)]);
        lines(frame, beside, figure(&seen.status, look.of_share(seen.status.vitality)));
        inner = text;
    }
    let width = usize::from(inner.width);
    let mut shown = Vec::new();
    for one in &load.stressors {
        let mut spans = look.bar(one.severity, 10, look.of_load(one.severity));
        spans.push(Span::styled(format!(" {} {:.2}", one.title, one.severity), look.strong()));
        spans.push(Span::styled(format!("  for {}", one.since), look.quiet()));
        shown.push(Line::from(spans));
        shown.extend(hang(&one.why, width, "  ", "  ").into_iter().map(Line::raw));
        shown.extend(hang(&one.clears_when, width, "  clears when ", "    ").into_iter().map(Line::raw));
    }
    if shown.is_empty() {
        shown.push(Line::raw("nothing presses"));
    }
    if let Some(closed) = &load.closed {
        let style = look.care();
        shown.extend(hang(closed, width, "closed now: ", "  ").into_iter().map(|text| Line::styled(text, style)));
    }
    lines(frame, inner, shown.into_iter().skip(app.scroll).collect());
}

/// Events of the golem, newest first, without the routine of every tick.
fn news(app: &App, look: Styles, area: Rect) -> Vec<Line<'static>> {
    let told = app.followed.iter().rev().filter(|heard| !heard.routine);
    let width = usize::from(area.width).saturating_sub(10);
    let told = told.take(usize::from(area.height)).map(|heard| {
        let when = Span::styled(format!("{:>9} ", count(heard.tick)), look.quiet());
        Line::from(vec![when, Span::raw(cut(&heard.says, width))])
    });
    let told: Vec<Line<'static>> = told.collect();
    if told.is_empty() { vec![Line::raw("nothing out of the ordinary")] } else { told }
}
