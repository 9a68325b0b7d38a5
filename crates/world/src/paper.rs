//! Paper worlds. Nothing in them is real, so an order is decided at once (though its fate may be told later, to
//! rehearse a slow world), sending it costs nothing, and time can begin again. They differ in what they are made of and
//! in the outcome of an order. Here it is ensured for all of them that an order is done once, within its bounds, and
//! remembered.

use std::time::Duration;

use golem::time::{Span, Time};
use golem::world::{Effect, Fate, Manifest, Observation, Outcome, Quote};

use crate::walk::{self, Walk};
use crate::{Error, Ledger, Order, World};

/// The part in which one paper world differs from another.
pub(crate) trait Model: Walk {
    /// Actions of this world: names and effects, in the manifest's order.
    const ACTIONS: &'static [(&'static str, Effect)];

    fn manifest(&self) -> Manifest;

    fn start(&self) -> Time;

    fn end(&self) -> Option<Time>;

    /// The quote for an order at the current bar, from what is known by then, for a golem that holds this much.
    fn quote(&self, order: &Order, held: i64) -> Option<Quote>;

    /// The outcome of an order, its bounds aside.
    fn fill(&self, key: u64, order: &Order, held: i64) -> Option<Outcome>;

    /// Takes in what was done and when; of concern only where later bars depend on it.
    fn changed(&mut self, _at: Time, _done: &Outcome) {}

    /// Whether the outcome of an order depends on the bar after the one it was given on, which may not be there yet.
    fn defers(&self) -> bool {
        false
    }

    /// Whether a bar after the current one is there.
    fn has_next(&self) -> bool {
        true
    }

    /// Takes in new bars, and returns until when everything is known; none where it always is.
    fn catch_up(&mut self) -> Result<Option<Time>, Error> {
        Ok(None)
    }
}

/// A world made of a model, and the record of what was done in it.
#[derive(Debug)]
pub struct Paper<M> {
    pub(crate) model: M,
    ledger: Ledger,
    /// World time from an order to the news of its fate.
    settles_in: Span,
}

/// Makes a paper world tell the fate of an order only after so many bars.
pub(crate) fn settling<M: Model>(paper: Paper<M>, bars: u32) -> Paper<M> {
    let settles_in = paper.model.manifest().bar.times(u64::from(bars));
    Paper { settles_in, ..paper }
}

/// The fate of a key as far as it may be told by now.
fn told<M: Model>(paper: &Paper<M>, key: u64) -> Fate {
    let taken = paper.ledger.taken(key);
    if taken.is_some_and(|taken| paper.model.closed() <= taken.at) {
        return Fate::Pending;
    }
    let Some(entry) = paper.ledger.entry(key) else { return taken.map_or(Fate::Never, |_| Fate::Pending) };
    // Where nothing takes time, nothing is on its way, not even seen from an earlier bar.
    let on_its_way = paper.settles_in > Span::ZERO && paper.model.closed() < entry.at + paper.settles_in;
    match entry.outcome {
        Some(_) if on_its_way => Fate::Pending,
        outcome => outcome.map_or(Fate::Never, Fate::Done),
    }
}

/// Opens a world on a fresh model, which is told what its record says was done before.
pub(crate) fn open<M: Model>(mut model: M, ledger: Ledger) -> Paper<M> {
    for (_, entry) in ledger.entries() {
        if let Some(done) = entry.outcome {
            model.changed(entry.at, &done);
        }
    }
    Paper { model, ledger, settles_in: Span::ZERO }
}

impl<M: Model> World for Paper<M> {
    fn manifest(&self) -> Manifest {
        self.model.manifest()
    }

    fn start(&self) -> Time {
        self.model.start()
    }

    fn end(&self) -> Option<Time> {
        self.model.end()
    }

    fn seek(&mut self, until: Time) -> Result<(), Error> {
        decide(self)?;
        walk::seek(&mut self.model, until);
        Ok(())
    }

    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error> {
        if decide(self)?.is_some_and(|known| now > known) {
            return Err(Error::Away {
                what: "the bars to be seen have not come yet".to_owned(),
                again: Some(Duration::ZERO),
            });
        }
        walk::observe(&mut self.model, since, now, into);
        Ok(())
    }

    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error> {
        Ok(self.model.quote(order, self.ledger.held()))
    }

    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, Error> {
        if self.model.defers() {
            self.ledger.take(key, self.model.closed(), order)?;
        } else {
            fill(self, key, order)?;
        }
        Ok(told(self, key))
    }

    fn reconcile(&mut self, key: u64) -> Result<Fate, Error> {
        if self.ledger.taken(key).is_none() {
            self.ledger.reconcile(key, self.model.closed())?;
        }
        Ok(told(self, key))
    }
}

/// Decides the outcome of an order at the current bar, once and for all.
fn fill<M: Model>(paper: &mut Paper<M>, key: u64, order: &Order) -> Result<(), Error> {
    let (at, held) = (paper.model.closed(), paper.ledger.held());
    let mut done = None;
    paper.ledger.once(key, at, || {
        done = within_bounds(&paper.model, key, order, held);
        done
    })?;
    if let Some(done) = done {
        paper.model.changed(at, &done);
    }
    Ok(())
}

/// Decides every order whose outcome can be known by now, as seen from the bar it was ordered on: the time of deciding
/// makes no difference. Returns until when everything is known.
fn decide<M: Model>(paper: &mut Paper<M>) -> Result<Option<Time>, Error> {
    let known = paper.model.catch_up()?;
    while let Some((key, taken)) = paper.ledger.undecided() {
        walk::seek(&mut paper.model, taken.at);
        if !paper.model.has_next() {
            break;
        }
        fill(paper, key, &taken.order)?;
    }
    Ok(known)
}

/// The outcome of an order, if its bounds allow it.
fn within_bounds<M: Model>(model: &M, key: u64, order: &Order, held: i64) -> Option<Outcome> {
    let (_, effect) = M::ACTIONS.get(usize::from(order.action))?;
    let done = model.fill(key, order, held)?;
    (model.closed() <= order.until && order.allows(*effect, &done)).then_some(done)
}

#[cfg(test)]
mod tests {
    use golem::Usdc;
    use golem::time::Span;
    use golem::world::Timing;

    use super::*;
    use crate::{Queue, QueueConfig, Sim, SimConfig};

    const TWO: i64 = 2_000_000;

    /// Two units come and go on the first bar; what that costs and brings are the bounds to try.
    fn check_bounds<M: Model>(open: impl Fn() -> Paper<M>) {
        let (buy, sell) = (Order::open(0, TWO), Order::open(1, TWO));
        let bought = |order: Order| open().commit(1, &order).unwrap().outcome();
        let sold = |order: Order| {
            let mut world = open();
            world.commit(1, &buy).unwrap();
            world.commit(2, &order).unwrap().outcome()
        };
        let (cost, gain) = (bought(buy).unwrap(), sold(sell).unwrap());
        let (most, least, gas, until) = (cost.fee - cost.cash, gain.cash - gain.fee, Usdc::ZERO, open().start());
        let (micro, instant) = (Usdc::micros(1), Span::millis(1));

        assert_eq!(bought(Order { most, gas, until, ..buy }), Some(cost));
        assert_eq!(bought(Order { most: most - micro, ..buy }), None);
        assert_eq!(bought(Order { until: until - instant, ..buy }), None);
        assert_eq!(sold(Order { least, gas, until, ..sell }), Some(gain));
        assert_eq!(sold(Order { least: least + micro, ..sell }), None);
        assert_eq!(sold(Order { until: until - instant, ..sell }), None);
    }

    #[test]
    fn an_order_is_done_up_to_its_bounds_and_not_beyond() {
        check_bounds(|| Sim::new(SimConfig::default(), Ledger::memory()).unwrap());
        check_bounds(|| Queue::new(QueueConfig::default(), Ledger::memory()).unwrap());
    }

    #[test]
    fn what_is_on_paper_says_so() {
        let sim = Sim::new(SimConfig::default(), Ledger::memory()).unwrap().manifest();
        let queue = Queue::new(QueueConfig::default(), Ledger::memory()).unwrap().manifest();
        for manifest in [sim, queue] {
            assert_eq!((manifest.timing, manifest.paper), (Timing::Told, true));
        }
    }
}
