//! Bounds of one run of a program: what its owner has asked for that ends it before it ends by itself.

use golem::Life;
use golem::call::{Runaway, Unit};
use golem::world::DomainKind;
use settings::chance::Secret;
use shell::{Error, GolemHome};

use super::ends::LifeEnd;
use super::hazard;
use super::keeper::MoneyState;
use super::spent;
use super::word::kept_of;
use crate::args::WrapArgs;

#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Calls after which it is ended, and how many of the golem's do not count.
    calls: Option<(u64, u64)>,
    /// The check that ends it once it passes, with its place among the golem's.
    until: Option<(usize, String)>,
    /// The part of a window that a call may take, in thousandths.
    context: Option<f64>,
    /// The age by its calls at which chance ends it.
    chance: Option<u64>,
    /// Rounds in which a check that passed may fail, and the checks that pass or fail, with their places.
    red: Option<(u32, Vec<(usize, String)>)>,
    /// Whether a loop ends it; otherwise its owner is asked.
    loops: bool,
}

impl Bounds {
    /// The bounds of a run of its own, which begins to count where the golem stands.
    pub(super) fn of_run(args: &WrapArgs, before: &Life) -> Bounds {
        Bounds { calls: args.retire_after.map(|most| (most, before.calls().made)), ..Bounds::default() }
    }

    /// The bounds of a life of a line, which counts from its birth on.
    pub(super) fn of_life(args: &WrapArgs, place: &GolemHome, life: &Life) -> Result<Bounds, Error> {
        let domains = &life.birth().world.domains;
        let index = |check: &String| {
            let found = domains.iter().position(|spec| spec.name == *check && spec.kind == DomainKind::Direction);
            found.map(|at| (at, check.clone())).ok_or_else(|| {
                Error::Usage(format!(
                    "{} was born without a check {check} that passes or fails, so no life of its line can be ended by it; \
                     --name begins another line",
                    life.birth().name
                ))
            })
        };
        let until = args.until.as_ref().map(index).transpose()?;
        let checks = domains.iter().enumerate().filter(|(_, spec)| spec.kind == DomainKind::Direction);
        let checks = checks.map(|(at, spec)| (at, spec.name.clone())).collect();
        let secret = args.chance.map(|half| Secret::load(&place.secret()).map(|secret| (half, secret))).transpose()?;
        Ok(Bounds {
            chance: secret.map(|(half, secret)| hazard::last_age(half, &secret, life.id())),
            calls: args.retire_after.map(|most| (most, 0)),
            until,
            context: args.context.map(|part| part * 1_000.0),
            red: args.red.map(|rounds| (rounds, checks)),
            loops: true,
        })
    }

    /// Whether the check that it is run for passes.
    pub(super) fn has_passed(&self, look: &MoneyState) -> Option<LifeEnd> {
        let (at, check) = self.until.as_ref()?;
        look.signs.passes(*at).then(|| LifeEnd::Passed { check: check.clone() })
    }

    /// How many rounds in a row the check has failed that it is run for, after it had passed.
    pub(super) fn failed_for(&self, look: &MoneyState) -> u32 {
        self.until.as_ref().map_or(0, |(at, _)| look.signs.failed_for(*at))
    }

    /// Whether its calls have run away, where that ends it. A bill that was too high is no loop: an heir would get the next.
    pub(super) fn has_looped(&self, look: &MoneyState) -> Option<LifeEnd> {
        let hold = look.hold.filter(|hold| self.loops && hold.by != Runaway::Bill);
        hold.map(|hold| LifeEnd::Looped { how: hold.to_string() })
    }

    /// The bound that is crossed.
    pub(super) fn crossed(&self, look: &MoneyState) -> Option<LifeEnd> {
        let made = |(most, uncounted): (u64, u64)| {
            (look.made.saturating_sub(uncounted) >= most).then_some(LifeEnd::Calls { most })
        };
        let taken = look.signs.window.filter(|taken| self.context.is_some_and(|most| f64::from(*taken) >= most));
        self.has_passed(look)
            .or_else(|| self.has_looped(look))
            .or_else(|| self.is_red(look))
            .or_else(|| taken.map(|taken| LifeEnd::Context { taken }))
            .or_else(|| self.calls.and_then(made))
            .or_else(|| self.chance.filter(|last| look.signs.age > *last).map(|_| LifeEnd::Chance))
    }

    fn is_red(&self, look: &MoneyState) -> Option<LifeEnd> {
        let (most, _) = self.red.as_ref()?;
        let (check, rounds) = self.reddest(look)?;
        (rounds >= *most).then(|| LifeEnd::Red { check: check.clone(), rounds })
    }

    fn reddest(&self, look: &MoneyState) -> Option<(&String, u32)> {
        let (_, checks) = self.red.as_ref()?;
        checks.iter().map(|(at, check)| (check, look.signs.failed_for(*at))).max_by_key(|(_, rounds)| *rounds)
    }

    /// Why the end is near, if it is: it is there, or a twentieth or one step is left of what brings it.
    pub(super) fn nears(&self, look: &MoneyState) -> Option<String> {
        let money = look.given.is_positive() && look.left <= kept_of(look.given);
        let units = look.out.map(spent::name).or(look.short.map(Unit::name)).or(money.then_some("money"));
        let counted = self.calls.filter(|(most, uncounted)| {
            look.made.saturating_sub(*uncounted).saturating_add((most / 20).max(1)) >= *most
        });
        let taken = look.signs.window.filter(|taken| self.context.is_some_and(|most| f64::from(*taken) >= most * 0.95));
        let red = self
            .reddest(look)
            .filter(|(_, rounds)| self.red.as_ref().is_some_and(|(most, _)| *rounds > 0 && rounds + 1 == *most));
        self.crossed(look)
            .map(|end| end.to_string())
            .or_else(|| {
                units.map(|unit| {
                    format!("nearly all of its {unit} {} used up", if unit == "money" { "is" } else { "are" })
                })
            })
            .or_else(|| counted.map(|(most, _)| format!("it may make {most} calls and has made nearly all of them")))
            .or_else(|| taken.map(|taken| format!("its last call took {} % of its model's window", taken / 10)))
            .or_else(|| red.map(|(check, rounds)| format!("{check} has failed in {rounds} rounds since it passed")))
    }

    /// Whether its checks are worth waiting for once its program has ended.
    pub(super) fn awaits_checks(&self) -> bool {
        self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use golem::call::Hold;
    use golem::{Time, Usdc};

    use super::*;

    #[test]
    fn a_bill_that_was_too_high_is_no_loop() {
        let bounds = Bounds { loops: true, ..Bounds::default() };
        for (by, ends) in [(Runaway::Alike, true), (Runaway::Fan, true), (Runaway::Pace, true), (Runaway::Bill, false)]
        {
            let hold = Some(Hold { key: 1, by, times: 3, sum: Usdc::cents(1), since: Time::default() });
            let look = MoneyState { hold, ..MoneyState::default() };
            assert_eq!(bounds.crossed(&look).is_some(), ends, "{by}");
        }
        assert_eq!(Bounds::default().crossed(&MoneyState::default()), None);
    }

    #[test]
    fn an_end_is_near_with_a_twentieth_or_one_step_left() {
        let looks = |left: i64, made: u64, short: Option<Unit>| {
            let (left, given) = (Usdc::cents(left), Usdc::cents(100));
            MoneyState { left, given, made, short, ..MoneyState::default() }
        };
        let bounds = Bounds { calls: Some((40, 7)), ..Bounds::default() };
        for (look, near) in [
            (looks(6, 0, None), None),
            (looks(5, 0, None), Some("nearly all of its money is used up")),
            (looks(90, 0, Some(Unit::Tokens)), Some("nearly all of its tokens are used up")),
            (looks(90, 44, None), None),
            (looks(90, 45, None), Some("it may make 40 calls and has made nearly all of them")),
            (looks(90, 47, None), Some("it has aged: it has made its 40 calls")),
        ] {
            assert_eq!(bounds.nears(&look).as_deref(), near, "{look:?}");
        }
    }
}
