//! Worlds that break a promise, each in its own way; some at once, some in their own time. Underneath is a simulated
//! market that keeps them all, so whatever the suite finds is the lie.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::{Error, Ledger, Order, Sim, SimConfig, World};
use golem::Usdc;
use golem::time::{Span, Time};
use golem::world::{Fate, Manifest, Observation, Outcome, Quote};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    NamesAFeatureTwice,
    HasAnInstinctNobodyCanRead,
    EndsBeforeItStarts,
    IsAway,
    TellsEarly,
    SkipsABar,
    ForgetsWhatItSaidBefore,
    HidesAFeature,
    ShowsNoNumber,
    FailsAtNonsense,
    QuotesAnotherPriceEachTime,
    ActsWhenAskedForAPreview,
    FillsTooWell,
    IgnoresTheLimit,
    TakesTooMuchGas,
    SellsBelowTheFloor,
    AddsMoreThanWasOrdered,
    SplitsLots,
    ActsTwice,
    DoesAKeyAnew,
    ForgetsItsFates,
    KnowsWhatNobodySent,
    DoesWhatWasRuledOut,
    IsNotSureAfterwards,
}

/// A market that answers at once, and not the truth.
pub(crate) struct Liar {
    sim: Sim,
    lies: Vec<Lie>,
    asked: u64,
    /// How far it has told its bars.
    told: Time,
}

impl Liar {
    pub(crate) fn new(lies: &[Lie], ledger: Ledger) -> Liar {
        let sim = Sim::new(SimConfig::default(), ledger).unwrap();
        Liar { sim, lies: lies.to_vec(), asked: 0, told: Time::default() }
    }

    fn tells(&self, lie: Lie) -> bool {
        self.lies.contains(&lie)
    }

    fn embellish(&self, done: &mut Outcome) {
        let added = done.units > 0;
        for lie in &self.lies {
            match lie {
                Lie::FillsTooWell if added => done.cash = done.cash.share(99, 100),
                Lie::AddsMoreThanWasOrdered if added => done.units += 1,
                Lie::SplitsLots if added => done.units -= 1,
                Lie::TakesTooMuchGas => done.gas = Usdc::cents(1),
                Lie::DoesAKeyAnew => done.fee += Usdc::micros(self.asked as i64),
                _ => {}
            }
        }
    }
}

fn away() -> Error {
    Error::Away { what: "nobody answers".into(), again: None }
}

impl World for Liar {
    fn manifest(&self) -> Manifest {
        let mut manifest = self.sim.manifest();
        if self.tells(Lie::NamesAFeatureTwice) {
            manifest.features[5] = manifest.features[4].clone();
        }
        if self.tells(Lie::HasAnInstinctNobodyCanRead) {
            manifest.instincts[3] = "when the moon is full expect gas".into();
        }
        if self.tells(Lie::SplitsLots) {
            manifest.lot = 10;
        }
        manifest
    }

    fn start(&self) -> Time {
        self.sim.start()
    }

    fn end(&self) -> Option<Time> {
        self.tells(Lie::EndsBeforeItStarts).then(|| self.sim.start() - Span::DAY)
    }

    fn seek(&mut self, until: Time) -> Result<(), Error> {
        self.sim.seek(until)
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error> {
        if self.tells(Lie::IsAway) {
            return Err(away());
        }
        self.asked += 1;
        let seventy_seventh = self.sim.start() + self.sim.manifest().bar.times(77);
        let ahead = if self.tells(Lie::TellsEarly) { Span::millis(1) } else { Span::ZERO };
        self.sim.observe(since, now + ahead, into)?;
        for lie in &self.lies {
            match lie {
                Lie::SkipsABar => into.bars.retain(|bar| bar.closed != seventy_seventh || self.asked < 3),
                Lie::ForgetsWhatItSaidBefore => {
                    into.bars.iter_mut().filter(|bar| bar.closed <= self.told).for_each(|bar| bar.values[0] += 1.0);
                }
                Lie::HidesAFeature => into.bars.iter_mut().skip(9).for_each(|bar| bar.features.truncate(3)),
                Lie::ShowsNoNumber => into.bars.iter_mut().skip(9).for_each(|bar| bar.features[3] = f64::NAN),
                _ => {}
            }
        }
        self.told = self.told.max(into.bars.last().map_or(self.told, |bar| bar.closed));
        Ok(())
    }

    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error> {
        self.asked += 1;
        let mut quote = self.sim.preview(order)?;
        if quote.is_none() && self.tells(Lie::FailsAtNonsense) {
            return Err(away());
        }
        if self.tells(Lie::ActsWhenAskedForAPreview) {
            self.sim.commit(5_000 + self.asked, order)?;
        }
        if let Some(quote) = &mut quote
            && self.tells(Lie::QuotesAnotherPriceEachTime)
        {
            quote.fee += Usdc::micros(self.asked as i64);
        }
        Ok(quote)
    }

    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, Error> {
        self.asked += 1;
        let (mut key, mut order) = (key, *order);
        for lie in self.lies.clone() {
            match lie {
                Lie::DoesWhatWasRuledOut if key == 50 => key = 51,
                Lie::IgnoresTheLimit => order.most = Usdc::MOST,
                Lie::SellsBelowTheFloor => order.least = Usdc::ZERO,
                Lie::ActsTwice if key == 1 => {
                    self.sim.commit(1_001, &order)?;
                }
                _ => {}
            }
        }
        let Fate::Done(mut done) = self.sim.commit(key, &order)? else { return Ok(Fate::Never) };
        self.embellish(&mut done);
        Ok(Fate::Done(done))
    }

    fn reconcile(&mut self, key: u64) -> Result<Fate, Error> {
        if key == 50 && self.tells(Lie::KnowsWhatNobodySent) {
            return Ok(Fate::Pending);
        }
        if key == 1 && self.tells(Lie::IsNotSureAfterwards) {
            return Ok(Fate::Pending);
        }
        Ok(match self.sim.reconcile(key)? {
            Fate::Done(mut done) => {
                self.embellish(&mut done);
                Fate::Done(done)
            }
            fate => fate,
        })
    }
}

/// Bars from an order to its fate.
const DELAY: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowLie {
    DoesItLate,
    DoesTwiceWhatIsSentTwice,
    DoesItAgainWhenReopened,
    MixesUpItsKeys,
    NeverAnswers,
    ChangesItsMind,
}

/// A market in which an order takes some bars; honest but for its lie, if it has one.
pub(crate) struct Slow {
    sim: Sim,
    lie: Option<SlowLie>,
    post: Rc<RefCell<Post>>,
    now: Time,
}

/// What is on its way. It is not lost when the world is closed.
#[derive(Debug, Default)]
pub(crate) struct Post {
    waiting: BTreeMap<u64, (Order, Time)>,
    /// Every key that was ever heard of.
    known: BTreeSet<u64>,
    /// Those whose fate was told after it was known.
    told: BTreeSet<u64>,
}

impl Slow {
    pub(crate) fn new(lie: Option<SlowLie>, ledger: Ledger, post: Rc<RefCell<Post>>) -> Slow {
        let sim = Sim::new(SimConfig::default(), ledger).unwrap();
        if lie == Some(SlowLie::DoesItAgainWhenReopened) {
            let again: Vec<_> = post.borrow().waiting.iter().map(|(key, sent)| (key + 2_000, *sent)).collect();
            post.borrow_mut().waiting.extend(again);
        }
        Slow { now: sim.start(), sim, lie, post }
    }

    /// Does whatever is due by then, on the bar it is due.
    fn deliver(&mut self, now: Time) -> Result<(), Error> {
        self.now = now;
        let mut post = self.post.borrow_mut();
        let (due, waiting) = std::mem::take(&mut post.waiting).into_iter().partition(|(_, (_, due))| *due <= now);
        post.waiting = waiting;
        let due: BTreeMap<u64, (Order, Time)> = due;
        for (key, (mut order, due)) in due {
            self.sim.seek(due)?;
            if self.lie == Some(SlowLie::DoesItLate) {
                order.until = Time::millis(u64::MAX);
            }
            self.sim.commit(key, &order)?;
        }
        Ok(())
    }

    fn tell(&mut self, key: u64) -> Result<Fate, Error> {
        let mut post = self.post.borrow_mut();
        if post.waiting.contains_key(&key) {
            return Ok(Fate::Pending);
        }
        let again = !post.told.insert(key);
        match self.lie {
            Some(SlowLie::ChangesItsMind) if again => Ok(Fate::Never),
            Some(SlowLie::MixesUpItsKeys) if key == 20 || key == 21 => self.sim.reconcile(41 - key),
            _ => self.sim.reconcile(key),
        }
    }
}

impl World for Slow {
    fn manifest(&self) -> Manifest {
        self.sim.manifest()
    }

    fn start(&self) -> Time {
        self.sim.start()
    }

    fn end(&self) -> Option<Time> {
        None
    }

    fn seek(&mut self, until: Time) -> Result<(), Error> {
        self.deliver(until)?;
        self.sim.seek(until)
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error> {
        self.deliver(now)?;
        self.sim.observe(since, now, into)
    }

    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error> {
        self.sim.preview(order)
    }

    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, Error> {
        if self.post.borrow().known.contains(&key) {
            if self.lie == Some(SlowLie::DoesTwiceWhatIsSentTwice) {
                let mut post = self.post.borrow_mut();
                let again = post.waiting.get(&key).copied();
                post.waiting.extend(again.map(|sent| (key + 1_000, sent)));
            }
            return self.tell(key);
        }
        // What it would not quote it refuses at the door.
        let refused = self.sim.preview(order)?.is_none();
        let mut post = self.post.borrow_mut();
        post.known.insert(key);
        if refused {
            return self.sim.commit(key, order);
        }
        let never = self.lie == Some(SlowLie::NeverAnswers);
        let due = if never { Time::millis(u64::MAX) } else { self.now + self.sim.manifest().bar.times(DELAY) };
        post.waiting.insert(key, (*order, due));
        Ok(Fate::Pending)
    }

    fn reconcile(&mut self, key: u64) -> Result<Fate, Error> {
        self.post.borrow_mut().known.insert(key);
        self.tell(key)
    }
}
