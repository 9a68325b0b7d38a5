//! Performing what is owed to the world; the answer is the next input.

use golem::{Owed, Usdc, What};
use world::{Order, World};

use crate::Error;

pub(crate) fn ask_world(world: &mut dyn World, owed: &Owed) -> Result<What, Error> {
    Ok(match *owed {
        Owed::Preview { key, action, units } => {
            let order = Order { action, units, limit: Usdc::MOST };
            What::Previewed { key, quote: world.preview(&order)? }
        }
        Owed::Commit { key, action, units, limit } => {
            What::Landed { key, outcome: world.commit(key, &Order { action, units, limit })? }
        }
        Owed::Reconcile { key } => What::Landed { key, outcome: world.reconcile(key)? },
        Owed::Deposit { .. }
        | Owed::Curate
        | Owed::Dream { .. }
        | Owed::Tell { .. }
        | Owed::Reflect
        | Owed::Bequeath => {
            unreachable!("neither the treasury nor memory nor a peer is a world")
        }
    })
}
