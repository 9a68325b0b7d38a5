//! The pictures of a life: what a report and the page draw, each in its own way.

use golem::mortality::phase::Phase;
use golem::stress::Band;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::history::{History, LookRow};

/// Everything there is to draw of one life.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Pictures {
    /// When it was looked at, in days since its birth.
    pub days: Vec<f64>,
    /// How many days old it is, or became.
    pub end: f64,
    /// The day it died.
    pub died: Option<f64>,
    pub pictures: Vec<Picture>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Picture {
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The range that is always shown, from and to.
    pub least: [f64; 2],
    /// Nothing outside of that range is shown.
    pub fixed: bool,
    /// Lines across at round figures, or at figures that mean something.
    pub marks: Vec<f64>,
    /// Figures are shares, to be read as percent.
    pub share: bool,
    pub lines: Vec<Drawn>,
    /// Phases of the life.
    pub stretches: Vec<Stretch>,
    /// Days that are marked along the bottom.
    pub ticks: Vec<f64>,
}

/// One line: a value for each of the days, or none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Drawn {
    pub name: String,
    pub values: Vec<Option<f64>>,
}

/// A stretch of days in one phase.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Stretch {
    pub from: f64,
    pub to: f64,
    #[schema(value_type = String)]
    pub phase: Phase,
}

impl Pictures {
    pub fn of(history: &History) -> Pictures {
        let pictures = vec![life_line(history), parts(history), skills(history), money(history), load(history)];
        let days = history.looks.iter().map(|look| look.day).collect();
        Pictures { days, end: history.end(), died: history.died, pictures }
    }
}

fn picture(title: &str, note: &str, lines: Vec<Drawn>) -> Picture {
    Picture {
        title: title.to_owned(),
        note: note.to_owned(),
        least: [0.0, 1.0],
        fixed: true,
        marks: Vec::new(),
        share: false,
        lines,
        stretches: Vec::new(),
        ticks: Vec::new(),
    }
}

fn drawn(history: &History, name: &str, value: impl Fn(&LookRow) -> Option<f64>) -> Drawn {
    Drawn { name: name.to_owned(), values: history.looks.iter().map(value).collect() }
}

fn life_line(history: &History) -> Picture {
    let note = if history.nights.is_empty() {
        "Vitality, on the phases it went through."
    } else {
        "Vitality, on the phases it went through. Marks below: dreams."
    };
    let line = drawn(history, "vitality", |look| Some(look.vitality));
    let marks = vec![0.1, 0.3, 0.5, 0.7, 1.0];
    Picture {
        marks,
        stretches: stretches(history),
        ticks: history.nights.clone(),
        ..picture("Life line", note, vec![line])
    }
}

fn parts(history: &History) -> Picture {
    let lines = vec![
        drawn(history, "money", |look| Some(look.money)),
        drawn(history, "skill", |look| Some(look.touch)),
        drawn(history, "age", |look| Some(look.age)),
    ];
    let note = "The product of these three: none makes up for another.";
    Picture { marks: vec![0.0, 0.25, 0.5, 0.75, 1.0], ..picture("What vitality is made of", note, lines) }
}

fn skills(history: &History) -> Picture {
    let by_domain = history.domains.iter().enumerate();
    let lines = by_domain.map(|(at, name)| drawn(history, name, |look| look.skills[at])).collect();
    let note = "0.5 is as good as the naive forecast, 1 is perfect.";
    let marks = (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect();
    Picture { least: [0.35, 0.65], fixed: false, marks, ..picture("Skill, by domain", note, lines) }
}

fn money(history: &History) -> Picture {
    let lines = vec![
        drawn(history, "what it made", |look| Some(look.returned)),
        drawn(history, "buy and hold", |look| Some(look.held)),
    ];
    let note = if history.actions.is_empty() {
        "Its capital over time. It never acted."
    } else {
        "Its capital over time. Marks below: its actions."
    };
    let picture = picture("Return vs. buy and hold", note, lines);
    Picture { least: [-0.01, 0.01], fixed: false, share: true, ticks: history.actions.clone(), ..picture }
}

fn load(history: &History) -> Picture {
    let note = "The load of its stressors. From 0.55 it tries nothing new, from 0.75 it takes on no exposure.";
    let bands = [Band::Elevated, Band::Constrained, Band::Dominant, Band::Crisis];
    let line = drawn(history, "load", |look| Some(look.load));
    Picture { marks: bands.map(|band| band.from()).to_vec(), ..picture("Load", note, vec![line]) }
}

fn stretches(history: &History) -> Vec<Stretch> {
    let ends = history.phases.iter().skip(1).map(|(day, _)| *day).chain([history.end()]);
    history.phases.iter().zip(ends).map(|((from, phase), to)| Stretch { from: *from, to, phase: *phase }).collect()
}
