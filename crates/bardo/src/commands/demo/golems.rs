//! Golems of both acts: made with a seed for their world and their chance, and what they have gained.

use golem::books::Books;
use golem::{Life, Name};
use settings::{File, Settings};
use shell::life::Living;
use shell::life::birth::{Wish, birth};
use shell::{Error, GolemHome, Home, Runtime};

/// Looks between two breaths of the screen.
pub(super) const BATCH: u64 = 16;
/// Records between two snapshots.
pub(super) const SNAPSHOTS: u64 = 5_000;

/// A golem of these settings, with the seed for its world and its chance.
pub(super) fn make_golem(home: &Home, seed: u64, name: &str, flags: &[String]) -> Result<(GolemHome, Living), Error> {
    let flags = [flags, &[format!("world.seed={seed}")]].concat();
    let settings = Settings::load(File::Golem, None, std::iter::empty(), &flags)?;
    let spec = shell::life::newborn::spec(home, &settings, Some(seed))?;
    let (runtime, name): (_, Name) = (Runtime::of(home), name.parse().expect("a name"));
    let place = birth(&runtime, Wish::of(name, spec, Some(seed), settings))?.place().clone();
    let (living, _) = Living::open(&runtime, place.clone(), SNAPSHOTS)?;
    Ok((place, living))
}

/// The return on its capital, with what it still holds at its worth.
pub(super) fn return_on(life: &Life) -> f64 {
    let books = Books::of(life);
    let capital = books.returned.capital + books.left.capital + books.unrealised + books.harvested;
    if books.given.capital.is_positive() { capital.as_f64() / books.given.capital.as_f64() - 1.0 } else { 0.0 }
}
