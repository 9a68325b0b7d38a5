//! One venue: a pool in which a golem's purse exchanges money for a thing and back.
//!
//! An order has a name on the chain, and the purse does nothing twice under the same name. Everything that is signed is
//! on disk before it is sent. An order counts as done only when it is deep enough in the chain, and as never done only
//! when that is settled there too: because its nonce is spent on something else, or because its time is over and no
//! transaction of it is out.

mod closing;
mod shares;

use std::path::Path;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolEvent};
use golem::Usdc;
use golem::world::{Effect, Fate, Order, Outcome, Quote};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Error;
use crate::amount::{self, Scale};
use crate::contracts::{Pool, Purse, Quoter, Token};
use crate::outbox::{Attempt, Flight, Outbox};
use crate::rpc::{Block, Endpoints, Log, Receipt};
use crate::signer::Signer;
use crate::tx::{Fee, Transaction};

/// Gas that an exchange may take, and for which money is reserved; unused gas is not paid.
pub const GAS: u64 = 320_000;
/// Gas that an order for liquidity may take: two exchanges, and the pool's part of it.
const GAS_SHARES: u64 = 900_000;
/// Gas of an empty transaction.
const NOTHING: u64 = 21_000;
/// The tip for the maker of the block, in wei a unit of gas.
const TIP: u128 = 100_000_000;
/// Blocks that a transaction waits before more is offered for it.
const PATIENCE: u64 = 3;
/// The longest deadline of an order in seconds: after it no transaction of the order can land.
const LONGEST: u64 = 3_600;
/// How many numbers are tried in the search for forgotten orders.
const FORGOTTEN: u64 = 128;

/// The place of a venue: its chain, contracts and tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VenuePlace {
    pub chain: u64,
    pub purse: Address,
    pub pool: Address,
    pub quoter: Address,
    pub money: Address,
    pub money_decimals: u8,
    /// Wrapped ether: gas is reckoned at its price.
    pub thing: Address,
    pub thing_decimals: u8,
    /// The fee of the pool, in millionths.
    pub fee: u32,
    /// Blocks on top of a block until it counts.
    pub depth: u64,
    /// The block in which the purse was made.
    pub since: u64,
    /// The price range, where shares of liquidity are traded instead of the thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
}

/// The range in which liquidity is given, in the pool's ticks, and the size of a share of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub lower: i32,
    pub upper: i32,
    /// Liquidity of a millionth of a share.
    pub each: u64,
}

pub struct Venue {
    place: VenuePlace,
    chain: Endpoints,
    signer: Box<dyn Signer>,
    outbox: Outbox,
    money: Scale,
    thing: Scale,
    /// The scale of what is traded: the thing, or a share.
    unit: Scale,
    /// Whether the thing is the first of the pool's two tokens.
    thing_first: bool,
    /// The identity of the golem, which names its orders whichever key signs them: with a new key it still finds the
    /// old ones.
    whose: B256,
    /// Whether money of this golem may be in the purse.
    ours: bool,
}

impl std::fmt::Debug for Venue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Venue").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Venue {
    pub fn open(
        place: VenuePlace,
        chain: Endpoints,
        signer: Box<dyn Signer>,
        whose: &str,
        file: &Path,
    ) -> Result<Venue, Error> {
        let outbox = Outbox::open(file, signer.address(), place.purse)?;
        let (money, thing) = (Scale::of(place.money_decimals)?, Scale::of(place.thing_decimals)?);
        let unit = place.range.map_or(Ok(thing), |range| Scale::each(range.each))?;
        let thing_first = place.thing < place.money;
        let whose = keccak256(whose);
        let mut venue = Venue { place, chain, signer, outbox, money, thing, unit, thing_first, whose, ours: true };
        if venue.outbox.begun.is_none() {
            let said = venue.chain.chain()?;
            if said != venue.place.chain {
                return Err(Error::Wrong(format!("the endpoints are of chain {said}, not {}", venue.place.chain)));
            }
            let head = venue.chain.head()?;
            let address = venue.signer.address();
            // Another key of the purse may be this golem's own, from a disk that was lost.
            let keyed = venue.ask(venue.place.purse, &Purse::keyCall {}, &head)?;
            let other = keyed != address && keyed != Address::ZERO;
            let sent = venue.chain.sent_by(address, &head)? + u64::from(other);
            venue.outbox.begin(address, venue.place.purse, sent, head.time)?;
        }
        Ok(venue)
    }

    pub fn chain(&self) -> &Endpoints {
        &self.chain
    }

    pub fn place(&self) -> &VenuePlace {
        &self.place
    }

    pub fn address(&self) -> Address {
        self.signer.address()
    }

    /// The name of an order on the chain.
    pub fn name_of(&self, key: u64) -> B256 {
        let VenuePlace { chain, purse, .. } = &self.place;
        let parts = [&chain.to_be_bytes()[..], purse.as_slice(), self.whose.as_slice(), &key.to_be_bytes()[..]];
        keccak256(parts.concat())
    }

    fn ask<C: SolCall>(&self, to: Address, call: &C, at: &Block) -> Result<C::Return, Error> {
        ask(&self.chain, to, call, at)
    }

    /// The holdings of the purse: money, and millionths of what is traded.
    pub fn held(&self, at: &Block) -> Result<(Usdc, i64), Error> {
        let owner = self.place.purse;
        let money = self.ask(self.place.money, &Token::balanceOfCall { owner }, at)?;
        let units = match self.place.range {
            Some(_) => U256::from(self.ask(owner, &Purse::liquidityCall {}, at)?),
            None => self.ask(self.place.thing, &Token::balanceOfCall { owner }, at)?,
        };
        Ok((Usdc::micros(self.money.down(money)), self.unit.down(units)))
    }

    /// Gas that an order may take.
    fn gas(&self) -> u64 {
        if self.place.range.is_some() { GAS_SHARES } else { GAS }
    }

    /// Micro-dollars that an ether is worth.
    fn ether(&self, at: &Block) -> Result<i64, Error> {
        let slot = self.ask(self.place.pool, &Pool::slot0Call {}, at)?;
        let one = U256::from(10_u64).pow(U256::from(self.place.thing_decimals));
        Ok(self.money.up(amount::worth(one, U256::from(slot.sqrtPriceX96), self.thing_first)))
    }

    /// The quote of an exchange at the newest block; none where the pool would refuse it.
    pub fn preview(&self, buys: bool, units: i64) -> Result<Option<Quote>, Error> {
        let head = self.chain.head()?;
        let Some(all) = self.quoted(buys, units, &head)? else { return Ok(None) };
        if !self.may_leave(buys, if buys { all.as_micros() } else { units }, &head)? {
            return Ok(None);
        }
        let (cash, fee) = self.parted(buys, all);
        // As much as the first attempt may offer: an order has no more for gas than its quote says.
        let gas = amount::gas(self.gas(), head.base_fee * 2 + TIP, self.ether(&head)?);
        Ok(Some(Quote { cash, fee, gas }))
    }

    /// Whether the purse lets so many millionths of money or of the thing out now: no gas is paid for a call it would
    /// refuse.
    fn may_leave(&self, buys: bool, millionths: i64, at: &Block) -> Result<bool, Error> {
        if self.place.range.is_some() && !buys {
            // The trial for the quote has checked that.
            return Ok(true);
        }
        let (token, scale) = if buys { (self.place.money, self.money) } else { (self.place.thing, self.thing) };
        let owner = self.place.purse;
        let left = self.ask(owner, &Purse::leftCall { token }, at)?;
        Ok(left.min(self.ask(token, &Token::balanceOfCall { owner }, at)?) >= scale.parts(millionths))
    }

    /// The allowance of the purse for a day: the money, and the thing at its price.
    pub fn a_day(&self) -> Result<Usdc, Error> {
        let head = self.chain.head()?;
        let a_day = |token| self.ask(self.place.purse, &Purse::allowancesCall { token }, &head).map(|told| told.aDay);
        let slot = self.ask(self.place.pool, &Pool::slot0Call {}, &head)?;
        let thing = amount::worth(a_day(self.place.thing)?, U256::from(slot.sqrtPriceX96), self.thing_first);
        Ok(Usdc::micros(self.money.up(a_day(self.place.money)?.saturating_add(thing))))
    }

    /// The key that may spend from the purse now.
    pub fn keyed(&self) -> Result<Address, Error> {
        let head = self.chain.head()?;
        self.ask(self.place.purse, &Purse::keyCall {}, &head)
    }

    /// Why a preview gave no quote, where the owner should know; none where the pool would refuse the exchange.
    pub fn why_not(&self, buys: bool, units: i64) -> Result<Option<String>, Error> {
        let (head, purse) = (self.chain.head()?, self.place.purse);
        if self.ask(purse, &Purse::frozenCall {}, &head)? {
            return Ok(Some("its owner has frozen the purse".to_owned()));
        }
        if self.ask(purse, &Purse::untilCall {}, &head)? <= head.time {
            return Ok(Some("its key has expired; its owner calls setKey again".to_owned()));
        }
        let (money, there) = self.held(&head)?;
        let [has, wanted] = [there, units].map(|millionths| millionths as f64 / 1e6);
        Ok(match self.quoted(buys, units, &head)? {
            _ if !buys && there < units => Some(format!("it would sell {wanted:.6}, and the purse has {has:.6}")),
            Some(all) if buys && all > money => Some(format!("the purse has no more than {money} in it")),
            Some(_) => Some("the purse has let out what it may for now".to_owned()),
            None => None,
        })
    }

    /// Why a golem that knows of no order above this one must not begin anything: the chain does not have its last
    /// order, or has orders that the golem does not know of. Either way its books do not say what is in the purse. The
    /// finding is kept.
    pub fn astray(&mut self, last: u64) -> Result<Option<String>, Error> {
        let (head, done) = (self.chain.head()?, self.outbox.last_done());
        if let Some(done) = done
            && !self.is_done(done, &head)?
        {
            return Ok(Some(format!("this is not the chain on which order {done} was carried out")));
        }
        if let Some(Some(why)) = &self.outbox.astray {
            return Ok(Some(why.clone()));
        }
        let mut unknown = done.filter(|done| *done > last);
        let forgotten = self.outbox.astray.is_none() && self.outbox.has_sent_nothing();
        for key in (last + 1..=last + FORGOTTEN).filter(|_| forgotten) {
            unknown = if unknown.is_none() && self.is_done(key, &head)? { Some(key) } else { unknown };
        }
        let why = unknown.map(|key| format!("order {key} was carried out after this copy of it was made"));
        // In one line: after a kill here, either the finding is on record or the search is repeated.
        if forgotten || why.is_some() {
            self.outbox.looked(why.clone())?;
        }
        Ok(why)
    }

    /// Leaves the purse alone at the end of a golem whose last order has this number, if the purse is another key's and
    /// no order of this golem was ever carried out with it. In doubt the purse is not left alone.
    pub fn leave_to_others(&mut self, last: u64) -> Result<(), Error> {
        let head = self.chain.head()?;
        self.ours = last > FORGOTTEN || !self.outbox.has_sent_nothing() || self.keyed()? == self.address();
        for key in 0..=last.saturating_add(FORGOTTEN) {
            self.ours = self.ours || self.is_done(key, &head)?;
        }
        Ok(())
    }

    /// The money paid or received for an exchange, fee included.
    fn quoted(&self, buys: bool, units: i64, at: &Block) -> Result<Option<Usdc>, Error> {
        let told = match self.place.range {
            Some(range) => self.share_quoted(range, buys, units, at),
            None => self.thing_quoted(buys, units, at),
        };
        match told {
            Ok(micros) => Ok(Some(Usdc::micros(micros)).filter(|all| *all > Usdc::ZERO && *all <= Usdc::MOST)),
            // The pool or the purse refuses.
            Err(Error::Said(_)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    fn thing_quoted(&self, buys: bool, units: i64, at: &Block) -> Result<i64, Error> {
        let VenuePlace { money, thing, quoter, .. } = self.place;
        let (amount, fee) = (self.thing.parts(units), self.place.fee.try_into().expect("checked"));
        let limit = Default::default();
        if buys {
            let params = Quoter::ExactOutput { tokenIn: money, tokenOut: thing, amount, fee, sqrtPriceLimitX96: limit };
            self.ask(quoter, &Quoter::quoteExactOutputSingleCall { params }, at)
                .map(|told| self.money.up(told.amountIn))
        } else {
            let params =
                Quoter::ExactInput { tokenIn: thing, tokenOut: money, amountIn: amount, fee, sqrtPriceLimitX96: limit };
            self.ask(quoter, &Quoter::quoteExactInputSingleCall { params }, at)
                .map(|told| self.money.down(told.amountOut))
        }
    }

    /// The money that moves, and the part of it that is the pool's fee.
    fn parted(&self, buys: bool, all: Usdc) -> (Usdc, Usdc) {
        if self.place.range.is_some() {
            // The pool's fee is in the price of a share: most of the money paid was never exchanged.
            return (if buys { Usdc::ZERO - all } else { all }, Usdc::ZERO);
        }
        let (fee, whole) = (i128::from(self.place.fee), 1_000_000_i128);
        let micros = i128::from(all.as_micros());
        // The fee is taken from the input; where that is the thing, the money received is without it.
        let fee = if buys { micros * fee / whole } else { micros * fee / (whole - fee) };
        let fee = Usdc::micros(fee as i64);
        if buys { (fee - all, fee) } else { (all + fee, fee) }
    }

    /// Carries out an order, once and within its bounds.
    pub fn commit(&mut self, key: u64, buys: bool, order: &Order) -> Result<Fate, Error> {
        if self.outbox.get(key).is_none() {
            let head = self.chain.head()?;
            if self.is_done(key, &head)? {
                return self.found(key, buys, order, &head);
            }
            self.outbox.meant(key, *order)?;
        }
        self.settle(key, Some(buys))
    }

    /// The fate of an order whose number was used before, by an outbox that is lost. The old order counts as this one
    /// if it fits its bounds, so that the books agree with the purse; otherwise this order was never done.
    fn found(&mut self, key: u64, buys: bool, order: &Order, head: &Block) -> Result<Fate, Error> {
        let deep = self.chain.block(head.number.saturating_sub(self.place.depth))?;
        if !self.is_done(key, &deep)? {
            return Ok(Fate::Pending);
        }
        let outcome = self.outcome(key, &deep, &Flight::default())?;
        // Today's price of ether says nothing of the price when the gas was reserved.
        let outcome = Outcome { gas: outcome.gas.min(order.gas), ..outcome };
        let effect = if buys { Effect::Adds } else { Effect::Reduces };
        let fate = if order.allows(effect, &outcome) { Fate::Done(outcome) } else { Fate::Never };
        self.outbox.over(key, fate)
    }

    /// The fate of an order.
    pub fn reconcile(&mut self, key: u64) -> Result<Fate, Error> {
        self.settle(key, None)
    }

    fn is_done(&self, key: u64, at: &Block) -> Result<bool, Error> {
        self.ask(self.place.purse, &Purse::doneCall { id: self.name_of(key) }, at)
    }

    fn settle(&mut self, key: u64, buys: Option<bool>) -> Result<Fate, Error> {
        let flight = self.outbox.get(key).cloned().unwrap_or_default();
        if let Some(fate) = flight.fate {
            return Ok(fate);
        }
        let head = self.chain.head()?;
        let deep = self.chain.block(head.number.saturating_sub(self.place.depth))?;
        if deep.number >= self.place.since && self.is_done(key, &deep)? {
            let outcome = self.outcome(key, &deep, &flight)?;
            return self.outbox.over(key, Fate::Done(outcome));
        }
        // Done somewhere that is not deep enough yet.
        if self.is_done(key, &head)? {
            return Ok(Fate::Pending);
        }
        if let Some(nonce) = flight.attempts.first().map(|attempt| attempt.nonce) {
            if self.chain.sent_by(self.signer.address(), &deep)? > nonce {
                return self.in_vain(key, &flight);
            }
            // Long past its end the purse refuses it, whether or not its transaction is replaced.
            let over = flight.order.is_some_and(|order| deep.time > order.until.as_millis() / 1_000 + LONGEST);
            return if over { self.outbox.over(key, Fate::Never) } else { self.keep_at_it(key, &flight, &head) };
        }
        let Some(order) = flight.order else { return self.unheard_of(key, &head) };
        // One order at a time, and only `commit` sends it: no transaction of this one is out.
        let waits = self.outbox.under_way().next().is_some();
        match buys {
            Some(buys) if !waits && !past(&order, &head) => self.send(key, buys, &order, &head),
            _ => self.outbox.over(key, Fate::Never),
        }
    }

    /// The fate of a key that was not sent from here: final, unless the outbox was lost.
    fn unheard_of(&mut self, key: u64, head: &Block) -> Result<Fate, Error> {
        let lost = self.outbox.begun.is_some_and(|(sent, time)| sent > 0 && head.time < time + LONGEST);
        if lost { Ok(Fate::Pending) } else { self.outbox.over(key, Fate::Never) }
    }

    /// Sends the first attempt, if the order's bounds still hold.
    fn send(&mut self, key: u64, buys: bool, order: &Order, head: &Block) -> Result<Fate, Error> {
        let all = self.quoted(buys, order.units, head)?;
        let within = |all: Usdc| if buys { all <= order.most } else { all >= order.least };
        let ether = self.ether(head)?;
        let (most, least) = (most_for_gas(order, self.gas(), ether), head.base_fee + TIP);
        let out = if buys { order.most.as_micros() } else { order.units };
        if !all.is_some_and(within) || most < least || !self.may_leave(buys, out, head)? {
            return self.outbox.over(key, Fate::Never);
        }
        let bound = self.money.parts(if buys { order.most } else { order.least }.as_micros());
        let (id, deadline) = (self.name_of(key), U256::from(deadline(order, head)));
        let units = self.unit.parts(order.units);
        let input = match (self.place.range, buys) {
            (Some(range), _) => self.share_call(range, buys, id, (order.units, bound, deadline), head)?,
            (None, true) => Purse::buyCall { id, units, most: bound, deadline }.abi_encode(),
            (None, false) => Purse::sellCall { id, units, least: bound, deadline }.abi_encode(),
        };
        let nonce = self.chain.sent_by(self.signer.address(), head)?;
        let offered = (head.base_fee * 2 + TIP).min(most);
        let tx = Transaction {
            chain: self.place.chain,
            nonce,
            fee: Fee::Dynamic { most: offered, tip: TIP.min(offered) },
            gas: self.gas(),
            to: self.place.purse,
            value: U256::ZERO,
            input: input.into(),
        };
        self.put(key, &tx, head, ether, false)
    }

    /// Signs a transaction, records it, and only then sends it.
    fn put(&mut self, key: u64, tx: &Transaction, head: &Block, ether: i64, cancels: bool) -> Result<Fate, Error> {
        let raw = self.signer.sign(tx)?;
        let attempt = Attempt {
            nonce: tx.nonce,
            hash: keccak256(&raw),
            raw: Bytes::from(raw),
            block: head.number,
            most: tx.fee.most(),
            ether,
            cancels,
        };
        let raw = attempt.raw.clone();
        self.outbox.sent(key, attempt)?;
        // Whether an endpoint took it is seen at the next question.
        let _ = self.chain.send(&raw);
        Ok(Fate::Pending)
    }

    /// The receipt of a transaction in the chain as it is now: a node may still have one from blocks that were taken
    /// back.
    fn landed(&self, hash: B256) -> Result<Option<Receipt>, Error> {
        let Some(receipt) = self.chain.receipt(hash)? else { return Ok(None) };
        let there = self.chain.block(receipt.block)?.hash == receipt.block_hash;
        Ok(Some(receipt).filter(|_| there))
    }

    /// Pushes an order that is out and not settled: sends the same bytes again, offers more for gas, or replaces it
    /// with an empty transaction.
    fn keep_at_it(&mut self, key: u64, flight: &Flight, head: &Block) -> Result<Fate, Error> {
        let last = flight.attempts.last().expect("there is one").clone();
        if self.landed(last.hash)?.is_some() {
            return Ok(Fate::Pending);
        }
        let Some(order) = flight.order else { return Ok(Fate::Pending) };
        let late = past(&order, head);
        let gas = if late { NOTHING } else { self.gas() };
        let most = most_for_gas(&order, gas, last.ether);
        // Nodes want a tenth more before they let one take the place of another.
        let more = (last.most + last.most / 8 + 1).max(head.base_fee * 2 + TIP).min(most);
        let waited = head.number >= last.block + PATIENCE;
        if (late && !last.cancels || waited) && more > last.most + last.most / 10 {
            let (tx, _) = Transaction::read(&last.raw).map_err(Error::Wrong)?;
            // As much more for the maker of the block, or nodes keep the one before.
            let tip = if let Fee::Dynamic { tip, .. } = tx.fee { tip + tip / 8 + 1 } else { more };
            let fee = Fee::Dynamic { most: more, tip: tip.min(more) };
            let tx = if late {
                Transaction { fee, gas, to: self.signer.address(), value: U256::ZERO, input: Bytes::new(), ..tx }
            } else {
                Transaction { fee, ..tx }
            };
            return self.put(key, &tx, head, last.ether, late);
        }
        let _ = self.chain.send(&last.raw);
        Ok(Fate::Pending)
    }

    /// The fate of an order whose nonce is spent and which was not done: it never will be, and the gas of its attempts
    /// is paid.
    fn in_vain(&mut self, key: u64, flight: &Flight) -> Result<Fate, Error> {
        let mut gas = Usdc::ZERO;
        for attempt in &flight.attempts {
            if let Some(receipt) = self.landed(attempt.hash)? {
                gas += amount::gas(receipt.gas, receipt.price, attempt.ether);
            }
        }
        let fate = if gas > Usdc::ZERO { Fate::Done(Outcome { gas, ..Outcome::default() }) } else { Fate::Never };
        self.outbox.over(key, fate)
    }

    /// The event the purse logged for an order: in its block if that is known, otherwise searched from the newest back.
    fn told_of(&self, key: u64, block: Option<u64>, deep: &Block) -> Result<Log, Error> {
        let topics = json!([Purse::Exchanged::SIGNATURE_HASH, self.name_of(key)]);
        let (mut to, since) = (block.unwrap_or(deep.number), block.unwrap_or(self.place.since));
        loop {
            let from = since.max(to.saturating_sub(self.chain.span() - 1));
            let mut logs = self.chain.logs(self.place.purse, topics.clone(), from, to)?;
            match logs.len() {
                0 if from > since => to = from - 1,
                1 => return Ok(logs.remove(0)),
                times => {
                    return Err(Error::Wrong(format!(
                        "the purse has {times} events of order {key}, where one was expected"
                    )));
                }
            }
        }
    }

    /// The outcome of an order, as the chain has it.
    fn outcome(&self, key: u64, deep: &Block, flight: &Flight) -> Result<Outcome, Error> {
        let mut known = None;
        for attempt in flight.attempts.iter().rev().filter(|attempt| !attempt.cancels) {
            known = self.landed(attempt.hash)?.filter(|receipt| receipt.fine);
            if known.is_some() {
                break;
            }
        }
        let log = self.told_of(key, known.as_ref().map(|receipt| receipt.block), deep)?;
        let told = Purse::Exchanged::decode_raw_log(log.topics.iter().copied(), &log.data)
            .map_err(|why| Error::Wrong(format!("an event of the purse cannot be read: {why}")))?;
        let receipt = if known.is_some() { known } else { self.landed(log.transaction)? };
        let receipt = receipt.ok_or_else(|| Error::Wrong("a transaction without a receipt".to_owned()))?;
        let attempt = flight.attempts.iter().find(|attempt| attempt.hash == log.transaction);
        let ether = attempt.map_or_else(|| self.ether(deep), |attempt| Ok(attempt.ether))?;
        let gas = amount::gas(receipt.gas, receipt.price, ether);
        let (units, all) = if told.bought {
            (self.unit.down(told.got), Usdc::micros(self.money.up(told.paid)))
        } else {
            (-self.unit.up(told.paid), Usdc::micros(self.money.down(told.got)))
        };
        let (cash, fee) = self.parted(told.bought, all);
        Ok(Outcome { units, cash, fee, gas })
    }
}

/// The state of a purse: its key and its holdings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    pub key: Option<Address>,
    /// Seconds since the epoch.
    pub until: u64,
    pub frozen: bool,
    pub money: Usdc,
    /// Things, in millionths of one.
    pub things: i64,
    /// Liquidity in the pool, in millionths of a share; none where no shares are traded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<i64>,
    /// The money that may leave now; `things_left` for things.
    pub money_left: Usdc,
    pub things_left: i64,
}

/// Whether a purse has liquidity in its pool.
pub fn in_pool(chain: &Endpoints, place: &VenuePlace) -> Result<bool, Error> {
    Ok(ask(chain, place.purse, &Purse::liquidityCall {}, &chain.head()?)? > 0)
}

/// Reads the state of a purse, which is public.
pub fn purse(chain: &Endpoints, place: &VenuePlace) -> Result<Held, Error> {
    let head = chain.head()?;
    let (money, thing) = (Scale::of(place.money_decimals)?, Scale::of(place.thing_decimals)?);
    let owner = place.purse;
    let amount =
        |token, scale: Scale| ask(chain, token, &Token::balanceOfCall { owner }, &head).map(|all| scale.down(all));
    let key = Some(ask(chain, owner, &Purse::keyCall {}, &head)?).filter(|key| *key != Address::ZERO);
    // Without a key nothing can be spent.
    let left = |token, scale: Scale| match key {
        Some(_) => ask(chain, owner, &Purse::leftCall { token }, &head).map(|all| scale.down(all)),
        None => Ok(0),
    };
    let shares = place.range.map(|range| {
        let there = ask(chain, owner, &Purse::liquidityCall {}, &head)?;
        Ok::<_, Error>(Scale::each(range.each)?.down(U256::from(there)))
    });
    Ok(Held {
        key,
        until: ask(chain, owner, &Purse::untilCall {}, &head)?,
        frozen: ask(chain, owner, &Purse::frozenCall {}, &head)?,
        money: Usdc::micros(amount(place.money, money)?),
        things: amount(place.thing, thing)?,
        shares: shares.transpose()?,
        money_left: Usdc::micros(left(place.money, money)?),
        things_left: left(place.thing, thing)?,
    })
}

fn ask<C: SolCall>(chain: &Endpoints, to: Address, call: &C, at: &Block) -> Result<C::Return, Error> {
    let said = chain.call(to, &call.abi_encode(), at)?;
    C::abi_decode_returns(&said).map_err(|why| Error::Wrong(format!("the answer of {to} cannot be read: {why}")))
}

/// The time of the chain after which an order must not be done, in seconds.
fn deadline(order: &Order, head: &Block) -> u64 {
    (order.until.as_millis() / 1_000).min(head.time + LONGEST)
}

fn past(order: &Order, head: &Block) -> bool {
    head.time > order.until.as_millis() / 1_000
}

/// The most that a unit of gas may cost within the order's reservation, in wei.
fn most_for_gas(order: &Order, gas: u64, ether: i64) -> u128 {
    let micros = order.gas.as_micros().max(0) as u128;
    let wei = U256::from(micros) * U256::from(10_u64.pow(18)) / U256::from(ether.max(1));
    u128::try_from(wei / U256::from(gas)).unwrap_or(u128::MAX)
}
