//! Whether a world acts once and within bounds, and remembers. It may take its time: a pending order is asked about bar
//! by bar until its fate is known. All outcomes are noted, and in the end everything held is given back; if the world
//! takes back more than that, something was done twice.

use golem::time::Span;
use golem::world::{Bar, Effect, Fate, Manifest, Outcome, Quote};
use golem::{Time, Usdc, limits};

use super::finding::{Checked, Findings, Open, able, hold};
use super::remedy;
use super::telling::{dawn, seek, tell};
use crate::{Order, World};

/// Bars after which a pending order must have its fate.
const PATIENCE: usize = 100;
/// The smallest order that shows a world act: one whole unit.
const UNIT: i64 = 1_000_000;
/// The part of the bars after which the orders are given.
const THIRD: usize = 3;

/// The fate of each key.
type Fates = Vec<(u64, Fate)>;

/// The fates of all orders, and the bar on which a golem last saw the world.
#[derive(Default)]
pub(super) struct Acted {
    fates: Fates,
    at: usize,
}

/// A world that stands on a bar.
struct OpenedWorld<'a, W: ?Sized> {
    open: Open<'a, W>,
    /// `None` only before the world is first opened.
    world: Option<Box<W>>,
    manifest: Manifest,
    bars: &'a [Bar],
    at: usize,
}

impl<'a, W: World + ?Sized> OpenedWorld<'a, W> {
    fn new(open: Open<'a, W>, bars: &'a [Bar], at: usize) -> Checked<OpenedWorld<'a, W>> {
        let mut opened = OpenedWorld { open, world: None, manifest: Manifest::default(), bars, at };
        opened.reopen()?;
        opened.manifest = opened.world().manifest();
        Ok(opened)
    }

    /// Opens the world again as after a crash: anything not durable is gone.
    fn reopen(&mut self) -> Checked {
        self.world = None;
        self.world = Some((self.open)());
        let now = self.now();
        seek(self.world(), now)
    }

    fn world(&mut self) -> &mut W {
        self.world.as_deref_mut().expect("it was opened")
    }

    fn now(&self) -> Time {
        self.bars[self.at].closed
    }

    /// Waits for the next bar; false if there is none.
    fn wait(&mut self) -> Checked<bool> {
        let Some(next) = self.bars.get(self.at + 1) else { return Ok(false) };
        let since = self.now();
        tell(self.world(), since, next.closed)?;
        self.at += 1;
        Ok(true)
    }

    /// One unit, rounded up to whole lots.
    fn one(&self) -> i64 {
        let lot = self.manifest.lot.clamp(1, limits::LOT);
        (UNIT + lot - 1) / lot * lot
    }

    /// An order without bounds, if there is an action of this effect.
    fn order(&self, effect: Effect, units: i64) -> Option<Order> {
        self.manifest.action(effect).map(|action| Order::open(action, units))
    }

    fn preview(&mut self, order: &Order) -> Checked<Option<Quote>> {
        let quote = able("preview", self.world().preview(order))?;
        if let Some(quote) = &quote {
            hold(are_amounts(quote.cash, quote.fee, quote.gas), || format!("nothing can be quoted as {quote:?}"))?;
        }
        Ok(quote)
    }

    fn commit(&mut self, key: u64, order: &Order) -> Checked<Fate> {
        able("act", self.world().commit(key, order))
    }

    fn reconcile(&mut self, key: u64) -> Checked<Fate> {
        able("answer", self.world().reconcile(key))
    }

    /// Lets time go on until the fate of a key is known.
    fn await_fate(&mut self, key: u64, fate: Fate) -> Checked<Fate> {
        let (mut fate, mut waited) = (fate, 0);
        while fate == Fate::Pending {
            if waited == PATIENCE || !self.wait()? {
                return Err(format!("key {key} is still pending after {waited} bars"));
            }
            waited += 1;
            fate = self.reconcile(key)?;
        }
        if waited > 0 {
            let again = self.reconcile(key)?;
            hold(again == fate, || format!("key {key} was {} and then it was {}", said(fate), said(again)))?;
        }
        Ok(fate)
    }
}

fn said(fate: Fate) -> &'static str {
    match fate {
        Fate::Done(_) => "done",
        Fate::Never => "never to be done",
        Fate::Pending => "pending",
    }
}

/// Whether these amounts could stand in an account, with no fee or gas below zero.
fn are_amounts(cash: Usdc, fee: Usdc, gas: Usdc) -> bool {
    let bounded = |amount: Usdc| amount <= Usdc::MOST && amount >= -Usdc::MOST;
    bounded(cash) && bounded(fee) && bounded(gas) && fee.min(gas) >= Usdc::ZERO
}

pub(super) fn refuses_nonsense<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
    let mut opened = OpenedWorld::new(open, bars, 10)?;
    let (known, one) = (opened.manifest.actions.len() as u8, opened.one());
    let orders = (0..known).flat_map(|action| [0, -one, i64::MIN, i64::MAX].map(|units| (action, units)));
    let refused = |wrong: String| format!("nonsense is refused, not an error: {wrong}");
    for (key, (action, units)) in (900..).zip(orders.chain([(known, one), (u8::MAX, one)])) {
        let order = Order::open(action, units);
        let quote = opened.preview(&order).map_err(refused)?;
        hold(quote.is_none(), || {
            format!("it quotes {units} units of action {action}, which is impossible; it must answer without a quote")
        })?;
        let fate = opened.commit(key, &order).map_err(refused)?;
        let fate = opened.await_fate(key, fate)?;
        hold(fate == Fate::Never, || format!("it does {units} units of action {action}"))?;
    }
    Ok(())
}

pub(super) fn previews_without_acting<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar], sound: bool) -> Checked {
    let mut opened = OpenedWorld::new(open, bars, bars.len() / 2)?;
    let two = 2 * opened.one();
    let Some(adding) = opened.order(Effect::Adds, two) else { return Ok(()) };
    let first = opened.preview(&adding)?;
    for _ in 0..10 {
        let again = opened.preview(&adding)?;
        hold(again == first, || "the same preview at the same bar gives another quote".into())?;
    }
    if let Some(reducing) = opened.order(Effect::Reduces, two) {
        let fate = opened.commit(800, &reducing)?;
        let gone = opened.await_fate(800, fate)?;
        hold(gone == Fate::Never, || "it takes back units that were only previewed".into())?;
    }
    let (at, since) = (opened.at, opened.now());
    let rest = tell(opened.world(), since, bars[bars.len() - 1].closed)?;
    hold(!sound || rest == bars[at + 1..], || "previewing changed what happened afterwards".into())
}

/// A trial of a world: orders, and the fates it gives them.
struct Trial<'a, 'f, W: ?Sized> {
    opened: OpenedWorld<'a, W>,
    fates: Fates,
    found: &'f mut Findings,
}

pub(super) fn acts_once_and_within_bounds<W: World + ?Sized>(
    open: Open<'_, W>,
    bars: &[Bar],
    found: &mut Findings,
) -> Acted {
    let Some(opened) = found.of(OpenedWorld::new(open, bars, bars.len() / THIRD)) else { return Acted::default() };
    let mut trial = Trial { opened, fates: Fates::new(), found };
    let acted = trial.acts();
    trial.found.of(acted);
    trial.found.change = remedy::ORDERS.1;
    let told = trial.tells_the_same_fates();
    trial.found.of(told);
    Acted { fates: trial.fates, at: trial.opened.at }
}

impl<W: World + ?Sized> Trial<'_, '_, W> {
    fn acts(&mut self) -> Checked {
        let (began, two) = (self.opened.at, 2 * self.opened.one());
        let Some(adding) = self.opened.order(Effect::Adds, two) else { return Ok(()) };
        let quote = self.opened.preview(&adding)?;
        let quote = quote.ok_or("a world that refuses two units at any cost cannot be checked")?;
        let done = self.order(1, &adding)?.outcome().filter(|done| done.units > 0);
        let done = done.ok_or("a world that refuses what it quoted, without bounds, cannot be checked")?;
        self.keeps(1, &adding, "the same key gave another outcome")?;
        let other = Order { units: 3 * two, ..adding };
        self.keeps(1, &other, "a key once done must keep its outcome whatever is ordered under it")?;

        self.rules_out(&adding)?;
        self.pays_no_more_than_the_most(&adding, done.fee - done.cash)?;
        self.takes_no_more_gas_than_allowed(&adding, quote.gas)?;
        self.does_nothing_after_the_end(35, &adding)?;
        self.tells_two_apart(&adding)?;
        self.is_opened_again_meanwhile(&adding)?;
        self.gets_no_less_than_the_least()?;
        self.gives_back(began)
    }

    /// Gives an order, and waits for its fate.
    fn order(&mut self, key: u64, order: &Order) -> Checked<Fate> {
        let mut fate = self.opened.commit(key, order)?;
        if fate == Fate::Pending {
            // A golem that is not sure whether an order was sent sends it again.
            fate = self.opened.commit(key, order)?;
        }
        let fate = self.opened.await_fate(key, fate)?;
        self.take_down(key, order, fate)?;
        Ok(fate)
    }

    fn take_down(&mut self, key: u64, order: &Order, fate: Fate) -> Checked {
        if let Fate::Done(done) = fate {
            // Other amounts cannot be added up.
            hold(are_amounts(done.cash, done.fee, done.gas), || format!("key {key} cannot have come to {done:?}"))?;
            let Manifest { lot, actions, .. } = &self.opened.manifest;
            if let Some((sentence, change)) = excess(order, actions[usize::from(order.action)].effect, &done) {
                self.found.say_how(sentence, change);
            }
            if done.units % lot.clamp(&1, &limits::LOT) != 0 {
                let sentence = format!("{} units changed hands, which are not whole lots of {lot}", done.units);
                self.found.say_how(sentence, remedy::LOTS);
            }
        }
        self.fates.push((key, fate));
        Ok(())
    }

    /// Checks that a key keeps its fate, whatever is ordered under it later.
    fn keeps(&mut self, key: u64, order: &Order, otherwise: &str) -> Checked {
        let again = self.opened.commit(key, order)?;
        if !self.fates.contains(&(key, again)) {
            self.found.say(otherwise);
        }
        Ok(())
    }

    fn rules_out(&mut self, adding: &Order) -> Checked {
        if self.opened.reconcile(50)? != Fate::Never {
            self.found.say("it knows of a key that was never sent");
        }
        if self.order(50, adding)? != Fate::Never {
            self.found.say("a key that was ruled out must never be done");
        }
        Ok(())
    }

    fn pays_no_more_than_the_most(&mut self, adding: &Order, paid: Usdc) -> Checked {
        let micro = Usdc::micros(1);
        for (key, most) in (60..).zip([Usdc::ZERO, micro, paid.share(1, 2), paid - micro, paid, paid.share(3, 2)]) {
            self.order(key, &Order { most: most.max(Usdc::ZERO), ..*adding })?;
            self.keeps(key, adding, "a key keeps its fate even if the limit is raised later")?;
        }
        Ok(())
    }

    fn takes_no_more_gas_than_allowed(&mut self, adding: &Order, quoted: Usdc) -> Checked {
        for (key, gas) in (30..).zip([Usdc::ZERO, quoted.share(1, 2), quoted]) {
            self.order(key, &Order { gas, ..*adding })?;
        }
        Ok(())
    }

    fn does_nothing_after_the_end(&mut self, key: u64, order: &Order) -> Checked {
        let until = self.opened.now() - Span::millis(1);
        let fate = self.order(key, &Order { until, ..*order })?;
        if fate.outcome().is_some_and(|done| done.units != 0) {
            let sentence = format!(
                "order {key} was carried out after its end; once `until` is over nothing may be done, and it has no outcome"
            );
            self.found.say_how(sentence, remedy::UNTIL);
        }
        Ok(())
    }

    /// Sends two orders at a time, and asks about the second first.
    fn tells_two_apart(&mut self, adding: &Order) -> Checked {
        let (large, small) = (*adding, Order { units: adding.units / 2, ..*adding });
        let first = self.opened.commit(20, &small)?;
        let second = self.opened.commit(21, &large)?;
        let second = self.opened.await_fate(21, second)?;
        let first = self.opened.await_fate(20, first)?;
        let fits = |fate: Fate| fate.outcome().is_none_or(|done| excess(&small, Effect::Adds, &done).is_none());
        if !fits(first) && (first == second || fits(second)) {
            self.found.say("asked about key 20, it gives the fate of key 21");
        }
        self.take_down(20, &small, first)?;
        self.take_down(21, &large, second)
    }

    fn is_opened_again_meanwhile(&mut self, adding: &Order) -> Checked {
        let before = self.opened.commit(90, adding)?;
        self.opened.reopen()?;
        let after = self.opened.reconcile(90)?;
        if before != Fate::Pending && after != before {
            self.found.say("reopened at once, it gives another fate for key 90");
        }
        let fate = self.opened.await_fate(90, after)?;
        self.take_down(90, adding, fate)?;
        self.keeps(90, adding, "reopened at once, it does key 90 again")
    }

    fn gets_no_less_than_the_least(&mut self) -> Checked {
        let one = self.opened.one();
        let Some(reducing) = self.opened.order(Effect::Reduces, one) else { return Ok(()) };
        for (key, halves) in (40..).zip([1, 2, 3, 4]) {
            let quote = self.opened.preview(&reducing)?.ok_or(NOT_GIVEN_UP)?;
            let least = (quote.cash - quote.fee).max(Usdc::ZERO).share(halves, 2);
            self.order(key, &Order { least, ..reducing })?;
            self.keeps(key, &reducing, "a key keeps its fate even if its floor is lowered later")?;
        }
        self.does_nothing_after_the_end(36, &reducing)
    }

    /// Gives back everything held, once; if anything had been done twice, the world would take back more, and if
    /// anything had been too cheap, this would pay.
    fn gives_back(&mut self, began: usize) -> Checked {
        self.found.change = remedy::HELD;
        let done = self.fates.iter().filter_map(|(_, fate)| fate.outcome());
        let (held, paid) = done.fold((0_i64, Usdc::ZERO), |(held, paid), done| {
            (held.saturating_add(done.units), paid + done.fee - done.cash)
        });
        let Some(reducing) = self.opened.order(Effect::Reduces, held) else { return Ok(()) };
        self.opened.preview(&reducing)?.ok_or(NOT_GIVEN_UP)?;
        let done = self.order(70, &reducing)?.outcome().ok_or(NOT_GIVEN_UP)?;
        hold(done.units == -held, || {
            format!(
                "giving up all {held} units held comes to {} units; it must come to -{held}, below zero",
                done.units
            )
        })?;
        let got = done.cash - done.fee;
        // Later it may well pay.
        if self.opened.at == began && got > paid {
            self.found.say(format!(
                "{got} came back for what had just cost {paid}: going in and out on the spot must not pay"
            ));
        }
        self.keeps(70, &reducing, "the same key gave another outcome")?;
        if self.order(71, &Order { units: self.opened.one(), ..reducing })? != Fate::Never {
            self.found.say("it takes back more than it ever gave; something was done twice");
        }
        Ok(())
    }

    fn tells_the_same_fates(&mut self) -> Checked {
        for (key, fate) in &self.fates {
            let told = self.opened.reconcile(*key)?;
            hold(told == *fate, || format!("asked again about key {key}, it gives another fate"))?;
        }
        Ok(())
    }
}

const NOT_GIVEN_UP: &str = "it does not take back what is held";

/// The fault in the outcome of an order, if there is one, and the change that mends it; its amounts are possible ones.
fn excess(order: &Order, effect: Effect, done: &Outcome) -> Option<(String, &'static str)> {
    let Outcome { units, cash, fee, gas } = *done;
    let (range, what) = match effect {
        Effect::Adds => (0..=order.units, "added"),
        Effect::Reduces => (-order.units..=0, "given up"),
    };
    if !range.contains(&units) {
        let sentence = format!("{} units were to be {what}, and what was held changed by {units}", order.units);
        return Some((sentence, remedy::UNITS));
    }
    if order.allows(effect, done) {
        return None;
    }
    if gas > order.gas {
        return Some((format!("{gas} of gas was taken where {} was allowed", order.gas), remedy::GAS));
    }
    Some(match effect {
        Effect::Adds if cash > Usdc::ZERO => (format!("adding exposure cannot pay: {done:?}"), remedy::SIGN),
        Effect::Adds => (format!("{} were paid where {} was the limit", fee - cash, order.most), remedy::MOST),
        Effect::Reduces if cash < Usdc::ZERO => (format!("giving up cannot cost: {done:?}"), remedy::SIGN),
        Effect::Reduces => {
            (format!("{} came in where {} was the least for all of it", cash - fee, order.least), remedy::LEAST)
        }
    })
}

pub(super) fn remembers_its_bars<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar]) -> Checked {
    let (third, last) = (bars.len() / THIRD, bars[bars.len() - 1].closed);
    let mut world = open();
    let since = dawn(&*world);
    let before = tell(&mut *world, since, bars[third].closed)?;
    hold(before == bars[..=third], || "an action changed the past".into())?;
    let after = tell(&mut *world, bars[third].closed, last)?;
    drop(world);
    let mut opened = OpenedWorld::new(open, bars, third)?;
    let retold = tell(opened.world(), bars[third].closed, last)?;
    hold(retold == after, || "reopened, it tells another future than before".into())
}

pub(super) fn remembers_its_fates<W: World + ?Sized>(open: Open<'_, W>, bars: &[Bar], acted: &Acted) -> Checked {
    let mut opened = OpenedWorld::new(open, bars, acted.at)?;
    let two = 2 * opened.one();
    let adding = opened.order(Effect::Adds, two);
    for (key, fate) in &acted.fates {
        let told = opened.reconcile(*key)?;
        hold(told == *fate, || format!("reopened, it has forgotten what became of key {key}"))?;
        if let Some(adding) = &adding {
            let done = opened.commit(*key, adding)?;
            hold(done == *fate, || format!("reopened, it does key {key} again"))?;
        }
    }
    Ok(())
}
