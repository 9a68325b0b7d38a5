//! What every world owes a golem, as a suite anyone can hold their own world against. Each broken promise is told in a
//! sentence that says which; a world that keeps them all is told nothing.
//!
//! The promises are about time (nothing early, nothing twice, nothing lost, however it is asked) and about money (an
//! action happens once, within its bounds, and undoing it on the spot never pays). A quote is no promise: what happens
//! between it and the fill may help as well as hurt. Nor is haste: an order may be pending, but not for ever.

mod acting;

use golem::time::{Span, Time};
use golem::world::{Bar, Observation};
use golem::{Usdc, limits};

use crate::chance::Chance;
use crate::{Error, World};

/// More than one observation may carry.
const BARS: u64 = limits::BARS as u64 + 900;
/// Fewer show nothing.
const FEWEST: usize = 20;

/// Checks every promise and tells each that is broken; one finding does not hide the next, unless nothing more can be
/// seen for it. `open` opens the same world on the same durable record each time, one at a time, and nobody has acted
/// in it before.
pub fn check<W: World + ?Sized>(mut open: impl FnMut() -> Box<W>) -> Vec<String> {
    let open: Open<'_, W> = &mut open;
    let mut found = Findings::default();
    declares_itself_sanely(&*open(), &mut found);
    let told = tells_its_bars(&mut *open());
    let Some(bars) = found.of(told) else { return found.0 };
    let sound = found.of(are_sound(&*open(), &bars)).is_some();
    if sound {
        found.of(tells_nothing_after_the_end(&mut *open()));
        found.of(tells_the_same_in_any_chunks(open, &bars));
        found.of(tells_nothing_early(open, &bars));
        found.of(tells_the_same_again(open, &bars));
    }
    found.of(acting::refuses_nonsense(open, &bars));
    found.of(acting::previews_without_acting(open, &bars, sound));
    let acted = acting::acts_once_and_within_bounds(open, &bars, &mut found);
    if sound {
        found.of(acting::remembers_its_bars(open, &bars));
    }
    found.of(acting::remembers_its_fates(open, &bars, &acted));
    found.0
}

/// Opens the same world once more.
type Open<'a, W> = &'a mut dyn FnMut() -> Box<W>;

/// Either it holds, or the sentence that says what does not.
type Checked<T = ()> = Result<T, String>;

#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn say(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.0.contains(&sentence) {
            self.0.push(sentence);
        }
    }

    fn of<T>(&mut self, checked: Checked<T>) -> Option<T> {
        checked.map_err(|sentence| self.say(sentence)).ok()
    }
}

fn hold(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// An error of the world's is a finding like any other.
fn able<T>(to: &str, answer: Result<T, Error>) -> Checked<T> {
    answer.map_err(|error| format!("a world must be able to {to}: {error}"))
}

fn declares_itself_sanely(world: &(impl World + ?Sized), found: &mut Findings) {
    let manifest = world.manifest();
    found.of(hold(manifest == world.manifest(), || "a world must declare the same each time".into()));
    found.of(manifest.check().map_err(|unsound| unsound.to_string()));
    for instinct in &manifest.instincts {
        if let Err(wrong) = golem::rule::text::parse(instinct, &manifest) {
            found.say(format!("the instinct '{instinct}' cannot be read: {wrong}"));
        }
    }
    if world.end().is_some_and(|end| end <= world.start()) {
        found.say("a world must not end before it starts");
    }
}

/// As far as the suite looks: a little more than one observation carries, or to the end.
fn horizon(world: &(impl World + ?Sized)) -> Time {
    let far = world.start() + world.manifest().bar.times(BARS);
    world.end().map_or(far, |end| end.min(far))
}

/// The instant before the first bar anyone can see.
fn dawn(world: &(impl World + ?Sized)) -> Time {
    world.start() - Span::millis(1)
}

/// Everything in (since, now], asked as often as the limit on bars makes necessary.
fn tell(world: &mut (impl World + ?Sized), since: Time, now: Time) -> Checked<Vec<Bar>> {
    let (mut bars, mut last): (Vec<Bar>, Time) = (Vec::new(), since);
    loop {
        let mut told = Observation::default();
        able("tell its bars", world.observe(last, now, &mut told))?;
        hold(told.bars.len() <= limits::BARS, || format!("an observation carried {} bars", told.bars.len()))?;
        if told.bars.is_empty() {
            return Ok(bars);
        }
        for bar in told.bars {
            let closed = bar.closed;
            hold(closed > last, || format!("the bar closed at {closed:?} was told after the one closed at {last:?}"))?;
            hold(closed <= now, || format!("the bar that closes at {closed:?} is told earlier, at {now:?}"))?;
            last = closed;
            bars.push(bar);
        }
    }
}

fn seek(world: &mut (impl World + ?Sized), until: Time) -> Checked {
    able("find the way back", world.seek(until))
}

fn tells_its_bars(world: &mut (impl World + ?Sized)) -> Checked<Vec<Bar>> {
    let (since, now) = (dawn(world), horizon(world));
    let bars = tell(world, since, now)?;
    hold(bars.len() > FEWEST, || format!("only {} bars by {now:?} are too few to see anything", bars.len()))?;
    Ok(bars)
}

fn are_sound(world: &(impl World + ?Sized), bars: &[Bar]) -> Checked {
    let manifest = world.manifest();
    let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
    for Bar { closed, values, features, unit } in bars {
        let every = |what: &str| format!("the bar closed at {closed:?} has not one value for every {what}");
        hold(values.len() == manifest.domains.len(), || every("domain"))?;
        hold(finite(values), || format!("the bar closed at {closed:?} has {values:?}"))?;
        hold(features.len() == manifest.features.len(), || every("feature"))?;
        hold(finite(features), || format!("the bar closed at {closed:?} shows {features:?}"))?;
        let worth = *unit >= Usdc::ZERO && *unit <= Usdc::MOST;
        hold(worth, || format!("at {closed:?} a unit cannot be worth {unit}"))?;
    }
    Ok(())
}

fn tells_nothing_after_the_end(world: &mut (impl World + ?Sized)) -> Checked {
    let Some(end) = world.end() else { return Ok(()) };
    let beyond = tell(world, end, end + Span::DAY.times(366))?;
    beyond.first().map_or(Ok(()), |bar| Err(format!("a bar closed at {:?}, after the end", bar.closed)))
}

fn tells_the_same_in_any_chunks<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
    for seed in 0..4 {
        let mut chance = Chance::new(seed, 0);
        let mut world = open();
        let (mut since, now, span) = (dawn(&*world), horizon(&*world), world.manifest().bar);
        let mut told = Vec::new();
        while since < now {
            // Some chunks hold nothing, most a few bars, some many.
            let length = span.as_millis() as f64 * (chance.wait() * chance.wait() * 20.0);
            let until = (since + Span::millis(1 + length as u64)).min(now);
            told.extend(tell(&mut *world, since, until)?);
            since = until;
        }
        hold(told == bars, || "asked in chunks it tells other bars than asked at once".into())?;
    }
    Ok(())
}

fn tells_nothing_early<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
    for at in [0, 1, 7, bars.len() / 2, bars.len() - 1] {
        let mut world = open();
        let since = dawn(&*world);
        let closes = bars[at].closed;
        let early = tell(&mut *world, since, closes - Span::millis(1))?;
        hold(early == bars[..at], || format!("before {closes:?} it tells other bars than it will have told by then"))?;
        let since = early.last().map_or(since, |bar| bar.closed);
        let rest = tell(&mut *world, since, bars[bars.len() - 1].closed)?;
        hold(rest == bars[at..], || format!("stopping at {closes:?} changes what is told afterwards"))?;
    }
    Ok(())
}

fn tells_the_same_again<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
    let middle = bars.len() / 2;
    let (closed, last) = (bars[middle].closed, bars[bars.len() - 1].closed);
    let mut world = open();
    let since = dawn(&*world);
    let late = tell(&mut *world, closed, last)?;
    hold(late == bars[middle + 1..], || "asked for late bars first, it tells other ones".into())?;
    let again = tell(&mut *world, since, last)?;
    hold(again == bars, || "asked for the past again, it tells another".into())?;
    drop(world);
    let mut world = open();
    seek(&mut *world, closed)?;
    let late = tell(&mut *world, closed, last)?;
    hold(late == bars[middle + 1..], || "after reopening and seeking it tells other bars".into())
}
