//! The horizon of an episode.

use crate::life::Life;
use crate::time::Span;

/// The horizon of an episode: as far ahead as any claim looks.
pub fn horizon(life: &Life) -> Span {
    let domains = 0..life.birth.world.domains.len();
    domains.map(|domain| life.horizon(domain)).max().unwrap_or(life.constitution().interval)
}
