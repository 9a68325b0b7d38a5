//! A life as a story: of everything that happens, what a reader should hear of, in plain words, with the
//! specification's names in brackets. It only reads; what happens is decided elsewhere.

use std::collections::BTreeSet;

use golem::dream::{self, Fate};
use golem::event::Event;
use golem::mortality::economic;
use golem::mortality::{self, Clock, phase::Phase};
use golem::policy::{self, Refusal};
use golem::prediction::Prediction;
use golem::rule;
use golem::stress::{self, Band, words};
use golem::world::DomainKind;
use golem::{Life, Record, Span, Usdc};
use serde::Serialize;

use crate::output::{cents, count, units};

const DAY: f64 = 86_400_000.0;
/// The day on which the market turns, as the figures of the demo have it.
pub(super) const TURN: f64 = 10.0;

/// A moment worth telling.
#[derive(Debug, Serialize)]
pub(super) struct StoryLine {
    pub(super) station: &'static str,
    pub(super) golem: String,
    pub(super) day: f64,
    pub(super) tick: u64,
    pub(super) vitality: f64,
    pub(super) phase: Phase,
    pub(super) text: String,
}

/// Events that have been told, and facts to remember until their event can be.
#[derive(Default)]
pub(super) struct Story {
    told: BTreeSet<String>,
    /// The first prediction that said something else than naive, and how many of its domain come due until it does.
    awaited: Option<(usize, usize, Prediction)>,
    /// The price it paid for what it holds.
    bought: Option<Usdc>,
    /// Looks of the night it sleeps through.
    night: u32,
    /// Memories it has gone through in it.
    replayed: u32,
    /// How it stood at each look.
    pub(super) looks: Vec<StoryLook>,
}

#[derive(Clone, Copy)]
pub(super) struct StoryLook {
    pub(super) day: f64,
    pub(super) vitality: f64,
    pub(super) skill: f64,
}

impl Story {
    /// One record, and the life it led to.
    pub(super) fn hear(&mut self, record: &Record, life: &Life, mut tell: impl FnMut(StoryLine)) {
        for event in &record.events {
            if let Some((station, text)) = self.say(event, life) {
                tell(line(station, life, text));
            }
        }
    }

    fn say(&mut self, event: &Event, life: &Life) -> Option<(&'static str, String)> {
        match event {
            Event::Rule(rule::Event::Predicted { domain, naive, far, .. }) => {
                self.predicted(usize::from(*domain), naive + f64::from(*far), *naive, life)
            }
            Event::Rule(rule::Event::Scored { domain, actual }) => {
                self.scored(usize::from(*domain), Some(*actual), life)
            }
            Event::Rule(rule::Event::Voided { domain }) => self.scored(usize::from(*domain), None, life),
            Event::Policy(policy::Event::Settled { outcome, .. }) => {
                self.acted(outcome.units, outcome.cash - outcome.fee, life)
            }
            Event::Policy(policy::Event::Refused { rule }) | Event::Policy(policy::Event::Denied { rule, .. }) => {
                self.refused(*rule)
            }
            Event::Stress(stress::Event::Raised { kind, domain, .. }) => self.pressed(*kind, *domain, life),
            Event::Stress(stress::Event::Suspended) => self.once("suspended").then(|| {
                ("stress", "Three cycles of crisis: its stressors are set aside for a day [breaker].".to_owned())
            }),
            Event::Dream(dream::Event::Began { ticks, .. }) => {
                (self.night, self.replayed) = (*ticks, 0);
                None
            }
            Event::Dream(dream::Event::Dreamt(found)) => {
                self.replayed += found.replayed;
                let over = found.phase == dream::SleepStage::Integration;
                over.then(|| self.dreamt(self.replayed, found.proposed, found.staged.len())).flatten()
            }
            Event::Dream(dream::Event::Unstaged { fate: Fate::Promoted, .. }) if self.once("borne out") => {
                Some(("dream", "A rule it dreamt has held up awake, and is now in use.".to_owned()))
            }
            Event::Dream(dream::Event::Revised { .. }) if self.once("revised") => {
                Some(("dream", "Relearned in dreams, and better: the new rules replace the old.".to_owned()))
            }
            Event::Mortality(mortality::Event::EconomicCritical) if self.once("money") => {
                let left = economic::projected_life(life).map_or(String::new(), |left| format!(", enough for {left}"));
                Some(("money", format!("Money is short: {} left{left}.", cents(life.purse().credit))))
            }
            Event::Mortality(mortality::Event::PhaseChanged { to, trigger, .. }) => self.turned(*to, *trigger, life),
            Event::Mortality(mortality::Event::VitalityUpdated { composite }) => self.looked(*composite, life),
            Event::Mortality(mortality::Event::Died(death)) => {
                Some(("death", format!("Dies, {} old, {}.", life.age(), death.cause)))
            }
            _ => None,
        }
    }

    /// Whether this is the first time.
    fn once(&mut self, what: impl Into<String>) -> bool {
        self.told.insert(what.into())
    }

    /// The first that says something else than naive stands for all.
    fn predicted(&mut self, domain: usize, value: f64, naive: f64, life: &Life) -> Option<(&'static str, String)> {
        let spec = &life.birth().world.domains[domain];
        let tellable = spec.kind != DomainKind::Range && spec.horizon > 1;
        let own = tellable && (value - naive).abs() > 0.01 * naive.abs();
        let made = *life.open()[domain].back()?;
        if !own || !self.once("prediction") {
            return None;
        }
        self.awaited = Some((domain, life.open()[domain].len(), made));
        let ahead = life.birth().world.bar.times(u64::from(spec.horizon));
        let claim = match spec.kind {
            DomainKind::Direction => format!("up within {ahead}, with {}", figure(value)),
            _ => format!("{} will be {} in {ahead}", spec.name, figure(value)),
        };
        Some(("prediction", format!("Predicts [claim]: {claim}. \"No change\" would be {}.", figure(naive))))
    }

    fn scored(&mut self, domain: usize, actual: Option<f64>, life: &Life) -> Option<(&'static str, String)> {
        let (_, left, made) = self.awaited.as_mut().filter(|(awaited, ..)| *awaited == domain)?;
        *left -= 1;
        if *left > 0 {
            return None;
        }
        let made = *made;
        self.awaited = None;
        let direction = life.birth().world.domains[domain].kind == DomainKind::Direction;
        let (actual, came) = match actual? {
            actual if direction && actual > made.base => (1.0, "It went up".to_owned()),
            _ if direction => (0.0, "It went down".to_owned()),
            actual => (actual, format!("It was {}", figure(actual))),
        };
        let better = (made.value - actual).abs() < (made.naive - actual).abs();
        let how = if better { "better" } else { "worse" };
        Some((
            "outcome",
            format!("{came}, so the guess was {how} than \"no change\". Skill is this score, averaged; 0.50 is a tie."),
        ))
    }

    fn acted(&mut self, filled: i64, cash: Usdc, life: &Life) -> Option<(&'static str, String)> {
        let unit = &life.birth().world.unit;
        if filled > 0 && self.once("acted") {
            self.bought = Some(cash);
            let (amount, paid) = (units(filled), cents(Usdc::ZERO - cash));
            return Some((
                "action",
                format!("Acts: takes {amount} {unit} for {paid}, since holding paid here before."),
            ));
        }
        let bought = self.bought.filter(|_| filled < 0 && life.capital().holding == 0)?;
        self.bought = None;
        let result = bought + cash;
        let word = if result.is_positive() { "gained" } else { "lost" };
        let result = if result.is_positive() { result } else { Usdc::ZERO - result };
        Some(("action", format!("Gives it up for {}: {} {word}, costs included.", cents(cash), cents(result))))
    }

    fn refused(&mut self, rule: Refusal) -> Option<(&'static str, String)> {
        let name = serde_json::to_value(rule).ok()?;
        let name = name.as_str().or_else(|| name.as_object()?.keys().next().map(String::as_str))?.to_owned();
        self.once("refusal").then(|| ("refusal", format!("Wanted to act; refused: {rule} [{name}].")))
    }

    fn pressed(&mut self, kind: stress::Kind, domain: Option<u8>, life: &Life) -> Option<(&'static str, String)> {
        let (load, band) = (stress::load(life), stress::band(life));
        let first = self.once("stress");
        let worse = band >= Band::Constrained && self.once("worse");
        if !first && !worse {
            return None;
        }
        let title = words::title(life, kind, domain);
        let stressor = life.stress().active.iter().find(|s| s.kind == kind && s.domain == domain);
        let why = stressor.map_or(String::new(), |stressor| format!(": {}", words::why(life, stressor)));
        let opens = if first { "Under pressure" } else { "Pressed harder" };
        Some(("stress", format!("{opens}{why} [{title}; load {load:.2}, {band}].")))
    }

    fn dreamt(&mut self, replayed: u32, proposed: u32, staged: usize) -> Option<(&'static str, String)> {
        if !self.once("dream") {
            return None;
        }
        let came = match staged {
            0 => "None was reliably better.".to_owned(),
            1 => "One goes on trial and is not yet used.".to_owned(),
            n => format!("{n} go on trial and are not yet used."),
        };
        let looks = if self.night == 1 { "a look".to_owned() } else { format!("{} looks", self.night) };
        let text = format!("Sleeps for {looks} [dream]: tries {proposed} new rules on {replayed} memories. {came}");
        Some(("dream", text))
    }

    fn turned(&mut self, to: Phase, trigger: Clock, life: &Life) -> Option<(&'static str, String)> {
        // That it is well for a while longer is no news.
        if to == Phase::Stable || !self.once(to.to_string()) {
            return None;
        }
        let weakest = match trigger {
            Clock::Economic => "money",
            Clock::Epistemic => "skill",
            Clock::Stochastic => "age",
        };
        let text = match to {
            Phase::Thriving => format!("Thrives [thriving]: skill {:.2}.", life.vitality().epistemic),
            Phase::Stable => return None,
            Phase::Conservation => format!(
                "Saves its strength for want of {weakest} [conservation]: takes on nothing new, looks half as often."
            ),
            Phase::Declining => format!("Declines for want of {weakest} [declining]: may only give up what it holds."),
            Phase::Terminal => format!("Terminal for want of {weakest}: the rest is for its end."),
        };
        Some((if to == Phase::Declining { "declining" } else { "phase" }, text))
    }

    fn looked(&mut self, vitality: f64, life: &Life) -> Option<(&'static str, String)> {
        self.looks.push(StoryLook { day: days(life.age()), vitality, skill: life.vitality().epistemic });
        if days(life.age()) >= TURN && self.once("turn") {
            let text = "The market turns: what used to swing back goes on. What it learned is wrong from now on, and it \
                        learns no more.";
            return Some(("turn", text.to_owned()));
        }
        let week = (life.age().as_millis() as f64 / DAY / 7.0) as u64;
        if week == 0 || life.phase() <= Phase::Declining || !self.once(format!("week {week}")) {
            return None;
        }
        let scored: u64 = life.epistemic().domains.iter().map(|domain| domain.resolved).sum();
        let weeks = if week == 1 { "A week".to_owned() } else { format!("{week} weeks") };
        let (skill, left) = (life.vitality().epistemic, cents(life.purse().credit));
        Some(("week", format!("{weeks} old: {} predictions, skill {skill:.2}, {left} left.", count(scored))))
    }
}

pub(super) fn line(station: &'static str, life: &Life, text: String) -> StoryLine {
    StoryLine {
        station,
        golem: life.birth().name.to_string(),
        day: days(life.age()),
        tick: life.tick(),
        vitality: life.vitality().composite,
        phase: life.phase(),
        text,
    }
}

pub(super) fn days(span: Span) -> f64 {
    span.as_millis() as f64 / DAY
}

/// Shares as per cent, and anything larger as it is.
fn figure(value: f64) -> String {
    match value {
        small if small < 0.1 => format!("{:.3} %", small * 100.0),
        share if share <= 1.0 => format!("{:.0} %", share * 100.0),
        large => format!("{large:.1}"),
    }
}
