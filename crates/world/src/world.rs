//! The seam between a golem and what it lives in.

use golem::time::Time;
use golem::world::{Fate, Manifest, Observation, Order, Quote};
use golem::{Errand, What};

use crate::error::Error;

/// A world to live in. One instance serves one golem.
pub trait World {
    /// The world's declaration of itself, which goes into the birth record.
    fn manifest(&self) -> Manifest;

    /// World time at which a golem born now begins.
    fn start(&self) -> Time;

    /// World time after which nothing more will ever be seen; none if the world goes on for ever.
    fn end(&self) -> Option<Time>;

    /// Brings the world to where a returning golem last saw it, so that actions meet the bar it knows.
    fn seek(&mut self, until: Time) -> Result<(), Error>;

    /// Appends every bar closed after `since` and not after `now`, oldest first, at most
    /// [`golem::limits::BARS`] of them; the rest is told next time.
    fn observe(&mut self, since: Time, now: Time, into: &mut Observation) -> Result<(), Error>;

    /// The quote for an action; none if the world would refuse it.
    fn preview(&mut self, order: &Order) -> Result<Option<Quote>, Error>;

    /// Why the last preview gave no quote, where there is more to say than that: the owner is told.
    fn says(&mut self) -> Option<String> {
        None
    }

    /// Carries out an order, once and within its bounds: a key that was committed before gives its own fate again.
    /// `Never` if the world refused, so that nothing happened and nothing will; `Pending` if the order is on its way.
    fn commit(&mut self, key: u64, order: &Order) -> Result<Fate, Error>;

    /// The fate of a key. `Never` is final, also for a key that was never sent; a pending order may still be done or
    /// not, though not after its end.
    fn reconcile(&mut self, key: u64) -> Result<Fate, Error>;

    /// Closes the account of a dead golem that has nothing under way any more: everything it has left here goes home.
    /// After an error that says the world is away, this is asked again.
    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Carries out an errand, and returns the input that answers it; none if the errand is not for a world.
pub fn ask(world: &mut dyn World, errand: &Errand) -> Result<Option<What>, Error> {
    Ok(match *errand {
        Errand::Preview { key, look, order } => Some(What::Previewed { key, look, quote: world.preview(&order)? }),
        Errand::Commit { key, order } => Some(What::Landed { key, fate: world.commit(key, &order)? }),
        Errand::Reconcile { key } => Some(What::Landed { key, fate: world.reconcile(key)? }),
        Errand::Tell { .. } | Errand::Ask { .. } | Errand::Call { .. } | Errand::Forfeit { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use golem::clade::News;

    use super::*;
    use crate::{Ledger, Sim, SimConfig};

    #[test]
    fn an_errand_is_answered_by_a_world_if_it_is_for_one() {
        let [mut world, mut same] = [0; 2].map(|_| Sim::new(SimConfig::default(), Ledger::memory()).unwrap());
        let order = Order::open(0, 1_000_000);
        let quote = same.preview(&order).unwrap();
        let fate = same.commit(7, &order).unwrap();
        assert!(quote.is_some() && fate.outcome().is_some());
        let mut answer = |errand| ask(&mut world, &errand).unwrap();
        let preview = Errand::Preview { key: 7, look: 1, order };
        assert_eq!(answer(preview), Some(What::Previewed { key: 7, look: 1, quote }));
        assert_eq!(answer(Errand::Commit { key: 7, order }), Some(What::Landed { key: 7, fate }));
        assert_eq!(answer(Errand::Reconcile { key: 7 }), Some(What::Landed { key: 7, fate }));
        assert_eq!(answer(Errand::Reconcile { key: 8 }), Some(What::Landed { key: 8, fate: Fate::Never }));
        assert_eq!(answer(Errand::Tell { number: 1, news: News::Death }), None);
    }
}
