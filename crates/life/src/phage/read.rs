//! Questions about phages that change nothing.

use super::{Kind, Phage, Way};
use crate::constitution::MindKind;
use crate::life::Life;
use crate::rule::Blend;
use crate::world::Features;

/// Ticks a phage lives; what it said by then is still answered.
pub const LIFE: u64 = 50;

/// Phages sent out in a day: as many as its phase has, where there is something for them to try.
pub fn a_day(life: &Life) -> u32 {
    let mind = &life.constitution().mind;
    let any = mind.phages && mind.kind == MindKind::Rules && life.learns();
    if any { life.phase().behaviour().phages_per_day } else { 0 }
}

/// The phages whose condition holds, one bit each.
pub fn holding(life: &Life, features: &Features) -> u8 {
    let mut bits = 0;
    for (at, phage) in life.phages.living.iter().enumerate() {
        if let Way::Rule { own, .. } = &phage.way {
            bits |= u8::from(own.condition.holds(features)) << at;
        }
    }
    bits
}

/// The blends of phages that speak of a domain.
pub fn blends(life: &Life, domain: usize) -> impl Iterator<Item = &Blend> {
    let speaks = move |phage: &&Phage| phage.kind() == Kind::Term && phage.domain() == Some(domain as u8);
    life.phages.living.iter().filter(speaks).filter_map(|phage| match &phage.way {
        Way::Rule { own, .. } => own.blend.as_deref(),
        _ => None,
    })
}
