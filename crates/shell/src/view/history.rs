//! The course of a life, read from its journal by living it again: pictures are drawn from it.

use std::ops::ControlFlow;

use golem::dream;
use golem::event::Event;
use golem::information::{ClaimLog, Sign, Window};
use golem::mortality;
use golem::mortality::epistemic::domain_fitness;
use golem::mortality::phase::Phase;
use golem::mortality::vitality::Parts;
use golem::policy;
use golem::{Life, Record, Usdc, stress};
use serde::{Deserialize, Serialize};
use vault::Reader;

use super::narrator::Narrator;
use crate::{Error, GolemHome};

const DAY: f64 = 86_400_000.0;
/// Looks kept; a longer life is thinned out evenly.
const MOST: usize = 1_000;

#[derive(Debug, Default, Serialize)]
pub struct History {
    pub looks: Vec<LookRow>,
    /// From which day on it was in which phase.
    pub phases: Vec<(f64, Phase)>,
    /// The days on which nights began.
    pub nights: Vec<f64>,
    /// When exposure was taken up or given up.
    pub actions: Vec<f64>,
    pub died: Option<f64>,
    /// Worth of the claims over time, in bits.
    pub information: Vec<Window>,
    pub sign: Option<Sign>,
    pub domains: Vec<String>,
    #[serde(skip)]
    pub life: Option<Life>,
    #[serde(skip)]
    every: u64,
    #[serde(skip)]
    first_unit: Option<Usdc>,
}

/// The state of a history from which it can be continued, once more of the life is there.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Course {
    looks: Vec<LookRow>,
    phases: Vec<(f64, Phase)>,
    nights: Vec<f64>,
    actions: Vec<f64>,
    died: Option<f64>,
    domains: Vec<String>,
    every: u64,
    first_unit: Option<Usdc>,
}

/// The golem as it stood at one look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LookRow {
    pub day: f64,
    pub vitality: f64,
    /// The factors of vitality: money, touch and age.
    pub money: f64,
    pub touch: f64,
    pub age: f64,
    pub skill: f64,
    /// Skill by domain; none where too little was claimed.
    pub skills: Vec<Option<f64>>,
    /// Change of the capital so far, as a share.
    pub returned: f64,
    /// Change of the capital if it had simply been held.
    pub held: f64,
    pub load: f64,
}

impl History {
    pub fn read(place: &GolemHome) -> Result<History, Error> {
        let reader = Reader::open(&place.database())?;
        let mut narrator = Narrator::before(&reader)?;
        let (mut history, mut heard) = (History::before(narrator.life()), ClaimLog::default());
        reader.replay(|record| {
            history.take_in(&record, &mut narrator)?;
            if let Some(life) = narrator.life() {
                heard.hear(&record, life);
            }
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        history.sign = heard.sign();
        history.information = heard.windows;
        history.life = narrator.life().cloned();
        Ok(history)
    }

    /// Begins where a journal does: before the birth, or with this life.
    pub(super) fn before(life: Option<&Life>) -> History {
        let mut history = History { every: 1, ..History::default() };
        if let Some(life) = life {
            history.begin(life);
        }
        history
    }

    /// Goes on where one like this was left.
    pub(super) fn of(course: Course) -> History {
        let Course { looks, phases, nights, actions, died, domains, every, first_unit } = course;
        History { looks, phases, nights, actions, died, domains, every, first_unit, ..History::default() }
    }

    pub(super) fn course(&self) -> Course {
        Course {
            looks: self.looks.clone(),
            phases: self.phases.clone(),
            nights: self.nights.clone(),
            actions: self.actions.clone(),
            died: self.died,
            domains: self.domains.clone(),
            every: self.every,
            first_unit: self.first_unit,
        }
    }

    /// Takes in the next record.
    pub(super) fn take_in(&mut self, record: &Record, narrator: &mut Narrator) -> Result<(), Error> {
        narrator.tell(record, |_| {})?;
        if let Some(life) = narrator.life() {
            record.events.iter().for_each(|event| self.hear(event, life));
        }
        Ok(())
    }

    /// How many days old it is, or became.
    pub fn end(&self) -> f64 {
        self.life.as_ref().map_or(0.0, |life| life.age().as_millis() as f64 / DAY)
    }

    fn begin(&mut self, life: &Life) {
        self.domains = life.birth().world.domains.iter().map(|domain| domain.name.clone()).collect();
        self.phases.push((life.age().as_millis() as f64 / DAY, life.phase()));
    }

    fn hear(&mut self, event: &Event, life: &Life) {
        let day = life.age().as_millis() as f64 / DAY;
        match event {
            Event::Born(_) => self.begin(life),
            Event::Mortality(mortality::Event::PhaseChanged { to, .. }) => self.phases.push((day, *to)),
            Event::Dream(dream::Event::Began { .. }) => self.nights.push(day),
            Event::Policy(policy::Event::Settled { outcome, .. }) if outcome.units != 0 => self.actions.push(day),
            Event::Mortality(mortality::Event::Died(_)) => self.died = Some(day),
            Event::Mortality(mortality::Event::VitalityUpdated { .. }) => self.look(day, life),
            _ => {}
        }
    }

    fn look(&mut self, day: f64, life: &Life) {
        self.first_unit = self.first_unit.or(Some(life.seen().unit).filter(|unit| unit.is_positive()));
        if !life.tick().is_multiple_of(self.every) {
            return;
        }
        let share = |now: Usdc, then: Usdc| if then.is_positive() { now.as_f64() / then.as_f64() - 1.0 } else { 0.0 };
        let worth = life.capital().worth(life.seen().unit) + life.capital().withdrawn + life.capital().harvested;
        let parts = Parts::of(life, life.vitality().epistemic);
        self.looks.push(LookRow {
            day,
            vitality: life.vitality().composite,
            money: parts.economic,
            touch: parts.epistemic,
            age: parts.age,
            skill: life.vitality().epistemic,
            skills: (0..self.domains.len()).map(|domain| domain_fitness(life, domain)).collect(),
            returned: share(worth, life.capital().given),
            held: self.first_unit.map_or(0.0, |first| share(life.seen().unit, first)),
            load: stress::load(life),
        });
        if self.looks.len() > MOST {
            self.looks = std::mem::take(&mut self.looks).into_iter().skip(1).step_by(2).collect();
            self.every *= 2;
        }
    }
}
