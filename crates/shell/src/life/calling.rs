//! Letting the calls of a golem's agent through: what each can cost is set aside, all that have come together in one
//! durable record after another and one sync, and only then may any of them be made.

use std::time::{Duration, Instant};

use golem::call::{self, CallVerdict, Denied, Room, Unit};
use golem::mortality::economic;
use golem::{Life, Time, Usdc, What};

use super::listener::Listener;
use super::living::Living;
use crate::Error;
use crate::errands::{Bound, Done, GolemState, Lacks, Verdict, Wanted};

/// How long calls have to end by themselves when their golem is left, and how long after they were cut.
const PATIENCE: Duration = Duration::from_secs(10);
const CUT: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_millis(20);
/// How long refusals that repeat themselves are counted before that is on record.
const UNSAID: Duration = Duration::from_secs(60);

impl Living {
    /// Settles calls that have ended and lets through those that may begin.
    pub(crate) fn serve_calls(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        if !self.body.counter.has_news() {
            return Ok(());
        }
        let (wanted, done) = self.body.counter.take();
        let now = if self.is_wall() { self.wall_time().max(self.life().now()) } else { self.life().now() };
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
            // If the caller has gone, the grant is dropped with the verdict: no provider was called.
            let _ = wanted.reply.send(verdict);
        }
        Ok(())
    }

    /// Sizes a call by the room there is for it, and puts it to the core, which lets it through or says why not. What
    /// is decided here is only whether the call is worth counting exactly, and whether it can wait for others to end.
    fn let_through(&mut self, now: Time, wanted: &Wanted, listener: &mut impl Listener) -> Result<Verdict, Error> {
        let (key, tier) = (self.life().calls().made + 1, wanted.tier);
        let all = call::room(self.life(), now, tier);
        let room = all.map(|room| self.spare(room));
        let fits = room.ok().and_then(|room| wanted.bound.within(&room));
        let repeated = self.life().calls().has_made(wanted.again);
        let matters = room.is_ok_and(|room| fits.is_none() || wanted.bound.weighs(wanted.rough, room.money));
        if wanted.rough > 0 && matters && !repeated {
            return Ok(Verdict::Rough);
        }
        let (lacks, passes) = self.lacks(now, &wanted.bound, room);
        if fits.is_none() && passes && !repeated {
            return Ok(Verdict::Later { lacks });
        }
        let fits = fits.or_else(|| self.take_kept(all.ok().filter(|_| !repeated)?, &wanted.bound));
        let (lacks, _) = self.lacks(now, &wanted.bound, all);
        // A call that cannot be let through is put to the core all the same, so that the reason is on record.
        let (most, answer) = fits.unwrap_or_else(|| (wanted.bound.least(), wanted.bound.shortest()));
        let tokens = wanted.bound.takes(answer);
        let (again, alike) = (wanted.again, wanted.alike);
        if fits.is_some() {
            // In the order in which it happened: a call let through now was not refused after.
            self.say_refusals(now, Duration::ZERO, listener)?;
        }
        let before = golem_state(self.life(), now);
        let call = call::Wanted { key, most, tokens, tier, again, alike };
        let what = What::Called(call, wanted.origin.clone());
        let verdict = self.feed(now, what, listener)?.verdict;
        let life = self.life();
        match verdict {
            Some(CallVerdict::LetThrough) => {
                let (grant, state) = (self.body.counter.grant(key), GolemState { phase: life.phase(), ..before });
                Ok(Verdict::Granted { grant, tokens: answer, most, state })
            }
            Some(CallVerdict::Refused { by, recorded }) => {
                if !recorded {
                    self.body.counter.refused(by);
                }
                listener.refused(by);
                Ok(Verdict::Denied { by, cause: cause(life), lacks, state: golem_state(life, now) })
            }
            Some(CallVerdict::OutOfTurn) | None => unreachable!("the call has the number after the newest"),
        }
    }

    /// The room for a call without what is kept back for a last word.
    fn spare(&self, room: Room) -> Room {
        let spare = (economic::free(self.life()) - self.body.counter.kept_back()).max(Usdc::ZERO);
        if spare < room.money { Room { money: spare, by: Denied::Funds, ..room } } else { room }
    }

    /// Sizes a call by all the room there is, and tells its agent that the end is near, because the call needs what is kept back
    /// for that.
    fn take_kept(&self, all: Room, bound: &Bound) -> Option<(Usdc, u64)> {
        let fits = bound.within(&all)?;
        self.body.counter.near_end("nearly all of its money is used up");
        Some(fits)
    }

    /// The shortfall of a call, and whether calls under way will give enough of it back.
    fn lacks(&self, now: Time, bound: &Bound, room: Result<Room, Denied>) -> (Lacks, bool) {
        let (life, calls) = (self.life(), &self.life().calls());
        let by = calls.open.len();
        let money = |free: Usdc| Lacks::of_money(bound.least(), free, calls.promised(), by);
        match room {
            Ok(room) => {
                let (needs, aside) = (bound.takes(bound.shortest()), calls.tokens_promised());
                let tokens = Lacks { of: Some(Unit::Tokens), needs, free: room.tokens, aside, by };
                let money = money(room.money);
                let enough = money.needs <= money.free;
                let passes = (enough || room.by != Denied::Call && money.passes()) && tokens.passes();
                (if money.needs <= money.free && needs > tokens.free { tokens } else { money }, passes)
            }
            Err(Denied::Short(unit) | Denied::Today(unit) | Denied::Spent(unit)) => {
                let aside = if unit == Unit::Calls { by as u64 } else { 0 };
                let left = call::caps(life, now).filter(|cap| cap.unit == unit).map(|cap| cap.left()).min();
                (Lacks { of: Some(unit), needs: 1, free: left.unwrap_or(0), aside, by }, false)
            }
            Err(_) => (money(economic::free(life)), false),
        }
    }

    /// Puts on record refusals that were counted and not told one by one, if they have waited so long.
    fn say_refusals(&mut self, now: Time, waited: Duration, listener: &mut impl Listener) -> Result<(), Error> {
        for (by, times) in self.body.counter.unsaid(waited) {
            self.feed(now, What::Refused { by, times }, listener)?;
        }
        Ok(())
    }

    /// Waits for the calls under way to end, for as long as there is patience: the next process to run this life could
    /// only count them as lost.
    pub(super) fn settle_calls(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.serve_calls(listener)?;
        let now = if self.is_wall() { self.wall_time().max(self.life().now()) } else { self.life().now() };
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

fn golem_state(life: &Life, now: Time) -> GolemState {
    let left = |unit| call::caps(life, now).filter(|cap| cap.unit == unit).map(|cap| cap.left()).min();
    let (tokens, calls) = (left(Unit::Tokens), left(Unit::Calls));
    GolemState { phase: life.phase(), left: call::left(life, now), tokens, calls }
}

fn cause(life: &Life) -> Option<String> {
    life.death().map(|death| death.cause.to_string())
}

impl Bound {
    /// The most a call can cost within what there is room for, and the tokens that an answer may have for it; none if
    /// not even the fewest fit.
    fn within(&self, room: &Room) -> Option<(Usdc, u64)> {
        let money = u64::try_from(room.money.as_micros()).unwrap_or(0);
        let afforded = self.price.affords(money, self.input)?.min(room.tokens.checked_sub(self.input)?);
        let tokens = self.output.min(afforded / self.answers.max(1));
        (tokens >= self.shortest()).then(|| (self.costs(tokens), tokens))
    }

    /// Tokens of the call: what goes in, and answers of so many tokens.
    fn takes(&self, tokens: u64) -> u64 {
        self.input.saturating_add(tokens.saturating_mul(self.answers.max(1)))
    }

    /// Tokens of the shortest useful answer.
    fn shortest(&self) -> u64 {
        self.fewest.min(self.output)
    }

    fn costs(&self, tokens: u64) -> Usdc {
        let micros = self.price.of(self.input, tokens.saturating_mul(self.answers));
        Usdc::micros(i64::try_from(micros).unwrap_or(i64::MAX).min(Usdc::MOST.as_micros()))
    }

    /// Whether an estimate of so many tokens in is too rough: more than a quarter of a sum, or a hundredth where they
    /// are more than a third of what goes in.
    fn weighs(&self, rough: u64, room: Usdc) -> bool {
        let (cost, room) = (self.price.of(rough, 0), u64::try_from(room.as_micros()).unwrap_or(0));
        cost > room / 4 || (cost > room / 100 && rough > self.input / 3)
    }

    /// Cost with the shortest useful answer.
    fn least(&self) -> Usdc {
        self.costs(self.shortest())
    }
}

#[cfg(test)]
mod tests {
    use golem::call::{How, Kinds, Runaway, Used};
    use golem::mortality::phase::Tier;
    use golem::{Command, CommandId, Record};
    use tariff::Price;
    use tokio::sync::oneshot;

    use super::*;
    use crate::errands::EndPlan;
    use crate::life::birth::{Wish, birth};
    use crate::{Home, Runtime};
    use settings::{File, Settings};

    /// A golem of this process, whose agent may pay a cent for a call; and the reasons it was refused for.
    struct CallRig {
        living: Living,
        heard: ReasonsHeard,
        commands: u64,
        _folder: tempfile::TempDir,
    }

    #[derive(Default)]
    struct ReasonsHeard(Vec<Denied>);

    impl Listener for ReasonsHeard {
        fn acknowledged(&mut self, _: &[Record], _: &Life) -> Result<(), Error> {
            Ok(())
        }

        fn refused(&mut self, by: Denied) {
            self.0.push(by);
        }

        fn stop(&mut self) -> bool {
            false
        }
    }

    impl CallRig {
        fn new() -> CallRig {
            let load = |file, flag: &str| Settings::load(file, None, std::iter::empty(), &[flag.to_owned()]).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let home = Home::at(folder.path().join("home"));
            home.init(&load(File::Bardo, "treasury.opening=1000")).unwrap();
            let (bar_ms, relations_change_days) = (40_000, 0.0);
            let spec = world::Spec::Sim { seed: 1, bar_ms, relations_change_days, edge_bps: None, flip_days: None };
            let settings = load(File::Golem, "policy.call_max=0.01");
            let runtime = Runtime::of(&home);
            birth(&runtime, Wish::of("ada".parse().unwrap(), spec, Some(1), settings)).unwrap();
            let (mut living, _) = Living::open(&runtime, home.golem("ada").unwrap(), 5_000).unwrap();
            let mut heard = ReasonsHeard::default();
            living.take_money(&mut heard).unwrap();
            CallRig { living, heard, commands: 0, _folder: folder }
        }

        /// Asks for a call with so many tokens in.
        fn ask(&mut self, input: u64, again: Option<u64>) -> Verdict {
            let bound = Bound { price: Price::parse("1/5").unwrap(), input, output: 16, answers: 1, fewest: 16 };
            let (reply, mut verdict) = oneshot::channel();
            let wanted = Wanted { bound, tier: Tier::Cheap, again, alike: input, rough: 0, origin: None, reply };
            assert!(self.living.body.counter.ask(wanted));
            self.living.serve_calls(&mut self.heard).unwrap();
            verdict.try_recv().unwrap()
        }

        /// Makes a small call that comes to this.
        fn make(&mut self, again: Option<u64>, cost: Usdc) {
            let Verdict::Granted { grant, .. } = self.ask(10, again) else { panic!("there is money for it") };
            let (key, how, used, kinds) = (grant.taken(), How::Told, Used::default(), Kinds::default());
            self.living.body.counter.settle(Done { key, cost, how, used, kinds });
            self.living.serve_calls(&mut self.heard).unwrap();
        }

        fn obey(&mut self, command: Command) {
            self.commands += 1;
            self.living.obey(CommandId(self.commands.to_le_bytes()), command, &mut self.heard).unwrap();
        }
    }

    /// The reason was guessed from what had changed, and a refusal that was recorded lately had changed nothing.
    #[test]
    fn a_refused_call_is_answered_with_the_reason_of_the_core_also_where_that_is_not_on_record() {
        let mut called = CallRig::new();
        called.make(Some(7), Usdc::micros(1));
        let small = 10;
        for (by, input, again) in [
            (Denied::Call, 100_000, None),
            (Denied::Repeated, small, Some(7)),
            (Denied::Frozen, small, None),
            (Denied::Paused, small, None),
            (Denied::Held(Runaway::Bill), small, None),
        ] {
            match by {
                Denied::Frozen => called.obey(Command::Freeze { reason: String::new() }),
                Denied::Paused => {
                    called.obey(Command::Resume);
                    called.obey(Command::Pause);
                }
                Denied::Held(_) => {
                    called.obey(Command::Resume);
                    called.make(None, Usdc::cents(2));
                }
                _ => {}
            }
            let before = called.living.life().calls().denied;
            for _ in 0..3 {
                let verdict = called.ask(input, again);
                let Verdict::Denied { by: said, .. } = verdict else { panic!("{verdict:?}") };
                assert_eq!(said, by);
            }
            let calls = called.living.life().calls();
            assert_eq!(calls.refused.map(|(by, _)| by), Some(by));
            let unsaid = called.living.body.counter.unsaid(Duration::ZERO);
            assert!(!unsaid.is_empty() && unsaid.iter().all(|(reason, _)| *reason == by), "{by:?}: {unsaid:?}");
            let counted = calls.denied - before + unsaid.iter().map(|(_, times)| u64::from(*times)).sum::<u64>();
            assert_eq!(counted, 3, "each is on record or waits to be");
            assert_eq!(std::mem::take(&mut called.heard.0), [by; 3]);
        }
    }

    #[test]
    fn money_kept_back_for_a_last_word_is_taken_by_the_call_that_needs_it_and_the_end_is_told_with_it() {
        let mut called = CallRig::new();
        let free = economic::free(called.living.life());
        let kept = free - Usdc::micros(500);
        called.living.body.counter.plan_end(EndPlan { kept, ..EndPlan::default() });
        called.make(None, Usdc::micros(1));
        assert_eq!(called.living.body.counter.end_notice(), None);
        assert!(matches!(called.ask(1_000_000, None), Verdict::Denied { by: Denied::Call, .. }));
        assert_eq!(called.living.body.counter.end_notice(), None, "all that is kept would not pay for it");
        assert!(matches!(called.ask(1_000, None), Verdict::Granted { .. }));
        let notice = called.living.body.counter.end_notice().unwrap();
        assert!(notice.words().contains("because nearly all of its money is used up"), "{}", notice.words());
        assert_eq!(called.living.body.counter.kept_back(), Usdc::ZERO);
        called.living.body.counter.recall_end();
        assert_eq!(called.living.body.counter.kept_back(), kept);
    }

    fn of(money: Usdc, tokens: u64) -> Room {
        Room { money, by: Denied::Broke, tokens, tokens_by: Denied::Spent(Unit::Tokens) }
    }

    #[test]
    fn a_sum_is_never_passed_and_an_answer_is_shortened_before_it_is_refused() {
        let price = Price::parse("1/5").unwrap();
        for answers in [1, 3] {
            for input in [0, 10, 5_000] {
                for output in [0, 1, 16, 4_096] {
                    let bound = Bound { price, input, output, answers, fewest: 16 };
                    for room in [0, 1, 15, 4_999, 5_000, 5_090, 20_000, 1_000_000] {
                        if let Some((most, tokens)) = bound.within(&of(Usdc::micros(room), u64::MAX)) {
                            assert!(most <= Usdc::micros(room) && tokens <= output, "{bound:?} {room}");
                        } else {
                            assert!(bound.least() > Usdc::micros(room), "{bound:?} {room}");
                        }
                        // The same bound in tokens, with all the money there is.
                        let room = room as u64;
                        if let Some((_, tokens)) = bound.within(&of(Usdc::MOST, room)) {
                            assert!(bound.takes(tokens) <= room && tokens <= output, "{bound:?} {room}");
                        } else {
                            assert!(bound.takes(bound.shortest()) > room, "{bound:?} {room}");
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
        assert_eq!(free.within(&of(Usdc::ZERO, u64::MAX)), Some((Usdc::ZERO, 9)));
    }
}
