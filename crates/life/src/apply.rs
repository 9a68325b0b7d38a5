//! Applying a fact to a life. It calculates and never decides; of arithmetic only + − × ÷ and the square
//! root, which every machine computes alike; and every constant comes from the birth record or the laws.

use crate::call;
use crate::clade;
use crate::dream;
use crate::episode;
use crate::event::Event;
use crate::goal;
use crate::grimoire;
use crate::heartbeat;
use crate::life::Life;
use crate::mortality;
use crate::outside;
use crate::owner;
use crate::phage;
use crate::policy;
use crate::prediction;
use crate::regime;
use crate::rule;
use crate::stress;
use crate::thanatopsis;
use crate::thought;
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    life.now = at;
    match event {
        Event::Born(_) => unreachable!("a life begins with its birth and has no other"),
        Event::Owner(event) => owner::apply(life, at, event),
        Event::Heartbeat(event) => heartbeat::apply(life, event),
        Event::Prediction(event) => prediction::apply(life, event),
        Event::Rule(event) => rule::apply(life, event),
        Event::Policy(event) => policy::apply(life, at, event),
        Event::Goal(event) => goal::apply(life, event),
        Event::Mortality(event) => mortality::apply(life, at, event),
        Event::Regime(event) => regime::apply(life, at, event),
        Event::Episode(event) => episode::apply(life, event),
        Event::Grimoire(event) => grimoire::apply(life, at, event),
        Event::Stress(event) => stress::apply(life, event),
        Event::Clade(event) => clade::apply(life, at, event),
        Event::Dream(event) => dream::apply(life, event),
        Event::Thanatopsis(event) => thanatopsis::apply(life, event),
        Event::Phage(event) => phage::apply(life, event),
        Event::Thought(event) => thought::apply(life, at, event),
        Event::Call(event) => call::apply(life, at, event),
        Event::Outside(event) => outside::apply(life, event),
    }
}
