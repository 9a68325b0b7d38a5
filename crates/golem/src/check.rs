//! Refuses an input that contradicts what is already known, before anything is emitted.

use life::dream::{self, Found, Idea, Origin, PROMOTED, Revision, Staged};
use life::grimoire::Decision;
use life::money::Usdc;
use life::rule::{Comparison, Condition, Heuristic};
use life::time::Time;
use life::world::{Effect, Fate, Observation};
use life::{Life, limits};

use crate::grimoire::{self, Curation};
use crate::{Fault, Input, What};

/// Refuses an input that contradicts what is already known, before anything is emitted.
pub(crate) fn check(life: &Life, input: &Input) -> Result<(), Fault> {
    if input.now < life.now() {
        return Err(Fault::Backwards { now: input.now, last: life.now() });
    }
    match &input.what {
        What::Observed(observation) => check_observation(life, input.now, observation),
        What::Funded { transfer, credit, capital } => {
            let bounded = |amount: Usdc| amount >= Usdc::ZERO && amount <= Usdc::MOST;
            let sum = |given: Usdc, more: Usdc| given.checked_add(more).is_some_and(bounded);
            let sums = sum(life.purse().given, *credit) && sum(life.capital().given, *capital);
            if *transfer > life.transfers_taken() + 1 {
                Err(Fault::Transfer { expected: life.transfers_taken() + 1, got: *transfer })
            } else if bounded(*credit) && bounded(*capital) && sums {
                Ok(())
            } else {
                Err(Fault::Amount)
            }
        }
        What::Previewed { quote: Some(quote), .. } => {
            let sound = sane(quote.cash) && sane(quote.fee) && sane(quote.gas);
            if sound && quote.fee.min(quote.gas) >= Usdc::ZERO { Ok(()) } else { Err(Fault::Amount) }
        }
        What::Landed { key, fate } => check_fate(life, *key, fate),
        What::Curated(answer) => check_answer(life, answer),
        What::Dreamt(found) => check_found(life, found),
        What::Answered { cost, said, .. } => {
            let sound = said.as_ref().map_or(true, |answer| answer.is_sound(&life.birth().world));
            let speaks_of_now =
                input.now == life.now() || said.as_ref().map_or(true, |answer| answer.assessment.is_none());
            match sound && *cost >= Usdc::ZERO {
                true if speaks_of_now => Ok(()),
                true => Err(Fault::Untimely),
                false => Err(Fault::Thought),
            }
        }
        // A word about another moment could move what runs out by time.
        What::Spoken(_) if input.now != life.now() => Err(Fault::Untimely),
        What::Spoken(word) => word.check(&life.birth().world).map_err(Fault::Word),
        What::Called(call, _) if call.most < Usdc::ZERO || call.most > Usdc::MOST => Err(Fault::Amount),
        What::Called(_, Some(origin)) if !origin.is_plain() => Err(Fault::Origin),
        What::Settled { cost, used, .. } => {
            let sound = *cost >= Usdc::ZERO && sane(*cost) && used.model.chars().count() <= limits::MODEL;
            if sound { Ok(()) } else { Err(Fault::Amount) }
        }
        // An assessment of another moment could move what runs out by time.
        What::Assessed(_) if input.now != life.now() => Err(Fault::Untimely),
        _ => Ok(()),
    }
}

/// Refuses an answer that is unbounded, or a rule that this world could not have.
fn check_answer(life: &Life, answer: &Curation) -> Result<(), Fault> {
    let world = &life.birth().world;
    let fits = |condition: &Condition, domain: u8| {
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        usize::from(domain) < world.domains.len() && condition.0.iter().all(known)
    };
    let blends = |h: &Heuristic| h.blend.as_ref().is_none_or(|blend| blend.is_sound(world.features.len()));
    let kept = answer.decisions.iter().all(|decision| match decision {
        Decision::Put(entry) => {
            entry.text.chars().count() <= grimoire::TEXT && entry.confidence(life.now()).is_finite()
        }
        Decision::Forget(_) => true,
    });
    let adopted = answer.adopt.iter().all(|(_, h)| fits(&h.condition, h.domain) && h.effect.is_finite() && blends(h));
    let watched = answer.watch.iter().all(|w| fits(&w.condition, w.claim.domain) && w.claim.effect.is_finite());
    let bounded = answer.decisions.len() <= grimoire::DECISIONS
        && answer.adopt.len() <= limits::HEURISTICS
        && answer.taken.len() <= limits::SOURCES
        && answer.watch.len() <= grimoire::WATCHED;
    if kept && adopted && watched && bounded { Ok(()) } else { Err(Fault::Knowledge) }
}

/// Refuses findings of a night that are not of this world, or more than was asked for.
fn check_found(life: &Life, found: &Found) -> Result<(), Fault> {
    let world = &life.birth().world;
    let fits = |h: &Heuristic| {
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        usize::from(h.domain) < world.domains.len() && h.condition.0.iter().all(known) && h.effect.is_finite()
    };
    let figures = &life.constitution().dream;
    let fresh =
        |s: &Staged| fits(&s.heuristic) && s.utility.is_finite() && s.confidence <= s.origin.confidence(figures);
    let sane = |i: &Idea| {
        let known = |c: &Comparison| usize::from(c.feature) < world.features.len() && c.than.is_finite();
        i.condition.0.iter().all(known) && i.domain.is_none_or(|domain| usize::from(domain) < world.domains.len())
    };
    // Nothing is staged before integration, and nothing lies around that no list has room for.
    let early = found.phase != dream::SleepStage::Integration;
    let bounded = found.ideas.len() <= limits::IDEAS
        && found.batch.len() <= limits::IDEAS
        && found.replay.credits.len() <= limits::IDEAS
        && found.imagined.held.len().max(found.imagined.drills.len()) <= limits::IDEAS
        && found.confirmed.len().max(found.contradicted.len()) <= limits::HEURISTICS
        && !(early && !(found.staged.is_empty() && found.revisions.is_empty()));
    let omen = found.imagined.rehearsed.as_ref().map(|r| Idea {
        domain: None,
        origin: Origin::Fragment,
        condition: r.omen.clone(),
    });
    if !bounded || !found.ideas.iter().chain(&omen).all(sane) {
        return Err(Fault::Dream);
    }
    let in_place = |r: &Revision, (slot, h): &(u8, Heuristic)| {
        fits(h) && h.domain == r.domain && life.playbook().get(usize::from(*slot)).is_some_and(|now| now.id == h.id)
    };
    let again = |r: &Revision| {
        !r.adopted && r.utility.is_finite() && r.confidence <= PROMOTED && r.heuristics.iter().all(|h| in_place(r, h))
    };
    if found.staged.iter().all(fresh) && found.revisions.iter().all(again) { Ok(()) } else { Err(Fault::Dream) }
}

fn sane(amount: Usdc) -> bool {
    amount <= Usdc::MOST && amount >= -Usdc::MOST
}

/// Refuses a fate beyond the order: a world may do less than it was asked to, never more, and never outside the bounds
/// it was given.
fn check_fate(life: &Life, key: u64, fate: &Fate) -> Result<(), Fault> {
    let Some(flight) = life.flights().iter().find(|flight| flight.key == key) else { return Ok(()) };
    let sound = match fate {
        Fate::Never => true,
        // What was never permitted was never sent, so nothing can come of it.
        Fate::Pending => !flight.is_unsent(),
        Fate::Done(outcome) => {
            let effect = flight.effect(life);
            // Asked only once the order has bounded the figures, which a program may have made up.
            let afforded = || effect == Effect::Adds || life.capital().cash + outcome.cash - outcome.fee >= Usdc::ZERO;
            // Two actions under way may give up the same holding; the second finds nothing left of it.
            let held = outcome.units >= -life.capital().holding;
            !flight.is_unsent() && flight.order(life).allows(effect, outcome) && held && afforded()
        }
    };
    if sound { Ok(()) } else { Err(Fault::Outcome { key }) }
}

fn check_observation(life: &Life, now: Time, observation: &Observation) -> Result<(), Fault> {
    let mut last = life.seen().until;
    let domains = life.birth().world.domains.len();
    if observation.bars.len() > limits::BARS {
        return Err(Fault::World { bar: limits::BARS, why: "too many bars in one observation" });
    }
    for (bar, seen) in observation.bars.iter().enumerate() {
        let fault = |why| Err(Fault::World { bar, why });
        if seen.closed <= last {
            return fault("a bar came twice or out of order");
        }
        if seen.closed > now {
            return fault("a bar came before it had closed");
        }
        if seen.values.len() != domains {
            return fault("a bar needs one value for every domain");
        }
        if seen.features.len() != life.birth().world.features.len() {
            return fault("a bar needs one value for every feature");
        }
        if seen.values.iter().chain(&seen.features).any(|v| !v.is_finite()) {
            return fault("a value is not a number");
        }
        if seen.values.iter().chain(&seen.features).any(|v| v.abs() > limits::LARGEST) {
            return fault("a value is out of bounds");
        }
        if seen.unit < Usdc::ZERO || seen.unit > Usdc::MOST {
            return fault("the worth of a unit is out of bounds");
        }
        last = seen.closed;
    }
    Ok(())
}
