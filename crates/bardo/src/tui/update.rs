//! How the state of the screens changes: by a key, by what the host tells, by time that passes. What should be asked of
//! the host comes back.

use super::app::{App, Event};
use super::keys;
use super::told::HostRequest;

pub(crate) fn update(app: &mut App, event: Event) -> Vec<HostRequest> {
    match event {
        Event::Key(key) => keys::press(app, key),
        Event::Resized(width, height) => {
            app.size = (width, height);
            Vec::new()
        }
        Event::Told(told) => app.hear(told),
        Event::Beat => app.wanted(),
    }
}
