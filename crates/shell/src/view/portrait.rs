//! One life on one screen, as `golem show`, a report and the page show it.

use golem::Life;
use golem::Span;
use golem::books::Books;
use golem::daimon::{Octant, Pad};
use golem::mortality::economic;
use golem::mortality::epistemic::domain_fitness;
use golem::mortality::stochastic;
use golem::stress::words;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::figures::{count, date, units};
use super::purse::Purse;

/// One row: a label and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Row {
    pub about: String,
    pub says: String,
}

/// Name and state; the name is the one it has now.
pub fn head(name: &str, life: &Life, running: bool) -> String {
    match &life.death() {
        Some(_) => format!("{name}  dead"),
        None => {
            let notes =
                [(life.heartbeat().paused, "paused"), (life.heartbeat().frozen, "frozen"), (running, "running")];
            let notes: Vec<&str> = notes.iter().filter(|(on, _)| *on).map(|(_, note)| *note).collect();
            let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
            format!("{name}  {}  vitality {:.2}{notes}", life.phase(), life.vitality().composite)
        }
    }
}

/// Every row about a golem at this moment, under the name it has now.
pub fn rows(name: &str, life: &Life) -> Vec<Row> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if let Some(death) = &life.death() {
        rows.push(("died", death.cause.to_string()));
    }
    let open = life.death().into_iter().flat_map(|death| &death.open);
    let open: Vec<String> =
        open.map(|open| format!("{} {:.2}", words::title(life, open.kind, open.domain), open.severity)).collect();
    if !open.is_empty() {
        rows.push(("pressed by", open.join(", ")));
    }
    let calls = life.calls().made + life.calls().denied > 0;
    rows.extend(calls.then(|| ("spent", Purse::of(life).to_string())));
    let world = &life.birth().world;
    rows.push(("world", format!("{}, looked at every {}", world.world, life.constitution().interval)));
    let lifespan = life.constitution().vitality.lifespan;
    rows.push(("age", format!("{} of about {lifespan}, {} ticks", life.age(), count(life.tick()))));
    rows.push(("time", date(life.now())));
    rows.extend(money(life));
    if let Some(ask) = golem::policy::asks(life) {
        rows.push(("asks you", format!("{ask}; until {}: bardo golem approve {name} {}", date(ask.until), ask.key)));
    }
    if let Some(hold) = life.calls().hold {
        rows.push(("asks you", format!("its calls are stopped after {hold}: bardo golem approve {name} {}", hold.key)));
    }
    if let Some((said, at)) = &life.said() {
        let what = if said.done { "is done" } else { "asks" };
        rows.push(("agent", format!("{what}, {}: {}", date(*at), said.text)));
    }
    if !world.domains.is_empty() {
        rows.push(("skill", skill(life)));
    }
    if life.dated_made() > 0 {
        let open = life.dated().len() as u64;
        rows.push((
            "claims",
            format!("{} made, {} of them still to be answered", count(life.dated_made()), count(open)),
        ));
    }
    if !life.is_dead() && world.regime.is_some() {
        rows.push(("regime", format!("{} since {}", life.regimes().now, date(life.regimes().since))));
    }
    if life.episodes().made > 0 {
        let entries = count(u64::from(life.knowing().alive));
        rows.push(("memory", format!("{entries} entries in use, {} episodes", count(life.episodes().made))));
    }
    match life.clade().heard.len() {
        0 => {}
        1 => rows.push(("siblings", "one has told it something".to_owned())),
        several => rows.push(("siblings", format!("{several} have told it something"))),
    }
    if !life.is_dead() {
        rows.push(("phase", super::words::phase(life)));
    }
    rows.extend(super::words::strategy(life).map(|said| ("prefers", said)));
    rows.extend(super::words::phages(life).map(|said| ("phages", said)));
    rows.extend(super::words::calls(life).map(|said| ("calls", said)));
    rows.extend(super::words::thoughts(life).map(|said| ("thoughts", said)));
    rows.extend(super::words::mind(life).map(|said| ("mind", said)));
    if !life.is_dead() {
        rows.push(("load", words::summary(life)));
        rows.push(("mood", mood(life)));
        rows.push(("chance", chance(life)));
        rows.push(("heartbeat", life.heartbeat().state.to_string()));
    }
    let seeded = if life.birth().seeded { " (seeded: this life can be foreseen)" } else { "" };
    rows.push(("id", format!("{}{seeded}", life.id())));
    rows.into_iter().map(|(about, says)| Row { about: about.to_owned(), says }).collect()
}

fn mood(life: &Life) -> String {
    let mood = life.daimon().mood;
    let Pad { pleasure, arousal, dominance } = mood;
    match mood.octant() {
        Octant::Neutral => Octant::Neutral.to_string(),
        octant => format!("{octant} (pleasure {pleasure:+.2}, arousal {arousal:+.2}, dominance {dominance:+.2})"),
    }
}

/// Rows on money: what it has and for how long, where each cent came from and went, and the result for its owner.
fn money(life: &Life) -> Vec<(&'static str, String)> {
    let (purse, capital, books) = (&life.purse(), &life.capital(), Books::of(life));
    let mut rows = Vec::new();
    if !life.is_dead() {
        let kept = economic::reserve(life).min(purse.credit);
        let lasts = economic::projected_life(life).map_or(String::new(), |left| format!("; enough for {left}"));
        let imputed = if life.policy().imputed { ", imputed: not billed" } else { "" };
        let text = format!("{} of {}{imputed}, {kept} of it kept for dying{lasts}", purse.credit, purse.funding);
        rows.push(("lives on", text));
    }
    if capital.holding != 0 {
        let (units, unit) = (units(capital.holding), &life.birth().world.unit);
        let worth = capital.worth(life.seen().unit);
        rows.push(("holds", format!("{units} {unit} acquired for {}; capital is worth {worth}", capital.cost)));
    }
    rows.push(("credit", books.credit()));
    if capital.given.is_positive() {
        rows.push(("capital", books.capital()));
    }
    rows.push(("net", books.net()));
    rows
}

fn skill(life: &Life) -> String {
    let each = life.birth().world.domains.iter().enumerate().map(|(at, spec)| match domain_fitness(life, at) {
        Some(fitness) => format!("{} {fitness:.2}", spec.name),
        None => format!("{} unknown", spec.name),
    });
    format!("{:.2} ({}); 0.50 is as good as naive", life.vitality().epistemic, each.collect::<Vec<_>>().join(", "))
}

fn chance(life: &Life) -> String {
    if !life.constitution().clocks().stochastic {
        return "off".to_owned();
    }
    let rate = stochastic::rate(&life.constitution().stochastic, life.age(), stochastic::robustness(life));
    let per_day = rate * Span::DAY.reference_ticks();
    format!("dies within a day with a probability of about {:.3} %", per_day.min(1.0) * 100.0)
}
