//! `golem list`: everyone at a glance, in columns that hold whatever is in them.

use std::process::ExitCode;

use golem::mortality::phase::Phase;
use serde_json::json;
use shell::home::GolemGlance;
use shell::{Error, GolemHome, Home};
use vault::{Glance, Head, Seal};

use crate::args::{ListArgs, SortBy};
use crate::output::{self, count, line};

/// How a golem stands, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListState {
    Moved,
    Dead,
    Frozen,
    Paused,
    Asking,
    Dreaming,
    /// Somebody runs it.
    Living,
    /// Released: the owner keeps the golem from hosts.
    Released,
    /// A host is up and does not run it.
    Stopped,
    /// No process runs the golem.
    Idle,
    /// No process can run the golem until its owner has mended it.
    Locked,
    Headless,
}

impl ListState {
    fn of(home: &Home, place: &GolemHome, glance: &Glance, running: bool, wrong: Option<&str>) -> ListState {
        let moved = Head::peek(&home.heads(), glance.id).is_some_and(|anchor| anchor.seal != Seal::Open);
        if moved {
            ListState::Moved
        } else if glance.dead {
            ListState::Dead
        } else if wrong == Some("locked") {
            ListState::Locked
        } else if wrong.is_some() {
            ListState::Headless
        } else if glance.frozen || place.frozen().is_some() {
            ListState::Frozen
        } else if glance.paused {
            ListState::Paused
        } else if glance.asks {
            ListState::Asking
        } else if glance.asleep {
            ListState::Dreaming
        } else if running {
            ListState::Living
        } else if place.is_released() {
            ListState::Released
        } else if home.is_up() {
            ListState::Stopped
        } else {
            ListState::Idle
        }
    }

    fn name(self) -> &'static str {
        match self {
            ListState::Moved => "moved",
            ListState::Dead => "dead",
            ListState::Frozen => "frozen",
            ListState::Paused => "paused",
            ListState::Asking => "asking",
            ListState::Dreaming => "dreaming",
            ListState::Living => "living",
            ListState::Released => "released",
            ListState::Stopped => "stopped",
            ListState::Idle => "idle",
            ListState::Locked => "locked",
            ListState::Headless => "no head",
        }
    }

    fn is_wanted(self, args: &ListArgs) -> bool {
        let any = args.living || args.dead || args.frozen || args.paused || args.asking;
        let alive = !matches!(self, ListState::Dead | ListState::Moved);
        !any || (args.living && alive)
            || (args.dead && self == ListState::Dead)
            || (args.frozen && self == ListState::Frozen)
            || (args.paused && self == ListState::Paused)
            || (args.asking && self == ListState::Asking)
    }
}

struct ListRow {
    place: GolemHome,
    seen: Result<(Glance, ListState, bool), Error>,
    /// Why no process can run it.
    wrong: Option<String>,
}

pub(crate) fn list(home: &Home, args: &ListArgs, json: bool) -> Result<ExitCode, Error> {
    let all = home.glances()?;
    let none = all.is_empty();
    let (mut rows, buried): (Vec<ListRow>, Vec<ListRow>) =
        all.into_iter().map(|seen| row(home, seen)).partition(|row| row.place.is_buried() == args.buried);
    rows.retain(|row| row.seen.as_ref().map_or(true, |(_, state, _)| state.is_wanted(args)));
    sort(&mut rows, args.sort);
    if json {
        rows.iter().for_each(print_json);
        return Ok(ExitCode::SUCCESS);
    }
    match (none, rows.is_empty()) {
        (true, _) => line("no golems yet; make one with `bardo golem new NAME --world edge`"),
        (_, true) => line("no golem here matches"),
        _ => print(&rows),
    }
    if !args.buried && !buried.is_empty() {
        line(format!("{} buried; `bardo golem list --buried` shows them", count(buried.len() as u64)));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(home: &Home, (place, seen): GolemGlance) -> ListRow {
    let mut why = None;
    let seen = seen.map(|(glance, running)| {
        let wrong = place.unlivable(glance.id);
        let running = running && wrong.is_none();
        let state = ListState::of(home, &place, &glance, running, wrong.as_ref().map(|(state, _)| *state));
        why = wrong.filter(|_| matches!(state, ListState::Locked | ListState::Headless)).map(|(_, why)| why);
        (glance, state, running)
    });
    ListRow { place, seen, wrong: why }
}

/// Sorts the rows; golems that cannot be read come last in any order.
fn sort(rows: &mut [ListRow], by: SortBy) {
    let key = |row: &ListRow| {
        let (glance, state, _) = row.seen.as_ref().ok()?;
        let figure = match by {
            SortBy::Name => 0.0,
            SortBy::State => f64::from(*state as u8),
            SortBy::Vitality => glance.vitality,
            SortBy::Age => -(glance.age.as_millis() as f64),
            SortBy::Credit => glance.credit.as_f64(),
            SortBy::Net => glance.books.net.as_f64(),
        };
        Some(figure)
    };
    rows.sort_by(|a, b| match (key(a), key(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
}

fn print_json(row: &ListRow) {
    match &row.seen {
        Ok((glance, state, running)) => output::json(&json!({
            "name": row.place.name, "id": glance.id.to_string(), "state": state.name(), "running": running,
            "phase": glance.phase, "vitality": glance.vitality, "age_ms": glance.age, "ticks": glance.tick,
            "credit": glance.credit, "books": glance.books, "calls": glance.calls,
            "buried": row.place.is_buried(), "why": row.wrong, "money_unit": output::MONEY_UNIT,
            "credit_usd": output::usd(glance.credit), "net_usd": output::usd(glance.books.net),
            "spent_usd": output::usd(glance.books.spent + glance.books.gas),
            "given_usd": output::usd(glance.books.given.credit + glance.books.harvested),
        })),
        Err(e) => output::json(&json!({ "name": row.place.name, "error": e.to_string() })),
    }
}

/// The spent share of the money it was given, for owners with an agent on a budget.
fn spent(glance: &Glance) -> String {
    let books = &glance.books;
    let given = books.given.credit + books.harvested;
    if glance.calls == 0 {
        String::new()
    } else {
        format!("{} of {}", output::cents(books.spent + books.gas), output::cents(given))
    }
}

fn print(rows: &[ListRow]) {
    let heads = ["NAME", "STATE", "PHASE", "VITALITY", "AGE", "TICKS", "CREDIT", "NET", "SPENT"].map(str::to_owned);
    let cells = |row: &ListRow| -> Option<[String; 9]> {
        let (glance, state, _) = row.seen.as_ref().ok()?;
        let phase = |phase: Phase| if glance.dead { String::new() } else { phase.to_string() };
        Some([
            row.place.name.to_string(),
            state.name().to_owned(),
            phase(glance.phase),
            format!("{:.2}", glance.vitality),
            glance.age.to_string(),
            count(glance.tick),
            output::cents(glance.credit),
            output::cents(glance.books.net),
            spent(glance),
        ])
    };
    let table: Vec<[String; 9]> = [heads].into_iter().chain(rows.iter().filter_map(cells)).collect();
    let width = |at: usize| table.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 9] = std::array::from_fn(width);
    // Without any agent the column of agents is left out.
    let shown = if table.iter().skip(1).all(|row| row[8].is_empty()) { 8 } else { 9 };
    for row in &table {
        // Words to the left, figures to the right.
        let cells = row
            .iter()
            .zip(widths)
            .take(shown)
            .enumerate()
            .map(|(at, (cell, width))| if at < 3 { format!("{cell:<width$}") } else { format!("{cell:>width$}") });
        line(cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    for row in rows {
        match (&row.seen, &row.wrong) {
            (Err(e), _) => line(format!("{:<width$}  cannot be read: {e}", row.place.name, width = widths[0])),
            (Ok(_), Some(why)) => line(format!("{:<width$}  {why}", row.place.name, width = widths[0])),
            (Ok(_), None) => {}
        }
    }
}
