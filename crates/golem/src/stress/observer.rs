//! The observer: for every kind, when it begins, when it presses and when it clears, each a pure function of what is
//! on record. Nobody else can say that something has cleared: that takes [`Evidence`], and only this file makes any.

use serde::{Deserialize, Deserializer, Serialize};

use super::{BREAKER_CYCLES, BREAKER_REST, Band, Kind, Stressor, Word, band, load};
use crate::constitution::StressMode;
use crate::draft::Draft;
use crate::event::Event;
use crate::goal::{Ended, Goal};
use crate::life::Life;
use crate::time::Span;

/// Goals looked back on.
const GOALS: u32 = 20;
const HOUR: Span = Span::seconds(3_600);
/// Claims a self-examination needs.
const EXAMINED: u32 = 5;
/// Times in a cycle that everything is looked at without an occasion.
const LOOKS_A_CYCLE: u64 = 5;

/// Proof that a stressor's condition no longer holds.
///
/// Whoever lives inside a golem cannot make one. Journals hold evidence and can be read, but what is read from one is
/// a record of what was, and no input takes it:
///
/// ```compile_fail,E0451
/// use golem::stress::{Evidence, Kind};
/// let forged = Evidence { kind: Kind::Futility, domain: None, severity: 0.0, figure: 1.0 };
/// ```
///
/// ```compile_fail,E0277
/// let forged: golem::stress::Evidence = serde_json::from_str("{}").unwrap();
/// ```
///
/// ```compile_fail,E0599
/// fn clear(evidence: golem::stress::Evidence) -> golem::What {
///     golem::What::Cleared(evidence)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    kind: Kind,
    domain: Option<u8>,
    severity: f64,
    figure: f64,
}

impl Evidence {
    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn domain(&self) -> Option<u8> {
        self.domain
    }

    /// How severe it was when it cleared.
    pub fn severity(&self) -> f64 {
        self.severity
    }

    /// The figure that cleared it, in the unit of its kind.
    pub fn figure(&self) -> f64 {
        self.figure
    }

    /// Only journals hold evidence, and only their reader may read it back.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Evidence, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Evidence")]
        struct Written {
            kind: Kind,
            domain: Option<u8>,
            severity: f64,
            figure: f64,
        }
        let Written { kind, domain, severity, figure } = Written::deserialize(deserializer)?;
        Ok(Evidence { kind, domain, severity, figure })
    }
}

/// How things stand for one kind in one domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// What begins it, and makes it grow.
    pub presses: bool,
    /// Nothing is left of it.
    pub clears: bool,
    /// The figure it hangs on, in the unit of its kind.
    pub figure: f64,
}

/// Reads one kind off the record; `served` is what the ledger said when it came, for one that has.
pub fn find(life: &Life, kind: Kind, domain: Option<u8>, served: u64) -> Finding {
    match (kind, domain) {
        (Kind::RepeatedFailure, Some(domain)) => repeated_failure(life, domain),
        (Kind::Futility, Some(domain)) => futility(life, domain),
        (Kind::Futility, None) => {
            let below = life.stress.ledger.below;
            Finding { presses: below, clears: !below, figure: f64::from(u8::from(below)) }
        }
        (Kind::Invisibility, _) => invisibility(life),
        (Kind::IdentityViolation, _) => identity_violation(life),
        (Kind::ExistentialThreat, _) => existential_threat(life),
        (Kind::Purposelessness, _) => purposelessness(life, served),
        (Kind::RepeatedFailure, None) => Finding { presses: false, clears: true, figure: 0.0 },
    }
}

fn repeated_failure(life: &Life, domain: u8) -> Finding {
    let Some(tally) = life.goals.get(usize::from(domain)) else {
        return Finding { presses: false, clears: true, figure: 0.0 };
    };
    let (known, failed, _) = tally.last(GOALS);
    let share = f64::from(failed) / f64::from(known.max(1));
    Finding {
        presses: failed >= 4 && failed * 2 > known,
        clears: failed * 10 < known * 3 && known - failed >= 3,
        figure: share,
    }
}

fn futility(life: &Life, domain: u8) -> Finding {
    let Some(tally) = life.goals.get(usize::from(domain)) else {
        return Finding { presses: false, clears: true, figure: 0.0 };
    };
    let (_, _, effects) = tally.last(GOALS);
    Finding { presses: tally.completed(GOALS) >= 8 && effects <= 1, clears: effects >= 3, figure: f64::from(effects) }
}

fn invisibility(life: &Life) -> Finding {
    let ledger = &life.stress.ledger;
    let silent = life.age.as_millis() - ledger.answered.as_millis().min(life.age.as_millis());
    Finding {
        presses: ledger.outputs >= 50 && silent >= Span::DAY.times(7).as_millis(),
        clears: ledger.outputs == 0,
        figure: f64::from(ledger.outputs),
    }
}

fn identity_violation(life: &Life) -> Finding {
    let ledger = &life.stress.ledger;
    Finding {
        // While its owner has stopped it nothing is open to it, and nothing is held against it.
        presses: ledger.breached && ledger.decisions < 20 && !life.heartbeat.frozen,
        clears: !ledger.breached || ledger.decisions >= 20,
        figure: f64::from(ledger.decisions),
    }
}

/// Money and skill only: being old, unlucky or stopped by its owner is no threat a golem could answer.
fn existential_threat(life: &Life) -> Finding {
    let clocks = life.constitution().clocks();
    let projected = life.purse.projected_life(life);
    let left = |hours: u64| projected.is_none_or(|left| left >= HOUR.times(hours));
    let fitness = if clocks.epistemic { life.vitality.epistemic } else { 1.0 };
    let falling = life.stress.ledger.falling;
    Finding {
        presses: !left(72) || (fitness < 0.45 && falling),
        clears: left(96) && (fitness >= 0.50 || !falling),
        figure: projected.map_or(f64::MAX, |left| left.as_millis() as f64 / HOUR.as_millis() as f64),
    }
}

fn purposelessness(life: &Life, served: u64) -> Finding {
    let ledger = &life.stress.ledger;
    let (known, serving, repeating) = ledger.purpose(GOALS);
    let idle = known - serving.min(known);
    Finding {
        presses: known >= 8 && (idle * 2 > known || repeating * 10 > known * 7),
        clears: ledger.served > served,
        figure: ledger.served.saturating_sub(served) as f64,
    }
}

/// Every kind in every domain it can be about.
pub(super) fn places(life: &Life) -> impl Iterator<Item = (Kind, Option<u8>)> + use<> {
    let domains = life.birth.world.domains.len() as u8;
    let each = move |kind| (0..domains).map(move |domain| (kind, Some(domain)));
    let whole =
        [Kind::Futility, Kind::Invisibility, Kind::IdentityViolation, Kind::ExistentialThreat, Kind::Purposelessness];
    each(Kind::RepeatedFailure).chain(each(Kind::Futility)).chain(whole.map(|kind| (kind, None)))
}

/// Holds every kind against the record, whenever something was put on record that one could hang on, and every few
/// looks for what only time changes. When that is depends on nothing the golem says, so asking makes no difference.
pub(crate) fn observe(draft: &mut Draft<'_>, ticked: bool) {
    if draft.constitution().stress.mode == StressMode::Off || draft.is_dead() {
        return;
    }
    if ticked {
        examine(draft);
    }
    let soon = (draft.constitution().cycle() / LOOKS_A_CYCLE).max(1);
    if (ticked && draft.tick.is_multiple_of(soon)) || draft.events().iter().any(bears_on_it) {
        look(draft);
    }
    if ticked && !draft.stress.active.is_empty() {
        call_out(draft);
    }
    if ticked {
        break_circuit(draft);
    }
}

/// What a kind may hang on, apart from the time.
fn bears_on_it(event: &Event) -> bool {
    use Event::{Declined, Finished, Funded, Obeyed, Refused, Settled, Thawed};
    matches!(
        event,
        Finished { .. } | Refused { .. } | Funded { .. } | Obeyed { .. } | Declined { .. } | Settled { .. } | Thawed
    )
}

fn look(draft: &mut Draft<'_>) {
    for (kind, domain) in places(draft) {
        let active = draft.stress.find(kind, domain).map(|stressor| (stressor.served, stressor.presses));
        let served = active.map_or(0, |(served, _)| served);
        let found = find(draft, kind, domain, served);
        match active {
            None if found.presses && !draft.stress.rests(kind, domain, draft.age) => {
                let severity = draft.stress.onset(kind, domain, draft.age);
                draft.emit(Event::Raised { kind, domain, severity });
            }
            Some(_) if found.clears => {
                let severity = severity(draft, kind, domain);
                draft.emit(Event::Cleared(Evidence { kind, domain, severity, figure: found.figure }));
            }
            Some((_, presses)) if presses != found.presses => {
                draft.emit(Event::Pressed { kind, domain, presses: found.presses });
            }
            _ => {}
        }
    }
}

fn severity(life: &Life, kind: Kind, domain: Option<u8>) -> f64 {
    let figures = &life.constitution().stress;
    life.stress.find(kind, domain).map_or(0.0, |stressor: &Stressor| stressor.severity(figures))
}

/// Looks into its own claims where something is wrong, every cycle: open at any load, and counted as a goal there, so
/// that there is always a way out. Not being worse than naive is what it sets out for.
fn examine(draft: &mut Draft<'_>) {
    if draft.stress.active.is_empty() || !draft.tick.is_multiple_of(draft.constitution().cycle()) {
        return;
    }
    let first = (0..draft.birth.world.domains.len() as u8).find(|domain| serves(draft, *domain));
    for domain in 0..draft.birth.world.domains.len() as u8 {
        let about = draft.stress.active.iter().any(|s| match s.kind {
            Kind::Purposelessness => first == Some(domain),
            _ => s.domain == Some(domain),
        });
        let Some(seen) = draft.stress.ledger.examined.get(usize::from(domain)).copied() else { continue };
        if about && seen.claims >= EXAMINED {
            let sound = seen.error <= seen.naive * (1.0 + draft.laws().echo);
            let ended = if sound { Ended::Effective } else { Ended::Failed };
            draft.emit(Event::Finished { goal: Goal::SelfExamine, domain, ended });
        }
    }
}

/// Whether work in a domain serves its owner.
pub(crate) fn serves(life: &Life, domain: u8) -> bool {
    let Some(spec) = life.birth.world.domains.get(usize::from(domain)) else { return false };
    let objectives = &life.constitution().stress.objectives;
    if objectives.is_empty() { spec.weight > 0.0 } else { objectives.contains(&spec.name) }
}

/// In a crisis its peers are told, once a day at most.
fn call_out(draft: &mut Draft<'_>) {
    let lately = draft.stress.called_out.is_some_and(|last| draft.age < last + Span::DAY);
    if !lately && band(draft) == Band::Crisis {
        let word = Word::Crisis { load: load(draft) };
        called_out(draft, word);
    }
}

/// A word to its peers, to be passed on by the host.
pub(crate) fn called_out(draft: &mut Draft<'_>, word: Word) {
    draft.emit(Event::CalledOut { number: draft.stress.words + 1, word });
}

/// A crisis that does not end is broken off once a day: what is active is set aside, not cleared.
fn break_circuit(draft: &mut Draft<'_>) {
    if !draft.tick.is_multiple_of(draft.constitution().cycle()) {
        return;
    }
    let crises = if band(draft) == Band::Crisis { (draft.stress.crises + 1).min(BREAKER_CYCLES) } else { 0 };
    if crises != draft.stress.crises {
        draft.emit(Event::Cycled { crises });
    }
    let rested = draft.stress.broken.is_none_or(|last| draft.age >= last + BREAKER_REST);
    if crises >= BREAKER_CYCLES && rested {
        draft.emit(Event::Suspended);
    }
}
