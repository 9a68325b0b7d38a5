//! The only door to a changed Life: emitting an event applies it and puts it into the record, in one act.

use std::fmt;
use std::ops::Deref;

use crate::apply::apply;
use crate::event::Event;
use crate::life::Life;
use crate::time::Time;

/// A step in the making. It reads like Life and writes only by [`Draft::emit`].
pub struct Draft<'a> {
    life: &'a mut Life,
    at: Time,
    events: &'a mut Vec<Event>,
    show: &'a mut dyn FnMut(&Event, &Life),
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        life: &'a mut Life,
        at: Time,
        events: &'a mut Vec<Event>,
        show: &'a mut dyn FnMut(&Event, &Life),
    ) -> Draft<'a> {
        Draft { life, at, events, show }
    }

    pub fn at(&self) -> Time {
        self.at
    }

    /// Events of this step so far.
    pub fn events(&self) -> &[Event] {
        self.events
    }

    pub fn emit(&mut self, event: impl Into<Event>) {
        let event = event.into();
        apply(self.life, self.at, &event);
        (self.show)(&event, self.life);
        self.events.push(event);
    }
}

impl Deref for Draft<'_> {
    type Target = Life;
    fn deref(&self) -> &Life {
        self.life
    }
}

impl fmt::Debug for Draft<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("at", &self.at).field("events", &self.events).finish_non_exhaustive()
    }
}
