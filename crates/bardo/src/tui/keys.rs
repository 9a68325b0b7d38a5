//! What each key does. Orders are asked about first; everything else only changes what is shown.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use shell::view::status::Status;

use super::app::{App, Over, Screen};
use super::told::{HostRequest, OwnerOrder};
use super::wizard::Field;
use shell::view::saying::Topic;

/// For the help screen: the key, and what it does.
pub(crate) const HELP: [(&str, &str); 20] = [
    ("1 … 8", "golems, life, memory, dreams, events, graveyard, family, clade"),
    ("Tab, Shift-Tab", "the next screen, the one before"),
    ("j k ↑ ↓", "down and up in a list or a text; PgUp PgDn by more"),
    ("g G", "to the top, to the bottom"),
    ("Enter", "open what is marked"),
    ("Esc", "back; put away what is typed or asked"),
    ("/", "search: names, memory or events, wherever you are"),
    ("← →", "events: the topic before or after; heir: inherit or not"),
    ("a", "events: all of the chosen golem, or the recent events of all"),
    ("", ""),
    ("f", "freeze: no new exposure (asks first)"),
    ("p", "pause: world time and clocks stop (asks first)"),
    ("r", "resume: undo a pause or a freeze (asks first)"),
    ("F P R", "the same for every golem here (asks first)"),
    ("y n", "yes or no to what it asks you for (asks first)"),
    ("w", "ask it something; its answer comes among its events"),
    ("s", "of the dead: make an heir (asks first)"),
    ("t", "of the dead: read the testament"),
    ("", ""),
    ("? c q", "this help; creatures or none; leave"),
];

pub(crate) fn press(app: &mut App, key: KeyEvent) -> Vec<HostRequest> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
        app.quit = true;
        return Vec::new();
    }
    if app.over.is_some() {
        return answer(app, key.code);
    }
    if app.typing {
        return write(app, key.code);
    }
    app.notice = None;
    if app.screen == Screen::Successor
        && let Some(asks) = fill_in(app, key.code)
    {
        return asks;
    }
    match key.code {
        KeyCode::Char('q') => app.quit = true,
        KeyCode::Char('c') => app.creatures = !app.creatures,
        KeyCode::Char('?') => app.over = Some(Over::Help),
        KeyCode::Char(digit @ '1'..='8') => return app.go(Screen::TABS[digit as usize - '1' as usize].0),
        KeyCode::Tab => return turn(app, 1),
        KeyCode::BackTab => return turn(app, Screen::TABS.len() - 1),
        KeyCode::Char('j') | KeyCode::Down => return step(app, 1),
        KeyCode::Char('k') | KeyCode::Up => return step(app, -1),
        // There the list is what j and k go through.
        KeyCode::PageDown if app.screen == Screen::Dreams => app.scroll = moved(app.scroll, 5, 100),
        KeyCode::PageUp if app.screen == Screen::Dreams => app.scroll = moved(app.scroll, -5, 100),
        KeyCode::PageDown => return step(app, 10),
        KeyCode::PageUp => return step(app, -10),
        KeyCode::Char('g') | KeyCode::Home => return step(app, isize::MIN),
        KeyCode::Char('G') | KeyCode::End => return step(app, isize::MAX),
        KeyCode::Enter => return enter(app),
        KeyCode::Esc => return back(app),
        KeyCode::Char('/') => app.typing = matches!(app.screen, Screen::Golems | Screen::Memory | Screen::Events),
        KeyCode::Left if app.screen == Screen::Events => topic(app, Topic::ALL.len() - 1),
        KeyCode::Right if app.screen == Screen::Events => topic(app, 1),
        KeyCode::Char('a') if app.screen == Screen::Events => {
            (app.feed.only_one, app.feed.back) = (!app.feed.only_one, 0);
            // Following begins with a look.
            return app.chosen.iter().map(|name| HostRequest::One(name.clone())).collect();
        }
        KeyCode::Char('f') => order(app, OwnerOrder::Freeze),
        KeyCode::Char('p') => order(app, OwnerOrder::Pause),
        KeyCode::Char('r') => order(app, OwnerOrder::Resume),
        KeyCode::Char('F') => app.over = Some(Over::ConfirmAll(OwnerOrder::Freeze)),
        KeyCode::Char('P') => app.over = Some(Over::ConfirmAll(OwnerOrder::Pause)),
        KeyCode::Char('R') => app.over = Some(Over::ConfirmAll(OwnerOrder::Resume)),
        KeyCode::Char(said @ ('y' | 'n')) => say(app, said == 'y'),
        KeyCode::Char('w') => question(app),
        KeyCode::Char('s') if app.is_dead() => return app.go(Screen::Successor),
        KeyCode::Char('t') if app.is_dead() => return app.go(Screen::Testament),
        _ => {}
    }
    Vec::new()
}

fn turn(app: &mut App, by: usize) -> Vec<HostRequest> {
    let at = Screen::TABS.iter().position(|(screen, _)| *screen == app.screen).unwrap_or(1);
    app.go(Screen::TABS[(at + by) % Screen::TABS.len()].0)
}

fn topic(app: &mut App, by: usize) {
    let at = Topic::ALL.iter().position(|topic| *topic == app.feed.topic).unwrap_or_default();
    (app.feed.topic, app.feed.back) = (Topic::ALL[(at + by) % Topic::ALL.len()], 0);
}

/// An order is only ever given to the living, and only once it was confirmed.
fn order(app: &mut App, order: OwnerOrder) {
    match app.chosen.clone() {
        Some(name) if app.is_dead() => app.notice = Some(format!("{name} is dead; nothing can be ordered any more")),
        Some(name) => app.over = Some(Over::Confirm(name, order)),
        None => {}
    }
}

fn question(app: &mut App) {
    match app.chosen.clone() {
        Some(name) if app.is_dead() => app.notice = Some(format!("{name} is dead; t shows what it left")),
        Some(name) => app.over = Some(Over::Question(name, String::new())),
        None => {}
    }
}

/// Answers what the chosen golem asks; confirmed like any order, so that no yes is a slip of the hand.
fn say(app: &mut App, yes: bool) {
    match app.status().and_then(Status::waits).map(|(key, _)| key) {
        Some(key) => order(app, OwnerOrder::Answer { key, yes }),
        None => app.notice = app.chosen.as_ref().map(|name| format!("{name} asks for nothing")),
    }
}

fn moved(at: usize, by: isize, count: usize) -> usize {
    at.saturating_add_signed(by).min(count.saturating_sub(1))
}

fn step(app: &mut App, by: isize) -> Vec<HostRequest> {
    match app.screen {
        Screen::Golems | Screen::Graveyard => {
            let there = if app.screen == Screen::Golems { app.listed() } else { app.dead() };
            let at = there.iter().position(|one| Some(&one.name) == app.chosen.as_ref());
            let next = there.get(at.map_or(0, |at| moved(at, by, there.len()))).map(|one| one.name.clone());
            if let Some(name) = next {
                app.choose(&name);
                return app.wanted();
            }
        }
        Screen::Family => app.at = moved(app.at, by, app.family.as_ref().map_or(0, Vec::len)),
        Screen::Memory => app.at = moved(app.at, by, app.memory.as_ref().map_or(0, Vec::len)),
        Screen::Dreams => {
            app.at = moved(app.at, by, app.nights.as_ref().map_or(0, |nights| nights.newest.len()));
            app.scroll = 0;
        }
        Screen::Events => app.feed.back = moved(app.feed.back, by, app.passing().count()),
        Screen::Life if app.is_dead() => app.at = moved(app.at, by, super::screens::death::OPTIONS.len()),
        Screen::Life => {
            let pressing = app.seen.as_ref().map_or(0, |seen| seen.told.load.stressors.len());
            app.scroll = moved(app.scroll, by, 3 * pressing + 1);
        }
        Screen::Clade => {
            let rows = app.clade.iter().flatten().map(|report| report.told.len()).sum();
            app.scroll = moved(app.scroll, by, rows);
        }
        Screen::Testament => app.scroll = moved(app.scroll, by, super::screens::testament::last(app) + 1),
        Screen::Successor => {}
    }
    Vec::new()
}

fn enter(app: &mut App) -> Vec<HostRequest> {
    match app.screen {
        Screen::Golems | Screen::Graveyard => app.go(Screen::Life),
        Screen::Family => {
            let marked = app.family.as_ref().and_then(|family| family.get(app.at)).map(|one| one.name.clone());
            marked.map_or_else(Vec::new, |name| {
                app.choose(&name);
                app.go(Screen::Life)
            })
        }
        Screen::Life if app.is_dead() => match app.at {
            0 => app.go(Screen::Successor),
            1 => app.go(Screen::Testament),
            2 => app.go(Screen::Graveyard),
            _ => {
                app.notice = Some("in another terminal: bardo golem new NAME --world edge".to_owned());
                Vec::new()
            }
        },
        _ => Vec::new(),
    }
}

fn back(app: &mut App) -> Vec<HostRequest> {
    match app.screen {
        Screen::Golems => app.names.clear(),
        Screen::Events if !app.feed.text.is_empty() => app.feed.text.clear(),
        Screen::Memory if !app.query.is_empty() => {
            app.query.clear();
            app.memory = None;
            return app.wanted();
        }
        Screen::Testament | Screen::Successor => return app.go(Screen::Life),
        _ => return app.go(Screen::Golems),
    }
    Vec::new()
}

/// Text for the line at the bottom.
fn write(app: &mut App, key: KeyCode) -> Vec<HostRequest> {
    let screen = app.screen;
    let text = match screen {
        Screen::Memory => &mut app.query,
        Screen::Events => &mut app.feed.text,
        _ => &mut app.names,
    };
    match key {
        KeyCode::Char(letter) => text.push(letter),
        KeyCode::Backspace => drop(text.pop()),
        KeyCode::Enter | KeyCode::Esc => {
            if key == KeyCode::Esc {
                text.clear();
            }
            app.typing = false;
        }
        _ => {}
    }
    match screen {
        Screen::Memory => {
            app.at = 0;
            let ask = |name: &String| HostRequest::Memory { name: name.clone(), query: app.query.clone() };
            app.chosen.iter().map(ask).collect()
        }
        _ => Vec::new(),
    }
}

/// Answers the box over the screen, or puts it away.
fn answer(app: &mut App, key: KeyCode) -> Vec<HostRequest> {
    let yes = matches!(key, KeyCode::Char('y' | 'Y'));
    match app.over.take() {
        Some(Over::Question(name, text)) => put(app, key, name, text),
        // Asked for with a y, it is confirmed with another key: one that is held down says nothing.
        Some(Over::Confirm(name, order)) if order.is_confirmed_by(key == KeyCode::Enter, yes) => {
            app.notice = Some(format!("{name} is told …"));
            vec![HostRequest::Order(name, order)]
        }
        Some(Over::ConfirmAll(order)) if yes => {
            app.notice = Some("all are told …".to_owned());
            vec![HostRequest::OrderAll(order)]
        }
        Some(Over::ConfirmHeir(dead)) if yes => match app.wizard.wish() {
            Ok(wish) => {
                app.notice = Some("an heir is being made …".to_owned());
                vec![HostRequest::Succeed { dead, wish }]
            }
            Err(why) => {
                app.notice = Some(why);
                Vec::new()
            }
        },
        Some(Over::Confirm(..) | Over::ConfirmAll(_) | Over::ConfirmHeir(_)) => {
            app.notice = Some("nothing was changed".to_owned());
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// A question is being typed.
fn put(app: &mut App, key: KeyCode, name: String, mut text: String) -> Vec<HostRequest> {
    match key {
        KeyCode::Esc => return Vec::new(),
        KeyCode::Enter if !text.trim().is_empty() => {
            app.notice = Some(format!("{name} is asked …"));
            return vec![HostRequest::Question { name, text }];
        }
        KeyCode::Char(letter) if text.chars().count() < golem::limits::STRATEGY => text.push(letter),
        KeyCode::Backspace => drop(text.pop()),
        _ => {}
    }
    app.over = Some(Over::Question(name, text));
    Vec::new()
}

/// Keys while an heir is described; none if the key means what it means everywhere.
fn fill_in(app: &mut App, key: KeyCode) -> Option<Vec<HostRequest>> {
    let wizard = &mut app.wizard;
    match key {
        KeyCode::Down | KeyCode::Tab => wizard.step(1),
        KeyCode::Up | KeyCode::BackTab => wizard.step(Field::ALL.len() - 1),
        KeyCode::Left | KeyCode::Right if wizard.field == Field::Inherit => wizard.flip(),
        KeyCode::Backspace => wizard.erase(),
        KeyCode::Enter if wizard.field != Field::Make => wizard.step(1),
        KeyCode::Enter => app.over = app.chosen.clone().map(Over::ConfirmHeir),
        KeyCode::Char(letter) if wizard.field != Field::Make => wizard.type_in(letter),
        _ => return None,
    }
    Some(Vec::new())
}
