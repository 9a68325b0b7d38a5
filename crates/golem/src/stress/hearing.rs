//! Hearing a golem's own word about its state. A life is only read here, and the result is a note of what was said.

use life::rule::text::parse_condition;
use life::stress::assessment::{Answer, CLAIMS, Found, Gone, NEW, New, clip, normal};
use life::stress::{Assessed, Assessment, Kind, Named, ONSET, RELAPSE, find};
use life::time::Span;
use life::{Life, limits};

/// Hears an assessment. It only reads the life, and returns a note of what was said.
pub(crate) fn hear(life: &Life, said: &Assessment) -> Assessed {
    let mut heard = Assessed::default();
    for (at, new) in said.new.iter().take(CLAIMS).enumerate() {
        let name = normal(&new.name);
        match weigh(life, &heard.named, at, &name, new) {
            Ok(named) => heard.named.push(named),
            Err(why) => heard.notes.push((name, why)),
        }
    }
    for plea in said.claims.iter().take(CLAIMS) {
        let (name, reason) = (normal(&plea.name), clip(&plea.reason, limits::REASON));
        let found = look_again(life, &name);
        heard.claims.push(Answer { name, reason, found });
    }
    heard.notes.truncate(CLAIMS);
    heard
}

fn weigh(life: &Life, beside: &[Named], at: usize, name: &str, new: &New) -> Result<Named, String> {
    let note = |why: &str| Err(why.to_owned());
    let (stress, figures) = (&life.stress(), &life.constitution().stress);
    if name.is_empty() {
        return note("it has no name");
    }
    if at >= NEW {
        return note("more than two in one answer");
    }
    let watched = |kind: &Kind| figures.rates.of(*kind).is_some() && normal(kind.name()) == name;
    if Kind::ALL.iter().any(watched) {
        return note("the runtime watches for that stressor itself");
    }
    let condition = match parse_condition(&new.condition, &life.birth().world) {
        Ok(condition) if !condition.0.is_empty() => condition,
        Ok(_) => return note("a stressor needs a condition that ends it"),
        Err(e) => return Err(format!("its condition cannot be evaluated: {e}")),
    };
    let mut all = stress.named.iter().chain(&stress.asked).chain(beside);
    if all.any(|named| named.name == name || named.condition.same(&condition)) {
        return note("it is active already");
    }
    let here = stress.active.len() + stress.named.len() + stress.asked.len() + beside.len();
    if here >= figures.most as usize {
        return note("the most that may be active at once are active already");
    }
    let same = |gone: &Gone| gone.name == name || gone.condition.same(&condition);
    let recent = |gone: &&Gone| same(gone) && life.age() <= gone.ended + RELAPSE;
    let onset = stress.named_past.iter().rev().find(recent).map_or(ONSET, |gone| gone.severity.max(ONSET));
    let description = clip(&new.description, limits::REASON);
    Ok(Named { name: name.to_owned(), description, condition, onset, since: life.age(), held: Span::ZERO })
}

/// The state of a stressor of this name by the record, whatever is claimed of it.
fn look_again(life: &Life, name: &str) -> Found {
    let of_kind = life.stress().active.iter().filter(|stressor| normal(stressor.kind.name()) == name);
    let mut presses: Vec<bool> = of_kind.map(|s| find(life, s.kind, s.domain, s.served).presses).collect();
    presses.extend(life.stress().named.iter().filter(|named| named.name == name).map(|_| true));
    match presses.as_slice() {
        [] => Found::NotActive,
        some if some.iter().any(|presses| *presses) => Found::Holds,
        _ => Found::Eased,
    }
}
