//! Bounds of one run of a program: what its owner has asked for that ends it before it ends by itself.

use golem::Life;
use golem::world::DomainKind;
use shell::Error;

use super::ends::LifeEnd;
use super::keeper::MoneyState;
use crate::args::WrapArgs;

#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Calls after which it is ended, and how many of the golem's do not count.
    calls: Option<(u64, u64)>,
    /// The check that ends it once it passes, with its place among the golem's.
    until: Option<(usize, String)>,
}

impl Bounds {
    /// Those of a run of its own, which begins to count where the golem stands.
    pub(super) fn of_run(args: &WrapArgs, before: &Life) -> Bounds {
        Bounds { calls: args.retire_after.map(|most| (most, before.calls().made)), until: None }
    }

    /// Those of a life of a line, which counts from its birth on.
    pub(super) fn of_life(args: &WrapArgs, life: &Life) -> Result<Bounds, Error> {
        let domains = &life.birth().world.domains;
        let place = |check: &String| {
            let found = domains.iter().position(|spec| spec.name == *check && spec.kind == DomainKind::Direction);
            found.map(|at| (at, check.clone())).ok_or_else(|| {
                Error::Usage(format!(
                    "{} was born without a check {check} that passes or fails, so no life of its line can be ended by it; \
                     --name begins another line",
                    life.birth().name
                ))
            })
        };
        let until = args.until.as_ref().map(place).transpose()?;
        Ok(Bounds { calls: args.retire_after.map(|most| (most, 0)), until })
    }

    /// Whether the check that it is run for passes.
    pub(super) fn has_passed(&self, look: &MoneyState) -> Option<LifeEnd> {
        let (at, check) = self.until.as_ref()?;
        look.signs.passes(*at).then(|| LifeEnd::Passed { check: check.clone() })
    }

    /// The bound that is crossed.
    pub(super) fn crossed(&self, look: &MoneyState) -> Option<LifeEnd> {
        let made = |(most, uncounted): (u64, u64)| {
            (look.made.saturating_sub(uncounted) >= most).then_some(LifeEnd::Calls { most })
        };
        self.has_passed(look).or_else(|| self.calls.and_then(made))
    }

    /// Whether its checks are worth waiting for once its program has ended.
    pub(super) fn awaits_checks(&self) -> bool {
        self.until.is_some()
    }
}
