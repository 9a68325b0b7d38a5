//! Golems by the names that their owner typed, and a word at the end about those that are called otherwise now.

use std::collections::BTreeSet;
use std::sync::Mutex;

use shell::locks::lock;
use shell::{Error, GolemHome, Home};

use crate::output;

/// Old names that this command was given and that led to a golem.
static LED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A golem that exists, by its name or by one that leads to it.
pub(crate) fn golem(home: &Home, name: &str) -> Result<GolemHome, Error> {
    let place = home.golem(name)?;
    note(&place, name);
    Ok(place)
}

/// A golem that exists, with everything that was acknowledged of it in its own file.
pub(crate) fn read_golem(home: &Home, name: &str) -> Result<GolemHome, Error> {
    let place = golem(home, name)?;
    place.catch_up()?;
    Ok(place)
}

/// Remembers a name that led to a golem which is called otherwise.
fn note(place: &GolemHome, name: &str) {
    if place.name.as_str() != name {
        lock(&LED).insert(name.to_owned());
    }
}

/// Says of each old name that was typed what its golem is called now.
pub(crate) fn say_old_names(home: &Home) {
    let led = lock(&LED).clone();
    led.iter().filter_map(|old| home.led_on(old)).for_each(output::complain);
}
