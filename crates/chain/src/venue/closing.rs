//! The end of a life on a chain: everything left in its purse goes to the owner, the key gives itself up, and the rest
//! of its gas goes home as well. The next step is read off the chain, so that repeating one does no harm, and a process
//! that comes back goes on where the chain stands.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;

use super::{NOTHING, PATIENCE, TIP, Venue};
use crate::Error;
use crate::contracts::{Purse, Token};
use crate::outbox::Attempt;
use crate::rpc::Block;
use crate::tx::{Fee, Transaction};

/// Gas that sending a token home, or giving up the key, may take.
const HOME: u64 = 150_000;
/// Gas that taking liquidity out of the pool may take.
const BRING: u64 = 500_000;
/// Dust, in millionths of a dollar, of the thing and of a share: amounts up to this stay where they are, because a
/// stranger could keep a golem from its end by sending its purse something again and again.
const DUST: (i64, i64, i64) = (10_000, 10, 100);
/// The number of the transactions of the end in the outbox; no order has it.
const END: u64 = u64::MAX;
/// How often sending the rest of the gas is tried before it is left where it is.
const TRIES: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClosingStep {
    BringIn,
    Send(Address),
    Retire,
    Gas,
}

/// The work left, as of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkLeft {
    Nothing,
    To(ClosingStep),
    /// Another key may spend from the purse.
    Stranger(Address),
}

impl Venue {
    /// Goes on with the end, and returns what it waits for; `None` when nothing is left to do.
    pub fn close(&mut self) -> Result<Option<String>, Error> {
        let order = self.outbox.under_way().find(|key| *key != END);
        if let Some(key) = order {
            self.settle(key, None)?;
            return Ok(Some("an order is still under way".to_owned()));
        }
        let head = self.chain.head()?;
        let deep = self.chain.block(head.number.saturating_sub(self.place.depth))?;
        match (self.left(&deep)?, self.left(&head)?) {
            (_, WorkLeft::Stranger(key)) => Ok(Some(format!(
                "the purse {} still has something in it and another key, {key}; its owner sweeps it, or buries this golem unfinished",
                self.place.purse
            ))),
            (before, now) if before != now => {
                Ok(Some("the money sent home is not deep enough in the chain yet".to_owned()))
            }
            (_, WorkLeft::To(step)) => self.take(step, &head).map(Some),
            (_, WorkLeft::Nothing) => Ok(None),
        }
    }

    fn left(&self, at: &Block) -> Result<WorkLeft, Error> {
        let (owner, own) = (self.place.purse, self.signer.address());
        let key = self.ask(owner, &Purse::keyCall {}, at)?;
        if key != Address::ZERO && (self.ours || key == own) {
            let in_pool = U256::from(self.ask(owner, &Purse::liquidityCall {}, at)?);
            // Without a range the size of a share is not known.
            let brings = self.place.range.map_or(!in_pool.is_zero(), |_| self.unit.down(in_pool) > DUST.2);
            let mut steps = Vec::new();
            steps.extend(brings.then_some((ClosingStep::BringIn, Purse::bringInCall {}.abi_encode())));
            for (token, scale, dust) in [(self.place.money, self.money, DUST.0), (self.place.thing, self.thing, DUST.1)]
            {
                let there = self.ask(token, &Token::balanceOfCall { owner }, at)?;
                let call = Purse::sendHomeCall { token }.abi_encode();
                steps.extend((scale.down(there) > dust).then_some((ClosingStep::Send(token), call)));
            }
            for (step, call) in steps {
                // A token that cannot be sent stays, and the rest goes home.
                match self.chain.tried(own, owner, &call, gas_of(step), at) {
                    _ if key != own => return Ok(WorkLeft::Stranger(key)),
                    Ok(_) => return Ok(WorkLeft::To(step)),
                    Err(Error::Said(_)) => {}
                    Err(other) => return Err(other),
                }
            }
        }
        if key == own {
            return Ok(WorkLeft::To(ClosingStep::Retire));
        }
        // Gas that would not pay for its own transfer stays, and so does gas whose transfer keeps failing.
        if self.outbox.attempts_at(self.chain.sent_by(own, at)?) >= TRIES {
            return Ok(WorkLeft::Nothing);
        }
        let worth_it = U256::from(NOTHING) * U256::from(2 * (at.base_fee * 2 + TIP));
        Ok(if self.chain.ether_of(own, at)? > worth_it { WorkLeft::To(ClosingStep::Gas) } else { WorkLeft::Nothing })
    }

    fn take(&mut self, step: ClosingStep, head: &Block) -> Result<String, Error> {
        let own = self.signer.address();
        let (nonce, there) = (self.chain.sent_by(own, head)?, self.chain.ether_of(own, head)?);
        let before = self.outbox.dearest_at(nonce).cloned();
        let gas = gas_of(step);
        let can_pay = u128::try_from(there / U256::from(gas)).unwrap_or(u128::MAX);
        let fair = head.base_fee + TIP;
        let (most, tip) = match &before {
            Some(Attempt { block, raw, .. }) if head.number < block + PATIENCE => {
                let _ = self.chain.send(raw);
                return Ok("the money sent home has not landed yet".to_owned());
            }
            // Nodes want a tenth more before they let one take the place of another.
            Some(attempt) => {
                let (tx, _) = Transaction::read(&attempt.raw).map_err(Error::Wrong)?;
                let tip = if let Fee::Dynamic { tip, .. } = tx.fee { tip } else { TIP };
                ((attempt.most + attempt.most / 8 + 1).max(head.base_fee * 2 + TIP), tip + tip / 8 + 1)
            }
            None => ((head.base_fee * 2 + TIP).min(can_pay), TIP),
        };
        if can_pay < fair || most > can_pay {
            if let Some(Attempt { raw, .. }) = &before {
                let _ = self.chain.send(raw);
            }
            return Ok(format!(
                "the gas left cannot pay today's price; it waits. Send gas to {own}, or sweep the purse"
            ));
        }
        let (to, input, value) = match step {
            ClosingStep::BringIn => (self.place.purse, Purse::bringInCall {}.abi_encode(), U256::ZERO),
            ClosingStep::Send(token) => (self.place.purse, Purse::sendHomeCall { token }.abi_encode(), U256::ZERO),
            ClosingStep::Retire => (self.place.purse, Purse::retireCall {}.abi_encode(), U256::ZERO),
            ClosingStep::Gas => (self.owner(head)?, Vec::new(), there - U256::from(gas) * U256::from(most)),
        };
        let fee = Fee::Dynamic { most, tip: tip.min(most) };
        let tx = Transaction { chain: self.place.chain, nonce, fee, gas, to, value, input: Bytes::from(input) };
        match self.put(END, &tx, head, 0, false) {
            // More than the signer's list allows: the transaction that is out may still land.
            Err(Error::Refused(why)) => {
                if let Some(Attempt { raw, .. }) = &before {
                    let _ = self.chain.send(raw);
                }
                return Ok(format!("the signer refuses: {why}"));
            }
            other => other?,
        };
        Ok(match step {
            ClosingStep::BringIn => "the liquidity in the pool is on its way to the purse",
            ClosingStep::Send(_) => "the contents of the purse are on their way to its owner",
            ClosingStep::Retire => "the key gives itself up",
            ClosingStep::Gas => "the rest of the gas is on its way to its owner",
        }
        .to_owned())
    }

    fn owner(&self, at: &Block) -> Result<Address, Error> {
        self.ask(self.place.purse, &Purse::ownerCall {}, at)
    }
}

fn gas_of(step: ClosingStep) -> u64 {
    match step {
        ClosingStep::Gas => NOTHING,
        ClosingStep::BringIn => BRING,
        ClosingStep::Send(_) | ClosingStep::Retire => HOME,
    }
}
