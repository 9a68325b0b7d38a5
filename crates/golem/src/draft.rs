//! The only door to a changed Life: emitting an event applies it and puts it into the record, in one act.

use std::ops::Deref;

use crate::apply::apply;
use crate::event::Event;
use crate::life::Life;
use crate::time::Time;

/// A step in the making. It reads like Life and writes only by [`Draft::emit`].
pub(crate) struct Draft<'a> {
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

    pub(crate) fn at(&self) -> Time {
        self.at
    }

    /// Events of this step so far.
    pub(crate) fn events(&self) -> &[Event] {
        self.events
    }

    pub(crate) fn emit(&mut self, event: impl Into<Event>) {
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
