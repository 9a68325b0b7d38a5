//! Applying the events of calls. It calculates and never decides.

use super::{Calls, Event, Hold, How, Kinds, Open, Past, Runaway, Used};
use crate::life::Life;
use crate::limits;
use crate::money::Usdc;
use crate::spell::{day, hour, minute};
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Reserved { key, most, tier: _, again, alike } => {
            let (month, age) = (life.month(), life.age);
            assert!(*key > life.calls.made, "two calls have one key");
            assert!(*most >= Usdc::ZERO, "less than nothing is set aside for a call");
            assert!(life.calls.open.len() < limits::CALLS, "there is no room for another call");
            life.purse.promised += *most;
            let calls = &mut life.calls;
            calls.made = *key;
            calls.hour.take(hour(at), *most);
            calls.day.take(day(at), *most);
            calls.month.take(month, *most);
            if let Some(again) = again {
                if calls.known.len() >= limits::KNOWN {
                    calls.known.pop_front();
                }
                calls.known.push_back(*again);
            }
            let kinds = Kinds::default();
            let (key, most, alike, again) = (*key, *most, *alike, *again);
            calls.open.push(Open { key, most, asked: at, month, alike, again, tokens: 0, kinds });
            calls.units.begin(at, age);
            calls.note_alike(alike, at);
            calls.habits = calls.habits.at(at);
            calls.habits.minute.take(minute(at), Usdc::ZERO);
            calls.habits.wide = calls.habits.wide.max(calls.open.len() as u32);
            // A golem that can pay for a call has not run out, and the next time it does is news again.
            if calls.refused.is_some_and(|(by, _)| by.is_the_end()) {
                calls.refused = None;
            }
        }
        Event::Settled { key, cost, over, how, used } => {
            settle(life, at, *key, (*cost, *over, *how), used);
        }
        Event::Refused { by, times } => {
            life.calls.refused = Some((*by, at));
            life.calls.denied += u64::from(*times);
        }
        Event::Held { key, by, times, sum } => {
            assert!(life.calls.hold.is_none(), "calls are stopped twice");
            assert!(*key > life.flights_made, "a stop has the key of an action");
            life.flights_made = *key;
            life.calls.hold = Some(Hold { key: *key, by: *by, times: *times, sum: *sum, since: at });
            life.calls.stopped += 1;
            if *by == Runaway::Alike {
                life.calls.looped = life.calls.made_like(*times, *sum);
            }
        }
        Event::Released { .. } => release(&mut life.calls, at),
        Event::Counted { key, kinds } => {
            if let Some(open) = life.calls.open.iter_mut().find(|open| open.key == *key) {
                open.kinds = *kinds;
            }
        }
        Event::TokensReserved { key, tokens } => {
            let Some(open) = life.calls.open.iter_mut().find(|open| open.key == *key) else { return };
            open.tokens = *tokens;
            life.calls.units.set_aside(open.asked, *tokens);
        }
        // Sessions are many: the vault has a row for each call, and a life their sum.
        Event::Attributed { .. } => {}
    }
}

fn settle(life: &mut Life, at: Time, key: u64, (cost, over, how): (Usdc, Usdc, How), used: &Used) {
    let Some(place) = life.calls.open.iter().position(|open| open.key == key) else { return };
    let open = life.calls.open.remove(place);
    let laws = life.laws();
    assert!(life.purse.promised >= open.most, "more comes free than was promised to calls");
    assert!(cost.min(over) >= Usdc::ZERO, "a call brings money");
    life.purse.promised -= open.most;
    life.purse.spend(cost, life.age, laws);
    let calls = &mut life.calls;
    calls.spent += cost;
    calls.unpaid = (calls.unpaid + over).min(Usdc::MOST);
    calls.cut += u64::from(matches!(how, How::Cut | How::Lost));
    calls.hour.give_back(hour(open.asked), open.most - cost);
    calls.day.give_back(day(open.asked), open.most - cost);
    calls.month.give_back(open.month, open.most - cost);
    calls.pay_alike(open.alike, open.asked, cost, how != How::Nothing);
    calls.units.end(open.asked, open.tokens, took(how, used, open.tokens), how != How::Nothing);
    calls.habits = calls.habits.at(at);
    calls.habits.minute.taken += cost;
    calls.habits.dearest = calls.habits.dearest.max(cost);
    if how == How::Nothing {
        // A provider that was not reached was not paid: the call may be made again.
        calls.known.retain(|known| Some(*known) != open.again);
    } else {
        calls.count(used, open.kinds, cost);
    }
}

fn release(calls: &mut Calls, at: Time) {
    let Some(hold) = calls.hold.take() else { return };
    if calls.past.len() >= limits::PAST {
        calls.past.pop_front();
    }
    calls.past.push_back(Past { hold, until: at });
    // A call that its owner has said yes to is usual from here on.
    calls.alike.clear();
    match hold.by {
        Runaway::Alike => calls.make_usual(),
        Runaway::Fan => calls.habits.allowed = hold.times.saturating_mul(2),
        Runaway::Pace => calls.habits.busiest = calls.habits.busiest.max(hold.sum),
        Runaway::Bill => {}
    }
}

/// Tokens that a call has used, by what is known of it.
fn took(how: How, used: &Used, aside: u64) -> u64 {
    let told = u64::from(used.input) + u64::from(used.output);
    match how {
        How::Told => told,
        How::Nothing => 0,
        How::Cut | How::Lost => told.max(aside),
    }
}
