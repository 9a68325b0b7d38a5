//! How far ahead an episode looks.

use crate::life::Life;
use crate::time::Span;

/// How far ahead an episode looks: as far as any claim.
pub fn horizon(life: &Life) -> Span {
    let domains = 0..life.birth.world.domains.len();
    domains.map(|domain| life.horizon(domain)).max().unwrap_or(life.constitution().interval)
}
