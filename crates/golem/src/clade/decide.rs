//! Calling out to siblings, and hearing them.

use life::clade::{Event, News, Stain};
use life::goal::{self, Ended, Goal};
use life::id::GolemId;
use life::regime::Regime;
use life::time::Span;
use life::world::Features;
use life::{Draft, Life};

/// How long a golem remembers where a sibling died.
const REMEMBERED: Span = Span::DAY.times(7);
/// Deviations, over all features that are known, within which one place is like another.
const NEAR: f32 = 0.8;
/// The most that one feature counts, however far apart it is.
const FAR: f32 = 4.0;

/// News for its peers, to be passed on by the host.
pub(crate) fn call_out(draft: &mut Draft<'_>, news: News) {
    draft.emit(Event::CalledOut { number: draft.clade().told + 1, news });
}

/// Tells siblings that the world has turned, which they may not have seen yet.
pub(crate) fn turned(draft: &mut Draft<'_>, to: Regime) {
    if draft.constitution().clade.share && !draft.is_dead() {
        call_out(draft, News::Regime { to });
    }
}

/// Takes in news from a peer. Returns whether it counts: news heard before, or known already, does not.
pub(crate) fn heard(draft: &mut Draft<'_>, from: GolemId, number: u64, news: News, stain: Option<&Stain>) -> bool {
    let known = matches!(news, News::Regime { to } if to == draft.regimes().now);
    let counts = !draft.is_dead() && !known && !draft.clade().has_heard(from, number, &news);
    if counts {
        draft.emit(Event::Heard { from, number, news });
        if let (News::Death, Some(stain)) = (news, stain) {
            draft.emit(Event::Stained(Box::new(Stain { from, heard: draft.at(), ..stain.clone() })));
        }
    }
    counts
}

/// Records how many peers a word was passed on to. A crisis that a peer has heard of is a goal that is over; where there
/// are no peers, none was missed.
pub(crate) fn told(draft: &mut Draft<'_>, number: u64, peers: u32) {
    let waits = draft.clade().untold.iter().find(|(waiting, _)| *waiting == number).copied();
    let Some((_, news)) = waits else { return };
    assert!(number <= draft.clade().told, "a word was passed on that was never said");
    draft.emit(Event::Told { number, peers });
    if peers > 0 && matches!(news, News::Crisis { .. }) && !draft.is_dead() {
        let domain = heaviest_domain(draft);
        draft.emit(goal::Event::Finished { goal: Goal::Contact, domain, ended: Ended::Done });
    }
}

/// The domain that presses most; the first if none does by itself.
fn heaviest_domain(life: &Life) -> u8 {
    let figures = &life.constitution().stress;
    let pressed =
        life.stress().active.iter().filter_map(|stressor| Some((stressor.domain?, stressor.severity(figures))));
    pressed.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(domain, _)| domain)
}

/// Notices when it stands where a sibling died: what the world shows is as it was then, in the same regime.
pub(crate) fn look_around(draft: &mut Draft<'_>, features: &Features) {
    let (now, regime, moves) = (draft.at(), draft.regimes().now, &draft.knowing().moves);
    let like = |stain: &&Stain| {
        let (mut apart, mut known) = (0.0, 0.0_f32);
        for (at, then) in stain.features.iter().enumerate() {
            let (Some(value), Some(square), Some(then)) = (features.get(at), moves.square.get(at), then) else {
                continue;
            };
            if *square > 0.0 {
                let away = (*value as f32 - then) * (*value as f32 - then) / square;
                apart += away.min(FAR);
                known += 1.0;
            }
        }
        known > 0.0 && stain.regime == regime && now < stain.heard + REMEMBERED && apart / known <= NEAR * NEAR
    };
    let near = draft.clade().stains.iter().rev().find(like).map(|stain| stain.from);
    if near != draft.clade().near {
        draft.emit(Event::Near { stain: near });
    }
}
