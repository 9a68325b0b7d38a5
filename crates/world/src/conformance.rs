//! What every world owes a golem, as a suite anyone can hold their own world against. A broken promise
//! panics with a sentence that says which.
//!
//! The promises are about time (nothing early, nothing twice, nothing lost, however it is asked) and about
//! money (an action happens once, within its limit, and is never better than announced).

use golem::time::{Span, Time};
use golem::world::{Bar, DomainSpec, Effect, Observation, Outcome};
use golem::{Usdc, limits};

use crate::chance::Chance;
use crate::{Order, World};

/// More than one observation may carry.
const BARS: u64 = limits::BARS as u64 + 900;
/// What is ordered to see a world act: two whole units.
const UNITS: i64 = 2_000_000;
/// A micro-USDC for the cash and one for the fee.
const ROUNDING: Usdc = Usdc::micros(2);

/// Checks every promise. `open` opens the same world on the same durable record each time, one at a time,
/// and nobody has acted in it before.
pub fn check<W: World + ?Sized>(mut open: impl FnMut() -> Box<W>) {
    let open: &mut dyn FnMut() -> Box<W> = &mut open;
    declares_itself_sanely(&*open());
    let bars = tells_sound_bars(&mut *open());
    tells_the_same_in_any_chunks(open, &bars);
    tells_nothing_early(open, &bars);
    tells_the_same_again(open, &bars);
    refuses_nonsense(&mut *open(), &bars);
    previews_without_acting(open, &bars);
    let fates = acts_once_and_within_limits(&mut *open(), &bars);
    remembers_across_reopening(open, &bars, &fates);
}

/// What became of each key.
type Fates = Vec<(u64, Option<Outcome>)>;

fn declares_itself_sanely(world: &(impl World + ?Sized)) {
    let manifest = world.manifest();
    assert_eq!(manifest, world.manifest(), "a world must declare the same each time");
    assert!(!manifest.world.is_empty(), "a world needs a name");
    assert!(!manifest.unit.is_empty(), "a unit of holding needs a name");
    assert!(manifest.bar > Span::ZERO, "a bar must last");
    assert!(!manifest.domains.is_empty(), "a world needs at least one domain to make claims in");
    for domain in &manifest.domains {
        let DomainSpec { name, weight } = domain;
        assert!(!name.is_empty(), "a domain needs a name");
        assert!(weight.is_finite() && *weight > 0.0, "the weight of {name} must be a number above zero, not {weight}");
        let same = manifest.domains.iter().filter(|other| other.name == *name).count();
        assert_eq!(same, 1, "two domains are named {name}");
    }
    for action in &manifest.actions {
        assert!(!action.name.is_empty(), "an action needs a name");
        let same = manifest.actions.iter().filter(|other| other.name == action.name).count();
        assert_eq!(same, 1, "two actions are named {}", action.name);
    }
    let cost = manifest.data_per_day;
    assert!(cost >= Usdc::ZERO && cost <= Usdc::MOST, "watching cannot cost {cost} a day");
    if let Some(end) = world.end() {
        assert!(end > world.start(), "a world must not end before it starts");
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
fn tell(world: &mut (impl World + ?Sized), since: Time, now: Time) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    loop {
        let since = bars.last().map_or(since, |bar| bar.closed);
        let mut told = Observation::default();
        world.observe(since, now, &mut told).expect("a world must be able to tell its bars");
        assert!(told.bars.len() <= limits::BARS, "an observation carried {} bars", told.bars.len());
        if told.bars.is_empty() {
            return bars;
        }
        bars.extend(told.bars);
    }
}

fn tells_sound_bars(world: &mut (impl World + ?Sized)) -> Vec<Bar> {
    let (since, now, domains) = (dawn(world), horizon(world), world.manifest().domains.len());
    let bars = tell(world, since, now);
    assert!(bars.len() > 20, "only {} bars by {now:?} are too few to see anything", bars.len());
    let mut last = since;
    for bar in &bars {
        let closed = bar.closed;
        assert!(closed > last, "the bar closed at {closed:?} was told after the one closed at {last:?}");
        assert!(closed <= now, "the bar closed at {closed:?} was told at {now:?}");
        assert_eq!(bar.values.len(), domains, "the bar closed at {closed:?} has not one value for every domain");
        assert!(bar.values.iter().all(|v| v.is_finite()), "the bar closed at {closed:?} has {:?}", bar.values);
        let unit = bar.unit;
        assert!(unit >= Usdc::ZERO && unit <= Usdc::MOST, "at {closed:?} a unit cannot be worth {unit}");
        last = closed;
    }
    if let Some(end) = world.end() {
        let beyond = tell(world, end, end + Span::DAY.times(366));
        assert!(beyond.is_empty(), "a bar closed at {:?}, after the end", beyond[0].closed);
    }
    bars
}

fn tells_the_same_in_any_chunks<W: World + ?Sized>(open: &mut dyn FnMut() -> Box<W>, bars: &[Bar]) {
    for seed in 0..4 {
        let mut chance = Chance::new(seed, 0);
        let mut world = open();
        let (mut since, now, span) = (dawn(&*world), horizon(&*world), world.manifest().bar);
        let mut told = Vec::new();
        while since < now {
            // Some chunks hold nothing, most a few bars, some many.
            let length = span.as_millis() as f64 * (chance.wait() * chance.wait() * 20.0);
            let until = (since + Span::millis(1 + length as u64)).min(now);
            told.extend(tell(&mut *world, since, until));
            since = until;
        }
        assert!(told == bars, "asked in chunks it tells other bars than asked at once");
    }
}

fn tells_nothing_early<W: World + ?Sized>(open: &mut dyn FnMut() -> Box<W>, bars: &[Bar]) {
    for at in [0, 1, 7, bars.len() / 2, bars.len() - 1] {
        let mut world = open();
        let since = dawn(&*world);
        let closes = bars[at].closed;
        let early = tell(&mut *world, since, closes - Span::millis(1));
        assert!(early == bars[..at], "a bar that closes at {closes:?} is told earlier, or not as it will be");
        let since = early.last().map_or(since, |bar| bar.closed);
        let rest = tell(&mut *world, since, bars[bars.len() - 1].closed);
        assert!(rest == bars[at..], "stopping at {closes:?} changes what is told afterwards");
    }
}

fn tells_the_same_again<W: World + ?Sized>(open: &mut dyn FnMut() -> Box<W>, bars: &[Bar]) {
    let middle = bars.len() / 2;
    let (closed, last) = (bars[middle].closed, bars[bars.len() - 1].closed);
    let mut world = open();
    let since = dawn(&*world);
    assert!(tell(&mut *world, closed, last) == bars[middle + 1..], "asked for late bars first, it tells other ones");
    assert!(tell(&mut *world, since, last) == bars, "asked for the past again, it tells another");
    drop(world);
    let mut world = open();
    world.seek(closed).expect("a world must find the way back");
    assert!(tell(&mut *world, closed, last) == bars[middle + 1..], "after reopening and seeking it tells other bars");
}

fn order(world: &(impl World + ?Sized), effect: Effect, units: i64) -> Option<Order> {
    world.manifest().action(effect).map(|action| Order { action, units, limit: Usdc::MOST })
}

fn refuses_nonsense(world: &mut (impl World + ?Sized), bars: &[Bar]) {
    world.seek(bars[10].closed).expect("a world must find the way back");
    let known = world.manifest().actions.len() as u8;
    let orders = (0..known).flat_map(|action| [(action, 0), (action, -UNITS), (action, i64::MIN), (action, i64::MAX)]);
    for (key, (action, units)) in (900..).zip(orders.chain([(known, UNITS), (u8::MAX, UNITS)])) {
        let order = Order { action, units, limit: Usdc::MOST };
        let quote = world.preview(&order).expect("nonsense is refused, not an error");
        assert_eq!(quote, None, "it quotes {order:?}");
        let outcome = world.commit(key, &order).expect("nonsense is refused, not an error");
        assert_eq!(outcome, None, "it does {order:?}");
    }
}

fn previews_without_acting<W: World + ?Sized>(open: &mut dyn FnMut() -> Box<W>, bars: &[Bar]) {
    let mut world = open();
    let Some(adding) = order(&*world, Effect::Adds, UNITS) else {
        return;
    };
    let (middle, last) = (bars.len() / 2, bars[bars.len() - 1].closed);
    world.seek(bars[middle].closed).expect("a world must find the way back");
    let mut preview = || world.preview(&adding).expect("a world must be able to preview");
    let first = preview();
    for _ in 0..10 {
        assert_eq!(preview(), first, "the same preview at the same bar gives another quote");
    }
    let rest = tell(&mut *world, bars[middle].closed, last);
    assert!(rest == bars[middle + 1..], "previewing changed what happened afterwards");
    if let Some(reducing) = order(&*world, Effect::Reduces, UNITS) {
        let gone = world.commit(800, &reducing).expect("a world must be able to refuse");
        assert_eq!(gone, None, "it takes back units that were only previewed");
    }
}

fn acts_once_and_within_limits(world: &mut (impl World + ?Sized), bars: &[Bar]) -> Fates {
    let mut fates = Fates::new();
    let Some(adding) = order(world, Effect::Adds, UNITS) else {
        return fates;
    };
    world.seek(bars[bars.len() / 3].closed).expect("a world must find the way back");

    let quote = world.preview(&adding).expect("a world must be able to preview");
    let quote = quote.expect("a world that refuses two units at any cost cannot be checked");
    let first = world.commit(1, &adding).expect("a world must be able to act");
    let done = first.expect("a world that refuses what it quoted, at no limit, cannot be checked");
    assert!(done.units > 0 && done.units <= UNITS, "{UNITS} units were to be added, {} were", done.units);
    assert!(done.cash <= Usdc::ZERO && done.fee >= Usdc::ZERO, "adding exposure cannot pay: {done:?}");
    let (paid, quoted) = (done.fee - done.cash, quote.fee - quote.cash);
    assert!(paid + ROUNDING >= quoted, "{paid} were paid where {quoted} were quoted: no fill is better than that");
    fates.push((1, first));

    let twice = world.commit(1, &adding).expect("a world must be able to act");
    assert_eq!(twice, first, "the same key gave another outcome");
    let other = Order { units: 3 * UNITS, ..adding };
    let again = world.commit(1, &other).expect("a world must be able to act");
    assert_eq!(again, first, "a key once done must keep its outcome whatever is ordered under it");

    assert_eq!(world.reconcile(50).expect("a world must answer"), None, "it knows of a key nobody sent");
    let late = world.commit(50, &adding).expect("a world must be able to refuse");
    assert_eq!(late, None, "a key that was ruled out must never be done");
    fates.push((50, None));

    fates.extend(respects_limits(world, &adding, paid));
    let held = fates.iter().filter_map(|(_, fate)| *fate).map(|outcome| outcome.units).sum();
    fates.extend(gives_back(world, held));
    for (key, fate) in &fates {
        let told = world.reconcile(*key).expect("a world must answer");
        assert_eq!(told, *fate, "asked about key {key} it tells another story");
    }
    fates
}

fn respects_limits(world: &mut (impl World + ?Sized), adding: &Order, paid: Usdc) -> Fates {
    let mut fates = Fates::new();
    let limits = [Usdc::ZERO, Usdc::micros(1), paid.share(1, 2), paid - Usdc::micros(1), paid, paid.share(3, 2)];
    for (key, limit) in (60..).zip(limits) {
        let fate = world.commit(key, &Order { limit, ..*adding }).expect("a world must be able to act");
        if let Some(outcome) = fate {
            let paid = outcome.fee - outcome.cash;
            assert!(paid <= limit, "{paid} were paid where {limit} was the limit");
        }
        let later = world.commit(key, adding).expect("a world must be able to act");
        assert_eq!(later, fate, "a key keeps its fate even if the limit is raised later");
        fates.push((key, fate));
    }
    fates
}

/// Everything held goes, once; if anything had been done twice, there would be more to take.
fn gives_back(world: &mut (impl World + ?Sized), held: i64) -> Fates {
    let Some(reducing) = order(world, Effect::Reduces, held) else {
        return Fates::new();
    };
    let quote = world.preview(&reducing).expect("a world must be able to preview");
    let quote = quote.expect("what is held can be given up");
    let first = world.commit(70, &reducing).expect("a world must be able to act");
    let done = first.expect("what is held can be given up");
    assert_eq!(done.units, -held, "all that is held was to go");
    assert!(done.cash >= Usdc::ZERO && done.fee >= Usdc::ZERO, "giving up cannot cost: {done:?}");
    let (got, quoted) = (done.cash - done.fee, quote.cash - quote.fee);
    assert!(got <= quoted + ROUNDING, "{got} were got where {quoted} were quoted: no fill is better than that");
    assert_eq!(
        world.commit(70, &reducing).expect("a world must be able to act"),
        first,
        "the same key gave another outcome"
    );
    let more = world.commit(71, &Order { units: UNITS, ..reducing }).expect("a world must be able to refuse");
    assert_eq!(more, None, "it takes back more than it ever gave; something was done twice");
    vec![(70, first), (71, None)]
}

fn remembers_across_reopening<W: World + ?Sized>(open: &mut dyn FnMut() -> Box<W>, bars: &[Bar], fates: &Fates) {
    let (third, last) = (bars.len() / 3, bars[bars.len() - 1].closed);
    let mut world = open();
    let since = dawn(&*world);
    let before = tell(&mut *world, since, bars[third].closed);
    assert!(before == bars[..=third], "an action changed the past");
    let after = tell(&mut *world, bars[third].closed, last);
    drop(world);

    let mut world = open();
    world.seek(bars[third].closed).expect("a world must find the way back");
    let retold = tell(&mut *world, bars[third].closed, last);
    assert!(retold == after, "reopened, it tells another future than before");
    for (key, fate) in fates {
        let told = world.reconcile(*key).expect("a world must answer");
        assert_eq!(told, *fate, "reopened, it has forgotten what became of key {key}");
        if let Some(adding) = order(&*world, Effect::Adds, UNITS) {
            let done = world.commit(*key, &adding).expect("a world must be able to act");
            assert_eq!(done, *fate, "reopened, it does key {key} again");
        }
    }
}
