//! Applying an owner's money and commands. It calculates and never decides.

use super::{Account, Deposit, Event};
use crate::id::CommandId;
use crate::life::Life;
use crate::money::Usdc;
use crate::policy::Refusal;
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::Funded { transfer, credit, capital } => {
            assert!(*transfer > life.transfers_taken, "a transfer is taken in twice");
            assert!((*credit).min(*capital) >= Usdc::ZERO, "a transfer takes money away");
            life.transfers_taken = *transfer;
            life.purse.credit += *credit;
            life.purse.given += *credit;
            life.purse.funding = life.purse.funding.max(life.purse.credit);
            life.capital.rescale_peak(*capital, life.seen.unit);
            life.capital.cash += *capital;
            life.capital.given += *capital;
            life.stress.ledger.acknowledge(life.age);
        }
        Event::Withdrew { deposit, from, amount } => {
            assert!(*deposit > life.deposits_made, "two deposits have one number");
            assert!(amount.is_positive(), "a withdrawal brings money");
            life.deposits_made = *deposit;
            life.deposits.push(Deposit { number: *deposit, amount: *amount });
            match from {
                Account::Credit => {
                    life.purse.credit -= *amount;
                    life.purse.withdrawn += *amount;
                }
                Account::Capital => {
                    life.capital.rescale_peak(-*amount, life.seen.unit);
                    life.capital.cash -= *amount;
                    life.capital.withdrawn += *amount;
                }
            }
        }
        Event::Deposited { deposit } => life.deposits.retain(|d| d.number != *deposit),
        Event::Obeyed { command } => remember(life, *command, None),
        Event::Declined { command, rule } => remember(life, *command, Some(*rule)),
        Event::Paused => (life.heartbeat.paused, life.heartbeat.epoch) = (true, life.heartbeat.epoch + 1),
        Event::Resumed => {
            (life.heartbeat.paused, life.heartbeat.epoch) = (false, life.heartbeat.epoch + 1);
            life.lived_until = at;
        }
        Event::Froze { .. } => (life.heartbeat.frozen, life.heartbeat.epoch) = (true, life.heartbeat.epoch + 1),
        Event::Thawed => (life.heartbeat.frozen, life.heartbeat.epoch) = (false, life.heartbeat.epoch + 1),
        Event::Amended(policy) => {
            life.policy = policy.clone();
            life.heartbeat.epoch += 1;
        }
        Event::Steered { text } => life.strategy.clone_from(text),
        Event::Said(say) => life.said = Some((say.clone(), at)),
        Event::Heeded { command, rule } => keep(life, *command, *rule),
    }
}

/// Remembers the newest commands, so that one delivered twice is obeyed once.
fn remember(life: &mut Life, command: CommandId, declined: Option<Refusal>) {
    life.stress.ledger.acknowledge(life.age);
    keep(life, command, declined);
}

fn keep(life: &mut Life, command: CommandId, declined: Option<Refusal>) {
    if life.commands.len() >= life.laws().commands_kept {
        life.commands.remove(0);
    }
    life.commands.push((command, declined));
}
