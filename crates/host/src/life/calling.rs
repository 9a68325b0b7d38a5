//! Letting the calls of a golem's agent through: what each can cost is set aside, all that have come together in one durable
//! record after another and one sync, and only then may any of them be made.

use std::time::{Duration, Instant};

use golem::call::{self, Denied};
use golem::mortality::economic;
use golem::{Life, Time, Usdc, What};

use super::listener::Listener;
use super::living::Living;
use crate::Error;
use crate::errands::{Bound, Done, Lacks, Stands, Verdict, Wanted};

/// How long calls have to end by themselves when their golem is left, and how long after they were cut.
const PATIENCE: Duration = Duration::from_secs(10);
const CUT: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_millis(20);
/// How long refusals that repeat themselves are counted before that is on record.
const UNSAID: Duration = Duration::from_secs(60);

impl Living {
    /// Settles what has ended and lets through what may begin.
    pub(crate) fn serve_calls(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        if !self.body.counter.has_news() {
            return Ok(());
        }
        let (wanted, done) = self.body.counter.take();
        let now = if self.is_wall() { self.wall_time().max(self.life().now) } else { self.life().now };
        for Done { key, cost, how, used, kinds } in done {
            self.feed(now, What::Settled { key, cost, how, used: Box::new(used), kinds }, listener)?;
            self.body.counter.end(key);
        }
        self.say_refusals(now, UNSAID, listener)?;
        let mut verdicts = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            let verdict = self.let_through(now, &wanted, listener)?;
            if let Verdict::Granted { grant, .. } = &verdict {
                self.body.counter.begin(grant.key);
            }
            verdicts.push((wanted, verdict));
        }
        if !verdicts.is_empty() {
            self.body.writing.hurry();
        }
        if let Err(why) = self.flush(listener) {
            for (_, verdict) in verdicts {
                if let Verdict::Granted { grant, .. } = verdict {
                    self.body.counter.end(grant.taken());
                }
            }
            return Err(why);
        }
        for (wanted, verdict) in verdicts {
            // Where the caller has gone, the grant is dropped with the verdict: nobody was called.
            let _ = wanted.reply.send(verdict);
        }
        Ok(())
    }

    fn let_through(&mut self, now: Time, wanted: &Wanted, listener: &mut impl Listener) -> Result<Verdict, Error> {
        let (key, tier) = (self.life().calls.made + 1, wanted.tier);
        let room = call::room(self.life(), now, tier);
        let fits = room.ok().and_then(|(room, _)| wanted.bound.within(room));
        let repeated = wanted.again.is_some_and(|again| self.life().calls.known.contains(&again));
        let matters = room.is_ok_and(|(room, _)| fits.is_none() || wanted.bound.weighs(wanted.rough, room));
        if wanted.rough > 0 && matters && !repeated {
            return Ok(Verdict::Rough);
        }
        let lacks = self.lacks(&wanted.bound, room);
        let passes =
            room.is_ok_and(|(_, by)| by != Denied::Call) && lacks.by > 0 && lacks.needs <= lacks.free + lacks.aside;
        if fits.is_none() && passes && !repeated {
            return Ok(Verdict::Later { lacks });
        }
        // What cannot be let through is put to the core all the same, so that it is on record why.
        let most = fits.map_or_else(|| wanted.bound.least(), |(most, _)| most);
        let (again, alike) = (wanted.again, wanted.alike);
        if fits.is_some() {
            // In the order in which it happened: what is let through now was not refused after.
            self.say_refusals(now, Duration::ZERO, listener)?;
        }
        let (known, before) = (self.life().calls.denied, call::left(self.life(), now));
        self.feed(now, What::Called(call::Wanted { key, most, tier, again, alike }), listener)?;
        let life = self.life();
        let stands = |left| Stands { phase: life.phase(), left };
        if let (Some((most, tokens)), Some(_)) = (fits, life.calls.find(key)) {
            let (grant, stands) = (self.body.counter.grant(key), stands(before));
            return Ok(Verdict::Granted { grant, tokens, most, stands });
        }
        let by = match (repeated, life.calls.hold, room) {
            (true, ..) => Denied::Repeated,
            (false, Some(hold), Ok(_)) => Denied::Held(hold.by),
            (false, _, Ok((_, by)) | Err(by)) => by,
        };
        if life.calls.denied == known {
            self.body.counter.refused(by);
        }
        listener.refused(by);
        let stands = stands(call::left(life, now));
        Ok(Verdict::Denied { by, cause: cause(life), lacks, stands })
    }

    fn lacks(&self, bound: &Bound, room: Result<(Usdc, Denied), Denied>) -> Lacks {
        let calls = &self.life().calls;
        let free = room.map_or_else(|_| economic::free(self.life()), |(room, _)| room);
        Lacks { needs: bound.least(), free, aside: calls.promised(), by: calls.open.len() }
    }

    /// Puts on record what was refused and not told one by one, if it has waited so long.
    fn say_refusals(&mut self, now: Time, waited: Duration, listener: &mut impl Listener) -> Result<(), Error> {
        for (by, times) in self.body.counter.unsaid(waited) {
            self.feed(now, What::Refused { by, times }, listener)?;
        }
        Ok(())
    }

    /// Has the calls under way come to their end, for as long as there is patience: whoever lives it next could only count
    /// them as lost.
    pub(super) fn settle_calls(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.serve_calls(listener)?;
        let now = if self.is_wall() { self.wall_time().max(self.life().now) } else { self.life().now };
        self.say_refusals(now, Duration::ZERO, listener)?;
        self.flush(listener)?;
        for patience in [PATIENCE, CUT] {
            let until = Instant::now() + patience;
            while self.body.counter.is_busy() && Instant::now() < until {
                self.body.counter.wait(EVERY);
                self.serve_calls(listener)?;
            }
            if self.body.counter.is_busy() {
                self.body.counter.cut();
            }
        }
        Ok(())
    }
}

fn cause(life: &Life) -> Option<String> {
    life.death.as_ref().map(|death| death.cause.to_string())
}

impl Bound {
    /// The most it can cost within a sum, and the tokens that an answer may have for it; none if not even the fewest fit.
    fn within(&self, room: Usdc) -> Option<(Usdc, u64)> {
        let room = u64::try_from(room.as_micros()).unwrap_or(0);
        let afforded = self.price.affords(room, self.input)? / self.answers.max(1);
        let tokens = self.output.min(afforded);
        (tokens >= self.fewest.min(self.output)).then(|| (self.costs(tokens), tokens))
    }

    fn costs(&self, tokens: u64) -> Usdc {
        let micros = self.price.of(self.input, tokens.saturating_mul(self.answers));
        Usdc::micros(i64::try_from(micros).unwrap_or(i64::MAX).min(Usdc::MOST.as_micros()))
    }

    /// Whether so many tokens in that may be far too many weigh too much: more than a quarter of a sum, or a hundredth where they
    /// are more than a third of what goes in.
    fn weighs(&self, rough: u64, room: Usdc) -> bool {
        let (cost, room) = (self.price.of(rough, 0), u64::try_from(room.as_micros()).unwrap_or(0));
        cost > room / 4 || (cost > room / 100 && rough > self.input / 3)
    }

    /// What it costs with the shortest answer that is one.
    fn least(&self) -> Usdc {
        self.costs(self.fewest.min(self.output))
    }
}

#[cfg(test)]
mod tests {
    use mind::Price;

    use super::*;

    #[test]
    fn a_sum_is_never_passed_and_an_answer_is_shortened_before_it_is_refused() {
        let price = Price::parse("1/5").unwrap();
        for answers in [1, 3] {
            for input in [0, 10, 5_000] {
                for output in [0, 1, 16, 4_096] {
                    let bound = Bound { price, input, output, answers, fewest: 16 };
                    for room in [0, 1, 15, 4_999, 5_000, 5_090, 20_000, 1_000_000] {
                        if let Some((most, tokens)) = bound.within(Usdc::micros(room)) {
                            assert!(most <= Usdc::micros(room) && tokens <= output, "{bound:?} {room}");
                        } else {
                            assert!(bound.least() > Usdc::micros(room), "{bound:?} {room}");
                        }
                    }
                }
            }
        }
        let bound = Bound { price, input: 30_000, output: 4_096, answers: 1, fewest: 16 };
        for (rough, room, weighs) in [(4_000, 15_000, true), (4_000, 20_000, false), (12_000, 900_000, true)] {
            assert_eq!(bound.weighs(rough, Usdc::micros(room)), weighs, "{rough} of {room}");
        }
        let free = Bound { price: Price::NOTHING, input: 1 << 40, output: 9, answers: 1, fewest: 16 };
        assert_eq!(free.within(Usdc::ZERO), Some((Usdc::ZERO, 9)));
    }
}
