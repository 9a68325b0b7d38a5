//! Resolving claims, each at exactly its own bar, and making new ones.
//!
//! Three minds make them. The rules are in [`crate::rule`], an outside mind in [`crate::outside`]. The reflex is here:
//! it expects the next value to be the last, pulled towards the mean, and adds a little noise; a yardstick for the
//! others.

use life::constitution::MindKind;
use life::prediction::{Claim, Event};
use life::world::{Bar, Observation};
use life::{Draft, Life, limits};

use super::dated;
use crate::{episode, outside, regime, rule};

/// Resolves every claim at its own bar, then remembers the newest.
pub(crate) fn sense(draft: &mut Draft<'_>, observation: &Observation) {
    for (at, bar) in observation.bars.iter().enumerate() {
        resolve(draft, bar);
        dated::resolve(draft, bar);
        episode::look_back(draft, bar);
        let last = at + 1 == observation.bars.len();
        if !last && draft.stakes().front().is_some_and(|stake| stake.due <= bar.closed) {
            draft.emit(rule::Event::Weighed { at: bar.closed, unit: bar.unit });
        }
    }
    if let Some(last) = observation.bars.last() {
        draft.emit(Event::Sensed {
            until: last.closed,
            bars: observation.bars.len() as u32,
            values: last.values.clone(),
            unit: last.unit,
        });
        regime::watch(draft);
    }
}

fn resolve(draft: &mut Draft<'_>, bar: &Bar) {
    for domain in 0..draft.open().len() {
        while let Some(claim) = draft.open()[domain].front().filter(|claim| claim.due <= bar.closed) {
            let met = claim.due == bar.closed;
            let domain = domain as u8;
            draft.emit(if met {
                rule::Event::Scored { domain, actual: bar.values[usize::from(domain)] }
            } else {
                rule::Event::Voided { domain }
            });
        }
    }
    while let Some(claim) = draft.claims().iter().find(|c| c.due <= bar.closed).copied() {
        let actual = bar.values[usize::from(claim.domain)];
        draft.emit(if claim.due == bar.closed {
            Event::Resolved { claim: claim.id, actual }
        } else {
            // The world has a hole where the answer should be: no claim is right or wrong.
            Event::Lapsed { claim: claim.id }
        });
    }
}

/// Makes the claims of this look, in every domain.
pub(crate) fn forecast(draft: &mut Draft<'_>, observation: &Observation) {
    let Some(bar) = observation.bars.last().filter(|_| draft.seen().bars >= 2) else { return };
    match draft.constitution().mind.kind {
        MindKind::Rules => rule::think(draft, bar),
        MindKind::Reflex => expect_more_of_the_same(draft),
        MindKind::Outside => outside::think(draft, bar),
    }
}

fn expect_more_of_the_same(draft: &mut Draft<'_>) {
    let reflex = draft.constitution().reflex.clone();
    let due = draft.seen().until + draft.constitution().interval;
    for domain in 0..draft.seen().values.len() {
        if draft.claims().len() == limits::CLAIMS {
            return;
        }
        let (last, mean, change) =
            (draft.seen().values[domain], draft.seen().means[domain], draft.seen().changes[domain]);
        let value = last + reflex.pull * (mean - last) + reflex.noise * change * noise(draft, domain);
        let claim = Claim { id: draft.claims_made() + 1, domain: domain as u8, due, value, naive: last };
        draft.emit(Event::Claimed(claim));
    }
}

/// Uniform noise with variance one, a pure function of golem, tick and domain: nothing secret hangs on it.
fn noise(life: &Life, domain: usize) -> f64 {
    let id = u64::from_le_bytes(life.birth().id.0[..8].try_into().expect("eight of sixteen bytes"));
    let mut z =
        id ^ life.tick().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (domain as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let unit = (z >> 11) as f64 / (1_u64 << 53) as f64;
    (unit * 2.0 - 1.0) * 3.0_f64.sqrt()
}
