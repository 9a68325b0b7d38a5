//! Whether a world declares itself sanely and tells its bars: none early, none twice, none lost, in whatever pieces
//! they are asked for.

use golem::time::{Span, Time};
use golem::world::{Bar, Observation};
use golem::{Usdc, limits};

use super::finding::{Checked, Findings, Open, able, hold};
use crate::World;
use crate::chance::Chance;

/// The bars looked at: more than one observation may carry.
const BARS: u64 = limits::BARS as u64 + 900;
/// The fewest bars that show anything.
const FEWEST: usize = 20;

pub(super) fn declares_itself_sanely(world: &(impl World + ?Sized), found: &mut Findings) {
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

/// How far the suite looks: a little more than one observation carries, or to the end.
pub(super) fn horizon(world: &(impl World + ?Sized)) -> Time {
    let far = world.start() + world.manifest().bar.times(BARS);
    world.end().map_or(far, |end| end.min(far))
}

/// The instant before the first bar that can be seen.
pub(super) fn dawn(world: &(impl World + ?Sized)) -> Time {
    world.start() - Span::millis(1)
}

/// All bars in (since, now], asked for as often as the limit on bars makes necessary.
pub(super) fn tell(world: &mut (impl World + ?Sized), since: Time, now: Time) -> Checked<Vec<Bar>> {
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

pub(super) fn seek(world: &mut (impl World + ?Sized), until: Time) -> Checked {
    able("find the way back", world.seek(until))
}

pub(super) fn tells_its_bars(world: &mut (impl World + ?Sized)) -> Checked<Vec<Bar>> {
    let (since, now) = (dawn(world), horizon(world));
    let bars = tell(world, since, now)?;
    hold(bars.len() > FEWEST, || format!("only {} bars by {now:?} are too few to see anything", bars.len()))?;
    Ok(bars)
}

pub(super) fn are_sound(world: &(impl World + ?Sized), bars: &[Bar]) -> Checked {
    let manifest = world.manifest();
    let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
    for Bar { closed, values, features, unit } in bars {
        let every = |what: &str| format!("the bar closed at {closed:?} does not have one value for every {what}");
        hold(values.len() == manifest.domains.len(), || every("domain"))?;
        hold(finite(values), || format!("the bar closed at {closed:?} has {values:?}"))?;
        hold(features.len() == manifest.features.len(), || every("feature"))?;
        hold(finite(features), || format!("the bar closed at {closed:?} shows {features:?}"))?;
        let worth = *unit >= Usdc::ZERO && *unit <= Usdc::MOST;
        hold(worth, || format!("at {closed:?} a unit cannot be worth {unit}"))?;
    }
    Ok(())
}

pub(super) fn tells_nothing_after_the_end(world: &mut (impl World + ?Sized)) -> Checked {
    let Some(end) = world.end() else { return Ok(()) };
    let beyond = tell(world, end, end + Span::DAY.times(366))?;
    beyond.first().map_or(Ok(()), |bar| Err(format!("a bar closed at {:?}, after the end", bar.closed)))
}

pub(super) fn tells_the_same_in_any_chunks<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
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

pub(super) fn tells_nothing_early<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
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

pub(super) fn tells_the_same_again<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
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
