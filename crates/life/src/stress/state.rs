//! The state of stress: stressors active, past and named by the golem.

use crate::stress::BREAKER_REST;
use crate::stress::Kind;
use crate::stress::ONSET;
use crate::stress::RELAPSE;
use crate::stress::kind::{PLACES, grown};
use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::assessment;
use super::assessment::{Gone, Named};
use super::ledger::Ledger;
use crate::constitution::StressFigures;
use crate::laws::Laws;
use crate::time::Span;

/// An active stressor of one of the kinds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stressor {
    pub kind: Kind,
    /// The domain it is about; none is about the whole life.
    pub domain: Option<u8>,
    /// How severe it was when it came.
    pub onset: f64,
    /// The age at which it came.
    pub since: Span,
    /// How long its condition has pressed. Whole milliseconds, so that any split of time weighs the same.
    pub held: Span,
    pub presses: bool,
    /// Completions that served the owner before it came.
    pub served: u64,
}

impl Stressor {
    pub fn severity(&self, figures: &StressFigures) -> f64 {
        grown(self.onset, figures.rates.of(self.kind).unwrap_or_default(), self.held)
    }
}

/// The history of one kind in one domain: one entry each, so none can push another out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    pub kind: Kind,
    pub domain: Option<u8>,
    pub times: u32,
    /// The worst it ever was.
    pub peak: f64,
    /// How severe it was when it last ended.
    pub severity: f64,
    pub ended: Span,
    /// Set aside by the circuit breaker, not cleared.
    pub suspended: bool,
    /// How often it has warned.
    pub warned: u32,
    /// How often its warning was right.
    pub right: u32,
}

impl Past {
    /// Whether its warnings are worth heeding: they are until they have been wrong more often than right.
    pub fn is_trusted(&self) -> bool {
        self.warned < 4 || self.right * 2 >= self.warned
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stress {
    pub active: ArrayVec<Stressor, PLACES>,
    pub past: Vec<Past>,
    /// Stressors that the golem has named itself. They are shown, and close no gate.
    pub named: Vec<Named>,
    /// Stressors named and not yet checked against a look at the world.
    pub asked: Vec<Named>,
    pub named_past: VecDeque<assessment::Gone>,
    /// Cycles spent in crisis, one after another.
    pub crises: u8,
    /// The age at which the circuit was last broken.
    pub broken: Option<Span>,
    /// True while the dream that should follow is still to come.
    pub dream_wanted: bool,
    /// The newest intent that was smaller than usual, and its share of the usual size.
    pub cautioned: Option<(u64, u8)>,
    /// The domain in which exposure was taken up against a warning.
    pub heeding: Option<u8>,
    pub ledger: Ledger,
}

impl Stress {
    pub fn find(&self, kind: Kind, domain: Option<u8>) -> Option<&Stressor> {
        self.active.iter().find(|stressor| stressor.kind == kind && stressor.domain == domain)
    }

    pub fn past_of(&self, kind: Kind, domain: Option<u8>) -> Option<&Past> {
        self.past.iter().find(|past| past.kind == kind && past.domain == domain)
    }

    /// How severe a stressor would begin now: as it last was, if it was here within a day.
    pub fn onset(&self, kind: Kind, domain: Option<u8>, age: Span) -> f64 {
        let recent = self.past_of(kind, domain).filter(|past| !past.suspended && age <= past.ended + RELAPSE);
        recent.map_or(ONSET, |past| past.severity.max(ONSET))
    }

    /// Whether the circuit breaker has set it aside and its day is not over.
    pub fn rests(&self, kind: Kind, domain: Option<u8>, age: Span) -> bool {
        self.past_of(kind, domain).is_some_and(|past| past.suspended && age < past.ended + BREAKER_REST)
    }

    /// Adds time lived to all stressors that press.
    pub(crate) fn live(&mut self, lived: Span) {
        for stressor in self.active.iter_mut().filter(|stressor| stressor.presses) {
            stressor.held = stressor.held + lived;
        }
        for named in &mut self.named {
            named.held = named.held + lived;
        }
    }

    pub(crate) fn raise(&mut self, kind: Kind, domain: Option<u8>, onset: f64, age: Span) {
        let served = self.ledger.served;
        let stressor = Stressor { kind, domain, onset, since: age, held: Span::ZERO, presses: true, served };
        self.ledger.begin_examination();
        // There is a place for every kind in every domain.
        let _ = self.active.try_push(stressor);
    }

    pub(crate) fn press(&mut self, kind: Kind, domain: Option<u8>, presses: bool) {
        for stressor in self.active.iter_mut().filter(|s| s.kind == kind && s.domain == domain) {
            stressor.presses = presses;
        }
    }

    pub(crate) fn end(&mut self, kind: Kind, domain: Option<u8>, severity: f64, age: Span, suspended: bool) {
        self.active.retain(|stressor| stressor.kind != kind || stressor.domain != domain);
        if !suspended {
            self.ledger.lived_down(kind);
        }
        match self.past.iter_mut().find(|past| past.kind == kind && past.domain == domain) {
            Some(past) => {
                past.times += 1;
                past.peak = past.peak.max(severity);
                (past.severity, past.ended, past.suspended) = (severity, age, suspended);
            }
            None => self.past.push(Past {
                kind,
                domain,
                times: 1,
                peak: severity,
                severity,
                ended: age,
                suspended,
                warned: 0,
                right: 0,
            }),
        }
    }

    /// Learns how warnings did, once exposure taken up against them is over.
    pub(crate) fn learned(&mut self, domain: u8, helped: bool, laws: &Laws) {
        self.heeding = None;
        let same = |past: &&mut Past| past.domain == Some(domain) && past.peak > laws.scar && !past.suspended;
        for past in self.past.iter_mut().filter(same).take(laws.signals) {
            past.warned += 1;
            past.right += u32::from(helped);
        }
    }
}

impl Stress {
    /// Settles the stressor named first: it weighs from now on, or it is dropped.
    pub(crate) fn name(&mut self, holds: bool, age: Span) {
        let named = self.asked.remove(0);
        if holds {
            self.named.push(Named { since: age, ..named });
        }
    }

    /// Ends a named stressor whose condition no longer holds.
    pub(crate) fn ease(&mut self, at: usize, rate: f64, age: Span, kept: usize) {
        let named = self.named.remove(at);
        let severity = named.severity(rate);
        self.named_past.push_back(Gone { name: named.name, condition: named.condition, severity, ended: age });
        while self.named_past.len() > kept {
            self.named_past.pop_front();
        }
    }
}
