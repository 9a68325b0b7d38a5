//! What every world owes a golem, as a suite anyone can hold their own world against. A broken promise
//! panics with a sentence that says which.
//!
//! The promises are about time (nothing early, nothing twice, nothing lost, however it is asked) and about
//! money (an action happens once, within its limit, and undoing it on the spot never pays). A quote is no
//! promise: what happens between it and the fill may help as well as hurt.

use golem::time::{Span, Time};
use golem::world::{Bar, DomainKind, DomainSpec, Effect, Manifest, Observation, Outcome};
use golem::{Usdc, limits};

use crate::chance::Chance;
use crate::{Order, World};

/// More than one observation may carry.
const BARS: u64 = limits::BARS as u64 + 900;
/// What is ordered to see a world act: two whole units.
const UNITS: i64 = 2_000_000;

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
    declares_its_features(&manifest);
    for domain in &manifest.domains {
        let DomainSpec { name, weight, kind, scale, .. } = domain;
        assert!(!name.is_empty(), "a domain needs a name");
        assert!(weight.is_finite() && *weight > 0.0, "the weight of {name} must be a number above zero, not {weight}");
        let same = manifest.domains.iter().filter(|other| other.name == *name).count();
        assert_eq!(same, 1, "two domains are named {name}");
        let scaled = scale.is_some_and(|scale| usize::from(scale) < manifest.features.len());
        assert!(*kind != DomainKind::Range || scaled, "the range {name} needs a feature that says how wide it is");
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

fn declares_its_features(manifest: &Manifest) {
    assert!(manifest.instincts.len() <= limits::HEURISTICS, "more instincts than a golem can hold");
    for instinct in &manifest.instincts {
        if let Err(wrong) = golem::rule::text::parse(instinct, manifest) {
            panic!("the instinct '{instinct}' cannot be read: {wrong}");
        }
    }
    let features = &manifest.features;
    assert!(features.len() <= limits::FEATURES, "{} features are more than a bar can carry", features.len());
    for name in features {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let sayable = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain);
        assert!(sayable, "a feature is named in lower case with underscores, not '{name}'");
        let same = features.iter().filter(|other| *other == name).count();
        assert_eq!(same, 1, "two features are named {name}");
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
    let (since, now, manifest) = (dawn(world), horizon(world), world.manifest());
    let (domains, features) = (manifest.domains.len(), manifest.features.len());
    let bars = tell(world, since, now);
    assert!(bars.len() > 20, "only {} bars by {now:?} are too few to see anything", bars.len());
    let mut last = since;
    for bar in &bars {
        let closed = bar.closed;
        assert!(closed > last, "the bar closed at {closed:?} was told after the one closed at {last:?}");
        assert!(closed <= now, "the bar closed at {closed:?} was told at {now:?}");
        assert_eq!(bar.values.len(), domains, "the bar closed at {closed:?} has not one value for every domain");
        assert!(bar.values.iter().all(|v| v.is_finite()), "the bar closed at {closed:?} has {:?}", bar.values);
        assert_eq!(bar.features.len(), features, "the bar closed at {closed:?} has not one value for every feature");
        assert!(bar.features.iter().all(|v| v.is_finite()), "the bar closed at {closed:?} shows {:?}", bar.features);
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
    assert!(quote.is_some(), "a world that refuses two units at any cost cannot be checked");
    let first = world.commit(1, &adding).expect("a world must be able to act");
    let done = first.expect("a world that refuses what it quoted, at no limit, cannot be checked");
    assert!(done.units > 0 && done.units <= UNITS, "{UNITS} units were to be added, {} were", done.units);
    assert!(done.cash <= Usdc::ZERO && done.fee >= Usdc::ZERO, "adding exposure cannot pay: {done:?}");
    let paid = done.fee - done.cash;
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
    let taken = fates.iter().filter_map(|(_, fate)| *fate);
    let (held, paid) = taken.fold((0, Usdc::ZERO), |(units, paid), o| (units + o.units, paid + o.fee - o.cash));
    fates.extend(gives_back(world, held, paid));
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

/// Everything held goes, once, at the bar it came; if anything had been done twice, there would be more to
/// take, and if anything had come too cheap, it would pay.
fn gives_back(world: &mut (impl World + ?Sized), held: i64, paid: Usdc) -> Fates {
    let Some(reducing) = order(world, Effect::Reduces, held) else {
        return Fates::new();
    };
    let quote = world.preview(&reducing).expect("a world must be able to preview");
    assert!(quote.is_some(), "what is held can be given up");
    let first = world.commit(70, &reducing).expect("a world must be able to act");
    let done = first.expect("what is held can be given up");
    assert_eq!(done.units, -held, "all that is held was to go");
    assert!(done.cash >= Usdc::ZERO && done.fee >= Usdc::ZERO, "giving up cannot cost: {done:?}");
    let got = done.cash - done.fee;
    assert!(got <= paid, "{got} were got for what had just cost {paid}: going in and out on the spot must not pay");
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
