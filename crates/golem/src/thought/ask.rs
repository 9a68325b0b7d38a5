//! Asking: whether a question may be asked now, at which tier, and what is set aside for it; or why not.

use life::heartbeat::State;
use life::id::CommandId;
use life::money::Usdc;
use life::mortality::phase::{Phase, Tier};
use life::mortality::{Partition, economic};
use life::thought::{Event, Held, Purpose, Question, Spell, day};
use life::time::Time;
use life::{Draft, Life};

/// Ticks before the same reason for not asking is told again.
const TELL_AGAIN: u64 = 500;

/// A question that the golem would ask.
#[derive(Clone, Debug)]
pub(super) struct Wish<'a> {
    pub(super) purpose: Purpose,
    pub(super) tier: Tier,
    pub(super) why: u8,
    pub(super) seen: &'a [f64],
    pub(super) owner: Option<(CommandId, String)>,
    /// Money that the night it is for has left for it.
    pub(super) tonight: Option<Usdc>,
}

impl Wish<'_> {
    pub(super) fn of(purpose: Purpose, tier: Tier) -> Wish<'static> {
        Wish { purpose, tier, why: 0, seen: &[], owner: None, tonight: None }
    }
}

/// The model that answers a question: nights, and the last words of a life, may have one of their own.
pub fn model<'a>(life: &'a Life, question: &Question) -> Option<&'a str> {
    let apart = life.constitution().dream.model.as_deref().filter(|_| is_apart(question.purpose));
    apart.or_else(|| life.constitution().thought.model(question.tier))
}

fn is_apart(purpose: Purpose) -> bool {
    purpose.is_nightly() || purpose == Purpose::Reflect
}

/// The question with its sum, or the reason that it may not be asked. A sum is never less than a call may cost: too
/// small a sum buys half an answer.
pub(super) fn question(life: &Life, at: Time, wish: Wish<'_>) -> Result<Question, Held> {
    let figures = &life.constitution().thought;
    let last = wish.purpose == Purpose::Reflect;
    if life.is_dead() != last {
        return Err(Held::Dead);
    }
    if life.heartbeat().paused && !last {
        return Err(Held::Paused);
    }
    if (life.heartbeat().state == State::Dreaming) != wish.purpose.is_nightly() {
        return Err(Held::Asleep);
    }
    // After death there is nothing left to be careful for.
    let ceiling = if last { Tier::Strong } else { life.phase().behaviour().tier };
    if ceiling == Tier::Rules {
        return Err(Held::Phase);
    }
    let open = &life.thoughts().open;
    if open.is_full() || life.thoughts().asks(wish.purpose) {
        return Err(Held::Busy);
    }
    // The owner may know that a model can be reached again.
    if at < life.thoughts().rests_until && wish.purpose != Purpose::Answer {
        return Err(Held::Resting);
    }
    let (tier, most) = sum(life, &wish, ceiling)?;
    let left = |cap: Usdc, spell: Spell| (cap - spell.taken).max(Usdc::ZERO);
    // While a golem lives, the reserve is not touched; last words may use it.
    let purse = if last {
        [(life.purse().credit - life.purse().promised, Held::Partition); 2]
    } else {
        [
            (economic::unpromised_allowance(life), Held::Allowance),
            (economic::budget(life, Partition::Inference), Held::Partition),
        ]
    };
    let own = [
        (left(figures.a_day, life.thoughts().day.at(day(at))), Held::Day),
        (left(figures.a_month, life.thoughts().month.at(life.month())), Held::Month),
    ];
    if let Some((_, cap)) = own.into_iter().chain(purse).find(|(left, _)| *left < most) {
        return Err(cap);
    }
    Ok(Question {
        key: life.thoughts().made + 1,
        purpose: wish.purpose,
        tier,
        most,
        asked: at,
        deadline: at + figures.patience.max(life.interval().times(2)),
        epoch: life.heartbeat().epoch,
        month: life.month(),
        why: wish.why,
        seen: wish.seen.iter().map(|feature| *feature as f32).collect(),
        values: life.seen().values.clone(),
        night: life.dreams().night.as_ref().filter(|_| wish.purpose.is_nightly()).map_or(0, |night| night.number),
        owner: wish.owner,
    })
}

/// The tier that answers, and what it may cost. A night that cannot pay for the one it wants asks a cheaper one.
fn sum(life: &Life, wish: &Wish<'_>, ceiling: Tier) -> Result<(Tier, Usdc), Held> {
    let figures = &life.constitution().thought;
    let apart = is_apart(wish.purpose) && life.constitution().dream.model.is_some();
    // A declining golem allows less for each call.
    let per_call = |tier: Tier| match life.phase() {
        Phase::Declining => figures.per_call(tier).share(1, 2),
        _ => figures.per_call(tier),
    };
    let mut wanted = wish.tier.min(ceiling);
    loop {
        let tier = if apart { Some(wanted) } else { figures.nearest(wanted) }.ok_or(Held::NoModel)?;
        let most = per_call(tier);
        if wish.tonight.is_none_or(|left| most <= left) {
            return Ok((tier, most));
        }
        wanted = match tier {
            Tier::Strong => Tier::Middle,
            Tier::Middle => Tier::Cheap,
            Tier::Cheap | Tier::Rules => return Err(Held::Night),
        };
        if !apart && figures.nearest(wanted).is_none() {
            return Err(Held::Night);
        }
    }
}

/// Records why a question was not asked, once in a while for the same reason and not at every tick.
pub(super) fn keep(draft: &mut Draft<'_>, by: Held) {
    let (tick, kept) = (draft.tick(), draft.thoughts().kept);
    if kept.is_none_or(|(last, since)| last != by || tick >= since + TELL_AGAIN) {
        draft.emit(Event::Kept { by });
    }
}

/// How much of a day's money is still there, from 0 to 1: as it runs out, less is worth asking about.
pub(super) fn plenty(life: &Life, at: Time) -> f64 {
    let figures = &life.constitution().thought;
    let taken = life.thoughts().day.at(day(at)).taken.as_f64();
    let day = if figures.a_day.is_positive() { 1.0 - taken / figures.a_day.as_f64() } else { 0.0 };
    day.clamp(0.0, 1.0).min(economic::score(life).max(0.1))
}
