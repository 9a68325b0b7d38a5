//! What calls come to. It calculates and never decides.

use super::{Event, How, Open};
use crate::life::Life;
use crate::limits;
use crate::mortality::Purse;
use crate::spell::{day, hour};
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Reserved { key, most, tier: _, again } => {
            let month = Purse::month_at(life.age, life.laws());
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
            calls.open.push(Open { key: *key, most: *most, asked: at, month });
        }
        Event::Settled { key, cost, over: _, how, used } => {
            let Some(place) = life.calls.open.iter().position(|open| open.key == *key) else { return };
            let open = life.calls.open.remove(place);
            let laws = life.laws();
            life.purse.promised -= open.most;
            life.purse.spend(*cost, life.age, laws);
            let calls = &mut life.calls;
            calls.spent += *cost;
            calls.cut += u64::from(matches!(how, How::Cut | How::Lost));
            calls.hour.give_back(hour(open.asked), open.most - *cost);
            calls.day.give_back(day(open.asked), open.most - *cost);
            calls.month.give_back(open.month, open.most - *cost);
            calls.count(used, *cost);
        }
        Event::Refused { by } => life.calls.refused = Some((*by, at)),
    }
}
