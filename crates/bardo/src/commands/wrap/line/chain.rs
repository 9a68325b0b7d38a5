//! The lives of a line, read from the records of its golems. No file says how far a line has come: each life but the first is the
//! heir of the one before it, a death has its cause, and money is added up over all of them, so nothing can contradict them after a
//! kill.

use golem::{Endowment, Life, Usdc};
use shell::{Error, GolemHome, Home};

use super::super::ends::{self, LineGoesOn};
use super::super::funds::Funds;

/// The level from which a check that passes or fails has passed.
const PASSES: f64 = 0.5;

/// One life of a line.
#[derive(Debug)]
pub(super) struct LineLife {
    pub(super) place: GolemHome,
    pub(super) life: Life,
    /// Nothing is left to be done for it: of the dead, that all has gone home.
    pub(super) owes_nothing: bool,
}

impl LineLife {
    pub(super) fn read(place: GolemHome) -> Result<LineLife, Error> {
        let (golem, _) = place.wake()?;
        Ok(LineLife { life: golem.life().clone(), owes_nothing: golem.owes_nothing(), place })
    }

    /// Whether this check passed in its newest round; none before there was one.
    pub(super) fn check(&self, name: &str) -> Option<bool> {
        let at = self.life.birth().world.domains.iter().position(|spec| spec.name == name)?;
        self.life.seen().values.get(at).filter(|_| self.life.seen().bars > 0).map(|value| *value > PASSES)
    }

    /// Money that was used up.
    pub(super) fn used(&self) -> Usdc {
        self.life.purse().spent + self.life.purse().gas
    }

    /// Money that it had left when it died.
    fn unspent(&self) -> Usdc {
        self.life.purse().given - self.used()
    }

    /// Whether its owner has made it by hand, as the heir of a life of the line.
    fn is_by_hand(&self) -> bool {
        self.life.birth().lineage.as_ref().is_some_and(|line| !line.by_itself)
    }

    /// Money that its owner gave it beside its share.
    fn gifts(&self) -> Usdc {
        let endowment = self.life.birth().endowment;
        // Births of earlier versions do not say what was given.
        let known = endowment != Endowment::default();
        if known { (self.life.purse().given - endowment.credit).max(Usdc::ZERO) } else { Usdc::ZERO }
    }
}

/// All lives of the line that begins with this golem, oldest first.
pub(super) fn lives_of(home: &Home, first: &GolemHome) -> Result<Vec<LineLife>, Error> {
    let mut lives = vec![LineLife::read(first.clone())?];
    // A golem that cannot be read may be an heir, which the treasury knows.
    let mut others: Vec<LineLife> = home.list()?.into_iter().filter_map(|place| LineLife::read(place).ok()).collect();
    loop {
        let Some(last) = lives.last().filter(|last| last.life.is_dead()) else { return Ok(lives) };
        let id = last.life.id();
        let is_heir = |other: &LineLife| other.life.birth().lineage.as_ref().is_some_and(|line| line.parent == id);
        let heirs = others.iter().enumerate().filter(|(_, other)| is_heir(other));
        // A newborn without its first money may never get it, because another one has.
        let order = |heir: &LineLife| (heir.life.transfers_taken() == 0, heir.life.born(), heir.life.id());
        let heir = heirs.min_by_key(|(_, heir)| order(heir)).map(|(at, _)| at);
        match heir {
            Some(at) => lives.push(others.swap_remove(at)),
            None if home.treasury_to_read()?.has_heir(id)? => {
                let name = &last.place.name;
                return Err(Error::Refused(format!(
                    "{name} has an heir that is not here or cannot be read, and a second one would be a life lived twice; \
                     `bardo doctor` looks at what is here, and --name begins another line"
                )));
            }
            None => return Ok(lives),
        }
    }
}

/// The money of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineMoney {
    /// The sum its owner said, what they gave single lives beside it, and what heirs have that they made by hand.
    pub(super) given: Usdc,
    pub(super) used: Usdc,
}

impl LineMoney {
    pub(super) fn of(lives: &[LineLife], funds: &Funds) -> LineMoney {
        let by_hand = |at: usize, one: &LineLife| at > 0 && one.is_by_hand();
        let gift = |(at, one): (usize, &LineLife)| if by_hand(at, one) { one.life.purse().given } else { one.gifts() };
        let gifts: Usdc = lives.iter().enumerate().map(gift).sum();
        LineMoney { given: funds.all + gifts, used: lives.iter().map(LineLife::used).sum() }
    }

    pub(super) fn remaining(&self) -> Usdc {
        (self.given - self.used).max(Usdc::ZERO)
    }
}

/// Why a line is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineOver {
    Passed,
    /// All its lives have been lived.
    Lives,
    Money,
    /// The owner has ended its last life.
    Ended,
}

/// The next step of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStep {
    /// The last of its golems lives, and its program is run.
    Live,
    /// The last of its golems has not finished dying.
    Die,
    /// The last of its golems gets an heir with this share.
    Bear(Usdc),
    Over(LineOver),
}

/// Whether the owner has ended the last of these lives, or everything, whatever it died of. A line itself leaves no such mark.
pub(super) fn is_ended(home: &Home, lives: &[LineLife]) -> Result<bool, Error> {
    let Some(last) = lives.last() else { return Ok(true) };
    Ok(home.treasury_to_read()?.end_of(last.life.id())?.is_some())
}

/// Read off the records alone: whatever was killed, the same step comes next.
pub(super) fn next_step(lives: &[LineLife], funds: &Funds, until: Option<&str>, is_ended: bool) -> LineStep {
    let Some(last) = lives.last() else { return LineStep::Over(LineOver::Ended) };
    let Some(death) = last.life.death() else { return LineStep::Live };
    if !last.owes_nothing {
        return LineStep::Die;
    }
    let passes = until.is_some_and(|check| last.check(check) == Some(true));
    match ends::goes_on(&death.cause) {
        LineGoesOn::Passed => return LineStep::Over(LineOver::Passed),
        LineGoesOn::Yes if is_ended => return LineStep::Over(LineOver::Ended),
        LineGoesOn::Ended => return LineStep::Over(LineOver::Ended),
        LineGoesOn::Yes if passes => return LineStep::Over(LineOver::Passed),
        LineGoesOn::Yes => {}
    }
    let lived = u32::try_from(lives.len()).unwrap_or(u32::MAX);
    if lived >= funds.lives {
        return LineStep::Over(LineOver::Lives);
    }
    let share = funds.share(lived, LineMoney::of(lives, funds).remaining());
    // What the dead could make no more call with is not enough for its heir.
    let too_little = ends::is_spent(&death.cause) && share <= last.unspent();
    if share.is_positive() && !too_little { LineStep::Bear(share) } else { LineStep::Over(LineOver::Money) }
}
