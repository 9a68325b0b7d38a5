//! Drills: what may go wrong in the golem's world, played through the real gate and policy on a copy of its life. The copy
//! is thrown away and its errands with it, so nothing is sent; what is kept is what was said, where that is news.

use life::constitution::MindKind;
use life::dream::{Drill, Peril, Reply, Waker};
use life::event::{Event, Record};
use life::money::Usdc;
use life::policy::{self as acting, Flight};
use life::time::{Span, Time};
use life::world::{Effect, Fate, Quote, Timing};
use life::{Course, Draft, Life};

use super::waking::wake;
use crate::policy;

/// How many times as much sending costs when it costs too much.
const COSTLY: i64 = 10;

/// Plays some perils of a life's world, another one first each night, and keeps what was not known.
pub(super) fn drills(life: &Life, most: usize) -> Vec<Drill> {
    let perils: Vec<Peril> = Peril::ALL.into_iter().filter(|peril| may_come(*peril, life)).collect();
    let first = life.dreams().nights as usize % perils.len().max(1);
    let tonight = perils.iter().cycle().skip(first).take(most.min(perils.len()));
    let each = |peril: &Peril| [Effect::Adds, Effect::Reduces].map(|effect| drill(life, *peril, effect));
    tonight.flat_map(each).flatten().filter(|drill| !life.dreams().drills.contains(drill)).collect()
}

/// Whether a peril can come in the world of this life, by its manifest and by what its golem is made of.
fn may_come(peril: Peril, life: &Life) -> bool {
    let (constitution, world) = (life.constitution(), &life.birth().world);
    let acts = !world.actions.is_empty();
    match peril {
        Peril::Costly => acts && constitution.economic.per_action.is_positive(),
        // Where the world tells the time, nothing comes late.
        Peril::Late => acts && world.timing == Timing::Wall,
        Peril::Unfilled | Peril::OutOfRange | Peril::Away => acts,
        Peril::Silent => {
            let asks = constitution.thought.models.iter().any(Option::is_some);
            acts && (constitution.mind.kind == MindKind::Outside || asks)
        }
    }
}

fn drill(life: &Life, peril: Peril, effect: Effect) -> Option<Drill> {
    let mut copy = Course::resume(life.clone(), 1).ok()?;
    let reply = match peril {
        Peril::Silent => silent(&mut copy, effect),
        _ => on_its_way(&mut copy, peril, effect),
    }?;
    Some(Drill { peril, effect, reply })
}

fn live(copy: &mut Course, at: Time, decide: impl FnOnce(&mut Draft<'_>)) -> Option<Record> {
    copy.live(at, &mut |_, _| {}, decide)
}

/// Plays an order that meets a peril on its way: as much new exposure as one action may be, or a stop.
fn on_its_way(copy: &mut Course, peril: Peril, effect: Effect) -> Option<Reply> {
    let now = copy.life().now();
    live(copy, now, |draft| {
        wake(draft, Waker::World);
        match effect {
            Effect::Adds => policy::take_up(draft),
            Effect::Reduces if draft.capital().holding > 0 && draft.flights().is_empty() => policy::close_all(draft),
            Effect::Reduces => {}
        }
    });
    let flight = copy.life().flights().last()?.clone();
    let usual = preview(copy.life(), &flight);
    let gas = copy.life().constitution().economic.per_action;
    let (at, quote) = match peril {
        Peril::Costly => (now, Some(Quote { gas: gas.share(COSTLY - 1, 1), ..usual })),
        Peril::Late => (flight.deadline + Span::millis(1), Some(usual)),
        Peril::OutOfRange => (now, Some(halved(usual))),
        Peril::Away => (now, None),
        Peril::Unfilled | Peril::Silent => (now, Some(usual)),
    };
    let said = live(copy, at, |draft| policy::previewed(draft, flight.key, flight.look(), quote));
    let reply = reply(&said?, quote, gas)?;
    if peril != Peril::Unfilled || reply != Reply::Sent {
        return Some(reply);
    }
    let lost = live(copy, at, |draft| policy::landed(draft, flight.key, Fate::Never));
    let gone = |event: &Event| matches!(event, Event::Policy(acting::Event::Abandoned { .. }));
    Some(if lost?.events.iter().any(gone) { Reply::GivenUp } else { Reply::Waits })
}

/// A preview of an order at the worth of now, at no other cost.
fn preview(life: &Life, flight: &Flight) -> Quote {
    let worth = Usdc::micros((life.seen().unit.as_f64() * flight.units as f64) as i64);
    let cash = if flight.effect(life) == Effect::Adds { -worth.min(flight.reserved) } else { worth };
    Quote { cash, ..Quote::default() }
}

/// A preview where what is taken up costs twice as much, and what is given up brings half.
fn halved(quote: Quote) -> Quote {
    let cash = if quote.cash < Usdc::ZERO { quote.cash.share(2, 1) } else { quote.cash.share(1, 2) };
    Quote { cash, ..quote }
}

/// The answer of gate and policy to a preview.
fn reply(said: &Record, quote: Option<Quote>, gas: Usdc) -> Option<Reply> {
    said.events.iter().find_map(|event| match event {
        Event::Policy(acting::Event::Denied { rule, .. }) => Some(Reply::Refused(*rule)),
        Event::Policy(acting::Event::ApprovalSought { .. }) => Some(Reply::Asked),
        Event::Policy(acting::Event::Granted { permit, .. }) => {
            let needed = gas + quote.map_or(Usdc::ZERO, |quote| quote.gas);
            Some(if permit.gas < needed { Reply::Short } else { Reply::Sent })
        }
        _ => None,
    })
}

/// Plays the moment at which what is held has had its time, or at which something might be taken up, without a word from
/// outside.
fn silent(copy: &mut Course, effect: Effect) -> Option<Reply> {
    let held = copy.life().held().map(|held| held.until);
    let due = match effect {
        Effect::Adds => copy.life().now(),
        Effect::Reduces => held?.max(copy.life().now()),
    };
    let said = live(copy, due, |draft| {
        wake(draft, Waker::World);
        policy::decide(draft);
    })?;
    let begun = |event: &Event| matches!(event, Event::Policy(acting::Event::Intended(_)));
    Some(match (said.events.iter().any(begun), effect) {
        (true, Effect::Reduces) => Reply::Closed,
        (true, Effect::Adds) => Reply::Sent,
        (false, _) => Reply::Nothing,
    })
}
